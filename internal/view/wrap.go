package view

import (
	"regexp"
	"strings"

	"github.com/rivo/uniseg"
)

var (
	// of a field, a check, and what has a sign
	beginnings = regexp.MustCompile(`^(    [^ :]+: +|(ok|warning|problem)  +\S+( \S+)*  +| +([-+~]|-?->) )`)
	// that switch colours; nothing else in a safe text begins so
	sequences = regexp.MustCompile(`\x1b\[[0-9;]*m`)
)

// wrapped breaks a line that is wider than the terminal, between words or behind a wide character. A word that is wider than
// that by itself, such as an address, is left to the terminal: so it can be copied.
func wrapped(text string, columns int) string {
	if len(text) <= columns {
		return text
	}
	indent := hanging(sequences.ReplaceAllString(text, ""), columns)
	var b strings.Builder
	at, gap, color, breakable := 0, 0, "", false
	between := "" // spaces, and switches of colours
	for _, piece := range pieces(text) {
		if piece[0] == ' ' || piece[0] == '\x1b' {
			if between += piece; piece[0] == ' ' {
				gap, breakable = gap+len(piece), at > 0
			}
			continue
		}
		w := width(piece)
		wide := w > 1 && len(piece) > w
		if at+gap+w > columns && indent+w <= columns && (breakable || wide) && at > indent {
			if color != "" {
				b.WriteString("\x1b[0m")
			}
			b.WriteString("\n" + blanks(indent) + color)
			at, gap, between = indent, 0, strings.ReplaceAll(between, " ", "")
		}
		b.WriteString(between + piece)
		at += gap + w
		if last := strings.LastIndexByte(between, '\x1b'); last >= 0 {
			if color = sequences.FindString(between[last:]); strings.HasPrefix(color, "\x1b[0") || strings.HasPrefix(color, "\x1b[22") {
				color = ""
			}
		}
		gap, between, breakable = 0, "", wide
	}
	return b.String() + between
}

// hanging is the column in which the rest of a line goes on.
func hanging(text string, columns int) int {
	if beginning := beginnings.FindString(text); beginning != "" && len(beginning) < columns/2 {
		return len(beginning)
	}
	if margin := len(text) - len(strings.TrimLeft(text, " ")); margin > 0 {
		return margin
	}
	return 4
}

// pieces are the parts of a line that are not broken: switches of colours, spaces, wide characters, and what stands between them.
func pieces(text string) []string {
	var all []string
	for text != "" {
		end := 0
		if text[0] == '\x1b' {
			end = sequences.FindStringIndex(text)[1]
		} else if end = len(text) - len(strings.TrimLeft(text, " ")); end == 0 {
			for rest := text; rest != "" && rest[0] != ' ' && rest[0] != '\x1b'; {
				cluster, _, w, _ := uniseg.FirstGraphemeClusterInString(rest, -1)
				if w > 1 && end > 0 {
					break
				}
				end += len(cluster)
				if rest = rest[len(cluster):]; w > 1 {
					break
				}
			}
		}
		all, text = append(all, text[:end]), text[end:]
	}
	return all
}
