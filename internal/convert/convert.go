package convert

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/internal/text/diag"
)

// Options are the inputs and choices of a run.
type Options struct {
	Format   string // one of the formats, or [Auto]
	Formats  []*Format
	Files    []File
	Dir      string // to write to
	Mapping  string // path of the mapping file; "" is mapping.yaml in the folder
	Users    []File // CSV of the site's users, with their e-mail addresses
	Members  []File // which have the e-mail addresses of the members of the workspace
	Timezone string // of dates without one; "" = the zone in the mapping, or UTC

	// Since, Only and Limit select issues of the export, with their parents; zero values select all.
	Since string   // issues that changed on that day or later
	Only  []string // issues of these keys
	Limit int      // the first issues

	// Report returns the report for people, which Run writes as report.md.
	Report func(*Report) []byte

	DropMissing bool // issues that only earlier exports had are removed from the manifests
}

// Result holds the report of a run and the paths of the files that the run wrote.
type Result struct {
	Report *Report
	Files  []string // manifests and reports, within the folder

	mapping *mapping.Mapping
}

// converted holds the manifests and the report of an export before they are written.
type converted struct {
	Result

	path      string // of the mapping file
	mapped    []byte // its new content
	manifests []outFile
	attached  []byte // the list of attachments, if there are any
	last      *run
	runs      *comparedRuns
}

// MappingSchema returns the JSON Schema of the mapping file, for editors.
func MappingSchema() []byte { return mapping.Schema(agreeable()) }

// Run converts an export and writes the files. If it returns an error, it has written at most the mapping file, with open questions.
func Run(ctx context.Context, o Options) (*Result, error) {
	kept, err := newSpool()
	if err != nil {
		return nil, err
	}
	defer kept.Close() //nolint:errcheck // what it held was written, or is not wanted
	c, err := prepare(ctx, o, kept)
	if err != nil && c != nil {
		return nil, cmp.Or(writeMapping(c.path, c.mapped), err)
	}
	if err != nil {
		return nil, err
	}
	files := c.manifests
	if c.attached != nil {
		files = append(files, kept.put(attachedName, c.attached))
	}
	if o.Report != nil {
		files = append(files, kept.put("report.md", o.Report(c.Report)))
	}
	report, _ := diag.JSON(c.Report, "  ") // texts and numbers always encode
	files = append(files, kept.put("report.json", append(report, '\n')))
	if err := kept.flush(); err != nil {
		return nil, err
	}
	stale, err := c.last.check(o.Dir, files)
	if err != nil {
		return nil, err
	}
	if err := writeMapping(c.path, c.mapped); err != nil {
		return nil, err
	}
	if err := write(o.Dir, files, stale, c.runs); err != nil {
		return nil, err
	}
	for _, f := range files {
		c.Files = append(c.Files, f.name)
	}
	return &c.Result, nil
}

// Manifests converts an export to one stream of manifests, and writes nothing. The caller must close the stream, which is a temporary file.
func Manifests(ctx context.Context, o Options) (io.ReadCloser, *Result, error) {
	kept, err := newSpool()
	if err != nil {
		return nil, nil, err
	}
	c, err := prepare(ctx, o, kept)
	if err = cmp.Or(err, kept.flush()); err != nil {
		_ = kept.Close() // it is not wanted
		return nil, nil, err
	}
	var stream []io.Reader
	for _, f := range c.manifests {
		stream = append(stream, strings.NewReader("---\n"), f.text())
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(stream...), kept}, &c.Result, nil
}

// AllowsAdditional reports whether the mapping allows n additional objects of a kind, or values of a field, on the service.
func (rs *Result) AllowsAdditional(kind, field string, n int) bool {
	return rs.mapping.Allows(Additional(kind, field), n)
}

// prepare reads an export and composes its manifests in the spool. If somebody has to edit the mapping first, it returns an error together
// with the mapping.
func prepare(ctx context.Context, o Options, to *spool) (*converted, error) {
	path := cmp.Or(o.Mapping, filepath.Join(o.Dir, "mapping.yaml"))
	file, m, err := readMapping(path)
	if err != nil {
		return nil, err
	}
	last, err := previousRun(o.Dir)
	if err != nil {
		return nil, err
	}
	if o.Timezone != "" && m.Source.Timezone != "" && o.Timezone != m.Source.Timezone {
		return nil, diag.WithHint(fmt.Errorf("--timezone %s contradicts %s, which says %s", o.Timezone, path, m.Source.Timezone),
			"change the mapping, or leave the flag out: with another zone comments would be taken for new ones")
	}
	zone := cmp.Or(o.Timezone, m.Source.Timezone, "UTC")
	location, err := time.LoadLocation(zone)
	if err != nil {
		return nil, diag.WithHint(fmt.Errorf("there is no time zone %q", zone), "such as Europe/Berlin or UTC")
	}
	chosen, err := choose(o.Format, o.Formats, o.Files)
	if err != nil {
		return nil, err
	}
	found := newCollection(&m.Columns, to)
	in := Input{Files: chosen.files, Zone: location, Dates: m.Source.Dates, Columns: &m.Columns, Propose: found.column, spool: to}
	if err := chosen.format.Read(ctx, in, found); err != nil {
		if _, ask := errors.AsType[ColumnsError](err); !ask {
			return nil, err
		}
		completeColumns(file, found)
		mapped, err2 := file.Bytes()
		return &converted{path: path, mapped: mapped}, diag.WithHint(cmp.Or(err2, err), diag.HintOf(err)+"; the file is "+path)
	}
	for _, f := range chosen.files {
		if f.sheet != nil && f.sheet.Remark != "" {
			found.Note("spreadsheet", f.Name+": "+f.sheet.Remark)
		}
	}
	err = Input{Files: slices.Concat(o.Users, chosen.users)}.Each(ctx, func(_ context.Context, in io.Reader, name string) error { return found.users(in, name) })
	if err != nil {
		return nil, err
	}
	err = Input{Files: o.Members}.Each(ctx, func(_ context.Context, in io.Reader, name string) error { return found.membersOf(in, name) })
	if err != nil {
		return nil, err
	}
	columns := map[string]bool{mapping.Rest: true}
	for _, column := range found.columns {
		columns[mapping.Fold(column.Key)] = true
	}
	unknown := slices.DeleteFunc(m.Columns.Named(func(mapping.Column) bool { return true }), func(name string) bool { return columns[mapping.Fold(name)] })
	if len(unknown) > 0 && len(found.columns) > 0 {
		found.Note("unknown-columns", "columns of the mapping that the export does not have: "+diag.First(unknown, most))
	}
	if n := len(chosen.passed); n > 0 {
		found.Note("files-passed-over", diag.Count(n, "file")+" passed over, in which there is no export: "+diag.First(chosen.passed, most))
	}
	found.finish()
	if found.err != nil {
		return nil, found.err
	}
	if len(found.issues) == 0 && len(found.closed) > 0 {
		why := slices.IndexFunc(found.notes, func(n Remark) bool { return n.Kind == "restricted" })
		return nil, diag.WithHint(fmt.Errorf("%s: not everybody may see the issues in it", chosen.files[0].Name), found.notes[why].Text)
	}
	if len(found.issues) == 0 {
		hint := "check the filter of the export"
		for _, n := range slices.Backward(found.notes) {
			hint = n.Text + "; " + hint
		}
		return nil, diag.WithHint(fmt.Errorf("%s: there is no issue in it", chosen.files[0].Name), hint)
	}
	if found.zone {
		found.Note("timezone", "the export does not say the time zone of its dates; they were read as "+zone+
			": if that is wrong, change source.timezone in the mapping before the first apply")
	}
	all := found.sorted()
	issues, unselected, err := o.choose(all, location, found)
	if err != nil {
		return nil, err
	}
	current := issues // questions are about these issues
	if m.Archived == "skip" {
		current = slices.DeleteFunc(slices.Clone(issues), func(i *Issue) bool { return i.Archived })
	}
	complete(file, m, found, current, chosen.format, zone)
	mapped, err := file.Bytes()
	if err != nil {
		return nil, fmt.Errorf("write the mapping: %w", err)
	}
	again, findings := mapping.Parse(path, mapped)
	m, more := again.Mapping(agreeable())
	if len(more) > 0 || len(findings) > 0 {
		return &converted{path: path, mapped: mapped}, append(findings, more...).Err()
	}
	m.History.Link = last.linkTo(m.History.Link)
	runs, err := compareRuns(o, last, m, found, all, issues, to)
	if err != nil {
		return nil, err
	}
	for _, i := range issues {
		i.Links = slices.DeleteFunc(slices.Clone(i.Links), func(l Link) bool { return unselected[i.Project+"/"+l.To] })
	}
	c := &converted{Result: Result{mapping: m}, path: path, mapped: mapped, last: last, runs: runs}
	return c, c.compose(o.Dir, chosen, found, issues, unselected, to)
}

// compose writes the manifests to the spool, and completes the report.
func (cn *converted) compose(dir string, chosen *choice, found *collection, issues []*Issue, unselected map[string]bool, to *spool) error {
	r := newReport()
	r.Counts = count(issues)
	r.Counts.Items += len(found.clashes) + len(found.closed)
	for _, name := range chosen.unread {
		r.lost("files-not-read", name, 1)
	}
	for _, o := range found.outside {
		if o.kind == "comments-outside" {
			r.Counts.Comments += o.n
		}
	}
	r.Source, r.Mapping = Source{Format: chosen.format.Name, DetectedBy: chosen.by}, filepath.ToSlash(cn.path)
	for _, f := range chosen.files {
		r.Source.Files = append(r.Source.Files, filepath.ToSlash(f.Name))
	}
	composed := &composer{
		format: chosen.format, found: found, mapping: cn.mapping, report: r, to: to, runs: cn.runs, attached: attached{folder: dir},
	}
	if err := composed.attached.open(found, cn.runs.kept); err != nil {
		return fmt.Errorf("read the folder: %w", err)
	}
	defer composed.attached.close()
	present := issues
	if r.Since = cn.runs.since; unselected == nil {
		issues = slices.SortedFunc(slices.Values(slices.Concat(issues, cn.runs.kept)), order)
	}
	composed.compose(issues)
	r.Carried.People = people(present, func(id string) bool {
		p, _ := cn.mapping.People.Find(id)
		return p.Email != "" && !found.isOutsider(p.Email)
	})
	r.finish(cn.mapping, found, present, chosen.format.Tracker)
	if cn.mapping.UnknownPeople == "fail" && r.losses["assignees"] != nil {
		for i := range r.Losses {
			r.Losses[i].Agreed = r.Losses[i].Agreed && r.Losses[i].Kind != "assignees"
		}
	}
	cn.manifests, cn.attached, cn.Report = composed.parts, composed.attached.list(), r
	return found.err
}

// readMapping reads the mapping file, or an empty one if it does not exist, and reports all mistakes in it.
func readMapping(path string) (*mapping.File, *mapping.Mapping, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the user named it
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("read the mapping: %w", err)
	}
	file, findings := mapping.Parse(path, data)
	if findings.HasErrors() {
		return nil, nil, findings.Err()
	}
	m, findings := file.Mapping(agreeable())
	return file, m, findings.Err()
}

// writeMapping replaces the mapping file as a whole.
func writeMapping(path string, data []byte) error {
	root, err := disk.OpenFolder(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("write the mapping: %w", err)
	}
	defer root.Close() //nolint:errcheck // every file is closed
	return disk.ReplaceIn(root, filepath.Base(path), bytes.NewReader(data))
}
