package view

import (
	"strings"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/planform/planform/internal/diag"
)

const (
	comparedLines = 1000 // more are not compared one by one: the work grows with the square
	lineText      = 120  // characters of a line that are shown
	elidedText    = 30   // characters that are shown around the differing part of a longer line
)

// line is one line of a text ('+', '-'), of a difference (' ' too), or a gap in it.
type line struct {
	sign byte
	text string
}

const gap = '.'

// addedLines is the lines of a text that is new, each shortened unless all is asked for.
func (p *printer) addedLines(text string) []line {
	texts := splitLines(&text)
	lines := make([]line, len(texts))
	for i, t := range texts {
		if !p.whole {
			t = diag.Truncate(t, lineText)
		}
		lines[i] = line{'+', t}
	}
	return lines
}

// splitLines gives the lines of a text; none of nil.
func splitLines(text *string) []string {
	if text == nil || *text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(*text, "\r\n", "\n"), "\n"), "\n")
}

// difference compares two texts line by line, with a few equal lines around what differs, and cuts lines that are too long.
func difference(before, after *string) []line { return shorten(compareTexts(before, after)) }

// compareTexts compares two texts line by line, with a few equal lines around what differs.
func compareTexts(before, after *string) []line {
	a, b := splitLines(before), splitLines(after)
	head, tail := 0, 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	lines := make([]line, 0, len(a)+len(b))
	for _, t := range a[:head] {
		lines = append(lines, line{' ', t})
	}
	lines = append(lines, diffLines(a[head:len(a)-tail], b[head:len(b)-tail])...)
	for _, t := range a[len(a)-tail:] {
		lines = append(lines, line{' ', t})
	}
	return withContext(lines)
}

// diffLines is the difference of lines, or other pieces of a text, of which the first and the last differ.
func diffLines(a, b []string) []line {
	var lines []line
	if len(a) == 0 || len(b) == 0 || len(a)+len(b) > comparedLines {
		for _, t := range a {
			lines = append(lines, line{'-', t})
		}
		for _, t := range b {
			lines = append(lines, line{'+', t})
		}
		return lines
	}
	// Each different line becomes a character of its own; there are fewer lines
	// than characters below the surrogates.
	number := map[string]rune{}
	next := rune(0)
	texts := []string{""}
	encode := func(of []string) []rune {
		runes := make([]rune, len(of))
		for i, t := range of {
			r, known := number[t]
			if !known {
				next++
				r = next
				number[t] = r
				texts = append(texts, t)
			}
			runes[i] = r
		}
		return runes
	}
	d := diffmatchpatch.New()
	d.DiffTimeout = 0 // a difference that depends on the clock would not be the same twice
	for _, part := range d.DiffMainRunes(encode(a), encode(b), false) {
		sign := byte(' ')
		switch part.Type {
		case diffmatchpatch.DiffDelete:
			sign = '-'
		case diffmatchpatch.DiffInsert:
			sign = '+'
		case diffmatchpatch.DiffEqual:
		}
		for _, r := range part.Text {
			lines = append(lines, line{sign, texts[r]})
		}
	}
	return lines
}

// withContext leaves out equal lines that are far from what differs.
func withContext(lines []line) []line {
	keep := make([]bool, len(lines))
	for i, l := range lines {
		if l.sign == ' ' {
			continue
		}
		for j := max(0, i-contextLines); j <= min(len(lines)-1, i+contextLines); j++ {
			keep[j] = true
		}
	}
	var kept []line
	for i, l := range lines {
		if keep[i] {
			kept = append(kept, l)
		} else if i > 0 && keep[i-1] && i < len(lines)-1 {
			kept = append(kept, line{gap, ""})
		}
	}
	if len(kept) > 0 && kept[len(kept)-1].sign == gap {
		kept = kept[:len(kept)-1]
	}
	return kept
}

// shorten cuts lines that are too long. Where a line takes another's place, what
// differs stays in sight.
func shorten(lines []line) []line {
	for i := 0; i < len(lines); {
		removed := i
		for i < len(lines) && lines[i].sign == '-' {
			i++
		}
		inserted := i
		for i < len(lines) && lines[i].sign == '+' {
			i++
		}
		for j := range min(inserted-removed, i-inserted) {
			a, b := &lines[removed+j], &lines[inserted+j]
			a.text, b.text = elideCommon(a.text, b.text)
		}
		for j := removed; j < i; j++ {
			lines[j].text = diag.Truncate(lines[j].text, 2*lineText)
		}
		if removed == i {
			lines[i].text = diag.Truncate(lines[i].text, lineText)
			i++
		}
	}
	return lines
}

// elideCommon takes from two long lines what they share, but for a few characters.
func elideCommon(a, b string) (shortA, shortB string) {
	if len(a) <= lineText && len(b) <= lineText {
		return a, b
	}
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from, to := max(0, head-elidedText), max(0, tail-elidedText)
	for from > 0 && from < len(a) && !utf8.RuneStart(a[from]) {
		from--
	}
	cut := func(s string) string {
		end := len(s) - to
		for end < len(s) && !utf8.RuneStart(s[end]) {
			end++
		}
		text := s[from:end]
		if from > 0 {
			text = "…" + text
		}
		if end < len(s) {
			text += "…"
		}
		return text
	}
	return cut(a), cut(b)
}
