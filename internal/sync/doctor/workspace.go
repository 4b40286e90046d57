package doctor

import (
	"cmp"
	"errors"
	"maps"
	"slices"
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

// permissionHint returns the next step if the credential may not read something.
func (ex *examination) permissionHint() string {
	return "make " + ex.userText() + " a member of the project, or give " + ex.userText() +
		" a higher role; an access token also needs the scope that planform plan names"
}

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
	denied, failed := []string(nil), map[string][]string{}
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
			if !unreadable {
				denied = append(denied, k.Name)
			}
		case ex.limited == nil || !errors.Is(f.err, apiclient.ErrRateLimited):
			text := diag.PlainText(f.err)
			if e, ok := errors.AsType[*apiclient.Error](f.err); ok && e.Status != 0 {
				text = refusalText(e)
			}
			failed[text] = append(failed[text], k.Name)
		}
	}
	if len(ex.Supported)+len(ex.Unsupported) > 0 {
		ex.add("edition", OK, "has "+cmp.Or(plurals(ex.Supported), "none")+"; lacks "+cmp.Or(plurals(ex.Unsupported), "none"), "")
	}
	if len(denied) > 0 {
		ex.add("permission", Warning, "the credential may not read "+plurals(denied), "if manifests use these: "+ex.permissionHint())
	}
	for _, text := range slices.Sorted(maps.Keys(failed)) {
		ex.add("edition", Problem, plurals(failed[text])+": "+text, "")
	}
}

func isUnsupported(err error) bool { return errors.Is(err, apiclient.ErrUnsupported) }

// plural returns the word for several objects of a kind.
func plural(kind string) string { return diag.Plural(resource.MustLookup(kind).Noun()) }

func plurals(kinds []string) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = plural(k)
	}
	return strings.Join(words, ", ")
}
