package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
)

// near is a file that is nearly an export, or that of something else: what it is, and what to export instead.
type near struct{ begin, what, hint string }

// nears are known by how they begin.
func nears() []near {
	const page = "export again from the browser, or by the tracker's API with a token"
	return []near{
		{`<(?:!doctype html|html)[\s\S]*<title>[^<]*basecamp`, "a page of Basecamp's export, which is made for reading", "there is no reader of Basecamp: make a table of " +
			"its to-dos, and convert it as csv"},
		{`<(?:!doctype html|html)`, "a web page, not an export", "the download met a page to log in, probably: " + page},
		{`(?:<\?xml[^>]*>\s*)?<hibernate-generic`, "an export of Confluence, which holds pages and no issues", "issues are in Jira: export these"},
		{
			`(?:"?card id"?[,;]"?card name"?)`, "the CSV of Trello, which lacks comments, checklists and colours",
			"export the board as JSON: Menu, Print, export and share, Export as JSON; or convert it as csv",
		},
		{
			`[,;\s]*"?https://app\.asana\.com/-/googleSheets`, "a sheet that Google Sheets has of Asana, with lines above the header",
			"delete the lines above that with Task ID; or export the project from Asana as CSV or JSON",
		},
		{
			`"?bug_id"?[,;]`, "a list of Bugzilla as CSV, which lacks texts and comments",
			"ask its REST API for the bugs, as docs/migrate.md shows; or convert it as csv",
		},
		{`(?:<\?xml[^>]*>\s*)?(?:<!doctype bugzilla[^>]*>\s*)?<bugzilla\b`, "the XML of Bugzilla", "ask its REST API for the bugs, as docs/migrate.md shows"},
		{
			`\{[\s\S]*"projects"\s*:\s*\[[\s\S]*"issues"\s*:\s*\[[\s\S]*"externalId"`, "a file that Jira's importer reads, made by some tool",
			"export from the tracker that it was made of, or from Jira after the import",
		},
		{
			`\[\s*\{\s*"type"\s*:\s*"issue"[\s\S]*"url"\s*:\s*"https?://[^"]*/issues/[0-9]+"[\s\S]*"repository"\s*:\s*"`, "a migration archive of GitHub",
			`export the issues instead: gh api --paginate "repos/O/R/issues?state=all&per_page=100"`,
		},
	}
}

// nearly says what a file is that no format knows, nil if that is not known either. tracker is that of a format that was named.
func nearly(head []byte, name, tracker string) error {
	if tracker == "" {
		tracker = "the service"
	}
	if message, ok := refusal(head); ok {
		return diag.WithHint(fmt.Errorf("%s:1: it is no export, but an error of %s: %s", name, tracker, diag.Truncate(message, 200)),
			"check the address and the token of the request, and export again; curl --fail writes no file of an error")
	}
	begin := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\uFEFF")))
	for _, n := range nears() {
		if regexp.MustCompile("^(?i:" + n.begin + ")").Match(begin) {
			return diag.WithHint(fmt.Errorf("%s:1: it is %s", name, n.what), n.hint)
		}
	}
	return nil
}

// refusal is what an API says instead of an answer: an object with nothing in it but that.
func refusal(head []byte) (message string, ok bool) {
	var answer map[string]any
	if json.Unmarshal(head, &answer) != nil { // it may be longer, too
		return "", false
	}
	for name, value := range answer {
		switch name {
		case "message", "error", "errors", "errorMessages", "err", "error_message":
			if text := said(value); text != "" && len(message) < len(text) {
				message = text
			}
		case "messages", "documentation_url", "status", "statusCode", "code", "type", "error_description", "ok", "success", "extensions", "warningMessages", "name",
			"ECODE", "path", "timestamp", "request_id", "error_code":
		default:
			return "", false
		}
	}
	return message, message != ""
}

// said is the first text in a value.
func said(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case []any:
		for _, one := range v {
			if text := said(one); text != "" {
				return text
			}
		}
	case map[string]any:
		for _, name := range []string{"message", "title", "detail", "name"} {
			if text := said(v[name]); text != "" {
				return text
			}
		}
		var all []string
		for _, one := range v {
			all = append(all, said(one))
		}
		slices.Sort(all)
		return strings.TrimSpace(strings.Join(all, " "))
	}
	return ""
}
