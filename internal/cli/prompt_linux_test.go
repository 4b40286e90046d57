package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// terminal is a pseudo terminal: what a person sees and types into, and what a program does.
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminal can be made:", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	var number, locked uint32
	for call, arg := range map[uintptr]*uint32{syscall.TIOCSPTLCK: &locked, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, person.Fd(), call, uintptr(unsafe.Pointer(arg))); errno != 0 {
			t.Fatal(errno)
		}
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

// sees reads from the terminal until text is there, wherever its lines are broken, and returns what it read.
func sees(t *testing.T, person *os.File, text string) string {
	t.Helper()
	var seen strings.Builder
	for b := make([]byte, 1024); !strings.Contains(regexp.MustCompile(`\s*\n\s*`).ReplaceAllString(seen.String(), " "), text); {
		n, err := person.Read(b)
		if err != nil {
			t.Fatalf("%v instead of %q:\n%s", err, text, &seen)
		}
		seen.Write(b[:n])
	}
	return seen.String()
}

// onTerminal starts planform on a terminal of its own.
func onTerminal(t *testing.T, s *service, args ...string) (*exec.Cmd, *os.File) {
	t.Helper()
	person, inside := terminal(t)
	p := command(t, s, args...)
	p.Stdin, p.Stderr = inside, inside
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	return p, person
}

func TestApplyAsksOnTheTerminalWhereverItsOutputLeads(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		out, err      bool // what leads to a file
		args          []string
		before, items int // applied before, and wanted
	}{
		"apply asks on the terminal with its errors in a file":   {err: true, items: 3},
		"apply asks on the terminal with its output in a file":   {out: true, items: 3},
		"apply asks on the terminal with both in files":          {out: true, err: true, items: 3},
		"no plan is shown with --output json":                    {args: []string{"--output", "json"}, items: 3},
		"a deletion needs the whole word yes":                    {args: []string{"--prune"}, before: 8, items: 7},
		"a deletion needs the whole word yes with both in files": {out: true, err: true, args: []string{"--prune"}, before: 8, items: 7},
	} {
		for answer, agrees := range map[string]bool{"yes": true, "y": tt.before == 0, "no": false} {
			t.Run(name+", "+answer, func(t *testing.T) {
				t.Parallel()
				s := newService(t, sandboxtest.Options{})
				before := len(s.Rows("work_item"))
				if tt.before > 0 {
					s.must(t, "apply", "-f", s.write(t, "m.yaml", items(tt.before)))
				}
				want := before + tt.before
				if agrees {
					want = before + tt.items
				}
				person, inside := terminal(t)
				p := command(t, s, append([]string{"apply", "--no-pager", "-f", s.write(t, "m.yaml", items(tt.items))}, tt.args...)...)
				log, err := os.Create(filepath.Join(s.dir, "log"))
				if err != nil {
					t.Fatal(err)
				}
				p.Stdin, p.Stdout, p.Stderr = inside, inside, inside
				if tt.out {
					p.Stdout = log
				}
				if tt.err {
					p.Stderr = log
				}
				p.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
				if err := p.Start(); err != nil {
					t.Fatal(err)
				}
				_ = inside.Close() // so that the terminal ends with its programs
				shown := sees(t, person, "to go ahead: ")
				if n := strings.Count(shown, "Plan: "); n != 1 {
					t.Errorf("the counts stand above the question %d times:\n%s", n, shown)
				}
				if _, err := person.WriteString(answer + "\n"); err != nil {
					t.Fatal(err)
				}
				said := all(person)
				_ = p.Wait() // the exit code tells
				if tt.before > 0 && !tt.err && strings.Contains(said, "answer \"yes\" or give") == agrees {
					t.Errorf("after the answer: %s", said)
				}
				if n := len(s.Rows("work_item")); p.ProcessState.ExitCode() != 0 || n != want {
					t.Errorf("exit code %d, %d work items, want %d", p.ProcessState.ExitCode(), n, want)
				}
			})
		}
	}
}

func TestASignalAtThePromptChangesNothing(t *testing.T) {
	t.Parallel()
	for _, signal := range endings() {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{})
			p, person := onTerminal(t, s, "apply", "-f", s.write(t, "m.yaml", items(3)))
			sees(t, person, "to go ahead: ")
			if err := p.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			sees(t, person, "interrupted; nothing was changed")
			_ = p.Wait() // the exit code tells
			untouched(t, s, p.ProcessState.ExitCode(), "interrupted; nothing was changed\n")
		})
	}
}

func TestApplyWithoutATerminalToAskOnDoesNothing(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	_, inside := terminal(t)
	p := command(t, s, "apply", "-f", s.write(t, "m.yaml", items(3)))
	var told strings.Builder
	p.Stdin, p.Stderr = inside, &told
	p.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // the terminal is not its own
	_ = p.Run()                                        // the exit code tells
	if code := p.ProcessState.ExitCode(); code != 64 || !strings.Contains(told.String(), "nothing was done\n  give --yes to go ahead without a question") {
		t.Errorf("exit code %d\n%s", code, &told)
	}
	if _, writes := s.sent(0); writes != 0 {
		t.Errorf("%d write requests", writes)
	}
}

// On a disk that carries no locks from one machine to another.
func TestARunWhoseStateAnotherMachineTookSendsNothing(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	manifest := s.write(t, "m.yaml", items(3))
	p, person := onTerminal(t, s, "apply", "-f", manifest)
	sees(t, person, "to go ahead: ")
	if err := os.Remove(s.stateFile(t) + ".lock"); err != nil {
		t.Fatal(err)
	}
	s.must(t, "apply", "-f", manifest)
	before := len(s.Log())
	if _, err := person.WriteString("yes\n"); err != nil {
		t.Fatal(err)
	}
	sees(t, person, "another run removed it")
	_ = p.Wait() // the exit code tells
	if code := p.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit %d, want 1", code)
	}
	if _, writes := s.sent(before); writes != 0 {
		t.Errorf("%d write requests after another run took the state", writes)
	}
	if r := s.must(t, "apply", "-f", manifest); !strings.Contains(r.out, "No changes.") {
		t.Errorf("the state of the other run is not what it was:\n%s", r.out)
	}
}
