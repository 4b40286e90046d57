package convert

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/graph"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/schema"
)

// partSize is the largest number of items in one manifest.
const partSize = 2000

// signature is the first line of each manifest.
const signature = "Written by planform convert. Do not edit it: change the mapping, or write further manifests beside it."

// composer writes issues as manifests according to the mapping, and reports losses.
type composer struct {
	format  *Format
	found   *collection
	mapping *mapping.Mapping
	report  *Report
	runs    *comparedRuns

	pages   map[string]place            // by address of the issue, see pageKey
	moved   map[string]place            // by former keys
	placed  map[string]place            // by project and key of the issue; an issue that is skipped has none
	unique  map[string]place            // by key, if keys are unique in all projects together
	related map[string]map[string][]any // related items by project and key of the issue, then by kind of relation
	defined map[string][]mapping.Link   // custom relations, by the project whose items have them
	points  map[string]bool             // values of the project's estimate
	outside map[*Issue][]Link           // relations to issues that have no item
	circled map[*Issue]bool             // issues that lose their parent, because it is also their descendant
	parts   []outFile
	to      *spool // holds the parts

	attached attached
	uploads  map[string]upload    // uploaded files of the current issue, by address and by name
	took     booked               // of the item that is written
	joined   map[relation]outcome // of relations
}

// place is an issue with the project and the key of its item.
type place struct {
	issue   *Issue
	project *mapping.Project
	key     string
}

func (c *composer) compose(issues []*Issue) {
	c.placed, c.pages, c.moved, c.unique = map[string]place{}, map[string]place{}, map[string]place{}, map[string]place{}
	c.related, c.defined = map[string]map[string][]any{}, map[string][]mapping.Link{}
	c.took, c.joined = booked{}, map[relation]outcome{}
	for _, o := range c.found.outside {
		c.report.lost(o.kind, o.of, o.n)
		c.report.tell(o.kind, nil)
	}
	var projects []string
	parts := map[string][]place{}
	mapped := map[string]*mapping.Project{}
	for _, i := range issues {
		p := mapped[i.Project]
		if p == nil {
			found, _ := c.mapping.Projects.Find(i.Project)
			p, mapped[i.Project] = &found, &found
		}
		if p.Skip {
			continue
		}
		if i.Archived && c.mapping.Archived == "skip" {
			c.of(i).lose("archived", i, 1)
			continue
		}
		at := place{i, p, itemKey(i.Key)}
		c.put(at)
		if _, known := parts[i.Project]; !known {
			projects = append(projects, i.Project)
		}
		parts[i.Project] = append(parts[i.Project], at)
	}
	c.outside, c.circled = map[*Issue][]Link{}, map[*Issue]bool{}
	graph.DepthFirst(issues, c.parents, func(*Issue) {}, func(circle []*Issue) { c.circled[slices.MinFunc(circle, order)] = true })
	c.relate(issues)
	composed := map[*Issue]bool{}
	for _, project := range projects {
		c.project(project, parts[project])
		for _, at := range parts[project] {
			composed[at.issue] = true
		}
	}
	c.accountForRest(composed)
}

// put indexes the place of an issue by key, former keys and address.
func (c *composer) put(at place) {
	c.placed[at.issue.Project+"/"+at.issue.Key] = at
	if had, known := c.unique[at.issue.Key]; c.format.Unique && (!known || c.found.kept[had.issue]) {
		c.unique[at.issue.Key] = at
	}
	if page := c.address(at.issue); page != "" {
		c.pages[pageKey(page)] = at
	}
	for _, key := range c.found.previously[at.issue] {
		c.moved[key] = at
	}
}

// notKey matches characters that a key of a manifest cannot hold.
var notKey = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// itemKey returns the source's key. If the key has characters that a manifest refuses, they are replaced, and a digest is added.
func itemKey(key string) string {
	if resource.ValidKey(key) {
		return key
	}
	return withDigest("x"+strings.Trim(notKey.ReplaceAllString(key, "-"), "-"), key)
}

// beginningOf returns the first n bytes of a text, without a cut character at the end.
func beginningOf(text string, n int) string { return strings.ToValidUTF8(text[:min(len(text), n)], "") }

// withDigest appends a digest of the original name to a key, because other names may have made the same key.
func withDigest(key, of string) string {
	sum := sha256.Sum256([]byte(of))
	return beginningOf(key, 80) + "-" + hex.EncodeToString(sum[:4])
}

// project writes the manifests of a project. Each part is encoded as soon as its items are composed, except the first: it declares the
// states and labels of all items.
func (c *composer) project(source string, places []place) {
	p := places[0].project
	g := &groups{newNames(), newNames(), newNames(), newNames(), newNames(), map[string]bool{}, nil, c.customFields(places)}
	c.points = c.estimates(places)
	gaps := c.number(places)
	total := len(places)
	for _, numbers := range gaps {
		total += len(numbers)
	}
	at := len(c.parts)
	for n := 0; n*partSize < total; n++ {
		name := p.Key + ".yaml"
		if total > partSize {
			name = fmt.Sprintf("%s-%03d.yaml", p.Key, n+1)
		}
		c.parts = append(c.parts, outFile{name: c.free(name)})
	}
	encode := func(n int, project manifest.Map, items []any) {
		what := "The project " + source
		if total > partSize {
			what += fmt.Sprintf(", part %d", n+1)
		}
		document := manifest.Map{{Key: schema.Version, Value: manifest.Literal("1")}}.With(schema.Workspace, c.mapping.Workspace)
		if c.mapping.Numbers != "new" {
			document = document.With(schema.Order, "exact")
		}
		if n == 0 {
			document = document.With("relation_definitions", c.definitions(source))
		}
		document = document.With("projects", []any{slices.Clip(project).With("work_items", items)})
		c.parts[at+n] = c.to.put(c.parts[at+n].name, manifest.Encode(signature+"\n"+what+" of "+c.format.Tracker+".\nyaml-language-server: $schema="+schema.Address(),
			document))
	}
	head := manifest.Map{{Key: "key", Value: p.Key}, {Key: "identifier", Value: p.Identifier}}
	var first, items []any
	n := 0
	add := func(item any) {
		items = append(items, item)
		if n++; n%partSize > 0 && n < total {
			return
		}
		if n <= partSize {
			first = items
		} else {
			encode((n-1)/partSize, head, items)
		}
		items = nil
	}
	for _, at := range places {
		for _, number := range gaps[at.issue] {
			add(placeholder(source, number))
		}
		c.found.recall(at.issue)
		add(c.item(at, g))
		at.issue.forget()
	}
	c.report.Carried.Labels += len(g.used)
	g.declareFields()
	full := slices.Clip(head).With("name", cmp.Or(p.Name, p.Key)).
		With("members", g.members). // the service assigns nobody else
		With("description", strings.TrimSpace(c.clean(places[0].issue, c.found.projects[source].Description))).
		With("states", g.states.entries()).With("labels", c.clearGroups(source+"/label/", g.labels)).With("work_item_types", g.types.entries()).
		With("cycles", c.clearGroups(source+"/cycle/", g.cycles.sort())).With("modules", c.clearGroups(source+"/module/", g.modules)).With("estimates", declareEstimate(c.points))
	encode(0, c.clearObject(source, full), first)
}

// free returns a file name that differs from the mapping's and from the names of the other manifests.
func (c *composer) free(name string) string {
	for name == "mapping.yaml" || slices.ContainsFunc(c.parts, func(f outFile) bool { return f.name == name }) {
		name = "project-" + name
	}
	return name
}

// of returns the report for an issue. Issues that only an earlier export had get a report of their own, which nobody reads.
func (c *composer) of(i *Issue) *Report {
	if c.found.kept[i] {
		return newReport()
	}
	return c.report
}

func (c *composer) item(at place, g *groups) manifest.Map {
	i := at.issue
	defer func(r *Report) { c.report = r }(c.report)
	c.report = c.of(i)
	c.report.Carried.Items++
	m := manifest.Map{{Key: "key", Value: at.key}}
	add := func(key string, value any) { m = m.With(key, value) }
	var former []any
	for _, key := range c.found.previously[i] {
		former = append(former, key)
	}
	add("previously", former)
	title := cmp.Or(diag.OneLine(c.clean(i, i.Title)), i.Key)
	if i.Title == "" {
		c.report.untitled = append(c.report.untitled, i.Key)
	}
	name, short := cut(title)
	if short {
		c.report.lose("titles-cut", i, 1)
	}
	files, others := c.attachments(at) // which texts show
	assignees, unknown := c.assignees(i)
	for _, email := range assignees {
		if !slices.Contains(g.members, email) {
			g.members = append(g.members, email)
		}
	}
	add("name", name)
	description := c.description(i, title, short, unknown, others)
	add("state", c.state(i, g))
	priority, _ := c.mapping.Priorities.Find(i.Priority)
	add("priority", priority)
	kind := c.kind(i, g)
	add("type", kind)
	add("assignees", assignees)
	add("labels", c.labels(i, g))
	add("parent", c.parent(at))
	if modules := c.modules(i, g); len(modules) == 1 {
		add("module", modules[0])
	} else {
		add("modules", modules)
	}
	add("cycle", c.cycle(i, g))
	if i.Start != "" && i.Due != "" && i.Start > i.Due {
		c.report.lose("start-after-due", i, 1)
		i.Start = ""
	}
	add("start_date", manifest.Literal(i.Start))
	add("target_date", manifest.Literal(i.Due))
	c.measures(i, add)
	if c.mapping.History.Dates == "full" {
		if !i.Created.IsZero() {
			add("created_at", i.Created.UTC().Format(time.RFC3339))
		}
		p, _ := c.mapping.People.Find(cmp.Or(i.Reporter, i.Creator))
		add("created_by", cmp.Or(p.Email, c.deputy()))
	}
	if i.Archived && c.mapping.Archived == "archive" {
		add("archived", manifest.Literal("true"))
	}
	add("description", description)
	add("fields", c.fields(i, kind, g))
	var relations manifest.Map
	for _, kind := range []string{"blocking", "blocked_by", "duplicate", "relates_to", "custom"} {
		relations = relations.With(kind, c.related[i.name()][kind])
	}
	add("relations", relations)
	add("attachments", files)
	add("links", c.links(i, others))
	i.byTime()
	add("comments", append(c.comments(i), c.summary(i)...))
	for kind, n := range i.Left {
		c.report.lose(kind, i, max(0, n-c.summed(i, kind)))
	}
	c.account(at, m)
	return c.clear(i, m, g)
}
