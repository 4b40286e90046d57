package planner

import (
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// By what a thing was recognised that planform itself made.
const (
	byMark   = "its mark"
	byNumber = "its number and name"
)

// standing is where a wanted thing stands.
type standing int8

const (
	pending standing = iota // a read must be answered first
	there                   // it is on the service, its ID is known
	absent                  // it is not on the service
	unknown                 // it may be there, and nothing can tell: an intent without an outcome
	lacking                 // this edition has no such kind
	missing                 // the manifest says which thing of the service it is, and the service shows none; see fact.why
	hidden                  // it is on the service, archived or a draft, or lives in such a thing, and is left alone
	broken                  // an error was reported, or it hangs on something that is broken
)

// fact is what is known of one wanted thing.
type fact struct {
	traits     *traits
	row        resource.Row // as the service shows it; nil = not read
	prior      *Record      // what the state knows of it; nil = nothing, or of another thing
	step       *Step        // that creates or changes it, once it is planned
	id         string
	identifier string
	why        string // of what is missing or hidden
	adopted    string // how it was recognised, if by anything but the manifest's ID or the state
	parent     int32  // fact of what it lives in; none = the workspace
	refs       int32  // where the fields that name others begin, see namings
	standing   standing
	gone       bool // the state knows it, the service does not any more
	moved      bool // the state knows another thing under this address
	lived      bool // things live in it
	joins      bool // it becomes a member of something
	compared   bool // some field is held against what the service shows
	unsettled  bool // a former run may have created it, and it may still come
	blind      bool // it counts as absent since nothing can tell
}

// Survey is where everything stands, as far as the answers to the reads go. It
// is not safe for concurrent use.
type Survey struct {
	in       Input
	kinds    map[*resource.Kind]*traits
	facts    []fact                     // one for each of in.Desired
	index    map[*resource.Object]int32 // into facts, of things that are named
	refs     []naming                   // of all facts
	records  []Record                   // of the facts
	listings map[scope]*listing
	recent   *listing // the one of recentAt
	recentAt scope
	owners   map[serviceID]int32 // facts by what they are on the service
	rosters  []*roster
	names    map[Name]string
	found    map[nameKey]string        // "" = reported, or found during the run only
	lacked   map[nameKey]bool          // of kinds that this edition does not have; nil = none
	unfound  map[nameKey]string        // identifiers that no thing of the service bears, and why; nil = none
	lookups  int                       // by mark
	unlooked int                       // things that would have been looked for by their mark, if there were not so many
	marked   map[string]int32          // facts by their marks
	namesake map[*resource.Object]bool // things of one name, which the name does not tell apart
	mayMiss  bool                      // the names that are looked up are those of fields that can be left out
	reads    []Read
	unseen   []Read // see Unseen
	asked    map[Read]bool
	diags    diag.List
	renames  bool                                  // some thing had another key before
	origin   map[resource.Address]resource.Address // by the address now: the one under which the state has the record; see rename
	// What the state knows and the manifest does not have any more, parents first.
	leftovers  []*leftover
	departures []*departure
	outsiders  map[*resource.Value][]*resource.Reference // of fields that name people; nil = none
	blind      int                                       // leftovers that are deleted without a look at what others put into them
	blindUse   int                                       // likewise at who else uses them
	gone       map[resource.Address]bool                 // leftovers that are not on the service any more
	probes     map[*resource.Kind]Read                   // of routes that take members out
	costly     map[*resource.Kind]int                    // things that are not read again, by kind, see findCostly
	// Made when first needed:
	spoken  map[serviceID]string // names by ID
	sequels map[scope]*sequel
	places  map[resource.Address]int32  // facts by address
	codes   map[resource.Address]string // readable identifiers of what the state's things lived in
	claims  map[string]bool             // IDs that the state or the manifest has
}

// naming is a field of a wanted thing that names others.
type naming struct {
	v  *resource.Value
	t  *refTraits
	by int32 // fact of the thing
}

// serviceID is one thing of the service.
type serviceID struct{ kind, id string }

// Reads is [Survey.Reads] of a new look.
func Reads(in Input) []Read { return Look(in).Reads() }

// Reads returns the read requests that must be answered before a plan can be
// made and that can be asked now, in a fixed order. It is empty when Build can go on.
func (s *Survey) Reads() []Read { return s.reads }

// Unseen returns the reads that show nothing of a create which a former run may
// have sent, where only readable numbers tell. While the service may still be about
// to carry it out, they are to be asked again before there is a plan. Where anything
// else tells, the step is [Step.Pending] instead.
func (s *Survey) Unseen() []Read { return s.unseen }

// Look works out where everything stands. A look that asks for no more reads can be built at once.
func Look(in Input) *Survey {
	s := &Survey{
		in: in, kinds: newTraits(&in), listings: map[scope]*listing{}, owners: map[serviceID]int32{},
		names: map[Name]string{}, found: map[nameKey]string{}, asked: map[Read]bool{},
	}
	s.rename()
	s.enter()
	for i := range s.facts {
		s.identify(i)
	}
	s.own()
	s.lookUpNames()
	s.findCircles()
	s.gatherRosters()
	s.findLeftovers()
	s.findDepartures()
	s.findOutsiders()
	s.readNames()
	return s
}

// enter makes a fact of every wanted thing and counts what shares a list.
func (s *Survey) enter() {
	n := len(s.in.Desired)
	s.facts = make([]fact, n)
	s.index = make(map[*resource.Object]int32, n/2) // most things have one that nothing names, such as a link
	s.refs = make([]naming, 0, 2*n)
	s.records = make([]Record, 0, min(len(s.in.Prior), n))
	s.findCostly()
	for i, o := range s.in.Desired {
		f := &s.facts[i]
		f.traits, f.parent, f.refs = s.kinds[o.Kind], none, int32(len(s.refs)) //nolint:gosec // there are fewer things than 2^31
		if f.traits.named {
			s.index[o] = int32(i)
		}
		if o.Parent != nil {
			f.parent = s.index[o.Parent]
			s.facts[f.parent].lived = true
		}
		if len(s.in.Prior) > 0 {
			if r, ok := s.in.Prior[o.Address]; ok {
				s.records = append(s.records, r)
				f.prior = &s.records[len(s.records)-1]
			}
		}
		s.name(i)
	}
	for i, o := range s.in.Desired {
		s.count(o, &s.facts[i])
	}
	for _, n := range s.refs {
		if n.t.to.list == nil || !n.t.to.single() {
			continue
		}
		for j := range n.v.Refs {
			if r := &n.v.Refs[j]; r.Target == nil && s.literal(n.t, r) == "" {
				s.listing(n.t.to, s.within(n.by, n.t.to)).whole = true
			}
		}
	}
}

// name notes the fields of a thing that name others, and whether there are any that are compared.
func (s *Survey) name(i int) {
	o, f := s.in.Desired[i], &s.facts[i]
	compared := len(o.Values)
	if len(f.traits.refs) > 0 {
		for k := range o.Values {
			v := &o.Values[k]
			t := f.traits.ref(v.Field)
			if t == nil {
				continue
			}
			s.refs = append(s.refs, naming{v, t, int32(i)}) //nolint:gosec // there are fewer things than 2^31
			if t.via != nil || v.Field.NoWire {
				compared--
			}
			f.joins = f.joins || t.via != nil && t.via.Membership.On == o.Kind.Name
		}
	}
	f.compared = compared > 0
}

// count notes how a thing will be looked for.
func (s *Survey) count(o *resource.Object, f *fact) {
	t := f.traits
	if t.recognises() && (t.list == nil || !t.single()) {
		return
	}
	l := s.listing(t, f.parent)
	switch {
	case o.ID == "" && o.Identifier == "" && !f.known():
		l.whole = l.whole || t.recognises()
	case !s.trusted(f) && s.looked(o, f):
		l.wanted++
	}
	l.known = l.known || f.prior != nil
}

// looked reports whether a thing is to be read: unless the manifest gives its ID
// and nothing of it is compared. But under the ID of one that is archived, or
// belongs to another project, the service takes what is put into it and shows it nowhere.
func (s *Survey) looked(o *resource.Object, f *fact) bool {
	filled := f.joins || f.lived && (f.parent != none || o.Kind.Archives)
	return f.compared || o.ID == "" || filled && f.traits.get != nil && !s.in.Trust
}

// namings are the fields of a thing that name others.
func (s *Survey) namings(i int32) []naming {
	if int(i)+1 < len(s.facts) {
		return s.refs[s.facts[i].refs:s.facts[i+1].refs]
	}
	return s.refs[s.facts[i].refs:]
}

// trusted reports whether a thing is taken to be as the state has it.
func (s *Survey) trusted(f *fact) bool {
	return (s.in.Trust || s.costly[f.traits.kind] > 0) && f.prior != nil && f.prior.ID != "" && f.prior.Open == nil
}

// mostSingly is how many requests for one or a few things each a person waits for: a minute of the usual quota.
const mostSingly = 60

// findCostly finds the kinds of which so many things are known that reading
// them again, one request for one or a few of them, would take longer than a
// person waits.
func (s *Survey) findCostly() {
	s.costly = map[*resource.Kind]int{}
	if s.in.Thorough || len(s.in.Prior) <= mostSingly {
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
		if n > mostSingly {
			s.costly[k] = things[k]
		}
	}
}

// within is the fact in which things of a kind live that a thing names.
func (s *Survey) within(at int32, t *traits) int32 {
	if t.parent == nil {
		return none
	}
	return s.ancestor(at, t.parent)
}

// ancestor is the fact of a kind that a thing is or lives in.
func (s *Survey) ancestor(at int32, t *traits) int32 {
	for at != none && s.facts[at].traits != t {
		at = s.facts[at].parent
	}
	return at
}

// own notes what every thing is on the service. Two things of the manifest cannot be one.
func (s *Survey) own() {
	for i := range s.facts {
		f := &s.facts[i]
		if f.standing != there && f.standing != hidden || f.id == "" {
			continue
		}
		o := s.in.Desired[i]
		id := serviceID{o.Kind.Name, f.id}
		first, twice := s.owners[id]
		if !twice {
			s.owners[id] = int32(i)
			continue
		}
		other := s.in.Desired[first]
		s.diags.Add(diag.Diagnostic{
			Code: "same-thing", Position: o.Position, Address: string(o.Address),
			Summary: string(o.Address) + " and " + string(other.Address) + " are the same " + o.Kind.Noun() + " on the service: " + f.id + f.how(),
			Hint:    "take one of them out of the manifest, or give each its own id",
			Related: []diag.Related{{Position: other.Position, Note: "the other is at"}},
		})
		f.standing = broken
	}
}

// how says by what a thing was recognised.
func (f *fact) how() string {
	if f.adopted == "" {
		return ""
	}
	return ", found by " + f.adopted
}

func (s *Survey) hint(o *resource.Object, code, summary, hint string) {
	s.diags.Add(diag.Diagnostic{Code: code, Position: o.Position, Address: string(o.Address), Summary: summary, Hint: hint})
}

func warning(o *resource.Object, code, summary string) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Warning, Code: code, Position: o.Position, Address: string(o.Address), Summary: summary}
}
