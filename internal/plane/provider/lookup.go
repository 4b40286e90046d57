package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plan/target"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// sighting is the result of a lookup of a create. Without a row and not absent, it is undetermined.
type sighting struct {
	row    resource.Row // the object that was found; nil = none was
	absent bool         // the object does not exist
	err    error        // the reason why it is undetermined; nil = no read can show the object
}

// sightingOf returns the sighting of a create that may have made any of these objects.
func sightingOf(step *planner.Step, rows []resource.Row) sighting {
	switch len(rows) {
	case 0:
		return sighting{absent: true}
	case 1:
		return sighting{row: rows[0]}
	default:
		return sighting{err: fmt.Errorf("the service has %d objects that could be %s", len(rows), step.Address)}
	}
}

// lookUp looks up the objects of creates; it reads one list for a batch. since is the number of objects that the run had created before.
func (w *write) lookUp(ctx context.Context, rows []row, since int) []sighting {
	seen := make([]sighting, len(rows))
	if w.op == nil {
		for i, r := range rows {
			seen[i] = w.findCreated(ctx, r)
		}
		return seen
	}
	hits, err := w.findAllCreated(ctx, rows, since)
	for i, r := range rows {
		if err != nil {
			seen[i] = sighting{err: err}
			continue
		}
		seen[i] = sightingOf(r.step, hits[i])
	}
	return seen
}

// findCreated looks up the object of a create without an answer: by its external ID if it has one, otherwise by its natural key.
func (w *write) findCreated(ctx context.Context, r row) sighting {
	s, step := w.Service, r.step
	list, ok := s.operation(step, resource.List)
	byExternalID := s.usesExternalID(step)
	switch {
	case s.isFoundByNumberOnly(step):
		return s.findByNumber(ctx, step)
	case !ok, !byExternalID && step.Kind.AdoptOnRequestOnly:
		return sighting{}
	case byExternalID && slices.Contains(list.Query, "external_id"):
		for _, id := range s.allExternalIDs(step) {
			if seen := s.findByExternalID(ctx, r, list, id); !seen.absent {
				return seen
			}
		}
		return sighting{absent: true}
	}
	rows, err := s.client.List(ctx, apiclient.Request{Operation: list, Params: r.params})
	if err != nil {
		return sighting{err: err}
	}
	externalIDs, resolve := s.allExternalIDs(step), s.idResolver(step.Object, w.ids)
	return sightingOf(step, slices.DeleteFunc(rows, func(row resource.Row) bool {
		marked := func(id string) bool { return s.plan.Marks().Has(row, id) }
		isOwn := byExternalID && slices.ContainsFunc(externalIDs, marked) && step.Object.SameContent(row)
		return row.ID() == step.Write.Replaces || !isOwn && (byExternalID || !step.Object.SameNaturalKey(row, resolve))
	}))
}

// isFoundByNumberOnly reports whether objects of the step's kind can be read only by their numbers, because the documented operations
// cannot list work items.
func (s *Service) isFoundByNumberOnly(step *planner.Step) bool {
	_, finds := s.operation(step, resource.Find)
	_, lists := s.operation(step, resource.List)
	return finds && !lists && step.Kind.Numbered()
}

// findByNumber looks up the object of a create like the planner does after a run that died: among the objects with numbers that are new
// since.
func (s *Service) findByNumber(ctx context.Context, step *planner.Step) sighting {
	in := planner.Input{Workspace: s.plan.Workspace, Owner: s.plan.Owner, API: s.plan.API, Prior: s.state.Prior(), Observed: planner.Observed{}}
	maps.DeleteFunc(in.Prior, func(a resource.Address, _ planner.Record) bool { return !a.IsObject() })
	var lost []*resource.Object // objects of the same name: one of them may be the cause of an object that another one seems to have made
	for _, other := range s.plan.Steps {
		r, ok := in.Prior[other.Address]
		if !ok || other.Action != planner.Create || other.Kind != step.Kind || other.Object.Parent != step.Object.Parent ||
			other.Object.Name() != step.Object.Name() || r.PendingIntent == nil {
			continue
		}
		if other.Sequence == step.Sequence && step.Sequence > 0 && other.Index > step.Index { // its intent was written, but it was not sent yet
			delete(in.Prior, other.Address)
			continue
		}
		r.ID, r.Identifier = "", "" // they identify the object that it replaces
		in.Prior[other.Address], lost = r, append(lost, other.Object)
	}
	in.Desired = target.WithNeeded(lost)
	reader := &Reader{Client: s.client, API: in.API, Observed: in.Observed}
	switch rows, decided, err := planner.FindLost(ctx, in, reader, step.Object); {
	case err != nil:
		return sighting{err: err}
	case !decided:
		return sighting{}
	default:
		return sightingOf(step, rows)
	}
}

// allExternalIDs returns the present and former external IDs of a step's object. An earlier run may have sent it with any of them.
func (s *Service) allExternalIDs(step *planner.Step) []string {
	var ids []string
	for _, a := range planner.AllAddresses(step.Object) {
		ids = append(ids, s.plan.Marks().ID(a))
	}
	return ids
}

// findByExternalID asks the service for the object with an external ID.
func (s *Service) findByExternalID(ctx context.Context, r row, list *resource.Operation, externalID string) sighting {
	res, err := s.client.Do(ctx, apiclient.Request{Operation: list, Params: r.params, Query: externalIDQuery(s.plan.Owner, externalID)})
	var e *apiclient.Error
	switch {
	case errors.Is(err, apiclient.ErrNotFound):
		return sighting{absent: true}
	case errors.As(err, &e) && e.Status == 500:
		return sighting{err: fmt.Errorf("the service cannot look up the external ID of %s, probably because several objects have it: %w",
			r.step.Address, err)}
	case err != nil:
		return sighting{err: err}
	case !s.plan.Marks().Has(res.Row, externalID):
		return sighting{err: errors.New("the service answered a look-up by external ID with a different object")}
	default:
		return sighting{row: res.Row}
	}
}

// externalIDQuery returns the query for the object with an external ID of planform.
func externalIDQuery(owner resource.Owner, id string) url.Values {
	return url.Values{"external_id": {id}, "external_source": {owner.Source()}}
}

// findAllCreated finds the objects of each row by their external IDs in the list of their kind, newest first. If the list keeps that order,
// it stops after a page whose last object existed before any of them was sent. since is the number of objects that the run had created
// before.
func (w *write) findAllCreated(ctx context.Context, rows []row, since int) (found [][]resource.Row, err error) {
	kind := rows[0].step.Kind
	list, ok := kind.Op(resource.List, w.plan.API)
	if !ok {
		return nil, fmt.Errorf("%s cannot list %s", w.plan.API.Noun(), diag.Plural(kind.Noun()))
	}
	wanted := map[string]int{} // index in rows by external ID
	for i, r := range rows {
		for _, id := range w.allExternalIDs(r.step) {
			wanted[id] = i
		}
	}
	for i, r := range rows { // the former ID of one row may be the present ID of another
		wanted[w.plan.Marks().ID(r.step.Address)] = i
	}
	found = make([][]resource.Row, len(rows))
	latest, ordered := "", true // created_at of the last row
	req := apiclient.Request{Operation: list, Params: rows[0].params, Query: url.Values{"order_by": {"-created_at"}}}
	for page, err := range w.client.Pages(ctx, req) {
		if err != nil {
			return nil, err
		}
		for _, row := range page {
			at := row.Text("created_at")
			ordered = ordered && at != "" && (latest == "" || at <= latest)
			latest = at
			id := row.Text("external_id")
			i, isWanted := wanted[id]
			if isWanted && w.plan.Marks().Has(row, id) && !slices.ContainsFunc(found[i], func(o resource.Row) bool { return o.ID() == row.ID() }) {
				found[i] = append(found[i], row)
			}
		}
		if ordered && len(page) > 0 && w.claims.existedBefore(kind, page[len(page)-1].ID(), since) {
			break
		}
	}
	return found, nil
}
