package github

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/text/diag"
)

// boardLists returns the places of a board's items in an answer: of gh project item-list, and of GraphQL for each owner of boards.
func boardLists() []string {
	return []string{
		"items", "items.nodes", "node.items.nodes", "projectV2.items.nodes", "data.node.items.nodes", "data.organization.projectV2.items.nodes",
		"data.user.projectV2.items.nodes", "data.viewer.projectV2.items.nodes", "data.repository.projectV2.items.nodes",
		"data.repositoryOwner.projectV2.items.nodes",
	}
}

// isBoard reports whether a file begins with the fields of a board's items.
func isBoard(head []byte) bool {
	return records.Name(head, "content") && (bytes.Contains(head, []byte(`"PVTI_`)) || records.Name(head, "fieldValues"))
}

// card is an item of a board: a draft, or an issue with its values on the board.
type card struct {
	id       string
	position diag.Position
	content  content
	raw      json.RawMessage // content in the form of the REST API
	archived bool
	fields   []field
	values   [][2]string // names and texts of other values
}

type content struct {
	Type       string `json:"type"`
	TypeName   string `json:"__typename"`
	ID         string `json:"id"`
	Number     int    `json:"number"`
	Title      string `json:"title"`
	Body       string `json:"body"`
	URL        string `json:"url"`
	Repository any    `json:"repository"`
	Creator    *user  `json:"creator"`
	Created    string `json:"createdAt"`
	Updated    string `json:"updatedAt"`

	// Fields of an item that may be a draft or an issue.
	State     string                  `json:"state"`
	Assignees []user                  `json:"assignees"`
	Labels    []struct{ Name string } `json:"labels"`
}

// field is the value of an item in a field of the board.
type field struct {
	name   string
	values []string
	start  string // of an iteration
	days   int
	due    string      // of a milestone
	other  [][2]string // names and texts of other values
}

// status is the column of an issue on a board.
type status struct{ name, board, source string } // board is the title of the board, or ""

// cards holds the items of all boards by their IDs, in the order of the files.
type cards struct {
	title string
	list  []*card
	at    map[string]int
}

func (cr *cards) add(one *card) {
	if n, known := cr.at[one.id]; known { // pages overlap
		cr.list[n] = one
		return
	}
	if cr.at == nil {
		cr.at = map[string]int{}
	}
	cr.at[one.id], cr.list = len(cr.list), append(cr.list, one)
}

// page reads the values of a page outside of its items, such as the title of a board. It returns an error if the page is an error of
// GitHub.
func (e *export) page(r records.Record, items int) error {
	total, more := 0, false
	for name, text := range r.Values("page", e.roles.Whole) {
		list, _, _ := strings.Cut(strings.TrimPrefix(name, "page."), "pageInfo")
		ofIssues := slices.Contains(issueLists(), strings.TrimSuffix(list, "totalCount")+"nodes")
		switch {
		case name == "page.errors.message" && items == 0:
			return diag.WithHint(fmt.Errorf("%s: the file is not an export, but an error of GitHub: %s", r.Position, diag.Truncate(text, 200)),
				"gh auth refresh -s read:project lets gh read boards")
		case ofIssues && strings.HasSuffix(name, ".hasNextPage"):
			e.follows, e.ended = e.follows || text == "true", e.ended || text != "true"
		case !ofIssues && strings.HasSuffix(name, ".totalCount"):
			total, _ = strconv.Atoi(text)
		case strings.HasSuffix(name, ".hasNextPage"):
			more = text == "true"
		case strings.HasSuffix(name, ".projectV2.title"), name == "page.data.node.title":
			e.cards.title = text
		}
	}
	e.roles.Enter(e.to, nil, r.Values("page", e.roles.Whole))
	if total > items && !more { // the next page may be in another file
		e.to.Note("board-cut", fmt.Sprintf("%s: the board has %d items, the file %d: export it with gh project item-list --limit 10000",
			r.Position.File, total, items))
	}
	return nil
}

// card reads a record if it is an item of a board, and reports whether it is.
func (e *export) card(r records.Record) (bool, error) {
	var is struct {
		Content json.RawMessage `json:"content"`
		Number  int             `json:"number"`
	}
	if err := r.Decode(&is, "item of a board"); err != nil || is.Content == nil || is.Number > 0 {
		return false, nil //nolint:nilerr // the reader of other records returns the error
	}
	var raw json.RawMessage
	if err := r.Decode(&raw, "item of a board"); err != nil {
		return true, err
	}
	all, _, err := unwrap(raw)
	if err != nil {
		return true, fmt.Errorf("%s: %w", r.Position, err)
	}
	c := &card{position: r.Position}
	if c.raw, err = json.Marshal(all["content"]); err == nil {
		err = json.Unmarshal(c.raw, &c.content)
	}
	if err != nil {
		return true, fmt.Errorf("%s: the content of an item of a board: %w", r.Position, err)
	}
	id, _ := all["id"].(string)
	if c.id = cmp.Or(id, c.content.ID, c.content.URL); c.id == "" {
		return true, diag.WithHint(fmt.Errorf("%s: an item of a board without id", r.Position), "ask for id, and content { … on DraftIssue { id } }")
	}
	c.archived, _ = all["isArchived"].(bool)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch v := all[name]; name {
		case "fieldValues":
			for _, node := range objects(v) {
				of, _ := node["field"].(map[string]any)
				if name, _ := of["name"].(string); name != "" {
					c.fields = append(c.fields, fieldOf(name, node))
				}
			}
		case "content", "id", "title", "repository", "type", "isArchived", "createdAt", "updatedAt", "creator", "project", "databaseId", "fullDatabaseId",
			"__typename":
			c.values = append(c.values, leaves(name, v)...)
		default:
			c.fields = append(c.fields, fieldOf(name, v))
		}
	}
	e.cards.add(c)
	return true, nil
}

// unwrap returns an object of GraphQL in the form of REST, as a value and as JSON.
func unwrap(raw json.RawMessage) (all map[string]any, again json.RawMessage, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err = d.Decode(&all); err == nil {
		all, _ = unwrapped(all).(map[string]any)
		again, err = json.Marshal(all)
	}
	return all, again, err
}

// unwrapped returns a value of GraphQL in the form of REST: the list in nodes replaces the object around it.
func unwrapped(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if list, ok := v["nodes"].([]any); ok {
			return unwrapped(list)
		}
		for name, of := range v {
			v[name] = unwrapped(of)
		}
	case []any:
		for n, of := range v {
			v[n] = unwrapped(of)
		}
	}
	return v
}

func objects(v any) (all []map[string]any) {
	list, _ := v.([]any)
	for _, one := range list {
		if one, ok := one.(map[string]any); ok {
			all = append(all, one)
		}
	}
	return all
}

// leaves returns the texts in a value, with their names.
func leaves(name string, v any) (all [][2]string) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, leaves(name+"."+key, v[key])...)
		}
	case []any:
		for _, one := range v {
			all = append(all, leaves(name, one)...)
		}
	case nil:
	default:
		if text := fmt.Sprint(v); strings.TrimSpace(text) != "" {
			all = append(all, [2]string{name, text})
		}
	}
	return all
}

// fieldOf returns the value of a field. gh writes a text or a list, GraphQL an object that contains such a value.
func fieldOf(name string, v any) field {
	f := field{name: name}
	node, ok := v.(map[string]any)
	if !ok {
		for _, one := range leaves(name, v) {
			switch key := one[0][strings.LastIndexByte(one[0], '.')+1:]; {
			case one[0] == name, key == "login", key == "name", key == "url":
				f.values = append(f.values, one[1])
			default:
				f.other = append(f.other, one)
			}
		}
		return f
	}
	for _, key := range slices.Sorted(maps.Keys(node)) {
		switch of := node[key]; key {
		case "milestone", "users", "labels", "pullRequests", "reviewers":
			inner := fieldOf(name, of)
			f.values, f.due, f.other = append(f.values, inner.values...), cmp.Or(f.due, inner.due), append(f.other, inner.other...)
		case "text", "name", "number", "date", "title", "optionName":
			for _, one := range leaves(name, of) {
				f.values = append(f.values, one[1])
			}
		case "startDate":
			f.start, _ = of.(string)
		case "duration":
			n, _ := of.(json.Number)
			f.days, _ = strconv.Atoi(n.String())
		case "dueOn":
			f.due, _ = of.(string)
		default:
			f.other = append(f.other, leaves("fieldValues."+key, of)...)
		}
	}
	return f
}

// where returns the repository and the number of an item's issue.
func (c *card) where() (repository string, number int) {
	if m := address.FindStringSubmatch(c.content.URL); m != nil {
		n, _ := strconv.Atoi(m[3])
		return m[1], n
	}
	repository, _ = c.content.Repository.(string)
	if of, ok := c.content.Repository.(map[string]any); ok {
		repository, _ = of["nameWithOwner"].(string)
	}
	return cmp.Or(repository, "github"), c.content.Number
}

// all returns the values of an item with their names.
func (c *card) all() iter.Seq2[string, string] {
	all := append(slices.Clone(c.values), c.inContent()...)
	for _, f := range c.fields {
		all = append(all, f.other...)
		for _, text := range f.values {
			all = append(all, [2]string{f.name, text})
		}
	}
	return pairs(all)
}

func (c *card) inContent() [][2]string {
	var v any
	d := json.NewDecoder(bytes.NewReader(c.raw))
	d.UseNumber()
	_ = d.Decode(&v) // it was encoded here
	return leaves("content", v)
}

func pairs(all [][2]string) iter.Seq2[string, string] {
	return func(yield func(name, text string) bool) {
		for _, one := range all {
			if !yield(one[0], one[1]) {
				return
			}
		}
	}
}

// within adds a prefix to the names of values.
func within(prefix string, values iter.Seq2[string, string]) iter.Seq2[string, string] {
	return func(yield func(name, text string) bool) {
		for name, text := range values {
			if !yield(prefix+name, text) {
				return
			}
		}
	}
}

// board adds the values of boards to issues. It makes issues of drafts, and of items that no other file has.
func (e *export) board() error {
	known, alone, hidden, nameless := map[string]*issue{}, 0, 0, 0
	for _, i := range e.issues {
		known[i.at] = i
	}
	var drafts []*issue
	for _, c := range e.cards.list {
		repository, number := c.where()
		at := repository + "#" + strconv.Itoa(number)
		i := known[at]
		switch kind := cmp.Or(c.content.TypeName, c.content.Type); {
		case kind == "DraftIssue":
			i = e.draft(c)
			drafts = append(drafts, i)
		case kind == "PullRequest":
			if !e.there[at] {
				e.there[at] = true
				e.pulls++
			}
			e.roles.Enter(e.to, nil, within("pull_requests.", c.all()))
			continue
		case number == 0 && c.content.Title != "":
			i = e.draft(c)
			drafts = append(drafts, i)
			nameless++
		case number == 0:
			hidden++
			e.roles.Enter(e.to, nil, within("hidden items: ", c.all()))
			continue
		case i != nil:
			e.roles.Enter(e.to, &i.Issue, within("said by the issue, too: ", pairs(c.inContent())))
		default:
			var err error
			if i, err = e.issueOf(c); err != nil {
				return err
			}
			known[at] = i
			if c.content.Created == "" {
				alone++
			}
		}
		i.Archived = i.Archived || c.archived
		e.roles.Enter(e.to, &i.Issue, within("board.", pairs(c.values)))
		for _, f := range c.fields {
			e.field(i, f)
		}
	}
	e.home(drafts)
	e.columns()
	if alone > 0 {
		e.to.Note("board-alone", "of "+diag.Count(alone, "issue")+" only the board tells: comments, dates, and who reported them are in the issues of the "+
			"repository; name these files, too")
	}
	if nameless > 0 {
		e.to.Note("board-nameless", diag.Count(nameless, "item")+" of the board that do not say which issues they are: carried as drafts; ask for "+
			"content { __typename ... on Issue { number title body url } }, and for drafts, too")
	}
	if hidden > 0 {
		e.to.Note("board-hidden", diag.Count(hidden, "item")+" of the board left out, which whoever exported may not see")
	}
	return nil
}

// issueOf makes an issue of a board's item that no other file has.
func (e *export) issueOf(c *card) (*issue, error) {
	var one entry
	var object map[string]json.RawMessage
	raw, err := c.raw, json.Unmarshal(c.raw, &object)
	if c.content.Type != "" { // it is not the type of the issue
		delete(object, "type")
		raw, err = json.Marshal(object)
	}
	if err == nil {
		err = json.Unmarshal(raw, &one)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: the content of an item of a board: %w", c.position, err)
	}
	if one.Title == "" {
		return nil, diag.WithHint(fmt.Errorf("%s: an item of a board whose content has no title", c.position), "ask for content { ... on Issue { number title url } }")
	}
	silent := e.silent
	err = e.issue(&one, c.position, within("board.", pairs(c.inContent())))
	e.silent = silent // another note reports the issue
	if err != nil {
		return nil, err
	}
	i := e.issues[len(e.issues)-1]
	i.ofBoard = true
	return i, nil
}

// draft makes an issue of a draft.
func (e *export) draft(c *card) *issue {
	i := &issue{ofBoard: true, Issue: convert.Issue{
		Key: c.id, Title: c.content.Title, Text: convert.Text{Body: c.content.Body}, Reporter: e.person(c.content.Creator), Left: map[string]int{}, Position: c.position,
	}}
	i.Created, i.Updated = i.Moment(c.content.Created, time.RFC3339), i.Moment(c.content.Updated, time.RFC3339)
	if c.content.State != "" {
		i.State = stateOf(c.content.State)
	}
	e.assign(i, c.content.Assignees)
	for _, l := range c.content.Labels {
		i.Labels = append(i.Labels, convert.Label{Name: l.Name})
	}
	e.roles.Enter(e.to, &i.Issue, within("board.", pairs(c.inContent())))
	return i
}

// home gives drafts a project: the repository if all issues have the same one, else the board.
func (e *export) home(drafts []*issue) {
	repositories, last := map[string]bool{}, 0
	for _, i := range e.issues {
		repositories[i.Project] = true
		last = max(last, i.Number)
	}
	project := convert.Project{Key: "board", Name: cmp.Or(e.cards.title, "Board")}
	for key := range repositories {
		if len(repositories) == 1 {
			project = convert.Project{Key: key}
		}
	}
	for n, i := range drafts {
		i.Project, i.at, i.Number = project.Key, project.Key+"#"+i.Key, last+1+n
		if project.Name != "" {
			e.to.Project(project)
		}
	}
	e.issues = append(e.issues, drafts...)
}

// field gives an issue the value of a board's field.
func (e *export) field(i *issue, f field) {
	first, size := utf8.DecodeRuneInString(f.name)
	name := string(unicode.ToUpper(first)) + f.name[size:] // gh writes the first letter in lower case
	source := "board." + strings.NewReplacer("*", "", "{}", "").Replace(name)
	role, text := convert.OfField, strings.Join(f.values, ", ")
	day := func(to *string) {
		if at := dates.Day(i.Moment(text, time.DateOnly, time.RFC3339)); at != "" {
			*to, role = at, convert.OfDate
		}
	}
	switch folded := strings.ToLower(f.name); {
	case len(f.values) == 0:
	case folded == "title" || folded == "repository" || slices.Contains([]string{"labels", "assignees", "milestone"}, folded) && !i.ofBoard:
		role = convert.Technical
	case folded == "status":
		i.statuses = slices.Insert(i.statuses, 0, status{name: text, source: source}) // before the columns that gh issue list names
		f.values = nil                                                                // columns books them
	case folded == "labels":
		role = convert.OfLabel
		for _, label := range f.values {
			if !slices.ContainsFunc(i.Labels, func(had convert.Label) bool { return had.Name == label }) {
				i.Labels = append(i.Labels, convert.Label{Name: label})
			}
		}
	case folded == "assignees":
		role = convert.Assignee
		for _, login := range f.values {
			if id := e.person(&user{Login: login}); !slices.Contains(i.Assignees, id) {
				i.Assignees = append(i.Assignees, id)
			}
		}
	case folded == "milestone":
		role, i.Versions = convert.OfVersion, []convert.Version{{Name: f.values[0], Due: dates.Day(i.Moment(f.due, time.RFC3339))}}
	case f.start != "":
		start := i.Moment(f.start, time.DateOnly)
		role = convert.OfSprint
		i.Sprints = append(i.Sprints, convert.Sprint{Name: text, Start: dates.Day(start), End: dates.Day(start.AddDate(0, 0, max(f.days, 1)-1))})
	case folded == "priority" && i.Priority == "":
		role, i.Priority = convert.OfPriority, text
	case (folded == "type" || folded == "issue type") && i.Type == "":
		role, i.Type = convert.OfType, text
	case slices.Contains([]string{"start date", "start"}, folded):
		day(&i.Start)
	case slices.Contains([]string{"target date", "due date", "end date", "due"}, folded) && i.Due == "":
		day(&i.Due)
	}
	if len(f.values) > 0 && role == convert.OfField {
		i.Fields = append(i.Fields, convert.Field{Name: name, Value: text, Source: source})
	}
	e.book(i, source, role, f)
}

// book books the values in a field of a board.
func (e *export) book(i *issue, source string, role convert.Role, f field) {
	all := slices.Clone(f.other)
	for _, text := range f.values {
		all = append(all, [2]string{source, text})
	}
	for name, text := range map[string]string{".startDate": f.start, ".dueOn": f.due, ".duration": strings.TrimPrefix(strconv.Itoa(f.days), "0")} {
		if text != "" {
			all = append(all, [2]string{source + name, text})
		}
	}
	if len(f.values) > 0 {
		e.roles.Declare(source, role)
	}
	e.roles.Declare(source+".startDate", convert.SprintDate)
	e.roles.Declare(source+".duration", convert.Technical)
	e.roles.Declare(source+".dueOn", convert.OfDate)
	e.roles.Enter(e.to, &i.Issue, pairs(all))
}

// columns turns the columns of boards into states. If an issue is closed in a column for open work, it stays closed, and the column becomes
// a field.
func (e *export) columns() {
	open, closed := map[string]int{}, map[string]int{}
	for _, i := range e.issues {
		for _, s := range i.statuses {
			switch i.State.Name {
			case "open":
				open[s.name]++
			case "closed":
				closed[s.name]++
			}
		}
	}
	left := 0
	words := words.Of("github boards")
	for _, i := range e.issues {
		if i.ofBoard && i.State.Name == "" {
			i.State = convert.State{Name: "No status", Category: "backlog"} // as boards show it
		}
		used := false
		for _, s := range i.statuses {
			if s.name == "" {
				continue
			}
			category := words.Own(s.name)
			if category == "" && closed[s.name] > open[s.name] {
				category = "completed"
			}
			shut := i.State.Name == "closed" && category != "completed" && category != "cancelled"
			if !used && !shut {
				used, i.State = true, convert.State{Name: s.name, Category: category}
				e.book(i, s.source, convert.OfState, field{values: []string{s.name}})
				continue
			}
			if shut {
				left++
			}
			name := strings.TrimSpace("Status " + s.board)
			i.Fields = append(i.Fields, convert.Field{Name: name, Value: s.name, Source: s.source + " beside the state"})
			e.book(i, s.source+" beside the state", convert.OfField, field{values: []string{s.name}})
		}
	}
	if left > 0 {
		e.to.Note("board-closed", diag.Count(left, "issue")+" closed in a column of the board that is not for what is done: the state is that of what is closed, "+
			"the column a field")
	}
}
