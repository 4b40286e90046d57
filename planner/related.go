package planner

import (
	"maps"
	"slices"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// related finds members of a relation that stand in another one to the object
// already: the service keeps one of two objects, and passes over a second in silence.
func (s *Snapshot) related(r *memberSet) {
	if r.kind.Membership.Inverse == "" || !r.read {
		return
	}
	for i := range r.entries {
		e := &r.entries[i]
		id := s.memberID(r, *e)
		if id == "" || s.isIn(r, *e) {
			continue
		}
		for _, other := range resource.Memberships() {
			if m := other.Membership; other == r.kind || m.Inverse == "" || m.Container != r.kind.Membership.Container {
				continue
			}
			op, _ := other.Op(resource.ListMembers, s.in.API)
			a, answered := s.ask(Read{Operation: op, Path: r.path}) // the same answer tells all of them
			if answered && slices.ContainsFunc(a.Rows, func(row resource.Row) bool { return other.Membership.MemberID(row) == id }) {
				e.other = other.Membership.Field
			}
		}
	}
}

// blockRelated says of which members the service would not take a relation.
func (b *builder) blockRelated(r *memberSet, entries []memberRef, n int) {
	for _, e := range entries {
		n++
		step := &Step{
			Address: r.container.Address.Members(r.kind.Membership.Plural(), n), Action: NotPossible, Kind: r.kind, ID: r.container.ID, Position: e.ref.Position,
			Members: &Members{Container: r.container, Items: []Member{b.member(r, e)}},
			Reason:  "they are already related as " + e.other + ", and the service keeps one relation between two " + diag.Plural(resource.MustLookup(r.kind.Membership.Member).Noun()),
		}
		rank := resource.Order(r.kind.Name)
		b.steps[rank] = append(b.steps[rank], step)
	}
}

// removable reports whether this edition can take members out of a container, as far
// as asking tells: a route of its own may be missing where the others are there, or know
// a member by another ID than the list shows.
func (s *Snapshot) removable(d *removal) (can, known bool) {
	op, ok := d.kind.Op(resource.RemoveMembers, s.in.API)
	get, readable := d.kind.Op(resource.Get, s.in.API)
	if !ok || op.Method == "DELETE" && !readable {
		return ok, true
	}
	read, asked := s.probes[d.kind]
	if !asked {
		params := maps.Clone(d.params)
		if readable {
			op, params[resource.MustLookup(d.kind.Membership.Member).Param] = get, d.ids[0]
		}
		path, missing := op.Expand(params)
		if missing != "" {
			return true, true
		}
		read = Read{Operation: op, Path: path, Probe: !readable, Optional: readable}
		if s.probes == nil {
			s.probes = map[*resource.Kind]Read{}
		}
		s.probes[d.kind] = read
	}
	a, answered := s.ask(read)
	return !a.Unsupported && !a.NotFound, answered
}
