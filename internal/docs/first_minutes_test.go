package docs_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

//nolint:gochecknoglobals // the flag package works with variables
var record = flag.Bool("record", false, "record the page of the first ten minutes anew")

// TestTheRecordingOfTheFirstMinutesHasEachStepAndFitsIntoTenMinutes compares docs/first-minutes.md with its steps in testdata. The test of
// the pages compares its commands with what they print.
func TestTheRecordingOfTheFirstMinutesHasEachStepAndFitsIntoTenMinutes(t *testing.T) {
	t.Parallel()
	steps, err := os.ReadFile("testdata/first-minutes.md")
	if err != nil {
		t.Fatal(err)
	}
	const path = "../../docs/first-minutes.md"
	if *record {
		if err := os.WriteFile(path, []byte(recorded(t, string(steps))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page := inRepository(t, "docs/first-minutes.md")
	last := ""
	for _, at := range regexp.MustCompile(`\*\*(\d+:\d\d)\*\*`).FindAllStringSubmatch(page, -1) {
		if now := fmt.Sprintf("%5s", at[1]); now < last || now > " 9:59" {
			t.Errorf("the clock shows %s after %s", now, last)
		} else {
			last = now
		}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(string(steps)), "\n") {
		_, rest, ok := strings.Cut(page, strings.TrimPrefix(line, "**{clock}**")+"\n")
		if page = rest; !ok {
			t.Fatalf("the page lacks, or has in another place: %s\n-record writes it", line)
		}
	}
}

// recorded runs the steps, and returns their page with the clock and the lines that the commands print.
func recorded(t *testing.T, steps string) string {
	t.Helper()
	const keys, words = 4, 4 // that a person types and reads in a second
	var page strings.Builder
	var clock time.Duration
	spend := func(n, perSecond int) { clock += time.Duration(n) * time.Second / time.Duration(perSecond) }
	dir, file, fenced, begun := t.TempDir(), "", false, false
	var written strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(steps), "\n") {
		if strings.Contains(line, "{clock}") {
			begun = true
			seconds := int(clock.Round(time.Second) / time.Second)
			line = strings.Replace(line, "{clock}", fmt.Sprintf("%d:%02d", seconds/60, seconds%60), 1)
		}
		page.WriteString(line + "\n")
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch name, isFile := strings.CutPrefix(line, "<!-- file: "); {
		case isFile:
			file = strings.TrimSuffix(name, " -->")
		case strings.HasPrefix(line, "```"):
			if fenced = !fenced; !fenced && file != "" {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(written.String()), 0o600); err != nil {
					t.Fatal(err)
				}
				file = ""
			}
		case isCommand:
			spend(len(command), keys)
			out := timed(t, &clock, dir, command)
			spend(len(strings.Fields(out)), words)
			page.WriteString(shortened(out))
		case fenced && file != "":
			spend(len(line), keys)
			written.WriteString(line + "\n")
		case begun:
			spend(len(strings.Fields(line)), words)
		}
	}
	return page.String()
}

// timed runs a command, adds its time to the clock, and returns what it prints.
func timed(t *testing.T, clock *time.Duration, dir, command string) string {
	t.Helper()
	switch {
	case strings.HasPrefix(command, "git clone"):
		if out, err := exec.CommandContext(t.Context(), "git", "clone", "--quiet", "--no-local", "../..", filepath.Join(dir, "clone")).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return ""
	case strings.HasPrefix(command, "go build"):
		build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "built"), ".")
		build.Dir, build.Env = filepath.Join(dir, "clone"), append(os.Environ(), "GOCACHE="+filepath.Join(dir, "cache"))
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		*clock += build.ProcessState.UserTime() + build.ProcessState.SystemTime() // other programs may share the machine
		return ""
	case strings.HasPrefix(command, "planform sandbox"):
		*clock += 20 * time.Second // a look at the page
		return ""
	}
	began := time.Now()
	out, _ := shell(t, dir, command)
	*clock += time.Since(began)
	return out
}

// shortened returns the lines of an output with … for hashes and IDs, and for the lines in the middle of a long output.
func shortened(out string) string {
	const most, begin, end = 30, 20, 8
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	if len(lines) > most {
		lines = append(append(lines[:begin:begin], "…"), lines[len(lines)-end:]...)
	}
	text := strings.Join(lines, "\n") + "\n"
	if out == "" {
		return ""
	}
	return regexp.MustCompile(`(?m)^(plan sha256:|undo of ).*$`).ReplaceAllString(text, "…")
}
