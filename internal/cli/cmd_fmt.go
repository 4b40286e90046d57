package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/yamltext"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/manifest"
)

func fmtCommand(p Process) *cli.Command {
	return &cli.Command{
		Usage:     "gives manifests the usual layout, offline",
		UsageText: "planform fmt [FILE…] [--check]", ArgsUsage: argsManifests,
		Description: `Indents by two spaces, and removes needless quotes and extra spaces after colons.
Comments, blank lines, the order of keys, long texts and blanks between brackets
or braces stay as they are. A file is refused if it would mean something
else afterwards. The names of changed files are printed.

   planform fmt manifests/

   # in CI
   planform fmt manifests/ --check

   ./generate | planform fmt - > workspace.yaml`,
		Flags: slices.Concat([]cli.Flag{
			manifestFlag(),
			&cli.BoolFlag{Name: "check", Usage: "change nothing; exit code 1 if a file is not in the usual layout"},
		}, outputFlags()),
		Action: withOutput(p, func(c *cli.Context, out output) error {
			names, err := files(c)
			if err != nil {
				return err
			}
			return runFmt(c.Context, p, names, c.Bool("check"), out)
		}),
	}
}

func runFmt(ctx context.Context, p Process, names []string, check bool, out output) error {
	var found diag.List
	changed := []string{}
	var stdin []byte
	if slices.Contains(names, standardInput) {
		var err error
		if stdin, err = io.ReadAll(p.Streams.In); err != nil {
			return err
		}
		p.Streams.In = bytes.NewReader(stdin)
	}
	for _, name := range manifestFiles(ctx, names, stdin, &found) {
		change, err := formatFile(p, name, check)
		if err != nil {
			d := diag.Diagnostic{Code: "not-formatted", Position: diag.Position{File: name}, Summary: diag.PlainText(err)}
			if problem, ok := errors.AsType[*yamltext.Problem](err); ok {
				d.Line, d.Hint = problem.Line, "the file is as it was"
			}
			found.Add(d)
		}
		if change {
			changed = append(changed, name)
		}
	}
	if err := showChanged(changed, slices.Contains(names, standardInput) && !check, out); err != nil {
		return err
	}
	switch {
	case found.HasErrors():
		return diag.ListError{List: found}
	case check && len(changed) > 0:
		return diag.WithHint(errors.New(diag.Count(len(changed), "file")+" not in the usual layout"), "planform fmt without --check changes that")
	}
	return nil
}

// showChanged prints the names of changed files. It prints nothing if quiet, because standard output has a formatted manifest.
func showChanged(changed []string, quiet bool, out output) error {
	if out.json && !quiet {
		return out.view.JSON(struct {
			FormatVersion int      `json:"format_version"`
			Changed       []string `json:"changed"`
		}{view.FormatVersion, changed})
	}
	if quiet {
		return nil
	}
	return out.view.Lines(changed...)
}

// manifestFiles returns the YAML files that the names stand for. It reports a finding only if the finding prevents formatting, such as a
// syntax error.
func manifestFiles(ctx context.Context, names []string, stdin []byte, found *diag.List) []string {
	var all []string
	for _, name := range names {
		m, findings := manifest.Load(ctx, []string{name}, manifest.Options{AllowEmpty: true, Stdin: bytes.NewReader(stdin)})
		if name == standardInput {
			m.Files = []string{name}
		}
		for _, d := range findings {
			if name == standardInput && d.File != name { // of a file that it includes
				continue
			}
			if slices.Contains([]string{"unreadable", "no-manifest", "yaml-syntax", "not-text"}, d.Code) {
				found.Add(d)
				m.Files = slices.DeleteFunc(m.Files, func(file string) bool { return file == d.File })
			}
		}
		all = append(all, m.Files...)
	}
	return all
}

// formatFile formats one file, or standard input to standard output.
func formatFile(p Process, name string, check bool) (changed bool, err error) {
	var text []byte
	if name == standardInput {
		text, err = io.ReadAll(p.Streams.In)
	} else if name, err = filepath.EvalSymlinks(name); err == nil { // the file is replaced, not the link
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return false, err
	}
	formatted, err := yamltext.Format(text)
	if err != nil {
		return false, err
	}
	changed = !bytes.Equal(text, formatted)
	switch {
	case check:
		return changed, nil
	case name == standardInput:
		_, err = p.Streams.Out.Write(formatted)
	case changed:
		err = overwrite(disk.Or(p.Disk), name, formatted)
	}
	return changed && err == nil, err
}
