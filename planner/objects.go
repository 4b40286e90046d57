package planner

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/resource"
)

// objects are the objects that the manifest wants, and what is known of each. The
// later stages name an object by its place in [Input.Desired].
type objects struct {
	in        *Input
	kinds     map[*resource.Kind]*kindInfo
	states    []objectState                         // one for each of in.Desired
	index     map[*resource.Object]int              // into states, of objects that others live in or refer to
	uses      []refUse                              // of all states
	expensive map[*resource.Kind]int                // objects that are not read again, by kind, see findExpensive
	origin    map[resource.Address]resource.Address // by the address now: the one under which the state has the record
	displaced map[resource.Address]bool             // addresses of records that had to make room for other objects
	owners    map[serviceID]int                     // by what they are on the service, once that is known
	// Made when first needed:
	byAddress map[resource.Address]int
	recorded  map[serviceID][]resource.Address
}

func newObjects(in *Input) *objects {
	s := &objects{in: in, kinds: newKindInfo(in), owners: map[serviceID]int{}}
	s.applyRenames()
	s.indexObjects()
	return s
}

// presence says whether a desired object is on the service.
type presence int8

const (
	pending       presence = iota // a read must be answered first
	exists                        // it is on the service, its ID is known
	absent                        // it is not on the service
	indeterminate                 // a create without an outcome that nothing can settle
	unsupported                   // this edition has no such kind
	notFound                      // the service does not show the ID or identifier that the manifest gives; see objectState.why
	hidden                        // it, or its parent, is archived or a draft, and left alone
	invalid                       // an error was reported, for it or its parent
)

// decided reports whether it is known that an object is on the service, or that it is not.
func (p presence) decided() bool { return p == exists || p == absent }

// objectState is what is known of one desired object.
type objectState struct {
	info         *kindInfo
	row          resource.Row // as the service shows it, in the time zone that it will be in; nil = not read
	before       resource.Row // the same in the time zone of the last apply, where that was another one
	endedOn      string       // its last day, in the time zone that it is in
	prior        *Record      // what the state knows of it; nil = nothing, or of another object
	id           string
	identifier   string
	why          string   // if notFound or hidden
	matchedBy    string   // how it was recognised, if by anything but the manifest's ID or the state
	parent       int      // index of its parent; none = the workspace
	uses         []refUse // its fields that name others
	presence     presence
	vanished     bool // the state knows it, the service does not any more
	replaced     bool // the state knows another object under this address
	hasChildren  bool
	isMember     bool // of some container
	compared     bool // some field is held against what the service shows
	unconfirmed  bool // a former run may have created it, and it may still come
	undetectable bool // it counts as absent since nothing can tell
	maybeHidden  bool // it was not looked for where lists show nothing
}

// refUse is a field of a wanted object that names others.
type refUse struct {
	value *resource.Value
	field *refField
	by    int // state of the object
}

// serviceID is one object of the service.
type serviceID struct{ kind, id string }

// archived is why an object is hidden that is archived; see [resource.Row.Hidden].
const archived = "archived"

// noObject is the place of no state.
const noObject int = -1

// By what an object was recognised that planform itself made.
const (
	foundByExternalID = "its mark"
	foundByNumber     = "its number and name"
)

// wantsArchived is what the manifest says of an object's being archived; given is false where it says nothing.
func wantsArchived(o *resource.Object) (v *resource.Value, want, given bool) {
	for i := range o.Values {
		if v := &o.Values[i]; v.Field.ArchiveFlag {
			return v, v.Text == "true", true
		}
	}
	return nil, false, false
}

// numberOf is the number in a readable identifier that begins with a code; 0 if it does not.
func numberOf(code, identifier string) int {
	if begin, _, _ := strings.Cut(identifier, "-"); code == "" || !strings.EqualFold(begin, code) {
		return 0
	}
	return numberAfterHyphen(identifier)
}

func numberAfterHyphen(identifier string) int {
	_, number, _ := strings.Cut(identifier, "-")
	n, _ := strconv.Atoi(number) // 0 where there is none
	return n
}

func (f *objectState) known() bool { return f.prior != nil && f.prior.ID != "" }

// maybeCreated reports whether it may have been created without the state knowing.
func (f *objectState) maybeCreated() bool { return f.prior != nil && f.prior.PendingIntent.creates() }

// forgetPrior drops what the state says: it is about another object.
func (f *objectState) forgetPrior() { f.prior, f.replaced = nil, true }

// willHave is what an object will have in a field: what the manifest says, else what the
// service shows, or gives a new one.
func (f *objectState) willHave(o *resource.Object, field *resource.Field) (canonical string, known bool) {
	if _, given := o.Value(field.Name); given || f.presence == absent {
		return o.OfNew(field)
	}
	return field.ObservedIn(f.row)
}

// archived reports whether an object is where lists do not show it.
func (f *objectState) archived() bool {
	return f.info.archivable && textIn(f.row, "archived_at") != ""
}

// isAway reports whether an object that no list shows is taken to be archived, as the manifest
// wants it: nothing lists the archived ones of its kind.
func (f *objectState) isAway(o *resource.Object) bool {
	_, want, _ := wantsArchived(o)
	return want && f.info.archivable && f.info.archived == nil
}

// readOperation is the operation that reads one record, by ID or else by readable identifier, and
// the ID or identifier.
func (f *objectState) readOperation() (op *resource.Operation, by string) {
	switch t := f.info; {
	case t.get != nil:
		return t.get, f.id
	case t.find != nil && f.identifier != "":
		return t.find, f.identifier
	default:
		return nil, ""
	}
}

// indexObjects makes a state of every wanted object and counts what shares a list.
func (s *objects) indexObjects() {
	n := len(s.in.Desired)
	s.states = make([]objectState, n)
	s.index = make(map[*resource.Object]int, n/2) // most objects have one that nothing names, such as a link
	s.uses = make([]refUse, 0, 2*n)
	s.findExpensive()
	for i, o := range s.in.Desired {
		f := &s.states[i]
		f.info, f.parent = s.kinds[o.Kind], noObject
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
}

// indexRefs notes the fields of an object that name others, and whether there are any that are compared.
func (s *objects) indexRefs(i int) {
	o, f := s.in.Desired[i], &s.states[i]
	first, compared := len(s.uses), len(o.Values)
	for k := range o.Values {
		v := &o.Values[k]
		t := f.info.ref(v.Field)
		if t == nil {
			continue
		}
		s.uses = append(s.uses, refUse{v, t, i})
		if t.membership != nil || v.Field.Virtual {
			compared--
		}
		f.isMember = f.isMember || t.membership != nil && t.membership.Membership.On == o.Kind.Name
	}
	f.uses, f.compared = s.uses[first:], compared > 0
}

// skipsRefresh reports whether an object is taken to be as the state has it.
func (s *objects) skipsRefresh(f *objectState) bool {
	return (s.in.SkipRefresh || s.expensive[f.info.kind] > 0) && f.known() && f.prior.PendingIntent == nil
}

// whyUnread is why nothing was read of an object that exists.
func (s *objects) whyUnread(f *objectState) gapReason {
	switch {
	case s.in.SkipRefresh:
		return skipsRefresh
	case s.expensive[f.info.kind] > 0:
		return expensive
	default:
		return gapReason{why: f.info.api.Noun() + " cannot read them"}
	}
}

// whyHidden is why nothing was read of an object that is archived.
func (s *objects) whyHidden() gapReason {
	if s.in.RefreshAll {
		return gapReason{why: "archived, and nothing shows them"}
	}
	return gapReason{"archived, and no list shows them", "--refresh-all reads them"}
}

// mustRead reports whether an object is to be read: not if the manifest gives its ID and compares
// no field. A container is read: an archived one takes children and members, and shows them nowhere.
func (s *objects) mustRead(o *resource.Object, f *objectState) bool {
	hasContents := f.isMember || f.hasChildren && (f.parent != noObject || o.Kind.Archivable)
	return f.compared || o.ID == "" || hasContents && f.info.get != nil && !s.in.SkipRefresh
}

// findExpensive finds the kinds with so many known objects that reading them again, one or a few
// per request, would take longer than a person waits.
func (s *objects) findExpensive() {
	s.expensive = map[*resource.Kind]int{}
	if s.in.RefreshAll || len(s.in.Prior) <= maxSingleReads {
		return
	}
	type reader struct {
		kind   *resource.Kind
		parent *resource.Object
	}
	reads, known := map[*resource.Kind]int{}, map[*resource.Kind]int{}
	seen := map[reader]bool{}
	for _, o := range s.in.Desired {
		t := s.kinds[o.Kind]
		if !t.refreshedSingly() || s.in.Prior[o.Address].ID == "" {
			continue
		}
		known[o.Kind]++
		if at := (reader{o.Kind, o.Parent}); t.list == nil || !seen[at] {
			seen[at] = true
			reads[o.Kind]++
		}
	}
	for k, n := range reads {
		if n > maxSingleReads {
			s.expensive[k] = known[k]
		}
	}
}

// within is the state within which objects of a kind are that an object names.
func (s *objects) within(at int, t *kindInfo) int { return s.ancestor(at, t.namedWithin) }

// withinOf is the state within which what a field names is: of the options of a custom field, the property.
func (s *objects) withinOf(at int, r *refField) int {
	if d := r.field.Definition; d != nil && r.to.parent == s.kinds[d.Kind] {
		return s.index[d]
	}
	return s.within(at, r.to)
}

// ancestor is the state of a kind that an object is or lives in.
func (s *objects) ancestor(at int, t *kindInfo) int {
	for at != noObject && s.states[at].info != t {
		at = s.states[at].parent
	}
	return at
}

func (s *objects) kind(name string) *kindInfo { return s.kinds[resource.MustLookup(name)] }

func (s *objects) indexOf(a resource.Address) (int, bool) {
	if s.byAddress == nil {
		s.byAddress = make(map[resource.Address]int, len(s.in.Desired))
		for i, o := range s.in.Desired {
			s.byAddress[o.Address] = i
		}
	}
	i, ok := s.byAddress[a]
	return i, ok
}

// addressesOf are the addresses under which the state has an object of the service, sorted.
func (s *objects) addressesOf(id serviceID) []resource.Address {
	if s.recorded == nil {
		s.recorded = make(map[serviceID][]resource.Address, len(s.in.Prior))
		for _, a := range slices.Sorted(maps.Keys(s.in.Prior)) {
			if r := s.in.Prior[a]; a.IsObject() && r.ID != "" {
				id := serviceID{a.Kind(), r.ID}
				s.recorded[id] = append(s.recorded[id], a)
			}
		}
	}
	return s.recorded[id]
}

// addressOf is the address of an object of the service in the manifest, else in the state, or "".
func (s *objects) addressOf(id serviceID) resource.Address {
	if at, ok := s.owners[id]; ok {
		return s.in.Desired[at].Address
	}
	for _, a := range s.addressesOf(id) {
		return a
	}
	return ""
}

func (s *objects) params(parent int) map[string]string {
	p := map[string]string{"workspace_slug": s.in.Workspace}
	for ; parent != noObject; parent = s.states[parent].parent {
		p[s.in.Desired[parent].Kind.Param] = s.states[parent].id
	}
	return p
}

// readableID is the readable identifier of a record that lives in a parent, or "".
func (s *objects) readableID(k *resource.Kind, parent int, row resource.Row) string {
	if k.Identifier == nil {
		return ""
	}
	if k.Identifier.APIName != "" {
		return textIn(row, k.Identifier.APIName)
	}
	number, ok := row["sequence_id"].(json.Number)
	if !ok || parent == noObject || s.states[parent].identifier == "" {
		return ""
	}
	return s.states[parent].identifier + "-" + number.String()
}

func (s *objects) enumerate(k *resource.Kind, parent int, rows []resource.Row) string {
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.ID()
		if shown := s.readableID(k, parent, row); shown != "" {
			names[i] = shown + " (" + row.ID() + ")"
		}
	}
	return strings.Join(names, ", ")
}

// currentZone is the time zone of what objects live in, as the service has it by now.
func (s *objects) currentZone(parent int) *time.Location {
	if parent == noObject {
		return time.UTC
	}
	if name, ok := s.states[parent].row["timezone"].(string); ok {
		return resource.Zone(name)
	}
	return resource.Zone(s.in.Desired[parent].Text("timezone"))
}

// desiredZone is the time zone that what objects live in will have after the apply. The service stores days as moments of the
// zone that there was, and these stay when the zone changes.
func (s *objects) desiredZone(parent int) *time.Location {
	if parent == noObject {
		return time.UTC
	}
	o, f := s.in.Desired[parent], &s.states[parent]
	v, given := o.Value("timezone")
	if !given || v.Text == "" || f.presence == exists && (o.Ignores(v.Field) || f.info.update == nil || !f.info.api.Sendable(v.Field)) {
		return s.currentZone(parent)
	}
	if have, known := v.Field.ObservedIn(f.row); known && f.prior != nil && f.prior.drifted(v.Field, have, f.row) && s.in.onDrift(o) == Keep {
		return s.currentZone(parent)
	}
	return resource.Zone(v.Text)
}

// appliedZone is the time zone that what objects live in had when it was applied last, as far as that is known.
func (s *objects) appliedZone(parent int) *time.Location {
	if parent != noObject && s.states[parent].prior != nil {
		if name := s.states[parent].prior.Values["timezone"]; name != "" {
			return resource.Zone(name)
		}
	}
	return s.currentZone(parent)
}

// setZone reads the moments of an object's row as days.
func (s *objects) setZone(o *resource.Object, f *objectState) {
	if o.Kind.ClosedAfter == "" || f.row == nil {
		return
	}
	raw := f.row
	f.row = o.Kind.InZone(raw, s.desiredZone(f.parent))
	if applied := s.appliedZone(f.parent); applied.String() != s.desiredZone(f.parent).String() {
		f.before = o.Kind.InZone(raw, applied)
	}
	if closes, ok := o.Kind.Field(o.Kind.ClosedAfter); ok {
		f.endedOn, _ = closes.ObservedIn(o.Kind.InZone(raw, s.currentZone(f.parent)))
	}
}

// lastShown is what the service shows of a field, in the time zone of the last apply.
func (f *objectState) lastShown(field *resource.Field) string {
	row := f.row
	if f.before != nil {
		row = f.before
	}
	have, _ := field.ObservedIn(row)
	return have
}

// hasPassed reports whether a day is over in a time zone.
func (s *objects) hasPassed(day string, zone *time.Location) bool {
	t, err := time.ParseInLocation(time.DateOnly, day, zone)
	return err == nil && !s.in.Now.IsZero() && !s.in.Now.Before(t.AddDate(0, 0, 1).Add(-time.Minute))
}

func (s *objects) isClosed(i int) bool {
	f := &s.states[i]
	return f.presence == exists && s.hasPassed(f.endedOn, s.currentZone(f.parent))
}

// willBeClosed reports whether an object is over once it is as the manifest wants it.
func (s *objects) willBeClosed(i int) bool {
	f := &s.states[i]
	closes := f.info.kind.ClosedAfter
	if closes == "" {
		return false
	}
	if v, given := s.in.Desired[i].Value(closes); given {
		return s.hasPassed(v.Text, s.desiredZone(f.parent))
	}
	return s.isClosed(i)
}

// isUnlisted reports whether no list of members shows an object, before this run: it is archived, or a draft.
func (f *objectState) isUnlisted() bool {
	return f.presence == hidden || f.info.archived == nil && f.archived()
}

func (s *objects) undecided(at int) bool {
	return at != noObject && (s.states[at].presence == pending || s.states[at].presence == invalid)
}

// staysArchived reports whether an object is archived and stays so: it is left as it is.
func (s *objects) staysArchived(i int) bool {
	_, want, given := wantsArchived(s.in.Desired[i])
	return s.states[i].archived() && (want || !given)
}

// isDeletedOrHidden reports whether an object of the manifest was deleted, and its memberships with it,
// or is archived, and left alone with them.
func (s *objects) isDeletedOrHidden(a resource.Address) bool {
	i, wanted := s.indexOf(a)
	return wanted && s.states[i].presence == absent || s.isHidden(a)
}

// isHidden reports whether an object of the manifest is archived or a draft, or in one.
func (s *objects) isHidden(a resource.Address) bool {
	i, wanted := s.indexOf(a)
	return wanted && s.states[i].presence == hidden
}
