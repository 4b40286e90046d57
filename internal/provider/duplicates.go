package provider

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Duplicates warns of objects created by a run that exist twice on the service: the service
// does not check and store an external ID atomically, so two concurrent runs may both
// create an object. It reads one list for each project in which the run created work
// items. It reads the lists of other kinds only if the run found an object of another
// run, since the service refuses most of their duplicates by name. An error is a list
// that cannot be read; the warnings so far are returned with it.
func (s *Service) Duplicates(ctx context.Context, r executor.Result) (diag.List, error) {
	type scope struct {
		kind   *resource.Kind
		parent *resource.Object
	}
	run, foundOthers := map[resource.Address]string{}, false
	ids := func(a resource.Address) (string, bool) {
		id := cmp.Or(run[a], s.plan.Known[a].ID)
		return id, id != ""
	}
	for i := range r.Steps {
		if step := &r.Steps[i]; step.Status == executor.Done && step.Outcome.ID != "" && step.Step.Object != nil {
			run[step.Step.Address] = step.Outcome.ID
			foundOthers = foundOthers || step.Found()
		}
	}
	created := map[scope]map[string]*planner.Step{} // by external ID
	for i := range r.Steps {
		step := r.Steps[i].Step
		if r.Steps[i].Status != executor.Done || step.Action != planner.Create || !s.usesExternalID(step) || !foundOthers &&
			!step.Kind.Numbered() {
			continue
		}
		if p := step.Object.Parent; p != nil && p.Parent != nil {
			continue // one list for each parent would be too many
		}
		at := scope{step.Kind, step.Object.Parent}
		if created[at] == nil {
			created[at] = map[string]*planner.Step{}
		}
		created[at][s.plan.Marks().ID(step.Address)] = step
	}
	scopes := slices.SortedFunc(maps.Keys(created), func(a, b scope) int {
		return cmp.Or(strings.Compare(a.kind.Name, b.kind.Name), strings.Compare(addressOf(a.parent), addressOf(b.parent)))
	})
	var found diag.List
	for _, at := range scopes {
		list, ok := at.kind.Op(resource.List, s.plan.API)
		params, err := s.inParent(at.parent, ids)
		if !ok || err != nil {
			continue
		}
		if path, _ := list.Expand(params); s.countIs(ctx, at.kind, params, s.plan.Listed[path]+len(created[at])-deleted(r, at.kind, params)) {
			continue
		}
		req := apiclient.Request{Operation: list, Params: params}
		if slices.Contains(list.Query, "fields") {
			fields := "created_at,external_id,external_source,id"
			if at.kind.Numbered() {
				fields += ",sequence_id" // others have none, which API v2 refuses
			}
			req.Query = url.Values{"fields": {fields}}
		}
		rows, err := s.client.List(ctx, req)
		if err != nil {
			return found, fmt.Errorf("checking whether another run created the same object: %w", err)
		}
		found.Add(s.duplicates(rows, created[at])...)
	}
	found.Sort()
	return found, nil
}

func addressOf(o *resource.Object) string {
	if o == nil {
		return ""
	}
	return string(o.Address)
}

// countIs reports whether API v2 counts so many objects of a kind: then the run created them,
// or the plan saw them.
func (s *Service) countIs(ctx context.Context, kind *resource.Kind, params map[string]string, n int) bool {
	list, ok := resource.OverviewOf(kind.Name)
	if !ok || s.plan.API != resource.V2 {
		return false
	}
	res, err := s.client.Do(ctx, apiclient.Request{Operation: list, Params: params, Query: url.Values{
		"per_page": {"1"}, "fields": {"id"},
		"is_draft": {"false"},
	}})
	return err == nil && fmt.Sprint(res.Row["total_count"]) == strconv.Itoa(n)
}

// deleted counts the objects of a kind that the run deleted in one parent.
func deleted(r executor.Result, kind *resource.Kind, params map[string]string) int {
	n := 0
	for i := range r.Steps {
		step := r.Steps[i].Step
		if r.Steps[i].Status != executor.Done || step.Action != planner.Delete || step.Kind != kind {
			continue
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(params)), func(name string) bool { return step.Params[name] != params[name] }) {
			n++
		}
	}
	return n
}

// duplicates warns of objects that share the external ID of one created by the run, and names the one to keep.
func (s *Service) duplicates(rows []resource.Row, created map[string]*planner.Step) diag.List {
	byExternalID := map[string][]resource.Row{}
	for _, row := range rows {
		id, _ := row["external_id"].(string)
		same := func(other resource.Row) bool { return other.ID() == row.ID() }
		if created[id] != nil && s.plan.Marks().Has(row, id) && !slices.ContainsFunc(byExternalID[id], same) {
			byExternalID[id] = append(byExternalID[id], row)
		}
	}
	var found diag.List
	for id, rows := range byExternalID {
		if len(rows) < 2 {
			continue
		}
		slices.SortFunc(rows, resource.Row.Older)
		step := created[id]
		names := make([]string, len(rows))
		for i, row := range rows {
			names[i] = row.ID()
			if shown := s.identifier(step.Object, row); shown != "" {
				names[i] = shown + " (" + row.ID() + ")"
			}
		}
		found.Add(diag.Diagnostic{
			Severity: diag.Warning, Code: "doubled", Position: step.Position, Address: string(step.Address),
			Summary: string(step.Address) + " is on the service " + diag.Count(len(rows), "time") +
				", since another run created it at the same moment: " + strings.Join(names, ", "),
			Hint: "keep " + names[0] + " (the oldest) and delete " + strings.Join(names[1:], ", ") +
				" on the service; the next apply continues with the one left",
		})
	}
	return found
}
