package planfile

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Where is where the plan goes.
func (d *Document) Where() Where {
	return Where{
		Service: d.BaseURL, Workspace: d.Workspace, User: text(d.User), Sandbox: text(d.SandboxFile),
		Manifests: d.Manifests, State: d.State, Options: d.Options, Basis: d.Basis,
	}
}

// Plan is the plan as far as it can be shown. It cannot be carried out.
func (d *Document) Plan() *planner.Plan {
	r := reader{at: map[resource.Address]int{}, objects: map[resource.Address]*resource.Object{}}
	p := &planner.Plan{
		Workspace: d.Workspace, BaseURL: d.BaseURL, Steps: make([]*planner.Step, len(d.Steps)), Notices: d.Notices, Summary: planner.Summary(d.Summary),
	}
	for p.API = resource.Documented; p.API < resource.V2; p.API++ {
		if p.API.String() == d.API {
			break
		}
	}
	for i := range d.Steps {
		p.Steps[i] = r.step(i, &d.Steps[i])
	}
	for _, k := range d.Kept {
		c := change(k.Change)
		p.Drift = append(p.Drift, planner.Drift{Object: r.object(k.Address), Change: &c, Kept: true})
		if k.Position != nil {
			r.object(k.Address).Position = *k.Position
		}
	}
	for _, c := range d.Corrections {
		p.StateChanges = append(p.StateChanges, planner.StateChange{From: c.From, To: text(c.To), Why: c.Why})
	}
	for _, o := range d.Orphans {
		p.Orphans = append(p.Orphans, planner.Orphan{Address: o.Address, ID: text(o.ID), Identifier: text(o.Identifier), RenamedTo: text(o.RenamedTo)})
	}
	p.CountSteps()
	return p
}

// reader makes the steps of a plan.
type reader struct {
	at      map[resource.Address]int // the last step of each address
	objects map[resource.Address]*resource.Object
}

// object is the one at an address, in its parents.
func (r *reader) object(address resource.Address) *resource.Object {
	kind, known := resource.Lookup(address.Kind())
	if !known {
		return nil
	}
	if o := r.objects[address]; o != nil {
		return o
	}
	o := &resource.Object{Kind: kind, Address: address, Key: address.Key()}
	r.objects[address] = o
	if parent := address.Parent(); parent != "" {
		o.Parent = r.object(parent)
	}
	return o
}

func (r *reader) step(i int, d *Step) *planner.Step {
	s := &planner.Step{Index: i, Address: d.Address, ID: text(d.ID), Identifier: d.Identifier, Name: d.Title, Reason: text(d.Reason), Unsupported: d.Unsupported, Replaces: d.Replaces}
	if s.Action.UnmarshalText([]byte(d.Action)) != nil { // it was checked
		s.Action = planner.NotPossible
	}
	if d.Adopted != nil {
		s.Action, s.Reason = planner.Adopt, *d.Adopted
	}
	if d.Position != nil {
		s.Position = *d.Position
	}
	for _, need := range d.Needs {
		if at, ok := r.at[resource.Address(need)]; ok {
			s.Needs = append(s.Needs, at)
		}
	}
	_, again := r.at[d.Address]
	s.Continues = d.Continues && again && d.setsFields()
	r.at[d.Address] = i
	if container, kind, _, ok := d.Address.ParseMembership(); ok {
		s.Kind, s.Members = kind, &planner.Members{Container: planner.Container{Address: container}, Items: d.members()}
		return s
	}
	s.Object = r.object(d.Address)
	if s.Kind, _ = resource.Lookup(d.Address.Kind()); s.Action != planner.Create {
		changes := make([]planner.Change, len(d.Changes))
		for j, c := range d.Changes {
			changes[j] = change(c)
		}
		s.Show(changes)
		return s
	}
	for _, c := range d.Changes {
		f, ok := s.Kind.Field(c.Path)
		if !ok && resource.IsCustomName(c.Path) {
			f, ok = &resource.Field{Name: c.Path}, true
		}
		if !ok { // all that is no field of a new object is its identifier
			s.Object.Identifier, _ = c.After.(string)
			continue
		}
		v := resource.Value{Field: f}
		if after := joined(c.After); after != nil {
			v.Text = *after
		}
		if f.IsRef() && v.Text != "" {
			v.Refs = []resource.Reference{{Text: v.Text}}
		}
		s.Object.Values = append(s.Object.Values, v)
	}
	for j := range s.Object.Values {
		s.Values = append(s.Values, &s.Object.Values[j])
	}
	return s
}

// setsFields reports whether a step sends values of custom fields only: an earlier one about the object shows them.
func (s *Step) setsFields() bool {
	return s.Action == planner.Update.String() && !slices.ContainsFunc(s.Changes, func(c Change) bool { return !resource.IsCustomName(c.Path) })
}

// members are those of a batch.
func (s *Step) members() []planner.Member {
	var all []planner.Member
	for _, m := range s.Members {
		all = append(all, planner.Member{Address: m.Address, ID: m.ID, Text: m.Text, Value: m.Value, Before: m.Before})
	}
	if len(all) > 0 {
		return all
	}
	for _, c := range s.Changes {
		for _, list := range []any{c.Before, c.After} {
			names, _ := list.([]string)
			for _, name := range names {
				all = append(all, planner.Member{Address: resource.Address(name)})
			}
		}
	}
	return all
}

func change(c Change) planner.Change {
	return planner.Change{
		Path: c.Path, Before: joined(c.Before), After: joined(c.After), Origin: planner.Origin(c.Origin),
		By: c.By, At: c.At, Possible: c.Possible == nil || *c.Possible, References: c.References,
	}
}

// joined is a value as a plan has it: an element a line where it is a list.
func joined(value any) *string {
	switch v := value.(type) {
	case string:
		return &v
	case []string:
		return new(strings.Join(v, "\n"))
	default:
		return nil
	}
}

func text[T ~string](s *T) T {
	if s == nil {
		return ""
	}
	return *s
}
