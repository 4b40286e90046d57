package sandbox

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// sanitise returns a description as the service stores it: one root element, well formed and harmless. ok is false for
// empty HTML. Sanitising the result again does not change it.
func sanitise(s string) (stable string, ok bool) {
	stable, ok = sanitiseOnce(s)
	// After an element was dropped, a parser may read the rest differently. A few rounds are enough except for hostile input.
	for range 8 {
		next, fine := sanitiseOnce(stable)
		if ok && !fine {
			return "", true // nothing visible is left
		}
		if !ok || next == stable {
			break
		}
		stable = next
	}
	return stable, ok
}

func sanitiseOnce(s string) (clean string, ok bool) {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	trimmed := strings.Trim(s, asciiSpace)
	if trimmed == "" || strings.HasPrefix(trimmed, "<?xml") {
		return "", false
	}
	nodes, err := html.ParseFragment(strings.NewReader(trimmed), &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body})
	if err != nil {
		return "", false
	}
	nodes = slices.DeleteFunc(nodes, func(n *html.Node) bool { return n.Type == html.CommentNode && len(nodes) == 1 })
	significant := 0
	for _, n := range nodes {
		if n.Type != html.CommentNode && !isSpace(n) {
			significant++
		}
	}
	if significant == 0 {
		return "", false
	}
	// A single element stays as it is. Anything else gets a root element, chosen by the input before anything is dropped: a
	// paragraph and a script get a div, a text gets a span.
	lead := 0
	for lead < len(nodes) && (nodes[lead].Type == html.CommentNode || isSpace(nodes[lead]) || isDropped(nodes[lead])) {
		lead++
	}
	roots := nodes[lead:]
	var b strings.Builder
	if len(roots) == 1 && roots[0].Type == html.ElementNode {
		write(&b, roots[0])
		return clipped(&b), true
	}
	if len(roots) == 0 {
		return "", true
	}
	wrapper := "span"
	if slices.ContainsFunc(roots, hasBlock) {
		wrapper = "div"
	}
	b.WriteString("<" + wrapper + ">")
	for _, n := range roots {
		write(&b, n)
	}
	return clipped(&b) + "</" + wrapper + ">", true
}

// hasBlock reports whether an element is a block, or contains one.
func hasBlock(n *html.Node) bool {
	if n.Type == html.ElementNode && isOneOf(n.Data, "address blockquote caption center col colgroup dd del dir div dl dt fieldset form h1 h2 h3 h4 h5 h6 hr ins isindex legend "+
		"li menu noscript ol optgroup option p pre table tbody td tfoot th thead tr ul") {
		return true
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if hasBlock(c) {
			return true
		}
	}
	return false
}

// isOneOf reports whether a list of words has a word.
func isOneOf(word, list string) bool { return strings.Contains(" "+list+" ", " "+word+" ") }

func clipped(b *strings.Builder) string { return strings.TrimRight(b.String(), "\n") }

// asciiSpace is the white space of HTML: a no-break space is text.
const asciiSpace = " \t\n\f\r"

func isSpace(n *html.Node) bool {
	return n.Type == html.TextNode && strings.Trim(n.Data, asciiSpace) == ""
}

// isDropped reports whether an element is removed with its content.
func isDropped(n *html.Node) bool {
	return n.Type == html.ElementNode && isOneOf(n.Data, "script style iframe noscript template object embed")
}

// isKnown reports whether an element stays. Of other elements only the content stays.
func isKnown(name string) bool {
	return isOneOf(name, "a abbr acronym area article aside b bdi bdo blockquote br caption center cite code col colgroup data dd del details dfn div "+
		"dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup hr i image-component img input ins kbd label li map mark "+
		"mention-component nav ol p pre q rp rt rtc ruby s samp small span strike strong sub summary sup table tbody td th thead "+
		"time tr tt u ul var wbr issue-embed-component")
}

func isVoid(name string) bool { return isOneOf(name, "area br col hr img input wbr") }

// write writes a node as the service stores it.
func write(b *strings.Builder, n *html.Node) {
	switch n.Type {
	case html.TextNode:
		b.WriteString(clean(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\u00a0", "&nbsp;").Replace(n.Data)))
		return
	case html.ElementNode:
	default:
		return
	}
	if isDropped(n) {
		return
	}
	if !isKnown(n.Data) {
		writeChildren(b, n)
		return
	}
	b.WriteByte('<')
	b.WriteString(n.Data)
	for _, a := range attributes(n) {
		value := strings.NewReplacer("&", "&amp;", "\"", "&quot;", "\u00a0", "&nbsp;", "<", "&lt;", ">", "&gt;").Replace(a.Val)
		b.WriteString(" " + a.Key + `="` + clean(value) + `"`)
	}
	b.WriteByte('>')
	if isVoid(n.Data) {
		return
	}
	if n.DataAtom == atom.Pre && n.FirstChild != nil && n.FirstChild.Type == html.TextNode && strings.HasPrefix(n.FirstChild.Data, "\n") {
		// A parser drops the first newline of a pre, so it needs a second one.
		b.WriteByte('\n')
	}
	writeChildren(b, n)
	b.WriteString("</" + n.Data + ">")
}

func writeChildren(b *strings.Builder, n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		write(b, c)
	}
}

// attributes returns the attributes of an element that stay, with rel forced on links.
func attributes(n *html.Node) []html.Attribute {
	var out []html.Attribute
	for _, a := range n.Attr {
		switch {
		case a.Namespace != "" || strings.HasPrefix(a.Key, "on") || a.Key == "rel" && n.DataAtom == atom.A:
			continue
		case strings.HasPrefix(a.Key, "data-") && !isKnownData(a.Key):
			continue
		case (a.Key == "href" || a.Key == "src") && !isAllowedURL(a.Val):
			continue
		case !strings.HasPrefix(a.Key, "data-") && !isKnownAttribute(a.Key):
			continue
		case a.Key == "checked":
			a.Val = ""
		}
		out = append(out, a)
	}
	if n.DataAtom == atom.A {
		out = append(out, html.Attribute{Key: "rel", Val: "noopener noreferrer"})
	}
	return out
}

func isKnownAttribute(name string) bool {
	return isOneOf(name, "align alt aria-label aspect_ratio aspectratio background border char charoff checked cite class colspan colwidth datetime "+
		"dir disabled entity_identifier entity_name headers height href hreflang id lang open rel role rowspan scope size span src "+
		"start status style target textcolor title type value width")
}

func isKnownData(name string) bool {
	return isOneOf(name, "data-align data-background data-background-color data-block-type data-checked data-emoji-unicode data-emoji-url "+
		"data-icon-color data-icon-name data-id data-logo-in-use data-name data-node-type data-tight data-text-color data-type")
}

func isAllowedURL(s string) bool {
	scheme, _, ok := strings.Cut(strings.TrimSpace(s), ":")
	if !ok || strings.ContainsAny(scheme, "/?#") {
		return true // relative
	}
	return slices.Contains([]string{"http", "https", "mailto", "tel"}, strings.ToLower(scheme))
}

// clean drops the control characters that XML does not allow.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}

// withoutTags returns the text of a piece of HTML, or nil if it is empty.
func withoutTags(html string) any {
	if html == "" {
		return nil
	}
	return tag.ReplaceAllString(html, "")
}

// tag matches a tag of HTML, with or without its end.
var tag = regexp.MustCompile(`<[^>]*>?`)
