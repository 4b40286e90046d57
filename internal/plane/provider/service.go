package provider

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// Service carries out the steps of one plan. It is safe for concurrent use: each of its four parts that change during the run has its own
// lock.
type Service struct {
	client      *apiclient.Client
	plan        *planner.Plan
	state       State
	unappliable map[fieldOf]bool           // fields that differ and cannot be changed
	sentLater   map[fieldOf]planner.StepID // the step that sends a text after the objects in its links were created

	disk disk.Disk // for secrets; nil = the operating system's

	grace       Grace
	lostCreates table[*planner.Step, *lostCreate] // creates that may or may not have been carried out
	traits      serviceTraits
	memory      *memory
	claims      *claims
	listLock    chan struct{} // held while a whole list is written, see lockListWrites
}

var _ executor.Service = (*Service)(nil)

// lockListWrites serializes requests that replace a whole list: custom relations, which show on two items, and objects inside the row of
// their parent. Each request must contain the current entries of the list.
func (s *Service) lockListWrites(ctx context.Context, step *planner.Step) (done func(), err error) {
	if m := step.Kind.Membership; step.Kind.Inside() == "" && (m == nil || m.ResultKey != resource.EachKey) {
		return func() {}, nil
	}
	select {
	case s.listLock <- struct{}{}:
		return func() { <-s.listLock }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// State returns the known records of all objects, including the outcomes of this run so far.
type State interface{ Prior() planner.Prior }

// NewService returns the service for a plan. A create without an answer, of this run or an earlier one, is looked up until the grace period
// is over, before it is sent again.
func NewService(client *apiclient.Client, plan *planner.Plan, state State, grace Grace) *Service {
	s := &Service{
		client: client, plan: plan, state: state,
		unappliable: map[fieldOf]bool{}, sentLater: map[fieldOf]planner.StepID{},
		grace: grace.begin(), memory: &memory{client: client, reading: make(chan struct{}, 1)}, claims: newClaims(state.Prior(), plan.Known),
		listLock: make(chan struct{}, 1),
	}
	for kind, d := range plan.Dialects {
		s.traits.dialects.set(kind, d)
	}
	for _, step := range plan.Steps {
		for _, v := range step.Values() {
			if len(v.Links) > 0 {
				s.sentLater[fieldOf{step.Address, v.Field}] = step.Index
			}
		}
		if step.Action != planner.NotPossible || step.Object == nil {
			continue
		}
		for _, c := range step.Changes() {
			if f, ok := step.Kind.Field(c.Path); ok {
				s.unappliable[fieldOf{step.Address, f}] = true
			}
		}
	}
	return s
}

// Fallbacks returns warnings about operations of API v2 that the service lacks, one for each reason.
func (s *Service) Fallbacks() diag.List { return s.traits.fallbacks() }

// fieldOf identifies a field of an object.
type fieldOf struct {
	address resource.Address
	field   *resource.Field
}

// operation returns another operation of the step's kind, of API v1 if API v1 carries out the step.
func (s *Service) operation(step *planner.Step, verb resource.Verb) (*resource.Operation, bool) {
	api := s.plan.API
	if o := step.Operation; api == resource.V2 && o != nil && !o.V2() {
		api = resource.V1
	}
	return step.Kind.Op(verb, api)
}

// pathParams returns the path parameters of a step's request.
func (s *Service) pathParams(step *planner.Step, ids executor.IDs) (map[string]string, error) {
	params := map[string]string{"workspace_slug": s.plan.Workspace}
	var parent *resource.Object
	if m := step.Members; m != nil {
		id := m.Container.ID
		if id == "" {
			var exists bool
			if id, exists = ids(m.Container.Address); !exists {
				return nil, fmt.Errorf("%s is not on the service", m.Container.Address)
			}
		}
		params[resource.MustLookup(step.Kind.Membership.Container).Param] = id
		parent = m.Container.Within
	} else {
		params[step.Kind.Param] = step.ID
		if step.ID == "" { // created by this run, or not created yet
			params[step.Kind.Param], _ = ids(step.Address)
		}
		parent = step.Object.Parent
	}
	outer, err := s.parentParams(parent, ids)
	maps.Copy(params, outer)
	return params, err
}

// parentParams returns the path parameters of objects inside a parent; nil = the workspace.
func (s *Service) parentParams(parent *resource.Object, ids executor.IDs) (map[string]string, error) {
	params := map[string]string{"workspace_slug": s.plan.Workspace}
	for o := parent; o != nil; o = o.Parent {
		id, ok := ids(o.Address)
		if !ok {
			return nil, fmt.Errorf("%s is not on the service", o.Address)
		}
		params[o.Kind.Param] = id
	}
	return params, nil
}

// idResolver returns a function that returns the IDs of an object's references.
func (s *Service) idResolver(o *resource.Object, ids executor.IDs) resource.IDResolver {
	return func(field *resource.Field, ref *resource.Reference) (string, bool) {
		switch {
		case field.Rich():
			page := cmp.Or(ref.ID, s.pageURL(ref.Target, ids))
			return page, page != ""
		case ref.Target != nil:
			return ids(ref.Target.Address)
		case field.Literal(s.plan.API, ref) != "":
			return field.Literal(s.plan.API, ref), true
		default:
			return s.nameID(planner.NameOf(o, field, ref))
		}
	}
}

// pageURL returns the address of an object's page in the web app, or "" if it has none yet.
func (s *Service) pageURL(o *resource.Object, ids executor.IDs) string {
	params, err := s.parentParams(o, ids)
	if err != nil {
		return ""
	}
	return o.Kind.Page(s.plan.WebURL, params)
}

// desiredValues returns the canonical value of each field after the step.
func (w *write) desiredValues(step *planner.Step) map[*resource.Field]string {
	o := step.Object
	resolve := w.idResolver(o, w.ids)
	values := make(map[*resource.Field]string, len(o.Values))
	for _, v := range o.Sendable(w.plan.API) {
		sent, at := step.Sends(v), fieldOf{step.Address, v.Field}
		switch {
		case sent != nil:
			v = sent
		case step.Action == planner.Create && v.Null && resource.IsCustom(v): // a new object has no value
		case step.Action == planner.Create, w.unappliable[at], step.Index < w.sentLater[at], resource.IsCustom(v), step.OnlyCustom():
			// another step sends it, if any
			continue
		}
		if want, ok := v.Desired(resolve); ok || v.Field.Rich() { // a text is sent without links to missing objects
			values[v.Field] = want
		}
	}
	return values
}

// stateValues returns values in the form of the state. For a new object it adds the fields that show that the object is in no container.
func (w *write) stateValues(step *planner.Step, desired map[*resource.Field]string) map[string]string {
	values := make(map[string]string, len(desired))
	for f, want := range desired {
		values[f.Name] = resource.Digest(want)
	}
	for i := range step.Object.Values {
		if v := &step.Object.Values[i]; step.Action == planner.Create && v.Null && v.Field.Type == resource.Ref && step.Kind.ViaMembership(v.Field, w.plan.API) {
			values[v.Field.Name] = ""
		}
	}
	return values
}
