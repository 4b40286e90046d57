package described

import (
	"cmp"
	"regexp"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/records"
)

// bugReference matches a bug that a text names.
var bugReference = regexp.MustCompile(`\b([Bb]ug) ([0-9]{1,10})\b`)

// bugzilla describes the answers of Bugzilla's REST API: bugs, their comments, their history and their attachments. The first comment of a
// bug is its description.
func bugzilla() *api { return described(textOf("bugzilla"), bugzillaHooks) }

func bugzillaHooks() hooks {
	texts := map[string]convert.Comment{} // descriptions, by bug; comments do not say which is the description
	return hooks{
		comment: func(x *reader, bug string, c *convert.Comment, v records.Value) string {
			first, is := texts[bug], x.text(v, []string{"count"}) == "0"
			if !v.Has("count") { // the one with the lowest ID
				is = first.ID == "" && len(x.comments[bug]) == 0 || cmp.Or(cmp.Compare(len(c.ID), len(first.ID)), cmp.Compare(c.ID, first.ID)) <= 0
			}
			if !is || c.Hidden {
				return ""
			}
			if first.ID != "" && first.ID != c.ID {
				x.comment(bug, first)
			}
			texts[bug] = *c
			return "description"
		},
		issue: func(_ *reader, i *convert.Issue, _ records.Value) {
			for n, f := range i.Fields {
				i.Fields[n].Noise = f.Source == "version" && f.Value == "unspecified"
			}
		},
		complete: func(x *reader, i *convert.Issue) {
			if x.latest[i.Key] != i {
				return
			}
			list := x.comments[i.Key]
			for n := range list {
				list[n].Text.Body = x.marked(list[n].Text.Body)
			}
			i.Text = texts[i.Key].Text
			i.Text.Body = x.marked(i.Text.Body)
			x.comments[i.Key], x.counted[i.Key] = list, x.counted[i.Key]-1
		},
	}
}

// marked returns a text with references such as bug 12 as bug #12, if the export has the bug, so that they become links.
func (x *reader) marked(text string) string {
	return bugReference.ReplaceAllStringFunc(text, func(text string) string {
		if m := bugReference.FindStringSubmatch(text); x.latest[m[2]] != nil {
			return m[1] + " #" + m[2]
		}
		return text
	})
}
