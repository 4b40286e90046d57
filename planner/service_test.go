package planner_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

const workspace = "acme"

// fakeService is a small service and the state file beside it: it answers reads from
// maps and carries out plans.
type fakeService struct {
	t       testing.TB
	in      planner.Input // all but Desired and Observed
	objects []*remoteObject
	byID    map[string]*remoteObject
	members map[string][]string // by membership and container
	without map[string]bool     // kinds that this edition does not given
	me      string              // who the credential belongs to
	made    int
	reads   []planner.Read // of the last plan
	world   *planner.World // of the last plan
}

// remoteObject is an object of the service.
type remoteObject struct {
	kind   *resource.Kind
	parent string // the ID of what it lives in
	row    resource.Row
}

func newService(tb testing.TB, api resource.API) *fakeService {
	tb.Helper()
	return &fakeService{
		t: tb, byID: map[string]*remoteObject{}, members: map[string][]string{}, without: map[string]bool{},
		in: planner.Input{Workspace: workspace, BaseURL: "https://plane.example.com", WebURL: "https://plane.example.com", API: api, Prior: planner.Prior{}},
	}
}

// given puts something on the service that planform did not make; fields are written as name=text.
func (fs *fakeService) given(kind, parent, id string, fields ...string) *fakeService {
	row := resource.Row{"id": id}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		row[name] = value
		if name == "sequence_id" {
			row[name] = json.Number(value)
		}
	}
	k := resource.MustLookup(kind)
	if k.Parent != "" {
		row[k.Parent] = parent
	}
	fs.keep(&remoteObject{k, parent, row})
	return fs
}

func (fs *fakeService) keep(t *remoteObject) {
	fs.objects = append(fs.objects, t)
	fs.byID[t.row.ID()] = t
}

func (fs *fakeService) find(id string) *remoteObject { return fs.byID[id] }

// plan makes the plan, and answers what it reads.
func (fs *fakeService) plan(objects []*resource.Object) (*planner.Plan, diag.List) {
	fs.t.Helper()
	in := fs.in
	in.Desired, in.Observed, fs.reads = objects, planner.Observed{}, nil
	fs.world = load(fs.t, in, func(r planner.Read) planner.Answer {
		fs.reads = append(fs.reads, r)
		return fs.answer(r)
	})
	result := planner.Build(fs.world)
	return result.Plan, result.Findings
}

// answering is a reader that makes no requests.
type answering struct {
	t        testing.TB
	observed planner.Observed
	answer   func(planner.Read) planner.Answer
}

func (aw answering) Read(_ context.Context, reads []planner.Read) error {
	aw.t.Helper()
	for _, r := range reads {
		if _, twice := aw.observed[r]; twice {
			aw.t.Fatalf("read twice: %s", r.Path)
		}
		aw.observed[r] = aw.answer(r)
	}
	return nil
}

// load loads the world of an input whose answers come from a function.
func load(tb testing.TB, in planner.Input, answer func(planner.Read) planner.Answer) *planner.World {
	tb.Helper()
	world, err := planner.Load(tb.Context(), in, answering{tb, in.Observed, answer})
	if err != nil {
		tb.Fatal(err)
	}
	return world
}

// build makes the plan of an input that has all answers.
func build(tb testing.TB, in planner.Input) (*planner.Plan, diag.List) {
	tb.Helper()
	result := planner.Build(load(tb, in, func(r planner.Read) planner.Answer {
		tb.Fatalf("there is no answer for %s", r.Path)
		return planner.Answer{}
	}))
	return result.Plan, result.Findings
}

// mustPlan makes a plan that must have no errors.
func (fs *fakeService) mustPlan(objects []*resource.Object) *planner.Plan {
	fs.t.Helper()
	plan, found := fs.plan(objects)
	if plan == nil {
		fs.t.Fatalf("no plan: %v", found.Err())
	}
	return plan
}

// answer is what the service says to a read.
func (fs *fakeService) answer(r planner.Read) planner.Answer {
	fs.t.Helper()
	if strings.Contains(r.Path, "{") || !fs.in.API.Offers(r.Operation) {
		fs.t.Fatalf("bad read %s", r.Path)
	}
	k := resource.MustLookup(r.Operation.Kind)
	if fs.without[k.Name] {
		return planner.Answer{Unsupported: true}
	}
	params := map[string]string{}
	template, path := strings.Split(r.Operation.Path, "/"), strings.Split(r.Path, "/")
	for i, part := range template {
		if strings.HasPrefix(part, "{") {
			params[strings.Trim(part, "{}")] = path[i]
		}
	}
	var rows []resource.Row
	_, shelf := k.Op(resource.ListArchived, fs.in.API)
	switch r.Operation.Verb {
	case resource.List, resource.ListArchived:
		if r.ExternalID != "" {
			return fs.byMark(r.ExternalID)
		}
		parent := ""
		if k.Parent != "" {
			if parent = params[resource.MustLookup(k.Parent).Param]; fs.find(parent) == nil {
				return planner.Answer{NotFound: true}
			}
		}
		for _, t := range fs.objects {
			away := (shelf || k.Name == "work_item") && t.row["archived_at"] != nil
			if t.kind == k && t.parent == parent && away == (r.Operation.Verb == resource.ListArchived) {
				rows = append(rows, t.row)
			}
		}
		return planner.Answer{Rows: rows}
	case resource.Get:
		if k.Membership != nil { // by the ID that the list shows
			return planner.Answer{NotFound: fs.without["remove "+k.Name]}
		}
		if t := fs.find(params[k.Param]); t != nil && t.kind == k && (!shelf && k.Name != "work_item" || t.row["archived_at"] == nil) {
			return planner.Answer{Rows: []resource.Row{t.row}}
		}
	case resource.Self:
		if fs.me == "" {
			return planner.Answer{}
		}
		return planner.Answer{Rows: []resource.Row{fs.find(fs.me).row}}
	case resource.Find:
		for _, t := range fs.objects {
			if t.kind == k && fs.identifier(t) == params["identifier"] && t.row["archived_at"] == nil {
				return planner.Answer{Rows: []resource.Row{t.row}}
			}
		}
	case resource.Summary:
		counts := map[string]any{}
		for _, t := range fs.objects {
			if n, _ := counts[t.kind.CountedAs].(json.Number); t.kind.CountedAs != "" && t.parent == params[k.Param] {
				count, _ := n.Int64()
				counts[t.kind.CountedAs] = json.Number(strconv.FormatInt(count+1, 10))
			}
		}
		return planner.Answer{Rows: []resource.Row{{"id": params[k.Param], "counts": counts}}}
	case resource.ListLite:
		return planner.Answer{Unsupported: true}
	case resource.RemoveMembers:
		return planner.Answer{Unsupported: fs.without["remove "+k.Name]}
	case resource.ListMembers:
		container := params[resource.MustLookup(k.Membership.Container).Param]
		if fs.find(container) == nil {
			return planner.Answer{NotFound: true}
		}
		for _, id := range fs.members[k.Name+" "+container] {
			rows = append(rows, resource.Row{k.Membership.IDField: id})
		}
		return planner.Answer{Rows: rows}
	default:
		fs.t.Fatalf("%s is no read", r.Operation)
	}
	return planner.Answer{NotFound: true}
}

// byMark is what a look-up by external ID finds, archived objects and drafts among them.
func (fs *fakeService) byMark(mark string) planner.Answer {
	var rows []resource.Row
	for _, t := range fs.objects {
		if (resource.Marks{Owner: fs.in.Owner}).Has(t.row, mark) {
			rows = append(rows, t.row)
		}
	}
	if len(rows) > 1 {
		return planner.Answer{Several: true}
	}
	return planner.Answer{Rows: rows}
}

func (fs *fakeService) identifier(t *remoteObject) string {
	project := fs.find(t.parent)
	if project == nil || t.row["sequence_id"] == nil {
		return ""
	}
	return fmt.Sprintf("%s-%s", project.row["identifier"], t.row["sequence_id"])
}

// apply carries out a plan and keeps what a state file keeps. It checks what an executor relies on.
func (fs *fakeService) apply(plan *planner.Plan) {
	fs.t.Helper()
	for _, c := range slices.Concat(plan.StateChanges, plan.Seen) {
		if c.From != c.To {
			delete(fs.in.Prior, c.From)
		}
	}
	for _, c := range slices.Concat(plan.StateChanges, plan.Seen) {
		if c.To != "" {
			fs.in.Prior[c.To] = c.Record
		}
	}
	for address, files := range plan.Sources {
		if r, known := fs.in.Prior[address]; known {
			r.Sources = files
			fs.in.Prior[address] = r
		}
	}
	done := make([]bool, len(plan.Steps))
	ids := map[resource.Address]string{}
	for address, r := range plan.Known {
		ids[address] = r.ID
	}
	for i, step := range plan.Steps {
		if int(step.Index) != i {
			fs.t.Fatalf("%s stands at %d and says %d", step.Address, i, step.Index)
		}
		for _, j := range slices.Concat(step.Needs, step.After) {
			if !done[j] {
				fs.t.Fatalf("%s comes before what it needs: %s", step.Address, plan.Steps[j].Address)
			}
		}
		done[i] = true
		switch step.Action {
		case planner.Create, planner.Update, planner.Adopt:
			fs.write(plan, step, ids)
		case planner.AddMembers:
			fs.join(step, ids)
		case planner.RemoveMembers:
			fs.leave(step)
		case planner.Delete:
			fs.remove(step)
		case planner.NotPossible:
		default:
			fs.t.Fatalf("%s: %s", step.Address, step.Action)
		}
	}
}

func (fs *fakeService) write(plan *planner.Plan, step *planner.Step, ids map[resource.Address]string) {
	fs.t.Helper()
	o := step.Object
	resolve := func(f *resource.Field, r *resource.Reference) (string, bool) {
		if f.Rich() {
			page := cmp.Or(r.ID, pageOf(r.Target, ids))
			if page == "" && slices.ContainsFunc(step.Values(), func(v *resource.Value) bool { return v.Field == f }) {
				fs.t.Fatalf("%s is sent before %s is there", step.Address, r.Target.Address)
			}
			return page, page != ""
		}
		id := f.Literal(plan.API, r)
		if r.Target != nil {
			id = ids[r.Target.Address]
		} else if id == "" {
			id = plan.Names[planner.NameOf(o, f, r)]
		}
		if id == "" {
			fs.t.Fatalf("%s is sent before %q in %s is there", step.Address, r.Text, f.Name)
		}
		return id, true
	}
	id := cmp.Or(step.ID, ids[o.Address])
	if step.Action == planner.Create {
		id = fs.create(o, ids)
	}
	if step.Operation != nil {
		var body resource.Row
		d := json.NewDecoder(bytes.NewReader(resource.Body(step.Values(), resource.ContractDialect, resolve)))
		d.UseNumber()
		if err := d.Decode(&body); err != nil {
			fs.t.Fatal(err)
		}
		maps.Copy(fs.find(id).row, body)
		if step.Write.SetExternalID {
			fs.find(id).row["external_source"], fs.find(id).row["external_id"] = "planform", resource.ExternalID(workspace, o.Address)
		}
	}
	ids[o.Address] = id
	record := planner.Record{Address: o.Address, ID: id, Identifier: fs.identifier(fs.find(id)), Values: map[string]string{}}
	record.Origin = fs.in.Prior[o.Address].Origin.Next(o.Origin)
	record.CreatedByUs = fs.in.Prior[o.Address].CreatedByUs || step.Action == planner.Create || step.Write.CreatedByUs
	record.Sources = both(fs.in.Prior[o.Address].Sources, o.Files)
	record.Protect = o.Protected(fs.in.Prior[o.Address].Protect)
	record.Identifier = cmp.Or(record.Identifier, fs.in.Prior[o.Address].Identifier)
	for _, v := range o.Sendable(plan.API) {
		if sent := step.Sends(v); sent != nil {
			v = sent
		}
		if want, complete := v.Desired(resolve); complete || !v.Field.Rich() {
			record.Values[v.Field.Name] = resource.Digest(want)
		}
	}
	fs.in.Prior[o.Address] = record
}

// pageOf is the address of an object's page, or "" while it is not there.
func pageOf(o *resource.Object, ids map[resource.Address]string) string {
	params := map[string]string{"workspace_slug": workspace}
	for at := o; at != nil; at = at.Parent {
		params[at.Kind.Param] = ids[at.Address]
	}
	return o.Kind.Page("https://plane.example.com", params)
}

// remove deletes an object, and all that is in it or below it, as the service does.
func (fs *fakeService) remove(step *planner.Step) {
	fs.t.Helper()
	if step.Operation != nil {
		path, missing := step.Operation.Expand(step.Params)
		if missing != "" || fs.find(step.ID) == nil {
			fs.t.Fatalf("%s: nothing is at %s", step.Address, path)
		}
		fs.drop(step.ID)
	} else if fs.find(step.ID) != nil {
		fs.t.Fatalf("%s is still there", step.Address)
	}
	delete(fs.in.Prior, step.Address)
	for address, r := range fs.in.Prior {
		if strings.HasPrefix(string(address), string(step.Address)+"#") {
			delete(fs.in.Prior, address)
			continue
		}
		if r.Members = slices.DeleteFunc(slices.Clone(r.Members), func(id string) bool { return id == step.ID }); len(r.Members) == 0 && r.ID == "" {
			delete(fs.in.Prior, address)
			continue
		}
		fs.in.Prior[address] = r
	}
}

func (fs *fakeService) drop(id string) {
	delete(fs.byID, id)
	fs.objects = slices.DeleteFunc(fs.objects, func(t *remoteObject) bool { return t.row.ID() == id })
	for key, list := range fs.members {
		fs.members[key] = slices.DeleteFunc(list, func(in string) bool { return in == id })
	}
	for _, t := range slices.Clone(fs.objects) {
		if above, _ := t.row["parent"].(string); t.parent == id || above == id {
			fs.drop(t.row.ID())
		}
	}
}

func (fs *fakeService) create(o *resource.Object, ids map[resource.Address]string) string {
	fs.t.Helper()
	fs.made++
	id := uuid(0xf, fs.made)
	row := resource.Row{"id": id}
	parent := ""
	if o.Parent != nil {
		if parent = ids[o.Parent.Address]; parent == "" {
			fs.t.Fatalf("%s is made before %s", o.Address, o.Parent.Address)
		}
		row[o.Kind.Parent] = parent
	}
	if o.Kind.Identifier != nil && o.Kind.Identifier.APIName == "" {
		row["sequence_id"] = json.Number(strconv.Itoa(1000 + fs.made))
	}
	if o.Kind.HasExternalID && fs.in.API == resource.V1 {
		row["external_source"], row["external_id"] = "planform", resource.ExternalID(workspace, o.Address)
	}
	fs.keep(&remoteObject{o.Kind, parent, row})
	return id
}

func (fs *fakeService) join(step *planner.Step, ids map[resource.Address]string) {
	fs.t.Helper()
	m := step.Members
	container := cmp.Or(m.Container.ID, ids[m.Container.Address])
	if container == "" || len(m.Items) == 0 || len(m.Items) > 100 {
		fs.t.Fatalf("%s: bad batch of %d", step.Address, len(m.Items))
	}
	address, _, _ := strings.Cut(string(step.Address), ".")
	record := fs.in.Prior[resource.Address(address)]
	for _, item := range m.Items {
		id := cmp.Or(item.ID, ids[item.Address])
		if id == "" {
			fs.t.Fatalf("%s: %s is not there", step.Address, item.Text)
		}
		if step.Kind.Membership.Exclusive { // a member leaves where it was
			for other, r := range fs.in.Prior {
				if at, isIn := slices.BinarySearch(r.Members, id); isIn && string(other) != address && other.Kind() == step.Address.Kind() && strings.Contains(string(other), "#") {
					r.Members = slices.Delete(slices.Clone(r.Members), at, at+1)
					fs.keepRoster(r)
				}
			}
			for key, list := range fs.members {
				if strings.HasPrefix(key, step.Kind.Name+" ") {
					fs.members[key] = slices.DeleteFunc(list, func(in string) bool { return in == id })
				}
			}
		}
		key := step.Kind.Name + " " + container
		fs.members[key] = append(fs.members[key], id)
		record.Members = append(slices.Clone(record.Members), id)
	}
	slices.Sort(record.Members)
	record.Sources = both(record.Sources, m.Sources)
	record.Address = resource.Address(address)
	fs.in.Prior[record.Address] = record
}

// leave takes members out, each of whom must be in.
func (fs *fakeService) leave(step *planner.Step) {
	fs.t.Helper()
	if step.Operation.TakesOne(step.Kind) && len(step.Members.Items) != 1 || len(step.Members.Items) > 100 {
		fs.t.Fatalf("%s: bad batch of %d", step.Address, len(step.Members.Items))
	}
	key := step.Kind.Name + " " + step.Params[resource.MustLookup(step.Kind.Membership.Container).Param]
	address, _, _ := strings.Cut(string(step.Address), ".")
	record := fs.in.Prior[resource.Address(address)]
	for _, m := range step.Members.Items {
		if !slices.Contains(fs.members[key], m.ID) {
			fs.t.Fatalf("%s: %s is not in it", step.Address, m.ID)
		}
		out := func(id string) bool { return id == m.ID }
		fs.members[key] = slices.DeleteFunc(fs.members[key], out)
		record.Members = slices.DeleteFunc(slices.Clone(record.Members), out)
	}
	record.Address = resource.Address(address)
	fs.keepRoster(record)
}

// both is what is in one of two lists.
func both(one, other []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(one, other))))
}

// keepRoster keeps a record of members, unless there are none.
func (fs *fakeService) keepRoster(r planner.Record) {
	if fs.in.Prior[r.Address] = r; len(r.Members) == 0 {
		delete(fs.in.Prior, r.Address)
	}
}

// lines is a plan in short: a line for each step.
func lines(plan *planner.Plan) []string {
	var list []string
	for _, step := range plan.Steps {
		line := step.Action.String() + " " + string(step.Address)
		if step.Members != nil {
			line += " " + strconv.Itoa(len(step.Members.Items))
		}
		if step.Action == planner.Update || step.Action == planner.Adopt {
			paths := []string{line}
			for _, c := range step.Changes() {
				paths = append(paths, c.Path)
			}
			line = strings.Join(paths, " ")
		}
		if step.Reason() != "" {
			line += ": " + step.Reason()
		}
		list = append(list, line)
	}
	return list
}

// makeAll carries out the first plan for the objects.
func (fs *fakeService) makeAll(objects []*resource.Object) {
	fs.t.Helper()
	fs.apply(fs.mustPlan(objects))
}
