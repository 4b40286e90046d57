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
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// maxBatchBytes bounds the rows of one request. The service's limit is not documented for
// API v2; that of API v1 is 5 MiB.
const maxBatchBytes = 4 << 20

// batch is steps on their way into as few requests as possible. Rows succeed and fail one
// by one (all_or_none false): what became of a row is then the same question for one that
// was refused, one whose answer was lost and one that an earlier run sent, and its external
// ID answers it. Nothing depends on the service rolling a batch back.
type batch struct {
	*Service

	ids      executor.IDs
	op       *resource.Operation // of API v2
	params   map[string]string   // the same for all rows
	attempts []executor.Attempt
	tooSlow  bool                   // the last request
	named    map[*planner.Step]bool // whose custom fields have names in API v2
}

// batchRow is one step of a batch.
type batchRow struct {
	at   int // of its attempt
	step *planner.Step
	lost *lostCreate // an earlier create without an answer; nil = none
}

// DoBatch carries out the steps of one batch: [executor.Service].
func (s *Service) DoBatch(ctx context.Context, steps []*planner.Step, ids executor.IDs) []executor.Attempt {
	b := &batch{Service: s, ids: ids, op: steps[0].Bulk, attempts: make([]executor.Attempt, len(steps)), named: map[*planner.Step]bool{}}
	rows, lost, alone := []batchRow{}, []batchRow{}, []batchRow{}
	for i, step := range steps {
		r := batchRow{at: i, step: step, lost: s.lostCreate(step)}
		params, err := s.batchParams(step, ids)
		if err == nil && step.Object != nil {
			err = s.resolveRuntimeNames(ctx, step, ids)
		}
		if err == nil && slices.ContainsFunc(step.Values, resource.IsCustom) {
			b.named[step] = s.namesCustom(ctx, step, params, ids)
		}
		for _, g := range step.Guards {
			err = errors.Join(err, s.checkUnused(ctx, step, g))
		}
		switch {
		case err != nil:
			b.attempts[i].Err = err
		case r.lost != nil && r.lost.cause == nil && time.Now().Before(r.lost.end()): // the plan has just looked
			b.attempts[i].Err = &executor.Pending{After: time.Until(r.lost.end()), Err: r.lost.reason()}
		case r.lost != nil:
			b.params, lost = params, append(lost, r)
		case step.OnlyCustom() && !b.inBody(step):
			alone = append(alone, r)
		default:
			b.params, rows = params, append(rows, r)
		}
	}
	rows = append(rows, b.settle(ctx, lost)...)
	slices.SortFunc(rows, func(x, y batchRow) int { return x.at - y.at })
	b.sendAll(ctx, rows)
	b.sendAlone(ctx, alone)
	for i, step := range steps {
		if a := &b.attempts[i]; a.Err == nil {
			b.remember(step, a.Outcome, ids)
		}
	}
	return b.attempts
}

// batchParams are the path parameters of a step's request for many.
func (s *Service) batchParams(step *planner.Step, ids executor.IDs) (map[string]string, error) {
	if step.Object == nil {
		return step.Params, nil
	}
	return s.inParent(step.Object.Parent, ids)
}

// sendAll sends rows in requests that are within the limits.
func (b *batch) sendAll(ctx context.Context, rows []batchRow) {
	for len(rows) > 0 {
		n, bodies := b.next(rows)
		if n == 1 && !slices.ContainsFunc(rows[0].step.Values, resource.IsCustom) || b.withoutBulk(b.op) {
			b.sendAlone(ctx, rows[:n])
		} else {
			b.send(ctx, rows[:n], bodies)
		}
		rows = rows[n:]
	}
}

// sendAlone sends each row in a request of its own, as without API v2.
func (b *batch) sendAlone(ctx context.Context, rows []batchRow) {
	for _, r := range rows {
		a := &b.attempts[r.at]
		a.Outcome, a.Err = b.do(ctx, r.step, b.ids)
	}
}

// next is how many of the rows go into the next request, and their JSON.
func (b *batch) next(rows []batchRow) (n int, bodies [][]byte) {
	size := 0
	for _, r := range rows[:min(len(rows), b.rowLimit(b.op))] {
		body := b.body(r.step)
		if size += len(body); size > maxBatchBytes && len(bodies) > 0 {
			break
		}
		bodies = append(bodies, body)
	}
	return len(bodies), bodies
}

// body is the JSON of a row.
func (b *batch) body(step *planner.Step) []byte {
	if b.op.Verb == resource.DeleteMany {
		id, _ := json.Marshal(step.ID) // a text always encodes
		return id
	}
	extra, resolve := b.externalIDs(step), b.resolve(step.Object, b.ids)
	custom := func(body []byte) []byte {
		if !b.inBody(step) {
			return body
		}
		return resource.PutCustom(body, step.Values, func(definition *resource.Object) string { return b.customName(definition, b.ids) }, resolve)
	}
	if b.op.Verb == resource.UpdateMany {
		id := step.ID
		if id == "" { // created by this run
			id, _ = b.ids(step.Address)
		}
		return custom(resource.Body(step.Values, resource.V2Dialect, resolve, append(extra, [2]string{"id", id})...))
	}
	values := slices.DeleteFunc(slices.Clone(step.Values), func(v *resource.Value) bool { // a create takes no null
		return v.Null && v.Field.Clear == resource.ClearNull
	})
	return b.place(step, custom(resource.Body(values, resource.V2Dialect, resolve, extra...)))
}

// send makes one request for several rows.
func (b *batch) send(ctx context.Context, rows []batchRow, bodies [][]byte) {
	list, done := "items", map[resource.Verb]string{resource.CreateMany: "created", resource.UpdateMany: "updated", resource.DeleteMany: "deleted"}[b.op.Verb]
	if b.op.Verb == resource.DeleteMany {
		list = "ids"
	}
	body := slices.Concat([]byte(`{"`+list+`":[`), bytes.Join(bodies, []byte{','}), []byte(`],"all_or_none":false}`))
	count := b.countCreated()
	req := apiclient.Request{Operation: b.op, Params: b.params, Body: body}
	if b.op.Verb == resource.CreateMany {
		req.Again = func(ctx context.Context) error {
			switch found, err := b.findAllCreated(ctx, rows, count); {
			case err != nil:
				return unknownOutcome{err}
			case len(found) > 0:
				return &foundError{}
			default:
				return nil
			}
		}
	}
	results, err := b.client.Bulk(ctx, req, done, len(rows))
	if err != nil {
		b.failed(ctx, rows, err, count)
		return
	}
	b.tooSlow = false
	for i, r := range rows {
		a := &b.attempts[r.at]
		if results[i].Err != nil {
			a.Outcome, a.Err = b.refused(ctx, r, results[i].Err)
			continue
		}
		if a.Err = b.given(r.step, results[i].ID); a.Err != nil {
			continue
		}
		a.Outcome = b.done(r.step, results[i].ID)
		if slices.ContainsFunc(r.step.Values, resource.IsCustom) && (!b.inBody(r.step) || !b.takesCustom(ctx, r.step, b.params, a.Outcome.ID, b.ids)) {
			b.completeCustom(ctx, r.step, b.params, b.ids, &a.Outcome)
		}
	}
}

// given checks the ID in the result of a row.
func (b *batch) given(step *planner.Step, id string) error {
	if b.op.Verb == resource.CreateMany {
		if wrong := b.claim(step, resource.Row{"id": id}, true); wrong != nil {
			u := b.giveUp(step, b.mixedUp(step, b.params, wrong))
			return &executor.Pending{After: u.next(), Err: u.reason()}
		}
		return nil
	}
	asked := step.ID
	if asked == "" { // created by this run
		asked, _ = b.ids(step.Address)
	}
	if !strings.EqualFold(asked, id) {
		return b.mixedUp(step, b.params, fmt.Errorf("the answer is about another object, with the ID %s", id))
	}
	return nil
}

// done is the outcome of a row that succeeded. The answer shows nothing but the ID, so
// [Service.Confirm] compares the object with the request later.
func (b *batch) done(step *planner.Step, id string) executor.Outcome {
	record := planner.Record{ID: id, Identifier: b.plan.Known[step.Address].Identifier, CreatedByUs: step.CreatedByUs || step.Action == planner.Create}
	if step.Object == nil {
		return executor.Outcome{Record: planner.Record{ID: id}}
	}
	record.Values = b.batchValues(step, b.ids)
	b.sentUnseen(step, id)
	return executor.Outcome{Record: record, Warnings: b.unsentFields(step, b.ids)}
}

// refused is what became of a row that the service refused.
func (b *batch) refused(ctx context.Context, r batchRow, e *apiclient.Error) (executor.Outcome, error) {
	switch {
	case r.step.Action == planner.Delete && notFound(e):
		return executor.Outcome{Record: planner.Record{ID: r.step.ID}}, nil
	case e.Status == 400 && slices.ContainsFunc(r.step.Values, resource.IsCustom): // the object may do without them
		return b.do(ctx, r.step, b.ids)
	case e.Collided() && b.countCollision(r.step) <= maxCollisions:
		return executor.Outcome{}, &executor.Pending{After: afterAnswer, Err: e}
	case r.step.Action != planner.Create || e.Status != 409:
		return executor.Outcome{}, failure(r.step, e)
	}
	params, err := b.Service.params(r.step, b.ids)
	if err != nil {
		return executor.Outcome{}, err
	}
	return b.resolveFailedCreate(ctx, r.step, r.lost, params, b.ids, e)
}

// maxCollisions is how often a row is sent again that the service refuses because of a concurrent change.
const maxCollisions = 2

func (s *Service) countCollision(step *planner.Step) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.collisions[step]++
	return s.collisions[step]
}

// failed handles the error of a whole request, before which batches had created count objects.
func (b *batch) failed(ctx context.Context, rows []batchRow, err error, count int) {
	e, refused := errors.AsType[*apiclient.Error](err)
	_, exists := errors.AsType[*foundError](err)
	creates := b.op.Verb == resource.CreateMany
	switch {
	case exists: // some of them
		b.sendAll(ctx, b.withoutDone(ctx, rows, err, count))
	case refused && e.TooLarge():
		b.halve(b.op, len(rows))
		b.sendAll(ctx, rows)
	case refused && e.TooSlow() && !creates && !b.tooSlow: // repeating a change or a delete is harmless
		b.tooSlow = true
		b.halve(b.op, len(rows))
		b.sendAll(ctx, rows)
	case refused && (e.Unsupported() || e.Status == 404 && b.listExists(ctx, rows[0].step.Kind)):
		b.giveUpBulk(b.op, err)
		b.sendAlone(ctx, rows)
	case refused && e.Effect == apiclient.Rejected && e.Status == 400: // something about one of them
		if creates {
			rows = b.withoutDone(ctx, rows, err, count)
		}
		b.sendAlone(ctx, rows)
	case errors.Is(err, apiclient.ErrUndocumented):
		for _, r := range rows {
			b.attempts[r.at].Err = fmt.Errorf("%w: %w", executor.ErrAbortRun, unknownOutcome{err})
		}
	case creates && (errors.Is(err, executor.ErrOutcomeUnknown) || refused && e.Effect == apiclient.UnknownEffect):
		b.halve(b.op, len(rows))
		for _, r := range rows {
			u := b.giveUp(r.step, err)
			if u.attempts == 1 {
				u.sentAfter = count
			}
			b.attempts[r.at].Err = &executor.Pending{After: u.next(), Err: u.reason()}
		}
	default:
		for _, r := range rows {
			b.attempts[r.at].Err = failure(r.step, err)
		}
	}
}

// listExists reports whether the service lists the objects among which it does not find the operation for many.
func (b *batch) listExists(ctx context.Context, kind *resource.Kind) bool {
	list, ok := kind.Op(resource.List, b.plan.API)
	if !ok {
		return false
	}
	_, err := b.client.Do(ctx, apiclient.Request{Operation: list, Params: b.params, Query: url.Values{"per_page": {"1"}}})
	return err == nil
}

// withoutDone looks up the rows of a create that was refused as a whole, before which batches had created count objects:
// the service was seen to refuse what it had done. It returns the rows that do not exist. What became of the others is not
// known if the look-up fails; they are not sent again then.
func (b *batch) withoutDone(ctx context.Context, rows []batchRow, cause error, count int) []batchRow {
	for i := range rows {
		if rows[i].lost == nil {
			rows[i].lost = &lostCreate{cause: cause, sentAfter: count, failedLookups: maxFailedLookups}
		}
	}
	return b.settle(ctx, rows)
}

// settle looks up creates without an answer, all of them in one list. It returns the rows
// that do not exist and can be sent.
func (b *batch) settle(ctx context.Context, rows []batchRow) []batchRow {
	if len(rows) == 0 {
		return nil
	}
	begin, since := time.Now(), rows[0].lost.sentAfter
	for _, r := range rows {
		since = min(since, r.lost.sentAfter)
	}
	found, err := b.findAllCreated(ctx, rows, since)
	var absent []batchRow
	for _, r := range rows {
		a, u := &b.attempts[r.at], r.lost
		var hits []resource.Row
		for _, id := range b.allExternalIDs(r.step) {
			hits = append(hits, found[id]...)
		}
		switch {
		case err != nil:
			a.Err = b.lookupFailed(r.step, u, err)
		case len(hits) > 1:
			a.Err = b.lookupFailed(r.step, u, &ambiguousError{fmt.Errorf("the service has %d objects that could be %s", len(hits), r.step.Address)})
		case len(hits) == 1:
			a.Outcome, a.Err = b.adoptOwn(ctx, r.step, hits[0], maps.Clone(b.params), b.ids)
		case begin.Before(u.end()): // it may have been carried out since
			u.failedLookups = 0
			a.Err = &executor.Pending{After: u.next(), Err: u.reason()}
		case u.exhausted():
			a.Err = failure(r.step, u.exhaustion())
		default:
			absent = append(absent, r)
		}
	}
	return absent
}

// findAllCreated finds rows by their external IDs in the list of their kind, newest first. It ends
// with a page whose last object existed before any of them was sent, when batches had created
// since objects, if the service keeps to that order.
func (b *batch) findAllCreated(ctx context.Context, rows []batchRow, since int) (map[string][]resource.Row, error) {
	kind := rows[0].step.Kind
	list, ok := kind.Op(resource.List, b.plan.API)
	if !ok {
		return nil, fmt.Errorf("%s cannot list %s", b.plan.API.Noun(), diag.Plural(kind.Noun()))
	}
	wanted := map[string]bool{}
	for _, r := range rows {
		for _, id := range b.allExternalIDs(r.step) {
			wanted[id] = true
		}
	}
	found := map[string][]resource.Row{}
	latest, ordered := "", true // created_at of the last row
	for page, err := range b.client.Pages(ctx, apiclient.Request{Operation: list, Params: b.params, Query: newestFirst()}) {
		if err != nil {
			return nil, err
		}
		for _, row := range page {
			at, _ := row["created_at"].(string)
			ordered = ordered && at != "" && (latest == "" || at <= latest)
			latest = at
			id, _ := row["external_id"].(string)
			if wanted[id] && row.HasExternalID(id) && !slices.ContainsFunc(found[id], func(o resource.Row) bool { return o.ID() == row.ID() }) {
				found[id] = append(found[id], row)
			}
		}
		if ordered && len(page) > 0 && b.existedBefore(kind, page[len(page)-1].ID(), since) {
			break
		}
	}
	return found, nil
}

// countCreated is how many objects batches have created.
func (s *Service) countCreated() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.batchCreated)
}

// existedBefore reports whether an object is known from the plan, or was created by this
// run before so many others were.
func (s *Service) existedBefore(kind *resource.Kind, id string, count int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loadOwners()
	at, created := s.batchCreated[id]
	if created {
		return at < count
	}
	had, known := s.owners[ownedID{kind.Name, id}]
	return known && had.step == nil
}

// rowLimit is how many rows go into one request.
func (s *Service) rowLimit(op *resource.Operation) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, ok := s.rowLimits[op]; ok {
		return n
	}
	return op.Rows
}

// halve lowers the limit after so many rows were too many, or took too long.
func (s *Service) halve(op *resource.Operation, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rowLimits[op] = max(1, rows/2)
}

// withoutBulk reports whether the service turned out not to have an operation of API v2.
func (s *Service) withoutBulk(op *resource.Operation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.missing[op] != nil
}

func (s *Service) giveUpBulk(op *resource.Operation, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missing[op] = why
}

// Fallbacks are warnings of operations of API v2 that the service turned out not to have,
// those that are missing for the same reason in one.
func (s *Service) Fallbacks() diag.List {
	s.mu.Lock()
	defer s.mu.Unlock()
	kinds := map[string][]string{} // by reason
	for op, why := range s.missing {
		reason := why.Error()
		if e, ok := errors.AsType[*apiclient.Error](why); ok {
			reason = fmt.Sprintf("API v2 answers %d %s", e.Status, strings.TrimSuffix(e.Message, "."))
		}
		if noun := diag.Plural(strings.ReplaceAll(op.Kind, "_", " ")); !slices.Contains(kinds[reason], noun) {
			kinds[reason] = append(kinds[reason], noun)
		}
	}
	var l diag.List
	for reason, nouns := range kinds {
		slices.Sort(nouns)
		l.Add(diag.Diagnostic{
			Severity: diag.Warning, Code: "fallback", Summary: strings.Join(nouns, ", ") + " were sent one by one: " + reason,
			Hint: "planform doctor says what API v2 lacks; --api v1 sends one by one from the start",
		})
	}
	l.Sort()
	return l
}
