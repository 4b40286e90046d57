package planner_test

import "testing"

// TestKnownRefusalsAreReportedBeforeTheRun is said before anything is sent.
func TestKnownRefusalsAreReportedBeforeTheRun(t *testing.T) {
	t.Parallel()
	sprint := uuid(2, 1)
	checkRules(t, map[string]rule{
		"a character that the service refuses in the name of a project is an error": {
			api: full, want: func(w *wanted) { w.put("project/new", "identifier=NEW", "name=R&D") },
			findings: []string{"error refused: the service accepts no & in the name of a project; leave these out: & + , : ; $ ^ } { * = ? @ # | ' < > . ( ) % ! -"},
		},
		"a refused character is no error in the name that a project already has": {
			api:   full,
			given: func(s *fakeService) { s.find(web).row["name"] = "R&D" },
			want:  func(w *wanted) { w.put("project/web", "id="+web, "name=R&D") },
		},
		"a name that the service reserves is an error": {
			api: full, want: func(w *wanted) { w.put("project/web", "id="+web).put("state/web/t", "name=Triage") },
			findings: []string{"error refused: the name Triage is reserved by the service; choose another name"},
		},
		"a start date without an end date is an error": {
			api: full, given: func(s *fakeService) { s.find(web).row["cycle_view"] = "true" },
			want:     func(w *wanted) { w.put("project/web", "id="+web).put("cycle/web/s", "name=S", "start_date=2031-01-06") },
			findings: []string{"error refused: cycle/web/s has a start_date but no end_date; the service requires both or neither; add the end_date, or remove the start_date"},
		},
		"a new start date is accepted if the cycle already has the end date": {
			api: full,
			given: func(s *fakeService) {
				s.given("cycle", web, sprint, "name=S", "start_date=2031-01-06", "end_date=2031-01-17")
			},
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("cycle/web/s", "id="+sprint, "start_date=2031-01-07")
			},
			steps: []string{"update cycle/web/s start_date"},
		},
		"a cleared end date is an error if the start date remains": {
			api: full,
			given: func(s *fakeService) {
				s.given("cycle", web, sprint, "name=S", "start_date=2031-01-06", "end_date=2031-01-17")
			},
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("cycle/web/s", "id="+sprint, "start_date=2031-01-07", "end_date!")
			},
			findings: []string{"error refused: cycle/web/s has a start_date but no end_date; the service requires both or neither; add the end_date, or remove the start_date"},
		},
		"an object of a kind that the project switches off is an error": {
			api: full, want: func(w *wanted) { w.put("project/web", "id="+web, "module_view=false").put("module/web/m", "name=M") },
			findings: []string{"error switched-off: modules are switched off in project/web; set module_view: true in the project"},
		},
		"a new project switches a feature off only after its objects are created": {
			api: full,
			want: func(w *wanted) {
				w.put("project/new", "identifier=NEW", "name=New", "module_view=false").put("module/new/m", "name=M")
			},
			steps:    []string{"create project/new", "create module/new/m", "update project/new module_view"},
			findings: []string{"warning hidden: modules are made in project/new although its module_view is off: the web app hides them"},
		},
		"an existing project switches a feature off only after its new objects are created": {
			api: full, given: func(s *fakeService) { s.find(web).row["module_view"] = true },
			want:  func(w *wanted) { w.put("project/web", "id="+web, "module_view=false").put("module/web/m", "name=M") },
			steps: []string{"create module/web/m", "update project/web module_view"},
		},
		"a state whose name differs in case from a predefined state of a new project is another state": {
			api: full,
			want: func(w *wanted) {
				w.put("project/new", "identifier=NEW", "name=New").put("state/new/todo", "name=Todo").put("state/new/loud", "name=TODO", "group=unstarted")
			},
			steps: []string{"create project/new", "adopt state/new/todo: each new project has it", "create state/new/loud"},
		},
	})
}
