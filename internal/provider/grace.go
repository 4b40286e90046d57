package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/planform/planform/apiclient"
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

// earlier is the period of a create that an earlier run announced. That may have sent another key or name.
func (s *Service) earlier(step *planner.Step) time.Duration {
	byName := step.Kind.UniqueField() && step.Pending.Name == step.Object.Name()
	byExternalID := step.Kind.UniqueExternalID && s.usesExternalID(step) && step.Batch == 0 && !step.Pending.Batch && len(planner.AllAddresses(step.Object)) == 1
	return s.grace.period(!byName && !byExternalID, 0)
}

// Grace is the time for which the service may still carry out an abandoned request. The
// zero value is no time.
type Grace struct {
	Period  time.Duration       // at most, from the moment the client gave up
	GivenUp time.Time           // when an earlier run had given up at the latest; zero or in the future = now
	Tell    func(time.Duration) // called with the wait before planning waits; nil = nobody
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

// remaining is the rest of the period.
func (g Grace) remaining() time.Duration { return time.Until(g.GivenUp.Add(g.Period)) }

// wait returns when the period is over.
func (g Grace) wait(ctx context.Context) error {
	left := g.remaining()
	if left <= 0 {
		return nil
	}
	if g.Tell != nil {
		g.Tell(left)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(left):
		return nil
	}
}

// lostCreate is a create that may or may not have been carried out.
type lostCreate struct {
	givenUp       time.Time // when its client gave up
	period        time.Duration
	wait          time.Duration // before the next look-up
	cause         error         // why there was no answer; nil = an earlier run may have sent it
	attempts      int           // requests sent by this run
	answered      int           // those of them that were answered soon
	sentAfter     int           // objects that batches had created before
	failedLookups int           // in a row
	costly        bool          // each look takes many requests
}

// lostCreate returns the step's create without an answer, or nil.
func (s *Service) lostCreate(step *planner.Step) *lostCreate {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.lostCreates[step]
	if u == nil && step.Pending != nil {
		u = &lostCreate{givenUp: s.grace.GivenUp, period: s.earlier(step)}
		s.lostCreates[step] = u
	}
	return u
}

// giveUp notes a create that was sent and got no answer.
func (s *Service) giveUp(step *planner.Step, cause error) *lostCreate {
	u := s.lostCreate(step)
	s.mu.Lock()
	defer s.mu.Unlock()
	if u == nil {
		u = &lostCreate{costly: s.onlyNumbersTell(step)}
		s.lostCreates[step] = u
	}
	u.attempts++
	tries := 0
	if e, ok := errors.AsType[*apiclient.Error](cause); ok && e.Over() {
		u.answered++
		tries = u.answered
	}
	u.givenUp, u.period, u.wait, u.cause, u.failedLookups = time.Now(), s.grace.period(s.takesTwo(step), tries), 0, cause, 0
	return u
}

// exhausted reports whether the create is not sent again.
func (u *lostCreate) exhausted() bool {
	return u.attempts >= answeredAttempts || u.attempts-u.answered >= attempts
}

func (u *lostCreate) exhaustion() error {
	return fmt.Errorf("sent %d times without success, and not found: %w", u.attempts, u.cause)
}

// reason says why the outcome is not known.
func (u *lostCreate) reason() error {
	if u.cause == nil {
		return errEarlier
	}
	return unknownOutcome{u.cause}
}

// errEarlier is the reason of a pending create that this run has not sent.
var errEarlier = errors.New("an earlier run may have sent it, and got no response")

// end is when the service does not carry out the request any more. Only a look-up that begins later shows that it did not.
func (u *lostCreate) end() time.Time { return u.givenUp.Add(u.period) }

// brief reports whether the period is too short for looks during it.
func (u *lostCreate) brief() bool { return u.period <= 8*shortGrace }

// next is the wait before the next look-up: a few during a long grace period, the last at its end.
func (u *lostCreate) next() time.Duration {
	const first, factor = 20, 4
	switch {
	case u.brief(), u.costly && u.wait > 0:
		u.wait = u.period
	default:
		u.wait = max(u.wait*factor, u.period/first)
	}
	return max(min(u.wait, time.Until(u.end())), 0)
}
