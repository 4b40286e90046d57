package state

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

func TestAStateKnowsTheOwnersWhoseRunsHaveEnded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	open := func() *File {
		f, err := Open(t.Context(), path, Options{BaseURL: "https://plane.example.com", Workspace: "acme"})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	closed := func(f *File) {
		if err := f.Save(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	f := open()
	if len(f.Snapshot().Owners()) > 0 || f.Snapshot().Knows("") {
		t.Error("a new state knows somebody")
	}
	f.Put(planner.Record{Address: "project/web", ID: "id-1"}) // as a run does that dies
	closed(f)
	if f = open(); !slices.Equal(f.Snapshot().Owners(), []resource.Owner{""}) || f.Snapshot().Knows("") {
		t.Errorf("of a run that did not end, objects may bear marks without an owner, and more of them: %q, %v", f.Snapshot().Owners(), f.Snapshot().Knows(""))
	}
	f.Own("platform")
	closed(f)
	if f = open(); !slices.Equal(f.Snapshot().Owners(), []resource.Owner{"", "platform"}) || !f.Snapshot().Knows("platform") {
		t.Errorf("an owner that was added: %q", f.Snapshot().Owners())
	}
	serial := f.store.Serial
	f.Own("platform")
	closed(f)
	if f = open(); f.store.Serial != serial {
		t.Error("a state is written though nothing is new")
	}
	closed(f)
}
