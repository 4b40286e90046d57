package provider

import (
	"context"
	"maps"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Plan makes every read that the planner asks for and then the plan. in.Observed
// may hold answers already. Where only numbers tell what became of a create
// without an outcome, they are looked at again when the grace period is over; else
// nothing is waited for. An error is a read that failed; findings are what the planner says.
func Plan(ctx context.Context, client *apiclient.Client, in planner.Input, grace Grace) (*planner.Plan, diag.List, error) {
	grace = grace.begin()
	early := grace.left() > 0
	in.Observed = maps.Clone(in.Observed)
	if in.Observed == nil {
		in.Observed = planner.Observed{}
	}
	reader := Reader{Client: client, Observed: in.Observed}
	for {
		round := planner.Build(in)
		if unseen := round.Unconfirmed; early && len(round.Reads) == 0 && len(unseen) > 0 {
			early = false
			if err := grace.wait(ctx); err != nil {
				return nil, nil, err
			}
			for _, r := range unseen {
				delete(in.Observed, r)
			}
			continue
		}
		if len(round.Reads) == 0 {
			if round.Plan != nil {
				attribute(ctx, reader, round.Plan)
			}
			return round.Plan, round.Findings, ctx.Err()
		}
		reader.More = func() []planner.Read { return planner.Build(in).Reads }
		err := reader.Read(ctx, round.Reads)
		if reader.More = nil; err != nil {
			return nil, nil, err
		}
	}
}

// attribute finds out who changed on the service what is not as it was applied.
// A plan is as good without: that it cannot be read is a notice.
func attribute(ctx context.Context, reader Reader, plan *planner.Plan) {
	if err := reader.Read(ctx, plan.Activities()); err != nil {
		plan.Notices.Add(diag.Diagnostic{Severity: diag.Warning, Code: "unattributed", Summary: "cannot tell who changed fields on the service: " + err.Error()})
	}
	plan.Summary.Reads = len(reader.Observed)
	plan.AnnotateAuthors(reader.Observed)
}

// Detect finds out whether the wider API is there, with one read that a plan
// can use again: the answer is put into observed. That it may not be read is an error.
func Detect(ctx context.Context, client *apiclient.Client, workspace string, observed planner.Observed) (resource.API, error) {
	op, ok := resource.MustLookup("project").Op(resource.List, resource.Full)
	if !ok {
		return resource.Documented, nil
	}
	path, _ := op.Expand(map[string]string{"workspace_slug": workspace})
	read := planner.Read{Operation: op, Path: path}
	a, err := ask(ctx, client, read)
	switch {
	case err != nil:
		return resource.Documented, err
	case a.Unsupported || a.NotFound:
		return resource.Documented, nil
	}
	observed[read] = a
	return resource.Full, nil
}
