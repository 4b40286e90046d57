package provider

import (
	"context"
	"maps"
	"net/url"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// memory is what the run has written, and what lists have shown it since. It is safe for concurrent use.
type memory struct {
	client *apiclient.Client

	mu           sync.Mutex
	names        map[planner.Name]string                // IDs of names that exist only since this run
	lists        map[listOf][]resource.Row              // of the predefined objects of a new parent
	batchCreated map[string]int                         // by ID of an object that a batch created: how many it created before
	unseen       map[*planner.Step]bool                 // steps of batches, whose answers show no values
	shown        map[string]resource.Row                // by ID: work items as the list of API v2 shows them
	values       map[resource.Address]map[string]string // of objects, from steps that are done
	written      map[string]time.Time                   // by ID: when the run wrote last, see remember

	reading chan struct{}      // holds an element during a read into shown
	listing singleflight.Group // reads into lists: several steps that need one wait for one read
}

func newMemory(client *apiclient.Client) *memory {
	return &memory{
		client: client,
		names:  map[planner.Name]string{}, lists: map[listOf][]resource.Row{}, batchCreated: map[string]int{},
		unseen: map[*planner.Step]bool{}, shown: map[string]resource.Row{}, values: map[resource.Address]map[string]string{},
		written: map[string]time.Time{}, reading: make(chan struct{}, 1),
	}
}

// settling is how long after its answer the service may still touch what it has written: it does so a moment later, and its
// clock in answers has whole seconds, and may be a second late.
const settling = 3 * time.Second

// remember notes what a step brought: the values that later steps do not send, and when the run last wrote an object, or
// something in it, or put it somewhere, since the service changes the object's updated_at then.
func (m *memory) remember(step *planner.Step, out executor.Outcome, ids executor.IDs) {
	at := m.client.Served()
	m.mu.Lock()
	defer m.mu.Unlock()
	o, written := step.Object, append([]string{out.ID}, out.Members...)
	if step.Members == nil {
		m.values[step.Address] = planner.MergeValues(m.values[step.Address], out.Values)
	} else {
		o = step.Members.Container.Object
	}
	for ; o != nil; o = o.Parent {
		id, _ := ids(o.Address)
		written = append(written, id)
	}
	for _, id := range written {
		if id != "" {
			m.written[id] = at
		}
	}
}

// valuesOf are the values of an object from steps that are done.
func (m *memory) valuesOf(address resource.Address) map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[address]
}

// untouchedSince reports whether nobody changed an object after the run wrote it, as its row tells.
func (m *memory) untouchedSince(row resource.Row) bool {
	at, _ := row["updated_at"].(string)
	changed, err := time.Parse(time.RFC3339, at)
	m.mu.Lock()
	defer m.mu.Unlock()
	return err == nil && !changed.After(m.written[row.ID()].Add(settling))
}

// noteUnseen notes an object that a batch wrote.
func (m *memory) noteUnseen(step *planner.Step, id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if step.Action == planner.Create {
		m.batchCreated[id] = len(m.batchCreated)
	}
	m.unseen[step] = true
}

// countCreated is how many objects batches have created.
func (m *memory) countCreated() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.batchCreated)
}

// createdInBatch tells how many objects batches had created before this one; ok is false where none did create it.
func (m *memory) createdInBatch(id string) (before int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, ok = m.batchCreated[id]
	return before, ok
}

func (m *memory) shownRow(id string) (resource.Row, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	row, ok := m.shown[id]
	return row, ok
}

// forget drops the rows of objects that were written since they were read.
func (m *memory) forget(ids map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.shown, func(id string, _ resource.Row) bool { return ids[id] })
}

// show reads what API v2 shows of objects, in the given order, until all have been seen. A
// failure is no error: what was not seen is not confirmed.
func (m *memory) show(ctx context.Context, list *resource.Operation, params map[string]string, ids []string, order string) {
	select { // steps that need the same rows wait for one read
	case m.reading <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-m.reading }()
	missing := map[string]bool{}
	for _, id := range ids {
		if _, ok := m.shownRow(id); !ok {
			missing[id] = true
		}
	}
	if len(missing) == 0 {
		return
	}
	rows := m.readUntil(ctx, list, params, order, "all", missing)
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.Copy(m.shown, rows)
}

// readUntil reads a list in the given order, until all objects have been seen or it fails.
func (m *memory) readUntil(ctx context.Context, list *resource.Operation, params map[string]string, order, fields string,
	missing map[string]bool,
) map[string]resource.Row {
	rows := map[string]resource.Row{}
	query := url.Values{"order_by": {order}, "fields": {fields}}
	for page, err := range m.client.Pages(ctx, apiclient.Request{Operation: list, Params: params, Query: query}) {
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

// listOf is the list of a kind in one parent.
type listOf struct {
	kind   *resource.Kind
	parent *resource.Object
}

// list reads a list once in a run.
func (m *memory) list(ctx context.Context, of listOf, req apiclient.Request) ([]resource.Row, error) {
	found, err, _ := m.listing.Do(of.kind.Name+" "+addressOf(of.parent), func() (any, error) {
		m.mu.Lock()
		rows, ok := m.lists[of]
		m.mu.Unlock()
		if ok {
			return rows, nil
		}
		rows, err := m.client.List(ctx, req)
		if err == nil {
			m.mu.Lock()
			m.lists[of] = rows
			m.mu.Unlock()
		}
		return rows, err
	})
	rows, _ := found.([]resource.Row)
	return rows, err
}

// nameID is the ID of a name that exists only since this run.
func (m *memory) nameID(n planner.Name) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id, ok := m.names[n]
	return id, ok
}

func (m *memory) setName(n planner.Name, id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.names[n] = id
}

// addressOf returns the address of an object, or "" for none.
func addressOf(o *resource.Object) string {
	if o == nil {
		return ""
	}
	return string(o.Address)
}
