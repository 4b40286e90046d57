package convert

import "testing"

func TestAnEmptyDescriptionOfAnotherMarkupIsNoChange(t *testing.T) {
	t.Parallel()
	var since Since
	since.compare(&Issue{Key: "A-1", Text: Text{Markup: JiraWiki}}, &Issue{Key: "A-1"})
	if len(since.Changed) > 0 {
		t.Errorf("%+v", since.Changed)
	}
	since.compare(&Issue{Key: "A-1", Text: Text{Markup: JiraWiki, Body: "a"}}, &Issue{Key: "A-1", Text: Text{Body: "a"}})
	if len(since.Changed) != 1 {
		t.Errorf("%+v", since.Changed)
	}
}
