package planner

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// Plan is the ordered list of steps, with the data that the executor and the reports need.
type Plan struct {
	Owner     resource.Owner
	Workspace string
	BaseURL   string
	WebURL    string // of the web app
	API       resource.API
	Steps     []*Step            // every step comes after the steps that it needs
	Objects   []*resource.Object // of the manifest
	Summary   Summary
	// Known holds the records of the manifest's objects before the first step.
	Known map[resource.Address]Record
	// Names holds the IDs of names that were looked up on the service.
	Names map[Name]string
	// Dialects holds, by kind, the dialect in which the service named fields when the plan was made.
	Dialects map[string]resource.Dialect
	// Drift lists the fields that somebody changed on the service since the last apply, if they differ from the manifest.
	Drift []Drift
	// StateChanges lists the records that apply changes in the state before the first step.
	StateChanges []StateChange
	// Seen lists records that apply updates without counting a change, because they lack values or members that the service shows.
	// Examples are a text that was sent in a batch, and a change on the service that the manifest has taken over.
	Seen []StateChange
	// Sources holds the manifests of each object for which the state names other manifests. Apply records them without
	// counting a change.
	Sources map[resource.Address][]string
	// CreatedByUs counts the objects that planform made, according to the state.
	CreatedByUs int
	// Orphans lists objects that an earlier apply created, that the manifest does not have any more, and that stay.
	Orphans []Orphan
	// NotCompared lists the objects that the plan did not compare with the service. Changes that people made to them are not shown.
	NotCompared []NotCompared
	// Notices are warnings that belong to the plan.
	Notices diag.List
}

// Empty reports whether the plan changes nothing, on the service or in the state.
func (p *Plan) Empty() bool {
	s := p.Summary
	return s.Create+s.Update+s.Adopt+s.Delete+s.AddMembers+s.RemoveMembers == 0 && len(p.StateChanges) == 0
}

// Name is the key of a look-up by name; [Plan.Names] has the ID that was found.
type Name struct {
	Kind   string
	Within resource.Address // the project, or other parent, in which the name is looked up; "" = the workspace
	Text   string
}

// Summary counts the actions of the steps, the objects that need no step, and the requests.
type Summary struct {
	Create        int `json:"create"`
	Update        int `json:"update"` // also adopted objects that change
	Adopt         int `json:"adopt"`
	Delete        int `json:"delete"`
	AddMembers    int `json:"add_members"` // members, not requests
	RemoveMembers int `json:"remove_members"`
	Unchanged     int `json:"unchanged"`    // objects whose fields all equal the manifest
	NotCompared   int `json:"not_compared"` // objects whose compared fields equal the manifest, but not all were compared
	Kept          int `json:"kept"`         // fields with drift that is kept
	Ignored       int `json:"ignored"`      // fields that differ and that the manifest ignores
	Blocked       int `json:"blocked"`      // steps that are not possible
	Requests      int `json:"requests"`     // write requests that the steps make if nothing goes wrong
	Reads         int `json:"reads"`        // read requests that were made for the plan
	// Notices is nil if the plan tells nobody, or if it is not known whether the service tells people.
	Notices *Notices `json:"notices,omitempty"`
}

// Notices counts the notices for the people who are known to be told about a plan's requests.
type Notices struct {
	People  int    `json:"people"`
	Notices int    `json:"notices"`
	Mails   int    `json:"mails"`    // at most: one for each person and work item
	AtLeast bool   `json:"at_least"` // always true, because the service does not show who follows an item
	Items   int    `json:"items"`    // existing work items whose unknown followers are told, too
	Known   []Told `json:"known"`
}

// Told is a person with the number of notices for that person.
type Told struct {
	Name    string `json:"name"`
	Notices int    `json:"notices"`
}

// Count adds a step of the given action to the summary. For a membership step it adds the number of members.
func (sm *Summary) Count(a Action, members int) {
	switch a {
	case Create:
		sm.Create++
	case Update:
		sm.Update++
	case Adopt:
		sm.Adopt++
	case Delete:
		sm.Delete++
	case NotPossible:
		sm.Blocked++
	case AddMembers:
		sm.AddMembers += members
	case RemoveMembers:
		sm.RemoveMembers += members
	}
}

// Marks returns planform's marks on the objects of the plan.
func (p *Plan) Marks() resource.Marks {
	return resource.Marks{Workspace: p.Workspace, Owner: p.Owner}
}

// Step is one action of a plan. It takes at most one write request, except an upload, which takes three.
type Step struct {
	Index      StepID
	Address    resource.Address
	Action     Action
	Kind       *resource.Kind   // of the object, or the membership
	Object     *resource.Object // nil for memberships and orphans
	ID         string           // the service's ID where it is known before the run
	Identifier string           // the readable one, such as WEB-7, where it is known before the run
	Name       string           // the object's name on the service, if it was read
	Page       string           // path of the web page of the object, or of its nearest parent with a page; "" = there is none
	Position   diag.Position
	Operation  *resource.Operation // what is sent; nil = no request
	Params     map[string]string   // path parameters, of a Delete or RemoveMembers

	Turn

	// Places lists membership steps that a Create in API v2 may make unnecessary, because it puts its object into their containers.
	Places []*Step

	// One of these is set, depending on the Action.
	Write    *Write    // Create, Update, Adopt
	Members  *Members  // AddMembers, RemoveMembers
	Deletion *Deletion // Delete
	Cause    Cause     // the cause of a step that is NotPossible

	changes []*Change // of an Update, an Adopt or a NotPossible; Changes derives the changes of other steps
	draft
}

// StepID is the index of a step in [Plan.Steps].
type StepID int

// Turn holds the conditions for starting a step, and the steps that it can share requests with.
type Turn struct {
	Needs []StepID // steps that must have succeeded
	After []StepID // steps that must have ended, with or without success, such as creates of members
	// Sequence numbers the steps that begin one after the other, in the order of the
	// plan, such as the creates of a project's work items, which the service numbers; 0 = none.
	Sequence int
	// Batch numbers the steps that may share requests: the writes of one kind in one
	// parent, where API v2 takes many rows at once; 0 = the step goes alone.
	Batch     int
	Bulk      *resource.Operation // of a step with a Batch: the operation that sends several steps at once
	Continues bool                // the summary counts the step together with an earlier step of the same object
}

// Write holds the data of a step that creates, updates or adopts an object.
type Write struct {
	Values        []*resource.Value // what is sent
	SetExternalID bool              // an update also sends planform's external ID, as every create does
	CreatedByUs   bool              // planform itself made the object that is adopted or taken over
	FoundBy       string            // of an Adopt: the property by which it was found
	Replaces      string            // of a Create: the ID of planform's object that is deleted before it; "" = none
	Newest        int               // of a Create: the highest readable number that is known of its kind in its parent; 0 = none
	// Announced is set on a Create that an earlier run may have sent as well. If the object exists when the step runs, planform made it.
	Announced bool
	// Zone is the time zone of an object whose dates are moments on the service; nil = none.
	Zone *time.Location
}

// Deletion holds the data of a step that deletes an object.
type Deletion struct {
	With   string       // text such as "with project/web" if the service deletes it with another object, without a request; "" = it has its own request
	Guards []Guard      // the members that it may have
	Loss   *Loss        // the data lost with it; nil = the step in With has it
	Row    resource.Row // the object, as the service shows it; nil = it was not read
	Record Record       // its record in the state
	// Names holds the names of the objects that the row refers to, by ID, as far as the names were read.
	Names map[string]string
}

// phase is a part of a run. Steps are in the order of their phases, then of their kinds, then of the manifest. Deletions come last.
type phase int8

const (
	making     phase = iota // creates, changes and memberships
	completing              // values that name objects which are created later
	closing                 // archiving, switching off, and the last day of a container
)

// draft holds data about a step while the plan is made. Needs and After are computed from needs and after.
type draft struct {
	at    objectID // index of the step's Object
	phase phase
	// alone is set on a step that must not share its request: a create that the service refuses only in a request of its own if the
	// object is hidden, or an update whose answer must show the values that the service stored.
	alone        bool
	needs, after []*Step
}

// Values returns the values that a create, an update or an adopt sends.
func (s *Step) Values() []*resource.Value {
	if s.Write == nil {
		return nil
	}
	return s.Write.Values
}

// ContentDigest returns a digest of an update's content: its values, or the attribute of its one member; "" = the step has neither.
func (s *Step) ContentDigest() string {
	switch {
	case s.Members != nil && len(s.Members.Items) == 1:
		return memberDigest(s.Members.Items[0].ID, s.Members.Items[0].Value)
	case len(s.Values()) > 0:
		return ContentDigest(s.Values())
	}
	return ""
}

// ContentDigest returns a digest of values as the manifest writes them, in any order. The digest is the same in each run until somebody edits
// a value.
func ContentDigest(values []*resource.Value) string {
	lines := make([]string, len(values))
	for k, v := range values {
		lines[k] = fmt.Sprintf("%s %q %t", v.Field.Name, v.Text, v.Null)
		for i := range v.Refs {
			lines[k] += fmt.Sprintf(" %q", cmp.Or(v.Refs[i].ID, v.Refs[i].Text))
		}
	}
	slices.Sort(lines)
	return digestOf(lines)
}

// memberDigest returns a digest of a member's ID and its wanted attribute, such as a role.
func memberDigest(id, value string) string { return digestOf([]string{id, value}) }

func digestOf(lines []string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.Join(lines, "\n")))
	return strconv.FormatUint(h.Sum64(), 36)
}

// Sending returns a copy of the step with other values to send.
func (s *Step) Sending(values []*resource.Value) *Step {
	step, write := *s, *s.Write
	write.Values = values
	step.Write = &write
	return &step
}

// Reason returns why a step is not possible, why a Delete needs no request, the object that a Create replaces, or how an Adopt matched;
// "" = there is no reason to show.
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

// LacksFeature reports whether a step is not possible only because this edition or API lacks a feature.
func (s *Step) LacksFeature() bool {
	return s.Cause.lacksFeature()
}

// ArchivesFirst reports whether a delete sends an archive request first, because the service deletes only archived objects of the kind
// and the plan did not see this object archived.
func (s *Step) ArchivesFirst() bool {
	return s.Action == Delete && s.Kind.BeforeDelete != nil && (s.Deletion == nil || s.Deletion.Row.Text("archived_at") == "")
}

// Changed reports whether an adopt also changes something that people see.
func (s *Step) Changed() bool {
	return slices.ContainsFunc(s.changes, func(c *Change) bool { return c.Possible })
}

// Sends returns the value that the step sends for the field of v. It equals v except for references that are left out; nil = the step
// sends no value of the manifest for the field.
func (s *Step) Sends(v *resource.Value) *resource.Value {
	if at := slices.IndexFunc(s.Values(), func(w *resource.Value) bool { return w.Field == v.Field && !w.AsShown }); at >= 0 {
		return s.Values()[at]
	}
	return nil
}

// Changes lists the fields that the step changes.
func (s *Step) Changes() (changes []Change) {
	list := s.changes
	switch {
	case s.Members != nil && list == nil:
		after := s.Members.names(s.Kind.Membership)
		return []Change{{Path: s.Kind.Membership.Path(), After: &after, Origin: FromManifest, Possible: s.Action != NotPossible}}
	case s.Members == nil && s.Action == Create:
		list = changesTo(s.Values())
		if id := s.Kind.Identifier; id != nil && id.APIName != "" && s.Object.Identifier != "" {
			changes = append(changes, Change{Path: "identifier", After: &s.Object.Identifier, Origin: FromManifest, Possible: true})
		}
	}
	for _, c := range list {
		changes = append(changes, *c)
	}
	return changes
}

// Title returns the display name of the step's object: from the manifest, else from the service, else "".
func (s *Step) Title() string {
	if s.Object == nil {
		return s.Name
	}
	return cmp.Or(s.Object.Title(), s.Name)
}

// Members is the batch of a membership step.
type Members struct {
	Container Container
	Items     []Member
	By        Member   // the object that defines the members' attribute, such as a role, see [resource.Attribute.Words]; zero = no object does
	Sources   []string // of an AddMembers: the manifests that declare the members, sorted
}

// Container is the object that members are added to or removed from.
type Container struct {
	Address resource.Address
	Object  *resource.Object // nil if the manifest does not list it
	ID      string           // where it is known before the run
	Within  *resource.Object // the parent of the container; nil = the workspace
}

// Member is one member of a batch.
type Member struct {
	Address resource.Address // "" if the manifest does not list it
	ID      string           // where it is known before the run
	Text    string           // as the manifest names it
	// Value is the wanted attribute of the membership, such as the role in a project, and Before the current one;
	// "" = there is none, or it is not known.
	Value, Before string
	Position      diag.Position
	// Leaves names the container that the member leaves by being added. Drift is set if people changed the membership since the last apply.
	Leaves string
	Drift  bool
}

// Origin is the reason why a field differs.
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

// Change is a field that a step changes. Before and After are texts for people: references as the manifest writes them, rich texts in
// Markdown.
type Change struct {
	Path   string
	Before *string // nil: there is none, or it is not known; an element a line where it is a list
	After  *string // nil: the field is cleared
	Origin Origin
	By     string // FromDrift: who changed it on the service, where that is known
	At     string // FromDrift: when, as RFC 3339
	Actor  string // FromDrift: the ID of that user
	// Conflict is set if the manifest changed since the last apply, too.
	Conflict bool
	// Possible is false if the service offers no way to make the change.
	Possible bool
	// Was is the value on the service before the change; nil = there is none, or it is not known.
	Was *resource.Value
	// References counts the links that the change adds to a text, if it changes nothing else. The links lead to objects that are
	// created before; 0 = the change is of another sort.
	References int
}

// Orphan is an object that an earlier apply created and the manifest does not have any more.
type Orphan struct {
	Address    resource.Address
	ID         string
	Identifier string
	// RenamedTo is an object that the manifest creates in the orphan's place, probably the same object with another key; "" = none.
	RenamedTo resource.Address
}

// String returns the address, with the readable identifier if there is one.
func (op Orphan) String() string {
	if op.Identifier == "" {
		return string(op.Address)
	}
	return string(op.Address) + " (" + op.Identifier + ")"
}

// Drift is a field that somebody changed on the service since the last apply.
type Drift struct {
	Object *resource.Object
	Change *Change // Before is the value of the service, After the value of the manifest
	Kept   bool    // the value of the service is kept
}

// StateChange is a change of a record in the state that does not depend on the steps. It takes no request.
type StateChange struct {
	From   resource.Address
	To     resource.Address // the record's new address; "" = the record is removed
	Record Record           // the new record, unless it is removed
	Why    string           // the reason for people; "" = the change is not shown
}

// Guard lists the members that a container may have when it is deleted. Any other member was added by somebody, and then the container
// is not deleted.
type Guard struct {
	Read    Read
	Members []string // IDs, sorted
}

// Loss lists the data that is lost with a deleted object, as far as the data was read.
type Loss struct {
	Progress  string    `json:"progress,omitempty"`   // its progress, such as In Progress
	People    []string  `json:"people,omitempty"`     // people in its fields, such as assignees and the lead
	ChangedBy string    `json:"changed_by,omitempty"` // the user who changed it last
	ChangedAt string    `json:"changed_at,omitempty"` // when, as RFC 3339
	Text      string    `json:"text,omitempty"`       // the beginning of its text
	Contents  []Content `json:"contents,omitempty"`
	// Despite lists the reasons for which the object would stay without [Input.DeleteChanged].
	Despite []string `json:"despite,omitempty"`
	// Unread is set if the contents of the object were not read, because that would take too many requests.
	Unread bool `json:"unread,omitempty"`
}

// Content counts the objects of one sort that a deleted object has.
type Content struct {
	Noun  string `json:"noun"` // the noun for one object, such as comment
	Where Where  `json:"where"`
	Count int    `json:"count"`
}

// Where is the relation of other objects to a deleted object.
type Where string

// Objects Inside a deleted object, and objects of its own kind Below it, are deleted too. Its members (MemberOf) and the objects Using it
// stay. Unlisted objects, such as archived work items, may use it, but the service does not show that.
const (
	Inside   Where = "inside"
	Below    Where = "below"
	MemberOf Where = "member"
	Using    Where = "using"
	Unlisted Where = "unlisted"
)

// Note returns the text that follows the name of a member in a plan, such as " (guest)". The text has the member's attribute if that changes
// or is not the default, the container that the member leaves, and a word if the membership was changed on the service.
func (mm *Member) Note(of *resource.Membership) string {
	var parts []string
	switch {
	case mm.Before != "":
		parts = append(parts, mm.Before+" -> "+mm.Value)
	case of.Attribute != nil && mm.Value != of.Attribute.Default && mm.Value != "":
		parts = append(parts, mm.Value)
	}
	if mm.Leaves != "" {
		parts = append(parts, "leaves "+mm.Leaves)
	}
	if mm.Drift {
		parts = append(parts, "changed on the service since the last apply")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// IntentName returns the text by which a later plan finds the members again: one line per member, with its address, or with its ID if
// the manifest does not list it.
func (m *Members) IntentName() string {
	lines := make([]string, len(m.Items))
	for i := range m.Items {
		lines[i] = cmp.Or(string(m.Items[i].Address), m.Items[i].ID)
	}
	return strings.Join(lines, "\n")
}

// Field returns the field of a change, or nil.
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

// OnlyCustom reports whether the step sends only values of custom fields.
func (s *Step) OnlyCustom() bool {
	return len(s.Values()) > 0 && !s.Write.SetExternalID &&
		!slices.ContainsFunc(s.Values(), func(v *resource.Value) bool { return !resource.IsCustom(v) })
}

// names lists the members of a batch for people, with their notes.
func (m *Members) names(of *resource.Membership) string {
	texts := make([]string, len(m.Items))
	for i := range m.Items {
		texts[i] = cmp.Or(string(m.Items[i].Address), m.Items[i].Text) + m.Items[i].Note(of)
	}
	return strings.Join(texts, ", ")
}

// NameOf returns the name under which a reference is looked up.
func NameOf(o *resource.Object, field *resource.Field, r *resource.Reference) Name {
	n := Name{Kind: field.Ref, Text: r.Text}
	if within := o.Ancestor(resource.MustLookup(field.Ref).NamedWithin()); within != nil {
		n.Within = within.Address
	}
	return n
}

// showValue returns a value as a person would write it. References are addresses if the manifest has the object, one per line; rich
// texts are as the manifest writes them.
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

// showReference returns the address of the object that a reference names, or the text of the manifest if it does not list the object.
func showReference(r *resource.Reference) string {
	if r.Target != nil {
		return string(r.Target.Address)
	}
	return r.Text
}

// changesTo returns the changes of fields to the values that a step sends.
func changesTo(values []*resource.Value) (changes []*Change) {
	for _, v := range values {
		if !v.Implied { // an implied value is not in the manifest
			c := change(v, FromManifest)
			c.Possible = true
			changes = append(changes, &c)
		}
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
