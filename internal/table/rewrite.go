package table

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Edit is another text for a cell.
type Edit struct {
	Line, Column int // on which its row begins, and its number, both from 1
	Text         string
}

// Rewrite is a text with other cells. A cell keeps its quotation marks, and gets some if it needs them; one that its row is too short for
// is added. All else stays as it is, byte for byte.
func Rewrite(text []byte, known func(header []string) bool, edits []Edit) ([]byte, error) {
	const mark = "\ufeff"
	body, marked := bytes.CutPrefix(text, []byte(mark))
	r, err := Open(bytes.NewReader(body), "", known)
	if err != nil {
		return nil, err
	}
	edits = slices.SortedFunc(slices.Values(edits), func(a, b Edit) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
	var b bytes.Buffer
	if marked {
		b.WriteString(mark)
	}
	starts, done := lineStarts(body), 0
	for len(edits) > 0 {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("no row begins on line %d", edits[0].Line)
		}
		if err != nil {
			return nil, err
		}
		for width := len(row.cells); len(edits) > 0 && edits[0].Line == row.Line; edits = edits[1:] {
			e := edits[0]
			line, column := r.csv.FieldPos(min(e.Column, len(row.cells)) - 1)
			from := starts[line-1] + column - 1
			to := cellEnd(body, from, r.csv.Comma)
			missing := max(0, e.Column-width)
			if width = max(width, e.Column); e.Column > len(row.cells) {
				from = to
			}
			b.Write(body[done:from])
			b.WriteString(strings.Repeat(string(r.csv.Comma), missing))
			b.WriteString(r.written(e.Text, from < to && body[from] == '"', bytes.Contains(body, []byte("\r\n"))))
			done = to
		}
	}
	b.Write(body[done:])
	return b.Bytes(), nil
}

// written is a cell as it stands in a file.
func (r *Reader) written(cell string, quoted, windows bool) string {
	if windows {
		cell = strings.ReplaceAll(cell, "\n", "\r\n")
	}
	if !quoted && !strings.ContainsAny(cell, string(r.csv.Comma)+"\"\r\n") && strings.TrimSpace(cell) == cell {
		return cell
	}
	return `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
}

// lineStarts are where the lines of a text begin, also those within cells.
func lineStarts(text []byte) []int {
	starts := []int{0}
	for i, c := range text {
		if c == '\n' || c == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// cellEnd is where a cell ends that begins somewhere.
func cellEnd(text []byte, from int, separator rune) int {
	quoted := false
	for i := from; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"': // two of them are one within the cell
			quoted = !quoted
		case !quoted && (rune(c) == separator || c == '\r' || c == '\n'):
			return i
		}
	}
	return len(text)
}
