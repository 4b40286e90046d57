package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// lookupResult is the result of a look-up.
type lookupResult int

const (
	undetermined lookupResult = iota
	found
	absent
)

// resolveLostCreate looks up the outcome of a create without an answer. again says that the
// object does not exist and the create can be sent.
func (s *Service) resolveLostCreate(ctx context.Context, step *planner.Step, u *lostCreate, params map[string]string, ids executor.IDs) (again bool, out executor.Outcome, err error) {
	begin := time.Now()
	if u.costly && u.brief() && u.wait == 0 && begin.Before(u.end()) {
		return false, out, &executor.Pending{After: u.next(), Err: u.reason()}
	}
	row, v, err := s.findCreated(ctx, step, params)
	switch {
	case v == found:
		out, err = s.adoptOwn(ctx, step, row, params, ids)
		return false, out, err
	case v == undetermined:
		return false, out, s.lookupFailed(step, u, err)
	case begin.Before(u.end()): // it may have been carried out since
		u.failedLookups = 0
		return false, out, &executor.Pending{After: u.next(), Err: u.reason()}
	case u.exhausted():
		return false, out, failure(step, u.exhaustion())
	default:
		return true, out, nil
	}
}

// adoptOwn takes an object that a create of planform made.
func (s *Service) adoptOwn(ctx context.Context, step *planner.Step, row resource.Row, params map[string]string, ids executor.IDs) (executor.Outcome, error) {
	if why := row.Hidden(); why != "" {
		return executor.Outcome{}, hiddenConflict(step, row.ID(), why)
	}
	out, err := s.adoptExisting(ctx, step, row, params, ids)
	out.RecoveredByLookup, out.CreatedByUs = err == nil, true
	return out, err
}

// foundError ends a create that is about to be repeated, since its object is there.
type foundError struct{ row resource.Row }

func (*foundError) Error() string { return "it was created by the request that was refused" }

// lookAgain looks for the object of a create that was refused for the moment before it is sent again, where the service
// takes a second one. Where nothing can tell, the service is taken at its word.
func (s *Service) lookAgain(step *planner.Step, params map[string]string) func(context.Context) error {
	if step.Action != planner.Create || !s.takesTwo(step) {
		return nil
	}
	return func(ctx context.Context) error {
		switch row, v, err := s.findCreated(ctx, step, params); {
		case v == found:
			return &foundError{row}
		case err != nil:
			return unknownOutcome{err}
		default:
			return nil
		}
	}
}

// lookupFailed is the error of a look-up without a result. If the service fails for a
// while, the look-up is repeated.
func (s *Service) lookupFailed(step *planner.Step, u *lostCreate, err error) error {
	var e *apiclient.Error
	if errors.As(err, &e) && e.Transient() && u.failedLookups < maxFailedLookups {
		u.failedLookups++
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

// resolveFailedCreate looks up the outcome of a create that the service refused: it has
// been seen to answer with an error after it had created the object.
func (s *Service) resolveFailedCreate(ctx context.Context, step *planner.Step, u *lostCreate, params map[string]string, ids executor.IDs, e *apiclient.Error) (out executor.Outcome, err error) {
	row, v, err := s.findCreated(ctx, step, params)
	switch {
	case v == found && row.Hidden() != "":
		return out, hiddenConflict(step, row.ID(), row.Hidden())
	case v == found:
		out, err = s.adoptExisting(ctx, step, row, params, ids)
		out.RecoveredByLookup, out.CreatedByUs = err == nil, e.Generic() || u != nil || e.Doubted // else it was refused because somebody else had created it
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
	return step.Kind.HasExternalID && s.plan.API.Wide()
}

// findCreated looks for the object of a create without an answer: by its external ID if it
// has one, else by its natural key.
func (s *Service) findCreated(ctx context.Context, step *planner.Step, params map[string]string) (resource.Row, lookupResult, error) {
	if s.onlyNumbersTell(step) {
		return s.findByNumber(ctx, step)
	}
	list, ok := s.operation(step, resource.List)
	if !ok {
		return nil, undetermined, nil
	}
	byExternalID := s.usesExternalID(step)
	if !byExternalID && step.Kind.AdoptOnRequestOnly {
		return nil, undetermined, nil
	}
	if byExternalID && slices.Contains(list.Query, "external_id") {
		for _, id := range s.allExternalIDs(step) {
			if row, v, err := s.findByExternalID(ctx, step, list, params, id); v != absent {
				return row, v, err
			}
		}
		return nil, absent, nil
	}
	rows, err := s.client.List(ctx, apiclient.Request{Operation: list, Params: params})
	if err != nil {
		return nil, undetermined, err
	}
	externalIDs := s.allExternalIDs(step)
	var hits []resource.Row
	for _, row := range rows {
		if row.ID() == step.Replaces {
			continue
		}
		if byExternalID && slices.ContainsFunc(externalIDs, row.HasExternalID) && step.Object.SameContent(row) || !byExternalID && sameNaturalKey(step.Object, row) {
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

// onlyNumbersTell reports whether objects of the step's kind can be read by their numbers only: the documented operations
// list no work items.
func (s *Service) onlyNumbersTell(step *planner.Step) bool {
	_, finds := s.operation(step, resource.Find)
	_, lists := s.operation(step, resource.List)
	return finds && !lists && step.Kind.Numbered()
}

// findByNumber looks for the object of a create as the planner does after a run that died: among those with numbers that are
// new since.
func (s *Service) findByNumber(ctx context.Context, step *planner.Step) (resource.Row, lookupResult, error) {
	in := planner.Input{Workspace: s.plan.Workspace, API: s.plan.API, Prior: s.state.Prior(), Observed: planner.Observed{}}
	maps.DeleteFunc(in.Prior, func(a resource.Address, _ planner.Record) bool { return !a.IsObject() })
	var lost []*resource.Object // those of this name, of which one may have made what another seems to have
	for _, other := range s.plan.Steps {
		r, ok := in.Prior[other.Address]
		if !ok || other.Action != planner.Create || other.Kind != step.Kind || other.Object.Parent != step.Object.Parent || other.Object.Name() != step.Object.Name() || r.PendingIntent == nil {
			continue
		}
		r.ID, r.Identifier = "", "" // of what it is to replace
		in.Prior[other.Address], lost = r, append(lost, other.Object)
	}
	in.Desired = planner.WithNeeded(lost)
	reader := &Reader{Client: s.client, API: in.API, Observed: in.Observed}
	for {
		rows, reads, decided := planner.FindLost(in, step.Object)
		switch {
		case len(reads) > 0:
			if err := reader.Read(ctx, reads); err != nil {
				return nil, undetermined, err
			}
		case !decided:
			return nil, undetermined, nil
		case len(rows) == 0:
			return nil, absent, nil
		case len(rows) == 1:
			return rows[0], found, nil
		default:
			return nil, undetermined, &ambiguousError{fmt.Errorf("the service has %d objects that could be %s", len(rows), step.Address)}
		}
	}
}

// allExternalIDs are those of a step's object, and those that it had before: an earlier run may have sent it with one of them.
func (s *Service) allExternalIDs(step *planner.Step) []string {
	var ids []string
	for _, a := range planner.AllAddresses(step.Object) {
		ids = append(ids, resource.ExternalID(s.plan.Workspace, a))
	}
	return ids
}

// findByExternalID asks the service for the one object with an external ID.
func (s *Service) findByExternalID(ctx context.Context, step *planner.Step, list *resource.Operation, params map[string]string, externalID string) (resource.Row, lookupResult, error) {
	res, err := s.client.Do(ctx, apiclient.Request{Operation: list, Params: params, Query: externalIDQuery(externalID)})
	var e *apiclient.Error
	switch {
	case errors.Is(err, apiclient.ErrNotFound):
		return nil, absent, nil
	case errors.As(err, &e) && e.Status == 500:
		return nil, undetermined, &ambiguousError{fmt.Errorf("the service cannot look up the external ID of %s, probably because several objects have it: %w", step.Address, err)}
	case err != nil:
		return nil, undetermined, err
	case !res.Row.HasExternalID(externalID):
		return nil, undetermined, errors.New("the service answered a look-up by external ID with a different object")
	default:
		return res.Row, found, nil
	}
}

// ambiguousError is the error of a look-up that found several objects instead of one.
type ambiguousError struct{ error }

func (e *ambiguousError) Unwrap() error { return e.error }

// checkSingle warns if the object of a create that was sent again exists twice: the
// service may have carried out the first request at the same time.
func (s *Service) checkSingle(ctx context.Context, step *planner.Step, u *lostCreate, params map[string]string, out *executor.Outcome) {
	if u.costly && u.brief() {
		return
	}
	_, _, err := s.findCreated(ctx, step, params)
	if _, several := errors.AsType[*ambiguousError](err); !several {
		return
	}
	out.Warnings.Add(diag.Diagnostic{
		Severity: diag.Warning, Code: "doubled", Position: step.Position, Address: string(step.Address),
		Summary: string(step.Address) + " is on the service twice: a request without an answer took effect after it was repeated",
		Hint:    "keep the one with the ID " + out.ID + " (it is in the state file) and delete the other",
	})
}

// externalIDQuery looks for the object with an external ID of planform.
func externalIDQuery(id string) url.Values {
	return url.Values{"external_id": {id}, "external_source": {resource.ExternalSource}}
}
