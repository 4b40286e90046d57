package tabular

import (
	"cmp"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
)

// plane returns the rules of Plane's own export, for a workspace that is gone except for this file.
func plane() Rules {
	return Rules{
		Each: func(c *Cells, i *convert.Issue) string {
			if len(i.Sprints) == 1 {
				i.Sprints[0].Start, i.Sprints[0].End = dates.Day(c.Date(c.Column("Cycle Start Date"))), dates.Day(c.Date(c.Column("Cycle End Date")))
			}
			for _, name := range []string{"Link", "Links"} {
				for _, r := range c.Records(name) {
					i.Pages = append(i.Pages, convert.Attachment{Name: cmp.Or(r["title"], r["url"]), URL: r["url"]})
				}
			}
			c.comments(i)
			for _, r := range c.Records("Relations") {
				kind := strings.ToLower(r["type"])
				to, _ := c.e.resolve(r["issue"])
				incoming := r["direction"] == "incoming"
				inward := kind == "blocked_by" && !incoming || kind == "blocking" && incoming
				i.Links = append(i.Links, convert.Link{Type: linkName(kind), To: to, Inward: inward})
			}
			return ""
		},
	}
}
