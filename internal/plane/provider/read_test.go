package provider_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// TestMembersOfACycleAreReadConcurrentlyWithTheWorkItems uses a service that answers the list of items only
// when the members of the cycle were requested.
func TestMembersOfACycleAreReadConcurrentlyWithTheWorkItems(t *testing.T) {
	t.Parallel()
	const text = `{version: 1, projects: [{key: web, identifier: WEB,
		cycles: [{key: c, name: C}], work_items: [{key: a, name: A, cycle: c}, {key: b, name: B, cycle: c}]}]}`
	s := newService(t, resource.V1)
	s.apply(t, applying{manifest: text})
	asked := make(chan struct{})
	ask := sync.OnceFunc(func() { close(asked) })
	reads := 0
	var mu sync.Mutex
	s.always = func(r *http.Request) sandboxtest.Fault {
		mu.Lock()
		reads++
		mu.Unlock()
		switch {
		case strings.HasSuffix(r.URL.Path, "/cycle-issues/"):
			ask()
		case strings.HasSuffix(r.URL.Path, "/work-items/"):
			select {
			case <-asked:
			case <-t.Context().Done():
			}
		}
		return sandboxtest.Fault{}
	}
	if a := s.apply(t, applying{manifest: text}); !a.plan.Empty() || reads != a.plan.Summary.Reads {
		t.Errorf("%d reads, the plan names %d: %v", reads, a.plan.Summary.Reads, a.plan.Steps)
	}
}
