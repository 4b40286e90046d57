package convert_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/diag"
)

func TestWhatIsNearlyAnExportSaysWhatToExport(t *testing.T) {
	t.Parallel()
	const migration = `[{"type":"issue","url":"https://github.com/o/r/issues/1","repository":"https://github.com/o/r","title":"t"}]`
	for name, tt := range map[string]struct{ file, format, text, want, hint string }{
		"an error of GitHub":            {"a.json", "github", `{"message":"Not Found","documentation_url":"https://docs.github.com/rest","status":"404"}`, "FILE:1: it is no export, but an error of GitHub: Not Found", "token"},
		"an error of somebody":          {"a.json", "auto", `{"message":"Not Found"}`, "FILE:1: it is no export, but an error of the service: Not Found", "token"},
		"an error of Jira":              {"a.json", "jira-json", `{"errorMessages":["Issue does not exist"],"errors":{}}`, "FILE:1: it is no export, but an error of Jira: Issue does not exist", "token"},
		"an error of GraphQL":           {"a.json", "linear-json", `{"errors":[{"message":"Authentication required"}]}`, "FILE:1: it is no export, but an error of Linear: Authentication required", "token"},
		"an error of GitLab":            {"a.json", "gitlab", `{"error":"invalid_token","error_description":"Token was revoked."}`, "FILE:1: it is no export, but an error of GitLab: invalid_token", "token"},
		"a page for JSON":               {"a.json", "github", "<!DOCTYPE html><html><title>Sign in</title>", "FILE:1: it is a web page", "log in"},
		"a page of Basecamp":            {"a.html", "auto", "<!DOCTYPE html><html><head><title>Basecamp: Web shop</title>", "FILE:1: it is a page of Basecamp's export", "csv"},
		"a space of Confluence":         {"entities.xml", "auto", "<?xml version=\"1.0\"?>\n<hibernate-generic datetime=\"x\">", "FILE:1: it is an export of Confluence", "Jira"},
		"the CSV of Trello":             {"a.csv", "auto", "Card ID,Card Name,Card URL,List Name\n1,a,b,c\n", "FILE:1: it is the CSV of Trello", "Export as JSON"},
		"the CSV of Trello, for Trello": {"a.csv", "trello", "Card ID,Card Name,Card URL,List Name\n1,a,b,c\n", "FILE:1: it is the CSV of Trello", "Export as JSON"},
		"a list of Bugzilla":            {"a.csv", "auto", "\"bug_id\",\"product\",\"short_desc\"\n1,a,b\n", "FILE:1: it is a list of Bugzilla", "REST API"},
		"such a list, for Bugzilla":     {"a.csv", "bugzilla", "bug_id,\"bug_severity\",\"short_desc\"\n1,a,b\n", "FILE:1: it is a list of Bugzilla", "REST API"},
		"bugs of Bugzilla as XML":       {"a.xml", "auto", "<?xml version=\"1.0\"?>\n<!DOCTYPE bugzilla SYSTEM \"x\">\n<bugzilla version=\"5.0\">", "FILE:1: it is the XML of Bugzilla", "REST API"},
		"Asana's sheet of Google":       {"a.csv", "auto", ",,\n,,https://app.asana.com/-/googleSheetsProjectCsv?domain=1\n,,\nTask ID,Name\n1,a\n", "FILE:1: it is a sheet that Google Sheets has of Asana", "Task ID"},
		"what Jira imports":             {"a.json", "auto", `{"users": [], "projects": [{"key": "A", "issues": [{"externalId": "1", "summary": "x"}]}]}`, "FILE:1: it is a file that Jira's importer reads", "Jira"},
		"a migration of GitHub":         {"issues_000001.json", "github", migration, "FILE:1: it is a migration archive of GitHub", "gh api"},
		"such an archive":               {"a.zip/issues_000001.json", "auto", migration, "FILE:1: it is a migration archive of GitHub", "gh api"},
		"pages in an archive":           {"a.zip/index.html", "auto", "<html><title>Basecamp</title>", "FILE:1: it is a page of Basecamp's export", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			name, inside, packed := strings.Cut(tt.file, "/")
			text := tt.text
			if packed {
				text = pack(t, entry{name: inside, text: text})
			}
			put(t, dir, map[string]string{name: text})
			path := filepath.Join(dir, name)
			_, err := run(t, filepath.Join(dir, "to"), fixture{files: []string{path}}, func(o *convert.Options) { o.Format = tt.format })
			want := strings.Replace(tt.want, "FILE", filepath.Join(dir, filepath.FromSlash(tt.file)), 1)
			if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(diag.HintOf(err), tt.hint) {
				t.Errorf("%v (%s), want %s", err, diag.HintOf(err), want)
			}
		})
	}
}
