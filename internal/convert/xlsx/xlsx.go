// Package xlsx reads the visible sheets of a spreadsheet (Office Open XML), each as CSV.
//
// Cells are written as people would type them into a table: dates as 2006-01-02 15:04:05, numbers without exponents as far as they
// are exact, formulas as their last result. Rows that a filter hides are read. The unpacked size is bounded, and a
// file with a DOCTYPE is refused: XML entities are never expanded.
// The package must not know any tracker.
package xlsx

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/text/diag"
)

// Limits in bytes: for the packed file, and for the unpacked parts or the CSV.
const (
	MaxFile = 256 << 20
	maxText = 128 << 20
)

// Errors for a zip archive that is no spreadsheet, and for a spreadsheet without a table.
var (
	ErrOther = errors.New("a zip archive without a workbook")
	ErrEmpty = errors.New("no visible sheet of the workbook has cells")
)

// Sheet is a sheet as CSV.
type Sheet struct {
	Name   string
	Text   []byte
	Remark string // warnings for the user

	lines, rows []int // where rows begin in the text, and their numbers in the sheet
}

// Open returns a reader of the text.
func (s *Sheet) Open() io.Reader { return &text{bytes.NewReader(s.Text), s} }

type text struct {
	*bytes.Reader

	sheet *Sheet
}

// Row returns the row of the sheet that a line of the text belongs to.
func (t *text) Row(line int) int {
	i := sort.SearchInts(t.sheet.lines, line+1) - 1
	if i < 0 {
		return line
	}
	return t.sheet.rows[i]
}

type book struct {
	name   string
	parts  map[string]*zip.File
	left   int64 // bytes that may still be unpacked
	shared []string
	shows  map[int]byte // by style: d = a date, t = a time or a duration, else a number
	epoch  time.Time

	unseen []string // hidden sheets
	wrong  int      // cells of the sheet with an error
}

// Read returns the visible sheets of a workbook that have cells, or ErrEmpty if there are none.
func Read(data []byte, name string) ([]*Sheet, error) {
	b := &book{name: name, parts: map[string]*zip.File{}, shows: map[int]byte{}, left: maxText, epoch: time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)}
	if len(data) > MaxFile {
		return nil, fmt.Errorf("%s: the archive is larger than %d MiB", name, MaxFile>>20)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, diag.WithHint(fmt.Errorf("%s: the archive cannot be read: %w", name, err),
			"the file is cut off or damaged: export or copy it again")
	}
	for _, f := range z.File {
		b.parts[f.Name] = f
	}
	if b.parts["xl/workbook.xml"] == nil {
		return nil, ErrOther
	}
	sheets, err := b.workbook()
	if err != nil {
		return nil, err
	}
	for part, read := range map[string]func(string) error{"xl/sharedStrings.xml": b.strings, "xl/styles.xml": b.styles} {
		if b.parts[part] != nil {
			if err := read(part); err != nil {
				return nil, err
			}
		}
	}
	var all []*Sheet
	for n, entry := range sheets {
		if n > 0 && b.parts[entry.part] == nil { // a sheet that the workbook names and does not hold
			continue
		}
		s, err := b.sheet(entry)
		if err != nil {
			return nil, err
		}
		if len(s.Text) > 0 {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return nil, diag.WithHint(fmt.Errorf("%s: %w", name, ErrEmpty), "show the sheet with the table, and save the workbook")
	}
	if len(b.unseen) > 0 {
		all[0].note("hidden sheets are not read: " + strings.Join(b.unseen, ", "))
	}
	switch notes, err := b.notes(); {
	case err != nil: // the cells were read
		all[0].note("notes on cells cannot be read")
	case notes > 0:
		all[0].note("notes on cells are not read: " + strconv.Itoa(notes))
	}
	return all, nil
}

// notes counts the notes on cells. A conversation about a cell is a note, too.
func (b *book) notes() (n int, err error) {
	for name := range b.parts {
		if strings.HasPrefix(name, "xl/comments") {
			err = cmp.Or(err, b.part(name, func(_ *xml.Decoder, e xml.StartElement) error {
				if e.Name.Local == "comment" {
					n++
				}
				return nil
			}))
		}
	}
	return n, err
}

// note adds a warning to the remark on the sheet.
func (s *Sheet) note(text string) { s.Remark = strings.TrimPrefix(s.Remark+"; "+text, "; ") }

// part calls each for the elements of a part. each may read the contents of its element from d; else these elements are visited next.
func (b *book) part(name string, each func(d *xml.Decoder, e xml.StartElement) error) error {
	f := b.parts[name]
	if f == nil {
		return fmt.Errorf("%s: the workbook has no %s", b.name, name)
	}
	if f.UncompressedSize64 > maxText { // the true size is checked during the reading
		return diag.WithHint(fmt.Errorf("%s: %s: %w", b.name, name, errLarge), "delete rows and sheets that do not belong to the table, or export as CSV")
	}
	in, err := f.Open()
	if err != nil {
		return fmt.Errorf("%s: %s: %w", b.name, name, err)
	}
	defer in.Close() //nolint:errcheck // it was only read
	d := xml.NewDecoder(&bounded{in, b})
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		line, _ := d.InputPos()
		switch t := token.(type) {
		case xml.Directive:
			if bytes.HasPrefix(t, []byte("DOCTYPE")) {
				err = diag.WithHint(errors.New("it has a DOCTYPE, which no spreadsheet needs"), "save the file again with a spreadsheet program")
			}
		case xml.StartElement:
			err = each(d, t)
		}
		if err != nil {
			if errors.Is(err, errLarge) {
				return diag.WithHint(fmt.Errorf("%s: %s: %w", b.name, name, err), "delete rows and sheets that do not belong to the table, or export as CSV")
			}
			return diag.WithHint(fmt.Errorf("%s: %s:%d: %w", b.name, name, line, err),
				cmp.Or(diag.HintOf(err), "the file is damaged: export it again"))
		}
	}
}

var errLarge = fmt.Errorf("more than %d MiB unpacked", maxText>>20)

// bounded is a reader that stops with an error if the workbook unpacks to too many bytes.
type bounded struct {
	in io.Reader
	b  *book
}

func (r *bounded) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if r.b.left -= int64(n); r.b.left < 0 {
		return 0, errLarge
	}
	return n, err
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

type entry struct{ name, id, part string }

// workbook returns the visible sheets.
func (b *book) workbook() (sheets []entry, err error) {
	err = b.part("xl/workbook.xml", func(_ *xml.Decoder, e xml.StartElement) error {
		switch e.Name.Local {
		case "workbookPr":
			if v := attribute(e, "date1904"); v == "1" || v == "true" {
				b.epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
			}
		case "sheet":
			if state := attribute(e, "state"); state == "" || state == "visible" {
				sheets = append(sheets, entry{name: attribute(e, "name"), id: attribute(e, "id")})
			} else {
				b.unseen = append(b.unseen, attribute(e, "name"))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	targets := map[string]string{}
	err = b.part("xl/_rels/workbook.xml.rels", func(_ *xml.Decoder, e xml.StartElement) error {
		targets[attribute(e, "Id")] = attribute(e, "Target")
		return nil
	})
	for n, s := range sheets {
		target := targets[s.id]
		if !strings.HasPrefix(target, "/") {
			target = path.Join("xl", target)
		}
		sheets[n].part = strings.TrimPrefix(target, "/")
	}
	return sheets, err
}

// words is a text: the element t, or the elements t of rich text, without phonetic texts.
type words struct {
	Plain runs `xml:"t"`
	Rich  runs `xml:"r>t"`
}

func (w *words) String() string { return unescape(string(w.Plain) + string(w.Rich)) }

// runs holds the joined pieces of a text. A text may have very many pieces.
type runs []byte

// UnmarshalXML appends a piece.
func (rn *runs) UnmarshalXML(d *xml.Decoder, e xml.StartElement) error {
	var piece string
	err := d.DecodeElement(&piece, &e)
	*rn = append(*rn, piece...)
	return err
}

var escaped = regexp.MustCompile(`_x([0-9A-Fa-f]{4})_`)

// unescape replaces the codes that the format uses for characters that XML cannot hold.
func unescape(text string) string {
	return escaped.ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.ParseUint(s[2:6], 16, 16)
		if r := rune(n); r == '\n' || r == '\t' || r == '_' {
			return string(r)
		}
		return ""
	})
}

func (b *book) strings(part string) error {
	return b.part(part, func(d *xml.Decoder, e xml.StartElement) error {
		if e.Name.Local != "si" {
			return nil
		}
		var text words
		err := d.DecodeElement(&text, &e)
		b.shared = append(b.shared, text.String())
		return err
	})
}

var notCode = regexp.MustCompile(`"[^"]*"|\[[^\]]*\]|\\.|_.`)

// styles records for each style whether it shows dates or times.
func (b *book) styles(part string) error {
	custom, cells := map[int]byte{18: 't', 19: 't', 20: 't', 21: 't', 45: 't', 46: 't', 47: 't'}, false
	return b.part(part, func(_ *xml.Decoder, e xml.StartElement) error {
		switch e.Name.Local {
		case "numFmt":
			id, _ := strconv.Atoi(attribute(e, "numFmtId"))
			code := notCode.ReplaceAllString(strings.ToLower(attribute(e, "formatCode")), "")
			isTime := strings.ContainsAny(code, "hs") || code == ":mm" // of [h]:mm
			if strings.ContainsAny(code, "yd") || !isTime && strings.Contains(code, "mm") {
				custom[id] = 'd'
			} else if isTime {
				custom[id] = 't'
			}
		case "cellXfs", "cellStyleXfs", "cellStyles":
			cells = e.Name.Local == "cellXfs"
		case "xf":
			if !cells {
				return nil
			}
			id, _ := strconv.Atoi(attribute(e, "numFmtId"))
			if custom[id] == 0 && (id >= 14 && id <= 22 || id >= 27 && id <= 36 || id >= 50 && id <= 58) {
				custom[id] = 'd'
			}
			b.shows[len(b.shows)] = custom[id]
		}
		return nil
	})
}

func (b *book) sheet(of entry) (*Sheet, error) {
	s := &Sheet{Name: of.name}
	b.wrong = 0
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	line, number, size := 1, 0, 0
	var cells []string // of the row
	write := func() {
		if len(cells) == 0 {
			return
		}
		s.lines, s.rows = append(s.lines, line), append(s.rows, number)
		for _, cell := range cells {
			line += strings.Count(cell, "\n")
		}
		line++
		if len(cells) == 1 { // a line that is not empty, whatever the cell holds
			cells = append(cells, "")
		}
		_ = w.Write(cells) // a buffer takes everything
		w.Flush()
		cells, size = cells[:0], 0
	}
	var merged, hidden, links, pictures int
	err := b.part(of.part, func(d *xml.Decoder, e xml.StartElement) error {
		switch e.Name.Local {
		case "mergeCell":
			merged++
		case "hyperlink":
			links++
		case "drawing":
			pictures++
		case "row":
			write()
			number++
			if n, err := strconv.Atoi(attribute(e, "r")); err == nil && n > number {
				number = n
			}
			if v := attribute(e, "hidden"); v == "1" || v == "true" {
				hidden++
			}
		case "c":
			at, err := column(attribute(e, "r"), len(cells))
			if err != nil {
				return err
			}
			text, err := b.cell(d, e)
			if err != nil {
				return fmt.Errorf("the cell %s: %w", attribute(e, "r"), err)
			}
			if text == "" {
				return nil
			}
			if size += len(text); out.Len()+size > maxText {
				return errLarge
			}
			if at >= len(cells) {
				cells = append(cells, slices.Repeat([]string{""}, at+1-len(cells))...)
			}
			cells[at] = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
		}
		return nil
	})
	write()
	s.Text = out.Bytes()
	for _, remark := range []struct {
		n    int
		text string
	}{{hidden, "hidden rows are read, too"}, {merged, "of merged cells only the first has the value"}, {links, "the targets of links in cells are not read"}, {b.wrong, "cells with an error, such as #REF!, are empty"}, {pictures, "pictures and charts are not read"}} {
		if remark.n > 0 {
			s.note(remark.text + ": " + strconv.Itoa(remark.n))
		}
	}
	return s, err
}

// column returns the index of the column that a reference such as AB12 names. Without a reference, it returns next.
func column(reference string, next int) (int, error) {
	const most = 16384
	n := 0
	for _, r := range reference {
		if r < 'A' || r > 'Z' || n > most {
			break
		}
		n = n*26 + int(r-'A') + 1
	}
	switch {
	case reference == "":
		return next, nil
	case n == 0 || n > most:
		return 0, fmt.Errorf("there is no cell %q in a spreadsheet", diag.Truncate(reference, 20))
	}
	return n - 1, nil
}

func (b *book) cell(d *xml.Decoder, e xml.StartElement) (string, error) {
	var cell struct {
		Kind   string  `xml:"t,attr"`
		Style  string  `xml:"s,attr"`
		Stored *string `xml:"v"`
		Value  string  `xml:"-"`
		Inline words   `xml:"is"`

		Formula *struct{} `xml:"f"`
	}
	if err := d.DecodeElement(&cell, &e); err != nil {
		return "", err
	}
	switch {
	case cell.Stored != nil:
		cell.Value = *cell.Stored
	case cell.Formula != nil:
		return "", diag.WithHint(errors.New("it has a formula, and no value of it"), "open the workbook in a spreadsheet, and save it")
	}
	switch cell.Kind {
	case "inlineStr":
		return cell.Inline.String(), nil
	case "s":
		i, err := strconv.Atoi(cell.Value)
		if err != nil || i < 0 || i >= len(b.shared) {
			return "", fmt.Errorf("there is no text number %q", diag.Truncate(cell.Value, 20))
		}
		return b.shared[i], nil
	case "b":
		return map[string]string{"1": "TRUE", "0": "FALSE"}[cell.Value], nil
	case "e": // such as #N/A
		b.wrong++
		return "", nil
	case "str", "d":
		return unescape(cell.Value), nil
	}
	style, _ := strconv.Atoi(cell.Style)
	return b.number(cell.Value, b.shows[style]), nil
}

// number returns the text of a number, a date or a time, as [book.shows] says.
func (b *book) number(text string, shows byte) string {
	v, err := strconv.ParseFloat(text, 64)
	const exact, days = 1e15, 2958466 // a spreadsheet keeps 15 digits, and days until the year 9999
	switch {
	case err != nil || math.Abs(v) >= exact:
		return text
	case shows == 0 || v < 0 || v >= days:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case shows == 't': // hours may be more than a day
		seconds := int(math.Round(v * 24 * 60 * 60))
		return fmt.Sprintf("%02d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	}
	day, clock := math.Modf(v)
	at := b.epoch.AddDate(0, 0, int(day)).Add(time.Duration(math.Round(clock*24*60*60)) * time.Second)
	switch {
	case v < 1:
		return at.Format(time.TimeOnly)
	case at.Hour()+at.Minute()+at.Second() == 0:
		return at.Format(time.DateOnly)
	}
	return at.Format(time.DateTime)
}
