package planner

import (
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// memberships is the stage that gathers the edges of the manifest, the state and the service, and decides about each edge.
type memberships struct {
	analysis

	refs    *references
	records *memberRecords
	orphans *orphans
	words   *vocabulary

	sets          []*memberSet        // containers of the edges that the manifest wants, in its order
	byKey         map[edge]*memberSet // these by edge without member, see keyOf
	byID          map[edge]*memberSet // all sets by edge without member
	declared      map[edge]*member    // wanted edges, see keyOf
	wanted        map[edge]string     // the attribute of each wanted edge whose IDs are known
	wishes        map[edge]fieldWish
	cleared       []reference // fields that name no container, of objects whose containers a list can show
	ends          bool        // some field may end an edge
	manyRelations bool        // reading the relations takes too many requests
	deleted       map[serviceID]bool
	orphaned      int                  // number of edges that pruning would end
	where         map[edge][]Container // by edge without container: the containers in which the service shows the member
	wasRead       map[edge]bool        // by edge without member: containers that were read for where

	drifted   map[*resource.Value]*fieldDrift
	contained map[*resource.Value]bool     // fields that want an object in no container; true = all containers were read
	absent    map[*resource.Reference]bool // references to members or containers whose membership the service does not show
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

	list    memberList
	hasList bool      // the list shows the wanted edges
	gap     gapReason // the reason why hasList is false
	self    string    // ID of the credential's own user, if a member may get another role
	stuck   bool      // this edition cannot remove members
}

// member is one edge of a memberSet: an object that the manifest wants in the container or excludes from it, and the decision about that.
// For a relation it is the other object.
type member struct {
	id        string      // "" = the run creates the member
	object    objectID    // noObject = the manifest does not list the member
	by, also  declaration // by wants or excludes the edge; also is the declaration of a relation's other object
	attribute string      // the wanted attribute; "" = it is not managed
	other     string      // another relation to the object that excludes this one
	replaces  []edge      // that other relation, from both sides, if the run may remove it
	hasLeft   bool        // the member has left the workspace
	wish      wish
	verdict   verdict
}

// gather gathers the edges and wishes of the manifest. It decides whether relations are compared: each object takes a request.
func (mb *memberships) gather() {
	for _, n := range mb.objects.uses {
		if n.field.membership != nil && mb.objects.states[n.by].presence != invalid {
			mb.addFieldWish(n)
			if !isIgnored(mb.analysis, n) {
				mb.addDeclared(n)
			}
		}
	}
	relations := map[objectID]bool{}
	for _, s := range mb.sets {
		if s.container.ID != "" {
			mb.byID[edge{kind: s.kind.Name, container: s.container.ID}] = s
		}
		if s.record.kind != nil && s.kind.Membership.ResultKey != "" {
			relations[s.object] = true
		}
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
	mb.manyRelations = !mb.in.RefreshAll && len(mb.in.Prior) > maxSingleReads && len(relations) > maxSingleReads
}

// isIgnored reports whether the manifest leaves the memberships of a field to people: the object exists and ignores changes of the field.
func isIgnored(r analysis, n reference) bool {
	return r.objects.states[n.by].presence == exists && r.in.Desired[n.by].Ignores(n.value.Field)
}

// addFieldWish records the wish of a field about the edges that it does not name.
func (mb *memberships) addFieldWish(n reference) {
	f, m, refs := &mb.objects.states[n.by], n.field.membership.Membership, n.value.Refs
	w := fieldWish{wantsElsewhere, declaration{object: mb.in.Desired[n.by], value: n.value}}
	of := edge{kind: n.field.membership.Name, member: f.id}
	if m.On == m.Container {
		of.container, of.member = f.id, ""
	}
	switch {
	case f.foreign, f.presence != exists:
		return
	case isIgnored(mb.analysis, n):
		w.wish = leftToPeople
	case len(refs) > 0 && m.On == m.Container:
		return
	case len(refs) > 0:
		w.by.ref = &refs[len(refs)-1]
	case m.On != m.Container && n.value.Field.Name != m.SeveralField:
		if w.wish = wantsNone; !f.isUnlisted() {
			mb.cleared = append(mb.cleared, n)
		}
	}
	mb.wishes[of] = w
	mb.ends = mb.ends || w.wish == wantsNone || w.wish == wantsElsewhere && !m.Exclusive
}

// addDeclared adds the edges that a field of a container or of a member declares. A container without members gets a set, too.
func (mb *memberships) addDeclared(n reference) {
	m, s := n.field.membership.Membership, (*memberSet)(nil)
	if m.On == m.Container {
		s = mb.setFor(n, n.by, nil, "")
	}
	for j := range n.value.Refs {
		ref := &n.value.Refs[j]
		at, id, ok := mb.refs.target(n.by, n.field, ref)
		if !ok || at != noObject && mb.objects.states[at].presence == invalid {
			continue
		}
		e := &member{object: at, id: id, attribute: mb.words.value(n, ref), wish: wantsHere, by: declaration{mb.in.Desired[n.by], n.value, ref}}
		if m.On != m.Container {
			s, e.object, e.id = mb.setFor(n, at, ref, id), n.by, mb.objects.states[n.by].id
		}
		mb.addWanted(s, e)
	}
}

// keyOf returns the address of an object of the manifest, else its ID.
func (mb *memberships) keyOf(at objectID, id string) string {
	if at == noObject {
		return id
	}
	return string(mb.in.Desired[at].Address)
}

// addWanted adds an edge to a set, unless it was declared before. It reports a member who is listed with two attributes.
func (mb *memberships) addWanted(s *memberSet, e *member) {
	from, to, words := mb.keyOf(s.object, s.container.ID), mb.keyOf(e.object, e.id), s.kind.Membership.Attribute.Words()
	key, inverse := edge{s.kind.Name, from, to}, mb.declared[edge{s.kind.Membership.Inverse, to, from}]
	if words != nil {
		mb.words.definitionOf(words, e.attribute) // a step may need it
	}
	switch first := mb.declared[key]; {
	case first == nil && inverse != nil: // the other object declares the relation, too
		inverse.also = e.by
		if words == nil {
			return
		}
		d := mb.words.definitionOf(words, inverse.attribute)
		if d.cause.exists() || d.inverse == e.attribute {
			return
		}
		e.other, mb.declared[key] = d.inverse, e
	case first == nil:
		mb.declared[key] = e
	case words != nil && first.attribute != e.attribute:
		e.other = first.attribute
	case e.attribute == "" || e.attribute == first.attribute:
		return
	case first.attribute == "":
		first.attribute = e.attribute
		return
	default:
		mb.diags.add(diag.Error, e.by.ref.Position, s.container.Address, "conflict", first.by.ref.Text+" and "+e.by.ref.Text+
			" are one member with two "+diag.Plural(s.kind.Membership.Attribute.Name)+": "+first.attribute+" and "+e.attribute,
			"keep one of the lines; the first is at "+first.by.ref.Position.String())
		return
	}
	s.wanted = append(s.wanted, e)
}

// setFor returns the set of a container: an object of the manifest, or noObject and the ID of another one that ref names.
func (mb *memberships) setFor(n reference, at objectID, ref *resource.Reference, id string) *memberSet {
	key := edge{kind: n.field.membership.Name, container: mb.keyOf(at, id)}
	s := mb.byKey[key]
	if s == nil {
		if s = (&memberSet{kind: n.field.membership, object: noObject}); at != noObject {
			s = mb.setOf(n.field.membership, at)
		}
		s.field, mb.sets, mb.byKey[key] = n.field, append(mb.sets, s), s
	}
	if at == noObject {
		mb.nameContainer(s, n.by, ref, id)
	}
	return s
}

// setOf returns the set of a container of the manifest. It is empty if no field declares members.
func (mb *memberships) setOf(via *resource.Kind, container objectID) *memberSet {
	f, c := &mb.objects.states[container], mb.objects.asContainer(container)
	if s := mb.byKey[edge{kind: via.Name, container: string(c.Address)}]; s != nil {
		return s
	}
	return &memberSet{
		kind: via, object: container, container: c, isNew: f.replaced || f.presence == absent,
		params: mb.objects.params(container), record: mb.records.recordOf(via.Membership, c.Address),
	}
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
	s.params, s.record = mb.paramsOf(s.kind, within, id), mb.records.recordOf(s.kind.Membership, s.container.Address)
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
	if mt.hasList {
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
