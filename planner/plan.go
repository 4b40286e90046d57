package planner

import (
	"fmt"
	"slices"
	"time"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// Action is what a step does.
type Action int

// The actions, in the order in which a summary names them.
const (
	Create Action = iota
	Update
	Adopt // found on the service by its natural key or external ID; with changes it is updated too
	AddMembers
	RemoveMembers
	Delete
	NotPossible // wanted, but the service offers no way; Step.Reason says why
)

// String gives the word that the JSON plan uses.
func (a Action) String() string {
	switch a {
	case Create:
		return "create"
	case Update:
		return "update"
	case Adopt:
		return "adopt"
	case AddMembers:
		return "add_members"
	case RemoveMembers:
		return "remove_members"
	case Delete:
		return "delete"
	case NotPossible:
		return "not_possible"
	default:
		return "unknown"
	}
}

// MarshalText gives the word of [Action.String].
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the word of an action that can be carried out.
func (a *Action) UnmarshalText(word []byte) error {
	for *a = range NotPossible {
		if a.String() == string(word) {
			return nil
		}
	}
	return fmt.Errorf("there is no action %q", word)
}

// Plan is what has to be done, in order.
type Plan struct {
	Workspace string
	BaseURL   string
	API       resource.API
	Steps     []*Step // every step after those it needs
	Summary   Summary
	// Known holds what is known of the manifest's objects before the first step.
	Known map[resource.Address]Record
	// Names holds the IDs of names that were looked up on the service.
	Names map[Name]string
	// Dialects holds, by kind, the field names that the service was seen to use.
	Dialects map[string]resource.FieldNames
	// Drift is what somebody changed on the service since the last apply and is not as the manifest wants it.
	Drift []Drift
	// StateChanges are what apply changes in the state before the first step.
	StateChanges []StateChange
	// Sources says of what the state knows in which manifests it stands, where the state
	// has it otherwise. Apply notes that; it is no change.
	Sources map[resource.Address][]string
	// CreatedByUs counts the objects that the state says planform made.
	CreatedByUs int
	// Orphans are what an earlier apply created and the manifest does not have any more,
	// where it is not to be deleted.
	Orphans []Orphan
	// Notices are warnings that belong to the plan: what could not be refreshed and why.
	Notices diag.List
}

// Name is a name that stands for an object of the service.
type Name struct {
	Kind   string
	Within resource.Address // the project (or other parent) that it is looked up in; "" = the workspace
	Text   string
}

// Summary counts the steps.
type Summary struct {
	Create, Update, Adopt, Delete int // what is adopted and changed counts as an update
	AddMembers, RemoveMembers     int // members, not requests
	Unchanged                     int // objects that are as the manifest wants them
	Kept                          int // fields that are left as somebody changed them
	Blocked                       int // steps that are not possible
	Requests                      int // write requests that the steps make if nothing goes wrong
	Reads                         int // read requests that were made for the plan
}

// Empty reports whether the plan changes nothing, on the service or in the state.
func (p *Plan) Empty() bool {
	s := p.Summary
	return s.Create+s.Update+s.Adopt+s.Delete+s.AddMembers+s.RemoveMembers == 0 && len(p.StateChanges) == 0
}

// Step is one object to do: one write request at most.
type Step struct {
	Index         int // place in Plan.Steps
	Address       resource.Address
	Action        Action
	Kind          *resource.Kind      // of the object, or the membership
	Object        *resource.Object    // what the manifest wants; nil for a membership, and for what it does not have any more
	ID            string              // the service's ID where it is known before the run
	Operation     *resource.Operation // what is sent; nil = no request
	Values        []*resource.Value   // what a create or update sends
	SetExternalID bool                // an update also sends planform's external ID, as every create does
	Params        map[string]string   // path parameters, of a Delete or RemoveMembers
	Guards        []Guard             // of a Delete
	CreatedByUs   bool                // of an Adopt: planform itself made the object
	Members       *Members            // for AddMembers and RemoveMembers
	Needs         []int               // steps that must have succeeded
	After         []int               // steps that must have ended, however: members that are still to be created
	// Pending is set on a Create that a former run may have sent, and that the plan's
	// reads do not show: it is looked for again before it is sent.
	Pending bool
	// Zone is the time zone of an object whose dates are moments on the service; nil = none.
	Zone *time.Location
	// Sequence numbers the steps that begin one after the other, in the order of the
	// plan, such as the creates of a project's work items, which the service numbers; 0 = none.
	Sequence    int
	Newest      int // for Create: the highest readable number that is known of its kind in its parent; 0 = none
	Position    diag.Position
	Reason      string // why it is NotPossible or a Delete has no request of its own, or by what an Adopt was found
	Unsupported string // of a step that is NotPossible only since this edition lacks a kind: the kind's objects, such as customers

	stage      int      // 1 if it comes after all of stage 0
	extraNeeds []*Step  // more of Needs
	extraAfter []*Step  // more of After
	changes    []Change // of an update or adopt; those of the others are derived
}

// Members is the batch of a membership step.
type Members struct {
	Container Container
	Items     []Member
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
// references as they are written, rich texts as readable text.
type Change struct {
	Path   string
	Before *string // nil: there is none, or it is not known
	After  *string // nil: the field is cleared
	Origin Origin
	By     string // FromDrift: who changed it on the service, where that is known
	At     string // FromDrift: when, as RFC 3339
	// Possible is false where the service offers no way to make the change.
	Possible bool
}

// Changed reports whether an adopt also changes something that people see.
func (s *Step) Changed() bool {
	return slices.ContainsFunc(s.changes, func(c Change) bool { return c.Possible })
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
	changes := make([]Change, 0, len(s.Values)+1)
	if id := s.Kind.Identifier; id != nil && id.APIName != "" && s.Object.Identifier != "" {
		changes = append(changes, Change{Path: "identifier", After: &s.Object.Identifier, Origin: FromManifest, Possible: true})
	}
	for _, v := range s.Values {
		c := Change{Path: v.Field.Name, Origin: FromManifest, Possible: true}
		if text := Show(v); text != "" {
			c.After = &text
		}
		changes = append(changes, c)
	}
	return changes
}
