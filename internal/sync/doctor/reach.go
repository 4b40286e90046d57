package doctor

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// checkReached reports whether the first request reached the service's API, and if not, why and what to do.
func checkReached(base string, err error) (summary, hint string, reached bool) {
	e, ok := errors.AsType[*apiclient.Error](err)
	broken, _ := errors.AsType[*apiclient.ConnectionError](err)
	switch {
	case err == nil:
		return "", "", true
	case !ok:
		return diag.PlainText(err), "", false
	case e.Status == 0 && broken != nil:
		return base + ": " + broken.Reason, broken.Advice, false
	case e.Status == 0:
		return base + ": " + diag.PlainText(e.Err), "", false
	case e.Status >= 500:
		return "the service fails: " + refusalText(e), "try again later, or look at the service's own log", false
	case errors.Is(e, apiclient.ErrWebPage):
		summary = base + " answers with a web page, not as the API"
		if e.Message != "" {
			summary += ": " + refusalText(e)
		}
		return summary, baseURLHint(base), false
	case e.Status == 400 && strings.Contains(e.Message, "HTTPS"):
		return base + " wants https: " + refusalText(e), "begin the base URL with https://", false
	case e.Status >= 300 && e.Status < 400:
		return base + ": " + refusalText(e), "", false // the text says what to do
	case e.Status < 300, e.Op.Verb == resource.Self && !isAPIError(e):
		return base + " answers, but not as the API: " + refusalText(e), baseURLHint(base), false
	default:
		return "", "", true
	}
}

// isAPIError reports whether the API gives such an answer to the request for the credential's user.
func isAPIError(e *apiclient.Error) bool {
	return e.Credential() || e.Permission() || e.Unsupported() || errors.Is(e, apiclient.ErrRateLimited)
}

func waitText(e *apiclient.Error) string {
	if e.RetryAfter <= 0 {
		return ""
	}
	return "; it asks to wait " + e.RetryAfter.Round(time.Second).String()
}

// baseURLHint returns the next step for a base URL at which something else answers.
func baseURLHint(base string) string {
	u, err := url.Parse(base)
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return "planform looks for the API at " + strings.TrimRight(base, "/") +
			"/api/v1: check the host, and add the path of Plane to the base URL"
	}
	return "planform looks for the API at " + strings.TrimRight(base, "/") + "/api/v1: leave " + strings.TrimRight(u.Path, "/") +
		" out of the base URL, unless Plane is below that path"
}
