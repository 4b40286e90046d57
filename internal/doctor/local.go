package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/state"
)

// checkState checks the state file, without locking it.
func (e *examination) checkState(ctx context.Context) {
	if e.in.StatePath == "" {
		return
	}
	open, shared := state.Options{BaseURL: e.BaseURL, Workspace: e.Workspace, Connect: e.in.Connect}, state.IsShared(e.in.StatePath)
	if err := writable(filepath.Dir(e.in.StatePath)); err != nil && !shared {
		e.add("state", Problem, e.in.StatePath+" cannot be written: "+diag.PlainText(err),
			"make the folder writable, or choose another place with --state")
		return
	}
	known, err := state.Read(ctx, e.in.StatePath, open)
	switch {
	case err != nil:
		e.add("state", Problem, diag.PlainText(err), diag.HintOf(err))
	case !known.Exists:
		e.add("state", OK, e.in.StatePath+" does not exist yet: the first apply creates it", "")
	default:
		e.add("state", OK, fmt.Sprintf("%s has %s, serial %d, lineage %s", e.in.StatePath, diag.Count(len(known.Prior()), "record"),
			known.Serial, known.Lineage), "")
	}
	if dir, yes := state.WritableByOthers(e.in.StatePath); yes && !shared {
		e.add("state", Warning, "other users can change the files in "+dir, "chmod go-w "+dir)
	}
	if holder, locked := state.LockedBy(ctx, e.in.StatePath, open); locked {
		e.add("lock", Warning, "the state is locked by "+holder.String(), "wait for that run to end, or give --lock-timeout")
	} else if err == nil {
		e.pendingRequests(known)
	}
}

// writable returns why files cannot be written in a folder, which need not exist yet. It writes nothing.
func writable(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case err == nil:
		if err := mayWrite(dir); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		return nil
	case errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir:
		return writable(filepath.Dir(dir))
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s is not a folder", filepath.Dir(dir))
	default:
		return err
	}
}

// pendingRequests reports requests without a known outcome.
func (e *examination) pendingRequests(known *state.Snapshot) {
	var open []string
	for address, r := range known.Prior() {
		if r.PendingIntent != nil {
			open = append(open, string(address))
		}
	}
	if len(open) == 0 {
		return
	}
	slices.Sort(open)
	e.add("journal", Warning, "the outcome of "+diag.Count(len(open), "request")+" is unknown: "+diag.First(open, 3),
		"the next plan checks on the service; if it cannot tell, use planform state resolve")
}

// checkManifest reports what the manifest uses and the service does not offer.
func (e *examination) checkManifest() {
	switch {
	case len(e.in.Manifests) == 0:
		return
	case e.in.Errors > 0:
		e.add("manifest", Problem, diag.Count(e.in.Errors, "error")+" in "+strings.Join(e.in.Manifests, ", "),
			"run planform validate to see the errors")
		return
	}
	e.Checks = append(e.Checks, e.notMember...)
	missing, denied := e.unavailableKinds()
	if e.Denied() && len(e.Supported) == 0 || len(e.notMember) > 0 {
		denied = nil // reported before
	}
	for _, kind := range slices.Sorted(maps.Keys(missing)) {
		at := missing[kind]
		e.add("manifest", Problem, fmt.Sprintf("it uses %s in %s, first at %s; this edition does not support them", plural(kind),
			diag.Count(len(at), "place"), at[0]),
			"remove them, use another edition, or give --allow-unsupported")
	}
	for _, kind := range slices.Sorted(maps.Keys(denied)) {
		at := denied[kind]
		op, _ := resource.MustLookup(kind).Op(resource.List, e.in.API)
		e.deny("manifest", fmt.Sprintf("it uses %s in %s, first at %s; the credential may not read them", plural(kind),
			diag.Count(len(at), "place"), at[0]),
			e.permissionHint(op.Scope))
	}
	if len(missing)+len(denied)+len(e.notMember) == 0 {
		text := diag.Count(resource.Written(e.in.Desired), "object") + ", no errors"
		if len(e.Supported)+len(e.Unsupported) > 0 {
			text += ", all supported by this edition"
		}
		e.add("manifest", OK, text, "")
	}
}

// unavailableKinds finds the kinds of the manifest that the edition does not support, and
// those that are used by name and that the credential may not read.
func (e *examination) unavailableKinds() (missing, denied map[string][]diag.Position) {
	missing, denied = map[string][]diag.Position{}, map[string][]diag.Position{}
	note := func(kind string, byName bool, at diag.Position) bool {
		switch f, asked := e.lists[kind]; {
		case !asked || f.err == nil:
			return false
		case unsupported(f.err):
			missing[kind] = append(missing[kind], at)
		case byName && errors.Is(f.err, apiclient.ErrForbidden):
			denied[kind] = append(denied[kind], at)
		}
		return true
	}
	for _, o := range e.in.Desired {
		// A child of something unsupported is told with its parent.
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
