// Package tabular reads trackers whose export is a table: CSV, a spreadsheet, or records of JSON.
//
// A layout has settings and the fields of a tracker's columns (columns.txt), and functions for special rules (rules.go, and files of
// trackers with many rules). Entries of the mapping file win over it. The rest is the same for all: lists, people, dates, references by
// key or by title, damage by spreadsheets. It reads the files twice: first the keys, titles and dates of all rows, then the issues.
// The package must not know manifests.
package tabular

import (
	"cmp"
	_ "embed"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/text/table"
)

// layouts has the settings and columns of each layout, and lists of words, in sections.
//
//go:embed columns.txt
var layouts string

// Rules are the parts of a layout that settings cannot express. Each may be nil.
type Rules struct {
	Key *regexp.Regexp // matches each key; nil = any text is a key
	// Each adds data to an issue that only this tracker has, or leaves out the row.
	Each func(c *Cells, i *convert.Issue)
	// Bot reports whether a person is a program.
	Bot func(id, name string) bool
	// Finish adds data to the issues that can be known only from all issues together. Their large parts are put aside.
	Finish func(issues []*convert.Issue, to convert.Sink)
	// Complete adds data to an issue that has its comments.
	Complete func(i *convert.Issue)
	// Header returns the names of the columns in English, or an error if files with that header cannot be read.
	Header func(names []string) ([]string, error)
	// Dates returns more dates of a row, which may help to tell day and month apart.
	Dates func(c *Cells) []string
	// Detects reports whether a file is an export, and the sign by which it is recognised; nil = by the settings.
	Detects func(head []byte) (by string, ok bool)
	// Notes adds remarks on a file; names are its columns in the language of the file.
	Notes func(names []string, rows int, note func(kind, text string))

	shape func(in io.Reader, file string) (*nameList, []table.Row, error) // turns a file that is no table into one, and returns the columns and rows
}

type layout struct {
	Rules

	name     string     // how the command line names it
	settings words.List // see columns.txt
	columns  words.List // fields with the names of their columns: see mapping.ColumnFields and columns.txt
	anyTable bool       // of no tracker: the fields of columns are guessed, and the user is asked for the others

	markup  convert.Markup // some settings, which each row needs
	lists   string
	blanks  []string
	guarded bool
	zeros   bool
}

func newLayout(text, name string, rules Rules) *layout {
	set := words.Section(text, name)
	lists, _ := strconv.Unquote(set.Word("lists"))
	return &layout{
		Rules: rules, name: name, settings: set, columns: words.Section(text, name+" columns"), markup: convert.Markups()[set.Word("markup")],
		lists: lists, blanks: set.Names("empty"), guarded: set.Word("guarded") != "", zeros: set.Word("zeros") != "",
	}
}

// Formats returns the formats of the trackers, then the formats for any table, whose columns the mapping file names.
func Formats() []*convert.Format {
	all, last := []*convert.Format{}, &beginning{}
	add := func(name string, rules Rules) { all = append(all, newLayout(layouts, name, rules).format(last)) }
	add("linear-csv", Rules{Key: linearKey, Each: linear, Finish: linearGroups})
	add("pivotal", Rules{Each: pivotal, Dates: pivotalDates})
	add("gitlab", Rules{Each: gitlab, Complete: gitlabFiles})
	add("clickup", Rules{Each: clickup})
	add("asana", Rules{Each: asana})
	add("azure", Rules{Each: azure})
	add("shortcut", Rules{Each: shortcut})
	add("monday", Rules{Each: monday, Notes: mondayNotes, shape: mondayTable, Detects: detectMonday})
	add("redmine", Rules{Each: redmine})
	add("youtrack", Rules{})
	add("plane", Rules{Each: plane})
	unknown := *newLayout(layouts, "any", Rules{Each: addSprintAndComments, Dates: sprintAndCommentDates})
	for _, kind := range []string{"csv", "xlsx", "jsonl"} {
		l := unknown
		l.name, l.anyTable = kind, true
		all = append(all, l.format(last))
	}
	return all
}

// Format returns the format of a tracker that has a package of its own, from a text with its settings and columns.
func Format(text, name string, rules Rules) *convert.Format {
	return newLayout(text, name, rules).format(&beginning{})
}

// format returns the format of the layout. Formats with one beginning in common parse each file's header once.
func (l *layout) format(last *beginning) *convert.Format {
	return &convert.Format{Name: l.name, Tracker: l.settings.Word("tracker"), Unique: l.settings.Word("scoped") == "", HTML: l.settings.Word("html") != "", Read: l.read, Detect: func(head []byte, name string) (string, bool) {
		if l.Detects != nil {
			return l.Detects(head)
		}
		if last.look(head); l.anyTable {
			return l.detectAny(last, name)
		}
		for _, h := range last.headers {
			if found := l.recognised(h); found != nil {
				return cmp.Or(l.settings.Word("sign"), quoted(found)), true
			}
		}
		return "", false
	}}
}

// detectAny looks for columns that may be the key and the name, in a file of the kind that the layout is named after.
func (l *layout) detectAny(b *beginning, name string) (string, bool) {
	if b.records != (l.name == "jsonl") || !b.records && (l.name == "xlsx") != strings.EqualFold(path.Ext(name), ".xlsx") {
		return "", false
	}
	for _, h := range b.headers {
		found := l.guess(h)
		names, has := []string{}, map[string]bool{}
		for _, cell := range h.names {
			if field := found[cell]; field == "key" || field == "name" {
				names, has[field] = append(names, cell), true
			}
		}
		if len(has) == 2 {
			return quoted(names), true
		}
	}
	return "", false
}

// beginning is the parsed beginning of a file. All formats share it, because they look at the same file one after another.
type beginning struct {
	text    []byte
	records bool      // it is JSON
	headers []*header // possible headers: the names of the first record, or a line split by each separator
}

// look parses the beginning of a file, unless it is the same as before.
func (b *beginning) look(head []byte) {
	if len(head) == len(b.text) && (len(head) == 0 || &head[0] == &b.text[0]) {
		return
	}
	*b = beginning{text: head, records: records.Begin(head)}
	if b.records {
		b.headers = []*header{newHeader(flat(records.First(head), "").list)}
		return
	}
	for _, cells := range table.Headers(head) {
		b.headers = append(b.headers, newHeader(cells))
	}
}

// header holds the names of columns, and their places by folded names.
type header struct {
	names  []string
	folded []string
	places map[string][]int
}

func newHeader(names []string) *header {
	h := &header{names: names, folded: make([]string, len(names)), places: make(map[string][]int, len(names))}
	for i, name := range names {
		h.folded[i] = words.Fold(name)
		h.places[h.folded[i]] = append(h.places[h.folded[i]], i)
	}
	return h
}

func quoted(columns []string) string {
	var names []string
	for _, name := range columns {
		names = append(names, strconv.Quote(name))
	}
	if len(names) == 1 {
		return "the column " + names[0]
	}
	return "the columns " + strings.Join(names, ", ")
}

// recognised returns the columns of a header by which the format is recognised, or nil if one is missing.
func (l *layout) recognised(h *header) []string {
	for _, line := range l.settings {
		if line.Of == "needs" && !slices.ContainsFunc(line.Names, func(name string) bool { return len(h.places[words.Fold(name)]) == 0 }) {
			return line.Names
		}
	}
	return nil
}
