package remote

import (
	"context"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
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
