package tabular

import (
	"strings"

	"github.com/planform/planform/internal/convert"
)

// youtrack is the CSV of a list of issues, in English. Its columns are those of the list.
func youtrack() *Layout {
	return &Layout{
		Name: "youtrack", Tracker: "YouTrack", How: "in YouTrack, in English: a list of issues, Export, Issues in CSV",
		Needs:   [][]string{{"Issue Id", "Summary"}},
		Columns: names("youtrack"),
		Lists:   ",", Lacks: "comments",
		Each: func(_ *Cells, i *convert.Issue) string {
			if project, _, ok := strings.Cut(i.Key, "-"); ok {
				i.Project = project
			}
			return ""
		},
	}
}
