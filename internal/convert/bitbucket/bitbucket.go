// Package bitbucket reads issues of Bitbucket Cloud: the export of a repository's issues (db-1.0.json, db-2.0.json), and pages of
// issues and of comments as the REST API answers them.
//
// In an export lists of issues, comments, attached files and changes stand beside one another, in any order.
// The package must not know manifests.
package bitbucket

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/tabular"
	"github.com/planform/planform/internal/diag"
)

// Format is issues of Bitbucket Cloud, as JSON.
func Format() *convert.Format {
	return &convert.Format{Name: "bitbucket", Tracker: "Bitbucket", Detect: detect, Read: read}
}

var exportName = regexp.MustCompile(`(?:^|[/\\])db-[12]\.0\.json$`)

// detect looks for the fields of issues and comments. An export may begin with any list: its name tells, too.
func detect(head []byte, name string) (string, bool) {
	has := func(names ...string) bool { return records.Name(head, names...) }
	switch {
	case exportName.MatchString(name) && (has("issues") || has("comments") || has("attachments") || has("logs") || has("meta")):
		return "the name of the file", true
	case has("issues", "kind", "reporter", "content_updated_on"):
		return "the fields kind and content_updated_on", true
	case has("raw", "kind", "reporter", "created_on"):
		return "the fields kind and reporter", true
	case has("raw", "issue", "user", "created_on", "issue_comment"):
		return "the type issue_comment", true
	}
	return "", false
}

// valueList says what values are for.
//
//go:embed values.txt
var valueList string

// user is somebody: a login in the first version of exports, and an account since.
type user struct {
	Account string `json:"account_id"`
	UUID    string `json:"uuid"`
	Nick    string `json:"nickname"`
	Name    string `json:"display_name"`
}

// UnmarshalJSON takes both.
func (u *user) UnmarshalJSON(data []byte) error {
	type plain user
	if json.Unmarshal(data, &u.Nick) == nil {
		return nil
	}
	return json.Unmarshal(data, (*plain)(u))
}

// word is a text, which the API wraps up: a name, or the source of a text.
type word string

// UnmarshalJSON takes both.
func (w *word) UnmarshalJSON(data []byte) error {
	var wrapped struct {
		Name string `json:"name"`
		Raw  string `json:"raw"`
	}
	if json.Unmarshal(data, (*string)(w)) == nil {
		return nil
	}
	err := json.Unmarshal(data, &wrapped)
	*w = word(cmp.Or(wrapped.Name, wrapped.Raw))
	return err
}

// number is a number, which the first version writes as a text, or what has one as its ID.
type number int

// UnmarshalJSON takes all of these.
func (n *number) UnmarshalJSON(data []byte) error {
	var wrapped struct {
		ID int `json:"id"`
	}
	if i, err := strconv.Atoi(strings.Trim(string(data), `"`)); err == nil {
		*n = number(i)
		return nil
	}
	err := json.Unmarshal(data, &wrapped)
	*n = number(wrapped.ID)
	return err
}

// entry is an issue, a comment, an attachment or a change.
type entry struct {
	ID        number          `json:"id"`
	Title     string          `json:"title"`
	Content   word            `json:"content"`
	Status    string          `json:"status"` // of an export
	State     json.RawMessage `json:"state"`  // of the API
	Kind      string          `json:"kind"`
	Priority  string          `json:"priority"`
	Component word            `json:"component"`
	Milestone word            `json:"milestone"`
	Version   word            `json:"version"`
	Reporter  *user           `json:"reporter"`
	Assignee  *user           `json:"assignee"`
	Created   string          `json:"created_on"`
	Updated   string          `json:"updated_on"`
	Voters    []user          `json:"voters"`
	Watchers  []user          `json:"watchers"`
	Votes     int             `json:"votes"`
	Watches   int             `json:"watches"`
	Links     struct {
		Self struct {
			Href string `json:"href"`
		} `json:"self"`
		HTML struct {
			Href string `json:"href"`
		} `json:"html"`
	} `json:"links"`
	// Of what belongs to an issue.
	Issue number `json:"issue"`
	User  *user  `json:"user"`
	Type  string `json:"type"`
	Path  string `json:"path"`
	File  string `json:"filename"`
	Field string `json:"field"`
	From  string `json:"changed_from"`
	To    string `json:"changed_to"`
	// Of a page.
	Size  *int      `json:"size"`
	Error *struct{} `json:"error"`
}

// export is what all files say together.
type export struct {
	to       convert.Sink
	roles    *convert.Roles
	words    *tabular.Words
	issues   []*convert.Issue
	comments convert.Comments
	files    map[string][]convert.Attachment
	changes  map[string][]convert.Event
	apart    convert.Apart // with these, all by project and number
	database string        // the export among the files
	sizes    map[string]int
}

// read reads the files as one export.
func read(ctx context.Context, in convert.Input, to convert.Sink) error {
	e := &export{
		to: to, roles: convert.ReadRoles(valueList), words: tabular.WordsOf("bitbucket"), comments: convert.Comments{}, files: map[string][]convert.Attachment{},
		changes: map[string][]convert.Event{}, apart: convert.Apart{}, sizes: map[string]int{},
	}
	if err := in.Each(ctx, e.file); err != nil {
		return err
	}
	there, counts := map[string]bool{}, map[string]map[string]bool{}
	for _, i := range e.issues {
		at := i.Project + "#" + i.Key
		there[at] = true
		if counts[i.Project] == nil {
			counts[i.Project] = map[string]bool{}
		}
		counts[i.Project][i.Key] = true
		comments := e.comments[at]
		slices.SortStableFunc(comments, func(a, b convert.Comment) int { return a.At.Compare(b.At) })
		i.Discuss(comments, 0)
		i.Attachments, i.Events = e.files[at], e.changes[at]
		i.Left["history"] = len(i.Events)
		e.apart.Join(i, at)
		to.Issue(i)
	}
	e.comments.Close(to, func(at string) bool { return there[at] })
	e.apart.Close(to)
	for project, size := range e.sizes {
		if have := len(counts[project]); size > have {
			to.Note("pages-missing", fmt.Sprintf("%s has %d issues, and the files hold %d: export the other pages, too", project, size, have))
		}
	}
	return nil
}

var address = regexp.MustCompile(`/([^/]+/[^/]+)/issues/([0-9]{1,9})(?:/|$)`)

func (e *export) file(ctx context.Context, text io.Reader, name string) error {
	project := ""
	lists := []string{"issues", "comments", "attachments", "logs", "milestones", "versions", "components", "values"}
	return records.Read(ctx, text, name, lists, func(r records.Record) error {
		var one entry
		if r.List == "milestones" || r.List == "versions" || r.List == "components" { // issues have what they use of them
			e.roles.Enter(e.to, nil, r.Values(r.List, e.roles.Whole))
			return nil
		}
		if err := r.Decode(&one, "issue of Bitbucket"); err != nil {
			return err
		}
		of, issue := "bitbucket", strconv.Itoa(int(one.Issue))
		if m := address.FindStringSubmatch(cmp.Or(one.Links.Self.Href, one.Links.HTML.Href)); m != nil {
			of, issue = m[1], m[2]
			project = of
		}
		if r.List != "" && r.List != "values" {
			if e.database = cmp.Or(e.database, name); e.database != name {
				return diag.WithHint(fmt.Errorf("%s: it is the export of another repository than %s", r.Position, e.database),
					"an export does not name its repository: convert each to a folder of its own")
			}
		}
		at := of + "#" + issue
		switch {
		case one.Error != nil && r.List == "":
			return diag.WithHint(fmt.Errorf("%s: it is no export, but an error of Bitbucket", r.Position), "ask again, with a token that may read issues")
		case r.List == "comments", one.Type == "issue_comment":
			e.comment(&one, r, at)
		case r.List == "attachments":
			e.files[at] = append(e.files[at], convert.Attachment{ID: path.Base(one.Path), Name: cmp.Or(one.File, path.Base(one.Path))})
			e.roles.Enter(e.to, e.apart.Of(at), r.Values("attachments", e.roles.Whole))
		case r.List == "logs":
			when, _ := dates.Parse(one.Created, time.RFC3339)
			e.changes[at] = append(e.changes[at], convert.Event{Author: e.person(one.User), At: when, Field: one.Field, From: one.From, To: one.To})
			e.roles.Enter(e.to, e.apart.Of(at), r.Values("logs", e.roles.Whole))
		case one.ID > 0 && one.Title != "":
			e.issue(&one, r, of)
		case r.Page:
			if one.Size != nil && project != "" && one.Type == "" {
				e.sizes[project] = max(e.sizes[project], *one.Size)
			}
			e.roles.Enter(e.to, nil, r.Values("page", e.roles.Whole))
		default:
			return diag.WithHint(fmt.Errorf("%s: an issue without id and title", r.Position), "name what the export or /repositories/W/R/issues has")
		}
		return nil
	})
}

// comment takes a comment. One without a text says that something was changed, as a log does.
func (e *export) comment(one *entry, r records.Record, at string) {
	if strings.TrimSpace(string(one.Content)) == "" {
		e.roles.Enter(e.to, nil, r.Values("empty_comments", e.roles.Whole))
		return
	}
	when, _ := dates.Parse(one.Created, time.RFC3339)
	e.comments.Add(at, convert.Comment{ID: strconv.Itoa(int(one.ID)), Author: e.person(one.User), At: when, Text: text(one.Content)})
	e.roles.Enter(e.to, e.apart.Of(at), r.Values("comments", e.roles.Whole))
}

func text(body word) convert.Text {
	return convert.Text{Markup: convert.CommonMark, Body: string(body)}
}

// person notes a user: by account, or in the first version of exports by login.
func (e *export) person(u *user) string {
	if u == nil {
		return ""
	}
	id := cmp.Or(u.Account, u.UUID, u.Nick, u.Name)
	if id != "" {
		e.to.Person(convert.Person{ID: id, Name: cmp.Or(u.Name, u.Nick)})
	}
	return id
}

func (e *export) issue(one *entry, r records.Record, of string) {
	key := strconv.Itoa(int(one.ID))
	i := &convert.Issue{
		Key: key, Number: int(one.ID), Project: of, Title: one.Title, Text: text(one.Content), Type: one.Kind, Priority: one.Priority,
		Reporter: e.person(one.Reporter), URL: one.Links.HTML.Href, Position: r.Position,
		Left: map[string]int{"votes": max(one.Votes, len(one.Voters)), "watchers": max(one.Watches, len(one.Watchers))},
	}
	i.State.Name = one.Status
	if i.State.Name == "" {
		_ = json.Unmarshal(one.State, &i.State.Name) // which is a text
	}
	i.State.Category = e.words.Own(i.State.Name)
	if id := e.person(one.Assignee); id != "" {
		i.Assignees = []string{id}
	}
	for _, u := range one.Watchers {
		i.Watchers = append(i.Watchers, e.person(&u))
	}
	if one.Component != "" {
		i.Components = []string{string(one.Component)}
	}
	if one.Milestone != "" {
		i.Versions = []convert.Version{{Name: string(one.Milestone)}}
	}
	if one.Version != "" { // in which it was found
		i.Affects = []string{string(one.Version)}
	}
	i.Created, i.Updated = i.Moment(one.Created, time.RFC3339), i.Moment(one.Updated, time.RFC3339)
	e.roles.Enter(e.to, i, r.Values("", e.roles.Whole))
	e.to.Project(convert.Project{Key: of, Name: of[strings.LastIndexByte(of, '/')+1:]})
	e.issues = append(e.issues, i)
}
