package view

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
)

// What a table takes of what somebody else wrote: a cell's characters, and the
// columns that the other cells are filled up to for its sake.
const (
	maxCell    = 64 << 10
	maxAligned = 200
)

// Table shows rows below the names of their columns on standard output, aligned, with lines of text above them.
// On a terminal the ID, the last columns and what is long in the others give way until a row
// fits a line, and the columns that do are named; elsewhere only cells of more than 65,536
// characters are cut.
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
			p.line(p.dim.paint("… not shown for want of room: " + strings.Join(omitted, ", ") + "; --output json has all"))
		}
	})
	return err
}

// columnWidths are those of a table whose first row names its columns.
func columnWidths(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row[:min(len(row), len(widths))] {
			widths[i] = max(widths[i], min(maxAligned, width(Safe(diag.Truncate(cell, maxAligned)))))
		}
	}
	return widths
}

// rows shows a table, the names of its columns in bold.
func (p *printer) rows(rows [][]string, widths []int) {
	for i, row := range rows {
		p.row(row, widths, []style{p.bold, {}}[min(i, 1)])
	}
}

// omitColumns gives up columns that do not fit the line: the ID, which is of no use if it is cut, then the last ones. Their
// width becomes negative.
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

// columnGap is what stands between two columns.
const columnGap = "  "

// row shows the cells of a row; on a terminal no wider than their columns.
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
		b.WriteString(blanks(columns - width(cell)))
		b.WriteString(columnGap)
	}
	p.print(s.paint(strings.TrimRight(b.String(), " ")), "\n")
}

// shrink takes from the widest columns until all that are shown fit the line together.
func shrink(widths []int, columns int) {
	room, total := columns+len(columnGap), 0
	for i := range widths {
		widths[i] = min(widths[i], columns) // so that what follows takes few rounds
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
