package export

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/markup"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
	"github.com/planform/planform/schema"
)

// fieldValue is a field as the manifest gives it.
type fieldValue struct {
	field     *resource.Field
	value     any
	instance  any    // as the schema sees it
	canonical string // what the service shows
	shown     string // the same, where a text links to pages by other addresses than planform does; "" = it does not
	file      *File  // that the field names
}

// fields writes the object's own fields, and records their digests for the state.
func (c *composer) fields(t *object) manifest.Map {
	var list []fieldValue
	for i := range t.kind.Fields {
		f := &t.kind.Fields[i]
		if f == orderField(t.kind) && !t.writesPlace || t.kind.Derives(f) {
			continue
		}
		if w, ok := c.field(t, f); ok {
			list = append(list, w)
		}
	}
	list = c.dropWrongDates(t, list)
	list = c.dropInvalid(t, list)
	object := c.identity(t)
	values := map[string]string{}
	for _, w := range list {
		if w.file != nil {
			c.out.Files = append(c.out.Files, *w.file)
		}
		if !w.field.Virtual && !t.kind.ViaMembership(w.field, resource.V1) {
			values[w.field.Name] = resource.Digest(w.canonical)
			if w.shown != "" {
				values[planner.ShownKey(w.field.Name)] = planner.Shown(w.shown)
			}
		}
		object = addField(object, w)
	}
	object = c.custom(t, object, values)
	c.record(t, values)
	return object
}

// addField adds a field, within its group if it has one.
func addField(object manifest.Map, w fieldValue) manifest.Map {
	entry := manifest.Entry{Key: w.field.Name, Value: w.value}
	if w.field.Group == "" {
		return append(object, entry)
	}
	for i := range object {
		if group, ok := object[i].Value.(manifest.Map); ok && object[i].Key == w.field.Group {
			object[i].Value = append(group, entry)
			return object
		}
	}
	return append(object, manifest.Entry{Key: w.field.Group, Value: manifest.Map{entry}})
}

// identity is what tells the reader which object of the service is meant.
func (c *composer) identity(t *object) manifest.Map {
	var object manifest.Map
	if t.kind.Singleton {
		return object
	}
	if t.writesKey {
		object = append(object, manifest.Entry{Key: schema.Key, Value: t.key})
	}
	if t.writesID {
		object = append(object, manifest.Entry{Key: schema.ObjectID, Value: t.row.ID()})
	}
	if t.identifier != "" {
		object = append(object, manifest.Entry{Key: schema.Identifier, Value: t.identifier})
	}
	return object
}

// field writes one field. ok is false where there is nothing to say.
func (c *composer) field(t *object, f *resource.Field) (w fieldValue, ok bool) {
	w.field = f
	switch {
	case f.Past:
		return c.pastField(t, f)
	case f.PersonIn != nil:
		return c.person(t, f)
	case f.IsRef():
		return c.references(t, f)
	case t.content != nil && f.Type == resource.Upload:
		name := c.names.unique(t.kind.Section, strings.TrimSuffix(t.text("name"), path.Ext(t.text("name"))), extension(t.text("name")))
		return fieldValue{field: f, value: name, instance: name, canonical: t.content.String(), file: &File{Name: name, From: t.spooled}}, true
	case t.kind.Upload != nil && strings.ContainsAny(t.text(f.Name), f.Forbidden): // the file's own name is taken for it
		t.writesID = true
		c.omit(t, f.Path(), "no manifest can say it")
		return w, false
	}
	shown, known := f.ObservedIn(t.row)
	if w.canonical = shown; !known || shown == "" || !f.Required && t.defaultValue(f, shown) {
		return w, false
	}
	if f.Rich() {
		return c.richText(t, f, shown)
	}
	w, why := encode(f, t.row, shown)
	if why != "" {
		c.omit(t, f.Path(), why)
	}
	return w, why == ""
}

// encode writes what a row shows of a field; fault says why a manifest cannot say it, or "".
func encode(f *resource.Field, row resource.Row, shown string) (w fieldValue, fault string) {
	w = fieldValue{field: f, canonical: shown}
	text := shown
	switch f.Type {
	case resource.Number:
		raw, _ := row.Shown(f)
		if n, isNumber := raw.(json.Number); isNumber {
			text = n.String()
		}
		w.value, w.instance = manifest.Literal(text), json.Number(text)
	case resource.Boolean:
		w.value, w.instance = manifest.Literal(text), text == "true"
	case resource.EnumSet:
		var words []any
		for word := range strings.SplitSeq(shown, ",") {
			words = append(words, word)
		}
		w.value, w.instance = words, words
	case resource.JSON:
		w.instance = map[string]any{}
		w.value, fault = tree(f, text)
	case resource.Date:
		w.value, w.instance = manifest.Literal(text), text
	default:
		w.value, w.instance = text, text
	}
	// Where the text does not mean what the service shows, nobody can write it: the comparison has no form for it.
	v := resource.Value{Field: f, Text: text}
	if f.Definition == nil {
		if want, ok := v.Desired(nil); !ok || want != shown {
			fault = cmp.Or(fault, "a manifest cannot say it such that it compares equal")
		}
	}
	return w, cmp.Or(manifest.CheckText(f, text), fault)
}

// defaultValue reports whether a new object has the value where the manifest gives none. Of
// predefined objects, such as a project's first states, that is not known: all is written.
func (ob *object) defaultValue(f *resource.Field, shown string) bool {
	switch {
	case f.ArchiveFlag:
		return shown == "false"
	case len(ob.kind.Predefined) > 0 && slices.Contains(ob.kind.Predefined, ob.text(ob.kind.NaturalKey[0])):
		return false
	case f.Default != "":
		return shown == f.Default
	case f.Type == resource.Boolean:
		in := ob
		if ob.kind.Singleton {
			in = ob.parent
		}
		needed := func(k *resource.Kind) bool { // else apply switches it on
			return slices.ContainsFunc(in.exports(k), func(child *object) bool { return child.needs(f) })
		}
		return shown == "false" && !slices.ContainsFunc(resource.Kinds(), needed)
	case f.Type == resource.JSON:
		return shown == "{}" || shown == "[]" || shown == "null"
	default:
		return false
	}
}

// needs reports whether the object cannot be made while a switch is off.
func (ob *object) needs(f *resource.Field) bool {
	if _, by := ob.kind.Switch(); by == f {
		return true
	}
	return slices.ContainsFunc(ob.kind.Fields, func(own resource.Field) bool { return ob.text(own.Name) == "true" && ob.kind.SwitchOf(&own) == f })
}

// saysNothing reports whether an object is as the service makes all of its kind.
func (ob *object) saysNothing() bool {
	return !slices.ContainsFunc(ob.kind.Fields, func(f resource.Field) bool {
		shown, known := f.ObservedIn(ob.row)
		own, _ := ob.kind.Field(f.Name)
		return known && !ob.defaultValue(own, shown)
	})
}

// pastField writes what is of an object's past, such as who created a work item.
func (c *composer) pastField(t *object, f *resource.Field) (w fieldValue, ok bool) {
	raw, _ := t.row[f.APIName()].(string)
	if raw == "" {
		return w, false
	}
	w.field = f
	v := resource.Value{Field: f, Text: raw}
	if f.IsRef() {
		id := resource.LowerID(raw)
		if t.find(resource.MustLookup(f.Ref), id) == nil {
			c.omit(t, f.Path(), whyUnlisted(f))
			return w, false
		}
		v.Refs = []resource.Reference{{ID: id}}
		raw = c.nameOf(t, f, id)
	}
	w.canonical, ok = v.Desired(func(_ *resource.Field, r *resource.Reference) (string, bool) { return r.ID, true })
	w.value, w.instance = raw, raw
	return w, ok
}

// person writes by name who made an object, unless planform did.
func (c *composer) person(t *object, f *resource.Field) (w fieldValue, ok bool) {
	if _, made := t.row.Owner(); made {
		return w, false
	}
	for _, name := range f.PersonIn {
		id, _ := t.row[name].(string)
		if id == "" {
			continue
		}
		if member := c.found.byID[serviceID{resource.MustLookup("member"), resource.LowerID(id)}]; member != nil {
			names := member.kind.NaturalFields()
			text := member.text(names[len(names)-1].Name)
			return fieldValue{field: f, value: text, instance: text}, text != "" && manifest.CheckText(f, text) == ""
		}
		c.omit(t, f.Path(), "it is somebody who is not there any more")
		return w, false
	}
	return w, false
}

// tree is a JSON text as a manifest writes it; fault says why a manifest cannot, or "".
func tree(f *resource.Field, text string) (value any, fault string) {
	const (
		longestKey = 500 // YAML takes no longer one before a colon than 1024 bytes, escapes included
		deepest    = 90
	)
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return text, ""
	}
	var branch func(v any, depth int) any
	branch = func(v any, depth int) any {
		if depth > deepest {
			fault = cmp.Or(fault, "it is nested too deep")
			return nil
		}
		switch v := v.(type) {
		case map[string]any:
			m := make(manifest.Map, 0, len(v))
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if len(name) > longestKey {
					fault = cmp.Or(fault, "a key in it is too long")
				}
				fault = cmp.Or(fault, manifest.CheckText(f, name))
				m = append(m, manifest.Entry{Key: name, Value: branch(v[name], depth+1)})
			}
			return m
		case []any:
			for i := range v {
				v[i] = branch(v[i], depth+1)
			}
			return v
		case json.Number:
			return manifest.Literal(v.String())
		case bool:
			return manifest.Literal(strconv.FormatBool(v))
		case string:
			fault = cmp.Or(fault, manifest.CheckText(f, v))
		}
		return v
	}
	value = branch(v, 0)
	return value, fault
}

// richText writes a text that the service keeps as HTML: into a file where the kind
// has a field for that, as Markdown where that says the same, else as HTML.
func (c *composer) richText(t *object, first *resource.Field, shown string) (w fieldValue, ok bool) {
	asMarkdown, asHTML, asFile := forms(t.kind, first)
	text, isMarkdown, why := rich(first, t.row, asMarkdown != nil || asFile != nil)
	if !isMarkdown && asHTML == nil && asFile == nil {
		why = cannotSay
	}
	if why != "" {
		c.omit(t, first.Path(), why)
		return w, false
	}
	if asFile != nil {
		text = strings.TrimRight(text, "\n") + "\n"
	}
	text, canonical := c.pages.name(text, isMarkdown, shown)
	w = fieldValue{field: asHTML, value: text, instance: text, canonical: canonical}
	if canonical != shown {
		w.shown = shown
	}
	switch {
	case asFile != nil:
		ext := ".html"
		if isMarkdown {
			ext = ".md"
		}
		name := c.names.unique(t.kind.Section, t.key, ext)
		w.field, w.value, w.instance, w.file = asFile, name, name, &File{Name: name, Data: []byte(text)}
	case isMarkdown:
		w.field = asMarkdown
	}
	return w, true
}

const cannotSay = "Markdown cannot say it"

// forms are the fields that write a text of a kind: as Markdown, as HTML, and from a file; nil = there is none.
func forms(k *resource.Kind, of *resource.Field) (asMarkdown, asHTML, asFile *resource.Field) {
	for i := range k.Fields {
		switch f := &k.Fields[i]; {
		case f.APIName() != of.APIName():
		case f.Type == resource.Markdown:
			asMarkdown = f
		case f.Type == resource.HTML:
			asHTML = f
		case f.Type == resource.File:
			asFile = f
		}
	}
	return asMarkdown, asHTML, asFile
}

// rich is a text that the service keeps as HTML, as Markdown where that is wanted and says the same, else as HTML. fault
// says why a manifest cannot say it, or "".
func rich(f *resource.Field, row resource.Row, markdown bool) (text string, isMarkdown bool, fault string) {
	raw, _ := row.Shown(f)
	html, _ := raw.(string)
	if markdown {
		text, isMarkdown = markup.Markdown(html)
	}
	if !isMarkdown {
		text = breakLines(html)
	}
	if strings.Contains(text, "\n") {
		text = strings.TrimRight(text, "\n") + "\n"
	}
	return text, isMarkdown, manifest.CheckText(f, text)
}

// Encode writes what a row shows of a field that refers to nothing, in the place of a value of that field: as nil where it
// is empty. The field is another one where only that can say it: description_html for description. fault says why no
// manifest can, or "".
func Encode(k *resource.Kind, v *resource.Value, row resource.Row, pages *Pages) (f *resource.Field, value any, fault string) {
	shown, _ := v.Field.ObservedIn(row)
	switch f = v.Field; {
	case shown == "":
		return f, nil, ""
	case !f.Rich():
		w, fault := encode(f, row, f.WithoutProperty(shown))
		return f, w.value, fault
	case v.Header != "":
		return f, nil, "a line with author and time, which is not written in it, leads the text"
	}
	asMarkdown := f.Type == resource.Markdown || f.Type == resource.File && !v.AsHTML
	text, isMarkdown, fault := rich(f, row, asMarkdown)
	if asMarkdown && !isMarkdown {
		_, asHTML, _ := forms(k, f)
		if f.Type == resource.File || asHTML == nil {
			return f, nil, cannotSay
		}
		f = asHTML
	}
	text, _ = pages.name(text, isMarkdown, shown)
	return f, text, fault
}

// breakLines breaks the lines of HTML between its blocks, and drops the control characters that mean nothing in it.
func breakLines(html string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.ToValidUTF8(html, "\uFFFD"), "\r\n", "\n"))
	lines := strings.TrimSpace(blockEnds.Replace(clean))
	if markup.Equal(lines, html) {
		return lines
	}
	return clean
}

//nolint:gochecknoglobals // a constant table
var blockEnds = strings.NewReplacer("</p>", "</p>\n", "</li>", "</li>\n", "<ul>", "<ul>\n", "<ol>", "<ol>\n", "</ul>", "</ul>\n", "</ol>",
	"</ol>\n",
	"</h1>", "</h1>\n", "</h2>", "</h2>\n", "</h3>", "</h3>\n", "</h4>", "</h4>\n", "</table>", "</table>\n", "</tr>", "</tr>\n", "</pre>",
	"</pre>\n",
	"</blockquote>", "</blockquote>\n", "</div>", "</div>\n")

// dropWrongDates leaves out a date that precedes the one that it must not precede.
func (c *composer) dropWrongDates(t *object, list []fieldValue) []fieldValue {
	return slices.DeleteFunc(list, func(w fieldValue) bool {
		if w.field.NotBefore == "" {
			return false
		}
		i := slices.IndexFunc(list, func(o fieldValue) bool { return o.field != nil && o.field.Name == w.field.NotBefore })
		if i < 0 || list[i].canonical <= w.canonical {
			return false
		}
		c.omit(t, w.field.Path(), "it is before the "+w.field.NotBefore)
		return true
	})
}

// dropInvalid leaves out what the schema refuses, such as a colour by its name. An object
// that loses its natural key by that is written with its ID.
func (c *composer) dropInvalid(t *object, list []fieldValue) []fieldValue {
	for {
		instance := map[string]any{}
		for _, entry := range c.identity(t) {
			instance[entry.Key] = entry.Value
		}
		for _, w := range list {
			instance[w.field.Path()] = w.instance
		}
		changed := false
		for _, v := range c.checker.Check(t.kind.Name, instance) {
			if v.Keyword == schema.Missing {
				changed = changed || !t.writesID
				t.writesID = true
				continue
			}
			i := slices.IndexFunc(list, func(w fieldValue) bool { return w.field.Path() == v.Property })
			if i < 0 {
				continue
			}
			c.omit(t, v.Property, "the schema refuses it")
			t.writesID = t.writesID || t.identifier == "" && slices.Contains(t.kind.NaturalKey, list[i].field.Name)
			list = slices.Delete(list, i, i+1)
			changed = true
		}
		if !changed {
			return list
		}
	}
}
