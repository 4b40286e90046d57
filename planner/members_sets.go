package planner

import (
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// memberships is the stage that gathers the edges that the manifest wants, and the wishes of its fields about other edges.
type memberships struct {
	analysis

	refs          *references
	records       *memberRecords
	words         *vocabulary
	defined       *definedValues
	sets          []*memberSet    // in the order of the manifest
	wanted        map[edge]string // the attribute of each edge whose IDs are known
	wishes        map[edge]fieldWish
	cleared       []reference // fields that name no container, of objects whose containers a list can show
	ends          bool        // some field may end an edge
	manyRelations bool        // reading the relations takes too many requests
}

// fieldWish holds the wish of a field about edges that it does not name.
type fieldWish struct {
	wish wish
	by   declaration
}

// memberSet holds the edges of one container. An edge is one object in one container, wanted or not.
type memberSet struct {
	kind      *resource.Kind // the membership
	field     *refField      // the field that declares the wanted edges; nil = there are none
	object    objectID       // the container; noObject = the manifest does not list it
	isNew     bool           // the run creates the container
	container Container
	name      string            // the manifest's name for a container that it does not list
	params    map[string]string // path parameters of requests about the members; nil = an ID is not known
	record    *memberRecord

	wanted   []*member
	unwanted []*member // edges that would end if the service showed them

	list      memberList
	hasList   bool      // the list shows the wanted edges
	gap       gapReason // the reason why hasList is false
	self      string    // ID of the credential's own user, if a member may get another role
	forgotten []string  // members that the state drops, because they are not in the container any more
	stuck     bool      // this edition cannot remove members
}

// member is one edge of a memberSet: an object that the manifest wants in the container or excludes from it, and the decision about that.
// For a relation it is the other object.
type member struct {
	id                string      // "" = the run creates the member
	object            objectID    // noObject = the manifest does not list the member
	by, also          declaration // by wants or excludes the edge; also is the declaration of a relation's other object
	attribute         string      // the wanted attribute; "" = it is not managed
	other             string      // another relation to the object that excludes this one
	replaces          []edge      // that other relation, from both sides, if the run may remove it
	declaredByInverse bool        // the other object lists the relation, see [resource.Membership.Inverse]
	wish              wish
	verdict           verdict
}

// gatherMembers gathers the wanted members of every container in the order of the manifest.
func gatherMembers(refs *references, records *memberRecords) *memberships {
	mb := &memberships{
		analysis: refs.analysis, refs: refs, records: records, words: &vocabulary{refs.analysis, map[*resource.Words]*words{}},
		defined: &definedValues{refs.analysis, map[string]string{}}, wanted: map[edge]string{}, wishes: map[edge]fieldWish{},
	}
	joined, related := map[edge]*memberSet{}, map[edge]*member{}
	for _, n := range mb.objects.uses {
		if n.field.membership == nil || mb.objects.states[n.by].presence == invalid {
			continue
		}
		mb.addFieldWish(n)
		switch m := n.field.membership.Membership; {
		case isIgnored(mb.analysis, n):
		case m.On == m.Member && m.On != m.Container:
			mb.addFromMember(joined, n)
		default:
			mb.addFromContainer(related, n)
		}
	}
	mb.countRelations()
	for _, s := range mb.sets {
		for _, e := range s.wanted {
			if e.id == "" {
				continue
			}
			mb.wanted[edge{s.kind.Name, s.container.ID, e.id}] = e.attribute
			if inverse := s.kind.Membership.Inverse; inverse != "" {
				mb.wanted[edge{inverse, e.id, s.container.ID}] = ""
			}
		}
	}
	return mb
}

// countRelations decides whether relations are compared. Each object takes a request, so above a limit the plan only says that they are not
// compared.
func (mb *memberships) countRelations() {
	reads := map[objectID]bool{}
	for _, s := range mb.sets {
		if s.record.kind != nil && s.kind.Membership.ResultKey != "" {
			reads[s.object] = true
		}
	}
	mb.manyRelations = !mb.in.RefreshAll && len(mb.in.Prior) > maxSingleReads && len(reads) > maxSingleReads
}

// isIgnored reports whether the manifest leaves the memberships of a field to people: the object exists and ignores changes of the field.
func isIgnored(r analysis, n reference) bool {
	return r.objects.states[n.by].presence == exists && r.in.Desired[n.by].Ignores(n.value.Field)
}

// addFieldWish records the wish of a field about the edges that it does not name.
func (mb *memberships) addFieldWish(n reference) {
	f, m, of := &mb.objects.states[n.by], n.field.membership.Membership, edge{kind: n.field.membership.Name}
	if f.foreign || f.presence != exists {
		return
	}
	if of.member = f.id; m.On == m.Container {
		of.container, of.member = f.id, ""
	}
	w := fieldWish{wantsElsewhere, declaration{object: mb.in.Desired[n.by], value: n.value}}
	namesOne := m.On != m.Container && n.value.Field.Name != m.SeveralField
	switch {
	case isIgnored(mb.analysis, n):
		w.wish = leftToPeople
	case len(n.value.Refs) > 0 && m.On == m.Container:
		return
	case len(n.value.Refs) > 0:
		w.by.ref = &n.value.Refs[len(n.value.Refs)-1]
		mb.ends = mb.ends || m.NeedsExplicitMove()
	case namesOne:
		w.wish, mb.ends = wantsNone, true
		if !f.isUnlisted() {
			mb.cleared = append(mb.cleared, n)
		}
	default:
		mb.ends = true
	}
	mb.wishes[of] = w
}

// addFromContainer adds the members that a container's field lists, each once. related holds the relations that were added before, by the
// addresses of both objects.
func (mb *memberships) addFromContainer(related map[edge]*member, n reference) {
	s, a := mb.addSet(n.field, n.by), n.field.membership.Membership.Attribute
	defines := a != nil && a.Words != nil
	first := map[string]*member{}
	for j := range n.value.Refs {
		ref := &n.value.Refs[j]
		at, id, ok := mb.refs.target(n.by, n.field, ref)
		if !ok || mb.objects.isInvalid(at) {
			continue
		}
		e := &member{object: at, id: id, attribute: mb.defined.value(n, ref), wish: wantsHere, by: declaration{mb.in.Desired[n.by], n.value, ref}}
		key := id
		if key == "" {
			key = string(mb.in.Desired[at].Address)
		}
		switch before := first[key]; {
		case before == nil:
			first[key] = e
			mb.pairRelation(related, s, e)
			if defines { // a step may need the definition
				mb.words.definitionOf(a.Words, ref.Attribute)
			}
		case defines && before.by.ref.Attribute != ref.Attribute:
			e.other = before.by.ref.Attribute
		default:
			mb.mergeAttributes(s, before, e)
			continue
		}
		s.wanted = append(s.wanted, e)
	}
}

// mergeAttributes merges two listings of a member. It reports a member who is listed with two attributes.
func (mb *memberships) mergeAttributes(s *memberSet, first, again *member) {
	a := s.kind.Membership.Attribute
	switch {
	case a == nil || a.Words != nil || again.attribute == "" || again.attribute == first.attribute:
	case first.attribute == "":
		first.attribute = again.attribute
	default:
		mb.diags.add(diag.Error, again.by.ref.Position, s.container.Address, "conflict", first.by.ref.Text+" and "+again.by.ref.Text+
			" are one member with two "+diag.Plural(a.Name)+": "+first.attribute+" and "+again.attribute,
			"keep one of the lines; the first is at "+first.by.ref.Position.String())
	}
}

// pairRelation marks a relation that the other object declared before, so that only one of them makes a step.
func (mb *memberships) pairRelation(related map[edge]*member, s *memberSet, e *member) {
	inverse, a := s.kind.Membership.Inverse, s.kind.Membership.Attribute
	if inverse == "" || e.object == noObject {
		return
	}
	from, to := string(s.container.Address), string(mb.in.Desired[e.object].Address)
	if first := related[edge{inverse, to, from}]; first != nil {
		e.declaredByInverse, first.also = true, e.by
		if a != nil && a.Words != nil {
			if d := mb.words.definitionOf(a.Words, first.by.ref.Attribute); !d.cause.exists() && d.inverse != e.by.ref.Attribute {
				e.declaredByInverse, e.other = false, d.inverse
			}
		}
	}
	related[edge{s.kind.Name, from, to}] = e
}

// addFromMember adds an object to the containers that its field names. sets holds the sets that were made before, by the addresses or IDs of
// their containers.
func (mb *memberships) addFromMember(sets map[edge]*memberSet, n reference) {
	for j := range n.value.Refs {
		ref := &n.value.Refs[j]
		at, id, ok := mb.refs.target(n.by, n.field, ref)
		if !ok || mb.objects.isInvalid(at) {
			continue
		}
		key := edge{kind: n.field.membership.Name, container: id}
		if at != noObject {
			key.container = string(mb.in.Desired[at].Address)
		}
		if sets[key] == nil {
			sets[key] = mb.addSet(n.field, at)
		}
		s := sets[key]
		if at == noObject {
			mb.nameContainer(s, n.by, ref, id)
		}
		s.wanted = append(s.wanted, &member{
			object: n.by, id: mb.objects.states[n.by].id, attribute: ref.Attribute, wish: wantsHere, by: declaration{mb.in.Desired[n.by], n.value, ref},
		})
	}
}

func (mb *memberships) addSet(t *refField, container objectID) *memberSet {
	s := &memberSet{kind: t.membership, object: noObject}
	if container != noObject {
		s = mb.setOf(t.membership, container)
	}
	s.field, mb.sets = t, append(mb.sets, s)
	return s
}

// setOf returns an empty set for an object of the manifest.
func (mb *memberships) setOf(via *resource.Kind, container objectID) *memberSet {
	f := &mb.objects.states[container]
	s := &memberSet{kind: via, object: container, container: mb.objects.asContainer(container), isNew: f.replaced || f.presence == absent}
	s.params, s.record = mb.objects.params(container), mb.records.recordOf(s.kind, s.container.Address)
	return s
}

// nameContainer sets the Container of a set for a container that the manifest does not list. Its address has the name in the manifest, the
// alphabetically first if there are several.
func (mb *memberships) nameContainer(s *memberSet, by objectID, ref *resource.Reference, id string) {
	text := id
	switch {
	case ref.ID == "" && (s.name == "" || ref.Text < s.name):
		s.name, text = ref.Text, ref.Text
	case s.container.ID != "":
		return
	}
	within := mb.objects.within(by, s.field.to)
	s.container = mb.unlistedContainer(s.field, within, id, text)
	s.params, s.record = mb.paramsOf(s.kind, within, id), mb.records.recordOf(s.kind, s.container.Address)
}

// sourcesOf returns the manifests that declare the wanted members of a container.
func (mb *memberships) sourcesOf(s *memberSet) []string {
	if m := s.kind.Membership; m.On == m.Container {
		return mb.in.Desired[s.object].Files
	}
	var files []string
	for _, e := range s.wanted {
		files = union(files, mb.in.Desired[e.object].Files)
	}
	return files
}

// isIn reports whether a wanted member is in the container, by the list if it was read, else by the state.
func (mt *memberSet) isIn(e *member) bool {
	switch {
	case e.declaredByInverse:
		return true
	case mt.hasList:
		return mt.list.has(e.id)
	}
	prior, _ := mt.recorded()
	return !mt.record.isOpen() && e.id != "" && prior.has(e.id)
}

// recorded returns the state's member record. A record of another container, which had the address before, does not count.
func (mt *memberSet) recorded() (prior *Record, known bool) {
	r := mt.record
	if mt.isNew || r.kind == nil || r.record.ID != "" && r.record.ID != mt.container.ID {
		return &Record{}, false
	}
	return &r.record, true
}
