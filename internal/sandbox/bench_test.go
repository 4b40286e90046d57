package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

const itemsPath = "/api/v1/workspaces/acme/projects/" + projectWeb + "/work-items/"

func BenchmarkPostWorkItemHandler(b *testing.B) {
	s := openTest(b, Options{Path: filepath.Join(b.TempDir(), "sandbox.db")})
	var n atomic.Int64
	b.SetParallelism(16)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			body := fmt.Sprintf(`{"name": "Item %d", "external_id": "item-%[1]d", "external_source": "bench"}`, n.Add(1))
			req := httptest.NewRequestWithContext(b.Context(), http.MethodPost, itemsPath, bytes.NewReader([]byte(body)))
			req.Header.Set("X-Api-Key", Key)
			req.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, req)
			if w.Code != http.StatusCreated {
				b.Fatalf("status %d: %s", w.Code, w.Body)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "posts/s")
}

func BenchmarkPostWorkItemLoopback(b *testing.B) {
	s := openTest(b, Options{Path: filepath.Join(b.TempDir(), "sandbox.db")})
	base, err := s.Start(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	b.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	var n atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for range 16 {
		wg.Go(func() {
			for {
				i := n.Add(1)
				if i > int64(b.N) {
					return
				}
				body := fmt.Sprintf(`{"name": "Item %d", "external_id": "item-%[1]d", "external_source": "bench"}`, i)
				req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, base+itemsPath, bytes.NewReader([]byte(body)))
				if err != nil {
					b.Error(err)
					return
				}
				req.Header.Set("X-Api-Key", Key)
				req.Header.Set("Content-Type", "application/json")
				resp, err := client.Do(req)
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusCreated {
					b.Errorf("status %d", resp.StatusCode)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "posts/s")
}
