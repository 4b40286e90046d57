package apiclient_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/apiclient"
)

func TestHeadersHoldClockAndQuota(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		headers []string
		want    apiclient.Headers
	}{
		"valid headers give the clock and the quota": {
			[]string{"Date", "Fri, 20 Nov 2026 12:00:00 GMT", "X-RateLimit-Remaining", "59", "X-RateLimit-Reset", "1795176060"},
			apiclient.Headers{Date: at, Remaining: 59, Reset: at.Add(time.Minute)},
		},
		"missing headers give no quota":       {nil, apiclient.Headers{Remaining: -1}},
		"headers with nonsense give no quota": {[]string{"Date", "today", "X-RateLimit-Remaining", "-3", "X-RateLimit-Reset", "soon"}, apiclient.Headers{Remaining: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, code := range []int{200, 403} {
				c := offline(t, func(*http.Request) (*http.Response, error) { return reply(code, `{}`, tt.headers...), nil })
				resp, err := c.Do(t.Context(), request(documented(t, 18)))
				var got apiclient.Headers
				if e, ok := errors.AsType[*apiclient.Error](err); ok {
					got = e.Headers
				} else {
					got = resp.Headers
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%d: %s", code, diff)
				}
			}
		})
	}
}

func TestAResponseReportsAToggledSlash(t *testing.T) {
	t.Parallel()
	c := setup(t, inTurn(status(301, "", "Location", "/plane"+"/api/v1/workspaces/acme/initiatives/labels"), status(200, `[]`), status(200, `[]`)))
	for _, want := range []bool{true, false} {
		resp, err := c.Do(t.Context(), request(documented(t, 18)))
		if err != nil || resp.Redirected != want {
			t.Errorf("%+v, %v", resp, err)
		}
	}
}

func TestAWebPageIsRecognised(t *testing.T) {
	t.Parallel()
	for _, code := range []int{200, 404, 502} {
		e := failure(t, setup(t, status(code, "<html><title>Log in</title></html>")), documented(t, 1))
		if !errors.Is(e, apiclient.ErrWebPage) {
			t.Errorf("%d: %v", code, e)
		}
	}
}
