package provider_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// modulesOf returns the sorted names of the modules of an item.
func (sv *service) modulesOf(item string) string {
	names, ids := map[any]any{}, map[any]string{}
	for _, row := range sv.Rows("module") {
		names[row["id"]] = row["name"]
	}
	for _, row := range sv.Rows("work_item") {
		ids[row["id"]] = fmt.Sprint(row["name"])
	}
	var in []string
	for _, row := range sv.Rows("module_issue") {
		if ids[row["issue"]] == item {
			in = append(in, fmt.Sprint(names[row["module"]]))
		}
	}
	slices.Sort(in)
	return strings.Join(in, " ")
}

func TestAWorkItemIsInSeveralModules(t *testing.T) {
	t.Parallel()
	const project = `projects: [{key: web, identifier: WEB, modules: [{name: Red}, {name: Green}, {name: Blue}], work_items: [{key: a, name: Item A%s}]}]`
	for name, s := range map[string]*service{
		"v1": newService(t, resource.V1), "v2": newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, step := range []struct {
				fields, want string
				prune        bool
				drift        func()
			}{
				{fields: ", modules: [Red, green]", want: "Green Red"},
				{fields: ", modules: [green, blue]", want: "Blue Green"},
				{fields: ", module: green", want: "Green"},
				{fields: ", modules: [green]", want: "Green"},
				{fields: ", modules: [green]", want: "Checkout Green", drift: func() { s.into(t, sandboxtest.ModuleCheckout, "Item A") }},
				{fields: ", modules: []", want: "Checkout"},
				{fields: ", modules: [red, blue]", want: "Blue Checkout Red"},
				{fields: "", want: "Blue Checkout Red"},
				{fields: "", want: "Checkout", prune: true},
			} {
				if step.drift != nil {
					step.drift()
				}
				a := s.apply(t, applying{manifest: fmt.Sprintf(project, step.fields), prune: step.prune})
				if got := s.modulesOf("Item A"); got != step.want || len(a.failed()) > 0 || len(a.warnings()) > 0 {
					t.Errorf("%s: in %s, want %s; %v %v", step.fields, got, step.want, a.failed(), a.warnings())
				}
				if again := s.apply(t, applying{manifest: fmt.Sprintf(project, step.fields), prune: step.prune}); again.writes > 0 || !again.plan.Empty() {
					t.Errorf("%s: again %d writes, %+v", step.fields, again.writes, again.plan.Summary)
				}
			}
			s.dir = t.TempDir() // the state is lost
			all := fmt.Sprintf(project, ", modules: [red, checkout]")
			s.apply(t, applying{manifest: strings.Replace(all, "Item A", "Item A, identifier: WEB-2", 1)})
			if got := s.modulesOf("Item A"); got != "Checkout Red" {
				t.Error(got)
			}
		})
	}
}

// into puts an item into a module.
func (sv *service) into(t *testing.T, module, item string) {
	t.Helper()
	for _, row := range sv.Rows("work_item") {
		if row["name"] == item {
			sv.otherUser(t, http.MethodPost, "projects/"+sandboxtest.ProjectWeb+"/modules/"+module+"/module-issues/", fmt.Sprintf(`{"issues":[%q]}`, row["id"]))
		}
	}
}

// TestDocumentedOperationsTakeOneModule, because there it is a field of the item.
func TestDocumentedOperationsTakeOneModule(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.Documented)
	a := s.apply(t, applying{manifest: `projects: [{key: web, id: ` + sandboxtest.ProjectWeb + `, work_items: [{key: a, name: Item A, modules: [` + sandboxtest.ModuleCheckout + `]}]}]`})
	if why := a.reasons()["work_item/web/a"]; why != "the documented operations cannot set modules of a work item" {
		t.Error(a.reasons())
	}
}
