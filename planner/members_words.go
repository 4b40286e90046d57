package planner

import (
	"maps"
	"slices"
	"strconv"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// definition is an object that defines a word for a membership, such as a custom relation, see [resource.Words].
type definition struct {
	object  objectID // noObject = the manifest does not list it
	id      string   // its ID, if it is known
	inverse string   // its word for the other direction
	cause   Cause    // set if there is no usable definition
}

// vocabulary holds the words for memberships that objects of the workspace define.
type vocabulary struct {
	analysis

	of map[*resource.Words]*words
}

// words holds the definitions of the manifest and of the service by their words.
type words struct {
	by      map[string][]definition
	renamed map[string]string // the new words of the manifest, by the words that the service has now
	cause   Cause             // set if the definitions cannot be read
}

// definitionOf returns the definition of a word.
func (vo *vocabulary) definitionOf(w *resource.Words, word string) definition {
	all := vo.wordsOf(w)
	found := all.by[word]
	switch kind := resource.MustLookup(w.Kind); {
	case len(found) == 1:
		return found[0]
	case all.cause.exists():
		return definition{object: noObject, cause: all.cause}
	case len(found) > 1:
		return definition{object: noObject, cause: refused("several " + plural(kind) + " say " + strconv.Quote(word))}
	default:
		var near []string
		for text := range all.by {
			near = append(near, text)
		}
		slices.Sort(near)
		why := "no " + kind.Noun() + " says " + strconv.Quote(word)
		if hint := diag.DidYouMean(word, near); hint != "" {
			why += ": " + hint
		}
		return definition{object: noObject, cause: refused(why)}
	}
}

func (vo *vocabulary) wordsOf(w *resource.Words) *words {
	if all, done := vo.of[w]; done {
		return all
	}
	t := vo.objects.kind(w.Kind)
	l, presence := vo.snapshot.list(t, noObject)
	all := &words{by: map[string][]definition{}, renamed: map[string]string{}}
	add := func(d definition, text func(field string) string) {
		said, inverse := w.Of(text)
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
		vo.of[w] = all
		return all
	}
	for _, row := range l.rows {
		if _, listed := vo.objects.owners[serviceID{t.kind.Name, row.ID()}]; !listed {
			add(definition{object: noObject, id: row.ID()}, row.Text)
		}
	}
	vo.of[w] = all
	return all
}

// inWords returns the row of a member with its word replaced by the manifest's, if the manifest renames it.
func (vo *vocabulary) inWords(a *resource.Attribute, row resource.Row) resource.Row {
	if to := vo.wordsOf(a.Words).renamed[a.Shown(row)]; to != "" {
		row = maps.Clone(row)
		row[a.Name] = to
	}
	return row
}
