package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/disk"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// KeepSecretsOn sets the disk on which secrets are kept that the service shows once; without it the operating system's.
func (s *Service) KeepSecretsOn(d disk.Disk) { s.disk = d }

// reserve makes the file for the secret of an object that is to be created, empty and for its owner alone. It is there before
// the request is sent: so no secret comes that cannot be kept, and one that stays empty says that the secret was lost.
func (s *Service) reserve(step *planner.Step) error {
	file := step.Object.Secret()
	if file == nil {
		return nil
	}
	d := disk.Or(s.disk)
	switch kept, err := file.Kept(); {
	case err != nil:
		return fmt.Errorf("the secret cannot be kept in %s: %w", file.Path, err)
	case kept:
		return diag.WithHint(fmt.Errorf("%s has something in it, and is not overwritten with the new secret", file.Path), planner.SecretKeptHint)
	}
	err := disk.MakeFolder(d, filepath.Dir(file.Path))
	_ = d.Remove(file.Path) // an empty one, which others might be able to read
	if err == nil {
		err = disk.Write(d, file.Path, func(io.Writer) error { return nil })
	}
	if err != nil {
		return fmt.Errorf("the secret cannot be kept in %s: %w", file.Path, err)
	}
	return nil
}

// keep writes the secret into its file. The object is there already, so that failing to is a warning.
func (s *Service) keep(step *planner.Step, secret string, out *executor.Outcome) {
	file := step.Object.Secret()
	if file == nil {
		return
	}
	var err error
	switch {
	case secret == "":
		err = errors.New("the answer shows none")
	case strings.ContainsFunc(secret, func(r rune) bool { return !unicode.IsPrint(r) }):
		err = errors.New("it has line ends or other signs that no secret has") // which would mean something in a file such as .envrc
	default:
		err = disk.Write(disk.Or(s.disk), file.Path, func(w io.Writer) error {
			_, err := io.WriteString(w, secret+"\n")
			return err
		})
	}
	if err != nil {
		out.Warnings.Add(planner.SecretMissing(step.Object, err))
	}
}

// renew asks for a new secret of an object. It is sent once: who does not know what became of it cannot tell the last one from another.
func (w *write) renew(ctx context.Context, r row) (executor.Outcome, error) {
	step := r.step
	if err := w.reserve(step); err != nil {
		return executor.Outcome{}, failure(step, err)
	}
	res, err := w.client.Do(ctx, apiclient.Request{Operation: step.Operation, Params: r.params})
	if err != nil {
		if err = failure(step, err); errors.Is(err, executor.ErrOutcomeUnknown) {
			err = diag.WithHint(fmt.Errorf("the secret: %w: %w", planner.ErrSecretMayDiffer, err), planner.SecretLostHint)
		}
		return executor.Outcome{}, err
	}
	out := w.applied(step, r.params[step.Kind.Param], nil)
	w.keep(step, res.Secret, &out)
	return out, nil
}

// lostSecret looks for what a request for a secret left whose own answer was not the end of it: the secret of an object that a look-up found was
// lost with the answer, and without an object nothing is to be kept.
func (s *Service) lostSecret(step *planner.Step, a *executor.Attempt) {
	file := step.Object.Secret()
	renews := step.Operation != nil && step.Operation.Verb == resource.NewSecret
	if step.Action != planner.Create && !renews || file == nil || a.Err == nil && !a.Outcome.RecoveredByLookup {
		return
	}
	kept, err := file.Kept()
	_, pending := errors.AsType[*executor.Pending](a.Err)
	switch {
	case kept, pending, errors.Is(a.Err, executor.ErrOutcomeUnknown):
	case a.Err == nil:
		a.Outcome.Warnings.Add(planner.SecretMissing(step.Object, errors.Join(errors.New("it was lost with the answer"), err)))
	case err == nil:
		_ = disk.Or(s.disk).Remove(file.Path) // it is empty
	}
}
