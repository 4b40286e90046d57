package resource_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
)

// table reads a table of testdata, without its heading.
func table(t *testing.T, file string) [][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\r\n", "\n")) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows[1:]
}

// TestTheDocumentedOperationsMatchTheContract compares the operations of the
// descriptors with the two tables of the contract, row by row.
func TestTheDocumentedOperationsMatchTheContract(t *testing.T) {
	t.Parallel()
	type row struct{ number, method, path, success, scope string }
	var want, got []row
	for _, r := range table(t, "testdata/contract_operations.tsv") {
		want = append(want, row{r[0], r[1], r[2], r[4], r[5]})
	}
	for _, o := range resource.Operations() {
		if o.Documented() {
			got = append(got, row{strconv.Itoa(o.ContractRow), o.Method, o.Path, strconv.Itoa(o.Success), o.Scope})
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" || len(got) != 20 {
		t.Errorf("%d operations (-contract +descriptors):\n%s", len(got), diff)
	}
}

func TestQueriesAndBodiesMatchTheContract(t *testing.T) {
	t.Parallel()
	rows := table(t, "testdata/contract_operations.tsv")
	for _, o := range resource.Operations()[:20] {
		cell := rows[o.ContractRow-1][3]
		if o.Method == "GET" {
			want := strings.Split(cell, ", ")
			if cell == "none" {
				want = nil
			}
			if diff := cmp.Diff(want, o.Query); diff != "" {
				t.Errorf("%d: query (-contract +descriptor):\n%s", o.ContractRow, diff)
			}
			if len(o.Body) > 0 || o.GetCommand == "" {
				t.Errorf("%d: a read has no body, can be repeated, and is offered by the get command", o.ContractRow)
			}
			continue
		}
		var want []string
		if list, _, ok := strings.Cut(cell, ": string[]"); ok {
			want = []string{list}
		}
		if diff := cmp.Diff(want, o.Body); diff != "" {
			t.Errorf("%d: body (-contract +descriptor):\n%s", o.ContractRow, diff)
		}
		if k := resource.MustLookup(o.Kind); k.Membership != nil && k.Membership.Body != want[0] {
			t.Errorf("%d: the membership sends %s", o.ContractRow, k.Membership.Body)
		}
	}
}

// TestTheDocumentedFieldsMatchTheContract compares the fields that are marked as documented with part 2 of the contract.
func TestTheDocumentedFieldsMatchTheContract(t *testing.T) {
	t.Parallel()
	types := map[resource.Type]string{
		resource.RefSet: "string[]", resource.JSON: "object", resource.Number: "number",
	}
	want, got := map[string]string{}, map[string]string{}
	for _, r := range table(t, "testdata/contract_fields.tsv") {
		want[r[0]+"."+r[1]] = r[2]
	}
	for _, k := range resource.Kinds() {
		for i := range k.Fields {
			f := &k.Fields[i]
			if !f.Documented {
				continue
			}
			name := k.Name + "." + f.APIName()
			kind, ok := types[f.Type]
			if !ok {
				kind = "string"
			}
			if before, twice := got[name]; twice && before != kind {
				t.Errorf("%s is %s and %s", name, before, kind)
			}
			got[name] = kind
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-contract +descriptors:\n%s", diff)
	}
	for _, r := range table(t, "testdata/contract_fields.tsv") {
		k := resource.MustLookup(r[0])
		_, creates := k.Op(resource.Create, resource.Documented)
		required := slices.ContainsFunc(k.Fields, func(f resource.Field) bool { return f.APIName() == r[1] && f.Required })
		if r[3] == "yes" && (!creates || !required) {
			t.Errorf("%s.%s is required by the contract", r[0], r[1])
		}
	}
}

// TestTheWiderOperationsMatchTheReference compares every other operation with the service's public
// reference. Only the names of path parameters may differ.
func TestTheWiderOperationsMatchTheReference(t *testing.T) {
	t.Parallel()
	have := map[string]bool{}
	for _, r := range table(t, "testdata/wider_operations.tsv") {
		have[strings.Join(append([]string{r[0], anonymous(r[1])}, r[2:]...), " ")] = true
	}
	for _, o := range resource.Operations() {
		if o.Documented() || o.Public() || o.Verb == resource.ListLite || o.Verb == resource.Self || o.Verb == resource.ProbeV2 || o.Verb == resource.DescribeV2 || o.Verb == resource.Summary || o.Kind == "workspace_state" || o.Kind == resource.Invitation { // the reference describes what is in a workspace, one by one; only the service's own SDK knows its states
			continue
		}
		row := strings.Join([]string{o.Method, anonymous(o.Path), o.Scope}, " ")
		if !have[row] && !have[strings.TrimSuffix(row, o.Scope)] { // the reference lacks some scopes
			t.Errorf("%s %s: the public reference has no %s", o.Kind, o, row)
		}
	}
}

var parameter = regexp.MustCompile(`\{[a-z_]+\}`)

func anonymous(path string) string { return parameter.ReplaceAllString(path, "{}") }
