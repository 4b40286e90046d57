package provider

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
)

func TestARowLosesOnlyKeysThatItsKindDoesNotHave(t *testing.T) {
	t.Parallel()
	row := func() resource.Row {
		return resource.Row{"id": "1", "deleted_at": nil, "description_stripped": "Text.", "name": "One", "state": "2"}
	}
	for kind, want := range map[string]resource.Row{
		"work_item": {"id": "1", "name": "One", "state": "2"},
		"teamspace": {"id": "1", "name": "One", "state": "2", "description_stripped": "Text."},
	} {
		rows := []resource.Row{row()}
		shrink(resource.MustLookup(kind), rows)
		if diff := cmp.Diff([]resource.Row{want}, rows); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
}

// TestNoFieldOfAKindIsDropped puts a value where each field of each kind may be shown: under both names, or in an inner object.
func TestNoFieldOfAKindIsDropped(t *testing.T) {
	t.Parallel()
	for _, k := range resource.Kinds() {
		for i := range k.Fields {
			f := &k.Fields[i]
			row := resource.Row{}
			for _, name := range []string{f.APIName(), f.Wire[resource.NewerDialect]} {
				row[name] = "1"
			}
			if f.Within != "" {
				row[f.Within] = map[string]any{f.APIName(): "1"}
			}
			delete(row, "")
			rows := []resource.Row{row}
			if shrink(k, rows); len(rows[0]) < len(row) {
				t.Errorf("%s.%s: %v became %v", k.Name, f.Name, row, rows[0])
			}
		}
	}
}
