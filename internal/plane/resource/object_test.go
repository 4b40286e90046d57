package resource_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
)

func TestAnObjectHasAncestorsANameAndSendableValues(t *testing.T) {
	t.Parallel()
	project := &resource.Object{Kind: resource.MustLookup("project"), Key: "web", Identifier: "WEB"}
	item := &resource.Object{Kind: resource.MustLookup("work_item"), Key: "pay", Parent: project, Values: []resource.Value{
		*value("work_item", "name", "Pay"), *value("work_item", "module", "Checkout"), *value("work_item", "cycle", "Sprint"),
	}}
	link := &resource.Object{Kind: resource.MustLookup("link"), Key: "a", Parent: item}
	if got := link.Ancestor("project"); got != project {
		t.Errorf("within a project: %v", got)
	}
	if got := link.Ancestor("customer"); got != nil {
		t.Errorf("within no customer: %v", got)
	}
	if got := []string{project.Name(), item.Name(), link.Name(), item.Text("priority")}; !cmp.Equal(got, []string{"WEB", "Pay", "a", ""}) {
		t.Errorf("names: %q", got)
	}
	for api, want := range map[resource.API][]string{resource.Documented: {"name", "module"}, resource.V1: {"name"}} {
		var got []string
		for _, v := range item.Sendable(api) {
			got = append(got, v.Field.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s sends: %s", api, diff)
		}
	}
}

func TestChildrenAreTheListsOfAManifest(t *testing.T) {
	t.Parallel()
	for parent, want := range map[string][]string{"work_item": {"attachment", "comment", "link"}, "customer": {"customer_request"}} {
		var got []string
		for _, k := range resource.Children(parent) {
			got = append(got, k.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("in %q: %s", parent, diff)
		}
	}
}

func TestParamsListsTheParametersOfThePath(t *testing.T) {
	t.Parallel()
	op, _ := resource.MustLookup("link").Op(resource.List, resource.Documented)
	if diff := cmp.Diff([]string{"workspace_slug", "project_id", "work_item_id"}, op.Params()); diff != "" {
		t.Error(diff)
	}
}
