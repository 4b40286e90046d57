package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/planform/planform/manifest"
)

func TestMoreObjectsThanTheServiceAllowsAreAnError(t *testing.T) {
	t.Parallel()
	points := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprint(`"`, i, `"`)
		}
		return strings.Join(list, ", ")
	}
	const estimate = "version: 1\nprojects: [{identifier: WEB, estimates: [{name: Points, type: points, points: [%s]}]}]\n"
	if _, found := load(t, fmt.Sprintf(estimate, points(12)), manifest.Limits{}); len(found) > 0 {
		t.Error(found)
	}
	_, found := load(t, fmt.Sprintf(estimate, points(14)), manifest.Limits{})
	if len(found) != 2 || found[0].Summary != "an estimate has 12 estimate points at most" || len(found[0].Related) != 1 {
		t.Error(found)
	}
	_, found = load(t, fmt.Sprintf(estimate, points(12))+"---\n"+fmt.Sprintf(estimate, "x"), manifest.Limits{})
	if len(found) != 1 || found[0].Line != 5 {
		t.Errorf("points of two documents are counted together: %v", found)
	}
	for text, want := range map[string]string{
		"release_labels: [{name: a, sort_order: 2.5}]": "sort_order must be a whole number from 0 to 2147483647",
		"features: {default_level: 1001}":              "default_level must be a whole number from 0 to 1000",
	} {
		if _, found := load(t, "version: 1\n"+text+"\n", manifest.Limits{}); len(found) != 1 || !strings.HasPrefix(found[0].Summary, want) {
			t.Errorf("%s: %v", text, found)
		}
	}
}

func TestFindingsThatFollowFromAnotherAreNotReported(t *testing.T) {
	t.Parallel()
	const web = "version: 1\nprojects: [{identifier: WEB, name: Web, "
	for text, want := range map[string]string{
		"version: 1\nprojects: [{identifier: w-b, name: Wb}]\n":                                   `an identifier cannot be "w-b"`,
		"version: 1\nprojects: [{identifier: web, name: Web}]\n":                                  `the service has identifiers in upper case only, not "web"`,
		"version: 1\nprojects: [{identifier: web}]\n":                                             `the service has identifiers in upper case only, not "web"`,
		web + "cycles: [{name: [x], start_date: 2031-01-01}]}]\n":                                 "name must be a text, not a list",
		web + "cycles: [{name: '', start_date: 2031-01-01}]}]\n":                                  "name cannot be empty",
		web + "labels: [{name: '', color: '#ffffff'}]}]\n":                                        "name cannot be empty",
		web + "states: [{name: Ready}, {name: Ready}], work_items: [{name: A, state: Ready}]}]\n": `two states have the key "ready"`,
		web + "labels: [{name: c, previously: [x]}, {name: d, previously: [y, x]}]}]\n":           `two labels had the key "x" before`,
	} {
		_, found := manifest.Load(t.Context(), []string{"-"}, manifest.Options{Stdin: strings.NewReader(text), Offline: true})
		if len(found) != 1 || found[0].Summary != want {
			t.Errorf("%s%v", text, found)
		}
		if strings.Contains(fmt.Sprint(found), "?") {
			t.Errorf("an address without a key is told: %v", found)
		}
	}
}

func TestOfflineANewProjectHasOnlyWhatItsManifestLists(t *testing.T) {
	t.Parallel()
	const items = "work_items: [{name: A, state: Waiting, labels: [bug], type: Story, cycle: S1, modules: [m]}, {name: B, state: Todo, labels: [bug]}]"
	for head, want := range map[string]int{
		"identifier: WEB, name: Web": 5,
		"identifier: WEB, name: Web, states: [{name: Waiting}], labels: [{name: other}]": 4,
		"identifier: WEB": 0, // with an identifier the project may exist already
		"identifier: WEB, name: Web, create: false": 0,
		"id: 8a234ec6-0000-4000-8000-000000000000":  0,
	} {
		text := "version: 1\nprojects: [{" + head + ", " + items + "}]\n"
		for _, offline := range []bool{true, false} {
			_, found := manifest.Load(t.Context(), []string{"-"}, manifest.Options{Stdin: strings.NewReader(text), Offline: offline})
			if !offline {
				want = 0
			}
			if len(found) != want || found.HasErrors() || want > 0 && !strings.HasPrefix(found[0].Summary, "if project/web does not exist yet, it has no ") {
				t.Errorf("%s, offline %v: %v", head, offline, found)
			}
		}
	}
}
