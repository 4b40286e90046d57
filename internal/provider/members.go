package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// member is one of a batch with the ID that is sent for it.
type member struct {
	*planner.Member

	id string
}

// name is what people call the member.
func (m member) name() string {
	if m.Address != "" {
		return string(m.Address)
	}
	return m.Text
}

// memberBatch is a batch of members on its way into their container.
type memberBatch struct {
	*Service

	step   *planner.Step
	params map[string]string

	in       []string // IDs of those that are in
	warnings diag.List
	refused  []member // each for itself
	refusal  error    // of the last of them
}

func (s *Service) addMembers(ctx context.Context, step *planner.Step, params map[string]string, ids executor.IDs) (executor.Outcome, error) {
	members := make([]member, 0, len(step.Members.Items))
	for i := range step.Members.Items {
		m := member{&step.Members.Items[i], step.Members.Items[i].ID}
		if m.id == "" {
			m.id, _ = ids(m.Address)
		}
		if m.id != "" {
			members = append(members, m)
		}
	}
	if len(members) == 0 {
		return executor.Outcome{}, nil
	}
	j := &memberBatch{Service: s, step: step, params: params}
	if err := j.add(ctx, members); err != nil {
		return executor.Outcome{Record: planner.Record{Members: j.in}}, explainCompletedCycle(step, failure(step, err))
	}
	if j.refusal != nil {
		return executor.Outcome{Record: planner.Record{Members: j.in}}, failure(step, j.explain())
	}
	return executor.Outcome{Record: planner.Record{Members: j.in, Values: attributes(step, j.in)}, Warnings: j.warnings}, nil
}

// attributes is what the state keeps of the attributes of members.
func attributes(step *planner.Step, in []string) map[string]string {
	a := step.Kind.Membership.Attribute
	if a == nil {
		return nil
	}
	values := map[string]string{}
	for i := range step.Members.Items {
		if m := &step.Members.Items[i]; m.Value != "" && slices.Contains(in, m.ID) {
			values[planner.AttributeKey(a, m.ID)] = m.Value
		}
	}
	return values
}

// updateMember changes the attribute of one who is in a container.
func (s *Service) updateMember(ctx context.Context, step *planner.Step, params map[string]string) (executor.Outcome, error) {
	m := &step.Members.Items[0]
	params[resource.MustLookup(step.Kind.Membership.Member).Param] = m.ID
	maps.Copy(params, step.Params)
	res, err := s.client.Do(ctx, apiclient.Request{Operation: step.Operation, Params: params, Body: step.Kind.Membership.Attribute.Body(m.Value)})
	if err != nil {
		return executor.Outcome{}, failure(step, err)
	}
	out := executor.Outcome{Record: planner.Record{Values: attributes(step, []string{m.ID})}}
	if have := step.Kind.Membership.Attribute.Shown(res.Row); have != "" && have != m.Value {
		out.Values = nil
		out.Warnings.Add(diag.Diagnostic{
			Severity: diag.Warning, Code: "not-taken", Position: m.Position, Address: string(step.Members.Container.Address),
			Summary: "the service stored a different " + step.Kind.Membership.Attribute.Name + " of " + m.Text + ": " + have + " instead of " + m.Value,
		})
	}
	return out, nil
}

// explainCompletedCycle explains what the service says of a cycle that is over.
func explainCompletedCycle(step *planner.Step, err error) error {
	if e, refused := errors.AsType[*apiclient.Error](err); !refused || e.Code != "CYCLE_COMPLETED" {
		return err
	}
	return withHint{
		fmt.Errorf("%w: %s has ended, and the service adds nothing to a finished cycle", err, step.Members.Container.Address),
		"use a cycle that has not ended, or none",
	}
}

// add sends members. The service refuses all of them because of one, without
// saying which: then the halves are sent, so that the others get in.
func (j *memberBatch) add(ctx context.Context, members []member) error {
	const enough = 3 // refused for themselves: then it is hardly because of a few
	list := make([]string, len(members))
	for i, m := range members {
		list[i] = m.id
	}
	res, err := j.client.Do(ctx, apiclient.Request{
		Operation: j.step.Operation, Params: j.params, Body: j.step.Kind.Membership.IDs(j.step.Operation, list, members[0].Value),
	})
	e, refused := errors.AsType[*apiclient.Error](err)
	switch {
	case err == nil:
		j.check(ctx, members, res)
		return nil
	case len(members) == 1 && j.isIn(ctx, j.step, j.params, list, err):
		j.in = append(j.in, list...)
		return nil
	case !refused || !e.Generic() || len(members) == 0:
		return err
	case len(members) == 1:
		j.refused, j.refusal = append(j.refused, members[0]), err
		return nil
	}
	half := len(members) / 2
	if err := j.add(ctx, members[:half]); err != nil || len(j.refused) >= enough {
		return err
	}
	return j.add(ctx, members[half:])
}

// check finds out which members got in: all that the answer names and, where it
// leaves some out, all that the container then shows. Where neither tells, the answer is believed.
func (j *memberBatch) check(ctx context.Context, members []member, res *apiclient.Response) {
	membership := j.step.Kind.Membership
	one := strings.TrimSuffix(strings.TrimSuffix(membership.Body, "s"), "_id") // rows are members, or memberships that name one
	shown, told := namedIn(res.Rows, "id", one, one+"_id"), res.Rows != nil
	for _, m := range members {
		if shown[m.id] {
			continue
		}
		if in, read := j.membersIn(ctx, j.step, j.params); read {
			maps.Copy(shown, in)
			told = true
		}
		break
	}
	for _, m := range members {
		if !told || shown[m.id] {
			j.in = append(j.in, m.id)
			continue
		}
		j.warnings.Add(diag.Diagnostic{
			Severity: diag.Warning, Code: "not-taken", Position: m.Position, Address: m.name(),
			Summary: "the service reported success, but " + m.name() + " is not in " + string(j.step.Members.Container.Address), Hint: silentDropHint,
		})
	}
}

// namedIn is the IDs that rows hold under any of the names.
func namedIn(rows []resource.Row, names ...string) map[string]bool {
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

// explain says because of whom members were refused, and what may be the matter.
func (j *memberBatch) explain() error {
	names := make([]string, len(j.refused))
	for i, m := range j.refused {
		names[i] = m.name() + " (" + m.Position.String() + ")"
	}
	hint := "check whether it still exists on the service"
	if c := j.step.Kind.Membership.Container; j.step.Kind.Membership.Exclusive {
		hint += ", and whether it is in two " + diag.Plural(c) + " at once, which the service cannot undo: remove it from all but one there"
	}
	return withHint{fmt.Errorf("%w, because of %s", j.refusal, strings.Join(names, ", ")), hint}
}

// isIn reports whether a single member is in though it was refused: because it was
// already, as who creates a project is in it from the start, or for no reason.
func (s *Service) isIn(ctx context.Context, step *planner.Step, params map[string]string, members []string, cause error) bool {
	var e *apiclient.Error
	if !errors.As(cause, &e) || e.Effect == apiclient.NoEffect || !step.Operation.OneAtATime && !e.Generic() {
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
	a, err := ask(ctx, s.client, planner.Read{Operation: list, Path: path})
	if err != nil || a.Unsupported || a.NotFound {
		return nil, false
	}
	in = map[string]bool{}
	for _, row := range selectList(a, list, false).Rows {
		in[step.Kind.Membership.MemberID(row)] = true
	}
	return in, true
}

// removeMembers takes members out of a container: one that stands in the path or
// in the body, or a list of them.
func (s *Service) removeMembers(ctx context.Context, step *planner.Step) (executor.Outcome, error) {
	ids := make([]string, len(step.Members.Items))
	for i := range step.Members.Items {
		ids[i] = step.Members.Items[i].ID
	}
	req := apiclient.Request{Operation: step.Operation, Params: maps.Clone(step.Params)}
	if m := step.Kind.Membership; step.Operation.TakesOne(step.Kind) && len(step.Operation.Body) == 0 {
		req.Params[resource.MustLookup(m.Member).Param] = ids[0]
	} else {
		req.Body = m.IDs(step.Operation, ids, "")
	}
	_, err := s.client.Do(ctx, req)
	switch {
	case err == nil:
	case !notFound(err):
		return executor.Outcome{}, failure(step, err)
	case !s.confirmRemoved(ctx, step, ids):
		return executor.Outcome{}, withHint{failure(step, err), "the service still shows them there but cannot remove them: remove them in Plane"}
	}
	return executor.Outcome{Record: planner.Record{Members: ids}}, nil
}

// confirmRemoved reports whether none of the members is in the container, once the service
// said that something of the request is not there. One that is asked for alone is
// what it speaks of, unless the container shows it still.
func (s *Service) confirmRemoved(ctx context.Context, step *planner.Step, ids []string) bool {
	in, told := s.membersIn(ctx, step, step.Params)
	if len(ids) == 1 && !told {
		return true
	}
	return told && !slices.ContainsFunc(ids, func(id string) bool { return in[id] })
}
