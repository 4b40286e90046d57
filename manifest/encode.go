package manifest

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/yamltext"
)

// Map is a mapping with a fixed order of keys. A value is a text, a [Literal], a Map, or a []any of these.
type Map []Entry

// Entry is one key of a [Map] with its value.
type Entry struct {
	Key   string
	Value any
}

// With returns the mapping with one more key, unless the value is empty.
func (mp Map) With(key string, value any) Map {
	switch v := value.(type) {
	case string, Literal:
		if v == "" || v == Literal("") {
			return mp
		}
	case Map:
		if len(v) == 0 {
			return mp
		}
	case []any:
		if len(v) == 0 {
			return mp
		}
	}
	return append(mp, Entry{key, value})
}

// Get returns the value of a key, or nil.
func (mp Map) Get(key string) any {
	for _, entry := range mp {
		if entry.Key == key {
			return entry.Value
		}
	}
	return nil
}

// Literal is a [yamltext.Literal]. If it is not a number or a word, it is encoded as a text.
type Literal = yamltext.Literal

var literal = regexp.MustCompile(`^[-+]?[A-Za-z0-9][-+.A-Za-z0-9]*$`)

// Encode returns a document as YAML, with a comment in front. Load reads the same texts back, and equal documents give equal bytes. The
// YAML library is not used because it escapes every emoji.
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

// CheckText returns the reason why a manifest cannot give a field this text, or "". It does not check the schema.
func CheckText(f *resource.Field, text string) string {
	if r, bad := controlCharacter(text); bad {
		return "it contains the control character " + runeName(r)
	}
	if hasTab(f, text) {
		return "it contains the control character " + runeName('\t')
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

// hasTab reports whether a name contains a tab. It looks like a space, and is usually a mistyped backslash escape.
func hasTab(f *resource.Field, text string) bool {
	return (f.Type == resource.Text || f.IsRef()) && strings.ContainsRune(text, '\t')
}

// replaceUnprintable replaces a character that could end a comment or be invisible in it.
func replaceUnprintable(r rune) rune {
	if !yamltext.Printable(r) {
		return '?'
	}
	return r
}

// lines returns the lines of a key and its value.
func (en Entry) lines() []string {
	key := yamltext.Scalar(en.Key, true) + ":"
	head, below := encodeBlock(en.Value, true)
	if head != "" {
		key += " " + head
	}
	return append([]string{key}, indent(below)...)
}

// encodeBlock encodes a value: head follows its key or hyphen, and the lines of below follow that line. allowFlow allows a mapping on one
// line.
func encodeBlock(v any, allowFlow bool) (head string, below []string) {
	line, fits := encodeFlow(v)
	switch v := v.(type) {
	case string:
		if head, ok := blockScalarHead(v); ok {
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
			head, inner := encodeBlock(member, allowFlow)
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

// isShort reports whether a member of a list is readable on one line.
func isShort(v any) bool {
	const most = 3
	m, _ := v.(Map)
	_, fits := encodeFlow(v)
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

// encodeFlow encodes a value on one line; fits is false if the line is too long.
func encodeFlow(v any) (line string, fits bool) {
	const longest = 100
	var parts []string
	switch v := v.(type) {
	case nil:
		return "null", true
	case Literal:
		if !literal.MatchString(string(v)) {
			return encodeFlow(string(v))
		}
		return string(v), true
	case string:
		line = yamltext.Scalar(v, true)
		return line, len(line) <= longest && !strings.Contains(v, "\n")
	case Map:
		for _, entry := range v {
			inner, fits := encodeFlow(entry.Value)
			if !fits {
				return "", false
			}
			parts = append(parts, yamltext.Scalar(entry.Key, true)+": "+inner)
		}
		line = "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, member := range v {
			inner, fits := encodeFlow(member)
			if !fits {
				return "", false
			}
			parts = append(parts, inner)
		}
		line = "[" + strings.Join(parts, ", ") + "]"
	}
	return line, len(line) <= longest
}

// blockScalarHead returns the head of a block scalar for a text of several lines. Texts that begin with white space are quoted, because
// they are hard to read in a block.
func blockScalarHead(text string) (head string, ok bool) {
	if !strings.Contains(text, "\n") || strings.ContainsRune(" \t\n", rune(text[0])) {
		return "", false
	}
	return yamltext.BlockHead(text)
}
