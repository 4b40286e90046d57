package planner

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/resource"
)

// Guard is who may be in a container that is deleted. Whoever else is in it by
// then was put there by somebody, and keeps it.
type Guard struct {
	Read    Read
	Members []string // IDs, sorted
}

// userField is a kind whose field names objects of another kind that live beside its own.
type userField struct {
	info  *kindInfo
	field *resource.Field
}

// users are the fields by which an object that is deleted may be named. What is
// below another of its own kind is another matter, see [pruner.checkContents].
func (t *kindInfo) users(kinds map[*resource.Kind]*kindInfo) []userField {
	var found []userField
	for _, k := range resource.Kinds() {
		u := kinds[k]
		if k == t.kind || k.Parent != t.kind.Parent || u.list == nil {
			continue
		}
		for i := range u.refs {
			if r := &u.refs[i]; r.to == t && r.via == nil && r.field.APIName != "" {
				found = append(found, userField{u, r.field})
			}
		}
	}
	return found
}

// holders are the memberships of objects in a container of the kind: not of people,
// who lose nothing by it, and not relations among equals.
func (t *kindInfo) holders() []*resource.Kind {
	return slices.DeleteFunc(resource.Memberships(), func(k *resource.Kind) bool {
		m := k.Membership
		return m.Container != t.kind.Name || m.Member == m.Container || resource.MustLookup(m.Member).Section == ""
	})
}

// carriers are the memberships by which containers of the workspace have objects
// of the kind, such as the labels of an initiative. What objects live in is kept by those.
func (t *kindInfo) carriers() []*resource.Kind {
	return slices.DeleteFunc(resource.Memberships(), func(k *resource.Kind) bool {
		m := k.Membership
		return m.Member != t.kind.Name || m.On != m.Container || resource.MustLookup(m.Container).Parent != "" || len(resource.Children(t.kind.Name)) > 0
	})
}

// usageReads counts the reads that tell who uses an orphan. lists holds those
// that others share.
func (p *pruner) usageReads(l *orphan, lists map[string]bool) int {
	before := len(lists)
	for _, u := range l.info.users(p.kinds) {
		lists[u.info.list.Path+string(l.record.Address.Parent())] = true
	}
	for _, k := range l.info.carriers() {
		lists[resource.MustLookup(k.Membership.Container).Name] = true
	}
	return len(lists) - before + len(l.info.holders())
}

// keepUsed keeps what somebody else's objects are in or name, and what the manifest
// itself names still. It reports whether there was any that was to go.
func (p *pruner) keepUsed() bool {
	spared := false
	for _, l := range p.orphans {
		if l.decision != toDelete {
			continue
		}
		l.guards = nil
		for _, check := range []func(*orphan) string{p.namedBy, p.usedBy, p.heldBy, p.carriedBy} {
			if why := check(l); why != "" {
				l.block(why)
				spared = true
				break
			}
		}
	}
	return spared
}

// namedBy says what in the manifest names an orphan by its name or ID.
func (p *pruner) namedBy(l *orphan) string {
	if p.stillNamed == nil {
		p.stillNamed = map[serviceID]resource.Address{}
		for _, n := range p.refs {
			for j := range n.value.Refs {
				if at, id, ok := p.target(n.by, n.field, &n.value.Refs[j]); ok && at == none {
					if key := (serviceID{n.field.to.kind.Name, id}); p.stillNamed[key] == "" {
						p.stillNamed[key] = p.in.Desired[n.by].Address
					}
				}
			}
		}
	}
	if by := p.stillNamed[serviceID{l.info.kind.Name, l.record.ID}]; by != "" {
		return string(by) + " still refers to it"
	}
	return ""
}

// usedBy says which objects that stay name an orphan in a field, unless planform
// itself made the field so. Where the field cannot be emptied, whoever did.
func (p *pruner) usedBy(l *orphan) string {
	for _, u := range l.info.users(p.kinds) {
		path, missing := u.info.list.Expand(l.params)
		if missing != "" {
			continue
		}
		rows, answer := p.rowsIfCheap(l, Read{Operation: u.info.list, Path: path, Fields: u.info.fields})
		if answer == nil {
			continue
		}
		var by []string
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			shown, _ := u.field.ObservedIn(rows[id])
			if slices.Contains(strings.Split(shown, ","), l.record.ID) && p.uses(u, id, l.record.ID) {
				by = append(by, p.readableIn(u.info.kind, l.record.Address.Parent(), rows[id]))
			}
		}
		if len(by) > 0 {
			return countOf(len(by), u.info.kind) + " " + verb(len(by), "refer") + " to it in " + u.field.Path() + ": " + firstFew(by, ", ")
		}
	}
	return ""
}

// uses reports whether an object that names an orphan now still does so when that goes, and not because of planform.
func (p *pruner) uses(u userField, id, target string) bool {
	key := serviceID{u.info.kind.Name, id}
	if p.deletedToo(key) {
		return false
	}
	always := u.field.Type == resource.Ref && u.field.Clear == resource.ClearNever
	i, wanted := p.owners[key]
	if wanted {
		if _, managed := p.in.Desired[i].Value(u.field.Name); managed {
			return false // it names another one soon
		}
	}
	if always {
		return true
	}
	for _, r := range p.recordsOf(key) {
		if applied, ok := r.Values[u.field.Name]; ok && (strings.HasPrefix(applied, "sha256:") || strings.Contains(applied, target)) {
			return false
		}
	}
	return true
}

// recordsOf are the records that the state has of an object of the service.
func (p *pruner) recordsOf(id serviceID) []Record {
	if p.byID == nil {
		p.byID = map[serviceID][]Record{}
		for _, address := range slices.Sorted(maps.Keys(p.in.Prior)) {
			if r := p.in.Prior[address]; address.IsObject() && r.ID != "" {
				key := serviceID{address.Kind(), r.ID}
				p.byID[key] = append(p.byID[key], r)
			}
		}
	}
	return p.byID[id]
}

// deletedToo reports whether an object of the service is deleted too.
func (p *pruner) deletedToo(id serviceID) bool {
	l := p.createdByUs[id]
	return l != nil && (l.decision == toDelete || l.decision == deleteWithParent || l.decision == needsRead || l.decision == vanished)
}

// heldBy says which objects that planform did not put there are in an orphan.
func (p *pruner) heldBy(l *orphan) string {
	for _, k := range l.info.holders() {
		op, ok := k.Op(resource.ListMembers, p.in.API)
		if !ok {
			continue
		}
		path, missing := op.Expand(l.params)
		if missing != "" {
			continue
		}
		m := k.Membership
		read := Read{Operation: op, Path: path}
		mine := p.putByUs(l.record.Address.Members(m.Plural(), 1), m)
		answer, answered := p.in.Observed[read]
		if !answered && p.uncheckedUse == 0 {
			if answer, answered = p.ask(read); !answered {
				l.decision = needsRead
				continue
			}
		}
		var by []string
		for _, row := range answer.Rows {
			if id := m.MemberID(row); !mine[id] {
				by = append(by, p.readableMember(m, l.record.Address.Parent(), row))
			}
		}
		if len(by) > 0 {
			slices.Sort(by)
			return countOf(len(by), resource.MustLookup(m.Member)) + " added by others " + are(len(by)) + " in it: " + firstFew(by, ", ")
		}
		if !answer.Unsupported {
			l.guards = append(l.guards, Guard{read, slices.Sorted(maps.Keys(mine))})
		}
	}
	return ""
}

// putByUs is who is in a container because of planform, as far as is known, and who is deleted.
func (p *pruner) putByUs(roster resource.Address, m *resource.Membership) map[string]bool {
	mine := map[string]bool{}
	r := p.in.Prior[roster]
	for _, id := range r.Members {
		mine[id] = true
	}
	if r.PendingIntent != nil && r.PendingIntent.Action == AddMembers {
		for handle := range strings.SplitSeq(r.PendingIntent.Name, "\n") {
			mine[handle] = true
			if id := p.idAt(resource.Address(handle)); id != "" {
				mine[id] = true
			}
		}
	}
	for key, l := range p.createdByUs {
		if key.kind == m.Member && p.deletedToo(key) {
			mine[l.record.ID] = true
		}
	}
	delete(mine, "")
	return mine
}

// carriedBy says which containers that stay have an orphan, unless planform put it there.
func (p *pruner) carriedBy(l *orphan) string {
	for _, k := range l.info.carriers() {
		t := p.kinds[resource.MustLookup(k.Membership.Container)]
		op, ok := k.Op(resource.ListMembers, p.in.API)
		if t.list == nil || !ok {
			continue
		}
		path, _ := t.list.Expand(map[string]string{"workspace_slug": p.in.Workspace})
		rows, answer := p.rowsIfCheap(l, Read{Operation: t.list, Path: path, Fields: t.fields})
		if answer == nil || len(rows) > maxSingleReads && !p.in.RefreshAll {
			continue
		}
		var by []string
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			path, missing := op.Expand(map[string]string{"workspace_slug": p.in.Workspace, t.kind.Param: id})
			key := serviceID{t.kind.Name, id}
			if missing != "" || p.deletedToo(key) || p.wasPutByUs(key, k.Membership, l.record.ID) {
				continue
			}
			members, in := p.in.Observed[Read{Operation: op, Path: path}]
			if !in && p.uncheckedUse == 0 {
				if members, in = p.ask(Read{Operation: op, Path: path}); !in {
					l.decision = needsRead
					continue
				}
			}
			if slices.ContainsFunc(members.Rows, func(row resource.Row) bool { return k.Membership.MemberID(row) == l.record.ID }) {
				by = append(by, p.readableIn(t.kind, "", rows[id]))
			}
		}
		if len(by) > 0 {
			return countOf(len(by), t.kind) + " " + verb(len(by), "refer") + " to it in " + k.Membership.Path() + ": " + firstFew(by, ", ")
		}
	}
	return ""
}

// wasPutByUs reports whether planform put a member into a container.
func (p *pruner) wasPutByUs(container serviceID, m *resource.Membership, member string) bool {
	return slices.ContainsFunc(p.recordsOf(container), func(r Record) bool {
		return slices.Contains(p.in.Prior[r.Address.Members(m.Plural(), 1)].Members, member)
	})
}

// rowsIfCheap returns the records of a list, as far as they may be read; no answer = they are not known.
func (p *pruner) rowsIfCheap(l *orphan, read Read) (map[string]resource.Row, *Answer) {
	if _, have := p.in.Observed[read]; !have && p.uncheckedUse > 0 {
		return nil, nil
	}
	rows, answer := p.rowsOf(read)
	if answer == nil {
		l.decision = needsRead
	}
	return rows, answer
}

// readableMember is what people call the member that a row of a container's list stands for.
func (p *pruner) readableMember(m *resource.Membership, parent resource.Address, row resource.Row) string {
	k := resource.MustLookup(m.Member)
	if row.ID() == m.MemberID(row) && row["sequence_id"] != nil {
		return p.readableIn(k, parent, row)
	}
	return p.nameID(m.Member, m.MemberID(row))
}

// readableIn is what people call a record: by its readable identifier, else by its name.
func (p *pruner) readableIn(k *resource.Kind, parent resource.Address, row resource.Row) string {
	code := p.in.Prior[parent].Identifier
	if i, wanted := p.indexOf(parent); wanted && p.states[i].identifier != "" {
		code = p.states[i].identifier
	}
	if n, ok := row["sequence_id"].(json.Number); ok && k.Identifier != nil && code != "" {
		return code + "-" + n.String()
	}
	for _, name := range displayTexts(k, row) {
		return strconv.Quote(name)
	}
	return p.nameID(k.Name, row.ID())
}

// verb is what one object does, or several do.
func verb(n int, does string) string {
	if n == 1 {
		return does + "s"
	}
	return does
}
