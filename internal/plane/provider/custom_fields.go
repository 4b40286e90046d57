package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// customValues returns the values of a step for custom fields.
func customValues(step *planner.Step) []*resource.Value {
	return slices.DeleteFunc(slices.Clone(step.Values()), func(v *resource.Value) bool { return !resource.IsCustom(v) })
}

// sendCustom sends the values of custom fields with API v1, one request for each. Repeating a request is harmless.
func (w *write) sendCustom(ctx context.Context, r row) error {
	for _, v := range customValues(r.step) {
		id, ok := w.ids(v.Field.Definition.Address)
		if !ok {
			return fmt.Errorf("%s is not on the service", v.Field.Definition.Address)
		}
		at := maps.Clone(r.params)
		at[v.Field.Definition.Kind.Param] = id
		op := resource.CustomFieldOp(v)
		req := apiclient.Request{Operation: op, Params: at, Body: resource.CustomBody(v, op, w.idResolver(r.step.Object, w.ids))}
		if _, err := w.client.Do(ctx, req); err != nil && (!v.Null || !isNotFound(err)) {
			return err
		}
	}
	return nil
}

// completeCustom sends the values of custom fields with API v1 after a create. A refusal is only a warning, because the object exists; the
// next plan contains the values again.
func (w *write) completeCustom(ctx context.Context, r row, out *executor.Outcome) {
	step := r.step
	err := w.sendCustom(ctx, row{step: step, params: r.paramsWith(out.ID)})
	if err == nil {
		return
	}
	for _, v := range customValues(step) {
		delete(out.Values, v.Field.Name)
	}
	out.Warnings.Add(diag.Diagnostic{
		Severity: diag.Warning, Code: "not-taken", Position: step.Position, Address: string(step.Address),
		Summary: "the custom fields were not set: " + diag.PlainText(err), Hint: "apply again",
	})
}

// hasCustomInBody reports whether the body of the step's row contains its custom fields.
func (w *write) hasCustomInBody(step *planner.Step) bool {
	return w.customNamed[step] && !w.traits.lacks(setValueOp())
}

// setValueOp returns the operation of API v1 that sets a value. It replaces custom_fields if API v2 does not support them.
func setValueOp() *resource.Operation {
	op, _ := resource.MustLookup(resource.Property).Op(resource.SetValue, resource.V1)
	return op
}

// storesCustom reports whether API v2 stores the custom fields that were sent. The service may drop them without an error, so the first
// object that shows custom fields decides.
func (w *write) storesCustom(ctx context.Context, r row, id string) bool {
	step := r.step
	if lacks := w.traits.lacks(setValueOp()); lacks || w.traits.storesCustom.Load() {
		return !lacks
	}
	op, _ := resource.MustLookup(resource.Property).Op(resource.GetFields, resource.V2)
	res, err := w.client.Do(ctx, apiclient.Request{Operation: op, Params: r.paramsWith(id)})
	if err != nil {
		_ = w.traits.missing.set(setValueOp(), err)
		return false
	}
	shown, ok := res.Row["custom_fields"].(map[string]any)
	for _, v := range customValues(step) {
		value, there := shown[w.customName(v.Field.Definition)]
		if details, isObject := value.(map[string]any); isObject {
			value = details["value"]
		}
		want, _ := v.Desired(w.idResolver(step.Object, w.ids))
		before := w.plan.Known[step.Address].Values[v.Field.Name]
		still := before != resource.Digest(want) && fmt.Sprint(value) == v.Field.WithoutProperty(before)
		if !ok || there == v.Null || there && still {
			_ = w.traits.missing.set(setValueOp(), errors.New("API v2 leaves out custom_fields"))
			return false
		}
		if there { // a cleared value may have been empty before
			w.traits.storesCustom.Store(true)
		}
	}
	return true
}

// loadCustomNames reports whether the names of a step's custom fields in API v2 are known. It reads a list of the project if one is
// unknown.
func (w *write) loadCustomNames(ctx context.Context, r row) bool {
	for _, v := range customValues(r.step) {
		id, _ := w.ids(v.Field.Definition.Address)
		name, known := w.traits.customNames.get(id)
		if !known {
			op, _ := resource.MustLookup(resource.Property).Op(resource.ListNames, resource.V2)
			rows, err := w.client.List(ctx, apiclient.Request{Operation: op, Params: r.params, Query: url.Values{"fields": {"id,name"}}})
			if err != nil {
				rows = nil // API v1 sends the values then
			}
			w.traits.customNames.set(id, "")
			for _, row := range rows {
				w.traits.customNames.set(row.ID(), row.Text("name"))
			}
			name, _ = w.traits.customNames.get(id)
		}
		if name == "" {
			return false
		}
	}
	return true
}

// customName returns the name of a property in bodies of API v2, or "".
func (w *write) customName(definition *resource.Object) string {
	id, _ := w.ids(definition.Address)
	name, _ := w.traits.customNames.get(id)
	return name
}
