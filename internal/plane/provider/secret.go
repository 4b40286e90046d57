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
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// KeepSecretsOn sets the disk that stores secrets, instead of the operating system's.
func (s *Service) KeepSecretsOn(d disk.Disk) { s.disk = d }

// reserveSecretFile creates the file for the secret of a new object, empty and readable only by its owner, before the request is sent. So
// every secret can be stored, and an empty file shows that the secret was lost.
func (s *Service) reserveSecretFile(step *planner.Step) error {
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
	_ = d.Remove(file.Path) // an empty file, which others might be able to read
	if err == nil {
		err = disk.Write(d, file.Path, func(io.Writer) error { return nil })
	}
	if err != nil {
		return fmt.Errorf("the secret cannot be kept in %s: %w", file.Path, err)
	}
	return nil
}

// storeSecret writes the secret into its file. A failure is only a warning, because the object exists already.
func (s *Service) storeSecret(step *planner.Step, secret string, out *executor.Outcome) {
	file := step.Object.Secret()
	if file == nil {
		return
	}
	var err error
	switch {
	case secret == "":
		err = errors.New("the answer shows none")
	case strings.ContainsFunc(secret, func(r rune) bool { return !unicode.IsPrint(r) }):
		err = errors.New("it has line ends or other signs that no secret has") // they would have a meaning in a file such as .envrc
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

// renewSecret asks for a new secret of an object. The request is sent only once, because without its answer the latest secret is unknown.
func (w *write) renewSecret(ctx context.Context, r row) (executor.Outcome, error) {
	step := r.step
	if err := w.reserveSecretFile(step); err != nil {
		return executor.Outcome{}, stepError(step, err)
	}
	res, err := w.client.Do(ctx, apiclient.Request{Operation: step.Operation, Params: r.params})
	if err != nil {
		if err = stepError(step, err); errors.Is(err, executor.ErrOutcomeUnknown) {
			err = diag.WithHint(fmt.Errorf("the secret: %w: %w", planner.ErrSecretMayDiffer, err), planner.SecretLostHint)
		}
		return executor.Outcome{}, err
	}
	out := w.appliedOutcome(step, r.params[step.Kind.Param], nil)
	w.storeSecret(step, res.Secret, &out)
	return out, nil
}

// cleanUpSecret handles a request for a secret without a usable answer: if a lookup found the object, it warns that the secret is lost; if
// the object was not created, it removes the empty file.
func (s *Service) cleanUpSecret(step *planner.Step, a *executor.Attempt) {
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
		_ = disk.Or(s.disk).Remove(file.Path) // the file is empty
	}
}
