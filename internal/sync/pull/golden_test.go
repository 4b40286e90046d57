package pull_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/planform/planform/internal/plan/divergence"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sync/pull"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

//nolint:gochecknoglobals // a flag of the test binary
var update = flag.Bool("update", false, "write what is found into the archives of testdata")

// TestPull has an archive for each story of testdata. An archive holds manifests and the files that they name. "service"
// has a line ADDRESS FIELD JSON for each value that people changed, followed by "conflict" if the manifest changed too,
// or "unknown" if that is not known. "theirs" exists if the service's value wins. "want" holds the files that change and
// the findings.
func TestPull(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			archive := txtar.Parse(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
			archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "want") })
			archive.Files = append(archive.Files, newStory(t, archive).pull()...)
			now := txtar.Format(archive)
			if *update {
				if err := os.WriteFile(path, now, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.ReplaceAll(string(text), "\r\n", "\n"), string(now)); diff != "" {
				t.Errorf("go test ./internal/sync/pull -update would change:\n%s", diff)
			}
		})
	}
}

// story is a folder of manifests with the changes that people made on the service.
type story struct {
	*testing.T

	dir    string
	theirs bool
	people []edited
}

// edited is a field that people changed.
type edited struct {
	address resource.Address
	field   string
	value   any
	remark  string
}

func newStory(t *testing.T, archive *txtar.Archive) *story {
	t.Helper()
	s := &story{T: t, dir: t.TempDir()}
	for _, f := range archive.Files {
		switch f.Name {
		case "service":
			for line := range strings.Lines(string(f.Data)) {
				address, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				field, rest, _ := strings.Cut(rest, " ")
				e := edited{address: resource.Address(address), field: field}
				d := json.NewDecoder(strings.NewReader(rest))
				if err := d.Decode(&e.value); err != nil {
					t.Fatal(line, err)
				}
				e.remark = strings.TrimSpace(rest[d.InputOffset():])
				s.people = append(s.people, e)
			}
		case "theirs":
			s.theirs = true
		default:
			if err := os.WriteFile(filepath.Join(s.dir, f.Name), f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

func (s *story) load(with map[string][]byte) (*manifest.Manifest, diag.List) {
	return manifest.Load(s.Context(), []string{s.dir}, manifest.Options{Workspace: "acme", Edited: with, Origins: true})
}

// pull takes the changes twice: the second time there is nothing more to take.
func (s *story) pull() (want []txtar.File) {
	desired, found := s.load(nil)
	if found.HasErrors() {
		s.Fatal(found)
	}
	in := pull.Input{
		Manifest: desired, Theirs: s.theirs, Read: os.ReadFile, Load: s.load,
		Replan: func(m *manifest.Manifest) (*planner.Plan, divergence.Set, diag.List, error) {
			plan, differences := s.plan(m)
			return plan, differences, nil, nil
		},
	}
	in.Plan, in.Differences = s.plan(desired)
	result, err := pull.Take(in)
	if err != nil {
		s.Fatal(err)
	}
	var left strings.Builder
	for _, d := range result.Findings {
		d.File = filepath.Base(d.File)
		for i := range d.Related {
			d.Related[i].File = filepath.Base(d.Related[i].File)
		}
		left.WriteString(d.String() + "\n")
	}
	for _, f := range result.Files {
		want = append(want, txtar.File{Name: "want/" + filepath.Base(f.Name), Data: f.After})
		if err := os.WriteFile(f.Name, f.After, 0o600); err != nil {
			s.Fatal(err)
		}
	}
	in.Manifest, _ = s.load(nil)
	in.Plan, in.Differences = s.plan(in.Manifest)
	if again, err := pull.Take(in); err != nil || len(again.Files) > 0 || len(again.Findings) != len(result.Findings) {
		s.Error("a second pull is not the same:", err, again.Findings)
	}
	if left.Len() > 0 {
		want = append(want, txtar.File{Name: "want", Data: []byte(left.String())})
	}
	return want
}

// plan says of a manifest what planning says of it where people made something else of the service.
func (s *story) plan(m *manifest.Manifest) (p *planner.Plan, differences divergence.Set) {
	p = &planner.Plan{Workspace: "acme", WebURL: "https://app.plane.so", Known: map[resource.Address]planner.Record{}}
	for _, e := range s.people {
		if i := slices.IndexFunc(m.Objects, func(o *resource.Object) bool { return o.Address == e.address }); i < 0 {
			s.Fatal("no object", e.address)
		} else if v, ok := m.Objects[i].Value(e.field); e.remark == "deleted" {
			differences.Vanished = append(differences.Vanished, m.Objects[i])
		} else if ok {
			s.compare(&differences, m, m.Objects[i], v, e)
		}
	}
	return p, differences
}

func (s *story) compare(differences *divergence.Set, m *manifest.Manifest, o *resource.Object, v *resource.Value, e edited) {
	d := divergence.Field{Object: o, Value: v, Named: map[string]*resource.Object{}}
	d.Conflict, d.Unknown = e.remark == "conflict", e.remark == "unknown"
	d.Change = planner.Change{Path: v.Field.Path()}
	d.Row = resource.Row{v.Field.APIName(): e.value}
	if v.Field.IsRef() {
		names, _ := e.value.([]any)
		if name, one := e.value.(string); one {
			names = []any{name}
		}
		for _, name := range names {
			d.All = append(d.All, name.(string))
		}
		d.Add = slices.Clone(d.All)
		for i, r := range v.Refs {
			means := func(name string) bool {
				return name == r.Text || r.Target != nil && (name == r.Target.Key || name == r.Target.Name())
			}
			if !slices.ContainsFunc(d.All, means) {
				d.Drop = append(d.Drop, i)
			}
			d.Add = slices.DeleteFunc(d.Add, means)
		}
		for _, other := range m.Objects {
			if slices.Contains(d.All, other.Name()) && other.Kind.Name == v.Field.Ref {
				d.Named[other.Name()] = other
			}
		}
		before := strings.Join(d.All, "\n")
		if d.Change.Before = &before; len(d.Add)+len(d.Drop) > 0 {
			differences.Fields = append(differences.Fields, d)
		}
		return
	}
	shown, _ := v.Field.ObservedIn(d.Row)
	if want, _ := v.Desired(nil); v.Field.Agrees(want, shown) {
		return
	}
	if d.Change.After = &v.Text; shown != "" {
		d.Change.Before = &shown
	}
	differences.Fields = append(differences.Fields, d)
}
