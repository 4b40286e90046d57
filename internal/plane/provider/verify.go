package provider

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// The service has been seen to report success for changes that it did not make, and failure for objects that it did create. So a success is
// compared with the request, and a failure with the objects that the service shows afterwards.

// silentDropHint names the references that the service drops without an error.
const silentDropHint = "the service drops archived, deleted or other projects' objects, guests and non-members without an error"

// verify adds warnings about fields that the answer shows with other values than were sent.
func (w *write) verify(out *executor.Outcome, step *planner.Step, row resource.Row, values map[*resource.Field]string) {
	l, sent := &out.Warnings, 0
	row = step.Kind.InZone(row, step.Write.Zone)
	resolve := w.idResolver(step.Object, w.ids)
	warn := func(v *resource.Value, summary, hint string) {
		l.Add(diag.Diagnostic{
			Severity: diag.Warning, Code: "not-taken", Position: v.Position, Address: string(step.Address), Summary: summary, Hint: hint,
		})
	}
	var hidden []*resource.Value
	informative := false
	for _, v := range step.Values() {
		want, ok := values[v.Field]
		if v.Field.ArchiveFlag { // the state does not record it
			want, ok = v.Text, true
		}
		shown, shows := row.Shown(v.Field)
		if !shows && v.Field.IsRef() && !resource.IsCustom(v) {
			hidden = append(hidden, v)
		}
		if ok && !v.AsShown && !v.Field.AlwaysSend {
			sent++
		}
		if !ok || isUnverifiable(step, v, shown) {
			continue
		}
		have, known := v.Field.ObservedIn(row)
		informative = informative || known
		if text, isText := shown.(string); isText && v.Field.Rich() {
			if lost := v.Lost(text, resolve); len(lost) > 0 {
				warn(v, "the service left "+strings.Join(lost, ", ")+" out of the "+v.Field.Name, "it is not sent again until the manifest changes")
				continue
			}
		}
		if !known || v.Field.Agrees(want, have) {
			continue
		}
		summary, hint := disagreement(v, have, want, resolve)
		if warn(v, summary, hint); !v.Field.IsCoveredBy(want, have) {
			if out.LeftOut++; w.isAsBefore(step, v.Field, have) {
				sent--
			}
		}
	}
	out.NotTaken = step.Action == planner.Update && out.LeftOut > 0 && sent == 0 && !step.Write.SetExternalID
	for _, v := range hidden {
		if informative && !w.traits.hidden.set(v.Field, true) { // an answer without any field contradicts nothing
			warn(v, "the service does not show "+v.Field.Name+", so planform cannot verify it, here or on other objects",
				"check "+string(step.Address)+" on the service")
		}
	}
}

// isUnverifiable reports whether an answer cannot contradict a sent value, or shows it unchanged.
func isUnverifiable(step *planner.Step, v *resource.Value, shown any) bool {
	return v.AsShown || v.Field.Past && step.Action == planner.Create || v.Field.Type == resource.HTML && shown == v.Text
}

// disagreement describes how a value in the answer differs from the value that was sent.
func disagreement(v *resource.Value, have, want string, resolve resource.IDResolver) (summary, hint string) {
	if names := droppedRefs(v, have, resolve); len(names) > 0 {
		return "the service left " + strings.Join(names, ", ") + " out of the " + v.Field.Name, silentDropHint
	}
	if v.Field.Type == resource.RefSet {
		n := len(strings.Split(have, ",")) - len(v.Refs)
		return "the service shows " + strconv.Itoa(n) + " more " + v.Field.Name + " than were sent", "some editions also show removed ones"
	}
	if v.Field.IsRef() {
		hint = silentDropHint
	}
	stored, wanted := diag.Differing(have, want, 121)
	return "the service stored a different " + v.Field.Name + ": " + strconv.Quote(stored) + " instead of " + strconv.Quote(wanted), hint
}

// isAsBefore reports whether a field has the value that it had before the run, according to the state.
func (s *Service) isAsBefore(step *planner.Step, f *resource.Field, have string) bool {
	known := s.plan.Known[step.Address].Values
	applied, ok := known[f.Name]
	return have == "" && !ok || ok && resource.IsDigest(applied, have) || known[planner.ShownKey(f.Name)] == planner.LeftOutValue(have)
}

// unsentFields warns once about each field that was left out because its target does not exist. This happens if the service does not
// support objects of the target's kind.
func (w *write) unsentFields(step *planner.Step) diag.List {
	var l diag.List
	for _, v := range step.Values() {
		for i := range v.Refs {
			target := v.Refs[i].Target
			if target == nil {
				continue
			}
			if _, ok := w.ids(target.Address); !ok && !w.traits.hidden.set(v.Field, true) {
				l.Add(diag.Diagnostic{
					Severity: diag.Warning, Code: "unsupported", Position: v.Position, Address: string(step.Address),
					Summary: v.Field.Name + " is left out, here and on other objects: " + string(target.Address) + " is not on the service",
				})
			}
		}
	}
	return l
}

// droppedRefs returns the references of a set, as written, that the service does not show.
func droppedRefs(v *resource.Value, have string, resolve resource.IDResolver) []string {
	if v.Field.Type != resource.RefSet {
		return nil
	}
	var names []string
	shown := strings.Split(have, ",")
	for i := range v.Refs {
		if id, ok := resolve(v.Field, &v.Refs[i]); ok && !slices.Contains(shown, id) {
			names = append(names, v.Refs[i].Text)
		}
	}
	return names
}

func quoted(canonical string) string {
	return strconv.Quote(diag.Truncate(canonical, 121))
}

// downgradeGeneric turns a generic refusal into an unknown outcome if no lookup is possible. The service has been seen to create an object
// and still answer with a generic error.
func (s *Service) downgradeGeneric(step *planner.Step, err error) error {
	e, refused := errors.AsType[*apiclient.Error](err)
	if !refused || e.Effect != apiclient.Rejected || !e.Generic() {
		return err
	}
	if _, listed := s.operation(step, resource.List); listed && (s.usesExternalID(step) || !step.Kind.AdoptOnRequestOnly) ||
		s.isFoundByNumberOnly(step) {
		return diag.WithHint(err, "the service hides the cause; "+string(step.Address)+
			" was not created: check that its parent and the objects that it names exist")
	}
	unknown := *e
	unknown.Effect = apiclient.UnknownEffect
	return unknownOutcome{&unknown}
}
