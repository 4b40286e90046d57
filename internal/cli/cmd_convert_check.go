package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/plan/proof"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/sync/export"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

func convertCheckCommand(p Process, formats []string) *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "compares an export with the workspace after a migration; read-only",
		UsageText: "planform convert check [FORMAT] FILE… -f DIR [FLAGS]", ArgsUsage: "FORMAT FILE…",
		Description: `Converts the export with its mapping, without writing anything, and compares the result
with the service, field by field. Objects that apply would create are missing, fields
that it would change differ, and objects that only the service has are additional. A table
at the end counts each field. The exit code is 0 if everything that you asked for
could be compared and is equal, else 3.

   planform convert check jira-csv sunday/*.csv -f acme --workspace acme
   planform convert check sunday/ -f acme --with all

Comments, links, attachments, relations and the values of custom fields take a
request per work item. They are compared in full only with --with. It needs no state
file: it finds objects by their marks, and work items without one by their names.
Check a pilot with the flags of its conversion, such as --limit 20.`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringSliceFlag{
				Name: "with", Usage: "also compare these `PARTS`, which take a request for each work item: " +
					strings.Join(export.Costly(), ", ") + "; or all",
			},
			&cli.BoolFlag{Name: "allow-unsupported", Usage: "exit with 0 instead of 3 if only features that this edition or API lacks were not compared"},
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
				if words := append(export.Costly(), allParts); !slices.Contains(words, word) {
					return usageError{text: "--with " + word + ": work items have no such part", hint: diag.OneOf(word, words)}
				}
			}
			if _, err := os.Stat(o.Mapping); err != nil {
				return diag.WithHint(fmt.Errorf("%s: there is no such mapping file", o.Mapping),
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

// allParts is the word for all parts of [export.Costly].
const allParts = "all"

func runConvertCheck(ctx context.Context, o convert.Options, with []string, plan planOptions, out output) error {
	ctx, release := untilSignal(ctx)
	defer release()
	o.Dir = filepath.Dir(o.Mapping) // the folder has the record of earlier exports
	manifests, result, err := convert.Manifests(ctx, o)
	if err != nil {
		return err
	}
	plan.reading.Stdin, plan.reading.Dir = manifests, o.Dir
	desired, findings := manifest.Load(ctx, []string{"-"}, plan.reading)
	_ = manifests.Close() // they were only read
	if findings.HasErrors() {
		return findings.Err()
	}
	in := proof.Input{Export: proof.Complete(desired.Objects), Numbered: result.Report.KeepsNumbers, Allows: result.AllowsAdditional}
	for _, loss := range result.Report.Losses {
		if loss.Agreed {
			in.Accepted = append(in.Accepted, proof.Accepted{Kind: loss.Kind, Of: loss.Of, Text: loss.Text, Count: loss.Count})
		}
	}
	if since := result.Report.Since; since != nil && len(since.Gone) > 0 {
		in.Accepted = append(in.Accepted, proof.Accepted{
			Kind: "gone", Of: "work_item", Count: len(since.Gone),
			Text: "items that earlier exports had and this one has not: the manifests keep them",
		})
	}
	plan.input.Pull, plan.input.AdoptByName, plan.input.Contents = true, true, map[string]bool{}
	left := map[*resource.Kind]bool{}
	for _, word := range export.Costly() {
		asked, kinds := slices.Contains(with, word) || slices.Contains(with, allParts), export.CostlyKinds(word)
		if !asked && len(kinds) > 0 {
			in.Parts = append(in.Parts, proof.Part{Word: word, Kinds: kinds})
		}
		plan.input.RefreshAll = plan.input.RefreshAll || asked && len(kinds) == 0 // it reads the values of custom fields
		for _, k := range kinds {
			if left[k] = !asked; asked {
				plan.input.Contents[k.Name] = true
			}
		}
	}
	for _, o := range in.Export {
		addContents(plan.input.Contents, o.Kind)
	}
	desired.Objects, in.Left = leaveOut(desired.Objects, func(o *resource.Object) bool { return left[o.Kind] })
	plan.service.dir = desired.Dir
	if desired.Workspace, err = destination(desired, plan.service.workspace, plan.service.envWorkspace); err != nil {
		return err
	}
	r := &run{planOptions: plan, out: out, desired: desired}
	defer r.close()
	if err := r.connect(ctx); err != nil {
		return err
	}
	r.remember(&state.Snapshot{}) // the records of earlier runs are no evidence
	if in.Plan, err = r.makePlan(ctx); err != nil {
		return err
	}
	in.Differences = r.differences()
	report := proof.Check(in)
	if err := showProof(report, r.conn.workspace, result.Report.Mapping, out); err != nil {
		return err
	}
	if !report.Proven(plan.allowUnsupported) {
		return errSteps
	}
	return nil
}

// addContents marks the kinds that objects of a kind refer to within their project, such as labels, and the memberships in such kinds.
// Reading them takes a few requests per project.
func addContents(contents map[string]bool, kind *resource.Kind) {
	for i := range kind.Fields {
		f := &kind.Fields[i]
		if to, ok := resource.Lookup(f.Ref); !ok || to.Parent == "" || to.Parent != kind.Parent {
			continue
		}
		contents[f.Ref] = true
		if via, ok := resource.MembershipOf(kind.Name, f.Name); ok && via.Membership.On != via.Membership.Container {
			contents[via.Name] = true
		}
	}
}

// leaveOut takes out the objects for which out is true. An object stays if a text links to the list of its kind and parent, because
// comparing the text needs that list.
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

// showProof prints the differences, and then the table of all fields that users sign off.
func showProof(r *proof.Report, workspace, mapping string, out output) error {
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
		name := diag.OneLine(d.Name)
		if d.What == "additional" && d.Field == "" {
			name = resource.MustLookup(d.Kind).Noun() + " " + name
		}
		rows = append(rows, []string{d.What, d.Item, diag.Truncate(name, 40), d.Field, differenceText(d)})
	}
	if more := len(r.Differences) - most; more > 0 {
		rows = append(rows, []string{"", "and " + strconv.Itoa(more) + " more", "", "", "--output json shows all"})
	}
	if len(rows) > 0 {
		if err := out.view.Table([]string{"difference", "address", "name", "field", ""}, rows); err != nil {
			return err
		}
		if err := out.view.Lines(append([]string{""}, allowLines(r, mapping)...)...); err != nil {
			return err
		}
	}
	rows = nil
	for _, f := range r.Fields {
		row := []string{strings.ReplaceAll(f.Kind, "_", " "), f.Field}
		for _, n := range []int{f.Export, f.OnService, f.Equal, f.Differing, f.Missing, f.Additional, f.NotCompared, f.Accepted} {
			text := strconv.Itoa(n)
			if n == 0 {
				text = "-"
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	if err := out.view.Table([]string{
		"kind", "field", "in the export", "on the service", "equal", "differing", "missing", "additional", "not compared", "accepted",
	}, rows); err != nil {
		return err
	}
	if len(r.Accepted) == 0 {
		return nil
	}
	rows = nil
	for _, a := range r.Accepted {
		word := a.Kind
		if word == "additional" {
			word += "." + a.Of
		}
		rows = append(rows, []string{word, strconv.Itoa(a.Count), a.Text})
	}
	if err := out.view.Lines(""); err != nil {
		return err
	}
	return out.view.Table([]string{"accepted in the mapping", "", ""}, rows)
}

// allowLines returns the lines that tell how to accept additional objects in the mapping; nil = there are none.
func allowLines(r *proof.Report, mapping string) []string {
	var words []string
	for _, f := range r.Fields {
		if slices.ContainsFunc(r.Differences, func(d proof.Difference) bool {
			return d.What == "additional" && d.Kind == f.Kind && d.Field == f.Field
		}) {
			words = append(words, convert.Additional(f.Kind, f.Field)+": "+strconv.Itoa(f.Additional))
		}
	}
	if words == nil {
		return nil
	}
	return []string{"To accept what only the workspace has, write in " + mapping + ": allow: {" + strings.Join(words, ", ") + "}", ""}
}

// differenceText describes a difference. It shows long texts from the place where they begin to differ.
func differenceText(d proof.Difference) string {
	if d.Why != "" {
		return d.Why
	}
	export, service := diag.Differing(letters(d.Export), letters(d.Service), 60)
	switch {
	case d.What == "additional":
		via, ok := resource.MembershipOf(d.Kind, d.Field)
		switch {
		case !ok:
			return "only on the service: " + service
		case via.Membership.On == via.Membership.Container:
			return "also has " + service
		}
		return "is also in " + service
	case service == "":
		return "the export says " + export + ", the service has none"
	case export == "":
		return "the service says " + service + ", the export has none"
	}
	return "the export says " + export + ", the service " + service
}

// letters returns a text on one line, or "" if there is no text.
func letters(text *string) string {
	if text == nil {
		return ""
	}
	return diag.OneLine(*text)
}
