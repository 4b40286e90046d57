package resource_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
)

// eachKind checks every descriptor.
func eachKind(t *testing.T, check func(t *testing.T, k *resource.Kind)) {
	t.Helper()
	for _, k := range resource.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			check(t, k)
		})
	}
}

// ancestors returns the kinds that contain a kind, innermost first.
func ancestors(k *resource.Kind) []*resource.Kind {
	var up []*resource.Kind
	for k.Parent != "" {
		k = resource.MustLookup(k.Parent)
		up = append(up, k)
	}
	return up
}

func TestKindsComeAfterTheirDependencies(t *testing.T) {
	t.Parallel()
	ranks := map[int]string{}
	for _, k := range resource.Kinds() {
		if other, twice := ranks[resource.Order(k.Name)]; twice {
			t.Errorf("%s and %s have one rank", other, k.Name)
		}
		ranks[resource.Order(k.Name)] = k.Name
		needs := []string{k.Parent}
		if m := k.Membership; m != nil {
			needs = append(needs, m.Container, m.Member)
		}
		for i := range k.Fields {
			// Fields of memberships can come later; objects of one kind are ordered individually.
			if f := &k.Fields[i]; f.IsRef() && !f.Virtual && f.Ref != k.Name && resource.MustLookup(f.Ref).Parent != k.Name {
				needs = append(needs, f.Ref)
			}
		}
		for _, n := range needs {
			if n != "" && resource.Order(n) >= resource.Order(k.Name) {
				t.Errorf("%s comes before %s, which it needs", k.Name, n)
			}
		}
	}
}

func TestEveryFieldIsFullyDescribed(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, k *resource.Kind) {
		t.Helper()
		seen := map[string]bool{}
		for i := range k.Fields {
			f := &k.Fields[i]
			switch {
			case seen[f.Name]:
				t.Errorf("%s is there twice", f.Name)
			case f.Doc == "":
				t.Errorf("%s has no words for people", f.Name)
			case f.IsRef() != (f.Ref != ""):
				t.Errorf("%s: the type and the kind that it names do not fit", f.Name)
			case f.Type == resource.Enum && len(f.Enum) == 0, len(f.Enum) > 0 && f.Type != resource.Enum && f.Type != resource.EnumSet:
				t.Errorf("%s: the type and the values do not fit", f.Name)
			case f.Virtual && (f.APIName() != "" || f.Documented):
				t.Errorf("%s is never sent and has a name to send", f.Name)
			case !f.Virtual && f.APIName() == "":
				t.Errorf("%s has no name to send", f.Name)
			}
			seen[f.Name] = true
			if f.NotBefore != "" {
				if other, ok := k.Field(f.NotBefore); !ok || other.Type != resource.Date || f.Type != resource.Date {
					t.Errorf("%s: %s is no date", f.Name, f.NotBefore)
				}
			}
			anchored(t, f.Pattern)
			switch {
			case f.ArchiveFlag && (f.Type != resource.Boolean || !offers(k, resource.Archive, resource.Unarchive)):
				t.Errorf("%s cannot be made true", f.Name)
			case f.Max > 0 && f.Type != resource.Number:
				t.Errorf("%s is no number", f.Name)
			case f.Codes != nil && (f.Type != resource.Enum || len(f.Codes) != len(f.Enum)):
				t.Errorf("%s has other values than codes", f.Name)
			case f.SetAfterCreate && (f.Immutable || f.Required):
				t.Errorf("%s cannot come late", f.Name)
			case f.IsLiteral != nil && !f.IsRef():
				t.Errorf("%s names nothing", f.Name)
			}
			if f.MustBeMemberOf != "" {
				if among, ok := resource.Lookup(f.MustBeMemberOf); !ok || among.Membership == nil || among.Membership.Member != f.Ref {
					t.Errorf("%s: %s is no membership of what it names", f.Name, f.MustBeMemberOf)
				}
			}
			if !f.IsRef() {
				continue
			}
			to, ok := resource.Lookup(f.Ref)
			if !ok {
				t.Errorf("%s names objects of an unknown kind", f.Name)
				continue
			}
			// The target is looked up in one of the ancestors.
			if within := to.NamedWithin(); within != "" && !f.CrossProject && !slices.ContainsFunc(append(ancestors(k), k), func(a *resource.Kind) bool { return a.Name == within }) {
				t.Errorf("%s names a %s, which lives in a %s", f.Name, to.Name, to.Parent)
			}
			if _, via := resource.MembershipOf(k.Name, f.Name); f.Virtual && !via {
				t.Errorf("%s is neither sent nor a membership", f.Name)
			}
		}
	})
}

func offers(k *resource.Kind, verbs ...resource.Verb) bool {
	return !slices.ContainsFunc(verbs, func(v resource.Verb) bool {
		_, ok := k.Op(v, resource.V1)
		return !ok
	})
}

func anchored(t *testing.T, pattern string) {
	t.Helper()
	if pattern == "" {
		return
	}
	if _, err := regexp.Compile(pattern); err != nil || !strings.HasPrefix(pattern, "^") || !strings.HasSuffix(pattern, "$") {
		t.Errorf("pattern %q: %v", pattern, err)
	}
}

func TestEveryKindIsFullyDescribed(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, k *resource.Kind) {
		t.Helper()
		if k.Doc == "" {
			t.Error("no words for people")
		}
		isText := func(name string) bool {
			f, ok := k.Field(name)
			names := ok && f.Type == resource.Ref && f.Required && f.Immutable // such a reference identifies an object too
			return names || ok && !f.IsRef() && !f.Rich() || name == "identifier" && k.Identifier != nil
		}
		for _, name := range slices.Concat(k.KeyFrom, k.NaturalKey) {
			if !isText(name) {
				t.Errorf("%s is no text that identifies an object", name)
			}
		}
		if k.Section != "" && (k.Example == "" || len(k.KeyFrom) == 0 && len(k.NaturalKey) > 0) {
			t.Error("a manifest lists such objects and needs an example and a key")
		}
		if len(k.Predefined) > 0 && (len(k.NaturalKey) == 0 || k.Parent == "") {
			t.Error("what a parent has from the start is known by a name")
		}
		if k.RequiresFeature != "" {
			if _, f := k.Switch(); f == nil || f.Type != resource.Boolean {
				t.Errorf("%s is nothing that a %s can have switched on", k.RequiresFeature, k.Parent)
			}
		}
		if f := k.UsedIn(); f != nil && !f.SetAfterCreate {
			t.Errorf("a %s does not name the %s that it uses, once that is there", k.Parent, k.Name)
		}
		if k.ParentField != "" {
			if f, ok := k.Field(k.ParentField); !ok || f.Ref != k.Name || f.Type != resource.Ref {
				t.Errorf("%s does not name one of its own kind", k.ParentField)
			}
		}
		if k.Identifier != nil {
			anchored(t, k.Identifier.Pattern)
		}
		if k.Parent != "" {
			if _, ok := resource.Lookup(k.Parent); !ok {
				t.Errorf("it lives in an unknown kind %s", k.Parent)
			}
		}
	})
}

func TestEveryOperationCanBeFilledIn(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, k *resource.Kind) {
		t.Helper()
		params := map[string]string{"workspace_slug": "acme"}
		around := append(ancestors(k), k)
		if m := k.Membership; m != nil {
			around = []*resource.Kind{resource.MustLookup(m.Container), resource.MustLookup(m.Member)}
			around = append(around, ancestors(around[0])...)
			params[m.MemberParam()] = m.Member
		}
		for _, a := range around {
			params[a.Param] = a.Name
		}
		params["identifier"] = "WEB-7"
		for _, of := range resource.Kinds() { // the kinds with custom fields that it defines
			if f, ok := of.CustomFields(); ok && f.DefinedBy == k.Name {
				params[of.Param] = of.Name
			}
		}
		seen := map[resource.Verb]bool{}
		v1 := map[resource.Verb]bool{}
		for i := range k.Operations {
			o := &k.Operations[i]
			if _, missing := o.Expand(params); missing != "" {
				t.Errorf("%s: nothing fills %s", o, missing)
			}
			if o.Kind != k.Name || (o.Scope == "") != o.Public() || o.Success < 200 || o.Success > 299 {
				t.Errorf("%s: %+v", o, o)
			}
			if o.Writes() == (o.Verb == resource.List || o.Verb == resource.Get || o.Verb == resource.Find || o.Verb == resource.ListMembers || o.Verb == resource.ListArchived || o.Verb == resource.Self || o.Verb == resource.Summary || o.Verb == resource.ListOverview || o.Verb == resource.ProbeV2 || o.Verb == resource.DescribeV2 || o.Verb == resource.Download || o.Verb == resource.GetValue || o.Verb == resource.GetFields || o.Verb == resource.ListNames || o.Verb == resource.ListLite || o.Public()) {
				t.Errorf("%s: method and verb do not fit", o)
			}
			if seen[o.Verb] && (o.V2() || v1[o.Verb]) { // API v1 uses its first one
				t.Errorf("%s: a second operation for the verb is never used", o)
			}
			seen[o.Verb], v1[o.Verb] = true, v1[o.Verb] || !o.V2()
		}
	})
}

func TestEveryMembershipIsFullyDescribed(t *testing.T) {
	t.Parallel()
	for _, k := range resource.Memberships() {
		m := k.Membership
		f, ok := resource.MustLookup(m.On).Field(m.Field)
		if !ok || m.On != m.Container && m.On != m.Member {
			t.Fatalf("%s: %s has no field %s", k.Name, m.On, m.Field)
		}
		other := m.Member
		if m.On == m.Member {
			other = m.Container
		}
		batch := 100
		if add, ok := k.Op(resource.AddMembers, resource.V1); ok && add.OneAtATime {
			batch = 1
		}
		if inverse, ok := resource.Lookup(m.Inverse); ok != (m.Inverse != "") || ok && inverse.Membership.Inverse != k.Name {
			t.Errorf("%s is not what %s says from the other side", m.Inverse, k.Name)
		}
		if f.Ref != other || m.Batch != batch || m.IDField == "" || m.Body == "" {
			t.Errorf("%s: %+v", k.Name, m)
		}
		if via, ok := resource.MembershipOf(m.On, m.Field); !ok || via != k {
			t.Errorf("%s is not found by its field", k.Name)
		}
		for _, v := range []resource.Verb{resource.AddMembers, resource.ListMembers, resource.RemoveMembers} {
			unlisted := v == resource.ListMembers && k.Name == "release_work_item"                                                    // the service shows it nowhere
			if _, ok := k.Op(v, resource.V2); ok == (unlisted || v == resource.RemoveMembers && k.Name == "project_work_item_type") { // a project cannot remove it
				t.Errorf("%s lacks an operation", k.Name)
			}
		}
	}
}

func TestAFieldIsSentInABodyOrSetByAMembership(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		kind, field string
		api         resource.API
		want        bool
	}{
		"a cycle is always a membership":                    {"work_item", "cycle", resource.Documented, true},
		"a module is one under the wider API":               {"work_item", "module", resource.V1, true},
		"a module is a field of the documented service":     {"work_item", "module", resource.Documented, false},
		"the parent is a field":                             {"work_item", "parent", resource.V1, false},
		"projects of a teamspace are documented as members": {"teamspace", "projects", resource.Documented, true},
	} {
		k := resource.MustLookup(tt.kind)
		f, _ := k.Field(tt.field)
		if got := k.ViaMembership(f, tt.api); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
