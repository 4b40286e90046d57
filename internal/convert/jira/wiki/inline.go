package wiki

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a character, or a finished piece of Markdown.
type token struct {
	r    rune
	done string
}

// atom is the character in place of a finished piece: neither a letter nor white space.
const atom = '\uFFFC'

var (
	link    = regexp.MustCompile(`^\[([^\[\]\n]+)\]`)
	pasted  = regexp.MustCompile(`^\[[^\[\]\n]+\]\(https?://[^()\s]+\)`)
	image   = regexp.MustCompile(`^!([^!\s|][^!|\n]*?\.[A-Za-z0-9]{1,5}|https?://[^!|\s]+)(\|[^!\n]*)?!`)
	block   = regexp.MustCompile(`^\{(?:code|noformat)(?::[^{}\n]*)?\}([^{}]*)\{(?:code|noformat)\}`)
	nothing = regexp.MustCompile(`^\{(color|anchor)(:[^{}\n]*)?\}`)
	forced  = regexp.MustCompile(`^\{([*_+^~-]|\?\?)\}`)
	address = regexp.MustCompile(`^(?:https?|ftp)://[^\s<>\[\]{}|"]+`)
	target  = regexp.MustCompile(`^(?:(?:https?|ftp|file|mailto|tel|vscode|slack):|www\.|//|/)\S`)
	entity  = regexp.MustCompile(`^&(?:[A-Za-z][A-Za-z0-9]{1,31}|#[0-9xX][0-9A-Fa-f]*);`)
	tick    = regexp.MustCompile("^`[^`\n]+`")
)

// atomLength returns the length of the link, image or code that a text begins with, or 0.
func atomLength(s string) int {
	for _, re := range []*regexp.Regexp{link, image, block} {
		if m := re.FindStringIndex(s); m != nil {
			return m[1]
		}
	}
	_, n := code(s)
	return n
}

// maxSpan limits the bytes of a search within a line.
const maxSpan = 4000

// code returns the code within double braces that a text begins with, and its length with the braces.
func code(s string) (inner string, n int) {
	if !strings.HasPrefix(s, "{{") {
		return "", 0
	}
	end := strings.Index(s[2:min(len(s), maxSpan)], "}}")
	if end <= 0 {
		return "", 0
	}
	for strings.HasPrefix(s[2+end+1:], "}}") { // {{a{b}}}
		end++
	}
	return s[2 : 2+end], end + 4
}

func (c *converter) inline(s string, depth int) string {
	s = strings.ReplaceAll(s, "&nbsp;", " ")
	if !strings.ContainsAny(s, "\\{[]!`(*_-+^~?<&") && !strings.Contains(s, "://") {
		return s
	}
	var b strings.Builder
	c.marks(&b, c.tokens(s, depth), 0)
	return b.String()
}

// tokens splits a line into characters and finished pieces: code, links, images, addresses, escaped characters.
func (c *converter) tokens(s string, depth int) []token {
	list := make([]token, 0, len(s))
	ready := func(markdown string, n int) {
		list = append(list, token{atom, markdown})
		s = s[n:]
	}
	before := ' '
	for s != "" {
		if n := len(list); n > 0 {
			before = list[n-1].r
		}
		r, size := utf8.DecodeRuneInString(s)
		switch r {
		case '\\':
			switch {
			case strings.HasPrefix(s, `\\`) &&
				(len(s) == 2 || s[2] == ' ' || s[2] == '\n' || before != ' ' && before != atom && !strings.HasPrefix(s, `\\\`)):
				n := len(s) - len(strings.TrimLeft(s[2:], " "))
				if n == len(s) {
					ready("", n)
				} else {
					ready("\\\n", n)
				}
				continue
			case len(s) > 1 && strings.ContainsRune(`{}*_-+^~[]!|#?@(`, rune(s[1])):
				ready(Escape(s[1:2]), 2)
				continue
			}
		case '{':
			if inner, n := code(s); n > 0 {
				ready(CodeSpan(inner), n)
				continue
			}
			if m := block.FindStringSubmatch(s); m != nil {
				ready(CodeSpan(m[1]), len(m[0]))
				continue
			}
			if m := nothing.FindStringSubmatch(s); m != nil {
				if m[1] == "color" && m[2] != "" {
					c.lost["colours"]++
				}
				s = s[len(m[0]):]
				continue
			}
			if m := forced.FindStringSubmatch(s); m != nil {
				if end := strings.Index(s[len(m[0]):], m[0]); end > 0 && depth < maxDepth {
					inner := s[len(m[0]) : len(m[0])+end]
					ready(c.wrap(rune(m[1][0]), c.inline(inner, depth+1)), 2*len(m[0])+end)
					continue
				}
			}
		case '[':
			if m := pasted.FindString(s); m != "" {
				ready(m, len(m))
				continue
			}
			if m := link.FindStringSubmatch(s); m != nil && depth < maxDepth {
				if markdown, ok := c.link(m[1], depth); ok {
					ready(markdown, len(m[0]))
					continue
				}
			}
		case '!':
			if m := image.FindStringSubmatch(s); m != nil && !isWord(before) {
				ready(c.file(Image, m[1]), len(m[0]))
				continue
			}
		case '`':
			if m := tick.FindString(s); m != "" {
				ready(m, len(m))
				continue
			}
		case '(':
			if mark, n := icon(s); n > 0 && !isWord(before) {
				ready(mark, n)
				continue
			}
		case 'h', 'f':
			if !strings.HasPrefix(s, "http") && !strings.HasPrefix(s, "ftp") {
				break
			}
			if m := address.FindString(s); m != "" && !isWord(before) {
				m = strings.TrimRight(m, ".,;:!?'*_)")
				if strings.Contains(m, "(") && strings.HasPrefix(s[len(m):], ")") {
					m += ")"
				}
				ready("<"+m+">", len(m))
				continue
			}
		}
		list = append(list, token{r: r})
		s = s[size:]
	}
	return list
}

// icon returns the icon that a text begins with, and the length of its mark. People use these marks in tables of tests.
func icon(s string) (string, int) {
	for _, pair := range [][2]string{{"(/)", "✅"}, {"(x)", "❌"}, {"(!)", "⚠️"}, {"(y)", "👍"}, {"(n)", "👎"}} {
		if strings.HasPrefix(s, pair[0]) {
			return pair[1], len(pair[0])
		}
	}
	return "", 0
}

// link converts the text between brackets, and reports whether it is a link.
func (c *converter) link(inner string, depth int) (string, bool) {
	parts := strings.Split(inner, "|")
	if last := parts[len(parts)-1]; len(parts) > 1 && strings.HasPrefix(last, "smart-") {
		parts = parts[:len(parts)-1]
	}
	to := strings.TrimSpace(parts[len(parts)-1])
	text := strings.TrimSpace(strings.Join(parts[:len(parts)-1], "|"))
	switch {
	case strings.HasPrefix(to, "~"):
		id := strings.TrimPrefix(strings.TrimPrefix(to, "~"), "accountid:")
		return "@" + Escape(cmp.Or(c.o.Person(id), id)), true
	case strings.HasPrefix(to, "^"):
		return c.file("", to[1:]), true
	case strings.HasPrefix(to, "#"):
		return c.inline(cmp.Or(text, to[1:]), depth+1), true
	case !target.MatchString(to):
		if text == "" {
			return "", false
		}
		return c.inline(text, depth+1) + " (" + Escape(to) + ")", true // the page or issue that it names stays readable
	}
	if strings.HasPrefix(to, "www.") {
		to = "https://" + to
	}
	if text == "" || text == to {
		return "<" + strings.ReplaceAll(to, ">", "%3E") + ">", true
	}
	return "[" + c.inline(text, depth+1) + "](" + Destination(to) + ")", true
}

func (c *converter) file(prefix, name string) string {
	to, shown := name, false
	if !target.MatchString(name) {
		to, shown = c.o.File(name)
	}
	return File(prefix, name, to, shown)
}

func (c *converter) wrap(mark rune, inner string) string {
	switch mark {
	case '*':
		return "**" + inner + "**"
	case '_', '?':
		return "*" + inner + "*"
	case '-':
		return "~~" + inner + "~~"
	case '+':
		return "<u>" + inner + "</u>"
	case '^':
		return "<sup>" + inner + "</sup>"
	default:
		return "<sub>" + inner + "</sub>"
	}
}

// marks writes tokens with their emphasis. A mark opens after a character that is in no word and before a character that is no blank, and
// closes the other way round: snake_case, 2*3 and a-b-c stay as they are.
func (c *converter) marks(b *strings.Builder, list []token, depth int) {
	none := map[string]bool{} // marks that close nowhere further on
	for i := 0; i < len(list); i++ {
		t := list[i]
		mark := emphasis(list, i)
		if mark != "" && depth < maxDepth && !none[mark] && opens(list, i, len([]rune(mark))) {
			if end := closing(list, i, mark); end > 0 {
				var inner strings.Builder
				n := len([]rune(mark))
				c.marks(&inner, list[i+n:end], depth+1)
				b.WriteString(c.wrap(t.r, inner.String()))
				i = end + n - 1
				continue
			}
			none[mark] = true
		}
		if t.done != "" || t.r == atom {
			b.WriteString(t.done)
			continue
		}
		b.WriteString(escapeAt(list, i))
	}
}

// emphasis returns the mark at a place, or "". The marks ?? and ** have two characters; ** is Markdown that people pasted.
func emphasis(list []token, i int) string {
	double := i+1 < len(list) && list[i+1].r == list[i].r
	switch r := list[i].r; r {
	case '*':
		if double {
			return "**"
		}
		return "*"
	case '?':
		if double {
			return "??"
		}
	case '_', '-', '+', '^', '~':
		if !double {
			return string(r)
		}
	}
	return ""
}

func opens(list []token, i, n int) bool {
	if i > 0 && (isWord(list[i-1].r) || list[i-1].r == list[i].r) || i+n >= len(list) {
		return false
	}
	next := list[i+n].r
	return !unicode.IsSpace(next) && next != list[i].r
}

// closing returns the place where the mark that opens at i closes, or 0.
func closing(list []token, i int, mark string) int {
	n := len([]rune(mark))
	for j := i + n + 1; j+n <= len(list); j++ {
		if list[j].r != list[i].r || n == 2 && list[j+1].r != list[i].r || unicode.IsSpace(list[j-1].r) {
			continue
		}
		if j+n == len(list) || !isWord(list[j+n].r) && list[j+n].r != list[i].r {
			return j
		}
	}
	return 0
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// escapeAt returns a character of the text, escaped if Markdown would read it as a mark.
func escapeAt(list []token, i int) string {
	r := list[i].r
	at := func(j int) rune {
		if j < 0 || j >= len(list) {
			return ' '
		}
		return list[j].r
	}
	switch r {
	case '\\', '*', '`', '[', ']', '~':
		return `\` + string(r)
	case '_':
		if isWord(at(i-1)) && isWord(at(i+1)) {
			return "_"
		}
		return `\_`
	case '<':
		if next := at(i + 1); isWord(next) || next == '/' || next == '!' || next == '?' {
			return `\<`
		}
	case '&':
		var rest strings.Builder
		for j := i; j < min(len(list), i+34); j++ {
			rest.WriteRune(list[j].r)
		}
		if entity.MatchString(rest.String()) {
			return `\&`
		}
	}
	return string(r)
}
