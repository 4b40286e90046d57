package manifest

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/yamltext"
	"github.com/planform/planform/schema"
)

// decoder makes objects of the items of one file, and checks each by itself.
type decoder struct {
	*pass

	freeNodes bool     // no alias needs a node again
	files     []string // the source's name: all objects share it

	// of the item that is being decoded
	present  properties
	instance map[string]any   // what the object carries, as the schema sees it
	unknown  []string         // properties that the kind does not have
	broken   []string         // properties that were reported already
	fields   []*node          // by the index of the kind's field
	origin   *resource.Source // of the document that the object is in

	unbound map[string]*resource.Field // custom fields whose definitions are not known yet
}

// item decodes one item.
func (d *decoder) item(it *item) {
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
		d.properties(it)
	}
	d.takeDefaults(it)
	d.decodeFields(it)
	d.violations(k)
	d.check(it)
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

// violations reports what the schema says against an object, except where something was reported before.
func (d *decoder) violations(k *kindInfo) {
	for _, name := range d.unknown {
		d.instance[name] = nil
	}
	reported := len(d.broken)
	for _, v := range d.checker.Check(k.Name, d.instance) {
		if slices.Contains(d.broken[:reported], v.Property) {
			continue
		}
		d.broken = append(d.broken, v.Property)
		misspelt := v.Keyword == schema.Missing && (d.present.isText() || slices.ContainsFunc(d.unknown, func(name string) bool {
			wanted := append([]string{v.Property}, k.KeyFrom...)
			return len(diag.Near(name, wanted)) > 0 ||
				synonymOf(name, func(property string) bool { return slices.Contains(wanted, property) }) != ""
		}))
		if !misspelt { // that is told where the unknown one stands
			d.present.explain(v)
		}
	}
}

// properties sorts out the keys of a mapping.
func (d *decoder) properties(it *item) {
	k := it.kind
	pairs := it.node.Content
	if it.merges {
		pairs = d.pairs(it.node)
	}
	d.checkTag(it.node, d.present.path())
	for key, value := range yamltext.Pairs(pairs) {
		name, ok := d.present.key(key, value)
		if !ok {
			continue
		}
		if p := k.props[name]; p.what == isField && k.Fields[p.field].Group != "" {
			d.report(name, key, "unknown-field", "unknown field "+quote(name)+" in "+diag.A(k.Noun()),
				"write it inside "+k.Fields[p.field].Group+":, in a line of its own")
			continue
		}
		d.property(it, name, value)
	}
}

// property takes one property of an object.
func (d *decoder) property(it *item, name string, value *node) {
	k, o := it.kind, it.object
	switch p := k.props[name]; p.what {
	case isUnknown:
		d.unknown = append(d.unknown, name)
	case isSection: // found by the walker
	case isGroup:
		d.group(k, name, value)
	case isField:
		if d.fields[p.field] = value; k.Fields[p.field].Rest {
			d.fields[p.field] = d.group(k, name, value)
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
		d.policy().OnDrift = d.readString(name, value)
	}
}

// group takes the fields that are written inside a mapping of their own. rest is what else is in it, where that is a field too.
func (d *decoder) group(k *kindInfo, name string, n *node) (rest *node) {
	to := d.deref(name, n)
	open := k.props[name].what == isField
	switch {
	case to == nil:
		return nil
	case isNull(to), open && to.Kind != mappingNode: // which the schema tells
		return n
	case open && !d.budget.expand(len(to.Content)): // an alias may stand for it
		d.broken = append(d.broken, name) // told for the whole file
		return nil
	case to.Kind != mappingNode:
		first := k.Fields[slices.IndexFunc(k.Fields, func(f resource.Field) bool { return f.Group == name })]
		d.report(name, n, "wrong-type", name+" is a mapping, not "+describe(to), "write its fields, such as "+first.Name+": [...]")
		return nil
	}
	var others []*node
	d.inside(name, to, func(full string, key, value *node) {
		switch p := k.props[full]; {
		case p.what == isField:
			d.fields[p.field] = value
		case open:
			others = append(others, key, value)
		default:
			d.unknown = append(d.unknown, full)
		}
	})
	return at(n, to, others)
}

// inside goes through a mapping inside the object.
func (d *decoder) inside(name string, n *node, each func(full string, key, value *node)) {
	d.present.within = name + "."
	defer func() { d.present.within = "" }()
	for key, value := range d.each(n) {
		if full, ok := d.present.key(key, value); ok {
			each(full, key, value)
		}
	}
}

// readString takes a text that belongs to no field.
func (d *decoder) readString(name string, n *node) string {
	text, instance, ok := d.readText(name, n)
	if ok {
		d.instance[name] = instance
	}
	return text
}

// readText takes a text and what it is to the schema. ok is false where it was
// reported that there is none.
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
	case n.Style&doubleQuotedStyle != 0: // only there can a text hold what the file does not
		text = normalizeLineEnds(n.Value)
		if r, bad := controlCharacter(text); bad {
			d.report(name, n, "control-character", name+" holds the control character "+runeName(r), "remove it")
			return "", nil, false
		}
		return text, text, true
	}
	return n.Value, n.Value, true
}

// deref gives what a node stands for, or nil where it was reported that it cannot be used.
func (d *decoder) deref(name string, n *node) *node {
	to := resolved(n)
	switch {
	case to == nil:
		d.tell(n, "", cyclicAlias(n))
	case isBroken(to), d.checkTag(to, d.present.path()):
	default:
		return to
	}
	d.broken = append(d.broken, name)
	return nil
}

// report reports a property.
func (d *decoder) report(name string, n *node, code, summary, hint string) {
	d.reportAt(d.position(n), name, code, summary, hint)
}

func (d *decoder) reportAt(at diag.Position, name, code, summary, hint string) {
	d.broken = append(d.broken, name)
	d.found.report(at, d.all.items.path(d.present.item)+"."+name, problem{code, summary, hint})
}

// textInstance is a node as the schema sees it where a text is expected.
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

// decodeFields takes the fields that are written, in the order of the kind.
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
			d.customFields(o, f, n)
		} else if n != nil {
			d.field(o, f, n)
		} else if v, ok := o.Value(f.BaseOf); ok && v.Text != "" {
			o.Values = append(o.Values, resource.Value{Field: f, Text: path.Base(v.Text), Implied: true, Position: v.Position})
		} else if f.Ordinal {
			o.Values = append(o.Values, resource.Value{Field: f, Text: strconv.Itoa(it.index + 1), Implied: true, Position: o.Position})
		}
	}
}

// field takes one field.
func (d *decoder) field(o *resource.Object, f *resource.Field, n *node) {
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
			instance = boolean(to)
		}
	case resource.JSON:
		if v.Text, instance, ok = d.readJSON(f.Path(), n); ok {
			v.Null = instance == nil && clears
		}
	case resource.RefSet:
		instance, ok = d.refSet(f, v, n)
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
	case resource.CustomFields: // each is a value of its own
	case resource.Text, resource.LongText, resource.Markdown, resource.HTML, resource.File, resource.Upload, resource.SecretFile, resource.Date,
		resource.Enum, resource.Color, resource.URL, resource.Ref:
		v.Text, instance, ok = d.readText(f.Path(), n)
		if ok && clears && (instance == "" || instance == nil) {
			v.Null, instance = true, nil // an empty text clears as null does
		}
		if ok && f.Type == resource.Ref && v.Text != "" {
			v.Refs = []resource.Reference{d.reference(v.Text, v.Position)}
		}
	}
	if ok {
		d.instance[f.Path()] = instance
	}
}

func (d *decoder) reference(text string, at diag.Position) resource.Reference {
	ref := resource.Reference{Text: text, Position: at, Source: d.origin}
	if resource.IsID(text) {
		ref.ID = resource.LowerID(text)
	}
	return ref
}

// refSet takes a list of references.
func (d *decoder) refSet(f *resource.Field, v *resource.Value, n *node) (instance any, ok bool) {
	list := d.deref(f.Path(), n)
	if list == nil {
		return nil, false
	}
	if list.Kind != sequenceNode {
		return textInstance(list), true
	}
	if !d.budget.expand(len(list.Content)) { // an alias may stand for it, or for something around it
		d.broken = append(d.broken, f.Path()) // told for the whole file
		return nil, false
	}
	entries := make([]any, len(list.Content))
	v.Refs = make([]resource.Reference, len(list.Content))
	attribute := attributeOf(d.all.items[d.present.item].kind.Kind, f)
	for i, entry := range list.Content {
		attributeValue := ""
		if to := resolved(entry); attribute != nil && to != nil && (to.Kind == mappingNode || attribute.Words != nil) {
			if entry, attributeValue = d.attributed(f.Path()+"["+strconv.Itoa(i)+"]", attribute, entry); entry == nil {
				return nil, false
			}
		}
		text, one, valid := d.readText(f.Path(), entry)
		if !valid {
			return nil, false
		}
		entries[i] = one
		if v.Refs[i] = d.reference(text, d.position(entry)); len(entries) == 1 {
			v.Origins = d.origins[entry]
		}
		v.Refs[i].Attribute = attributeValue
	}
	return entries, true
}

// readTexts takes a list of texts, and what it is to the schema. ok is false where it was reported that there is none.
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

// attributeOf is what a field's members can be given besides their names, or nil.
func attributeOf(k *resource.Kind, f *resource.Field) *resource.Attribute {
	if via, ok := resource.MembershipOf(k.Name, f.Name); ok {
		return via.Membership.Attribute
	}
	return nil
}

// attributed takes a member that is written as a mapping, such as {user: gus, role: guest}.
// It gives what names the member, or nil where what is wrong was reported.
func (d *decoder) attributed(path string, a *resource.Attribute, n *node) (member *node, value string) {
	if n = d.deref(path, n); n == nil {
		return nil, ""
	}
	form := "write {" + a.Member + ": NAME, " + a.Name + ": " + cmp.Or(a.Values...) + "}"
	if a.Words != nil {
		form = "write {" + a.Member + ": NAME, " + a.Name + ": TEXT}, with the " + a.Words.Outward + " or " + a.Words.Inward + " of one of the " +
			resource.MustLookup(a.Words.Kind).Section
	}
	if n.Kind != mappingNode {
		d.report(path, n, "required", "it does not say the "+a.Name, form)
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
			if is := resolved(to); a.Words == nil && is.Kind != scalarNode {
				d.report(path+"."+a.Name, to, "wrong-type", a.Name+" is a text, not "+describe(is), form)
				return nil, ""
			}
			if a.Words == nil && strings.TrimSpace(text) == "" {
				d.report(path+"."+a.Name, to, "bad-value",
					a.Name+" is empty; it is one of "+strings.Join(a.Values, ", ")+", or one of the workspace's own", form)
				return nil, ""
			}
			value = text
		}
	}
	switch {
	case member == nil:
		d.report(path, n, "required", "the member is not named", form)
	case a.Words != nil && value == "":
		d.report(path, n, "required", "it does not say the "+a.Name, form)
		return nil, ""
	}
	return member, value
}

// jsonScalar is a plain scalar as a number where JSON would take it as one.
func jsonScalar(n *node) any {
	if n.Kind != scalarNode || n.Style&quotedStyles != 0 || isNull(n) {
		return textInstance(n)
	}
	if (n.Tag == "!!int" || n.Tag == "!!float") && len(n.Value) < 100 && json.Valid([]byte(n.Value)) {
		return json.Number(n.Value)
	}
	return n.Value
}

func boolean(n *node) any {
	if n.Kind == scalarNode && n.Style&quotedStyles == 0 && (n.Value == "true" || n.Value == "false") {
		return n.Value == "true"
	}
	return textInstance(n)
}
