package history

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// The bounds of what is kept.
const (
	MostRuns  = 50
	MostBytes = 64 << 20
	MostText  = 1 << 20
)

// format is the version of a record.
const format = 1

// Run is what one run did to a workspace, or was about to do.
type Run struct {
	Format    int             `json:"planform_history"`
	ID        string          `json:"id"`
	Began     time.Time       `json:"began"`
	End       *End            `json:"end"` // nil = it did not come to its end
	Command   string          `json:"command"`
	By        string          `json:"by,omitempty"` // the user of the credential
	Owner     resource.Owner  `json:"owner,omitempty"`
	BaseURL   string          `json:"base_url"`
	Workspace string          `json:"workspace"`
	Lineage   string          `json:"lineage"` // of the state
	Serial    uint64          `json:"serial"`  // of the state before the run: later runs have a higher one, whatever the clocks say
	Manifests []string        `json:"manifests,omitempty"`
	Plan      string          `json:"plan"`             // its hash
	Undoes    []string        `json:"undoes,omitempty"` // the runs that it takes back
	Targets   []string        `json:"targets,omitempty"`
	Summary   planner.Summary `json:"summary"`
	Moves     []Move          `json:"moves,omitempty"` // objects that it gave other addresses
	// Within are the IDs of what its objects are in, by address, where the state does not have that: a project that is named only.
	Within map[resource.Address]string `json:"within,omitempty"`

	Steps []Step `json:"-"`
}

// End is how a run ended.
type End struct {
	At      time.Time `json:"at"`
	Done    int       `json:"done"`     // steps
	NotDone int       `json:"not_done"` // steps that failed, were blocked, or of which nobody knows
	Left    int       `json:"left"`     // steps that were not possible
	Stopped bool      `json:"stopped"`  // it ended early
	// Unanswered is when the latest write ended without an answer; zero = each had one. The service may have carried it out later.
	Unanswered time.Time `json:"unanswered,omitzero"`
}

// whole reports whether all that a run was about was carried out.
func (r *Run) whole() bool {
	return len(r.Targets) == 0 && r.End.through() && r.End.Left == 0
}

// through reports whether a run came to its end, and every step that it could take was carried out.
func (e *End) through() bool { return e != nil && e.NotDone == 0 && !e.Stopped }

// Move is that an object got another address.
type Move struct {
	From resource.Address `json:"from"`
	To   resource.Address `json:"to"`
}

// Step is one step of a run, with what it changes as it was before.
type Step struct {
	Address    resource.Address `json:"address"` // of members the one at which the state has them
	Action     planner.Action   `json:"action"`
	ID         string           `json:"id,omitempty"`
	Identifier string           `json:"identifier,omitempty"`
	Name       string           `json:"name,omitempty"`
	Fields     []Field          `json:"fields,omitempty"`
	// Lost are the fields of which the former value is not known, or too large to keep.
	Lost     []string `json:"lost,omitempty"`
	Replaces string   `json:"replaces,omitempty"` // ID of the object that is deleted for this one
	// Of an object that is deleted: the manifests that had it, and whether the state protects it.
	Sources []string `json:"files,omitempty"`
	Protect bool     `json:"protect,omitempty"`
	Members []Member `json:"members,omitempty"`
}

// Field is what a field was, as [resource.Field.TextIn] has it; "" = it was empty.
type Field struct {
	Name     string    `json:"name"`
	Before   string    `json:"before"`
	Names    []string  `json:"names,omitempty"`    // of what it referred to, in the order of the IDs
	Property *Property `json:"property,omitempty"` // of a custom field
}

// Was is what a field was, for people; "" = it was empty.
func (f *Field) Was() string {
	if len(f.Names) > 0 {
		return strings.Join(f.Names, ", ")
	}
	return f.Before
}

// Property defines a custom field.
type Property struct {
	Address resource.Address  `json:"address"`
	Texts   map[string]string `json:"texts"` // what its type hangs on
}

// Member is a member of a container.
type Member struct {
	ID      string           `json:"id,omitempty"`
	Address resource.Address `json:"address,omitempty"` // where the state or the manifest has it
	Name    string           `json:"name,omitempty"`    // for people, where it has no address
	Value   string           `json:"value,omitempty"`   // the former attribute, such as a role
	From    resource.Address `json:"from,omitempty"`    // where the state had it before it moved
}

// NewID is the ID of a run that begins now. IDs sort by time.
func NewID(now time.Time) string {
	var b [2]byte
	_, _ = rand.Read(b[:]) // it never fails
	return strings.Replace(now.UTC().Format("20060102-150405.000"), ".", "-", 1) + "-" + hex.EncodeToString(b[:])
}

var idForm = regexp.MustCompile(`^[0-9]{8}-[0-9]{6}-[0-9]{3}-[0-9a-f]{4}$`)

// IsID reports whether a text has the form of a run's ID.
func IsID(text string) bool { return idForm.MatchString(text) }

// ErrDamaged is wrapped by the error for a record that was cut or edited.
var ErrDamaged = errors.New("the record was cut or edited")

// encode writes a run.
func (r *Run) encode() ([]byte, error) {
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(r); err != nil {
		return nil, err
	}
	for i := range r.Steps {
		if err := lines.Encode(&r.Steps[i]); err != nil {
			return nil, err
		}
	}
	sum := sha256.Sum256(b.Bytes())
	fmt.Fprintf(&b, "%s%s\"}\n", sumMark, hex.EncodeToString(sum[:]))
	return b.Bytes(), nil
}

// sumMark begins the last line of a record.
const sumMark = `{"sha256":"`

// decode reads a run.
func decode(name string, text []byte) (*Run, error) {
	damaged := func(line int, why any) (*Run, error) {
		return nil, fmt.Errorf("%s, line %d: %w: %v", name, line, ErrDamaged, why)
	}
	at := bytes.LastIndexByte(bytes.TrimSuffix(text, []byte("\n")), '\n') + 1
	sum := sha256.Sum256(text[:at])
	total := bytes.Count(text[:at], []byte("\n")) + 1
	if string(text[at:]) != sumMark+hex.EncodeToString(sum[:])+"\"}\n" {
		return damaged(total, "its checksum does not fit")
	}
	r := &Run{}
	lines := bufio.NewScanner(bytes.NewReader(text[:at]))
	lines.Buffer(nil, len(text)+1)
	for n := 1; lines.Scan(); n++ {
		if n > 1 {
			var s Step
			if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
				return damaged(n, err)
			}
			r.Steps = append(r.Steps, s)
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), r); err != nil {
			return damaged(n, err)
		}
		if r.Format > format {
			return nil, fmt.Errorf("%s is of format %d, and this planform reads %d: use a newer one", name, r.Format, format)
		}
	}
	if r.Format < 1 || !IsID(r.ID) || r.ID != strings.TrimSuffix(name, suffix) {
		return damaged(1, "it is the record of no run, or of another")
	}
	return r, lines.Err()
}
