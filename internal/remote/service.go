package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Service carries out the steps of one plan. It is safe for concurrent use.
type Service struct {
	client   *apiclient.Client
	plan     *planner.Plan
	stuck    map[fieldOf]bool // what differs and cannot be changed
	patience time.Duration    // for which a thing is looked for before it counts as absent

	mu       sync.Mutex
	dialects map[string]resource.Dialect // by kind, once an answer has told
	late     map[planner.Name]string     // IDs of names that came to be during the run
	unshown  map[*resource.Field]bool    // fields of which it was said that answers do not show them

	listing sync.Mutex // of what comes with a new thing: whoever waits finds it read
	lists   map[listOf][]resource.Row
}

// listOf is the list of a kind in one thing of the manifest.
type listOf struct {
	kind   *resource.Kind
	parent *resource.Object
}

var _ executor.Service = (*Service)(nil)

// NewService returns the service for a plan.
func NewService(client *apiclient.Client, plan *planner.Plan) *Service {
	s := &Service{
		client: client, plan: plan, dialects: maps.Clone(plan.Dialects), late: map[planner.Name]string{}, unshown: map[*resource.Field]bool{}, lists: map[listOf][]resource.Row{},
		stuck: map[fieldOf]bool{}, patience: DefaultPatience,
	}
	if s.dialects == nil {
		s.dialects = map[string]resource.Dialect{}
	}
	for _, step := range plan.Steps {
		if step.Action != planner.NotPossible || step.Object == nil {
			continue
		}
		for _, c := range step.Changes() {
			if f, ok := step.Kind.Field(c.Path); ok {
				s.stuck[fieldOf{step.Address, f}] = true
			}
		}
	}
	return s
}

// WithPatience sets for how long a thing is looked for whose creation was not
// answered, instead of [DefaultPatience]. It is to be called before the first step.
func (s *Service) WithPatience(d time.Duration) *Service {
	s.patience = d
	return s
}

// fieldOf is one field of one thing.
type fieldOf struct {
	address resource.Address
	field   *resource.Field
}

// Do carries out one step: one write request, and reads where its fate is unknown.
func (s *Service) Do(ctx context.Context, step *planner.Step, ids executor.IDs) (executor.Outcome, error) {
	switch {
	case step.Action == planner.Delete && step.Operation == nil: // it went with what it lived in
		return executor.Outcome{ID: step.ID}, nil
	case step.Action == planner.Delete:
		return s.remove(ctx, step)
	case step.Action == planner.RemoveMembers:
		return s.removeMembers(ctx, step)
	}
	if step.Operation == nil && step.ID != "" {
		return executor.Outcome{ID: step.ID, Identifier: s.plan.Known[step.Address].Identifier, Made: step.Made, Values: digests(s.wanted(step, ids))}, nil
	}
	params, err := s.params(step, ids)
	if err != nil {
		return executor.Outcome{}, err
	}
	if step.Object != nil {
		if err := s.learn(ctx, step, ids); err != nil {
			return executor.Outcome{}, err
		}
	}
	switch step.Action {
	case planner.Create:
		return s.create(ctx, step, params, ids)
	case planner.Update:
		if v := step.Operation.Verb; v == resource.Archive || v == resource.Unarchive {
			return s.shelve(ctx, step, params)
		}
		return s.update(ctx, step, params, ids)
	case planner.Adopt:
		if step.ID == "" {
			return s.adoptGiven(ctx, step, params, ids)
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

// params are the path parameters of a step's request.
func (s *Service) params(step *planner.Step, ids executor.IDs) (map[string]string, error) {
	params := map[string]string{"workspace_slug": s.plan.Workspace}
	parent := (*resource.Object)(nil)
	if m := step.Members; m != nil {
		id := m.Container.ID
		if id == "" {
			var there bool
			if id, there = ids(m.Container.Address); !there {
				return nil, fmt.Errorf("%s is not on the service", m.Container.Address)
			}
		}
		params[resource.Must(step.Kind.Membership.Container).Param] = id
		parent = m.Container.Within
	} else {
		params[step.Kind.Param] = step.ID
		if step.ID == "" { // it was made in this run, or is to be
			params[step.Kind.Param], _ = ids(step.Address)
		}
		parent = step.Object.Parent
	}
	outer, err := s.within(parent, ids)
	maps.Copy(params, outer)
	return params, err
}

// within are the path parameters for what lives in a thing of the manifest; nil is the workspace.
func (s *Service) within(parent *resource.Object, ids executor.IDs) (map[string]string, error) {
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

// resolve finds the IDs of what an object's fields name.
func (s *Service) resolve(o *resource.Object, ids executor.IDs) resource.Resolve {
	return func(field *resource.Field, ref *resource.Reference) (string, bool) {
		switch {
		case ref.Target != nil:
			return ids(ref.Target.Address)
		case field.Literal(s.plan.API, ref) != "":
			return field.Literal(s.plan.API, ref), true
		default:
			return s.named(planner.NameOf(o, field, ref))
		}
	}
}

// wanted is the canonical form, by field, of what the thing is to have after the step.
func (s *Service) wanted(step *planner.Step, ids executor.IDs) map[*resource.Field]string {
	o := step.Object
	resolve := s.resolve(o, ids)
	values := make(map[*resource.Field]string, len(o.Values))
	for _, v := range o.Sends(s.plan.API) {
		if step.Action != planner.Create && !slices.Contains(step.Values, v) && s.stuck[fieldOf{step.Address, v.Field}] {
			continue // it differs, and could not be sent
		}
		if step.Action == planner.Create && v.Field.Late {
			continue // the next step sends it
		}
		if want, ok := v.Wanted(resolve); ok {
			values[v.Field] = want
		}
	}
	return values
}

// digests is what the state keeps of the values.
func digests(wanted map[*resource.Field]string) map[string]string {
	values := make(map[string]string, len(wanted))
	for f, want := range wanted {
		values[f.Name] = resource.Digest(want)
	}
	return values
}

func (s *Service) create(ctx context.Context, step *planner.Step, params map[string]string, ids executor.IDs) (executor.Outcome, error) {
	for attempt := 1; ; attempt++ {
		res, err := s.send(ctx, step, params, ids)
		if err == nil && res.Row.ID() == "" {
			err = fmt.Errorf("%s %s: the answer names no id: %w", step.Operation.Method, s.path(step, params), executor.ErrUnknown)
		}
		if err == nil {
			return s.created(step, res.Row, ids), nil
		}
		again, out, err := s.afterFailure(ctx, step, params, ids, err)
		if !again || attempt == attempts {
			return out, s.doubted(step, err)
		}
	}
}

// created is the outcome of a create that was answered.
func (s *Service) created(step *planner.Step, row resource.Row, ids executor.IDs) executor.Outcome {
	values := s.wanted(step, ids)
	warnings := s.contradictions(step, row, values, ids)
	return executor.Outcome{ID: row.ID(), Identifier: s.identifier(step.Object, row), Made: step.Action == planner.Create, Values: digests(values), Warnings: warnings}
}

// send makes the request of a create or update in the dialect that the service speaks.
func (s *Service) send(ctx context.Context, step *planner.Step, params map[string]string, ids executor.IDs) (*apiclient.Response, error) {
	extra := s.besides(step, params)
	resolve := s.resolve(step.Object, ids)
	dialect := s.dialect(step.Kind)
	req := apiclient.Request{Operation: step.Operation, Params: params, Body: resource.Body(step.Values, dialect, resolve, extra...)}
	res, err := s.client.Do(ctx, req)
	if other, ok := s.otherDialect(step, dialect, err); ok {
		req.Body = resource.Body(step.Values, other, resolve, extra...)
		if res, err = s.client.Do(ctx, req); err == nil {
			s.speak(step.Kind, other)
		}
	}
	if err == nil {
		if d, told := step.Kind.DialectOf(res.Row); told {
			s.speak(step.Kind, d)
		}
	}
	return res, err
}

// besides is what a body says besides the values: what the path says and the
// service wants repeated, the identifier that people chose, and the mark.
func (s *Service) besides(step *planner.Step, params map[string]string) [][2]string {
	var extra [][2]string
	for _, name := range step.Operation.Echo {
		extra = append(extra, [2]string{name, params[name]})
	}
	creates := step.Action == planner.Create
	if id := step.Kind.Identifier; creates && id != nil && id.Wire != "" && step.Object.Identifier != "" {
		extra = append(extra, [2]string{id.Wire, step.Object.Identifier})
	}
	if creates && s.marks(step) || step.Mark {
		extra = append(extra, [2]string{"external_source", resource.MarkSource}, [2]string{"external_id", resource.Mark(s.plan.Workspace, step.Address)})
	}
	return extra
}

// dialect is what names the service uses for the kind's fields, as far as is known.
func (s *Service) dialect(k *resource.Kind) resource.Dialect {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialects[k.Name]
}

func (s *Service) speak(k *resource.Kind, d resource.Dialect) {
	if !k.HasDialects() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dialects[k.Name] = d
}

// otherDialect tells whether the service refused a body because it names a
// required field otherwise, in which case nothing was done.
func (s *Service) otherDialect(step *planner.Step, used resource.Dialect, err error) (resource.Dialect, bool) {
	var e *apiclient.Error
	if s.plan.API == resource.Documented || !step.Kind.HasDialects() || !errors.As(err, &e) || e.Status != 400 {
		return used, false
	}
	other := resource.Newer
	if used == resource.Newer {
		other = resource.Contract
	}
	for _, v := range step.Values {
		f := v.Field
		name := f.WireNewer
		if other == resource.Contract {
			name = f.Wire
		}
		if _, named := e.Fields[name]; named && f.Required && f.WireNewer != "" {
			return other, true
		}
	}
	return used, false
}

func (s *Service) update(ctx context.Context, step *planner.Step, params map[string]string, ids executor.IDs) (executor.Outcome, error) {
	res, err := s.send(ctx, step, params, ids)
	if err != nil {
		return executor.Outcome{}, failure(step, err)
	}
	values := s.wanted(step, ids)
	warnings := s.contradictions(step, res.Row, values, ids)
	return executor.Outcome{
		ID: params[step.Kind.Param], Identifier: s.plan.Known[step.Address].Identifier, Made: step.Made, Values: digests(values), Warnings: warnings,
	}, nil
}

// isIn reports whether a single member is in though it was refused: because it was
// already, as who creates a project is in it from the start, or for no reason.
func (s *Service) isIn(ctx context.Context, step *planner.Step, params map[string]string, members []string, cause error) bool {
	var e *apiclient.Error
	if !errors.As(cause, &e) || e.Fate == apiclient.NotDone || !step.Operation.Single && !e.Vague() {
		return false
	}
	in, told := s.membersIn(ctx, step, params)
	return told && in[members[0]]
}

// membersIn reads who is in the container of a step.
func (s *Service) membersIn(ctx context.Context, step *planner.Step, params map[string]string) (in map[string]bool, told bool) {
	list, ok := step.Kind.Op(resource.ListMembers, s.plan.API)
	if !ok {
		return nil, false
	}
	path, _ := list.Expand(params)
	rows, err := s.client.Read(ctx, list, path, nil)
	if err != nil {
		return nil, false
	}
	in = map[string]bool{}
	for _, row := range part(planner.Answer{Rows: rows}, list).Rows {
		in[step.Kind.Membership.MemberID(row)] = true
	}
	return in, true
}

// identifier is the readable identifier of a thing that was just created.
func (s *Service) identifier(o *resource.Object, row resource.Row) string {
	id := o.Kind.Identifier
	if id == nil {
		return ""
	}
	if id.Wire != "" {
		shown, _ := row[id.Wire].(string)
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

// path is the request path of a step, for messages.
func (s *Service) path(step *planner.Step, params map[string]string) string {
	path, _ := step.Operation.Expand(params)
	return path
}

// failure gives an error of the client the marks that the executor acts on.
func failure(step *planner.Step, err error) error {
	var e *apiclient.Error
	switch {
	case !errors.As(err, &e):
		return fmt.Errorf("%s: %w", step.Address, err)
	case e.Credential():
		return fmt.Errorf("%w: %w", executor.ErrStop, err)
	case errors.Is(err, apiclient.ErrStopped) && e.Fate == apiclient.NotDone:
		return fmt.Errorf("%w: %w", executor.ErrNotSent, err)
	case e.Fate == apiclient.Unknown:
		return unknownFate{err}
	default:
		return err
	}
}

// unknownFate marks an error that says itself that it is not known what the service did.
type unknownFate struct{ error }

func (e unknownFate) Unwrap() []error { return []error{executor.ErrUnknown, e.error} }

// markQuery looks for the thing that carries a mark.
func markQuery(mark string) url.Values {
	return url.Values{"external_id": {mark}, "external_source": {resource.MarkSource}}
}
