package provider

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// serviceTraits holds properties of the service that answers have shown during a run: dialects, limits, and missing operations. It is safe for
// concurrent use.
type serviceTraits struct {
	mu           sync.Mutex
	dialects     map[string]resource.Dialect   // by kind, once an answer shows it
	hidden       map[*resource.Field]bool      // fields that were reported as missing in answers
	rowLimits    map[*resource.Operation]int   // of operations whose batches were too large
	missing      map[*resource.Operation]error // operations of API v2 that the service lacks, with its error
	refusals     map[*planner.Step]int         // of steps that are sent again
	customNames  map[string]string             // by ID of a property: its name in API v2; "" = it has none
	storesCustom bool                          // API v2 has stored custom fields
}

func newLearned(dialects map[string]resource.Dialect) *serviceTraits {
	l := &serviceTraits{
		dialects: map[string]resource.Dialect{}, hidden: map[*resource.Field]bool{}, rowLimits: map[*resource.Operation]int{},
		missing: map[*resource.Operation]error{}, refusals: map[*planner.Step]int{}, customNames: map[string]string{},
	}
	maps.Copy(l.dialects, dialects)
	return l
}

// dialect returns the known dialect of the kind's fields in an operation.
func (le *serviceTraits) dialect(k *resource.Kind, op *resource.Operation) resource.Dialect {
	if op.V2() {
		return resource.V2Dialect
	}
	le.mu.Lock()
	defer le.mu.Unlock()
	return le.dialects[k.Name]
}

func (le *serviceTraits) setDialect(k *resource.Kind, d resource.Dialect) {
	if !k.HasDialects() {
		return
	}
	le.mu.Lock()
	defer le.mu.Unlock()
	le.dialects[k.Name] = d
}

// firstHidden reports whether this is the first call for a field that answers do not show.
func (le *serviceTraits) firstHidden(f *resource.Field) bool {
	le.mu.Lock()
	defer le.mu.Unlock()
	first := !le.hidden[f]
	le.hidden[f] = true
	return first
}

// customName returns the name of a property in bodies of API v2; "" = it has none. known is false if it was not read yet.
func (le *serviceTraits) customName(id string) (name string, known bool) {
	le.mu.Lock()
	defer le.mu.Unlock()
	name, known = le.customNames[id]
	return name, known
}

// nameCustom stores the names of the properties in rows, and that the wanted property has none if it is missing.
func (le *serviceTraits) nameCustom(wanted string, rows []resource.Row) {
	le.mu.Lock()
	defer le.mu.Unlock()
	le.customNames[wanted] = ""
	for _, row := range rows {
		le.customNames[row.ID()], _ = row["name"].(string)
	}
}

// seenCustom records whether API v2 stores custom fields now, and reports whether it ever did.
func (le *serviceTraits) seenCustom(now bool) bool {
	le.mu.Lock()
	defer le.mu.Unlock()
	le.storesCustom = le.storesCustom || now
	return le.storesCustom
}

// countRefusal counts and returns the refusals of a step that is sent again: because of a concurrent change, of a forbidden delete, or of a
// conflict with an object that is in no list.
func (le *serviceTraits) countRefusal(step *planner.Step) int {
	le.mu.Lock()
	defer le.mu.Unlock()
	le.refusals[step]++
	return le.refusals[step]
}

// rowLimit returns the largest number of rows in one request.
func (le *serviceTraits) rowLimit(op *resource.Operation) int {
	le.mu.Lock()
	defer le.mu.Unlock()
	if n, ok := le.rowLimits[op]; ok {
		return n
	}
	return op.Rows
}

// splitLimit halves the limit after a request with so many rows was too large or too slow.
func (le *serviceTraits) splitLimit(op *resource.Operation, rows int) {
	le.mu.Lock()
	defer le.mu.Unlock()
	le.rowLimits[op] = max(1, rows/2)
}

// lacks reports whether the service lacks an operation of API v2.
func (le *serviceTraits) lacks(op *resource.Operation) bool {
	le.mu.Lock()
	defer le.mu.Unlock()
	return le.missing[op] != nil
}

func (le *serviceTraits) disable(op *resource.Operation, why error) {
	le.mu.Lock()
	defer le.mu.Unlock()
	le.missing[op] = why
}

// fallbacks returns warnings about operations of API v2 that the service lacks, one for each reason.
func (le *serviceTraits) fallbacks() diag.List {
	le.mu.Lock()
	defer le.mu.Unlock()
	kinds := map[string][]string{} // by reason
	for op, why := range le.missing {
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
