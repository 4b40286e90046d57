package mapping_test

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/planform/planform/internal/convert/mapping"
)

// FuzzMapping: whatever a mapping file holds, it is read or refused; what is added to it can be read, and stays as it is.
func FuzzMapping(f *testing.F) {
	for _, text := range []string{
		"", "# only a comment\n", "workspace: acme\nprojects:\n  WEB: {identifier: WEB}\npeople:\n  ada: ada@example.com # guessed\n  bob: '?'\n",
		"states:\n  Doing: {name: Doing, group: started}\n  Done: completed\ncustom: {Size: [{type: option}]}\n", "people: &a {x: text}\nstates: *a\n", "a: [\n", "- a\n", "people: {}\npeople: {}\n",
		"links: {Blocks: blocks, Other: {outward: x, inward: y}}\nallow: {lost: 3}\ncolumns: {A: {field: text}}\n", "people:\n  ? [a]\n  : b\n", "---\na: 1\n---\nb: 2\n", "states: {\"\": \"\", ~: ~}\n",
	} {
		f.Add([]byte(text), "Name", "value")
	}
	for _, text := range []string{"\xfe\xff", "~", "--- null # c\n", "!!null\n", "&a\n", "---\n# c\n", "# c\n...\n", "%YAML 1.1\n---\n"} {
		f.Add([]byte(text), "Name", "value")
	}
	f.Add([]byte("people: {a: b}\n"), "a: b\n#", "- x\n")
	f.Fuzz(func(t *testing.T, text []byte, key, value string) {
		if len(text) > 1<<14 || !utf8.ValidString(key+value) {
			return
		}
		file, found := mapping.Parse("mapping.yaml", text)
		if len(found) > 0 {
			return
		}
		_, _ = file.Mapping([]string{"lost"})
		file.Add("people", key, value, "guessed")
		file.Set("workspace", value, "")
		written, err := file.Bytes()
		if err != nil {
			return
		}
		again, found := mapping.Parse("mapping.yaml", written)
		if len(found) > 0 {
			t.Fatalf("%q becomes %q, which is %v", text, written, found)
		}
		if twice, err := again.Bytes(); err != nil || !bytes.Equal(twice, written) {
			t.Errorf("%q becomes %q, and then %q: %v", text, written, twice, err)
		}
	})
}
