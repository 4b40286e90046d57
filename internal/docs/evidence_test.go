package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const evidencePage = "../../docs/contributors/evidence.md"

// testFiles is the text of the files of tests below a folder of the repository, joined.
func testFiles(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(filepath.Join("../..", dir), func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		out.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTheEvidencePageNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(evidencePage)
	if err != nil {
		t.Fatal(err)
	}
	tests := testFiles(t, ".")
	names := regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]*)`").FindAllStringSubmatch(string(page), -1)
	if len(names) < 15 {
		t.Fatalf("only %d tests", len(names))
	}
	for _, name := range names {
		if !strings.Contains(tests, "func "+name[1]+"(") {
			t.Errorf("%s does not exist", name[1])
		}
	}
}

// A pattern that matches nothing is no error of go test, and an unknown flag is one only after minutes.
func TestTheCommandsOfTheEvidencePageRunSomething(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(evidencePage)
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`func (Test\w+)\(`)
	known := []string{"run", "timeout", "v", "seed", "C"} // of go test itself, and one that a comment tells of
	commands := regexp.MustCompile("go (?:-C \\S+ )?test [^`#\\n]*").FindAllString(string(page), -1)
	if len(commands) < 9 {
		t.Fatalf("only %d commands", len(commands))
	}
	for _, command := range commands {
		words := strings.Fields(command)
		dir, pattern, folders := ".", ".", []string{}
		for i, word := range words {
			flag, isFlag := strings.CutPrefix(word, "-")
			switch {
			case word == "-C":
				dir = words[i+1]
			case word == "-run":
				pattern = words[i+1]
			case strings.HasPrefix(word, "./"):
				folders = append(folders, filepath.Join(dir, strings.TrimSuffix(word, "...")))
			case isFlag && !slices.Contains(known, flag) && !strings.HasPrefix(flag, "rapid."):
				if !strings.Contains(testFiles(t, dir), `("`+flag+`"`) {
					t.Errorf("%s: no test has the flag -%s", command, flag)
				}
			}
		}
		if len(folders) == 0 {
			folders = append(folders, dir)
		}
		for _, folder := range folders {
			matches := false
			for _, name := range declared.FindAllStringSubmatch(testFiles(t, folder), -1) {
				matches = matches || regexp.MustCompile(pattern).MatchString(name[1])
			}
			if !matches {
				t.Errorf("%s: no test of %s matches", command, folder)
			}
		}
	}
}

func TestTheCommitsOfTheEvidencePageAreInTheHistory(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(evidencePage)
	if err != nil {
		t.Fatal(err)
	}
	history, err := exec.CommandContext(t.Context(), "git", "rev-list", "HEAD").Output()
	shallow, _ := exec.CommandContext(t.Context(), "git", "rev-parse", "--is-shallow-repository").Output()
	if err != nil || strings.TrimSpace(string(shallow)) != "false" {
		t.Skip("no git, or not the whole history")
	}
	var known []string
	for commit := range strings.Lines(string(history)) {
		known = append(known, commit[:7])
	}
	ids := regexp.MustCompile("`([0-9a-f]{7})`").FindAllStringSubmatch(string(page), -1)
	if len(ids) < 50 {
		t.Fatalf("only %d commits", len(ids))
	}
	for _, id := range ids {
		if !slices.Contains(known, id[1]) {
			t.Errorf("%s is not in the history", id[1])
		}
	}
}
