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
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// maxBatchBytes bounds the rows of one request. The service's limit is not documented for
// API v2; that of API v1 is 5 MiB.
const maxBatchBytes = 4 << 20

// write is steps on their way to the service, in as few requests as possible: a batch, or one step alone. Rows succeed and fail
// one by one (all_or_none false): what became of a row is then the same question for one that was refused, one whose answer was
// lost and one that an earlier run sent, and its external ID answers it. Nothing depends on the service rolling a batch back.
type write struct {
	*Service

	ids      executor.IDs
	op       *resource.Operation // of API v2, for several rows; nil = each row is sent alone
	attempts []executor.Attempt
	tooSlow  bool                   // the last request
	named    map[*planner.Step]bool // whose custom fields have names in API v2
}

// row is one step of a write.
type row struct {
	at     int // of its attempt
	step   *planner.Step
	params map[string]string // of its path
	lost   *lostCreate       // an earlier create without an answer; nil = none
}

// paramsWith are the path parameters of a request about an object with this ID.
func (r row) paramsWith(id string) map[string]string {
	params := maps.Clone(r.params)
	params[r.step.Kind.Param] = id
	return params
}

// Do carries out the steps of one batch, or one step alone: [executor.Service].
func (s *Service) Do(ctx context.Context, steps []*planner.Step, ids executor.IDs) []executor.Attempt {
	w := &write{Service: s, ids: ids, attempts: make([]executor.Attempt, len(steps)), named: map[*planner.Step]bool{}}
	if steps[0].Batch != 0 {
		w.op = steps[0].Bulk
	}
	unanswered := s.client.Unanswered()
	var rows, lost []row
	for i, step := range steps {
		r, err := w.prepare(ctx, row{at: i, step: step, lost: s.lostCreate(step)})
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
	together, alone := w.split(rows)
	w.sendAll(ctx, together)
	w.sendAlone(ctx, alone)
	latest := s.client.Unanswered()
	for i, step := range steps {
		a := &w.attempts[i]
		if s.lostSecret(step, a); a.Err == nil {
			switch {
			case step.Action == planner.Create:
				a.Outcome.Record.Late = s.late(step, a.Outcome.RecoveredByLookup)
			case latest.After(unanswered): // of these steps, or of one that was sent beside them: the next one would be undone
				a.Outcome.Record.Late = s.inDoubt.grace.until(latest)
			}
			s.memory.remember(step, a.Outcome, ids)
		}
	}
	return w.attempts
}

// prepare finds out what a row needs before it is sent. An error keeps it back.
func (w *write) prepare(ctx context.Context, r row) (row, error) {
	if u := r.lost; u != nil && u.cause == nil && time.Now().Before(u.end()) { // the plan has just looked
		return r, &executor.Pending{After: time.Until(u.end()), Err: u.reason()}
	}
	var err error
	switch r.step.Action {
	case planner.Delete, planner.RemoveMembers:
		r.params = r.step.Params
	default:
		r.params, err = w.params(r.step, w.ids)
	}
	if err == nil && r.step.Object != nil {
		err = w.resolveRuntimeNames(ctx, r.step)
	}
	if err == nil && w.op != nil && slices.ContainsFunc(r.step.Values(), resource.IsCustom) {
		w.named[r.step] = w.namesCustom(ctx, r)
	}
	if r.step.Deletion != nil {
		for _, g := range r.step.Deletion.Guards {
			err = errors.Join(err, w.checkUnused(ctx, r.step, g))
		}
	}
	return r, err
}

// split separates the rows that may share a request from those that go alone.
func (w *write) split(rows []row) (together, alone []row) {
	for _, r := range rows {
		if w.op == nil || r.step.OnlyCustom() && !w.inBody(r.step) {
			alone = append(alone, r)
		} else {
			together = append(together, r)
		}
	}
	return together, alone
}

// sendAll sends rows in requests that are within the limits.
func (w *write) sendAll(ctx context.Context, rows []row) {
	for len(rows) > 0 {
		n, bodies := w.next(rows)
		if n == 1 && !slices.ContainsFunc(rows[0].step.Values(), resource.IsCustom) || w.learned.lacks(w.op) {
			w.sendAlone(ctx, rows[:n])
		} else {
			w.send(ctx, rows[:n], bodies)
		}
		rows = rows[n:]
	}
}

// sendAlone sends each row in a request of its own, as without API v2.
func (w *write) sendAlone(ctx context.Context, rows []row) {
	for _, r := range rows {
		a := &w.attempts[r.at]
		a.Outcome, a.Err = w.alone().one(ctx, r)
	}
}

// alone is the same write without its operation for several rows.
func (w *write) alone() *write {
	alone := *w
	alone.op = nil
	return &alone
}

// one carries out one step: one write request, or the three of an upload, and reads where its outcome is unknown.
func (w *write) one(ctx context.Context, r row) (executor.Outcome, error) {
	step := r.step
	done, err := w.alternate(ctx, step)
	if err != nil {
		return executor.Outcome{}, err
	}
	defer done()
	switch {
	case step.Action == planner.Delete && step.Operation == nil: // deleted with its parent
		return executor.Outcome{Record: planner.Record{ID: step.ID}}, nil
	case step.Operation == nil && step.ID != "" && step.Members == nil:
		return w.applied(step, step.ID, w.desired(step)), nil
	}
	switch step.Action {
	case planner.Create:
		return w.create(ctx, r)
	case planner.Update:
		if step.Members != nil {
			return w.updateMember(ctx, r)
		}
		switch step.Operation.Verb { //nolint:exhaustive // the others change fields
		case resource.Archive, resource.Unarchive:
			return w.setArchived(ctx, r)
		case resource.NewSecret:
			return w.renew(ctx, r)
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

// next is how many of the rows go into the next request, and their JSON.
func (w *write) next(rows []row) (n int, bodies [][]byte) {
	size := 0
	for _, r := range rows[:min(len(rows), w.learned.rowLimit(w.op))] {
		body := w.body(r.step)
		if size += len(body); size > maxBatchBytes && len(bodies) > 0 {
			break
		}
		bodies = append(bodies, body)
	}
	return len(bodies), bodies
}

// body is the JSON of a row.
func (w *write) body(step *planner.Step) []byte {
	if w.op.Verb == resource.DeleteMany {
		id, _ := json.Marshal(step.ID) // a text always encodes
		return id
	}
	extra, resolve := w.externalIDs(step), w.resolve(step.Object, w.ids)
	custom := func(body []byte) []byte {
		if !w.inBody(step) {
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
	values := slices.DeleteFunc(slices.Clone(step.Values()), func(v *resource.Value) bool { // a create takes no null
		return v.Null && v.Field.Clear == resource.ClearNull
	})
	return w.place(step, custom(resource.Body(values, resource.V2Dialect, resolve, extra...)))
}

// send makes one request for several rows.
func (w *write) send(ctx context.Context, rows []row, bodies [][]byte) {
	list, done := "items", map[resource.Verb]string{
		resource.CreateMany: "created", resource.UpdateMany: "updated",
		resource.DeleteMany: "deleted",
	}[w.op.Verb]
	if w.op.Verb == resource.DeleteMany {
		list = "ids"
	}
	body := slices.Concat([]byte(`{"`+list+`":[`), bytes.Join(bodies, []byte{','}), []byte(`],"all_or_none":false}`))
	count := w.memory.countCreated()
	req := apiclient.Request{Operation: w.op, Params: rows[0].params, Body: body, Again: w.lookAgain(rows, count)}
	results, err := w.client.Bulk(ctx, req, done, len(rows))
	if err != nil {
		w.failed(ctx, rows, err, count)
		return
	}
	w.tooSlow = false
	for i, r := range rows {
		a := &w.attempts[r.at]
		if results[i].Err != nil {
			a.Outcome, a.Err = w.refused(ctx, r, results[i].Err)
			continue
		}
		if a.Err = w.given(r, results[i].ID); a.Err != nil {
			continue
		}
		a.Outcome = w.done(r.step, results[i].ID)
		if slices.ContainsFunc(r.step.Values(), resource.IsCustom) && (!w.inBody(r.step) || !w.takesCustom(ctx, r, a.Outcome.ID)) {
			w.completeCustom(ctx, r, &a.Outcome)
		}
	}
}

// given checks the ID in the result of a row.
func (w *write) given(r row, id string) error {
	if w.op.Verb == resource.CreateMany {
		if wrong := w.claim(r.step, resource.Row{"id": id}, true); wrong != nil {
			return w.giveUp(r.step, w.mixedUp(r, wrong)).pending()
		}
		return nil
	}
	if asked := r.params[r.step.Kind.Param]; !strings.EqualFold(asked, id) {
		return w.mixedUp(r, fmt.Errorf("the answer is about another object, with the ID %s", id))
	}
	return nil
}

// done is the outcome of a row that succeeded. The answer shows nothing but the ID, so
// [Service.Confirm] compares the object with the request later.
func (w *write) done(step *planner.Step, id string) executor.Outcome {
	if step.Object == nil {
		return executor.Outcome{Record: planner.Record{ID: id}}
	}
	w.memory.noteUnseen(step, id)
	return executor.Outcome{Warnings: w.unsentFields(step), Record: planner.Record{
		ID: id, Identifier: w.plan.Known[step.Address].Identifier, Values: w.batchValues(step),
		CreatedByUs: step.Write.CreatedByUs || step.Action == planner.Create,
	}}
}

// refused is what became of a row that the service refused.
func (w *write) refused(ctx context.Context, r row, e *apiclient.Error) (executor.Outcome, error) {
	switch {
	case r.step.Action == planner.Delete && notFound(e):
		return executor.Outcome{Record: planner.Record{ID: r.step.ID}}, nil
	case e.Status == 400 && slices.ContainsFunc(r.step.Values(), resource.IsCustom): // the object may do without them
		return w.alone().one(ctx, r)
	case (e.Collided() || e.Permission() && r.step.Action == planner.Delete) && w.learned.countRefusal(r.step) <= maxRefusals:
		return executor.Outcome{}, &executor.Pending{After: afterAnswer, Err: e}
	case r.step.Action != planner.Create || e.Status != 409:
		return executor.Outcome{}, failure(r.step, e)
	}
	return w.resolveRefused(ctx, r, e)
}

// maxRefusals limits the repeats of a row that collides with another change, or that the service forbids to delete.
const maxRefusals = 2

// failed handles the error of a whole request, before which batches had created count objects.
func (w *write) failed(ctx context.Context, rows []row, err error, count int) {
	e, refused := errors.AsType[*apiclient.Error](err)
	_, exists := errors.AsType[*foundError](err)
	creates := w.op.Verb == resource.CreateMany
	switch {
	case exists: // some of them
		w.sendAll(ctx, w.withoutDone(ctx, rows, err, count))
	case refused && e.TooLarge():
		w.learned.splitLimit(w.op, len(rows))
		w.sendAll(ctx, rows)
	case refused && e.TooSlow() && !creates && !w.tooSlow: // repeating a change or a delete is harmless
		w.tooSlow = true
		w.learned.splitLimit(w.op, len(rows))
		w.sendAll(ctx, rows)
	case refused && (e.Unsupported() || e.Status == 404 && w.listExists(ctx, rows[0])):
		w.learned.disable(w.op, err)
		w.sendAlone(ctx, rows)
	case refused && e.Effect == apiclient.Rejected && e.Status == 400: // something about one of them
		if creates {
			rows = w.withoutDone(ctx, rows, err, count)
		}
		w.sendAlone(ctx, rows)
	case errors.Is(err, apiclient.ErrUndocumented):
		for _, r := range rows {
			w.attempts[r.at].Err = fmt.Errorf("%w: %w", executor.ErrAbortRun, unknownOutcome{err})
		}
	case creates && (errors.Is(err, executor.ErrOutcomeUnknown) || refused && e.Effect == apiclient.UnknownEffect):
		w.learned.splitLimit(w.op, len(rows))
		for _, r := range rows {
			u := w.giveUp(r.step, err)
			if u.attempts == 1 {
				u.sentAfter = count
			}
			w.attempts[r.at].Err = u.pending()
		}
	default:
		for _, r := range rows {
			w.attempts[r.at].Err = failure(r.step, err)
		}
	}
}

// listExists reports whether the service lists the objects among which it does not find the operation for many.
func (w *write) listExists(ctx context.Context, r row) bool {
	list, ok := r.step.Kind.Op(resource.List, w.plan.API)
	if !ok {
		return false
	}
	_, err := w.client.Do(ctx, apiclient.Request{Operation: list, Params: r.params, Query: url.Values{"per_page": {"1"}}})
	return err == nil
}

// withoutDone looks up the rows of a create that was refused as a whole, before which batches had created count objects:
// the service was seen to refuse what it had done. It returns the rows that do not exist. What became of the others is not
// known if the look-up fails; they are not sent again then.
func (w *write) withoutDone(ctx context.Context, rows []row, cause error, count int) []row {
	for i := range rows {
		if rows[i].lost == nil {
			rows[i].lost = &lostCreate{cause: cause, sentAfter: count, failedLookups: maxFailedLookups}
		}
	}
	return w.settle(ctx, rows)
}
