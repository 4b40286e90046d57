package planner_test

import (
	"testing"

	"github.com/planform/planform/planner"
)

// TestOutsidersAreReportedAndNotSent: who does not belong to the project is not given work in it by the service, which says nothing of it.
func TestOutsidersAreReportedAndNotSent(t *testing.T) {
	t.Parallel()
	ada, bob, gus := uuid(0xc, 1), uuid(0xc, 2), uuid(0xc, 3)
	people := func(s *fakeService) {
		s.given("member", "", ada, "email=ada@example.com").given("member", "", bob, "email=bob@example.com").given("member", "", gus, "email=gus@example.com")
		s.members["project_member "+web], s.me = []string{ada}, ada
	}
	item := func(assignees string) func(*fakeService) {
		return func(s *fakeService) {
			people(s)
			s.given("work_item", web, uuid(9, 1), "sequence_id=7", "name=Pay")
			s.find(uuid(9, 1)).row["assignees"] = []any{assignees}
			s.in.Prior["work_item/web/pay"] = known("work_item/web/pay", uuid(9, 1), "identifier=WEB-7", "name=Pay")
		}
	}
	leftOut := known("work_item/web/pay", uuid(9, 1), "identifier=WEB-7", "name=Pay", "assignees="+bob)
	leftOut.Values[planner.ShownKey("assignees")] = planner.LeftOutValue(ada)
	checkRules(t, map[string]rule{
		"a new item is assigned to those who are members of the project": {
			api: full, given: people,
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/pay", "name=Pay", "assignees=ada@example.com,gus@example.com")
			},
			steps: []string{
				"create work_item/web/pay",
				"not_possible work_item/web/pay: the service accepts only members of project/web as assignees: add gus@example.com to its members",
			},
		},
		"an item is not written again by each run because of an outsider": {
			api: full, given: item(ada),
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/pay", "name=Pay", "assignees=ada@example.com,gus@example.com")
			},
			steps: []string{"not_possible work_item/web/pay: the service accepts only members of project/web as assignees: add gus@example.com to its members"},
		},
		"a person whom the manifest makes a member can be assigned": {
			api: full, given: item(ada),
			want: func(w *wanted) {
				w.put("project/web", "id="+web, "members=bob@example.com").put("work_item/web/pay", "name=Pay", "assignees=bob@example.com")
			},
			steps: []string{"add_members project/web#members 1", "update work_item/web/pay assignees"},
		},
		"a person whom the service left out is assigned if they were a member of a former project of this address": {
			api: full, given: item(ada), prior: []planner.Record{
				{Address: "project/web#members", ID: shop, Members: []string{bob}},
				leftOut,
			},
			want: func(w *wanted) {
				w.put("project/web", "id="+web, "members=bob@example.com").put("work_item/web/pay", "name=Pay", "assignees=bob@example.com")
			},
			steps: []string{"add_members project/web#members 1", "update work_item/web/pay assignees"},
		},
		"the role that somebody had in a former project of this address does not count": {
			api: full, given: item(gus), prior: []planner.Record{
				{Address: "project/web#members", ID: shop, Members: []string{ada}, Values: map[string]string{"role " + ada: "guest"}},
			},
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/pay", "name=Pay", "assignees=ada@example.com")
			},
			steps: []string{"update work_item/web/pay assignees"},
		},
		"members are not read if the assignees are as wanted": {
			api: full, given: item(gus),
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("work_item/web/pay", "name=Pay", "assignees=gus@example.com")
			},
			reads: []string{"projects/" + web + "/", "projects/" + web + "/work-items/" + uuid(9, 1) + "/", "members/"},
		},
		"the creator, the lead and the listed members of a new project count as its members": {
			api: full, given: people,
			want: func(w *wanted) {
				w.put("project/new", "identifier=NEW", "name=New", "lead=bob@example.com", "default_assignee=gus@example.com", "module_view=true")
				w.put("module/new/m", "name=M", "members=bob@example.com,ada@example.com,gus@example.com")
			},
			steps: []string{
				"create project/new", "create module/new/m",
				"not_possible module/new/m: the service accepts only members of project/new as members: add gus@example.com to its members",
			},
		},
	})
}
