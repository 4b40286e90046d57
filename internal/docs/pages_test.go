package docs_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/planform/planform/manifest"

	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// block is one fenced block of a page.
type block struct {
	file     string // that it is written to; "" = none
	partOf   string // the file whose lines it shows; "" = none
	before   string // commands that are run before it, which the reader does by hand
	notRun   bool
	language string
	text     string
	line     int
}

// blocks are the fenced blocks of a page. A comment <!-- file: NAME --> before one names the file that it is,
// <!-- part of: NAME --> a file that has its lines, <!-- before: COMMANDS --> is what the reader does by hand before, and
// <!-- not run: WHY --> says that it cannot be run here.
func blocks(t *testing.T, page string) []block {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	var open *block
	var next block
	remark := regexp.MustCompile(`^<!-- (file|part of|before|not run): (.*) -->$`)
	for i, line := range strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && open == nil:
			next.language, next.line = fence, i+1
			open, next = new(next), block{}
		case isFence:
			all, open = append(all, *open), nil
		case open != nil:
			open.text += line + "\n"
		case strings.HasPrefix(line, "    ") && strings.TrimSpace(line) != "" && !listed(text, i):
			t.Errorf("%s:%d: a block without fences is not run: ```console, ```sh or ```yaml", page, i+1)
		default:
			switch m := remark.FindStringSubmatch(line); {
			case m == nil:
			case m[1] == "file":
				next.file = m[2]
			case m[1] == "part of":
				next.partOf = m[2]
			case m[1] == "before":
				next.before = m[2]
			default:
				next.notRun = true
			}
		}
	}
	return all
}

// listed reports whether a line continues an entry of a list.
func listed(text []byte, line int) bool {
	lines := strings.Split(string(text), "\n")
	for i := line; i >= 0 && strings.TrimSpace(lines[i]) != ""; i-- {
		if regexp.MustCompile(`^\s*([-*]|\d+\.) `).MatchString(lines[i]) {
			return true
		}
	}
	return false
}

// sitePages returns the paths of the pages in docs and docs/contributors.
func sitePages(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	contributors, _ := filepath.Glob("../../docs/contributors/*.md")
	if err != nil || len(pages) == 0 || len(contributors) == 0 {
		t.Fatal(err, pages, contributors)
	}
	return append(pages, contributors...)
}

// talks are the commands that need a service: in shell blocks, it is the sandbox.
var talks = regexp.MustCompile(`planform (plan|apply|convert check|state \w+) `)

// TestThePagesDoWhatTheyShow runs every block of the README and of the pages by hand: commands print what stands below
// them, lines that are left out stand as …, and manifests are valid.
func TestThePagesDoWhatTheyShow(t *testing.T) {
	t.Parallel()
	for _, page := range append(sitePages(t), "../../README.md", "../../CONTRIBUTING.md", "../../SECURITY.md", "../../docs/skill/SKILL.md") {
		name := filepath.Base(page)
		if slices.Contains([]string{"commands.md", "manifest.md", "availability.md", "operations.md", "architecture.md"}, name) {
			continue // made from the code, or without blocks of commands
		}
		if !sample.TakesNamed(name, 3) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(filepath.Join(dir, "examples"), sandboxtest.Examples("../..")); err != nil {
				t.Fatal(err)
			}
			if err := os.Link(filepath.Join(dir, "examples", "workspace.yaml"), filepath.Join(dir, "workspace.yaml")); err != nil {
				t.Fatal(err)
			}
			if name == "migrate.md" || name == "trackers.md" {
				layExports(t, dir)
			}
			for _, b := range blocks(t, page) {
				b.run(t, name, dir)
				if t.Failed() {
					return
				}
			}
		})
	}
}

// TestTheTestsThatAPageNamesAreThere: who reads of one can look it up.
func TestTheTestsThatAPageNamesAreThere(t *testing.T) {
	t.Parallel()
	there := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllSubmatch(text, -1) {
			there[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range sitePages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(string(text), -1) {
			if !there[name] {
				t.Errorf("%s names %s, and there is no such test", page, name)
			}
		}
	}
}

// TestEveryPageHasAPlaceOnTheSite: the build of the site says the same, where there is Python.
func TestEveryPageHasAPlaceOnTheSite(t *testing.T) {
	t.Parallel()
	site := inRepository(t, "mkdocs.yml")
	for _, page := range sitePages(t) {
		if name := strings.TrimPrefix(filepath.ToSlash(page), "../../docs/"); !strings.Contains(site, " "+name+"\n") {
			t.Errorf("nav of mkdocs.yml leaves out %s", name)
		}
	}
}

func (b *block) run(t *testing.T, page, dir string) {
	t.Helper()
	at := page + ":" + strconv.Itoa(b.line)
	if b.file != "" {
		path := filepath.Join(dir, filepath.FromSlash(b.file))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if b.notRun {
		return
	}
	if out, code := shell(t, dir, b.before); code != 0 {
		t.Fatalf("%s: before it: exit code %d\n%s", at, code, out)
	}
	if b.partOf != "" {
		text, err := os.ReadFile(filepath.Join(dir, b.partOf))
		if missing := notShown(string(text), b.text); err != nil || missing != "" {
			t.Errorf("%s: %s has no line, or not in this place: %s %v\n%s", at, b.partOf, missing, err, text)
		}
	}
	switch b.language {
	case "console":
		b.session(t, at, dir)
	case "yaml":
		if err := yaml.Unmarshal([]byte(b.text), new(any)); err != nil {
			t.Errorf("%s: %v", at, err)
		}
		if b.file != "" && strings.Contains(b.text, "version: 1") {
			if _, found := manifest.Load(context.Background(), []string{filepath.Join(dir, b.file)}, manifest.Options{}); found.HasErrors() {
				t.Errorf("%s: %v", at, found)
			}
		}
	case "sh":
		const open = "planform() { command planform \"$@\" || test \"$1 $?\" = \"convert 3\"; }\n" // questions may be open, or losses not agreed
		if out, code := shell(t, dir, "set -e\n"+open+talks.ReplaceAllString(b.text, "${0}--sandbox ")); code != 0 {
			t.Errorf("%s: exit code %d\n%s", at, code, out)
		}
	case "text", "diff", "json":
	default:
		t.Errorf("%s: nobody knows how to check ```%s", at, b.language)
	}
}

// shell runs commands in a folder, with planform at hand.
func shell(t *testing.T, dir, commands string) (out string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(commands, "go run . ", "planform ")) // as in a clone
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program(t))+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1")
	text, _ := cmd.CombinedOutput()
	return string(text), cmd.ProcessState.ExitCode()
}

// session runs the commands of a block. A comment "# exit code 3" behind one says that it ends so.
func (b *block) session(t *testing.T, at, dir string) {
	t.Helper()
	for part := range strings.SplitSeq("\n"+strings.TrimSuffix(b.text, "\n"), "\n$ ") {
		if part == "" {
			continue
		}
		command, shown, _ := strings.Cut(part, "\n")
		want := 0
		if m := regexp.MustCompile(`# exit code (\d+)$`).FindStringSubmatch(command); m != nil {
			want, _ = strconv.Atoi(m[1])
		}
		if !strings.Contains(command, "--sandbox") {
			command = talks.ReplaceAllString(command, "${0}--sandbox ")
		}
		out, got := shell(t, dir, command)
		if got != want {
			t.Errorf("%s: %s: exit code %d\n%s", at, command, got, out)
			return
		}
		if missing := notShown(out, shown); missing != "" {
			t.Errorf("%s: %s does not print, or not in this place: %s\nit prints:\n%s", at, command, missing, out)
			return
		}
	}
}

// notShown is the first line of what a page shows that was not printed in that order.
func notShown(printed, shown string) string {
	lines := strings.Split(printed, "\n")
	for line := range strings.SplitSeq(shown, "\n") {
		if text := strings.TrimSpace(line); text == "…" || text == "" {
			continue
		}
		at := slices.Index(lines, line)
		if at < 0 {
			return line
		}
		lines = lines[at+1:]
	}
	return ""
}

// layExports puts the exports that a page is about into a folder.
func layExports(t *testing.T, dir string) {
	t.Helper()
	const fixtures = "../convert/testdata/"
	put := func(name string, text []byte) {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, from := range map[string]string{
		"export/jira.csv": "jira-cloud.csv", "users.csv": "users.csv", "issues.json": "github-rest.json", "comments.json": "github-comments.json", "tasks.csv": "table.csv",
	} {
		text, err := os.ReadFile(fixtures + from)
		if err != nil {
			t.Fatal(err)
		}
		put(name, text)
	}
	text, err := os.ReadFile(fixtures + "jira-cloud.csv")
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	archive := zip.NewWriter(&zipped)
	file, err := archive.Create("jira.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	put("jira.zip", zipped.Bytes())
	put("sunday/jira.csv", onSunday(t, text))
}

// onSunday is an export after some days: with another priority and a comment, one issue more and one less.
func onSunday(t *testing.T, export []byte) []byte {
	t.Helper()
	in := csv.NewReader(bytes.NewReader(export))
	in.FieldsPerRecord, in.LazyQuotes = -1, true
	rows, err := in.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(name string) int { return slices.Index(rows[0], name) }
	var added []string
	rows = slices.DeleteFunc(rows, func(row []string) bool { return len(row) > 1 && row[1] == "OPS-1" })
	for _, row := range rows[1:] {
		if len(row) < len(rows[0]) {
			continue
		}
		switch row[1] {
		case "SHOP-3":
			row[column("Priority")] = "Low"
		case "SHOP-12":
			added = slices.Clone(row)
			added[0], added[1], added[2] = "Refunds", "SHOP-13", "10013"
			row[column("Comment")] = "23/Sep/25 8:00 AM;712020:4f1c2e7a-0b9d-4c55;Done by noon."
		}
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if err := w.WriteAll(append(rows, added)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestARecipeHasFifteenLinesAtMost holds the recipes, which [TestThePagesDoWhatTheyShow] plays, to what their page says.
func TestARecipeHasFifteenLinesAtMost(t *testing.T) {
	t.Parallel()
	recipes := strings.Split(inRepository(t, "docs/recipes.md"), "\n## ")[1:]
	if len(recipes) != 10 {
		t.Errorf("%d recipes", len(recipes))
	}
	for _, recipe := range recipes {
		title, _, _ := strings.Cut(recipe, "\n")
		lines := 0
		for _, fenced := range regexp.MustCompile("(?s)\n```[a-z]+\n(.*?)```\n").FindAllStringSubmatch(recipe, -1) {
			lines += strings.Count(fenced[1], "\n")
		}
		if lines == 0 || lines > 15 {
			t.Errorf("%s: %d lines", title, lines)
		}
	}
}

// TestCodeInAPageFitsTheSite checks commands and manifests: the site cuts a line of more columns. Addresses and names of actions cannot be
// broken, and docs/trackers.md and the scripts for GitLab are to be copied.
func TestCodeInAPageFitsTheSite(t *testing.T) {
	t.Parallel()
	const columns = 84
	unbroken := regexp.MustCompile(`https?://|uses: |gitlab|<!-- planform|planform convert`)
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md", "../../docs/skill/SKILL.md") {
		if slices.Contains([]string{"commands.md", "manifest.md", "trackers.md"}, filepath.Base(page)) {
			continue
		}
		for _, b := range blocks(t, page) {
			for i, line := range strings.Split(b.text, "\n") {
				code := b.language == "sh" || b.language == "yaml" || b.language == "console" && strings.HasPrefix(line, "$ ")
				if n := len([]rune(line)); code && n > columns && !unbroken.MatchString(line) {
					t.Errorf("%s:%d has %d columns: %s", page, b.line+i+1, n, line)
				}
			}
		}
	}
}
