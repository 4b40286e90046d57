package tabular

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/table"
)

// monday returns the rules of a board's spreadsheet: its title, and for each group a name, a header, and items with their subitems below.
// Another sheet has the updates, which are comments.
func monday() Rules {
	return Rules{
		shape: mondayTable,
		detects: func(b *beginning, _ string) (string, bool) {
			if b.records {
				return "", false
			}
			header, updates := mondayShape(b.text)
			return map[bool]string{true: "the updates of a board", false: "the title of a board, and groups with a header each"}[updates], header != nil
		},
		Each: func(c *Cells, i *convert.Issue) string {
			if i.State.Name == "" {
				i.State = convert.State{Name: "No status", Category: "backlog"}
			}
			for n, file := range i.Attachments { // addresses, which have the names
				if name, err := url.PathUnescape(file.Name); err == nil {
					i.Attachments[n].Name = name
				}
			}
			return ""
		},
		Notes: func(names []string, rows int, note func(kind, text string)) {
			if slices.Contains(names, mondayKey) {
				note("no-id", diag.Count(rows, "item")+" without an ID, so that the name is the key: add the column Item ID to the board, and export again, "+
					"before the first apply")
			}
		},
	}
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
	r := mondayRows(strings.NewReader(string(head)))
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

// mondayRows returns a reader of CSV with rows of any length.
func mondayRows(in io.Reader) *csv.Reader {
	r := csv.NewReader(in)
	r.FieldsPerRecord = -1
	return r
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
	for r := mondayRows(strings.NewReader(string(text))); ; {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, diag.WithHint(fmt.Errorf("%s: %w", file, err), "export the board again, and do not save it with another program")
		}
		line, _ := r.FieldPos(0)
		m.row(place(line), cells)
	}
	m.group()
	m.close(m.last)
	var rows []table.Row
	for n, values := range m.rows {
		cells := make([]string, len(m.names.list))
		for name, text := range values.texts {
			cells[m.names.places[name]] = text
		}
		rows = append(rows, table.NewRow(values.line, cells))
		m.rows[n].texts = nil
	}
	return &m.names, rows, nil
}

// isMondayID reports whether a column holds IDs of items.
func isMondayID(name string) bool { return strings.HasPrefix(words.Fold(name), "itemid") }

// mondayItem is a row of the table: an item or an update, by the names of columns.
type mondayItem struct {
	line  int
	texts map[string]string
}

// mondaySheet is the state of reading a sheet.
type mondaySheet struct {
	updates   bool // not a board
	header    []string
	hasID     bool
	names     nameList
	rows      []mondayItem
	keys      map[string]int
	board     string
	about     string // description of the board
	of        string // the group
	full      bool   // the group has items
	last      int    // row
	subitems  []string
	parent    string
	alone     string // the last row of one cell: of a group, if a header follows, else of an item
	aloneLine int
	started   bool // past the first header
}

// close ends a group. A group without items becomes a row that is left out and counted.
func (m *mondaySheet) close(line int) {
	if m.of != "" && !m.full {
		m.rows = append(m.rows, mondayItem{line, map[string]string{m.name("Group without items"): m.of}})
	}
	m.full = false
}

// row reads one row of the sheet.
func (m *mondaySheet) row(line int, cells []string) {
	m.last = line
	filled := table.NewRow(line, cells).Filled()
	same := func(header []string) bool {
		return len(header) > 0 && len(cells) >= len(header) && slices.Equal(header, cells[:len(header)]) || slices.Equal(header, cells)
	}
	switch {
	case filled == 0:
	case same(m.header):
		if !m.updates {
			m.close(line)
			m.of, m.alone, m.subitems, m.parent = m.alone, "", nil, ""
		}
		m.started = true
	case m.updates:
		if m.started {
			texts := m.put(line, m.header, cells)
			if ids := texts[mondayFiles]; ids != "" { // by which the API gives the files
				delete(texts, mondayFiles)
				texts[m.name("Update Content")] = strings.TrimSpace(texts["Update Content"] + "\n\nFiles: " + ids)
			}
		}
	case filled == 1 && strings.TrimSpace(cells[0]) != "":
		switch {
		case m.started:
			m.group()
		case m.board == "":
			m.board = strings.TrimSpace(cells[0])
			return
		case m.alone != "":
			m.about = strings.TrimSpace(m.about + "\n" + m.alone)
		}
		m.alone, m.aloneLine = strings.TrimSpace(cells[0]), line
	case m.started && words.Fold(cells[0]) == "subitems" && len(cells) > 1 && words.Fold(cells[1]) == "name":
		m.group()
		m.subitems = append([]string{""}, cells[1:]...)
	case m.started && strings.TrimSpace(cells[0]) != "":
		m.group()
		m.subitems = nil
		m.item(line, m.header, cells, "")
	case m.started && m.subitems != nil && strings.TrimSpace(cells[1]) != "":
		m.item(line, m.subitems, cells, m.parent)
	case m.started: // the sums below a group
		m.rows = append(m.rows, mondayItem{line, map[string]string{m.name("Sum below the group"): strings.Join(slices.DeleteFunc(slices.Clone(cells),
			func(cell string) bool { return strings.TrimSpace(cell) == "" }), ", ")}})
	}
}

// group adds the last row of one cell as an item, because no header follows it.
func (m *mondaySheet) group() {
	if m.started && m.alone != "" {
		m.subitems = nil
		m.item(m.aloneLine, m.header, []string{m.alone}, "")
	}
	m.alone = ""
}

// name adds a column and returns its name.
func (m *mondaySheet) name(name string) string {
	m.names.add(name)
	return name
}

// item adds an item or a subitem.
func (m *mondaySheet) item(line int, header, cells []string, parent string) {
	m.full = true
	texts := m.put(line, header, cells)
	texts[m.name("Board")], texts[m.name("About the board")], texts[m.name("Group")], texts[m.name("Parent")] = m.board, m.about, m.of, parent
	key := ""
	for name, text := range texts {
		if isMondayID(name) {
			key = text
		}
	}
	if key == "" || !m.hasID {
		named := strings.TrimPrefix(parent+" / "+texts["Name"], " / ")
		if m.keys[named]++; m.keys[named] > 1 {
			named = fmt.Sprintf("%s (%d)", named, m.keys[named])
		}
		key = named
		texts[m.name(map[bool]string{true: mondayID, false: mondayKey}[m.hasID])] = key
	}
	if parent == "" {
		m.parent = key
	}
}

// put adds a row with the names of a header, and returns its texts.
func (m *mondaySheet) put(line int, header, cells []string) map[string]string {
	texts := map[string]string{}
	for n, text := range cells {
		if n >= len(header) || strings.TrimSpace(text) == "" {
			continue
		}
		name := strings.TrimSpace(header[n])
		switch {
		case words.Fold(name) == "name":
			name = "Name"
		case isMondayID(name) && m.updates:
			name = mondayOf
		case isMondayID(name):
			if name = mondayID; !m.hasID {
				name = "Subitem ID"
			}
		case name == "":
			name = place(n)
		}
		if had := texts[m.name(name)]; had != "" {
			text = had + table.Separator + text
		}
		texts[name] = text
	}
	m.rows = append(m.rows, mondayItem{line, texts})
	return texts
}
