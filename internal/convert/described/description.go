package described

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/words"
)

// description is the parsed text about the export of a tracker. It says where the records are, how a record shows its kind, and which paths
// lead to each field.
//
// Empty lines separate its sections. The first section has the name of the format, and settings such as "tracker = Redmine". The section
// "person" describes how people are written. The section "values" says in which role the account counts a value. Each other title is a kind
// of record, such as "comment", or "comment of journals" for a list within another record. A line of a section names a field and the paths
// that may lead to it: "title = subject". The first path with a value counts. "a + b" joins the values of two paths with a blank, "a & b"
// joins them without one.
type description struct {
	sections []*section
	objects  map[string]bool // names of values that are objects or lists of objects
}

type section struct {
	kind, list string
	lines      words.List // fields of the section with their paths or words
}

func describe(text string) *description {
	d := &description{objects: map[string]bool{}}
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		title, lines, _ := strings.Cut(block, "\n")
		s := &section{}
		s.kind, s.list, _ = strings.Cut(title, " of ")
		s.lines = words.Lines(lines)
		d.sections = append(d.sections, s)
	}
	return d
}

// find returns the section of a kind of record, or an empty one.
func (d *description) find(kind string) *section {
	if n := slices.IndexFunc(d.sections, func(s *section) bool { return s.kind == kind && s.list == "" }); n >= 0 {
		return d.sections[n]
	}
	return &section{}
}

// lists returns the lists within records that have sections of their own, each once.
func (d *description) lists() (lists []string) {
	for _, s := range d.sections {
		if s.list != "" && !slices.Contains(lists, s.list) {
			lists = append(lists, s.list)
		}
	}
	return lists
}

// sectionsOf returns the sections about the elements of a list within records, such as the section "comment of journals" for journals.
func (d *description) sectionsOf(list string) (sections []*section) {
	for _, s := range d.sections {
		if s.list == list {
			sections = append(sections, s)
		}
	}
	return sections
}

// paths returns the paths in a line of a section.
func (s *section) paths(field string) []string { return s.lines.Names(field) }

// word returns a line of a section as one word or sentence.
func (s *section) word(field string) string { return s.lines.Word(field) }

// fits reports whether a record is of the kind of the section: it meets all conditions of one "has" line.
func (s *section) fits(v records.Value) bool {
	return slices.ContainsFunc(s.lines, func(l words.Line) bool {
		return l.Of == "has" && !slices.ContainsFunc(l.Names, func(condition string) bool { return !meets(v, condition) })
	})
}

// meets reports whether a record meets a condition: it has a value at a path, or the value in type=comment, or it has not, in !system=true.
func meets(v records.Value, condition string) bool {
	path, not := strings.CutPrefix(condition, "!")
	path, word, is := strings.Cut(path, "=")
	has := v.Has(path) && (!is || slices.ContainsFunc(v.At(path), func(at records.Value) bool { return at.Text == word }))
	return has != not
}

// takes reports whether a record of a list belongs to the section. A record at the top of a file may be of any list.
func (s *section) takes(v records.Value, list string) bool {
	among := s.paths("among")
	named := slices.Contains(among, list)
	return s.list == "" && (s.fits(v) && (named || list == "" || among == nil) || named && s.paths("has") == nil)
}

// meanings returns the roles of values: by the fields that they become, unless the description declares another role.
func (d *description) meanings() *convert.Roles {
	r, known := convert.ReadRoles(""), map[string]bool{}
	declare := func(path string, role convert.Role) {
		if !known[path] {
			known[path] = true
			r.Declare(path, role)
		}
	}
	within := append(d.head().paths("show"), d.people()...)
	for _, s := range d.sections {
		for _, l := range s.lines {
			role := s.role(l.Of)
			for _, path := range plus.Split(strings.Join(l.Names, " + "), -1) {
				if role == "" || path == "" || path == "." || strings.Contains(path+s.prefix(l.Of), "*") {
					continue
				}
				path = s.prefix(l.Of) + strings.TrimPrefix(path, d.head().word("strip"))
				declare(path, role)
				for _, of := range within {
					if convert.RoleOf(role) != convert.Technical {
						declare(path+"."+of, role)
					}
				}
			}
		}
	}
	for _, l := range d.find("values").lines {
		for _, name := range l.Names {
			known[name] = true
			r.Declare(name, convert.Role(l.Of))
		}
	}
	for _, s := range d.sections { // by the paths within a record, too, because some records are booked under another name
		for _, l := range s.lines {
			for _, path := range l.Names {
				if s.list == "" && (s.role(l.Of) != "" || l.Of == "of") {
					known[path] = true
				}
			}
		}
	}
	for path := range known { // an object that holds values of the issue, and is none itself
		for at, c := range path {
			if c == '.' && !known[path[:at]] && !strings.ContainsAny(path, "* ") {
				d.objects[path[:at]] = true
			}
		}
	}
	for _, path := range d.head().paths("objects") { // which only a hook reads
		d.objects[path] = true
	}
	return r
}

func (d *description) head() *section { return d.sections[0] }

// people returns the paths to the login, name and address within a person.
func (d *description) people() (paths []string) {
	for _, l := range d.find("person").lines {
		if l.Of == "login" || l.Of == "name" || l.Of == "email" {
			paths = append(paths, l.Names...)
		}
	}
	return paths
}

// prefix returns the beginning of the names of a field's values.
func (s *section) prefix(field string) string {
	prefix := s.word("as")
	if prefix == "" {
		prefix = s.list
	}
	if each := s.word("each"); each != "" && (field == "field" || field == "from" || field == "to") {
		prefix += "." + each
	}
	if prefix == "" {
		return ""
	}
	return prefix + "."
}

// role returns the field of an issue that takes the values of a line, or their role, or "" if the line has no path or only technical values.
func (s *section) role(field string) convert.Role {
	switch field { // lines without a path, and paths to technical values
	case "has", "in", "as", "else", "each", "without", "list", "by", "site", "below", "blank", "empty", "apart", "ask", "stray", "among", "called",
		"id", "size", "of", "private", "deleted", "number", "markdown":
		return ""
	}
	switch s.kind {
	case "issue":
		if name, is := strings.CutPrefix(field, "count "); is {
			return map[string]convert.Role{"reactions": "reactions", "votes": "votes", "watchers": "watchers"}[name]
		}
		switch word, _, _ := strings.Cut(field, " "); word {
		case "about": // section values has its roles
			return ""
		case "row", "noise", "flag", "moment", "duration":
			return convert.OfField
		case "relation":
			return convert.Relation
		}
		return convert.Role(field)
	case "comment":
		if field == "updated_at" {
			return ""
		}
		return cmp.Or(map[string]convert.Role{"created_at": "comment_times", "created_by": "comment_authors"}[field], convert.OfComment)
	case "file":
		return map[bool]convert.Role{true: convert.OfField, false: convert.OfFile}[field == "about"]
	case "link":
		return convert.Relation
	case "row":
		return convert.OfField
	case "change", "work":
		return convert.Summed
	}
	return ""
}
