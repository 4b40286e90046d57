package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// adoptPredefined adopts an object that the service created together with its parent, and updates it to match the manifest.
func (w *write) adoptPredefined(ctx context.Context, r row) (executor.Outcome, error) {
	o := r.step.Object
	rows, err := w.listIn(ctx, r.step.Kind, o.Parent, w.ids)
	if err != nil {
		return executor.Outcome{}, stepError(r.step, err)
	}
	for _, predefined := range rows {
		if o.SameNaturalKey(predefined, w.idResolver(o, w.ids)) {
			return w.adoptExisting(ctx, r, predefined)
		}
	}
	return executor.Outcome{}, fmt.Errorf("the %s %q did not come with %s: apply again to create it", o.Kind.Noun(), o.Name(),
		o.Parent.Address)
}

// adoptConflicting adopts the object that the service names as the conflict of a create, if it is the wanted object. Archived objects and
// drafts conflict too, although no list shows them.
func (w *write) adoptConflicting(ctx context.Context, r row, cause *apiclient.Error) (executor.Outcome, error) {
	step := r.step
	op, ok := w.operation(step, resource.Get)
	if !ok {
		return executor.Outcome{}, stepError(step, cause)
	}
	res, err := w.client.Do(ctx, apiclient.Request{Operation: op, Params: r.paramsWith(cause.ExistingID)})
	switch {
	case errors.Is(err, apiclient.ErrNotFound):
		hidden := hiddenConflict(step, cause.ExistingID, "archived or a draft")
		if step.Kind.ListsAll() && w.traits.countRefusal(step) <= maxClearings {
			hidden = &executor.Pending{After: shortGrace, Err: hidden}
		}
		return executor.Outcome{}, hidden
	case err != nil || res.Row.ID() != cause.ExistingID:
		return executor.Outcome{}, stepError(step, cause)
	case w.plan.Marks().On(res.Row, step.Address), !step.Kind.AdoptOnRequestOnly &&
		step.Object.SameNaturalKey(res.Row, w.idResolver(step.Object, w.ids)):
		out, err := w.adoptExisting(ctx, r, res.Row)
		out.RecoveredByLookup, out.CreatedByUs = err == nil, false
		return out, err
	default:
		return executor.Outcome{}, stepError(step, cause)
	}
}

// maxClearings limits the repetitions of a create while the service still has the contents of a deleted object.
const maxClearings = 15

// hiddenConflict returns the error of a create whose object exists already but is in no list.
func hiddenConflict(step *planner.Step, id, why string) error {
	hint := "archived objects and drafts are in no list: restore or delete it on the service, or use another key"
	if step.Kind.ListsAll() {
		why, hint = "not in "+cmp.Or(addressOf(step.Object.Parent), "a list"), "the service deletes what was in a deleted object a little later: apply again then"
	}
	return diag.WithHint(fmt.Errorf("the service refuses to create %s: it exists already, with the ID %s, and is %s", step.Address, id, why), hint)
}

// adoptExisting updates an existing object to match the step. It sends only the fields that differ.
func (w *write) adoptExisting(ctx context.Context, r row, existing resource.Row) (executor.Outcome, error) {
	step := r.step
	if wrong := w.claimExisting(step, existing); wrong != nil {
		return executor.Outcome{}, unknownOutcome{wrong}
	}
	desired := w.desiredValues(step)
	existing = step.Kind.InZone(existing, step.Write.Zone)
	var differing, equal []*resource.Value
	for _, v := range step.Values() {
		want, ok := desired[v.Field]
		if have, known := v.Field.ObservedIn(existing); ok && (known && have != want || resource.IsCustom(v)) && !v.Field.Immutable {
			differing = append(differing, v)
		} else {
			equal = append(equal, v)
		}
	}
	op, ok := w.operation(step, resource.Update)
	if len(differing) == 0 || !ok {
		return w.createdOutcome(step, existing), nil
	}
	out := w.createdOutcome(step.Sending(equal), existing)
	change := step.Sending(differing)
	change.Action, change.Operation, change.ID = planner.Update, op, existing.ID()
	updated, err := w.update(ctx, row{step: change, params: r.paramsWith(change.ID)})
	if err != nil {
		return executor.Outcome{}, err
	}
	for _, v := range differing {
		if applied, ok := updated.Values[v.Field.Name]; ok {
			out.Values[v.Field.Name] = applied
			if shown, ok := updated.Values[planner.ShownKey(v.Field.Name)]; ok {
				out.Values[planner.ShownKey(v.Field.Name)] = shown
			}
		}
	}
	out.Warnings.Add(updated.Warnings...)
	out.LeftOut += updated.LeftOut
	return out, nil
}
