package planner

import (
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// OnDrift says what becomes of a field that somebody changed on the service
// since the last apply, and that is not as the manifest wants it.
type OnDrift int

// Overwrite brings the field to what the manifest says, Keep leaves it as it is,
// and with Fail there is no plan while such a field is there.
const (
	Overwrite OnDrift = iota
	Keep
	Fail
)

// Drift is a field that somebody changed on the service since the last apply.
type Drift struct {
	Object *resource.Object
	Change *Change // Before is what the service has, After what the manifest wants
	Kept   bool    // it is left as it is
}

// recordDrift takes down which fields of an object somebody changed on the service.
func (b *builder) recordDrift(i int, d *difference) {
	o := b.in.Desired[i]
	for _, list := range []struct {
		changes []Change
		kept    bool
	}{{d.changes, false}, {d.unappliable, false}, {d.kept, true}} {
		for k := range list.changes {
			if c := &list.changes[k]; c.Origin == FromDrift {
				b.plan.Drift = append(b.plan.Drift, Drift{o, c, list.kept})
			}
		}
	}
	b.plan.Summary.Kept += len(d.kept)
}

// failOnDrift makes an error of every field that drifted.
func (b *builder) failOnDrift() {
	if b.in.OnDrift != Fail {
		return
	}
	for _, d := range b.plan.Drift {
		v, _ := d.Object.Value(d.Change.Path)
		now := "is empty"
		if d.Change.Before != nil {
			now = "is " + truncate(*d.Change.Before)
		}
		b.diags.Add(diag.Diagnostic{
			Code: "drift", Position: v.Position, Address: string(d.Object.Address),
			Summary: d.Change.Path + " of " + string(d.Object.Address) + " was changed on the service since the last apply: it " + now,
			Hint:    "copy the value into the manifest, or give --on-drift overwrite or keep",
		})
	}
}

// truncate shortens a text for a message.
func truncate(text string) string {
	const longest = 60
	text, _, more := strings.Cut(text, "\n")
	if r := []rune(text); len(r) > longest {
		text, more = string(r[:longest]), true
	}
	if more {
		text += "…"
	}
	return "\"" + text + "\""
}

// activity is the kind whose list tells what happened to the objects that it lives in.
const activity = "activity"

// Activities returns the reads that tell who changed on the service what
// drifted, and when. [Plan.AnnotateAuthors] takes the answers in.
func (p *Plan) Activities() []Read {
	const most = 60 // objects; a minute of the usual quota
	var reads []Read
	for _, d := range p.Drift {
		if r, ok := p.activities(d.Object); ok && !slices.Contains(reads, r) && len(reads) < most {
			reads = append(reads, r)
		}
	}
	if len(reads) > 0 {
		if r, ok := p.people(); ok {
			reads = append(reads, r)
		}
	}
	return reads
}

// activities is the read that tells what happened to an object.
func (p *Plan) activities(o *resource.Object) (Read, bool) {
	k := resource.MustLookup(activity)
	op, ok := k.Op(resource.List, p.API)
	if !ok || k.Parent != o.Kind.Name {
		return Read{}, false
	}
	params := map[string]string{"workspace_slug": p.Workspace}
	for ; o != nil; o = o.Parent {
		params[o.Kind.Param] = p.Known[o.Address].ID
	}
	path, missing := op.Expand(params)
	return Read{Operation: op, Path: path}, missing == ""
}

// people is the read that tells the names of those who do objects.
func (p *Plan) people() (Read, bool) {
	k := resource.MustLookup(activity)
	actor, ok := k.Field("actor")
	if !ok {
		return Read{}, false
	}
	op, ok := resource.MustLookup(actor.Ref).Op(resource.List, p.API)
	if !ok {
		return Read{}, false
	}
	path, missing := op.Expand(map[string]string{"workspace_slug": p.Workspace})
	return Read{Operation: op, Path: path}, missing == ""
}

// AnnotateAuthors says of every field that drifted who changed it last and when, as
// far as the answers tell.
func (p *Plan) AnnotateAuthors(observed Observed) {
	people := map[string]string{}
	if r, ok := p.people(); ok {
		for _, row := range observed[r].Rows {
			if names := displayTexts(resource.MustLookup(r.Operation.Kind), row); len(names) > 0 {
				people[row.ID()] = names[len(names)-1]
			}
		}
	}
	for _, d := range p.Drift {
		r, ok := p.activities(d.Object)
		if !ok {
			continue
		}
		var newest time.Time
		for _, row := range observed[r].Rows {
			// The log has one name for a field, however it is written.
			if field, _ := row["field"].(string); field != strings.TrimSuffix(d.Change.Path, "_html") {
				continue
			}
			text, _ := row["created_at"].(string)
			at, err := time.Parse(time.RFC3339, text)
			if err != nil || at.Before(newest) {
				continue
			}
			id, _ := row["actor"].(string)
			if newest, d.Change.By = at, people[resource.LowerID(id)]; d.Change.By == "" {
				d.Change.By = id
			}
			d.Change.At = at.UTC().Format(time.RFC3339)
		}
	}
}
