package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// TestTheIntakeOfANewProjectWorks, although the service makes an intake only when an update sets the feature flag.
func TestTheIntakeOfANewProjectWorks(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V1, sandboxtest.Options{Edition: sandbox.Community})
	text := `projects: [{key: web, identifier: NEW, name: New, intake_view: true, work_items: [{name: A, key: a}]}]`
	if r := s.apply(t, applying{manifest: text}); len(r.failed())+len(r.warnings()) > 0 {
		t.Errorf("%q, %v", r.failed(), r.warnings())
	}
	s.hasIntake(t)
	if r := s.apply(t, applying{manifest: text}); r.writes > 0 || !r.plan.Empty() {
		t.Errorf("%d writes, %+v", r.writes, r.plan.Summary)
	}
}

// hasIntake checks that the project NEW has an intake, and not only its feature flag.
func (sv *service) hasIntake(t *testing.T) {
	t.Helper()
	for _, row := range sv.Rows("project") {
		if row["identifier"] == "NEW" && row["intake"] == nil {
			t.Error("the project has no intake")
		}
	}
}

// TestARunThatDiedBeforeTheIntakeExistedIsContinued: the service shows the feature flag as off until then.
func TestARunThatDiedBeforeTheIntakeExistedIsContinued(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V1, sandboxtest.Options{Edition: sandbox.Community})
	text := `projects: [{key: web, identifier: NEW, name: New, intake_view: true}]`
	s.apply(t, applying{manifest: text, killed: true, fault: func(req *http.Request, r run) (f sandboxtest.Fault) {
		if req.Method == http.MethodPatch {
			r.kill()
			f.Before.Cut = true
		}
		return f
	}})
	if r := s.apply(t, applying{manifest: text}); len(r.failed()) > 0 || r.writes == 0 {
		t.Errorf("%q, %d writes", r.failed(), r.writes)
	}
	s.hasIntake(t)
}

func TestItemsOfAnIntakeWaitForTheUpdateThatMakesIt(t *testing.T) {
	t.Parallel()
	for _, on := range []string{"", "intake_view: true, ", "intake_view: false, "} {
		s := newServiceOf(t, resource.V2, sandboxtest.Options{})
		text := `projects: [{key: web, identifier: NEW, name: New, ` + on + `intake: [{key: a, name: Wish}, {key: b, name: Wish more}, {key: c, name: And more}]}]`
		if r := s.apply(t, applying{manifest: text}); len(r.failed())+len(r.warnings())+len(r.reasons()) > 0 {
			t.Errorf("%s%q, %v, %v", on, r.failed(), r.warnings(), r.reasons())
		}
		if n := len(s.Rows("intake_item")); n != 3 {
			t.Errorf("%s%d items", on, n)
		}
		if r := s.apply(t, applying{manifest: text}); r.writes > 0 {
			t.Errorf("%s%d writes, %+v", on, r.writes, r.plan.Summary)
		}
	}
}

func TestAProjectWithoutAnIntakeTakesOneRequest(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"false", "true"} {
		s := newService(t, resource.V1)
		r := s.apply(t, applying{manifest: `projects: [{key: web, identifier: NEW, name: New, intake_view: ` + value + `}]`})
		if want := 1 + strings.Count(value, "true"); r.writes != want || len(r.failed()) > 0 {
			t.Errorf("%s: %d writes, %q", value, r.writes, r.failed())
		}
	}
}
