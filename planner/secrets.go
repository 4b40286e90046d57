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
func (ch *changes) warnSecrets() {
	for i, o := range ch.in.Desired {
		step, file, f := ch.steps.of[i], o.Secret(), &ch.objects.states[i]
		switch creates := step != nil && step.Action == Create; {
		case file == nil && creates && o.Kind.Secret() != "" && ch.in.Deletes != nil: // an undo does not know the secret file
			ch.diags.warn(o, "secret-not-kept", string(o.Address)+" gets a new secret, which is kept nowhere: a receiver that checks the old one refuses its events",
				"regenerate it in Plane afterwards, or undo without it and apply a manifest that names a secret_file")
		case file == nil && creates && o.Kind.Secret() != "":
			ch.diags.warn(o, "secret-not-kept", "the service shows the secret of "+string(o.Address)+" once, and it is kept nowhere", "name a secret_file")
		case file == nil:
		case creates && file.Filled && !step.Write.Announced: // if announced, the file may have the secret of the earlier create
			ch.diags.report(o, "secret-file", file.Path+" is not empty, and is not overwritten with the secret of "+string(o.Address), SecretKeptHint)
		case !creates && !file.Filled && f.presence == exists && !ch.newSecrets[objectID(i)]:
			var cause error
			if f.inDoubt {
				cause = ErrSecretMayDiffer
			}
			ch.diags.Add(SecretMissing(o, cause))
		}
	}
}
