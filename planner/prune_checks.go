package planner

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/resource"
)

// checkContents makes sure that nothing which planform did not create is deleted along with an
// orphan: sub-items and children.
func (p *orphans) checkContents(l *orphan) {
	k := l.info.kind
	if field := parentField(k); field != nil {
		read, _ := l.info.listRead(l.params)
		rows := slices.Clip(p.in.Observed[read].Rows)
		for i := range p.objects.states {
			if f := &p.objects.states[i]; f.presence == hidden && f.info.kind == k {
				rows = append(rows, f.row)
			}
		}
		for _, row := range rows {
			if up, _ := field.ObservedIn(row); up == l.record.ID && !p.movesAway(k, row, field) {
				l.decision = l.block(label(k, row) + " below it stays")
				return
			}
		}
	}
	if k.Parent != "" && p.unchecked > 0 {
		return
	}
	for _, child := range resource.Children(k.Name) {
		read, listed := p.objects.kinds[child].listRead(l.params)
		if !listed {
			continue
		}
		rows, answer := p.rowsOf(read)
		if answer == nil {
			l.decision = needsRead
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			predefined := slices.ContainsFunc(displayTexts(child, rows[id]), func(n string) bool { return slices.Contains(child.Predefined, n) })
			in := p.createdByUs[serviceID{child.Name, id}]
			if externalID := textIn(rows[id], "external_id"); in == nil && rows[id].HasExternalID(externalID) {
				if in = p.lostCreates[externalID]; in != nil {
					in.recordCreated(id)
				}
			}
			if !predefined && (in == nil || in.parent != l) {
				l.decision = l.block("planform did not create the " + label(child, rows[id]) + " in it")
				return
			}
			if in != nil && in.decision == undecided && p.unchecked == 0 {
				p.checkContents(in)
			}
			if in != nil && (in.decision == needsRead || in.decision == blocked && l.decision != needsRead) {
				l.decision, l.reason = in.decision, "it would be deleted, but "+string(in.record.Address)+" in it stays"
			}
		}
	}
}

func (p *orphans) checkPresent(l *orphan) decision {
	t := l.info
	if read, ok := l.info.listRead(l.params); ok {
		_, have := p.in.Observed[read]
		// Where an object can be below another of its kind, the list tells what is below this one.
		if have || t.get == nil || p.listSizes[read.Path] > 2 || parentField(t.kind) != nil {
			rows, answer := p.rowsOf(read)
			switch {
			case answer == nil:
				return needsRead
			case answer.Unsupported:
				return l.block("this edition of the service has no " + plural(t.kind))
			case rows[l.record.ID] != nil:
				return toDelete
			case t.get == nil:
				return p.confirmGone(l)
			} // a list that changes while its pages are read may leave one out
		}
	}
	if t.get == nil {
		return l.block("planform cannot check whether it still exists")
	}
	switch answer, answered := p.service.askAt(t.get, l.params); {
	case !answered:
		return needsRead
	case answer.Unsupported:
		return l.block("this edition of the service has no " + plural(t.kind))
	case answer.NotFound || len(answer.Rows) == 0 || answer.Rows[0].ID() != l.record.ID:
		return p.confirmGone(l)
	case t.archived != nil && answer.Rows[0]["archived_at"] != nil:
		return leftArchived
	default:
		return toDelete
	}
}

// checkHidden finds out whether the look-up by external ID shows an object that no list does.
func (p *orphans) checkHidden(l *orphan) decision {
	read, listed := l.info.listRead(l.params)
	if !listed || !l.info.findsExternalIDs() {
		return vanished
	}
	a, answered, made := p.snapshot.findUnlisted(l.info, read.Path, l.record.Address)
	switch {
	case !made:
		return leftArchived // as far as is known
	case !answered:
		return needsRead
	case a.Several:
		return leftArchived
	case len(a.Rows) == 1 && a.Rows[0].ID() == l.record.ID && a.Rows[0].Hidden() != "":
		if rows := p.rows[read.Path]; rows != nil {
			rows[l.record.ID] = a.Rows[0] // it shows what this is below
		}
		return leftArchived
	default:
		return vanished
	}
}

// confirmGone decides about an orphan that no list and no read shows: it is gone, or it or its
// project is archived.
func (p *orphans) confirmGone(l *orphan) decision {
	if op := l.info.archived; op != nil {
		answer, answered := p.service.askAt(op, l.params)
		switch {
		case !answered:
			return needsRead
		case slices.ContainsFunc(answer.Rows, func(row resource.Row) bool { return row.ID() == l.record.ID }):
			return leftArchived
		}
	}
	if d := p.checkHidden(l); d != vanished {
		return d
	}
	top := l.record.Address.Parent()
	for up := top; up != ""; up = up.Parent() {
		top = up
	}
	if top == "" {
		return vanished
	}
	op := p.objects.kind(top.Kind()).get
	if op == nil {
		return vanished
	}
	answer, answered := p.service.askAt(op, l.params)
	if !answered {
		return needsRead
	}
	for _, row := range answer.Rows {
		if textIn(row, "archived_at") != "" {
			return l.block(string(top) + " is archived, so its contents cannot be checked")
		}
	}
	return vanished
}

func (p *orphans) findLostCreate(l *orphan) bool {
	read, _ := l.info.listRead(l.params)
	rows, answer := p.rowsOf(read)
	if answer == nil {
		l.decision = needsRead
		return false
	}
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		if !rows[id].HasExternalID(resource.ExternalID(p.in.Workspace, l.record.Address)) {
			continue
		}
		if _, wanted := p.objects.owners[serviceID{l.info.kind.Name, id}]; wanted {
			l.decision = aliased
			return false
		}
		l.recordCreated(id)
		return true
	}
	l.decision = vanished
	p.service.unconfirmed = append(p.service.unconfirmed, read)
	return false
}

// rowsOf returns the records of a list by their IDs; no answer = it has to be read.
func (p *orphans) rowsOf(read Read) (map[string]resource.Row, *Answer) {
	answer, answered := p.service.ask(read)
	if !answered {
		return nil, nil
	}
	rows := p.rows[read.Path]
	if rows == nil {
		rows = make(map[string]resource.Row, len(answer.Rows))
		for _, row := range answer.Rows {
			rows[row.ID()] = row
		}
		p.rows[read.Path] = rows
	}
	return rows, &answer
}

// usageReads counts the reads that tell who uses an orphan. lists holds those
// that others share.
func (p *orphans) usageReads(l *orphan, lists map[string]bool) int {
	before := len(lists)
	for _, u := range l.info.referrers(p.objects.kinds) {
		lists[u.kind.list.Path+string(l.record.Address.Parent())] = true
	}
	for _, k := range l.info.membershipsAround() {
		lists[resource.MustLookup(k.Membership.Container).Name] = true
	}
	return len(lists) - before + len(l.info.membershipsInside())
}

// keepReferenced keeps orphans that contain, or are referred to by, objects of others or of the
// manifest. It reports whether any decision changed.
func (p *orphans) keepReferenced() bool {
	changed := false
	for _, l := range p.list {
		if l.decision != toDelete {
			continue
		}
		l.guards = nil
		for _, check := range []func(*orphan) string{p.manifestReference, p.fieldReference, p.foreignMembers, p.foreignContainers} {
			if why := check(l); why != "" {
				l.block(why)
				changed = true
				break
			}
		}
	}
	return changed
}

// manifestReference says what in the manifest names an orphan by its name or ID.
func (p *orphans) manifestReference(l *orphan) string {
	if p.namedInManifest == nil {
		p.namedInManifest = map[serviceID]resource.Address{}
		for _, n := range p.objects.uses {
			for j := range n.value.Refs {
				if at, id, ok := p.refs.target(n.by, n.field, &n.value.Refs[j]); ok && at == noObject {
					if key := (serviceID{n.field.to.kind.Name, id}); p.namedInManifest[key] == "" {
						p.namedInManifest[key] = p.in.Desired[n.by].Address
					}
				}
			}
		}
	}
	if by := p.namedInManifest[serviceID{l.info.kind.Name, l.record.ID}]; by != "" {
		return string(by) + " still refers to it"
	}
	return ""
}

// fieldReference says which objects that stay name an orphan in a field, unless planform
// itself made the field so. Where the field cannot be emptied, whoever did.
func (p *orphans) fieldReference(l *orphan) string {
	for _, u := range l.info.referrers(p.objects.kinds) {
		read, ok := u.kind.listRead(l.params)
		if !ok {
			continue
		}
		answer, _ := p.askUsage(l, read)
		var by []string
		for _, row := range byID(answer.Rows) {
			shown, _ := u.field.ObservedIn(row)
			if slices.Contains(strings.Split(shown, ","), l.record.ID) && p.keepsUsing(u, row.ID(), l.record.ID) {
				by = append(by, p.displayName(u.kind.kind, l.record.Address.Parent(), row))
			}
		}
		if len(by) > 0 {
			return countOf(len(by), u.kind.kind) + " " + oneOr(len(by), "refers", "refer") + " to it in " + u.field.Path() + ": " + firstFew(by, ", ")
		}
	}
	return ""
}

// keepsUsing reports whether an object will refer to an orphan after this run, and not because of planform.
func (p *orphans) keepsUsing(u referrer, id, target string) bool {
	key := serviceID{u.kind.kind.Name, id}
	if p.isDeleted(key) {
		return false
	}
	if i, wanted := p.objects.owners[key]; wanted {
		if _, managed := p.in.Desired[i].Value(u.field.Name); managed {
			return false // it names another one soon
		}
	}
	if u.field.Type == resource.Ref && u.field.Clear == resource.ClearNever {
		return true
	}
	for _, a := range p.objects.addressesOf(key) {
		if applied, ok := p.in.Prior[a].Values[u.field.Name]; ok && (strings.HasPrefix(applied, "sha256:") || strings.Contains(applied, target)) {
			return false
		}
	}
	return true
}

func (p *orphans) isDeleted(id serviceID) bool {
	l := p.createdByUs[id]
	return l != nil && (l.decision == toDelete || l.decision == deleteWithParent || l.decision == needsRead || l.decision == vanished)
}

// foreignMembers says which members of an orphan planform did not add.
func (p *orphans) foreignMembers(l *orphan) string {
	for _, k := range l.info.membershipsInside() {
		m := k.Membership
		read, ok := membersRead(k, p.in.API, l.params)
		if !ok {
			continue
		}
		ours := p.ourMembers(l.record.Address.Members(m.Plural(), 1), m)
		answer, answered := p.askUsage(l, read)
		if !answered {
			continue
		}
		var by []string
		for _, row := range answer.Rows {
			if id := m.MemberID(row); !ours[id] {
				by = append(by, p.memberDisplayName(m, l.record.Address.Parent(), row))
			}
		}
		if len(by) > 0 {
			slices.Sort(by)
			return countOf(len(by), resource.MustLookup(m.Member)) + " added by others " + are(len(by)) + " in it: " + firstFew(by, ", ")
		}
		if !answer.Unsupported {
			l.guards = append(l.guards, Guard{read, slices.Sorted(maps.Keys(ours))})
		}
	}
	return ""
}

// ourMembers are the members that planform added to a container, as far as is known, and those
// that are deleted.
func (p *orphans) ourMembers(members resource.Address, m *resource.Membership) map[string]bool {
	ours := map[string]bool{}
	r := p.in.Prior[members]
	for _, id := range r.Members {
		ours[id] = true
	}
	if r.PendingIntent != nil && r.PendingIntent.Action == AddMembers {
		for handle := range strings.SplitSeq(r.PendingIntent.Name, "\n") {
			ours[handle] = true
			if id := p.refs.idAt(resource.Address(handle)); id != "" {
				ours[id] = true
			}
		}
	}
	for key, l := range p.createdByUs {
		if key.kind == m.Member && p.isDeleted(key) {
			ours[l.record.ID] = true
		}
	}
	delete(ours, "")
	return ours
}

// foreignContainers says which containers that stay have an orphan that planform did not add.
func (p *orphans) foreignContainers(l *orphan) string {
	for _, k := range l.info.membershipsAround() {
		t := p.objects.kind(k.Membership.Container)
		read, listed := t.listRead(map[string]string{"workspace_slug": p.in.Workspace})
		if !listed {
			continue
		}
		answer, _ := p.askUsage(l, read)
		rows := byID(answer.Rows)
		if len(rows) > maxSingleReads && !p.in.RefreshAll {
			continue
		}
		var by []string
		for _, row := range rows {
			read, ok := membersRead(k, p.in.API, map[string]string{"workspace_slug": p.in.Workspace, t.kind.Param: row.ID()})
			key := serviceID{t.kind.Name, row.ID()}
			if !ok || p.isDeleted(key) || p.addedByUs(key, k.Membership, l.record.ID) {
				continue
			}
			members, _ := p.askUsage(l, read)
			if slices.ContainsFunc(members.Rows, func(row resource.Row) bool { return k.Membership.MemberID(row) == l.record.ID }) {
				by = append(by, p.displayName(t.kind, "", row))
			}
		}
		if len(by) > 0 {
			return countOf(len(by), t.kind) + " " + oneOr(len(by), "refers", "refer") + " to it in " + k.Membership.Path() + ": " + firstFew(by, ", ")
		}
	}
	return ""
}

func (p *orphans) addedByUs(container serviceID, m *resource.Membership, member string) bool {
	return slices.ContainsFunc(p.objects.addressesOf(container), func(a resource.Address) bool {
		return slices.Contains(p.in.Prior[a.Members(m.Plural(), 1)].Members, member)
	})
}

// askUsage asks who uses an orphan, unless that takes too many requests: then nobody is known
// to. ok is false while there is no answer.
func (p *orphans) askUsage(l *orphan, read Read) (a Answer, ok bool) {
	if _, have := p.in.Observed[read]; !have && p.uncheckedUse > 0 {
		return Answer{}, true
	}
	if a, ok = p.service.ask(read); !ok {
		l.decision = needsRead
	}
	return a, ok
}

func (p *orphans) memberDisplayName(m *resource.Membership, parent resource.Address, row resource.Row) string {
	k := resource.MustLookup(m.Member)
	if row.ID() == m.MemberID(row) && row["sequence_id"] != nil {
		return p.displayName(k, parent, row)
	}
	return p.refs.nameID(m.Member, m.MemberID(row))
}

// called is what people call an orphan: its readable identifier and its name, as the service shows them, else as they were applied.
func (p *orphans) called(l *orphan) (identifier, name string) {
	row := resource.Row{}
	if read, ok := l.info.listRead(l.params); ok {
		if _, have := p.in.Observed[read]; have {
			rows, _ := p.rowsOf(read)
			row = rows[l.record.ID]
		}
	}
	if op := l.info.get; row.ID() == "" && op != nil && l.params != nil {
		read, _ := readOf(op, l.params)
		for _, row = range p.in.Observed[read].Rows {
			break
		}
	}
	texts := displayTexts(l.info.kind, row)
	for _, field := range l.info.kind.NaturalKey {
		if applied := l.record.Values[field]; !strings.HasPrefix(applied, "sha256:") {
			texts = append(texts, applied)
		}
	}
	return cmp.Or(p.readableID(l.info.kind, l.record.Address.Parent(), row), l.record.Identifier), cmp.Or(texts...)
}

// readableID is the readable identifier of a record below an address, or "".
func (p *orphans) readableID(k *resource.Kind, parent resource.Address, row resource.Row) string {
	code := p.in.Prior[parent].Identifier
	if i, wanted := p.objects.indexOf(parent); wanted && p.objects.states[i].identifier != "" {
		code = p.objects.states[i].identifier
	}
	if n, ok := row["sequence_id"].(json.Number); ok && k.Identifier != nil && code != "" {
		return code + "-" + n.String()
	}
	return ""
}

// displayName is what people call a record: by its readable identifier, else by its name.
func (p *orphans) displayName(k *resource.Kind, parent resource.Address, row resource.Row) string {
	if id := p.readableID(k, parent, row); id != "" {
		return id
	}
	for _, name := range displayTexts(k, row) {
		return strconv.Quote(name)
	}
	return p.refs.nameID(k.Name, row.ID())
}

// byID sorts records by their IDs, each once: a list that changes while its pages are read shows one twice.
func byID(rows []resource.Row) []resource.Row {
	rows = slices.SortedStableFunc(slices.Values(rows), func(a, b resource.Row) int { return strings.Compare(a.ID(), b.ID()) })
	return slices.CompactFunc(rows, func(a, b resource.Row) bool { return a.ID() == b.ID() })
}
