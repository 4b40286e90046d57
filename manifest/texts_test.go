package manifest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

// Each position of a text is given by the lines before it, and by the text before and after it.
func TestATextThatCannotBeginLikeThisIsReportedAtItsPlace(t *testing.T) {
	t.Parallel()
	const head = "version: 1\nprojects:\n  - identifier: WEB\n    name: Web\n"
	for place, at := range map[string]struct{ head, before, after string }{
		"a field":                    {head + "    work_items:\n", "      - name: ", "\n        priority: high\n      - B\n"},
		"a later field":              {head + "    work_items:\n      - priority: high\n", "        name: ", "\n"},
		"a text with markup":         {head + "    work_items:\n      - name: A\n", "        description: ", "\n      - B\n"},
		"an entry of a list":         {head + "    work_items:\n      - A\n", "      - ", "\n      - B\n"},
		"the last entry of a list":   {head + "    labels:\n", "      - ", ""},
		"a field between brackets":   {head + "    work_items:\n", "      - {name: ", ", priority: high}\n      - B\n"},
		"an entry between brackets":  {head, "    labels: [a, ", ", b]\n"},
		"brackets of several lines":  {head + "    labels: [\n      a,\n", "      ", ",\n      b,\n    ]\n"},
		"mapping of several lines":   {head + "    work_items:\n      - {\n", "        name: ", ",\n        priority: high,\n        }\n"},
		"the last value of a file":   {head + "    work_items:\n      - name: ", "", "\n"},
		"the second document":        {head + "---\npages: []\n---\npages:\n", "  - name: ", "\n"},
		"a value of a variable":      {"version: 1\nvars:\n", "  title: ", "\npages: [\"${{ vars.title }}\"]\n"},
		"behind a text with bracket": {head + "    work_items:\n      - fix [a] b\n", "      - ", "\n"},
	} {
		for _, text := range []string{
			"[Bug] crash", "[a, b] c", "**Important** fix", "*bold* text", "{x} crash", "| crash", "> 5 items fail", "@ada", "%x", "`x` fails",
			"]x", "}x", "- crash", "? why",
		} {
			if isEntry := strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "? "); isEntry && (strings.HasSuffix(at.before, "- ") || strings.HasSuffix(at.before, ", ")) {
				continue // valid YAML, and not a text
			}
			if at.before == "" || strings.ContainsAny(text[:1], "]}-?,") && place == "brackets of several lines" {
				continue
			}
			if strings.ContainsAny(text[:1], "]}") && strings.ContainsAny(at.before, "[{") {
				continue
			}
			t.Run(place+": "+text, func(t *testing.T) {
				t.Parallel()
				_, found := load(t, at.head+at.before+text+at.after, manifest.Limits{})
				want := diag.Position{Line: strings.Count(at.head, "\n") + 1, Column: len(at.before) + 1}
				if len(found) != 1 || found[0].Line != want.Line || found[0].Column != want.Column ||
					found[0].Summary+": "+found[0].Hint != "the file is not valid YAML: a text cannot begin with "+text[:1]+": put it between quotes" {
					t.Errorf("%s%s%s\n%v\nwant line %d, column %d", at.head, at.before, text, found, want.Line, want.Column)
				}
			})
		}
	}
}

// YAML reads such a text as another type, so the mistake shows only in the expected type.
func TestATextThatYAMLReadsAsAnotherTypeNeedsQuotes(t *testing.T) {
	t.Parallel()
	const entry, field, next = "      - ", "      - name: ", "\n        "
	for text, want := range map[string][2]string{
		field + "#1 priority":                            {"9:14: error: name cannot be empty", "# begins a comment: put the text between quotes"},
		entry + "# name" + next + "name:":                {"10:14: error: name cannot be empty", "every work item needs one"},
		entry + "key: c" + next + "# n" + next + "name:": {"11:14: error: name cannot be empty", "every work item needs one"},
		field + next + "# a key" + next + "key: c":       {"9:14: error: name cannot be empty", "every work item needs one"},
		entry + "{name: C, labels: {a}} # a comment":     {"9:27: error: labels must be a list, not a mapping", "name it by its key, name or ID"},
		field + "[Bug] # a comment":                      {"9:15: error: name must be a text, not a list", "write name: Bug; a text cannot begin with [: put it between quotes"},
		field + "{x} # a comment":                        {"9:15: error: name must be a text, not a mapping", "a text cannot begin with {: put it between quotes"},
		field + "!important":                             {`9:15: error: the tag "!important" cannot be used here`, "a text cannot begin with !: put it between quotes"},
		field + "${{ vars.x }}":                          {`9:15: warning: "${{ vars.x }}" is plain text here: the document has neither vars nor for_each`, "declare it at the top of this document, under vars:"},
		field + "${{ each.x }}":                          {`9:15: warning: "${{ each.x }}" is plain text here: the document has neither vars nor for_each`, "write for_each inside the entry that uses ${{ each }}"},
		field + "&x why":                                 {"9:15: warning: &x is an anchor that is never used, and not part of the text", "a text cannot begin with &: put it between quotes"},
		field + "{x}":                                    {"9:15: error: name must be a text, not a mapping", "a text cannot begin with {: put it between quotes"},
		field + "{}":                                     {"9:15: error: name must be a text, not a mapping", "a text cannot begin with {: put it between quotes"},
		entry + "{name: D, labels: [{}]}":                {"9:28: error: labels must be a list of texts, not a mapping", "name it by its key, name or ID"},
		field + "[Bug]":                                  {"9:15: error: name must be a text, not a list", "write name: Bug; a text cannot begin with [: put it between quotes"},
		field + `"C:\temp"`:                              {"9:15: error: name contains the control character U+0009", `remove it; between double quotes a backslash is written \\`},
		field + "a\tb":                                   {"9:15: error: name contains the control character U+0009", `remove it; between double quotes a backslash is written \\`},
		field + "Fix: it":                                {"9:15: error: the file is not valid YAML: a text cannot hold a colon followed by a space", "put it between quotes"},
		field + "“Bug”":                                  {"9:15: warning: the curly quotes are part of the text “Bug”", "write straight quotes, or none"},
		entry + "{name: Fix: it}":                        {"9:16: error: the file is not valid YAML: a text cannot hold a colon followed by a space", "put it between quotes"},
		entry + "*bold":                                  {"9:9: error: the file is not valid YAML: this alias has no anchor before it", "a text cannot begin with *: put it between quotes; an alias comes after its anchor, in the same document"},
		entry + "{name: C, labels: [a: b]}":              {"9:28: error: labels must be a list of texts, not a mapping", "name it by its key, name or ID; a text cannot hold a colon followed by a space: put it between quotes"},
		entry + "#1 priority":                            {"9:8: error: a work item must be a mapping, not nothing", "write its fields, such as name: ...; a text that begins with # needs quotes"},
		entry + "!important":                             {`9:9: error: the tag "!important" cannot be used here`, "a text cannot begin with !: put it between quotes"},
		entry + "&x why":                                 {"9:9: warning: &x is an anchor that is never used, and not part of the text", "a text cannot begin with &: put it between quotes"},
		entry + "- crash":                                {"9:9: error: a work item must be a mapping, not a list", "a text cannot begin with -: put it between quotes"},
		entry + "? why":                                  {`9:11: error: unknown field "why" in a work item`, "a text cannot begin with ?: put it between quotes"},
		entry + "Fix: it":                                {`9:9: error: unknown field "Fix" in a work item`, "a text cannot hold a colon followed by a space: put it between quotes"},
		entry + "{name: #1 is wrong}":                    {"9:16: error: the file is not valid YAML: # begins a comment, so the bracket is not closed", `put a text that begins with # between quotes, such as "#22c55e"`},
		entry + `"C:\temp"`:                              {"9:9: error: name contains the control character U+0009", `remove it; between double quotes a backslash is written \\`},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			_, found := load(t, "version: 1\nprojects:\n  - identifier: WEB\n    name: Web\n    states:\n      - {name: To Do}\n    work_items:\n      - A\n"+text+"\n      - B\n", manifest.Limits{})
			if len(found) != 1 {
				t.Fatal(found)
			}
			d := found[0]
			if got := fmt.Sprintf("%d:%d: %s: %s", d.Line, d.Column, d.Severity, d.Summary); got != want[0] || d.Hint != want[1] {
				t.Errorf("got  %s\n     %s\nwant %s\n     %s", got, d.Hint, want[0], want[1])
			}
		})
	}
}

func TestASyntaxErrorIsExplainedInTermsOfTheFile(t *testing.T) {
	t.Parallel()
	const head = "version: 1\nprojects:\n  - identifier: WEB\n    name: Web\n"
	for text, want := range map[string]string{
		head + "<<<<<<< HEAD\n    work_items: [A]\n=======\n    work_items: [B]\n>>>>>>> b\n": "5:1: error: the file is not valid YAML: a merge conflict is not resolved; keep one side, and delete the lines that begin with <<<<<<<, ======= and >>>>>>>",
		"%YAML 1.2\n---\n" + head:                      "1:1: error: the file is not valid YAML: the line names a version of YAML that is not supported; remove the line: a manifest needs none",
		head + "  \u00a0 work_items: [A]\n":            "5:3: error: the file is not valid YAML: the character U+00A0 looks like a space but is not one; write a space",
		head + "    labels:\u00a0[a]\n":                "5:12: error: the file is not valid YAML: the character U+00A0 looks like a space but is not one; write a space",
		head + "    labels: [a]\n>>>>>>> b\n":          "6:1: error: the file is not valid YAML: a merge conflict is not resolved; keep one side, and delete the lines that begin with <<<<<<<, ======= and >>>>>>>",
		head + "\u00a0   work_items: [A]\n":            "5:1: error: unknown field \"\u00a0   work_items\" in a manifest (at \u00a0   work_items); the character U+00A0 is part of the name and looks like a space: write a space",
		head + "    description: a\n    b\n    c: d\n": "6:5: error: the file is not valid YAML: the line is not a field: it has no colon; a text of several lines begins with |, such as description: |",
		head + "    description: a\n    b c: d\n":      "6:5: error: unknown field \"b c\" in a project (at projects[0].b c); a text of several lines begins with |, such as description: |",
		head + "...\na: 1\n":                           "6: error: the file is not valid YAML: a document ends with ... before this line; remove the ..., or begin another document with ---",
		"\x7fELF\x02\x01\x01\x00\x00":                  "1:1: error: the file is not a text; name a manifest, which is a text in YAML",
		"":                                             "error: the manifest lists no objects; list the contents of the workspace, for example under projects:",
		"version: 2\n":                                 "1:10: error: planform reads version 1 of manifests, not \"2\" (at version); write version: 1, or update planform",
		head + "    work_items: [{name: A, ignore_changes: [prio]}]\n":  "5:45: error: a work item has no field \"prio\" (at projects[0].work_items[0].ignore_changes); did you mean \"priority\"?",
		head + "    work_items: [{name: A, Severity: High}]\n":          "5:28: error: unknown field \"Severity\" in a work item (at projects[0].work_items[0].Severity); write custom fields under fields:",
		head + "    work_items: [{name: A, target_date: 0000-01-01}]\n": "5:41: error: \"0000-01-01\" is not a date (at projects[0].work_items[0].target_date); there is no such day in the calendar",
		head + "    webhooks: [{name: a}]\n":                            "5:5: error: unknown field \"webhooks\" in a project (at projects[0].webhooks); \"webhooks\" belongs to the document itself: check the indentation",
		"version: 1\nwebhooks: [{url: https://example.com/}]\n":         "2:12: error: the webhook has no name (at webhooks[0]); write name, or the id or key of one that exists",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, found := load(t, text, manifest.Limits{})
			if len(found) == 0 {
				t.Fatal("nothing is found")
			}
			d := found[0]
			d.File = ""
			if got := strings.TrimPrefix(d.String(), ":"); got != want || len(found) > 1 {
				t.Errorf("got  %s\nwant %s\nof %d", got, want, len(found))
			}
		})
	}
}

func TestABackslashInAPathGetsTheHintToWriteASlash(t *testing.T) {
	t.Parallel()
	if filepath.Separator == '\\' {
		t.Skip("the system takes both")
	}
	for text, want := range map[string]string{
		`pages: [{name: A, file: 'docs\sub\h.md'}]`:                                       "write docs/sub/h.md",
		`pages: {folder: 'docs\sub'}`:                                                     "write docs/sub",
		`include: ['sub\b.yaml']`:                                                         "write sub/b.yaml",
		`projects: [{for_each: {csv: 'sub\b.csv'}, name: x}]`:                             "write sub/b.csv",
		`projects: [{key: a, work_items: [{name: b, attachments: ['files\a.pdf']}]}]`:     "write files/a.pdf",
		`webhooks: [{name: a, url: "https://example.com/", secret_file: 'secrets\hook'}]`: "write secrets/hook",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if _, found := load(t, "version: 1\n"+text+"\n", manifest.Limits{}); len(found) != 1 || found[0].Hint != want {
				t.Error(found)
			}
		})
	}
}
