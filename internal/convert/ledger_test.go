package convert_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/formats"
)

// leaf is a value of an export.
type leaf struct{ path, text string }

// rewriting gives each value of an export another one that is found nowhere else. Equal values stay equal, since some refer to others.
type rewriting struct {
	texts map[string]string
	dates []string
	words map[string]bool // that formats understand
	now   []leaf          // values as they are written
}

var (
	isoDate = regexp.MustCompile(`^\d{4}-\d\d-\d\d`)
	digits  = regexp.MustCompile(`^\d+$`)
	keyLike = regexp.MustCompile(`^([A-Z]+-)(\d+)$`)
	address = regexp.MustCompile(`^[\w.+-]+@`)
	part    = regexp.MustCompile(`[^/?&=#:]+`)
	oddDate = regexp.MustCompile(`^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b.*|[A-Z][a-z]{2,8} \d+, \d{4}.*|\d+[/ .-]\w+[/ .-]\d+(?:[ ,T][\w :,.+-]*)?|-?\d\d:\d\d)$`)
	list    = regexp.MustCompile(`^\[\{|#\d|^[A-Z]+-\d+, |\([^()]*[0-9a-f]{32}[^()]*\)`) // of what has values of its own
	float   = regexp.MustCompile(`^-?\d+\.\d+$`)
)

func (rw *rewriting) collect(text string) {
	if isoDate.MatchString(text) && !slices.Contains(rw.dates, text[:10]) {
		rw.dates = append(rw.dates, text[:10])
	}
	if rw.texts[text] != "" || isURL(text) || isoDate.MatchString(text) || rw.words[text] {
		return
	}
	n := len(rw.texts) + 1
	switch m := keyLike.FindStringSubmatch(text); {
	case m != nil:
		rw.texts[text] = fmt.Sprintf("%s%d", m[1], 70_000+n)
	case digits.MatchString(text) && len(text) < 10:
		rw.texts[text] = strconv.Itoa(70_000 + n)
	case oddDate.MatchString(text), list.MatchString(text), float.MatchString(text), digits.MatchString(text):
		rw.texts[text] = text
	case address.MatchString(text):
		rw.texts[text] = fmt.Sprintf("tok%dx", n) + text
	case strings.ContainsAny(text, " \n"):
		rw.texts[text] = text + fmt.Sprintf(" tok%dx", n)
	default:
		rw.texts[text] = text + fmt.Sprintf("tok%dx", n)
	}
}

func isURL(text string) bool {
	return strings.Contains(text, "://") && !strings.ContainsAny(text, " \n{")
}

func (rw *rewriting) rewrite(path, text string) string {
	switch {
	case rw.words[text]:
	case isoDate.MatchString(text):
		slices.Sort(rw.dates)
		day := time.Date(2001, 1, 1+slices.Index(rw.dates, text[:10]), 0, 0, 0, 0, time.UTC)
		text = day.Format(time.DateOnly) + text[10:]
	case isURL(text):
		text = part.ReplaceAllStringFunc(text, func(p string) string {
			if to := rw.texts[p]; to != "" && digits.MatchString(p) || keyLike.MatchString(p) {
				return to
			}
			return p
		})
	case rw.texts[text] != "":
		text = rw.texts[text]
	}
	rw.now = append(rw.now, leaf{path, text})
	return text
}

// rewriteFile rewrites a file with each, which is called for all values in their order.
func rewriteFile(data []byte, each func(path, text string) string) ([]byte, error) {
	switch trimmed := bytes.TrimSpace(data); {
	case len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '['):
		return rewriteJSON(data, each)
	case len(trimmed) > 0 && trimmed[0] == '<':
		return rewriteXML(data, each)
	}
	return rewriteCSV(data, each)
}

func rewriteJSON(data []byte, each func(path, text string) string) ([]byte, error) {
	var visit func(path string, v any) any
	visit = func(path string, v any) any {
		switch v := v.(type) {
		case map[string]any:
			if v["type"] == "doc" { // its texts are one value
				return document(v, each(path, "A document"))
			}
			for _, name := range slices.Sorted(maps.Keys(v)) {
				v[name] = visit(strings.TrimPrefix(path+"."+name, "."), v[name])
			}
		case []any:
			for n, one := range v {
				v[n] = visit(path, one)
			}
		case string:
			if strings.TrimSpace(v) != "" {
				return each(path, v)
			}
		case json.Number:
			if v != "0" {
				return json.Number(each(path, v.String()))
			}
		}
		return v
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var out bytes.Buffer
	for {
		var v any
		switch err := d.Decode(&v); {
		case errors.Is(err, io.EOF):
			return out.Bytes(), nil
		case err != nil:
			return nil, err
		}
		line, err := json.Marshal(visit("", v))
		if err != nil {
			return nil, err
		}
		out.Write(append(line, '\n'))
	}
}

// document is a document of Jira Cloud, with a paragraph more.
func document(doc map[string]any, text string) map[string]any {
	content, _ := doc["content"].([]any)
	doc["content"] = append(content, map[string]any{"type": "paragraph", "content": []any{map[string]any{"type": "text", "text": text}}})
	return doc
}

func rewriteCSV(data []byte, each func(path, text string) string) ([]byte, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	if first, _, _ := strings.Cut(string(data), "\n"); strings.Count(first, ";") > strings.Count(first, ",") {
		r.Comma = ';'
	}
	rows, err := r.ReadAll()
	var header []string
	for n, row := range rows {
		if n == 0 && !alone(row) || len(row) > 1 && names.MatchString(row[0]+"|"+row[1]) || slices.Equal(row, header) {
			header = row
			continue
		}
		for i, cell := range row {
			switch {
			case strings.TrimSpace(cell) == "":
			case alone(row) && len(rows[0]) > 0 && alone(rows[0]): // what a sheet says above its groups
				row[i] = each("Group", cell)
			case i < len(header):
				row[i] = each(header[i], cell)
			}
		}
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.Comma = r.Comma
	err = errors.Join(err, w.WriteAll(rows))
	return out.Bytes(), err
}

// names are the first two of headers within a sheet.
var names = regexp.MustCompile(`^(?:Name\|Subitems|Subitems\|Name|Item ID\|Item Name)$`)

// alone reports a row of one cell.
func alone(row []string) bool {
	return len(slices.DeleteFunc(slices.Clone(row), func(cell string) bool { return strings.TrimSpace(cell) == "" })) == 1
}

// workbook packs sheets that are read as CSV.
func workbook(tb testing.TB, names []string, sheets map[string][]byte) []byte {
	tb.Helper()
	var list, ids strings.Builder
	parts := map[string]string{}
	for n, name := range names {
		_, of, ok := strings.Cut(name, ".xlsx/")
		if !ok {
			of = "Tasks"
		}
		fmt.Fprintf(&list, `<sheet name="%s" sheetId="%d" id="r%[2]d"/>`, of, n+1)
		fmt.Fprintf(&ids, `<Relationship Id="r%d" Target="worksheets/sheet%[1]d.xml"/>`, n+1)
		r := csv.NewReader(bytes.NewReader(sheets[name]))
		r.FieldsPerRecord = -1
		rows, err := r.ReadAll()
		if err != nil {
			tb.Fatal(err)
		}
		var b bytes.Buffer
		b.WriteString("<worksheet><sheetData>")
		for n, row := range rows {
			b.WriteString("<row>")
			for i, cell := range row {
				fmt.Fprintf(&b, `<c r="%c%d" t="inlineStr"><is><t>`, 'A'+i, n+1)
				if err := xml.EscapeText(&b, []byte(cell)); err != nil {
					tb.Fatal(err)
				}
				b.WriteString("</t></is></c>")
			}
			b.WriteString("</row>")
		}
		b.WriteString("</sheetData></worksheet>")
		parts[fmt.Sprintf("xl/worksheets/sheet%d.xml", n+1)] = b.String()
	}
	parts["xl/workbook.xml"] = "<workbook><sheets>" + list.String() + "</sheets></workbook>"
	parts["xl/_rels/workbook.xml.rels"] = "<Relationships>" + ids.String() + "</Relationships>"
	return []byte(book(tb, parts))
}

func rewriteXML(data []byte, each func(path, text string) string) ([]byte, error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	var out bytes.Buffer
	e := xml.NewEncoder(&out)
	var path []string
	field := "" // the custom field
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			err := e.Flush()
			return out.Bytes(), err
		}
		if err != nil {
			return nil, err
		}
		switch t := xml.CopyToken(token).(type) {
		case xml.StartElement:
			path = append(path, t.Name.Local)
			for n, a := range t.Attr {
				if strings.TrimSpace(a.Value) != "" && (slices.Contains(path, "item") || len(path) > 1 && path[0] == "entity-engine-xml") {
					t.Attr[n].Value = each(strings.Join(append(path, a.Name.Local), "."), a.Value)
				}
			}
			token = t
		case xml.CharData:
			if strings.TrimSpace(string(t)) != "" && slices.Contains(path, "item") {
				name := strings.Join(path, ".")
				if path[len(path)-1] == "customfieldname" {
					field = string(t)
					break
				}
				if slices.Contains(path, "customfieldvalues") {
					name = "custom field " + field
				}
				token = xml.CharData(each(name, string(t)))
			}
			if len(path) > 2 && path[0] == "entity-engine-xml" && strings.TrimSpace(string(t)) != "" {
				token = xml.CharData(each(strings.Join(path, "."), string(t)))
			}
			if len(path) == 4 && path[0] == "backup" && strings.TrimSpace(string(t)) != "" { // of a table, whose columns have their names apart
				token = xml.CharData(each(map[string]string{"integer": "Sprint.id", "string": "Sprint.name"}[path[3]], string(t)))
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.Comment, xml.ProcInst, xml.Directive:
			continue
		}
		if err := e.EncodeToken(token); err != nil {
			return nil, err
		}
	}
}

// documented are the formats that the table of the page for people names.
func documented(tb testing.TB) (names []string) {
	tb.Helper()
	page, err := os.ReadFile("../../docs/migrate.md")
	if err != nil {
		tb.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n| format |")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, row := range strings.Split(table, "\n")[2:] {
		for _, name := range quoted.FindAllStringSubmatch(strings.Split(row, "|")[1], -1) {
			names = append(names, name[1])
		}
	}
	slices.Sort(names)
	return names
}

var quoted = regexp.MustCompile("`([^`]+)`")

// TestEachValueArrivesOrIsNamed gives each value of an export a text of its own, and looks for it in what was written, from files and
// from an archive of them. Of those that are not there, as many are booked as lost or decided, under the name of their field. Each format
// that people can name, on the command line or in the table of the documentation, has a fixture here.
func TestEachValueArrivesOrIsNamed(t *testing.T) {
	t.Parallel()
	var names []string
	for _, f := range formats.All() {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	if diff := cmp.Diff(names, documented(t)); diff != "" {
		t.Errorf("the documentation names other formats (+) than the command line: %s", diff)
	}
	var read sync.Map
	t.Cleanup(func() {
		for _, name := range names {
			if _, ok := read.Load(name); !ok && !t.Failed() {
				t.Errorf("no fixture is of the format %s", name)
			}
		}
	})
	for name, f := range allFixtures() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words := map[string]bool{"not completed": true}
			for word := range strings.FieldsSeq(understood) {
				words[word] = true
			}
			r := &rewriting{texts: map[string]string{}, words: words}
			inputs, err := convert.Files(f.files, f.encoding, nil)
			if err != nil {
				t.Fatal(err)
			}
			dir, texts := t.TempDir(), map[string][]byte{}
			var sheets []string
			for _, in := range inputs {
				var data []byte
				if err := in.Read(func(text io.Reader) (err error) { data, err = io.ReadAll(text); return err }); err != nil {
					t.Fatal(err)
				}
				texts[in.Name] = data
				if _, err := rewriteFile(data, func(_, text string) string { r.collect(text); return text }); err != nil {
					t.Fatal(err)
				}
			}
			tokens := map[string]string{}
			for _, in := range inputs {
				data, err := rewriteFile(texts[in.Name], r.rewrite)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(in.Name, ".xlsx") {
					sheets, texts[in.Name] = append(sheets, in.Name), data
					continue
				}
				tokens[strings.TrimPrefix(in.Name, "testdata/")] = string(data)
			}
			if len(sheets) > 0 {
				tokens["book.xlsx"] = string(workbook(t, sheets, texts))
			}
			put(t, dir, map[string]string{"export.zip": pack(t, entries(tokens)...)})
			put(t, filepath.Join(dir, "export"), tokens)
			for from, mapping := range map[string]string{"export": "", "export.zip": "summary: full\n"} {
				to := filepath.Join(dir, "from "+from)
				put(t, to, map[string]string{"mapping.yaml": mapping})
				result := must(t, to, fixture{files: []string{filepath.Join(dir, from)}}, nil)
				read.Store(result.Report.Source.Format, true)
				accountFor(t, result.Report.Values, r.now, written(t, to))
			}
			for people, mapping := range map[string]string{"anonymous": "people: {'*': anonymous}\nsummary: full\n", "in texts": "people: {'*': text}\nsummary: short\n"} {
				to := filepath.Join(dir, people)
				put(t, to, map[string]string{"mapping.yaml": mapping})
				result := must(t, to, fixture{files: []string{filepath.Join(dir, "export")}}, nil)
				accountFor(t, result.Report.Values, nil, written(t, to))
			}
		})
	}
}

// understood are words that a format understands: another word there would be another value.
const understood = `true false TRUE FALSE open closed OPEN CLOSED completed not_planned complete incomplete template separator
	commentCard copyCommentCard createCard updateCard outgoing incoming blocked_by relates_to OPS SHOP WEB
	System.LinkTypes.Hierarchy-Reverse System.LinkTypes.Hierarchy-Forward System.LinkTypes.Dependency-Forward System.LinkTypes.Duplicate-Reverse System.LinkTypes.Related
	INWARD OUTWARD BOTH Subtask Depend Duplicate LimitedVisibility Priority Type State Assignee Subsystem Sprints Estimation DateIssueCustomField PeriodIssueCustomField
	default_task milestone approval section comment_added comment system task story attachment assigned ASSIGNED RESOLVED NEW WONTFIX P2 normal
	AttachedFile Hyperlink ArtifactLink markdown blocks related started canceled active future Sprint com.pyxis.greenhopper.jira:gh-sprint MEMBER COMPLETED NOT_PLANNED Bot User DiscussionNote Issue ISSUE board mirror Yes No
	DraftIssue PullRequest REDACTED Title Status Iteration Priority Labels Assignees Repository Backlog
	comment issue issue_comment jira_subtask IssueComponent IssueFixVersion IssueVersion WatchIssue Project sd.public.comment com.atlassian.jira.plugin.system.customfieldtypes:select
	com.atlassian.jira.plugin.system.customfieldtypes:float com.atlassian.jira.plugin.system.customfieldtypes:cascadingselect
	com.atlassian.jira.plugin.system.customfieldtypes:userpicker com.atlassian.jira.plugin.system.customfieldtypes:textarea
	com.atlassian.jira.plugin.system.customfieldtypes:datepicker`

// written is what somebody gets to see of an export: the manifests, the mapping and the list of attachments.
func written(tb testing.TB, dir string) string {
	tb.Helper()
	var b strings.Builder
	for name, text := range contents(tb, dir) {
		if !strings.HasPrefix(name, ".planform/") && !strings.HasPrefix(name, "report.") {
			b.WriteString(text)
		}
	}
	return b.String()
}

// accountFor looks for values in what was written.
func accountFor(t *testing.T, values *convert.Values, leaves []leaf, text string) {
	t.Helper()
	if sum := values.Carried + values.AsText + values.Decided + values.Lost; sum != values.Read || sum == 0 {
		t.Errorf("%d values were read, and %d booked", values.Read, sum)
	}
	text = strings.ReplaceAll(text, "\\", "")
	for _, f := range values.Fields {
		if f.Carried+f.AsText > 0 && !isFound(text, f.Example) {
			t.Errorf("%s: %q is in the account as carried, and nowhere else", f.Name, f.Example)
		}
	}
	missing := map[string][]string{}
	for _, l := range leaves {
		if !mark.MatchString(l.text) && !isoDate.MatchString(l.text) && !(digits.MatchString(l.text) && len(l.text) < 10) { // it could not be made its own
			continue
		}
		if !arrived(text, l.text) {
			missing[l.path] = append(missing[l.path], l.text)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(missing)) {
		allowed, names := 0, []string{}
		for _, f := range named(values.Fields, path) {
			allowed += f.Lost + f.Decided
			names = append(names, f.Name)
		}
		if len(names) == 0 {
			t.Errorf("%s: %q arrived nowhere, and no field of that name is in the account", path, missing[path])
		} else if len(missing[path]) > allowed {
			t.Errorf("%s: %q arrived nowhere; of %q only %d are booked as lost or decided", path, missing[path], names, allowed)
		}
	}
}

// isFound reports whether the example of a value is in what was written: all its marks, or if it has none, each of its parts, except words
// that formats understand.
func isFound(text, example string) bool {
	if marks := mark.FindAllString(example, -1); marks != nil {
		return !slices.ContainsFunc(marks, func(mark string) bool { return !strings.Contains(text, mark) })
	}
	for part := range strings.FieldsFuncSeq(example, func(r rune) bool { return strings.ContainsRune(`;"[]{}`, r) }) {
		part = strings.TrimSuffix(strings.Trim(part, " ,"), ".0")
		if part != "" && !strings.HasSuffix(part, "…") && !slices.Contains(strings.Fields(understood), part) && !isFoundInWords(text, part) {
			return false
		}
	}
	return true
}

// isFoundInWords reports whether a part of a value is in a text: as it was, as a date in another notation or zone, or word by word. Of an
// address, the last part counts.
func isFoundInWords(text, part string) bool {
	var days []time.Time
	for _, order := range []string{"dmy", "mdy"} {
		if at, ok := dates.New(time.UTC, order).Moment(part); ok {
			days = append(days, at)
		}
	}
	if n, err := strconv.ParseInt(part, 10, 64); err == nil && n > 1e11 {
		days = append(days, time.UnixMilli(n).UTC())
	}
	for _, day := range days {
		if arrived(text, day.Format(time.DateOnly)) || arrived(text, day.AddDate(0, 0, 1).Format(time.DateOnly)) {
			return true
		}
	}
	if strings.Contains(part, "://") {
		part = path.Base(part)
	}
	text = strings.ToLower(text)
	words := strings.FieldsFunc(strings.ToLower(part), func(r rune) bool { return r == ' ' || r == ',' })
	return arrived(text, strings.ToLower(part)) || len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool { return !arrived(text, word) })
}

// named are the fields of the account that a path can be: those of which most is equal, from the end.
func named(fields []convert.ValueCount, path string) (best []convert.ValueCount) {
	most := 0
	for _, f := range fields {
		n := 0
		name := f.Name
		if _, of, ok := strings.Cut(name, ": "); ok { // of what is left out
			name = of
		}
		a, b := strings.Split(path, "."), strings.Split(name, ".")
		for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
			n++
		}
		if n > most {
			most, best = n, nil
		}
		if n == most && n > 0 {
			best = append(best, f)
		}
	}
	return best
}

var mark = regexp.MustCompile(`tok\d+x`)

// arrived reports whether a value is in a text, as it was or as people write it.
func arrived(text, value string) bool {
	if token := mark.FindString(value); token != "" {
		return strings.Contains(text, token)
	}
	if n, err := strconv.Atoi(value); err == nil && strings.Contains(text, dates.Duration(n)) {
		return true
	}
	if isoDate.MatchString(value) {
		day, err := time.Parse(time.DateOnly, value[:10])
		before := day.AddDate(0, 0, -1) // a day that ends at midnight, or is another one in another zone
		return err == nil && (strings.Contains(text, value[:10]) || strings.Contains(text, before.Format(time.DateOnly)) || strings.Contains(text, day.Format("2 Jan 2006")) ||
			strings.Contains(text, before.Format("2 Jan 2006")) || strings.Contains(text, day.Format("20060102")))
	}
	return strings.Contains(text, value)
}

// TestTheFormatsAreThoseOfTheCommand: what the command reads has a fixture here, and a line in the documentation.
func TestTheFormatsAreThoseOfTheCommand(t *testing.T) {
	t.Parallel()
	page := func(name, from, to string) string {
		data, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(data), from)
		text, _, _ = strings.Cut(text, to)
		return text
	}
	var names []string
	list := page("migrate.md", "\n| format |", "\n\n")
	for _, f := range formats.All() {
		if names = append(names, f.Name); !strings.Contains(list, "`"+f.Name+"`") {
			t.Errorf("docs/migrate.md does not say what to export for %s", f.Name)
		}
	}
	if got, want := page("commands.md", "Formats are ", ", auto ("), strings.Join(names, ", "); got != want {
		t.Errorf("the command reads %s; here are fixtures of %s", got, want)
	}
}

func TestWhatNoReaderKnowsArrives(t *testing.T) {
	t.Parallel()
	const linear = `[{"id":"1","number":1,"identifier":"XY-1","title":"t","description":"**Some** text","estimate":3,"createdAt":"2023-02-20T22:38:00.000Z"}]`
	for name, tt := range map[string]struct {
		file, text string
		want       []string // in what is written
		losses     map[string]int
	}{
		"a column without a name":     {"a.csv", "Key,Title,Description,\nA-1,x,d,found value\n", []string{"column 4 | found value"}, nil},
		"an empty one is no question": {"a.csv", "Key,Title,,\nA-1,x,,\n", nil, nil},
		"JSON of another tracker":     {"a.json", linear, []string{"**Some** text", "XY-1"}, nil},
		"an unknown field of GitHub": {
			"a.json", `[{"number":1,"title":"t","html_url":"https://github.com/a/b/issues/1","issue_field_values":[{"name":"Priority","value":"P0"}],"locked":false}]`,
			[]string{`issue\_field\_values.value | P0`},
			nil,
		},
		"when GitHub closed it": {
			"a.json", `[{"number":1,"title":"t","html_url":"https://github.com/a/b/issues/1","closed_at":"2024-01-02T03:04:05Z","closed_by":{"login":"ada"}}]`,
			[]string{"Closed | 2024-01-02 03:04 UTC", "Closed by | ada"},
			nil,
		},
		"columns that GitLab added": {
			"a.csv", "Title,Issue ID,URL,State,Author,Author Username,Closed At (UTC),Epic ID,Epic Title\n" +
				"First,7,https://gitlab.com/g/p/-/issues/7,Closed,A B,ab,2024-01-03 11:12:13,42,Big Epic\n",
			[]string{"Big Epic", "2024-01-03 11:12:13"},
			nil,
		},
		"files that texts of GitLab name from the project": {
			"a.json", `[{"id":1,"iid":1,"title":"t","description":"![x](/uploads/aa/x.png)","web_url":"https://git.example.com/g/p/issues/1"}]`,
			[]string{"https://git.example.com/g/p/uploads/aa/x.png"},
			map[string]int{"attachments": 1},
		},
		"two projects of an old GitLab": {
			"a.json", `[{"id":10,"iid":1,"project_id":5,"title":"a","web_url":"https://git.example.com/g/a/issues/1"},` +
				`{"id":11,"iid":1,"project_id":6,"title":"b","web_url":"https://git.example.com/g/b/issues/1"}]`,
			[]string{"name: a", "name: b"},
			nil,
		},
		"what the SDK of Linear knows by IDs alone": {
			"a.json", `[{"id":"11","number":1,"identifier":"XY-1","title":"a","_state":{"id":"5f0d"},"_assignee":{"id":"71aa"},` +
				`"_project":{"id":"99be"},"_cycle":{"id":"c0de"}},{"id":"12","number":2,"identifier":"XY-2","title":"b","_state":{"id":"a7e1"},"_parent":{"id":"11"}}]`,
			[]string{"state: 5f0d", "state: a7e1", "Assignee in Linear: 71aa", "99be", "c0de", "parent: XY-1"},
			map[string]int{"assignees": 1},
		},
		"colours of labels and days of projects of Linear": {
			"a.json", `[{"identifier":"XY-1","title":"a","labels":{"nodes":[{"name":"web","color":"#4ea7fc"}]},` +
				`"project":{"name":"P","targetDate":"2025-01-10"}}]`,
			[]string{"#4ea7fc", "2025-01-10"},
			nil,
		},
		"iterations of GitLab, and who closed": {
			"a.json", `[{"iid":1,"title":"t","web_url":"https://git.example.com/g/p/-/issues/1","closed_by":{"name":"Ada L."},` +
				`"iteration":{"iid":4,"title":null,"start_date":"2024-01-01","due_date":"2024-01-14"}}]`,
			[]string{"Ada L.", "cycle: 2024-01-01 to 2024-01-14", "start_date: 2024-01-01", "end_date: 2024-01-14"},
			nil,
		},
		"two issues with one number, and nothing to tell them apart but titles": {
			"a.json", `[{"number":1,"title":"t","body":"b","state":"open"},{"number":1,"title":"u","body":"b","state":"open"}]`,
			nil,
			map[string]int{"doubles": 1},
		},
		"two issues with one key": {
			"a.csv", "Issue key,Issue id,Summary,Status,Comment\nA-1,10,a,To Do,\nA-1,11,b,To Do,\n",
			nil,
			map[string]int{"doubles": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path, to := filepath.Join(dir, tt.file), filepath.Join(dir, "to")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			r := must(t, to, fixture{files: []string{path}}, nil).Report
			text := written(t, to)
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in\n%s", want, text)
				}
			}
			lost := map[string]int{}
			for _, l := range r.Losses {
				lost[l.Kind] = l.Count
			}
			if !maps.Equal(lost, tt.losses) || len(r.Questions) > 0 && tt.want == nil && tt.losses == nil {
				t.Errorf("losses %v, questions %v", lost, r.Questions)
			}
		})
	}
}

// TestIssuesOfOneKeyAreNamedWhereTheyStand, such as of two sites that have a project of the same key.
func TestIssuesOfOneKeyAreNamedWhereTheyStand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const head = "Issue key,Issue id,Summary,Status\n"
	put(t, dir, map[string]string{"in/a.csv": head + "A-1,10,One,To Do\n", "in/b.csv": head + "A-1,11,Two,To Do\n"})
	r := must(t, filepath.Join(dir, "to"), fixture{files: []string{filepath.Join(dir, "in")}}, nil).Report
	said := ""
	for _, n := range r.Notes {
		if n.Kind == "clashes" {
			said = n.Text
		}
	}
	for _, want := range []string{"A-1 in ", "a.csv:2", "b.csv:2", "a folder of its own"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in %q", want, said)
		}
	}
	if r.Values.Lost != 3 { // summary, status, key
		t.Errorf("%+v", r.Values)
	}
}

func TestTitlesThatRepeatAreNoKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	mapping := filepath.Join(dir, "mapping.yaml")
	err := errors.Join(os.WriteFile(path, []byte("Title,Description\nFix login,first\nFix login,second\n"), 0o600),
		os.WriteFile(mapping, []byte("version: 1\ncolumns: {Title: key}\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	_, err = run(t, filepath.Join(dir, "to"), fixture{files: []string{path}}, func(o *convert.Options) { o.Format, o.Mapping = "csv", mapping })
	if err == nil || !strings.Contains(err.Error(), "a.csv:3: the key Fix login is that of another item, in line 2") {
		t.Error(err)
	}
}

func TestAKeyThatRepeatsIsNamedInAMappingWithAllColumns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, to := filepath.Join(dir, "a.csv"), filepath.Join(dir, "to")
	if err := os.WriteFile(path, []byte("Nr,Heading\n1,first\n1,second\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := run(t, to, fixture{files: []string{path}}, func(o *convert.Options) { o.Format = "csv" })
	if err == nil || !strings.Contains(err.Error(), "a.csv:3: the key 1 is that of another item, in line 2") {
		t.Error(err)
	}
	if mapping, err := os.ReadFile(filepath.Join(to, "mapping.yaml")); err != nil || !strings.Contains(string(mapping), "Heading: '?'") {
		t.Errorf("%v\n%s", err, mapping)
	}
}
