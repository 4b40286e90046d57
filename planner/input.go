package planner

import (
	"slices"
	"time"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// Input is everything that a plan depends on.
type Input struct {
	Workspace string
	BaseURL   string // for the plan's reader only
	API       resource.API
	Now       time.Time          // to tell what is over; zero = nothing is
	APIFound  bool               // the API is what the service offers, not what somebody chose
	Desired   []*resource.Object // parents before children, otherwise in the order of the manifest
	Prior     Prior
	Observed  Observed
	// SkipRefresh leaves out every read that only refreshes what the state knows.
	SkipRefresh bool
	// RefreshAll makes also the reads that refresh one object each, however many they are.
	RefreshAll bool
	// Prune deletes what an earlier apply made and the manifest no longer has.
	Prune bool
	// OtherSources holds the manifests that the state names, that are still there and that
	// are not read: what stands in one of them is not orphaned.
	OtherSources map[string]bool
	// Targets are what may be deleted; Desired holds no more than them and what they need.
	Targets Targets
	// NoCreate names the kinds of which nothing is created.
	NoCreate map[string]bool
	// OnDrift says what becomes of fields that somebody changed on the service.
	OnDrift OnDrift
	// AnyOrder lets objects of one kind in one place be created side by side. Otherwise
	// they are created one after the other, as the manifest has them, and so numbered.
	AnyOrder bool
	// AdoptByName lets work items be recognised by their name.
	AdoptByName bool
	// Notices are told with the plan.
	Notices diag.List
}

// Prior is what the last apply left, from the state file.
type Prior map[resource.Address]Record

// Record is what is known of one object, or of the members of one container. Its
// JSON is a line of the state file.
type Record struct {
	Address resource.Address `json:"address,omitempty"`
	// ID is the service's; "" while an intent is pending; of a membership the container's, where it was kept.
	ID         string `json:"id,omitempty"`
	Identifier string `json:"identifier,omitempty"` // readable, such as WEB-7
	// CreatedByUs is set where planform made the object. What it only found, or was told of,
	// it never deletes; nor what a state file from before this was kept knows.
	CreatedByUs bool `json:"made,omitempty"`
	// Protect is set where the manifest said so last: the object is never deleted.
	Protect bool `json:"protect,omitempty"`
	// Sources are the manifests that declared the object when they were last applied,
	// sorted, as paths from the folder that the state is for; "-" is standard input. Of
	// the members of a container those of what names it, or them. Nil = not known.
	Sources   []string          `json:"files,omitempty"`
	Values    map[string]string `json:"values,omitempty"`    // by field: digest of the canonical value last applied
	Members   []string          `json:"members,omitempty"`   // of a membership: IDs of the members, sorted
	Found     []string          `json:"found,omitempty"`     // those of Members that planform did not add, such as what an export saw; pruning leaves them in
	AppliedAt time.Time         `json:"applied_at,omitzero"` // when values or members were last applied; zero = not known
	// PendingIntent is set where a request was sent, or may have been, and its outcome is not known.
	PendingIntent *Intent `json:"open,omitempty"`
}

// addedByUs reports whether planform put a member in.
func (r *Record) addedByUs(id string) bool { return !slices.Contains(r.Found, id) }

// Intent is a write that was announced in the journal and has no outcome there.
type Intent struct {
	Action Action    `json:"action"`
	Name   string    `json:"name,omitempty"`  // the text of the object's natural key; of members that were to be added: [Members.IntentName]
	After  int       `json:"after,omitempty"` // highest readable number that was known in its sequence, such as the 57 of WEB-57; 0 = none
	At     time.Time `json:"at,omitzero"`     // when it was written; zero = not known
}

// Read is one read request.
type Read struct {
	Operation  *resource.Operation
	Path       string // expanded, below the base URL
	Fields     string // of a list: the only fields that are needed, with commas between; "" = all
	Optional   bool   // where it is forbidden, the plan does without: the answer has no rows
	ExternalID string // of a list: only the object that carries planform's external ID, wherever it is; "" = all
	Probe      bool   // of a list: one row is enough, it only matters whether there is such a list
}

// Observed holds the answers to the reads made so far.
type Observed map[Read]Answer

// Answer is what the service said to a read.
type Answer struct {
	Rows []resource.Row // of a list all rows; of a single record that one
	// NotFound: the service says that there is no such object.
	NotFound bool
	// Several: of a look-up by external ID, several objects carry it.
	Several bool
	// Unsupported: this edition of the service has no such route.
	Unsupported bool
}

// namesNeed is the hint for a name that cannot be looked up, with the choice of another API where there is one.
func (in *Input) namesNeed(hint string) string {
	if in.APIFound {
		return hint + ": names need the wider API, which is missing or closed to this credential"
	}
	return hint + ", or use --api auto"
}
