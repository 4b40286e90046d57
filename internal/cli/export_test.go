package cli_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

func TestAnExportThatIsNotCompleteSaysSo(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Fault: func(r *http.Request) sandboxtest.Fault {
		if strings.HasSuffix(r.URL.Path, "/customers/") {
			return sandboxtest.Fault{Before: sandboxtest.Break{Status: http.StatusForbidden, Body: `{"detail":"You do not have permission to perform this action."}`}}
		}
		return sandboxtest.Fault{}
	}})
	dir := filepath.Join(s.dir, "out")
	r := s.run(t, "export", "--workspace", "acme", "--to", dir)
	if r.code != 4 || !strings.Contains(r.err, "may not read the customers") || !strings.Contains(r.err, "incomplete") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	s.must(t, "plan", "-f", dir)
}

func TestAServiceThatListsNoProjectsCannotBeExported(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{Fault: func(r *http.Request) sandboxtest.Fault {
		if strings.HasSuffix(r.URL.Path, "/projects/") {
			return sandboxtest.Fault{Before: sandboxtest.Break{Status: http.StatusNotFound, Body: `{"error":"Page not found."}`}}
		}
		return sandboxtest.Fault{}
	}})
	dir := filepath.Join(s.dir, "out")
	r := s.run(t, "export", "--workspace", "acme", "--to", dir)
	if r.code != 1 || !strings.Contains(r.err, "cannot list the contents of a workspace") || !strings.Contains(r.err, "needs the list of projects") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder was made")
	}
}

func TestObjectsOfPlanformAreExportedUnderTheirKeys(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	manifest := s.write(t, "m.yaml", `version: 1
workspace: acme
projects:
  - {key: web, identifier: WEB, work_items: [{key: shop, name: Open the new shop}], labels: [{key: net, name: Network}]}
pages: [{key: handbook, name: How we work, description: "# Rules"}]
`)
	s.must(t, "apply", "-f", manifest)
	dir := filepath.Join(s.dir, "out")
	s.must(t, "export", "--workspace", "acme", "--to", dir)
	var text strings.Builder
	for _, name := range []string{"web.yaml", "workspace.yaml"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		text.Write(data)
	}
	for _, want := range []string{"key: shop\n", "key: net\n", "key: handbook\n", "file: pages/handbook.md"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if r := s.must(t, "apply", "-f", dir); !strings.Contains(r.out, "No changes.") {
		t.Errorf("applied to where it comes from, it changes something:\n%s", r.out)
	}
}
