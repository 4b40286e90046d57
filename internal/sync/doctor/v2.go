package doctor

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// checkV2 reports whether the service has an API v2, and which operations of a run it lacks.
func (ex *examination) checkV2(ctx context.Context) {
	projects, asked := ex.lists["project"]
	if ex.in.API != resource.V2 || !asked || projects.err != nil || ex.quotaExhausted {
		return
	}
	const name = "API v2"
	user := resource.MustLookup("member")
	probe, _ := user.Op(resource.ProbeV2, resource.V2)
	resp, err := ex.request(ctx, probe)
	refused, _ := errors.AsType[*apiclient.Error](err)
	switch {
	case err == nil && resp.Row.ID() != "":
		ex.HasV2 = true
	case err != nil && (refused == nil || refused.Status < 400 || refused.Status >= 500 || refused.Status == 429 || refused.Credential()):
		ex.add(name, Warning, "cannot tell whether there is one: "+diag.PlainText(err), "--api v1 does not ask")
		return
	case ex.in.APIChosen:
		ex.add(name, Problem, "there is none, and --api v2 was given", "use --api v1, or --api auto to take what is there")
		return
	default:
		ex.add(name, OK, "there is none: each object takes a request of its own", "")
		return
	}
	const available = "available: up to 50 objects share a request"
	var paths map[string]any
	if !ex.quotaExhausted {
		schema, _ := user.Op(resource.DescribeV2, resource.V2)
		if resp, err := ex.request(ctx, schema); err == nil {
			paths, _ = resp.Row["paths"].(map[string]any)
		}
	}
	switch missing, known := missingV2(paths); {
	case !known:
		ex.add(name, OK, available+"; it does not say which operations it has: where one is missing, objects are sent one by one", "")
	case len(missing) == 0:
		ex.V2Unsupported = []string{}
		ex.add(name, OK, available, "")
	default:
		for _, op := range missing {
			ex.V2Unsupported = append(ex.V2Unsupported, op.String())
		}
		ex.add(name, OK, available+"; it lacks "+diag.Count(len(missing), "operation"),
			"--output json names them; planform uses API v1 or more requests in their place")
	}
}

var parameter = regexp.MustCompile(`\{[^}]*\}`)

// missingV2 returns the operations that the server's description of API v2 lacks. known is false if the text describes something else.
func missingV2(paths map[string]any) (missing []*resource.Operation, known bool) {
	has := map[string]bool{}
	for path, methods := range paths {
		if i := strings.Index(path, "/api/v2/"); i >= 0 {
			path = path[i:]
		}
		methods, _ := methods.(map[string]any)
		for method := range methods {
			has[strings.ToUpper(method)+" "+parameter.ReplaceAllString(path, "{}")] = true
		}
	}
	for _, op := range resource.Operations() {
		switch {
		case !op.V2() || op.Verb == resource.DescribeV2:
		case has[parameter.ReplaceAllString(op.String(), "{}")]:
			known = true
		default:
			missing = append(missing, op)
		}
	}
	return missing, known
}
