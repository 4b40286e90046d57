package described

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/records"
)

// bugReference matches a bug that a text names.
var bugReference = regexp.MustCompile(`\b([Bb]ug) ([0-9]{1,10})\b`)

// bugzilla describes the answers of Bugzilla's REST API: bugs, their comments, their history and their attachments. The first comment of a
// bug is its description.
func bugzilla() *api { return described(textOf("bugzilla"), bugzillaHooks) }

// bugzillaHooks returns the hooks for Bugzilla.
func bugzillaHooks() hooks {
	texts, uncounted := map[string]convert.Comment{}, false // descriptions, by bug; comments do not say which is the description
	return hooks{
		comment: func(x *reader, bug string, c *convert.Comment, v records.Value) string {
			if x.text(v, []string{"count"}) == "0" && !c.Hidden {
				texts[bug] = *c
				return "description"
			}
			uncounted = uncounted || !v.Has("count")
			return ""
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
			if uncounted && texts[i.Key].ID == "" && len(list) > 0 { // the one with the lowest ID
				slices.SortStableFunc(list, func(a, b convert.Comment) int {
					return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
				})
				if !list[0].Hidden {
					texts[i.Key], list = list[0], list[1:]
				}
			}
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
