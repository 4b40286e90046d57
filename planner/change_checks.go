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

// This file has the checks of the values that the service refuses, and of the values that people should check.

// checkNew reports why the service would refuse a new object, and why people should check it.
func (ch *changes) checkNew(i objectID) {
	ch.checkFormer(i)
	ch.checkSingle(i)
	ch.checkComplete(i)
	ch.checkFeatures(i)
	ch.checkGovernance(i)
	ch.warnCaseMismatch(i)
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	if f.info.api == resource.V2 && !o.Kind.Numbered() && len(o.Identifier) > resource.LongestCodeV2 {
		ch.diags.warn(o, "long-identifier", "a service with API v2 may take "+strconv.Itoa(resource.LongestCodeV2)+" characters of an identifier at most, not "+
			o.Identifier, "shorten it before the apply: work item numbers begin with it")
	}
}

// siblings identifies the objects of a kind in one parent.
type siblings struct {
	kind   string
	parent resource.Address
}

// formerSiblings returns the records of siblings of an object that the manifest no longer has. It leaves out siblings that are known to
// be gone from the service, that the run deletes, or that another owner has.
func (ch *changes) formerSiblings(i objectID) []*Record {
	if ch.formerRecords == nil {
		ch.formerRecords = map[siblings][]*Record{}
		for _, a := range slices.Sorted(maps.Keys(ch.in.Prior)) {
			r := ch.in.Prior[a]
			if _, wanted := ch.objects.indexOf(a); wanted || r.ID == "" || !a.IsObject() || !ch.in.isTargeted(a) || ch.in.otherSource(&r) != "" {
				continue
			}
			if _, owned := ch.objects.owners[serviceID{a.Kind(), r.ID}]; !owned {
				at := siblings{a.Kind(), a.Parent()}
				ch.formerRecords[at] = append(ch.formerRecords[at], &r)
			}
		}
	}
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	return slices.DeleteFunc(slices.Clone(ch.formerRecords[siblings{o.Kind.Name, o.Address.Parent()}]), func(r *Record) bool {
		if l, known := ch.snapshot.known(f.info, f.parent); known && len(l.byID(r.ID)) == 0 {
			return true
		}
		l := ch.orphans.byAddress[r.Address]
		return l != nil && (l.decision == toDelete || l.decision == deleteWithParent || l.decision == vanished || l.decision == otherOwner)
	})
}

// checkFormer reports an object that would be created a second time, because its key was changed, or its name in the workspace that the
// manifest came from.
func (ch *changes) checkFormer(i objectID) {
	o := ch.in.Desired[i]
	others := ch.formerSiblings(i)
	if len(others) == 0 {
		return
	}
	known := func(r *Record) string { return Orphan{Address: r.Address, Identifier: r.Identifier}.String() }
	field, value := distinctiveField(o)
	if at := slices.IndexFunc(others, func(r *Record) bool { return field != "" && value != "" && r.Values[field] == value }); at >= 0 {
		r := others[at]
		hint := "if only the key changed, add `previously: " + r.Address.Key() + "`; if not, planform state rm " + string(r.Address) +
			" forgets the former object"
		if ch.in.isOrphan(r.Address, r) && !ch.in.Prune {
			hint += ", or --prune deletes it"
		}
		ch.diags.report(o, "another-key", string(o.Address)+" would be created twice: the state has "+known(r)+" with the same "+field+
			", and the manifest lacks that key", hint)
		return
	}
	var old []string
	for _, r := range others {
		if r.Origin == nil &&
			(len(r.Sources) == 0 || slices.ContainsFunc(r.Sources, func(file string) bool { return slices.Contains(o.Files, file) })) {
			old = append(old, known(r))
		}
	}
	if o.Origin == nil || len(old) == 0 {
		return
	}
	ch.diags.report(o, "unknown-origin", string(o.Address)+" ("+o.Origin.String()+
		") is new or was renamed; the state has "+
		diag.First(old, fewNames)+", which the manifest lacks",
		"if it was renamed, add `previously: KEY`; planform state rm ADDRESS forgets a deleted object")
}

func (ch *changes) checkComplete(i objectID) {
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	needed := o.Missing()
	if len(needed) == 0 {
		return
	}
	hint := ""
	if l, known := ch.snapshot.known(f.info, f.parent); known {
		hint = similarNames(o.Name(), o.Kind, l)
	}
	ch.diags.report(o, "incomplete", "the service has no "+o.Kind.Noun()+" \""+o.Name()+"\", and it cannot be created without its "+
		strings.Join(needed, " and its "),
		cmp.Or(hint, "write these fields, or the id of an existing "+o.Kind.Noun()))
}

// checkSingle reports a new object if its parent can have only one of its kind and already has one.
func (ch *changes) checkSingle(i objectID) {
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	if !o.Kind.Single || ch.objects.states[f.parent].presence != exists {
		return
	}
	if l, _ := ch.snapshot.list(f.info, f.parent); len(l.rows) > 0 {
		ch.diags.report(o, "one-only", string(o.Parent.Address)+" has the "+label(o.Kind, l.rows[0])+" already, and can have no other",
			"to manage that one, write its name, or id: "+l.rows[0].ID())
	}
}

// checkDates warns if a date that is sent makes a range end before it begins. The service does not check this if the other date is not
// in the same request.
func (ch *changes) checkDates(i objectID, sent []*resource.Value) {
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	if f.row == nil {
		return
	}
	for k := range o.Kind.Fields {
		last := &o.Kind.Fields[k]
		first, ok := o.Kind.Field(last.NotBefore)
		if !ok {
			continue
		}
		at := slices.IndexFunc(sent, func(v *resource.Value) bool { return v.Field == first || v.Field == last })
		from, _ := f.willHave(o, first)
		to, _ := f.willHave(o, last)
		if at < 0 || from == "" || to == "" || from <= to {
			continue
		}
		ch.diags.add(diag.Warning, sent[at].Position, o.Address, "dates", string(o.Address)+" will have the "+first.Name+" "+from+", after its "+
			last.Name+" "+to,
			"the service accepts that; to be sure, write both dates")
	}
}

// warnCaseMismatch warns if an object is created although the service has an object whose name differs in case only, or an object of
// the same name that belongs to another owner.
func (ch *changes) warnCaseMismatch(i objectID) {
	o, f := ch.in.Desired[i], &ch.objects.states[i]
	l, known := ch.snapshot.known(f.info, f.parent)
	if !known {
		return
	}
	for _, field := range f.info.naturalKey {
		if field.Type != resource.Text {
			continue
		}
		for _, row := range l.withIDs(ch.snapshot.names(f.info, f.parent).InAnyCase(o.Text(field.Name))) {
			if _, ours := ch.objects.owners[serviceID{o.Kind.Name, row.ID()}]; ours {
				continue
			}
			shown, _ := row.Shown(field)
			text, _ := shown.(string)
			there := string(o.Address) + " is created although the service has " + strconv.Quote(text)
			switch owner, marked := row.Owner(); {
			case text != o.Text(field.Name):
				ch.diags.warn(o, "other-letters", there, "to use that one, write its name exactly like this")
			case marked && owner != ch.in.Owner:
				ch.diags.warn(o, "other-owner", there+" ("+ch.objects.enumerate(o.Kind, f.parent, []resource.Row{row})+"), which belongs to "+
					owner.String(), "--take-over transfers it to this manifest; its id in the manifest uses it unchanged")
			default: // the row has exactly this name, and no other owner
				continue
			}
			return
		}
	}
}

// checkRefused reports the values of a create or update that the service is known to refuse.
func (ch *changes) checkRefused(i objectID, sent []*resource.Value) {
	o := ch.in.Desired[i]
	for _, r := range o.Refused(sent, ch.willHave(i)) {
		ch.diags.add(diag.Error, r.Value.Position, o.Address, "refused", r.Summary, r.Hint)
	}
}

func (ch *changes) willHave(i objectID) resource.WillHave {
	return func(field *resource.Field) (string, bool) {
		return ch.objects.states[i].willHave(ch.in.Desired[i], field)
	}
}

// checkFeatures reports an object that the service refuses because a feature that it needs is switched off.
func (ch *changes) checkFeatures(i objectID) {
	_, governed := ch.in.Desired[i].Kind.Governance.Switch()
	for _, s := range ch.objects.switchesOf(i) {
		if s.field != governed {
			ch.checkFeature(i, s.by, s.field)
		}
	}
}

func (ch *changes) checkFeature(i, holder objectID, switchField *resource.Field) {
	o := ch.in.Desired[i]
	p, parent := &ch.objects.states[holder], ch.in.Desired[holder]
	if !p.presence.isDecided() { // for example, the service has no such switches
		return
	}
	at := parent.Position
	on, known := "", true
	v, given := parent.Value(switchField.Name)
	if given {
		at = v.Position
	}
	switch {
	case given && isOff(v) && p.presence == absent && !parent.Kind.Singleton: // the switch is turned off after the children are created
		hidden := diag.Diagnostic{
			Severity: diag.Warning, Code: "hidden", Position: v.Position, Address: string(parent.Address),
			Summary: o.Kind.HiddenIn(parent),
		}
		if !slices.ContainsFunc(ch.diags.List, func(d diag.Diagnostic) bool { return d.Summary == hidden.Summary }) {
			ch.diags.Add(hidden)
		}
		return
	case given && !isOff(v):
		return
	case p.presence == absent:
		on = cmp.Or(switchField.Default, "false")
	default:
		on, known = switchField.ObservedIn(p.row)
		known = known || given
	}
	if known && on != "true" {
		what := plural(o.Kind)
		if switchField.Name != o.Kind.RequiresFeature { // the object needs the switch because of one of its values, such as being an epic
			what = switchField.Name
		}
		ch.diags.Add(diag.Diagnostic{
			Code: "switched-off", Position: o.Position, Address: string(o.Address),
			Summary: what + " are switched off in " + string(parent.Address),
			Hint:    "set " + switchField.Name + ": true in the " + parent.Kind.Noun(),
			Related: []diag.Related{{Position: at, Note: "it is at"}},
		})
	}
}

// checkGovernance reports an object that the service refuses to write because the workspace manages objects of its kind on another level.
func (ch *changes) checkGovernance(i objectID) {
	o := ch.in.Desired[i]
	who, where := ch.snapshot.managedElsewhere(o.Kind)
	if who == "" {
		return
	}
	hint := "write it in " + where
	if !o.Kind.Governance.AtWorkspace {
		hint += ", not here: work items still use it by its name"
	}
	ch.diags.Add(diag.Diagnostic{
		Code: "managed-elsewhere", Position: o.Position, Address: string(o.Address), Hint: hint,
		Summary: "in the workspace " + ch.in.Workspace + " " + who + " manages the " + o.Kind.Governance.Noun() +
			": the service refuses to write " + string(o.Address),
	})
}

// whyUnarchivable returns why the service would not archive an object, or "".
func (ch *changes) whyUnarchivable(i objectID) string {
	zone := ch.objects.desiredZone(ch.objects.states[i].parent)
	return ch.in.Desired[i].WhyNotArchived(ch.willHave(i), func(day string) bool {
		return ch.in.Now.IsZero() ||
			ch.objects.hasPassed(day, zone)
	})
}

// blockClosed marks all changes of an object that has ended as not possible.
func (ch *changes) blockClosed(i objectID, d *differences) {
	f := &ch.objects.states[i]
	for _, c := range changesOf(d.send) {
		d.blockChange(c, refused("it ended on "+f.endedOn+", and the service does not change finished "+plural(f.info.kind)))
	}
	d.send = nil
}
