package described

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/tabular"
)

// linear describes the answers of Linear's API for issues. Unlike the CSV, they have comments, relations, and the groups of states. Exports
// by Linear's SDK have only IDs of states, people, projects and cycles.
func linear() *api {
	a := described(textOf("linear"), linearHooks)
	a.signs = func(head []byte) (string, bool) {
		if !bytes.Contains(head, []byte(`"identifier"`)) {
			return "", false
		}
		first := records.First(head)
		return `the fields "identifier" and "title"`, slices.ContainsFunc(append(a.lists, ""), func(list string) bool {
			at := strings.TrimPrefix(list+".", ".")
			key := first.At(at + "identifier")
			return len(key) > 0 && tabular.IsLinearKey(key[0].Text) && first.Has(at+"title")
		})
	}
	return a
}

func linearHooks() hooks {
	keys := map[string]string{} // by ID
	return hooks{
		place: func(x *reader, i *convert.Issue, v records.Value) {
			at := x.reads(v)
			keys[i.ID], i.Created, i.Updated = i.Key, i.Created.Truncate(time.Second), i.Updated.Truncate(time.Second)
			i.Project, _, _ = strings.Cut(i.Key, "-")
			i.State.Category, i.State.ID = cmp.Or(x.words.Own(at("state.type")), i.State.Category), at("state.id")
			i.Archived = at("archivedAt") != "" || strings.EqualFold(at("trashed"), "true")
			if number, name := at("cycle.number"), at("cycle.name"); number+name != "" {
				start, end := x.time(i, at("cycle.startsAt")), x.time(i, at("cycle.endsAt"))
				i.Sprints = []convert.Sprint{{Name: cmp.Or(name, "Cycle "+number), Start: tabular.Midnight(start, 0), End: tabular.Midnight(end, -1)}}
			}
			if i.State.Name != "" && at("state.name") == "" {
				x.to.Note("ids-alone", "the export has the IDs of states, people, projects and cycles and not their names: "+
					"ask Linear's API for state { name type }, assignee { name email } and the like, or answer for the IDs in the mapping", i.Key)
			}
			for _, list := range []string{"comments", "relations", "labels", "attachments"} {
				if at(list+".pageInfo.hasNextPage") == "true" {
					x.to.Note("lists-cut", "issues whose "+list+" Linear cut at a page: ask for more of them, such as "+list+"(first: 250)", i.Key)
				}
			}
			i.Attachments = tabular.LinearUploads(i.Text.Body)
		},
		comment: func(_ *reader, _ string, c *convert.Comment, _ records.Value) string {
			c.At = c.At.Truncate(time.Second)
			return ""
		},
		link: func(kind string) (name, way string) { return cmp.Or(strings.ToLower(kind), "related"), "" },
		finish: func(x *reader) {
			delete(keys, "")
			for _, i := range x.issues {
				i.Parent = cmp.Or(keys[i.Parent], i.Parent)
			}
		},
	}
}
