package markup

import (
	"fmt"
	"regexp"
	"strings"
)

// kind is the role of an element in the layout.
type kind uint8

const (
	unknown    kind = iota // the tag is left out, its content stays
	boundary               // like unknown, but it ends an open paragraph
	hidden                 // the tag is left out with its content
	inline                 // part of a line
	component              // an inline element of the service's editor, visible without content
	voidInline             // part of a line, without content
	voidBlock              // a block without content
	paragraph              // a block of text that cannot enclose blocks
	phrase                 // a block with text directly in it
	flow                   // a block in which loose text is a paragraph
	structure              // a block of blocks: lists, tables
)

// kindOf classifies an element. The service keeps all elements except unknown, boundary and hidden ones.
func kindOf(tag string) kind {
	switch tag {
	case "p":
		return paragraph
	case "h1", "h2", "h3", "h4", "h5", "h6", "pre", "summary", "dt", "caption", "hgroup":
		return phrase
	case "div", "li", "blockquote", "td", "th", "details", "dd", "article", "aside", "figure", "figcaption",
		"footer", "header", "nav", "center":
		return flow
	case "ul", "ol", "dl", "table", "thead", "tbody", "tr", "colgroup":
		return structure
	case "hr", "col":
		return voidBlock
	case "br", "img", "input", "wbr", "area":
		return voidInline
	case "a", "abbr", "acronym", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "i", "ins", "kbd", "label",
		"map", "mark", "q", "rp", "rt", "rtc", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub", "sup",
		"time", "tt", "u", "var":
		return inline
	case "script", "style", "iframe":
		return hidden
	case "address", "dir", "fieldset", "form", "hgroups", "listing", "main", "menu", "search", "section", "xmp":
		return boundary
	}
	if strings.HasSuffix(tag, "-component") {
		return component
	}
	return unknown
}

// isStandard reports whether tag is an HTML element that the service removes, and not text in angle brackets such as List<string>.
func isStandard(tag string) bool {
	switch tag {
	case "html", "head", "body", "title", "meta", "link", "base", "noscript", "template", "object", "embed", "param", "video",
		"audio", "source", "track", "canvas", "svg", "path", "math", "button", "select", "option", "optgroup", "textarea",
		"datalist", "output", "progress", "meter", "legend", "dialog", "slot", "picture", "portal", "font", "big", "blink",
		"marquee", "nobr", "noembed", "noframes", "frame", "frameset", "applet", "basefont", "bgsound", "plaintext", "image",
		"tfoot", "keygen", "isindex", "spacer":
		return true
	}
	return false
}

// canonical returns the common name of elements that look the same.
func canonical(tag string) string {
	switch tag {
	case "b":
		return "strong"
	case "i":
		return "em"
	case "del", "strike":
		return "s"
	}
	return tag
}

// keeps reports whether the service keeps an attribute. It returns false for rel, because the service writes its own.
func keeps(tag, attr string) bool {
	switch attr {
	case "class", "id", "title", "role", "aria-label", "aria-hidden", "style", "start", "type",
		"data-tight", "data-node-type", "data-type", "data-checked", "data-background-color", "data-text-color", "data-name",
		"data-id", "data-icon-name", "data-icon-color", "data-background", "data-emoji-unicode", "data-emoji-url",
		"data-logo-in-use", "data-block-type":
		return true
	}
	switch tag {
	case "a":
		return attr == "href" || attr == "target"
	case "img":
		switch attr {
		case "width", "height", "aspectratio", "alignment", "src", "alt":
			return true
		}
	case "th", "td":
		switch attr {
		case "colspan", "rowspan", "colwidth", "background", "textcolor", "hidecontent":
			return true
		}
	case "tr":
		return attr == "background" || attr == "textcolor"
	case "pre":
		return attr == "language"
	case "code":
		return attr == "language" || attr == "spellcheck"
	case "input":
		return attr == "checked"
	default:
		// Other editions have more components than the observed one. An extra attribute in the comparison is better than a missed change.
		return kindOf(tag) == component && !strings.HasPrefix(attr, "on")
	}
	return false
}

// address returns a link target in the service's form: characters other than printable ASCII are
// percent-encoded. ok is false if the service drops it.
func address(raw string) (clean string, ok bool) {
	raw = strings.TrimFunc(raw, func(r rune) bool { return r <= ' ' })
	raw = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(raw) // a browser leaves these out
	var b strings.Builder
	for i := range len(raw) {
		if c := raw[i]; c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	clean = percentEscape.ReplaceAllStringFunc(b.String(), strings.ToUpper)
	return clean, allowedScheme(clean)
}

var (
	percentEscape = regexp.MustCompile(`%[0-9a-fA-F]{2}`)
	scheme        = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):(.*)`)
)

func allowedScheme(url string) bool {
	m := scheme.FindStringSubmatch(url)
	if m == nil {
		return true // relative
	}
	switch strings.ToLower(m[1]) {
	case "http", "https":
		return strings.Trim(m[2], "/\\") != ""
	case "mailto", "tel":
		return true
	}
	return false
}
