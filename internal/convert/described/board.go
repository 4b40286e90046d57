package described

import (
	"cmp"
	"fmt"
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

// boardItem is an item of a board of GitHub: a draft, or an issue with its values on the board.
type boardItem struct {
	id       string
	position diag.Position
	content  records.Value // in the form of the REST API
	archived bool
	fields   []boardField
	values   []convert.Leaf // other values
}

// boardField is the value of an item in a field of the board.
type boardField struct {
	name   string
	values []string
	start  string // of an iteration
	days   int
	due    string         // of a milestone
	other  []convert.Leaf // other values
}

// status is the column of an issue on a board.
type status struct{ name, board, source string } // board is the title of the board, or ""

// page reads the values of a page outside of its items, such as the title of a board. It returns an error if the page is an error of
// GitHub.
func (g *repository) page(x *reader, r records.Record, v records.Value) error {
	items, total, more := g.items[r.Position.File], 0, false
	for _, l := range leaves("", v) {
		list, _, _ := strings.Cut(l.Name, "pageInfo")
		list = strings.TrimSuffix(list, "totalCount")
		ofIssues := strings.HasSuffix(list, "issues.") || strings.HasSuffix(list, "search.")
		switch {
		case l.Name == "errors.message" && items == 0:
			return diag.WithHint(fmt.Errorf("%s: the file is not an export, but an error of GitHub: %s", r.Position, diag.Truncate(l.Text, 200)),
				"gh auth refresh -s read:project lets gh read boards")
		case ofIssues && strings.HasSuffix(l.Name, ".hasNextPage"):
			x.follows, x.ended = x.follows || l.Text == "true", x.ended || l.Text != "true"
		case !ofIssues && strings.HasSuffix(l.Name, "totalCount"):
			total, _ = strconv.Atoi(l.Text)
		case strings.HasSuffix(l.Name, ".hasNextPage"):
			more = l.Text == "true"
		case strings.HasSuffix(l.Name, ".projectV2.title"), l.Name == "data.node.title":
			g.title = l.Text
		}
	}
	if total > items && !more { // the next page may be in another file
		x.to.Note("board-cut", fmt.Sprintf("%s: the board has %d items, the file %d: export it with gh project item-list --limit 10000",
			r.Position.File, total, items))
	}
	return nil
}

func (g *repository) card(x *reader, r records.Record, v records.Value) error {
	v = unwrapped(v)
	c := &boardItem{position: r.Position, archived: x.reads(v)("isArchived") == "true"}
	for _, part := range v.At("content") {
		c.content = part
	}
	if c.id = cmp.Or(x.reads(v)("id"), x.reads(c.content)("id"), x.reads(c.content)("url")); c.id == "" {
		return diag.WithHint(fmt.Errorf("%s: an item of a board without id", r.Position), "ask for id, and content { … on DraftIssue { id } }")
	}
	for _, part := range v.Parts {
		switch part.Name {
		case "fieldValues":
			for _, node := range part.Parts {
				if name := x.text(node, []string{"field.name"}); name != "" {
					c.fields = append(c.fields, fieldOf(name, node))
				}
			}
		case "content": // each way of using it books its values
		case "id", "title", "repository", "type", "isArchived", "createdAt", "updatedAt", "creator", "project", "databaseId", "fullDatabaseId",
			"__typename":
			c.values = append(c.values, leaves(part.Name, part)...)
		default:
			c.fields = append(c.fields, fieldOf(part.Name, part))
		}
	}
	if n, known := g.places[c.id]; known { // pages overlap
		g.cards[n] = c
	} else {
		g.places[c.id], g.cards = len(g.cards), append(g.cards, c)
	}
	return nil
}

// unwrapped returns a value of GraphQL in the form of REST: the list in nodes replaces the object around it, and names are sorted. The last
// element of the list has the number of all.
func unwrapped(v records.Value) records.Value {
	nodes := slices.IndexFunc(v.Parts, func(part records.Value) bool { return part.Name == "nodes" && part.List })
	list := v
	if v.Object && nodes >= 0 {
		list = v.Parts[nodes]
		list.Name = v.Name
	}
	list.Parts = slices.Clone(list.Parts)
	for n, part := range list.Parts {
		list.Parts[n] = unwrapped(part)
	}
	if list.Object {
		slices.SortStableFunc(list.Parts, func(a, b records.Value) int { return strings.Compare(a.Name, b.Name) })
	}
	if v.Object && list.List && v.Has("totalCount") {
		v.Name, v.Parts = "", slices.Delete(slices.Clone(v.Parts), nodes, nodes+1)
		list.Parts = append(list.Parts, v)
	}
	return list
}

// leaves returns the texts in a value, with their names.
func leaves(name string, v records.Value) (all []convert.Leaf) {
	v.Leaves(name, func(path, text string) bool { all = append(all, convert.Leaf{Name: path, Text: text}); return true })
	return all
}

func prefixed(prefix string, all []convert.Leaf) []convert.Leaf {
	for n := range all {
		all[n].Name = prefix + all[n].Name
	}
	return all
}

// fieldOf returns the value of a field. gh writes a text or a list, GraphQL an object that contains such a value.
func fieldOf(name string, v records.Value) boardField {
	f := boardField{name: name}
	if !v.Object {
		for _, l := range leaves(name, v) {
			if key := lastPart(l.Name, '.'); l.Name == name || slices.Contains([]string{"login", "name", "url"}, key) {
				f.values = append(f.values, l.Text)
			} else {
				f.other = append(f.other, l)
			}
		}
		return f
	}
	for _, part := range v.Parts {
		switch part.Name {
		case "milestone", "users", "labels", "pullRequests", "reviewers":
			inner := fieldOf(name, part)
			f.values, f.due, f.other = append(f.values, inner.values...), cmp.Or(f.due, inner.due), append(f.other, inner.other...)
		case "text", "name", "number", "date", "title", "optionName":
			for _, l := range leaves(name, part) {
				f.values = append(f.values, l.Text)
			}
		case "startDate":
			f.start = part.Text
		case "duration":
			f.days, _ = strconv.Atoi(part.Text)
		case "dueOn":
			f.due = part.Text
		default:
			f.other = append(f.other, leaves("fieldValues."+part.Name, part)...)
		}
	}
	return f
}

func (c *boardItem) all() []convert.Leaf {
	all := append(slices.Clone(c.values), leaves("content", c.content)...)
	for _, f := range c.fields {
		all = append(all, f.other...)
		for _, text := range f.values {
			all = append(all, convert.Leaf{Name: f.name, Text: text})
		}
	}
	return all
}

// board adds the values of boards to issues. It makes issues of drafts, and of items that no other file has.
func (g *repository) board(x *reader) {
	var drafts []*convert.Issue
	alone, hidden, nameless := 0, 0, 0
	for _, c := range g.cards {
		at := x.reads(c.content)
		repository, number := cmp.Or(at("repository"), at("repository.nameWithOwner"), "github"), at("number")
		if m := issueAddress.FindStringSubmatch(at("url")); m != nil {
			repository, number = m[1], m[3]
		}
		key := repository + "#" + cmp.Or(number, "0")
		i := x.latest[key]
		switch kind := cmp.Or(at("__typename"), at("type")); {
		case kind == "PullRequest":
			if i == nil && !g.there[key] {
				g.there[key] = true
				g.pulls++
			}
			x.book(nil, prefixed("pull_requests.", c.all()))
			continue
		case kind == "DraftIssue", number == "" && at("title") != "":
			i = g.draft(x, c)
			drafts = append(drafts, i)
			if kind != "DraftIssue" {
				nameless++
			}
		case number == "":
			hidden++
			x.book(nil, prefixed("hidden items: ", c.all()))
			continue
		case i != nil:
			x.book(i, prefixed("said by the issue, too: ", leaves("content", c.content)))
		case at("title") == "":
			x.wrong = diag.WithHint(fmt.Errorf("%s: an item of a board whose content has no title", c.position),
				"ask for content { ... on Issue { number title url } }")
			return
		default:
			if i = g.issue(x, c.content, "board.content."); i == nil {
				continue
			}
			g.ofBoard[i] = true
			if at("createdAt") == "" {
				alone++
			}
		}
		i.Archived = i.Archived || c.archived
		x.book(i, prefixed("board.", c.values))
		for _, f := range c.fields {
			g.field(x, i, f)
		}
	}
	g.home(x, drafts)
	g.columns(x)
	x.noteIf(alone, "board-alone", "of "+diag.Count(alone, "issue")+" only the board tells: comments, dates, and who reported them are in the issues of the "+
		"repository; name these files, too")
	x.noteIf(nameless, "board-nameless", diag.Count(nameless, "item")+" of the board that do not say which issues they are: carried as drafts; ask for "+
		"content { __typename ... on Issue { number title body url } }, and for drafts, too")
	x.noteIf(hidden, "board-hidden", diag.Count(hidden, "item")+" of the board left out, which whoever exported may not see")
}

// draft makes an issue of a draft. It gets its project later.
func (g *repository) draft(x *reader, c *boardItem) *convert.Issue {
	at := x.reads(c.content)
	i := &convert.Issue{
		Key: c.id, Title: at("title"), Text: convert.Text{Body: at("body")}, Left: map[string]int{}, Position: c.position,
		Reporter: x.firstPerson(c.content, []string{"creator"}), Assignees: x.people(c.content.At("assignees")), State: stateOf(at("state")),
	}
	i.Created, i.Updated = moment(i, at("createdAt")), moment(i, at("updatedAt"))
	for _, name := range x.texts(c.content.At("labels.name")) {
		i.Labels = append(i.Labels, convert.Label{Name: name})
	}
	x.book(i, prefixed("board.", leaves("content", c.content)))
	g.ofBoard[i] = true
	return i
}

// home gives drafts a project: the repository if all issues have the same one, else the board.
func (g *repository) home(x *reader, drafts []*convert.Issue) {
	repositories, last := map[string]bool{}, 0
	for _, i := range x.issues {
		repositories[i.Project] = true
		last = max(last, i.Number)
	}
	home := "board"
	if len(repositories) == 1 {
		home = x.issues[0].Project
	}
	for n, i := range drafts {
		if i.Project, i.Number = home, last+1+n; home == "board" {
			x.project(home).Name = cmp.Or(g.title, "Board")
		}
		x.add(i)
	}
}

func (g *repository) field(x *reader, i *convert.Issue, f boardField) {
	first, size := utf8.DecodeRuneInString(f.name)
	name := string(unicode.ToUpper(first)) + f.name[size:] // gh writes the first letter in lower case
	source := "board." + strings.NewReplacer("*", "", "{}", "").Replace(name)
	role, text := convert.OfField, strings.Join(f.values, ", ")
	day := func(to *string, field convert.Role) {
		if at := dates.Day(i.Moment(text, time.DateOnly, time.RFC3339)); at != "" {
			*to, role = at, field
		}
	}
	switch folded := strings.ToLower(f.name); {
	case len(f.values) == 0:
	case folded == "title" || folded == "repository" || slices.Contains([]string{"labels", "assignees", "milestone"}, folded) && !g.ofBoard[i]:
		role = convert.Technical
	case folded == "status":
		g.statuses[i] = slices.Insert(g.statuses[i], 0, status{name: text, source: source}) // before the columns that gh issue list names
		f.values = nil                                                                      // columns books them
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
			if id := x.person("", "", login); !slices.Contains(i.Assignees, id) {
				i.Assignees = append(i.Assignees, id)
			}
		}
	case folded == "milestone":
		role, i.Versions = convert.OfVersion, []convert.Version{{Name: f.values[0], Due: dates.Day(moment(i, f.due))}}
	case f.start != "":
		start := i.Moment(f.start, time.DateOnly)
		role = convert.OfSprint
		i.Sprints = append(i.Sprints, convert.Sprint{Name: text, Start: dates.Day(start), End: dates.Day(start.AddDate(0, 0, max(f.days, 1)-1))})
	case folded == "priority" && i.Priority == "":
		role, i.Priority = convert.OfPriority, text
	case (folded == "type" || folded == "issue type") && i.Type == "":
		role, i.Type = convert.OfType, text
	case slices.Contains([]string{"start date", "start"}, folded):
		day(&i.Start, "start_date")
	case slices.Contains([]string{"target date", "due date", "end date", "due"}, folded) && i.Due == "":
		day(&i.Due, "target_date")
	}
	if len(f.values) > 0 && role == convert.OfField {
		i.Fields = append(i.Fields, convert.Field{Name: name, Value: text, Source: source})
	}
	all := append(slices.Clone(f.other),
		convert.Leaf{Name: source + ".startDate", Text: f.start}, convert.Leaf{Name: source + ".dueOn", Text: f.due}, convert.Leaf{Name: source + ".duration", Text: strings.TrimPrefix(strconv.Itoa(f.days), "0")})
	for _, text := range f.values {
		x.roles.Declare(source, role)
		all = append(all, convert.Leaf{Name: source, Text: text})
	}
	x.roles.Declare(source+".startDate", convert.SprintDate)
	x.roles.Declare(source+".duration", convert.Technical)
	x.roles.Declare(source+".dueOn", "version_due")
	x.book(i, all)
}

// columns turns the columns of boards into states. If an issue is closed in a column for open work, it stays closed, and the column becomes
// a field.
func (g *repository) columns(x *reader) {
	closed := map[string]int{} // numbers of closed issues less those of open ones, by column
	for _, i := range x.issues {
		for _, s := range g.statuses[i] {
			closed[s.name] += map[string]int{"closed": 1, "open": -1}[i.State.Name]
		}
	}
	left := 0
	words := words.Of("github boards")
	for _, i := range x.issues {
		if g.ofBoard[i] && i.State.Name == "" {
			i.State = convert.State{Name: "No status", Category: "backlog"} // as boards show it
		}
		used := false
		for _, s := range g.statuses[i] {
			if s.name == "" {
				continue
			}
			category := words.Own(s.name)
			if category == "" && closed[s.name] > 0 {
				category = "completed"
			}
			shut := i.State.Name == "closed" && category != "completed" && category != "cancelled"
			if !used && !shut {
				used, i.State = true, convert.State{Name: s.name, Category: category}
				x.roles.Declare(s.source, convert.OfState)
				x.book(i, []convert.Leaf{{Name: s.source, Text: s.name}})
				continue
			}
			if shut {
				left++
			}
			beside := s.source + " beside the state"
			x.roles.Declare(beside, convert.OfField)
			i.Fields = append(i.Fields, convert.Field{Name: strings.TrimSpace("Status " + s.board), Value: s.name, Source: beside})
			x.book(i, []convert.Leaf{{Name: beside, Text: s.name}})
		}
	}
	x.noteIf(left, "board-closed", diag.Count(left, "issue")+" closed in a column of the board that is not for what is done: the state is that of what is closed, "+
		"the column a field")
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }
