package tabular

import (
	"path"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/text/table"
)

// detectAny looks for columns that may be the key and the name, in a file of the kind that the layout is named after.
func (l *layout) detectAny(b *beginning, name string) (string, bool) {
	if b.records != (l.name == "jsonl") || !b.records && (l.name == "xlsx") != strings.EqualFold(path.Ext(name), ".xlsx") {
		return "", false
	}
	for _, h := range b.headers {
		found := l.guess(h)
		names, has := []string{}, map[string]bool{}
		for _, cell := range h.names {
			if field := found[cell]; field == "key" || field == "name" {
				names, has[field] = append(names, cell), true
			}
		}
		if len(has) == 2 {
			return quoted(names), true
		}
	}
	return "", false
}

// addSprintAndComments adds the dates of the sprint and the comments in the row of an issue. Each column of comments is a list, and entry n
// of each list belongs to comment n.
func addSprintAndComments(c *Cells, i *convert.Issue) {
	if len(i.Sprints) == 1 {
		i.Sprints[0].Start, i.Sprints[0].End = c.day("cycle_start", i), c.day("cycle_end", i)
	}
	ids, authors, emails, times := c.listed("comment_ids"), c.listed("comment_authors"), c.listed("comment_emails"), c.listed("comment_times")
	for n, text := range c.listed("comment_texts") {
		if text != "" {
			i.Comments = append(i.Comments, convert.Comment{
				ID: entry(ids, n), Author: c.Person("", entry(authors, n), entry(emails, n)), At: c.Date(entry(times, n)), Text: convert.Text{Markup: c.e.markup, Body: text},
			})
		}
	}
}

func sprintAndCommentDates(c *Cells) []string {
	return slices.Concat(c.listed("comment_times"), c.listed("cycle_start"), c.listed("cycle_end"))
}

// listed returns the values of a field, with the empty values of a list.
func (c *Cells) listed(field string) (all []string) {
	for _, i := range c.s.fields[field] {
		if text := c.Cell(i); strings.TrimSpace(text) != "" {
			all = append(all, strings.Split(text, table.Separator)...)
		}
	}
	return all
}
