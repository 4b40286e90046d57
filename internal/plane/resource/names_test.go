package resource_test

import (
	encoding "encoding/json"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
)

func TestATextNamesTheObjectOfTheFirstWayThatMatches(t *testing.T) {
	t.Parallel()
	label := resource.MustLookup("label")
	var n resource.Names
	n.Add(resource.ByKey, "ops", "in-manifest")
	n.Add(resource.ByManifest, "Docs", "in-manifest")
	for _, row := range []resource.Row{
		{"id": "l-1", "name": "ops"},
		{"id": "l-2", "name": " Bug "},
		{"id": "l-3", "name": "bug"},
		{"id": "l-4", "name": "Twice"},
		{"id": "l-4", "name": "Twice"}, // a list shows it on two pages
		{"id": "l-5", "name": "Same"},
		{"id": "l-6", "name": "Same"},
		{"id": "l-7", "name": "Lone"},
	} {
		n.AddRow(label, row, "")
	}
	for why, tt := range map[string]struct {
		text string
		want []string
	}{
		"a key of the manifest before a name":   {"ops", []string{"in-manifest"}},
		"a name of the manifest":                {"Docs", []string{"in-manifest"}},
		"as it is written":                      {"Bug", []string{"l-2"}},
		"in other letters if there is no other": {"LONE", []string{"l-7"}},
		"several that differ in capitals only":  {"BUG", []string{"l-2", "l-3"}},
		"blanks around it do not count":         {" Lone ", []string{"l-7"}},
		"a row that is shown twice is one":      {"Twice", []string{"l-4"}},
		"several with the same name":            {"Same", []string{"l-5", "l-6"}},
		"nothing bears it":                      {"None", nil},
		"nothing is named by an empty text":     {"", nil},
	} {
		got := n.Named(tt.text)
		if len(got) != len(tt.want) {
			t.Errorf("%s: %q means %v, want %v", why, tt.text, got, tt.want)
			continue
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%s: %q means %v, want %v", why, tt.text, got, tt.want)
			}
		}
	}
}

func TestAnObjectIsNamedByATextThatNamesNoOther(t *testing.T) {
	t.Parallel()
	item, label := resource.MustLookup("work_item"), resource.MustLookup("label")
	var items, labels resource.Names
	items.AddRow(item, resource.Row{"id": "w-1", "sequence_id": encoding.Number("7"), "name": "Same"}, "WEB")
	items.AddRow(item, resource.Row{"id": "w-2", "sequence_id": encoding.Number("8"), "name": "Same"}, "WEB")
	const id = "0b6c8a52-7a3e-4c39-9d40-3f6b2f0f1a11"
	labels.AddRow(label, resource.Row{"id": "l-1", "name": "Same"}, "")
	labels.AddRow(label, resource.Row{"id": "l-2", "name": "Same"}, "")
	labels.AddRow(label, resource.Row{"id": "l-3", "name": id}, "")
	labels.AddRow(label, resource.Row{"id": "l-4", "name": "me"}, "")
	labels.AddRow(label, resource.Row{"id": "l-5", "name": "one\x1btwo"}, "")
	for why, tt := range map[string]struct{ got, want string }{
		"by its identifier, since names of work items mean none": {items.Text("w-1", "Same", "WEB-7"), "WEB-7"},
		"by none that two bear":                                  {labels.Text("l-1", "Same"), ""},
		"by none that looks like an ID":                          {labels.Text("l-3", id), ""},
		"by none that means who runs it":                         {labels.Text("l-4", "me"), ""},
		"by none that a manifest cannot hold":                    {labels.Text("l-5", "one\x1btwo"), ""},
		"by the first that does":                                 {items.Text("w-2", "", "WEB-7", "WEB-8"), "WEB-8"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", why, tt.got, tt.want)
		}
	}
}
