package sandboxtest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
)

// Services provides empty workspaces for stories, on a real service that flags name:
//
//	PLANE_API_KEY=… go test . -server http://127.0.0.1:8001 -workspaces one,two,three
//
// The key must belong to ada@example.com, an admin of the workspaces. In each of them, bob@example.com must be a member
// and eve@example.com a guest.
type Services struct {
	url, workspaces *string

	mu    sync.Mutex
	taken int
}

// ServiceFlags adds the flags to a test.
func ServiceFlags() *Services {
	return &Services{
		url:        flag.String("server", "", "`URL` of a service to run the stories on, in place of the sandbox"),
		workspaces: flag.String("workspaces", "", "empty `WORKSPACES` of that service, separated by commas, for each story its own"),
	}
}

// Given reports whether the flags name a service.
func (ss *Services) Given() bool { return *ss.url != "" }

// Service is a workspace of a real service, with credentials.
type Service struct {
	URL, Workspace string
	Key            string // of an admin
	Colleague      string // key of a member, from PLANE_COLLEAGUE_API_KEY; "" = none
}

// Next returns a workspace that no story has used yet.
func (ss *Services) Next() (Service, error) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	slugs := strings.Split(*ss.workspaces, ",")
	if ss.taken == len(slugs) || slugs[ss.taken] == "" {
		return Service{}, fmt.Errorf("-workspaces names %d, and more are needed", ss.taken)
	}
	next := Service{
		URL: strings.TrimSuffix(*ss.url, "/"), Workspace: slugs[ss.taken],
		Key: os.Getenv("PLANE_API_KEY"), Colleague: os.Getenv("PLANE_COLLEAGUE_API_KEY"),
	}
	if next.Key == "" {
		return Service{}, errors.New("PLANE_API_KEY is not set")
	}
	ss.taken++
	return next, nil
}

// seeded is a request of API v1 that creates a record of the sandbox's seed. A name in braces stands for the ID of the
// record with that name.
type seeded struct{ name, method, path, body string }

func seed() []seeded {
	return []seeded{
		{"web", "POST", "projects/", `{"name": "Website", "identifier": "WEB", "description": "Public site", "cycle_view": true, "module_view": true}`},
		{"ops", "POST", "projects/", `{"name": "Operations", "identifier": "OPS", "cycle_view": true}`},
		{"", "POST", "projects/{web}/project-members/", `{"member": "{bob}", "role": 15}`},
		{"", "POST", "projects/{web}/labels/", `{"name": "backend", "color": "#3b82f6"}`},
		{"", "POST", "projects/{web}/labels/", `{"name": "frontend", "color": "#a855f7"}`},
		{"", "POST", "projects/{web}/labels/", `{"name": "bug", "color": "#ef4444"}`},
		{"", "POST", "projects/{ops}/labels/", `{"name": "infra", "color": "#64748b"}`},
		{
			"", "POST", "projects/{web}/cycles/",
			`{"name": "Sprint 14", "project_id": "{web}", "start_date": "2030-01-07", "end_date": "2030-01-18"}`,
		},
		{
			"", "POST", "projects/{web}/cycles/",
			`{"name": "Sprint 15", "project_id": "{web}", "start_date": "2030-01-21", "end_date": "2030-02-01"}`,
		},
		{"", "POST", "projects/{ops}/cycles/", `{"name": "Q1", "project_id": "{ops}", "start_date": "2030-01-01", "end_date": "2030-03-31"}`},
		{"", "POST", "projects/{web}/modules/", `{"name": "Checkout", "description": "Basket, payment, receipt"}`},
		{"", "PATCH", "projects/{web}/", `{"is_issue_type_enabled": true}`},
		{"", "POST", "projects/{web}/work-item-types/", `{"name": "Story"}`},
		{"", "POST", "projects/{web}/work-item-types/", `{"name": "Task"}`},
		{"points", "POST", "projects/{web}/estimates/", `{"name": "Points", "type": "points"}`},
		{
			"", "POST", "projects/{web}/estimates/{points}/estimate-points/",
			`{"estimate_points": [{"key": 0, "value": "1"}, {"key": 1, "value": "2"}, {"key": 2, "value": "3"}, {"key": 3, "value": "5"}, {"key": 4, "value": "8"}]}`,
		},
		{"", "PATCH", "projects/{web}/", `{"estimate": "{points}"}`},
		{
			"item", "POST", "projects/{web}/work-items/",
			`{"name": "Publish the old price list", "description_html": "<p>As a PDF, until the new one is approved.</p>"}`,
		},
		{"", "POST", "projects/{web}/work-items/{item}/links/", `{"url": "https://example.com/prices.pdf", "title": "Price list"}`},
		{"", "POST", "projects/{web}/work-items/{item}/comments/", `{"comment_html": "<p>The PDF is ready.</p>"}`},
		{"", "POST", "initiatives/", `{"name": "Grow in the north", "state": "ACTIVE"}`},
		{"", "POST", "initiatives/labels/", `{"name": "growth", "color": "#22c55e"}`},
		{"", "POST", "initiatives/labels/", `{"name": "risk", "color": "#f97316"}`},
		{"", "POST", "teamspaces/", `{"name": "Platform", "lead": "{ada}"}`},
		{"globex", "POST", "customers/", `{"name": "Globex", "email": "hello@globex.example"}`},
		{"", "POST", "customers/", `{"name": "Initech"}`},
		{"", "POST", "customers/{globex}/requests/", `{"name": "Dark mode", "description_html": "<p>For night shifts.</p>"}`},
		{"", "POST", "customer-properties/", `{"display_name": "Tier", "property_type": "TEXT"}`},
		{"", "POST", "customer-properties/", `{"display_name": "Renewal", "property_type": "DATETIME"}`},
		{"", "POST", "pages/", `{"name": "Welcome", "description_html": "<p>Start here.</p>"}`},
	}
}

// Seed creates the records of the sandbox's seed in the workspace, except those whose features the service lacks.
func (sv Service) Seed(ctx context.Context) error {
	ids := map[string]string{}
	var members []struct{ ID, Email string }
	if _, err := sv.send(ctx, "GET", "members/", "", &members); err != nil {
		return err
	}
	for _, m := range members {
		ids[strings.TrimSuffix(m.Email, "@example.com")] = m.ID
	}
	for _, name := range []string{"ada", "bob", "eve"} {
		if ids[name] == "" {
			return fmt.Errorf("the workspace %s has no member %s@example.com", sv.Workspace, name)
		}
	}
	reference := regexp.MustCompile(`\{[a-z]+\}`)
	for _, r := range seed() {
		known := true // false if a parent is missing, because the service does not have its kind
		withIDs := func(text string) string {
			return reference.ReplaceAllStringFunc(text, func(name string) string {
				id := ids[strings.Trim(name, "{}")]
				known = known && id != ""
				return id
			})
		}
		path, body := withIDs(r.path), withIDs(r.body)
		if !known {
			continue
		}
		var made struct{ ID string }
		into := any(&made)
		if r.name == "" {
			into = nil
		}
		if status, err := sv.send(ctx, r.method, path, body, into); err != nil && status != http.StatusNotFound {
			return err
		}
		ids[r.name] = made.ID
	}
	return nil
}

// send makes a request. path is relative to the workspace.
func (sv Service) send(ctx context.Context, method, path, body string, answer any) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, method, sv.URL+"/api/v1/workspaces/"+sv.Workspace+"/"+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("X-Api-Key", sv.Key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s %s: %s %s", method, path, body, res.Status, text)
	}
	if err == nil && answer != nil {
		err = json.Unmarshal(text, answer)
	}
	return res.StatusCode, err
}
