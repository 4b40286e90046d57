package view

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	cases "github.com/planform/planform/internal/sample"
)

// sides returns the lines of both texts that a difference was made of. Each gap stands for the next of the omitted runs of lines.
func sides(shown []line, omitted [][]string) (before, after []string) {
	for _, l := range shown {
		switch l.sign {
		case '-':
			before = append(before, l.text)
		case '+':
			after = append(after, l.text)
		case '~':
			var old, added strings.Builder
			for _, e := range l.edits {
				old.WriteString(e.Same + e.Old)
				added.WriteString(e.Same + e.Added)
			}
			before, after = append(before, old.String()), append(after, added.String())
		case gap:
			before, after = append(before, omitted[0]...), append(after, omitted[0]...)
			omitted = omitted[1:]
		default:
			before, after = append(before, l.text), append(after, l.text)
		}
	}
	return before, after
}

// omittedRuns returns the runs of equal lines that a difference shows as gaps.
func omittedRuns(before, after string) [][]string {
	var runs [][]string
	all := (&comparison{comparedPairs}).lines(before, after)
	for i, l := range all {
		switch {
		case nearChange(all, i, contextLines):
		case i == 0 || nearChange(all, i-1, contextLines):
			runs = append(runs, []string{l.text})
		default:
			runs[len(runs)-1] = append(runs[len(runs)-1], l.text)
		}
	}
	return runs
}

// checkDifference holds that a difference has both texts, and that its work is in proportion to them.
func checkDifference(t *testing.T, before, after string) {
	t.Helper()
	wantOld, wantNew := splitLines(before), splitLines(after)
	old, added := sides(difference(before, after, true), omittedRuns(before, after))
	if !slices.Equal(old, wantOld) || !slices.Equal(added, wantNew) {
		t.Errorf("the difference of %.200q and %.200q reads %.200q and %.200q", before, after, strings.Join(old, "\n"), strings.Join(added, "\n"))
	}
	var rowsOld, rowsNew []string
	for _, r := range diffRows(before, after) {
		var one, other strings.Builder
		for _, e := range r.Edits {
			one.WriteString(e.Same + e.Old)
			other.WriteString(e.Same + e.Added)
		}
		if r.Old != "" || one.Len() > 0 {
			rowsOld = append(rowsOld, r.Old+one.String())
		}
		if r.Added != "" || other.Len() > 0 {
			rowsNew = append(rowsNew, r.Added+other.String())
		}
	}
	if len(rowsOld) > len(wantOld) || len(rowsNew) > len(wantNew) {
		t.Errorf("the page shows %d and %d lines that differ, of %d and %d", len(rowsOld), len(rowsNew), len(wantOld), len(wantNew))
	}
	c := &comparison{comparedPairs}
	var lines []line
	eachRun(c.texts(before, after), func(line) {}, func(old, added []line) { lines = append(append(lines, old...), added...) })
	for i := 1; i < min(len(lines), 100); i++ {
		c.words(lines[i-1].text, lines[i].text)
	}
	if c.left < 0 {
		t.Errorf("%d pairs of pieces too many were compared", -c.left)
	}
}

func TestTheDifferenceOfLongTextsHoldsBoth(t *testing.T) {
	t.Parallel()
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, tt := range map[string]struct{ before, after string }{
		"a short text beside a word of 130,000 letters":             {"short text", strings.Repeat("A", 1<<17)},
		"two words of 130,000 letters":                              {strings.Repeat("A", 1<<17), strings.Repeat("AB", 1<<16)},
		"a letter within a word of 130,000":                         {strings.Repeat("A", 1<<17), strings.Repeat("A", 3<<15) + "B" + strings.Repeat("A", 1<<15)},
		"a script without blanks":                                   {strings.Repeat("漢字仮名", 1<<15), strings.Repeat("交じり文", 1<<15)},
		"a letter with many accents":                                {"a" + strings.Repeat("\u0301", 1<<17), "a" + strings.Repeat("\u0302", 1<<17)},
		"letters with an accent each":                               {strings.Repeat("a\u0301", 1<<16), strings.Repeat("b\u0301", 1<<16)},
		"a long address":                                            {"see https://example.com/" + many(40000, "p%d/"), "see https://example.com/" + many(40000, "q%d/")},
		"blanks":                                                    {strings.Repeat(" ", 1<<17), strings.Repeat("\t", 1<<17)},
		"emoji that are joined":                                     {strings.Repeat("👩\u200d", 1<<14), strings.Repeat("👧\u200d", 1<<14)},
		"many lines of long words":                                  {strings.Repeat(strings.Repeat("A", 5000)+"\n", 100), strings.Repeat(strings.Repeat("BA", 2500)+"\n", 100)},
		"many lines that are numbered by what they differ in":       {many(80000, "line %d\n"), many(80000, "line %d\n") + "x\n"},
		"lines that differ beyond those that characters can number": {many(1200000, "%d\n"), "x\n"},
		"many sentences":                                            {many(30000, "Old %d. "), many(30000, "New %d. ")},
		"more lines than are compared":                              {"same\n" + many(6000, "old %d\n") + "end\n", "same\n" + many(6000, "new %d\n") + "end\n"},
	} {
		if strings.HasPrefix(name, "lines that differ beyond") && !cases.Each() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkDifference(t, tt.before, tt.after)
		})
	}
}

func TestOfMoreLinesThanAreComparedTheEqualEndsStay(t *testing.T) {
	t.Parallel()
	before := "same\n" + strings.Repeat("old\n", 6000) + "end\n"
	after := "same\n" + strings.Repeat("new\n", 6000) + "end\n"
	lines := (&comparison{comparedPairs}).lines(before, after)
	if len(lines) != 12002 || lines[0].sign != ' ' || lines[len(lines)-1].sign != ' ' {
		t.Errorf("%d lines, from %q to %q", len(lines), lines[0].sign, lines[len(lines)-1].sign)
	}
}

func TestACharacterIsNotTakenApartInADifference(t *testing.T) {
	t.Parallel()
	for before, after := range map[string]string{
		"at home: 👩\u200d👧 " + strings.Repeat("and so on ", 10):   "at home: 👩\u200d👦 " + strings.Repeat("and so on ", 10),
		strings.Repeat("漢字", 40) + "が" + strings.Repeat("仮名", 40): strings.Repeat("漢字", 40) + "か\u3099" + strings.Repeat("仮名", 40),
		"می\u200cخواهم " + strings.Repeat("and so on ", 10):       "می\u200cخواهد " + strings.Repeat("and so on ", 10),
		"I \u2764\ufe0f it " + strings.Repeat("and so on ", 10):   "I \u2764\ufe0fall of it " + strings.Repeat("and so on ", 10),
	} {
		for _, e := range (&comparison{comparedPairs}).words(before, after) {
			for _, part := range []string{e.Same, e.Old, e.Added} {
				if strings.HasPrefix(part, "\u200d") || strings.HasSuffix(part, "\u200d") || strings.HasSuffix(part, "\u200c") ||
					strings.HasPrefix(part, "\ufe0f") || strings.HasPrefix(part, "\u3099") {
					t.Errorf("%q stands alone in the difference of %q and %q", part, before, after)
				}
			}
		}
	}
}

func FuzzDifference(f *testing.F) {
	f.Add("short text", "", "A", uint16(5000), uint16(0))
	f.Add("a\nb\nc\n", "a\nx\nc", " word", uint16(300), uint16(200))
	f.Add("Größe. 日本語", "café. 日本\r\n", "字", uint16(500), uint16(500))
	f.Add("0", "+\r", "1\n", uint16(20), uint16(5))
	f.Add("x", "y", "a\n", uint16(2500), uint16(100))
	f.Add("👩\u200d", "\ufe0f", "e\u0301", uint16(50), uint16(50))
	f.Fuzz(func(t *testing.T, before, after, piece string, first, second uint16) {
		const most = 1 << 12
		repeated := func(n uint16) string { return strings.Repeat(piece, min(int(n), most/max(1, len(piece)))) }
		checkDifference(t, before+repeated(first), repeated(second)+after)
	})
}

// TestMemoryOfADifferenceIsProportionalToItsTexts counts what is allocated.
func TestMemoryOfADifferenceIsProportionalToItsTexts(t *testing.T) { //nolint:paralleltest // it counts
	const perByte, fixed = 600, 64 << 20
	size := cases.Of(1<<16, 1<<18, 1<<18)
	for name, piece := range map[string]string{"a word": "A", "words": "a ", "lines": "a\n", "a script without blanks": "字", "accents": "\u0301"} {
		text := strings.Repeat(piece, size/len(piece))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		difference("short text", text, false)
		difference(text+"x", "y"+text, true)
		runtime.ReadMemStats(&after)
		if cost := after.TotalAlloc - before.TotalAlloc; cost > uint64(3*perByte*size+fixed) {
			t.Errorf("%s: %d MB for %d kB", name, cost>>20, 3*size>>10)
		}
	}
}

func BenchmarkDifference(b *testing.B) {
	for name, tt := range map[string]struct{ before, after string }{
		"a long word":             {"short text", strings.Repeat("A", 60000)},
		"a script without blanks": {strings.Repeat("漢字仮名", 10000), strings.Repeat("交じり文", 10000)},
		"prose":                   {strings.Repeat("One sentence of many words. ", 400), strings.Repeat("Another sentence of some words. ", 400)},
		"as much as is compared":  {strings.Repeat("a b\nc\n", 2500), strings.Repeat("b\nd e\n", 2500)},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				difference(tt.before, tt.after, true)
			}
		})
	}
}
