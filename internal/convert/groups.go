package convert

import (
	"cmp"
	"strings"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/manifest"
)

// groups are the objects of a project that its items name: states, labels and others. They are declared with the project.
type groups struct {
	states, labels, types, cycles, modules *names
	used                                   map[string]bool // labels of the source
	members                                []any
	fields                                 map[string]*customField
}

func newGroups() *groups {
	return &groups{states: newNames(), labels: newNames(), types: newNames(), cycles: newNames(), modules: newNames(), used: map[string]bool{}}
}

// names are objects of one kind, in the order in which items first name them.
type names struct {
	order []string
	more  map[string]manifest.Map
	slugs map[string]int
	// folded has the first spelling of each name.
	folded map[string]string
}

func newNames() *names {
	return &names{more: map[string]manifest.Map{}, slugs: map[string]int{}, folded: map[string]string{}}
}

func (n *names) add(name string, more ...manifest.Entry) {
	if had, known := n.more[name]; !known {
		n.order = append(n.order, name)
		n.slugs[resource.Slug(name)]++
		n.folded[strings.ToLower(name)] = cmp.Or(n.folded[strings.ToLower(name)], name)
		n.more[name] = more
	} else if len(had) == 0 {
		n.more[name] = more
	}
}

// key is the key of an object: its name's slug, with a digest where another name has the same.
func (n *names) key(name string) string {
	slug := resource.Slug(name)
	if slug == "" || n.slugs[slug] > 1 {
		return unique(cmp.Or(slug, "x"), name)
	}
	return slug
}

// entries declares the objects. Where two names make the same key, both get an explicit one.
func (n *names) entries() []any {
	list := make([]any, len(n.order))
	for i, name := range n.order {
		entry := manifest.Map{{Key: "name", Value: name}}
		if key := n.key(name); key != resource.Slug(name) {
			entry = append(manifest.Map{{Key: "key", Value: key}}, entry...)
		}
		list[i] = append(entry, n.more[name]...)
	}
	return list
}
