package view_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/planner"
)

func TestYIsYesUnlessSomethingIsDeleted(t *testing.T) {
	t.Parallel()
	type answers map[string]bool
	for name, tt := range map[string]struct {
		deletes int
		asked   string
		answers answers
	}{
		"nothing is deleted":   {0, `type "y" to go ahead: `, answers{"y\n": true, "Y\n": true, "yes\n": true, " Yes \r\n": true, "n\n": false, "yy\n": false, "y": false}},
		"something is deleted": {1, `type "yes" to go ahead: `, answers{"yes\n": true, " yes \r\n": true, "y\n": false, "YES\n": false, "yes": false}},
	} {
		for _, no := range []string{"\n", "", "no\nyes\n", strings.Repeat("x", 5000) + "\n", strings.Repeat(" ", 5000) + "yes\n"} {
			tt.answers[no] = false
		}
		for answer, want := range tt.answers {
			s := newScreen(onTerminal, func(o *view.Options) { o.In = strings.NewReader(answer) })
			d := &planfile.Document{Summary: planner.Summary{Delete: tt.deletes}}
			got, err := s.Confirm(d, "Make these changes to\x1b[1m acme?")
			if err != nil || got != want {
				t.Errorf("%s, %.20q: got %v, %v", name, answer, got, err)
			}
			prompt := `Make these changes to\x1b[1m acme?` + "\n" + tt.asked
			if strings.TrimSuffix(s.err.String(), "\n") != prompt || s.out.Len() > 0 {
				t.Errorf("%s, %.20q: asked %q", name, answer, s.err.String())
			}
		}
	}
}

func TestConfirmReadsItsLineOnly(t *testing.T) {
	t.Parallel()
	in := strings.NewReader("yes\nrest")
	s := newScreen(onTerminal, func(o *view.Options) { o.In = in })
	if ok, err := s.Confirm(&planfile.Document{}, "?"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if rest, _ := io.ReadAll(in); string(rest) != "rest" {
		t.Errorf("left %q", rest)
	}
}

func TestConfirmNeedsATerminal(t *testing.T) {
	t.Parallel()
	s := newScreen(func(o *view.Options) { o.In = strings.NewReader("yes\n") })
	if ok, err := s.Confirm(&planfile.Document{}, "?"); ok || !errors.Is(err, view.ErrNoTerminal) || s.err.Len() > 0 {
		t.Errorf("got %v, %v", ok, err)
	}
	s = newScreen(onTerminal, func(o *view.Options) { o.In = iotest.ErrReader(io.ErrClosedPipe) })
	if ok, err := s.Confirm(&planfile.Document{}, "?"); ok || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v, %v", ok, err)
	}
}

func TestColourIsForTerminalsThatWantIt(t *testing.T) {
	t.Parallel()
	terminal := view.Streams{OutTTY: true, ErrTTY: true}
	for name, tt := range map[string]struct {
		streams           view.Streams
		color             string // "" = auto
		format            string
		env               map[string]string
		out, errors, live bool
	}{
		"a terminal gets colour":                                   {streams: terminal, out: true, errors: true, live: true},
		"without a terminal there is not a colour":                 {streams: view.Streams{}},
		"errors get colour if only standard error is a terminal":   {streams: view.Streams{ErrTTY: true}, errors: true, live: true},
		"output gets colour if only standard output is a terminal": {streams: view.Streams{OutTTY: true}, out: true},
		"--no-color":                          {streams: terminal, color: "never", live: true},
		"--color always":                      {color: "always", out: true, errors: true},
		"FORCE_COLOR":                         {env: map[string]string{"FORCE_COLOR": "1"}, out: true, errors: true},
		"NO_COLOR is stronger":                {env: map[string]string{"FORCE_COLOR": "1", "NO_COLOR": "1"}},
		"the flag --color overrides NO_COLOR": {color: "always", env: map[string]string{"NO_COLOR": "1"}, out: true, errors: true},
		"NO_COLOR":                            {streams: terminal, env: map[string]string{"NO_COLOR": "1"}, live: true},
		"an empty NO_COLOR is ignored":        {streams: terminal, env: map[string]string{"NO_COLOR": ""}, out: true, errors: true, live: true},
		"a dumb terminal gets no colour":      {streams: terminal, env: map[string]string{"TERM": "dumb"}},
		"JSON is not coloured":                {streams: terminal, format: "json", live: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := view.NewOptions(tt.streams, cmp.Or(tt.color, "auto"), tt.format, func(key string) string { return tt.env[key] })
			if o.ColorOut != tt.out || o.ColorErr != tt.errors || o.Live != tt.live {
				t.Errorf("got %+v", o)
			}
		})
	}
}

func TestATableIsAlignedAndFitsATerminal(t *testing.T) {
	t.Parallel()
	columns := []string{"ID", "NAME", "URL"}
	rows := [][]string{
		{"WEB-1", "Rebuild\nthe checkout", "https://example.com/" + strings.Repeat("path/", 20)},
		{"WEB-20", "東京", ""},
		{"WEB-3"},
		{"WEB-4", "one", "two", "one too many"},
	}
	items := []string{"id", "identifier", "name", "state", "assignees", "priority", "labels", "parent", "target_date", "created_by"}
	item := []string{"8a234ec6-0000-4000-8000-000000000000", "WEB-7", "Rebuild the checkout for the customers of the new shop", "In Progress", "ada, bob", "urgent", "frontend, shop", "Open the new shop", "2026-12-01", "ada"}
	wide, narrow, tiny := newScreen(), newScreen(onTerminal), newScreen(onTerminal, func(o *view.Options) { o.Width = 10 })
	if err := errors.Join(wide.Table(columns, rows), narrow.Table(columns, rows), narrow.Table(items, [][]string{item}), tiny.Table(columns, rows), wide.Table(columns, nil)); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.txt", wide.out.String()+"--- 80 columns\n"+narrow.out.String()+"--- 10 columns\n"+tiny.out.String())
}

func TestSentencesThatDoNotFitBesideTheirNamesStandBelowThemAndAreComplete(t *testing.T) {
	t.Parallel()
	const about = "Earlier owner of the thing, in words that fill more than a line of sixty columns"
	for columns, want := range map[int]string{
		60:  "name  text\n    " + about[:56] + "\n    " + about[57:] + "\n  lead  member\n      Leads it\n",
		120: "field   holds   about\nname    text    " + about + "\n  lead  member  Leads it\n",
	} {
		s := newScreen(onTerminal, func(o *view.Options) { o.Width, o.ColorOut = columns, false })
		if err := s.Definitions([]string{"field", "holds", "about"}, [][]string{{"name", "text", about}, {"  lead", "member", "Leads it"}}); err != nil {
			t.Fatal(err)
		}
		if got := s.out.String(); got != want {
			t.Errorf("%d columns:\n%s", columns, got)
		}
	}
}

func TestJSONIsNotEscapedForHTMLAndHasSortedKeys(t *testing.T) {
	t.Parallel()
	s := newScreen(inJSON)
	value := []map[string]any{{"z": json.Number("1.50"), "a": "<b> & \u009b1m\u202e\u2028é\U000e0041\x7f"}}
	if err := s.JSON(value); err != nil {
		t.Fatal(err)
	}
	want := "[\n  {\n    \"a\": \"<b> & \\u009b1m\\u202e\\u2028é\\udb40\\udc41\\u007f\",\n    \"z\": 1.50\n  }\n]\n"
	if got := s.out.String(); got != want {
		t.Errorf("got %s want %s", got, want)
	}
	var back []map[string]any
	if err := json.Unmarshal(s.out.Bytes(), &back); err != nil || back[0]["a"] != value[0]["a"] {
		t.Errorf("comes back as %q, %v", back, err)
	}
	if err := s.JSON(func() {}); err == nil {
		t.Error("a function has no JSON")
	}
}

func TestANoteIsOneLine(t *testing.T) {
	t.Parallel()
	s := newScreen()
	s.Notef("read %s\n", "a\nb")
	if got := s.err.String(); got != "read a\\nb\n" {
		t.Errorf("got %q", got)
	}
}
