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

// maxOrphanReads limits the requests that read the contents and users of orphans to four minutes of the usual quota.
const maxOrphanReads = 4 * maxSingleReads

// countReads counts the requests that read the contents and users of single orphans. It leaves out lists that show all objects of a project.
func (rp *orphans) countReads() {
	shared := map[string]bool{} // one request shows all relations of an object, or the members of all containers in a parent
	for _, l := range rp.list {
		if l.decision != undecided {
			continue
		}
		if l.info.parent != nil {
			rp.reads += len(resource.Children(l.info.kind.Name))
		}
		if l.parent != nil && l.parent.decision == undecided {
			continue // the parent is checked instead
		}
		for _, k := range l.info.membershipsLostWith() {
			switch _, ok := k.Op(resource.ListOverview, rp.in.API); {
			case k.Membership.Inverse != "":
				shared[string(l.record.Address)] = true
			case ok:
				shared[k.Name+" "+string(l.record.Address.Parent())] = true
			default:
				rp.reads++
			}
		}
	}
	rp.reads += len(shared)
}

// mayRead reports whether a read about one orphan has an answer already, or there are few enough such reads. Otherwise it marks the orphan as
// unread.
func (rp *orphans) mayRead(l *orphan, read Read) bool {
	if _, have := rp.in.Observed[read]; have || rp.reads <= maxOrphanReads || rp.in.RefreshAll {
		return true
	}
	l.unread = true
	return false
}

// use is a field of an object of the service that names another one.
type use struct {
	kind    *kindInfo
	field   *resource.Field
	row, in resource.Row // the object, and the sibling of the named one whose list has it; nil = none has
}

// indexUses adds the uses in the rows of a list to the index.
func (rp *orphans) indexUses(t *kindInfo, list siblingList) {
	rows := rp.service.ask(list.read).Rows
	if rp.indexed[list.read] { // also if another task has read the list meanwhile
		return
	}
	rp.indexed[list.read] = true
	for _, row := range byID(rows) {
		for i := range t.refs {
			ids, _ := t.refs[i].field.ObservedIn(row)
			for id := range strings.SplitSeq(ids, ",") {
				rp.usedBy[id] = append(rp.usedBy[id], use{t, t.refs[i].field, row, list.in})
			}
		}
	}
}

// namedInManifest returns a cause if the manifest refers to an orphan by its name or ID.
func (rp *orphans) namedInManifest(l *orphan) []Cause {
	if rp.named == nil {
		rp.named = map[serviceID]resource.Address{}
		for _, n := range rp.objects.uses {
			for j := range n.value.Refs {
				if at, id, ok := rp.refs.target(n.by, n.field, &n.value.Refs[j]); ok && at == noObject {
					key := serviceID{n.field.to.kind.Name, id}
					rp.named[key] = cmp.Or(rp.named[key], rp.in.Desired[n.by].Address)
				}
			}
		}
	}
	if by := rp.named[l.id()]; by != "" {
		return []Cause{refused(string(by) + " still refers to it")}
	}
	return nil
}

// namedInFields returns a cause for each field by which objects that stay refer to an orphan, if planform did not set the field. If the field
// cannot be empty, it returns a cause in any case, because the service refuses the deletion.
func (rp *orphans) namedInFields(l *orphan) (causes []Cause) {
	for _, u := range l.info.referrers(rp.objects.kinds) {
		shown, path := u.kind.kind, u.field.Path()
		if shown.Parent != l.info.kind.NamedWithin() {
			shown, path = u.kind.parent.kind, shown.Section+"."+path
		}
		var by []string
		for _, list := range rp.siblingLists(l, u.kind) {
			rp.indexUses(u.kind, list)
		}
		for _, of := range rp.usedBy[l.record.ID] {
			if of.kind != u.kind || of.field != u.field || !rp.keepsUsing(u, of.row.ID(), l.record.ID) {
				continue
			}
			row := of.row
			if of.in != nil {
				row = of.in
			}
			by = append(by, rp.displayName(shown, l.record.Address.Parent(), row))
		}
		l.count(shown.Noun(), Using, len(by))
		causes = append(causes, refersToIt(by, shown, path, u.field.NeverEmpty())...)
	}
	return causes
}

// refersToIt returns a cause if objects of a kind refer to an orphan. refuses is set if the service refuses to delete an object that they refer
// to.
func refersToIt(by []string, k *resource.Kind, path string, refuses bool) []Cause {
	if len(by) == 0 {
		return nil
	}
	text := countOf(len(by), k) + " " + oneOr(len(by), "refers", "refer") + " to it in " + path + ": " + diag.First(by, fewNames)
	if refuses {
		return []Cause{refused(text)}
	}
	return []Cause{ofOthers(text)}
}

// siblingList is a list of an orphan's siblings of another kind, or of the contents of such a sibling, such as the states of a workflow.
type siblingList struct {
	read Read
	in   resource.Row // the sibling that has the list; nil = the list has the siblings themselves
}

// siblingLists returns the lists with the objects of a kind that can refer to an orphan, or that the orphan can refer to.
func (rp *orphans) siblingLists(l *orphan, k *kindInfo) (lists []siblingList) {
	if read, ok := k.listRead(l.params); ok {
		return []siblingList{{read, nil}}
	}
	if k.parent == nil {
		return nil
	}
	outer, ok := k.parent.listRead(l.params)
	if !ok {
		return nil
	}
	for _, row := range byID(rp.service.ask(outer).Rows) {
		params := maps.Clone(l.params)
		params[k.parent.kind.Param] = row.ID()
		if read, ok := k.listRead(params); ok {
			lists = append(lists, siblingList{read, row})
		}
	}
	return lists
}

// keepsUsing reports whether an object will still refer to an orphan after this run, and planform did not set the reference. An undo also keeps
// what planform set, because a run that is not undone set it.
func (rp *orphans) keepsUsing(u referrer, id, target string) bool {
	key := serviceID{u.kind.kind.Name, id}
	if rp.isDeleted(key) {
		return false
	}
	if rp.replaces(key, u.field) {
		return false
	}
	return u.field.NeverEmpty() || rp.in.Deletes != nil || rp.belongsToOther(rp.objects.addressOf(key)) ||
		!slices.ContainsFunc(rp.objects.addressesOf(key), func(a resource.Address) bool {
			applied, ok := rp.in.Prior[a].Values[u.field.Name]
			return ok && (strings.HasPrefix(applied, "sha256:") || strings.Contains(applied, target))
		})
}

// isDeleted reports whether an object of the service is an orphan that this run deletes, or that is gone.
func (rp *orphans) isDeleted(id serviceID) bool {
	l := rp.createdByUs[id]
	return l != nil && (l.isDeleted() || l.decision == vanished)
}

// foreignMembers returns a cause for each membership by which an orphan has members that planform did not add, and for relations that it did
// not make. It leaves out members that this run deletes. It sets the orphan's guards.
func (rp *orphans) foreignMembers(l *orphan) (causes []Cause) {
	l.guards = nil
	relations, related, unread := 0, []string{}, map[string]int{}
	for _, k := range l.info.membershipsLostWith() {
		read, ok := rp.objects.membersRead(k, l.params)
		if !ok || !rp.mayRead(l, read) {
			continue
		}
		m, list := k.Membership, newMemberList(k, read, rp.service.ask(read))
		inverse, _ := resource.Lookup(m.Inverse)
		added, ids, n, by := rp.membersAddedTo(l.record.Address, m), list.ids(), 0, []string{}
		for _, id := range ids {
			of := serviceID{m.Member, id}
			if rp.isDeleted(of) {
				continue
			}
			if n++; !slices.Contains(added, id) && (inverse == nil || !rp.addedByUs(of, inverse.Membership, l.record.ID)) {
				by = append(by, rp.memberDisplayName(m, l.record.Address.Parent(), list.rows[id][0]))
			}
		}
		if slices.Sort(by); inverse != nil {
			maps.Copy(unread, list.unread)
			relations += n
			for _, name := range by {
				related = append(related, strings.ReplaceAll(m.Field, "_", " ")+" "+name)
			}
			continue
		}
		member := resource.MustLookup(m.Member)
		if l.count(member.Noun(), MemberOf, n); len(by) > 0 {
			causes = append(causes, ofOthers(countOf(len(by), member)+" added by others "+are(len(by))+" in it: "+diag.First(by, fewNames)))
		}
		if list.state != notSupported {
			l.guards = append(l.guards, Guard{list.read, slices.Compact(slices.Sorted(slices.Values(append(ids, added...))))})
		}
	}
	for name, n := range unread {
		relations, related = relations+n, append(related, strings.ReplaceAll(name, "_", " ")+" "+strconv.Itoa(n))
	}
	if l.count("relation", Inside, relations); len(related) > 0 {
		slices.Sort(related)
		causes = append(causes, ofOthers("planform did not make its relation"+oneOr(len(related), " ", "s ")+diag.First(related, fewNames)))
	}
	return causes
}

// membersAddedTo returns the members that planform added to a container. It leaves out memberships that another owner declares.
func (rp *orphans) membersAddedTo(container resource.Address, m *resource.Membership) []string {
	return slices.DeleteFunc(rp.records.mayHaveAdded(m, container), func(id string) bool {
		return id == "" || rp.declaresOther(m, container, id)
	})
}

// addedByUs reports whether planform added a member to a container, according to the state.
func (rp *orphans) addedByUs(container serviceID, m *resource.Membership, member string) bool {
	return slices.ContainsFunc(rp.objects.addressesOf(container), func(a resource.Address) bool { return slices.Contains(rp.membersAddedTo(a, m), member) })
}

// foreignContainers returns a cause for each kind whose containers have an orphan as a member. It leaves out containers that this run deletes,
// and memberships that planform made.
func (rp *orphans) foreignContainers(l *orphan) (causes []Cause) {
	for _, k := range l.info.containerMemberships() {
		t := rp.objects.kind(k.Membership.Container)
		read, listed := t.listRead(map[string]string{"workspace_slug": rp.in.Workspace})
		if !listed {
			continue
		}
		rows := byID(rp.service.ask(read).Rows)
		if len(rows) > maxOrphanReads && !rp.in.RefreshAll {
			l.unread = true
			continue
		}
		var by []string
		for _, row := range rows {
			key := serviceID{t.kind.Name, row.ID()}
			if rp.isDeleted(key) || rp.addedByUs(key, k.Membership, l.record.ID) {
				continue
			}
			list := listMembers(rp.analysis, k, map[string]string{"workspace_slug": rp.in.Workspace, t.kind.Param: row.ID()})
			if list.has(l.record.ID) {
				by = append(by, rp.displayName(t.kind, "", row))
			}
		}
		l.count(t.kind.Noun(), Using, len(by))
		causes = append(causes, refersToIt(by, t.kind, k.Membership.Path(), false)...)
	}
	return causes
}

// unlistedUsers returns a cause for each kind whose unlisted objects may use an orphan.
func (rp *orphans) unlistedUsers(l *orphan) (causes []Cause) {
	var users []*kindInfo
	for _, u := range l.info.referrers(rp.objects.kinds) {
		users = append(users, u.kind)
	}
	for _, k := range l.info.membershipsLostWith() {
		if k.Membership.Inverse == "" { // the list of relations also shows unlisted objects
			users = append(users, rp.objects.kind(k.Membership.Member))
		}
	}
	parent := l.record.Address.Parent()
	for _, t := range users {
		if t.kind.CountedAs == "" || t.parent == nil || t.parent.kind.Name != parent.Kind() {
			continue
		}
		if n := rp.hidden(t, parent, l.params, rp.countsIn(t.parent, l.params)[t.kind.CountedAs]); n > 0 {
			l.count(t.kind.Noun(), Unlisted, n)
			causes = append(causes, ofOthers(unlisted(n, t.kind)+" may use it"))
		}
	}
	return causes
}

// whyNotRead returns a cause if the contents or users of an orphan were not read, because that takes too many requests.
func (rp *orphans) whyNotRead(l *orphan) []Cause {
	if !l.unread || rp.in.DeleteChanged {
		return nil
	}
	return []Cause{refused("planform did not check its contents and its use by others: this takes " + strconv.Itoa(rp.reads) +
		" requests (--refresh-all)")}
}

// memberDisplayName returns the name of a member, from the list of the member's kind or from the list of members.
func (rp *orphans) memberDisplayName(m *resource.Membership, parent resource.Address, row resource.Row) string {
	t, id := rp.objects.kind(m.Member), m.MemberID(row)
	if listed := rp.listed(t, rp.refs.paramsIn(parent))[id]; listed != nil {
		row = listed
	}
	if row.ID() != id {
		return rp.refs.nameID(m.Member, id)
	}
	return rp.displayName(t.kind, parent, row)
}

// rowOf returns the row of an orphan, or nil if it was not read.
func (rp *orphans) rowOf(l *orphan) resource.Row {
	if l.row == nil {
		l.row = rp.listed(l.info, l.params)[l.record.ID]
	}
	return l.row
}

// readableID returns the readable identifier of a row in the parent at an address, or "".
func (rp *orphans) readableID(k *resource.Kind, parent resource.Address, row resource.Row) string {
	code := rp.in.Prior[parent].Identifier
	if i, wanted := rp.objects.indexOf(parent); wanted {
		code = cmp.Or(rp.objects.states[i].identifier, code)
	}
	if !k.Numbered() {
		return ""
	}
	return k.ReadableID(row, code)
}

// displayName returns the readable identifier of a row, else its quoted name.
func (rp *orphans) displayName(k *resource.Kind, parent resource.Address, row resource.Row) string {
	if id := rp.readableID(k, parent, row); id != "" {
		return id
	}
	for _, name := range k.DisplayTexts(row) {
		return strconv.Quote(name)
	}
	return rp.refs.nameID(k.Name, row.ID())
}

// byID sorts rows by their IDs, and removes duplicates: a list that changes while its pages are read may show a row twice.
func byID(rows []resource.Row) []resource.Row {
	rows = slices.SortedStableFunc(slices.Values(rows), func(a, b resource.Row) int { return strings.Compare(a.ID(), b.ID()) })
	return slices.CompactFunc(rows, func(a, b resource.Row) bool { return a.ID() == b.ID() })
}
