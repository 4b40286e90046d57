package markup

import (
	"strings"

	"golang.org/x/net/html"
)

// Relink replaces the targets of the links in an HTML text that begin with a scheme, such as
// planform:, by what target gives for the rest. Where that is "", the label stays alone.
func Relink(text, scheme string, target func(rest string) string) string {
	if !strings.Contains(text, scheme) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	var without []bool // of each open link: its tags are left out
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		tt := z.Next()
		raw := string(z.Raw())
		switch tt {
		case html.ErrorToken:
			b.WriteString(raw) // a tag without an end
			return b.String()
		case html.StartTagToken:
			name, more := z.TagName()
			if string(name) != "a" {
				break
			}
			tag, to, ours := relinked(z, more, scheme, target)
			without = append(without, ours && to == "")
			if ours {
				raw = tag
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if last := len(without) - 1; string(name) == "a" && last >= 0 {
				if without[last] {
					raw = ""
				}
				without = without[:last]
			}
		case html.TextToken, html.SelfClosingTagToken, html.CommentToken, html.DoctypeToken:
		}
		b.WriteString(raw)
	}
}

// relinked is the tag of a link with its new target; ours is false where the target has another scheme.
func relinked(z *html.Tokenizer, more bool, scheme string, target func(string) string) (tag, to string, ours bool) {
	var b strings.Builder
	b.WriteString("<a")
	for more {
		var k, v []byte
		k, v, more = z.TagAttr()
		value := string(v)
		if rest, is := strings.CutPrefix(value, scheme); is && string(k) == "href" {
			to, ours = target(rest), true
			value = to
		}
		b.WriteString(" " + string(k) + `="` + escapeAttribute.Replace(value) + `"`)
	}
	if to == "" {
		return "", "", ours
	}
	return b.String() + ">", to, ours
}
