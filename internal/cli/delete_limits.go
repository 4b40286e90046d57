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

// checkDeleteLimits keeps an apply from deleting what nobody meant to lose.
func (o applyOptions) checkDeleteLimits(p Process, plan *planner.Plan) error {
	n := plan.Summary.Delete
	switch {
	case n == 0:
		return nil
	case o.limited && n > o.maxDeletes:
		return diag.WithHint(fmt.Errorf("the plan deletes %s, more than --max-deletes %d; nothing was done", diag.Count(n, "object"), o.maxDeletes), o.maxDeletesHint(n))
	case !o.limited && (n > mostDeletes || mostShare*n > plan.CreatedByUs):
		return diag.WithHint(fmt.Errorf("the plan deletes %s of %d that planform created; nothing was done", diag.Count(n, "object"), plan.CreatedByUs), o.maxDeletesHint(n))
	case !o.yes && (!p.Streams.InTTY || !p.Streams.ErrTTY):
		return usageError{text: fmt.Sprintf("the plan deletes %s, and there is no terminal to ask on; nothing was done", diag.Count(n, "object")), hint: "--yes deletes without asking"}
	}
	return nil
}

func (o applyOptions) maxDeletesHint(n int) string {
	return fmt.Sprintf("if this is intended, give --max-deletes %d", n)
}
