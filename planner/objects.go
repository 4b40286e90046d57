package planner

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/resource"
)

// objects are the objects that the manifest wants, and what is known of each.
type objects struct {
	in        *Input
	kinds     map[*resource.Kind]*kindInfo
	states    []objectState                 // one for each of in.Desired
	index     map[*resource.Object]objectID // into states, of objects that others live in or refer to
	uses      []reference                   // of all states
	expensive map[*resource.Kind]int        // objects that are not read again, by kind, see findExpensive
	renamed   relocation
	owners    map[serviceID]objectID // by what they are on the service, once that is known
	newCodes  map[string]bool        // identifiers of projects that the run creates, such as WEB
	// Made when first needed:
	byAddress map[resource.Address]objectID
	byScope   map[scope][]objectID
	recorded  map[serviceID][]resource.Address
}

func newObjects(in *Input) *objects {
	s := &objects{
		in: in, kinds: newKindInfo(in, in.kindsWithoutV2()), renamed: applyRenames(in), owners: map[serviceID]objectID{}, newCodes: map[string]bool{},
	}
	in.Prior = s.renamed.prior
	s.indexObjects()
	return s
}

// needsMark reports whether an update has to write planform's mark: the object has a former one, or none.
func (ob *objects) needsMark(i objectID) bool {
	o, f := ob.in.Desired[i], &ob.states[i]
	if !f.info.externalIDs || f.row == nil || f.info.update == nil {
		return false
	}
	have := f.row.Text("external_id")
	owner, marked := f.row.Owner()
	given := o.ID != "" || o.Identifier != ""
	if f.row.Text("external_source") == "" && have == "" {
		return ob.in.MarkAdopted || !given && f.matchedBy != "" && o.Kind.AdoptOnRequestOnly && ob.in.Owner == ""
	}
	return marked && (owner != ob.in.Owner || !given && have != ob.in.marks().ID(o.Address))
}

// lacksSecret reports whether an object has a file for its secret with nothing in it, and the service can give it another one.
func (ob *objects) lacksSecret(i objectID) bool {
	o, f := ob.in.Desired[i], &ob.states[i]
	file := o.Secret()
	if file == nil || f.presence != exists {
		return false
	}
	_, offered := ob.op(o.Kind, resource.NewSecret)
	return offered && !file.Filled
}

// op is an operation on a kind, by the API that manages it.
func (ob *objects) op(k *resource.Kind, verb resource.Verb) (*resource.Operation, bool) {
	return k.Op(verb, ob.kinds[k].api)
}

// membersRead is the read that lists the members of a container; ok is false where the API has
// none, or a path parameter is not known.
func (ob *objects) membersRead(membership *resource.Kind, params map[string]string) (r Read, ok bool) {
	op, ok := ob.op(membership, resource.ListMembers)
	if !ok {
		return Read{}, false
	}
	return readOf(op, params)
}

// presence says whether a desired object is on the service.
type presence int8

const (
	unbound       presence = iota // it was not looked for yet
	exists                        // it is on the service, its ID is known
	absent                        // it is not on the service
	indeterminate                 // a create without an outcome that nothing can settle
	unsupported                   // this edition has no such kind
	notFound                      // the service does not show the ID or identifier that the manifest gives; see objectState.why
	hidden                        // it, or its parent, is archived or a draft, or deleted by somebody whose changes are kept, and left alone
	invalid                       // an error was reported, for it or its parent
)

// decided reports whether it is known that an object is on the service, or that it is not.
func (p presence) decided() bool { return p == exists || p == absent }

// binding says which row of the service an object is, how it was found, and its status.
type binding struct {
	presence   presence
	row        resource.Row // as the service shows it, in the time zone that the object will be in; nil = not read
	id         string
	identifier string
	why        string // why it is not found, or hidden
	matchedBy  string // how it was recognised; "" = by the ID of the manifest or the state
}

// objectState holds what is known of one desired object.
type objectState struct {
	binding

	info         *kindInfo
	before       resource.Row // the row in the time zone of the last apply, if that was another one
	endedOn      string       // its last day, in the time zone that it is in
	prior        *Record      // what the state knows of it, but for what its intent was about; nil = nothing, or of another object
	intent       *Intent      // what an earlier run announced about it, without an outcome; nil = nothing
	replaces     string       // ID of planform's object that is deleted before this one is created; "" = none
	parent       objectID     // index of its parent; none = the workspace
	uses         []reference  // its fields that name others
	keptDeleted  bool         // hidden: somebody deleted it, or its parent, and --on-drift keep leaves it so
	vanished     bool         // the state knows it, the service does not any more
	replaced     bool         // the state knows another object under this address
	hasChildren  bool
	isMember     bool // of some container
	compared     bool // some field is held against what the service shows
	unconfirmed  bool // a former run may have created it, and it may still come
	undetectable bool // it counts as absent since nothing can tell
	maybeHidden  bool // it was not looked for where lists show nothing
	foreign      bool // another owner has it: it is used, and neither changed nor deleted
}

// reference is a field of a wanted object that names others.
type reference struct {
	value *resource.Value
	field *refField
	by    objectID // state of the object
}

// switchesOf are the switches that must be on for an object, as far as the manifest says anything of them: each field with the object
// that has it.
func (ob *objects) switchesOf(i objectID) (all []heldSwitch) {
	needed := ob.in.Desired[i].Switches()
	if g := ob.in.Desired[i].Kind.Governance; g.AtWorkspace {
		if k, field := g.Switch(); field != nil {
			needed = append(needed, resource.Switch{Holder: k, Field: field})
		}
	}
	for _, s := range needed {
		within := ob.states[i].parent
		switch {
		case !s.Holder.Singleton:
			all = append(all, heldSwitch{within, s.Field})
			continue
		case s.Holder.Parent == "":
			within = noObject
		}
		for _, holder := range ob.inScope(scope{ob.kinds[s.Holder], within}) {
			all = append(all, heldSwitch{holder, s.Field})
		}
	}
	return all
}

// heldSwitch is a switch, and the object that has it.
type heldSwitch struct {
	by    objectID
	field *resource.Field
}

// scope is all objects of a kind within one parent.
type scope struct {
	kind   *kindInfo
	parent objectID // its state; none = the workspace
}

// serviceID is one object of the service.
type serviceID struct{ kind, id string }

// archived is why an object is hidden that is archived; see [resource.Row.Hidden].
const archived = "archived"

// noObject is the place of none.
const noObject objectID = -1

func (ob *objects) count() objectID { return objectID(len(ob.in.Desired)) }

// all are the wanted objects with their places.
func (ob *objects) all() iter.Seq2[objectID, *resource.Object] {
	return func(yield func(objectID, *resource.Object) bool) {
		for i, o := range ob.in.Desired {
			if !yield(objectID(i), o) {
				return
			}
		}
	}
}

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
	_, number, _ := strings.Cut(identifier, "-")
	n, _ := strconv.Atoi(number) // 0 where there is none
	return n
}

func (st *objectState) known() bool { return st.prior != nil && st.prior.ID != "" }

// forgetPrior drops what the state says: it is about another object.
func (st *objectState) forgetPrior() { st.prior, st.intent, st.replaced = nil, nil, true }

// willHave is what an object will have in a field: what the manifest says, else what the
// service shows, or gives a new one.
func (st *objectState) willHave(o *resource.Object, field *resource.Field) (canonical string, known bool) {
	if _, given := o.Value(field.Name); given || st.presence == absent {
		return o.OfNew(field)
	}
	return field.ObservedIn(st.row)
}

// archived reports whether an object is where lists do not show it.
func (st *objectState) archived() bool {
	return st.info.archivable && st.row.Text("archived_at") != ""
}

// isAway reports whether an object that no list shows is taken to be archived, as the manifest
// wants it: nothing lists the archived ones of its kind.
func (st *objectState) isAway(o *resource.Object) bool {
	_, want, _ := wantsArchived(o)
	return want && st.info.archivable && st.info.archived == nil
}

// readOperation is the operation that reads one record, by ID or else by readable identifier, and
// the ID or identifier.
func (st *objectState) readOperation() (op *resource.Operation, by string) {
	switch t := st.info; {
	case t.get != nil:
		return t.get, st.id
	case t.find != nil && st.identifier != "":
		return t.find, st.identifier
	default:
		return nil, ""
	}
}

// indexObjects makes a state of every wanted object and counts what shares a list.
func (ob *objects) indexObjects() {
	n := len(ob.in.Desired)
	ob.states = make([]objectState, n)
	ob.index = make(map[*resource.Object]objectID, n/2) // most objects have one that nothing names, such as a link
	ob.uses = make([]reference, 0, 2*n)
	ob.findExpensive()
	for i, o := range ob.all() {
		f := &ob.states[i]
		f.info, f.parent = ob.kinds[o.Kind], noObject
		if f.info.referenced {
			ob.index[o] = i
		}
		if o.Parent != nil {
			f.parent = ob.index[o.Parent]
			ob.states[f.parent].hasChildren = true
		}
		if len(ob.in.Prior) > 0 {
			if r, ok := ob.in.Prior[o.Address]; ok {
				f.prior, f.intent = &r, r.PendingIntent
				r.forgetIntent()
			}
		}
		ob.indexRefs(i)
	}
}

// indexRefs notes the fields of an object that name others, and whether there are any that are compared.
func (ob *objects) indexRefs(i objectID) {
	o, f := ob.in.Desired[i], &ob.states[i]
	first, compared := len(ob.uses), len(o.Values)
	for k := range o.Values {
		v := &o.Values[k]
		t := f.info.ref(v.Field)
		if t == nil {
			continue
		}
		ob.uses = append(ob.uses, reference{v, t, i})
		if t.membership != nil || v.Field.Virtual {
			compared--
		}
		f.isMember = f.isMember || t.membership != nil && t.membership.Membership.On == o.Kind.Name
	}
	f.uses, f.compared = ob.uses[first:], compared > 0
}

// skipsRefresh reports whether an object is taken to be as the state has it.
func (ob *objects) skipsRefresh(f *objectState) bool {
	return (ob.in.SkipRefresh || ob.expensive[f.info.kind] > 0) && f.known() && f.intent == nil
}

// whyUnread is why nothing was read of an object that exists.
func (ob *objects) whyUnread(f *objectState) gapReason {
	switch {
	case ob.in.SkipRefresh:
		return skipsRefresh
	case ob.expensive[f.info.kind] > 0:
		return expensive
	default:
		return gapReason{why: f.info.api.Noun() + " cannot read them"}
	}
}

// whyHidden is why nothing was read of an object that is archived.
func (ob *objects) whyHidden() gapReason {
	if ob.in.RefreshAll {
		return gapReason{why: "archived, and nothing shows them"}
	}
	return gapReason{"archived, and no list shows them", "--refresh-all reads them"}
}

// mustRead reports whether an object is to be read: not if the manifest gives its ID and compares
// no field. A container is read: an archived one takes children and members, and shows them nowhere.
func (ob *objects) mustRead(o *resource.Object, f *objectState) bool {
	hasContents := f.isMember || f.hasChildren && (f.parent != noObject || o.Kind.Archivable)
	return f.compared || o.ID == "" || hasContents && f.info.get != nil && !ob.in.SkipRefresh
}

// findExpensive finds the kinds with so many known objects that reading them again, one or a few
// per request, would take longer than a person waits.
func (ob *objects) findExpensive() {
	ob.expensive = map[*resource.Kind]int{}
	if ob.in.RefreshAll || len(ob.in.Prior) <= maxSingleReads {
		return
	}
	type reader struct {
		kind   *resource.Kind
		parent *resource.Object
	}
	reads, known := map[*resource.Kind]int{}, map[*resource.Kind]int{}
	seen := map[reader]bool{}
	for _, o := range ob.in.Desired {
		t := ob.kinds[o.Kind]
		if !t.refreshedSingly() || ob.in.Prior[o.Address].ID == "" {
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
			ob.expensive[k] = known[k]
		}
	}
}

// within is the state within which objects of a kind are that an object names.
func (ob *objects) within(at objectID, t *kindInfo) objectID { return ob.ancestor(at, t.namedWithin) }

// withinOf is the state within which what a field names is: of the options of a custom field, the property.
func (ob *objects) withinOf(at objectID, r *refField) objectID {
	if d := r.field.Definition; d != nil && r.to.parent == ob.kinds[d.Kind] {
		return ob.index[d]
	}
	return ob.within(at, r.to)
}

// ancestor is the state of a kind that an object is or lives in.
func (ob *objects) ancestor(at objectID, t *kindInfo) objectID {
	for at != noObject && ob.states[at].info != t {
		at = ob.states[at].parent
	}
	return at
}

func (ob *objects) kind(name string) *kindInfo { return ob.kinds[resource.MustLookup(name)] }

func (ob *objects) indexOf(a resource.Address) (objectID, bool) {
	if ob.byAddress == nil {
		ob.byAddress = make(map[resource.Address]objectID, len(ob.in.Desired))
		for i, o := range ob.all() {
			ob.byAddress[o.Address] = i
		}
	}
	i, ok := ob.byAddress[a]
	return i, ok
}

// addressesOf are the addresses under which the state has an object of the service, sorted.
func (ob *objects) addressesOf(id serviceID) []resource.Address {
	if ob.recorded == nil {
		ob.recorded = make(map[serviceID][]resource.Address, len(ob.in.Prior))
		for _, a := range slices.Sorted(maps.Keys(ob.in.Prior)) {
			if r := ob.in.Prior[a]; a.IsObject() && r.ID != "" {
				id := serviceID{a.Kind(), r.ID}
				ob.recorded[id] = append(ob.recorded[id], a)
			}
		}
	}
	return ob.recorded[id]
}

// addressOf is the address of an object of the service in the manifest, else in the state, or "".
func (ob *objects) addressOf(id serviceID) resource.Address {
	if at, ok := ob.owners[id]; ok {
		return ob.in.Desired[at].Address
	}
	for _, a := range ob.addressesOf(id) {
		return a
	}
	return ""
}

// inScope are the objects of a scope, of a kind that others refer to.
func (ob *objects) inScope(at scope) []objectID {
	if ob.byScope == nil {
		ob.byScope = map[scope][]objectID{}
		for i := range ob.count() {
			if f := &ob.states[i]; f.info.referenced {
				in := scope{f.info, f.parent}
				ob.byScope[in] = append(ob.byScope[in], i)
			}
		}
	}
	return ob.byScope[at]
}

func (ob *objects) params(parent objectID) map[string]string {
	p := map[string]string{"workspace_slug": ob.in.Workspace}
	for ; parent != noObject; parent = ob.states[parent].parent {
		p[ob.in.Desired[parent].Kind.Param] = ob.states[parent].id
	}
	return p
}

// readableID is the readable identifier of a record that lives in a parent, or "".
func (ob *objects) readableID(k *resource.Kind, parent objectID, row resource.Row) string {
	if parent == noObject {
		return k.ReadableID(row, "")
	}
	return k.ReadableID(row, ob.states[parent].identifier)
}

func (ob *objects) enumerate(k *resource.Kind, parent objectID, rows []resource.Row) string {
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.ID()
		if shown := ob.readableID(k, parent, row); shown != "" {
			names[i] = shown + " (" + row.ID() + ")"
		}
	}
	return strings.Join(names, ", ")
}

// currentZone is the time zone of what objects live in, as the service has it by now.
func (ob *objects) currentZone(parent objectID) *time.Location {
	if parent == noObject {
		return time.UTC
	}
	if name, ok := ob.states[parent].row["timezone"].(string); ok {
		return resource.Zone(name)
	}
	return resource.Zone(ob.in.Desired[parent].Text("timezone"))
}

// desiredZone is the time zone that what objects live in will have after the apply. The service stores days as moments of the
// zone that there was, and these stay when the zone changes.
func (ob *objects) desiredZone(parent objectID) *time.Location {
	if parent == noObject {
		return time.UTC
	}
	o, f := ob.in.Desired[parent], &ob.states[parent]
	v, given := o.Value("timezone")
	if !given || v.Text == "" || f.presence == exists && (o.Ignores(v.Field) || f.info.update == nil || !f.info.api.Sendable(v.Field)) {
		return ob.currentZone(parent)
	}
	if have, known := v.Field.ObservedIn(f.row); known && f.prior != nil && f.prior.drifted(v.Field, have, f.row) && ob.in.onDrift(o) == Keep {
		return ob.currentZone(parent)
	}
	return resource.Zone(v.Text)
}

// appliedZone is the time zone that what objects live in had when it was applied last, as far as that is known.
func (ob *objects) appliedZone(parent objectID) *time.Location {
	if parent != noObject && ob.states[parent].prior != nil {
		if name := ob.states[parent].prior.Values["timezone"]; name != "" {
			return resource.Zone(name)
		}
	}
	return ob.currentZone(parent)
}

// setZone reads the moments of an object's row as days.
func (ob *objects) setZone(o *resource.Object, f *objectState) {
	if o.Kind.ClosedAfter == "" || f.row == nil {
		return
	}
	raw := f.row
	f.row = o.Kind.InZone(raw, ob.desiredZone(f.parent))
	if applied := ob.appliedZone(f.parent); applied.String() != ob.desiredZone(f.parent).String() {
		f.before = o.Kind.InZone(raw, applied)
	}
	if closes, ok := o.Kind.Field(o.Kind.ClosedAfter); ok {
		f.endedOn, _ = closes.ObservedIn(o.Kind.InZone(raw, ob.currentZone(f.parent)))
	}
}

// lastShown is what the service shows of a field, in the time zone of the last apply.
func (st *objectState) lastShown(field *resource.Field) string {
	row := st.row
	if st.before != nil {
		row = st.before
	}
	have, _ := field.ObservedIn(row)
	return have
}

// hasPassed reports whether a day is over in a time zone.
func (ob *objects) hasPassed(day string, zone *time.Location) bool {
	t, err := time.ParseInLocation(time.DateOnly, day, zone)
	return err == nil && !ob.in.Now.IsZero() && !ob.in.Now.Before(t.AddDate(0, 0, 1).Add(-time.Minute))
}

func (ob *objects) isClosed(i objectID) bool {
	f := &ob.states[i]
	return f.presence == exists && ob.hasPassed(f.endedOn, ob.currentZone(f.parent))
}

// willBeClosed reports whether an object is over once it is as the manifest wants it.
func (ob *objects) willBeClosed(i objectID) bool {
	f := &ob.states[i]
	closes := f.info.kind.ClosedAfter
	if closes == "" {
		return false
	}
	if v, given := ob.in.Desired[i].Value(closes); given {
		return ob.hasPassed(v.Text, ob.desiredZone(f.parent))
	}
	return ob.isClosed(i)
}

// isUnlisted reports whether no list of members shows an object, before this run: it is archived, or a draft.
func (st *objectState) isUnlisted() bool {
	return st.presence == hidden || st.info.archived == nil && st.archived()
}

// isInvalid reports whether an error was reported for an object of the manifest.
func (ob *objects) isInvalid(at objectID) bool {
	return at != noObject && ob.states[at].presence == invalid
}

// staysArchived reports whether an object is archived and stays so: it is left as it is.
func (ob *objects) staysArchived(i objectID) bool {
	_, want, given := wantsArchived(ob.in.Desired[i])
	return ob.states[i].archived() && (want || !given)
}

// isDeletedOrHidden reports whether an object of the manifest was deleted, and its memberships with it,
// or is archived, and left alone with them.
func (ob *objects) isDeletedOrHidden(a resource.Address) bool {
	i, wanted := ob.indexOf(a)
	return wanted && ob.states[i].presence == absent || ob.isHidden(a)
}

// isHidden reports whether an object of the manifest is archived or a draft, or in one.
func (ob *objects) isHidden(a resource.Address) bool {
	i, wanted := ob.indexOf(a)
	return wanted && ob.states[i].presence == hidden
}

// isForeign reports whether another owner has an object of the manifest.
func (ob *objects) isForeign(a resource.Address) bool {
	i, wanted := ob.indexOf(a)
	return wanted && ob.states[i].foreign
}

// inForeign reports whether an object without a mark belongs to the other owner who has its parent: a singleton, or what is in an object
// that is in another one itself, such as a link in a work item. A project is used by several owners. No row = the object was not read.
func (ob *objects) inForeign(t *kindInfo, parent objectID, row resource.Row) bool {
	_, marked := row.Owner()
	return !marked && (row != nil || !t.externalIDs) && parent != noObject && ob.states[parent].foreign &&
		(t.kind.Singleton || t.parent.parent != nil)
}

// ownerOf returns the other owner that has an object; ok is false if the object is the manifest's or nobody's.
func (ob *objects) ownerOf(i objectID) (owner resource.Owner, ok bool) {
	for ; i != noObject && ob.states[i].foreign && !ok; i = ob.states[i].parent {
		owner, ok = ob.states[i].row.Owner()
	}
	return owner, ok
}

// leftToOwner returns the cause if nothing is added to an object since another owner has it.
func (ob *objects) leftToOwner(i objectID) Cause {
	if owner, other := ob.ownerOf(i); other {
		return refused(string(ob.in.Desired[i].Address) + " belongs to " + owner.String())
	}
	return Cause{}
}

// isPredefined reports whether the service makes an object by itself when it makes the parent, which is still to be made.
func (ob *objects) isPredefined(i objectID) bool {
	f := &ob.states[i]
	if f.parent == noObject || ob.states[f.parent].presence != absent {
		return false
	}
	o := ob.in.Desired[i]
	if o.Kind.Singleton {
		return true
	}
	return slices.ContainsFunc(f.info.naturalKey, func(field *resource.Field) bool {
		return slices.Contains(f.info.kind.Predefined, strings.TrimSpace(o.Text(field.Name)))
	})
}
