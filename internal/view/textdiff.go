package view

import (
	"hash/crc32"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/planform/planform/internal/diag"
)

const (
	comparedPieces = 3000 // lines or words; more are not compared one by one: the work grows with the square
	wideLine       = 72   // characters from which a line that changes is shown as its words that differ
	lineText       = 120  // characters of a line that are shown
	changedText    = 200  // characters of a change within a line that are shown
	aroundText     = 24   // characters that are shown before and after a change within a line
	longWord       = 40   // characters from which a word is compared by its characters
)

// line is one line of a text ('+', '-'), of a difference (' ' and '~' too), or a gap in it.
type line struct {
	sign  byte
	text  string
	edits []edit // of a line that changes ('~')
}

const gap = '.'

// edit is a part of a line that changes: what both texts have there, and behind it what only one of them has.
type edit struct{ same, old, added string }

func (e *edit) changes() bool { return e.old != "" || e.added != "" }

// addedLines is the lines of a text that is new, each shortened unless all is asked for.
func (p *printer) addedLines(text string) []line {
	texts := splitLines(&text)
	lines := make([]line, len(texts))
	for i, t := range texts {
		if !p.whole {
			t = diag.Truncate(t, lineText)
		}
		lines[i] = line{sign: '+', text: t}
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

// compareTexts compares two texts line by line, with a few equal lines around what differs.
func compareTexts(before, after *string) []line {
	return withContext(comparePieces(splitLines(before), splitLines(after)))
}

// comparePieces is the difference of two lists of lines, or other pieces of a text.
func comparePieces(a, b []string) []line {
	head, tail := 0, 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	lines := make([]line, 0, len(a)+len(b))
	add := func(sign byte, texts []string) {
		for _, t := range texts {
			lines = append(lines, line{sign: sign, text: t})
		}
	}
	equal := a[len(a)-tail:]
	add(' ', a[:head])
	if a, b = a[head:len(a)-tail], b[head:len(b)-tail]; len(a) == 0 || len(b) == 0 || len(a)+len(b) > comparedPieces {
		add('-', a)
		add('+', b)
	} else {
		lines = append(lines, diffPieces(a, b)...)
	}
	add(' ', equal)
	return lines
}

// diffPieces is the shortest difference of two lists.
func diffPieces(a, b []string) []line {
	var lines []line
	// Each different piece becomes a character of its own; there are fewer pieces
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
			lines = append(lines, line{sign: sign, text: texts[r]})
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
			kept = append(kept, line{sign: gap})
		}
	}
	if len(kept) > 0 && kept[len(kept)-1].sign == gap {
		kept = kept[:len(kept)-1]
	}
	return kept
}

// eachRun goes through a difference: same is called for lines that both texts have and for gaps, differ for those that only one has.
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

// difference compares two texts for a person: line by line, and of wide lines the words that differ. Unless all is asked
// for, what is equal is left out of those but for a few words, and the rest is cut.
func difference(before, after *string, whole bool) []line {
	var lines, removed, inserted []line
	cutLine := func(l line, most int) line {
		if !whole {
			l.text = cut(l.text, most)
		}
		return l
	}
	flush := func() {
		lines = append(append(lines, removed...), inserted...)
		removed, inserted = nil, nil
	}
	eachRun(compareTexts(before, after), func(l line) { lines = append(lines, cutLine(l, lineText)) }, func(old, added []line) {
		for i := range max(len(old), len(added)) {
			if i < len(old) && i < len(added) && (utf8.RuneCountInString(old[i].text) > wideLine || utf8.RuneCountInString(added[i].text) > wideLine) {
				if edits := compareWords(old[i].text, added[i].text); alike(edits, old[i].text, added[i].text) {
					flush()
					for _, e := range hunks(edits, whole) {
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

// compareWords compares two lines by their sentences, and those that differ by their words.
func compareWords(before, after string) []edit {
	var edits []edit
	a, b := 0, 0 // how far the lines are compared
	add := func(l line) {
		n := len(edits)
		if n == 0 || l.sign == ' ' && edits[n-1].changes() {
			edits = append(edits, edit{})
			n++
		}
		e, size := &edits[n-1], len(l.text)
		switch l.sign {
		case ' ':
			e.same = before[a-len(e.same) : a+size]
			a, b = a+size, b+size
		case '-':
			e.old = before[a-len(e.old) : a+size]
			a += size
		case '+':
			e.added = after[b-len(e.added) : b+size]
			b += size
		}
	}
	eachRun(comparePieces(sentences(before), sentences(after)), add, func(old, added []line) {
		for _, l := range comparePieces(wordsOf(old), wordsOf(added)) {
			add(l)
		}
	})
	return replacements(edits)
}

// sentences are those of a line. What is long for one is divided behind words that their own hash chooses, so that
// both lines are divided alike.
func sentences(text string) []string {
	const long, share = 1000, 16 // bytes, and one of how many words ends a part
	var all []string
	for _, sentence := range strings.SplitAfter(text, ". ") {
		if len(sentence) < long {
			all = append(all, sentence)
			continue
		}
		from, at := 0, 0
		for _, word := range wordsOf([]line{{text: sentence}}) {
			if at += len(word); word != " " && crc32.ChecksumIEEE([]byte(word))%share == 0 {
				all, from = append(all, sentence[from:at]), at
			}
		}
		all = append(all, sentence[from:])
	}
	return all
}

// wordsOf are the words of pieces of a line, and what stands between them.
func wordsOf(pieces []line) []string {
	var all []string
	for _, p := range pieces {
		for text := p.text; text != ""; {
			end := strings.IndexFunc(text, func(r rune) bool { return !inWord(r) })
			if end < 0 {
				end = len(text)
			}
			if end == 0 || utf8.RuneCountInString(text[:end]) > longWord {
				_, end = utf8.DecodeRuneInString(text)
			}
			all, text = append(all, text[:end]), text[end:]
		}
	}
	return all
}

func inWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// replacements makes one replacement of several that have no word between them.
func replacements(edits []edit) []edit {
	var joined []edit
	for _, e := range edits {
		if n := len(joined); n > 0 && strings.IndexFunc(e.same, inWord) < 0 && e.old != "" && e.added != "" {
			if last := &joined[n-1]; last.old != "" && last.added != "" {
				last.old += e.same + e.old
				last.added += e.same + e.added
				continue
			}
		}
		joined = append(joined, e)
	}
	return joined
}

// alike reports whether two lines have so much in common that one can be told as a change of the other.
func alike(edits []edit, before, after string) bool {
	same := 0
	for _, e := range edits {
		same += len(e.same)
	}
	return 3*same > min(len(before), len(after))
}

// hunks are the changes of a line, each with a few words around, and several of them where they stand close together. If
// all is asked for, it is the whole line.
func hunks(edits []edit, whole bool) [][]edit {
	if whole {
		return [][]edit{edits}
	}
	var all [][]edit
	var hunk []edit
	for _, e := range edits {
		first, last := hunk == nil, !e.changes()
		switch head, tail := firstWords(e.same), lastWords(e.same); {
		case first:
			e.same = tail
		case last:
			e.same = head
		case len(head)+len(tail) < len(e.same): // with the marks of what is left out it would be longer
			all = append(all, append(hunk, edit{same: head}))
			hunk, e.same = nil, tail
		}
		e.old, e.added = cut(e.old, changedText), cut(e.added, changedText)
		hunk = append(hunk, e)
	}
	return append(all, hunk)
}

// firstWords is the beginning of a text, with … for the rest.
func firstWords(text string) string {
	short := diag.Truncate(text, aroundText)
	if at := strings.LastIndexByte(short, ' '); len(short) != len(text) && at > 0 {
		return short[:at+1] + "…"
	}
	return short
}

// lastWords is the end of a text, with … for the rest.
func lastWords(text string) string {
	from := len(text)
	for n := 1; n < aroundText && from > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	if from == 0 {
		return text
	}
	if at := strings.IndexByte(text[from:], ' '); at >= 0 && from+at < len(text)-1 {
		from += at
	}
	return "…" + text[from:]
}

// cut shortens a text, and says how long it is.
func cut(text string, most int) string {
	if short := diag.Truncate(text, most); len(short) != len(text) {
		return short + " (" + diag.Count(utf8.RuneCountInString(text), "character") + ")"
	}
	return text
}
