package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// nameID is the ID of a name that was looked up for the plan or during the run.
func (s *Service) nameID(n planner.Name) (string, bool) {
	if id, ok := s.plan.Names[n]; ok {
		return id, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.runtimeNames[n]
	return id, ok
}

// resolveRuntimeNames looks up names in a step's values that exist only since the run
// created their parent, such as the states of a new project.
func (s *Service) resolveRuntimeNames(ctx context.Context, step *planner.Step, ids executor.IDs) error {
	for _, v := range step.Values {
		if len(v.Field.Ref) == 0 || len(resource.MustLookup(v.Field.Ref).Predefined) == 0 {
			continue
		}
		for i := range v.Refs {
			r := &v.Refs[i]
			if r.Target != nil || v.Field.Literal(s.plan.API, r) != "" {
				continue
			}
			name := planner.NameOf(step.Object, v.Field, r)
			if _, ok := s.nameID(name); ok {
				continue
			}
			if err := s.readNames(ctx, step.Object, name, ids); err != nil {
				return failure(step, err)
			}
		}
	}
	return nil
}

// readNames reads the list of a name's kind and keeps every name in it.
func (s *Service) readNames(ctx context.Context, o *resource.Object, name planner.Name, ids executor.IDs) error {
	k := resource.MustLookup(name.Kind)
	parent := o.Ancestor(k.Parent)
	rows, err := s.listIn(ctx, k, parent, ids)
	if err != nil {
		return err
	}
	var near []string
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range rows {
		for _, natural := range k.NaturalKey {
			text, _ := row[natural].(string)
			near = append(near, text)
			s.runtimeNames[planner.Name{Kind: name.Kind, Within: name.Within, Text: text}] = row.ID()
			if strings.EqualFold(text, strings.TrimSpace(name.Text)) {
				s.runtimeNames[name] = row.ID()
			}
		}
	}
	if s.runtimeNames[name] == "" {
		return fmt.Errorf("%s has no %s %q, unlike most new ones; it has %s: add it to the manifest, or use one of these",
			parent.Address, k.Noun(), name.Text, strings.Join(near, ", "))
	}
	return nil
}

// listOf is the list of a kind in one parent.
type listOf struct {
	kind   *resource.Kind
	parent *resource.Object
}

// listIn reads, once in a run, the objects of a kind that the service created with a parent.
func (s *Service) listIn(ctx context.Context, k *resource.Kind, parent *resource.Object, ids executor.IDs) ([]resource.Row, error) {
	list, ok := k.Op(resource.List, s.plan.API)
	if !ok {
		return nil, fmt.Errorf("%s cannot list %s", s.plan.API.Noun(), diag.Plural(k.Noun()))
	}
	params, err := s.inParent(parent, ids)
	if err != nil {
		return nil, err
	}
	of := listOf{k, parent}
	if rows, ok := s.listed(of); ok {
		return rows, nil
	}
	found, err, _ := s.listing.Do(k.Name+" "+string(parent.Address), func() (any, error) {
		if rows, ok := s.listed(of); ok {
			return rows, nil
		}
		rows, err := s.client.List(ctx, apiclient.Request{Operation: list, Params: params})
		if err == nil {
			s.mu.Lock()
			s.lists[of] = rows
			s.mu.Unlock()
		}
		return rows, err
	})
	rows, _ := found.([]resource.Row)
	return rows, err
}

// listed is a list that the run has read, if any.
func (s *Service) listed(of listOf) ([]resource.Row, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows, ok := s.lists[of]
	return rows, ok
}
