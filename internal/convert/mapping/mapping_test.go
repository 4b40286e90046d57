package mapping_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/convert/mapping"
)

func TestWhatPeopleWroteIsKeptAndOnlyNewNamesAreAdded(t *testing.T) {
	t.Parallel()
	const before = `# ours
version: 1
people:
  # the boss
  bob: bob@example.com # Bob
  ada: "?"
states: {Done: Finished}
history: full
`
	f, findings := mapping.Parse("m.yaml", []byte(before))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	f.Set("history", "text", "")
	f.Add("people", "BOB", "?", "# again")
	f.Add("states", " done", "Done", "# guessed")
	if got, err := f.Bytes(); err != nil || string(got) != before {
		t.Errorf("it changed without anything new: %v\n%s", err, got)
	}
	f.Add("people", "cy", mapping.Open, "# Cy\nD.")
	f.Add("states", "To Do", "Todo", "# guessed")
	f.Add("links", "Blocks", "blocks", "# guessed")
	got, err := f.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	want := `# planform mapping: what becomes of the export's people, states and other names.
# Edit it and run planform convert again: what you write is kept, only new names are added.
# A ? is an open question. "# guessed" marks what convert filled in.
# ours
version: 1
people:
  # the boss
  bob: bob@example.com # Bob
  ada: "?"
  cy: '?' # Cy D.
states:
  Done: Finished
  To Do: Todo # guessed
history: full
links:
  Blocks: blocks # guessed
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestMistakesAreNamedWithTheirLineAndWhatWasMeant(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"an unknown section suggests a similar one":  {"peple: {}", `m.yaml:1:1: error: there is no setting "peple" here; did you mean "people"?`},
		"an unknown setting suggests a similar one":  {"labels: {renam: {}}", `there is no setting "renam" here; did you mean "rename"?`},
		"an impossible word suggests a similar one":  {"\nhistory: ful", `m.yaml:2:10: error: "ful" is not possible here; did you mean "full"?`},
		"an unknown priority suggests a similar one": {"priorities:\n  High: hihg", `m.yaml:2:9: error: "hihg" is not possible here; did you mean "high"?`},
		"a name is no e-mail address":                {"people: {ada: Ada L.}", `"Ada L." is no e-mail address`},
		"an unknown group suggests a similar one":    {"states: {Deploy: {name: Deploy, group: startet}}", `did you mean "started"?`},
		"a name that the service keeps is refused":   {"states: {New: Triage}", "keeps the name Triage for itself"},
		"a condition needs both of its parts":        {"states: {Done: {name: Done, unless: {resolution: [x]}}}", "unless and else belong together"},
		"an unknown time zone is refused":            {"source: {timezone: Europe/Berlinn}", `there is no time zone "Europe/Berlinn"`},
		"a word is no address":                       {"source: {site: example}", `"example" is not an address`},
		"an unknown loss suggests a similar one":     {"allow: {watcher: all}", `there is no kind of loss "watcher"; did you mean "watchers"?`},
		"an agreement is a number or all":            {"allow: {watchers: some}", `"some" is not a number`},
		"an unknown field suggests a similar one":    {"columns: {A: key, B: labls}", `m.yaml:1:22: error: "labls" is not possible here; did you mean "labels"?`},
		"a project needs an identifier":              {"projects: {A: {key: a}}", "the project A needs a key and an identifier"},
		"two projects cannot have one key":           {"projects:\n  A: {key: a, identifier: A}\n  B: {key: a, identifier: B}", `m.yaml:3:6: error: the projects A and B would be one`},
		"an identifier may not be too long":          {"projects: {A: {key: a, identifier: ABCDEFGHIJKLM}}", `"ABCDEFGHIJKLM" is not possible here`},
		"a name may not be there twice":              {"people:\n  ada: text\n  ada: bot", `m.yaml:3:3: error: "ada" is here twice; remove one of them; the other is in line 2`},
		"aliases are not read":                       {"people: {a: &x text, b: *x}", "aliases and merge keys are not read here"},
		"a list is no mapping of names":              {"people: [ada]", "names with values are expected here"},
		"broken YAML names its line":                 {"people: {", "m.yaml:1: error: the file is not valid YAML: "},
		"a list is no mapping file":                  {"- a", "the mapping file has no sections"},
		"a mapping file has one document":            {"version: 1\n---\nversion: 1", "more than one document"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, findings := mapping.Parse("m.yaml", []byte(tt.text))
			_, more := f.Mapping([]string{"watchers", "votes"})
			got := append(findings, more...).Err()
			if got == nil || !strings.Contains(got.Error(), tt.want) {
				t.Errorf("%v, want %s", got, tt.want)
			}
		})
	}
}

func TestOpenEntriesAreQuestions(t *testing.T) {
	t.Parallel()
	f, _ := mapping.Parse("m.yaml", []byte("people:\n  ada: '?'\npriorities: {P2: '?'}\nstates:\n  Deploy: {name: Deploy, group: '?'}\nsource: {site: '?', dates: '?'}\n"))
	m, findings := f.Mapping(nil)
	var got []string
	for _, q := range m.Questions {
		got = append(got, q.Section+" "+q.Name+" "+q.Position.String())
	}
	want := []string{"people ada m.yaml:2:8", "priorities P2 m.yaml:3:18", "states Deploy m.yaml:5:33", "source site m.yaml:6:16", "source dates m.yaml:6:28"}
	if diff := cmp.Diff(want, got); diff != "" || len(findings) > 0 {
		t.Error(findings, diff)
	}
}

func TestNamesAreFoundInAnySpelling(t *testing.T) {
	t.Parallel()
	f, _ := mapping.Parse("m.yaml", []byte("priorities: {Now: urgent, So So: high, SoSo: low, so so: none, '': medium}\n"))
	m, _ := f.Mapping(nil)
	for word, want := range map[string]string{"Now": "urgent", "now": "urgent", "N\u00a0OW": "urgent", "So So": "high", "SoSo": "low", "SO SO": "high", "Nowhere": ""} {
		if got, ok := m.Priorities.Find(word); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", word, got, ok)
		}
	}
}

func TestColumnsHoldFieldsOrAreQuestions(t *testing.T) {
	t.Parallel()
	f, _ := mapping.Parse("m.yaml", []byte("columns:\n  Ref: key\n  Tags: {field: labels, split: ' '}\n  Size: '?'\n"))
	m, findings := f.Mapping(nil)
	if c, _ := m.Columns.Find("tags"); len(findings) > 0 || c != (mapping.Column{Field: "labels", Split: " "}) || len(m.Questions) != 1 || m.Questions[0].Section != "columns" {
		t.Error(findings, m.Columns, m.Questions)
	}
}

func TestTheSchemaHasTheSettingsThatTheFileHas(t *testing.T) {
	t.Parallel()
	var root map[string]any
	if err := json.Unmarshal(mapping.Schema([]string{"watchers"}), &root); err != nil {
		t.Fatal(err)
	}
	var settings []string // with dots between
	var walk func(path string, schema map[string]any)
	walk = func(path string, schema map[string]any) {
		properties, _ := schema["properties"].(map[string]any)
		for name, s := range properties {
			settings = append(settings, path+name)
			walk(path+name+".", s.(map[string]any))
		}
		if entry, ok := schema["additionalProperties"].(map[string]any); ok {
			walk(path+"NAME.", entry)
		}
		choices, _ := schema["anyOf"].([]any)
		for _, choice := range choices {
			walk(path, choice.(map[string]any))
		}
	}
	walk("", root)
	slices.Sort(settings)
	for _, setting := range settings {
		var text strings.Builder
		for depth, name := range strings.Split(setting, ".") {
			fmt.Fprintf(&text, "%*s%s:\n", 2*depth, "", name)
		}
		f, _ := mapping.Parse("m.yaml", []byte(text.String()))
		_, findings := f.Mapping([]string{"watchers"})
		for _, d := range findings {
			if strings.Contains(d.Summary, "no setting") {
				t.Errorf("%s: %s", setting, d.Summary)
			}
		}
	}
	for name := range strings.FieldsSeq("version source columns target projects people unknown_people states priorities types labels components versions sprints archived numbers links fields comments history allow") {
		if !slices.Contains(settings, name) {
			t.Errorf("the schema lacks %s", name)
		}
	}
}
