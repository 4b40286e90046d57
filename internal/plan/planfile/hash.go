package planfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// effectsHash returns the hash of the plan's effects, such as sha256:9f86...
func (d *Document) effectsHash() string {
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
		if c.Why != "" { // changes without a reason are not shown to people
			all.Corrections = append(all.Corrections, StateChange{From: c.From, To: c.To})
		}
	}
	return "sha256:" + d.digestWithSteps(all, "Steps", func(s *Step) any {
		changes := make([]Change, len(s.Changes))
		for i, c := range s.Changes {
			changes[i] = Change{Path: c.Path, Before: c.Before, After: c.After, SHA256: c.SHA256, Possible: c.Possible, References: c.References}
		}
		return step{s.Address, s.Action, s.Adopted != nil, s.ID, changes, s.Members, s.Replaces, s.lostContents()}
	})
}

// checksum returns the checksum of the whole document except itself. It detects an edit of the parts that the
// hash leaves out, such as the options.
func (d *Document) checksum() string {
	rest := *d
	rest.Checksum, rest.Steps = "", []Step{}
	return d.digestWithSteps(rest, "steps", func(s *Step) any { return s })
}

// digestWithSteps returns the SHA-256 of a value's JSON with the steps inserted into its empty list. It encodes the
// steps one by one, because there may be many.
func (d *Document) digestWithSteps(value any, key string, step func(*Step) any) string {
	sum := sha256.New()
	write := func(text []byte) { _, _ = sum.Write(text) } // Write never fails
	encode := func(v any) []byte {
		text, err := json.Marshal(v)
		if err != nil { // impossible: the value consists of texts and numbers
			panic(err)
		}
		return text
	}
	begin := []byte(`"` + key + `":[`) // inside a text the quotation marks would be escaped
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

// lostContents returns the contents that are deleted together with an object.
func (s *Step) lostContents() []planner.Content {
	if s.Loss == nil {
		return nil
	}
	return s.Loss.Contents
}

// Digest returns the SHA-256 of a text in hexadecimal digits.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
