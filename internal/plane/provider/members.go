package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// member is a member of a batch with its ID on the service.
type member struct {
	*planner.Member

	id string
}

// name returns the member's name for messages.
func (mr member) name() string { return cmp.Or(string(mr.Address), mr.Text) }

// memberBatch is a batch of members that is being added to a container.
type memberBatch struct {
	*write

	row row

	definedBy string         // ID of the object that defines the attribute; "" = none
	related   []string       // IDs of members that have the same attribute without planform's doing
	record    planner.Record // the members that were added, or were already in the container, and the attributes that they have as sent
	warnings  diag.List
	refused   []member // members that were refused when they were sent alone
	refusal   error    // error of the last refused member
}

func (w *write) addMembers(ctx context.Context, r row) (executor.Outcome, error) {
	step := r.step
	members := make([]member, 0, len(step.Members.Items))
	for i := range step.Members.Items {
		m := member{&step.Members.Items[i], step.Members.Items[i].ID}
		if m.id == "" {
			m.id, _ = w.ids(m.Address)
		}
		if m.id != "" {
			members = append(members, m)
		}
	}
	j := &memberBatch{write: w, row: r}
	if members = j.withoutPlaced(ctx, members); len(members) == 0 {
		return executor.Outcome{Record: j.record}, nil
	}
	j.define(ctx, members)
	switch err := j.add(ctx, members); {
	case err != nil:
		return executor.Outcome{Record: j.record}, explainCompletedCycle(step, stepError(step, err))
	case j.refusal != nil:
		return executor.Outcome{Record: j.record}, stepError(step, j.explainRefusal())
	}
	return executor.Outcome{Record: j.record, Warnings: j.warnings}, nil
}

// withoutPlaced returns the members that their creates did not put into the container, according to the service, and records the others.
func (mb *memberBatch) withoutPlaced(ctx context.Context, members []member) []member {
	step := mb.row.step
	list, ok := step.Kind.Op(resource.ListOverview, mb.plan.API)
	if !ok {
		return members
	}
	mb.memory.loadPlaced(ctx, list, mb.row.params, members)
	container := mb.row.params[resource.MustLookup(step.Kind.Membership.Container).Param]
	return slices.DeleteFunc(members, func(m member) bool {
		row, _ := mb.memory.placed.get(m.id)
		in := len(list.Overview.Members(step.Kind.Membership, container, []resource.Row{row})) > 0
		if in {
			mb.record.Members = append(mb.record.Members, m.id)
		}
		return in
	})
}

// setAttribute records that a member has the attribute that was sent, if any.
func setAttribute(of *planner.Record, step *planner.Step, m *planner.Member, id string) {
	if a := step.Kind.Membership.Attribute; a != nil && m.Value != "" {
		of.Values = planner.MergeValues(of.Values, map[string]string{planner.AttributeKey(a, id): m.Value})
	}
}

// updateMember changes the attribute of one member of a container.
func (w *write) updateMember(ctx context.Context, r row) (executor.Outcome, error) {
	step, params := r.step, maps.Clone(r.params)
	m, k := &step.Members.Items[0], step.Kind.Membership
	if k.Attribute.Words() != nil {
		return w.changeRelation(ctx, r)
	}
	params[k.MemberParam()] = m.ID
	maps.Copy(params, step.Params)
	if step.Members.Container.ID == "" { // the container is new: the plan could not read its members
		rows, _ := w.memberRows(ctx, step, r.params)
		for _, row := range rows {
			if k.MemberID(row) == m.ID {
				params[k.MemberParam()] = cmp.Or(k.OwnID(row), m.ID)
			}
		}
	}
	res, err := w.sendMember(ctx, step, m.Value, func(op *resource.Operation) apiclient.Request {
		return apiclient.Request{Operation: op, Params: params, Body: k.Attribute.Body(op, m.Value)}
	})
	if err != nil {
		return executor.Outcome{}, stepError(step, err)
	}
	out := executor.Outcome{}
	if !hasOtherAttribute(step, m, res.Row, &out.Warnings) {
		setAttribute(&out.Record, step, m, m.ID)
	}
	return out, nil
}

// hasOtherAttribute reports whether the answer shows another value of a member's attribute than was sent, and adds a warning.
func hasOtherAttribute(step *planner.Step, m *planner.Member, shown resource.Row, warnings *diag.List) bool {
	a := step.Kind.Membership.Attribute
	if a == nil || a.Words() != nil || m.Value == "" {
		return false
	}
	have := a.Shown(shown)
	if have == "" || have == m.Value {
		return false
	}
	warnings.Add(diag.Diagnostic{
		Severity: diag.Warning, Code: "not-taken", Position: m.Position, Address: string(step.Members.Container.Address),
		Summary: "the service stored a different " + a.Name + " of " + m.Text + ": " + have + " instead of " + m.Value,
	})
	return true
}

// sendMember sends a request that sets the attribute of members. If the service lacks the operation in API v2, API v1 carries it out,
// unless only API v2 knows the value.
func (s *Service) sendMember(ctx context.Context, step *planner.Step, value string, of func(*resource.Operation) apiclient.Request) (*apiclient.Response, error) {
	a, op := step.Kind.Membership.Attribute, step.Operation
	v1, _ := step.Kind.Op(op.Verb, resource.V1)
	if a != nil && value != "" && !a.Known(value) {
		v1 = nil
	}
	return withV1(s, op, v1, func(op *resource.Operation) (*apiclient.Response, error) {
		return s.client.Do(ctx, of(op)) //nolint:wrapcheck // the caller says what failed
	})
}

// withV1 sends a request with an operation. If the service lacks the operation, it sends the request with the operation v1; nil = there is none.
func withV1[T any](s *Service, op, v1 *resource.Operation, send func(*resource.Operation) (T, error)) (T, error) {
	if !op.V2() || v1 == nil {
		return send(op)
	}
	if !s.traits.lacks(op) {
		res, err := send(op)
		if !errors.Is(err, apiclient.ErrUnsupported) {
			return res, err
		}
		_ = s.traits.missing.set(op, err)
	}
	return send(v1)
}

// changeRelation changes the type of a custom relation by removing and adding it, because the API has no update.
func (w *write) changeRelation(ctx context.Context, r row) (executor.Outcome, error) {
	former := *r.step
	former.Operation, _ = r.step.Kind.Op(resource.RemoveMembers, w.plan.API)
	former.Params = r.params
	if _, err := w.removeMembers(ctx, &former); err != nil {
		return executor.Outcome{}, err
	}
	return w.addMembers(ctx, r)
}

// define finds the object that defines the attribute of members, such as a custom relation. The service may take the list in a request for all
// members with that relation, so define finds the other members, too.
func (mb *memberBatch) define(ctx context.Context, members []member) {
	step, m := mb.row.step, mb.row.step.Kind.Membership
	if m.Attribute.Words() == nil {
		return
	}
	if mb.definedBy = step.Members.By.ID; mb.definedBy == "" {
		mb.definedBy, _ = mb.ids(step.Members.By.Address)
	}
	rows, _ := mb.memberRows(ctx, step, mb.row.params)
	for _, row := range rows {
		id := m.MemberID(row)
		if m.Attribute.Shown(row) == members[0].Value && !slices.ContainsFunc(members, func(e member) bool { return e.id == id }) {
			mb.related = append(mb.related, id)
		}
	}
}

// explainCompletedCycle explains the service's refusal to add to a cycle that has ended.
func explainCompletedCycle(step *planner.Step, err error) error {
	if e, refused := errors.AsType[*apiclient.Error](err); !refused || e.Code != "CYCLE_COMPLETED" {
		return err
	}
	return diag.WithHint(
		fmt.Errorf("%w: %s has ended, and the service adds nothing to a finished cycle", err, step.Members.Container.Address),
		"use a cycle that has not ended, or none")
}

// add sends members. The service refuses a whole batch because of one member, without naming it. Each half is then sent by itself, so that
// the other members are added.
func (mb *memberBatch) add(ctx context.Context, members []member) error {
	const enough = 3 // after so many refused members the reason is hardly a single one
	list := make([]string, len(members))
	for i, m := range members {
		list[i] = m.id
	}
	res, err := mb.sendMember(ctx, mb.row.step, members[0].Value, func(op *resource.Operation) apiclient.Request {
		return apiclient.Request{
			Operation: op, Params: mb.row.params,
			Body: mb.row.step.Kind.Membership.IDs(op, slices.Concat(mb.related, list), members[0].Value, mb.definedBy),
		}
	})
	e, refused := errors.AsType[*apiclient.Error](err)
	switch {
	case err == nil:
		mb.checkAdded(ctx, members, res)
		return nil
	case len(members) == 1 && mb.isIn(ctx, mb.row, list, err):
		mb.record.Members = append(mb.record.Members, list...) // perhaps with another attribute
		return nil
	case !refused || !e.Generic() || len(members) == 0:
		return err
	case len(members) == 1:
		mb.refused, mb.refusal = append(mb.refused, members[0]), err
		return nil
	}
	half := len(members) / 2
	if err := mb.add(ctx, members[:half]); err != nil || len(mb.refused) >= enough {
		return err
	}
	return mb.add(ctx, members[half:])
}

// checkAdded finds out which members were added: those in the answer, and if some are missing there, those in the container. If neither
// shows any, all were added.
func (mb *memberBatch) checkAdded(ctx context.Context, members []member, res *apiclient.Response) {
	membership := mb.row.step.Kind.Membership
	one := strings.TrimSuffix(strings.TrimSuffix(membership.Body, "s"), "_id") // rows are members, or memberships that name one
	shown, known := idsIn(append(slices.Clip(res.Rows), res.Row), "id", one, one+"_id"), res.Rows != nil
	if membership.ResultKey == resource.EachKey {
		shown = idsIn(membership.RowsIn(res.Row), membership.IDField)
	}
	added, _ := res.Row["added"].([]any) // in API v2: members that were not in the container before
	for _, id := range added {
		if id, ok := id.(string); ok {
			shown[resource.LowerID(id)] = true
		}
	}
	for _, m := range members {
		if shown[m.id] {
			continue
		}
		if in, read := mb.membersIn(ctx, mb.row.step, mb.row.params); read {
			maps.Copy(shown, in)
			known = true
		}
		break
	}
	for _, m := range members {
		if !known || shown[m.id] {
			mb.record.Members = append(mb.record.Members, m.id)
			if !hasOtherAttribute(mb.row.step, m.Member, res.Row, &mb.warnings) {
				setAttribute(&mb.record, mb.row.step, m.Member, m.id)
			}
			continue
		}
		mb.warnings.Add(diag.Diagnostic{
			Severity: diag.Warning, Code: "not-taken", Position: m.Position, Address: m.name(),
			Summary: "the service reported success, but " + m.name() + " is not in " + string(mb.row.step.Members.Container.Address),
			Hint:    silentDropHint,
		})
	}
}

// idsIn returns the IDs that rows hold under any of the names.
func idsIn(rows []resource.Row, names ...string) map[string]bool {
	ids := map[string]bool{}
	for _, row := range rows {
		for _, name := range names {
			switch v := row[name].(type) {
			case string:
				ids[resource.LowerID(v)] = true
			case map[string]any:
				ids[resource.Row(v).ID()] = true
			}
		}
	}
	return ids
}

// explainRefusal names the refused members and the likely reason.
func (mb *memberBatch) explainRefusal() error {
	names := make([]string, len(mb.refused))
	for i, m := range mb.refused {
		names[i] = m.name() + " (" + m.Position.String() + ")"
	}
	hint := "check that it still exists on the service"
	if c := mb.row.step.Kind.Membership.Container; mb.row.step.Kind.Membership.Exclusive {
		hint += "; if it is in two " + diag.Plural(c) + ", remove it from one of them there"
	}
	return diag.WithHint(fmt.Errorf("%w, because of %s", mb.refusal, strings.Join(names, ", ")), hint)
}

// isIn reports whether a refused member is in the container nevertheless: because it was there before, like the creator of a project, or
// because the service refused it wrongly.
func (s *Service) isIn(ctx context.Context, r row, members []string, cause error) bool {
	var e *apiclient.Error
	if !errors.As(cause, &e) || e.Effect == apiclient.NoEffect || !r.step.Operation.OneAtATime && !e.Generic() {
		return false
	}
	in, known := s.membersIn(ctx, r.step, r.params)
	return known && in[members[0]]
}

// membersIn reads the IDs of the members of a step's container; known is false if that fails.
func (s *Service) membersIn(ctx context.Context, step *planner.Step, params map[string]string) (in map[string]bool, known bool) {
	rows, known := s.memberRows(ctx, step, params)
	in = map[string]bool{}
	for _, row := range rows {
		in[step.Kind.Membership.MemberID(row)] = true
	}
	return in, known
}

func (s *Service) memberRows(ctx context.Context, step *planner.Step, params map[string]string) (rows []resource.Row, known bool) {
	api := s.plan.API
	if !step.Operation.V2() { // the service may lack API v2 for these members
		api = min(api, resource.V1)
	}
	list, ok := step.Kind.Op(resource.ListMembers, api)
	if !ok {
		return nil, false
	}
	path, _ := list.Expand(params)
	a, err := ask(ctx, s.client, planner.Read{Operation: list, Path: path})
	if err != nil || a.Unsupported || a.NotFound {
		return nil, false
	}
	return selectList(a, list, false).Rows, true
}

// removeMembers removes members from a container: one in the path or in the body, or a list. If API v2 lacks the operation, API v1 removes
// them.
func (s *Service) removeMembers(ctx context.Context, step *planner.Step) (executor.Outcome, error) {
	v1, _ := step.Kind.Op(resource.RemoveMembers, resource.V1)
	return withV1(s, step.Operation, v1, func(op *resource.Operation) (removed executor.Outcome, err error) {
		size := len(step.Members.Items)
		if op.TakesOne(step.Kind) {
			size = 1
		}
		for items := range slices.Chunk(step.Members.Items, size) {
			some, members := *step, *step.Members
			some.Operation, some.Members, members.Items = op, &members, items
			ids, err := s.removeOnce(ctx, &some)
			if removed.Members = append(removed.Members, ids...); err != nil {
				return removed, err
			}
		}
		return removed, nil
	})
}

// removeOnce removes the members of a step with one request, and returns their IDs.
func (s *Service) removeOnce(ctx context.Context, step *planner.Step) ([]string, error) {
	ids := make([]string, len(step.Members.Items))
	for i := range step.Members.Items {
		ids[i] = step.Members.Items[i].ID
	}
	op := step.Operation
	req := apiclient.Request{Operation: op, Params: maps.Clone(step.Params)}
	if m := step.Kind.Membership; op.TakesOne(step.Kind) && len(op.Body) == 0 {
		if req.Params[m.MemberParam()] == "" { // the path needs the ID of the membership itself
			req.Params[m.MemberParam()] = ids[0]
		}
	} else {
		req.Body = m.IDs(op, ids, "", "")
	}
	_, err := s.client.Do(ctx, req)
	switch {
	case err == nil:
	case !isNotFound(err):
		return nil, stepError(step, err)
	case !s.confirmRemoved(ctx, step, ids):
		return nil, diag.WithHint(stepError(step, err), "the service still shows them there but cannot remove them: remove them in Plane")
	}
	return ids, nil
}

// confirmRemoved reports whether none of the members is in the container after the service answered 404. The 404 for a single member
// applies to that member, unless the container still shows it.
func (s *Service) confirmRemoved(ctx context.Context, step *planner.Step, ids []string) bool {
	in, known := s.membersIn(ctx, step, step.Params)
	if len(ids) == 1 && !known {
		return true
	}
	return known && !slices.ContainsFunc(ids, func(id string) bool { return in[id] })
}
