package remote

import (
	"errors"
	"fmt"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/planner"
)

// explained is an error with a next step.
type explained struct {
	error

	hint string
}

func (e explained) Unwrap() error { return e.error }

// Hint is what to do about it.
func (e explained) Hint() string { return e.hint }

// failure gives an error of the client the marks that the executor acts on.
func failure(step *planner.Step, err error) error {
	var e *apiclient.Error
	switch {
	case !errors.As(err, &e):
		return fmt.Errorf("%s: %w", step.Address, err)
	case e.Credential():
		return fmt.Errorf("%w: %w", executor.ErrStop, err)
	case errors.Is(err, apiclient.ErrStopped) && e.Fate == apiclient.NotDone:
		return fmt.Errorf("%w: %w", executor.ErrNotSent, err)
	case step.Action == planner.Create && e.RouteAbsent():
		return fmt.Errorf("%w: %w", executor.ErrUnsupported, err)
	case e.Fate == apiclient.Unknown:
		return unknownFate{err}
	default:
		return err
	}
}

// unknownFate marks an error that says itself that it is not known what the service did.
type unknownFate struct{ error }

func (e unknownFate) Unwrap() []error { return []error{executor.ErrUnknown, e.error} }

// stopping adds the mark of an error after which nothing more should be sent.
func stopping(err error) error {
	var e *apiclient.Error
	if errors.As(err, &e) && e.Credential() {
		return fmt.Errorf("%w: %w", executor.ErrStop, err)
	}
	return err
}

// gone reports whether the service says that what a request is about is not
// there. That the edition has no such route says nothing of that.
func gone(err error) bool {
	return errors.Is(err, apiclient.ErrNotFound) && !errors.Is(err, apiclient.ErrRouteAbsent)
}
