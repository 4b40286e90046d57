package planner

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/resource"
)

// Out of a set of people the service drops who does not belong to the project, in
// silence and each time: what is known of that is said, and not sent.

// insiders is who belongs to a container, by what is known.
type insiders struct {
	known bool
	ids   map[string]bool
}

// findOutsiders finds the people that fields name though they do not belong to what the object lives in.
func (s *Snapshot) findOutsiders() {
	if len(s.reads) > 0 {
		return // it is not clear yet who is wanted in
	}
	inside := map[prerequisite]*insiders{}
	for _, n := range s.refs {
		if n.field.field.MustBeMemberOf == "" || n.field.field.Type != resource.RefSet || !s.mayBeSent(n) {
			continue
		}
		via := resource.MustLookup(n.field.field.MustBeMemberOf)
		at := prerequisite{via: via, container: s.ancestor(n.by, s.kinds[resource.MustLookup(via.Membership.Container)])}
		if inside[at] == nil {
			inside[at] = s.insidersOf(at)
		}
		in := inside[at]
		for j := range n.value.Refs {
			r := &n.value.Refs[j]
			if _, id, ok := s.target(n.by, n.field, r); ok && in.known && !in.ids[id] && s.isOutsider(at, id) {
				if s.outsiders == nil {
					s.outsiders = map[*resource.Value][]*resource.Reference{}
				}
				s.outsiders[n.value] = append(s.outsiders[n.value], r)
			}
		}
	}
}

// mayBeSent reports whether a field of an object may be sent: what is as it should be shows who is in.
func (s *Snapshot) mayBeSent(n refUse) bool {
	f := &s.states[n.by]
	switch f.presence {
	case absent:
		return f.info.create != nil
	case exists:
		_, _, differs := s.compare(n.value, f, s.resolve(n.by))
		return differs
	case pending, indeterminate, unsupported, invalid, notFound, hidden:
	}
	return false
}

// insidersOf gathers who belongs to a container, or is to belong to it.
func (s *Snapshot) insidersOf(at prerequisite) *insiders {
	in := &insiders{ids: map[string]bool{}}
	list, ok := at.via.Op(resource.ListMembers, s.in.API)
	if at.container == none || !ok {
		return in
	}
	for _, r := range s.memberSets {
		if r.kind == at.via && r.object == at.container {
			for _, e := range r.entries {
				in.ids[s.memberID(r, e)] = true
			}
		}
	}
	f := &s.states[at.container]
	switch f.presence {
	case absent: // who leads it is let in when it is made
		for _, n := range s.refUses(at.container) {
			for j := range n.value.Refs {
				if _, id, ok := s.target(n.by, n.field, &n.value.Refs[j]); ok && n.field.field.AddsMember {
					in.ids[id] = true
				}
			}
		}
		in.known = true
	case exists:
		path, _ := list.Expand(s.params(at.container))
		read := Read{Operation: list, Path: path}
		_, have := s.in.Observed[read]
		read.Optional = !have
		a, answered := s.ask(read)
		in.known = answered && len(a.Rows) > 0 // somebody is always in
		for _, row := range a.Rows {
			in.ids[at.via.Membership.MemberID(row)] = true
		}
	case pending, indeterminate, unsupported, invalid, notFound, hidden:
	}
	return in
}

// isOutsider reports false for the credential's own user in a project that is still to be created: its creator is a member.
func (s *Snapshot) isOutsider(at prerequisite, id string) bool {
	if s.states[at.container].presence == exists {
		return true
	}
	self := s.self(s.kinds[resource.MustLookup(at.via.Membership.Member)])
	return self != "" && self != id
}

// self is the ID of whom the credential belongs to; "" = it is not known, or t has no such object.
func (s *Snapshot) self(t *kindInfo) string {
	if t.self == nil {
		return ""
	}
	path, _ := t.self.Expand(nil)
	read := Read{Operation: t.self, Path: path}
	_, have := s.in.Observed[read]
	read.Optional = !have
	a, answered := s.ask(read)
	if !answered || len(a.Rows) == 0 {
		return ""
	}
	return a.Rows[0].ID()
}

// insidersOnly is a value without the outsiders, who are noted as what is not possible.
func (b *builder) insidersOnly(i int, v *resource.Value, d *difference) *resource.Value {
	out := b.outsiders[v]
	if len(out) == 0 {
		return v
	}
	c := b.change(v, FromManifest)
	names := make([]string, len(out))
	for k, r := range out {
		names[k] = r.Text
	}
	container := resource.MustLookup(resource.MustLookup(v.Field.MustBeMemberOf).Membership.Container)
	at := b.in.Desired[b.ancestor(i, b.kinds[container])]
	d.unappliable = append(d.unappliable, c)
	d.causes = append(d.causes, "the service accepts only members of "+string(at.Address)+" as "+v.Field.Name+": add "+strings.Join(names, ", ")+" to its members")
	only := *v
	only.Refs = slices.DeleteFunc(slices.Clone(v.Refs), func(r resource.Reference) bool {
		return slices.ContainsFunc(out, func(o *resource.Reference) bool { return o.Position == r.Position && o.Text == r.Text })
	})
	only.Null = len(only.Refs) == 0
	return &only
}
