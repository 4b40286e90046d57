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

// findOutsiders finds the people that fields name though they do not belong to what the thing lives in.
func (s *Survey) findOutsiders() {
	if len(s.reads) > 0 {
		return // it is not clear yet who is wanted in
	}
	inside := map[entrance]*insiders{}
	for _, n := range s.refs {
		if n.t.field.Among == "" || n.t.field.Type != resource.RefSet || !s.mayBeSent(n) {
			continue
		}
		via := resource.Must(n.t.field.Among)
		at := entrance{via: via, container: s.ancestor(n.by, s.kinds[resource.Must(via.Membership.Container)])}
		if inside[at] == nil {
			inside[at] = s.insidersOf(at)
		}
		in := inside[at]
		for j := range n.v.Refs {
			r := &n.v.Refs[j]
			if _, id, ok := s.target(n.by, n.t, r); ok && in.known && !in.ids[id] && s.isOutsider(at, id) {
				if s.outsiders == nil {
					s.outsiders = map[*resource.Value][]*resource.Reference{}
				}
				s.outsiders[n.v] = append(s.outsiders[n.v], r)
			}
		}
	}
}

// mayBeSent reports whether a field of a thing may be sent: what is as it should be shows who is in.
func (s *Survey) mayBeSent(n naming) bool {
	f := &s.facts[n.by]
	switch f.standing {
	case absent:
		return f.traits.create != nil
	case there:
		_, _, differs := s.compare(n.v, f, s.resolve(n.by))
		return differs
	case pending, unknown, lacking, broken, missing, hidden:
	}
	return false
}

// insidersOf gathers who belongs to a container, or is to belong to it.
func (s *Survey) insidersOf(at entrance) *insiders {
	in := &insiders{ids: map[string]bool{}}
	list, ok := at.via.Op(resource.ListMembers, s.in.API)
	if at.container == none || !ok {
		return in
	}
	for _, r := range s.rosters {
		if r.kind == at.via && r.object == at.container {
			for _, e := range r.entries {
				in.ids[s.memberID(r, e)] = true
			}
		}
	}
	f := &s.facts[at.container]
	switch f.standing {
	case absent: // who leads it is let in when it is made
		for _, n := range s.namings(at.container) {
			for j := range n.v.Refs {
				if _, id, ok := s.target(n.by, n.t, &n.v.Refs[j]); ok && n.t.field.Joins {
					in.ids[id] = true
				}
			}
		}
		in.known = true
	case there:
		path, _ := list.Expand(s.params(at.container))
		read := Read{Operation: list, Path: path}
		_, have := s.in.Observed[read]
		read.Optional = !have
		a, answered := s.ask(read)
		in.known = answered && len(a.Rows) > 0 // somebody is always in
		for _, row := range a.Rows {
			in.ids[at.via.Membership.MemberID(row)] = true
		}
	case pending, unknown, lacking, broken, missing, hidden:
	}
	return in
}

// isOutsider reports false for the credential's own user in a project that is still to be created: its creator is a member.
func (s *Survey) isOutsider(at entrance, id string) bool {
	if s.facts[at.container].standing == there {
		return true
	}
	self := s.self(s.kinds[resource.Must(at.via.Membership.Member)])
	return self != "" && self != id
}

// self is the ID of whom the credential belongs to; "" = it is not known, or t has no such thing.
func (s *Survey) self(t *traits) string {
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
	container := resource.Must(resource.Must(v.Field.Among).Membership.Container)
	at := b.in.Desired[b.ancestor(int32(i), b.kinds[container])] //nolint:gosec // there are fewer things than 2^31
	d.stuck = append(d.stuck, c)
	d.causes = append(d.causes, "the service takes only members of "+string(at.Address)+" as "+v.Field.Name+": write "+strings.Join(names, ", ")+" among its members")
	only := *v
	only.Refs = slices.DeleteFunc(slices.Clone(v.Refs), func(r resource.Reference) bool {
		return slices.ContainsFunc(out, func(o *resource.Reference) bool { return o.Position == r.Position && o.Text == r.Text })
	})
	only.Null = len(only.Refs) == 0
	return &only
}
