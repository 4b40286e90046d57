package planfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// meaning is the hash of what the plan does, such as sha256:9f86...
func (d *Document) meaning() string {
	type step struct {
		Address  resource.Address
		Action   string
		Adopts   bool
		ID       *string
		Changes  []Change
		Members  []Member
		Replaces string
		Lost     []planner.Content `json:",omitempty"`
	}
	all := struct {
		FormatVersion      int
		BaseURL, Workspace string
		Steps              []step
		Corrections        []StateChange
	}{d.FormatVersion, d.BaseURL, d.Workspace, []step{}, nil}
	for _, c := range d.StateChanges {
		if c.Why != "" { // else nobody need know
			all.Corrections = append(all.Corrections, StateChange{From: c.From, To: c.To})
		}
	}
	return "sha256:" + d.digest(all, "Steps", func(s *Step) any {
		changes := make([]Change, len(s.Changes))
		for i, c := range s.Changes {
			changes[i] = Change{Path: c.Path, Before: c.Before, After: c.After, SHA256: c.SHA256, Possible: c.Possible, References: c.References}
		}
		return step{s.Address, s.Action, s.Adopted != nil, s.ID, changes, s.Members, s.Replaces, s.lost()}
	})
}

// sum is the checksum of the whole document but itself. It tells an edit of what the hash leaves out, such as the options.
func (d *Document) sum() string {
	rest := *d
	rest.Checksum, rest.Steps = "", []Step{}
	return d.digest(rest, "steps", func(s *Step) any { return s })
}

// digest is that of the JSON of a value whose list of steps is empty, with the steps in it. They are encoded one by one,
// since they may be many.
func (d *Document) digest(value any, key string, step func(*Step) any) string {
	sum := sha256.New()
	write := func(text []byte) { _, _ = sum.Write(text) } // it never fails
	encode := func(v any) []byte {
		text, err := json.Marshal(v)
		if err != nil { // it is made of texts
			panic(err)
		}
		return text
	}
	begin := []byte(`"` + key + `":[`) // within a text, it would have other quotation marks
	head, tail, _ := bytes.Cut(encode(value), begin)
	write(head)
	write(begin)
	for i := range d.Steps {
		if i > 0 {
			write([]byte(","))
		}
		write(encode(step(&d.Steps[i])))
	}
	write(tail)
	return hex.EncodeToString(sum.Sum(nil))
}

// lost is what goes with an object that is deleted.
func (s *Step) lost() []planner.Content {
	if s.Loss == nil {
		return nil
	}
	return s.Loss.Contents
}

// Digest is the SHA-256 of a text in hexadecimal digits.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
