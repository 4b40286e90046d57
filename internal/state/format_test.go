package state

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/planner"
)

func encoded(tb testing.TB, c *content) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := c.encode(&b); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestTheStateFileHasOneLineForEachObject(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	f := open(t, path)
	f.Put(planner.Record{Address: "project/web", ID: "8a23", Identifier: "WEB", CreatedByUs: true, Sources: []string{"web.yaml", "-"}, Values: map[string]string{"name": "Website <&> Läden", "description": "sha256:00"}})
	f.Put(planner.Record{Address: "cycle/web/s1#work_items", Members: []string{"b", "a", "b"}})
	f.Put(planner.Record{Address: "work_item/web/shop", PendingIntent: &planner.Intent{Action: planner.Create, Name: "Shop\x1b[31m\u202e", After: 7, At: testTime()}})
	must(t, f.Save())
	want := `{"format_version":1,"lineage":"` + f.store.Lineage + `","serial":1,"base_url":"https://api.plane.so","workspace":"acme","journal":"` + f.store.Journal + `","objects":[
{"address":"cycle/web/s1#work_items","members":["a","b"],"applied_at":"2026-11-20T20:36:10Z"},
{"address":"project/web","id":"8a23","identifier":"WEB","made":true,"files":["-","web.yaml"],"values":{"description":"sha256:00","name":"Website <&> Läden"},"applied_at":"2026-11-20T20:36:10Z"},
{"address":"work_item/web/shop","applied_at":"2026-11-20T20:36:10Z","open":{"action":"create","name":"Shop\u001b[31m\u202e","after":7,"at":"2026-11-20T20:36:10Z"}}
]}
`
	if diff := cmp.Diff(want, readFile(t, path)); diff != "" {
		t.Error(diff)
	}
	s, err := Read(t.Context(), path, testOptions())
	must(t, err)
	if diff := cmp.Diff(f.Prior(), s.Prior()); diff != "" || s.Serial != 1 || !s.Exists || s.Path != path || s.Lineage != f.store.Lineage {
		t.Error(diff, s)
	}
}

func TestAnEmptyStateIsReadAndWritten(t *testing.T) {
	t.Parallel()
	c := &content{identity: identity{Lineage: "l", Serial: 1, BaseURL: "u", Workspace: "w"}}
	text := encoded(t, c)
	got, err := decode("x", text)
	must(t, err)
	if !bytes.Equal(text, encoded(t, got)) {
		t.Errorf("%s became %s", text, encoded(t, got))
	}
}

// randomText is any text a value can have.
func randomText(r *rand.Rand) string {
	alphabet := []rune("abc ABC 012/#._-\"\\<>&\x00\x1b\n\t\u007f\u0085\u200b\u2028\u202eéß日\ufffd\U0001f600\U000e0001")
	text := make([]rune, r.IntN(12))
	for i := range text {
		text[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(text)
}

func randomContent(r *rand.Rand) *content {
	c := &content{identity: identity{Lineage: "l" + randomText(r), Serial: r.Uint64(), BaseURL: randomText(r), Workspace: randomText(r)}, Journal: randomText(r), records: planner.Prior{}}
	for range r.IntN(20) {
		e := planner.Record{Address: addr("k/" + randomText(r)), ID: randomText(r), Identifier: randomText(r), CreatedByUs: r.IntN(2) == 0, Protect: r.IntN(3) == 0}
		if r.IntN(2) == 0 {
			e.AppliedAt = time.Unix(1+r.Int64N(4e9), 0).UTC()
		}
		for range r.IntN(4) {
			if e.Values == nil {
				e.Values = map[string]string{}
			}
			e.Values[randomText(r)] = randomText(r)
		}
		for range r.IntN(3) {
			e.Sources = append(e.Sources, randomText(r))
		}
		for range r.IntN(4) {
			e.Members = append(e.Members, randomText(r))
		}
		if r.IntN(3) == 0 {
			e.PendingIntent = &planner.Intent{Action: planner.Action(r.IntN(int(planner.NotPossible))), Name: randomText(r), After: r.IntN(3), Sent: randomText(r)}
			for range r.IntN(3) {
				e.PendingIntent.Fields = append(e.PendingIntent.Fields, randomText(r))
			}
			if r.IntN(2) == 0 {
				e.PendingIntent.At = time.Unix(1+r.Int64N(4e9), 0).UTC()
			}
		}
		c.records[e.Address] = normalRecord(e)
	}
	return c
}

func TestEveryRecordIsReadBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		c := randomContent(r)
		text := encoded(t, c)
		if n := bytes.Count(text, []byte("\n")); n != len(c.records)+2 && len(c.records) > 0 {
			t.Fatalf("%d objects on %d lines", len(c.records), n)
		}
		got, err := decode("x", text)
		must(t, err)
		if diff := cmp.Diff(c, got, cmp.AllowUnexported(content{}, identity{})); diff != "" {
			t.Fatalf("%s\n%s", text, diff)
		}
	}
}

func TestAFileThatIsNotAStateIsRefusedAndLeftUnchanged(t *testing.T) {
	t.Parallel()
	const top = `{"format_version":1,"lineage":"l","serial":3,"base_url":"https://api.plane.so","workspace":"acme",`
	for name, test := range map[string]struct{ text, want string }{
		"empty":                         {"", ":1: the state is damaged, or not from planform: it ends too early"},
		"blank":                         {" \n\n", ":1: the state is damaged, or not from planform: it ends too early"},
		"not JSON":                      {"objects:\n- a\n", ":1: the state is damaged, or not from planform: invalid character 'o'"},
		"a list":                        {"[]", "the state is damaged, or not from planform: it is a JSON array, and no object"},
		"no object list":                {top + `"journal":"j"}`, "it has no objects"},
		"no lineage":                    {`{"format_version":1}`, "it has no lineage"},
		"an empty lineage":              {strings.Replace(top, `"l"`, `""`, 1) + `"objects":[]}`, "it has no lineage"},
		"a negative serial":             {strings.Replace(top, `3`, `-3`, 1) + `"objects":[]}`, "cannot be a number"},
		"a version of no planform":      {strings.Replace(top, `1`, `0`, 1) + `"objects":[]}`, "it has no format version"},
		"a version that is a text":      {strings.Replace(top, `1`, `"1"`, 1) + `"objects":[]}`, "cannot be a string"},
		"a key that is not known":       {top + `"token":"x","objects":[]}`, `the state is damaged, or not from planform: "token" is not known here`},
		"cut off after the second":      {top + "\"objects\":[\n{\"address\":\"a/b\"},\n{\"address\":\"a/c\"},\n", ":3: the state is damaged, or not from planform: it ends too early"},
		"cut off within the second":     {top + "\"objects\":[\n{\"address\":\"a/b\"},\n{\"address\":\"a", ":3: the state is damaged, or not from planform: it ends too early"},
		"a merge conflict":              {top + "\"objects\":[\n{\"address\":\"a/b\"},\n<<<<<<< HEAD\n{\"address\":\"a/c\"}\n]}", ":3: the state is damaged, or not from planform: invalid character '<'"},
		"something after the end":       {top + "\"objects\":[\n]}\n{}", ":3: the state is damaged, or not from planform: invalid character '{' after top-level value"},
		"an object without address":     {top + "\"objects\":[\n{\"address\":\"a/b\"},\n{\"id\":\"x\"}\n]}", ":3: the state is damaged, or not from planform: an object has no address"},
		"an object twice":               {top + "\"objects\":[\n{\"address\":\"a/b\"},\n{\"address\":\"a/c\"},\n{\"address\":\"a/b\"}\n]}", `:4: the state is damaged, or not from planform: "a/b" is there twice`},
		"an object's key is not known":  {top + "\"objects\":[\n{\"address\":\"a/b\",\"colour\":1}\n]}", `:2: the state is damaged, or not from planform: "colour" is not known here`},
		"an ID that is a number":        {top + "\"objects\":[\n{\"address\":\"a/b\"},\n{\"address\":\"a/b\",\"id\":1}\n]}", ":3: the state is damaged, or not from planform: id cannot be a number"},
		"a time that is none":           {top + "\"objects\":[\n{\"address\":\"a/b\",\"applied_at\":\"yesterday\"}\n]}", `:2: the state is damaged, or not from planform: "yesterday" is not a time`},
		"an action that is none":        {top + "\"objects\":[\n{\"address\":\"a/b\",\"open\":{\"action\":\"\\u001b[2J\"}}\n]}", `:2: the state is damaged, or not from planform: there is no action "\x1b[2J"`},
		"an intent's time that is none": {top + "\"objects\":[\n{\"address\":\"a/b\",\"open\":{\"action\":\"create\",\"at\":\"1969-12-31T23:59:59Z\"}}\n]}", `:2: the state is damaged, or not from planform: "1969-12-31T23:59:59Z" is not a time`},
		"a newer format":                {`{"format_version":2,"lineages":["l"],"objects":{}}`, "format version 2, but this planform reads up to 1"},
		"another server":                {strings.Replace(top, "api.plane.so", "plane.example.com", 1) + `"objects":[]}`, `belongs to the server "https://plane.example.com", not to "https://api.plane.so"`},
		"another path":                  {strings.Replace(top, "api.plane.so", "api.plane.so/x", 1) + `"objects":[]}`, `belongs to the server "https://api.plane.so/x"`},
		"another workspace":             {strings.Replace(top, "acme", "globex", 1) + `"objects":[]}`, `belongs to the workspace "globex", not to "acme"; it was left as it is: name the right state file with --state`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for how, open := range readers() {
				path := statePath(t)
				writeFile(t, path, test.text)
				before := folder(t, path)
				err := open(t, path, testOptions())
				if err == nil || !strings.Contains(withHint(err), test.want) || !strings.Contains(err.Error(), "it was left as it is") {
					t.Errorf("%s: %v", how, err)
				}
				after := folder(t, path)
				delete(after, "x.state.json.lock")
				if !maps.Equal(before, after) {
					t.Errorf("%s: was %v, is %v", how, before, after)
				}
				_, mismatch := errors.AsType[*MismatchError](err)
				_, version := errors.AsType[*VersionError](err)
				_, corrupt := errors.AsType[*CorruptError](err)
				if mismatch != strings.Contains(test.want, "belongs") || version != strings.Contains(test.want, "up to 1") || corrupt == (mismatch || version) {
					t.Errorf("%s: %T", how, err)
				}
			}
		})
	}
}

func TestAReformattedStateIsRead(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	writeFile(t, path, `{
  "objects": [
    {
      "values": {"b": "2", "a": "1"},
      "address": "z/y"
    },
    {"address": "a/b", "members": ["2", "1", "2"], "applied_at": "2026-11-20T21:36:10+01:00"}
  ],
  "workspace": "acme", "base_url": "HTTPS://API.plane.so:443/",
  "serial": 3,
  "lineage": "l",
  "format_version": 1
}`)
	f := open(t, path)
	f.Put(planner.Record{Address: "m/n"})
	must(t, f.Save())
	want := `{"format_version":1,"lineage":"l","serial":4,"base_url":"https://api.plane.so","workspace":"acme","journal":"` + f.store.Journal + `","objects":[
{"address":"a/b","members":["1","2"],"applied_at":"2026-11-20T20:36:10Z"},
{"address":"m/n","applied_at":"2026-11-20T20:36:10Z"},
{"address":"z/y","values":{"a":"1","b":"2"}}
]}
`
	if diff := cmp.Diff(want, readFile(t, path)); diff != "" {
		t.Error(diff)
	}
}

func TestNoCredentialGetsIntoAnyFileOrError(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	opts := testOptions()
	opts.BaseURL = "https://ada:s3cret@api.plane.so/x/?api_key=s3cret#s3cret"
	f := openWith(t, path, opts)
	intend(t, f, create("a/b"))
	during := folder(t, path)
	f.Put(planner.Record{Address: "a/c"})
	must(t, f.Save())
	for _, files := range []map[string]string{during, folder(t, path)} {
		for name, text := range files {
			if strings.Contains(text, "s3cret") || strings.Contains(text, "ada:") {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
	must(t, f.Close())
	opts.BaseURL = "https://ada:s3cret@elsewhere.example.com/"
	for name, open := range readers() {
		if err := open(t, path, opts); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	opts.BaseURL = "https://ada:s3cret@%zz/"
	for name, open := range readers() {
		if err := open(t, path, opts); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzState(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 10 {
		var b bytes.Buffer
		_ = randomContent(r).encode(&b)
		f.Add(b.Bytes())
	}
	f.Add([]byte(`{"format_version":2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := decode("x", text)
		if err != nil {
			_ = err.Error()
			return
		}
		again := encoded(t, c)
		d, err := decode("x", again)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, again, err)
		}
		if diff := cmp.Diff(c, d, cmp.AllowUnexported(content{}, identity{})); diff != "" {
			t.Fatalf("%q became %q: %s", text, again, diff)
		}
	})
}

// manyRecords is a state of a large workspace, as values are: digests and short texts.
func manyRecords(n int) *content {
	c := &content{identity: identity{Lineage: "6f0c2a4e-63f5-4d25-b0cb-5a3f8ab4d0a1", Serial: 1, BaseURL: "https://api.plane.so", Workspace: "acme"}, records: make(planner.Prior, n)}
	for i := range n {
		a := addr(fmt.Sprintf("work_item/web/item-%06d", i))
		c.records[a] = planner.Record{
			AppliedAt: time.Date(2026, 11, 20, 0, 0, i, 0, time.UTC),
			Address:   a, ID: fmt.Sprintf("8a234ec6-0000-4000-8000-%012d", i), Identifier: fmt.Sprintf("WEB-%d", i),
			Values: map[string]string{
				"name": fmt.Sprintf("Rebuild part %d", i), "priority": "high", "state": "In Progress",
				"description": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
			},
		}
	}
	return c
}

func writeMany(tb testing.TB, path string, n int) {
	tb.Helper()
	if err := os.WriteFile(path, encoded(tb, manyRecords(n)), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func TestRecordSourcesChangesTheSourcesOfARecordOnly(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	f := open(t, path)
	f.Put(planner.Record{Address: "work_item/web/shop", ID: "id-1", Sources: []string{"a.yaml"}})
	must(t, f.Save())
	before := readFile(t, path)
	f.RecordSources(map[addr][]string{"work_item/web/shop": {"a.yaml"}, "work_item/web/cart": {"a.yaml"}})
	must(t, f.Save())
	if got := readFile(t, path); got != before {
		t.Errorf("the state became %s", got)
	}
	f.RecordSources(map[addr][]string{"work_item/web/shop": {"b.yaml"}})
	must(t, f.Save())
	if diff := priorDiff(planner.Prior{"work_item/web/shop": {Address: "work_item/web/shop", ID: "id-1", Sources: []string{"b.yaml"}}}, readPrior(t, path)); diff != "" {
		t.Error(diff)
	}
}
