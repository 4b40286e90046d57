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

// names are objects of one kind, in the order in which items first name them.
type names struct {
	order []string
	more  map[string]manifest.Map
	slugs map[string]int
	// folded has the first spelling of each name.
	folded map[string]string
	same   map[string]string // names by what the source has, where several are called the same
	taken  map[string]bool   // values of same
}

func newNames() *names {
	return &names{more: map[string]manifest.Map{}, slugs: map[string]int{}, folded: map[string]string{}, same: map[string]string{}, taken: map[string]bool{}}
}

// Within stands in the name of a sprint, version or component before what tells it from others of that name, such as its ID.
const Within = "\uE01F"

// PathName returns the name of the last part of a path, with those before it, within a project that is the first.
func PathName(path []string) string {
	last := len(path) - 1
	return path[last] + Within + strings.Join(path[min(1, last-1):last], "/")
}

// distinct returns the name under which a group of the source is declared: the first one of a name has it, and others also have their day, or
// what else tells them apart.
func (n *names) distinct(name, day string) string {
	name, within, _ := strings.Cut(name, Within)
	if name = plainName(name); name == "" || within+day == "" {
		return name
	}
	of := name + Within + cmp.Or(within, day)
	for _, more := range []string{"", day, within, day + ", " + within} {
		called := name
		if more != "" {
			called = plainName(name + " (" + more + ")")
		}
		if n.same[of] == "" && !n.taken[called] {
			n.same[of], n.taken[called] = called, true
		}
	}
	return n.same[of]
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
