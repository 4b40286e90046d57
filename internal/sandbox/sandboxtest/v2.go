package sandboxtest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Problem returns an error of API v2, such as 402 for a feature that the plan lacks or 409 with a special code.
func Problem(status int, typ, code string) Break {
	body, err := json.Marshal(map[string]string{"type": typ, "code": code, "detail": "Refused by the test."})
	if err != nil {
		panic(err)
	}
	return Break{Status: status, Header: http.Header{"Content-Type": {"application/problem+json"}}, Body: string(body)}
}

// RouteNotFound returns the answer to a path that the server does not have.
func RouteNotFound() Break {
	return Break{Status: http.StatusNotFound, Body: `{"error": "Page not found."}`}
}

// FirstOperations selects the operations with which API v2 began, for [Options].HasOperation: no batches, no upsert, no
// manage routes, and nothing for projects, pages, relations, initiatives or customers.
func FirstOperations(method, path string) bool {
	areas := regexp.MustCompile(`^/api/v2/(?:users/me/$|schema/$|workspaces/\{slug\}/(?:projects/\{project_id\}/)?` +
		`(?:work-items|states|labels|cycles|modules|work-item-types|work-item-properties|members|features|audit-logs)/)`)
	segments := strings.Split(strings.Trim(path, "/"), "/")
	last := segments[len(segments)-1]
	switch {
	case !areas.MatchString(path), last == "upsert", strings.HasPrefix(last, "bulk-"), method == http.MethodPost &&
		strings.HasSuffix(path, "{pk}/work-items/"):
		return false
	case slices.Contains(segments, "members"):
		return method == http.MethodGet
	}
	for _, later := range []string{"links", "relations", "dependencies", "attachments", "worklogs", "activities", "transfer"} {
		if slices.Contains(segments, later) {
			return false
		}
	}
	return true
}
