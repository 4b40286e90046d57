package export

import (
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
)

// Pages maps web addresses of the web app to the objects that they show. Texts may link to these addresses.
type Pages struct {
	addresses map[string]resource.Address // by page
	own       map[resource.Address]string // links as planform writes them
	link      *regexp.Regexp              // matches a link or image with a page of the web app, in Markdown or HTML
	workspace string                      // page of the workspace
}

// NewPages returns the web addresses of a workspace, without objects.
func NewPages(webURL, workspace string) *Pages {
	return &Pages{
		addresses: map[string]resource.Address{}, own: map[resource.Address]string{}, workspace: webURL + "/" + workspace,
		link: regexp.MustCompile(`(\]\(|href="|src=")(` + regexp.QuoteMeta(webURL) + `/[A-Za-z0-9_/-]+?)(/?[)"])`),
	}
}

// Add adds the page of an object, and for a work item the address that people copy: acme/browse/WEB-7.
func (p *Pages) Add(k *resource.Kind, address resource.Address, page, identifier string) {
	if page == "" {
		return
	}
	p.addresses[strings.TrimSuffix(page, "/")], p.own[address] = address, page
	if k.Numbered() && identifier != "" {
		p.addresses[p.workspace+"/browse/"+identifier] = address
	}
}

// addAll adds the pages of all exported objects below a parent.
func (p *Pages) addAll(parent *object, o Options) {
	for k, children := range parent.children {
		for _, t := range children {
			if t.exported {
				p.Add(k, t.address, k.Page(o.WebURL, t.params(o.Workspace)), t.identifier)
			}
			p.addAll(t, o)
		}
	}
}

// nameLinks replaces links to pages in a text with links to the objects, if the result means what the service
// shows. canonical is the text as planform would send it.
func (p *Pages) nameLinks(text string, isMarkdown bool, shown string) (named, canonical string) {
	v := &resource.Value{Field: &resource.Field{Type: resource.HTML}}
	if isMarkdown {
		v.Field.Type = resource.Markdown
	}
	v.Text = p.link.ReplaceAllStringFunc(text, func(link string) string {
		part := p.link.FindStringSubmatch(link)
		to, ok := p.addresses[part[2]]
		if !ok {
			return link
		}
		if !slices.ContainsFunc(v.Links, func(r resource.Reference) bool { return r.Text == string(to) }) {
			v.Links = append(v.Links, resource.Reference{Text: string(to), ID: link[len(part[1]) : len(link)-1]})
		}
		return part[1] + resource.AddressScheme + string(to) + link[len(link)-1:]
	})
	asShown, _ := v.Desired(func(_ *resource.Field, r *resource.Reference) (string, bool) { return r.ID, true })
	if len(v.Links) == 0 || asShown != shown {
		return text, shown
	}
	canonical, _ = v.Desired(func(_ *resource.Field, r *resource.Reference) (string, bool) {
		return p.own[resource.Address(r.Text)], true
	})
	return v.Text, canonical
}
