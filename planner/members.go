package planner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/resource"
)

// roster is the wanted members of one container.
type roster struct {
	kind      *resource.Kind // the membership
	field     *refTraits     // that declares it
	object    int32          // fact of the container; none = the manifest does not list it
	container Container
	name      string // of a container that the manifest does not list but names
	entries   []entry
	may       bool                    // some of those that are wanted may be in it already
	lacking   bool                    // this edition has no such memberships
	why       string                  // nobody can be added: the container is not there
	read      bool                    // the service has said who is in it
	have      []string                // IDs of members that are there, sorted
	path      string                  // of the read that tells
	rows      map[string]resource.Row // of those, where the membership has an attribute
}

// entry is one wanted member.
type entry struct {
	ref    *resource.Reference // where it is written
	member int32               // its fact; none = the manifest does not list it
	other  string              // field under which the two stand to each other already, where that rules this one out
	said   bool                // it is in since the member's own field says so, see [resource.Membership.Inverse]
}

// saying is that one thing names another in a membership.
type saying struct{ kind, from, to string }

// rosterKey tells containers apart.
type rosterKey struct {
	kind   *resource.Kind
	object int32
	id     string // of a container that the manifest does not list
}

// gatherRosters gathers the members of every container in the order of the
// manifest, and finds out who is in it.
func (s *Survey) gatherRosters() {
	joined := map[rosterKey]*roster{}
	said := map[saying]bool{}
	for _, n := range s.refs {
		if st := s.facts[n.by].standing; n.t.via == nil || st == pending || st == broken {
			continue
		}
		if m := n.t.via.Membership; m.On == m.Container {
			s.declared(said, n)
		} else {
			s.joined(joined, n)
		}
	}
	s.findCostlyRosters()
	for _, r := range s.rosters {
		s.readRoster(r)
		s.readOwn(r)
		s.related(r)
	}
}

// findCostlyRosters is [Survey.findCostly] for relations, which are read item by item.
func (s *Survey) findCostlyRosters() {
	if s.in.Thorough || len(s.in.Prior) <= mostSingly {
		return
	}
	reads, known := map[int32]bool{}, map[*resource.Kind]int{}
	for _, r := range s.rosters {
		if _, hasPrior := s.in.Prior[r.address()]; hasPrior && r.kind.Membership.Under != "" {
			reads[r.object] = true
			known[r.kind]++
		}
	}
	if len(reads) > mostSingly {
		maps.Copy(s.costly, known)
	}
}

// declared takes the members that a container's field lists, each once. said
// holds what was listed before, where the other side can list it too.
func (s *Survey) declared(said map[saying]bool, n naming) {
	r := s.newRoster(n.t, n.by)
	inverse := n.t.via.Membership.Inverse
	seen := map[string]bool{}
	for j := range n.v.Refs {
		ref := &n.v.Refs[j]
		at, id, ok := s.target(n.by, n.t, ref)
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
		e := entry{ref: ref, member: at}
		if inverse != "" && at != none {
			from, to := string(r.container.Address), string(s.in.Desired[at].Address)
			e.said = said[saying{inverse, to, from}]
			said[saying{n.t.via.Name, from, to}] = true
		}
		r.may = r.may || known && !e.said
		r.entries = append(r.entries, e)
	}
}

// joined puts a thing into the containers that its field names.
func (s *Survey) joined(rosters map[rosterKey]*roster, n naming) {
	for j := range n.v.Refs {
		ref := &n.v.Refs[j]
		at, id, ok := s.target(n.by, n.t, ref)
		if !ok || s.undecided(at) {
			continue
		}
		key := rosterKey{n.t.via, at, ""}
		if at == none {
			key.id = id
		}
		r, found := rosters[key]
		if !found {
			r = s.newRoster(n.t, at)
			rosters[key] = r
		}
		if at == none {
			s.foreign(r, n.by, ref, id)
		}
		r.may = r.may || s.facts[n.by].id != ""
		r.entries = append(r.entries, entry{ref: ref, member: n.by})
	}
}

// undecided reports whether a thing of the manifest waits for a read, or has an error.
func (s *Survey) undecided(at int32) bool {
	return at != none && (s.facts[at].standing == pending || s.facts[at].standing == broken)
}

func (s *Survey) newRoster(t *refTraits, object int32) *roster {
	r := &roster{kind: t.via, field: t, object: object}
	if object != none {
		o := s.in.Desired[object]
		r.container = Container{Address: o.Address, Object: o, ID: s.facts[object].id, Within: o.Parent}
	}
	s.rosters = append(s.rosters, r)
	return r
}

// foreign describes a container that the manifest does not list. People who
// write its name see the name, the least if there are several.
func (s *Survey) foreign(r *roster, i int32, ref *resource.Reference, id string) {
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

// readRoster finds out who is in the container, where anybody that is wanted can be in it.
func (s *Survey) readRoster(r *roster) {
	if !r.may || r.container.ID == "" || r.object != none && s.facts[r.object].standing != there {
		return
	}
	prior, hasPrior := s.in.Prior[r.address()]
	if r.object != none && s.facts[r.object].moved || prior.ID != "" && prior.ID != r.container.ID {
		prior, hasPrior = Record{}, false // they are in another container
	}
	if prior.Open == nil {
		r.have = prior.Members
	}
	op, ok := r.kind.Op(resource.ListMembers, s.in.API)
	if !ok || (s.in.Trust || s.costly[r.kind] > 0) && hasPrior && prior.Open == nil {
		return
	}
	within := none
	if o := r.container.Within; o != nil {
		within = s.index[o]
	}
	params := s.params(within)
	params[resource.Must(r.kind.Membership.Container).Param] = r.container.ID
	r.path, _ = op.Expand(params)
	a, answered := s.ask(Read{Operation: op, Path: r.path})
	switch {
	case !answered:
	case a.Lacking:
		r.lacking = true
	case a.Missing:
		r.why = "the service shows no " + resource.Must(r.kind.Membership.Container).Noun() + " with the ID " + r.container.ID + ": it was deleted or archived, or the ID is wrong"
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

// address is where the state keeps the members of the roster's container.
func (r *roster) address() resource.Address {
	return r.container.Address.Members(r.kind.Membership.Plural(), 1)
}

// memberID is the service's ID of a member, or "".
func (s *Survey) memberID(r *roster, e entry) string {
	if e.member != none {
		return s.facts[e.member].id
	}
	_, id, _ := s.target(r.object, r.field, e.ref)
	return id
}

// isIn reports whether a member is in the container, as far as is known.
func (s *Survey) isIn(r *roster, e entry) bool {
	id := s.memberID(r, e)
	_, is := slices.BinarySearch(r.have, id)
	return e.said || is && id != ""
}

// Handles names the members for a later plan, a line each: by their addresses, or
// by their IDs where the manifest does not list them.
func (m *Members) Handles() string {
	lines := make([]string, len(m.Items))
	for i := range m.Items {
		lines[i] = cmp.Or(string(m.Items[i].Address), m.Items[i].ID)
	}
	return strings.Join(lines, "\n")
}

// came lists who is in the container and was to be added by a request whose
// outcome is not known. ok is false if it is not known who is in.
func (s *Survey) came(r *roster, open *Intent) (ids []string, ok bool) {
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
