package jiracsv_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/jiracsv"
	"github.com/planform/planform/internal/diag"
)

// seen is a sink that keeps what it is given.
type seen struct {
	issues []convert.Issue
	notes  []string
	ask    diag.Position
	site   string
}

func (*seen) Project(convert.Project)     {}
func (*seen) Person(convert.Person)       {}
func (s *seen) Issue(i convert.Issue)     { s.issues = append(s.issues, i) }
func (s *seen) Note(n convert.Note)       { s.notes = append(s.notes, n.Kind) }
func (s *seen) Site(url, _ string)        { s.site = url }
func (*seen) AssumedZone()                {}
func (s *seen) AskDates(at diag.Position) { s.ask = at }

// read reads rows below a header.
func read(t *testing.T, in convert.Input, texts ...string) *seen {
	t.Helper()
	var names []string
	dir := t.TempDir()
	for i, text := range texts {
		names = append(names, filepath.Join(dir, string(rune('a'+i))+".csv"))
		if err := os.WriteFile(names[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := convert.Files(names, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if in.Files = files; in.Zone == nil {
		in.Zone = time.UTC
	}
	s := &seen{}
	if err := jiracsv.Format().Read(t.Context(), in, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDatesAreReadAsSitesAndSpreadsheetsWriteThem(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"22/Sep/25 9:26 AM":            "2025-09-22T09:26:00+02:00",
		"22/Sep/25 12:05 AM":           "2025-09-22T00:05:00+02:00",
		"22/Sep/25 12:05 PM":           "2025-09-22T12:05:00+02:00",
		"22/Mar/14 07:59":              "2014-03-22T07:59:00+01:00",
		"06/Mar/14  3:00 PM":           "2014-03-06T15:00:00+01:00",
		"16/02/2017 15:26":             "2017-02-16T15:26:00+01:00",
		"26-09-2024 13:47":             "2024-09-26T13:47:00+02:00",
		"02/26/2024 13:47":             "2024-02-26T13:47:00+01:00",
		"2024-02-26T13:47:05.000+0000": "2024-02-26T13:47:05Z",
		"2024-02-26 13:47":             "2024-02-26T13:47:00+01:00",
		"31/Feb/25 1:00 PM":            "",
		"22/sep/25 9:26 AM":            "2025-09-22T09:26:00+02:00",
		"22/Dez/25 9:26 AM":            "",
		"yesterday":                    "",
		"1/13/13 25:00":                "",
	} {
		s := read(t, convert.Input{Zone: berlin}, "Summary,Issue key,Created\na,A-1,"+text+"\n")
		got := ""
		if at := s.issues[0].Created; !at.IsZero() {
			got = at.Format(time.RFC3339)
		}
		if got != want || (want == "") != (s.issues[0].Left["dates-not-understood"] == 1) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestDayAndMonthAreToldApartOverAllFilesOrAsked(t *testing.T) {
	t.Parallel()
	const head = "Summary,Issue key,Due date\n"
	for name, tt := range map[string]struct {
		in    convert.Input
		files []string
		want  string
		asked bool
	}{
		"another file tells":     {files: []string{head + "a,A-1,02/03/2024\n", head + "b,A-2,02/13/2024\n"}, want: "2024-02-03"},
		"nothing tells":          {files: []string{head + "a,A-1,02/03/2024\n"}, want: "2024-03-02", asked: true},
		"the mapping tells":      {in: convert.Input{Dates: "mdy"}, files: []string{head + "a,A-1,02/03/2024\n"}, want: "2024-02-03"},
		"it makes no difference": {files: []string{head + "a,A-1,03/03/2024\n"}, want: "2024-03-03"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := read(t, tt.in, tt.files...)
			if s.issues[0].Due != tt.want || !s.ask.IsZero() != tt.asked {
				t.Errorf("%s, asked at %s", s.issues[0].Due, s.ask)
			}
		})
	}
}

func TestParentsAreFoundInWhateverColumnSaysThem(t *testing.T) {
	t.Parallel()
	s := read(t, convert.Input{}, "Summary,Issue key,Issue id,Parent,Parent id,Parent key,Parent summary,Custom field (Epic Link)\n"+
		"a,A-1,1,,,,,\nb,A-2,2,1,,,x,\nc,A-3,3,A-1,,,,\nd,A-4,4,,1,,,\ne,A-5,5,2,,A-1,,A-2\nf,A-6,6,,,,,A-1\ng,A-7,7,99,,,,\n")
	var got []string
	for _, i := range s.issues {
		got = append(got, i.Parent)
	}
	if diff := cmp.Diff([]string{"", "A-1", "A-1", "A-1", "A-1", "A-1", "issue 99"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSprintsOfServerAreReadByName(t *testing.T) {
	t.Parallel()
	s := read(t, convert.Input{}, "Summary,Issue key,Sprint,Sprint\na,A-1,\"com.atlassian.greenhopper.service.sprint.Sprint@1a[id=1,state=CLOSED,name=Sprint 1,startDate=x]\",Sprint 2\n")
	if diff := cmp.Diff([]convert.Sprint{{Name: "Sprint 1"}, {Name: "Sprint 2"}}, s.issues[0].Sprints); diff != "" {
		t.Error(diff)
	}
}

func TestAnExportThatEndsAtTheLimitIsNoticed(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("Summary,Issue key,Comment\n")
	for i := range 1000 {
		b.WriteString("a,A-" + string(rune('1'+i%9)) + strings.Repeat("0", i%4) + ",\n")
	}
	if s := read(t, convert.Input{}, b.String()); len(s.notes) != 1 || s.notes[0] != "exactly-1000" {
		t.Error(s.notes)
	}
}

func TestASpanishExportIsReadAsTheEnglishOneOfTheSameIssues(t *testing.T) {
	t.Parallel()
	const rows = "Padre,A-1,1,Epic,%s,Testing,Ada,u1,18/%s/26 9:10 AM,18/%s/26 9:10 %s,,,%s,18/%s/26 9:11 AM;u1;Hola,,3.0\n" +
		"Hijo,A-2,2,Story,%[1]s,Testing,%[7]s,,18/%[2]s/26 9:10 AM,18/%[2]s/26 9:10 %[4]s,A-1,uno,%[5]s,,A-1,\n"
	text := func(header string, words ...any) string { return header + "\n" + fmt.Sprintf(rows, words...) }
	english := read(t, convert.Input{}, text("Summary,Issue key,Issue id,Issue Type,Status,Project name,Assignee,Assignee Id,Created,Updated,Outward issue link (Blocks),Labels,Status Category,Comment,Parent key,Custom field (Story Points)",
		"Abierto", "aug", "aug", "PM", "To Do", "aug", "Unassigned"))
	spanish := read(t, convert.Input{}, text("Resumen,Clave de incidencia,ID de la incidencia,Tipo de Incidencia,Estado,Nombre del proyecto,Persona asignada,ID de persona asignada,Creada,Actualizada,Enlace de incidencia saliente (Blocks),Etiquetas,Categoría de estado,Comentario,Clave principal,Campo personalizado (Story Points)",
		"Abierto", "ago", "ago", "p.\u00a0m.", "Por hacer", "ago", "Sin asignar"))
	if diff := cmp.Diff(english.issues, spanish.issues, cmpopts.IgnoreFields(diag.Position{}, "File")); diff != "" {
		t.Error(diff)
	}
	if i := spanish.issues; len(i) != 2 || i[0].Created.Month() != time.August || i[1].Parent != "A-1" || i[0].State.Category != "unstarted" || len(i[0].Comments) != 1 || len(i[0].Assignees) != 1 {
		t.Errorf("%+v", i)
	}
	if !slices.Contains(spanish.notes, "language") || slices.Contains(english.notes, "language") {
		t.Error(spanish.notes, english.notes)
	}
}
