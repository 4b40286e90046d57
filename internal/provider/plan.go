package provider

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Plan makes the reads that the planner asks for, and then the plan. in.Observed may hold
// answers already; those to the reads are added to it. Planning waits only where nothing but readable numbers can show the
// object of a create without an outcome: these are read again after the grace period.
// An error is a read that failed; the findings are those of the planner, and the plan is
// nil if one of them is an error.
func Plan(ctx context.Context, client *apiclient.Client, in planner.Input, grace Grace) (*planner.Plan, diag.List, error) {
	grace = grace.begin()
	early := grace.remaining() > 0
	if in.Observed == nil {
		in.Observed = planner.Observed{}
	}
	in.Prior = askable(in.Prior)
	reader := &Reader{Client: client, API: in.API, Observed: in.Observed, requests: len(in.Observed)}
	for {
		world, err := planner.Load(ctx, in, reader)
		if err != nil {
			return nil, nil, err
		}
		result := planner.Build(world)
		if early && len(result.Unconfirmed) > 0 {
			early = false
			if err := grace.Wait(ctx); err != nil {
				return nil, nil, err
			}
			for _, r := range result.Unconfirmed {
				delete(in.Observed, r)
			}
			reader.several, reader.overviews = nil, nil // which would answer these
			continue
		}
		if result.Plan != nil {
			attribute(ctx, reader, result.Plan)
		}
		return result.Plan, result.Findings, ctx.Err()
	}
}

// attribute finds out who changed the fields that differ from the last apply. A failure is
// a notice only: the plan does not depend on it.
func attribute(ctx context.Context, reader *Reader, plan *planner.Plan) {
	if err := reader.Read(ctx, plan.Activities()); err != nil {
		plan.Notices.Add(diag.Diagnostic{
			Severity: diag.Warning, Code: "unattributed",
			Summary: "cannot tell who changed fields on the service: " + diag.PlainText(err),
		})
	}
	plan.Summary.Reads = reader.requests
	plan.AnnotateAuthors(reader.Observed)
}

// Detect finds out with two reads which API is available. The answer is put into observed,
// so that a plan can use it. A lack of permission is an error.
// most is the widest API that is wanted.
func Detect(ctx context.Context, client *apiclient.Client, workspace string, most resource.API, observed planner.Observed) (resource.API,
	error,
) {
	op, ok := resource.MustLookup("project").Op(resource.List, resource.V1)
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
	if most == resource.V2 {
		if v2, err := HasV2(ctx, client); err != nil || v2 {
			return resource.V2, err
		}
	}
	return resource.V1, nil
}

// HasV2 finds out whether there is an API v2 beside API v1.
func HasV2(ctx context.Context, client *apiclient.Client) (bool, error) {
	probe, _ := resource.MustLookup("member").Op(resource.ProbeV2, resource.V2)
	res, err := client.Do(ctx, apiclient.Request{Operation: probe})
	var e *apiclient.Error
	switch {
	case err == nil:
		return res.Row.ID() != "", nil
	case errors.As(err, &e) && e.Status >= 400 && e.Status < 500 && !e.Credential():
		return false, nil
	default:
		return false, err
	}
}

// askable are records whose IDs the service can be asked for. One that is no ID, as after damage to the state, becomes one that no
// object has: the object is found again by its mark, as if the ID were a wrong one.
func askable(prior planner.Prior) planner.Prior {
	mended := maps.Clone(prior)
	for address, r := range prior {
		members := slices.DeleteFunc(slices.Clone(r.Members), func(id string) bool { return !resource.IsID(id) })
		if wrong := r.ID != "" && !resource.IsID(r.ID); wrong || len(members) < len(r.Members) {
			if r.Members = members; wrong {
				r.ID = uuid.NewSHA1(uuid.NameSpaceURL, []byte(address)).String()
			}
			mended[address] = r
		}
	}
	return mended
}
