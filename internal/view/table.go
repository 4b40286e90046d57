package view

import (
	"strings"

	"github.com/planform/planform/internal/diag"
)

// What a table takes of what somebody else wrote: a cell's characters, and the
// columns that the other cells are filled up to for its sake.
const (
	maxCell    = 64 << 10
	maxAligned = 200
)

// Table shows rows below the names of their columns on standard output, aligned.
// On a terminal the widest columns give way until a row fits a line; elsewhere
// only cells of more than 65,536 characters are cut.
func (v *View) Table(columns []string, rows [][]string) error {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = width(Safe(c))
	}
	for _, row := range rows {
		for i, cell := range row[:min(len(row), len(widths))] {
			widths[i] = max(widths[i], min(maxAligned, width(Safe(diag.Truncate(cell, maxAligned)))))
		}
	}
	if v.o.OutTTY {
		shrink(widths, v.o.Width)
	}
	return v.show(func(p *printer) {
		p.row(columns, widths, p.bold, v.o.OutTTY)
		for _, row := range rows {
			p.row(row, widths, style{}, v.o.OutTTY)
		}
	})
}

// columnGap is what stands between two columns.
const columnGap = "  "

func (p *printer) row(cells []string, widths []int, s style, cut bool) {
	var b strings.Builder
	for i, columns := range widths {
		cell := ""
		if i < len(cells) {
			cell = Safe(diag.Truncate(cells[i], maxCell))
		}
		if cut {
			cell = truncate(cell, columns)
		}
		b.WriteString(cell)
		b.WriteString(blanks(columns - width(cell)))
		b.WriteString(columnGap)
	}
	p.line(s.paint(strings.TrimRight(b.String(), " ")))
}

// shrink takes from the widest columns until all fit the line together, but
// leaves each a few characters.
func shrink(widths []int, columns int) {
	const least = 4
	room := max(columns-len(columnGap)*(len(widths)-1), least*len(widths))
	total := 0
	for i := range widths {
		widths[i] = min(widths[i], columns) // so that what follows takes few rounds
		total += widths[i]
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
