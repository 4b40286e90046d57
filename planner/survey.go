package planner

import (
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// By what an object was recognised that planform itself made.
const (
	byExternalID = "its mark"
	byNumber     = "its number and name"
)

// presence is where a wanted object stands.
type presence int8

const (
	pending       presence = iota // a read must be answered first
	exists                        // it is on the service, its ID is known
	absent                        // it is not on the service
	indeterminate                 // it may be there, and nothing can tell: an intent without an outcome
	unsupported                   // this edition has no such kind
	notFound                      // the manifest says which object of the service it is, and the service shows none; see state.why
	hidden                        // it is on the service, archived or a draft, or lives in such an object, and is left alone
	invalid                       // an error was reported, or it hangs on something that is broken
)

// objectState is what is known of one wanted object.
type objectState struct {
	info         *kindInfo
	row          resource.Row // as the service shows it; nil = not read
	prior        *Record      // what the state knows of it; nil = nothing, or of another object
	id           string
	identifier   string
	why          string // of what is missing or hidden
	matchedBy    string // how it was recognised, if by anything but the manifest's ID or the state
	parent       int    // state of what it lives in; none = the workspace
	refs         int    // where the fields that name others begin, see namings
	presence     presence
	vanished     bool // the state knows it, the service does not any more
	replaced     bool // the state knows another object under this address
	hasChildren  bool // objects live in it
	isMember     bool // it becomes a member of something
	compared     bool // some field is held against what the service shows
	unconfirmed  bool // a former run may have created it, and it may still come
	undetectable bool // it counts as absent since nothing can tell
}

// Snapshot is where everything stands, as far as the answers to the reads go. It
// is not safe for concurrent use.
type Snapshot struct {
	in                Input
	kinds             map[*resource.Kind]*kindInfo
	states            []objectState            // one for each of in.Desired
	index             map[*resource.Object]int // into states, of objects that are named
	refs              []refUse                 // of all states
	listings          map[scope]*listing
	owners            map[serviceID]int // states by what they are on the service
	memberSets        []*memberSet
	names             map[Name]string
	found             map[nameKey]string        // "" = reported, or found during the run only
	unsupportedNames  map[nameKey]bool          // of kinds that this edition does not have; nil = none
	notFoundNames     map[nameKey]string        // identifiers that no object of the service bears, and why; nil = none
	externalIDLookups int                       // by external ID
	skippedLookups    int                       // objects that would have been looked for by their external IDs, if there were not so many
	byExternalID      map[string]int            // states by their external IDs
	sharedNames       map[*resource.Object]bool // objects of one name, which the name does not tell apart
	optional          bool                      // the names that are looked up are those of fields that can be left out
	reads             []Read
	unconfirmed       []Read // see Unseen
	asked             map[Read]bool
	diags             diag.List
	renames           bool                                  // some object had another key before
	origin            map[resource.Address]resource.Address // by the address now: the one under which the state has the record; see rename
	// What the state knows and the manifest does not have any more, parents first.
	orphans      []*orphan
	removals     []*removal
	outsiders    map[*resource.Value][]*resource.Reference // of fields that name people; nil = none
	unchecked    int                                       // orphans that are deleted without a look at what others put into them
	uncheckedUse int                                       // likewise at who else uses them
	gone         map[resource.Address]bool                 // orphans that are not on the service any more
	probes       map[*resource.Kind]Read                   // of routes that take members out
	expensive    map[*resource.Kind]int                    // objects that are not read again, by kind, see findCostly
	// Made when first needed:
	displayNames map[serviceID]string // names by ID
	lostCreates  map[scope]*lostCreates
	byAddress    map[resource.Address]int    // states by address
	codes        map[resource.Address]string // readable identifiers of what the state's objects lived in
	claims       map[string]bool             // IDs that the state or the manifest has
}

// refUse is a field of a wanted object that names others.
type refUse struct {
	value *resource.Value
	field *refField
	by    int // state of the object
}

// serviceID is one object of the service.
type serviceID struct{ kind, id string }

// Reads is [Snapshot.Reads] of a new look.
func Reads(in Input) []Read { return Observe(in).Reads() }

// Reads returns the read requests that must be answered before a plan can be
// made and that can be asked now, in a fixed order. It is empty when Build can go on.
func (s *Snapshot) Reads() []Read { return s.reads }

// Unconfirmed returns the reads that show nothing of a create which a former run may
// have sent, where only readable numbers tell. While the service may still be about
// to carry it out, they are to be asked again before there is a plan. Where anything
// else tells, the step is [Step.Pending] instead.
func (s *Snapshot) Unconfirmed() []Read { return s.unconfirmed }

// Observe works out where everything stands. A look that asks for no more reads can be built at once.
func Observe(in Input) *Snapshot {
	s := &Snapshot{
		in: in, kinds: newKindInfo(&in), listings: map[scope]*listing{}, owners: map[serviceID]int{},
		names: map[Name]string{}, found: map[nameKey]string{}, asked: map[Read]bool{},
	}
	s.applyRenames()
	s.indexObjects()
	for i := range s.states {
		s.identify(i)
	}
	s.recordOwners()
	s.lookUpNames()
	s.findParentCycles()
	s.gatherMemberSets()
	s.findOrphans()
	s.findRemovals()
	s.findOutsiders()
	s.readNames()
	return s
}

// indexObjects makes a state of every wanted object and counts what shares a list.
func (s *Snapshot) indexObjects() {
	n := len(s.in.Desired)
	s.states = make([]objectState, n)
	s.index = make(map[*resource.Object]int, n/2) // most objects have one that nothing names, such as a link
	s.refs = make([]refUse, 0, 2*n)
	s.findExpensive()
	for i, o := range s.in.Desired {
		f := &s.states[i]
		f.info, f.parent, f.refs = s.kinds[o.Kind], none, len(s.refs)
		if f.info.referenced {
			s.index[o] = i
		}
		if o.Parent != nil {
			f.parent = s.index[o.Parent]
			s.states[f.parent].hasChildren = true
		}
		if len(s.in.Prior) > 0 {
			if r, ok := s.in.Prior[o.Address]; ok {
				f.prior = &r
			}
		}
		s.indexRefs(i)
	}
	for i, o := range s.in.Desired {
		s.countReads(o, &s.states[i])
	}
	for _, n := range s.refs {
		if n.field.to.list == nil || !n.field.to.single() {
			continue
		}
		for j := range n.value.Refs {
			if r := &n.value.Refs[j]; r.Target == nil && s.literal(n.field, r) == "" {
				s.listing(n.field.to, s.within(n.by, n.field.to)).whole = true
			}
		}
	}
}

// indexRefs notes the fields of an object that name others, and whether there are any that are compared.
func (s *Snapshot) indexRefs(i int) {
	o, f := s.in.Desired[i], &s.states[i]
	compared := len(o.Values)
	if len(f.info.refs) > 0 {
		for k := range o.Values {
			v := &o.Values[k]
			t := f.info.ref(v.Field)
			if t == nil {
				continue
			}
			s.refs = append(s.refs, refUse{v, t, i})
			if t.via != nil || v.Field.Virtual {
				compared--
			}
			f.isMember = f.isMember || t.via != nil && t.via.Membership.On == o.Kind.Name
		}
	}
	f.compared = compared > 0
}

// countReads notes how an object will be looked for.
func (s *Snapshot) countReads(o *resource.Object, f *objectState) {
	t := f.info
	if t.recognisable() && (t.list == nil || !t.single()) {
		return
	}
	l := s.listing(t, f.parent)
	switch {
	case o.ID == "" && o.Identifier == "" && !f.known():
		l.whole = l.whole || t.recognisable()
	case !s.skipsRefresh(f) && s.mustRead(o, f):
		l.desired++
	}
	l.known = l.known || f.prior != nil
}

// mustRead reports whether an object is to be read: unless the manifest gives its ID
// and nothing of it is compared. But under the ID of one that is archived, or
// belongs to another project, the service takes what is put into it and shows it nowhere.
func (s *Snapshot) mustRead(o *resource.Object, f *objectState) bool {
	filled := f.isMember || f.hasChildren && (f.parent != none || o.Kind.Archivable)
	return f.compared || o.ID == "" || filled && f.info.get != nil && !s.in.SkipRefresh
}

// refUses are the fields of an object that name others.
func (s *Snapshot) refUses(i int) []refUse {
	if i+1 < len(s.states) {
		return s.refs[s.states[i].refs:s.states[i+1].refs]
	}
	return s.refs[s.states[i].refs:]
}

// skipsRefresh reports whether an object is taken to be as the state has it.
func (s *Snapshot) skipsRefresh(f *objectState) bool {
	return (s.in.SkipRefresh || s.expensive[f.info.kind] > 0) && f.prior != nil && f.prior.ID != "" && f.prior.PendingIntent == nil
}

// maxSingleReads is how many requests for one or a few objects each a person waits for: a minute of the usual quota.
const maxSingleReads = 60

// findExpensive finds the kinds of which so many objects are known that reading
// them again, one request for one or a few of them, would take longer than a
// person waits.
func (s *Snapshot) findExpensive() {
	s.expensive = map[*resource.Kind]int{}
	if s.in.RefreshAll || len(s.in.Prior) <= maxSingleReads {
		return
	}
	type reader struct {
		kind   *resource.Kind
		parent *resource.Object
	}
	reads, things := map[*resource.Kind]int{}, map[*resource.Kind]int{}
	seen := map[reader]bool{}
	for _, o := range s.in.Desired {
		t := s.kinds[o.Kind]
		if !t.readSingly() || s.in.Prior[o.Address].ID == "" {
			continue
		}
		things[o.Kind]++
		if at := (reader{o.Kind, o.Parent}); t.list == nil || !seen[at] {
			seen[at] = true
			reads[o.Kind]++
		}
	}
	for k, n := range reads {
		if n > maxSingleReads {
			s.expensive[k] = things[k]
		}
	}
}

// within is the state in which objects of a kind live that an object names.
func (s *Snapshot) within(at int, t *kindInfo) int {
	if t.parent == nil {
		return none
	}
	return s.ancestor(at, t.parent)
}

// ancestor is the state of a kind that an object is or lives in.
func (s *Snapshot) ancestor(at int, t *kindInfo) int {
	for at != none && s.states[at].info != t {
		at = s.states[at].parent
	}
	return at
}

// recordOwners notes what every object is on the service. Two objects of the manifest cannot be one.
func (s *Snapshot) recordOwners() {
	for i := range s.states {
		f := &s.states[i]
		if f.presence != exists && f.presence != hidden || f.id == "" {
			continue
		}
		o := s.in.Desired[i]
		id := serviceID{o.Kind.Name, f.id}
		first, twice := s.owners[id]
		if !twice {
			s.owners[id] = i
			continue
		}
		other := s.in.Desired[first]
		s.diags.Add(diag.Diagnostic{
			Code: "same-thing", Position: o.Position, Address: string(o.Address),
			Summary: string(o.Address) + " and " + string(other.Address) + " are the same " + o.Kind.Noun() + " on the service: " + f.id + f.matchedByText(),
			Hint:    "remove one of them from the manifest, or give each its own id",
			Related: []diag.Related{{Position: other.Position, Note: "the other is at"}},
		})
		f.presence = invalid
	}
}

// matchedByText says by what an object was recognised.
func (f *objectState) matchedByText() string {
	if f.matchedBy == "" {
		return ""
	}
	return ", found by " + f.matchedBy
}

func (s *Snapshot) report(o *resource.Object, code, summary, hint string) {
	s.diags.Add(diag.Diagnostic{Code: code, Position: o.Position, Address: string(o.Address), Summary: summary, Hint: hint})
}

func warning(o *resource.Object, code, summary string) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Warning, Code: code, Position: o.Position, Address: string(o.Address), Summary: summary}
}
