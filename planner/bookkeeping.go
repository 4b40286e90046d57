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
	analysis

	memberships *memberships
	orphans     *orphans
	steps       *steps
	plan        *Plan
}

const aliasedWhy = "is already tracked under another address"

// dropAliases removes other addresses of an adopted object from the state, and records that planform made it. Otherwise a later --prune
// could not tell two records of one object apart. Kinds with children keep both addresses until a run with --prune checks the contents.
func (bk *bookkeeping) dropAliases(changeOf func(resource.Address) *StateChange) {
	for i, step := range bk.steps.of {
		if step == nil || step.Action != Adopt || bk.in.Prune || len(resource.Children(step.Kind.Name)) > 0 {
			continue
		}
		for _, a := range bk.objects.addressesOf(serviceID{step.Kind.Name, step.ID}) {
			r := bk.in.Prior[a]
			if _, wanted := bk.objects.indexOf(a); wanted || !bk.in.isOrphan(a, &r) || r.PendingIntent != nil || r.Protect {
				continue
			}
			c := changeOf(a)
			c.To, c.Why = "", aliasedWhy
			bk.steps.of[i].Write.CreatedByUs = true
		}
	}
}

func (bk *bookkeeping) stateChanges() {
	bk.recordSources()
	for _, r := range bk.in.Prior {
		if r.CreatedByUs {
			bk.plan.CreatedByUs++
		}
	}
	all := map[resource.Address]*StateChange{} // by current address
	changeOf := func(a resource.Address) *StateChange {
		c := all[a]
		if c == nil {
			c = &StateChange{From: a, To: a, Record: bk.in.Prior[a]}
			c.Record.Address, all[a] = a, c
		}
		return c
	}
	bk.noteManifest(changeOf)
	gone, others := map[string]bool{}, map[string]bool{}
	for _, l := range bk.orphans.list {
		switch l.decision { //nolint:exhaustive // the other decisions change no record
		case vanished:
			c := changeOf(l.record.Address)
			c.To, c.Why = "", "no longer exists on the service"
			gone[l.record.ID] = l.record.ID != ""
		case otherOwner:
			c := changeOf(l.record.Address)
			c.To, c.Why = "", "belongs to "+l.owner.String()
			others[l.record.ID], others[string(l.record.Address)] = l.record.ID != "", true
		case aliased:
			c := changeOf(l.record.Address)
			c.To, c.Why = "", aliasedWhy
			i, ok := bk.objects.owners[serviceID{l.info.kind.Name, l.record.ID}]
			switch {
			case !ok:
			case bk.objects.states[i].prior != nil: // the remaining record takes over that planform made the object
				changeOf(bk.in.Desired[i].Address).noteMade()
			case bk.steps.of[i] != nil:
				bk.steps.of[i].Write.CreatedByUs = true
			}
		}
	}
	bk.dropAliases(changeOf)
	for _, set := range bk.memberships.leavingSets() {
		if n := len(set.forgotten); n > 0 {
			c := changeOf(set.record.at)
			c.Record.dropMembers(func(id string) bool { return slices.Contains(set.forgotten, id) })
			c.Why = join(c.Why, "lost "+strconv.Itoa(n)+" of the members that planform added")
		}
	}
	bk.closeObjects(changeOf)
	bk.settleMembers(changeOf, gone, others)
	for _, c := range all {
		if len(c.Record.Members) == 0 && c.Record.PendingIntent == nil && !c.From.IsObject() {
			c.To = ""
		}
	}
	bk.noteShownValues(all)
	bk.noteMembers(all)
	for _, a := range slices.Sorted(maps.Keys(all)) {
		bk.plan.StateChanges = append(bk.plan.StateChanges, *all[a])
	}
}

// noteManifest adds state changes for addresses and protections of the manifest that differ from the state.
func (bk *bookkeeping) noteManifest(changeOf func(resource.Address) *StateChange) {
	for now, was := range bk.objects.renamed.origin {
		c := changeOf(now)
		switch c.From = was; {
		case bk.objects.renamed.displaced[now]:
			c.Why = "is now " + string(now) + ": the manifest has another object under its key"
		case isRenamed(was, now):
			c.Why = "is now " + string(now)
		}
	}
	for i, o := range bk.objects.all() {
		if f := &bk.objects.states[i]; f.prior != nil && f.presence != absent && o.Protected(f.prior.Protect) != f.prior.Protect {
			c := changeOf(o.Address)
			if c.Record.Protect = !f.prior.Protect; c.Record.Protect {
				c.Why = join(c.Why, "is now protected")
			} else {
				c.Why = join(c.Why, "is no longer protected")
			}
		}
	}
}

// noteShownValues updates records with values that the service shows. These are values that equal the manifest, so that a later change is drift,
// and values that were sent in batches.
func (bk *bookkeeping) noteShownValues(changed map[resource.Address]*StateChange) {
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
		switch c := changed[o.Address]; {
		case maps.Equal(now.Values, before.Values) && now.Identifier == before.Identifier && sameOrigin && (f.prior != nil || !now.Protect):
		case c != nil:
			c.Record.Values, c.Record.Identifier, c.Record.Origin = now.Values, now.Identifier, now.Origin
		default:
			bk.plan.Seen = append(bk.plan.Seen, StateChange{From: o.Address, To: o.Address, Record: now})
		}
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
	resolve := bk.memberships.refs.idResolver(i)
	for k := range o.Values {
		v := &o.Values[k]
		applied, known := values[v.Field.Name]
		have, shown := v.Field.ObservedIn(f.row)
		if !shown || known && resource.IsDigest(applied, have) || v.Content != nil || o.Ignores(v.Field) || f.info.viaMembership(v.Field) {
			continue
		}
		if want, complete := v.Desired(resolve); complete && want == have {
			values[v.Field.Name] = resource.Digest(want)
			delete(values, ShownKey(v.Field.Name))
		}
	}
	bk.noteCleared(i, values)
	return values
}

// noteMembers records memberships that the manifest and the service have and the state lacks, so that a later change is drift. If a
// member can be in one container only, it removes the member from the records of the other containers. It adds no member to a record that
// another change writes, or that has an open intent.
func (bk *bookkeeping) noteMembers(changed map[resource.Address]*StateChange) {
	seen, left := map[resource.Address]*StateChange{}, map[resource.Address]map[string]bool{}
	note := func(a resource.Address) *Record {
		c := cmp.Or(changed[a], seen[a])
		if c == nil {
			c = &StateChange{From: a, To: a, Record: bk.in.Prior[a]}
			c.Record.Address, seen[a] = a, c
		}
		return &c.Record
	}
	joined := map[*memberSet]*Record{}
	for _, s := range bk.memberships.sets {
		prior, _ := s.recorded()
		for _, e := range s.wanted {
			if e.verdict.noteFound && s.hasList && s.container.ID != "" && !prior.has(e.id) {
				bk.recordMember(joined, s, e, left)
			}
		}
	}
	for _, s := range bk.memberships.leavingSets() {
		for _, e := range s.leaving() {
			if e.wish == wantsNone && bk.memberships.provenanceOf(s, e) == noRecord && !e.verdict.drift { // the record keeps the member until it is removed
				bk.recordMember(joined, s, e, left)
			}
		}
	}
	for a, gone := range left {
		note(a).dropMembers(func(id string) bool { return gone[id] })
	}
	for s, more := range joined {
		if changed[s.record.at] != nil || s.record.isOpen() {
			continue
		}
		r := note(s.record.at)
		if len(r.Members) == 0 && len(s.wanted) > 0 {
			r.Sources = bk.memberships.sourcesOf(s)
		}
		r.Members, r.Found = union(r.Members, more.Members), union(r.Found, more.Found)
	}
	for _, a := range slices.Sorted(maps.Keys(seen)) {
		if c := seen[a]; len(c.Record.Members) == 0 && c.Record.PendingIntent == nil {
			c.To = ""
		}
		bk.plan.Seen = append(bk.plan.Seen, *seen[a])
	}
}

// recordMember records a member that the service shows in a container. An exclusive member has left its other containers in the state. If planform
// had added it to one of these, the record says that planform added it here.
func (bk *bookkeeping) recordMember(joined map[*memberSet]*Record, s *memberSet, e *member, left map[resource.Address]map[string]bool) {
	byUs := false
	if e.wish == wantsHere && s.kind.Membership.Exclusive {
		for _, was := range bk.memberships.records.byMember[edge{kind: s.kind.Name, member: e.id}] {
			if byUs = byUs || was.record.addedByUs(e.id); left[was.at] == nil {
				left[was.at] = map[string]bool{}
			}
			left[was.at][e.id] = was.at != s.record.at
		}
	}
	if joined[s] == nil {
		joined[s] = &Record{}
	}
	if joined[s].Members = append(joined[s].Members, e.id); !byUs {
		joined[s].Found = append(joined[s].Found, e.id)
	}
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

// noteMade records that planform made the object.
func (sg *StateChange) noteMade() {
	sg.Record.CreatedByUs = true
	sg.Why = join(sg.Why, "planform created it")
}

// settle closes the intent of a record, whose outcome is known now.
func (sg *StateChange) settle() {
	sg.Record.forgetIntent()
	sg.Why = join(sg.Why, "the outcome of an earlier request is known now")
}

// closeObjects closes intents about objects whose ID is known and that no create or adopt of this run will close.
func (bk *bookkeeping) closeObjects(changeOf func(resource.Address) *StateChange) {
	for i, o := range bk.objects.all() {
		f, intent := &bk.objects.states[i], bk.in.Prior[o.Address].PendingIntent
		closes := bk.steps.of[i] != nil && (bk.steps.of[i].Action == Create || bk.steps.of[i].Action == Adopt)
		if intent != nil && f.id != "" && (f.presence == hidden || f.presence == exists && !closes) {
			c := changeOf(o.Address)
			c.settle()
			c.Record.ID, c.Record.CreatedByUs = f.id, c.Record.CreatedByUs || intent.creates() && bk.in.marks().On(f.row, o.Address)
		}
	}
}

// settleMembers closes intents about members if no step will close them and the service shows their outcome. It removes members from
// records if they are gone or an object of another owner declares them.
func (bk *bookkeeping) settleMembers(changeOf func(resource.Address) *StateChange, gone, others map[string]bool) {
	adding, leaving := map[resource.Address]bool{}, map[resource.Address]bool{} // records whose open intents a step of this run closes
	for _, s := range bk.steps.all() {
		if s.Action == AddMembers {
			adding[s.Members.Container.Address.Members(s.Kind.Membership.Plural(), 1)] = true
		}
	}
	for _, s := range bk.memberships.leavingSets() {
		leaving[s.record.at] = len(s.leaving()) > 0
	}
	for _, r := range bk.memberships.records.all {
		m, intent := r.kind.Membership, r.intent
		dropped := func(id string) bool {
			return gone[id] || m.On == m.Member && others[id] || m.On == m.Container && others[string(r.container)]
		}
		if slices.ContainsFunc(r.record.Members, dropped) {
			c := changeOf(r.at)
			c.Record.dropMembers(dropped)
			c.Why = join(c.Why, "lost members that are gone or belong to another owner")
		}
		switch {
		case bk.orphans.hasVanished(r.container):
			c := changeOf(r.at)
			c.To, c.Why = "", "its container no longer exists on the service"
		case intent == nil:
		case intent.Action == Update, intent.Action == RemoveMembers && !leaving[r.at]:
			changeOf(r.at).settle()
		case r.listed && intent.Action == AddMembers && (!adding[r.at] || len(r.arrived) > 0):
			c := changeOf(r.at)
			c.Record.Members = slices.Concat(c.Record.Members, r.arrived)
			if !adding[r.at] {
				c.settle()
			} else {
				c.Why = join(c.Why, "an earlier request added some of the members")
			}
			for _, other := range bk.memberships.records.all {
				joined := func(id string) bool { return slices.Contains(r.arrived, id) }
				if m.Exclusive && other.kind == r.kind && other != r && slices.ContainsFunc(other.record.Members, joined) {
					left := changeOf(other.at)
					left.Record.dropMembers(joined)
					left.Why = join(left.Why, "lost members that an earlier request added elsewhere")
				}
			}
		}
	}
}

func (bk *bookkeeping) recordSources() {
	setSources := func(a resource.Address, now []string) {
		r, known := bk.in.Prior[a]
		if !known || slices.Equal(r.Sources, now) {
			return
		}
		files := now
		if len(r.Sources) > 0 {
			files = slices.DeleteFunc(slices.Clone(r.Sources), func(file string) bool { return !bk.in.OtherSources[file] })
			files = union(files, now)
		}
		if len(files) == 0 || slices.Equal(files, r.Sources) {
			return // an orphan keeps its last manifests
		}
		if bk.plan.Sources == nil {
			bk.plan.Sources = map[resource.Address][]string{}
		}
		bk.plan.Sources[a] = files
	}
	for _, o := range bk.in.Desired {
		setSources(o.Address, o.Files)
	}
	for _, s := range bk.memberships.sets {
		if bk.hasKnownSources(s) {
			setSources(s.record.at, bk.memberships.sourcesOf(s))
		}
	}
	if len(bk.in.OtherSources) == 0 {
		return
	}
	for a := range bk.in.Prior {
		if _, wanted := bk.objects.indexOf(a); !wanted && a.IsObject() && bk.in.isTargeted(a) {
			setSources(a, nil)
		}
	}
}

// hasKnownSources reports whether the manifests are known for all members of a container in the state.
func (bk *bookkeeping) hasKnownSources(s *memberSet) bool {
	prior := &s.record.record
	if len(prior.Sources) > 0 || len(prior.Members) == 0 {
		return true
	}
	wanted := map[string]bool{}
	for _, e := range s.wanted {
		wanted[e.id] = true
	}
	return !slices.ContainsFunc(prior.Members, func(id string) bool { return !wanted[id] })
}
