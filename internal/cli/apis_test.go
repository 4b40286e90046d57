package cli_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// example is one of examples/ for the workspace acme.
func example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "\nworkspace:") {
		return string(text)
	}
	return strings.Replace(string(text), "version: 1\n", "version: 1\nworkspace: acme\n", 1)
}

// copyWiki puts the files that the examples name beside the manifest.
func copyWiki(t *testing.T, s *service) {
	t.Helper()
	if err := os.CopyFS(filepath.Join(s.dir, "wiki"), os.DirFS(filepath.Join("..", "..", "examples", "wiki"))); err != nil {
		t.Fatal(err)
	}
}

// everything is a project in which every kind that API v2 writes in batches has something to say.
func everything(n int) string {
	var b strings.Builder
	b.WriteString(migration(n, 7, 3, ", see\\n\\n- this\\n- that"))
	b.WriteString("      - {key: last, name: Last, relations: {blocked_by: [i0, i1], relates_to: [i2]}, comments: [")
	for i := range 60 {
		fmt.Fprintf(&b, "{key: c%d, text: Comment **%d**}, ", i, i)
	}
	b.WriteString("]}\ninitiatives:\n  - {name: One, projects: [web]}\n  - {name: Two, projects: [web]}\nteamspaces:\n  - {name: Core, projects: [web]}\n")
	return b.String()
}

// writeRequests is the number in a plan's JSON.
func writeRequests(t *testing.T, plan string) int {
	t.Helper()
	var p struct {
		API     string
		Summary struct{ Requests int }
	}
	if err := json.Unmarshal([]byte(plan), &p); err != nil {
		t.Fatal(err)
	}
	if p.API == "" {
		t.Error("the plan does not say which API it is for")
	}
	return p.Summary.Requests
}

func TestAPlanSaysHowManyRequestsItsApplyWrites(t *testing.T) {
	t.Parallel()
	var chain, flat strings.Builder
	chain.WriteString("version: 1\nworkspace: acme\nprojects:\n  - key: web\n    identifier: WEB\n    work_items:\n      - {key: i0, name: Item 0}\n")
	for i := range 120 { // each is the parent of the next
		fmt.Fprintf(&chain, "      - {key: i%d, name: Item %d, parent: i%d}\n", i+1, i+1, i)
	}
	flat.WriteString("version: 1\nworkspace: acme\nprojects:\n  - key: web\n    identifier: WEB\n    work_items:\n")
	for i := range 30 { // three levels
		fmt.Fprintf(&flat, "      - {key: a%[1]d, name: A %[1]d}\n      - {key: b%[1]d, name: B %[1]d, parent: a%[1]d}\n      - {key: c%[1]d, name: C %[1]d, parent: b%[1]d}\n", i)
	}
	for name, stages := range map[string][]string{
		"a migration":             {migration(130, 5, 4, ""), strings.ReplaceAll(migration(130, 5, 4, " more"), "Review", "Checked")},
		"everything":              {everything(70)},
		"a chain of parents":      {chain.String()},
		"three levels":            {flat.String()},
		"an example":              {example(t, "workspace.yaml")},
		"an example of an import": {example(t, "import.yaml")},
		"out of nothing":          {example(t, "from-nothing.yaml")},
		"items out of a sprint":   {migration(120, 0, 2, ""), strings.NewReplacer("cycle: c0", "cycle: null", "module: m0", "module: null").Replace(migration(120, 0, 2, ""))},
		"items into a sprint":     {migration(60, 0, 2, ""), strings.ReplaceAll(migration(60, 0, 2, ""), "cycle: c0", "cycle: c1")},
		"a prune":                 {migration(120, 0, 2, ""), migration(10, 0, 2, "")},
	} {
		for i, api := range []string{"v1", "v2"} {
			if !sample.Takes(len(name)+i, 3) {
				continue // a sample: by one of the two
			}
			t.Run(name+" by "+api, func(t *testing.T) {
				t.Parallel()
				s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
				copyWiki(t, s)
				for i, text := range stages {
					args := []string{"-f", s.write(t, "m.yaml", text), "--api", api, "--prune", "--refresh-all"}
					said := writeRequests(t, s.must(t, append([]string{"plan", "--output", "json"}, args...)...).out)
					before := len(s.Log())
					s.must(t, append([]string{"apply", "--yes", "--max-deletes", "1000"}, args...)...)
					writes := 0
					for _, e := range s.Log()[before:] {
						if e.Method != http.MethodGet && e.Status < 300 { // not counting redirects, and bodies that the service wants otherwise
							writes++
						}
					}
					if writes != said {
						t.Errorf("stage %d: the plan says %d requests, the apply writes %d:%s", i, said, writes, requests(s, before))
					}
				}
			})
		}
	}
}

// random is what differs between two services with the same content.
var random = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[0-9:.]+Z?|base_url: .*`)

// onlyInV2 is what API v1 cannot show: the features of the workspace and of a project.
var onlyInV2 = regexp.MustCompile(`(?m)^features:\n(?:  .*\n)*|^ *features: \{.*\}\n`)

// exported is what an export of everything writes, with IDs and times of creation taken out, and without what API v1 cannot show.
func exported(t *testing.T, s *service, api, dir string) string {
	t.Helper()
	s.must(t, "export", "--workspace", "acme", "--to", dir, "--with", "links,comments,relations", "--api", api)
	var b strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path, ".planform") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		text = membersWithRoles.ReplaceAllFunc(text, func(list []byte) []byte {
			var names []string
			for _, m := range memberWithRole.FindAllSubmatch(list, -1) {
				names = append(names, string(m[1]))
			}
			return []byte("    members: [" + strings.Join(names, ", ") + "]\n")
		})
		if text = onlyInV2.ReplaceAll(text, nil); err == nil {
			err = os.WriteFile(filepath.Join(dir, path), text, 0o600)
		}
		fmt.Fprintf(&b, "== %s\n%s", path, random.ReplaceAllString(string(text), "…"))
		return err //nolint:wrapcheck // it is shown as it is
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// membersWithRoles is the members of a project as API v2 alone shows them.
var (
	membersWithRoles = regexp.MustCompile(`(?m)^    members:\n(?:      - .*\n)+`)
	memberWithRole   = regexp.MustCompile(`(?m)^      - (?:\{user: )?([^,\n]+)`)
)

func TestBothAPIsMakeTheSame(t *testing.T) {
	t.Parallel()
	parent := regexp.MustCompile(", parent: i[0-9]+")
	for name, stages := range map[string][]string{
		"everything":       {parent.ReplaceAllString(everything(70), ""), everything(70)},
		"with new parents": {everything(70)},
		"an example":       {example(t, "workspace.yaml")},
		"out of nothing":   {example(t, "from-nothing.yaml")},
	} {
		if !sample.Each() && name != "out of nothing" {
			continue // a sample: something of every kind
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all []string
			for _, api := range []string{"v1", "v2"} {
				s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
				copyWiki(t, s)
				for _, text := range stages {
					s.must(t, "apply", "-f", s.write(t, "m.yaml", text), "--api", api)
				}
				for _, reader := range []string{"v1", "v2"} {
					folder := filepath.Join(s.dir, "by-"+reader)
					text := exported(t, s, reader, folder)
					if len(stages) == 1 { // a batch cannot hold parent and child, so that the numbers differ
						lines := strings.Split(identifiers.ReplaceAllString(text, ""), "\n")
						slices.Sort(lines)
						text = strings.Join(lines, "\n")
					}
					all = append(all, text)
					for _, planned := range []string{"v1", "v2"} {
						if r := s.must(t, "plan", "-f", folder, "--api", planned); !strings.Contains(r.out, "No changes.") {
							t.Errorf("made by %s, exported by %s, planned by %s:\n%s%s", api, reader, planned, r.out, r.err)
						}
					}
				}
			}
			for i, other := range all[1:] {
				if diff := cmp.Diff(all[0], other); diff != "" {
					t.Errorf("export %d is not as the first (-v1 +other):\n%s", i+1, diff)
				}
			}
		})
	}
}

// identifiers are the numbers of work items, where they stand, and which of two has their relation.
var identifiers = regexp.MustCompile(`(?m)^ *identifier: .*-\d+$|^[ -]+|\b[A-Z]+-\d+\b|relations: .*$`)

// listedByV2Alone reports whether a path is that of a list that API v1 has not, in any form.
func listedByV2Alone(path string) bool {
	return slices.ContainsFunc(slices.Concat(resource.Kinds(), resource.Memberships()), func(k *resource.Kind) bool {
		verb := resource.List
		if k.Membership != nil {
			verb = resource.ListMembers
		}
		list, ok := k.Op(verb, resource.V2)
		if _, v1 := k.Op(verb, resource.V1); !ok || v1 {
			return false
		}
		_, matches := list.Match(path)
		return matches
	})
}

func TestAnExportReadsTheMembersOfAllContainersFromOneList(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
	s.must(t, "apply", "-f", s.write(t, "m.yaml", migration(60, 0, 20, "")))
	sent := map[string]int{}
	for _, api := range []string{"v1", "v2"} {
		before := len(s.Log())
		exported(t, s, api, filepath.Join(s.dir, api))
		sent[api], _ = s.sent(before)
		for _, e := range s.Log()[before:] {
			if listedByV2Alone(e.Path) {
				sent[api]--
			}
		}
	}
	if sent["v1"]-sent["v2"] < 38 {
		t.Errorf("%v", sent)
	}
}

// TestMembersAreReadByAPIV1WhereV2MayNotShowThem: a token may have the scopes of one API only.
func TestMembersAreReadByAPIV1WhereV2MayNotShowThem(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud, Fault: func(r *http.Request) sandboxtest.Fault {
		if r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/api/v2/workspaces/") && !strings.Contains(r.URL.Path, "/pages/") &&
			(!listedByV2Alone(r.URL.Path) || strings.HasSuffix(r.URL.Path, "/features/")) {
			return sandboxtest.Fault{Before: sandboxtest.Problem(http.StatusForbidden, "forbidden", "forbidden")}
		}
		return sandboxtest.Fault{}
	}})
	file := s.write(t, "m.yaml", everything(20))
	s.must(t, "apply", "-f", file)
	if r := s.must(t, "plan", "-f", file); !strings.Contains(r.out, "No changes.") {
		t.Error(r.out, r.err)
	}
	exported(t, s, "v2", filepath.Join(s.dir, "out"))
}

func TestTheSandboxHasAPIV2WhereItIsAskedFor(t *testing.T) {
	t.Chdir(t.TempDir())
	s := &service{dir: "."}
	file := s.write(t, "m.yaml", "version: 1\nworkspace: acme\npages: [{name: One}]\n")
	if r := s.must(t, "plan", "-f", file, "--sandbox", "--api", "v2"); !strings.Contains(r.out, "1 request by API v2") {
		t.Error(r.out)
	}
}

func TestAServiceWithoutAPIV2(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	file := s.write(t, "m.yaml", migration(3, 0, 1, ""))
	for _, args := range [][]string{{"plan", "-f", file}, {"apply", "-f", file}, {"doctor", "-f", file}, {"export", "--workspace", "acme", "--to", filepath.Join(s.dir, "out")}} {
		const says = "--api v1, or --api auto to take what is there"
		if r := s.run(t, append(args, "--api", "v2")...); r.code != 1 || !strings.Contains(r.out+r.err, says) {
			t.Errorf("%s: exit %d\n%s%s", args[0], r.code, r.out, r.err)
		}
	}
	if r := s.must(t, "apply", "-f", file, "--api", "full"); !strings.Contains(r.out, "by API v1") || strings.Contains(r.out+r.err, "v2") {
		t.Error(r.out, r.err)
	}
}

// TestWhatAPIV2LacksIsSaidOnce, in text and in JSON.
func TestWhatAPIV2LacksIsSaidOnce(t *testing.T) {
	t.Parallel()
	for _, output := range []string{"text", "json"} {
		s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud, HasOperation: sandboxtest.FirstOperations})
		r := s.must(t, "apply", "-f", s.write(t, "m.yaml", migration(120, 0, 3, "")), "--output", output)
		if n := strings.Count(r.out+r.err, "cycles, labels, modules, states, work items were sent one by one"); n != 1 {
			t.Errorf("said %d times:\n%s%s", n, r.out, r.err)
		}
	}
}
