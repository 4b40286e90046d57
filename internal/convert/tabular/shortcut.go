package tabular

import (
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
)

// shortcut returns the rules of the CSV of all stories. Epics become modules; a column has the zone of the times.
func shortcut() Rules {
	return Rules{
		Each: func(c *Cells, i *convert.Issue) string {
			if zone, err := time.Parse("-07:00", c.Column("utc_offset")); err == nil {
				for _, at := range []*time.Time{&i.Created, &i.Updated} {
					there := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, zone.Location())
					if !at.IsZero() && dates.Valid(there) {
						*at = there
					}
				}
			}
			if strings.EqualFold(c.Column("is_completed"), "true") {
				i.State.Category = "completed"
			}
			texts, done := slices.DeleteFunc(c.All("raw text"), func(text string) bool { return text == "" }), map[int]bool{}
			for n, text := range texts {
				text, done[n] = strings.CutPrefix(text, "[X]")
				texts[n] = strings.TrimSpace(strings.TrimPrefix(text, "[ ]"))
			}
			tasks(i, texts, func(n int) bool { return done[n] })
			return ""
		},
	}
}
