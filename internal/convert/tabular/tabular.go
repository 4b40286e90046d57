// Package tabular reads trackers whose export is a table: CSV, a spreadsheet, or records of JSON.
//
// A [Format] says what the columns of a tracker hold, a file for each tracker; what the mapping file says of a column counts before
// that. The rest is the same for all: lists, people, dates, references by key or by title, what spreadsheets do to a file. It reads
// the files twice: first the keys, titles and dates of all rows, then the issues.
// The package must not know manifests.
package tabular

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/convert/table"
	"github.com/planform/planform/internal/diag"
)

// Format is a tracker whose export is a table.
type Format struct {
	Kind    string            // how the command line names it
	Of      string            // the tracker, as people call it
	How     string            // how to export
	Needs   [][]string        // columns by which a file is recognised: all of one list
	Columns map[string]string // what the columns hold, by name: see mapping.ColumnFields, and below
	Markup  convert.Markup    // of texts
	Lists   string            // what separates the values of a list; "" = found out
	Groups  map[string]string // groups of states, where their names are not known to everybody
	Empty   []string          // texts that stand for nothing
	Guarded bool              // cells that begin as formulas do have an apostrophe before
	UTC     bool              // dates without a zone are UTC
	Order   string            // of day and month, dmy or mdy, if it is always the same
	Limit   int               // of rows in an export
	Lacks   string            // what no export has
	Rest    string            // what the other columns hold; "" = text
	// Each adds to an issue what only this tracker has. What it says is why the row is left out.
	Each func(c *Cells, i *convert.Issue) string

	guess   func(header []string) map[string]string // for tables of no tracker: what columns hold; what is not in it is asked
	detects func(head []byte, name string) (string, bool)
}

// Fields of a column that only formats name, not people. Comments may be rows of their own, with created_by and created_at.
const (
	commentOf    = "comment_of"
	commentID    = "comment_id"
	commentText  = "comment_text"
	commentCount = "comment_count"
	versionDue   = "version_due"
	scope        = "scope" // within which the keys are unique
	private      = "private"
	raw          = "raw" // for Each alone
)

// Name is how the command line names it.
func (f *Format) Name() string { return f.Kind }

// Tracker is how people call it.
func (f *Format) Tracker() string { return f.Of }

// Detect looks for the columns that every export has.
func (f *Format) Detect(head []byte, name string) (string, bool) {
	if f.detects != nil {
		return f.detects(head, name)
	}
	header := headerOf(head, name, func(h []string) bool { return f.recognised(h) != nil })
	if found := f.recognised(header); found != nil {
		return quoted(found), true
	}
	return "", false
}

// headerOf is the header in the beginning of a file.
func headerOf(head []byte, name string, known func([]string) bool) []string {
	if isJSON(head) {
		return firstNames(head)
	}
	if i := bytes.IndexAny(head, "\r\n"); i >= 0 {
		head = head[:i]
	}
	r, err := table.Open(bytes.NewReader(head), name, known)
	if err != nil {
		return nil
	}
	return r.Header
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

// recognised are the columns of a header that tell the format, if it has them all.
func (f *Format) recognised(header []string) []string {
	for _, list := range f.Needs {
		if !slices.ContainsFunc(list, func(name string) bool {
			return !slices.ContainsFunc(header, func(cell string) bool { return fold(cell) == fold(name) })
		}) {
			return list
		}
	}
	return nil
}

// fold is a column's name without what exports and spreadsheets write differently.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '#' || r == '.' {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// export is what all files say together.
type export struct {
	*Format

	in       convert.Input
	to       convert.Sink
	dates    *dates.Reader
	keys     map[string]diag.Position
	titles   map[string][]string // keys by title
	titled   map[string]string   // title by key
	issues   []*convert.Issue
	comments map[string][]convert.Comment
	counted  map[*convert.Issue]int
	scopes   map[*convert.Issue]string
	groups   map[string]string // of states, by name
	above    []string          // of a tree, the keys down to the last row
	second   bool              // reading
	rows     int
}

// Read reads the files as one export.
func (f *Format) Read(ctx context.Context, in convert.Input, to convert.Sink) error {
	zone := in.Zone
	if f.UTC {
		zone = time.UTC
	}
	e := &export{
		Format: f, in: in, to: to, dates: dates.New(zone, cmp.Or(in.Dates, f.Order)), keys: map[string]diag.Position{}, titles: map[string][]string{}, titled: map[string]string{},
		comments: map[string][]convert.Comment{}, groups: groups(), counted: map[*convert.Issue]int{}, scopes: map[*convert.Issue]string{},
	}
	for _, each := range []func(*Cells) error{e.look, e.row} {
		for _, file := range in.Files {
			if err := e.file(ctx, file, each); err != nil {
				return err
			}
		}
		e.dates.Decide()
		e.second = true
	}
	for _, i := range e.issues {
		i.Comments = append(i.Comments, e.comments[e.scopes[i]+"#"+i.Key]...)
		if missing := e.counted[i] - len(i.Comments); missing > 0 {
			i.Left["comments-not-exported"] = missing
		}
		to.Issue(*i)
	}
	if at := e.dates.Open; !at.IsZero() {
		to.AskDates(at)
	}
	if e.dates.Zoneless && !f.UTC {
		to.AssumedZone()
	}
	if f.Lacks != "" {
		to.Note(convert.Note{Kind: "not-in-the-export", Text: "an export of " + f.Of + " has no " + f.Lacks})
	}
	return nil
}

// Cells are the cells of a row.
type Cells struct {
	At diag.Position

	e *export
	s *sheet
	table.Row
}

// sheet is one file with its columns.
type sheet struct {
	*table.Reader

	name   string
	rows   func(ctx context.Context, each func(table.Row) error) error
	fields map[string][]int
	split  map[int]string
	text   []string         // columns that are kept as a text
	places map[string][]int // of these
}

func (e *export) file(ctx context.Context, f convert.File, each func(*Cells) error) error {
	s, closer, err := e.open(ctx, f)
	if err != nil {
		return err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	skipped, left := 0, map[string]int{}
	err = s.rows(ctx, func(row table.Row) error {
		c := &Cells{At: diag.Position{File: f.Name, Line: row.Line}, e: e, s: s, Row: row}
		if c.One(commentOf) != "" {
			if e.second && !c.private() {
				e.comment(c)
			}
			return nil
		}
		if row.Filled() == 1 && (c.One("key") == "" || len(s.fields["name"]) > 0) { // such as "Generated at ..."
			skipped++
			return nil
		}
		if c.One("key") == "" {
			name := "column"
			if key := s.fields["key"]; len(key) > 0 { // comments have none
				name = s.Header[key[0]]
			}
			return diag.WithHint(fmt.Errorf("%s:%d: the row has no %s, which is the key", f.Name, row.Line, name), "a quotation mark or a separator is missing before, or another column is the key: name it under columns: in the mapping")
		}
		if e.second && c.private() {
			left["confidential; with columns: {"+s.Header[s.fields[private][0]]+": skip} in the mapping they are converted"]++
			return nil
		}
		err := each(c)
		if why, ok := errors.AsType[leftError](err); ok {
			left[string(why)]++
			return nil
		}
		return err
	})
	if err == nil && e.second {
		e.notes(s, skipped, left)
	}
	return err
}

// leftError leaves a row out, and says why.
type leftError string

func (e leftError) Error() string { return string(e) }

// open opens a file and finds its columns.
func (e *export) open(ctx context.Context, f convert.File) (*sheet, io.Closer, error) {
	in, err := f.Open()
	if err != nil {
		return nil, nil, err
	}
	fail := func(err error) (*sheet, io.Closer, error) {
		_ = in.Close()
		return nil, nil, err
	}
	start := make([]byte, 512)
	n, err := io.ReadFull(in, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fail(err)
	}
	_ = in.Close()
	if in, err = f.Open(); err != nil {
		return nil, nil, err
	}
	var r *table.Reader
	var found *names
	if isJSON(start[:n]) {
		if found, err = jsonHeader(ctx, in, f.Name); err != nil {
			return fail(err)
		}
		_ = in.Close()
		if in, err = f.Open(); err != nil {
			return nil, nil, err
		}
		r = &table.Reader{Header: found.list}
	} else if r, err = table.Open(in, f.Name, e.known); err != nil && e.guess != nil {
		_ = in.Close()
		if in, err = f.Open(); err != nil {
			return nil, nil, err
		}
		r, err = table.Open(in, f.Name, func(header []string) bool { return len(header) > 1 }) // whose names say nothing to us
	}
	if err != nil {
		return fail(diag.WithHint(err, cmp.Or(diag.HintOf(err), e.How)))
	}
	s := &sheet{Reader: r, name: f.Name, fields: map[string][]int{}, split: map[int]string{}, places: map[string][]int{}}
	s.rows = func(ctx context.Context, each func(table.Row) error) error {
		if found != nil {
			return found.rows(ctx, in, f.Name, each)
		}
		for {
			row, err := r.Next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err := cmp.Or(err, ctx.Err()); err != nil {
				return err
			}
			if err := each(row); err != nil {
				return err
			}
		}
	}
	e.columns(s)
	if len(r.Header) > 0 && len(s.fields["key"])+len(s.fields[commentOf]) == 0 { // a page may be empty
		return fail(diag.WithHint(fmt.Errorf("%s:1: no column is known as the key, by which an item is found again: the columns are %s", f.Name, strings.Join(r.Header, ", ")),
			"write into the mapping file which it is, such as columns: {"+strconv.Quote(r.Header[0])+": key}; take one that never changes"))
	}
	return s, in, nil
}

// known reports whether a header, read with some separator, is one.
func (e *export) known(header []string) bool {
	return e.recognised(header) != nil || len(e.guessed(header)) > 1 ||
		slices.ContainsFunc(header, func(cell string) bool { _, ok := mapping.Find(e.in.Columns, cell); return ok })
}

// guessed is what the columns of a header hold, as far as their names tell.
func (e *export) guessed(header []string) map[string]string {
	if e.guess != nil {
		return e.guess(header)
	}
	fields := map[string]string{}
	for name, field := range e.Columns {
		fields[fold(name)] = field
	}
	found := map[string]string{}
	for _, cell := range header {
		if field := fields[fold(cell)]; field != "" {
			found[cell] = field
		}
	}
	return found
}

// columns finds out what the columns of a file hold.
func (e *export) columns(s *sheet) {
	guesses := e.guessed(s.Header)
	for field := range single {
		for _, cell := range s.Header { // what somebody decided leaves no room for a guess
			if c, ok := mapping.Find(e.in.Columns, cell); ok && c.Field == field {
				maps.DeleteFunc(guesses, func(_, guess string) bool { return guess == field })
			}
		}
	}
	for i, cell := range s.Header {
		field := guesses[cell]
		if cell == "" {
			continue
		}
		column, told := mapping.Find(e.in.Columns, cell)
		if told {
			field = column.Field
			s.split[i] = column.Split
		}
		if e.guess != nil && !e.second && e.in.Propose != nil {
			e.in.Propose(cell, field)
		}
		switch field {
		case "", "text":
			if field == "" && e.Rest == "skip" {
				continue
			}
			if s.places[cell] == nil {
				s.text = append(s.text, cell)
			}
			s.places[cell] = append(s.places[cell], i)
		case "skip":
		default:
			s.fields[field] = append(s.fields[field], i)
		}
	}
}

// single are the fields that have one value: one column holds them.
//
//nolint:gochecknoglobals // a constant
var single = map[string]bool{"key": true, "name": true, "description": true, "state": true, "priority": true, "type": true, "project": true}

// notes says what is special about a file.
func (e *export) notes(s *sheet, skipped int, left map[string]int) {
	note := func(n int, kind, format string, args ...any) {
		if n > 0 {
			e.to.Note(convert.Note{Kind: kind, Text: s.name + ": " + fmt.Sprintf(format, args...)})
		}
	}
	if rows := s.Rows - skipped; e.Limit > 0 && rows == e.Limit {
		note(1, "limit", "exactly %d rows, which is the limit of an export: export the rest, too", rows)
	}
	note(skipped, "rows-skipped", "%s without a key skipped", diag.Count(skipped, "line"))
	for _, why := range slices.Sorted(maps.Keys(left)) {
		note(left[why], "rows-left-out", "%s left out: %s", diag.Count(left[why], "row"), why)
	}
	note(s.Headers, "headers-skipped", "the header stands in the file %s more: files were pasted together", diag.Count(s.Headers, "time"))
	note(s.Returns, "line-ends", "%s within texts made line feeds", diag.Count(s.Returns, "carriage return"))
}

var (
	guard    = regexp.MustCompile(`^'([-+=@∑√∏<>＜＞≤≥＝≠±÷×])`)
	zero     = regexp.MustCompile(`^0(?:[.,]0+)?$`)
	exponent = regexp.MustCompile(`^\d+(?:[.,]\d+)?[eE]\+?\d+$`)
)

// clean is the value of a cell.
func (c *Cells) clean(text string) string {
	text = table.Trim(text)
	if c.e.Guarded {
		text = guard.ReplaceAllString(text, "$1")
	}
	if slices.Contains(c.e.Empty, text) {
		return ""
	}
	return text
}

// One is the first value that the columns of a field have.
func (c *Cells) One(field string) string {
	for _, i := range c.s.fields[field] {
		for text := range strings.SplitSeq(c.Cell(i), table.Separator) {
			if text = c.clean(text); text != "" {
				return text
			}
		}
	}
	return ""
}

// All are the values of a field, with the empty ones between.
func (c *Cells) All(field string) []string {
	var all []string
	for _, i := range c.s.fields[field] {
		if text := c.clean(c.Cell(i)); text != "" {
			all = append(all, c.list(text, cmp.Or(c.s.split[i], c.e.Lists))...)
		}
	}
	return all
}

// list splits a list. If nothing says by what, line ends and semicolons count before commas.
func (c *Cells) list(text, by string) []string {
	if strings.Contains(text, table.Separator) {
		by = table.Separator
	}
	if by == "" {
		by = ","
		for _, other := range []string{"\n", ";"} {
			if strings.Contains(text, other) {
				by = other
				break
			}
		}
	}
	parts := strings.Split(text, by)
	for i, part := range parts {
		parts[i] = c.clean(part)
	}
	return parts
}

// private reports a row that not everybody may see, or that is no text of people.
func (c *Cells) private() bool {
	return slices.ContainsFunc(c.s.fields[private], func(i int) bool {
		return slices.Contains([]string{"yes", "true"}, strings.ToLower(c.clean(c.Cell(i))))
	})
}

// Values are the values of a field, each once.
func (c *Cells) Values(field string) []string {
	var all []string
	for _, text := range c.All(field) {
		if text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// look takes from a row what is needed to understand others.
func (e *export) look(c *Cells) error {
	key, title := c.One("key"), c.One("name")
	for _, field := range []string{"key", "parent"} {
		if text := c.One(field); exponent.MatchString(text) {
			return diag.WithHint(fmt.Errorf("%s: the %s %s is no whole number any more: a spreadsheet changed it", c.At, field, text), "export again, and do not save the file with a spreadsheet")
		}
	}
	had, known := e.keys[key]
	if known && e.guess != nil && e.titled[key] != title {
		return diag.WithHint(fmt.Errorf("%s: the key %s is that of another item, in line %d of %s", c.At, key, had.Line, had.File), "another column is the key: name it under columns: in the mapping")
	}
	if !known {
		e.keys[key], e.titled[key] = c.At, title
		e.titles[title] = append(e.titles[title], key)
	}
	for _, field := range []string{"created_at", "updated_at", "start_date", "target_date"} {
		e.dates.Look(c.One(field), c.At)
	}
	return nil
}

// row makes an issue of a row.
func (e *export) row(c *Cells) error {
	e.rows++
	key := c.One("key")
	i := &convert.Issue{
		Key: key, Number: number(key, e.rows), Position: c.At, Left: map[string]int{},
		Title: c.One("name"), Text: convert.Text{Markup: e.Markup, Body: c.One("description")},
		State: convert.State{Name: c.One("state"), Category: c.One("group")}, Resolution: c.One("resolution"), Type: c.One("type"), Priority: c.One("priority"),
		Assignees: e.people(c, "assignees", "assignee_names", "assignee_emails"), Components: c.Values("components"), URL: c.One("link"),
		Project: cmp.Or(c.One("project"), c.One("project_name"), e.Kind),
	}
	if reporter := e.people(c, "created_by", "created_by_name", "created_by_email"); len(reporter) > 0 {
		i.Reporter = reporter[0]
	}
	for _, name := range c.Values("labels") {
		i.Labels = append(i.Labels, convert.Label{Name: name})
	}
	for _, name := range c.Values("cycle") {
		i.Sprints = append(i.Sprints, convert.Sprint{Name: name})
	}
	for _, name := range c.Values("versions") {
		due := ""
		if at, ok := e.dates.Moment(c.One(versionDue)); ok {
			due = at.Format(time.DateOnly)
		}
		i.Versions = append(i.Versions, convert.Version{Name: name, Due: due})
	}
	i.State.Category = cmp.Or(i.State.Category, e.Groups[strings.ToLower(i.State.Name)], e.groups[fold(i.State.Name)])
	i.Created, i.Updated = c.Moment("created_at", i), c.Moment("updated_at", i)
	i.Start, i.Due = c.day("start_date", i), c.day("target_date", i)
	if parent := c.One("parent"); parent != "" {
		i.Parent = e.reference(c, parent)
	}
	for _, kind := range []string{"blocking", "blocked_by", "duplicate", "relates_to"} {
		for _, to := range e.references(c, kind) {
			i.Links = append(i.Links, convert.Link{Type: linkName(kind), To: to, Inward: kind == "blocked_by"})
		}
	}
	for _, file := range c.Values("attachments") {
		a := convert.Attachment{Name: file}
		if strings.Contains(file, "://") {
			a = convert.Attachment{Name: file[strings.LastIndexByte(file, '/')+1:], URL: file}
		}
		i.Attachments = append(i.Attachments, a)
	}
	for _, name := range c.s.text {
		if value := c.Text(name); value != "" && (e.guess != nil || !zero.MatchString(value)) {
			i.Fields = append(i.Fields, convert.Field{Name: name, Value: value})
		}
	}
	e.counted[i], _ = strconv.Atoi(c.One(commentCount))
	e.scopes[i] = c.One(scope)
	for n := range c.s.Header {
		if utf8.RuneCountInString(c.Cell(n)) == cutCell {
			e.to.Note(convert.Note{Kind: "cut-cells", Text: "cells of exactly 32,767 characters were cut by a spreadsheet, probably", Item: key})
		}
	}
	if e.Each != nil {
		if why := e.Each(c, i); why != "" {
			return leftError(why)
		}
	}
	e.to.Project(convert.Project{Key: i.Project, Name: cmp.Or(c.One("project_name"), i.Project)})
	e.issues = append(e.issues, i)
	return nil
}

// cutCell is what a spreadsheet cuts a cell to.
const cutCell = 32767

func linkName(kind string) string {
	if strings.HasPrefix(kind, "block") {
		return "blocks"
	}
	return kind
}

var lastNumber = regexp.MustCompile(`([0-9]{1,18})[^0-9]*$`)

// number is the last number in a key, by which items are ordered.
func number(key string, row int) int {
	if m := lastNumber.FindStringSubmatch(key); m != nil {
		row, _ = strconv.Atoi(m[1])
	}
	return row
}

// groups are the groups of states that go by names which many trackers have.
func groups() map[string]string {
	all := map[string]string{}
	for group, names := range map[string]string{
		"backlog":   "icebox idea ideas later triage",
		"unstarted": "new planned ready unstarted notstarted submitted approved accepted selected scheduled reopened opened todo tobedone",
		"started":   "started active doing inreview review testing intesting qa wip feedback indevelopment verification committed",
		"completed": "complete completed finished fixed resolved released shipped verified merged deployed delivered",
		"cancelled": "rejected removed wontfix wontdo duplicate invalid obsolete abandoned",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = group
		}
	}
	return all
}

// Text are the values of a column that is kept as a text.
func (c *Cells) Text(name string) string {
	var values []string
	for _, i := range c.s.places[name] {
		for text := range strings.SplitSeq(c.Cell(i), table.Separator) {
			if text = c.clean(text); text != "" {
				values = append(values, text)
			}
		}
	}
	return strings.Join(values, ", ")
}

// Column is the value of the column of a name.
func (c *Cells) Column(name string) string {
	for i, cell := range c.s.Header {
		if fold(cell) == fold(name) {
			if text := c.clean(c.Cell(i)); text != "" {
				return text
			}
		}
	}
	return ""
}

// Records are the objects of a list: in columns of their own, or as JSON in a cell.
func (c *Cells) Records(name string) []map[string]string {
	var all []map[string]string
	put := func(field, list string) {
		for n, text := range strings.Split(list, table.Separator) {
			if n >= len(all) {
				all = append(all, map[string]string{})
			}
			all[n][fold(field)] = text
		}
	}
	for i, cell := range c.s.Header {
		if field, ok := strings.CutPrefix(fold(cell), fold(name)+"."); ok && c.Cell(i) != "" {
			put(field, c.Cell(i))
		}
	}
	if text := c.Column(name); strings.HasPrefix(text, "[{") {
		var values []value
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := member(d, name, &values); err == nil {
			for _, v := range values {
				put(strings.TrimPrefix(v.name, name+"."), v.text)
			}
		}
	}
	return slices.DeleteFunc(all, func(r map[string]string) bool {
		return !slices.ContainsFunc(slices.Collect(maps.Values(r)), func(text string) bool { return text != "" })
	})
}

// Moment is the time in a field.
func (c *Cells) Moment(field string, i *convert.Issue) time.Time {
	text := c.One(field)
	at, ok := c.e.dates.Moment(text)
	if !ok && text != "" {
		i.Left["dates-not-understood"]++
	}
	return at
}

// Date reads a time.
func (c *Cells) Date(text string) time.Time {
	at, _ := c.e.dates.Moment(text)
	return at
}

// day is a calendar date, which no zone shifts.
func (c *Cells) day(field string, i *convert.Issue) string {
	if at := c.Moment(field, i); !at.IsZero() {
		return at.Format(time.DateOnly)
	}
	return ""
}

var (
	nameAndMail = regexp.MustCompile(`^(.*?)\s*<([^<>@\s]+@[^<>@\s]+)>$`)
	isMail      = regexp.MustCompile(`^[^<>@\s]+@[^<>@\s]+\.[^<>@\s]+$`)
)

// people notes the people of a row, and says by what they are known.
func (e *export) people(c *Cells, ids, names, emails string) []string {
	id, name, email := c.All(ids), c.All(names), c.All(emails)
	at := func(list []string, n int) string {
		if n < len(list) {
			return list[n]
		}
		return ""
	}
	var all []string
	for n := range max(len(id), len(name), len(email)) {
		if one := c.Person(at(id, n), at(name, n), at(email, n)); one != "" && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// Person notes somebody, and says by what they are known: the ID, else the e-mail address, else the name.
func (c *Cells) Person(id, name, email string) string {
	for _, text := range []string{id, name} {
		if m := nameAndMail.FindStringSubmatch(text); m != nil {
			id, name, email = m[2], m[1], m[2]
		}
	}
	if isMail.MatchString(id) {
		email = cmp.Or(email, id)
	}
	key := cmp.Or(id, email, name)
	if nobody := []string{"", "unassigned", "none", "null", "nobody", "n/a", "-"}; slices.Contains(nobody, strings.ToLower(key)) {
		return ""
	}
	if key == name {
		name = ""
	}
	c.e.to.Person(convert.Person{ID: key, Name: name, Email: email})
	return key
}

// reference is the key that a text means: one of a key, or of a title that one item alone has.
func (e *export) reference(c *Cells, text string) string {
	key, _ := e.resolve(text)
	if same := e.titles[text]; len(same) > 1 && key == text {
		e.to.Note(convert.Note{Kind: "ambiguous-titles", Text: "titles of several items, by which another item names one of these: which one is not known", Item: c.One("key")})
	}
	return key
}

func (e *export) resolve(text string) (key string, ok bool) {
	for _, key := range []string{text, strings.TrimPrefix(text, "#")} {
		if _, ok := e.keys[key]; ok {
			return key, true
		}
	}
	if same := e.titles[text]; len(same) == 1 {
		return same[0], true
	}
	return text, false
}

// references are the keys that a list means. A title may hold what separates the list.
func (e *export) references(c *Cells, field string) []string {
	var keys []string
	for _, i := range c.s.fields[field] {
		text := c.clean(c.Cell(i))
		if text == "" {
			continue
		}
		by := cmp.Or(c.s.split[i], c.e.Lists, ",")
		parts := c.list(text, c.s.split[i])
		for from := 0; from < len(parts); {
			to := min(len(parts), from+10)
			for ; to > from+1; to-- {
				if _, ok := e.resolve(strings.Join(parts[from:to], by+" ")); ok {
					break
				}
			}
			if text := strings.Join(parts[from:to], by+" "); text != "" {
				keys = append(keys, e.reference(c, text))
			}
			from = to
		}
	}
	return keys
}

// comment takes a row that is a comment.
func (e *export) comment(c *Cells) {
	of := c.One(scope) + "#" + c.One(commentOf)
	one := convert.Comment{ID: c.One(commentID), At: c.Date(c.One("created_at")), Text: convert.Text{Markup: e.Markup, Body: c.One(commentText)}}
	if author := e.people(c, "created_by", "created_by_name", "created_by_email"); len(author) > 0 {
		one.Author = author[0]
	}
	if n := slices.IndexFunc(e.comments[of], func(had convert.Comment) bool { return had.ID == one.ID && one.ID != "" }); n >= 0 {
		e.comments[of][n] = one // pages overlap
		return
	}
	e.comments[of] = append(e.comments[of], one)
}
