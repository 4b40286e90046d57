package export_test

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/sync/export"
)

// attach uploads a file as people do: without an external ID.
func (s *service) attach(name, media, content string) {
	s.t.Helper()
	const at = items + sandboxtest.WorkItemWeb1 + "/attachments/"
	resp, err := s.client.Do(s.t.Context(), apiclient.Request{
		Operation: operation(s.t, "attachment", "POST"), Params: map[string]string{"project_id": sandboxtest.ProjectWeb, "work_item_id": sandboxtest.WorkItemWeb1},
		Body: jsonOf(s.t, map[string]any{"name": name, "type": media, "size": len(content)}),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	form, _ := resp.Row["upload_data"].(map[string]any)
	fields, _ := form["fields"].(map[string]any)
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for field, value := range fields {
		_ = w.WriteField(field, value.(string))
	}
	part, _ := w.CreateFormFile("file", "x")
	_, _ = part.Write([]byte(content))
	_ = w.Close()
	req, _ := http.NewRequestWithContext(s.t.Context(), http.MethodPost, form["url"].(string), &body)
	req.Header.Set("Content-Type", w.FormDataContentType())
	stored, err := http.DefaultClient.Do(req)
	if err != nil || stored.StatusCode != http.StatusNoContent {
		s.t.Fatal(err, stored)
	}
	_ = stored.Body.Close()
	id, _ := resp.Row["asset_id"].(string)
	s.send("PATCH", at+id+"/", map[string]any{"is_uploaded": true})
}

func TestAttachmentsAreExportedWithTheirFiles(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	s.attach("../../Design v2.PDF", "application/pdf", "first")
	s.attach("design v2.pdf", "application/pdf", "second")
	s.attach("con.txt", "text/plain", "third")
	s.attach("page.html", "text/plain", "refused by manifests")
	dir, e := s.export(export.Options{With: []string{"attachments"}, Spool: t.TempDir()})
	for name, want := range map[string]string{"design-v2.pdf": "second", "x-con.txt": "third"} {
		got, err := os.ReadFile(filepath.Join(dir, "attachments", name))
		if other, err := os.ReadFile(filepath.Join(dir, "attachments", "design-v2-2.pdf")); name == "design-v2.pdf" && err == nil && string(other) == want {
			got = other
		}
		if err != nil || string(got) != want {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	names, _ := filepath.Glob(filepath.Join(dir, "attachments", "*"))
	if len(names) != 3 {
		t.Errorf("%q", names)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "web.yaml"))
	if strings.Contains(string(text), "..") || strings.Contains(string(text), "ignature") || strings.Count(string(text), "file: attachments/") != 3 {
		t.Errorf("%s", text)
	}
	var left []string
	for _, o := range e.Omitted {
		left = append(left, o.What+": "+o.Why)
	}
	if all := strings.Join(left, "\n"); !strings.Contains(all, "attachment: a manifest takes no files of its type") || !strings.Contains(all, "name: manifests cannot express it") {
		t.Error(all)
	}
	for _, trust := range []bool{true, false} {
		if plan := s.plan(dir, e.Records, trust); !plan.Empty() {
			t.Errorf("after the export: %+v", plan.Summary)
		}
	}
	if plan := s.plan(dir, nil, false); plan.Summary.Create+plan.Summary.Update != 0 {
		t.Errorf("without its state: %+v", plan.Summary)
	}
	if err := os.WriteFile(filepath.Join(dir, "attachments", "x-con.txt"), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if plan := s.plan(dir, e.Records, false); plan.Summary.Create != 1 {
		t.Errorf("with another file: %+v", plan.Summary)
	}
}

// TestAnAttachmentThatTheStoreDoesNotGiveIsLeftOut lets the store refuse.
func TestAnAttachmentThatTheStoreDoesNotGiveIsLeftOut(t *testing.T) {
	t.Parallel()
	broken := false
	s := newService(t, sandboxtest.Options{Fault: func(req *http.Request) sandboxtest.Fault {
		if !broken || req.URL.Path != "/uploads" {
			return sandboxtest.Fault{}
		}
		return sandboxtest.Fault{Before: sandboxtest.Break{Status: 404, Body: "<Error><Code>NoSuchKey</Code></Error>"}}
	}})
	s.attach("a.txt", "text/plain", "text")
	broken = true
	dir, e := s.export(export.Options{With: []string{"attachments"}, Spool: t.TempDir()})
	if text, _ := os.ReadFile(filepath.Join(dir, "web.yaml")); strings.Contains(string(text), "attachments:") || len(e.Omitted) == 0 || !strings.Contains(e.Omitted[0].Why, "404: NoSuchKey") {
		t.Errorf("%s %+v", text, e.Omitted)
	}
}

func operation(tb testing.TB, kind, method string) *resource.Operation {
	tb.Helper()
	for _, o := range resource.Operations() {
		if o.Kind == kind && o.Method == method {
			return o
		}
	}
	tb.Fatalf("%s has no %s", kind, method)
	return nil
}

func jsonOf(tb testing.TB, v any) []byte {
	tb.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}
