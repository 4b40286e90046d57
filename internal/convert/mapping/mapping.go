package mapping

import (
	"cmp"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/planform/planform/internal/text/diag"
)

// Mapping is the content of a mapping file.
type Mapping struct {
	Source        struct{ Site, Timezone, Dates string } // for reading the export
	Columns       Names[Column]                          // of tables, by their name
	Workspace     string
	Projects      Names[Project]
	People        Names[Person]
	UnknownPeople string // text, fail, or the e-mail address of the person who gets their items
	States        Names[State]
	Priorities    Names[string]
	Types         Names[Type]
	Labels        struct {
		Rename    map[string]string
		Skip, Add []string
		Fold      bool // names that differ by case are one
	}
	Components string                                // module, label or skip
	Versions   struct{ Fix, Affects, Prefix string } // the use of fix versions and affected versions, and a prefix of their names
	Sprints    string                                // cycle or skip
	Archived   string                                // skip, keep or archive
	Numbers    string                                // new, keep or fill
	Links      Names[Link]
	Fields     Names[string] // text, skip, or a field of items: estimate_point, point or sort_order
	Custom     Names[Custom] // fields that become custom fields
	Text       struct {
		NoLinks bool // to the issues that they name
		Plain   bool // they have no markup, where the format does not tell
	}
	Comments struct {
		Skip   bool
		Header string // with {author} and {date}; "" = none
	}
	Attachments Attachments
	History     struct { // the origin of an item
		Dates string // text or full
		Link  string // to the old address: text, link or none; "" = not said
	}
	Summary   string         // off, short or full: a comment with the data that Plane has no place for
	Allow     map[string]int // -1 = all
	Questions []Question
}

// Allows reports whether n losses or additional objects of a kind are allowed.
func (m *Mapping) Allows(kind string, n int) bool {
	allowed, ok := m.Allow[kind]
	return ok && (allowed < 0 || n <= allowed)
}

// Custom is the custom field of Plane that a field becomes.
type Custom struct {
	Name string
	Type string // "" = as the values are
}

// Column is the meaning of a column in a table.
type Column struct {
	Field string // one of [ColumnFields]; "" = not decided
	Split string // separates the values of a list; "" = found out
}

// ColumnFields returns the fields that a column can hold: fields of an item by their names in manifests, and fields that only a source has.
func ColumnFields() []string {
	return []string{
		"text", "skip", "key", "name", "description", "state", "group", "resolution", "type", "priority", "labels", "components",
		"versions", "cycle", "project", "project_name",
		"assignees", "assignee_names", "assignee_emails", "created_by", "created_by_name", "created_by_email", "created_at", "updated_at",
		"start_date", "target_date",
		"parent", "blocking", "blocked_by", "duplicate", "relates_to", "link", "attachments", "private",
		"cycle_start", "cycle_end", "comment_texts", "comment_ids", "comment_authors", "comment_emails", "comment_times",
	}
}

// Project is the project of Plane that a project of the source becomes.
type Project struct {
	Skip                  bool
	Key, Identifier, Name string
}

// Person is the account in Plane for a person of the source, and the use of the person's name.
type Person struct {
	Email     string // "" = not assigned, named in texts
	As        string // the name in texts; "" = the source's
	Assign    bool
	Bot       bool // comments are left out
	Anonymous bool
}

// State is the state of Plane that a state of the source becomes.
type State struct {
	Name, Group string
	Unless      []string // resolutions with which it becomes Else
	Else        string
}

// Type is the work item type of Plane that a type of the source becomes.
type Type struct {
	Name string
	Epic bool
	Skip bool
}

// DefaultHeader is the header that planform itself gives a comment with an author and a time.
const DefaultHeader = "**{author}** · {date}"

// Attachments holds the settings for attached files.
type Attachments struct {
	Skip   bool   // neither uploaded nor linked to
	Folder string // where the files lie, below the manifests
}

// Question is an open entry of the file.
type Question struct {
	Section, Name string
	Position      diag.Position
}

// Link is the relation that links of a type become.
type Link struct {
	Kind string // blocks, duplicate, relates_to or skip; "" = a custom relation
	// Name is the name of a custom relation. Outward is its text on the item where the relation begins, Inward its text on the other item.
	Name, Outward, Inward string
}

// Mapping decodes the file. agreeable are the kinds of losses and additions that the section allow accepts.
func (f *File) Mapping(agreeable []string) (*Mapping, diag.List) {
	m := &Mapping{
		Allow: map[string]int{}, UnknownPeople: "text", Components: "module", Sprints: "cycle", Archived: "skip", Numbers: "new", Summary: "off",
		Attachments: Attachments{Folder: "attachments"},
	}
	m.Versions.Fix, m.Versions.Affects, m.History.Dates, m.Comments.Header = "label", "skip", "text", DefaultHeader
	m.Labels.Rename, m.Labels.Fold = map[string]string{}, true
	d := &decoder{file: f.name, m: m}
	d.root(agreeable).read(f.root)
	d.findings.Sort()
	return m, d.findings
}

func (d *decoder) root(agreeable []string) setting {
	m, ignored := d.m, new(string)
	return d.fields(table{
		"version": {object{"const": 1}, d.word(ignored, "1").read},
		"source": d.fields(table{
			"format":   d.text(ignored),
			"site":     {anyText(), func(n *yaml.Node) { m.Source.Site = d.site(n) }},
			"timezone": {anyText(), func(n *yaml.Node) { m.Source.Timezone = d.zone(n) }},
			"dates":    d.wordOrOpen(&m.Source.Dates, "source", "dates", "dmy", "mdy"),
		}),
		"columns":        entries(d, &m.Columns, d.column),
		"target":         d.fields(table{"workspace": d.textOrOpen(&m.Workspace, "target", "workspace")}),
		"projects":       entries(d, &m.Projects, d.project),
		"people":         entries(d, &m.People, d.person),
		"unknown_people": d.fallback(),
		"states":         entries(d, &m.States, d.state),
		"priorities": entries(d, &m.Priorities, func(key string, word *string) setting {
			return d.wordOrOpen(word, "priorities", key, "urgent", "high", "medium", "low", "none")
		}),
		"types": entries(d, &m.Types, d.kind),
		"labels": d.fields(table{
			"rename": d.each(func(key string) setting {
				return setting{anyText(), func(n *yaml.Node) { m.Labels.Rename[key] = d.readText(n) }}
			}),
			"skip": d.texts(&m.Labels.Skip),
			"add":  d.texts(&m.Labels.Add),
			"case": d.is(&m.Labels.Fold, "fold", "fold", "keep"),
		}),
		"components": d.word(&m.Components, "module", "label", "skip"),
		"versions": d.fields(table{
			"fix":     d.word(&m.Versions.Fix, "module", "label", "skip"),
			"affects": d.word(&m.Versions.Affects, "label", "skip"),
			"prefix":  d.text(&m.Versions.Prefix),
		}),
		"sprints":  d.word(&m.Sprints, "cycle", "skip"),
		"archived": d.word(&m.Archived, "skip", "keep", "archive"),
		"links":    entries(d, &m.Links, d.link),
		"fields":   d.customFields(),
		"text": d.fields(table{
			"references": d.is(&m.Text.NoLinks, "text", "link", "text"),
			"markup":     d.is(&m.Text.Plain, "plain", "markdown", "plain"),
		}),
		"comments": d.fields(table{
			"to":     d.is(&m.Comments.Skip, "skip", "comments", "skip"),
			"header": d.text(&m.Comments.Header),
		}),
		"attachments": d.fields(table{
			"to":     d.is(&m.Attachments.Skip, "skip", "upload", "skip"),
			"folder": {anyText(), func(n *yaml.Node) { m.Attachments.Folder = d.folder(n) }},
		}),
		"numbers": d.word(&m.Numbers, "new", "keep", "fill"),
		"history": d.history(),
		"summary": d.word(&m.Summary, "off", "short", "full"),
		"allow":   d.allow(agreeable),
	})
}

// decoder fills in a mapping, and collects mistakes in the file.
type decoder struct {
	file     string
	m        *Mapping
	findings diag.List
}

func (d *decoder) at(n *yaml.Node) diag.Position {
	return diag.Position{File: d.file, Line: n.Line, Column: n.Column}
}

func (d *decoder) wrong(n *yaml.Node, hint, format string, args ...any) {
	d.findings.Errorf(d.at(n), "mapping", format, args...)
	d.findings[len(d.findings)-1].Hint = hint
}

func (d *decoder) zone(n *yaml.Node) string {
	text := d.readText(n)
	if _, err := time.LoadLocation(text); err != nil || text == "" {
		d.wrong(n, "such as Europe/Berlin or UTC", "there is no time zone %q", text)
		return ""
	}
	return text
}

// folder reads the path of a folder below the folder of the manifests. Other paths are mistakes, because a manifest cannot name files
// elsewhere.
func (d *decoder) folder(n *yaml.Node) string {
	text := d.readText(n)
	name := path.Clean(filepath.ToSlash(text))
	if !filepath.IsLocal(text) || name == "." || strings.HasPrefix(name, ".planform") {
		d.wrong(n, "such as attachments: manifests name files in their own folder and below it", "%q is no folder below that of the manifests",
			text)
	}
	return name
}

// site reads the address of the tracker, none, or a question.
func (d *decoder) site(n *yaml.Node) string {
	text := strings.TrimSuffix(d.readOpen(n, "source", "site"), "/")
	if text != "" && text != "none" && !strings.HasPrefix(text, "https://") && !strings.HasPrefix(text, "http://") {
		d.wrong(n, "such as https://example.atlassian.net, or none", "%q is not an address", text)
	}
	return text
}

var (
	identifier = regexp.MustCompile(`^[A-Za-z0-9_]{1,12}$`)
	keyPattern = sync.OnceValue(func() *regexp.Regexp { //nolint:gochecknoglobals // computed once
		return regexp.MustCompile(`^[\p{Ll}\p{Lm}\p{Lo}\p{Nd}][\p{Ll}\p{Lm}\p{Lo}\p{Nd}._-]*$`)
	})
	email = regexp.MustCompile(`^[^@\s]+@[^@\s]+$`)
)

// IsEmail reports whether the file accepts a text as the e-mail address of a person.
func IsEmail(text string) bool { return email.MatchString(text) }

// column says how the entry of a column is checked and read into c: it is a field, or a field and a separator.
func (d *decoder) column(name string, c *Column) setting {
	field := d.wordOrOpen(&c.Field, "columns", name, ColumnFields()...)
	return either(field, d.fields(table{"field": field, "split": d.text(&c.Split)}))
}

// project returns the setting of a project: skip, or its key, identifier and name.
func (d *decoder) project(name string, p *Project) setting {
	skip := setting{object{"enum": []string{"skip"}}, func(n *yaml.Node) {
		if p.Skip = n.Value == "skip"; !p.Skip {
			d.wrong(n, "write skip, or {key: web, identifier: WEB, name: Website}", "%q says nothing of a project", n.Value)
		}
	}}
	written := d.fields(table{
		"key":        d.matching(&p.Key, keyPattern(), "lower-case letters, digits, hyphens"),
		"identifier": d.matching(&p.Identifier, identifier, "letters, digits and _, 12 at most"),
		"name":       d.textOrOpen(&p.Name, "projects", name),
	}).then(func(n *yaml.Node) {
		if len(p.Key) > 100 {
			d.wrong(n, "it has 100 bytes at most", "%q is not possible here", p.Key)
		}
		if p.Key == "" || p.Identifier == "" {
			d.wrong(n, "such as {key: web, identifier: WEB, name: Website}", "the project %s needs a key and an identifier", name)
		}
		for other, had := range d.m.Projects.exact {
			if had.Key == p.Key && p.Key != "" || p.Identifier != "" && strings.EqualFold(had.Identifier, p.Identifier) {
				d.wrong(n, "give one of them another key and another identifier", "the projects %s and %s would be one", other, name)
			}
		}
	})
	written.schema["required"] = []string{"key", "identifier"}
	return either(skip, written)
}

// person returns the setting of a person: a word, an e-mail address, or both with a name.
func (d *decoder) person(id string, p *Person) setting {
	p.Assign = true
	word := setting{object{"enum": []string{"text", "bot", "anonymous", Open}}, func(n *yaml.Node) {
		p.Bot, p.Anonymous = n.Value == "bot", n.Value == "anonymous"
		if p.Bot || p.Anonymous || n.Value == "text" {
			return
		}
		if p.Email = d.readOpen(n, "people", id); n.Value != Open && !email.MatchString(n.Value) {
			d.wrong(n, "write the e-mail address of a member, or "+diag.Choose(n.Value, []string{"text", "bot", "anonymous"}), "%q is no e-mail address", n.Value)
		}
	}}
	address := d.matching(&p.Email, email, "the form ada@example.com")
	return either(word, d.fields(table{"email": address, "as": d.text(&p.As), "assign": d.boolean(&p.Assign)}), address.schema)
}

// fallback returns the setting for people without an e-mail address: text, fail, or the address of the person who gets their items.
func (d *decoder) fallback() setting {
	word := d.word(&d.m.UnknownPeople, "text", "fail")
	address := d.matching(&d.m.UnknownPeople, email, "the form ada@example.com")
	return setting{object{"anyOf": []any{word.schema, address.schema}}, func(n *yaml.Node) {
		if strings.Contains(n.Value, "@") {
			address.read(n)
		} else {
			word.read(n)
		}
	}}
}

// state returns the setting of a state: a name, or a name with a group and an exception.
func (d *decoder) state(name string, s *State) setting {
	named := d.textOrOpen(&s.Name, "states", name)
	written := d.fields(table{
		"name":   named,
		"group":  d.wordOrOpen(&s.Group, "states", name, "backlog", "unstarted", "started", "completed", "cancelled"),
		"unless": d.fields(table{"resolution": d.texts(&s.Unless)}),
		"else":   d.text(&s.Else),
	}).then(func(n *yaml.Node) {
		if (len(s.Unless) > 0) != (s.Else != "") {
			d.wrong(n, "write both: unless: {resolution: [Duplicate]}, else: Cancelled", "unless and else belong together")
		}
	})
	return either(named, written).then(func(n *yaml.Node) {
		for _, state := range []string{s.Name, s.Else} {
			if strings.EqualFold(state, "triage") {
				d.wrong(n, "take another name", "the service keeps the name Triage for itself")
			}
		}
	})
}

// kind returns the setting of a type: a name, skip, or a name and whether items of it are epics.
func (d *decoder) kind(name string, t *Type) setting {
	named := d.textOrOpen(&t.Name, "types", name)
	return either(
		named.then(func(*yaml.Node) { t.Skip = t.Name == "skip" }),
		d.fields(table{"name": named, "is_epic": d.boolean(&t.Epic)}),
	)
}

// link returns the setting of a type of links: a relation that every workspace has, or a custom relation in its own words.
func (d *decoder) link(name string, l *Link) setting {
	return either(
		d.wordOrOpen(&l.Kind, "links", name, "blocks", "duplicate", "relates_to", "skip"),
		d.fields(table{"outward": d.text(&l.Outward), "inward": d.text(&l.Inward)}).then(func(n *yaml.Node) {
			l.Name, l.Outward, l.Inward = name, strings.TrimSpace(l.Outward), strings.TrimSpace(l.Inward)
			if l.Inward = cmp.Or(l.Inward, l.Outward); l.Outward == "" {
				d.wrong(n, "such as {outward: clones, inward: is cloned by}; with outward alone, both say the same",
					"the relation for %s needs an outward text", name)
			}
		}),
	)
}

// customFields returns the setting of the source's fields: a word for each, or a custom field.
func (d *decoder) customFields() setting {
	return d.each(func(name string) setting {
		var word string
		var c Custom
		return either(
			d.wordOrOpen(&word, "fields", name, "text", "skip", "estimate_point", "point", "sort_order").then(func(*yaml.Node) { d.m.Fields.set(name, word) }),
			d.fields(table{"field": d.text(&c.Name), "type": d.word(&c.Type, "text", "option", "decimal", "datetime", "boolean", "url", "email")}).then(func(n *yaml.Node) {
				c.Name = strings.TrimSpace(c.Name)
				if c.Name == "" || len([]rune(c.Name)) > 255 {
					d.wrong(n, "such as {field: Severity}, or {field: Severity, type: option}", "the custom field for %s needs a name", name)
				}
				for other, had := range d.m.Custom.exact {
					if strings.EqualFold(had.Name, c.Name) && (had.Name != c.Name || had.Type != c.Type) {
						d.wrong(n, "write the same for both", "the fields %s and %s become one custom field in two ways", other, name)
					}
				}
				d.m.Custom.set(name, c)
			}),
		)
	})
}

// history returns the setting of the history: a word for the dates alone, or the dates and the link.
func (d *decoder) history() setting {
	dates := d.word(&d.m.History.Dates, "text", "full")
	return either(dates, d.fields(table{"dates": dates, "link": d.word(&d.m.History.Link, "text", "link", "none")}))
}

// allow returns the setting of allowed losses: a kind, and a number or all.
func (d *decoder) allow(agreeable []string) setting {
	properties := object{}
	for _, kind := range agreeable {
		properties[kind] = object{"anyOf": []any{object{"enum": []string{"all"}}, object{"type": "integer", "minimum": 0}}}
	}
	schema := object{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
	return setting{schema, func(n *yaml.Node) {
		d.readEntries(n, func(kind string, n *yaml.Node) {
			if !slices.Contains(agreeable, kind) {
				d.wrong(n, diag.Choose(kind, agreeable), "there is no kind of loss %q", kind)
				return
			}
			text := d.readText(n)
			count, err := strconv.Atoi(text)
			switch {
			case text == "all":
				count = -1
			case err != nil || count < 0:
				d.wrong(n, "write all, or how many you accept", "%q is not a number", text)
			}
			d.m.Allow[kind] = count
		})
	}}
}
