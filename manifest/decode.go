package manifest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/yamltext"
	"github.com/planform/planform/schema"
)

// decoder turns the items of one file into objects, and checks each object by itself.
type decoder struct {
	*pass

	freeNodes bool     // the file has no aliases, so a node can be released once it is decoded
	files     []string // the name of the file; all its objects share this list

	// State of the item that is being decoded.
	present  properties
	instance map[string]any   // the object in the form that the schema checks
	unknown  []string         // properties that the kind lacks
	broken   []string         // properties that were reported
	fields   []*node          // by the index of the kind's field
	origin   *resource.Source // the source of the object's document

	unbound map[string]*resource.Field // custom fields whose definitions are not known yet
}

// decodeItem decodes one item.
func (d *decoder) decodeItem(it *item) {
	k := it.kind
	o := &resource.Object{
		Kind: k.Kind, Index: it.index, Files: d.files, Position: diag.Position{File: it.source.name, Line: it.line, Column: it.column},
	}
	if d.page = it.page; it.page != nil {
		o.Position = it.page.place
	}
	it.object = o
	if it.parent >= 0 {
		o.Parent = d.all.items[it.parent].object
	}
	if it.outer >= 0 {
		o.Outer = d.all.items[it.outer].object
	}
	d.origin = d.all.origins[it.document]
	d.instance, d.unknown, d.broken = map[string]any{}, nil, nil
	d.fields = make([]*node, len(k.Fields))
	if it.node.Kind == scalarNode {
		d.fields[k.props[k.shorthand.Path()].field] = it.node
	} else {
		d.readProperties(it)
	}
	d.applyDefaults(it)
	d.decodeFields(it)
	d.reportViolations(k)
	d.checkItem(it)
	if slices.Contains(d.broken, schema.ObjectID) {
		o.ID = ""
	}
	if slices.Contains(d.broken, schema.Identifier) {
		o.Identifier = ""
	}
	if o.ID != "" || o.Identifier != "" {
		o.Source = d.origin
	}
	it.ok = len(d.broken) == 0
	if d.freeNodes && it.node.Kind == mappingNode {
		it.node.Content = nil
	}
	it.node = nil
}

// reportViolations reports the schema violations of an object, except at properties that were reported before.
func (d *decoder) reportViolations(k *kindInfo) {
	for _, name := range d.unknown {
		d.instance[name] = nil
	}
	reported := len(d.broken)
	for _, v := range schema.Check(k.Name, d.instance) {
		if slices.Contains(d.broken[:reported], v.Property) {
			continue
		}
		d.broken = append(d.broken, v.Property)
		misspelt := v.Keyword == schema.Missing && (d.present.isText() || slices.ContainsFunc(d.unknown, func(name string) bool {
			wanted := append([]string{v.Property}, k.KeyFrom...)
			return len(diag.Near(name, wanted)) > 0 ||
				synonymOf(name, func(property string) bool { return slices.Contains(wanted, property) }) != ""
		}))
		if !misspelt { // the report of the unknown property covers it
			d.present.report(v)
		}
	}
}

// readProperties reads the properties of a mapping.
func (d *decoder) readProperties(it *item) {
	k := it.kind
	pairs := it.node.Content
	if it.merges {
		pairs = d.pairs(it.node)
	}
	d.checkTag(it.node, d.present.path())
	for key, value := range yamltext.Pairs(pairs) {
		name, ok := d.present.add(key, value)
		if !ok {
			continue
		}
		if p := k.props[name]; p.what == isField && k.Fields[p.field].Group != "" {
			d.report(name, key, "unknown-field", "unknown field "+quote(name)+" in "+diag.A(k.Noun()),
				"write it inside "+k.Fields[p.field].Group+":, in a line of its own")
			continue
		}
		d.readProperty(it, name, value)
	}
}

// readProperty reads one property of an object.
func (d *decoder) readProperty(it *item, name string, value *node) {
	k, o := it.kind, it.object
	switch p := k.props[name]; p.what {
	case isUnknown:
		d.unknown = append(d.unknown, name)
	case isSection: // the collector has read it
	case isGroup:
		d.readGroup(k, name, value)
	case isField:
		if d.fields[p.field] = value; k.Fields[p.field].Rest {
			d.fields[p.field] = d.readGroup(k, name, value)
		}
	case isKey:
		o.Key, it.hasKey = d.readString(name, value), true
	case isID:
		o.ID = resource.LowerID(d.readString(name, value))
	case isIdentifier:
		o.Identifier = d.readString(name, value)
	case isPreviously:
		o.Previously = d.readPreviously(name, value)
	case isProtect:
		o.Protect = d.readBool(name, value)
	case isCreate:
		create := d.readBool(name, value)
		o.NoCreate = create != nil && !*create
	case isIgnore:
		d.readIgnore(k, name, value)
	case isOnDrift:
		d.ensurePolicy().OnDrift = d.readString(name, value)
	}
}

// readGroup reads fields that are written in a mapping of their own. If the group is itself a field, rest holds the other pairs.
func (d *decoder) readGroup(k *kindInfo, name string, n *node) (rest *node) {
	to := d.deref(name, n)
	open := k.props[name].what == isField
	switch {
	case to == nil:
		return nil
	case isNull(to), open && to.Kind != mappingNode: // the schema reports it
		return n
	case open && !d.budget.expand(len(to.Content)): // an alias may lead here
		d.broken = append(d.broken, name) // reported once for the file
		return nil
	case to.Kind != mappingNode:
		first := k.Fields[slices.IndexFunc(k.Fields, func(f resource.Field) bool { return f.Group == name })]
		d.report(name, n, "wrong-type", name+" must be a mapping, not "+describe(to), "write its fields, such as "+first.Name+": [...]")
		return nil
	}
	var others []*node
	d.eachInside(name, to, func(full string, key, value *node) {
		switch p := k.props[full]; {
		case p.what == isField:
			d.fields[p.field] = value
		case open:
			others = append(others, key, value)
		default:
			d.unknown = append(d.unknown, full)
		}
	})
	return withContent(n, to, others)
}

// eachInside calls each for every pair of a mapping inside the object.
func (d *decoder) eachInside(name string, n *node, each func(full string, key, value *node)) {
	d.present.within = name + "."
	defer func() { d.present.within = "" }()
	for key, value := range d.eachPair(n) {
		if full, ok := d.present.add(key, value); ok {
			each(full, key, value)
		}
	}
}

// readString reads a text that is not a field, and stores it for the schema check.
func (d *decoder) readString(name string, n *node) string {
	text, instance, ok := d.readText(name, n)
	if ok {
		d.instance[name] = instance
	}
	return text
}

// readText reads a text, and returns it in the form that the schema checks too. ok is false if a problem was reported.
func (d *decoder) readText(name string, n *node) (text string, instance any, ok bool) {
	n = d.deref(name, n)
	switch {
	case n == nil:
		return "", nil, false
	case n.Kind != scalarNode || isNull(n):
		return "", textInstance(n), true
	case len(n.Value) > d.budget.limits.ScalarBytes:
		d.report(name, n, "too-large", name+" is larger than "+bytesText(int64(d.budget.limits.ScalarBytes)),
			"the service takes no more in one request")
		return "", nil, false
	case n.Style&doubleQuotedStyle != 0: // only double-quoted scalars can hold characters that the file does not
		text = normalizeLineEnds(n.Value)
		if r, bad := controlCharacter(text); bad {
			d.report(name, n, "control-character", name+" contains the control character "+runeName(r), "remove it")
			return "", nil, false
		}
		return text, text, true
	}
	return n.Value, n.Value, true
}

// deref returns the node that n stands for, or nil if a problem was reported.
func (d *decoder) deref(name string, n *node) *node {
	to := resolved(n)
	switch {
	case to == nil:
		d.reportNode(n, "", cyclicAlias(n))
	case isBroken(to), d.checkTag(to, d.present.path()):
	default:
		return to
	}
	d.broken = append(d.broken, name)
	return nil
}

// report reports a problem with a property.
func (d *decoder) report(name string, n *node, code, summary, hint string) {
	d.reportAt(d.position(n), name, code, summary, hint)
}

func (d *decoder) reportAt(at diag.Position, name, code, summary, hint string) {
	d.broken = append(d.broken, name)
	d.found.report(at, d.all.items.path(d.present.item)+"."+name, problem{code, summary, hint})
}

// textInstance returns a node in the form that the schema checks, for a property that takes a text.
func textInstance(n *node) any {
	switch {
	case n.Kind == mappingNode:
		return map[string]any{}
	case n.Kind == sequenceNode:
		return []any{}
	case isNull(n):
		return nil
	default:
		return n.Value
	}
}

// decodeFields decodes the fields of an object, in the order of its kind.
func (d *decoder) decodeFields(it *item) {
	o, k := it.object, it.kind
	for i, n := range d.fields {
		f := &k.Fields[i]
		if o.Outer != nil && f.Name == k.ParentField {
			if n != nil {
				d.present.reportNested(f.Name, n, o.Outer)
				d.broken = append(d.broken, f.Name)
			}
			refs := []resource.Reference{{Target: o.Outer, Position: o.Position}}
			o.Values = append(o.Values, resource.Value{Field: f, Refs: refs, Position: o.Position})
		} else if n != nil && f.Type == resource.CustomFields {
			d.decodeCustomFields(o, f, n)
		} else if n != nil {
			d.decodeField(o, f, n)
		} else if f.Implied != nil {
			if v := f.Implied(o); v != nil {
				v.Field, v.Implied = f, true
				o.Values = append(o.Values, *v)
			}
		}
	}
}

// decodeField decodes one field.
func (d *decoder) decodeField(o *resource.Object, f *resource.Field, n *node) {
	o.Values = append(o.Values, resource.Value{Field: f, Position: d.position(n), Origins: d.origins[n]})
	v := &o.Values[len(o.Values)-1]
	if d.page != nil && slices.Contains(o.Kind.NaturalKey, f.Name) {
		v.File = d.page.TextFile
	}
	clears := f.Clear != resource.ClearNever
	var instance any
	ok := true
	switch f.Type {
	case resource.Number, resource.Boolean:
		to := d.deref(f.Path(), n)
		if ok = to != nil; !ok {
			break
		}
		v.Text, v.Null = to.Value, isNull(to) && clears
		instance = jsonScalar(to)
		if f.Type == resource.Boolean {
			instance = jsonBoolean(to)
		}
	case resource.JSON:
		if v.Text, instance, ok = d.readJSON(f.Path(), n); ok {
			v.Null = instance == nil && clears
		}
	case resource.RefSet:
		instance, ok = d.decodeRefSet(f, v, n)
		v.Null = ok && clears && len(v.Refs) == 0
	case resource.EnumSet:
		var words []string
		words, instance, ok = d.readTexts(f.Path(), n)
		for i, word := range words {
			v.Words = append(v.Words, resource.Reference{Text: word, Position: d.position(resolved(n).Content[i])})
		}
		slices.Sort(words)
		v.Text = strings.Join(slices.Compact(words), ",")
		v.Null = ok && clears && v.Text == ""
	case resource.CustomFields: // each of them becomes a value of its own
	case resource.Text, resource.LongText, resource.Markdown, resource.HTML, resource.File, resource.Upload, resource.SecretFile, resource.Date,
		resource.Enum, resource.Color, resource.URL, resource.Ref:
		v.Text, instance, ok = d.readText(f.Path(), n)
		if ok && clears && (instance == "" || instance == nil) {
			v.Null, instance = true, nil // an empty text clears as null does
		}
		if ok && f.Type == resource.Ref && v.Text != "" {
			v.Refs = []resource.Reference{d.newReference(v.Text, v.Position)}
		}
	}
	if ok {
		d.instance[f.Path()] = instance
	}
}

func (d *decoder) newReference(text string, at diag.Position) resource.Reference {
	ref := resource.Reference{Text: text, Position: at, Source: d.origin}
	if resource.IsID(text) {
		ref.ID = resource.LowerID(text)
	}
	return ref
}

// decodeRefSet decodes a list of references.
func (d *decoder) decodeRefSet(f *resource.Field, v *resource.Value, n *node) (instance any, ok bool) {
	list := d.deref(f.Path(), n)
	if list == nil {
		return nil, false
	}
	if list.Kind != sequenceNode {
		return textInstance(list), true
	}
	if !d.budget.expand(len(list.Content)) { // an alias may lead to this list, or to a node around it
		d.broken = append(d.broken, f.Path()) // reported once for the file
		return nil, false
	}
	entries := make([]any, len(list.Content))
	v.Refs = make([]resource.Reference, len(list.Content))
	attribute := attributeOf(d.all.items[d.present.item].kind.Kind, f)
	for i, entry := range list.Content {
		attributeValue := ""
		if to := resolved(entry); attribute != nil && to != nil && (to.Kind == mappingNode || attribute.Words() != nil) {
			if entry, attributeValue = d.decodeMember(f.Path()+"["+strconv.Itoa(i)+"]", attribute, entry); entry == nil {
				return nil, false
			}
		}
		text, one, valid := d.readText(f.Path(), entry)
		if !valid {
			return nil, false
		}
		entries[i] = one
		if v.Refs[i] = d.newReference(text, d.position(entry)); len(entries) == 1 {
			v.Origins = d.origins[entry]
		}
		v.Refs[i].Attribute = attributeValue
	}
	return entries, true
}

// readTexts reads a list of texts, and returns it in the form that the schema checks too. ok is false if a problem was reported.
func (d *decoder) readTexts(name string, n *node) (texts []string, instance any, ok bool) {
	list := d.deref(name, n)
	if list == nil || list.Kind != sequenceNode {
		if list != nil {
			instance = textInstance(list)
		}
		return nil, instance, list != nil
	}
	entries := make([]any, len(list.Content))
	for i, entry := range list.Content {
		text, one, valid := d.readText(name, entry)
		if !valid {
			return nil, nil, false
		}
		texts, entries[i] = append(texts, text), one
	}
	return texts, entries, true
}

// attributeOf returns the attribute that members of a field can have, such as a role, or nil.
func attributeOf(k *resource.Kind, f *resource.Field) *resource.Attribute {
	if via, ok := resource.MembershipOf(k.Name, f.Name); ok {
		return via.Membership.Attribute
	}
	return nil
}

// decodeMember decodes a member that is written as a mapping, such as {user: gus, role: guest}. It returns the node that names the member,
// or nil if a problem was reported.
func (d *decoder) decodeMember(path string, a *resource.Attribute, n *node) (member *node, value string) {
	if n = d.deref(path, n); n == nil {
		return nil, ""
	}
	form := "write {" + a.Member + ": NAME, " + a.Name + ": " + cmp.Or(a.Values...) + "}"
	if a.Words() != nil {
		form = "write {" + a.Member + ": NAME, " + a.Name + ": TEXT}, with the " + resource.Outward + " or " + resource.Inward + " of one of the " +
			a.Words().Section
	}
	if n.Kind != mappingNode {
		d.report(path, n, "required", "it has no "+a.Name, form)
		return nil, ""
	}
	for written, to := range yamltext.Pairs(n.Content) {
		key := resolved(written)
		switch {
		case key == nil || key.Kind != scalarNode || key.Value != a.Member && key.Value != a.Name:
			d.report(path, written, "unknown-field", "a member has no such property; it has "+a.Member+" and "+a.Name, form)
			return nil, ""
		case key.Value == a.Member:
			member = to
		default:
			text, _, ok := d.readText(path+"."+a.Name, to)
			if !ok {
				return nil, ""
			}
			if is := resolved(to); a.Words() == nil && is.Kind != scalarNode {
				d.report(path+"."+a.Name, to, "wrong-type", a.Name+" must be a text, not "+describe(is), form)
				return nil, ""
			}
			if a.Words() == nil && strings.TrimSpace(text) == "" {
				d.report(path+"."+a.Name, to, "bad-value",
					a.Name+" is empty; use one of "+strings.Join(a.Values, ", ")+", or one of the workspace's own", form)
				return nil, ""
			}
			value = text
		}
	}
	switch {
	case member == nil:
		d.report(path, n, "required", "the entry does not name a member", form)
	case a.Words() != nil && value == "":
		d.report(path, n, "required", "it has no "+a.Name, form)
		return nil, ""
	}
	return member, value
}

// jsonScalar returns a plain scalar as a number if JSON has such a number, and as a text otherwise.
func jsonScalar(n *node) any {
	if n.Kind != scalarNode || n.Style&quotedStyles != 0 || isNull(n) {
		return textInstance(n)
	}
	if (n.Tag == "!!int" || n.Tag == "!!float") && len(n.Value) < 100 && json.Valid([]byte(n.Value)) {
		return json.Number(n.Value)
	}
	return n.Value
}

func jsonBoolean(n *node) any {
	if n.Kind == scalarNode && n.Style&quotedStyles == 0 && (n.Value == "true" || n.Value == "false") {
		return n.Value == "true"
	}
	return textInstance(n)
}
