package resource

import (
	"strings"

	"github.com/planform/planform/internal/text/diag"
)

// Rule is a rule of the service that a value breaks.
type Rule struct {
	Value         *Value // the value that breaks it
	Summary, Hint string
}

// WillHave returns the canonical form of the value that an object will have in a field; known is false if it is unknown.
type WillHave func(*Field) (canonical string, known bool)

// of returns the value that an object will have in a field of its kind.
func (wh WillHave) of(k *Kind, field string) (canonical string, known bool) {
	f, _ := k.Field(field)
	return wh(f)
}

// Refused returns the rules of the service that the values of a request break. has returns the values that the object will have then.
func (o *Object) Refused(sent []*Value, has WillHave) (broken []Rule) {
	for _, v := range sent {
		f := v.Field
		if at := strings.IndexAny(v.Text, f.Forbidden); at >= 0 {
			broken = append(broken, Rule{
				v, "the service accepts no " + v.Text[at:at+1] + " in the " + f.Name + " of " + diag.A(o.Kind.Noun()), "leave these out: " +
					strings.Join(strings.Split(f.Forbidden, ""), " "),
			})
		}
	}
	if o.Kind.refuses != nil {
		broken = append(broken, o.Kind.refuses(o, sent, has)...)
	}
	return broken
}

// WhyNotArchived returns the reason why the service would not archive an object, or "". ends reports whether a day is over.
func (o *Object) WhyNotArchived(has WillHave, ends func(day string) bool) string {
	if o.Kind.whyNotArchived == nil {
		return ""
	}
	return o.Kind.whyNotArchived(o.Kind, has, ends)
}

// OfNew returns the value of a field after the manifest's object is created.
func (o *Object) OfNew(f *Field) (canonical string, known bool) {
	if v, given := o.Value(f.Name); given {
		return v.Desired(nil)
	}
	if f.Default == "" {
		return f.Initial, true
	}
	return f.Default, true
}

// Missing returns the fields that are missing to create the object.
func (o *Object) Missing() []string {
	var names []string
	if id := o.Kind.Identifier; id != nil && id.APIName != "" && o.Identifier == "" {
		names = append(names, "identifier")
	}
	for i := range o.Kind.Fields {
		if f := &o.Kind.Fields[i]; f.Required && f.Initial == "" && !o.Writes(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// HiddenIn returns the warning that the web app hides objects of the kind, because their feature flag is off in the parent.
func (k *Kind) HiddenIn(parent *Object) string {
	return strings.ReplaceAll(k.Section, "_", " ") + " are made in " + string(parent.Address) + " although its " + k.RequiresFeature +
		" is off: the web app hides them"
}
