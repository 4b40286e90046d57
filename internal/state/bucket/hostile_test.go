package bucket_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/planform/planform/internal/http/wire"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/state/bucket"
	"github.com/planform/planform/internal/text/diag"
)

// The credential of the scripted servers.
const (
	accessKey = "AKIAIOSFODNN7EXAMPLE"
	secretKey = "wJalrXUtnFEMI/K7MDENG"
	token     = "FwoGZXIvYXdzEBYaDNotARealToken"
)

func at(t *testing.T, endpoint string, other ...string) *bucket.Place {
	t.Helper()
	env := map[string]string{
		"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey, "AWS_SESSION_TOKEN": token, "AWS_REGION": "us-east-1",
	}
	for i := 0; i < len(other); i += 2 {
		env[other[i]] = other[i+1]
	}
	p, err := bucket.Open("s3://team/web.json", func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// all makes each request of a store, and returns the errors.
func all(t *testing.T, p *bucket.Place) map[string]error {
	t.Helper()
	_, _, get := p.Get(t.Context(), "")
	_, put := p.Put(t.Context(), ".lock", []byte("x"), "")
	_, list := p.List(t.Context(), ".journal/")
	return map[string]error{"get": get, "put": put, "list": list, "remove": p.Remove(t.Context(), ".lock")}
}

// raw answers each connection with bytes, and then others for ever if there are any. It keeps the connection open.
func raw(t *testing.T, answer, forEver string) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(t.Context(), func() { _ = conn.Close() })
			go func() {
				_, _ = http.ReadRequest(bufio.NewReader(conn))
				_, err := io.WriteString(conn, answer)
				for err == nil && forEver != "" {
					_, err = io.WriteString(conn, forEver)
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

func TestAnAnswerOfABucketThatDoesNotEndIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	contents := strings.Repeat("<Contents><Key>web.json.journal/a/1</Key></Contents>", 100)
	for name, tt := range map[string]struct{ answer, forEver, request, want string }{
		"another protocol to a read":    {"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", "", "get", "101: this is no answer"},
		"another protocol to a write":   {"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", "", "put", "101: this is no answer"},
		"another protocol to a list":    {"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", "", "list", "101: this is no answer"},
		"another protocol to a removal": {"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", "", "remove", "101: this is no answer"},
		"a status that is none":         {"HTTP/1.1 099 What\r\n\r\n", "", "put", "99: this is no answer"},
		"a list without end":            {"HTTP/1.1 200 OK\r\n\r\n<ListBucketResult>", contents, "list", "more than 8 MiB"},
		"one name without end":          {"HTTP/1.1 200 OK\r\n\r\n<ListBucketResult><Contents><Key>", strings.Repeat("x", 4000), "list", "more than 8 MiB"},
		"an error without end":          {"HTTP/1.1 500 Oops\r\n\r\n<Error><Message>", strings.Repeat("x", 4000), "list", "the server of the bucket"},
		"a write's answer without end":  {"HTTP/1.1 200 OK\r\nETag: \"a\"\r\n\r\n", strings.Repeat("x", 4000), "put", ""},
		"headers without end":           {"HTTP/1.1 200 OK\r\n", strings.Repeat("X-A: b\r\n", 100), "put", "the server of the bucket"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := all(t, at(t, raw(t, tt.answer, tt.forEver)))[tt.request]; tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Error(err)
			}
		})
	}
	t.Run("where a bucket is, without end", func(t *testing.T) {
		t.Parallel()
		endpoint := raw(t, "HTTP/1.1 200 OK\r\n\r\n<LocationConstraint>", strings.Repeat("x", 4000))
		if err := all(t, at(t, endpoint, "AWS_REGION", ""))["list"]; err == nil || !strings.Contains(err.Error(), "more than 8 MiB") {
			t.Error(err)
		}
	})
}

func TestNoErrorOfABucketShowsACredential(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"in S3's form":  "<Error><Code>Odd</Code><Message>you sent %s</Message></Error>",
		"as a code":     "<Error><Code>%s</Code></Error>",
		"as a text":     "you sent %s",
		"as JSON":       `{"message": "%s"}`,
		"as a page":     "<html>%s",
		"cut in pieces": "you sent %s and then " + strings.Repeat("more ", 1000),
	} {
		for _, status := range []int{200, 400, 409, 418} {
			t.Run(fmt.Sprint(name, status), func(t *testing.T) {
				t.Parallel()
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.WriteHeader(status)
					_, _ = fmt.Fprintf(w, body, strings.ToUpper(token)+" "+accessKey+" "+r.Header.Get("X-Amz-Security-Token")+" "+r.Header.Get("Authorization"))
				}))
				defer server.Close()
				for request, err := range all(t, at(t, server.URL)) {
					if err == nil {
						continue
					}
					said := strings.ToLower(err.Error() + diag.HintOf(err))
					for _, secret := range []string{accessKey, secretKey, token} {
						if strings.Contains(said, strings.ToLower(secret)) {
							t.Errorf("%s: %v", request, err)
						}
					}
					if len(said) > 500 {
						t.Errorf("%s: %d bytes: %v", request, len(said), err)
					}
				}
			})
		}
	}
}

func TestAnOddAnswerOfABucketIsExplained(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status     int
		body, want string
		final      bool
	}{
		"a page to sign in":       {200, "<!DOCTYPE html><html>", "something else than S3's API", true},
		"a page that refuses":     {418, "<html><body>who are you", "something else than S3's API", true},
		"an object too large":     {413, "", "the server of the bucket", true},
		"S3's own words for that": {400, "<Error><Code>EntityTooLarge</Code><Message>Too large</Message></Error>", "Too large", true},
		"a wrong precondition":    {412, "", state.ErrChanged.Error(), false},
		"a server that is down":   {503, "", "the server of the bucket", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer server.Close()
			err := all(t, at(t, server.URL))["list"]
			if err == nil || !strings.Contains(err.Error(), tt.want) || wire.IsFinal(err) != tt.final {
				t.Error(err, diag.HintOf(err))
			}
		})
	}
	_, err := at(t, "http://127.0.0.1:1").List(t.Context(), "")
	if err == nil || err.Error() != "the server of the bucket: connection refused: nothing listens there" {
		t.Error(err)
	}
}
