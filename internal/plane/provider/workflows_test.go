package provider_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

const workflow = `workflows: [{name: Review, states: [{state: Todo, is_default: true}, In Progress],
	transitions: [{from: Todo, to: In Progress}, {from: In Progress, to: Done, approvers: [ada@example.com]}, {from: In Progress, to: Todo}]}]`

const review = `{version: 1, projects: [{key: web, identifier: WEB, ` + workflow + `}]}`

// reviewed fails unless the service has the workflow once, as in the manifest.
func (sv *service) reviewed(t *testing.T, a applied) {
	t.Helper()
	states, transitions := len(sv.Rows("workflow_state")), len(sv.Rows("workflow_transition"))
	if len(a.failed())+len(a.reasons()) > 0 || states != 2 || transitions != 3 {
		t.Errorf("%v %v: %d states, %d transitions", a.failed(), a.reasons(), states, transitions)
	}
	if again := sv.apply(t, applying{manifest: review}); !again.plan.Empty() || again.writes > 0 {
		t.Errorf("not as the manifest has it: %+v", again.plan.Summary)
	}
}

// TestStatesAndTransitionsOfAWorkflowAreFoundByTheirStates, because nothing else identifies them after a lost answer.
func TestStatesAndTransitionsOfAWorkflowAreFoundByTheirStates(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]func(path string, nth int) bool{
		"states and transitions are found if no answer is lost": func(string, int) bool { return false },
		"states are found if their answers are lost":            func(path string, nth int) bool { return strings.HasSuffix(path, "/states/") && nth <= 2 },
		"transitions are found if their answers are lost":       func(path string, nth int) bool { return strings.HasSuffix(path, "/state-transitions/") && nth <= 3 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud})
			var mu sync.Mutex
			counts := map[string]int{}
			a := s.apply(t, applying{manifest: review, fault: func(req *http.Request, _ run) sandboxtest.Fault {
				if req.Method != http.MethodPost {
					return sandboxtest.Fault{}
				}
				mu.Lock()
				defer mu.Unlock()
				if counts[req.URL.Path]++; lost(req.URL.Path, counts[req.URL.Path]) {
					return sandboxtest.Fault{After: sandboxtest.Break{Cut: true}}
				}
				return sandboxtest.Fault{}
			}})
			s.reviewed(t, a)
			s.dir = t.TempDir() // also without the state
			s.reviewed(t, s.apply(t, applying{manifest: review}))
			less := strings.NewReplacer(", In Progress],", "],", `, {from: In Progress, to: Done, approvers: [ada@example.com]}, {from: In Progress, to: Todo}`, "").Replace(review)
			s.apply(t, applying{manifest: less, prune: true})
			if left := len(s.Rows("workflow_transition")); left != 3 { // they were adopted, so they are not pruned
				t.Errorf("%d transitions are left", left)
			}
		})
	}
}

// TestAServerThatAttachesNoStateIsReported: the body in the reference has no state, and the body of the service's own SDK has a list of states.
func TestAServerThatAttachesNoStateIsReported(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud})
	a := s.apply(t, applying{manifest: review, fault: func(req *http.Request, _ run) sandboxtest.Fault {
		if req.Method != http.MethodPost || !strings.HasSuffix(req.URL.Path, "/states/") {
			return sandboxtest.Fault{}
		}
		body := `{"id":"8a234ec6-0000-4000-8000-000000000000","state_id":null,"is_default":false,"allow_issue_creation":false,"type":""}`
		return sandboxtest.Fault{Before: sandboxtest.Break{Status: 201, Body: body}}
	}})
	var said []string
	for _, w := range a.warnings() {
		said = append(said, w.Summary)
	}
	if !slices.ContainsFunc(append(said, a.failed()...), func(text string) bool { return strings.Contains(text, "state") }) {
		t.Errorf("nothing is said of the state: %q %v", said, a.failed())
	}
}

// TestWorkflowsOfSeveralProjectsAreFoundWithoutTheState: a state of its own project, by name, identifies a transition.
func TestWorkflowsOfSeveralProjectsAreFoundWithoutTheState(t *testing.T) {
	t.Parallel()
	projects := `projects: [{key: ops, identifier: OPS, ` + workflow + `}, {key: web, identifier: WEB, ` + workflow + `}]}`
	for first, manifest := range map[string]string{
		"a workflow is found if a project comes first":                  `{version: 1, ` + projects,
		"a workflow is found if an object of the workspace comes first": `{version: 1, release_labels: [public], ` + projects,
	} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud})
			s.apply(t, applying{manifest: manifest})
			s.dir = t.TempDir()
			a := s.apply(t, applying{manifest: manifest})
			states, transitions := len(s.Rows("workflow_state")), len(s.Rows("workflow_transition"))
			if len(a.failed())+len(a.reasons())+a.writes > 0 || states != 4 || transitions != 6 {
				t.Errorf("%v %v, %d writes: %d states, %d transitions", a.failed(), a.reasons(), a.writes, states, transitions)
			}
		})
	}
}
