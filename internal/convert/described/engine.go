package described

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/text/diag"
)

// hooks are functions for rules of a tracker that a description cannot express. Each may be nil.
type hooks struct {
	place   func(x *reader, i *convert.Issue, v records.Value)                                // runs after the fields of an issue are set
	issue   func(x *reader, i *convert.Issue, v records.Value)                                // runs after the lists in an issue are read
	comment func(x *reader, issue string, c *convert.Comment, v records.Value) (apart string) // returns a name for its values if the hook keeps it; "" = the issue gets it
	field   func(x *reader, v records.Value, values []string)                                 // may change the values of a field that a list names
	record  func(x *reader, r records.Record, v records.Value) (done bool, err error)         // runs before a record is read; done = the hook has read it
	html    func(text string) string                                                          // normalises a text in HTML
	text    func(text string) string                                                          // normalises a text
	title   func(name string) string                                                          // returns the name of a field for people
	link    func(kind string) (name, way string)                                              // splits the type of a link
	person  func(x *reader, key string) convert.Person                                        // returns the person whom a text names
	read    func(ctx context.Context, x *reader, text io.Reader, name string) error           // reads a file that is no JSON
	finish  func(x *reader)
	// complete adds what must be known of all records to an issue, when its texts, past, fields and values are there again.
	complete func(x *reader, i *convert.Issue)
}

// reader reads the records of a tracker by its description.
type reader struct {
	*api
	*description

	in       convert.Input
	to       convert.Sink
	roles    *convert.Roles
	issues   []*convert.Issue
	latest   map[string]*convert.Issue // by key
	comments convert.Comments          // by key
	counted  map[string]int            // numbers of comments that the tracker states, by key
	apart    convert.Apart             // records that are no issues, by key

	hooks          hooks
	words          *words.Words
	markup         convert.Markup
	shown          []string                    // paths of the text of an object
	projects       map[string]*convert.Project // by key
	known          map[string]string           // names of people
	late           []convert.Person            // people from records of their own, added last because issues have better names
	left           map[string]int              // numbers of records left out, by list
	leave          map[*convert.Issue]string   // what issues are that become no item
	told           map[*convert.Issue]int      // numbers of values in the records of issues
	tasks          map[string][]records.Value  // lists of tasks from records of their own, by issue
	lists          map[string]bool             // lists that some record has
	scope          string                      // the project of the record, if keys are those of a project
	under          string                      // the prefix of the names of values of the record
	at             diag.Position               // of the record
	itemPage       *regexp.Regexp              // matches the pages of issues that are relations; nil = no page is
	original       map[string]*convert.Issue   // if some are: issues by the key in their records, which a hook may change
	short          map[string]string           // names of issues of which the files have only a reference, by key
	site           string                      // the address of the tracker, from the address of a file
	named          string                      // the issue that the last record names
	last           string                      // the kind of the last record
	totals         map[string]int              // numbers of issues that pages state, by scope
	follows, ended bool                        // a page of issues says that another follows; a page says that it is the last
	hours          bool                        // days were computed with the assumed time zone
	wrong          error                       // of a record that proves wrong when all files are read
}

// described returns the API of a tracker from the first section of its description.
func described(text string, h func() hooks) *api {
	top, _, _ := strings.Cut(text, "\n\n") // the first section is enough for detection
	head := describe(top).head()
	return &api{
		name: head.kind, settings: head, lists: head.paths("lists"), scoped: head.word("scoped") != "", byID: head.word("by") == "id", text: text, hooks: h,
	}
}

func (a *api) reader(in convert.Input, to convert.Sink) *reader {
	d := describe(a.text)
	x := &reader{
		api: a, description: d, hooks: a.hooks(), in: in, to: to, roles: d.meanings(), words: words.Of(a.name),
		markup: convert.Markups()[d.head().word("markup")], shown: append(d.head().paths("show"), "name"),
		latest: map[string]*convert.Issue{}, comments: convert.Comments{}, counted: map[string]int{}, apart: convert.Apart{},
		projects: map[string]*convert.Project{}, known: map[string]string{}, left: map[string]int{}, original: map[string]*convert.Issue{},
		tasks: map[string][]records.Value{}, lists: map[string]bool{}, short: map[string]string{},
		totals: map[string]int{}, leave: map[*convert.Issue]string{}, told: map[*convert.Issue]int{},
	}
	if page := d.head().word("item page"); page != "" {
		x.itemPage = regexp.MustCompile(page)
	}
	return x
}

// record reads a record, or the rest of a page after its lists were read.
func (x *reader) record(r records.Record) error {
	v := r.Tree(x.head().paths("whole")...)
	x.at = r.Position
	if r.Page {
		x.page(v)
	}
	if x.hooks.record != nil {
		if done, err := x.hooks.record(x, r, v); done || err != nil {
			return err
		}
	}
	if r.Page {
		return nil
	}
	return x.sorted(r, v)
}

// page records the numbers on a page, and whether another page follows.
func (x *reader) page(v records.Value) {
	if n, err := strconv.Atoi(x.text(v, x.head().paths("total"))); err == nil && x.last == "issue" {
		x.totals[x.scope] = max(x.totals[x.scope], n)
	}
	if next := x.head().paths("next"); next != nil && x.last == "issue" {
		x.follows, x.ended = x.follows || x.yes(v, next), x.ended || !x.yes(v, next)
	}
	if n, err := strconv.Atoi(x.text(v, x.head().paths("comments"))); err == nil && x.last == "comment" {
		x.counted[x.named] = max(x.counted[x.named], n)
	}
	x.last = ""
	x.bookAll(nil, v, x.head().word("page"))
}

// sorted takes a record by the first section that it fits.
func (x *reader) sorted(r records.Record, v records.Value) error {
	for _, s := range x.sections {
		one := v
		for _, within := range s.paths("in") {
			for _, o := range v.At(within) {
				one = o
			}
		}
		if s.takes(one, r.List) {
			x.last = s.kind
			if s.kind == "other" {
				if s.word("parts") != "" {
					x.left[r.List]++
				}
				x.bookAll(nil, one, cmp.Or(s.word("as"), r.List))
				return nil
			}
			if of := s.paths("of"); of != nil && s.word("stray") != "lost" && x.text(one, of) == "" {
				return x.foreign(r, "a "+s.kind+" that does not say its issue", s.word("ask"))
			}
			x.take(s, one)
			return nil
		}
	}
	what, hint, _ := strings.Cut(x.head().word("foreign"), ": ")
	return x.foreign(r, what, hint)
}

func (x *reader) take(s *section, v records.Value) {
	of, as := x.text(v, s.paths("of")), s.word("as")
	key := x.key(&convert.Issue{Project: x.scope, Key: of, ID: of})
	switch s.kind {
	case "issue":
		x.issue(s, v, "")
		return
	case "person":
		p := convert.Person{ID: x.text(v, s.paths("id")), Name: x.text(v, s.paths("name")), Email: x.text(v, s.paths("email"))}
		p.Bot = s.word("bot") != "" && regexp.MustCompile(s.word("bot")).MatchString(p.Name)
		x.late = append(x.late, p)
		x.bookAll(nil, v, as)
		return
	}
	all := []records.Value{v}
	if list := s.word("list"); list != "" {
		all = v.At(list)
	}
	aside := x.apart.Of(key)
	aside.Project, aside.Key, aside.ID = x.scope, of, of
	x.named = key
	x.lists[as] = true
	for _, one := range all {
		name, left := as, &convert.Issue{Left: map[string]int{}}
		switch {
		case x.yes(one, s.paths("deleted")), s.kind == "left", s.kind == "file" && x.yes(one, s.paths("private")):
			x.bookAll(left, one, "")
			convert.LeaveOut(x.to, cmp.Or(s.word("else"), as), left.Held)
			continue
		case s.kind == "comment" && s.word("empty") != "" && strings.TrimSpace(x.text(one, s.paths("text"))) == "":
			x.bookAll(nil, one, s.word("empty"))
			continue
		case s.kind == "history": // a change that is only counted
			aside.Left["history"]++
			x.to.Hold(aside, convert.Leaf{Name: as, Text: x.text(one, s.paths("text"))}, "past", len(leaves("", one)))
			continue
		case s.kind == "tasks":
			x.tasks[key] = append(x.tasks[key], one)
		default:
			if _, _, apart := x.part(aside, s, one); apart != "" {
				x.bookAll(aside, one, apart)
				continue
			}
		}
		x.bookOf(aside, s, one, name)
	}
}

// called returns the name of a field as people read it.
func (x *reader) called(name string) string {
	if x.hooks.title == nil {
		return name
	}
	return x.hooks.title(name)
}

func (x *reader) issue(s *section, v records.Value, parent string) {
	i := &convert.Issue{Key: x.text(v, s.paths("key")), Parent: parent, Project: x.scope, Position: x.at, Left: map[string]int{}}
	i.Number, _ = strconv.Atoi(cmp.Or(x.text(v, s.paths("number")), lastPart(i.Key, '-')))
	for _, l := range s.lines {
		x.set(i, s, l, v)
	}
	i.Text = x.written(s, v, i.Text)
	if x.hooks.place != nil {
		x.hooks.place(x, i, v)
	}
	booked := x.parts(i, v)
	if x.hooks.issue != nil {
		x.hooks.issue(x, i, v)
	}
	of := x.project(i.Project)
	of.Name = cmp.Or(x.text(v, s.paths("project_name")), of.Name)
	for n, one := range booked {
		if x.under == "" && x.objects[one.Name] { // it becomes a row
			booked[n].Name = noObject + one.Name
		}
		if slices.Contains(x.head().paths("nothing"), one.Text) {
			booked[n].Name = "unset: " + one.Name
		}
	}
	x.book(i, prefixed(x.under, booked))
	if x.itemPage != nil {
		x.original[i.Key] = i
	}
	x.add(i)
}

func (x *reader) project(key string) *convert.Project {
	if x.projects[key] == nil {
		x.projects[key] = &convert.Project{Key: key}
	}
	return x.projects[key]
}

// parts adds the content of the lists within its record to an issue, and returns all values of the record.
func (x *reader) parts(i *convert.Issue, v records.Value) (all []convert.Leaf) {
	lists := x.description.lists()
	listed := func(path, within string) bool {
		return slices.ContainsFunc(lists, func(list string) bool { return len(list) > len(within) && strings.HasPrefix(path+".", list+".") })
	}
	passed := x.passed(x.find("issue"), v)
	v.Leaves("", func(path, text string) bool {
		if !listed(path, "") {
			name := x.find("issue").prefix("") + strings.TrimPrefix(path, x.head().word("strip"))
			all = append(all, convert.Leaf{Name: name, Text: text, Element: passed(path, "")})
		}
		return true
	})
	for _, list := range lists {
		for _, one := range v.At(list) {
			x.lists[list] = true
			as, left, whole, own, element := list, "", false, false, "" // name of the values; prefix of their names if they are left out
			for _, s := range x.sectionsOf(list) {
				if s.kind != "issue" && s.paths("has") != nil && !s.fits(one) {
					continue
				}
				named, prefix, apart := x.part(i, s, one)
				if apart == "" {
					element = cmp.Or(element, x.element(s, one))
				}
				if all = append(all, named...); s.kind != "field" {
					as = cmp.Or(apart, s.word("as"), as)
				}
				left, whole, own = cmp.Or(left, prefix), whole || prefix != "" && s.kind != "comment", own || s.kind == "issue" && one.Object
			}
			one.Leaves(as, func(path, text string) bool {
				if left != "" && (whole || x.roles.Of(path) == convert.OfComment) {
					path = left + ": " + path
				}
				if !own && (as != list || !listed(path, list)) { // nested lists are booked by themselves
					all = append(all, convert.Leaf{Name: path, Text: text, Element: element})
				}
				return true
			})
		}
	}
	return all
}

// passed returns a function for the paths of values in a record. The function returns [convert.NotTaken] for a value that a line of the
// section passes over, because a path before it has another value; else it returns the given element.
func (x *reader) passed(s *section, v records.Value) func(path, element string) string {
	var over []string
	for _, l := range s.lines {
		if s.role(l.Of) == "" {
			continue
		}
		for n, path := range l.Names[1:] {
			if text := x.text(v, []string{path}); text != "" && text != cmp.Or(x.text(v, l.Names[:n+1]), text) {
				over = append(over, path)
			}
		}
	}
	over = slices.DeleteFunc(over, func(path string) bool {
		return slices.ContainsFunc(s.lines, func(l words.Line) bool { return l.Names[0] == path })
	})
	return func(path, element string) string {
		if slices.ContainsFunc(over, func(one string) bool { return path == one || strings.HasPrefix(path, one+".") }) {
			return convert.NotTaken
		}
		return element
	}
}

// element returns the name of the part of an issue that an element of a list becomes, or "".
func (x *reader) element(s *section, v records.Value) string {
	switch s.kind {
	case "comment":
		return cmp.Or(x.text(v, s.paths("id")), x.sign(s, v))
	case "page":
		return x.text(v, s.paths("link"))
	case "sprint":
		return x.text(v, s.paths("name"))
	case "link":
		return cmp.Or(lastPart(x.text(v, s.paths("to")), '/'), "no item")
	}
	return ""
}

// part adds an element of a list to an issue, and returns values with names of their own. left is a prefix for the names of values that are
// left out or became another object, and apart a name for the values of a comment that a hook keeps.
func (x *reader) part(i *convert.Issue, s *section, v records.Value) (named []convert.Leaf, left, apart string) {
	switch s.kind {
	case "comment":
		c := x.remark(i, s, v)
		blank := s.list != "" && s.word("blank") == "" && strings.TrimSpace(c.Text.Body) == ""
		if blank || x.yes(v, s.paths("deleted")) {
			return nil, s.word("else"), ""
		}
		if x.hooks.comment != nil {
			apart = x.hooks.comment(x, x.key(i), &c, v)
		}
		if apart != "" {
			return nil, "", apart
		}
		x.comment(x.key(i), c)
	case "issue":
		if key := x.text(v, x.find("issue").paths("key")); s.fits(v) {
			x.issue(x.find("issue"), v, i.Key)
		} else {
			x.short[key] = cmp.Or(x.text(v, x.find("issue").paths("name")), key)
		}
	case "file":
		if x.yes(v, s.paths("private")) {
			return nil, s.word("else"), ""
		}
		if f := x.file(s, v, i, cmp.Or(s.word("as"), s.list)); !slices.Contains(i.Attachments, f) {
			i.Attachments = append(i.Attachments, f)
		}
	case "creation":
		i.Reporter = x.firstPerson(v, s.paths("created_by"))
	case "change":
		i.Events = append(i.Events, x.changes(i, s, v)...)
	case "child":
		i.Children = append(i.Children, convert.Link{To: x.text(v, s.paths("key")), Title: x.text(v, s.paths("name"))})
	case "page":
		i.Pages = append(i.Pages, convert.Attachment{Name: x.text(v, append(s.paths("name"), s.paths("link")...)), URL: x.text(v, s.paths("link"))})
	case "label":
		l := convert.Label{Name: x.text(v, s.paths("name")), Color: x.text(v, s.paths("color")), Description: x.text(v, s.paths("about"))}
		if l.Name != "" {
			i.Labels = append(i.Labels, l)
		}
	case "sprint":
		name, day := x.text(v, s.paths("name")), func(field string) string { return dates.Day(x.time(i, x.text(v, s.paths(field))).In(x.in.Zone)) }
		i.Sprints = append(i.Sprints, convert.Sprint{Name: name, Start: day("start_date"), End: day("target_date")})
		i.About = append(i.About, convert.About{Of: convert.OfSprint, Name: name, Text: x.text(v, s.paths("about"))})
	case "work":
		i.Work = append(i.Work, x.logged(i, s, v))
	case "link":
		return nil, x.link(i, s, v), ""
	case "row":
		name, by := s.word("name"), cmp.Or(s.word("by"), ", ")
		if text := strings.TrimSpace(x.text(v, s.paths("text"))); text != "" {
			if n := slices.IndexFunc(i.Fields, func(f convert.Field) bool { return f.Source == s.list }); n >= 0 {
				i.Fields[n].Value += strings.ReplaceAll(by, "line", "\n") + text
			} else {
				field(i, name, text, s.list)
			}
		}
	case "field":
		return x.field(i, s, v), "", ""
	}
	return nil, "", ""
}

// field adds a field that a list names to an issue. Some names stand for fields that each issue has, such as its state.
func (x *reader) field(i *convert.Issue, s *section, v records.Value) (all []convert.Leaf) {
	name, role := x.text(v, s.paths("name")), convert.OfField
	source := cmp.Or(s.word("as"), s.list) + "." + name
	found := x.first(v, s.paths("value"))
	texts := x.texts(found)
	if by := s.word("by"); by != "" && len(texts) > 1 {
		texts = []string{strings.Join(texts, by+" ")}
	}
	known := x.find("fields").lines
	if at := slices.IndexFunc(known, func(l words.Line) bool { return slices.Contains(l.Names, strings.ToLower(name)) }); at >= 0 && len(texts) > 0 {
		if x.put(i, known[at].Of, found, texts) {
			role = convert.Role(known[at].Of)
		}
	}
	if role == convert.OfField && len(texts) > 0 {
		if x.hooks.field != nil {
			x.hooks.field(x, v, texts)
		}
		field(i, name, strings.Join(texts, ", "), source)
	}
	x.roles.Declare(source, role)
	for _, text := range texts {
		all = append(all, convert.Leaf{Name: source, Text: text})
	}
	return all
}

func (x *reader) book(i *convert.Issue, all []convert.Leaf) {
	for _, l := range x.find("also").lines { // values that repeat others
		if slices.ContainsFunc(all, func(one convert.Leaf) bool { return one.Name == l.Of }) {
			for n, one := range all {
				if slices.Contains(l.Names, one.Name) {
					all[n].Name = "also: " + one.Name
				}
			}
		}
	}
	x.roles.Enter(x.to, i, slices.DeleteFunc(all, func(one convert.Leaf) bool { return x.roles.Of(one.Name) == shown || strings.TrimSpace(one.Text) == "" }))
}

// noObject begins the name of a value in place of an object, so that the value is no part of the object that nobody needs.
const noObject = "no object: "

// shown is the role of values that are booked under another name.
const shown convert.Role = "shown"

func (x *reader) bookAll(i *convert.Issue, v records.Value, prefix string) {
	x.bookOf(i, &section{}, v, prefix)
}

// bookOf books all values within a value that a section describes, and that becomes an element of an issue.
func (x *reader) bookOf(i *convert.Issue, s *section, v records.Value, prefix string) {
	element, passed := x.element(s, v), x.passed(s, v)
	var all []convert.Leaf
	v.Leaves(prefix, func(path, text string) bool {
		name := strings.TrimPrefix(path, x.head().word("strip"))
		if x.under == "" && (x.objects[name] || x.objects[strings.TrimPrefix(path, prefix+".")]) {
			name = noObject + name
		}
		all = append(all, convert.Leaf{Name: name, Text: text, Element: passed(strings.TrimPrefix(path, prefix+"."), element)})
		return true
	})
	x.book(i, all)
}

// finish adds the values of other records to the issues, people, projects, and remarks on missing records.
func (x *reader) finish() {
	for at, i := range x.latest {
		x.apart.Join(i, at)
	}
	for _, p := range x.late {
		if p.ID != "" {
			x.known[p.ID] = cmp.Or(x.known[p.ID], p.Name)
			x.to.Person(p)
		}
	}
	if x.hooks.finish != nil {
		x.hooks.finish(x)
	}
	for _, i := range x.issues {
		for up, n := i, 0; i.Project == "" && up != nil && n < len(x.issues); up, n = x.latest[up.Parent], n+1 {
			i.Project = up.Project // an issue is where its parent is
		}
		i.Project = cmp.Or(i.Project, strings.TrimSuffix(x.name, "-json"))
		of := x.project(i.Project)
		of.Name = cmp.Or(of.Name, i.Project)
		x.to.Project(*of)
	}
	if browse := x.head().word("browse"); browse != "" {
		x.to.Site(x.site, browse)
	}
	x.missing()
}

// missing adds remarks on records that the files lack or that are left out.
func (x *reader) missing() {
	for _, list := range slices.Sorted(maps.Keys(x.left)) {
		x.to.Note("parts-left-out", diag.Count(x.left[list], "record")+" of "+strings.ReplaceAll(list, "_", " ")+" left out")
	}
	if what, text, _ := strings.Cut(x.head().word("short"), ": "); what != "" {
		maps.DeleteFunc(x.short, func(key, _ string) bool { return x.latest[key] != nil })
		for _, key := range slices.Sorted(maps.Keys(x.short)) {
			x.to.Lose("items-not-exported", x.short[key], 1)
		}
		if of, text, _ := strings.Cut(text, ": "); len(x.short) > 0 {
			x.to.Note(what, diag.Count(len(x.short), of)+" "+text)
		}
	}
	if x.follows && !x.ended {
		x.to.Note("pages-missing", "no page says that it is the last one: export the other pages, too, with "+x.head().word("pages"))
	}
	have := map[string]int{}
	for _, i := range x.latest {
		have[map[bool]string{true: i.Project}[x.scoped]]++
	}
	for _, of := range slices.Sorted(maps.Keys(x.totals)) {
		if have[of] < x.totals[of] {
			x.to.Note("pages-missing", fmt.Sprintf("%s counts %d issues, and the files hold %d: export the other pages, too%s", cmp.Or(of, x.head().word("tracker")),
				x.totals[of], have[of], strings.TrimSuffix(", with "+x.head().word("pages"), ", with ")))
		}
	}
	for _, s := range x.sections {
		if without := s.word("without"); without != "" && !x.lists[cmp.Or(s.list, s.word("as"))] {
			x.to.Note("no-comments", without)
		}
	}
}
