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

// youtrackUser is a user. Guests have no login.
type youtrackUser struct {
	ID    string `json:"id"`
	Login string `json:"login"`
	Name  string `json:"name"`
	Full  string `json:"fullName"`
	Email string `json:"email"`
}

type youtrackComment struct {
	ID         string          `json:"id"`
	Text       string          `json:"text"`
	Created    int64           `json:"created"`
	Author     *youtrackUser   `json:"author"`
	Deleted    bool            `json:"deleted"`
	Visibility json.RawMessage `json:"visibility"`
	Issue      *youtrackID     `json:"issue"` // where it is asked for
}

type youtrackID struct {
	Key string `json:"idReadable"`
}

type youtrackIssue struct {
	ID          string        `json:"id"`
	Key         string        `json:"idReadable"`
	Summary     string        `json:"summary"`
	Description string        `json:"description"`
	Created     int64         `json:"created"`
	Updated     int64         `json:"updated"`
	Resolved    int64         `json:"resolved"`
	Reporter    *youtrackUser `json:"reporter"`
	Project     struct {
		Short string `json:"shortName"`
		Name  string `json:"name"`
	} `json:"project"`
	Custom []struct {
		Name    string          `json:"name"`
		Type    string          `json:"$type"`
		Value   json.RawMessage `json:"value"`
		Project struct {
			Field struct {
				Type struct {
					ID string `json:"id"` // such as date and time
				} `json:"fieldType"`
			} `json:"field"`
		} `json:"projectCustomField"`
	} `json:"customFields"`
	Comments []youtrackComment `json:"comments"`
	Count    int               `json:"commentsCount"`
	Links    []struct {
		Direction string `json:"direction"`
		Type      struct {
			Name string `json:"name"`
		} `json:"linkType"`
		Issues []youtrackID `json:"issues"`
	} `json:"links"`
	Tags []struct {
		Name string `json:"name"`
	} `json:"tags"`
	Attachments []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		URL  string `json:"url"`
		Size int64  `json:"size"`
	} `json:"attachments"`
	Parent struct {
		Issues []youtrackID `json:"issues"`
	} `json:"parent"`
	Votes      int             `json:"votes"`
	Visibility json.RawMessage `json:"visibility"`
	Text       *string         `json:"text"` // of a comment
	Draft      bool            `json:"isDraft"`
}

// youtrack is what /api/issues answers, with the fields that are asked for. Each field of an issue is a custom one, as each project has
// its own; those that every project begins with are known by their names.
func youtrack() *api {
	return &api{
		name: "youtrack-json", tracker: "YouTrack",
		needs: [][]string{{"idReadable", "summary"}, {"idReadable", "text", "created"}},
		start: func(e *export) (func(records.Record) error, func()) {
			x := &youtrackExport{export: e, group: tabular.WordsOf("youtrack-json").Group, work: map[string][]convert.Work{}}
			return x.record, func() {
				e.to.Site(x.base, "/issue/{key}")
				for key, work := range x.work {
					if i := e.latest[key]; i != nil {
						i.Work = work
					}
				}
			}
		},
	}
}

type youtrackExport struct {
	*export

	group func(state string) string
	work  map[string][]convert.Work // logged time, by key
	base  string                    // the address of the tracker, which that of a file tells
}

var youtrackKey = regexp.MustCompile(`^([^\s-]+)-([0-9]{1,9})$`)

func (x *youtrackExport) record(r records.Record) error {
	var one struct {
		youtrackIssue

		Author   *youtrackUser `json:"author"`
		Deleted  bool          `json:"deleted"`
		Issue    *youtrackID   `json:"issue"`
		Date     int64         `json:"date"`
		Duration struct {
			Minutes int `json:"minutes"`
		} `json:"duration"` // of logged time
	}
	if err := r.Decode(&one, "issue of YouTrack"); err != nil {
		return err
	}
	if one.Duration.Minutes > 0 && one.Issue != nil && one.Issue.Key != "" {
		work := convert.Work{Author: x.user(one.Author), At: milli(cmp.Or(one.Date, one.Created)), Seconds: one.Duration.Minutes * 60}
		if one.Text != nil {
			work.Text = convert.Text{Body: *one.Text}
		}
		x.work[one.Issue.Key] = append(x.work[one.Issue.Key], work)
		x.beside(r, one.Issue.Key, "work")
		return nil
	}
	if one.Text != nil && one.Issue != nil && one.Issue.Key != "" {
		if one.Deleted {
			x.leave(r, "deleted comments")
			return nil
		}
		x.discuss(one.Issue.Key, youtrackComment{
			ID: one.ID, Text: *one.Text, Created: one.Created, Author: one.Author, Visibility: one.Visibility,
		})
		x.beside(r, one.Issue.Key, "comments")
		return nil
	}
	m := youtrackKey.FindStringSubmatch(one.Key)
	if m == nil {
		return x.foreign(r, "neither an issue with idReadable nor a comment with its issue", "ask for these: fields=idReadable,summary,…")
	}
	x.issue(r, &one.youtrackIssue, m[1], m[2])
	return nil
}

func (x *youtrackExport) issue(r records.Record, f *youtrackIssue, project, number string) {
	n, _ := strconv.Atoi(number)
	i := &convert.Issue{
		Key: f.Key, ID: f.ID, Number: n, Project: cmp.Or(f.Project.Short, project), Title: f.Summary, Text: convert.Text{Body: f.Description},
		Reporter: x.user(f.Reporter), Created: milli(f.Created), Updated: milli(f.Updated), Position: r.Position,
		Left: map[string]int{"votes": f.Votes},
	}
	if restricted(f.Visibility) {
		i.Restricted = "visibility"
	}
	for _, t := range f.Tags {
		i.Labels = append(i.Labels, convert.Label{Name: t.Name})
	}
	more := x.custom(i, f)
	for _, l := range f.Links {
		for _, to := range l.Issues {
			x.link(i, l.Type.Name, strings.ToUpper(l.Direction), to.Key)
		}
	}
	for _, to := range f.Parent.Issues {
		i.Parent = to.Key
	}
	for _, a := range f.Attachments {
		if base, _, ok := strings.Cut(a.URL, "/api/files/"); ok && strings.Contains(base, "://") {
			x.base = base
		}
		i.Attachments = append(i.Attachments, convert.Attachment{ID: a.ID, Name: a.Name, URL: a.URL, Size: a.Size})
	}
	deleted := 0
	for _, c := range f.Comments {
		what := "comments"
		if c.Deleted {
			deleted, what = deleted+1, "deleted: comments"
		} else {
			x.discuss(f.Key, c)
		}
		more = append(more, value{what + ".text", c.Text})
		if c.Created > 0 {
			more = append(more, value{what + ".created", strconv.FormatInt(c.Created, 10)})
		}
		if a := c.Author; a != nil {
			what += ".author"
			more = append(more, value{what + ".login", a.Login}, value{what + ".name", a.Name}, value{what + ".fullName", a.Full}, value{what + ".email", a.Email})
		}
	}
	x.counted[f.Key] = max(x.counted[f.Key], f.Count-deleted)
	if i.State.Category == "" && f.Resolved > 0 {
		i.State.Category = "completed"
	}
	if f.Resolved > 0 {
		field(i, "Resolved", milli(f.Resolved).Format("2006-01-02 15:04 UTC"), "resolved")
	}
	x.enter(i, r, "", more, "customFields.value", "customFields.value.name", "customFields.value.fullName", "customFields.value.presentation",
		"customFields.value.text", "comments.text", "comments.created", "comments.author.login", "comments.author.name", "comments.author.fullName",
		"comments.author.email")
	x.to.Project(convert.Project{Key: i.Project, Name: cmp.Or(f.Project.Name, i.Project)})
	x.add(i)
}

// custom gives the fields of an issue their places.
func (x *youtrackExport) custom(i *convert.Issue, f *youtrackIssue) (more []value) {
	for _, c := range f.Custom {
		values := texts(c.Value, "presentation", "text", "fullName", "name", "login", "minutes")
		if strings.Contains(c.Type, "Period") && len(values) == 1 { // of which only the minutes may be asked for
			if minutes, err := strconv.Atoi(values[0]); err == nil {
				values[0] = dates.Duration(minutes * 60)
			}
		}
		day := func() string {
			if at, err := strconv.ParseInt(first(values), 10, 64); err == nil {
				return dates.Day(milli(at)) // noon of the day, in UTC
			}
			return ""
		}
		role := convert.OfField
		switch name := strings.ToLower(c.Name); {
		case len(values) == 0:
			continue
		case name == "state":
			role, i.State = convert.OfState, convert.State{Name: values[0], Category: x.group(values[0])}
		case name == "type":
			role, i.Type = convert.OfType, values[0]
		case name == "priority":
			if role, i.Priority = convert.OfPriority, values[0]; strings.EqualFold(values[0], "Show-stopper") {
				i.Priority = "Blocker"
			}
		case name == "assignee" || name == "assignees":
			role, i.Assignees = convert.Assignee, x.users(c.Value)
		case name == "subsystem" || name == "subsystems":
			role, i.Components = convert.Component, values
		case name == "fix versions":
			role = convert.OfVersion
			for _, v := range values {
				i.Versions = append(i.Versions, convert.Version{Name: v})
			}
		case name == "affected versions":
			role, i.Affects = convert.Affects, values
		case name == "sprints" || name == "sprint":
			role = convert.OfSprint
			for _, v := range values {
				i.Sprints = append(i.Sprints, convert.Sprint{Name: v})
			}
		case name == "due date" && day() != "":
			role, i.Due = convert.OfDate, day()
		case name == "start date" && day() != "":
			role, i.Start = convert.OfDate, day()
		default:
			if at, err := strconv.ParseInt(values[0], 10, 64); err == nil && c.Project.Field.Type.ID == "date and time" {
				values[0] = milli(at).Format("2006-01-02 15:04 UTC")
			}
			if strings.HasSuffix(c.Type, "DateIssueCustomField") || strings.HasPrefix(c.Type, "Date") {
				values[0] = cmp.Or(day(), values[0])
			}
			field(i, c.Name, strings.Join(values, ", "), "customFields."+c.Name)
		}
		of := "customFields." + c.Name
		x.roles.Declare(of, role)
		for _, v := range values {
			more = append(more, value{of, v})
		}
	}
	return more
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// link takes a link, which both of its ends show. INWARD is how the end of a link that has a direction shows it.
func (x *youtrackExport) link(i *convert.Issue, name, direction, to string) {
	inward := direction == "INWARD"
	switch {
	case name == "Subtask" && inward:
		i.Parent = to
	case name == "Subtask": // the child says it
	case name == "Depend": // outward it says that the other one needs this
		i.Links = append(i.Links, convert.Link{Type: "blocks", To: to, Inward: inward})
	case name == "Duplicate": // outward it says that the other one is the duplicate
		i.Links = append(i.Links, convert.Link{Type: name, To: to, Inward: !inward})
	case direction == "BOTH":
		i.Links = append(i.Links, convert.Link{Type: name, To: to, Inward: before(to, i.Key)})
	default:
		i.Links = append(i.Links, convert.Link{Type: name, To: to, Inward: inward})
	}
}

func (x *youtrackExport) discuss(key string, c youtrackComment) {
	x.comment(key, convert.Comment{
		ID: c.ID, Author: x.user(c.Author), At: milli(c.Created), Text: convert.Text{Body: c.Text}, Hidden: restricted(c.Visibility),
	})
}

// user notes somebody.
func (x *youtrackExport) user(u *youtrackUser) string {
	if u == nil {
		return ""
	}
	return x.person(cmp.Or(u.Full, u.Name), u.Email, u.Login)
}

// users notes those of a field: one, or a list.
func (x *youtrackExport) users(raw json.RawMessage) []string {
	var list []youtrackUser
	var one youtrackUser
	if json.Unmarshal(raw, &list) != nil && json.Unmarshal(raw, &one) == nil {
		list = []youtrackUser{one}
	}
	var ids []string
	for _, u := range list {
		if id := x.user(&u); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// restricted reports whether only some may see something: its visibility names groups or users.
func restricted(visibility json.RawMessage) bool {
	var v struct {
		Type   string            `json:"$type"`
		Groups []json.RawMessage `json:"permittedGroups"`
		Users  []json.RawMessage `json:"permittedUsers"`
	}
	if len(visibility) == 0 || json.Unmarshal(visibility, &v) != nil {
		return false
	}
	return v.Type == "LimitedVisibility" || len(v.Groups)+len(v.Users) > 0
}

// milli is a time in milliseconds.
func milli(n int64) time.Time {
	at := time.UnixMilli(n).UTC()
	if n == 0 || !dates.Valid(at) {
		return time.Time{}
	}
	return at
}
