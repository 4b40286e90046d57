package view

import (
	"regexp"
	"strings"

	"github.com/rivo/uniseg"
)

var (
	// beginnings matches the beginning of a line before its text: a field's name, a check's status and name, or a sign.
	beginnings = regexp.MustCompile(`^(    [^ :]+: +|(ok|warning|problem)  +\S+( \S+)*  +| +([-+~]|-?->) )`)
	// sequences matches the escape sequences of colours, the only escape sequences in a safe text.
	sequences = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	// tokensOfLine matches an escape sequence, a run of spaces, or a word.
	tokensOfLine = regexp.MustCompile(`\x1b\[[0-9;]*m| +|[^ \x1b]+`)
)

// wrapped breaks a text that is wider than the terminal into lines, between words or beside a wide character. A word that is wider
// than a line, such as an address, is broken after a slash or at the end of the line.
func wrapped(text string, columns int) string {
	if len(text) <= columns {
		return text
	}
	indent := hanging(sequences.ReplaceAllString(text, ""), columns)
	var b strings.Builder
	at, color := 0, ""
	gap, between := 0, "" // columns of the spaces before the next word, and the spaces with escape sequences
	tokens := tokensOfLine.FindAllString(text, -1)
	for i, token := range tokens {
		switch {
		case token[0] == '\x1b':
			between += token
			continue
		case token[0] == ' ' && at == 0:
			token = token[:min(len(token), columns/2)]
			fallthrough
		case token[0] == ' ':
			gap, between = gap+len(token), between+token
			continue
		}
		parts := partsOf(token, columns-indent)
		for k, part := range parts {
			room := width(part)
			if k == 0 && gap > 0 && len(parts) == 1 {
				room = wordWidth(tokens[i:])
			}
			if at+gap+room > columns && at+gap > indent && (room <= columns-indent || at+gap+width(part) > columns) {
				if color != "" {
					b.WriteString("\x1b[0m")
				}
				b.WriteString("\n" + spaces(indent) + color)
				at, gap, between = indent, 0, strings.ReplaceAll(between, " ", "")
			}
			b.WriteString(between + part)
			at += gap + width(part)
			if last := strings.LastIndexByte(between, '\x1b'); last >= 0 {
				if color = sequences.FindString(between[last:]); strings.HasPrefix(color, "\x1b[0") || strings.HasPrefix(color, "\x1b[22") {
					color = ""
				}
			}
			gap, between = 0, ""
		}
	}
	return b.String() + between
}

// hanging returns the indent of the further lines of a broken line.
func hanging(text string, columns int) int {
	if beginning := beginnings.FindString(text); beginning != "" && len(beginning) < columns/2 {
		return len(beginning)
	}
	if margin := len(text) - len(strings.TrimLeft(text, " ")); margin > 0 {
		return min(margin, columns/2)
	}
	return min(4, columns/2)
}

// wordWidth returns the width of the word at the beginning of a list of tokens.
func wordWidth(tokens []string) (columns int) {
	for _, token := range tokens {
		if token[0] == ' ' {
			break
		}
		if token[0] != '\x1b' {
			columns += width(token)
		}
	}
	return columns
}

// partsOf returns the parts of a word between which a line may be broken. No part is wider than a line. A wide character is
// a part, and a word that is wider than a line is also split after each slash.
func partsOf(word string, columns int) (parts []string) {
	if len(word) <= columns {
		return []string{word}
	}
	tooLong, begin, at, used := width(word) > columns, 0, 0, 0
	flush := func() {
		if at > begin {
			parts = append(parts, word[begin:at])
		}
		begin, used = at, 0
	}
	for rest := word; rest != ""; {
		cluster, after, w, _ := uniseg.FirstGraphemeClusterInString(rest, -1)
		if w > 1 || used+w > columns {
			flush()
		}
		rest, at, used = after, at+len(cluster), used+w
		if w > 1 || tooLong && cluster == "/" && !strings.HasPrefix(rest, "/") {
			flush()
		}
	}
	flush()
	return parts
}
