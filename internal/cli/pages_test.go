package cli_test

import (
	"context"
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
)

// block is one fenced block of a page.
type block struct {
	file     string // that it is written to; "" = none
	notRun   bool
	language string
	text     string
	line     int
}

// blocks are the fenced blocks of a page. A comment <!-- file: NAME --> before one names the file that it is,
// <!-- not run: WHY --> says that it cannot be run here.
func blocks(t *testing.T, page string) []block {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	var open *block
	file, notRun := "", false
	for i, line := range strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && open == nil:
			open = &block{file, notRun, fence, "", i + 1}
			file, notRun = "", false
		case isFence:
			all, open = append(all, *open), nil
		case open != nil:
			open.text += line + "\n"
		case strings.HasPrefix(line, "    ") && strings.TrimSpace(line) != "" && !listed(text, i):
			t.Errorf("%s:%d: a block without fences is not run: ```console, ```sh or ```yaml", page, i+1)
		default:
			if m := regexp.MustCompile(`^<!-- file: (\S+) -->$`).FindStringSubmatch(line); m != nil {
				file = m[1]
			}
			notRun = notRun || strings.HasPrefix(line, "<!-- not run: ")
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

// talks are the commands that need a service: in shell blocks, it is the sandbox.
var talks = regexp.MustCompile(`planform (plan|apply|state \w+) `)

// TestThePagesDoWhatTheyShow runs every block of the README and of the pages by hand: commands print what stands below
// them, lines that are left out stand as …, and manifests are valid.
func TestThePagesDoWhatTheyShow(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md") {
		name := filepath.Base(page)
		if slices.Contains([]string{"commands.md", "manifest.md", "operations.md", "architecture.md", "migrate.md", "apis.md"}, name) {
			continue // made from the code, without blocks of commands, or about exports that are not here
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS("../../examples")); err != nil {
				t.Fatal(err)
			}
			if err := os.Link(filepath.Join(dir, "examples", "workspace.yaml"), filepath.Join(dir, "workspace.yaml")); err != nil {
				t.Fatal(err)
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
		if out, code := shell(t, dir, "set -e\n"+talks.ReplaceAllString(b.text, "${0}--sandbox ")); code != 0 {
			t.Errorf("%s: exit code %d\n%s", at, code, out)
		}
	case "text", "diff":
	default:
		t.Errorf("%s: nobody knows how to check ```%s", at, b.language)
	}
}

// shell runs commands in a folder, with planform at hand.
func shell(t *testing.T, dir, commands string) (out string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", commands)
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
