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

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// Bounds of the records that are kept.
const (
	MostRuns  = 50
	MostBytes = 64 << 20
	MostText  = 1 << 20
)

// format is the version of a record.
const format = 1

// Run is the record of one run: what it did to a workspace, or was about to do.
type Run struct {
	Format    int             `json:"planform_history"`
	ID        string          `json:"id"`
	Began     time.Time       `json:"began"`
	End       *End            `json:"end"` // nil = the run did not come to its end
	Command   string          `json:"command"`
	By        string          `json:"by,omitempty"` // the user of the credential
	Owner     resource.Owner  `json:"owner,omitempty"`
	BaseURL   string          `json:"base_url"`
	Workspace string          `json:"workspace"`
	Lineage   string          `json:"lineage"` // of the state
	Serial    uint64          `json:"serial"`  // of the state before the run: it grows with each run, even if clocks are wrong
	Manifests []string        `json:"manifests,omitempty"`
	Plan      string          `json:"plan"`             // hash of the plan
	Undoes    []string        `json:"undoes,omitempty"` // IDs of the runs that this run takes back
	Targets   []string        `json:"targets,omitempty"`
	Summary   planner.Summary `json:"summary"`
	Moves     []Move          `json:"moves,omitempty"` // objects whose address the run changed
	// Within holds the IDs of parents that are not in the state, by address, such as a project that a manifest only names.
	Within map[resource.Address]string `json:"within,omitempty"`
	// Refused holds the steps that were not possible.
	Refused []Refusal `json:"not_possible,omitempty"`

	Steps []Step `json:"-"`
}

// End is the outcome of a run.
type End struct {
	At      time.Time `json:"at"`
	Done    int       `json:"done"`     // steps
	NotDone int       `json:"not_done"` // steps that failed, were blocked, or have no known outcome
	Left    int       `json:"left"`     // steps that were not possible
	Stopped bool      `json:"stopped"`  // the run ended early
	// Unanswered is when the latest write ended without an answer; zero = every write was answered. The service
	// may have carried it out later.
	Unanswered time.Time `json:"unanswered,omitzero"`
}

// isComplete reports whether a run was about the whole manifest and all of it was carried out.
func (r *Run) isComplete() bool {
	return len(r.Targets) == 0 && r.End.isSuccess() && r.End.Left == 0
}

// isSuccess reports whether a run came to its end and carried out every step that was possible.
func (e *End) isSuccess() bool { return e != nil && e.NotDone == 0 && !e.Stopped }

// Refusal is a step that was not possible, and why.
type Refusal struct {
	Address resource.Address `json:"address"`
	Why     string           `json:"why"`
}

// Move is a change of an object's address.
type Move struct {
	From resource.Address `json:"from"`
	To   resource.Address `json:"to"`
}

// Step is one step of a run, with the former values of the fields that it changes.
type Step struct {
	Address    resource.Address `json:"address"` // for members, the address of their record in the state
	Action     planner.Action   `json:"action"`
	ID         string           `json:"id,omitempty"`
	Identifier string           `json:"identifier,omitempty"`
	Name       string           `json:"name,omitempty"`
	Fields     []Field          `json:"fields,omitempty"`
	// Lost names the fields whose former value is not known, or too large to keep.
	Lost     []string `json:"lost,omitempty"`
	Replaces string   `json:"replaces,omitempty"` // ID of the object that is deleted to make room for this one
	// Sources and Protect describe a deleted object: the manifests that held it, and whether the state protects it.
	Sources []string `json:"files,omitempty"`
	Protect bool     `json:"protect,omitempty"`
	Members []Member `json:"members,omitempty"`
}

// Field is the former value of a field, in the form of [resource.Field.TextIn]; "" = the field was empty.
type Field struct {
	Name     string    `json:"name"`
	Before   string    `json:"before"`
	Names    []string  `json:"names,omitempty"`    // of the objects that it referred to, in the order of the IDs
	Property *Property `json:"property,omitempty"` // of a custom field
}

// Was returns the former value for people; "" = the field was empty.
func (fd *Field) Was() string {
	if len(fd.Names) > 0 {
		return strings.Join(fd.Names, ", ")
	}
	return fd.Before
}

// Property defines a custom field.
type Property struct {
	Address resource.Address  `json:"address"`
	Texts   map[string]string `json:"texts"` // values that define its type
}

// Member is a member of a container.
type Member struct {
	ID      string           `json:"id,omitempty"`
	Address resource.Address `json:"address,omitempty"` // in the state or the manifest
	Name    string           `json:"name,omitempty"`    // for people, if there is no address
	Value   string           `json:"value,omitempty"`   // the former attribute, such as a role
	From    resource.Address `json:"from,omitempty"`    // membership record that held the member before it moved
}

// NewID returns the ID of a run that begins now. IDs sort by time.
func NewID(now time.Time) string {
	var b [2]byte
	_, _ = rand.Read(b[:]) // Read never fails
	return strings.Replace(now.UTC().Format("20060102-150405.000"), ".", "-", 1) + "-" + hex.EncodeToString(b[:])
}

var idForm = regexp.MustCompile(`^[0-9]{8}-[0-9]{6}-[0-9]{3}-[0-9a-f]{4}$`)

// IsID reports whether a text has the form of a run's ID.
func IsID(text string) bool { return idForm.MatchString(text) }

// ErrDamaged says that a record was cut or edited.
var ErrDamaged = errors.New("the record was cut or edited")

// encode writes a run as a record.
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

// decode reads a record.
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
