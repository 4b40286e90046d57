package doctor

import (
	"net/url"
	"strings"

	"github.com/planform/planform/internal/text/diag"
)

const (
	fewRequests = 10 // remaining requests that are worth a warning
	usualQuota  = 60 // requests in a minute that the service takes from a key if nobody changed it
)

// checkRateLimit reports how many requests are left.
func (ex *examination) checkRateLimit() {
	when := ""
	if !ex.reset.IsZero() {
		when = ", more by " + ex.reset.Format("15:04:05 MST")
	}
	switch {
	case ex.limited != nil:
		ex.add("rate limit", Warning, "it is used up"+waitText(ex.limited)+"; the remaining checks were skipped",
			"run planform doctor again after that; other programs may be using the same credential")
	case ex.remaining < 0 && len(ex.lists) > 0:
		ex.add("rate limit", OK, "the service announces none", "")
	case ex.remaining < 0:
	case ex.remaining == 0:
		ex.add("rate limit", Warning, "no requests are left"+when+"; the remaining checks were skipped",
			"run planform doctor again after that; other programs may be using the same credential")
	case ex.remaining < fewRequests:
		ex.add("rate limit", Warning, diag.Count(ex.remaining, "request")+" left"+when,
			"runs will have to wait; other programs may be using the same credential")
	default:
		hint := ""
		if u, err := url.Parse(ex.BaseURL); ex.remaining < usualQuota && err == nil && !strings.HasSuffix(u.Hostname(), ".plane.so") {
			hint = "on a server of your own, API_KEY_RATE_LIMIT=6000/minute in the environment of its API raises the limit"
		}
		ex.add("rate limit", OK, diag.Count(ex.remaining, "request")+" left"+when, hint)
	}
}
