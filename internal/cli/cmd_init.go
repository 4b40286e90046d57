package cli

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/schema"
)

// starting is the manifest to begin with, but for its first line. Its workspace is a placeholder, which validate refuses.
//
//go:embed starting.yaml
var starting string

func initCommand(p Process) *cli.Command {
	return &cli.Command{
		Usage:     "writes a manifest to begin with",
		UsageText: "planform init [--to DIR] [--with KINDS | --from PROJECT] [FLAGS]",
		Description: `Writes workspace.yaml: a small example whose comments explain it. --with adds a
commented example of each kind that it names. With --from, it exports projects that
are there already, as planform export does.

   planform init --workspace acme
   planform init --workspace acme --with customers,initiatives,milestones
   planform init --sandbox --to demo && planform apply -f demo --sandbox
   planform init --workspace acme --from WEB --to acme

A file that is there already is never replaced.`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "to", Value: ".", Usage: "`DIR` to write to"},
			&cli.StringSliceFlag{Name: "with", Usage: "add commented examples of these `KINDS`, separated by commas; planform explain lists them"},
			&cli.StringSliceFlag{Name: "from", Usage: "export these `PROJECTS`, by identifier, name or ID, separated by commas"},
		}, connectionFlags(), outputFlags()),
		Action: withOutput(p, func(c *cli.Context, out output) error {
			o := exportOptions{dir: c.String("to"), projects: splitList(c, "from"), service: newConnectionOptions(c, p)}
			if len(o.projects) > 0 {
				return runExport(c.Context, o, out)
			}
			workspace := o.service.slug()
			if o.service.sandbox {
				workspace = cmp.Or(workspace, sandbox.Workspace)
			}
			examples, err := commentedExamples(splitList(c, "with"))
			if err != nil {
				return err
			}
			name, err := writeStarting(o.dir, workspace, examples)
			if err != nil {
				return err
			}
			if out.json {
				return out.view.JSON(struct {
					FormatVersion int    `json:"format_version"`
					File          string `json:"file"`
				}{view.FormatVersion, name})
			}
			next := "Next: "
			if workspace == "" {
				next = "Write the slug of your workspace into it, then: "
			}
			plan := append([]string{"planform plan", name}, givenFlags(c, "base-url", "api-key-file", "sandbox")...)
			return out.view.Lines(fmt.Sprintf("Wrote %s. %s%s", name, next, strings.Join(plan, " ")))
		}),
	}
}

// writeStarting writes the manifest to begin with, and returns its name.
func writeStarting(dir, workspace, examples string) (name string, err error) {
	text := "# yaml-language-server: $schema=" + schema.Address() + "\n" + starting + examples
	if workspace != "" {
		if err := checkSlug(workspace); err != nil {
			return "", err
		}
		_, line, _ := strings.Cut(string(manifest.Encode("", manifest.Map{{Key: schema.Workspace, Value: workspace}})), "\n")
		text = strings.Replace(text, "workspace: <slug>", strings.TrimSpace(line), 1)
	}
	if owner := resource.OwnerOfFolder(dir); owner != "" {
		text = strings.Replace(text, "owner: <name>", "owner: "+string(owner), 1)
	} else {
		text = strings.Replace(text, "owner: <name>", "# owner: platform", 1)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a folder of the user's
		return "", diag.WithHint(fmt.Errorf("make the folder for the manifest: %w", err), "name another folder with --to")
	}
	name = filepath.Join(dir, "workspace.yaml")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // for everybody to read
	if errors.Is(err, fs.ErrExist) {
		return "", diag.WithHint(fmt.Errorf("%s already exists", name), "name another folder with --to, or delete the file")
	}
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return "", fmt.Errorf("write the manifest: %w", err)
	}
	return name, nil
}

// commentedExamples returns a document with the example of each kind, in comments.
func commentedExamples(names []string) (string, error) {
	var b strings.Builder
	for _, name := range names {
		k, err := kindCalled(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n--- # An example of %s: take away the \"# \" in front. All fields: planform explain %s\n", diag.A(k.Noun()), k.Name)
		for line := range strings.SplitSeq(exampleDocument(k), "\n") {
			b.WriteString("# " + line + "\n")
		}
	}
	return b.String(), nil
}

// exampleDocument returns the example of a kind in the lists that hold it. These lists belong to the starting manifest's project, or to
// objects with their required fields. An example of a file names the manifest, because the file must exist.
func exampleDocument(k *resource.Kind) string {
	text, of := k.Example, k.Name
	for i := range k.Fields {
		if f := &k.Fields[i]; f.Type == resource.Upload {
			text = strings.ReplaceAll(text, f.Example, defaultManifest)
		}
	}
	for k != nil {
		first, next := "\n  - ", "\n    "
		if k.Singleton {
			first, next = "\n  ", "\n  "
		}
		text = k.Section + ":" + first + strings.ReplaceAll(text, "\n", next)
		if k, _ = resource.Lookup(k.Parent); k != nil && k.Name == "project" {
			text = "key: demo\n" + text
			continue
		}
		if k != nil && schema.Creatable(k) { // two entries with its key would be two objects
			text = schema.Key + ": with-" + of + "\n" + text
		}
		for i := 0; k != nil && i < len(k.Fields); i++ {
			if f := &k.Fields[i]; f.Required {
				text = f.Name + ": " + f.Example + "\n" + text
			}
		}
	}
	return text
}
