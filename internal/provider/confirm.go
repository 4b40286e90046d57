package provider

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// The answer to a batch holds IDs only. In which containers the rows are shows the list of API v2; what the service made of
// them, texts included, that of API v1.

// newestFirst is the query for the latest objects first.
func newestFirst() url.Values { return url.Values{"order_by": {"-created_at"}} }

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
func (w *write) placed(step *planner.Step) []placement {
	var l []placement
	for _, p := range w.placements[step.Address] {
		if p.id == "" {
			p.id, _ = w.ids(p.step.Members.Container.Address)
		}
		if p.id != "" {
			l = append(l, p)
		}
	}
	return l
}

// place adds the containers that the object is to be in to the body of a create.
func (w *write) place(step *planner.Step, body []byte) []byte {
	overviews, ids := []*resource.Overview{}, map[*resource.Overview][]string{}
	for _, p := range w.placed(step) {
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
func (w *write) withoutPlaced(ctx context.Context, r row, members []member) (rest []member, in []string) {
	step := r.step
	list, ok := step.Kind.Op(resource.ListOverview, w.plan.API)
	if !ok {
		return members, nil
	}
	var created []string
	for _, m := range members {
		if _, ok := w.memory.createdInBatch(m.id); ok {
			created = append(created, m.id)
		}
	}
	w.memory.show(ctx, list, r.params, created, "-created_at")
	container := r.params[resource.MustLookup(step.Kind.Membership.Container).Param]
	for _, m := range members {
		if row, shown := w.memory.shownRow(m.id); shown && len(list.Overview.Members(step.Kind.Membership, container, []resource.Row{row})) > 0 {
			in = append(in, m.id)
		} else {
			rest = append(rest, m)
		}
	}
	return rest, in
}

// Confirm reads what the service made of the objects that the run's batches wrote, and of those whose IDs are in doubt. It
// completes their outcomes, in the result and in the journal: their readable identifiers,
// and warnings of values that are not as sent. Each value is compared with the last request
// that sent it. The next plan sees what is not read here.
func (s *Service) Confirm(ctx context.Context, r *executor.Result, journal executor.Journal) error {
	run := map[resource.Address]string{}
	ids := func(a resource.Address) (string, bool) {
		id := cmp.Or(run[a], s.plan.Known[a].ID)
		return id, id != ""
	}
	w := &write{Service: s, ids: ids}
	type group struct {
		kind   *resource.Kind
		parent *resource.Object
	}
	type sent struct {
		ids, fields    map[string]bool
		texts, changed bool
	}
	groups := map[group]*sent{}
	resent := map[fieldOf]planner.StepID{} // by a later step of the same object
	for i := range r.Steps {
		res := &r.Steps[i]
		if res.Status != executor.Done || res.Outcome.ID == "" || res.Step.Object == nil {
			continue
		}
		if run[res.Step.Address] != "" {
			for _, v := range res.Step.Values() {
				resent[fieldOf{res.Step.Address, v.Field}] = res.Step.Index
			}
		}
		run[res.Step.Address] = res.Outcome.ID
		if !s.memory.unseen[res.Step] {
			continue
		}
		at := group{res.Step.Kind, res.Step.Object.Parent}
		g := groups[at]
		if g == nil {
			g = &sent{ids: map[string]bool{}, fields: map[string]bool{"id": true, "sequence_id": true, "updated_at": true}}
			groups[at] = g
		}
		g.ids[res.Outcome.ID] = true
		g.changed = g.changed || res.Step.Action != planner.Create
		for _, v := range res.Step.Values() {
			if g.texts = g.texts || v.Field.Rich(); !resource.IsCustom(v) {
				g.fields[v.Field.APIName()] = true
			}
		}
	}
	last := func(step *planner.Step) *planner.Step { // without what was sent again
		return step.Sending(slices.DeleteFunc(slices.Clone(step.Values()), func(v *resource.Value) bool {
			return resent[fieldOf{step.Address, v.Field}] > step.Index
		}))
	}
	rows := map[string]resource.Row{}
	for at, g := range groups {
		list, ok := resource.OverviewOf(at.kind.Name)
		params, err := s.inParent(at.parent, ids)
		if !ok || err != nil {
			continue
		}
		order := "-created_at"
		if g.changed {
			order = "-updated_at"
			s.memory.forget(g.ids)
		}
		if v1, offered := at.kind.Op(resource.List, resource.V1); g.texts && offered {
			maps.Copy(rows, s.memory.readUntil(ctx, v1, params, order, strings.Join(slices.Sorted(maps.Keys(g.fields)), ","), g.ids))
			continue
		}
		s.memory.show(ctx, list, params, slices.Collect(maps.Keys(g.ids)), order)
		for id := range g.ids {
			if row, shown := s.memory.shownRow(id); shown {
				rows[id] = at.kind.FromV2(row)
			}
		}
	}
	for i := range r.Steps {
		res := &r.Steps[i]
		if s.claims.isDisputed(res.Step) && res.Status == executor.Done {
			out := s.settleDispute(ctx, last(res.Step), res.Outcome, ids)
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
		if !shown || res.Status != executor.Done || !s.memory.unseen[res.Step] {
			continue
		}
		out := w.confirmed(last(res.Step), res.Outcome, row)
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
func (w *write) confirmed(step *planner.Step, out executor.Outcome, row resource.Row) executor.Outcome {
	before := out.Values
	sent := step.Sending(slices.DeleteFunc(slices.Clone(step.Values()), func(v *resource.Value) bool { _, shows := row.Shown(v.Field); return !shows }))
	values := w.desired(step)
	w.verify(&out, sent, row, values)
	out.Values = w.digests(step, values)
	w.digestSent(step, row, out.Values)
	for _, v := range step.Values() {
		key := planner.ShownKey(v.Field.Name)
		if _, differs := out.Values[key]; differs && !v.Field.IsRef() && !w.memory.untouchedSince(row) || v.Field.Rich() && sent.Sends(v) == nil {
			out.Values[key] = cmp.Or(before[key], planner.Unverified(time.Time{}))
		}
	}
	out.Identifier = cmp.Or(w.identifier(step.Object, row), out.Identifier)
	return out
}

// batchValues are the values of an object as the state keeps them while nothing has shown its texts.
func (w *write) batchValues(step *planner.Step) map[string]string {
	values := w.digests(step, w.desired(step))
	w.digestSent(step, nil, values)
	for _, v := range step.Values() {
		if v.Field.Rich() {
			values[planner.ShownKey(v.Field.Name)] = planner.Unverified(w.client.Served())
		}
	}
	return values
}
