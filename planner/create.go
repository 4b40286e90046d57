package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

func (b *builder) create(i int) {
	if root := b.root(int32(i)); root != none { //nolint:gosec // there are fewer things than 2^31
		step := b.step(i, NotPossible)
		step.Reason, step.Lacking = b.obstacle(i, root), b.lackingKind(root)
		return
	}
	o, f := b.in.Desired[i], &b.facts[i]
	if o.Origin != "" && len(undescribed(o)) > 0 {
		step := b.step(i, NotPossible)
		step.Reason = "it is " + o.Origin + " of " + o.Source.String() + ", and the manifest does not say enough of it to create it"
		return
	}
	if f.gone {
		b.diags.Add(warning(o, "gone", string(o.Address)+" was deleted or archived on the service since the last apply and is created again"))
	}
	given := b.given(i)
	if !given {
		b.complete(i)
		b.checkFeature(i)
		b.compareLetters(i)
	}
	step := b.step(i, Create)
	step.Pending = f.unsettled
	step.Operation, step.Newest = f.traits.create, b.newest[scope{f.traits, f.parent}]
	lacks := b.lacking(i)
	var d difference
	b.unmet(i, &d)
	var late, along []*resource.Value
	fillsFirst := b.fillsFirst(i)
	values := b.values.take(len(o.Values))[:0]
	for k := range o.Values {
		switch v := &o.Values[k]; {
		case f.traits.carried(v.Field), lacks.has(v):
		case b.unavailable(int32(i), v) != "": //nolint:gosec // there are fewer things than 2^31
			d.stick(b.change(v, FromManifest), b.unavailable(int32(i), v), v.Position) //nolint:gosec // likewise
		case v.Field.Once() && !b.resolvable(i, v): // left out, which is told where the name is looked up
		case b.getsDefault(f, v), fillsFirst && v.Field.Type == resource.Date:
			late = append(late, v)
		case !b.in.API.Sends(v.Field):
			b.withhold(v, &d)
		case v.Field.Late && !given:
			late = append(late, v)
		default:
			if only := b.insidersOnly(i, v, &d); only != v {
				if v = only; v.Null {
					continue
				}
			}
			values = append(values, v)
			if v.Field.Along {
				along = append(along, v)
			}
		}
	}
	b.checkSent(i, slices.Concat(values, late))
	step.Values = values
	if given {
		b.giveStep(step)
	} else {
		step.Values = b.initial(o, values)
	}
	if f.parent != none {
		b.need(f.parent)
		b.needFeature(f)
	}
	b.needTargets(i, values)
	step.Needs = b.taken()
	f.step = step
	if len(late) > 0 && f.traits.update != nil {
		b.complement(i, late, along)
	}
	b.shelve(i)
	lacks.add(b.Survey, &d)
	b.stick(i, &d)
}

// getsDefault reports whether the service gives a new thing a default though the
// manifest says that it has none: an update right after takes that away again.
func (b *builder) getsDefault(f *fact, v *resource.Value) bool {
	if !v.Null || f.traits.update == nil {
		return false
	}
	id, _ := b.parentDefault(f, v.Field)
	return id != ""
}

// withhold tells what a thing will not have since the operations offer no way to say it.
func (b *builder) withhold(v *resource.Value, d *difference) {
	if !v.Null && !v.Field.Shelf {
		d.stuck, d.causes = append(d.stuck, b.change(v, FromManifest)), append(d.causes, cannotSet)
	}
}

// complement adds the step that sends what a create does not take.
func (b *builder) complement(i int, late, along []*resource.Value) {
	f := &b.facts[i]
	step := b.step(i, Update)
	step.Operation, step.Values, step.Needs = f.traits.update, late, []int{i}
	b.willChange(step)
	step.Values = slices.Concat(late, along)
}

// given reports whether the service makes a thing by itself when it makes the parent, which is still to be made.
func (b *builder) given(i int) bool {
	f := &b.facts[i]
	if len(f.traits.kind.Given) == 0 || f.parent == none || b.facts[f.parent].standing != absent {
		return false
	}
	o := b.in.Desired[i]
	return slices.ContainsFunc(f.traits.natural, func(field *resource.Field) bool {
		return slices.Contains(f.traits.kind.Given, strings.TrimSpace(o.Text(field.Name)))
	})
}

// giveStep makes of a step that creates a thing one that adopts what will be there by then.
func (b *builder) giveStep(step *Step) {
	k := step.Kind
	step.Action, step.Operation = Adopt, nil
	step.Reason = "each new " + resource.Must(k.Parent).Noun() + " has it"
	step.Values = slices.DeleteFunc(step.Values, func(v *resource.Value) bool { return slices.Contains(k.Natural, v.Field.Name) })
	if len(step.Values) == 0 {
		return
	}
	step.Operation, _ = k.Op(resource.Update, b.in.API)
	b.willChange(step)
}

// resolvable reports whether everything that a value names is known by now.
func (b *builder) resolvable(i int, v *resource.Value) bool {
	_, ok := v.Wanted(b.resolve(int32(i))) //nolint:gosec // there are fewer things than 2^31
	return ok
}

// complete reports what a thing lacks that is to be created.
func (b *builder) complete(i int) {
	o, f := b.in.Desired[i], &b.facts[i]
	needed := undescribed(o)
	if len(needed) == 0 {
		return
	}
	var others []string
	if b.listed(f.traits, f.parent) {
		l, _ := b.list(f.traits, f.parent)
		for _, row := range l.rows {
			others = append(others, naturals(o.Kind, row)...)
		}
	}
	what := o.Kind.Noun()
	b.diags.Add(diag.Diagnostic{
		Code: "incomplete", Position: o.Position, Address: string(o.Address),
		Summary: "the service has no " + what + " \"" + o.Name() + "\", and it cannot be created without its " + strings.Join(needed, " and its "),
		Hint:    cmp.Or(diag.DidYouMean(o.Name(), others), "write that, or the id of "+diag.A(o.Kind.Noun())+" that exists"),
	})
}

// undescribed lists what a thing cannot be created without and the manifest does not give.
func undescribed(o *resource.Object) []string {
	var names []string
	if id := o.Kind.Identifier; id != nil && id.Wire != "" && o.Identifier == "" {
		names = append(names, "identifier")
	}
	for i := range o.Kind.Fields {
		if f := &o.Kind.Fields[i]; f.Required && f.Initial == "" && !o.Writes(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// initial adds the values that a create sends where the manifest gives none.
func (b *builder) initial(o *resource.Object, values []*resource.Value) []*resource.Value {
	for i := range o.Kind.Fields {
		if f := &o.Kind.Fields[i]; f.Initial != "" && b.in.API.Sends(f) && !o.Writes(f) {
			values = append(values, &resource.Value{Field: f, Text: f.Initial, Position: o.Position})
		}
	}
	return values
}

// needFeature notes the step that switches on in the parent what things of the kind need.
func (b *builder) needFeature(f *fact) {
	if p := &b.facts[f.parent]; f.traits.kind.Feature != "" && p.standing == there && p.step != nil && p.step.Operation != nil {
		b.needs = append(b.needs, int(f.parent))
	}
}
