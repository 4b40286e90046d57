package planner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// search looks on the service for the row of one object of the manifest: by ID, then identifier, mark, name and number. Its methods are the
// finders, and it holds what they have found out.
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
		(*search).byID, (*search).byUnlistedID, (*search).byIdentifier, (*search).dropID, (*search).byNumber, (*search).byMark,
		(*search).byName, (*search).byArchive, (*search).byUnownedMark, (*search).bindAbsent,
	}
}

func (se *search) fail(code, summary, hint string) binding {
	se.diags.report(se.o, code, summary, hint)
	return binding{presence: invalid}
}

// byID finds an object by its ID in the manifest, or else in the state.
func (se *search) byID() binding {
	o, f, t := se.o, se.f, se.f.info
	if se.was == "" {
		return binding{}
	}
	f.id, f.identifier = se.was, o.Identifier
	if f.prior != nil && (o.ID == "" || o.Identifier == "") {
		f.identifier = cmp.Or(f.prior.Identifier, o.Identifier)
	}
	if se.objects.skipsRefresh(f) || !se.objects.mustRead(o, f) && !se.snapshot.isListed(t, f.parent) {
		return binding{presence: exists} // the record of the state is enough, or nothing is compared
	}
	if one, _ := f.readOperation(); t.list == nil || one != nil && !se.snapshot.prefersList(t, f.parent) {
		return se.readByID()
	}
	l, st := se.snapshot.list(t, f.parent)
	if st != exists {
		return binding{presence: st, why: l.why}
	}
	if rows := l.byID(f.id); len(rows) > 0 {
		return binding{presence: exists, row: rows[0]}
	}
	if t.get == nil || f.isAway(o) {
		return binding{}
	}
	return se.readByID() // a list that changes while its pages are read may miss an object
}

// readByID reads one object, if the API has an operation for that.
func (se *search) readByID() binding {
	f := se.f
	op, id := f.readOperation()
	if op == nil {
		return binding{presence: exists} // the API cannot read it again
	}
	switch a := se.service.ask(se.snapshot.readOne(f, op, id)); {
	case a.Unsupported:
		return binding{presence: unsupported}
	case a.NotFound || len(a.Rows) == 0:
		return binding{}
	case a.Rows[0].ID() == f.id:
		return binding{presence: exists, row: a.Rows[0]}
	default:
		return se.checkOther(id, a.Rows[0])
	}
}

// byUnlistedID finds an object with a known ID that no list shows, because it may be archived or a draft. If the manifest gives the ID and
// the service does not show it, the search ends, unless the manifest is an export and a name can identify the object.
func (se *search) byUnlistedID() binding {
	o, f := se.o, se.f
	if se.was == "" {
		return binding{}
	}
	away := f.isAway(o)
	if f.info.findsExternalIDs() && f.prior != nil && (!away || se.in.RefreshAll) {
		if b := se.findUnlisted(f.prior.Address, f.prior.ID); b.presence != unbound {
			return b
		}
	}
	switch {
	case away:
		return binding{presence: hidden, why: archived}
	case o.ID == "":
		return binding{}
	}
	if b := se.byArchive(); b.presence != unbound || o.Exported && len(f.info.naturalKey) > 0 && !o.Kind.Numbered() {
		return b
	}
	return binding{presence: notFound, why: "the service shows no " + o.Kind.Noun() + " with the ID " + o.ID + ": it was deleted or archived, or the id is wrong"}
}

// findUnlisted looks for an object by the mark of an address, also if it is archived or a draft. id is the ID that the object must have;
// "" = any.
func (se *search) findUnlisted(address resource.Address, id string) binding {
	f := se.f
	_, want, given := wantsArchived(se.o)
	a, made := se.snapshot.findUnlisted(f.info, se.snapshot.listPath(f.info, f.parent), address)
	switch {
	case a.Several:
		return binding{presence: notFound, why: "several objects of the service carry the mark of " + string(se.o.Address) + ", and no list shows them"}
	case len(a.Rows) == 0:
		f.maybeHidden = f.maybeHidden || !made
		return binding{}
	}
	row := a.Rows[0]
	b := binding{presence: exists, row: row, id: row.ID(), identifier: cmp.Or(se.objects.readableID(se.o.Kind, f.parent, row), f.identifier)}
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
func (se *search) byArchive() binding {
	o, t := se.o, se.f.info
	_, _, given := wantsArchived(o)
	if t.archived == nil && given && o.ID == "" && t.findsExternalIDs() {
		for _, a := range AllAddresses(o) {
			if b := se.findUnlisted(a, ""); b.presence != unbound {
				return b
			}
		}
	}
	if t.archived == nil || !t.externalIDs {
		return binding{}
	}
	a := se.service.askAt(t.archived, se.objects.params(se.f.parent))
	for _, row := range a.Rows {
		if row.ID() == se.was || o.ID == "" && se.in.marks().Has(row, se.in.marks().ID(o.Address)) {
			return binding{presence: exists, row: row, id: row.ID()}
		}
	}
	if !given || o.ID != "" {
		return binding{}
	}
	hits, field := (&listing{rows: a.Rows}).rowsWithNaturalKey(o, t, nil)
	return se.adopt(hits, "its "+field)
}

// byIdentifier finds an object that the manifest names by its readable identifier.
func (se *search) byIdentifier() binding {
	o, f, t := se.o, se.f, se.f.info
	if o.Identifier == "" {
		return binding{}
	}
	if t.find != nil && !(t.list != nil && se.hasParentCode() && se.snapshot.prefersList(t, f.parent)) {
		a := se.service.askOptional(se.snapshot.readOne(f, t.find, o.Identifier))
		if a.Unsupported {
			return binding{presence: unsupported}
		}
		if a.NotFound || len(a.Rows) == 0 {
			return se.bindUnknown()
		}
		if within := a.Rows[0].Text(o.Kind.Parent); within != "" && resource.LowerID(within) != se.objects.states[f.parent].id {
			return se.fail("elsewhere", o.Kind.Noun()+" "+o.Identifier+" is not in "+string(o.Parent.Address), "move it there in the manifest")
		}
		return se.bindIdentified(a.Rows[0])
	}
	if t.list == nil {
		return se.fail("no-lookup", o.Kind.Noun()+" "+o.Identifier+" cannot be looked up with the documented operations", se.in.namesNeed("give its id"))
	}
	l, st := se.snapshot.list(t, f.parent)
	if st != exists {
		return binding{presence: st, why: l.why}
	}
	x := se.snapshot.byIdentifier(l, t, f.parent)
	if hits := x[strings.ToUpper(o.Identifier)]; len(hits) > 0 {
		return se.bindIdentified(hits[0])
	}
	if t.create == nil || o.Kind.Identifier.APIName == "" {
		return se.bindUnknown()
	}
	return se.bindUnused(x)
}

// hasParentCode reports whether the object's identifier begins with its parent's identifier, so that the parent's list may show it.
func (se *search) hasParentCode() bool {
	code, _, _ := strings.Cut(se.o.Identifier, "-")
	return se.f.parent != noObject && strings.EqualFold(code, se.objects.states[se.f.parent].identifier)
}

// bindIdentified binds an object to the row that has the identifier of the manifest, such as WEB-12.
func (se *search) bindIdentified(row resource.Row) binding {
	o, f := se.o, se.f
	b := binding{presence: exists, row: row, id: row.ID(), identifier: o.Identifier}
	if f.isKnown() && f.prior.ID != b.id {
		se.diags.warn(o, "identity-changed", o.Identifier+" is a different "+o.Kind.Noun()+" now than at the last apply: "+b.id+" instead of "+
			f.prior.ID, "")
		f.forgetPrior()
	}
	if f.info.externalIDs && o.Kind.Numbered() {
		return se.checkMark(b)
	}
	return b
}

// whyNotShown lists the possible reasons why the service does not show a readable identifier.
const whyNotShown = "it was deleted or archived, is a draft or not yours to read, or the identifier is wrong"

// bindUnknown decides about an object whose identifier the service does not show. If the service assigns the identifiers of the kind, the
// object may be deleted or hidden.
func (se *search) bindUnknown() binding {
	return binding{presence: notFound, why: "the service shows no " + se.o.Kind.Noun() + " " + se.o.Identifier + ": " + whyNotShown}
}

// bindUnused treats an object with an unused identifier, which people choose, as absent. So it is created, unless the identifier is probably
// misspelt. x has the identifiers in use.
func (se *search) bindUnused(x index) binding {
	o, f := se.o, se.f
	if len(o.Missing()) > 0 {
		if hint := diag.DidYouMean(o.Identifier, slices.Sorted(maps.Keys(x))); hint != "" {
			return se.fail("not-found", "the service has no "+o.Kind.Noun()+" "+o.Identifier, hint)
		}
	}
	f.vanished = f.isKnown()
	f.forgetPrior()
	f.id, f.identifier = "", ""
	se.objects.newCodes[strings.ToUpper(o.Identifier)] = !o.NoCreate
	return binding{presence: absent}
}

// dropID drops an ID that the service does not show. The search continues as if the state had no record of the object.
func (se *search) dropID() binding {
	o, f := se.o, se.f
	if se.was == "" {
		return binding{}
	}
	if f.info.create == nil && !f.info.isRecognisable() {
		return se.fail("not-found", string(o.Address)+" no longer exists on the service, and planform cannot create it again",
			"remove it from the manifest, or give the id of another one")
	}
	se.past = f.prior
	f.forgetGone()
	f.id, f.identifier = "", ""
	return binding{}
}

// byNumber ends the search for an object that neither a mark nor a name can identify; otherwise the search goes on. If an earlier create has
// no outcome, its result is looked for by readable number. If there is none, the object counts as absent, if it can be created.
func (se *search) byNumber() binding {
	o, f, t := se.o, se.f, se.f.info
	switch {
	case t.isRecognisable():
		return binding{}
	case f.wasAnnounced:
		presence, hits := se.ids.recoverCreate(o, f)
		if presence == exists {
			return se.adopt(hits, foundByNumber)
		}
		if presence != absent {
			return binding{presence: presence}
		}
	case t.create != nil:
		f.undetectable = true
	case !t.api.Wide() && (f.parent == noObject || se.objects.states[f.parent].info.create == nil):
		return se.fail("no-lookup", o.Kind.Noun()+" \""+o.Name()+"\" can neither be looked up nor created with "+t.api.Noun(), se.in.namesNeed("give its id"))
	}
	return se.bindAbsent()
}

// byMark finds an object by planform's mark in the list of its kind.
func (se *search) byMark() (b binding) {
	o, t := se.o, se.f.info
	if se.list, b.presence = se.snapshot.list(t, se.f.parent); b.presence != exists {
		b.why = se.list.why
		return b
	}
	if !t.externalIDs {
		return binding{}
	}
	hits := se.ids.withoutOthersRows(o, se.ids.rowsWithMarks(o, se.list.byExternalID(se.in.marks())))
	if len(hits) == 0 && se.in.takesOver(o) {
		hits = se.ids.withoutOthersRows(o, se.ids.rowsWithMarks(o, se.list.byAnyMark(se.in.Workspace)))
	}
	if len(hits) > 0 && se.in.Owner == "" && !se.in.takesOver(o) && !se.ids.isRecorded(o) {
		return se.reportUnknownMark(hits[0])
	}
	return se.adopt(hits, foundByExternalID)
}

// byName finds an object by its natural key in the list of its kind.
func (se *search) byName() binding {
	hits, field := se.ids.rowsWithNaturalKey(se.list, se.o, se.f.info, se.ids.keyIDs(se.f))
	return se.adopt(se.ids.withoutOthersRows(se.o, hits), "its "+field)
}

// byUnownedMark reports an object that a manifest without an owner made under this address, because a create would duplicate it.
func (se *search) byUnownedMark() binding {
	if se.f.info.externalIDs && se.o.Kind.AdoptOnRequestOnly && se.in.Owner != "" {
		if unowned := se.ids.rowsWithMarks(se.o, se.list.byExternalID(resource.Marks{Workspace: se.in.Workspace})); len(unowned) > 0 {
			return se.reportUnknownMark(unowned[0])
		}
	}
	return binding{}
}

// reportUnknownMark reports an object that planform made for a manifest without an owner, which may be another manifest.
func (se *search) reportUnknownMark(row resource.Row) binding {
	return se.fail("unknown-mark", "planform made "+se.objects.enumerate(se.o.Kind, se.f.parent, []resource.Row{row})+" as "+string(se.o.Address)+
		", and the state does not know it: another manifest may have it",
		"if it is this manifest's, give --take-over; if not, give each manifest an owner (owner: NAME), or use another key")
}

// adopt binds an object to the row that was recognised. Several rows are an error; without a row, the search goes on.
func (se *search) adopt(hits []resource.Row, by string) binding {
	o := se.o
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
		hint = se.ids.keepOneHint(o.Kind, se.f.parent, hits) + ", or " + hint
	}
	return se.fail("ambiguous", "the service has "+countOf(len(hits), o.Kind)+" that could be "+string(o.Address)+", found by "+by+": "+
		se.objects.enumerate(o.Kind, se.f.parent, hits), hint)
}

const createFirst = "create it on the service first, or give the ID of an existing one"

// bindAbsent ends a search that found nothing. An object that people deleted is created again, unless the policy keeps their deletion.
func (se *search) bindAbsent() binding {
	o, f, t := se.o, se.f, se.f.info
	again := f.wasAnnounced
	switch {
	case t.create == nil && se.list != nil:
		return se.fail("not-found", "the service has no "+o.Kind.Noun()+" \""+o.Name()+"\", and "+t.api.Noun()+" cannot create one",
			cmp.Or(similarNames(o.Name(), o.Kind, se.list), createFirst))
	case se.was != "" && !again && se.ids.keepsDeletions(o):
		f.prior, f.keptDeleted = se.past, true
		return binding{presence: hidden, id: se.was, why: "deleted"}
	}
	f.vanished, f.unconfirmed = se.was != "", again && se.list != nil
	return binding{presence: absent}
}

// keepsDeletions reports whether the drift policy keeps the deletion of an object by people. It does so only for a work item, or an object in
// one. Objects of other kinds, such as labels, are created again, because work items need them.
func (ie *identities) keepsDeletions(o *resource.Object) bool {
	return o.Ancestor("work_item") != nil && ie.in.onDrift(o) == Keep && !ie.in.Pull && ie.in.Deletes == nil
}
