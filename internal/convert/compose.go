package convert

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/schema"
)

// partSize is how many items one manifest holds.
const partSize = 2000

const signature = "Written by planform convert. Do not edit it: change the mapping, or write further manifests beside it."

// composer makes manifests.
type composer struct {
	format  Format
	found   *collection
	mapping *mapping.Mapping
	report  *Report

	placed  map[string]place            // where the issues go that are converted, by project and key
	related map[string]map[string][]any // by issue: relation -> items
	files   []outFile
}

// place is where an issue becomes an item.
type place struct {
	issue   *Issue
	project mapping.Project
	key     string
}

type outFile struct {
	name string
	data []byte
}

// compose makes the manifests of all projects.
func (c *composer) compose(issues []*Issue) {
	c.placed, c.related = map[string]place{}, map[string]map[string][]any{}
	byKey := map[string]place{} // of all projects: links name issues by keys that are unique in a tracker
	var projects []string
	parts := map[string][]place{}
	for _, i := range issues {
		p, _ := mapping.Find(c.mapping.Projects, i.Project)
		if p.Skip {
			continue
		}
		at := place{i, p, itemKey(i.Key)}
		c.placed[i.Project+"/"+i.Key] = at
		if _, known := byKey[i.Key]; !known {
			byKey[i.Key] = at
		}
		if _, known := parts[i.Project]; !known {
			projects = append(projects, i.Project)
		}
		parts[i.Project] = append(parts[i.Project], at)
	}
	c.relate(issues)
	for _, project := range projects {
		c.project(project, parts[project])
	}
}

var notKey = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// itemKey is the source's key, with what no key can hold replaced.
func itemKey(key string) string {
	if resource.ValidKey(key) {
		return key
	}
	return unique("x"+strings.Trim(notKey.ReplaceAllString(key, "-"), "-"), key)
}

// unique puts behind a key what tells it from another that would be the same.
func unique(key, of string) string {
	sum := sha256.Sum256([]byte(of))
	return key[:min(len(key), 80)] + "-" + hex.EncodeToString(sum[:4])
}

// project writes the manifests of a project.
func (c *composer) project(source string, places []place) {
	p := places[0].project
	g := newGroups()
	items := make([]any, len(places))
	for n, at := range places {
		items[n] = c.item(at, g)
	}
	c.report.Carried.Labels += len(g.used)
	head := manifest.Map{{Key: "key", Value: p.Key}, {Key: "identifier", Value: p.Identifier}}
	full := slices.Concat(head, manifest.Map{{Key: "name", Value: cmp.Or(p.Name, p.Key)}})
	if len(g.members) > 0 { // the service assigns nobody else
		full = append(full, manifest.Entry{Key: "members", Value: g.members})
	}
	if text := strings.TrimSpace(c.clean(places[0].issue, c.found.projects[source].Description)); text != "" {
		full = append(full, manifest.Entry{Key: "description", Value: text})
	}
	for _, section := range []struct {
		key  string
		list *names
	}{{"states", g.states}, {"labels", g.labels}, {"work_item_types", g.types}, {"cycles", g.cycles}, {"modules", g.modules}} {
		if list := section.list.entries(); len(list) > 0 {
			full = append(full, manifest.Entry{Key: section.key, Value: list})
		}
	}
	for n := 0; n*partSize < len(items); n++ {
		part := items[n*partSize : min(len(items), (n+1)*partSize)]
		name, what := p.Key+".yaml", "The project "+source
		if len(items) > partSize {
			name = fmt.Sprintf("%s-%03d.yaml", p.Key, n+1)
			what += fmt.Sprintf(", part %d", n+1)
		}
		fields := head
		if n == 0 {
			fields = full
		}
		document := manifest.Map{{Key: schema.Version, Value: manifest.Literal("1")}}
		if c.mapping.Workspace != "" {
			document = append(document, manifest.Entry{Key: schema.Workspace, Value: c.mapping.Workspace})
		}
		document = append(document, manifest.Entry{Key: "projects", Value: []any{append(slices.Clip(fields), manifest.Entry{Key: "work_items", Value: part})}})
		c.files = append(c.files, outFile{c.free(name), manifest.Encode(signature+"\n"+what+" of "+c.format.Tracker()+".\nyaml-language-server: $schema="+schema.ID, document)})
	}
}

// free is the name of a file that is not taken: by the mapping, or by the part of another project.
func (c *composer) free(name string) string {
	for name == "mapping.yaml" || slices.ContainsFunc(c.files, func(f outFile) bool { return f.name == name }) {
		name = "project-" + name
	}
	return name
}

// groups are what items of a project refer to.
type groups struct {
	states, labels, types, cycles, modules *names
	used                                   map[string]bool // labels of the source
	members                                []any
}

func newGroups() *groups {
	return &groups{states: newNames(), labels: newNames(), types: newNames(), cycles: newNames(), modules: newNames(), used: map[string]bool{}}
}

// names are objects that are known by their name.
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

// entries are the objects; those whose names would make the same key have keys of their own.
func (n *names) entries() []any {
	list := make([]any, len(n.order))
	for i, name := range n.order {
		entry := manifest.Map{{Key: "name", Value: name}}
		if slug := resource.Slug(name); slug == "" || n.slugs[slug] > 1 {
			entry = append(manifest.Map{{Key: "key", Value: unique(cmp.Or(slug, "x"), name)}}, entry...)
		}
		list[i] = append(entry, n.more[name]...)
	}
	return list
}

// item writes an issue.
func (c *composer) item(at place, g *groups) manifest.Map {
	i := at.issue
	c.report.Carried.Items++
	m := manifest.Map{{Key: "key", Value: at.key}}
	add := func(key string, value any) {
		switch v := value.(type) {
		case string:
			if v == "" {
				return
			}
		case []any:
			if len(v) == 0 {
				return
			}
		}
		m = append(m, manifest.Entry{Key: key, Value: value})
	}
	title := cmp.Or(oneLine(c.clean(i, i.Title)), i.Key)
	name, short := cut(title)
	if short {
		c.report.lose("titles-cut", i.Key, 1)
	}
	assignees, unknown := c.assignees(i)
	for _, email := range assignees {
		if !slices.Contains(g.members, email) {
			g.members = append(g.members, email)
		}
	}
	add("name", name)
	description := c.description(i, title, short, unknown)
	add("state", c.state(i, g))
	add("priority", c.priority(i))
	add("type", c.kind(i, g))
	add("assignees", assignees)
	add("labels", c.labels(i, g))
	add("parent", c.parent(at))
	add("module", c.module(i, g))
	add("cycle", c.cycle(i, g))
	if i.Start != "" && i.Due != "" && i.Start > i.Due {
		c.report.lose("start-after-due", i.Key, 1)
		i.Start = ""
	}
	if i.Start != "" {
		add("start_date", manifest.Literal(i.Start))
	}
	if i.Due != "" {
		add("target_date", manifest.Literal(i.Due))
	}
	if c.mapping.History == "full" {
		if !i.Created.IsZero() {
			add("created_at", i.Created.UTC().Format(time.RFC3339))
		}
		p, _ := mapping.Find(c.mapping.People, cmp.Or(i.Reporter, i.Creator))
		add("created_by", p.Email)
	}
	add("description", description)
	if relations := c.related[i.Project+"/"+i.Key]; len(relations) > 0 {
		var list manifest.Map
		for _, kind := range []string{"blocking", "blocked_by", "duplicate", "relates_to"} {
			if len(relations[kind]) > 0 {
				list = append(list, manifest.Entry{Key: kind, Value: relations[kind]})
			}
		}
		m = append(m, manifest.Entry{Key: "relations", Value: list})
	}
	add("links", c.links(i))
	add("comments", c.comments(i))
	for kind, n := range i.Left {
		c.report.lose(kind, i.Key, n)
	}
	return m
}

// description is the text with what has no field of its own.
func (c *composer) description(i *Issue, title string, short bool, unknown []string) string {
	var parts []string
	part := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	if short {
		part("**" + title + "**")
	}
	part(c.markdown(i, i.Text))
	if text := c.markdown(i, i.Environment); text != "" {
		part("## Environment\n\n" + text)
	}
	var fields []Field
	for _, f := range i.Fields {
		if to, _ := mapping.Find(c.mapping.Fields, f.Name); to == "text" && !f.Noise {
			f.Value = c.clean(i, f.Value)
			fields = append(fields, f)
		} else {
			c.report.leftOut[f.Name]++
		}
	}
	part(fieldTable(fields))
	var foot []string
	if c.mapping.History == "text" {
		by := cmp.Or(i.Reporter, i.Creator)
		var words []string
		if by != "" {
			words = append(words, escapeName(c.person(by)))
		}
		if !i.Created.IsZero() {
			words = append(words, moment(i.Created))
		}
		if len(words) > 0 {
			foot = append(foot, "Reported in "+c.format.Tracker()+": "+strings.Join(words, ", "))
		}
	}
	for _, id := range unknown {
		foot = append(foot, "Assignee in "+c.format.Tracker()+": "+escapeName(c.person(id)))
	}
	part(strings.Join(foot, "\\\n"))
	return strings.Join(parts, "\n\n")
}

// escapeName is a name in a text of Markdown.
func escapeName(name string) string {
	return strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "<", "\\<", "[", "\\[", "]", "\\]", "`", "\\`").Replace(name)
}

func (c *composer) state(i *Issue, g *groups) string {
	s, ok := mapping.Find(c.mapping.States, i.State.Name)
	if !ok || s.Name == "" {
		return ""
	}
	c.report.Carried.States[i.State.Name]++
	if slices.ContainsFunc(s.Unless, func(r string) bool { return mapping.Fold(r) == mapping.Fold(i.Resolution) }) && i.Resolution != "" {
		s = mapping.State{Name: s.Else, Group: "cancelled"}
	}
	if groupOf(s.Name) != "" { // each project has it
		return s.Name
	}
	group := cmp.Or(s.Group, i.State.Category)
	if group == "" {
		g.states.add(s.Name)
	} else {
		g.states.add(s.Name, manifest.Entry{Key: "group", Value: group})
	}
	return s.Name
}

func (c *composer) priority(i *Issue) string {
	p, _ := mapping.Find(c.mapping.Priorities, i.Priority)
	return p
}

func (c *composer) kind(i *Issue, g *groups) string {
	t, _ := mapping.Find(c.mapping.Types, i.Type)
	if t.Name == "" || t.Skip {
		return ""
	}
	if t.Epic {
		g.types.add(t.Name, manifest.Entry{Key: "is_epic", Value: manifest.Literal("true")})
	} else {
		g.types.add(t.Name)
	}
	return t.Name
}

// assignees are the members, and those who are none.
func (c *composer) assignees(i *Issue) (members []any, unknown []string) {
	for _, id := range i.Assignees {
		p, _ := mapping.Find(c.mapping.People, id)
		if p.Email != "" && p.Assign {
			if !slices.Contains(members, any(p.Email)) {
				members = append(members, p.Email)
			}
			continue
		}
		unknown = append(unknown, id)
		c.report.lose("assignees", i.Key, 1)
	}
	return members, unknown
}

var hexColor = regexp.MustCompile(`^#?[0-9a-fA-F]{6}$`)

// labels are the labels of an item, with what is made a label.
func (c *composer) labels(i *Issue, g *groups) []any {
	var list []any
	add := func(name, color, description string) {
		name, _ = cut(oneLine(c.clean(i, name)))
		if name == "" {
			return
		}
		if c.mapping.Labels.Fold {
			name = cmp.Or(g.labels.folded[strings.ToLower(name)], name)
		}
		var more manifest.Map
		if hexColor.MatchString(color) {
			more = append(more, manifest.Entry{Key: "color", Value: "#" + strings.ToLower(strings.TrimPrefix(color, "#"))})
		}
		if description = oneLine(c.clean(i, description)); description != "" {
			more = append(more, manifest.Entry{Key: "description", Value: description})
		}
		g.labels.add(name, more...)
		if !slices.Contains(list, any(name)) {
			list = append(list, name)
		}
	}
	for _, l := range i.Labels {
		if slices.Contains(c.mapping.Labels.Skip, l.Name) {
			c.report.leftOut["label "+l.Name]++
			continue
		}
		g.used[l.Name] = true
		to, renamed := c.mapping.Labels.Rename[l.Name]
		if !renamed {
			to = l.Name
		}
		add(to, l.Color, l.Description)
	}
	if c.mapping.Components == "label" {
		for _, name := range i.Components {
			add(name, "", "")
		}
	}
	if c.mapping.Versions.Fix == "label" {
		for _, v := range i.Versions {
			add(c.mapping.Versions.Prefix+v.Name, "", "")
		}
	}
	for _, name := range i.Affects {
		if c.mapping.Versions.Affects == "label" {
			add(c.mapping.Versions.Prefix+name, "", "")
		} else {
			c.report.lose("affected-versions", i.Key, 1)
		}
	}
	for _, name := range c.mapping.Labels.Add {
		add(name, "", "")
	}
	return list
}

// module is the module of an item; it has one.
func (c *composer) module(i *Issue, g *groups) string {
	var list []Version
	if c.mapping.Components == "module" {
		for _, name := range i.Components {
			list = append(list, Version{Name: name})
		}
	}
	if c.mapping.Versions.Fix == "module" {
		for _, v := range i.Versions {
			v.Name = c.mapping.Versions.Prefix + v.Name
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return ""
	}
	if len(list) > 1 {
		c.report.lose("second-modules", i.Key, len(list)-1)
	}
	name, _ := cut(oneLine(c.clean(i, list[0].Name)))
	if list[0].Due != "" {
		g.modules.add(name, manifest.Entry{Key: "target_date", Value: manifest.Literal(list[0].Due)})
	} else {
		g.modules.add(name)
	}
	return name
}

// cycle is the last sprint of an item.
func (c *composer) cycle(i *Issue, g *groups) string {
	if c.mapping.Sprints == "skip" || len(i.Sprints) == 0 {
		return ""
	}
	if len(i.Sprints) > 1 {
		c.report.lose("former-sprints", i.Key, len(i.Sprints)-1)
	}
	name, _ := cut(oneLine(c.clean(i, i.Sprints[len(i.Sprints)-1])))
	g.cycles.add(name)
	return name
}

func (c *composer) parent(at place) string {
	i := at.issue
	if i.Parent == "" {
		return ""
	}
	parent, ok := c.placed[i.Project+"/"+i.Parent]
	if !ok {
		c.report.lose("parents-outside", i.Key, 1)
		return ""
	}
	seen := map[string]bool{}
	for up := i; up != nil && up.Parent != ""; up = c.placed[up.Project+"/"+up.Parent].issue {
		if seen[up.Key] { // of those that are above each other, the first loses its parent
			if i.Number <= c.lowest(i) {
				c.report.lose("parents-in-a-circle", i.Key, 1)
				return ""
			}
			break
		}
		seen[up.Key] = true
	}
	c.report.Carried.Parents++
	return parent.key
}

// lowest is the lowest number among the issues above one, which is in a circle.
func (c *composer) lowest(i *Issue) int {
	low, seen := i.Number, map[string]bool{}
	for up := i; !seen[up.Key]; up = c.placed[up.Project+"/"+up.Parent].issue {
		seen[up.Key] = true
		low = min(low, up.Number)
	}
	return low
}

// links are the address in the source, and those of attachments.
func (c *composer) links(i *Issue) []any {
	url, _ := resource.MustLookup("link").Field("url")
	var list []any
	seen := map[string]bool{}
	add := func(to, title string) {
		if to == "" || seen[to] || manifest.CheckText(url, to) != "" || len(to) > url.MaxLength {
			return
		}
		seen[to] = true
		title, _ = cut(oneLine(c.clean(i, title)))
		list = append(list, manifest.Map{{Key: "url", Value: to}, {Key: "title", Value: title}})
	}
	to := i.URL
	if site := c.mapping.Source.Site; to == "" && site != "" && site != "none" {
		to = site + strings.ReplaceAll(c.found.browse, "{key}", i.Key)
	}
	title := i.Key
	if title == strconv.Itoa(i.Number) {
		title = "#" + title
	}
	add(to, title+" in "+c.format.Tracker())
	for _, a := range i.Attachments {
		add(a.URL, a.Name)
		c.report.lose("attachments", i.Key, 1)
	}
	return list
}

// comments are the comments of an issue. One without an ID is known by its minute, author and ordinal: an edited comment stays
// the same one.
func (c *composer) comments(i *Issue) []any {
	var list []any
	taken := map[string]int{}
	for _, comment := range i.Comments {
		p, _ := mapping.Find(c.mapping.People, comment.Author)
		switch {
		case c.mapping.Comments.Skip:
			c.report.leftOut["comments"]++
			continue
		case p.Bot:
			c.report.lose("bot-comments", i.Key, 1)
			continue
		}
		text := c.markdown(i, comment.Text)
		if header := c.mapping.Comments.Header; header != "" {
			date := ""
			if !comment.At.IsZero() {
				date = moment(comment.At)
			}
			who := "somebody"
			if comment.Author != "" {
				who = escapeName(c.person(comment.Author))
			}
			header = strings.TrimSuffix(strings.NewReplacer("{author}", who, "{date}", date).Replace(header), " · ")
			text = strings.TrimSpace(header + "\n\n" + text)
		}
		if text == "" {
			c.report.lose("empty-comments", i.Key, 1)
			continue
		}
		key := itemKey(comment.ID)
		if comment.ID == "" {
			author, when := resource.Slug(comment.Author), "undated"
			if !comment.At.IsZero() {
				when = comment.At.Format("20060102T1504")
			}
			key = when + "-" + cmp.Or(author[:min(len(author), 60)], "unknown")
			taken[key]++
			key += "-" + strconv.Itoa(taken[key])
		}
		c.report.Carried.Comments++
		list = append(list, manifest.Map{{Key: "key", Value: key}, {Key: "text", Value: text}})
	}
	return list
}

// relate turns links into relations: each once, on the item that comes first. Two items have one relation; the first of blocks,
// duplicate, relates_to counts.
func (c *composer) relate(issues []*Issue) {
	type pair struct{ a, b string }
	type candidate struct {
		rank     int
		from, to place
	}
	best, order := map[pair]candidate{}, []pair{}
	said := map[relation]bool{}
	find := func(i *Issue, key string) (place, bool) {
		if at, ok := c.placed[i.Project+"/"+key]; ok {
			return at, true
		}
		project, _, _ := strings.Cut(key, "-")
		at, ok := c.placed[project+"/"+key]
		return at, ok
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
			from, ok1 := find(i, r.from)
			to, ok2 := find(i, r.to)
			kind, _ := mapping.Find(c.mapping.Links, r.kind)
			rank := slices.Index([]string{"blocks", "duplicate", "relates_to"}, kind)
			switch {
			case !ok1 || !ok2 || from.issue == to.issue:
				c.report.lose("relations-outside", i.Key, 1)
				continue
			case rank < 0:
				c.report.lose("relations-skipped", i.Key, 1)
				continue
			case kind == "relates_to" && !strings.HasPrefix(mapping.Fold(r.kind), "relate"):
				c.report.lose("relation-types", i.Key, 1)
			}
			p := pair{r.from, r.to}
			if before(to.issue, from.issue) {
				p = pair{r.to, r.from}
			}
			had, known := best[p]
			if !known {
				order = append(order, p)
			} else {
				c.report.lose("second-relations", i.Key, 1)
			}
			if !known || rank < had.rank {
				best[p] = candidate{rank, from, to}
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
		c.report.Carried.Relations++
	}
}

// before reports whether an issue is written before another.
func before(a, b *Issue) bool {
	return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Key, b.Key)) < 0
}

// carriedPeople are the people who are members now.
func (c *composer) carriedPeople(issues []*Issue) int {
	people := map[string]bool{}
	for _, i := range issues {
		for _, id := range i.involved() {
			if p, ok := mapping.Find(c.mapping.People, id); ok && id != "" && p.Email != "" {
				people[id] = true
			}
		}
	}
	return len(people)
}
