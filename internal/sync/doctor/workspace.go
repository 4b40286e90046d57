package doctor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// checkWorkspace reports from all answers whether the workspace exists.
func (ex *examination) checkWorkspace() {
	var denied bool
	for _, f := range ex.lists {
		if f.err == nil {
			ex.add("workspace", OK, ex.Workspace+" can be read"+ex.projectText(), "")
			ex.checkOperations()
			return
		}
		denied = denied || errors.Is(f.err, apiclient.ErrForbidden) || errors.Is(f.err, apiclient.ErrNotFound) && !isUnsupported(f.err)
	}
	if !denied {
		hint := ""
		if ex.in.API == resource.Documented {
			hint = "the check needs more operations: leave out --api documented"
		}
		ex.add("workspace", Warning, "cannot tell whether "+ex.Workspace+" exists", hint)
		return
	}
	hint := "check the slug: it is the part of the web address after the host"
	if lower := strings.ToLower(ex.Workspace); lower != ex.Workspace {
		hint += ", in lower case (" + lower + ")"
	}
	ex.addDenied("workspace", "the service gives no access to "+ex.Workspace+": there is no such workspace, or "+ex.userText()+" is not a member of it",
		hint+"; or have an admin of the workspace invite "+ex.userText())
}

// reportNoWorkspace reports that no workspace was given.
func (ex *examination) reportNoWorkspace() {
	ex.add("workspace", Warning, "no workspace was given, so it was not checked", "give -f FILE, --workspace SLUG or PLANE_WORKSPACE_SLUG")
}

// projectText says which project the checks of projects used.
func (ex *examination) projectText() string {
	f, asked := ex.lists["project"]
	switch identifier, _ := f.row["identifier"].(string); {
	case !asked || f.err != nil || f.row != nil && ex.params[resource.MustLookup("project").Param] == "":
		return ""
	case f.row == nil:
		return "; it has no projects, so project-level checks were skipped"
	default:
		return "; project-level checks used " + identifier
	}
}

// scopeText returns the scope that an operation needs, if the credential is a token with scopes.
func (ex *examination) scopeText(op *resource.Operation) string {
	if !ex.isToken() {
		return ""
	}
	return " (" + op.Scope + ")"
}

// permissionHint returns the next step if the credential may not read something. Only access tokens have scopes.
func (ex *examination) permissionHint(scope string) string {
	if ex.isToken() {
		return "give the token the scope " + scope + ", or make " + ex.userText() + " a member of the project"
	}
	return "make " + ex.userText() + " a member of the project, or give " + ex.userText() + " a higher role"
}

func (ex *examination) isToken() bool { return strings.HasPrefix(ex.in.Credential, "access token") }

// checkOperations reports which operations of API v1 can be used.
func (ex *examination) checkOperations() {
	f, asked := ex.lists["project"]
	switch {
	case ex.in.API == resource.Documented:
		ex.add("operations", OK, "only the documented operations are used (--api documented)", "")
	case asked && f.err == nil:
		ex.add("operations", OK, "API v1 is available", "")
	case asked:
		ex.add("operations", Warning, "the list of projects cannot be read, so only the documented operations are used", "")
	}
}

// checkEdition reports which kinds this edition of the service supports.
func (ex *examination) checkEdition() {
	ex.checkSampleProject()
	var denied, failed []string
	_, unreadable := ex.lists["project"]
	unreadable = unreadable && ex.Denied() // reported before
	for _, k := range resource.Kinds() {
		f, asked := ex.lists[k.Name]
		switch {
		case !asked:
		case f.err == nil:
			ex.Supported = append(ex.Supported, k.Name)
		case isUnsupported(f.err):
			ex.Unsupported = append(ex.Unsupported, k.Name)
		case errors.Is(f.err, apiclient.ErrForbidden):
			if op, ok := k.Op(resource.List, ex.in.API); ok && !unreadable {
				denied = append(denied, plural(k.Name)+ex.scopeText(op))
			}
		case ex.limited == nil || !errors.Is(f.err, apiclient.ErrRateLimited):
			failed = append(failed, plural(k.Name)+": "+diag.PlainText(f.err))
		}
	}
	var has []string
	if len(ex.Supported) > 0 {
		has = append(has, "has "+plurals(ex.Supported))
	}
	if len(ex.Unsupported) > 0 {
		has = append(has, "lacks "+plurals(ex.Unsupported))
	}
	if len(has) > 0 {
		ex.add("edition", OK, strings.Join(has, "; "), "")
	}
	if len(denied) > 0 {
		ex.add("permission", Warning, "the credential may not read "+strings.Join(denied, ", "),
			"if manifests use these: "+ex.permissionHint("in parentheses"))
	}
	for _, text := range failed {
		ex.add("edition", Problem, text, "")
	}
}

func isUnsupported(err error) bool { return errors.Is(err, apiclient.ErrUnsupported) }

// checkSampleProject reports a project that is listed although its own lists cannot be read. Their answers
// then say nothing about the edition.
func (ex *examination) checkSampleProject() {
	const hint = "planform cannot manage its contents: look at the project on the service, or ask an admin"
	f, param := ex.lists["project"], resource.MustLookup("project").Param
	if f.err != nil || f.row == nil {
		return
	}
	identifier, _ := f.row["identifier"].(string)
	if ex.params[param] == "" {
		ex.add("project", Problem,
			fmt.Sprintf("the service gives the project %s the ID %.60q, which is no UUID: project-level checks were skipped", identifier,
				f.row.ID()), hint)
		return
	}
	var lists []string
	for _, k := range resource.Kinds() {
		f, asked := ex.lists[k.Name]
		_, isList := k.Op(resource.List, ex.in.API)
		switch {
		case !asked || !isList || k.Single || k.Parent != "project" || isUnsupported(f.err):
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
		delete(ex.lists, name)
	}
	ex.add("project", Problem, "the service lists the project "+identifier+" but answers \"not found\" for its contents", hint)
}

// plural returns the word for several objects of a kind.
func plural(kind string) string { return diag.Plural(resource.MustLookup(kind).Noun()) }

func plurals(kinds []string) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = plural(k)
	}
	return strings.Join(words, ", ")
}
