package rest

import (
	"cmp"
	"encoding/json"
	"maps"
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

// asanaName is something that has an ID and a name.
type asanaName struct {
	ID    string `json:"gid"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

// asanaAnswer is a task; or a story, which is a comment or a change; or an attached file.
type asanaAnswer struct {
	ID          string      `json:"gid"`
	Kind        string      `json:"resource_type"`
	Subtype     string      `json:"resource_subtype"`
	Name        string      `json:"name"`
	Notes       string      `json:"notes"`
	HTML        string      `json:"html_notes"`
	Completed   *bool       `json:"completed"`
	CompletedAt string      `json:"completed_at"`
	Created     string      `json:"created_at"`
	Modified    string      `json:"modified_at"`
	Author      *asanaName  `json:"created_by"`
	Assignee    *asanaName  `json:"assignee"`
	DueOn       string      `json:"due_on"`
	DueAt       string      `json:"due_at"`
	StartOn     string      `json:"start_on"`
	StartAt     string      `json:"start_at"`
	Tags        []asanaName `json:"tags"`
	Projects    []asanaName `json:"projects"`
	Members     []struct {
		Project asanaName  `json:"project"`
		Section *asanaName `json:"section"`
	} `json:"memberships"`
	Parent       *asanaName  `json:"parent"`
	Dependencies []asanaName `json:"dependencies"`
	Dependents   []asanaName `json:"dependents"`
	Followers    []asanaName `json:"followers"`
	Likes        int         `json:"num_likes"`
	Address      string      `json:"permalink_url"`
	Approval     string      `json:"approval_status"`
	Custom       []struct {
		Name    string          `json:"name"`
		Display json.RawMessage `json:"display_value"`
		Enum    json.RawMessage `json:"enum_value"`
		Enums   json.RawMessage `json:"multi_enum_values"`
		People  json.RawMessage `json:"people_value"`
		Text    json.RawMessage `json:"text_value"`
		Number  json.RawMessage `json:"number_value"`
	} `json:"custom_fields"`

	Type     string     `json:"type"` // of a story
	Text     *string    `json:"text"`
	HTMLText string     `json:"html_text"`
	Target   *asanaName `json:"target"`

	Permanent string `json:"permanent_url"` // of a file
	View      string `json:"view_url"`
	Host      string `json:"host"`
	Size      int64  `json:"size"`

	Next json.RawMessage `json:"next_page"` // of a page
}

// asana is what the REST API of Asana answers for tasks, for their stories, and for their attachments; and the export of a project as
// JSON, in which subtasks are within their tasks.
func asana() *api {
	return &api{
		name: "asana-json", tracker: "Asana", lists: []string{"data"}, empty: regexp.MustCompile(`^\s*\{\s*"data"\s*:\s*\[\s*\]`),
		needs: [][]string{{"gid", "resource_type"}, {"gid", "completed"}, {"gid", "text", "created_at"}, {"data", "next_page"}},
		start: func(e *export) (func(records.Record) error, func()) {
			x := &asanaExport{export: e, group: tabular.WordsOf("asana-json").Group, files: map[string][]convert.Attachment{}, short: map[string]string{}}
			return x.record, x.finish
		},
	}
}

type asanaExport struct {
	*export

	group func(state string) string
	files map[string][]convert.Attachment // by task
	short map[string]string               // names of subtasks of which a task gives these only, by ID
	last  string                          // what the last record was
	open  int                             // pages of tasks that say others follow
	ended bool
	hours bool // there are days that a zone tells
}

func (x *asanaExport) record(r records.Record) error {
	var one asanaAnswer
	if err := r.Decode(&one, "task of Asana"); err != nil {
		return err
	}
	if r.Page {
		if following := len(one.Next) > 0 && string(one.Next) != "null"; x.last == "task" && following {
			x.open++
		} else if x.last == "task" {
			x.ended = true
		}
		x.last = ""
		x.enter(nil, r, "", nil)
		return nil
	}
	kind := cmp.Or(one.Kind, "task")
	if one.Kind == "" && one.Text != nil && one.Name == "" {
		kind = "story"
	}
	x.last = kind
	switch kind {
	case "task":
		return x.task(r, &one, "")
	case "story":
		return x.story(r, &one)
	case "attachment":
		return x.file(r, &one)
	}
	x.leave(r, "no tasks") // such as projects and sections
	return nil
}

func (x *asanaExport) task(r records.Record, f *asanaAnswer, parent string) error {
	if f.ID == "" || f.Name == "" && f.Completed == nil {
		return x.foreign(r, "a task without gid and name", "ask for them: opt_fields=name,notes,completed,…")
	}
	if f.Subtype == "section" {
		x.leave(r, "sections")
		return nil
	}
	number, _ := strconv.Atoi(f.ID)
	i := &convert.Issue{
		Key: f.ID, ID: f.ID, Number: number, Title: f.Name, Text: convert.Text{Markup: convert.Plain, Body: f.Notes}, Parent: parent,
		Reporter: x.user(f.Author), URL: f.Address, Position: r.Position, Left: map[string]int{"reactions": f.Likes},
	}
	var more []value
	if f.HTML != "" {
		i.Text = convert.Text{Markup: convert.HTML, Body: asanaHTML(f.HTML)}
		more = append(more, value{"also: notes", f.Notes})
	} else {
		more = append(more, value{"notes", f.Notes})
	}
	if f.Parent != nil && f.Parent.ID != "" {
		i.Parent = f.Parent.ID
	}
	if f.Subtype == "milestone" || f.Subtype == "approval" {
		i.Type = strings.ToUpper(f.Subtype[:1]) + f.Subtype[1:]
	}
	field(i, "Approval", f.Approval, "approval_status")
	if id := x.user(f.Assignee); id != "" {
		i.Assignees = []string{id}
	}
	for _, t := range f.Tags {
		i.Labels = append(i.Labels, convert.Label{Name: t.Name})
	}
	for _, p := range f.Followers {
		i.Watchers = append(i.Watchers, x.user(&p))
	}
	for _, d := range f.Dependencies {
		i.Links = append(i.Links, convert.Link{Type: "blocks", To: d.ID, Inward: true})
	}
	for _, d := range f.Dependents {
		i.Links = append(i.Links, convert.Link{Type: "blocks", To: d.ID})
	}
	i.Created, i.Updated = moment(i, f.Created), moment(i, f.Modified)
	i.Start, i.Due = x.day(i, f.StartOn, f.StartAt), x.day(i, f.DueOn, f.DueAt)
	x.place(i, f)
	for _, c := range f.Custom {
		var values []string
		for _, raw := range []json.RawMessage{c.Display, c.Enum, c.Enums, c.People, c.Text, c.Number} {
			if values = texts(raw, "name"); len(values) > 0 {
				break
			}
		}
		of := "custom fields." + c.Name
		if strings.EqualFold(c.Name, "Priority") && len(values) == 1 && i.Priority == "" {
			i.Priority = values[0]
			x.roles.Declare(of, convert.OfPriority)
		} else {
			field(i, c.Name, strings.Join(values, ", "), of)
		}
		more = append(more, value{of, strings.Join(values, ", ")})
	}
	for _, s := range r.Elements("subtasks") {
		var sub asanaAnswer
		if err := s.Decode(&sub, "task of Asana"); err != nil {
			return err
		}
		if sub.Completed == nil { // what it is besides, another answer says
			x.short[sub.ID] = cmp.Or(sub.Name, sub.ID)
		} else if err := x.task(s, &sub, f.ID); err != nil {
			return err
		}
	}
	for _, s := range r.Elements("stories") {
		var story asanaAnswer
		if err := s.Decode(&story, "story of Asana"); err != nil {
			return err
		}
		story.Target = cmp.Or(story.Target, &asanaName{ID: f.ID})
		if err := x.story(s, &story); err != nil {
			return err
		}
	}
	x.enterTask(i, r, more)
	x.add(i)
	return nil
}

// enterTask books a task without what is within it, and is booked itself.
func (x *asanaExport) enterTask(i *convert.Issue, r records.Record, more []value) {
	x.roles.Enter(x.to, i, func(yield func(name, text string) bool) {
		for name, text := range r.Values("", x.roles.Whole) {
			if name != "notes" && !strings.HasPrefix(name, "subtasks.") && !strings.HasPrefix(name, "stories.") && !yield(name, text) {
				return
			}
		}
		for _, one := range more {
			if strings.TrimSpace(one.text) != "" && !yield(one.name, one.text) {
				return
			}
		}
	})
}

// place finds the project of a task, and its state: the section, unless it is completed. Subtasks are where their parents are.
func (x *asanaExport) place(i *convert.Issue, f *asanaAnswer) {
	var others []string
	for n, m := range f.Members {
		section := ""
		if m.Section != nil && !slices.Contains([]string{"Untitled section", "(no section)"}, m.Section.Name) {
			section = m.Section.Name
		}
		if n == 0 {
			i.Project, i.State = m.Project.Name, convert.State{Name: section, Category: x.group(section)}
			continue
		}
		others = append(others, strings.TrimSuffix(m.Project.Name+" ("+section+")", " ()"))
	}
	for _, p := range f.Projects {
		if i.Project == "" {
			i.Project = p.Name
		} else if p.Name != i.Project && len(f.Members) == 0 {
			others = append(others, p.Name)
		}
	}
	field(i, "Projects", strings.Join(others, ", "), "memberships.project.name")
	if f.Completed == nil || !*f.Completed {
		return
	}
	if i.State.Name != "" && i.State.Category != "completed" {
		i.Fields = append(i.Fields, convert.Field{Name: "Section", Value: i.State.Name})
	}
	i.State = convert.State{Name: "Done", Category: "completed"}
	if at := moment(i, f.CompletedAt); !at.IsZero() {
		field(i, "Completed", at.UTC().Format("2006-01-02 15:04 UTC"), "completed_at")
	}
}

// story takes what was said of a task, or done to it.
func (x *asanaExport) story(r records.Record, f *asanaAnswer) error {
	if f.Target == nil || f.Target.ID == "" {
		return diag.WithHint(x.foreign(r, "the story does not say its task", ""), "ask for it: opt_fields=target,text,type,created_at,created_by.name")
	}
	at, _ := dates.Parse(f.Created, time.RFC3339Nano)
	author, text, body := x.user(f.Author), "", convert.Text{Markup: convert.Plain}
	if f.Text != nil {
		text = *f.Text
	}
	if f.Subtype != "comment_added" && f.Type != "comment" {
		what := strings.ReplaceAll(cmp.Or(f.Subtype, "change"), "_", " ")
		x.events[f.Target.ID] = append(x.events[f.Target.ID], convert.Event{Author: author, At: at, Field: what, To: text})
		x.beside(r, f.Target.ID, "changes")
		return nil
	}
	if body.Body = text; f.HTMLText != "" {
		body = convert.Text{Markup: convert.HTML, Body: asanaHTML(f.HTMLText)}
		x.beside(r, f.Target.ID, "comments", "comments.text")
	} else {
		x.beside(r, f.Target.ID, "comments")
	}
	x.comment(f.Target.ID, convert.Comment{ID: f.ID, Author: author, At: at, Text: body})
	return nil
}

// file takes an attached file. One that lies elsewhere is a page.
func (x *asanaExport) file(r records.Record, f *asanaAnswer) error {
	if f.Parent == nil || f.Parent.ID == "" {
		return x.foreign(r, "the attachment does not say its task", "ask for it: opt_fields=parent,name,permanent_url,view_url,host,size")
	}
	x.files[f.Parent.ID] = append(x.files[f.Parent.ID], convert.Attachment{ID: f.ID, Name: f.Name, URL: cmp.Or(f.Permanent, f.View), Size: f.Size})
	x.beside(r, f.Parent.ID, "files")
	return nil
}

func (x *asanaExport) finish() {
	missing := 0
	for _, id := range slices.Sorted(maps.Keys(x.short)) {
		if x.latest[id] == nil {
			x.to.Lose("items-not-exported", x.short[id], 1)
			missing++
		}
	}
	if missing > 0 {
		x.to.Note("subtasks-missing", diag.Count(missing, "subtask")+" of which the files have the name only: export tasks/GID/subtasks of their tasks, too")
	}
	if x.open > 0 && !x.ended {
		x.to.Note("pages-missing", "no page of tasks says that it is the last one: export the other pages, too, with the offset of next_page")
	}
	if x.hours {
		x.to.AssumedZone()
	}
	for _, i := range x.issues {
		if i == x.latest[i.Key] {
			i.Attachments = append(i.Attachments, x.files[i.Key]...)
		}
		seen := map[string]bool{}
		for up := i; i.Project == "" && up != nil && !seen[up.Key]; up = x.latest[up.Parent] {
			seen[up.Key] = true
			i.Project = up.Project
		}
		i.Project = cmp.Or(i.Project, "asana")
		x.to.Project(convert.Project{Key: i.Project, Name: i.Project})
	}
}

func (x *asanaExport) user(u *asanaName) string {
	if u == nil {
		return ""
	}
	return x.person(u.Name, u.Email, u.ID)
}

// day is a calendar day, or that of a moment in the zone of the export.
func (x *asanaExport) day(i *convert.Issue, on, at string) string {
	if on != "" || at == "" {
		return day(i, on)
	}
	x.hours = true
	return dates.Day(moment(i, at).In(x.in.Zone))
}

var (
	asanaBody  = regexp.MustCompile(`</?body[^>]*>`)
	asanaBlock = regexp.MustCompile(`\n*(</?(?:ul|ol|li|h[1-6]|pre|blockquote|hr|table|tr|td)\b[^>]*>)\n*`)
)

// asanaHTML is a text with tags for the ends of lines, too.
func asanaHTML(text string) string {
	text = asanaBlock.ReplaceAllString(asanaBody.ReplaceAllString(text, ""), "$1")
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "<br>")
}
