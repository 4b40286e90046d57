package view_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/planner"
)

var update = flag.Bool("update", false, "write the golden files anew") //nolint:gochecknoglobals // the flags of a test are global

// TestMain gives the garbage collector less to do: it took a fourth of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	goleak.VerifyTestMain(m)
}

// golden compares text with a file below testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// screen is a view whose streams are kept.
type screen struct {
	*view.View
	out, err bytes.Buffer
}

func newScreen(set ...func(*view.Options)) *screen {
	s := &screen{}
	o := view.Options{Now: func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }}
	o.In, o.Out, o.Err = strings.NewReader(""), &s.out, &s.err
	for _, f := range set {
		f(&o)
	}
	s.View = view.New(o)
	return s
}

func inJSON(o *view.Options) { o.Format = "json" }

// in chooses a format.
func in(format string) func(*view.Options) { return func(o *view.Options) { o.Format = format } }
func inFull(o *view.Options)               { o.Extent = view.Full }
func inColor(o *view.Options)              { o.ColorOut, o.ColorErr = true, true }
func onTerminal(o *view.Options) {
	o.InTTY, o.OutTTY, o.ErrTTY, o.Live, o.Width = true, true, true, true, 80
}

func at(line int) diag.Position {
	return diag.Position{File: "workspace.yaml", Line: line, Column: 5}
}

// object makes an object of the manifest; pairs are its fields and their texts.
func object(kind, key string, parent *resource.Object, pairs ...string) *resource.Object {
	k := resource.MustLookup(kind)
	o := &resource.Object{Kind: k, Key: key, Parent: parent, Address: resource.NewAddress(kind, key)}
	if parent != nil {
		o.Address = parent.Address.Child(kind, key)
	}
	for i := 0; i < len(pairs); i += 2 {
		f, ok := k.Field(pairs[i])
		if !ok {
			panic("no field " + pairs[i])
		}
		v := resource.Value{Field: f, Text: pairs[i+1]}
		if f.IsRef() {
			for text := range strings.SplitSeq(pairs[i+1], ", ") {
				v.Refs = append(v.Refs, resource.Reference{Text: text})
			}
		}
		o.Values = append(o.Values, v)
	}
	return o
}

// builder collects the steps of a plan.
type builder struct{ planner.Plan }

func (b *builder) step(s *planner.Step) *planner.Step {
	s.Index = planner.StepID(len(b.Steps))
	s.Position = at(10 + int(s.Index))
	b.Steps = append(b.Steps, s)
	return s
}

func (b *builder) create(o *resource.Object, needs ...planner.StepID) {
	s := &planner.Step{Address: o.Address, Action: planner.Create, Kind: o.Kind, Object: o, Write: &planner.Write{}, Turn: planner.Turn{Needs: needs}}
	for i := range o.Values {
		s.Write.Values = append(s.Values(), &o.Values[i])
	}
	b.Summary.Create++
	b.Summary.Requests++
	b.step(s)
}

func (b *builder) act(a planner.Action, o *resource.Object, id string, changes ...planner.Change) *planner.Step {
	s := &planner.Step{Address: o.Address, Action: a, Kind: o.Kind, Object: o, ID: id, Write: &planner.Write{}}
	if a == planner.Adopt {
		s.Write.FoundBy = "found by name"
	}
	setChanges(s, changes)
	return b.step(s)
}

func (b *builder) members(a planner.Action, kind string, container resource.Address, batch, first, n int) *planner.Step {
	k := resource.MustLookup(kind)
	m := &planner.Members{Container: planner.Container{Address: container}}
	for i := range n {
		m.Items = append(m.Items, planner.Member{Address: resource.Address(k.Membership.Member + "/web/item-" + strconv.Itoa(first+i))})
	}
	return b.step(&planner.Step{Address: container.Members(k.Membership.Member+"s", batch), Action: a, Kind: k, Members: m, ID: "c-1"})
}

// setChanges writes the field that only the planner sets, and only from a whole workspace.
func setChanges(s *planner.Step, changes []planner.Change) {
	list := make([]*planner.Change, len(changes))
	for i := range changes {
		list[i] = &changes[i]
	}
	f := reflect.ValueOf(s).Elem().FieldByName("changes")
	reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Set(reflect.ValueOf(list))
}

func changed(path, before, after string) planner.Change {
	return planner.Change{Path: path, Before: text(before), After: text(after), Origin: planner.FromManifest, Possible: true}
}

func drifted(path, before, after string) planner.Change {
	c := changed(path, before, after)
	c.Origin = planner.FromDrift
	return c
}

// text is nil for "".
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

const longBefore = `# Checkout

One page, no reload.

## Why

Customers leave at the third step.
Half of them on a phone.

## How

- one form
- one button
- no account needed
`

const longAfter = `# Checkout

One page, no **reload**, and it remembers the cart.

## Why

Customers leave at the third step.
Half of them on a phone.

## How

- one form
- one big button
- no account needed
- a receipt by e-mail
`

// everything is a plan with every action and every shape of a change.
func everything() *planner.Plan {
	b := &builder{planner.Plan{Workspace: "acme", BaseURL: "https://api.plane.so"}}
	web := object("project", "web", nil, "name", "Website")
	shop := object("work_item", "shop", web, "name", "Shop", "priority", "high", "start_date", "2026-12-01",
		"assignees", "ada@example.com, bob@example.com", "estimate_point", "3")
	checkout := object("work_item", "checkout", web, "name", "Rebuild the checkout", "description", longAfter, "parent", "shop")
	parent, _ := checkout.Value("parent")
	parent.Refs[0].Target = shop
	design := object("link", "https://example.com/design", checkout, "url", "https://example.com/design", "title", "Design")
	plain := object("link", "https://example.com/api", checkout, "url", "https://example.com/api")
	b.create(shop)
	b.create(checkout, 0)
	b.create(design, 1)
	b.create(plain, 1)
	b.create(object("link", "https://example.com/old", object("work_item", "there", web), "url", "https://example.com/old"))
	b.create(object("work_item", "note", web, "name", "Note", "description", strings.Repeat("All in one line. ", 20)))

	b.act(planner.Update, web, "p-1", drifted("description", "Public site", "Public site and shop"))
	b.act(planner.Update, object("teamspace", "platform", nil), "t-1",
		changed("name", "", "Platform"), changed("description_stripped", "Old", ""),
		changed("description", longBefore, longAfter),
		planner.Change{Path: "logo_props", After: text(`{"in_use":"emoji"}`), Origin: planner.NotRefreshed, Possible: true},
		planner.Change{Path: "lead", Before: text("bob@example.com"), After: text("ada@example.com"), Origin: planner.FromManifest})
	b.act(planner.Update, object("work_item", "set", web), "w-1",
		changed("labels", "backend\nfrontend\ninfrastructure\ndocumentation\nsecurity\nlater", "backend\nfrontend\ninfrastructure\npayments\ndocumentation\nlater"),
		changed("assignees", "ada@example.com\nbob@example.com", "bob@example.com"),
		changed("description", strings.Repeat("The same words again. ", 20)+"Here it was old. "+strings.Repeat("And on it goes. ", 20),
			strings.Repeat("The same words again. ", 20)+"Here it is new. "+strings.Repeat("And on it goes. ", 20)))
	b.Summary.Update = 4 // with what is adopted and changed

	overwritten := changed("description", "They asked.", "They asked for SAML.")
	overwritten.Origin = planner.Overwritten
	adopt := b.act(planner.Adopt, object("customer_request", "sso", object("customer", "globex", nil), "title", "Single sign-on"), "5e6f", overwritten)
	adopt.Write.FoundBy = "found by title"
	b.act(planner.Adopt, object("page", "handbook", nil, "name", "Handbook"), "9a8b")
	b.Summary.Adopt = 1

	b.members(planner.AddMembers, "cycle_work_item", "cycle/web/sprint-14", 1, 0, 100)
	b.members(planner.AddMembers, "cycle_work_item", "cycle/web/sprint-14", 2, 100, 41)
	b.members(planner.AddMembers, "initiative_initiative_label", "initiative/q1", 1, 0, 1)
	b.members(planner.RemoveMembers, "cycle_work_item", "cycle/web/sprint-13", 1, 0, 2)
	b.Summary.AddMembers, b.Summary.RemoveMembers = 142, 2

	b.act(planner.Delete, object("label", "old", web), "l-1")
	b.step(&planner.Step{Address: "work_item/web/fix-login", Action: planner.Delete, Kind: resource.MustLookup("work_item"), ID: "w-1", Identifier: "WEB-7", Name: "Fix the \"log-in\""})
	b.Summary.Delete = 2
	stuck := b.act(planner.NotPossible, object("work_item", "fixed", web), "w-2",
		planner.Change{Path: "name", Before: text("Before"), After: text("After"), Origin: planner.FromManifest})
	stuck.Cause = planner.Cause{Code: planner.Refused, Text: "the documented operations cannot change name of a work item after creation"}
	b.Summary.Blocked = 1
	b.Summary.Unchanged, b.Summary.Reads = 99, 12
	b.Summary.Requests = 200
	b.Notices.Add(diag.Diagnostic{Severity: diag.Warning, Code: "orphaned", Summary: "3 objects are no longer in the manifest"})
	b.NotCompared = unseen()
	return &b.Plan
}

// unseen is what a plan did not compare.
func unseen() []planner.NotCompared {
	const all = "--refresh-all reads them"
	return []planner.NotCompared{
		{Kind: "project", Field: "members", Count: 1, What: "roles of members of 1 project", Why: "the service does not show them", Addresses: []resource.Address{"project/web"}},
		{Kind: "work_item", Field: "fields", Count: 12, What: "values of custom fields of 12 work items", Why: "reading them takes a request each", Hint: all, Addresses: []resource.Address{"work_item/web/a", "work_item/web/b"}},
		{Kind: "link", Count: 70, What: "70 links", Why: "reading them takes more than 60 requests", Hint: all, Addresses: []resource.Address{"link/web/a/a"}},
	}
}

// here is where the plans of the tests go.
func here() planfile.Where {
	return planfile.Where{
		Service: "https://api.plane.so", Workspace: "acme", User: "ada (ada@example.com)",
		Manifests: []string{"workspace.yaml"}, State: ".planform/api.plane.so_acme.state.json",
	}
}

// showAs shows a plan and where it goes.
func showAs(show func(*planfile.Document) error, p *planner.Plan, where planfile.Where) error {
	return show(planfile.New(p, where))
}
