package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// TestPeopleAreShownByTheirNames: where the plan would show nothing but an ID, the list of the members is read.
func TestPeopleAreShownByTheirNames(t *testing.T) {
	t.Parallel()
	ada, bob := uuid(0xc, 1), uuid(0xc, 2)
	for name, c := range map[string]struct {
		given func(*fakeService)
		want  func(*wanted)
		text  string // somewhere in the plan
	}{
		"a lead who is removed is shown by name": {
			func(s *fakeService) { s.given("teamspace", "", uuid(7, 1), "name=Platform", "lead="+ada) },
			func(w *wanted) { w.put("teamspace/platform", "name=Platform", "lead!") },
			"teamspace/platform lead: ada@example.com",
		},
		"a lead whom an ID replaces is shown by name": {
			func(s *fakeService) { s.given("teamspace", "", uuid(7, 1), "name=Platform", "lead="+ada) },
			func(w *wanted) { w.put("teamspace/platform", "name=Platform", "lead="+bob) },
			"teamspace/platform lead: ada@example.com",
		},
		"assignees who are removed are shown by name": {
			func(s *fakeService) {
				s.given("work_item", web, uuid(9, 1), "name=Pay")
				s.find(uuid(9, 1)).row["assignees"] = []any{ada, bob}
			},
			func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/pay", "id="+uuid(9, 1), "assignees!")
			},
			"work_item/web/pay assignees: ada@example.com\nbob@example.com",
		},
		"labels that are removed are shown by name": {
			func(s *fakeService) {
				s.given("work_item", web, uuid(9, 1), "name=Pay").given("label", web, uuid(4, 1), "name=backend")
				s.find(uuid(9, 1)).row["labels"] = []any{uuid(4, 1)}
			},
			func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/pay", "id="+uuid(9, 1), "labels!")
			},
			"work_item/web/pay labels: backend",
		},
		"a member who is removed from a project is shown by name": {
			func(s *fakeService) {
				s.members["project_member "+web], s.in.Prune = []string{ada, bob}, true
				s.in.Prior["project/web#members"] = planner.Record{Address: "project/web#members", ID: web, Members: []string{bob}, Sources: presence()}
			},
			func(w *wanted) { w.put("project/web", "id="+web, "name=Website") },
			"project/web#members: bob@example.com",
		},
		"members are not read if the plan shows nobody": {
			func(s *fakeService) { s.given("teamspace", "", uuid(7, 1), "name=Platform", "lead="+ada) },
			func(w *wanted) { w.put("teamspace/platform", "name=Platform", "lead="+ada) },
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, full)
			s.given("project", "", web, "identifier=WEB", "name=Website")
			s.given("member", "", ada, "email=ada@example.com").given("member", "", bob, "email=bob@example.com")
			c.given(s)
			w := want(t)
			c.want(w)
			plan := s.mustPlan(w.all())
			var shown []string
			for _, step := range plan.Steps {
				for _, change := range step.Changes() {
					if change.Before != nil {
						shown = append(shown, string(step.Address)+" "+change.Path+": "+*change.Before)
					}
				}
				if step.Action == planner.RemoveMembers {
					shown = append(shown, string(step.Address)+": "+step.Members.Items[0].Text)
				}
			}
			if c.text != strings.Join(shown, "\n") {
				t.Errorf("the plan shows %q", shown)
			}
			if read := slices.ContainsFunc(s.reads, func(r planner.Read) bool { return r.Operation.Verb == resource.List && r.Optional }); read != (c.text != "") {
				t.Errorf("names were read: %v", read)
			}
		})
	}
}
