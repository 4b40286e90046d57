package view

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const hexDigits = "0123456789abcdef"

// Safe makes a text fit for one line of a terminal or a log: control characters
// (line ends among them), escape sequences, characters that reverse or hide text
// and bytes that are no UTF-8 become visible, such as \n, \x1b and \u202e. A text
// without any comes back as it is.
func Safe(s string) string {
	at := 0
	for at < len(s) && s[at] >= ' ' && s[at] < 0x7f {
		at++
	}
	if at == len(s) {
		return s
	}
	var b strings.Builder
	clean := true
	for i := at; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if dangerous(r, size) {
			if clean {
				b.Grow(len(s) + 16)
				b.WriteString(s[:i])
				clean = false
			}
			writeEscape(&b, r, s[i])
		} else if !clean {
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	if clean {
		return s
	}
	return b.String()
}

// dangerous reports whether a rune of the given length must not reach a terminal.
func dangerous(r rune, size int) bool {
	switch {
	case r < ' ' || r == 0x7f:
		return true
	case r < 0x7f:
		return false
	case r == utf8.RuneError:
		return size == 1
	case r == '\u200c' || r == '\u200d': // joiners: Persian, Indic scripts and emoji need them
		return false
	default:
		return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	}
}

func writeEscape(b *strings.Builder, r rune, first byte) {
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case r == utf8.RuneError || r <= 0x7f:
		b.WriteString(`\x`)
		b.WriteByte(hexDigits[first>>4])
		b.WriteByte(hexDigits[first&15])
	default:
		q := strconv.QuoteRuneToASCII(r) // 'ሴ', with its quotes
		b.WriteString(q[1 : len(q)-1])
	}
}

// quote is Safe between quotation marks, in which those and the backslash are escaped.
func quote(s string) string {
	if strings.ContainsAny(s, `"\`) {
		s = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
	}
	return `"` + Safe(s) + `"`
}

// clip shortens a text to that many characters, the last of them an ellipsis.
func clip(s string, characters int) string {
	if len(s) <= characters {
		return s
	}
	n := 0
	cut := 0
	for i := range s {
		n++
		if n == characters {
			cut = i
		}
		if n > characters {
			return s[:cut] + "…"
		}
	}
	return s
}

// width is the number of columns that a safe text takes on a terminal.
func width(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return uniseg.StringWidth(s)
		}
	}
	return len(s)
}

// fit shortens a safe text to that many columns, the last of them an ellipsis.
func fit(s string, columns int) string {
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

const spaces = "                                                                "

// blanks is n spaces.
func blanks(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(spaces) {
		return spaces[:n]
	}
	return strings.Repeat(" ", n)
}
