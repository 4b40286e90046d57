package apiclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
)

// dialFails returns the error of a transport that could not connect.
func dialFails() error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

func TestRetriesFollowTheEffectAndTheStatus(t *testing.T) {
	t.Parallel()
	const (
		read   = 18 // GET
		create = 1  // POST, must not be repeated
		change = 5  // PATCH, harmless to repeat
		add    = 4  // POST that adds members, harmless to repeat
		remove = 0  // DELETE

		forAMoment = 3 // or 4, by the jitter
	)
	connection := errors.New("read: connection reset by peer")
	tests := []struct {
		name    string
		op      int
		status  int // 0 = err
		err     error
		headers []string
		body    string
		sent    int
		effect  apiclient.Effect
	}{
		{"a read is repeated after a lost connection", read, 0, connection, nil, "", 6, apiclient.UnknownEffect},
		{"a read is repeated for a moment if nothing listens at first", read, 0, dialFails(), nil, "", forAMoment, apiclient.NoEffect},
		{"a read is repeated after 502", read, 502, nil, nil, "", 6, apiclient.UnknownEffect},
		{"a read is repeated after 503", read, 503, nil, nil, "", 6, apiclient.UnknownEffect},
		{"a read is repeated after 504", read, 504, nil, nil, "", 6, apiclient.UnknownEffect},
		{"a read is repeated a few times after 500", read, 500, nil, nil, "", 3, apiclient.UnknownEffect},
		{"a read is not repeated after 501", read, 501, nil, nil, "", 1, apiclient.UnknownEffect},
		{"a read is not repeated after 404", read, 404, nil, nil, "", 1, apiclient.NoEffect},
		{"a read is not repeated after nonsense", read, 200, nil, nil, "nonsense", 1, apiclient.UnknownEffect},
		{"a read is not repeated if the name does not exist", read, 0, &net.DNSError{Err: "no such host", IsNotFound: true}, nil, "", 1, apiclient.NoEffect},
		{"a read is repeated for a moment if names cannot be looked up now", read, 0, &net.DNSError{Err: "server misbehaving", IsTemporary: true}, nil, "", forAMoment, apiclient.NoEffect},
		{"a create is not repeated after a lost connection", create, 0, connection, nil, "", 1, apiclient.UnknownEffect},
		{"a create is repeated for a moment if nothing listens at first", create, 0, dialFails(), nil, "", forAMoment, apiclient.NoEffect},
		{"a create is not repeated after 500", create, 500, nil, nil, "", 1, apiclient.UnknownEffect},
		{"a create is not repeated after 502", create, 502, nil, nil, "", 1, apiclient.UnknownEffect},
		{"a create is not repeated after 503", create, 503, nil, nil, "", 1, apiclient.UnknownEffect},
		{"a create is repeated after 503 with Retry-After, which says that it did nothing", create, 503, nil, []string{"Retry-After", "1"}, "", 6, apiclient.UnknownEffect},
		{"a create is not repeated after 400", create, 400, nil, nil, "", 1, apiclient.Rejected},
		{"a create is repeated after 429, for as long as the pauses fit in", create, 429, nil, []string{"Retry-After", "1"}, `{"error_message":"RATE_LIMIT_EXCEEDED"}`, 21, apiclient.NoEffect},
		{"a 429 that is not the service's own may come from what passed the create on", create, 429, nil, []string{"Retry-After", "1"}, "{}", 21, apiclient.UnknownEffect},
		{"a change is repeated after 429", change, 429, nil, []string{"Retry-After", "1"}, `{"error_message":"RATE_LIMIT_EXCEEDED"}`, 21, apiclient.NoEffect},
		{"a change is repeated after a 429 that is not the service's own, which may have passed it on", change, 429, nil, []string{"Retry-After", "1"}, "{}", 21, apiclient.UnknownEffect},
		{"adding members is repeated after 503 with Retry-After, which may have passed it on", add, 503, nil, []string{"Retry-After", "1"}, "", 6, apiclient.UnknownEffect},
		{"a change is repeated after a lost connection", change, 0, connection, nil, "", 6, apiclient.UnknownEffect},
		{"a change is repeated after 503", change, 503, nil, nil, "", 6, apiclient.UnknownEffect},
		{"a change is not repeated after 400", change, 400, nil, nil, "", 1, apiclient.Rejected},
		{"a delete is repeated twice after 403, which the service was seen to answer of what is gone", remove, 403, nil, nil, "", 3, apiclient.NoEffect},
		{"a delete is not repeated after 403 to a key that is not valid", remove, 403, nil, nil, `{"detail":"Given API token is not valid"}`, 1, apiclient.NoEffect},
		{"a change is not repeated after 403", change, 403, nil, nil, "", 1, apiclient.NoEffect},
		{"a 429 in the words of API v2 is the service's own", change, 429, nil, []string{"Retry-After", "1"}, `{"type":"rate_limited","code":"rate_limited","detail":"Rate limit exceeded. Retry after 1 seconds."}`, 21, apiclient.NoEffect},
		{"adding members is repeated after 502", add, 502, nil, nil, "", 6, apiclient.UnknownEffect},
		{"adding members is repeated a few times after 500", add, 500, nil, nil, "", 3, apiclient.UnknownEffect},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				c := offline(t, func(r *http.Request) (*http.Response, error) {
					sent++
					if r.Body != nil {
						if body, err := io.ReadAll(r.Body); err != nil || len(body) == 0 {
							t.Errorf("attempt %d has the body %q, %v", sent, body, err)
						}
					}
					if test.err != nil {
						return nil, test.err
					}
					return reply(test.status, test.body, test.headers...), nil
				})
				start := time.Now()
				op := &resource.Operation{Kind: "label", Verb: resource.Delete, Method: http.MethodDelete, Path: "/api/v1/labels/"}
				if test.op != remove {
					op = documented(t, test.op)
				}
				e := failure(t, c, op)
				if sent != test.sent && (e.Status != 0 || test.sent != forAMoment || sent != forAMoment+1) || e.Attempts != sent || e.Effect != test.effect {
					t.Errorf("sent %d times instead of %d, attempts %d, %s: %v", sent, test.sent, e.Attempts, e.Effect, e)
				}
				if took := time.Since(start); e.Status == 0 && test.sent == forAMoment && took > 3*time.Second || test.sent == 6 && (took < 7*time.Second || took > 24*time.Second) || took > 5*time.Minute {
					t.Errorf("took %s", took)
				}
			})
		})
	}
}

func TestARetrySucceeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var events []apiclient.Event
		sent := 0
		c := offline(t, func(*http.Request) (*http.Response, error) {
			sent++
			switch sent {
			case 1:
				return nil, dialFails()
			case 2:
				return reply(503, ``, "Retry-After", "20"), nil
			case 3:
				resp := reply(200, ``)
				resp.Body = io.NopCloser(io.MultiReader(iotest.DataErrReader(iotest.ErrReader(io.ErrUnexpectedEOF))))
				return resp, nil
			default:
				return reply(200, `[]`), nil
			}
		}, func(cfg *apiclient.Config) { cfg.Notify = func(e apiclient.Event) { events = append(events, e) } })
		start := time.Now()
		if _, err := c.List(t.Context(), request(documented(t, 14))); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took < 20*time.Second || took > 25*time.Second {
			t.Errorf("took %s", took)
		}
		if len(events) != 4 || events[3].Type != apiclient.Answered || events[1].Wait != 20*time.Second || events[1].Attempt != 2 || events[0].Err == nil || events[0].Method != "GET" {
			t.Errorf("events %+v", events)
		}
	})
}

func TestTheWorstEffectOfAllAttemptsCounts(t *testing.T) {
	t.Parallel()
	// The first attempt may have been carried out, so the refusal of the last one proves little.
	for name, last := range map[string]func() (*http.Response, error){
		"refused connection": func() (*http.Response, error) { return nil, dialFails() },
		"404":                func() (*http.Response, error) { return reply(404, `{}`), nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				c := offline(t, func(*http.Request) (*http.Response, error) {
					if sent++; sent == 1 {
						return nil, io.ErrUnexpectedEOF
					}
					return last()
				})
				if e := failure(t, c, documented(t, 5)); e.Effect != apiclient.UnknownEffect {
					t.Errorf("%s: %v", e.Effect, e)
				}
			})
		})
	}
}

func TestTheErrorOfAnUnreachableServiceNamesIt(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"a refused connection names the base URL":             {os.NewSyscallError("connect", syscall.ECONNREFUSED), "connection refused: nothing listens there"},
		"a host without an address is named":                  {&net.DNSError{Err: "no such host", Name: "plane.example.com", Server: "10.0.0.1:53", IsNotFound: true}, "there is no host named plane.example.com"},
		"a connection that takes too long names the base URL": {os.ErrDeadlineExceeded, "no connection in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := offline(t, func(*http.Request) (*http.Response, error) {
					return nil, &net.OpError{Op: "dial", Net: "tcp", Err: tt.err}
				})
				start := time.Now()
				e := failure(t, c, documented(t, 1))
				want := "POST …/projects/9bc9cae1-b034-451c-8022-d59b61045d73/work-items/: cannot connect to https://plane.example.com: " + tt.want
				if e.Error() != want || e.Effect != apiclient.NoEffect {
					t.Errorf("got  %v\nwant %s", e, want)
				}
				if took := time.Since(start); took > 3*time.Second {
					t.Errorf("it took %s to say so", took)
				}
			})
		})
	}
}

func TestARequestWaitsForTheEndOfAnOutage(t *testing.T) {
	t.Parallel()
	noHost := &net.DNSError{Err: "no such host", IsNotFound: true}
	for name, tt := range map[string]struct {
		lasts time.Duration
		err   error
		most  time.Duration
	}{
		"a request outlasts an outage of four minutes":              {4 * time.Minute, dialFails(), 5 * time.Minute},
		"a request outlasts a name server's outage of four minutes": {4 * time.Minute, noHost, 5 * time.Minute},
		"a request gives up in an outage of an hour":                {time.Hour, dialFails(), 6 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begins := time.Now().Add(time.Second)
				c := offline(t, func(*http.Request) (*http.Response, error) {
					pass(100 * time.Millisecond)
					if since := time.Since(begins); since > 0 && since < tt.lasts {
						return nil, tt.err
					}
					return reply(201, `{"name":"x"}`), nil
				})
				start := time.Now()
				done, failed, stopped := 0, 0, 0
				for range 100 {
					switch _, err := c.Do(t.Context(), request(documented(t, 1))); {
					case err == nil:
						done++
					case errors.Is(err, apiclient.ErrStopped):
						stopped++
					default:
						failed++
					}
				}
				if ends := tt.lasts < time.Hour; ends && done != 100 || !ends && (failed != 1 || done+stopped != 99) {
					t.Errorf("%d done, %d failed, %d not sent", done, failed, stopped)
				}
				if took := time.Since(start); took > tt.most {
					t.Errorf("took %s", took)
				}
			})
		})
	}
}

func TestRetriesEndAfterAttemptsOrTime(t *testing.T) {
	t.Parallel()
	t.Run("retries end with the context", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c := offline(t, func(*http.Request) (*http.Response, error) { return reply(503, ``, "Retry-After", "100"), nil })
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			start := time.Now()
			_, err := c.Do(ctx, request(documented(t, 5)))
			e, ok := errors.AsType[*apiclient.Error](err)
			if !ok || !errors.Is(err, context.DeadlineExceeded) || e.Effect != apiclient.UnknownEffect || time.Since(start) != 10*time.Second {
				t.Errorf("after %s: %v", time.Since(start), err)
			}
		})
	})
	t.Run("retries end when their time is used up", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			sent := 0
			c := offline(t, func(*http.Request) (*http.Response, error) {
				sent++
				return reply(503, ``, "Retry-After", "100"), nil
			}, func(cfg *apiclient.Config) { cfg.Retries = 1000 })
			start := time.Now()
			_ = failure(t, c, documented(t, 5))
			if sent != 4 || time.Since(start) != 300*time.Second {
				t.Errorf("%d attempts in %s", sent, time.Since(start))
			}
		})
	})
	t.Run("retries end when the client is stopped", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c := offline(t, func(*http.Request) (*http.Response, error) {
				return reply(429, `{"error_message":"RATE_LIMIT_EXCEEDED"}`, "Retry-After", "100"), nil
			})
			go func() {
				pass(5 * time.Second)
				c.Stop()
			}()
			e := failure(t, c, documented(t, 1))
			if !errors.Is(e, apiclient.ErrStopped) || e.Effect != apiclient.NoEffect {
				t.Error(e)
			}
			if e := failure(t, c, documented(t, 1)); !errors.Is(e, apiclient.ErrStopped) || e.Effect != apiclient.NoEffect {
				t.Errorf("after it: %v", e)
			}
		})
	})
}

func TestOnlyAToggledSlashIsFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := inTurn(status(200, `{"name":"x"}`))
	other := listenHTTP(t, elsewhere)
	project, err := client(t, other).Path(documented(t, 2), params(documented(t, 2)))
	if err != nil {
		t.Fatal(err)
	}
	slashed := "/plane" + project + "/"
	body := ` {"name":"Rebuild the checkout"}`
	moved := func(code int, location string) http.HandlerFunc { return status(code, ``, "Location", location) }
	ok := status(200, `{"name":"x"}`)
	tests := []struct {
		name   string
		list   []http.HandlerFunc
		sent   []string
		says   string // "" = success
		effect apiclient.Effect
	}{
		{"a relative path with a slash", []http.HandlerFunc{moved(301, slashed), ok}, []string{project, project + "/"}, "", 0},
		{"302", []http.HandlerFunc{moved(302, slashed), ok}, []string{project, project + "/"}, "", 0},
		{"307", []http.HandlerFunc{moved(307, slashed), ok}, []string{project, project + "/"}, "", 0},
		{"308", []http.HandlerFunc{moved(308, slashed), ok}, []string{project, project + "/"}, "", 0},
		{"a path that lacks what the base URL's path begins with", []http.HandlerFunc{moved(301, project+"/"), ok}, []string{project, project + "/"}, "", 0},
		{"a redirect to another query is not followed", []http.HandlerFunc{moved(301, slashed+"?a=b"), ok}, []string{project}, "something else", apiclient.NoEffect},
		{"303", []http.HandlerFunc{moved(303, slashed), ok}, []string{project}, "does not follow", apiclient.UnknownEffect},
		{"300", []http.HandlerFunc{moved(300, slashed), ok}, []string{project}, "does not follow", apiclient.UnknownEffect},
		{"redirects to and fro are not followed", []http.HandlerFunc{moved(301, slashed), moved(301, "/plane"+project)}, []string{project, project + "/"}, "to and fro", apiclient.NoEffect},
		{"a redirect that adds a second slash is not followed", []http.HandlerFunc{moved(301, slashed), moved(301, slashed+"/")}, []string{project, project + "/"}, "not the same path", apiclient.NoEffect},
		{"a redirect to the same path is not followed", []http.HandlerFunc{moved(301, "/plane"+project)}, []string{project}, "not the same path", apiclient.NoEffect},
		{"a redirect to another path is not followed", []http.HandlerFunc{moved(302, "/login/?next=x")}, []string{project}, "/login/", apiclient.NoEffect},
		{"a redirect to another host is not followed", []http.HandlerFunc{moved(307, other+slashed)}, []string{project}, other, apiclient.NoEffect},
		{"a redirect to another host without a scheme is not followed", []http.HandlerFunc{moved(307, "//elsewhere.example"+slashed)}, []string{project}, "elsewhere.example", apiclient.NoEffect},
		{"a redirect without a target is not followed", []http.HandlerFunc{moved(301, "")}, []string{project}, "does not say where", apiclient.NoEffect},
		{"a redirect to what is no address is not followed", []http.HandlerFunc{moved(301, "http://[::bad")}, []string{project}, "not an address", apiclient.NoEffect},
		{"a target that turns the direction of writing", []http.HandlerFunc{moved(303, "/x\u202ey")}, []string{project}, "/xy", apiclient.UnknownEffect},
		{"the answer after a redirect counts", []http.HandlerFunc{moved(301, slashed), status(400, `{"name":["no"]}`)}, []string{project, project + "/"}, "name: no", apiclient.Rejected},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := inTurn(test.list...)
			_, err := setup(t, a).Do(t.Context(), request(documented(t, 2)))
			e, _ := errors.AsType[*apiclient.Error](err)
			switch {
			case test.says == "" && err != nil:
				t.Error(err)
			case test.says != "" && (e == nil || !containsPlain(e.Error(), test.says) || e.Effect != test.effect):
				t.Errorf("error %v", err)
			}
			want := make([]string, 0, len(test.sent))
			for _, path := range test.sent {
				want = append(want, "PATCH "+path+body)
			}
			if got := a.requests(); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("sent %q, want %q", got, want)
			}
			if n := len(elsewhere.requests()); n != 0 {
				t.Errorf("the other host got %d requests", n)
			}
		})
	}
}

func TestARedirectIsRemembered(t *testing.T) {
	t.Parallel()
	var c *apiclient.Client
	a := inTurn(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path[len(r.URL.Path)-1] != '/' {
			w.Header().Set("Location", "/plane"+r.URL.Path+"/")
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		status(200, `{"name":"x"}`)(w, r)
	})
	c = setup(t, a)
	for range 3 {
		if _, err := c.Do(t.Context(), request(documented(t, 2))); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(a.requests()); n != 4 {
		t.Errorf("%d requests: %q", n, a.requests())
	}
}

func TestARedirectKeepsMethodBodyAndQuery(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"POST", "PATCH", "DELETE", "GET"} {
		op := *documented(t, 17)
		op.Method = method
		path, err := client(t, "http://localhost").Path(&op, params(&op))
		if err != nil {
			t.Fatal(err)
		}
		a := inTurn(status(307, ``, "Location", "/plane"+path[:len(path)-1]+"?limit=5"), status(200, `{"name":"x"}`))
		req := request(&op)
		req.Query = map[string][]string{"limit": {"5"}}
		if _, err := setup(t, a).Do(t.Context(), req); err != nil {
			t.Errorf("%s: %v", method, err)
		}
		got := a.requests()
		if len(got) != 2 || got[1] != method+" "+path[:len(path)-1]+"?limit=5"+map[bool]string{true: " " + string(req.Body)}[req.Body != nil] {
			t.Errorf("%s: %q", method, got)
		}
	}
}
