package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

func (s *Service) create(ctx context.Context, step *planner.Step, params map[string]string, ids executor.IDs) (executor.Outcome, error) {
	for u := s.lostCreate(step); ; {
		if u != nil {
			if again, out, err := s.resolveLostCreate(ctx, step, u, params, ids); !again {
				return out, err
			}
		}
		res, err := s.upload(ctx, step, params, ids)
		if err == nil {
			err = s.mixedUp(step, params, s.claim(step, res.Row, true))
		}
		e, refused := errors.AsType[*apiclient.Error](err)
		there, exists := errors.AsType[*foundError](err)
		switch {
		case exists:
			return s.adoptOwn(ctx, step, there.row, params, ids)
		case err == nil:
			row := s.completeRow(ctx, step, params, res.Row)
			out := s.created(step, row, ids)
			s.digestSent(step, row, out.Values, ids)
			s.completeCustom(ctx, step, params, ids, &out)
			if u != nil {
				s.checkSingle(ctx, step, u, params, &out)
			}
			return out, nil
		case refused && e.Effect == apiclient.Rejected:
			out, err := s.resolveFailedCreate(ctx, step, u, params, ids, e)
			return out, s.downgradeGeneric(step, err)
		case !errors.Is(err, executor.ErrOutcomeUnknown) && (!refused || e.Effect != apiclient.UnknownEffect):
			return executor.Outcome{}, failure(step, err)
		}
		u = s.giveUp(step, err)
	}
}

// created is the outcome of a create from the object that the service returned.
func (s *Service) created(step *planner.Step, row resource.Row, ids executor.IDs) executor.Outcome {
	values := s.desired(step, ids)
	out := executor.Outcome{Record: planner.Record{ID: row.ID(), Identifier: s.identifier(step.Object, row), CreatedByUs: step.Action == planner.Create, Values: digests(values)}}
	s.verify(&out, step, row, values, ids)
	out.Warnings.Add(s.unsentFields(step, ids)...)
	return out
}

func (s *Service) update(ctx context.Context, step *planner.Step, params map[string]string, ids executor.IDs) (executor.Outcome, error) {
	var row resource.Row
	if !step.OnlyCustom() {
		res, err := s.send(ctx, step, params, ids)
		if err != nil {
			return executor.Outcome{}, failure(step, err)
		}
		row = s.completeRow(ctx, step, params, res.Row)
	}
	if err := s.setCustom(ctx, step, params, ids); err != nil {
		return executor.Outcome{}, failure(step, err)
	}
	values := s.desired(step, ids)
	out := executor.Outcome{Record: planner.Record{ID: params[step.Kind.Param], Identifier: s.plan.Known[step.Address].Identifier, CreatedByUs: step.CreatedByUs, Values: digests(values)}}
	s.verify(&out, step, row, values, ids)
	s.digestSent(step, row, out.Values, ids)
	return out, nil
}

// completeRow is the object after a write, read again where the answer leaves out a list that was sent.
func (s *Service) completeRow(ctx context.Context, step *planner.Step, params map[string]string, row resource.Row) resource.Row {
	op, ok := s.operation(step, resource.Get)
	id := cmp.Or(row.ID(), params[step.Kind.Param])
	if !ok || id == "" || !slices.ContainsFunc(step.Values, func(v *resource.Value) bool {
		_, shows := row.Shown(v.Field)
		return v.Field.Type == resource.RefSet && !shows && !resource.IsCustom(v)
	}) {
		return row
	}
	at := maps.Clone(params)
	at[step.Kind.Param] = id
	if res, err := s.client.Do(ctx, apiclient.Request{Operation: op, Params: at}); err == nil && res.Row.ID() == id {
		return res.Row
	}
	return row
}

// digestSent adds to the applied values those into which the service rewrote them.
func (s *Service) digestSent(step *planner.Step, row resource.Row, applied map[string]string, ids executor.IDs) {
	resolve := s.resolve(step.Object, ids)
	known := s.known(step.Address)
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
		if v.Field.Past && step.Action == planner.Create { // the answer does not say what was stored
			continue
		}
		if have, known := v.Field.ObservedIn(row); (complete || v.Field.Rich()) && known && !v.Field.Agrees(want, have) {
			applied[key] = planner.Shown(have)
			if !v.Field.IsCoveredBy(want, have) {
				applied[key] = planner.LeftOut(have)
			}
		}
	}
}

// known are the values of an object that the state has, or will have by what is done.
func (s *Service) known(address resource.Address) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return planner.MergeValues(s.plan.Known[address].Values, s.learnt[address])
}

// send makes the request of a create or update, in the dialect that the service uses.
func (s *Service) send(ctx context.Context, step *planner.Step, params map[string]string, ids executor.IDs) (*apiclient.Response, error) {
	extra := s.extraFields(step, params)
	resolve := s.resolve(step.Object, ids)
	dialect := s.dialect(step.Kind, step.Operation)
	values := slices.DeleteFunc(slices.Clone(step.Values), resource.IsCustom)
	body := func(d resource.Dialect) []byte {
		return step.Operation.Enclose(resource.Body(values, d, resolve, extra...))
	}
	req := apiclient.Request{Operation: step.Operation, Params: params, Body: body(dialect), Again: s.lookAgain(step, params)}
	res, err := s.client.Do(ctx, req)
	if other, ok := s.otherDialect(step, dialect, err); ok {
		req.Body = body(other)
		if res, err = s.client.Do(ctx, req); err == nil {
			s.setDialect(step.Kind, other)
		}
	}
	if err == nil && step.Operation.ListInBody != "" && len(res.Rows) == 1 {
		res.Row = res.Rows[0]
	}
	if err == nil {
		if d, known := step.Kind.DialectOf(res.Row); known {
			s.setDialect(step.Kind, d)
		}
	}
	return res, err
}

// extraFields are the fields of a body besides the values: path parameters that the
// service wants repeated, the identifier that people chose, and the external ID.
func (s *Service) extraFields(step *planner.Step, params map[string]string) [][2]string {
	var extra [][2]string
	for _, name := range step.Operation.RepeatInBody {
		extra = append(extra, [2]string{name, params[name]})
	}
	if id := step.Kind.Identifier; step.Action == planner.Create && id != nil && id.APIName != "" && step.Object.Identifier != "" {
		extra = append(extra, [2]string{id.APIName, step.Object.Identifier})
	}
	for _, v := range step.Values {
		if v.Content != nil {
			extra = append(extra, [2]string{"type", v.Content.Media})
		}
	}
	return append(extra, s.externalIDs(step)...)
}

// externalIDs are the fields that mark an object as planform's, where the step sends them.
func (s *Service) externalIDs(step *planner.Step) [][2]string {
	if step.Action == planner.Create && s.usesExternalID(step) || step.SetExternalID {
		return [][2]string{{"external_source", resource.ExternalSource}, {"external_id", resource.ExternalID(s.plan.Workspace, step.Address)}}
	}
	return nil
}

// mixedUp is the error of an answer that says nothing about the step, nil if that is not wrong.
func (s *Service) mixedUp(step *planner.Step, params map[string]string, wrong error) error {
	if wrong == nil {
		return nil
	}
	path, _ := step.Operation.Expand(params)
	return fmt.Errorf("%s %s: %w: %w", step.Operation.Method, path, wrong, executor.ErrOutcomeUnknown)
}

// identifier is the readable identifier of an object that was just created, or "".
func (s *Service) identifier(o *resource.Object, row resource.Row) string {
	id := o.Kind.Identifier
	if id == nil {
		return ""
	}
	if id.APIName != "" {
		shown, _ := row[id.APIName].(string)
		return shown
	}
	if o.Parent == nil || row["sequence_id"] == nil {
		return ""
	}
	code := s.plan.Known[o.Parent.Address].Identifier
	if code == "" {
		code = strings.ToUpper(o.Parent.Identifier)
	}
	number, err := strconv.Atoi(fmt.Sprint(row["sequence_id"]))
	if code == "" || err != nil {
		return ""
	}
	return code + "-" + strconv.Itoa(number)
}

// dialect is how the service names the kind's fields in an operation, as far as is known.
func (s *Service) dialect(k *resource.Kind, op *resource.Operation) resource.Dialect {
	if op.V2() {
		return resource.V2Dialect
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialects[k.Name]
}

func (s *Service) setDialect(k *resource.Kind, d resource.Dialect) {
	if !k.HasDialects() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dialects[k.Name] = d
}

// otherDialect is the one that the service uses if it refused a body because it has another name for a required field;
// nothing was done then.
func (s *Service) otherDialect(step *planner.Step, used resource.Dialect, err error) (resource.Dialect, bool) {
	var e *apiclient.Error
	if s.plan.API == resource.Documented || !step.Kind.HasDialects() || !errors.As(err, &e) || e.Status != 400 {
		return used, false
	}
	other := resource.NewerDialect
	if used == resource.NewerDialect {
		other = resource.ContractDialect
	}
	named := slices.ContainsFunc(step.Values, func(v *resource.Value) bool {
		_, named := e.Fields[v.Field.Wire[other]]
		return named && v.Field.Required && v.Field.Renamed()
	})
	return other, named
}
