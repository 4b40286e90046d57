package cli_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

const campaignItems = 300 // of an import

// imports applies one manifest to one sandbox until a run ends well, and counts.
func (c *campaign) imports(t *testing.T, s *service) {
	t.Helper()
	want := wishes(c.rng)
	s.write(t, "campaign.yaml", want.manifest(c.api, c.rng.IntN(2) == 0))
	c.untilDone(t, s, 0)
	c.count(t, s, want.compare(t, s))
	c.restsAt(t, s, 0)
}

// wish is one work item of the manifest.
type wish struct {
	key, name string
	priority  string
	parent    *wish
	links     []string
	member    bool
	names     *wish // in its text, before that is there or after

	byKey    bool // the parent is named, the item does not stand below it
	children []*wish
}

// wishList is a manifest of work items, all in WEB and some in a cycle.
type wishList struct {
	roots []*wish
	all   []*wish
	plain bool // texts may stay without links
}

const campaignCycle = "Sprint 14" // seeded

// wishes makes up a manifest: a forest, with some parents that come later in the file.
func wishes(rng *rand.Rand) *wishList {
	l := &wishList{}
	depth := map[*wish]int{}
	for i := range campaignItems {
		w := &wish{key: fmt.Sprintf("item-%03d", i), name: fmt.Sprintf("Item %03d", i), priority: "none", member: rng.IntN(3) > 0}
		if i > 0 && rng.IntN(10) == 0 {
			w.name = l.all[rng.IntN(i)].name
		}
		if rng.IntN(3) == 0 {
			w.priority = "high"
		}
		for n := range rng.IntN(3) {
			w.links = append(w.links, fmt.Sprintf("https://example.com/%03d/%d", i, n))
		}
		if rng.IntN(10) == 0 {
			w.links = append(w.links, "https://example.com/shared") // by several items, once each
		}
		var parent *wish
		if i > 0 && rng.IntN(3) > 0 {
			parent = l.all[rng.IntN(len(l.all))]
		}
		if parent != nil && depth[parent] < 4 {
			w.parent, w.byKey = parent, rng.IntN(3) == 0
			depth[w] = depth[parent] + 1
		}
		switch {
		case w.parent != nil && !w.byKey:
			parent.children = append(parent.children, w)
		case w.byKey && rng.IntN(2) == 0:
			l.roots = append([]*wish{w}, l.roots...)
		default:
			l.roots = append(l.roots, w)
		}
		l.all = append(l.all, w)
	}
	for _, w := range l.all {
		if rng.IntN(3) == 0 {
			w.names = l.all[rng.IntN(len(l.all))]
		}
	}
	return l
}

// manifest gives the IDs that the documented operations need, and perhaps an
// item that is there already, of which the number is known.
func (l *wishList) manifest(api resource.API, seeded bool) string {
	var b strings.Builder
	b.WriteString("version: 1\nworkspace: acme\nprojects:\n  - key: web\n    identifier: WEB\n")
	if l.plain = api == resource.Documented; l.plain {
		b.WriteString("    id: " + sandboxtest.ProjectWeb + "\n")
	}
	b.WriteString("    cycles: [{key: c, id: " + sandboxtest.CycleSprint14 + "}]\n    work_items:\n")
	if seeded {
		b.WriteString("      - {key: seeded, id: " + sandboxtest.WorkItemWeb1 + ", identifier: WEB-1}\n")
	}
	for _, w := range l.roots {
		w.write(&b, "      ")
	}
	return b.String()
}

func (w *wish) write(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%s- key: %s\n%s  name: %s\n%s  priority: %s\n", indent, w.key, indent, w.name, indent, w.priority)
	if w.names != nil {
		fmt.Fprintf(b, "%s  description: see [it](planform:work_item/web/%s)\n", indent, w.names.key)
	}
	if w.byKey {
		fmt.Fprintf(b, "%s  parent: %s\n", indent, w.parent.key)
	}
	if w.member {
		fmt.Fprintf(b, "%s  cycle: c\n", indent)
	}
	if len(w.links) > 0 {
		fmt.Fprintf(b, "%s  links:\n", indent)
		for _, url := range w.links {
			fmt.Fprintf(b, "%s    - {url: %q}\n", indent, url)
		}
	}
	if len(w.children) > 0 {
		fmt.Fprintf(b, "%s  work_items:\n", indent)
		for _, child := range w.children {
			child.write(b, indent+"    ")
		}
	}
}

func (w *wish) String() string { return fmt.Sprintf("%s (%s)", w.name, w.priority) }

// compare counts what the service has too often, and what it lacks. What it has
// that nobody asked for counts as doubled.
func (l *wishList) compare(t *testing.T, s *service) (f findings) {
	t.Helper()
	names := map[any]string{nil: ""} // of items, by ID
	has := map[string]int{}
	for _, row := range s.Rows("work_item") {
		if row["id"] == sandboxtest.WorkItemWeb1 {
			continue // seeded
		}
		names[row["id"]] = fmt.Sprintf("%s (%s)", row["name"], row["priority"])
		has["item "+names[row["id"]]]++
	}
	for _, row := range s.Rows("work_item") {
		if row["parent"] != nil {
			has[fmt.Sprintf("item %s below %s", names[row["id"]], names[row["parent"]])]++
		}
	}
	for _, row := range s.Rows("work_item") {
		text, _ := row["description_html"].(string)
		if _, page, linked := strings.Cut(text, "/issues/"); linked && !l.plain {
			id, _, _ := strings.Cut(page, `"`)
			has[fmt.Sprintf("item %s names %s", names[row["id"]], names[id])]++
		}
	}
	for _, row := range s.Rows("link") {
		if row["id"] != sandboxtest.LinkWeb1 {
			has[fmt.Sprintf("link of %s: %s", names[row["issue"]], row["url"])]++
		}
	}
	cycles := map[any]string{}
	for _, row := range s.Rows("cycle") {
		cycles[row["id"]] = fmt.Sprint(row["name"])
	}
	for _, row := range s.Rows("cycle_issue") {
		has[fmt.Sprintf("%s in %s", names[row["issue"]], cycles[row["cycle"]])]++
	}

	var want []string
	for _, w := range l.all {
		want = append(want, "item "+w.String())
		if w.parent != nil {
			want = append(want, fmt.Sprintf("item %s below %s", w, w.parent))
		}
		if w.names != nil && !l.plain {
			want = append(want, fmt.Sprintf("item %s names %s", w, w.names))
		}
		for _, url := range w.links {
			want = append(want, fmt.Sprintf("link of %s: %s", w, url))
		}
		if w.member {
			want = append(want, fmt.Sprintf("%s in %s", w, campaignCycle))
		}
	}
	for _, what := range want {
		if has[what] == 0 {
			f.lost++
			t.Logf("lost: %s", what)
		}
		has[what]--
	}
	for what, n := range has {
		if n > 0 {
			f.doubled += n
			t.Logf("doubled: %s (%d too many)", what, n)
		}
	}
	return f
}
