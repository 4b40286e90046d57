package tabular

import (
	"strings"

	"github.com/planform/planform/internal/convert"
)

// youtrack returns the layout of the CSV of a list of issues, in English. The list decides which columns there are.
func youtrack() *Layout {
	return &Layout{
		Name: "youtrack", Tracker: "YouTrack", How: "in YouTrack, with your language set to English: open a list of issues, then Export, Issues in CSV",
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
