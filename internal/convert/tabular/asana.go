package tabular

import (
	"strings"

	"github.com/planform/planform/internal/convert"
)

// asana is the CSV of a project. Parents and dependencies are titles; a section is a state.
func asana() *Layout {
	return &Layout{
		Name: "asana", Tracker: "Asana", How: "in Asana: the arrow beside the project's name, Export/Print, CSV",
		Needs: [][]string{{"Task ID", "Name", "Section/Column"}, {"Task ID", "Name", "Column"}, {"Task ID", "Name", "Last Modified"}},
		Columns: map[string]string{
			"Task ID": "key", "Name": "name", "Notes": "description", "Section/Column": "state", "Column": "state", "Assignee": Raw, "Assignee Email": Raw,
			"Start Date": "start_date", "Due Date": "target_date", "Created At": "created_at", "Last Modified": "updated_at", "Completed At": Raw, "Tags": "labels", "Projects": Raw, "Priority": "priority",
			"Parent task": "parent", "Blocked By (Dependencies)": "blocked_by", "Blocking (Dependencies)": "blocking",
		},
		Markup: convert.Plain, Lists: ",", Lacks: "comments and no attachments",
		Each: func(c *Cells, i *convert.Issue) string {
			if one := c.Person("", c.Column("Assignee"), c.Column("Assignee Email")); one != "" {
				i.Assignees = append(i.Assignees, one) // a name may hold a comma
			}
			if strings.HasSuffix(i.Title, ":") && i.State.Name == "" && len(i.Assignees) == 0 {
				return "sections"
			}
			if c.Column("Completed At") != "" {
				if i.State.Name != "" && c.e.groups[fold(i.State.Name)] != "completed" {
					i.Fields = append(i.Fields, convert.Field{Name: "Section", Value: i.State.Name})
				}
				i.State = convert.State{Name: "Done", Category: "completed"}
			}
			if projects := c.list(c.Column("Projects"), ","); projects[0] != "" {
				i.Project = projects[0]
				if len(projects) > 1 {
					i.Fields = append(i.Fields, convert.Field{Name: "Projects", Value: strings.Join(projects, ", ")})
				}
			}
			return ""
		},
	}
}
