package cli

import (
	"fmt"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/planner"
)

// Beyond these, deletions are taken for a mistake, such as half a manifest, until somebody says their number.
const (
	mostDeletes = 50
	mostShare   = 4 // a quarter of what planform made
)

// deleteLimits are what a user says of deletions.
type deleteLimits struct {
	yes      bool
	most     int  // if limited
	limited  bool // --max-deletes is given
	reviewed bool // the plan is a saved one
	undo     bool // it takes back what runs created, and nothing else
}

// tooMany says why the deletions of a plan are too many, or "".
func (l deleteLimits) tooMany(plan *planner.Plan) string {
	switch n := plan.Summary.Delete; {
	case l.limited && n > l.most:
		return fmt.Sprintf("the plan deletes %s, more than --max-deletes %d", diag.Count(n, "object"), l.most)
	case !l.limited && !l.reviewed && !l.undo && (n > mostDeletes || mostShare*n > plan.CreatedByUs):
		return fmt.Sprintf("the plan deletes %s of %d that planform created", diag.Count(n, "object"), plan.CreatedByUs)
	}
	return ""
}

// check keeps an apply from deleting what nobody meant to lose. Deletions of a saved plan were reviewed.
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

// announce says what an apply of a plan will want to be told before it deletes anything. saved is where the plan is saved; "" = nowhere.
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
