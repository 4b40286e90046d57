package cli_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheReleaseHoldsWhatTheReadmeNames: whoever unpacks an archive can run the README's first command and follow its links.
func TestTheReleaseHoldsWhatTheReadmeNames(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../..")
	read := func(name string) string {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var patterns []string
	for _, m := range regexp.MustCompile(`(?m)^\s+- src: (\S+)$`).FindAllStringSubmatch(read(".goreleaser.yaml"), -1) {
		patterns = append(patterns, m[1])
	}
	held := func(name string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			if folder, deep := strings.CutSuffix(p, "/**/*"); deep {
				return strings.HasPrefix(name, folder+"/") && strings.Count(name, "/") > strings.Count(folder, "/")+1
			}
			ok, _ := path.Match(p, name)
			return ok || name == p
		})
	}
	named := []string{"examples/workspace.yaml", "schema/planform.schema.json"}
	for _, m := range regexp.MustCompile(`\]\(([^)#:]+)\)|(examples/\w+\.yaml)`).FindAllStringSubmatch(read("README.md"), -1) {
		named = append(named, m[1]+m[2])
	}
	for _, name := range named {
		info, err := root.(interface {
			Stat(string) (os.FileInfo, error)
		}).Stat(name)
		if err != nil {
			t.Errorf("the README names %s, which is not there", name)
			continue
		}
		if info.IsDir() {
			name += "/workspace.yaml"
		}
		if !held(name) {
			t.Errorf("no release archive holds %s", name)
		}
	}
}
