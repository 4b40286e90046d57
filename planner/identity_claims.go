package planner

import (
	"slices"
	"strconv"

	"github.com/planform/planform/internal/resource"
)

// claims tell who has what the service takes once within a parent, a name or planform's mark, and whether this run frees it.
type claims struct {
	analysis

	orphans *orphans
}

// findClaims reads the lists that show who has what objects are to get.
func findClaims(r analysis, orphans *orphans) *claims {
	c := &claims{r, orphans}
	for i := range r.objects.count() {
		f := &r.objects.states[i]
		if f.row == nil || f.presence != exists || f.info.list == nil || f.info.update == nil {
			continue
		}
		if slices.ContainsFunc(r.in.Desired[i].Values, func(v resource.Value) bool { return v.Field.Exclusive && !isOff(&v) }) {
			r.snapshot.list(f.info, f.parent)
		}
		for _, what := range c.of(i, r.in.Desired[i].Values) {
			have := claim{what.field, f.row.Text("external_id")}
			if what.field != nil {
				have.text, _ = what.field.ObservedIn(f.row)
			}
			if next, changes := c.changed(i, have, f.row); changes && next.text != "" {
				r.snapshot.list(f.info, f.parent)
			}
		}
	}
	return c
}

// claim is what an object is to get.
type claim struct {
	field *resource.Field // the name; nil = the mark
	text  string
}

// holder is who has it by now.
type holder struct {
	object objectID // the one of the manifest that gets another one in this run; none = there is none
	orphan *orphan  // that this run deletes; nil = there is none
	why    Cause    // if it stays taken
}

// changed are the claims of an object that a name or mark of its own replaces.
func (c *claims) changed(i objectID, what claim, row resource.Row) (next claim, changes bool) {
	o, f := c.in.Desired[i], &c.objects.states[i]
	if f.presence != exists || f.info.update == nil {
		return what, false
	}
	if what.field == nil {
		next = claim{text: c.in.marks().ID(o.Address)}
		return next, o.ID == "" && o.Identifier == "" && c.in.marks().Has(row, what.text) && next != what
	}
	v, given := o.Value(what.field.Name)
	if !given || o.Ignores(what.field) {
		return what, false
	}
	want, _ := v.Desired(nil) // a name refers to nothing
	next = claim{what.field, want}
	return next, next != what
}

// holder finds who has what an object is to get; nil = nobody.
func (c *claims) holder(i objectID, what claim) *holder { return c.find(i, what, map[objectID]bool{}) }

// find is holder for an object for which others wait that gets what they have.
func (c *claims) find(i objectID, what claim, waiting map[objectID]bool) *holder {
	f := &c.objects.states[i]
	if what.text == "" || !c.snapshot.listed(f.info, f.parent) {
		return nil
	}
	l, _ := c.snapshot.list(f.info, f.parent)
	rows := l.byExternalID(c.in.marks())[what.text]
	if what.field != nil {
		rows = l.byField(what.field)[what.text]
	}
	for _, row := range rows {
		// one that is replaced has no ID
		if by, owned := c.objects.owners[serviceID{f.info.kind.Name, row.ID()}]; row.ID() != f.id && (!owned || by != i) {
			waiting[i] = true
			return c.holderOf(i, what, row, waiting)
		}
	}
	return nil
}

func (c *claims) holderOf(i objectID, what claim, row resource.Row, waiting map[objectID]bool) *holder {
	k, id := c.in.Desired[i].Kind, serviceID{c.in.Desired[i].Kind.Name, row.ID()}
	taken := "the service has another " + k.Noun() + " " + strconv.Quote(what.text) + " (" + row.ID() + ")"
	if other, owned := c.objects.owners[id]; owned {
		a := string(c.in.Desired[other].Address)
		next, changes := c.changed(other, what, row)
		switch {
		case !changes:
			return &holder{object: noObject, why: refused(a + " has it, and the service takes it once")}
		case waiting[other]:
			return &holder{object: noObject, why: Cause{
				Code: Swapped,
				Text: "it is exchanged with another one, and the service takes each name once: give one of them a third name first",
			}}
		}
		if h := c.find(other, next, waiting); h != nil && h.why.exists() {
			why := h.why
			if why.Code != Swapped {
				why = why.after(a + " has it until then: ")
			}
			return &holder{object: noObject, why: why}
		}
		return &holder{object: other}
	}
	if a := c.objects.addressOf(id); a != "" {
		if l := c.orphans.byAddress[a]; l != nil && l.decision == toDelete {
			return &holder{object: noObject, orphan: l}
		}
		taken += ", which is " + string(a) + " in the state"
		if r := c.in.Prior[a]; c.in.isOrphan(a, &r) && !c.in.Prune {
			return &holder{object: noObject, why: refused(taken + ": --prune deletes it")}
		}
	}
	return &holder{object: noObject, why: refused(taken + ": give its `id` to use that one, or rename or delete one of them")}
}

// whyTaken returns what keeps a new object from getting its names and mark.
func (c *claims) whyTaken(i objectID) Cause {
	for _, what := range c.of(i, c.in.Desired[i].Values) {
		if h := c.holder(i, what); h != nil && h.why.exists() {
			return h.why
		}
	}
	return Cause{}
}

// of are the claims of a new object.
func (c *claims) of(i objectID, values []resource.Value) []claim {
	var list []claim
	for k := range values {
		if v := &values[k]; v.Field.Unique {
			want, _ := v.Desired(nil)
			list = append(list, claim{v.Field, want})
		}
	}
	if c.objects.states[i].info.externalIDs {
		list = append(list, claim{text: c.in.marks().ID(c.in.Desired[i].Address)})
	}
	return list
}

// order makes the steps that send a name or a mark wait for those that free it.
func (c *claims) order(list []*Step) {
	sends := func(s *Step, what claim) bool {
		if what.field == nil {
			return s.Write != nil && s.Write.SetExternalID
		}
		for _, v := range s.Values() {
			if v.Field == what.field {
				return true
			}
		}
		return false
	}
	about := map[resource.Address][]*Step{}
	for _, s := range list {
		if s.Object != nil && s.Members == nil && s.Action == Update || s.Action == Adopt {
			about[s.Address] = append(about[s.Address], s)
		}
	}
	for _, s := range list {
		if s.Object == nil || s.Operation == nil || s.Members != nil {
			continue
		}
		i, _ := c.objects.indexOf(s.Address)
		for _, what := range c.of(i, s.Object.Values) {
			if s.Action != Create && !sends(s, what) {
				continue
			}
			h := c.holder(i, what)
			switch {
			case h == nil:
			case h.object != noObject:
				for _, other := range about[c.in.Desired[h.object].Address] {
					if sends(other, what) {
						s.needs = append(s.needs, other)
					}
				}
			case h.orphan != nil && h.orphan.step != nil:
				s.needs = append(s.needs, h.orphan.step)
			}
		}
	}
}
