package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// checkGovernance reports what the workspace manages itself, above its projects, and what of the manifest is on the other level: the
// service would refuse it. Where nobody can tell, nothing is said.
func (e *examination) checkGovernance(ctx context.Context) {
	api := e.in.API
	if api == resource.V2 && !e.HasV2 {
		api = resource.V1
	}
	if f, asked := e.lists["project"]; !asked || f.err != nil {
		return
	}
	var managed []string
	shown := map[*resource.Operation]resource.Row{} // nil = it cannot be read
	for _, flag := range resource.MustLookup("governance").Fields {
		op, field, ok := resource.ReadGovernance(flag.Name, api)
		if !ok || e.quotaExhausted || !e.asksFor(flag.Name) {
			continue
		}
		if _, asked := shown[op]; !asked {
			shown[op] = nil
			if resp, err := e.ask(ctx, op); err == nil {
				shown[op] = resp.Row
			}
		}
		on, known := resource.FlagIn(shown[op], op, field)
		if known && on {
			managed = append(managed, resource.Governance{Flag: flag.Name}.Noun())
		}
		if known {
			e.reportElsewhere(flag.Name, on)
		}
	}
	if len(managed) > 0 {
		e.add("governance", OK, e.Workspace+" manages its "+strings.Join(managed, " and ")+
			" itself: a manifest lists them at its top level, and its projects use them by their names", "")
	}
}

// asksFor reports whether it matters what a flag says: without a manifest, or where that has what it is about.
func (e *examination) asksFor(flag string) bool {
	for _, o := range e.in.Desired {
		if o.Kind.Governance.Flag == flag {
			return true
		}
	}
	return len(e.in.Manifests) == 0
}

// reportElsewhere reports objects of the manifest that are on the level that does not manage them. Those that are there already may
// stay: only the plan knows.
func (e *examination) reportElsewhere(flag string, on bool) {
	var first *resource.Object
	n := 0
	for _, o := range e.in.Desired {
		if o.Kind.Governance.Flag == flag && o.Kind.Governance.Elsewhere(on) {
			if n++; first == nil {
				first = o
			}
		}
	}
	if first == nil {
		return
	}
	who, where := first.Kind.Governance.Managers(on)
	e.add("manifest", Warning, fmt.Sprintf("%s manages the %s of %s, and the manifest has %s on the other level, first at %s: the service refuses to write there",
		who, first.Kind.Governance.Noun(), e.Workspace, diag.Count(n, "object"), first.Position), "write them in "+where)
}
