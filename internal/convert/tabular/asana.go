package tabular

import (
	"strings"

	"github.com/planform/planform/internal/convert"
)

// asana returns the layout of a project's CSV. Parents and dependencies are titles; a section is a state.
func asana() *Layout {
	return &Layout{
		Name: "asana", Tracker: "Asana", How: "in Asana: open the arrow beside the project's name, then Export/Print, CSV",
		Needs:   [][]string{{"Task ID", "Name", "Section/Column"}, {"Task ID", "Name", "Column"}, {"Task ID", "Name", "Last Modified"}},
		Columns: names("asana"),
		Markup:  convert.Plain, Lists: ",", Lacks: "comments and no attachments",
		Each: func(c *Cells, i *convert.Issue) string {
			if strings.HasSuffix(i.Title, ":") && i.State.Name == "" && len(i.Assignees) == 0 {
				return "sections"
			}
			if day := c.Column("Completed At"); day != "" {
				i.Fields = append(i.Fields, convert.Field{Name: "Completed At", Value: day, Source: "Completed At"})
				if i.State.Name != "" && c.e.words.Group(i.State.Name) != "completed" {
					i.Fields = append(i.Fields, convert.Field{Name: "Section", Value: i.State.Name, Part: convert.OfState})
				}
				i.State = convert.State{Name: "Done", Category: "completed"}
			}
			if projects := c.list(c.Column("Projects"), ","); projects[0] != "" {
				i.Project = projects[0]
				if len(projects) > 1 {
					i.Fields = append(i.Fields, convert.Field{Name: "Projects", Value: strings.Join(projects, ", "), Part: "project"})
				}
			}
			return ""
		},
	}
}
