package docs_test

import (
	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

//nolint:gochecknoglobals // the flag package works with variables
var draw = flag.Bool("draw", false, "draw the picture of the README anew")

// TestThePictureOfTheReadmeShowsWhatTheProgramPrints draws docs/demo.svg from a session: its commands are run, and each line that it
// shows is one that they print, in its colours.
func TestThePictureOfTheReadmeShowsWhatTheProgramPrints(t *testing.T) {
	t.Parallel()
	session, err := os.ReadFile("testdata/demo.console")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "examples"), sandboxtest.Examples("../..")); err != nil {
		t.Fatal(err)
	}
	var lines []string
	var printed []string // by the last command, what it has not shown yet
	for line := range strings.SplitSeq(strings.TrimRight(string(session), "\n"), "\n") {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case isCommand:
			out, code := shell(t, dir, command+" --color always")
			if code != 0 {
				t.Fatalf("%s: exit code %d\n%s", command, code, out)
			}
			printed = strings.Split(out, "\n")
			lines = append(lines, "\x1b[2m$\x1b[0m \x1b[1m"+command+"\x1b[0m")
		case line == "…":
			lines = append(lines, "\x1b[2m…\x1b[0m")
		case line == "":
			lines = append(lines, "")
		default:
			for len(printed) > 0 && escapes.ReplaceAllString(printed[0], "") != line {
				printed = printed[1:]
			}
			if len(printed) == 0 {
				t.Fatalf("testdata/demo.console: no command prints, or not in this place: %s", line)
			}
			lines, printed = append(lines, printed[0]), printed[1:]
		}
	}
	const path = "../../docs/demo.svg"
	picture := svg(lines)
	if *draw {
		if err := os.WriteFile(path, []byte(picture), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	had, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(had), "\r\n", "\n"), picture); diff != "" {
		t.Errorf("docs/demo.svg is not current; go test ./internal/docs -run Picture -draw draws it anew:\n%s", diff)
	}
}

var escapes = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// svg draws lines with their colours as a terminal would.
func svg(lines []string) string {
	const (
		width, lineHeight, left, top = 900, 19, 20, 52
		background, foreground       = "#10151d", "#d7dee8"
	)
	styles := map[string]string{
		"1": `font-weight="bold"`, "2": `fill="#8793a3"`, "31": `fill="#ff8f86"`, "32": `fill="#6fd68a"`, "33": `fill="#e6c161"`, "34": `fill="#82b4ff"`, "36": `fill="#68d4dd"`,
	}
	height := top + lineHeight*len(lines) + 6
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" role="img" aria-labelledby="title">`+"\n", width, height, width)
	b.WriteString(`<title id="title">planform apply shows a plan, makes the changes, and then finds none to make</title>` + "\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="10" fill="%s"/>`+"\n", width, height, background)
	for i, color := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="22" r="6" fill="%s"/>`+"\n", left+6+i*20, color)
	}
	fmt.Fprintf(&b, `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13.5" fill="%s">`+"\n", foreground)
	for i, line := range lines {
		if line == "" {
			continue
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" xml:space="preserve">`, left, top+lineHeight*i)
		style, at := "", 0
		for _, m := range append(escapes.FindAllStringSubmatchIndex(line, -1), []int{len(line), len(line), len(line), len(line)}) {
			if text := html.EscapeString(line[at:m[0]]); style != "" && text != "" {
				fmt.Fprintf(&b, `<tspan %s>%s</tspan>`, style, text)
			} else {
				b.WriteString(text)
			}
			style, at = styles[line[m[2]:m[3]]], m[1]
		}
		b.WriteString("</text>\n")
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}
