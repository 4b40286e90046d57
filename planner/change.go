package planner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// changes is the stage that plans the steps that create, update and adopt objects.
type changes struct {
	*World

	blockers *blockers
	steps    *steps
	plan     *Plan

	unchanged     []*resource.Object     // objects that need no step
	highestNumber map[scope]int          // the highest known readable number in each scope
	addedLinks    map[*Step]*Step        // by the create of an object: the step that adds links to its texts
	formerRecords map[siblings][]*Record // records of objects that the manifest no longer has; made when first needed
	newSecrets    map[objectID]bool      // objects that get a new secret
	takenFrom     map[resource.Owner]int // number of objects that an owner loses because the state knows them
	unlinked      map[*kindInfo]int      // number of objects whose texts stay without links
}

func planChanges(w *World, plan *Plan, steps *steps, blockers *blockers) *changes {
	b := &changes{
		World: w, blockers: blockers, steps: steps, plan: plan,
		newSecrets: map[objectID]bool{}, addedLinks: map[*Step]*Step{}, takenFrom: map[resource.Owner]int{}, unlinked: map[*kindInfo]int{},
	}
	b.findHighestNumbers()
	for i, o := range b.objects.all() {
		switch presence := b.objects.states[i].presence; presence {
		case absent, unsupported, indeterminate, notFound:
			if !o.Implied || presence == absent { // objects that need an implied one are made without it
				b.planCreate(i)
			}
		case hidden:
			b.keepHidden(i)
		case exists:
			b.planUpdate(i)
		case unbound, invalid: // the plan has errors already
		}
	}
	b.noticeUnlinked()
	return b
}

// blockTwins adds a step that is not possible for each object whose mark is on several rows: runs at the same time may have created one
// each. It warns of such marks that belong to no object of the manifest. The object stays bound to the row that the state knows.
func blockTwins(matched *identities, st *steps) {
	var unwanted diag.List
	twins := map[objectID]string{}
	for at, l := range st.snapshot.listings {
		if !at.kind.externalIDs || l.presence != exists || len(l.rows) == 0 {
			continue
		}
		for externalID, rows := range l.byExternalID(st.in.marks()) {
			if len(rows) < 2 {
				continue
			}
			what := countOf(len(rows), at.kind.kind) + " carry the mark of " + strings.TrimPrefix(externalID, st.in.Workspace+"/") + ": " +
				st.objects.enumerate(at.kind.kind, at.parent, rows)
			hint := matched.keepOneHint(at.kind.kind, at.parent, rows)
			if i, wanted := matched.byExternalID[externalID]; wanted {
				twins[i] = what + "; " + hint
				continue
			}
			unwanted.Add(diag.Diagnostic{Severity: diag.Warning, Code: "same-mark", Summary: what, Hint: hint})
		}
	}
	for _, i := range slices.Sorted(maps.Keys(twins)) {
		st.addBlocked(i, refused(twins[i]))
	}
	unwanted.Sort()
	st.diags.Add(unwanted...)
}

func (ch *changes) planUpdate(i objectID) {
	f := &ch.objects.states[i]
	switch {
	case ch.objects.staysArchived(i):
		ch.keepArchived(i)
		return
	case f.foreign:
		ch.leaveToOwner(i)
		return
	}
	d := ch.compare(i)
	custom := ch.splitCustomFields(i, &d, d.alwaysSent)
	ch.recordKnown(i)
	ch.planArchive(i)
	if ch.objects.isClosed(i) {
		ch.blockClosed(i, &d)
	} else if c := ch.externalIDChange(i); c != nil {
		d.send = append(d.send, difference{change: c})
	}
	ch.noteOverwritten(i, slices.Concat(d.send, d.late))
	ch.recordDrift(i, &d, custom)
	ch.blockers.addUnavailableRefs(i, &d)
	adopting, newSecret := f.matchedBy != "" || f.wasAnnounced, ch.in.NewSecrets && ch.objects.lacksSecret(i)
	if len(d.send)+len(d.late)+len(custom)+len(d.blocked) == 0 && (!adopting || ch.in.Pull) && !newSecret {
		if len(d.kept) == 0 {
			ch.unchanged = append(ch.unchanged, ch.in.Desired[i])
		}
		return
	}
	if len(d.send) > 0 || adopting {
		ch.addUpdate(i, &d, adopting)
	}
	ch.addLinks(i, &d)
	ch.setCustomFields(i, custom)
	ch.addBlocked(i, d.blocked)
	if newSecret {
		ch.planSecret(i)
	}
}

// noteOverwritten sets the origin Overwritten on changes of an adopted object that others made, because they set the former values.
func (ch *changes) noteOverwritten(i objectID, list []difference) {
	if ch.objects.states[i].matchedBy == "" || ch.createdByUs(i) {
		return
	}
	for _, d := range list {
		if d.change.Before != nil {
			d.change.Origin = Overwritten
		}
	}
}

// addUpdate adds the step that changes or adopts an object.
func (ch *changes) addUpdate(i objectID, d *differences, adopting bool) {
	f := &ch.objects.states[i]
	step := ch.steps.add(i, Update)
	if adopting {
		step.Action = Adopt
		step.Write.FoundBy = "found by " + cmp.Or(f.matchedBy, "its identifier")
		step.Write.CreatedByUs = step.Write.CreatedByUs || ch.createdByUs(i)
	}
	step.changes = changesOf(d.send)
	ch.steps.of[i] = step
	if len(d.send) > 0 {
		sent := valuesOf(d.send)
		ch.checkDates(i, sent)
		ch.checkRefused(i, sent)
		ch.checkGovernance(i)
		step.Operation, step.Write.Values, step.Write.SetExternalID = f.info.update, slices.Concat(sent, d.alwaysSent), len(sent) < len(d.send)
		step.alone = d.alone
	}
}

// leaveToOwner leaves an object of another owner unchanged. Each difference from the manifest becomes a change that is not possible.
func (ch *changes) leaveToOwner(i objectID) {
	owner, _ := ch.objects.ownerOf(i)
	d := ch.compare(i)
	ch.recordKnown(i)
	if v, op := ch.archiveOperation(i); op != nil {
		d.send = append(d.send, sentDifference(v))
	}
	var left differences
	for _, c := range changesOf(slices.Concat(d.send, d.late, d.blocked, d.kept)) {
		left.blockChange(c, refused("it belongs to "+owner.String()))
	}
	if len(left.blocked) == 0 {
		ch.unchanged = append(ch.unchanged, ch.in.Desired[i])
	}
	ch.addBlocked(i, left.blocked)
}

// createdByUs reports whether planform made an object: it bears the mark of the manifest's named owner, or an earlier run announced its
// create and it was recognised as the result.
func (ch *changes) createdByUs(i objectID) bool {
	f := &ch.objects.states[i]
	if owner, ours := f.row.Owner(); ours && owner == ch.in.Owner && owner != "" {
		return true
	}
	marked := ch.in.marks().On(f.row, ch.in.Desired[i].Address)
	return f.wasAnnounced && (marked || !f.info.externalIDs || f.matchedBy == foundByExternalID || f.matchedBy == foundByNumber)
}

// externalIDChange returns the change that puts planform's external ID on an object, or nil. See objects.needsMark for the objects that
// need one. For an object that changes its owner, the change shows the owners.
func (ch *changes) externalIDChange(i objectID) *Change {
	if !ch.objects.needsMark(i) {
		return nil
	}
	want := ch.in.marks().ID(ch.in.Desired[i].Address)
	row := ch.objects.states[i].row
	have := row.Text("external_id")
	owner, marked := row.Owner()
	moved := marked && owner != ch.in.Owner
	if why := ch.blockers.claims.whyClaimTaken(i, claim{text: want}); why.exists() {
		return nil // the mark would be on two objects
	}
	if moved && !ch.in.takesOver(ch.in.Desired[i]) {
		ch.takenFrom[owner]++
	}
	c := &Change{Path: "external_id", After: &want, Origin: FromManifest, Possible: true}
	if have != "" {
		c.Before = &have
	}
	if moved {
		c.Path, c.Before, c.After = "owner", diag.OrNull(string(owner)), diag.OrNull(string(ch.in.Owner))
	}
	return c
}

func (ch *changes) recordKnown(i objectID) {
	f, address := &ch.objects.states[i], ch.in.Desired[i].Address
	var known Record
	if f.prior != nil {
		known = *f.prior
	}
	known.Address, known.ID = address, f.id
	known.Identifier = cmp.Or(f.identifier, known.Identifier)
	ch.plan.Known[address] = known
}

func (ch *changes) planCreate(i objectID) {
	if root := ch.blockers.blocker(i); root != noObject {
		ch.steps.addBlocked(i, ch.blockers.cause(i, root))
		return
	}
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	if ch.lacksFields(i) {
		reason := "it is " + o.Origin.String() + ", and the manifest does not have enough fields to create it"
		ch.steps.addBlocked(i, refused(reason))
		return
	}
	if f.vanished {
		ch.diags.warn(o, "gone", string(o.Address)+" was deleted or archived on the service since the last apply and is created again", "")
	}
	predefined := ch.objects.isPredefined(i)
	if !predefined {
		ch.checkNew(i)
	}
	step := ch.steps.add(i, Create)
	step.Write.Announced = f.unconfirmed
	step.alone, step.Write.Replaces = f.maybeHidden, f.replaces
	step.Operation, step.Write.Newest = f.info.create, ch.highestNumber[scope{f.info, f.parent}]
	values, followUp, d := ch.splitValues(i)
	custom := ch.splitCustomFields(i, &d, values)
	step.Write.Values = append(values, valuesOf(d.send)...)
	ch.checkRefused(i, step.Write.Values)
	ch.checkRefused(i, followUp)
	if predefined {
		ch.adoptDefault(step)
	} else {
		step.Write.Values = ch.addInitial(o, step.Write.Values)
	}
	ch.steps.of[i] = step
	if len(followUp) > 0 && f.info.update != nil {
		ch.addFollowUpUpdate(i, followUp, d.alwaysSent)
	}
	ch.addLinks(i, &d)
	ch.setCustomFields(i, custom)
	ch.planArchive(i)
	ch.addBlocked(i, d.blocked)
}

// splitValues decides which request sends each value of a new object: the create, or an update right after it. Custom fields are in d.send.
func (ch *changes) splitValues(i objectID) (values, followUp []*resource.Value, d differences) {
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	values = make([]*resource.Value, 0, len(o.Values))
	ch.blockers.addUnavailableRefs(i, &d)
	fillsFirst, predefined := ch.addsMembersFirst(i), ch.objects.isPredefined(i)
	for k := range o.Values {
		v := &o.Values[k]
		unavailable, getsDefault := ch.blockers.whyUnavailable(i, v), ch.getsDefault(f, v)
		switch {
		case unavailable.exists():
			d.block(v, unavailable)
		case f.info.viaMembership(v.Field), v.Field.Type == resource.SecretFile: // the service generates the secret
		case v.Field.Past:
			if _, resolved := v.Desired(ch.refs.idResolver(i)); resolved { // a warning was added when the name was looked up
				values = ch.addAtCreation(i, v, values, &d)
			}
		case !getsDefault && !f.info.api.Sendable(v.Field):
			if !v.Null && !v.Field.ArchiveFlag {
				d.block(v, cannot(CannotSet))
			}
		case !getsDefault && v.Field.SetAfterCreate && ch.blockers.blockerOf(v) != noObject:
			d.block(v, ch.whyUnappliable(i, v))
		case isOff(v) && ch.neededByChildren(o, v.Field): // it is switched off after the children are made, see awaitGates
			values = append(values, &resource.Value{Field: v.Field, Text: "true", Position: v.Position})
			followUp = append(followUp, v)
		case getsDefault, fillsFirst && v.Field.Type == resource.Date, v.Field.SetAfterCreate && !predefined, v.Field.OnAfterCreate && v.Text == "true":
			followUp = append(followUp, v)
		case resource.IsCustom(v):
			if !v.Null {
				d.send = append(d.send, sentDifference(v))
			}
		default:
			values = ch.addAtCreation(i, v, values, &d)
		}
	}
	return values, followUp, d
}

// addAtCreation adds a value to the values that the create sends.
func (ch *changes) addAtCreation(i objectID, v *resource.Value, values []*resource.Value, d *differences) []*resource.Value {
	only := ch.withoutOutsiders(i, v, d)
	if only != v && only.Null {
		return values
	}
	only = ch.textAtCreation(i, only, d)
	d.alwaysSend(only)
	return append(values, only)
}

// lacksFields reports whether an object that was exported from another workspace lacks fields that a create needs.
func (ch *changes) lacksFields(i objectID) bool {
	o := ch.in.Desired[i]
	return o.Origin != nil && len(o.Missing()) > 0
}

// getsDefault reports whether the service gives a new object a default in a field that the manifest sets to null. An update right after
// the create clears the field.
func (ch *changes) getsDefault(f *objectState, v *resource.Value) bool {
	if !v.Null || f.info.update == nil {
		return false
	}
	id, _ := ch.steps.parentDefault(f, v.Field)
	return id != ""
}

func (ch *changes) addFollowUpUpdate(i objectID, values, alwaysSent []*resource.Value) {
	step := ch.steps.add(i, Update)
	step.Operation, step.changes, step.Write.Values = ch.objects.states[i].info.update, changesTo(values), slices.Concat(values, alwaysSent)
}

// splitCustomFields moves the values of custom fields out of the difference and returns them, unless they go into the request that sends
// others, as in API v2.
func (ch *changes) splitCustomFields(i objectID, d *differences, others []*resource.Value) (custom []difference) {
	if len(d.send) == 0 || ch.acceptsCustomFields(i) && resource.InV2(valuesOf(d.send, others...)) {
		return nil
	}
	all := d.send
	d.send = nil
	for _, one := range all {
		if resource.IsCustom(one.value) {
			custom = append(custom, one)
		} else {
			d.send = append(d.send, one)
		}
	}
	return custom
}

// acceptsCustomFields reports whether requests that write an object can have custom fields, as in API v2.
func (ch *changes) acceptsCustomFields(i objectID) bool {
	_, v2 := ch.objects.states[i].info.kind.Op(resource.UpdateMany, ch.in.API)
	return v2
}

// setCustomFields plans separate requests for values of custom fields: one for each value, or one for all in API v2.
func (ch *changes) setCustomFields(i objectID, custom []difference) {
	size := 1
	if ch.acceptsCustomFields(i) {
		size = max(1, len(custom))
	}
	for some := range slices.Chunk(custom, size) {
		step := ch.steps.add(i, Update)
		step.Write.Values, step.changes = valuesOf(some), changesOf(some)
		step.Operation = ch.objects.states[i].info.update
		if !ch.acceptsCustomFields(i) {
			step.Operation = resource.CustomFieldOp(some[0].value)
		}
	}
}

// adoptDefault turns the create of an object that the service makes with its parent into an adoption.
func (ch *changes) adoptDefault(step *Step) {
	k := step.Kind
	step.Action, step.Operation = Adopt, nil
	step.Write.FoundBy = "each new " + resource.MustLookup(k.Parent).Noun() + " has it"
	step.Write.Values = slices.DeleteFunc(step.Values(), func(v *resource.Value) bool { return slices.Contains(k.NaturalKey, v.Field.Name) })
	if len(step.Values()) > 0 {
		step.Operation, _ = k.Op(resource.Update, ch.objects.kinds[k].api)
		step.changes = changesTo(step.Values())
	}
}

func (ch *changes) addInitial(o *resource.Object, values []*resource.Value) []*resource.Value {
	for i := range o.Kind.Fields {
		if f := &o.Kind.Fields[i]; o.Initial(f) != "" && ch.objects.kinds[o.Kind].api.Sendable(f) {
			values = append(values, &resource.Value{Field: f, Text: o.Initial(f), Position: o.Position})
		}
	}
	return values
}

// findHighestNumbers finds the highest known readable number in each scope. New objects get higher numbers.
func (ch *changes) findHighestNumbers() {
	ch.highestNumber = map[scope]int{}
	for i := range ch.objects.count() {
		if f := &ch.objects.states[i]; f.presence == exists && f.identifier != "" && f.parent != noObject {
			at := scope{f.info, f.parent}
			ch.highestNumber[at] = max(ch.highestNumber[at], numberOf(ch.objects.states[f.parent].identifier, f.identifier))
		}
	}
}

// planSecret plans the request for a new secret.
func (ch *changes) planSecret(i objectID) {
	v := ch.in.Desired[i].SecretValue()
	step := ch.steps.add(i, Update)
	step.Operation, _ = step.Kind.Op(resource.NewSecret, ch.in.API)
	step.Write.Values = []*resource.Value{v}
	step.changes = []*Change{{
		Path: v.Field.Name, Before: new("the present secret, which stops working"), After: new("a new one, in " + v.Text), Origin: FromManifest, Possible: true,
	}}
	ch.newSecrets[i] = true
}

// addsMembersFirst reports whether a new object gets its dates only after its members are added, because the dates close it.
func (ch *changes) addsMembersFirst(i objectID) bool {
	return ch.objects.states[i].info.update != nil && ch.objects.willBeClosed(i) && slices.ContainsFunc(ch.memberships.sets,
		func(s *memberSet) bool {
			return s.object == i && slices.ContainsFunc(s.wanted, func(e *member) bool { return !s.isIn(e) })
		})
}
