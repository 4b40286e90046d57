package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Service carries out single steps on the service, several at the same time.
type Service interface {
	// Do makes the step's request and returns what came of it. ids knows the IDs of
	// everything that is there by now. Do must return soon after ctx is cancelled.
	// Its errors say:
	//   - [*Pending]: look again later; Do is then called again with the same step.
	//   - wrapping [ErrOutcomeUnknown]: the request may have been carried out, no answer says so.
	//   - wrapping [ErrAbortRun]: no further request makes sense.
	//   - wrapping [ErrNotSent] or the context's error: nothing was sent, the run is to end.
	//   - wrapping [ErrUnsupported]: the service has nothing of the kind.
	//   - any other: the service refused the step, it was not done. A [Refusal]
	//     gives a reason that other steps may share.
	Do(ctx context.Context, step *planner.Step, ids IDs) (Outcome, error)
}

// IDs tells the service's ID of a thing of the manifest.
type IDs func(resource.Address) (id string, ok bool)

// Journal keeps what is about to be done and what was done, so that a run which
// dies can be followed by one that knows. Its methods are called at the same
// time, and an error of either ends the run.
type Journal interface {
	// Begin returns when the steps' intents would survive a crash of the machine.
	// After an error none of them is begun, nor completed: the journal itself takes
	// back what it wrote of them. It is not called for steps that send nothing.
	Begin(ctx context.Context, steps []*planner.Step) error
	// Complete records what became of a step: an outcome, or that it certainly did
	// not happen; of a membership step that failed the outcome is who got in. An error that wraps [ErrOutcomeUnknown] leaves the intent open, as does
	// a step that is never completed, because it panicked.
	Complete(step *planner.Step, outcome Outcome, err error) error
}

var (
	// ErrOutcomeUnknown marks a request whose fate is not known.
	ErrOutcomeUnknown = errors.New("it is not known whether it took effect")
	// ErrAbortRun marks a failure after which no further request makes sense, such as a refused credential or a full disk.
	ErrAbortRun = errors.New("the run was stopped")
	// ErrUnsupported marks a create that failed since the service has no such
	// operation. What only refers to the object does without it.
	ErrUnsupported = errors.New("this edition of the service has none of them")
	// ErrNotSent marks a step of which nothing was sent since the run is to end.
	ErrNotSent = errors.New("not begun")
)

// Pending is the error of a step whose outcome is not known yet: it is set aside,
// others go on, and it is taken up again.
type Pending struct {
	After time.Duration // when to look again
	Err   error         // why; wraps [ErrOutcomeUnknown] if this run sent the request
}

// Error gives the reason.
func (p *Pending) Error() string { return p.Err.Error() }

// Unwrap gives the reason.
func (p *Pending) Unwrap() error { return p.Err }

// Refusal is an error for which the service names a reason. Steps of one operation
// in one project that are all refused for the same reason end the attempts at it.
type Refusal interface {
	error
	// Refusal is the same text for the same reason, "" = none that others could share;
	// denied says that it is one of permission, which hardly depends on the step.
	Refusal() (reason string, denied bool)
}

// Outcome is what came of a step that succeeded.
type Outcome struct {
	// Record is what the step found out: ID, Identifier, CreatedByUs, Values; of a membership
	// step Members, those that were added or removed, also if it failed then. Values are
	// for the journal, a Result does without.
	planner.Record
	Warnings          diag.List // where the answer contradicts the request
	RecoveredByLookup bool      // the answer got lost, and looking showed that it was done
}

// Status is how a step ended.
type Status int

// The statuses. NotStarted is what remains when a run ends early, and what a
// step that is not possible remains.
const (
	NotStarted Status = iota
	Done
	Failed
	Blocked
	Unknown // the request may or may not have been carried out
)

// StepResult is how one step ended.
type StepResult struct {
	Step    *planner.Step
	Status  Status
	Outcome Outcome // if Done
	Err     error   // if Failed or Unknown
	// BlockedBy is the step that failed or is not possible, if Blocked: not one that
	// it blocked in turn; nil if the plan has none. One of the same operation was
	// refused for a reason that the service gave to every other, too.
	BlockedBy *planner.Step
	// Missing lists members that a membership step had to leave out because their own step failed.
	Missing []resource.Address
}

// Found reports whether a create found that another run had created the thing.
func (r *StepResult) Found() bool {
	return r.Status == Done && r.Step.Action == planner.Create && r.Outcome.RecoveredByLookup && !r.Outcome.CreatedByUs
}

// Result is how a run ended.
type Result struct {
	Steps       []StepResult // one for each step of the plan, in its order
	Interrupted bool         // the caller closed Stop or cancelled the context before all was done
	Stopped     error        // the first error that ended the run early, wrapping ErrAbortRun; nil = none did
}

// EventType says what an event tells.
type EventType int

// The events. Each Started is followed by an Ended of its step, and maybe by
// SetAside before; one that is blocked has only Ended.
const (
	Started EventType = iota
	Ended
	SetAside
)

// Event is one thing that happened during a run. Events of one run are told one at a time.
type Event struct {
	Type   EventType
	Step   *planner.Step
	Result StepResult    // of an Ended event
	Wait   time.Duration // of a SetAside event: until it is taken up again
	Done   int           // steps that have ended
	Total  int           // steps that are to be carried out
}

// PanicError is a panic in a step, which fails the step and not the run.
type PanicError struct {
	Value any
	Stack []byte // for the debug log
}

// Error tells of the panic without its stack.
func (e *PanicError) Error() string {
	return fmt.Sprintf("planform has a bug: %v; please report it with the output of --log-level debug", e.Value)
}

// Unwrap says that the step's request may have been sent.
func (e *PanicError) Unwrap() error { return ErrOutcomeUnknown }
