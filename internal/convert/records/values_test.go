package records_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/convert/records"
)

func TestTheValuesOfARecordHaveTheNamesOfItsObjects(t *testing.T) {
	t.Parallel()
	const record = `{"a": {"b": "x", "c": [1, {"d": true}, null, ""]}, "e": " ", "f": {}, "doc": {"type": "doc", "n": 1}, "docs": [{"y": 2}]}`
	var got []string
	err := records.Read(t.Context(), strings.NewReader(record), "r.json", nil, func(r records.Record) error {
		r.Tree("doc", "docs").Leaves("", func(name, text string) bool { got = append(got, name+" = "+text); return true })
		return nil
	})
	want := []string{"a.b = x", "a.c = 1", "a.c.d = true", `doc = {"type": "doc", "n": 1}`, `docs = {"y": 2}`}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}
