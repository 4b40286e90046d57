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
		denied = denied || errors.Is(f.err, apiclient.ErrForbidden)
	}
	if !denied {
		do := ""
		if e.in.API == resource.Documented {
			do = "leave out --api documented, to ask more"
		}
		e.add("workspace", Warning, "nothing that was asked tells whether "+e.Workspace+" is there", do)
		return
	}
	do := "check the slug: it is what follows the host in the web address"
	if lower := strings.ToLower(e.Workspace); lower != e.Workspace {
		do += ", in lower case (" + lower + ")"
	}
	who := e.who
	if who == "" {
		who = "this user"
	}
	e.deny("workspace", "the service gives no access to "+e.Workspace+": there is no such workspace, or "+who+" is not a member of it",
		do+"; or have an admin of the workspace invite "+who)
}

// project tells in which project was asked what a project holds.
func (e *examination) project() string {
	f, asked := e.found["project"]
	switch identifier, _ := f.row["identifier"].(string); {
	case !asked || f.err != nil:
		return ""
	case f.row == nil:
		return "; it has no project, so that what one holds was not asked"
	default:
		return "; what a project holds was asked in " + identifier
	}
}

// operations tells which of the service's operations can be used.
func (e *examination) operations() {
	const limits = "manifests need IDs instead of names, and work items that exist cannot be changed"
	f, asked := e.found["project"]
	switch {
	case e.in.API == resource.Documented:
		e.add("operations", OK, "only the documented operations are used, as --api asks for: "+limits, "")
	case asked && f.err == nil:
		e.add("operations", OK, "the wider API is there: names are looked up, and what exists can be changed", "")
	case asked:
		e.add("operations", Warning, "the list of projects cannot be read, so that only the documented operations are used: "+limits, "")
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
				denied = append(denied, plural(k.Name)+" ("+op.Scope+")")
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
			"if manifests have such things, give it the scopes in parentheses, or its user access to the project")
	}
	for _, text := range failed {
		e.add("edition", Problem, text, "")
	}
}

func lacking(err error) bool { return errors.Is(err, apiclient.ErrRouteAbsent) }

// dialect tells by which of two names the service calls a field, where it shows one of them only.
func (e *examination) dialect(ctx context.Context) {
	for _, k := range resource.Kinds() {
		at := slices.IndexFunc(k.Fields, func(f resource.Field) bool { return f.WireNewer != "" })
		list, ok := k.Op(resource.List, e.in.API)
		if at < 0 || !ok {
			continue
		}
		if _, asked := e.found[k.Name]; !asked {
			e.list(ctx, list)
		}
		f, row := &k.Fields[at], e.found[k.Name].row
		_, older := row[f.Wire]
		_, newer := row[f.WireNewer]
		switch {
		case older && !newer:
			e.add("dialect", OK, fmt.Sprintf("%s are in the documented form: their %s is called %q", plural(k.Name), f.Name, f.Wire), "")
		case newer && !older:
			e.add("dialect", OK, fmt.Sprintf("%s are in the newer form: their %s is called %q", plural(k.Name), f.Name, f.WireNewer), "")
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
	if op == nil || len(without) == 0 || e.spent {
		return
	}
	bare := *op
	bare.Path = strings.TrimSuffix(bare.Path, "/")
	resp, err := e.ask(ctx, &bare)
	switch {
	case err == nil && resp.Redirected:
		e.add("slash", OK, "a path without a slash at its end is redirected to the one with it; planform sends the same request there", "")
	case err == nil:
		e.add("slash", OK, "a path is taken with and without a slash at its end", "")
	case e.limited == nil:
		e.add("slash", Warning, "a path without a slash at its end fails: "+err.Error(), "expect the same of "+strings.Join(without, ", "))
	}
}

// readable is a read that succeeded.
func (e *examination) readable() *resource.Operation {
	for _, op := range e.questions() {
		f, asked := e.found[op.Kind]
		if strings.HasSuffix(op.Path, "/") && (op.Verb == resource.Self && e.who != "" || op.Verb == resource.List && asked && f.err == nil) {
			return op
		}
	}
	return nil
}

// plural is what several things of a kind are called.
func plural(kind string) string { return diag.Plural(resource.Must(kind).Noun()) }

func plurals(kinds []string) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = plural(k)
	}
	return strings.Join(words, ", ")
}
