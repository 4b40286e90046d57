package resource

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/text/markup"
)

func init() {
	const path = workspace + "projects/{project_id}/work-items/{work_item_id}/comments/"
	register(Kind{
		Name: "comment", Section: "comments", Parent: "work_item", Param: "comment_id", Scope: "projects.work_items.comments", HasExternalID: true, UniqueExternalID: true,
		Listing: Listing{Unmanaged: []string{"reactions"}},
		Doc: "A comment on a work item. It needs a `key`, so that planform can recognise its own comment later. " +
			"Comments of people are left alone.",
		Example: `{key: decision, text: We go with **one** page.}`,
		Fields: []Field{
			{
				Name: "text", Wire: Wire{ContractDialect: "comment_html"}, Type: Markdown, Required: true,
				Doc: "The comment in Markdown; it is sent as HTML.", Example: "We go with **one** page.",
			},
			{
				Name: "comment_html", Type: HTML, Doc: "The comment as HTML, passed through unchanged.",
				Example: "<p>We go with <strong>one</strong> page.</p>",
			},
			{
				Name: "author", Virtual: true, Type: Text, Person: commentAuthor, MaxLength: 255,
				Doc:     "Author of an imported comment, in any words. It leads the text, since the service shows the owner of the credential.",
				Example: "Ada Lovelace",
			},
			{
				Name: "created_at", Wire: Wire{V2Dialect: NotTaken}, Type: Text, Immutable: true, Past: true, TextRules: momentRules(),
				Doc: "Original creation time of an imported comment. API v1 stores it. With an `author`, it also leads the text, in its own time zone.", Example: "2024-05-17T09:30:00Z",
			},
			{
				Name: "access", Type: Enum, Enum: []string{"INTERNAL", "EXTERNAL"}, Default: "INTERNAL",
				Doc: "Who sees it: the workspace, or everybody if the project is published.", Example: "INTERNAL",
			},
		},
		Operations: append([]Operation{
			{Verb: Get, ContractRow: 16, Path: path + "{comment_id}/", GetCommand: "comment", Doc: "Reads one comment of a work item."},
		}, append(crud(path, "comment_id", "lcud"), bulk(workspaceV2+"projects/{project_id}/work-items/{work_item_id}/comments/")...)...),
	})
}

// storedAsSent reports whether the service stores the HTML of a field unchanged. It does so with comments.
func (f *Field) storedAsSent() bool { return f.APIName() == "comment_html" }

// commentAuthor returns the ID of the author in the row of a comment.
func commentAuthor(r Row) string {
	return cmp.Or(r.Text("created_by"), r.Text("created_by_id"), r.Text("actor"))
}

// MoveHeader moves the author of an imported comment to the beginning of its text, and a time after it, because the service shows its own.
// The text of an exported comment contains them already.
func (o *Object) MoveHeader() {
	author, given := o.Value("author")
	if !given || author.Field.Person == nil {
		return
	}
	name, field := author.Text, author.Field
	if o.Values = slices.DeleteFunc(o.Values, func(v Value) bool { return v.Field == field }); name == "" || o.Exported {
		return
	}
	header := "**" + markup.Escape(name) + "**"
	if created := o.Text("created_at"); created != "" {
		header += " · " + displayTime(created)
	}
	for i := range o.Values {
		if v := &o.Values[i]; v.Field.Rich() {
			v.Header = header
		}
	}
}

// displayTime returns a moment for people, in its own time zone.
func displayTime(text string) string {
	if at, ok := parseMoment(text); ok {
		return Moment(at)
	}
	return text
}

// Moment returns a time as people write it, with its zone, such as 2 Jan 2006, 15:04 UTC+5:30.
func Moment(at time.Time) string {
	zone := "UTC"
	if _, offset := at.Zone(); offset != 0 {
		zone += strings.TrimSuffix(strings.NewReplacer("+0", "+", "-0", "-").Replace(at.Format("-07:00")), ":00")
	}
	return at.Format("2 Jan 2006, 15:04 ") + zone
}
