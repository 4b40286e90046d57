// Package table reads CSV as trackers and spreadsheets really write it.
//
// Columns are addressed by position, because names repeat. The separator is chosen so that the header contains the names that the
// caller expects. Short rows are filled with empty cells. Empty lines, and header lines of further files that were pasted below, are
// skipped. Lines end in LF, CRLF or CR, also within cells. Errors name file and line.
// The package must not know any tracker, or the use of a row.
package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/planform/planform/internal/text/diag"
)

// Reader reads the rows of a file.
type Reader struct {
	Header  []string // trimmed
	Rows    int      // read so far
	Headers int      // skipped lines that repeat the header
	Returns int      // carriage returns within cells, replaced by line feeds

	name  string
	csv   *csv.Reader
	lines *lines
	short bool // a row had fewer cells than the header
	place func(line int) int
}

// Separator separates the values of a list in a cell if the source has separate values.
const Separator = "\x1e"

// maxHeader is the maximum size of a header line: 2,300 columns of a real file take 60 KB.
const maxHeader = 1 << 20

// maxRow is the maximum size of a row.
const maxRow = 16 << 20

// Open reads the header. known reports whether a header belongs to the expected format, and was split at the right separator.
func Open(in io.Reader, name string, known func(header []string) bool) (*Reader, error) {
	l := &lines{name: name, in: bufio.NewReaderSize(in, 64<<10)}
	head, err := l.peekHeader()
	if err != nil {
		return nil, err
	}
	start := headerStart(head)
	for _, at := range []int{0, start} {
		line := head[at : at+lineEnd(head[at:])]
		if len(line) == maxHeader {
			return nil, fmt.Errorf("%s:1: the header is larger than 1 MiB", name)
		}
		for separator, header := range splitHeader(line, separators(head)) {
			if !known(header) {
				continue
			}
			above := bytes.Count(bytes.ReplaceAll(head[:at], []byte("\r\n"), []byte("\n")), []byte("\n"))
			_, _ = l.in.Discard(at) // the header is in the buffer
			l.line, l.row = above, above
			r := &Reader{Header: header, name: name, lines: l, csv: csv.NewReader(l)}
			r.csv.Comma, r.csv.FieldsPerRecord = separator, -1
			r.place = func(line int) int { return line + above }
			if sheet, ok := in.(interface{ Row(line int) int }); ok { // the rows of a spreadsheet have their own numbers
				r.place = func(line int) int { return sheet.Row(line + above) }
			}
			_, err = r.csv.Read()
			return r, r.explain(err)
		}
	}
	return nil, fmt.Errorf("%s:1: the header has none of the expected columns", name)
}

// lineEnd returns the end of the first line, whose quoted cells may contain line ends.
func lineEnd(head []byte) int {
	quoted := false
	for i, b := range head {
		switch {
		case b == '"':
			quoted = !quoted
		case (b == '\n' || b == '\r') && !quoted:
			return i
		}
	}
	if i := bytes.IndexAny(head, "\r\n"); i >= 0 { // the quotation has no end
		return i
	}
	return len(head)
}

// headerStart returns where the header begins after empty lines, a line such as sep=; and titles: at the first line with several cells. It
// returns 0 if there is none.
func headerStart(head []byte) int {
	const titles = 10
	at, by := 0, separators(head)
	for range titles {
		end := at + lineEnd(head[at:])
		if bytes.Contains(head[at:end], []byte("://")) { // an address is not a title
			break
		}
		for _, header := range splitHeader(head[at:end], by) {
			if len(slices.DeleteFunc(slices.Clone(header), func(cell string) bool { return cell == "" })) > 1 {
				return at
			}
		}
		if at = end + len("\n"); at < len(head) && head[end] == '\r' && head[at] == '\n' {
			at++
		}
		if at >= len(head) {
			break
		}
	}
	return 0
}

// separators returns the possible separators: those that all exports use, and the one in a first line such as sep=|.
func separators(head []byte) string {
	if at, ok := bytes.CutPrefix(bytes.TrimLeft(head, "\""), []byte("sep=")); ok && len(at) > 0 && strings.ContainsRune("|:^~", rune(at[0])) {
		return ",;\t" + string(at[0])
	}
	return ",;\t"
}

// splitHeader yields the header that a line gives for each separator.
func splitHeader(line []byte, separators string) iter.Seq2[rune, []string] {
	return func(yield func(rune, []string) bool) {
		for _, separator := range separators {
			c := csv.NewReader(bytes.NewReader(line))
			c.Comma, c.LazyQuotes = separator, true
			header, err := c.Read()
			for i, cell := range header {
				header[i] = diag.OneLine(cell)
			}
			if err == nil && !yield(separator, header) {
				return
			}
		}
	}
}

// Headers returns the headers that the beginning of a file gives for each possible separator.
func Headers(head []byte) [][]string {
	by := separators(head)
	head = head[headerStart(head):]
	head = head[:lineEnd(head)]
	var all [][]string
	for _, header := range splitHeader(head[:min(len(head), maxHeader-1)], by) {
		all = append(all, header)
	}
	return all
}

var guarded = regexp.MustCompile(`^'([-+=@∑√∏<>＜＞≤≥＝≠±÷×])`)

// Unguard removes the apostrophe that some trackers put before a text that a spreadsheet would take for a formula.
func Unguard(cell string) string { return guarded.ReplaceAllString(cell, "$1") }

// Columns returns the indices of the columns with one of the names, in any case.
func (r *Reader) Columns(names ...string) []int {
	var list []int
	for i, cell := range r.Header {
		if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, cell) }) {
			list = append(list, i)
		}
	}
	return list
}

// Row is one row of a file.
type Row struct {
	Line  int // the line on which it begins
	cells []string
}

// NewRow returns a row from cells that another reader read.
func NewRow(line int, cells []string) Row { return Row{line, cells} }

// Cell returns a cell. Missing cells are empty, including column -1.
func (rw Row) Cell(i int) string {
	if i < 0 || i >= len(rw.cells) {
		return ""
	}
	return rw.cells[i]
}

// maxCell is the length to which a spreadsheet truncates a cell.
const maxCell = 32767

// Cut reports whether a spreadsheet has probably truncated a cell.
func (rw Row) Cut() bool {
	return slices.ContainsFunc(rw.cells, func(cell string) bool { return len(cell) >= maxCell && utf8.RuneCountInString(cell) == maxCell })
}

// Filled returns the number of cells that are not empty.
func (rw Row) Filled() int {
	n := 0
	for _, cell := range rw.cells {
		if strings.TrimSpace(cell) != "" {
			n++
		}
	}
	return n
}

// Next returns the next row, or [io.EOF].
func (r *Reader) Next() (Row, error) {
	for {
		cells, err := r.csv.Read()
		r.Returns = r.lines.returns
		if err != nil {
			return Row{}, r.explain(err)
		}
		line, _ := r.csv.FieldPos(0)
		line = r.place(line)
		row := Row{line, cells}
		if row.Filled() == 0 {
			continue
		}
		if row.Filled() > 1 && r.repeatsHeader(cells) {
			r.Headers++
			continue
		}
		for i := len(r.Header); i < len(cells); i++ {
			if strings.TrimSpace(cells[i]) != "" {
				return Row{}, diag.WithHint(fmt.Errorf("%s:%d: the row has %d cells, the header %d", r.name, line, len(cells), len(r.Header)),
					"a cell that holds "+strconv.QuoteRune(r.csv.Comma)+" stands between quotation marks; or one of these is missing before")
			}
		}
		if len(cells) < len(r.Header) {
			// A spreadsheet may save every row like this; a single such row at the very end means that the file was cut off. If it is the
			// only row, at least half of its cells must be missing.
			if !r.short && (r.Rows > 0 || 2*len(cells) < len(r.Header)) && r.lines.ended && !r.lines.newline && row.Filled() > 1 {
				return Row{}, damaged(fmt.Errorf("%s:%d: the file ends within this row, which has %d of %d cells", r.name, line, len(cells),
					len(r.Header)))
			}
			r.short = true
		}
		r.Rows++
		return row, nil
	}
}

func damaged(err error) error {
	return diag.WithHint(err, "the file is cut off: export or copy it again")
}

func (r *Reader) repeatsHeader(cells []string) bool {
	return len(cells) >= len(r.Header) && slices.EqualFunc(r.Header, cells[:len(r.Header)],
		func(a, b string) bool { return strings.EqualFold(a, diag.OneLine(b)) })
}

func (r *Reader) explain(err error) error {
	bad, ok := errors.AsType[*csv.ParseError](err)
	switch {
	case !ok:
		return err
	case r.lines.ended && r.lines.quoted && errors.Is(bad.Err, csv.ErrQuote):
		return damaged(fmt.Errorf("%s:%d: a quotation that begins in this row has no end", r.name, r.place(bad.StartLine)))
	default:
		return diag.WithHint(fmt.Errorf("%s:%d:%d: a quotation mark stands where none may be", r.name, r.place(bad.Line), bad.Column),
			"the row begins on line "+strconv.Itoa(r.place(bad.StartLine))+"; within a cell each quotation mark is written twice")
	}
}

// peekHeader returns at least the first line, up to its maximum size, without consuming it.
func (l *lines) peekHeader() ([]byte, error) {
	head, err := l.in.Peek(l.in.Size())
	if err == nil && !bytes.ContainsAny(head, "\r\n") {
		head = make([]byte, maxHeader)
		var n int
		n, err = io.ReadFull(l.in, head)
		head = head[:n]
		l.in = bufio.NewReader(io.MultiReader(bytes.NewReader(head), l.in))
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if len(bytes.TrimSpace(head)) == 0 {
		return nil, diag.WithHint(fmt.Errorf("%s: the file is empty", l.name), "export it again")
	}
	return head, nil
}

// lines is a reader that replaces every line end by a line feed.
type lines struct {
	name    string
	in      *bufio.Reader
	line    int // number of line ends so far
	row     int // number of line ends before the row
	quoted  bool
	length  int  // bytes of the row so far
	newline bool // the last character was a line feed
	ended   bool
	returns int
}

func (l *lines) Read(p []byte) (n int, err error) {
	for n < len(p) {
		b, err := l.in.ReadByte()
		if err != nil {
			l.ended = true
			return n, err
		}
		switch b {
		case '"':
			l.quoted = !l.quoted
		case '\r':
			if l.quoted {
				l.returns++
			}
			if next, _ := l.in.Peek(1); len(next) == 1 && next[0] == '\n' {
				continue
			}
			b = '\n'
		}
		l.newline = b == '\n'
		if l.newline {
			l.line++
		}
		if l.length++; l.newline && !l.quoted {
			l.row, l.length = l.line, 0
		}
		if l.length > maxRow {
			return n, diag.WithHint(fmt.Errorf("%s:%d: the row that begins here is larger than 16 MiB", l.name, 1+l.row),
				"a quotation mark is missing here, probably: export the file again")
		}
		p[n] = b
		n++
	}
	return n, nil
}
