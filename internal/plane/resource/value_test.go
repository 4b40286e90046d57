package resource_test

import (
	"crypto/sha256"
	"encoding/hex"
	encoding "encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
)

func value(kind, field, text string) *resource.Value {
	f, ok := resource.MustLookup(kind).Field(field)
	if !ok {
		panic("no field " + field)
	}
	v := &resource.Value{Field: f, Text: text}
	if f.IsRef() && text != "" {
		for one := range strings.SplitSeq(text, ",") {
			v.Refs = append(v.Refs, resource.Reference{Text: one})
		}
	}
	return v
}

func cleared(kind, field string) *resource.Value {
	v := value(kind, field, "")
	v.Null = true
	return v
}

// ids resolves every name except "nobody".
func ids(_ *resource.Field, r *resource.Reference) (string, bool) {
	return "id-of-" + r.Text, r.Text != "nobody"
}

func TestABodyHoldsTheWrittenValues(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		values  []*resource.Value
		dialect resource.Dialect
		want    string
	}{
		"nothing":                               {nil, resource.ContractDialect, `{}`},
		"texts as they are":                     {[]*resource.Value{value("work_item", "name", `A <b> & "c"`)}, resource.ContractDialect, `{"name":"A <b> & \"c\""}`},
		"Markdown as HTML":                      {[]*resource.Value{value("work_item", "description", "One **page**")}, resource.ContractDialect, `{"description_html":"<p>One <strong>page</strong></p>"}`},
		"HTML as it is":                         {[]*resource.Value{value("work_item", "description_html", "<p>x</p>")}, resource.ContractDialect, `{"description_html":"<p>x</p>"}`},
		"numbers and objects as they are":       {[]*resource.Value{value("initiative_label", "sort_order", "1000.50"), value("teamspace", "logo_props", `{"b":1,"a":2}`)}, resource.ContractDialect, `{"sort_order":1000.50,"logo_props":{"b":1,"a":2}}`},
		"references as IDs":                     {[]*resource.Value{value("work_item", "state", "Todo"), value("work_item", "labels", "a,b")}, resource.ContractDialect, `{"state":"id-of-Todo","labels":["id-of-a","id-of-b"]}`},
		"a reference without an ID is left out": {[]*resource.Value{value("work_item", "parent", "nobody"), value("work_item", "labels", "a,nobody")}, resource.ContractDialect, `{"labels":["id-of-a"]}`},
		"what is cleared, as each field wants":  {[]*resource.Value{cleared("work_item", "description"), cleared("work_item", "start_date"), cleared("work_item", "labels"), cleared("project", "description")}, resource.ContractDialect, `{"description_html":"<p></p>","start_date":null,"labels":[],"description":""}`},
		"what cannot be cleared is left out":    {[]*resource.Value{cleared("work_item", "priority")}, resource.ContractDialect, `{}`},
		"the newer names, plain text as HTML":   {[]*resource.Value{value("customer_request", "title", "SSO"), value("customer_request", "description", "a < b\nc\n\nd")}, resource.NewerDialect, `{"name":"SSO","description_html":"<p>a &lt; b<br>c</p><p>d</p>"}`},
		"the contract's names":                  {[]*resource.Value{value("customer_request", "title", "SSO"), value("customer_request", "description", "a < b")}, resource.ContractDialect, `{"title":"SSO","description":"a < b"}`},
		"characters that JavaScript minds":      {[]*resource.Value{value("work_item", "name", "a\u2028b")}, resource.ContractDialect, `{"name":"a\u2028b"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, string(resource.Body(tt.values, tt.dialect, ids))); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := string(resource.Body([]*resource.Value{value("work_item", "name", "A")}, resource.ContractDialect, ids, [2]string{"external_id", "x"})); got != `{"name":"A","external_id":"x"}` {
		t.Errorf("with extras: %s", got)
	}
	if got := string(resource.MustLookup("cycle_work_item").Membership.IDs(&resource.Operation{}, []string{"a", "b"}, "", "")); got != `{"issues":["a","b"]}` {
		t.Errorf("list: %s", got)
	}
}

// TestDesiredAndObservedValuesAreComparedInCanonicalForm lists desired and shown values that are equal, or are not.
func TestDesiredAndObservedValuesAreComparedInCanonicalForm(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		want  *resource.Value
		shown any
		same  bool
	}{
		"texts":                              {value("work_item", "name", "A"), "A", true},
		"white space around a text":          {value("work_item", "name", " A "), "A", true},
		"letters of a text count":            {value("work_item", "name", "a"), "A", false},
		"line ends":                          {value("project", "description", "a\r\nb\n"), "a\nb", true},
		"HTML by its meaning":                {value("work_item", "description", "One **page**"), "<div><p>One <b>page</b></p></div>", true},
		"other words of HTML":                {value("work_item", "description", "One **page**"), "<p>Two <b>pages</b></p>", false},
		"no HTML is empty HTML":              {cleared("work_item", "description"), "<p></p>", true},
		"null is empty":                      {cleared("work_item", "start_date"), nil, true},
		"a date with a time":                 {value("work_item", "start_date", "2026-12-01"), "2026-12-01T00:00:00Z", true},
		"a first day in Berlin":              {value("cycle", "start_date", "2031-01-06"), "2031-01-05T23:00:01Z", true},
		"a first day in Honolulu":            {value("cycle", "start_date", "2031-01-06"), "2031-01-06T10:00:01.000000Z", true},
		"a first day in Auckland":            {value("cycle", "start_date", "2031-01-06"), "2031-01-05T11:00:01Z", true},
		"a first day in Kathmandu":           {value("cycle", "start_date", "2031-01-06"), "2031-01-05T18:15:01Z", true},
		"a first day that is today":          {value("cycle", "start_date", "2031-01-06"), "2031-01-06T18:22:07Z", true},
		"a last day in Greenwich":            {value("cycle", "end_date", "2031-01-17"), "2031-01-17T23:59:00Z", true},
		"a last day in New York":             {value("cycle", "end_date", "2031-01-17"), "2031-01-18T04:59:00Z", true},
		"a last day in Berlin":               {value("cycle", "end_date", "2031-01-17"), "2031-01-17T22:59:00+00:00", true},
		"another last day in Berlin":         {value("cycle", "end_date", "2031-01-17"), "2031-01-18T22:59:00Z", false},
		"a moment that is none":              {value("cycle", "end_date", "2031-01-17"), "2031-01-17 noon", true},
		"a value by its number":              {value("page", "access", "private"), encoding.Number("1"), true},
		"another value by its number":        {value("page", "access", "private"), encoding.Number("0"), false},
		"another date":                       {value("work_item", "start_date", "2026-12-01"), "2026-12-02", false},
		"numbers by their value":             {value("initiative_label", "sort_order", "1000"), "1000.0", true},
		"colours in any case":                {value("initiative_label", "color", "#22c55e"), "#22C55E", true},
		"sets in any order, once":            {value("work_item", "labels", "a,b,a"), []any{"ID-OF-B", "id-of-a"}, true},
		"sets of expanded records":           {value("work_item", "labels", "a"), []any{map[string]any{"id": "id-of-a"}}, true},
		"another set":                        {value("work_item", "labels", "a"), []any{"id-of-a", "id-of-b"}, false},
		"an expanded record":                 {value("work_item", "state", "a"), map[string]any{"id": "id-of-a", "name": "x"}, true},
		"objects whatever the order of keys": {value("teamspace", "logo_props", `{"b": 1, "a": [2]}`), map[string]any{"a": []any{2}, "b": 1}, true},
		"URLs to the letter":                 {value("link", "url", "https://a.example/x"), "https://a.example/x/", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wanted, ok := tt.want.Desired(func(f *resource.Field, r *resource.Reference) (string, bool) { return ids(f, r) })
			have, known := tt.want.Field.ObservedIn(resource.Row{tt.want.Field.APIName(): tt.shown})
			if !ok || !known || (wanted == have) != tt.same {
				t.Errorf("wanted %q (%v), shown %q (%v)", wanted, ok, have, known)
			}
		})
	}
}

func TestAFieldThatARowLacksIsUnknown(t *testing.T) {
	t.Parallel()
	title, _ := resource.MustLookup("customer_request").Field("description")
	for name, tt := range map[string]struct {
		field *resource.Field
		row   resource.Row
		want  string
		known bool
	}{
		"a field that is not shown":                   {title, resource.Row{"id": "x"}, "", false},
		"a field of the newer name, without its HTML": {title, resource.Row{"description_html": "<p>a &lt; b</p>"}, "a < b", true},
		"a field that only a create takes":            {value("work_item", "created_at", "").Field, resource.Row{"created_at": "x"}, "", false},
		"a relation that stands for none":             {value("work_item", "parent", "").Field, resource.Row{"parent": map[string]any{}}, "", false},
		"a set of something else":                     {value("work_item", "labels", "").Field, resource.Row{"labels": []any{json(7)}}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, known := tt.field.ObservedIn(tt.row); got != tt.want || known != tt.known {
				t.Errorf("got %q, %v", got, known)
			}
		})
	}
	if _, ok := value("work_item", "labels", "a,nobody").Desired(ids); ok {
		t.Error("a set with somebody unknown is known")
	}
}

type json int

func TestTheRestOfAnObjectIsItsUnknownFields(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		written *resource.Value
		shown   map[string]any
		want    string
	}{
		"other fields":                      {value("project_work_item_template", "template_data", `{"name": "x"}`), map[string]any{"name": "x", "state": "id-of-a", "labels": []any{"id-of-b"}, "type": nil}, `{"name":"x"}`},
		"a form of another field":           {value("project_work_item_template", "template_data", `{"state": {"name": "Todo"}}`), map[string]any{"state": map[string]any{"name": "Todo"}}, `{"state":{"name":"Todo"}}`},
		"nothing, where that must be there": {value("project_work_item_template", "template_data", `{}`), map[string]any{"state": "id-of-a"}, `{}`},
		"nothing":                           {value("project_view", "other", `{}`), map[string]any{"state": []any{"id-of-a"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have, known := tt.written.Field.ObservedIn(resource.Row{tt.written.Field.Within: tt.shown})
			if want, ok := tt.written.Desired(ids); !known || !ok || have != tt.want || want != tt.want {
				t.Errorf("wanted %q, shown %q", want, have)
			}
		})
	}
}

func TestALongValueIsStoredAsADigest(t *testing.T) {
	t.Parallel()
	if got := resource.Digest("short"); got != "short" {
		t.Errorf("a short value is kept: %q", got)
	}
	long := strings.Repeat("x", 65)
	if got := resource.Digest(long); !strings.HasPrefix(got, "sha256:") || len(got) != 7+64 || got == resource.Digest(long+"x") {
		t.Errorf("a long one is not: %q", got)
	}
	ids := strings.TrimSuffix(strings.Repeat("0c6c1d8e-3f7a-4d55-9b0e-1f2a3b4c5d6e,", 5), ",")
	if got := resource.Digest(ids); got != ids {
		t.Errorf("a list of IDs is kept as %s", got)
	}
	if many := strings.TrimSuffix(strings.Repeat("0c6c1d8e-3f7a-4d55-9b0e-1f2a3b4c5d6e,", 50), ","); len(resource.Digest(many)) != 7+64 {
		t.Errorf("a long list of IDs is kept as %s", resource.Digest(many))
	}
	sum := sha256.Sum256([]byte(ids))
	if !resource.IsDigest("sha256:"+hex.EncodeToString(sum[:]), ids) || resource.IsDigest("sha256:", ids) {
		t.Error("a list that an older version kept as a digest is not recognised")
	}
}

func TestTheMemberIDIsFoundInEveryFormOfAMemberRow(t *testing.T) {
	t.Parallel()
	const user, other = "8d1e4cfe-937a-4aa2-be45-2f3453d8e8b4", "641a71bb-a191-42e7-a33d-e936ee973713"
	m := resource.MustLookup("project_member").Membership
	for name, row := range map[string]resource.Row{
		"the person":                       {"id": strings.ToUpper(user), "email": "ada@example.com"},
		"the membership with the person":   {"id": other, "member": map[string]any{"id": user}},
		"the membership with the ID alone": {"id": other, "member": user},
		"the membership in API v2":         {"id": other, "member_id": user},
	} {
		if got := m.MemberID(row); got != user {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestTheDialectIsRecognisedFromARow(t *testing.T) {
	t.Parallel()
	k := resource.MustLookup("customer_request")
	for name, tt := range map[string]struct {
		row  resource.Row
		want resource.Dialect
		told bool
	}{
		"the contract's": {resource.Row{"title": "A", "description": ""}, resource.ContractDialect, true},
		"the newer":      {resource.Row{"name": "A", "description_html": ""}, resource.NewerDialect, true},
		"neither":        {resource.Row{"id": "x"}, resource.ContractDialect, false},
	} {
		if d, told := k.DialectOf(tt.row); d != tt.want || told != tt.told {
			t.Errorf("%s: %v, %v", name, d, told)
		}
	}
	if !k.HasDialects() || resource.MustLookup("link").HasDialects() {
		t.Error("only customer requests have dialects")
	}
}
