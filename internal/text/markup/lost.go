package markup

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Lost lists the elements of an HTML text, such as <iframe>, and their attributes, such as hidecontent of
// <th>, that are missing in the kept text. The list is sorted and has no duplicates.
func Lost(sent, kept string) []string {
	have := partsOf(kept)
	return lostParts(sent, func(part string) bool { return have[part] })
}

// Stripped lists, like [Lost], the elements and attributes of an HTML text that the service is known to remove.
func Stripped(text string) []string {
	return lostParts(text, func(part string) bool {
		tag, attr, attribute := strings.Cut(part, " ")
		switch k := kindOf(tag); {
		case k == hidden || k == boundary || k == unknown && isStandard(tag):
			return false
		default: // other names are text in angle brackets, and the service writes its own rel
			return !attribute || k == unknown || keeps(tag, attr) || attr == "rel"
		}
	})
}

// lostParts lists the parts of a text that are not kept, without the attributes of lost elements.
func lostParts(text string, kept func(part string) bool) []string {
	lost := partsOf(text)
	for part := range lost {
		tag, _, attribute := strings.Cut(part, " ")
		if kept(part) || attribute && !kept(tag) {
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

// partsOf returns the elements of a text and their attributes: "a href", or "a href (javascript:)" if the service drops that scheme.
func partsOf(text string) map[string]bool {
	const most = 1000 // no genuine text has as many names
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
				var key, value []byte
				key, value, more = z.TagAttr()
				part := tag + " " + string(key)
				if string(key) == "href" || string(key) == "src" {
					if to, ok := address(string(value)); !ok {
						part += " (" + scheme.FindStringSubmatch(to)[1] + ":)"
					}
				}
				found[part] = true
			}
		case html.TextToken, html.EndTagToken, html.CommentToken, html.DoctypeToken:
		}
	}
	return found
}
