package provider

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// claims records which object has which ID of the service. It is safe for concurrent use.
type claims struct {
	mu      sync.Mutex
	holders map[ownedID]holder
	created int // objects that the run created
}

// ownedID is an ID of the service; objects of different kinds may share one.
type ownedID struct{ kind, id string }

// holder is the object that has an ID of the service.
type holder struct {
	address resource.Address
	before  int // number of objects that the run had created before it; -1 = the plan knows the object
}

// newClaims returns the IDs that the state and the plan know.
func newClaims(known ...map[resource.Address]planner.Record) *claims {
	c := &claims{holders: map[ownedID]holder{}}
	for _, records := range known {
		for address, r := range records {
			if address.IsObject() {
				c.holders[ownedID{address.Kind(), r.ID}] = holder{address, -1}
			}
		}
	}
	return c
}

// claim records the ID of a new object. It returns an error if the ID belongs to another object of the state or of this run.
func (c *claims) claim(step *planner.Step, id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := ownedID{step.Kind.Name, id}
	if had, owned := c.holders[at]; owned && had.address != step.Address {
		return fmt.Errorf("the answer has the ID %s, which is that of %s", id, had.address)
	}
	c.holders[at] = holder{step.Address, c.created}
	c.created++
	return nil
}

// adopt records the ID of an object that a lookup found; it is not known when it was created.
func (c *claims) adopt(step *planner.Step, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holders[ownedID{step.Kind.Name, id}] = holder{step.Address, math.MaxInt}
}

// claimNew records the ID in the answer to a create. It returns an error if the answer is about another object.
func (s *Service) claimNew(step *planner.Step, row resource.Row) error {
	switch mark := row.Text("external_id"); {
	case !resource.IsID(row.ID()):
		return errors.New("the answer has no valid ID")
	case mark != "" && s.usesExternalID(step) && mark != s.plan.Marks().ID(step.Address):
		return fmt.Errorf("the answer is about another object, with the external ID %s", quoted(mark))
	}
	return s.claims.claim(step, row.ID())
}

// count returns the number of objects that the run has created.
func (c *claims) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.created
}

// existedBefore reports whether an object is known from the plan, or was among the first count objects that this run created.
func (c *claims) existedBefore(kind *resource.Kind, id string, count int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	had, known := c.holders[ownedID{kind.Name, id}]
	return known && had.before < count
}
