package history_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/internal/state/history"
	"github.com/planform/planform/planner"
)

// memory is a store in memory.
type memory map[string]string

func (m memory) Put(_ context.Context, name string, text []byte) error {
	m[name] = string(text)
	return nil
}

func (m memory) Get(_ context.Context, name string) ([]byte, error) {
	text, ok := m[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

func (m memory) List(context.Context) (names []string, _ error) {
	for name := range m {
		names = append(names, name)
	}
	return names, nil
}

func (m memory) Remove(_ context.Context, name string) error {
	delete(m, name)
	return nil
}

// id returns the ID of the n-th run.
func id(n int) string { return fmt.Sprintf("20261123-%06d-000-abcd", n) }

// run is the n-th run of a history.
func run(n int, steps ...history.Step) *history.Run {
	return &history.Run{
		ID: id(n), Workspace: "acme", Began: time.Unix(1_800_000_000+int64(n), 0).UTC(), Command: "apply", Serial: uint64(n), Steps: steps,
		End: &history.End{Done: len(steps)},
	}
}

func TestARunIsReadAsItWasRecorded(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]history.Store{"in memory": memory{}, "in a folder": history.Folder{Disk: disk.OS{}, Path: filepath.Join(t.TempDir(), "state.json.history")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &history.History{Store: store, Lineage: "one"}
			if ids, err := h.IDs(t.Context()); err != nil || len(ids) > 0 {
				t.Fatal(ids, err)
			}
			r := run(1,
				history.Step{Address: "work_item/web/a", Action: planner.Update, ID: "i", Fields: []history.Field{{Name: "name", Before: "A\n\"b\"\x1b\u2028"}}, Lost: []string{"file"}},
				history.Step{Address: "cycle/web/s#work_items", Action: planner.AddMembers, Members: []history.Member{{ID: "x", From: "cycle/web/o#work_items"}}},
			)
			if err := h.Save(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			got, err := h.Run(t.Context(), r.ID)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(r, got); diff != "" {
				t.Error(diff)
			}
			other := &history.History{Store: store, Lineage: "two"}
			if _, err := other.Run(t.Context(), r.ID); err == nil || !strings.Contains(err.Error(), "of a run with another state") {
				t.Error(err)
			}
			if _, err := h.Run(t.Context(), id(2)); err == nil || !strings.Contains(err.Error(), "the history has no run "+id(2)) {
				t.Error(err)
			}
		})
	}
}

func TestOnlyItsOwnerReadsAHistoryOnDisk(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "state.json.history")
	h := &history.History{Store: history.Folder{Disk: disk.OS{}, Path: folder}}
	if err := h.Save(t.Context(), run(1)); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	for _, name := range append(names, folder) {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Error(name, info.Mode(), err)
		}
	}
}

func TestADamagedRecordIsNeverRead(t *testing.T) {
	t.Parallel()
	store := memory{}
	h := &history.History{Store: store}
	if err := h.Save(t.Context(), run(1, history.Step{Address: "label/web/a", Action: planner.Create}, history.Step{Address: "label/web/b", Action: planner.Create})); err != nil {
		t.Fatal(err)
	}
	name := id(1) + ".jsonl"
	whole := store[name]
	wrong := map[string]string{"empty": "", "edited": strings.Replace(whole, "label/web/a", "label/web/c", 1), "of another run": strings.ReplaceAll(whole, id(1), id(2))}
	for at := range len(whole) - 1 {
		wrong[fmt.Sprintf("cut at %d", at)] = whole[:at]
	}
	for how, text := range wrong {
		store[name] = text
		if r, err := h.Run(t.Context(), id(1)); !errors.Is(err, history.ErrDamaged) {
			t.Errorf("%s: %+v, %v", how, r, err)
		}
	}
	if runs, err := h.Runs(t.Context()); len(runs) > 0 || !errors.Is(err, history.ErrDamaged) {
		t.Error(runs, err)
	}
}

func TestTheOldestRunsAreForgotten(t *testing.T) {
	t.Parallel()
	h := &history.History{Store: memory{}}
	for n := range history.MostRuns + 3 {
		r := run(n)
		r.End = nil
		if err := h.Save(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	ids, err := h.IDs(t.Context())
	if err != nil || len(ids) != history.MostRuns || ids[0] != id(3) {
		t.Error(len(ids), ids[0], err)
	}
	large := run(99, history.Step{Address: "work_item/web/a", Action: planner.Update, Fields: []history.Field{{Before: strings.Repeat("a", history.MostBytes)}}})
	large.End = nil
	if err := h.Save(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	if ids, err := h.IDs(t.Context()); err != nil || !slices.Equal(ids, []string{id(99)}) {
		t.Errorf("%d runs, %v: a large one keeps no other", len(ids), err)
	}
}

func TestTheLastRunIsTheNewestUntilItIsTakenBack(t *testing.T) {
	t.Parallel()
	died := func(r *history.Run) *history.Run { r.End = nil; return r }
	stopped := func(r *history.Run) *history.Run { r.End.Stopped = true; return r }
	failed := func(r *history.Run) *history.Run { r.End.NotDone = 2; return r }
	left := func(r *history.Run) *history.Run { r.End.Left = 1; return r }
	in := func(r *history.Run, file string) *history.Run { r.Manifests = []string{file}; return r }
	undo := func(n int, of ...int) *history.Run {
		r := run(n)
		for _, o := range of {
			r.Undoes = append(r.Undoes, id(o))
		}
		return r
	}
	targeted := func(r *history.Run) *history.Run { r.Targets = []string{"label/*"}; return r }
	for name, tt := range map[string]struct {
		runs []*history.Run
		want []int
	}{
		"no run is the last if there is none":                                 {},
		"the newest run is the last":                                          {[]*history.Run{run(1), run(2)}, []int{2}},
		"the last run is taken with the unfinished runs that it continued":    {[]*history.Run{run(1), died(run(2)), failed(run(3)), stopped(run(4)), run(5)}, []int{5, 4, 3, 2}},
		"the last run is not taken with an unfinished run of other manifests": {[]*history.Run{in(died(run(1)), "a.yaml"), in(run(2), "b.yaml")}, []int{2}},
		"a run that died is the last":                                         {[]*history.Run{run(1), died(run(2))}, []int{2}},
		"no run is the last before one that was taken back":                   {[]*history.Run{run(1), run(2), undo(3, 2)}, nil},
		"a run that another undo took back in part is the last":               {[]*history.Run{run(1), run(2), undo(3, 2), left(undo(4, 1))}, []int{1}},
		"all runs that an undo took back in part are the last":                {[]*history.Run{run(1), run(2), run(3), died(undo(4, 3, 2))}, []int{3, 2}},
		"a run after an undo is the last":                                     {[]*history.Run{run(1), run(2), undo(3, 2), run(4)}, []int{4}},
		"no run is the last once the run after an undo is taken back too":     {[]*history.Run{run(1), run(2), undo(3, 2), run(4), left(undo(5, 4)), undo(6, 4)}, nil},
		"no run is the last, even if another undo was undone":                 {[]*history.Run{run(1), run(2), undo(3, 2), undo(4, 3), undo(5, 2)}, nil},
		"a run that was taken back in part is the last":                       {[]*history.Run{run(1), run(2), left(undo(3, 2))}, []int{2}},
		"a run whose undo died is the last":                                   {[]*history.Run{run(1), run(2), died(undo(3, 2))}, []int{2}},
		"a run whose undo had targets is the last":                            {[]*history.Run{run(1), run(2), targeted(undo(3, 2))}, []int{2}},
		"a run whose undo was taken back is the last":                         {[]*history.Run{run(1), run(2), undo(3, 2), undo(4, 3)}, []int{2}},
		"no run is the last if all are taken back":                            {[]*history.Run{run(1), run(2), undo(3, 2, 1)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			last, by := history.Last(tt.runs)
			for _, r := range last {
				got = append(got, r.ID)
			}
			if len(tt.runs) > 0 && (by != nil) != (last == nil) {
				t.Errorf("%v and %v", last, by)
			}
			var want []string
			for _, n := range tt.want {
				want = append(want, id(n))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// uuid is an ID of the service.
func uuid(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// in is a state that knows objects, which their IDs follow, and members.
func in(objects ...string) planner.Prior {
	prior := planner.Prior{}
	for n, o := range objects {
		address, members, _ := strings.Cut(o, "=")
		a := resource.Address(address)
		r := planner.Record{Address: a, Sources: []string{"web.yaml"}}
		if members != "" {
			r.Members = strings.Split(members, ",")
		} else {
			r.ID = uuid(n)
		}
		prior[a] = r
	}
	return prior
}

// lines returns the result of an undo as text.
func lines(u *history.Undoing) (all []string) {
	for _, o := range u.Objects {
		var line strings.Builder
		if !o.NoCreate {
			line.WriteString("anew ")
		}
		line.WriteString(string(o.Address))
		for i := range o.Values {
			v := &o.Values[i]
			fmt.Fprintf(&line, " %s=%s", v.Field.Name, v.Text)
			for _, r := range v.Refs {
				fmt.Fprintf(&line, "<%s>", r.Text)
			}
			for _, page := range slices.Sorted(maps.Keys(v.Targets)) {
				fmt.Fprintf(&line, "<%s -> %s>", page, v.Targets[page])
			}
		}
		if len(o.Values) > 0 || !o.NoCreate {
			all = append(all, line.String())
		}
	}
	for a := range u.Deletes {
		all = append(all, "delete "+string(a))
	}
	for a, members := range u.Leaves {
		for id := range members {
			all = append(all, "leave "+string(a)+" "+strings.TrimLeft(id[24:], "0"))
		}
	}
	for _, d := range u.Notices {
		all = append(all, "note "+d.Summary)
	}
	slices.Sort(all)
	return all
}

func TestTheTimeWhenTheLatestRequestWasGivenUpIsKnown(t *testing.T) {
	t.Parallel()
	dead := time.Unix(1_900_000_000, 0).UTC()
	lost := run(1)
	lost.End.Unanswered = lost.Began.Add(time.Second)
	killed, next := run(2), run(3)
	killed.End = nil
	for name, tt := range map[string]struct {
		runs []*history.Run
		ids  []string
		want time.Time
	}{
		"no request was given up if each had an answer":                                   {[]*history.Run{run(1)}, []string{id(1)}, time.Time{}},
		"a request was given up when a run noted it":                                      {[]*history.Run{lost, next}, []string{id(1), id(3)}, lost.End.Unanswered},
		"a request of a killed run was given up before the next run began":                {[]*history.Run{lost, killed, next}, []string{id(1), id(2)}, next.Began},
		"a request of a killed run was given up while the run lived if no other followed": {[]*history.Run{lost, killed}, []string{id(2)}, dead},
		"a request of a run that is not taken back does not count":                        {[]*history.Run{lost, killed, next}, []string{id(3)}, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := history.GivenUp(tt.runs, tt.ids, dead); !got.Equal(tt.want) {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// within adds the ID of a parent that the state does not know to a run.
func within(r *history.Run, a resource.Address) *history.Run {
	r.Within = map[resource.Address]string{a: "8a234ec6-0000-4000-8000-000000000000"}
	return r
}

func TestAnUndoRestoresTheValuesBeforeItsRuns(t *testing.T) {
	t.Parallel()
	step := func(action planner.Action, address resource.Address, fields ...string) history.Step {
		s := history.Step{Address: address, Action: action}
		for _, f := range fields {
			name, before, _ := strings.Cut(f, "=")
			s.Fields = append(s.Fields, history.Field{Name: name, Before: before})
		}
		return s
	}
	created := func(a resource.Address) history.Step { return step(planner.Create, a) }
	changed := func(a resource.Address, fields ...string) history.Step { return step(planner.Update, a, fields...) }
	deleted := func(a resource.Address, id int, fields ...string) history.Step {
		s := step(planner.Delete, a, fields...)
		s.ID = uuid(id)
		return s
	}
	members := func(action planner.Action, at resource.Address, ids ...int) history.Step {
		s := history.Step{Address: at, Action: action}
		for _, id := range ids {
			s.Members = append(s.Members, history.Member{ID: uuid(id)})
		}
		return s
	}
	moved := func(r *history.Run, from, to resource.Address) *history.Run {
		r.Moves = append(r.Moves, history.Move{From: from, To: to})
		return r
	}
	undoing := func(r *history.Run, of ...string) *history.Run { r.Undoes = of; return r }
	lost := func(s history.Step, names ...string) history.Step { s.Lost = names; return s }
	const app = "https://plane.example.com"
	page := func(id int) string {
		return app + "/acme/projects/" + uuid(0) + "/issues/" + uuid(id)
	}
	const item, label, cycle = resource.Address("work_item/web/a"), resource.Address("label/web/l"), resource.Address("cycle/web/s#work_items")
	web := in("project/web", "work_item/web/a", "label/web/l", "cycle/web/s")
	for name, tt := range map[string]struct {
		runs  []*history.Run
		undo  []string
		prior planner.Prior
		want  []string
	}{
		"an object that the run created is deleted": {
			runs: []*history.Run{run(1, created(item), created("label/web/never"))}, prior: web,
			want: []string{"delete work_item/web/a"},
		},
		"a field that the run changed gets its former value": {
			runs: []*history.Run{run(1, changed(item, "name=A", "priority=high"))}, prior: web,
			want: []string{"work_item/web/a name=A priority=high"},
		},
		"a field that the run filled is emptied": {
			runs: []*history.Run{run(1, changed(item, "start_date="))}, prior: web,
			want: []string{"work_item/web/a start_date="},
		},
		"an object that the run deleted is created under its address": {
			runs: []*history.Run{run(1, deleted("label/web/gone", 9, "name=Gone", "color=#000000"))}, prior: web,
			want: []string{"anew label/web/gone name=Gone color=#000000"},
		},
		"a reference to a deleted object names the new one": {
			runs: []*history.Run{run(1, changed(item, "labels="+uuid(9)+","+uuid(8)), deleted("label/web/gone", 9, "name=Gone"))}, prior: web,
			want: []string{"anew label/web/gone name=Gone", "work_item/web/a labels=" + uuid(9) + "," + uuid(8) + "<label/web/gone><" + uuid(8) + ">"},
		},
		"a link to the page of a deleted object names the new page, and no other link with its ID does": {
			runs: []*history.Run{run(1,
				deleted("work_item/web/b", 8, `description=<p><a href="`+page(8)+`">b</a> <a href="`+page(9)+`">c</a> <a href="https://web.archive.org/`+page(9)+`">d</a></p>`),
				deleted("work_item/web/c", 9, "name=C"),
			)},
			prior: web,
			want: []string{
				`anew work_item/web/b description=<p><a href="` + page(8) + `">b</a> <a href="` + page(9) + `">c</a> <a href="https://web.archive.org/` + page(9) + `">d</a></p>` +
					"<" + page(8) + " -> work_item/web/b><" + page(9) + " -> work_item/web/c>",
				"anew work_item/web/c name=C",
			},
		},
		"two runs are taken back together": {
			runs: []*history.Run{run(1, changed(item, "name=A")), run(2, changed(item, "name=B", "priority=low"))}, undo: []string{id(1), id(2)}, prior: web,
			want: []string{"work_item/web/a name=A priority=low"},
		},
		"an object that one run created and the next changed is deleted": {
			runs: []*history.Run{run(1, created(item)), run(2, changed(item, "name=B"))}, undo: []string{id(2), id(1)}, prior: web,
			want: []string{"delete work_item/web/a"},
		},
		"an object that one run created and the next deleted stays deleted": {
			runs: []*history.Run{run(1, created("label/web/gone")), run(2, deleted("label/web/gone", 9, "name=Gone"))}, undo: []string{id(1), id(2)}, prior: web,
		},
		"an object that one run deleted and the next created gets its former fields": {
			runs: []*history.Run{run(1, deleted(item, 9, "name=A")), run(2, created(item))}, undo: []string{id(1), id(2)}, prior: web,
			want: []string{"work_item/web/a name=A"},
		},
		"a field that a later run changed stays": {
			runs: []*history.Run{run(1, changed(item, "name=A", "priority=low")), run(2, changed(item, "name=B"))}, undo: []string{id(1)}, prior: web,
			want: []string{"note name of work_item/web/a stays as it is: the run " + id(2) + " changed it after this one", "work_item/web/a priority=low"},
		},
		"an object that a later run created stays": {
			runs: []*history.Run{run(1, deleted(item, 9, "name=A")), run(2, created(item))}, undo: []string{id(1)}, prior: web,
			want: []string{"note work_item/web/a stays as it is: the run " + id(2) + " created it after this one had deleted it"},
		},
		"a later run that was taken back blocks nothing": {
			runs: []*history.Run{run(1, changed(item, "name=A")), run(2, changed(item, "name=B")), undoing(run(3, changed(item, "name=C")), id(2))}, undo: []string{id(1)}, prior: web,
			want: []string{"work_item/web/a name=A"},
		},
		"an object that an undo created again belongs to the run that created it first": {
			runs: []*history.Run{run(1, created(item)), run(2, deleted(item, 9, "name=A")), undoing(run(3, created(item)), id(2))}, undo: []string{id(1)}, prior: web,
			want: []string{"delete work_item/web/a"},
		},
		"an earlier try of the same undo blocks nothing": {
			runs: []*history.Run{run(1, changed(item, "name=A")), undoing(run(2, changed(item, "name=B")), id(1))}, undo: []string{id(1)}, prior: web,
			want: []string{"work_item/web/a name=A"},
		},
		"an undo is taken back like a run": {
			runs: []*history.Run{run(1, created("label/web/gone")), undoing(run(2, deleted("label/web/gone", 9, "name=Gone")), id(1))}, undo: []string{id(2)}, prior: web,
			want: []string{"anew label/web/gone name=Gone"},
		},
		"an address is the one that the object has now": {
			runs: []*history.Run{run(1, changed(item, "name=A")), moved(run(2), item, "work_item/web/b")}, undo: []string{id(1)}, prior: in("project/web", "work_item/web/b"),
			want: []string{"work_item/web/b name=A"},
		},
		"two objects that exchanged their keys are told apart": {
			runs: []*history.Run{
				run(1, changed(item, "name=A"), changed("work_item/web/b", "name=B")),
				moved(moved(run(2), item, "work_item/web/b"), "work_item/web/b", item),
			},
			undo: []string{id(1)}, prior: in("project/web", "work_item/web/a", "work_item/web/b"),
			want: []string{"work_item/web/a name=B", "work_item/web/b name=A"},
		},
		"a member that joined leaves, and a member that left joins": {
			runs: []*history.Run{run(1, members(planner.AddMembers, cycle, 5), members(planner.RemoveMembers, cycle, 1))}, prior: web,
			want: []string{"leave cycle/web/s#work_items 5", "work_item/web/a cycle=<cycle/web/s>"},
		},
		"a member that joined and left stays out": {
			runs: []*history.Run{run(1, members(planner.AddMembers, cycle, 1)), run(2, members(planner.RemoveMembers, cycle, 1))}, undo: []string{id(1), id(2)}, prior: web,
			want: []string{"leave cycle/web/s#work_items 1"},
		},
		"a field that the history does not have is named": {
			runs: []*history.Run{run(1, lost(changed(item), "description"), lost(deleted("label/web/gone", 9, "name=Gone"), "file"))}, prior: web,
			want: []string{
				"anew label/web/gone name=Gone", "note description of work_item/web/a stays as it is: its former value is unknown",
				"note label/web/gone comes back without its file",
			},
		},
		"an object that the state does not know any more stays": {
			runs: []*history.Run{run(1, changed("label/web/forgotten", "name=F"))}, prior: web,
			want: []string{"note label/web/forgotten stays as it is: it or its container is no longer in the state"},
		},
		"an object in a project that the manifest only names is taken back": {
			runs:  []*history.Run{within(run(1, changed("work_item/web/a", "name=A"), deleted("work_item/web/b", 8, "name=B")), "project/web")},
			prior: in("work_item/web/a"),
			want:  []string{"anew work_item/web/b name=B", "work_item/web/a name=A"},
		},
		"an object in a project that is created anew is created there": {
			runs: []*history.Run{run(1, deleted("work_item/gone/i", 8, "name=I"), deleted("project/gone", 9, "name=Gone"))}, prior: web,
			want: []string{"anew project/gone name=Gone", "anew work_item/gone/i name=I"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			undo := tt.undo
			if undo == nil {
				undo = []string{id(1)}
			}
			u, err := history.Undo(tt.runs, undo, tt.prior, app)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, lines(u)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRunsOfTwoOwnersAreTakenBackOneByOne(t *testing.T) {
	t.Parallel()
	a, b := run(1), run(2)
	a.Owner, b.Owner = "platform", "mobile"
	if _, err := history.Undo([]*history.Run{a, b}, []string{a.ID, b.ID}, nil, ""); err == nil || !strings.Contains(err.Error(), "undo them one by one") {
		t.Error(err)
	}
	if u, err := history.Undo([]*history.Run{a, b}, []string{a.ID}, nil, ""); err != nil || u.Owner != "platform" {
		t.Error(u, err)
	}
}
