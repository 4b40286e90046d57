package sandbox

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestOnlyRequestsToLoopbackNamesAreAnswered is needed because a web page can make the name of its own server lead to
// this machine, and the key is well known.
func TestOnlyRequestsToLoopbackNamesAreAnswered(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	base, err := s.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	port := base[strings.LastIndexByte(base, ':'):]
	for host, want := range map[string]int{
		"": http.StatusOK, "localhost" + port: http.StatusOK, "127.0.0.1": http.StatusOK, "[::1]" + port: http.StatusOK, "[::1]": http.StatusOK,
		"evil.example": http.StatusMisdirectedRequest, "127.0.0.1.evil.example" + port: http.StatusMisdirectedRequest, "192.0.2.1": http.StatusMisdirectedRequest,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/v1/users/me/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		req.Header.Set("X-Api-Key", Key)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("host %q: %d, want %d", host, resp.StatusCode, want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestADatabaseThatWasCutIsAnError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sandbox.db")
	s, err := Open(Options{Path: path})
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{64 << 10, 20_000, 8192, 5000, 100} {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(Options{Path: path}); err == nil {
			t.Errorf("%d bytes: it was opened", size)
			_ = s.Close()
		}
	}
}

func TestARequestThatComesWhileTheServerClosesIsCut(t *testing.T) {
	t.Parallel()
	s, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			defer func() { _ = recover() }() // the connection is cut
			for range 100 {
				ask(t, s, http.MethodGet, "projects/", "")
			}
		})
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	asking.Wait()
}
