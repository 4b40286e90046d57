package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plan/authors"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// oneMember is a service and a manifest with one member in one container of a membership, which an apply has made.
type oneMember struct {
	*fakeService

	via               *resource.Kind
	container, member resource.Address
	key               string           // of the service's members
	on                resource.Address // the object whose field declares the membership
}

// withOneMember makes the member, unless the API cannot list it.
func withOneMember(t *testing.T, via *resource.Kind, api resource.API) *oneMember {
	t.Helper()
	_, adds := via.Op(resource.AddMembers, api)
	if _, lists := via.Op(resource.ListMembers, api); !adds || !lists {
		t.Skip("the API does not list these members")
	}
	m := via.Membership
	o := &oneMember{fakeService: newService(t, api), via: via}
	place := func(kind, key string) resource.Address {
		k := resource.MustLookup(kind)
		if k.Parent == "" {
			return resource.NewAddress(kind, key)
		}
		return resource.Address("project/web").Child(kind, key)
	}
	o.container, o.member = place(m.Container, "into"), place(m.Member, "who")
	if o.on = o.member; m.On == m.Container {
		o.on = o.container
	}
	o.given("project", "", web, "identifier=WEB").given("member", "", uuid(0xc, 1), "email=bob@example.com")
	for i, a := range []resource.Address{o.container, o.member, place(m.Container, "other")} {
		if parent := ""; a.Kind() != "member" {
			if a.Parent() != "" {
				parent = web
			}
			o.given(a.Kind(), parent, uuid(3, i+1), "name="+a.Key(), "title="+a.Key(), "display_name="+a.Key())
		}
	}
	if m.Attribute.Words() != nil {
		o.given("relation_definition", "", uuid(4, 1), "name=Needs", "outward=needs", "inward=is needed by")
	}
	o.key = via.Name + " " + uuid(3, 1)
	return o
}

// objects is the manifest. policy is that of the object whose field declares the membership; with null the field of the member says none.
func (om *oneMember) objects(null bool, policy ...string) []*resource.Object {
	om.t.Helper()
	w, m := want(om.t), om.via.Membership
	w.put("project/web", "id="+web)
	for i, a := range []resource.Address{om.container, om.member} {
		fields := []string{"id=" + uuid(3, i+1)}
		if a == om.on {
			to := "@" + string(om.container)
			if m.On == m.Container {
				to = "@" + string(om.member)
			}
			if m.Member == "member" {
				to = "bob@example.com"
			}
			field := m.Field + "=" + to
			if null {
				field = m.Field + "!"
			}
			fields = append(append(fields, field), policy...)
		}
		if a.Kind() != "member" {
			w.put(a, fields...)
		}
	}
	if a := m.Attribute; a.Words() != nil {
		for _, object := range w.all() {
			if v, given := object.Value(m.Field); given {
				v.Refs[0].Attribute = "needs"
			}
		}
	}
	return w.all()
}

// TestAMembershipThatPeopleEndIsDrift tries each membership: people take the member out, and put it into another container.
func TestAMembershipThatPeopleEndIsDrift(t *testing.T) {
	t.Parallel()
	for _, via := range resource.Memberships() {
		for _, api := range []resource.API{full, resource.V2} {
			t.Run(via.Name+" by "+api.String(), func(t *testing.T) {
				t.Parallel()
				o := withOneMember(t, via, api)
				path := via.Membership.Path()
				o.makeAll(o.objects(false))
				if plan := o.mustPlan(o.objects(false)); len(o.members[o.key]) != 1 || !plan.Empty() || len(plan.Drift) > 0 {
					t.Fatalf("before people change anything: %v %v", o.members[o.key], lines(plan))
				}
				id := o.members[o.key][0]
				o.members[o.key] = nil
				o.members[via.Name+" "+uuid(3, 3)] = []string{id} // in another container
				now := ""
				if via.Membership.Exclusive {
					now = via.Membership.Container + "/web/other"
				}

				plan := o.mustPlan(o.objects(false))
				if got := lines(plan); len(got) != 1 || !strings.HasPrefix(got[0], "add_members "+string(o.container)) {
					t.Errorf("overwrite: %v", got)
				} else if m := plan.Steps[0].Members.Items[0]; !m.Drift || m.Leaves != now {
					t.Errorf("overwrite: %+v", m)
				}
				if len(plan.Drift) != 1 || plan.Drift[0].Object.Address != o.on || plan.Drift[0].Change.Path != path || shownText(plan.Drift[0].Change.Before) != now {
					t.Errorf("drift: %+v", plan.Drift)
				}
				kept := func(policy ...string) {
					t.Helper()
					for range 2 { // it stays kept
						plan := o.mustPlan(o.objects(false, policy...))
						if !plan.Empty() || len(plan.Drift) != 1 || !plan.Drift[0].Kept || plan.Summary.Kept != 1 {
							t.Errorf("%v: %v %+v", policy, lines(plan), plan.Drift)
						}
						o.apply(plan)
					}
				}
				failed := func(policy ...string) {
					t.Helper()
					plan, found := o.plan(o.objects(false, policy...))
					if plan != nil || len(found) != 1 || !strings.HasPrefix(found[0].Summary, path+" of "+string(o.on)+" was changed on the service since the last apply") ||
						!strings.Contains(found[0].Summary, now) {
						t.Errorf("%v: %v", policy, found)
					}
				}
				kept("on_drift=keep")
				failed("on_drift=fail")
				o.in.OnDrift = planner.Keep
				kept()
				o.in.OnDrift = planner.Fail
				failed()
				if plan := o.mustPlan(o.objects(false, "ignore_changes="+via.Membership.Field)); !plan.Empty() || len(plan.Drift) > 0 {
					t.Errorf("ignored: %v %+v", lines(plan), plan.Drift)
				}
				o.in.OnDrift = ""
				o.makeAll(o.objects(false))
				if _, cleared := o.in.Prior[o.on].Values[via.Membership.Field]; cleared {
					t.Errorf("the state says that %s is empty", path)
				}
				if plan := o.mustPlan(o.objects(false)); !slices.Equal(o.members[o.key], []string{id}) || !plan.Empty() || len(plan.Drift) > 0 {
					t.Errorf("afterwards: %v %v %v", o.members[o.key], lines(plan), plan.Drift)
				}
			})
		}
	}
}

// TestAnObjectThatIsToBeInNoContainerAndThatPeoplePutIntoOneIsDrift tries the memberships whose field names one container.
func TestAnObjectThatIsToBeInNoContainerAndThatPeoplePutIntoOneIsDrift(t *testing.T) {
	t.Parallel()
	for _, via := range resource.Memberships() {
		for _, api := range []resource.API{full, resource.V2} {
			t.Run(via.Name+" by "+api.String(), func(t *testing.T) {
				t.Parallel()
				o := withOneMember(t, via, api)
				if m := via.Membership; m.On == m.Container {
					t.Skip("its field is a list")
				}
				o.members[o.key] = []string{uuid(3, 2)} // by people, before the manifest says anything
				plan := o.mustPlan(o.objects(true))
				if got := lines(plan); len(got) != 1 || !strings.HasPrefix(got[0], "remove_members "+string(o.container)) || len(plan.Drift) > 0 {
					t.Errorf("at first: %v %v", got, plan.Drift)
				}
				o.apply(plan)
				if plan = o.mustPlan(o.objects(true)); !plan.Empty() || len(o.members[o.key]) > 0 {
					t.Fatalf("applied: %v %v", lines(plan), o.members[o.key])
				}
				o.apply(plan)

				o.members[o.key] = []string{uuid(3, 2)} // by people, again
				for range 2 {
					plan = o.mustPlan(o.objects(true, "on_drift=keep"))
					if !plan.Empty() || len(plan.Drift) != 1 || !plan.Drift[0].Kept || shownText(plan.Drift[0].Change.Before) != string(o.container) {
						t.Errorf("keep: %v %+v", lines(plan), plan.Drift)
					}
					o.apply(plan)
				}
				plan, found := o.plan(o.objects(true, "on_drift=fail"))
				if plan != nil || len(found) != 1 || !strings.Contains(found[0].Summary, "it is "+diag.Quote(string(o.container))) {
					t.Errorf("fail: %v", found)
				}
				plan = o.mustPlan(o.objects(true))
				if got := lines(plan); len(got) != 1 || !plan.Steps[0].Members.Items[0].Drift || len(plan.Drift) != 1 {
					t.Errorf("overwrite: %v %v", got, plan.Drift)
				}
			})
		}
	}
}

func shownText(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// TestAnItemThatPeopleMovedAndTheManifestMovesElsewhereIsAConflict covers both changes at once. What is kept stays kept.
func TestAnItemThatPeopleMovedAndTheManifestMovesElsewhereIsAConflict(t *testing.T) {
	t.Parallel()
	one, two, theirs, pay := uuid(2, 1), uuid(2, 2), uuid(2, 3), uuid(9, 1)
	for name, cycle := range map[string]string{"another cycle": "cycle=@cycle/web/two", "no cycle": "cycle!"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, full)
			s.given("project", "", web, "identifier=WEB").given("cycle", web, one, "name=One").given("cycle", web, two, "name=Two").given("cycle", web, theirs, "name=Theirs")
			s.given("work_item", web, pay, "name=Pay")
			objects := func(cycle string, policy ...string) []*resource.Object {
				w := want(t).put("project/web", "id="+web).put("cycle/web/one", "id="+one).put("cycle/web/two", "id="+two)
				return w.put("work_item/web/pay", append([]string{"id=" + pay, cycle}, policy...)...).all()
			}
			s.makeAll(objects("cycle=@cycle/web/one"))
			s.members["cycle_work_item "+one], s.members["cycle_work_item "+theirs] = nil, []string{pay}
			for range 2 {
				plan := s.mustPlan(objects(cycle, "on_drift=keep"))
				if !plan.Empty() || len(plan.Drift) != 1 || !plan.Drift[0].Change.Conflict || shownText(plan.Drift[0].Change.Before) != "cycle/web/Theirs" {
					t.Errorf("keep: %v %+v", lines(plan), plan.Drift)
				}
				s.apply(plan)
			}
			if got := divergences(s, objects(cycle)); len(got) == 0 || !strings.HasSuffix(got[0], "-> Theirs drop [0] add [Theirs] all [Theirs] conflict") && !strings.HasSuffix(got[0], "- -> Theirs drop [] add [Theirs] all [Theirs] conflict") {
				t.Errorf("pull: %q", got)
			}
			s.in.Pull = false
			s.makeAll(objects(cycle))
			plan := s.mustPlan(objects(cycle))
			if !plan.Empty() || len(plan.Drift) > 0 || len(s.members["cycle_work_item "+theirs]) > 0 {
				t.Errorf("overwrite: %v %+v", lines(plan), s.members)
			}
		})
	}
}

// TestARelationOfTwoObjectsHasTheStricterPolicy covers a relation that both declare.
func TestARelationOfTwoObjectsHasTheStricterPolicy(t *testing.T) {
	t.Parallel()
	a, b := uuid(9, 1), uuid(9, 2)
	for name, tt := range map[string]struct{ ofA, ofB, result string }{
		"one keeps":                  {"overwrite", "keep", "kept"},
		"the other keeps":            {"keep", "overwrite", "kept"},
		"one fails and one keeps":    {"fail", "keep", "failed"},
		"the other fails":            {"keep", "fail", "failed"},
		"both overwrite, and say so": {"overwrite", "overwrite", "added"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, full)
			s.given("project", "", web, "identifier=WEB").given("work_item", web, a, "name=A").given("work_item", web, b, "name=B")
			objects := func() []*resource.Object {
				w := want(t).put("project/web", "id="+web).put("work_item/web/a", "id="+a, "blocking=@work_item/web/b", "on_drift="+tt.ofA)
				return w.put("work_item/web/b", "id="+b, "blocked_by=@work_item/web/a", "on_drift="+tt.ofB).all()
			}
			s.makeAll(objects())
			s.members = map[string][]string{}
			result := "failed"
			if plan, _ := s.plan(objects()); plan != nil && plan.Empty() {
				result = "kept"
			} else if plan != nil {
				result = "added"
			}
			if diff := cmp.Diff(tt.result, result); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTheActivitiesTellWhoMovedAnItem covers that the service names the containers of an item in the plural there.
func TestTheActivitiesTellWhoMovedAnItem(t *testing.T) {
	t.Parallel()
	for field, logged := range map[string]string{"cycle": "cycles", "module": "modules", "blocked_by": "blocked_by"} {
		via, _ := resource.MembershipOf("work_item", field)
		o := withOneMember(t, via, full)
		o.makeAll(o.objects(false))
		o.members[o.key] = nil
		plan := o.mustPlan(o.objects(false))
		reads := authors.Reads(plan)
		authors.Annotate(plan, planner.Observed{reads[0]: {Rows: []resource.Row{
			{"field": logged, "created_at": "2026-11-20T10:00:00Z", "actor": uuid(0xc, 1)}, {"field": "name", "created_at": "2026-11-21T10:00:00Z", "actor": uuid(0xc, 2)},
		}}})
		if c := plan.Drift[0].Change; c.By != uuid(0xc, 1) || c.At != "2026-11-20T10:00:00Z" {
			t.Errorf("%s: %+v", field, c)
		}
	}
}

// TestAnItemThatIsWhereItWasTakesOneLook covers a project with many cycles: the one that the item leaves is read first.
func TestAnItemThatIsWhereItWasTakesOneLook(t *testing.T) {
	t.Parallel()
	pay := uuid(9, 1)
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB").given("work_item", web, pay, "name=Pay")
	for i := range 70 {
		s.given("cycle", web, uuid(2, i+1), "name=C")
	}
	objects := func(cycle string) []*resource.Object {
		w := want(t).put("project/web", "id="+web).put("cycle/web/one", "id="+uuid(2, 1)).put("cycle/web/two", "id="+uuid(2, 2))
		return w.put("work_item/web/pay", "id="+pay, "cycle=@cycle/web/"+cycle).all()
	}
	s.makeAll(objects("one"))
	plan := s.mustPlan(objects("two"))
	looks := 0
	for _, r := range s.reads {
		if r.Operation.Verb == resource.ListMembers {
			looks++
		}
	}
	if looks != 2 || plan.Steps[0].Members.Items[0].Leaves != "cycle/web/one" || len(plan.NotCompared) > 0 {
		t.Errorf("%d looks, %v, %+v", looks, lines(plan), plan.NotCompared)
	}

	s.members["cycle_work_item "+uuid(2, 1)], s.members["cycle_work_item "+uuid(2, 3)] = nil, []string{pay} // people moved it
	plan = s.mustPlan(objects("two"))
	if n := plan.NotCompared; len(n) != 1 || n[0].Field != "cycle" || n[0].Hint != "--refresh-all reads them" || !plan.Steps[0].Members.Items[0].Drift {
		t.Errorf("%v %+v", lines(plan), n)
	}
	s.in.RefreshAll = true
	plan = s.mustPlan(objects("two"))
	if plan.Steps[0].Members.Items[0].Leaves != "cycle/web/"+uuid(2, 3) {
		t.Errorf("%+v", plan.Steps[0].Members.Items[0])
	}
}

// TestAnUndoMovesAnItemBackInOneStep: the service loses an item that is moved and taken out at the same time.
func TestAnUndoMovesAnItemBackInOneStep(t *testing.T) {
	t.Parallel()
	pay := uuid(9, 1)
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB").given("work_item", web, pay, "name=Pay")
	s.given("cycle", web, uuid(2, 1), "name=One").given("cycle", web, uuid(2, 2), "name=Two")
	objects := func(cycle string) []*resource.Object {
		w := want(t).put("project/web", "id="+web).put("cycle/web/one", "id="+uuid(2, 1)).put("cycle/web/two", "id="+uuid(2, 2))
		return w.put("work_item/web/pay", "id="+pay, "cycle=@cycle/web/"+cycle).all()
	}
	s.makeAll(objects("two"))
	s.in.Leaves = map[resource.Address]map[string]bool{"cycle/web/two#work_items": {pay: true}}
	plan := s.mustPlan(objects("one"))
	if got := lines(plan); len(got) != 1 || got[0] != "add_members cycle/web/one#work_items 1" || plan.Steps[0].Members.Items[0].Leaves != "cycle/web/two" {
		t.Errorf("%v", got)
	}
}

// TestDriftOfAModuleNamesEachCurrentModuleOnce reads the modules because another item is in none.
func TestDriftOfAModuleNamesEachCurrentModuleOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ field, now string }{
		"a module that the manifest does not name":    {"module=@module/web/gone", "module/web/other"},
		"modules, of which the manifest names others": {"modules=@module/web/gone,@module/web/kept", "module/web/kept\nmodule/web/other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, full)
			s.given("project", "", web, "identifier=WEB")
			for i, key := range []string{"gone", "kept", "other"} {
				s.given("module", web, uuid(4, i+1), "name="+key)
			}
			s.given("work_item", web, uuid(9, 1), "name=A").given("work_item", web, uuid(9, 2), "name=B")
			w := want(t).put("project/web", "id="+web)
			for i, key := range []string{"gone", "kept", "other"} {
				w.put(resource.Address("module/web/"+key), "id="+uuid(4, i+1))
			}
			w.put("work_item/web/a", "id="+uuid(9, 1), tt.field).put("work_item/web/b", "id="+uuid(9, 2), "module!")
			s.makeAll(w.all())
			s.members["module_work_item "+uuid(4, 1)] = nil
			s.members["module_work_item "+uuid(4, 3)] = []string{uuid(9, 1)}
			plan := s.mustPlan(w.all())
			if len(plan.Drift) != 1 || plan.Drift[0].Change.Before == nil || *plan.Drift[0].Change.Before != tt.now {
				t.Errorf("%+v: %v", plan.Drift, lines(plan))
			}
		})
	}
}
