package convert

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/jira/wiki"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

// Work is time that somebody logged on an issue.
type Work struct {
	Author  string
	At      time.Time
	Seconds int
	Text    Text
}

// Event is a change of an issue in the past.
type Event struct {
	Author          string
	At              time.Time
	Field, From, To string
}

// summaryKey is the key of the comment that sums up data without a place in Plane.
const summaryKey = "summary"

// summed returns the number of losses of a kind that the summary of an issue tells.
func (c *composer) summed(i *Issue, kind string) int {
	if c.mapping.Summary == "off" || c.mapping.Comments.Skip {
		return 0
	}
	switch kind {
	case "worklogs":
		return len(i.Work)
	case "history":
		return len(i.Events)
	case "watchers", "votes":
		return i.Left[kind]
	}
	return 0
}

// summary returns a comment with data that Plane has no place for: logged work, watchers, votes and changes.
func (c *composer) summary(i *Issue) []any {
	if c.mapping.Summary == "off" || c.mapping.Comments.Skip {
		return nil
	}
	var lines, tables []string
	full := c.mapping.Summary == "full"
	if len(i.Work) > 0 {
		lines = append(lines, "- "+c.work(i))
		if full {
			rows := [][]wiki.Cell{{{Text: "Work logged"}, {Text: "Who"}, {Text: "Time"}, {Text: "Text"}}}
			for _, w := range i.Work {
				text := strings.ReplaceAll(diag.OneLine(strings.ReplaceAll(c.markdown(i, w.Text), "\n", "<br>")), "\\<br>", "<br>")
				rows = append(rows, []wiki.Cell{{Text: when(w.At)}, {Text: escapeCell.Replace(c.person(w.Author))}, {Text: dates.Duration(w.Seconds)}, {Text: text}})
			}
			tables = append(tables, strings.Join(wiki.Table(rows, true), "\n"))
		}
	}
	if n := i.Left["watchers"]; n > 0 {
		var names []string
		for _, id := range i.Watchers {
			names = append(names, escapeCell.Replace(c.person(id)))
		}
		lines = append(lines, "- "+strings.TrimSuffix(diag.Count(n, "watcher")+": "+strings.Join(names, ", "), ": "))
	}
	if n := i.Left["votes"]; n > 0 {
		lines = append(lines, "- "+diag.Count(n, "vote"))
	}
	if n := len(i.Events); n > 0 {
		lines = append(lines, "- "+diag.Count(n, "change")+", the last on "+when(i.Events[n-1].At))
		if full {
			rows := [][]wiki.Cell{{{Text: "Changed"}, {Text: "Who"}, {Text: "Field"}, {Text: "From"}, {Text: "To"}}}
			for _, e := range i.Events {
				row := []wiki.Cell{{Text: when(e.At)}}
				for _, text := range []string{c.person(e.Author), e.Field, e.From, e.To} {
					row = append(row, wiki.Cell{Text: escapeCell.Replace(strings.TrimSpace(c.clean(i, text)))})
				}
				rows = append(rows, row)
			}
			tables = append(tables, strings.Join(wiki.Table(rows, true), "\n"))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	text := strings.Join(append([]string{"**In " + c.format.Tracker + ", before the move**", strings.Join(lines, "\n")}, tables...), "\n\n")
	return []any{manifest.Map{{Key: "key", Value: summaryKey}, {Key: "text", Value: text}}}
}

// work returns the logged time in words, in total and by person.
func (c *composer) work(i *Issue) string {
	total, by := 0, tally{}
	for _, w := range i.Work {
		total += w.Seconds
		by[w.Author] += w.Seconds
	}
	var names []string
	by.each(never, func(id string, seconds int) {
		names = append(names, strings.TrimSpace(escapeCell.Replace(c.person(id))+" "+dates.Duration(seconds)))
	})
	return fmt.Sprintf("%s, %s: %s", diag.Count(len(i.Work), "work log"), cmp.Or(dates.Duration(total), strconv.Itoa(total)+"s"), strings.Join(names, ", "))
}

func when(at time.Time) string {
	if at.IsZero() {
		return "an unknown day"
	}
	return resource.Moment(at)
}

func (i *Issue) byTime() {
	slices.SortStableFunc(i.Work, func(a, b Work) int { return a.At.Compare(b.At) })
	slices.SortStableFunc(i.Events, func(a, b Event) int { return a.At.Compare(b.At) })
}
