package apiclient_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planform/planform/apiclient"
)

// forever writes a text until the client closes the connection.
func forever(w io.Writer, text string) {
	for {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}

// compressed returns a text as gzip.
func compressed(tb testing.TB, text string) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	if err := errors.Join(err, w.Close()); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// TestHugeAndEndlessAnswersAreCutOff covers reads and writes, success and refusal.
func TestHugeAndEndlessAnswersAreCutOff(t *testing.T) {
	t.Parallel()
	const much = `{"id":"x","name":"` + "                                                                "
	small := compressed(t, `{"id":"x","name":"`+strings.Repeat(" ", 20<<20)+`"}`)
	for name, answer := range map[string]struct {
		handler http.HandlerFunc
		says    string
	}{
		"10 GB that are announced": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10737418240")
			forever(w, strings.Repeat(much, 1000))
		}, "too large"},
		"10 GB that are refused": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10737418240")
			w.WriteHeader(http.StatusBadRequest)
			forever(w, strings.Repeat(much, 1000))
		}, "400"},
		"much that is little when compressed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(small)
		}, "too large"},
		"a byte at a time, without end": {func(w http.ResponseWriter, r *http.Request) {
			flush := http.NewResponseController(w)
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for {
				if _, err := io.WriteString(w, " "); err != nil || flush.Flush() != nil {
					return
				}
				select {
				case <-tick.C:
				case <-r.Context().Done():
					return
				}
			}
		}, "no answer within"},
	} {
		for what, op := range map[string]int{"read": 13, "write": 1} {
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				c := setup(t, answer.handler, func(cfg *apiclient.Config) {
					if strings.HasPrefix(name, "a byte") {
						cfg.Timeout = 100 * time.Millisecond
					}
				})
				if e := failure(t, c, documented(t, op)); !strings.Contains(e.Error(), answer.says) || e.Attempts != 1 {
					t.Errorf("%d attempts: %v", e.Attempts, e)
				}
			})
		}
	}
}

// TestAReadIsNotRedirectedToAnotherHost checks that nothing is sent there, especially not the credential.
func TestAReadIsNotRedirectedToAnotherHost(t *testing.T) {
	t.Parallel()
	elsewhere := inTurn(status(200, `[]`))
	other := listenHTTP(t, elsewhere)
	for _, code := range []int{301, 302, 303, 307, 308} {
		for _, number := range []int{13, 18} {
			op := documented(t, number)
			path, err := client(t, other).Path(op, params(op))
			if err != nil {
				t.Fatal(err)
			}
			c := setup(t, status(code, ``, "Location", other+path))
			_, err = c.Read(t.Context(), op, path, nil)
			if e, ok := errors.AsType[*apiclient.Error](err); !ok || e.Status != code || !strings.Contains(e.Error(), other) {
				t.Errorf("%d: %v", code, err)
			}
		}
	}
	if sent := elsewhere.requests(); len(sent) > 0 {
		t.Errorf("the other host got %q", sent)
	}
}

// TestAConnectionThatIsTakenOverEndsTheRequest, because a bare connection observes neither the context nor the time limit.
func TestAConnectionThatIsTakenOverEndsTheRequest(t *testing.T) {
	t.Parallel()
	for what, number := range map[string]int{"read": 13, "write": 1} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := setup(t, takesOver(t))
			if e := failure(t, c, documented(t, number)); e.Status != 101 || e.Attempts != 1 || !strings.Contains(e.Error(), "no other protocol was asked for") {
				t.Errorf("%d attempts: %v", e.Attempts, e)
			}
		})
	}
}

// takesOver answers with a switch to another protocol, and ends with the connection.
func takesOver(tb testing.TB) http.HandlerFunc {
	tb.Helper()
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			tb.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tea\r\n\r\n")
		_, _ = conn.Read(make([]byte, 1)) // until the client closes it
	}
}

// stuck is a body that blocks until it is closed.
type stuck chan struct{}

func (st stuck) Read([]byte) (int, error) { <-st; return 0, io.ErrClosedPipe }

func (st stuck) Close() error {
	select {
	case <-st:
	default:
		close(st)
	}
	return nil
}

// TestABodyThatIgnoresTheTimeoutIsClosed covers success and refusal.
func TestABodyThatIgnoresTheTimeoutIsClosed(t *testing.T) {
	t.Parallel()
	for _, code := range []int{200, 400} {
		c := offline(t, func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: code, Header: http.Header{}, Body: make(stuck)}, nil
		}, func(cfg *apiclient.Config) { cfg.Timeout = 10 * time.Millisecond; cfg.Retries = -1 })
		if e := failure(t, c, documented(t, 13)); e.Status != code {
			t.Error(e)
		}
	}
}

// TestAListAboveTheMemoryLimitIsAnError even if each of its pages is small enough.
func TestAListAboveTheMemoryLimitIsAnError(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("x", 240<<10)
	pages := 0
	c := offline(t, func(*http.Request) (*http.Response, error) {
		pages++
		n := strconv.Itoa(pages)
		return reply(200, `{"next_page_results":true,"next_cursor":"1:`+n+`:0","results":[{"id":"`+id(pages)+`","name":"`+filler+`"}]}`), nil
	}, func(cfg *apiclient.Config) { cfg.MaxListBytes = 1 << 20 })
	for _, err := range c.Pages(t.Context(), request(wider(t, "/labels/"))) {
		if err != nil && !strings.Contains(err.Error(), "the list has more than 1 MiB") {
			t.Error(err)
		}
	}
	if pages != 5 {
		t.Errorf("%d pages were read", pages)
	}
}

// TestAnEchoedCredentialIsNeverShown at any place, and in any encoding.
func TestAnEchoedCredentialIsNeverShown(t *testing.T) {
	t.Parallel()
	const half = 12 // so many characters of it must not remain
	percent, entities := "", ""
	for _, c := range []byte(secret) {
		percent, entities = fmt.Sprintf("%s%%%x", percent, c), fmt.Sprintf("%s&#%d;", entities, c)
	}
	forms := map[string]string{
		"as it is": secret, "upper case": strings.ToUpper(secret), "percent-encoded": percent, "as entities": entities,
		"with a line end in it": secret[:10] + `\n` + secret[10:], "with what does not show in it": secret[:10] + "\u200b" + secret[10:],
	}
	answers := map[string]func(filler, form string) http.HandlerFunc{
		"detail":     func(filler, form string) http.HandlerFunc { return status(400, `{"detail":"`+filler+form+`"}`) },
		"field":      func(filler, form string) http.HandlerFunc { return status(400, `{"name":["`+filler+form+`"]}`) },
		"field name": func(filler, form string) http.HandlerFunc { return status(400, `{"`+filler+form+`":["no"]}`) },
		"code":       func(filler, form string) http.HandlerFunc { return status(400, `{"code":"`+filler+form+`"}`) },
		"list":       func(filler, form string) http.HandlerFunc { return status(400, `["`+filler+form+`"]`) },
		"text":       func(filler, form string) http.HandlerFunc { return status(400, filler+form) },
		"title": func(filler, form string) http.HandlerFunc {
			return status(400, "<html><title>"+filler+form+"</title>")
		},
		"web page": func(filler, form string) http.HandlerFunc { return status(400, "<p>"+filler+"<b>"+form+"</b>") },
		"location": func(filler, form string) http.HandlerFunc {
			return status(302, "", "Location", "/"+filler+strings.NewReplacer(`\n`, "%0A", "\u200b", "").Replace(form))
		},
		"location elsewhere": func(filler, form string) http.HandlerFunc {
			return status(303, "", "Location", "/"+filler+strings.NewReplacer(`\n`, "%0A", "\u200b", "").Replace(form))
		},
	}
	for place, answer := range answers {
		for what, form := range forms {
			if what == "as entities" && place != "title" && place != "web page" {
				continue // only a web page has them
			}
			for _, length := range []int{0, 70, 90, 130, 145, 450, 480, 490, 1260, 1990} { // near the lengths at which texts are shortened
				for _, filler := range []string{strings.Repeat("x", length), strings.Repeat(" ", length)} {
					if strings.HasPrefix(place, "location") && strings.HasPrefix(filler, " ") {
						continue
					}
					c := offline(t, func(r *http.Request) (*http.Response, error) {
						w := httptest.NewRecorder()
						answer(filler, form)(w, r)
						return w.Result(), nil
					}, func(cfg *apiclient.Config) { cfg.Retries = -1 })
					e := failure(t, c, documented(t, 13))
					said := fmt.Sprint(e.Error(), e.Message, e.Code, e.Fields)
					said = strings.ToLower(strings.ReplaceAll(said, " ", ""))
					if strings.Contains(said, secret[:half]) || strings.Contains(said, percent[:3*half]) {
						t.Fatalf("%s %s after %d of %.1q: %s", place, what, length, filler, e)
					}
				}
			}
		}
	}
}

// TestAnInvalidIDInAPathIsRefused, because it comes from the service or a state file, and a proxy may decode it again.
func TestAnInvalidIDInAPathIsRefused(t *testing.T) {
	t.Parallel()
	c := offline(t, func(r *http.Request) (*http.Response, error) {
		t.Errorf("sent %s", r.URL)
		return reply(200, `{}`), nil
	})
	op := wider(t, "/work-items/{work_item_id}/")
	for _, id := range []string{"../../../x", "x", "a?b", "%2e%2e", "a\r\nb", strings.Repeat("a", 100_000)} {
		_, err := c.Do(t.Context(), apiclient.Request{Operation: op, Params: map[string]string{"project_id": projectID, "work_item_id": id}})
		if err == nil || !strings.Contains(err.Error(), "is no ID of the service") || len(err.Error()) > 500 {
			t.Errorf("%.20q: %.500v", id, err)
		}
	}
}

// TestAnAnswerWithAWrongIDIsAnError: the ID of a create is invalid, or the answer to a read or a change is about another object. A repetition
// is made if it is harmless.
func TestAnAnswerWithAWrongIDIsAnError(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		op       int
		id, says string
		sent     int
	}{
		"a path is no ID of a created object":                 {1, `"../../x"`, `the ID "../../x", which is no UUID`, 1},
		"a number is no ID of a created object":               {1, `7`, `the ID "7", which is no UUID`, 1},
		"an empty text is no ID of a created object":          {1, `""`, `the ID "", which is no UUID`, 1},
		"a change whose answer is about another object fails": {5, `"` + id(1) + `"`, "the answer is about another object, with the ID " + id(1), 3},
		"a read whose answer is about another object fails":   {16, `"` + id(1) + `"`, "the answer is about another object, with the ID " + id(1), 3},
		"a path is no ID of a changed object":                 {5, `"../../x"`, "which is no UUID", 3},
		"a text is no ID of a found object":                   {13, `"WEB-1"`, "which is no UUID", 3},
		"an ID in capitals is the same ID":                    {5, `"` + strings.ToUpper(itemID) + `"`, "", 1},
		"an answer to a create may lack the ID":               {1, "", "", 1},
		"an answer to a change may lack the ID":               {5, "", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				c := offline(t, func(*http.Request) (*http.Response, error) {
					sent++
					if tt.id == "" {
						return reply(200, `{"name":"x"}`), nil
					}
					return reply(200, `{"id":`+tt.id+`}`), nil
				}, func(cfg *apiclient.Config) { cfg.Retries = 2 })
				_, err := c.Do(t.Context(), request(documented(t, tt.op)))
				if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) || sent != tt.sent {
					t.Errorf("sent %d times: %v", sent, err)
				}
				if e, failed := errors.AsType[*apiclient.Error](err); failed && e.Effect != apiclient.UnknownEffect {
					t.Errorf("%s: %v", e.Effect, e)
				}
			})
		})
	}
}
