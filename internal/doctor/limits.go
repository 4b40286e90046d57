package doctor

import (
	"fmt"
	"time"

	"github.com/planform/planform/internal/diag"
)

const (
	few     = 10          // requests left that are worth a warning
	askew   = time.Minute // between two clocks that are worth a warning
	oneTick = time.Second
)

// limit tells how many requests are left.
func (e *examination) limit() {
	when := ""
	if !e.reset.IsZero() {
		when = ", more by " + e.reset.Format("15:04:05 MST")
	}
	switch {
	case e.limited != nil:
		e.add("rate limit", Warning, "it is used up"+pause(e.limited)+"; the remaining checks were skipped", "run planform doctor again after that; other programs may be using the same credential")
	case e.remaining < 0 && len(e.found) > 0:
		e.add("rate limit", OK, "the service announces none", "")
	case e.remaining < 0:
	case e.remaining == 0:
		e.add("rate limit", Warning, "no requests are left"+when+"; the remaining checks were skipped", "run planform doctor again after that; other programs may be using the same credential")
	case e.remaining < few:
		e.add("rate limit", Warning, diag.Count(e.remaining, "request")+" left"+when, "runs will have to wait; other programs may be using the same credential")
	default:
		e.add("rate limit", OK, diag.Count(e.remaining, "request")+" left"+when, "")
	}
}

// clock compares this machine's clock with the service's.
func (e *examination) clock() {
	if !e.dated {
		return
	}
	ahead, way := -e.drift, "ahead of"
	if ahead < 0 {
		ahead, way = -ahead, "behind"
	}
	switch {
	case ahead <= oneTick:
		e.add("clock", OK, "this machine's clock agrees with the service's", "")
	case ahead <= askew:
		e.add("clock", OK, fmt.Sprintf("this machine's clock is %s %s the service's", ahead, way), "")
	default:
		e.add("clock", Warning, fmt.Sprintf("this machine's clock is %s %s the service's", ahead, way), "set it, best with NTP: certificates and the times in state and log depend on it")
	}
}
