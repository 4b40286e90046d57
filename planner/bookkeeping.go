package planner

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/planform/planform/internal/plane/resource"
)

// bookkeeping is the stage that collects the changes of the state that no step makes.
type bookkeeping struct {
	*World

	steps *steps
	plan  *Plan

	changes map[resource.Address]*StateChange // by current address
	shown   map[resource.Address]bool         // changes that the plan counts and shows
}

const aliasedWhy = "is already tracked under another address"

// collect sets the state changes of the plan.
func (bk *bookkeeping) collect() {
	bk.recordSources()
	for _, r := range bk.in.Prior {
		if r.CreatedByUs {
			bk.plan.CreatedByUs++
		}
	}
	bk.noteManifest()
	bk.noteOrphans()
	bk.dropAliases()
	bk.settleObjects()
	bk.dropLostMembers()
	bk.settleMembers()
	bk.noteShownValues()
	bk.noteMembers()
	for _, a := range slices.Sorted(maps.Keys(bk.changes)) {
		c := bk.changes[a]
		if c.Record.isEmpty() && !c.From.IsObject() {
			c.To = ""
		}
		if bk.shown[a] {
			bk.plan.StateChanges = append(bk.plan.StateChanges, *c)
		} else {
			bk.plan.Seen = append(bk.plan.Seen, *c)
		}
	}
}

// change returns the change of a record. The plan does not count it.
func (bk *bookkeeping) change(a resource.Address) *StateChange {
	c := bk.changes[a]
	if c == nil {
		c = &StateChange{From: a, To: a, Record: bk.openRecord(a)}
		c.Record.Address, bk.changes[a] = a, c
	}
	return c
}

// correct returns the change of a record that the plan counts. Without a reason, the plan does not show it.
func (bk *bookkeeping) correct(a resource.Address, why string) *StateChange {
	c := bk.change(a)
	if bk.shown[a] = true; why != "" {
		c.Why = join(c.Why, why)
	}
	return c
}

// drop removes a record from the state.
func (bk *bookkeeping) drop(a resource.Address, why string) {
	c := bk.correct(a, "")
	c.To, c.Why = "", why
}

// dropMembers removes members from a record.
func (bk *bookkeeping) dropMembers(a resource.Address, gone func(id string) bool, why string) {
	bk.correct(a, why).Record.dropMembers(gone)
}

// noteManifest adds state changes for addresses and protections of the manifest that differ from the state.
func (bk *bookkeeping) noteManifest() {
	for now, was := range bk.objects.renamed.origin {
		c := bk.correct(now, "")
		switch c.From = was; {
		case bk.objects.renamed.displaced[now]:
			c.Why = "is now " + string(now) + ": the manifest has another object under its key"
		case isRenamed(was, now):
			c.Why = "is now " + string(now)
		}
	}
	for i, o := range bk.objects.all() {
		if f := &bk.objects.states[i]; f.prior != nil && f.presence != absent && o.Protected(f.prior.Protect) != f.prior.Protect {
			why := "is now protected"
			if f.prior.Protect {
				why = "is no longer protected"
			}
			bk.correct(o.Address, why).Record.Protect = !f.prior.Protect
		}
	}
}

// noteOrphans drops the records of objects that are gone, that another owner has, or that another record has, too.
func (bk *bookkeeping) noteOrphans() {
	for _, l := range bk.orphans.list {
		switch l.decision { //nolint:exhaustive // the other decisions change no record
		case vanished:
			bk.drop(l.record.Address, "no longer exists on the service")
		case otherOwner:
			bk.drop(l.record.Address, "belongs to "+l.owner.String())
		case aliased:
			bk.drop(l.record.Address, aliasedWhy)
			i, ok := bk.objects.owners[serviceID{l.info.kind.Name, l.record.ID}]
			switch {
			case !ok:
			case bk.objects.states[i].prior != nil: // the remaining record takes over that planform made the object
				bk.correct(bk.in.Desired[i].Address, "planform created it").Record.CreatedByUs = true
			case bk.steps.of[i] != nil:
				bk.steps.of[i].Write.CreatedByUs = true
			}
		}
	}
}

// dropAliases removes other addresses of an adopted object from the state, and records that planform made it. Otherwise a later --prune
// could not tell two records of one object apart. Kinds with children keep both addresses until a run with --prune checks the contents.
func (bk *bookkeeping) dropAliases() {
	for i, step := range bk.steps.of {
		if step == nil || step.Action != Adopt || bk.in.Prune || len(resource.Children(step.Kind.Name)) > 0 {
			continue
		}
		for _, a := range bk.objects.addressesOf(serviceID{step.Kind.Name, step.ID}) {
			r := bk.in.Prior[a]
			if _, wanted := bk.objects.indexOf(a); wanted || !bk.in.isOrphan(a, &r) || bk.objects.intents.isOpen(a) || r.Protect {
				continue
			}
			bk.drop(a, aliasedWhy)
			bk.steps.of[i].Write.CreatedByUs = true
		}
	}
}

// dropLostMembers removes members from records if they are not in their containers any more, are gone, or an object of another owner declares
// them.
func (bk *bookkeeping) dropLostMembers() {
	for _, s := range bk.memberships.leavingSets() {
		if forgotten := s.forgotten(); len(forgotten) > 0 {
			bk.dropMembers(s.record.at, func(id string) bool { return slices.Contains(forgotten, id) },
				"lost "+strconv.Itoa(len(forgotten))+" of the members that planform added")
		}
	}
	gone, others := map[string]bool{}, map[string]bool{} // IDs of orphans, and the addresses of those of other owners
	for _, l := range bk.orphans.list {
		gone[l.record.ID] = gone[l.record.ID] || l.decision == vanished && l.record.ID != ""
		if l.decision == otherOwner {
			others[l.record.ID], others[string(l.record.Address)] = l.record.ID != "", true
		}
	}
	for _, r := range bk.records.all {
		m := r.kind.Membership
		dropped := func(id string) bool {
			return gone[id] || m.On == m.Member && others[id] || m.On == m.Container && others[string(r.container)]
		}
		if slices.ContainsFunc(r.record.Members, dropped) {
			bk.dropMembers(r.at, dropped, "lost members that are gone or belong to another owner")
		}
		if bk.orphans.hasVanished(r.container) {
			bk.drop(r.at, "its container no longer exists on the service")
		}
	}
}

// noteShownValues updates records with values that the service shows. These are values that equal the manifest, so that a later change is drift,
// and values that were sent in batches.
func (bk *bookkeeping) noteShownValues() {
	for i, o := range bk.objects.all() {
		f := &bk.objects.states[i]
		var before Record
		switch {
		case f.prior != nil && f.prior.ID != "":
			before = *f.prior
		case f.prior != nil, f.presence != exists, f.row == nil, f.replaced, o.ID == "" && o.Identifier == "", bk.steps.of[i] != nil:
			continue
		default: // the manifest gives the ID or identifier, and the state has no record
			before = Record{Address: o.Address, ID: f.id, Identifier: f.identifier, Sources: o.Files, Protect: o.Protected(false)}
		}
		now := before
		now.Values = bk.shownValues(i, before)
		now.Identifier = cmp.Or(before.Identifier, bk.objects.readableID(o.Kind, f.parent, f.row))
		now.Origin = before.Origin.Next(o.Origin)
		sameOrigin := now.Origin == before.Origin || now.Origin != nil && before.Origin != nil && *now.Origin == *before.Origin
		if maps.Equal(now.Values, before.Values) && now.Identifier == before.Identifier && sameOrigin && (f.prior != nil || !now.Protect) {
			continue
		}
		c := bk.change(o.Address)
		if !bk.shown[o.Address] {
			c.Record = now
		}
		c.Record.Values, c.Record.Identifier, c.Record.Origin = now.Values, now.Identifier, now.Origin
	}
}

// shownValues returns the values of an object's record, with the fields added for which the service shows the manifest's value.
func (bk *bookkeeping) shownValues(i objectID, r Record) map[string]string {
	o, f := bk.in.Desired[i], &bk.objects.states[i]
	values := make(map[string]string, len(r.Values))
	maps.Copy(values, r.Values)
	for j := range o.Kind.Fields {
		field := &o.Kind.Fields[j]
		if !r.SentUnseen(field.Name) {
			continue
		}
		if have, known := field.ObservedIn(f.row); known && !r.hasDrifted(field, have, f.row) {
			values[ShownKey(field.Name)] = ShownValue(have)
		}
	}
	if f.presence != exists {
		return values
	}
	for k := range o.Values {
		field := o.Values[k].Field
		if digest, equal := bk.differ.unrecorded[&o.Values[k]]; equal && !o.Ignores(field) {
			values[field.Name] = digest
			delete(values, ShownKey(field.Name))
		}
	}
	bk.noteCleared(i, values)
	return values
}

// noteCleared records that an object is in no container, as the manifest wants, if all containers were read. A later membership is then
// drift.
func (bk *bookkeeping) noteCleared(i objectID, values map[string]string) {
	o, f := bk.in.Desired[i], &bk.objects.states[i]
	if f.presence != exists || f.replaced {
		return
	}
	for j := range o.Kind.Fields {
		field := &o.Kind.Fields[j]
		switch v, given := o.Value(field.Name); {
		case !f.info.viaMembership(field) || o.Ignores(field):
		case given && bk.memberships.contained[v] && !bk.memberships.keepsDrift(v):
			values[field.Name] = ""
		case !given || len(v.Refs) > 0:
			delete(values, field.Name)
		}
	}
}

// noteMembers records memberships that the manifest and the service have and the state lacks, so that a later change is drift.
func (bk *bookkeeping) noteMembers() {
	for _, s := range bk.memberships.sets {
		prior, _ := s.recorded()
		for _, e := range s.wanted {
			if e.verdict.noteFound && s.hasList && s.container.ID != "" && !prior.has(e.id) {
				bk.recordMember(s, e)
			}
		}
	}
	for _, s := range bk.memberships.leavingSets() {
		for _, e := range s.leaving() {
			if e.wish == wantsNone && bk.memberships.provenanceOf(s, e) == noRecord && !e.verdict.drift { // the record keeps the member until it is removed
				bk.recordMember(s, e)
			}
		}
	}
}

// recordMember records a member that the service shows in a container. An exclusive member has left its other containers in the state. If planform
// had added it to one of these, the record says that planform added it here. A record that another change writes, or that has an open
// intent, gets no member.
func (bk *bookkeeping) recordMember(s *memberSet, e *member) {
	byUs := false
	if e.wish == wantsHere && s.kind.Membership.Exclusive {
		for _, was := range bk.records.byMember[edge{kind: s.kind.Name, member: e.id}] {
			if byUs = byUs || was.record.addedByUs(e.id); was.at != s.record.at {
				bk.change(was.at).Record.dropMembers(func(id string) bool { return id == e.id })
			}
		}
	}
	if bk.shown[s.record.at] || s.record.isOpen() {
		return
	}
	r := &bk.change(s.record.at).Record
	if len(r.Members) == 0 && len(s.wanted) > 0 {
		r.Sources = bk.memberships.sourcesOf(s)
	}
	if r.Members = union(r.Members, []string{e.id}); !byUs {
		r.Found = union(r.Found, []string{e.id})
	}
}

// recordSources sets the manifests of the objects and members for which the state names other manifests. These are no changes of records,
// because a change would count as a write of the object.
func (bk *bookkeeping) recordSources() {
	bk.plan.Sources = map[resource.Address][]string{}
	for _, o := range bk.in.Desired {
		bk.setSources(o.Address, o.Files)
	}
	for _, s := range bk.memberships.sets {
		if bk.hasKnownSources(s) {
			bk.setSources(s.record.at, bk.memberships.sourcesOf(s))
		}
	}
	if len(bk.in.OtherSources) == 0 {
		return
	}
	for a := range bk.in.Prior {
		if _, wanted := bk.objects.indexOf(a); !wanted && a.IsObject() && bk.in.isTargeted(a) {
			bk.setSources(a, nil)
		}
	}
}

// setSources records the manifests of an object or of members: these, and the recorded ones that still exist and that the run does not read.
func (bk *bookkeeping) setSources(a resource.Address, now []string) {
	r, known := bk.in.Prior[a]
	if !known || slices.Equal(r.Sources, now) {
		return
	}
	files := now
	if len(r.Sources) > 0 {
		files = slices.DeleteFunc(slices.Clone(r.Sources), func(file string) bool { return !bk.in.OtherSources[file] })
		files = union(files, now)
	}
	if len(files) > 0 && !slices.Equal(files, r.Sources) { // an orphan keeps its last manifests
		bk.plan.Sources[a] = files
	}
}

// hasKnownSources reports whether the manifests are known for all members of a container in the state.
func (bk *bookkeeping) hasKnownSources(s *memberSet) bool {
	prior := &s.record.record
	return len(prior.Sources) > 0 || !slices.ContainsFunc(prior.Members, func(id string) bool {
		return !slices.ContainsFunc(s.wanted, func(e *member) bool { return e.id == id })
	})
}
