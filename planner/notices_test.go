package planner_test

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plan/notices"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// mention returns a text that mentions people.
func mention(people ...string) string {
	var text strings.Builder
	for _, id := range people {
		text.WriteString(` <mention-component entity_name="user_mention" entity_identifier="` + strings.ToUpper(id) + `"></mention-component>`)
	}
	return "<p>See" + text.String() + "</p>"
}

// Each rule is a row of a table of requests that were made to version 1.4.1, with the notices in its database.
func TestNoticesAreCountedRequestByRequest(t *testing.T) {
	t.Parallel()
	ada, bob, eve := uuid(0xa, 1), uuid(0xa, 2), uuid(0xa, 3)
	item, red, blue := uuid(9, 1), uuid(8, 1), uuid(8, 2)
	const pay = "work_item/web/pay"
	names := map[string]string{ada: "ada", bob: "bob", eve: "eve"}
	describe := func(n *planner.Notices) string {
		if n == nil {
			return ""
		}
		parts := []string{fmt.Sprintf("%d people, %d notices, %d mails, %d items", n.People, n.Notices, n.Mails, n.Items)}
		for _, person := range n.Known {
			name := strings.TrimSuffix(person.Name, "@example.com")
			parts = append(parts, fmt.Sprintf("%s %d", cmp.Or(names[name], name), person.Notices)) // an ID, if no list of members was read
		}
		return strings.Join(parts, "; ")
	}
	for rule, tt := range map[string]struct {
		row      resource.Row // the item on the service; nil = it is new
		fields   []string     // wanted
		contents func(*wanted)
		undo     bool
		old      bool // version 1.3
		want     string
	}{
		"a new item tells nobody": {fields: []string{"priority=high", "labels=red", "assignees=bob@example.com", "description_html=" + mention(eve)}},
		"a changed field tells the followers, who are not known": {
			row: resource.Row{"priority": "low"}, fields: []string{"priority=high"}, want: "0 people, 0 notices, 0 mails, 1 items",
		},
		"a new assignee is told of each field of the request": {
			row: resource.Row{"priority": "low"}, fields: []string{"priority=high", "start_date=2026-12-01", "assignees=bob@example.com"},
			want: "1 people, 3 notices, 1 mails, 1 items; bob 3",
		},
		"each label added or removed is a notice": {
			row: resource.Row{"labels": []any{red}}, fields: []string{"labels=blue", "assignees=bob@example.com"}, want: "1 people, 3 notices, 1 mails, 1 items; bob 3",
		},
		"each assignee added or removed is a notice": {
			row: resource.Row{"assignees": []any{bob}}, fields: []string{"assignees=eve@example.com"}, want: "1 people, 2 notices, 1 mails, 1 items; eve 2",
		},
		"the user of the key is not told": {row: resource.Row{"priority": "low"}, fields: []string{"priority=high", "assignees=ada@example.com"}, want: "0 people, 0 notices, 0 mails, 1 items"},
		"a text tells nobody":             {row: resource.Row{"description_html": "<p>a</p>"}, fields: []string{"description_html=<p>b</p>"}},
		"a text tells whom it newly mentions": {
			row: resource.Row{"description_html": mention(bob)}, fields: []string{"description_html=" + mention(bob, eve)}, want: "1 people, 1 notices, 1 mails, 0 items; eve 1",
		},
		"a person newly mentioned is told of the other fields and of the text": {
			row: resource.Row{"priority": "low"}, fields: []string{"priority=high", "description_html=" + mention(eve)}, want: "1 people, 2 notices, 1 mails, 1 items; eve 2",
		},
		"a person newly mentioned is told of the text only if that is the last field": {
			row: resource.Row{"name": "Old"}, fields: []string{"description_html=" + mention(eve)}, want: "1 people, 1 notices, 1 mails, 1 items; eve 1",
		},
		"a person whom the text on the service mentions follows the item": {
			row: resource.Row{"priority": "low", "description_html": mention(eve)}, fields: []string{"priority=high"}, want: "1 people, 1 notices, 1 mails, 1 items; eve 1",
		},
		"an assignee or author does not follow the item because of a mention": {
			row:    resource.Row{"priority": "low", "description_html": mention(bob, eve), "assignees": []any{bob}, "created_by": eve},
			fields: []string{"priority=high"}, want: "0 people, 0 notices, 0 mails, 1 items",
		},
		"a position tells nobody": {row: resource.Row{"sort_order": "1"}, fields: []string{"sort_order=2"}},
		"relations and files of a new item tell whom its text mentions": {
			fields: []string{"description_html=" + mention(eve)}, want: "1 people, 3 notices, 1 mails, 0 items; eve 3",
			contents: func(w *wanted) {
				w.put("work_item/web/a", "name=A").put("work_item/web/b", "name=B")
				w.put(pay, "name=Pay", "description_html="+mention(eve), "relates_to=@work_item/web/a", "relates_to=@work_item/web/b")
				w.put("attachment/web/pay/f", "file=f.txt")
			},
		},
		"comments, links, cycles and modules tell nobody": {
			fields: []string{"description_html=" + mention(eve)},
			contents: func(w *wanted) {
				w.put("cycle/web/one", "name=One").put("module/web/board", "name=Board")
				w.put(pay, "name=Pay", "description_html="+mention(eve), "cycle=@cycle/web/one", "module=@module/web/board")
				w.put("comment/web/pay/c", "text=Done").put("link/web/pay/a", "url=https://example.com/a")
			},
		},
		"a new item that is archived after its contents tells whom its text mentions": {
			want: "1 people, 1 notices, 1 mails, 0 items; eve 1",
			contents: func(w *wanted) {
				w.put(pay, "name=Pay", "description_html="+mention(eve), "archived=true").put("link/web/pay/a", "url=https://example.com/a")
			},
		},
		"an undo tells the people whom the update had assigned": {
			row: resource.Row{"assignees": []any{bob}}, fields: []string{"assignees=eve@example.com"}, undo: true, want: "2 people, 4 notices, 2 mails, 1 items; bob 2; eve 2",
		},
		"version 1.3 does not tell of changed fields": {
			row: resource.Row{"priority": "low"}, fields: []string{"priority=high", "assignees=bob@example.com"}, old: true,
		},
		"version 1.3 tells new assignees of files": {
			row: resource.Row{}, old: true, want: "1 people, 1 notices, 1 mails, 1 items; bob 1",
			contents: func(w *wanted) {
				w.put(pay, "id="+item, "name=Pay", "assignees=bob@example.com").put("attachment/web/pay/f", "file=f.txt")
			},
		},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			s := newService(t, full)
			s.in.Self, s.in.API = ada, resource.V1
			s.given("project", "", web, "identifier=WEB", "cycle_view=true", "module_view=true")
			s.given("label", web, red, "name=red").given("label", web, blue, "name=blue")
			for id, name := range names {
				s.given("member", "", id, "display_name="+name, "email="+name+"@example.com")
				s.members["project_member "+web] = append(s.members["project_member "+web], id)
			}
			fields := append([]string{"name=Pay"}, tt.fields...)
			if tt.row != nil {
				s.given("work_item", web, item, "name=Pay")
				maps.Copy(s.find(item).row, tt.row)
				fields = append(fields, "id="+item)
			}
			w := want(t).put("project/web", "id="+web)
			if tt.contents != nil {
				tt.contents(w)
			} else {
				w.put(pay, fields...)
			}
			in := s.in
			if in.Desired, in.Observed = w.all(), (planner.Observed{}); tt.undo {
				in.Deletes = map[resource.Address]bool{}
			}
			world := load(t, in, s.answer)
			result := planner.Build(world)
			if result.Plan == nil {
				t.Fatal(result.Findings.Err())
			}
			telling := notices.TellsOfChanges
			if tt.old {
				telling = notices.TellsOfRelations
			}
			if got := describe(notices.Count(world, result.Plan, telling)); got != tt.want {
				t.Errorf("got %q, want %q\n%s", got, tt.want, strings.Join(lines(result.Plan), "\n"))
			}
			if n := notices.Count(world, result.Plan, notices.TellsNothing); n != nil {
				t.Errorf("a service that tells nothing: %+v", n)
			}
		})
	}
}
