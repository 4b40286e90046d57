package provider

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// claims records which object has which ID of the service. It is safe for concurrent use.
type claims struct {
	mu       sync.Mutex
	holders  map[ownedID]claimant
	disputed map[*planner.Step]bool // steps whose ID was in another answer too
}

// ownedID is an ID of the service; objects of different kinds may share one.
type ownedID struct{ kind, id string }

// claimant is the object that has an ID.
type claimant struct {
	address resource.Address
	orphan  bool          // the manifest does not contain it
	step    *planner.Step // the step that got the ID in this run; nil = none
}

// claim records the ID that the service gives a step's object. It returns an error if the ID is invalid, or belongs to another object of
// the state or of this run: such an answer was mixed up. An existing object may have the ID of an orphan in the state.
func (s *Service) claim(step *planner.Step, row resource.Row, created bool) error {
	id := row.ID()
	switch mark, _ := row["external_id"].(string); {
	case id == "":
		return errors.New("the answer has no ID")
	case !resource.IsID(id):
		return fmt.Errorf("the answer has the ID %s, which is no UUID", quoted(id))
	case created && mark != "" && s.usesExternalID(step) && mark != s.plan.Marks().ID(step.Address):
		return fmt.Errorf("the answer is about another object, with the external ID %s", quoted(mark))
	}
	c := &s.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	at := ownedID{step.Kind.Name, id}
	had, owned := c.holders[at]
	if owned && had.address != step.Address {
		c.disputed[had.step] = had.step != nil
		proven := !created && (had.orphan || had.step != nil && s.plan.Marks().On(row, step.Address))
		if !proven {
			return fmt.Errorf("the answer has the ID %s, which is that of %s", id, had.address)
		}
	}
	c.holders[at] = claimant{address: step.Address, step: step}
	return nil
}

// isDisputed reports whether another answer contained the step's ID too.
func (c *claims) isDisputed(step *planner.Step) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.disputed[step]
}

// existedBefore reports whether an object is known from the plan, or was among the first count objects that batches of this run created.
func (s *Service) existedBefore(kind *resource.Kind, id string, count int) bool {
	if before, created := s.memory.createdInBatch(id); created {
		return before < count
	}
	s.claims.mu.Lock()
	defer s.claims.mu.Unlock()
	had, known := s.claims.holders[ownedID{kind.Name, id}]
	return known && had.step == nil
}

// resolveDispute looks up the object of a create whose ID was in another answer too, and corrects the outcome.
func (s *Service) resolveDispute(ctx context.Context, step *planner.Step, out executor.Outcome, ids executor.IDs) executor.Outcome {
	params, err := s.pathParams(step, ids)
	if err != nil {
		return out
	}
	w := &write{Service: s, ids: ids}
	seen := w.findCreated(ctx, row{step: step, params: params})
	if seen.result == found && seen.row.ID() == out.ID {
		return out
	}
	summary, wrong := "the service gave its ID "+out.ID+" to another object too", out.ID
	if seen.result == found {
		out = w.createdOutcome(step, seen.row)
		summary = "the service answered with the ID " + wrong + " of another object: it is " + out.ID
	} else if seen.err != nil {
		summary += ": " + diag.PlainText(seen.err)
	}
	out.Warnings.Add(diag.Diagnostic{
		Severity: diag.Warning, Code: "mixed-up", Position: step.Position, Address: string(step.Address), Summary: summary,
		Hint: "a cache or a proxy before the service may mix up answers: look at the object " + wrong +
			" holds, and plan again",
	})
	return out
}

// loadClaims loads the IDs that the state knows, before there are concurrent requests.
func (s *Service) loadClaims() {
	for address, r := range s.state.Prior() {
		if _, wanted := s.plan.Known[address]; !wanted && address.IsObject() && r.ID != "" {
			s.claims.holders[ownedID{address.Kind(), r.ID}] = claimant{address: address, orphan: true}
		}
	}
	for address, r := range s.plan.Known {
		s.claims.holders[ownedID{address.Kind(), r.ID}] = claimant{address: address}
	}
}
