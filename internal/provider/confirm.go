package provider

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// The answer to a batch holds IDs only. What the service made of the rows shows the list of
// API v2: in which containers they are, their readable identifiers, and what it left out.

// newestFirst is the query for the latest objects first.
func newestFirst() url.Values { return url.Values{"order_by": {"-created_at"}} }

// sentUnseen notes an object that a batch wrote.
func (s *Service) sentUnseen(step *planner.Step, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if step.Action == planner.Create {
		s.batchCreated[id] = len(s.batchCreated)
	}
	s.unseen[id] = step
}

// placement is a container that the create of a member puts it into.
type placement struct {
	overview *resource.Overview
	step     *planner.Step // that adds the members
	id       string        // of the container; "" = it does not exist yet
}

// findPlacements finds the containers of new members by address.
func findPlacements(plan *planner.Plan) map[resource.Address][]placement {
	found := map[resource.Address][]placement{}
	for _, step := range plan.Steps {
		if step.Action != planner.AddMembers {
			continue
		}
		list, ok := step.Kind.Op(resource.ListOverview, plan.API)
		if !ok || list.Overview.Rows != step.Kind.Membership.Member {
			continue
		}
		for i := range step.Members.Items {
			a := step.Members.Items[i].Address
			found[a] = append(found[a], placement{list.Overview, step, step.Members.Container.ID})
		}
	}
	return found
}

// placed are the containers that a create puts its object into: those that exist.
func (b *batch) placed(step *planner.Step) []placement {
	var l []placement
	for _, p := range b.placements[step.Address] {
		if p.id == "" {
			p.id, _ = b.ids(p.step.Members.Container.Address)
		}
		if p.id != "" {
			l = append(l, p)
		}
	}
	return l
}

// place adds the containers that the object is to be in to the body of a create.
func (b *batch) place(step *planner.Step, body []byte) []byte {
	overviews, ids := []*resource.Overview{}, map[*resource.Overview][]string{}
	for _, p := range b.placed(step) {
		if ids[p.overview] == nil {
			overviews = append(overviews, p.overview)
		}
		ids[p.overview] = append(ids[p.overview], p.id)
	}
	for _, o := range overviews {
		body = o.Put(body, ids[o])
	}
	return body
}

// withoutPlaced separates the members that their creates have put into the container, as the
// service shows, from the others.
func (s *Service) withoutPlaced(ctx context.Context, step *planner.Step, params map[string]string, members []member) (rest []member, in []string) {
	list, ok := step.Kind.Op(resource.ListOverview, s.plan.API)
	if !ok {
		return members, nil
	}
	var created []string
	for _, m := range members {
		if s.createdInBatch(m.id) {
			created = append(created, m.id)
		}
	}
	s.show(ctx, list, params, created, "-created_at")
	container := params[resource.MustLookup(step.Kind.Membership.Container).Param]
	for _, m := range members {
		if row, shown := s.shownRow(m.id); shown && len(list.Overview.Members(step.Kind.Membership, container, []resource.Row{row})) > 0 {
			in = append(in, m.id)
		} else {
			rest = append(rest, m)
		}
	}
	return rest, in
}

func (s *Service) createdInBatch(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, created := s.batchCreated[id]
	return created
}

func (s *Service) shownRow(id string) (resource.Row, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, ok := s.shown[id]
	return row, ok
}

// show reads what API v2 shows of objects, in the given order, until all have been seen. A
// failure is no error: what was not seen is not confirmed.
func (s *Service) show(ctx context.Context, list *resource.Operation, params map[string]string, ids []string, order string) {
	s.reading.Lock() // steps that need the same rows wait for one read
	defer s.reading.Unlock()
	missing := map[string]bool{}
	for _, id := range ids {
		if _, ok := s.shownRow(id); !ok {
			missing[id] = true
		}
	}
	if len(missing) == 0 {
		return
	}
	query := url.Values{"order_by": {order}, "fields": {"all"}}
	for page, err := range s.client.Pages(ctx, apiclient.Request{Operation: list, Params: params, Query: query}) {
		if err != nil {
			return
		}
		s.mu.Lock()
		for _, row := range page {
			s.shown[row.ID()] = row
			delete(missing, row.ID())
		}
		s.mu.Unlock()
		if len(missing) == 0 {
			return
		}
	}
}

// Confirm reads what the service made of the objects that the run's batches wrote. It
// completes their outcomes, in the result and in the journal: their readable identifiers,
// and warnings of values that are not as sent. The next plan sees what is not read here.
func (s *Service) Confirm(ctx context.Context, r *executor.Result, journal executor.Journal) error {
	run := map[resource.Address]string{}
	ids := func(a resource.Address) (string, bool) {
		id := cmp.Or(run[a], s.plan.Known[a].ID)
		return id, id != ""
	}
	type group struct {
		kind   *resource.Kind
		parent *resource.Object
		action planner.Action
	}
	groups := map[group][]string{}
	for i := range r.Steps {
		res := &r.Steps[i]
		if res.Status != executor.Done || res.Outcome.ID == "" || res.Step.Object == nil {
			continue
		}
		run[res.Step.Address] = res.Outcome.ID
		if s.unseen[res.Outcome.ID] == res.Step {
			g := group{res.Step.Kind, res.Step.Object.Parent, res.Step.Action}
			groups[g] = append(groups[g], res.Outcome.ID)
		}
	}
	for g, wanted := range groups {
		list, ok := resource.OverviewOf(g.kind.Name)
		params, err := s.inParent(g.parent, ids)
		if !ok || err != nil {
			continue
		}
		order := "-created_at"
		if g.action != planner.Create {
			order = "-updated_at"
			for _, id := range wanted {
				delete(s.shown, id)
			}
		}
		s.show(ctx, list, params, wanted, order)
	}
	for i := range r.Steps {
		res := &r.Steps[i]
		row, shown := s.shown[res.Outcome.ID]
		if !shown || res.Status != executor.Done {
			continue
		}
		if s.unseen[res.Outcome.ID] != res.Step { // a later step wrote it too
			if res.Step.Action == planner.Create {
				res.Outcome.Identifier = s.identifier(res.Step.Object, row)
			}
			continue
		}
		out := s.confirmed(res.Step, res.Outcome, res.Step.Kind.FromV2(row), ids)
		if err := journal.Complete(res.Step, out, nil); err != nil {
			return err
		}
		out.Values = nil
		res.Outcome = out
	}
	return nil
}

// confirmed is the outcome of a row of a batch that the service shows.
func (s *Service) confirmed(step *planner.Step, out executor.Outcome, row resource.Row, ids executor.IDs) executor.Outcome {
	sent := *step
	sent.Values = slices.DeleteFunc(slices.Clone(step.Values), func(v *resource.Value) bool { _, shows := row.Shown(v.Field); return !shows })
	values := s.desired(step, ids)
	out.Warnings = append(out.Warnings, s.mismatches(&sent, row, values, ids)...)
	out.Values = s.batchValues(step, values)
	applied := map[string]string{}
	s.digestSent(&sent, row, applied, ids)
	for _, v := range sent.Values {
		if shown, ok := applied[planner.ShownKey(v.Field.Name)]; ok {
			out.Values[planner.ShownKey(v.Field.Name)] = shown
		}
	}
	out.Identifier = cmp.Or(s.identifier(step.Object, row), out.Identifier)
	return out
}

// batchValues are the values of an object as the state keeps them while nothing has shown
// its texts.
func (s *Service) batchValues(step *planner.Step, desired map[*resource.Field]string) map[string]string {
	values := digests(desired)
	for i := range step.Object.Values {
		v := &step.Object.Values[i]
		key := planner.ShownKey(v.Field.Name)
		switch before, ok := s.plan.Known[step.Address].Values[key]; {
		case step.Sends(v) != nil && v.Field.Rich():
			values[key] = planner.Unseen
		case step.Sends(v) == nil && ok:
			values[key] = before
		}
	}
	return values
}
