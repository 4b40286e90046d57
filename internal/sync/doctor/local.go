package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/text/diag"
)

// checkState checks the state file, without locking it.
func (ex *examination) checkState(ctx context.Context) {
	if ex.in.StatePath == "" {
		return
	}
	open := state.Options{BaseURL: ex.BaseURL, Workspace: ex.Workspace, Connect: ex.in.Connect}
	known, err := state.Read(ctx, ex.in.StatePath, open)
	switch {
	case err != nil:
		ex.add("state", Problem, diag.PlainText(err), diag.HintOf(err))
	case !known.Exists:
		ex.add("state", OK, ex.in.StatePath+" does not exist yet: the first apply creates it", "")
	default:
		ex.add("state", OK, fmt.Sprintf("%s has %s, serial %d, lineage %s", ex.in.StatePath, diag.Count(len(known.Prior()), "record"),
			known.Serial, known.Lineage), "")
	}
	if dir, yes := state.WritableByOthers(ex.in.StatePath); yes && !state.IsShared(ex.in.StatePath) {
		ex.add("state", Warning, "other users can change the files in "+dir, "chmod go-w "+dir)
	}
}

// checkManifest reports features that the manifest uses and the service does not offer.
func (ex *examination) checkManifest() {
	switch {
	case len(ex.in.Manifests) == 0:
		return
	case ex.in.Errors > 0:
		ex.add("manifest", Problem, diag.Count(ex.in.Errors, "error")+" in "+strings.Join(ex.in.Manifests, ", "),
			"run planform validate to see the errors")
		return
	}
	ex.Checks = append(ex.Checks, ex.notMember...)
	missing, denied := ex.unavailableKinds()
	if ex.Denied() && len(ex.Supported) == 0 || len(ex.notMember) > 0 {
		denied = nil // reported before
	}
	for _, kind := range slices.Sorted(maps.Keys(missing)) {
		at := missing[kind]
		ex.add("manifest", Problem, fmt.Sprintf("it uses %s in %s, first at %s; this edition does not support them", plural(kind),
			diag.Count(len(at), "place"), at[0]),
			"remove them, use another edition, or give --allow-unsupported")
	}
	for _, kind := range slices.Sorted(maps.Keys(denied)) {
		at := denied[kind]
		ex.addDenied("manifest", fmt.Sprintf("it uses %s in %s, first at %s; the credential may not read them", plural(kind),
			diag.Count(len(at), "place"), at[0]),
			ex.permissionHint())
	}
	if len(missing)+len(denied)+len(ex.notMember) == 0 {
		text := diag.Count(resource.Written(ex.in.Desired), "object") + ", no errors"
		if len(ex.Supported)+len(ex.Unsupported) > 0 {
			text += ", all supported by this edition"
		}
		ex.add("manifest", OK, text, "")
	}
}

// unavailableKinds returns the kinds of the manifest that the edition does not support, and the kinds that
// the manifest refers to by name but the credential may not read.
func (ex *examination) unavailableKinds() (missing, denied map[string][]diag.Position) {
	missing, denied = map[string][]diag.Position{}, map[string][]diag.Position{}
	note := func(kind string, byName bool, at diag.Position) bool {
		switch f, asked := ex.lists[kind]; {
		case !asked || f.err == nil:
			return false
		case isUnsupported(f.err):
			missing[kind] = append(missing[kind], at)
		case byName && errors.Is(f.err, apiclient.ErrForbidden):
			denied[kind] = append(denied[kind], at)
		}
		return true
	}
	for _, o := range ex.in.Desired {
		// A child of an unsupported object is reported with its parent.
		for up := o; up != nil && !note(up.Kind.Name, up.ID == "", o.Position); up = up.Parent {
		}
		for i := range o.Values {
			v := &o.Values[i]
			for j := range v.Refs {
				if r := &v.Refs[j]; r.Target == nil && r.ID == "" {
					note(v.Field.Ref, true, r.Position)
				}
			}
		}
	}
	return missing, denied
}
