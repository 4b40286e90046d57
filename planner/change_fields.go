package planner

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// compare compares the values of the manifest for an object that exists with the values that the service shows. If the service
// shows none, it compares them with the state.
func (ch *changes) compare(i objectID) (d differences) {
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	for k := range o.Values {
		v := &o.Values[k]
		why, via := ch.blockers.whyUnavailable(i, v), f.info.viaMembership(v.Field)
		switch {
		case why.Code == Lacks:
			d.block(v, why)
		case v.Null && resource.IsCustom(v) && ch.refs.losesField(i, v.Field.Definition):
		case !via && !v.Field.Virtual && !v.Field.ArchiveFlag && !v.Implied:
			ch.compareField(i, v, &d)
		case v.Field.OnlyV2() && !via && !v.Null:
			d.block(v, cannot(CannotChange))
		}
	}
	for k := range o.Kind.Fields { // also fields that the manifest does not have
		field := &o.Kind.Fields[k]
		if _, given := o.Value(field.Name); field.AlwaysSend && !given {
			if v := shownValue(&resource.Value{Field: field, Position: o.Position}, f.row); v != nil && !v.Null {
				d.alwaysSend(v)
			}
		}
	}
	return d
}

// compareField compares a field and adds its difference to d: as a change, as kept drift, as ignored, or as not possible.
func (ch *changes) compareField(i objectID, written *resource.Value, d *differences) {
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	v, created := ch.withPossibleLinks(written)
	found, differs := ch.differ.found[written]
	if v != written {
		found, differs = ch.differ.compare(v, f, ch.refs.idResolver(i))
	}
	missing := 0 // number of links that an interrupted run did not send
	if differs {
		missing = ch.missingLinks(v, f)
	}
	switch {
	case differs && missing > 0 && f.info.update == nil:
		ch.unlinked[f.info]++
		differs = false
	case differs && o.Ignores(v.Field) && (missing == 0 || ch.differ.isDrift(found, f)):
		d.ignored++
		d.alwaysSend(shownValue(v, f.row))
		return
	}
	if others := ch.whySiblingsKeepFlag(i, v); !differs && others.exists() {
		d.block(v, others)
		return
	}
	if !differs {
		ch.noteUnseen(i, v)
		d.alwaysSend(v)
		return
	}
	if only := ch.withoutOutsiders(i, v, d); only != v {
		v = only
		if found, differs = ch.differ.compare(v, f, ch.refs.idResolver(i)); !differs {
			return
		}
	}
	c := new(ch.differ.change(i, found))
	if c.Origin == FromDrift && ch.in.onDrift(o) == Keep {
		d.kept = append(d.kept, difference{value: v, change: c})
		d.alwaysSend(shownValue(v, f.row))
		return
	}
	if missing > 0 {
		text := showValue(v)
		c.Before, c.After, c.References = nil, &text, missing
	}
	cause := cmp.Or(ch.whyUnappliable(i, v), ch.unknownLink(f, written))
	if !found.compared && cause.exists() { // a difference is not certain, and could not be removed
		ch.noteUnseen(i, v)
		return
	}
	// The answer of this update must show the text as the service stored it. If the service normalizes the text, the update would
	// otherwise be sent in each run.
	d.alone = d.alone || c.Origin == FromDrift && f.prior.SentUnseen(v.Field.Name)
	c.Possible = !cause.exists()
	switch one := (difference{value: v, change: c, cause: cause, at: v.Position}); {
	case !c.Possible:
		d.blocked = append(d.blocked, one)
	case len(created) > 0:
		d.late = append(d.late, one)
	default:
		d.send = append(d.send, one)
	}
}

// noteUnseen records that a value is not compared: planform assumes that it is as the manifest wants, because the service does not show
// it.
func (ch *changes) noteUnseen(i objectID, v *resource.Value) {
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	switch have, shown := v.Field.ObservedIn(f.row); {
	case shown && v.Field.Within != "" && have == "" && !v.Null: // the service stored the value under another name, or not at all
		ch.gaps.add(o, v.Field.Path(), v.Field.Path(), gapOtherName)
	case shown, v.Field.CreateOnly(): // nobody can change a create-only field
	case f.row == nil:
		ch.gaps.add(o, "", "", ch.objects.whyUnread(f))
	case resource.IsCustom(v):
		mapping, _ := o.Kind.CustomFields()
		ch.gaps.add(o, mapping.Name, "values of custom fields", ch.whyCustomUnread())
	default:
		ch.gaps.add(o, v.Field.Path(), v.Field.Path(), gapNotShown)
	}
}

func (ch *changes) whyCustomUnread() gapReason {
	switch {
	case ch.in.SkipRefresh:
		return gapNotRefreshed
	case ch.refs.manyValues:
		return gapReason{"reading them takes more than " + strconv.Itoa(maxValueReads) + " requests", "--refresh-all reads them"}
	default:
		return gapReason{why: "the service does not show them"}
	}
}

// countUnchanged counts the objects that need no step. An object whose fields need none may be archived, or be refused for its twin.
func (ch *changes) countUnchanged() {
	planned := map[*resource.Object]bool{}
	for _, s := range ch.plan.Steps {
		planned[s.Object] = true
	}
	for _, o := range ch.unchanged {
		switch {
		case planned[o]:
		case ch.gaps.objects[o]:
			ch.plan.Summary.NotCompared++
		default:
			ch.plan.Summary.Unchanged++
		}
	}
}

// shownValue returns the value of a field on the service; nil = it is not known.
func shownValue(v *resource.Value, row resource.Row) *resource.Value {
	have, known := v.Field.TextIn(row)
	if row == nil || !known {
		return nil
	}
	shown := v.Field.ValueOf(have)
	shown.AsShown, shown.Position = true, v.Position
	return shown
}

// whyUnappliable returns the cause that prevents a change of a field, if any.
func (ch *changes) whyUnappliable(i objectID, v *resource.Value) Cause {
	t := ch.objects.states[i].info
	if why := ch.blockers.whyUnavailable(i, v); why.exists() {
		return why
	}
	if names := ch.differ.leftOutReferences(v, &ch.objects.states[i], ch.refs.idResolver(i)); len(names) > 0 && !ch.in.RefreshAll && !ch.becomesMember(i, v) {
		return refused("the service ignored " + strings.Join(names, ", ") + " as " + v.Field.Name +
			" without an error: leave it out, or remove the cause and send it again with --refresh-all")
	}
	switch {
	case t.update == nil, v.Field.Immutable, !t.api.Sendable(v.Field):
		return cannot(CannotChange)
	case v.Null && v.Field.Clear == resource.ClearNever:
		return cannot(CannotClear)
	}
	if v.Field.Unique {
		want, _ := v.Desired(nil)
		if why := ch.blockers.claims.whyClaimTaken(i, claim{v.Field, want}); why.exists() {
			return why
		}
	}
	if others := ch.whySiblingsKeepFlag(i, v); others.exists() {
		return others
	}
	if root := ch.blockers.blockerOf(v); root != noObject {
		return refused("its " + v.Field.Name + " needs " + string(ch.in.Desired[root].Address) + ": " + ch.blockers.cause(root, root).Text)
	}
	return Cause{}
}

// becomesMember reports whether a person in a value becomes a member of the container in this run, gets another role, or became a member since the
// last run. The service accepts the value then.
func (ch *changes) becomesMember(i objectID, v *resource.Value) bool {
	if v.Field.MustBeMemberOf == "" {
		return false
	}
	via := resource.MustLookup(v.Field.MustBeMemberOf)
	container := ch.objects.ancestor(i, ch.objects.kind(via.Membership.Container))
	return slices.ContainsFunc(ch.memberships.sets, func(s *memberSet) bool {
		return s.kind == via && s.object == container && slices.ContainsFunc(s.wanted, func(e *member) bool {
			prior, _ := s.recorded()
			given := prior.Values[AttributeKey(via.Membership.Attribute, e.id)]
			isNew := !slices.Contains(prior.Members, e.id) || e.attribute != "" && given != e.attribute
			return isNew && slices.ContainsFunc(v.Refs, func(ref resource.Reference) bool {
				_, id, ok := ch.refs.target(i, ch.objects.states[i].info.ref(v.Field), &ref)
				return ok && id == e.id
			})
		})
	})
}

// whySiblingsKeepFlag returns why an object cannot get a flag that only one object of a parent has, such as the default state: other objects
// would keep it. The zero Cause means that nothing prevents it.
func (ch *changes) whySiblingsKeepFlag(i objectID, v *resource.Value) Cause {
	f := &ch.objects.states[i]
	l, known := ch.snapshot.known(f.info, f.parent)
	if !v.Field.Exclusive || isOff(v) || !known {
		return Cause{}
	}
	var others []string
	for _, row := range l.rows {
		if has, _ := row.Shown(v.Field); has != true || row.ID() == f.id {
			continue
		}
		if at, managed := ch.objects.owners[serviceID{f.info.kind.Name, row.ID()}]; managed {
			if w, given := ch.in.Desired[at].Value(v.Field.Name); given && isOff(w) {
				continue
			}
		}
		others = append(others, label(f.info.kind, row))
	}
	if len(others) == 0 {
		return Cause{}
	}
	return refused("the service would leave " + v.Field.Name + " with " + diag.First(others, fewNames) + ", too: write `" + v.Field.Name +
		": false` there")
}

// recordDrift adds the changes that people made to the drift of the plan.
func (ch *changes) recordDrift(i objectID, d *differences, custom []difference) {
	o := ch.in.Desired[i]
	for _, c := range changesOf(slices.Concat(d.send, d.late, d.blocked, custom)) {
		if c.Origin == FromDrift {
			ch.plan.Drift = append(ch.plan.Drift, Drift{o, c, false})
		}
	}
	for _, c := range changesOf(d.kept) {
		ch.plan.Drift = append(ch.plan.Drift, Drift{o, c, true})
	}
	ch.plan.Summary.Kept += len(d.kept)
	ch.plan.Summary.Ignored += d.ignored
}

// addBlocked adds a step for the changes that are not possible: one for what the edition or the API lacks, and one for all other causes.
func (ch *changes) addBlocked(i objectID, blocked []difference) {
	groups, order := map[Cause][]difference{}, []Cause{}
	for _, d := range blocked {
		why := ch.causeWithoutText(i, d)
		if groups[why] == nil {
			order = append(order, why)
		}
		groups[why] = append(groups[why], d)
	}
	for _, why := range order {
		list := groups[why]
		why.Text = causesText(ch.objects.states[i].info, list)
		step := ch.steps.addBlocked(i, why)
		if step.changes = changesOf(list); !list[0].at.IsZero() {
			step.Position = list[0].at
		}
	}
}

// causeWithoutText returns the cause of a change that cannot be made, without its text: Lacks, NotOffered, or Refused for all other causes.
func (ch *changes) causeWithoutText(i objectID, d difference) Cause {
	if d.cause.Code == Lacks {
		return Cause{Code: Lacks, Objects: d.cause.Objects}
	}
	o, v := ch.in.Desired[i], d.value
	if v != nil && (d.cause.Code == CannotSet || d.cause.Code == CannotChange) && onlyByWider(ch.objects.states[i].info.api, func(wider resource.API) bool {
		_, updates := o.Kind.Op(resource.Update, wider)
		_, joins := resource.MembershipOf(o.Kind.Name, v.Field.Name)
		return (d.cause.Code == CannotSet || updates && !v.Field.Immutable) && (wider.Sendable(v.Field) || joins)
	}) {
		return Cause{Code: NotOffered}
	}
	return Cause{Code: Refused}
}

// withoutOutsiders returns a value without the people who are no members of the project, or have too low a role. It adds them to d as
// changes that are not possible.
func (ch *changes) withoutOutsiders(i objectID, v *resource.Value, d *differences) *resource.Value {
	out := ch.outsiders.byValue[v]
	if len(out) == 0 {
		return v
	}
	names := map[string][]string{} // by role
	for _, o := range out {
		names[o.role] = append(names[o.role], o.ref.Text)
	}
	via := resource.MustLookup(v.Field.MustBeMemberOf).Membership
	at := string(ch.in.Desired[ch.objects.ancestor(i, ch.objects.kind(via.Container))].Address)
	for _, role := range slices.Sorted(maps.Keys(names)) {
		why := "the service accepts only members of " + at + " as " + v.Field.Name + ": add " + strings.Join(names[role], ", ") +
			" to its members"
		switch role {
		case "":
		case formerMember:
			why = "the service accepts no " + role + " of " + at + " as " + v.Field.Name + ": leave " + strings.Join(names[role], ", ") + " out"
		default:
			why = "the service accepts no " + role + " of " + at + " as " + v.Field.Name + ": give " + strings.Join(names[role], ", ") + " the " +
				via.Attribute.Name + " " + v.Field.MemberRole + ", or leave them out"
		}
		d.block(v, refused(why))
	}
	only := *v
	only.Refs = slices.DeleteFunc(slices.Clone(v.Refs), func(r resource.Reference) bool {
		return slices.ContainsFunc(out, func(o outsider) bool { return o.ref.Position == r.Position && o.ref.Text == r.Text })
	})
	only.Null = len(only.Refs) == 0
	return &only
}
