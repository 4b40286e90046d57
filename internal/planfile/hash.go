package planfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/planform/planform/internal/resource"
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
	}
	all := struct {
		FormatVersion      int
		BaseURL, Workspace string
		Steps              []step
		Corrections        []Correction
	}{d.FormatVersion, d.BaseURL, d.Workspace, make([]step, len(d.Steps)), nil}
	for i, s := range d.Steps {
		changes := make([]Change, len(s.Changes))
		for j, c := range s.Changes {
			changes[j] = Change{Path: c.Path, Before: c.Before, After: c.After, SHA256: c.SHA256, Possible: c.Possible, References: c.References}
		}
		all.Steps[i] = step{s.Address, s.Action, s.Adopted != nil, s.ID, changes, s.Members, s.Replaces}
	}
	for _, c := range d.Corrections {
		if c.Why != "" { // else nobody need know
			all.Corrections = append(all.Corrections, Correction{From: c.From, To: c.To})
		}
	}
	text, err := json.Marshal(all)
	if err != nil { // it is made of texts
		panic(err)
	}
	return "sha256:" + Digest(text)
}

// Digest is the SHA-256 of a text in hexadecimal digits.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
