package provider

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// claims records which object has which ID of the service. It is safe for concurrent use.
type claims struct {
	mu       sync.Mutex
	holders  map[ownedID]holder
	disputed map[resource.Address]bool // objects of this run whose ID was in the answer about another object, too
	created  int                       // objects that the run created
}

// ownedID is an ID of the service; objects of different kinds may share one.
type ownedID struct{ kind, id string }

// holder is the object that has an ID of the service.
type holder struct {
	address resource.Address
	before  int  // number of objects that the run had created before it; -1 = the state or the plan knows the object
	orphan  bool // the manifest does not contain it
}

// newClaims returns the IDs that the state and the plan know.
func newClaims(prior planner.Prior, known map[resource.Address]planner.Record) *claims {
	c := &claims{holders: map[ownedID]holder{}, disputed: map[resource.Address]bool{}}
	for address, r := range prior {
		if _, wanted := known[address]; !wanted && address.IsObject() {
			c.holders[ownedID{address.Kind(), r.ID}] = holder{address: address, before: -1, orphan: true}
		}
	}
	for address, r := range known {
		c.holders[ownedID{address.Kind(), r.ID}] = holder{address: address, before: -1}
	}
	return c
}

// claimNew records the ID in the answer to a create. It returns an error if the ID is invalid, or if the answer is about another object.
func (s *Service) claimNew(step *planner.Step, row resource.Row) error {
	if mark := row.Text("external_id"); mark != "" && s.usesExternalID(step) && mark != s.plan.Marks().ID(step.Address) {
		return fmt.Errorf("the answer is about another object, with the external ID %s", quoted(mark))
	}
	s.claims.mu.Lock()
	defer s.claims.mu.Unlock()
	if err := s.claims.take(step, row.ID(), s.claims.created, func(holder) bool { return false }); err != nil {
		return err
	}
	s.claims.created++
	return nil
}

// claimExisting records the ID of an object that a lookup found. The object may be an orphan. If it has the mark of the step, the object
// may have been in another answer of this run, which was mixed up.
func (s *Service) claimExisting(step *planner.Step, row resource.Row) error {
	s.claims.mu.Lock()
	defer s.claims.mu.Unlock()
	return s.claims.take(step, row.ID(), math.MaxInt, func(had holder) bool { // it is not known when it was created
		return had.orphan || had.before >= 0 && s.plan.Marks().On(row, step.Address)
	})
}

// take records the ID of a step's object. It returns an error if the ID is invalid, or if another object has it and must keep it.
func (c *claims) take(step *planner.Step, id string, before int, mayTake func(holder) bool) error {
	at := ownedID{step.Kind.Name, id}
	if !resource.IsID(id) {
		return errors.New("the answer has no valid ID")
	}
	if had, owned := c.holders[at]; owned && had.address != step.Address {
		if had.before >= 0 {
			c.disputed[had.address] = true
		}
		if !mayTake(had) {
			return fmt.Errorf("the answer has the ID %s, which is that of %s", id, had.address)
		}
	}
	c.holders[at] = holder{address: step.Address, before: before}
	return nil
}

// isDisputed reports whether the answer about another object had the same ID. No request of the run uses such an ID.
func (c *claims) isDisputed(a resource.Address) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.disputed[a]
}

// resolveDispute looks up the object of a create whose ID was in the answer about another object, too, and corrects the outcome.
func (w *write) resolveDispute(ctx context.Context, step *planner.Step, out executor.Outcome) executor.Outcome {
	params, err := w.pathParams(step, w.ids)
	if err != nil {
		return out
	}
	seen := w.findCreated(ctx, row{step: step, params: params})
	if seen.row != nil && seen.row.ID() == out.ID {
		return out
	}
	summary, wrong := "the service gave its ID "+out.ID+" to another object too", out.ID
	if seen.row != nil {
		out = w.createdOutcome(step, seen.row)
		summary = "the service answered with the ID " + wrong + " of another object: it is " + out.ID
	} else if seen.err != nil {
		summary += ": " + diag.PlainText(seen.err)
	}
	out.Warnings.Add(diag.Diagnostic{
		Severity: diag.Warning, Code: "mixed-up", Position: step.Position, Address: string(step.Address), Summary: summary,
		Hint: "a cache or a proxy before the service may mix up answers: look at the object " + wrong + ", and plan again",
	})
	return out
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
