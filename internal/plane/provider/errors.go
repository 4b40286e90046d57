package provider

import (
	"errors"
	"fmt"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/planner"
)

// stepError converts an error of the client into the error on which the executor acts.
func stepError(step *planner.Step, err error) error {
	var e *apiclient.Error
	switch {
	case !errors.As(err, &e) && errors.Is(err, apiclient.ErrStopped): // through the file store
		return fmt.Errorf("%w: %w", executor.ErrNotSent, err)
	case e == nil:
		return fmt.Errorf("%s: %w", step.Address, err)
	case e.Credential():
		return fmt.Errorf("%w: %w", executor.ErrAbortRun, err)
	case errors.Is(err, apiclient.ErrStopped) && e.Effect == apiclient.NoEffect:
		return fmt.Errorf("%w: %w", executor.ErrNotSent, err)
	case step.Action == planner.Create && e.Unsupported():
		return fmt.Errorf("%w: %w", executor.ErrUnsupported, err)
	case e.Effect == apiclient.UnknownEffect:
		return unknownOutcome{err}
	default:
		return err
	}
}

// unknownOutcome adds [executor.ErrOutcomeUnknown] to an error without changing its text.
type unknownOutcome struct{ error }

func (u unknownOutcome) Unwrap() []error { return []error{executor.ErrOutcomeUnknown, u.error} }

// isNotFound reports whether the service says that an object does not exist. The error of an unsupported route does not count.
func isNotFound(err error) bool {
	return errors.Is(err, apiclient.ErrNotFound) && !errors.Is(err, apiclient.ErrUnsupported)
}
