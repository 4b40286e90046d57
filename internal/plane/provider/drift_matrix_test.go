package provider_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/plane/provider"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// TestAChangeByPeopleIsInThePlanOrReportedAsNotCompared makes every change that the descriptors know of, one at a time, and plans. The plan shows it,
// or says that it did not compare it; with all that can be read, it shows it. A membership that people end is drift, which is kept or an error if
// that is wanted.
func TestAChangeByPeopleIsInThePlanOrReportedAsNotCompared(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]kindIn{
		"full": {nil, resource.V1, sandbox.Full}, "community": {nil, resource.V1, sandbox.Community}, "cloud": {nil, resource.V2, sandbox.Cloud},
	} {
		if name != "community" && !sample.Each() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newDriftMatrix(t, at)
			t.Cleanup(func() {
				for _, moment := range slices.Sorted(maps.Keys(m.counts)) {
					if n := m.counts[moment]; sample.Each() && n["without an effect"]*5 > n["seen"] {
						t.Errorf("%s: too few of the changes have an effect: %v", moment, n)
					}
					t.Logf("%s: %v", moment, m.counts[moment])
				}
			})
			for _, of := range m.bases {
				for i, c := range m.changes {
					if sample.Takes(i+len(name), 99) || c.member && of == m.bases[0] {
						t.Run(of.name+"/"+c.name, func(t *testing.T) {
							t.Parallel()
							m.try(t, of, c)
						})
					}
				}
			}
		})
	}
}

// driftMatrix is an edition of the service that contains every kind of object.
type driftMatrix struct {
	at      kindIn
	text    string
	wanted  *manifest.Manifest // read once, because reading takes as long as planning
	changes []*personsChange
	bases   []*driftBase

	mu     sync.Mutex
	counts map[string]map[string]int // by moment
}

// driftBase holds the contents of the service, and the state at different moments.
type driftBase struct {
	name     string
	store    []byte
	contents string
	moments  map[string]*driftMoment
}

// driftMoment is a state, and the plan without a change by people.
type driftMoment struct {
	state []byte // nil = lost
	quiet string
}

// personsChange is one change that a person makes.
type personsChange struct {
	name    string
	address resource.Address
	field   string // "" = the object as a whole
	op      *resource.Operation
	path    string
	body    []byte
	member  bool // the change removes a member
}

func newDriftMatrix(t *testing.T, at kindIn) *driftMatrix {
	t.Helper()
	m := &driftMatrix{at: at, counts: map[string]map[string]int{}}
	path := filepath.Join(t.TempDir(), "sandbox.db")
	s := m.open(t, path)
	m.text = everything{T: t, s: s}.text()
	first := &driftBase{name: "applied", moments: map[string]*driftMoment{}}
	made := s.apply(t, applying{manifest: m.text})
	if at.edition != sandbox.Community && len(made.failed()) > 0 {
		t.Errorf("%q", made.failed())
	}
	first.moments["B, right after the first apply"] = &driftMoment{state: s.stateOf(t)}
	for run := range 2 {
		if again := s.apply(t, applying{manifest: m.text}); !again.plan.Empty() || again.writes > 0 {
			t.Errorf("apply %d changes what nobody changed: %d writes, %s", run+2, again.writes, shownBy(t, again.plan))
		}
	}
	first.moments["A, after the second apply"] = &driftMoment{state: s.stateOf(t)}
	first.moments["C, without the state"] = &driftMoment{}
	first.store = read(t, path)

	m.wanted = s.load(t, m.text)
	m.changes = m.derive(t, s)

	restored := &driftBase{name: "restored", moments: map[string]*driftMoment{}}
	for _, c := range m.changes {
		if c.op.Verb == resource.Update {
			c.make(t, s)
		}
	}
	s.apply(t, applying{manifest: m.text})
	restored.moments["D, after an apply that restored it"] = &driftMoment{state: s.stateOf(t)}
	restored.store = read(t, path)
	m.bases = []*driftBase{first, restored}
	for _, of := range m.bases {
		for _, moment := range of.moments {
			s := m.copyOf(t, of)
			of.contents = s.contents()
			moment.quiet = shownBy(t, s.planAt(t, m.wanted, moment, planner.Settings{}))
		}
	}
	return m
}

func (d *driftMatrix) open(t *testing.T, path string) *service {
	t.Helper()
	s := newServiceOf(t, d.at.api, sandboxtest.Options{Edition: d.at.edition, Path: path})
	s.virtual = true
	return s
}

// copyOf returns another service with the same contents.
func (d *driftMatrix) copyOf(t *testing.T, of *driftBase) *service {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sandbox.db")
	if err := os.WriteFile(path, of.store, 0o600); err != nil {
		t.Fatal(err)
	}
	return d.open(t, path)
}

func (sv *service) stateOf(t *testing.T) []byte {
	t.Helper()
	return read(t, filepath.Join(sv.dir, "state.json"))
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// planAt plans with a state, and changes nothing.
func (sv *service) planAt(t *testing.T, wanted *manifest.Manifest, moment *driftMoment, settings planner.Settings) *planner.Plan {
	t.Helper()
	sv.dir = t.TempDir()
	if moment.state != nil {
		if err := os.WriteFile(filepath.Join(sv.dir, "state.json"), moment.state, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := sv.open(t)
	defer func() { _ = file.Close() }() // nothing is written
	reader, gone := sv.client(t, apiclient.Config{Retries: -1})
	defer gone()
	plan, findings, err := provider.Plan(t.Context(), reader, planner.Input{
		Workspace: sandbox.Workspace, API: sv.api, Desired: wanted.Objects, Prior: file.Prior(), Settings: settings,
	}, provider.Grace{})
	if err != nil {
		t.Fatal(err)
	}
	if findings.HasErrors() { // such as an identifier that another object has now: it is reported, and there is no plan
		return &planner.Plan{Notices: findings}
	}
	return plan
}

// shownBy returns everything that a plan shows of changes.
func shownBy(t *testing.T, plan *planner.Plan) string {
	t.Helper()
	d := planfile.New(plan, planfile.Where{})
	notices := make([]string, len(d.Notices))
	for i, n := range d.Notices {
		notices[i] = n.Summary
	}
	text, err := json.MarshalIndent(map[string]any{"steps": d.Steps, "drift": len(plan.Drift), "notices": notices, "state": d.StateChanges}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// derive returns a change of each value of the manifest, and a delete of each object.
func (d *driftMatrix) derive(t *testing.T, s *service) []*personsChange {
	t.Helper()
	now := s.planAt(t, d.wanted, &driftMoment{state: s.stateOf(t)}, planner.Settings{})
	other := map[resource.Address]*resource.Object{}
	for _, o := range s.load(t, everything{T: t, s: s, changed: true}.text()).Objects {
		other[o.Address] = o
	}
	paramsOf := func(o *resource.Object) map[string]string {
		params := map[string]string{"workspace_slug": sandbox.Workspace, "slug": sandbox.Workspace}
		for ; o != nil; o = o.Parent {
			params[o.Kind.Param] = now.Known[o.Address].ID
		}
		return params
	}
	id := func(f *resource.Field, r *resource.Reference) (string, bool) {
		if r.Target != nil {
			return now.Known[r.Target.Address].ID, now.Known[r.Target.Address].ID != ""
		}
		for _, row := range s.Rows(f.Ref) {
			for _, name := range resource.MustLookup(f.Ref).NaturalKey {
				if row[name] == r.Text {
					return fmt.Sprint(row["id"]), true
				}
			}
		}
		return r.ID, r.ID != ""
	}
	var all []*personsChange
	add := func(o *resource.Object, field, how string, op *resource.Operation, params map[string]string, body []byte) {
		path, missing := op.Expand(params)
		if missing != "" || strings.Contains(path, "//") { // this edition has no such object, or no way to name it
			return
		}
		path = strings.TrimSuffix(path, "/") + "/" // the form to which the service redirects
		name := strings.ReplaceAll(string(o.Address), "/", ".") + "." + how
		all = append(all, &personsChange{name, o.Address, field, op, path, op.Enclose(body), op.Verb == resource.RemoveMembers})
	}
	for _, o := range now.Objects {
		if now.Known[o.Address].ID == "" {
			continue
		}
		params := paramsOf(o)
		for i := range o.Values {
			v := &o.Values[i]
			switch via, isMember := resource.MembershipOf(o.Kind.Name, v.Field.Name); {
			case isMember && o.Kind.ViaMembership(v.Field, s.api):
				for r := range v.Refs {
					container, member := now.Known[o.Address].ID, ""
					with := maps.Clone(params)
					if found, ok := id(v.Field, &v.Refs[r]); ok {
						member = found
						with[resource.MustLookup(v.Field.Ref).Param] = found
					}
					if via.Membership.On != via.Membership.Container {
						container, member = member, container
					}
					if op, ok := via.Op(resource.RemoveMembers, s.api); ok && container != "" && member != "" {
						add(o, v.Field.Path(), fmt.Sprintf("%s %d taken out", v.Field.Path(), r), op, with, via.Membership.IDs(op, []string{member}, "", ""))
					}
				}
			case resource.IsCustom(v):
				none := &resource.Value{Field: v.Field, Null: true}
				op := resource.CustomFieldOp(none)
				mapping, _ := o.Kind.CustomFields()
				with := maps.Clone(params)
				with[v.Field.Definition.Kind.Param] = now.Known[v.Field.Definition.Address].ID
				add(o, mapping.Name, v.Field.Path()+" cleared", op, with, resource.CustomBody(none, op, id))
			default:
				to := other[o.Address]
				if to == nil {
					continue
				}
				at := slices.IndexFunc(to.Values, func(w resource.Value) bool { return w.Field == v.Field })
				op, ok := o.Kind.Op(resource.Update, resource.V1)
				names := now.Dialects[o.Kind.Name]
				if s.api == resource.V2 && (!ok || v.Field.OnlyV2()) {
					op, ok = o.Kind.Op(resource.Update, resource.V2)
					names = resource.V2Dialect
				}
				if at >= 0 && ok {
					w := to.Values[at]
					if w.Text == v.Text && v.Text != "" && !v.Field.IsWord() {
						w.Text += " of people"
					}
					add(o, v.Field.Path(), v.Field.Path(), op, params, resource.Body([]*resource.Value{&w}, names, id))
					if v.Field.Clear != resource.ClearNever && !v.Null {
						none := &resource.Value{Field: v.Field, Null: true}
						add(o, v.Field.Path(), v.Field.Path()+" emptied", op, params, resource.Body([]*resource.Value{none}, names, id))
					}
				}
			}
		}
		if op, ok := o.Kind.Op(resource.Delete, s.api); ok {
			add(o, "", "deleted", op, params, nil)
		}
	}
	return all
}

// make makes the change.
func (p *personsChange) make(t *testing.T, s *service) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), p.op.Method, p.path, bytes.NewReader(p.body))
	req.Header.Set("X-Api-Key", sandbox.Key)
	req.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, req)
	if answer.Code >= http.StatusMultipleChoices && answer.Code < http.StatusBadRequest {
		t.Errorf("%s %s: %d", p.op.Method, p.path, answer.Code)
	}
	return answer
}

// contents returns the contents of the service, without the times and authors of changes.
func (sv *service) contents() string {
	var all []any
	for _, kind := range append(sandboxtest.Tables(), "milestone", "milestone_issue", "intake_item") {
		for _, r := range sv.Rows(kind) {
			delete(r, "updated_at")
			delete(r, "updated_by")
			if kind == "project" {
				delete(r, "intake") // the service creates it at the first change after it was switched on
			}
			all = append(all, r)
		}
	}
	return fmt.Sprint(all...)
}

func (d *driftMatrix) try(t *testing.T, of *driftBase, c *personsChange) {
	t.Helper()
	s := d.copyOf(t, of)
	answer := c.make(t, s)
	s.seen = &sync.Map{}
	for name, moment := range of.moments {
		plan := s.planAt(t, d.wanted, moment, planner.Settings{})
		verdict := "silent"
		switch hint, said := c.saidBy(plan); {
		case shownBy(t, plan) != moment.quiet:
			verdict = "seen"
			if c.member && moment.state != nil {
				c.checkDrift(t, s, d.wanted, moment)
			}
		case of.contents == s.contents():
			verdict = "without an effect"
			t.Logf("%s %s %s: %d %.200s", c.op.Method, c.path, c.body, answer.Code, answer.Body)
		case said:
			verdict = "said"
			if line := lastLine(t, plan); strings.Contains(line, "All ") || plan.Empty() && !strings.Contains(strings.ToLower(line), "not compared: ") {
				t.Errorf("%s: the last line is %q", name, line)
			}
			if hint != "" && shownBy(t, s.planAt(t, d.wanted, moment, planner.Settings{RefreshAll: true})) == moment.quiet {
				t.Errorf("%s: %q, but with --refresh-all it is not seen either", name, hint)
			}
		default:
			t.Errorf("%s: %s %s %s: the plan neither shows it nor says that it is not compared: %s", name, c.op.Method, c.path, c.body, lastLine(t, plan))
		}
		d.mu.Lock()
		if d.counts[name] == nil {
			d.counts[name] = map[string]int{}
		}
		d.counts[name][verdict]++
		d.mu.Unlock()
	}
}

// checkDrift checks that the removal of a member by people is kept, or is an error, according to the policy.
func (p *personsChange) checkDrift(t *testing.T, s *service, wanted *manifest.Manifest, moment *driftMoment) {
	t.Helper()
	of := func(plan *planner.Plan) (drift *planner.Drift) {
		for i := range plan.Drift {
			if d := &plan.Drift[i]; d.Change.Path == p.field && (d.Object.Address == p.address || strings.HasPrefix(p.field, "relations.")) {
				drift = d
			}
		}
		return drift
	}
	quiet := s.planAt(t, wanted, moment, planner.Settings{})
	if d := of(quiet); d == nil || d.Kept {
		t.Errorf("it is no drift: %s", shownBy(t, quiet))
	}
	kept := s.planAt(t, wanted, moment, planner.Settings{OnDrift: planner.Keep})
	adds := func(s *planner.Step) bool { return s.Action == planner.AddMembers }
	if d := of(kept); d == nil || !d.Kept || slices.ContainsFunc(kept.Steps, adds) {
		t.Errorf("it is not kept: %s", shownBy(t, kept))
	}
	failed := s.planAt(t, wanted, moment, planner.Settings{OnDrift: planner.Fail})
	if !slices.ContainsFunc(failed.Notices, func(d diag.Diagnostic) bool {
		return d.Code == "drift" && strings.Contains(d.Summary, " was changed on the service since the last apply")
	}) {
		t.Errorf("it is no error: %v", failed.Notices)
	}
}

// saidBy reports whether a plan says that it did not compare the changed value, and how to compare it.
func (p *personsChange) saidBy(plan *planner.Plan) (hint string, said bool) {
	for _, n := range planfile.New(plan, planfile.Where{}).NotCompared {
		if n.Kind == p.address.Kind() && (n.Field == "" || n.Field == p.field) && (slices.Contains(n.Addresses, p.address) || n.Count > len(n.Addresses)) {
			return n.Hint, true
		}
	}
	for _, step := range plan.Steps { // it is sent again in any case
		if step.Address == p.address && slices.ContainsFunc(step.Changes(), func(change planner.Change) bool {
			return change.Origin == planner.NotRefreshed && (change.Path == p.field || strings.HasPrefix(change.Path, p.field+"."))
		}) {
			return "", true
		}
	}
	return "", false
}

// lastLine returns the last line of a plan as people see it.
func lastLine(t *testing.T, plan *planner.Plan) string {
	t.Helper()
	var out bytes.Buffer
	o := view.NewOptions(view.Streams{Out: &out, Err: &bytes.Buffer{}, Width: 4000}, "never", "text", func(string) string { return "" })
	if err := view.New(o).Plan(planfile.New(plan, planfile.Where{})); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) { // the digest of the plan follows it
		if strings.HasPrefix(line, "No changes") || strings.HasPrefix(line, "Plan:") {
			return line
		}
	}
	t.Errorf("no last line: %s", &out)
	return ""
}
