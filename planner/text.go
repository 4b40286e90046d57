package planner

import (
	"slices"
	"strconv"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// findings is the list of errors and warnings about a manifest and its plan.
type findings struct{ diag.List }

// plural returns the plural noun of a kind, such as "work items".
func plural(k *resource.Kind) string { return diag.Plural(k.Noun()) }

func countOf(n int, k *resource.Kind) string {
	return strconv.Itoa(n) + " " + oneOr(n, k.Noun(), plural(k))
}

// oneOr returns the first word if n is 1, else the second.
func oneOr(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

func are(n int) string  { return oneOr(n, "is", "are") }
func them(n int) string { return oneOr(n, "it", "them") }

// fewNames is the number of names of a list that a message shows.
const fewNames = 5

func union(one, other []string) []string {
	if slices.Equal(one, other) {
		return one
	}
	all := slices.Concat(one, other)
	slices.Sort(all)
	return slices.Compact(all)
}

func join(one, other string) string {
	if one == "" {
		return other
	}
	return one + ", and " + other
}

func (f *findings) report(o *resource.Object, code, summary, hint string) {
	f.add(diag.Error, o.Position, o.Address, code, summary, hint)
}

func (f *findings) warn(o *resource.Object, code, summary, hint string) {
	f.add(diag.Warning, o.Position, o.Address, code, summary, hint)
}

func (f *findings) notice(code, summary, hint string) {
	f.add(diag.Warning, diag.Position{}, "", code, summary, hint)
}

func (f *findings) add(severity diag.Severity, position diag.Position, about resource.Address, code, summary, hint string) {
	f.Add(diag.Diagnostic{Severity: severity, Code: code, Position: position, Address: string(about), Summary: summary, Hint: hint})
}
