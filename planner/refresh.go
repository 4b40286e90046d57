package planner

import (
	"github.com/planform/planform/internal/resource"
)

// refresh reads how an object with a known ID is now, where the API offers a way.
func (s *Snapshot) refresh(o *resource.Object, f *objectState) {
	f.presence = exists
	t := f.info
	if s.skipsRefresh(f) || !s.mustRead(o, f) && !s.listed(t, f.parent) {
		return // the state says how it is, or the manifest says what it is
	}
	if one, _ := f.single(); t.list == nil || one != nil && !s.cheaper(t, f.parent) {
		s.refreshOne(o, f)
		return
	}
	l, st := s.list(t, f.parent)
	if f.presence = st; st != exists {
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
func (s *Snapshot) cheaper(t *kindInfo, parent int) bool {
	const few = 2
	l := s.listing(t, parent)
	return l.whole || l.desired > few || s.listed(t, parent)
}

// single is the read of one record, by ID where the API offers it, else by the
// readable identifier; and what it is read by.
func (f *objectState) single() (op *resource.Operation, by string) {
	switch t := f.info; {
	case t.get != nil:
		return t.get, f.id
	case t.find != nil && f.identifier != "":
		return t.find, f.identifier
	default:
		return nil, ""
	}
}

// one is the read of one object by its ID or readable identifier.
func (s *Snapshot) one(f *objectState, op *resource.Operation, by string) Read {
	params := s.params(f.parent)
	param := f.info.kind.Param
	if op.Verb == resource.Find {
		param = "identifier"
	}
	params[param] = by
	path, _ := op.Expand(params)
	return Read{Operation: op, Path: path}
}

func (s *Snapshot) refreshOne(o *resource.Object, f *objectState) {
	op, by := f.single()
	if op == nil {
		return // there is no way: it is not refreshed
	}
	a, answered := s.ask(s.one(f, op, by))
	switch {
	case !answered:
		f.presence = pending
	case a.Unsupported:
		f.presence = unsupported
	case a.NotFound || len(a.Rows) == 0:
		s.vanished(o, f)
	case a.Rows[0].ID() == f.id:
		f.row = a.Rows[0]
	case o.Identifier == "": // what bears the state's identifier now says nothing of this object
		s.diags.Add(warning(o, "other-thing", by+" was "+string(o.Address)+" at the last apply, and is a different "+o.Kind.Noun()+" now; "+string(o.Address)+" was not re-read"))
		f.identifier = ""
	case o.ID != "":
		s.report(o, "contradiction", o.Identifier+" has the ID "+a.Rows[0].ID()+", not "+o.ID, "keep the id or the identifier, whichever is right")
		f.presence = invalid
	case o.Kind.Numbered():
		s.contradicts(o, f, f.id+" according to the state file, which is not "+by, "planform state rm "+string(o.Address)+" removes the entry from the state")
	default:
		s.byIdentifier(o, f)
	}
}

// vanished deals with an object whose ID is known and which the service does not
// show: it may be there under another ID, or is to be created again.
func (s *Snapshot) vanished(o *resource.Object, f *objectState) {
	switch {
	case s.checkHidden(o, f):
	case o.ID != "":
		f.presence, f.why = notFound, "the service shows no "+o.Kind.Noun()+" with the ID "+o.ID+": it was deleted or archived, or the id is wrong"
	case o.Identifier != "":
		s.byIdentifier(o, f)
	case f.info.create == nil && !f.info.recognisable():
		s.report(o, "not-found", string(o.Address)+" no longer exists on the service, and planform cannot create it again", "remove it from the manifest, or give the id of another one")
		f.presence = invalid
	default:
		was, again := f.id, f.maybeCreated() // a former run has noticed already that it is gone
		f.forgetPrior()
		if f.id, f.identifier = "", ""; again {
			f.prior = &Record{Address: o.Address, PendingIntent: s.in.Prior[o.Address].PendingIntent}
		}
		s.recognise(o, f, was)
		f.vanished = f.presence == absent
	}
}
