package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// nameID returns the ID of a name that was looked up for the plan or during the run.
func (s *Service) nameID(n planner.Name) (string, bool) {
	if id, ok := s.plan.Names[n]; ok {
		return id, true
	}
	return s.memory.names.get(n)
}

// resolveRuntimeNames looks up names in a step's values that exist only since the run created their parent, such as the states of a new
// project.
func (w *write) resolveRuntimeNames(ctx context.Context, step *planner.Step) error {
	for _, v := range step.Values() {
		if len(v.Field.Ref) == 0 || len(resource.MustLookup(v.Field.Ref).Predefined) == 0 {
			continue
		}
		for i := range v.Refs {
			r := &v.Refs[i]
			if r.Target != nil || v.Field.Literal(w.plan.API, r) != "" {
				continue
			}
			name := planner.NameOf(step.Object, v.Field, r)
			if _, ok := w.nameID(name); ok {
				continue
			}
			if err := w.readNames(ctx, step.Object, name); err != nil {
				return stepError(step, err)
			}
		}
	}
	return nil
}

// readNames reads the list of a name's kind, and stores the ID of the name.
func (w *write) readNames(ctx context.Context, o *resource.Object, name planner.Name) error {
	k := resource.MustLookup(name.Kind)
	parent := o.Ancestor(k.Parent)
	rows, err := w.listIn(ctx, k, parent, w.ids)
	if err != nil {
		return err
	}
	var names resource.Names
	var near []string
	for _, row := range rows {
		names.AddRow(k, row, "")
		near = append(near, k.DisplayTexts(row)...)
	}
	ids := names.Named(name.Text)
	if len(ids) == 0 {
		return fmt.Errorf("%s has no %s %q, unlike most new ones; it has %s: add it to the manifest, or use one of these",
			parent.Address, k.Noun(), name.Text, strings.Join(near, ", "))
	}
	w.memory.names.set(name, ids[0])
	return nil
}

// listIn reads, once in a run, the objects of a kind that the service created with a parent.
func (s *Service) listIn(ctx context.Context, k *resource.Kind, parent *resource.Object, ids executor.IDs) ([]resource.Row, error) {
	list, ok := k.Op(resource.List, s.plan.API)
	if !ok {
		return nil, fmt.Errorf("%s cannot list %s", s.plan.API.Noun(), diag.Plural(k.Noun()))
	}
	params, err := s.parentParams(parent, ids)
	if err != nil {
		return nil, err
	}
	return s.memory.readList(ctx, listOf{k, parent}, apiclient.Request{Operation: list, Params: params})
}
