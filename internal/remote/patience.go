package remote

import (
	"context"
	"time"
)

// DefaultPatience is for how long the service is expected to go on, at most, with
// a request that its client has given up. Until then nothing counts as absent.
const DefaultPatience = time.Minute

// Patience says how long what a former run sent may still be carried out. The
// zero value is not at all.
type Patience struct {
	For     time.Duration       // that the service goes on, at most, with a request that its client has given up
	GivenUp time.Time           // by then the former run had done so; zero, or later than now, is now
	Tell    func(time.Duration) // told of a wait before it begins; nil = nobody
}

// begin turns the zero time, and one to come, into now.
func (p Patience) begin() Patience {
	if now := time.Now(); p.GivenUp.IsZero() || p.GivenUp.After(now) {
		p.GivenUp = now
	}
	return p
}

// left is how long it still is.
func (p Patience) left() time.Duration { return time.Until(p.GivenUp.Add(p.For)) }

// wait returns when it is at an end.
func (p Patience) wait(ctx context.Context) error {
	left := p.left()
	if left <= 0 {
		return nil
	}
	if p.Tell != nil {
		p.Tell(left)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(left):
		return nil
	}
}
