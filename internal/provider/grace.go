package provider

import (
	"context"
	"errors"
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// DefaultGrace is the time for which the service is expected, at most, to go on with a
// request that its client has given up. Until then no object counts as absent.
const DefaultGrace = time.Minute

// shortGrace is the grace period where the service refuses a second object with the same
// external ID: a late request has no effect then. It only keeps two requests from being
// carried out at the same time.
const shortGrace = 2 * time.Second

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

// of is the grace period for a create of a kind. mayBeTwo says that the service may accept a second request:
// of API v2's batches nobody says that they refuse a second object with the same external ID, and an object
// with another key than before has another external ID.
func (g Grace) of(k *resource.Kind, api resource.API, mayBeTwo bool) time.Duration {
	if k.UniqueExternalID && k.HasExternalID && api.Wide() && !mayBeTwo {
		return min(g.Period, shortGrace)
	}
	return g.Period
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
	sentAfter     int           // objects that batches had created before
	failedLookups int           // in a row
}

// lostCreate returns the step's create without an answer, or nil.
func (s *Service) lostCreate(step *planner.Step) *lostCreate {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.lostCreates[step]
	if u == nil && step.Pending {
		mayBeTwo := step.Batch != 0 || step.PendingBatch || len(planner.AllAddresses(step.Object)) > 1
		u = &lostCreate{givenUp: s.grace.GivenUp, period: s.grace.of(step.Kind, s.plan.API, mayBeTwo)}
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
		u = &lostCreate{}
		s.lostCreates[step] = u
	}
	u.givenUp, u.period, u.wait, u.cause, u.failedLookups = time.Now(), s.grace.of(step.Kind, s.plan.API, step.Batch != 0), 0, cause, 0
	u.attempts++
	return u
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

// next is the wait before the next look-up: a few during a long grace period, the last at its end.
func (u *lostCreate) next() time.Duration {
	const first, factor = 20, 4
	u.wait = max(u.wait*factor, u.period/first)
	if u.period <= shortGrace {
		u.wait = u.period
	}
	return max(min(u.wait, time.Until(u.end())), 0)
}
