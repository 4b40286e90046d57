package planfile

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// FormatVersion is the newest format of a document that can be read, and the format that is written.
const FormatVersion = 1

// Document is a plan in the form that is written and read.
type Document struct {
	FormatVersion int             `json:"format_version"`
	Hash          string          `json:"hash"`
	Workspace     string          `json:"workspace"`
	BaseURL       string          `json:"base_url"`
	WebURL        string          `json:"web_url"`
	API           string          `json:"api"`
	User          *string         `json:"user"`
	Sandbox       bool            `json:"sandbox"`
	SandboxFile   *string         `json:"sandbox_file"`
	Manifests     []string        `json:"manifests"`
	State         string          `json:"state"`
	Options       Options         `json:"options"`
	Basis         Basis           `json:"basis"`
	Summary       planner.Summary `json:"summary"`
	Steps         []Step          `json:"steps"`
	Kept          []Kept          `json:"kept"`
	StateChanges  []StateChange   `json:"corrections"`
	Orphans       []Orphan        `json:"orphans"`

	NotCompared []planner.NotCompared `json:"not_compared"`
	// Names holds the names of objects that values and members name by address, unless a step has the title.
	Names map[resource.Address]string `json:"names"`

	Notices  diag.List `json:"notices"`
	Checksum string    `json:"checksum"` // of all other members
}

// Options are the user's choices that the plan depends on, so that it can be made again.
type Options struct {
	Files     []string `json:"files"`                         // manifests and folders, as the user named them
	Variables []string `json:"variables,omitempty"`           // NAME=VALUE
	State     string   `json:"state,omitempty"`               // file, if the user named it
	PerMinute int      `json:"requests_per_minute,omitempty"` // that the service takes, for the estimate of the duration; 0 = its answers do not show it
	API       string   `json:"api,omitempty"`

	planner.Settings

	// Undo lists the IDs of the runs that the plan takes back. Files then only name the workspace and the state.
	Undo []string `json:"undo,omitempty"`
}

// Basis describes the input of the plan, so that a message about a stale plan can name the changed files.
type Basis struct {
	Lineage string `json:"lineage,omitempty"` // of the state; "" = there was none
	Serial  uint64 `json:"serial,omitempty"`
	// Digests holds the SHA-256 of the files that were read, and of environment variables that manifests name.
	Digests map[string]string `json:"digests,omitempty"`
}

// Step is the part of a [planner.Step] that people review.
type Step struct {
	Address     resource.Address `json:"address"`
	Action      string           `json:"action"`
	ID          *string          `json:"id"`
	Identifier  string           `json:"identifier,omitempty"` // readable, if it is known before the run
	Title       string           `json:"title,omitempty"`
	Page        string           `json:"page,omitempty"` // page of the web app that shows the object or its parent
	Changes     []Change         `json:"changes"`
	Members     []Member         `json:"members,omitempty"`
	Needs       []string         `json:"needs"`
	Position    *diag.Position   `json:"position"`
	Reason      *string          `json:"reason,omitempty"`
	Unsupported string           `json:"unsupported,omitempty"`
	NotOffered  bool             `json:"not_offered,omitempty"`
	Replaces    string           `json:"replaces,omitempty"`
	Continues   bool             `json:"continues,omitempty"`
	AsBefore    bool             `json:"as_before,omitempty"` // it was not possible in the last applied run either
	Adopted     *string          `json:"adopted,omitempty"`   // how the object was found on the service
	Loss        *planner.Loss    `json:"loss,omitempty"`      // of a delete
}

// Change is a field whose value will change.
type Change struct {
	Path     string `json:"path"`
	Name     string `json:"name,omitempty"` // display name of a custom field
	Before   any    `json:"before"`         // a text, a list of texts, or nil
	After    any    `json:"after"`
	Origin   string `json:"origin"`
	By       string `json:"by,omitempty"`
	At       string `json:"at,omitempty"`
	Conflict bool   `json:"conflict,omitempty"` // the manifest and the service both changed
	SHA256   string `json:"sha256,omitempty"`   // of the file, or of the text with markup, that is sent
	Possible *bool  `json:"possible,omitempty"`
	Word     bool   `json:"word,omitempty"` // whether a custom field holds a fixed word instead of free text

	References int `json:"references,omitempty"` // number of links that a text gets, if nothing else in it changes
}

// Member is a member of a batch whose address does not say everything.
type Member struct {
	Address resource.Address `json:"address,omitempty"`
	ID      string           `json:"id,omitempty"`
	Text    string           `json:"text,omitempty"`
	Value   string           `json:"value,omitempty"`
	Before  string           `json:"before,omitempty"`
	Leaves  string           `json:"leaves,omitempty"` // container that the member leaves by being added
	Drift   bool             `json:"drift,omitempty"`  // people changed the membership since the last apply
}

// Kept is a field whose value on the service is left because somebody changed it there.
type Kept struct {
	Address  resource.Address `json:"address"`
	Change   Change           `json:"change"`
	Position *diag.Position   `json:"position"`
}

// StateChange is the document's form of a [planner.StateChange].
type StateChange struct {
	From resource.Address  `json:"from"`
	To   *resource.Address `json:"to"`
	Why  string            `json:"why"`
}

// Orphan is the document's form of a [planner.Orphan].
type Orphan struct {
	Address    resource.Address  `json:"address"`
	ID         *string           `json:"id"`
	Identifier *string           `json:"identifier"`
	RenamedTo  *resource.Address `json:"renamed_to"`
}

// Where names the target of a plan and its input.
type Where struct {
	Service   string // base URL
	Workspace string
	User      string // owner of the credential; "" = not known
	Sandbox   string // the sandbox's file; "" = the service is real
	Manifests []string
	State     string
	Options   Options
	Basis     Basis
	// Refused reports whether a step was not possible in the last applied run either, for the same reason; nil = this is not known.
	Refused func(a resource.Address, why string) bool
}

// Where returns the target of the plan and its input.
func (d *Document) Where() Where {
	return Where{
		Service: d.BaseURL, Workspace: d.Workspace, User: orEmpty(d.User), Sandbox: orEmpty(d.SandboxFile),
		Manifests: d.Manifests, State: d.State, Options: d.Options, Basis: d.Basis,
	}
}

// String names the workspace for a question to the user.
func (w Where) String() string {
	if w.Sandbox != "" {
		return "the workspace " + w.Workspace + " of the sandbox"
	}
	return fmt.Sprintf("the workspace %s at %s", w.Workspace, w.Service)
}

// From returns a noun for the input of the plan and its names: at most so many manifests, or the runs that the plan takes back.
func (w Where) From(most int) (noun, names string) {
	switch {
	case len(w.Options.Undo) > 0:
		return "undo of", strings.Join(w.Options.Undo, ", ")
	case len(w.Manifests) > 1:
		return "manifests", diag.First(w.Manifests, most)
	default:
		return "manifest", diag.First(w.Manifests, most)
	}
}

// New returns the document of a plan.
func New(plan *planner.Plan, where Where) *Document {
	d := &Document{
		FormatVersion: FormatVersion, Workspace: cmp.Or(plan.Workspace, where.Workspace), BaseURL: cmp.Or(plan.BaseURL, where.Service),
		WebURL: plan.WebURL, API: plan.API.String(),
		User: diag.OrNull(where.User), Sandbox: where.Sandbox != "", SandboxFile: diag.OrNull(where.Sandbox),
		Manifests: diag.OrEmpty(where.Manifests), State: where.State, Options: where.Options, Basis: where.Basis, Summary: plan.Summary,
		Steps: make([]Step, len(plan.Steps)), Kept: []Kept{}, StateChanges: []StateChange{}, Orphans: []Orphan{},
		NotCompared: diag.OrEmpty(plan.NotCompared), Names: map[resource.Address]string{}, Notices: plan.Notices.OrEmpty(),
	}
	d.Options.Files = diag.OrEmpty(d.Options.Files)
	for i, s := range plan.Steps {
		d.Steps[i] = newStep(plan, s)
		d.Steps[i].AsBefore = s.Action == planner.NotPossible && where.Refused != nil && where.Refused(s.Address, s.Reason())
	}
	for _, drift := range plan.Drift {
		if f := keptField(&drift); drift.Kept {
			d.Kept = append(d.Kept, Kept{drift.Object.Address, newChange(f, drift.Change), diag.OrNull(drift.Object.Position)})
		}
	}
	for _, c := range plan.StateChanges {
		d.StateChanges = append(d.StateChanges, StateChange{c.From, diag.OrNull(c.To), c.Why})
	}
	for _, o := range plan.Orphans {
		d.Orphans = append(d.Orphans, Orphan{o.Address, diag.OrNull(o.ID), diag.OrNull(o.Identifier), diag.OrNull(o.RenamedTo)})
	}
	d.nameObjects(plan.Objects)
	d.Hash = d.effectsHash()
	d.Checksum = d.checksum()
	return d
}

// nameObjects adds the names of the objects that values name by address.
func (d *Document) nameObjects(objects []*resource.Object) {
	known, titled := map[resource.Address]*resource.Object{}, map[resource.Address]bool{}
	for _, o := range objects {
		known[o.Address] = o
	}
	for i := range d.Steps {
		titled[d.Steps[i].Address] = d.Steps[i].Title != ""
	}
	name := func(a resource.Address) {
		o := known[a]
		if o == nil || titled[a] {
			return
		}
		d.Names[a] = o.Name()
	}
	nameValues := func(c *Change) {
		for _, v := range []any{c.Before, c.After} {
			switch v := v.(type) {
			case string:
				name(resource.Address(v))
			case []string:
				for _, a := range v {
					name(resource.Address(a))
				}
			}
		}
	}
	for i := range d.Steps {
		for k := range d.Steps[i].Changes {
			nameValues(&d.Steps[i].Changes[k])
		}
	}
	for i := range d.Kept {
		nameValues(&d.Kept[i].Change)
	}
}

// newStep returns the document's form of a step.
func newStep(plan *planner.Plan, s *planner.Step) Step {
	d := Step{
		Address: s.Address, Action: s.Action.String(), ID: diag.OrNull(s.ID), Identifier: s.Identifier, Title: s.Title(), Page: s.Page,
		Needs: make([]string, 0, len(s.Needs)), Position: diag.OrNull(s.Position), Continues: s.Continues,
	}
	switch {
	case s.Action == planner.NotPossible:
		if s.Cause.Code == planner.Lacks {
			d.Unsupported = s.Cause.Objects
		}
		d.NotOffered = s.Cause.Code == planner.NotOffered
	case s.Deletion != nil:
		d.Loss = s.Deletion.Loss
	case s.Write != nil:
		d.Replaces = s.Write.Replaces
	}
	for _, need := range s.Needs {
		d.Needs = append(d.Needs, string(plan.Steps[need].Address))
	}
	if s.Action == planner.NotPossible || s.Action != planner.Adopt && s.Reason() != "" {
		d.Reason = new(s.Reason())
	}
	if s.Action == planner.Adopt {
		d.Adopted = new(s.Reason())
		if s.Changed() {
			d.Action = planner.Update.String()
		}
	}
	if s.Members != nil {
		d.addMembers(s)
		return d
	}
	d.Changes = []Change{}
	for _, c := range s.Changes() {
		f := s.Field(c.Path)
		change := newChange(f, &c)
		if !c.Possible {
			change.Possible = new(bool)
		}
		if f != nil && s.Object != nil {
			change.SHA256 = valueDigest(s.Object, c.Path)
		}
		d.Changes = append(d.Changes, change)
	}
	return d
}

// valueDigest returns the SHA-256 of a value that a change does not show completely: a file, or a text with
// markup. It returns "" for other values.
func valueDigest(o *resource.Object, field string) string {
	switch v, ok := o.Value(field); {
	case !ok || v.Null:
		return ""
	case v.Content != nil:
		return v.Content.SHA256
	case v.Field.Rich():
		return Digest([]byte(v.Text))
	default:
		return ""
	}
}

// keptField returns the field that somebody changed, or nil for a custom field.
func keptField(d *planner.Drift) *resource.Field {
	f, _ := d.Object.Kind.Field(d.Change.Path)
	if v, ok := d.Object.ValueAt(d.Change.Path); ok && f == nil && v.Field.Definition == nil {
		f = v.Field
	}
	return f
}

// addMembers adds the members of a planned step. It leaves out the list of members if their addresses say everything.
func (s *Step) addMembers(of *planner.Step) {
	names := make([]string, len(of.Members.Items))
	plain, drift := true, len(names) > 0
	s.Members = make([]Member, len(names))
	for i, m := range of.Members.Items {
		names[i] = cmp.Or(string(m.Address), m.ID, m.Text)
		s.Members[i] = Member{Address: m.Address, Value: m.Value, Before: m.Before, Leaves: m.Leaves, Drift: m.Drift}
		if m.Address == "" { // otherwise the address identifies the member
			s.Members[i].ID, s.Members[i].Text = m.ID, m.Text
		}
		drift = drift && m.Drift
		plain = plain && s.Members[i] == Member{Address: m.Address} && m.Address != ""
	}
	if plain {
		s.Members = nil
	}
	c := Change{Path: of.Kind.Membership.Path(), Origin: string(planner.FromManifest)}
	if drift {
		c.Origin = string(planner.FromDrift)
	}
	if of.Action == planner.RemoveMembers {
		c.Before = names
	} else {
		c.After = names
	}
	if of.Action == planner.NotPossible {
		c.Possible = new(bool)
	}
	s.Changes = []Change{c}
}

// AllMembers returns the members of a batch, from its change if the step has no list of members.
func (s *Step) AllMembers() []Member {
	all := s.Members
	if len(all) > 0 {
		return all
	}
	for _, c := range s.Changes {
		for _, list := range []any{c.Before, c.After} {
			names, _ := list.([]string)
			for _, name := range names {
				all = append(all, Member{Address: resource.Address(name)})
			}
		}
	}
	return all
}

// Name returns the member's name and a note about the membership.
func (m *Member) Name(of *resource.Membership) string {
	return cmp.Or(string(m.Address), m.Text, m.ID) + (&planner.Member{Value: m.Value, Before: m.Before, Leaves: m.Leaves, Drift: m.Drift}).Note(of)
}

// PlannedAction returns the action of a step.
func (s *Step) PlannedAction() planner.Action {
	a := planner.NotPossible
	if s.Action == a.String() || a.UnmarshalText([]byte(s.Action)) != nil { // [Parse] accepts no other word
		return planner.NotPossible
	}
	return a
}

// newChange returns the document's form of a change.
func newChange(f *resource.Field, c *planner.Change) Change {
	d := Change{
		Path: c.Path, Before: changeValue(f, c.Before), After: changeValue(f, c.After), Origin: string(c.Origin), By: c.By, At: c.At, Conflict: c.Conflict,
		References: c.References,
	}
	if f != nil && f.Definition != nil {
		d.Name, d.Word = f.Definition.Name(), f.IsWord()
	}
	return d
}

// changeValue returns a value of a change: a list if the field holds one, nil if there is no value.
func changeValue(f *resource.Field, text *string) any {
	switch {
	case text == nil:
		return nil
	case f != nil && f.Type == resource.RefSet:
		return strings.Split(*text, "\n")
	default:
		return *text
	}
}

func orEmpty[T ~string](s *T) T {
	if s == nil {
		return ""
	}
	return *s
}
