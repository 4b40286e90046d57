package sandbox

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func openTest(tb testing.TB, opts Options) *Server {
	tb.Helper()
	s, err := Open(opts)
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

// answer is the answer to a request.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) object(tb testing.TB) map[string]any {
	tb.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		tb.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return out
}

// ask sends a request as Ada to a path of the workspace, or to a whole path.
func ask(tb testing.TB, s *Server, method, path, body string, header ...string) answer {
	tb.Helper()
	if !strings.HasPrefix(path, "/") {
		path = "/api/v1/workspaces/acme/" + path
	}
	req := httptest.NewRequestWithContext(tb.Context(), method, path, strings.NewReader(body))
	req.Header.Set("X-Api-Key", Key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Del(header[i])
		if header[i+1] != "" {
			req.Header.Set(header[i], header[i+1])
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	return answer{w.Code, w.Header(), w.Body.String()}
}

func want(tb testing.TB, a answer, status int) answer {
	tb.Helper()
	if a.status != status {
		tb.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

func TestTheSeededWorkspaceHasTheIDsOfItsConstants(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	for _, path := range []string{
		"/api/v1/users/me/", "projects/", "members/", "projects/" + projectWeb + "/", "projects/" + projectWeb + "/states/" + stateTodo + "/",
		"projects/" + projectWeb + "/cycles/" + cycleSprint14 + "/", "projects/" + projectWeb + "/labels/" + labelBug + "/",
		"projects/" + projectWeb + "/modules/" + moduleCheckout + "/", "projects/" + projectWeb + "/work-item-types/" + typeStory + "/",
		"projects/" + projectWeb + "/work-items/" + workItemWeb1 + "/links/" + linkWeb1 + "/", "work-items/WEB-1/",
		"projects/" + projectWeb + "/work-items/" + workItemWeb1 + "/comments/" + commentWeb1 + "/",
		"projects/" + projectWeb + "/work-items/" + workItemWeb1 + "/activities/",
		"projects/" + projectOps + "/cycles/" + cycleQ1 + "/", "projects/" + projectOps + "/states/" + opsStateTodo + "/",
		"initiatives/" + initiativeNorth + "/", "initiatives/labels/" + initiativeLabelRisk + "/", "teamspaces/" + teamspacePlatform + "/",
		"customers/" + customerGlobex + "/requests/" + requestDarkMode + "/", "customer-properties/" + propertyTier + "/", "pages/" + pageWelcome + "/",
	} {
		want(t, ask(t, s, http.MethodGet, path, ""), http.StatusOK)
	}
	for kind, n := range map[string]int{
		"project": 2, "state": 10, "label": 4, "cycle": 3, "module": 1, "member": 3, "work_item": 1, "link": 1, "comment": 1, "initiative": 1,
		"initiative_label": 2, "teamspace": 1, "customer": 2, "customer_request": 1, "customer_property": 2, "page": 1, "work_item_type": 2,
	} {
		if got := len(s.Rows(kind)); got != n {
			t.Errorf("%d rows of %s, want %d", got, kind, n)
		}
	}
}

func TestStartRefusesOtherAddresses(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	for _, listen := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:0", "nonsense"} {
		if base, err := s.Start(t.Context(), listen); err == nil {
			t.Errorf("listens on %s as %s", listen, base)
		}
	}
}
