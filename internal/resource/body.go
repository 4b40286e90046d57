package resource

import (
	"bytes"
	"encoding/json"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/markup"
)

// Dialect is which of two names the service uses for fields that have two.
type Dialect int

// Contract is the names of the documented service, Newer those of newer editions.
const (
	Contract Dialect = iota
	Newer
)

// DialectOf tells the dialect from a record of the kind; ok is false where the record does not tell.
func (k *Kind) DialectOf(row Row) (d Dialect, ok bool) {
	for i := range k.Fields {
		f := &k.Fields[i]
		if f.WireNewer == "" {
			continue
		}
		if _, found := row[f.Wire]; found {
			return Contract, true
		}
		if _, found := row[f.WireNewer]; found {
			return Newer, true
		}
	}
	return Contract, false
}

// HasDialects reports whether editions differ in the kind's field names.
func (k *Kind) HasDialects() bool {
	for i := range k.Fields {
		if k.Fields[i].WireNewer != "" && k.Fields[i].Required {
			return true
		}
	}
	return false
}

// Sends lists the values that go into a body: those that the API takes and that
// no membership carries instead.
func (o *Object) Sends(api API) []*Value {
	var vs []*Value
	for i := range o.Values {
		v := &o.Values[i]
		if !api.Sends(v.Field) || o.Kind.Carried(v.Field, api) {
			continue
		}
		vs = append(vs, v)
	}
	return vs
}

// Carried reports whether the field is made true by a membership instead of by a body.
func (k *Kind) Carried(f *Field, api API) bool {
	if !f.IsRef() {
		return false
	}
	via, ok := Via(k.Name, f.Name)
	if !ok {
		return false
	}
	_, offered := via.Op(AddMembers, api)
	return offered
}

// Body is the JSON object of the values, in their order, with extra texts after
// them. A reference for which id knows no ID is left out of a list; a single one
// leaves its field out.
func Body(values []*Value, d Dialect, id Resolve, extra ...[2]string) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	put := func(name string, v any) {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		writeJSON(&b, name)
		b.WriteByte(':')
		writeJSON(&b, v)
	}
	for _, v := range values {
		name := v.Field.Wire
		if d == Newer && v.Field.WireNewer != "" {
			name = v.Field.WireNewer
		}
		if wire, ok := v.wire(name, id); ok {
			put(name, wire)
		}
	}
	for _, e := range extra {
		put(e[0], e[1])
	}
	b.WriteByte('}')
	return b.Bytes()
}

// wire is the value as it stands in a body under the given name.
func (v *Value) wire(name string, id Resolve) (any, bool) {
	f := v.Field
	switch {
	case f.Type == RefSet:
		ids := make([]string, 0, len(v.Refs))
		for i := range v.Refs {
			if ref, ok := id(f, &v.Refs[i]); ok {
				ids = append(ids, ref)
			}
		}
		return ids, true
	case v.Null:
		return f.cleared(), f.Clear != ClearNever
	case f.Type == Ref:
		ref, ok := id(f, &v.Refs[0])
		return ref, ok
	case f.Rich():
		return shown(v.HTML()), true
	case f.Type == Number, f.Type == JSON, f.Type == Boolean:
		return json.RawMessage(v.Text), true
	case f.Coded:
		return json.RawMessage(strconv.Itoa(slices.Index(f.Enum, v.Text))), true
	case f.WireNewer == name && strings.HasSuffix(name, "_html"):
		return plainHTML(v.Text), true
	default:
		return f.text(v.Text), true
	}
}

// shown is an HTML text as it is sent: the service refuses one that shows nothing, such as a comment.
func shown(text string) string {
	if markup.Empty(text) {
		return markup.Nothing
	}
	return text
}

// text is a text as it is sent: one that may be an ID is, like all IDs, in lower case.
func (f *Field) text(given string) string {
	if f.Pattern != "" && IsID(given) {
		return NormalID(given)
	}
	return given
}

// cleared is what empties the field.
func (f *Field) cleared() any {
	switch f.Clear {
	case ClearParagraph:
		return markup.Nothing
	case ClearEmpty:
		return ""
	case ClearNull, ClearNever:
		return nil
	default:
		return nil
	}
}

// plainHTML shows a plain text as HTML, a paragraph for each block of lines.
func plainHTML(text string) string {
	var b strings.Builder
	for p := range strings.SplitSeq(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), "\n\n") {
		b.WriteString("<p>" + strings.ReplaceAll(html.EscapeString(p), "\n", "<br>") + "</p>")
	}
	return b.String()
}

func writeJSON(b *bytes.Buffer, v any) {
	if raw, ok := v.(json.RawMessage); ok {
		b.Write(raw)
		return
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // strings, lists of strings and nil always encode
		panic(err)
	}
	b.Truncate(b.Len() - 1) // the encoder's line end
}
