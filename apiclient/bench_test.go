package apiclient_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/planform/planform/apiclient"
)

// item is the service's answer to a create.
func item(b *testing.B) []byte {
	b.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "work-item.json"))
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// trivial starts a server that does as little as possible.
func trivial(b *testing.B) *httptest.Server {
	b.Helper()
	answer := item(b)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(answer)
	}))
	b.Cleanup(server.Close)
	return server
}

// inFlight is the number of simultaneous requests.
const inFlight = 16

// BenchmarkPost sends creates over loopback: with this package, and with a plain
// http.Client that decodes the same answer and does nothing else.
func BenchmarkPost(b *testing.B) {
	b.Run("client", func(b *testing.B) {
		c := client(b, trivial(b).URL)
		req := request(documented(b, 1))
		b.ReportAllocs()
		b.SetParallelism(max(1, inFlight/runtime.GOMAXPROCS(0)))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := c.Do(b.Context(), req); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
	b.Run("bare", func(b *testing.B) {
		c, op := client(b, trivial(b).URL), documented(b, 1)
		path, err := c.Path(op, params(op))
		if err != nil {
			b.Fatal(err)
		}
		transport := &http.Transport{MaxIdleConnsPerHost: 128}
		b.Cleanup(transport.CloseIdleConnections)
		bare := &http.Client{Transport: transport}
		body := request(op).Body
		b.ReportAllocs()
		b.SetParallelism(max(1, inFlight/runtime.GOMAXPROCS(0)))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := post(b, bare, c.BaseURL()+path, body); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
}

func post(b *testing.B, bare *http.Client, url string, body []byte) error {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("X-Api-Key", secret)
	resp, err := bare.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	d := json.NewDecoder(resp.Body)
	d.UseNumber()
	var row map[string]any
	if err := d.Decode(&row); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// BenchmarkList reads 10 pages of 100 rows.
func BenchmarkList(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code, body := offsets(1000, 100, `{"results":%s,"count":%d}`, ofList)(r.URL.Query())
		status(code, body)(w, r)
	}))
	b.Cleanup(server.Close)
	c := client(b, server.URL, func(cfg *apiclient.Config) { cfg.Retries = -1 })
	b.ReportAllocs()
	for b.Loop() {
		rows, err := c.List(b.Context(), request(documented(b, 18)))
		if err != nil || len(rows) != 1000 {
			b.Fatal(len(rows), err)
		}
	}
}
