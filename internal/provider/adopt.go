package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// adoptPredefined adopts an object that the service created together with its parent, and
// makes it match the manifest.
func (s *Service) adoptPredefined(ctx context.Context, step *planner.Step, params map[string]string, ids executor.IDs) (executor.Outcome, error) {
	rows, err := s.listIn(ctx, step.Kind, step.Object.Parent, ids)
	if err != nil {
		return executor.Outcome{}, failure(step, err)
	}
	for _, row := range rows {
		if sameNaturalKey(step.Object, row) {
			return s.adoptExisting(ctx, step, row, params, ids)
		}
	}
	return executor.Outcome{}, fmt.Errorf("the %s %q did not come with %s: apply again to create it", step.Kind.Noun(), step.Object.Name(), step.Object.Parent.Address)
}

// adoptConflicting adopts the object that the service names as the conflict of a create, if
// it is the wanted one. Archived objects and drafts conflict too, and no list shows them.
func (s *Service) adoptConflicting(ctx context.Context, step *planner.Step, params map[string]string, ids executor.IDs, cause *apiclient.Error) (executor.Outcome, error) {
	op, ok := s.operation(step, resource.Get)
	if !ok {
		return executor.Outcome{}, failure(step, cause)
	}
	at := maps.Clone(params)
	at[step.Kind.Param] = cause.ExistingID
	res, err := s.client.Do(ctx, apiclient.Request{Operation: op, Params: at})
	switch {
	case errors.Is(err, apiclient.ErrNotFound):
		return executor.Outcome{}, hiddenConflict(step, cause.ExistingID, "archived or a draft")
	case err != nil || res.Row.ID() != cause.ExistingID:
		return executor.Outcome{}, failure(step, cause)
	case res.Row.HasExternalID(resource.ExternalID(s.plan.Workspace, step.Address)), !step.Kind.AdoptOnRequestOnly && sameNaturalKey(step.Object, res.Row):
		out, err := s.adoptExisting(ctx, step, res.Row, params, ids)
		out.RecoveredByLookup, out.CreatedByUs = err == nil, false
		return out, err
	default:
		return executor.Outcome{}, failure(step, cause)
	}
}

// hiddenConflict is the error of a create whose object exists already, where no list shows it.
func hiddenConflict(step *planner.Step, id, why string) error {
	return diag.WithHint(
		fmt.Errorf("the service refuses to create %s: it exists already, with the ID %s, and is %s", step.Address, id, why),
		"archived objects and drafts are in no list: restore or delete it on the service, or use another key")
}

// adoptExisting makes an existing object match the step: fields that differ are sent.
func (s *Service) adoptExisting(ctx context.Context, step *planner.Step, row resource.Row, params map[string]string, ids executor.IDs) (executor.Outcome, error) {
	if wrong := s.claim(step, row, false); wrong != nil {
		return executor.Outcome{}, unknownOutcome{wrong}
	}
	desired := s.desired(step, ids)
	row = step.Kind.InZone(row, step.Zone)
	var differing []*resource.Value
	for _, v := range step.Values {
		want, ok := desired[v.Field]
		if have, known := v.Field.ObservedIn(row); ok && (known && have != want || resource.IsCustom(v)) && !v.Field.Immutable {
			differing = append(differing, v)
		}
	}
	out := s.created(step, row, ids)
	op, ok := s.operation(step, resource.Update)
	if len(differing) == 0 || !ok {
		return out, nil
	}
	change := *step
	change.Action, change.Operation, change.ID, change.Values = planner.Update, op, row.ID(), differing
	params[step.Kind.Param] = change.ID
	updated, err := s.update(ctx, &change, params, ids)
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
	out.Warnings = updated.Warnings
	return out, nil
}

// sameNaturalKey reports whether a row of the service has the natural key of an object.
func sameNaturalKey(o *resource.Object, row resource.Row) bool {
	for _, name := range o.Kind.NaturalKey {
		v, ok := o.Value(name)
		if !ok {
			continue
		}
		want, _ := v.Desired(nil) // a natural key holds no reference
		if shown, known := v.Field.ObservedIn(row); known && shown == want && o.SameContent(row) {
			return true
		}
	}
	return false
}
