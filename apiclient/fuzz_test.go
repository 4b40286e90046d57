package apiclient_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
)

// FuzzHeaders checks the waits for arbitrary headers of a refusal and of an answer.
func FuzzHeaders(f *testing.F) {
	for _, after := range []string{"", "0", "-1", "7", "2.5", "1e9", "1e300", "Inf", "NaN", "0x10", "9223372036854775807", "Sat, 01 Jan 2000 00:00:05 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT"} {
		f.Add(429, after, "", "0", "1")
		f.Add(503, after, "Sat, 01 Jan 2000 00:00:00 GMT", "-5", "99999999999999999999")
	}
	f.Add(200, "", "Mon, 01 Jan 0001 00:00:00 GMT", "9223372036854775807", "9223372036854775807")
	f.Fuzz(func(t *testing.T, status int, after, date, left, reset string) {
		if status < 200 || status > 599 {
			status = 429
		}
		synctest.Test(t, func(t *testing.T) {
			n := 0
			c := offline(t, func(*http.Request) (*http.Response, error) {
				headers := []string{"Retry-After", after, "Date", date, "X-RateLimit-Remaining", left, "X-RateLimit-Reset", reset}
				if n++; n > 2 {
					return reply(200, `{"id":"58ca3d9a-4cdc-4cec-a6bd-de60a03fa86f"}`), nil
				}
				return reply(status, `{"id":"58ca3d9a-4cdc-4cec-a6bd-de60a03fa86f"}`, headers...), nil
			})
			begin := time.Now()
			for range 3 {
				if _, err := c.Do(t.Context(), request(documented(t, 1))); err != nil {
					if said := err.Error(); len(said) > 2000 || strings.ContainsFunc(said, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x202e }) {
						t.Errorf("%d bytes: %q", len(said), said)
					}
				}
			}
			if took := time.Since(begin); took < 0 || took > time.Hour {
				t.Errorf("three requests took %s", took)
			}
			c.Quota()
			c.Served()
		})
	})
}

// FuzzSecret checks that no row contains the secret of an answer.
func FuzzSecret(f *testing.F) {
	const id = `"id":"58ca3d9a-4cdc-4cec-a6bd-de60a03fa86f"`
	for _, body := range []string{
		`{` + id + `,"secret_key":"s3cr3t"}`, `{` + id + `,"secret_key":{"secret_key":["s3cr3t"]}}`, `{` + id + `,"a":[[{"secret_key":"s3cr3t"}]]}`,
		`[{` + id + `,"secret_key":"one"},{"secret_key":"two"}]`, `{"results":[{` + id + `,"secret_key":null}]}`, `{"secret_key":"one","secret_key":"two"}`, `null`,
	} {
		f.Add(body)
	}
	kind := resource.MustLookup("webhook")
	var has func(v any) bool
	has = func(v any) bool {
		switch v := v.(type) {
		case resource.Row:
			return has(map[string]any(v))
		case map[string]any:
			for name, inner := range v {
				if name == kind.Secret() || has(inner) {
					return true
				}
			}
		case []any:
			return slices.ContainsFunc(v, has)
		}
		return false
	}
	f.Fuzz(func(t *testing.T, body string) {
		c := client(t, "https://plane.example.com", func(cfg *apiclient.Config) {
			cfg.Retries = -1
			cfg.Transport = scripted(func(*http.Request) (*http.Response, error) { return reply(200, body), nil })
		})
		for _, verb := range []resource.Verb{resource.Create, resource.List, resource.NewSecret} {
			for _, api := range []resource.API{resource.V1, resource.V2} {
				op, ok := kind.Op(verb, api)
				if !ok {
					continue
				}
				if verb == resource.List {
					rows, _ := c.List(t.Context(), request(op))
					for _, row := range rows {
						if has(row) {
							t.Errorf("%s: %v", op, row)
						}
					}
					continue
				}
				resp, err := c.Do(t.Context(), request(op))
				if err != nil {
					continue
				}
				for _, row := range append(resp.Rows, resp.Row) {
					if has(row) {
						t.Errorf("%s: %v", op, row)
					}
				}
			}
		}
	})
}
