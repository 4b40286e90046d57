package view_test

import (
	"testing"

	"github.com/planform/planform/internal/sync/export"
	"github.com/planform/planform/internal/view"
)

func TestAnExportSaysWhatIsInTheFilesAndWhatIsNot(t *testing.T) {
	t.Parallel()
	for name, set := range map[string][]func(*view.Options){"export.txt": nil, "export.json": {inJSON}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScreen(set...)
			err := s.Export(view.Export{
				Workspace: "acme", Directory: "out\x1b[2J", Files: []string{"web.yaml"}, State: ".planform/x.state.json",
				Counts:  []export.Count{{Name: "work_items", Number: 1}},
				NotRead: []export.Count{{Name: "links", Number: 1}, {Name: "relations", Number: 6}}, Requests: 12,
			})
			if err != nil || s.err.Len() > 0 {
				t.Errorf("%v, standard error got %q", err, s.err.String())
			}
			golden(t, "export/"+name, s.out.String())
		})
	}
}
