package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

func (b *builder) planCreate(i int) {
	if root := b.blocker(i); root != none {
		step := b.step(i, NotPossible)
		step.Reason, step.Unsupported = b.blockReason(i, root), b.unsupportedKind(root)
		return
	}
	o, f := b.in.Desired[i], &b.states[i]
	if o.Origin != "" && len(missingRequired(o)) > 0 {
		step := b.step(i, NotPossible)
		step.Reason = "it is " + o.Origin + " of " + o.Source.String() + ", and the manifest does not have enough fields to create it"
		return
	}
	if f.vanished {
		b.diags.Add(warning(o, "gone", string(o.Address)+" was deleted or archived on the service since the last apply and is created again"))
	}
	given := b.isDefault(i)
	if !given {
		b.checkComplete(i)
		b.checkFeature(i)
		b.warnCaseMismatch(i)
	}
	step := b.step(i, Create)
	step.Pending = f.unconfirmed
	step.Operation, step.Newest = f.info.create, b.newest[scope{f.info, f.parent}]
	lacks := b.unsupportedRefs(i)
	var d difference
	b.addUnavailableRefs(i, &d)
	var late, along []*resource.Value
	fillsFirst := b.fillsFirst(i)
	var values []*resource.Value
	for k := range o.Values {
		switch v := &o.Values[k]; {
		case f.info.carried(v.Field), lacks.has(v):
		case b.unavailable(i, v) != "":
			d.block(b.change(v, FromManifest), b.unavailable(i, v), v.Position)
		case v.Field.CreateOnly() && !b.resolvable(i, v): // left out, which is told where the name is looked up
		case isOff(v) && b.needsOn(o, v.Field): // off when all is in, see orderSwitches
			values, late = append(values, &resource.Value{Field: v.Field, Text: "true", Position: v.Position}), append(late, v)
		case b.getsDefault(f, v), fillsFirst && v.Field.Type == resource.Date:
			late = append(late, v)
		case !b.in.API.Sendable(v.Field):
			b.noteUnsendable(v, &d)
		case v.Field.SetAfterCreate && !given:
			late = append(late, v)
		default:
			if only := b.insidersOnly(i, v, &d); only != v {
				if v = only; v.Null {
					continue
				}
			}
			values = append(values, v)
			if v.Field.AlwaysSend {
				along = append(along, v)
			}
		}
	}
	b.checkRefused(i, slices.Concat(values, late))
	step.Values = values
	if given {
		b.adoptDefault(step)
	} else {
		step.Values = b.addInitial(o, values)
	}
	if f.parent != none {
		b.need(f.parent)
		b.needFeature(f)
	}
	b.needTargets(i, values)
	step.Needs = b.flushNeeds()
	b.planned[i] = step
	if len(late) > 0 && f.info.update != nil {
		b.addFollowUpUpdate(i, late, along)
	}
	b.planArchive(i)
	lacks.addTo(b.Snapshot, &d)
	b.addBlocked(i, &d)
}

// getsDefault reports whether the service gives a new object a default though the
// manifest says that it has none: an update right after takes that away again.
func (b *builder) getsDefault(f *objectState, v *resource.Value) bool {
	if !v.Null || f.info.update == nil {
		return false
	}
	id, _ := b.parentDefault(f, v.Field)
	return id != ""
}

// noteUnsendable tells what an object will not have since the operations offer no way to say it.
func (b *builder) noteUnsendable(v *resource.Value, d *difference) {
	if !v.Null && !v.Field.ArchiveFlag {
		d.unappliable, d.causes = append(d.unappliable, b.change(v, FromManifest)), append(d.causes, cannotSet)
	}
}

// addFollowUpUpdate adds the step that sends what a create does not take.
func (b *builder) addFollowUpUpdate(i int, late, along []*resource.Value) {
	f := &b.states[i]
	step := b.step(i, Update)
	step.Operation, step.Values, step.Needs = f.info.update, late, []int{i}
	b.willChange(step)
	step.Values = slices.Concat(late, along)
}

// isDefault reports whether the service makes an object by itself when it makes the parent, which is still to be made.
func (b *builder) isDefault(i int) bool {
	f := &b.states[i]
	if len(f.info.kind.Predefined) == 0 || f.parent == none || b.states[f.parent].presence != absent {
		return false
	}
	o := b.in.Desired[i]
	return slices.ContainsFunc(f.info.natural, func(field *resource.Field) bool {
		return slices.Contains(f.info.kind.Predefined, strings.TrimSpace(o.Text(field.Name)))
	})
}

// adoptDefault makes of a step that creates an object one that adopts what will be there by then.
func (b *builder) adoptDefault(step *Step) {
	k := step.Kind
	step.Action, step.Operation = Adopt, nil
	step.Reason = "each new " + resource.MustLookup(k.Parent).Noun() + " has it"
	step.Values = slices.DeleteFunc(step.Values, func(v *resource.Value) bool { return slices.Contains(k.NaturalKey, v.Field.Name) })
	if len(step.Values) == 0 {
		return
	}
	step.Operation, _ = k.Op(resource.Update, b.in.API)
	b.willChange(step)
}

// resolvable reports whether everything that a value names is known by now.
func (b *builder) resolvable(i int, v *resource.Value) bool {
	_, ok := v.Desired(b.resolve(i))
	return ok
}

// checkComplete reports what an object lacks that is to be created.
func (b *builder) checkComplete(i int) {
	o, f := b.in.Desired[i], &b.states[i]
	needed := missingRequired(o)
	if len(needed) == 0 {
		return
	}
	var others []string
	if b.listed(f.info, f.parent) {
		l, _ := b.list(f.info, f.parent)
		for _, row := range l.rows {
			others = append(others, displayTexts(o.Kind, row)...)
		}
	}
	what := o.Kind.Noun()
	b.diags.Add(diag.Diagnostic{
		Code: "incomplete", Position: o.Position, Address: string(o.Address),
		Summary: "the service has no " + what + " \"" + o.Name() + "\", and it cannot be created without its " + strings.Join(needed, " and its "),
		Hint:    cmp.Or(diag.DidYouMean(o.Name(), others), "write that, or the id of an existing "+o.Kind.Noun()),
	})
}

// missingRequired lists what an object cannot be created without and the manifest does not give.
func missingRequired(o *resource.Object) []string {
	var names []string
	if id := o.Kind.Identifier; id != nil && id.APIName != "" && o.Identifier == "" {
		names = append(names, "identifier")
	}
	for i := range o.Kind.Fields {
		if f := &o.Kind.Fields[i]; f.Required && f.Initial == "" && !o.Writes(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// addInitial adds the values that a create sends where the manifest gives none.
func (b *builder) addInitial(o *resource.Object, values []*resource.Value) []*resource.Value {
	for i := range o.Kind.Fields {
		if f := &o.Kind.Fields[i]; f.Initial != "" && b.in.API.Sendable(f) && !o.Writes(f) {
			values = append(values, &resource.Value{Field: f, Text: f.Initial, Position: o.Position})
		}
	}
	return values
}

// needFeature notes the step that switches on in the parent what objects of the kind need.
func (b *builder) needFeature(f *objectState) {
	on, given := b.in.Desired[f.parent].Value(f.info.kind.RequiresFeature)
	if step := b.planned[f.parent]; given && !isOff(on) && b.states[f.parent].presence == exists && step != nil && step.Operation != nil {
		b.needs = append(b.needs, f.parent)
	}
}
