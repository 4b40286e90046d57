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
func (se *search) checkIdentifier() {
	o, f, shown := se.o, se.f, ""
	switch {
	case f.row != nil:
		shown = se.objects.readableID(o.Kind, f.parent, f.row)
	case f.isKnown():
		shown = f.prior.Identifier
	}
	switch {
	case shown == "" || o.Identifier == "" || strings.EqualFold(shown, o.Identifier):
		f.identifier = cmp.Or(shown, f.identifier)
		return
	case o.ID != "":
		se.fail("contradiction", "the "+o.Kind.Noun()+" with the ID "+o.ID+" is "+shown+", not "+o.Identifier, keepEither)
	case o.Kind.Identifier.APIName != "":
		se.fail("other-identifier", string(o.Address)+" is "+shown+" on the service, not "+o.Identifier, "if an admin changed it, write identifier: "+
			shown+"; if not, change the service first, or give the new "+o.Kind.Noun()+" a key of its own")
	default:
		se.contradictsState(shown + " (" + f.id + ") according to the state file")
	}
	f.presence = invalid
}

// checkOther decides about an object if its identifier, in the manifest or at the last apply, leads to a row with another ID than the known one.
func (se *search) checkOther(identifier string, row resource.Row) binding {
	o, f := se.o, se.f
	switch {
	case o.Identifier == "": // another object has this identifier now; this one may still exist
		se.diags.warn(o, "identity-changed", identifier+" was "+string(o.Address)+" at the last apply, and is a different "+o.Kind.Noun()+" now; "+
			string(o.Address)+" was not re-read", "")
		f.identifier = ""
		return binding{presence: exists}
	case o.ID != "":
		return se.fail("contradiction", o.Identifier+" has the ID "+row.ID()+", not "+o.ID, keepEither)
	default:
		return se.contradictsState(f.id + " according to the state file, which is not " + identifier)
	}
}

// checkMark reports an error if the row with an identifier bears planform's mark for another address, or another row bears the mark for
// this address.
func (se *search) checkMark(b binding) binding {
	marks, mark := se.in.marks(), b.row.Text("external_id")
	if slices.ContainsFunc(AllAddresses(se.o), func(a resource.Address) bool { return marks.On(b.row, a) }) {
		return b
	}
	if was, here := strings.CutPrefix(mark, se.in.Workspace+"/"); here && marks.Has(b.row, mark) {
		return se.fail("contradiction", "the manifest says that "+string(se.o.Address)+" is "+se.o.Identifier+", but planform created that as "+was,
			"correct or remove the identifier; to use it nevertheless, write id: "+b.id)
	}
	if rows := se.ids.rowsWithMark(se.f, marks.ID(se.o.Address)); len(rows) > 0 && rows[0].ID() != b.id {
		return se.contradiction(se.objects.enumerate(se.o.Kind, se.f.parent, rows[:1])+" according to planform's mark on the service",
			"to use it nevertheless, write id: "+b.id)
	}
	return b
}

// contradiction reports that the ID, state or mark of an object leads to another object than its identifier.
func (se *search) contradiction(is, hint string) binding {
	return se.fail("contradiction", string(se.o.Address)+" is "+is+", but the manifest says "+se.o.Identifier, "correct or remove the identifier; "+hint)
}

func (se *search) contradictsState(is string) binding {
	return se.contradiction(is, "planform state rm "+string(se.o.Address)+" removes the entry from the state")
}
