package convert

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/manifest"
)

// groups are the states, labels and other objects of a project that its items use. They are declared with the project.
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
	// former holds the names that an object had in earlier runs.
	former map[string][]string
	// folded holds the first spelling of each name, by the name in lower case.
	folded map[string]string
	same   map[string]string // declared names, by name and day (or ID) in the source: see distinct
	taken  map[string]bool   // values of same
	// current has the names that issues of this export use.
	current map[string]bool
}

func newNames() *names {
	return &names{more: map[string]manifest.Map{}, slugs: map[string]int{}, former: map[string][]string{}, folded: map[string]string{}, same: map[string]string{}, taken: map[string]bool{}, current: map[string]bool{}}
}

// Within separates the name of a sprint, version or component from a suffix that makes the name unique, such as an ID.
const Within = "\uE01F"

// PathName returns the last part of a path as a name, with the parts between the first and the last as its unique suffix.
func PathName(path []string) string {
	last := len(path) - 1
	return path[last] + Within + strings.Join(path[min(1, last-1):last], "/")
}

// distinct returns the name under which a sprint or version is declared. The first one of a name keeps the name; others get their day or
// their suffix in brackets.
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

// add adds an object, or completes an object that was added without settings.
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

// key returns the key of an object: the slug of its name, with a digest if another name has the same slug.
func (n *names) key(name string) string {
	slug := resource.Slug(name)
	if slug == "" || n.slugs[slug] > 1 {
		return withDigest(cmp.Or(slug, "x"), name)
	}
	return slug
}

// entries returns the declarations of the objects. Objects whose names have equal slugs get explicit keys.
func (n *names) entries() []any {
	list := make([]any, len(n.order))
	for i, name := range n.order {
		entry := manifest.Map{{Key: "name", Value: name}}
		if key := n.key(name); key != resource.Slug(name) {
			entry = append(manifest.Map{{Key: "key", Value: key}}, entry...)
		}
		var former []any
		for _, had := range n.former[name] {
			if key := resource.Slug(had); n.slugs[key] == 0 && groupOf(had) == "" {
				former = append(former, key)
			}
		}
		list[i] = append(entry.With("previously", former), n.more[name]...)
	}
	return list
}

var digits = regexp.MustCompile(`[0-9]+`)

// sort orders the objects by their start dates, or by their names if one has no date. Numbers in names count as numbers.
func (n *names) sort() *names {
	sign := map[string]string{}
	for _, name := range n.order {
		sign[name] = digits.ReplaceAllStringFunc(name, func(number string) string { return fmt.Sprintf("%20s", number) })
	}
	start := func(name string) string {
		day, _ := n.more[name].Get("start_date").(manifest.Literal)
		return string(day)
	}
	dated := !slices.ContainsFunc(n.order, func(name string) bool { return start(name) == "" })
	slices.SortFunc(n.order, func(a, b string) int {
		if dated && start(a) != start(b) {
			return cmp.Compare(start(a), start(b))
		}
		return cmp.Compare(sign[a], sign[b])
	})
	return n
}
