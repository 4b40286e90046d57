package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/remote"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/planner"
)

// sandboxURL stands for the sandbox in plans and state files: its port changes from run to run.
const sandboxURL = "sandbox:"

// sandboxFile is where the sandbox keeps its data, below the current folder.
func sandboxFile() string { return filepath.Join(".planform", "sandbox.db") }

// connectionOptions say which service to talk to, and how.
type connectionOptions struct {
	sandbox      bool
	baseURL      string
	workspace    string
	apiKeyFile   string
	api          string
	perMinute    float64
	timeout      time.Duration
	insecureHTTP bool
	impatient    bool // nothing is tried again, and no long pause is waited for
	getenv       func(string) string
}

func newConnectionOptions(c *cli.Context, p Process) (connectionOptions, error) {
	o := connectionOptions{
		sandbox: c.Bool("sandbox"), baseURL: c.String("base-url"), workspace: c.String("workspace"), apiKeyFile: c.String("api-key-file"),
		api: c.String("api"), timeout: c.Duration("timeout"), insecureHTTP: c.Bool("insecure-http"), getenv: p.Getenv,
	}
	switch o.api {
	case "auto", "documented", "full":
	default:
		return o, usageError{text: fmt.Sprintf("--api %q is none of auto, documented, full", o.api)}
	}
	if o.timeout <= 0 {
		return o, usageError{text: "--timeout must be more than nothing"}
	}
	if rate := c.String("rate"); rate != "" {
		perMinute, err := apiclient.ParseRate(rate)
		if err != nil {
			return o, usageError{text: err.Error(), hint: "such as --rate 50/m"}
		}
		o.perMinute = perMinute
	}
	if o.sandbox { // what the environment says of a real service is not meant for the sandbox
		if o.baseURL != "" || o.apiKeyFile != "" {
			return o, usageError{text: "--sandbox and a real service exclude each other", hint: "leave out --base-url and --api-key-file"}
		}
		return o, nil
	}
	if o.baseURL == "" {
		o.baseURL = p.Getenv("PLANE_BASE_URL")
	}
	if o.workspace == "" {
		o.workspace = p.Getenv("PLANE_WORKSPACE_SLUG")
	}
	return o, nil
}

// connection is a service that can be talked to.
type connection struct {
	client    *apiclient.Client
	name      string // base URL as plans and state files give it
	workspace string
	watch     *watch // what the client tells
	close     func() error
}

// connect opens the client, and the sandbox if it is asked for.
func connect(ctx context.Context, o connectionOptions, workspace string, out output) (*connection, error) {
	watch := &watch{}
	config := apiclient.Config{
		BaseURL: o.baseURL, Workspace: workspace, Version: version().Number, InsecureHTTP: o.insecureHTTP, MaxPerMinute: o.perMinute,
		Timeout: o.timeout, Log: out.log, Notify: watch.tell,
	}
	if o.impatient {
		config.Retries, config.MaxElapsed = -1, time.Second
	}
	conn := &connection{name: o.baseURL, workspace: workspace, watch: watch, close: func() error { return nil }}
	if o.sandbox {
		answers := sandbox.Observed
		if o.api == "documented" {
			answers = sandbox.Contract
		}
		if err := state.Inside(".", sandboxFile()); err != nil {
			return nil, err
		}
		server, err := sandbox.Open(sandbox.Options{Path: sandboxFile(), Answers: answers})
		if err != nil {
			return nil, err
		}
		conn.close = server.Close
		conn.name = sandboxURL
		if config.BaseURL, err = server.Start(ctx, ""); err != nil {
			_ = server.Close()
			return nil, err
		}
		config.Credential = apiclient.APIKey(sandbox.Key)
		if workspace == "" {
			config.Workspace, conn.workspace = sandbox.Workspace, sandbox.Workspace
		}
	} else if err := o.real(&config); err != nil {
		return nil, err
	} else if o.apiKeyFile != "" && openToOthers(o.apiKeyFile) {
		out.view.Notef("other users of this machine can read or change %s: chmod 600 keeps the key from them", o.apiKeyFile)
	}
	client, err := apiclient.New(config)
	if err != nil {
		_ = conn.close()
		return nil, err
	}
	conn.client = client
	return conn, nil
}

// real completes the configuration for a real service.
func (o connectionOptions) real(config *apiclient.Config) error {
	switch {
	case o.baseURL == "":
		return usageError{text: "no service is named", hint: "set PLANE_BASE_URL or give --base-url; --sandbox tries things out without one"}
	case config.Workspace == "":
		return usageError{text: "no workspace is named", hint: "write workspace: SLUG in the manifest, set PLANE_WORKSPACE_SLUG or give --workspace"}
	}
	credential, err := o.credential()
	if err != nil {
		return err
	}
	if err := credential.Validate(); err != nil {
		return wrongCredential{err}
	}
	config.Credential = credential
	return nil
}

// credential takes the one credential that is given.
func (o connectionOptions) credential() (apiclient.Credential, error) {
	const how = "set PLANE_API_KEY (an API key) or PLANE_ACCESS_TOKEN (an OAuth token), or name a file with --api-key-file"
	key, token := o.getenv("PLANE_API_KEY"), o.getenv("PLANE_ACCESS_TOKEN")
	if o.apiKeyFile != "" {
		text, err := readSecret(o.apiKeyFile)
		if err != nil {
			return apiclient.Credential{}, hinted{fmt.Errorf("%w: %w", errCredentials, err), how}
		}
		return apiclient.APIKey(text), nil
	}
	switch {
	case key != "" && token != "":
		return apiclient.Credential{}, hinted{fmt.Errorf("%w can be chosen: PLANE_API_KEY and PLANE_ACCESS_TOKEN are both set", errCredentials), "unset one of them"}
	case key != "":
		return apiclient.APIKey(key), nil
	case token != "":
		return apiclient.Bearer(token), nil
	default:
		return apiclient.Credential{}, hinted{fmt.Errorf("%w is given", errCredentials), how}
	}
}

// readSecret reads a credential from a file.
func readSecret(name string) (string, error) {
	const largest = 64 << 10
	f, err := os.Open(name) //nolint:gosec // the user names the file
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(f, largest))
	return string(text), err
}

// openToOthers reports whether everybody can read a file, or others than its owner change it.
func openToOthers(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && runtime.GOOS != "windows" && info.Mode()&0o026 != 0
}

// credentialSource says where the credential comes from, in words that show none of it.
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

// chooseAPI decides which operations are used; the answer of the read that finds out is put into observed.
func (c *connection) chooseAPI(ctx context.Context, which string, observed planner.Observed) (resource.API, error) {
	switch which {
	case "documented":
		return resource.Documented, nil
	case "full":
		return resource.Full, nil
	default:
		return remote.Detect(ctx, c.client, c.workspace, observed)
	}
}
