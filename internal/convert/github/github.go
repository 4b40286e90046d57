// Package github reads issues of GitHub, from the REST API or gh issue list --json, and the items of boards, from
// gh project item-list or the GraphQL API.
//
// A file is any number of JSON values, one after another, as gh api --paginate writes them: arrays, arrays of arrays, pages, or single
// issues. An export may also have files of comments (issues/comments) and boards. Pull requests are left out.
// The package must not know manifests.
package github

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
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
	"github.com/planform/planform/internal/text/diag"
)

// Format returns the format of GitHub's issues in JSON.
func Format() *convert.Format {
	return &convert.Format{Name: "github", Tracker: "GitHub", HTML: true, Detect: detect, Read: read}
}

// detect returns the fields by which a file of issues, comments or board items is recognised.
func detect(head []byte, _ string) (string, bool) {
	switch {
	case records.Name(head, "iid"), records.Name(head, "idBoard"): // of GitLab, of Trello
		return "", false
	case records.Name(head, "issue_url", "body"):
		return "the fields issue_url and body", true
	case isBoard(head):
		return "the items of a board", true
	case records.Name(head, "identifier", "title"): // of Linear
		return "", false
	case records.Name(head, "number", "title"):
		return "the fields number and title", true
	}
	return "", false
}

type user struct {
	Login string `json:"login"`
	Name  string `json:"name"`
	Type  string `json:"type"`
	IsBot bool   `json:"is_bot"`
}

type comment struct {
	ID        any    `json:"id"`
	Minimized bool   `json:"isMinimized"` // such as spam
	Body      string `json:"body"`
	User      *user  `json:"user"`   // REST
	Author    *user  `json:"author"` // gh
	Created   string `json:"created_at"`
	CreatedGh string `json:"createdAt"`
}

// entry is an issue, a pull request, or a comment. Fields of gh are in camel case.
type entry struct {
	comment

	Number      int                                         `json:"number"`
	Title       string                                      `json:"title"`
	State       string                                      `json:"state"`
	Reason      string                                      `json:"state_reason"`
	ReasonGh    string                                      `json:"stateReason"`
	Assignee    *user                                       `json:"assignee"`
	Assignees   []user                                      `json:"assignees"`
	PullRequest any                                         `json:"pull_request"`
	URL         string                                      `json:"url"`
	HTMLURL     string                                      `json:"html_url"`
	IssueURL    string                                      `json:"issue_url"` // of a comment
	ParentURL   string                                      `json:"parent_issue_url"`
	Parent      *struct{ URL string }                       `json:"parent"` // GraphQL
	Labels      []struct{ Name, Color, Description string } `json:"labels"`
	Milestone   *struct {
		Title string `json:"title"`
		Due   string `json:"due_on"`
		DueGh string `json:"dueOn"`
		State string `json:"state"`
	} `json:"milestone"`
	Due      string `json:"due_date"` // of Gitea and Forgejo
	Closed   string `json:"closed_at"`
	ClosedGh string `json:"closedAt"`
	ClosedBy *user  `json:"closed_by"`
	Type     *kind  `json:"type"`
	TypeGh   *kind  `json:"issueType"`
	Blocks   linked `json:"blocking"`
	Blocked  linked `json:"blockedBy"`
	Linked   struct {
		Blocked int `json:"total_blocked_by"`
	} `json:"issue_dependencies_summary"` // REST: how many
	Below struct {
		Total int `json:"total"`
	} `json:"sub_issues_summary"` // likewise
	Reactions struct {
		Total int `json:"total_count"`
	} `json:"reactions"`
	ReactionsGh []struct {
		Users struct {
			Total int `json:"totalCount"`
		} `json:"users"`
	} `json:"reactionGroups"`
	Boards []struct {
		Title  string `json:"title"`
		Status struct {
			Name string `json:"name"`
		} `json:"status"`
	} `json:"projectItems"` // of gh
	Comments  json.RawMessage `json:"comments"` // REST: how many; gh: the comments
	Updated   string          `json:"updated_at"`
	UpdatedGh string          `json:"updatedAt"`
}

type kind struct {
	Name string `json:"name"`
}

// linked holds the related issues that gh lists in an issue.
type linked struct {
	Nodes []struct {
		URL string `json:"url"`
	} `json:"nodes"`
}

// valueList has the roles of values, by their names.
//
//go:embed values.txt
var valueList string

// export holds the contents of all files.
type export struct {
	to       convert.Sink
	roles    *convert.Roles
	issues   []*issue
	comments convert.Comments // by the address of the issue
	apart    convert.Apart    // values of these comments
	cards    cards
	pulls    int
	others   map[string]int  // entries that are not issues, by the word in their address
	there    map[string]bool // project#number of issues and pull requests
	below    map[string]int  // numbers of issues with a parent, by the parent's project#number
	silent   int             // issues that do not say whether they have comments
	damaged  string

	follows, ended bool // a page of issues has a next page; a page is the last one
}

type issue struct {
	convert.Issue

	at       string // project#number
	count    int    // of comments, as REST says
	statuses []status
	ofBoard  bool // only a board has it
}

// read reads the files as one export.
func read(ctx context.Context, in convert.Input, to convert.Sink) error {
	e := &export{to: to, roles: convert.ReadRoles(valueList), comments: convert.Comments{}, there: map[string]bool{}, others: map[string]int{}, below: map[string]int{}}
	if err := in.Each(ctx, e.file); err != nil {
		return err
	}
	stateless := 0
	if err := e.board(); err != nil {
		return err
	}
	for _, i := range e.issues {
		i.Left["items-not-exported"] = max(0, i.Left["items-not-exported"]-e.below[i.at])
		i.Discuss(append(i.Comments, e.comments[i.at]...), i.count)
		i.Attachments = attachments(i)
		e.apart.Join(&i.Issue, i.at)
		if i.State.Name == "" {
			stateless++
		}
		to.Issue(&i.Issue)
	}
	e.comments.Close(to, func(at string) bool { return e.there[at] })
	e.apart.Close(to)
	if e.pulls > 0 {
		to.Note("pull-requests", diag.Count(e.pulls, "pull request")+" left out")
	}
	for _, of := range slices.Sorted(maps.Keys(e.others)) {
		to.Note("other-lists", diag.Count(e.others[of], "entry")+" left out, which "+of+" in its address shows to be no issue")
	}
	if e.follows && !e.ended {
		to.Note("pages-missing", "GitHub says that another page follows, and no file is the last one: export the other pages, too")
	}
	if e.silent > 0 && len(e.comments) == 0 {
		to.Note("no-comments", "nothing is told of the comments of "+diag.Count(e.silent, "issue")+": ask for the field comments, too")
	}
	if stateless > 0 {
		to.Note("no-state", diag.Count(stateless, "issue")+" without a state: export again with gh issue list --state all --limit 10000 "+
			"--json number,title,body,state,stateReason,author,assignees,labels,milestone,comments,createdAt,updatedAt,url")
	}
	if e.damaged != "" {
		to.Note("damaged-text", "letters were damaged before the file was written, as PowerShell 5 does, such as in "+
			strconv.Quote(e.damaged)+": export again with another shell")
	}
	return nil
}

func (e *export) file(ctx context.Context, text io.Reader, name string) error {
	entries, items := 0, 0
	err := records.Read(ctx, text, name, append(boardLists(), issueLists()...), func(r records.Record) error {
		if r.List != "" {
			items++
		}
		if r.Page {
			return e.page(r, items)
		}
		if slices.Contains(issueLists(), r.List) {
			return e.node(r)
		}
		if c, err := e.card(r); c || err != nil {
			return err
		}
		var one entry
		if err := r.Decode(&one, "issue of GitHub"); err != nil {
			return err
		}
		entries++
		return e.entry(&one, r)
	})
	if err != nil {
		return err
	}
	if n := max(entries, items); n == 30 || n == 100 {
		e.to.Note("exactly-"+strconv.Itoa(n),
			fmt.Sprintf("%s: exactly %d entries, which is the length of a page: use --paginate, or --limit", name, n))
	}
	return nil
}

// issueLists returns the places of issues in answers of GraphQL, for each kind of query.
func issueLists() []string {
	lists := []string{"issues.nodes", "search.nodes", "data.search.nodes"} // not below what a single issue has, such as its repository
	for _, of := range []string{"repository", "user", "viewer", "organization.repository", "node", "repositoryOwner.repository"} {
		lists = append(lists, "data."+of+".issues.nodes", "data."+of+".issue")
	}
	return lists
}

// node reads an issue of GraphQL.
func (e *export) node(r records.Record) error {
	var raw json.RawMessage
	var counted struct{ Comments struct{ TotalCount int } }
	if err := cmp.Or(r.Decode(&raw, "issue of GitHub"), r.Decode(&counted, "issue of GitHub")); err != nil {
		return err
	}
	_, raw, err := unwrap(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Position, err)
	}
	r = r.With(raw)
	var one entry
	if err := r.Decode(&one, "issue of GitHub"); err != nil {
		return err
	}
	had := len(e.issues)
	if err := e.entry(&one, r); err != nil {
		return err
	}
	for _, i := range e.issues[had:] {
		i.count = counted.Comments.TotalCount
	}
	return nil
}

var address = regexp.MustCompile(`/([^/]+/[^/]+)/(issues|pull)/([0-9]{1,9})(?:#.*)?$`)

// entry reads an issue or a comment.
func (e *export) entry(one *entry, r records.Record) error {
	at := r.Position
	switch {
	case one.IssueURL != "":
		m := address.FindStringSubmatch(one.IssueURL)
		if m == nil {
			return fmt.Errorf("%s: the comment belongs to no issue: %s", at, one.IssueURL)
		}
		if of := address.FindStringSubmatch(one.HTMLURL); of != nil && of[2] == "pull" {
			e.roles.Enter(e.to, nil, r.Values("pull_requests", e.roles.Whole))
			return nil
		}
		e.comments.Add(m[1]+"#"+m[3], e.comment(&one.comment))
		e.roles.Enter(e.to, e.apart.Of(m[1]+"#"+m[3]), r.Values("comments", e.roles.Whole))
		return nil
	case one.Number <= 0 || one.Title == "":
		return diag.WithHint(fmt.Errorf("%s: an entry without number and title", at), "with gh issue list, ask for them: --json number,title,…")
	}
	if m := otherPage.FindStringSubmatch(cmp.Or(one.HTMLURL, one.URL)); m != nil && !address.MatchString(one.HTMLURL) && !address.MatchString(one.URL) {
		e.others[m[1]]++
		e.roles.Enter(e.to, nil, within("other lists: ", r.Values("", e.roles.Whole)))
		return nil
	}
	return e.issue(one, r.Position, r.Values("", e.roles.Whole))
}

// otherPage matches the address of a numbered thing that is not an issue, such as a milestone.
var otherPage = regexp.MustCompile(`/([a-z_-]+)/[0-9]+/?(?:[?#].*)?$`)

// issue adds an issue with its values. It only counts a pull request.
func (e *export) issue(one *entry, at diag.Position, values iter.Seq2[string, string]) error {
	project, isPull := "github", one.PullRequest != nil
	for _, url := range []string{one.HTMLURL, one.URL} {
		if m := address.FindStringSubmatch(url); m != nil {
			project, isPull = m[1], isPull || m[2] == "pull"
			break
		}
	}
	e.there[project+"#"+strconv.Itoa(one.Number)] = true
	if isPull {
		e.pulls++
		e.roles.Enter(e.to, nil, within("pull_requests.", values))
		return nil
	}
	number := strconv.Itoa(one.Number)
	i := &issue{at: project + "#" + number, Issue: convert.Issue{
		Key: number, Project: project, Number: one.Number, Title: one.Title, Text: convert.Text{Body: one.Body},
		State: stateOf(one.State), Resolution: strings.ToLower(cmp.Or(one.Reason, one.ReasonGh)),
		Reporter: e.person(cmp.Or(one.User, one.Author)),
		URL:      one.HTMLURL, Left: map[string]int{"reactions": one.Reactions.Total}, Position: at,
	}}
	for _, group := range one.ReactionsGh {
		i.Left["reactions"] += group.Users.Total
	}
	e.closed(i, one)
	i.Due = dates.Day(i.Moment(one.Due, time.RFC3339))
	i.Created = i.Moment(cmp.Or(one.Created, one.CreatedGh), time.RFC3339)
	i.Updated = i.Moment(cmp.Or(one.Updated, one.UpdatedGh), time.RFC3339)
	if i.URL == "" && !strings.Contains(one.URL, "/repos/") {
		i.URL = one.URL
	}
	if one.Assignee != nil {
		one.Assignees = append(one.Assignees, *one.Assignee)
	}
	e.assign(i, one.Assignees)
	for _, l := range one.Labels {
		i.Labels = append(i.Labels, convert.Label{Name: l.Name, Color: l.Color, Description: l.Description})
	}
	if m := one.Milestone; m != nil {
		i.Versions = []convert.Version{{Name: m.Title, Due: dates.Day(i.Moment(cmp.Or(m.Due, m.DueGh), time.RFC3339))}}
	}
	if of := cmp.Or(one.Type, one.TypeGh); of != nil {
		i.Type = of.Name
	}
	for n, list := range []linked{one.Blocks, one.Blocked} {
		for _, other := range list.Nodes {
			if m := address.FindStringSubmatch(other.URL); m != nil {
				to := m[3]
				if m[1] != project {
					to = m[1] + "#" + m[3]
				}
				i.Links = append(i.Links, convert.Link{Type: "blocks", To: to, Inward: n == 1})
			}
		}
	}
	if one.Parent != nil && one.ParentURL == "" {
		one.ParentURL = one.Parent.URL
	}
	i.Left["relations-not-exported"], i.Left["items-not-exported"] = max(0, one.Linked.Blocked-len(one.Blocked.Nodes)), one.Below.Total
	if m := address.FindStringSubmatch(one.ParentURL); m != nil {
		e.below[m[1]+"#"+m[3]]++
		i.Parent = m[3]
		if m[1] != project {
			i.Parent = m[1] + "#" + m[3] // outside
		}
	}
	if err := e.discussion(i, one.Comments, at); err != nil {
		return err
	}
	for _, of := range one.Boards {
		i.statuses = append(i.statuses, status{name: of.Status.Name, board: of.Title, source: "projectItems.status.name"})
	}
	e.roles.Enter(e.to, &i.Issue, func(yield func(name, text string) bool) {
		for name, text := range values {
			if name != "projectItems.status.name" && !yield(name, text) { // columns books it
				return
			}
		}
	})
	if e.damaged == "" {
		e.damaged = damage(one.Title + " " + one.Body)
	}
	e.to.Project(convert.Project{Key: project, Name: project[strings.LastIndexByte(project, '/')+1:]})
	e.issues = append(e.issues, i)
	return nil
}

func stateOf(text string) convert.State {
	s := convert.State{Name: strings.ToLower(text)}
	switch s.Name {
	case "open":
		s.Category = "unstarted"
	case "closed":
		s.Category = "completed"
	}
	return s
}

func (e *export) assign(i *issue, users []user) {
	for _, u := range users {
		if id := e.person(&u); id != "" && !slices.Contains(i.Assignees, id) {
			i.Assignees = append(i.Assignees, id)
		}
	}
}

// closed adds the time and the author of the closing of an issue, and whether its milestone is closed.
func (e *export) closed(i *issue, one *entry) {
	add := func(name, value, source string) {
		if value != "" {
			i.Fields = append(i.Fields, convert.Field{Name: name, Value: value, Source: source})
		}
	}
	for _, at := range [][2]string{{one.Closed, "closed_at"}, {one.ClosedGh, "closedAt"}} {
		add("Closed", dates.Minute(i.Moment(at[0], time.RFC3339)), at[1])
	}
	add("Closed by", e.person(one.ClosedBy), "closed_by.login")
	if m := one.Milestone; m != nil && strings.EqualFold(m.State, "closed") {
		add("Milestone", "closed", "milestone.state")
	}
}

// discussion reads the comments of an issue, or their number.
func (e *export) discussion(i *issue, raw json.RawMessage, at diag.Position) error {
	if len(raw) == 0 {
		e.silent++
		return nil
	}
	if raw[0] != '[' {
		_ = json.Unmarshal(raw, &i.count) // null is none
		return nil
	}
	var list []comment
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("%s: the comments of #%s: %w", at, i.Key, err)
	}
	for n := range list {
		i.Comments = append(i.Comments, e.comment(&list[n]))
	}
	return nil
}

func (e *export) comment(c *comment) convert.Comment {
	id := ""
	switch v := c.ID.(type) {
	case string:
		id = v
	case float64: // whole, and far below 2^53
		id = strconv.FormatFloat(v, 'f', -1, 64)
	}
	at, _ := dates.Parse(cmp.Or(c.Created, c.CreatedGh), time.RFC3339)
	return convert.Comment{ID: id, Author: e.person(cmp.Or(c.User, c.Author)), At: at, Text: convert.Text{Body: c.Body}, Hidden: c.Minimized}
}

// person records a user and returns the login. A deleted user is ghost, or nobody.
func (e *export) person(u *user) string {
	if u == nil || u.Login == "" {
		return ""
	}
	e.to.Person(convert.Person{ID: u.Login, Name: u.Name, Bot: u.IsBot || u.Type == "Bot" || strings.HasSuffix(u.Login, "[bot]")})
	return u.Login
}

var upload = regexp.MustCompile(`(?:\[([^\]\n]*)\]\()?(https://(?:github\.com/(?:user-attachments|[\w.-]+/[\w.-]+)/(files|assets)/|user-images\.githubusercontent\.com/)([^\s()"'<>\]\x60]*[^\s()"'<>\]\x60.,;:!?]))`)

// attachments returns the files on GitHub that texts of an issue link to.
func attachments(i *issue) []convert.Attachment {
	texts := []string{i.Text.Body}
	for _, c := range i.Comments {
		texts = append(texts, c.Text.Body)
	}
	var list []convert.Attachment
	for _, m := range upload.FindAllStringSubmatch(strings.Join(texts, "\n"), -1) {
		first, _, _ := strings.Cut(m[4], "/")
		last := path.Base(m[4])
		a := convert.Attachment{Name: last, URL: m[2]}
		switch m[3] {
		case "files":
			a.ID = first
		case "assets":
			a.ID, a.Name = last, cmp.Or(m[1], last)
		}
		if name, err := url.PathUnescape(a.Name); err == nil {
			a.Name = name
		}
		if !slices.ContainsFunc(list, func(had convert.Attachment) bool { return had.URL == a.URL }) {
			list = append(list, a)
		}
	}
	return list
}

var damagedText = regexp.MustCompile(`\S*(?:ÔÇ|├[ñÂ╝ƒÑ®])\S*`)

// damage returns the first word whose letters were decoded with a wrong code page, or "".
func damage(text string) string { return damagedText.FindString(text) }
