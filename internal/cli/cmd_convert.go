package cli

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/encoded"
	"github.com/planform/planform/internal/convert/formats"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
)

func convertNames() []string {
	var names []string
	for _, f := range formats.All() {
		names = append(names, f.Name)
	}
	return append(names, convert.Auto)
}

func convertCommand(p Process) *cli.Command {
	names := convertNames()
	return &cli.Command{
		Usage:     "turns exports of other trackers into manifests, offline",
		UsageText: "planform convert [FORMAT] FILE… --to DIR [FLAGS]", ArgsUsage: "FORMAT FILE…",
		Description: `Formats are ` + strings.Join(names, ", ") + ` (the default: recognised by content).
All files together are one export. A file may be a
folder, a zip or tar.gz archive, or - for standard input. In these, lists of
users and other side files are recognised by their content; other files are skipped and
named in the report.

   planform convert jira-csv export/*.csv --to acme --users users.csv
   $EDITOR acme/mapping.yaml     # answer what is open
   planform convert jira-csv export/*.csv --to acme
   planform plan -f acme

Writes manifests, a report (report.md, report.json), a list of attached files
(attachments.tsv) and a mapping file, to which it only adds. Attached files become
uploads if they lie in their folder, otherwise links. The exit code is 3 while questions
are open or losses are not agreed (allow: in the mapping). If a file cannot be read, or
the mapping has mistakes, nothing is written. See docs/migrate.md.`,
		Flags: slices.Concat(convertFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "drop-missing", Usage: "remove issues from the manifests that earlier exports had and this one lacks"},
		}, outputFlags()),
		Subcommands: []*cli.Command{convertCheckCommand(p, names)},
		Action:      func(c *cli.Context) error { return runConvert(c.Context, p, c, names) },
	}
}

// convertFlags returns the flags that select the input of a conversion and its settings.
func convertFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "to", Usage: "`DIR` to write to"},
		&cli.StringFlag{
			Name: "mapping", Aliases: []string{"f"},
			Usage: "mapping `FILE`, or the folder with its mapping.yaml (default: the folder of --to)",
		},
		&cli.StringFlag{Name: "users", Usage: "CSV `FILE` of the tracker's users, with their IDs and e-mail addresses"},
		&cli.StringFlag{
			Name:  "members",
			Usage: "`FILE` of planform get members, with the e-mail addresses of the members: nobody else is assigned",
		},
		&cli.StringFlag{
			Name:  "timezone",
			Usage: "time `ZONE` of dates without a zone, such as Europe/Berlin (default: the zone of the mapping, or UTC)",
		},
		choice(cli.StringFlag{
			Name: "encoding", Value: "auto",
			Usage: "`ENCODING` of files without a byte order mark: auto (UTF-8 or UTF-16), " + strings.Join(encoded.Encodings(), ", "),
		},
			append([]string{"auto"}, encoded.Encodings()...)...),
		&cli.StringFlag{Name: "since", Usage: "only issues that changed on this `DATE` or later, with their parents"},
		&cli.StringSliceFlag{Name: "only", Usage: "only the issues of these `KEYS`, with their parents, separated by commas"},
		number(cli.IntFlag{Name: "limit", Usage: "only the first `N` issues, with their parents, to try a migration"}, 0),
	}
}

func convertOptions(p Process, c *cli.Context, known []string, example string) (convert.Options, error) {
	o := convert.Options{
		Format: convert.Auto, Formats: formats.All(), Report: view.ConversionReport, Dir: c.String("to"), Mapping: c.String("mapping"),
		Timezone: c.String("timezone"), Since: c.String("since"), Only: splitList(c, "only"), Limit: c.Int("limit"),
	}
	names := c.Args().Slice()
	if len(names) > 0 && slices.Contains(known, names[0]) {
		o.Format, names = names[0], names[1:]
	}
	if info, err := os.Stat(o.Mapping); err == nil && info.IsDir() {
		o.Mapping = filepath.Join(o.Mapping, "mapping.yaml")
	}
	if len(names) == 0 {
		return o, usageError{text: "no export file is given", hint: example}
	}
	encoding := strings.TrimPrefix(c.String("encoding"), "auto")
	var err error
	if o.Files, err = convert.Files(names, encoding, p.Streams.In); err != nil {
		if meant := formatMeant(names[0], known); meant != "" && o.Format == convert.Auto && len(names) > 1 {
			return o, usageError{text: "there is no format " + names[0], hint: meant}
		}
		return o, err
	}
	for name, to := range map[string]*[]convert.File{"users": &o.Users, "members": &o.Members} {
		if file := c.String(name); file != "" {
			if *to, err = convert.Files([]string{file}, encoding, p.Streams.In); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

// formatMeant returns a hint for a word that is no format: a format with a similar name, or all formats of the tracker that the word names.
func formatMeant(word string, known []string) string {
	of := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return !strings.HasPrefix(name, word+"-") })
	if len(of) == 0 {
		return diag.DidYouMean(word, known)
	}
	return "use one of " + strings.Join(of, ", ") + "; leave it out to detect the format"
}

func runConvert(ctx context.Context, p Process, c *cli.Context, known []string) error {
	const example = "planform convert jira-csv export.csv --to acme"
	dir := c.String("to")
	if dir == "" {
		return usageError{text: "--to DIR is required", hint: example}
	}
	if to, err := os.Stat(dir); err == nil {
		for _, name := range c.Args().Slice() {
			if from, err := os.Stat(name); err == nil && os.SameFile(from, to) {
				return usageError{text: "--to " + dir + " is also an input folder", hint: "write to another folder, such as " +
					filepath.Join(dir, "manifests")}
			}
		}
	}
	o, err := convertOptions(p, c, known, example)
	if err != nil {
		return err
	}
	o.DropMissing = c.Bool("drop-missing")
	ctx, release := untilSignal(ctx)
	defer release()
	if p.Alone {
		debug.SetGCPercent(50)
		boundMemory(0)
	}
	result, err := convert.Run(ctx, o)
	if err != nil {
		return err
	}
	if err := newOutput(c, p).view.Converted(result.Report, o.Dir); err != nil {
		return err
	}
	if !result.Report.Settled() {
		return errSteps
	}
	return nil
}
