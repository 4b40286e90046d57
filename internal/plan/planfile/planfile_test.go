package planfile_test

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/plan/target"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// plan returns a document of lines such as "work_item/web/a update priority low high"; update:ID gives the object's ID.
func plan(lines ...string) *planfile.Document {
	d := &planfile.Document{BaseURL: "https://api.plane.so", Workspace: "acme"}
	for _, line := range lines {
		words := strings.Fields(line)
		action, id, given := strings.Cut(words[1], ":")
		s := planfile.Step{Action: action}
		if given {
			s.ID = &id
		}
		s.Address = address(words[0])
		for i := 2; i+2 < len(words); i += 3 {
			c := planfile.Change{Path: words[i], Before: changeValue(words[i+1]), After: changeValue(words[i+2]), Origin: "manifest"}
			if strings.HasPrefix(words[i+1], "!") {
				c.Before, c.Origin = words[i+1][1:], "drift"
			}
			s.Changes = append(s.Changes, c)
		}
		d.Steps = append(d.Steps, s)
	}
	return d
}

func changeValue(word string) any {
	switch {
	case word == "-":
		return nil
	case strings.Contains(word, ","):
		return strings.Split(strings.Trim(word, ","), ",")
	default:
		return word
	}
}

func TestAPlanIsStaleIfItsBasisChanged(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		saved, now *planfile.Document
		done       string // what an earlier run of the plan wrote; "-" = nothing
		sent       string // the object for which an earlier run announced an update without an outcome
		want       []string
	}{
		"nothing changed": {
			saved: plan("work_item/web/a update priority low high", "work_item/web/b create name - B", "cycle/web/c#work_items add_members cycle - work_item/web/a,work_item/web/b"),
			now:   plan("work_item/web/a update priority low high", "work_item/web/b create name - B", "cycle/web/c#work_items add_members cycle - work_item/web/a,work_item/web/b"),
		},
		"somebody changed a field that the plan changes": {
			saved: plan("work_item/web/a update priority low high"), now: plan("work_item/web/a update priority !urgent high"),
			want: []string{`priority of work_item/web/a: planned "low" -> "high", now "urgent" -> "high"`},
		},
		"somebody changed a field that the plan leaves alone": {
			saved: plan("work_item/web/a update priority low high"), now: plan("work_item/web/a update priority low high state !Done Todo"),
			want: []string{`state of work_item/web/a: planned nothing, now "Done" -> "Todo"`},
		},
		"somebody made the planned change by hand": {
			saved: plan("work_item/web/a update priority low high", "label/web/x create name - x"), now: plan(),
			want: []string{
				"label/web/x: planned create, now nothing",
				`work_item/web/a: planned update (priority "low" -> "high"), now nothing`,
			},
		},
		"the parent that a later step sets exists already": {
			saved: plan("work_item/web/a create name - A", "work_item/web/b create name - B", "work_item/web/b update parent - work_item/web/a"),
			now:   plan("work_item/web/b create name - B parent - work_item/web/a"), done: "work_item/web/a",
		},
		"somebody created an object with the planned name": {
			saved: plan("label/web/x create name - x"), now: plan("label/web/x adopt"),
			want: []string{"label/web/x: planned create, now adopt"},
		},
		"the manifest gives another value and deletes an object": {
			saved: plan("work_item/web/a update labels - x,y"), now: plan("work_item/web/a update labels - x,z", "work_item/web/b delete"),
			want: []string{
				`labels of work_item/web/a: planned nothing -> "x, y", now nothing -> "x, z"`,
				"work_item/web/b: planned nothing, now delete",
			},
		},
		"the manifest has another order": {
			saved: plan("work_item/web/a create name - A", "work_item/web/b create name - B"), now: plan("work_item/web/b create name - B", "work_item/web/a create name - A"),
			want: []string{"order of work_item/web/b: planned after work_item/web/a, now before it, and the service numbers what it creates"},
		},
		"the manifest adds other members": {
			saved: plan("cycle/web/c#work_items add_members cycle - work_item/web/a,work_item/web/b"), now: plan("cycle/web/c#work_items add_members cycle - work_item/web/b,work_item/web/c"),
			want: []string{
				"add members of cycle/web/c: planned work_item/web/a, now work_item/web/c",
			},
		},
		"steps that are not possible may differ": {
			saved: plan("page/a not_possible", "label/web/x create name - x"), now: plan("page/b not_possible", "label/web/x create name - x"),
		},
		"an earlier run did a part of the plan": {
			saved: plan("label/web/x create name - x", "work_item/web/a update priority low high", "work_item/web/b create name - B", "page/p delete",
				"cycle/web/c#work_items add_members cycle - work_item/web/a,work_item/web/b"),
			now:  plan("work_item/web/b create name - B", "cycle/web/c#work_items add_members cycle - work_item/web/b,"),
			done: "label/web/x work_item/web/a cycle/web/c#work_items",
		},
		"an earlier run did a step, and somebody changed the object again": {
			saved: plan("work_item/web/a update priority low high"), now: plan("work_item/web/a update priority !urgent high"), done: "work_item/web/a",
			want: []string{`priority of work_item/web/a: planned "low" -> "high", now "urgent" -> "high"`},
		},
		"an earlier run may have done a step": {
			saved: plan("work_item/web/a update priority low high"), now: plan("work_item/web/a update priority low high"), sent: "work_item/web/a",
		},
		"an earlier run may have done a step, and somebody changed the object": {
			saved: plan("work_item/web/a update priority low high name A B"), now: plan("work_item/web/a update priority urgent high name A B"), sent: "work_item/web/a",
			want: []string{`priority of work_item/web/a: planned "low" -> "high", now "urgent" -> "high"`},
		},
		"an earlier run may have created an object, and some steps are left": {
			saved: plan("work_item/web/a create name - A priority - high"), now: plan("work_item/web/a update priority none high"), sent: "work_item/web/a",
		},
		"an earlier run did a step, and the service dropped a field": {
			saved: plan("work_item/web/a create name - A priority - high"), now: plan("work_item/web/a update priority none high"), done: "work_item/web/a",
		},
		"an earlier run did a step, and the manifest changed": {
			saved: plan("work_item/web/a create name - A priority - high"), now: plan("work_item/web/a update priority high low", "work_item/web/b create name - B"), done: "work_item/web/a",
			want: []string{
				`priority of work_item/web/a: planned nothing -> "high", now "high" -> "low"`,
				"work_item/web/b: planned nothing, now create",
			},
		},
		"an earlier run did a step, and the manifest now means another object": {
			saved: plan("work_item/web/a update:1 priority low high"), now: plan("work_item/web/a update:2 priority low high"), done: "work_item/web/a",
			want: []string{"id of work_item/web/a: planned 1, now 2"},
		},
		"an earlier run did a step, and somebody deleted the object": {
			saved: plan("label/web/x update:1 name x y"), now: plan("label/web/x create name - y"), done: "label/web/x",
			want: []string{"id of label/web/x: planned 1, now nothing"},
		},
		"an earlier run sent a create without an answer": {
			saved: plan("label/web/x create name - x"), now: plan("label/web/x adopt"), done: "label/web/x",
		},
		"somebody did a step that an earlier run had not reached": {
			saved: plan("label/web/x create name - x", "label/web/y create name - y"), now: plan("label/web/y adopt"), done: "label/web/x",
			want: []string{"label/web/y: planned create, now adopt"},
		},
		"an earlier run created a project with its predefined states": {
			saved: plan("project/new create name - New", "state/new/Todo create name - Todo"), now: plan("state/new/Todo adopt"), done: "project/new",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var earlier *planfile.Run
			if tt.done != "" {
				earlier = &planfile.Run{Since: began, Prior: planner.Prior{"page/old": {Address: "page/old", AppliedAt: began.Add(-time.Hour)}}}
				for word := range strings.FieldsSeq(tt.done) {
					earlier.Prior[address(word)] = planner.Record{Address: address(word), AppliedAt: began.Add(time.Second)}
				}
			}
			if tt.sent != "" {
				earlier = &planfile.Run{Since: began, Prior: planner.Prior{address(tt.sent): {Address: address(tt.sent), PendingIntent: &planner.Intent{Action: planner.Update}}}}
			}
			var got []string
			for _, d := range tt.saved.Stale(tt.now, earlier) {
				got = append(got, d.Summary)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAStalePlanNamesTheFilesThatChanged(t *testing.T) {
	t.Parallel()
	saved, now := plan(), plan("page/a create name - A")
	saved.Basis = planfile.Basis{Lineage: "one", Serial: 3, Digests: map[string]string{"a.yaml": "1", "b.yaml": "2", "gone.yaml": "3"}}
	now.Basis = planfile.Basis{Lineage: "one", Serial: 4, Digests: map[string]string{"a.yaml": "1", "b.yaml": "9", "new.yaml": "4"}}
	now.State = "x.state.json"
	found := saved.Stale(now, nil)
	if got := found[1].Summary + "; " + found[2].Summary; got != "changed since the plan was made: b.yaml, gone.yaml, new.yaml; the state x.state.json was written since the plan was made: serial 3, now 4" {
		t.Error(got)
	}
}

func TestTheHashCoversOnlyTheEffectsOfAPlan(t *testing.T) {
	t.Parallel()
	hash := func(change func(p *planner.Plan, w *planfile.Where)) string {
		p, w := &planner.Plan{BaseURL: "https://api.plane.so", Workspace: "acme"}, planfile.Where{State: "a"}
		p.StateChanges = []planner.StateChange{{From: "page/a", To: "page/b", Why: "its key changed"}}
		change(p, &w)
		return planfile.New(p, w).Hash
	}
	same := hash(func(*planner.Plan, *planfile.Where) {})
	if got := hash(func(p *planner.Plan, w *planfile.Where) {
		p.Summary.Reads, w.State, w.User, w.Manifests, w.Basis.Serial = 9, "b", "ada", []string{"m.yaml"}, 7
	}); got != same {
		t.Error("it depends on how the plan came about")
	}
	if got := hash(func(p *planner.Plan, _ *planfile.Where) { p.Workspace = "other" }); got == same {
		t.Error("it does not depend on where the plan goes")
	}
	if got := hash(func(p *planner.Plan, _ *planfile.Where) { p.StateChanges = nil }); got == same {
		t.Error("it does not depend on what the plan does")
	}
}

func TestAFileThatIsNoPlanIsRefused(t *testing.T) {
	t.Parallel()
	good, err := json.Marshal(planfile.New(&planner.Plan{BaseURL: "u", Workspace: "acme"}, planfile.Where{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := planfile.Parse("plan.json", good); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                                 "plan.json is not a plan: line 1: it ends too early",
		string(good[:len(good)/2]):         "plan.json is not a plan: line 1: it ends too early",
		"{\n}}\n":                          "plan.json is not a plan: line 2: invalid character '}' after top-level value",
		"[1]":                              "plan.json is not a plan: it is a JSON array, and no object",
		`{"format_version": 1}`:            "plan.json is not a plan: it has no format_version or no steps",
		`{"format_version": 2}`:            "plan.json has the format version 2, and this planform reads up to 1",
		edited(good, `"acme"`, `"x"`):      "plan.json was changed after it was made, or made by another version of planform",
		stepIndex(`{"address": "page/a"}`): `plan.json is not a plan: there is no action ""`,
		stepIndex(`{"address": "cat/a", "action": "create"}`):                                                     `plan.json is not a plan: no kind of "cat/a" is known here`,
		stepIndex(`{"address": "cycle_work_item/a", "action": "create"}`):                                         `plan.json is not a plan: no kind of "cycle_work_item/a" is known here`,
		stepIndex(`{"address": "page/a", "action": "add_members"}`):                                               `plan.json is not a plan: the action of "page/a" cannot be add_members`,
		stepIndex(`{"address": "cycle/web/c#work_items", "action": "create"}`):                                    `plan.json is not a plan: the action of "cycle/web/c#work_items" cannot be create`,
		stepIndex(`{"address": "page/a", "action": "create", "changes": [{"path": "name", "after": 3}]}`):         `plan.json is not a plan: name of "page/a": it is neither a text nor a list`,
		stepIndex(`{"address": "page/a", "action": "create", "changes": [{"path": "name", "after": ["a", {}]}]}`): `plan.json is not a plan: name of "page/a": a list contains something other than texts`,
	} {
		if _, err := planfile.Parse("plan.json", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestNoStepIsHiddenBehindAnother: whoever wrote a plan, people see what it does.
func TestNoStepIsHiddenBehindAnother(t *testing.T) {
	t.Parallel()
	const deletes = `{"address": "page/a", "action": "create"}, {"address": "page/a", "action": "delete", "continues": true}`
	for text, want := range map[string]string{
		`{"format_version": 1, "summary": {"create": 1}, "steps": [` + deletes + `]}`:                                                                                                   "f is not a plan: its summary does not fit its steps",
		`{"format_version": 1, "summary": {"create": 1, "delete": 1}, "steps": [` + deletes + `]}`:                                                                                      "",
		`{"format_version": 1, "summary": {"blocked": 2}, "steps": [{"address": "page/a", "action": "not_possible"}, {"address": "cycle/web/c#work_items", "action": "not_possible"}]}`: "",
	} {
		d, err := planfile.Parse("f", hashed([]byte(text)))
		switch {
		case want != "" && (err == nil || err.Error() != want), want == "" && err != nil:
			t.Errorf("%v, want %s", err, want)
		case err == nil && d.Steps[1].Continues:
			t.Error("it is hidden")
		}
	}
}

func TestASecondStepCountsWithTheFirstOnlyIfThatCreatesTheObject(t *testing.T) {
	t.Parallel()
	for first, continues := range map[string]bool{"create": true, "update": false, "adopt": false} {
		text := `{"format_version": 1, "summary": {"` + first + `": 1, "update": 1}, "steps": [{"address": "page/a", "action": "` + first + `"}, {"address": "page/a", "action": "update", "continues": true, "changes": [{"path": "name", "after": "x"}]}]}`
		if continues {
			text = strings.Replace(text, `, "update": 1`, "", 1)
		}
		if first == "update" {
			text = strings.Replace(text, `{"update": 1, "update": 1}`, `{"update": 2}`, 1)
		}
		if d, err := planfile.Parse("f", hashed([]byte(text))); err != nil || d.Steps[1].Continues != continues {
			t.Errorf("after a step that is to %s it: %v, %+v", first, err, d)
		}
	}
}

// TestAnEditedPlanIsRefused: whatever was edited, also what the hash leaves out.
func TestAnEditedPlanIsRefused(t *testing.T) {
	t.Parallel()
	good, err := json.Marshal(planfile.New(&planner.Plan{BaseURL: "u", Workspace: "acme", Notices: diag.List{{Summary: "a notice"}}}, planfile.Where{
		Manifests: []string{"w.yaml"}, State: "state.json", User: "ada",
		Options: planfile.Options{Files: []string{"files"}, Variables: []string{"a=1"}, API: "v1", Settings: planner.Settings{OnDrift: planner.Fail, Targets: target.List{target.New("page/*")}}},
		Basis:   planfile.Basis{Lineage: "lineage", Digests: map[string]string{"w.yaml": "digest"}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"u"`, `"acme"`, "a notice", "w.yaml", "state.json", "ada", `["files"`, "a=1", `"api":"v1"`, `"on_drift":"fail"`, "page/*", `:"lineage"`, `:"digest"`} {
		text := strings.ReplaceAll(string(good), part, part[:len(part)-1]+"x"+part[len(part)-1:])
		if _, err := planfile.Parse("plan.json", []byte(text)); err == nil || !strings.Contains(err.Error(), "was changed after it was made") {
			t.Errorf("%s: %v", part, err)
		}
	}
	_, checksum, _ := strings.Cut(string(good), `,"checksum"`)
	if _, err := planfile.Parse("plan.json", []byte(edited(good, `,"checksum"`+checksum, "}"))); err == nil {
		t.Error("a plan without a checksum is one")
	}
}

func TestAPlanWithAMemberThatIsNotKnownIsRefused(t *testing.T) {
	t.Parallel()
	good, err := json.Marshal(planfile.New(&planner.Plan{BaseURL: "u", Workspace: "acme", Notices: diag.List{{Summary: "a notice"}}}, planfile.Where{}))
	if err != nil {
		t.Fatal(err)
	}
	for place, text := range map[string]string{
		"an unknown member at the top is refused":                   edited(good, `{"format_version":1`, `{"format_version":1,"later":true`),
		"an unknown member in the options is refused":               edited(good, `"options":{`, `"options":{"later":true,`),
		"an unknown member in the basis is refused":                 edited(good, `"basis":{`, `"basis":{"later":true`),
		"an unknown member in the summary is refused":               edited(good, `"summary":{`, `"summary":{"later":true,`),
		"an unknown member in a notice is refused":                  edited(good, `"summary":"a notice"`, `"summary":"a notice","later":true`),
		"an unknown member in a step is refused":                    `{"format_version": 1, "steps": [{"address": "page/a", "action": "create", "later": true}]}`,
		"an unknown member in a change is refused":                  `{"format_version": 1, "steps": [{"address": "page/a", "action": "create", "changes": [{"path": "name", "later": true}]}]}`,
		"an unknown member is refused with the case of its letters": edited(good, `"options":{`, `"options":{"lateR":true,`),
	} {
		_, err := planfile.Parse("plan.json", []byte(text))
		if err == nil || !strings.HasPrefix(strings.ToLower(err.Error()), `plan.json has the member "later", which this version of planform does not know`) {
			t.Errorf("%s: %v", place, err)
		}
	}
}

func TestAPlanOfAStateAtAnAddressWithACredentialIsNotShown(t *testing.T) {
	t.Parallel()
	for _, where := range []planfile.Where{
		{State: "https://example.com/state?sig=very-secret"}, {Options: planfile.Options{State: "https://example.com/state#very-secret"}}, {State: "s3://a:very-secret@b/k"},
	} {
		text, err := json.Marshal(planfile.New(&planner.Plan{BaseURL: "u", Workspace: "acme"}, where))
		if err != nil {
			t.Fatal(err)
		}
		if d, err := planfile.Parse("plan.json", text); d != nil || err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", where.State, err)
		}
	}
}

// hashed is a plan with the hash and the checksum that it should have.
func hashed(text []byte) []byte {
	var d planfile.Document
	if json.Unmarshal(text, &d) != nil {
		return text
	}
	for range 3 {
		_, err := planfile.Parse("f", text)
		if err == nil {
			return text
		}
		_, said, _ := strings.Cut(err.Error(), "its content has the ")
		switch word, sum, _ := strings.Cut(said, " "); word {
		case "hash":
			d.Hash = sum
		case "checksum":
			d.Checksum = sum
		default:
			return text
		}
		if text, err = json.Marshal(d); err != nil {
			return nil
		}
	}
	return text
}

func edited(text []byte, from, to string) string { return strings.ReplaceAll(string(text), from, to) }

func stepIndex(text string) string { return `{"format_version": 1, "steps": [` + text + `]}` }

// FuzzParse reads files that nobody wrote. What is a plan can be shown and compared.
func FuzzParse(f *testing.F) {
	f.Add([]byte(stepIndex(`{"address": "cycle/web/c#work_items", "action": "add_members", "changes": [{"path": "cycle", "after": ["a"]}]}, {"address": "link/a", "action": "create", "needs": ["x"]}`)))
	f.Fuzz(func(_ *testing.T, text []byte) {
		if parsed, err := planfile.Parse("f", hashed(text)); err == nil {
			parsed.Stale(parsed, nil)
			parsed.Stale(parsed, &planfile.Run{})
		}
	})
}

// TestTheSchemaNamesEveryKey holds the schema to the types.
func TestTheSchemaNamesEveryKey(t *testing.T) {
	t.Parallel()
	var root schema
	if err := json.Unmarshal(planfile.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	root.compare(t, &root, "plan", reflect.TypeFor[planfile.Document]())
}

type schema struct {
	Ref        string             `json:"$ref"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Items      *schema            `json:"items"`
	Defs       map[string]*schema `json:"$defs"`
}

func (sc *schema) compare(t *testing.T, root *schema, at string, of reflect.Type) {
	t.Helper()
	if sc != nil && sc.Ref != "" {
		sc = root.Defs[strings.TrimPrefix(sc.Ref, "#/$defs/")]
	}
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case sc == nil:
		t.Errorf("%s is not in the schema", at)
	case of.Implements(reflect.TypeFor[encoding.TextMarshaler]()): // a text
	case of.Kind() == reflect.Slice:
		sc.Items.compare(t, root, at, of.Elem())
	case of.Kind() == reflect.Struct:
		var required []string
		known := map[string]bool{}
		for _, f := range reflect.VisibleFields(of) {
			if f.Anonymous || f.Tag.Get("json") == "-" {
				continue
			}
			name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
			if known[name] = true; rest == "" {
				required = append(required, name)
			}
			sc.Properties[name].compare(t, root, at+"."+name, f.Type)
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(known)), slices.Sorted(maps.Keys(sc.Properties))); diff != "" {
			t.Errorf("%s (-type +schema):\n%s", at, diff)
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(required)), slices.Sorted(slices.Values(sc.Required))); diff != "" {
			t.Errorf("%s is required (-type +schema):\n%s", at, diff)
		}
	}
}

func TestObjectsInValuesHaveNames(t *testing.T) {
	t.Parallel()
	web := &resource.Object{Kind: resource.MustLookup("project"), Address: "project/web", Key: "web"}
	object := func(kind, key, name string) *resource.Object {
		k := resource.MustLookup(kind)
		f, _ := k.Field("name")
		return &resource.Object{Kind: k, Key: key, Parent: web, Address: web.Address.Child(kind, key), Values: []resource.Value{{Field: f, Text: name}}}
	}
	state, label, todo, item := object("state", "in-review", "In Review"), object("label", "ops", "ops"), object("state", "todo", "To do"), object("work_item", "a", "Pay")
	refers := func(field, text string, to ...*resource.Object) *resource.Value {
		f, _ := item.Kind.Field(field)
		v := &resource.Value{Field: f, Text: text}
		for _, o := range to {
			v.Refs = append(v.Refs, resource.Reference{Text: o.Key, Target: o})
		}
		return v
	}
	create := &planner.Step{Address: item.Address, Kind: item.Kind, Object: item, Write: &planner.Write{Values: []*resource.Value{refers("state", "in-review", state), refers("labels", "ops", label)}}}
	cycle := &planner.Step{Address: "cycle/web/s#work_items", Kind: resource.MustLookup("cycle_work_item"), Action: planner.AddMembers, Members: &planner.Members{Items: []planner.Member{{Address: item.Address}, {Address: "work_item/web/b"}}}}
	d := planfile.New(&planner.Plan{Steps: []*planner.Step{create, cycle}, Objects: []*resource.Object{web, state, label, todo, item, object("work_item", "b", "Bill")}}, planfile.Where{})
	if diff := cmp.Diff(map[resource.Address]string{"state/web/in-review": "In Review", "label/web/ops": "ops", "work_item/web/b": "Bill"}, d.Names); diff != "" {
		t.Error(diff)
	}
}

func TestAPageIsAPathInAWebApp(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]*planfile.Document{
		"a page on another host is refused":   {FormatVersion: 1, Steps: []planfile.Step{{Address: "work_item/web/a", Action: "delete", Page: "//evil.example/"}}},
		"a script is no address of a web app": {FormatVersion: 1, Steps: []planfile.Step{}, WebURL: "javascript:alert(1)//"},
		"a script is no page":                 {FormatVersion: 1, Steps: []planfile.Step{{Address: "work_item/web/a", Action: "delete", Page: "javascript:alert(1)"}}},
	} {
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = planfile.Parse("plan.json", hashed(text)); err == nil || !strings.Contains(err.Error(), "is not the address of a web page") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOnlyWhatTheEditionLacksIsUnsupported(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cause planner.Cause
		want  string
	}{
		"objects that the edition lacks":                       {planner.Cause{Code: planner.Lacks, Text: "no customers", Objects: "customers"}, "customers"},
		"a person who has not accepted":                        {planner.Cause{Code: planner.NotAccepted, Text: "not yet", Objects: "ada@example.com"}, ""},
		"a change that the service refuses is not unsupported": {planner.Cause{Code: planner.Refused, Text: "refused"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := &planner.Step{Address: "module/web/a", Kind: resource.MustLookup("module"), Action: planner.NotPossible, Cause: tt.cause}
			if got := planfile.New(&planner.Plan{Steps: []*planner.Step{step}}, planfile.Where{}).Steps[0].Unsupported; got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func address(text string) resource.Address { return resource.Address(text) }
