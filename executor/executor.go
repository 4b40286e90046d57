package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// Service carries out steps on the service, in several concurrent calls.
type Service interface {
	// Do carries out the steps of one [planner.Step.Batch] in their order, in as few requests as possible; a step without a batch comes
	// alone. It returns an attempt for each step; a refused step does not affect the others. Pending steps come again together. ids returns
	// the IDs of all existing objects. Do must return soon after ctx is cancelled. The errors of the attempts mean:
	//  - [*Pending]: ask again later.
	//  - wrapping [ErrOutcomeUnknown]: the request may or may not have been carried out.
	//  - wrapping [ErrAbortRun]: further requests are useless.
	//  - wrapping [ErrNotSent] or the context's error: nothing was sent, and the run ends.
	//  - wrapping [ErrUnsupported]: the service does not support the kind.
	//  - any other: the service refused the step, and nothing was done. A [Refusal]
	//    gives a reason that other steps may share.
	Do(ctx context.Context, steps []*planner.Step, ids IDs) []Attempt
}

// Attempt is the result of one call of [Service] for one step.
type Attempt struct {
	Outcome Outcome
	Err     error
}

// IDs returns the service's ID of an object of the manifest, if the object exists.
type IDs func(resource.Address) (id string, ok bool)

// Journal records intents and outcomes, so that after a crash the next run knows which requests may have been sent. Its methods are called
// concurrently. An error of any method ends the run.
type Journal interface {
	// Begin returns when the steps' intents would survive a crash of the machine. After an error, none of the steps begins or is completed:
	// the journal itself withdraws the intents already written. Steps without a request are not passed. A step that adds members is passed
	// twice if creates may add members before, see [planner.Step.Places]; its only outcome counts for both.
	Begin(ctx context.Context, steps []*planner.Step) error
	// Complete records the outcome of a step, or that it certainly did not happen. The outcome of a failed membership step contains the
	// members that were added or removed. An error that wraps [ErrOutcomeUnknown] leaves the intent open. A step that panicked is never
	// completed: its intent stays open too.
	Complete(step *planner.Step, outcome Outcome, err error) error
}

var (
	// ErrOutcomeUnknown marks a request that may or may not have been carried out.
	ErrOutcomeUnknown = errors.New("it is not known whether it took effect")
	// ErrAbortRun marks a failure after which further requests are useless, such as a refused credential or a full disk.
	ErrAbortRun = errors.New("the run was stopped")
	// ErrUnsupported marks a create that failed because the service lacks the operation. Objects that only refer to this one are sent
	// without the reference.
	ErrUnsupported = errors.New("this edition of the service has none of them")
	// ErrNotSent marks a step whose request was not sent because the run ends.
	ErrNotSent = errors.New("not begun")
)

// Pending is the error of a step whose outcome is not known yet. Other steps go on, and Do is called again with the step after the wait.
type Pending struct {
	After time.Duration // the wait
	Err   error         // the reason; wraps [ErrOutcomeUnknown] if this run sent the request
}

// Error returns the reason.
func (pn *Pending) Error() string { return pn.Err.Error() }

// Unwrap returns the reason.
func (pn *Pending) Unwrap() error { return pn.Err }

// Refusal is an error with the service's reason. Many refusals of one operation in one project for the same reason block its remaining
// steps.
type Refusal interface {
	error
	// Refusal returns the same text for the same reason; "" = other steps cannot share the reason.
	Refusal() string
}

// Outcome is the result of a step that succeeded.
type Outcome struct {
	// Record holds ID, Identifier, CreatedByUs and Values. For a membership step it holds the added or removed Members, even if the step
	// failed. Values go only to the journal: a Result has none.
	planner.Record
	Warnings          diag.List // contradictions between the answer and the request
	RecoveredByLookup bool      // the answer was lost, and a lookup found the object
	LeftOut           int       // number of fields from which the service dropped references
	NotTaken          bool      // the service dropped all of them
}

// Status is the final status of a step.
type Status int

// The statuses. NotStarted is the status of steps that the run did not reach because it ended early, and of steps that are not possible.
const (
	NotStarted Status = iota
	Done
	Failed
	Blocked
	Unknown // the request may or may not have been carried out
)

// StepResult is the result of a step.
type StepResult struct {
	Step    *planner.Step
	Status  Status
	Outcome Outcome // if Done
	Err     error   // if Failed or Unknown
	// BlockedBy is the root cause of a Blocked step: a failed or impossible step, never a blocked one; nil if the plan has none.
	BlockedBy *planner.Step
	// Untried is set for a Blocked step that could have begun: the service refuses its operation, beginning with BlockedBy.
	Untried bool
	// Missing lists the members that a membership step left out because their own steps failed.
	Missing []resource.Address
}

// Found reports whether a create found an object that another run had created.
func (sr *StepResult) Found() bool {
	return sr.Status == Done && sr.Step.Action == planner.Create && sr.Outcome.RecoveredByLookup && !sr.Outcome.CreatedByUs
}

// Result is the result of a run.
type Result struct {
	Steps       []StepResult // one for each step of the plan, in its order
	Interrupted bool         // the caller closed Stop or cancelled the context before all steps had ended
	Stopped     error        // the first error that ended the run early, wrapping ErrAbortRun; nil = none
}

// BoundAll reports whether the run completed, and created or adopted all objects that the plan creates or adopts. If a create failed, another
// run may have made the object.
func (r *Result) BoundAll() bool {
	return r.Stopped == nil && !r.Interrupted && !slices.ContainsFunc(r.Steps, func(s StepResult) bool {
		return (s.Step.Action == planner.Create || s.Step.Action == planner.Adopt) && s.Status != Done
	})
}

// EventType is the type of an event.
type EventType int

// The events. Each Started is followed by an Ended of the same step, with any number of SetAside between them. A blocked step has only
// Ended.
const (
	Started EventType = iota
	Ended
	SetAside
)

// Event reports progress of a run. The events of a run are delivered one at a time.
type Event struct {
	Type   EventType
	Step   *planner.Step
	Result StepResult    // of an Ended event
	Wait   time.Duration // of a SetAside event: time until the step resumes
	Done   int           // steps that have ended
	Total  int           // steps to carry out
}

// PanicError is a panic in a step. It fails the step, not the run.
type PanicError struct {
	Value any
	Stack []byte // for the debug log
}

// Error describes the panic without its stack.
func (p *PanicError) Error() string {
	return fmt.Sprintf("planform has a bug: %v; please report it with the output of --log-level debug", p.Value)
}

// Unwrap marks that the request of the step may have been sent.
func (p *PanicError) Unwrap() error { return ErrOutcomeUnknown }
