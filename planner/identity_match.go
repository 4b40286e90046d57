package planner

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// matches says what every object of the manifest is on the service.
type identities struct {
	analysis

	recovery *recovery
	// Made when first needed:
	byExternalID map[string]objectID // objects by their external IDs
	names        map[naturalKey]int  // objects of each
}

func match(r analysis) *identities {
	s := &identities{analysis: r, recovery: &recovery{analysis: r, recovered: map[*objectState]*unconfirmedCreate{}}}
	for _, level := range r.objects.levels() {
		byNumber := []objectID{} // creates that are looked for one after the other
		r.service.each(len(level), func(k int) {
			if f := &r.objects.states[level[k]]; f.intent.creates() && !f.info.recognisable() {
				byNumber = append(byNumber, level[k])
			} else {
				s.identify(level[k])
			}
		})
		for _, i := range byNumber {
			s.identify(i)
		}
	}
	s.recordOwners()
	return s
}

// levels groups the objects by depth, parents first. Objects whose natural keys name others come last, by rank.
func (ob *objects) levels() (levels [][]objectID) {
	const last = 100 // more than any depth
	level := make([]int, ob.count())
	byLevel := map[int][]objectID{}
	for i := range ob.count() {
		f := &ob.states[i]
		if f.parent != noObject {
			level[i] = level[f.parent] + 1
		}
		if f.info.namedByOthers {
			level[i] = max(level[i], last+f.info.rank)
		}
		byLevel[level[i]] = append(byLevel[level[i]], i)
	}
	for _, n := range slices.Sorted(maps.Keys(byLevel)) {
		levels = append(levels, byLevel[n])
	}
	return levels
}

// FindLost looks during a run for what a create made whose answer was lost, if only readable numbers tell. in.Desired
// holds the object and those that it needs, and in.Prior says what is known by now, with the intents that have no outcome. If decided,
// rows are what the create may have made. An error is a read that failed.
func FindLost(ctx context.Context, in Input, reader Reader, wanted *resource.Object) (rows []resource.Row, decided bool, err error) {
	in.SkipRefresh = true
	r := observe(&in, newLoader(ctx, &in, reader))
	m := match(r)
	for i, o := range in.Desired {
		if l := m.recovery.recovered[&r.objects.states[i]]; o == wanted && l != nil && l.presence.decided() {
			rows, decided = l.rows, true
		}
	}
	return rows, decided && r.service.err == nil, r.service.err
}

// identify decides what an object is on the service: by the manifest's ID, the state, the manifest's
// readable identifier, the service's external ID, the natural key, in this order. An identifier that says
// otherwise than the state or an external ID is an error.
func (m *identities) identify(i objectID) {
	o, f := m.in.Desired[i], &m.objects.states[i]
	if o.Kind.Singleton && f.info.list == nil {
		f.presence = unsupported
		return
	}
	if f.parent != noObject {
		switch p := &m.objects.states[f.parent]; {
		case !p.presence.decided():
			f.presence, f.why, f.keptDeleted = p.presence, p.why, p.keptDeleted
			return
		case p.presence == absent:
			f.prior, f.intent = nil, nil
			if f.presence = m.snapshot.kindPresence(f.info); f.presence == exists {
				f.presence = absent
			}
			// An export of the same workspace names its own objects so.
			if o.Kind.Numbered() && o.Identifier != "" && !o.Exported && !m.in.Desired[f.parent].NoCreate {
				m.diags.report(o, "no-number-yet", numbersLater(o.Identifier), byKey)
			}
			return
		case p.replaced:
			f.forgetPrior() // what the state knows lives in another parent
		}
	}
	if o.ID != "" && f.known() && f.prior.ID != o.ID {
		f.forgetPrior()
	}
	if m.checkOrigin(o, f); f.presence == invalid {
		return
	}
	switch {
	case o.ID != "":
		f.id = o.ID
		f.identifier = o.Identifier
		if f.identifier == "" && f.prior != nil {
			f.identifier = f.prior.Identifier
		}
		m.refresh(o, f)
	case f.known():
		f.id, f.identifier = f.prior.ID, cmp.Or(f.prior.Identifier, o.Identifier)
		m.refresh(o, f)
	case o.Identifier != "":
		m.byIdentifier(o, f)
	default:
		m.recognise(o, f, "")
	}
	if f.presence == exists {
		m.objects.setZone(o, f)
		m.checkIdentity(o, f)
		_, other := m.in.otherOwner(f.row, f.known())
		f.foreign = other && !m.in.takesOver(o) || m.objects.inForeign(f.info, f.parent, f.row)
	}
}

// checkOrigin reports an object whose key is that of another one of the workspace that both come from. Where a name tells
// what an object is, it takes the place of the other.
func (m *identities) checkOrigin(o *resource.Object, f *objectState) {
	if f.prior == nil || f.prior.Origin == nil || o.Origin == nil || f.prior.Origin.Is(o.Origin) {
		return
	}
	if field, name := telling(o); field != "" && !o.Kind.AdoptOnRequestOnly && len(o.Kind.NaturalKey) > 0 && f.prior.Values[field] == name {
		return
	}
	m.fail(o, f, "other-origin", string(o.Address)+" was "+f.prior.Origin.String()+" at the last apply, and the manifest says that it is "+
		o.Origin.String()+": it is another "+o.Kind.Noun(),
		"give the new one another key; planform export makes the keys of work items from their numbers")
}

// checkIdentity compares the identifier of a record with the manifest's.
func (m *identities) checkIdentity(o *resource.Object, f *objectState) {
	shown := ""
	switch {
	case f.row != nil:
		shown = m.objects.readableID(o.Kind, f.parent, f.row)
	case f.known():
		shown = f.prior.Identifier
	}
	switch {
	case shown == "" || o.Identifier == "" || strings.EqualFold(shown, o.Identifier):
	case o.ID != "":
		m.fail(o, f, "contradiction", "the "+o.Kind.Noun()+" with the ID "+o.ID+" is "+shown+", not "+o.Identifier,
			"keep the id or the identifier, whichever is right")
		return
	case o.Kind.Identifier.APIName != "":
		m.reportOtherIdentifier(o, f, shown)
		return
	default:
		m.reportContradiction(o, f, shown+" ("+f.id+") according to the state file", "planform state rm "+string(o.Address)+
			" removes the entry from the state")
		return
	}
	f.identifier = cmp.Or(shown, f.identifier)
	if f.row.Text("archived_at") != "" && f.hasChildren && f.parent == noObject {
		f.presence, f.why = hidden, archived
	}
}

func (m *identities) fail(o *resource.Object, f *objectState, code, summary, hint string) {
	m.diags.report(o, code, summary, hint)
	f.presence = invalid
}

// reportContradiction reports that an object is another one than its identifier says.
func (m *identities) reportContradiction(o *resource.Object, f *objectState, is, hint string) {
	m.fail(o, f, "contradiction", string(o.Address)+" is "+is+", but the manifest says "+o.Identifier, "correct or remove the identifier; "+
		hint)
}

func (m *identities) reportOtherIdentifier(o *resource.Object, f *objectState, shown string) {
	m.fail(o, f, "other-identifier", string(o.Address)+" is "+shown+" on the service, not "+o.Identifier,
		"if an admin changed it, write identifier: "+shown+"; else change the identifier on the service first, or give a new "+o.Kind.Noun()+
			" a key of its own")
}

// numbersLater returns the error about a readable identifier, such as WEB-7, in a project that the run creates.
func numbersLater(identifier string) string {
	return identifier + " names nothing yet: this run creates its project, and the service numbers what is in it"
}

const byKey = "name the one that is meant by its key"

// byIdentifier finds an object that the manifest names by its readable identifier.
func (m *identities) byIdentifier(o *resource.Object, f *objectState) {
	f.row = nil
	t := f.info
	if t.find != nil && !(t.list != nil && m.hasParentCode(o, f) && m.snapshot.prefersList(t, f.parent)) {
		a := m.service.askOptional(m.snapshot.readOne(f, t.find, o.Identifier))
		switch {
		case a.Unsupported:
			f.presence = unsupported
		case a.NotFound || len(a.Rows) == 0:
			m.notFound(o, f, nil)
		case m.inOtherParent(o, f, a.Rows[0]):
		default:
			m.bind(o, f, a.Rows[0])
		}
		return
	}
	if t.list == nil {
		m.fail(o, f, "no-lookup", o.Kind.Noun()+" "+o.Identifier+" cannot be looked up with the documented operations",
			m.in.namesNeed("give its id"))
		return
	}
	l, st := m.snapshot.list(t, f.parent)
	if f.presence = st; st != exists {
		f.why = l.why
		return
	}
	x := m.snapshot.byIdentifier(l, t, f.parent)
	if hits := x[strings.ToUpper(o.Identifier)]; len(hits) > 0 {
		m.bind(o, f, hits[0])
		return
	}
	if t.create == nil || o.Kind.Identifier.APIName == "" {
		m.notFound(o, f, x)
		return
	}
	m.identifierUnused(o, f, l, x)
}

// identifierUnused creates an object with its identifier, where people choose it.
func (m *identities) identifierUnused(o *resource.Object, f *objectState, l *listing, x index) {
	if f.known() && len(l.byID(f.prior.ID)) > 0 {
		m.reportOtherIdentifier(o, f, m.objects.readableID(o.Kind, f.parent, l.byID(f.prior.ID)[0]))
		return
	}
	if hits, field := l.sameNaturalKey(o, f.info, nil); len(hits) > 0 {
		m.fail(o, f, "not-found", "the service has no "+o.Kind.Noun()+" "+o.Identifier+", but one called \""+o.Text(field)+
			"\" with the identifier "+m.objects.readableID(o.Kind, f.parent, hits[0]),
			"use that identifier, or another "+field)
		return
	}
	if len(o.Missing()) > 0 && len(diag.Near(o.Identifier, slices.Collect(maps.Keys(x)))) > 0 {
		m.notFound(o, f, x) // it is misspelt rather than new
		return
	}
	f.vanished = f.known()
	f.forgetPrior()
	f.id, f.identifier, f.presence = "", "", absent
	m.objects.newCodes[strings.ToUpper(o.Identifier)] = !o.NoCreate
}

// hasParentCode reports whether the readable identifier begins with that of the object's
// parent, so that it can be told from a list.
func (m *identities) hasParentCode(o *resource.Object, f *objectState) bool {
	code, _, _ := strings.Cut(o.Identifier, "-")
	return f.parent != noObject && strings.EqualFold(code, m.objects.states[f.parent].identifier)
}

func (m *identities) bind(o *resource.Object, f *objectState, row resource.Row) {
	f.presence, f.row, f.id, f.identifier = exists, row, row.ID(), o.Identifier
	if f.known() && f.prior.ID != f.id {
		m.diags.warn(o, "identity-changed", o.Identifier+" is a different "+o.Kind.Noun()+" now than at the last apply: "+f.id+" instead of "+
			f.prior.ID, "")
		f.forgetPrior()
	}
	if f.info.externalIDs && o.Kind.Numbered() {
		m.checkExternalID(o, f)
	}
}

// checkExternalID makes sure that planform did not create the record that bears the
// identifier under another address, and not another record under this address.
func (m *identities) checkExternalID(o *resource.Object, f *objectState) {
	externalID := f.row.Text("external_id")
	if slices.ContainsFunc(AllAddresses(o),
		func(a resource.Address) bool { return m.in.marks().On(f.row, a) }) {
		return
	}
	if m.in.marks().Has(f.row, externalID) && strings.HasPrefix(externalID, m.in.Workspace+"/") {
		m.fail(o, f, "contradiction", "the manifest says that "+string(o.Address)+" is "+o.Identifier+", but planform created that as "+
			strings.TrimPrefix(externalID, m.in.Workspace+"/"),
			"correct or remove the identifier; to use it all the same, write id: "+f.id)
		return
	}
	if rows := m.findByExternalID(o, f); len(rows) > 0 && rows[0].ID() != f.id {
		m.reportContradiction(o, f, m.objects.enumerate(o.Kind, f.parent, rows[:1])+" according to planform's mark on the service",
			"to use it all the same, write id: "+f.id)
	}
}

// findByExternalID finds the records that carry the external ID of an object, in the list of its
// kind where that is read already.
func (m *identities) findByExternalID(o *resource.Object, f *objectState) []resource.Row {
	externalID := m.in.marks().ID(o.Address)
	if m.snapshot.listed(f.info, f.parent) {
		l, _ := m.snapshot.list(f.info, f.parent)
		return l.byExternalID(m.in.marks())[externalID]
	}
	return m.service.ask(Read{Operation: f.info.list, Path: m.snapshot.listPath(f.info, f.parent), ExternalID: externalID, Owner: m.in.Owner}).Rows
}

// whyNotShown is why a readable identifier cannot be found, as far as the service tells.
const whyNotShown = "it was deleted or archived, is a draft or not yours to read, or the identifier is wrong"

// notFound handles an identifier that the service does not show. One that people choose is misspelt;
// the object of one that the service assigned may be deleted or hidden.
func (m *identities) notFound(o *resource.Object, f *objectState, x index) {
	if o.Kind.Numbered() {
		f.presence, f.why = notFound, "the service shows no "+o.Kind.Noun()+" "+o.Identifier+": "+whyNotShown
		return
	}
	f.presence = invalid
	var all []string
	for _, rows := range x {
		all = append(all, m.objects.readableID(o.Kind, f.parent, rows[0]))
	}
	m.diags.report(o, "not-found", "the service has no "+o.Kind.Noun()+" "+o.Identifier, diag.DidYouMean(o.Identifier, all))
}

// inOtherParent reports a record that lives in another parent than the manifest says.
func (m *identities) inOtherParent(o *resource.Object, f *objectState, row resource.Row) bool {
	shown := row.Text(o.Kind.Parent)
	if shown == "" || resource.LowerID(shown) == m.objects.states[f.parent].id {
		return false
	}
	m.fail(o, f, "elsewhere", o.Kind.Noun()+" "+o.Identifier+" is not in "+string(o.Parent.Address), "move it there in the manifest")
	return true
}

// checkHidden looks up by external ID an object that the state knows and no list shows: it may
// be archived or a draft. It reports whether that decides the presence.
func (m *identities) checkHidden(o *resource.Object, f *objectState) bool {
	if !f.info.findsExternalIDs() || f.prior == nil {
		return false
	}
	return m.lookUnlisted(o, f, f.prior.Address, f.prior.ID)
}

// hide takes an object that no list shows to be archived, as the manifest wants it.
func (m *identities) hide(o *resource.Object, f *objectState) {
	if !m.in.RefreshAll || !m.checkHidden(o, f) {
		f.presence, f.why = hidden, archived
	}
}

// lookUnlisted looks up an object by the external ID of an address. It reports whether that decides
// the presence. known is the ID that the object must have; "" = any.
func (m *identities) lookUnlisted(o *resource.Object, f *objectState, address resource.Address, known string) bool {
	_, want, given := wantsArchived(o)
	a, made := m.snapshot.findUnlisted(f.info, m.snapshot.listPath(f.info, f.parent), address)
	switch {
	case !made:
		f.maybeHidden = true
		return false
	case a.Several:
		f.presence, f.why = notFound, "several objects of the service carry the mark of "+string(o.Address)+", and no list shows them"
	case len(a.Rows) == 0:
		return false
	case a.Rows[0].Hidden() == archived && given && !want && f.info.archivable: // it is brought back
		f.presence, f.row, f.id = exists, a.Rows[0], a.Rows[0].ID()
		f.identifier = cmp.Or(m.objects.readableID(o.Kind, f.parent, f.row), f.identifier)
	case a.Rows[0].Hidden() != "":
		f.presence, f.why, f.row, f.id = hidden, a.Rows[0].Hidden(), a.Rows[0], a.Rows[0].ID()
		f.identifier = cmp.Or(m.objects.readableID(o.Kind, f.parent, f.row), f.identifier)
	case known != "" && a.Rows[0].ID() != known:
		return false // another one, which the list shows
	default: // a list that changes while its pages are read may leave one out
		f.presence, f.row, f.id = exists, a.Rows[0], a.Rows[0].ID()
	}
	return true
}

// refresh reads how an object with a known ID is now, where the API offers a way.
func (m *identities) refresh(o *resource.Object, f *objectState) {
	f.presence = exists
	t := f.info
	if m.objects.skipsRefresh(f) || !m.objects.mustRead(o, f) && !m.snapshot.listed(t, f.parent) {
		return // the state says how it is, or the manifest says what it is
	}
	if one, _ := f.readOperation(); t.list == nil || one != nil && !m.snapshot.prefersList(t, f.parent) {
		m.refreshOne(o, f)
		return
	}
	l, st := m.snapshot.list(t, f.parent)
	if f.presence = st; st != exists {
		f.why = l.why
		return
	}
	switch rows := l.byID(f.id); {
	case len(rows) > 0:
		f.row = rows[0]
	case f.isAway(o):
		m.hide(o, f)
	case t.get != nil: // a list that changes while its pages are read may leave one out
		m.refreshOne(o, f)
	default:
		m.vanished(o, f)
	}
}

func (m *identities) refreshOne(o *resource.Object, f *objectState) {
	op, id := f.readOperation()
	if op == nil {
		return // there is no way: it is not refreshed
	}
	a := m.service.ask(m.snapshot.readOne(f, op, id))
	switch {
	case a.Unsupported:
		f.presence = unsupported
	case a.NotFound || len(a.Rows) == 0:
		m.vanished(o, f)
	case a.Rows[0].ID() == f.id:
		f.row = a.Rows[0]
	case o.Identifier == "": // another object has this identifier now: that says nothing of this one
		m.diags.warn(o, "identity-changed", id+" was "+string(o.Address)+" at the last apply, and is a different "+o.Kind.Noun()+" now; "+
			string(o.Address)+" was not re-read", "")
		f.identifier = ""
	case o.ID != "":
		m.fail(o, f, "contradiction", o.Identifier+" has the ID "+a.Rows[0].ID()+", not "+o.ID,
			"keep the id or the identifier, whichever is right")
	case o.Kind.Numbered():
		m.reportContradiction(o, f, f.id+" according to the state file, which is not "+id, "planform state rm "+string(o.Address)+
			" removes the entry from the state")
	default:
		m.byIdentifier(o, f)
	}
}

// vanished deals with an object whose ID is known and which the service does not
// show: it may be there under another ID, or is to be created again.
func (m *identities) vanished(o *resource.Object, f *objectState) {
	switch {
	case f.known() && f.isAway(o):
		m.hide(o, f)
	case m.checkHidden(o, f):
	case o.ID != "" && m.findArchived(o, f, o.ID):
	case o.ID != "" && !(o.Exported && len(f.info.naturalKey) > 0 && !o.Kind.Numbered()):
		f.presence, f.why = notFound, "the service shows no "+o.Kind.Noun()+" with the ID "+o.ID+
			": it was deleted or archived, or the id is wrong"
	case o.Identifier != "":
		m.byIdentifier(o, f)
	case f.info.create == nil && !f.info.recognisable():
		m.fail(o, f, "not-found", string(o.Address)+" no longer exists on the service, and planform cannot create it again",
			"remove it from the manifest, or give the id of another one")
	default:
		was, again := f.id, f.intent.creates() // a former run has noticed already that it is gone
		prior, intent := f.prior, f.intent
		f.forgetPrior()
		if f.id, f.identifier = "", ""; again {
			f.intent = intent
		}
		m.recognise(o, f, was)
		if f.vanished = f.presence == absent; f.vanished && !again && was != "" && m.keepsDeletions(o) {
			f.prior, f.id, f.presence, f.keptDeleted, f.why, f.vanished = prior, was, hidden, true, "deleted", false
		}
	}
}

// keepsDeletions reports whether an object that somebody deleted stays so: a work item, and what is in one. Without others, such as
// labels, items could not be made as the manifest has them.
func (m *identities) keepsDeletions(o *resource.Object) bool {
	return o.Ancestor("work_item") != nil && m.in.onDrift(o) == Keep && !m.in.Pull && m.in.Deletes == nil
}

// recordOwners notes what every object is on the service. Two objects of the manifest cannot be one.
func (m *identities) recordOwners() {
	for i := range m.objects.count() {
		f := &m.objects.states[i]
		if f.presence != exists && f.presence != hidden || f.id == "" {
			continue
		}
		o := m.in.Desired[i]
		id := serviceID{o.Kind.Name, f.id}
		first, twice := m.objects.owners[id]
		if !twice {
			m.objects.owners[id] = i
			continue
		}
		other, how := m.in.Desired[first], ""
		if f.matchedBy != "" {
			how = ", found by " + f.matchedBy
		}
		m.diags.Add(diag.Diagnostic{
			Code: "ambiguous-match", Position: o.Position, Address: string(o.Address),
			Summary: string(o.Address) + " and " + string(other.Address) + " are the same " + o.Kind.Noun() + " on the service: " + f.id + how,
			Hint:    "remove one of them from the manifest, or give each its own id",
			Related: []diag.Related{{Position: other.Position, Note: "the other is at"}},
		})
		f.presence = invalid
	}
}
