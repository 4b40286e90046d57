package manifest_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/manifest"
)

// TestEachRuleOfTemplates checks one rule of templates in each case, by the names of the resulting pages or the error.
func TestEachRuleOfTemplates(t *testing.T) {
	t.Parallel()
	const csv = "\xEF\xBB\xBFlogin;Full name;a.b;empty;\r\nada;\"Ada \"\"the; first\"\"\";x;;\r\n\r\n7;\"a: [b ${{ vars.v }}\";y\r\n"
	const asText = ` "${{ vars.v }}" is plain text here: the document has neither vars nor for_each`
	for name, tt := range map[string]struct {
		text string
		want string
	}{
		"without vars and for_each a reference is a text":    {`pages: [{name: "${{ vars.v }} ${{ each.a }} $${{ vars.v }}"}]`, "${{ vars.v }} ${{ each.a }} $${{ vars.v }}" + asText},
		"a value stands where a reference stood":             {`{vars: {v: x}, pages: [{name: "a ${{vars.v}} b ${{  vars.v  }}"}]}`, "a x b x"},
		"a doubled $ writes a reference":                     {`{vars: {v: x}, pages: [{name: "$${{ vars.v }} ${{ vars.v }}"}]}`, "${{ vars.v }} x"},
		"a doubled $ writes a reference of another program":  {`{vars: {v: x}, pages: [{name: "$${{ github.ref }} ${HOME}"}]}`, "${{ github.ref }} ${HOME}"},
		"a reference of another program is an error":         {`{vars: {v: x}, pages: [{name: "${{ github.ref }}"}]}`, `unknown name "github" in a reference`},
		"a number is no reference":                           {`{vars: {v: x}, pages: [{name: "${{ 1 }}"}]}`, `"${{ 1 }}" is not a valid reference`},
		"an opening alone is no reference":                   {`{vars: {v: x}, pages: [{name: "${{"}]}`, `"${{ }}" is not a valid reference`},
		"a reference in a value is not replaced":             {`{vars: {v: "$${{ vars.w }}", w: x}, pages: [{name: "${{ vars.v }}!"}]}`, "${{ vars.w }}!"},
		"a value is never YAML":                              {`{vars: {v: "a\n- name: b"}, pages: [{name: "${{ vars.v }}"}]}`, "a\n- name: b"},
		"a part of a mapping is named after a dot":           {`{vars: {v: {a: {b: x}}}, pages: [{name: "${{ vars.v.a.b }}"}]}`, "x"},
		"objects come in the order of the list":              {`pages: [{name: one}, {for_each: [c, a, b], name: "${{ each }}"}, {name: two}]`, "one c a b two"},
		"an empty list makes nothing":                        {`pages: [{name: one}, {for_each: [], name: "${{ each }}"}]`, "one"},
		"a manifest with only an empty list is empty":        {`pages: [{for_each: [], name: "${{ each }}"}]`, "the manifest lists no objects"},
		"a list comes from a variable":                       {`{vars: {l: [{a: x}, {a: y}]}, pages: [{for_each: "${{ vars.l }}", name: "${{ each.a }}"}]}`, "x y"},
		"a list comes from an element":                       {`pages: [{for_each: [{n: x, l: [1, 2]}, {n: y, l: []}], name: "${{ each.n }}", pages: [{for_each: "${{ each.l }}", name: "p${{ each }}"}]}]`, "x p1 p2 y"},
		"the inner each hides the outer":                     {`pages: [{for_each: [x], name: "${{ each }}", pages: [{for_each: [y], name: "${{ each }}"}]}]`, "x y"},
		"as gives the outer element a name":                  {`pages: [{for_each: [x], as: o, name: "${{ o }}", pages: [{for_each: [y], name: "${{ o }}${{ each }}"}]}]`, "x xy"},
		"as replaces the name each":                          {`pages: [{for_each: [x], as: o, name: "${{ each }}"}]`, "${{ each }} can be used only in an object with for_each"},
		"a whole list of objects is a variable":              {`{vars: {l: [{name: x}, {name: y}]}, pages: "${{ vars.l }}"}`, "x y"},
		"a for_each in a value is not looked at":             {`{vars: {l: [{for_each: [1], name: x}]}, pages: "${{ vars.l }}"}`, `unknown field "for_each" in a page`},
		"an anchor is filled in where it is used":            {`{x-p: &p {name: "${{ vars.v }}-${{ each }}"}, vars: {v: x}, pages: [{for_each: [1, 2], <<: *p}, {for_each: [3], <<: *p}]}`, "x-1 x-2 x-3"},
		"an alias of an entry is expanded":                   {`{x-p: &p {for_each: [1, 2], name: "p${{ each }}"}, pages: [*p]}`, "p1 p2"},
		"for_each repeats over the rows of a table":          {`pages: [{for_each: {csv: sub/t.csv}, name: "${{ each.login }} ${{ each.Full name }} ${{ each.a.b }}${{ each.empty }}"}]`, "ada Ada \"the; first\" x 7 a: [b ${{ vars.v }} y"},
		"a table is a variable":                              {`{vars: {t: {csv: sub/t.csv}}, pages: [{for_each: "${{ vars.t }}", name: "${{ each.login }}"}]}`, "ada 7"},
		"an unknown column is an error":                      {`pages: [{for_each: {csv: sub/t.csv}, name: "${{ each.logn }}"}]`, `each has no "logn"`},
		"a table is below the folder":                        {`pages: [{for_each: {csv: ../t.csv}, name: a}]`, `the file is outside the manifest's folder: "../t.csv"`},
		"a table must have the extension of one":             {`pages: [{for_each: {csv: secret.txt}, name: a}]`, `a table must be a file that ends in .csv or .tsv: "secret.txt"`},
		"--var overrides the document":                       {`{vars: {given: x}, pages: [{name: "${{ vars.given }}"}]}`, "from the flag"},
		"a variable needs a value":                           {`{vars: {v: }, pages: [{name: "${{ vars.v }}"}]}`, "the variable v has no value"},
		"the environment is read by name":                    {`{vars: {v: {env: PLANFORM_V, default: x}}, pages: [{name: "${{ vars.v }}"}]}`, "from the environment"},
		"a default replaces an unset environment variable":   {`{vars: {v: {env: PLANFORM_W, default: x}}, pages: [{name: "${{ vars.v }}"}]}`, "x"},
		"only PLANFORM_ variables are read":                  {`{vars: {v: {env: HOME, default: x}}, pages: [{name: "${{ vars.v }}"}]}`, `a manifest can read only environment variables that begin with PLANFORM_, not "HOME"`},
		"the prefix alone is not a name":                     {`{vars: {v: {env: PLANFORM_}}, pages: [{name: "${{ vars.v }}"}]}`, `a manifest can read only environment variables that begin with PLANFORM_, not "PLANFORM_"`},
		"a mapping with env and more is a mapping":           {`{vars: {v: {env: prod, region: x}}, pages: [{name: "${{ vars.v.region }} ${{ vars.v.env }}"}]}`, "x prod"},
		"a variable cannot refer to another":                 {`{vars: {v: x, w: "${{ vars.v }}"}, pages: [{name: "${{ vars.w }}"}]}`, "the value of a variable cannot contain a reference"},
		"a reference has no filters":                         {`{vars: {v: x}, pages: [{name: "${{ vars.v | upper }}"}]}`, `the reference "vars.v | upper" is more than a name`},
		"a reference needs its end":                          {`{vars: {v: x}, pages: [{name: "${{ vars.v }"}]}`, "the reference ${{ vars.v has no end"},
		"a misspelt first word is an error":                  {`{vars: {v: x}, pages: [{name: "${{ var.v }}"}]}`, `unknown name "var" in a reference`},
		"vars alone is not a value":                          {`{vars: {v: x}, pages: [{name: "${{ vars }}"}]}`, "the reference names no variable"},
		"a list cannot be part of a text":                    {`{vars: {v: [x]}, pages: [{name: "a ${{ vars.v }}"}]}`, "vars.v is a list, so it cannot be part of a text"},
		"an empty value cannot be part of a text":            {`pages: [{for_each: [{a: }], name: "a ${{ each.a }}"}]`, "each.a is empty, so it cannot be part of a text"},
		"the same key twice names both elements":             {`pages: [{for_each: [x, x], key: "${{ each }}", name: "${{ each }}"}]`, `two pages have the key "x"`},
		"between brackets a reference needs quotes":          {"pages: [{for_each: [x], name: ${{ each }}}]", "the file is not valid YAML: a reference between brackets is not quoted"},
		"the workspace is a variable":                        {`{vars: {v: acme}, workspace: "${{ vars.v }}", pages: [{name: x}]}`, "x"},
		"each document has its own variables":                {"vars: {v: x}\npages: [{name: \"${{ vars.v }}\"}]\n---\nvars: {v: y}\npages: [{name: \"${{ vars.v }}\"}]\n---\npages: [{name: \"${{ vars.v }}\"}]", "x y ${{ vars.v }}" + asText},
		"a document that includes itself is read once":       {`{include: [m.yaml, "*.yaml"], pages: [{name: x}]}`, "x"},
		"defaults are filled in":                             {`{vars: {v: x}, defaults: {page: {description: "${{ vars.v }}"}}, pages: [{name: y}]}`, "y"},
		"for_each outside a list of objects is a field":      {`pages: [{name: x, file: {for_each: [1]}}]`, "file must be a text, not a mapping"},
		"a reference has no functions":                       {`{vars: {a: x}, pages: [{name: "${{ upper(vars.a) }}"}]}`, `"${{ upper(vars.a) }}" is not a valid reference`},
		"env is not a first word of references":              {`{vars: {a: x}, pages: [{name: "${{ env.HOME }}"}]}`, `"${{ env.HOME }}" is not a valid reference`},
		"other braces are text":                              {`{vars: {a: x}, pages: [{name: "{{ vars.a }} {{ .vars.a | quote }} ${vars.a} $(vars.a) $vars.a $5 ${HOME}"}]}`, "{{ vars.a }} {{ .vars.a | quote }} ${vars.a} $(vars.a) $vars.a $5 ${HOME}"},
		"without vars all braces are text":                   {`pages: [{name: "{{ vars.a }} ${vars.a} ${{ upper(vars.a) }}"}]`, "{{ vars.a }} ${vars.a} ${{ upper(vars.a) }}"},
		"a doubled $ escapes anything":                       {`{vars: {a: x}, pages: [{name: "$${{ upper(vars.a) }} $${{ env.HOME }} $${{ vars.a }} ${{ vars.a }}"}]}`, "${{ upper(vars.a) }} ${{ env.HOME }} ${{ vars.a }} x"},
		"an element that is too much of a name is a mistake": {`pages: [{for_each: [x], as: "a b", name: y}]`, `as must be a name of letters, digits, - and _, not "a b"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "sub", "t.csv"), csv)
			write(t, filepath.Join(dir, "secret.txt"), "s3cr3t")
			file := filepath.Join(dir, "m.yaml")
			text := "version: 1\n" + tt.text
			if strings.HasPrefix(tt.text, "{") {
				text = "{version: 1, " + tt.text[1:]
			}
			write(t, file, text)
			opts := manifest.Options{Getenv: func(name string) string {
				if name == "PLANFORM_W" {
					return ""
				}
				return "from the environment"
			}}
			if strings.Contains(text, "vars.given") {
				opts.Variables = map[string]string{"given": "from the flag"}
			}
			m, found := manifest.Load(t.Context(), []string{file}, opts)
			var said []string
			for _, o := range m.Objects {
				if !o.Implied {
					said = append(said, o.Text("name"))
				}
			}
			for _, d := range found {
				said = append(said, d.Summary)
			}
			if diff := cmp.Diff(tt.want, strings.Join(said, " ")); diff != "" {
				t.Errorf("%s\n%v", diff, found)
			}
			if strings.Contains(fmt.Sprint(found), "s3cr3t") {
				t.Error(found)
			}
		})
	}
}

// TestAMistakeInATemplateIsReportedOnce expects one finding for 300 elements with the same mistake, and one each for different mistakes.
func TestAMistakeInATemplateIsReportedOnce(t *testing.T) {
	t.Parallel()
	m, found := load(t, "version: 1\nprojects:\n- key: a\n  work_items:\n  - for_each: ["+numbered("%d,", 300)+"]\n    name: ${{ each }}\n    priority: hihg\n    titel: x\n", manifest.Limits{})
	if len(found) != 2 || len(m.Objects) != 0 {
		t.Fatal(found)
	}
	for _, d := range found {
		if len(d.Related) != 1 || d.Related[0].Line != 5 || d.Line < 7 {
			t.Error(d)
		}
	}
	_, found = load(t, "version: 1\nprojects:\n- key: a\n  work_items:\n  - for_each: [x, 2026-02-30, y]\n    name: ${{ each }}\n    start_date: ${{ each }}\n", manifest.Limits{})
	if len(found) != 3 || found[2].Related[0].Column != 31 {
		t.Error(found)
	}
}

func TestAForEachCanStandInAFieldThatHoldsAList(t *testing.T) {
	t.Parallel()
	m, found := load(t, `version: 1
vars: {people: [{mail: ada@example.com, is: admin}, {mail: bob@example.com, is: guest}]}
projects:
  - identifier: WEB
    members:
      - eve@example.com
      - {for_each: "${{ vars.people }}", user: "${{ each.mail }}", role: "${{ each.is }}"}
      - {for_each: [gus, may], as: name, user: "${{ name }}@example.com"}
`, manifest.Limits{})
	if len(found) > 0 {
		t.Fatal(found)
	}
	var got []string
	v, _ := m.Objects[0].Value("members")
	for _, r := range v.Refs {
		got = append(got, r.Text+" "+r.Attribute)
	}
	if want := []string{"eve@example.com ", "ada@example.com admin", "bob@example.com guest", "gus@example.com ", "may@example.com "}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
