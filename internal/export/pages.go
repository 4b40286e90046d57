package export

import (
	"regexp"
	"slices"

	"github.com/planform/planform/internal/resource"
)

// pages are the pages of the exported objects in the web app.
type pages struct {
	addresses map[string]resource.Address // by page
	own       map[resource.Address]string // as planform links to them
	link      *regexp.Regexp              // to a page of the workspace, in Markdown or HTML
}

func newPages(root *object, o Options) *pages {
	p := &pages{
		addresses: map[string]resource.Address{}, own: map[resource.Address]string{},
		link: regexp.MustCompile(`(\]\(|href=")(` + regexp.QuoteMeta(o.WebURL+"/"+o.Workspace) + `/[A-Za-z0-9_/-]+?)(/?[)"])`),
	}
	p.add(root, o)
	return p
}

// add also knows the address that people copy from a work item: acme/browse/WEB-7.
func (p *pages) add(parent *object, o Options) {
	for k, children := range parent.children {
		for _, t := range children {
			if page := k.Page(o.WebURL, t.params(o.Workspace)); t.exported && page != "" {
				p.addresses[page], p.own[t.address] = t.address, page
				if k.Numbered() && t.identifier != "" {
					p.addresses[o.WebURL+"/"+o.Workspace+"/browse/"+t.identifier] = t.address
				}
			}
			p.add(t, o)
		}
	}
}

// name replaces the links to pages in a text by links to the objects, where it means what
// the service shows. canonical is the text as planform would send it.
func (p *pages) name(text string, isMarkdown bool, shown string) (named, canonical string) {
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
