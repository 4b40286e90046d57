package provider_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// lists names the references of an object that the service writes after the object itself.
var lists = regexp.MustCompile(`"(labels|label_ids|assignees|assignee_ids|members|member_ids)":\[[^\]]*\]`)

// halfMade lets the service write an object without its lists, and fail before it answers.
func halfMade(req *http.Request, _ run) sandboxtest.Fault {
	if req.Method != http.MethodPost || !regexp.MustCompile(`/(work-items|modules|bulk-create)/$`).MatchString(req.URL.Path) {
		return sandboxtest.Fault{}
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return sandboxtest.Fault{Before: sandboxtest.Break{Cut: true}}
	}
	half := lists.ReplaceAll(body, []byte(`"nothing":null`))
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(half)), int64(len(half))
	if len(half) == len(body) {
		return sandboxtest.Fault{}
	}
	return sandboxtest.Fault{After: sandboxtest.Break{Cut: true}}
}

// TestAnObjectThatTheServiceCreatedInPartIsCompleted by a second request.
func TestAnObjectThatTheServiceCreatedInPartIsCompleted(t *testing.T) {
	t.Parallel()
	for what, items := range map[string]string{
		"one item": `work_items: [{key: a, name: A, labels: [L], assignees: [bob@example.com], description: "**B**"}]`,
		"items":    `work_items: [{key: a, name: A, labels: [L]}, {key: b, name: B, labels: [L], assignees: [bob@example.com]}, {key: c, name: C}]`,
		"a module": `modules: [{name: M, members: [bob@example.com]}]`,
	} {
		for name, s := range apis(t) {
			t.Run(what+", "+name, func(t *testing.T) {
				t.Parallel()
				text := `projects: [{key: web, identifier: WEB, members: [bob@example.com], labels: [L], ` + items + `}]`
				r := s.apply(t, applying{manifest: text, fault: halfMade})
				for _, step := range r.Steps {
					if step.Outcome.LeftOut > 0 {
						t.Errorf("%s is said to lack something", step.Step.Address)
					}
				}
				if len(r.failed())+len(r.warnings()) > 0 {
					t.Errorf("%q, %v", r.failed(), r.warnings())
				}
				if r := s.apply(t, applying{manifest: text}); r.writes > 0 || !r.plan.Empty() {
					t.Errorf("%d writes, %+v", r.writes, r.plan.Summary)
				}
			})
		}
	}
}

// TestAReferenceThatTheServiceLeavesOutOfACompletedObjectIsReportedOnce names the reference, independently of the last request.
func TestAReferenceThatTheServiceLeavesOutOfACompletedObjectIsReportedOnce(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	s.replying = func(_ *http.Request, row map[string]any) {
		if _, shown := row["labels"]; shown {
			row["labels"] = []any{}
		}
	}
	r := s.apply(t, applying{fault: halfMade, manifest: `projects: [{key: web, identifier: WEB, labels: [L], work_items: [{key: a, name: A, labels: [L], description: "**B**"}]}]`})
	left := 0
	for _, step := range r.Steps {
		left += step.Outcome.LeftOut
	}
	if got := fmt.Sprint(r.warnings()); left != 1 || len(r.failed()) > 0 || len(r.warnings()) != 1 || !strings.Contains(got, "left L out of the labels") {
		t.Errorf("%d left out, %q, %s", left, r.failed(), got)
	}
}
