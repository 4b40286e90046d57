package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// DefaultGrace is the time for which the service is expected, at most, to go on with a
// request that its client has given up. Until then no object counts as absent.
const DefaultGrace = time.Minute

// What a create without success means, and what is done about it. Twice in the table: the service takes a second object
// made by the same request ([takesTwo]); once: it refuses it, so that a late request has no effect.
//
//	answer                              it was done      then                                            once    twice
//	never sent, 401, 403, 404, 413, …   no               the step fails
//	429, 503 with Retry-After           it says no       it is sent again, where twice after a look      -       -
//	other 4xx                           it says no       a look, as it was seen to be wrong
//	500, 502, 503 … that comes soon     perhaps          looks for as long as …, then sent again         0.5 s   2 s
//	none, or one that says nothing      perhaps, or yet  looks for as long as …, then sent again         2 s     Grace.Period
//
// Where nothing can tell, as of a page with the documented operations, a service is taken at its word, and the outcome is unknown
// otherwise. Each period is the time within which the service may still carry out the request; where the answer came soon, only two
// requests must not be carried out at the same time. For a service that fails for a while the time doubles with each attempt.
const (
	afterAnswer = 500 * time.Millisecond
	shortGrace  = 2 * time.Second
)

const (
	attempts         = 3 // of one create, each further one after look-ups that found nothing
	answeredAttempts = 6 // where each was answered soon
	maxFailedLookups = 5 // in a row, until the outcome is left unknown
)

// inDoubt is the creates of a run that may or may not have been carried out. It is safe for concurrent use.
type inDoubt struct {
	grace Grace

	mu      sync.Mutex
	creates map[*planner.Step]*lostCreate
}

// lostCreate is a create that may or may not have been carried out.
type lostCreate struct {
	givenUp       time.Time // when its client gave up
	period        time.Duration
	wait          time.Duration // before the next look-up
	cause         error         // why there was no answer
	attempts      int           // requests sent by this run
	answered      int           // those of them that were answered soon
	sentAfter     int           // objects that batches had created before
	failedLookups int           // in a row
	costly        bool          // each look takes many requests
}

// lostCreate returns the step's create without an answer, or nil.
func (s *Service) lostCreate(step *planner.Step) *lostCreate {
	d := &s.inDoubt
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.creates[step]
}

// giveUp notes a create that was sent and got no answer.
func (s *Service) giveUp(step *planner.Step, cause error) *lostCreate {
	u := s.lostCreate(step)
	d := &s.inDoubt
	d.mu.Lock()
	defer d.mu.Unlock()
	if u == nil {
		u = &lostCreate{costly: s.onlyNumbersTell(step)}
		d.creates[step] = u
	}
	u.attempts++
	tries := 0
	if e, ok := errors.AsType[*apiclient.Error](cause); ok && e.Over() {
		u.answered++
		tries = u.answered
	}
	u.givenUp, u.period, u.wait, u.cause, u.failedLookups = time.Now(), d.grace.period(s.takesTwo(step), tries), 0, cause, 0
	return u
}

// exhausted reports whether the create is not sent again.
func (l *lostCreate) exhausted() bool {
	return l.attempts >= answeredAttempts || l.attempts-l.answered >= attempts
}

func (l *lostCreate) exhaustion() error {
	return fmt.Errorf("sent %d times without success, and not found: %w", l.attempts, l.cause)
}

// reason says why the outcome is not known.
func (l *lostCreate) reason() error { return unknownOutcome{l.cause} }

// end is when the service does not carry out the request any more. Only a look-up that begins later shows that it did not.
func (l *lostCreate) end() time.Time { return l.givenUp.Add(l.period) }

// late is until when the service may still carry out a request of a create that is done, since another one did it; zero = there is none.
// Where the object is there it has no effect; it would make one that was deleted, or has another mark, once more.
func (s *Service) late(step *planner.Step, foundByLookup bool) time.Time {
	u := s.lostCreate(step)
	if u == nil && !step.Write.Announced {
		return time.Time{}
	}
	if u == nil {
		return s.inDoubt.grace.until(s.inDoubt.grace.GivenUp)
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
	return s.inDoubt.grace.until(u.givenUp)
}

// brief reports whether the period is too short for looks during it.
func (l *lostCreate) brief() bool { return l.period <= 8*shortGrace }

// pending is the error of a create that is looked for later: a few times during a long grace period, the last time at its end.
func (l *lostCreate) pending() error {
	const first, factor = 20, 4
	switch {
	case l.brief(), l.costly && l.wait > 0:
		l.wait = l.period
	default:
		l.wait = max(l.wait*factor, l.period/first)
	}
	return &executor.Pending{After: max(min(l.wait, time.Until(l.end())), 0), Err: l.reason()}
}

// takesTwo reports whether the service takes a second object that the same request makes. Of API v2's batches nobody says
// that they refuse a second object with the same external ID.
func (s *Service) takesTwo(step *planner.Step) bool {
	return !step.Kind.UniqueField() && (step.Batch != 0 || !step.Kind.UniqueExternalID || !s.usesExternalID(step))
}

// period is how long the service may still carry out a create, or be at it. tries is how often that has been answered soon.
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

// Grace is the time for which the service may still carry out an abandoned request. The
// zero value is no time.
type Grace struct {
	Period  time.Duration       // at most, from the moment the client gave up
	GivenUp time.Time           // when an earlier run had given up at the latest; zero or in the future = now
	OnWait  func(time.Duration) // called with the wait before planning waits; nil = nobody
}

// GivenUpBy is the latest moment at which a run that was last heard of then had given up its requests: it may have sent
// one three times, each time after a grace period, and after refusals for as long as the client puts up with them.
func GivenUpBy(lastHeard time.Time, timeout, period time.Duration) time.Time {
	return lastHeard.Add(attempts * (timeout + period + apiclient.DefaultMaxElapsed))
}

// begin replaces a zero or future GivenUp by now.
func (g Grace) begin() Grace {
	if now := time.Now(); g.GivenUp.IsZero() || g.GivenUp.After(now) {
		g.GivenUp = now
	}
	return g
}

// brief is the time within which the service carries out a request that it refuses a second time.
func (g Grace) brief() Grace { return Grace{Period: min(g.Period, shortGrace), GivenUp: g.GivenUp} }

// remaining is the rest of the period.
func (g Grace) remaining() time.Duration { return time.Until(g.GivenUp.Add(g.Period)) }

// until is when the period of a request is over that was given up at a time, in whole seconds as a state has it.
func (g Grace) until(givenUp time.Time) time.Time {
	return givenUp.Add(g.Period).Truncate(time.Second).Add(time.Second).UTC()
}

// Wait returns when the period is over: what is read then does not change by requests that were given up.
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

// settle looks for creates in doubt. It returns the rows that do not exist and can be sent; of the others it says what became
// of them.
func (w *write) settle(ctx context.Context, rows []row) []row {
	rows = slices.DeleteFunc(rows, func(r row) bool {
		u := r.lost
		tooEarly := u.costly && u.brief() && u.wait == 0 && time.Now().Before(u.end())
		if tooEarly {
			w.attempts[r.at].Err = u.pending()
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
		case seen.result == found:
			a.Outcome, a.Err = w.adoptOwn(ctx, r, seen.row)
		case seen.result == undetermined:
			a.Err = w.lookupFailed(u, seen.err)
		case begin.Before(u.end()): // it may have been carried out since
			u.failedLookups = 0
			a.Err = u.pending()
		case u.exhausted():
			a.Err = failure(r.step, u.exhaustion())
		default:
			absentRows = append(absentRows, r)
		}
	}
	return absentRows
}

// lookupFailed is the error of a look-up without a result. If the service fails for a
// while, the look-up is repeated.
func (w *write) lookupFailed(u *lostCreate, err error) error {
	var e *apiclient.Error
	if errors.As(err, &e) && e.Transient() && u.failedLookups < maxFailedLookups {
		u.failedLookups++
		return &executor.Pending{After: w.inDoubt.grace.Period / 6, Err: u.reason()}
	}
	if err == nil {
		return u.reason()
	}
	return unknownOutcome{fmt.Errorf("%w; checking whether it exists failed: %w", u.cause, abortOnStop(err))}
}

// adoptOwn takes an object that a create of planform made.
func (w *write) adoptOwn(ctx context.Context, r row, own resource.Row) (executor.Outcome, error) {
	if why := own.Hidden(); why != "" {
		return executor.Outcome{}, hiddenConflict(r.step, own.ID(), why)
	}
	out, err := w.adoptExisting(ctx, r, own)
	out.RecoveredByLookup, out.CreatedByUs = err == nil, true
	return out, err
}

// resolveRefused looks up the outcome of a create that the service refused: it has
// been seen to answer with an error after it had created the object.
func (w *write) resolveRefused(ctx context.Context, r row, e *apiclient.Error) (out executor.Outcome, err error) {
	seen := w.findCreated(ctx, r)
	switch {
	case seen.result == found && seen.row.Hidden() != "":
		return out, hiddenConflict(r.step, seen.row.ID(), seen.row.Hidden())
	case seen.result == found:
		out, err = w.adoptExisting(ctx, r, seen.row)
		// else it was refused because somebody else had created it
		out.RecoveredByLookup, out.CreatedByUs = err == nil, e.Generic() || r.lost != nil || r.step.Write.Announced || e.Doubted
		return out, err
	case e.Status == 409 && e.ExistingID != "":
		return w.adoptConflicting(ctx, r, e)
	case seen.result == undetermined && r.lost != nil:
		return out, w.lookupFailed(r.lost, seen.err)
	default:
		return out, failure(r.step, e)
	}
}

// foundError ends a create that is about to be repeated, since its object is there.
type foundError struct{ row resource.Row }

func (*foundError) Error() string { return "it was created by the request that was refused" }

// lookAgain looks for the objects of creates that were refused for the moment before they are sent again, where the service
// may take second ones; batches had created since objects before. Where nothing can tell, the service is taken at its word.
func (w *write) lookAgain(rows []row, since int) func(context.Context) error {
	if step := rows[0].step; step.Action != planner.Create || w.op == nil && !w.takesTwo(step) {
		return nil
	}
	return func(ctx context.Context) error {
		for _, seen := range w.lookUp(ctx, rows, since) {
			switch {
			case seen.result == found:
				return &foundError{seen.row}
			case seen.err != nil:
				return unknownOutcome{seen.err}
			}
		}
		return nil
	}
}

// checkSingle warns if the object of a create that was sent again exists twice: the
// service may have carried out the first request at the same time.
func (w *write) checkSingle(ctx context.Context, r row, out *executor.Outcome) {
	if r.lost == nil || r.lost.costly && r.lost.brief() {
		return
	}
	if _, several := errors.AsType[*ambiguousError](w.findCreated(ctx, r).err); !several {
		return
	}
	out.Warnings.Add(diag.Diagnostic{
		Severity: diag.Warning, Code: "doubled", Position: r.step.Position, Address: string(r.step.Address),
		Summary: string(r.step.Address) + " is on the service twice: a request without an answer took effect after it was repeated",
		Hint:    "keep the one with the ID " + out.ID + " (it is in the state file) and delete the other",
	})
}
