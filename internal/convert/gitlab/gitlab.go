// Package gitlab reads the export of a project of GitLab: the files below tree/ of the archive, or of the folder that it was unpacked to.
//
// issues.ndjson has an issue a line, with its notes, labels and milestone; project_members.ndjson says who the user IDs are, and
// project.json describes the project. Older versions wrote all of it into one project.json. Merge requests, pipelines and the
// like are left out.
// The package must not know manifests.
package gitlab

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/url"
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

// Format is the export of a project.
func Format() *convert.Format {
	return &convert.Format{Name: "gitlab-export", Tracker: "GitLab", HTML: true, Detect: detect, Beside: beside, Read: read}
}

// beside knows the other parts of an export by the folder of all.
func beside(name string) bool {
	part, ok := strings.CutSuffix(strings.ReplaceAll(name, "\\", "/"), ".ndjson")
	return ok && strings.HasSuffix(path.Dir(part), "tree/project") &&
		!slices.Contains([]string{"issues", "labels", "milestones", "project_members"}, path.Base(part))
}

// detect looks for the fields that only these files have. Issues of the REST API have an address, merge requests a branch, and epics
// end on another date.
func detect(head []byte, name string) (string, bool) {
	has := func(names ...string) bool { return records.Name(head, names...) }
	switch {
	case has("iid", "title", "author_id", "confidential", "project_id", "due_date") && !has("web_url") && !has("source_branch"):
		return "the fields iid and author_id", true
	case has("access_level", "source_type", "user_id"):
		return "the fields access_level and source_type", true
	case has("visibility_level", "archived") && path.Base(strings.ReplaceAll(name, "\\", "/")) == "project.json":
		return "the field visibility_level", true
	}
	for _, part := range []string{"labels", "milestones"} {
		if strings.HasSuffix(name, part+".ndjson") && has("title", "project_id") {
			return "the name of the file", true
		}
	}
	return "", false
}

// valueList says what values are for.
//
//go:embed values.txt
var valueList string

type label struct {
	Title       string `json:"title"`
	Color       string `json:"color"`
	Description string `json:"description"`
}

type milestone struct {
	Title string `json:"title"`
	Due   string `json:"due_date"`
}

// note is a comment, or what GitLab itself wrote of a change.
type note struct {
	ID           int64  `json:"id"`
	Note         string `json:"note"`
	AuthorID     int64  `json:"author_id"`
	Created      string `json:"created_at"`
	System       bool   `json:"system"`
	Confidential bool   `json:"confidential"`
	Internal     bool   `json:"internal"`
	Author       struct {
		Name string `json:"name"`
	} `json:"author"`
	Attachment struct {
		URL string `json:"url"`
	} `json:"attachment"`
	Emoji    []struct{} `json:"award_emoji"`
	Metadata struct {
		Action string `json:"action"`
	} `json:"system_note_metadata"`
}

// change is what the issue's history keeps beside the notes.
type change struct {
	UserID    int64      `json:"user_id"`
	Created   string     `json:"created_at"`
	Action    string     `json:"action"`
	State     string     `json:"state"`
	Label     *label     `json:"label"`
	Milestone *milestone `json:"milestone"`
}

// entry is an issue.
type entry struct {
	IID          int    `json:"iid"`
	ID           int64  `json:"id"`
	ProjectID    int64  `json:"project_id"`
	Title        string `json:"title"`
	Description  string `json:"description"`
	State        string `json:"state"`
	AuthorID     int64  `json:"author_id"`
	Confidential bool   `json:"confidential"`
	Due          string `json:"due_date"`
	Start        string `json:"start_date"`
	Created      string `json:"created_at"`
	Updated      string `json:"updated_at"`
	Closed       string `json:"closed_at"`
	ClosedBy     int64  `json:"closed_by_id"`
	Type         string `json:"issue_type"`
	Estimate     int    `json:"time_estimate"`
	WorkItemType struct {
		Base string `json:"base_type"`
	} `json:"work_item_type"`
	Assignees []struct {
		UserID int64 `json:"user_id"`
	} `json:"issue_assignees"`
	Labels []struct {
		Label *label `json:"label"`
	} `json:"label_links"`
	Milestone *milestone `json:"milestone"`
	Notes     []note     `json:"notes"`
	OfLabel   []change   `json:"resource_label_events"`
	OfStone   []change   `json:"resource_milestone_events"`
	OfState   []change   `json:"resource_state_events"`
	Emoji     []struct{} `json:"award_emoji"`
	Designs   []struct {
		Name string `json:"filename"`
	} `json:"designs"`
	Epic struct {
		Epic struct {
			Title string `json:"title"`
		} `json:"epic"`
	} `json:"epic_issue"`
	Meetings []struct {
		URL string `json:"url"`
	} `json:"zoom_meetings"`
	Timelogs []struct {
		UserID  int64  `json:"user_id"`
		Seconds int    `json:"time_spent"`
		Spent   string `json:"spent_at"`
		Created string `json:"created_at"`
		Summary string `json:"summary"`
	} `json:"timelogs"`
}

// member is somebody of the project.
type member struct {
	UserID int64 `json:"user_id"`
	User   *struct {
		Username string `json:"username"`
		Email    string `json:"email"`
		Public   string `json:"public_email"`
	} `json:"user"`
}

// export is what all files say together.
type export struct {
	in         convert.Input
	to         convert.Sink
	roles      *convert.Roles
	understand func(*convert.Issue)
	people     map[string]convert.Person
	issues     []*issue
	about      map[string]string // descriptions of projects, by the path of their files
	others     map[string]int    // records of parts that are left out
}

type issue struct {
	convert.Issue

	of     string // the path of the project's files
	closer string
}

// read reads the files as one export.
func read(ctx context.Context, in convert.Input, to convert.Sink) error {
	e := &export{
		in: in, to: to, roles: convert.ReadRoles(valueList), understand: tabular.GitLab(), people: map[string]convert.Person{}, about: map[string]string{},
		others: map[string]int{},
	}
	if err := in.Each(ctx, e.file); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(e.people)) {
		to.Person(e.people[id])
	}
	for _, i := range e.issues {
		if i.closer != "" {
			i.Fields = append(i.Fields, convert.Field{Name: "Closed by", Value: cmp.Or(e.people[i.closer].Name, i.closer), Source: "closed_by_id"})
		}
		to.Project(convert.Project{Key: i.Project, Name: i.Project, Description: e.described(i.of)})
		to.Issue(&i.Issue)
	}
	for _, part := range slices.Sorted(maps.Keys(e.others)) {
		to.Note("parts-left-out", diag.Count(e.others[part], "record")+" of "+part+" left out")
	}
	to.Site("", "/-/issues/{key}")
	return nil
}

// described is what an export says of a project. A file that was taken out of its folder is that of the only project.
func (e *export) described(of string) string {
	if text, ok := e.about[of]; ok || len(e.about) != 1 {
		return text
	}
	for _, of = range slices.Collect(maps.Keys(e.about)) {
		break
	}
	return e.about[of]
}

// parts are the lists of an export that is one file.
func parts() []string {
	return []string{
		"issues", "project_members", "labels", "milestones", "merge_requests", "ci_pipelines", "pipelines", "snippets", "releases", "boards",
	}
}

func (e *export) file(ctx context.Context, text io.Reader, name string) error {
	of := strings.TrimSuffix(strings.ReplaceAll(name, "\\", "/"), ".json")
	if strings.HasSuffix(of, ".ndjson") {
		of = path.Dir(of)
	}
	return records.Read(ctx, text, name, parts(), func(r records.Record) error {
		var kind struct {
			IID    int    `json:"iid"`
			Author int64  `json:"author_id"`
			Access *int   `json:"access_level"`
			About  string `json:"description"`
			Level  *int   `json:"visibility_level"`
		}
		if err := r.Decode(&kind, "export of GitLab"); err != nil {
			return err
		}
		alone := r.List == ""
		switch {
		case r.List == "issues", alone && kind.IID > 0 && kind.Author > 0:
			return e.issue(r, of)
		case r.List == "project_members", alone && kind.Access != nil:
			return e.member(r)
		case alone && kind.Level != nil:
			e.about[of] = kind.About
			e.roles.Enter(e.to, nil, r.Values("project", e.roles.Whole))
		case alone, r.List == "labels", r.List == "milestones": // issues have what they use of them
			e.roles.Enter(e.to, nil, r.Values(cmp.Or(r.List, "labels"), e.roles.Whole))
		default:
			e.others[strings.ReplaceAll(r.List, "_", " ")]++
			e.roles.Enter(e.to, nil, r.Values(r.List, e.roles.Whole))
		}
		return nil
	})
}

func (e *export) member(r records.Record) error {
	var m member
	if err := r.Decode(&m, "member of a project of GitLab"); err != nil {
		return err
	}
	e.roles.Enter(e.to, nil, r.Values("members", e.roles.Whole))
	if id := number(m.UserID); m.User != nil && id != "" {
		p := e.people[id]
		p.ID, p.Name, p.Email = id, cmp.Or(p.Name, m.User.Username), cmp.Or(m.User.Email, m.User.Public)
		p.Bot = botName.MatchString(m.User.Username)
		e.people[id] = p
	}
	return nil
}

var botName = regexp.MustCompile(`^(?:project|group)_\d+_bot`)

// number is an ID, "" if there is none.
func number(id int64) string {
	if id <= 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

// person notes somebody of a text, whose name is known there alone: members have their login.
func (e *export) person(id int64, name string) string {
	p := e.people[number(id)]
	if p.ID = number(id); p.ID != "" {
		p.Name = cmp.Or(name, p.Name)
		e.people[p.ID] = p
	}
	return p.ID
}

func (e *export) issue(r records.Record, of string) error {
	var one entry
	if err := r.Decode(&one, "issue of GitLab"); err != nil {
		return err
	}
	if one.IID <= 0 {
		return diag.WithHint(fmt.Errorf("%s: an issue without an iid", r.Position), "it is no export of a project: export it again")
	}
	i := &issue{of: of, Issue: convert.Issue{
		Key: strconv.Itoa(one.IID), Number: one.IID, Project: "project-" + number(one.ProjectID), Title: one.Title, Text: text(one.Description),
		State: convert.State{Name: one.State}, Type: strings.ToLower(cmp.Or(one.Type, one.WorkItemType.Base)),
		Reporter: e.person(one.AuthorID, ""), Position: r.Position,
		Left: map[string]int{"reactions": len(one.Emoji), "worklogs": len(one.Timelogs)},
	}}
	if one.Confidential {
		i.Restricted = "confidential"
	}
	i.Created, i.Updated = i.Moment(one.Created, time.RFC3339), i.Moment(one.Updated, time.RFC3339)
	i.Start, i.Due = day(i, one.Start), day(i, one.Due)
	for _, a := range one.Assignees { // one may be there twice
		if id := e.person(a.UserID, ""); id != "" && !slices.Contains(i.Assignees, id) {
			i.Assignees = append(i.Assignees, id)
		}
	}
	for _, l := range one.Labels {
		if l.Label != nil {
			i.Labels = append(i.Labels, convert.Label{Name: l.Label.Title, Color: l.Label.Color, Description: l.Label.Description})
		}
	}
	if m := one.Milestone; m != nil {
		i.Versions = []convert.Version{{Name: m.Title, Due: day(i, m.Due)}}
	}
	if closed := i.Moment(one.Closed, time.RFC3339); !closed.IsZero() {
		i.Fields = append(i.Fields, convert.Field{Name: "Closed", Value: closed.UTC().Format("2006-01-02 15:04 UTC"), Source: "closed_at"})
		i.closer = e.person(one.ClosedBy, "")
	}
	if estimate := dates.Duration(one.Estimate); estimate != "" {
		i.Fields = append(i.Fields, convert.Field{Name: "Time estimate", Value: estimate, Source: "time_estimate"})
	}
	for _, w := range one.Timelogs {
		at := i.Moment(cmp.Or(w.Spent, w.Created), time.RFC3339)
		i.Work = append(i.Work, convert.Work{Author: e.person(w.UserID, ""), At: at, Seconds: w.Seconds, Text: text(w.Summary)})
	}
	for _, d := range one.Designs { // which the archive has in a repository of their own
		i.Attachments = append(i.Attachments, convert.Attachment{Name: d.Name})
	}
	for _, m := range one.Meetings {
		i.Pages = append(i.Pages, convert.Attachment{Name: m.URL, URL: m.URL})
	}
	if epic := one.Epic.Epic.Title; epic != "" {
		i.Fields = append(i.Fields, convert.Field{Name: "Epic", Value: epic, Source: "epic_issue.epic.title"})
	}
	e.discussion(i, one.Notes)
	e.changes(i, &one)
	i.Left["history"] = len(i.Events)
	e.understand(&i.Issue)
	i.Attachments = uploads(i)
	e.roles.Enter(e.to, &i.Issue, one.values(r, e.roles))
	e.issues = append(e.issues, i)
	return nil
}

// values are what an issue holds. Those of notes that GitLab itself wrote begin with history.
func (one *entry) values(r records.Record, roles *convert.Roles) iter.Seq2[string, string] {
	return func(yield func(name, text string) bool) {
		for name, text := range r.Values("", roles.Whole) {
			if !slices.Contains(noteNames(), name) && !yield(name, text) {
				return
			}
		}
		for _, n := range one.Notes {
			prefix := ""
			if n.System {
				prefix = "history."
			}
			for i, text := range []string{n.Note, number(n.AuthorID), n.Author.Name, n.Created, n.Metadata.Action} {
				if strings.TrimSpace(text) != "" && !yield(prefix+noteNames()[i], text) {
					return
				}
			}
		}
	}
}

func noteNames() []string {
	return []string{"notes.note", "notes.author_id", "notes.author.name", "notes.created_at", "notes.system_note_metadata.action"}
}

func text(body string) convert.Text { return convert.Text{Markup: convert.CommonMark, Body: body} }

// day takes a calendar date as it is.
func day(i *issue, text string) string { return dates.Day(i.Moment(text, time.DateOnly)) }

// discussion tells comments from what GitLab wrote of changes.
func (e *export) discussion(i *issue, notes []note) {
	var comments []convert.Comment
	for _, n := range notes {
		by, at := e.person(n.AuthorID, n.Author.Name), i.Moment(n.Created, time.RFC3339)
		if n.System {
			i.Events = append(i.Events, convert.Event{Author: by, At: at, Field: strings.ReplaceAll(n.Metadata.Action, "_", " "), To: n.Note})
			continue
		}
		i.Left["reactions"] += len(n.Emoji)
		if n.Attachment.URL != "" {
			i.Attachments = append(i.Attachments, convert.Attachment{Name: path.Base(n.Attachment.URL), URL: n.Attachment.URL})
		}
		comments = append(comments, convert.Comment{
			ID: number(n.ID), Author: by, At: at, Text: text(n.Note), Hidden: n.Confidential || n.Internal,
		})
	}
	slices.SortStableFunc(comments, func(a, b convert.Comment) int { return a.At.Compare(b.At) })
	i.Discuss(comments, 0)
}

// changes adds those that are no notes.
func (e *export) changes(i *issue, one *entry) {
	add := func(c change, field, what string) {
		event := convert.Event{Author: e.person(c.UserID, ""), At: i.Moment(c.Created, time.RFC3339), Field: field, To: what}
		if c.Action == "remove" {
			event.From, event.To = what, ""
		}
		i.Events = append(i.Events, event)
	}
	for _, c := range one.OfLabel {
		if c.Label != nil {
			add(c, "label", c.Label.Title)
		}
	}
	for _, c := range one.OfStone {
		if c.Milestone != nil {
			add(c, "milestone", c.Milestone.Title)
		}
	}
	for _, c := range one.OfState {
		add(c, "state", c.State)
	}
}

var upload = regexp.MustCompile(`\[[^\]\n]*\]\(/uploads/([0-9a-f]{32})/([^)\s]+)\)`)

// uploads are the files that texts name. The archive has them, in its folder uploads.
func uploads(i *issue) []convert.Attachment {
	all, texts := i.Attachments, []string{i.Text.Body}
	for _, c := range i.Comments {
		texts = append(texts, c.Text.Body)
	}
	for _, m := range upload.FindAllStringSubmatch(strings.Join(texts, "\n"), -1) {
		name := m[2]
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
		if file := (convert.Attachment{ID: m[1], Name: name}); !slices.Contains(all, file) {
			all = append(all, file)
		}
	}
	return all
}
