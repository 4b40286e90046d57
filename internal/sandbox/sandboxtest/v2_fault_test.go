package sandboxtest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

func TestARequestOfV2FailsAsItsFaultSays(t *testing.T) {
	t.Parallel()
	const web = "/api/v2/workspaces/acme/projects/" + sandboxtest.ProjectWeb + "/"
	const batch = `{"items":[{"name":"a","cycle_id":"` + sandboxtest.CycleSprint14 + `"},{"name":"b"}]}`
	atomic := strings.TrimSuffix(batch, "}") + `,"all_or_none":true}`
	on := func(f sandboxtest.Fault) func(*http.Request) sandboxtest.Fault {
		return func(*http.Request) sandboxtest.Fault { return f }
	}
	second := func(_ *http.Request, i int, _ any) string {
		return map[int]string{1: "workflow_transition_denied"}[i]
	}
	for _, tt := range []struct {
		name, path, body string
		options          sandboxtest.Options
		status           int // 0: no answer
		answer           string
		made, inCycles   int
	}{
		{"nothing", "work-items/bulk-create/", batch, sandboxtest.Options{}, 200, `"succeeded":2`, 2, 1},
		{"a row fails", "work-items/bulk-create/", batch, sandboxtest.Options{FailRow: second}, 200, `"code":"workflow_transition_denied"`, 1, 1},
		{"a row fails all", "work-items/bulk-create/", atomic, sandboxtest.Options{FailRow: second}, 409, `"field":"items.1"`, 0, 0},
		{"too large", "work-items/bulk-create/", batch, sandboxtest.Options{BodyLimit: 50}, 413, "payload_too_large", 0, 0},
		{"membership ignored", "work-items/bulk-create/", batch, sandboxtest.Options{IgnoreMembership: true}, 200, `"succeeded":2`, 2, 0},
		{"first operations", "work-items/bulk-create/", batch, sandboxtest.Options{HasOperation: sandboxtest.FirstOperations}, 404, "Page not found.", 0, 0},
		{"cut after the commit", "work-items/bulk-create/", batch, sandboxtest.Options{Fault: on(sandboxtest.Fault{After: sandboxtest.Break{Cut: true}})}, 0, "", 2, 1},
		{"carried out late", "work-items/bulk-create/", batch, sandboxtest.Options{Fault: on(sandboxtest.Fault{Late: time.Millisecond})}, 0, "", 2, 1},
		{
			"states are the workspace's", "states/bulk-create/", `{"items":[{"name":"x","color":"#fff"}]}`,
			sandboxtest.Options{Fault: on(sandboxtest.Fault{Before: sandboxtest.Problem(409, "conflict", "states_managed_at_workspace")})},
			409, "states_managed_at_workspace", 0, 0,
		},
		{
			"no such route", "work-items/bulk-create/", batch,
			sandboxtest.Options{Fault: on(sandboxtest.Fault{Before: sandboxtest.RouteNotFound()})},
			404, "Page not found.", 0, 0,
		},
		{
			"undocumented", "work-items/bulk-create/", batch,
			sandboxtest.Options{Fault: on(sandboxtest.Fault{After: sandboxtest.Break{Status: 200, Body: `{"succeeded":2}`}})},
			200, `{"succeeded":2}`, 2, 1,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.options.Edition = sandbox.Cloud
			s := openTest(t, tt.options)
			base, err := s.Start(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			resp, body, err := over(t, t.Context(), base, http.MethodPost, web+tt.path, tt.body)
			if err == nil && resp.StatusCode != tt.status || !strings.Contains(body, tt.answer) || (err != nil) != (tt.status == 0) {
				t.Errorf("%v %v %s", err, resp, body)
			}
			s.Drain()
			items, members := len(s.Rows("work_item"))-1, len(s.Rows("cycle_issue"))
			if items != tt.made || members != tt.inCycles {
				t.Errorf("%d items and %d memberships, want %d and %d", items, members, tt.made, tt.inCycles)
			}
		})
	}
}
