package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// maxBatchBytes limits the rows of one request. The limit of API v2 is not documented; API v1 accepts 5 MiB.
const maxBatchBytes = 4 << 20

// write carries out steps with as few requests as possible: a batch, or one step alone. Rows succeed and fail one by one (all_or_none
// false). The outcome of a row is looked up by its external ID in the same way, whether it was refused, its answer was lost, or an earlier
// run sent it. Nothing depends on the service rolling back a batch.
type write struct {
	*Service

	ids         executor.IDs
	op          *resource.Operation // of API v2, for several rows; nil = each row is sent alone
	attempts    []executor.Attempt
	tooSlow     bool                   // the last request was too slow
	customNamed map[*planner.Step]bool // steps whose custom fields have known names in API v2
}

// row is one step of a write.
type row struct {
	at     int // index of its attempt
	step   *planner.Step
	params map[string]string // of its path
	lost   *lostCreate       // an earlier create without an answer; nil = none
}

// paramsWith returns the path parameters of a request about an object with this ID.
func (r row) paramsWith(id string) map[string]string {
	params := maps.Clone(r.params)
	params[r.step.Kind.Param] = id
	return params
}

// Do carries out the steps of one batch, or one step alone. It implements [executor.Service].
func (s *Service) Do(ctx context.Context, steps []*planner.Step, ids executor.IDs) []executor.Attempt {
	known := ids
	ids = func(a resource.Address) (string, bool) {
		if s.claims.isDisputed(a) {
			return "", false
		}
		return known(a)
	}
	w := &write{Service: s, ids: ids, attempts: make([]executor.Attempt, len(steps)), customNamed: map[*planner.Step]bool{}}
	if steps[0].Batch != 0 {
		w.op = steps[0].Bulk
	}
	unanswered := s.client.Unanswered()
	var rows, lost []row
	for i, step := range steps {
		r, err := w.prepareRow(ctx, row{at: i, step: step, lost: s.lostCreate(step)})
		switch {
		case err != nil:
			w.attempts[i].Err = err
		case r.lost != nil:
			lost = append(lost, r)
		default:
			rows = append(rows, r)
		}
	}
	rows = append(rows, w.settle(ctx, lost)...)
	slices.SortFunc(rows, func(x, y row) int { return x.at - y.at })
	w.sendAll(ctx, rows)
	latest := s.client.Unanswered()
	for i, step := range steps {
		a := &w.attempts[i]
		if s.cleanUpSecret(step, a); a.Err == nil {
			switch {
			case step.Action == planner.Create:
				a.Outcome.Record.Late = s.duplicateUntil(step, a.Outcome.RecoveredByLookup)
			case latest.After(unanswered): // of these steps, or of a step sent at the same time, which could undo the next one
				a.Outcome.Record.Late = s.grace.end(latest)
			}
			s.memory.remember(step, a.Outcome, ids)
		}
	}
	return w.attempts
}

// prepareRow prepares a row for sending. A row with an error is not sent.
func (w *write) prepareRow(ctx context.Context, r row) (row, error) {
	var err error
	switch r.step.Action {
	case planner.Delete, planner.RemoveMembers:
		r.params = r.step.Params
	default:
		r.params, err = w.pathParams(r.step, w.ids)
	}
	if r.step.Action == planner.Update && w.claims.isDisputed(r.step.Address) {
		err = fmt.Errorf("the service gave the ID of %s to another object, too: plan again", r.step.Address)
	}
	if err == nil && r.step.Object != nil {
		err = w.resolveRuntimeNames(ctx, r.step)
	}
	if err == nil && w.op != nil && slices.ContainsFunc(r.step.Values(), resource.IsCustom) {
		w.customNamed[r.step] = w.loadCustomNames(ctx, r)
	}
	if r.step.Deletion != nil {
		for _, g := range r.step.Deletion.Guards {
			err = errors.Join(err, w.checkUnused(ctx, r.step, g))
		}
	}
	return r, err
}

// sendAll sends rows that may share a request in requests within the limits, and the others alone.
func (w *write) sendAll(ctx context.Context, rows []row) {
	rows = slices.DeleteFunc(rows, func(r row) bool {
		alone := w.op == nil || r.step.OnlyCustom() && !w.hasCustomInBody(r.step)
		if alone {
			w.sendAlone(ctx, []row{r})
		}
		return alone
	})
	for len(rows) > 0 {
		n, bodies := w.takeRows(rows)
		if n == 1 && !slices.ContainsFunc(rows[0].step.Values(), resource.IsCustom) || w.traits.lacks(w.op) {
			w.sendAlone(ctx, rows[:n])
		} else {
			w.sendBatch(ctx, rows[:n], bodies)
		}
		rows = rows[n:]
	}
}

// sendAlone sends each row in a request of its own, as without API v2.
func (w *write) sendAlone(ctx context.Context, rows []row) {
	for _, r := range rows {
		a := &w.attempts[r.at]
		a.Outcome, a.Err = w.withoutBulk().carryOut(ctx, r)
	}
}

// withoutBulk returns the same write without its operation for several rows.
func (w *write) withoutBulk() *write {
	alone := *w
	alone.op = nil
	return &alone
}

// carryOut carries out one step: one write request, or the three requests of an upload, and reads if its outcome is unknown.
func (w *write) carryOut(ctx context.Context, r row) (executor.Outcome, error) {
	step := r.step
	done, err := w.lockListWrites(ctx, step)
	if err != nil {
		return executor.Outcome{}, err
	}
	defer done()
	switch {
	case step.Action == planner.Delete && step.Operation == nil: // deleted with its parent
		return executor.Outcome{Record: planner.Record{ID: step.ID}}, nil
	case step.Operation == nil && step.ID != "" && step.Members == nil:
		return w.appliedOutcome(step, step.ID, w.desiredValues(step)), nil
	}
	switch step.Action {
	case planner.Create:
		return w.create(ctx, r)
	case planner.Update:
		if step.Members != nil {
			return w.updateMember(ctx, r)
		}
		switch step.Operation.Verb { //nolint:exhaustive // other verbs change fields
		case resource.Archive, resource.Unarchive:
			return w.setArchived(ctx, r)
		case resource.NewSecret:
			return w.renewSecret(ctx, r)
		}
		return w.update(ctx, r)
	case planner.Adopt:
		if step.ID == "" {
			return w.adoptPredefined(ctx, r)
		}
		return w.update(ctx, r)
	case planner.AddMembers:
		return w.addMembers(ctx, r)
	case planner.RemoveMembers:
		return w.removeMembers(ctx, step)
	case planner.Delete:
		return w.delete(ctx, step)
	case planner.NotPossible:
		return executor.Outcome{}, fmt.Errorf("%s: no request is known for %s", step.Address, step.Action)
	default:
		return executor.Outcome{}, fmt.Errorf("%s: unknown action %d", step.Address, step.Action)
	}
}

// takeRows returns how many of the rows fit into the next request, and their JSON.
func (w *write) takeRows(rows []row) (n int, bodies [][]byte) {
	size := 0
	for _, r := range rows[:min(len(rows), w.traits.rowLimit(w.op))] {
		body := w.body(r.step)
		if size += len(body); size > maxBatchBytes && len(bodies) > 0 {
			break
		}
		bodies = append(bodies, body)
	}
	return len(bodies), bodies
}

// body returns the JSON of a row.
func (w *write) body(step *planner.Step) []byte {
	if w.op.Verb == resource.DeleteMany {
		id, _ := json.Marshal(step.ID) // a text always encodes
		return id
	}
	extra, resolve := w.externalIDs(step), w.idResolver(step.Object, w.ids)
	custom := func(body []byte) []byte {
		if !w.hasCustomInBody(step) {
			return body
		}
		return resource.PutCustom(body, step.Values(), func(definition *resource.Object) string { return w.customName(definition) }, resolve)
	}
	if w.op.Verb == resource.UpdateMany {
		id := step.ID
		if id == "" { // created by this run
			id, _ = w.ids(step.Address)
		}
		return custom(resource.Body(step.Values(), resource.V2Dialect, resolve, append(extra, [2]string{"id", id})...))
	}
	values := slices.DeleteFunc(slices.Clone(step.Values()), func(v *resource.Value) bool { // a create accepts no null
		return v.Null && v.Field.Clear == resource.ClearNull
	})
	return w.addContainers(step, custom(resource.Body(values, resource.V2Dialect, resolve, extra...)))
}

// addContainers adds the existing containers of an object to the body of its create.
func (w *write) addContainers(step *planner.Step, body []byte) []byte {
	containers := map[string][]string{} // by field
	for _, p := range step.Places {
		list, _ := p.Kind.Op(resource.ListOverview, resource.V2)
		id := p.Members.Container.ID
		if id == "" {
			id, _ = w.ids(p.Members.Container.Address)
		}
		if field := list.Overview.Field; id != "" {
			containers[field] = append(containers[field], id)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(containers)) {
		var value any = containers[field]
		if !strings.HasSuffix(field, "_ids") {
			value = containers[field][0]
		}
		body = resource.Put(body, field, value)
	}
	return body
}

// sendBatch sends one request for several rows.
func (w *write) sendBatch(ctx context.Context, rows []row, bodies [][]byte) {
	list, done := "items", map[resource.Verb]string{
		resource.CreateMany: "created", resource.UpdateMany: "updated",
		resource.DeleteMany: "deleted",
	}[w.op.Verb]
	if w.op.Verb == resource.DeleteMany {
		list = "ids"
	}
	body := slices.Concat([]byte(`{"`+list+`":[`), bytes.Join(bodies, []byte{','}), []byte(`],"all_or_none":false}`))
	count := w.claims.count()
	req := apiclient.Request{Operation: w.op, Params: rows[0].params, Body: body, Again: w.checkBeforeRetry(rows, count)}
	results, err := w.client.Bulk(ctx, req, done, len(rows))
	if err != nil {
		w.handleFailedRequest(ctx, rows, err, count)
		return
	}
	w.tooSlow = false
	for i, r := range rows {
		a := &w.attempts[r.at]
		if results[i].Err != nil {
			a.Outcome, a.Err = w.handleRefusedRow(ctx, r, results[i].Err)
			continue
		}
		if a.Err = w.checkRowID(r, results[i].ID); a.Err != nil {
			continue
		}
		a.Outcome = w.batchOutcome(r.step, results[i].ID)
		if slices.ContainsFunc(r.step.Values(), resource.IsCustom) && (!w.hasCustomInBody(r.step) || !w.storesCustom(ctx, r, a.Outcome.ID)) {
			w.completeCustom(ctx, r, &a.Outcome)
		}
	}
}

// checkRowID checks the ID in the result of a row.
func (w *write) checkRowID(r row, id string) error {
	if w.op.Verb == resource.CreateMany {
		if wrong := w.claimNew(r.step, resource.Row{"id": id}); wrong != nil {
			return w.recordLost(r.step, w.mixedUpError(r, wrong)).pendingError()
		}
		return nil
	}
	if asked := r.params[r.step.Kind.Param]; !strings.EqualFold(asked, id) {
		return w.mixedUpError(r, fmt.Errorf("the answer is about another object, with the ID %s", id))
	}
	return nil
}

// batchOutcome returns the outcome of a row that succeeded. The answer contains only the ID, so [Service.Confirm] compares the object with
// the request later.
func (w *write) batchOutcome(step *planner.Step, id string) executor.Outcome {
	if step.Object == nil {
		return executor.Outcome{Record: planner.Record{ID: id}}
	}
	w.memory.unseen.set(step, true)
	if len(step.Places) > 0 {
		w.memory.placed.set(id, nil)
	}
	return executor.Outcome{Warnings: w.unsentFields(step), Record: planner.Record{
		ID: id, Identifier: w.plan.Known[step.Address].Identifier, Values: w.batchValues(step),
		CreatedByUs: step.Write.CreatedByUs || step.Action == planner.Create,
	}}
}

// handleRefusedRow returns the outcome of a row that the service refused.
func (w *write) handleRefusedRow(ctx context.Context, r row, e *apiclient.Error) (executor.Outcome, error) {
	switch {
	case r.step.Action == planner.Delete && isNotFound(e):
		return executor.Outcome{Record: planner.Record{ID: r.step.ID}}, nil
	case e.Status == 400 && slices.ContainsFunc(r.step.Values(), resource.IsCustom): // the object may be created without them
		return w.withoutBulk().carryOut(ctx, r)
	case (e.Collided() || e.Permission() && r.step.Action == planner.Delete) && w.traits.countRefusal(r.step) <= maxRefusals:
		return executor.Outcome{}, &executor.Pending{After: afterAnswer, Err: e}
	case r.step.Action != planner.Create || e.Status != 409:
		return executor.Outcome{}, stepError(r.step, e)
	}
	return w.resolveRefused(ctx, r, e)
}

// maxRefusals limits the repetitions of a row that conflicts with another change, or whose delete the service forbids.
const maxRefusals = 2

// handleFailedRequest handles the error of a whole request. count is the number of objects that the run had created before.
func (w *write) handleFailedRequest(ctx context.Context, rows []row, err error, count int) {
	e, refused := errors.AsType[*apiclient.Error](err)
	_, exists := errors.AsType[*foundError](err)
	creates := w.op.Verb == resource.CreateMany
	switch {
	case exists: // some of their objects exist
		w.sendAll(ctx, w.lookUpRefused(ctx, rows, err, count))
	case refused && e.TooLarge():
		w.traits.splitLimit(w.op, len(rows))
		w.sendAll(ctx, rows)
	case refused && e.TooSlow() && !creates && !w.tooSlow: // repeating a change or a delete is harmless
		w.tooSlow = true
		w.traits.splitLimit(w.op, len(rows))
		w.sendAll(ctx, rows)
	case refused && (e.Unsupported() || e.Status == 404 && w.listExists(ctx, rows[0])):
		_ = w.traits.missing.set(w.op, err)
		w.sendAlone(ctx, rows)
	case refused && e.Effect == apiclient.Rejected && (e.Status == 400 || e.Status == 409): // one of the rows caused it
		if creates {
			rows = w.lookUpRefused(ctx, rows, err, count)
		}
		w.sendAlone(ctx, rows)
	case errors.Is(err, apiclient.ErrUndocumented):
		for _, r := range rows {
			w.attempts[r.at].Err = fmt.Errorf("%w: %w", executor.ErrAbortRun, unknownOutcome{err})
		}
	case creates && (errors.Is(err, executor.ErrOutcomeUnknown) || refused && e.Effect == apiclient.UnknownEffect):
		w.traits.splitLimit(w.op, len(rows))
		for _, r := range rows {
			u := w.recordLost(r.step, err)
			if u.attempts == 1 {
				u.sentAfter = count
			}
			w.attempts[r.at].Err = u.pendingError()
		}
	default:
		for _, r := range rows {
			w.attempts[r.at].Err = stepError(r.step, err)
		}
	}
}

// listExists reports whether the service lists the objects of the kind. If it does, an answer 404 to a bulk operation means that the
// service lacks the operation, not that the parent object is gone.
func (w *write) listExists(ctx context.Context, r row) bool {
	list, ok := r.step.Kind.Op(resource.List, w.plan.API)
	if !ok {
		return false
	}
	_, err := w.client.Do(ctx, apiclient.Request{Operation: list, Params: r.params, Query: url.Values{"per_page": {"1"}}})
	return err == nil
}

// lookUpRefused looks up the rows of a create that was refused as a whole, because the service was seen to refuse objects that it had
// created. It returns the rows that do not exist. If the lookup fails, the outcome of the others is unknown, and they are not sent again.
// count is the number of objects that the run had created before.
func (w *write) lookUpRefused(ctx context.Context, rows []row, cause error, count int) []row {
	for i := range rows {
		if rows[i].lost == nil {
			rows[i].lost = &lostCreate{cause: cause, sentAfter: count, failedLookups: maxFailedLookups}
		}
	}
	return w.settle(ctx, rows)
}
