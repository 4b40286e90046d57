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
func (w *write) setCustom(ctx context.Context, r row) error {
	for _, v := range r.step.Values() {
		if !resource.IsCustom(v) {
			continue
		}
		id, ok := w.ids(v.Field.Definition.Address)
		if !ok {
			return fmt.Errorf("%s is not on the service", v.Field.Definition.Address)
		}
		at := maps.Clone(r.params)
		at[v.Field.Definition.Kind.Param] = id
		op := resource.CustomFieldOp(v)
		req := apiclient.Request{Operation: op, Params: at, Body: resource.CustomBody(v, op, w.resolve(r.step.Object, w.ids))}
		if _, err := w.client.Do(ctx, req); err != nil && (!v.Null || !notFound(err)) {
			return err
		}
	}
	return nil
}

// completeCustom sends the values of custom fields after a create by API v1. The object is there
// without them, so a refusal is a warning; the next plan has them again.
func (w *write) completeCustom(ctx context.Context, r row, out *executor.Outcome) {
	step := r.step
	err := w.setCustom(ctx, row{step: step, params: r.paramsWith(out.ID)})
	if err == nil {
		return
	}
	for _, v := range step.Values() {
		if resource.IsCustom(v) {
			delete(out.Values, v.Field.Name)
		}
	}
	out.Warnings.Add(diag.Diagnostic{
		Severity: diag.Warning, Code: "not-taken", Position: step.Position, Address: string(step.Address),
		Summary: "the custom fields were not set: " + diag.PlainText(err), Hint: "apply again",
	})
}

// inBody reports whether the body of a row holds the step's values of custom fields.
func (w *write) inBody(step *planner.Step) bool {
	return w.named[step] && !w.learned.lacks(setValue())
}

// setValue is the operation of API v1 that sets a value. It takes the place of custom_fields in API v2 where
// those are missing.
func setValue() *resource.Operation {
	op, _ := resource.MustLookup(resource.Property).Op(resource.SetValue, resource.V1)
	return op
}

// takesCustom reports whether API v2 stores the custom fields that it gets. The first object that shows it
// tells: the service may leave them out without an error.
func (w *write) takesCustom(ctx context.Context, r row, id string) bool {
	step := r.step
	if lacks := w.learned.lacks(setValue()); lacks || w.learned.seenCustom(false) {
		return !lacks
	}
	op, _ := resource.MustLookup(resource.Property).Op(resource.GetFields, resource.V2)
	res, err := w.client.Do(ctx, apiclient.Request{Operation: op, Params: r.paramsWith(id)})
	if err != nil {
		w.learned.disable(setValue(), err)
		return false
	}
	shown, ok := res.Row["custom_fields"].(map[string]any)
	for _, v := range step.Values() {
		if !resource.IsCustom(v) {
			continue
		}
		value, there := shown[w.customName(v.Field.Definition)]
		if details, isObject := value.(map[string]any); isObject {
			value = details["value"]
		}
		want, _ := v.Desired(w.resolve(step.Object, w.ids))
		before := w.plan.Known[step.Address].Values[v.Field.Name]
		still := before != resource.Digest(want) && fmt.Sprint(value) == v.Field.WithoutProperty(before)
		if !ok || there == v.Null || there && still {
			w.learned.disable(setValue(), errors.New("API v2 leaves out custom_fields"))
			return false
		}
		w.learned.seenCustom(there) // one that is cleared may have had no value
	}
	return true
}

// namesCustom reports whether it is known how API v2 names the custom fields of a step. A list
// of the project tells, which is read when one is not known yet.
func (w *write) namesCustom(ctx context.Context, r row) bool {
	for _, v := range r.step.Values() {
		if !resource.IsCustom(v) {
			continue
		}
		id, _ := w.ids(v.Field.Definition.Address)
		name, known := w.learned.customName(id)
		if !known {
			op, _ := resource.MustLookup(resource.Property).Op(resource.ListNames, resource.V2)
			rows, err := w.client.List(ctx, apiclient.Request{Operation: op, Params: r.params, Query: url.Values{"fields": {"id,name"}}})
			if err != nil {
				rows = nil // they are sent by API v1
			}
			w.learned.nameCustom(id, rows)
			name, _ = w.learned.customName(id)
		}
		if name == "" {
			return false
		}
	}
	return true
}

// customName is the name of a property in bodies of API v2, or "".
func (w *write) customName(definition *resource.Object) string {
	id, _ := w.ids(definition.Address)
	name, _ := w.learned.customName(id)
	return name
}
