package planner

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// definedValues resolves values of members' attributes that a workspace defines, such as custom roles.
type definedValues struct {
	analysis

	of map[string]string // by the text of the manifest
}

// value returns the attribute that a reference gives to a member, such as a role. For a value that the workspace defines it returns the
// slug. If the value cannot be resolved, it reports an error and returns the text of the manifest.
func (dv *definedValues) value(n reference, ref *resource.Reference) string {
	m := n.field.membership.Membership
	a, text := m.Attribute, ref.Attribute
	if a == nil || a.Defined == "" || text == "" || a.Known(text) {
		return text
	}
	if value, done := dv.of[text]; done {
		return value
	}
	value := text
	report := func(summary, hint string) {
		dv.diags.add(diag.Error, ref.Position, dv.in.Desired[n.by].Address, "unknown-name", summary, hint)
	}
	t, api := dv.objects.kind(a.Defined), dv.objects.kinds[n.field.membership].api
	rows, presence := dv.definitions(m)
	var names resource.Names
	for _, row := range rows {
		names.Add(resource.ByIdentifier, row.Text("slug"), row.ID())
		names.Add(resource.ByIdentifier, a.Shown(resource.Row{a.Name: row.Text("slug")}), row.ID())
		names.Add(resource.ByService, row.Text("name"), row.ID())
	}
	hits := names.Named(text)
	switch {
	case presence != exists || api != resource.V2:
		next := ", or use --api v2 where the service has it"
		switch {
		case presence == exists:
			next = ": API v2 does not show the members of " + plural(resource.MustLookup(m.Container)) + " here, and API v1 has no others"
		case dv.in.API == resource.V2 || dv.in.APIFound:
			next = ": without API v2, the service lists no others"
		}
		report("the "+a.Name+" "+diag.Quote(text)+" of "+ref.Text+" is not predefined, and only API v2 reads those that a workspace defines",
			cmp.Or(diag.DidYouMean(text, a.Values), "choose one of "+strings.Join(a.Values, ", ")+next))
	case len(hits) == 1:
		at := slices.IndexFunc(rows, func(row resource.Row) bool { return row.ID() == hits[0] })
		value = a.Shown(resource.Row{a.Name: rows[at].Text("slug")})
	case len(hits) > 1:
		report("the "+a.Name+" "+diag.Quote(text)+" of "+ref.Text+" is ambiguous: several have this name", "write its slug")
	default:
		report("the workspace has no "+a.Name+" "+diag.Quote(text)+" for "+plural(resource.MustLookup(m.Container)),
			chooseDefined(a, rows, text, t.kind.WhereMade))
	}
	dv.of[text] = value
	return value
}

// chooseDefined returns a hint for an unknown value: a similar value, else all values and the alternative orElse.
func chooseDefined(a *resource.Attribute, rows []resource.Row, text, orElse string) string {
	there := slices.Clone(a.Values)
	for _, row := range rows {
		if slug := a.Shown(resource.Row{a.Name: row.Text("slug")}); !slices.Contains(there, slug) {
			there = append(there, slug)
		}
	}
	words := slices.Clone(there)
	for _, row := range rows {
		if name := row.Text("name"); !slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(word, name) }) {
			words = append(words, name)
		}
	}
	if len(diag.Typo(text, words)) > 0 {
		return diag.Choose(text, words)
	}
	return diag.Choose(text, there) + "; " + orElse
}

// definitions returns the rows that define values of a membership's attribute in the workspace.
func (dv *definedValues) definitions(m *resource.Membership) ([]resource.Row, presence) {
	l, presence := dv.snapshot.list(dv.objects.kind(m.Attribute.Defined), noObject)
	if presence != exists {
		return nil, presence
	}
	return slices.DeleteFunc(slices.Clone(l.rows), func(row resource.Row) bool {
		return row.Text("namespace") != m.Container || row.Text("slug") == ""
	}), exists
}

// isLess reports whether a value of a membership's attribute is less than another value. Values that the workspace defines are compared by
// their levels, if these were read. The levels of the lowest and highest built-in values show whether a greater level means more.
func (dv *definedValues) isLess(m *resource.Membership, value, than string) bool {
	a := m.Attribute
	switch {
	case a == nil:
		return false
	case a.Defined == "" || a.Known(value) || !dv.snapshot.isListed(dv.objects.kind(a.Defined), noObject):
		return a.IsLess(value, than)
	}
	rows, _ := dv.definitions(m)
	levels := map[string]float64{}
	for _, row := range rows {
		if level, ok := row["level"].(json.Number); ok {
			levels[a.Shown(resource.Row{a.Name: row.Text("slug")})], _ = level.Float64()
		}
	}
	least, known := levels[a.Values[0]]
	most, alsoKnown := levels[a.Values[len(a.Values)-1]]
	is, has := levels[value]
	wanted, there := levels[than]
	if !known || !alsoKnown || !has || !there {
		return false
	}
	return least < most && is < wanted || least > most && is > wanted
}
