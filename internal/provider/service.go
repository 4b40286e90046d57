package provider

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Service carries out the steps of one plan. It is safe for concurrent use.
type Service struct {
	client      *apiclient.Client
	plan        *planner.Plan
	state       State
	unappliable map[fieldOf]bool // fields that differ and cannot be changed
	sentLater   map[fieldOf]int  // the step that sends a text when what it names is created
	grace       Grace

	mu           sync.Mutex
	lostCreates  map[*planner.Step]*lostCreate
	dialects     map[string]resource.Dialect            // by kind, once an answer has shown it
	runtimeNames map[planner.Name]string                // IDs of names that exist only since this run
	warnedHidden map[*resource.Field]bool               // fields already reported as hidden by answers
	lists        map[listOf][]resource.Row              // of the predefined objects of a new parent
	batchCreated map[string]int                         // by ID of an object that a batch created: how many it created before
	owners       map[ownedID]owner                      // whose IDs are, once that is needed; see [Service.claim]
	disputed     map[*planner.Step]bool                 // steps whose ID another answer gave too
	unseen       map[string]*planner.Step               // by ID: steps of batches, until a read shows their objects
	shown        map[string]resource.Row                // by ID: work items as the list of API v2 shows them
	learnt       map[resource.Address]map[string]string // values of objects, from steps that are done
	written      map[string]time.Time                   // by ID: when the run wrote last, see remember
	placements   map[resource.Address][]placement
	rowLimits    map[*resource.Operation]int   // of operations whose batches were too large
	missing      map[*resource.Operation]error // operations of API v2 that the service does not have, and how it said so
	collisions   map[*planner.Step]int         // refusals of a row because of a concurrent change
	customNames  map[string]string             // by ID of a property: its name in API v2; "" = the service shows none

	customChecked atomic.Bool // API v2 was seen to store custom fields

	reading sync.Mutex         // held during a read into shown
	listing singleflight.Group // reads of lists: several steps that need one wait for one read
}

var _ executor.Service = (*Service)(nil)

// State is what is known of all objects, with the outcomes of this run so far.
type State interface{ Prior() planner.Prior }

// NewService returns the service for a plan. A create without an answer, from this run or
// an earlier one, is looked for until the grace period is over, before it is sent again.
func NewService(client *apiclient.Client, plan *planner.Plan, state State, grace Grace) *Service {
	s := &Service{
		client: client, plan: plan, state: state, disputed: map[*planner.Step]bool{}, unappliable: map[fieldOf]bool{}, sentLater: map[fieldOf]int{}, grace: grace.begin(), lostCreates: map[*planner.Step]*lostCreate{},
		dialects: maps.Clone(plan.Dialects), runtimeNames: map[planner.Name]string{}, warnedHidden: map[*resource.Field]bool{}, lists: map[listOf][]resource.Row{},
		placements: findPlacements(plan), batchCreated: map[string]int{}, unseen: map[string]*planner.Step{}, shown: map[string]resource.Row{}, learnt: map[resource.Address]map[string]string{}, written: map[string]time.Time{}, rowLimits: map[*resource.Operation]int{}, missing: map[*resource.Operation]error{},
		customNames: map[string]string{}, collisions: map[*planner.Step]int{},
	}
	if s.dialects == nil {
		s.dialects = map[string]resource.Dialect{}
	}
	for _, step := range plan.Steps {
		for _, v := range step.Values {
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

// fieldOf is one field of one object.
type fieldOf struct {
	address resource.Address
	field   *resource.Field
}

// Do carries out one step: one write request, or the three of an upload, and reads where its outcome is unknown.
func (s *Service) Do(ctx context.Context, step *planner.Step, ids executor.IDs) (executor.Outcome, error) {
	out, err := s.do(ctx, step, ids)
	if err == nil {
		s.remember(step, out, ids)
	}
	return out, err
}

func (s *Service) do(ctx context.Context, step *planner.Step, ids executor.IDs) (executor.Outcome, error) {
	if u := s.lostCreate(step); u != nil && u.cause == nil && time.Now().Before(u.end()) { // the plan has just looked
		return executor.Outcome{}, &executor.Pending{After: time.Until(u.end()), Err: u.reason()}
	}
	switch {
	case step.Action == planner.Delete && step.Operation == nil: // deleted with its parent
		return executor.Outcome{Record: planner.Record{ID: step.ID}}, nil
	case step.Action == planner.Delete:
		return s.delete(ctx, step)
	case step.Action == planner.RemoveMembers:
		return s.removeMembers(ctx, step)
	}
	if step.Operation == nil && step.ID != "" && step.Members == nil {
		return executor.Outcome{Record: planner.Record{ID: step.ID, Identifier: s.plan.Known[step.Address].Identifier, CreatedByUs: step.CreatedByUs, Values: digests(s.desired(step, ids))}}, nil
	}
	params, err := s.params(step, ids)
	if err != nil {
		return executor.Outcome{}, err
	}
	if step.Object != nil {
		if err := s.resolveRuntimeNames(ctx, step, ids); err != nil {
			return executor.Outcome{}, err
		}
	}
	switch step.Action {
	case planner.Create:
		return s.create(ctx, step, params, ids)
	case planner.Update:
		if step.Members != nil {
			return s.updateMember(ctx, step, params)
		}
		if v := step.Operation.Verb; v == resource.Archive || v == resource.Unarchive {
			return s.setArchived(ctx, step, params)
		}
		return s.update(ctx, step, params, ids)
	case planner.Adopt:
		if step.ID == "" {
			return s.adoptPredefined(ctx, step, params, ids)
		}
		return s.update(ctx, step, params, ids)
	case planner.AddMembers:
		return s.addMembers(ctx, step, params, ids)
	case planner.RemoveMembers, planner.Delete, planner.NotPossible:
		return executor.Outcome{}, fmt.Errorf("%s: no request is known for %s", step.Address, step.Action)
	default:
		return executor.Outcome{}, fmt.Errorf("%s: unknown action %d", step.Address, step.Action)
	}
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
func (s *Service) desired(step *planner.Step, ids executor.IDs) map[*resource.Field]string {
	o := step.Object
	resolve := s.resolve(o, ids)
	values := make(map[*resource.Field]string, len(o.Values))
	for _, v := range o.Sendable(s.plan.API) {
		sent, at := step.Sends(v), fieldOf{step.Address, v.Field}
		switch {
		case sent != nil:
			v = sent
		case step.Action == planner.Create && v.Null && resource.IsCustom(v): // a new object has no value
		case step.Action == planner.Create, s.unappliable[at], step.Index < s.sentLater[at], resource.IsCustom(v), step.OnlyCustom(): // another step sends it, if any
			continue
		}
		if want, ok := v.Desired(resolve); ok || v.Field.Rich() { // a text is sent without links to what is not there
			values[v.Field] = want
		}
	}
	return values
}

// digests are the values as the state keeps them.
func digests(desired map[*resource.Field]string) map[string]string {
	values := make(map[string]string, len(desired))
	for f, want := range desired {
		values[f.Name] = resource.Digest(want)
	}
	return values
}
