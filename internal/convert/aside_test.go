package convert

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestIssuesHoldNothingLongUntilTheyAreWritten: an export may be larger than the memory.
func TestIssuesHoldNothingLongUntilTheyAreWritten(t *testing.T) {
	t.Parallel()
	to, err := newSpool()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = to.Close() })
	c := newCollection(nil, to)
	long := Text{Markup: JiraWiki, Body: strings.Repeat("long <text> & more\n", 5000)}
	made := func(n int) *Issue {
		at := time.Date(2025, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
		i := &Issue{
			Key: fmt.Sprintf("A-%d", n), Project: "A", Number: n, Title: "One", Text: long, Environment: long, Left: map[string]int{"votes": n},
			Comments: []Comment{{ID: "1", Author: "ada", At: at, Text: long}, {ID: "2", At: at, Text: Text{Body: strconv.Itoa(n)}}},
			Work:     []Work{{Author: "ada", At: at, Seconds: 60, Text: long}}, Events: []Event{{Author: "ada", At: at, Field: "state", From: "a", To: long.Body}},
		}
		i.Fields = [][]Field{nil, {}, {{Name: "Size", Value: long.Body, Source: "size"}, {Name: "Rank", Value: "1", Source: "rank", Noise: true}}}[n%3]
		c.Hold(i, Leaf{Name: "title", Text: "One"}, OfItem, 1)
		c.Hold(i, Leaf{Name: fmt.Sprintf("field %d", n%7), Text: "x"}, OfText, n)
		return i
	}
	same := cmp.Options{cmpopts.IgnoreUnexported(Issue{}, Value{})}
	for n := 1; n <= 20; n++ {
		i := made(n)
		if n%2 == 0 { // a format may put an issue aside before it is complete
			last := len(i.Held) - 1
			late := i.Held[last]
			i.Held = i.Held[:last]
			c.PutAside(i)
			i.Held = append(i.Held, late)
			c.Recall(i)
		}
		c.Issue(i)
	}
	for _, i := range c.sorted() {
		short := *i
		short.Title, short.Left = "", nil
		if text := fmt.Sprintf("%+v", short); len(text) > 1000 || i.Held != nil || i.Work != nil || i.Events != nil || i.Fields != nil {
			t.Fatalf("%s holds %.2000s", i.Key, text)
		}
	}
	for n, i := range c.sorted() {
		want := made(n + 1)
		c.recall(i)
		if diff := cmp.Diff(want, i, same); diff != "" || c.err != nil {
			t.Fatalf("%v %.2000s", c.err, diff)
		}
		i.forget()
	}
}

// TestPartsOfIssuesComeBackInTheirOrder, as they stand all over the files.
func TestPartsOfIssuesComeBackInTheirOrder(t *testing.T) {
	t.Parallel()
	to, err := newSpool()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = to.Close() })
	in := Input{spool: to}
	var parts [3]Parts
	want := [3][]string{}
	for n := range 300 {
		text := strings.Repeat("x", n*n%1000) + strconv.Itoa(n)
		in.Keep(&parts[n%2], []byte(text))
		want[n%2] = append(want[n%2], text)
	}
	for n := range parts {
		var got []string
		kept, err := in.Kept(parts[n])
		for _, part := range kept {
			got = append(got, string(part))
		}
		if diff := cmp.Diff(want[n], got); diff != "" || err != nil {
			t.Errorf("%v %.1000s", err, diff)
		}
	}
}
