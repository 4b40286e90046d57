//go:build !race

package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

const megabyte = 1 << 20

// filled is about a megabyte of one piece, between a beginning and an end. A piece may hold its number and the next.
func filled(head, piece, tail string) func() string {
	return func() string { return fill(megabyte, head, piece, tail) }
}

func fill(size int, head, piece, tail string) string {
	var b strings.Builder
	b.WriteString(head)
	for i := 0; b.Len() < size-len(tail); i++ {
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(piece, "§+", strconv.Itoa(i+1)), "§", strconv.Itoa(i)))
	}
	b.WriteString(tail)
	return b.String()
}

const inWeb = "version: 1\nworkspace: acme\nprojects:\n- key: web\n  identifier: WEB\n"

// hostileManifests are manifests of a megabyte, each of what costs most for its bytes.
func hostileManifests() map[string]func() string {
	const items = inWeb + "  work_items:\n"
	long := strings.Repeat("x", 190)
	all := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	m := map[string]func() string{
		"brackets":                      filled("", "[", ""),
		"braces":                        filled("", "{a: ", ""),
		"hyphens":                       filled("", "- ", ""),
		"question marks":                filled("", "? ", ""),
		"deep block":                    deepBlock,
		"directives":                    filled("", "%TAG !a§! x\n", "--- a\n"),
		"tags":                          filled("", "- !a§ x\n", ""),
		"anchors":                       filled("version: 1\nprojects:\n", "- &a§ x\n", ""),
		"anchors and one too much":      filled("version: 1\nprojects:\n", "- &a§ x\n", "- *a§x\n"),
		"long anchors and one too much": filled("version: 1\nprojects:\n", "- &a§"+long+" x\n", "- *a"+long+"\n"),
		"aliases":                       filled(items+"  - &a {name: a}\n", "  - *a\n", ""),
		"aliases of a text":             filled(items+"  - {name: &a x}\n", "  - {name: *a}\n", ""),
		"merge chain":                   filled("version: 1\nx-a: &a0 {a: 1}\nteamspaces:\n", "- &a§+ {<<: *a§, k§: 1}\n", ""),
		"merges of many keys":           filled("version: 1\nx-a: &a {"+all(3000, "k%d: 1, ")+"}\nteamspaces:\n", "- {<<: *a}\n", ""),
		"merge lists":                   filled("version: 1\nx-a: &a {a: 1}\nteamspaces:\n- <<: [", "*a, ", "]\n"),
		"comments":                      filled("version: 1\n", "# a\n", "a: b\n"),
		"comments among entries":        filled(items, "  - {name: a§}\n\n  # a\n\n  # b\n\n", ""),
		"comments behind":               filled(items, "  - name: a§ # b\n    # c\n", ""),
		"documents":                     filled("", "--- {version: 1}\n", ""),
		"line ends":                     filled("version: 1\nworkspace: acme\n", "\n", ""),
		"carriage returns":              filled("version: 1\nworkspace: acme\n", "\r\n", ""),
		"spaces":                        filled("version: 1\nworkspace: acme\n", " ", "x: y\n"),
		"tabs":                          filled("version: 1\nworkspace: acme\n", "\t", "x: y\n"),
		"an open quote":                 filled(items+"  - name: \"", "a\n", ""),
		"quotes":                        filled(items+"  - name: [", "'',", ""),
		"quotes in a line":              filled(items+"  - name: [", "\"a\" b ", ""),
		"an error in the last line":     filled(items, "  - {name: a§}\n", "  x\n - y: {\n"),
		"an error with deep columns":    filled(items, "   - - - a:\n", "\t- y: {\n"),
		"escapes":                       filled(items+"  - name: \"", "\\x41", "\"\n"),
		"folded":                        filled(items+"  - name: >\n", "      a\n\n", ""),
		"top keys":                      filled("version: 1\n", "k§: 1\n", ""),
		"near top keys":                 filled("version: 1\n", "project§: 1\n", ""),
		"long top keys":                 filled("version: 1\n", long+"§: 1\n", ""),
		"project keys":                  filled(inWeb, "  k§: 1\n", ""),
		"item keys":                     filled(items+"  - {name: a", ", k§: 1", "}\n"),
		"keys of JSON":                  filled("version: 1\nteamspaces:\n- name: a\n  logo_props: {", "k§: 1, ", "}\n"),
		"lists of JSON":                 filled("version: 1\nteamspaces:\n- name: a\n  logo_props: {a: [", "1,", "]}\n"),
		"unknown keys":                  filled(items, "  - {name: a§, titel: x}\n", ""),
		"long unknown keys":             filled(items, "  - {name: a§, "+long+"§: x}\n", ""),
		"the same keys":                 filled("version: 1\n", "projects:\n", ""),
		"the same names":                filled(items, "  - {name: a}\n", ""),
		"the same identifiers":          filled("version: 1\nprojects:\n", "- identifier: WEB\n", ""),
		"one project in many documents": filled("", "---\nversion: 1\nprojects: [{identifier: WEB, name: a§}]\n", ""),
		"unknown parents":               filled(items, "  - {name: a§, parent: b§}\n", ""),
		"unknown long parents":          filled(items, "  - {key: "+long+"§, name: a, parent: "+long+"x§}\n", ""),
		"near parents":                  filled(items, "  - {key: k"+long[:90]+"§, name: a, parent: k"+long[:91]+"§}\n", ""),
		"unknown cycles":                filled(inWeb+"  cycles: ["+all(5000, "{name: "+long[:90]+"%d},")+"]\n  work_items:\n", "  - {name: a§, cycle: "+long[:92]+"§}\n", ""),
		"a chain of parents":            filled(items, "  - {name: a§, parent: a§+}\n", "  - {name: the end, key: a0x}\n"),
		"a ring of parents":             ring(items, "  - {name: a§, parent: a§+}\n", "  - {key: a$, name: end, parent: a0}\n"),
		"rings of parents":              filled(items, "  - {name: a§, parent: b§}\n  - {name: b§, parent: a§}\n", ""),
		"a chain of relations":          filled(items, "  - {name: a§, relations: {blocking: [a§+]}}\n", ""),
		"a ring of relations":           ring(items, "  - {name: a§, relations: {blocking: [a§+]}}\n", "  - {key: a$, name: end, relations: {blocking: [a0]}}\n"),
		"relations all to all":          filled(items, "  - {name: a§, relations: {relates_to: ["+all(400, "a%d, ")+"]}}\n", ""),
		"relations all to all, aliases": filled(items+"  - {name: a, relations: &r {relates_to: ["+all(200, "b%d, ")+"]}}\n", "  - {name: b§, relations: *r}\n", ""),
		"labels":                        filled(items+"  - {name: a, labels: [", "l§,", "]}\n"),
		"labels of each":                filled(items, "  - {name: a§, labels: ["+all(50, "l%d,")+"]}\n", ""),
		"a list of labels, aliases":     filled(items+"  - {name: a, labels: &r ["+all(200, "b%d, ")+"]}\n", "  - {name: b§, labels: *r}\n", ""),
		"links":                         filled(items+"  - {name: a, links: [", "{url: \"https://a.b/§\"},", "]}\n"),
		"items":                         filled(items, "  - {name: a§}\n", ""),
		"short items":                   filled(items, "  - a§\n", ""),
		"links in short":                filled(items+"  - {name: a, links: [", "aaaa§,", "]}\n"),
		"nested items":                  filled(items+"  - name: a\n    work_items:\n", "    - {name: a§, work_items: [{name: b§}]}\n", ""),
		"project labels":                filled(inWeb+"  labels:\n", "  - {name: l§}\n", ""),
		"projects":                      filled("version: 1\nworkspace: acme\nprojects:\n", "- {identifier: P§, name: a§}\n", ""),
		"pages":                         filled("version: 1\nworkspace: acme\npages:\n", "- {name: p§, description: x}\n", ""),
		"files":                         filled("version: 1\nworkspace: acme\npages:\n", "- {name: p§, file: p§.md}\n", ""),
		"cycles with items":             filled(inWeb+"  cycles: [{name: c}]\n  work_items:\n", "  - {name: a§, cycle: c}\n", ""),
		"assignees":                     filled(items, "  - {name: a§, assignees: [ada@example.com]}\n", ""),
		"dates":                         filled(items, "  - {name: a§, start_date: 2026-13-01}\n", ""),
	}
	vars := "version: 1\nworkspace: acme\nvars:\n  l: [" + all(220, "%d, ") + "]\n"
	template := "projects:\n- key: web\n  identifier: WEB\n  work_items:\n  - for_each: ${{ vars.l }}\n    name: A ${{ each }}\n    key: a${{ each }}\n    work_items:\n    - for_each: ${{ vars.l }}\n      as: b\n"
	m["templates of many objects"] = func() string { return vars + template + "      name: ${{ each }} ${{ b }}\n" }
	m["templates of templates"] = func() string {
		return vars + template + "      name: b\n      work_items:\n      - for_each: ${{ vars.l }}\n        name: c\n"
	}
	m["templates of large texts"] = func() string {
		return fill(megabyte, vars+"  t: ", "x", "\n"+template+"      name: b${{ b }}\n      description: a ${{ vars.t }}\n")
	}
	m["templates of large values"] = func() string {
		return fill(megabyte/2, vars+"  t: [", "x, ", "]\n"+template+"      name: b${{ b }}\n      labels: ${{ vars.t }}\n")
	}
	m["templates of long lists"] = func() string {
		return fill(megabyte/2, "version: 1\nworkspace: acme\nprojects:\n- key: web\n  identifier: WEB\n  work_items:\n  - name: a${{ each }}\n    for_each: [", "§,", "]\n")
	}
	for _, field := range []string{"name", "key", "priority", "state", "start_date", "parent", "labels", "description_html", "estimate_point", long} {
		m["a long "+field[:min(len(field), 16)]] = filled(items+"  - {name: a, key: a, "+field+": ", "x", "}\n")
	}
	m["a long identifier"] = filled("version: 1\nprojects:\n- identifier: ", "x", "\n")
	m["a long color"] = filled(inWeb+"  labels: [{name: a, color: ", "x", "}]\n")
	m["a long url"] = filled(items+"  - {name: a, links: [{url: \"https://", "x", "\"}]}\n")
	m["a long workspace"] = filled("version: 1\nworkspace: ", "x", "\n")
	m["a long key"] = filled("version: 1\n", "x", ": a\n")
	for name, t := range hostileTexts() {
		m["Markdown: "+name] = func() string { return items + "  - name: a\n    description: " + quoted(t()) + "\n" }
		m["HTML: "+name] = func() string { return items + "  - name: a\n    description_html: " + quoted(t()) + "\n" }
	}
	return m
}

func quoted(text string) string {
	return `"` + strings.NewReplacer("\\", `\\`, "\n", `\n`, "\t", `\t`, `"`, `\"`).Replace(text) + `"`
}

func deepBlock() string {
	var b strings.Builder
	for i := 0; b.Len() < megabyte; i++ {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// ring is filled, whose end names the number after the last.
func ring(head, piece, tail string) func() string {
	return func() string {
		text := filled(head, piece, "")()
		return text + strings.ReplaceAll(tail, "$", strconv.Itoa(strings.Count(text, "\n")-strings.Count(head, "\n")))
	}
}

// hostileTexts are texts of almost a megabyte of what parsers of Markdown and HTML find hard.
func hostileTexts() map[string]func() string {
	texts := map[string]func() string{}
	for name, p := range map[string]struct{ head, piece string }{
		"list items":        {"", "- a\n"},
		"loose items":       {"", "- a\n\n"},
		"two lists":         {"", "* a\n+ a\n"},
		"ordered items":     {"", "1. a\n"},
		"nested in line":    {"", "- - - - - - - - a\n"},
		"quotations":        {"", "> "},
		"quotation lines":   {"", "> > > a\n"},
		"paragraphs":        {"", "a\n\n"},
		"lines":             {"", "a\n"},
		"emphasis":          {"", "_a_ "},
		"stars":             {"", "*a "},
		"open stars":        {"", "*"},
		"both marks":        {"", "*a_ "},
		"strong":            {"", "**a** "},
		"strike":            {"", "~~a"},
		"tildes":            {"", "~a~"},
		"brackets":          {"", "["},
		"closing":           {"", "]"},
		"links":             {"", "[a](b)"},
		"begun links":       {"", "[a]("},
		"begun titles":      {"", "[a](b \""},
		"begun pointed":     {"", "[a](<b"},
		"images":            {"", "![a](b)"},
		"begun images":      {"", "!["},
		"references":        {"", "[a]: b\n\n"},
		"many references":   {"", "[a§]: b\n"},
		"used references":   {"[a]: b\n\n", "[a] "},
		"missed references": {"", "[a§]\n\n"},
		"tables":            {"", "a|b\n-|-\nc|d\n\n"},
		"a wide table":      {strings.Repeat("|a", 3000) + "\n" + strings.Repeat("|-", 3000) + "\n", "a\n"},
		"pipes":             {"", "|"},
		"delimiters":        {"", "|-"},
		"back-ticks":        {"", "`"},
		"code spans":        {"", "`a` "},
		"growing ticks":     {"", "`a``"},
		"fences":            {"", "```\n"},
		"entities":          {"", "&amp;"},
		"ampersands":        {"", "&"},
		"number entities":   {"", "&#65;"},
		"www":               {"", "www."},
		"dots":              {"", "."},
		"mail":              {"", "a@a."},
		"https":             {"", "https://"},
		"autolinks":         {"", "<https://a>"},
		"less than":         {"", "<"},
		"begun tags":        {"", "<a "},
		"begun comments":    {"", "<!--"},
		"instructions":      {"", "<?"},
		"CDATA":             {"", "<![CDATA["},
		"declarations":      {"", "<!A "},
		"headings":          {"", "# a\n"},
		"underlined":        {"", "a\n=\n"},
		"rules":             {"", "---\n"},
		"backslashes":       {"", "\\"},
		"hard breaks":       {"", "a  \n"},
		"indented":          {"", "    a\n\n"},
		"tasks":             {"", "- [ ] a\n"},
		"tabs":              {"", "\t"},
		"spaces":            {"a", " "},
		"word":              {"", "a"},
		"words":             {"", "a "},
		"div":               {"", "<div>"},
		"b":                 {"", "<b>"},
		"b p":               {"", "<b><p>"},
		"i a b":             {"<p>", "<i>a<b>"},
		"a":                 {"", "<a href=x>"},
		"p":                 {"", "<p>a"},
		"ul":                {"", "<ul><li>"},
		"li":                {"<ul>", "<li>a"},
		"table":             {"", "<table>"},
		"cells":             {"<table><tr>", "<td>a"},
		"head cells":        {"<table><thead><tr>", "<th>a"},
		"nested tables":     {"", "<table><tr><td>"},
		"an HTML table":     {"<table><thead><tr>" + strings.Repeat("<th>a", 4000) + "<tbody>", "<tr><td>a"},
		"text in table":     {"<table>", "a<tr>"},
		"attributes":        {"<p", " a§=b"},
		"styles":            {"<p style=\"", "a:b;"},
		"classes":           {"<p class=\"", "a "},
		"pre":               {"<pre>", "\n"},
		"code":              {"<pre><code>", "`"},
		"code in a line":    {"<p><code>", "`"},
		"closing tags":      {"", "</p>"},
		"closing b":         {"<b><p>", "</b>"},
		"br":                {"", "<br>"},
		"svg":               {"", "<svg><b>"},
		"math":              {"", "<math><mi>"},
		"select":            {"", "<select><option>"},
		"template":          {"", "<template>"},
		"script":            {"", "<script>"},
		"unknown elements":  {"", "<x§>"},
		"font":              {"", "<font color=§>"},
		"formatting p":      {"", "<a><b><i><p>"},
		"nobr":              {"", "<nobr>"},
		"button":            {"", "<button><p>"},
	} {
		texts[name] = func() string { return fill(megabyte*9/10, p.head, p.piece, "") }
	}
	return texts
}

// cost is what a whole process took.
type cost struct {
	cpu time.Duration
	rss int64 // in MiB
}

// spent runs the program and measures it.
func (s *service) spent(tb testing.TB, planform string, args ...string) (cost, ran) {
	tb.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(tb.Context(), planform, args...)
	cmd.Env = append(cmd.Environ(), "PLANE_BASE_URL="+s.url, "PLANE_API_KEY="+sandbox.Key, "NO_COLOR=1", "GOGC=100", memoryFile+"="+filepath.Join(s.dir, "memory"))
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		tb.Fatal(err)
	}
	status, err := os.ReadFile(filepath.Join(s.dir, "memory"))
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var rss int64
	_, _ = fmt.Sscan(rest, &rss)
	return cost{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), rss >> 10}, ran{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// hostile says whether planform has to bear the input in this run.
func hostile(name string) bool {
	return sample.Of(various, costliest, regexp.MustCompile(``)).MatchString(name)
}

// various are inputs of each sort: syntax, references, many objects, texts.
var various = regexp.MustCompile(`^(directives|near parents|Markdown: a wide table|labels of one name)$`)

// costliest are the inputs of which each has gone beyond the bounds, or come near to them.
var costliest = regexp.MustCompile(`^(directives|links in short|a list of labels, aliases|labels|near parents|top keys|project keys|` +
	`unknown keys|merge chain|a ring of relations|nested items|Markdown: a wide table|HTML: dots|` +
	`bare items|items of one name|a chain of parents|empty rows|templates of .*|text: missed references)$`)

// What a megabyte may cost: memory, and what is told of it. The time is logged only: 2 s of a quiet machine are the aim.
const (
	mostMemory = 300 // MiB
	mostTold   = 100_000
)

func TestAMegabyteOfAnythingIsBounded(t *testing.T) {
	t.Parallel()
	planform := program(t)
	for name, text := range hostileManifests() {
		if !hostile(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{})
			s.bounded(t, planform, "plan", "-f", s.write(t, "m.yaml", text()))
		})
	}
}

// bounded runs the program, which has to keep within the bounds.
func (s *service) bounded(t *testing.T, planform string, args ...string) {
	t.Helper()
	c, r := s.spent(t, planform, args...)
	t.Logf("%.2f s of processor, %d MiB, exit %d, %d bytes told: %.100q", c.cpu.Seconds(), c.rss, r.code, len(r.err), r.err)
	if c.rss > mostMemory {
		t.Errorf("%s takes %d MiB", args[0], c.rss)
	}
	if len(r.err) > mostTold {
		t.Errorf("%s tells %d bytes", args[0], len(r.err))
	}
}

// answer is a list of a hostile service.
type answer struct {
	path  string // of the list, below the project
	rows  func() string
	names string // that a manifest looks for in it
}

// hostileAnswers are lists of a megabyte.
func hostileAnswers() map[string]answer {
	const id = `{"id":"00000000-0000-4000-8000-§","name":"a§","sequence_id":§`
	const last = `{"id":"11111111-0000-4000-8000-000000000000","name":"z","sequence_id":0}]`
	const parent = `,"parent":"00000000-0000-4000-8000-`
	m := map[string]answer{
		"items":                 {"work-items/", filled("[", id+"},", last), ""},
		"bare items":            {"work-items/", filled("[", `{"id":"00000000-0000-4000-8000-§"},`, last), ""},
		"items of one name":     {"work-items/", filled("[", `{"id":"00000000-0000-4000-8000-§","name":"Item 0"},`, last), ""},
		"a chain of parents":    {"work-items/", filled("[", id+parent+`§+"},`, last), ""},
		"parents of themselves": {"work-items/", filled("[", id+parent+`§"},`, last), ""},
		"labels of an item":     {"work-items/", filled(`[{"id":"00000000-0000-4000-8000-000000000000","name":"a","sequence_id":1,"labels":[`, `"00000000-0000-4000-8000-§",`, `"x"]}]`), ""},
		"fields of an item":     {"work-items/", filled(`[{"id":"00000000-0000-4000-8000-000000000000"`, `,"k§":1`, `}]`), ""},
		"lists in an item":      {"work-items/", filled(`[{"id":"00000000-0000-4000-8000-000000000000","a":[1`, `,[]`, `]}]`), ""},
		"empty rows":            {"work-items/", filled("[", "{},", "{}]"), ""},
		"numbers":               {"work-items/", filled("[", "1,", "1]"), ""},
		"brackets":              {"work-items/", filled("", "[", ""), ""},
		"labels":                {"labels/", filled("[", `{"id":"00000000-0000-4000-8000-§","name":"a§"},`, last), ", labels: [a1]"},
		"labels of one name":    {"labels/", filled("[", `{"id":"00000000-0000-4000-8000-§","name":"a"},`, last), ", labels: [a1]"},
		"labels of one slug":    {"labels/", filled("[", `{"id":"00000000-0000-4000-8000-§","name":"a  !"},`, last), ", labels: [a1]"},
		"a chain of labels":     {"labels/", filled("[", id+parent+`§+"},`, last), ", labels: [a1]"},
		"states":                {"states/", filled("[", `{"id":"00000000-0000-4000-8000-§","name":"a§","group":"backlog"},`, last), ", state: a2"},
		"members":               {"members/", filled("[", `{"id":"00000000-0000-4000-8000-§","display_name":"a§","email":"a§@b.c"},`, last), ", assignees: [a3]"},
	}
	for name, text := range hostileTexts() {
		m["text: "+name] = answer{"work-items/", func() string {
			return `[{"id":"00000000-0000-4000-8000-000000000000","name":"Item 0","sequence_id":1,"description_html":` + strconv.Quote(text()) + `}]`
		}, ""}
	}
	return m
}

var uuidEnd = regexp.MustCompile(`-8000-(\d{1,11})"`)

func TestAMegabyteOfAnyAnswerIsBounded(t *testing.T) {
	t.Parallel()
	planform := program(t)
	for name, answer := range hostileAnswers() {
		if !hostile(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{})
			list := uuidEnd.ReplaceAllStringFunc(answer.rows(), func(id string) string {
				return `-8000-` + strings.Repeat("0", 19-len(id)) + id[len(`-8000-`):]
			})
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/projects/"+sandboxtest.ProjectWeb+"/"+answer.path) {
					s.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, list)
			}))
			t.Cleanup(front.Close)
			s.url = front.URL
			s.bounded(t, planform, "export", "--workspace", "acme", "--to", filepath.Join(s.dir, "out"))
			s.bounded(t, planform, "plan", "--adopt-by-name", "-f", s.write(t, "m.yaml", "version: 1\nworkspace: acme\nprojects:\n- key: web\n  id: "+sandboxtest.ProjectWeb+
				"\n  work_items:\n  - {name: Item 0, description: x"+answer.names+", parent: other}\n  - {name: a1, key: other}\n"))
		})
	}
}
