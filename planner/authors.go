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
func (p *Plan) Activities() []Read {
	var reads []Read
	for _, d := range p.Drift {
		if r, ok := p.activities(d.Object); ok && !slices.Contains(reads, r) && len(reads) < maxSingleReads {
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
	return readOf(op, params)
}

// people returns the kind of the actors that activities name.
func people() *resource.Kind {
	actor, _ := resource.MustLookup(activity).Field("actor")
	return resource.MustLookup(actor.Ref)
}

func (p *Plan) people() (Read, bool) {
	op, ok := people().Op(resource.List, p.API)
	if !ok {
		return Read{}, false
	}
	return readOf(op, map[string]string{"workspace_slug": p.Workspace})
}

// AnnotateAuthors sets who changed each drifted field last and when, as far as the answers show it.
func (p *Plan) AnnotateAuthors(observed Observed) {
	people := map[string]string{}
	if r, ok := p.people(); ok {
		for _, row := range observed[r].Rows {
			if names := resource.MustLookup(r.Operation.Kind).DisplayTexts(row); len(names) > 0 {
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
			at, err := time.Parse(time.RFC3339, row.Text("created_at"))
			if row.Text("field") != activityField(d.Change.Path) || err != nil || at.Before(newest) {
				continue
			}
			newest, d.Change.At = at, at.UTC().Format(time.RFC3339)
			d.Change.Actor = resource.LowerID(row.Text("actor"))
			d.Change.By = cmp.Or(people[d.Change.Actor], row.Text("actor"))
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
