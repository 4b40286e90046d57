package provider_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/planner"
)

// fieldsOf returns the custom fields of an item as name=value, with options by name.
func (sv *service) fieldsOf(item string) string {
	names := map[any]any{}
	for _, row := range slices.Concat(sv.Rows("work_item_property_option"), sv.Rows("work_item")) {
		names[row["id"]] = row["name"]
	}
	for _, row := range sv.Rows("work_item_property") {
		names[row["id"]] = row["display_name"]
	}
	for _, row := range sv.Rows("user") {
		names[row["id"]] = row["email"]
	}
	fields := map[string]bool{}
	for _, row := range sv.Rows("work_item_property_value") {
		if names[row["issue"]] != item {
			continue
		}
		values, many := row["value"].([]any)
		if !many {
			values = []any{row["value"]}
		}
		var texts []string
		for _, v := range values {
			texts = append(texts, fmt.Sprint(cmp.Or(names[v], v)))
		}
		slices.Sort(texts)
		fields[fmt.Sprint(names[row["property"]], "=", strings.Join(texts, "+"))] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(fields)), "; ")
}

// apis returns a service for each API with more than the documented operations.
func apis(t *testing.T) map[string]*service {
	t.Helper()
	return map[string]*service{"v1": newService(t, resource.V1), "v2": newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud})}
}

const bugs = `projects: [{key: web, identifier: WEB, work_item_types: [{name: Bug, properties: [
  {name: Severity, type: option, options: [{name: Low, key: low}, High]},
  {name: Browsers, type: option, is_multi: true, options: [{name: Firefox}, {name: Safari}]},
  {name: Found in, type: text}, {name: Effort, type: decimal}, {name: Regression, type: boolean}, {name: Due, type: datetime},
  {name: Ticket, type: url}, {name: Reporter, type: relation, relation_type: user}, {name: Root, type: relation, relation_type: issue}]}],
  work_items: [%s]}]`

func TestCustomFieldsAreDefinedAndSet(t *testing.T) {
	t.Parallel()
	const definitions = 1 + 9 + 4
	all := `fields: {Severity: High, Browsers: [Safari, Firefox], Found in: "4.2", Effort: 2.50, Regression: true, Due: 2031-05-17, Ticket: "https://example.com/1", Reporter: bob@example.com, root: b}`
	values := "Browsers=Firefox+Safari; Due=2031-05-17; Effort=2.50; Found in=4.2; Regression=true; Reporter=bob@example.com; Root=Item B; Severity=High; Ticket=https://example.com/1"
	steps := []struct {
		items, want string
		v1, v2      int // write requests
		forget      bool
	}{
		{items: `{key: b, name: Item B}, {key: a, name: Item A, type: Bug, ` + all + `}`, want: values, v1: definitions + 2 + 9, v2: definitions + 2},
		{items: `{key: b, name: Item B}, {key: a, name: Item A, type: Bug}`, want: values},
		{
			items: `{key: b, name: Item B}, {key: a, name: Item A2, type: Bug, fields: {Severity: low, Browsers: [], Effort: null}}`, v1: 4, v2: 1,
			want: "Due=2031-05-17; Found in=4.2; Regression=true; Reporter=bob@example.com; Root=Item B; Severity=Low; Ticket=https://example.com/1",
		},
		{
			items: `{key: b, name: Item B}, {key: a, name: Item A2, type: Bug, fields: {Severity: High, Found in: "5"}}`, v1: 2, v2: 1,
			want: "Due=2031-05-17; Found in=5; Regression=true; Reporter=bob@example.com; Root=Item B; Severity=High; Ticket=https://example.com/1",
		},
		{
			items: `{key: b, name: Item B}, {key: a, name: Item A2, type: Bug, ignore_changes: [fields], fields: {Severity: Low}}`,
			want:  "Due=2031-05-17; Found in=5; Regression=true; Reporter=bob@example.com; Root=Item B; Severity=High; Ticket=https://example.com/1",
		},
		{ // the state is lost: the objects are adopted, and the service shows the wanted values
			items: `{key: b, name: Item B}, {key: a, name: Item A2, type: Bug, fields: {Severity: High, Found in: "5"}}`, forget: true,
			want: "Due=2031-05-17; Found in=5; Regression=true; Reporter=bob@example.com; Root=Item B; Severity=High; Ticket=https://example.com/1",
		},
		{ // API v2 drops its unsupported values first
			items: `{key: b, name: Item B}, {key: c, name: Item C, created_at: "2024-05-17T09:30:00Z", type: Bug, fields: {Effort: 1}}, {key: d, name: Item D, created_at: "2024-05-17T09:30:00Z", type: Bug, fields: {Effort: 1}}`,
			v1:    4, v2: 3, want: "Due=2031-05-17; Found in=5; Regression=true; Reporter=bob@example.com; Root=Item B; Severity=High; Ticket=https://example.com/1",
		},
	}
	for name, s := range apis(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, step := range steps {
				if step.forget {
					s.dir = t.TempDir()
				}
				a := s.apply(t, applying{manifest: fmt.Sprintf(bugs, step.items)})
				if got := s.fieldsOf("Item A") + s.fieldsOf("Item A2"); got != step.want || len(a.failed()) > 0 || len(a.warnings()) > 0 {
					t.Errorf("%s:\n%s\nwant\n%s\n%v %v %v", step.items, got, step.want, a.failed(), a.warnings(), a.reasons())
				}
				want := step.v1
				if name == "v2" {
					want = step.v2
				}
				if a.writes != want || a.plan.Summary.Requests != want {
					t.Errorf("%s: %d writes, %d planned, want %d", step.items, a.writes, a.plan.Summary.Requests, want)
				}
				if again := s.apply(t, applying{manifest: fmt.Sprintf(bugs, step.items)}); again.writes > 0 || !again.plan.Empty() {
					t.Errorf("%s: again %d writes, %+v", step.items, again.writes, again.plan.Summary)
				}
			}
			if got := s.fieldsOf("Item C") + s.fieldsOf("Item D"); got != "Effort=1Effort=1" {
				t.Error(got)
			}
		})
	}
}

func TestManyItemsShareRequestsWithTheirCustomFields(t *testing.T) {
	t.Parallel()
	var items []string
	for i := range 60 {
		items = append(items, fmt.Sprintf(`{key: i%d, name: Item %d, type: Bug, fields: {Severity: Low, Found in: "%d"}}`, i, i, i))
	}
	text := fmt.Sprintf(bugs, strings.Join(items, ", "))
	for name, want := range map[string]int{"v1": 14 + 60 + 120, "v2": 14 + 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apis(t)[name]
			a := s.apply(t, applying{manifest: text})
			if got := s.fieldsOf("Item 59"); a.writes != want || a.plan.Summary.Requests != want || a.plan.Summary.Create != 74 || a.plan.Summary.Update != 0 || got != "Found in=59; Severity=Low" {
				t.Errorf("%d writes, %+v, %s %v", a.writes, a.plan.Summary, got, a.failed())
			}
		})
	}
}

// TestCustomFieldsThatAPIV2LeavesOutAreSentByAPIV1 after the first item has shown it.
func TestCustomFieldsThatAPIV2LeavesOutAreSentByAPIV1(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud, IgnoreMembership: true})
	text := fmt.Sprintf(bugs, `{key: a, name: Item A, type: Bug, fields: {Severity: Low, Effort: 2}}, {key: b, name: Item B, type: Bug, fields: {Effort: 3}}`)
	a := s.apply(t, applying{manifest: text})
	if s.fieldsOf("Item A") != "Effort=2; Severity=Low" || s.fieldsOf("Item B") != "Effort=3" || len(a.failed()) > 0 || !strings.Contains(fmt.Sprint(a.fallbacks), "leaves out custom_fields") {
		t.Errorf("%s %s %v %v", s.fieldsOf("Item A"), s.fieldsOf("Item B"), a.failed(), a.fallbacks)
	}
	if again := s.apply(t, applying{manifest: text}); again.writes > 0 || !again.plan.Empty() {
		t.Errorf("again %d writes, %+v", again.writes, again.plan.Summary)
	}
	text = strings.ReplaceAll(text, "Effort:", "Found in:")
	if s.apply(t, applying{manifest: text}); s.fieldsOf("Item B") != "Effort=3; Found in=3" {
		t.Error(s.fieldsOf("Item B"))
	}
}

// TestCustomFieldsThatAPIV2LeavesOutAreNotHiddenByOneThatIsCleared, because a cleared value does not show whether values are stored.
func TestCustomFieldsThatAPIV2LeavesOutAreNotHiddenByOneThatIsCleared(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{Edition: sandbox.Cloud, IgnoreMembership: true})
	items := func(a, b string) string {
		return fmt.Sprintf(bugs, `{key: a, name: Item A, type: Bug, fields: {`+a+`}}, {key: b, name: Item B, type: Bug, fields: {`+b+`}}`)
	}
	s.apply(t, applying{manifest: items("Effort: 1, Found in: x", "Effort: 2")})
	s.apply(t, applying{manifest: items("Effort: null", "Effort: 3")})
	if s.fieldsOf("Item A") != "Found in=x" || s.fieldsOf("Item B") != "Effort=3" {
		t.Error("a value before: ", s.fieldsOf("Item A"), "; ", s.fieldsOf("Item B"))
	}
	s.apply(t, applying{manifest: items("Due: null", "Effort: 4")})
	if s.fieldsOf("Item B") != "Effort=4" {
		t.Error("none before: ", s.fieldsOf("Item B"))
	}
}

// TestWithoutCustomFieldsTheRestIsDone, because the plan knows whether the edition has them.
func TestWithoutCustomFieldsTheRestIsDone(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V1, sandboxtest.Options{Edition: sandbox.Community})
	text := fmt.Sprintf(bugs, `{key: a, name: Item A, fields: {Severity: Low, Effort: 2}, type: Bug}`)
	a := s.apply(t, applying{manifest: text})
	if len(a.failed()) > 0 || a.writes != 1 || s.named("work_item", "Item A") != 1 {
		t.Errorf("%d writes, %v", a.writes, a.failed())
	}
	for _, step := range a.plan.Steps {
		if step.Action == planner.NotPossible && step.Cause.Objects != "work item types" {
			t.Errorf("%s: %q", step.Address, step.Cause.Objects)
		}
	}
	if again := s.apply(t, applying{manifest: text}); again.writes > 0 {
		t.Errorf("again %d writes", again.writes)
	}
}

// TestAValueThatIsRefusedAffectsNothingElse: API v2 gets the item without the value.
func TestAValueThatIsRefusedAffectsNothingElse(t *testing.T) {
	t.Parallel()
	for name, s := range apis(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := fmt.Sprintf(bugs, `{key: b, name: Item B, type: Bug, fields: {Effort: 2}}, {key: a, name: Item A, type: Bug, fields: {Severity: Low, Due: 2031-02-31}}`)
			a := s.apply(t, applying{manifest: text})
			said := strings.Join(a.failed(), "") + fmt.Sprint(a.warnings())
			if s.named("work_item", "Item A") != 1 || s.fieldsOf("Item A") != "Severity=Low" || s.fieldsOf("Item B") != "Effort=2" || !strings.Contains(said, "wrong format") {
				t.Errorf("%s %s %s", s.fieldsOf("Item A"), s.fieldsOf("Item B"), said)
			}
			if again := s.apply(t, applying{manifest: text}); again.plan.Summary.Requests == 0 {
				t.Error("it counts as set")
			}
		})
	}
}

const twoTypes = `projects: [{key: web, identifier: WEB, work_item_types: [
  {name: Bug, properties: [{name: Found in, key: found, type: text}, {name: Level, key: level, type: option, options: [Low]}]},
  {name: Task, properties: [{name: Seen in, key: found, type: text}]}],
  work_items: [{key: a, name: Item A, type: %s}]}]`

// TestValuesAreSentToThePropertyThatIsThere, because a value belongs to one property: another property with the same key has no value yet.
func TestValuesAreSentToThePropertyThatIsThere(t *testing.T) {
	t.Parallel()
	for name, s := range apis(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bug := fmt.Sprintf(twoTypes, `Bug, fields: {found: "4", level: Low}`)
			s.apply(t, applying{manifest: bug})
			for _, row := range s.Rows("work_item_property") {
				if row["display_name"] != "Seen in" {
					s.otherUser(t, "DELETE", fmt.Sprintf("projects/%v/work-item-types/%v/work-item-properties/%v/", row["project"], row["issue_type"], row["id"]), "")
				}
			}
			if s.apply(t, applying{manifest: bug}); s.fieldsOf("Item A") != "Found in=4; Level=Low" {
				t.Errorf("created again: %s", s.fieldsOf("Item A"))
			}
			task := fmt.Sprintf(twoTypes, `Task, fields: {found: "4"}`)
			if s.apply(t, applying{manifest: task}); !strings.Contains(s.fieldsOf("Item A"), "Seen in=4") {
				t.Errorf("of another type: %s", s.fieldsOf("Item A"))
			}
			if again := s.apply(t, applying{manifest: task}); again.writes > 0 {
				t.Errorf("again %d writes", again.writes)
			}
		})
	}
}

// TestAChangeByPeopleToACustomFieldIsFoundUnlessThatTakesManyReads, because no list shows values. A plan that does not read them says so.
func TestAChangeByPeopleToACustomFieldIsFoundUnlessThatTakesManyReads(t *testing.T) {
	t.Parallel()
	const values = `type: Bug, fields: {Severity: High, Browsers: [Safari, Firefox], Found in: "4.2", Effort: 2.50, Regression: true,
		Due: 2031-05-17 10:00:00, Reporter: bob@example.com, Root: b, Ticket: null}}`
	text := fmt.Sprintf(bugs, `{key: b, name: Item B}, {key: a, name: Item A, `+values)
	many := strings.Replace(text, "{key: b, name: Item B}", "{key: b, name: Item B}, {key: c, name: Item C, "+values+", {key: d, name: Item D, "+values, 1)
	for name, s := range apis(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.apply(t, applying{manifest: text})
			want := s.fieldsOf("Item A")
			if again := s.apply(t, applying{manifest: text}); len(again.plan.NotCompared) > 0 || again.writes > 0 || !again.plan.Empty() {
				t.Errorf("%d writes, not compared: %+v", again.writes, again.plan.NotCompared)
			}
			ids := map[any]any{}
			for _, kind := range []string{"work_item", "work_item_property", "work_item_property_option", "member"} {
				for _, row := range s.Rows(kind) {
					ids[cmp.Or(row["display_name"], row["name"])] = row["id"]
				}
			}
			changes := map[string]string{
				"Severity": fmt.Sprintf("%q", ids["Low"]), "Browsers": fmt.Sprintf("[%q]", ids["Safari"]), "Found in": `"5"`, "Effort": "3", "Regression": "false",
				"Due": `"2031-05-18 10:00:00"`, "Reporter": fmt.Sprintf("%q", ids["ada"]), "Root": fmt.Sprintf("%q", ids["Item A"]), "Ticket": `"https://example.com/2"`,
			}
			for property, value := range changes {
				s.otherUser(t, "POST", fmt.Sprintf("projects/%s/work-items/%s/work-item-properties/%s/values/", sandboxtest.ProjectWeb, ids["Item A"], ids[property]), `{"value": `+value+`}`)
			}
			if s.fieldsOf("Item A") == want {
				t.Fatal("nobody changed anything")
			}
			restored := s.apply(t, applying{manifest: text})
			drifted := 0
			for _, d := range restored.plan.Drift {
				if resource.IsCustomName(d.Change.Path) {
					drifted++
				}
			}
			if got := s.fieldsOf("Item A"); got != want || drifted != len(changes) {
				t.Errorf("%d of %d changes are seen: %s", drifted, len(changes), got)
			}
			s.apply(t, applying{manifest: many})
			items := []resource.Address{"work_item/web/a", "work_item/web/c", "work_item/web/d"}
			unseen := []planner.NotCompared{{
				Kind: "work_item", Field: "fields", Count: 3, What: "values of custom fields of 3 work items", Why: "reading them takes more than 20 requests",
				Hint: "--refresh-all reads them", Addresses: items, All: items,
			}}
			if name == "v2" { // one read shows all fields of an item
				unseen = nil
			}
			for _, all := range []bool{false, true} {
				again := s.apply(t, applying{manifest: many, all: all})
				if all {
					unseen = nil
				}
				if again.writes > 0 || !again.plan.Empty() || !reflect.DeepEqual(again.plan.NotCompared, unseen) {
					t.Errorf("all %t: again %d writes, %+v", all, again.writes, again.plan.NotCompared)
				}
			}
			s.dir = t.TempDir() // the state is lost: values that were read need not be sent again
			if adopted := s.apply(t, applying{manifest: text, all: true}); adopted.writes > 0 {
				t.Errorf("adopted with %d writes", adopted.writes)
			}
		})
	}
}

// propertiesOf returns the properties of a customer as name=value.
func (sv *service) propertiesOf(customer string) string {
	names := map[any]any{}
	for _, kind := range []string{"customer", "work_item", "customer_property_option"} {
		for _, row := range sv.Rows(kind) {
			names[row["id"]] = row["name"]
		}
	}
	for _, row := range sv.Rows("customer_property") {
		names[row["id"]] = row["display_name"]
	}
	for _, row := range sv.Rows("user") {
		names[row["id"]] = row["email"]
	}
	var all []string
	for _, row := range sv.Rows("customer_property_value") {
		if names[row["customer"]] == customer {
			var texts []string
			for _, v := range row["values"].([]any) {
				texts = append(texts, fmt.Sprint(cmp.Or(names[v], v)))
			}
			slices.Sort(texts)
			all = append(all, fmt.Sprint(names[row["property"]], "=", strings.Join(texts, "+")))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// TestChangedChoicesOfCustomersKeepTheValuesThatUseThem changes the choices of a property, on a service that deletes
// choices missing from a request, together with the values that use them.
func TestChangedChoicesOfCustomersKeepTheValuesThatUseThem(t *testing.T) {
	t.Parallel()
	const manifest = `customer_properties: [{name: Plan, type: option, options: [%s]}, {name: Regions, type: option, is_multi: true, options: [North, South]}]
customers: [{name: Hooli, properties: {%s}}]`
	steps := []struct {
		choices, values, want string
		writes                int
		forget                bool
	}{
		{choices: "Free, Paid", values: "Plan: Paid, Regions: [South, North]", want: "Plan=Paid; Regions=North+South", writes: 2 + 4 + 1 + 2},
		{choices: "Free, Paid, {name: Trial, description: A month}", values: "Plan: Paid", want: "Plan=Paid; Regions=North+South", writes: 1},
		{choices: "Free, Paid, {name: Trial, description: Two weeks}", values: "Plan: Trial, Regions: [North]", want: "Plan=Trial; Regions=North", writes: 1 + 2},
		{choices: "{key: free, name: Open}, Paid", values: "Plan: Open", want: "Plan=Open; Regions=North", writes: 1 + 1},
		{choices: "{key: free, name: Open}, Paid", values: "Plan: free, Regions: []", want: "Plan=Open", writes: 1, forget: true}, // adopted, and Plan has the wanted value
	}
	for name, s := range apis(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, step := range steps {
				if step.forget {
					s.dir = t.TempDir()
				}
				text := fmt.Sprintf(manifest, step.choices, step.values)
				a := s.apply(t, applying{manifest: text})
				if got := s.propertiesOf("Hooli"); got != step.want || len(a.failed()) > 0 || len(a.warnings()) > 0 || a.writes != step.writes {
					t.Errorf("%s, %s: %d writes\n%s\nwant %d\n%s\n%v %v %v", step.choices, step.values, a.writes, got, step.writes, step.want, a.failed(), a.warnings(), a.reasons())
				}
				if again := s.apply(t, applying{manifest: text}); again.writes > 0 || !again.plan.Empty() {
					t.Errorf("%s: again %d writes, %+v", step.choices, again.writes, again.plan.Summary)
				}
			}
			if got := len(s.Rows("customer_property_option")); got != 5 {
				t.Errorf("%d choices", got)
			}
		})
	}
}

// TestAServiceThatShowsNoChoicesIsReported, because unreadable choices are not written. The next plan says why.
func TestAServiceThatShowsNoChoicesIsReported(t *testing.T) {
	t.Parallel()
	const text = `{version: 1, customer_properties: [{name: Plan, type: option, options: [Free, Paid]}], customers: [{name: Hooli, properties: {Plan: Free}}]}`
	s := newService(t, resource.V1)
	s.replying = func(_ *http.Request, row map[string]any) { delete(row, "options") }
	if failed := fmt.Sprint(s.apply(t, applying{manifest: text}).failed()); strings.Count(failed, `the answer has no list "options"`) != 2 {
		t.Error(failed)
	}
	again := s.apply(t, applying{manifest: text})
	if why := again.reasons()["customer_property_option/plan/free"]; why != "this edition of the service has no customer property options" || again.writes > 0 {
		t.Error(again.reasons(), again.writes)
	}
	if n := len(s.Rows("customer_property_option")); n != 0 {
		t.Error(n)
	}
}

func TestPropertiesOfCustomersAreDefinedAndSet(t *testing.T) {
	t.Parallel()
	const manifest = `projects: [{key: web, identifier: WEB, work_items: [{key: b, name: Item B}]}]
customer_properties: [{name: Tier, type: text}, {name: Seats, type: decimal}, {name: Partner, type: boolean}, {name: Since, type: datetime},
  {name: Owners, type: relation, relation_type: user, is_multi: true}, {name: Wish, type: relation, relation_type: issue}, {name: Site, type: url}]
customers: [{name: Hooli%s}]`
	const all = `, properties: {Tier: Gold, Seats: 2.50, Partner: true, Since: 2031-05-17, Owners: [bob@example.com, ada@example.com], Wish: web/b, Site: "https://example.com"}`
	steps := []struct {
		customer, want string
		writes         int
		forget         bool
	}{
		{customer: all, want: "Owners=ada@example.com+bob@example.com; Partner=True; Seats=2.50; Since=2031-05-17; Site=https://example.com; Tier=Gold; Wish=Item B", writes: 1 + 6 + 1 + 7}, // a property exists
		{customer: ``, want: "Owners=ada@example.com+bob@example.com; Partner=True; Seats=2.50; Since=2031-05-17; Site=https://example.com; Tier=Gold; Wish=Item B"},
		{customer: `, stage: lead, properties: {tier: Silver, Owners: [], Partner: false, Seats: null, Site: null, Wish: null}`, want: "Partner=False; Since=2031-05-17; Tier=Silver", writes: 1 + 6},
		{customer: `, properties: {Tier: Gold}`, want: "Partner=False; Since=2031-05-17; Tier=Gold", writes: 1},
		{customer: `, properties: {Tier: Gold}`, want: "Partner=False; Since=2031-05-17; Tier=Gold", forget: true}, // adopted, with the wanted values
		{customer: `, ignore_changes: [properties], properties: {Tier: Bronze}`, want: "Partner=False; Since=2031-05-17; Tier=Gold"},
	}
	for name, s := range apis(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, step := range steps {
				if step.forget {
					s.dir = t.TempDir()
				}
				text := fmt.Sprintf(manifest, step.customer)
				a := s.apply(t, applying{manifest: text})
				if got := s.propertiesOf("Hooli"); got != step.want || len(a.failed()) > 0 || len(a.warnings()) > 0 || a.writes != step.writes || a.plan.Summary.Requests != step.writes {
					t.Errorf("%s: %d writes\n%s\nwant %d\n%s\n%v %v %v", step.customer, a.writes, got, step.writes, step.want, a.failed(), a.warnings(), a.reasons())
				}
				if again := s.apply(t, applying{manifest: text}); again.writes > 0 || !again.plan.Empty() {
					t.Errorf("%s: again %d writes, %+v", step.customer, again.writes, again.plan.Summary)
				}
			}
		})
	}
}
