// Package target selects the objects of a manifest that a run is limited to, by patterns of their addresses.
//
// An object is never selected without the objects that it needs. A pattern without a match is an error. The package must not know plans
// or the service.
package target

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// List is a list of address patterns. Only objects that match one of them are planned; without targets, all objects are.
// In a pattern, such as cycle/web/* or work_item/**, * stands for any text within a key, ** for any text, and ? for one character.
type List []Target

// Target is one pattern.
type Target struct {
	Pattern  string
	Contents bool // [Select] also selects the manifest's objects in or below the objects that match
	expr     *regexp.Regexp
}

// Patterns returns the patterns of the targets.
func (li List) Patterns() (patterns []string) {
	for _, t := range li {
		patterns = append(patterns, t.Pattern)
	}
	return patterns
}

// New returns the target of a pattern.
func New(pattern string) Target {
	expr := strings.NewReplacer(`\*\*`, ".*", `\*`, "[^/]*", `\?`, "[^/]").Replace(regexp.QuoteMeta(pattern))
	return Target{Pattern: pattern, expr: regexp.MustCompile("(?s)^" + strings.ToValidUTF8(expr, "\uFFFD") + "$")}
}

// Match reports whether an address matches a target, or there are no targets.
func (li List) Match(a resource.Address) bool {
	return len(li) == 0 || slices.ContainsFunc(li, func(t Target) bool { return t.expr.MatchString(string(a)) })
}

// Includes reports whether an object, or an object that it is in or below, is targeted.
func (li List) Includes(o *resource.Object) bool {
	for seen := map[*resource.Object]bool{}; o != nil && !seen[o]; { // seen ends the loop if parents form a cycle, which is reported elsewhere
		if li.Match(o.Address) || o.Parent != nil && li.Includes(o.Parent) {
			return true
		}
		seen[o] = true
		v, above := o.Value(o.Kind.ParentField)
		if o = nil; above && len(v.Refs) > 0 {
			o = v.Refs[0].Target
		}
	}
	return false
}

// Select returns the objects that match a target, and the objects that these need, see [WithNeeded].
// A target that matches neither an object nor an address in known is an error; known has, for example, the objects to delete.
func Select(desired []*resource.Object, targets List, known []resource.Address) ([]*resource.Object, diag.List) {
	if len(targets) == 0 {
		return desired, nil
	}
	used := make([]bool, len(targets))
	means := func(a resource.Address) bool {
		meant := false
		for i := range targets {
			if targets[i].expr.MatchString(string(a)) {
				used[i], meant = true, true
			}
		}
		return meant
	}
	var meant []*resource.Object
	for _, o := range desired {
		if means(o.Address) || targets[0].Contents && targets.Includes(o) {
			meant = append(meant, o)
		}
	}
	for _, a := range known {
		means(a)
	}
	var found diag.List
	for i, t := range targets {
		if !used[i] {
			found.Add(diag.Diagnostic{
				Code: "no-target", Summary: "no address of the manifest matches --target " + t.Pattern,
				Hint: similarTargets(t.Pattern, desired),
			})
		}
	}
	needed := map[*resource.Object]bool{}
	for _, o := range WithNeeded(meant) {
		needed[o] = true
	}
	return slices.DeleteFunc(slices.Clone(desired), func(o *resource.Object) bool { return !needed[o] }), found
}

// WithNeeded returns the given objects, their parents and the objects that they name, and the parents and references of these in turn.
// A parent comes before its children.
func WithNeeded(objects []*resource.Object) (all []*resource.Object) {
	seen := map[*resource.Object]bool{}
	var need func(o *resource.Object)
	need = func(o *resource.Object) {
		if o == nil || seen[o] {
			return
		}
		seen[o] = true
		need(o.Parent)
		all = append(all, o)
		for i := range o.Values {
			need(o.Values[i].Field.Definition)
			for k := range o.Values[i].Refs {
				need(o.Values[i].Refs[k].Target)
			}
		}
	}
	for _, o := range objects {
		need(o)
	}
	return all
}

func similarTargets(pattern string, desired []*resource.Object) string {
	const most = 20_000 // beyond, comparing takes longer than anybody waits for a hint
	var all []string
	for _, o := range desired[:min(most, len(desired))] {
		all = append(all, string(o.Address))
	}
	example := "label/web/bug"
	if len(all) > 0 {
		example = all[0]
	}
	return cmp.Or(diag.DidYouMean(pattern, all), "an address is KIND/KEY, such as "+example+"; * stands for a key, and KIND/** for all objects of a kind")
}

// MarshalText returns the pattern.
func (t Target) MarshalText() ([]byte, error) { return []byte(t.Pattern), nil }

// UnmarshalText reads a pattern.
func (t *Target) UnmarshalText(pattern []byte) error {
	*t = New(string(pattern))
	return nil
}
