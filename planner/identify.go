package planner

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// identify decides what an object is on the service: by the manifest's ID, the state, the manifest's
// readable identifier, the service's external ID, the natural key, in this order. An identifier that says
// otherwise than the state or an external ID is an error.
func (s *Snapshot) identify(i int) {
	o, f := s.in.Desired[i], &s.states[i]
	if f.parent != none {
		switch p := &s.states[f.parent]; p.presence {
		case pending, invalid, unsupported, indeterminate, notFound, hidden:
			f.presence, f.why = p.presence, p.why
			return
		case absent:
			f.prior = nil
			if f.presence = s.offered(f.info); f.presence == exists {
				f.presence = absent
			}
			return
		case exists:
			if p.replaced {
				f.forgetPrior() // what the state knows lives in another parent
			}
		}
	}
	if o.ID != "" && f.known() && f.prior.ID != o.ID {
		f.forgetPrior()
	}
	switch {
	case o.ID != "":
		f.id = o.ID
		f.identifier = o.Identifier
		if f.identifier == "" && f.prior != nil {
			f.identifier = f.prior.Identifier
		}
		s.refresh(o, f)
	case f.known():
		f.id, f.identifier = f.prior.ID, cmp.Or(f.prior.Identifier, o.Identifier)
		s.refresh(o, f)
	case o.Identifier != "":
		s.byIdentifier(o, f)
	default:
		s.recognise(o, f, "")
	}
	if f.presence == exists {
		if f.row != nil {
			f.row = o.Kind.InZone(f.row, s.zoneNow(f.parent))
		}
		s.checkIdentity(o, f)
	}
}

// known reports whether the state knows an ID.
func (f *objectState) known() bool { return f.prior != nil && f.prior.ID != "" }

// maybeCreated reports whether it may have been created without the state knowing.
func (f *objectState) maybeCreated() bool { return f.prior != nil && f.prior.PendingIntent.creates() }

// forgetPrior drops what the state says: it is about another object.
func (f *objectState) forgetPrior() { f.prior, f.replaced = nil, true }

// checkIdentity holds what a record shows against what the manifest says of its identity.
func (s *Snapshot) checkIdentity(o *resource.Object, f *objectState) {
	shown := ""
	switch {
	case f.row != nil:
		shown = s.readable(o.Kind, f.parent, f.row)
	case f.known():
		shown = f.prior.Identifier
	}
	switch {
	case shown == "" || o.Identifier == "" || strings.EqualFold(shown, o.Identifier):
	case o.ID != "":
		s.report(o, "contradiction", "the "+o.Kind.Noun()+" with the ID "+o.ID+" is "+shown+", not "+o.Identifier, "keep the id or the identifier, whichever is right")
		f.presence = invalid
		return
	case o.Kind.Identifier.APIName != "":
		s.otherIdentifier(o, f, shown)
		return
	default:
		s.contradicts(o, f, shown+" ("+f.id+") according to the state file", "planform state rm "+string(o.Address)+" removes the entry from the state")
		return
	}
	f.identifier = cmp.Or(shown, f.identifier)
	if at, _ := f.row["archived_at"].(string); at != "" && f.hasChildren && f.parent == none {
		f.presence, f.why = hidden, "archived"
	}
}

// contradicts reports that an object is another one than its identifier says.
func (s *Snapshot) contradicts(o *resource.Object, f *objectState, is, hint string) {
	s.report(o, "contradiction", string(o.Address)+" is "+is+", but the manifest says "+o.Identifier, "correct or remove the identifier; "+hint)
	f.presence = invalid
}

// otherIdentifier reports that an object bears another identifier than people chose for it in the manifest.
func (s *Snapshot) otherIdentifier(o *resource.Object, f *objectState, shown string) {
	s.report(o, "other-identifier", string(o.Address)+" is "+shown+" on the service, not "+o.Identifier,
		"change the identifier on the service first, or give a new "+o.Kind.Noun()+" a key of its own")
	f.presence = invalid
}

// readable is the readable identifier of a record that lives in a parent, or "".
func (s *Snapshot) readable(k *resource.Kind, parent int, row resource.Row) string {
	if k.Identifier == nil {
		return ""
	}
	if k.Identifier.APIName != "" {
		shown, _ := row[k.Identifier.APIName].(string)
		return shown
	}
	number, ok := row["sequence_id"].(json.Number)
	if !ok || parent == none || s.states[parent].identifier == "" {
		return ""
	}
	return s.states[parent].identifier + "-" + number.String()
}

// byIdentifier finds an object that the manifest names by its readable identifier.
func (s *Snapshot) byIdentifier(o *resource.Object, f *objectState) {
	f.row = nil
	t := f.info
	if t.find != nil && !(t.list != nil && s.hasParentCode(o, f) && s.cheaper(t, f.parent)) {
		a, answered := s.ask(s.one(f, t.find, o.Identifier))
		switch {
		case !answered:
			f.presence = pending
		case a.Unsupported:
			f.presence = unsupported
		case a.NotFound || len(a.Rows) == 0:
			s.notFound(o, f, nil)
		case s.inOtherParent(o, f, a.Rows[0]):
		default:
			s.bind(o, f, a.Rows[0])
		}
		return
	}
	if t.list == nil {
		f.presence = invalid
		s.report(o, "no-lookup", o.Kind.Noun()+" "+o.Identifier+" cannot be looked up with the documented operations", s.in.namesNeed("give its id"))
		return
	}
	l, st := s.list(t, f.parent)
	if f.presence = st; st != exists {
		f.why = l.why
		return
	}
	x := s.identifiers(l, t, f.parent)
	if hits := x[strings.ToUpper(o.Identifier)]; len(hits) > 0 {
		s.bind(o, f, hits[0])
		return
	}
	if t.create == nil || o.Kind.Identifier.APIName == "" {
		s.notFound(o, f, x)
		return
	}
	s.identifierUnused(o, f, l, x)
}

// identifierUnused deals with an identifier that nothing bears, of a kind whose
// identifiers people choose: an object is created with it.
func (s *Snapshot) identifierUnused(o *resource.Object, f *objectState, l *listing, x index) {
	if f.known() && len(l.ids()[f.prior.ID]) > 0 {
		s.otherIdentifier(o, f, s.readable(o.Kind, f.parent, l.ids()[f.prior.ID][0]))
		return
	}
	if hits, field := l.sameNaturalKey(o, f.info); len(hits) > 0 {
		s.report(o, "not-found", "the service has no "+o.Kind.Noun()+" "+o.Identifier+", but one called \""+o.Text(field)+"\" with the identifier "+s.readable(o.Kind, f.parent, hits[0]),
			"use that identifier, or another "+field)
		f.presence = invalid
		return
	}
	if len(missingRequired(o)) > 0 && len(diag.Near(o.Identifier, slices.Collect(maps.Keys(x)))) > 0 {
		s.notFound(o, f, x) // it is misspelt rather than new
		return
	}
	f.vanished = f.known()
	f.forgetPrior()
	f.id, f.identifier, f.presence = "", "", absent
}

// hasParentCode reports whether the readable identifier begins with that of the object's
// parent, so that it can be told from a list.
func (s *Snapshot) hasParentCode(o *resource.Object, f *objectState) bool {
	code, _, _ := strings.Cut(o.Identifier, "-")
	return f.parent != none && strings.EqualFold(code, s.states[f.parent].identifier)
}

// bind takes the record that bears the identifier. What the state knows of another object is void.
func (s *Snapshot) bind(o *resource.Object, f *objectState, row resource.Row) {
	f.presence, f.row, f.id, f.identifier = exists, row, row.ID(), o.Identifier
	if f.known() && f.prior.ID != f.id {
		s.diags.Add(warning(o, "other-thing", o.Identifier+" is a different "+o.Kind.Noun()+" now than at the last apply: "+f.id+" instead of "+f.prior.ID))
		f.forgetPrior()
	}
	if f.info.externalIDs && o.Kind.Numbered() {
		s.checkExternalID(o, f)
	}
}

// checkExternalID makes sure that what bears the identifier was not made by planform as
// something else, and that planform did not make something else as this.
func (s *Snapshot) checkExternalID(o *resource.Object, f *objectState) {
	ours := map[string]bool{}
	for _, a := range allAddresses(o) {
		ours[resource.ExternalID(s.in.Workspace, a)] = true
	}
	mark, _ := f.row["external_id"].(string)
	switch {
	case f.row["external_source"] != resource.ExternalSource || !strings.HasPrefix(mark, s.in.Workspace+"/"):
	case ours[mark]:
		return
	default:
		s.report(o, "contradiction", "the manifest says that "+string(o.Address)+" is "+o.Identifier+", but planform created that as "+strings.TrimPrefix(mark, s.in.Workspace+"/"),
			"correct or remove the identifier; to use it all the same, write id: "+f.id)
		f.presence = invalid
		return
	}
	row, answered := s.findByExternalID(o, f)
	switch {
	case !answered:
		f.presence = pending
	case row != nil && row.ID() != f.id:
		is := row.ID()
		if shown := s.readable(o.Kind, f.parent, row); shown != "" {
			is = shown + " (" + is + ")"
		}
		s.contradicts(o, f, is+" according to planform's mark on the service", "to use it all the same, write id: "+f.id)
	}
}

// findByExternalID is the object that carries the external ID of an object, or nil. It is looked for in the
// list of its kind where that is read already.
func (s *Snapshot) findByExternalID(o *resource.Object, f *objectState) (row resource.Row, answered bool) {
	mark := resource.ExternalID(s.in.Workspace, o.Address)
	if s.listed(f.info, f.parent) {
		l, _ := s.list(f.info, f.parent)
		if hits := l.marks()[mark]; len(hits) > 0 {
			return hits[0], true
		}
		return nil, true
	}
	if !f.info.findsExternalIDs() {
		return nil, true
	}
	a, answered := s.ask(Read{Operation: f.info.list, Path: s.listPath(f.info, f.parent), ExternalID: mark})
	if len(a.Rows) == 0 {
		return nil, answered
	}
	return a.Rows[0], answered
}

// notFound deals with an identifier that nothing bears which the service shows. One that people
// choose is misspelt; of one that the service gave the object may be gone, or shown nowhere.
func (s *Snapshot) notFound(o *resource.Object, f *objectState, x index) {
	if o.Kind.Numbered() {
		f.presence, f.why = notFound, "the service shows no "+o.Kind.Noun()+" "+o.Identifier+": it was deleted or archived, or is a draft, or the identifier is wrong"
		return
	}
	f.presence = invalid
	var all []string
	for _, rows := range x {
		all = append(all, s.readable(o.Kind, f.parent, rows[0]))
	}
	s.report(o, "not-found", "the service has no "+o.Kind.Noun()+" "+o.Identifier, diag.DidYouMean(o.Identifier, all))
}

// inOtherParent reports a record that lives in another parent than the manifest says.
func (s *Snapshot) inOtherParent(o *resource.Object, f *objectState, row resource.Row) bool {
	if f.parent == none {
		return false
	}
	shown, _ := row[o.Kind.Parent].(string)
	if shown == "" || resource.LowerID(shown) == s.states[f.parent].id {
		return false
	}
	f.presence = invalid
	s.report(o, "elsewhere", o.Kind.Noun()+" "+o.Identifier+" is not in "+string(o.Parent.Address), "move it there in the manifest")
	return true
}

// recognise looks for an object of which neither the manifest nor the state knows the ID. was is the one that it had, or "".
func (s *Snapshot) recognise(o *resource.Object, f *objectState, was string) {
	t := f.info
	if !t.recognisable() {
		switch {
		case f.maybeCreated():
			s.recoverCreate(o, f)
		case t.create != nil:
			f.presence, f.undetectable = absent, true
		case f.parent != none && s.states[f.parent].info.create != nil:
			f.presence = absent // as it is while its parent is not there: told, and in nobody's way
		default:
			f.presence = invalid
			s.report(o, "no-lookup", o.Kind.Noun()+" \""+o.Name()+"\" can neither be looked up nor created with the "+s.in.API.Noun(), s.in.namesNeed("give its id"))
		}
		return
	}
	l, st := s.list(t, f.parent)
	if f.presence = st; st != exists {
		f.why = l.why
		return
	}
	if t.externalIDs && len(l.marks()) > 0 {
		hits := l.marks()[resource.ExternalID(s.in.Workspace, o.Address)]
		if len(hits) == 0 && s.renames {
			for _, a := range formerAddresses(o) {
				hits = append(hits, l.marks()[resource.ExternalID(s.in.Workspace, a)]...)
			}
		}
		if len(hits) > 0 {
			s.adopt(o, f, hits, byExternalID)
			return
		}
	}
	if hits, field := s.sameNaturalKey(l, o, t); len(hits) > 0 {
		s.adopt(o, f, hits, "its "+field)
		return
	}
	if s.findArchived(o, f, was) {
		return
	}
	f.presence = absent
	f.unconfirmed = f.maybeCreated()
	if t.create == nil {
		f.presence = invalid
		s.report(o, "not-found", "the service has no "+o.Kind.Noun()+" \""+o.Name()+"\", and the "+s.in.API.Noun()+" cannot create one", cmp.Or(near(o.Name(), o.Kind, l), madeFirst))
	}
}

// adopt takes the one record that was recognised; several are an error that names them.
func (s *Snapshot) adopt(o *resource.Object, f *objectState, hits []resource.Row, by string) {
	if len(hits) > 1 {
		hint := "give the id of the right one"
		if by == byExternalID {
			hint = s.keepOne(o.Kind, f.parent, hits) + ", or " + hint
		}
		s.report(o, "ambiguous", "the service has "+countOf(len(hits), o.Kind)+" that could be "+string(o.Address)+", found by "+by+": "+s.enumerate(o.Kind, f.parent, hits), hint)
		f.presence = invalid
		return
	}
	f.presence, f.row, f.id, f.matchedBy = exists, hits[0], hits[0].ID(), by
}

// enumerate names records that live in a parent, by their readable identifiers where they have such.
func (s *Snapshot) enumerate(k *resource.Kind, parent int, rows []resource.Row) string {
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.ID()
		if shown := s.readable(k, parent, row); shown != "" {
			names[i] = shown + " (" + row.ID() + ")"
		}
	}
	return strings.Join(names, ", ")
}

// near suggests records whose name is near the text, if there are any.
func near(text string, k *resource.Kind, l *listing) string {
	var all []string
	for _, row := range l.rows {
		all = append(all, displayTexts(k, row)...)
	}
	return diag.DidYouMean(text, all)
}

const madeFirst = "create it on the service first, or give the ID of an existing one"
