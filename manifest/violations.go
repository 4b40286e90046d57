package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/schema"
)

// properties are the keys that are written in one mapping, with their places. It
// says in words what the schema's checker found, and where.
type properties struct {
	kinds  *kindSet
	items  items
	source *source
	found  *findings
	item   int       // -1 for the document itself
	kind   *kindInfo // nil for the document itself
	names  []string  // what the document may hold
	within string    // the mapping inside the object whose keys are taken, such as relations, with a dot; "" = none
	byName map[string]*property
}

type property struct {
	name       string
	key, value *node
}

// key takes one key; ok is false where it was reported that it cannot be used.
func (p *properties) key(key, value *node) (name string, ok bool) {
	k := resolved(key)
	if k == nil || k.Kind != scalarNode || isNull(k) || invalidTag(k) != "" {
		p.found.add(diag.Diagnostic{
			Code: "bad-key", Position: position(p.source, key), Path: p.path(), Summary: "a key must be a text", Hint: "a text that begins with {, [, * or & wants quotes",
		})
		return "", false
	}
	name = p.within + k.Value
	if other := p.at(name); other != nil {
		p.found.add(duplicateKey(p.source, k.Value, other.key, key, p.path()))
		return "", false
	}
	if p.byName == nil {
		p.byName = map[string]*property{}
	}
	p.byName[name] = &property{name, key, value}
	return name, true
}

func duplicateKey(s *source, name string, first, second *node, path string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: "duplicate-key", Position: position(s, second), Path: path, Summary: quote(name) + " is given twice", Hint: "remove one of them",
		Related: []diag.Related{{Position: position(s, first), Note: "first given at"}},
	}
}

// at returns the property of that name, or nil.
func (p *properties) at(name string) *property { return p.byName[name] }

func (p *properties) value(name string) *node {
	if at := p.at(name); at != nil {
		return at.value
	}
	return nil
}

func (p *properties) path() string {
	if p.item < 0 {
		return ""
	}
	return p.items.path(p.item)
}

func (p *properties) pathTo(steps []string) string {
	path := p.path()
	for i, s := range steps {
		if _, err := strconv.Atoi(s); err == nil && i > 0 {
			path += "[" + s + "]"
			continue
		}
		if path != "" {
			path += "."
		}
		path += truncate(s)
	}
	return path
}

// noun says what the mapping is.
func (p *properties) noun() string {
	if p.kind == nil {
		return "manifest"
	}
	return p.kind.Noun()
}

// reportNested reports a field that says what the place of the object says already.
func (p *properties) reportNested(name string, n *node, outer *resource.Object) {
	p.found.add(diag.Diagnostic{
		Code: "exclusive", Position: position(p.source, n), Path: p.pathTo([]string{name}),
		Summary: diag.A(p.kind.Noun()) + " that is written inside another has that one as its " + name, Hint: "remove " + name + ", or move the " + p.kind.Noun() + " out",
		Related: []diag.Related{{Position: outer.Position, Note: "the outer one is at"}},
	})
}

// explain reports one violation.
func (p *properties) explain(v schema.Violation) {
	if p.found.full() {
		p.found.dropped++
		return
	}
	d := diag.Diagnostic{Path: p.pathTo(v.Path)}
	if p.item >= 0 {
		it := &p.items[p.item]
		d.Position = diag.Position{File: p.source.name, Line: it.line, Column: it.column}
	} else {
		d.Position = diag.Position{File: p.source.name}
	}
	at := p.at(v.Property)
	value := p.shorthand()
	if at != nil {
		value = at.value
		d.Position = position(p.source, at.value)
	} else if value != nil {
		d.Position = position(p.source, value)
	}
	switch v.Keyword {
	case schema.Missing:
		p.explainMissing(&d, v)
	case schema.Unknown:
		p.explainUnknown(d, v.Property, at)
		return
	case schema.Exclusive:
		// The later of the two is the one to look at.
		first, second := at, p.at(v.Other)
		if first != nil && second != nil {
			if position(p.source, first.key).Compare(position(p.source, second.key)) > 0 {
				first, second = second, first
			}
			d.Position = position(p.source, second.key)
			d.Path = p.pathTo([]string{second.name})
			d.Related = []diag.Related{{Position: position(p.source, first.key), Note: first.name + " is at"}}
		}
		d.Code, d.Summary = "exclusive", v.Property+" and "+v.Other+" are alternatives"
		d.Hint = "keep one of them"
	default:
		if value == nil {
			d.Code, d.Summary = "bad-value", v.Message
			break
		}
		n := value
		if list := resolved(value); len(v.Path) > 1 && list != nil && list.Kind == sequenceNode {
			if i, err := strconv.Atoi(v.Path[1]); err == nil && i < len(list.Content) {
				n = list.Content[i]
				d.Position = position(p.source, n)
			}
		}
		p.explainValue(&d, v, n, at)
	}
	p.found.add(d)
}

// shorthand is the text that stands for the whole object, or nil.
func (p *properties) shorthand() *node {
	if p.item < 0 {
		return nil
	}
	if n := p.items[p.item].node; n != nil && n.Kind == scalarNode {
		return n
	}
	return nil
}

func (p *properties) explainMissing(d *diag.Diagnostic, v schema.Violation) {
	d.Code = "missing-field"
	names := []string{}
	if p.kind.Identifier != nil {
		names = append(names, schema.Identifier)
	}
	names = append(names, schema.ObjectID)
	if p.kind.creatable {
		d.Summary = "the " + p.kind.Noun() + " has no " + v.Property
		d.Hint = "write " + v.Property + ", or the " + strings.Join(names, " or ") + " of one that exists"
		return
	}
	if len(p.kind.KeyFrom) == 0 {
		d.Summary, d.Hint = "the "+p.kind.Noun()+" has no key", "write one, so that planform can recognise its own "+p.kind.Noun()+" later"
		return
	}
	for _, name := range p.kind.KeyFrom {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	d.Summary = "cannot tell which " + p.kind.Noun() + " is meant"
	d.Hint = "write its " + strings.Join(names, ", ") + " or " + schema.Key
}

func (p *properties) explainUnknown(d diag.Diagnostic, name string, at *property) {
	d.Code, d.Summary = "unknown-field", "unknown field "+quote(name)+" in "+diag.A(p.noun())
	if at != nil {
		d.Position = position(p.source, at.key)
	}
	if p.kind != nil {
		if f, ok := p.kind.Field(name); ok && f.Group != "" {
			d.Hint = "write it inside " + f.Group + ":"
		}
	}
	if p.kind == nil && at != nil && at.value.Anchor != "" {
		d.Hint = "a place for anchors begins with x-: write x-" + name
		p.found.add(d)
		return
	}
	of := *p // the decoder overwrites p for the next object
	p.found.addSuggesting(d, func() string { return of.suggest(name) })
}

// suggest says what an unknown property may have been meant to be.
func (p *properties) suggest(name string) string {
	names := p.names
	if p.kind != nil {
		names = p.kind.names
	}
	return cmp.Or(p.synonym(name), p.kinds.placementHint(name, p.kind), diag.DidYouMean(name, names), fieldsNear(name, names))
}

// fieldsNear lists the fields if they are few, else the nearest, and says where all are.
func fieldsNear(name string, fields []string) string {
	const few = 10
	if len(fields) <= few {
		return "it has " + strings.Join(fields, ", ")
	}
	all := "docs/manifest.md and planform schema list all fields"
	if near := diag.Nearest(name, fields); len(near) > 0 {
		return "nearest: " + strings.Join(near, ", ") + "; " + all
	}
	return all
}

// explainValue reports a value that breaks the rule of its property.
func (p *properties) explainValue(d *diag.Diagnostic, v schema.Violation, n *node, at *property) {
	var f *resource.Field
	if p.kind != nil {
		f, _ = p.kind.field(v.Property)
	}
	n = resolved(n)
	text, name := n.Value, v.Property
	member := len(v.Path) > 1
	switch {
	case isNull(n) && f == nil:
		d.Code, d.Summary, d.Hint = "bad-value", name+" is empty", "write it, or leave the line out"
	case isNull(n), f != nil && v.Keyword == "pattern" && strings.TrimSpace(text) == "":
		d.Code, d.Summary = "not-clearable", name+" cannot be emptied"
		d.Hint = "leave it out to keep the present value"
		switch {
		case member:
			d.Summary, d.Hint = name+" holds an empty entry", "remove it"
		case f.Required:
			d.Hint = "every " + p.kind.Noun() + " has one"
		case f.Type == resource.RefSet:
			d.Hint = "write [] for none, or leave it out to keep the present value"
		case f.Type == resource.Color && (strings.HasPrefix(n.LineComment, "#") || strings.HasPrefix(at.key.LineComment, "#")):
			d.Hint = "# begins a comment: quote the colour, such as " + name + ": \"" + f.Example + "\""
		}
	case f == nil:
		p.explainReserved(d, v, n)
	case f.Max > 0 && n.Kind == scalarNode:
		d.Code, d.Summary = "bad-value", fmt.Sprintf("%s is a whole number from 0 to %d, not %s", name, f.Max, describe(n))
		if json.Valid([]byte(n.Value)) && n.Style&quotedStyles != 0 {
			d.Hint = "remove the quotes"
		}
	case v.Keyword == "type" || n.Kind != scalarNode:
		d.Code, d.Summary = "wrong-type", name+" is "+expectedType(f, member)+", not "+describe(n)
		d.Hint = typeHint(f, n, member)
		if f.Type == resource.Number && n.Style&quotedStyles == 0 && json.Valid([]byte(n.Value)) {
			d.Code, d.Summary, d.Hint = "bad-value", name+" is too large: "+describe(n), fmt.Sprintf("the largest number is %.2g", math.MaxFloat64)
		}
	case v.Keyword == "enum":
		d.Code, d.Summary = "bad-value", name+" is one of "+strings.Join(f.Enum, ", ")+", not "+quote(text)
		d.Hint = diag.DidYouMean(text, f.Enum)
	case v.Keyword == "maxLength":
		d.Code = "too-long"
		d.Summary = fmt.Sprintf("%s has %d characters; the service takes %d", name, len([]rune(text)), f.MaxLength)
		d.Hint = "shorten it"
	case f.Type == resource.Date:
		d.Code, d.Summary = "bad-date", quote(text)+" is not a date"
		d.Hint = dateHint(text)
	case f.Type == resource.Color:
		d.Code, d.Summary, d.Hint = "bad-color", quote(text)+" is no colour", colorHint(text)
	case f.Type == resource.URL:
		bad := urlProblem(text)
		d.Code, d.Summary, d.Hint = "bad-url", "the service takes no URL such as "+quote(text), "write an address that begins with https:// or http://"
		if bad != nil {
			d.Summary, d.Hint = bad.summary, bad.hint
		}
	default:
		d.Code, d.Summary = "bad-value", name+" is "+f.PatternDoc+", not "+quote(text)
		if f.PatternDoc == "" {
			d.Summary = name + " cannot be " + quote(text)
		}
	}
}

// explainReserved reports a property that belongs to no field: key, id, identifier, or one of the document.
func (p *properties) explainReserved(d *diag.Diagnostic, v schema.Violation, n *node) {
	given := describe(n)
	switch v.Property {
	case schema.Key:
		d.Code, d.Summary = "bad-object-key", "a key cannot be "+given
		d.Hint = "use letters, digits, and . _ - between them, 100 at most"
		if slug := resource.Slug(n.Value); slug != "" {
			d.Hint += ", such as " + slug
		}
	case schema.ObjectID:
		d.Code, d.Summary = "bad-id", "an id is a UUID, not "+given
		d.Hint = "write 32 hexadecimal digits as in 8a234ec6-0000-4000-8000-000000000000"
		if p.kind.Identifier != nil {
			d.Hint += "; the readable one, such as " + identifierExample(p.kind) + ", is the identifier"
		}
	case schema.Identifier:
		d.Code, d.Summary = "bad-identifier", "an identifier cannot be "+given
		d.Hint = "write it as the service shows it, such as " + identifierExample(p.kind)
		if rule := p.kind.Identifier.PatternDoc; rule != "" {
			d.Hint += ": " + rule
		}
	case schema.Version:
		d.Code, d.Summary, d.Hint = "bad-version", "this program reads version 1 of the manifest, not "+given, "write version: 1"
		if n.Value == "1" {
			d.Summary, d.Hint = "the version is a number, not a text", "remove the quotes: version: 1"
		}
	case schema.Workspace:
		d.Code, d.Summary = "bad-workspace", "a workspace is not "+given
		d.Hint = "take the slug as the workspace's web address shows it: letters, digits, - and _"
		if templated(n) {
			d.Hint = "a variable is declared under vars:, and its value stands where ${{ vars.NAME }} is written; or leave workspace out, and name it with --workspace or PLANE_WORKSPACE_SLUG"
		}
	case schema.Vars:
		d.Code, d.Summary, d.Hint = "wrong-type", "vars is a mapping of names and values, not "+given, "write vars: {region: north}"
		if n.Kind == mappingNode {
			d.Code, d.Summary, d.Hint = "bad-variable", "the name of a variable has letters, digits, - and _, and begins with a letter", ""
		}
	case schema.Include:
		d.Code, d.Summary, d.Hint = "wrong-type", "include is a list of files, not "+given, "write include: [states.yaml, people/*.yaml]"
	case schema.Source:
		d.Code, d.Summary = "bad-source", "a source is a base URL and a workspace, not "+given
		if n.Kind == mappingNode {
			d.Summary = "a source is a base URL and a workspace, and nothing else"
		}
		d.Hint = "write source: {base_url: https://api.plane.so, workspace: acme}"
	case schema.Protect, schema.Create:
		d.Code, d.Summary, d.Hint = "wrong-type", v.Property+" is true or false, not "+given, "write true or false without quotes"
	case schema.Ignore:
		d.Code, d.Summary, d.Hint = "wrong-type", v.Property+" is a list of fields, not "+given, "write ignore_changes: [state, assignees]"
	case schema.OnDrift:
		d.Code, d.Summary, d.Hint = "bad-value", v.Property+" cannot be "+given, "it is one of "+strings.Join(resource.DriftPolicies(), ", ")
	case schema.Previously:
		d.Code, d.Summary, d.Hint = "wrong-type", v.Property+" is a key or a list of keys, not "+given, "write previously: [OLD-KEY]"
	default:
		d.Code, d.Summary = "bad-value", v.Property+" cannot be "+given
	}
}

// identifierExample is what the identifier's description shows between back quotes.
func identifierExample(k *kindInfo) string {
	_, rest, _ := strings.Cut(k.Identifier.Doc, "`")
	example, _, _ := strings.Cut(rest, "`")
	return example
}

// expectedType says what a field takes.
func expectedType(f *resource.Field, member bool) string {
	switch f.Type {
	case resource.CustomFields:
		return "a mapping"
	case resource.RefSet:
		if !member {
			return "a list"
		}
		return "a list of texts"
	case resource.Number:
		return "a number"
	case resource.Boolean:
		return "true or false"
	case resource.JSON:
		return "a mapping"
	case resource.Date:
		return "a date"
	case resource.Text, resource.LongText, resource.Markdown, resource.HTML, resource.File, resource.Upload, resource.Enum,
		resource.Color, resource.URL, resource.Ref:
	}
	return "a text"
}

func typeHint(f *resource.Field, n *node, member bool) string {
	switch {
	case f.Type == resource.RefSet && !member && n.Kind == scalarNode:
		return "write " + f.Name + ": [" + truncate(n.Value) + "]"
	case templated(n):
		return "a variable is declared under vars:, and its value stands where ${{ vars.NAME }} is written; to write braces, put the text between quotes"
	case f.Type == resource.Number && n.Kind == scalarNode && json.Valid([]byte(n.Value)) && n.Style&quotedStyles != 0:
		return "remove the quotes"
	case f.Type == resource.Number:
		return "write digits, such as " + f.Example
	case f.Type == resource.Boolean && n.Kind == scalarNode:
		return "write true or false without quotes"
	case n.Kind == mappingNode && (f.Type == resource.Ref || f.Type == resource.RefSet):
		return "name it by its key, name or ID"
	case n.Kind == mappingNode:
		return "a text with a colon followed by a space wants quotes"
	case n.Kind != sequenceNode || f.Type == resource.RefSet || f.Type == resource.JSON || f.Type == resource.CustomFields:
	case len(n.Content) == 1 && n.Content[0].Kind == scalarNode && !f.Rich():
		return "write " + f.Name + ": " + truncate(n.Content[0].Value)
	case f.Ref != "":
		return "name one"
	default:
		return "a text that begins with [ or - wants quotes; several lines stand below " + f.Name + ": |"
	}
	return ""
}

// templated reports whether a value was probably meant to be filled in: ${NAME} or {{ name }}.
func templated(n *node) bool {
	n = resolved(n)
	if n.Kind == mappingNode && len(n.Content) == 2 {
		return n.Content[0].Kind == mappingNode
	}
	return n.Kind == scalarNode && (strings.Contains(n.Value, "${") || strings.Contains(n.Value, "{{"))
}
