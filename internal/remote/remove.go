package remote

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// remove carries out a delete. That the thing is not there any more is what was
// wanted, so sending the request again is harmless.
func (s *Service) remove(ctx context.Context, step *planner.Step) (executor.Outcome, error) {
	_, err := s.client.Do(ctx, apiclient.Request{Operation: step.Operation, Params: step.Params})
	if err != nil && !gone(err) {
		return executor.Outcome{}, failure(step, err)
	}
	return executor.Outcome{ID: step.ID}, nil
}

// removeMembers takes members out of a container: one that stands in the path or
// in the body, or a list of them.
func (s *Service) removeMembers(ctx context.Context, step *planner.Step) (executor.Outcome, error) {
	ids := make([]string, len(step.Members.Items))
	for i := range step.Members.Items {
		ids[i] = step.Members.Items[i].ID
	}
	req := apiclient.Request{Operation: step.Operation, Params: maps.Clone(step.Params)}
	if m := step.Kind.Membership; step.Operation.TakesOne(step.Kind) && len(step.Operation.Body) == 0 {
		req.Params[resource.Must(m.Member).Param] = ids[0]
	} else {
		req.Body = m.IDs(step.Operation, ids)
	}
	_, err := s.client.Do(ctx, req)
	if err != nil && !(gone(err) && s.left(ctx, step, ids)) {
		return executor.Outcome{}, failure(step, err)
	}
	return executor.Outcome{Members: ids}, nil
}

// left reports whether none of the members is in the container, once the service
// said that something of the request is not there. One that is asked for alone is what it speaks of.
func (s *Service) left(ctx context.Context, step *planner.Step, ids []string) bool {
	if len(ids) == 1 {
		return true
	}
	in, told := s.membersIn(ctx, step, step.Params)
	return told && !slices.ContainsFunc(ids, func(id string) bool { return in[id] })
}

// gone reports whether the service says that what a request is about is not
// there. That the edition has no such route says nothing of that.
func gone(err error) bool {
	return errors.Is(err, apiclient.ErrNotFound) && !errors.Is(err, apiclient.ErrRouteAbsent)
}
