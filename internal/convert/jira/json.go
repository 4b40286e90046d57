package jira

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/jira/adf"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/text/diag"
)

// JSON returns the format of the REST API's answers: pages of a search, arrays or lines of issues, single issues.
//
// An export may also have pages of comments (issue/KEY/comment), because a search returns only the first comments, and the list of fields
// (field), which names custom fields if the search returned no names. See json_fields.go for the custom fields.
func JSON() *convert.Format {
	return &convert.Format{Name: "jira-json", Tracker: "Jira", Detect: detectJSON, Read: readJSON}
}

// detectJSON returns the fields by which a file of issues, comments or fields is recognised.
func detectJSON(head []byte, _ string) (string, bool) {
	has := func(names ...string) bool { return records.Name(head, names...) }
	switch {
	case has("key", "fields") && (has("issues") || has("summary") || has("self")):
		return "the fields key and fields", true
	case has("issues", "isLast"), has("issues", "startAt"):
		return "the field issues", true
	case has("comments", "startAt"), has("updateAuthor", "body"):
		return "the fields of comments", true
	case has("custom", "schema", "searchable"):
		return "the fields custom and schema", true
	}
	return "", false
}

// answer is any JSON object of a file.
type answer struct {
	ID     string          `json:"id"`
	Key    string          `json:"key"`
	Self   string          `json:"self"`
	Fields json.RawMessage `json:"fields"`
	// Of a page.
	Total  *int              `json:"total"`
	Start  *int              `json:"startAt"`
	Last   *bool             `json:"isLast"`
	Next   string            `json:"nextPageToken"`
	Names  map[string]string `json:"names"`
	Schema json.RawMessage   `json:"schema"` // of all fields, or of one
	Errors []string          `json:"errorMessages"`
	Expand string            `json:"expand"`
	Max    *int              `json:"maxResults"`
	Warn   []json.RawMessage `json:"warningMessages"`
	Name   string            `json:"name"` // of a field
	Body   json.RawMessage   `json:"body"` // of a comment
}

type named struct {
	Name string `json:"name"`
}

type titled struct {
	Summary string `json:"summary"`
}

type linked struct {
	Key    string `json:"key"`
	Fields titled `json:"fields"`
}

type user struct {
	AccountID string `json:"accountId"`
	Name      string `json:"name"`
	Key       string `json:"key"`
	Display   string `json:"displayName"`
	Email     string `json:"emailAddress"`
	Type      string `json:"accountType"`
	Active    *bool  `json:"active"`
}

type comment struct {
	ID         string          `json:"id"`
	Self       string          `json:"self"`
	Author     *user           `json:"author"`
	Body       json.RawMessage `json:"body"`
	Created    string          `json:"created"`
	Public     *bool           `json:"jsdPublic"`
	Visibility json.RawMessage `json:"visibility"`
}

// fields holds the fields of an issue that every site has.
type fields struct {
	Summary     string          `json:"summary"`
	Description json.RawMessage `json:"description"`
	Environment json.RawMessage `json:"environment"`
	Type        *named          `json:"issuetype"`
	Status      *struct {
		named

		Category struct {
			Key string `json:"key"`
		} `json:"statusCategory"`
	} `json:"status"`
	Priority   *named   `json:"priority"`
	Security   *named   `json:"security"`
	Resolution *named   `json:"resolution"`
	Resolved   string   `json:"resolutiondate"`
	Labels     []string `json:"labels"`
	Components []named  `json:"components"`
	Versions   []struct {
		named

		Due string `json:"releaseDate"`
	} `json:"fixVersions"`
	Affects  []named `json:"versions"`
	Assignee *user   `json:"assignee"`
	Reporter *user   `json:"reporter"`
	Creator  *user   `json:"creator"`
	Created  string  `json:"created"`
	Updated  string  `json:"updated"`
	Due      string  `json:"duedate"`
	Subtasks []struct {
		Key    string `json:"key"`
		Fields struct {
			Summary string `json:"summary"`
		} `json:"fields"`
	} `json:"subtasks"`
	Parent *struct {
		ID     string `json:"id"`
		Key    string `json:"key"`
		Fields titled `json:"fields"`
	} `json:"parent"`
	Project *struct {
		Key  string `json:"key"`
		Name string `json:"name"`
	} `json:"project"`
	Links []struct {
		Type struct {
			named

			Inward  string `json:"inward"`
			Outward string `json:"outward"`
		} `json:"type"`
		Inward  *linked `json:"inwardIssue"`
		Outward *linked `json:"outwardIssue"`
	} `json:"issuelinks"`
	Comment struct {
		Comments []comment `json:"comments"`
		Total    int       `json:"total"`
	} `json:"comment"`
	Attachments []struct {
		ID   string `json:"id"`
		Name string `json:"filename"`
		URL  string `json:"content"`
		Size int64  `json:"size"`
	} `json:"attachment"`
	Worklog struct {
		Total int `json:"total"`
		Logs  []struct {
			Author  *user           `json:"author"`
			Text    json.RawMessage `json:"comment"`
			Started string          `json:"started"`
			Seconds int             `json:"timeSpentSeconds"`
		} `json:"worklogs"`
	} `json:"worklog"`
	Votes struct {
		Votes int `json:"votes"`
	} `json:"votes"`
	Watches struct {
		Count int `json:"watchCount"`
	} `json:"watches"`
	Estimate  int `json:"timeoriginalestimate"`
	Remaining int `json:"timeestimate"`
	Spent     int `json:"timespent"`
}

// jsonExport holds the contents of all files.
type jsonExport struct {
	in       convert.Input
	to       convert.Sink
	roles    *convert.Roles
	issues   []*jsonIssue
	latest   map[string]*jsonIssue // by ID: pages overlap
	pages    []convert.Parts       // values of pages outside of their issues
	comments map[string][]comment
	apart    convert.Apart     // with comments, in files of their own
	names    map[string]string // of custom fields
	kinds    map[string]string // of custom fields
	totals   map[int]bool      // numbers of issues that searches found
	open     int               // pages with a next page
	ended    bool
	site     string
	unnamed  bool // there are custom fields without a name
	moments  bool // some days depend on the zone
}

type jsonIssue struct {
	convert.Issue

	total  int // of comments
	parent string
	custom map[string]json.RawMessage
	record convert.Parts // the answer, until its values are booked
}

// readJSON reads the files as one export.
func readJSON(ctx context.Context, in convert.Input, to convert.Sink) error {
	e := &jsonExport{
		in: in, to: to, roles: rolesOf("rest"), latest: map[string]*jsonIssue{}, comments: map[string][]comment{},
		names: map[string]string{}, kinds: map[string]string{}, totals: map[int]bool{},
	}
	if err := in.Each(ctx, e.file); err != nil {
		return err
	}
	distinct, there := map[string]bool{}, map[string]bool{}
	for _, i := range e.issues {
		if err := e.finish(ctx, i); err != nil {
			return err
		}
		there[i.ID], there[i.Key] = true, true
		i.custom = nil                                 // the largest part of an issue
		if i.ID == "" || e.latest[i.ID].Key == i.Key { // else it was moved to another project while the pages were read
			to.Issue(&i.Issue)
			distinct[i.Key] = true
		}
	}
	for _, page := range e.pages {
		if err := e.enter(ctx, page, nil); err != nil {
			return err
		}
	}
	for _, issue := range slices.Sorted(maps.Keys(e.comments)) {
		if n := len(e.comments[issue]); n > 0 && !there[issue] {
			to.Lose("comments-outside", issue, n)
		}
	}
	e.apart.Close(to)
	to.Site(e.site, "/browse/{key}")
	e.notes(len(distinct))
	return nil
}

func (e *jsonExport) notes(issues int) {
	for total := range e.totals {
		if len(e.totals) == 1 && total > issues {
			e.to.Note("pages-missing", fmt.Sprintf("the search found %d issues, and the files hold %d: export the other pages, too", total, issues))
		}
	}
	if e.open > 0 && !e.ended {
		e.to.Note("pages-missing", "no page says that it is the last one: export the other pages, too, with nextPageToken")
	}
	if e.unnamed {
		e.to.Note("fields-without-names",
			"custom fields are known by their IDs only: search with expand=names, or add a file of /rest/api/3/field")
	}
	if e.moments {
		e.to.AssumedZone()
	}
}

func (e *jsonExport) file(ctx context.Context, text io.Reader, name string) error {
	listed := false // the object around a list may have no values
	return records.Read(ctx, text, name, []string{"issues", "comments", "values"}, func(r records.Record) error {
		listed = listed || r.List != ""
		var one answer
		if err := r.Decode(&one, "answer of Jira"); err != nil {
			return err
		}
		switch {
		case len(one.Errors) > 0:
			text := diag.Truncate(strings.Join(one.Errors, " "), 200)
			return diag.WithHint(fmt.Errorf("%s: the file is not an export, but an error of Jira: %s", r.Position, text),
				"export again, with the request /rest/api/3/search/jql (Cloud) or /rest/api/2/search (Server)")
		case len(one.Body) > 0:
			return e.comment(r)
		case len(one.Fields) > 0 && one.Key != "":
			e.describe(one.Names, one.Schema)
			return e.issue(r, &one)
		case r.List == "issues" || len(one.Fields) > 0:
			return diag.WithHint(fmt.Errorf("%s: an issue without key and fields", r.Position), "ask for them: fields=*all&expand=names")
		case one.ID != "" && one.Name != "":
			e.define(one.ID, one.Name, one.Schema)
			e.roles.Enter(e.to, nil, e.values(r, "names"))
			return nil
		case !listed && one.Total == nil && one.Start == nil && one.Last == nil && one.Max == nil && one.Next == "" && one.Expand == "" &&
			one.Names == nil && one.Schema == nil && one.Warn == nil:
			return diag.WithHint(fmt.Errorf("%s: it is no answer of Jira: neither issue nor comment nor field", r.Position),
				"name what /rest/api/3/search/jql, /rest/api/2/search, issue/KEY/comment or field answered")
		}
		e.describe(one.Names, one.Schema)
		e.page(&one)
		e.pages = append(e.pages, convert.Parts{})
		return e.keep(&e.pages[len(e.pages)-1], r)
	})
}

// values returns the values of a record, with a prefix in front of their names. Fields of issues have their own names.
func (e *jsonExport) values(r records.Record, prefix string) iter.Seq2[string, string] {
	return func(yield func(name, text string) bool) {
		for name, text := range r.Values(prefix, func(name string) bool { return e.roles.Whole(strings.TrimPrefix(name, "fields.")) }) {
			if !yield(strings.TrimPrefix(name, "fields."), text) {
				return
			}
		}
	}
}

// page records the total of a search, and whether other pages follow.
func (e *jsonExport) page(one *answer) {
	if one.Total != nil && one.Expand != "" { // of a search: comments have no expand
		e.totals[*one.Total] = true
	}
	if one.Last != nil && *one.Last {
		e.ended = true
	} else if one.Last != nil || one.Next != "" {
		e.open++
	}
}

func (e *jsonExport) issue(r records.Record, one *answer) error {
	var all struct {
		Fields    map[string]json.RawMessage `json:"fields"`
		Changelog struct {
			Total     int `json:"total"`
			Histories []struct {
				Author  *user  `json:"author"`
				Created string `json:"created"`
				Items   []struct {
					Field string `json:"field"`
					From  string `json:"fromString"`
					To    string `json:"toString"`
				} `json:"items"`
			} `json:"histories"`
		} `json:"changelog"`
	}
	var typed struct {
		Fields fields `json:"fields"`
	}
	if err := cmp.Or(r.Decode(&all, "issue of Jira"), r.Decode(&typed, "issue of Jira")); err != nil {
		return err
	}
	key, number, ok := keyOf(one.Key)
	if !ok {
		return fmt.Errorf("%s: %q is no issue key", r.Position, diag.Truncate(one.Key, 40))
	}
	f := &typed.Fields
	project := convert.Project{Key: key}
	if f.Project != nil && f.Project.Key == key {
		project.Name = f.Project.Name
	}
	e.to.Project(project)
	i := &jsonIssue{custom: map[string]json.RawMessage{}, total: f.Comment.Total, Issue: convert.Issue{
		Key: one.Key, ID: one.ID, Project: key, Number: number, Title: f.Summary, Position: r.Position,
		Type: nameOf(f.Type), Priority: nameOf(f.Priority), Resolution: nameOf(f.Resolution), Reporter: e.person(f.Reporter),
		Creator: e.person(f.Creator),
		Left:    map[string]int{"worklogs": f.Worklog.Total, "votes": f.Votes.Votes, "watchers": f.Watches.Count},
	}}
	if f.Security != nil {
		i.Restricted = securityLevel
	}
	for _, text := range []struct {
		raw  json.RawMessage
		to   *convert.Text
		name string
	}{{f.Description, &i.Text, "description"}, {f.Environment, &i.Environment, "environment"}} {
		var ok bool
		if *text.to, ok = textOf(text.raw); !ok {
			return fmt.Errorf("%s: the %s of %s is neither text nor document", r.Position, text.name, one.Key)
		}
	}
	for _, w := range f.Worklog.Logs {
		text, ok := textOf(w.Text)
		if !ok {
			i.Left["texts-not-understood"]++
		}
		i.Work = append(i.Work, convert.Work{Author: e.person(w.Author), At: moment(i, w.Started), Seconds: w.Seconds, Text: text})
	}
	i.Left["worklogs"] = max(f.Worklog.Total, len(i.Work))
	for _, h := range all.Changelog.Histories {
		for _, one := range h.Items {
			event := convert.Event{Author: e.person(h.Author), At: moment(i, h.Created), Field: one.Field, From: one.From, To: one.To}
			i.Events = append(i.Events, event)
		}
	}
	i.Left["history"] = len(i.Events) + max(0, all.Changelog.Total-len(all.Changelog.Histories))
	if f.Status != nil {
		i.State = convert.State{Name: f.Status.Name, Category: categoryOf(f.Status.Category.Key)}
	}
	if id := e.person(f.Assignee); id != "" {
		i.Assignees = []string{id}
	}
	for _, name := range f.Labels {
		i.Labels = append(i.Labels, convert.Label{Name: name})
	}
	for _, c := range f.Components {
		i.Components = append(i.Components, c.Name)
	}
	for _, v := range f.Versions {
		i.Versions = append(i.Versions, convert.Version{Name: v.Name, Due: date(i, v.Due)})
	}
	for _, v := range f.Affects {
		i.Affects = append(i.Affects, v.Name)
	}
	i.Due = date(i, f.Due)
	i.Created, i.Updated = moment(i, f.Created), moment(i, f.Updated)
	for _, child := range f.Subtasks {
		i.Children = append(i.Children, convert.Link{To: child.Key, Title: child.Fields.Summary})
	}
	if f.Parent != nil {
		i.Parent, i.parent, i.ParentTitle = f.Parent.Key, f.Parent.ID, f.Parent.Fields.Summary
	}
	for _, l := range f.Links {
		if l.Outward != nil {
			i.Links = append(i.Links, convert.Link{Type: l.Type.Name, To: l.Outward.Key, Word: l.Type.Outward, Other: l.Type.Inward, Title: l.Outward.Fields.Summary})
		}
		if l.Inward != nil {
			i.Links = append(i.Links, convert.Link{Type: l.Type.Name, To: l.Inward.Key, Inward: true, Word: l.Type.Inward, Other: l.Type.Outward, Title: l.Inward.Fields.Summary})
		}
	}
	for _, a := range f.Attachments {
		i.Attachments = append(i.Attachments, convert.Attachment{ID: a.ID, Name: a.Name, URL: a.URL, Size: a.Size})
	}
	times(&i.Issue, moment(i, f.Resolved), f.Estimate, f.Remaining, f.Spent)
	if err := e.keep(&i.record, r); err != nil {
		return err
	}
	e.comments[at(one)] = append(e.comments[at(one)], f.Comment.Comments...)
	if base, _, ok := strings.Cut(one.Self, "/rest/"); ok && e.site == "" && !strings.Contains(base, "api.atlassian.com") {
		e.site = base
	}
	for id, raw := range all.Fields {
		if strings.HasPrefix(id, "customfield_") && string(raw) != "null" && string(raw) != "[]" && string(raw) != `""` {
			i.custom[id] = raw
		}
	}
	if had := e.latest[i.ID]; i.ID != "" && (had == nil || !had.Updated.After(i.Updated)) {
		e.latest[i.ID] = i
	}
	e.issues = append(e.issues, i)
	return nil
}

// at returns the ID or key by which comments name their issue.
func at(one *answer) string { return cmp.Or(one.ID, one.Key) }

func nameOf(n *named) string {
	if n == nil {
		return ""
	}
	return n.Name
}

// textOf returns a text: wiki markup in version 2 of the API, a document in version 3.
func textOf(raw json.RawMessage) (convert.Text, bool) {
	var s string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return convert.Text{}, true
	case json.Unmarshal(raw, &s) == nil:
		return convert.Text{Markup: convert.JiraWiki, Body: s}, true
	}
	return convert.Text{Markup: convert.ADF, Body: string(raw)}, adf.Is(raw)
}

var commentAddress = regexp.MustCompile(`/issue/([^/]+)/comment/`)

// comment reads a comment from a page of comments.
func (e *jsonExport) comment(r records.Record) error {
	var c comment
	if err := r.Decode(&c, "comment of Jira"); err != nil {
		return err
	}
	m := commentAddress.FindStringSubmatch(c.Self)
	if m == nil {
		return fmt.Errorf("%s: the comment does not name its issue (in the field self)", r.Position)
	}
	if _, ok := textOf(c.Body); !ok {
		return fmt.Errorf("%s: the comment is neither a text nor an Atlassian document", r.Position)
	}
	e.comments[m[1]] = append(e.comments[m[1]], c)
	e.roles.Enter(e.to, e.apart.Of(m[1]), e.values(r, "comment.comments"))
	return nil
}

// keep stores a record. Its values are booked when all files are read.
func (e *jsonExport) keep(of *convert.Parts, r records.Record) error {
	var record json.RawMessage
	err := r.Decode(&record, "answer of Jira")
	e.in.Keep(of, record)
	return err
}

// enter books the values of stored records, with an issue or with the export.
func (e *jsonExport) enter(ctx context.Context, of convert.Parts, i *convert.Issue) error {
	kept, err := e.in.Kept(of)
	for _, record := range kept {
		err = cmp.Or(err, records.Read(ctx, bytes.NewReader(record), "", nil, func(r records.Record) error {
			e.roles.Enter(e.to, i, e.values(r, ""))
			return nil
		}))
	}
	return err
}

// finish books the values of an issue, and adds values from other files.
func (e *jsonExport) finish(ctx context.Context, i *jsonIssue) error {
	if err := e.enter(ctx, i.record, &i.Issue); err != nil {
		return err
	}
	if i.Parent == "" && i.parent != "" {
		i.Parent = "issue " + i.parent // outside the export
		if parent := e.latest[i.parent]; parent != nil {
			i.Parent = parent.Key
		}
	}
	e.apart.Join(&i.Issue, i.ID)
	e.apart.Join(&i.Issue, i.Key)
	e.fields(i)
	list := e.comments[i.ID]
	if i.ID == "" || i.ID != i.Key {
		list = slices.Concat(list, e.comments[i.Key])
	}
	comments := convert.Comments{}
	for _, c := range list {
		text, ok := textOf(c.Body)
		if !ok {
			i.Left["texts-not-understood"]++
		}
		hidden := c.Public != nil && !*c.Public || len(c.Visibility) > 0 && string(c.Visibility) != "null"
		comments.Add(i.Key, convert.Comment{ID: c.ID, Author: e.person(c.Author), At: moment(i, c.Created), Text: text, Hidden: hidden})
	}
	discuss(&i.Issue, comments[i.Key], i.total)
	return nil
}

// person records a user and returns the ID: the account ID on Cloud, the name on Server.
func (e *jsonExport) person(u *user) string {
	if u == nil {
		return ""
	}
	id := cmp.Or(u.AccountID, u.Name, u.Key, u.Display)
	if id != "" {
		e.to.Person(convert.Person{ID: id, Name: u.Display, Email: u.Email, Bot: u.Type == "app", Left: u.Active != nil && !*u.Active})
	}
	return id
}

// moment reads a date with a time. Jira writes an offset without a colon.
func moment(i *jsonIssue, text string) time.Time {
	return i.Moment(text, "2006-01-02T15:04:05.999-0700", time.RFC3339)
}

// date reads a calendar date without a change of zone.
func date(i *jsonIssue, text string) string {
	return dates.Day(i.Moment(text, time.DateOnly))
}
