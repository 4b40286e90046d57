package planner

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// definition is an object that defines a word for a membership, such as a custom relation, see [resource.Attribute.Words].
type definition struct {
	object  objectID // noObject = the manifest does not list it
	id      string   // its ID, if it is known
	inverse string   // its word for the other direction
	cause   Cause    // set if there is no usable definition
}

// vocabulary holds the values of members' attributes that a workspace defines: words, such as custom relations, and slugs, such as those of
// custom roles.
type vocabulary struct {
	analysis

	words map[*resource.Kind]*words
	slugs map[string]string // by the text of the manifest
}

// words holds the definitions of the manifest and of the service by their words.
type words struct {
	by      map[string][]definition
	renamed map[string]string // the new words of the manifest, by the words that the service has now
	cause   Cause             // set if the definitions cannot be read
}

// definitionOf returns the definition of a word by an object of a kind.
func (vo *vocabulary) definitionOf(kind *resource.Kind, word string) definition {
	all := vo.wordsOf(kind)
	found, cause := all.by[word], all.cause
	switch {
	case len(found) == 1:
		return found[0]
	case cause.exists():
	case len(found) > 1:
		cause = refused("several " + plural(kind) + " say " + strconv.Quote(word))
	default:
		cause = refused("no " + kind.Noun() + " says " + strconv.Quote(word))
		if hint := diag.DidYouMean(word, slices.Sorted(maps.Keys(all.by))); hint != "" {
			cause.Text += ": " + hint
		}
	}
	return definition{object: noObject, cause: cause}
}

func (vo *vocabulary) wordsOf(kind *resource.Kind) *words {
	if all, done := vo.words[kind]; done {
		return all
	}
	t := vo.objects.kind(kind.Name)
	l, presence := vo.snapshot.list(t, noObject)
	all := &words{by: map[string][]definition{}, renamed: map[string]string{}}
	vo.words[kind] = all
	add := func(d definition, text func(field string) string) {
		said, inverse := resource.RelationWords(text)
		for _, word := range slices.Compact(said) {
			d.inverse = inverse[word]
			all.by[word] = append(all.by[word], d)
		}
	}
	for i, o := range vo.objects.all() {
		if o.Kind != t.kind {
			continue
		}
		f := &vo.objects.states[i]
		add(definition{object: i, id: f.id}, func(field string) string {
			shown := f.row.Text(field)
			v, given := o.Value(field)
			if !given || o.Ignores(v.Field) && f.row != nil {
				return shown
			}
			if shown != "" {
				all.renamed[shown] = v.Text
			}
			return v.Text
		})
	}
	if presence != exists {
		all.cause = notOffered(true, lacks(plural(t.kind)).Text)
		return all
	}
	for _, row := range l.rows {
		if _, listed := vo.objects.owners[serviceID{t.kind.Name, row.ID()}]; !listed {
			add(definition{object: noObject, id: row.ID()}, row.Text)
		}
	}
	return all
}

// shown returns the attribute of a member in a row, or "". A word that the manifest renames is the new one.
func (vo *vocabulary) shown(a *resource.Attribute, row resource.Row) string {
	if a == nil || row == nil {
		return ""
	}
	text := a.Shown(row)
	if kind := a.Words(); kind != nil {
		return cmp.Or(vo.wordsOf(kind).renamed[text], text)
	}
	return text
}

// value returns the attribute that a reference gives to a member, such as a role. For a value that the workspace defines it returns the
// slug. If the value cannot be resolved, it reports an error and returns the text of the manifest.
func (vo *vocabulary) value(n reference, ref *resource.Reference) string {
	m := n.field.membership.Membership
	a, text := m.Attribute, ref.Attribute
	if a == nil || a.Words() != nil || text == "" || a.Known(text) {
		return text
	}
	if value, done := vo.slugs[text]; done {
		return value
	}
	vo.slugs[text] = text
	rows, slugs, presence := vo.definitions(m)
	var names resource.Names
	for i, row := range rows {
		names.Add(resource.ByIdentifier, row.Text("slug"), slugs[i])
		names.Add(resource.ByIdentifier, slugs[i], slugs[i])
		names.Add(resource.ByService, row.Text("name"), slugs[i])
	}
	hits := names.Named(text)
	quoted, all := a.Name+" "+diag.Quote(text), slices.Concat(a.Values, slices.DeleteFunc(slugs, a.Known))
	summary, hint := "the workspace has no "+quoted+" for "+plural(resource.MustLookup(m.Container)), diag.Choose(text, all)
	switch {
	case presence != exists || vo.objects.kinds[n.field.membership].api != resource.V2:
		summary = "the " + quoted + " of " + ref.Text + " is not predefined, and only API v2 reads those that a workspace defines"
		if hint = diag.DidYouMean(text, a.Values); hint == "" {
			hint = "choose one of " + strings.Join(a.Values, ", ") + "; for others, use --api v2 if the service shows members by it"
		}
	case len(hits) == 1:
		vo.slugs[text] = hits[0]
		return hits[0]
	case len(hits) > 1:
		summary, hint = "the "+quoted+" of "+ref.Text+" is ambiguous: several have this name", "write its slug"
	case len(diag.Typo(text, all)) == 0:
		hint += "; " + resource.MustLookup(a.Defined).WhereMade
	}
	vo.diags.add(diag.Error, ref.Position, vo.in.Desired[n.by].Address, "unknown-name", summary, hint)
	return text
}

// definitions returns the rows that define values of a membership's attribute in the workspace, and the value of each.
func (vo *vocabulary) definitions(m *resource.Membership) (rows []resource.Row, values []string, presence presence) {
	l, presence := vo.snapshot.list(vo.objects.kind(m.Attribute.Defined), noObject)
	for i := 0; presence == exists && i < len(l.rows); i++ {
		if row := l.rows[i]; row.Text("namespace") == m.Container && row.Text("slug") != "" {
			rows, values = append(rows, row), append(values, m.Attribute.Shown(resource.Row{m.Attribute.Name: row.Text("slug")}))
		}
	}
	return rows, values, presence
}

// isLess reports whether a value of a membership's attribute is less than another value. Values that the workspace defines are compared by
// their levels, if these were read. The levels of the lowest and highest built-in values show whether a greater level means more.
func (vo *vocabulary) isLess(m *resource.Membership, value, than string) bool {
	a := m.Attribute
	switch {
	case a == nil:
		return false
	case a.Words() != nil || a.Known(value) || !vo.snapshot.isListed(vo.objects.kind(a.Defined), noObject):
		return a.IsLess(value, than)
	}
	level := map[string]float64{}
	rows, values, _ := vo.definitions(m)
	for i, row := range rows {
		if number, ok := row["level"].(json.Number); ok {
			level[values[i]], _ = number.Float64()
		}
	}
	least, most := a.Values[0], a.Values[len(a.Values)-1]
	for _, word := range []string{least, most, value, than} {
		if _, known := level[word]; !known {
			return false
		}
	}
	return (level[most]-level[least])*(level[than]-level[value]) > 0
}
