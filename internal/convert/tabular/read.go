package tabular

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/table"
)

type export struct {
	*layout

	in       convert.Input
	to       convert.Sink
	dates    *dates.Reader
	keys     map[string]first
	ids      map[string]string   // keys by internal ID
	titles   map[string][]string // keys by title
	issues   []*convert.Issue
	comments convert.Comments
	apart    convert.Apart // values of comments
	counted  map[*convert.Issue]int
	scopes   map[*convert.Issue]string
	words    *words.Words
	above    []string // keys of the last row and its ancestors in a tree
	second   bool     // the files are read for the second time
	rows     int
	foreign  error // from Rules.Header, for a header that cannot be read
}

// first is the first row with a key.
type first struct {
	at    diag.Position
	title string
	row   uint64 // a digest of its cells
}

func (l *layout) read(ctx context.Context, in convert.Input, to convert.Sink) error {
	zone := in.Zone
	if l.settings.Word("utc") != "" {
		zone = time.UTC
	}
	e := &export{
		layout: l, in: in, to: to, dates: dates.New(zone, cmp.Or(in.Dates, l.settings.Word("order"))), keys: map[string]first{}, ids: map[string]string{},
		titles:   map[string][]string{},
		comments: convert.Comments{}, apart: convert.Apart{}, words: words.Of(l.name), counted: map[*convert.Issue]int{}, scopes: map[*convert.Issue]string{},
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
	if l.Finish != nil {
		l.Finish(e.issues, to)
	}
	there := map[string]bool{}
	for n, i := range e.issues {
		at := e.scopes[i] + "#" + i.Key
		there[at] = true
		e.issues[n] = nil // the sink keeps it
		to.Recall(i)
		i.Discuss(append(i.Comments, e.comments[at]...), e.counted[i])
		if l.Complete != nil {
			l.Complete(i)
		}
		e.apart.Join(i, at)
		to.Issue(i)
	}
	e.comments.Close(to, func(issue string) bool { return there[issue] })
	e.apart.Close(to)
	if at := e.dates.Open; !at.IsZero() {
		to.AskDates(at)
	}
	if e.dates.Zoneless && l.settings.Word("utc") == "" {
		to.AssumedZone()
	}
	if lacks := l.settings.Word("lacks"); lacks != "" {
		to.Note("not-in-the-export", "an export of "+l.settings.Word("tracker")+" has no "+lacks)
	}
	return nil
}

// file reads one file, and calls each for its rows except comments and notes of the tracker.
func (e *export) file(ctx context.Context, f convert.File, each func(*Cells) error) error {
	var start []byte
	if err := f.Read(func(in io.Reader) (err error) { start, err = io.ReadAll(io.LimitReader(in, 512)); return err }); err != nil {
		return err
	}
	read := e.readTable
	if records.Begin(start) {
		read = e.readJSON
	} else if e.shape != nil {
		read = e.readShaped
	}
	s, err := read(ctx, f, each)
	if err == nil && e.second {
		e.notes(s)
	}
	return err
}

// readTable reads a file of CSV. In a table of no tracker, any names may be those of columns if none is known.
func (e *export) readTable(ctx context.Context, f convert.File, each func(*Cells) error) (s *sheet, err error) {
	read := func(known func(header []string) bool) error {
		return f.Read(func(in io.Reader) error {
			r, err := table.Open(in, f.Name, known)
			if err != nil && e.foreign != nil {
				return diag.WithHint(fmt.Errorf("%s:1: %w", f.Name, e.foreign), diag.HintOf(e.foreign))
			}
			if err != nil {
				return e.explain(err)
			}
			if s, err = e.newSheet(f.Name, r); err != nil {
				return err
			}
			for {
				row, err := r.Next()
				if errors.Is(err, io.EOF) {
					return nil
				}
				if err := cmp.Or(err, ctx.Err()); err != nil {
					return err
				}
				if err := e.cells(s, row, each); err != nil {
					return err
				}
			}
		})
	}
	if err = read(e.known); err != nil && s == nil && e.anyTable {
		err = read(func(header []string) bool {
			return len(slices.DeleteFunc(slices.Clone(header), func(cell string) bool { return cell == "" })) > 1
		})
	}
	return s, err
}

// explain adds how to export to an error about a file that is no table of the tracker.
func (e *export) explain(err error) error {
	return diag.WithHint(err, cmp.Or(diag.HintOf(err), e.settings.Word("how")))
}

// readShaped reads a file that the layout turns into a table.
func (e *export) readShaped(ctx context.Context, f convert.File, each func(*Cells) error) (s *sheet, err error) {
	err = f.Read(func(in io.Reader) error {
		names, rows, err := e.shape(in, f.Name)
		if err != nil {
			return e.explain(err)
		}
		if s, err = e.newSheet(f.Name, &table.Reader{Header: names.list, Rows: len(rows)}); err != nil {
			return err
		}
		for _, row := range rows {
			if err := cmp.Or(ctx.Err(), e.cells(s, row, each)); err != nil {
				return err
			}
		}
		return nil
	})
	return s, err
}

// cells calls each for a row, unless it is a comment or a note of the tracker.
func (e *export) cells(s *sheet, row table.Row, each func(*Cells) error) error {
	c := &Cells{At: diag.Position{File: s.name, Line: row.Line}, e: e, s: s, Row: row}
	key := c.One("key")
	switch {
	case c.One("comment_of") != "":
		if e.second && c.yes("private") { // or a note by the tracker itself
			e.leave(c)
		} else if e.second {
			e.comment(c)
		}
		return nil
	case row.Filled() == 1 && (key == "" || len(s.fields["name"]) > 0): // such as "Generated at ..."
		if s.skipped++; e.second {
			e.leave(c)
		}
		if key != "" {
			s.bare = append(s.bare, strconv.Quote(diag.Truncate(key, 40)))
		}
		return nil
	case key == "":
		name := "column"
		if key := s.fields["key"]; len(key) > 0 { // comments have none
			name = s.Header[key[0]]
		}
		return diag.WithHint(fmt.Errorf("%s:%d: the row has no %s, which is the key", s.name, row.Line, name),
			"a quotation mark or a separator is missing before, or another column is the key: name it under columns: in the mapping")
	case e.Key != nil && !e.Key.MatchString(key):
		return diag.WithHint(fmt.Errorf("%s: %q is no issue key", c.At, diag.Truncate(key, 40)),
			"a quotation mark or a separator is missing before, or a spreadsheet changed the file: export it again")
	}
	return each(c)
}

// leave books the values of a row that is left out; a remark counts such rows.
func (e *export) leave(c *Cells) {
	for name, text := range c.values {
		e.to.Hold(nil, convert.Leaf{Name: "rows left out: " + name, Text: text}, convert.Technical, 1)
	}
}

func (e *export) notes(s *sheet) {
	note := func(n int, kind, format string, args ...any) {
		if n > 0 {
			e.to.Note(kind, s.name+": "+fmt.Sprintf(format, args...))
		}
	}
	rows := s.Rows - s.skipped
	if e.Notes != nil {
		e.Notes(s.Header, rows, func(kind, text string) { note(1, kind, "%s", text) })
	}
	if strconv.Itoa(rows) == e.settings.Word("limit") {
		note(1, "limit", "exactly %d rows, which is the limit of an export: export the rest, too", rows)
	}
	note(s.skipped-len(s.bare), "rows-skipped", "%s without a key skipped", diag.Count(s.skipped-len(s.bare), "line"))
	note(len(s.bare), "rows-skipped", "%s with nothing but the key skipped: %s", diag.Count(len(s.bare), "line"), diag.First(s.bare, 5))
	for _, why := range slices.Sorted(maps.Keys(s.left)) {
		note(s.left[why], "rows-left-out", "%s left out: %s", diag.Count(s.left[why], "row"), why)
	}
	note(s.Headers, "headers-skipped", "the header stands in the file %s more: files were pasted together", diag.Count(s.Headers, "time"))
	note(s.Returns, "line-ends", "%s within texts made line feeds", diag.Count(s.Returns, "carriage return"))
}
