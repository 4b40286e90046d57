package provider

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// learned is what the service has shown of itself during a run: how it names fields, how much a request may hold, what it
// does not have. It is safe for concurrent use.
type learned struct {
	mu           sync.Mutex
	dialects     map[string]resource.Dialect   // by kind, once an answer has shown it
	hidden       map[*resource.Field]bool      // fields already reported as hidden by answers
	rowLimits    map[*resource.Operation]int   // of operations whose batches were too large
	missing      map[*resource.Operation]error // operations of API v2 that the service does not have, and how it said so
	refusals     map[*planner.Step]int         // of steps that are sent again
	customNames  map[string]string             // by ID of a property: its name in API v2; "" = the service shows none
	storesCustom bool                          // API v2 was seen to store custom fields
}

func newLearned(dialects map[string]resource.Dialect) *learned {
	l := &learned{
		dialects: map[string]resource.Dialect{}, hidden: map[*resource.Field]bool{}, rowLimits: map[*resource.Operation]int{},
		missing: map[*resource.Operation]error{}, refusals: map[*planner.Step]int{}, customNames: map[string]string{},
	}
	maps.Copy(l.dialects, dialects)
	return l
}

// dialect is how the service names the kind's fields in an operation, as far as is known.
func (l *learned) dialect(k *resource.Kind, op *resource.Operation) resource.Dialect {
	if op.V2() {
		return resource.V2Dialect
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dialects[k.Name]
}

func (l *learned) setDialect(k *resource.Kind, d resource.Dialect) {
	if !k.HasDialects() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dialects[k.Name] = d
}

// firstHidden reports whether this is the first call for a field that answers do not show.
func (l *learned) firstHidden(f *resource.Field) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.hidden[f]
	l.hidden[f] = true
	return first
}

// customName is the name of a property in bodies of API v2; "" = it has none, and known is false where nobody has asked yet.
func (l *learned) customName(id string) (name string, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name, known = l.customNames[id]
	return name, known
}

// nameCustom notes the names of the properties in rows; the wanted one may have none.
func (l *learned) nameCustom(wanted string, rows []resource.Row) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.customNames[wanted] = ""
	for _, row := range rows {
		l.customNames[row.ID()], _ = row["name"].(string)
	}
}

// seenCustom notes whether API v2 was seen to store custom fields, and reports whether it ever was.
func (l *learned) seenCustom(now bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.storesCustom = l.storesCustom || now
	return l.storesCustom
}

// countRefusal counts the refusals of a step that is sent again: a concurrent change, a delete that the service forbids, or a create
// that an object collides with which no list shows.
func (l *learned) countRefusal(step *planner.Step) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusals[step]++
	return l.refusals[step]
}

// rowLimit is how many rows go into one request.
func (l *learned) rowLimit(op *resource.Operation) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n, ok := l.rowLimits[op]; ok {
		return n
	}
	return op.Rows
}

// splitLimit lowers the limit after so many rows were too many, or took too long.
func (l *learned) splitLimit(op *resource.Operation, rows int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rowLimits[op] = max(1, rows/2)
}

// lacks reports whether the service turned out not to have an operation of API v2.
func (l *learned) lacks(op *resource.Operation) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.missing[op] != nil
}

func (l *learned) disable(op *resource.Operation, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missing[op] = why
}

// fallbacks are warnings of operations of API v2 that the service turned out not to have,
// those that are missing for the same reason in one.
func (l *learned) fallbacks() diag.List {
	l.mu.Lock()
	defer l.mu.Unlock()
	kinds := map[string][]string{} // by reason
	for op, why := range l.missing {
		if op.OneAtATime { // API v1 does it in as many requests
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
