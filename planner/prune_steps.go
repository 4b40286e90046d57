package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/graph"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// pruning is the stage that plans the deletions, and reports the orphans that stay.
type pruning struct {
	analysis

	refs        *references
	orphans     *orphans
	memberships *memberships
	steps       *steps
	plan        *Plan
}

// namesIn returns the names of the objects that an orphan refers to, by ID.
func (pn *pruning) namesIn(l *orphan) map[string]string {
	names := map[string]string{}
	for i := range l.info.kind.Fields {
		f := &l.info.kind.Fields[i]
		if text, _ := f.TextIn(l.row); f.IsRef() && text != "" {
			for id := range strings.SplitSeq(text, ",") {
				names[id] = pn.refs.nameID(f.Ref, id)
			}
		}
	}
	return names
}

// deletions returns the steps that delete orphans. They come after all other steps; each needs the steps of objects that refer to its orphan.
func (pn *pruning) deletions() (steps []*Step) {
	before, namedBy := map[*orphan][]*Step{}, map[*orphan][]*orphan{}
	for _, l := range pn.orphans.list {
		for _, of := range pn.orphans.usedBy[l.record.ID] {
			id := serviceID{of.kind.kind.Name, of.row.ID()}
			if i, wanted := pn.objects.owners[id]; wanted && pn.steps.of[i] != nil {
				before[l] = append(before[l], pn.steps.of[i])
			}
			if other := pn.orphans.createdByUs[id]; other != nil {
				namedBy[l] = append(namedBy[l], other)
			}
		}
	}
	add := func(l *orphan, d *Deletion) *Step {
		l.step = &Step{Address: l.record.Address, Action: Delete, Kind: l.info.kind, ID: l.record.ID, Params: l.params, Deletion: d}
		row := pn.orphans.rowOf(l)
		l.step.Identifier = cmp.Or(pn.orphans.readableID(l.info.kind, l.record.Address.Parent(), row), l.record.Identifier)
		l.step.Name = cmp.Or(l.info.kind.DisplayTexts(row)...)
		steps = append(steps, l.step)
		return l.step
	}
	children := slices.Clone(pn.orphans.list)
	slices.Reverse(children)
	graph.DepthFirst(children, func(l *orphan) []*orphan { return namedBy[l] }, func(l *orphan) {
		if l.decision == toDelete {
			pn.orphans.block(l, pn.notMoved(l)...)
		}
		switch {
		case l.decision == toDelete:
			step := add(l, &Deletion{Guards: l.guards, Loss: l.loss, Row: l.row, Record: l.record, Names: pn.namesIn(l)})
			step.Operation, step.needs = l.info.delete, before[l]
			for _, other := range namedBy[l] {
				if other.step != nil { // nil if the orphans refer to each other
					step.needs = append(step.needs, other.step)
				}
			}
		case l.decision == blocked && l.record.Protect:
			what, hint := string(l.record.Address)+" is protected, and no longer in the manifest", "add it again; to delete it, apply protect: false first"
			if pn.in.Deletes != nil {
				what, hint = "undo would delete "+string(l.record.Address)+", which is protected", "apply protect: false first"
			}
			pn.diags.add(diag.Error, diag.Position{}, l.record.Address, "protected", what, hint)
		case l.decision == blocked:
			add(l, nil).block(l.cause().withPrefix("it would be deleted, but "))
		}
	}, func([]*orphan) {})
	for _, l := range pn.orphans.list { // parents first
		switch {
		case l.decision != deleteWithParent:
		case !l.parent.isDeleted():
			l.decision = leftInParent
		default:
			add(l, &Deletion{With: "with " + string(l.parent.record.Address), Row: l.row, Record: l.record, Names: pn.namesIn(l)}).needs = []*Step{l.parent.step}
		}
	}
	return steps
}

// notMoved returns a cause for each object below an orphan that the run should move away and cannot, or that stays below for such an object.
func (pn *pruning) notMoved(l *orphan) (causes []Cause) {
	field := parentField(l.info.kind)
	for _, below := range pn.orphans.usedBy[l.record.ID] {
		id := serviceID{l.info.kind.Name, below.row.ID()}
		i, wanted := pn.objects.owners[id]
		moves := func(v *resource.Value) bool { return v.Field == field }
		stays := wanted && (pn.steps.of[i] == nil || !slices.ContainsFunc(pn.steps.of[i].Values(), moves))
		if ours := pn.orphans.createdByUs[id]; below.field == field && (stays || ours != nil && ours.decision == blocked) {
			causes = append(causes, refused(label(l.info.kind, below.row)+" below it stays"))
		}
	}
	return causes
}
