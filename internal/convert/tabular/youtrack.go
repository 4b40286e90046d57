package tabular

import (
	"strings"

	"github.com/planform/planform/internal/convert"
)

// youtrack is the CSV of a list of issues, in English. Its columns are those of the list.
func youtrack() *Layout {
	return &Layout{
		Name: "youtrack", Tracker: "YouTrack", How: "in YouTrack, in English: a list of issues, Export, Issues in CSV",
		Needs: [][]string{{"Issue Id", "Summary"}},
		Columns: map[string]string{
			"Issue Id": "key", "Summary": "name", "Description": "description", "Project": "project_name", "Created": "created_at", "Updated": "updated_at", "Resolved": "skip", "Reporter": "created_by", "Updated by": "skip",
			"Priority": "priority", "Type": "type", "State": "state", "Assignee": "assignees", "Subsystem": "components", "Fix versions": "versions", "Tags": "labels", "Tag": "labels", "Sprints": "cycle", "Due Date": "target_date",
			"Start date": "start_date", "Subtask of": "parent", "Parent": "parent", "Depends on": "blocked_by", "Is required for": "blocking", "Relates to": "relates_to", "Duplicates": "duplicate", "Attachments": "attachments",
		},
		Lists: ",", Lacks: "comments",
		Groups: map[string]string{"submitted": "unstarted", "to be discussed": "backlog", "can't reproduce": "cancelled", "incomplete": "cancelled", "won't fix": "cancelled"},
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
