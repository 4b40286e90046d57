package planner

import (
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// findings are what is said of a manifest and its plan.
type findings struct{ diag.List }

// plural is what people call the kind's objects: the manifest's word, where it has one.
func plural(k *resource.Kind) string {
	if k.Section != "" {
		return strings.ReplaceAll(k.Section, "_", " ")
	}
	return diag.Plural(k.Noun())
}

// countOf puts a number before the kind's objects.
func countOf(n int, k *resource.Kind) string {
	if n == 1 {
		return "1 " + k.Noun()
	}
	return strconv.Itoa(n) + " " + plural(k)
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func them(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// verb is what one object does, or several do.
func verb(n int, does string) string {
	if n == 1 {
		return does + "s"
	}
	return does
}

// firstFew joins the first five of many texts.
func firstFew(texts []string, separator string) string {
	const few = 5
	if len(texts) <= few {
		return strings.Join(texts, separator)
	}
	return strings.Join(slices.Concat(texts[:few:few], []string{"and " + diag.Count(len(texts)-few, "other")}), separator)
}

// truncate shortens a text to its first line, for a message.
func truncate(text string) string {
	line, _, more := strings.Cut(text, "\n")
	if more {
		line += "…"
	}
	return "\"" + diag.Truncate(line, 61) + "\""
}

// union is what is in one of two lists, sorted.
func union(one, other []string) []string {
	if slices.Equal(one, other) {
		return one
	}
	all := slices.Concat(one, other)
	slices.Sort(all)
	return slices.Compact(all)
}

// join puts two remarks side by side.
func join(one, other string) string {
	if one == "" {
		return other
	}
	return one + ", and " + other
}

// report adds an error about an object.
func (f *findings) report(o *resource.Object, code, summary, hint string) {
	f.Add(diag.Diagnostic{Code: code, Position: o.Position, Address: string(o.Address), Summary: summary, Hint: hint})
}

// warn adds a warning about an object.
func (f *findings) warn(o *resource.Object, code, summary, hint string) {
	f.Add(diag.Diagnostic{Severity: diag.Warning, Code: code, Position: o.Position, Address: string(o.Address), Summary: summary, Hint: hint})
}

// notice adds a warning about the plan.
func (f *findings) notice(code, summary, hint string) {
	f.Add(diag.Diagnostic{Severity: diag.Warning, Code: code, Summary: summary, Hint: hint})
}

// displayTexts are the texts by which people call a record, its readable identifier among them.
func displayTexts(k *resource.Kind, row resource.Row) []string {
	var texts []string
	for _, n := range k.NaturalKey {
		raw := row[n]
		if f, ok := k.Field(n); ok {
			raw, _ = row.Shown(f)
		}
		if shown, ok := raw.(string); ok && strings.TrimSpace(shown) != "" {
			texts = append(texts, strings.TrimSpace(shown))
		}
	}
	return texts
}
