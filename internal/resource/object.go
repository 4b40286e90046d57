package resource

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/markup"
)

// Object is one thing as the manifest wants it. Only fields that were written
// have a value.
type Object struct {
	Kind       *Kind
	Address    Address
	Key        string
	Parent     *Object  // what it lives in; nil = the workspace
	ID         string   // the service's ID where the manifest gives it, in lower case
	Identifier string   // the readable identifier where the manifest gives it
	Source     *Source  // what ID and Identifier belong to; nil = where the manifest goes
	Origin     string   // ID or identifier in the source, where that is another one
	Previously []string // keys that the thing had before
	Protect    *bool    // whether it is never to be deleted; nil = as it was said last
	NoCreate   bool     // the thing is to be there already
	Values     []Value  // in the order of the kind's fields
	Position   diag.Position
	Files      []string // the manifests that it stands in, sorted
	Outer      *Object  // the thing of the same kind inside which it is written, or nil
	Index      int      // its place in the list that it is written in
	Omitted    []Omission
}

// Value is what a manifest gives for one field.
type Value struct {
	Field    *Field
	Text     string // the text as written; for File the file's content; for JSON that
	Null     bool   // written as null, or as an empty text or list: the field is to be cleared
	HTMLFile bool   // for File: the content is HTML already
	Refs     []Reference
	Position diag.Position
}

// Reference names another thing: one of the manifest, or one of the service by ID or name.
type Reference struct {
	Text   string  // as written
	Target *Object // the thing of the manifest that it names; nil = one of the service
	ID     string  // the service's ID if the text is one, in lower case
	Source *Source // what the ID or a readable identifier belongs to; nil = where the manifest goes
	// Attribute is what the manifest says of the member of a membership that has an
	// attribute, such as its role; "" = nothing.
	Attribute string
	Position  diag.Position
}

// Protected reports whether the thing is never to be deleted, where the manifest
// does not say with what it said last.
func (o *Object) Protected(last bool) bool {
	if o.Protect == nil {
		return last
	}
	return *o.Protect
}

// Value returns what is given for the field of that name.
func (o *Object) Value(field string) (*Value, bool) {
	for i := range o.Values {
		if o.Values[i].Field.Name == field {
			return &o.Values[i], true
		}
	}
	return nil, false
}

// Text returns the text given for a field, or "".
func (o *Object) Text(field string) string {
	if v, ok := o.Value(field); ok {
		return v.Text
	}
	return ""
}

// Writes reports whether a value is given for a field, or for another one that is sent under the same name.
func (o *Object) Writes(f *Field) bool {
	return slices.ContainsFunc(o.Values, func(v Value) bool { return v.Field == f || f.APIName != "" && v.Field.APIName == f.APIName })
}

// Name is what people call the thing: the text of its natural key, else its key.
func (o *Object) Name() string {
	for _, f := range o.Kind.NaturalKey {
		if t := o.Text(f); t != "" {
			return t
		}
	}
	if o.Identifier != "" {
		return o.Identifier
	}
	return o.Key
}

// Ancestor returns the object itself or the ancestor that is of the kind.
func (o *Object) Ancestor(kind string) *Object {
	for ; o != nil; o = o.Parent {
		if o.Kind.Name == kind {
			return o
		}
	}
	return nil
}

// HTML returns the text of a rich field as the HTML that is sent.
func (v *Value) HTML() string {
	switch {
	case v.Field.Type == Markdown, v.Field.Type == File && !v.HTMLFile:
		return markup.HTML(v.Text)
	default:
		return v.Text
	}
}

// Stripped names the elements and attributes of a rich field that the service is known to remove.
func (v *Value) Stripped() []string {
	if !v.Field.Rich() || !strings.Contains(v.Text, "<") {
		return nil
	}
	return markup.Stripped(v.HTML())
}

// Lost names the elements and attributes of a rich field that a text which the
// service shows does without.
func (v *Value) Lost(shown string) []string { return markup.Lost(v.HTML(), shown) }

// IsID reports whether a text has the form of the service's IDs (a UUID, in either case).
func IsID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		c := text[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return false
			}
		}
	}
	return true
}

// LowerID is an ID as it is sent: the service misbehaves on upper case.
func LowerID(id string) string { return strings.ToLower(id) }
