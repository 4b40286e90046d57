package mapping

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/planform/planform/internal/diag"
)

// Mapping is what a mapping file says.
type Mapping struct {
	Source        Source
	Columns       Names[Column] // of tables, by their name
	Workspace     string
	Projects      Names[Project]
	People        Names[Person]
	UnknownPeople string // text, fail, or the e-mail address of who takes their items
	States        Names[State]
	Priorities    Names[string]
	Types         Names[Type]
	Labels        Labels
	Components    string // module, label or skip
	Versions      Versions
	Sprints       string        // cycle or skip
	Archived      string        // skip, keep or archive
	Numbers       string        // new, keep or fill
	Links         Names[string] // relates_to, blocks, duplicate or skip
	Fields        Names[string] // text or skip
	Custom        Names[Custom] // fields that become custom fields
	PlainText     bool          // texts do not link to the issues that they name
	Comments      Comments
	Attachments   Attachments
	History       string         // text or full
	Allow         map[string]int // -1 = all
	Questions     []Question
}

// Custom says which custom field of Plane a field becomes.
type Custom struct {
	Name string
	Type string // one of [FieldTypes]; "" = as the values are
}

// FieldTypes are the types of custom fields that values of a source can have.
func FieldTypes() []string {
	return words("text", "option", "decimal", "datetime", "boolean", "url", "email")
}

// Source says how the export is to be read.
type Source struct {
	Site, Timezone, Dates string
}

// Column says what a column of a table holds.
type Column struct {
	Field string // one of [ColumnFields]; "" = not decided
	Split string // separates the values of a list; "" = found out
}

// ColumnFields are what a column can hold: the fields of an item by their names in manifests, and what only a source has.
func ColumnFields() []string {
	return words("text", "skip", "key", "name", "description", "state", "group", "resolution", "type", "priority", "labels", "components", "versions", "cycle", "project", "project_name",
		"assignees", "assignee_names", "assignee_emails", "created_by", "created_by_name", "created_by_email", "created_at", "updated_at", "start_date", "target_date",
		"parent", "blocking", "blocked_by", "duplicate", "relates_to", "link", "attachments")
}

// Project says what a project becomes.
type Project struct {
	Skip                  bool
	Key, Identifier, Name string
}

// Person says who somebody of the source is.
type Person struct {
	Email     string // "" = not assigned, named in texts
	As        string // the name in texts; "" = the source's
	Assign    bool
	Bot       bool // comments are left out
	Anonymous bool
}

// State says what a state becomes.
type State struct {
	Name, Group string
	Unless      []string // resolutions with which it becomes Else
	Else        string
}

// Type says what a type becomes.
type Type struct {
	Name string
	Epic bool
	Skip bool
}

// Labels says what becomes of labels.
type Labels struct {
	Rename    map[string]string
	Skip, Add []string
	Fold      bool // names that differ by case are one
}

// Versions says what becomes of versions.
type Versions struct{ Fix, Affects, Prefix string }

// Comments says how comments are written.
type Comments struct {
	Skip   bool
	Header string // with {author} and {date}; "" = none
}

// DefaultHeader is the header that planform itself gives a comment with an author and a time.
const DefaultHeader = "**{author}** · {date}"

// Attachments says what becomes of attached files.
type Attachments struct {
	Skip   bool   // neither uploaded nor linked to
	Folder string // where the files lie, below the manifests
}

// Question is what is open.
type Question struct {
	Section, Name string
	Position      diag.Position
}

// Groups are the groups of states.
func Groups() []string { return []string{"backlog", "unstarted", "started", "completed", "cancelled"} }

// Priorities are what an item can have.
func Priorities() []string { return []string{"urgent", "high", "medium", "low", "none"} }

// LinkKinds are the relations that a link can become.
func LinkKinds() []string { return []string{"blocks", "duplicate", "relates_to", "skip"} }

// Words are the words of a setting.
func words(list ...string) []string { return list }

// Mapping decodes the file. losses are the kinds that allow may name.
func (f *File) Mapping(losses []string) (*Mapping, diag.List) {
	m := &Mapping{
		Allow: map[string]int{}, UnknownPeople: "text", Components: "module", Sprints: "cycle", Archived: "skip", Numbers: "new", History: "text",
		Versions: Versions{Fix: "label", Affects: "skip"}, Labels: Labels{Rename: map[string]string{}, Fold: true}, Comments: Comments{Header: DefaultHeader}, Attachments: Attachments{Folder: "attachments"},
	}
	d := &decoder{file: f.name, m: m}
	d.fields(f.root, table{
		"version": func(n *yaml.Node) { d.oneOf(n, words("1")) },
		"source": func(n *yaml.Node) {
			d.fields(n, table{
				"format":   func(n *yaml.Node) { d.text(n) },
				"site":     func(n *yaml.Node) { m.Source.Site = d.site(n) },
				"timezone": func(n *yaml.Node) { m.Source.Timezone = d.zone(n) },
				"dates":    func(n *yaml.Node) { m.Source.Dates = d.oneOf(n, words("dmy", "mdy"), "source", "dates") },
			})
		},
		"columns": func(n *yaml.Node) {
			d.entries(n, func(key string, n *yaml.Node) { m.Columns.set(key, d.column(key, n)) })
		},
		"target": func(n *yaml.Node) {
			d.fields(n, table{"workspace": func(n *yaml.Node) { m.Workspace = d.open(n, "target", "workspace") }})
		},
		"projects": func(n *yaml.Node) {
			d.entries(n, func(key string, n *yaml.Node) { m.Projects.set(key, d.project(key, n)) })
		},
		"people": func(n *yaml.Node) {
			d.entries(n, func(key string, n *yaml.Node) { m.People.set(key, d.person(key, n)) })
		},
		"unknown_people": func(n *yaml.Node) { m.UnknownPeople = d.fallback(n) },
		"states": func(n *yaml.Node) {
			d.entries(n, func(key string, n *yaml.Node) { m.States.set(key, d.state(key, n)) })
		},
		"priorities": d.choices(&m.Priorities, "priorities", Priorities()),
		"types":      func(n *yaml.Node) { d.entries(n, func(key string, n *yaml.Node) { m.Types.set(key, d.kind(key, n)) }) },
		"labels": func(n *yaml.Node) {
			d.fields(n, table{
				"rename": func(n *yaml.Node) { d.entries(n, func(key string, n *yaml.Node) { m.Labels.Rename[key] = d.text(n) }) },
				"skip":   func(n *yaml.Node) { m.Labels.Skip = d.list(n) },
				"add":    func(n *yaml.Node) { m.Labels.Add = d.list(n) },
				"case":   func(n *yaml.Node) { m.Labels.Fold = d.oneOf(n, words("fold", "keep")) == "fold" },
			})
		},
		"components": func(n *yaml.Node) { m.Components = d.oneOf(n, words("module", "label", "skip")) },
		"versions": func(n *yaml.Node) {
			d.fields(n, table{
				"fix":     func(n *yaml.Node) { m.Versions.Fix = d.oneOf(n, words("module", "label", "skip")) },
				"affects": func(n *yaml.Node) { m.Versions.Affects = d.oneOf(n, words("label", "skip")) },
				"prefix":  func(n *yaml.Node) { m.Versions.Prefix = d.text(n) },
			})
		},
		"sprints":  func(n *yaml.Node) { m.Sprints = d.oneOf(n, words("cycle", "skip")) },
		"archived": func(n *yaml.Node) { m.Archived = d.oneOf(n, words("skip", "keep", "archive")) },
		"links":    d.choices(&m.Links, "links", LinkKinds()),
		"fields":   func(n *yaml.Node) { d.entries(n, d.field) },
		"text": func(n *yaml.Node) {
			d.fields(n, table{"references": func(n *yaml.Node) { m.PlainText = d.oneOf(n, words("link", "text")) == "text" }})
		},
		"comments": func(n *yaml.Node) {
			d.fields(n, table{
				"to":     func(n *yaml.Node) { m.Comments.Skip = d.oneOf(n, words("comments", "skip")) == "skip" },
				"header": func(n *yaml.Node) { m.Comments.Header = d.text(n) },
			})
		},
		"attachments": func(n *yaml.Node) {
			d.fields(n, table{
				"to":     func(n *yaml.Node) { m.Attachments.Skip = d.oneOf(n, words("upload", "skip")) == "skip" },
				"folder": func(n *yaml.Node) { m.Attachments.Folder = d.folder(n) },
			})
		},
		"numbers": func(n *yaml.Node) { m.Numbers = d.oneOf(n, words("new", "keep", "fill")) },
		"history": func(n *yaml.Node) { m.History = d.oneOf(n, words("text", "full")) },
		"allow": func(n *yaml.Node) {
			d.entries(n, func(key string, n *yaml.Node) { d.allow(key, n, losses) })
		},
	})
	d.findings.Sort()
	return m, d.findings
}

// table says who reads which key.
type table map[string]func(*yaml.Node)

type decoder struct {
	file     string
	m        *Mapping
	findings diag.List

	keyColumn string
}

func (d *decoder) at(n *yaml.Node) diag.Position {
	return diag.Position{File: d.file, Line: n.Line, Column: n.Column}
}

func (d *decoder) wrong(n *yaml.Node, hint, format string, args ...any) {
	d.findings.Errorf(d.at(n), "mapping", format, args...)
	d.findings[len(d.findings)-1].Hint = hint
}

// entries reads a mapping whose keys are the source's.
func (d *decoder) entries(n *yaml.Node, each func(key string, value *yaml.Node)) {
	if n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		d.wrong(n, "write a line for each, such as name: value", "here are no names with values")
		return
	}
	first := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || n.Content[i+1].Kind == yaml.AliasNode {
			d.wrong(key, "write it out", "aliases and merge keys are not read here")
			continue
		}
		if other := first[key.Value]; other != nil {
			d.wrong(key, "take one of them out; the other is in line "+strconv.Itoa(other.Line), "%q is here twice", key.Value)
			continue
		}
		first[key.Value] = key
		each(key.Value, n.Content[i+1])
	}
}

// fields reads a mapping whose keys are ours.
func (d *decoder) fields(n *yaml.Node, known table) {
	var names []string
	for name := range known {
		names = append(names, name)
	}
	keys := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		keys[n.Content[i].Value] = n.Content[i]
	}
	d.entries(n, func(key string, value *yaml.Node) {
		if read, ok := known[key]; ok {
			read(value)
		} else {
			d.wrong(keys[key], diag.Choose(key, sorted(names)), "there is no setting %q here", key)
		}
	})
}

func (d *decoder) text(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode {
		d.wrong(n, "", "a text is wanted here")
		return ""
	}
	return n.Value
}

func (d *decoder) list(n *yaml.Node) []string {
	if n.Kind != yaml.SequenceNode {
		d.wrong(n, "write it in brackets: [a, b]", "a list is wanted here")
		return nil
	}
	var all []string
	for _, member := range n.Content {
		all = append(all, d.text(member))
	}
	return all
}

// open is a text that may be a question; then it is "".
func (d *decoder) open(n *yaml.Node, section, name string) string {
	text := d.text(n)
	if text != Open {
		return text
	}
	d.m.Questions = append(d.m.Questions, Question{section, name, d.at(n)})
	return ""
}

// oneOf is one of some words; with the names of a question, also a question.
func (d *decoder) oneOf(n *yaml.Node, list []string, question ...string) string {
	if len(question) == 2 && n.Value == Open {
		return d.open(n, question[0], question[1])
	}
	text := d.text(n)
	for _, word := range list {
		if strings.EqualFold(word, text) {
			return word
		}
	}
	if n.Kind == yaml.ScalarNode {
		d.wrong(n, diag.Choose(text, list), "%q is not possible here", text)
	}
	return list[0]
}

// fallback is what becomes of people without an e-mail address.
func (d *decoder) fallback(n *yaml.Node) string {
	if strings.Contains(n.Value, "@") {
		return d.matching(n, email, "the form ada@example.com")
	}
	return d.oneOf(n, words("text", "fail"))
}

func (d *decoder) choices(to *Names[string], section string, list []string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		d.entries(n, func(key string, n *yaml.Node) { to.set(key, d.oneOf(n, list, section, key)) })
	}
}

func (d *decoder) zone(n *yaml.Node) string {
	text := d.text(n)
	if _, err := time.LoadLocation(text); err != nil || text == "" {
		d.wrong(n, "such as Europe/Berlin or UTC", "there is no time zone %q", text)
		return ""
	}
	return text
}

// folder is a folder below that of the manifests, which may name no files elsewhere.
func (d *decoder) folder(n *yaml.Node) string {
	text := d.text(n)
	name := path.Clean(filepath.ToSlash(text))
	if !filepath.IsLocal(text) || name == "." || strings.HasPrefix(name, ".planform") {
		d.wrong(n, "such as attachments: manifests name files in their own folder and below it", "%q is no folder below that of the manifests", text)
	}
	return name
}

func (d *decoder) site(n *yaml.Node) string {
	text := strings.TrimSuffix(d.open(n, "source", "site"), "/")
	if text != "" && text != "none" && !strings.HasPrefix(text, "https://") && !strings.HasPrefix(text, "http://") {
		d.wrong(n, "such as https://example.atlassian.net, or none", "%q is not an address", text)
	}
	return text
}

var (
	identifier = regexp.MustCompile(`^[A-Za-z0-9_]{1,12}$`)
	keyPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)
	email      = regexp.MustCompile(`^[^@\s]+@[^@\s]+$`)
)

func (d *decoder) column(name string, n *yaml.Node) Column {
	var c Column
	field := func(n *yaml.Node) {
		if n.Value == Open {
			d.open(n, "columns", name)
		} else {
			c.Field = d.oneOf(n, ColumnFields())
		}
	}
	if n.Kind == yaml.ScalarNode {
		field(n)
	} else {
		d.fields(n, table{"field": field, "split": func(n *yaml.Node) { c.Split = d.text(n) }})
	}
	if c.Field == "key" {
		if d.keyColumn != "" {
			d.wrong(n, "take the one that never changes", "the columns %s and %s cannot both be the key", d.keyColumn, name)
		}
		d.keyColumn = name
	}
	return c
}

func (d *decoder) project(name string, n *yaml.Node) Project {
	var p Project
	if n.Kind == yaml.ScalarNode {
		if p.Skip = n.Value == "skip"; !p.Skip {
			d.wrong(n, "write skip, or {key: web, identifier: WEB, name: Website}", "%q says nothing of a project", n.Value)
		}
		return p
	}
	d.fields(n, table{
		"key":        func(n *yaml.Node) { p.Key = d.matching(n, keyPattern, "lower-case letters, digits, hyphens") },
		"identifier": func(n *yaml.Node) { p.Identifier = d.matching(n, identifier, "letters, digits and _, 12 at most") },
		"name":       func(n *yaml.Node) { p.Name = d.open(n, "projects", name) },
	})
	if p.Key == "" || p.Identifier == "" {
		d.wrong(n, "such as {key: web, identifier: WEB, name: Website}", "the project %s needs a key and an identifier", name)
	}
	for other, had := range d.m.Projects.exact {
		if had.Key == p.Key && p.Key != "" || p.Identifier != "" && strings.EqualFold(had.Identifier, p.Identifier) {
			d.wrong(n, "give one of them another key and another identifier", "the projects %s and %s would be one", other, name)
		}
	}
	return p
}

func (d *decoder) matching(n *yaml.Node, pattern *regexp.Regexp, want string) string {
	text := d.text(n)
	if !pattern.MatchString(text) {
		d.wrong(n, "it has "+want, "%q is not possible here", text)
	}
	return text
}

func (d *decoder) person(id string, n *yaml.Node) Person {
	p := Person{Assign: true}
	if n.Kind != yaml.ScalarNode {
		d.fields(n, table{
			"email":  func(n *yaml.Node) { p.Email = d.matching(n, email, "the form ada@example.com") },
			"as":     func(n *yaml.Node) { p.As = d.text(n) },
			"assign": func(n *yaml.Node) { p.Assign = d.oneOf(n, words("true", "false")) == "true" },
		})
		return p
	}
	switch n.Value {
	case Open:
		d.open(n, "people", id)
	case "text":
	case "bot":
		p.Bot = true
	case "anonymous":
		p.Anonymous = true
	default:
		p.Email = n.Value
		if !email.MatchString(n.Value) {
			d.wrong(n, "write the e-mail address of a member, or "+diag.Choose(n.Value, words("text", "bot", "anonymous")), "%q is no e-mail address", n.Value)
		}
	}
	return p
}

func (d *decoder) state(name string, n *yaml.Node) State {
	var s State
	if n.Kind == yaml.ScalarNode {
		s.Name = d.open(n, "states", name)
	} else {
		d.fields(n, table{
			"name":  func(n *yaml.Node) { s.Name = d.open(n, "states", name) },
			"group": func(n *yaml.Node) { s.Group = d.oneOf(n, Groups(), "states", name) },
			"unless": func(n *yaml.Node) {
				d.fields(n, table{"resolution": func(n *yaml.Node) { s.Unless = d.list(n) }})
			},
			"else": func(n *yaml.Node) { s.Else = d.text(n) },
		})
		if (len(s.Unless) > 0) != (s.Else != "") {
			d.wrong(n, "write both: unless: {resolution: [Duplicate]}, else: Cancelled", "unless and else belong together")
		}
	}
	for _, state := range words(s.Name, s.Else) {
		if strings.EqualFold(state, "triage") {
			d.wrong(n, "take another name", "the service keeps the name Triage for itself")
		}
	}
	return s
}

// field is what becomes of a field of the source.
func (d *decoder) field(name string, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		d.m.Fields.set(name, d.oneOf(n, words("text", "skip"), "fields", name))
		return
	}
	var c Custom
	d.fields(n, table{
		"field": func(n *yaml.Node) { c.Name = strings.TrimSpace(d.text(n)) },
		"type":  func(n *yaml.Node) { c.Type = d.oneOf(n, FieldTypes()) },
	})
	if c.Name == "" || len([]rune(c.Name)) > 255 {
		d.wrong(n, "such as {field: Severity}, or {field: Severity, type: option}", "the custom field for %s needs a name", name)
	}
	for other, had := range d.m.Custom.exact {
		if strings.EqualFold(had.Name, c.Name) && (had.Name != c.Name || had.Type != c.Type) {
			d.wrong(n, "write the same for both", "the fields %s and %s become one custom field in two ways", other, name)
		}
	}
	d.m.Custom.set(name, c)
}

func (d *decoder) kind(name string, n *yaml.Node) Type {
	var t Type
	if n.Kind == yaml.ScalarNode {
		t.Name = d.open(n, "types", name)
		t.Skip = t.Name == "skip"
		return t
	}
	d.fields(n, table{
		"name":    func(n *yaml.Node) { t.Name = d.open(n, "types", name) },
		"is_epic": func(n *yaml.Node) { t.Epic = d.oneOf(n, words("true", "false")) == "true" },
	})
	return t
}

func (d *decoder) allow(kind string, n *yaml.Node, losses []string) {
	known := false
	for _, l := range losses {
		known = known || l == kind
	}
	if !known {
		d.wrong(n, diag.Choose(kind, losses), "there is no kind of loss %q", kind)
		return
	}
	text := d.text(n)
	count, err := strconv.Atoi(text)
	switch {
	case text == "all":
		count = -1
	case err != nil || count < 0:
		d.wrong(n, "write all, or how many are agreed", "%q is not a number", text)
	}
	d.m.Allow[kind] = count
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}
