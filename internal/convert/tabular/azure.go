package tabular

import (
	"strconv"
	"strings"

	"github.com/planform/planform/internal/convert"
)

// azure returns the rules of the CSV of a query in Azure DevOps. The CSV of a tree has a title column for each depth.
func azure() Rules {
	const deepest = 10
	return Rules{
		Each: func(c *Cells, i *convert.Issue) string {
			for n := range deepest {
				if c.Column("Title "+strconv.Itoa(n+1)) == "" {
					continue
				}
				c.e.above = append(c.e.above[:min(n, len(c.e.above))], i.Key)
				if n > 0 && len(c.e.above) > 1 && i.Parent == "" {
					i.Parent = c.e.above[len(c.e.above)-2]
				}
			}
			area := strings.Split(c.Column("Area Path"), `\`)
			iteration := strings.Split(c.Column("Iteration Path"), `\`)
			if c.One("project") == "" {
				for _, path := range [][]string{area, iteration} {
					if path[0] != "" {
						i.Project = path[0]
						break
					}
				}
			}
			if len(area) > 1 {
				i.Components = []string{convert.PathName(area)}
			}
			if len(iteration) > 1 {
				i.Sprints = []convert.Sprint{{Name: convert.PathName(iteration)}}
			}
			for _, name := range []string{"Repro Steps", "Acceptance Criteria"} {
				if text := c.Column(name); text != "" {
					i.Text.Body += "<h2>" + name + "</h2>" + text
				}
			}
			return ""
		},
	}
}
