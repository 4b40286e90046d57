package doctor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// checkWorkspace reports from all answers whether the workspace exists.
func (e *examination) checkWorkspace() {
	var denied bool
	for _, f := range e.lists {
		if f.err == nil {
			e.add("workspace", OK, e.Workspace+" can be read"+e.project(), "")
			e.checkOperations()
			return
		}
		denied = denied || errors.Is(f.err, apiclient.ErrForbidden) || errors.Is(f.err, apiclient.ErrNotFound) && !unsupported(f.err)
	}
	if !denied {
		hint := ""
		if e.in.API == resource.Documented {
			hint = "the check needs more operations: leave out --api documented"
		}
		e.add("workspace", Warning, "cannot tell whether "+e.Workspace+" exists", hint)
		return
	}
	hint := "check the slug: it is the part of the web address after the host"
	if lower := strings.ToLower(e.Workspace); lower != e.Workspace {
		hint += ", in lower case (" + lower + ")"
	}
	e.deny("workspace", "the service gives no access to "+e.Workspace+": there is no such workspace, or "+e.user()+" is not a member of it",
		hint+"; or have an admin of the workspace invite "+e.user())
}

// reportNoWorkspace reports that no workspace was given.
func (e *examination) reportNoWorkspace() {
	e.add("workspace", Warning, "no workspace was given, so it was not checked", "give -f FILE, --workspace SLUG or PLANE_WORKSPACE_SLUG")
}

// project says which project the checks of projects used.
func (e *examination) project() string {
	f, asked := e.lists["project"]
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
	if !e.isToken() {
		return ""
	}
	return " (" + op.Scope + ")"
}

// permissionHint is the next step for what the credential may not read. Only access tokens have scopes.
func (e *examination) permissionHint(scope string) string {
	if e.isToken() {
		return "give the token the scope " + scope + ", or make " + e.user() + " a member of the project"
	}
	return "make " + e.user() + " a member of the project, or give " + e.user() + " a higher role"
}

func (e *examination) isToken() bool { return strings.HasPrefix(e.in.Credential, "access token") }

// checkOperations reports which operations of API v1 can be used.
func (e *examination) checkOperations() {
	f, asked := e.lists["project"]
	switch {
	case e.in.API == resource.Documented:
		e.add("operations", OK, "only the documented operations are used (--api documented)", "")
	case asked && f.err == nil:
		e.add("operations", OK, "API v1 is available", "")
	case asked:
		e.add("operations", Warning, "the list of projects cannot be read, so only the documented operations are used", "")
	}
}

// checkEdition reports what this edition of the service supports.
func (e *examination) checkEdition() {
	e.checkSampleProject()
	var denied, failed []string
	_, unreadable := e.lists["project"]
	unreadable = unreadable && e.Denied() // reported before
	for _, k := range resource.Kinds() {
		f, asked := e.lists[k.Name]
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
			failed = append(failed, plural(k.Name)+": "+diag.PlainText(f.err))
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
			"if manifests use these: "+e.permissionHint("in parentheses"))
	}
	for _, text := range failed {
		e.add("edition", Problem, text, "")
	}
}

func unsupported(err error) bool { return errors.Is(err, apiclient.ErrUnsupported) }

// checkSampleProject reports a project whose lists cannot be read, although it is listed: they then say
// nothing about the edition.
func (e *examination) checkSampleProject() {
	const hint = "look at the project on the service, or ask an admin of the service: planform cannot manage its contents"
	f, param := e.lists["project"], resource.MustLookup("project").Param
	if f.err != nil || f.row == nil {
		return
	}
	identifier, _ := f.row["identifier"].(string)
	if e.params[param] == "" {
		e.add("project", Problem,
			fmt.Sprintf("the service gives the project %s the ID %.60q, which is no UUID: project-level checks were skipped", identifier,
				f.row.ID()), hint)
		return
	}
	var lists []string
	for _, k := range resource.Kinds() {
		f, asked := e.lists[k.Name]
		_, isList := k.Op(resource.List, e.in.API)
		switch {
		case !asked || !isList || k.Single || k.Parent != "project" || unsupported(f.err):
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
		delete(e.lists, name)
	}
	e.add("project", Problem, "the service lists the project "+identifier+" but answers \"not found\" for its contents", hint)
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
