package view

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
	viramas            = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca" // signs of Indic scripts that join letters
	unjoined           = "ءآأؤإاةدذرزژوىٱ"                                              // Arabic letters that never join the next one
)

// maxMarks is the maximum number of accents on one letter.
const maxMarks = 8

// Safe returns a text that is fit for one line of a terminal or a log. Control characters
// (line ends among them), escape sequences, characters that reverse or hide text
// and invalid UTF-8 become visible escapes, such as \n, \x1b and \u202e.
//
// A text that a CI system would read as a command gets an escape for one character: ##vso[
// anywhere, :: at the beginning.
//
// A joiner or a variation selector stays only if it changes the look of its neighbours,
// because otherwise two different names would look the same. See [joins] for the rule.
func Safe(s string) string {
	var b strings.Builder
	written, marks := 0, 0
	for i := 0; i < len(s); {
		if s[i] >= ' ' && s[i] < 0x7f && s[i] != '#' && s[i] != ':' {
			marks = 0
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if marks++; !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
		}
		if isDangerous(r, size) || marks > maxMarks || isCommand(s, i) || !joins(s[written:i], r, s[i+size:]) {
			b.WriteString(s[written:i])
			writeEscape(&b, r, s[i])
			written = i + size
		}
		i += size
	}
	if written == 0 {
		return s
	}
	return b.String() + s[written:]
}

// joins reports whether a joiner or a variation selector changes the look of the characters around it. It returns true for
// every other character.
//
//   - A selector counts if it changes the width of a character, such as ❤ but not 🎉 or a letter, and after the digit of a keycap.
//   - A joiner counts between two emoji, and between a letter and the virama of an Indic script.
//   - A non-joiner counts beside a virama too, and between two Arabic letters if the first letter would join the second.
func joins(before string, r rune, after string) bool {
	isSelector := r >= '\ufe00' && r <= '\ufe0f'
	if !isSelector && r != zeroWidthJoiner && r != zeroWidthNonJoiner {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	next, size := utf8.DecodeRuneInString(after)
	joined := strings.ContainsRune(viramas, last) && unicode.IsLetter(next) || unicode.IsLetter(last) && strings.ContainsRune(viramas, next)
	switch {
	case isSelector:
		base := string(last)
		return uniseg.StringWidth(base+string(r)) != uniseg.StringWidth(base) || next == '\u20e3' && strings.ContainsRune("0123456789#*", last)
	case r == zeroWidthNonJoiner && unicode.In(last, unicode.Arabic) && unicode.In(next, unicode.Arabic):
		return unicode.IsLetter(next) && !strings.ContainsRune(unjoined, last)
	case joined || r == zeroWidthNonJoiner:
		return joined
	}
	emoji, clusters := before[max(0, len(before)-4*utf8.UTFMax):], uniseg.GraphemeClusterCount
	return clusters(emoji+string(r)+after[:size]) == clusters(emoji) && clusters("a"+after[:size]) == 2
}

// isCommand reports whether the character at i belongs to the mark of a command in the log of a
// CI system: the second # of ##[, ##vso[ and ##teamcity[, or the first colon of a text that
// begins with :: after any white space.
func isCommand(s string, i int) bool {
	switch s[i] {
	case '#':
		return i > 0 && s[i-1] == '#' && strings.HasPrefix(strings.TrimLeft(s[i+1:min(len(s), i+maxCommand)], letters), "[")
	case ':':
		return strings.HasPrefix(s[i:], "::") && strings.TrimSpace(s[:i]) == ""
	default:
		return false
	}
}

const (
	letters    = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	maxCommand = 32
)

// isDangerous reports whether a rune of the given length must not reach a terminal.
func isDangerous(r rune, size int) bool {
	switch {
	case r < ' ' || r == 0x7f:
		return true
	case r < 0x7f:
		return false
	case r == utf8.RuneError:
		return size == 1
	case r == zeroWidthNonJoiner || r == zeroWidthJoiner: // see joins
		return false
	case r == '\u2800', r >= 0xe0100 && r <= 0xe01ef: // an empty Braille cell, and variants without a font
		return true
	default:
		return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
	}
}

// writeEscape writes a character as an escape, such as \n or \u202e, or the first byte of invalid UTF-8 as an escape like \xff.
func writeEscape(b *strings.Builder, r rune, first byte) {
	if r <= 0x7f && r != '\n' && r != '\r' && r != '\t' || r == utf8.RuneError {
		fmt.Fprintf(b, `\x%02x`, first)
		return
	}
	q := strconv.QuoteRuneToASCII(r) // 'ሴ', with its quotes
	b.WriteString(q[1 : len(q)-1])
}

// quote returns a safe text in quotation marks, with a backslash before each quotation mark and backslash in the text.
func quote(s string) string {
	if strings.ContainsAny(s, `"\`) {
		s = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
	}
	return `"` + Safe(s) + `"`
}

// width returns the number of columns of a safe text on a terminal.
func width(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return uniseg.StringWidth(s)
		}
	}
	return len(s)
}

// truncate returns a safe text in at most the given number of columns. A shortened text ends with an ellipsis.
func truncate(s string, columns int) string {
	if columns <= 0 {
		return ""
	}
	if width(s) <= columns {
		return s
	}
	used, cut := 0, 0
	for g := uniseg.NewGraphemes(s); g.Next(); {
		if used+g.Width() > columns-1 {
			break
		}
		used += g.Width()
		_, cut = g.Positions()
	}
	return s[:cut] + "…"
}

// spaces returns n spaces.
func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }
