package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plan/notices"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// countNotices adds the notices that the plan makes to its summary. It asks for the version of the service only if the plan may tell people.
func countNotices(ctx context.Context, client *apiclient.Client, world *planner.World, plan *planner.Plan) {
	if plan.API != resource.V1 || notices.Count(world, plan, notices.TellsOfChanges) == nil {
		return
	}
	ask := func(verb resource.Verb) (*apiclient.Response, error) {
		plan.Summary.Reads++
		op, _ := resource.MustLookup("member").Op(verb, plan.API)
		return client.Do(ctx, apiclient.Request{Operation: op})
	}
	plan.Summary.Notices = notices.Count(world, plan, telling(ask))
}

// telling returns the extent to which the service tells people, from its version, or from a route that version 1.4 added. Other editions
// than the community edition were not observed.
func telling(ask func(resource.Verb) (*apiclient.Response, error)) notices.Telling {
	answer, err := ask(resource.Version)
	if err != nil {
		_, err = ask(resource.ListLite)
		if refused, ok := errors.AsType[*apiclient.Error](err); err == nil || ok && (refused.Credential() || refused.Permission()) {
			return notices.TellsOfChanges
		}
		return notices.TellsNothing
	}
	instance, _ := answer.Row["instance"].(map[string]any)
	edition, _ := instance["edition"].(string)
	version, _ := instance["current_version"].(string)
	var major, minor int
	_, err = fmt.Sscanf(strings.TrimPrefix(version, "v"), "%d.%d", &major, &minor)
	switch {
	case err != nil, edition != "" && edition != "PLANE_COMMUNITY", major < 1, major == 1 && minor < 3:
		return notices.TellsNothing
	case major == 1 && minor == 3:
		return notices.TellsOfRelations
	default:
		return notices.TellsOfChanges
	}
}
