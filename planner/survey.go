package planner

import (
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// standing is where a wanted thing stands.
type standing int8

const (
	pending standing = iota // a read must be answered first
	there                   // it is on the service, its ID is known
	absent                  // it is not on the service
	unknown                 // it may be there, and nothing can tell: an intent without an outcome
	lacking                 // this edition has no such kind
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
	adopted    string // how it was recognised, if by anything but the manifest's ID or the state
	parent     int32  // fact of what it lives in; none = the workspace
	standing   standing
	gone       bool // the state knows it, the service does not any more
	moved      bool // the state knows another thing under this address
	lived      bool // things live in it
	blind      bool // it counts as absent since nothing can tell
}

// survey works out where everything stands, as far as the answers go, and what must still be read.
type survey struct {
	in       Input
	kinds    map[*resource.Kind]*traits
	facts    []fact                     // one for each of in.Desired
	index    map[*resource.Object]int32 // into facts, of things that are named
	records  []Record                   // of the facts
	listings map[scope]*listing
	recent   *listing // the one of recentAt
	recentAt scope
	owners   map[serviceID]int32 // facts by what they are on the service
	rosters  []*roster
	names    map[Name]string
	found    map[nameKey]string // "" = reported
	reads    []Read
	asked    map[Read]bool
	diags    diag.List
	spoken   map[serviceID]string // names by ID; made when first needed
}

// serviceID is one thing of the service.
type serviceID struct{ kind, id string }

// Reads returns the read requests that must be answered before a plan can be
// made and that can be asked now, in a fixed order. It is empty when Build can go on.
func Reads(in Input) []Read { return takeSurvey(in).reads }

func takeSurvey(in Input) *survey {
	s := &survey{
		in: in, kinds: newTraits(&in), listings: map[scope]*listing{}, owners: map[serviceID]int32{},
		names: map[Name]string{}, found: map[nameKey]string{}, asked: map[Read]bool{},
	}
	s.enter()
	for i := range s.facts {
		s.identify(i)
	}
	s.own()
	for i := range s.facts {
		s.lookUpNames(i)
	}
	s.gatherRosters()
	return s
}

// enter makes a fact of every wanted thing and counts what shares a list.
func (s *survey) enter() {
	s.facts = make([]fact, len(s.in.Desired))
	named := 0
	for i, o := range s.in.Desired {
		f := &s.facts[i]
		f.traits, f.parent = s.kinds[o.Kind], none
		if f.traits.named {
			named++
		}
	}
	s.index = make(map[*resource.Object]int32, named)
	s.records = make([]Record, 0, min(len(s.in.Prior), len(s.in.Desired)))
	for i, o := range s.in.Desired {
		f := &s.facts[i]
		if f.traits.named {
			s.index[o] = int32(i) //nolint:gosec // there are fewer things than 2^31
		}
		if o.Parent != nil {
			f.parent = s.index[o.Parent]
			s.facts[f.parent].lived = true
		}
		if r, ok := s.in.Prior[o.Address]; ok {
			s.records = append(s.records, r)
			f.prior = &s.records[len(s.records)-1]
		}
		s.count(i)
	}
}

// count notes how a thing and what it names will be looked for.
func (s *survey) count(i int) {
	o, f := s.in.Desired[i], &s.facts[i]
	t := f.traits
	if t.list != nil && t.single() || !t.recognises() {
		l := s.listing(t, f.parent)
		switch {
		case o.ID == "" && o.Identifier == "" && (f.prior == nil || f.prior.ID == ""):
			l.whole = l.whole || t.recognises()
		case !s.trusted(f) && (len(o.Values) > 0 || o.ID == ""):
			l.wanted++
		}
		l.known = l.known || f.prior != nil
	}
	for k := range o.Values {
		r := t.ref(o.Values[k].Field)
		if r == nil || r.to.list == nil || !r.to.single() {
			continue
		}
		for j := range o.Values[k].Refs {
			if ref := &o.Values[k].Refs[j]; ref.Target == nil && ref.ID == "" {
				s.listing(r.to, s.within(i, r.to)).whole = true
			}
		}
	}
}

// trusted reports whether a thing is taken to be as the state has it.
func (s *survey) trusted(f *fact) bool {
	return s.in.Trust && f.prior != nil && f.prior.ID != "" && f.prior.Open == nil
}

// fact returns what is known of a thing of the manifest.
func (s *survey) fact(o *resource.Object) *fact { return &s.facts[s.index[o]] }

// within is the fact in which things of a kind live that a thing names.
func (s *survey) within(i int, t *traits) int32 {
	if t.kind.Parent == "" {
		return none
	}
	at := int32(i) //nolint:gosec // there are fewer things than 2^31
	for at != none && s.in.Desired[at].Kind.Name != t.kind.Parent {
		at = s.facts[at].parent
	}
	return at
}

// own notes what every thing is on the service. Two things of the manifest cannot be one.
func (s *survey) own() {
	for i := range s.facts {
		f := &s.facts[i]
		if f.standing != there || f.id == "" {
			continue
		}
		o := s.in.Desired[i]
		id := serviceID{o.Kind.Name, f.id}
		first, twice := s.owners[id]
		if !twice {
			s.owners[id] = int32(i) //nolint:gosec // there are fewer things than 2^31
			continue
		}
		other := s.in.Desired[first]
		s.diags.Add(diag.Diagnostic{
			Code: "same-thing", Position: o.Position, Address: string(o.Address),
			Summary: string(o.Address) + " and " + string(other.Address) + " are the same " + spoken(o.Kind) + " on the service: " + f.id + f.how(),
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

func (s *survey) hint(o *resource.Object, code, summary, hint string) {
	s.diags.Add(diag.Diagnostic{Code: code, Position: o.Position, Address: string(o.Address), Summary: summary, Hint: hint})
}

func (s *survey) warn(o *resource.Object, code, summary string) {
	s.diags.Add(diag.Diagnostic{Severity: diag.Warning, Code: code, Position: o.Position, Address: string(o.Address), Summary: summary})
}

// spoken is the kind's name in a sentence.
func spoken(k *resource.Kind) string { return strings.ReplaceAll(k.Name, "_", " ") }

// a is the kind's name with its article.
func a(k *resource.Kind) string {
	if strings.IndexByte("aeiou", k.Name[0]) >= 0 {
		return "an " + spoken(k)
	}
	return "a " + spoken(k)
}

// plural is the manifest's word for the kind's things.
func plural(k *resource.Kind) string {
	if k.Section != "" {
		return strings.ReplaceAll(k.Section, "_", " ")
	}
	return spoken(k) + "s"
}
