package manifest

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/planform/planform/internal/resource"
)

// Map is a mapping that keeps its order. A value is a text, a [Literal], a
// Map, or a []any of these.
type Map []Entry

// Entry is one key of a [Map] with its value.
type Entry struct {
	Key   string
	Value any
	Note  string // a comment above it; "" = none
}

// Literal is written as it is: a number, a date, true, false or null.
type Literal string

// Encode writes a document as YAML with a comment in front. What it writes, Load
// reads back as the same texts; the same document gives the same bytes. Texts
// are quoted only where YAML, or an older reader of it, would take them for something else.
func Encode(comment string, document Map) []byte {
	e := &encoder{}
	e.comment(comment, 0)
	for i, entry := range document {
		if _, long := entry.Value.([]any); long && i > 0 {
			e.out.WriteByte('\n')
		}
		e.entry(entry, 0)
	}
	return e.out.Bytes()
}

// Fault says why a manifest cannot give that text for the field, or "". What
// the schema says of it is not part of this.
func Fault(f *resource.Field, text string) string {
	if r, bad := controlCharacter(text); bad {
		return "it holds the control character " + runeName(r)
	}
	if !utf8.ValidString(text) {
		return "it is not UTF-8"
	}
	if largest := (Limits{}).withDefaults().ScalarBytes; len(text) > largest/2 { // quoting may double it
		return "it is larger than " + bytesText(int64(largest/2))
	}
	if f.Type == resource.URL {
		if bad := urlFault(text); bad != nil {
			return bad.summary
		}
	}
	return ""
}

// encoder writes a document. Every method that begins a line writes its indentation too.
type encoder struct{ out bytes.Buffer }

const step = 2 // columns of indentation

func (e *encoder) indent(n int) { e.out.WriteString(strings.Repeat(" ", n)) }

func (e *encoder) comment(text string, indent int) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		e.indent(indent)
		e.out.WriteString(strings.TrimRight("# "+strings.Map(visible, line), " ") + "\n")
	}
}

// visible replaces what could end a comment or hide in it.
func visible(r rune) rune {
	if !raw(r) {
		return '?'
	}
	return r
}

// entry writes a key and its value on lines of their own.
func (e *encoder) entry(entry Entry, indent int) {
	e.comment(entry.Note, indent)
	e.indent(indent)
	e.pair(entry, indent)
}

// pair writes a key and its value where the line has begun already; indent is the column of the key.
func (e *encoder) pair(entry Entry, indent int) {
	e.out.WriteString(scalar(entry.Key, true) + ":")
	switch v := entry.Value.(type) {
	case string:
		e.out.WriteByte(' ')
		if block, ok := literal(v, indent+step); ok {
			e.out.WriteString(block)
			return
		}
		e.out.WriteString(scalar(v, false) + "\n")
	case Map:
		if line, ok := flow(v); ok {
			e.out.WriteString(" " + line + "\n")
			return
		}
		e.out.WriteByte('\n')
		for _, inner := range v {
			e.entry(inner, indent+step)
		}
	case []any:
		e.list(v, indent)
	default:
		line, _ := flow(v)
		e.out.WriteString(" " + line + "\n")
	}
}

// list writes the members of a list: on the line if they are few, else each on its
// own. Mappings among them share one form.
func (e *encoder) list(list []any, indent int) {
	isMap := func(v any) bool { _, ok := v.(Map); return ok }
	if line, ok := flow(list); ok && (len(list) == 0 || !slices.ContainsFunc(list, isMap)) {
		e.out.WriteString(" " + line + "\n")
		return
	}
	e.out.WriteByte('\n')
	short := !slices.ContainsFunc(list, func(v any) bool { return !brief(v) })
	for _, v := range list {
		e.member(v, indent+step, short)
	}
}

// brief reports whether a member of a list fits its line without hiding anything.
func brief(v any) bool {
	const most = 3
	m, isMap := v.(Map)
	_, fits := flow(v)
	return fits && (!isMap || len(m) <= most)
}

func (e *encoder) member(v any, indent int, short bool) {
	switch v := v.(type) {
	case Map:
		if len(v) == 0 || short {
			break
		}
		e.comment(v[0].Note, indent)
		e.indent(indent)
		e.out.WriteString("- ")
		e.pair(v[0], indent+step)
		for _, inner := range v[1:] {
			e.entry(inner, indent+step)
		}
		return
	case []any:
		if line, ok := flow(v); ok {
			e.indent(indent)
			e.out.WriteString("- " + line + "\n")
			return
		}
		e.indent(indent)
		e.out.WriteByte('-')
		e.list(v, indent)
		return
	case string:
		e.indent(indent)
		if block, ok := literal(v, indent+step); ok {
			e.out.WriteString("- " + block)
			return
		}
		e.out.WriteString("- " + scalar(v, false) + "\n")
		return
	}
	line, _ := flow(v)
	e.indent(indent)
	e.out.WriteString("- " + line + "\n")
}

// flow writes a value on one line, if it is short enough for that.
func flow(v any) (line string, ok bool) {
	const longest = 100
	switch v := v.(type) {
	case nil:
		return "null", true
	case Literal:
		return string(v), true
	case string:
		line = scalar(v, true)
		return line, len(line) <= longest && !strings.Contains(v, "\n")
	case Map:
		parts := make([]string, len(v))
		for i, entry := range v {
			inner, fits := flow(entry.Value)
			if !fits || entry.Note != "" {
				return "", false
			}
			parts[i] = scalar(entry.Key, true) + ": " + inner
		}
		line = "{" + strings.Join(parts, ", ") + "}"
	case []any:
		parts := make([]string, len(v))
		for i, member := range v {
			var fits bool
			if parts[i], fits = flow(member); !fits {
				return "", false
			}
		}
		line = "[" + strings.Join(parts, ", ") + "]"
	}
	return line, len(line) <= longest
}

// literal writes a text of several lines as a block whose lines begin in the given column.
func literal(text string, indent int) (block string, ok bool) {
	body := strings.TrimRight(text, "\n")
	if !strings.Contains(text, "\n") || body == "" || body[0] == '\n' || strings.ContainsFunc(body, func(r rune) bool { return r != '\n' && r != '\t' && !raw(r) }) || !utf8.ValidString(body) {
		return "", false
	}
	var b strings.Builder
	b.WriteByte('|')
	if body[0] == ' ' || body[0] == '\t' { // the reader cannot tell the indentation from the first line
		b.WriteString(strconv.Itoa(step))
	}
	switch len(text) - len(body) {
	case 0:
		b.WriteByte('-')
	case 1:
	default:
		b.WriteByte('+')
	}
	b.WriteByte('\n')
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" {
			b.WriteString(strings.Repeat(" ", indent) + line)
		}
		b.WriteByte('\n')
	}
	b.WriteString(strings.Repeat("\n", max(0, len(text)-len(body)-1)))
	return b.String(), true
}

// scalar writes a text on one line. inFlow says that it stands between brackets, or is a key.
func scalar(text string, inFlow bool) string {
	switch {
	case plain(text, inFlow):
		return text
	case strings.ContainsAny(text, `"\`) && !strings.ContainsFunc(text, func(r rune) bool { return r == '\'' || !raw(r) }) && utf8.ValidString(text):
		return "'" + text + "'"
	default:
		return doubleQuoted(text)
	}
}

// sexagesimal matches what older readers take for a number to the base of 60, such as a time.
var sexagesimal = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)

// plain reports whether a text can stand without quotes and stays a text to every reader.
func plain(text string, inFlow bool) bool {
	const (
		begins = "-?:,[]{}#&*!|>'\"%@`=~<" // indicators, and what older readers resolve
		inside = ",[]{}:?"                 // which mean something between brackets
	)
	if text == "" || text[0] == ' ' || text[len(text)-1] == ' ' || text[len(text)-1] == ':' || strings.IndexByte(begins, text[0]) >= 0 ||
		strings.Contains(text, ": ") || strings.Contains(text, " #") || inFlow && strings.ContainsAny(text, inside) || !utf8.ValidString(text) {
		return false
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !raw(r) }) {
		return false
	}
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off", "---", "...":
		return false
	}
	n := node{Kind: scalarNode, Value: text}
	return n.ShortTag() == "!!str" && !sexagesimal.MatchString(text)
}

// raw reports whether a character can stand in a file as it is: it shows, breaks
// no line, and does not change how others show.
func raw(r rune) bool {
	const joiner, nonJoiner = '\u200D', '\u200C' // within emoji and words
	return unicode.IsPrint(r) && r != utf8.RuneError && r != 0xFEFF || unicode.Is(unicode.Zs, r) || r == joiner || r == nonJoiner
}

func doubleQuoted(text string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case raw(r) || r == utf8.RuneError:
			b.WriteRune(r)
		default:
			kind, digits := byte('x'), 2
			switch {
			case r > 0xFFFF:
				kind, digits = 'U', 8
			case r > 0xFF:
				kind, digits = 'u', 4
			}
			b.WriteByte('\\')
			b.WriteByte(kind)
			for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
				b.WriteByte(hex[r>>shift&0xF])
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}
