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

// writtenRows are the rows of one kind and parent that the batches of a run wrote.
type writtenRows struct {
	ids, fields    map[string]bool
	texts, changed bool
}

// written holds the objects and fields that the batches of a run wrote.
type written struct {
	*write

	run    map[resource.Address]string // the IDs of objects that the run wrote
	rows   map[placeOf]*writtenRows
	resent map[fieldOf]planner.StepID // by a later step of the same object
}

// placeOf is a kind and where its objects live.
type placeOf struct {
	kind   *resource.Kind
	parent *resource.Object
}

// Confirm reads what the service made of the objects that the run's batches wrote, and of those whose IDs are in doubt. It
// completes their outcomes, in the result and in the journal: their readable identifiers,
// and warnings of values that are not as sent. Each value is compared with the last request
// that sent it. The next plan sees what is not read here.
func (s *Service) Confirm(ctx context.Context, r *executor.Result, journal executor.Journal) error {
	w := &written{
		write: &write{Service: s}, run: map[resource.Address]string{}, rows: map[placeOf]*writtenRows{}, resent: map[fieldOf]planner.StepID{},
	}
	w.ids = func(a resource.Address) (string, bool) {
		id := cmp.Or(w.run[a], s.plan.Known[a].ID)
		return id, id != ""
	}
	for i := range r.Steps {
		if res := &r.Steps[i]; res.Status == executor.Done && res.Outcome.ID != "" && res.Step.Object != nil {
			w.note(res)
		}
	}
	rows := w.read(ctx)
	for i := range r.Steps {
		res := &r.Steps[i]
		row, shown := rows[res.Outcome.ID]
		if res.Status != executor.Done {
			continue
		}
		out := res.Outcome
		switch {
		case s.claims.isDisputed(res.Step):
			if out = s.settleDispute(ctx, w.last(res.Step), res.Outcome, w.ids); out.ID == res.Outcome.ID {
				res.Outcome = out
				continue
			}
		case shown && s.memory.unseen[res.Step]:
			out = w.confirmed(w.last(res.Step), res.Outcome, row)
		default:
			continue
		}
		if err := journal.Complete(res.Step, out, nil); err != nil {
			return err
		}
		out.Values = nil
		res.Outcome = out
	}
	return nil
}

// note gathers what a step wrote.
func (w *written) note(res *executor.StepResult) {
	if w.run[res.Step.Address] != "" {
		for _, v := range res.Step.Values() {
			w.resent[fieldOf{res.Step.Address, v.Field}] = res.Step.Index
		}
	}
	w.run[res.Step.Address] = res.Outcome.ID
	if !w.memory.unseen[res.Step] {
		return
	}
	at := placeOf{res.Step.Kind, res.Step.Object.Parent}
	g := w.rows[at]
	if g == nil {
		g = &writtenRows{ids: map[string]bool{}, fields: map[string]bool{"id": true, "sequence_id": true, "updated_at": true}}
		w.rows[at] = g
	}
	g.ids[res.Outcome.ID] = true
	g.changed = g.changed || res.Step.Action != planner.Create
	for _, v := range res.Step.Values() {
		if g.texts = g.texts || v.Field.Rich(); !resource.IsCustom(v) {
			g.fields[v.Field.APIName()] = true
		}
	}
}

// last returns a step without the values that a later step sent again.
func (w *written) last(step *planner.Step) *planner.Step {
	return step.Sending(slices.DeleteFunc(slices.Clone(step.Values()), func(v *resource.Value) bool {
		return w.resent[fieldOf{step.Address, v.Field}] > step.Index
	}))
}

// read returns the rows as the service shows them, by their IDs.
func (w *written) read(ctx context.Context) map[string]resource.Row {
	rows := map[string]resource.Row{}
	for at, g := range w.rows {
		list, ok := resource.OverviewOf(at.kind.Name)
		params, err := w.inParent(at.parent, w.ids)
		if !ok || err != nil {
			continue
		}
		order := "-created_at"
		if g.changed {
			order = "-updated_at"
			w.memory.forget(g.ids)
		}
		if v1, offered := at.kind.Op(resource.List, resource.V1); g.texts && offered {
			maps.Copy(rows, w.memory.readUntil(ctx, v1, params, order, strings.Join(slices.Sorted(maps.Keys(g.fields)), ","), g.ids))
			continue
		}
		w.memory.show(ctx, list, params, slices.Collect(maps.Keys(g.ids)), order)
		for id := range g.ids {
			if row, shown := w.memory.shownRow(id); shown {
				rows[id] = at.kind.FromV2(row)
			}
		}
	}
	return rows
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
