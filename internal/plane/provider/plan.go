package provider

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plan/authors"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// Plan makes the reads that the planner asks for, and then the plan. in.Observed may contain answers; new answers are added to it. If
// requests of an earlier run may still change what was read, planning waits until the service does not carry them out any more, and repeats
// these reads once. An error is a failed read. The findings come from the planner, and the plan is nil if one of them is an error.
func Plan(ctx context.Context, client *apiclient.Client, in planner.Input, grace Grace) (*planner.Plan, diag.List, error) {
	_, plan, found, err := Load(ctx, client, in, grace)
	return plan, found, err
}

// Load makes a plan like [Plan], and returns it with its World.
func Load(ctx context.Context, client *apiclient.Client, in planner.Input, grace Grace) (*planner.World, *planner.Plan, diag.List, error) {
	grace = grace.begin()
	early := grace.remaining() > 0
	if in.Observed == nil {
		in.Observed = planner.Observed{}
	}
	in.Prior = withValidIDs(in.Prior)
	reader := &Reader{Client: client, API: in.API, Observed: in.Observed, requests: len(in.Observed)}
	for {
		world, err := planner.Load(ctx, in, reader)
		if err != nil {
			return nil, nil, nil, err
		}
		if doubt := world.Settle(); early && len(doubt.Again) > 0 {
			early = false
			if err := grace.Wait(ctx); err != nil {
				return nil, nil, nil, err
			}
			for _, r := range doubt.Again {
				delete(in.Observed, r)
			}
			reader.shared = nil // it would answer these reads
			continue
		} else if early && doubt.Creates {
			if err := grace.brief().Wait(ctx); err != nil {
				return nil, nil, nil, err
			}
		}
		result := planner.Build(world)
		if result.Plan != nil {
			addAuthors(ctx, reader, result.Plan)
		}
		if result.Plan != nil && !in.Pull {
			countNotices(ctx, client, world, result.Plan)
		}
		return world, result.Plan, result.Findings, ctx.Err()
	}
}

// addAuthors finds out who changed the fields that differ from the last apply. A failure is only a notice, because the plan does not depend
// on it.
func addAuthors(ctx context.Context, reader *Reader, plan *planner.Plan) {
	if err := reader.Read(ctx, authors.Reads(plan)); err != nil {
		plan.Notices.Add(diag.Diagnostic{
			Severity: diag.Warning, Code: "unattributed",
			Summary: "cannot tell who changed fields on the service: " + diag.PlainText(err),
		})
	}
	plan.Summary.Reads = reader.requests
	authors.Annotate(plan, reader.Observed)
}

// Detect finds out with two reads which API is available, up to most. The answer is stored in observed, so that a plan can use it. A lack
// of permission is an error.
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

// HasV2 reports whether the service has API v2 beside API v1.
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

// withValidIDs returns records with IDs that the service can be asked for. If the state is damaged, an invalid ID is replaced by one that
// no object has, so that the object is found again by its mark.
func withValidIDs(prior planner.Prior) planner.Prior {
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
