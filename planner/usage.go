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

// user is a kind whose field names things of another kind that live beside its own.
type user struct {
	traits *traits
	field  *resource.Field
}

// users are the fields by which a thing that is deleted may be named. What is
// below another of its own kind is another matter, see [pruner.empty].
func (t *traits) users(kinds map[*resource.Kind]*traits) []user {
	var found []user
	for _, k := range resource.Kinds() {
		u := kinds[k]
		if k == t.kind || k.Parent != t.kind.Parent || u.list == nil {
			continue
		}
		for i := range u.refs {
			if r := &u.refs[i]; r.to == t && r.via == nil && r.field.Wire != "" {
				found = append(found, user{u, r.field})
			}
		}
	}
	return found
}

// holders are the memberships of things in a container of the kind: not of people,
// who lose nothing by it, and not relations among equals.
func (t *traits) holders() []*resource.Kind {
	return slices.DeleteFunc(resource.Memberships(), func(k *resource.Kind) bool {
		m := k.Membership
		return m.Container != t.kind.Name || m.Member == m.Container || resource.Must(m.Member).Section == ""
	})
}

// carriers are the memberships by which containers of the workspace have things
// of the kind, such as the labels of an initiative. What things live in is kept by those.
func (t *traits) carriers() []*resource.Kind {
	return slices.DeleteFunc(resource.Memberships(), func(k *resource.Kind) bool {
		m := k.Membership
		return m.Member != t.kind.Name || m.On != m.Container || resource.Must(m.Container).Parent != "" || len(resource.Children(t.kind.Name)) > 0
	})
}

// usageReads counts the reads that tell who uses a leftover. lists holds those
// that others share.
func (p *pruner) usageReads(l *leftover, lists map[string]bool) int {
	before := len(lists)
	for _, u := range l.traits.users(p.kinds) {
		lists[u.traits.list.Path+string(l.record.Address.Parent())] = true
	}
	for _, k := range l.traits.carriers() {
		lists[resource.Must(k.Membership.Container).Name] = true
	}
	return len(lists) - before + len(l.traits.holders())
}

// spareUsed keeps what somebody else's things are in or name, and what the manifest
// itself names still. It reports whether there was any that was to go.
func (p *pruner) spareUsed() bool {
	spared := false
	for _, l := range p.leftovers {
		if l.fate != goes {
			continue
		}
		l.guards = nil
		for _, check := range []func(*leftover) string{p.namedBy, p.usedBy, p.heldBy, p.carriedBy} {
			if why := check(l); why != "" {
				l.refuse(why)
				spared = true
				break
			}
		}
	}
	return spared
}

// namedBy says what in the manifest names a leftover by its name or ID.
func (p *pruner) namedBy(l *leftover) string {
	if p.wanted == nil {
		p.wanted = map[serviceID]resource.Address{}
		for _, n := range p.refs {
			for j := range n.v.Refs {
				if at, id, ok := p.target(n.by, n.t, &n.v.Refs[j]); ok && at == none {
					if key := (serviceID{n.t.to.kind.Name, id}); p.wanted[key] == "" {
						p.wanted[key] = p.in.Desired[n.by].Address
					}
				}
			}
		}
	}
	if by := p.wanted[serviceID{l.traits.kind.Name, l.record.ID}]; by != "" {
		return string(by) + " names it still"
	}
	return ""
}

// usedBy says which things that stay name a leftover in a field, unless planform
// itself made the field so. Where the field cannot be emptied, whoever did.
func (p *pruner) usedBy(l *leftover) string {
	for _, u := range l.traits.users(p.kinds) {
		path, missing := u.traits.list.Expand(l.params)
		if missing != "" {
			continue
		}
		rows, answer := p.known(l, Read{Operation: u.traits.list, Path: path, Fields: u.traits.fields})
		if answer == nil {
			continue
		}
		var by []string
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			shown, _ := u.field.Observed(rows[id])
			if slices.Contains(strings.Split(shown, ","), l.record.ID) && p.uses(u, id, l.record.ID) {
				by = append(by, p.readableIn(u.traits.kind, l.record.Address.Parent(), rows[id]))
			}
		}
		if len(by) > 0 {
			return number(len(by), u.traits.kind) + " " + verb(len(by), "name") + " it under " + u.field.Path() + ": " + firstFew(by, ", ")
		}
	}
	return ""
}

// uses reports whether a thing that names a leftover now still does so when that goes, and not because of planform.
func (p *pruner) uses(u user, id, target string) bool {
	key := serviceID{u.traits.kind.Name, id}
	if p.leavesWith(key) {
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
	for _, r := range p.recorded(key) {
		if applied, ok := r.Values[u.field.Name]; ok && (strings.HasPrefix(applied, "sha256:") || strings.Contains(applied, target)) {
			return false
		}
	}
	return true
}

// recorded are the records that the state has of a thing of the service.
func (p *pruner) recorded(id serviceID) []Record {
	if p.byID == nil {
		p.byID = map[serviceID][]Record{}
		for _, address := range slices.Sorted(maps.Keys(p.in.Prior)) {
			if r := p.in.Prior[address]; address.IsThing() && r.ID != "" {
				key := serviceID{address.Kind(), r.ID}
				p.byID[key] = append(p.byID[key], r)
			}
		}
	}
	return p.byID[id]
}

// leavesWith reports whether a thing of the service is deleted too.
func (p *pruner) leavesWith(id serviceID) bool {
	l := p.made[id]
	return l != nil && (l.fate == goes || l.fate == goesAlong || l.fate == waits || l.fate == isGone)
}

// heldBy says which things that planform did not put there are in a leftover.
func (p *pruner) heldBy(l *leftover) string {
	for _, k := range l.traits.holders() {
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
		mine := p.put(l.record.Address.Members(m.Plural(), 1), m)
		answer, answered := p.in.Observed[read]
		if !answered && p.blindUse == 0 {
			if answer, answered = p.ask(read); !answered {
				l.fate = waits
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
			return number(len(by), resource.Must(m.Member)) + " that planform did not put there " + are(len(by)) + " in it: " + firstFew(by, ", ")
		}
		if !answer.Lacking {
			l.guards = append(l.guards, Guard{read, slices.Sorted(maps.Keys(mine))})
		}
	}
	return ""
}

// put is who is in a container because of planform, as far as is known, and who is deleted.
func (p *pruner) put(roster resource.Address, m *resource.Membership) map[string]bool {
	mine := map[string]bool{}
	r := p.in.Prior[roster]
	for _, id := range r.Members {
		mine[id] = true
	}
	if r.Open != nil && r.Open.Action == AddMembers {
		for handle := range strings.SplitSeq(r.Open.Name, "\n") {
			mine[handle] = true
			if id := p.idAt(resource.Address(handle)); id != "" {
				mine[id] = true
			}
		}
	}
	for key, l := range p.made {
		if key.kind == m.Member && p.leavesWith(key) {
			mine[l.record.ID] = true
		}
	}
	delete(mine, "")
	return mine
}

// carriedBy says which containers that stay have a leftover, unless planform put it there.
func (p *pruner) carriedBy(l *leftover) string {
	for _, k := range l.traits.carriers() {
		t := p.kinds[resource.Must(k.Membership.Container)]
		op, ok := k.Op(resource.ListMembers, p.in.API)
		if t.list == nil || !ok {
			continue
		}
		path, _ := t.list.Expand(map[string]string{"workspace_slug": p.in.Workspace})
		rows, answer := p.known(l, Read{Operation: t.list, Path: path, Fields: t.fields})
		if answer == nil || len(rows) > mostSingly && !p.in.Thorough {
			continue
		}
		var by []string
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			path, missing := op.Expand(map[string]string{"workspace_slug": p.in.Workspace, t.kind.Param: id})
			key := serviceID{t.kind.Name, id}
			if missing != "" || p.leavesWith(key) || p.puts(key, k.Membership, l.record.ID) {
				continue
			}
			members, in := p.in.Observed[Read{Operation: op, Path: path}]
			if !in && p.blindUse == 0 {
				if members, in = p.ask(Read{Operation: op, Path: path}); !in {
					l.fate = waits
					continue
				}
			}
			if slices.ContainsFunc(members.Rows, func(row resource.Row) bool { return k.Membership.MemberID(row) == l.record.ID }) {
				by = append(by, p.readableIn(t.kind, "", rows[id]))
			}
		}
		if len(by) > 0 {
			return number(len(by), t.kind) + " " + verb(len(by), "name") + " it under " + k.Membership.Path() + ": " + firstFew(by, ", ")
		}
	}
	return ""
}

// puts reports whether planform put a member into a container.
func (p *pruner) puts(container serviceID, m *resource.Membership, member string) bool {
	return slices.ContainsFunc(p.recorded(container), func(r Record) bool {
		return slices.Contains(p.in.Prior[r.Address.Members(m.Plural(), 1)].Members, member)
	})
}

// known returns the records of a list, as far as they may be read; no answer = they are not known.
func (p *pruner) known(l *leftover, read Read) (map[string]resource.Row, *Answer) {
	if _, have := p.in.Observed[read]; !have && p.blindUse > 0 {
		return nil, nil
	}
	rows, answer := p.rowsOf(read)
	if answer == nil {
		l.fate = waits
	}
	return rows, answer
}

// readableMember is what people call the member that a row of a container's list stands for.
func (p *pruner) readableMember(m *resource.Membership, parent resource.Address, row resource.Row) string {
	k := resource.Must(m.Member)
	if row.ID() == m.MemberID(row) && row["sequence_id"] != nil {
		return p.readableIn(k, parent, row)
	}
	return p.nameID(m.Member, m.MemberID(row))
}

// readableIn is what people call a record: by its readable identifier, else by its name.
func (p *pruner) readableIn(k *resource.Kind, parent resource.Address, row resource.Row) string {
	code := p.in.Prior[parent].Identifier
	if i, wanted := p.placeOf(parent); wanted && p.facts[i].identifier != "" {
		code = p.facts[i].identifier
	}
	if n, ok := row["sequence_id"].(json.Number); ok && k.Identifier != nil && code != "" {
		return code + "-" + n.String()
	}
	for _, name := range naturals(k, row) {
		return strconv.Quote(name)
	}
	return p.nameID(k.Name, row.ID())
}

// verb is what one thing does, or several do.
func verb(n int, does string) string {
	if n == 1 {
		return does + "s"
	}
	return does
}
