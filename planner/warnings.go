package planner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// warn adds the last warnings of the plan, and errors for drift with the policy Fail.
func (ch *changes) warn() {
	ch.noticeNotOffered()
	ch.failOnDrift()
	ch.warnPossibleTwins()
	ch.warnHidden()
	ch.warnTakenOver()
	ch.warnTwoContainers()
	ch.warnSecrets()
}

// warnPossibleTwins warns, once per kind, of new objects that the service may already have.
func (ch *changes) warnPossibleTwins() {
	undetectable, namesakes, withoutIdentifier := map[*kindInfo]int{}, map[*kindInfo]int{}, map[*kindInfo]int{}
	for i := range ch.objects.count() {
		f := &ch.objects.states[i]
		switch {
		case f.presence != absent || f.vanished || f.prior != nil || ch.steps.of[i] == nil:
		case f.undetectable:
			if f.info.find != nil && f.parent != noObject && ch.objects.states[f.parent].identifier == "" {
				withoutIdentifier[f.info]++
			}
			if !ch.snapshot.listing(f.info, f.parent).known {
				undetectable[f.info]++
			}
		case ch.namesake(i, hasNoMark) != nil:
			namesakes[f.info]++
		default:
			ch.warnFormer(i)
		}
	}
	for _, k := range resource.Kinds() {
		t := ch.objects.kinds[k]
		if n := undetectable[t]; n > 0 {
			hint := "objects of an earlier apply are then made twice: restore its state file, or give each " + k.Noun() + " its "
			if k.Identifier != nil {
				hint += "identifier or "
			}
			ch.diags.notice("cannot-tell", countOf(n, k)+" not in the state file will be created: "+ch.in.API.Noun()+
				" cannot find existing ones", hint+"id")
		}
		if n := withoutIdentifier[t]; n > 0 {
			parent := resource.MustLookup(k.Parent).Noun()
			ch.diags.notice("cannot-settle", "the identifier of the "+parent+" is not known: if a response is lost, planform cannot find "+
				countOf(n, k)+" again",
				"add the "+parent+"'s identifier beside its id")
		}
		if n := namesakes[t]; n > 0 {
			ch.diags.notice("same-name", countOf(n, k)+" will be created although the service already has one with the same "+
				strings.Join(k.NaturalKey, " and "),
				"--adopt-by-name adopts the existing ones instead")
		}
	}
}

// noticeNotOffered adds a notice about steps that are not possible only because the API does not offer them.
func (ch *changes) noticeNotOffered() {
	n := 0
	for _, s := range ch.plan.Steps {
		if s.Cause.Code == NotOffered && (s.Object != nil || s.Members != nil) {
			n++
		}
	}
	hint := "give --api auto"
	switch {
	case n == 0:
		return
	case ch.in.APIFound || ch.in.API == resource.V2:
		hint = "use a server with API v2"
	}
	ch.diags.notice("not-offered", diag.Count(n, "step")+" not possible with "+ch.in.API.Noun(), "leave "+them(n)+" out, or "+hint+
		"; --allow-unsupported accepts "+them(n))
}

// hasNoMark reports whether a row has no mark of a tool that made it.
func hasNoMark(row resource.Row) bool { return row.Text("external_source") == "" }

// warnFormer warns of an object of the same name and parent that planform made under another key. Neither the manifest nor the state has
// that key.
func (ch *changes) warnFormer(i objectID) {
	o := ch.in.Desired[i]
	beside := ch.in.marks().ID(o.Address)
	beside = beside[:strings.LastIndexByte(beside, '/')+1]
	former := ch.namesake(i, func(row resource.Row) bool {
		mark := row.Text("external_id")
		return ch.in.marks().Has(row, mark) && strings.HasPrefix(mark, beside) && !strings.Contains(mark[len(beside):], "/")
	})
	if former != nil {
		key := former.Text("external_id")[len(beside):]
		ch.diags.warn(o, "another-key", string(o.Address)+
			" will be created, although planform made one of the same name under the key "+key,
			"if only the key changed, add `previously: "+key+"`")
	}
}

// namesake returns a row of the same name that neither the manifest nor the state has and for which the function of is true; nil = there is
// none.
func (ch *changes) namesake(i objectID, of func(resource.Row) bool) resource.Row {
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	if !o.Kind.AdoptOnRequestOnly || ch.in.AdoptByName || f.parent == noObject || ch.objects.states[f.parent].presence != exists {
		return nil
	}
	l, st := ch.snapshot.list(f.info, f.parent)
	if st != exists || len(l.rows) == 0 {
		return nil
	}
	for _, name := range o.Kind.NaturalKey {
		v, given := o.Value(name)
		if !given {
			continue
		}
		want, _ := v.Desired(nil) // a natural key of these kinds has no references
		for _, row := range l.byField(v.Field)[want] {
			id := serviceID{o.Kind.Name, row.ID()}
			_, owned := ch.objects.owners[id]
			if of(row) && !owned && len(ch.objects.addressesOf(id)) == 0 {
				return row
			}
		}
	}
	return nil
}

// warnTwoContainers warns of objects that are in two containers although they can be in only one. The service allows this state in some
// cases, and then refuses to move the object.
func (ch *changes) warnTwoContainers() {
	first := map[serviceID]*memberSet{}
	for _, s := range ch.memberships.sets {
		if !s.hasList || !s.kind.Membership.Exclusive {
			continue
		}
		for _, id := range s.list.ids() {
			member := serviceID{s.kind.Membership.Member, id}
			other, twice := first[member]
			if !twice {
				first[member] = s
				continue
			}
			if at, ok := ch.objects.owners[member]; ok {
				o, container := ch.in.Desired[at], resource.MustLookup(s.kind.Membership.Container).Noun()
				ch.diags.warn(o, "in-two", string(o.Address)+" is in two "+diag.Plural(container)+" at once: "+string(other.container.Address)+" and "+
					string(s.container.Address),
					"the service refuses to move it: remove it from one of them there")
			}
		}
	}
}

// warnTakenOver warns of objects that change their owner because the state knows them and was written for their former owner.
func (ch *changes) warnTakenOver() {
	for _, owner := range slices.Sorted(maps.Keys(ch.takenFrom)) {
		n := ch.takenFrom[owner]
		ch.diags.notice("taken-over", "this run takes "+diag.Count(n, "object")+" from "+owner.String()+" to "+ch.in.Owner.String()+
			", since the state knows "+them(n), "if the owner has no new name, give this manifest a state of its own: --state FILE")
	}
}

// warnHidden warns, once per kind, of objects that are left alone because they are archived or drafts, or because somebody deleted them.
func (ch *changes) warnHidden() {
	archived, deleted := map[*resource.Kind][]objectID{}, map[*resource.Kind][]objectID{}
	for i, o := range ch.objects.all() {
		f := &ch.objects.states[i]
		switch {
		case f.presence != hidden || f.id == "" || f.isAway(o):
		case f.keptDeleted:
			deleted[o.Kind] = append(deleted[o.Kind], i)
		default:
			archived[o.Kind] = append(archived[o.Kind], i)
		}
	}
	for _, k := range resource.Kinds() {
		ch.warnLeft(archived[k], "archived", " on the service: left alone, with everything in it", " are left alone, with everything in them: ",
			"restore it on the service to have it managed, or remove it from the manifest")
		ch.warnLeft(deleted[k], "deleted", " was deleted on the service since the last apply: it stays so, as on_drift keep says",
			" were deleted on the service since the last apply, and stay so, as on_drift keep says: ",
			"planform state rm ADDRESS lets the next apply create it again; or remove it from the manifest")
	}
	if ch.service.skippedLookups > 0 {
		ch.diags.notice("not-looked-up", diag.Count(ch.service.skippedLookups, "object")+
			" no longer listed by the service may be archived; a check takes one request each",
			"--refresh-all checks; without it, creating an archived object fails and changes nothing")
	}
}

// warnLeft warns of objects of a kind that stay as they are on the service. The text one follows the name of a single object, and the text
// several follows the number of more.
func (ch *changes) warnLeft(left []objectID, code, one, several, hint string) {
	var names []string
	for _, i := range left {
		f, name := &ch.objects.states[i], string(ch.in.Desired[i].Address)
		if !f.keptDeleted && f.identifier != "" {
			name += " (" + f.identifier + ")"
		}
		if !f.keptDeleted {
			name += " is " + f.why
		}
		names = append(names, name)
	}
	switch len(names) {
	case 0:
	case 1:
		ch.diags.warn(ch.in.Desired[left[0]], code, names[0]+one, hint)
	default:
		ch.diags.notice(code, countOf(len(names), ch.in.Desired[left[0]].Kind)+several+diag.First(names, fewNames), hint)
	}
}

func (ch *changes) failOnDrift() {
	if ch.in.Pull {
		return
	}
	for _, d := range ch.plan.Drift {
		if ch.in.onDrift(d.Object) != Fail || d.Change.Origin != FromDrift {
			continue
		}
		v, _ := d.Object.ValueAt(d.Change.Path)
		instead := "give --on-drift overwrite or keep"
		if p := d.Object.Policy; p != nil && p.OnDrift != "" { // it overrides the flag
			instead = "write on_drift: overwrite or keep"
		}
		now := "is empty"
		if d.Change.Before != nil {
			text := *d.Change.Before
			if f, ok := d.Object.Kind.Field(d.Change.Path); ok && f.IsRef() {
				text = strings.ReplaceAll(text, "\n", ", ")
			}
			now = "is " + diag.Quote(text)
		}
		if _, via := resource.MembershipOf(d.Object.Kind.Name, v.Field.Name); via {
			now += ", and the manifest has " + cmp.Or(strings.ReplaceAll(showValue(v), "\n", ", "), "none")
		}
		ch.diags.add(diag.Error, v.Position, d.Object.Address, "drift", d.Change.Path+" of "+string(d.Object.Address)+
			" was changed on the service since the last apply: it "+now,
			"planform pull takes the value into the manifest; or "+instead)
	}
}

// locateFindings sets the document path of findings that have a position.
func (al analysis) locateFindings() {
	paths := map[diag.Position]string{}
	for _, d := range al.diags.List {
		if d.Path == "" && !d.Position.IsZero() {
			paths[d.Position] = ""
		}
	}
	if len(paths) == 0 {
		return
	}
	at := func(p diag.Position, path func() string) {
		if have, sought := paths[p]; sought && have == "" {
			paths[p] = path()
		}
	}
	for _, o := range al.in.Desired {
		at(o.Position, o.Path)
	}
	for _, o := range al.in.Desired {
		for i := range o.Values {
			v := &o.Values[i]
			at(v.Position, func() string { return o.PathOf(v.Field, -1) })
			for k := range v.Refs {
				at(v.Refs[k].Position, func() string { return o.PathOf(v.Field, k) })
			}
		}
	}
	for i := range al.diags.List {
		if d := &al.diags.List[i]; d.Path == "" {
			d.Path = paths[d.Position]
		}
	}
}
