package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/schema"
)

// properties holds the keys of one mapping with their positions. It turns violations of the schema into findings.
type properties struct {
	*pass

	item   int       // -1 for the document itself
	kind   *kindInfo // nil for the document itself
	names  []string  // what the document may hold
	within string    // prefix of the keys of a group, such as relations. with its dot; "" = none
	byName map[string]*property
}

type property struct {
	name       string
	key, value *node
}

// add adds a key. ok is false if it was reported as unusable.
func (ps *properties) add(add, value *node) (name string, ok bool) {
	k := resolved(add)
	if k == nil || k.Kind != scalarNode || isNull(k) || invalidTag(k) != "" {
		ps.reportNode(add, ps.path(), problem{"bad-key", "a key must be a text", "a text that begins with {, [, * or & needs quotes"})
		return "", false
	}
	name = ps.within + k.Value
	if first := ps.at(name); first != nil {
		ps.reportDuplicate(k.Value, first.key, add, ps.path())
		return "", false
	}
	if ps.byName == nil {
		ps.byName = map[string]*property{}
	}
	ps.byName[name] = &property{name, add, value}
	return name, true
}

// at returns the property of that name, or nil.
func (ps *properties) at(name string) *property { return ps.byName[name] }

func (ps *properties) value(name string) *node {
	if at := ps.at(name); at != nil {
		return at.value
	}
	return nil
}

func (ps *properties) path() string {
	if ps.item < 0 {
		return ""
	}
	return ps.all.items.path(ps.item)
}

func (ps *properties) pathTo(steps []string) string {
	path := ps.path()
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

// noun returns the word for the object, or "manifest".
func (ps *properties) noun() string {
	if ps.kind == nil {
		return "manifest"
	}
	return ps.kind.Noun()
}

// reportNested reports a parent field in an object that is nested in its parent.
func (ps *properties) reportNested(name string, n *node, outer *resource.Object) {
	summary, hint := "the "+name+" of a nested "+ps.kind.Noun()+" is the one around it", "remove "+name+", or move the "+ps.kind.Noun()+" out"
	ps.reportNode(n, ps.pathTo([]string{name}), problem{"exclusive", summary, hint}, relatedPlace("the outer one is at", outer.Position))
}

// report reports a violation of the schema.
func (ps *properties) report(v schema.Violation) {
	if ps.found.full() {
		ps.found.dropped++
		return
	}
	place, path := diag.Position{File: ps.source.name}, ps.pathTo(v.Path)
	if ps.item >= 0 {
		it := &ps.all.items[ps.item]
		place.Line, place.Column = it.line, it.column
	}
	at, value := ps.at(v.Property), ps.shorthand()
	if at != nil {
		value = at.value
	}
	if value != nil {
		place = ps.position(value)
	}
	switch {
	case v.Keyword == schema.Missing:
		ps.found.report(place, path, ps.missing(v.Property))
	case v.Keyword == schema.Unknown:
		ps.reportUnknown(place, path, v.Property, at)
	case v.Keyword == schema.Exclusive:
		both := problem{"exclusive", v.Property + " and " + v.Other + " are alternatives", "keep one of them"}
		first, second := at, ps.at(v.Other)
		if first == nil || second == nil {
			ps.found.report(place, path, both)
			return
		}
		if ps.position(first.key).Compare(ps.position(second.key)) > 0 { // the later one is reported
			first, second = second, first
		}
		ps.reportNode(second.key, ps.pathTo([]string{second.name}), both, relatedPlace(first.name+" is at", ps.position(first.key)))
	case value == nil:
		ps.found.report(place, path, problem{"bad-value", v.Message, ""})
	default:
		if list := resolved(value); len(v.Path) > 1 && list != nil && list.Kind == sequenceNode {
			if i, err := strconv.Atoi(v.Path[1]); err == nil && i < len(list.Content) {
				value = list.Content[i]
				place = ps.position(value)
			}
		}
		ps.found.report(place, path, ps.badValue(v, resolved(value), at))
	}
}

// shorthand returns the text that stands for the whole object, or nil.
func (ps *properties) shorthand() *node {
	if ps.item < 0 {
		return nil
	}
	if n := ps.all.items[ps.item].node; n != nil && n.Kind == scalarNode {
		return n
	}
	return nil
}

// missing returns the problem that an object lacks a required property.
func (ps *properties) missing(property string) problem {
	noun := ps.kind.Noun()
	if !ps.kind.creatable && len(ps.kind.KeyFrom) == 0 {
		return problem{
			"missing-field", "the " + noun + " has no key",
			"write one, so that planform can recognise its own " + noun + " later",
		}
	}
	names := []string{schema.ObjectID}
	if ps.kind.Identifier != nil {
		names = []string{schema.Identifier, schema.ObjectID}
	}
	if !ps.kind.creatable { // a key or a name can also refer to an existing object
		named := func(f resource.Field) bool { return f.Required && slices.Contains(ps.kind.KeyFrom, f.Name) }
		property, names = ps.kind.Fields[slices.IndexFunc(ps.kind.Fields, named)].Name, append(names, schema.Key)
	}
	return problem{
		"missing-field", "the " + noun + " has no " + property,
		"write " + property + ", or the " + strings.Join(names, " or ") + " of one that exists",
	}
}

func (ps *properties) reportUnknown(place diag.Position, path, name string, at *property) {
	d := diag.Diagnostic{
		Code: "unknown-field", Position: place, Path: path,
		Summary: "unknown field " + quote(name) + " in " + diag.A(ps.noun()),
	}
	if at != nil {
		d.Position = ps.position(at.key)
	}
	if ps.kind != nil {
		if f, ok := ps.kind.Field(name); ok && f.Group != "" {
			d.Hint = "write it inside " + f.Group + ":"
		}
	}
	if ps.isText() {
		d.Hint = textHint(ps.all.items[ps.item].node)
	} else if ps.kind == nil && at != nil && at.value.Anchor != "" {
		d.Hint = "keys for anchors begin with x-: write x-" + name
	}
	of := *ps // the decoder reuses ps for the next object
	ps.found.addSuggesting(d, func() string { return of.suggest(name) })
}

// suggest returns a hint for an unknown property.
func (ps *properties) suggest(name string) string {
	names := ps.names
	if ps.kind != nil {
		names = ps.kind.names
	}
	if r, column := oddBlank(name); column > 0 {
		return "the character " + runeName(r) + " is part of the name and looks like a space: write a space"
	}
	if first, _ := utf8.DecodeRuneInString(name); ps.kind != nil && unicode.IsUpper(first) && ps.kind.props[snakeCase(name)].what == isUnknown {
		if f, ok := ps.kind.CustomFields(); ok {
			return "write custom fields under " + f.Name + ":"
		}
	}
	if strings.Contains(name, " ") && ps.synonym(name) == "" && len(diag.Near(name, names)) == 0 {
		return severalLinesHint
	}
	return cmp.Or(ps.synonym(name), ps.kinds.placementHint(name, ps.kind), diag.DidYouMean(name, names), fieldsNear(name, names))
}

// isText reports whether the mapping was probably meant as a text with a colon, such as - Fix: it.
func (ps *properties) isText() bool {
	if ps.kind == nil || ps.kind.shorthand == nil || len(ps.byName) != 1 {
		return false
	}
	for name, at := range ps.byName {
		return ps.kind.props[name].what == isUnknown && at.value.Kind == scalarNode && ps.synonym(name) == "" && len(diag.Near(name, ps.kind.names)) == 0
	}
	return false
}

// fieldsNear returns a hint with all fields if they are few, and otherwise with the nearest ones and where all are listed.
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

// badValue returns the problem with a value that violates the schema.
func (ps *properties) badValue(v schema.Violation, n *node, at *property) problem {
	text, name, member := n.Value, v.Property, len(v.Path) > 1
	var f *resource.Field
	if ps.kind != nil {
		f, _ = ps.kind.field(name)
	}
	switch {
	case f == nil && isNull(n):
		return problem{"bad-value", name + " is empty", "write it, or leave the line out"}
	case f == nil:
		return ps.badReserved(name, n)
	case isNull(n), v.Keyword == "pattern" && strings.TrimSpace(text) == "":
		return ps.notClearable(f, n, at, name, member)
	case f.Max > 0 && n.Kind == scalarNode:
		return problem{"bad-value", fmt.Sprintf("%s must be a whole number from 0 to %d, not %s", name, f.Max, describe(n)), quotedNumberHint(n)}
	case f.Type == resource.Number && n.Kind == scalarNode && n.Style&quotedStyles == 0 && json.Valid([]byte(text)):
		return problem{"bad-value", name + " is too large: " + describe(n), fmt.Sprintf("the largest number is %.2g", math.MaxFloat64)}
	case v.Keyword == "type" || n.Kind != scalarNode:
		return problem{"wrong-type", name + " must be " + expectedType(f, member) + ", not " + describe(n), typeHint(f, n, member)}
	case v.Keyword == "enum":
		return problem{
			"bad-value", name + " must be one of " + strings.Join(f.Enum, ", ") + ", not " + quote(text),
			diag.DidYouMean(text, f.Enum),
		}
	case v.Keyword == "maxLength":
		return problem{
			"too-long", fmt.Sprintf("%s has %d characters; the service takes %d", name, len([]rune(text)), f.MaxLength),
			"shorten it",
		}
	case f.Type == resource.Date:
		return problem{"bad-date", quote(text) + " is not a date", dateHint(text)}
	case f.Type == resource.Color:
		return problem{"bad-color", quote(text) + " is not a colour", colorHint(text)}
	case f.Type == resource.URL:
		if bad := urlProblem(text); bad != nil {
			return *bad
		}
		return problem{
			"bad-url", "the service does not accept the URL " + quote(text),
			"write an address that begins with https:// or http://",
		}
	case f.PatternDoc != "":
		return problem{"bad-value", name + " must be " + f.PatternDoc + ", not " + quote(text), ""}
	default:
		return problem{"bad-value", name + " cannot be " + quote(text), ""}
	}
}

// notClearable returns the problem with an empty value of a field that needs one.
func (ps *properties) notClearable(f *resource.Field, n *node, at *property, name string, member bool) problem {
	empty := problem{"not-clearable", name + " cannot be empty", "leave it out to keep the current value"}
	switch {
	case at != nil && isNull(n) && (textHint(n) != "" || at.key.LineComment != ""): // comments above the key do not count
		empty.hint = commentHint
	case member:
		empty.summary, empty.hint = name+" contains an empty entry", "remove it"
	case f.Required:
		empty.hint = "every " + ps.kind.Noun() + " needs one"
	case f.Type == resource.RefSet || f.Type == resource.EnumSet:
		empty.hint = "write [] for none, or leave it out to keep the current value"
	}
	return empty
}

const (
	slugHint     = "copy the slug from the workspace's web address: letters, digits, - and _"
	variableHint = "declare a variable under vars: and write ${{ vars.NAME }}, or give --workspace or PLANE_WORKSPACE_SLUG"
	bracesHint   = "declare a variable under vars: and write ${{ vars.NAME }}; put a text with braces between quotes"
)

// badReserved returns the problem with the value of a property that is no field: key, id, identifier, or a property of the document.
func (ps *properties) badReserved(name string, n *node) problem {
	bad, known := map[string]problem{
		schema.Key:        {"bad-object-key", "a key cannot be ", "use letters and digits, with dots, underscores or hyphens between them; at most 100 characters"},
		schema.ObjectID:   {"bad-id", "an id is a UUID, not ", "write 32 hexadecimal digits as in 8a234ec6-0000-4000-8000-000000000000"},
		schema.Identifier: {"bad-identifier", "an identifier cannot be ", "write it as the service shows it, such as "},
		schema.Version:    {"bad-version", "planform reads version 1 of manifests, not ", "write version: 1, or update planform"},
		schema.Workspace:  {"bad-workspace", "a workspace is not ", slugHint},
		schema.Owner: {
			"bad-owner", "an owner is not ",
			"write a short name such as platform: lower-case letters and digits, then also dots, underscores or hyphens; at most 60",
		},
		schema.Order:   {"bad-value", "order cannot be ", "use one of " + strings.Join(schema.Orders(), ", ")},
		schema.Vars:    {"wrong-type", "vars is a mapping of names and values, not ", "write vars: {region: north}"},
		schema.Include: {"wrong-type", "include must be a list of files, not ", "write include: [states.yaml, people/*.yaml]"},
		schema.Source: {
			"bad-source", "a source is a base URL and a workspace, not ",
			"write source: {base_url: https://api.plane.so, workspace: acme}",
		},
		schema.Protect:    {"wrong-type", "protect must be true or false, not ", "write true or false without quotes"},
		schema.Create:     {"wrong-type", "create must be true or false, not ", "write true or false without quotes"},
		schema.Ignore:     {"wrong-type", "ignore_changes must be a list of fields, not ", "write ignore_changes: [state, assignees]"},
		schema.OnDrift:    {"bad-value", "on_drift cannot be ", "use one of " + strings.Join(resource.DriftPolicies(), ", ")},
		schema.Previously: {"wrong-type", "previously is a key or a list of keys, not ", "write previously: [OLD-KEY]"},
	}[name]
	if !known {
		bad = problem{"bad-value", name + " cannot be ", ""}
	}
	bad.summary += describe(n)
	isMapping := n.Kind == mappingNode
	switch {
	case name == schema.Key && resource.Slug(n.Value) != "":
		bad.hint += ", such as " + resource.Slug(n.Value)
	case name == schema.ObjectID && ps.kind.Identifier != nil:
		bad.hint += "; the readable one, such as " + identifierExample(ps.kind) + ", is the identifier"
	case name == schema.Identifier:
		bad.hint += identifierExample(ps.kind)
		if rule := ps.kind.Identifier.PatternDoc; rule != "" {
			bad.hint += ": " + rule
		}
	case name == schema.Version && n.Value == "1":
		bad.summary, bad.hint = "the version must be a number, not a text", "remove the quotes: version: 1"
	case (name == schema.Workspace || name == schema.Owner) && templated(n):
		bad.hint = variableHint
	case name == schema.Vars && isMapping:
		bad = problem{"bad-variable", "the name of a variable has letters, digits, - and _, and begins with a letter", ""}
	case name == schema.Source && isMapping:
		bad.summary = "a source is a base URL and a workspace, and nothing else"
	}
	return bad
}

// identifierExample returns the example in the identifier's description, between back quotes.
func identifierExample(k *kindInfo) string {
	_, rest, _ := strings.Cut(k.Identifier.Doc, "`")
	example, _, _ := strings.Cut(rest, "`")
	return example
}

// expectedType returns the type of a field in words.
func expectedType(f *resource.Field, member bool) string {
	if (f.Type == resource.RefSet || f.Type == resource.EnumSet) && member {
		return "a list of texts"
	}
	return cmp.Or(map[resource.Type]string{
		resource.CustomFields: "a mapping", resource.JSON: "a mapping", resource.RefSet: "a list", resource.EnumSet: "a list", resource.Number: "a number",
		resource.Boolean: "true or false", resource.Date: "a date",
	}[f.Type], "a text")
}

// quotedNumberHint returns a hint for a number between quotes, or "".
func quotedNumberHint(n *node) string {
	if n.Kind == scalarNode && n.Style&quotedStyles != 0 && json.Valid([]byte(n.Value)) {
		return "remove the quotes"
	}
	return ""
}

func typeHint(f *resource.Field, n *node, member bool) string {
	switch {
	case (f.Type == resource.RefSet || f.Type == resource.EnumSet) && !member && n.Kind == scalarNode:
		return "write " + f.Name + ": [" + truncate(n.Value) + "]"
	case templated(n):
		return bracesHint
	case f.Type == resource.Number:
		return cmp.Or(quotedNumberHint(n), "write digits, such as "+f.Example)
	case f.Type == resource.Boolean && n.Kind == scalarNode:
		return "write true or false without quotes"
	case n.Kind == mappingNode && (f.Type == resource.Ref || f.Type == resource.RefSet) && hasColon(n):
		return "name it by its key, name or ID; " + textHint(n)
	case n.Kind == mappingNode && (f.Type == resource.Ref || f.Type == resource.RefSet):
		return "name it by its key, name or ID"
	case n.Kind == mappingNode:
		return textHint(n)
	case n.Kind != sequenceNode || f.Type == resource.RefSet || f.Type == resource.EnumSet || f.Type == resource.JSON || f.Type == resource.CustomFields:
	case len(n.Content) == 1 && n.Content[0].Kind == scalarNode && !f.IsWord() && !f.Rich():
		return "write " + f.Name + ": " + truncate(n.Content[0].Value) + "; " + textHint(n)
	case len(n.Content) == 1 && n.Content[0].Kind == scalarNode && !f.Rich():
		return "write " + f.Name + ": " + truncate(n.Content[0].Value)
	case f.Ref != "":
		return "name one"
	default:
		return "put a text that begins with [ or - between quotes; a text of several lines begins with " + f.Name + ": |"
	}
	return ""
}

// textHint explains how to write a text that YAML takes for something else, or returns "".
func textHint(n *node) string {
	first := "a text cannot begin with "
	switch {
	case isNull(n) && strings.HasPrefix(cmp.Or(n.LineComment, n.HeadComment, n.FootComment), "#"):
		return commentHint
	case n.Kind == sequenceNode && n.Style&flowStyle != 0:
		first += "["
	case n.Kind == sequenceNode:
		first += "-"
	case hasColon(n):
		first = colonInText
	case n.Kind == mappingNode && n.Style&flowStyle != 0:
		first += "{"
	case n.Kind == mappingNode:
		first += "?"
	default:
		return ""
	}
	return first + ": " + quotesHint
}

// hasColon reports whether a node is a mapping without brackets and question mark, which may be meant as a text with a colon.
func hasColon(n *node) bool {
	return n.Kind == mappingNode && len(n.Content) > 0 && n.Content[0].Column == n.Column
}

// templated reports whether a value is probably a placeholder of another program: ${NAME} or {{ name }}.
func templated(n *node) bool {
	n = resolved(n)
	if n.Kind == mappingNode && len(n.Content) == 2 {
		return n.Content[0].Kind == mappingNode
	}
	return n.Kind == scalarNode && (strings.Contains(n.Value, "${") || strings.Contains(n.Value, "{{"))
}
