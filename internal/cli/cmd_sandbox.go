package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/text/diag"
)

// sandboxAddress is the address that examples of planform sandbox listen on.
const sandboxAddress = "127.0.0.1:8080"

// defaultSandbox returns the file of the sandbox that planform sandbox serves.
func defaultSandbox() string { return filepath.Join(".planform", "sandbox.db") }

// sandboxServer returns the command that serves a sandbox's file.
func sandboxServer(file string) string {
	command := "planform sandbox --listen " + sandboxAddress
	if file != defaultSandbox() {
		command += " --data " + shellWord(file)
	}
	return command
}

func sandboxCommand(p Process) *cli.Command {
	return &cli.Command{
		Usage:     "serves a local look-alike of the service",
		UsageText: "planform sandbox [--listen 127.0.0.1:PORT] [FLAGS]",
		Description: `Serves a small workspace "` + sandbox.Workspace + `" on the loopback interface until it is interrupted
(Ctrl-C; in the background of a script, kill PID). Its data is kept in
.planform/sandbox.db, the same that --sandbox uses; with --data, it serves another workspace.
In a browser, the address shows what the workspace has.

   planform sandbox --listen ` + sandboxAddress + `
   export PLANE_BASE_URL=http://` + sandboxAddress + ` PLANE_API_KEY=` + sandbox.Key + `
   planform plan -f workspace.yaml`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:0", Usage: "loopback `ADDRESS` to listen on; port 0 takes a free port"},
			&cli.StringFlag{Name: "data", Value: defaultSandbox(), Usage: "`FILE` with the data"},
			choice(cli.StringFlag{
				Name: "answers", Value: "observed",
				Usage: "answer `HOW`: observed (as a real service does) or contract (as documented)",
			}, "observed", "contract"),
			choice(cli.StringFlag{
				Name: "edition", Value: "full",
				Usage: "`EDITION` to act as: full, community (1.4.1), community@1.3 (1.3.1) or cloud (with API v2)",
			}, "full", "community", "community@1.3", "community@1.4", "cloud"),
			number(cli.IntFlag{Name: "requests-per-minute", Usage: "rate limit: `NUMBER` of requests per minute and key (default: none)"}, 0),
			&cli.BoolFlag{Name: "empty", Usage: "start with an empty workspace"},
			&cli.BoolFlag{Name: "governed", Usage: "start with a workspace that manages states and work item types for its projects"},
		}, outputFlags()),
		Action: withOutput(p, func(c *cli.Context, out output) error {
			o := sandbox.Options{
				Path: c.String("data"), Rate: c.Int("requests-per-minute"), Empty: c.Bool("empty"), Governed: c.Bool("governed"), Answers: sandbox.Observed,
				Welcoming: true,
			}
			if c.String("answers") == "contract" {
				o.Answers = sandbox.Contract
			}
			edition, version, _ := strings.Cut(c.String("edition"), "@")
			o.Edition, o.Version = map[string]sandbox.Edition{"community": sandbox.Community, "cloud": sandbox.Cloud}[edition], version
			return runSandbox(c.Context, p, o, c.String("listen"), out)
		}),
	}
}

func runSandbox(ctx context.Context, p Process, o sandbox.Options, listen string, out output) error {
	server, err := sandbox.Open(o)
	if err != nil {
		return err
	}
	defer server.Close() //nolint:errcheck // every write is in the file already
	url, err := server.Start(ctx, listen)
	if err != nil {
		return diag.WithHint(err, "--listen 127.0.0.1:0 takes a free port")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	release := onSignals(cancel, cancel)
	defer release()
	if _, err := fmt.Fprintln(p.Streams.Out, url); err != nil {
		return err
	}
	out.view.Notef("serving the workspace %s to planform and to browsers; in another terminal:", server.Workspace())
	out.view.Notef("  export PLANE_BASE_URL=%s PLANE_API_KEY=%s PLANE_WORKSPACE_SLUG=%s", url, sandbox.Key, server.Workspace())
	<-ctx.Done()
	return nil
}
