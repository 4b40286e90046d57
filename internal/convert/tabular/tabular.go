// Package tabular reads trackers whose export is a table: CSV, a spreadsheet, or records of JSON.
//
// A layout says what the columns of a tracker hold (columns.txt) and what else is special about it, a file for each tracker; what the
// mapping file says of a column counts before that. The rest is the same for all: lists, people, dates, references by key or by title,
// what spreadsheets do to a file. It reads the files twice: first the keys, titles and dates of all rows, then the issues.
// The package must not know manifests.
package tabular

import (
	"cmp"
	_ "embed"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/table"
)

// columnList has what is to be known of names, in sections.
//
//go:embed columns.txt
var columnList string

// names are those of a section, each with what it stands for.
func names(title string) map[string]string { return words.ByName(words.Section(columnList, title)) }

// Layout is what is known of a tracker's table.
type Layout struct {
	Name    string            // how the command line names it
	Tracker string            // as people call it
	How     string            // how to export
	Needs   [][]string        // columns by which a file is recognised: all of one list
	Columns map[string]string // what the columns hold, by name: see mapping.ColumnFields, and below
	Markup  convert.Markup    // of texts
	HTML    bool              // see [convert.Format]
	Lists   string            // what separates the values of a list; "" = found out
	Empty   []string          // texts that stand for nothing
	Guarded bool              // cells that begin as formulas do have an apostrophe before
	UTC     bool              // dates without a zone are UTC
	Order   string            // of day and month, dmy or mdy, if it is always the same
	Limit   int               // of rows in an export
	Zeros   bool              // a zero in a column that is kept as a text says something
	Key     *regexp.Regexp    // what each key looks like; nil = anything
	By      string            // what a file is recognised by, in other words than the names of the columns
	Lacks   string            // what no export has
	Within  []string          // lists of records within objects, of JSON: see records.Read
	// Each adds to an issue what only this tracker has. What it says is why the row is left out.
	Each func(c *Cells, i *convert.Issue) string
	// Bot reports somebody who is a program.
	Bot func(id, name string) bool
	// Finish adds to the issues what only all of them together show.
	Finish func(issues []*convert.Issue, to convert.Sink)
	// Header gives the names of the columns in English. Its error says why no file with that header can be read.
	Header func(names []string) ([]string, error)
	// Shape makes a table of a file that is none: its columns, and rows.
	Shape func(in io.Reader, file string) (*nameList, []table.Row, error)
	// Dates are the dates within other cells of a row, which may tell day and month apart, too.
	Dates func(c *Cells) []string
	// Notes says what is special about a file with these columns, whose names are as the file has them.
	Notes func(names []string, rows int, note func(kind, text string))

	guess   func(header *header) map[string]string // for tables of no tracker: what columns hold; what is not in it is asked
	detects func(b *beginning, name string) (string, bool)
}

// Fields of a column that only columns.txt names, not people; what is raw there, or any other word, is for Each alone. Comments may be
// rows of their own, with created_by and created_at.
const (
	commentOf    = "comment_of"
	commentID    = "comment_id"
	commentText  = "comment_text"
	commentCount = "comment_count"
	commentLikes = "comment_likes"
	commentTitle = "comment_title" // of the issue, where the file of issues does not have its key
	versionDue   = "version_due"
	scope        = "scope" // within which the keys are unique
	projectText  = "project_text"
	internalID   = "id" // which another item may name, instead of the key
	private      = "private"
)

// Formats are the trackers, and at last the formats of no tracker: any table, whose columns the mapping file names.
func Formats() []*convert.Format {
	var all []*convert.Format
	last, known := &beginning{}, words.Section(columnList, "any")
	for _, l := range []*Layout{
		linear(), linearJSON(), pivotal(), gitlab(), clickup(), asana(), azure(), shortcut(), monday(), redmine(), youtrack(), plane(),
	} {
		all = append(all, l.format(last))
	}
	for _, kind := range []string{"csv", "xlsx", "jsonl"} {
		all = append(all, anyTable(kind, known).format(last))
	}
	return all
}

// Format is the format of a tracker that has a package of its own.
func (l *Layout) Format() *convert.Format { return l.format(&beginning{}) }

func (l *Layout) format(last *beginning) *convert.Format {
	detect := l.detect
	if l.detects != nil {
		detect = l.detects
	}
	return &convert.Format{Name: l.Name, Tracker: l.Tracker, HTML: l.HTML, Read: l.read, Detect: func(head []byte, name string) (string, bool) {
		last.look(head)
		return detect(last, name)
	}}
}

// beginning is how a file begins. All formats look at one file before the next, and read its header once.
type beginning struct {
	text    []byte
	records bool      // it is JSON
	headers []*header // what it can be read as: the names of its first record, or a line with each separator
}

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

// header are the names of columns, and where they are found by their folded names.
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

// detect looks for the columns that every export has.
func (l *Layout) detect(b *beginning, _ string) (string, bool) {
	for _, h := range b.headers {
		if found := l.recognised(h); found != nil {
			return cmp.Or(l.By, quoted(found)), true
		}
	}
	return "", false
}

// quoted names columns.
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

// recognised are the columns of a header that tell the format, if it has them all.
func (l *Layout) recognised(h *header) []string {
	for _, list := range l.Needs {
		if !slices.ContainsFunc(list, func(name string) bool { return len(h.places[words.Fold(name)]) == 0 }) {
			return list
		}
	}
	return nil
}
