package doctor

import (
	"errors"
	"fmt"
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
		denied = denied || errors.Is(f.err, apiclient.ErrForbidden) || errors.Is(f.err, apiclient.ErrNotFound) && !unsupported(f.err)
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
	case !asked || f.err != nil || f.row != nil && e.params[resource.MustLookup("project").Param] == "":
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
	e.sample()
	var denied, failed []string
	_, unreadable := e.found["project"]
	unreadable = unreadable && e.Denied // that all is refused was told before
	for _, k := range resource.Kinds() {
		f, asked := e.found[k.Name]
		switch {
		case !asked:
		case f.err == nil:
			e.Supported = append(e.Supported, k.Name)
		case unsupported(f.err):
			e.Unsupported = append(e.Unsupported, k.Name)
		case errors.Is(f.err, apiclient.ErrForbidden):
			if op, ok := k.Op(resource.List, e.in.API); ok && !unreadable {
				denied = append(denied, plural(k.Name)+e.scope(op))
			}
		case e.limited == nil || !errors.Is(f.err, apiclient.ErrRateLimited):
			failed = append(failed, plural(k.Name)+": "+f.err.Error())
		}
	}
	var has []string
	if len(e.Supported) > 0 {
		has = append(has, "has "+plurals(e.Supported))
	}
	if len(e.Unsupported) > 0 {
		has = append(has, "lacks "+plurals(e.Unsupported))
	}
	if len(has) > 0 {
		e.add("edition", OK, strings.Join(has, "; "), "")
	}
	if len(denied) > 0 {
		e.add("permission", Warning, "the credential may not read "+strings.Join(denied, ", "),
			"if manifests use these: "+e.access("in parentheses"))
	}
	for _, text := range failed {
		e.add("edition", Problem, text, "")
	}
}

func unsupported(err error) bool { return errors.Is(err, apiclient.ErrUnsupported) }

// sample tells what is wrong with the project in which the lists were read, where it
// is one that cannot be: they then tell nothing of the edition.
func (e *examination) sample() {
	const do = "look at the project on the service, or ask an admin of the service: planform cannot manage its contents"
	f, param := e.found["project"], resource.MustLookup("project").Param
	if f.err != nil || f.row == nil {
		return
	}
	identifier, _ := f.row["identifier"].(string)
	if e.params[param] == "" {
		e.add("project", Problem, fmt.Sprintf("the service gives the project %s the ID %.60q, which is no UUID: project-level checks were skipped", identifier, f.row.ID()), do)
		return
	}
	var lists []string
	for _, k := range resource.Kinds() {
		f, asked := e.found[k.Name]
		_, isList := k.Op(resource.List, e.in.API)
		switch {
		case !asked || !isList || k.Parent != "project" || unsupported(f.err):
		case !errors.Is(f.err, apiclient.ErrNotFound):
			return
		default:
			lists = append(lists, k.Name)
		}
	}
	if len(lists) == 0 {
		return
	}
	for _, name := range lists {
		delete(e.found, name)
	}
	e.add("project", Problem, "the service lists the project "+identifier+" but answers \"not found\" for its contents", do)
}

// plural is the word for several objects of a kind.
func plural(kind string) string { return diag.Plural(resource.MustLookup(kind).Noun()) }

func plurals(kinds []string) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = plural(k)
	}
	return strings.Join(words, ", ")
}
