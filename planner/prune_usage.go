package planner

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// maxLooks is how many requests a plan makes to see what each of the objects to be deleted has in it, and who uses it: four
// minutes of the usual quota, since what is deleted is gone.
const maxLooks = 4 * maxSingleReads

// checkReadBudget counts the requests that tell of single orphans what is in them and who uses them. Lists that
// show all of a project cost little.
func (or *orphans) checkReadBudget() {
	overviews := map[string]bool{}
	for _, l := range or.list {
		if l.decision != undecided {
			continue
		}
		if l.info.parent != nil {
			or.looks += len(resource.Children(l.info.kind.Name))
		}
		if l.parent != nil && l.parent.decision == undecided {
			continue // its parent is asked
		}
		or.looks += min(1, len(l.info.relations()))
		for _, k := range l.info.membershipsInside() {
			if _, ok := k.Op(resource.ListOverview, or.in.API); ok {
				overviews[k.Name+" "+string(l.record.Address.Parent())] = true
			} else {
				or.looks++
			}
		}
	}
	or.looks += len(overviews)
}

// mayRead reports whether an answer about one orphan is there, or few enough are needed to ask.
func (or *orphans) mayRead(l *orphan, read Read) bool {
	if _, have := or.in.Observed[read]; have || or.looks <= maxLooks || or.in.RefreshAll {
		return true
	}
	l.unread = true
	return false
}

// keepReferenced keeps orphans that contain, or are referred to by, objects of others or of the
// manifest. It reports whether any decision changed.
func (or *orphans) keepReferenced() bool {
	changed := false
	or.service.each(len(or.list), func(i int) {
		l := or.list[i]
		if l.decision != toDelete {
			return
		}
		if or.checkUsage(l); l.decision != toDelete {
			or.decideInside(l)
			changed = true
		}
	})
	return changed
}

// checkUsage blocks an orphan that contains objects of others or of the manifest, or that such objects refer to.
func (or *orphans) checkUsage(l *orphan) {
	l.guards = nil
	if why := or.manifestReference(l); why != "" {
		l.block(why)
		return
	}
	for _, check := range []func(*orphan) string{or.fieldReference, or.foreignMembers, or.foreignContainers, or.foreignRelations} {
		if why := check(l); why != "" {
			or.keep(l, why)
		}
		if l.decision == blocked {
			return
		}
	}
	or.checkUnlisted(l)
}

// manifestReference says what in the manifest names an orphan by its name or ID.
func (or *orphans) manifestReference(l *orphan) string {
	if or.namedInManifest == nil {
		or.namedInManifest = map[serviceID]resource.Address{}
		for _, n := range or.objects.uses {
			for j := range n.value.Refs {
				if at, id, ok := or.refs.target(n.by, n.field, &n.value.Refs[j]); ok && at == noObject {
					if key := (serviceID{n.field.to.kind.Name, id}); or.namedInManifest[key] == "" {
						or.namedInManifest[key] = or.in.Desired[n.by].Address
					}
				}
			}
		}
	}
	if by := or.namedInManifest[serviceID{l.info.kind.Name, l.record.ID}]; by != "" {
		return string(by) + " still refers to it"
	}
	return ""
}

// fieldReference says which objects that stay name an orphan in a field, unless planform
// itself made the field so. Where the field cannot be emptied, whoever did.
func (or *orphans) fieldReference(l *orphan) (why string) {
	for _, u := range l.info.referrers(or.objects.kinds) {
		shown, path := u.kind.kind, u.field.Path() // who is said to refer to it
		if shown.Parent != l.info.kind.NamedWithin() {
			shown, path = u.kind.parent.kind, shown.Section+"."+path
		}
		var by []string
		for _, list := range or.listsBeside(l, u.kind) {
			for _, row := range byID(or.service.ask(list.read).Rows) {
				ids, _ := u.field.ObservedIn(row)
				if slices.Contains(strings.Split(ids, ","), l.record.ID) && or.keepsUsing(u, row.ID(), l.record.ID) {
					if list.in != nil {
						row = list.in
					}
					by = append(by, or.displayName(shown, l.record.Address.Parent(), row))
				}
			}
		}
		l.count(shown.Noun(), Using, len(by))
		if len(by) > 0 && why == "" {
			why = countOf(len(by), shown) + " " + oneOr(len(by), "refers", "refer") + " to it in " + path + ": " + diag.First(by, fewNames)
			if u.field.NeverEmpty() {
				l.block(why) // the service refuses
			}
		}
	}
	return why
}

// listBeside is a list of objects beside an orphan, or of those in one beside it, such as the states of a workflow.
type listBeside struct {
	read Read
	in   resource.Row // nil = they are beside it themselves
}

// listsBeside are the lists of the objects of a kind that can refer to an orphan, or that it can refer to.
func (or *orphans) listsBeside(l *orphan, k *kindInfo) (lists []listBeside) {
	if read, ok := k.listRead(l.params); ok {
		return []listBeside{{read, nil}}
	}
	if k.parent == nil {
		return nil
	}
	outer, ok := k.parent.listRead(l.params)
	if !ok {
		return nil
	}
	for _, row := range byID(or.service.ask(outer).Rows) {
		params := maps.Clone(l.params)
		params[k.parent.kind.Param] = row.ID()
		if read, ok := k.listRead(params); ok {
			lists = append(lists, listBeside{read, row})
		}
	}
	return lists
}

// keepsUsing reports whether an object will refer to an orphan after this run, and not because of planform.
func (or *orphans) keepsUsing(u referrer, id, target string) bool {
	key := serviceID{u.kind.kind.Name, id}
	if or.isDeleted(key) {
		return false
	}
	if i, wanted := or.objects.owners[key]; wanted && !or.objects.states[i].foreign {
		if _, managed := or.in.Desired[i].Value(u.field.Name); managed {
			return false // it names another one soon
		}
	}
	if u.field.NeverEmpty() || or.isOthers(or.objects.addressOf(key)) {
		return true
	}
	for _, a := range or.objects.addressesOf(key) {
		if applied, ok := or.in.Prior[a].Values[u.field.Name]; ok && (strings.HasPrefix(applied, "sha256:") ||
			strings.Contains(applied, target)) {
			return false
		}
	}
	return true
}

func (or *orphans) isDeleted(id serviceID) bool {
	l := or.createdByUs[id]
	return l != nil && (l.decision == toDelete || l.decision == deleteWithParent || l.decision == vanished)
}

// foreignMembers says which members of an orphan planform did not add.
func (or *orphans) foreignMembers(l *orphan) (why string) {
	for _, k := range l.info.membershipsInside() {
		m := k.Membership
		read, ok := or.objects.membersRead(k, l.params)
		if !ok || !or.mayRead(l, read) {
			continue
		}
		ours := or.membersAdded(l.record.Address, m)
		for key, in := range or.createdByUs {
			if key.kind == m.Member && or.isDeleted(key) && in.record.ID != "" {
				ours[in.record.ID] = true
			}
		}
		answer := or.service.ask(read)
		var by []string
		all, staying := slices.Sorted(maps.Keys(ours)), 0
		for _, row := range answer.Rows {
			id := m.MemberID(row)
			if !or.isDeleted(serviceID{m.Member, id}) {
				staying++
			}
			if !ours[id] {
				by, all = append(by, or.memberDisplayName(m, l.record.Address.Parent(), row)), append(all, id)
			}
		}
		l.count(resource.MustLookup(m.Member).Noun(), MemberOf, staying)
		if len(by) > 0 && why == "" {
			slices.Sort(by)
			why = countOf(len(by), resource.MustLookup(m.Member)) + " added by others " + are(len(by)) + " in it: " + diag.First(by, fewNames)
		}
		if !answer.Unsupported {
			slices.Sort(all)
			l.guards = append(l.guards, Guard{read, all})
		}
	}
	return why
}

// membersAdded returns the members that planform added to a container, or may have added by a request without an outcome.
func (or *orphans) membersAdded(container resource.Address, m *resource.Membership) map[string]bool {
	added := map[string]bool{}
	for _, id := range or.records.mayHaveAdded(container.Members(m.Plural(), 1)) {
		if id != "" && !or.declaresOther(m, container, id) {
			added[id] = true
		}
	}
	return added
}

// foreignContainers says which containers that stay have an orphan that planform did not add.
func (or *orphans) foreignContainers(l *orphan) (why string) {
	for _, k := range l.info.membershipsAround() {
		t := or.objects.kind(k.Membership.Container)
		read, listed := t.listRead(map[string]string{"workspace_slug": or.in.Workspace})
		if !listed {
			continue
		}
		rows := byID(or.service.ask(read).Rows)
		if len(rows) > maxLooks && !or.in.RefreshAll {
			l.unread = true
			continue
		}
		var by []string
		for _, row := range rows {
			read, ok := or.objects.membersRead(k, map[string]string{"workspace_slug": or.in.Workspace, t.kind.Param: row.ID()})
			key := serviceID{t.kind.Name, row.ID()}
			if !ok || or.isDeleted(key) || or.addedByUs(key, k.Membership, l.record.ID) {
				continue
			}
			if members := or.service.ask(read); slices.ContainsFunc(members.Rows,
				func(row resource.Row) bool { return k.Membership.MemberID(row) == l.record.ID }) {
				by = append(by, or.displayName(t.kind, "", row))
			}
		}
		l.count(t.kind.Noun(), Using, len(by))
		if len(by) > 0 && why == "" {
			why = countOf(len(by), t.kind) + " " + oneOr(len(by), "refers", "refer") + " to it in " + k.Membership.Path() + ": " +
				diag.First(by, fewNames)
		}
	}
	return why
}

// addedByUs reports whether planform added a member to a container, as far as is known.
func (or *orphans) addedByUs(container serviceID, m *resource.Membership, member string) bool {
	return slices.ContainsFunc(or.objects.addressesOf(container), func(a resource.Address) bool { return or.membersAdded(a, m)[member] })
}

// foreignRelations says which relations of an orphan planform did not make, and that do not go with both objects.
func (or *orphans) foreignRelations(l *orphan) string {
	var by []string
	n := 0
	for _, k := range l.info.relations() {
		m := k.Membership
		read, ok := or.objects.membersRead(k, l.params)
		if !ok || !or.mayRead(l, read) {
			continue
		}
		answer := or.service.ask(read)
		for name, more := range answer.Unread {
			n, by = n+more, append(by, strings.ReplaceAll(name, "_", " ")+" "+strconv.Itoa(more))
		}
		n += len(answer.Rows)
		inverse := resource.MustLookup(m.Inverse).Membership
		for _, row := range answer.Rows {
			other := serviceID{m.Member, m.MemberID(row)}
			ours := or.addedByUs(serviceID{m.Container, l.record.ID}, m, other.id) || or.addedByUs(other, inverse, l.record.ID)
			if !ours && !or.isDeleted(other) {
				by = append(by, strings.ReplaceAll(m.Field, "_", " ")+" "+or.memberDisplayName(m, l.record.Address.Parent(), row))
			}
		}
	}
	l.count("relation", Inside, n)
	if len(by) == 0 {
		return ""
	}
	slices.Sort(by)
	return "planform did not make " + oneOr(len(by), "its relation ", "its relations ") + diag.First(by, fewNames)
}

// checkUnlisted keeps an orphan that objects which no list shows may use, and one that nobody looked at.
func (or *orphans) checkUnlisted(l *orphan) {
	var users []*kindInfo
	for _, u := range l.info.referrers(or.objects.kinds) {
		users = append(users, u.kind)
	}
	for _, k := range l.info.membershipsInside() {
		users = append(users, or.objects.kind(k.Membership.Member))
	}
	parent := l.record.Address.Parent()
	for _, t := range users {
		if t.kind.CountedAs == "" || t.parent == nil || t.parent.kind.Name != parent.Kind() {
			continue
		}
		counts := or.countsIn(t.parent, l.params)
		if n := or.hidden(t, parent, l.params, counts[t.kind.CountedAs]); n > 0 {
			l.count(t.kind.Noun(), Unlisted, n)
			or.keep(l, unlisted(n, t.kind)+" may use it")
		}
	}
	if l.unread && !or.in.DeleteChanged && l.decision == toDelete {
		l.block("planform did not look what others have in it or use it for: that takes " + strconv.Itoa(or.looks) +
			" requests, which --refresh-all makes")
	}
}

func (or *orphans) memberDisplayName(m *resource.Membership, parent resource.Address, row resource.Row) string {
	t, id := or.objects.kind(m.Member), m.MemberID(row)
	if listed := or.listed(t, or.refs.paramsIn(parent))[id]; listed != nil {
		return or.displayName(t.kind, parent, listed)
	}
	if row.ID() == id && row["sequence_id"] != nil {
		return or.displayName(t.kind, parent, row)
	}
	return or.refs.nameID(m.Member, id)
}

// shown is an orphan as the service shows it, as far as that was read.
func (or *orphans) shown(l *orphan) resource.Row {
	if l.row == nil {
		l.row = or.listed(l.info, l.params)[l.record.ID]
	}
	return l.row
}

// listed returns the records of a list by their IDs, if it was read.
func (or *orphans) listed(t *kindInfo, params map[string]string) (rows map[string]resource.Row) {
	if read, ok := t.listRead(params); ok {
		if _, have := or.in.Observed[read]; have {
			rows, _ = or.rowsOf(read)
		}
	}
	return rows
}

// titleOf is what people call an orphan: its readable identifier and its name, as the service shows them, else as they were applied.
func (or *orphans) titleOf(l *orphan) (identifier, name string) {
	row := or.shown(l)
	texts := l.info.kind.DisplayTexts(row)
	for _, field := range l.info.kind.NaturalKey {
		if applied := l.record.Values[field]; !strings.HasPrefix(applied, "sha256:") && !resource.IsID(applied) {
			texts = append(texts, applied)
		}
	}
	return cmp.Or(or.readableID(l.info.kind, l.record.Address.Parent(), row), l.record.Identifier), cmp.Or(texts...)
}

// readableID is the readable identifier of a record below an address, or "".
func (or *orphans) readableID(k *resource.Kind, parent resource.Address, row resource.Row) string {
	code := or.in.Prior[parent].Identifier
	if i, wanted := or.objects.indexOf(parent); wanted && or.objects.states[i].identifier != "" {
		code = or.objects.states[i].identifier
	}
	if !k.Numbered() {
		return ""
	}
	return k.ReadableID(row, code)
}

// displayName is what people call a record: by its readable identifier, else by its name.
func (or *orphans) displayName(k *resource.Kind, parent resource.Address, row resource.Row) string {
	if id := or.readableID(k, parent, row); id != "" {
		return id
	}
	for _, name := range k.DisplayTexts(row) {
		return strconv.Quote(name)
	}
	return or.refs.nameID(k.Name, row.ID())
}

// byID sorts records by their IDs, each once: a list that changes while its pages are read shows one twice.
func byID(rows []resource.Row) []resource.Row {
	rows = slices.SortedStableFunc(slices.Values(rows), func(a, b resource.Row) int { return strings.Compare(a.ID(), b.ID()) })
	return slices.CompactFunc(rows, func(a, b resource.Row) bool { return a.ID() == b.ID() })
}
