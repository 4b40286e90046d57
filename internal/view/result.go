package view

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// shownResult is the result of a run, in the form of its JSON. The text shows the same steps and counts.
type shownResult struct {
	FormatVersion int          `json:"format_version"`
	Summary       statusCounts `json:"summary"`
	Interrupted   bool         `json:"interrupted"`
	Stopped       *string      `json:"stopped"`
	Steps         []stepResult `json:"steps"`
}

// statusCounts holds the number of steps of a run with each status.
type statusCounts struct {
	Done        int `json:"done"`
	Failed      int `json:"failed"`
	Blocked     int `json:"blocked"`
	Unknown     int `json:"unknown"`
	NotStarted  int `json:"not_started"`
	NotPossible int `json:"not_possible"`
}

// stepResult is the result of a step.
type stepResult struct {
	Address    resource.Address   `json:"address"`
	Action     planner.Action     `json:"action"`
	Status     string             `json:"status"`
	ID         *string            `json:"id"`
	Identifier *string            `json:"identifier"`
	Error      *string            `json:"error"`
	BlockedBy  *resource.Address  `json:"blocked_by"`
	Warnings   diag.List          `json:"warnings"`
	Position   *diag.Position     `json:"position"`
	Missing    []resource.Address `json:"missing,omitempty"`
	NotTaken   bool               `json:"not_taken,omitempty"` // the service answered without an error, but took none of the values

	of      *executor.StepResult
	did     planner.Action // the action that took place, such as Update for an object that was adopted and changed
	members int            // number of added, changed or removed members
}

// newShownResult returns the JSON form of a run's result.
func newShownResult(r *executor.Result) shownResult {
	shown := shownResult{
		FormatVersion: FormatVersion, Interrupted: r.Interrupted, Stopped: errorText(r.Stopped),
		Steps: make([]stepResult, len(r.Steps)),
	}
	n := map[string]int{}
	for i := range r.Steps {
		shown.Steps[i] = newStepResult(&r.Steps[i])
		n[shown.Steps[i].Status]++
	}
	shown.Summary = statusCounts{n["done"], n["failed"], n["blocked"], n["unknown"], n["not_started"], n["not_possible"]}
	return shown
}

func newStepResult(r *executor.StepResult) stepResult {
	s := r.Step
	shown := stepResult{
		Address: s.Address, Action: s.Action, Status: status(r), ID: diag.OrNull(cmp.Or(r.Outcome.ID, s.ID)),
		Identifier: diag.OrNull(r.Outcome.Identifier),
		Error:      errorText(r.Err), Warnings: stepWarnings(r), Position: diag.OrNull(s.Position), Missing: r.Missing, NotTaken: r.Outcome.NotTaken,
		of: r, did: s.Action,
	}
	if r.BlockedBy != nil {
		shown.BlockedBy = diag.OrNull(r.BlockedBy.Address)
	}
	if s.Action == planner.NotPossible && r.Err == nil {
		shown.Error = diag.OrNull(s.Reason())
	}
	switch {
	case r.Found():
		shown.did = planner.Adopt
	case s.Action == planner.Adopt && s.Changed():
		shown.did = planner.Update
	case s.Action == planner.AddMembers:
		shown.members = len(r.Outcome.Members) // the service may have dropped some
	case s.Members != nil:
		shown.members = max(0, len(s.Members.Items)-len(r.Missing))
	}
	return shown
}

// stepWarnings returns a step's warnings about the service's answers, and a warning about members that were left out.
func stepWarnings(r *executor.StepResult) diag.List {
	s, list := r.Step, diag.List{}
	for _, d := range r.Outcome.Warnings.OrEmpty() {
		if d.Address == "" {
			d.Address = string(s.Address)
		}
		if d.Position.IsZero() {
			d.Position = s.Position
		}
		list = append(list, d)
	}
	if n := len(r.Missing); n > 0 && r.Status == executor.Done {
		names := make([]string, n)
		for i, a := range r.Missing {
			names[i] = string(a)
		}
		list = append(list, diag.Diagnostic{
			Severity: diag.Warning, Code: "members-left-out", Position: s.Position, Address: containerAddress(s), Related: []diag.Related{},
			Summary: containerAddress(s) + ": " + diag.Count(n, memberNoun(s.Kind)) + " left out, not on the service: " +
				diag.First(names, fewMembers),
		})
	}
	return list
}

// Result shows the result of a plan's run. As text, completed steps and the counts go to standard output; problems and the
// next thing to do go to standard error.
func (v *View) Result(plan *planner.Plan, r executor.Result) error {
	shown := newShownResult(&r)
	if v.json {
		return v.print(stdout, func(p *printer) { p.document(shown) })
	}
	err := v.print(stdout, func(p *printer) { p.doneSteps(shown.Steps) })
	v.printError(func(p *printer) { p.problems(&r) })
	var warnings diag.List
	for i := range shown.Steps {
		warnings.Add(shown.Steps[i].Warnings...)
	}
	v.Diagnostics(warnings)
	return errors.Join(err, v.print(stdout, func(p *printer) { p.closing(plan, &shown) }),
		v.print(stderr, func(p *printer) { p.next(&r, shown.Summary) }))
}

// doneSteps lists the completed steps, one line for each object or membership. Without --full it lists only what the plan
// could not say: steps whose effect was found by a lookup, and the numbers of new work items.
func (p *printer) doneSteps(steps []stepResult) {
	type membership struct {
		container string
		kind      *resource.Kind
		action    planner.Action
	}
	var done []*stepResult
	for i := range steps {
		if s := &steps[i]; s.Status == "done" && !s.of.Step.Continues {
			done = append(done, s)
		}
	}
	for _, same := range gather(done, 1, func(s *stepResult) (membership, bool) {
		return membership{containerAddress(s.of.Step), s.of.Step.Kind, s.of.Step.Action}, s.of.Step.Members != nil
	}) {
		s, members := same[0], 0
		for _, batch := range same {
			members += batch.members
		}
		otherwise := slices.ContainsFunc(same, func(s *stepResult) bool { return s.of.Found() || s.of.Outcome.RecoveredByLookup })
		if !p.whole && !otherwise || s.of.Step.Members != nil && members == 0 {
			continue
		}
		symbol, color := p.symbol(s.did)
		p.line(color.paint(symbol), " ", s.carriedOut(members))
	}
	if numbers := numbersGiven(steps); !p.whole && numbers != "" {
		p.line(p.create.paint("+"), " created ", Safe(numbers))
	}
}

// carriedOut returns a completed step in words: "created work_item/web/shop as WEB-12". members is the number of members of a membership step.
func (sr *stepResult) carriedOut(members int) string {
	_, past, preposition := verb(sr.did, sr.of.Step.Members != nil)
	if preposition != "" {
		return past + " " + diag.Count(members, memberNoun(sr.of.Step.Kind)) + preposition + Safe(containerAddress(sr.of.Step))
	}
	text := past + " " + Safe(string(sr.Address))
	if sr.Action == planner.Create && sr.Identifier != nil {
		text += " as " + Safe(*sr.Identifier)
	}
	switch {
	case sr.of.Found():
		return text + " (another run had created it)"
	case sr.Action != sr.did:
		text += " (adopted)"
	}
	if sr.of.Outcome.RecoveredByLookup {
		text += " (the answer was lost; a check showed that it was done)"
	}
	return text
}

// numbersGiven returns the numbers of new work items by project: "WEB-1 to WEB-300".
func numbersGiven(steps []stepResult) string {
	type number struct {
		prefix string
		n      int
	}
	var numbers []number
	for i := range steps {
		s := &steps[i]
		if s.Status != "done" || s.Action != planner.Create || s.Identifier == nil || s.of.Outcome.RecoveredByLookup {
			continue
		}
		at := strings.LastIndexByte(*s.Identifier, '-') + 1
		if n, err := strconv.Atoi((*s.Identifier)[at:]); at > 0 && err == nil {
			numbers = append(numbers, number{(*s.Identifier)[:at], n})
		}
	}
	var ranges []string
	for _, of := range gather(numbers, 1, func(n number) (string, bool) { return n.prefix, true }) {
		least := func(a, b number) int { return a.n - b.n }
		first, last := slices.MinFunc(of, least), slices.MaxFunc(of, least)
		text := first.prefix + strconv.Itoa(first.n)
		if last.n > first.n {
			text += " to " + last.prefix + strconv.Itoa(last.n)
		}
		ranges = append(ranges, text)
	}
	return strings.Join(ranges, ", ")
}

// problems lists the failed steps and the steps without an answer, with the reason. Below each it lists the steps that it blocks.
func (p *printer) problems(r *executor.Result) {
	blocked, untried := map[*planner.Step][]*planner.Step{}, map[*planner.Step]int{}
	for i := range r.Steps {
		switch s := &r.Steps[i]; {
		case s.Untried:
			untried[s.BlockedBy]++
		case s.Status == executor.Blocked:
			blocked[s.BlockedBy] = append(blocked[s.BlockedBy], s.Step)
		}
	}
	var ended []*executor.StepResult
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Status == executor.Failed || s.Status == executor.Unknown {
			ended = append(ended, s)
		}
	}
	for _, same := range gather(ended, fewSame+1, failureKeyOf) {
		s := same[0]
		what := attempted(s.Step)
		if len(same) > 1 {
			what += " and " + diag.Count(len(same)-1, "other")
		}
		text := p.severity(diag.Error)
		if s.Status == executor.Failed {
			text += "could not " + what
		} else {
			text += "outcome unknown: " + what
		}
		if s.Err != nil {
			p.error(text+": ", s.Err, s.Step.Position)
		} else {
			p.line(text)
			p.position(s.Step.Position, "")
		}
		p.sameFailures(same, blocked, untried)
	}
	for i := range r.Steps { // steps that are blocked by a step that did not fail in this run
		s := &r.Steps[i]
		if _, left := blocked[s.BlockedBy]; s.Status != executor.Blocked || !left {
			continue
		}
		if s.BlockedBy == nil {
			p.line(p.severity(diag.Error), "steps were blocked")
		} else {
			p.line(p.severity(diag.Error), "steps were blocked by ", Safe(string(s.BlockedBy.Address)))
			p.position(s.BlockedBy.Position, "")
			p.hint(s.BlockedBy.Reason())
		}
		p.blocks(s.BlockedBy, blocked[s.BlockedBy])
		delete(blocked, s.BlockedBy)
	}
}

// fewSame is the maximum number of steps with the same failure that are reported one by one.
const fewSame = 3

// failureKey identifies failures of one operation for one reason, to report them together.
// Steps without an answer have a key too.
type failureKey struct {
	op     *resource.Operation
	status executor.Status
	reason string
}

// failureKeyOf returns the key of a failure. ok is false if the reason is not known.
func failureKeyOf(s *executor.StepResult) (k failureKey, ok bool) {
	k = failureKey{op: s.Step.Operation, status: s.Status}
	refused, known := errors.AsType[executor.Refusal](s.Err)
	switch {
	case s.Status == executor.Unknown && s.Err != nil:
		k.reason = s.Err.Error()
	case s.Status == executor.Failed && known:
		k.reason = refused.Refusal()
	}
	return k, k.reason != ""
}

// sameFailures lists the other steps of a group that failed for the same reason. It then counts the steps that were not
// tried because of the refusal, and lists the steps that the group blocks.
func (p *printer) sameFailures(failed []*executor.StepResult, blocked map[*planner.Step][]*planner.Step, untried map[*planner.Step]int) {
	for i, s := range failed[1:] {
		if i == fewSame && !p.whole {
			p.line("    ", p.dim.paint("… "+diag.Count(len(failed)-1-i, "more step")+"; --full names them"))
			break
		}
		if p.print("    ", attempted(s.Step)); s.Step.Position.IsZero() { // deleted objects have no position
			p.line()
		}
		p.position(s.Step.Position, "")
	}
	refused := 0
	var others []*planner.Step
	for _, f := range failed {
		refused += untried[f.Step]
		others = append(others, blocked[f.Step]...)
		delete(blocked, f.Step)
	}
	if refused > 0 {
		p.line("  not started: ", diag.Count(refused, "more step"), " of this kind: the service refused all earlier ones")
	}
	p.blocks(failed[0].Step, others)
}

// blocks names some of the steps that a failed step blocks. Blocked deletions stand apart if the
// failed step is no deletion, because its object may be one of these objects, moved.
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
	p.attempts(diag.Count(len(kept), "deletion")+" on hold, in case one of these objects is this one, moved", kept)
}

// attempts lists the first steps in words below a title, and counts the rest.
func (p *printer) attempts(title string, steps []*planner.Step) {
	const most = 10
	if len(steps) > 0 {
		p.line("  ", title, ":")
	}
	for i, s := range steps {
		if i == most && len(steps) > most+1 && !p.whole {
			p.line("    ", p.dim.paint("… "+diag.Count(len(steps)-most, "more step")+"; --full names them"))
			return
		}
		p.line("    ", attempted(s))
	}
}

// closing prints the result of the run in one line.
func (p *printer) closing(plan *planner.Plan, r *shownResult) {
	done, notTaken := map[planner.Action]int{}, 0
	for i := range r.Steps {
		switch s := &r.Steps[i]; {
		case s.Status != "done", s.of.Step.Continues:
		case s.NotTaken:
			notTaken++
		case s.did == planner.AddMembers || s.did == planner.RemoveMembers:
			done[s.did] += s.members
		default:
			done[s.did]++
		}
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
	t := r.Summary
	p.line(p.bold.paint("Applied:"), sentence(cmp.Or(changes, "nothing"), counts(
		count{t.Failed, "failed"}, count{t.Blocked, "blocked"}, count{t.Unknown, "unknown"}, count{t.NotStarted, "not started"},
		count{t.NotPossible, "not possible"}, count{notTaken, "not taken by the service"}, count{unchanged, "unchanged"},
	)))
}

// next prints the error that stopped the run, if any, and how to continue with the remaining steps.
func (p *printer) next(r *executor.Result, t statusCounts) {
	if r.Stopped != nil {
		p.error(p.severity(diag.Error), r.Stopped, diag.Position{})
	}
	var text string
	switch {
	case t.Unknown > 0:
		text = "run the same command again: it checks the requests without an answer first, then continues"
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
