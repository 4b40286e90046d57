package manifest

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/yamltext"
)

// SyntaxError returns the finding for a YAML syntax error. ok is false for other errors.
func SyntaxError(file string, err error, text []byte) (d diag.Diagnostic, ok bool) {
	if !strings.HasPrefix(err.Error(), "yaml: ") {
		return d, false
	}
	return syntaxError(file, err, string(text)), true
}

// keptBytes limits the text that is kept to find the cause of a syntax error.
const keptBytes = 4 << 20

// syntaxError explains a YAML syntax error. The library names only the line in which the surrounding list or mapping begins, so the error
// is searched in text, which is empty if the file is too long. No text of the file is quoted, because the file may be something else than a
// manifest, and secret.
func syntaxError(file string, err error, text string) diag.Diagnostic {
	line, problem := libraryError(err)
	d := diag.Diagnostic{Code: "yaml-syntax", Position: diag.Position{File: file}}
	x := syntax{problem: problem, around: line}
	if text != "" {
		x.lines = strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
		x.line = x.locate()
	}
	c := x.findCause()
	d.Summary, d.Hint = "the file is not valid YAML: "+c.what, c.hint
	switch {
	case c.line > 0:
		d.Position.Line, d.Position.Column = c.line, c.column
	case x.line > 0:
		d.Position.Line = x.line
	case line > 0:
		d.Position.Line = line
		d.Summary = fmt.Sprintf("the file is not valid YAML near line %d: %s", line, c.what)
	}
	return d
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// libraryError splits an error of the library into its line, 0 if it names none, and its message.
func libraryError(err error) (line int, problem string) {
	problem = err.Error()
	if m := yamlLine.FindStringSubmatch(problem); m != nil {
		problem = problem[len(m[0]):]
		if n, err := strconv.ParseInt(m[1], 10, 32); err == nil {
			line = int(n)
		}
	}
	return line, problem
}

// syntax is an error of the YAML library, together with the text of the file.
type syntax struct {
	problem string   // the library's message
	around  int      // line, from 1, of the list or mapping around the error; 0 = unknown
	lines   []string // of the file; empty = not kept
	line    int      // of the error, from 1; 0 = unknown
	read    int      // number of lines that the library had read at the error
}

// cause is the probable cause of a syntax error.
type cause struct {
	line, column int // from 1; 0 = no better place is known
	what, hint   string
}

// readAhead is the number of lines that the library reads ahead.
const readAhead = 3

// locate returns the line that makes the text invalid, or 0. The text up to the line before it is valid.
func (sy *syntax) locate() int {
	r := &lineReader{rest: sy.lines}
	err := yamltext.Documents(r, func(*node) {})
	if sy.read = r.handed; err == nil {
		sy.read = len(sy.lines) + 1
		return 0
	}
	valid := func(lines int) bool {
		return lines >= 0 && yamltext.Documents(strings.NewReader(strings.Join(sy.lines[:lines], "\n")), func(*node) {}) == nil
	}
	for lines := r.handed - 1; lines >= max(0, r.handed-readAhead); lines-- {
		if valid(lines) {
			return lines + 1
		}
	}
	if sy.around > 1 && sy.around <= len(sy.lines) && valid(sy.around-1) {
		return sy.around
	}
	return 0
}

// lineReader returns one line per read, and counts the lines that were read.
type lineReader struct {
	rest   []string
	handed int
	part   string
}

func (lr *lineReader) Read(p []byte) (int, error) {
	if lr.part == "" {
		if len(lr.rest) == 0 {
			return 0, io.EOF
		}
		lr.part, lr.rest = lr.rest[0]+"\n", lr.rest[1:]
		lr.handed++
	}
	n := copy(p, lr.part)
	lr.part = lr.part[n:]
	return n, nil
}

var (
	hyphenWord      = regexp.MustCompile(`^( *(?:- +)*)-([A-Za-z_"'][^:]*:( |$))`)
	unspacedKey     = regexp.MustCompile(`^ *(?:- +)*[A-Za-z_]+:[^ :/]`)
	openQuote       = regexp.MustCompile(`(?:^ *|[:,\[{-] +|[\[{])(["'])`)
	referenceInFlow = regexp.MustCompile(`[{\[][^"']*\$\{\{`)
	hashInFlow      = regexp.MustCompile(`(?:[{\[][^#"']*: +|[\[,] *)#\w`)
	aliasProblem    = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
	keyWithValue    = regexp.MustCompile(`^ *(?:- +)*[^ #][^#]*: +[^ #|>&{\[]`)
)

const (
	indentHint       = "is the line indented like its neighbours?"
	quotesHint       = "put it between quotes"
	severalLinesHint = "a text of several lines begins with |, such as description: |"
	colonInText      = "a text cannot hold a colon followed by a space"
	commentHint      = "# begins a comment: put the text between quotes"
)

// findCause returns the first known mistake that fits the error, the most certain one first.
func (sy *syntax) findCause() cause {
	says := func(part string) bool { return strings.Contains(sy.problem, part) }
	if m := aliasProblem.FindStringSubmatch(sy.problem); m != nil {
		return sy.anchorCause(m[1])
	}
	switch {
	case says("exceeded max depth"):
		return cause{what: sy.problem, hint: "no manifest is nested that deep"}
	case says("unknown escape character"), says("hexdecimal number"):
		return cause{what: "invalid escape sequence between double quotes", hint: `write \\ for a backslash, or use single quotes`}
	case says("incompatible YAML document"):
		return cause{max(1, sy.line), 1, "the line names a version of YAML that is not supported", "remove the line: a manifest needs none"}
	case looksLikeCSV(sy.lines):
		return cause{line: 1, what: "it looks like CSV", hint: "planform convert makes manifests from tables"}
	}
	if i := slices.IndexFunc(sy.lines, conflictMark.MatchString); i >= 0 {
		return cause{i + 1, 1, "a merge conflict is not resolved", "keep one side, and delete the lines that begin with <<<<<<<, ======= and >>>>>>>"}
	}
	if c := sy.findUnquoted(); c.what != "" {
		return c
	}
	if sy.line == 0 {
		return cause{what: sy.problem, hint: generalHint(sy.problem)}
	}
	at := sy.lines[sy.line-1]
	above := sy.lineAbove()
	for _, n := range []int{sy.line, above} {
		if n == 0 {
			continue
		}
		if m := hyphenWord.FindStringSubmatch(sy.lines[n-1]); m != nil && !strings.HasPrefix(sy.lines[n-1], "---") {
			return cause{
				n, len(m[1]) + 1, "there is no space after the hyphen",
				"write a space after the hyphen of a list entry",
			}
		}
		indent := indentation(sy.lines[n-1])
		if r, column := oddBlank(leading.FindString(sy.lines[n-1])); r == '\t' && column <= len(indent) {
			return cause{n, column, "a tab indents the line", "indent with spaces"}
		} else if column > 0 && r != '\t' {
			return cause{n, column, "the character " + runeName(r) + " looks like a space but is not one", "write a space"}
		}
	}
	if column, closed, ok := unbalancedQuote(at); ok {
		c := cause{sy.line, column, "the quote that opens here is not closed", "close it"}
		if closed {
			c.what, c.hint = "text follows the quote that ends a value", "put the whole value between the quotes"
		}
		c.hint += "; within double quotes a quote is written \\\""
		return c
	}
	if at := referenceInFlow.FindStringIndex(at); at != nil && says("did not find expected ',' or") {
		return cause{sy.line, at[1] - 2, "a reference between brackets is not quoted", `put it between quotes, such as {key: "${{ each.key }}"}`}
	}
	if m := hashInFlow.FindStringIndex(at); m != nil {
		return cause{sy.line, m[1] - 1, "# begins a comment, so the bracket is not closed", "put a text that begins with # between quotes, such as \"#22c55e\""}
	}
	if c := sy.indentProblem(at, above); c.what != "" {
		return c
	}
	switch {
	case unspacedKey.MatchString(at):
		return cause{sy.line, 0, "there is no space after a colon", "a key is followed by a colon and a space"}
	case above > 0 && unspacedKey.MatchString(sy.lines[above-1]) && !strings.Contains(sy.lines[above-1], ": "):
		return cause{above, 0, "there is no space after a colon", "a key is followed by a colon and a space"}
	case says("mapping values are not allow"):
		column := 0
		if m := keyAndColon.FindString(at); m != "" {
			column = len(m) + 1
		}
		return cause{sy.line, column, colonInText, quotesHint}
	case says("expected <document start>"):
		return cause{sy.line, 0, "a document ends with ... before this line", "remove the ..., or begin another document with ---"}
	case says("could not find expected ':'") && !strings.Contains(at, ":"):
		return cause{sy.line, len(indentation(at)) + 1, "the line is not a field: it has no colon", severalLinesHint}
	case says("did not find expected ',' or") && colonInFlow.MatchString(at):
		return cause{sy.line, colonInFlow.FindStringSubmatchIndex(at)[2] + 1, colonInText, quotesHint}
	case says("did not find expected ',' or"):
		return cause{sy.line, 0, "a bracket is not closed, or a comma is missing", "check the brackets that open in this line, and the lines after it"}
	}
	return cause{what: sy.problem, hint: generalHint(sy.problem)}
}

// beginsText matches the text before the first character of a value: indentation, hyphens of entries, a key and its colon, a bracket or a
// comma.
var beginsText = regexp.MustCompile(`^ *(- +)*$|: +$|[\[{,] *$`)

// findUnquoted finds a text that needs quotes because it begins with a special character. Proof is that the error moves or disappears if
// another text is in its place.
func (sy *syntax) findUnquoted() (c cause) {
	const longest = 1000                  // characters of a line that are examined
	left, size := 32<<20, 5*len(sy.lines) // bytes that the search may read
	for _, line := range sy.lines {
		size += 5 * len(line)
	}
	for n := max(1, min(sy.line, sy.read)-readAhead); n <= min(sy.read, len(sy.lines)); n++ {
		line := sy.lines[n-1][:min(len(sy.lines[n-1]), longest)]
		for i, r := range line {
			if !strings.ContainsRune("[]{}|>*&!%@`,?-\t", r) || !beginsText.MatchString(line[:i]) || !cannotBegin(line[:i], line[i:]) {
				continue
			}
			end := i + bracketsLength(line[i:])
			for _, rest := range []string{line[end+max(0, strings.IndexAny(line[end:], ",]}")):], ""} {
				other := syntax{lines: slices.Clone(sy.lines), around: sy.around}
				other.lines[n-1] = line[:i] + "x" + rest
				if left -= size; left < 0 {
					return c
				}
				if at := other.locate(); other.read <= sy.read && at <= max(sy.line, n) {
					continue
				}
				c = cause{n, utf8.RuneCountInString(line[:i]) + 1, "a text cannot begin with " + string(r), quotesHint}
				if r == '\t' {
					c.what = "a tab stands in place of a space"
				}
				return c
			}
		}
	}
	return c
}

// cannotBegin reports whether YAML takes the first character of a value for an indicator, and the rest does not fit it: text follows a
// closed bracket, text follows a | on its line, or a - begins no list entry.
func cannotBegin(before, value string) bool {
	rest := strings.TrimLeft(value[bracketsLength(value):], " ")
	switch value[0] {
	case '[', '{':
		return bracketsLength(value) > 1 && rest != "" && !strings.ContainsRune(",]}:#", rune(rest[0]))
	case '|', '>':
		return !blockHeader.MatchString(value)
	case '-', '?':
		return strings.HasPrefix(value[1:], " ") && strings.Trim(before, " -") != ""
	case '\t':
		return strings.TrimSpace(before) != ""
	case ']', '}', ',':
		return strings.HasSuffix(before, ": ") || strings.HasSuffix(before, "- ")
	}
	return true
}

var (
	colonInFlow  = regexp.MustCompile(`[{,] *[A-Za-z_]+: +([^\s"'{}\[\],][^,{}"']*: )`)
	conflictMark = regexp.MustCompile(`^(<{7}|={7}|>{7}|\|{7})( |$)`)
	leading      = regexp.MustCompile(`^[\s\pZ]*(?:-[\s\pZ]+)*(?:[A-Za-z_]+:[\s\pZ]*)?`)
	blockHeader  = regexp.MustCompile(`^[|>][-+0-9]*( +#.*| *)$`)
	keyAndColon  = regexp.MustCompile(`^ *(?:- +)*[^ :][^:]*: +`)
)

// bracketsLength returns the length of the bracketed part at the beginning of a text. It is 1 if there are no brackets, or if they are not
// closed.
func bracketsLength(text string) int {
	depth := 0
	for i, r := range text {
		switch r {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth <= 0 {
			return i + 1
		}
	}
	return 1
}

// oddBlank returns the first white space that is not a space, and its column; 0 = none.
func oddBlank(text string) (r rune, column int) {
	i := strings.IndexFunc(text, func(r rune) bool { return r != ' ' && unicode.IsSpace(r) })
	if i < 0 {
		return 0, 0
	}
	r, _ = utf8.DecodeRuneInString(text[i:])
	return r, utf8.RuneCountInString(text[:i]) + 1
}

// indentProblem returns a cause for a line that does not continue the lines above, or none.
func (sy *syntax) indentProblem(at string, above int) (c cause) {
	if above == 0 || strings.ContainsAny(at, "{}[]") && !strings.Contains(at, ": ") {
		return c
	}
	indent, before := len(indentation(at)), sy.lines[above-1]
	c = cause{sy.line, indent + 1, "", indentHint}
	deeper := indent > len(before)-len(strings.TrimLeft(before, " -")) && keyWithValue.MatchString(before)
	switch {
	case deeper && strings.Contains(sy.problem, "mapping values"):
		c.what = fmt.Sprintf("the line is indented deeper than line %d, which has a value already", above)
	case strings.Contains(sy.problem, "expected key") && strings.HasPrefix(strings.TrimLeft(at, " "), "- "):
		c.what = "a list entry stands among the fields of a mapping"
		c.hint = "begin the first entry with a hyphen, too; or " + indentHint
	case strings.Contains(sy.problem, "'-' indicator"):
		c.what = "the line belongs to a list, but does not begin with a hyphen"
		c.hint += " The fields of an entry are indented by two spaces more than its hyphen"
	case strings.Contains(sy.problem, "expected key"):
		c.what = "the line is indented by " + diag.Count(indent, "space") + ", which fits no line above it"
	}
	return c
}

// lineAbove returns the last line before the error that has content, or 0.
func (sy *syntax) lineAbove() int {
	for n := sy.line - 1; n > 0; n-- {
		if text := strings.TrimSpace(sy.lines[n-1]); text != "" && text[0] != '#' {
			return n
		}
	}
	return 0
}

// anchorCause returns the cause for an alias without an anchor.
func (sy *syntax) anchorCause(name string) cause {
	c := cause{what: "this alias has no anchor before it", hint: "a text cannot begin with *: " + quotesHint + "; an alias comes after its anchor, in the same document"}
	alias := regexp.MustCompile(`(?:^|[\s\[{,:-])\*` + regexp.QuoteMeta(name) + `(?:$|[\s\]},:])`)
	for i, line := range sy.lines {
		if at := alias.FindStringIndex(line); at != nil {
			c.line, c.column = i+1, at[0]+strings.IndexByte(line[at[0]:], '*')+1
			break
		}
	}
	return c
}

// unbalancedQuote finds a quoted value that does not end in its line, or ends too early.
func unbalancedQuote(line string) (column int, closed, found bool) {
	for from := 0; ; {
		m := openQuote.FindStringSubmatchIndex(line[from:])
		if m == nil {
			return 0, false, false
		}
		begin := from + m[2]
		if from = yamltext.QuoteEnd(line, begin); from < 0 {
			return begin + 1, false, true
		}
		if rest := strings.TrimLeft(line[from:], " "); rest != "" && !strings.ContainsRune(",]}:#", rune(rest[0])) {
			return from + 1, true, true
		}
	}
}

// looksLikeCSV reports whether the first lines look like a table: they are not YAML, and have the same number of separators.
func looksLikeCSV(lines []string) bool {
	if len(lines) < 2 || strings.Contains(lines[0], ": ") || strings.HasSuffix(strings.TrimSpace(lines[0]), ":") || strings.ContainsAny(lines[0], "{[") {
		return false
	}
	for _, separator := range []string{",", ";", "\t"} {
		if n := strings.Count(lines[0], separator); n > 0 && strings.Count(lines[1], separator) >= n {
			return true
		}
	}
	return false
}

func indentation(line string) string {
	return line[:len(line)-len(strings.TrimLeftFunc(line, unicode.IsSpace))]
}

// generalHint returns a hint for an error of the library whose cause was not found.
func generalHint(problem string) string {
	hints := [...]struct{ part, hint string }{
		{"cannot start any token", "YAML is indented with spaces, not tabs, and a text that begins with @, ` or % needs quotes"},
		{"mapping values are not allow", "a text with a colon followed by a space needs quotes; or the indentation differs from that of its neighbours"},
		{"did not find expected ',' or", "a bracket is not closed, or a comma is missing, there or in the lines after"},
		{"could not find expected ':'", "a key is followed by a colon and a space; check the lines before, too"},
		{"found unexpected end of stream", "a quote that opens there is not closed"},
		{"tab character", "indent with spaces"},
		{"did not find expected", "check the indentation and the quotes of the lines before"},
	}
	for _, h := range hints {
		if strings.Contains(problem, h.part) {
			return h.hint
		}
	}
	return ""
}
