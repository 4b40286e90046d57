package markup

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Lost lists what an HTML text has of which another one, made of it, has nothing: elements, such as <iframe>,
// and attributes, such as hidecontent of <th>. It is sorted, each once.
func Lost(sent, kept string) []string {
	have := parts(kept)
	lost := parts(sent)
	for part := range lost {
		tag, _, attribute := strings.Cut(part, " ")
		if have[part] || attribute && !have[tag] { // the element itself is lost
			delete(lost, part)
		}
	}
	names := make([]string, 0, len(lost))
	for part := range lost {
		if tag, attribute, ok := strings.Cut(part, " "); ok {
			part = attribute + " of <" + tag + ">"
		} else {
			part = "<" + tag + ">"
		}
		names = append(names, part)
	}
	slices.Sort(names)
	return names
}

// parts are the elements of a text, and their attributes behind them.
func parts(text string) map[string]bool {
	const most = 1000 // more names than any text has by right
	found := map[string]bool{}
	z := html.NewTokenizer(strings.NewReader(text))
	for len(found) < most {
		switch z.Next() {
		case html.ErrorToken:
			return found
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag := string(name)
			found[tag] = true
			for more {
				var key []byte
				key, _, more = z.TagAttr()
				found[tag+" "+string(key)] = true
			}
		case html.TextToken, html.EndTagToken, html.CommentToken, html.DoctypeToken:
		}
	}
	return found
}
