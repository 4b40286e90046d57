package resource

import (
	"bytes"
	"encoding/json"
	"html"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/text/markup"
)

// InV2 reports whether API v2 can store all values, either in fields of its bodies or as part of a text.
func InV2(values []*Value) bool {
	told := slices.ContainsFunc(values, func(v *Value) bool { return v.Header != "" }) // the text begins with author and time
	return !slices.ContainsFunc(values, func(v *Value) bool {
		return v.Field.nameIn(V2Dialect) == "" && !(v.Field.Past && told) && v.Field.Definition == nil
	})
}

// DialectOf returns the dialect in which a row names the fields of the kind; ok is false if the row does not show it.
func (k *Kind) DialectOf(row Row) (d Dialect, ok bool) {
	for i := range k.Fields {
		f := &k.Fields[i]
		if !f.Renamed() {
			continue
		}
		for _, d := range []Dialect{ContractDialect, NewerDialect} {
			if _, found := row[f.Wire[d]]; found {
				return d, true
			}
		}
	}
	return ContractDialect, false
}

// HasDialects reports whether editions use different names for required fields of the kind.
func (k *Kind) HasDialects() bool {
	return slices.ContainsFunc(k.Fields, func(f Field) bool { return f.Required && f.Renamed() })
}

// Sendable returns the values for a body: those of fields that the API accepts, and that no membership sets.
func (o *Object) Sendable(api API) []*Value {
	var vs []*Value
	for i := range o.Values {
		v := &o.Values[i]
		if !api.Sendable(v.Field) || o.Kind.ViaMembership(v.Field, api) {
			continue
		}
		vs = append(vs, v)
	}
	return vs
}

// ViaMembership reports whether a membership sets the field instead of a body.
func (k *Kind) ViaMembership(f *Field, api API) bool {
	if !f.IsRef() {
		return false
	}
	via, ok := MembershipOf(k.Name, f.Name)
	if !ok {
		return false
	}
	_, offered := via.Op(AddMembers, api)
	return offered
}

// Body returns a JSON object of the values in their order, followed by extra texts. References without an ID are left out of a list. A
// field whose only reference has no ID is left out.
func Body(values []*Value, d Dialect, id IDResolver, extra ...[2]string) []byte {
	var b jsonObject
	var objects []string // inner objects in the order of their first field
	inner := map[string]map[string]any{}
	for _, v := range values {
		name := v.Field.nameIn(d)
		if name == "" {
			continue
		}
		value, ok := v.bodyValue(name, id)
		switch in := v.Field.Within; {
		case in != "":
			if inner[in] == nil {
				objects, inner[in] = append(objects, in), map[string]any{}
			}
			v.putWithin(inner[in], name, value)
		case ok:
			b.put(name, value)
		}
	}
	for _, in := range objects {
		b.put(in, inner[in])
	}
	for _, e := range extra {
		b.put(e[0], e[1])
	}
	return b.json()
}

// Put adds a field to a JSON object.
func Put(object []byte, name string, value any) []byte {
	var b jsonObject
	b.buffer.Write(bytes.TrimSuffix(object, []byte("}")))
	b.put(name, value)
	return b.json()
}

// jsonObject writes a JSON object with its fields in the order of put. The zero value has none.
type jsonObject struct{ buffer bytes.Buffer }

func (jo *jsonObject) put(name string, v any) {
	switch jo.buffer.Len() {
	case 0:
		jo.buffer.WriteByte('{')
	case 1:
	default:
		jo.buffer.WriteByte(',')
	}
	writeJSON(&jo.buffer, name)
	jo.buffer.WriteByte(':')
	writeJSON(&jo.buffer, v)
}

func (jo *jsonObject) json() []byte {
	if jo.buffer.Len() == 0 {
		jo.buffer.WriteByte('{')
	}
	return append(jo.buffer.Bytes(), '}')
}

// putWithin adds a value to the inner object that holds it. Empty values are left out.
func (v *Value) putWithin(object map[string]any, name string, value any) {
	ids, isSet := value.([]string)
	switch {
	case v.Null, isSet && len(ids) == 0, v.Field.IsRef() && value == "":
	case v.Field.Rest:
		var rest map[string]any
		if json.Unmarshal([]byte(v.Text), &rest) == nil {
			maps.Copy(object, rest)
		}
	default:
		object[name] = value
	}
}

// bodyValue returns the value in a body under the given name; false = the field is left out.
func (v *Value) bodyValue(name string, id IDResolver) (any, bool) {
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
		return f.emptyValue(), f.Clear != ClearNever
	case f.Type == EnumSet:
		return strings.Split(v.Text, ","), true
	case f.Type == Ref:
		ref, ok := v.sentID(id)
		return ref, ok
	case f.Rich():
		text, _ := v.linkedHTML(id)
		return visibleHTML(text), true
	case f.Type == Number, f.Type == JSON, f.Type == Boolean:
		return json.RawMessage(v.Text), true
	case v.Content != nil:
		return v.Content.Size, true
	case f.EnumInCapitals:
		return strings.ToUpper(v.Text), true
	case f.Codes != nil:
		return f.Codes[slices.Index(f.Enum, v.Text)], true
	case f.Renamed() && f.Wire[NewerDialect] == name && strings.HasSuffix(name, "_html"):
		return plainHTML(v.Text), true
	default:
		return f.sentText(v.Text), true
	}
}

// sentID returns the ID that a body has for a reference.
func (v *Value) sentID(id IDResolver) (string, bool) {
	r := &v.Refs[0]
	if v.Field.sent == nil || r.Target == nil {
		return id(v.Field, r)
	}
	return v.Field.sent(r.Target, id)
}

// visibleHTML returns an HTML text that the service accepts: it refuses a text without visible content, such as a comment.
func visibleHTML(text string) string {
	if markup.Empty(text) {
		return markup.Nothing
	}
	return text
}

// sentText returns a text as it is sent. A text that may be an ID is sent in lower case, like all IDs.
func (f *Field) sentText(written string) string {
	if f.Pattern != "" && IsID(written) {
		return LowerID(written)
	}
	return written
}

// emptyValue returns the value that empties the field.
func (f *Field) emptyValue() any {
	switch f.Clear {
	case ClearParagraph:
		return markup.Nothing
	case ClearEmpty:
		if f.Type == EnumSet {
			return []string{}
		}
		return ""
	default:
		return nil
	}
}

// plainHTML returns a plain text as HTML, with a paragraph for each block of lines.
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
