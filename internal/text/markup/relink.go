package markup

import (
	"strings"

	"golang.org/x/net/html"
)

// Relink replaces the targets of links and images in an HTML text that begin with a scheme, such as planform:. target returns the new
// target for the rest of the old one. If it returns "", only the label stays, or the text of an image.
func Relink(text, scheme string, target func(rest string) string) string {
	if !strings.Contains(text, scheme) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	var without []bool // for each open link, whether its tags are left out
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		tt := z.Next()
		raw := string(z.Raw())
		switch tt {
		case html.ErrorToken:
			b.WriteString(raw) // a tag without an end
			return b.String()
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			of := string(name)
			if of != "a" && of != "img" {
				break
			}
			tag, to, ours := relinkTag(z, of, more, scheme, target)
			if of == "a" {
				without = append(without, ours && to == "")
			}
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
		case html.TextToken, html.CommentToken, html.DoctypeToken:
		}
		b.WriteString(raw)
	}
}

// relinkTag returns a tag with its new target; ours is false if the target has another scheme.
func relinkTag(z *html.Tokenizer, of string, more bool, scheme string, target func(string) string) (tag, to string, ours bool) {
	var b strings.Builder
	b.WriteString("<" + of)
	leads, alone := "href", ""
	if of == "img" {
		leads = "src"
	}
	for more {
		var k, v []byte
		k, v, more = z.TagAttr()
		value := string(v)
		if rest, is := strings.CutPrefix(value, scheme); is && string(k) == leads {
			to, ours = target(rest), true
			value = to
		}
		if of == "img" && string(k) == "alt" {
			alone = html.EscapeString(value)
		}
		b.WriteString(" " + string(k) + `="` + escapeAttribute.Replace(value) + `"`)
	}
	if to == "" {
		return alone, "", ours
	}
	return b.String() + ">", to, ours
}
