package view

import (
	"errors"
	"slices"
	"strings"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// tally counts how the steps of a run ended.
type tally struct {
	Done        int `json:"done"`
	Failed      int `json:"failed"`
	Blocked     int `json:"blocked"`
	Unknown     int `json:"unknown"`
	NotStarted  int `json:"not_started"`
	NotPossible int `json:"not_possible"`
}

func counted(r *executor.Result) tally {
	var t tally
	for i := range r.Steps {
		switch r.Steps[i].Status {
		case executor.Done:
			t.Done++
		case executor.Failed:
			t.Failed++
		case executor.Blocked:
			t.Blocked++
		case executor.Unknown:
			t.Unknown++
		case executor.NotStarted:
			if r.Steps[i].Step.Action == planner.NotPossible {
				t.NotPossible++
			} else {
				t.NotStarted++
			}
		}
	}
	return t
}

// Result shows how a run of a plan ended. As text, what was done goes to standard
// output, and what was not, with what to do about it, to standard error.
func (v *View) Result(plan *planner.Plan, r executor.Result) error {
	t := counted(&r)
	if v.o.JSON {
		return v.print(stdout, func(p *printer) { p.jsonResult(&r, t) })
	}
	err := v.print(stdout, func(p *printer) { p.accomplished(&r) })
	v.tell(func(p *printer) { p.problems(&r) })
	v.Diagnostics(warnings(&r))
	return errors.Join(err, v.print(stdout, func(p *printer) { p.closing(plan, &r, t) }), v.print(stderr, func(p *printer) { p.next(&r, t) }))
}

// accomplished lists what was done, a line for each thing and for each list of members.
func (p *printer) accomplished(r *executor.Result) {
	type batch struct{ members, at int }
	batches := map[batchKey]*batch{}
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Status == executor.Done && s.Step.Members != nil {
			key := batchOf(s.Step)
			if batches[key] == nil {
				batches[key] = &batch{at: i}
			}
			batches[key].members += membersDone(s)
		}
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Status != executor.Done {
			continue
		}
		sign, color := p.stepSigil(s.Step)
		if s.Step.Members == nil {
			p.paint(color, sign)
			p.str(" ")
			p.str(carriedOut(s))
			p.nl()
			continue
		}
		b := batches[batchOf(s.Step)]
		if b.at != i || b.members == 0 {
			continue
		}
		p.paint(color, sign)
		if s.Step.Action == planner.RemoveMembers {
			p.str(" removed " + diag.Count(b.members, memberNoun(s.Step)) + " from ")
		} else {
			p.str(" added " + diag.Count(b.members, memberNoun(s.Step)) + " to ")
		}
		p.safe(base(s.Step))
		p.nl()
	}
}

// problems lists what was not done and why, with the steps that it blocks below it.
func (p *printer) problems(r *executor.Result) {
	blocked := map[*planner.Step][]*planner.Step{}
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Status == executor.Blocked {
			blocked[s.BlockedBy] = append(blocked[s.BlockedBy], s.Step)
		}
	}
	same := sameFailures(r)
	for i := range r.Steps {
		s := &r.Steps[i]
		switch s.Status {
		case executor.Failed:
			of := same[keyOf(s)]
			if len(of) > fewSame && of[0] != s.Step {
				continue // told with the first
			}
			p.severity(diag.Error)
			p.str("could not " + attempted(s.Step))
			if len(of) > fewSame {
				p.str(" and " + diag.Count(len(of)-1, "other"))
			}
		case executor.Unknown:
			p.severity(diag.Error)
			p.str("not known whether it was done: " + attempted(s.Step))
		case executor.Done, executor.Blocked, executor.NotStarted:
			continue
		}
		if s.Err != nil {
			p.str(": ")
			p.words(s.Err.Error())
		} else {
			p.nl()
		}
		p.place(s.Step.Position, "")
		p.hint(diag.HintOf(s.Err))
		if of := same[keyOf(s)]; s.Status == executor.Failed && len(of) > fewSame {
			p.sameElse(of, blocked)
			continue
		}
		p.blocks(s.Step, blocked[s.Step])
		delete(blocked, s.Step)
	}
	for i := range r.Steps { // by what did not fail in this run
		s := &r.Steps[i]
		if _, left := blocked[s.BlockedBy]; s.Status != executor.Blocked || !left {
			continue
		}
		p.severity(diag.Error)
		if s.BlockedBy == nil {
			p.str("steps were blocked\n")
		} else {
			p.str("steps were blocked by ")
			p.safe(string(s.BlockedBy.Address))
			p.nl()
			p.place(s.BlockedBy.Position, "")
			p.hint(s.BlockedBy.Reason)
		}
		p.blocks(s.BlockedBy, blocked[s.BlockedBy])
		delete(blocked, s.BlockedBy)
	}
}

// fewSame is how many steps that failed for the same reason are told one by one.
const fewSame = 3

// failureKey is what failures of the same operation for the same reason share.
type failureKey struct {
	op     *resource.Operation
	reason string
}

func keyOf(s *executor.StepResult) failureKey {
	k := failureKey{op: s.Step.Operation}
	if refused, ok := errors.AsType[executor.Refusal](s.Err); ok {
		k.reason, _ = refused.Refusal()
	}
	return k
}

// sameFailures gathers the steps of an operation that failed for the same reason.
func sameFailures(r *executor.Result) map[failureKey][]*planner.Step {
	same := map[failureKey][]*planner.Step{}
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Status == executor.Failed {
			if k := keyOf(s); k.reason != "" {
				same[k] = append(same[k], s.Step)
			}
		}
	}
	return same
}

// sameElse names the first of the others that failed for the same reason, says how
// many of the operation were not tried, and what all of them block.
func (p *printer) sameElse(failed []*planner.Step, blocked map[*planner.Step][]*planner.Step) {
	for i, s := range failed[1:] {
		if i == fewSame {
			p.str("    ")
			p.paint(p.dim, "… "+diag.Count(len(failed)-1-i, "more step"))
			p.nl()
			break
		}
		p.str("    " + attempted(s))
		p.place(s.Position, "")
	}
	var untried, others []*planner.Step
	for _, f := range failed {
		for _, s := range blocked[f] {
			if s.Operation == f.Operation {
				untried = append(untried, s)
			} else {
				others = append(others, s)
			}
		}
		delete(blocked, f)
	}
	if n := len(untried); n > 0 {
		p.str("  not started: " + diag.Count(n, "more step") + " of this kind, since the service refuses them all\n")
	}
	p.blocks(failed[0], others)
}

// blocks names some of the steps that a failure blocks. What it keeps from being
// deleted, since it may be to replace it, is told apart.
func (p *printer) blocks(failed *planner.Step, steps []*planner.Step) {
	var others, kept []*planner.Step
	for _, s := range steps {
		if keeps(failed, s) {
			kept = append(kept, s)
		} else {
			others = append(others, s)
		}
	}
	if len(others) > 0 {
		p.str("  blocks " + diag.Count(len(others), "step") + ":\n")
		p.attempts(others)
	}
	if n := len(kept); n > 0 {
		p.str("  keeps " + diag.Count(n, "object") + " until this is done, in case it is one of them, moved:\n")
		p.attempts(kept)
	}
}

// keeps reports whether a step is a delete that waits for what may replace the thing.
func keeps(failed, s *planner.Step) bool {
	return s.Action == planner.Delete && failed != nil && failed.Action != planner.Delete
}

func (p *printer) attempts(steps []*planner.Step) {
	const most = 10
	for i, s := range steps {
		if i == most && len(steps) > most+1 {
			p.str("    ")
			p.paint(p.dim, "… "+diag.Count(len(steps)-most, "more step"))
			p.nl()
			return
		}
		p.str("    " + attempted(s))
		p.nl()
	}
}

// warnings gathers what the service did differently, and members that were left out.
func warnings(r *executor.Result) diag.List {
	var list diag.List
	for i := range r.Steps {
		s := &r.Steps[i]
		for _, d := range s.Outcome.Warnings {
			if d.Address == "" {
				d.Address = string(s.Step.Address)
			}
			if d.Position.IsZero() {
				d.Position = s.Step.Position
			}
			list.Add(d)
		}
		if n := len(s.Missing); n > 0 && s.Status == executor.Done {
			first := make([]string, min(n, fewMembers))
			for j := range first {
				first[j] = string(s.Missing[j])
			}
			names := strings.Join(first, ", ")
			if n > fewMembers {
				names += " and " + diag.Count(n-fewMembers, "other")
			}
			list.Add(diag.Diagnostic{
				Severity: diag.Warning, Code: "members-left-out", Position: s.Step.Position, Address: base(s.Step),
				Summary: base(s.Step) + ": " + diag.Count(n, memberNoun(s.Step)) + " left out, not on the service: " + names,
			})
		}
	}
	return slices.Clip(list)
}

// closing says in one line how the run ended.
func (p *printer) closing(plan *planner.Plan, r *executor.Result, t tally) {
	var created, updated, adopted, joined, left, deleted int
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Status != executor.Done {
			continue
		}
		switch s.Step.Action {
		case planner.Create:
			if s.Found() {
				adopted++
			} else {
				created++
			}
		case planner.Update:
			updated++
		case planner.Adopt:
			if s.Step.Changed() {
				updated++
			} else {
				adopted++
			}
		case planner.AddMembers:
			joined += membersDone(s)
		case planner.RemoveMembers:
			left += membersDone(s)
		case planner.Delete:
			deleted++
		case planner.NotPossible:
		}
	}
	p.paint(p.bold, "Applied:")
	separator, unchanged := " ", 0
	if plan != nil {
		unchanged = plan.Summary.Unchanged
	}
	part := func(n int, text string) {
		if n > 0 {
			p.str(separator)
			p.num(n)
			p.str(text)
			separator = ", "
		}
	}
	part(created, " created")
	part(updated, " updated")
	part(adopted, " adopted")
	part(joined, memberships(joined)+" added")
	part(left, memberships(left)+" removed")
	part(deleted, " deleted")
	if plan != nil {
		part(len(plan.StateChanges), " corrected in the state")
	}
	if separator == " " {
		p.str(" nothing")
	}
	separator = "; "
	part(t.Failed, " failed")
	part(t.Blocked, " blocked")
	part(t.Unknown, " unknown")
	part(t.NotStarted, " not started")
	part(t.NotPossible, " not possible")
	part(unchanged, " unchanged")
	p.str(".\n")
}

// next says what to do about what is left.
func (p *printer) next(r *executor.Result, t tally) {
	if r.Stopped != nil {
		p.severity(diag.Error)
		p.words(r.Stopped.Error())
		p.hint(diag.HintOf(r.Stopped))
	}
	text := ""
	switch {
	case t.Unknown > 0:
		text = "run the same command again: it first checks whether the requests without an answer took effect, then continues"
	case r.Interrupted:
		text = "interrupted; completed steps are recorded: run the same command again to continue"
	case t.Failed > 0 || t.Blocked > 0 || r.Stopped != nil:
		text = "correct the errors above and run the same command again: it continues with the rest"
	case t.NotStarted > 0:
		text = "run the same command again to continue"
	}
	if text != "" {
		p.paint(p.bold, "next:")
		p.str(" " + text + "\n")
	}
}
