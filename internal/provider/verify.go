package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// The service has been seen to report success for changes it did not make, and failure
// for objects it did create. So a success is compared with the request, and a failure
// with the objects that the service then shows.

// ownedID is an ID of the service; different kinds may share one.
type ownedID struct{ kind, id string }

// owner is the object that has an ID.
type owner struct {
	address resource.Address
	orphan  bool          // the manifest does not have it
	step    *planner.Step // that got the ID in this run; nil = none did
}

// claim notes the ID that the service gives a step's object. One that is none, or that another object of the state or of this
// run has, comes from an answer that was mixed up and says nothing. Only what exists already can be an orphan of the state.
func (s *Service) claim(step *planner.Step, row resource.Row, created bool) error {
	id := row.ID()
	switch mark, _ := row["external_id"].(string); {
	case id == "":
		return errors.New("the answer has no ID")
	case !resource.IsID(id):
		return fmt.Errorf("the answer has the ID %s, which is no UUID", quoted(id))
	case created && mark != "" && s.usesExternalID(step) && mark != resource.ExternalID(s.plan.Workspace, step.Address):
		return fmt.Errorf("the answer is about another object, with the external ID %s", quoted(mark))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loadOwners()
	at := ownedID{step.Kind.Name, id}
	had, owned := s.owners[at]
	if owned && had.address != step.Address {
		s.disputed[had.step] = had.step != nil
		proven := !created && (had.orphan || had.step != nil && row.HasExternalID(resource.ExternalID(s.plan.Workspace, step.Address)))
		if !proven {
			return fmt.Errorf("the answer has the ID %s, which is that of %s", id, had.address)
		}
	}
	s.owners[at] = owner{address: step.Address, step: step}
	return nil
}

// settleDispute looks up the object of a create whose ID another answer gave too, and corrects the outcome.
func (s *Service) settleDispute(ctx context.Context, step *planner.Step, out executor.Outcome, ids executor.IDs) executor.Outcome {
	params, err := s.params(step, ids)
	if err != nil {
		return out
	}
	row, v, err := s.findCreated(ctx, step, params)
	if v == found && row.ID() == out.ID {
		return out
	}
	summary, wrong := "the service gave its ID "+out.ID+" to another object too", out.ID
	if v == found {
		out, summary = s.created(step, row, ids), "the service answered with the ID "+wrong+" of another object: it is "+row.ID()
	} else if err != nil {
		summary += ": " + err.Error()
	}
	out.Warnings.Add(diag.Diagnostic{
		Severity: diag.Warning, Code: "mixed-up", Position: step.Position, Address: string(step.Address), Summary: summary,
		Hint: "answers are mixed up, perhaps by a cache or a proxy before the service: look at what the object " + wrong + " holds, and plan again",
	})
	return out
}

// loadOwners gathers the IDs that the state knows, when they are first needed.
func (s *Service) loadOwners() {
	if s.owners != nil {
		return
	}
	s.owners = map[ownedID]owner{}
	for address, r := range s.state.Prior() {
		if _, wanted := s.plan.Known[address]; !wanted && address.IsObject() && r.ID != "" {
			s.owners[ownedID{address.Kind(), r.ID}] = owner{address: address, orphan: true}
		}
	}
	for address, r := range s.plan.Known {
		s.owners[ownedID{address.Kind(), r.ID}] = owner{address: address}
	}
}

// silentDropHint names the references that the service drops without an error.
const silentDropHint = "the service silently drops objects of other projects, and people who are guests or not members of the project"

// verify adds to the outcome of a step warnings of fields that the answer shows with other values than were sent.
func (s *Service) verify(out *executor.Outcome, step *planner.Step, row resource.Row, values map[*resource.Field]string, ids executor.IDs) {
	l, sent := &out.Warnings, 0
	row = step.Kind.InZone(row, step.Zone)
	resolve := s.resolve(step.Object, ids)
	warn := func(v *resource.Value, summary, hint string) {
		l.Add(diag.Diagnostic{
			Severity: diag.Warning, Code: "not-taken", Position: v.Position, Address: string(step.Address), Summary: summary, Hint: hint,
		})
	}
	var hidden []*resource.Value
	informative := false
	for _, v := range step.Values {
		want, ok := values[v.Field]
		shown, shows := row.Shown(v.Field)
		if !shows && v.Field.IsRef() && !resource.IsCustom(v) {
			hidden = append(hidden, v)
		}
		if ok && !v.AsShown && !v.Field.AlwaysSend {
			sent++
		}
		if !ok || v.AsShown || v.Field.Past && step.Action == planner.Create || v.Field.Type == resource.HTML && shown == v.Text {
			continue // the text itself came back
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
		if warn(v, summary, hint); !v.Field.IsCoveredBy(want, have) {
			if out.LeftOut++; s.isAsBefore(step, v.Field, have) {
				sent--
			}
		}
	}
	out.NotTaken = step.Action == planner.Update && out.LeftOut > 0 && sent == 0 && !step.SetExternalID
	if informative { // an answer without any field contradicts nothing
		for _, v := range hidden {
			if s.warnOnce(v.Field) {
				warn(v, "the service does not show "+v.Field.Name+", so planform cannot verify it, here or on other objects",
					"check "+string(step.Address)+" on the service")
			}
		}
	}
}

// isAsBefore reports whether the service shows what it had of a field before the run, as far as the state tells.
func (s *Service) isAsBefore(step *planner.Step, f *resource.Field, have string) bool {
	known := s.plan.Known[step.Address].Values
	applied, ok := known[f.Name]
	return have == "" && !ok || ok && applied == resource.Digest(have) || known[planner.ShownKey(f.Name)] == planner.LeftOut(have)
}

// unsentFields warns once of each field that was left out because its target does not
// exist: the service turned out not to support objects of that kind.
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

// dropped are the references of a set, as written, that the service does not show.
func dropped(v *resource.Value, have string, resolve resource.IDResolver) []string {
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

// warnOnce reports whether this is the first call for the field.
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

// downgradeGeneric turns a generic refusal into an unknown outcome where no look-up can
// tell: the service has been seen to create an object and still answer with a generic error.
func (s *Service) downgradeGeneric(step *planner.Step, err error) error {
	e, refused := errors.AsType[*apiclient.Error](err)
	if !refused || e.Effect != apiclient.Rejected || !e.Generic() {
		return err
	}
	if _, listed := s.operation(step, resource.List); listed && (s.usesExternalID(step) || !step.Kind.AdoptOnRequestOnly) || s.onlyNumbersTell(step) {
		return diag.WithHint(err, "the service gives this answer to failures of many kinds; "+string(step.Address)+
			" was not created: check whether its parent and everything it refers to still exist")
	}
	unknown := *e
	unknown.Effect = apiclient.UnknownEffect
	return unknownOutcome{&unknown}
}
