package sandboxtest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

func TestServicesAndTheSandboxHaveTheSameSeed(t *testing.T) {
	t.Parallel()
	own, service := openTest(t, sandboxtest.Options{}), openTest(t, sandboxtest.Options{Empty: true})
	url, err := service.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := (sandboxtest.Service{URL: url, Workspace: sandbox.Workspace, Key: sandbox.Key}).Seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(contents(t, own), contents(t, service)); d != "" {
		t.Errorf("-sandbox +service:\n%s", d)
	}
}

func TestASeedLeavesOutWhatTheEditionLacks(t *testing.T) {
	t.Parallel()
	s := openTest(t, sandboxtest.Options{Edition: sandbox.Community, Empty: true})
	url, err := s.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := (sandboxtest.Service{URL: url, Workspace: sandbox.Workspace, Key: sandbox.Key}).Seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := contents(t, s)
	if text := strings.Join(found, "\n"); !strings.Contains(text, "Publish the old price list") || strings.Contains(text, "Globex") {
		t.Error(text)
	}
}

// contents returns the records in the lists of a workspace, one in each line, without values that differ between services.
func contents(t *testing.T, s *sandboxtest.Server) []string {
	t.Helper()
	within := map[string][]string{
		"": {"projects/", "members/", "initiatives/", "initiatives/labels/", "teamspaces/", "customers/", "customer-properties/", "pages/"},
		"projects/": {
			"members/", "states/", "labels/", "cycles/", "modules/", "work-item-types/", "estimates/", "work-items/",
		},
		"work-items/": {"links/", "comments/"},
		"estimates/":  {"estimate-points/"},
		"customers/":  {"requests/"},
	}
	chance := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[0-9:.]+Z`)
	var lines []string
	var read func(at, list string)
	read = func(at, list string) {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/workspaces/"+sandbox.Workspace+"/"+at+list, nil)
		req.Header.Set("X-Api-Key", sandbox.Key)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, req)
		var page struct{ Results []json.RawMessage }
		if json.Unmarshal(w.Body.Bytes(), &page) != nil {
			_ = json.Unmarshal(w.Body.Bytes(), &page.Results)
		}
		for _, raw := range page.Results {
			var record struct{ ID string }
			if err := json.Unmarshal(raw, &record); err != nil {
				t.Fatalf("%s: %s", at+list, w.Body)
			}
			lines = append(lines, list+" "+chance.ReplaceAllString(string(raw), "…"))
			for _, inner := range within[list] {
				read(at+list+record.ID+"/", inner)
			}
		}
	}
	for _, list := range within[""] {
		read("", list)
	}
	slices.Sort(lines)
	return lines
}
