package described

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/planform/planform/internal/convert/jira/wiki"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/text/diag"
)

// bitbucketAddress matches the address of an issue.
var bitbucketAddress = regexp.MustCompile(`/([^/]+/[^/]+)/issues/[0-9]{1,9}(?:/|$)`)

// bitbucket describes the export of a repository's issues (db-1.0.json, db-2.0.json), with separate lists of issues, comments, attached
// files and changes. It also reads pages of issues and of comments from the REST API of Bitbucket Cloud.
func bitbucket() *api { return described(textOf("bitbucket"), bitbucketHooks) }

// creoleCode matches code of Creole, with the ends of lines around it, and code of Markdown, which stays.
var creoleCode = regexp.MustCompile("(?s)```.*?```|([ \\t]*\n?)\\{\\{\\{(.*?)\\}\\}\\}([ \\t]*\n?)")

// fromCreole returns code of Creole as code of Markdown: a block if it has several lines, else a part of its line.
func fromCreole(part string) string {
	m := creoleCode.FindStringSubmatch(part)
	switch body := strings.TrimSpace(m[2]); {
	case body == "":
		return part
	case !strings.Contains(m[2], "\n"):
		return m[1] + wiki.CodeSpan(body) + m[3]
	}
	body := strings.TrimRight(strings.TrimPrefix(strings.TrimLeft(m[2], " \t"), "\n"), " \t\n")
	language := ""
	if first, rest, ok := strings.Cut(body, "\n"); ok && strings.HasPrefix(first, "#!") {
		language, body = strings.TrimSpace(first[2:]), rest
	}
	return "\n" + strings.Join(wiki.Fence(body, language), "\n") + "\n"
}

func bitbucketHooks() hooks {
	database := "" // the export among the files
	return hooks{
		text: func(text string) string { return creoleCode.ReplaceAllStringFunc(text, fromCreole) },
		record: func(x *reader, r records.Record, v records.Value) (bool, error) {
			if r.List != "" && r.List != "values" {
				if database == "" {
					database = r.Position.File
				}
				if database != r.Position.File {
					return false, diag.WithHint(fmt.Errorf("%s: it is the export of another repository than %s", r.Position, database),
						"an export does not name its repository: convert each to a folder of its own")
				}
			}
			if m := bitbucketAddress.FindStringSubmatch(x.text(v, []string{"links.self.href", "links.html.href"})); m != nil {
				x.project(m[1]).Name = lastPart(m[1], '/')
				x.scope = m[1]
			} else {
				x.scope = x.name
			}
			return false, nil
		},
	}
}
