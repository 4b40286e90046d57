package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// workspace tells whether the workspace is there, from all that was asked of it.
func (e *examination) workspace() {
	var denied bool
	for _, f := range e.found {
		if f.err == nil {
			e.add("workspace", OK, e.Workspace+" can be read"+e.project(), "")
			e.operations()
			return
		}
		denied = denied || errors.Is(f.err, apiclient.ErrForbidden) || errors.Is(f.err, apiclient.ErrNotFound) && !lacking(f.err)
	}
	if !denied {
		do := ""
		if e.in.API == resource.Documented {
			do = "the check needs more operations: leave out --api documented"
		}
		e.add("workspace", Warning, "cannot tell whether "+e.Workspace+" exists", do)
		return
	}
	do := "check the slug: it is the part of the web address after the host"
	if lower := strings.ToLower(e.Workspace); lower != e.Workspace {
		do += ", in lower case (" + lower + ")"
	}
	e.deny("workspace", "the service gives no access to "+e.Workspace+": there is no such workspace, or "+e.user()+" is not a member of it",
		do+"; or have an admin of the workspace invite "+e.user())
}

// noWorkspace tells that there is no workspace to look at.
func (e *examination) noWorkspace() {
	e.add("workspace", Warning, "no workspace was given, so it was not checked", "give -f FILE, --workspace SLUG or PLANE_WORKSPACE_SLUG")
}

// project tells in which project was asked what a project holds.
func (e *examination) project() string {
	f, asked := e.found["project"]
	switch identifier, _ := f.row["identifier"].(string); {
	case !asked || f.err != nil:
		return ""
	case f.row == nil:
		return "; it has no projects, so project-level checks were skipped"
	default:
		return "; project-level checks used " + identifier
	}
}

// scope is the scope that an operation needs, where the credential is of the sort that has scopes.
func (e *examination) scope(op *resource.Operation) string {
	if !e.token() {
		return ""
	}
	return " (" + op.Scope + ")"
}

// access is the advice for what the credential may not read. Only access tokens have scopes.
func (e *examination) access(scope string) string {
	if e.token() {
		return "give the token the scope " + scope + ", or make " + e.user() + " a member of the project"
	}
	return "make " + e.user() + " a member of the project, or give " + e.user() + " a higher role"
}

func (e *examination) token() bool { return strings.HasPrefix(e.in.Credential, "access token") }

// operations tells which of the service's operations can be used.
func (e *examination) operations() {
	const limits = "manifests need IDs instead of names, and existing work items cannot be changed"
	f, asked := e.found["project"]
	switch {
	case e.in.API == resource.Documented:
		e.add("operations", OK, "only the documented operations are used (--api documented): "+limits, "")
	case asked && f.err == nil:
		e.add("operations", OK, "the wider API is available: names are looked up, and existing objects can be changed", "")
	case asked:
		e.add("operations", Warning, "the list of projects cannot be read, so only the documented operations are used: "+limits, "")
	}
}

// edition tells what this edition of the service has.
func (e *examination) edition() {
	var denied, failed []string
	_, unreadable := e.found["project"]
	unreadable = unreadable && e.Denied // that all is refused was told before
	for _, k := range resource.Kinds() {
		f, asked := e.found[k.Name]
		switch {
		case !asked:
		case f.err == nil:
			e.Offers = append(e.Offers, k.Name)
		case lacking(f.err):
			e.Lacks = append(e.Lacks, k.Name)
		case errors.Is(f.err, apiclient.ErrForbidden):
			if op, ok := k.Op(resource.List, e.in.API); ok && !unreadable {
				denied = append(denied, plural(k.Name)+e.scope(op))
			}
		case e.limited == nil || !errors.Is(f.err, apiclient.ErrRateLimited):
			failed = append(failed, plural(k.Name)+": "+f.err.Error())
		}
	}
	switch {
	case len(e.Lacks) > 0 && len(e.Offers) > 0:
		e.add("edition", OK, "has "+plurals(e.Offers)+"; lacks "+plurals(e.Lacks), "")
	case len(e.Lacks) > 0:
		e.add("edition", OK, "lacks "+plurals(e.Lacks), "")
	case len(e.Offers) > 0:
		e.add("edition", OK, "has "+plurals(e.Offers), "")
	}
	if len(denied) > 0 {
		e.add("permission", Warning, "the credential may not read "+strings.Join(denied, ", "),
			"if manifests use these: "+e.access("in parentheses"))
	}
	for _, text := range failed {
		e.add("edition", Problem, text, "")
	}
}

func lacking(err error) bool { return errors.Is(err, apiclient.ErrUnsupported) }

// dialect tells by which of two names the service calls a field, where it shows one of them only.
func (e *examination) dialect(ctx context.Context) {
	for _, k := range resource.Kinds() {
		at := slices.IndexFunc(k.Fields, func(f resource.Field) bool { return f.AltAPIName != "" })
		list, ok := k.Op(resource.List, e.in.API)
		if at < 0 || !ok {
			continue
		}
		if _, asked := e.found[k.Name]; !asked {
			e.list(ctx, list)
		}
		f, row := &k.Fields[at], e.found[k.Name].row
		_, older := row[f.APIName]
		_, newer := row[f.AltAPIName]
		switch {
		case older && !newer:
			e.add("dialect", OK, fmt.Sprintf("%s use the documented field names: %s is %q", plural(k.Name), f.Name, f.APIName), "")
		case newer && !older:
			e.add("dialect", OK, fmt.Sprintf("%s use the newer field names: %s is %q", plural(k.Name), f.Name, f.AltAPIName), "")
		}
	}
}

// slash tells what becomes of a path without the slash at its end.
func (e *examination) slash(ctx context.Context) {
	var without []string
	for _, op := range resource.Operations() {
		if e.in.API.Offers(op) && !strings.HasSuffix(op.Path, "/") {
			without = append(without, op.Method+" "+strings.TrimPrefix(op.Path, "/api/v1"))
		}
	}
	op := e.readable()
	if op == nil || len(without) == 0 || e.quotaExhausted {
		return
	}
	bare := *op
	bare.Path = strings.TrimSuffix(bare.Path, "/")
	resp, err := e.ask(ctx, &bare)
	switch {
	case err == nil && resp.Redirected:
		e.add("slash", OK, "paths without a trailing slash are redirected; planform sends the same request there", "")
	case err == nil:
		e.add("slash", OK, "paths work with and without a trailing slash", "")
	case e.limited == nil:
		e.add("slash", Warning, "paths without a trailing slash fail: "+err.Error(), "expect the same of "+strings.Join(without, ", "))
	}
}

// readable is a read that succeeded.
func (e *examination) readable() *resource.Operation {
	for _, op := range e.questions() {
		f, asked := e.found[op.Kind]
		if strings.HasSuffix(op.Path, "/") && (op.Verb == resource.Self && e.userName != "" || op.Verb == resource.List && asked && f.err == nil) {
			return op
		}
	}
	return nil
}

// plural is what several things of a kind are called.
func plural(kind string) string { return diag.Plural(resource.MustLookup(kind).Noun()) }

func plurals(kinds []string) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = plural(k)
	}
	return strings.Join(words, ", ")
}
