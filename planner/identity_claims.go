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
		takes := slices.ContainsFunc(values, func(v resource.Value) bool { return v.Field.Exclusive && !isOff(&v) })
		for _, has := range c.uniqueValues(i, values) {
			has.text = f.row.Text("external_id")
			if has.field != nil {
				has.text, _ = has.field.ObservedIn(f.row)
			}
			next, changes := c.nextClaim(i, has, f.row)
			takes = takes || changes && next.text != ""
		}
		if takes {
			r.snapshot.list(f.info, f.parent)
		}
	}
	return c
}

// uniqueValues returns the unique values of an object: its names and its mark.
func (c *claims) uniqueValues(i objectID, values []resource.Value) (list []claim) {
	for k := range values {
		if v := &values[k]; v.Field.Unique {
			want, _ := v.Desired(nil) // a name has no references
			list = append(list, claim{v.Field, want})
		}
	}
	if c.objects.states[i].info.externalIDs {
		list = append(list, claim{text: c.in.marks().ID(c.in.Desired[i].Address)})
	}
	return list
}

// nextClaim returns the value that an object will have instead of its current one, and whether it changes.
func (c *claims) nextClaim(i objectID, has claim, row resource.Row) (next claim, changes bool) {
	o, f := c.in.Desired[i], &c.objects.states[i]
	if f.presence != exists || f.info.update == nil {
		return has, false
	}
	if has.field == nil {
		next = claim{text: c.in.marks().ID(o.Address)}
		return next, o.ID == "" && o.Identifier == "" && c.in.marks().Has(row, has.text) && next != has
	}
	v, given := o.Value(has.field.Name)
	if !given || o.Ignores(has.field) {
		return has, false
	}
	want, _ := v.Desired(nil)
	next = claim{has.field, want}
	return next, next != has
}

// whyClaimTaken returns the cause why an object cannot take a value, if another object keeps it.
func (c *claims) whyClaimTaken(i objectID, what claim) Cause {
	return c.findHolder(i, what, map[objectID]bool{}).why
}

// findHolder finds the holder of a claimed value. If the holder changes to a value that a third object has, it continues with that value.
// waiting has the objects of this chain, to detect an exchange of values.
func (c *claims) findHolder(i objectID, what claim, waiting map[objectID]bool) holder {
	f := &c.objects.states[i]
	nobody := holder{object: noObject}
	if what.text == "" || !c.snapshot.isListed(f.info, f.parent) {
		return nobody
	}
	l, _ := c.snapshot.list(f.info, f.parent)
	rows := l.byExternalID(c.in.marks())[what.text]
	if what.field != nil {
		rows = l.byField(what.field)[what.text]
	}
	at := slices.IndexFunc(rows, func(row resource.Row) bool { // an object that is replaced has no ID
		by, owned := c.objects.owners[serviceID{f.info.kind.Name, row.ID()}]
		return row.ID() != f.id && (!owned || by != i)
	})
	if at < 0 {
		return nobody
	}
	other, owned := c.objects.owners[serviceID{f.info.kind.Name, rows[at].ID()}]
	if !owned {
		return c.unwantedHolder(f.info.kind, what, rows[at])
	}
	waiting[i] = true
	a := string(c.in.Desired[other].Address)
	next, changes := c.nextClaim(other, what, rows[at])
	switch {
	case !changes:
		nobody.why = refused(a + " has it, and the service takes it once")
		return nobody
	case waiting[other]:
		nobody.why = Cause{
			Code: Swapped, Text: "two objects exchange it, and the service takes each name once: give one of them a third name first",
		}
		return nobody
	}
	switch why := c.findHolder(other, next, waiting).why; why.Code {
	case NoCause:
		return holder{object: other}
	case Swapped:
		return holder{object: noObject, why: why}
	default:
		return holder{object: noObject, why: why.withPrefix(a + " has it until then: ")}
	}
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
	for _, what := range c.uniqueValues(i, c.in.Desired[i].Values) {
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
	frees := map[held][]*Step{}
	each := func(visit func(*Step, claim)) {
		for _, s := range list {
			if s.Object == nil || s.Operation == nil || s.Write == nil {
				continue
			}
			for _, what := range c.uniqueValues(s.at, s.Object.Values) {
				if s.Action == Create || what.field == nil && s.Write.SetExternalID ||
					slices.ContainsFunc(s.Values(), func(v *resource.Value) bool { return v.Field == what.field }) {
					visit(s, what)
				}
			}
		}
	}
	each(func(s *Step, what claim) {
		if s.Action != Create {
			frees[held{s.at, what.field}] = append(frees[held{s.at, what.field}], s)
		}
	})
	each(func(s *Step, what claim) {
		h := c.findHolder(s.at, what, map[objectID]bool{})
		if s.needs = append(s.needs, frees[held{h.object, what.field}]...); h.orphan != nil && h.orphan.step != nil {
			s.needs = append(s.needs, h.orphan.step)
		}
	})
}
