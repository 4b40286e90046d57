package provider

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/resource"
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
		(&pool{}).shrink(resource.MustLookup(kind), rows)
		if diff := cmp.Diff([]resource.Row{want}, rows); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
}
