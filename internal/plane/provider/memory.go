package provider

import (
	"context"
	"net/url"
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

	unseen  table[*planner.Step, bool]  // steps of batches, whose answers show no values
	written table[string, time.Time]    // by ID: time of the run's last write, see remember
	placed  table[string, resource.Row] // by ID: objects that batches created with containers, as API v2 lists them; nil = not read yet

	reading chan struct{}      // holds an element during a read into placed: steps that need the same rows wait for one read
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

// loadPlaced reads the rows of members that batches created with containers, each once. A failure is not an error: the members are added again.
func (mm *memory) loadPlaced(ctx context.Context, list *resource.Operation, params map[string]string, members []member) {
	select {
	case mm.reading <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-mm.reading }()
	missing := map[string]bool{}
	for _, m := range members {
		if row, created := mm.placed.get(m.id); created && row == nil {
			missing[m.id] = true
			mm.placed.set(m.id, resource.Row{})
		}
	}
	_, fields := shareOverview(list)
	for id, row := range mm.readUntil(ctx, list, params, "-created_at", fields, missing) {
		if _, created := mm.placed.get(id); created {
			mm.placed.set(id, row)
		}
	}
}

// readUntil reads a list in the given order, until all objects have been seen or a page fails.
func (mm *memory) readUntil(ctx context.Context, list *resource.Operation, params map[string]string, order, fields string,
	missing map[string]bool,
) map[string]resource.Row {
	rows := map[string]resource.Row{}
	if len(missing) == 0 {
		return rows
	}
	query := url.Values{"order_by": {order}, "fields": {fields}}
	for page, err := range mm.client.Pages(ctx, apiclient.Request{Operation: list, Params: params, Query: query}) {
		if err != nil {
			break
		}
		for _, row := range page {
			rows[row.ID()] = row
			delete(missing, row.ID())
		}
		if len(missing) == 0 {
			break
		}
	}
	return rows
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
