package yamltext

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Literal is written unquoted: a number, a date, true, false or null.
type Literal string

const (
	step        = 2 // columns of one indentation
	blockStyles = yaml.LiteralStyle | yaml.FoldedStyle
)

// BlockHead returns the head of a text as a block scalar, whose lines are indented by two spaces. ok is false if the text cannot be a
// block: a character would be invisible, or its first line would be taken for indentation.
func BlockHead(text string) (head string, ok bool) {
	body := strings.TrimRight(text, "\n")
	first := strings.TrimLeft(body, "\n")
	if strings.Trim(first, " \t\n") == "" || first[0] == '\t' ||
		strings.ContainsFunc(body, func(r rune) bool { return r != '\n' && r != '\t' && !Printable(r) }) {
		return "", false
	}
	head = "|"
	if strings.IndexByte(" \n", text[0]) >= 0 { // otherwise the blanks would count as indentation
		head += strconv.Itoa(step)
	}
	return head + []string{"-", "", "+"}[min(len(text)-len(body), 2)], true
}

// Scalar returns a text on one line. inFlow tells that it stands between brackets, or is a key.
func Scalar(text string, inFlow bool) string {
	if canBePlain(text, inFlow) {
		return text
	}
	return Quoted(text)
}

// Quoted returns a text in quotation marks.
func Quoted(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '"' || r == '\\' || !Printable(r) { // YAML knows all escapes of Go
			escaped := strconv.QuoteToASCII(string(r))
			b.WriteString(escaped[1 : len(escaped)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

// sexagesimal matches a text that older readers take for a number in base 60, such as a time.
var sexagesimal = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)

// canBePlain reports whether every reader reads a text as the same text without quotes.
func canBePlain(text string, inFlow bool) bool {
	const (
		begins = "-?:,[]{}#&*!|>'\"%@`=~<" // indicators, and texts that older readers convert
		inside = ",[]{}:?"                 // have a meaning between brackets
	)
	if text == "" || text[0] == ' ' || text[len(text)-1] == ' ' || text[len(text)-1] == ':' || strings.IndexByte(begins, text[0]) >= 0 ||
		strings.Contains(text, ": ") || strings.Contains(text, " #") || inFlow && strings.ContainsAny(text, inside) || !utf8.ValidString(text) {
		return false
	}
	if hasHidden(text) {
		return false
	}
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off", "---", "...":
		return false
	}
	n := yaml.Node{Kind: yaml.ScalarNode, Value: text}
	return n.ShortTag() == "!!str" && !sexagesimal.MatchString(text)
}

// hasHidden reports whether a text has a character that is not visible.
func hasHidden(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return !Printable(r) })
}

// Printable reports whether a character can be written unescaped: it is visible, breaks no line, and does not change other characters.
func Printable(r rune) bool {
	const joiner, nonJoiner = '\u200D', '\u200C' // within emoji and words
	return unicode.IsPrint(r) && r != utf8.RuneError && r != 0xFEFF || unicode.Is(unicode.Zs, r) || r == joiner || r == nonJoiner
}
