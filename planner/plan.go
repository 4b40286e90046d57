package planner

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// Plan is the ordered list of steps, with what the executor and people need beside it.
type Plan struct {
	Owner     resource.Owner
	Workspace string
	BaseURL   string
	WebURL    string // of the web app
	API       resource.API
	Steps     []*Step            // every step after those it needs
	Objects   []*resource.Object // of the manifest
	Summary   Summary
	// Known holds what is known of the manifest's objects before the first step.
	Known map[resource.Address]Record
	// Names holds the IDs of names that were looked up on the service.
	Names map[Name]string
	// Dialects holds, by kind, how the service was seen to name fields.
	Dialects map[string]resource.Dialect
	// Drift is what somebody changed on the service since the last apply and is not as the manifest wants it.
	Drift []Drift
	// Divergences are what people changed on the service, Vanished the objects that they deleted or archived, and
	// Unmanaged and ExtraMembers what they added, where the input asks for them.
	Divergences  []Divergence
	Vanished     []*resource.Object
	Unmanaged    []Unmanaged
	ExtraMembers []ExtraMember
	// StateChanges are what apply changes in the state before the first step.
	StateChanges []StateChange
	// Seen are records of objects that were written in batches, with what the service now
	// shows of them, or whose manifest by now says what somebody changed. Apply records them; that is no change.
	Seen []StateChange
	// Sources are the manifests that have an object, where the state has others. Apply records
	// them; that is no change.
	Sources map[resource.Address][]string
	// CreatedByUs counts the objects that the state says planform made.
	CreatedByUs int
	// Orphans are what an earlier apply created and the manifest does not have any more,
	// where it is not to be deleted.
	Orphans []Orphan
	// NotCompared is what the plan did not hold against the service: what people changed there, it does not show.
	NotCompared []NotCompared
	// Notices are warnings that belong to the plan.
	Notices diag.List
}

// Empty reports whether the plan changes nothing, on the service or in the state.
func (p *Plan) Empty() bool {
	s := p.Summary
	return s.Create+s.Update+s.Adopt+s.Delete+s.AddMembers+s.RemoveMembers == 0 && len(p.StateChanges) == 0
}

// Name is a name that was looked up on the service.
type Name struct {
	Kind   string
	Within resource.Address // the project (or other parent) that it is looked up in; "" = the workspace
	Text   string
}

// Summary counts what the steps do, and what else there is.
type Summary struct {
	Create        int `json:"create"`
	Update        int `json:"update"` // with what is adopted and changed
	Adopt         int `json:"adopt"`
	Delete        int `json:"delete"`
	AddMembers    int `json:"add_members"` // members, not requests
	RemoveMembers int `json:"remove_members"`
	Unchanged     int `json:"unchanged"`    // objects that are as the manifest wants them, in all that it says
	NotCompared   int `json:"not_compared"` // objects that are so as far as they were compared
	Kept          int `json:"kept"`         // fields that are left as somebody changed them
	Ignored       int `json:"ignored"`      // fields that differ and that the manifest leaves to people
	Blocked       int `json:"blocked"`      // steps that are not possible
	Requests      int `json:"requests"`     // write requests that the steps make if nothing goes wrong
	Reads         int `json:"reads"`        // read requests that were made for the plan
}

// Count counts a step, with so many members.
func (s *Summary) Count(a Action, members int) {
	switch a {
	case Create:
		s.Create++
	case Update:
		s.Update++
	case Adopt:
		s.Adopt++
	case Delete:
		s.Delete++
	case NotPossible:
		s.Blocked++
	case AddMembers:
		s.AddMembers += members
	case RemoveMembers:
		s.RemoveMembers += members
	}
}

// Marks are planform's marks on the objects of the plan.
func (p *Plan) Marks() resource.Marks {
	return resource.Marks{Workspace: p.Workspace, Owner: p.Owner}
}

// Step is one thing to do: one write request at most, but for the three of an upload.
type Step struct {
	Index      StepID
	Address    resource.Address
	Action     Action
	Kind       *resource.Kind   // of the object, or the membership
	Object     *resource.Object // nil for memberships and orphans
	ID         string           // the service's ID where it is known before the run
	Identifier string           // the readable one, such as WEB-7, where it is known before the run
	Name       string           // what the service calls the object, as far as that was read
	Page       string           // path where the web app shows the object, or what it lives in; "" = nowhere
	Position   diag.Position
	Operation  *resource.Operation // what is sent; nil = no request
	Params     map[string]string   // path parameters, of a Delete or RemoveMembers

	Turn

	// What the step does is one of these.
	Write    *Write    // Create, Update, Adopt
	Members  *Members  // AddMembers, RemoveMembers
	Deletion *Deletion // Delete
	Cause    Cause     // why a step is NotPossible, whatever else it would do

	changes []Change // of an update, an adopt, or what is not possible; those of the others are derived
	draft
}

// StepID is the place of a step in [Plan.Steps].
type StepID int

// Turn says when a step goes, and with which others.
type Turn struct {
	Needs []StepID // steps that must have succeeded
	After []StepID // steps that must have ended, however: members that are still to be created
	// Sequence numbers the steps that begin one after the other, in the order of the
	// plan, such as the creates of a project's work items, which the service numbers; 0 = none.
	Sequence int
	// Batch numbers the steps that may share requests: the writes of one kind in one
	// parent, where API v2 takes many rows at once; 0 = the step goes alone.
	Batch     int
	Bulk      *resource.Operation // of a step with a Batch: what is sent for several at once
	Continues bool                // an earlier step is about the same object, and counts for both
}

// Write is what creates an object, changes it, or takes it over.
type Write struct {
	Values        []*resource.Value // what is sent
	SetExternalID bool              // an update also sends planform's external ID, as every create does
	CreatedByUs   bool              // planform itself made the object that is adopted or taken over
	FoundBy       string            // of an Adopt: how it matched; "" = the manifest says
	Replaces      string            // of a Create: the ID of planform's object that is deleted before it; "" = none
	Newest        int               // of a Create: the highest readable number that is known of its kind in its parent; 0 = none
	// Announced is set on a Create that an earlier run may have sent as well: if the object is there by the time, planform made it.
	Announced bool
	// Zone is the time zone of an object whose dates are moments on the service; nil = none.
	Zone *time.Location
	// Places are, of a Create in API v2, membership steps that it may forestall, since it puts its object into their containers.
	Places []*Step
}

// Deletion is what takes an object away.
type Deletion struct {
	With   string       // the step that takes it along, so that there is no request; "" = it goes by itself
	Guards []Guard      // who may be in it
	Loss   *Loss        // what goes with it; nil = the step in With says that
	Row    resource.Row // the object, as the service shows it; nil = it was not read
	Record Record       // what the state knows of it
	// Names are what the row refers to, by ID, as far as their names were read.
	Names map[string]string
}

// draft is what a step knows while the plan is made: Needs and After are these; objects stand for the steps that create them.
type draft struct {
	stage int // 1 if it comes after all of stage 0
	// alone is set for a create that only a request of its own is refused if the object is hidden, and for an update whose
	// answer has to show what the service makes of it.
	alone                      bool
	needs, after               []*Step
	needsObjects, afterObjects []objectID
}

// Values are what a create, an update or an adopt sends.
func (s *Step) Values() []*resource.Value {
	if s.Write == nil {
		return nil
	}
	return s.Write.Values
}

// Sent identifies what an update sends: its values, or what a member is to be; "" = it sends none.
func (s *Step) Sent() string {
	switch {
	case s.Members != nil && len(s.Members.Items) == 1:
		return saidOf(s.Members.Items[0].ID, s.Members.Items[0].Value)
	case len(s.Values()) > 0:
		return Said(s.Values())
	}
	return ""
}

// Said identifies values, in any order, by how the manifest writes them: it is the same in each run until somebody edits them.
func Said(values []*resource.Value) string {
	lines := make([]string, len(values))
	for k, v := range values {
		lines[k] = fmt.Sprintf("%s %q %t", v.Field.Name, v.Text, v.Null)
		for i := range v.Refs {
			lines[k] += fmt.Sprintf(" %q", cmp.Or(v.Refs[i].ID, v.Refs[i].Text))
		}
	}
	slices.Sort(lines)
	return said(lines)
}

// saidOf identifies what a member is to be.
func saidOf(id, value string) string { return said([]string{id, value}) }

func said(lines []string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.Join(lines, "\n")))
	return strconv.FormatUint(h.Sum64(), 36)
}

// Sending is the step with other values to send.
func (s *Step) Sending(values []*resource.Value) *Step {
	step, write := *s, *s.Write
	write.Values = values
	step.Write = &write
	return &step
}

// Reason says why a step is not possible, why a Delete needs no request, what a Create replaces, or how an Adopt matched; "" = nothing
// is to be said.
func (s *Step) Reason() string {
	switch {
	case s.Cause.exists():
		return s.Cause.Text
	case s.Deletion != nil:
		return s.Deletion.With
	case s.Write != nil && s.Write.Replaces != "":
		return "replaces " + s.Write.Replaces
	case s.Write != nil:
		return s.Write.FoundBy
	default:
		return ""
	}
}

// Lacking reports whether a step is not possible only for what this edition, or the API, does not have.
func (s *Step) Lacking() bool {
	return s.Cause.lacking()
}

// ArchivesFirst reports whether a delete archives its object by a request before its own: the service deletes archived ones only, and
// the plan did not see it archived.
func (s *Step) ArchivesFirst() bool {
	return s.Action == Delete && s.Kind.ArchiveFirst && (s.Deletion == nil || s.Deletion.Row.Text("archived_at") == "")
}

// Changed reports whether an adopt also changes something that people see.
func (s *Step) Changed() bool {
	return slices.ContainsFunc(s.changes, func(c Change) bool { return c.Possible })
}

// Sends is the value of the same field that the step sends, which is v but for objects that it
// names and that are left out; nil = it sends none of the manifest.
func (s *Step) Sends(v *resource.Value) *resource.Value {
	if at := slices.IndexFunc(s.Values(), func(w *resource.Value) bool { return w.Field == v.Field && !w.AsShown }); at >= 0 {
		return s.Values()[at]
	}
	return nil
}

// Changes lists what the step makes different, by field.
func (s *Step) Changes() []Change {
	if s.Members != nil && s.changes == nil {
		after := s.Members.names(s.Kind.Membership)
		return []Change{{Path: s.Kind.Membership.Path(), After: &after, Origin: FromManifest, Possible: s.Action != NotPossible}}
	}
	if s.Action != Create || s.Members != nil {
		return s.changes
	}
	var changes []Change
	if id := s.Kind.Identifier; id != nil && id.APIName != "" && s.Object.Identifier != "" {
		changes = append(changes, Change{Path: "identifier", After: &s.Object.Identifier, Origin: FromManifest, Possible: true})
	}
	return append(changes, changesTo(s.Values())...)
}

// Title is the name of the step's object for people: the manifest's, else the service's, else "".
func (s *Step) Title() string {
	if s.Object == nil {
		return s.Name
	}
	return cmp.Or(s.Object.Title(), s.Name)
}

// FoundBy says by what an adopted object was found, or "".
func (s *Step) FoundBy() string {
	o := s.Object
	switch {
	case s.Reason() != "" || o == nil:
		return s.Reason()
	case o.ID != "":
		return "found by id"
	case o.Identifier != "":
		return "found by identifier"
	}
	for _, f := range o.Kind.NaturalKey {
		if o.Text(f) != "" {
			return "found by " + f
		}
	}
	return ""
}

// Members is the batch of a membership step.
type Members struct {
	Container Container
	Items     []Member
	By        Member   // the object that defines what they are to the container, see [resource.Words]; none = nothing does
	Sources   []string // the manifests that want them in it, sorted; of an AddMembers
}

// Container is what members are added to.
type Container struct {
	Address resource.Address
	Object  *resource.Object // nil if the manifest does not list it
	ID      string           // where it is known before the run
	Within  *resource.Object // what it lives in; nil = the workspace
}

// Member is one member of a batch.
type Member struct {
	Address resource.Address // "" if the manifest does not list it
	ID      string           // where it is known before the run
	Text    string           // as the manifest names it
	// Value is what the attribute of the membership is to be, such as the role in a
	// project, and Before what it is; "" = there is none, or it is not known.
	Value, Before string
	Position      diag.Position
	// Leaves names what the member leaves by being added, and Drift is set if people changed the membership since the last apply.
	Leaves string
	Drift  bool
}

// Origin says why a field differs.
type Origin string

// FromManifest: the manifest changed, or the object is new. FromDrift: somebody
// changed it on the service since the last apply. NotRefreshed: the service's
// value could not be read, the state file's is shown. Overwritten: an object that is
// adopted had another value, which somebody else may have given it.
const (
	FromManifest Origin = "manifest"
	FromDrift    Origin = "drift"
	NotRefreshed Origin = "not_refreshed"
	Overwritten  Origin = "overwritten"
)

// Change is one field that will be different. Before and After are for people:
// references as they are written, rich texts in Markdown.
type Change struct {
	Path   string
	Before *string // nil: there is none, or it is not known; an element a line where it is a list
	After  *string // nil: the field is cleared
	Origin Origin
	By     string // FromDrift: who changed it on the service, where that is known
	At     string // FromDrift: when, as RFC 3339
	// Conflict is set where the manifest changed since the last apply, too.
	Conflict bool
	// Possible is false where the service offers no way to make the change.
	Possible bool
	// Was is the value on the service before; nil = there is none, or it is not known.
	Was *resource.Value
	// References counts the links that a text gets, and that is all: to objects which are
	// created before; 0 = it is another change.
	References int
}

// Orphan is an object that an earlier apply created and the manifest does not have any more.
type Orphan struct {
	Address    resource.Address
	ID         string
	Identifier string
	// RenamedTo is what the manifest creates in its place, so that it is probably the same with another key; "" = nothing.
	RenamedTo resource.Address
}

// String is the address, with the readable identifier where there is one.
func (o Orphan) String() string {
	if o.Identifier == "" {
		return string(o.Address)
	}
	return string(o.Address) + " (" + o.Identifier + ")"
}

// Drift is a field that somebody changed on the service since the last apply.
type Drift struct {
	Object *resource.Object
	Change *Change // Before is what the service has, After what the manifest wants
	Kept   bool    // it is left as it is
}

// Divergence is a field of an object that somebody changed on the service, or may have.
type Divergence struct {
	Object *resource.Object
	Value  *resource.Value // in the manifest
	Row    resource.Row    // the object, as the service shows it
	Change Change          // Before is what the service has, After what the manifest wants
	// Conflict is set where the manifest changed too; Unknown where nothing tells whose change it is, since the state does
	// not know what was applied last.
	Conflict, Unknown bool
	// Of references: Drop are the places in Value.Refs that the service does not have, Add the names of what it has besides,
	// All those of everything that it has. Named are the manifest's objects by these names.
	Drop  []int
	Add   []string
	All   []string
	Named map[string]*resource.Object
}

// Unmanaged counts the objects of a kind in one place that no manifest has.
type Unmanaged struct {
	Kind   *resource.Kind
	Parent resource.Address // "" = the workspace
	Count  int
	Names  []string // what people call them
}

// ExtraMember is that an object of the manifest names another in a membership of which the manifest does not say so, such as the module
// that somebody put an item into, or an item that somebody related to it.
type ExtraMember struct {
	Membership *resource.Kind
	On         *resource.Object // whose field would declare it
	Other      string           // what that would name: an address, or what people call it
}

// StateChange is something that the state is to know otherwise, whatever the steps
// bring. It takes no request.
type StateChange struct {
	From   resource.Address
	To     resource.Address // where the record is to be; "" = it is forgotten
	Record Record           // as it is to be, unless it is forgotten
	Why    string           // for people; "" = not worth a word
}

// Guard lists the members that a container may have when it is deleted. Whoever else is in it
// by then was added by somebody, and keeps it.
type Guard struct {
	Read    Read
	Members []string // IDs, sorted
}

// Loss is what goes with an object that is deleted, as far as it was read.
type Loss struct {
	Progress  string    `json:"progress,omitempty"`   // how far it is, such as In Progress
	People    []string  `json:"people,omitempty"`     // who is assigned to it, leads it and so on
	ChangedBy string    `json:"changed_by,omitempty"` // who changed it last
	ChangedAt string    `json:"changed_at,omitempty"` // when, as RFC 3339
	Text      string    `json:"text,omitempty"`       // the beginning of what it says
	Contents  []Content `json:"contents,omitempty"`
	// Despite is why the object would stay, were it not for [Input.DeleteChanged].
	Despite []string `json:"despite,omitempty"`
	// Unread is set where nobody looked what is in it: there would be too many requests.
	Unread bool `json:"unread,omitempty"`
}

// Content counts objects that a deleted one has.
type Content struct {
	Noun  string `json:"noun"` // one of them, such as comment
	Where Where  `json:"where"`
	Count int    `json:"count"`
}

// Where is how objects hang on a deleted one.
type Where string

// Inside it and below it, of its own kind, objects are deleted with it. Members of it and what uses it stay, without it.
// Of unlisted ones beside it, such as archived work items, nobody can tell whether they use it.
const (
	Inside   Where = "inside"
	Below    Where = "below"
	MemberOf Where = "member"
	Using    Where = "using"
	Unlisted Where = "unlisted"
)

// Note is the text behind the name of a member, such as " (guest)": an attribute that changes or is not the default, what the member leaves,
// and that people changed the membership.
func (m *Member) Note(of *resource.Membership) string {
	var parts []string
	switch {
	case m.Before != "":
		parts = append(parts, m.Before+" -> "+m.Value)
	case of.Attribute != nil && m.Value != of.Attribute.Default && m.Value != "":
		parts = append(parts, m.Value)
	}
	if m.Leaves != "" {
		parts = append(parts, "leaves "+m.Leaves)
	}
	if m.Drift {
		parts = append(parts, "changed on the service since the last apply")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// IntentName names the members for a later plan, a line each: by their addresses, or
// by their IDs where the manifest does not list them.
func (m *Members) IntentName() string {
	lines := make([]string, len(m.Items))
	for i := range m.Items {
		lines[i] = cmp.Or(string(m.Items[i].Address), m.Items[i].ID)
	}
	return strings.Join(lines, "\n")
}

// Field is the field of a change, or nil.
func (s *Step) Field(path string) *resource.Field {
	if s.Object != nil {
		if v, ok := s.Object.Value(path); ok {
			return v.Field
		}
	}
	if s.Kind == nil {
		return nil
	}
	f, _ := s.Kind.Field(path)
	return f
}

// OnlyCustom reports whether the step sends nothing but values of custom fields.
func (s *Step) OnlyCustom() bool {
	return len(s.Values()) > 0 && !s.Write.SetExternalID &&
		!slices.ContainsFunc(s.Values(), func(v *resource.Value) bool { return !resource.IsCustom(v) })
}

// names lists what a batch adds, for people.
func (m *Members) names(of *resource.Membership) string {
	texts := make([]string, len(m.Items))
	for i := range m.Items {
		texts[i] = cmp.Or(string(m.Items[i].Address), m.Items[i].Text) + m.Items[i].Note(of)
	}
	return strings.Join(texts, ", ")
}

// NameOf is the name under which a reference is looked up.
func NameOf(o *resource.Object, field *resource.Field, r *resource.Reference) Name {
	n := Name{Kind: field.Ref, Text: r.Text}
	if within := o.Ancestor(resource.MustLookup(field.Ref).NamedWithin()); within != nil {
		n.Within = within.Address
	}
	return n
}

// showValue gives a value as a person would write it: references by address where
// the manifest has the object, a line each; rich texts as they were written.
func showValue(v *resource.Value) string {
	switch {
	case v.Null:
		return ""
	case v.Content != nil:
		return v.Text + " (" + strconv.FormatInt(v.Content.Size, 10) + " bytes)"
	case !v.Field.IsRef():
		return v.Written()
	}
	names := make([]string, len(v.Refs))
	for i := range v.Refs {
		names[i] = showReference(&v.Refs[i])
	}
	return strings.Join(names, "\n")
}

// showReference names what a reference means: by its address, or as the manifest does.
func showReference(r *resource.Reference) string {
	if r.Target != nil {
		return string(r.Target.Address)
	}
	return r.Text
}

// require lets a step go ahead only if another one, and all members that it brings in,
// are there. It comes after all kinds then: those are not to be pulled before others.
func (s *Step) require(other *Step) {
	s.stage = 1
	s.needs = append(s.needs, other)
	if other.Action == AddMembers {
		s.needsObjects = append(s.needsObjects, other.afterObjects...)
	}
}

// changesTo are the changes of fields to values that are sent.
func changesTo(values []*resource.Value) []Change {
	changes := make([]Change, 0, len(values))
	for _, v := range values {
		if v.Implied { // nobody wrote it
			continue
		}
		c := change(v, FromManifest)
		c.Possible = true
		changes = append(changes, c)
	}
	return changes
}

func change(v *resource.Value, from Origin) Change {
	c := Change{Path: v.Field.Name, Origin: from}
	if text := showValue(v); text != "" {
		c.After = &text
	}
	return c
}
