package provider_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// contents returns a project with or without an item that holds everything that an item can hold.
func contents(item bool) string {
	a := `{key: a, name: A, comments: [{key: k, text: one}, {key: l, text: two}], links: [{url: "https://example.com/a"}],
		attachments: [{key: f, file: files/design.pdf}], relations: {blocked_by: [b]}, cycle: c, modules: [m]},
		{key: a1, name: A1, parent: a, comments: [{key: k, text: three}], links: [{url: "https://example.com/a"}]},`
	if !item {
		a = ""
	}
	return `projects: [{key: web, identifier: WEB, cycles: [{key: c, name: C}], modules: [{key: m, name: M}], work_items: [` + a + `{key: b, name: B}]}]`
}

// TestAnObjectThatIsMadeAgainGetsItsContentsAlthoughTheOldOnesAreDeletedLater: until the service has processed its queue, the contents
// of a deleted item still have their external IDs.
func TestAnObjectThatIsMadeAgainGetsItsContentsAlthoughTheOldOnesAreDeletedLater(t *testing.T) {
	t.Parallel()
	deleted := func(t *testing.T, s *service) { // by a person
		t.Helper()
		for _, row := range s.Rows("work_item") {
			if row["name"] == "A" {
				s.otherUser(t, "DELETE", fmt.Sprintf("projects/%v/work-items/%v/", row["project"], row["id"]), "")
			}
		}
	}
	pruned := func(t *testing.T, s *service) {
		t.Helper()
		if r := s.apply(t, applying{manifest: contents(false), prune: true}); len(r.failed()) > 0 {
			t.Errorf("pruned: %q", r.failed())
		}
	}
	for how, gone := range map[string]func(*testing.T, *service){"deleted": deleted, "pruned": pruned} {
		for _, lag := range []time.Duration{0, 300 * time.Millisecond, 4 * time.Second, 20 * time.Second} {
			for _, api := range []resource.API{resource.V1, resource.V2} {
				t.Run(fmt.Sprintf("%s, cleared after %s, %s", how, lag, api), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						s := newServiceOf(t, api, sandboxtest.Options{Lag: lag})
						s.virtual = true
						if r := s.apply(t, applying{manifest: contents(true)}); len(r.failed()) > 0 {
							t.Fatalf("%q", r.failed())
						}
						gone(t, s)
						start := time.Now()
						if r := s.apply(t, applying{manifest: contents(true)}); len(r.failed())+len(r.warnings()) > 0 {
							t.Errorf("%q, %v", r.failed(), r.warnings())
						}
						if took := time.Since(start); took > lag+4*time.Second {
							t.Errorf("it took %s", took)
						}
						<-time.After(2 * lag)
						for range 2 {
							if r := s.apply(t, applying{manifest: contents(true), all: true}); len(r.failed()) > 0 || r.writes > 0 || !r.plan.Empty() {
								t.Errorf("then: %q, %d writes, %+v", r.failed(), r.writes, r.plan.Summary)
							}
						}
						if n := len(s.Rows("comment")); n != 3+1 { // one is seeded
							t.Errorf("there are %d comments", n)
						}
					})
				})
			}
		}
	}
}

// TestAnObjectThatIsDeletedTooLateIsNamedWithTheReason checks that the run ends, and the next one continues.
func TestAnObjectThatIsDeletedTooLateIsNamedWithTheReason(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServiceOf(t, resource.V1, sandboxtest.Options{Lag: time.Hour})
		s.virtual = true
		text := `projects: [{key: web, identifier: WEB, work_items: [{key: a, name: A, comments: [{key: k, text: one}], links: [{url: "https://example.com/a"}]}]}]`
		s.apply(t, applying{manifest: text})
		for _, row := range s.Rows("work_item") {
			if row["name"] == "A" {
				s.otherUser(t, http.MethodDelete, fmt.Sprintf("projects/%v/work-items/%v/", row["project"], row["id"]), "")
			}
		}
		start := time.Now()
		r := s.apply(t, applying{manifest: text})
		if got := r.failed(); len(got) != 1 || !strings.Contains(got[0], "it exists already") || !strings.Contains(got[0], "is not in work_item/web/a") ||
			time.Since(start) > time.Minute {
			t.Errorf("%q after %s", got, time.Since(start))
		}
		<-time.After(time.Hour)
		if r := s.apply(t, applying{manifest: text}); len(r.failed()) > 0 || r.writes != 1 {
			t.Errorf("then: %q, %d writes", r.failed(), r.writes)
		}
	})
}
