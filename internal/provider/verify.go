package provider

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// What a 2xx says is held against what was asked for, and what a refusal says
// against what the service then shows: both have been seen to be wrong.

// silentDropHint is what the service is known to drop from a request without a word.
const silentDropHint = "the service silently drops objects of other projects, and people who are guests or not members of the project"

// mismatches are the fields that the answer shows otherwise than they were
// sent. values become what is shown, since that is what the service holds; but what
// the service rewrites stays what was sent, see [Service.digestSent].
func (s *Service) mismatches(step *planner.Step, row resource.Row, values map[*resource.Field]string, ids executor.IDs) diag.List {
	var l diag.List
	row = step.Kind.InZone(row, step.Zone)
	resolve := s.resolve(step.Object, ids)
	warn := func(v *resource.Value, summary, hint string) {
		l.Add(diag.Diagnostic{
			Severity: diag.Warning, Code: "not-taken", Position: v.Position, Address: string(step.Address), Summary: summary, Hint: hint,
		})
	}
	var silent []*resource.Value
	telling := false
	for _, v := range step.Values {
		want, ok := values[v.Field]
		shown, there := row.Shown(v.Field)
		if !there && v.Field.IsRef() {
			silent = append(silent, v)
		}
		if !ok || v.Field.Type == resource.HTML && shown == v.Text {
			continue // the text itself came back: no need to look closer
		}
		have, known := v.Field.ObservedIn(row)
		telling = telling || known
		if text, isText := shown.(string); isText && v.Field.Rich() {
			if lost := v.Lost(text); len(lost) > 0 {
				warn(v, "the service left "+strings.Join(lost, ", ")+" out of the "+v.Field.Name, "it is not sent again until the manifest changes")
				continue
			}
		}
		if !known || want == have {
			continue
		}
		summary, hint := "the service stored a different "+v.Field.Name+": "+quoted(have)+" instead of "+quoted(want), ""
		if v.Field.IsRef() {
			hint = silentDropHint
		}
		if names := dropped(v, have, resolve); len(names) > 0 {
			summary = "the service left " + strings.Join(names, ", ") + " out of the " + v.Field.Name
		} else if v.Field.Type == resource.RefSet {
			n := len(strings.Split(have, ",")) - len(v.Refs)
			summary, hint = "the service shows "+strconv.Itoa(n)+" more "+v.Field.Name+" than were sent", "some editions also show removed ones"
		}
		warn(v, summary, hint)
		if !rewritten(v.Field, want, have) {
			values[v.Field] = have
		}
	}
	if telling { // an answer that shows nothing of the thing contradicts nothing
		for _, v := range silent {
			if s.warnOnce(v.Field) {
				warn(v, "the service does not show "+v.Field.Name+", so planform cannot verify it, here or on other objects",
					"check "+string(step.Address)+" on the service")
			}
		}
	}
	return l
}

// unsentFields tells once of each field that was left out since what it names is not
// there: this edition of the service turned out not to have such objects.
func (s *Service) unsentFields(step *planner.Step, ids executor.IDs) diag.List {
	var l diag.List
	for _, v := range step.Values {
		for i := range v.Refs {
			target := v.Refs[i].Target
			if target == nil {
				continue
			}
			if _, ok := ids(target.Address); !ok && s.warnOnce(v.Field) {
				l.Add(diag.Diagnostic{
					Severity: diag.Warning, Code: "unsupported", Position: v.Position, Address: string(step.Address),
					Summary: v.Field.Name + " is left out, here and on other objects: " + string(target.Address) + " is not on the service",
				})
			}
		}
	}
	return l
}

// dropped is those of a set, as they are written, that the service does not have.
func dropped(v *resource.Value, have string, resolve resource.IDResolver) []string {
	if v.Field.Type != resource.RefSet {
		return nil
	}
	var names []string
	there := strings.Split(have, ",")
	for i := range v.Refs {
		if id, ok := resolve(v.Field, &v.Refs[i]); ok && !slices.Contains(there, id) {
			names = append(names, v.Refs[i].Text)
		}
	}
	return names
}

// warnOnce reports whether the field is asked about for the first time.
func (s *Service) warnOnce(f *resource.Field) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.warnedHidden[f] {
		return false
	}
	s.warnedHidden[f] = true
	return true
}

func quoted(canonical string) string {
	const longest = 120
	if r := []rune(canonical); len(r) > longest {
		canonical = string(r[:longest]) + "…"
	}
	return strconv.Quote(canonical)
}

// downgradeGeneric makes a refusal that may be untrue one of unknown fate, where no look
// can tell: the service has been seen to create a thing and then to complain of it in general terms.
func (s *Service) downgradeGeneric(step *planner.Step, err error) error {
	e, refused := errors.AsType[*apiclient.Error](err)
	if !refused || e.Effect != apiclient.Rejected || !e.Generic() {
		return err
	}
	if _, listed := step.Kind.Op(resource.List, s.plan.API); listed && (s.usesExternalID(step) || !step.Kind.AdoptOnRequestOnly) {
		return withHint{err, "the service gives this answer to failures of many kinds; " + string(step.Address) +
			" was not created: check whether its parent and everything it refers to still exist"}
	}
	unknown := *e
	unknown.Effect = apiclient.UnknownEffect
	return unknownOutcome{&unknown}
}
