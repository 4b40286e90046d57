//go:build unix

package cli_test

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/state"
)

// process is planform as a process of its own.
type process struct {
	*exec.Cmd

	lines chan string // of its standard error
	said  strings.Builder
}

// command is planform with a service to talk to.
func command(t *testing.T, s *service, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t), args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "PLANE_BASE_URL="+s.url, "PLANE_API_KEY="+sandbox.Key, "NO_COLOR=1")
	return cmd
}

func start(t *testing.T, s *service, args ...string) *process {
	t.Helper()
	return begin(t, command(t, s, args...))
}

func begin(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{Cmd: cmd, lines: make(chan string)}
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for in := bufio.NewScanner(stderr); in.Scan(); {
			p.lines <- in.Text() + "\n"
		}
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		_, _ = p.ends()
	})
	return p
}

// until waits for a line that says text.
func (pr *process) until(t *testing.T, text string) {
	t.Helper()
	for line := range pr.lines {
		pr.said.WriteString(line)
		if strings.Contains(line, text) {
			return
		}
	}
	t.Fatalf("it never said %q:\n%s", text, &pr.said)
}

// reaches waits until a request is held up at the gate.
func (pr *process) reaches(t *testing.T, g *gate) {
	t.Helper()
	for {
		select {
		case <-g.reached:
			return
		case line, running := <-pr.lines:
			if !running {
				t.Fatalf("it ended before:\n%s", &pr.said)
			}
			pr.said.WriteString(line)
		}
	}
}

// signal sends a signal.
func (pr *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := pr.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// ends waits for the end and gives the exit code and what was said on standard error.
func (pr *process) ends() (code int, said string) {
	for line := range pr.lines {
		pr.said.WriteString(line)
	}
	_ = pr.Wait() // the exit code tells
	return pr.ProcessState.ExitCode(), pr.said.String()
}

// gate holds up the nth request of a kind until it is opened.
type gate struct {
	writes            bool
	left              atomic.Int64
	reached, released chan struct{}
	open              func()
}

func gated(t *testing.T, nth int64, writes bool) (*gate, *service) {
	t.Helper()
	g := &gate{writes: writes, reached: make(chan struct{}), released: make(chan struct{})}
	g.open = sync.OnceFunc(func() { close(g.released) })
	g.left.Store(nth)
	s := newService(t, sandboxtest.Options{Fault: g.fault})
	t.Cleanup(g.open) // before the service ends, which waits for it
	return g, s
}

func (g *gate) fault(r *http.Request) sandboxtest.Fault {
	if (r.Method != http.MethodGet) == g.writes && g.left.Add(-1) == 0 {
		close(g.reached)
		<-g.released
	}
	return sandboxtest.Fault{}
}

func endings() []os.Signal { return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} }

// untouched wants a run that changed nothing, here and there.
func untouched(t *testing.T, s *service, code int, said string) {
	t.Helper()
	if code != 130 || !strings.HasSuffix(said, "interrupted; nothing was changed\n") {
		t.Errorf("exit %d, want 130 and a word on it:\n%s", code, said)
	}
	if _, writes := s.sent(0); writes != 0 {
		t.Errorf("%d write requests", writes)
	}
	if _, err := os.Stat(s.stateFile(t) + ".journal"); err == nil {
		t.Error("a journal is left")
	}
}

func TestASignalBeforeAnythingWasSentChangesNothing(t *testing.T) {
	t.Parallel()
	for _, signal := range endings() {
		for _, args := range [][]string{{"plan", "-f", "m.yaml"}, {"apply", "-f", "m.yaml"}, {"export", "--workspace", "acme", "--to", "out"}} {
			t.Run(signal.String()+", while "+args[0]+" reads", func(t *testing.T) {
				t.Parallel()
				g, s := gated(t, 1, false)
				s.write(t, "m.yaml", items(3))
				p := start(t, s, args...)
				p.reaches(t, g)
				p.signal(t, signal)
				code, said := p.ends()
				untouched(t, s, code, said)
			})
		}
	}
	t.Run("while it waits for another try", func(t *testing.T) {
		t.Parallel()
		s := newService(t, sandboxtest.Options{Fault: func(*http.Request) sandboxtest.Fault { return unavailable("60") }})
		p := start(t, s, "apply", "-f", s.write(t, "m.yaml", items(3)))
		p.until(t, "waiting 60 s for another try")
		p.signal(t, syscall.SIGINT)
		code, said := p.ends()
		untouched(t, s, code, said)
	})
	for _, args := range [][]string{
		{"apply", "-f", "m.yaml", "--lock-timeout", "1h"},
		{"state", "rm", "-f", "m.yaml", "--lock-timeout", "1h", "page/one"},
	} {
		t.Run("while "+args[0]+" waits for the lock", func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{})
			s.write(t, "m.yaml", onePage)
			held, err := state.Open(t.Context(), s.stateFile(t), state.Options{BaseURL: s.url, Workspace: "acme", Command: "planform apply"})
			if err != nil {
				t.Fatal(err)
			}
			p := start(t, s, args...)
			p.until(t, `("planform apply", process `)
			p.signal(t, syscall.SIGTERM)
			code, said := p.ends()
			if !strings.Contains(said, "; waiting up to 1h0m0s\n") {
				t.Errorf("it does not say how long it waits:\n%s", said)
			}
			_ = held.Close()
			untouched(t, s, code, said)
		})
	}
}

func TestASignalLetsRequestsUnderWayFinish(t *testing.T) {
	t.Parallel()
	for _, signal := range endings() {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			g, s := gated(t, 5, true)
			manifest := s.write(t, "m.yaml", items(20))
			p := start(t, s, "apply", "-f", manifest, "--parallelism", "1")
			p.reaches(t, g)
			p.signal(t, signal)
			p.until(t, "interrupt again to stop at once")
			g.open()
			if code, said := p.ends(); code != 130 || !strings.HasSuffix(said, "run the same command again to continue\n") {
				t.Errorf("exit %d, want 130 and the next step:\n%s", code, said)
			}
			if _, writes := s.sent(0); writes != 5 {
				t.Errorf("%d write requests, want those until the signal", writes)
			}
			if _, err := os.Stat(s.stateFile(t) + ".journal"); err == nil {
				t.Error("a journal is left though all was saved")
			}
			s.must(t, "apply", "-f", manifest)
			if got := len(s.Rows("work_item")) - 1; got != 20 {
				t.Errorf("%d work items after the next run, want 20", got)
			}
		})
	}
}

func TestASecondSignalStopsAtOnceAndTheNextRunLooks(t *testing.T) {
	t.Parallel()
	g, s := gated(t, 5, true)
	manifest := s.write(t, "m.yaml", items(20))
	p := start(t, s, "apply", "-f", manifest, "--parallelism", "1")
	p.reaches(t, g)
	p.signal(t, syscall.SIGINT)
	p.until(t, "interrupt again to stop at once")
	p.signal(t, syscall.SIGTERM)
	code, said := p.ends() // though the request is never answered
	if code != 130 || !strings.Contains(said, "it checks the requests without an answer first") {
		t.Errorf("exit %d, want 130 and the next step:\n%s", code, said)
	}
	g.open()
	s.must(t, "apply", "-f", manifest)
	if got := len(s.Rows("work_item")) - 1; got != 20 {
		t.Errorf("%d work items after the next run, want 20", got)
	}
}

func TestASignalEndsAWaitForTheRateLimit(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Rate: 5, Answers: sandbox.Contract})
	p := start(t, s, "apply", "-f", s.write(t, "m.yaml", items(20)), "--api", "documented")
	p.until(t, "for the rate limit")
	p.signal(t, syscall.SIGHUP)
	if code, said := p.ends(); code != 130 || strings.Contains(said, "failed") {
		t.Errorf("exit %d, want 130 and no step that failed:\n%s", code, said)
	}
}

func TestAHangupThatIsIgnoredStaysSo(t *testing.T) {
	t.Parallel()
	g, s := gated(t, 5, true)
	cmd := command(t, s, "apply", "-f", s.write(t, "m.yaml", items(20)), "--parallelism", "1")
	cmd.Args = append([]string{"sh", "-c", `trap "" HUP; exec "$0" "$@"`}, cmd.Args...) // as nohup does it
	cmd.Path = "/bin/sh"
	p := begin(t, cmd)
	p.reaches(t, g)
	p.signal(t, syscall.SIGHUP)
	p.signal(t, syscall.SIGINT)
	p.until(t, "interrupt again to stop at once")
	g.open()
	if code, said := p.ends(); code != 130 || strings.Contains(said, "unknown") {
		t.Errorf("exit %d, want 130 after the requests under way:\n%s", code, said)
	}
}

func unavailable(retryAfter string) sandboxtest.Fault {
	return sandboxtest.Fault{Before: sandboxtest.Break{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {retryAfter}}}}
}
