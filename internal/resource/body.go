package resource

import (
	"bytes"
	"encoding/json"
	"html"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/markup"
)

// InV2 reports whether bodies of API v2 take all of the values, or their texts say them.
func InV2(values []*Value) bool {
	told := slices.ContainsFunc(values, func(v *Value) bool { return v.Header != "" })
	return !slices.ContainsFunc(values, func(v *Value) bool {
		return v.Field.nameIn(V2Dialect) == "" && !(v.Field.Header && told) && v.Field.Definition == nil
	})
}

// FromV2 is a row of API v2 under the names of API v1.
func (k *Kind) FromV2(row Row) Row {
	renamed := maps.Clone(row)
	for i := range k.Fields {
		f := &k.Fields[i]
		if name := f.nameIn(V2Dialect); name != "" && name != f.APIName() {
			if v, shown := row[name]; shown {
				renamed[f.APIName()] = v
			}
		}
	}
	return renamed
}

// DialectOf finds out from a row of the kind how the service names its fields; ok is false
// where the row does not show it.
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

// HasDialects reports whether editions differ in the names of the kind's fields.
func (k *Kind) HasDialects() bool {
	return slices.ContainsFunc(k.Fields, func(f Field) bool { return f.Required && f.Renamed() })
}

// Sendable lists the values that go into a body: those of fields that the API accepts and
// that no membership sets instead.
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

// ViaMembership reports whether a membership sets the field, not a body.
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

// Body is the JSON object of the values, in their order, followed by extra texts. A
// reference without an ID is left out of a list; a field with only such a reference is
// left out.
func Body(values []*Value, d Dialect, id IDResolver, extra ...[2]string) []byte {
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
	var objects []string // that hold fields, as they are met
	inner := map[string]map[string]any{}
	for _, v := range values {
		name := v.Field.nameIn(d)
		if name == "" {
			continue
		}
		value, ok := v.encoded(name, id)
		switch in := v.Field.Within; {
		case in != "":
			if inner[in] == nil {
				objects, inner[in] = append(objects, in), map[string]any{}
			}
			v.putWithin(inner[in], name, value)
		case ok:
			put(name, value)
		}
	}
	for _, in := range objects {
		put(in, inner[in])
	}
	for _, e := range extra {
		put(e[0], e[1])
	}
	b.WriteByte('}')
	return b.Bytes()
}

// putWithin puts a value into the object that holds it; an empty one is not in it.
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

// encoded is the value in a body under the given name; false = the field is left out.
func (v *Value) encoded(name string, id IDResolver) (any, bool) {
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
	case f.Type == EnumSet:
		return strings.Split(v.Text, ","), true
	case f.Type == Ref:
		ref, ok := v.sent(id)
		return ref, ok
	case f.Rich():
		text, _ := v.linked(id)
		return visible(text), true
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
		return f.text(v.Text), true
	}
}

// sent is the ID that stands for a reference in a body.
func (v *Value) sent(id IDResolver) (string, bool) {
	r := &v.Refs[0]
	if v.Field.SentAs == "" || r.Target == nil {
		return id(v.Field, r)
	}
	of, ok := r.Target.Value(v.Field.SentAs)
	if !ok || len(of.Refs) == 0 {
		return "", false
	}
	return id(of.Field, &of.Refs[0])
}

// visible is an HTML text as it is sent: the service refuses one without visible content, such as a comment.
func visible(text string) string {
	if markup.Empty(text) {
		return markup.Nothing
	}
	return text
}

// text is a text as it is sent: one that may be an ID is in lower case, like all IDs.
func (f *Field) text(written string) string {
	if f.Pattern != "" && IsID(written) {
		return LowerID(written)
	}
	return written
}

// cleared is the value that empties the field.
func (f *Field) cleared() any {
	switch f.Clear {
	case ClearParagraph:
		return markup.Nothing
	case ClearEmpty:
		if f.Type == EnumSet {
			return []string{}
		}
		return ""
	case ClearNull, ClearNever:
		return nil
	default:
		return nil
	}
}

// plainHTML is a plain text as HTML, with a paragraph for each block of lines.
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
