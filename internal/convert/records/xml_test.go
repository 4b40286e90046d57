package records

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestWhatXMLForbidsIsReadAsAMark: a character that XML forbids is one DEL, wherever a read ends, and everything else stays.
func TestWhatXMLForbidsIsReadAsAMark(t *testing.T) {
	t.Parallel()
	const text = "a\x07b&#7;c&#x1F;d&#x0000b;e\ufffff\v&amp;&#9;&#65;\n&"
	const want = "a\x7fb\x7fc\x7fd\x7fe\x7ff\x7f&amp;&#9;&#65;\n&"
	for name, in := range map[string]io.Reader{
		"at once": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text)),
		"with the end": iotest.DataErrReader(strings.NewReader(text)),
	} {
		if got, err := io.ReadAll(&legal{in: in}); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	long := strings.Repeat("é&lt;\x0b", 50_000)
	if got, err := io.ReadAll(&legal{in: strings.NewReader(long)}); string(got) != strings.ReplaceAll(long, "\x0b", "\x7f") || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
