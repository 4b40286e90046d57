package tabular

import (
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/text/diag"
)

var (
	pivotalComment  = regexp.MustCompile(`(?s)^(.*?)\s*\(([^()]+) - ([A-Z][a-z]{2} \d{1,2}, \d{4})\)$`)
	pivotalPriority = regexp.MustCompile(`^p[0-3] - `)
)

// pivotal returns the rules of a project's CSV. Columns repeat: one for each owner, comment and task.
func pivotal() Rules {
	return Rules{
		Each: func(c *Cells, i *convert.Issue) string {
			i.Project = "pivotal"
			i.Priority = pivotalPriority.ReplaceAllString(i.Priority, "")
			var labels []convert.Label
			for _, l := range i.Labels {
				for name := range strings.SplitSeq(l.Name, ",") {
					if name = strings.TrimSpace(name); name != "" {
						labels = append(labels, convert.Label{Name: name})
					}
				}
			}
			i.Labels = labels
			if n := c.Column("Iteration"); n != "" {
				i.Sprints = []convert.Sprint{{
					Name: "Iteration " + n, Start: dates.Day(c.Time(c.Column("Iteration Start"), i)), End: dates.Day(c.Time(c.Column("Iteration End"), i)),
				}}
			}
			for _, text := range c.All("raw comment") {
				comment := convert.Comment{Text: convert.Text{Body: text}, Source: text}
				if m := pivotalComment.FindStringSubmatch(text); m != nil {
					comment = convert.Comment{Text: convert.Text{Body: m[1]}, Author: c.Person("", m[2], ""), At: c.Date(m[3]), Source: text, Whole: true}
				}
				i.Comments = append(i.Comments, comment)
			}
			texts, states := c.All("raw text"), c.All("raw technical")
			for n, text := range texts {
				texts[n] = diag.OneLine(text)
			}
			tasks(i, texts, func(n int) bool { return strings.EqualFold(entry(states, n), "completed") })
			return ""
		},
		Dates: func(c *Cells) []string { return slices.Concat(c.All("raw sprint date"), c.All("raw date")) },
	}
}
