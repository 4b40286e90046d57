package planner

import (
	"github.com/planform/planform/internal/resource"
)

// refresh reads how a thing with a known ID is now, where the API offers a way.
func (s *Survey) refresh(o *resource.Object, f *fact) {
	f.standing = there
	t := f.traits
	if s.trusted(f) || !s.looked(o, f) && !s.listed(t, f.parent) {
		return // the state says how it is, or the manifest says what it is
	}
	if one, _ := f.single(); t.list == nil || one != nil && !s.cheaper(t, f.parent) {
		s.refreshOne(o, f)
		return
	}
	l, st := s.list(t, f.parent)
	if f.standing = st; st != there {
		f.why = l.why
		return
	}
	switch rows := l.ids()[f.id]; {
	case len(rows) > 0:
		f.row = rows[0]
	case t.get != nil: // a list that changes while its pages are read may leave one out
		s.refreshOne(o, f)
	default:
		s.vanished(o, f)
	}
}

// cheaper reports whether the list costs fewer requests than reading one by
// one: it is read anyway, or was already, or more are wanted than a few.
func (s *Survey) cheaper(t *traits, parent int32) bool {
	const few = 2
	l := s.listing(t, parent)
	return l.whole || l.wanted > few || s.listed(t, parent)
}

// single is the read of one record, by ID where the API offers it, else by the
// readable identifier; and what it is read by.
func (f *fact) single() (op *resource.Operation, by string) {
	switch t := f.traits; {
	case t.get != nil:
		return t.get, f.id
	case t.find != nil && f.identifier != "":
		return t.find, f.identifier
	default:
		return nil, ""
	}
}

// one is the read of one thing by its ID or readable identifier.
func (s *Survey) one(f *fact, op *resource.Operation, by string) Read {
	params := s.params(f.parent)
	param := f.traits.kind.Param
	if op.Verb == resource.Find {
		param = "identifier"
	}
	params[param] = by
	path, _ := op.Expand(params)
	return Read{Operation: op, Path: path}
}

func (s *Survey) refreshOne(o *resource.Object, f *fact) {
	op, by := f.single()
	if op == nil {
		return // there is no way: it is not refreshed
	}
	a, answered := s.ask(s.one(f, op, by))
	switch {
	case !answered:
		f.standing = pending
	case a.Lacking:
		f.standing = lacking
	case a.Missing || len(a.Rows) == 0:
		s.vanished(o, f)
	case a.Rows[0].ID() == f.id:
		f.row = a.Rows[0]
	case o.Identifier == "": // what bears the state's identifier now says nothing of this thing
		s.diags.Add(warning(o, "other-thing", string(o.Address)+" was "+by+" at the last apply, which is another "+o.Kind.Noun()+" now; it is not refreshed"))
		f.identifier = ""
	case o.ID != "":
		s.hint(o, "contradiction", o.Identifier+" has the ID "+a.Rows[0].ID()+", not "+o.ID, "keep the id or the identifier, whichever is right")
		f.standing = broken
	case o.Kind.Numbered():
		s.contradicts(o, f, f.id+" by the state, which is not "+by, "planform state rm "+string(o.Address)+" forgets what the state says")
	default:
		s.byIdentifier(o, f)
	}
}

// vanished deals with a thing whose ID is known and which the service does not
// show: it may be there under another ID, or is to be created again.
func (s *Survey) vanished(o *resource.Object, f *fact) {
	switch {
	case s.hides(o, f):
	case o.ID != "":
		f.standing, f.why = missing, "the service shows no "+o.Kind.Noun()+" with the ID "+o.ID+": it was deleted or archived, or the id is wrong"
	case o.Identifier != "":
		s.byIdentifier(o, f)
	case f.traits.create == nil && !f.traits.recognises():
		s.hint(o, "not-found", string(o.Address)+" is not on the service any more, and planform cannot create it again", "take it out of the manifest, or give the id of another one")
		f.standing = broken
	default:
		was, again := f.id, f.sent() // a former run has noticed already that it is gone
		f.forget()
		if f.id, f.identifier = "", ""; again {
			f.prior = &Record{Address: o.Address, Open: s.in.Prior[o.Address].Open}
		}
		s.recognise(o, f, was)
		f.gone = f.standing == absent
	}
}
