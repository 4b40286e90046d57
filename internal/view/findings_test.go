package view_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
)

func findings() diag.List {
	return diag.List{
		{
			Severity: diag.Error, Code: "duplicate-key", Position: at(30), Path: "projects[0].work_items[4]", Summary: `the key "shop" is given twice`,
			Related: []diag.Related{{Position: at(12), Note: "first given here"}},
		},
		{
			Severity: diag.Error, Code: "unknown-field", Position: diag.Position{File: "workspace.yaml", Line: 12, Column: 9},
			Path: "projects[0].work_items[3].priorty", Summary: `unknown field "priorty"`, Hint: `did you mean "priority"?`,
		},
		{Severity: diag.Warning, Code: "odd", Address: "work_item/web/a\nb", Summary: "odd <b>\x1b[1m</b>"},
		{Severity: diag.Error, Code: "io", Position: diag.Position{File: "a dir/b.yaml"}, Summary: "cannot be read"},
	}
}

func TestFindingsAreShownByPlace(t *testing.T) {
	t.Parallel()
	for name, set := range map[string][]func(*view.Options){
		"findings.txt": nil, "findings.ansi": {inColor}, "findings.json": {inJSON},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScreen(set...)
			s.Diagnostics(findings())
			s.Diagnostics(nil)
			if s.out.Len() > 0 {
				t.Errorf("standard output got %q", s.out.String())
			}
			golden(t, "findings/"+name, s.err.String())
		})
	}
}

func TestAValidationAnswersOnStandardOutputForProgramsOnly(t *testing.T) {
	t.Parallel()
	s := newScreen(inJSON)
	if err := errors.Join(s.Validation(findings()), s.Validation(nil)); err != nil {
		t.Fatal(err)
	}
	golden(t, "findings/validation.json", s.out.String())
	if s.err.Len() > 0 {
		t.Errorf("standard error got %q", s.err.String())
	}
	s = newScreen()
	if err := s.Validation(findings()); err != nil || s.out.Len() > 0 || s.err.Len() == 0 {
		t.Errorf("%v, out %q", err, s.out.String())
	}
}

func TestAnErrorIsOneLineAndAHint(t *testing.T) {
	t.Parallel()
	var list diag.List
	list.Errorf(at(3), "bad", "bad name")
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"an error with a hint": {fmt.Errorf("read: %w", hintedError{errors.New("no key"), "set PLANE_API_KEY"}), "error: read: no key\n  set PLANE_API_KEY\n"},
		"an error without one": {errors.New("no key"), "error: no key\n"},
		"the service's words":  {errors.New("400: a\x1b[1m\nerror: faked\r\n"), "error: 400: a\\x1b[1m\n    error: faked\n"},
		"findings":             {fmt.Errorf("read: %w", list.Err()), "error: bad name\n  --> workspace.yaml:3:5\n1 error\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScreen()
			s.Error("failed", tt.err)
			if got := s.err.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	s := newScreen(inJSON)
	s.Error("failed", hintedError{errors.New("no key"), "set it"})
	s.Notef("read %d\n", 3)
	want := `{"format_version":1,"diagnostics":[{"severity":"error","code":"failed","file":"","line":0,"column":0,"path":"","address":"","summary":"no key","hint":"set it","related":[]}]}
{"format_version":1,"note":"read 3"}
`
	if got := s.err.String(); got != want {
		t.Errorf("got %s", got)
	}
}

func TestFindingsAreAnnotationsOfGitHubActions(t *testing.T) {
	t.Parallel()
	s := newScreen(in("github"))
	s.Diagnostics(diag.List{
		{Severity: diag.Error, Code: "unknown-field", Position: diag.Position{File: "a,b:100%.yaml", Line: 3, Column: 7}, Summary: "100% wrong: \"x\"\n::error::faked", Hint: "mend it"},
		{Severity: diag.Warning, Code: "late", Summary: "no place"},
	})
	want := "::warning title=planform late::no place\n::error title=planform unknown-field,file=a%2Cb%3A100%25.yaml,line=3,col=7::100%25 wrong: \"x\"\\n::error::faked%0Amend it\n"
	if _, got, _ := strings.Cut(s.err.String(), "1 warning\n"); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestFindingsThatSayTheSameAreOne(t *testing.T) {
	t.Parallel()
	var list diag.List
	for line := range 60 {
		list.Add(diag.Diagnostic{Severity: diag.Warning, Code: "html", Position: at(line + 1), Path: "description", Summary: "the service removes <script>", Hint: "leave it out"})
	}
	for line := range 4 {
		list.Add(diag.Diagnostic{Severity: diag.Error, Code: "key", Position: at(100 + line), Summary: "the item has no name"})
	}
	wanted := map[string]string{
		"text": "warning: the service removes <script> (60 times)\n  --> workspace.yaml:1:5  description\n  --> workspace.yaml:2:5  description\n" +
			"  --> workspace.yaml:3:5  description\n  --> and 57 more places; --output json names all\n  leave it out\n" +
			"error: the item has no name (4 times)\n  --> workspace.yaml:100:5\n  --> workspace.yaml:101:5\n  --> workspace.yaml:102:5\n  --> workspace.yaml:103:5\n" +
			"4 errors, 60 warnings\n",
		"github": "\n::warning title=planform html,file=workspace.yaml,line=60,col=5::the service removes <script>",
	}
	for format, want := range wanted {
		s := newScreen(in(format))
		s.Diagnostics(list)
		if got := s.err.String(); !strings.Contains(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", format, got, want)
		}
	}
	s := newScreen(in("text"), inFull)
	if s.Diagnostics(list); strings.Count(s.err.String(), "  description\n") != 60 {
		t.Error("--full does not show every place")
	}
	b := &builder{}
	b.Notices = list[:60]
	for format, want := range map[string]string{
		"markdown": "warning: the service removes &#60;script&#62; (60 times: `workspace.yaml:1:5`, `workspace.yaml:2:5`, `workspace.yaml:3:5` and 57 more); leave it out\n",
		"html":     "<li>warning: the service removes &lt;script&gt; (60 times: workspace.yaml:1:5, workspace.yaml:2:5, workspace.yaml:3:5 and 57 more); leave it out</li>",
	} {
		if got := shownIn(t, format, &b.Plan, nil); !strings.Contains(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", format, got, want)
		}
	}
}

func TestFindingsOfOneRuleAreOneThatListsTheNames(t *testing.T) {
	t.Parallel()
	var list diag.List
	for line := range 30 {
		list.Add(diag.Diagnostic{
			Severity: diag.Error, Code: "unknown-member", Position: at(line + 1), Summary: fmt.Sprintf("the service has no member %q of that name", fmt.Sprintf("p%d", line)), Hint: "invite them",
		})
	}
	list.Add(diag.Diagnostic{Severity: diag.Error, Code: "unknown-member", Position: at(50), Summary: `the service has no member "q" of that name`, Hint: "did you mean \"p\"?"})
	list.Add(diag.Diagnostic{Severity: diag.Error, Code: "other", Position: at(51), Summary: `the service has no member "r" of that name`, Hint: "invite them"})
	s := newScreen()
	s.Diagnostics(list)
	got := s.err.String()
	first, _, _ := strings.Cut(got, "\n")
	if want := `error: the service has no member "p0", "p1", "p2" and 27 more of that name`; first != want {
		t.Errorf("got %s", first)
	}
	if strings.Count(got, "error: ") != 3 || strings.Count(got, "-->") != 32 || strings.Count(got, "invite them") != 2 || !strings.Contains(got, "workspace.yaml:30:5  \"p29\"\n") || !strings.HasSuffix(got, "32 errors\n") {
		t.Errorf("got %s", got)
	}
	s = newScreen(inJSON)
	s.Diagnostics(list)
	if got := s.err.String(); strings.Count(got, `"line":`) != 32 {
		t.Errorf("each finding has its place in JSON: %s", got)
	}
}
