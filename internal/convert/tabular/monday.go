package tabular

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/table"
)

// monday reads an item of a board's spreadsheet: the title of the board, and for each group a name, a header, and items with their subitems
// below. Another sheet has the updates, which are comments.
func monday(_ *Cells, i *convert.Issue) {
	if i.State.Name == "" {
		i.State = convert.State{Name: "No status", Category: "backlog"}
	}
	for n, file := range i.Attachments { // addresses, which have the names
		if name, err := url.PathUnescape(file.Name); err == nil {
			i.Attachments[n].Name = name
		}
	}
}

func mondayNotes(names []string, rows int, note func(kind, text string)) {
	if slices.Contains(names, mondayKey) {
		note("no-id", diag.Count(rows, "item")+" without an ID, so that the name is the key: add the column Item ID to the board, and export again, "+
			"before the first apply")
	}
}

func detectMonday(head []byte) (string, bool) {
	if records.Begin(head) {
		return "", false
	}
	header, updates := mondayShape(head)
	return map[bool]string{true: "the updates of a board", false: "the title of a board, and groups with a header each"}[updates], header != nil
}

// Columns that hold keys: on a board with IDs, on a board without, and in updates. mondayFiles is the column of files in updates.
const (
	mondayID  = "Item ID"
	mondayKey = "Name as key"
	mondayOf  = "Item of the update"

	mondayFiles = "Asset IDs"
)

// mondayShape recognises a board or its updates by the first rows, and returns the header, or nil for other tables.
func mondayShape(head []byte) (header []string, updates bool) {
	r := csv.NewReader(bytes.NewReader(head))
	r.FieldsPerRecord = -1
	alone := 0 // rows of one cell
	for range 12 {
		row, err := r.Read()
		if err != nil && (!errors.Is(err, csv.ErrQuote) || len(row) == 0) { // the text may be cut
			return nil, false
		}
		switch filled := table.NewRow(0, row).Filled(); {
		case filled == 0:
		case filled == 1 && strings.TrimSpace(row[0]) != "":
			alone++
		case alone >= 2 && words.Fold(row[0]) == "name":
			return row, false
		case words.Fold(row[0]) == "itemid" && slices.ContainsFunc(row, func(cell string) bool { return words.Fold(cell) == "updatecontent" }):
			return row, true
		case filled == 2 && alone == 0 && words.Fold(row[1]) == "updates": // the title of the other sheet
		default:
			return nil, false
		}
	}
	return nil, false
}

// mondayTable reads a sheet as a table of items and subitems, with columns for the board, the group and the parent.
func mondayTable(in io.Reader, file string) (*nameList, []table.Row, error) {
	place := func(line int) int { return line }
	if sheet, ok := in.(interface{ Row(line int) int }); ok {
		place = sheet.Row
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	header, updates := mondayShape(text[:min(len(text), 64<<10)])
	if header == nil {
		return nil, nil, fmt.Errorf("%s:1: the file is neither a board nor the updates of a board", file)
	}
	m := &mondaySheet{updates: updates, header: header, keys: map[string]int{}, hasID: slices.ContainsFunc(header, isMondayID)}
	r := csv.NewReader(bytes.NewReader(text))
	for r.FieldsPerRecord = -1; ; {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			m.addAlone()
			m.closeGroup()
			return &m.names, m.rows, nil
		}
		if err != nil {
			return nil, nil, diag.WithHint(fmt.Errorf("%s: %w", file, err), "export the board again, and do not save it with another program")
		}
		line, _ := r.FieldPos(0)
		m.line = place(line)
		m.read(cells)
	}
}

func isMondayID(name string) bool { return strings.HasPrefix(words.Fold(name), "itemid") }

type mondaySheet struct {
	updates   bool // not a board
	header    []string
	hasID     bool
	names     nameList
	rows      []table.Row
	keys      map[string]int
	line      int
	board     string
	about     string // description of the board
	group     string
	full      bool // the group has items
	subitems  []string
	parent    string
	alone     string // the last row of one cell: a group, if a header follows, else an item
	aloneLine int
	started   bool // past the first header
}

func (m *mondaySheet) add(line int, values *record) {
	m.rows = append(m.rows, m.names.row(line, values))
}

// closeGroup ends a group. A group without items becomes a row that is left out and counted.
func (m *mondaySheet) closeGroup() {
	if m.group != "" && !m.full {
		m.add(m.line, m.record(nil, nil, "Group without items", m.group))
	}
	m.full = false
}

func (m *mondaySheet) read(cells []string) {
	filled, first := table.NewRow(0, cells).Filled(), strings.TrimSpace(cells[0])
	switch {
	case filled == 0:
	case len(cells) >= len(m.header) && slices.Equal(m.header, cells[:len(m.header)]):
		if !m.updates {
			m.closeGroup()
			m.group, m.alone, m.subitems, m.parent = m.alone, "", nil, ""
		}
		m.started = true
	case m.updates && m.started:
		values := m.record(m.header, cells)
		if ids := values.text(mondayFiles); ids != "" { // by which the API gives the files
			values.set("Update Content", strings.TrimSpace(values.text("Update Content")+"\n\nFiles: "+ids))
			values.set(mondayFiles, "")
		}
		m.add(m.line, values)
	case m.updates:
	case filled == 1 && first != "":
		switch {
		case m.started:
			m.addAlone()
		case m.board == "":
			m.board = first
			return
		case m.alone != "":
			m.about = strings.TrimSpace(m.about + "\n" + m.alone)
		}
		m.alone, m.aloneLine = first, m.line
	case !m.started:
	case words.Fold(first) == "subitems" && words.Fold(cells[1]) == "name":
		m.addAlone()
		m.subitems = append([]string{""}, cells[1:]...)
	case first != "":
		m.addAlone()
		m.subitems = nil
		m.item(m.line, m.header, cells, "")
	case m.subitems != nil && strings.TrimSpace(cells[1]) != "":
		m.item(m.line, m.subitems, cells, m.parent)
	default: // the sums below a group
		sums := slices.DeleteFunc(slices.Clone(cells), func(cell string) bool { return strings.TrimSpace(cell) == "" })
		m.add(m.line, m.record(nil, nil, "Sum below the group", strings.Join(sums, ", ")))
	}
}

// addAlone adds the last row of one cell as an item, because no header follows it.
func (m *mondaySheet) addAlone() {
	if m.started && m.alone != "" {
		m.subitems = nil
		m.item(m.aloneLine, m.header, []string{m.alone}, "")
	}
	m.alone = ""
}

func (m *mondaySheet) item(line int, header, cells []string, parent string) {
	m.full = true
	values := m.record(header, cells, "Board", m.board, "About the board", m.about, "Group", m.group, "Parent", parent)
	key := values.text(mondayID)
	if key == "" {
		key = strings.TrimPrefix(parent+" / "+values.text("Name"), " / ")
		if m.keys[key]++; m.keys[key] > 1 {
			key = fmt.Sprintf("%s (%d)", key, m.keys[key])
		}
		values.set(map[bool]string{true: mondayID, false: mondayKey}[m.hasID], key)
	}
	if parent == "" {
		m.parent = key
	}
	m.add(line, values)
}

// record returns some names with their texts, and the cells of a row by the names in a header.
func (m *mondaySheet) record(header, cells []string, pairs ...string) *record {
	values := &record{}
	for pair := range slices.Chunk(pairs, 2) {
		values.put(pair[0], pair[1])
	}
	for n, text := range cells[:min(len(cells), len(header))] {
		name := strings.TrimSpace(header[n])
		switch {
		case strings.TrimSpace(text) == "":
			continue
		case words.Fold(name) == "name":
			name = "Name"
		case isMondayID(name) && m.updates:
			name = mondayOf
		case isMondayID(name):
			name = map[bool]string{true: mondayID, false: "Subitem ID"}[m.hasID]
		}
		values.put(cmp.Or(name, place(n)), text)
	}
	return values
}
