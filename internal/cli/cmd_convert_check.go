package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/manifest"
)

func convertCheckCommand(p Process, formats []string) *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "compares an export with the service that it was moved to; read-only",
		UsageText: "planform convert check [FORMAT] FILE… -f DIR [FLAGS]", ArgsUsage: "FORMAT FILE…",
		Description: `Converts the export with its mapping, without writing anything, reads the projects
from the service, and shows the numbers of both side by side: by kind, state, type,
priority and assignee. Items that are missing, additional or different are named
first. The exit code is 0 if both are equal, else 3.

   planform convert check jira-csv sunday/*.csv -f acme --workspace acme
   planform convert check sunday/ -f acme --with comments,links

Comments and links take one request per work item. They are counted only with --with.`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringSliceFlag{Name: "with", Usage: "also compare these `SECTIONS`, which take one request per work item: comments, links"},
		}, convertFlags()[1:], connectionFlags(), outputFlags()),
		Action: func(c *cli.Context) error {
			const example = "planform convert check jira-csv export.csv -f acme"
			if c.String("mapping") == "" {
				return usageError{text: "-f DIR is required: the folder with the mapping", hint: example}
			}
			o, err := convertOptions(p, c, formats, example)
			if err != nil {
				return err
			}
			with := splitList(c, "with")
			for _, word := range with {
				if !slices.Contains([]string{"comments", "links"}, word) {
					return usageError{text: "--with " + word + ": that is not compared", hint: "--with takes comments and links"}
				}
			}
			if _, err := os.Stat(o.Mapping); err != nil {
				return diag.WithHint(fmt.Errorf("%s: there is no mapping to check with", o.Mapping),
					"name the folder to which the export was converted")
			}
			return runConvertCheck(c.Context, o, with, newConnectionOptions(c, p), newOutput(c, p))
		},
	}
}

func runConvertCheck(ctx context.Context, o convert.Options, with []string, service connectionOptions, out output) error {
	ctx, release := untilSignal(ctx)
	defer release()
	data, err := convert.Manifests(ctx, o)
	if err != nil {
		return err
	}
	wanted, findings := manifest.Load(ctx, []string{"-"}, manifest.Options{Stdin: bytes.NewReader(data), Workspace: service.workspace})
	if findings.HasErrors() {
		return findings.Err()
	}
	workspace, err := destination(wanted, service.workspace, service.envWorkspace)
	if err != nil {
		return err
	}
	service.dir = filepath.Dir(o.Mapping)
	conn, err := connect(ctx, service, workspace, out)
	if err != nil {
		return err
	}
	defer conn.close() //nolint:errcheck // nothing was written
	there, _, err := readBack(ctx, conn, exportOptions{only: []string{"projects"}, service: service}, out)
	if err != nil {
		return err
	}
	kinds := []string{"work_item", "cycle", "module"}
	read := exportOptions{only: []string{"work_items", "cycles", "modules", "states", "labels", "work_item_types"}, service: service}
	for _, section := range with {
		kinds, read.only = append(kinds, strings.TrimSuffix(section, "s")), append(read.only, section)
	}
	for _, identifier := range identifiers(wanted.Objects) { // of a project that is not there, all items are missing
		if slices.Contains(identifiers(there), identifier) {
			read.projects = append(read.projects, identifier)
		}
	}
	var seen []*resource.Object
	var unsupported []string
	if len(read.projects) > 0 {
		if seen, unsupported, err = readBack(ctx, conn, read, out); err != nil {
			return err
		}
	}
	c := convert.Compare(wanted.Objects, seen, kinds, unsupported)
	if err := showComparison(c, conn.workspace, out); err != nil {
		return err
	}
	if !c.Equal {
		return errSteps
	}
	return nil
}

// identifiers are those of projects, in upper case.
func identifiers(objects []*resource.Object) []string {
	var list []string
	for _, o := range objects {
		if o.Kind.Name == "project" {
			list = append(list, strings.ToUpper(cmp.Or(o.Identifier, o.Key)))
		}
	}
	return list
}

// readBack reads objects of the service as manifests have them, and which kinds it does not have.
func readBack(ctx context.Context, conn *connection, o exportOptions, out output) (objects []*resource.Object, unsupported []string,
	err error,
) {
	found, err := o.read(ctx, conn, nil, out)
	if err != nil {
		return nil, nil, err
	}
	if found.Denied {
		out.view.Diagnostics(found.Findings())
		return nil, nil, diag.WithHint(errDenied, "the list above says what is missing: use a credential that may read everything")
	}
	var documents [][]byte
	for _, f := range found.Files {
		documents = append(documents, f.Data)
	}
	m, findings := manifest.Load(ctx, []string{"-"}, manifest.Options{
		Stdin:     bytes.NewReader(bytes.Join(documents, []byte("---\n"))),
		Workspace: conn.workspace, AllowEmpty: true,
	})
	if findings.HasErrors() {
		return nil, nil, fmt.Errorf("read what the service has: %w", findings.Err())
	}
	return m.Objects, found.Unsupported, nil
}

// showComparison shows the differences first, then the numbers.
func showComparison(c *convert.Comparison, workspace string, out output) error {
	if out.json {
		return out.view.JSON(c)
	}
	headline := "The export and the workspace " + workspace + " are equal."
	if !c.Equal {
		headline = "The export and the workspace " + workspace + " differ."
	}
	if len(c.NotCompared) > 0 {
		headline += " This edition of the service has no " + strings.ReplaceAll(strings.Join(c.NotCompared, ", "), "_", " ") + ": not compared."
	}
	if err := out.view.Lines(headline, ""); err != nil {
		return err
	}
	const most = 50
	var rows [][]string
	for _, d := range c.Differences[:min(len(c.Differences), most)] {
		rows = append(rows, []string{d.Kind, d.Item, d.Text})
	}
	if more := len(c.Differences) - most; more > 0 {
		rows = append(rows, []string{"", "and " + strconv.Itoa(more) + " more", "--output json shows all"})
	}
	if len(rows) > 0 {
		if err := out.view.Table([]string{"difference", "item", ""}, rows); err != nil {
			return err
		}
		if err := out.view.Lines(""); err != nil {
			return err
		}
	}
	rows = nil
	for _, n := range c.Counts {
		mark := ""
		if n.Export != n.Service {
			mark = "differs"
		}
		rows = append(rows, []string{n.What, n.Name, strconv.Itoa(n.Export), strconv.Itoa(n.Service), mark})
	}
	return out.view.Table([]string{"count", "", "export", "service", ""}, rows)
}
