package described

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/text/diag"
)

// github describes issues of GitHub, from the REST API, the GraphQL API or gh issue list --json, and the items of boards, from
// gh project item-list or the GraphQL API. An export may also have files of comments (issues/comments). Pull requests are left out.
func github() *api {
	a := described(textOf("github"), githubHooks)
	a.signs = func(head []byte) (string, bool) {
		ofOthers := records.Name(head, "iid") || records.Name(head, "idBoard")
		return "the items of a board", !ofOthers && records.Name(head, "content") && bytes.Contains(head, []byte(`"PVTI_`))
	}
	return a
}

// repository holds the parts of GitHub's exports that no path can express.
type repository struct {
	title    string         // of a board
	cards    []*boardItem   // items of all boards, in the order of the files
	places   map[string]int // of these, by ID
	files    []string       // in their order
	entries  map[string]int // records, by file
	items    map[string]int // records within lists, by file
	pulls    int
	others   map[string]int  // entries that are not issues, by the word in their address
	there    map[string]bool // keys of pull requests
	below    map[string]int  // numbers of issues with a parent, by the parent's key
	silent   int             // issues that do not say whether they have comments
	damaged  string
	statuses map[*convert.Issue][]status
	ofBoard  map[*convert.Issue]bool // only a board has the issue
}

func githubHooks() hooks {
	g := &repository{
		places: map[string]int{}, entries: map[string]int{}, items: map[string]int{}, others: map[string]int{}, there: map[string]bool{}, below: map[string]int{},
		statuses: map[*convert.Issue][]status{}, ofBoard: map[*convert.Issue]bool{},
	}
	complete := func(x *reader, i *convert.Issue) {
		if x.latest[x.key(i)] == i {
			i.Attachments = githubFiles(x.publicTexts(i))
		}
	}
	return hooks{record: g.record, place: g.place, finish: g.finish, complete: complete}
}

var (
	issueAddress = regexp.MustCompile(`/([^/]+/[^/]+)/(issues|pull)/([0-9]{1,9})(?:#.*)?$`)
	otherPage    = regexp.MustCompile(`/([a-z_-]+)/[0-9]+/?(?:[?#].*)?$`) // of a numbered thing that is not an issue, such as a milestone
)

// record reads a record: an issue, a comment, the item of a board, or something else, which is only counted.
func (g *repository) record(x *reader, r records.Record, v records.Value) (done bool, err error) {
	file := r.Position.File
	if r.List != "" {
		g.items[file]++
	}
	if r.Page {
		return true, g.page(x, r, v)
	}
	if !slices.Contains(g.files, file) {
		g.files = append(g.files, file)
	}
	at := x.reads(v)
	number, _ := strconv.Atoi(at("number"))
	address := issueAddress.FindStringSubmatch(at("html_url"))
	of := issueAddress.FindStringSubmatch(at("issue_url"))
	isIssue := strings.HasSuffix(r.List, "issue") || strings.HasSuffix(r.List, "issues.nodes") || strings.HasSuffix(r.List, "search.nodes")
	switch {
	case !isIssue && number == 0 && (v.Has("content") || strings.HasSuffix(strings.TrimSuffix(r.List, ".nodes"), "items")):
		return true, g.card(x, r, v)
	case at("issue_url") != "" && of == nil:
		err = fmt.Errorf("%s: the comment belongs to no issue: %s", r.Position, at("issue_url"))
	case of != nil && address != nil && address[2] == "pull":
		x.bookAll(nil, v, "pull_requests")
	case of != nil:
		key := of[1] + "#" + of[3]
		aside := x.apart.Of(key)
		x.comment(key, x.remark(aside, x.find("comment"), v))
		x.bookOf(aside, x.find("comment"), v, "comments")
	case number == 0 && v.Has("name") && v.Has("color"):
		g.other(x, "labels", v)
	case number <= 0 || at("title") == "":
		err = diag.WithHint(fmt.Errorf("%s: an entry without number and title", r.Position), "with gh issue list, ask for them: --json number,title,…")
	default:
		if page := otherPage.FindStringSubmatch(cmp.Or(at("html_url"), at("url"))); page != nil && address == nil && !issueAddress.MatchString(at("url")) {
			g.other(x, page[1], v)
			break
		}
		if isIssue {
			v = unwrapped(v)
		}
		g.issue(x, v, "")
	}
	g.entries[file]++
	return true, err
}

// other books an entry of another list, which is left out.
func (g *repository) other(x *reader, of string, v records.Value) {
	g.others[of]++
	x.book(nil, prefixed("other "+of+": ", leaves("", v)))
}

// issue adds an issue with its values. It only counts a pull request. under is the prefix of the names of the values.
func (g *repository) issue(x *reader, v records.Value, under string) *convert.Issue {
	at := x.reads(v)
	project, isPull := "github", v.Has("pull_request")
	for _, text := range []string{at("html_url"), at("url")} {
		if m := issueAddress.FindStringSubmatch(text); m != nil {
			project, isPull = m[1], isPull || m[2] == "pull"
			break
		}
	}
	if isPull {
		g.there[project+"#"+at("number")] = true
		g.pulls++
		x.book(nil, prefixed("pull_requests."+strings.TrimPrefix(under, "board."), leaves("", v)))
		return nil
	}
	x.project(project).Name = lastPart(project, '/')
	if !v.Has("comments") && under == "" {
		g.silent++
	}
	if g.damaged == "" {
		g.damaged = damagedText.FindString(at("title") + " " + at("body"))
	}
	x.scope, x.under = project, under
	x.issue(x.find("issue"), v, "")
	x.under = ""
	return x.issues[len(x.issues)-1]
}

// stateOf returns a state in the words of gh, REST or GraphQL.
func stateOf(text string) convert.State {
	name := strings.ToLower(text)
	return convert.State{Name: name, Category: map[string]string{"open": "unstarted", "closed": "completed"}[name]}
}

// place sets the fields of an issue that follow from several values.
func (g *repository) place(x *reader, i *convert.Issue, v records.Value) {
	at := x.reads(v)
	count := func(path string) (sum int) {
		for _, text := range x.texts(v.At(path)) {
			n, _ := strconv.Atoi(text)
			sum += n
		}
		return sum
	}
	i.State, i.Resolution = stateOf(i.State.Name), strings.ToLower(i.Resolution)
	i.Due = dates.Day(moment(i, at("due_date"))) // of Gitea and Forgejo
	for n := range i.Versions {
		i.Versions[n].Due = dates.Day(moment(i, cmp.Or(at("milestone.due_on"), at("milestone.dueOn"))))
	}
	if i.URL == "" && !strings.Contains(at("url"), "/repos/") {
		i.URL = at("url")
	}
	if strings.EqualFold(at("milestone.state"), "closed") {
		field(i, "Milestone", "closed", "milestone.state")
	}
	for _, list := range []string{"blocking", "blockedBy"} {
		for _, other := range x.texts(append(v.At(list+".nodes.url"), v.At(list+".url")...)) { // of gh, or unwrapped
			if to := elsewhere(other, i.Project); to != "" {
				i.Links = append(i.Links, convert.Link{Type: "blocks", To: to, Inward: list == "blockedBy"})
			}
		}
	}
	comments := slices.DeleteFunc(v.At("comments"), func(c records.Value) bool { return !c.Object || c.Has("totalCount") })
	x.counted[x.key(i)] = max(x.counted[x.key(i)], len(comments), count("comments.totalCount"))
	i.Left["reactions"] = count("reactions.total_count") + count("reactionGroups.users.totalCount")
	blocked := max(count("issue_dependencies_summary.total_blocked_by"), count("blockedBy.totalCount"))
	i.Left["relations-not-exported"] = max(0, blocked-len(v.At("blockedBy.nodes"))-len(v.At("blockedBy.url")))
	i.Left["items-not-exported"] = count("sub_issues_summary.total")
	if m := issueAddress.FindStringSubmatch(cmp.Or(at("parent_issue_url"), at("parent.url"))); m != nil {
		g.below[m[1]+"#"+m[3]]++
		i.Parent = elsewhere(m[0], i.Project)
	}
	for _, of := range v.At("projectItems") {
		g.statuses[i] = append(g.statuses[i], status{name: x.reads(of)("status.name"), board: x.reads(of)("title"), source: "projectItems.status.name"})
	}
}

// elsewhere returns the key of the issue at an address, with the repository if that is another one.
func elsewhere(address, project string) string {
	switch m := issueAddress.FindStringSubmatch(address); {
	case m == nil:
		return ""
	case m[1] != project:
		return m[1] + "#" + m[3]
	default:
		return m[3]
	}
}

// finish adds the values of boards, and remarks on what is left out or missing.
func (g *repository) finish(x *reader) {
	for _, file := range g.files {
		if n := max(g.entries[file], g.items[file]); n == 30 || n == 100 {
			x.to.Note("exactly-"+strconv.Itoa(n), fmt.Sprintf("%s: exactly %d entries, which is the length of a page: use --paginate, or --limit", file, n))
		}
	}
	g.board(x)
	stateless := 0
	for _, i := range x.issues {
		key := x.key(i)
		i.Left["items-not-exported"] = max(0, i.Left["items-not-exported"]-g.below[key])
		if i.State.Name == "" {
			stateless++
		}
	}
	for key := range g.there {
		if x.latest[key] == nil { // comments of a pull request
			delete(x.comments, key)
		}
	}
	x.noteIf(g.pulls, "pull-requests", diag.Count(g.pulls, "pull request")+" left out")
	for _, of := range sortedKeys(g.others) {
		x.to.Note("other-lists", diag.Count(g.others[of], "entry")+" left out, which "+of+" in its address shows to be no issue")
	}
	if len(x.comments) == 0 {
		x.noteIf(g.silent, "no-comments", "nothing is told of the comments of "+diag.Count(g.silent, "issue")+": ask for the field comments, too")
	}
	x.noteIf(stateless, "no-state", diag.Count(stateless, "issue")+" without a state: export again with gh issue list --state all --limit 10000 "+
		"--json number,title,body,state,stateReason,author,assignees,labels,milestone,comments,createdAt,updatedAt,url")
	x.noteIf(len(g.damaged), "damaged-text", "letters were damaged before the file was written, as PowerShell 5 does, such as in "+
		strconv.Quote(g.damaged)+": export again with another shell")
}

var (
	githubUpload = regexp.MustCompile(`(?:\[([^\]\n]*)\]\()?(https://(?:github\.com/(?:user-attachments|[\w.-]+/[\w.-]+)/(files|assets)/|user-images\.githubusercontent\.com/)([^\s()"'<>\]\x60]*[^\s()"'<>\]\x60.,;:!?]))`)
	damagedText  = regexp.MustCompile(`\S*(?:ÔÇ|├[ñÂ╝ƒÑ®])\S*`) // letters that were decoded with a wrong code page
)

// githubFiles returns the files on GitHub that texts of an issue link to.
func githubFiles(texts string) (list []convert.Attachment) {
	for _, m := range githubUpload.FindAllStringSubmatch(texts, -1) {
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
