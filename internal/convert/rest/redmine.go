package rest

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/tabular"
)

// redmineName is something that has an ID and a name.
type redmineName struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	Closed *bool  `json:"is_closed"` // of a state, from Redmine 5 on
}

type redmineIssue struct {
	ID          int           `json:"id"`
	Project     redmineName   `json:"project"`
	Tracker     redmineName   `json:"tracker"`
	Status      redmineName   `json:"status"`
	Priority    redmineName   `json:"priority"`
	Author      redmineName   `json:"author"`
	Assignee    redmineName   `json:"assigned_to"`
	Category    redmineName   `json:"category"`
	Version     redmineName   `json:"fixed_version"`
	Parent      redmineName   `json:"parent"`
	Subject     string        `json:"subject"`
	Description string        `json:"description"`
	Private     bool          `json:"is_private"`
	Start       string        `json:"start_date"`
	Due         string        `json:"due_date"`
	Created     string        `json:"created_on"`
	Updated     string        `json:"updated_on"`
	Closed      string        `json:"closed_on"`
	Watchers    []redmineName `json:"watchers"`
	Custom      []struct {
		ID    int             `json:"id"`
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	} `json:"custom_fields"`
	Attachments []struct {
		ID   int    `json:"id"`
		Name string `json:"filename"`
		Size int64  `json:"filesize"`
		URL  string `json:"content_url"`
		Text string `json:"description"`
	} `json:"attachments"`
	Relations []struct {
		From int    `json:"issue_id"`
		To   int    `json:"issue_to_id"`
		Type string `json:"relation_type"`
	} `json:"relations"`
	Changesets []struct {
		Revision string `json:"revision"`
		Text     string `json:"comments"`
	} `json:"changesets"`
	Journals []redmineJournal `json:"journals"`
}

// redmineJournal is a change of an issue, a comment, or both.
type redmineJournal struct {
	ID      int         `json:"id"`
	User    redmineName `json:"user"`
	Notes   string      `json:"notes"`
	Created string      `json:"created_on"`
	Private bool        `json:"private_notes"`
	Details []struct {
		Property string          `json:"property"`
		Name     string          `json:"name"`
		Old      json.RawMessage `json:"old_value"`
		New      json.RawMessage `json:"new_value"`
	} `json:"details"`
}

// redmineUser has the e-mail address that issues lack.
type redmineUser struct {
	First string `json:"firstname"`
	Last  string `json:"lastname"`
	Mail  string `json:"mail"`
}

// redmineAnswer is an issue or a user, or has one within.
type redmineAnswer struct {
	redmineIssue
	redmineUser

	Issue *redmineIssue `json:"issue"`
	User  *struct {
		redmineUser

		ID int `json:"id"`
	} `json:"user"`
	Total *int `json:"total_count"` // of a page
}

var textile = regexp.MustCompile(`(?m)^(?:h[1-6]|bq|p)\. |<pre>`)

// redmine is what issues.json and issues/ID.json answer, and users.json.
func redmine() *api {
	return &api{
		name: "redmine-json", tracker: "Redmine", lists: []string{"issues", "users"},
		needs: [][]string{{"tracker", "subject", "project"}, {"issues", "total_count", "offset"}, {"firstname", "lastname", "mail"}},
		start: func(e *export) (func(records.Record) error, func()) {
			x := &redmineExport{export: e, group: tabular.WordsOf("redmine-json").Group, names: map[string]string{}}
			return x.record, x.finish
		},
	}
}

// redmineExport is an export with what its issues say together.
type redmineExport struct {
	*export

	group func(state string) string
	names map[string]string // what the numbers in changes mean, such as status_id 1
	list  string            // which the last record was in
	most  int               // how many issues a page counts
	told  bool              // some answer has journals
	base  string            // the address of the tracker, which that of a file tells
}

func (x *redmineExport) record(r records.Record) error {
	var one redmineAnswer
	if err := r.Decode(&one, "issue of Redmine"); err != nil {
		return err
	}
	f, prefix := &one.redmineIssue, ""
	if r.List != "" {
		x.list = r.List
	}
	switch {
	case one.User != nil || one.Mail != "" || r.List == "users":
		user, id := one.redmineUser, one.ID
		if one.User != nil {
			user, id, prefix = one.User.redmineUser, one.User.ID, "user."
		}
		x.person(strings.TrimSpace(user.First+" "+user.Last), user.Mail, strconv.Itoa(id))
		x.enter(nil, r, prefix, nil)
		return nil
	case r.Page:
		if one.Total != nil && x.list != "users" {
			x.most = max(x.most, *one.Total)
		}
		x.list = ""
		x.enter(nil, r, "", nil)
		return nil
	case one.Issue != nil:
		f, prefix = one.Issue, "issue."
	}
	if f.ID <= 0 || f.Subject == "" {
		return x.foreign(r, "an issue without id and subject", "name what issues.json and issues/ID.json answered")
	}
	x.issue(r, f, prefix)
	return nil
}

func (x *redmineExport) issue(r records.Record, f *redmineIssue, prefix string) {
	key := strconv.Itoa(f.ID)
	i := &convert.Issue{
		Key: key, ID: key, Number: f.ID, Project: cmp.Or(f.Project.Name, "redmine"), Title: f.Subject, Position: r.Position,
		Text: convert.Text{Body: f.Description}, Type: f.Tracker.Name, Priority: f.Priority.Name, Reporter: x.user(f.Author),
		State: convert.State{Name: f.Status.Name, Category: x.category(f.Status)}, Left: map[string]int{},
	}
	if f.Private {
		i.Restricted = "is_private"
	}
	if i.Priority == "Immediate" {
		i.Priority = "Urgent"
	}
	for name, one := range map[string]redmineName{
		"status_id": f.Status, "tracker_id": f.Tracker, "priority_id": f.Priority, "assigned_to_id": f.Assignee, "category_id": f.Category,
		"fixed_version_id": f.Version, "project_id": f.Project, "author_id": f.Author,
	} {
		x.names[name+" "+strconv.Itoa(one.ID)] = one.Name
	}
	if id := x.user(f.Assignee); id != "" {
		i.Assignees = []string{id}
	}
	if f.Category.Name != "" {
		i.Components = []string{f.Category.Name}
	}
	if f.Version.Name != "" {
		i.Versions = []convert.Version{{Name: f.Version.Name}}
	}
	if f.Parent.ID > 0 {
		i.Parent = strconv.Itoa(f.Parent.ID)
	}
	i.Start, i.Due = day(i, f.Start), day(i, f.Due)
	i.Created, i.Updated = moment(i, f.Created), moment(i, f.Updated)
	for _, w := range f.Watchers {
		i.Watchers = append(i.Watchers, x.user(w))
	}
	for _, a := range f.Attachments {
		i.Attachments = append(i.Attachments, convert.Attachment{ID: strconv.Itoa(a.ID), Name: a.Name, URL: a.URL, Size: a.Size})
		if base, _, ok := strings.Cut(a.URL, "/attachments/"); ok && strings.Contains(base, "://") {
			x.base = base
		}
		about(i, "Files", a.Name, a.Text, "attachments.description")
	}
	for _, l := range f.Relations {
		link := convert.Link{Type: l.Type, To: strconv.Itoa(l.To)}
		if l.To == f.ID {
			link.To, link.Inward = strconv.Itoa(l.From), true
		}
		i.Links = append(i.Links, link)
	}
	if at := moment(i, f.Closed); !at.IsZero() {
		field(i, "Closed", at.UTC().Format("2006-01-02 15:04 UTC"), "closed_on")
	}
	var revisions []string
	for _, c := range f.Changesets {
		revisions = append(revisions, strings.TrimSpace(c.Revision+" "+c.Text))
	}
	field(i, "Changesets", strings.Join(revisions, "\n"), "changesets")
	more := x.journals(i, f.Journals)
	for _, c := range f.Custom {
		x.names["cf "+strconv.Itoa(c.ID)] = c.Name
		values := texts(c.Value)
		field(i, c.Name, strings.Join(values, ", "), "custom_fields."+c.Name)
		for _, text := range values {
			more = append(more, value{"custom_fields." + c.Name, text})
		}
	}
	if textile.MatchString(f.Description) {
		x.to.Note("textile", "texts that seem to be written in Textile are carried as they are, as Markdown", i.Key)
	}
	x.enter(i, r, prefix, more, "custom_fields.value", "journals.user.name", "journals.created_on")
	x.to.Project(convert.Project{Key: i.Project, Name: i.Project})
	x.add(i)
}

// journals takes comments and changes. What a journal says of its author is of a comment only if it is one.
func (x *redmineExport) journals(i *convert.Issue, list []redmineJournal) (people []value) {
	for _, j := range list {
		x.told = true
		at, _ := dates.Parse(j.Created, time.RFC3339)
		author, of := x.user(j.User), "changes: "
		if strings.TrimSpace(j.Notes) != "" {
			x.comment(i.Key, convert.Comment{ID: strconv.Itoa(j.ID), Author: author, At: at, Text: convert.Text{Body: j.Notes}, Hidden: j.Private})
			of = ""
		}
		people = append(people, value{of + "journals.user.name", j.User.Name}, value{of + "journals.created_on", j.Created})
		for _, d := range j.Details {
			i.Events = append(i.Events, convert.Event{
				Author: author, At: at, Field: strings.TrimPrefix(d.Property+" ", "attr ") + d.Name,
				From: strings.Join(texts(d.Old), ", "), To: strings.Join(texts(d.New), ", "),
			})
		}
	}
	return people
}

// finish says in changes what numbers mean, as far as some issue tells. A state of which nothing tells the group is that of what is closed,
// if all that have it were closed.
func (x *redmineExport) finish() {
	for _, i := range x.issues {
		for n := range i.Events {
			event := &i.Events[n]
			event.From = cmp.Or(x.names[event.Field+" "+event.From], event.From)
			event.To = cmp.Or(x.names[event.Field+" "+event.To], event.To)
			event.Field = strings.TrimSuffix(cmp.Or(x.names[event.Field], event.Field), "_id")
		}
	}
	open := map[string]bool{} // states of issues that are not closed
	for _, i := range x.latest {
		open[i.State.Name] = open[i.State.Name] || !slices.ContainsFunc(i.Fields, func(f convert.Field) bool { return f.Source == "closed_on" })
	}
	for _, i := range x.latest {
		if !open[i.State.Name] {
			i.State.Category = cmp.Or(i.State.Category, "completed")
		}
	}
	x.to.Site(x.base, "/issues/{key}")
	if held := len(x.latest); held < x.most {
		x.to.Note("pages-missing", "Redmine counts "+strconv.Itoa(x.most)+" issues, and the files hold "+strconv.Itoa(held)+
			": export the other pages, too, with offset and limit=100")
	}
	if !x.told {
		x.to.Note("no-comments", "no answer has journals, which hold the comments: ask for issues/ID.json?include=journals, too")
	}
}

// user notes somebody. Issues have no addresses: these are in users.json.
func (x *redmineExport) user(u redmineName) string {
	if u.ID == 0 {
		return x.person(u.Name, "")
	}
	return x.person(u.Name, "", strconv.Itoa(u.ID))
}

// category is the group of a state: by its name, unless Redmine says whether it is closed.
func (x *redmineExport) category(s redmineName) string {
	group := x.group(s.Name)
	ended := slices.Contains([]string{"completed", "cancelled"}, group)
	switch {
	case s.Closed != nil && *s.Closed && !ended:
		return "completed"
	case s.Closed != nil && !*s.Closed && ended:
		return "started"
	}
	return group
}
