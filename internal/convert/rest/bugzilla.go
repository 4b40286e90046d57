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
)

// bugzillaUser is what is known of somebody beside the login.
type bugzillaUser struct {
	Login string `json:"name"`
	Name  string `json:"real_name"`
	Email string `json:"email"`
}

// bugzillaAnswer is a bug, its changes, a comment, or an attached file.
type bugzillaAnswer struct {
	ID         int             `json:"id"`
	Summary    string          `json:"summary"`
	Status     string          `json:"status"`
	Open       *bool           `json:"is_open"`
	Resolution string          `json:"resolution"`
	Product    string          `json:"product"`
	Component  json.RawMessage `json:"component"` // some sites take several
	Version    json.RawMessage `json:"version"`
	Milestone  string          `json:"target_milestone"`
	Priority   string          `json:"priority"`
	Type       string          `json:"type"`
	Keywords   []string        `json:"keywords"`
	Creator    string          `json:"creator"`
	Assigned   string          `json:"assigned_to"`
	By         bugzillaUser    `json:"creator_detail"`
	To         bugzillaUser    `json:"assigned_to_detail"`
	CC         []string        `json:"cc"`
	Created    string          `json:"creation_time"`
	Changed    string          `json:"last_change_time"`
	Deadline   string          `json:"deadline"`
	Depends    []int           `json:"depends_on"`
	Blocks     json.RawMessage `json:"blocks"`
	Duplicate  int             `json:"dupe_of"`
	RegressBy  []int           `json:"regressed_by"`
	Regresses  []int           `json:"regressions"`
	See        []string        `json:"see_also"`
	URL        string          `json:"url"`
	Groups     []string        `json:"groups"`
	Votes      int             `json:"votes"`
	Count      int             `json:"comment_count"`
	Flags      []struct {
		Name   string `json:"name"`
		Status string `json:"status"`
	} `json:"flags"`
	History []struct {
		When    string `json:"when"`
		Who     string `json:"who"`
		Changes []struct {
			Field   string `json:"field_name"`
			Removed string `json:"removed"`
			Added   string `json:"added"`
		} `json:"changes"`
	} `json:"history"`

	Bug      int     `json:"bug_id"` // of a comment or a file
	Number   *int    `json:"count"`  // of a comment, of which 0 is the description; older versions do not count
	Text     *string `json:"text"`
	Time     string  `json:"time"`
	Markdown bool    `json:"is_markdown"`
	Private  any     `json:"is_private"` // true, or 1
	File     string  `json:"file_name"`
	Size     int64   `json:"size"`
}

// bugzilla is what the REST API of Bugzilla answers for bugs, for their comments, of which the first is the description, for what was
// changed of them, and for their attachments.
func bugzilla() *api {
	return &api{
		name: "bugzilla", tracker: "Bugzilla", lists: []string{"bugs", "bugs.*", "bugs.*.comments"},
		empty: regexp.MustCompile(`^\s*\{\s*"(?:faults|bugs)"\s*:\s*\[\s*\]`),
		needs: [][]string{
			{"bugs", "summary", "product"},
			{"bugs", "comments"},
			{"bugs", "history", "changes"},
			{"bugs", "attachments"},
			{"bugs", "history"},
			{"summary", "product", "creator", "last_change_time"},
		},
		start: func(e *export) (func(records.Record) error, func()) {
			x := &bugzillaExport{export: e, texts: map[string]convert.Comment{}, files: map[string][]convert.Attachment{}}
			return x.record, x.finish
		},
	}
}

type bugzillaExport struct {
	*export

	texts map[string]convert.Comment // descriptions, by bug
	files map[string][]convert.Attachment

	uncounted bool // comments do not say which is the description
}

func (x *bugzillaExport) record(r records.Record) error {
	var one bugzillaAnswer
	if err := r.Decode(&one, "bug of Bugzilla"); err != nil {
		return err
	}
	return x.answer(r, one)
}

// within reads the comments and the files that stand within a bug.
func (x *bugzillaExport) within(r records.Record, bug int) error {
	for _, list := range []string{"comments", "attachments"} {
		for _, part := range r.Elements(list) {
			var one bugzillaAnswer
			if err := part.Decode(&one, "bug of Bugzilla"); err != nil {
				return err
			}
			one.Bug = bug
			if err := x.answer(part, one); err != nil {
				return err
			}
		}
	}
	return nil
}

// answer takes an answer by what it holds.
func (x *bugzillaExport) answer(r records.Record, one bugzillaAnswer) error {
	key := strconv.Itoa(cmp.Or(one.Bug, one.ID))
	private := one.Private == true || one.Private == float64(1)
	switch {
	case r.Page:
		x.enter(nil, r, "", nil)
	case one.Bug > 0 && one.Text != nil:
		at, _ := dates.Parse(cmp.Or(one.Created, one.Time), time.RFC3339)
		c := convert.Comment{
			ID: strconv.Itoa(one.ID), Author: x.user(one.Creator, bugzillaUser{}), At: at,
			Text: convert.Text{Markup: convert.Plain, Body: *one.Text}, Hidden: private,
		}
		if one.Markdown {
			c.Text.Markup = convert.Markdown
		}
		if one.Number != nil && *one.Number == 0 && !private {
			x.texts[key] = c
			x.beside(r, key, "description")
			return nil
		}
		x.uncounted = x.uncounted || one.Number == nil
		x.comment(key, c)
		x.beside(r, key, "comments")
	case one.Bug > 0 && private:
		x.leave(r, "private attachments")
	case one.Bug > 0 && one.File != "":
		if !slices.ContainsFunc(x.files[key], func(a convert.Attachment) bool { return a.ID == strconv.Itoa(one.ID) }) {
			x.files[key] = append(x.files[key], convert.Attachment{
				ID: strconv.Itoa(one.ID), Name: one.File, URL: "/attachment.cgi?id=" + strconv.Itoa(one.ID), Size: one.Size,
			})
			if one.Summary != "" && one.Summary != one.File {
				about(x.apart.Of(key), "Files", one.File, one.Summary, "files.summary")
			}
		}
		x.beside(r, key, "files")
	case one.ID > 0 && one.Summary == "" && r.List == "bugs": // what was changed of a bug
		x.history(key, &one)
		for _, h := range r.Elements("history") {
			x.beside(h, key, "history")
		}
	case one.ID <= 0 || one.Summary == "":
		return x.foreign(r, "a bug without id and summary", "ask for rest/bug, rest/bug/ID/comment, rest/bug/ID/attachment or rest/bug/ID/history")
	default:
		x.bug(r, key, &one)
		return x.within(r, one.ID)
	}
	return nil
}

func (x *bugzillaExport) bug(r records.Record, key string, f *bugzillaAnswer) {
	i := &convert.Issue{
		Key: key, ID: key, Number: f.ID, Project: cmp.Or(f.Product, "bugzilla"), Title: f.Summary, Type: f.Type, Position: r.Position,
		State: convert.State{Name: f.Status, Category: bugzillaGroup(f.Status, f.Open)}, Priority: bugzillaPriority(f.Priority),
		Resolution: bugzillaResolution(f.Resolution), Reporter: x.user(f.Creator, f.By), Components: texts(f.Component),
		Left: map[string]int{"votes": f.Votes},
	}
	if len(f.Groups) > 0 {
		i.Restricted = "groups"
	}
	if id := x.user(f.Assigned, f.To); id != "" {
		i.Assignees = []string{id}
	}
	if f.Milestone != "" && !strings.HasPrefix(f.Milestone, "--") {
		i.Versions = []convert.Version{{Name: f.Milestone}}
	}
	for _, word := range f.Keywords {
		i.Labels = append(i.Labels, convert.Label{Name: word})
	}
	for _, login := range f.CC {
		i.Watchers = append(i.Watchers, x.user(login, bugzillaUser{}))
	}
	i.Created, i.Updated, i.Due = moment(i, f.Created), moment(i, f.Changed), day(i, f.Deadline)
	link := func(kind string, inward bool, to ...int) {
		for _, n := range to {
			if n > 0 {
				i.Links = append(i.Links, convert.Link{Type: kind, To: strconv.Itoa(n), Inward: inward})
			}
		}
	}
	var blocks []int
	_ = json.Unmarshal(f.Blocks, &blocks) // another tracker's field of that name is none
	link("blocks", true, f.Depends...)
	link("blocks", false, blocks...)
	link("Duplicate", false, f.Duplicate)
	link("Regression", true, f.RegressBy...)
	link("Regression", false, f.Regresses...)
	for _, address := range append(slices.Clone(f.See), f.URL) {
		if address != "" {
			i.Pages = append(i.Pages, convert.Attachment{Name: address, URL: address})
		}
	}
	field(i, "Resolution", f.Resolution, "resolution")
	version := strings.Join(texts(f.Version), ", ")
	i.Fields = append(i.Fields, convert.Field{Name: "Version", Value: version, Source: "version", Noise: version == "unspecified"})
	var flags []string
	for _, flag := range f.Flags {
		flags = append(flags, flag.Name+flag.Status)
	}
	field(i, "Flags", strings.Join(flags, ", "), "flags")
	x.history(key, f)
	x.counted[key] = max(x.counted[key], f.Count-1)
	x.roles.Enter(x.to, i, func(yield func(name, text string) bool) {
		for name, text := range r.Values("", x.roles.Whole) {
			if strings.HasPrefix(name, "comments.") || strings.HasPrefix(name, "attachments.") { // see within
				continue
			}
			if text == "---" || text == "--" { // as Bugzilla writes nothing
				name = "unset: " + name
			}
			if !yield(name, text) {
				return
			}
		}
	})
	x.to.Project(convert.Project{Key: i.Project, Name: i.Project})
	x.add(i)
}

// history takes what was changed of a bug.
func (x *bugzillaExport) history(key string, f *bugzillaAnswer) {
	for _, h := range f.History {
		at, _ := dates.Parse(h.When, time.RFC3339)
		for _, c := range h.Changes {
			x.events[key] = append(x.events[key], convert.Event{Author: x.user(h.Who, bugzillaUser{}), At: at, Field: c.Field, From: c.Removed, To: c.Added})
		}
	}
}

var bugReference = regexp.MustCompile(`\b([Bb]ug) ([0-9]{1,10})\b`)

// finish gives bugs their descriptions and files, and marks what texts say of other bugs as Bugzilla shows it: as a link.
func (x *bugzillaExport) finish() {
	marked := func(t convert.Text) convert.Text {
		t.Body = bugReference.ReplaceAllStringFunc(t.Body, func(text string) string {
			if m := bugReference.FindStringSubmatch(text); x.latest[m[2]] != nil {
				return m[1] + " #" + m[2]
			}
			return text
		})
		return t
	}
	for key := range x.latest {
		if x.uncounted && x.texts[key].ID == "" {
			x.first(key)
		}
	}
	for _, i := range x.issues {
		if i == x.latest[i.Key] {
			i.Text = marked(x.texts[i.Key].Text)
			i.Attachments = append(i.Attachments, x.files[i.Key]...)
		}
	}
	for _, list := range x.comments {
		for n := range list {
			list[n].Text = marked(list[n].Text)
		}
	}
	if len(x.texts) == 0 {
		x.to.Note("no-comments", "no file has comments, of which the first is the description: ask for rest/bug/ID/comment, too")
	}
	x.to.Site("", "/show_bug.cgi?id={key}")
}

// first makes the first comment of a bug its description: the one with the lowest ID.
func (x *bugzillaExport) first(key string) {
	list := x.comments[key]
	slices.SortStableFunc(list, func(a, b convert.Comment) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	if len(list) > 0 && !list[0].Hidden {
		x.texts[key], x.comments[key] = list[0], list[1:]
	}
}

// user notes somebody. Nobody has a login, too.
func (x *bugzillaExport) user(login string, u bugzillaUser) string {
	id := cmp.Or(u.Login, login)
	if id == "" || strings.HasPrefix(id, "nobody@") {
		return ""
	}
	email := u.Email
	if email == "" && strings.Contains(id, "@") {
		email = id
	}
	return x.person(u.Name, email, id)
}

func bugzillaGroup(status string, open *bool) string {
	group := map[string]string{
		"UNCONFIRMED": "backlog", "NEW": "unstarted", "CONFIRMED": "unstarted", "REOPENED": "unstarted", "ASSIGNED": "started",
		"IN_PROGRESS": "started", "RESOLVED": "completed", "VERIFIED": "completed", "CLOSED": "completed",
	}[status]
	switch {
	case open != nil && !*open:
		return "completed"
	case open != nil:
		return cmp.Or(strings.TrimPrefix(group, "completed"), "started")
	}
	return group
}

// bugzillaPriority is the name of a priority: what older versions call P1 is Highest in newer ones.
func bugzillaPriority(name string) string {
	if strings.HasPrefix(name, "--") {
		return ""
	}
	return cmp.Or(map[string]string{"P1": "Highest", "P2": "High", "P3": "Normal", "P4": "Low", "P5": "Lowest"}[name], name)
}

// bugzillaResolution is a resolution as others call it.
func bugzillaResolution(name string) string {
	return cmp.Or(map[string]string{
		"WONTFIX": "Won't Fix", "DUPLICATE": "Duplicate", "INVALID": "Invalid", "WORKSFORME": "Cannot Reproduce", "INCOMPLETE": "Declined",
		"INACTIVE": "Declined",
	}[name], name)
}
