package view

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// statusCounts counts how the steps of a run ended.
type statusCounts struct {
	Done        int `json:"done"`
	Failed      int `json:"failed"`
	Blocked     int `json:"blocked"`
	Unknown     int `json:"unknown"`
	NotStarted  int `json:"not_started"`
	NotPossible int `json:"not_possible"`
}

func countStatuses(r *executor.Result) statusCounts {
	var t statusCounts
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

// Result shows how a run of a plan ended. As text, what was done goes to standard output, only counted where it is as the plan
// said, and what was not, with what to do about it, to standard error.
func (v *View) Result(plan *planner.Plan, r executor.Result) error {
	t := countStatuses(&r)
	if v.o.JSON {
		return v.print(stdout, func(p *printer) { p.document(newJSONResult(&r, t)) })
	}
	err := v.print(stdout, func(p *printer) { p.doneSteps(&r) })
	v.printError(func(p *printer) { p.problems(&r) })
	v.Diagnostics(warnings(&r))
	return errors.Join(err, v.print(stdout, func(p *printer) { p.closing(plan, &r, t) }), v.print(stderr, func(p *printer) { p.next(&r, t) }))
}

// doneSteps lists what was done, a line for each object and for each list of members. Unless all is asked for, it is what the
// plan did not say: what came about in another way, and the numbers that the service gave.
func (p *printer) doneSteps(r *executor.Result) {
	members := map[batchKey]int{}
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Status == executor.Done && s.Step.Members != nil {
			members[batchOf(s.Step)] += membersDone(s)
		}
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Status != executor.Done || s.Step.Continues || !p.whole && !s.Found() && !s.Outcome.RecoveredByLookup {
			continue
		}
		n := 0
		if s.Step.Members != nil {
			if n = members[batchOf(s.Step)]; n == 0 {
				continue // none, or shown with the first batch
			}
			delete(members, batchOf(s.Step))
		}
		sign, color := p.stepSigil(s.Step)
		p.line(color.paint(sign), " ", carriedOut(s, n))
	}
	if numbers := numbersGiven(r); !p.whole && numbers != "" {
		p.line(p.create.paint("+"), " created ", Safe(numbers))
	}
}

// numbersGiven says, by project, which numbers the new work items got: WEB-1 to WEB-300.
func numbersGiven(r *executor.Result) string {
	type span struct{ first, last int }
	var prefixes []string
	spans := map[string]*span{}
	for i := range r.Steps {
		s := &r.Steps[i]
		at := strings.LastIndexByte(s.Outcome.Identifier, '-')
		if s.Status != executor.Done || s.Step.Action != planner.Create || s.Found() || s.Outcome.RecoveredByLookup || at < 0 {
			continue
		}
		prefix := s.Outcome.Identifier[:at+1]
		n, err := strconv.Atoi(s.Outcome.Identifier[at+1:])
		if err != nil {
			continue
		}
		if spans[prefix] == nil {
			prefixes, spans[prefix] = append(prefixes, prefix), &span{n, n}
		}
		spans[prefix].first, spans[prefix].last = min(spans[prefix].first, n), max(spans[prefix].last, n)
	}
	for i, prefix := range prefixes {
		prefixes[i] += strconv.Itoa(spans[prefix].first)
		if last := spans[prefix].last; last > spans[prefix].first {
			prefixes[i] += " to " + prefix + strconv.Itoa(last)
		}
	}
	return strings.Join(prefixes, ", ")
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
		alike := same[failureKeyOf(s)]
		many := len(alike) > fewSame
		text := p.severity(diag.Error)
		switch {
		case many && alike[0] != s.Step: // told with the first
			continue
		case many && s.Status == executor.Unknown:
			text += "not known whether they were done: " + attempted(s.Step) + " and " + diag.Count(len(alike)-1, "other")
		case many:
			text += "could not " + attempted(s.Step) + " and " + diag.Count(len(alike)-1, "other")
		case s.Status == executor.Failed:
			text += "could not " + attempted(s.Step)
		case s.Status == executor.Unknown:
			text += "not known whether it was done: " + attempted(s.Step)
		default:
			continue
		}
		if s.Err != nil {
			p.error(text+": ", s.Err, s.Step.Position)
		} else {
			p.line(text)
			p.position(s.Step.Position, "")
		}
		if many {
			p.alike(alike, blocked, s.Status == executor.Failed)
		} else {
			p.blocks(s.Step, blocked[s.Step])
			delete(blocked, s.Step)
		}
	}
	for i := range r.Steps { // by what did not fail in this run
		s := &r.Steps[i]
		if _, left := blocked[s.BlockedBy]; s.Status != executor.Blocked || !left {
			continue
		}
		if s.BlockedBy == nil {
			p.line(p.severity(diag.Error), "steps were blocked")
		} else {
			p.line(p.severity(diag.Error), "steps were blocked by ", Safe(string(s.BlockedBy.Address)))
			p.position(s.BlockedBy.Position, "")
			p.hint(s.BlockedBy.Reason)
		}
		p.blocks(s.BlockedBy, blocked[s.BlockedBy])
		delete(blocked, s.BlockedBy)
	}
}

// fewSame is how many steps that failed for the same reason are told one by one.
const fewSame = 3

// failureKey is what failures of the same operation for the same reason share, and what
// steps without an answer do.
type failureKey struct {
	op     *resource.Operation
	status executor.Status
	reason string
}

func failureKeyOf(s *executor.StepResult) failureKey {
	k := failureKey{op: s.Step.Operation, status: s.Status}
	refused, ok := errors.AsType[executor.Refusal](s.Err)
	switch {
	case s.Status == executor.Unknown && s.Err != nil:
		k.reason = s.Err.Error()
	case s.Status == executor.Failed && ok:
		k.reason, _ = refused.Refusal()
	}
	return k
}

// sameFailures gathers the steps of an operation that failed for the same reason.
func sameFailures(r *executor.Result) map[failureKey][]*planner.Step {
	same := map[failureKey][]*planner.Step{}
	for i := range r.Steps {
		if k := failureKeyOf(&r.Steps[i]); k.reason != "" {
			same[k] = append(same[k], r.Steps[i].Step)
		}
	}
	return same
}

// alike names the first of the others that ended for the same reason, says how
// many of an operation that is refused were not tried, and what all of them block.
func (p *printer) alike(failed []*planner.Step, blocked map[*planner.Step][]*planner.Step, refused bool) {
	for i, s := range failed[1:] {
		if i == fewSame {
			p.line("    ", p.dim.paint("… "+diag.Count(len(failed)-1-i, "more step")))
			break
		}
		if p.print("    ", attempted(s)); s.Position.IsZero() { // nothing that is deleted has one
			p.line()
		}
		p.position(s.Position, "")
	}
	untried := 0
	var others []*planner.Step
	for _, f := range failed {
		for _, s := range blocked[f] {
			if refused && s.Operation == f.Operation {
				untried++
			} else {
				others = append(others, s)
			}
		}
		delete(blocked, f)
	}
	if untried > 0 {
		p.line("  not started: ", diag.Count(untried, "more step"), " of this kind, since the service refuses them all")
	}
	p.blocks(failed[0], others)
}

// blocks names some of the steps that a failure blocks. What it keeps from being
// deleted, since it may be to replace it, is told apart.
func (p *printer) blocks(failed *planner.Step, steps []*planner.Step) {
	var others, kept []*planner.Step
	for _, s := range steps {
		if s.Action == planner.Delete && failed != nil && failed.Action != planner.Delete {
			kept = append(kept, s)
		} else {
			others = append(others, s)
		}
	}
	p.attempts("blocks "+diag.Count(len(others), "step"), others)
	p.attempts("keeps "+diag.Count(len(kept), "object")+" until this is done, in case it is one of them, moved", kept)
}

func (p *printer) attempts(title string, steps []*planner.Step) {
	const most = 10
	if len(steps) > 0 {
		p.line("  ", title, ":")
	}
	for i, s := range steps {
		if i == most && len(steps) > most+1 {
			p.line("    ", p.dim.paint("… "+diag.Count(len(steps)-most, "more step")))
			return
		}
		p.line("    ", attempted(s))
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
				Severity: diag.Warning, Code: "members-left-out", Position: s.Step.Position, Address: containerAddress(s.Step),
				Summary: containerAddress(s.Step) + ": " + diag.Count(n, memberNoun(s.Step)) + " left out, not on the service: " + names,
			})
		}
	}
	return slices.Clip(list)
}

// closing says in one line how the run ended.
func (p *printer) closing(plan *planner.Plan, r *executor.Result, t statusCounts) {
	done := map[planner.Action]int{}
	for i := range r.Steps {
		s := &r.Steps[i]
		action, n := s.Step.Action, 1
		switch {
		case s.Status != executor.Done, s.Step.Continues:
			continue
		case action == planner.Create && s.Found():
			action = planner.Adopt
		case action == planner.Adopt && s.Step.Changed():
			action = planner.Update
		case action == planner.AddMembers || action == planner.RemoveMembers:
			n = membersDone(s)
		}
		done[action] += n
	}
	stateChanges, unchanged := 0, 0
	if plan != nil {
		stateChanges, unchanged = len(plan.StateChanges), plan.Summary.Unchanged
	}
	changes := counts(
		count{done[planner.Create], "created"}, count{done[planner.Update], "updated"}, count{done[planner.Adopt], "adopted"},
		noun(done[planner.AddMembers], "membership").and("added"), noun(done[planner.RemoveMembers], "membership").and("removed"),
		count{done[planner.Delete], "deleted"}, count{stateChanges, "corrected in the state"},
	)
	p.line(p.bold.paint("Applied:"), sentence(cmp.Or(changes, "nothing"), counts(
		count{t.Failed, "failed"}, count{t.Blocked, "blocked"}, count{t.Unknown, "unknown"}, count{t.NotStarted, "not started"},
		count{t.NotPossible, "not possible"}, count{unchanged, "unchanged"},
	)))
}

// next says what to do about what is left.
func (p *printer) next(r *executor.Result, t statusCounts) {
	if r.Stopped != nil {
		p.error(p.severity(diag.Error), r.Stopped, diag.Position{})
	}
	var text string
	switch {
	case t.Unknown > 0:
		text = "run the same command again: it first checks whether the requests without an answer took effect, then continues"
	case r.Interrupted:
		text = "interrupted; completed steps are recorded: run the same command again to continue"
	case t.Failed > 0 || t.Blocked > 0 || r.Stopped != nil:
		text = "correct the errors above and run the same command again: it continues with the rest"
	case t.NotStarted > 0:
		text = "run the same command again to continue"
	default:
		return
	}
	p.line(p.bold.paint("next:"), " ", text)
}
