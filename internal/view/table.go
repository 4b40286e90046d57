package view

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/text/diag"
)

// Tables hold texts of other people, so the size of a cell is limited.
const (
	maxCell    = 64 << 10 // characters of a cell that are shown
	maxAligned = 200      // maximum width up to which cells are filled up with spaces
)

// Table shows aligned rows below the names of their columns on standard output, with lines of text above.
//
// On a terminal, the ID and the last columns are left out and named if a row does not fit into a line, and
// long cells are cut. Elsewhere only cells of more than 65,536 characters are cut.
func (v *View) Table(columns []string, rows [][]string, above ...string) error {
	rows = slices.Insert(slices.Clone(rows), 0, columns)
	widths := columnWidths(rows)
	var omitted []string
	if v.o.OutTTY {
		omitted = omitColumns(columns, widths, v.o.Width)
		shrink(widths, v.o.Width)
	}
	_, err := v.show(func(p *printer) {
		for _, text := range above {
			p.line(Safe(text))
		}
		p.rows(rows, widths)
		if len(omitted) > 0 {
			p.line(p.dim.paint("… not shown, too narrow: " + strings.Join(omitted, ", ") + "; --output json has all"))
		}
	})
	return err
}

// Definitions shows a table whose last column holds sentences, with lines of text above. On a terminal on which a row does not fit into a
// line, the sentence stands below it. Without rows, it shows the text.
func (v *View) Definitions(columns []string, rows [][]string, above ...string) error {
	room := 0
	for _, w := range columnWidths(slices.Insert(slices.Clone(rows), 0, columns)) {
		room += w + len(columnGap)
	}
	if len(rows) > 0 && (!v.o.OutTTY || room-len(columnGap) <= v.o.Width) {
		return v.Table(columns, rows, above...)
	}
	for _, row := range rows {
		last, indent := len(row)-1, row[0][:len(row[0])-len(strings.TrimLeft(row[0], " "))]
		above = append(above, strings.Join(row[:last], columnGap), indent+"    "+row[last])
	}
	_, err := v.show(func(p *printer) {
		for _, text := range above {
			p.line(Safe(text))
		}
	})
	return err
}

// columnWidths returns the widths of a table's columns. The first row holds the names of the columns.
func columnWidths(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row[:min(len(row), len(widths))] {
			widths[i] = max(widths[i], min(maxAligned, width(Safe(diag.Truncate(cell, maxAligned)))))
		}
	}
	return widths
}

// rows prints the rows of a table. The first row, with the names of the columns, is bold.
func (p *printer) rows(rows [][]string, widths []int) {
	for i, row := range rows {
		p.row(row, widths, []style{p.bold, {}}[min(i, 1)])
	}
}

// omitColumns sets negative widths for columns without room in the line, and returns their names. It omits the ID first,
// because a cut ID is useless, then the last columns.
func omitColumns(columns []string, widths []int, room int) (names []string) {
	const readable = 16
	total := func(most int) (sum int) {
		for _, w := range widths {
			if w >= 0 {
				sum += min(w, most) + len(columnGap)
			}
		}
		return sum - len(columnGap)
	}
	if id := slices.Index(columns, "id"); id >= 0 && len(columns) > 1 && total(maxAligned) > room {
		widths[id] = -1
	}
	for i := len(columns) - 1; i > 0 && total(readable) > room; i-- {
		widths[i] = -1
	}
	for i, name := range columns {
		if widths[i] < 0 {
			names = append(names, name)
		}
	}
	return names
}

// columnGap is the space between two columns.
const columnGap = "  "

// row prints a row. On a terminal, cells that are wider than their columns are cut.
func (p *printer) row(cells []string, widths []int, s style) {
	var b strings.Builder
	for i, columns := range widths {
		if columns < 0 {
			continue
		}
		cell := ""
		if i < len(cells) {
			cell = Safe(diag.Truncate(cells[i], maxCell))
		}
		if p.columns > 0 {
			cell = truncate(cell, columns)
		}
		b.WriteString(cell)
		b.WriteString(spaces(columns - width(cell)))
		b.WriteString(columnGap)
	}
	p.print(s.paint(strings.TrimRight(b.String(), " ")), "\n")
}

// shrink narrows the widest columns until the row fits into a line of the given number of columns.
func shrink(widths []int, columns int) {
	room, total := columns+len(columnGap), 0
	for i := range widths {
		widths[i] = min(widths[i], columns) // so that the loop below needs few rounds
		if widths[i] >= 0 {
			total += widths[i] + len(columnGap)
		}
	}
	for ; total > room; total-- {
		widest := 0
		for i := range widths {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		widths[widest]--
	}
}
