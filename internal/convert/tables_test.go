package convert_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/formats"
	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/text/diag"
)

// tables are exports that are tables, with what a person counts in them.
func tables() map[string]struct {
	fixture

	want convert.Counts
} {
	type states = map[string]int
	all := map[string]struct {
		fixture

		want convert.Counts
	}{}
	add := func(name string, want convert.Counts, files ...string) {
		one := all[name]
		one.want = want
		for _, file := range files {
			one.files = append(one.files, "testdata/"+file)
		}
		all[name] = one
	}
	add("table-csv", convert.Counts{Items: 3, Relations: 2, Parents: 1, Labels: 2, People: 2, States: states{"New": 1, "In review": 1, "done": 1}}, "table.csv")
	add("table-xlsx", convert.Counts{Items: 3, Labels: 2, People: 1, Parents: 1, States: states{"Open": 2, "Closed": 1}}, "table.xlsx")
	add("table-jsonl", convert.Counts{Items: 2, Labels: 2, People: 1, Parents: 1, States: states{"open": 1, "closed": 1}}, "table.jsonl")
	add("gitlab-csv", convert.Counts{Items: 4, Parents: 1, Labels: 3, People: 2, States: states{"in review": 1, "Open": 1, "Closed": 1}}, "gitlab.csv")
	add("gitlab-json", convert.Counts{Items: 2, Comments: 3, Labels: 2, People: 2, States: states{"Open": 1, "Closed": 1}}, "gitlab.json", "gitlab-notes.json")
	add("asana", convert.Counts{Items: 6, Relations: 2, Parents: 2, Labels: 2, People: 2, States: states{"To do": 4, "Done": 1, "": 1}}, "asana.csv")
	add("azure", convert.Counts{Items: 4, Parents: 2, Labels: 2, People: 2, States: states{"Active": 1, "Resolved": 1, "Removed": 1, "New": 1}}, "azure.csv")
	add("clickup", convert.Counts{Items: 2, Comments: 2, Parents: 1, Labels: 2, Attachments: 1, People: 4, States: states{"in progress": 1, "complete": 1}}, "clickup.csv")
	add("redmine", convert.Counts{Items: 4, Relations: 3, Parents: 1, People: 2, States: states{"In Progress": 1, "Closed": 1, "New": 1}}, "redmine.csv")
	add("youtrack", convert.Counts{Items: 3, Relations: 1, Labels: 2, People: 2, States: states{"Submitted": 1, "Fixed": 1, "Can't Reproduce": 1}}, "youtrack.csv")
	add("shortcut", convert.Counts{Items: 3, Labels: 2, People: 2, States: states{"Ready for Deploy": 1, "Shipped out": 1, "Unstarted": 1}}, "shortcut.csv")
	add("plane-csv", convert.Counts{Items: 2, Comments: 1, Relations: 1, Parents: 1, Labels: 2, People: 2, States: states{"In Progress": 1, "Done": 1}}, "plane.csv")
	add("plane-json", convert.Counts{Items: 2, Comments: 2, Relations: 1, Parents: 1, Labels: 1, People: 2, States: states{"Todo": 1, "Done": 1}}, "plane.json")
	redmine := all["redmine"]
	redmine.encoding = "windows-1252"
	all["redmine"] = redmine
	return all
}

// allFixtures are the exports of all formats.
func allFixtures() map[string]fixture {
	all := fixtures()
	for name, f := range tables() {
		all[name] = f.fixture
	}
	return all
}

func TestCountsOfTablesAreThoseThatAPersonCounts(t *testing.T) {
	t.Parallel()
	for name, tt := range tables() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := must(t, t.TempDir(), tt.fixture, nil)
			if diff := cmp.Diff(tt.want, r.Report.Counts); diff != "" {
				t.Error(diff)
			}
			everyItem(t, r.Report)
			format := strings.TrimPrefix(name, "table-")
			if format, _, _ = strings.Cut(format, "-"); r.Report.Source.Format != format || !strings.HasPrefix(r.Report.Source.DetectedBy, "the column") {
				t.Errorf("%+v", r.Report.Source)
			}
		})
	}
}

// book is a spreadsheet of the parts.
func book(tb testing.TB, parts map[string]string) string {
	tb.Helper()
	all := map[string]string{
		"[Content_Types].xml":        "<Types/>",
		"xl/workbook.xml":            `<workbook><sheets><sheet name="old" sheetId="1" state="hidden" id="r1"/><sheet name="Tasks" sheetId="2" id="r2"/><sheet name="Notes" sheetId="3" id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Target="/xl/worksheets/sheet2.xml"/></Relationships>`,
		"xl/styles.xml":              `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy\ hh:mm"/><numFmt numFmtId="165" formatCode="&quot;Days: &quot;0"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>`,
	}
	maps.Copy(all, parts)
	return pack(tb, entries(all)...)
}

const sheet2 = `<?xml version="1.0"?><worksheet><sheetData>
<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>Title</t></is></c><c r="C1" t="str"><v>Status</v></c><c r="D1" t="str"><v>Due date</v></c><c r="E1" t="str"><v>Created</v></c><c r="F1" t="str"><v>Tags</v></c><c r="G1" t="str"><v>Parent</v></c><c r="H1" t="str"><v>Effort</v></c><c r="I1" t="str"><v>Done?</v></c><c r="J1" t="str"><v>Owner</v></c></row>
<row r="3"><c r="A3"><v>101</v></c><c r="B3" t="s"><v>1</v></c><c r="C3" t="str"><v>Open</v></c><c r="D3" s="1"><v>46015</v></c><c r="E3" s="2"><v>45964.395833333336</v></c><c r="F3" t="str"><v>a
b</v></c><c r="H3" s="3"><v>2.5</v></c><c r="I3" t="b"><v>1</v></c><c r="J3" t="str"><v>ada@example.com</v></c></row>
<row r="4" hidden="1"><c r="A4"><v>102</v></c><c r="B4" t="s"><v>2</v></c><c r="C4" t="str"><v>Closed</v></c><c r="G4"><v>101</v></c><c r="H4" t="e"><v>#N/A</v></c></row>
<row r="5"><c r="A5"><f>A4+1</f><v>103</v></c><c r="C5" t="str"><v>Open</v></c></row>
</sheetData><mergeCells count="1"><mergeCell ref="B4:B5"/></mergeCells></worksheet>`

const strings2 = `<sst><si><t>No</t></si><si><r><t>Rich </t></r><r><t>text_x000A_here</t></r><rPh><t>x</t></rPh></si><si><t>Second</t></si></sst>`

func TestWhatIsNoTableIsAnErrorAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	sheet := func(text string) string {
		return book(t, map[string]string{"xl/worksheets/sheet2.xml": text, "xl/sharedStrings.xml": strings2})
	}
	whole := sheet(sheet2)
	const head = "Key,Title\n"
	for name, tt := range map[string]struct{ file, format, want, hint string }{
		"a table needs a column that is known as the key":            {"a,b\n1,2\n", "csv", "FILE:1: no column is known as the key", `columns: {"a": key}`},
		"records need a field that is known as the key":              {`{"a": 1}`, "jsonl", "FILE:1: no column is known as the key", `columns: {"a": key}`},
		"a text is no table":                                         {"hello\nworld\n", "csv", "FILE:1: the header has none", "must name its columns"},
		"an empty file is no table":                                  {"", "csv", "FILE: the file is empty", ""},
		"a header alone has no issue":                                {head, "csv", "FILE: there is no issue in it", ""},
		"each row needs a key":                                       {"Key,Title,Status\nA-1,x,y\n,y,z\n", "csv", "FILE:3: the row has no Key", "mapping"},
		"a number that a spreadsheet rounded is no key":              {head + "1.21143E+15,x\n", "csv", "FILE:2: the key 1.21143E+15 is no whole number", "spreadsheet"},
		"two items may not have one key":                             {head + "A,x\nB,y\nA,z\n", "csv", "FILE:4: the key A is that of another item, in line 2", "columns:"},
		"a cell may not have 20 MB":                                  {head + "A,\"" + strings.Repeat(strings.Repeat("x", 1<<20)+"\n", 20) + "\"\n", "csv", "FILE:2: the row that begins here is larger than 16 MiB", "quotation mark"},
		"a quotation mark within a cell is written twice":            {head + "A,x\nB \"y\",z\n", "csv", "FILE:3:3: a quotation mark", "twice"},
		"a CSV that ends within a quotation is cut off":              {head + "A,\"x", "csv", "FILE:2: a quotation that begins in this row has no end", "cut off"},
		"a JSON that ends within a value is cut off":                 {"{\"key\": 1, \"title\": \"a\"}\n{\"key\": 2, \"ti", "jsonl", "FILE:2: the file ends within a value", "cut off"},
		"an array without an end is cut off":                         {`[{"key": 1, "title": "a"}`, "jsonl", "FILE:1: the file ends within a value", "cut off"},
		"a broken JSON names its line":                               {"{\"key\": 1}\n{\"key\" 2}", "jsonl", "FILE:2: it is not JSON", ""},
		"a number is no record":                                      {"{\"key\": 1}\n2\n", "jsonl", "FILE:2: here is 2, where an object is expected", ""},
		"a record may not have too many names":                       {`{"key": 1, "a": {` + manyNames() + `}}`, "jsonl", "FILE:1: a record has more than 2000 names", ""},
		"a number that a spreadsheet rounded is no key of Asana":     {"Task ID,Name,Section/Column\n1.21143E+15,a,b\n", "asana", "FILE:2: the key 1.21143E+15 is no whole number", "spreadsheet"},
		"a number that a spreadsheet rounded is no parent":           {"Task ID,Task Name,Parent ID\nA,a,1.2E+9\n", "clickup", "FILE:2: the parent 1.2E+9 is no whole number", "spreadsheet"},
		"an export of another tracker names both":                    {"Task ID,Task Name\nA,a\n", "asana", "FILE:1: it is clickup, not asana", "planform convert clickup"},
		"an unknown separator is an error":                           {"Key^Title\nA-1^One\n", "csv", "FILE:1: the header has none of the expected columns", "commas, semicolons or tabs"},
		"a header of Redmine in another language needs columns":      {"#;Projekt;Thema\n1;a;b\n", "redmine", "FILE:1: the header has none of the expected columns", "columns:"},
		"notes without issues are an error":                          {`[{"noteable_iid": 1, "body": "x"}]`, "gitlab", "FILE: there is no issue in it", ""},                                                   //nolint:misspell // GitLab's word
		"each record of notes is a note":                             {`[{"noteable_iid": 1, "body": "x"}, {"body": "y", "system": false}]`, "gitlab", "FILE:1: the row has no column, which is the key", ""}, //nolint:misspell // likewise
		"an export of GitLab that ends within a value is cut off":    {"[{\"iid\": 1, \"title\": \"a\", \"web_url\": \"b\"},\n{\"iid\": 2, \"ti", "gitlab", "FILE:2: the file ends within a value", "cut off"},
		"an export of Plane that ends within a quotation is cut off": {"ID,Project Identifier,Sequence ID,Name\nA-1,A,1,\"x", "plane", "FILE:2: a quotation that begins in this row has no end", "cut off"},
		"each row of Azure needs an ID":                              {"ID,Work Item Type,Title\n1,Bug,a\n,Bug,b\n", "azure", "FILE:3: the row has no ID", ""},
		"a spreadsheet that is cut is an error":                      {whole[:len(whole)-30], "xlsx", "FILE: the archive is damaged or cut off", "again"},
		"an archive without files is no spreadsheet":                 {"PK\x05\x06" + strings.Repeat("\x00", 18), "auto", "FILE", ""},
		"a text is no spreadsheet":                                   {"key,title\n1,a\n", "xlsx", "FILE: it is no spreadsheet", "planform convert csv"},
		"a broken cell of a spreadsheet is named":                    {sheet("<worksheet><sheetData>\n<row><c r='A1'></row>"), "xlsx", "FILE: xl/worksheets/sheet2.xml:2: the cell A1: XML syntax error", "damaged"},
		"a text that is not there":                                   {sheet("<worksheet><sheetData><row><c r='A1' t='s'><v>9</v></c></row></sheetData></worksheet>"), "xlsx", `FILE: xl/worksheets/sheet2.xml:1: the cell A1: there is no text number "9"`, ""},
		"a cell that is not there":                                   {sheet("<worksheet><sheetData><row><c r='ZZZZ1'><v>9</v></c></row></sheetData></worksheet>"), "xlsx", `FILE: xl/worksheets/sheet2.xml:1: there is no cell "ZZZZ1"`, ""},
		"XML entities": {
			book(t, map[string]string{"xl/worksheets/sheet2.xml": sheet2, "xl/sharedStrings.xml": `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><sst><si><t>&b;</t></si></sst>`}), "xlsx",
			"FILE: xl/sharedStrings.xml:1: it has a DOCTYPE", "save the file again",
		},
		"a spreadsheet with an exponent":    {sheet(strings.Replace(sheet2, "<v>101</v>", "<v>1.211430000012345E+15</v>", 1)), "xlsx", "FILE:3: the key 1.211430000012345E+15 is no whole number", "spreadsheet"},
		"a spreadsheet with a key for none": {sheet(strings.Replace(sheet2, "<v>102</v>", "", 1)), "xlsx", "FILE:4: the row has no No", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, tt.file, tt.format, tt.want, tt.hint)
		})
	}
}

// refuses holds that a file of a format is no export of it, and that nothing is written.
func refuses(t *testing.T, text, format, want, hint string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "export."+format)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := run(t, filepath.Join(dir, "to"), fixture{files: []string{file}}, func(o *convert.Options) { o.Format = format })
	if err == nil || !strings.HasPrefix(strings.ReplaceAll(err.Error(), file, "FILE"), want) || !strings.Contains(diag.HintOf(err), hint) {
		t.Errorf("%v (%s), want %s", err, diag.HintOf(err), want)
	}
	all := contents(t, dir)
	if _, asked := errors.AsType[convert.ColumnsError](err); asked && strings.Contains(all["to/mapping.yaml"], "columns:") {
		delete(all, "to/mapping.yaml")
	}
	if len(all) > 0 {
		t.Errorf("something was written: %v", all)
	}
}

func TestWhatUnpacksToTooMuchIsRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file               func() string
		format, want, hint string
	}{
		"a string of 70 MB": {func() string {
			return "{\"key\": 1}\n{\"key\": \"" + strings.Repeat("x", 70<<20) + "\"}"
		}, "jsonl", "FILE:2: the value that begins here is larger than 64 MiB", ""},
		"a spreadsheet": {func() string {
			return book(t, map[string]string{"xl/worksheets/sheet2.xml": "<worksheet><sheetData>" + strings.Repeat(" ", 129<<20), "xl/sharedStrings.xml": strings2})
		}, "xlsx", "FILE: xl/worksheets/sheet2.xml: more than 128 MiB unpacked", ""},
		"one long text that many cells show": {func() string {
			return book(t, map[string]string{
				"xl/sharedStrings.xml":     "<sst><si><t>" + strings.Repeat("x", 1<<20) + "</t></si></sst>",
				"xl/worksheets/sheet2.xml": "<worksheet><sheetData>" + strings.Repeat("<row><c t='s'><v>0</v></c></row>", 1000) + "</sheetData></worksheet>",
			})
		}, "xlsx", "FILE: xl/worksheets/sheet2.xml: more than 128 MiB unpacked", ""},
		"an archive": {func() string {
			return pack(t, entry{name: "a.csv", text: oneIssue + strings.Repeat(" ", 120<<20)})
		}, "auto", "FILE: the archive unpacks to more than 250 times its size", "unpack it"},
		"a tar.gz": {func() string {
			return tarball(t, tar.Header{Name: "a.csv", Uname: oneIssue + strings.Repeat(" ", 120<<20)})
		}, "auto", "FILE: the archive unpacks to more than 250 times its size", "unpack it"},
	} {
		if name != "one long text that many cells show" && !sample.Each() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, tt.file(), tt.format, tt.want, tt.hint)
		})
	}
}

func manyNames() string {
	var b strings.Builder
	for i := range 2100 {
		fmt.Fprintf(&b, `"id%d": 1, `, i)
	}
	return b.String() + `"z": 1`
}

func TestTheMappingSaysWhatColumnsHold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, path := filepath.Join(dir, "a.tsv"), filepath.Join(dir, "to", "mapping.yaml")
	if err := os.WriteFile(file, []byte("Nr\tTitel\tWer\tStichworte\tStatus\n1\tEins\tada@example.com, bob@example.com\tx y\tNew\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("columns:\n  nr: key\n  Titel: name # ours\n  Wer: assignees\n  Stichworte: {field: labels, split: ' '}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := must(t, filepath.Join(dir, "to"), fixture{files: []string{file}}, func(o *convert.Options) { o.Format = "csv" })
	all := contents(t, filepath.Join(dir, "to"))
	if r.Report.Counts.Labels != 2 || r.Report.Carried.People != 2 || len(r.Report.Questions) != 0 {
		t.Errorf("%+v %+v", r.Report.Counts, r.Report.Questions)
	}
	for _, want := range []string{"  Titel: name # ours\n", "  Status: state # guessed\n"} {
		if !strings.Contains(all["mapping.yaml"], want) {
			t.Errorf("%q is missing in\n%s", want, all["mapping.yaml"])
		}
	}
	if strings.Count(all["mapping.yaml"], "Wer") != 1 || !strings.Contains(all["csv.yaml"], "name: Eins") {
		t.Error(all)
	}
}

func TestTheMappingSaysWhatColumnsOfATrackerHold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file, format, mapping string
		items                 int
		want                  string
	}{
		"a custom field":     {"Task ID,Name,Section/Column,Kind\nA1,a,To do,Bug\n", "asana", "columns: {Kind: type}\n", 1, "type: Bug"},
		"a field of Jira":    {"Zusammenfassung,Vorgangsschlüssel,Benutzerdefinierte Felder (Team)\na,A-1,Blue\n", "jira-csv", "columns: {Benutzerdefinierte Felder (Team): labels}\n", 1, "labels: [Blue]"},
		"a column of Linear": {"ID,Team,Title,Status,Cycle Number,Parent issue,Kind\nA-1,A,a,Todo,,,Bug\n", "linear-csv", "columns: {Kind: type}\n", 1, "type: Bug"},
		"another language":   {"#;Projekt;Tracker;Thema;Priorit\u00e4t\n7;Web;Bug;Gr\u00f6\u00dfe;Hoch\n", "redmine", "columns: {Projekt: project, Thema: name, Priorit\u00e4t: priority}\npriorities: {Hoch: high}\n", 1, "priority: high"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file, path := filepath.Join(dir, "export.csv"), filepath.Join(dir, "mapping.yaml")
			for name, text := range map[string]string{file: tt.file, path: tt.mapping} {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r := must(t, filepath.Join(dir, "to"), fixture{files: []string{file}}, func(o *convert.Options) { o.Format, o.Mapping = tt.format, path })
			manifests := fmt.Sprint(contents(t, filepath.Join(dir, "to")))
			if r.Report.Carried.Items != tt.items || !strings.Contains(manifests, tt.want) {
				t.Errorf("%+v %s", r.Report.Carried, manifests)
			}
		})
	}
}

// TestIssuesWithoutATitleAreNamed, such as of a query without that column.
func TestIssuesWithoutATitleAreNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "items.csv")
	if err := os.WriteFile(file, []byte("ID,Work Item Type,State\n7,Bug,New\n8,Bug,New\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := must(t, filepath.Join(t.TempDir(), "to"), fixture{files: []string{file}}, nil)
	if !slices.ContainsFunc(r.Report.Notes, func(n convert.Remark) bool { return n.Kind == "no-titles" && len(n.Items) == 2 }) {
		t.Errorf("%+v", r.Report.Notes)
	}
}

func TestBoardsOfMonday(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text, format string
		items        int
		want         []string
		note         string
	}{
		"names are keys where there are no IDs": {
			"Board\nTo do\nName,Person,Status\nA,Ada,Done\nA,,\nSubitems,Name,Owner\n,B,Ada\n", "monday", 3,
			[]string{"key: A\n", "key: xA-2-198a162b\n", "name: B\n", "parent: xA-2-198a162b\n"},
			"no-id",
		},
		"an item may have a name alone": {"Board\nTo do\nName,Person,Status\nA,,\nLater\nName,Person,Status\nB,Ada,\n", "monday", 2, []string{"name: A\n", "module: To do", "module: Later"}, "no-id"},
		"a title alone is no board":     {"Board\nName,Person,Status\nA,Ada,Done\n", "", 0, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "board.csv")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := run(t, filepath.Join(dir, "to"), fixture{files: []string{file}}, nil)
			if tt.format == "" {
				if err == nil {
					t.Error(r.Report.Source)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			all := fmt.Sprint(contents(t, filepath.Join(dir, "to")))
			for _, want := range tt.want {
				if !strings.Contains(all, want) {
					t.Errorf("%q is not in\n%s", want, all)
				}
			}
			if r.Report.Source.Format != tt.format || r.Report.Carried.Items != tt.items ||
				!slices.ContainsFunc(r.Report.Notes, func(n convert.Remark) bool { return n.Kind == tt.note }) {
				t.Errorf("%+v %+v", r.Report.Source, r.Report.Notes)
			}
		})
	}
}

// Whatever a table holds, it is read or refused.
func FuzzTables(f *testing.F) {
	for _, one := range tables() {
		for _, name := range one.files {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte("{} "))
	f.Add([]byte(`[{"title": "t", "body": ` + strings.Repeat(`{"content": [{"a": 1}, `, 300) + `"x"` + strings.Repeat("]}", 300) + "}]")) // deep, as rich texts are
	f.Add([]byte(`[{"noteable_iid": 1, "body": "x"}, {"a": [[{"b": []}]]}]`))                                                             //nolint:misspell // GitLab's word
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := convert.Files([]string{"-"}, "", bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, format := range []string{"auto", "csv", "jsonl"} {
			_, _ = convert.Run(t.Context(), convert.Options{Format: format, Formats: formats.All(), Files: files, Dir: t.TempDir()})
		}
	})
}
