package provider

import (
	"context"
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

	unseen  table[*planner.Step, bool] // steps of batches, whose answers show no values
	written table[string, time.Time]   // by ID: time of the run's last write, see remember

	listing singleflight.Group // reads into lists: several steps that need the same list wait for one read
}

// settlingTime is the time after its answer to a write in which the service may still touch the object. It does so a moment later, and its
// clock in answers has whole seconds and may be a second late.
const settlingTime = 3 * time.Second

// remember records the result of a step: the values that later steps do not send, and the time of the run's last write to an object, its
// contents or its containers, because the service then changes the object's updated_at.
func (mm *memory) remember(step *planner.Step, out executor.Outcome, ids executor.IDs) {
	at := mm.client.Served()
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
			mm.written.set(id, at)
		}
	}
}

// isUntouched reports whether, by its row, nobody changed an object after the run wrote it.
func (mm *memory) isUntouched(row resource.Row) bool {
	changed, err := time.Parse(time.RFC3339, row.Text("updated_at"))
	written, _ := mm.written.get(row.ID())
	return err == nil && !changed.After(written.Add(settlingTime))
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
