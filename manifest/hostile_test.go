package manifest_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

func load(tb testing.TB, text string, limits manifest.Limits) (*manifest.Manifest, diag.List) {
	tb.Helper()
	return manifest.Load(tb.Context(), []string{"-"}, manifest.Options{Stdin: strings.NewReader(text), Limits: limits})
}

// bomb returns anchors, each of which uses the one before ten times.
func bomb(first, format string, levels int) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(first, "@", "a0"))
	for i := 1; i <= levels; i++ {
		list := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", ")
		fmt.Fprintf(&b, format, i, list)
	}
	return b.String()
}

func TestHostileManifestsAreErrorsAndCostLittle(t *testing.T) {
	t.Parallel()
	const mib = 1 << 16 // enough to notice costs that grow faster than the input
	costliest := []string{"a large text of others' references", "a large text of names", "a large text without references", "a scalar of many lines"}
	for name, tt := range map[string]struct {
		text string
		code string
	}{
		"brackets that never close":     {strings.Repeat("[", 2*mib), "too-large"},
		"braces that never close":       {strings.Repeat("{a: ", 2*mib), "too-large"},
		"a sequence in a sequence":      {strings.Repeat("- ", mib), "yaml-syntax"},
		"keys that are mappings":        {"? {a: b} : c\n", "bad-key"},
		"a key that is a mapping":       {"? {a: b}\n: c\n", "bad-key"},
		"a key that is an alias":        {"workspace: &a acme\n*a : b\n", "unknown-field"},
		"a scalar of many lines":        {"pages:\n- name: a\n  description: |\n" + strings.Repeat("    a line of text\n", 16*mib), "too-large"},
		"a line without an end":         {"workspace: \"" + strings.Repeat("a", 176*mib), "too-large"},
		"a million comments":            {strings.Repeat("# a\n", mib) + "a: b\n", "no-manifest"},
		"a million documents":           {strings.Repeat("--- a\n", mib/4), "wrong-type"},
		"the same key a million times":  {strings.Repeat("the-same-key:\n", mib), "duplicate-key"},
		"a million keys":                {numbered("k%d:\n", mib/4), "unknown-field"},
		"a million wrong items":         {"projects:\n" + numbered("- {key: k%d, titel: x}\n", mib/8), "unknown-field"},
		"a million unknown references":  {"projects:\n- key: a\n  work_items:\n" + numbered("  - {name: k%[1]d, parent: kk%[1]d}\n", mib/8), "unknown-reference"},
		"a million near misses":         {"projects:\n- key: a\n  cycles:\n" + numbered("  - {name: c%d}\n", mib/32) + "  work_items:\n" + numbered("  - {name: k%[1]d, cycle: cc%[1]d}\n", mib/32), ""},
		"a chain of parents":            {"projects:\n- key: a\n  work_items:\n" + numbered("  - {name: k%[1]d, parent: k%[2]d}\n", mib/8) + "  - {name: k8192, parent: k0}\n", "reference-cycle"},
		"directives":                    {numbered("%%TAG !a%d! x\n", mib/8) + "--- a\n", "too-large"},
		"a million wrong links":         {"projects:\n- key: a\n  work_items:\n  - {name: a, links: [" + numbered("a%d,", mib/16) + "]}\n", "bad-url"},
		"a NUL":                         {"a: \x00\n", "not-text"},
		"a bell":                        {"a: \x07\n", "control-character"},
		"an escape sequence":            {"a: \x1b[31m\n", "control-character"},
		"bytes that are no UTF-8":       {"a: \xff\n", "not-utf8"},
		"half a character at the end":   {"a: \xe2\x82", "not-utf8"},
		"half a surrogate":              {"a: \"\\ud800\"\n", "yaml-syntax"},
		"UTF-16":                        {"\xff\xfea\x00:\x00", "not-utf8"},
		"a bomb of items":               {"projects:\n- key: a\n  work_items:\n  - &a0 {name: a}\n" + bomb("", "  - &a%d {name: a, work_items: [%s]}\n", 12), "alias-expansion"},
		"a bomb of merge keys":          {"teamspaces:\n- key: a\n  logo_props:\n    a: &a0 {x: y}\n" + bomb("", "    a%[1]d: &a%[1]d {<<: [%[2]s]}\n", 12), ""},
		"a bomb of merge keys on items": {"teamspaces:\n- &a0 {key: a}\n" + bomb("", "- &a%d {<<: [%s]}\n", 12), "duplicate-object-key"},
		"a bomb of JSON":                {"teamspaces:\n- key: a\n  logo_props:\n    a: &a0 [x]\n" + bomb("", "    a%[1]d: &a%[1]d [%[2]s]\n", 12), "alias-expansion"},
		"a bomb of labels":              {"projects:\n- key: a\n  work_items:\n  - {name: a, labels: &a0 [x]}\n" + bomb("", "  - {name: b%d, labels: &a%[1]d [%s]}\n", 12), "wrong-type"},
		"one list of many labels, often": {
			"projects:\n- key: a\n  work_items:\n  - {name: a, labels: &l [" + numbered("l%d,", 3000) + "]}\n" + numbered("  - {name: b%d, labels: *l}\n", 3000), "alias-expansion",
		},
		"one mapping of many relations, often": {
			"projects:\n- key: a\n  work_items:\n  - {name: a, relations: &r {blocking: [" + numbered("b%d,", 3000) + "]}}\n" + numbered("  - {name: b%d, relations: *r}\n", 3000), "alias-expansion",
		},
		"an alias of its own list":                  {"projects: &a [*a]\n", "alias-cycle"},
		"an alias of its own item":                  {"projects:\n- key: a\n  work_items: &a\n  - {name: x, work_items: *a}\n", "alias-cycle"},
		"an alias of its own merge key":             {"projects:\n- &a\n  <<: [*a, *a]\n", "alias-cycle"},
		"items nested without end":                  {nestedItems(2000), "too-deep"},
		"JSON nested without end":                   {"teamspaces: [{key: a, logo_props: " + strings.Repeat("{a: ", 5000) + strings.Repeat("}", 5000) + "}]", "too-deep"},
		"a for_each in a for_each in a for_each":    {"vars: {l: [" + strings.Repeat("a,", 1000) + "]}\nprojects:\n- for_each: ${{ vars.l }}\n  key: a\n  cycles:\n  - for_each: ${{ vars.l }}\n    key: b\n  work_items:\n  - for_each: ${{ vars.l }}\n    name: c\n    work_items:\n    - for_each: ${{ vars.l }}\n      name: d\n", "template-expansion"},
		"lists made of lists":                       {"vars:\n  a: &a0 [x]\n" + bomb("", "  a%[1]d: &a%[1]d [%[2]s]\n", 12) + "projects:\n- key: a\n  labels: ${{ vars.a12 }}\n", "template-expansion"},
		"a large text, in many objects":             {"vars: {t: " + strings.Repeat("a", 8*mib) + ", l: [" + strings.Repeat("a,", 5000) + "]}\nprojects:\n- for_each: ${{ vars.l }}\n  key: a${{ each }}\n  description: a ${{ vars.t }}\n", "template-expansion"},
		"a large text, many times in a text":        {"vars: {t: " + strings.Repeat("a", 16*mib) + "}\nprojects:\n- key: a\n  description: \"" + strings.Repeat("${{ vars.t }}", 10) + "\"\n", "too-large"},
		"a large text of others' references":        {"vars: {l: [" + strings.Repeat("a,", 10_000) + "]}\nprojects:\n- for_each: ${{ vars.l }}\n  key: a${{ each }}\n  description: \"" + strings.Repeat("${{ github.ref }} ", mib/16) + "\"\n", "template-expansion"},
		"a large text without references":           {"vars: {l: [" + strings.Repeat("a,", 10_000) + "]}\nprojects:\n- for_each: ${{ vars.l }}\n  key: a${{ each }}\n  description: \"" + strings.Repeat("$", 20*mib) + "\"\n", "template-expansion"},
		"a large text of names":                     {"vars: {l: [" + strings.Repeat("a,", 10_000) + "]}\nprojects:\n- for_each: ${{ vars.l }}\n  key: a${{ each }}\n  description: \"" + strings.Repeat("$ vars.a ", 2*mib) + "\"\n", "template-expansion"},
		"a mapping of many keys, looked into often": {"vars: {l: [" + strings.Repeat("a,", 40_000) + "]}\nprojects:\n- for_each: [{" + numbered("k%d: x, ", 40_000) + "}]\n  as: m\n  key: a\n  work_items:\n  - for_each: ${{ vars.l }}\n    name: ${{ m.k39999 }}\n", "template-expansion"},
		"a for_each of itself":                      {"projects:\n- &a\n  for_each: [*a]\n  key: a\n", ""},
		"a template in itself":                      {"projects:\n- key: a\n  work_items:\n  - &a {for_each: [1, 2], name: x, work_items: [*a]}\n", "alias-cycle"},
		"references without an end":                 {"vars: {a: b}\nprojects:\n- key: a\n  description: \"" + strings.Repeat("${{ vars.a ", mib) + "\"\n", "bad-template"},
		"many unknown variables":                    {"vars: {a: b}\nprojects:\n- key: a\n  work_items:\n" + numbered("  - name: ${{ vars.k%d }}\n", mib/8), "unknown-reference"},
		"the same mistake in 1,000 objects":         {"projects:\n- for_each: [" + numbered("%d,", 1000) + "]\n  key: a${{ each }}\n  titel: x\n", "unknown-field"},
		"a variable of itself":                      {"vars: &v {a: *v}\nprojects:\n- key: a\n  name: ${{ vars.a }}\n", ""},
		"an unknown tag":                            {"projects: !!python/object:os.system [a]\n", "unknown-tag"},
		"an unknown tag on a document":              {"!x\nworkspace: acme\n", "unknown-tag"},
		"an unknown tag on a text":                  {"workspace: !!binary YWNtZQ==\n", "unknown-tag"},
	} {
		if slices.Contains(costliest, name) && !sample.Each() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			m, found := load(t, tt.text, manifest.Limits{})
			took := time.Since(begin)
			if len(found) > 101 {
				t.Errorf("%d findings are told", len(found))
			}
			codes := map[string]int{}
			for _, d := range found {
				codes[d.Code]++
				if d.Position.File != "-" && d.Code != "too-many-findings" {
					t.Errorf("no place: %v", d)
				}
				if len(d.String()) > 2000 {
					t.Errorf("a text of %d bytes: %.300s", len(d.String()), d.String())
				}
			}
			if tt.code != "" && (codes[tt.code] == 0 || len(m.Objects) > 0) {
				t.Errorf("no %s among %v; %d objects", tt.code, codes, len(m.Objects))
			}
			t.Logf("%d bytes: %v, %d findings %v", len(tt.text), took.Round(time.Millisecond), len(found), codes)
		})
	}
}

// A megabyte of the densest input costs no more memory than many megabytes of real manifests.
func TestAMegabyteIsRefusedBeforeItFillsTheMemory(t *testing.T) { //nolint:paralleltest // it measures what is allocated
	const megabyte = 1 << 20
	fill := func(before, part, after string) string {
		return before + strings.Repeat(part, megabyte/len(part)) + after
	}
	for name, text := range map[string]string{
		"commas in a list":             fill("version: 1\nprojects:\n- labels: [", "a,", "]\n"),
		"commas in a mapping":          fill("version: 1\nprojects:\n- key: a\n", "  x: {a,b,c,d}\n", ""),
		"lists in lines":               fill("version: 1\nprojects:\n", "- [a,a,a]\n", ""),
		"empty objects":                fill("version: 1\nprojects:\n- key: a\n  work_items: [", "{},", "]\n"),
		"short objects, a line each":   fill("version: 1\nprojects:\n- key: a\n  work_items:\n", "  - {a}\n", ""),
		"many objects of a few bytes":  fill("version: 1\nprojects:\n- key: a\n  work_items:\n  - {name: a, links: [", "aaaa,", "]}\n"),
		"one list of objects, by name": "version: 1\nprojects:\n- key: a\n  work_items:\n  - {name: a, links: &l [" + strings.Repeat("a,", 1000) + "]}\n" + numbered("  - {name: b%d, links: *l}\n", 30_000),
	} {
		if !sample.TakesNamed(name, 4) {
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, found := load(t, text, manifest.Limits{})
		runtime.ReadMemStats(&after)
		if !slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Code == "too-large" || d.Code == "alias-expansion" }) {
			t.Errorf("%s: not refused: %d findings, first %v", name, len(found), found[:min(1, len(found))])
		}
		if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 500 {
			t.Errorf("%s: %d MiB were allocated in all", name, mib)
		}
	}
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		if strings.Contains(format, "%[2]d") {
			fmt.Fprintf(&b, format, i, i+1)
		} else {
			fmt.Fprintf(&b, format, i)
		}
	}
	return b.String()
}

func nestedItems(levels int) string {
	return "projects: [{key: a, work_items: " + strings.Repeat("[{name: x, work_items: ", levels) + "[]" + strings.Repeat("}]", levels) + "}]"
}

func TestLimitsCanBeSet(t *testing.T) {
	t.Parallel()
	small := "projects:\n- {key: a, description: 0123456789012345678901234567890123456789}\n"
	for name, tt := range map[string]struct {
		limits manifest.Limits
		text   string
		code   string
	}{
		"the size of a file":     {manifest.Limits{FileBytes: 10}, small, "too-large"},
		"the size of a text":     {manifest.Limits{ScalarBytes: 30}, "pages:\n- name: a\n  description: |\n" + strings.Repeat("    line\n", 10), "too-large"},
		"the length of a line":   {manifest.Limits{ScalarBytes: 30}, small, "too-large"},
		"the number of elements": {manifest.Limits{Elements: 3}, small, "too-large"},
		"the depth":              {manifest.Limits{Depth: 3}, nestedItems(3), "too-deep"},
		"what aliases stand for": {manifest.Limits{Expanded: 3}, "teamspaces: [{key: a, logo_props: &a {a: 1, b: 2}}, {key: b, logo_props: *a}]", "alias-expansion"},
		"the findings":           {manifest.Limits{Findings: 2}, "version: 1\na:\nb:\nc:\n", "too-many-findings"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, found := load(t, tt.text, tt.limits)
			for _, d := range found {
				if d.Code == tt.code {
					return
				}
			}
			t.Errorf("no %s in %v", tt.code, found)
		})
	}
}

func TestOnlyErrorsAreCountedAsNotShown(t *testing.T) {
	t.Parallel()
	text := "projects:\n- {key: a, nam: x}\n" + "- {name: fine}\n- {name: good}\n" + "- {key: b, nam: x}\n- {key: c, name: [x], nam: x}\n"
	_, found := load(t, "version: 1\n"+text, manifest.Limits{Findings: 1})
	if note := found[len(found)-1]; note.Summary != "3 more errors not shown" {
		t.Errorf("%v", found)
	}
	_, found = load(t, "version: 1\nprojects:\n- {key: a, nam: x}\n- {key: b, name: fine}\n", manifest.Limits{Findings: 1})
	if len(found) != 1 {
		t.Errorf("one error, and found %v", found)
	}
}

func TestAByteOrderMarkAndAnyLineEndsAreAccepted(t *testing.T) {
	t.Parallel()
	plain := "version: 1\nprojects:\n- key: a\n  description: |\n    one\n    two – three\n  name: Größe\n"
	_, found := load(t, plain, manifest.Limits{})
	if len(found) > 0 {
		t.Fatal(found)
	}
	for name, text := range map[string]string{
		"byte order mark":        "\uFEFF" + plain,
		"line ends of Windows":   strings.ReplaceAll(plain, "\n", "\r\n"),
		"both":                   "\uFEFF" + strings.ReplaceAll(plain, "\n", "\r\n"),
		"no line end at the end": strings.TrimSuffix(plain, "\n"),
	} {
		m, found := load(t, text, manifest.Limits{})
		if len(found) > 0 || len(m.Objects) != 1 || m.Objects[0].Text("name") != "Größe" || m.Objects[0].Text("description") != "one\ntwo – three\n" {
			t.Errorf("%s: %v %v", name, found, m.Objects)
		}
	}
}

// TestCharactersAcrossBlocksAreRead reads characters that begin in one block of the file and end in the next.
func TestCharactersAcrossBlocksAreRead(t *testing.T) {
	t.Parallel()
	for shift := range 4 {
		want := strings.Repeat("x", shift) + strings.Repeat("€😀é", 50_000)
		m, found := load(t, "version: 1\nprojects:\n- {key: a, description: "+want+"}\n", manifest.Limits{})
		if len(found) > 0 || m.Objects[0].Text("description") != want {
			t.Errorf("shifted by %d: %v", shift, found)
		}
		bad := strings.Repeat("x", shift) + strings.Repeat("€😀é", 50_000) + "\xff"
		_, found = load(t, "projects:\n- {key: a, description: "+bad+"}\n", manifest.Limits{})
		if len(found) != 1 || found[0].Position.Line != 2 || found[0].Position.Column != 25+shift+150_000 {
			t.Errorf("shifted by %d: %v", shift, found)
		}
	}
}

func TestManifestsCanIncludeThousandsOfFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.yaml"), "version: 1\ninclude: [many/*.yaml]\n")
	write(t, filepath.Join(dir, "many", "0.yaml"), "version: 1\npages: [{name: A}]\ninclude: [0.yaml]\n")
	for i := range 10_000 {
		if err := os.Link(filepath.Join(dir, "many", "0.yaml"), filepath.Join(dir, "many", fmt.Sprint(i+1, ".yaml"))); err != nil {
			return // this system has no links
		}
	}
	_, found := manifest.Load(t.Context(), []string{filepath.Join(dir, "main.yaml")}, manifest.Options{})
	if len(found) != 1 || found[0].Code != "too-large" {
		t.Errorf("%d findings: %v", len(found), found[:min(3, len(found))])
	}
}

func TestInvalidTablesAreErrorsAndCostLittle(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for name, tt := range map[string]struct {
		table string
		want  string // the line and the summary
	}{
		"a table without a row":    {"a,b\n", ""},
		"nothing":                  {"", ":1: error: the file is empty"},
		"commas":                   {"a,b,c\n" + strings.Repeat("1,,\n", mib), ":234717: error: the table has too many cells"},
		"a header of commas":       {strings.Repeat("a,", mib/4) + "\n" + strings.Repeat("x,", mib) + "\n", ":1: error: two columns are called \"a\""},
		"a quotation without end":  {"a,b\n1,\"2\n3,4\n", ":2: error: a quotation that begins in this row has no end"},
		"a quotation mark inside":  {"a,b\n1,2\"3\n", ":2: error: a quotation mark stands where none may be"},
		"more cells than columns":  {"a,b\n1,2,3\n", ":2: error: the row has 3 cells, the header 2"},
		"bytes that are no UTF-8":  {"a\n\xff\n", "the file is not UTF-8"},
		"UTF-16":                   {"\xff\xfea\x00\n\x00", "the file is not UTF-8"},
		"an escape sequence":       {"a\n\x1b[31m\n", ":2: error: the cell of \"a\" contains the control character U+001B"},
		"a file that is too large": {"a\n" + strings.Repeat("x", 6*mib), "the file is larger than 5 MiB"},
		"two columns of one name":  {"a,a\n1,2\n", ":1: error: two columns are called \"a\""},
	} {
		if name == "commas" && !sample.Each() {
			continue // it takes as long as all others
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "t.csv"), tt.table)
			write(t, filepath.Join(dir, "m.yaml"), "version: 1\npages: [{name: x}, {for_each: {csv: t.csv}, name: y}]\n")
			_, found := manifest.Load(t.Context(), []string{filepath.Join(dir, "m.yaml")}, manifest.Options{})
			if said := fmt.Sprint(found); !strings.Contains(said, tt.want) || (tt.want == "") != (len(found) == 0) || len(said) > 2000 {
				t.Errorf("%.2000s", said)
			}
		})
	}
}

func TestLinksThatLeadOutOfTheFolderAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "secret.md"), "secret")
	in := filepath.Join(dir, "in")
	write(t, filepath.Join(in, "docs", "good.md"), "good")
	write(t, filepath.Join(in, "docs", "large.md"), strings.Repeat("x", 5<<20+1))
	write(t, filepath.Join(in, "docs", "binary.md"), "a\x00b")
	write(t, filepath.Join(in, "docs", "latin.md"), "\xe9t\xe9")
	for link, to := range map[string]string{"out.md": "../secret.md", "dir": "..", "inside.md": "docs/good.md"} {
		if err := os.Symlink(to, filepath.Join(in, link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	for file, code := range map[string]string{
		"out.md": "file-outside", "dir/secret.md": "file-outside", "dir/in/docs/good.md": "file-outside", "inside.md": "", "docs/good.md": "", "./docs/good.md": "",
		"docs/large.md": "file-too-large", "docs/binary.md": "file-not-text", "docs/latin.md": "file-not-text",
	} {
		name := filepath.Join(in, strings.ReplaceAll(file, "/", "_")+".yaml")
		write(t, name, "version: 1\npages: [{name: A, file: "+file+"}]\n")
		m, found := manifest.Load(t.Context(), []string{name}, manifest.Options{})
		switch {
		case code == "" && (len(found) > 0 || m.Objects[0].Text("file") != "good"):
			t.Errorf("%s: %v", file, found)
		case code != "" && (len(found) != 1 || found[0].Code != code):
			t.Errorf("%s: want %s, got %v", file, code, found)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, bytes.Clone([]byte(text)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatIsNoManifestIsNotQuoted(t *testing.T) {
	t.Parallel()
	const secret = "ghp_s3cr3t"
	for _, text := range []string{
		secret, secret + "\n", "'" + secret + "'", "!" + secret, "!" + secret + " x", "- " + secret, "# c\n" + secret, "---\n" + secret + "\n---\n" + secret,
		"machine example.com\nlogin me\npassword " + secret, "A=" + secret, "-----BEGIN KEY-----\n" + secret + "\n-----END KEY-----", "&" + secret + " x", "|\n  " + secret,
		"*" + secret, "- &" + secret + "1 x\n- *" + secret + "2",
	} {
		_, found := load(t, text, manifest.Limits{})
		if len(found) == 0 || strings.Contains(fmt.Sprint(found), secret) {
			t.Errorf("%q: %v", text, found)
		}
	}
}

func TestALinkInAFolderThatLeadsOutOfItIsNotRead(t *testing.T) {
	t.Parallel()
	outside, folder := t.TempDir(), t.TempDir()
	target := filepath.Join(outside, "key")
	text := []byte("version: 1\nworkspace: s3cr3t!\ns3cr3t: 1\n")
	if err := os.WriteFile(target, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "inside.yaml"), []byte("version: 1\npages: [{name: A, description: B}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	links := map[string]string{"a.yaml": target, "c.yaml": "inside.yaml"}
	if relative, err := filepath.Rel(folder, target); err == nil {
		links["b.yml"] = relative
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
			return // this system has no links for everybody
		}
	}
	_, found := manifest.Load(t.Context(), []string{folder}, manifest.Options{})
	if len(found) != 2 || strings.Contains(fmt.Sprint(found), "s3cr3t") {
		t.Errorf("%v", found)
	}
	for _, d := range found {
		if d.Code != "unreadable" || !strings.Contains(d.Summary, "it leads outside the folder") {
			t.Errorf("%v", d)
		}
	}
}
