package diag_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/text/diag"
)

func TestAListOfWarningsIsNoError(t *testing.T) {
	t.Parallel()
	var l diag.List
	if l.Err() != nil || l.HasErrors() {
		t.Fatal("an empty list is an error")
	}
	l.Add(diag.Diagnostic{Severity: diag.Warning, Summary: "odd"})
	if l.Err() != nil {
		t.Fatalf("a warning is an error: %v", l.Err())
	}
	l.Errorf(diag.Position{File: "a.yaml", Line: 3, Column: 5}, "bad", "bad %s", "name")
	if got, want := l.Err().Error(), "warning: odd\na.yaml:3:5: error: bad name"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFindingsAreOrderedByPlace(t *testing.T) {
	t.Parallel()
	var l diag.List
	l.Errorf(diag.Position{File: "b.yaml", Line: 1}, "", "third")
	l.Errorf(diag.Position{File: "a.yaml", Line: 10}, "", "second")
	l.Errorf(diag.Position{File: "a.yaml", Line: 9}, "", "first")
	l.Sort()
	var got []string
	for _, d := range l {
		got = append(got, d.Summary)
	}
	if diff := cmp.Diff([]string{"first", "second", "third"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestANoteOnTheFindingsComesLast(t *testing.T) {
	t.Parallel()
	l := diag.List{{Severity: diag.Note, Summary: "more"}, {Position: diag.Position{File: "a.yaml"}, Summary: "wrong"}}
	l.Sort()
	if l[0].Summary != "wrong" || l[1].String() != "note: more" {
		t.Error(l)
	}
}

func TestALongListOfFindingsIsClippedAndTheRestCounted(t *testing.T) {
	t.Parallel()
	var l diag.List
	for range diag.MaxShown + 7 {
		l.Errorf(diag.Position{}, "bad", "bad")
		l.Add(diag.Diagnostic{Severity: diag.Warning})
	}
	l.Add(diag.Diagnostic{Severity: diag.Warning})
	got := l.Clip()
	if len(got) != 2*diag.MaxShown+2 || got[2*diag.MaxShown].Summary != "7 more errors not shown" || got[2*diag.MaxShown+1].Summary != "8 more warnings not shown" || !got.HasErrors() {
		t.Errorf("%d: %v", len(got), got[2*diag.MaxShown:])
	}
	if whole := got[:3].Clip(); len(whole) != 3 {
		t.Error(whole)
	}
}

func TestNearFindsMisspeltWordsAndIgnoresCase(t *testing.T) {
	t.Parallel()
	states := []string{"Backlog", "Todo", "In Progress", "Done", "Cancelled"}
	for name, tt := range map[string]struct {
		word string
		want []string
	}{
		"a word with one letter missing has a near one":        {"In Progres", []string{"In Progress"}},
		"the case of letters is ignored":                       {"in progress", []string{"In Progress"}},
		"a word with two letters swapped has a near one":       {"Tood", []string{"Todo"}},
		"a short word with two letters swapped has a near one": {"Dnoe", []string{"Done"}},
		"a word that is much further off is not near":          {"Backlo", []string{"Backlog"}},
		"a word without a near one gets none":                  {"Waiting for legal", nil},
		"the empty word is near nothing":                       {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, diag.Near(tt.word, states)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCountsAgreeWithTheirNoun(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"1 error":       diag.Count(1, "error"),
		"0 errors":      diag.Count(0, "error"),
		"2 properties":  diag.Count(2, "property"),
		"3 keys":        diag.Count(3, "key"),
		"an initiative": diag.A("initiative"),
		"a work item":   diag.A("work item"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTheChoiceIsListedUnlessAWordIsMisspelt(t *testing.T) {
	t.Parallel()
	states := []string{"Backlog", "Todo", "In Progress", "Done"}
	for word, want := range map[string]string{
		"In Progres": `did you mean "In Progress"?`,
		"Tood":       `did you mean "Todo"?`,
		"Doing":      "there are Backlog, Todo, In Progress, Done",
	} {
		if got := diag.Choose(word, states); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
	if got, want := diag.Choose("something else", strings.Split("abcdefghijkl", "")), "there are a, b, c, d, e, f, g, h, i, j and 2 more"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := diag.Choose("x", nil) + diag.OneOf("x", nil); got != "" {
		t.Error(got)
	}
}

func TestLongTextsAreCutWhenTheyAreAdded(t *testing.T) {
	t.Parallel()
	var l diag.List
	l.Errorf(diag.Position{}, "not-found", "the service has no state %q", strings.Repeat("é", 1<<20))
	l.Add(diag.Diagnostic{Summary: "short", Hint: strings.Repeat("x", 1<<20)})
	for _, d := range l {
		if n := utf8.RuneCountInString(d.Summary + d.Hint); n > 2000 {
			t.Errorf("%d characters", n)
		}
	}
}

// White space of JSON may follow a value. Nothing else may, not even another space.
func TestATextAfterAJSONValueIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{`{"a":1}`: true, "{\"a\":1} \t\r\n": true, `{"a":1}x`: false, `{"a":1} {"a":2}`: false, "{\"a\":1}\u00a0": false} {
		var value struct{ A int }
		if _, err := diag.ReadJSON([]byte(text), &value); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
