package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/internal/sync/doctor"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

// sandboxURL is the base URL of the sandbox in plans and state files. The real address has another port in each run.
const sandboxURL = "sandbox:"

// sandboxFile returns the sandbox's file for a workspace: the nearest one from dir upwards, so that a manifest has the same sandbox in
// every working folder. If there is no file, its place is the current folder if that contains dir, else dir.
func sandboxFile(dir, workspace string) string {
	name := defaultSandbox()
	if workspace != "" && workspace != sandbox.Workspace {
		name = filepath.Join(".planform", "sandbox_"+workspace+".db")
	}
	const writableByAnybody = 0o002 // the search ends at such a folder
	for at := realPath(dir); ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && info.Mode().Perm()&writableByAnybody != 0 || filepath.Dir(at) == at {
			break
		}
		if _, err := os.Stat(filepath.Join(at, name)); err == nil {
			return shorten(filepath.Join(at, name))
		}
	}
	if rel, err := filepath.Rel(realPath("."), realPath(dir)); err == nil && filepath.IsLocal(rel) {
		return name
	}
	return filepath.Join(dir, name)
}

// shorten returns a path relative to the current folder if it lies below that folder, else the path itself.
func shorten(path string) string {
	if rel, err := filepath.Rel(realPath("."), path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// connectionOptions holds the flags and variables that select a service and the way to talk to it.
type connectionOptions struct {
	sandbox           bool
	baseURL           string
	workspace         string   // of the flag
	envWorkspace      string   // of the environment; used if nothing else names one
	dir               string   // of the first manifest
	people            []string // e-mail addresses in the manifests; the sandbox has them as members
	workspaceOptional bool     // the command works without a workspace
	apiKeyFile        string
	api               string
	perMinute         float64
	timeout           time.Duration
	insecureHTTP      bool
	noRetry           bool     // no request is repeated, and no long pause is accepted
	given             []string // flags of the command line that select the service
	getenv            func(string) string

	// See [Process].
	transport apiclient.Transport
	alone     bool
	disk      disk.Disk
	store     func(address string) (state.Objects, error)
}

func newConnectionOptions(c *cli.Context, p Process) connectionOptions {
	o := connectionOptions{
		sandbox: c.Bool("sandbox"), baseURL: c.String("base-url"), workspace: c.String("workspace"), apiKeyFile: c.String("api-key-file"),
		api: c.String("api"), timeout: c.Duration("timeout"), insecureHTTP: c.Bool("insecure-http"), getenv: p.Getenv,
		alone: p.Alone, transport: p.Transport, disk: disk.Or(p.Disk), store: p.Store,
		given: givenFlags(c, "base-url", "workspace", "api-key-file", "insecure-http", "sandbox"),
	}
	if o.api == "full" { // the former name
		o.api = "v1"
	}
	o.perMinute, _ = parseRate(c.String("rate")) // the flag was checked
	if !o.sandbox {                              // the environment names a real service, not the sandbox
		o.baseURL = cmp.Or(o.baseURL, p.Getenv("PLANE_BASE_URL"))
		o.envWorkspace = p.Getenv("PLANE_WORKSPACE_SLUG")
	}
	return o
}

// givenFlags returns the named flags that the command line has, quoted for a shell. They become part of a suggested command.
func givenFlags(c *cli.Context, names ...string) []string {
	var flags []string
	for _, name := range names {
		switch on, isSwitch := c.Value(name).(bool); {
		case !c.IsSet(name), isSwitch && !on:
		case isSwitch:
			flags = append(flags, "--"+name)
		default:
			flags = append(flags, "--"+name, shellWord(c.String(name)))
		}
	}
	return flags
}

// slug returns the workspace of a command without manifests.
func (o connectionOptions) slug() string { return cmp.Or(o.workspace, o.envWorkspace) }

// destination returns the workspace that manifests are for: from the flag or the manifest, else from the environment. If the environment
// contradicts the manifest, only the flag can decide.
func destination(m *manifest.Manifest, flag, environment string) (string, error) {
	if flag != "" || environment == "" || m.Workspace == environment {
		return m.Workspace, nil
	}
	if m.Workspace == "" {
		return environment, nil
	}
	return "", usageError{
		text: fmt.Sprintf("PLANE_WORKSPACE_SLUG is %s, and the manifest is for the workspace %s (%s)", environment, m.Workspace,
			m.WorkspacePosition),
		hint: fmt.Sprintf("unset PLANE_WORKSPACE_SLUG, or give --workspace %s or --workspace %s", m.Workspace, environment),
	}
}

// emailsOf returns the e-mail addresses by which a manifest names members.
func emailsOf(m *manifest.Manifest) (emails []string) {
	for _, o := range m.Objects {
		for _, v := range o.Values {
			for _, r := range v.Refs {
				if v.Field.Ref == "member" && r.Target == nil && r.ID == "" && strings.Contains(r.Text, "@") {
					emails = append(emails, r.Text)
				}
			}
		}
	}
	return emails
}

// connection is a client with the service and workspace that it talks to.
type connection struct {
	client     *apiclient.Client
	baseURL    string // base URL as plans and state files give it
	workspace  string
	sandbox    string         // file of the sandbox; "" = it is a real service
	credential string         // where the credential comes from
	relay      *progressRelay // passes on the client's events
	close      func() error

	preflight *doctor.Preflight
	user      string // the credential's; "" = not known
}

// connect opens the client, and the sandbox if it is asked for.
func connect(ctx context.Context, o connectionOptions, workspace string, out output) (*connection, error) {
	relay := &progressRelay{}
	config := apiclient.Config{
		BaseURL: o.baseURL, Workspace: workspace, Version: version().Number, InsecureHTTP: o.insecureHTTP, MaxPerMinute: o.perMinute,
		Timeout: o.timeout, Log: out.log, Notify: relay.notify, Transport: o.transport,
	}
	if o.noRetry {
		config.Retries, config.MaxElapsed = -1, time.Second
	}
	conn := &connection{
		baseURL: o.baseURL, workspace: workspace, credential: o.credentialSource(), relay: relay,
		close: func() error { return nil },
	}
	if o.sandbox {
		answers := sandbox.Observed
		if o.api == "documented" {
			answers = sandbox.Contract
		}
		edition := sandbox.Full
		if o.api == "v2" {
			edition = sandbox.Cloud
		}
		if workspace == "" {
			config.Workspace, conn.workspace = sandbox.Workspace, sandbox.Workspace
		}
		if err := checkSlug(conn.workspace); err != nil {
			return nil, err
		}
		conn.sandbox = sandboxFile(cmp.Or(o.dir, "."), conn.workspace)
		folder := filepath.Dir(filepath.Dir(conn.sandbox))
		if err := state.Inside(folder, filepath.Join(".planform", filepath.Base(conn.sandbox))); err != nil {
			return nil, err
		}
		server, err := sandbox.Open(sandbox.Options{
			Path: conn.sandbox, Workspace: conn.workspace, Answers: answers, Edition: edition, People: o.people, Welcoming: true,
		})
		if unwritable := new(fs.PathError); errors.As(err, &unwritable) {
			err = diag.WithHint(err, "make the folder writable, or copy the manifests into one that is")
		}
		if err != nil {
			return nil, err
		}
		conn.close = server.Close
		conn.baseURL = sandboxURL
		if config.BaseURL, err = server.Start(ctx, ""); err != nil {
			_ = server.Close()
			return nil, err
		}
		config.Credential = apiclient.APIKey(sandbox.Key)
	} else if err := o.configure(&config); err != nil {
		return nil, err
	} else if o.apiKeyFile != "" && isAccessibleToOthers(o.apiKeyFile) {
		out.view.Notef("other users of this machine can read or change %s: run chmod 600 to protect the key", o.apiKeyFile)
	}
	client, err := apiclient.New(config)
	if err != nil {
		_ = conn.close()
		return nil, err
	}
	conn.client = client
	if !o.sandbox {
		conn.baseURL = client.BaseURL()
	}
	return conn, nil
}

// The cloud has its web app and its API at two addresses.
const (
	cloudWeb = "https://app.plane.so"
	cloudAPI = "https://api.plane.so"
)

// webURL returns the address of the service's web app, which is the base URL for self-hosted services. It is empty for the sandbox, because
// texts there link to paths.
func (c *connection) webURL() string {
	switch c.baseURL {
	case sandboxURL:
		return ""
	case cloudAPI:
		return cloudWeb
	default:
		return c.baseURL
	}
}

func checkSlug(workspace string) error {
	if strings.ContainsFunc(workspace, func(r rune) bool { return !isSlug(r) }) {
		return usageError{text: fmt.Sprintf("the workspace %q is not a slug", workspace), hint: "a slug has letters, digits, - and _"}
	}
	return nil
}

func isSlug(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}

// checkGiven returns an error if no base URL or no credential is given. It reads no file, because a file may be readable only once.
func (o connectionOptions) checkGiven() error {
	switch {
	case o.sandbox:
		return nil
	case o.baseURL == "":
		return usageError{text: "no base URL is given", hint: o.mistaken("set PLANE_BASE_URL or give --base-url; --sandbox needs none", "PLANE_BASE_URL",
			"PLANE_URL", "PLANE_API_URL", "PLANE_HOST", "PLANE_ADDR"), code: "no-base-url"}
	case o.baseURL == cloudWeb, strings.HasPrefix(o.baseURL, cloudWeb+"/"):
		return usageError{text: cloudWeb + " is the web app", hint: "its API has the base URL " + cloudAPI}
	case o.apiKeyFile != "":
		return nil
	}
	_, err := o.credential()
	return err
}

// configure completes the configuration for a real service.
func (o connectionOptions) configure(config *apiclient.Config) error {
	if err := o.checkGiven(); err != nil {
		return err
	}
	if config.Workspace == "" && !o.workspaceOptional {
		return usageError{text: "no workspace is given", hint: "write workspace: SLUG in the manifest, set PLANE_WORKSPACE_SLUG or give --workspace", code: "no-workspace"}
	}
	credential, err := o.credential()
	if err != nil {
		return err
	}
	if err := credential.Validate(); err != nil {
		return failure{err, errCredentials}
	}
	config.Credential = credential
	return nil
}

// mistaken returns the hint, or a better one if a variable with a similar name is set.
func (o connectionOptions) mistaken(hint, name string, others ...string) string {
	if i := slices.IndexFunc(others, func(other string) bool { return o.getenv(other) != "" }); i >= 0 {
		return others[i] + " is set, and planform reads " + name + ": did you mean that?"
	}
	return hint
}

// credential returns the credential from --api-key-file, else from the environment. It returns an error if there is none, or if the
// environment has two.
func (o connectionOptions) credential() (apiclient.Credential, error) {
	const how = "set PLANE_API_KEY (API key) or PLANE_ACCESS_TOKEN (OAuth token), or name a file with --api-key-file"
	key, token := o.getenv("PLANE_API_KEY"), o.getenv("PLANE_ACCESS_TOKEN")
	if o.apiKeyFile != "" {
		text, err := readAtMost(o.apiKeyFile, largestSecret)
		if err != nil {
			return apiclient.Credential{}, diag.WithHint(fmt.Errorf("%w: %w", errCredentials, err), how)
		}
		return apiclient.APIKey(string(text)), nil
	}
	switch {
	case key != "" && token != "":
		return apiclient.Credential{}, diag.WithHint(fmt.Errorf("%w can be chosen: PLANE_API_KEY and PLANE_ACCESS_TOKEN are both set",
			errCredentials), "unset one of them")
	case key != "":
		return apiclient.APIKey(key), nil
	case token != "":
		return apiclient.Bearer(token), nil
	default:
		return apiclient.Credential{}, diag.WithHint(fmt.Errorf("%w is given", errCredentials),
			o.mistaken(how, "PLANE_API_KEY", "PLANE_API_TOKEN", "PLANE_TOKEN", "PLANE_KEY"))
	}
}

// isAccessibleToOthers reports whether all users can read a file, or other users than the owner can change it.
func isAccessibleToOthers(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && runtime.GOOS != "windows" && info.Mode()&0o026 != 0
}

// credentialSource returns the source of the credential, in words that show no part of the credential.
func (o connectionOptions) credentialSource() string {
	switch {
	case o.sandbox:
		return "API key of the sandbox"
	case o.apiKeyFile != "":
		return "API key from the file " + o.apiKeyFile
	case o.getenv("PLANE_API_KEY") != "":
		return "API key from PLANE_API_KEY"
	default:
		return "access token from PLANE_ACCESS_TOKEN"
	}
}
