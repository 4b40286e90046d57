package manifest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

// listed returns a manifest in flow style with objects of a kind inside the parents that they need.
func listed(k *resource.Kind, objects ...string) string {
	text := k.Section + ": [" + strings.Join(objects, ", ") + "]"
	for at := k; at.Parent != ""; at = resource.MustLookup(at.Parent) {
		parent := resource.MustLookup(at.Parent)
		fields := "key: parent, "
		if parent.Singleton {
			text = parent.Section + ": {" + text + "}"
			continue
		}
		if at.ParentType != "" {
			fields += "type: " + at.ParentType + ", "
		}
		text = parent.Section + ": [{" + fields + required(parent) + text + "}]"
	}
	return "{version: 1, " + text + "}"
}

// required returns the required fields of a kind with their examples.
func required(k *resource.Kind) string {
	var fields strings.Builder
	for _, f := range k.Fields {
		if _, isText := map[resource.Type]bool{resource.JSON: true, resource.Upload: true, resource.Ref: true, resource.Markdown: true}[f.Type]; f.Required && f.Name != "type" && !isText {
			fields.WriteString(f.Path() + ": " + example(&f) + ", ")
		}
	}
	return fields.String()
}

func example(f *resource.Field) string {
	if f.Type == resource.JSON {
		return f.Example
	}
	return fmt.Sprintf("%q", f.Example)
}

func TestTwoObjectsOfOneNameUnderTwoKeysAreAnErrorAtBothPlaces(t *testing.T) {
	t.Parallel()
	for _, k := range resource.Kinds() {
		if k.Section == "" || len(k.NaturalKey) == 0 || k.AdoptOnRequestOnly || k.Name == "attachment" || k.Single {
			continue // names of these kinds may repeat, are missing, or need existing files
		}
		for _, f := range k.NaturalFields() {
			fields := required(k)
			for _, other := range k.NaturalFields() {
				if fields = strings.ReplaceAll(fields, other.Path()+": "+example(other)+", ", ""); k.NamedByAll() {
					fields += other.Name + ": " + example(other) + ", "
				}
			}
			if k.Name == "project" {
				fields += "description: x, "
			}
			for what, name := range map[string]string{"a name with capitals": "Alpha One", "a name that is a key": "alpha", "a number": "8"} {
				first, second := fmt.Sprintf("%s: %q", f.Name, name), fmt.Sprintf("%s: %q", f.Name, name+" ")
				switch {
				case f.Type == resource.URL:
					first, second = f.Name+`: "https://example.com/a"`, f.Name+`: "https://example.com/a"`
				case k.NamedByAll():
					first, second = "on_drift: keep", "on_drift: keep"
				}
				for _, objects := range [][]string{
					{"{" + fields + first + ", key: one}", "{" + fields + second + ", key: two}"},
					{"{" + fields + first + "}", "{" + fields + second + ", key: two}"},
					{"{" + fields + first + ", key: one}", "{" + fields + second + "}"},
				} {
					if k.KeyFrom != nil && !slices.Contains(k.KeyFrom, f.Name) && !strings.Contains(objects[0]+objects[1], "name:") && !strings.Contains(objects[0], "key: one}") {
						continue
					}
					t.Run(k.Name+" by its "+f.Name+", "+what, func(t *testing.T) {
						t.Parallel()
						text := listed(k, objects...)
						_, found := load(t, text, manifest.Limits{})
						i := slices.IndexFunc(found, func(d diag.Diagnostic) bool { return d.Code == "duplicate-name" })
						if i < 0 || len(found[i].Related) != 1 || found[i].Column <= found[i].Related[0].Column {
							t.Errorf("%s\n%v", text, found)
						}
					})
				}
			}
		}
	}
}

func TestOnePersonHasOneRoleInAListOfMembers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ members, want string }{
		"two roles are an error":               {"{user: bob@example.com, role: guest}, {user: bob@example.com, role: admin}", "bob@example.com has two roles: guest and admin"},
		"the order of the two does not matter": {"{user: bob@example.com, role: admin}, ada@example.com, {user: bob@example.com, role: guest}", "bob@example.com has two roles: admin and guest"},
		"capitals make no other person":        {"{user: bob@example.com, role: guest}, {user: BOB@Example.com, role: admin}", "BOB@Example.com has two roles: guest and admin"},
		"blanks make no other person":          {"{user: bob@example.com, role: guest}, {user: ' bob@example.com ', role: admin}", " bob@example.com  has two roles: guest and admin"},
		"the case of an ID makes no other person": {
			"{user: 8a234ec6-0000-4000-8000-000000000000, role: guest}, {user: 8A234EC6-0000-4000-8000-000000000000, role: admin}",
			"8A234EC6-0000-4000-8000-000000000000 has two roles: guest and admin",
		},
		"the same role twice is one":                                   {"{user: bob@example.com, role: guest}, {user: bob@example.com, role: guest}", "bob@example.com guest"},
		"a role goes to whom is written without":                       {"bob@example.com, {user: Bob@example.com, role: guest}", "bob@example.com guest"},
		"a person who is written again without a role keeps the first": {"{user: bob@example.com, role: guest}, bob@example.com", "bob@example.com guest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, found := load(t, "version: 1\nprojects: [{identifier: RB, name: Robots, members: ["+tt.members+"]}]\n", manifest.Limits{})
			var got []string
			for _, d := range found {
				if got = append(got, d.Summary); len(d.Related) != 1 || d.Related[0].Column >= d.Column {
					t.Error(d)
				}
			}
			for _, o := range m.Objects {
				v, _ := o.Value("members")
				for _, r := range v.Refs {
					got = append(got, r.Text+" "+r.Attribute)
				}
			}
			if !slices.Equal(got, []string{tt.want}) || len(found) > 1 {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
