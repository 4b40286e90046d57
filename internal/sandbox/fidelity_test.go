package sandbox

import (
	stdflag "flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = stdflag.Bool("update", false, "write the fidelity page and the list of differences anew") //nolint:gochecknoglobals // a flag

const (
	fidelityPage    = "../../docs/contributors/fidelity.md"
	differencesList = "testdata/behaviours/differing.txt"
)

// TestTheSandboxBehavesAsRecorded compares the sandbox with the recorded behaviour of a real server. A list holds the
// differences, so that a change of the sandbox shows which behaviour it mends or breaks; the page has the figures.
func TestTheSandboxBehavesAsRecorded(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it plays thousands of recorded requests")
	}
	if *record != "" {
		recordBehaviours(t)
	}
	var scores []score
	differences := ""
	for _, version := range Versions() {
		s := newScore(version, replayBehaviours(t, version, version))
		scores, differences = append(scores, s), differences+s.differences()
	}
	for file, now := range map[string]string{differencesList: differences, fidelityPage: fidelity(t, scores), versionsPage: versions(t)} {
		if *update {
			if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(before), "\n"), strings.Split(now, "\n")); diff != "" {
			t.Errorf("%s is not current; go test ./internal/sandbox -run BehavesAsRecorded -update writes it anew:\n%s", filepath.Base(file), diff)
		}
	}
}

// score is the recorded behaviours of a version, each once, by collection.
type score struct {
	version    string
	behaviours map[string]map[string]verdict // collection and key
	lines      int
}

// newScore counts a behaviour as differing if it differs in one of its places.
func newScore(version string, all []verdict) score {
	s := score{version, map[string]map[string]verdict{}, len(all)}
	for _, v := range all {
		in := v.collection()
		if s.behaviours[in] == nil {
			s.behaviours[in] = map[string]verdict{}
		}
		if earlier, ok := s.behaviours[in][v.key()]; !ok || len(earlier.problems) == 0 {
			s.behaviours[in][v.key()] = v
		}
	}
	return s
}

// collection returns the collection that the last word of an address names.
func (v verdict) collection() string {
	names := map[string]string{
		"states": "", "labels": "", "cycles": "", "modules": "", "links": "", "comments": "", "attachments": "", "members": "", "activities": "",
		"work-items": "", "cycle-issues": "items of cycles", "module-issues": "items of modules",
		"archived-cycles": "cycles", "archived-modules": "modules", "project-members": "members", "members-lite": "members", "project-members-lite": "members", "relations": "", "invitations": "",
	}
	for _, segment := range slices.Backward(strings.FieldsFunc(v.route(), func(r rune) bool { return r == '/' || r == ' ' })) {
		if name, ok := names[segment]; ok && name != "" {
			return name
		} else if ok {
			return segment
		}
	}
	return "projects"
}

// differing is the behaviours that differ, in the order of the recordings.
func (sc score) differing() []verdict {
	var out []verdict
	for _, in := range sc.behaviours {
		for _, v := range in {
			if len(v.problems) > 0 {
				out = append(out, v)
			}
		}
	}
	slices.SortFunc(out, func(a, b verdict) int { return strings.Compare(a.where, b.where) })
	return out
}

func (sc score) differences() string {
	var b strings.Builder
	for _, v := range sc.differing() {
		fmt.Fprintf(&b, "%s %s: %s\n", sc.version, v.where, v.operation())
		for _, problem := range v.problems {
			fmt.Fprintf(&b, "\t%s\n", shortened(problem, 240))
		}
	}
	return b.String()
}

func shortened(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// reason is why behaviours differ.
type reason struct {
	request, problem *regexp.Regexp // the differences that it explains
	text             string
}

// reasons is in the order in which they are tried. The last ones say only how a behaviour differs: nobody has mended it yet.
func reasons() []reason {
	of := func(request, problem, text string) reason {
		return reason{regexp.MustCompile(request), regexp.MustCompile(problem), text}
	}
	return []reason{
		of(``, `501`, `The sandbox does not know what the service does and says so (501).`),
		of(`projects/\{(q|made)\}/`, `^status `, `A project that was just deleted: the service still has what was in it until its worker comes to it.`),
		of(``, `^status [A-Z]+/FAA`, `The service fails (500) at input that is wrong; the sandbox answers with a refusal, or takes it.`),
		of(``, `^body\.(sort_order|sequence_id)`, `The number and place of a record count those before it: follows from an earlier difference of its scene.`),
		of(``, `^status C[A-Z]+/E`, `Not mended yet: the sandbox takes what the service refuses.`),
		of(``, `^status [EF][A-Z]+/C`, `Not mended yet: the sandbox refuses what the service takes.`),
		of(``, `^status `, `Not mended yet: both refuse, with another status.`),
		of(``, `^body\.(error|detail|non_field_errors|[a-z_.0-9]+\[0\])`, `Not mended yet: both refuse, in other words or for another mistake.`),
		of(``, ``, `Not mended yet: another value or effect.`),
	}
}

func (v verdict) reason() string {
	request, all := v.operation().String(), strings.Join(v.problems, "\n")
	if v.got == http.StatusNotImplemented {
		all = "501"
	}
	for _, r := range reasons() {
		if r.request.MatchString(request) && r.problem.MatchString(all) {
			return r.text
		}
	}
	return ""
}

const fidelityText = `<!-- Made from the code by go test ./internal/sandbox -run BehavesAsRecorded -update; changes here are lost. -->

# Fidelity of the sandbox

This page shows how closely the sandbox follows a real server. Requests were sent to the community edition. The recordings hold the answers
(status, redirect, fields, values) and the changes that later reads showed. A test plays all of them to the sandbox, compares, and makes this page.

<!-- not run: it needs the sources -->
` + "```sh" + `
go test ./internal/sandbox -run BehavesAsRecorded           # plays the recordings, checks this page
go test ./internal/sandbox -run BehavesAsRecorded -update   # writes this page anew
` + "```" + `

A behaviour is a sort of request to a route, with the shape of its answer and of its effect. Each counts once. The requests come from a table: every
field missing, null, empty, of a wrong type, too long, unknown; unknown IDs and IDs of other kinds; names and external IDs that exist; filters, pages,
orders; six people; every method with and without the slash at the end; deletion, archived projects, and reads after both.
`

// fidelity is docs/contributors/fidelity.md.
func fidelity(t *testing.T, scores []score) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(fidelityText)
	recorded := 0
	for _, s := range scores {
		recorded = s.section(&b)
	}
	b.WriteString("\nEach difference, with both answers, is a line of `internal/sandbox/testdata/behaviours/differing.txt`.\n\n" +
		"Values that depend on chance or on a worker of the service are not compared: IDs (except which record they name), times of today, icons, names of\n" +
		"people, the words of a JSON parser, the worker's additions to a link, and the order of lists that the service does not sort. Only the older\n" +
		"recordings have activities (`internal/sandbox/testdata/recordings`): the worker writes them late.\n" +
		"\n## Other editions\n\n" +
		"Nobody has recorded them. The sandbox follows the published reference and, for API v2,\n" +
		"[the service's own tests](#as-seen-in-the-services-own-tests). It answers 501 to an operation that it does not serve, and to a parameter with an\n" +
		"effect that nobody saw.\n\n" +
		"| Operations | Known | Served | Answered with 501 | Recorded behaviours |\n|---|--:|--:|--:|--:|\n")
	for _, e := range []struct {
		name, section string
		edition       Edition
		recorded      int
	}{
		{"Community edition", "community", Community, recorded},
		{"API v1 by the reference (self-hosted, commercial)", "reference", Full, 0},
		{"API v2 by the reference (cloud)", "v2", Cloud, 0},
	} {
		known, unserved := operationsUnserved(t, e.edition, e.section)
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", e.name, known, known-unserved, unserved, e.recorded)
	}
	b.WriteString(seenTable())
	return b.String()
}

// section writes the figures of a version, and returns the number of its behaviours.
func (sc score) section(b *strings.Builder) int {
	fmt.Fprintf(b, "\n## Community edition %s\n\n%d answers were recorded.\n\n", sc.version, sc.lines)
	b.WriteString("| Collection | Behaviours | Equal | Differing | Equal in % |\n|---|--:|--:|--:|--:|\n")
	row := func(name string, all, differing int) {
		fmt.Fprintf(b, "| %s | %d | %d | %d | %.1f |\n", name, all, all-differing, differing, 100*float64(all-differing)/float64(all))
	}
	sum, different := 0, 0
	for _, in := range slices.Sorted(maps.Keys(sc.behaviours)) {
		differing := 0
		for _, v := range sc.behaviours[in] {
			if len(v.problems) > 0 {
				differing++
			}
		}
		row(in, len(sc.behaviours[in]), differing)
		sum, different = sum+len(sc.behaviours[in]), different+differing
	}
	row("**all**", sum, different)
	if different == 0 {
		b.WriteString("\nNo recorded behaviour differs.\n")
		return sum
	}
	b.WriteString("\n| Behaviours | Why they differ | Collections | For example |\n|--:|---|---|---|\n")
	by := map[string][]verdict{}
	for _, v := range sc.differing() {
		by[v.reason()] = append(by[v.reason()], v)
	}
	for _, r := range reasons() {
		if found := by[r.text]; len(found) > 0 {
			in := map[string]bool{}
			for _, v := range found {
				in[v.collection()] = true
			}
			fmt.Fprintf(b, "| %d | %s | %s | `%s` |\n", len(found), r.text, strings.Join(slices.Sorted(maps.Keys(in)), ", "), found[0].example())
		}
	}
	return sum
}

// example is a request that fits into a cell of a table.
func (v verdict) example() string {
	words := strings.Fields(strings.ReplaceAll(v.operation().String(), "|", "/"))
	return shortened(strings.Join(words[1:], " "), 110)
}

// operationsUnserved counts the published operations of a section, and those to which the sandbox answers that it does not know.
func operationsUnserved(t *testing.T, edition Edition, section string) (known, unserved int) {
	t.Helper()
	s := openTest(t, Options{Edition: edition})
	for _, p := range publishedPaths()[section] {
		path := strings.ReplaceAll(strings.Replace(p.pattern, "workspaces/{}", "workspaces/"+Workspace, 1), "{}", unknownID)
		for _, method := range p.methods {
			req := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
			req.Header.Set("X-Api-Key", Key)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, req)
			if known++; w.Code == http.StatusNotImplemented {
				unserved++
			}
		}
	}
	return known, unserved
}
