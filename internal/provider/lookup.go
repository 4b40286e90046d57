package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// lookupResult is the result of a look-up.
type lookupResult int

const (
	undetermined lookupResult = iota
	found
	absent
)

// sighting is what a look-up of a create shows.
type sighting struct {
	result lookupResult
	row    resource.Row // that was found
	err    error        // why it is undetermined; nil = nothing can tell
}

func failedLookup(err error) sighting { return sighting{err: err} }

// only is the sighting of a create that may have made any of these objects.
func only(step *planner.Step, rows []resource.Row) sighting {
	switch len(rows) {
	case 0:
		return sighting{result: absent}
	case 1:
		return sighting{result: found, row: rows[0]}
	default:
		return failedLookup(&ambiguousError{fmt.Errorf("the service has %d objects that could be %s", len(rows), step.Address)})
	}
}

// ambiguousError is the error of a look-up that found several objects instead of one.
type ambiguousError struct{ error }

func (a *ambiguousError) Unwrap() error { return a.error }

// lookUp looks for the objects of creates: those of a batch in one list. since is how many objects batches had created before.
func (w *write) lookUp(ctx context.Context, rows []row, since int) []sighting {
	seen := make([]sighting, len(rows))
	if w.op == nil {
		for i, r := range rows {
			seen[i] = w.findCreated(ctx, r)
		}
		return seen
	}
	listed, err := w.findAllCreated(ctx, rows, since)
	for i, r := range rows {
		if err != nil {
			seen[i] = failedLookup(err)
			continue
		}
		var hits []resource.Row
		for _, id := range w.allExternalIDs(r.step) {
			hits = append(hits, listed[id]...)
		}
		seen[i] = only(r.step, hits)
	}
	return seen
}

// findCreated looks for the object of a create without an answer: by its external ID if it
// has one, else by its natural key.
func (w *write) findCreated(ctx context.Context, r row) sighting {
	s, step := w.Service, r.step
	list, ok := s.operation(step, resource.List)
	byExternalID := s.usesExternalID(step)
	switch {
	case s.onlyNumbersTell(step):
		return s.findByNumber(ctx, step)
	case !ok, !byExternalID && step.Kind.AdoptOnRequestOnly:
		return sighting{}
	case byExternalID && slices.Contains(list.Query, "external_id"):
		for _, id := range s.allExternalIDs(step) {
			if seen := s.findByExternalID(ctx, r, list, id); seen.result != absent {
				return seen
			}
		}
		return sighting{result: absent}
	}
	rows, err := s.client.List(ctx, apiclient.Request{Operation: list, Params: r.params})
	if err != nil {
		return failedLookup(err)
	}
	externalIDs, resolve := s.allExternalIDs(step), s.resolve(step.Object, w.ids)
	return only(step, slices.DeleteFunc(rows, func(row resource.Row) bool {
		marked := func(id string) bool { return s.plan.Marks().Has(row, id) }
		isOwn := byExternalID && slices.ContainsFunc(externalIDs, marked) && step.Object.SameContent(row)
		return row.ID() == step.Write.Replaces || !isOwn && (byExternalID || !step.Object.SameNaturalKey(row, resolve))
	}))
}

// onlyNumbersTell reports whether objects of the step's kind can be read by their numbers only: the documented operations
// list no work items.
func (s *Service) onlyNumbersTell(step *planner.Step) bool {
	_, finds := s.operation(step, resource.Find)
	_, lists := s.operation(step, resource.List)
	return finds && !lists && step.Kind.Numbered()
}

// findByNumber looks for the object of a create as the planner does after a run that died: among those with numbers that are
// new since.
func (s *Service) findByNumber(ctx context.Context, step *planner.Step) sighting {
	in := planner.Input{Workspace: s.plan.Workspace, Owner: s.plan.Owner, API: s.plan.API, Prior: s.state.Prior(), Observed: planner.Observed{}}
	maps.DeleteFunc(in.Prior, func(a resource.Address, _ planner.Record) bool { return !a.IsObject() })
	var lost []*resource.Object // those of this name, of which one may have made what another seems to have
	for _, other := range s.plan.Steps {
		r, ok := in.Prior[other.Address]
		if !ok || other.Action != planner.Create || other.Kind != step.Kind || other.Object.Parent != step.Object.Parent ||
			other.Object.Name() != step.Object.Name() || r.PendingIntent == nil {
			continue
		}
		if other.Sequence == step.Sequence && step.Sequence > 0 && other.Index > step.Index { // announced, and not sent yet
			delete(in.Prior, other.Address)
			continue
		}
		r.ID, r.Identifier = "", "" // of what it is to replace
		in.Prior[other.Address], lost = r, append(lost, other.Object)
	}
	in.Desired = planner.WithNeeded(lost)
	reader := &Reader{Client: s.client, API: in.API, Observed: in.Observed}
	switch rows, decided, err := planner.FindLost(ctx, in, reader, step.Object); {
	case err != nil:
		return failedLookup(err)
	case !decided:
		return sighting{}
	default:
		return only(step, rows)
	}
}

// allExternalIDs are those of a step's object, and those that it had before: an earlier run may have sent it with one of them.
func (s *Service) allExternalIDs(step *planner.Step) []string {
	var ids []string
	for _, a := range planner.AllAddresses(step.Object) {
		ids = append(ids, s.plan.Marks().ID(a))
	}
	return ids
}

// findByExternalID asks the service for the one object with an external ID.
func (s *Service) findByExternalID(ctx context.Context, r row, list *resource.Operation, externalID string) sighting {
	res, err := s.client.Do(ctx, apiclient.Request{Operation: list, Params: r.params, Query: externalIDQuery(s.plan.Owner, externalID)})
	var e *apiclient.Error
	switch {
	case errors.Is(err, apiclient.ErrNotFound):
		return sighting{result: absent}
	case errors.As(err, &e) && e.Status == 500:
		return failedLookup(&ambiguousError{fmt.Errorf("the service cannot look up the external ID of %s, probably because several objects "+
			"have it: %w", r.step.Address, err)})
	case err != nil:
		return failedLookup(err)
	case !s.plan.Marks().Has(res.Row, externalID):
		return failedLookup(errors.New("the service answered a look-up by external ID with a different object"))
	default:
		return sighting{result: found, row: res.Row}
	}
}

// externalIDQuery looks for the object with an external ID of planform.
func externalIDQuery(owner resource.Owner, id string) url.Values {
	return url.Values{"external_id": {id}, "external_source": {owner.Source()}}
}

// findAllCreated finds rows by their external IDs in the list of their kind, newest first. It ends
// with a page whose last object existed before any of them was sent, when batches had created
// since objects, if the service keeps to that order.
func (w *write) findAllCreated(ctx context.Context, rows []row, since int) (map[string][]resource.Row, error) {
	kind := rows[0].step.Kind
	list, ok := kind.Op(resource.List, w.plan.API)
	if !ok {
		return nil, fmt.Errorf("%s cannot list %s", w.plan.API.Noun(), diag.Plural(kind.Noun()))
	}
	wanted := map[string]bool{}
	for _, r := range rows {
		for _, id := range w.allExternalIDs(r.step) {
			wanted[id] = true
		}
	}
	found := map[string][]resource.Row{}
	latest, ordered := "", true // created_at of the last row
	for page, err := range w.client.Pages(ctx, apiclient.Request{Operation: list, Params: rows[0].params, Query: newestFirst()}) {
		if err != nil {
			return nil, err
		}
		for _, row := range page {
			at, _ := row["created_at"].(string)
			ordered = ordered && at != "" && (latest == "" || at <= latest)
			latest = at
			id, _ := row["external_id"].(string)
			if wanted[id] && w.plan.Marks().Has(row, id) && !slices.ContainsFunc(found[id], func(o resource.Row) bool { return o.ID() == row.ID() }) {
				found[id] = append(found[id], row)
			}
		}
		if ordered && len(page) > 0 && w.existedBefore(kind, page[len(page)-1].ID(), since) {
			break
		}
	}
	return found, nil
}
