package planner_test

import "testing"

// TestKnownRefusalsAreReportedBeforeTheRun is said before anything is sent.
func TestKnownRefusalsAreReportedBeforeTheRun(t *testing.T) {
	t.Parallel()
	sprint := uuid(2, 1)
	checkRules(t, map[string]rule{
		"characters in a project's name": {
			api: full, want: func(w *wanted) { w.put("project/new", "identifier=NEW", "name=R&D") },
			findings: []string{"error refused: the service accepts no & in the name of a project; leave these out: & + , : ; $ ^ } { * = ? @ # | ' < > . ( ) % ! -"},
		},
		"but not in one that it has": {
			api:   full,
			given: func(s *fakeService) { s.find(web).row["name"] = "R&D" },
			want:  func(w *wanted) { w.put("project/web", "id="+web, "name=R&D") },
		},
		"a name that is its own": {
			api: full, want: func(w *wanted) { w.put("project/web", "id="+web).put("state/web/t", "name=Triage") },
			findings: []string{"error refused: the name Triage is reserved by the service; choose another name"},
		},
		"one date of two": {
			api: full, given: func(s *fakeService) { s.find(web).row["cycle_view"] = "true" },
			want:     func(w *wanted) { w.put("project/web", "id="+web).put("cycle/web/s", "name=S", "start_date=2031-01-06") },
			findings: []string{"error refused: cycle/web/s has a start_date but no end_date; the service requires both or neither; add the end_date, or remove the start_date"},
		},
		"unless it has the other": {
			api: full,
			given: func(s *fakeService) {
				s.given("cycle", web, sprint, "name=S", "start_date=2031-01-06", "end_date=2031-01-17")
			},
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("cycle/web/s", "id="+sprint, "start_date=2031-01-07")
			},
			steps: []string{"update cycle/web/s start_date"},
		},
		"taking one of two away": {
			api: full,
			given: func(s *fakeService) {
				s.given("cycle", web, sprint, "name=S", "start_date=2031-01-06", "end_date=2031-01-17")
			},
			want: func(w *wanted) {
				w.put("project/web", "id="+web).put("cycle/web/s", "id="+sprint, "start_date=2031-01-07", "end_date!")
			},
			findings: []string{"error refused: cycle/web/s has a start_date but no end_date; the service requires both or neither; add the end_date, or remove the start_date"},
		},
		"objects of a kind that is switched off": {
			api: full, want: func(w *wanted) { w.put("project/web", "id="+web, "module_view=false").put("module/web/m", "name=M") },
			findings: []string{"error switched-off: modules are switched off in project/web; set module_view: true in the project"},
		},
		"a new project has them on until they are in": {
			api: full,
			want: func(w *wanted) {
				w.put("project/new", "identifier=NEW", "name=New", "module_view=false").put("module/new/m", "name=M")
			},
			steps:    []string{"create project/new", "create module/new/m", "update project/new module_view"},
			findings: []string{"warning hidden: modules are made in project/new although its module_view is off: the web app hides them"},
		},
		"so has one that is there, and is to have them off": {
			api: full, given: func(s *fakeService) { s.find(web).row["module_view"] = true },
			want:  func(w *wanted) { w.put("project/web", "id="+web, "module_view=false").put("module/web/m", "name=M") },
			steps: []string{"create module/web/m", "update project/web module_view"},
		},
		"a state in other letters beside one that a new project has is another": {
			api: full,
			want: func(w *wanted) {
				w.put("project/new", "identifier=NEW", "name=New").put("state/new/todo", "name=Todo").put("state/new/loud", "name=TODO", "group=unstarted")
			},
			steps: []string{"create project/new", "adopt state/new/todo: each new project has it", "create state/new/loud"},
		},
	})
}
