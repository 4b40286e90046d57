package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// setArchived archives or restores an object. The state does not record this, because the service shows it.
func (w *write) setArchived(ctx context.Context, r row) (executor.Outcome, error) {
	step, id := r.step, r.params[r.step.Kind.Param]
	if id == "" {
		return executor.Outcome{}, fmt.Errorf("%s is not on the service", step.Address)
	}
	var body []byte
	for _, field := range step.Operation.Body {
		body = fmt.Appendf(nil, `{%q:null}`, field)
		if step.Operation.Verb == resource.Archive {
			body = fmt.Appendf(nil, `{%q:%q}`, field, today())
		}
	}
	res, err := w.client.Do(ctx, apiclient.Request{Operation: step.Operation, Params: r.params, Body: body})
	if errors.Is(err, apiclient.ErrNotFound) && step.Operation.Verb == resource.Archive && w.isHidden(ctx, r) {
		return executor.Outcome{Record: planner.Record{ID: id}}, nil // a request of an earlier run was carried out after the plan read the object
	}
	if err != nil {
		return executor.Outcome{}, stepError(step, err)
	}
	if at, shown := res.Row["archived_at"]; shown && (at != nil) != (step.Operation.Verb == resource.Archive) {
		return executor.Outcome{}, stepError(step, errors.New("the service accepts the request and changes nothing: this edition cannot do that"))
	}
	return executor.Outcome{Record: planner.Record{ID: id}}, nil
}

func today() string { return time.Now().Format(time.DateOnly) }

// isHidden reports whether the service no longer shows an object that the plan saw, like an archived one.
func (w *write) isHidden(ctx context.Context, r row) bool {
	get, ok := w.operation(r.step, resource.Get)
	if !ok {
		return false
	}
	_, err := w.client.Do(ctx, apiclient.Request{Operation: get, Params: r.params})
	return errors.Is(err, apiclient.ErrNotFound)
}
