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
		{"and so does a name that is taken", "workspace", "workspace-2.yaml"},
		{"no path leads out", "../../etc/passwd", "etc-passwd.yaml"},
		{"nor is a file hidden", ".bashrc", "bashrc.yaml"},
		{"a device of Windows is none", "NUL", "x-nul.yaml"},
		{"nor with a number", "com1", "x-com1.yaml"},
		{"nothing is something", "", "x.yaml"},
		{"what holds no letter too", "👍/\\\x00", "x-2.yaml"},
		{"letters of all scripts stay", "日本語", "日本語.yaml"},
		{"a long name ends between letters", strings.Repeat("日", 100), strings.Repeat("日", 20) + ".yaml"},
	} {
		if got := names.unique("", tt.word, ".yaml"); got != tt.want {
			t.Errorf("%s: %q became %q, want %q", tt.rule, tt.word, got, tt.want)
		}
	}
}
