package cli

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"
)

// pager shows a text through the program that the user reads long texts with. It is nil without a terminal, in CI, where the
// program is missing, and for commands that change something: their plan stays on the terminal, above the question and the result.
func pager(c *cli.Context, p Process) func(text []byte) error {
	if changes := []string{"apply", "undo"}; !p.Streams.OutTTY || slices.Contains(changes, c.Command.Name) || c.Bool("no-pager") || c.String("output") == "json" || p.Getenv("CI") != "" || p.Getenv("TERM") == "dumb" {
		return nil
	}
	words := strings.Fields(cmp.Or(p.Getenv("PLANFORM_PAGER"), p.Getenv("PAGER"), "less -FRX"))
	if len(words) == 0 {
		return nil
	}
	program, err := exec.LookPath(words[0])
	if err != nil {
		return nil
	}
	return func(text []byte) error {
		cmd := exec.Command(program, words[1:]...) //nolint:gosec,noctx // the user names the program, and ends it
		cmd.Env = pagerEnvironment(os.Environ())
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), p.Streams.Out, p.Streams.Err
		return page(cmd, func() error {
			_, err := p.Streams.Out.Write(text)
			return err
		})
	}
}

// pagerEnvironment is an environment without what is meant for planform, such as the credential. As with git, less shows colours. Its prompt
// says how to go on.
func pagerEnvironment(all []string) []string {
	all = slices.DeleteFunc(slices.Clone(all), func(v string) bool { return strings.HasPrefix(v, "PLANE_") })
	if !slices.ContainsFunc(all, func(v string) bool { return strings.HasPrefix(v, "LESS=") }) {
		all = append(all, "LESS=-FRX -Psspace shows more, q ends$")
	}
	return all
}

// page runs the pager to its end. A signal meanwhile interrupts planform too, but not before the pager gives the terminal back.
func page(cmd *exec.Cmd, otherwise func() error) error {
	signals := listen(1)
	defer signal.Stop(signals)
	if cmd.Start() != nil {
		return otherwise()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // how it ended says nothing of the plan
	}()
	for interrupted := false; ; {
		select {
		case s := <-signals:
			interrupted = true
			if s != os.Interrupt && cmd.Process.Signal(syscall.SIGTERM) != nil { // the terminal interrupts both
				_ = cmd.Process.Kill()
			}
		case <-ended:
			if interrupted || len(signals) > 0 || cmd.ProcessState.ExitCode() < 0 { // a signal ended the pager
				return errInterrupted
			}
			return nil
		}
	}
}
