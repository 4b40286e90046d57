package convert

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert/mapping"
)

func (c *composer) parent(at place) string {
	i := at.issue
	if i.Parent == "" {
		return ""
	}
	parent, ok := c.placed[i.Project+"/"+i.Parent]
	if !ok {
		c.report.lose("parents-outside", i, 1)
		return ""
	}
	seen := map[string]bool{}
	for up := i; up != nil && up.Parent != ""; up = c.placed[up.Project+"/"+up.Parent].issue {
		if seen[up.Key] { // of those that are above each other, the first loses its parent
			if i.Number <= c.lowest(i) {
				c.report.lose("parents-in-a-circle", i, 1)
				return ""
			}
			break
		}
		seen[up.Key] = true
	}
	c.report.Carried.Parents++
	return parent.key
}

// lowest is the lowest number in a circle of parents.
func (c *composer) lowest(i *Issue) int {
	low, seen := i.Number, map[string]bool{}
	for up := i; !seen[up.Key]; up = c.placed[up.Project+"/"+up.Parent].issue {
		seen[up.Key] = true
		low = min(low, up.Number)
	}
	return low
}

// find is what an issue names by a key.
func (c *composer) find(i *Issue, key string) (place, bool) {
	if at, ok := c.placed[i.Project+"/"+key]; ok {
		return at, true
	}
	project, _, _ := strings.Cut(key, "-")
	at, ok := c.placed[project+"/"+key]
	return at, ok
}

// relate turns links into relations: each once, on the item that comes first. Two items have one relation; the first of blocks,
// duplicate, relates_to counts.
func (c *composer) relate(issues []*Issue) {
	type pair struct{ a, b string }
	type candidate struct {
		rank     int
		from, to place
		counted  bool // the present export has it
	}
	best, order := map[pair]candidate{}, []pair{}
	said, counted := map[relation]bool{}, map[relation]bool{}
	for _, i := range issues {
		for _, r := range i.relations() {
			counted[r] = counted[r] || !c.found.kept[i]
		}
	}
	for _, i := range issues {
		if _, ok := c.placed[i.Project+"/"+i.Key]; !ok {
			continue
		}
		for _, r := range i.relations() {
			if said[r] {
				continue
			}
			said[r] = true
			report := c.of(i)
			if counted[r] {
				report = c.report
			}
			from, ok1 := c.find(i, r.from)
			to, ok2 := c.find(i, r.to)
			kind, _ := c.mapping.Links.Find(r.kind)
			rank := slices.Index([]string{"blocks", "duplicate", "relates_to"}, kind)
			switch {
			case !ok1 || !ok2 || from.issue == to.issue:
				report.lose("relations-outside", i, 1)
				continue
			case rank < 0:
				report.lose("relations-skipped", i, 1)
				continue
			case kind == "relates_to" && !strings.HasPrefix(mapping.Fold(r.kind), "relate"):
				report.lose("relation-types", i, 1)
			}
			p := pair{r.from, r.to}
			if before(to.issue, from.issue) {
				p = pair{r.to, r.from}
			}
			had, known := best[p]
			if !known {
				order = append(order, p)
			} else {
				report.lose("second-relations", i, 1)
			}
			if !known || rank < had.rank {
				best[p] = candidate{rank, from, to, counted[r]}
			}
		}
	}
	for _, p := range order {
		r := best[p]
		on, other, kind := r.from, r.to, []string{"blocking", "duplicate", "relates_to"}[r.rank]
		if before(other.issue, on.issue) {
			on, other = other, on
			if kind == "blocking" {
				kind = "blocked_by"
			}
		}
		ref := other.project.Key + "/" + other.key // without the project, SHOP-9 would be the number that the service gave
		id := on.issue.Project + "/" + on.issue.Key
		if c.related[id] == nil {
			c.related[id] = map[string][]any{}
		}
		c.related[id][kind] = append(c.related[id][kind], ref)
		if r.counted {
			c.report.Carried.Relations++
		}
	}
}

// before reports whether an issue is written before another.
func before(a, b *Issue) bool {
	return order(a, b) < 0
}
