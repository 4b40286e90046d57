package history_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/planform/planform/internal/state/history"
	"github.com/planform/planform/planner"
)

// FuzzRecord reads any record, because others can write to the store.
func FuzzRecord(f *testing.F) {
	store := memory{}
	h := &history.History{Store: store}
	if err := h.Save(f.Context(), run(1,
		history.Step{Address: "label/web/a", Action: planner.Create},
		history.Step{Address: "work-item/web/1", Action: planner.Update, ID: uuid(1), Fields: []history.Field{{Name: "name", Before: "x", Names: []string{"y"}}}},
		history.Step{Address: "cycle/web/c/work-items/1", Action: planner.RemoveMembers, Members: []history.Member{{ID: uuid(2), From: "cycle/web/d"}}},
	)); err != nil {
		f.Fatal(err)
	}
	name := id(1) + ".jsonl"
	f.Add(store[name], false)
	f.Add(store[name], true)
	f.Add(`{"planform_history":1,"id":"`+id(1)+`","end":null,"undoes":["`+id(1)+`"]}`+"\n", true)
	f.Add("", true)
	f.Fuzz(func(t *testing.T, text string, sum bool) {
		if sum { // whoever writes a record can compute its checksum
			of := sha256.Sum256([]byte(text))
			text += `{"sha256":"` + hex.EncodeToString(of[:]) + "\"}\n"
		}
		store := memory{name: text}
		read, err := (&history.History{Store: store}).Run(t.Context(), id(1))
		if err != nil {
			return
		}
		history.Last([]*history.Run{read, run(2), read})
		history.GivenUp([]*history.Run{read, run(2)}, []string{read.ID}, read.Began)
		again := memory{}
		h := &history.History{Store: again}
		if err := h.Save(t.Context(), read); err != nil {
			t.Skip(err) // such as a time that JSON has no form for
		}
		second, err := h.Run(t.Context(), id(1))
		if err != nil {
			t.Fatalf("what was read and saved cannot be read: %v\n%s", err, again[name])
		}
		if diff := cmp.Diff(read, second, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}
