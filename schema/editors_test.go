package schema_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/planform/planform/schema"
)

// published returns the schema as JSON values.
func published(t *testing.T) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(schema.Document(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestTheUsualMistakesHaveAMessageInWordsInEditors looks up the message of a YAML language server for each mistake.
func TestTheUsualMistakesHaveAMessageInWordsInEditors(t *testing.T) {
	t.Parallel()
	doc := published(t)
	for name, tt := range map[string]struct{ at, want string }{
		"a text in place of a list":           {"$defs work_item properties assignees patternErrorMessage", "write a list, such as [one, two], or a reference such as ${{ vars.NAME }}"},
		"a text in place of a switch":         {"$defs work_item properties protect patternErrorMessage", "write true or false, or a reference such as ${{ vars.NAME }}"},
		"a text in place of a number":         {"$defs work_item properties point patternErrorMessage", "write a number, or a reference such as ${{ vars.NAME }}"},
		"a text in place of a mapping":        {"$defs work_item properties fields patternErrorMessage", "write a mapping, such as {name: value}, or a reference such as ${{ vars.NAME }}"},
		"a mapping in place of a list":        {"properties projects errorMessage", "write a list, in which each project begins with -, or a reference such as ${{ vars.NAME }}"},
		"a comment without a key":             {"$defs comment allOf 0 anyOf 1 errorMessage", "write its key; for one that exists, id is enough"},
		"a work item without a name":          {"$defs work_item allOf 0 anyOf 2 errorMessage", "write its name; for one that exists, id or identifier is enough"},
		"a date in another order":             {"$defs work_item properties start_date anyOf 0 anyOf 0 patternErrorMessage", "write a date as YYYY-MM-DD"},
		"a colour by its name":                {"$defs label properties color anyOf 0 patternErrorMessage", `write a colour such as "#22c55e", between quotes`},
		"an address without its scheme":       {"$defs link properties url anyOf 0 patternErrorMessage", "write an address that begins with http:// or https://"},
		"a key with a space":                  {"$defs work_item properties key anyOf 0 patternErrorMessage", "write letters, digits, . _ and -, the first a letter or digit"},
		"a link in a hover leads to its page": {"$defs page markdownDescription", "[pages of a folder](https://planform.github.io/planform/pages/)"},
	} {
		var value any = doc
		for step := range strings.FieldsSeq(tt.at) {
			switch v := value.(type) {
			case map[string]any:
				value = v[step]
			case []any:
				value = v[step[0]-'0']
			}
		}
		var words []string
		list, _ := value.([]any)
		for _, e := range append(list, value) {
			if text, ok := e.(string); ok {
				words = append(words, text)
			}
		}
		if got := strings.Join(words, " "); got != tt.want && !(strings.HasPrefix(tt.want, "[") && strings.Contains(got, tt.want)) {
			t.Errorf("%s: %s is %q", name, tt.at, got)
		}
	}
}

// TestEachPatternSaysInWordsWhatToWrite walks through the schema: editors show a pattern without words as it is.
func TestEachPatternSaysInWordsWhatToWrite(t *testing.T) {
	t.Parallel()
	var doc any
	if err := json.Unmarshal(schema.Document(), &doc); err != nil {
		t.Fatal(err)
	}
	var walk func(at string, value any)
	walk = func(at string, value any) {
		switch value := value.(type) {
		case map[string]any:
			if _, has := value["pattern"].(string); has && value["patternErrorMessage"] == nil && value["errorMessage"] == nil {
				t.Errorf("%s has the pattern %s", at, value["pattern"])
			}
			for name, inner := range value {
				walk(at+" "+name, inner)
			}
		case []any:
			for i, inner := range value {
				walk(at+" "+strconv.Itoa(i), inner)
			}
		}
	}
	walk("", doc)
}

func TestAnEditorOffersNoBooleansForANameOfAnotherObject(t *testing.T) {
	t.Parallel()
	for value, good := range map[any]bool{"Todo": true, 7: true, true: false} {
		item := map[string]any{"name": "A", "state": value}
		if err := whole().Validate(map[string]any{"projects": []any{map[string]any{"identifier": "WEB", "work_items": []any{item}}}}); (err == nil) != good {
			t.Errorf("state: %v: %v", value, err)
		}
		if text := fmt.Sprint(value); len(schema.Check("work_item", map[string]any{"name": "A", "state": text})) > 0 {
			t.Errorf("the program refuses %s", text)
		}
	}
}

// TestAnyValidatorAcceptsThePatterns checks that no pattern uses Unicode classes, which few validators know.
func TestAnyValidatorAcceptsThePatterns(t *testing.T) {
	t.Parallel()
	if text := string(schema.Document()); strings.Contains(text, `\\p{`) {
		t.Error(`a pattern has \p{…}`)
	}
	python, err := exec.LookPath("python3")
	if err != nil || exec.CommandContext(t.Context(), python, "-c", "import jsonschema").Run() != nil {
		t.Skip("there is no Python with jsonschema")
	}
	const script = "import json, jsonschema; jsonschema.validate({'version': 1, 'projects': [{'key': 'größe-1', 'identifier': 'WEB'}]}, json.load(open('planform.schema.json')))"
	if out, err := exec.CommandContext(t.Context(), python, "-c", script).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestEditorsAcceptEveryKeyThatTheProgramAccepts compares the two patterns of a key.
func TestEditorsAcceptEveryKeyThatTheProgramAccepts(t *testing.T) {
	t.Parallel()
	for key, good := range map[string]bool{"a": true, "Größe-1": true, "7.b_c-d": true, "a b": false, "-a": false, "a/b": false, "a:b": false, "`a": false, "": false, "a~": false} {
		checked := len(schema.Check("work_item", map[string]any{"key": key, "name": "A"})) == 0
		edited := whole().Validate(map[string]any{"projects": []any{map[string]any{"key": key, "identifier": "WEB"}}}) == nil
		if checked != good || edited != good {
			t.Errorf("%q: the program says %v, an editor %v", key, checked, edited)
		}
	}
}
