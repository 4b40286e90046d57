package cli_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// A service that checks a mark before it stores it, and not in one go, lets two
// runs create the same object at the same moment.
func TestTheNextRunNamesObjectsThatAnotherRunCreatedTooAndEndsWith3(t *testing.T) {
	t.Parallel()
	var s *service
	var once sync.Once
	s = newService(t, sandboxtest.Options{Unique: sandboxtest.UniqueInTurn, Fault: func(r *http.Request) sandboxtest.Fault {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/work-items/") && r.UserAgent() != somebody {
			once.Do(func() {
				s.send(t, "POST", "projects/"+sandboxtest.ProjectWeb+"/work-items/",
					`{"name":"Open the shop","external_source":"planform","external_id":"acme/work_item/web/shop"}`)
			})
		}
		return sandboxtest.Fault{}
	}})
	manifest := s.write(t, "m.yaml", "version: 1\nworkspace: acme\nprojects: [{identifier: WEB, work_items: [{key: shop, name: Open the shop}, {name: Paint}, {name: Sweep}]}]\n")
	s.must(t, "apply", "-f", manifest)
	for range 2 { // it stays so until somebody deletes one
		r := s.run(t, "apply", "-f", manifest)
		if r.code != 3 || !strings.Contains(r.out+r.err, "2 work items carry the mark of work_item/web/shop: WEB-") || !strings.Contains(r.out+r.err, "; keep WEB-3 (") {
			t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
		}
	}
}

// Of two runs that want the same, the one that came second made nothing, and prunes nothing.
func TestAnObjectOfAnotherRunIsNotTakenForOnesOwn(t *testing.T) {
	t.Parallel()
	var s *service
	var once sync.Once
	s = newService(t, sandboxtest.Options{Fault: func(r *http.Request) sandboxtest.Fault {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/work-items/") && r.UserAgent() != somebody {
			once.Do(func() {
				s.send(t, "POST", "projects/"+sandboxtest.ProjectWeb+"/work-items/",
					`{"name":"Open the shop","external_source":"planform","external_id":"acme/work_item/web/shop"}`)
			})
		}
		return sandboxtest.Fault{}
	}})
	manifest := s.write(t, "m.yaml", "version: 1\nworkspace: acme\nprojects: [{identifier: WEB, work_items: [{key: shop, name: Open the shop}, {name: Paint}, {name: Sweep}]}]\n")
	r := s.must(t, "apply", "-f", manifest)
	if !strings.Contains(r.out, "adopted work_item/web/shop as WEB-2 (another run had created it)") || !strings.Contains(r.out, "Applied: 2 created, 1 adopted") {
		t.Error(r.out)
	}
	s.write(t, "m.yaml", "version: 1\nworkspace: acme\nprojects: [{identifier: WEB}]\n")
	r = s.must(t, "apply", "-f", manifest, "--full", "--prune", "--yes", "--max-deletes", "5")
	if strings.Contains(r.out, "deleted work_item/web/shop") || !strings.Contains(r.out, "deleted work_item/web/paint") {
		t.Error(r.out)
	}
}
