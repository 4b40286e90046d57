package tabular

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
)

// clickup returns the rules of the CSV of a workspace or space. A list becomes a module.
func clickup() Rules {
	return Rules{
		Each: func(c *Cells, i *convert.Issue) string {
			i.Text.Body = strings.ReplaceAll(i.Text.Body, `\n`, "\n")
			for _, name := range c.bracketed("Assignees") {
				i.Assignees = append(i.Assignees, c.Person(name, "", ""))
			}
			for _, name := range c.bracketed("Tags") {
				i.Labels = append(i.Labels, convert.Label{Name: name})
			}
			i.Start, i.Due = c.localDay("Start Date", i), c.localDay("Due Date", i)
			for _, r := range c.Records("Attachments") {
				url := cmp.Or(r["url"], r["link"])
				i.Attachments = append(i.Attachments, convert.Attachment{ID: r["id"], Name: cmp.Or(r["title"], r["name"], url), URL: url})
			}
			c.comments(i)
			return ""
		},
	}
}

// bracketed returns the elements of a column with a list such as [a, b].
func (c *Cells) bracketed(name string) []string {
	var all []string
	for _, text := range c.list(strings.Trim(c.Column(name), "[]"), ",") {
		if text = strings.Trim(text, `"`); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// gmt matches the offset from GMT at the end of a time.
var gmt = regexp.MustCompile(`GMT([+-]\d{1,2})(?::?(\d{2}))?$`)

// localDay returns the day of a time in the zone of the user who entered it, which another column tells.
func (c *Cells) localDay(name string, i *convert.Issue) string {
	text := c.Column(name)
	at := c.Time(text, i)
	if at.IsZero() {
		return ""
	}
	if m := gmt.FindStringSubmatch(c.Column(name + " Text")); m != nil {
		hours, _ := strconv.Atoi(m[1])
		minutes, _ := strconv.Atoi(m[2])
		if hours < 0 {
			minutes = -minutes
		}
		if there := at.In(time.FixedZone("", (hours*60+minutes)*60)); dates.Valid(there) {
			at = there
		}
	}
	return at.Format(time.DateOnly)
}
