package view_test

import (
	"fmt"
	"math/rand"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/planner"
)

// described is a plan that changes a description, as it is shown.
func described(t *testing.T, extent view.Extent, before, after string) string {
	t.Helper()
	b := &builder{}
	b.act(planner.Update, object("work_item", "shop", object("project", "web", nil)), "", changed("description", before, after))
	b.Summary.Update = 1
	s := newScreen(func(o *view.Options) { o.Extent = extent })
	if err := showAs(s.Plan, &b.Plan, planfile.Where{}); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(s.out.String(), "description:")
	text, _, _ = strings.Cut(text, "\nPlan:")
	return text
}

// paragraph is a text of one line with many sentences.
func paragraph() string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "Line %d of a long description says something. ", i)
	}
	return b.String() + "The end."
}

func TestEveryChangeOfALongLineIsShown(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	for i := range 1500 {
		list.WriteString("word" + strconv.Itoa(i) + ", ")
	}
	before, endless := paragraph(), list.String()
	for name, tt := range map[string]struct{ before, after, want string }{
		"at several places": {before, strings.NewReplacer("Line 30 of", "Line thirty of", "Line 50 of a long", "Line 50 of a very long", "The end.", "That is all.").Replace(before), `
      ~ … says something. Line [-30-]{+thirty+} of a long description …
      ~ … Line 50 of a {+very +}long description says …
      ~ … says something. [-The end-]{+That is all+}.
`},
		"far apart in one sentence": {endless, strings.NewReplacer("word1,", "other,", "word1000", "changed").Replace(endless), `
      ~ word0, [-word1-]{+other+}, word2, word3, word4, …
      ~ … word998, word999, [-word1000-]{+changed+}, word1001, word1002, …
`},
		"close together": {before, strings.NewReplacer("Line 30 of a long", "Line 31 of a short").Replace(before), `
      ~ … says something. Line [-30-]{+31+} of a [-long-]{+short+} description says …
`},
		"at the beginning and the end": {before, "New. " + before + " More.", `
      ~ {+New. +}Line 0 of a long …
      ~ … something. The end.{+ More.+}
`},
		"a sentence that is taken out": {before, strings.Replace(before, "Line 7 of a long description says something. ", "", 1), `
      ~ … says something. [-Line 7 of a long description says something. -]Line 8 of a long …
`},
		"a change that is long itself": {before, strings.Replace(before, "Line 7 of", "Line "+strings.Repeat("seven and ", 30)+"of", 1), `
      ~ … says something. Line [-7-]{+` + strings.Repeat("seven and ", 20)[:199] + `… (299 characters)+} of a long description …
`},
		"without spaces": {strings.Repeat("漢字仮名", 30) + "前" + strings.Repeat("交じり文", 30), strings.Repeat("漢字仮名", 30) + "後" + strings.Repeat("交じり文", 30), `
      ~ …字仮名漢字仮名漢字仮名漢字仮名漢字仮名漢字仮名[-前-]{+後+}交じり文交じり文交じり文交じり文交じり文交じり…
`},
		"another text": {before, strings.Repeat("Nothing is as it was before. ", 20), `
      - ` + before[:239] + `… (` + strconv.Itoa(len(before)) + ` characters)
      + ` + strings.Repeat("Nothing is as it was before. ", 20)[:239] + `… (580 characters)
`},
		"line ends only": {"a\r\nb\r\n", "a\nb\n", " differs in line ends only\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, described(t, view.Usual, tt.before, tt.after)); diff != "" {
				t.Error(diff)
			}
			full := described(t, view.Full, tt.before, tt.after)
			if old, added, ok := marked(full); ok {
				if old != tt.before || added != tt.after {
					t.Errorf("--full does not show both texts:\n%s", full)
				}
			}
		})
	}
}

// TestADifferenceHoldsBothTexts changes lines of many words, in scripts of many bytes, at random places.
func TestADifferenceHoldsBothTexts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(1))
	vocabulary := []string{"Größe", "für", "café", "日本", "日", "本語", "ab", "über", "é", "è", "ö", "öö", " ", " ", ". ", ", ", "x"}
	for range 500 {
		words := make([]string, 60)
		for i := range words {
			words[i] = vocabulary[random.Intn(len(vocabulary))]
		}
		before := "begin " + strings.Join(words, "") + " end"
		for range 1 + random.Intn(5) {
			words[random.Intn(len(words))] = vocabulary[random.Intn(len(vocabulary))]
		}
		after := "begin " + strings.Join(words, "") + " end"
		shown := described(t, view.Full, before, after)
		lines := "\n      - " + before + "\n      + " + after + "\n" // where little is alike
		if old, added, ok := marked(shown); before != after && shown != lines && (!ok || old != before || added != after) {
			t.Fatalf("%q and %q are shown as\n%s", before, after, shown)
		}
	}
}

// marked gives the two texts of a line with marks.
func marked(shown string) (old, added string, ok bool) {
	_, words, ok := strings.Cut(strings.TrimSuffix(shown, "\n"), "~ ")
	old = regexp.MustCompile(`\{\+.*?\+\}`).ReplaceAllString(strings.NewReplacer("[-", "", "-]", "").Replace(words), "")
	added = regexp.MustCompile(`\[-.*?-\]`).ReplaceAllString(strings.NewReplacer("{+", "", "+}", "").Replace(words), "")
	return old, added, ok
}

func TestChangesThatAreNotShownAreCounted(t *testing.T) {
	t.Parallel()
	var before, after strings.Builder
	for i := range 60 {
		fmt.Fprintf(&before, "- the point %d of the list\n", i)
		sign := ""
		if i%2 == 0 {
			sign = ", changed"
		}
		fmt.Fprintf(&after, "- the point %d of the list%s\n", i, sign)
	}
	if got := described(t, view.Usual, before.String(), after.String()); !strings.HasSuffix(got, "\n      … 70 more lines, 46 of them changed; --full shows all\n") {
		t.Error(got)
	}
}
