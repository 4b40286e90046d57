package resource

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// This file decides for plans, runs and exports how people name a row, and which of two equal rows is the original.

// Text returns the text in a field of the row, by its API name; "" = none.
func (r Row) Text(field string) string {
	text, _ := r[field].(string)
	return text
}

// Number returns the row's number within its project, such as 7 of WEB-7; 0 = none.
func (r Row) Number() int64 {
	number, _ := r["sequence_id"].(json.Number)
	n, _ := number.Int64()
	return n
}

// Older orders rows of one list by number, then by creation time, then by ID. The first one is the original.
func (r Row) Older(other Row) int {
	const created = "created_at"
	return cmp.Or(cmp.Compare(r.Number(), other.Number()), strings.Compare(r.Text(created), other.Text(created)),
		strings.Compare(r.ID(), other.ID()))
}

// ReadableID returns the readable identifier of a row, such as WEB-7, in the project with the given identifier, or of a project. "" = it is
// unknown, or the kind has none.
func (k *Kind) ReadableID(row Row, project string) string {
	number, numbered := row["sequence_id"].(json.Number)
	switch {
	case k.Identifier == nil:
		return ""
	case !k.Numbered():
		return row.Text(k.Identifier.APIName)
	case project == "" || !numbered:
		return ""
	default:
		return project + "-" + number.String()
	}
}

// DisplayTexts returns the names of a row, the best one first.
func (k *Kind) DisplayTexts(row Row) []string {
	var texts []string
	for _, n := range k.NaturalKey {
		raw := row[n]
		if f, ok := k.Field(n); ok && f.IsRef() { // a reference shows an ID
			continue
		} else if ok {
			raw, _ = row.Shown(f)
		}
		if shown, ok := raw.(string); ok && strings.TrimSpace(shown) != "" {
			texts = append(texts, strings.TrimSpace(shown))
		}
	}
	return texts
}

// SameNaturalKey reports whether a row has a natural key of the object, and the content of its file.
func (o *Object) SameNaturalKey(row Row, id IDResolver) bool {
	if o.Kind.Singleton {
		return true
	}
	same := func(name string) bool {
		v, ok := o.Value(name)
		if !ok {
			return false
		}
		want, complete := v.Desired(id)
		shown, known := v.Field.ObservedIn(row)
		return known && complete && shown == want && o.SameContent(row)
	}
	if o.Kind.NamedByAll() {
		return !slices.ContainsFunc(o.Kind.NaturalKey, func(name string) bool { return !same(name) })
	}
	return slices.ContainsFunc(o.Kind.NaturalKey, same)
}
