// Package buckettest starts a real server of S3's API for tests.
package buckettest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Program is the environment variable with the path of the server, versitygw, which .ci/run installs.
const Program = "PLANFORM_VERSITYGW"

// Key and Secret are the credential of the server.
const (
	Key    = "planform-test"
	Secret = "planform-test-secret"
)

// Server is a server with one bucket.
type Server struct {
	URL    string
	Bucket string
}

// Env returns the environment of a program that uses the server.
func (s *Server) Env() map[string]string {
	return map[string]string{"AWS_ENDPOINT_URL": s.URL, "AWS_ACCESS_KEY_ID": Key, "AWS_SECRET_ACCESS_KEY": Secret, "AWS_REGION": "us-east-1"}
}

// Start starts a server that ends with the test. It skips the test if versitygw is not installed.
func Start(tb testing.TB) *Server {
	tb.Helper()
	program, err := exec.LookPath(os.Getenv(Program))
	if err != nil {
		program, err = exec.LookPath("versitygw")
	}
	if err != nil {
		tb.Skipf("NOT TESTED: there is no versitygw; .ci/run installs it, and %s says where it is", Program)
	}
	dir := tb.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "data", "team"), 0o700); err != nil {
		tb.Fatal(err)
	}
	address := freeAddress(tb)
	cmd := exec.CommandContext(tb.Context(), program, "--port", address, "posix", filepath.Join(dir, "data")) //nolint:gosec // a test names it
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "ROOT_ACCESS_KEY="+Key, "ROOT_SECRET_KEY="+Secret)
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	s := &Server{URL: "http://" + address, Bucket: "team"}
	if err := s.wait(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return s
}

// freeAddress returns an address on which no server listens.
func freeAddress(tb testing.TB) string {
	tb.Helper()
	l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // only for its port
	return l.Addr().String()
}

// wait returns when the server answers.
func (s *Server) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
		if err != nil {
			return err
		}
		if res, err := http.DefaultClient.Do(req); err == nil {
			return res.Body.Close()
		}
		select {
		case <-ctx.Done():
			return errors.New("the server did not start")
		case <-time.After(20 * time.Millisecond):
		}
	}
}
