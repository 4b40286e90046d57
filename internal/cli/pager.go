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

// pager returns a function that shows a text in the user's pager. It returns nil without a terminal, in CI, without a pager program, and
// for commands that change something, because their plan must stay above the question.
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

// pagerEnvironment returns an environment without variables of planform, such as the credential. It also sets options of less: colours, and
// a prompt that tells the keys.
func pagerEnvironment(all []string) []string {
	all = slices.DeleteFunc(slices.Clone(all), func(v string) bool { return strings.HasPrefix(v, "PLANE_") })
	if !slices.ContainsFunc(all, func(v string) bool { return strings.HasPrefix(v, "LESS=") }) {
		all = append(all, "LESS=-FRX -Psspace shows more, q ends$")
	}
	return all
}

// page runs the pager to its end. A signal during that time also interrupts planform, after the pager has restored the terminal.
func page(cmd *exec.Cmd, otherwise func() error) error {
	signals := listen(1)
	defer signal.Stop(signals)
	if cmd.Start() != nil {
		return otherwise()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // an error of the pager is no error of the command
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
