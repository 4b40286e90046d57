package sandboxtest_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

func TestDuplicatesAreRefusedAsTheOptionsSay(t *testing.T) {
	t.Parallel()
	const (
		marked = `{"name": "x", "external_source": "planform", "external_id": "1"}`
		lookup = itemsPath + "?external_source=planform&external_id=1"
		linked = `{"url": "https://example.com/x"}`
	)
	for name, tt := range map[string]struct {
		unique       sandboxtest.Uniqueness
		simultaneous []int // statuses, sorted
		next         int   // status of one that comes later
		found        int   // status of the look-up by external id
		link         int   // status of a second link with the same URL
	}{
		"always":  {sandboxtest.UniqueAlways, []int{201, 409}, 409, 200, 400},
		"in turn": {sandboxtest.UniqueInTurn, []int{201, 201}, 409, 500, 400},
		"never":   {sandboxtest.UniqueNever, []int{201, 201}, 201, 500, 201},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var together sync.WaitGroup
			s := openTest(t, sandboxtest.Options{Unique: tt.unique, Fault: func(req *http.Request) sandboxtest.Fault {
				if req.Header.Get("X-Together") != "" {
					together.Done()
					together.Wait()
				}
				return sandboxtest.Fault{}
			}})
			together.Add(2)
			statuses := make([]int, 2)
			var posts sync.WaitGroup
			for i := range statuses {
				posts.Go(func() {
					statuses[i] = ask(t, s, http.MethodPost, itemsPath, marked, "X-Together", "yes")
				})
			}
			posts.Wait()
			slices.Sort(statuses)
			if !slices.Equal(statuses, tt.simultaneous) {
				t.Errorf("simultaneous requests: %v, want %v", statuses, tt.simultaneous)
			}
			for range 2 {
				if got := ask(t, s, http.MethodGet, lookup, ""); got != tt.found {
					t.Errorf("look-up: %d, want %d", got, tt.found)
				}
			}
			if got := ask(t, s, http.MethodPost, itemsPath, marked); got != tt.next {
				t.Errorf("one that comes later: %d, want %d", got, tt.next)
			}
			links := fmt.Sprintf("%s%s/links/", itemsPath, sandboxtest.WorkItemWeb1)
			if got := ask(t, s, http.MethodPost, links, linked); got != http.StatusCreated {
				t.Errorf("a link: %d", got)
			}
			if got := ask(t, s, http.MethodPost, links, linked); got != tt.link {
				t.Errorf("the same link: %d, want %d", got, tt.link)
			}
		})
	}
}
