package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

func TestAnExistingObjectIsChangedWhereItDiffersFromTheManifest(t *testing.T) {
	t.Parallel()
	ada, bob := uuid(0xc, 1), uuid(0xc, 2)
	item := uuid(9, 7)
	project := func(w *wanted) *wanted { return w.put("project/web", "id="+web) }
	has := func(fields ...string) func(*fakeService) {
		return func(s *fakeService) { s.given("work_item", web, item, append(fields, "sequence_id=7")...) }
	}
	team := func(fields ...string) func(*fakeService) {
		return func(s *fakeService) { s.given("teamspace", "", uuid(7, 1), fields...) }
	}
	checkRules(t, map[string]rule{
		"a work item that exists cannot be changed by the documented operations, field by field; the rest is applied": {
			api:   documented,
			given: has("name=Pay", "priority=low", "state="+uuid(3, 1)),
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "identifier=WEB-7", "name=Pay now", "priority=low", "state="+uuid(3, 2)).
					put("link/web/pay/a", "url=https://a.example")
			},
			steps: []string{
				"not_possible work_item/web/pay: the documented operations cannot change name, state of a work item after creation",
				"create link/web/pay/a",
			},
			findings: []string{notOffered(1)},
		},
		"the wider API can change a work item that exists": {
			api:   full,
			given: has("name=Pay", "priority=low"),
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "identifier=WEB-7", "name=Pay now", "priority=low")
			},
			steps: []string{"update work_item/web/pay name"},
		},
		"a field that the manifest does not write is not managed": {
			api:   full,
			given: has("name=Pay", "priority=low"),
			want:  func(w *wanted) { project(w).put("work_item/web/pay", "identifier=WEB-7", "priority=low") },
		},
		"texts compare in their normal form, sets as sets, dates as dates, colours and IDs in any case": {
			api: full,
			given: func(s *fakeService) {
				has("name=Pay", "description_html=<div><p>One <b>page</b></p></div>", "start_date=2026-12-01T00:00:00Z")(s)
				s.find(item).row["assignees"] = []any{bob, ada}
				s.given("initiative_label", "", uuid(5, 1), "name=Growth", "color=#22C55E")
			},
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "identifier=WEB-7", "description=One **page**", "start_date=2026-12-01", "assignees="+ada+","+bob)
				w.put("initiative_label/growth", "id="+uuid(5, 1), "color=#22c55e")
			},
		},
		"a field that cannot be cleared is reported, and the other fields are sent": {
			api:   full,
			given: has("name=Pay", "priority=low", "start_date=2026-12-01"),
			want:  func(w *wanted) { project(w).put("work_item/web/pay", "identifier=WEB-7", "priority!", "start_date!") },
			steps: []string{
				"update work_item/web/pay start_date",
				"not_possible work_item/web/pay: API v1 cannot clear priority of a work item after creation",
			},
		},
		"a field that is empty already is not cleared": {
			api: full,
			given: func(s *fakeService) {
				has("name=Pay", "description_html=<p></p>")(s)
				s.find(item).row["start_date"] = nil
			},
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "identifier=WEB-7", "start_date!", "description!")
			},
		},
		"a field that cannot change after creation is reported, and the other fields are sent": {
			api:   full,
			given: func(s *fakeService) { has()(s); s.given("link", item, uuid(0xa, 1), "url=https://a.example") },
			prior: []planner.Record{known("link/web/pay/a", uuid(0xa, 1))},
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "identifier=WEB-7").put("link/web/pay/a", "url=https://b.example", "title=B")
			},
			steps: []string{
				"update link/web/pay/a title",
				"not_possible link/web/pay/a: API v1 cannot change url of a link after creation",
			},
		},
		"an update waits for the object that it names": {
			api:   full,
			given: has("name=Pay"),
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "identifier=WEB-7", "parent=@work_item/web/shop").put("work_item/web/shop", "name=Shop")
			},
			steps: []string{"create work_item/web/shop", "update work_item/web/pay parent"},
		},
		"a membership that cannot be made does not block its object": {
			api:   full,
			given: func(s *fakeService) { s.without["cycle"] = true; has("name=Pay")(s) },
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "identifier=WEB-7", "name=Pay now", "cycle=@cycle/web/a").put("cycle/web/a", "name=A")
			},
			steps: []string{
				"not_possible cycle/web/a: this edition of the service has no cycles",
				"update work_item/web/pay name",
				"not_possible cycle/web/a#work_items 1: the cycle cannot be created",
			},
		},
		"an object that cannot be read is compared with the values applied last": {
			api:      documented,
			prior:    []planner.Record{known("project/web", web, "name=Website", "description=")},
			want:     func(w *wanted) { w.put("project/web", "id="+web, "name=Website", "description=Shop") },
			steps:    []string{"update project/web description"},
			findings: []string{"not compared: 1 project: the documented operations cannot read them"},
		},
		"an object that can be neither read nor changed, and was never applied, is left alone": {
			api: documented,
			want: func(w *wanted) {
				project(w).put("cycle/web/a", "id="+uuid(2, 1), "name=Sprint").put("work_item/web/pay", "id="+item, "name=Pay")
			},
			findings: []string{
				"not compared: 1 cycle: the documented operations cannot read them",
				"not compared: 1 work item: the documented operations cannot read them",
			},
		},
		"a field that is never shown is compared with the state": {
			api:      full,
			given:    team("name=Platform"),
			prior:    []planner.Record{known("teamspace/platform", uuid(7, 1), "description_binary=AAAA")},
			want:     func(w *wanted) { w.put("teamspace/platform", "name=Platform", "description_binary=AAAA") },
			findings: []string{"not compared: description_binary of 1 teamspace: the service does not show it"},
		},
		"a module is a membership under the wider API": {
			api:   full,
			given: func(s *fakeService) { has("name=Pay")(s); s.given("module", web, uuid(0xd, 1), "name=Checkout") },
			want: func(w *wanted) {
				project(w).put("module/web/checkout", "name=Checkout").put("work_item/web/pay", "identifier=WEB-7", "module=@module/web/checkout")
			},
			steps: []string{"adopt module/web/checkout: found by its name", "add_members module/web/checkout#work_items 1"},
		},
		"a module is a field of a new work item under the documented operations": {
			api:   documented,
			prior: []planner.Record{known("work_item/web/z", item, "name=Old")},
			want: func(w *wanted) {
				project(w).put("work_item/web/pay", "name=Pay", "module="+uuid(0xd, 1)).put("work_item/web/z", "name=Z", "id="+item)
			},
			steps: []string{"create work_item/web/pay", "not_possible work_item/web/z: the documented operations cannot change name of a work item after creation"},
			findings: []string{
				notOffered(1), cannotSettle("1 work item"),
			},
		},
		"a run without a refresh makes no read that only refreshes": {
			api:     full,
			options: func(in *planner.Input) { in.SkipRefresh = true },
			given:   func(s *fakeService) { s.given("cycle", web, uuid(2, 1), "name=Changed by hand") },
			prior:   []planner.Record{known("project/web", web, "name=Website"), known("cycle/web/a", uuid(2, 1), "name=A")},
			want:    func(w *wanted) { w.put("project/web", "name=Website").put("cycle/web/a", "name=A") },
			reads:   []string{},
			findings: []string{
				"not compared: 1 project: --no-refresh trusts the state file",
				"not compared: 1 cycle: --no-refresh trusts the state file",
			},
		},
	})
}

func TestAChangeHasItsOriginAndBothValues(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	for name, tt := range map[string]struct {
		shown, applied, wanted string
		intent                 *planner.Intent // of a run that died
		want                   planner.Change
	}{
		"a value that only the manifest changed comes from the manifest":    {"A", "A", "B", nil, planner.Change{Before: text("A"), After: text("B"), Origin: planner.FromManifest}},
		"a value that only somebody else changed is drift":                  {"C", "A", "A", nil, planner.Change{Before: text("C"), After: text("A"), Origin: planner.FromDrift}},
		"a value that the manifest and somebody else changed is a conflict": {"C", "A", "B", nil, planner.Change{Before: text("C"), After: text("B"), Origin: planner.FromDrift, Conflict: true}},
		"a value that was never applied comes from the manifest":            {"C", "", "B", nil, planner.Change{Before: text("C"), After: text("B"), Origin: planner.FromManifest}},
		"a field that the service shows empty has no value before":          {"", "", "B", nil, planner.Change{After: text("B"), Origin: planner.FromManifest}},
		"a reference is shown by name":                                      {uuid(0xc, 1), "", "@lead", nil, planner.Change{Path: "lead", Before: text("ada@example.com"), After: text("bob"), Origin: planner.Overwritten}},
		"a value that an unconfirmed update sent is not drift": {
			"C", "A", "B", &planner.Intent{Action: planner.Update, Fields: []string{"name"}},
			planner.Change{Before: text("C"), After: text("B"), Origin: planner.FromManifest},
		},
		"a value that an unconfirmed update did not send is drift": {
			"C", "A", "B", &planner.Intent{Action: planner.Update, Fields: []string{"lead"}},
			planner.Change{Before: text("C"), After: text("B"), Origin: planner.FromDrift, Conflict: true},
		},
		"a value is not drift if nobody knows what an unconfirmed update sent": {
			"C", "A", "B", &planner.Intent{Action: planner.Update},
			planner.Change{Before: text("C"), After: text("B"), Origin: planner.FromManifest},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, full)
			s.given("member", "", uuid(0xc, 1), "email=ada@example.com", "display_name=ada")
			s.given("member", "", uuid(0xc, 2), "email=bob@example.com", "display_name=bob")
			w := want(t)
			if tt.want.Path == "lead" {
				s.given("teamspace", "", uuid(7, 1), "name=Platform", "lead="+tt.shown)
				w.put("teamspace/platform", "name=Platform", "lead=bob")
			} else {
				tt.want.Path = "name"
				s.given("teamspace", "", uuid(7, 1), "name="+tt.shown)
				w.put("teamspace/platform", "id="+uuid(7, 1), "name="+tt.wanted)
			}
			if tt.applied != "" {
				prior := known("teamspace/platform", uuid(7, 1), "name="+tt.applied)
				prior.PendingIntent = tt.intent
				s.in.Prior["teamspace/platform"] = prior
			}
			tt.want.Possible = true
			plan := s.mustPlan(w.all())
			if len(plan.Steps) != 1 {
				t.Fatalf("%q", lines(plan))
			}
			got := plan.Steps[0].Changes()[0]
			if was := got.Was; was == nil || was.Text != tt.shown || was.Null != (tt.shown == "") {
				t.Errorf("it was %+v, and the service shows %q", was, tt.shown)
			}
			got.Was = nil
			if diff := cmp.Diff([]planner.Change{tt.want}, []planner.Change{got}); diff != "" || len(plan.Steps[0].Changes()) > 1 {
				t.Error(diff)
			}
		})
	}
}

func TestBothValuesOfASetShowAMemberByTheSameName(t *testing.T) {
	t.Parallel()
	ada, bob := uuid(0xc, 1), uuid(0xc, 2)
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB").given("member", web, ada, "email=ada@example.com", "display_name=ada").given("member", web, bob, "email=bob@example.com")
	s.given("member", "", ada, "email=ada@example.com", "display_name=ada").given("member", "", bob, "email=bob@example.com")
	s.given("work_item", web, uuid(9, 1), "name=Pay", "assignees="+ada).given("project_member", web, ada).given("project_member", web, bob)
	plan := s.mustPlan(want(t).put("project/web", "id="+web).put("work_item/web/pay", "id="+uuid(9, 1), "name=Pay", "assignees=ada,bob@example.com").all())
	if len(plan.Steps) != 1 || plan.Steps[0].Page != "/acme/projects/"+web+"/issues/"+uuid(9, 1) {
		t.Fatalf("%q", lines(plan))
	}
	if c := plan.Steps[0].Changes()[0]; *c.Before != "ada" || *c.After != "ada\nbob@example.com" {
		t.Errorf("%q -> %q", *c.Before, *c.After)
	}
}

func TestShownNamesDoNotDependOnTheOrderOfAnswers(t *testing.T) {
	t.Parallel()
	// Two answers name one member otherwise.
	s := newService(t, full)
	s.given("teamspace", "", uuid(7, 1), "name=Platform", "lead="+uuid(0xc, 1))
	s.given("member", "", uuid(0xc, 2), "email=bob@example.com")
	objects := want(t).put("teamspace/platform", "name=Platform", "lead=bob@example.com").all()
	in := observe(t, s, objects)
	list, _ := resource.MustLookup("member").Op(resource.List, full)
	for _, name := range []string{"ada", "bea", "cleo"} {
		in.Observed[planner.Read{Operation: list, Path: name}] = planner.Answer{Rows: []resource.Row{{"id": uuid(0xc, 1), "email": name}}}
	}
	for range 20 {
		plan, found := build(t, in)
		if plan == nil {
			t.Fatal(found)
		}
		if got := *plan.Steps[0].Changes()[0].Before; got != "ada" {
			t.Fatal(got)
		}
	}
}

func TestUnreadIDsAreShownByTheirAddressInTheState(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB").given("work_item", web, uuid(9, 1), "name=Pay", "parent="+uuid(9, 2), "type="+uuid(8, 1))
	objects := want(t).put("project/web", "id="+web).put("work_item/web/pay", "id="+uuid(9, 1), "type!").all()
	in := observe(t, s, objects)
	in.Prior = planner.Prior{}
	for _, r := range []planner.Record{known("work_item_type/web/tale", uuid(8, 1)), known("work_item_type/web/story", uuid(8, 1))} {
		in.Prior[r.Address] = r
	}
	plan, found := build(t, in)
	if plan == nil {
		t.Fatal(found)
	}
	if got := *plan.Steps[0].Changes()[0].Before; got != "work_item_type/web/story" {
		t.Error(got)
	}
}

func TestTheSummaryCountsEachObjectOnce(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB", "name=Website").given("cycle", web, uuid(2, 1), "name=A").given("cycle", web, uuid(2, 2), "name=C")
	s.given("work_item", web, uuid(9, 1), "sequence_id=1", "name=Pay", "priority=low")
	w := want(t).put("project/web", "identifier=WEB", "name=Web site").put("cycle/web/a", "name=A").put("cycle/web/c", "id="+uuid(2, 2), "name=C")
	w.put("work_item/web/pay", "identifier=WEB-1", "name=Pay now", "priority!", "cycle=@cycle/web/a").put("work_item/web/new", "name=New", "cycle=@cycle/web/a")
	plan := s.mustPlan(w.all())
	want := planner.Summary{Create: 1, Update: 2, Adopt: 1, AddMembers: 2, Unchanged: 1, Blocked: 1, Requests: 4, Reads: 5}
	if diff := cmp.Diff(want, plan.Summary); diff != "" {
		t.Errorf("%s\n%q", diff, lines(plan))
	}
}

func TestAClearedFieldShowsNoNewValue(t *testing.T) {
	t.Parallel()
	point, _ := resource.MustLookup("work_item").Field("point")
	step := planner.Step{Kind: resource.MustLookup("work_item"), Write: &planner.Write{Values: []*resource.Value{{Field: point, Text: "null", Null: true}}}}
	if after := step.Changes()[0].After; after != nil {
		t.Errorf("it shows %q", *after)
	}
}

func TestFieldsThatUpdatesResetAreAlwaysSent(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	ada := uuid(0xc, 1)
	s.given("project", "", web, "identifier=WEB", "name=Website")
	s.given("cycle", web, uuid(2, 1), "name=A", "description=Old", "start_date=2031-01-06T00:00:01Z", "end_date=2031-01-17T23:59:00Z", "owned_by="+ada)
	for name, of := range map[string]string{"a reset field that the manifest gives is sent": "owned_by=" + ada, "a reset field that is left to people is sent": "name=A"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := want(t).put("project/web", "identifier=WEB").put("cycle/web/a", "name=A", "description=New", "start_date=2031-01-06", "end_date=2031-01-18", of)
			step := s.mustPlan(w.all()).Steps[0]
			var sent, shown []string
			for _, v := range step.Values() {
				sent = append(sent, v.Field.Name)
			}
			for _, c := range step.Changes() {
				shown = append(shown, c.Path)
			}
			if diff := cmp.Diff([]string{"description", "end_date", "start_date", "owned_by"}, sent); diff != "" {
				t.Error("sent:", diff)
			}
			if diff := cmp.Diff([]string{"description", "end_date"}, shown); diff != "" {
				t.Error("shown:", diff)
			}
		})
	}
}
