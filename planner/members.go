package planner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/resource"
)

// memberSet is the wanted members of one container.
type memberSet struct {
	kind        *resource.Kind // the membership
	field       *refField      // that declares it
	object      int            // state of the container; none = the manifest does not list it
	container   Container
	name        string // of a container that the manifest does not list but names
	entries     []memberRef
	mayExist    bool                    // some of those that are wanted may be in it already
	unsupported bool                    // this edition has no such memberships
	why         string                  // nobody can be added: the container is not there
	read        bool                    // the service has said who is in it
	have        []string                // IDs of members that are there, sorted
	path        string                  // of the read that tells
	rows        map[string]resource.Row // of those, where the membership has an attribute
}

// memberRef is one wanted member.
type memberRef struct {
	ref               *resource.Reference // where it is written
	member            int                 // its state; none = the manifest does not list it
	other             string              // field under which the two stand to each other already, where that rules this one out
	declaredByInverse bool                // it is in since the member's own field says so, see [resource.Membership.Inverse]
}

// inverseKey is that one object names another in a membership.
type inverseKey struct{ kind, from, to string }

// memberSetKey tells containers apart.
type memberSetKey struct {
	kind   *resource.Kind
	object int
	id     string // of a container that the manifest does not list
}

// gatherMemberSets gathers the members of every container in the order of the
// manifest, and finds out who is in it.
func (s *Snapshot) gatherMemberSets() {
	joined := map[memberSetKey]*memberSet{}
	said := map[inverseKey]bool{}
	for _, n := range s.refs {
		if st := s.states[n.by].presence; n.field.via == nil || st == pending || st == invalid {
			continue
		}
		if m := n.field.via.Membership; m.On == m.Container {
			s.fromContainer(said, n)
		} else {
			s.fromMember(joined, n)
		}
	}
	s.findExpensiveMemberSets()
	for _, r := range s.memberSets {
		s.readMembers(r)
		s.readOwnAttributes(r)
		s.related(r)
	}
}

// findExpensiveMemberSets is [Snapshot.findExpensive] for relations, which are read item by item.
func (s *Snapshot) findExpensiveMemberSets() {
	if s.in.RefreshAll || len(s.in.Prior) <= maxSingleReads {
		return
	}
	reads, known := map[int]bool{}, map[*resource.Kind]int{}
	for _, r := range s.memberSets {
		if _, hasPrior := s.in.Prior[r.address()]; hasPrior && r.kind.Membership.ResultKey != "" {
			reads[r.object] = true
			known[r.kind]++
		}
	}
	if len(reads) > maxSingleReads {
		maps.Copy(s.expensive, known)
	}
}

// fromContainer takes the members that a container's field lists, each once. said
// holds what was listed before, where the other side can list it too.
func (s *Snapshot) fromContainer(said map[inverseKey]bool, n refUse) {
	r := s.newMemberSet(n.field, n.by)
	inverse := n.field.via.Membership.Inverse
	seen := map[string]bool{}
	for j := range n.value.Refs {
		ref := &n.value.Refs[j]
		at, id, ok := s.target(n.by, n.field, ref)
		if !ok || s.undecided(at) {
			continue
		}
		known := id != ""
		if !known {
			id = string(s.in.Desired[at].Address)
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		e := memberRef{ref: ref, member: at}
		if inverse != "" && at != none {
			from, to := string(r.container.Address), string(s.in.Desired[at].Address)
			e.declaredByInverse = said[inverseKey{inverse, to, from}]
			said[inverseKey{n.field.via.Name, from, to}] = true
		}
		r.mayExist = r.mayExist || known && !e.declaredByInverse
		r.entries = append(r.entries, e)
	}
}

// fromMember puts an object into the containers that its field names.
func (s *Snapshot) fromMember(rosters map[memberSetKey]*memberSet, n refUse) {
	for j := range n.value.Refs {
		ref := &n.value.Refs[j]
		at, id, ok := s.target(n.by, n.field, ref)
		if !ok || s.undecided(at) {
			continue
		}
		key := memberSetKey{n.field.via, at, ""}
		if at == none {
			key.id = id
		}
		r, found := rosters[key]
		if !found {
			r = s.newMemberSet(n.field, at)
			rosters[key] = r
		}
		if at == none {
			s.unmanagedContainer(r, n.by, ref, id)
		}
		r.mayExist = r.mayExist || s.states[n.by].id != ""
		r.entries = append(r.entries, memberRef{ref: ref, member: n.by})
	}
}

// undecided reports whether an object of the manifest waits for a read, or has an error.
func (s *Snapshot) undecided(at int) bool {
	return at != none && (s.states[at].presence == pending || s.states[at].presence == invalid)
}

func (s *Snapshot) newMemberSet(t *refField, object int) *memberSet {
	r := &memberSet{kind: t.via, field: t, object: object}
	if object != none {
		o := s.in.Desired[object]
		r.container = Container{Address: o.Address, Object: o, ID: s.states[object].id, Within: o.Parent}
	}
	s.memberSets = append(s.memberSets, r)
	return r
}

// unmanagedContainer describes a container that the manifest does not list. People who
// write its name see the name, the least if there are several.
func (s *Snapshot) unmanagedContainer(r *memberSet, i int, ref *resource.Reference, id string) {
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
	if at := s.within(i, to); at != none {
		r.container.Within = s.in.Desired[at]
		r.container.Address = r.container.Within.Address.Child(to.kind.Name, text)
	}
}

// readMembers finds out who is in the container, where anybody that is wanted can be in it.
func (s *Snapshot) readMembers(r *memberSet) {
	if !r.mayExist || r.container.ID == "" || r.object != none && s.states[r.object].presence != exists {
		return
	}
	prior, hasPrior := s.in.Prior[r.address()]
	if r.object != none && s.states[r.object].replaced || prior.ID != "" && prior.ID != r.container.ID {
		prior, hasPrior = Record{}, false // they are in another container
	}
	if prior.PendingIntent == nil {
		r.have = prior.Members
	}
	op, ok := r.kind.Op(resource.ListMembers, s.in.API)
	if !ok || (s.in.SkipRefresh || s.expensive[r.kind] > 0) && hasPrior && prior.PendingIntent == nil {
		return
	}
	within := none
	if o := r.container.Within; o != nil {
		within = s.index[o]
	}
	params := s.params(within)
	params[resource.MustLookup(r.kind.Membership.Container).Param] = r.container.ID
	r.path, _ = op.Expand(params)
	a, answered := s.ask(Read{Operation: op, Path: r.path})
	switch {
	case !answered:
	case a.Unsupported:
		r.unsupported = true
	case a.NotFound:
		r.why = "the service shows no " + resource.MustLookup(r.kind.Membership.Container).Noun() + " with the ID " + r.container.ID + ": it was deleted or archived, or the ID is wrong"
	default:
		r.read, r.have = true, make([]string, 0, len(a.Rows))
		for _, row := range a.Rows {
			id := r.kind.Membership.MemberID(row)
			if r.have = append(r.have, id); r.kind.Membership.Attribute != nil {
				if r.rows == nil {
					r.rows = map[string]resource.Row{}
				}
				r.rows[id] = row
			}
		}
		slices.Sort(r.have)
	}
}

// address is where the state keeps the members of the member set's container.
func (r *memberSet) address() resource.Address {
	return r.container.Address.Members(r.kind.Membership.Plural(), 1)
}

// memberID is the service's ID of a member, or "".
func (s *Snapshot) memberID(r *memberSet, e memberRef) string {
	if e.member != none {
		return s.states[e.member].id
	}
	_, id, _ := s.target(r.object, r.field, e.ref)
	return id
}

// isIn reports whether a member is in the container, as far as is known.
func (s *Snapshot) isIn(r *memberSet, e memberRef) bool {
	id := s.memberID(r, e)
	_, is := slices.BinarySearch(r.have, id)
	return e.declaredByInverse || is && id != ""
}

// IntentName names the members for a later plan, a line each: by their addresses, or
// by their IDs where the manifest does not list them.
func (m *Members) IntentName() string {
	lines := make([]string, len(m.Items))
	for i := range m.Items {
		lines[i] = cmp.Or(string(m.Items[i].Address), m.Items[i].ID)
	}
	return strings.Join(lines, "\n")
}

// joinedSince lists who is in the container and was to be added by a request whose
// outcome is not known. ok is false if it is not known who is in.
func (s *Snapshot) joinedSince(r *memberSet, open *Intent) (ids []string, ok bool) {
	sent := strings.Split(open.Name, "\n")
	for _, e := range r.entries {
		id := s.memberID(r, e)
		handle := id
		if e.member != none {
			handle = string(s.in.Desired[e.member].Address)
		}
		if _, is := slices.BinarySearch(r.have, id); is && slices.Contains(sent, handle) {
			ids = append(ids, id)
		}
	}
	return ids, r.read
}

// names lists what a batch adds, for people.
func (m *Members) names(of *resource.Membership) string {
	texts := make([]string, len(m.Items))
	for i := range m.Items {
		texts[i] = cmp.Or(string(m.Items[i].Address), m.Items[i].Text) + m.Items[i].Note(of)
	}
	return strings.Join(texts, ", ")
}
