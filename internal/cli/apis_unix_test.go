//go:build unix

package cli_test

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

func TestARunThatEndedEarlyIsFinishedByTheOtherAPI(t *testing.T) {
	t.Parallel()
	manifest := everything(110)
	for from, nth := range map[string][]int64{"v1": {4, 40, 150}, "v2": {3, 5, 6, 7, 12}} {
		for _, n := range nth {
			for i, end := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
				if !sample.Takes(int(n)+i, 5) {
					continue
				}
				to := map[string]string{"v1": "v2", "v2": "v1"}[from]
				t.Run(fmt.Sprintf("%s by %s in request %d", from, end, n), func(t *testing.T) {
					t.Parallel()
					g := &gate{writes: true, reached: make(chan struct{}), released: make(chan struct{})}
					g.open = sync.OnceFunc(func() { close(g.released) })
					g.left.Store(n)
					s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud, Fault: g.fault})
					t.Cleanup(g.open)
					file := s.write(t, "m.yaml", manifest)
					p := start(t, s, "apply", "-f", file, "--api", from, "--yes")
					p.reaches(t, g)
					p.signal(t, end)
					if end == syscall.SIGINT {
						p.until(t, "interrupted")
						g.open()
					}
					if code, said := p.ends(); end == syscall.SIGINT && code != 130 {
						t.Fatalf("exit %d\n%s", code, said)
					}
					g.open()
					s.must(t, "apply", "-f", file, "--api", to, "--grace-period", "1s")
					for _, api := range []string{from, to} {
						if r := s.must(t, "plan", "-f", file, "--api", api, "--refresh-all"); !strings.Contains(r.out, "No changes.") {
							t.Errorf("by %s:\n%s%s", api, r.out, r.err)
						}
					}
					if got := len(s.Rows("work_item")) - 1; got != 111 {
						t.Errorf("%d work items", got)
					}
					if got := len(s.Rows("comment")); got != 60 && got != 61 {
						t.Errorf("%d comments", got)
					}
				})
			}
		}
	}
}
