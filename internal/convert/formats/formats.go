// Package formats lists the formats that exports of trackers have. It is the one package that knows them all.
package formats

import (
	"slices"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/described"
	"github.com/planform/planform/internal/convert/jira"
	"github.com/planform/planform/internal/convert/tabular"
)

// All are the formats, in the order in which they are tried: those of any table come last.
func All() []*convert.Format {
	return slices.Concat([]*convert.Format{jira.CSV()}, described.Formats(), tabular.Formats())
}
