package jira_test

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
	"github.com/planform/planform/internal/convert/jira"
	"github.com/planform/planform/internal/text/diag"
)

// seen is a sink that keeps what it is given.
type seen struct {
	issues []convert.Issue
	notes  []string
	ask    diag.Position
	site   string
}

func (*seen) Project(convert.Project)            {}
func (*seen) Person(convert.Person)              {}
func (s *seen) Issue(i *convert.Issue)           { s.issues = append(s.issues, *i) }
func (s *seen) Note(kind, _ string, _ ...string) { s.notes = append(s.notes, kind) }
func (s *seen) Site(url, _ string)               { s.site = url }
func (*seen) AssumedZone()                       {}
func (*seen) Lose(string, string, int)           {}
func (*seen) PutAside(*convert.Issue)            {}
func (*seen) Recall(*convert.Issue)              {}

func (*seen) Hold(*convert.Issue, convert.Leaf, convert.Role, int) {}
func (s *seen) AskDates(at diag.Position)                          { s.ask = at }

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
	if err := jira.CSV().Read(t.Context(), in, s); err != nil {
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
		"22/Dez/25 9:26 AM":            "2025-12-22T09:26:00+01:00",
		"05/ago/26 10:33 AM":           "2026-08-05T10:33:00+02:00",
		"01. Mär. 2024 13:47":          "2024-03-01T13:47:00+01:00",
		"2 juil. 2024 13:47":           "2024-07-02T13:47:00+02:00",
		"2 juin 2024":                  "2024-06-02T00:00:00+02:00",
		"22/paź/25 9:26":               "2025-10-22T09:26:00+02:00",
		"22/сен/25 9:26 AM":            "2025-09-22T09:26:00+02:00",
		"22/十一月/25 9:26 下午":            "2025-11-22T21:26:00+01:00",
		"2025/11/22 9:26 午前":           "2025-11-22T09:26:00+01:00",
		"22/Foo/25 9:26 AM":            "",
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
		"another file shows the order of day and month":               {files: []string{head + "a,A-1,02/03/2024\n", head + "b,A-2,02/13/2024\n"}, want: "2024-02-03"},
		"the order of day and month is asked for if nothing shows it": {files: []string{head + "a,A-1,02/03/2024\n"}, want: "2024-03-02", asked: true},
		"the mapping says the order of day and month":                 {in: convert.Input{Dates: "mdy"}, files: []string{head + "a,A-1,02/03/2024\n"}, want: "2024-02-03"},
		"equal day and month need no question":                        {files: []string{head + "a,A-1,03/03/2024\n"}, want: "2024-03-03"},
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
	if diff := cmp.Diff(english.issues, spanish.issues, cmpopts.IgnoreFields(diag.Position{}, "File"), cmpopts.IgnoreUnexported(convert.Issue{}), cmpopts.IgnoreFields(convert.Comment{}, "Source")); diff != "" {
		t.Error(diff)
	}
	if i := spanish.issues; len(i) != 2 || i[0].Created.Month() != time.August || i[1].Parent != "A-1" || i[0].State.Category != "unstarted" || len(i[0].Comments) != 1 || len(i[0].Assignees) != 1 {
		t.Errorf("%+v", i)
	}
	if !slices.Contains(spanish.notes, "language") || slices.Contains(english.notes, "language") {
		t.Error(spanish.notes, english.notes)
	}
}

func TestHeadersOfOtherLanguagesAreReadAsEnglishOnes(t *testing.T) {
	t.Parallel()
	for language, header := range map[string]string{
		"German":     "Zusammenfassung,Vorgangsschlüssel,Vorgangs-ID,Vorgangstyp,Status,Zugewiesene Person,ID der zugewiesenen Person,Erstellt,Benutzerdefinierte Felder (Epic Link),Benutzerdefinierte Felder (Team)",
		"French":     "Résumé,Clé de ticket,ID de ticket,Type de ticket,État,Personne assignée,ID de la personne assignée,Created,Champs personnalisés (Epic Link),Champs personnalisés (Team)",
		"Portuguese": "Resumo,Chave da item,ID da item,Tipo de item,Status,Responsável,ID do responsável,Criado,Campo personalizado (Epic Link),Campo personalizado (Team)",
		"Russian":    "Тема,Ключ проблемы,Идентификатор проблемы,Тип задачи,Статус,Исполнитель,Исполнитель Id,Создано,Пользовательское поле (Epic Link),Пользовательское поле (Team)",
		"Polish":     "Podsumowanie,Klucz zgłoszenia,Id. zgłoszenia,Typ zgłoszenia,Status,Assignee,Assignee Id,Utworzono,Pole niestandardowe (Epic Link),Pole niestandardowe (Team)",
		"Dutch":      "Samenvatting,Issuecode,Issue id,Issue Type,Status,Assignee,Assignee Id,Aangemaakt,Aangepast veld (Epic Link),Aangepast veld (Team)",
		"Chinese":    "概要,问题关键字,问题ID,问题类型,状态,经办人,经办人Id,创建日期,自定义字段(Epic Link),自定义字段(Team)",
		"Japanese":   "要約,課題キー,課題 ID,課題タイプ,ステータス,担当者,担当者 ID,作成日,カスタム フィールド (Epic Link),カスタム フィールド (Team)",
	} {
		const row = "\nOne,A-2,2,Story,Testing,Ada,u1,18/02/26 9:10 AM,A-1,Blue\n"
		english := read(t, convert.Input{}, "Summary,Issue key,Issue id,Issue Type,Status,Assignee,Assignee Id,Created,Custom field (Epic Link),Custom field (Team)"+row)
		other := read(t, convert.Input{}, header+row)
		if diff := cmp.Diff(english.issues, other.issues, cmpopts.IgnoreFields(diag.Position{}, "File"), cmpopts.IgnoreUnexported(convert.Issue{}), cmpopts.IgnoreFields(convert.Comment{}, "Source")); diff != "" {
			t.Error(language, diff)
		}
		if i := other.issues[0]; i.Parent != "A-1" || len(i.Assignees) != 1 || len(i.Fields) != 1 || i.Created.IsZero() || !slices.Contains(other.notes, "language") {
			t.Errorf("%s: %+v %v", language, i, other.notes)
		}
	}
}

// The headers are those of exports that people made.
func TestFrenchAndSpanishHeadersAreReadWhole(t *testing.T) {
	t.Parallel()
	english := "Summary,Issue key,Issue id,Issue Type,Status,Project name,Project type,Project lead,Project lead id,Project description,Assignee,Assignee Id,Created,Updated,Last Viewed,Resolved,Due date,Watchers,Watchers,Watchers Id,Watchers Id,Inward issue link (Blocks),Environment,Original estimate,Remaining Estimate,Time Spent,Security Level,Status Category,Status Category Changed"
	const row = "\nOne,A-2,2,Story,Testing,Web,software,Ada,u1,About,Ada,u1,18/02/26 9:10 AM,19/02/26 9:10 AM,20/02/26 9:10 AM,19/02/26 9:10 AM,28/02/26 12:00 AM,Bob,Cy,u2,u3,A-1,Here,3600,1800,1800,Staff,Done,19/02/26 9:10 AM\n"
	for language, header := range map[string]string{
		"French":  "Résumé,Clé de ticket,ID de ticket,Type de ticket,État,Nom du projet,Type de projet,Chef de projet,ID de responsable de projet,Description du projet,Personne assignée,ID de la personne assignée,Création,Mise à jour,Dernier affichage,Résolu,Date d’échéance,Observateurs,Observateurs,ID des observateurs,ID des observateurs,Lien du ticket entrant (Blocks),Environnement,Estimation originale,Estimation restante,Temps consacré,Niveau de sécurité,Catégorie d'état,Catégorie d'état modifiée",                                                                  //nolint:misspell // French
		"Spanish": "Resumen,Clave de incidencia,ID de la incidencia,Tipo de Incidencia,Estado,Nombre del proyecto,Tipo de proyecto,Responsable del proyecto,ID del responsable del proyecto,Descripción del proyecto,Persona asignada,ID de persona asignada,Creada,Actualizada,Vista por Última Vez,Resuelta,Fecha de vencimiento,Interesados,Interesados,ID de los interesados,ID de los interesados,Enlace a la incidencia interna (Blocks),Entorno,Estimación original,Trabajo restante estimado,Tiempo Trabajado,Nivel de Seguridad,Categoría de estado,Categoría de estado cambiada", //nolint:misspell // Spanish
	} {
		want, got := read(t, convert.Input{}, english+row), read(t, convert.Input{}, header+row)
		if diff := cmp.Diff(want.issues, got.issues, cmpopts.IgnoreFields(diag.Position{}, "File"), cmpopts.IgnoreUnexported(convert.Issue{}),
			cmpopts.IgnoreFields(convert.Issue{}, "Restricted")); diff != "" {
			t.Error(language, diff)
		}
		if i := got.issues[0]; i.Restricted == "" || !strings.Contains(header, ","+i.Restricted+",") { // as the mapping names the column
			t.Errorf("%s: restricted by %q", language, i.Restricted)
		}
		if i := got.issues[0]; i.Due != "2026-02-28" || i.Left["watchers"] != 2 || len(i.Links) != 1 || len(i.Fields) > 6 {
			t.Errorf("%s: %+v", language, i)
		}
	}
}
