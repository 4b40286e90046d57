package planner_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

var update = flag.Bool("update", false, "write the golden files anew") //nolint:gochecknoglobals // a flag

// golden compares text with a file below testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(text), "\r\n", "\n"), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// dump writes down everything that a plan says.
func dump(plan *planner.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s\n%+v\n", plan.Workspace, plan.BaseURL, plan.API, plan.Summary)
	for _, step := range plan.Steps {
		fmt.Fprintf(&b, "\n%d %s %s", step.Index, step.Action, step.Address)
		if step.ID != "" {
			fmt.Fprintf(&b, " id %s", step.ID)
		}
		if step.Operation != nil {
			fmt.Fprintf(&b, " by %s", step.Operation.Method)
		}
		fmt.Fprintf(&b, " at %s\n", step.Position)
		if step.Reason() != "" {
			fmt.Fprintf(&b, "  %s\n", step.Reason())
		}
		for _, c := range step.Changes() {
			fmt.Fprintf(&b, "  %s: %s -> %s (%s", c.Path, side(c.Before), side(c.After), c.Origin)
			if !c.Possible {
				b.WriteString(", not possible")
			}
			b.WriteString(")\n")
		}
		for _, v := range step.Values() {
			fmt.Fprintf(&b, "  sends %s\n", v.Field.Name)
		}
		for _, j := range step.Needs {
			fmt.Fprintf(&b, "  needs %d\n", j)
		}
		for _, j := range step.After {
			fmt.Fprintf(&b, "  after %d\n", j)
		}
	}
	b.WriteString("\n")
	for _, address := range slices.Sorted(maps.Keys(plan.Known)) {
		text, _ := json.Marshal(plan.Known[address]) // a record without a time of the year 10000
		fmt.Fprintf(&b, "known %s\n", text)
	}
	for _, n := range slices.SortedFunc(maps.Keys(plan.Names), func(a, b planner.Name) int { return strings.Compare(a.Kind+a.Text, b.Kind+b.Text) }) {
		fmt.Fprintf(&b, "name %s %q in %q is %s\n", n.Kind, n.Text, n.Within, plan.Names[n])
	}
	for _, kind := range slices.Sorted(maps.Keys(plan.Dialects)) {
		fmt.Fprintf(&b, "dialect %s %d\n", kind, plan.Dialects[kind])
	}
	for _, d := range plan.Notices {
		fmt.Fprintf(&b, "notice %s\n", d)
	}
	for _, n := range plan.NotCompared {
		fmt.Fprintf(&b, "not compared {Kind:%s Field:%s Count:%d What:%s Why:%s Hint:%s Addresses:%v}\n",
			n.Kind, n.Field, n.Count, n.What, n.Why, n.Hint, n.Addresses)
	}
	return b.String()
}

func side(s *string) string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%q", *s)
}

// rich has a bit of everything: what exists, what is new, what somebody changed, what is adopted, and what cannot be done.
func rich(t *testing.T, api resource.API) (*fakeService, []*resource.Object) {
	t.Helper()
	s := newService(t, api)
	s.given("project", "", web, "identifier=WEB", "name=Website", "description=Public site")
	s.given("cycle", web, uuid(2, 1), "name=Sprint 14").given("module", web, uuid(0xd, 1), "name=Checkout")
	s.given("state", web, uuid(3, 1), "name=Todo").given("state", web, uuid(3, 2), "name=In Progress")
	s.given("label", web, uuid(4, 1), "name=backend")
	s.given("estimate", web, uuid(0xe, 1), "name=Points").given("estimate_point", uuid(0xe, 1), uuid(0xe, 3), "value=3")
	s.given("member", "", uuid(0xc, 1), "email=ada@example.com", "display_name=ada")
	s.members["project_member "+web] = []string{uuid(0xc, 1)}
	s.given("work_item", web, uuid(9, 7), "sequence_id=7", "name=Shop", "description_html=<p>Old</p>", "state="+uuid(3, 1), "priority=low")
	s.given("link", uuid(9, 7), uuid(0xa, 1), "url=https://example.com/shop", "title=Old shop")
	s.given("initiative_label", "", uuid(5, 1), "name=Growth", "color=#000000")
	s.given("initiative", "", uuid(6, 1), "name=First quarter")
	s.given("teamspace", "", uuid(7, 1), "name=Platform", "lead="+uuid(0xc, 2), "description_html=<p>Keeps it <b>up</b></p>")
	s.given("customer", "", uuid(8, 1), "name=Globex").given("customer_request", uuid(8, 1), uuid(0xb, 1), "title=Single sign-on", "description=")
	s.in.Prior["project/web"] = known("project/web", web, "identifier=WEB", "name=Website", "description=Public site")
	s.in.Prior["work_item/web/shop"] = known("work_item/web/shop", uuid(9, 7), "identifier=WEB-7", "name=Shop", "priority=high")
	named := func(fields string) []string { // names need the wider API
		if api == resource.Documented {
			fields = strings.NewReplacer("In Progress", uuid(3, 2), "backend", uuid(4, 1), "ada@example.com", uuid(0xc, 1)).Replace(fields)
		}
		return strings.Split(fields, "|")
	}
	w := want(t).put("project/web", "id="+web, "name=Website", "description=Public site and shop")
	w.put("cycle/web/sprint-14", "id="+uuid(2, 1), "name=Sprint 14").put("module/web/checkout", "id="+uuid(0xd, 1))
	w.put("work_item/web/checkout", named("name=Rebuild the checkout|description=One page, no **reload**.|state=In Progress|labels=backend|assignees=ada@example.com"+
		"|parent=@work_item/web/shop|module=@module/web/checkout|cycle=@cycle/web/sprint-14|start_date=2026-12-01|priority=high|estimate_point=3")...)
	w.put("link/web/checkout/design", "url=https://example.com/design", "title=Design")
	w.put("work_item/web/address", "name=Address book", "parent=@work_item/web/payment", "cycle=@cycle/web/sprint-14")
	w.put("work_item/web/payment", "name=Payment")
	w.put("work_item/web/shop", named("name=Shop|description=New|state=In Progress|priority=high|cycle=@cycle/web/sprint-14")...)
	w.put("link/web/shop/shop", "url=https://example.com/shop", "title=New shop").put("link/web/shop/more", "url=https://example.com/more")
	w.put("initiative_label/growth", "name=Growth", "color=#22c55e").put("initiative/q1", "id="+uuid(6, 1), "labels=@initiative_label/growth", "projects=@project/web")
	w.put("teamspace/platform", append(named("lead=ada@example.com"), "id="+uuid(7, 1), "description=Keeps it **up**", "projects=@project/web")...)
	w.put("customer/globex", "id="+uuid(8, 1)).put("customer_request/globex/sso", "title=Single sign-on", "description=They asked for SAML.").
		put("customer_request/globex/audit", "title=Audit log")
	w.put("page/handbook", "name=Handbook", "description=# How we work")
	return s, w.all()
}

func TestARichPlanEqualsItsGoldenFile(t *testing.T) {
	t.Parallel()
	for _, api := range []resource.API{documented, full} {
		t.Run(api.String(), func(t *testing.T) {
			t.Parallel()
			s, objects := rich(t, api)
			golden(t, "rich-"+api.String()+".txt", dump(s.mustPlan(objects)))
		})
	}
}

func TestBuildIsDeterministicAndLeavesItsInputAlone(t *testing.T) {
	t.Parallel()
	for _, api := range []resource.API{documented, full} {
		s, objects := rich(t, api)
		in := observe(t, s, objects)
		before := fmt.Sprintf("%+v", in)
		plan, _ := build(t, in)
		want := dump(plan)
		for range 20 {
			again, _ := build(t, in)
			if diff := cmp.Diff(want, dump(again)); diff != "" {
				t.Fatal(diff)
			}
		}
		if fmt.Sprintf("%+v", in) != before {
			t.Error("the input was changed")
		}
	}
}

func TestADependencyCycleIsAnErrorWithAPosition(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.given("project", "", web, "identifier=WEB")
	w := want(t).put("project/web", "id="+web).put("work_item/web/a", "name=A", "parent=@work_item/web/b").put("work_item/web/b", "name=B", "parent=@work_item/web/a")
	plan, found := s.plan(w.all())
	if plan != nil || len(found) != 1 {
		t.Fatal(plan, found)
	}
	want := "workspace.yaml:20:3: error: circular reference: work_item/web/a -> work_item/web/b -> work_item/web/a (at projects[0].work_items[0]); work_item/web/b is at workspace.yaml:30:3; remove one of these references"
	if got := found[0].String(); got != want {
		t.Errorf("got %s", got)
	}
}

// failing is a reader whose second request fails.
type failing struct {
	observed planner.Observed
	reads    *[]string
}

func (fa failing) Read(_ context.Context, reads []planner.Read) error {
	for _, r := range reads {
		*fa.reads = append(*fa.reads, r.Path)
		fa.observed[r] = planner.Answer{Rows: []resource.Row{{"id": web, "identifier": "WEB", "name": "Web"}}}
	}
	if len(*fa.reads) > 1 {
		return errors.New("the connection is lost")
	}
	return nil
}

func TestNothingIsReadAfterAReadThatFailed(t *testing.T) {
	t.Parallel()
	s := newService(t, full)
	s.in.Desired = want(t).put("project/web", "identifier=WEB").put("label/web/hot", "name=Hot").put("work_item/web/a", "name=A", "state=Todo").all()
	s.in.Observed = planner.Observed{}
	var paths []string
	_, err := planner.Load(t.Context(), s.in, failing{s.in.Observed, &paths})
	in := "/api/v1/workspaces/acme/projects/"
	want := []string{in, in + web + "/labels/", in + web + "/work-items/"}
	if diff := cmp.Diff(want, paths); diff != "" || err == nil || err.Error() != "the connection is lost" {
		t.Errorf("%v, reads (-want +got):\n%s", err, diff)
	}
}

func TestThePlanKnowsTheDialectOfTheService(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rows []string
		want map[string]resource.Dialect
	}{
		"a row with the contract's names tells the contract's dialect": {[]string{"title=A"}, map[string]resource.Dialect{"customer_request": resource.ContractDialect}},
		"a row with the newer names tells the newer dialect":           {[]string{"name=A"}, map[string]resource.Dialect{"customer_request": resource.NewerDialect}},
		"a service without rows tells no dialect":                      {nil, map[string]resource.Dialect{}},
		"rows that contradict each other tell the contract's dialect":  {[]string{"name=A", "title=A"}, map[string]resource.Dialect{"customer_request": resource.ContractDialect}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 10 { // in whatever order maps are walked
				s := newService(t, documented)
				w := want(t)
				for i := range max(1, len(tt.rows)) {
					s.given("customer", "", uuid(8, i))
					w.put(resource.Address(fmt.Sprintf("customer/c%d", i)), "id="+uuid(8, i)).put(resource.Address(fmt.Sprintf("customer_request/c%d/r", i)), "title=R")
				}
				for i, row := range tt.rows {
					s.given("customer_request", uuid(8, i), uuid(0xb, i), row)
				}
				if diff := cmp.Diff(tt.want, s.mustPlan(w.all()).Dialects); diff != "" {
					t.Fatal(diff)
				}
			}
		})
	}
}
