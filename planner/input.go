package planner

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// Action is the sort of a step, such as create or delete.
type Action int

// MarshalText returns the word of [Action.String].
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

// The actions, in the order in which a summary names them.
const (
	Create Action = iota
	Update
	Adopt // the object was found on the service by its natural key or external ID; with changes it is updated too
	AddMembers
	RemoveMembers
	Delete
	NotPossible // wanted, but the service offers no way; Step.Reason says why
)

// String returns the word that the JSON plan uses.
func (a Action) String() string {
	words := []string{"create", "update", "adopt", "add_members", "remove_members", "delete", "not_possible"}
	if int(a) >= len(words) {
		return "unknown"
	}
	return words[a]
}

// Input is everything that a plan depends on.
type Input struct {
	Settings

	Workspace string
	BaseURL   string // shown in the plan, used for nothing else
	WebURL    string // of the web app, whose pages texts link to
	Self      string // ID of the credential's user; "" = it is not known
	API       resource.API
	Now       time.Time          // to find objects that are over; zero = no object is over
	APIFound  bool               // planform found the API; the user did not choose it
	Desired   []*resource.Object // parents before children, otherwise in the order of the manifest
	// Owner is the owner of the manifests.
	Owner resource.Owner
	// FormerOwners lists owners under which the state was written before. Objects of the state may still bear their marks.
	FormerOwners []resource.Owner
	// StateIsComplete is set if the state has every object that planform made for the owner, because a run has ended with this state.
	StateIsComplete bool
	Prior           Prior
	Observed        Observed
	// OtherSources holds manifests that the state names, that still exist and that this run does not read. Their objects are not orphans.
	OtherSources map[string]bool
	// Deletes holds the addresses that an undo may delete, whichever manifests have them; nil = this is no undo.
	Deletes map[resource.Address]bool
	// Leaves holds the IDs of the members that an undo removes, by the address of the container's member record in the state.
	Leaves map[resource.Address]map[string]bool
	// Left holds the ID of the container in which the undone runs left a member, by membership and member ID; "" = in none.
	Left map[string]map[string]string
	// AnyOrder allows creating objects of one kind in one parent side by side. Without it, planform creates them one after the other in
	// the order of the manifest, and the service numbers them in that order.
	AnyOrder bool
	// ExactOrder keeps the manifest's order also for many creates in one request and for an object that stands before its parent. An
	// update names the parent afterwards, because one request cannot create both.
	ExactOrder bool
	// Pull makes the plan list the changes that people made on the service, see [Plan] Divergences. Drift is no error then.
	Pull bool
	// Contents holds kinds and memberships that a Pull reads also for objects of the manifest that declare none. That takes a request
	// for each object or container.
	Contents map[string]bool
	// Notices are warnings from before the planning that the plan repeats.
	Notices diag.List
}

// otherOwner returns another owner whose mark a row bears. ok is false if the mark is of the manifest's owner, or of a former owner of a
// known object.
func (in *Input) otherOwner(row resource.Row, known bool) (owner resource.Owner, ok bool) {
	owner, marked := row.Owner()
	return owner, marked && owner != in.Owner && !(known && slices.Contains(in.FormerOwners, owner))
}

// takesOver reports whether the run takes an object from another owner.
func (in *Input) takesOver(o *resource.Object) bool { return in.TakeOver && in.Targets.Includes(o) }

// marks returns planform's marks on the objects of the manifest's owner.
func (in *Input) marks() resource.Marks {
	return resource.Marks{Workspace: in.Workspace, Owner: in.Owner}
}

// objectID is the index of a wanted object in [Input.Desired], and of its state in objects.states.
type objectID int

// Prior holds the records that the last apply left in the state file, by address.
type Prior map[resource.Address]Record

// Record holds what the state knows of one object, or of the members of one container. Its JSON is a line of the state file.
type Record struct {
	Address resource.Address `json:"address,omitempty"`
	// ID is the service's ID of the object, or of a membership's container; "" = a create is pending, or the ID was not recorded.
	ID         string `json:"id,omitempty"`
	Identifier string `json:"identifier,omitempty"` // readable, such as WEB-7
	// CreatedByUs is set if planform made the object. Planform never deletes an object without it, such as one that it adopted.
	CreatedByUs bool `json:"made,omitempty"`
	// Protect is set if the manifest protected the object when it was last applied. The object is never deleted.
	Protect bool `json:"protect,omitempty"`
	// Sources lists the manifests that declared the object when they were last applied, sorted, as paths from the state's folder; "-" is
	// standard input. A member record lists the manifests of the objects that name the container or its members. Nil = not known.
	Sources []string          `json:"files,omitempty"`
	Values  map[string]string `json:"values,omitempty"`  // by field: digest of the canonical value last applied
	Members []string          `json:"members,omitempty"` // of a membership: IDs of the members, sorted
	// Found lists the Members that planform did not add, such as members that an export saw. Pruning leaves them in the container.
	Found     []string  `json:"found,omitempty"`
	AppliedAt time.Time `json:"applied_at,omitzero"` // when values or members were last applied; zero = not known
	// Origin identifies the object in the workspace that its manifest came from; nil = the manifest came from no other known workspace.
	Origin *resource.Origin `json:"source,omitempty"`
	// Late is the time until which the service may still carry out a write of the object that was sent again; zero = none was.
	Late time.Time `json:"late,omitzero"`
	// PendingIntent is set if a request was or may have been sent, and its outcome is not known.
	PendingIntent *Intent `json:"open,omitempty"`
}

// Intent is a write that was announced in the journal and has no outcome there.
type Intent struct {
	Action Action    `json:"action"`
	Name   string    `json:"name,omitempty"`  // the text of the object's natural key; of members that were to be added or taken out: [Members.IntentName]
	After  int       `json:"after,omitempty"` // highest readable number that was known in its sequence, such as the 57 of WEB-57; 0 = none
	At     time.Time `json:"at,omitzero"`     // when it was written; zero = not known
	Batch  bool      `json:"batch,omitempty"` // it shares a request of API v2 with other writes
	// Fields lists the names of the fields that an update sends; none = it may be any. Sent is the [ContentDigest] digest of their values;
	// "" = it is not known.
	Fields []string `json:"fields,omitempty"`
	Sent   string   `json:"sent,omitempty"`
}

// Updates reports whether the intent sends fields of an object that exists.
func (i *Intent) Updates() bool { return i.Action == Update || i.Action == Adopt }

// Read is one read request.
type Read struct {
	Operation  *resource.Operation
	Path       string         // expanded, below the base URL
	Fields     string         // of a list: the only fields that are needed, with commas between; "" = all
	Optional   bool           // if the read is forbidden, its answer has no rows and the planning goes on
	ExternalID string         // of a list: only the object that bears planform's mark with this ID, wherever it is; "" = all
	Owner      resource.Owner // the owner in that mark
	Probe      bool           // of a list: one row is enough, because only the existence of the list matters
}

// membersInV1 reports whether the read asks API v2 for the members of a container, and API v1 has such a list too. API v1 is used if
// API v2 has no such list or does not show it to the credential.
func (rd *Read) membersInV1() bool {
	_, v1 := resource.MustLookup(rd.Operation.Kind).Op(resource.ListMembers, resource.V1)
	return rd.Operation.Verb == resource.ListMembers && rd.Operation.V2() && v1
}

// readOf returns the read of an operation; ok is false if a path parameter is missing.
func readOf(op *resource.Operation, params map[string]string) (r Read, ok bool) {
	path, missing := op.Expand(params)
	r = Read{Operation: op, Path: path}
	r.Optional = r.membersInV1()
	return r, missing == ""
}

// Observed holds the answers to the reads made so far.
type Observed map[Read]Answer

// Answer is the service's answer to a read.
type Answer struct {
	Rows []resource.Row // all rows of a list, or the row of one object
	// NotFound: the service says that there is no such object.
	NotFound bool
	// Several: of a look-up by external ID, several objects carry it.
	Several bool
	// Unsupported: this edition of the service has no such route.
	Unsupported bool
	// Forbidden: the credential may not make this read, which is optional.
	Forbidden bool
	// Unread counts the rows of lists in the answer that no membership reads, by their name.
	Unread map[string]int
}

// onDrift returns the policy for fields of the object that somebody changed: the policy of the object, else of the run.
func (in *Input) onDrift(o *resource.Object) OnDrift {
	if o.Policy != nil && o.Policy.OnDrift != "" {
		return OnDrift(o.Policy.OnDrift)
	}
	return in.OnDrift
}

// standardInput is the name of a manifest that is read from standard input.
const standardInput = "-"

func (in *Input) isTargeted(a resource.Address) bool {
	if in.Deletes != nil {
		return in.Deletes[a]
	}
	return in.Targets.Match(a)
}

// whyNotTargeted returns the reason why an object that is not targeted stays.
func (in *Input) whyNotTargeted() string {
	if in.Deletes != nil {
		return "was not created by what is undone"
	}
	return "is not targeted"
}

// onlyByWider reports whether an API wider than the given one satisfies a condition.
func onlyByWider(api resource.API, can func(resource.API) bool) bool {
	for wider := api + 1; wider <= resource.V2; wider++ {
		if can(wider) {
			return true
		}
	}
	return false
}

// offeredByWider reports whether an API wider than the given one has an operation of a kind.
func offeredByWider(api resource.API, k *resource.Kind, verb resource.Verb) bool {
	return onlyByWider(api, func(wider resource.API) bool {
		_, ok := k.Op(verb, wider)
		return ok
	})
}

// namesNeed extends the hint for a name that cannot be looked up: it advises --api auto, unless planform itself chose the API.
func (in *Input) namesNeed(hint string) string {
	if in.APIFound {
		return hint + ": names need the wider API, which is missing or closed to this credential"
	}
	return hint + ", or use --api auto"
}

// isSourceGone reports whether every manifest of a record is part of this run or was deleted. A record without sources may belong to any
// manifest, so that isSourceGone is false for it, except in an undo.
func (in *Input) isSourceGone(r *Record) bool {
	return (len(r.Sources) > 0 || in.Deletes != nil) && in.otherSource(r) == ""
}

// otherSource returns a manifest of a record that still exists and is not part of this run, or "".
func (in *Input) otherSource(r *Record) string {
	if in.Deletes != nil {
		return ""
	}
	for _, file := range r.Sources {
		if in.OtherSources[file] {
			return file
		}
	}
	return ""
}

func (r *Record) dropMembers(gone func(id string) bool) {
	r.Members = slices.DeleteFunc(slices.Clone(r.Members), gone)
	r.Values = maps.Clone(r.Values)
	maps.DeleteFunc(r.Values, func(key, _ string) bool {
		_, id, ofMember := strings.Cut(key, " ")
		return ofMember && gone(id)
	})
}

// addedByUs reports whether planform, according to the record, added a member: the member is not in Found.
func (r *Record) addedByUs(id string) bool {
	_, found := slices.BinarySearch(r.Found, id)
	return !found
}
