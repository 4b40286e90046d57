package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// checkV2 finds out whether there is an API v2, and what it lacks of the operations that a run would use.
func (e *examination) checkV2(ctx context.Context) {
	projects, asked := e.lists["project"]
	if e.in.API != resource.V2 || !asked || projects.err != nil || e.quotaExhausted {
		return
	}
	const name = "API v2"
	user := resource.MustLookup("member")
	probe, _ := user.Op(resource.ProbeV2, resource.V2)
	resp, err := e.ask(ctx, probe)
	refused, _ := errors.AsType[*apiclient.Error](err)
	switch {
	case err == nil && resp.Row.ID() != "":
		e.HasV2, e.knowsV2 = true, true
	case err != nil && (refused == nil || refused.Status < 400 || refused.Status >= 500 || refused.Status == 429 || refused.Credential()):
		e.add(name, Warning, "cannot tell whether there is one: "+diag.PlainText(err), "--api v1 does not ask")
		return
	case e.in.APIChosen:
		e.knowsV2 = true
		e.add(name, Problem, "there is none, and --api v2 was given", "use --api v1, or --api auto to take what is there")
		return
	default:
		e.knowsV2 = true
		e.add(name, OK, "there is none: each object takes a request of its own", "")
		return
	}
	const available = "available: up to 50 objects share a request"
	var paths map[string]any
	if !e.quotaExhausted {
		schema, _ := user.Op(resource.DescribeV2, resource.V2)
		if resp, err := e.ask(ctx, schema); err == nil {
			paths, _ = resp.Row["paths"].(map[string]any)
		}
	}
	switch missing, known := missingV2(paths); {
	case !known:
		e.add(name, OK, available+"; it does not say which operations it has: where one is missing, objects are sent one by one", "")
	case len(missing) == 0:
		e.V2Unsupported = []string{}
		e.add(name, OK, available, "")
	default:
		for _, op := range missing {
			e.V2Unsupported = append(e.V2Unsupported, op.String())
		}
		text := available + ", with these exceptions: "
		if !slices.ContainsFunc(resource.Operations(), func(op *resource.Operation) bool {
			return op.Rows > 0 && !slices.Contains(missing, op)
		}) {
			text = "available, but objects cannot share requests: "
		}
		e.add(name, OK, text+withoutV2(missing), "")
	}
}

var parameter = regexp.MustCompile(`\{[^}]*\}`)

// missingV2 finds the operations that a server's own description of API v2 does not have.
// They are not known if it describes something else.
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

// withoutV2 says what becomes of a run without these operations.
func withoutV2(missing []*resource.Operation) string {
	const (
		readSingly = iota
		removedSingly
		unchangeable
		unmanageable
		byV1
		otherwise
	)
	phrases := []string{
		readSingly:    "the members of each of the %s take a read",
		removedSingly: "members of %s are removed one by one",
		unchangeable:  "members of %s cannot be changed",
		unmanageable:  "%s cannot be managed",
		byV1:          "%s are managed by API v1",
		otherwise:     "it lacks %s",
	}
	subjects := make([][]string, len(phrases))
	words := map[resource.Verb]string{resource.CreateMany: "new", resource.UpdateMany: "changed", resource.DeleteMany: "deleted"}
	singly := map[string][]resource.Verb{} // by kind
	for _, op := range missing {
		k := resource.MustLookup(op.Kind)
		_, inV1 := k.Op(op.Verb, resource.V1)
		phrase, subject := otherwise, plural(op.Kind)
		switch m := k.Membership; {
		case words[op.Verb] != "":
			singly[op.Kind] = append(singly[op.Kind], op.Verb)
			continue
		case m != nil && inV1 && (op.TakesOne(k) || op.Verb == resource.ListMembers):
			phrase, subject = byV1, "members of "+plural(m.Container)
		case m != nil:
			subject = plural(m.Container)
			if phrase = unchangeable; op.Verb == resource.ListOverview {
				phrase = readSingly
			} else if inV1 {
				phrase = removedSingly
			}
		case op.Verb == resource.List && k.Section == "" && !inV1:
			subject = "the list of " + subject
		case op.Verb == resource.List && !inV1, slices.Contains(subjects[unmanageable], subject):
			phrase = unmanageable
		case op.Verb == resource.List, slices.Contains(subjects[byV1], subject):
			phrase = byV1
		default:
			subject = op.String()
		}
		if !slices.Contains(subjects[phrase], subject) {
			subjects[phrase] = append(subjects[phrase], subject)
		}
	}
	sent := map[string][]string{} // by what happens to them, the kinds
	for _, kind := range slices.Sorted(maps.Keys(singly)) {
		var what []string
		for _, verb := range slices.Sorted(slices.Values(singly[kind])) {
			what = append(what, words[verb])
		}
		all := strings.Join(what, ", ")
		sent[all] = append(sent[all], plural(kind))
	}
	var text []string
	for _, what := range slices.Sorted(maps.Keys(sent)) {
		text = append(text, what+" "+strings.Join(sent[what], ", ")+" are sent one by one")
	}
	slices.Sort(subjects[readSingly])
	for i, list := range subjects {
		if len(list) > 0 {
			text = append(text, fmt.Sprintf(phrases[i], strings.Join(list, ", ")))
		}
	}
	return strings.Join(text, "; ")
}

// reportCost says what it takes to create what the manifest has and the state has not, with each API that is there.
func (e *examination) reportCost() {
	apis := []resource.API{resource.V1, resource.V2}
	projects, asked := e.lists["project"]
	switch {
	case e.Denied():
		return
	case e.in.API == resource.Documented || asked && projects.err != nil:
		apis = []resource.API{resource.Documented}
	case !asked:
		return
	case e.in.API != resource.V2 || e.knowsV2 && !e.HasV2:
		apis = apis[:1]
	}
	wanted := slices.DeleteFunc(slices.Clone(e.in.Desired), func(o *resource.Object) bool {
		return o.ID != "" || o.NoCreate || o.Identifier != "" && o.Kind.Numbered() || e.created[o.Address] ||
			o.Kind.Singleton || slices.Contains(o.Kind.Predefined, o.Name())
	})
	if len(wanted) == 0 {
		return
	}
	var costs []string
	for _, api := range apis {
		n := countCreates(wanted, api, e.V2Unsupported)
		with := api.Noun()
		if api.Wide() {
			with = "API " + api.String()
		}
		costs = append(costs, diag.Count(n, "request")+" by "+with+", "+diag.AtRate(n, e.in.PerMinute))
	}
	if len(costs) > 1 && !e.knowsV2 {
		costs[1] += ", if the service has it"
	}
	e.add("cost", OK,
		"to create the "+diag.Count(len(wanted), "object")+" that the state does not know: about "+strings.Join(costs, "; "), "")
}

// countCreates is about how many write requests a run makes that creates objects. That children wait for their parents is not in it.
func countCreates(objects []*resource.Object, api resource.API, missing []string) int {
	type batch struct {
		op     *resource.Operation
		parent *resource.Object
	}
	type container struct {
		membership *resource.Kind
		address    string
	}
	requests, rows, members := 0, map[batch]int{}, map[container]int{}
	for _, o := range objects {
		bulk, many := o.Kind.Op(resource.CreateMany, api)
		many = many && !slices.Contains(missing, bulk.String())
		_, one := o.Kind.Op(resource.Create, api)
		switch {
		case many && resource.InV2(o.Sendable(api)):
			rows[batch{bulk, o.Parent}]++
		case one:
			requests++
		}
		for i := range o.Values {
			v := &o.Values[i]
			k, ok := resource.MembershipOf(o.Kind.Name, v.Field.Name)
			if !ok || !o.Kind.ViaMembership(v.Field, api) {
				continue
			}
			overview, listed := k.Op(resource.ListOverview, api)
			if many && listed && overview.Overview.Rows == o.Kind.Name && k.Membership.On == k.Membership.Member {
				continue // the create puts it into the container
			}
			for j := range v.Refs {
				in := string(o.Address)
				if k.Membership.On != k.Membership.Container {
					in = v.Refs[j].Text
				}
				members[container{k, in}]++
			}
		}
	}
	perRequest := func(n, most int) int { return (n + most - 1) / most }
	for in, n := range rows {
		requests += perRequest(n, in.op.Rows)
	}
	for in, n := range members {
		most := in.membership.Membership.Batch
		if op, _ := in.membership.Op(resource.AddMembers, api); op.TakesOne(in.membership) {
			most = 1
		}
		requests += perRequest(n, max(1, most))
	}
	return requests
}
