package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// Limits without --max-deletes. A plan with more deletions is probably a mistake, such as half a manifest.
const (
	mostDeletes = 50
	mostShare   = 4 // a quarter of the objects that planform created
)

// limits holds the limits that the user sets for the effects of a plan.
type limits struct {
	yes              bool
	deletes, notices limit
	reviewed         bool // the plan is a saved one
	undo             bool // the plan deletes only objects that the undone runs created
}

// limit is the largest number that the user allows.
type limit struct {
	most  int
	given bool
}

func newLimit(c *cli.Context, flag string) limit { return limit{c.Int(flag), c.IsSet(flag)} }

func (l limit) below(n int) bool { return l.given && n > l.most }

// exceeded returns the reason why a plan exceeds a limit and the flag that would allow it, or nothing. Without --max-deletes, a reviewed plan
// may delete any number.
func (ls limits) exceeded(plan *planner.Plan) (why, allow string, kind error) {
	n, told := plan.Summary.Delete, 0
	if plan.Summary.Notices != nil {
		told = plan.Summary.Notices.Notices
	}
	switch usual := ls.deletes.given || ls.reviewed || ls.undo || n <= mostDeletes && mostShare*n <= plan.CreatedByUs; {
	case ls.deletes.below(n):
		why = fmt.Sprintf("the plan deletes %s, more than --max-deletes %d", diag.Count(n, "object"), ls.deletes.most)
	case !usual:
		why = fmt.Sprintf("the plan deletes %s of %d that planform created", diag.Count(n, "object"), plan.CreatedByUs)
	case ls.notices.below(told):
		return fmt.Sprintf("the plan makes at least %s, more than --max-notices %d", diag.Count(told, "notice"), ls.notices.most),
			fmt.Sprintf("--max-notices %d", told), errTooManyNotices
	default:
		return "", "", nil
	}
	return why, fmt.Sprintf("--max-deletes %d", n), errTooManyDeletes
}

// check returns an error if the plan exceeds a limit, or if it deletes objects and has neither --yes nor a terminal to ask on.
func (ls limits) check(p Process, plan *planner.Plan) error {
	n := plan.Summary.Delete
	switch why, allow, kind := ls.exceeded(plan); {
	case why != "":
		return failure{diag.WithHint(fmt.Errorf("%s; nothing was done", why), "if this is intended, give "+allow), kind}
	case n > 0 && !ls.yes && !p.Streams.InTTY:
		return usageError{text: fmt.Sprintf("the plan deletes %s, but there is no terminal to ask on; nothing was done",
			diag.Count(n, "object")), hint: "--yes deletes without asking", code: "needs-yes"}
	}
	return nil
}

// noteNeededFlags returns a note about the flags, such as --yes, without which an apply with no terminal does not delete objects.
// saved is the file in which the plan is saved, or "".
func (ls limits) noteNeededFlags(plan *planner.Plan, saved string) (notices diag.List) {
	n := plan.Summary.Delete
	flags, apply := "--yes", "apply"
	if ls.undo {
		apply = "undo"
	}
	ls.reviewed, ls.notices = saved != "", limit{}
	why, allow, _ := ls.exceeded(plan)
	switch {
	case n == 0:
		return nil
	case ls.reviewed:
		apply = "apply " + saved
	case why != "":
		flags = allow + ", and --yes"
	}
	if ls.yes && flags == "--yes" {
		return nil
	}
	d := diag.Diagnostic{
		Severity: diag.Note, Code: "apply-needs",
		Summary: fmt.Sprintf("without a terminal, planform %s needs %s to delete %s", apply, flags, diag.Count(n, "object")),
	}
	if why != "" {
		d.Hint = why + "; a reviewed plan, saved with --out, needs only --yes"
	}
	return diag.List{d}
}
