package cli

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/sync/doctor"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

func doctorCommand(p Process) *cli.Command {
	return &cli.Command{
		Usage:     "checks connection, credential, workspace, state and manifests; read-only",
		UsageText: "planform doctor [FILE…] [FLAGS]", ArgsUsage: argsManifests,
		Description: `Makes about 20 small read requests and reports on base URL and certificate,
credential, workspace, APIs, edition, rate limit, state file, and on what the
manifests need. Each problem comes with a suggested fix.

   planform doctor
   planform doctor workspace.yaml --output json
   planform doctor --sandbox`,
		Flags: slices.Concat(manifestFlags(), stateFlags(), connectionFlags(), outputFlags()),
		Action: withOutput(p, func(c *cli.Context, out output) error {
			reading, err := p.reading(c)
			if err != nil {
				return err
			}
			return runDoctor(c.Context, manifests(c), reading, statePlace(c, p), newConnectionOptions(c, p), out)
		}),
	}
}

func runDoctor(ctx context.Context, files []string, reading manifest.Options, place string, service connectionOptions, out output) error {
	service.noRetry, service.workspaceOptional, reading.Workspace = true, true, service.workspace
	in := doctor.Input{
		BaseURL: withoutSecrets(service.baseURL), Workspace: service.slug(), StatePath: place, Connect: service.connectState,
		Credential: service.credentialSource(), API: widest(service.api), APIChosen: service.api == "v2",
	}
	dir := "."
	if len(files) > 0 {
		desired, findings := manifest.Load(ctx, files, reading)
		out.view.Diagnostics(findings)
		workspace, err := destination(desired, service.workspace, service.envWorkspace)
		if err != nil {
			return err
		}
		in.Manifests, in.Desired, in.Workspace = files, desired.Objects, workspace
		for i := range findings {
			if findings[i].Severity == diag.Error {
				in.Errors++
			}
		}
		dir = desired.Dir
		service.dir, service.people = dir, emailsOf(desired)
	}
	conn, err := connect(ctx, service, in.Workspace, out)
	var wrong usageError
	switch {
	case errors.As(err, &wrong):
		return err
	case err != nil:
		in.Refused, in.RefusedHint = err, diag.HintOf(err)
		if errors.Is(err, errCredentials) {
			in.Credential = ""
		}
	default:
		defer conn.close() //nolint:errcheck // nothing was written
		in.Client, in.Redact = conn.client, conn.client.Redact
		in.BaseURL, in.Workspace = conn.baseURL, conn.workspace
	}
	if in.StatePath == "" {
		in.StatePath, _ = state.DefaultPath(dir, in.BaseURL, in.Workspace) // without an address there is none
	}
	report := doctor.Examine(ctx, in)
	if err := out.view.Report(&report); err != nil {
		return err
	}
	if n := report.Summary.Problems; n > 0 {
		return problemsError{problems: n, denied: report.Denied()}
	}
	return nil
}

// withoutSecrets returns an address without user, password and query, so that it can be shown before it is checked.
func withoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return shown.String()
}
