package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planform/planform/internal/cli"
	"github.com/planform/planform/internal/view"
)

func TestTheSandboxActsAsTheVersionThatItsEditionNames(t *testing.T) {
	t.Parallel()
	for edition, want := range map[string]string{"community": "1.4.1", "community@1.4": "1.4.1", "community@1.3": "1.3.1"} {
		t.Run(edition, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			out, to := io.Pipe()
			ended := make(chan int)
			go func() {
				ended <- cli.Run(ctx, cli.Process{
					Args:    []string{"planform", "sandbox", "--edition", edition, "--data", filepath.Join(t.TempDir(), "s.db")},
					Streams: view.Streams{In: strings.NewReader(""), Out: to, Err: io.Discard}, Getenv: func(string) string { return "" },
				})
			}()
			url, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSpace(url)+"/api/instances/", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			var about struct {
				Instance struct {
					Version string `json:"current_version"`
				} `json:"instance"`
			}
			if err := json.NewDecoder(resp.Body).Decode(&about); err != nil || about.Instance.Version != want {
				t.Errorf("the version is %q, %v, want %q", about.Instance.Version, err, want)
			}
			cancel()
			if code := <-ended; code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}
