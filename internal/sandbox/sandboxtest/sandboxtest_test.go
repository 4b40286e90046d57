package sandboxtest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

const itemsPath = "/api/v1/workspaces/acme/projects/" + sandboxtest.ProjectWeb + "/work-items/"

func openTest(tb testing.TB, o sandboxtest.Options) *sandboxtest.Server {
	tb.Helper()
	s, err := sandboxtest.Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// ask sends a request as Ada and returns the status that is answered.
func ask(tb testing.TB, s *sandboxtest.Server, method, path, body string, header ...string) int {
	tb.Helper()
	req := httptest.NewRequestWithContext(tb.Context(), method, path, strings.NewReader(body))
	req.Header.Set("X-Api-Key", sandbox.Key)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	return w.Code
}

func TestTheSeededIDsExistInTheSandbox(t *testing.T) {
	t.Parallel()
	s := openTest(t, sandboxtest.Options{})
	for kind, ids := range map[string][]string{
		"user":             {sandboxtest.UserAda, sandboxtest.UserBob, sandboxtest.UserEve},
		"project":          {sandboxtest.ProjectWeb, sandboxtest.ProjectOps},
		"state":            {sandboxtest.StateTodo, sandboxtest.StateInProgress},
		"label":            {sandboxtest.LabelBackend, sandboxtest.LabelFrontend, sandboxtest.LabelBug, sandboxtest.LabelInfra},
		"cycle":            {sandboxtest.CycleSprint14, sandboxtest.CycleSprint15},
		"module":           {sandboxtest.ModuleCheckout},
		"work_item_type":   {sandboxtest.TypeStory, sandboxtest.TypeTask},
		"estimate":         {sandboxtest.EstimateWeb},
		"work_item":        {sandboxtest.WorkItemWeb1},
		"link":             {sandboxtest.LinkWeb1},
		"initiative":       {sandboxtest.InitiativeNorth},
		"initiative_label": {sandboxtest.InitiativeLabelGrowth},
		"teamspace":        {sandboxtest.TeamspacePlatform},
		"customer":         {sandboxtest.CustomerGlobex, sandboxtest.CustomerInitech},
		"customer_request": {sandboxtest.RequestDarkMode},
		"page":             {sandboxtest.PageWelcome},
	} {
		there := map[any]bool{}
		for _, row := range s.Rows(kind) {
			there[row["id"]] = true
		}
		for _, id := range ids {
			if !there[id] {
				t.Errorf("no %s %s", kind, id)
			}
		}
	}
	for _, key := range []string{sandboxtest.KeyBob, sandboxtest.KeyEve} {
		if got := ask(t, s, http.MethodGet, "/api/v1/users/me/", "", "X-Api-Key", key); got != http.StatusOK {
			t.Errorf("%s: %d", key, got)
		}
	}
}

func TestRequestsAreLogged(t *testing.T) {
	t.Parallel()
	s := openTest(t, sandboxtest.Options{Prefix: "/plane"})
	ask(t, s, http.MethodPost, "/plane"+itemsPath+"?x=1", `{"name": "x"}`)
	ask(t, s, http.MethodGet, "/plane/api/v1/users/me", "")
	log := s.Log()
	if len(log) != 2 || log[0].Path != "/plane"+itemsPath || log[0].Query != "x=1" || log[0].Status != http.StatusCreated || string(log[0].RequestBody) != `{"name": "x"}` {
		t.Errorf("log: %+v", log)
	}
	if log[1].Status != http.StatusMovedPermanently {
		t.Errorf("log: %+v", log[1])
	}
}
