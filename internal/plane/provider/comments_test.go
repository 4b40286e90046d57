package provider_test

import (
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// TestTheAuthorAndTimeOfACommentLeadItsText, because the service shows its own author. API v1 stores the time. If the text contains author and time, API v2 needs no further request.
func TestTheAuthorAndTimeOfACommentLeadItsText(t *testing.T) {
	t.Parallel()
	const text = `{version: 1, projects: [{identifier: WEB, work_items: [{name: Pay, comments: [
		{key: one, author: Ada L., created_at: "2023-08-17T10:42:00+02:00", text: We go.},
		{key: two, created_at: "2023-08-18T08:00:00Z", comment_html: <p>Fine.</p>}]}]}]}`
	for api, want := range map[resource.API]struct {
		stored int
		writes int
	}{resource.V1: {2, 3}, resource.V2: {2, 3}} {
		t.Run(api.String(), func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, api, sandboxtest.Options{Edition: sandbox.Cloud})
			if a := s.apply(t, applying{manifest: text}); len(a.failed())+len(a.warnings()) > 0 || a.writes != want.writes {
				t.Error(a.failed(), a.warnings(), a.writes)
			}
			led, stored := 0, 0
			for _, row := range s.Rows("comment") {
				if html, _ := row["comment_html"].(string); strings.Contains(html, "<strong>Ada L.</strong> · 17 Aug 2023, 10:42 UTC") || html == "<p>Fine.</p>" {
					led++
				}
				if at, _ := row["created_at"].(string); strings.HasPrefix(at, "2023-08-1") {
					stored++
				}
			}
			if led != 2 || stored != want.stored {
				t.Errorf("%d have a header, %d their time: %v", led, stored, s.Rows("comment"))
			}
			if a := s.apply(t, applying{manifest: text}); a.writes != 0 || !a.plan.Empty() {
				t.Errorf("again: %d writes, %+v", a.writes, a.plan.Summary)
			}
		})
	}
}
