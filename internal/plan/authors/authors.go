// Package authors finds out who changed the fields of a plan on the service, and when. People read this beside the changes; no step depends
// on it.
//
// It names the reads that it needs, at most 61, and makes no request. Where the answers do not show an author, there is none.
package authors

import (
	"cmp"
	"slices"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// maxReads limits the requests: 60 take a minute of the usual quota.
const maxReads = 60

// Reads returns the reads that show who changed the drifted fields on the service, and when. [Annotate] evaluates the answers.
func Reads(p *planner.Plan) (reads []planner.Read) {
	for _, d := range p.Drift {
		if r, ok := listOf(p, resource.Activities(), d.Object); ok && !slices.Contains(reads, r) && len(reads) < maxReads {
			reads = append(reads, r)
		}
	}
	if r, ok := listOf(p, resource.People(), nil); ok && len(reads) > 0 {
		reads = append(reads, r)
	}
	return reads
}

// listOf returns the read of the objects of a kind in an object of the manifest (nil = the workspace); ok is false if there is none.
func listOf(p *planner.Plan, k *resource.Kind, in *resource.Object) (r planner.Read, ok bool) {
	op, ok := k.Op(resource.List, p.API)
	if !ok || in != nil && in.Kind.Name != k.Parent {
		return planner.Read{}, false
	}
	params := map[string]string{"workspace_slug": p.Workspace}
	for ; in != nil; in = in.Parent {
		params[in.Kind.Param] = p.Known[in.Address].ID
	}
	path, missing := op.Expand(params)
	return planner.Read{Operation: op, Path: path}, missing == ""
}

// Annotate sets who changed each drifted field last and when, as far as the answers show it.
func Annotate(p *planner.Plan, observed planner.Observed) {
	names := map[string]string{}
	everybody, _ := listOf(p, resource.People(), nil)
	for _, row := range observed[everybody].Rows {
		if texts := resource.People().DisplayTexts(row); len(texts) > 0 {
			names[row.ID()] = texts[len(texts)-1]
		}
	}
	for _, d := range p.Drift {
		r, _ := listOf(p, resource.Activities(), d.Object)
		var newest time.Time
		for _, row := range observed[r].Rows {
			at, err := time.Parse(time.RFC3339, row.Text("created_at"))
			if row.Text("field") != resource.ActivityField(d.Change.Path) || err != nil || at.Before(newest) {
				continue
			}
			newest, d.Change.At = at, at.UTC().Format(time.RFC3339)
			d.Change.Actor = resource.LowerID(row.Text("actor"))
			d.Change.By = cmp.Or(names[d.Change.Actor], row.Text("actor"))
		}
	}
}
