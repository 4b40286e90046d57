package manifest_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

//nolint:gochecknoglobals // a flag of the test binary
var update = flag.Bool("update", false, "write what is found into the archives of testdata")

// TestGoldenManifests loads the archives of testdata. Each holds files, the names to load in "args" (default:
// workspace.yaml), and in "want" what Load finds, or the objects.
func TestGoldenManifests(t *testing.T) {
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
			archive := txtar.Parse([]byte(strings.ReplaceAll(string(text), "\r\n", "\n")))
			got := loadArchive(t, archive)
			want := member(archive, "want")
			if want == nil {
				archive.Files = append(archive.Files, txtar.File{Name: "want"})
				want = &archive.Files[len(archive.Files)-1]
			}
			if *update {
				want.Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("go test ./manifest -update would change:\n%s", diff)
			}
		})
	}
}

func member(a *txtar.Archive, name string) *txtar.File {
	for i := range a.Files {
		if a.Files[i].Name == name {
			return &a.Files[i]
		}
	}
	return nil
}

func loadArchive(t *testing.T, a *txtar.Archive) string {
	t.Helper()
	dir := t.TempDir()
	args := []string{"workspace.yaml"}
	for _, f := range a.Files {
		switch f.Name {
		case "want":
			continue
		case "args":
			args = strings.Fields(string(f.Data))
			continue
		}
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range args {
		args[i] = filepath.Join(dir, filepath.FromSlash(args[i]))
	}
	m, found := manifest.Load(context.Background(), args, manifest.Options{Offline: strings.HasPrefix(string(a.Comment), "offline")})
	if found.HasErrors() && len(m.Objects) > 0 {
		t.Error("there are objects beside errors")
	}
	got := show(found) + showObjects(m)
	got = strings.ReplaceAll(got, dir+string(filepath.Separator), "")
	return filepath.ToSlash(strings.ReplaceAll(got, dir, "."))
}

// show prints findings with all their fields.
func show(found diag.List) string {
	var b strings.Builder
	for _, d := range found {
		fmt.Fprintf(&b, "%s: %s [%s]: %s\n", d.Position, d.Severity, d.Code, d.Summary)
		if d.Path != "" {
			fmt.Fprintf(&b, "  at %s\n", d.Path)
		}
		for _, r := range d.Related {
			fmt.Fprintf(&b, "  %s %s\n", r.Note, r.Position)
		}
		if d.Hint != "" {
			fmt.Fprintf(&b, "  hint: %s\n", d.Hint)
		}
	}
	return b.String()
}

func showObjects(m *manifest.Manifest) string {
	if len(m.Objects) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "workspace %q in %s\n", m.Workspace, strings.Join(m.Files, ", "))
	if len(m.Skipped) > 0 {
		fmt.Fprintf(&b, "skipped %s\n", strings.Join(m.Skipped, ", "))
	}
	for _, o := range m.Objects {
		fmt.Fprintf(&b, "%s", o.Address)
		for _, word := range []struct{ name, text string }{{"id", o.ID}, {"identifier", o.Identifier}} {
			if word.text != "" {
				fmt.Fprintf(&b, " %s=%s", word.name, word.text)
			}
		}
		if o.Parent != nil {
			fmt.Fprintf(&b, " in %s", o.Parent.Address)
		}
		if p := o.Policy; p != nil {
			fmt.Fprintf(&b, " policy (all: %t, on drift: %q", p.IgnoreAll, p.OnDrift)
			for _, f := range p.Ignore {
				b.WriteString(", " + f.Path())
			}
			b.WriteString(")")
		}
		fmt.Fprintf(&b, " at %s\n", o.Position)
		for i := range o.Values {
			v := &o.Values[i]
			fmt.Fprintf(&b, "  %s: ", v.Field.Name)
			switch {
			case v.Null:
				b.WriteString("null")
			case v.Field.IsRef():
				for n := range v.Refs {
					r := &v.Refs[n]
					if n > 0 {
						b.WriteString(", ")
					}
					b.WriteString(showReference(r))
				}
			default:
				fmt.Fprintf(&b, "%q", v.Written())
			}
			if v.AsHTML {
				b.WriteString(" (HTML)")
			}
			fmt.Fprintf(&b, " at %d:%d\n", v.Position.Line, v.Position.Column)
		}
	}
	return b.String()
}

func showReference(r *resource.Reference) string {
	s := fmt.Sprintf("%q", r.Text)
	if r.Target != nil {
		s += " = " + string(r.Target.Address)
	}
	if r.ID != "" {
		s += " = id " + r.ID
	}
	if r.Attribute != "" {
		s += " (" + r.Attribute + ")"
	}
	return s
}
