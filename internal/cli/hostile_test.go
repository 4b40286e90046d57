package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sandbox"
)

// scriptedService gives the same answer to every request.
func scriptedService(t *testing.T, answer string) *service {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return &service{url: server.URL, dir: t.TempDir()}
}

func TestARecordThatEchoesTheCredentialDoesNotShowIt(t *testing.T) {
	t.Parallel()
	const id = "58ca3d9a-4cdc-4cec-a6bd-de60a03fa86f"
	record := `{"id":"` + id + `","name":"key ` + sandbox.Key + `","` + sandbox.Key + `":["` + strings.ToUpper(sandbox.Key) + `"]}`
	for _, tt := range []struct {
		answer string
		args   []string
	}{
		{record, []string{"get", "work-item", "--workspace", "acme", "WEB-7"}},
		{record, []string{"get", "work-item", "--workspace", "acme", "--output", "json", "WEB-7"}},
		{"[" + record + "]", []string{"get", "initiative-labels", "--workspace", "acme"}},
		{"[" + record + "]", []string{"get", "initiative-labels", "--workspace", "acme", "--output", "json"}},
	} {
		r := scriptedService(t, tt.answer).must(t, tt.args...)
		if strings.Contains(strings.ToLower(r.out+r.err), sandbox.Key) || !strings.Contains(r.out, "[redacted]") {
			t.Errorf("%q shows\n%s%s", tt.args, r.out, r.err)
		}
	}
}
