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
		Groups: youtrackGroups(),
		Each: func(_ *Cells, i *convert.Issue) string {
			if strings.EqualFold(i.Priority, "Show-stopper") {
				i.Priority = "Blocker"
			}
			if project, _, ok := strings.Cut(i.Key, "-"); ok {
				i.Project = project
			}
			return ""
		},
	}
}

func youtrackGroups() map[string]string {
	return map[string]string{
		"submitted": "unstarted", "to be discussed": "backlog", "can't reproduce": "cancelled",
		"incomplete": "cancelled", "won't fix": "cancelled",
	}
}

// YouTrackGroup is the group of a state of YouTrack, "" if its name does not tell.
func YouTrackGroup() func(state string) string { return withGroups(youtrackGroups()) }
