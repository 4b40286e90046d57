package export

import (
	"strings"
	"testing"
)

func TestAFileNameIsSafeForAnyNameOfTheService(t *testing.T) {
	t.Parallel()
	var names fileNames
	names.reserve("workspace.yaml")
	for _, tt := range []struct{ rule, word, want string }{
		{"a word is itself", "web", "web.yaml"},
		{"the second of two gets a number", "WEB", "web-2.yaml"},
		{"a taken name gets a number", "workspace", "workspace-2.yaml"},
		{"no path leads out of the folder", "../../etc/passwd", "etc-passwd.yaml"},
		{"no file is hidden", ".bashrc", "bashrc.yaml"},
		{"no name is a device of Windows", "NUL", "x-nul.yaml"},
		{"no name is a numbered device of Windows", "com1", "x-com1.yaml"},
		{"an empty name is replaced", "", "x.yaml"},
		{"a name without letters is replaced", "👍/\\\x00", "x-2.yaml"},
		{"letters of all scripts stay", "日本語", "日本語.yaml"},
		{"a long name ends between letters", strings.Repeat("日", 100), strings.Repeat("日", 20) + ".yaml"},
	} {
		if got := names.unique("", tt.word, ".yaml"); got != tt.want {
			t.Errorf("%s: %q became %q, want %q", tt.rule, tt.word, got, tt.want)
		}
	}
}
