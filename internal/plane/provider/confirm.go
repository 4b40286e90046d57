package provider

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// The answer to a batch contains only IDs. The list of API v2 shows the containers of the rows, see withoutPlaced. The list of API v1 shows
// the values of the rows, including texts.

// writtenRows holds the rows of one kind and parent that the batches of a run wrote.
type writtenRows struct {
	ids, fields map[string]bool
	changed     bool
}

// confirmation holds the objects and fields that the batches of a run wrote.
type confirmation struct {
	*write

	run    map[resource.Address]string // IDs of the objects that the run wrote
	rows   map[listOf]*writtenRows
	resent map[fieldOf]planner.StepID // the later step that sent a field of the same object again
}

// Confirm reads the objects that the run's batches wrote, and objects whose IDs are in doubt. It completes their outcomes in the result and
// in the journal: readable identifiers, and warnings about values that differ from the sent ones. Each value is compared with the last
// request that sent it. The next plan sees objects that could not be read here.
func (s *Service) Confirm(ctx context.Context, r *executor.Result, journal executor.Journal) error {
	w := &confirmation{
		write: &write{Service: s}, run: map[resource.Address]string{}, rows: map[listOf]*writtenRows{}, resent: map[fieldOf]planner.StepID{},
	}
	w.ids = func(a resource.Address) (string, bool) {
		id := cmp.Or(w.run[a], s.plan.Known[a].ID)
		return id, id != ""
	}
	for i := range r.Steps {
		if res := &r.Steps[i]; res.Status == executor.Done && res.Outcome.ID != "" && res.Step.Object != nil {
			w.recordStep(res)
		}
	}
	rows := w.readRows(ctx)
	for i := range r.Steps {
		res := &r.Steps[i]
		row, shown := rows[res.Outcome.ID]
		out := res.Outcome
		switch {
		case res.Status != executor.Done:
			continue
		case res.Step.Action == planner.Create && s.claims.isDisputed(res.Step.Address):
			out = w.resolveDispute(ctx, w.withoutResent(res.Step), out)
		case shown && w.isUnseen(res.Step):
			out = w.confirmedOutcome(w.withoutResent(res.Step), out, row)
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

// recordStep records what a step wrote.
func (cf *confirmation) recordStep(res *executor.StepResult) {
	if cf.run[res.Step.Address] != "" {
		for _, v := range res.Step.Values() {
			cf.resent[fieldOf{res.Step.Address, v.Field}] = res.Step.Index
		}
	}
	cf.run[res.Step.Address] = res.Outcome.ID
	if !cf.isUnseen(res.Step) {
		return
	}
	at := listOf{res.Step.Kind, res.Step.Object.Parent}
	g := cf.rows[at]
	if g == nil {
		g = &writtenRows{ids: map[string]bool{}, fields: map[string]bool{"id": true, "sequence_id": true, "updated_at": true}}
		cf.rows[at] = g
	}
	g.ids[res.Outcome.ID] = true
	g.changed = g.changed || res.Step.Action != planner.Create
	for _, v := range res.Step.Values() {
		if !resource.IsCustom(v) {
			g.fields[v.Field.APIName()] = true
		}
	}
}

// isUnseen reports whether a batch sent a step, so that no answer has shown its values.
func (cf *confirmation) isUnseen(step *planner.Step) bool {
	unseen, _ := cf.memory.unseen.get(step)
	return unseen
}

// withoutResent returns a step without the values that a later step sent again.
func (cf *confirmation) withoutResent(step *planner.Step) *planner.Step {
	return step.Sending(slices.DeleteFunc(slices.Clone(step.Values()), func(v *resource.Value) bool {
		return cf.resent[fieldOf{step.Address, v.Field}] > step.Index
	}))
}

// readRows returns the rows of kinds whose objects have numbers, by ID.
func (cf *confirmation) readRows(ctx context.Context) map[string]resource.Row {
	rows := map[string]resource.Row{}
	for at, g := range cf.rows {
		list, ok := at.kind.Op(resource.List, resource.V1)
		params, err := cf.parentParams(at.parent, cf.ids)
		if !ok || err != nil || !at.kind.Numbered() {
			continue
		}
		order := "-created_at"
		if g.changed {
			order = "-updated_at"
		}
		maps.Copy(rows, cf.memory.readUntil(ctx, list, params, order, strings.Join(slices.Sorted(maps.Keys(g.fields)), ","), g.ids))
	}
	return rows
}

// confirmedOutcome returns the outcome of a batch row whose object was read. If nobody has changed the object since, differences from the
// sent values are the service's own forms of them.
func (w *write) confirmedOutcome(step *planner.Step, out executor.Outcome, row resource.Row) executor.Outcome {
	before := out.Values
	sent := step.Sending(slices.DeleteFunc(slices.Clone(step.Values()), func(v *resource.Value) bool { _, shows := row.Shown(v.Field); return !shows }))
	values := w.desiredValues(step)
	w.verify(&out, sent, row, values)
	out.Values = w.stateValues(step, values)
	w.recordRewrites(step, row, out.Values)
	for _, v := range step.Values() {
		key := planner.ShownKey(v.Field.Name)
		if _, differs := out.Values[key]; differs && !v.Field.IsRef() && !w.memory.isUntouched(row) || v.Field.Rich() && sent.Sends(v) == nil {
			out.Values[key] = cmp.Or(before[key], planner.UnverifiedValue(time.Time{}))
		}
	}
	out.Identifier = cmp.Or(w.readableID(step.Object, row), out.Identifier)
	return out
}

// batchValues returns the values of an object for the state, as long as its texts have not been read.
func (w *write) batchValues(step *planner.Step) map[string]string {
	values := w.stateValues(step, w.desiredValues(step))
	w.recordRewrites(step, nil, values)
	for _, v := range step.Values() {
		if v.Field.Rich() {
			values[planner.ShownKey(v.Field.Name)] = planner.UnverifiedValue(w.client.Served())
		}
	}
	return values
}
