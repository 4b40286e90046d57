package state

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/planner"
)

// sampleJournal is a journal with a line of every kind, and the state it goes with.
func sampleJournal(t *testing.T) (path, state, journal string) {
	t.Helper()
	path = statePath(t)
	f := open(t, path)
	f.Put(planner.Record{Address: "project/web", ID: "p", Values: map[string]string{"name": "Web"}})
	f.Put(planner.Record{Address: "label/web/old", ID: "l"})
	must(t, f.Save())
	shop, cart, web, old := create("work_item/web/shop"), create("work_item/web/cart"), step("project/web", planner.Update), step("label/web/old", planner.Delete)
	add := members("cycle/web/s1#work_items", planner.AddMembers)
	shop.Object.Files, add.Members.Sources = []string{"a.yaml", "web/b.yaml"}, []string{"-"}
	intend(t, f, shop, cart)
	complete(t, f, shop, executor.Outcome{Record: planner.Record{ID: "1", Identifier: "WEB-1", Values: map[string]string{"name": "Läden \"\x1b[31m\u202e\\ \n"}}}, nil)
	intend(t, f, web, add)
	complete(t, f, cart, executor.Outcome{}, errRefused)
	complete(t, f, add, executor.Outcome{Record: planner.Record{Members: []string{"1", "0"}}}, nil)
	intend(t, f, old, create("work_item/web/lost"))
	complete(t, f, web, executor.Outcome{Record: planner.Record{ID: "p", Values: map[string]string{"name": "Website"}}}, nil)
	complete(t, f, old, executor.Outcome{}, nil)
	die(t, f)
	return path, readFile(t, path), readFile(t, path+".journal")
}

// told returns the facts that a reader with only a JSON parser would gather from whole lines: the open steps, and the
// results of the others.
func told(t *testing.T, whole []string) (open, ended map[string]string) {
	t.Helper()
	open, ended = map[string]string{}, map[string]string{}
	for _, text := range whole {
		var l struct {
			I, O, F string
			Action  string
		}
		must(t, json.Unmarshal([]byte(text), &l))
		switch {
		case l.I != "":
			open[l.I] = l.Action
		case l.O != "":
			delete(open, l.O)
			ended[l.O] = l.Action
		case l.F != "":
			delete(open, l.F)
			ended[l.F] = "nothing"
		}
	}
	return open, ended
}

func TestAJournalCutAtAnyByteNeitherInventsNorLoses(t *testing.T) {
	t.Parallel()
	path, _, journal := sampleJournal(t)
	s, err := Read(t.Context(), path, testOptions())
	must(t, err)
	if len(s.Prior()) != 4 {
		t.Fatalf("the whole journal gives %v", s.Prior())
	}
	for cut := range len(journal) + 1 {
		writeFile(t, path+".journal", journal[:cut])
		lines := strings.SplitAfter(journal[:cut], "\n")
		if last := len(lines) - 1; cut == len(journal) || journal[cut] != '\n' { // only its line feed may be missing
			lines = lines[:last]
		}
		open, ended := told(t, lines)
		prior := readPrior(t, path)
		addresses := map[string]bool{"project/web": true, "label/web/old": true}
		for _, r := range prior {
			addresses[string(r.Address)] = true
		}
		for a := range open {
			addresses[a] = true
		}
		for a := range ended {
			addresses[a] = true
		}
		for a := range addresses {
			r, known := prior[addr(a)]
			if isOpen := r.PendingIntent != nil; isOpen != (open[a] != "") || isOpen && r.PendingIntent.Action.String() != open[a] {
				t.Fatalf("cut at %d: %s is open: %v, but its lines say %q", cut, a, r.PendingIntent, open[a])
			}
			if want := wantKnown(a, open[a], ended[a]); known != want {
				t.Fatalf("cut at %d: %s is known: %v", cut, a, known)
			}
			if changed := a == "project/web" && r.Values["name"] == "Website"; changed != (a == "project/web" && ended[a] == "update") {
				t.Fatalf("cut at %d: %s is %v", cut, a, r)
			}
			if a == "work_item/web/shop" && (r.ID == "1") != (ended[a] == "create") || a == "cycle/web/s1#work_items" && (len(r.Members) == 2) != (ended[a] == "add_members") {
				t.Fatalf("cut at %d: %s is %v", cut, a, r)
			}
		}
	}
	// And once for real: what a cut leaves can be opened, and run on.
	for cut := 0; cut < len(journal); cut += 37 {
		writeFile(t, path+".journal", journal[:cut])
		want := readPrior(t, path)
		f := open(t, path)
		if diff := priorDiff(want, f.Prior()); diff != "" {
			t.Fatal(diff)
		}
		must(t, f.Close())
		if diff := priorDiff(want, readPrior(t, path)); diff != "" {
			t.Fatal(diff)
		}
		path, _, journal = sampleJournal(t)
	}
}

func wantKnown(address, open, ended string) bool {
	switch address {
	case "project/web":
		return true
	case "label/web/old":
		return ended != "delete"
	default:
		return open != "" || ended == "create" || ended == "add_members"
	}
}

func TestAnyDamageToAJournalIsNoticed(t *testing.T) {
	t.Parallel()
	path, state, journal := sampleJournal(t)
	text := []byte(journal)
	for i := range text {
		for bit := range 8 {
			text[i] ^= 1 << bit
			if j, err := parseJournal(path, text); err == nil {
				t.Fatalf("byte %d, bit %d flipped: it was read as %d lines", i, bit, len(j.lines))
			}
			text[i] ^= 1 << bit
		}
	}
	lines := strings.SplitAfter(journal, "\n")
	lines = slices.DeleteFunc(lines[:len(lines)-1], func(line string) bool { return strings.HasPrefix(line, markStart) })
	for i := range lines {
		last := i == len(lines)-1
		if _, err := parseJournal(path, []byte(strings.Join(slices.Delete(slices.Clone(lines), i, i+1), ""))); err == nil && !last {
			t.Errorf("line %d taken out: not noticed", i+1)
		}
		if _, err := parseJournal(path, []byte(strings.Join(slices.Insert(slices.Clone(lines), i, lines[i]), ""))); err == nil {
			t.Errorf("line %d twice: not noticed", i+1)
		}
		if i > 0 {
			swapped := slices.Clone(lines)
			swapped[i], swapped[i-1] = swapped[i-1], swapped[i]
			if _, err := parseJournal(path, []byte(strings.Join(swapped, ""))); err == nil {
				t.Errorf("lines %d and %d swapped: not noticed", i, i+1)
			}
		}
		if _, err := parseJournal(path, []byte(strings.Join(lines[:i+1], "")+strings.Repeat("\x00", 100))); err != nil {
			t.Errorf("zeros after line %d: %v", i+1, err)
		}
	}
	// What it says, and that nothing is touched.
	lines[3] = strings.Replace(lines[3], "WEB-1", "WEB-2", 1)
	writeFile(t, path+".journal", strings.Join(lines, ""))
	before := folder(t, path)
	for name, open := range readers() {
		err := open(t, path, testOptions())
		corrupt, ok := errors.AsType[*CorruptError](err)
		if !ok || corrupt.Line != 4 || !strings.HasSuffix(corrupt.Path, ".journal") || !strings.Contains(withHint(err), "move the journal away") {
			t.Errorf("%s: %v", name, err)
		}
		after := folder(t, path)
		for _, name := range []string{"x.state.json.lock", "x.state.json.lock.json"} {
			delete(before, name)
			delete(after, name)
		}
		if diff := cmp.Diff(before, after); diff != "" || after["x.state.json"] != state {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// readers are the ways to get at a state.
func readers() map[string]func(*testing.T, string, Options) error {
	return map[string]func(*testing.T, string, Options) error{
		"read": func(_ *testing.T, path string, opts Options) error {
			_, err := Read(context.Background(), path, opts)
			return err
		},
		"open": func(t *testing.T, path string, opts Options) error {
			t.Helper()
			f, err := Open(t.Context(), path, opts)
			if err == nil {
				err = f.Close()
			}
			return err
		},
	}
}

// lines is the text of a journal.
func lines(tb testing.TB, h header, more ...any) []byte {
	tb.Helper()
	var b []byte
	crc := uint32(0)
	for _, l := range append([]any{h}, more...) {
		var err error
		if b, crc, err = appendLine(b, l, crc); err != nil {
			tb.Fatal(err)
		}
	}
	return b
}

func TestAJournalOfAnotherStateIsRefused(t *testing.T) {
	t.Parallel()
	good := header{Version: journalVersion, ID: "j1", identity: identity{Lineage: "l1", Serial: 3, BaseURL: "https://api.plane.so", Workspace: "acme"}}
	with := func(change func(*header)) string {
		h := good
		change(&h)
		return string(lines(t, h, line{Intent: "a/b", Action: new(planner.Create)}))
	}
	state := `{"format_version":1,"lineage":"l1","serial":3,"base_url":"https://api.plane.so/","workspace":"acme","journal":"j0","objects":[]}`
	for name, test := range map[string]struct {
		state, journal string
		want           string // of the error; "" = none
	}{
		"a journal of its own state is read":                          {state, with(func(*header) {}), ""},
		"a journal of another lineage is refused":                     {state, with(func(h *header) { h.Lineage = "l2" }), `belongs to the state of lineage "l2", not to "l1"`},
		"a journal of a newer state is refused":                       {state, with(func(h *header) { h.Serial = 4 }), `belongs to the state of serial "4", not to "3"`},
		"a journal of an older state is refused":                      {state, with(func(h *header) { h.Serial = 2 }), `belongs to the state of serial "2", not to "3"`},
		"a journal of another server is refused":                      {state, with(func(h *header) { h.BaseURL = "https://plane.example.com" }), `belongs to the server "https://plane.example.com"`},
		"a journal of another workspace is refused":                   {state, with(func(h *header) { h.Workspace = "globex" }), `belongs to the workspace "globex"`},
		"a journal that was replayed already is skipped":              {state, with(func(h *header) { h.ID, h.Serial = "j0", 2 }), ""},
		"a journal of a state that is lost is refused":                {"", with(func(*header) {}), `put back the state file`},
		"a journal of a state that was never saved is read":           {"", with(func(h *header) { h.Serial = 0 }), ""},
		"a journal of a newer planform is refused":                    {state, `{"planform_journal":3,"checksum":"x"}` + "\n", "format version 3"},
		"a journal of a newer planform with the same sums is refused": {state, newerJournal(), "format version 7"},
		"a file with some other text is refused":                      {state, "dear diary\n", ":1: this is not a journal of planform"},
		"a file with some other text without a line feed is refused":  {state, "dear diary", ":1: this is not a journal of planform"},
		"an empty journal is read":                                    {state, "", ""},
		"a journal of zeros is read":                                  {state, "\x00\x00\x00", ""},
		"a line with an unknown action is refused":                    {state, string(lines(t, good, line{Intent: "a/b", Action: new(planner.NotPossible)})), `:2: there is no action "not_possible"`},
		"a line of unknown kind is refused":                           {state, string(lines(t, good, map[string]string{"x": "a/b"})), `:2: "x" is not known here`},
		"a line that names no step is refused":                        {state, string(lines(t, good, line{Action: new(planner.Create)})), `:2: the line names no step`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for how, open := range readers() {
				path := statePath(t)
				writeFile(t, path+".journal", test.journal)
				if test.state != "" {
					writeFile(t, path, test.state)
				}
				before := folder(t, path)
				err := open(t, path, testOptions())
				if test.want == "" {
					if err != nil {
						t.Errorf("%s: %v", how, err)
					}
					continue
				}
				if err == nil || !strings.Contains(withHint(err), test.want) || !strings.Contains(err.Error(), "it was left as it is") {
					t.Errorf("%s: %v", how, err)
				}
				after := folder(t, path)
				delete(after, "x.state.json.lock")
				if !maps.Equal(before, after) {
					t.Errorf("%s: was %v, is %v", how, before, after)
				}
			}
		})
	}
}

func newerJournal() string {
	b, _ := appendSum([]byte(`{"planform_journal":7,"id":"j"`), 0, 0)
	return string(b)
}

func TestAJournalThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	must(t, os.MkdirAll(path+".journal", 0o700))
	for name, open := range readers() {
		if err := open(t, path, testOptions()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestALostBlockAfterTheLastFlushEndsTheJournal plays losses of power that leave some blocks of the lines after the last
// flush, and zeros for the others.
func TestALostBlockAfterTheLastFlushEndsTheJournal(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	f := open(t, path)
	intend(t, f, create("a/first"))
	intend(t, f, create("a/flushed"))
	flushed := int(f.writer.onDisk)
	for range 20 { // outcomes are not flushed
		complete(t, f, create("a/first"), executor.Outcome{Record: planner.Record{ID: "i", Identifier: strings.Repeat("W", 100)}}, nil)
	}
	die(t, f)
	journal := readFile(t, path+".journal")
	lose := func(from int) string { return journal[:from] + strings.Repeat("\x00", 512) + journal[from+512:] }

	writeFile(t, path+".journal", lose(flushed))
	prior := readPrior(t, path)
	if prior["a/first"].PendingIntent == nil || prior["a/flushed"].PendingIntent == nil {
		t.Errorf("an intent that was flushed is lost: %v", prior)
	}
	writeFile(t, path+".journal", lose(flushed+700))
	if prior := readPrior(t, path); prior["a/first"].ID != "i" || prior["a/flushed"].PendingIntent == nil {
		t.Errorf("whole lines before the loss are lost: %v", prior)
	}
	f = open(t, path) // and the next run goes on
	must(t, f.Close())
	if prior := readPrior(t, path); prior["a/flushed"].PendingIntent == nil {
		t.Errorf("got %v", prior)
	}
}

func TestALostBlockBeforeTheLastFlushIsDamage(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	f := open(t, path)
	for i := range 20 {
		intend(t, f, create(addr("a/"+strconv.Itoa(i))))
	}
	die(t, f)
	journal := readFile(t, path+".journal")
	first := strings.IndexByte(journal, '\n') + 1
	writeFile(t, path+".journal", journal[:first]+strings.Repeat("\x00", 512)+journal[first+512:])
	_, err := Read(t.Context(), path, testOptions())
	if corrupt, ok := errors.AsType[*CorruptError](err); !ok || corrupt.Line != 2 {
		t.Errorf("got %v", err)
	}
}

func FuzzJournal(f *testing.F) {
	h := header{Version: journalVersion, ID: "j", identity: identity{Lineage: "l", Serial: 1, BaseURL: "https://x", Workspace: "w"}}
	var all []any
	for _, l := range []line{
		{Intent: "a/b", Action: new(planner.Create), Name: "n", After: 4, At: time.Unix(1, 0)},
		{Commit: "a/b", Action: new(planner.Create), Record: planner.Record{ID: "i", Identifier: "W-1", Values: map[string]string{"k": "v"}}, At: time.Unix(2, 0)},
		{Commit: "a/b#c.2", Action: new(planner.AddMembers), Record: planner.Record{Members: []string{"x"}, PendingIntent: &planner.Intent{Action: planner.AddMembers, Name: "n", After: 3, At: time.Unix(2, 0)}}},
		{Abort: "a/b"},
	} {
		f.Add(lines(f, h, all...))
		all = append(all, l)
	}
	f.Add(lines(f, h, all...))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, text := range [][]byte{text, resum(text)} {
			j, err := parseJournal("x", text)
			if err != nil || j == nil {
				continue
			}
			var all []any
			for _, l := range j.lines {
				all = append(all, l)
			}
			again := lines(t, j.header, all...)
			k, err := parseJournal("x", again)
			if err != nil {
				t.Fatalf("%q became %q: %v", text, again, err)
			}
			one, two := replayed(j), replayed(k)
			if diff := cmp.Diff(one.records, two.records); diff != "" {
				t.Fatalf("%q became %q: %s", text, again, diff)
			}
		}
	})
}

// resum gives every line the right sum, so that the fuzzer gets past it.
func resum(text []byte) []byte {
	var b []byte
	crc := uint32(0)
	for raw := range strings.SplitSeq(string(text), "\n") {
		if len(raw) > crcSize {
			start := len(b)
			b, crc = appendSum(append(b, raw[:len(raw)-crcSize]...), start, crc)
		}
	}
	return b
}

func replayed(j *journal) *store {
	m := newStore(content{records: planner.Prior{}})
	for _, l := range j.lines {
		m.apply(l)
	}
	return &m
}

func TestEachLineStaysOneLineWhateverTextItHolds(t *testing.T) {
	t.Parallel()
	nasty := "\x00\x01\x1b[2J\r\n\t\"\\\u0085\u009b31m\u2028\u202e\ufeff\U000e0041é日本\xff\xc3"
	l := line{Commit: addr(nasty), Action: new(planner.Update), Record: planner.Record{
		ID: nasty, Values: map[string]string{nasty: nasty}, Sources: []string{nasty}, Members: []string{nasty}, PendingIntent: &planner.Intent{Name: nasty},
	}}
	b, _, err := appendLine(nil, l, 0)
	must(t, err)
	if strings.Count(string(b), "\n") != 1 || b[len(b)-1] != '\n' {
		t.Fatalf("%q is not one line", b)
	}
	for _, r := range string(b[:len(b)-1]) {
		if r < ' ' || r >= 0x7f && !strings.ContainsRune("é日本\ufffd", r) {
			t.Errorf("%q is in it", r)
		}
	}
	body, _, ok := verifySum(b[:len(b)-1], 0)
	if !ok {
		t.Fatal("its sum does not fit")
	}
	got, err := parseLine(append(body, '}'))
	must(t, err)
	if want := strings.ToValidUTF8(nasty[:len(nasty)-2], "") + "\ufffd\ufffd"; got.ID != want {
		t.Errorf("%q came back as %q", want, got.ID)
	}
}
