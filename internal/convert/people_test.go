package convert_test

import (
	"strings"
	"testing"
)

// Somebody who is no member is named in the text, and can be replaced.
func TestPeopleWhoLeftAreNamedOrReplaced(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mapping   string
		want, not []string
		lost      bool
	}{
		"a person who is unknown becomes text":                    {"unknown_people: text\n", []string{"Assignee in Jira: Ada L.", "Reported in Jira: Ada L., "}, []string{"assignees:", "created_by:"}, true},
		"somebody else becomes the assignee of an unknown person": {"unknown_people: bob@example.com\n", []string{"Assignee in Jira: Ada L.", "assignees: [bob@example.com]"}, []string{"created_by:"}, false},
		"somebody else becomes the author of an unknown person":   {"unknown_people: bob@example.com\nhistory: full\n", []string{"Reported in Jira: Ada L.\\\n", "created_by: bob@example.com"}, nil, false},
		"a full history names an unknown person as text":          {"unknown_people: text\nhistory: full\n", []string{"Reported in Jira: Ada L.\\\n"}, []string{"created_by:"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, map[string]string{"mapping.yaml": "# planform mapping\npeople: {5b10a2844c20165700ede21g: {as: Ada L.}}\n" + tt.mapping})
			r := must(t, dir, fixture{files: []string{"testdata/jira-cloud.csv"}}, nil)
			text := contents(t, dir)["shop.yaml"]
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q", want)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(text, not) {
					t.Errorf("%q is there", not)
				}
			}
			lost := false
			for _, l := range r.Report.Losses {
				lost = lost || l.Kind == "assignees"
			}
			if lost != tt.lost {
				t.Errorf("lost: %t", lost)
			}
		})
	}
}

// A question names the person of an ID, and somebody of two IDs is not reported as two people.
func TestQuestionsNameThePeopleOfIDs(t *testing.T) {
	t.Parallel()
	text, r := manifests(t, inline(t, "j.json", `[{"key":"A-1","self":"https://j.example.com/rest/api/2/issue/1","fields":{"summary":"One","project":{"key":"A","name":"A"},"status":{"name":"Open"},
		"reporter":{"accountId":"5","displayName":"Kim Doe"},"creator":{"accountId":"6","displayName":"Kim Doe"}}}]`), "")
	if len(r.Questions) != 2 || r.Questions[0].Name != "5" || r.Questions[0].Called != "Kim Doe" || strings.Contains(text, "written by") {
		t.Errorf("%+v\n%s", r.Questions, text)
	}
}
