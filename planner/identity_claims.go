package planner

import (
	"slices"
	"strconv"

	"github.com/planform/planform/internal/plane/resource"
)

// claims is the stage that finds conflicts about values that must be unique within a parent: names, and planform's marks.
type claims struct {
	analysis

	orphans *orphans
}

// claim is a unique value that an object is about to take.
type claim struct {
	field *resource.Field // the name; nil = the mark
	text  string
}

// holder is the object that has a claimed value now, with the way in which the value becomes free.
type holder struct {
	object objectID // an object of the manifest that takes another value in this run, or noObject
	orphan *orphan  // an orphan that this run deletes, or nil
	why    Cause    // the cause why the value stays taken
}

// findClaims reads the lists that show the holders of values that objects are about to take.
func findClaims(r analysis, orphans *orphans) *claims {
	c := &claims{r, orphans}
	for i := range r.objects.count() {
		f, values := &r.objects.states[i], r.in.Desired[i].Values
		if f.row == nil || f.presence != exists || f.info.list == nil || f.info.update == nil {
			continue
		}
		if slices.ContainsFunc(values, func(v resource.Value) bool { return v.Field.Exclusive && !isOff(&v) }) ||
			slices.ContainsFunc(c.uniqueValues(i), func(what claim) bool {
				has, next := c.change(i, what.field, f.row)
				return has != next && next != ""
			}) {
			r.snapshot.list(f.info, f.parent)
		}
	}
	return c
}

// uniqueValues returns the unique values of an object of the manifest: its names and its mark.
func (c *claims) uniqueValues(i objectID) (list []claim) {
	o := c.in.Desired[i]
	for k := range o.Values {
		if v := &o.Values[k]; v.Field.Unique {
			want, _ := v.Desired(nil) // a name has no references
			list = append(list, claim{v.Field, want})
		}
	}
	if c.objects.states[i].info.externalIDs {
		list = append(list, claim{text: c.in.marks().ID(o.Address)})
	}
	return list
}

// change returns the text that an object has in a unique field, or as its mark, and the text that it will have.
func (c *claims) change(i objectID, field *resource.Field, row resource.Row) (has, next string) {
	o, f := c.in.Desired[i], &c.objects.states[i]
	has = row.Text("external_id")
	if field != nil {
		has, _ = field.ObservedIn(row)
	}
	next = has
	switch {
	case f.presence != exists || f.info.update == nil:
	case field == nil:
		if o.ID == "" && o.Identifier == "" && c.in.marks().Has(row, has) {
			next = c.in.marks().ID(o.Address)
		}
	case !o.Ignores(field):
		if v, given := o.Value(field.Name); given {
			next, _ = v.Desired(nil)
		}
	}
	return has, next
}

// whyClaimTaken returns the cause why an object cannot take a value, if another object keeps it.
func (c *claims) whyClaimTaken(i objectID, what claim) Cause {
	return c.findHolder(i, what, map[objectID]bool{}).why
}

// findHolder finds the holder of a claimed value. If the holder changes to a value that a third object has, that object must change first.
// waiting has the objects of this chain, to detect an exchange of values.
func (c *claims) findHolder(i objectID, what claim, waiting map[objectID]bool) holder {
	f := &c.objects.states[i]
	if what.text == "" || !c.snapshot.isListed(f.info, f.parent) {
		return holder{object: noObject}
	}
	l, _ := c.snapshot.list(f.info, f.parent)
	rows := l.byExternalID(c.in.marks())[what.text]
	if what.field != nil {
		rows = l.byField(what.field)[what.text]
	}
	for _, row := range rows {
		other, owned := c.objects.owners[serviceID{f.info.kind.Name, row.ID()}]
		switch {
		case row.ID() == f.id || owned && other == i: // an object that is replaced has no ID
			continue
		case !owned:
			return c.unwantedHolder(f.info.kind, what, row)
		}
		waiting[i] = true
		h, address := holder{object: other}, string(c.in.Desired[other].Address)
		switch has, next := c.change(other, what.field, row); {
		case has == next:
			h.why = refused(address + " has it, and the service takes it once")
		case waiting[other]:
			h.why = refused("two objects exchange it, and the service takes each name once: give one of them a third name first")
		default:
			if h.why = c.findHolder(other, claim{what.field, next}, waiting).why; h.why.exists() {
				h.why = h.why.withPrefix(address + " has it until then: ")
			}
		}
		return h
	}
	return holder{object: noObject}
}

// unwantedHolder returns the holder of a value that no object of the manifest has.
func (c *claims) unwantedHolder(k *resource.Kind, what claim, row resource.Row) holder {
	taken := "the service has another " + k.Noun() + " " + strconv.Quote(what.text) + " (" + row.ID() + ")"
	if a := c.objects.addressOf(serviceID{k.Name, row.ID()}); a != "" {
		if l := c.orphans.byAddress[a]; l != nil && l.decision == toDelete {
			return holder{object: noObject, orphan: l}
		}
		taken += ", which is " + string(a) + " in the state"
		if r := c.in.Prior[a]; c.in.isOrphan(a, &r) && !c.in.Prune {
			return holder{object: noObject, why: refused(taken + ": --prune deletes it")}
		}
	}
	return holder{object: noObject, why: refused(taken + ": give its `id` to use that one, or rename or delete one of them")}
}

// whyNamesTaken returns the cause why a new object cannot take its names or its mark, if any.
func (c *claims) whyNamesTaken(i objectID) Cause {
	for _, what := range c.uniqueValues(i) {
		if why := c.whyClaimTaken(i, what); why.exists() {
			return why
		}
	}
	return Cause{}
}

// awaitFreedValues makes the steps that take a name or a mark wait for the steps that free it.
func (c *claims) awaitFreedValues(list []*Step) {
	type held struct {
		object objectID
		field  *resource.Field
	}
	frees, takes := map[held][]*Step{}, map[*Step][]claim{}
	for _, s := range list {
		if s.Object == nil || s.Operation == nil || s.Write == nil {
			continue
		}
		for _, what := range c.uniqueValues(s.at) {
			switch {
			case s.Action == Create:
			case what.field == nil && s.Write.SetExternalID || slices.ContainsFunc(s.Values(), func(v *resource.Value) bool { return v.Field == what.field }):
				frees[held{s.at, what.field}] = append(frees[held{s.at, what.field}], s)
			default:
				continue
			}
			takes[s] = append(takes[s], what)
		}
	}
	for s, all := range takes {
		for _, what := range all {
			h := c.findHolder(s.at, what, map[objectID]bool{})
			if s.needs = append(s.needs, frees[held{h.object, what.field}]...); h.orphan != nil && h.orphan.step != nil {
				s.needs = append(s.needs, h.orphan.step)
			}
		}
	}
}
