package planner_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plan/authors"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// drifted is a work item of which somebody changed two fields.
func drifted(s *fakeService) {
	s.given("work_item", web, uuid(9, 1), "name=Pay", "description_html=<p>New</p>", "priority=low", "start_date=2026-12-01")
}

func TestDriftIsOverwrittenKeptOrAnError(t *testing.T) {
	t.Parallel()
	prior := []planner.Record{known("work_item/web/pay", uuid(9, 1), "name=Pay", "description=<p>Old</p>", "priority=high", "start_date=2026-12-01")}
	wants := func(w *wanted) {
		w.put("project/web", "id="+web).put("work_item/web/pay", "name=Pay", "description=Old", "priority=high", "start_date=2026-12-24")
	}
	on := func(what planner.OnDrift) func(*planner.Input) { return func(in *planner.Input) { in.OnDrift = what } }
	checkRules(t, map[string]rule{
		"a value that somebody changed is overwritten by default": {
			api: full, given: drifted, prior: prior, want: wants, steps: []string{"update work_item/web/pay description priority start_date"},
		},
		"a value that somebody changed stays if drift is kept, and the manifest's changes are sent": {
			api: full, given: drifted, prior: prior, want: wants, options: on(planner.Keep), steps: []string{"update work_item/web/pay start_date"},
		},
		"each field that somebody changed is an error if drift fails": {
			api: full, given: drifted, prior: prior, want: wants, options: on(planner.Fail),
			findings: []string{
				`error drift: description of work_item/web/pay was changed on the service since the last apply: it is "New"; planform pull takes the value into the manifest; or give --on-drift overwrite or keep`,
				`error drift: priority of work_item/web/pay was changed on the service since the last apply: it is "low"; planform pull takes the value into the manifest; or give --on-drift overwrite or keep`,
			},
		},
		"a field that was never applied is not drift": {
			api: full, given: drifted, want: wants, options: on(planner.Fail),
			prior: []planner.Record{known("work_item/web/pay", uuid(9, 1))},
			steps: []string{"update work_item/web/pay description priority start_date"},
		},
	})
}

// TestDriftNamesItsAuthorAndTime covers who and when: the last change of the very field counts.
func TestDriftNamesItsAuthorAndTime(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB").given("member", "", uuid(0xc, 1), "email=ada@example.com", "display_name=ada")
	drifted(s)
	s.in.Prior["work_item/web/pay"] = known("work_item/web/pay", uuid(9, 1), "description=<p>Old</p>", "priority=high")
	objects := want(t).put("project/web", "id="+web).put("work_item/web/pay", "description=Old", "priority=high").all()
	for _, what := range []planner.OnDrift{planner.Overwrite, planner.Keep} {
		s.in.OnDrift = what
		plan := s.mustPlan(objects)
		reads := authors.Reads(plan)
		if len(reads) != 2 {
			t.Fatal(reads)
		}
		observed := planner.Observed{reads[1]: s.answer(reads[1])}
		var log []resource.Row
		if err := json.Unmarshal([]byte(`[
			{"field": null, "created_at": "2026-11-01T10:00:00Z", "actor": "`+uuid(0xc, 1)+`"},
			{"field": "priority", "created_at": "2026-11-20T10:00:00.25+01:00", "actor": "`+uuid(0xc, 1)+`"},
			{"field": "priority", "created_at": "2026-11-02T10:00:00Z", "actor": "`+uuid(0xc, 2)+`"},
			{"field": "description", "created_at": "2026-11-03T10:00:00Z", "actor": "`+uuid(0xc, 2)+`"},
			{"field": "description", "created_at": "yesterday", "actor": "`+uuid(0xc, 1)+`"}
		]`), &log); err != nil {
			t.Fatal(err)
		}
		observed[reads[0]] = planner.Answer{Rows: log}
		authors.Annotate(plan, observed)
		got := map[string]string{}
		for _, d := range plan.Drift {
			got[d.Change.Path] = d.Change.By + " " + d.Change.At
		}
		want := map[string]string{"priority": "ada 2026-11-20T09:00:00Z", "description": uuid(0xc, 2) + " 2026-11-03T10:00:00Z"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if what == planner.Overwrite && plan.Steps[0].Changes()[1].By != "ada" {
			t.Errorf("%+v", plan.Steps[0].Changes())
		}
	}
}

func TestAReferenceThatADeletionClearedIsNotDrift(t *testing.T) {
	t.Parallel()
	pay, red, blue, bug, points, five := uuid(3, 1), uuid(5, 1), uuid(5, 2), uuid(6, 1), uuid(7, 1), uuid(7, 5)
	label := func(s *fakeService) { s.given("label", web, blue, "name=Blue") }
	kind := func(s *fakeService) { s.given("work_item_type", web, bug, "name=Bug") }
	atWorkspace := func(s *fakeService) { s.given("workspace_work_item_type", "", bug, "name=Bug") }
	estimate := func(s *fakeService) { s.given("estimate", web, points, "name=Points") }
	point := func(s *fakeService) { s.given("estimate_point", points, five, "value=5") }
	for name, tt := range map[string]struct {
		api            resource.API
		there          []func(*fakeService)
		applied, shows string
		kept           int
		without        []string // kinds that the edition does not have
	}{
		"the loss of a label that was deleted is not drift":                                    {full, nil, "labels=" + red + "," + blue, "labels=" + red, 0, nil},
		"the loss of a label that still exists is drift":                                       {full, []func(*fakeService){label}, "labels=" + red + "," + blue, "labels=" + red, 1, nil},
		"the loss of a type that was deleted is not drift":                                     {full, nil, "type=" + bug, "type=", 0, nil},
		"the loss of a type that still exists is drift":                                        {full, []func(*fakeService){kind}, "type=" + bug, "type=", 1, nil},
		"another type in place of a deleted one is drift":                                      {full, nil, "type=" + bug, "type=" + uuid(6, 2), 1, nil},
		"the loss of a workspace's type that was deleted is not drift":                         {resource.V2, nil, "type=" + bug, "type=", 0, nil},
		"the loss of a workspace's type that still exists is drift":                            {resource.V2, []func(*fakeService){atWorkspace}, "type=" + bug, "type=", 1, nil},
		"the loss of an estimate point that was deleted is not drift":                          {full, []func(*fakeService){estimate}, "estimate_point=" + five, "estimate_point=", 0, nil},
		"the loss of an estimate point whose estimate was deleted is not drift":                {full, nil, "estimate_point=" + five, "estimate_point=", 0, nil},
		"the loss of an estimate point that still exists is drift":                             {full, []func(*fakeService){estimate, point}, "estimate_point=" + five, "estimate_point=", 1, nil},
		"the loss of an estimate point is drift if the edition has no estimates":               {full, nil, "estimate_point=" + five, "estimate_point=", 1, []string{"estimate", "estimate_point"}},
		"the loss of a type is drift if the edition has no types in projects or the workspace": {resource.V2, nil, "type=" + bug, "type=", 1, []string{"work_item_type", "workspace_work_item_type"}},
		"the loss of a parent is drift, because the parent may be archived":                    {full, nil, "parent=" + uuid(3, 2), "parent=", 1, nil},
		"the loss of an assignee is drift, because the member may have left":                   {full, nil, "assignees=" + uuid(0xc, 1), "assignees=", 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, tt.api)
			for _, kind := range tt.without {
				s.without[kind] = true
			}
			s.given("member", "", uuid(0xc, 2), "email=bob@example.com", "display_name=bob")
			s.given("project", "", web, "identifier=WEB", "is_issue_type_enabled=true").given("label", web, red, "name=Red")
			for _, given := range tt.there {
				given(s)
			}
			s.given("work_item", web, pay, "name=Pay", tt.shows)
			s.in.Prior["work_item/web/pay"] = known("work_item/web/pay", pay, "name=Pay", tt.applied)
			s.in.OnDrift = planner.Keep
			field, _, _ := strings.Cut(tt.applied, "=")
			wanted := map[string]string{
				"labels": "@label/web/red,@label/web/blue", "type": "@work_item_type/web/bug", "estimate_point": "@estimate_point/web/points/5",
				"parent": "@work_item/web/up", "assignees": "bob@example.com",
			}
			w := want(t).put("project/web", "id="+web).put("label/web/red", "name=Red").put("label/web/blue", "name=Blue").
				put("work_item/web/up", "name=Up").put("work_item/web/pay", "id="+pay, "name=Pay", field+"="+wanted[field])
			if len(tt.without) > 0 { // they are named as the service showed them once
				w = want(t).put("project/web", "id="+web).put("work_item/web/pay", "id="+pay, "name=Pay", tt.applied)
			} else if field != "labels" {
				w.put("work_item_type/web/bug", "name=Bug").put("estimate/web/points", "name=Points").put("estimate_point/web/points/5", "value=5")
			}
			if plan := s.mustPlan(w.all()); plan.Summary.Kept != tt.kept {
				t.Errorf("%d kept: %q", plan.Summary.Kept, lines(plan))
			}
		})
	}
}

// TestAChangedStateIsComparedWithoutAnotherRead: only of a reference that is missing can lists tell whether it is gone.
func TestAChangedStateIsComparedWithoutAnotherRead(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V2)
	s.given("project", "", web, "identifier=WEB").given("state", web, uuid(5, 1), "name=Todo").given("state", web, uuid(5, 2), "name=Done")
	s.given("work_item", web, uuid(3, 1), "name=Pay", "state="+uuid(5, 2))
	s.in.Prior["work_item/web/pay"] = known("work_item/web/pay", uuid(3, 1), "name=Pay", "state="+uuid(5, 1))
	s.in.OnDrift = planner.Keep
	plan := s.mustPlan(want(t).put("project/web", "id="+web).put("work_item/web/pay", "id="+uuid(3, 1), "name=Pay", "state=Todo").all())
	if plan.Summary.Kept != 1 {
		t.Errorf("%q", lines(plan))
	}
	for _, r := range s.reads {
		if r.Operation.Kind == "workspace_state" {
			t.Errorf("%+v", r)
		}
	}
}

func TestTheLossOfAParentPageIsDriftBecauseThePageMayBeArchived(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V2)
	s.given("page", "", uuid(3, 1), "name=Pay", "parent_id=", "parent=")
	s.in.Prior["page/pay"] = known("page/pay", uuid(3, 1), "name=Pay", "parent="+uuid(3, 2))
	s.in.OnDrift = planner.Keep
	plan := s.mustPlan(want(t).put("page/up", "name=Up").put("page/pay", "id="+uuid(3, 1), "name=Pay", "parent=@page/up").all())
	if plan.Summary.Kept != 1 {
		t.Errorf("%q", lines(plan))
	}
}

// TestADeletedObjectIsNotCreatedAgainIfDriftIsKept: items, and what is in them.
func TestADeletedObjectIsNotCreatedAgainIfDriftIsKept(t *testing.T) {
	t.Parallel()
	keep := func(in *planner.Input) { in.OnDrift = planner.Keep }
	pay, cart := uuid(9, 1), uuid(9, 2)
	project := func(w *wanted) *wanted { return w.put("project/web", "id="+web) }
	checkRules(t, map[string]rule{
		"a deleted item is not created again, nor is anything in it": {
			api: full, options: keep,
			prior: []planner.Record{known("work_item/web/pay", pay, "name=Pay"), known("comment/web/pay/c", uuid(8, 1), "text=Hello")},
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "name=Pay").put("comment/web/pay/c", "text=Hello").put("work_item/web/new", "name=New")
			},
			steps:    []string{"create work_item/web/new"},
			findings: []string{"warning deleted: work_item/web/pay was deleted on the service since the last apply: it stays so, as on_drift keep says; planform state rm ADDRESS lets the next apply create it again; or remove it from the manifest", "not compared: 1 work item: deleted on the service, and left so"},
		},
		"a deleted comment is not created again": {
			api: full, options: keep,
			given: func(s *fakeService) { s.given("work_item", web, pay, "sequence_id=1", "name=Pay") },
			prior: []planner.Record{known("work_item/web/pay", pay, "name=Pay"), known("comment/web/pay/c", uuid(8, 1), "text=Hello")},
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "name=Pay").put("comment/web/pay/c", "text=Hello")
			},
			findings: []string{"warning deleted: comment/web/pay/c was deleted on the service since the last apply: it stays so, as on_drift keep says; planform state rm ADDRESS lets the next apply create it again; or remove it from the manifest", "not compared: 1 comment: deleted on the service, and left so"},
		},
		"the children of a deleted item stay without their parent": {
			api: full, options: keep,
			given: func(s *fakeService) {
				s.given("work_item", web, cart, "sequence_id=2", "name=Cart").find(cart).row["parent"] = nil
			},
			prior: []planner.Record{known("work_item/web/pay", pay, "name=Pay"), known("work_item/web/cart", cart, "name=Cart", "parent="+pay)},
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "name=Pay").put("work_item/web/cart", "name=Cart", "parent=@work_item/web/pay")
			},
			findings: []string{"warning deleted: work_item/web/pay was deleted on the service since the last apply: it stays so, as on_drift keep says; planform state rm ADDRESS lets the next apply create it again; or remove it from the manifest", "not compared: 1 work item: deleted on the service, and left so"},
		},
		"a deleted label is created again, because items need it": {
			api: full, options: keep,
			prior:    []planner.Record{known("label/web/red", uuid(4, 1), "name=Red")},
			want:     func(w *wanted) { project(w).put("label/web/red", "name=Red") },
			steps:    []string{"create label/web/red"},
			findings: []string{"warning gone: label/web/red was deleted or archived on the service since the last apply and is created again"},
		},
		"several deleted items are counted in one warning": {
			api: full, options: keep,
			prior: []planner.Record{known("work_item/web/pay", pay, "name=Pay"), known("work_item/web/cart", cart, "name=Cart")},
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "name=Pay").put("work_item/web/cart", "name=Cart")
			},
			findings: []string{"warning deleted: 2 work items were deleted on the service since the last apply, and stay so, as on_drift keep says: work_item/web/pay, work_item/web/cart; " +
				"planform state rm ADDRESS lets the next apply create it again; or remove it from the manifest", "not compared: 2 work items: deleted on the service, and left so"},
		},
	})
}
