package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/diag"
)

// Options say what to convert, and how.
type Options struct {
	Format   string // one of the formats, or [Auto]
	Formats  []Format
	Files    []File
	Dir      string // to write to
	Mapping  string // path of the mapping file; "" is mapping.yaml in the folder
	Users    []File // CSV of the site's users, with their e-mail addresses
	Timezone string // of dates without one; "" is what the mapping says, or UTC
}

// Result is what a run wrote.
type Result struct {
	Report  *Report
	Mapping string   // path of the mapping file
	Files   []string // manifests and reports, within the folder
}

// Run converts an export. If it returns an error, nothing was written.
func Run(ctx context.Context, o Options) (*Result, error) {
	path := cmp.Or(o.Mapping, filepath.Join(o.Dir, "mapping.yaml"))
	file, m, err := readMapping(path)
	if err != nil {
		return nil, err
	}
	if o.Timezone != "" && m.Source.Timezone != "" && o.Timezone != m.Source.Timezone {
		return nil, diag.WithHint(fmt.Errorf("--timezone %s contradicts %s, which says %s", o.Timezone, path, m.Source.Timezone), "change the mapping, or leave the flag out: with another zone comments would be taken for new ones")
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
	found := newCollection()
	if err := chosen.format.Read(ctx, Input{Files: chosen.files, Zone: location, Dates: m.Source.Dates}, found); err != nil {
		return nil, err
	}
	if len(found.issues) == 0 {
		return nil, diag.WithHint(fmt.Errorf("%s: there is no issue in it", chosen.files[0].Name), "check the filter of the export")
	}
	for _, f := range slices.Concat(o.Users, chosen.users) {
		if err := found.users(f); err != nil {
			return nil, err
		}
	}
	if n := len(chosen.passed); n > 0 {
		found.Note(Note{Kind: "files-passed-over", Text: diag.Count(n, "file") + " passed over, in which there is no export: " + first(chosen.passed)})
	}
	found.finish()
	if found.zone {
		found.Note(Note{Kind: "timezone", Text: "the dates have no time zone; they were read as " + zone + ": if that is wrong, change source.timezone in the mapping before the first apply"})
	}
	issues := found.sorted()
	current := issues // what is asked is asked of these
	if m.Archived == "skip" {
		current = slices.DeleteFunc(slices.Clone(issues), func(i *Issue) bool { return i.Archived })
	}
	complete(file, found, current, chosen.format, zone)
	mapped, err := file.Bytes()
	if err != nil {
		return nil, fmt.Errorf("write the mapping: %w", err)
	}
	again, findings := mapping.Parse(path, mapped)
	if m, more := again.Mapping(lossKinds()); len(more) > 0 || len(findings) > 0 {
		return nil, append(findings, more...).Err()
	} else {
		return finish(o, path, mapped, m, chosen, found, issues)
	}
}

// finish composes and writes what was read and decided.
func finish(o Options, path string, mapped []byte, m *mapping.Mapping, chosen *choice, found *collection, issues []*Issue) (*Result, error) {
	r := &Report{FormatVersion: 1, Counts: count(issues), Carried: Counts{States: map[string]int{}}, leftOut: tally{}}
	format := chosen.format
	r.Source = Source{Format: format.Name(), DetectedBy: chosen.by}
	for _, f := range chosen.files {
		r.Source.Files = append(r.Source.Files, filepath.ToSlash(f.Name))
	}
	c := &composer{format: format, found: found, mapping: m, report: r}
	c.compose(issues)
	r.Carried.People = c.carriedPeople(issues)
	r.finish(m, found, issues, format.Tracker())
	if m.UnknownPeople == "fail" && r.lost["assignees"] != nil {
		for i := range r.Losses {
			r.Losses[i].Agreed = r.Losses[i].Agreed && r.Losses[i].Kind != "assignees"
		}
	}
	files := append(c.files, outFile{"report.md", r.markdown(m, filepath.ToSlash(path))}, outFile{"report.json", r.json()})
	if err := checkFolder(o.Dir, files); err != nil {
		return nil, err
	}
	if err := writeMapping(path, mapped); err != nil {
		return nil, err
	}
	if err := write(o.Dir, files); err != nil {
		return nil, err
	}
	result := &Result{Report: r, Mapping: path}
	for _, f := range files {
		result.Files = append(result.Files, f.name)
	}
	return result, nil
}

// readMapping reads the mapping file, which need not be there, and reports all mistakes in it.
func readMapping(path string) (*mapping.File, *mapping.Mapping, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the user named it
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("read the mapping: %w", err)
	}
	file, findings := mapping.Parse(path, data)
	if findings.HasErrors() {
		return nil, nil, findings.Err()
	}
	m, findings := file.Mapping(lossKinds())
	return file, m, findings.Err()
}

// writeMapping replaces the mapping file, if anything was added.
func writeMapping(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a folder of the user's
		return fmt.Errorf("write the mapping: %w", err)
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("write the mapping: %w", err)
	}
	defer root.Close() //nolint:errcheck // every file is closed
	return replace(root, filepath.Base(path), data)
}
