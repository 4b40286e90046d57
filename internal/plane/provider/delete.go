package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// delete carries out a delete. It succeeds if the object does not exist any more, so repeating the request is harmless. It fails if the
// service still shows the object, and the state keeps it.
func (s *Service) delete(ctx context.Context, step *planner.Step) (executor.Outcome, error) {
	err := s.archiveFirst(ctx, step)
	if err == nil {
		_, err = s.client.Do(ctx, apiclient.Request{Operation: step.Operation, Params: step.Params})
	}
	if err != nil && !isNotFound(err) {
		return executor.Outcome{}, explainRefusedDelete(step, stepError(step, err))
	}
	if get, ok := step.Kind.Op(resource.Get, s.plan.API); ok && err == nil {
		res, err := s.client.Do(ctx, apiclient.Request{Operation: get, Params: step.Params})
		if err == nil && res.Row.ID() == step.ID {
			return executor.Outcome{}, diag.WithHint(
				fmt.Errorf("the service answered that it deleted %s, and still shows it", step.Address), "run the same command again later")
		}
	}
	return executor.Outcome{Record: planner.Record{ID: step.ID}}, nil
}

// archiveFirst archives and unlocks an object if its delete requires it.
func (s *Service) archiveFirst(ctx context.Context, step *planner.Step) error {
	op, ok := s.operation(step, resource.Update)
	if !ok || !step.ArchivesFirst() {
		return nil
	}
	_, err := s.client.Do(ctx, apiclient.Request{Operation: op, Params: step.Params, Body: step.Kind.BeforeDelete(time.Now())})
	return err //nolint:wrapcheck // an error of the client, like that of the delete
}

// explainRefusedDelete adds a possible reason why the service refuses to delete an object: other objects that no list shows.
func explainRefusedDelete(step *planner.Step, err error) error {
	e, refused := errors.AsType[*apiclient.Error](err)
	if !refused || e.Effect != apiclient.Rejected || step.Deletion == nil || step.Deletion.Loss == nil {
		return err
	}
	for _, c := range step.Deletion.Loss.Contents {
		if c.Where == planner.Unlisted {
			return diag.WithHint(err, diag.Count(c.Count, c.Noun)+
				" may use it that no list shows (archived or a draft): restore it in Plane and give it another "+step.Kind.Noun())
		}
	}
	return err
}

// checkUnused returns an error if others have added members to the object since the plan was made.
func (s *Service) checkUnused(ctx context.Context, step *planner.Step, g planner.Guard) error {
	answer, err := ask(ctx, s.client, g.Read)
	if err != nil {
		return stepError(step, err)
	}
	m := resource.MustLookup(g.Read.Operation.Kind).Membership
	n := 0
	for _, row := range selectList(answer, g.Read.Operation, false).Rows {
		if _, planned := slices.BinarySearch(g.Members, m.MemberID(row)); !planned {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return diag.WithHint(
		fmt.Errorf("%s was not deleted: it now contains %s added by others", step.Address, diag.Count(n, resource.MustLookup(m.Member).Noun())),
		"run plan again to see them")
}
