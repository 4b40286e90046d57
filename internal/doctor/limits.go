package doctor

import (
	"fmt"
	"time"

	"github.com/planform/planform/internal/diag"
)

const (
	few             = 10          // requests left that are worth a warning
	maxClockSkew    = time.Minute // between two clocks that are worth a warning
	clockResolution = time.Second
)

// checkRateLimit reports how many requests are left.
func (e *examination) checkRateLimit() {
	when := ""
	if !e.reset.IsZero() {
		when = ", more by " + e.reset.Format("15:04:05 MST")
	}
	switch {
	case e.limited != nil:
		e.add("rate limit", Warning, "it is used up"+waitText(e.limited)+"; the remaining checks were skipped",
			"run planform doctor again after that; other programs may be using the same credential")
	case e.remaining < 0 && len(e.lists) > 0:
		e.add("rate limit", OK, "the service announces none", "")
	case e.remaining < 0:
	case e.remaining == 0:
		e.add("rate limit", Warning, "no requests are left"+when+"; the remaining checks were skipped",
			"run planform doctor again after that; other programs may be using the same credential")
	case e.remaining < few:
		e.add("rate limit", Warning, diag.Count(e.remaining, "request")+" left"+when,
			"runs will have to wait; other programs may be using the same credential")
	default:
		e.add("rate limit", OK, diag.Count(e.remaining, "request")+" left"+when, "")
	}
}

// checkClock compares this machine's clock with the service's.
func (e *examination) checkClock() {
	if !e.hasClock {
		return
	}
	ahead, way := -e.clockSkew, "ahead of"
	if ahead < 0 {
		ahead, way = -ahead, "behind"
	}
	switch {
	case ahead <= clockResolution:
		e.add("clock", OK, "this machine's clock agrees with the service's", "")
	case ahead <= maxClockSkew:
		e.add("clock", OK, fmt.Sprintf("this machine's clock is %s %s the service's", ahead, way), "")
	default:
		e.add("clock", Warning, fmt.Sprintf("this machine's clock is %s %s the service's", ahead, way),
			"set it, best with NTP: certificates and the times in state and log depend on it")
	}
}
