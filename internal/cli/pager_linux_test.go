package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// paged starts planform on a terminal of 18 rows, with a pager.
func paged(t *testing.T, s *service, script string, env []string, args ...string) (*exec.Cmd, *os.File) {
	t.Helper()
	person, inside := terminal(t)
	size := [4]uint16{18, 80}
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, inside.Fd(), syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size))); errno != 0 {
		t.Fatal(errno)
	}
	p := command(t, s, args...)
	p.Stdin, p.Stdout, p.Stderr = inside, inside, inside
	file := filepath.Join(t.TempDir(), "pager") // nobody runs it yet, so that it can be written
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.Env = append(p.Env, "CI=", "TERM=xterm", "PLANFORM_PAGER="+file+" an-argument")
	p.Env = append(p.Env, env...)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	_ = inside.Close() // so that the terminal ends with its programs
	t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	return p, person
}

// all reads what a terminal shows until its last program ends.
func all(person *os.File) string {
	var seen strings.Builder
	for b := make([]byte, 4096); ; {
		n, err := person.Read(b)
		seen.Write(b[:n])
		if err != nil {
			return strings.ReplaceAll(seen.String(), "\r", "")
		}
	}
}

func TestALongPlanGoesThroughThePagerOnATerminal(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	manifest, small := s.write(t, "m.yaml", items(8)), s.write(t, "small.yaml", items(1))
	const script = `echo "PAGER $1 LESS=$LESS"; env; cat; exit 7`
	for name, tt := range map[string]struct {
		env, args []string
		paged     bool
		code      int
	}{
		"a long plan is paged":                    {nil, []string{"plan", "-f", manifest}, true, 0},
		"its exit code stays":                     {nil, []string{"plan", "-f", manifest, "--detailed-exitcode"}, true, 2},
		"a dry run of apply is not paged":         {nil, []string{"apply", "-f", manifest, "--dry-run", "--yes"}, false, 0},
		"a plan in Markdown is paged":             {nil, []string{"plan", "-f", manifest, "-o", "markdown"}, true, 0},
		"a plan in JSON is not paged":             {nil, []string{"plan", "-f", manifest, "-o", "json"}, false, 0},
		"--no-pager turns the pager off":          {nil, []string{"plan", "-f", manifest, "--no-pager"}, false, 0},
		"nothing is paged in CI":                  {[]string{"CI=true"}, []string{"plan", "-f", manifest}, false, 0},
		"nothing is paged on a dumb terminal":     {[]string{"TERM=dumb"}, []string{"plan", "-f", manifest}, false, 0},
		"a pager that does not exist is not used": {[]string{"PLANFORM_PAGER=no-such-pager"}, []string{"plan", "-f", manifest}, false, 0},
		"a short plan is not paged":               {nil, []string{"plan", "-f", small, "--summary", "--state", "s"}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, person := paged(t, s, script, tt.env, tt.args...)
			got := all(person)
			_ = p.Wait() // the exit code tells
			if code := p.ProcessState.ExitCode(); code != tt.code {
				t.Errorf("exit %d, want %d", code, tt.code)
			}
			if strings.Contains(got, "PAGER an-argument LESS=-FRX -Psspace shows more, q ends$\n") != tt.paged || !strings.Contains(got, "work") {
				t.Errorf("through the pager: %v; want %v:\n%s", !tt.paged, tt.paged, got)
			}
			if strings.Contains(got, sandbox.Key) {
				t.Error("the pager is given the credential")
			}
		})
	}
}

func TestApplyShowsItsPlanWithoutAPagerAndAsksBelowIt(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	p, person := paged(t, s, "cat >plan", nil, "apply", "-f", s.write(t, "m.yaml", items(8)))
	if asked := sees(t, person, "to go ahead: "); strings.Count(asked, "Plan: 16 to create") != 1 || !strings.Contains(asked, "+ work_item/") {
		t.Errorf("the plan does not stand above the question:\n%s", asked)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "plan")); err == nil {
		t.Error("the pager was run")
	}
	if _, err := person.WriteString("no\n"); err != nil {
		t.Fatal(err)
	}
	sees(t, person, "nothing was done")
	_ = p.Wait() // the exit code tells
	if _, writes := s.sent(0); writes != 0 {
		t.Errorf("%d write requests", writes)
	}
}

func TestTheWarningsOfAManifestStandAgainBelowALongPlan(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	warns := "pages: [{name: A, description: <script>a</script>}]\n"
	for name, tt := range map[string]struct {
		items, times int
	}{"a plan that fits is not followed by them": {0, 1}, "a long plan is followed by them": {8, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "version: 1\nworkspace: acme\n" + warns
			if tt.items > 0 {
				text = items(tt.items) + warns
			}
			p, person := paged(t, s, "cat >plan", nil, "apply", "-f", s.write(t, fmt.Sprintf("m%d.yaml", tt.items), text))
			if asked := sees(t, person, "to go ahead: "); strings.Count(asked, "the service removes <script>") != tt.times {
				t.Errorf("the warning does not stand there %d times:\n%s", tt.times, asked)
			}
			if _, err := person.WriteString("no\n"); err != nil {
				t.Fatal(err)
			}
			all(person)
			_ = p.Wait() // the exit code does not matter
		})
	}
}

func TestASignalWhileThePagerRunsChangesNothing(t *testing.T) {
	t.Parallel()
	for _, signal := range endings() {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{})
			p, person := paged(t, s, "echo $$ >pid; cat >/dev/null; echo PAGER; exec sleep 60", nil, "plan", "-f", s.write(t, "m.yaml", items(8)))
			sees(t, person, "PAGER")
			if err := p.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if signal == os.Interrupt { // a terminal sends it to the pager too, which may stay
				pid, err := os.ReadFile(filepath.Join(s.dir, "pid"))
				if err != nil {
					t.Fatal(err)
				}
				if err := exec.CommandContext(t.Context(), "kill", strings.TrimSpace(string(pid))).Run(); err != nil {
					t.Fatal(err)
				}
			}
			sees(t, person, "interrupted; nothing was changed")
			_ = p.Wait() // the exit code tells
			untouched(t, s, p.ProcessState.ExitCode(), "interrupted; nothing was changed\n")
		})
	}
}
