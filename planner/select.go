package planner

import (
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// Targets are patterns of addresses, one of which an object must match to be planned.
// In a pattern * stands for any text within a key, ** for any text at all, and ?
// for one character, such as cycle/web/* or work_item/**. No targets are all objects.
type Targets []Target

// Target is one pattern.
type Target struct {
	Pattern string
	expr    *regexp.Regexp
}

// NewTarget makes a target of a pattern.
func NewTarget(pattern string) Target {
	var b strings.Builder
	b.WriteString("^")
	for rest := pattern; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			rest = rest[2:]
			continue
		case rest[0] == '*':
			b.WriteString("[^/]*")
		case rest[0] == '?':
			b.WriteString("[^/]")
		default:
			next := strings.IndexAny(rest, "*?")
			if next < 0 {
				next = len(rest)
			}
			b.WriteString(regexp.QuoteMeta(rest[:next]))
			rest = rest[next:]
			continue
		}
		rest = rest[1:]
	}
	b.WriteString("$")
	return Target{pattern, regexp.MustCompile("(?s)" + strings.ToValidUTF8(b.String(), "\uFFFD"))}
}

// Match reports whether an address is one of those that are meant.
func (t Targets) Match(a resource.Address) bool {
	return len(t) == 0 || slices.ContainsFunc(t, func(target Target) bool { return target.expr.MatchString(string(a)) })
}

// targeted reports whether an object is one of those that the plan is about.
func (in *Input) targeted(a resource.Address) bool { return in.Targets.Match(a) }

// Select returns the objects that match a target, with what they need: what they
// live in and what they name, and so on. What lives in them is not needed. known
// are further addresses that a target may mean, such as of what is to be deleted.
// A target that means nothing is an error.
func Select(desired []*resource.Object, targets Targets, known []resource.Address) ([]*resource.Object, diag.List) {
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
	needed := map[*resource.Object]bool{}
	var need func(o *resource.Object)
	need = func(o *resource.Object) {
		if o == nil || needed[o] {
			return
		}
		needed[o] = true
		need(o.Parent)
		for i := range o.Values {
			for k := range o.Values[i].Refs {
				need(o.Values[i].Refs[k].Target)
			}
		}
	}
	for _, o := range desired {
		if means(o.Address) {
			need(o)
		}
	}
	for _, a := range known {
		means(a)
	}
	var found diag.List
	for i, t := range targets {
		if !used[i] {
			found.Add(diag.Diagnostic{
				Code: "no-target", Summary: "no address of the manifest matches --target " + t.Pattern, Hint: nearTarget(t.Pattern, desired),
			})
		}
	}
	return slices.DeleteFunc(slices.Clone(desired), func(o *resource.Object) bool { return !needed[o] }), found
}

// nearTarget suggests addresses that a pattern was probably meant to match.
func nearTarget(pattern string, desired []*resource.Object) string {
	const most = 20_000 // beyond, comparing takes longer than anybody waits for a hint
	var all []string
	for _, o := range desired[:min(most, len(desired))] {
		all = append(all, string(o.Address))
	}
	if hint := diag.DidYouMean(pattern, all); hint != "" {
		return hint
	}
	kind, path, _ := strings.Cut(pattern, "/")
	if _, ok := resource.Lookup(kind); ok && path == "" {
		return "write " + kind + "/** for all of them"
	}
	var kinds []string
	for _, k := range resource.Kinds() {
		kinds = append(kinds, k.Name+"/"+path)
	}
	if hint := diag.DidYouMean(pattern, kinds); hint != "" {
		return hint
	}
	return "an address is a kind and keys, such as work_item/web/checkout; * stands for a key, ** for any"
}
