package apiclient_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/planform/planform/apiclient"
)

// wire is a server below HTTP: it reads whole requests, and a function handles the connection.
type wire struct {
	net.Listener
	requests atomic.Int64
}

// listen serves each connection with handle until the test ends.
func listen(tb testing.TB, handle func(w *wire, conn *net.TCPConn, r *bufio.Reader)) *wire {
	tb.Helper()
	listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	w := &wire{Listener: listener}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			tcp, ok := conn.(*net.TCPConn)
			if !ok {
				panic("not TCP")
			}
			wg.Go(func() {
				defer func() { _ = conn.Close() }()
				handle(w, tcp, bufio.NewReader(conn))
			})
		}
	})
	tb.Cleanup(func() {
		_ = listener.Close()
		wg.Wait()
	})
	return w
}

// read reads one request from the connection.
func (w *wire) read(r *bufio.Reader) bool {
	req, err := http.ReadRequest(r)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, req.Body)
	w.requests.Add(1)
	return err == nil
}

func (w *wire) url() string { return "http://" + w.Addr().String() }

func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	_ = conn.Close()
}

const created = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{\"at\":\"x\"}"

func TestABrokenConnectionHasTheEffectOfTheBytesSent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		handle func(w *wire, conn *net.TCPConn, r *bufio.Reader)
		effect apiclient.Effect
		says   string
	}{
		{"closed after the request, before any byte of the answer", func(w *wire, _ *net.TCPConn, r *bufio.Reader) { w.read(r) }, apiclient.UnknownEffect, "the service closed the connection early"},
		{"a reset after the request leaves the effect unknown", func(w *wire, conn *net.TCPConn, r *bufio.Reader) { w.read(r); reset(conn) }, apiclient.UnknownEffect, ""},
		{"reset before the request was read", func(_ *wire, conn *net.TCPConn, r *bufio.Reader) {
			_, _ = r.Peek(1)
			reset(conn)
		}, apiclient.UnknownEffect, ""},
		{"an answer cut within its status line leaves the effect unknown", func(w *wire, conn *net.TCPConn, r *bufio.Reader) {
			w.read(r)
			_, _ = io.WriteString(conn, created[:12])
		}, apiclient.UnknownEffect, ""},
		{"an answer cut within its headers leaves the effect unknown", func(w *wire, conn *net.TCPConn, r *bufio.Reader) {
			w.read(r)
			_, _ = io.WriteString(conn, created[:40])
		}, apiclient.UnknownEffect, ""},
		{"an answer cut within its body leaves the effect unknown", func(w *wire, conn *net.TCPConn, r *bufio.Reader) {
			w.read(r)
			_, _ = io.WriteString(conn, created[:len(created)-3])
		}, apiclient.UnknownEffect, "broke off"},
		{"a body that ends with the connection", func(w *wire, conn *net.TCPConn, r *bufio.Reader) {
			w.read(r)
			_, _ = io.WriteString(conn, "HTTP/1.1 201 Created\r\n\r\n{\"id\":")
		}, apiclient.UnknownEffect, "not JSON"},
		{"an answer that is not HTTP", func(w *wire, conn *net.TCPConn, r *bufio.Reader) {
			w.read(r)
			_, _ = io.WriteString(conn, "SSH-2.0-OpenSSH_9.9\r\n\r\n")
		}, apiclient.UnknownEffect, "the answer is not HTTP"},
		{"an error whose body is cut", func(w *wire, conn *net.TCPConn, r *bufio.Reader) {
			w.read(r)
			_, _ = io.WriteString(conn, "HTTP/1.1 403 Forbidden\r\nContent-Length: 1000\r\n\r\n{\"detail\":")
		}, apiclient.NoEffect, "403"},
		{"headers without end leave the effect unknown", func(w *wire, conn *net.TCPConn, r *bufio.Reader) {
			w.read(r)
			_, _ = io.WriteString(conn, "HTTP/1.1 201 Created\r\n")
			for {
				if _, err := io.WriteString(conn, "X-More: "+strings.Repeat("x", 1000)+"\r\n"); err != nil {
					return
				}
			}
		}, apiclient.UnknownEffect, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := listen(t, test.handle)
			e := failure(t, client(t, server.url(), func(cfg *apiclient.Config) { cfg.Retries = 3 }), documented(t, 1))
			if e.Effect != test.effect || e.Attempts != 1 || !strings.Contains(e.Error(), test.says) {
				t.Errorf("%s after %d attempts: %v", e.Effect, e.Attempts, e)
			}
			if n := server.requests.Load(); n > 1 {
				t.Errorf("the request was sent %d times", n)
			}
		})
	}
}

func TestABrokenKeptConnectionDoesNotRepeatTheRequest(t *testing.T) {
	t.Parallel()
	for _, end := range []struct {
		name string
		how  func(*net.TCPConn)
	}{{"closed", func(c *net.TCPConn) { _ = c.Close() }}, {"reset", reset}} {
		for _, when := range []string{"when the second request has been read", "when the second request's first byte is there"} {
			t.Run(end.name+" "+when, func(t *testing.T) {
				t.Parallel()
				server := listen(t, func(w *wire, conn *net.TCPConn, r *bufio.Reader) {
					for n := 0; ; n++ {
						if n == 1 && strings.Contains(when, "first byte") {
							_, _ = r.Peek(1)
							w.requests.Add(1)
							end.how(conn)
							return
						}
						if !w.read(r) {
							return
						}
						if n == 1 {
							end.how(conn)
							return
						}
						_, _ = io.WriteString(conn, created)
					}
				})
				c := client(t, server.url(), func(cfg *apiclient.Config) { cfg.Retries = 3 })
				if _, err := c.Do(t.Context(), request(documented(t, 1))); err != nil {
					t.Fatal(err)
				}
				e := failure(t, c, documented(t, 1))
				if e.Effect != apiclient.UnknownEffect || e.Attempts != 1 {
					t.Errorf("%s after %d attempts: %v", e.Effect, e.Attempts, e)
				}
				if n := server.requests.Load(); n != 2 {
					t.Errorf("%d requests instead of 2", n)
				}
			})
		}
	}
}

func TestAnIdleConnectionThatWasClosedIsReplaced(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{}, 1)
	server := listen(t, func(w *wire, conn *net.TCPConn, r *bufio.Reader) {
		if w.read(r) {
			_, _ = io.WriteString(conn, created)
			_ = conn.CloseWrite()
			closed <- struct{}{}
		}
	})
	c := client(t, server.url(), func(cfg *apiclient.Config) { cfg.Retries = 3 })
	for range 20 {
		// A failure is allowed, because the client may not have noticed yet; sending twice is not.
		before := server.requests.Load()
		_, err := c.Do(t.Context(), request(documented(t, 1)))
		if e, failed := errors.AsType[*apiclient.Error](err); failed && e.Effect == apiclient.NoEffect && server.requests.Load() != before {
			t.Errorf("%v, but it reached the server", err)
		}
		if n := server.requests.Load() - before; n > 1 {
			t.Errorf("sent %d times", n)
		}
		if err == nil {
			<-closed
		}
	}
}

// TestRequestsUseHTTP1Only, because over HTTP/2 a server could make every request repeat endlessly by declining it with GOAWAY.
func TestRequestsUseHTTP1Only(t *testing.T) {
	t.Parallel()
	offered := make(chan []string, 1)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		offered <- hello.SupportedProtos
		return nil, nil //nolint:nilnil // go on as you are
	}}
	server.StartTLS()
	t.Cleanup(server.Close)
	_ = failure(t, client(t, server.URL), documented(t, 1)) // the certificate is not trusted
	if protocols := <-offered; slices.Contains(protocols, "h2") {
		t.Errorf("the client offers %q", protocols)
	}
}

func TestARequestWithoutAConnectionHasNoEffect(t *testing.T) {
	t.Parallel()
	gone := listen(t, func(*wire, *net.TCPConn, *bufio.Reader) {})
	_ = gone.Close()
	https := httptest.NewUnstartedServer(http.NotFoundHandler())
	https.Config.ErrorLog = log.New(io.Discard, "", 0)
	https.StartTLS()
	t.Cleanup(https.Close)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	for name, base := range map[string]string{
		"a refused connection has no effect":                  gone.url(),
		"a host that does not exist has no effect":            "https://plane.invalid",
		"a certificate that nobody vouches for has no effect": https.URL,
		"a server without TLS has no effect":                  "https://" + strings.TrimPrefix(plain.URL, "http://"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := failure(t, client(t, base), documented(t, 1))
			if e.Effect != apiclient.NoEffect || e.Status != 0 || e.Attempts != 1 {
				t.Errorf("%s after %d attempts: %v", e.Effect, e.Attempts, e)
			}
		})
	}
}

func TestATimeoutHasTheEffectOfTheBytesSent(t *testing.T) {
	t.Parallel()
	stall := func(begin string) func(*wire, *net.TCPConn, *bufio.Reader) {
		return func(w *wire, conn *net.TCPConn, r *bufio.Reader) {
			if !w.read(r) {
				return
			}
			_, _ = io.WriteString(conn, begin)
			_, _ = r.ReadByte() // until the client goes away
		}
	}
	for name, begin := range map[string]string{
		"no byte of the answer came in time":      "",
		"only a part of the headers came in time": "HTTP/1.1 201 Cre",
		"only a part of the body came in time":    created[:len(created)-3],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := listen(t, stall(begin))
			c := client(t, server.url(), func(cfg *apiclient.Config) { cfg.Timeout = 300 * time.Millisecond })
			e := failure(t, c, documented(t, 1))
			if e.Effect != apiclient.UnknownEffect || !errors.Is(e, apiclient.ErrTimeout) || errors.Is(e, context.DeadlineExceeded) || !strings.Contains(e.Error(), "no answer within 300ms") {
				t.Errorf("%s: %v", e.Effect, e)
			}
			c = client(t, server.url())
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err := c.Do(ctx, request(documented(t, 1)))
			if e, ok := errors.AsType[*apiclient.Error](err); !ok || e.Effect != apiclient.UnknownEffect || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("with the caller's deadline: %v", err)
			}
		})
	}
	t.Run("a connection that is not made in time has no effect", func(t *testing.T) {
		t.Parallel()
		transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		c := client(t, "https://plane.example.com", func(cfg *apiclient.Config) {
			cfg.Transport = transport
			cfg.Timeout = 20 * time.Millisecond
		})
		if e := failure(t, c, documented(t, 1)); e.Effect != apiclient.NoEffect || !errors.Is(e, apiclient.ErrTimeout) {
			t.Errorf("%s: %v", e.Effect, e)
		}
	})
}

func TestTheEffectOfARequestFollowsFromItsAnswer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		handler http.HandlerFunc
		effect  apiclient.Effect
		says    string
	}{
		{"500", status(500, `{"error":"Something went wrong please try again later"}`), apiclient.UnknownEffect, "Something went wrong"},
		{"502", status(502, `<html>`), apiclient.UnknownEffect, "502"},
		{"503", status(503, ``), apiclient.UnknownEffect, "Service Unavailable"},
		{"504", status(504, ``), apiclient.UnknownEffect, "504"},
		{"408", status(408, ``), apiclient.UnknownEffect, "408"},
		{"400", status(400, `{"name":["This field is required."]}`), apiclient.Rejected, "name: This field is required."},
		{"409", status(409, `{"error":"there","id":"`+itemID+`"}`), apiclient.Rejected, "there"},
		{"422", status(422, `{}`), apiclient.Rejected, "422"},
		{"401", status(401, `{}`), apiclient.NoEffect, "401"},
		{"403", status(403, `{}`), apiclient.NoEffect, "403"},
		{"404", status(404, `{}`), apiclient.NoEffect, "404"},
		{"405", status(405, `{}`), apiclient.NoEffect, "405"},
		{"413", status(413, `{}`), apiclient.NoEffect, "413"},
		{"415", status(415, `{}`), apiclient.NoEffect, "415"},
		{"201 with a web page", status(201, `<!DOCTYPE html><title>Log in</title>`), apiclient.UnknownEffect, "is the base URL right?"},
		{"201 with nothing", status(201, ``), apiclient.UnknownEffect, "empty"},
		{"201 with a cut JSON", status(201, `{"id":"x"`), apiclient.UnknownEffect, "not JSON"},
		{"201 with something after the JSON", status(201, `{"name":"x"} {"id":"y"}`), apiclient.UnknownEffect, "something follows"},
		{"201 with a text", status(201, `"x"`), apiclient.UnknownEffect, "neither an object nor a list"},
		{"201 with null", status(201, `null`), apiclient.UnknownEffect, "null"},
		{"201 with a list of numbers", status(201, `[1,2]`), apiclient.UnknownEffect, "entry 1"},
		{"201 nested beyond measure", status(201, strings.Repeat(`[`, 5000)+strings.Repeat(`]`, 5000)), apiclient.UnknownEffect, "nested"},
		{"201 without end", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"id":"x","name":"`)
			for {
				if _, err := io.WriteString(w, strings.Repeat("x", 64<<10)); err != nil {
					return
				}
			}
		}, apiclient.UnknownEffect, "too large"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := inTurn(test.handler)
			c := setup(t, a, func(cfg *apiclient.Config) { cfg.Retries = 3 })
			e := failure(t, c, documented(t, 1))
			if e.Effect != test.effect || e.Attempts != 1 || !strings.Contains(e.Error(), test.says) {
				t.Errorf("%s after %d attempts: %v", e.Effect, e.Attempts, e)
			}
			if unknown := strings.Contains(e.Error(), "it is not known whether it took effect"); unknown != (e.Effect == apiclient.UnknownEffect) {
				t.Errorf("%s: %v", e.Effect, e)
			}
			if n := len(a.requests()); n != 1 {
				t.Errorf("sent %d times", n)
			}
		})
	}
}

func TestEvery2xxWithAValidBodyIsASuccess(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		op      int
		handler http.HandlerFunc
		row     bool
		rows    int
	}{
		{"200 is accepted instead of 201", 1, status(200, `{"name":"x","n":12345678901234567890.10}`), true, 0},
		{"a bare list is accepted after adding members", 4, status(200, `[{"name":"x"},{"id":"y"}]`), false, 2},
		{"an empty list is accepted after adding members", 4, status(200, `[]`), false, 0},
		{"an empty body is accepted after adding members", 4, status(201, ``), false, 0},
		{"204 is accepted after a change", 2, status(204, ``), false, 0},
		{"white space around the JSON is accepted", 1, status(201, "\n {\"name\":\"x\"} \r\n"), true, 0},
		{"a type that says HTML around JSON", 1, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, `{"name":"x"}`)
		}, true, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			resp, err := setup(t, test.handler).Do(t.Context(), request(documented(t, test.op)))
			if err != nil || (resp.Row != nil) != test.row || len(resp.Rows) != test.rows {
				t.Fatalf("%+v, %v", resp, err)
			}
			if n, ok := resp.Row["n"]; ok && n.(interface{ String() string }).String() != "12345678901234567890.10" {
				t.Errorf("the number became %v", n)
			}
		})
	}
}
