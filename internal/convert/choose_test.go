package convert_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// An export is recognised however much stands before the names that tell it.
func TestAnExportIsRecognisedByItsFirstWholeRecord(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70_000)
	issue := func(n int, comments string) string {
		return fmt.Sprintf(`{"author":{"login":"kim"},"body":"b","comments":[%s],"number":%d,"state":"OPEN","title":"Issue %[2]d","url":"https://github.com/o/r/issues/%[2]d"}`, comments, n)
	}
	comment := `{"author":{"login":"lee"},"body":"` + long + `","createdAt":"2025-01-01T00:00:00Z"}`
	names := make([]string, 3000)
	for n := range names {
		names[n] = fmt.Sprintf(`"customfield_%d":"A field of the site that nobody uses"`, n)
	}
	for name, tt := range map[string]struct {
		files  map[string]string
		format string
		items  int
	}{
		"comments before the number":        {map[string]string{"1.json": "[" + issue(9, comment) + "," + issue(8, "") + "]", "2.json": "[" + issue(7, "") + "]"}, "github", 3},
		"the names of all fields of a site": {map[string]string{"1.json": "{" + `"names":{` + strings.Join(names, ",") + `},"issues":[{"key":"A-1","fields":{"summary":"One","project":{"key":"A"},"status":{"name":"Open"}}}]}`}, "jira-json", 1},
		"a board whose names were sorted": {map[string]string{"1.json": `{"actions":[{"id":"a","type":"commentCard","date":"2025-01-02T00:00:00Z","data":{"text":"` + long +
			`","card":{"id":"c1"}}}],"cards":[{"id":"c1","idShort":1,"name":"Card","idList":"l1","idBoard":"b1","shortLink":"abc"}],"id":"b1","labelNames":{},"labels":[],"lists":[{"id":"l1","name":"Doing"}],"members":[],"name":"B","shortLink":"s","url":"https://trello.com/b/s"}`}, "trello", 1},
		"comments before the identifier": {map[string]string{"1.json": `[{"comments":{"nodes":[{"body":"` + long + `"}]},"identifier":"A-1","title":"One","state":{"name":"Todo"},"team":{"key":"A","name":"A"}}]`}, "linear-json", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, filepath.Join(dir, "in"), tt.files)
			r := must(t, filepath.Join(dir, "out"), fixture{files: []string{filepath.Join(dir, "in")}}, nil).Report
			if r.Source.Format != tt.format || r.Carried.Items != tt.items {
				t.Errorf("%+v, %d items", r.Source, r.Carried.Items)
			}
		})
	}
}

func TestBlanksAfterTwoByteOrderMarksAreNoExport(t *testing.T) {
	t.Parallel()
	_, err := run(t, t.TempDir(), inline(t, "i.json", "\uFEFF\uFEFF"+strings.Repeat(" ", 70_000)), nil)
	if err == nil || !strings.Contains(err.Error(), "it is not a known export") {
		t.Error(err)
	}
}
