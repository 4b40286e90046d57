package sandbox

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const versionsPage = "../../docs/versions.md"

// change is a kind of difference between a version and the one before.
type change struct {
	request, problem *regexp.Regexp // of the recorded differences that it explains
	what, was, is    string
	meaning          string // for a manifest
}

// changes returns the kinds of recorded differences of a version from the one before, in the order in which they are tried.
func changes(version string) []change {
	of := func(request, problem, what, was, is, meaning string) change {
		return change{regexp.MustCompile(request), regexp.MustCompile(problem), what, was, is, meaning}
	}
	return map[string][]change{
		"1.4.1": {
			of(`-lite`, ``, "Lists of members with their roles: `members-lite/`, `project-members-lite/`", "404", "200, with `role` and `is_active` of each",
				"Roles are compared and exported, and plans name people who left the workspace or the project. planform does not change roles there"),
			of(`expand=\S*project`, `archived_at`, "`?expand=project`", "without `archived_at`", "with it", "none: planform does not ask for it"),
			of(`^\S+ +GET +projects/[^/]+/(labels|members|project-members)/`, `^status`,
				"Labels and members of a project that the key's user is no member of, or that does not exist", "an empty list, the members, or 404", "403",
				"Have an admin of the project add the key's user; plan, doctor, export and get say so"),
			of(`^\S+ +(POST|PATCH) +projects/[^/]+/cycles/(\{[^}]+\}/)? `, `^status`, "A cycle without `project_id`, or with a wrong one", "400",
				"201 or 200: the address counts", "none: planform sends it"),
			of(`POST +\S+/cycle-issues/`, ``, "Work items put into a cycle that are unknown, deleted, archived, or in another or an archived project",
				"400, or taken", "200, without them", "An item that somebody archives between plan and apply is not in the cycle; apply and the next plan warn of it"),
			of(`POST +\S+/relations/`, `^status|body: `, "Relations to such work items; another project of the workspace is allowed", "400, or taken", "201, without them",
				"The same for the relation"),
			of(`/relations/`, ``, "Relations of a work item with several", "in the order of the request", "in no order", "none: planform compares them as sets"),
			of(`completed_at`, ``, "`completed_at` of a work item", "stored; 400 if it is no time", "ignored", "none: no field of a manifest sets it"),
		},
	}[version]
}

const versionsText = `<!-- Made from the code by go test ./internal/sandbox -run BehavesAsRecorded -update; changes here are lost. -->

# Versions

planform was tried on the versions %s of Plane's community edition. The same manifests work on all of them.

Your server tells its version without a key:

<!-- not run: it needs a server -->
` + "```sh" + `
curl -s https://plane.example.com/api/instances/     # "current_version":"1.4.1"
` + "```" + `

` + "`planform sandbox --edition community@1.3` and `--edition community@1.4` answer as each version did; `community` is the newest." + `
Newer versions, the commercial editions and the cloud were not tried. [Fidelity](contributors/fidelity.md) has the figures.
`

const versionsSeen = `
### Seen, and not recorded

| What | 1.3.1 | 1.4.1 | For a manifest |
|---|---|---|---|
| A changed work item | tells people of relations and files only | tells its followers, in the app and by mail, of each changed field | Think of who is told before a large update or undo |
| A new work item | tells nobody | tells nobody. The key's user follows it from then on | Import with a key of an account of its own |
| ` + "`?pql=` and `?filters=`" + ` on work items | ignored | 400 | none: planform does not send them |
| The key of a deactivated person | works | 403 | Make a key of somebody who is active |
| More lists: ` + "`projects-lite/`, `cycles-lite/`, `modules-lite/`" + ` | 404 | 200 | none: planform reads the lists that both have |
| ` + "`API_KEY_RATE_LIMIT`" + `, the environment variable | sets the requests a minute of a key | the same, for service tokens too | [Raise it on a server of your own](faq.md#can-my-own-server-be-faster) |
`

func TestADeletedItemThatIsPutIntoACycleCountsInIt(t *testing.T) {
	t.Parallel()
	for version, counted := range map[string]float64{"1.3": 1, "1.4": 0} { // 1.4 does not put it in
		s := openTest(t, Options{Edition: Community, Version: version})
		cycle := "projects/" + projectWeb + "/cycles/"
		item := ask(t, s, "POST", "projects/"+projectWeb+"/work-items/", `{"name": "A"}`).object(t)["id"].(string)
		want(t, ask(t, s, "DELETE", "projects/"+projectWeb+"/work-items/"+item+"/", ""), http.StatusNoContent)
		want(t, ask(t, s, "POST", cycle+cycleSprint14+"/cycle-issues/", `{"issues": ["`+item+`"]}`), http.StatusOK)
		got := ask(t, s, "GET", cycle+cycleSprint14+"/", "").object(t)
		if got["backlog_issues"] != counted || got["total_issues"] != counted {
			t.Errorf("%s: %v in the backlog, %v in all, want %v", version, got["backlog_issues"], got["total_issues"], counted)
		}
	}
}

func TestARelationOfNothingToNothingIsNoErrorSince14(t *testing.T) {
	t.Parallel()
	for version, status := range map[string]int{"1.3": http.StatusBadRequest, "1.4": http.StatusCreated} {
		s := openTest(t, Options{Edition: Community, Version: version})
		path := "projects/" + projectWeb + "/work-items/" + unknownID + "/relations/"
		want(t, ask(t, s, "POST", path, `{"relation_type": "relates_to", "issues": ["`+unknownID+`"]}`), status)
	}
}

func TestAStateIsNotRenamedToTriage(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{Edition: Community})
	states := "projects/" + projectWeb + "/states/"
	want(t, ask(t, s, "POST", states, `{"name":"Triage","color":"#000000"}`), http.StatusInternalServerError)
	if got := want(t, ask(t, s, "PATCH", states+stateTodo+"/", `{"name":"Triage"}`), http.StatusBadRequest); got.body != `{"error":"The payload is not valid"}` {
		t.Error(got.body)
	}
}

func TestOfTheSchemesThatALinkCannotHaveOnlyThoseOfFTPAreNamed(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{Edition: Community})
	for address, complaint := range map[string]string{
		"ftp://example.com/x": "scheme", "ftps://example.com/x": "scheme", "javascript:alert(1)": "format", "ssh://example.com/x": "format",
	} {
		got := want(t, ask(t, s, "POST", "projects/"+projectWeb+"/work-items/"+workItemWeb1+"/links/", `{"url":"`+address+`"}`), http.StatusBadRequest)
		if got.body != `{"url":["Invalid URL `+complaint+`."]}` {
			t.Errorf("%s: %s", address, got.body)
		}
	}
}

func TestANewItemFollowsTheLastItemOfItsStateEvenIfTheFirstHasANegativeOrder(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{Edition: Community})
	state := want(t, ask(t, s, "POST", "projects/"+projectWeb+"/states/", `{"name":"New","color":"#000000"}`), http.StatusOK).object(t)["id"].(string)
	for _, order := range []float64{-5, 9995, 19995} {
		got := want(t, ask(t, s, "POST", "projects/"+projectWeb+"/work-items/", `{"name":"x","sort_order":-5,"state":"`+state+`"}`), http.StatusCreated)
		if got.object(t)["sort_order"] != order {
			t.Errorf("%v, want %v", got.object(t)["sort_order"], order)
		}
	}
}

func TestTheCommunityEditionTellsItsVersion(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"": "1.4.1", "1.3": "1.3.1", "1.4.1": "1.4.1"} {
		s := openTest(t, Options{Edition: Community, Version: given})
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/instances/", http.NoBody)) // no key is needed
		if !strings.Contains(w.Body.String(), `"current_version":"`+want+`"`) || w.Code != http.StatusOK {
			t.Errorf("%q: no version %s in %d %s", given, want, w.Code, w.Body)
		}
	}
}

// versions is docs/versions.md. It plays the recordings of each version to the sandbox of the one before.
func versions(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, versionsText, strings.Join(Versions(), " and "))
	for i, version := range Versions()[1:] {
		before := Versions()[i]
		s := newScore(version, replayBehaviours(t, version, before))
		all := 0
		for _, in := range s.behaviours {
			all += len(in)
		}
		differing := s.differing()
		fmt.Fprintf(&b, "\n## From %s to %s\n\n%d of %d recorded behaviours differ.\n\n", before, version, len(differing), all)
		fmt.Fprintf(&b, "| Behaviours | Request | %s | %s | For a manifest |\n|--:|---|---|---|---|\n", before, version)
		found := make([]int, len(changes(version)))
		for _, v := range differing {
			if i := slices.IndexFunc(changes(version), v.isOf); i >= 0 {
				found[i]++
			}
		}
		rest := len(differing)
		for i, c := range changes(version) {
			if found[i] == 0 {
				t.Errorf("no recorded behaviour differs so: %s", c.what)
			}
			rest -= found[i]
			fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", found[i], c.what, c.was, c.is, c.meaning)
		}
		fmt.Fprintf(&b, "| %d | What follows from these in the rest of a sequence | | | numbers, places and counts |\n", rest)
	}
	b.WriteString(versionsSeen)
	return b.String()
}

// isOf reports whether a difference is of a kind.
func (v verdict) isOf(c change) bool {
	return c.request.MatchString(v.operation().String()) && c.problem.MatchString(strings.Join(v.problems, "\n"))
}
