package docs_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// releases is what .goreleaser.yaml says about files.
type releases struct {
	Before   struct{ Hooks []string }
	Builds   []struct{ GOOS, GOARCH []string }
	Archives []struct {
		Files []content
	}
	Packages []struct {
		Formats  []string
		Contents []content
	} `yaml:"nfpms"`
	Casks []struct {
		Manpages    []string
		Completions map[string]string
	} `yaml:"homebrew_casks"`
}

// content is a file, a folder or the files of a pattern, and where a release has it.
type content struct{ Src, Dst, Type, Packager string }

func released(t *testing.T) releases {
	t.Helper()
	var r releases
	if err := yaml.Unmarshal([]byte(inRepository(t, ".goreleaser.yaml")), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Archives) != 1 || len(r.Packages) != 1 || len(r.Casks) != 1 || len(r.Builds) != 1 {
		t.Fatalf("this test does not know %+v", r)
	}
	return r
}

func inRepository(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// holds lists the files of contents by their names in an archive, a deb or an rpm.
func (rl releases) holds(t *testing.T, contents []content, format string) map[string]bool {
	t.Helper()
	root, held := os.DirFS("../.."), map[string]bool{}
	for _, c := range contents {
		if c.Packager != "" && c.Packager != format {
			continue
		}
		if strings.HasPrefix(c.Src, ".cache/") { // a hook writes it
			if !slices.ContainsFunc(rl.Before.Hooks, func(hook string) bool { return strings.Contains(hook, ">"+c.Src+`"`) }) {
				t.Errorf("no hook of .goreleaser.yaml writes %s", c.Src)
			}
			held[c.Dst] = true
			continue
		}
		if c.Type == "tree" {
			t.Errorf(".goreleaser.yaml: %s would have the times of the checkout", c.Src)
		}
		names, err := fs.Glob(root, c.Src)
		if err != nil || len(names) == 0 {
			t.Errorf(".goreleaser.yaml names %s, which is not there: %v", c.Src, err)
		}
		for _, name := range names {
			err := fs.WalkDir(root, name, func(file string, d fs.DirEntry, err error) error {
				switch {
				case err != nil || d.IsDir():
				case c.Dst == "":
					held[file] = true
				case c.Src != name: // a pattern
					held[path.Join(c.Dst, strings.TrimPrefix(file, path.Dir(c.Src)))] = true
				default:
					held[path.Join(c.Dst, strings.TrimPrefix(file, name))] = true
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return held
}

// TestAReleaseHoldsWhatItsPagesName: whoever unpacks an archive or installs a package can run the README's first command and
// follow the links.
func TestAReleaseHoldsWhatItsPagesName(t *testing.T) {
	t.Parallel()
	r := released(t)
	places := map[string]map[string]bool{"archive": r.holds(t, r.Archives[0].Files, "archive")}
	for _, format := range r.Packages[0].Formats {
		places[format] = r.holds(t, r.Packages[0].Contents, format)
	}
	for format, held := range places {
		folder := ""
		if format != "archive" {
			folder = "usr/share/doc/planform/"
			held = underRoot(held)
			for _, name := range []string{
				"usr/share/man/man1/planform.1.gz", "usr/share/bash-completion/completions/planform", "usr/share/fish/vendor_completions.d/planform.fish",
			} {
				if !held[name] {
					t.Errorf("%s: %s is missing", format, name)
				}
			}
		}
		named := []string{"README.md", "examples/workspace.yaml", "schema/planform.schema.json"}
		for name := range held {
			page, isPage := strings.CutPrefix(name, folder)
			if !isPage || path.Ext(page) != ".md" {
				continue
			}
			for _, m := range regexp.MustCompile(`\]\(([^)#:]+)[)#]|[ (](examples/\w+\.yaml)`).FindAllStringSubmatch(prose(inRepository(t, page)), -1) {
				if named = append(named, path.Join(path.Dir(page), m[1])); m[2] != "" {
					named[len(named)-1] = m[2]
				}
			}
		}
		for _, name := range named {
			if !held[folder+name] && !slices.ContainsFunc(slices.Collect(maps.Keys(held)), func(file string) bool { return strings.HasPrefix(file, folder+name+"/") }) {
				t.Errorf("the %s does not hold %s", format, name)
			}
		}
	}
}

// underRoot are names as fs has them.
func underRoot(held map[string]bool) map[string]bool {
	names := map[string]bool{}
	for name := range held {
		names[strings.TrimPrefix(name, "/")] = true
	}
	return names
}

// prose is a page without its blocks of code.
func prose(page string) string {
	return regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(page, "")
}

func TestAReleaseHoldsCompletionForEveryShell(t *testing.T) {
	t.Parallel()
	r := released(t)
	scripts, err := os.ReadDir("../cli/completion")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		if !slices.ContainsFunc(r.Archives[0].Files, func(c content) bool { return c.Src == "internal/cli/completion/"+script.Name() }) {
			t.Errorf("no archive has completion for %s", script.Name())
		}
	}
	held := r.holds(t, r.Archives[0].Files, "archive")
	for _, name := range slices.AppendSeq(r.Casks[0].Manpages, maps.Values(r.Casks[0].Completions)) {
		if !held[name] {
			t.Errorf("the cask takes %s out of the archive, which does not hold it", name)
		}
	}
}

// TestThePagesNameFilesThatReleasesHave: what is downloaded in one line has to be there.
func TestThePagesNameFilesThatReleasesHave(t *testing.T) {
	t.Parallel()
	r := released(t)
	files := []string{"checksums.txt", "checksums.txt.sigstore.json"}
	for _, system := range r.Builds[0].GOOS {
		for _, machine := range r.Builds[0].GOARCH {
			for _, ending := range append([]string{"tar.gz", "zip"}, r.Packages[0].Formats...) {
				if (ending == "zip") == (system == "windows") && (system == "linux" || ending == "zip" || ending == "tar.gz") {
					files = append(files, fmt.Sprintf("planform_%s_%s.%s", system, machine, ending))
				}
			}
		}
	}
	if template := `name_template: "{{ .ProjectName }}_{{ .Os }}_{{ .Arch }}"`; strings.Count(inRepository(t, ".goreleaser.yaml"), template) != 2 {
		t.Errorf("the files of a release are not named by %s", template)
	}
	for _, page := range []string{"README.md", "docs/install.md", "SECURITY.md", ".github/action/install.sh"} {
		text := inRepository(t, page)
		for _, name := range regexp.MustCompile(`planform_\w+\.(tar\.gz|zip|deb|rpm)|checksums\.\w+(\.\w+)*`).FindAllString(text, -1) {
			if !slices.Contains(files, strings.TrimSuffix(name, ".")) {
				t.Errorf("%s names %s, which no release has", page, name)
			}
		}
		for _, system := range regexp.MustCompile(`(linux|darwin|windows)_\w+`).FindAllString(text, -1) {
			if !slices.ContainsFunc(files, func(file string) bool { return strings.HasPrefix(file, "planform_"+system+".") }) {
				t.Errorf("%s names %s, which no release is built for", page, system)
			}
		}
	}
}

// TestAReleaseIsMadeByPinnedTools: a tag that is built again gives the same files.
func TestAReleaseIsMadeByPinnedTools(t *testing.T) {
	t.Parallel()
	workflow := inRepository(t, ".github/workflows/release.yml")
	for _, m := range regexp.MustCompile(`uses: (\S+)`).FindAllStringSubmatch(workflow, -1) {
		if !regexp.MustCompile(`@[0-9a-f]{40}$`).MatchString(m[1]) {
			t.Errorf("%s has no commit", m[1])
		}
	}
	versions := regexp.MustCompile(`(?m)^\s+(?:go-)?version: (.*)$`).FindAllStringSubmatch(workflow, -1)
	for _, m := range versions {
		if !regexp.MustCompile(`^v\d+\.\d+\.\d+$`).MatchString(m[1]) {
			t.Errorf("version: %s is not one version", m[1])
		}
	}
	if len(versions) == 0 || !strings.Contains(inRepository(t, ".github/workflows/ci.yml"), versions[0][0]) {
		t.Error("ci.yml tries another goreleaser than release.yml releases with")
	}
	if !strings.Contains(workflow, "go-version-file: go.mod") || !regexp.MustCompile(`(?m)^toolchain go1\.\d+\.\d+$`).MatchString(inRepository(t, "go.mod")) {
		t.Error("no toolchain line in go.mod says which Go builds a release")
	}
}
