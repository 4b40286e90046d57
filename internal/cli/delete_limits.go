package cli

import (
	"fmt"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// Limits without --max-deletes. A plan with more deletions is probably a mistake, such as half a manifest.
const (
	mostDeletes = 50
	mostShare   = 4 // a quarter of the objects that planform created
)

// deleteLimits holds the limits of deletions that the user sets.
type deleteLimits struct {
	yes      bool
	most     int  // if limited
	limited  bool // --max-deletes is given
	reviewed bool // the plan is a saved one
	undo     bool // the plan deletes only objects that the undone runs created
}

// tooMany returns the reason why the deletions of a plan are too many, or "". Only --max-deletes limits a reviewed plan.
func (l deleteLimits) tooMany(plan *planner.Plan) string {
	switch n := plan.Summary.Delete; {
	case l.limited && n > l.most:
		return fmt.Sprintf("the plan deletes %s, more than --max-deletes %d", diag.Count(n, "object"), l.most)
	case !l.limited && !l.reviewed && !l.undo && (n > mostDeletes || mostShare*n > plan.CreatedByUs):
		return fmt.Sprintf("the plan deletes %s of %d that planform created", diag.Count(n, "object"), plan.CreatedByUs)
	}
	return ""
}

// check returns an error if the plan deletes too many objects, or if it has neither --yes nor a terminal to ask on.
func (l deleteLimits) check(p Process, plan *planner.Plan) error {
	n := plan.Summary.Delete
	switch why := l.tooMany(plan); {
	case n == 0:
		return nil
	case why != "":
		return failure{diag.WithHint(fmt.Errorf("%s; nothing was done", why), fmt.Sprintf("if this is intended, give --max-deletes %d", n)), errTooMany}
	case !l.yes && !p.Streams.InTTY:
		return usageError{text: fmt.Sprintf("the plan deletes %s, and there is no terminal to ask on; nothing was done",
			diag.Count(n, "object")), hint: "--yes deletes without asking", code: "needs-yes"}
	}
	return nil
}

// announce returns a note about the flags with which an apply of the plan may delete objects. saved is the file of a saved plan, or "".
func (l deleteLimits) announce(plan *planner.Plan, saved string) (notices diag.List) {
	n := plan.Summary.Delete
	flags, apply := "--yes", "apply"
	if l.undo {
		apply = "undo"
	}
	l.reviewed = saved != ""
	switch {
	case n == 0:
		return nil
	case l.reviewed:
		apply = "apply " + saved
	case l.tooMany(plan) != "":
		flags = fmt.Sprintf("--max-deletes %d, and --yes", n)
	}
	if l.yes && flags == "--yes" {
		return nil
	}
	d := diag.Diagnostic{
		Severity: diag.Note, Code: "apply-needs",
		Summary: fmt.Sprintf("planform %s needs %s where there is no terminal to ask on, to delete %s", apply, flags, diag.Count(n, "object")),
	}
	if l.tooMany(plan) != "" {
		d.Hint = l.tooMany(plan) + "; a plan that was saved with --out and reviewed needs --yes only"
	}
	return diag.List{d}
}
