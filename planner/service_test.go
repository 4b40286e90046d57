package planner_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

const workspace = "acme"

// service is a small service and the state file beside it: it answers reads from
// maps and carries out plans.
type service struct {
	t       testing.TB
	in      planner.Input // all but Desired and Observed
	things  []*thing
	byID    map[string]*thing
	members map[string][]string // by membership and container
	lacks   map[string]bool     // kinds that this edition does not have
	made    int
	reads   []planner.Read // of the last plan
}

// thing is something on the service.
type thing struct {
	kind   *resource.Kind
	parent string // the ID of what it lives in
	row    resource.Row
}

func newService(tb testing.TB, api resource.API) *service {
	tb.Helper()
	return &service{
		t: tb, byID: map[string]*thing{}, members: map[string][]string{}, lacks: map[string]bool{},
		in: planner.Input{Workspace: workspace, BaseURL: "https://plane.example.com", API: api, Prior: planner.Prior{}},
	}
}

// have puts something on the service that planform did not make; fields are written as name=text.
func (s *service) have(kind, parent, id string, fields ...string) *service {
	row := resource.Row{"id": id}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		row[name] = value
		if name == "sequence_id" {
			row[name] = json.Number(value)
		}
	}
	k := resource.Must(kind)
	if k.Parent != "" {
		row[k.Parent] = parent
	}
	s.keep(&thing{k, parent, row})
	return s
}

func (s *service) keep(t *thing) {
	s.things = append(s.things, t)
	s.byID[t.row.ID()] = t
}

func (s *service) find(id string) *thing { return s.byID[id] }

// plan answers reads until none is wanted and makes the plan.
func (s *service) plan(objects []*resource.Object) (*planner.Plan, diag.List) {
	s.t.Helper()
	in := s.in
	in.Desired, in.Observed, s.reads = objects, planner.Observed{}, nil
	for round := 0; ; round++ {
		reads := planner.Reads(in)
		if len(reads) == 0 {
			break
		}
		if round > 40 {
			s.t.Fatalf("still reading: %v", reads)
		}
		for _, r := range reads {
			if _, twice := in.Observed[r]; twice {
				s.t.Fatalf("read twice: %s", r.Path)
			}
			in.Observed[r] = s.answer(r)
			s.reads = append(s.reads, r)
		}
	}
	return planner.Build(in)
}

// mustPlan makes a plan that must have no errors.
func (s *service) mustPlan(objects []*resource.Object) *planner.Plan {
	s.t.Helper()
	plan, found := s.plan(objects)
	if plan == nil {
		s.t.Fatalf("no plan: %v", found.Err())
	}
	return plan
}

// answer is what the service says to a read.
func (s *service) answer(r planner.Read) planner.Answer {
	s.t.Helper()
	if strings.Contains(r.Path, "{") || !s.in.API.Offers(r.Operation) {
		s.t.Fatalf("bad read %s", r.Path)
	}
	k := resource.Must(r.Operation.Kind)
	if s.lacks[k.Name] {
		return planner.Answer{Lacking: true}
	}
	params := map[string]string{}
	template, path := strings.Split(r.Operation.Path, "/"), strings.Split(r.Path, "/")
	for i, part := range template {
		if strings.HasPrefix(part, "{") {
			params[strings.Trim(part, "{}")] = path[i]
		}
	}
	var rows []resource.Row
	switch r.Operation.Verb {
	case resource.List:
		parent := ""
		if k.Parent != "" {
			if parent = params[resource.Must(k.Parent).Param]; s.find(parent) == nil {
				return planner.Answer{Missing: true}
			}
		}
		for _, t := range s.things {
			if t.kind == k && t.parent == parent {
				rows = append(rows, t.row)
			}
		}
		return planner.Answer{Rows: rows}
	case resource.Get:
		if t := s.find(params[k.Param]); t != nil && t.kind == k {
			return planner.Answer{Rows: []resource.Row{t.row}}
		}
	case resource.Find:
		for _, t := range s.things {
			if t.kind == k && s.identifier(t) == params["identifier"] {
				return planner.Answer{Rows: []resource.Row{t.row}}
			}
		}
	case resource.ListMembers:
		container := params[resource.Must(k.Membership.Container).Param]
		if s.find(container) == nil {
			return planner.Answer{Missing: true}
		}
		for _, id := range s.members[k.Name+" "+container] {
			rows = append(rows, resource.Row{k.Membership.Row: id})
		}
		return planner.Answer{Rows: rows}
	default:
		s.t.Fatalf("%s is no read", r.Operation)
	}
	return planner.Answer{Missing: true}
}

func (s *service) identifier(t *thing) string {
	project := s.find(t.parent)
	if project == nil || t.row["sequence_id"] == nil {
		return ""
	}
	return fmt.Sprintf("%s-%s", project.row["identifier"], t.row["sequence_id"])
}

// apply carries out a plan and keeps what a state file keeps. It checks what an executor relies on.
func (s *service) apply(plan *planner.Plan) {
	s.t.Helper()
	done := make([]bool, len(plan.Steps))
	ids := map[resource.Address]string{}
	for address, r := range plan.Known {
		ids[address] = r.ID
	}
	for i, step := range plan.Steps {
		if step.Index != i {
			s.t.Fatalf("%s stands at %d and says %d", step.Address, i, step.Index)
		}
		for _, j := range slices.Concat(step.Needs, step.After) {
			if !done[j] {
				s.t.Fatalf("%s comes before what it needs: %s", step.Address, plan.Steps[j].Address)
			}
		}
		done[i] = true
		switch step.Action {
		case planner.Create, planner.Update, planner.Adopt:
			s.write(plan, step, ids)
		case planner.AddMembers:
			s.join(step, ids)
		case planner.NotPossible:
		default:
			s.t.Fatalf("%s: %s", step.Address, step.Action)
		}
	}
}

func (s *service) write(plan *planner.Plan, step *planner.Step, ids map[resource.Address]string) {
	s.t.Helper()
	o := step.Object
	resolve := func(f *resource.Field, r *resource.Reference) (string, bool) {
		id := r.ID
		if r.Target != nil {
			id = ids[r.Target.Address]
		} else if id == "" {
			id = plan.Names[planner.NameOf(o, f, r)]
		}
		if id == "" {
			s.t.Fatalf("%s is sent before %q in %s is there", step.Address, r.Text, f.Name)
		}
		return id, true
	}
	id := step.ID
	if step.Action == planner.Create {
		id = s.create(o, ids)
	}
	if step.Operation != nil {
		var body resource.Row
		d := json.NewDecoder(bytes.NewReader(resource.Body(step.Values, resource.Contract, resolve)))
		d.UseNumber()
		if err := d.Decode(&body); err != nil {
			s.t.Fatal(err)
		}
		maps.Copy(s.find(id).row, body)
	}
	ids[o.Address] = id
	record := planner.Record{Address: o.Address, ID: id, Identifier: s.identifier(s.find(id)), Values: map[string]string{}}
	record.Identifier = cmp.Or(record.Identifier, s.in.Prior[o.Address].Identifier)
	for _, v := range o.Sends(plan.API) {
		want, _ := v.Wanted(resolve)
		record.Values[v.Field.Name] = resource.Digest(want)
	}
	s.in.Prior[o.Address] = record
}

func (s *service) create(o *resource.Object, ids map[resource.Address]string) string {
	s.t.Helper()
	s.made++
	id := uuid(0xf, s.made)
	row := resource.Row{"id": id}
	parent := ""
	if o.Parent != nil {
		if parent = ids[o.Parent.Address]; parent == "" {
			s.t.Fatalf("%s is made before %s", o.Address, o.Parent.Address)
		}
		row[o.Kind.Parent] = parent
	}
	if o.Kind.Identifier != nil && o.Kind.Identifier.Wire == "" {
		row["sequence_id"] = json.Number(strconv.Itoa(1000 + s.made))
	}
	if o.Kind.Marks && s.in.API == resource.Full {
		row["external_source"], row["external_id"] = resource.MarkSource, resource.Mark(workspace, o.Address)
	}
	s.keep(&thing{o.Kind, parent, row})
	return id
}

func (s *service) join(step *planner.Step, ids map[resource.Address]string) {
	s.t.Helper()
	m := step.Members
	container := cmp.Or(m.Container.ID, ids[m.Container.Address])
	if container == "" || len(m.Items) == 0 || len(m.Items) > 100 {
		s.t.Fatalf("%s: bad batch of %d", step.Address, len(m.Items))
	}
	address, _, _ := strings.Cut(string(step.Address), ".")
	record := s.in.Prior[resource.Address(address)]
	for _, item := range m.Items {
		id := cmp.Or(item.ID, ids[item.Address])
		if id == "" {
			s.t.Fatalf("%s: %s is not there", step.Address, item.Text)
		}
		if step.Kind.Membership.On == step.Kind.Membership.Member { // a member leaves where it was
			for key, list := range s.members {
				if strings.HasPrefix(key, step.Kind.Name+" ") {
					s.members[key] = slices.DeleteFunc(list, func(in string) bool { return in == id })
				}
			}
		}
		key := step.Kind.Name + " " + container
		s.members[key] = append(s.members[key], id)
		record.Members = append(slices.Clone(record.Members), id)
	}
	slices.Sort(record.Members)
	record.Address = resource.Address(address)
	s.in.Prior[record.Address] = record
}

// sign is a plan in short: a line for each step.
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
		if step.Reason != "" {
			line += ": " + step.Reason
		}
		list = append(list, line)
	}
	return list
}

// makeAll carries out the first plan for the things.
func (s *service) makeAll(objects []*resource.Object) {
	s.t.Helper()
	s.apply(s.mustPlan(objects))
}
