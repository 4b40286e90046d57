package tabular

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/convert"
)

// azure is the CSV of a query in Azure DevOps. In that of a tree, the column of the title is the depth.
func azure() *Layout {
	const deepest = 10
	return &Layout{
		Name: "azure", Tracker: "Azure DevOps", How: "in Azure DevOps: a query with all the columns that you need, Export to CSV",
		Needs: [][]string{{"ID", "Work Item Type"}}, Columns: names("azure"), Markup: convert.HTML, Lists: ";", Limit: 1000,
		Lacks:  "comments, no attachments, and no links but Parent",
		Groups: azureGroups(),
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
			i.Priority = AzurePriority(i.Priority)
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

func azureGroups() map[string]string {
	return map[string]string{
		"resolved": "started", "design": "started", "ready": "unstarted", "closed": "completed",
		"removed": "cancelled",
	}
}

// AzureGroup is the group of a state of Azure DevOps, "" if its name does not tell.
func AzureGroup() func(state string) string { return withGroups(azureGroups()) }

// AzurePriority is the name of a priority of Azure DevOps, which is a number.
func AzurePriority(number string) string {
	return cmp.Or(priority(number), number)
}

// priority is the name of a number.
func priority(number string) string {
	return map[string]string{"1": "Urgent", "2": "High", "3": "Normal", "4": "Low"}[number]
}
