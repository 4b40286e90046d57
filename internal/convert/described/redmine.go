package described

import (
	"cmp"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/tabular"
)

// redmine describes the answers of issues.json, issues/ID.json and users.json. Changes name states, people and fields by numbers.
func redmine() *api {
	return described(textOf("redmine"), redmineHooks)
}

func redmineHooks() hooks {
	names := map[string]string{}        // names by field and number, such as status_id 1
	closed := map[*convert.Issue]bool{} // issues with a time at which they were closed
	return hooks{
		issue: func(x *reader, i *convert.Issue, v records.Value) {
			for _, of := range []string{"status", "tracker", "priority", "assigned_to", "category", "fixed_version", "project", "author"} {
				names[of+"_id "+x.text(v, []string{of + ".id"})] = x.text(v, []string{of + ".name"})
			}
			closed[i] = x.text(v, []string{"closed_on"}) != ""
			tabular.NoteTextile(i, x.to)
		},
		field: func(x *reader, v records.Value, _ []string) {
			names["cf "+x.text(v, []string{"id"})] = x.text(v, []string{"name"})
		},
		finish: func(x *reader) {
			open := map[string]bool{} // states of issues that are not closed
			for _, i := range x.latest {
				open[i.State.Name] = open[i.State.Name] || !closed[i]
			}
			for _, i := range x.latest { // a state without a known group is completed if no open issue has it
				if !open[i.State.Name] {
					i.State.Category = cmp.Or(i.State.Category, "completed")
				}
			}
		},
		complete: func(_ *reader, i *convert.Issue) {
			for n, e := range i.Events {
				of := strings.TrimPrefix(e.Field, "attr ")
				i.Events[n].From, i.Events[n].To = cmp.Or(names[of+" "+e.From], e.From), cmp.Or(names[of+" "+e.To], e.To)
				i.Events[n].Field = strings.TrimSuffix(cmp.Or(names[of], of), "_id")
			}
		},
	}
}
