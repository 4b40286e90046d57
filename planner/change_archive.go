package planner

import (
	"slices"
	"strconv"

	"github.com/planform/planform/internal/plane/resource"
)

// neededByChildren reports whether the manifest has children of an object that cannot be made while the field is off.
func (ch *changes) neededByChildren(o *resource.Object, field *resource.Field) bool {
	return slices.ContainsFunc(ch.in.Desired, func(child *resource.Object) bool {
		return child.Parent == o && slices.Contains(child.Switches(), resource.Switch{Holder: o.Kind, Field: field})
	})
}

// keepHidden leaves a hidden object unchanged.
func (ch *changes) keepHidden(i objectID) {
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	ch.recordKnown(i)
	switch {
	case f.id == "": // its parent is hidden
	case f.keptDeleted:
		ch.leave(o, gapLeftDeleted)
	case !f.isAway(o):
		ch.leave(o, gapLeftAlone)
	case f.row != nil:
		ch.keepDifferences(i)
	default:
		why := gapReason{"archived, and no list shows them", "--refresh-all reads them"}
		if ch.in.RefreshAll {
			why = gapReason{why: "archived, and nothing shows them"}
		}
		ch.leave(o, why)
	}
}

// keepArchived leaves an archived object unchanged. It warns unless the manifest has the field archived.
func (ch *changes) keepArchived(i objectID) {
	o := ch.in.Desired[i]
	ch.recordKnown(i)
	if _, _, given := wantsArchived(o); given {
		ch.keepDifferences(i)
		return
	}
	ch.leave(o, gapLeftAlone)
	ch.diags.warn(o, "archived", string(o.Address)+" is archived on the service; it and its members are left as they are", "")
}

// leave leaves an object unchanged that is not compared.
func (ch *changes) leave(o *resource.Object, why gapReason) {
	ch.unchanged = append(ch.unchanged, o)
	ch.gaps.add(o, "", "", why)
}

// keepDifferences records the differences of an object that is archived as the manifest wants. They are kept.
func (ch *changes) keepDifferences(i objectID) {
	d := ch.compare(i)
	left := differences{kept: slices.Concat(d.send, d.kept, d.blocked)}
	if ch.recordDrift(i, &left, nil); len(left.kept) == 0 {
		ch.unchanged = append(ch.unchanged, ch.in.Desired[i])
	}
}

// archiveOperation returns the operation that archives or restores an object as the manifest wants, and the value of the manifest; nil = none is
// needed, or the API has none.
func (ch *changes) archiveOperation(i objectID) (*resource.Value, *resource.Operation) {
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	v, want, given := wantsArchived(o)
	verb := resource.Archive
	switch isNew := f.presence == absent; {
	case !given, !isNew && o.Ignores(v.Field), isNew && !want, !isNew && (f.row == nil || f.isArchived() == want):
		return nil, nil
	case !want:
		verb = resource.Unarchive
	}
	op, _ := o.Kind.Op(verb, ch.in.API)
	return v, op
}

func (ch *changes) planArchive(i objectID) {
	v, op := ch.archiveOperation(i)
	if op == nil {
		return
	}
	if reason := ch.whyUnarchivable(i); op.Verb == resource.Archive && reason != "" {
		var d differences
		d.block(v, refused(reason))
		ch.addBlocked(i, d.blocked)
		return
	}
	step := ch.steps.add(i, Update)
	step.Operation, step.Write.Values = op, []*resource.Value{v}
	step.changes = changesTo(step.Values())
	if len(step.changes) > 0 && ch.objects.states[i].presence == exists {
		step.changes[0].Was = v.Field.ValueOf(strconv.FormatBool(op.Verb == resource.Unarchive))
	}
}
