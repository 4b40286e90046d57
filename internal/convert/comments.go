package convert

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/manifest"
)

// comments are the comments of an issue. One without an ID is known by its minute, author and ordinal: an edited comment stays
// the same one.
func (c *composer) comments(i *Issue) []any {
	var list []any
	taken := map[string]int{}
	for _, comment := range i.Comments {
		p, _ := mapping.Find(c.mapping.People, comment.Author)
		switch {
		case c.mapping.Comments.Skip:
			c.report.leftOut["comments"]++
			continue
		case p.Bot:
			c.report.lose("bot-comments", i.Key, 1)
			continue
		}
		text := c.markdown(i, comment.Text)
		if header := c.mapping.Comments.Header; header != "" {
			date := ""
			if !comment.At.IsZero() {
				date = moment(comment.At)
			}
			who := "somebody"
			if comment.Author != "" {
				who = escapeName(c.person(comment.Author))
			}
			header = strings.TrimSuffix(strings.NewReplacer("{author}", who, "{date}", date).Replace(header), " · ")
			text = strings.TrimSpace(header + "\n\n" + text)
		}
		if text == "" {
			c.report.lose("empty-comments", i.Key, 1)
			continue
		}
		key := itemKey(comment.ID)
		if comment.ID == "" {
			author, when := resource.Slug(comment.Author), "undated"
			if !comment.At.IsZero() {
				when = comment.At.Format("20060102T1504")
			}
			key = when + "-" + cmp.Or(author[:min(len(author), 60)], "unknown")
			taken[key]++
			key += "-" + strconv.Itoa(taken[key])
		}
		c.report.Carried.Comments++
		list = append(list, manifest.Map{{Key: "key", Value: key}, {Key: "text", Value: text}})
	}
	return list
}
