package sandbox

import (
	"html/template"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// plainHTML renders the HTML of a text with no attributes except the addresses of links. An image becomes its description.
func plainHTML(s string) template.HTML {
	nodes, err := html.ParseFragment(strings.NewReader(s), &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body})
	if err != nil || s == "<p></p>" {
		return ""
	}
	var b strings.Builder
	for _, n := range nodes {
		simplify(n)
		write(&b, n)
	}
	return template.HTML(b.String()) //nolint:gosec // write escapes texts and leaves out scripts and unknown elements
}

// simplify replaces the elements of a text with plain ones.
func simplify(n *html.Node) {
	given := map[string]string{}
	for _, a := range n.Attr {
		given[a.Key] = a.Val
	}
	n.Attr = nil
	_, checked := given["checked"]
	switch name := n.Data; {
	case n.Type != html.ElementNode:
	case name == "a":
		n.Attr = []html.Attribute{{Key: "href", Val: given["href"]}}
	case name == "img" || name == "image-component":
		n.Type, n.Data = html.TextNode, "["+strings.TrimSpace("image "+given["alt"])+"]"
	case name == "mention-component":
		n.Type, n.Data = html.TextNode, "@"+given["entity_name"]
	case name == "input":
		n.Type, n.Data = html.TextNode, map[bool]string{true: "☑ ", false: "☐ "}[checked]
	case len(name) == 2 && name[0] == 'h' && name != "hr": // the heading of the page is above them, and no level is left out
		n.Data = "h2"
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		simplify(c)
	}
}
