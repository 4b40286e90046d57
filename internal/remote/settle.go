package remote

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// attempts is how often one create is sent, each time after looks that found nothing.
const attempts = 3

// verdict is what a look shows.
type verdict int

const (
	cannotTell verdict = iota
	found
	notThere
)

// afterFailure decides what becomes of a create that was not answered with
// success: it is found to have happened, it may be sent again, or it failed.
func (s *Service) afterFailure(ctx context.Context, step *planner.Step, params map[string]string, ids executor.IDs, cause error) (again bool, out executor.Outcome, err error) {
	var e *apiclient.Error
	if errors.As(cause, &e) && e.Fate != apiclient.Unknown && e.Fate != apiclient.Refused || e == nil && !errors.Is(cause, executor.ErrUnknown) {
		return false, out, failure(step, cause)
	}
	unknown := e == nil || e.Fate == apiclient.Unknown
	row, v, err := s.look(ctx, step, params, unknown)
	switch {
	case v == found:
		out, err = s.take(ctx, step, row, params, ids)
		out.Settled, out.Made = err == nil, unknown || e.Vague() // else it was refused since another had made it
		return false, out, err
	case e != nil && e.Status == 409 && e.ExistingID != "":
		out, err = s.met(ctx, step, params, ids, e)
		return false, out, err
	case !unknown:
		return false, out, failure(step, cause) // refused, and indeed not there
	case v == notThere:
		return true, out, failure(step, fmt.Errorf("sent %d times without an answer: %w", attempts, cause))
	case err != nil:
		return false, out, unknownFate{fmt.Errorf("%w; and looking for it failed: %w", cause, stopping(err))}
	default:
		return false, out, unknownFate{cause}
	}
}

func (s *Service) marks(step *planner.Step) bool {
	return step.Kind.Marks && s.plan.API == resource.Full
}

// look finds out whether a thing is there whose creation was not answered.
// patiently looks again, for as long as the request may still be carried out,
// before it says that it is not.
func (s *Service) look(ctx context.Context, step *planner.Step, params map[string]string, patiently bool) (resource.Row, verdict, error) {
	patience := time.Duration(0)
	if patiently {
		patience = s.patience
	}
	wait := &backoff.ExponentialBackOff{InitialInterval: patience / 256, RandomizationFactor: 0.3, Multiplier: 4, MaxInterval: patience / 6}
	wait.Reset()
	for end := time.Now().Add(patience); ; {
		left := time.Until(end)
		row, v, err := s.lookOnce(ctx, step, params)
		if v != notThere || err != nil || left <= 0 {
			return row, v, err
		}
		select {
		case <-ctx.Done():
			return nil, cannotTell, ctx.Err()
		case <-s.client.Stopped():
			return nil, cannotTell, apiclient.ErrStopped
		case <-time.After(min(wait.NextBackOff(), max(0, time.Until(end)))):
		}
	}
}

// lookOnce looks by the mark where the thing carries one, else by its natural key.
func (s *Service) lookOnce(ctx context.Context, step *planner.Step, params map[string]string) (resource.Row, verdict, error) {
	list, ok := step.Kind.Op(resource.List, s.plan.API)
	if !ok {
		return nil, cannotTell, nil
	}
	marked := s.marks(step)
	if !marked && step.Kind.AdoptAsked {
		return nil, cannotTell, nil
	}
	if marked && slices.Contains(list.Query, "external_id") {
		return s.byMark(ctx, step, list, params)
	}
	rows, err := s.client.List(ctx, apiclient.Request{Operation: list, Params: params})
	if err != nil {
		return nil, cannotTell, err
	}
	mark := resource.Mark(s.plan.Workspace, step.Address)
	var hits []resource.Row
	for _, row := range rows {
		if marked && row.Marked(mark) || !marked && sameNatural(step.Object, row) {
			hits = append(hits, row)
		}
	}
	switch len(hits) {
	case 0:
		return nil, notThere, nil
	case 1:
		return hits[0], found, nil
	default:
		return nil, cannotTell, fmt.Errorf("the service has %d things that could be %s", len(hits), step.Address)
	}
}

// byMark asks the service for the one thing that carries the step's mark.
func (s *Service) byMark(ctx context.Context, step *planner.Step, list *resource.Operation, params map[string]string) (resource.Row, verdict, error) {
	mark := resource.Mark(s.plan.Workspace, step.Address)
	res, err := s.client.Do(ctx, apiclient.Request{Operation: list, Params: params, Query: markQuery(mark)})
	var e *apiclient.Error
	switch {
	case errors.Is(err, apiclient.ErrNotFound):
		return nil, notThere, nil
	case errors.As(err, &e) && e.Status == 500:
		return nil, cannotTell, fmt.Errorf("the service cannot look up the mark of %s, which it answers when several things carry it: %w", step.Address, err)
	case err != nil:
		return nil, cannotTell, err
	case !res.Row.Marked(mark):
		return nil, cannotTell, errors.New("the service answered a look-up by mark with something else")
	default:
		return res.Row, found, nil
	}
}

// markQuery looks for the thing that carries a mark.
func markQuery(mark string) url.Values {
	return url.Values{"external_id": {mark}, "external_source": {resource.MarkSource}}
}
