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
	"strings"
	"sync"

	"github.com/planform/planform/internal/sandbox"
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
	for _, r := range sandbox.SeedRequests() {
		known := true // false if a parent is missing, because the service does not have its kind
		withIDs := func(text string) string {
			return sandbox.SeedName.ReplaceAllStringFunc(text, func(name string) string {
				id := ids[strings.Trim(name, "{}")]
				known = known && id != ""
				return id
			})
		}
		path, body := withIDs(r.Path), withIDs(r.Body)
		if !known {
			continue
		}
		var made struct{ ID string }
		into := any(&made)
		if r.Name == "" {
			into = nil
		}
		if status, err := sv.send(ctx, r.Method, path, body, into); err != nil && status != http.StatusNotFound {
			return err
		}
		ids[r.Name] = made.ID
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
