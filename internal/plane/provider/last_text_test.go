package provider_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestATextIsComparedWithTheLastRequestThatSentIt: a text that links to a later object is sent twice, at first without
// the link.
func TestATextIsComparedWithTheLastRequestThatSentIt(t *testing.T) {
	t.Parallel()
	const to = "planform:work_item/web/"
	for kind, manifest := range map[string]string{
		"one work item names another": `projects: [{key: web, identifier: WEB, work_items: [{key: a, name: A, description: x},
			{key: b, name: B, description: "[A](` + to + `a)"}]}]`,
		"work items name each other": `projects: [{key: web, identifier: WEB, work_items: [
			{key: a, name: A, description: "[B](` + to + `b)"}, {key: b, name: B, description_html: '<p>see <a href="` + to + `a">A</a></p>'},
			{key: c, name: C, description: "[A](` + to + `a)"}]}]`,
		"work items with parents name each other": `projects: [{key: web, identifier: WEB, work_items: [{key: a, name: A, description: "[C](` + to + `c)"},
			{key: b, name: B, parent: a}, {key: c, name: C, parent: b, description: "[A](` + to + `a)"}]}]`,
		"comments name work items": `projects: [{key: web, identifier: WEB, work_items: [{key: a, name: A, comments: [{key: k, text: "[B](` + to + `b)"},
			{key: l, text: "[A](` + to + `a)"}]}, {key: b, name: B, parent: a, comments: [{key: k, text: "[A](` + to + `a)"}]}]}]`,
		"pages and initiatives name work items and each other": `initiatives: [{key: i, name: I, description: "[A](` + to + `a)"}]
pages: [{key: p, name: P, description: "[Q](planform:page/q)"}, {key: q, name: Q, description: "[P](planform:page/p) [A](` + to + `a)"}]
projects: [{key: web, identifier: WEB, pages: [{key: p, name: P, description: "[A](` + to + `a)"}],
			work_items: [{key: a, name: A, description: "[P](planform:page/p)"}, {key: b, name: B}]}]`,
	} {
		for api, s := range apis(t) {
			t.Run(kind+", "+api, func(t *testing.T) {
				t.Parallel()
				if r := s.apply(t, applying{manifest: manifest}); len(r.failed())+len(r.warnings()) > 0 {
					t.Errorf("%q, %v", r.failed(), r.warnings())
				}
				for range 2 {
					if r := s.apply(t, applying{manifest: manifest, all: true}); r.writes > 0 || !r.plan.Empty() || len(r.warnings()) > 0 {
						t.Errorf("sent again: %d writes, %+v, %v", r.writes, r.plan.Summary, r.warnings())
					}
				}
			})
		}
	}
}

// TestAChangedTextThatNamesNewObjectsIsComparedWithTheLastRequest, because a second update completes the first one.
func TestAChangedTextThatNamesNewObjectsIsComparedWithTheLastRequest(t *testing.T) {
	t.Parallel()
	items := func(text, more string) string {
		return fmt.Sprintf(`projects: [{key: web, identifier: WEB, work_items: [{key: a, name: A, priority: %s}, {key: b, name: B, %[1]s}%s]}]`, text, more)
	}
	for name, s := range apis(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.apply(t, applying{manifest: strings.ReplaceAll(items("low, description: x", ""), "B, low", "B, priority: low")})
			text := items(`high, description: "[C](planform:work_item/web/c) [D](planform:work_item/web/d)"`,
				`, {key: c, name: C, description: "[A](planform:work_item/web/a) [D](planform:work_item/web/d)"}, {key: d, name: D, parent: c}`)
			text = strings.ReplaceAll(text, "B, high", "B, priority: high")
			if r := s.apply(t, applying{manifest: text}); len(r.failed())+len(r.warnings()) > 0 {
				t.Errorf("%q, %v", r.failed(), r.warnings())
			}
			if r := s.apply(t, applying{manifest: text}); r.writes > 0 || !r.plan.Empty() {
				t.Errorf("sent again: %d writes, %+v", r.writes, r.plan.Summary)
			}
		})
	}
}

// TestALabelThatTheFirstRequestLeftOutIsReportedAlthoughASecondFollows: the request that completes a text does not contain the labels.
func TestALabelThatTheFirstRequestLeftOutIsReportedAlthoughASecondFollows(t *testing.T) {
	t.Parallel()
	for n := range 3 {
		for name, s := range apis(t) {
			t.Run(fmt.Sprintf("%s with %d others", name, n), func(t *testing.T) {
				t.Parallel()
				s.replying = func(_ *http.Request, row map[string]any) {
					for _, key := range []string{"labels", "label_ids"} {
						if _, shown := row[key]; shown {
							row[key] = []any{}
						}
					}
				}
				items := strings.Repeat(", {name: A%[1]d, key: a%[1]d, description: '[B](planform:work_item/web/b)'}", n)
				for i := range n {
					items = strings.Replace(items, "%[1]d, key: a%[1]d", fmt.Sprintf("%[1]d, key: a%[1]d", i), 1)
				}
				r := s.apply(t, applying{manifest: `projects: [{key: web, identifier: WEB, labels: [L], work_items: [
					{name: A, key: a, labels: [L], description: '[B](planform:work_item/web/b)'}` + items + `, {key: b, name: B}]}]`})
				if got := fmt.Sprint(r.warnings()); len(r.failed()) > 0 || len(r.warnings()) != 1 || !strings.Contains(got, "left L out of the labels") {
					t.Errorf("%q, %s", r.failed(), got)
				}
			})
		}
	}
}

func TestAWarningShowsTheFirstDifferenceOfTheStoredText(t *testing.T) {
	t.Parallel()
	same := strings.Repeat("All of this is the same. ", 20)
	for n := range 3 {
		for name, s := range apis(t) {
			t.Run(fmt.Sprintf("%s with %d others", name, n), func(t *testing.T) {
				t.Parallel()
				s.replying = func(_ *http.Request, row map[string]any) {
					if text, ok := row["description_html"].(string); ok {
						row["description_html"] = strings.ReplaceAll(text, "Number", "Nr.")
					}
				}
				items := []string{`{key: a, name: A, description: "` + same + `Number one. ` + same + `"}`}
				for i := range n {
					items = append(items, fmt.Sprintf("{key: b%d, name: B%[1]d}", i))
				}
				r := s.apply(t, applying{manifest: `projects: [{key: web, identifier: WEB, work_items: [` + strings.Join(items, ", ") + `]}]`})
				got := fmt.Sprint(r.warnings())
				if len(r.warnings()) != 1 || !strings.Contains(got, `description: "… this is the same. Nr. one. All`) ||
					!strings.Contains(got, `instead of "… this is the same. Number one. All`) {
					t.Errorf("%d warnings: %s", len(r.warnings()), got)
				}
			})
		}
	}
}
