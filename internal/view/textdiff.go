package view

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/planform/planform/internal/text/diag"
)

const (
	contextLines   = 2    // equal lines around a difference that are shown
	comparedPairs  = 25e6 // maximum number of pairs of pieces that one difference compares
	comparedPieces = 1e6  // maximum number of pieces in one comparison, because the library numbers pieces by characters
	wideLine       = 72   // characters above which a changed line is shown as its changed words
	lineText       = 120  // characters of a line that are shown
	changedText    = 200  // characters of a change within a line that are shown
	aroundText     = 24   // characters that are shown before and after a change within a line
	longWord       = 40   // characters up to which a word is compared as a whole
)

// line is a line of a difference: equal (' '), removed ('-'), added ('+'), changed ('~'), or a gap.
type line struct {
	sign  byte
	text  string
	edits []edit // of a changed line
}

// gap is the sign of a line that stands for omitted equal lines.
const gap = '.'

// edit is a part of a changed line: a text that both lines have, then a text that only one of the lines has.
type edit struct{ Same, Old, Added string }

// splitLines returns the lines of a text. An empty text has no lines.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}

// comparison limits the work of a difference, because the work grows with the product of both numbers of pieces.
type comparison struct {
	left int // pairs of pieces that may still be compared
}

// compare returns the difference of two lists of pieces (lines or words), with a line end after each piece. If the lists are too
// long, everything between their equal beginnings and equal ends counts as different.
func (c *comparison) compare(a, b []string) (parts []diffmatchpatch.Diff) {
	head, tail, d := 0, 0, diffmatchpatch.New()
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	add := func(kind diffmatchpatch.Operation, list []string) {
		if len(list) > 0 {
			parts = append(parts, diffmatchpatch.Diff{Type: kind, Text: strings.Join(list, "\n") + "\n"})
		}
	}
	add(diffmatchpatch.DiffEqual, a[:head])
	old, now := a[head:len(a)-tail], b[head:len(b)-tail]
	if pairs := len(old) * len(now); pairs == 0 || pairs > c.left || len(old)+len(now) > comparedPieces {
		add(diffmatchpatch.DiffDelete, old)
		add(diffmatchpatch.DiffInsert, now)
	} else {
		c.left -= pairs
		d.DiffTimeout = 0 // a difference that depends on the clock would not be the same twice
		before, after, pieces := d.DiffLinesToRunes(strings.Join(old, "\n")+"\n", strings.Join(now, "\n")+"\n")
		parts = append(parts, d.DiffCharsToLines(d.DiffMainRunes(before, after, false), pieces)...)
	}
	add(diffmatchpatch.DiffEqual, a[len(a)-tail:])
	return parts
}

// lines returns the difference of two texts, line by line.
func (c *comparison) lines(before, after string) []line {
	signs := map[diffmatchpatch.Operation]byte{diffmatchpatch.DiffEqual: ' ', diffmatchpatch.DiffDelete: '-', diffmatchpatch.DiffInsert: '+'}
	var lines []line
	for _, part := range c.compare(splitLines(before), splitLines(after)) {
		for text := range strings.SplitSeq(strings.TrimSuffix(part.Text, "\n"), "\n") {
			lines = append(lines, line{sign: signs[part.Type], text: text})
		}
	}
	return lines
}

// passage is a part of a difference with changes and the equal lines around them. omitted counts the equal lines left out before it.
type passage struct {
	omitted int
	lines   []line
}

// nearChange reports whether line i differs, or one of the context lines before or after it.
func nearChange(lines []line, i, context int) bool {
	around := lines[max(0, i-context):min(len(lines), i+context+1)]
	return slices.ContainsFunc(around, func(l line) bool { return l.sign != ' ' })
}

// passages returns the passages of a difference, with at most context equal lines before and after each change.
func passages(lines []line, context int) []passage {
	var all []passage
	omitted, inside := 0, false
	for i, l := range lines {
		if !nearChange(lines, i, context) {
			omitted, inside = omitted+1, false
			continue
		}
		if !inside {
			all = append(all, passage{omitted: omitted})
			omitted, inside = 0, true
		}
		all[len(all)-1].lines = append(all[len(all)-1].lines, l)
	}
	return all
}

// texts returns the differing lines of two texts with a few equal lines around. A gap stands for other equal lines.
func (c *comparison) texts(before, after string) []line {
	var lines []line
	all := c.lines(before, after)
	for i, l := range all {
		if nearChange(all, i, contextLines) {
			lines = append(lines, l)
		} else if n := len(lines); n == 0 || lines[n-1].sign != gap {
			lines = append(lines, line{sign: gap})
		}
	}
	return lines
}

// eachRun calls same for each equal line and each gap of a difference, and differ for each run of removed and added lines.
func eachRun(lines []line, same func(line), differ func(old, added []line)) {
	for i := 0; i < len(lines); {
		old := i
		for i < len(lines) && lines[i].sign == '-' {
			i++
		}
		added := i
		for i < len(lines) && lines[i].sign == '+' {
			i++
		}
		if i > old {
			differ(lines[old:added], lines[added:i])
			continue
		}
		same(lines[i])
		i++
	}
}

// difference returns the difference of two texts for people: by lines, and in wide lines by words. If whole is false, it cuts
// long texts, and keeps only a few equal words around each changed word.
func difference(before, after string, whole bool) []line {
	var lines, removed, inserted []line
	cutLine := func(l line, most int) line {
		if !whole {
			l.text = cut(l.text, most)
		}
		return l
	}
	isWide := func(l line) bool { return utf8.RuneCountInString(l.text) > wideLine }
	flush := func() {
		lines = append(append(lines, removed...), inserted...)
		removed, inserted = nil, nil
	}
	c := &comparison{comparedPairs}
	eachRun(c.texts(before, after), func(l line) { lines = append(lines, cutLine(l, lineText)) }, func(old, added []line) {
		for i := range max(len(old), len(added)) {
			if i < len(old) && i < len(added) && (isWide(old[i]) || isWide(added[i])) {
				if edits := c.words(old[i].text, added[i].text); alike(edits, old[i].text, added[i].text) {
					flush()
					shown := [][]edit{edits}
					if !whole {
						shown = hunks(edits)
					}
					for _, e := range shown {
						lines = append(lines, line{sign: '~', edits: e})
					}
					continue
				}
			}
			if i < len(old) {
				removed = append(removed, cutLine(old[i], 2*lineText))
			}
			if i < len(added) {
				inserted = append(inserted, cutLine(added[i], 2*lineText))
			}
		}
		flush()
	})
	return lines
}

// words compares two lines by sentences, and differing sentences by words. It joins replacements without a word between them.
func (c *comparison) words(before, after string) []edit {
	const removed, added = diffmatchpatch.DiffDelete, diffmatchpatch.DiffInsert
	joined := func(part diffmatchpatch.Diff) string { return strings.ReplaceAll(part.Text, "\n", "") }
	replaces := func(parts []diffmatchpatch.Diff) bool {
		return len(parts) > 1 && parts[0].Type == removed && parts[1].Type == added
	}
	var parts []diffmatchpatch.Diff
	for rest := c.compare(strings.SplitAfter(before, ". "), strings.SplitAfter(after, ". ")); len(rest) > 0; rest = rest[1:] {
		if replaces(rest) {
			parts = append(parts, c.compare(words(joined(rest[0])), words(joined(rest[1])))...)
			rest = rest[1:]
		} else {
			parts = append(parts, rest[0])
		}
	}
	edits := []edit{{}}
	for i, part := range parts {
		text, last := joined(part), &edits[len(edits)-1]
		switch {
		case part.Type == removed:
			last.Old += text
		case part.Type == added:
			last.Added += text
		case last.Old+last.Added == "":
			last.Same += text
		case last.Old != "" && last.Added != "" && replaces(parts[i+1:]) && !strings.ContainsFunc(text, inWord):
			last.Old += text
			last.Added += text
		default:
			edits = append(edits, edit{Same: text})
		}
	}
	return edits
}

// words returns the words of a line and the characters between them. A long word is split into characters, because it may be
// an address or a sentence without blanks.
func words(text string) (all []string) {
	var word []string // characters of the current word
	flush := func() {
		if n := len(word); n > 0 && n <= longWord {
			word = []string{strings.Join(word, "")}
		}
		all, word = append(all, word...), nil
	}
	for g := uniseg.NewGraphemes(text); g.Next(); {
		if first, _ := utf8.DecodeRuneInString(g.Str()); !inWord(first) {
			flush()
			all = append(all, g.Str())
			continue
		}
		word = append(word, g.Str())
	}
	flush()
	return all
}

func inWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// alike reports whether two lines are similar enough to be shown as one changed line: they share more than a third of the shorter line.
func alike(edits []edit, before, after string) bool {
	same := 0
	for _, e := range edits {
		same += len(e.Same)
	}
	return 3*same > min(len(before), len(after))
}

// hunks splits the edits of a line into changes with a few equal words around. Changes that stand close together share a hunk.
func hunks(edits []edit) [][]edit {
	var all [][]edit
	var hunk []edit
	for _, e := range edits {
		first, last := hunk == nil, e.Old+e.Added == ""
		switch head, tail := firstWords(e.Same), lastWords(e.Same); {
		case first:
			e.Same = tail
		case last:
			e.Same = head
		case len(head)+len(tail) < len(e.Same): // otherwise the ellipses would take more space than the text that they replace
			all = append(all, append(hunk, edit{Same: head}))
			hunk, e.Same = nil, tail
		}
		e.Old, e.Added = cut(e.Old, changedText), cut(e.Added, changedText)
		hunk = append(hunk, e)
	}
	return append(all, hunk)
}

// firstWords returns the beginning of a text, with … for the rest.
func firstWords(text string) string {
	short := diag.Truncate(text, aroundText)
	if at := strings.LastIndexByte(short, ' '); len(short) != len(text) && at > 0 {
		return short[:at+1] + "…"
	}
	return short
}

// lastWords returns the end of a text, after … in place of the words before it.
func lastWords(text string) string {
	characters := []rune(text)
	if len(characters) < aroundText {
		return text
	}
	short := string(characters[len(characters)-aroundText+1:])
	if at := strings.IndexByte(short, ' '); at >= 0 && at < len(short)-1 {
		short = short[at:]
	}
	return "…" + short
}

// cut returns a text with at most `most` characters. A shortened text ends with its full length.
func cut(text string, most int) string {
	if short := diag.Truncate(text, most); len(short) != len(text) {
		return short + " (" + diag.Count(utf8.RuneCountInString(text), "character") + ")"
	}
	return text
}
