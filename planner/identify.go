package planner

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// identify decides what a thing is on the service: by the manifest's ID, the state, the manifest's
// readable identifier, the service's mark, the natural key, in this order. An identifier that says
// otherwise than the state or a mark is an error.
func (s *Survey) identify(i int) {
	o, f := s.in.Desired[i], &s.facts[i]
	if f.parent != none {
		switch p := &s.facts[f.parent]; p.standing {
		case pending, broken, lacking, unknown, missing, hidden:
			f.standing, f.why = p.standing, p.why
			return
		case absent:
			f.prior = nil
			if f.standing = s.offered(f.traits); f.standing == there {
				f.standing = absent
			}
			return
		case there:
			if p.moved {
				f.forget() // what the state knows lives in another parent
			}
		}
	}
	if o.ID != "" && f.known() && f.prior.ID != o.ID {
		f.forget()
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
	if f.standing == there {
		if f.row != nil {
			f.row = o.Kind.Local(f.row, s.zoneNow(f.parent))
		}
		s.confirm(o, f)
	}
}

// known reports whether the state knows an ID.
func (f *fact) known() bool { return f.prior != nil && f.prior.ID != "" }

// sent reports whether it may have been created without the state knowing.
func (f *fact) sent() bool { return f.prior != nil && f.prior.Open.creates() }

// forget drops what the state says: it is about another thing.
func (f *fact) forget() { f.prior, f.moved = nil, true }

// confirm holds what a record shows against what the manifest says of its identity.
func (s *Survey) confirm(o *resource.Object, f *fact) {
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
		s.hint(o, "contradiction", "the "+o.Kind.Noun()+" with the ID "+o.ID+" is "+shown+", not "+o.Identifier, "keep the id or the identifier, whichever is right")
		f.standing = broken
		return
	case o.Kind.Identifier.Wire != "":
		s.otherIdentifier(o, f, shown)
		return
	default:
		s.contradicts(o, f, shown+" ("+f.id+") by the state", "planform state rm "+string(o.Address)+" forgets what the state says")
		return
	}
	f.identifier = cmp.Or(shown, f.identifier)
	if at, _ := f.row["archived_at"].(string); at != "" && f.lived && f.parent == none {
		f.standing, f.why = hidden, "archived"
	}
}

// contradicts reports that a thing is another one than its identifier says.
func (s *Survey) contradicts(o *resource.Object, f *fact, is, hint string) {
	s.hint(o, "contradiction", string(o.Address)+" is "+is+", and the manifest says "+o.Identifier, "correct the identifier, or leave it out; "+hint)
	f.standing = broken
}

// otherIdentifier reports that a thing bears another identifier than people chose for it in the manifest.
func (s *Survey) otherIdentifier(o *resource.Object, f *fact, shown string) {
	s.hint(o, "other-identifier", string(o.Address)+" is "+shown+" on the service, not "+o.Identifier,
		"change the identifier on the service first, or give a new "+o.Kind.Noun()+" a key of its own")
	f.standing = broken
}

// readable is the readable identifier of a record that lives in a parent, or "".
func (s *Survey) readable(k *resource.Kind, parent int32, row resource.Row) string {
	if k.Identifier == nil {
		return ""
	}
	if k.Identifier.Wire != "" {
		shown, _ := row[k.Identifier.Wire].(string)
		return shown
	}
	number, ok := row["sequence_id"].(json.Number)
	if !ok || parent == none || s.facts[parent].identifier == "" {
		return ""
	}
	return s.facts[parent].identifier + "-" + number.String()
}

// byIdentifier finds a thing that the manifest names by its readable identifier.
func (s *Survey) byIdentifier(o *resource.Object, f *fact) {
	f.row = nil
	t := f.traits
	if t.find != nil && !(t.list != nil && s.coded(o, f) && s.cheaper(t, f.parent)) {
		a, answered := s.ask(s.one(f, t.find, o.Identifier))
		switch {
		case !answered:
			f.standing = pending
		case a.Lacking:
			f.standing = lacking
		case a.Missing || len(a.Rows) == 0:
			s.notFound(o, f, nil)
		case s.elsewhere(o, f, a.Rows[0]):
		default:
			s.is(o, f, a.Rows[0])
		}
		return
	}
	if t.list == nil {
		f.standing = broken
		s.hint(o, "no-lookup", o.Kind.Noun()+" "+o.Identifier+" cannot be looked up with the documented operations", s.in.namesNeed("give its id"))
		return
	}
	l, st := s.list(t, f.parent)
	if f.standing = st; st != there {
		f.why = l.why
		return
	}
	x := s.identifiers(l, t, f.parent)
	if hits := x[strings.ToUpper(o.Identifier)]; len(hits) > 0 {
		s.is(o, f, hits[0])
		return
	}
	if t.create == nil || o.Kind.Identifier.Wire == "" {
		s.notFound(o, f, x)
		return
	}
	s.chosen(o, f, l, x)
}

// chosen deals with an identifier that nothing bears, of a kind whose
// identifiers people choose: a thing is created with it.
func (s *Survey) chosen(o *resource.Object, f *fact, l *listing, x index) {
	if f.known() && len(l.ids()[f.prior.ID]) > 0 {
		s.otherIdentifier(o, f, s.readable(o.Kind, f.parent, l.ids()[f.prior.ID][0]))
		return
	}
	if hits, field := l.alike(o, f.traits); len(hits) > 0 {
		s.hint(o, "not-found", "the service has no "+o.Kind.Noun()+" "+o.Identifier+", but one called \""+o.Text(field)+"\" with the identifier "+s.readable(o.Kind, f.parent, hits[0]),
			"take that identifier, or another "+field)
		f.standing = broken
		return
	}
	if len(undescribed(o)) > 0 && len(diag.Near(o.Identifier, slices.Collect(maps.Keys(x)))) > 0 {
		s.notFound(o, f, x) // it is misspelt rather than new
		return
	}
	f.gone = f.known()
	f.forget()
	f.id, f.identifier, f.standing = "", "", absent
}

// coded reports whether the readable identifier begins with that of the thing's
// parent, so that it can be told from a list.
func (s *Survey) coded(o *resource.Object, f *fact) bool {
	code, _, _ := strings.Cut(o.Identifier, "-")
	return f.parent != none && strings.EqualFold(code, s.facts[f.parent].identifier)
}

// is takes the record that bears the identifier. What the state knows of another thing is void.
func (s *Survey) is(o *resource.Object, f *fact, row resource.Row) {
	f.standing, f.row, f.id, f.identifier = there, row, row.ID(), o.Identifier
	if f.known() && f.prior.ID != f.id {
		s.diags.Add(warning(o, "other-thing", o.Identifier+" is another "+o.Kind.Noun()+" now than at the last apply: "+f.id+" instead of "+f.prior.ID))
		f.forget()
	}
	if f.traits.marked && o.Kind.Numbered() {
		s.holdAgainstMarks(o, f)
	}
}

// holdAgainstMarks makes sure that what bears the identifier was not made by planform as
// something else, and that planform did not make something else as this.
func (s *Survey) holdAgainstMarks(o *resource.Object, f *fact) {
	ours := map[string]bool{}
	for _, a := range addresses(o) {
		ours[resource.Mark(s.in.Workspace, a)] = true
	}
	mark, _ := f.row["external_id"].(string)
	switch {
	case f.row["external_source"] != resource.MarkSource || !strings.HasPrefix(mark, s.in.Workspace+"/"):
	case ours[mark]:
		return
	default:
		s.hint(o, "contradiction", string(o.Address)+" says that it is "+o.Identifier+", which planform made as "+strings.TrimPrefix(mark, s.in.Workspace+"/"),
			"correct the identifier, or leave it out; if it is meant all the same, write id: "+f.id)
		f.standing = broken
		return
	}
	row, answered := s.byMark(o, f)
	switch {
	case !answered:
		f.standing = pending
	case row != nil && row.ID() != f.id:
		is := row.ID()
		if shown := s.readable(o.Kind, f.parent, row); shown != "" {
			is = shown + " (" + is + ")"
		}
		s.contradicts(o, f, is+" by the mark that planform gave it", "if it is meant all the same, write id: "+f.id)
	}
}

// byMark is the thing that carries the mark of an object, or nil. It is looked for in the
// list of its kind where that is read already.
func (s *Survey) byMark(o *resource.Object, f *fact) (row resource.Row, answered bool) {
	mark := resource.Mark(s.in.Workspace, o.Address)
	if s.listed(f.traits, f.parent) {
		l, _ := s.list(f.traits, f.parent)
		if hits := l.marks()[mark]; len(hits) > 0 {
			return hits[0], true
		}
		return nil, true
	}
	if !f.traits.findsMarks() {
		return nil, true
	}
	a, answered := s.ask(Read{Operation: f.traits.list, Path: s.listPath(f.traits, f.parent), Mark: mark})
	if len(a.Rows) == 0 {
		return nil, answered
	}
	return a.Rows[0], answered
}

// notFound deals with an identifier that nothing bears which the service shows. One that people
// choose is misspelt; of one that the service gave the thing may be gone, or shown nowhere.
func (s *Survey) notFound(o *resource.Object, f *fact, x index) {
	if o.Kind.Numbered() {
		f.standing, f.why = missing, "the service shows no "+o.Kind.Noun()+" "+o.Identifier+": it was deleted or archived, or is a draft, or the identifier is wrong"
		return
	}
	f.standing = broken
	var all []string
	for _, rows := range x {
		all = append(all, s.readable(o.Kind, f.parent, rows[0]))
	}
	s.hint(o, "not-found", "the service has no "+o.Kind.Noun()+" "+o.Identifier, diag.DidYouMean(o.Identifier, all))
}

// elsewhere reports a record that lives in another parent than the manifest says.
func (s *Survey) elsewhere(o *resource.Object, f *fact, row resource.Row) bool {
	if f.parent == none {
		return false
	}
	shown, _ := row[o.Kind.Parent].(string)
	if shown == "" || resource.NormalID(shown) == s.facts[f.parent].id {
		return false
	}
	f.standing = broken
	s.hint(o, "elsewhere", o.Kind.Noun()+" "+o.Identifier+" is not in "+string(o.Parent.Address), "write it where it belongs")
	return true
}

// recognise looks for a thing of which neither the manifest nor the state knows the ID. was is the one that it had, or "".
func (s *Survey) recognise(o *resource.Object, f *fact, was string) {
	t := f.traits
	if !t.recognises() {
		switch {
		case f.sent():
			s.settle(o, f)
		case t.create != nil:
			f.standing, f.blind = absent, true
		case f.parent != none && s.facts[f.parent].traits.create != nil:
			f.standing = absent // as it is while its parent is not there: told, and in nobody's way
		default:
			f.standing = broken
			s.hint(o, "no-lookup", o.Kind.Noun()+" \""+o.Name()+"\" can neither be looked up nor created with the "+s.in.API.Noun(), s.in.namesNeed("give its id"))
		}
		return
	}
	l, st := s.list(t, f.parent)
	if f.standing = st; st != there {
		f.why = l.why
		return
	}
	if t.marked && len(l.marks()) > 0 {
		hits := l.marks()[resource.Mark(s.in.Workspace, o.Address)]
		if len(hits) == 0 && s.renames {
			for _, a := range formerly(o) {
				hits = append(hits, l.marks()[resource.Mark(s.in.Workspace, a)]...)
			}
		}
		if len(hits) > 0 {
			s.adopt(o, f, hits, byMark)
			return
		}
	}
	if hits, field := s.alike(l, o, t); len(hits) > 0 {
		s.adopt(o, f, hits, "its "+field)
		return
	}
	if s.shelved(o, f, was) {
		return
	}
	f.standing = absent
	f.unsettled = f.sent()
	if t.create == nil {
		f.standing = broken
		s.hint(o, "not-found", "the service has no "+o.Kind.Noun()+" \""+o.Name()+"\", and the "+s.in.API.Noun()+" cannot create one", cmp.Or(near(o.Name(), o.Kind, l), madeFirst))
	}
}

// adopt takes the one record that was recognised; several are an error that names them.
func (s *Survey) adopt(o *resource.Object, f *fact, hits []resource.Row, by string) {
	if len(hits) > 1 {
		hint := "give the id of the right one"
		if by == byMark {
			hint = s.keepOne(o.Kind, f.parent, hits) + ", or " + hint
		}
		s.hint(o, "ambiguous", "the service has "+strconv.Itoa(len(hits))+" things that could be "+string(o.Address)+", found by "+by+": "+s.enumerate(o.Kind, f.parent, hits), hint)
		f.standing = broken
		return
	}
	f.standing, f.row, f.id, f.adopted = there, hits[0], hits[0].ID(), by
}

// enumerate names records that live in a parent, by their readable identifiers where they have such.
func (s *Survey) enumerate(k *resource.Kind, parent int32, rows []resource.Row) string {
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
		all = append(all, naturals(k, row)...)
	}
	return diag.DidYouMean(text, all)
}

const madeFirst = "it must be on the service first; or give the ID of another one"
