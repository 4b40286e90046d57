package planner

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// changes is the stage that plans the steps that create, update and adopt objects.
type changes struct {
	analysis

	refs        *references
	differ      *comparer
	memberships *memberships
	orphans     *orphans
	outsiders   *outsiders
	blockers    *blockers
	checks      *checks
	steps       *steps
	plan        *Plan

	unchanged     []*resource.Object // objects that need no step
	highestNumber map[scope]int      // the highest known readable number in each scope
	addedLinks    []addedLinks
	formerRecords map[siblings][]*Record // records of objects that the manifest no longer has; made when first needed
	newSecrets    map[objectID]bool      // objects that get a new secret
	takenFrom     map[resource.Owner]int // number of objects that an owner loses because the state knows them
	unlinked      map[*kindInfo]int      // number of objects whose texts stay without links
}

func planChanges(plan *Plan, steps *steps, blockers *blockers, differ *comparer, memberships *memberships, orphans *orphans,
	outsiders *outsiders,
) *changes {
	b := &changes{
		analysis: steps.analysis, refs: differ.refs, differ: differ,
		memberships: memberships, orphans: orphans, outsiders: outsiders, blockers: blockers, checks: &checks{steps.analysis}, steps: steps,
		plan: plan, newSecrets: map[objectID]bool{}, takenFrom: map[resource.Owner]int{}, unlinked: map[*kindInfo]int{},
	}
	b.findHighestNumbers()
	b.findReplaced()
	for i := range b.objects.count() {
		switch b.objects.states[i].presence {
		case absent, unsupported, indeterminate, notFound:
			if !b.in.Desired[i].Implied || b.objects.states[i].presence == absent { // objects that need an implied one are made without it
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
			if i, wanted := matched.ownersByExternalID()[externalID]; wanted {
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
	if ch.objects.staysArchived(i) {
		ch.keepArchived(i)
		return
	}
	if f.foreign {
		ch.leaveToOwner(i)
		return
	}
	d := ch.compare(i)
	var custom fieldDiff
	if !ch.sharesRequest(i, slices.Concat(d.send, d.alwaysSent)) {
		custom = d.splitCustomFields()
	}
	ch.recordKnown(i)
	ch.planArchive(i)
	externalID := ch.externalIDChange(i)
	if ch.objects.isClosed(i) {
		ch.checks.blockClosed(i, &d)
		externalID = nil
	}
	if externalID != nil {
		d.changes = append(d.changes, *externalID)
	}
	ch.noteOverwritten(i, d.changes)
	ch.noteOverwritten(i, d.late.changes)
	ch.recordDrift(i, &d)
	ch.recordDrift(i, &custom)
	ch.blockers.addUnavailableRefs(i, &d)
	adopting, newSecret := f.matchedBy != "" || f.wasAnnounced(), ch.in.NewSecrets && ch.objects.lacksSecret(i)
	if len(d.send)+len(d.late.values)+len(custom.send) == 0 && (!adopting || ch.in.Pull) && externalID == nil && len(d.unappliable) == 0 && !newSecret {
		if len(d.kept) == 0 {
			ch.unchanged = append(ch.unchanged, ch.in.Desired[i])
		}
		return
	}
	if len(d.send) > 0 || externalID != nil || adopting {
		ch.addUpdate(i, &d, adopting, externalID != nil)
	}
	ch.addLinks(i, &d.late, d.alwaysSent)
	ch.setCustomFields(i, custom.send, custom.changes)
	ch.addBlocked(i, &d)
	if newSecret {
		ch.planSecret(i)
	}
}

// noteOverwritten sets the origin Overwritten on changes of an adopted object that others made, because they set the former values.
func (ch *changes) noteOverwritten(i objectID, changes []Change) {
	if ch.objects.states[i].matchedBy == "" || ch.createdByUs(i) {
		return
	}
	for k := range changes {
		if changes[k].Before != nil {
			changes[k].Origin = Overwritten
		}
	}
}

// addUpdate adds the step that changes or adopts an object.
func (ch *changes) addUpdate(i objectID, d *fieldDiff, adopting, marks bool) {
	f := &ch.objects.states[i]
	step := ch.steps.add(i, Update)
	if adopting {
		step.Action = Adopt
		step.Write.FoundBy = "found by " + cmp.Or(f.matchedBy, "its identifier")
		step.Write.CreatedByUs = step.Write.CreatedByUs || ch.createdByUs(i)
	}
	step.changes = d.changes
	ch.steps.of[i] = step
	if len(d.send) > 0 || marks {
		ch.checks.checkDates(i, d.send)
		ch.checks.checkRefused(i, d.send)
		ch.checks.checkGovernance(i)
		step.Operation, step.Write.Values, step.Write.SetExternalID = f.info.update, slices.Concat(d.send, d.alwaysSent), marks
		step.alone = d.alone
	}
}

// leaveToOwner leaves an object of another owner unchanged. Each difference from the manifest becomes a change that is not possible.
func (ch *changes) leaveToOwner(i objectID) {
	owner, _ := ch.objects.ownerOf(i)
	d := ch.compare(i)
	ch.recordKnown(i)
	var left fieldDiff
	if v, op := ch.archiveOperation(i); op != nil {
		d.changes = append(d.changes, change(v, FromManifest))
	}
	for _, c := range slices.Concat(d.changes, d.late.changes, d.unappliable, d.kept) {
		c.Possible = false
		left.block(c, refused("it belongs to "+owner.String()), diag.Position{})
	}
	if len(left.unappliable) == 0 {
		ch.unchanged = append(ch.unchanged, ch.in.Desired[i])
	}
	ch.addBlocked(i, &left)
}

// findReplaced marks uploaded objects as absent if they differ, so that they are uploaded again: an upload cannot be changed. An object
// that planform made is deleted, or kept unchanged if it is protected. An object of others stays beside the new one.
func (ch *changes) findReplaced() {
	for i := range ch.objects.count() {
		f := &ch.objects.states[i]
		if !f.info.kind.Uploads() || f.presence != exists || f.foreign || ch.objects.staysArchived(i) || len(ch.compare(i).unappliable) == 0 {
			continue
		}
		switch ours, protected := ch.ownUpload(i); {
		case ours && protected:
			continue
		case ours:
			f.replaces = f.id
		}
		f.id, f.presence = "", absent
	}
}

// ownUpload reports whether planform made an uploaded object, and whether it is protected.
func (ch *changes) ownUpload(i objectID) (ours, protected bool) {
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	marked := func(a resource.Address) bool { return ch.in.marks().On(f.row, a) }
	ours, protected = slices.ContainsFunc(AllAddresses(o), marked), o.Protected(false)
	if f.prior != nil {
		ours, protected = ours || f.prior.CreatedByUs, o.Protected(f.prior.Protect)
	}
	return ours, protected
}

// createdByUs reports whether planform made an object: it bears the mark of the manifest's named owner, or an earlier run announced its
// create and it was recognised as the result.
func (ch *changes) createdByUs(i objectID) bool {
	f := &ch.objects.states[i]
	if owner, ours := f.row.Owner(); ours && owner == ch.in.Owner && owner != "" {
		return true
	}
	marked := ch.in.marks().On(f.row, ch.in.Desired[i].Address)
	return f.wasAnnounced() && (marked || f.matchedBy == foundByExternalID || f.matchedBy == foundByNumber)
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
		ch.checkFormer(i)
		ch.checkSingle(i)
		ch.checkComplete(i)
		ch.checks.checkFeatures(i)
		ch.checks.checkGovernance(i)
		ch.checks.warnCaseMismatch(i)
	}
	step := ch.steps.add(i, Create)
	step.Write.Announced = f.unconfirmed
	step.alone, step.Write.Replaces = f.maybeHidden, f.replaces
	step.Operation, step.Write.Newest = f.info.create, ch.highestNumber[scope{f.info, f.parent}]
	c := ch.splitValues(i)
	ch.checks.checkRefused(i, c.values)
	ch.checks.checkRefused(i, c.followUp)
	if id := o.Kind.Identifier; id != nil && f.info.api == resource.V2 && id.LongestV2 > 0 && len(o.Identifier) > id.LongestV2 {
		ch.diags.warn(o, "long-identifier", "a service with API v2 may take "+strconv.Itoa(id.LongestV2)+" characters of an identifier at most, not "+
			o.Identifier, "shorten it before the apply: work item numbers begin with it")
	}
	if ch.sharesRequest(i, c.values) {
		c.values, c.custom = append(c.values, c.custom...), nil
	}
	step.Write.Values = c.values
	if predefined {
		ch.adoptDefault(step)
	} else {
		step.Write.Values = ch.addInitial(o, c.values)
	}
	ch.steps.of[i] = step
	if len(c.followUp) > 0 && f.info.update != nil {
		ch.addFollowUpUpdate(i, c.followUp, c.alwaysSent)
	}
	ch.addLinks(i, &c.late, c.alwaysSent)
	ch.setCustomFields(i, c.custom, changesTo(c.custom))
	ch.planArchive(i)
	ch.addBlocked(i, &c.impossible)
}

// creation holds the values of a new object, grouped by the request that sends them.
type creation struct {
	values     []*resource.Value // with the create
	followUp   []*resource.Value // by an update right after it
	custom     []*resource.Value // custom fields, in a request of their own
	alwaysSent []*resource.Value // with the create, and with each update
	late       lateTexts         // texts that link to objects that are created later
	impossible fieldDiff
}

// splitValues decides which request sends each value of a new object.
func (ch *changes) splitValues(i objectID) *creation {
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	c := &creation{values: make([]*resource.Value, 0, len(o.Values))}
	ch.blockers.addUnavailableRefs(i, &c.impossible)
	fillsFirst := ch.addsMembersFirst(i)
	for k := range o.Values {
		switch v := &o.Values[k]; {
		case ch.isImpossibleAtCreation(i, v, c), f.info.viaMembership(v.Field):
		case v.Field.Type == resource.SecretFile: // the service generates the secret
		case isOff(v) && ch.neededByChildren(o, v.Field): // it is switched off after the children are made, see awaitGates
			c.values = append(c.values, &resource.Value{Field: v.Field, Text: "true", Position: v.Position})
			c.followUp = append(c.followUp, v)
		case ch.getsDefault(f, v), fillsFirst && v.Field.Type == resource.Date:
			c.followUp = append(c.followUp, v)
		case v.Field.SetAfterCreate && !ch.objects.isPredefined(i), v.Field.OnAfterCreate && v.Text == "true":
			c.followUp = append(c.followUp, v)
		case resource.IsCustom(v):
			if !v.Null {
				c.custom = append(c.custom, v)
			}
		default:
			ch.addAtCreation(i, v, c)
		}
	}
	return c
}

// isImpossibleAtCreation reports whether a value of a new object cannot be sent. It adds the value to c.impossible, unless it is null.
func (ch *changes) isImpossibleAtCreation(i objectID, v *resource.Value, c *creation) bool {
	f := &ch.objects.states[i]
	what, unavailable := ch.blockers.unsupportedRef(i, v), ch.blockers.whyUnavailable(i, v)
	switch {
	case what != "":
		c.impossible.block(change(v, FromManifest), lacks(what), diag.Position{})
	case f.info.viaMembership(v.Field):
		return false
	case unavailable.exists():
		c.impossible.block(change(v, FromManifest), unavailable, v.Position)
	case v.Field.Past: // left out if the name is unknown; a warning was added when the name was looked up
		_, resolved := v.Desired(ch.refs.idResolver(i))
		return !resolved
	case v.Field.Type == resource.SecretFile, ch.getsDefault(f, v):
		return false
	case !f.info.api.Sendable(v.Field):
		if !v.Null && !v.Field.ArchiveFlag {
			c.impossible.block(change(v, FromManifest), cannot(CannotSet), diag.Position{})
		}
	case v.Field.SetAfterCreate && ch.blockers.blockerOf(v) != noObject:
		c.impossible.block(change(v, FromManifest), ch.whyUnappliable(i, v), v.Position)
	default:
		return false
	}
	return true
}

// addAtCreation adds a value to the body of the create.
func (ch *changes) addAtCreation(i objectID, v *resource.Value, c *creation) {
	only := ch.withoutOutsiders(i, v, &c.impossible)
	if only != v && only.Null {
		return
	}
	only = ch.textAtCreation(i, only, &c.late)
	c.values = append(c.values, only)
	if only.Field.AlwaysSend {
		c.alwaysSent = append(c.alwaysSent, only)
	}
}

// siblings identifies the objects of a kind in one parent.
type siblings struct {
	kind   string
	parent resource.Address
}

// formerSiblings returns the records of siblings of an object that the manifest no longer has. It leaves out siblings that are known to
// be gone from the service, that the run deletes, or that another owner has.
func (ch *changes) formerSiblings(i objectID) []*Record {
	if ch.formerRecords == nil {
		ch.formerRecords = map[siblings][]*Record{}
		for _, a := range slices.Sorted(maps.Keys(ch.in.Prior)) {
			r := ch.in.Prior[a]
			if _, wanted := ch.objects.indexOf(a); wanted || r.ID == "" || !a.IsObject() || !ch.in.isTargeted(a) || ch.in.otherSource(&r) != "" {
				continue
			}
			if _, owned := ch.objects.owners[serviceID{a.Kind(), r.ID}]; !owned {
				at := siblings{a.Kind(), a.Parent()}
				ch.formerRecords[at] = append(ch.formerRecords[at], &r)
			}
		}
	}
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	return slices.DeleteFunc(slices.Clone(ch.formerRecords[siblings{o.Kind.Name, o.Address.Parent()}]), func(r *Record) bool {
		if ch.snapshot.isListed(f.info, f.parent) {
			if l, _ := ch.snapshot.list(f.info, f.parent); len(l.byID(r.ID)) == 0 {
				return true
			}
		}
		l := ch.orphans.byAddress[r.Address]
		return l != nil && (l.decision == toDelete || l.decision == deleteWithParent || l.decision == vanished || l.decision == otherOwner)
	})
}

// checkFormer reports an object that would be created a second time, because its key was changed, or its name in the workspace that the
// manifest came from.
func (ch *changes) checkFormer(i objectID) {
	o := ch.in.Desired[i]
	others := ch.formerSiblings(i)
	if len(others) == 0 {
		return
	}
	known := func(r *Record) string { return Orphan{Address: r.Address, Identifier: r.Identifier}.String() }
	field, value := distinctiveField(o)
	if at := slices.IndexFunc(others, func(r *Record) bool { return field != "" && value != "" && r.Values[field] == value }); at >= 0 {
		r := others[at]
		hint := "if only the key changed, add `previously: " + r.Address.Key() + "`; if not, planform state rm " + string(r.Address) +
			" forgets the former object"
		if ch.in.isOrphan(r.Address, r) && !ch.in.Prune {
			hint += ", or --prune deletes it"
		}
		ch.diags.report(o, "another-key", string(o.Address)+" would be created twice: the state has "+known(r)+" with the same "+field+
			", and the manifest lacks that key", hint)
		return
	}
	var old []string
	for _, r := range others {
		if r.Origin == nil &&
			(len(r.Sources) == 0 || slices.ContainsFunc(r.Sources, func(file string) bool { return slices.Contains(o.Files, file) })) {
			old = append(old, known(r))
		}
	}
	if o.Origin == nil || len(old) == 0 {
		return
	}
	ch.diags.report(o, "unknown-origin", string(o.Address)+" ("+o.Origin.String()+
		") is new or was renamed; the state has "+
		diag.First(old, fewNames)+", which the manifest lacks",
		"if it was renamed, add `previously: KEY`; planform state rm ADDRESS forgets a deleted object")
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

// sharesRequest reports whether values of custom fields go into the request that sends other values.
func (ch *changes) sharesRequest(i objectID, others []*resource.Value) bool {
	return ch.acceptsCustomFields(i) && resource.InV2(others)
}

// acceptsCustomFields reports whether requests that write an object can have custom fields, as in API v2.
func (ch *changes) acceptsCustomFields(i objectID) bool {
	_, v2 := ch.objects.states[i].info.kind.Op(resource.UpdateMany, ch.in.API)
	return v2
}

// setCustomFields plans separate requests for values of custom fields: one for each value, or one for all in API v2.
func (ch *changes) setCustomFields(i objectID, values []*resource.Value, made []Change) {
	size := 1
	if ch.acceptsCustomFields(i) {
		size = max(1, len(values))
	}
	for k := 0; k < len(values); k += size {
		step := ch.steps.add(i, Update)
		step.Write.Values, step.changes = values[k:k+size], made[k:k+size]
		step.Operation = ch.objects.states[i].info.update
		if !ch.acceptsCustomFields(i) {
			step.Operation = resource.CustomFieldOp(values[k])
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

func (ch *changes) checkComplete(i objectID) {
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	needed := o.Missing()
	if len(needed) == 0 {
		return
	}
	hint := ""
	if ch.snapshot.isListed(f.info, f.parent) {
		l, _ := ch.snapshot.list(f.info, f.parent)
		hint = similarNames(o.Name(), o.Kind, l)
	}
	ch.diags.report(o, "incomplete", "the service has no "+o.Kind.Noun()+" \""+o.Name()+"\", and it cannot be created without its "+
		strings.Join(needed, " and its "),
		cmp.Or(hint, "write these fields, or the id of an existing "+o.Kind.Noun()))
}

// checkSingle reports a new object if its parent can have only one of its kind and already has one.
func (ch *changes) checkSingle(i objectID) {
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	if !o.Kind.Single || ch.objects.states[f.parent].presence != exists {
		return
	}
	if l, _ := ch.snapshot.list(f.info, f.parent); len(l.rows) > 0 {
		ch.diags.report(o, "one-only", string(o.Parent.Address)+" has the "+label(o.Kind, l.rows[0])+" already, and can have no other",
			"to manage that one, write its name, or id: "+l.rows[0].ID())
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
	step.changes = []Change{{
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
