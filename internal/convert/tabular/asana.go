package tabular

import (
	"strings"

	"github.com/planform/planform/internal/convert"
)

// asana returns the rules of a project's CSV. Parents and dependencies are titles; a section is a state.
func asana() Rules {
	return Rules{
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
