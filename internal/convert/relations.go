package convert

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/planform/planform/internal/convert/jira/wiki"
	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

// parent returns the key of the parent's item. It returns "" and reports a loss if the parent has no item or the parents form a circle.
func (c *composer) parent(at place) string {
	i := at.issue
	if i.Parent == "" {
		return ""
	}
	parent, ok := c.placed[i.Project+"/"+i.Parent]
	if !ok {
		c.report.lose("parents-outside", i, 1)
		c.report.addMissingTarget("parents-outside", strings.TrimSpace(i.Parent+" "+i.ParentTitle))
		return ""
	}
	if c.circled[i] {
		c.report.lose("parents-in-a-circle", i, 1)
		return ""
	}
	c.report.Carried.Parents++
	return parent.key
}

// parents returns the parent of an issue if it has an item.
func (c *composer) parents(i *Issue) []*Issue {
	if at, ok := c.placed[i.Project+"/"+i.Parent]; ok && i.Parent != "" {
		return []*Issue{at.issue}
	}
	return nil
}

// find returns the place of the item that an issue names by a key. An item that only an earlier export had gives way to the item of another
// project that it became.
func (c *composer) find(i *Issue, key string) (place, bool) {
	at, ok := c.placed[i.Project+"/"+key]
	if ok && !c.found.kept[at.issue] {
		return at, true
	}
	project, _, _ := strings.Cut(key, "-")
	if at, ok := c.placed[project+"/"+key]; ok {
		return at, true
	}
	if at, ok := c.unique[key]; ok {
		return at, true
	}
	return at, ok
}

// relate turns links into relations, each on the first of its two items. Two items get one relation, by rank blocks, duplicate, relates_to,
// and one custom relation beside it.
func (c *composer) relate(issues []*Issue) {
	type pair struct {
		a, b   string
		custom bool
	}
	type candidate struct {
		rank     int
		from, to place
		as       mapping.Link
		counted  bool // the present export has it
	}
	best, pairs := map[pair]candidate{}, []pair{}
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
		for n, r := range i.relations() {
			if said[r] || counted[r] && c.found.kept[i] {
				continue
			}
			said[r] = true
			report := c.of(i)
			if counted[r] {
				report = c.report
			}
			from, ok1 := c.find(i, r.from)
			to, ok2 := c.find(i, r.to)
			as, _ := c.mapping.Links.Find(r.kind)
			custom := as.Outward != ""
			rank := slices.Index([]string{"blocks", "duplicate", "relates_to"}, as.Kind)
			switch {
			case !ok1 || !ok2 || from.issue == to.issue:
				report.lose("relations-outside", i, 1)
				c.joined[r] = asText
				if l := i.Links[n]; from.issue != to.issue {
					report.addMissingTarget("relations-outside", strings.TrimSpace(l.To+" "+l.Title))
					c.outside[i] = append(c.outside[i], l)
				}
				continue
			case rank < 0 && !custom:
				report.lose("relations-skipped", i, 1)
				continue
			case as.Kind == "relates_to" && !strings.HasPrefix(mapping.Fold(r.kind), "relate"):
				report.lose("relation-types", i, 1)
			}
			p := pair{r.from, r.to, custom}
			if order(to.issue, from.issue) < 0 {
				p = pair{r.to, r.from, custom}
			}
			had, known := best[p]
			if !known {
				pairs = append(pairs, p)
			} else {
				c.joined[r] = lost
				report.lose("second-relations", i, 1)
			}
			if !known || rank < had.rank {
				c.joined[r] = carried
				best[p] = candidate{rank, from, to, as, counted[r]}
			}
		}
	}
	for _, p := range pairs {
		r := best[p]
		on, other, kind, word := r.from, r.to, "custom", r.as.Outward
		if !p.custom {
			kind = []string{"blocking", "duplicate", "relates_to"}[r.rank]
		}
		if order(other.issue, on.issue) < 0 {
			on, other, word = other, on, r.as.Inward
			if kind == "blocking" {
				kind = "blocked_by"
			}
		}
		var ref any = other.project.Key + "/" + other.key // without the project, SHOP-9 would mean the number in Plane
		id := on.issue.Project + "/" + on.issue.Key
		if c.related[id] == nil {
			c.related[id] = map[string][]any{}
		}
		if p.custom {
			ref = manifest.Map{{Key: "item", Value: ref}, {Key: "relation", Value: word}}
			if of := on.issue.Project; !slices.Contains(c.defined[of], r.as) {
				c.defined[of] = append(c.defined[of], r.as)
			}
		}
		c.related[id][kind] = append(c.related[id][kind], ref)
		if r.counted {
			c.report.Carried.Relations++
		}
	}
}

// definitions returns the custom relations of a project, in the order of their names.
func (c *composer) definitions(project string) (list []any) {
	slices.SortFunc(c.defined[project], func(a, b mapping.Link) int { return strings.Compare(a.Name, b.Name) })
	for _, as := range c.defined[project] {
		list = append(list, manifest.Map{{Key: "name", Value: as.Name}, {Key: "outward", Value: as.Outward}, {Key: "inward", Value: as.Inward}})
	}
	return list
}

// words returns the relation in words for the issue that has the link, such as "is blocked by".
func (ln Link) words() string {
	kind := mapping.Fold(ln.Type)
	for _, known := range [][3]string{
		{"block", "blocks", "is blocked by"},
		{"clone", "clones", "is cloned by"},
		{"duplicate", "duplicates", "is duplicated by"},
		{"relate", "relates to", "relates to"},
		{"cause", "causes", "is caused by"},
	} {
		if strings.HasPrefix(kind, known[0]) && ln.Inward {
			return known[2]
		} else if strings.HasPrefix(kind, known[0]) {
			return known[1]
		}
	}
	switch {
	case ln.Word != "":
		return ln.Word + " (" + ln.Type + ")"
	case ln.Inward:
		return ln.Type + " (from there)"
	}
	return ln.Type
}

// away returns Markdown that names an issue without an item: its key and title, with a link to its old address if that is known.
func (c *composer) away(i *Issue, key, title string) string {
	if kept := c.found.issues[i.Project+"/"+key]; kept != nil {
		title = cmp.Or(title, kept.Title)
	}
	text := escapeCell.Replace(strings.TrimSpace(key + " " + diag.OneLine(c.clean(i, title))))
	if to := c.formerAddress(i, key); to != "" {
		return "[" + text + "](" + wiki.Destination(to) + ")"
	}
	return text
}

// formerAddress returns the old address of an issue without an item, or "" if the address is not known.
func (c *composer) formerAddress(i *Issue, key string) string {
	if kept := c.found.issues[i.Project+"/"+key]; kept != nil {
		return c.address(kept)
	}
	if strings.Contains(key, "#") { // of another repository
		if to := c.target(i, key); strings.HasPrefix(to, "http") {
			return to
		}
	}
	old, ends := strings.CutSuffix(c.address(i), i.Key)
	if !ends || strings.ContainsAny(key, " /#") {
		return ""
	}
	return old + key
}

// awayRows returns rows of the description for related issues without an item: the parent, children and links.
func (c *composer) awayRows(i *Issue) []row {
	var rows []row
	if _, ok := c.placed[i.Project+"/"+i.Parent]; !ok && i.Parent != "" {
		rows = append(rows, row{"Parent", c.away(i, i.Parent, i.ParentTitle)})
	}
	for _, child := range i.Children {
		if c.found.issues[i.Project+"/"+child.To] != nil || c.found.closed[i.Project+"/"+child.To] {
			continue
		}
		c.report.lose("items-not-exported", i, 1)
		c.report.addMissingTarget("items-not-exported", strings.TrimSpace(child.To+" "+child.Title))
		rows = append(rows, row{"Child", c.away(i, child.To, child.Title)})
	}
	for _, l := range c.outside[i] {
		words := []rune(diag.OneLine(c.clean(i, l.words())))
		if len(words) > 0 {
			words[0] = unicode.ToUpper(words[0])
		}
		rows = append(rows, row{string(words), c.away(i, l.To, l.Title)})
	}
	return rows
}
