package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// create sends a create until its outcome is known, or will be looked up later.
func (w *write) create(ctx context.Context, r row) (executor.Outcome, error) {
	step := r.step
	if err := w.reserveSecretFile(step); err != nil {
		return executor.Outcome{}, stepError(step, err)
	}
	for {
		r.lost = w.lostCreate(step)
		res, err := w.upload(ctx, r)
		if err == nil {
			err = w.mixedUpError(r, w.claimNew(step, res.Row))
		}
		e, refused := errors.AsType[*apiclient.Error](err)
		there, exists := errors.AsType[*foundError](err)
		switch {
		case exists:
			return w.adoptOwn(ctx, r, there.row)
		case err == nil:
			var kept executor.Outcome
			w.storeSecret(step, res.Secret, &kept) // first of all, because no other answer shows it
			shown := w.completeRow(ctx, r, res.Row)
			out := w.createdOutcome(step, shown)
			w.recordRewrites(step, shown, out.Values)
			w.completeCustom(ctx, r, &out)
			out.Warnings.Add(kept.Warnings...)
			return out, nil
		case refused && e.Effect == apiclient.Rejected:
			out, err := w.resolveRefused(ctx, r, e)
			return out, w.downgradeGeneric(step, err)
		case !errors.Is(err, executor.ErrOutcomeUnknown) && (!refused || e.Effect != apiclient.UnknownEffect):
			return executor.Outcome{}, stepError(step, err)
		}
		r.lost = w.recordLost(step, err)
		if len(w.settle(ctx, []row{r})) == 0 {
			return w.attempts[r.at].Outcome, w.attempts[r.at].Err
		}
	}
}

// appliedOutcome returns the outcome of a step after which the object has these values.
func (w *write) appliedOutcome(step *planner.Step, id string, values map[*resource.Field]string) executor.Outcome {
	return executor.Outcome{Record: planner.Record{
		ID: id, Identifier: w.plan.Known[step.Address].Identifier, CreatedByUs: step.Write.CreatedByUs, Values: w.stateValues(step, values),
	}}
}

// createdOutcome returns the outcome of a create from the object in the answer.
func (w *write) createdOutcome(step *planner.Step, shown resource.Row) executor.Outcome {
	values := w.desiredValues(step)
	out := w.appliedOutcome(step, shown.ID(), values)
	out.Identifier, out.CreatedByUs = w.readableID(step.Object, shown), step.Action == planner.Create
	w.verify(&out, step, shown, values)
	out.Warnings.Add(w.unsentFields(step)...)
	return out
}

func (w *write) update(ctx context.Context, r row) (executor.Outcome, error) {
	var shown resource.Row
	if !r.step.OnlyCustom() {
		res, err := w.sendOne(ctx, r)
		if err != nil {
			return executor.Outcome{}, stepError(r.step, err)
		}
		shown = w.completeRow(ctx, r, res.Row)
	}
	if err := w.sendCustom(ctx, r); err != nil {
		return executor.Outcome{}, stepError(r.step, err)
	}
	values := w.desiredValues(r.step)
	out := w.appliedOutcome(r.step, r.params[r.step.Kind.Param], values)
	w.verify(&out, r.step, shown, values)
	w.recordRewrites(r.step, shown, out.Values)
	return out, nil
}

// completeRow returns the object after a write. It reads the object again if the answer lacks a list that was sent.
func (w *write) completeRow(ctx context.Context, r row, shown resource.Row) resource.Row {
	op, ok := w.operation(r.step, resource.Get)
	id := cmp.Or(shown.ID(), r.params[r.step.Kind.Param])
	if !ok || id == "" || !slices.ContainsFunc(r.step.Values(), func(v *resource.Value) bool {
		_, shows := shown.Shown(v.Field)
		return v.Field.Type == resource.RefSet && !shows && !resource.IsCustom(v)
	}) {
		return shown
	}
	if res, err := w.client.Do(ctx, apiclient.Request{Operation: op, Params: r.paramsWith(id)}); err == nil && res.Row.ID() == id {
		return res.Row
	}
	return shown
}

// recordRewrites adds to the applied values those that the service rewrote.
func (w *write) recordRewrites(step *planner.Step, row resource.Row, applied map[string]string) {
	resolve := w.idResolver(step.Object, w.ids)
	inRun, _ := w.memory.values.get(step.Address)
	known := planner.MergeValues(w.plan.Known[step.Address].Values, inRun)
	for i := range step.Object.Values {
		v := &step.Object.Values[i]
		key := planner.ShownKey(v.Field.Name)
		sent := step.Sends(v)
		if sent == nil {
			if before, ok := known[key]; ok {
				applied[key] = before
			}
			continue
		}
		want, complete := sent.Desired(resolve)
		if v.Field.Past && step.Action == planner.Create { // the answer does not show the stored value
			continue
		}
		if have, known := v.Field.ObservedIn(row); (complete || v.Field.Rich()) && known && !v.Field.Agrees(want, have) {
			applied[key] = planner.ShownValue(have)
			if !v.Field.IsCoveredBy(want, have) {
				applied[key] = planner.LeftOutValue(have)
			}
		}
	}
}

// sendOne sends the request of a create or update in the service's dialect.
func (w *write) sendOne(ctx context.Context, r row) (*apiclient.Response, error) {
	step, extra, resolve := r.step, w.extraFields(r), w.idResolver(r.step.Object, w.ids)
	dialect := w.traits.dialect(step.Kind, step.Operation)
	values := slices.DeleteFunc(slices.Clone(step.Values()), func(v *resource.Value) bool {
		return resource.IsCustom(v) || v.Field.ArchiveFlag
	})
	body := func(d resource.Dialect) []byte {
		return step.Operation.Enclose(resource.Body(values, d, resolve, extra...))
	}
	if step.Kind.Inside() != "" {
		return w.sendInside(ctx, r, resource.Body(values, dialect, resolve, extra...))
	}
	req := apiclient.Request{Operation: step.Operation, Params: r.params, Body: body(dialect), Again: w.checkBeforeRetry([]row{r}, 0)}
	res, err := w.client.Do(ctx, req)
	if other, ok := w.otherDialect(step, dialect, err); ok {
		req.Body = body(other)
		if res, err = w.client.Do(ctx, req); err == nil {
			w.traits.dialects.set(step.Kind.Name, other)
		}
	}
	if err != nil {
		return nil, err
	}
	if step.Operation.ListInBody != "" && len(res.Rows) == 1 {
		res.Row = res.Rows[0]
	}
	if d, known := step.Kind.DialectOf(res.Row); known && step.Kind.HasDialects() {
		w.traits.dialects.set(step.Kind.Name, d)
	}
	return res, nil
}

// extraFields returns the fields of a body besides the values: path parameters that the body repeats, an identifier chosen by people, and
// the external ID.
func (s *Service) extraFields(r row) [][2]string {
	step := r.step
	var extra [][2]string
	if step.Operation.Verb == resource.Create {
		for _, name := range step.Operation.Body {
			extra = append(extra, [2]string{name, r.params[name]})
		}
	}
	if id := step.Kind.Identifier; step.Action == planner.Create && id != nil && id.APIName != "" && step.Object.Identifier != "" {
		extra = append(extra, [2]string{id.APIName, step.Object.Identifier})
	}
	for _, v := range step.Values() {
		if v.Content != nil {
			extra = append(extra, [2]string{"type", v.Content.Media})
		}
		if v.Field.ArchiveFlag { // of a new object, which is archived at once
			extra = append(extra, [2]string{v.Field.APIName(), today()})
		}
	}
	return append(extra, s.externalIDs(step)...)
}

func (s *Service) usesExternalID(step *planner.Step) bool {
	return step.Kind.HasExternalID && s.plan.API.Wide()
}

// externalIDs returns the fields that mark an object as planform's, if the step sends them.
func (s *Service) externalIDs(step *planner.Step) [][2]string {
	if step.Action == planner.Create && s.usesExternalID(step) || step.Write.SetExternalID {
		return s.plan.Marks().Fields(step.Address)
	}
	return nil
}

// mixedUpError returns the error of an answer that belongs to another request, or nil if wrong is nil.
func (w *write) mixedUpError(r row, wrong error) error {
	if wrong == nil {
		return nil
	}
	path, _ := r.step.Operation.Expand(r.params)
	return fmt.Errorf("%s %s: %w: %w", r.step.Operation.Method, path, wrong, executor.ErrOutcomeUnknown)
}

// readableID returns the readable identifier of an object that was just created, or "".
func (s *Service) readableID(o *resource.Object, row resource.Row) string {
	if o.Parent == nil {
		return o.Kind.ReadableID(row, "")
	}
	return o.Kind.ReadableID(row, cmp.Or(s.plan.Known[o.Parent.Address].Identifier, strings.ToUpper(o.Parent.Identifier)))
}

// otherDialect returns the dialect to retry with if a refusal names a required field by its other spelling. Nothing was done in that case.
func (s *Service) otherDialect(step *planner.Step, used resource.Dialect, err error) (resource.Dialect, bool) {
	var e *apiclient.Error
	if s.plan.API == resource.Documented || !step.Kind.HasDialects() || !errors.As(err, &e) || e.Status != 400 {
		return used, false
	}
	other := resource.NewerDialect
	if used == resource.NewerDialect {
		other = resource.ContractDialect
	}
	named := slices.ContainsFunc(step.Values(), func(v *resource.Value) bool {
		_, named := e.Fields[v.Field.Wire[other]]
		return named && v.Field.Required && v.Field.Renamed()
	})
	return other, named
}
