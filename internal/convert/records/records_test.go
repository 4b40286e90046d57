package records_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/text/diag"
)

// read gives each record as its list, its line and its fields.
func read(t *testing.T, text string) ([]string, error) {
	t.Helper()
	var got []string
	err := records.Read(t.Context(), strings.NewReader(text), "f.json", []string{"issues", "comments", "data.list.nodes", "bugs.*.notes"}, func(r records.Record) error {
		got = append(got, fmt.Sprint(r.List, " ", r.Position.Line, " ", plain(r.Tree())))
		return nil
	})
	return got, err
}

// plain gives a value as maps, slices and texts.
func plain(v records.Value) any {
	fields, elements := map[string]any{}, []any{}
	for _, part := range v.Parts {
		fields[part.Name], elements = plain(part), append(elements, plain(part))
	}
	switch {
	case v.Object:
		return fields
	case v.List:
		return elements
	}
	return v.Text
}

func TestRecordsAreFoundHoweverTheyArePacked(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"an array holds records":                     {"[{\"a\": 1},\n{\"a\": 2}]", []string{" 1 map[a:1]", " 2 map[a:2]"}},
		"several arrays in a row hold records":       {"[{\"a\": 1}][{\"a\": 2}]", []string{" 1 map[a:1]", " 1 map[a:2]"}},
		"arrays of arrays hold records":              {"[[{\"a\": 1}],\n\n[{\"a\": 2}], []]", []string{" 1 map[a:1]", " 3 map[a:2]"}},
		"each line is a record":                      {"{\"a\": 1}\n{\"a\": 2}\n", []string{" 1 map[a:1]", " 2 map[a:2]"}},
		"each list of a page holds records":          {"{\n\"total\": 2,\n\"issues\": [\n{\"a\": [1]},\n\n{}],\n\"comments\": null, \"names\": {\"x\": \"y\"}}", []string{"issues 4 map[a:[1]]", "issues 6 map[]", " 1 map[names:map[x:y] total:2]"}},
		"lists within objects hold records":          {"{\"data\": {\"list\": {\"nodes\": [\n{\"a\": 1}], \"n\": 1}, \"title\": \"x\"}}", []string{"data.list.nodes 2 map[a:1]", " 1 map[data:map[list:map[n:1] title:x]]"}},
		"blanks between records are skipped":         {"[" + strings.Repeat(" ", 9000) + "{}\n" + strings.Repeat(" ", 9000) + ", {}]", []string{" 1 map[]", " 2 map[]"}},
		"an object in place of a list is one record": {`{"issues": {"a": 1}}`, []string{"issues 1 map[a:1]", " 1 map[]"}},
		"lists under any name hold records":          {`{"bugs": {"7": {"notes": [{"a": 1}], "b": 2}, "8": {"notes": []}}}`, []string{"bugs.*.notes 1 map[a:1]", " 1 map[bugs:map[7:map[b:2] 8:map[]]]"}},
		"null is no record":                          {`{"issues": [null, {"a": 1}]}`, []string{"issues 1 map[a:1]", " 1 map[]"}},
		"a blank text has no records":                {" ", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := read(t, tt.text)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Error(err, diff)
			}
		})
	}
}

func TestWhatIsNoRecordIsAnErrorWithItsLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[{\"a\": 1},\n{\"a\" 2}]":                     "f.json:2: it is not JSON",
		"[{\"a\": 1},\n{\"a\": ":                       "f.json:2: the file ends within a value",
		"{\"issues\": [{}\n":                           "f.json:2: the file ends within a value",
		"{\"a\": 1}\n}":                                "f.json:2: it is not JSON",
		"\n[1]":                                        "f.json:2: here is 1, where an object is expected",
		"{\"issues\": [\n7]}":                          "f.json:2: issues has an entry that is not an object",
		"{\n\"issues\": 7}":                            "f.json:2: issues is no list",
		strings.Repeat("[", 200):                       "f.json:1: 101 arrays within another",
		"[\n{\"a\": " + strings.Repeat("[", 100000):    "f.json:2: the value that begins here is nested too deeply",
		"[\n{\"a\": \"" + strings.Repeat("x", 100<<20): "f.json:2: the value that begins here is larger than 64 MiB",
	} {
		if _, err := read(t, text); strings.Contains(want, "it is not JSON") && !strings.Contains(diag.HintOf(err), "null instead") || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}
