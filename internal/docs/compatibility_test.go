package docs_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// tableBehind are the first two columns of the table behind a heading of a page.
func tableBehind(t *testing.T, page, heading string) map[string]string {
	t.Helper()
	_, rest, found := strings.Cut(inRepository(t, page), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no %q", page, heading)
	}
	rows := map[string]string{}
	for line := range strings.Lines(rest) {
		cells := strings.Split(line, "|")
		switch {
		case strings.HasPrefix(line, "#"):
			return rows
		case len(cells) > 3 && !strings.HasPrefix(line, "|---"):
			rows[strings.Trim(cells[1], " `")] = strings.Trim(cells[2], " `")
		}
	}
	return rows
}

func TestTheExitCodesOfThePagesAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../cli/exit.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for spec := range ast.Preorder(file) {
		if v, ok := spec.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "exit") && len(v.Values) == 1 {
			if code, ok := v.Values[0].(*ast.BasicLit); ok && code.Kind == token.INT {
				codes = append(codes, code.Value)
			}
		}
	}
	rows := tableBehind(t, "docs/compatibility.md", "## Exit codes")
	delete(rows, "code")
	listed := slices.Collect(maps.Keys(rows))
	number := func(a, b string) int { m, _ := strconv.Atoi(a); n, _ := strconv.Atoi(b); return m - n }
	slices.SortFunc(listed, number)
	slices.SortFunc(codes, number)
	if diff := cmp.Diff(codes, listed); diff != "" {
		t.Error("docs/compatibility.md:", diff)
	}
	_, text, _ := strings.Cut(inRepository(t, "docs/commands.md"), "Exit codes: ")
	text, _, _ = strings.Cut(text, ".\n")
	var named []string
	for _, m := range regexp.MustCompile(`(?:^|;)\s(\d+)\s`).FindAllStringSubmatch(" "+text, -1) {
		named = append(named, m[1])
	}
	if diff := cmp.Diff(codes, named); diff != "" {
		t.Error("docs/commands.md:", diff)
	}
}

// TestTheFormatsOfThePageAreThoseOfTheProgram asks each command that has a document for it.
func TestTheFormatsOfThePageAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, sandboxtest.Examples("../..")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "issues.csv"), []byte("Key,Title,Status\nA-1,Buy milk,Todo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const on = " -f workspace.yaml"
	got := map[string]string{"command": "format_version"}
	for _, c := range []struct{ name, args string }{
		{"validate", on},
		{"plan", on + " --sandbox --out plan.json"},
		{"show", " plan.json"},
		{"apply", on + " --sandbox --yes"},
		{"pull", on + " --sandbox"},
		{"doctor", on + " --sandbox"},
		{"history", on + " --sandbox"},
		{"history show", " last" + on + " --sandbox"},
		{"state list", on + " --sandbox"},
		{"state show", " project/web" + on + " --sandbox"},
		{"fmt", on},
		{"version", ""},
		{"export", " --workspace acme --sandbox --to exported"},
		{"init", " --workspace acme --to begun"},
		{"undo", " last" + on + " --sandbox --yes"},
		{"convert check", " csv issues.csv -f converted --workspace acme --sandbox"},
		{"explain", " work_item.state"},
	} {
		if c.name == "convert check" {
			shell(t, dir, "planform convert csv issues.csv --to converted")
		}
		out, _ := shell(t, dir, "planform "+c.name+c.args+" --output json 2>errors")
		var document struct {
			FormatVersion int `json:"format_version"`
		}
		if err := json.Unmarshal([]byte(out), &document); err != nil {
			errs, _ := os.ReadFile(filepath.Join(dir, "errors"))
			t.Errorf("%s: %v: %s%s", c.name, err, out, errs)
		}
		got[c.name] = strconv.Itoa(document.FormatVersion)
	}
	if diff := cmp.Diff(got, tableBehind(t, "docs/compatibility.md", "## JSON")); diff != "" {
		t.Error(diff)
	}
}

// TestEachCommandHasADocumentOrIsNamedAsOneWithout: a new command cannot be forgotten on the page.
func TestEachCommandHasADocumentOrIsNamedAsOneWithout(t *testing.T) {
	t.Parallel()
	page := inRepository(t, "docs/compatibility.md")
	listed := tableBehind(t, "docs/compatibility.md", "## JSON")
	command := ""
	for line := range strings.Lines(inRepository(t, "docs/commands.md")) {
		if _, name, ok := strings.Cut(line, "## planform "); ok {
			command = strings.TrimSpace(name)
		}
		if strings.Contains(line, "#output-flags") && listed[command] == "" && !strings.HasPrefix(command, "get ") &&
			!strings.Contains(page, "`"+command+"`") {
			t.Errorf("docs/compatibility.md does not say which JSON %q gives", command)
		}
	}
}

// TestThePageNamesTheBuildsWhoseFilesAreTested: those of internal/state and internal/plan/planfile, which are tested there.
func TestThePageNamesTheBuildsWhoseFilesAreTested(t *testing.T) {
	t.Parallel()
	page := inRepository(t, "docs/contributors/evidence.md")
	for pattern, end := range map[string]string{
		"../state/testdata/earlier/*.state.json": ".state.json", "../plan/planfile/testdata/earlier/*.json": ".json",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(err)
		}
		for _, file := range files {
			if commit := strings.TrimSuffix(filepath.Base(file), end); !strings.Contains(page, "\n| `"+commit+"` |") {
				t.Errorf("%s is of a build that docs/contributors/evidence.md does not name", file)
			}
		}
	}
}
