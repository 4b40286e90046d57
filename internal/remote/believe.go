package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// What a 2xx says is held against what was asked for, and what a refusal says
// against what the service then shows: both have been seen to be wrong.

// leftOut is what the service is known to drop from a request without a word.
const leftOut = "the service leaves out, without saying so, things of another project and people who are guests or not in the project"

// contradictions are the fields that the answer shows otherwise than they were
// sent. values become what is shown, since that is what the service holds; but a
// rich text, which the service rewrites, stays what was sent.
func (s *Service) contradictions(step *planner.Step, row resource.Row, values map[*resource.Field]string, ids executor.IDs) diag.List {
	var l diag.List
	resolve := s.resolve(step.Object, ids)
	warn := func(v *resource.Value, summary, hint string) {
		l.Add(diag.Diagnostic{
			Severity: diag.Warning, Code: "not-taken", Position: v.Position, Address: string(step.Address), Summary: summary, Hint: hint,
		})
	}
	var silent []*resource.Value
	telling := false
	for _, v := range step.Values {
		want, ok := values[v.Field]
		shown, there := row.Shown(v.Field)
		if !there && v.Field.IsRef() {
			silent = append(silent, v)
		}
		if !ok || v.Field.Type == resource.HTML && shown == v.Text {
			continue // the text itself came back: no need to look closer
		}
		have, known := v.Field.Observed(row)
		telling = telling || known
		if !known || want == have {
			continue
		}
		summary, hint := "the service has another "+v.Field.Name+" than was sent: "+quoted(have)+" instead of "+quoted(want), ""
		if v.Field.IsRef() {
			hint = leftOut
		}
		if names := dropped(v, have, resolve); len(names) > 0 {
			summary = "the service left " + strings.Join(names, ", ") + " out of the " + v.Field.Name
		}
		warn(v, summary, hint)
		if !v.Field.Rich() {
			values[v.Field] = have
		}
	}
	if telling { // an answer that shows nothing of the thing contradicts nothing
		for _, v := range silent {
			if s.first(v.Field) {
				warn(v, "answers of the service have no "+v.Field.Name+": nothing tells whether it took this one, or those of others",
					"look at "+string(step.Address)+" on the service")
			}
		}
	}
	return l
}

// dropped is those of a set, as they are written, that the service does not have.
func dropped(v *resource.Value, have string, resolve resource.Resolve) []string {
	if v.Field.Type != resource.RefSet {
		return nil
	}
	var names []string
	there := strings.Split(have, ",")
	for i := range v.Refs {
		if id, ok := resolve(v.Field, &v.Refs[i]); ok && !slices.Contains(there, id) {
			names = append(names, v.Refs[i].Text)
		}
	}
	return names
}

// first reports whether the field is asked about for the first time.
func (s *Service) first(f *resource.Field) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unshown[f] {
		return false
	}
	s.unshown[f] = true
	return true
}

func quoted(canonical string) string {
	const longest = 120
	if r := []rune(canonical); len(r) > longest {
		canonical = string(r[:longest]) + "…"
	}
	return strconv.Quote(canonical)
}

// explained is an error with a next step.
type explained struct {
	error

	hint string
}

func (e explained) Unwrap() error { return e.error }

// Hint is what to do about it.
func (e explained) Hint() string { return e.hint }

// met takes the thing that the service says is in the way of the one that was to
// be created, if it is that one. An archived thing or a draft stands in the way too, and is shown nowhere.
func (s *Service) met(ctx context.Context, step *planner.Step, params map[string]string, ids executor.IDs, cause *apiclient.Error) (executor.Outcome, error) {
	op, ok := step.Kind.Op(resource.Get, s.plan.API)
	if !ok {
		return executor.Outcome{}, failure(step, cause)
	}
	at := maps.Clone(params)
	at[step.Kind.Param] = cause.ExistingID
	res, err := s.client.Do(ctx, apiclient.Request{Operation: op, Params: at})
	switch {
	case errors.Is(err, apiclient.ErrNotFound):
		return executor.Outcome{}, explained{
			fmt.Errorf("the service refuses to create %s: it has it already, with the ID %s, but does not show it", step.Address, cause.ExistingID),
			"it may be archived or a draft: restore or delete it on the service, or write the thing under another key",
		}
	case err != nil || res.Row.ID() != cause.ExistingID:
		return executor.Outcome{}, failure(step, cause)
	case res.Row.Marked(resource.Mark(s.plan.Workspace, step.Address)), !step.Kind.AdoptAsked && sameNatural(step.Object, res.Row):
		out, err := s.take(ctx, step, res.Row, params, ids)
		out.Settled, out.Made = err == nil, false
		return out, err
	default:
		return executor.Outcome{}, failure(step, cause)
	}
}

// doubted makes a refusal that may be untrue one of unknown fate, where no look
// can tell: the service has been seen to create a thing and then to complain of it in general terms.
func (s *Service) doubted(step *planner.Step, err error) error {
	e, refused := errors.AsType[*apiclient.Error](err)
	if !refused || e.Fate != apiclient.Refused || !e.Vague() {
		return err
	}
	if _, listed := step.Kind.Op(resource.List, s.plan.API); listed && (s.marks(step) || !step.Kind.AdoptAsked) {
		return explained{err, "the service says so of whatever it stumbles over; " + string(step.Address) +
			" is not there: look whether what it lives in and what it names still are"}
	}
	unknown := *e
	unknown.Fate = apiclient.Unknown
	return unknownFate{&unknown}
}

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

// joining is a batch of members on its way into their container.
type joining struct {
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
	j := &joining{Service: s, step: step, params: params}
	if err := j.add(ctx, members); err != nil {
		return executor.Outcome{Members: j.in}, over(step, failure(step, err))
	}
	if j.refusal != nil {
		return executor.Outcome{Members: j.in}, failure(step, j.explain())
	}
	return executor.Outcome{Members: j.in, Warnings: j.warnings}, nil
}

// over explains what the service says of a cycle that is over.
func over(step *planner.Step, err error) error {
	if e, refused := errors.AsType[*apiclient.Error](err); !refused || e.Code != "CYCLE_COMPLETED" {
		return err
	}
	return explained{
		fmt.Errorf("%w: %s is over, and the service puts nothing into a cycle that is", err, step.Members.Container.Address),
		"name one that is not over, or leave the cycle out; a new cycle of the past is filled first: create it without dates, and write those for the next apply",
	}
}

// add sends members. The service refuses all of them because of one, without
// saying which: then the halves are sent, so that the others get in.
func (j *joining) add(ctx context.Context, members []member) error {
	const enough = 3 // refused for themselves: then it is hardly because of a few
	list := make([]string, len(members))
	for i, m := range members {
		list[i] = m.id
	}
	res, err := j.client.Do(ctx, apiclient.Request{
		Operation: j.step.Operation, Params: j.params, Body: j.step.Kind.Membership.IDs(j.step.Operation, list),
	})
	e, refused := errors.AsType[*apiclient.Error](err)
	switch {
	case err == nil:
		j.check(ctx, members, res)
		return nil
	case len(members) == 1 && j.isIn(ctx, j.step, j.params, list, err):
		j.in = append(j.in, list...)
		return nil
	case !refused || !e.Vague() || len(members) == 0:
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
func (j *joining) check(ctx context.Context, members []member, res *apiclient.Response) {
	membership := j.step.Kind.Membership
	one := strings.TrimSuffix(strings.TrimSuffix(membership.Body, "s"), "_id") // rows are members, or memberships that name one
	shown, told := named(res.Rows, "id", one, one+"_id"), res.Rows != nil
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
			Summary: "the service answered that it is done, but " + m.name() + " is not in " + string(j.step.Members.Container.Address), Hint: leftOut,
		})
	}
}

// named is the IDs that rows hold under any of the names.
func named(rows []resource.Row, names ...string) map[string]bool {
	ids := map[string]bool{}
	for _, row := range rows {
		for _, name := range names {
			switch v := row[name].(type) {
			case string:
				ids[resource.NormalID(v)] = true
			case map[string]any:
				ids[resource.Row(v).ID()] = true
			}
		}
	}
	return ids
}

// explain says because of whom members were refused, and what may be the matter.
func (j *joining) explain() error {
	names := make([]string, len(j.refused))
	for i, m := range j.refused {
		names[i] = m.name() + " (" + m.Position.String() + ")"
	}
	hint := "look whether it is still on the service"
	if c := j.step.Kind.Membership.Container; j.step.Kind.Membership.Exclusive {
		hint += ", and whether it is in two " + c + "s at once, which the service can get into but not out of: take it out of all but one there"
	}
	return explained{fmt.Errorf("%w, because of %s", j.refusal, strings.Join(names, ", ")), hint}
}
