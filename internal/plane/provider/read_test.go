package provider_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

func TestAPlanNamesTheNumberOfItsReads(t *testing.T) {
	t.Parallel()
	const text = `{version: 1, projects: [{key: web, identifier: WEB,
		cycles: [{key: c, name: C}], work_items: [{key: a, name: A, cycle: c}, {key: b, name: B, cycle: c}]}]}`
	s := newService(t, resource.V1)
	s.apply(t, applying{manifest: text})
	var reads atomic.Int64
	s.always = func(*http.Request) sandboxtest.Fault {
		reads.Add(1)
		return sandboxtest.Fault{}
	}
	if a := s.apply(t, applying{manifest: text}); !a.plan.Empty() || int(reads.Load()) != a.plan.Summary.Reads {
		t.Errorf("%d reads, the plan names %d: %v", reads.Load(), a.plan.Summary.Reads, a.plan.Steps)
	}
}
