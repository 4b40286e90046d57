package planner

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/plane/resource"
)

// objects holds the objects that the manifest wants, with the state of each.
type objects struct {
	in        *Input
	kinds     map[*resource.Kind]*kindInfo
	states    []objectState                 // one for each of in.Desired
	index     map[*resource.Object]objectID // indexes of objects that other objects live in or refer to
	uses      []reference                   // the references of all objects
	expensive map[*resource.Kind]bool       // kinds whose objects are not read again, see findExpensive
	renamed   relocation
	intents   intents
	owners    map[serviceID]objectID // the objects whose ID on the service is known, by that ID
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
	in.Prior, s.intents = takeIntents(s.renamed.prior)
	s.indexObjects()
	return s
}

// needsMark reports whether an update must write planform's mark, because the object has an outdated mark or none.
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

// lacksSecret reports whether the file for an object's secret is empty and the service can generate a new secret.
func (ob *objects) lacksSecret(i objectID) bool {
	o := ob.in.Desired[i]
	file := o.Secret()
	_, offered := ob.op(o.Kind, resource.NewSecret)
	return offered && file != nil && !file.Filled && ob.states[i].presence == exists
}

func (ob *objects) op(k *resource.Kind, verb resource.Verb) (*resource.Operation, bool) {
	return k.Op(verb, ob.kinds[k].api)
}

// membersRead returns the read that lists the members of a container; ok is false if the API has none, or a path parameter is missing.
func (ob *objects) membersRead(membership *resource.Kind, params map[string]string) (r Read, ok bool) {
	if op, ok := ob.op(membership, resource.ListMembers); ok {
		return readOf(op, params)
	}
	return Read{}, false
}

// presence says whether a desired object is on the service.
type presence int8

const (
	unbound       presence = iota // it was not looked for yet
	exists                        // it is on the service, its ID is known
	absent                        // it is not on the service
	indeterminate                 // an earlier create has no outcome, and planform cannot find it out
	unsupported                   // this edition has no such kind
	notFound                      // the service does not show the ID or identifier that the manifest gives; see objectState.why
	hidden                        // it, or its parent, is archived or a draft, or deleted by somebody whose changes are kept, and left alone
	invalid                       // an error was reported, for it or its parent
)

// isDecided reports whether planform knows that an object is, or is not, on the service.
func (pr presence) isDecided() bool { return pr == exists || pr == absent }

// binding connects an object of the manifest to its row on the service.
type binding struct {
	presence   presence
	row        resource.Row // the row on the service, with days in the object's future time zone; nil = not read
	id         string
	identifier string
	why        string // the reason why the object is notFound or hidden
	matchedBy  string // the property by which it was recognised; "" = the ID of the manifest or the state
}

// objectState holds the facts that the stages found about one wanted object.
type objectState struct {
	binding
	past

	info         *kindInfo
	before       resource.Row // of a kind with moments: the row in the time zone of the last apply
	endedOn      string       // its last day, in the time zone that it is in
	replaces     string       // ID of planform's object that is deleted before this one is created; "" = none
	parent       objectID     // index of its parent; none = the workspace
	uses         []reference  // its fields that name other objects
	keptDeleted  bool         // somebody deleted it, or its parent, and --on-drift keep accepts that
	vanished     bool         // the state has it, and the service no longer does
	hasChildren  bool
	isMember     bool // it is a member of a container in the manifest
	compared     bool // some field is compared with the service
	unconfirmed  bool // the create of an earlier run may still take effect
	undetectable bool // it counts as absent because the API cannot show whether it exists
	maybeHidden  bool // it may be archived or a draft, because no look-up was made
	foreign      bool // another owner has it, so that planform neither changes nor deletes it
}

// reference is a field of a wanted object that names others.
type reference struct {
	value *resource.Value
	field *refField
	by    objectID // state of the object
}

// switchesOf returns the switches that must be on for an object, each with the object that has the switch. It leaves out switches of
// objects that the manifest does not have.
func (ob *objects) switchesOf(i objectID) (all []heldSwitch) {
	needed := ob.in.Desired[i].Switches()
	if g := ob.in.Desired[i].Kind.Governance; g.AtWorkspace {
		if k, field := g.Switch(); field != nil {
			needed = append(needed, resource.Switch{Holder: k, Field: field})
		}
	}
	for _, s := range needed {
		within := ob.states[i].parent
		holders := []objectID{within}
		if s.Holder.Singleton {
			if s.Holder.Parent == "" {
				within = noObject
			}
			holders = ob.inScope(scope{ob.kinds[s.Holder], within})
		}
		for _, holder := range holders {
			all = append(all, heldSwitch{holder, s.Field})
		}
	}
	return all
}

type heldSwitch struct {
	by    objectID
	field *resource.Field
}

// scope identifies the objects of a kind within one parent.
type scope struct {
	kind   *kindInfo
	parent objectID // its state; none = the workspace
}

type serviceID struct{ kind, id string }

// archived is the reason for which an archived object is hidden, see [resource.Row.Hidden].
const archived = "archived"

// noObject is the objectID that stands for no object, such as the parent of an object of the workspace.
const noObject objectID = -1

func (ob *objects) count() objectID { return objectID(len(ob.in.Desired)) }

func (ob *objects) all() iter.Seq2[objectID, *resource.Object] {
	return func(yield func(objectID, *resource.Object) bool) {
		for i, o := range ob.in.Desired {
			if !yield(objectID(i), o) {
				return
			}
		}
	}
}

// Values of binding.matchedBy for objects that planform itself made.
const (
	foundByExternalID = "its mark"
	foundByNumber     = "its number and name"
)

// wantsArchived returns whether the manifest wants an object archived, and the value that says so; given is false if it has none.
func wantsArchived(o *resource.Object) (v *resource.Value, want, given bool) {
	for i := range o.Values {
		if v := &o.Values[i]; v.Field.ArchiveFlag {
			return v, v.Text == "true", true
		}
	}
	return nil, false, false
}

// numberOf returns the number of a readable identifier that begins with a code, such as 7 for WEB-7; 0 if it begins otherwise.
func numberOf(code, identifier string) int {
	begin, number, _ := strings.Cut(identifier, "-")
	if code == "" || !strings.EqualFold(begin, code) {
		return 0
	}
	n, _ := strconv.Atoi(number) // 0 if there is none
	return n
}

// willHave returns the value that an object will have in a field: from the manifest, else from the service, or for a new object the
// default of the service.
func (ot *objectState) willHave(o *resource.Object, field *resource.Field) (canonical string, known bool) {
	if _, given := o.Value(field.Name); given || ot.presence == absent {
		return o.OfNew(field)
	}
	return field.ObservedIn(ot.row)
}

func (ot *objectState) isArchived() bool {
	return ot.info.archivable && ot.row.Text("archived_at") != ""
}

// isAway reports whether an object that no list shows counts as archived: the manifest wants it archived, and the service has no list of
// archived objects of its kind.
func (ot *objectState) isAway(o *resource.Object) bool {
	_, want, _ := wantsArchived(o)
	return want && ot.info.archivable && ot.info.archived == nil
}

// readOperation returns the operation that reads one object, with the object's ID or else readable identifier.
func (ot *objectState) readOperation() (op *resource.Operation, by string) {
	switch t := ot.info; {
	case t.get != nil:
		return t.get, ot.id
	case t.find != nil && ot.identifier != "":
		return t.find, ot.identifier
	default:
		return nil, ""
	}
}

// indexObjects makes a state for every wanted object, and indexes references and parents.
func (ob *objects) indexObjects() {
	n := len(ob.in.Desired)
	ob.states = make([]objectState, n)
	ob.index = make(map[*resource.Object]objectID, n/2) // n/2: nothing names about half of the objects, such as links
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
		if r, ok := ob.in.Prior[o.Address]; ok {
			f.past = ob.intents.past(o.Address, r)
		}
		ob.indexRefs(i)
	}
}

// indexRefs records the reference fields of an object, and whether any of its fields is compared with the service.
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

// skipsRefresh reports whether planform does not read an object again, and assumes that it is as the state has it.
func (ob *objects) skipsRefresh(f *objectState) bool {
	return (ob.in.SkipRefresh || ob.expensive[f.info.kind]) && f.isKnown() && !f.inDoubt
}

func (ob *objects) whyUnread(f *objectState) gapReason {
	switch {
	case ob.in.SkipRefresh:
		return gapNotRefreshed
	case ob.expensive[f.info.kind]:
		return gapExpensive
	default:
		return gapReason{why: f.info.api.Noun() + " cannot read them"}
	}
}

// mustRead reports whether an object must be read. An object with an ID in the manifest and no compared field need not be, unless it has
// contents: an archived container accepts children and members, but no list shows them.
func (ob *objects) mustRead(o *resource.Object, f *objectState) bool {
	hasContents := f.isMember || f.hasChildren && (f.parent != noObject || o.Kind.Archives())
	return f.compared || o.ID == "" || hasContents && f.info.get != nil && !ob.in.SkipRefresh
}

// findExpensive finds the kinds with so many known objects that reading them again, one or a few per request, would take longer than a
// person waits.
func (ob *objects) findExpensive() {
	ob.expensive = map[*resource.Kind]bool{}
	if ob.in.RefreshAll || len(ob.in.Prior) <= maxSingleReads {
		return
	}
	reads := map[*resource.Kind]map[*resource.Object]bool{} // the objects that are read, or whose lists are
	for _, o := range ob.in.Desired {
		t, at := ob.kinds[o.Kind], o
		if !t.isRefreshedSingly() || ob.in.Prior[o.Address].ID == "" {
			continue
		}
		if t.list != nil {
			at = o.Parent
		}
		if reads[o.Kind] == nil {
			reads[o.Kind] = map[*resource.Object]bool{}
		}
		reads[o.Kind][at] = true
		ob.expensive[o.Kind] = len(reads[o.Kind]) > maxSingleReads
	}
}

// within returns the ancestor in which names of a kind are looked up for an object, or noObject for the workspace.
func (ob *objects) within(at objectID, t *kindInfo) objectID { return ob.ancestor(at, t.namedWithin) }

// withinOf returns the object that contains the objects which a field may name. For an option of a custom field that is the property.
func (ob *objects) withinOf(at objectID, r *refField) objectID {
	if d := r.field.Definition; d != nil && r.to.parent == ob.kinds[d.Kind] {
		return ob.index[d]
	}
	return ob.within(at, r.to)
}

// ancestor returns the nearest object of kind t at or above an object, or noObject.
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

// addressesOf returns the addresses under which the state has an object of the service, sorted.
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

// addressOf returns the address of an object of the service in the manifest, else in the state, or "".
func (ob *objects) addressOf(id serviceID) resource.Address {
	if at, ok := ob.owners[id]; ok {
		return ob.in.Desired[at].Address
	}
	for _, a := range ob.addressesOf(id) {
		return a
	}
	return ""
}

// inScope returns the wanted objects of a scope. Its kind must be one that other objects live in or refer to.
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

// readableID returns the readable identifier of a row in a parent, or "".
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

// currentZone returns the time zone that a parent has on the service.
func (ob *objects) currentZone(parent objectID) *time.Location {
	if parent == noObject {
		return time.UTC
	}
	if name, ok := ob.states[parent].row["timezone"].(string); ok {
		return resource.Zone(name)
	}
	return resource.Zone(ob.in.Desired[parent].Text("timezone"))
}

// desiredZone returns the time zone that a parent will have after the apply. The service stores days as moments in the zone of their
// writing, and these moments stay when the zone changes.
func (ob *objects) desiredZone(parent objectID) *time.Location {
	if parent == noObject {
		return time.UTC
	}
	o, f := ob.in.Desired[parent], &ob.states[parent]
	v, given := o.Value("timezone")
	if !given || v.Text == "" || f.presence == exists && (o.Ignores(v.Field) || f.info.update == nil || !f.info.api.Sendable(v.Field)) {
		return ob.currentZone(parent)
	}
	if have, known := v.Field.ObservedIn(f.row); known && f.prior != nil && f.prior.hasDrifted(v.Field, have, f.row) && ob.in.onDrift(o) == Keep {
		return ob.currentZone(parent)
	}
	return resource.Zone(v.Text)
}

// setZone converts the moments of an object's row to days: in the desired zone, and in the last applied one if that differs.
func (ob *objects) setZone(o *resource.Object, f *objectState) {
	if o.Kind.ClosedAfter == "" || f.row == nil {
		return
	}
	raw, current := f.row, ob.currentZone(f.parent)
	applied := current // the zone at the last apply
	if f.parent != noObject && ob.states[f.parent].prior != nil {
		if name := ob.states[f.parent].prior.Values["timezone"]; name != "" {
			applied = resource.Zone(name)
		}
	}
	f.row, f.before = o.Kind.InZone(raw, ob.desiredZone(f.parent)), o.Kind.InZone(raw, applied)
	closes, _ := o.Kind.Field(o.Kind.ClosedAfter)
	f.endedOn, _ = closes.ObservedIn(o.Kind.InZone(raw, current))
}

// lastShown returns the value of a field on the service, in the time zone of the last apply.
func (ot *objectState) lastShown(field *resource.Field) string {
	row := ot.before
	if row == nil {
		row = ot.row
	}
	have, _ := field.ObservedIn(row)
	return have
}

func (ob *objects) hasPassed(day string, zone *time.Location) bool {
	t, err := time.ParseInLocation(time.DateOnly, day, zone)
	return err == nil && !ob.in.Now.IsZero() && !ob.in.Now.Before(t.AddDate(0, 0, 1).Add(-time.Minute))
}

func (ob *objects) isClosed(i objectID) bool {
	f := &ob.states[i]
	return f.presence == exists && ob.hasPassed(f.endedOn, ob.currentZone(f.parent))
}

// willBeClosed reports whether the last day of an object will have passed after the apply.
func (ob *objects) willBeClosed(i objectID) bool {
	f := &ob.states[i]
	if v, given := ob.in.Desired[i].Value(f.info.kind.ClosedAfter); given {
		return ob.hasPassed(v.Text, ob.desiredZone(f.parent))
	}
	return ob.isClosed(i)
}

// isUnlisted reports whether lists of members leave out an object before this run, because it is archived or a draft.
func (ot *objectState) isUnlisted() bool {
	return ot.presence == hidden || ot.info.archived == nil && ot.isArchived()
}

// staysArchived reports whether an object is archived and the manifest does not restore it. It is left unchanged.
func (ob *objects) staysArchived(i objectID) bool {
	_, want, given := wantsArchived(ob.in.Desired[i])
	return ob.states[i].isArchived() && (want || !given)
}

// stateAt returns the facts that the stages found about the manifest's object at an address. They are empty if there is
// no such object.
func (ob *objects) stateAt(a resource.Address) *objectState {
	if i, wanted := ob.indexOf(a); wanted {
		return &ob.states[i]
	}
	return &objectState{}
}

// isDeletedOrHidden reports whether an object of the manifest is not on the service, or is hidden. Its memberships are gone, or left
// unchanged.
func (ob *objects) isDeletedOrHidden(a resource.Address) bool {
	f := ob.stateAt(a)
	return f.presence == absent || f.presence == hidden
}

// inForeign reports whether an object without a mark belongs to the other owner of its parent. That holds for singletons and for objects
// two levels down, such as a link in a work item, but not directly in a project, which several owners use. A nil row was not read.
func (ob *objects) inForeign(t *kindInfo, parent objectID, row resource.Row) bool {
	_, marked := row.Owner()
	return !marked && (row != nil || !t.externalIDs) && parent != noObject && ob.states[parent].foreign &&
		(t.kind.Singleton || t.parent.parent != nil)
}

// ownerOf returns the other owner of an object; ok is false if the object belongs to the manifest's owner or to nobody.
func (ob *objects) ownerOf(i objectID) (owner resource.Owner, ok bool) {
	for ; i != noObject && ob.states[i].foreign && !ok; i = ob.states[i].parent {
		owner, ok = ob.states[i].row.Owner()
	}
	return owner, ok
}

// leftToOwner returns the cause why nothing is added to an object that belongs to another owner, or none.
func (ob *objects) leftToOwner(i objectID) Cause {
	if owner, other := ob.ownerOf(i); other {
		return refused(string(ob.in.Desired[i].Address) + " belongs to " + owner.String())
	}
	return Cause{}
}

// isPredefined reports whether the service will make an object by itself when the plan creates its parent.
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
