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
}

// Literal is written as it is: a number, a date, true, false or null. Whatever else it holds is a text.
type Literal string

var literal = regexp.MustCompile(`^[-+]?[A-Za-z0-9][-+.A-Za-z0-9]*$`)

// Encode writes a document as YAML with a comment in front. What it writes, Load
// reads back as the same texts; the same document gives the same bytes. The YAML
// library would escape every emoji, and write a text with one in it on one line.
func Encode(comment string, document Map) []byte {
	var out bytes.Buffer
	for line := range strings.SplitSeq(comment, "\n") {
		out.WriteString(strings.TrimRight("# "+strings.Map(replaceUnprintable, line), " ") + "\n")
	}
	for i, entry := range document {
		if _, list := entry.Value.([]any); list && i > 0 {
			out.WriteByte('\n')
		}
		for _, line := range entry.lines() {
			out.WriteString(line + "\n")
		}
	}
	return out.Bytes()
}

// CheckText says why a manifest cannot give that text for the field, or "". What
// the schema says of it is not part of this.
func CheckText(f *resource.Field, text string) string {
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
		if bad := urlProblem(text); bad != nil {
			return bad.summary
		}
	}
	return ""
}

// replaceUnprintable replaces what could end a comment or hide in it.
func replaceUnprintable(r rune) rune {
	if !Printable(r) {
		return '?'
	}
	return r
}

// lines writes a key and its value.
func (entry Entry) lines() []string {
	key := Scalar(entry.Key, true) + ":"
	head, below := block(entry.Value, true)
	if head != "" {
		key += " " + head
	}
	return append([]string{key}, indent(below)...)
}

// block writes a value: head behind its key or hyphen, and the lines below that.
// short allows a mapping to stand on one line.
func block(v any, allowFlow bool) (head string, below []string) {
	line, fits := flow(v)
	switch v := v.(type) {
	case string:
		if head, ok := literalHead(v); ok {
			return head, strings.Split(strings.TrimSuffix(v, "\n"), "\n")
		}
		return Scalar(v, false), nil
	case Map:
		if fits && (allowFlow || len(v) == 0) {
			return line, nil
		}
		for _, entry := range v {
			below = append(below, entry.lines()...)
		}
		return "", below
	case []any:
		if fits && !slices.ContainsFunc(v, func(v any) bool { _, isMap := v.(Map); return isMap }) {
			return line, nil
		}
		allowFlow := !slices.ContainsFunc(v, func(v any) bool { return !isShort(v) }) // mappings of a list share one form
		for _, member := range v {
			head, inner := block(member, allowFlow)
			if head == "" {
				head, inner = inner[0], inner[1:]
			}
			below = append(append(below, "- "+head), indent(inner)...)
		}
		return "", below
	default:
		return line, nil
	}
}

// isShort reports whether a member of a list fits its line without hiding anything.
func isShort(v any) bool {
	const most = 3
	m, _ := v.(Map)
	_, fits := flow(v)
	return fits && len(m) <= most
}

func indent(lines []string) []string {
	for i, line := range lines {
		if line != "" {
			lines[i] = "  " + line
		}
	}
	return lines
}

// flow writes a value on one line, if it is short enough for that.
func flow(v any) (line string, fits bool) {
	const longest = 100
	var parts []string
	switch v := v.(type) {
	case nil:
		return "null", true
	case Literal:
		if !literal.MatchString(string(v)) {
			return flow(string(v))
		}
		return string(v), true
	case string:
		line = Scalar(v, true)
		return line, len(line) <= longest && !strings.Contains(v, "\n")
	case Map:
		for _, entry := range v {
			inner, fits := flow(entry.Value)
			if !fits {
				return "", false
			}
			parts = append(parts, Scalar(entry.Key, true)+": "+inner)
		}
		line = "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, member := range v {
			inner, fits := flow(member)
			if !fits {
				return "", false
			}
			parts = append(parts, inner)
		}
		line = "[" + strings.Join(parts, ", ") + "]"
	}
	return line, len(line) <= longest
}

// literalHead is what stands before a text of several lines that is written as it
// is. One that begins with white space is not: readers would count it as indentation.
func literalHead(text string) (head string, ok bool) {
	body := strings.TrimRight(text, "\n")
	if !strings.Contains(text, "\n") || body == "" || strings.ContainsRune(" \t\n", rune(body[0])) ||
		strings.ContainsFunc(body, func(r rune) bool { return r != '\n' && r != '\t' && !Printable(r) }) {
		return "", false
	}
	return []string{"|-", "|", "|+"}[min(len(text)-len(body), 2)], true
}

// Scalar writes a text on one line. inFlow says that it stands between brackets, or is a key.
func Scalar(text string, inFlow bool) string {
	if canBePlain(text, inFlow) {
		return text
	}
	return Quoted(text)
}

// Quoted writes a text in quotation marks.
func Quoted(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '"' || r == '\\' || !Printable(r) { // the escapes of Go are some of those of YAML
			escaped := strconv.QuoteToASCII(string(r))
			b.WriteString(escaped[1 : len(escaped)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

// sexagesimal matches what older readers take for a number to the base of 60, such as a time.
var sexagesimal = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)

// canBePlain reports whether a text can stand without quotes and stays a text to every reader.
func canBePlain(text string, inFlow bool) bool {
	const (
		begins = "-?:,[]{}#&*!|>'\"%@`=~<" // indicators, and what older readers resolve
		inside = ",[]{}:?"                 // which mean something between brackets
	)
	if text == "" || text[0] == ' ' || text[len(text)-1] == ' ' || text[len(text)-1] == ':' || strings.IndexByte(begins, text[0]) >= 0 ||
		strings.Contains(text, ": ") || strings.Contains(text, " #") || inFlow && strings.ContainsAny(text, inside) || !utf8.ValidString(text) {
		return false
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !Printable(r) }) {
		return false
	}
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off", "---", "...":
		return false
	}
	n := node{Kind: scalarNode, Value: text}
	return n.ShortTag() == "!!str" && !sexagesimal.MatchString(text)
}

// Printable reports whether a character can stand in a file as it is: it shows, breaks
// no line, and does not change how others show.
func Printable(r rune) bool {
	const joiner, nonJoiner = '\u200D', '\u200C' // within emoji and words
	return unicode.IsPrint(r) && r != utf8.RuneError && r != 0xFEFF || unicode.Is(unicode.Zs, r) || r == joiner || r == nonJoiner
}
