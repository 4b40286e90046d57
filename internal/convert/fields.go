package convert

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

// state returns the name of an item's state, and declares the state unless each project has it.
func (c *composer) state(i *Issue, g *groups) string {
	s, ok := c.mapping.States.Find(i.State.Name)
	if ok && s.Name == "" && s.Group != "" { // of all states that the mapping does not name
		s.Name = plainName(i.State.Name)
	}
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
	g.states.add(s.Name, manifest.Map{}.With("group", cmp.Or(s.Group, i.State.Category))...)
	if i.State.ID != "" {
		g.states.former[s.Name] = c.runs.renamed(i.Project+"/"+i.State.ID, s.Name)
	}
	return s.Name
}

// kind returns the name of an item's type and declares the type, or returns "" if the mapping gives none.
func (c *composer) kind(i *Issue, g *groups) string {
	t, _ := c.mapping.Types.Find(i.Type)
	if t.Name == "" || t.Skip {
		return ""
	}
	var more manifest.Map
	if t.Epic {
		more = more.With("is_epic", manifest.Literal("true"))
	}
	g.types.add(t.Name, more...)
	return t.Name
}

// assignees returns the e-mail addresses of an issue's assignees, and the IDs of the people who cannot be assigned. The deputy takes their
// place, if there is one.
func (c *composer) assignees(i *Issue) (members []any, unknown []string) {
	for _, id := range i.Assignees {
		p, _ := c.mapping.People.Find(id)
		to := p.Email
		if to == "" || !p.Assign || c.found.isOutsider(to) {
			unknown = append(unknown, id)
			if to = c.deputy(); to == "" {
				c.report.lose("assignees", i, 1)
			}
		}
		c.bookPerson(Assignee, id, either(to == p.Email && to != "", carried, asText))
		if to != "" && !slices.Contains(members, any(to)) {
			members = append(members, to)
		}
	}
	return members, unknown
}

// deputy returns the e-mail address of the person who gets the items of people without an account, or "" if the mapping names nobody.
func (c *composer) deputy() string {
	if !strings.Contains(c.mapping.UnknownPeople, "@") {
		return ""
	}
	return c.mapping.UnknownPeople
}

var hexColor = regexp.MustCompile(`^#?[0-9a-fA-F]{6}$`)

// labels returns the labels of an item: the labels of the issue, and components and versions if the mapping makes them labels.
func (c *composer) labels(i *Issue, g *groups) []any {
	var list []any
	has := map[string]bool{}
	add := func(name, color, description string) {
		name, _, _ = strings.Cut(name, Within)
		name, _ = cut(diag.OneLine(c.clean(i, name)))
		if name == "" {
			return
		}
		if c.mapping.Labels.Fold {
			name = cmp.Or(g.labels.folded[strings.ToLower(name)], name)
		}
		var more manifest.Map
		if hexColor.MatchString(color) {
			more = more.With("color", "#"+strings.ToLower(strings.TrimPrefix(color, "#")))
		}
		g.labels.current[name] = g.labels.current[name] || !c.found.kept[i]
		g.labels.add(name, more.With("description", diag.OneLine(c.clean(i, description)))...)
		if !has[name] {
			has[name], list = true, append(list, name)
		}
	}
	for _, l := range i.Labels {
		if slices.Contains(c.mapping.Labels.Skip, l.Name) {
			c.report.leftOut["label "+l.Name]++
			c.took.putElement(OfLabel, beginning(l.Name), decided)
			c.took.put(OfLabel, decided)
			continue
		}
		if !c.found.kept[i] {
			g.used[l.Name] = true
		}
		to, renamed := c.mapping.Labels.Rename[l.Name]
		if !renamed {
			to = l.Name
		}
		c.took.putElement(OfLabel, beginning(l.Name), carried)
		c.took.put(OfLabel, carried)
		add(to, l.Color, l.Description)
	}
	c.took.put(Component, either(len(i.Components) > 0, carried, lost))
	c.took.put(OfVersion, either(len(i.Versions) > 0, carried, lost))
	c.took.put("version_due", either(c.mapping.Versions.Fix == "module", carried, lost))
	c.took.put("component_text", lost)
	c.took.put("version_text", lost)
	c.took.put("cycle_text", lost)
	c.eachPart(i, "label", func(name, _, about string) { add(name, "", about) })
	for _, name := range i.Affects {
		if c.mapping.Versions.Affects == "label" {
			add(c.mapping.Versions.Prefix+name, "", "")
			c.took.put(Affects, carried)
		} else {
			c.report.lose("affected-versions", i, 1)
		}
	}
	for _, name := range c.mapping.Labels.Add {
		add(name, "", "")
	}
	return list
}

// now returns a day of a sprint or version, or "" for an issue that only an earlier export had, because the day may have changed since.
func (c *composer) now(i *Issue, day string) string {
	if c.found.kept[i] {
		return ""
	}
	return day
}

// about returns the description of a component, version or sprint, which the item's project declares.
func (c *composer) about(i *Issue, of Role, name string) string {
	n := slices.IndexFunc(i.About, func(a About) bool { return a.Of == of && a.Name == name })
	if n < 0 {
		return ""
	}
	c.took.putElement(of, beginning(i.About[n].Text), carried)
	return strings.TrimSpace(c.clean(i, i.About[n].Text))
}

// eachPart calls a function for the components and versions of an issue, if the mapping makes them objects of a kind.
func (c *composer) eachPart(i *Issue, kind string, do func(name, due, about string)) {
	if c.mapping.Components == kind {
		for _, name := range i.Components {
			do(name, "", c.about(i, Component, name))
		}
	}
	if c.mapping.Versions.Fix == kind {
		for _, v := range i.Versions {
			do(c.mapping.Versions.Prefix+v.Name, v.Due, c.about(i, OfVersion, v.Name))
		}
	}
}

// modules returns the components and versions of an item that the mapping makes modules.
func (c *composer) modules(i *Issue, g *groups) []any {
	var names []any
	add := func(name, due, about string) {
		name = g.modules.distinct(c.clean(i, name), c.now(i, due))
		if name == "" || slices.Contains(names, any(name)) {
			return
		}
		names = append(names, name)
		g.modules.current[name] = g.modules.current[name] || !c.found.kept[i]
		g.modules.add(name, manifest.Map{}.With("description", about).With("target_date", manifest.Literal(due))...)
	}
	c.eachPart(i, "module", add)
	return names
}

// cycle returns the name of an item's last sprint, and declares the cycle.
func (c *composer) cycle(i *Issue, g *groups) string {
	if c.mapping.Sprints == "skip" || len(i.Sprints) == 0 {
		return ""
	}
	if len(i.Sprints) > 1 {
		c.report.lose("former-sprints", i, len(i.Sprints)-1)
	}
	sprint := i.Sprints[len(i.Sprints)-1]
	name := g.cycles.distinct(c.clean(i, sprint.Name), c.now(i, sprint.Start))
	var more manifest.Map
	if sprint.Start != "" && sprint.Start <= sprint.End { // a cycle has both or none
		more = manifest.Map{{Key: "start_date", Value: manifest.Literal(sprint.Start)}, {Key: "end_date", Value: manifest.Literal(sprint.End)}}
	}
	if more == nil && sprint.Start+sprint.End != "" {
		c.report.lose("sprint-dates", i, 1)
	}
	for _, former := range i.Sprints {
		name, _, _ := strings.Cut(former.Name, Within)
		c.took.putElement(OfSprint, beginning(name), either(former == sprint, carried, lost))
		for _, name := range []string{name, beginning(name)} {
			c.took.putElement(SprintDate, name, either(former == sprint && more != nil, carried, lost))
		}
	}
	c.took.put(OfSprint, carried)
	c.took.put(SprintDate, either(more != nil, carried, lost))
	g.cycles.current[name] = g.cycles.current[name] || !c.found.kept[i]
	g.cycles.add(name, more.With("description", c.about(i, OfSprint, sprint.Name))...)
	return name
}

// links returns the links of an item: to the issue in the source, if the mapping wants one, to pages, and to attachments that are not
// uploaded.
func (c *composer) links(i *Issue, attachments []Attachment) []any {
	url, _ := resource.MustLookup("link").Field("url")
	var list []any
	seen := map[string]bool{}
	add := func(to, title string) {
		if to == "" || seen[to] || manifest.CheckText(url, to) != "" || len(to) > url.MaxLength {
			return
		}
		seen[to] = true
		c.took.putElement(OfFile, beginning(to), carried)
		c.took.putElement(OfFile, beginning(title), carried)
		title, _ = cut(diag.OneLine(c.clean(i, title)))
		list = append(list, manifest.Map{{Key: "url", Value: to}, {Key: "title", Value: title}})
	}
	if c.mapping.History.Link == "link" {
		add(c.address(i), i.title()+" in "+c.format.Tracker)
	}
	for _, page := range slices.Concat(i.Pages, attachments) {
		add(page.URL, page.Name)
	}
	return list
}
