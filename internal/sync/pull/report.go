package pull

import (
	"strings"

	"github.com/planform/planform/internal/plan/divergence"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// valueText quotes a value on one line for a finding.
func valueText(text *string) string {
	if text == nil {
		return "nothing"
	}
	return diag.Quote(strings.ReplaceAll(*text, "\n", ", "))
}

// addConflict reports a field that the manifest keeps.
func (t *taker) addConflict(d *divergence.Field) {
	f, a := d.Value.Field.Path(), string(d.Object.Address)
	f1 := diag.Diagnostic{
		Severity: diag.Warning, Code: "conflict", Position: placeOf(d.Value), Address: a,
		Summary: f + " of " + a + " is " + valueText(d.Change.After) + " in the manifest and " + valueText(d.Change.Before) +
			" on the service, and both changed since the last apply",
		Hint: "--theirs takes the service's value; planform apply sends the manifest's",
	}
	if d.Unknown {
		f1.Summary = f + " of " + a + " is " + valueText(d.Change.After) + " in the manifest and " + valueText(d.Change.Before) +
			" on the service, and no state tells which of them changed"
		f1.Hint += "; --state names a state file that is elsewhere"
	}
	t.result.Findings.Add(f1)
}

// placeOf returns the best position for a finding about a value: its only origin if it has one, else the place of the value.
func placeOf(v *resource.Value) diag.Position {
	if len(v.Origins) == 1 {
		return v.Origins[0]
	}
	return v.Position
}

// addRefusal reports a field that cannot be taken.
func (t *taker) addRefusal(d *divergence.Field, why string) {
	t.addNotTaken(&Value{Object: d.Object, Path: d.Value.Field.Path(), Position: placeOf(d.Value), After: d.Change.Before, origins: d.Value.Origins}, why)
}

// addNotTaken adds the finding for a value that is not taken.
func (t *taker) addNotTaken(v *Value, why string) {
	hint := "write it into the manifest yourself"
	switch {
	case v.Object.Outer != nil && v.Path == v.Object.Kind.ParentField:
		hint = "move it there in the manifest"
	case pageOf(v.Object) != "":
		hint = "change it yourself, or leave the field to people with ignore_changes"
	case len(v.origins) > 0:
		hint = "change it there, or leave the field to people with ignore_changes"
	case t.objectsAt[v.Object.Position] > 1:
		hint = "a template makes this object: change its list or table, or add the field to ignore_changes"
	}
	found := diag.Diagnostic{
		Severity: diag.Error, Code: "not-pulled", Position: v.Position, Address: string(v.Object.Address),
		Summary: v.Path + " of " + string(v.Object.Address) + " is not taken: " + why,
		Hint:    "the service has " + valueText(v.After) + ": " + hint,
	}
	if own, ok := v.Object.ValueAt(v.Path); ok && len(v.origins) == 1 && own.Position != v.Position {
		found.Related = append(found.Related, diag.Related{Position: own.Position, Note: "it is written at"})
	}
	for _, at := range v.origins {
		if at != v.Position {
			found.Related = append(found.Related, diag.Related{Position: at, Note: "a part of it is at"})
		}
	}
	t.result.Findings.Add(found)
}

// reportObjects adds findings about deleted and added objects.
func (t *taker) reportObjects() {
	for _, o := range t.Differences.Vanished {
		t.result.Findings.Add(diag.Diagnostic{
			Severity: diag.Warning, Code: "gone", Position: o.Position, Address: string(o.Address),
			Summary: string(o.Address) + " was deleted or archived on the service since the last apply",
			Hint:    "remove it from the manifest, or planform apply creates it again",
		})
	}
	t.reportUnmanaged()
}

// reportUnmanaged adds a note about objects in no manifest, one for each parent.
func (t *taker) reportUnmanaged() {
	for first := 0; first < len(t.Differences.Unmanaged); {
		parent := t.Differences.Unmanaged[first].Parent
		var counts []string
		for ; first < len(t.Differences.Unmanaged) && t.Differences.Unmanaged[first].Parent == parent; first++ {
			u := &t.Differences.Unmanaged[first]
			counts = append(counts, diag.Count(len(u.Names), u.Kind.Noun()))
		}
		d := diag.Diagnostic{
			Severity: diag.Note, Code: "unmanaged", Address: string(parent),
			Summary: "not in a manifest: " + strings.Join(counts, ", "), Hint: "planform export --to DIR writes manifests of them",
		}
		if parent.Kind() == "project" {
			d.Hint = "planform export --project " + t.Plan.Known[parent].Identifier + " --to DIR writes manifests of them"
		}
		t.result.Findings.Add(d)
	}
}
