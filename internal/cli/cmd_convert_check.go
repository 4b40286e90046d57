package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/planfile"
	"github.com/planform/planform/internal/proof"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

func convertCheckCommand(p Process, formats []string) *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "compares an export with the service that it was moved to; read-only",
		UsageText: "planform convert check [FORMAT] FILE… -f DIR [FLAGS]", ArgsUsage: "FORMAT FILE…",
		Description: `Converts the export with its mapping, without writing anything, and holds what
comes out against the service, field by field, as a plan does: what apply would
create is missing, what it would change differs. Items that the export has not are
additional. A table at the end counts each field. The exit code is 0 if all that
was asked for could be compared and is equal, else 3.

   planform convert check jira-csv sunday/*.csv -f acme --workspace acme
   planform convert check sunday/ -f acme --with comments,links,attachments

Comments, links and attachments take one request per work item. They are compared
only with --with. It needs no state file: it finds objects by their marks, and work
items without one by their names.`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringSliceFlag{
				Name: "with", Usage: "also compare these `SECTIONS`, which take one request per work item: comments, links, attachments",
			},
			&cli.BoolFlag{Name: "allow-unsupported", Usage: "exit with 0 instead of 3 if only what this edition or the API does not have is not compared"},
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
				if !slices.ContainsFunc(perItem(), func(k *resource.Kind) bool { return k.Section == word }) {
					return usageError{text: "--with " + word + ": that is no section of a work item", hint: "--with takes comments, links and attachments"}
				}
			}
			if _, err := os.Stat(o.Mapping); err != nil {
				return diag.WithHint(fmt.Errorf("%s: there is no mapping to check with", o.Mapping),
					"name the folder to which the export was converted")
			}
			plan, err := planOptions{}.with(planfile.Options{API: c.String("api")}, c, p)
			if err != nil {
				return err
			}
			return runConvertCheck(c.Context, o, with, plan, newOutput(c, p))
		},
	}
}

// perItem are the kinds that take a request for each work item.
func perItem() []*resource.Kind {
	return []*resource.Kind{resource.MustLookup("comment"), resource.MustLookup("link"), resource.MustLookup("attachment")}
}

func runConvertCheck(ctx context.Context, o convert.Options, with []string, plan planOptions, out output) error {
	ctx, release := untilSignal(ctx)
	defer release()
	o.Dir = filepath.Dir(o.Mapping) // it knows what earlier exports had
	data, result, err := convert.Manifests(ctx, o)
	if err != nil {
		return err
	}
	plan.reading.Stdin, plan.reading.Dir = bytes.NewReader(data), o.Dir
	desired, findings := manifest.Load(ctx, []string{"-"}, plan.reading)
	if findings.HasErrors() {
		return findings.Err()
	}
	in := proof.Input{Export: proof.Complete(desired.Objects), Numbered: result.KeepsNumbers}
	for _, loss := range result.Report.Losses {
		if loss.Agreed {
			in.Accepted = append(in.Accepted, proof.Accepted{Kind: loss.Kind, Text: loss.Text, Count: loss.Count})
		}
	}
	if since := result.Report.Since; since != nil && len(since.Gone) > 0 {
		in.Accepted = append(in.Accepted, proof.Accepted{
			Kind: "gone", Text: "items that earlier exports had and this one has not: the manifests keep them", Count: len(since.Gone),
		})
	}
	plan.input.Pull, plan.input.AdoptByName, plan.input.Contents = true, true, map[string]bool{}
	for _, k := range perItem() {
		if slices.Contains(with, k.Section) {
			plan.input.Contents[k.Name] = true
		}
	}
	desired.Objects, in.Left = leaveOut(desired.Objects, func(o *resource.Object) bool {
		return slices.Contains(perItem(), o.Kind) && !plan.input.Contents[o.Kind.Name]
	})
	plan.service.dir = desired.Dir
	if desired.Workspace, err = destination(desired, plan.service.workspace, plan.service.envWorkspace); err != nil {
		return err
	}
	r := &run{planOptions: plan, out: out, desired: desired}
	defer r.close()
	if err := r.connect(ctx); err != nil {
		return err
	}
	r.remember(noState{})
	if in.Plan, err = r.makePlan(ctx); err != nil {
		return err
	}
	report := proof.Check(in)
	if err := showProof(report, r.conn.workspace, out); err != nil {
		return err
	}
	if !report.Proven(plan.allowUnsupported) {
		return errSteps
	}
	return nil
}

// leaveOut takes out objects, but for the lists of those that the texts of others lead to: these are read to compare the texts.
func leaveOut(objects []*resource.Object, out func(*resource.Object) bool) (kept, left []*resource.Object) {
	type list struct {
		kind   *resource.Kind
		parent *resource.Object
	}
	read := map[list]bool{}
	for _, o := range objects {
		if out(o) {
			continue
		}
		for n := range o.Values {
			for _, link := range o.Values[n].Links {
				read[list{link.Target.Kind, link.Target.Parent}] = true
			}
		}
	}
	for _, o := range objects {
		if out(o) && !read[list{o.Kind, o.Parent}] {
			left = append(left, o)
		} else {
			kept = append(kept, o)
		}
	}
	return kept, left
}

// noState is what a proof knows of earlier runs: what these believe is no evidence.
type noState struct{}

func (noState) Prior() planner.Prior      { return nil }
func (noState) LastActivity() time.Time   { return time.Time{} }
func (noState) Owners() []resource.Owner  { return nil }
func (noState) Knows(resource.Owner) bool { return false }
func (noState) Version() (string, uint64) { return "", 0 }

// showProof shows the differences first, then the table that is signed off.
func showProof(r *proof.Report, workspace string, out output) error {
	if out.json {
		return out.view.JSON(r)
	}
	headline := "The export and the workspace " + workspace + " are equal."
	switch {
	case len(r.Differences) > 0:
		headline = "The export and the workspace " + workspace + " differ in " + diag.Count(len(r.Differences), "place") + "."
	case !r.Equal:
		headline = "The export and the workspace " + workspace + " are equal in what was compared."
	}
	lines := []string{headline}
	for _, n := range r.NotCompared {
		line := "Not compared: " + n.What + ": " + n.Why
		if n.Hint != "" {
			line += "; " + n.Hint
		}
		lines = append(lines, line)
	}
	if err := out.view.Lines(append(lines, "")...); err != nil {
		return err
	}
	const most = 50
	var rows [][]string
	for _, d := range r.Differences[:min(len(r.Differences), most)] {
		rows = append(rows, []string{d.What, d.Item, diag.Truncate(strings.Join(strings.Fields(d.Name), " "), 40), d.Field, differenceText(d)})
	}
	if more := len(r.Differences) - most; more > 0 {
		rows = append(rows, []string{"", "and " + strconv.Itoa(more) + " more", "", "", "--output json shows all"})
	}
	if len(rows) > 0 {
		if err := out.view.Table([]string{"difference", "address", "name", "field", ""}, rows); err != nil {
			return err
		}
		if err := out.view.Lines(""); err != nil {
			return err
		}
	}
	rows = nil
	for _, f := range r.Fields {
		row := []string{strings.ReplaceAll(f.Kind, "_", " "), f.Field}
		for _, n := range []int{f.Export, f.Equal, f.Differing, f.Missing, f.NotCompared, f.Additional} {
			text := strconv.Itoa(n)
			if n == 0 {
				text = "-"
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	if err := out.view.Table([]string{"kind", "field", "in the export", "equal", "differing", "missing", "not compared", "additional"}, rows); err != nil {
		return err
	}
	if len(r.Accepted) == 0 {
		return nil
	}
	rows = nil
	for _, a := range r.Accepted {
		rows = append(rows, []string{a.Kind, strconv.Itoa(a.Count), a.Text})
	}
	if err := out.view.Lines(""); err != nil {
		return err
	}
	return out.view.Table([]string{"accepted in the mapping", "", ""}, rows)
}

func differenceText(d proof.Difference) string {
	if d.Why != "" {
		return d.Why
	}
	side := func(text *string) string {
		if text == nil || *text == "" {
			return "nothing"
		}
		return diag.Truncate(strings.Join(strings.Fields(*text), " "), 60)
	}
	return "the export says " + side(d.Export) + ", the service " + side(d.Service)
}
