package export

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/graph"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
	"github.com/planform/planform/schema"
)

// composer turns what was read into manifests and records.
type composer struct {
	found       *content
	out         *Export
	workspace   string
	owner       resource.Owner
	baseURL     string
	checker     *schema.Checker
	names       fileNames
	memberships map[resource.Address]*planner.Record
	declared    map[edge]bool // members that a manifest declares already, from the other side
	pages       *Pages
	walked      map[step]bool // by [composer.cutsCycle]
	broken      map[step]bool // references that are cut, since they would close a cycle
}

// edge is one object's membership in another.
type edge struct {
	kind     string // the membership
	from, to string
}

// compose makes the files and the records.
func compose(found *content, o Options) (*Export, error) {
	checker := schema.New()
	c := &composer{
		found: found, out: &Export{Counts: []Count{}, Skipped: []Count{}, Omitted: []Omission{}},
		workspace: o.Workspace, owner: found.owner(o.Owner), baseURL: o.BaseURL, pages: NewPages(o.WebURL, o.Workspace), checker: checker,
		memberships: map[resource.Address]*planner.Record{},
		declared:    map[edge]bool{}, walked: map[step]bool{}, broken: map[step]bool{},
	}
	c.pages.addAll(found.root, o)
	c.compose()
	c.out.report(found, o.API)
	return c.out, nil
}

func (c *composer) compose() {
	project := resource.MustLookup("project")
	c.names.reserve("workspace.yaml") // no project gets it
	for _, p := range c.found.root.exports(project) {
		first := len(c.out.Records)
		document := c.document(manifest.Entry{Key: project.Section, Value: []any{c.object(p)}})
		name := c.names.unique("", cmp.Or(strings.ToLower(p.identifier), p.key), ".yaml")
		c.recordSources(first, name)
		c.file(name, "The project "+p.name()+" of the workspace "+c.workspace+".", document)
	}
	var rest manifest.Map
	first := len(c.out.Records)
	for _, k := range inOrder(resource.Children("")) {
		if k != project {
			rest = append(rest, c.section(c.found.root, k)...)
		}
	}
	c.recordSources(first, "workspace.yaml")
	c.file("workspace.yaml", "What the workspace "+c.workspace+" has outside its projects.", c.document(rest...))
	for _, r := range c.memberships {
		slices.Sort(r.Members)
		slices.Sort(r.Found)
		c.out.Records = append(c.out.Records, *r)
	}
	slices.SortFunc(c.out.Records, func(a, b planner.Record) int { return strings.Compare(string(a.Address), string(b.Address)) })
}

// inOrder puts kinds after those that they refer to, and what the service numbers last, with what refers to it.
func inOrder(kinds []*resource.Kind) []*resource.Kind {
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

func (c *composer) document(sections ...manifest.Entry) manifest.Map {
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

// signature tells the manifests of an export from others.
const signature = "Written by planform export."

func (c *composer) file(name, comment string, document manifest.Map) {
	header := "yaml-language-server: $schema=" + schema.Address() + "\n" + comment + " " + signature
	c.out.Files = append(c.out.Files, File{Name: name, Data: manifest.Encode(header, document)})
}

// section is the list of the children of a kind, or nothing.
func (c *composer) section(parent *object, k *resource.Kind) manifest.Map {
	children := parent.exports(k)
	if len(children) == 0 || k.Singleton && children[0].saysNothing() {
		return nil
	}
	if k.Singleton {
		return manifest.Map{{Key: k.Section, Value: c.object(children[0])}}
	}
	objects := make([]any, len(children))
	for i, t := range children {
		objects[i] = c.object(t)
	}
	return manifest.Map{{Key: k.Section, Value: objects}}
}

// object is an object with its children.
func (c *composer) object(t *object) manifest.Map {
	counter(&c.out.Counts, t.kind.Section).Number++
	fields := c.fields(t)
	for _, k := range inOrder(resource.Children(t.kind.Name)) {
		fields = append(fields, c.section(t, k)...)
	}
	return fields
}

// record adds what the state is to know of an object.
func (c *composer) record(t *object, values map[string]string) {
	c.out.Records = append(c.out.Records, planner.Record{Address: t.address, ID: t.row.ID(), Identifier: t.identifier, Values: values})
}

// recordSources notes which manifest holds the objects of the records from first on.
func (c *composer) recordSources(first int, file string) {
	for i := range c.out.Records[first:] {
		c.out.Records[first+i].Sources = []string{file}
	}
}

// omit notes that a field of an object cannot be written.
func (c *composer) omit(t *object, what, why string) {
	where := t.label()
	if t.identifier == "" && t.parent.kind != nil {
		where += " in " + t.parent.label()
	}
	c.found.omitted.add(omission{what, why, false}, where, 1)
}
