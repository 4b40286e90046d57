package provider

import (
	"context"
	"errors"
	"time"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// DefaultGrace is for how long the service is expected to go on, at most, with a
// request that its client has given up. Until then nothing counts as absent.
const DefaultGrace = time.Minute

// shortGrace is enough where the service refuses a second object with the same
// external ID: a request that is carried out later does nothing then. It only
// keeps two from being carried out at the same moment.
const shortGrace = 2 * time.Second

// Grace says how long what was sent may still be carried out. The zero value is not at all.
type Grace struct {
	Period  time.Duration       // the service goes on, at most, with a request that its client has given up
	GivenUp time.Time           // by then a former run had done so; zero, or later than now, is now
	Tell    func(time.Duration) // told of a wait while planning before it begins; nil = nobody
}

// begin turns the zero time, and one to come, into now.
func (g Grace) begin() Grace {
	if now := time.Now(); g.GivenUp.IsZero() || g.GivenUp.After(now) {
		g.GivenUp = now
	}
	return g
}

// of is the grace period for a create of a kind.
func (g Grace) of(k *resource.Kind, api resource.API) time.Duration {
	if k.UniqueExternalID && k.HasExternalID && api == resource.Full {
		return min(g.Period, shortGrace)
	}
	return g.Period
}

// left is how long it still is.
func (g Grace) left() time.Duration { return time.Until(g.GivenUp.Add(g.Period)) }

// wait returns when it is at an end.
func (g Grace) wait(ctx context.Context) error {
	left := g.left()
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

// unresolved is a create of which it is not known whether it was carried out.
type unresolved struct {
	givenUp  time.Time // when its client did so
	period   time.Duration
	wait     time.Duration // before the next look
	cause    error         // why; nil = a former run may have sent it
	attempts int           // of this run, to send it
	blind    int           // looks in a row that could not tell
}

// unresolvedCreate is what is known of a step's request without an outcome, or nil.
func (s *Service) unresolvedCreate(step *planner.Step) *unresolved {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.open[step]
	if u == nil && step.Pending {
		u = &unresolved{givenUp: s.grace.GivenUp, period: s.grace.of(step.Kind, s.plan.API)}
		s.open[step] = u
	}
	return u
}

// giveUp notes that a create was sent and got no answer.
func (s *Service) giveUp(step *planner.Step, cause error) *unresolved {
	u := s.unresolvedCreate(step)
	s.mu.Lock()
	defer s.mu.Unlock()
	if u == nil {
		u = &unresolved{}
		s.open[step] = u
	}
	u.givenUp, u.period, u.wait, u.cause, u.blind = time.Now(), s.grace.of(step.Kind, s.plan.API), 0, cause, 0
	u.attempts++
	return u
}

// reason says why it is not settled.
func (u *unresolved) reason() error {
	if u.cause == nil {
		return errEarlier
	}
	return unknownOutcome{u.cause}
}

// errEarlier is why a create waits that this run has not sent.
var errEarlier = errors.New("an earlier run may have sent it, and got no response")

// left is how long its request may still be carried out.
func (u *unresolved) left() time.Duration { return time.Until(u.givenUp.Add(u.period)) }

// next is the time until the next look: a few during a long grace period, the last at its end.
func (u *unresolved) next() time.Duration {
	const first, factor = 20, 4
	u.wait = max(u.wait*factor, u.period/first)
	if u.period <= shortGrace {
		u.wait = u.period
	}
	return max(min(u.wait, u.left()), 0)
}
