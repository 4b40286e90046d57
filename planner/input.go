package planner

import (
	"github.com/planform/planform/internal/resource"
)

// Input is everything that a plan depends on.
type Input struct {
	Workspace string
	BaseURL   string // for the plan's reader only
	API       resource.API
	Desired   []*resource.Object // parents before children, otherwise in the order of the manifest
	Prior     Prior
	Observed  Observed
	// Trust leaves out every read that only refreshes what the state knows.
	Trust bool
	// AdoptByName lets work items be recognised by their name.
	AdoptByName bool
}

// Prior is what the last apply left, from the state file.
type Prior map[resource.Address]Record

// Record is what is known of one thing, or of the members of one container.
type Record struct {
	Address    resource.Address
	ID         string            // the service's ID; "" while an intent is open, and for memberships
	Identifier string            // readable identifier, such as WEB-7
	Values     map[string]string // by field: digest of the canonical value last applied
	Members    []string          // for a membership: IDs that were added, sorted
	// Open is set where a request was sent, or may have been, and its outcome is not known.
	Open *Intent
}

// Intent is a write that was announced in the journal and has no outcome there.
type Intent struct {
	Action Action
	// Mark is what distinguishes the thing: the text of its natural key, and for
	// work items the project's highest known number when the intent was written.
	Name  string
	After int
}

// Read is one read request.
type Read struct {
	Operation *resource.Operation
	Path      string // expanded, below the base URL
}

// Observed holds the answers to the reads made so far.
type Observed map[Read]Answer

// Answer is what the service said to a read.
type Answer struct {
	Rows []resource.Row // of a list all rows; of a single record that one
	// Missing: the service says that there is no such thing.
	Missing bool
	// Lacking: this edition of the service has no such route.
	Lacking bool
}
