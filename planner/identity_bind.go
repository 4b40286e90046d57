package planner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// search is the search for one object on the service.
type search struct {
	analysis

	ids  *identities
	o    *resource.Object
	f    *objectState
	was  string   // the ID in the manifest, or else in the state
	past *Record  // the state's record, if its ID is not on the service any more
	list *listing // the list of the object's kind, after byMark has read it
}

// finders returns the functions that look for an object, in the order of their use. The first one that decides ends the search.
func finders() []func(*search) binding {
	return []func(*search) binding{
		(*search).byID, (*search).byUnlistedID, (*search).byIdentifier, (*search).withoutID, (*search).byNumber, (*search).byMark,
		(*search).byName, (*search).byArchive, (*search).byUnownedMark, (*search).absent,
	}
}

func (s *search) fail(code, summary, hint string) binding {
	s.diags.report(s.o, code, summary, hint)
	return binding{presence: invalid}
}

// byID finds an object by its ID in the manifest, or else in the state.
func (s *search) byID() binding {
	o, f, t := s.o, s.f, s.f.info
	if s.was == "" {
		return binding{}
	}
	f.id, f.identifier = s.was, o.Identifier
	if f.prior != nil && (o.ID == "" || o.Identifier == "") {
		f.identifier = cmp.Or(f.prior.Identifier, o.Identifier)
	}
	if s.objects.skipsRefresh(f) || !s.objects.mustRead(o, f) && !s.snapshot.listed(t, f.parent) {
		return binding{presence: exists} // the record of the state is enough, or nothing is compared
	}
	if one, _ := f.readOperation(); t.list == nil || one != nil && !s.snapshot.prefersList(t, f.parent) {
		return s.readByID()
	}
	l, st := s.snapshot.list(t, f.parent)
	if st != exists {
		return binding{presence: st, why: l.why}
	}
	if rows := l.byID(f.id); len(rows) > 0 {
		return binding{presence: exists, row: rows[0]}
	}
	if t.get == nil || f.isAway(o) {
		return binding{}
	}
	return s.readByID() // a list that changes while its pages are read may miss an object
}

// readByID reads one object, if the API has an operation for that.
func (s *search) readByID() binding {
	f := s.f
	op, id := f.readOperation()
	if op == nil {
		return binding{presence: exists} // the API cannot read it again
	}
	a := s.service.ask(s.snapshot.readOne(f, op, id))
	switch {
	case a.Unsupported:
		return binding{presence: unsupported}
	case a.NotFound || len(a.Rows) == 0:
		return binding{}
	case a.Rows[0].ID() == f.id:
		return binding{presence: exists, row: a.Rows[0]}
	}
	return s.checkOther(id, a.Rows[0])
}

// byUnlistedID finds an object with a known ID that no list shows, because it may be archived or a draft. If the manifest gives the ID and
// the service does not show it, the search ends, unless the manifest is an export and a name can identify the object.
func (s *search) byUnlistedID() binding {
	o, f := s.o, s.f
	away := f.isAway(o)
	if s.was == "" {
		return binding{}
	}
	if f.info.findsExternalIDs() && f.prior != nil && (!away || s.in.RefreshAll) {
		if b := s.unlisted(f.prior.Address, f.prior.ID); b.presence != unbound {
			return b
		}
	}
	if away {
		return binding{presence: hidden, why: archived}
	}
	if o.ID == "" {
		return binding{}
	}
	if b := s.byArchive(); b.presence != unbound || o.Exported && len(f.info.naturalKey) > 0 && !o.Kind.Numbered() {
		return b
	}
	return binding{presence: notFound, why: "the service shows no " + o.Kind.Noun() + " with the ID " + o.ID + ": it was deleted or archived, or the id is wrong"}
}

// unlisted looks for an object by the mark of an address, also if it is archived or a draft. id is the ID that the object must have;
// "" = any.
func (s *search) unlisted(address resource.Address, id string) binding {
	f := s.f
	_, want, given := wantsArchived(s.o)
	a, made := s.snapshot.findUnlisted(f.info, s.snapshot.listPath(f.info, f.parent), address)
	switch {
	case !made:
		f.maybeHidden = true
		return binding{}
	case a.Several:
		return binding{presence: notFound, why: "several objects of the service carry the mark of " + string(s.o.Address) + ", and no list shows them"}
	case len(a.Rows) == 0:
		return binding{}
	}
	row := a.Rows[0]
	b := binding{presence: exists, row: row, id: row.ID(), identifier: cmp.Or(s.objects.readableID(s.o.Kind, f.parent, row), f.identifier)}
	switch why := row.Hidden(); {
	case why == archived && given && !want && f.info.archivable: // the run restores it
	case why != "":
		b.presence, b.why = hidden, why
	case id != "" && b.id != id:
		return binding{} // the row is another object, which the list shows
	}
	return b
}

// byArchive finds an object in the list of archived objects, by its ID or its mark. A name matches only if the manifest has the field
// archived.
func (s *search) byArchive() binding {
	o, t := s.o, s.f.info
	_, _, given := wantsArchived(o)
	if t.archived == nil && given && o.ID == "" && t.findsExternalIDs() {
		for _, a := range AllAddresses(o) {
			if b := s.unlisted(a, ""); b.presence != unbound {
				return b
			}
		}
	}
	if t.archived == nil || !t.externalIDs {
		return binding{}
	}
	a := s.service.askAt(t.archived, s.objects.params(s.f.parent))
	for _, row := range a.Rows {
		if row.ID() == s.was || o.ID == "" && s.in.marks().Has(row, s.in.marks().ID(o.Address)) {
			return binding{presence: exists, row: row, id: row.ID()}
		}
	}
	if !given || o.ID != "" {
		return binding{}
	}
	hits, field := (&listing{rows: a.Rows}).sameNaturalKey(o, t, nil)
	return s.adopt(hits, "its "+field)
}

// byIdentifier finds an object that the manifest names by its readable identifier.
func (s *search) byIdentifier() binding {
	o, f, t := s.o, s.f, s.f.info
	if o.Identifier == "" {
		return binding{}
	}
	if t.find != nil && !(t.list != nil && s.hasParentCode() && s.snapshot.prefersList(t, f.parent)) {
		a := s.service.askOptional(s.snapshot.readOne(f, t.find, o.Identifier))
		if a.Unsupported {
			return binding{presence: unsupported}
		}
		if a.NotFound || len(a.Rows) == 0 {
			return s.notFound(nil)
		}
		if within := a.Rows[0].Text(o.Kind.Parent); within != "" && resource.LowerID(within) != s.objects.states[f.parent].id {
			return s.fail("elsewhere", o.Kind.Noun()+" "+o.Identifier+" is not in "+string(o.Parent.Address), "move it there in the manifest")
		}
		return s.named(a.Rows[0])
	}
	if t.list == nil {
		return s.fail("no-lookup", o.Kind.Noun()+" "+o.Identifier+" cannot be looked up with the documented operations", s.in.namesNeed("give its id"))
	}
	l, st := s.snapshot.list(t, f.parent)
	if st != exists {
		return binding{presence: st, why: l.why}
	}
	x := s.snapshot.byIdentifier(l, t, f.parent)
	if hits := x[strings.ToUpper(o.Identifier)]; len(hits) > 0 {
		return s.named(hits[0])
	}
	if t.create == nil || o.Kind.Identifier.APIName == "" {
		return s.notFound(x)
	}
	return s.identifierUnused(l, x)
}

// hasParentCode reports whether the object's identifier begins with its parent's identifier, so that the parent's list may show it.
func (s *search) hasParentCode() bool {
	code, _, _ := strings.Cut(s.o.Identifier, "-")
	return s.f.parent != noObject && strings.EqualFold(code, s.objects.states[s.f.parent].identifier)
}

// named binds an object to the row that has the identifier of the manifest, such as WEB-12.
func (s *search) named(row resource.Row) binding {
	o, f := s.o, s.f
	b := binding{presence: exists, row: row, id: row.ID(), identifier: o.Identifier}
	if f.known() && f.prior.ID != b.id {
		s.diags.warn(o, "identity-changed", o.Identifier+" is a different "+o.Kind.Noun()+" now than at the last apply: "+b.id+" instead of "+
			f.prior.ID, "")
		f.forgetPrior()
	}
	if f.info.externalIDs && o.Kind.Numbered() {
		return s.checkMark(b)
	}
	return b
}

// whyNotShown lists the possible reasons why the service does not show a readable identifier.
const whyNotShown = "it was deleted or archived, is a draft or not yours to read, or the identifier is wrong"

// notFound handles an identifier that the service does not show. If people choose identifiers of the kind, it is misspelt, and an error.
// If the service assigns them, the object may be deleted or hidden.
func (s *search) notFound(x index) binding {
	o := s.o
	if o.Kind.Numbered() {
		return binding{presence: notFound, why: "the service shows no " + o.Kind.Noun() + " " + o.Identifier + ": " + whyNotShown}
	}
	var all []string
	for _, rows := range x {
		all = append(all, s.objects.readableID(o.Kind, s.f.parent, rows[0]))
	}
	return s.fail("not-found", "the service has no "+o.Kind.Noun()+" "+o.Identifier, diag.DidYouMean(o.Identifier, all))
}

// identifierUnused treats an object with an unused identifier as absent, so that it is created. It is an error if the state or the name
// shows that the object exists under another identifier.
func (s *search) identifierUnused(l *listing, x index) binding {
	o, f := s.o, s.f
	if f.known() && len(l.byID(f.prior.ID)) > 0 {
		return s.otherIdentifier(s.objects.readableID(o.Kind, f.parent, l.byID(f.prior.ID)[0]))
	}
	if hits, field := l.sameNaturalKey(o, f.info, nil); len(hits) > 0 {
		return s.fail("not-found", "the service has no "+o.Kind.Noun()+" "+o.Identifier+", but one called \""+o.Text(field)+
			"\" with the identifier "+s.objects.readableID(o.Kind, f.parent, hits[0]), "use that identifier, or another "+field)
	}
	if len(o.Missing()) > 0 && len(diag.Near(o.Identifier, slices.Collect(maps.Keys(x)))) > 0 {
		return s.notFound(x) // it is misspelt rather than new
	}
	f.vanished = f.known()
	f.forgetPrior()
	f.id, f.identifier = "", ""
	s.objects.newCodes[strings.ToUpper(o.Identifier)] = !o.NoCreate
	return binding{presence: absent}
}

// withoutID drops an ID that the service does not show. The search continues as if the state had no record of the object.
func (s *search) withoutID() binding {
	o, f := s.o, s.f
	if s.was == "" {
		return binding{}
	}
	if f.info.create == nil && !f.info.recognisable() {
		return s.fail("not-found", string(o.Address)+" no longer exists on the service, and planform cannot create it again",
			"remove it from the manifest, or give the id of another one")
	}
	s.past = f.prior
	f.forgetGone()
	f.id, f.identifier = "", ""
	return binding{}
}

// byNumber ends the search for an object that neither a mark nor a name can identify. If an earlier create has no outcome, its result is
// looked for by readable number. Otherwise the object counts as absent, if it can be created.
func (s *search) byNumber() binding {
	o, f, t := s.o, s.f, s.f.info
	switch {
	case t.recognisable():
		return binding{}
	case f.wasAnnounced():
		presence, hits := s.ids.recovery.recoverCreate(f)
		if presence == exists {
			return s.adopt(hits, foundByNumber)
		}
		if presence != absent {
			return binding{presence: presence}
		}
	case t.create != nil:
		f.undetectable = true
	case !t.api.Wide() && (f.parent == noObject || s.objects.states[f.parent].info.create == nil):
		return s.fail("no-lookup", o.Kind.Noun()+" \""+o.Name()+"\" can neither be looked up nor created with "+t.api.Noun(), s.in.namesNeed("give its id"))
	}
	return s.absent()
}

// byMark finds an object by planform's mark in the list of its kind.
func (s *search) byMark() (b binding) {
	o, t := s.o, s.f.info
	if s.list, b.presence = s.snapshot.list(t, s.f.parent); b.presence != exists {
		b.why = s.list.why
		return b
	}
	if !t.externalIDs {
		return binding{}
	}
	hits := s.ids.notOthers(o, s.ids.withMarks(o, s.list.byExternalID(s.in.marks())))
	if len(hits) == 0 && s.in.takesOver(o) {
		hits = s.ids.notOthers(o, s.ids.withMarks(o, s.list.byAnyMark(s.in.Workspace)))
	}
	if len(hits) > 0 && s.in.Owner == "" && !s.in.takesOver(o) && !s.ids.isRecorded(o) {
		return s.unknownMark(hits[0])
	}
	return s.adopt(hits, foundByExternalID)
}

// byName finds an object by its natural key in the list of its kind.
func (s *search) byName() binding {
	hits, field := s.ids.sameNaturalKey(s.list, s.o, s.f.info, s.ids.keyIDs(s.o, s.f))
	return s.adopt(s.ids.notOthers(s.o, hits), "its "+field)
}

// byUnownedMark reports an object that a manifest without an owner made under this address, because a create would duplicate it.
func (s *search) byUnownedMark() binding {
	if s.f.info.externalIDs && s.o.Kind.AdoptOnRequestOnly && s.in.Owner != "" {
		if unowned := s.ids.withMarks(s.o, s.list.byExternalID(resource.Marks{Workspace: s.in.Workspace})); len(unowned) > 0 {
			return s.unknownMark(unowned[0])
		}
	}
	return binding{}
}

// unknownMark reports an object that planform made for a manifest without an owner, which may be another manifest.
func (s *search) unknownMark(row resource.Row) binding {
	return s.fail("unknown-mark", "planform made "+s.objects.enumerate(s.o.Kind, s.f.parent, []resource.Row{row})+" as "+string(s.o.Address)+
		", and the state does not know it: another manifest may have it",
		"if it is this one's, --take-over takes it; if not, write an owner into each of the manifests (owner: NAME), or choose another key")
}

// adopt binds an object to the row that was recognised. Several rows are an error; without a row, the search goes on.
func (s *search) adopt(hits []resource.Row, by string) binding {
	o := s.o
	switch len(hits) {
	case 0:
		return binding{}
	case 1:
		if o.Implied { // the manifest did not write the object, so it is not adopted
			by = ""
		}
		return binding{presence: exists, row: hits[0], id: hits[0].ID(), matchedBy: by}
	}
	hint := "give the id of the right one"
	if by == foundByExternalID {
		hint = s.ids.keepOne(o.Kind, s.f.parent, hits) + ", or " + hint
	}
	return s.fail("ambiguous", "the service has "+countOf(len(hits), o.Kind)+" that could be "+string(o.Address)+", found by "+by+": "+
		s.objects.enumerate(o.Kind, s.f.parent, hits), hint)
}

const createFirst = "create it on the service first, or give the ID of an existing one"

// absent ends a search that found nothing. An object that people deleted is created again, unless the policy keeps their deletion.
func (s *search) absent() binding {
	o, f, t := s.o, s.f, s.f.info
	again := f.wasAnnounced()
	switch {
	case t.create == nil && s.list != nil:
		return s.fail("not-found", "the service has no "+o.Kind.Noun()+" \""+o.Name()+"\", and "+t.api.Noun()+" cannot create one",
			cmp.Or(near(o.Name(), o.Kind, s.list), createFirst))
	case s.was != "" && !again && s.ids.keepsDeletions(o):
		f.prior, f.keptDeleted = s.past, true
		return binding{presence: hidden, id: s.was, why: "deleted"}
	}
	f.vanished, f.unconfirmed = s.was != "", again && s.list != nil
	return binding{presence: absent}
}

// keepsDeletions reports whether the drift policy keeps the deletion of an object by people. It does so only for a work item, or an object in
// one. Objects of other kinds, such as labels, are created again, because work items need them.
func (m *identities) keepsDeletions(o *resource.Object) bool {
	return o.Ancestor("work_item") != nil && m.in.onDrift(o) == Keep && !m.in.Pull && m.in.Deletes == nil
}
