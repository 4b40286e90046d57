package provider

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// memory holds what the run has written, and lists that it has read since. It is safe for concurrent use.
type memory struct {
	client *apiclient.Client

	names  table[planner.Name, string]                // IDs of names that exist only since this run
	lists  table[listOf, []resource.Row]              // the predefined objects of a new parent
	values table[resource.Address, map[string]string] // values of objects from completed steps

	mu           sync.Mutex
	batchCreated map[string]int         // by ID of an object that a batch created: the number of objects created before it
	unseen       map[*planner.Step]bool // steps of batches, whose answers show no values
	written      map[string]time.Time   // by ID: time of the run's last write, see remember

	listing singleflight.Group // reads into lists: several steps that need the same list wait for one read
}

func newMemory(client *apiclient.Client) *memory {
	return &memory{
		client: client, batchCreated: map[string]int{}, unseen: map[*planner.Step]bool{}, written: map[string]time.Time{},
	}
}

// settlingTime is the time after its answer to a write in which the service may still touch the object. It does so a moment later, and its
// clock in answers has whole seconds and may be a second late.
const settlingTime = 3 * time.Second

// remember records the result of a step: the values that later steps do not send, and the time of the run's last write to an object, its
// contents or its containers, because the service then changes the object's updated_at.
func (mm *memory) remember(step *planner.Step, out executor.Outcome, ids executor.IDs) {
	at := mm.client.Served()
	mm.mu.Lock()
	defer mm.mu.Unlock()
	o, written := step.Object, append([]string{out.ID}, out.Members...)
	if step.Members == nil {
		known, _ := mm.values.get(step.Address)
		mm.values.set(step.Address, planner.MergeValues(known, out.Values))
	} else {
		o = step.Members.Container.Object
	}
	for ; o != nil; o = o.Parent {
		id, _ := ids(o.Address)
		written = append(written, id)
	}
	for _, id := range written {
		if id != "" {
			mm.written[id] = at
		}
	}
}

// isUntouched reports whether, by its row, nobody changed an object after the run wrote it.
func (mm *memory) isUntouched(row resource.Row) bool {
	at, _ := row["updated_at"].(string)
	changed, err := time.Parse(time.RFC3339, at)
	mm.mu.Lock()
	defer mm.mu.Unlock()
	return err == nil && !changed.After(mm.written[row.ID()].Add(settlingTime))
}

// recordBatchWrite records an object that a batch wrote.
func (mm *memory) recordBatchWrite(step *planner.Step, id string) {
	mm.mu.Lock()
	defer mm.mu.Unlock()
	if step.Action == planner.Create {
		mm.batchCreated[id] = len(mm.batchCreated)
	}
	mm.unseen[step] = true
}

// countCreated returns the number of objects that batches have created.
func (mm *memory) countCreated() int {
	mm.mu.Lock()
	defer mm.mu.Unlock()
	return len(mm.batchCreated)
}

// createdInBatch returns the number of objects that batches had created before this one; ok is false if no batch created it.
func (mm *memory) createdInBatch(id string) (before int, ok bool) {
	mm.mu.Lock()
	defer mm.mu.Unlock()
	before, ok = mm.batchCreated[id]
	return before, ok
}

// listOf identifies the list of a kind in one parent.
type listOf struct {
	kind   *resource.Kind
	parent *resource.Object
}

// readList reads a list once in a run.
func (mm *memory) readList(ctx context.Context, of listOf, req apiclient.Request) ([]resource.Row, error) {
	found, err, _ := mm.listing.Do(of.kind.Name+" "+addressOf(of.parent), func() (any, error) {
		if rows, ok := mm.lists.get(of); ok {
			return rows, nil
		}
		rows, err := mm.client.List(ctx, req)
		if err == nil {
			mm.lists.set(of, rows)
		}
		return rows, err
	})
	rows, _ := found.([]resource.Row)
	return rows, err
}

// addressOf returns the address of an object, or "" for nil.
func addressOf(o *resource.Object) string {
	if o == nil {
		return ""
	}
	return string(o.Address)
}
