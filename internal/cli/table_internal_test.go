package cli

import (
	"slices"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
)

func TestEachCellOfATableStandsBelowItsColumn(t *testing.T) {
	t.Parallel()
	for _, kind := range resource.Kinds() {
		row := resource.Row{"id": "cell-id", "created_at": "cell-time", "sequence_id": "7"}
		if kind.Identifier != nil && kind.Identifier.APIName != "" {
			row[kind.Identifier.APIName] = "cell-identifier"
		}
		kind := *kind
		kind.NaturalKey = nil // then the table has a time, too
		columns, cells := table(&kind, []resource.Row{row}, nil, "web")
		for column, want := range map[string][]string{"id": {"cell-id"}, "time": {"cell-time"}, "identifier": {"cell-identifier", "WEB-7"}} {
			if i := slices.Index(columns, column); i >= 0 && !slices.Contains(want, cells[0][i]) {
				t.Errorf("%s: the column %s has %q: %q %q", kind.Name, column, cells[0][i], columns, cells)
			}
		}
	}
}
