package convert

import (
	"cmp"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/markup"
	"github.com/planform/planform/manifest"
)

func (c *composer) comments(i *Issue) []any {
	var list []any
	keys := commentKeys(i.Comments)
	for n, comment := range i.Comments {
		p, _ := c.mapping.People.Find(comment.Author)
		switch {
		case c.mapping.Comments.Skip:
			c.report.leftOut["comments"]++
			c.bookComment(comment, decided)
			continue
		case p.Bot:
			c.report.lose("bot-comments", i, 1)
			c.bookComment(comment, lost)
			continue
		}
		text, who := c.markdown(i, comment.Text), "somebody"
		if comment.Author != "" {
			who = c.person(comment.Author)
		}
		m := manifest.Map{{Key: "key", Value: keys[n]}}
		switch header := c.mapping.Comments.Header; {
		case header == "":
		case header != mapping.DefaultHeader || text == "":
			date := ""
			if !comment.At.IsZero() {
				date = resource.Moment(comment.At)
			}
			header = strings.TrimSuffix(strings.NewReplacer("{author}", markup.Escape(who), "{date}", date).Replace(header), " · ")
			text = strings.TrimSpace(header + "\n\n" + text)
		default: // planform writes it
			who, _ = cut(who)
			if m = m.With("author", who); !comment.At.IsZero() {
				m = m.With("created_at", comment.At.Format(time.RFC3339))
			}
		}
		if text == "" {
			c.report.lose("empty-comments", i, 1)
			continue
		}
		c.report.Carried.Comments++
		c.bookComment(comment, carried)
		list = append(list, m.With("text", text))
	}
	return list
}

// commentKeys returns the keys of an issue's comments. The key of a comment without an ID is its minute, author and ordinal, so that an
// edit does not change it.
func commentKeys(comments []Comment) []string {
	return ordinalKeys(comments, func(c Comment) (id, otherwise string) {
		when := "undated"
		if !c.At.IsZero() {
			when = c.At.Format("20060102T1504")
		}
		return c.ID, when + "-" + cmp.Or(beginningOf(resource.Slug(c.Author), 60), "unknown")
	})
}
