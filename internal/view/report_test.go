package view_test

import (
	"testing"

	"github.com/planform/planform/internal/sync/doctor"
	"github.com/planform/planform/internal/view"
)

func report() *doctor.Report {
	return &doctor.Report{
		FormatVersion: 2, BaseURL: "https://plane.example.com", Workspace: "acme", Summary: doctor.Summary{OK: 1, Warnings: 1, Problems: 1, Requests: 17},
		Supported: []string{"cycle", "work_item"}, Unsupported: []string{"customer"},
		Checks: []doctor.Check{
			{Name: "service", Status: doctor.OK, Summary: "https://plane.example.com answers"},
			{Name: "workspace", Status: doctor.Problem, Summary: "the service gives no access to acme\x1b[31m", Hint: "check the slug"},
			{Name: "clock", Status: doctor.Warning, Summary: "this machine's is 5m0s behind the service's", Hint: "set it"},
		},
	}
}

func TestAReportSaysHowItIsAndWhatToDo(t *testing.T) {
	t.Parallel()
	for name, set := range map[string][]func(*view.Options){
		"report.txt": nil, "report.ansi": {inColor}, "report.json": {inJSON},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScreen(set...)
			if err := s.Report(report()); err != nil || s.err.Len() > 0 {
				t.Errorf("%v, standard error got %q", err, s.err.String())
			}
			golden(t, "report/"+name, s.out.String())
		})
	}
}

func TestAReportWithoutProblemsSaysSo(t *testing.T) {
	t.Parallel()
	for _, set := range [][]func(*view.Options){nil, {inJSON}} {
		s := newScreen(set...)
		r := &doctor.Report{
			FormatVersion: 2, Summary: doctor.Summary{OK: 1, Requests: 1}, Supported: []string{}, Unsupported: []string{},
			Checks: []doctor.Check{{Name: "service", Status: doctor.OK, Summary: "it answers"}},
		}
		if err := s.Report(r); err != nil {
			t.Fatal(err)
		}
		name := "report/well.txt"
		if set != nil {
			name = "report/well.json"
		}
		golden(t, name, s.out.String())
	}
}
