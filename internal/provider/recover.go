package provider

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// attempts is how often one create is sent, each time after looks that found nothing.
const attempts = 3

// lookupResult is what a look shows.
type lookupResult int

const (
	undetermined lookupResult = iota
	found
	absent
)

// resolveLostCreate looks what became of a create without an outcome. again says that it is
// not there and can be sent.
func (s *Service) resolveLostCreate(ctx context.Context, step *planner.Step, u *unresolved, params map[string]string, ids executor.IDs) (again bool, out executor.Outcome, err error) {
	row, v, err := s.findCreated(ctx, step, params)
	left := u.left()
	switch {
	case v == found && row.Hidden() != "":
		return false, out, standsInTheWay(step, row.ID(), row.Hidden())
	case v == found:
		out, err = s.adoptExisting(ctx, step, row, params, ids)
		out.RecoveredByLookup, out.CreatedByUs = err == nil, true
		return false, out, err
	case v == undetermined:
		return false, out, s.lookupFailed(step, u, err)
	case left > 0:
		u.blind = 0
		return false, out, &executor.Pending{After: u.next(), Err: u.reason()}
	case u.attempts == attempts:
		return false, out, failure(step, fmt.Errorf("sent %d times without an answer, and not found: %w", attempts, u.cause))
	default:
		return true, out, nil
	}
}

// lookupFailed is the error of a look that could not tell: where the service fails for a
// while, it is asked again.
func (s *Service) lookupFailed(step *planner.Step, u *unresolved, err error) error {
	const most = 5
	var e *apiclient.Error
	if errors.As(err, &e) && e.Transient() && u.blind < most {
		u.blind++
		return &executor.Pending{After: s.grace.Period / 6, Err: u.reason()}
	}
	switch {
	case err == nil:
		return u.reason()
	case u.cause == nil:
		return failure(step, err)
	default:
		return unknownOutcome{fmt.Errorf("%w; checking whether it exists failed: %w", u.cause, abortOnStop(err))}
	}
}

// resolveFailedCreate decides what becomes of a create that the service says it did not
// do: a service has been seen to say so after it had done it.
func (s *Service) resolveFailedCreate(ctx context.Context, step *planner.Step, u *unresolved, params map[string]string, ids executor.IDs, e *apiclient.Error) (out executor.Outcome, err error) {
	row, v, err := s.findCreated(ctx, step, params)
	switch {
	case v == found && row.Hidden() != "":
		return out, standsInTheWay(step, row.ID(), row.Hidden())
	case v == found:
		out, err = s.adoptExisting(ctx, step, row, params, ids)
		out.RecoveredByLookup, out.CreatedByUs = err == nil, e.Generic() || u != nil // else it was refused since another had made it
		return out, err
	case e.Status == 409 && e.ExistingID != "":
		return s.adoptConflicting(ctx, step, params, ids, e)
	case v == undetermined && u != nil:
		return out, s.lookupFailed(step, u, err)
	default:
		return out, failure(step, e)
	}
}

func (s *Service) usesExternalID(step *planner.Step) bool {
	return step.Kind.HasExternalID && s.plan.API == resource.Full
}

// findCreated looks for a thing whose creation was not answered: by the mark where the thing carries one, else by its natural key.
func (s *Service) findCreated(ctx context.Context, step *planner.Step, params map[string]string) (resource.Row, lookupResult, error) {
	list, ok := step.Kind.Op(resource.List, s.plan.API)
	if !ok {
		return nil, undetermined, nil
	}
	marked := s.usesExternalID(step)
	if !marked && step.Kind.AdoptOnRequestOnly {
		return nil, undetermined, nil
	}
	if marked && slices.Contains(list.Query, "external_id") {
		return s.findByExternalID(ctx, step, list, params)
	}
	rows, err := s.client.List(ctx, apiclient.Request{Operation: list, Params: params})
	if err != nil {
		return nil, undetermined, err
	}
	mark := resource.ExternalID(s.plan.Workspace, step.Address)
	var hits []resource.Row
	for _, row := range rows {
		if marked && row.HasExternalID(mark) || !marked && sameNatural(step.Object, row) {
			hits = append(hits, row)
		}
	}
	switch len(hits) {
	case 0:
		return nil, absent, nil
	case 1:
		return hits[0], found, nil
	default:
		return nil, undetermined, &ambiguousError{fmt.Errorf("the service has %d objects that could be %s", len(hits), step.Address)}
	}
}

// findByExternalID asks the service for the one thing that carries the step's mark.
func (s *Service) findByExternalID(ctx context.Context, step *planner.Step, list *resource.Operation, params map[string]string) (resource.Row, lookupResult, error) {
	mark := resource.ExternalID(s.plan.Workspace, step.Address)
	res, err := s.client.Do(ctx, apiclient.Request{Operation: list, Params: params, Query: externalIDQuery(mark)})
	var e *apiclient.Error
	switch {
	case errors.Is(err, apiclient.ErrNotFound):
		return nil, absent, nil
	case errors.As(err, &e) && e.Status == 500:
		return nil, undetermined, &ambiguousError{fmt.Errorf("the service cannot look up the external ID of %s, probably because several objects have it: %w", step.Address, err)}
	case err != nil:
		return nil, undetermined, err
	case !res.Row.HasExternalID(mark):
		return nil, undetermined, errors.New("the service answered a look-up by external ID with a different object")
	default:
		return res.Row, found, nil
	}
}

// ambiguousError is a look that found several objects where there is to be one.
type ambiguousError struct{ error }

func (e *ambiguousError) Unwrap() error { return e.error }

// checkSingle makes sure that a create which was sent again made the only such object:
// what was given up may have been carried out at the same moment.
func (s *Service) checkSingle(ctx context.Context, step *planner.Step, params map[string]string, out *executor.Outcome) {
	_, _, err := s.findCreated(ctx, step, params)
	if _, doubled := errors.AsType[*ambiguousError](err); !doubled {
		return
	}
	out.Warnings.Add(diag.Diagnostic{
		Severity: diag.Warning, Code: "doubled", Position: step.Position, Address: string(step.Address),
		Summary: string(step.Address) + " is on the service twice: a request without an answer took effect after it was repeated",
		Hint:    "keep the one with the ID " + out.ID + " (it is in the state file) and delete the other",
	})
}

// externalIDQuery looks for the thing that carries a mark.
func externalIDQuery(mark string) url.Values {
	return url.Values{"external_id": {mark}, "external_source": {resource.ExternalSource}}
}
