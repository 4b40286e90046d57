package planner

import (
	"errors"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// SecretKeptHint is the hint for a secret file that is not empty.
const SecretKeptHint = "move the file away if its secret is an old one, or name another secret_file"

// SecretLostHint is the hint for a secret that is in no file.
const SecretLostHint = "--new-secrets gets a new secret, and the old one stops working; or write the receiver's into the file" //nolint:gosec // no secret

// ErrSecretMayDiffer is the cause if a request without an answer may have replaced a secret.
var ErrSecretMayDiffer = errors.New("it may have changed")

// SecretMissing returns a warning that an object's secret is not in its file. cause is the reason, or nil.
func SecretMissing(o *resource.Object, cause error) diag.Diagnostic {
	why := ""
	if cause != nil {
		why = ": " + cause.Error()
	}
	return diag.Diagnostic{
		Severity: diag.Warning, Code: "secret-missing", Position: o.Position, Address: string(o.Address),
		Summary: "the secret of " + string(o.Address) + " is not in " + o.Secret().Path + why,
		Hint:    SecretLostHint,
	}
}

// warnSecrets reports secrets that are kept in no file, files that must not be overwritten, and files that lack their secret.
func (w *warnings) warnSecrets() {
	for i, o := range w.in.Desired {
		step, file := w.steps.of[i], o.Secret()
		creates := step != nil && step.Action == Create
		if file == nil {
			if creates && o.Kind.Secret != "" {
				d := diag.Diagnostic{
					Severity: diag.Warning, Code: "secret-not-kept", Position: o.Position, Address: string(o.Address),
					Summary: "the service shows the secret of " + string(o.Address) + " once, and it is kept nowhere",
					Hint:    "name a secret_file",
				}
				if w.in.Deletes != nil { // an undo does not know the secret file
					d.Summary = string(o.Address) + " gets a new secret, which is kept nowhere: a receiver that checks the old one refuses its events"
					d.Hint = "regenerate it in Plane afterwards, or undo without it and apply a manifest that names a secret_file"
				}
				w.diags.Add(d)
			}
			continue
		}
		switch {
		case creates && file.Filled && !step.Write.Announced: // if announced, the file may have the secret of the earlier create
			w.diags.Add(diag.Diagnostic{
				Severity: diag.Error, Code: "secret-file", Position: o.Position, Address: string(o.Address),
				Summary: file.Path + " is not empty, and is not overwritten with the secret of " + string(o.Address), Hint: SecretKeptHint,
			})
		case !creates && !file.Filled && w.objects.states[i].presence == exists && !w.changes.newSecrets[objectID(i)]:
			var cause error
			if w.objects.states[i].isInDoubt() {
				cause = ErrSecretMayDiffer
			}
			w.diags.Add(SecretMissing(o, cause))
		}
	}
}
