package cli

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/provider"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sync/doctor"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// access checks base URL, credential and workspace, and returns the API to use. It adds the answer that shows whether a wider API is
// available to observed.
func (c *connection) access(ctx context.Context, which string, observed planner.Observed) (resource.API, error) {
	in := doctor.Input{
		BaseURL: c.baseURL, Workspace: c.workspace, Credential: c.credential, Client: c.client, API: resource.V1,
		Redact: c.client.Redact,
	}
	if which == "documented" {
		in.API = resource.Documented
	}
	c.preflight = doctor.NewPreflight(in)
	err := c.preflight.Service(ctx)
	if which == "documented" && errors.Is(err, apiclient.ErrUnsupported) {
		err = diag.WithHint(err, "if the base URL is right, this edition lacks what the documented operations need: use --api auto")
	}
	if err != nil || which == "documented" {
		return resource.Documented, err
	}
	c.user = c.preflight.User()
	c.client.Name(c.user)
	api, err := provider.Detect(ctx, c.client, c.workspace, widest(which), observed)
	switch {
	case err == nil && which == "v2" && api != resource.V2:
		return api, diag.WithHint(errNoV2, "use --api v1, or --api auto to take what is there")
	case err == nil && api.Wide():
		return api, nil
	case err == nil, errors.Is(err, apiclient.ErrForbidden):
		if err := c.preflight.Workspace(ctx, cmp.Or(err, apiclient.ErrUnsupported)); err != nil {
			return resource.Documented, err
		}
		if which == "v1" || which == "v2" { // a later error reports a list that cannot be read
			return resource.V1, nil
		}
		return resource.Documented, nil
	default:
		return resource.Documented, err
	}
}

// errNoV2 is the error of a service that has only API v1.
var errNoV2 = errors.New("the service has no API v2")

// widest returns the widest API that a value of --api allows.
func widest(which string) resource.API {
	switch which {
	case "documented":
		return resource.Documented
	case "v1":
		return resource.V1
	default:
		return resource.V2
	}
}

// explain returns the cause of an error if the service refused a request: a wrong credential, a wrong workspace, or no access to the
// project. It returns other errors unchanged.
func (c *connection) explain(ctx context.Context, api, project string, err error) error {
	refused, ok := errors.AsType[*apiclient.Error](err)
	if !ok || !refused.Credential() && !refused.Permission() {
		return err
	}
	if _, problem := c.access(ctx, api, planner.Observed{}); problem != nil {
		return problem
	}
	if project == "" {
		return err
	}
	user := cmp.Or(c.user, "this user")
	return &doctor.ProblemError{Denied: true, Err: err, Check: doctor.Check{
		Summary: "the service gives no access to the project " + project + ": there is no such project, or " + user +
			" is not a member of it, or has too low a role in it",
		Hint: "check the identifier; or have an admin of the project add " + user,
	}}
}

// checkMembership returns an error if the user is not a member of a project in the manifest. It checks nothing if the list of projects was
// not read.
func (c *connection) checkMembership(observed planner.Observed, wanted []*resource.Object) error {
	for read, answer := range observed {
		if o := read.Operation; o.Kind == "project" && o.Verb == resource.List && !strings.Contains(read.Fields, "id") {
			return c.preflight.CheckMembership(answer.Rows, wanted)
		}
	}
	return nil
}
