package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// wanted is a manifest: what a test wants to be on the service.
type wanted struct {
	t       testing.TB
	objects []*resource.Object
	byName  map[resource.Address]*resource.Object
	later   []func() // references to objects that are written further down
}

func want(tb testing.TB) *wanted {
	tb.Helper()
	return &wanted{t: tb, byName: map[resource.Address]*resource.Object{}}
}

// put adds an object by its address. What it lives in must be there already.
// fields are written as name=text; id= and identifier= are its identity, origin= that where it comes from,
// ignore_changes= and on_drift= its policy, name!
// clears a field, and in a list of references @ stands before an address.
func (wn *wanted) put(address resource.Address, fields ...string) *wanted {
	wn.t.Helper()
	wn.add(&resource.Object{Kind: resource.MustLookup(address.Kind()), Address: address}, fields...)
	return wn
}

func (wn *wanted) add(o *resource.Object, fields ...string) {
	wn.t.Helper()
	keys := strings.SplitN(o.Address.Path(), "/", depth(o.Kind))
	o.Key = keys[len(keys)-1]
	if o.Kind.Parent != "" {
		parent := resource.NewAddress(o.Kind.Parent, keys[:len(keys)-1]...)
		if o.Parent = wn.byName[parent]; o.Parent == nil {
			wn.t.Fatalf("%s lives in %s, which is not wanted", o.Address, parent)
		}
	}
	o.Files = presence()
	o.Position = diag.Position{File: "workspace.yaml", Line: 10 * (len(wn.objects) + 1), Column: 3}
	for _, text := range fields {
		name, value, given := strings.Cut(text, "=")
		switch name {
		case "id":
			o.ID = value
			continue
		case "identifier":
			o.Identifier = value
			continue
		case "origin":
			o.Origin = origin(value)
			continue
		case "ignore_changes":
			o.Policy = &resource.Policy{IgnoreAll: value == "all"}
			for name := range strings.SplitSeq(value, ",") {
				if f, ok := o.Kind.Field(name); ok {
					o.Policy.Ignore = append(o.Policy.Ignore, f)
				}
			}
			continue
		case "on_drift":
			o.Policy = &resource.Policy{OnDrift: value}
			continue
		}
		name, null := strings.CutSuffix(name, "!")
		field, ok := o.Kind.Field(name)
		if !ok || given == null {
			wn.t.Fatalf("%s: bad field %q", o.Address, text)
		}
		v := resource.Value{Field: field, Text: value, Null: null, Position: o.Position}
		v.Position.Line += len(o.Values) + 1
		o.Values = append(o.Values, v)
	}
	slices.SortStableFunc(o.Values, func(a, b resource.Value) int { return fieldIndex(o.Kind, a.Field) - fieldIndex(o.Kind, b.Field) })
	for i := range o.Values {
		v := &o.Values[i]
		if v.Field.IsRef() && v.Text != "" {
			wn.refer(v)
		}
		for _, text := range v.Addresses() {
			wn.later = append(wn.later, func() {
				to, ok := wn.byName[resource.Address(text)]
				if !ok {
					wn.t.Fatalf("%s is not wanted", text)
				}
				v.Links = append(v.Links, resource.Reference{Text: text, Target: to, Position: v.Position})
			})
		}
	}
	wn.objects = append(wn.objects, o)
	wn.byName[o.Address] = o
}

// origin is an object of another workspace, by its ID or identifier.
func origin(name string) *resource.Origin {
	o := &resource.Origin{Source: resource.Source{BaseURL: "https://there.example.com", Workspace: "there"}}
	if o.ID = name; !resource.IsID(name) {
		o.ID, o.Identifier = "", name
	}
	return o
}

func (wn *wanted) refer(v *resource.Value) {
	for text := range strings.SplitSeq(v.Text, ",") {
		r := resource.Reference{Text: strings.TrimPrefix(text, "@"), Position: v.Position}
		if resource.IsID(text) {
			r.ID = resource.LowerID(text)
		}
		v.Refs = append(v.Refs, r)
		if at := len(v.Refs) - 1; strings.HasPrefix(text, "@") {
			wn.later = append(wn.later, func() {
				o, ok := wn.byName[resource.Address(text[1:])]
				if !ok {
					wn.t.Fatalf("%s is not wanted", text)
				}
				v.Refs[at].Target = o
			})
		}
	}
}

// all returns the objects, their references resolved.
func (wn *wanted) all() []*resource.Object {
	for _, f := range wn.later {
		f()
	}
	wn.later = nil
	return wn.objects
}

func depth(k *resource.Kind) int {
	if k.Parent == "" {
		return 1
	}
	return 1 + depth(resource.MustLookup(k.Parent))
}

func fieldIndex(k *resource.Kind, f *resource.Field) int {
	return slices.IndexFunc(k.Fields, func(other resource.Field) bool { return other.Name == f.Name })
}

// uuid is the n-th ID of a sort, which is a hexadecimal digit.
func uuid(sort, n int) string {
	return fmt.Sprintf("%x0000000-0000-4000-8000-%012d", sort, n)
}
