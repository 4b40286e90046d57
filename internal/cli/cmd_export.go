package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/sync/export"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/planner"
)

func exportCommand(p Process) *cli.Command {
	return &cli.Command{
		Usage:     "writes an existing workspace as manifests",
		UsageText: "planform export --to DIR [FLAGS]",
		Description: `Writes one manifest per project, one for everything outside projects, the wiki pages
as Markdown files, and a state file: planform plan -f DIR then shows no changes.

   planform export --workspace acme --to acme
   planform export --workspace acme --project WEB,API --to acme --with links
   planform export --sandbox --to acme && planform plan -f acme --sandbox

Links, comments, relations and attachments take one request per work item, and each
attachment one more. They are exported only with --with.`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "`DIR` to write to; it must not contain manifests yet"},
			&cli.StringSliceFlag{Name: "project", Usage: "`PROJECTS` to export, by identifier, name or ID, separated by commas (default: all)"},
			&cli.StringSliceFlag{Name: "only", Usage: "`SECTIONS` to export, such as work_items,pages (default: all)"},
			&cli.StringSliceFlag{Name: "with", Usage: "also export these `SECTIONS`, which take one request per work item: " +
				strings.Join(export.Costly(), ", ")},
			&cli.BoolFlag{Name: "force", Usage: "replace existing files"},
		}, connectionFlags(), outputFlags()),
		Action: withOutput(p, func(c *cli.Context, out output) error {
			o := exportOptions{
				dir: c.String("to"), projects: splitList(c, "project"), only: splitList(c, "only"), with: splitList(c, "with"),
				force: c.Bool("force"), service: newConnectionOptions(c, p),
			}
			if o.dir == "" {
				return usageError{text: "--to DIR is required", hint: "planform export --to DIR"}
			}
			return runExport(c.Context, o, out)
		}),
	}
}

// exportOptions holds the selection, the destination and the service of an export.
type exportOptions struct {
	dir                  string
	projects, only, with []string
	force                bool
	spool                string // folder for the files of attachments, until they are written
	service              connectionOptions
}

func runExport(ctx context.Context, o exportOptions, out output) error {
	if o.service.api == "documented" {
		return usageError{text: errNoLists.Error(), hint: "use --api auto"}
	}
	if err := o.checkEmpty(); err != nil {
		return err
	}
	ctx, release := untilSignal(ctx)
	defer release()
	conn, err := connect(ctx, o.service, o.service.slug(), out)
	if err != nil {
		return err
	}
	defer conn.close() //nolint:errcheck // nothing was written to the service
	path, err := state.DefaultPath(o.dir, conn.baseURL, conn.workspace)
	if err != nil {
		return err
	}
	if err := o.checkEmpty(relativeTo(o.dir, path)); err != nil {
		return err
	}
	if o.spool, err = os.MkdirTemp("", "planform-export-"); err != nil {
		return fmt.Errorf("make a folder for the files of attachments: %w", err)
	}
	defer os.RemoveAll(o.spool) //nolint:errcheck // the system clears it up
	prior, err := state.Read(ctx, path, state.Options{BaseURL: conn.baseURL, Workspace: conn.workspace})
	if err != nil {
		return err
	}
	found, err := o.read(ctx, conn, prior.Prior(), out)
	if err != nil {
		return err
	}
	out.view.Diagnostics(found.Findings())
	names := make([]string, len(found.Files))
	for i, f := range found.Files {
		names[i] = f.Name
	}
	if err := o.checkEmpty(names...); err != nil {
		return err
	}
	if len(o.projects)+len(o.only) == 0 { // an export of a part leaves the rest as it was
		if err := export.Current(o.dir, names...); err != nil {
			return err //nolint:wrapcheck // it says it all
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // from here on, a signal cannot separate the files from their state
	if err := export.Write(o.dir, found.Files); err != nil {
		return err
	}
	if err := saveState(ctx, path, conn, found.Records); err != nil {
		return err
	}
	if err := out.view.Export(view.Export{
		Workspace: conn.workspace, Directory: o.dir, Files: names, State: relativeTo(o.dir, path),
		Counts: found.Counts, NotRead: found.Skipped, LeftOut: found.Omitted, Requests: conn.client.Sent(),
	}); err != nil {
		return err
	}
	if found.Denied {
		return diag.WithHint(errDenied,
			"use a credential that may read the sections above, or choose other sections with --only")
	}
	return nil
}

// checkEmpty returns an error if the folder has manifests or one of the named files. With --force, it accepts every folder.
func (eo exportOptions) checkEmpty(names ...string) error {
	if eo.force {
		return nil
	}
	err := export.CheckEmpty(eo.dir, names...)
	if occupied, ok := errors.AsType[*export.NotEmptyError](err); ok {
		return diag.WithHint(occupied, "use another folder, or replace the files with planform export --force")
	}
	return err
}

// relativeTo returns a path relative to a folder, with slashes. If there is no relative path, it returns the path itself.
func relativeTo(dir, path string) string {
	if name, err := filepath.Rel(dir, path); err == nil {
		return filepath.ToSlash(name)
	}
	return path
}

// read reads the service and shows the progress.
func (eo exportOptions) read(ctx context.Context, conn *connection, prior planner.Prior, out output) (*export.Export, error) {
	progress := out.view.Reading()
	defer conn.relay.follow(progress, false)()
	observed := planner.Observed{}
	api, err := conn.access(ctx, eo.service.api, observed)
	if err != nil {
		return nil, err
	}
	if !api.Wide() {
		return nil, diag.WithHint(errNoLists, "export needs the list of projects: use a credential that may read it")
	}
	return export.Read(ctx, conn.client, export.Options{
		API: api, Workspace: conn.workspace, Owner: resource.OwnerOfFolder(eo.dir), BaseURL: state.ServerURL(conn.baseURL), WebURL: conn.webURL(), Projects: eo.projects, Only: eo.only,
		With: eo.with, Prior: prior, Observed: observed, Spool: eo.spool,
		Answered: progress.Read,
		Expect: func(lists int, what string) {
			const long = 60 // a minute of the usual quota
			if progress.Expect(lists); lists > long {
				out.view.Notef("reading %s: %d lists, a request each", what, lists)
			}
		},
	})
}

// saveState records the ID of every exported object in the state.
func saveState(ctx context.Context, path string, conn *connection, records []planner.Record) error {
	file, err := state.Open(ctx, path, state.Options{BaseURL: conn.baseURL, Workspace: conn.workspace, Command: "planform export"})
	if err != nil {
		return err
	}
	// An older state may have the object under another address. That record is removed, because a second record of an object would
	// look like an object that no manifest has any more.
	type identity struct{ kind, part, id string }
	of := func(r planner.Record) identity {
		_, part, _ := strings.Cut(string(r.Address), "#")
		return identity{r.Address.Kind(), part, r.ID}
	}
	prior := file.Prior()
	former := make(map[identity]resource.Address, len(prior))
	for address, r := range prior {
		former[of(r)] = address
	}
	for _, r := range records {
		if at, known := former[of(r)]; known && at != r.Address {
			file.Remove(at)
		}
	}
	for _, r := range records {
		at, known := former[of(r)]
		if !known {
			at = r.Address
		}
		file.Put(state.Merge(prior[at], r))
	}
	return errors.Join(file.Save(), file.Close())
}
