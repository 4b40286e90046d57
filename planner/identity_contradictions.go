package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
)

// This file has the checks that the sources of an identity agree: the ID and the identifier of the manifest, the state, and planform's mark.

const keepEither = "keep the id or the identifier, whichever is right"

// checkIdentifier compares the identifier of the row that was found with the identifier in the manifest.
func (s *search) checkIdentifier() {
	o, f, shown := s.o, s.f, ""
	switch {
	case f.row != nil:
		shown = s.objects.readableID(o.Kind, f.parent, f.row)
	case f.known():
		shown = f.prior.Identifier
	}
	switch {
	case shown == "" || o.Identifier == "" || strings.EqualFold(shown, o.Identifier):
		f.identifier = cmp.Or(shown, f.identifier)
		return
	case o.ID != "":
		s.fail("contradiction", "the "+o.Kind.Noun()+" with the ID "+o.ID+" is "+shown+", not "+o.Identifier, keepEither)
	case o.Kind.Identifier.APIName != "":
		s.otherIdentifier(shown)
	default:
		s.contradictsState(shown + " (" + f.id + ") according to the state file")
	}
	f.presence = invalid
}

// checkOther decides about an object if its identifier, in the manifest or at the last apply, leads to a row with another ID than the known one.
func (s *search) checkOther(identifier string, row resource.Row) binding {
	o, f := s.o, s.f
	switch {
	case o.Identifier == "": // another object has this identifier now; this one may still exist
		s.diags.warn(o, "identity-changed", identifier+" was "+string(o.Address)+" at the last apply, and is a different "+o.Kind.Noun()+" now; "+
			string(o.Address)+" was not re-read", "")
		f.identifier = ""
		return binding{presence: exists}
	case o.ID != "":
		return s.fail("contradiction", o.Identifier+" has the ID "+row.ID()+", not "+o.ID, keepEither)
	case o.Kind.Numbered():
		return s.contradictsState(f.id + " according to the state file, which is not " + identifier)
	default:
		return s.byIdentifier()
	}
}

// checkMark reports an error if the row with an identifier bears planform's mark for another address, or another row bears the mark for
// this address.
func (s *search) checkMark(b binding) binding {
	marks, mark := s.in.marks(), b.row.Text("external_id")
	if slices.ContainsFunc(AllAddresses(s.o), func(a resource.Address) bool { return marks.On(b.row, a) }) {
		return b
	}
	if was, here := strings.CutPrefix(mark, s.in.Workspace+"/"); here && marks.Has(b.row, mark) {
		return s.fail("contradiction", "the manifest says that "+string(s.o.Address)+" is "+s.o.Identifier+", but planform created that as "+was,
			"correct or remove the identifier; to use it all the same, write id: "+b.id)
	}
	if rows := s.ids.marked(s.f, marks.ID(s.o.Address)); len(rows) > 0 && rows[0].ID() != b.id {
		return s.contradiction(s.objects.enumerate(s.o.Kind, s.f.parent, rows[:1])+" according to planform's mark on the service",
			"to use it all the same, write id: "+b.id)
	}
	return b
}

// contradiction reports that the ID, state or mark of an object leads to another object than its identifier.
func (s *search) contradiction(is, hint string) binding {
	return s.fail("contradiction", string(s.o.Address)+" is "+is+", but the manifest says "+s.o.Identifier, "correct or remove the identifier; "+hint)
}

func (s *search) contradictsState(is string) binding {
	return s.contradiction(is, "planform state rm "+string(s.o.Address)+" removes the entry from the state")
}

func (s *search) otherIdentifier(shown string) binding {
	return s.fail("other-identifier", string(s.o.Address)+" is "+shown+" on the service, not "+s.o.Identifier,
		"if an admin changed it, write identifier: "+shown+"; else change the identifier on the service first, or give a new "+s.o.Kind.Noun()+
			" a key of its own")
}
