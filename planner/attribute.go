package planner

import (
	"cmp"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// Note is what is said of a member behind its name, such as " (guest)": what is to be
// different, or is not as usual.
func (m *Member) Note(of *resource.Membership) string {
	switch {
	case m.Before != "":
		return " (" + m.Before + " -> " + m.Value + ")"
	case of.Attribute == nil || m.Value == "" || m.Value == of.Attribute.Default:
		return ""
	default:
		return " (" + m.Value + ")"
	}
}

// AttributeKey is under what the record of a container's members has the attribute of one of them.
func AttributeKey(a *resource.Attribute, id string) string { return a.Name + " " + id }

// readOwnAttributes reads what the members have themselves, where some that the manifest says
// nothing of may be new.
func (s *Snapshot) readOwnAttributes(r *memberSet) {
	if r.kind.Membership.Attribute == nil || s.in.API != resource.Full {
		return
	}
	for _, e := range r.entries {
		if e.ref.Attribute == "" && !s.isIn(r, e) {
			s.list(s.kinds[resource.MustLookup(r.kind.Membership.Member)], none)
			return
		}
	}
}

// ownAttribute is what a member has itself under the name of the attribute, or "".
func (s *Snapshot) ownAttribute(r *memberSet, id string) string {
	t := s.kinds[resource.MustLookup(r.kind.Membership.Member)]
	if !s.listed(t, none) {
		return ""
	}
	l, _ := s.list(t, none)
	for _, row := range l.ids()[id] {
		return r.kind.Membership.Attribute.Shown(row)
	}
	return ""
}

// newAttribute is what the attribute of a new member is to be.
func (s *Snapshot) newAttribute(r *memberSet, e memberRef, id string) string {
	a := r.kind.Membership.Attribute
	if a == nil {
		return ""
	}
	return cmp.Or(e.ref.Attribute, a.DefaultFor(s.ownAttribute(r, id)))
}

// updateAttributes brings the attributes of those who are in a container to what the manifest says.
func (b *builder) updateAttributes(r *memberSet, n int) {
	if r.kind.Membership.Attribute == nil {
		return
	}
	unseen := 0
	var at diag.Position
	for _, e := range r.entries {
		if e.ref.Attribute == "" || !b.isIn(r, e) {
			continue
		}
		step, known := b.updateAttribute(r, e)
		if !known {
			unseen++
			at = e.ref.Position
		}
		if step == nil {
			continue
		}
		n++
		step.Address = r.container.Address.Members(r.kind.Membership.Plural(), n)
		rank := resource.Order(r.kind.Name)
		b.steps[rank] = append(b.steps[rank], step)
	}
	if unseen > 0 {
		b.diags.Add(diag.Diagnostic{
			Severity: diag.Warning, Code: "not-shown", Position: at, Address: string(r.container.Address),
			Summary: "the service does not show the " + r.kind.Membership.Attribute.Name + " of " + countOf(unseen, resource.MustLookup(r.kind.Membership.Member)) + " of " + string(r.container.Address) + ": it is not compared",
		})
	}
}

// updateAttribute plans the change of one member's attribute; nil = there is none. known is
// false where nothing tells what it is.
func (b *builder) updateAttribute(r *memberSet, e memberRef) (step *Step, known bool) {
	a, id := r.kind.Membership.Attribute, b.memberID(r, e)
	prior := b.in.Prior[r.address()]
	applied := prior.Values[AttributeKey(a, id)]
	row, listed := r.rows[id]
	have := a.Shown(row)
	shown := have != ""
	if !shown {
		if have = applied; have == "" && b.ownAttribute(r, id) == a.Values[0] {
			have = a.Values[0] // nobody has less, nor more than that here
		}
	}
	want := e.ref.Attribute
	if have == want || have == "" {
		return nil, have != ""
	}
	member := b.member(r, e)
	member.Value, member.Before = want, have
	before := member
	before.Value, before.Before = have, ""
	change := Change{
		Path: r.kind.Membership.Path(), Origin: FromManifest, Possible: true,
		Before: new(before.Text + " (" + have + ")"), After: new(before.Text + " (" + want + ")"),
	}
	if shown && applied != "" && applied != have {
		change.Origin = FromDrift
	}
	step = &Step{
		Action: Update, Kind: r.kind, ID: r.container.ID, Position: e.ref.Position,
		Members: &Members{Container: r.container, Items: []Member{member}},
	}
	op, offered := r.kind.Op(resource.UpdateMember, b.in.API)
	switch {
	case !offered, listed && !shown:
		step.Action, change.Possible = NotPossible, false
		step.Reason = "this edition of the service neither shows nor changes the " + a.Name + " of members of " + diag.A(resource.MustLookup(r.kind.Membership.Container).Noun())
	default:
		step.Operation = op
		if _, own := row[r.kind.Membership.Member]; own { // the row is the membership
			step.Params = map[string]string{resource.MustLookup(r.kind.Membership.Member).Param: row.ID()}
		}
	}
	if change.Origin == FromDrift && r.container.Object != nil {
		kept := b.in.OnDrift == Keep
		b.plan.Drift = append(b.plan.Drift, Drift{r.container.Object, &change, kept})
		if kept {
			b.plan.Summary.Kept++
			return nil, true
		}
	}
	step.changes = []Change{change}
	return step, true
}
