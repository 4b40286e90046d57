package export

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/graph"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
	"github.com/planform/planform/schema"
)

// composer turns the content of a workspace into manifests and records.
type composer struct {
	content     *content
	out         *Export
	workspace   string
	owner       resource.Owner
	baseURL     string
	names       fileNames
	memberships map[resource.Address]*planner.Record
	declared    map[edge]bool // members that a manifest already declares from the other side
	pages       *Pages
	walked      map[refStep]bool // references that [composer.cutsCycle] has followed
	broken      map[refStep]bool // references that are left out, because they would close a cycle
}

// edge is one object's membership in another.
type edge struct {
	kind     string // of the membership
	from, to string
}

// compose makes the files and the records.
func compose(found *content, o Options) (*Export, error) {
	c := &composer{
		content: found, out: &Export{Counts: []Count{}, Skipped: []Count{}, Omitted: []Omission{}},
		workspace: o.Workspace, owner: found.commonOwner(o.Owner), baseURL: o.BaseURL, pages: NewPages(o.WebURL, o.Workspace),
		memberships: map[resource.Address]*planner.Record{},
		declared:    map[edge]bool{}, walked: map[refStep]bool{}, broken: map[refStep]bool{},
	}
	c.pages.addAll(found.root, o)
	c.composeFiles()
	c.out.report(found, o.API)
	return c.out, nil
}

// composeFiles makes a file for each project and one for the rest of the workspace.
func (c *composer) composeFiles() {
	project := resource.MustLookup("project")
	c.names.reserve("workspace.yaml") // no project may take this name
	for _, p := range c.content.root.exportedChildren(project) {
		first := len(c.out.Records)
		document := c.newDocument(manifest.Entry{Key: project.Section, Value: []any{c.encodeObject(p)}})
		name := c.names.unique("", cmp.Or(strings.ToLower(p.identifier), p.key), ".yaml")
		c.recordSources(first, name)
		c.addFile(name, "The project "+p.name()+" of the workspace "+c.workspace+".", document)
	}
	var rest manifest.Map
	first := len(c.out.Records)
	for _, k := range sortKinds(resource.Children("")) {
		if k != project {
			rest = append(rest, c.sectionOf(c.content.root, k)...)
		}
	}
	c.recordSources(first, "workspace.yaml")
	c.addFile("workspace.yaml", "What the workspace "+c.workspace+" has outside its projects.", c.newDocument(rest...))
	for _, r := range c.memberships {
		slices.Sort(r.Members)
		slices.Sort(r.Found)
		c.out.Records = append(c.out.Records, *r)
	}
	slices.SortFunc(c.out.Records, func(a, b planner.Record) int { return strings.Compare(string(a.Address), string(b.Address)) })
}

// sortKinds sorts kinds after the kinds that they refer to, and puts numbered kinds and their referrers last.
func sortKinds(kinds []*resource.Kind) []*resource.Kind {
	isNumbered := func(k *resource.Kind) bool {
		return k.Numbered() || slices.ContainsFunc(k.Fields, func(f resource.Field) bool {
			return f.IsRef() && f.Ref != k.Name && slices.ContainsFunc(kinds, func(o *resource.Kind) bool { return o.Name == f.Ref && o.Numbered() })
		})
	}
	isPlain := func(k *resource.Kind) bool { return !isNumbered(k) }
	numbersLast := slices.Concat(slices.DeleteFunc(slices.Clone(kinds), isNumbered), slices.DeleteFunc(slices.Clone(kinds), isPlain))
	var list []*resource.Kind
	graph.DepthFirst(numbersLast, func(k *resource.Kind) []*resource.Kind {
		var named []*resource.Kind
		for i := range k.Fields {
			if f := &k.Fields[i]; f.IsRef() && slices.ContainsFunc(kinds, func(o *resource.Kind) bool { return o.Name == f.Ref }) {
				named = append(named, resource.MustLookup(f.Ref))
			}
		}
		return named
	}, func(k *resource.Kind) { list = append(list, k) }, func([]*resource.Kind) {})
	return list
}

// newDocument returns a manifest with its head and sections.
func (c *composer) newDocument(sections ...manifest.Entry) manifest.Map {
	document := manifest.Map{
		{Key: schema.Version, Value: manifest.Literal("1")},
		{Key: schema.Workspace, Value: c.workspace},
	}
	if c.owner != "" {
		document = append(document, manifest.Entry{Key: schema.Owner, Value: string(c.owner)})
	}
	if c.baseURL != "" {
		document = append(document, manifest.Entry{Key: schema.Source, Value: manifest.Map{
			{Key: schema.BaseURL, Value: c.baseURL}, {Key: schema.Workspace, Value: c.workspace},
		}})
	}
	return append(document, sections...)
}

// signature marks the manifests of an export.
const signature = "Written by planform export."

// addFile adds a manifest to the files.
func (c *composer) addFile(name, comment string, document manifest.Map) {
	header := "yaml-language-server: $schema=" + schema.Address() + "\n" + comment + " " + signature
	c.out.Files = append(c.out.Files, File{Name: name, Data: manifest.Encode(header, document)})
}

// sectionOf returns the section with an object's children of a kind, or nothing.
func (c *composer) sectionOf(parent *object, k *resource.Kind) manifest.Map {
	children := parent.exportedChildren(k)
	if len(children) == 0 || k.Singleton && children[0].hasDefaultsOnly() {
		return nil
	}
	if k.Singleton {
		return manifest.Map{{Key: k.Section, Value: c.encodeObject(children[0])}}
	}
	objects := make([]any, len(children))
	for i, t := range children {
		objects[i] = c.encodeObject(t)
	}
	return manifest.Map{{Key: k.Section, Value: objects}}
}

// encodeObject returns an object with its children.
func (c *composer) encodeObject(t *object) manifest.Map {
	countOf(&c.out.Counts, t.kind.Section).Number++
	fields := c.encodeFields(t)
	for _, k := range sortKinds(resource.Children(t.kind.Name)) {
		fields = append(fields, c.sectionOf(t, k)...)
	}
	return fields
}

// recordSources sets the manifest that holds the objects of the records from first on.
func (c *composer) recordSources(first int, file string) {
	for i := range c.out.Records[first:] {
		c.out.Records[first+i].Sources = []string{file}
	}
}

// addOmission records that a field of an object cannot be written.
func (c *composer) addOmission(t *object, what, why string) {
	where := t.label()
	if t.identifier == "" && t.parent.kind != nil {
		where += " in " + t.parent.label()
	}
	c.content.omitted.add(omission{what, why, false}, where, 1)
}
