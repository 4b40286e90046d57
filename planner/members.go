package planner

import (
	"slices"

	"github.com/planform/planform/internal/diag"
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
	may       bool     // some of those that are wanted may be in it already
	lacking   bool     // this edition has no such memberships
	have      []string // IDs of members that are there, sorted
}

// entry is one wanted member.
type entry struct {
	ref    *resource.Reference // where it is written
	member int32               // its fact; none = the manifest does not list it
}

// rosterKey tells containers apart.
type rosterKey struct {
	kind   *resource.Kind
	object int32
	id     string // of a container that the manifest does not list
}

// gatherRosters gathers the members of every container in the order of the
// manifest, and finds out who is in it.
func (s *survey) gatherRosters() {
	at := map[rosterKey]*roster{}
	for i, o := range s.in.Desired {
		f := &s.facts[i]
		if f.standing == pending || f.standing == broken {
			continue
		}
		for k := range f.traits.refs {
			t := &f.traits.refs[k]
			if t.via == nil {
				continue
			}
			v, ok := o.Value(t.field.Name)
			if !ok {
				continue
			}
			if t.via.Membership.On == t.via.Membership.Container {
				s.declared(i, t, v)
			} else {
				s.joined(at, i, t, v)
			}
		}
	}
	for _, r := range s.rosters {
		s.readRoster(r)
	}
}

// declared takes the members that a container's field lists, each once.
func (s *survey) declared(i int, t *refTraits, v *resource.Value) {
	r := s.newRoster(t, int32(i)) //nolint:gosec // there are fewer things than 2^31
	seen := map[string]bool{}
	for j := range v.Refs {
		ref := &v.Refs[j]
		at, id, ok := s.target(i, t, ref)
		switch {
		case !ok || at != none && (s.facts[at].standing == pending || s.facts[at].standing == broken):
			continue
		case id == "":
			id = string(s.in.Desired[at].Address)
		default:
			r.may = true
		}
		if !seen[id] {
			seen[id] = true
			r.entries = append(r.entries, entry{ref, at})
		}
	}
}

// joined puts a thing into the containers that its field names.
func (s *survey) joined(rosters map[rosterKey]*roster, i int, t *refTraits, v *resource.Value) {
	for j := range v.Refs {
		ref := &v.Refs[j]
		at, id, ok := s.target(i, t, ref)
		if !ok || at != none && (s.facts[at].standing == pending || s.facts[at].standing == broken) {
			continue
		}
		key := rosterKey{t.via, at, ""}
		if at == none {
			key.id = id
		}
		r, found := rosters[key]
		if !found {
			r = s.newRoster(t, at)
			rosters[key] = r
		}
		if at == none {
			s.foreign(r, i, ref, id)
		}
		r.may = r.may || s.facts[i].id != ""
		r.entries = append(r.entries, entry{ref, int32(i)}) //nolint:gosec // there are fewer things than 2^31
	}
}

func (s *survey) newRoster(t *refTraits, object int32) *roster {
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
func (s *survey) foreign(r *roster, i int, ref *resource.Reference, id string) {
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
func (s *survey) readRoster(r *roster) {
	if !r.may || r.container.ID == "" || r.object != none && s.facts[r.object].standing != there {
		return
	}
	prior, hasPrior := s.in.Prior[r.address()]
	if r.object != none && s.facts[r.object].moved {
		prior, hasPrior = Record{}, false // they are in another container
	}
	if prior.Open == nil {
		r.have = prior.Members
	}
	op, ok := r.kind.Op(resource.ListMembers, s.in.API)
	if !ok || s.in.Trust && hasPrior && prior.Open == nil {
		return
	}
	var within int32 = none
	if o := r.container.Within; o != nil {
		within = s.index[o]
	}
	params := s.params(within)
	params[resource.Must(r.kind.Membership.Container).Param] = r.container.ID
	path, _ := op.Expand(params)
	a, answered := s.ask(Read{op, path})
	switch {
	case !answered:
	case a.Lacking:
		r.lacking = true
	case a.Missing:
		s.noContainer(r)
	default:
		r.have = make([]string, 0, len(a.Rows))
		for _, row := range a.Rows {
			id, _ := row[r.kind.Membership.Row].(string)
			r.have = append(r.have, resource.NormalID(id))
		}
		slices.Sort(r.have)
	}
}

// noContainer reports a container that is not there though its ID is known.
func (s *survey) noContainer(r *roster) {
	at := r.entries[0].ref.Position
	if r.container.Object != nil {
		at = r.container.Object.Position
	}
	s.diags.Add(diag.Diagnostic{
		Code: "not-found", Position: at, Address: string(r.container.Address),
		Summary: "the service has no " + spoken(resource.Must(r.kind.Membership.Container)) + " with the ID " + r.container.ID, Hint: "look whether it was deleted, or correct its id",
	})
}

// address is where the state keeps the members of the roster's container.
func (r *roster) address() resource.Address {
	return r.container.Address.Members(r.plural(), 1)
}

// plural names the members, as in add 3 work items.
func (r *roster) plural() string { return r.kind.Membership.Member + "s" }

// memberID is the service's ID of a member, or "".
func (s *survey) memberID(r *roster, e entry) string {
	if e.member != none {
		return s.facts[e.member].id
	}
	_, id, _ := s.target(int(r.object), r.field, e.ref)
	return id
}

// isIn reports whether a member is in the container, as far as is known.
func (s *survey) isIn(r *roster, e entry) bool {
	id := s.memberID(r, e)
	_, is := slices.BinarySearch(r.have, id)
	return is && id != ""
}
