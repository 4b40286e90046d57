package provider

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// The answer to a batch holds IDs only. In which containers the rows are shows the list of API v2; what the service made of
// them, texts included, that of API v1.

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

// settling is how long after its answer the service may still touch what it has written: it does so a moment later, and its
// clock in answers has whole seconds, and may be a second late.
const settling = 3 * time.Second

// remember notes what a step brought: the values that later steps do not send, and when the run last wrote an object, or
// something in it, or put it somewhere, since the service changes the object's updated_at then.
func (s *Service) remember(step *planner.Step, out executor.Outcome, ids executor.IDs) {
	at := s.client.Served()
	s.mu.Lock()
	defer s.mu.Unlock()
	if step.Members == nil {
		s.learnt[step.Address] = planner.MergeValues(s.learnt[step.Address], out.Values)
	}
	note := func(id string) {
		if id != "" {
			s.written[id] = at
		}
	}
	note(out.ID)
	for _, id := range out.Members {
		note(id)
	}
	o := step.Object
	if step.Members != nil {
		o = step.Members.Container.Object
	}
	for ; o != nil; o = o.Parent {
		id, _ := ids(o.Address)
		note(id)
	}
}

// untouchedSince reports whether nobody changed an object after the run wrote it, as its row tells.
func (s *Service) untouchedSince(row resource.Row) bool {
	at, _ := row["updated_at"].(string)
	changed, err := time.Parse(time.RFC3339, at)
	s.mu.Lock()
	defer s.mu.Unlock()
	return err == nil && !changed.After(s.written[row.ID()].Add(settling))
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
	rows := s.readUntil(ctx, list, params, order, "all", missing)
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.shown, rows)
}

// readUntil reads a list in the given order, until all objects have been seen or it fails.
func (s *Service) readUntil(ctx context.Context, list *resource.Operation, params map[string]string, order, fields string, missing map[string]bool) map[string]resource.Row {
	rows := map[string]resource.Row{}
	query := url.Values{"order_by": {order}, "fields": {fields}}
	for page, err := range s.client.Pages(ctx, apiclient.Request{Operation: list, Params: params, Query: query}) {
		if err != nil {
			break
		}
		for _, row := range page {
			rows[row.ID()] = row
			delete(missing, row.ID())
		}
		if len(missing) == 0 {
			break
		}
	}
	return rows
}

// Confirm reads what the service made of the objects that the run's batches wrote, and of those whose IDs are in doubt. It
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
	type sent struct {
		ids, fields map[string]bool
		texts       bool
	}
	groups := map[group]*sent{}
	for i := range r.Steps {
		res := &r.Steps[i]
		if res.Status != executor.Done || res.Outcome.ID == "" || res.Step.Object == nil {
			continue
		}
		run[res.Step.Address] = res.Outcome.ID
		if s.unseen[res.Outcome.ID] != res.Step {
			continue
		}
		at := group{res.Step.Kind, res.Step.Object.Parent, res.Step.Action}
		g := groups[at]
		if g == nil {
			g = &sent{ids: map[string]bool{}, fields: map[string]bool{"id": true, "sequence_id": true, "updated_at": true}}
			groups[at] = g
		}
		g.ids[res.Outcome.ID] = true
		for _, v := range res.Step.Values {
			if g.texts = g.texts || v.Field.Rich(); !resource.IsCustom(v) {
				g.fields[v.Field.APIName()] = true
			}
		}
	}
	rows := map[string]resource.Row{}
	for at, g := range groups {
		list, ok := resource.OverviewOf(at.kind.Name)
		params, err := s.inParent(at.parent, ids)
		if !ok || err != nil {
			continue
		}
		order := "-created_at"
		if at.action != planner.Create {
			order = "-updated_at"
			maps.DeleteFunc(s.shown, func(id string, _ resource.Row) bool { return g.ids[id] })
		}
		if v1, offered := at.kind.Op(resource.List, resource.V1); g.texts && offered {
			maps.Copy(rows, s.readUntil(ctx, v1, params, order, strings.Join(slices.Sorted(maps.Keys(g.fields)), ","), g.ids))
			continue
		}
		s.show(ctx, list, params, slices.Collect(maps.Keys(g.ids)), order)
		for id := range g.ids {
			if row, shown := s.shownRow(id); shown {
				rows[id] = at.kind.FromV2(row)
			}
		}
	}
	for i := range r.Steps {
		res := &r.Steps[i]
		if s.disputed[res.Step] && res.Status == executor.Done {
			out := s.settleDispute(ctx, res.Step, res.Outcome, ids)
			if out.ID != res.Outcome.ID {
				if err := journal.Complete(res.Step, out, nil); err != nil {
					return err
				}
			}
			out.Values = nil
			res.Outcome = out
			continue
		}
		row, shown := rows[res.Outcome.ID]
		if !shown || res.Status != executor.Done {
			continue
		}
		if s.unseen[res.Outcome.ID] != res.Step { // a later step wrote it too
			if res.Step.Action == planner.Create {
				res.Outcome.Identifier = s.identifier(res.Step.Object, row)
			}
			continue
		}
		out := s.confirmed(res.Step, res.Outcome, row, ids)
		if err := journal.Complete(res.Step, out, nil); err != nil {
			return err
		}
		out.Values = nil
		res.Outcome = out
	}
	return nil
}

// confirmed is the outcome of a row of a batch that the service shows. What differs there from what was sent is the service's
// form of it, if nobody has touched the object since.
func (s *Service) confirmed(step *planner.Step, out executor.Outcome, row resource.Row, ids executor.IDs) executor.Outcome {
	sent, before := *step, out.Values
	sent.Values = slices.DeleteFunc(slices.Clone(step.Values), func(v *resource.Value) bool { _, shows := row.Shown(v.Field); return !shows })
	values := s.desired(step, ids)
	s.verify(&out, &sent, row, values, ids)
	out.Values = digests(values)
	s.digestSent(step, row, out.Values, ids)
	for _, v := range step.Values {
		key := planner.ShownKey(v.Field.Name)
		if _, differs := out.Values[key]; differs && !v.Field.IsRef() && !s.untouchedSince(row) || v.Field.Rich() && sent.Sends(v) == nil {
			out.Values[key] = cmp.Or(before[key], planner.Unseen(time.Time{}))
		}
	}
	out.Identifier = cmp.Or(s.identifier(step.Object, row), out.Identifier)
	return out
}

// batchValues are the values of an object as the state keeps them while nothing has shown its texts.
func (s *Service) batchValues(step *planner.Step, ids executor.IDs) map[string]string {
	values := digests(s.desired(step, ids))
	s.digestSent(step, nil, values, ids)
	for _, v := range step.Values {
		if v.Field.Rich() {
			values[planner.ShownKey(v.Field.Name)] = planner.Unseen(s.client.Served())
		}
	}
	return values
}
