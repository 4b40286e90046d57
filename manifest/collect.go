package manifest

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/yamltext"
	"github.com/planform/planform/schema"
)

// collection holds the objects and settings of all documents.
type collection struct {
	items          items
	origins        []*resource.Source // by document: its source; nil = none
	defaults       []defaults         // by document
	workspace      positionedText
	owner          positionedText
	order          positionedText
	tooManyObjects bool // the limit on objects for the size of the manifests was exceeded, and reported
}

// positionedText is a text and its place.
type positionedText struct {
	text     string
	position diag.Position
}

// collector adds the objects of one file to a collection, in the order in which they are written.
type collector struct {
	*pass

	made  map[*node]*element  // objects that for_each made
	pages map[*node]*pageFile // objects that folders of pages made

	otherFormat []*node             // documents of other programs
	isOther     bool                // such a document was reported
	hasContent  bool                // the file has a document with keys of a manifest
	hasVersion  bool                // a document has a version
	expanded    bool                // a document has templates
	incomplete  bool                // a template could not be expanded
	declared    map[string]fileNode // variables of all documents
	includes    []inclusion
	ancestors   ancestors
	depth       int
}

// addDocument reads a document. In a file that was found in a folder, it sets documents of other programs aside.
func (c *collector) addDocument(root *node) {
	if c.source.listed && c.kinds.isOtherFormat(root) {
		c.otherFormat = append(c.otherFormat, root)
		return
	}
	c.readDocument(root)
}

// isManifest reports whether the file is a manifest. If it is, documents that looked like another program's are read too, so that their
// errors are reported.
func (c *collector) isManifest() bool {
	if len(c.otherFormat) > 0 && !c.hasContent {
		return false
	}
	for _, root := range c.otherFormat {
		c.readDocument(root)
	}
	return true
}

// readDocument reads the top level of a document.
func (c *collector) readDocument(root *node) {
	number := len(c.all.origins)
	c.all.origins, c.all.defaults = append(c.all.origins, nil), append(c.all.defaults, nil)
	root, done := c.follow(root)
	defer done()
	if root == nil || isNull(root) {
		return
	}
	if root.Kind != mappingNode {
		hint := "begin with projects:, or another section"
		if root.Kind == scalarNode && strings.Count(root.Value, ",") > 1 {
			hint = "it looks like CSV; planform convert makes manifests from tables"
		}
		c.reportNode(root, "", problem{"wrong-type", "a manifest must be a mapping, not " + nodeType(root), hint})
		return
	}
	c.checkTag(root, "")
	pairs := c.pairs(root)
	if what, hint := c.kinds.otherFile(pairs); what != "" && !c.hasContent {
		if !c.isOther {
			c.reportNode(root, "", problem{"no-manifest", "this is " + what + ", not a manifest", hint})
		}
		c.isOther, c.hasVersion = true, true
		return
	}
	refers := isTemplate(root) || len(c.source.passed) > 0
	c.warnTraps(root, refers)
	vars := map[string]fileNode{}
	if refers {
		if pairs = c.expandTemplates(pairs, vars); pairs == nil {
			c.hasVersion = true
			return
		}
	}
	shell := properties{pass: c.pass, item: -1, names: c.kinds.names}
	instance := map[string]any{}
	for key, written := range yamltext.Pairs(pairs) {
		name, ok := shell.add(key, written)
		if !ok {
			continue
		}
		value := resolved(written)
		if strings.HasPrefix(name, schema.Extension) || value != nil && isBroken(value) {
			continue
		}
		if k, isSection := c.kinds.top[name]; isSection {
			c.collectSection(k, written, -1, -1, number, name)
			continue
		}
		switch {
		case value == nil:
			instance[name] = map[string]any{}
		case c.checkTag(value, name):
		case name == schema.Defaults && value.Kind == mappingNode:
			c.all.defaults[number] = c.readDefaults(value)
		case name == schema.Include && value.Kind == sequenceNode:
			for _, entry := range value.Content {
				c.includes = append(c.includes, inclusion{source: c.source, entry: entry, vars: vars})
			}
		case name == schema.Source && value.Kind == mappingNode:
			instance[name] = c.sourceInstance(value)
		case name == schema.Version && value.Kind == scalarNode && value.Style&quotedStyles == 0 && json.Valid([]byte(value.Value)):
			instance[name] = jsonScalar(value)
		default:
			instance[name] = textInstance(value)
		}
	}
	c.hasContent = c.hasContent || len(shell.byName) > 0
	c.hasVersion = c.hasVersion || shell.at(schema.Version) != nil
	vs := schema.CheckDocument(instance)
	for _, v := range vs {
		shell.report(v)
	}
	valid := func(name string) (*node, bool) {
		at := shell.value(name)
		return at, at != nil && !slices.ContainsFunc(vs, func(v schema.Violation) bool { return v.Property == name })
	}
	if at, ok := valid(schema.Workspace); ok {
		c.requireSame(&c.all.workspace, positionedText{resolved(at).Value, c.position(at)}, schema.Workspace, "one run works on one workspace")
	}
	if at, ok := valid(schema.Owner); ok {
		c.requireSame(&c.all.owner, positionedText{resolved(at).Value, c.position(at)}, schema.Owner, "the manifests of one run have one owner")
	}
	if at, ok := valid(schema.Order); ok {
		c.requireSame(&c.all.order, positionedText{resolved(at).Value, c.position(at)}, schema.Order, "one run creates in one order; --order overrides it")
	}
	if origin, ok := instance[schema.Source].(map[string]any); ok {
		if _, ok := valid(schema.Source); ok {
			c.setSource(number, origin)
		}
	}
}

// expandTemplates returns the pairs of a document with its templates expanded, or nil if they exceed the budget.
func (c *collector) expandTemplates(pairs []*node, vars map[string]fileNode) []*node {
	x := &expander{pass: c.pass, vars: vars, made: c.made}
	pairs = x.expandDocument(pairs)
	maps.Copy(c.declared, vars)
	c.expanded, c.incomplete = true, c.incomplete || x.failed
	return pairs
}

// sourceInstance returns the `source` of a document, a base URL and a workspace, as an instance that the schema validates.
func (c *collector) sourceInstance(n *node) map[string]any {
	instance := map[string]any{}
	for key, of := range c.eachPair(n) {
		name, value := resolved(key), resolved(of)
		switch {
		case name == nil || name.Kind != scalarNode || value == nil:
			instance[""] = nil
		case instance[name.Value] != nil:
			c.reportDuplicate(name.Value, key, key, schema.Source)
		default:
			instance[name.Value] = textInstance(value)
		}
	}
	return instance
}

// setSource stores the source of a document. Documents with equal sources share one value.
func (c *collector) setSource(document int, origin map[string]any) {
	s := &resource.Source{}
	s.BaseURL, _ = origin[schema.BaseURL].(string)
	s.Workspace, _ = origin[schema.Workspace].(string)
	for _, other := range c.all.origins {
		if other != nil && *other == *s {
			s = other
		}
	}
	c.all.origins[document] = s
}

const otherFileHint = "a manifest begins with version: 1 and workspace: SLUG; values of variables are for --var-file, exports for planform convert"

// maxOtherKeys limits the keys and values of a file of another kind. The limit bounds the cost of the look at the keys.
const maxOtherKeys = 200

// otherFile recognizes files that are not manifests: planform's own, such as plans and state files, and those of other programs.
func (ks *kindSet) otherFile(pairs []*node) (what, hint string) {
	has := func(names ...string) bool {
		for _, name := range names {
			if !slices.ContainsFunc(pairs, func(n *node) bool { return n.Kind == scalarNode && n.Value == name }) {
				return false
			}
		}
		return true
	}
	switch {
	case has("format_version", "steps"), has("format_version", "summary"):
		return "a plan", "planform apply FILE carries it out, without -f"
	case has("lineage", "serial"):
		return "a state file", "name a manifest; the state is found beside it, or with --state"
	case has("unknown_people", "people"):
		return "a mapping of planform convert", "name the folder of the manifests: its mapping is left out"
	case has("format_version"):
		return "a report", "name the YAML files that begin with version: 1"
	case has("$schema", "type"):
		return "a JSON Schema", otherFileHint
	case len(pairs) >= maxOtherKeys:
		return "", ""
	}
	if known, unknown, certain := ks.countKeys(pairs); unknown > known && !certain {
		return "a file of another kind", otherFileHint
	}
	return "", ""
}

// requireSame stores a setting, or reports a conflict if another document has a different value for it.
func (c *collector) requireSame(said *positionedText, to positionedText, name, hint string) {
	switch said.text {
	case "":
		*said = to
	case to.text:
	default:
		summary := name + " is " + quote(to.text) + " here and " + quote(said.text) + " elsewhere"
		c.found.report(to.position, name, problem{"conflict", summary, hint}, relatedPlace("first given at", said.position))
	}
}

// collectSection collects the objects of a section, and the objects inside them.
func (c *collector) collectSection(k *kindInfo, section *node, parent, outer, document int, name string) {
	n, done := c.follow(section)
	defer done()
	if n == nil || isNull(n) || isBroken(n) {
		return
	}
	path := func() string { return c.all.items.listPath(parent, outer, name) }
	c.checkTag(n, name)
	entries := n.Content
	if folder, _ := c.folderOf(k, n); folder != nil || k.Singleton && n.Kind == mappingNode {
		entries = []*node{n}
	} else if k.Singleton {
		c.reportNode(section, path(), problem{"wrong-type", name + " must be a mapping, not " + describe(n), "write what it switches on, such as " + name + ": " + k.Example})
		return
	} else if n.Kind != sequenceNode {
		c.reportNode(section, path(), problem{"wrong-type", name + " must be a list, not " + describe(n), "begin each " + k.Noun() + " with a hyphen"})
		return
	}
	if c.depth++; c.depth > c.budget.limits.Depth {
		deep := "objects are nested deeper than " + strconv.Itoa(c.budget.limits.Depth) + " levels"
		c.reportNode(section, path(), problem{"too-deep", deep, ""})
	} else {
		index := 0
		for i, entry := range entries {
			all := []*node{entry}
			if folder, of := c.folderOf(k, entry); folder != nil {
				all = c.makeFolderPages(k, folder, of, path()+"["+strconv.Itoa(i)+"]")
			}
			for _, entry := range all {
				if c.budget.exceeded || c.all.tooManyObjects {
					break
				}
				it := item{parent: parent, outer: outer, index: index, document: document, mergedInto: -1, kind: k, source: c.source}
				c.collectObject(k, entry, it, path)
				index++
			}
		}
	}
	c.depth--
}

// collectObject collects one entry of a section.
func (c *collector) collectObject(k *kindInfo, entry *node, it item, path func() string) {
	n, done := c.follow(entry)
	defer done()
	if n == nil || isBroken(n) {
		return
	}
	if it.made = c.made[n]; it.made == nil {
		if it.outer >= 0 {
			it.made = c.all.items[it.outer].made
		} else if it.parent >= 0 {
			it.made = c.all.items[it.parent].made
		}
	}
	defer func(before *element) { c.found.element = before }(c.found.element)
	c.found.element = it.made
	report := func(p problem) { c.reportNode(entry, path()+"["+strconv.Itoa(it.index)+"]", p) }
	short := k.shorthand != nil && n.Kind == scalarNode && !isNull(n)
	if n.Kind != mappingNode && !short {
		field := k.names[0]
		if i := slices.IndexFunc(k.Fields, func(f resource.Field) bool { return f.Required }); i >= 0 {
			field = k.Fields[i].Name
		}
		hint := "write its fields, such as " + field + ": ..."
		if k.shorthand != nil && isNull(n) {
			hint += "; a text that begins with # needs quotes"
		} else if k.shorthand != nil {
			hint = cmp.Or(textHint(n), hint)
		}
		report(problem{"wrong-type", diag.A(k.Noun()) + " must be a mapping, not " + describe(n), hint})
		return
	}
	if _, most := densityLimits(c.budget.spent.bytes); len(c.all.items) >= most {
		c.all.tooManyObjects = true
		report(problem{"too-large", "the manifest lists more than " + strconv.Itoa(most) + " objects, too many for its size", splitHint})
		return
	}
	it.node = n
	it.line, it.column = entry.Line, entry.Column
	it.page = c.pages[n]
	at := len(c.all.items)
	pairs := n.Content
	if !short {
		flat := c.pairs(n)
		it.merges = len(flat) != len(pairs) || len(flat) > 0 && &flat[0] != &pairs[0]
		pairs = flat
	}
	c.all.items = append(c.all.items, it)
	if c.ancestors.aliases > 0 {
		c.budget.expand(len(pairs) + 1)
	}
	for key, value := range yamltext.Pairs(pairs) {
		if key = resolved(key); key == nil {
			continue
		}
		for _, s := range k.sections {
			switch {
			case s.name != key.Value || key.Kind != scalarNode:
			case s.kind == k:
				c.collectSection(k, value, it.parent, at, it.document, s.name)
			default:
				c.collectSection(s.kind, value, at, -1, it.document, s.name)
			}
		}
	}
}

// follow returns the node that an alias stands for, or nil if the alias stands for a node around it. The caller calls done after the node.
func (c *collector) follow(n *node) (to *node, done func()) {
	to, done = c.ancestors.enter(n)
	if to == nil {
		c.reportNode(n, "", cyclicAlias(n))
	}
	return to, done
}

func cyclicAlias(n *node) problem {
	return problem{"alias-cycle", "the alias *" + truncate(n.Value) + " refers to something that contains it", ""}
}
