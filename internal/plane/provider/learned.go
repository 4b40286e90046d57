package provider

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// table is a map that is safe for concurrent use. Its zero value is empty.
type table[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]V
}

func (t *table[K, V]) get(key K) (V, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v, ok := t.values[key]
	return v, ok
}

// set stores a value, and returns the former one.
func (t *table[K, V]) set(key K, value V) (former V) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.values == nil {
		t.values = map[K]V{}
	}
	former = t.values[key]
	t.values[key] = value
	return former
}

// serviceTraits holds properties of the service that answers have shown during a run: dialects, limits, and missing operations. It is safe for
// concurrent use.
type serviceTraits struct {
	dialects     table[string, resource.Dialect] // by kind, once an answer shows it
	hidden       table[*resource.Field, bool]    // fields that were reported as missing in answers
	rowLimits    table[*resource.Operation, int] // of operations whose batches were too large
	missing      table[*resource.Operation, error]
	refusals     table[*planner.Step, int] // of steps that are sent again
	customNames  table[string, string]     // by ID of a property: its name in API v2; "" = it has none
	storesCustom atomic.Bool               // API v2 has stored custom fields
}

// dialect returns the known dialect of the kind's fields in an operation.
func (le *serviceTraits) dialect(k *resource.Kind, op *resource.Operation) resource.Dialect {
	if op.V2() {
		return resource.V2Dialect
	}
	d, _ := le.dialects.get(k.Name)
	return d
}

// countRefusal counts and returns the refusals of a step that is sent again: because of a concurrent change, of a forbidden delete, or of a
// conflict with an object that is in no list.
func (le *serviceTraits) countRefusal(step *planner.Step) int {
	n, _ := le.refusals.get(step)
	le.refusals.set(step, n+1)
	return n + 1
}

// rowLimit returns the largest number of rows in one request.
func (le *serviceTraits) rowLimit(op *resource.Operation) int {
	n, _ := le.rowLimits.get(op)
	return cmp.Or(n, op.Rows)
}

// splitLimit halves the limit after a request with so many rows was too large or too slow.
func (le *serviceTraits) splitLimit(op *resource.Operation, rows int) {
	le.rowLimits.set(op, max(1, rows/2))
}

// lacks reports whether the service lacks an operation of API v2.
func (le *serviceTraits) lacks(op *resource.Operation) bool {
	_, lacks := le.missing.get(op)
	return lacks
}

// fallbacks returns warnings about operations of API v2 that the service lacks, one for each reason.
func (le *serviceTraits) fallbacks() diag.List {
	le.missing.mu.Lock()
	defer le.missing.mu.Unlock()
	kinds := map[string][]string{} // by reason
	for op, why := range le.missing.values {
		if op.OneAtATime { // API v1 needs the same number of requests
			continue
		}
		reason := why.Error()
		if e, ok := errors.AsType[*apiclient.Error](why); ok {
			reason = fmt.Sprintf("API v2 answers %d %s", e.Status, strings.TrimSuffix(e.Message, "."))
		}
		if noun := diag.Plural(strings.ReplaceAll(op.Kind, "_", " ")); !slices.Contains(kinds[reason], noun) {
			kinds[reason] = append(kinds[reason], noun)
		}
	}
	var warnings diag.List
	for reason, nouns := range kinds {
		slices.Sort(nouns)
		warnings.Add(diag.Diagnostic{
			Severity: diag.Warning, Code: "fallback", Summary: strings.Join(nouns, ", ") + " were sent one by one: " + reason,
			Hint: "planform doctor says what API v2 lacks; --api v1 sends one by one from the start",
		})
	}
	warnings.Sort()
	return warnings
}
