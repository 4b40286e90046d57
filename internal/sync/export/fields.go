package export

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/markup"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
	"github.com/planform/planform/schema"
)

// fieldValue is a field in the form of the manifest.
type fieldValue struct {
	field     *resource.Field
	value     any
	instance  any    // value that the schema checks
	canonical string // value that the service shows
	shown     string // the text with the service's links, if these differ from planform's; "" = they do not
	file      *File  // file that the field names
}

// encodeFields writes the object's own fields, and records their digests for the state.
func (c *composer) encodeFields(t *object) manifest.Map {
	var list []fieldValue
	for i := range t.kind.Fields {
		f := &t.kind.Fields[i]
		if f == orderField(t.kind) && !t.writesPlace || t.kind.Derives(f) {
			continue
		}
		if w, ok := c.encodeField(t, f); ok {
			list = append(list, w)
		}
	}
	list = c.dropWrongDates(t, list)
	list = c.dropInvalid(t, list)
	object := c.identityEntries(t)
	values := map[string]string{}
	for _, w := range list {
		if w.file != nil {
			c.out.Files = append(c.out.Files, *w.file)
		}
		if !w.field.Virtual && !t.kind.ViaMembership(w.field, resource.V1) {
			values[w.field.Name] = resource.Digest(w.canonical)
			if w.shown != "" {
				values[planner.ShownKey(w.field.Name)] = planner.ShownValue(w.shown)
			}
		}
		object = addField(object, w)
	}
	object = c.addCustomFields(t, object, values)
	c.out.Records = append(c.out.Records, planner.Record{Address: t.address, ID: t.row.ID(), Identifier: t.identifier, Values: values})
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

// identityEntries returns the entries that identify the object for the reader of the manifest: key, ID and readable identifier.
func (c *composer) identityEntries(t *object) manifest.Map {
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

// encodeField writes one field. ok is false if nothing is written.
func (c *composer) encodeField(t *object, f *resource.Field) (w fieldValue, ok bool) {
	w.field = f
	switch {
	case f.Past:
		return c.encodePast(t, f)
	case f.Person != nil:
		return c.encodePerson(t, f)
	case f.IsRef():
		return c.encodeRefs(t, f)
	case t.content != nil && f.Type == resource.Upload:
		name := c.names.unique(t.kind.Section, strings.TrimSuffix(t.text("name"), path.Ext(t.text("name"))), extension(t.text("name")))
		return fieldValue{field: f, value: name, instance: name, canonical: t.content.String(), file: &File{Name: name, From: t.spooled}}, true
	case t.kind.Uploads() && strings.ContainsAny(t.text(f.Name), f.Forbidden): // the name of the file replaces it
		t.writesID = true
		c.addOmission(t, f.Path(), "manifests cannot express it")
		return w, false
	}
	shown, known := f.ObservedIn(t.row)
	if w.canonical = shown; !known || shown == "" || !f.Required && t.isDefault(f, shown) {
		return w, false
	}
	if f.Rich() {
		return c.encodeRich(t, f, shown)
	}
	w, why := encodeValue(f, t.row, shown)
	if why != "" {
		c.addOmission(t, f.Path(), why)
	}
	return w, why == ""
}

// encodeValue writes the value of a field in a row. fault says why a manifest cannot hold it, or "".
func encodeValue(f *resource.Field, row resource.Row, shown string) (w fieldValue, fault string) {
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
		w.value, fault = encodeTree(f, text)
	case resource.Date:
		w.value, w.instance = manifest.Literal(text), text
	default:
		w.value, w.instance = text, text
	}
	// Nobody can write a text that does not mean the shown value, because the comparison has no form for it.
	v := resource.Value{Field: f, Text: text}
	if f.Definition == nil {
		if want, ok := v.Desired(nil); !ok || want != shown {
			fault = cmp.Or(fault, "written in a manifest, it would show as a change")
		}
	}
	return w, cmp.Or(manifest.CheckText(f, text), fault)
}

// isDefault reports whether a new object has the value if the manifest gives none. It returns false for
// predefined objects, such as a project's first states, because their defaults are not known.
func (ob *object) isDefault(f *resource.Field, shown string) bool {
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
		needed := func(k *resource.Kind) bool { // otherwise apply switches it on
			return slices.ContainsFunc(in.exportedChildren(k), func(child *object) bool { return child.needsSwitch(f) })
		}
		return shown == "false" && !slices.ContainsFunc(resource.Kinds(), needed)
	case f.Type == resource.JSON:
		return shown == "{}" || shown == "[]" || shown == "null"
	default:
		return false
	}
}

// needsSwitch reports whether the object cannot be created while a switch is off.
func (ob *object) needsSwitch(f *resource.Field) bool {
	if _, by := ob.kind.Switch(); by == f {
		return true
	}
	return slices.ContainsFunc(ob.kind.Fields, func(own resource.Field) bool { return ob.text(own.Name) == "true" && ob.kind.SwitchOf(&own) == f })
}

// hasDefaultsOnly reports whether all fields of an object have their defaults.
func (ob *object) hasDefaultsOnly() bool {
	return !slices.ContainsFunc(ob.kind.Fields, func(f resource.Field) bool {
		shown, known := f.ObservedIn(ob.row)
		own, _ := ob.kind.Field(f.Name)
		return known && !ob.isDefault(own, shown)
	})
}

// encodePast writes a fact of an object's past, such as the creator of a work item.
func (c *composer) encodePast(t *object, f *resource.Field) (w fieldValue, ok bool) {
	raw, _ := t.row[f.APIName()].(string)
	if raw == "" {
		return w, false
	}
	w.field = f
	v := resource.Value{Field: f, Text: raw}
	if f.IsRef() {
		id := resource.LowerID(raw)
		if t.find(resource.MustLookup(f.Ref), id) == nil {
			c.addOmission(t, f.Path(), whyUnlisted(f))
			return w, false
		}
		v.Refs = []resource.Reference{{ID: id}}
		raw = c.nameOf(t, f, id)
	}
	w.canonical, ok = v.Desired(func(_ *resource.Field, r *resource.Reference) (string, bool) { return r.ID, true })
	w.value, w.instance = raw, raw
	return w, ok
}

// encodePerson writes the name of the person who made an object, unless planform made it.
func (c *composer) encodePerson(t *object, f *resource.Field) (w fieldValue, ok bool) {
	if _, made := t.row.Owner(); made {
		return w, false
	}
	id := f.Person(t.row)
	if id == "" {
		return w, false
	}
	member := c.content.byID[serviceID{resource.MustLookup("member"), resource.LowerID(id)}]
	if member == nil {
		c.addOmission(t, f.Path(), "the person is no longer a member")
		return w, false
	}
	names := member.kind.NaturalFields()
	text := member.text(names[len(names)-1].Name)
	return fieldValue{field: f, value: text, instance: text}, text != "" && manifest.CheckText(f, text) == ""
}

// encodeTree returns a JSON text in the form of a manifest. fault says why a manifest cannot hold it, or "".
func encodeTree(f *resource.Field, text string) (value any, fault string) {
	const (
		longestKey = 500 // before a colon, YAML accepts at most 1024 bytes, escapes included
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

// encodeRich writes a text that the service keeps as HTML: into a file if the kind has a field for that, as
// Markdown if that means the same, else as HTML.
func (c *composer) encodeRich(t *object, first *resource.Field, shown string) (w fieldValue, ok bool) {
	asMarkdown, asHTML, asFile := textFields(t.kind, first)
	text, isMarkdown, why := richContent(first, t.row, asMarkdown != nil || asFile != nil)
	if !isMarkdown && asHTML == nil && asFile == nil {
		why = cannotSay
	}
	if why != "" {
		c.addOmission(t, first.Path(), why)
		return w, false
	}
	if asFile != nil {
		text = strings.TrimRight(text, "\n") + "\n"
	}
	text, canonical := c.pages.nameLinks(text, isMarkdown, shown)
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

const cannotSay = "Markdown cannot express it"

// textFields returns the fields that write a text of a kind: as Markdown, as HTML, and from a file; nil = the kind has no such field.
func textFields(k *resource.Kind, of *resource.Field) (asMarkdown, asHTML, asFile *resource.Field) {
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

// richContent returns a text that the service keeps as HTML: as Markdown if that is wanted and means the same,
// else as HTML. fault says why a manifest cannot hold it, or "".
func richContent(f *resource.Field, row resource.Row, markdown bool) (text string, isMarkdown bool, fault string) {
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

// Encode returns the manifest's form of a value in a row, or nil if the value is empty. It is for fields
// that refer to no object. It returns another field if only that field can hold the value: description_html
// instead of description. fault says why no manifest can hold it, or "".
func Encode(k *resource.Kind, v *resource.Value, row resource.Row, pages *Pages) (f *resource.Field, value any, fault string) {
	shown, _ := v.Field.ObservedIn(row)
	switch f = v.Field; {
	case shown == "":
		return f, nil, ""
	case !f.Rich():
		w, fault := encodeValue(f, row, f.WithoutProperty(shown))
		return f, w.value, fault
	case v.Header != "":
		return f, nil, "a line with author and time, which is not written in it, leads the text"
	}
	asMarkdown := f.Type == resource.Markdown || f.Type == resource.File && !v.AsHTML
	text, isMarkdown, fault := richContent(f, row, asMarkdown)
	if asMarkdown && !isMarkdown {
		_, asHTML, _ := textFields(k, f)
		if f.Type == resource.File || asHTML == nil {
			return f, nil, cannotSay
		}
		f = asHTML
	}
	text, _ = pages.nameLinks(text, isMarkdown, shown)
	return f, text, fault
}

// breakLines adds line breaks between the blocks of HTML, and drops control characters, which have no meaning in HTML.
func breakLines(html string) string {
	clean := markup.Clean(strings.ToValidUTF8(html, "\uFFFD"))
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

// dropWrongDates leaves out a date that is before a date that it must follow.
func (c *composer) dropWrongDates(t *object, list []fieldValue) []fieldValue {
	return slices.DeleteFunc(list, func(w fieldValue) bool {
		if w.field.NotBefore == "" {
			return false
		}
		i := slices.IndexFunc(list, func(o fieldValue) bool { return o.field != nil && o.field.Name == w.field.NotBefore })
		if i < 0 || list[i].canonical <= w.canonical {
			return false
		}
		c.addOmission(t, w.field.Path(), "it is before the "+w.field.NotBefore)
		return true
	})
}

// dropInvalid leaves out values that the schema refuses, such as a colour given by name. An object that
// loses its natural key in this way is written with its ID.
func (c *composer) dropInvalid(t *object, list []fieldValue) []fieldValue {
	for {
		instance := map[string]any{}
		for _, entry := range c.identityEntries(t) {
			instance[entry.Key] = entry.Value
		}
		for _, w := range list {
			instance[w.field.Path()] = w.instance
		}
		changed := false
		for _, v := range schema.Check(t.kind.Name, instance) {
			if v.Keyword == schema.Missing {
				changed = changed || !t.writesID
				t.writesID = true
				continue
			}
			i := slices.IndexFunc(list, func(w fieldValue) bool { return w.field.Path() == v.Property })
			if i < 0 {
				continue
			}
			c.addOmission(t, v.Property, "the schema refuses it")
			t.writesID = t.writesID || t.identifier == "" && slices.Contains(t.kind.NaturalKey, list[i].field.Name)
			list = slices.Delete(list, i, i+1)
			changed = true
		}
		if !changed {
			return list
		}
	}
}
