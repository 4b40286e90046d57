package planner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// memberships holds the members that the manifest wants in containers, and the members that the service shows there.
type memberships struct {
	analysis

	refs      *references
	records   *memberRecords
	sets      []*memberSet
	expensive map[*resource.Kind]int // containers whose members are not read again, by membership
	words     *vocabulary
	defined   *definedValues
}

// memberSet holds the members that the manifest wants in one container.
type memberSet struct {
	kind        *resource.Kind // the membership
	field       *refField      // that declares it
	object      objectID       // state of the container; none = the manifest does not list it
	container   Container
	name        string // of a container that the manifest does not list but names
	entries     []memberRef
	unsupported bool                    // this edition has no such memberships
	why         string                  // nobody can be added: the container is not there
	read        bool                    // the current members are known
	gap         gapReason               // why they are not
	have        []string                // IDs of members that are there, sorted
	path        string                  // of the read that tells
	rows        map[string]resource.Row // of those, where the membership has an attribute
	self        string                  // ID of the credential's own user, where somebody may get less than the most
}

// address is where the state keeps the members of the member set's container.
func (m *memberSet) address() resource.Address {
	return m.container.Address.Members(m.kind.Membership.Plural(), 1)
}

// memberRef is one wanted member.
type memberRef struct {
	ref               *resource.Reference // where it is written
	member            objectID            // its state; none = the manifest does not list it
	id                string              // where it is known
	attribute         string              // the value of the membership's attribute; "" = it is not managed
	other             string              // another relation to the object that excludes this one
	declaredByInverse bool                // the other object lists the relation, see [resource.Membership.Inverse]
	by                declaration
	also              declaration // of a relation that the other object declares, too; none = it does not
	verdict           verdict     // once it is decided
}

// declaredAt is the place of a wanted member.
type declaredAt struct {
	set   *memberSet
	entry int
}

// prerequisite is that somebody is brought into a container.
type prerequisite struct {
	via       *resource.Kind // the membership
	container objectID       // its state
	id        string         // of whom
}

// gatherMembers gathers the desired members of every container in the order of the
// manifest, and reads the current ones.
func gatherMembers(refs *references, records *memberRecords) *memberships {
	s := &memberships{
		analysis: refs.analysis, refs: refs, records: records, expensive: map[*resource.Kind]int{}, words: &vocabulary{refs.analysis, map[*resource.Words]*words{}},
		defined: &definedValues{refs.analysis, map[string]string{}},
	}
	joined := map[edge]*memberSet{} // without the member
	declared := map[edge]declaredAt{}
	for _, n := range s.objects.uses {
		st := s.objects.states[n.by].presence
		if n.field.membership == nil || st == invalid || ignored(s.analysis, n) {
			continue
		}
		if m := n.field.membership.Membership; m.On == m.Member && m.On != m.Container {
			s.fromMember(joined, n)
		} else {
			s.fromContainer(declared, n)
		}
	}
	s.findExpensiveMemberSets()
	s.service.each(len(s.sets), func(i int) {
		r := s.sets[i]
		s.readMembers(r)
		s.readOwnAttributes(r)
		s.findSelf(r)
		s.findOtherRelations(r)
	})
	return s
}

// ignored reports whether the members that a field declares are people's: what declares them exists.
func ignored(r analysis, n reference) bool {
	return r.objects.states[n.by].presence == exists && r.in.Desired[n.by].Ignores(n.value.Field)
}

// findExpensiveMemberSets is [objects.findExpensive] for relations, which are read item by item.
func (me *memberships) findExpensiveMemberSets() {
	if me.in.RefreshAll || len(me.in.Prior) <= maxSingleReads {
		return
	}
	reads, known := map[objectID]bool{}, map[*resource.Kind]int{}
	for _, r := range me.sets {
		if _, hasPrior := me.in.Prior[r.address()]; hasPrior && r.kind.Membership.ResultKey != "" {
			reads[r.object] = true
			known[r.kind]++
		}
	}
	if len(reads) > maxSingleReads {
		maps.Copy(me.expensive, known)
	}
}

// fromContainer takes the members that a container's field lists, each once. declared holds the relations that were listed before, by the
// addresses of both objects.
func (me *memberships) fromContainer(declared map[edge]declaredAt, n reference) {
	r := me.newMemberSet(n.field, n.by)
	inverse, a := n.field.membership.Membership.Inverse, n.field.membership.Membership.Attribute
	seen := map[string]*resource.Reference{}
	for j := range n.value.Refs {
		ref := &n.value.Refs[j]
		at, id, ok := me.refs.target(n.by, n.field, ref)
		if !ok || me.objects.isInvalid(at) {
			continue
		}
		e := memberRef{ref: ref, member: at, id: id, attribute: me.defined.value(n, ref), by: declaration{me.in.Desired[n.by], n.value, ref}}
		if id == "" {
			id = string(me.in.Desired[at].Address)
		}
		defines := a != nil && a.Words != nil
		if first := seen[id]; first != nil {
			one := &r.entries[slices.IndexFunc(r.entries, func(other memberRef) bool { return other.ref == first })]
			switch {
			case defines && first.Attribute != ref.Attribute:
				e.other = first.Attribute
				r.entries = append(r.entries, e)
			case a == nil || defines || e.attribute == "" || e.attribute == one.attribute:
			case one.attribute == "":
				one.attribute = e.attribute
			default:
				me.diags.at(diag.Error, ref.Position, r.container.Address, "conflict", first.Text+" and "+ref.Text+" are one member with two "+
					diag.Plural(a.Name)+": "+one.attribute+" and "+e.attribute, "keep one of the lines; the first is at "+first.Position.String())
			}
			continue
		}
		seen[id] = ref
		if inverse != "" && at != noObject {
			from, to := string(r.container.Address), string(me.in.Desired[at].Address)
			if there, both := declared[edge{inverse, to, from}]; both {
				first := &there.set.entries[there.entry]
				e.declaredByInverse, first.also = true, e.by
				if defines {
					if d := me.words.definitionOf(a.Words, first.ref.Attribute); !d.cause.exists() && d.inverse != ref.Attribute {
						e.declaredByInverse, e.other = false, d.inverse
					}
				}
			}
			declared[edge{n.field.membership.Name, from, to}] = declaredAt{r, len(r.entries)}
		}
		if defines { // a step may need it
			me.words.definitionOf(a.Words, ref.Attribute)
		}
		r.entries = append(r.entries, e)
	}
}

func (me *memberships) fromMember(sets map[edge]*memberSet, n reference) {
	for j := range n.value.Refs {
		ref := &n.value.Refs[j]
		at, id, ok := me.refs.target(n.by, n.field, ref)
		if !ok || me.objects.isInvalid(at) {
			continue
		}
		key := edge{kind: n.field.membership.Name, container: id}
		if at != noObject {
			key.container = string(me.in.Desired[at].Address)
		}
		r, found := sets[key]
		if !found {
			r = me.newMemberSet(n.field, at)
			sets[key] = r
		}
		if at == noObject {
			me.unmanagedContainer(r, n.by, ref, id)
		}
		r.entries = append(r.entries, memberRef{
			ref: ref, member: n.by, id: me.objects.states[n.by].id, attribute: ref.Attribute, by: declaration{me.in.Desired[n.by], n.value, ref},
		})
	}
}

func (me *memberships) newMemberSet(t *refField, object objectID) *memberSet {
	r := &memberSet{kind: t.membership, field: t, object: object}
	if object != noObject {
		r.container = me.objects.asContainer(object)
	}
	me.sets = append(me.sets, r)
	return r
}

// asContainer describes an object of the manifest as what members are in.
func (ob *objects) asContainer(i objectID) Container {
	o := ob.in.Desired[i]
	return Container{Address: o.Address, Object: o, ID: ob.states[i].id, Within: o.Parent}
}

// unmanagedContainer describes a container that the manifest does not list. People who
// write its name see the name, the least if there are several.
func (me *memberships) unmanagedContainer(r *memberSet, i objectID, ref *resource.Reference, id string) {
	text := id
	switch {
	case ref.ID == "" && (r.name == "" || ref.Text < r.name):
		r.name, text = ref.Text, ref.Text
	case r.container.ID != "":
		return
	}
	to := r.field.to
	r.container.ID = id
	r.container.Address = resource.NewAddress(to.kind.Name, text)
	if at := me.objects.within(i, to); at != noObject {
		r.container.Within = me.in.Desired[at]
		r.container.Address = r.container.Within.Address.Child(to.kind.Name, text)
	}
}

// readMembers reads the members of a container, unless all desired ones are new.
func (me *memberships) readMembers(r *memberSet) {
	mayBeIn := func(e memberRef) bool { return e.id != "" && !e.declaredByInverse }
	if !slices.ContainsFunc(r.entries, mayBeIn) || r.container.ID == "" || r.object != noObject &&
		me.objects.states[r.object].presence != exists {
		return
	}
	prior, hasPrior := me.recorded(r)
	open := me.records.recordAt(r.address()).isOpen()
	if !open {
		r.have = prior.Members
	}
	op, ok := me.objects.op(r.kind, resource.ListMembers)
	switch {
	case !ok:
		r.gap = gapReason{why: me.in.API.Noun() + " cannot read it"}
		return
	case !hasPrior || open:
	case me.in.SkipRefresh:
		r.gap = skipsRefresh
		return
	case me.expensive[r.kind] > 0:
		r.gap = expensive
		return
	}
	within := noObject
	if o := r.container.Within; o != nil {
		within = me.objects.index[o]
	}
	params := me.objects.params(within)
	params[resource.MustLookup(r.kind.Membership.Container).Param] = r.container.ID
	read, _ := readOf(op, params)
	r.path = read.Path
	a := me.service.ask(read)
	switch {
	case a.Unsupported:
		r.unsupported = true
	case a.NotFound:
		r.why = "the service shows no " + resource.MustLookup(r.kind.Membership.Container).Noun() + " with the ID " + r.container.ID +
			": it was deleted or archived, or the ID is wrong"
	default:
		r.read, r.have = true, make([]string, 0, len(a.Rows))
		for _, row := range a.Rows {
			id := r.kind.Membership.MemberID(row)
			if r.have = append(r.have, id); r.kind.Membership.Attribute != nil {
				if r.rows == nil {
					r.rows = map[string]resource.Row{}
				}
				if a := r.kind.Membership.Attribute; a.Words != nil {
					row = me.words.inWords(a, row)
					if r.rows[id] != nil && !slices.ContainsFunc(r.entries, func(e memberRef) bool { return e.id == id && e.attribute == a.Shown(row) }) {
						continue // people related them in several ways
					}
				}
				r.rows[id] = row
			}
		}
		slices.Sort(r.have)
	}
}

// recorded returns what the state has of a container's members. A record of another container, which had the address before, does not
// count.
func (me *memberships) recorded(r *memberSet) (prior Record, known bool) {
	record := me.records.recordAt(r.address())
	isNew := r.object != noObject && (me.objects.states[r.object].replaced || me.objects.states[r.object].presence == absent)
	if isNew || record.kind == nil || record.record.ID != "" && record.record.ID != r.container.ID {
		return Record{}, false
	}
	return record.record, true
}

// listedContainer is a container that the service lists, with the IDs of its members.
type listedContainer struct {
	Container Container
	members   []string
}

// containersIn reads who is in each of the containers that a field can name within a parent. why says why that is not read.
func (me *memberships) containersIn(t *refField, within objectID) (all []listedContainer, why gapReason, ok bool) {
	op, offered := me.objects.op(t.membership, resource.ListMembers)
	if !offered || t.to.list == nil {
		return nil, gapReason{why: me.in.API.Noun() + " cannot read it"}, false
	}
	l, st := me.snapshot.list(t.to, within)
	if st != exists {
		return nil, gapReason{}, st == unsupported // and nothing is in any
	}
	reads := make([]Read, len(l.rows))
	unread := 0
	for i, row := range l.rows {
		params := me.objects.params(within)
		params[t.to.kind.Param] = row.ID()
		reads[i], _ = readOf(op, params)
		if _, have := me.in.Observed[reads[i]]; !have {
			unread++
		}
	}
	_, together := t.membership.Op(resource.ListOverview, me.in.API)
	switch {
	case unread > 0 && me.in.SkipRefresh:
		return nil, skipsRefresh, false
	case unread > maxSingleReads && !together && !me.in.RefreshAll && !me.in.Contents[t.membership.Name]:
		return nil, expensive, false
	}
	me.service.load(reads...)
	for i, row := range l.rows {
		all = append(all, listedContainer{me.container(t, within, row), memberIDs(t.membership, me.service.ask(reads[i]))})
	}
	return all, gapReason{}, true
}

// container describes a container that the service lists. If the manifest does not list it, its address has its name, or its ID if other
// containers have that name.
func (me *memberships) container(t *refField, within objectID, row resource.Row) Container {
	if at, owned := me.objects.owners[serviceID{t.to.kind.Name, row.ID()}]; owned {
		o := me.in.Desired[at]
		return Container{Address: o.Address, Object: o, ID: row.ID(), Within: o.Parent}
	}
	key := row.ID()
	for _, name := range t.to.kind.DisplayTexts(row) {
		if len(me.snapshot.names(t.to, within).Named(name)) == 1 && !strings.ContainsAny(name, "/#") {
			key = name
			break
		}
	}
	c := Container{Address: resource.NewAddress(t.to.kind.Name, key), ID: row.ID()}
	if within != noObject {
		c.Within = me.in.Desired[within]
		c.Address = c.Within.Address.Child(t.to.kind.Name, key)
	}
	return c
}

// declared returns the edges that the manifest wants, with their attributes.
func (me *memberships) declared() map[edge]string {
	wanted := map[edge]string{}
	for _, r := range me.sets {
		for _, e := range r.entries {
			if e.id == "" {
				continue
			}
			wanted[edge{r.kind.Name, r.container.ID, e.id}] = e.attribute
			if inverse := r.kind.Membership.Inverse; inverse != "" {
				wanted[edge{inverse, e.id, r.container.ID}] = ""
			}
		}
	}
	return wanted
}

// isIn reports whether a member is in the container, as far as is known.
func (me *memberships) isIn(r *memberSet, e memberRef) bool {
	_, is := slices.BinarySearch(r.have, e.id)
	return e.declaredByInverse || is && e.id != ""
}

// findOtherRelations finds members that have another relation to the object already: the service keeps
// one relation between two objects, and ignores a second without an error.
func (me *memberships) findOtherRelations(r *memberSet) {
	if r.kind.Membership.Inverse == "" || !r.read {
		return
	}
	for i := range r.entries {
		e := &r.entries[i]
		if e.id == "" || me.isIn(r, *e) {
			continue
		}
		for _, other := range resource.Memberships() {
			if m := other.Membership; other == r.kind || m.Inverse == "" || m.Container != r.kind.Membership.Container {
				continue
			}
			op, offered := me.objects.op(other, resource.ListMembers)
			if own, _ := me.objects.op(r.kind, resource.ListMembers); !offered || op.Path != own.Path {
				continue // of custom relations there is one beside these
			}
			a := me.service.ask(Read{Operation: op, Path: r.path}) // the same answer tells all of them
			if slices.ContainsFunc(a.Rows, func(row resource.Row) bool { return other.Membership.MemberID(row) == e.id }) {
				e.other = other.Membership.Field
			}
		}
	}
}

// readOwnAttributes reads what the members have themselves, where some that the manifest says
// nothing of may be new.
func (me *memberships) readOwnAttributes(r *memberSet) {
	if r.kind.Membership.Attribute == nil || !me.in.API.Wide() {
		return
	}
	for _, e := range r.entries {
		if e.attribute == "" && !me.isIn(r, e) {
			me.snapshot.list(me.objects.kind(r.kind.Membership.Member), noObject)
			return
		}
	}
}

// findSelf asks who the credential belongs to if somebody may get another role. The service makes this user an admin of each project
// that they create; API v2 shows and changes that role.
func (me *memberships) findSelf(r *memberSet) {
	a := r.kind.Membership.Attribute
	if a == nil || len(a.Values) == 0 || r.object == noObject {
		return
	}
	op, ok := me.objects.op(r.kind, resource.ListMembers)
	created := ok && op.V2() && me.objects.states[r.object].presence == absent
	if !created && !slices.ContainsFunc(r.entries, func(e memberRef) bool {
		shown := a.Shown(r.rows[e.id])
		return e.attribute != "" && shown != e.attribute && (shown != "" || !me.isIn(r, e))
	}) {
		return
	}
	if r.self = me.snapshot.self(me.objects.kind(r.kind.Membership.Member)); r.self != "" && created {
		r.have, r.rows = []string{r.self}, map[string]resource.Row{r.self: {a.Name: a.Codes[len(a.Codes)-1]}}
	}
}

func (me *memberships) ownAttribute(r *memberSet, id string) string {
	t := me.objects.kind(r.kind.Membership.Member)
	if !me.snapshot.listed(t, noObject) {
		return ""
	}
	l, _ := me.snapshot.list(t, noObject)
	for _, row := range l.byID(id) {
		return r.kind.Membership.Attribute.Shown(row)
	}
	return ""
}

func (me *memberships) newAttribute(r *memberSet, e memberRef) string {
	if a := r.kind.Membership.Attribute; a != nil {
		return cmp.Or(e.attribute, a.DefaultFor(me.ownAttribute(r, e.id)))
	}
	return ""
}
