package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/sync/doctor"
	"github.com/planform/planform/internal/sync/export"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
)

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitPending     = 2
	exitSteps       = 3
	exitCredentials = 4
	exitLocked      = 5
	exitUsage       = 64
	exitInterrupted = 130
)

const exitCodes = `Exit codes: 0 done, or nothing to do; 1 failed; 2 changes are pending (only with
--detailed-exitcode); 3 some steps failed, or something that the manifest wants
is not possible; 4 wrong credential, no permission, or no such workspace; 5 the
state is locked; 64 wrong usage; 130 interrupted.`

// usageError is an error in the command line, with a hint at the next step.
type usageError struct {
	text, hint string
	code       string // for programs; "" = usage
}

func (ue usageError) Error() string { return ue.text }

// Hint returns the next step.
func (ue usageError) Hint() string { return ue.hint }

// failure is an error with its own message and one of the kinds below.
type failure struct {
	error

	kind error
}

func (fl failure) Unwrap() []error { return []error{fl.error, fl.kind} }

// problemsError is the error of a doctor report with problems.
type problemsError struct {
	problems int
	denied   bool // a problem is about the credential or a permission
}

func (e problemsError) Error() string {
	return diag.Count(e.problems, "problem") + " found, see above"
}

func (e problemsError) Is(target error) bool { return e.denied && target == errCredentials }

// reportedError is an error that the user has already seen.
type reportedError struct{ error }

func (rp reportedError) Unwrap() error { return rp.error }

var (
	// errCredentials: the credential is missing or not usable.
	errCredentials = errors.New("no credential")
	// errPending: a plan has changes, and --detailed-exitcode is given.
	errPending = errors.New("changes are pending")
	// errSteps: some steps failed; the shown result names them.
	errSteps = errors.New("some steps failed")
	// errNotFound: the command line names a thing that does not exist.
	errNotFound = errors.New("not found")
	// errTooManyDeletes: the plan deletes more than is allowed.
	errTooManyDeletes = errors.New("too many deletions")
	// errTooManyNotices: the plan tells people more than is allowed.
	errTooManyNotices = errors.New("too many notices")
	// errNoLists: the command needs a wider API than the documented operations.
	errNoLists = errors.New("the documented operations cannot list the contents of a workspace")
	// errDenied: the export is incomplete because the credential lacks a permission.
	errDenied = errors.New("the export is incomplete: the credential may not read everything")
	// errInterrupted: a signal ended the run. Without [reportedError] around it, nothing was changed.
	errInterrupted = errors.New("interrupted")
	// errReported: the user has already seen the errors.
	errReported = errors.New("there are errors")
)

// finish shows an error unless it was shown before, and returns the exit code.
func finish(p Process, json bool, err error) int {
	code, name := classify(err)
	switch {
	case err == nil, errors.Is(err, errPending), errors.Is(err, errSteps), errors.Is(err, errReported):
		return code
	}
	if _, ok := errors.AsType[reportedError](err); ok {
		return code
	}
	format := "text"
	if json {
		format = "json"
	}
	v := view.New(view.NewOptions(p.Streams, "auto", format, p.Getenv))
	if code == exitInterrupted {
		v.Notef("interrupted; nothing was changed")
		return code
	}
	v.Error(name, err)
	return code
}

// classify returns the exit code of an error, and its code in JSON, which docs/compatibility.md lists.
func classify(err error) (exit int, code string) {
	wrong, misused := errors.AsType[usageError](err)
	refused, _ := errors.AsType[*apiclient.Error](err)
	problem, _ := errors.AsType[*doctor.ProblemError](err)
	switch {
	case err == nil:
		return exitDone, ""
	case misused, has[*export.UnknownWordError](err):
		return exitUsage, cmp.Or(wrong.code, "usage")
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		return exitInterrupted, "" // finish prints a note
	case errors.Is(err, errPending):
		return exitPending, ""
	case has[*state.LockedError](err):
		return exitLocked, "locked"
	case errors.Is(err, errCredentials), refused != nil && refused.Credential():
		return exitCredentials, "credential"
	case errors.Is(err, errDenied), problem != nil && problem.Denied, refused != nil && refused.Permission():
		return exitCredentials, "denied"
	case errors.Is(err, errSteps):
		return exitSteps, ""
	case errors.Is(err, errTooManyDeletes):
		return exitFailed, "too-many-deletes"
	case errors.Is(err, errTooManyNotices):
		return exitFailed, "too-many-notices"
	case errors.Is(err, errStale):
		return exitFailed, "stale-plan"
	case errors.Is(err, errNotFound), errors.Is(err, apiclient.ErrNotFound):
		return exitFailed, "not-found"
	case has[*apiclient.ConnectionError](err), has[*url.Error](err), has[*net.OpError](err):
		return exitFailed, "unreachable" // also if the cause is a file, such as a certificate
	case has[*fs.PathError](err), has[*os.LinkError](err):
		return exitFailed, "file" // before net.Error, since the system's error numbers implement it too
	case has[net.Error](err):
		return exitFailed, "unreachable"
	case refused != nil, problem != nil:
		return exitFailed, "service"
	default:
		return exitFailed, "failed"
	}
}

// has reports whether an error, or an error that it wraps, has the type E.
func has[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
