package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// setCustom sends the values of custom fields by API v1, a request for each. Repeating one is harmless.
func (s *Service) setCustom(ctx context.Context, step *planner.Step, params map[string]string, ids executor.IDs) error {
	for _, v := range step.Values {
		if !resource.IsCustom(v) {
			continue
		}
		id, ok := ids(v.Field.Definition.Address)
		if !ok {
			return fmt.Errorf("%s is not on the service", v.Field.Definition.Address)
		}
		at := maps.Clone(params)
		at[v.Field.Definition.Kind.Param] = id
		req := apiclient.Request{Operation: resource.CustomFieldOp(v), Params: at}
		if !v.Null {
			req.Body = resource.Body([]*resource.Value{v}, resource.ContractDialect, s.resolve(step.Object, ids))
		}
		if _, err := s.client.Do(ctx, req); err != nil && (!v.Null || !notFound(err)) {
			return err
		}
	}
	return nil
}

// completeCustom sends the values of custom fields after a create by API v1. The object is there
// without them, so a refusal is a warning; the next plan has them again.
func (s *Service) completeCustom(ctx context.Context, step *planner.Step, params map[string]string, ids executor.IDs, out *executor.Outcome) {
	at := maps.Clone(params)
	at[step.Kind.Param] = out.ID
	err := s.setCustom(ctx, step, at, ids)
	if err == nil {
		return
	}
	for _, v := range step.Values {
		if resource.IsCustom(v) {
			delete(out.Values, v.Field.Name)
		}
	}
	out.Warnings.Add(diag.Diagnostic{
		Severity: diag.Warning, Code: "not-taken", Position: step.Position, Address: string(step.Address),
		Summary: "the custom fields were not set: " + err.Error(), Hint: "apply again",
	})
}

// inBody reports whether the body of a row holds the step's values of custom fields.
func (b *batch) inBody(step *planner.Step) bool {
	return b.named[step] && !b.withoutBulk(setValue())
}

// setValue is the operation of API v1 that sets a value. It takes the place of custom_fields in API v2 where
// those are missing.
func setValue() *resource.Operation {
	op, _ := resource.MustLookup(resource.Property).Op(resource.SetValue, resource.V1)
	return op
}

// takesCustom reports whether API v2 stores the custom fields that it gets. The first object that shows it
// tells: the service may leave them out without an error.
func (s *Service) takesCustom(ctx context.Context, step *planner.Step, params map[string]string, id string, ids executor.IDs) bool {
	if s.customChecked.Load() || s.withoutBulk(setValue()) {
		return !s.withoutBulk(setValue())
	}
	op, _ := resource.MustLookup(resource.Property).Op(resource.GetFields, resource.V2)
	at := maps.Clone(params)
	at[step.Kind.Param] = id
	res, err := s.client.Do(ctx, apiclient.Request{Operation: op, Params: at})
	if err != nil {
		s.giveUpBulk(setValue(), err)
		return false
	}
	shown, ok := res.Row["custom_fields"].(map[string]any)
	for _, v := range step.Values {
		if !resource.IsCustom(v) {
			continue
		}
		value, there := shown[s.customName(v.Field.Definition, ids)]
		if details, isObject := value.(map[string]any); isObject {
			value = details["value"]
		}
		want, _ := v.Desired(s.resolve(step.Object, ids))
		before := s.plan.Known[step.Address].Values[v.Field.Name]
		still := before != resource.Digest(want) && fmt.Sprint(value) == v.Field.WithoutProperty(before)
		if !ok || there == v.Null || there && still {
			s.giveUpBulk(setValue(), errors.New("API v2 leaves out custom_fields"))
			return false
		}
		s.customChecked.CompareAndSwap(false, there) // one that is cleared may have had no value
	}
	return true
}

// namesCustom reports whether it is known how API v2 names the custom fields of a step. A list
// of the project tells, which is read when one is not known yet.
func (s *Service) namesCustom(ctx context.Context, step *planner.Step, params map[string]string, ids executor.IDs) bool {
	for _, v := range step.Values {
		if !resource.IsCustom(v) {
			continue
		}
		id, _ := ids(v.Field.Definition.Address)
		s.mu.Lock()
		name, asked := s.customNames[id]
		s.mu.Unlock()
		if !asked {
			s.readCustomNames(ctx, params, id)
			name = s.customName(v.Field.Definition, ids)
		}
		if name == "" {
			return false
		}
	}
	return true
}

func (s *Service) readCustomNames(ctx context.Context, params map[string]string, wanted string) {
	op, _ := resource.MustLookup(resource.Property).Op(resource.ListNames, resource.V2)
	rows, err := s.client.List(ctx, apiclient.Request{Operation: op, Params: params, Query: url.Values{"fields": {"id,name"}}})
	if err != nil {
		rows = nil // they are sent by API v1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.customNames[wanted] = ""
	for _, row := range rows {
		s.customNames[row.ID()], _ = row["name"].(string)
	}
}

// customName is the name of a property in bodies of API v2, or "".
func (s *Service) customName(definition *resource.Object, ids executor.IDs) string {
	id, _ := ids(definition.Address)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.customNames[id]
}
