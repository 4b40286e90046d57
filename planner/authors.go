package planner

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// activity is the kind whose list shows the history of its parent object.
const activity = "activity"

// Activities returns the reads that show who changed the drifted fields on the service, and when. [Plan.AnnotateAuthors] evaluates the
// answers.
func (p *Plan) Activities() (reads []Read) {
	for _, d := range p.Drift {
		if r, ok := p.listOf(resource.MustLookup(activity), d.Object); ok && !slices.Contains(reads, r) && len(reads) < maxSingleReads {
			reads = append(reads, r)
		}
	}
	if r, ok := p.listOf(people(), nil); ok && len(reads) > 0 {
		reads = append(reads, r)
	}
	return reads
}

// listOf returns the read of the objects of a kind in an object of the manifest (nil = the workspace); ok is false if there is none.
func (p *Plan) listOf(k *resource.Kind, in *resource.Object) (r Read, ok bool) {
	op, ok := k.Op(resource.List, p.API)
	if !ok || in != nil && in.Kind.Name != k.Parent {
		return Read{}, false
	}
	params := map[string]string{"workspace_slug": p.Workspace}
	for ; in != nil; in = in.Parent {
		params[in.Kind.Param] = p.Known[in.Address].ID
	}
	return readOf(op, params)
}

// people returns the kind of the actors that activities name.
func people() *resource.Kind {
	actor, _ := resource.MustLookup(activity).Field("actor")
	return resource.MustLookup(actor.Ref)
}

// AnnotateAuthors sets who changed each drifted field last and when, as far as the answers show it.
func (p *Plan) AnnotateAuthors(observed Observed) {
	names := map[string]string{}
	everybody, _ := p.listOf(people(), nil)
	for _, row := range observed[everybody].Rows {
		if texts := people().DisplayTexts(row); len(texts) > 0 {
			names[row.ID()] = texts[len(texts)-1]
		}
	}
	for _, d := range p.Drift {
		r, _ := p.listOf(resource.MustLookup(activity), d.Object)
		var newest time.Time
		for _, row := range observed[r].Rows {
			at, err := time.Parse(time.RFC3339, row.Text("created_at"))
			if row.Text("field") != activityField(d.Change.Path) || err != nil || at.Before(newest) {
				continue
			}
			newest, d.Change.At = at, at.UTC().Format(time.RFC3339)
			d.Change.Actor = resource.LowerID(row.Text("actor"))
			d.Change.By = cmp.Or(names[d.Change.Actor], row.Text("actor"))
		}
	}
}

// activityField returns the name that activities use for a field. They have one name for all formats of a text, and name the containers
// of an item in the plural.
func activityField(name string) string {
	name = strings.TrimPrefix(strings.TrimSuffix(name, "_html"), "relations.")
	if via, ok := resource.MembershipOf("work_item", name); ok && via.Membership.Inverse == "" {
		return diag.Plural(via.Membership.Container)
	}
	return name
}
