package provider_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// TestADeleteThatIsForbiddenIsRetriedBeforeItCounts, because the service was seen to temporarily forbid the delete of a work item that it
// had deleted already.
func TestADeleteThatIsForbiddenIsRetriedBeforeItCounts(t *testing.T) {
	t.Parallel()
	const denied = `{"index":%d,"result":"failed","type":"forbidden","code":"forbidden","detail":"You may not."}`
	rows := func([]byte) []byte {
		return fmt.Appendf(nil, `{"results":[`+denied+`,`+denied+`],"succeeded":0,"failed":2}`, 0, 1)
	}
	whole := sandboxtest.Problem(http.StatusForbidden, "forbidden", "forbidden")
	one, two := `{name: A}`, `{name: A}, {name: B}`
	for name, tt := range map[string]struct {
		api   resource.API
		items string
		fault sandboxtest.Fault
		times int32 // how often the service answers like this
		sent  int
		fails int
	}{
		"rows of a batch that are forbidden for a moment are deleted": {resource.V2, two, sandboxtest.Fault{Reword: rows}, 1, 2, 0},
		"rows of a batch that stay forbidden fail":                    {resource.V2, two, sandboxtest.Fault{Reword: rows}, 9, 3, 2},
		"a whole batch that is forbidden for a moment is deleted":     {resource.V2, two, after(whole), 2, 3, 0},
		"a single item that is forbidden for a moment is deleted":     {resource.V2, one, after(whole), 2, 3, 0},
		"a single item that API v1 forbids for a moment is deleted":   {resource.V1, one, after(whole), 1, 2, 0},
		"a single item that API v1 keeps forbidding fails":            {resource.V1, one, before(whole), 9, 3, 1},
		"a single item that the service forbade and kept is deleted":  {resource.V2, one, before(whole), 1, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newServiceOf(t, tt.api, sandboxtest.Options{})
				s.virtual = true
				const manifest = `projects: [{identifier: WEB, work_items: [%s]}]`
				s.apply(t, applying{manifest: fmt.Sprintf(manifest, tt.items)})
				var asked atomic.Int32
				a := s.apply(t, applying{manifest: fmt.Sprintf(manifest, ""), prune: true, retries: 5, fault: func(req *http.Request, _ run) sandboxtest.Fault {
					if req.Method != http.MethodDelete && !strings.HasSuffix(req.URL.Path, "/bulk-delete/") || asked.Add(1) > tt.times {
						return sandboxtest.Fault{}
					}
					return tt.fault
				}})
				if a.writes != tt.sent || len(a.failed()) != tt.fails {
					t.Errorf("%d writes, want %d; %q", a.writes, tt.sent, a.failed())
				}
			})
		})
	}
}
