package resource_test

import (
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
)

func TestAnAddressConsistsOfAKindAndKeys(t *testing.T) {
	t.Parallel()
	item := resource.NewAddress("work_item", "web", "checkout")
	for _, tt := range []struct{ got, want string }{
		{string(item), "work_item/web/checkout"},
		{item.Kind(), "work_item"},
		{item.Path(), "web/checkout"},
		{item.Key(), "checkout"},
		{item.NumberingScope(), "work_item/web"},
		{resource.Address("link/web/checkout/https://example.com/a/b").Key(), "https://example.com/a/b"},
		{string(item.Child("link", "https://example.com/a/b")), "link/web/checkout/https://example.com/a/b"},
		{string(resource.NewAddress("cycle", "web", "s1").Members("work_items", 1)), "cycle/web/s1#work_items"},
		{string(resource.NewAddress("cycle", "web", "s1").Members("work_items", 12)), "cycle/web/s1#work_items.12"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %s, want %s", tt.got, tt.want)
		}
	}
}

// TestTheParentOfAnAddressIsTheContainingObject includes keys with slashes.
func TestTheParentOfAnAddressIsTheContainingObject(t *testing.T) {
	t.Parallel()
	for address, want := range map[resource.Address]resource.Address{
		"project/web": "", "work_item/web/shop": "project/web", "link/web/shop/https://example.com/a/b": "work_item/web/shop",
		"customer_request/globex/sso": "customer/globex", "nonsense/x/y": "", "work_item/web": "",
	} {
		if got := address.Parent(); got != want {
			t.Errorf("%s lives in %q, not %q", address, got, want)
		}
	}
}

func TestAnAddressNamesAnObjectOrMembers(t *testing.T) {
	t.Parallel()
	for address, want := range map[resource.Address]bool{
		"project/web": true, "link/web/shop/https://example.com/#work_items": true, "cycle/web/s1#work_items": false, "cycle/web/s1#work_items.2": false, "nonsense/x": false,
	} {
		if got := address.IsObject(); got != want {
			t.Errorf("%s: got %v, want %v", address, got, want)
		}
	}
}

func TestKeysAndSlugsAreValidInAnAddress(t *testing.T) {
	t.Parallel()
	for key, valid := range map[string]bool{
		"checkout": true, "WEB": true, "sprint-14": true, "a.b_c": true, "7": true, "größe": true, "日本": true,
		"": false, "-a": false, ".": false, "..": false, "a b": false, "a/b": false, "a#b": false, "a\x00": false, "a\n": false,
		strings.Repeat("x", 100): true, strings.Repeat("x", 101): false,
	} {
		if resource.ValidKey(key) != valid {
			t.Errorf("%q: want %v", key, valid)
		}
	}
	for name, want := range map[string]string{
		"Rebuild the checkout": "rebuild-the-checkout", "  A -- B! ": "a-b", "Größe": "größe", "!!!": "", "日本 語": "日本-語",
	} {
		got := resource.Slug(name)
		if got != want || got != "" && !resource.ValidKey(got) {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if long := resource.Slug(strings.Repeat("long ", 50)); !resource.ValidKey(long) {
		t.Errorf("the slug of a long name is no key: %q", long)
	}
}

func TestAKeyComesFromTheNameOrTheURL(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		kind string
		text map[string]string
		want string
	}{
		"the identifier of a project comes first": {"project", map[string]string{"identifier": "WEB", "name": "Website"}, "web"},
		"else its name":                          {"project", map[string]string{"name": "Website"}, "website"},
		"a link is told by its exact URL":        {"link", map[string]string{"url": "https://A.example/x/"}, "https://A.example/x/"},
		"a name that gives no slug gives no key": {"work_item", map[string]string{"name": "!!!"}, ""},
		"an item that exists by its identifier":  {"work_item", map[string]string{"identifier": "WEB-7"}, "web-7"},
		"a request by its title":                 {"customer_request", map[string]string{"title": "Single sign-on"}, "single-sign-on"},
	} {
		got, ok := resource.MustLookup(tt.kind).DefaultKey(func(f string) string { return tt.text[f] })
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: got %q, %v", name, got, ok)
		}
	}
}

func TestTheAddressOfMembersIsNotAnObjectAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[resource.Address][3]string{
		"cycle/web/s1#work_items":                                {"cycle/web/s1", "cycle_work_item", "cycle/web/s1#work_items"},
		"cycle/web/Sprint #4#work_items.12":                      {"cycle/web/Sprint #4", "cycle_work_item", "cycle/web/Sprint #4#work_items"},
		"work_item/web/a#blocking":                               {"work_item/web/a", "work_item_blocking", "work_item/web/a#blocking"},
		"work_item/web/a":                                        {},
		"link/web/a/https://example.com/docs#work_items":         {},
		"link/web/a/https://example.com/docs#section.2":          {},
		"cycle/web/s1#projects":                                  {},
		resource.Address("initiative/q1").Members("projects", 3): {"initiative/q1", "initiative_project", "initiative/q1#projects"},
	} {
		container, kind, first, ok := address.ParseMembership()
		got := [3]string{string(container), "", string(first)}
		if kind != nil {
			got[1] = kind.Name
		}
		if got != want || ok != (kind != nil) {
			t.Errorf("%s: %q", address, got)
		}
	}
}

func TestAnIDIsAUUIDInEitherCase(t *testing.T) {
	t.Parallel()
	const id = "8a234ec6-0b1f-4c1e-9d7e-0123456789ab"
	for text, want := range map[string]bool{
		id: true, strings.ToUpper(id): true, id[1:]: false, strings.Replace(id, "-", "_", 1): false, "g" + id[1:]: false, "": false,
	} {
		if resource.IsID(text) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
	if got := (resource.Row{"id": strings.ToUpper(id)}).ID(); got != id {
		t.Errorf("got %s", got)
	}
}

func TestEachObjectHasItsOwnExternalID(t *testing.T) {
	t.Parallel()
	short := resource.ExternalID("acme", "work_item/web/checkout")
	if short != "acme/work_item/web/checkout" {
		t.Errorf("got %s", short)
	}
	long := resource.Address("work_item/web/" + strings.Repeat("x", 300))
	if m := resource.ExternalID("acme", long); len(m) > 255 || m == resource.ExternalID("acme", long+"x") {
		t.Errorf("got %s", m)
	}
	marks := resource.Marks{Workspace: "acme", Owner: "platform"}
	for why, tt := range map[string]struct {
		source string
		want   bool
	}{
		"the owner's":               {"planform/platform", true},
		"another owner's":           {"planform/mobile", false},
		"of a manifest without one": {"planform", false},
		"another program's":         {"jira", false},
		"no source at all":          {"", false},
	} {
		if row := (resource.Row{"external_source": tt.source, "external_id": short}); marks.On(row, "work_item/web/checkout") != tt.want {
			t.Errorf("%s: want %v", why, tt.want)
		}
	}
}

func TestAParameterCannotReachAnotherPath(t *testing.T) {
	t.Parallel()
	op, _ := resource.MustLookup("link").Op(resource.Create, resource.Documented)
	path, missing := op.Expand(map[string]string{"workspace_slug": "acme", "project_id": "../x?y#z", "work_item_id": "%2e%2e"})
	if want := "/api/v1/workspaces/acme/projects/..%2Fx%3Fy%23z/work-items/%252e%252e/links/"; path != want || missing != "" {
		t.Errorf("got %s, %s", path, missing)
	}
	for _, bad := range []string{"", ".", ".."} {
		if _, missing := op.Expand(map[string]string{"workspace_slug": "acme", "project_id": bad, "work_item_id": "x"}); missing != "project_id" {
			t.Errorf("%q is taken", bad)
		}
	}
}
