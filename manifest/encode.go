package manifest

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/yamltext"
)

// Map is a mapping that keeps its order. A value is a text, a [Literal], a
// Map, or a []any of these.
type Map []Entry

// Entry is one key of a [Map] with its value.
type Entry struct {
	Key   string
	Value any
}

// With returns the mapping with one more key, unless the value is empty.
func (m Map) With(key string, value any) Map {
	switch v := value.(type) {
	case string, Literal:
		if v == "" || v == Literal("") {
			return m
		}
	case Map:
		if len(v) == 0 {
			return m
		}
	case []any:
		if len(v) == 0 {
			return m
		}
	}
	return append(m, Entry{key, value})
}

// Get returns the value of a key, or nil.
func (m Map) Get(key string) any {
	for _, entry := range m {
		if entry.Key == key {
			return entry.Value
		}
	}
	return nil
}

// Literal is a [yamltext.Literal]. Whatever else it holds is a text.
type Literal = yamltext.Literal

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
	if hasTab(f, text) {
		return "it holds the control character " + runeName('\t')
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

// hasTab reports whether a name holds a tab: people see a space, and whoever wrote it mostly meant a backslash.
func hasTab(f *resource.Field, text string) bool {
	return (f.Type == resource.Text || f.IsRef()) && strings.ContainsRune(text, '\t')
}

// replaceUnprintable replaces what could end a comment or hide in it.
func replaceUnprintable(r rune) rune {
	if !yamltext.Printable(r) {
		return '?'
	}
	return r
}

// lines writes a key and its value.
func (entry Entry) lines() []string {
	key := yamltext.Scalar(entry.Key, true) + ":"
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
		return yamltext.Scalar(v, false), nil
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
		line = yamltext.Scalar(v, true)
		return line, len(line) <= longest && !strings.Contains(v, "\n")
	case Map:
		for _, entry := range v {
			inner, fits := flow(entry.Value)
			if !fits {
				return "", false
			}
			parts = append(parts, yamltext.Scalar(entry.Key, true)+": "+inner)
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
// is. One that begins with white space is not, for people's sake.
func literalHead(text string) (head string, ok bool) {
	if !strings.Contains(text, "\n") || strings.ContainsRune(" \t\n", rune(text[0])) {
		return "", false
	}
	return yamltext.BlockHead(text)
}
