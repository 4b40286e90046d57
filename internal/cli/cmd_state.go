package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
	"github.com/planform/planform/schema"
)

func stateCommand(p Process) *cli.Command {
	return &cli.Command{
		Usage:     "shows and corrects the state file",
		UsageText: "planform state list|show|resolve|import|mv|rm|unlock|pull|push|migrate [FLAGS] [ADDRESS]",
		Description: `The state file records which object of the service belongs to which object of the
manifest. These commands change only that file, never the service.

   planform state list -f workspace.yaml

   # the outcome of a request is unknown: say whether the object exists
   planform state resolve -f workspace.yaml --id ID page/handbook
   planform state resolve -f workspace.yaml --absent page/handbook

   # from a file to a bucket that several machines share
   planform state migrate -f workspace.yaml old.state.json s3://team/web.json`,
		Subcommands: []*cli.Command{
			stateSub(p, "list", "lists addresses and IDs", "[PREFIX]", nil, stateList),
			stateSub(p, "show", "shows the record of one object", "ADDRESS", nil, stateShow),
			stateSub(p, "resolve", "records the outcome of a request whose response was lost", "ADDRESS", []cli.Flag{
				&cli.StringFlag{Name: "id", Usage: "the object exists on the service, with this `ID`"},
				&cli.BoolFlag{Name: "absent", Usage: "the object does not exist on the service"},
			}, stateResolve),
			stateSub(p, "import", "binds an address to an existing object of the service", "ADDRESS", []cli.Flag{
				&cli.StringFlag{Name: "id", Usage: "`ID` of the object (required)"},
				&cli.StringFlag{Name: "identifier", Usage: "readable `IDENTIFIER` of the object, such as WEB-7, in addition to --id"},
			}, stateImport),
			stateSub(p, "mv", "changes the address of an object, after its key was changed", "FROM TO", nil, stateMove),
			stateSub(p, "rm", "forgets an object; it stays on the service", "ADDRESS", nil, stateRemove),
			stateSub(p, "unlock", "releases the lock of a shared state that another run holds", "", nil, stateUnlock),
			stateSub(p, "pull", "prints the state", "", nil, statePull),
			stateSub(p, "push", "replaces the state by the contents of a file", "FILE", []cli.Flag{
				&cli.BoolFlag{Name: "force", Usage: "replace the state also by a file that is older, or of other runs"},
			}, statePush),
			stateSub(p, "migrate", "copies a state, with the history of its runs, to another place", "FROM TO", nil, stateMigrate),
		},
	}
}

// stateOptions holds the place of a state, and the arguments and flags of the command for it.
type stateOptions struct {
	path       string
	open       state.Options
	args       []string
	id         string
	identifier string
	absent     bool
	force      bool
	service    connectionOptions
}

func stateSub(p Process, name, usage, args string, flags []cli.Flag, run func(context.Context, Process, stateOptions,
	output) error,
) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, UsageText: "planform state " + name + " [-f FILE | --state FILE]" + strings.TrimRight(" [FLAGS] "+args, " "),
		ArgsUsage: strings.Trim(args, "[]"),
		Flags: slices.Concat(flags, manifestFlags(), []cli.Flag{
			lockTimeoutFlag(),
			&cli.BoolFlag{Name: "sandbox", Usage: "use the state of the sandbox"},
			&cli.StringFlag{Name: "base-url", Usage: "base `URL` of the service (or PLANE_BASE_URL)"},
			&cli.StringFlag{
				Name:  "workspace",
				Usage: "`SLUG` of the workspace; overrides the manifest. Without either, PLANE_WORKSPACE_SLUG",
			},
		}, stateFlags(), outputFlags()),
		Action: func(c *cli.Context) error {
			out := newOutput(c, p)
			wants := len(strings.Fields(args))
			switch least := wants - strings.Count(args, "["); {
			case c.NArg() > wants:
				return usageError{text: "unexpected argument " + c.Args().Get(wants), hint: c.Command.HelpName + " --help shows what it takes"}
			case c.NArg() < least:
				return usageError{text: c.Command.HelpName + " takes " + args, hint: c.Command.UsageText}
			}
			o, err := newStateOptions(c, p, out)
			if err != nil {
				return err
			}
			return run(c.Context, p, o, out)
		},
	}
}

func newStateOptions(c *cli.Context, p Process, out output) (stateOptions, error) {
	o := stateOptions{args: c.Args().Slice(), id: c.String("id"), identifier: c.String("identifier"), absent: c.Bool("absent")}
	if o.id != "" && !resource.IsID(o.id) {
		return o, usageError{text: "--id " + o.id + " is not an ID", hint: "an ID has the form 8a234ec6-0000-4000-8000-000000000000"}
	}
	o.id = resource.LowerID(o.id)
	service := newConnectionOptions(c, p)
	dir, baseURL, workspace := ".", service.baseURL, service.slug()
	if names := manifests(c); len(names) > 0 {
		reading, err := p.reading(c)
		if err != nil {
			return o, err
		}
		reading.Workspace = service.workspace
		m, err := locate(c.Context, names, reading, out)
		if err != nil {
			return o, err
		}
		if workspace, err = destination(m, service.workspace, service.envWorkspace); err != nil {
			return o, err
		}
		dir = m.Dir
	}
	if service.sandbox {
		baseURL, workspace = sandboxURL, cmp.Or(workspace, sandbox.Workspace)
	}
	if baseURL == "" || workspace == "" {
		return o, usageError{
			text: "cannot tell which state file to use",
			hint: "give -f FILE and --base-url (or PLANE_BASE_URL), or --sandbox, or --state FILE with both",
		}
	}
	o.service, o.force = service, c.Bool("force")
	o.open = service.stateOf(baseURL, workspace)
	o.open.Command = "planform state " + c.Command.Name
	o.open.LockTimeout = c.Duration("lock-timeout")
	o.open.Waiting = out.lockedBy(o.open.LockTimeout)
	o.path = statePlace(c, p)
	var err error
	if o.path == "" {
		o.path, err = state.DefaultPath(dir, baseURL, workspace)
	}
	return o, err
}

// locate reads which workspace the manifests are for, and the folder that their state belongs to. Other errors in the manifests are
// ignored.
func locate(ctx context.Context, names []string, reading manifest.Options, out output) (*manifest.Manifest, error) {
	if len(names) == 0 {
		return &manifest.Manifest{Workspace: reading.Workspace, Dir: "."}, nil
	}
	reading.AllowEmpty = true
	m, findings := manifest.Load(ctx, names, reading)
	if findings.HasErrors() && !locatesState(m, findings) {
		out.view.Diagnostics(findings)
		return nil, errReported
	}
	return &manifest.Manifest{Workspace: m.Workspace, WorkspacePosition: m.WorkspacePosition, Dir: m.Dir}, nil
}

// locatesState reports whether a manifest names its workspace, so that its state can be found. Other errors in it do not count.
func locatesState(m *manifest.Manifest, findings diag.List) bool {
	return m.Workspace != "" && !slices.ContainsFunc(findings, func(d diag.Diagnostic) bool {
		return d.Severity == diag.Error && (d.Path == schema.Workspace || slices.Contains([]string{"unreadable", "bad-workspace"}, d.Code))
	})
}

// address returns argument n as an address.
func (st stateOptions) address(n int) resource.Address { return resource.Address(st.args[n]) }

// recordOf returns the record of an address, or an error that suggests similar addresses.
func recordOf(prior planner.Prior, a resource.Address) (planner.Record, error) {
	if r, ok := prior[a]; ok {
		return r, nil
	}
	var all []string
	for other := range prior {
		all = append(all, string(other))
	}
	slices.Sort(all)
	hint := cmp.Or(diag.DidYouMean(string(a), all), "planform state list shows what it has")
	return planner.Record{}, failure{diag.WithHint(fmt.Errorf("the state file has no %s", a), hint), errNotFound}
}

func stateList(ctx context.Context, _ Process, o stateOptions, out output) error {
	s, err := state.Read(ctx, o.path, o.open)
	if err != nil {
		return err
	}
	prior := s.Prior()
	records := []recordJSON{}
	var rows [][]string
	for _, a := range slices.Sorted(maps.Keys(prior)) {
		r := prior[a]
		if len(o.args) > 0 && !strings.HasPrefix(string(a), o.args[0]) {
			continue
		}
		records = append(records, newRecordJSON(r))
		rows = append(rows, []string{string(a), r.ID, r.Identifier, pendingText(r)})
	}
	if out.json {
		return out.view.JSON(map[string]any{"format_version": view.FormatVersion, "owners": s.Owners(), "records": records})
	}
	if owners := s.Owners(); slices.ContainsFunc(owners, func(o resource.Owner) bool { return o != "" }) {
		var names []string
		for _, o := range owners {
			names = append(names, o.String())
		}
		out.view.Notef("this state has objects of %s", strings.Join(names, " and "))
	}
	return out.view.Table([]string{"address", "id", "identifier", "notes"}, rows)
}

func pendingText(r planner.Record) string {
	switch {
	case r.PendingIntent != nil:
		return r.PendingIntent.Action.String() + ": outcome unknown"
	case r.Members != nil:
		return diag.Count(len(r.Members), "member")
	default:
		return ""
	}
}

func stateShow(ctx context.Context, _ Process, o stateOptions, out output) error {
	s, err := state.Read(ctx, o.path, o.open)
	if err != nil {
		return err
	}
	r, err := recordOf(s.Prior(), o.address(0))
	if err != nil {
		return err
	}
	return out.view.JSON(struct {
		FormatVersion int `json:"format_version"`
		recordJSON
	}{view.FormatVersion, newRecordJSON(r)})
}

// recordJSON is a record as state list and state show print it.
type recordJSON struct {
	planner.Record
	Open string `json:"open,omitempty"`
}

func newRecordJSON(r planner.Record) recordJSON {
	j := recordJSON{Record: r}
	if r.PendingIntent != nil {
		j.Open = r.PendingIntent.Action.String()
	}
	return j
}

// edit opens the state, calls change, saves the state, and prints the message that change returned.
func edit(ctx context.Context, o stateOptions, out output, change func(*state.File) (done string, err error)) error {
	ctx, release := untilSignal(ctx)
	defer release()
	f, err := state.Open(ctx, o.path, o.open)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // saved before
	done, err := change(f)
	if err != nil {
		return err
	}
	if err := f.Save(); err != nil {
		return err
	}
	if done != "" {
		out.view.Notef("%s", done)
	}
	return nil
}

func stateResolve(ctx context.Context, _ Process, o stateOptions, out output) error {
	if (o.id == "") == !o.absent {
		return usageError{text: "--id ID or --absent is required", hint: "--id ID if the object exists on the service, --absent if it does not"}
	}
	return edit(ctx, o, out, func(f *state.File) (string, error) {
		r, err := recordOf(f.Prior(), o.address(0))
		if err != nil {
			return "", err
		}
		if r.PendingIntent == nil {
			return "", diag.WithHint(errors.New(o.args[0]+" has no request with an unknown outcome"), "to bind an address to an ID, use planform state import")
		}
		if o.absent && r.ID == "" && len(r.Members) == 0 {
			f.Remove(r.Address)
		} else {
			r.PendingIntent = nil
			if o.id != "" {
				r.ID = o.id
			}
			f.Put(r)
		}
		return "resolved " + string(r.Address), nil
	})
}

func stateImport(ctx context.Context, _ Process, o stateOptions, out output) error {
	a := o.address(0)
	if o.id == "" {
		return usageError{text: "--id is required", hint: "planform get work-item WEB-7 shows the ID of a work item"}
	}
	if _, ok := resource.Lookup(a.Kind()); !ok || a.Path() == "" {
		return diag.WithHint(fmt.Errorf("%s is not an address", a), "an address is a kind and keys, such as work_item/web/checkout")
	}
	return edit(ctx, o, out, func(f *state.File) (string, error) {
		r := f.Prior()[a]
		switch r.ID {
		case o.id:
		case "": // the ID is also the outcome of a create
			r.PendingIntent = nil
		default:
			return "", diag.WithHint(fmt.Errorf("%s is already bound to %s", a, r.ID), "planform state rm forgets it")
		}
		r.Address, r.ID, r.Identifier = a, o.id, cmp.Or(o.identifier, r.Identifier)
		f.Put(r)
		return fmt.Sprintf("bound %s to %s", a, o.id), nil
	})
}

func stateMove(ctx context.Context, _ Process, o stateOptions, out output) error {
	from, to := o.address(0), o.address(1)
	if from.Kind() != to.Kind() {
		return usageError{text: fmt.Sprintf("%s and %s are of different kinds", from, to)}
	}
	return edit(ctx, o, out, func(f *state.File) (string, error) {
		prior := f.Prior()
		if _, err := recordOf(prior, from); err != nil {
			return "", err
		}
		if _, taken := prior[to]; taken {
			return "", diag.WithHint(fmt.Errorf("the state file already has a %s", to), "planform state rm forgets it")
		}
		f.RemoveObject(to) // the moved object does not get the members of a forgotten object
		var moved []planner.Record
		for _, a := range slices.Sorted(maps.Keys(prior)) {
			b, ok := planner.MovedAddress(a, from, to)
			if !ok {
				continue
			}
			if _, taken := prior[b]; taken && b.IsObject() {
				return "", diag.WithHint(fmt.Errorf("the state file already has a %s", b), "planform state rm forgets it")
			}
			r := prior[a]
			f.Remove(a)
			r.Address = b
			moved = append(moved, r)
		}
		for _, r := range moved {
			f.Put(r)
		}
		return fmt.Sprintf("moved %s to %s: %s", from, to, diag.Count(len(moved), "record")), nil
	})
}

func stateRemove(ctx context.Context, _ Process, o stateOptions, out output) error {
	return edit(ctx, o, out, func(f *state.File) (string, error) {
		r, err := recordOf(f.Prior(), o.address(0))
		if err != nil {
			return "", err
		}
		f.RemoveObject(r.Address)
		return fmt.Sprintf("forgot %s; it stays on the service", r.Address), nil
	})
}
