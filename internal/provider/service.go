package provider

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/disk"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Service carries out the steps of one plan. It is safe for concurrent use: what changes during the run belongs to its four
// parts, each with a lock of its own.
type Service struct {
	client      *apiclient.Client
	plan        *planner.Plan
	state       State
	unappliable map[fieldOf]bool           // fields that differ and cannot be changed
	sentLater   map[fieldOf]planner.StepID // the step that sends a text when what it names is created
	placements  map[resource.Address][]placement

	disk disk.Disk // for secrets; nil = the operating system's

	inDoubt inDoubt
	learned *learned
	memory  *memory
	claims  claims
	lists   chan struct{} // holds one while a whole list is written, see alternate
}

var _ executor.Service = (*Service)(nil)

// alternate lets a step go when no other writes a whole list. So are custom relations written, which show on two items, and objects
// inside the row of their parent: what a request says of the others must not be older than what another one made of them.
func (s *Service) alternate(ctx context.Context, step *planner.Step) (done func(), err error) {
	if m := step.Kind.Membership; step.Kind.Inside == "" && (m == nil || m.ResultKey != resource.EachKey) {
		return func() {}, nil
	}
	select {
	case s.lists <- struct{}{}:
		return func() { <-s.lists }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// State is what is known of all objects, with the outcomes of this run so far.
type State interface{ Prior() planner.Prior }

// NewService returns the service for a plan. A create without an answer, from this run or
// an earlier one, is looked for until the grace period is over, before it is sent again.
func NewService(client *apiclient.Client, plan *planner.Plan, state State, grace Grace) *Service {
	s := &Service{
		client: client, plan: plan, state: state, placements: findPlacements(plan),
		unappliable: map[fieldOf]bool{}, sentLater: map[fieldOf]planner.StepID{},
		inDoubt: inDoubt{grace: grace.begin(), creates: map[*planner.Step]*lostCreate{}},
		learned: newLearned(plan.Dialects), memory: newMemory(client), claims: claims{owners: map[ownedID]owner{}, disputed: map[*planner.Step]bool{}},
		lists: make(chan struct{}, 1),
	}
	s.loadOwners()
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

// Fallbacks are warnings of operations of API v2 that the service turned out not to have,
// those that are missing for the same reason in one.
func (s *Service) Fallbacks() diag.List { return s.learned.fallbacks() }

// fieldOf is one field of one object.
type fieldOf struct {
	address resource.Address
	field   *resource.Field
}

// operation is another operation on the step's kind: of API v1 where that carries out the step.
func (s *Service) operation(step *planner.Step, verb resource.Verb) (*resource.Operation, bool) {
	api := s.plan.API
	if o := step.Operation; api == resource.V2 && o != nil && !o.V2() {
		api = resource.V1
	}
	return step.Kind.Op(verb, api)
}

// params are the path parameters of a step's request.
func (s *Service) params(step *planner.Step, ids executor.IDs) (map[string]string, error) {
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
		if step.ID == "" { // created by this run, or to be created
			params[step.Kind.Param], _ = ids(step.Address)
		}
		parent = step.Object.Parent
	}
	outer, err := s.inParent(parent, ids)
	maps.Copy(params, outer)
	return params, err
}

// inParent are the path parameters of the objects in a parent; nil is the workspace.
func (s *Service) inParent(parent *resource.Object, ids executor.IDs) (map[string]string, error) {
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

// resolve finds the IDs that an object's references stand for.
func (s *Service) resolve(o *resource.Object, ids executor.IDs) resource.IDResolver {
	return func(field *resource.Field, ref *resource.Reference) (string, bool) {
		switch {
		case field.Rich():
			page := cmp.Or(ref.ID, s.page(ref.Target, ids))
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

// page is the address of an object's page in the web app, or "" while it has none.
func (s *Service) page(o *resource.Object, ids executor.IDs) string {
	params, err := s.inParent(o, ids)
	if err != nil {
		return ""
	}
	return o.Kind.Page(s.plan.WebURL, params)
}

// desired is the canonical value of each field after the step.
func (w *write) desired(step *planner.Step) map[*resource.Field]string {
	o := step.Object
	resolve := w.resolve(o, w.ids)
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
		if want, ok := v.Desired(resolve); ok || v.Field.Rich() { // a text is sent without links to what is not there
			values[v.Field] = want
		}
	}
	return values
}

// digests returns values as the state keeps them, and of a new object the fields that say that it is in no container.
func (w *write) digests(step *planner.Step, desired map[*resource.Field]string) map[string]string {
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
