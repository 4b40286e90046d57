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
	"github.com/planform/planform/planner"
)

// DefaultGrace is the longest time for which the service is expected to go on with a request that its client has given up. Before its end
// no object counts as absent.
const DefaultGrace = time.Minute

// The table lists the reactions to a create without success. "twice" applies if the service accepts a second object from the same request
// ([Service.takesTwo]), "once" if it refuses it, so that a late request has no effect. The times are how long the service may still carry
// out the request.
//
//	answer                              carried out?   reaction                                        once    twice
//	never sent, 401, 403, 404, 413, …   no             the step fails
//	429, 503 with Retry-After           it says no     send again; if twice, look it up before         -       -
//	other 4xx                           it says no     look it up, because it was seen to be wrong
//	500, 502, 503 … that comes soon     perhaps        look it up for the time, then send again        0.5 s   2 s
//	none, or one that is unusable       perhaps, later look it up for the time, then send again        2 s     Grace.Period
//
// If no lookup is possible, such as of a page with the documented operations, the service is believed, and the outcome is unknown
// otherwise. If the answer came soon, the time only prevents that two requests are carried out at once. While a service keeps failing, the
// time doubles with each attempt.
const (
	afterAnswer = 500 * time.Millisecond
	shortGrace  = 2 * time.Second
)

const (
	attempts         = 3 // of one create; each further one follows lookups that found nothing
	answeredAttempts = 6 // if each was answered soon
	maxFailedLookups = 5 // in a row, before the outcome stays unknown
)

// lostCreate is a create that may or may not have been carried out.
type lostCreate struct {
	givenUp       time.Time // when its client gave up
	period        time.Duration
	wait          time.Duration // time before the next lookup
	cause         error         // the reason why there was no answer
	attempts      int           // requests that this run sent
	answered      int           // requests that were answered soon
	sentAfter     int           // number of objects that the run had created before
	failedLookups int           // in a row
	costly        bool          // each lookup takes many requests
}

// lostCreate returns the unanswered create of a step, or nil.
func (s *Service) lostCreate(step *planner.Step) *lostCreate {
	u, _ := s.lostCreates.get(step)
	return u
}

// recordLost records a create that was sent and got no answer.
func (s *Service) recordLost(step *planner.Step, cause error) *lostCreate {
	u := s.lostCreate(step)
	if u == nil {
		u = &lostCreate{costly: s.isFoundByNumberOnly(step)}
		s.lostCreates.set(step, u)
	}
	u.attempts++
	tries := 0
	if e, ok := errors.AsType[*apiclient.Error](cause); ok && e.Finished() {
		u.answered++
		tries = u.answered
	}
	u.givenUp, u.period, u.wait, u.cause, u.failedLookups = time.Now(), s.grace.period(s.takesTwo(step), tries), 0, cause, 0
	return u
}

// isExhausted reports whether the create is not sent again.
func (lc *lostCreate) isExhausted() bool {
	return lc.attempts >= answeredAttempts || lc.attempts-lc.answered >= attempts
}

// periodEnd returns the time after which the service does not carry out the request. Only a lookup that begins later proves that it did
// not.
func (lc *lostCreate) periodEnd() time.Time { return lc.givenUp.Add(lc.period) }

// duplicateUntil returns the end of the grace period of an unanswered request whose repetition succeeded, or zero. Until then the request
// could create the object again, if the object is deleted or gets another mark.
func (s *Service) duplicateUntil(step *planner.Step, foundByLookup bool) time.Time {
	u := s.lostCreate(step)
	if u == nil && !step.Write.Announced {
		return time.Time{}
	}
	if u == nil {
		return s.grace.end(s.grace.GivenUp)
	}
	open := u.attempts - u.answered
	if step.Write.Announced {
		open++
	}
	if foundByLookup && u.answered == 0 {
		open--
	}
	if open <= 0 {
		return time.Time{}
	}
	return s.grace.end(u.givenUp)
}

// isBrief reports whether the period is too short for lookups during it.
func (lc *lostCreate) isBrief() bool { return lc.period <= 8*shortGrace }

// pendingError returns the error of a create that will be looked up later: several times during a long grace period, the last time at its end.
func (lc *lostCreate) pendingError() error {
	const first, factor = 20, 4
	switch {
	case lc.isBrief(), lc.costly && lc.wait > 0:
		lc.wait = lc.period
	default:
		lc.wait = max(lc.wait*factor, lc.period/first)
	}
	return &executor.Pending{After: max(min(lc.wait, time.Until(lc.periodEnd())), 0), Err: unknownOutcome{lc.cause}}
}

// takesTwo reports whether the service accepts a second object from the same request. Batches of API v2 are not documented to refuse a
// second object with the same external ID.
func (s *Service) takesTwo(step *planner.Step) bool {
	return !step.Kind.UniqueField() && (step.Batch != 0 || !step.Kind.UniqueExternalID || !s.usesExternalID(step))
}

// period returns how long the service may still carry out a create. tries is how often the create was answered soon.
func (g Grace) period(takesTwo bool, tries int) time.Duration {
	switch {
	case takesTwo && tries == 0:
		return g.Period
	case takesTwo || tries == 0:
		return min(g.Period, shortGrace<<max(0, tries-1))
	default:
		return min(g.Period, afterAnswer<<(tries-1))
	}
}

// Grace is the time in which the service may still carry out an abandoned request. The zero value is no time.
type Grace struct {
	Period  time.Duration       // longest time, from the moment the client gave up
	GivenUp time.Time           // latest time at which an earlier run gave up; zero or in the future = now
	OnWait  func(time.Duration) // called with the wait before planning waits; nil = not called
}

// GivenUpBy returns the latest time at which a run had given up its requests, if it was last seen alive at lastHeard. It may have sent a
// request three times, each time followed by a grace period, and waited after refusals as long as the client allows.
func GivenUpBy(lastHeard time.Time, timeout, period time.Duration) time.Time {
	return lastHeard.Add(attempts * (timeout + period + apiclient.DefaultMaxElapsed))
}

// begin replaces a zero or future GivenUp by the current time.
func (g Grace) begin() Grace {
	if now := time.Now(); g.GivenUp.IsZero() || g.GivenUp.After(now) {
		g.GivenUp = now
	}
	return g
}

// brief returns the grace for requests that the service refuses a second time.
func (g Grace) brief() Grace { return Grace{Period: min(g.Period, shortGrace), GivenUp: g.GivenUp} }

// remaining returns the rest of the period.
func (g Grace) remaining() time.Duration { return time.Until(g.GivenUp.Add(g.Period)) }

// end returns the end of the period of a request that was given up at a time, in whole seconds like the state.
func (g Grace) end(givenUp time.Time) time.Time {
	return givenUp.Add(g.Period).Truncate(time.Second).Add(time.Second).UTC()
}

// Wait waits for the end of the period. Later reads do not change because of abandoned requests.
func (g Grace) Wait(ctx context.Context) error {
	left := g.begin().remaining()
	if left <= 0 {
		return nil
	}
	if g.OnWait != nil {
		g.OnWait(left)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(left):
		return nil
	}
}

// settle looks up creates in doubt. It returns the rows whose objects do not exist, and which can be sent again; it sets the attempts of
// the other rows.
func (w *write) settle(ctx context.Context, rows []row) []row {
	rows = slices.DeleteFunc(rows, func(r row) bool {
		u := r.lost
		tooEarly := u.costly && u.isBrief() && u.wait == 0 && time.Now().Before(u.periodEnd())
		if tooEarly {
			w.attempts[r.at].Err = u.pendingError()
		}
		return tooEarly
	})
	if len(rows) == 0 {
		return nil
	}
	begin, since := time.Now(), rows[0].lost.sentAfter
	for _, r := range rows {
		since = min(since, r.lost.sentAfter)
	}
	var absentRows []row
	for i, seen := range w.lookUp(ctx, rows, since) {
		r := rows[i]
		a, u := &w.attempts[r.at], r.lost
		switch {
		case seen.row != nil:
			a.Outcome, a.Err = w.adoptOwn(ctx, r, seen.row)
		case !seen.absent:
			a.Err = w.lookupFailed(u, seen.err)
		case begin.Before(u.periodEnd()): // it may have been carried out since the lookup began
			u.failedLookups = 0
			a.Err = u.pendingError()
		case u.isExhausted():
			a.Err = stepError(r.step, fmt.Errorf("sent %d times without success, and not found: %w", u.attempts, u.cause))
		default:
			absentRows = append(absentRows, r)
		}
	}
	return absentRows
}

// lookupFailed returns the error of a lookup without a result. The lookup is repeated if the failure is temporary.
func (w *write) lookupFailed(u *lostCreate, err error) error {
	var e *apiclient.Error
	if errors.As(err, &e) && e.Transient() && u.failedLookups < maxFailedLookups {
		u.failedLookups++
		return &executor.Pending{After: w.grace.Period / 6, Err: unknownOutcome{u.cause}}
	}
	if err == nil {
		return unknownOutcome{u.cause}
	}
	err = fmt.Errorf("%w; checking whether it exists failed: %w", u.cause, err)
	if e != nil && e.Credential() {
		err = fmt.Errorf("%w: %w", executor.ErrAbortRun, err)
	}
	return unknownOutcome{err}
}

// adoptOwn adopts an object that a create of planform made.
func (w *write) adoptOwn(ctx context.Context, r row, own resource.Row) (executor.Outcome, error) {
	if why := own.Hidden(); why != "" {
		return executor.Outcome{}, hiddenConflict(r.step, own.ID(), why)
	}
	out, err := w.adoptExisting(ctx, r, own)
	out.RecoveredByLookup, out.CreatedByUs = err == nil, true
	return out, err
}

// resolveRefused looks up the outcome of a create that the service refused. The service has been seen to answer with an error after it had
// created the object.
func (w *write) resolveRefused(ctx context.Context, r row, e *apiclient.Error) (out executor.Outcome, err error) {
	seen := w.findCreated(ctx, r)
	switch {
	case seen.row != nil && seen.row.Hidden() != "":
		return out, hiddenConflict(r.step, seen.row.ID(), seen.row.Hidden())
	case seen.row != nil:
		out, err = w.adoptExisting(ctx, r, seen.row)
		// otherwise somebody else had created it
		out.RecoveredByLookup, out.CreatedByUs = err == nil, e.Generic() || r.lost != nil || r.step.Write.Announced || e.Doubted
		return out, err
	case e.Status == 409 && e.ExistingID != "":
		return w.adoptConflicting(ctx, r, e)
	case !seen.absent && r.lost != nil:
		return out, w.lookupFailed(r.lost, seen.err)
	default:
		return out, stepError(r.step, e)
	}
}

// foundError stops the repetition of a create, because its object exists.
type foundError struct{ row resource.Row }

func (*foundError) Error() string { return "it was created by the request that was refused" }

// checkBeforeRetry returns a function that looks up creates before they are sent again after a temporary refusal, if the service may accept
// a second object. since is the number of objects that the run had created before. If no lookup is possible, the service is believed.
func (w *write) checkBeforeRetry(rows []row, since int) func(context.Context) error {
	if step := rows[0].step; step.Action != planner.Create || w.op == nil && !w.takesTwo(step) {
		return nil
	}
	return func(ctx context.Context) error {
		for _, seen := range w.lookUp(ctx, rows, since) {
			switch {
			case seen.row != nil:
				return &foundError{seen.row}
			case seen.err != nil:
				return unknownOutcome{seen.err}
			}
		}
		return nil
	}
}
