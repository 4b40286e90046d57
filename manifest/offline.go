package manifest

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// checkOffline reports what a plan would refuse or could not do for objects that do not exist yet. Objects with an ID exist, so most rules
// do not apply to them.
func (a *assembly) checkOffline() {
	names := map[objectKey]int{}   // by lower-case name
	hidden := map[objectKey]bool{} // by kind and parent
	for i, it := range a.kept() {
		if !it.ok || a.address(i) == "" {
			continue // another error comes first
		}
		a.checkGuests(i)
		a.checkAttributes(i)
		if it.object.ID != "" {
			continue
		}
		o := it.object
		values := make([]*resource.Value, len(o.Values))
		for k := range o.Values {
			values[k] = &o.Values[k]
		}
		for _, r := range o.Refused(values, o.OfNew) {
			a.reportOffline(i, diag.Error, "refused", r.Value, r.Summary, r.Hint+"; or give the id of the "+o.Kind.Noun()+" that is so already")
		}
		for _, v := range values {
			if never := func(string) bool { return true }; v.Field.ArchiveFlag && v.Text == "true" {
				if why := o.WhyNotArchived(o.OfNew, never); why != "" {
					a.reportOffline(i, diag.Warning, "not-archived", v, string(o.Address)+" would not be archived: "+why, "")
				}
			}
		}
		if missing := o.Missing(); len(missing) > 0 && o.Identifier == "" && !o.NoCreate {
			a.reportOffline(i, diag.Warning, "incomplete", nil,
				"if "+string(o.Address)+" does not exist yet, it cannot be created without its "+strings.Join(missing, " and its "), "")
		}
		if holder, f := o.Kind.Switch(); f != nil && !holder.Singleton {
			if v, given := o.Parent.Value(f.Name); given && v.Text == "false" && !hidden[objectKey{kind: it.kind, parent: it.parent}] {
				hidden[objectKey{kind: it.kind, parent: it.parent}] = true
				a.reportOffline(i, diag.Warning, "hidden", v, o.Kind.HiddenIn(o.Parent), "")
			}
		}
		a.checkCase(i, names)
	}
}

func (a *assembly) reportOffline(i int, severity diag.Severity, code string, v *resource.Value, summary, hint string) {
	o := a.items[i].object
	at, path := o.Position, ""
	if v != nil {
		at, path = v.Position, "."+v.Field.Path()
		if own, _ := o.Value(v.Field.Name); own != v {
			i = a.items[i].parent
		}
	}
	a.addFinding(severity, i, at, path, problem{code, summary, hint})
}

// checkCase reports objects whose names differ only in case from another object, or from an object that every new parent has.
func (a *assembly) checkCase(i int, names map[objectKey]int) {
	it := &a.items[i]
	o := it.object
	for _, f := range it.kind.natural {
		name := strings.TrimSpace(o.Text(f.Name))
		if it.kind.AdoptOnRequestOnly || f.Type != resource.Text || name == "" {
			continue
		}
		value, _ := o.Value(f.Name)
		for _, other := range it.kind.Predefined {
			if strings.EqualFold(other, name) && other != name {
				a.reportOffline(i, diag.Warning, "other-letters", value, string(o.Address)+" is not the "+o.Kind.Noun()+" "+other+" that every new "+o.Kind.Parent+" has", "to use that one, write its name exactly like this")
			}
		}
		key := objectKey{it.kind, it.parent, strings.ToLower(name)}
		first, twice := names[key]
		if !twice {
			names[key] = i
			continue
		}
		if other := a.items[first].object; strings.TrimSpace(other.Text(f.Name)) != name {
			a.reportOffline(i, diag.Warning, "other-letters", value,
				"the names of "+string(other.Address)+" and "+string(o.Address)+" differ only in upper and lower case", "")
		}
	}
}

// checkAttributes warns of values that look like a misspelt standard value, such as the role gest. Only the service knows whether the
// workspace defines that value itself.
func (a *assembly) checkAttributes(i int) {
	o := a.items[i].object
	for k := range o.Values {
		v := &o.Values[k]
		of := attributeOf(o.Kind, v.Field)
		if of == nil || of.Words() != nil {
			continue
		}
		for n := range v.Refs {
			r := &v.Refs[n]
			near := diag.Typo(r.Attribute, of.Values)
			if of.Known(r.Attribute) || len(near) == 0 {
				continue
			}
			a.warn(i, r.Position, memberPath(v.Field, n), problem{
				"near-value", r.Text + " has the " + of.Name + " " + quote(r.Attribute) + ", which only a workspace can have that defines it",
				diag.DidYouMean(r.Attribute, near),
			})
		}
	}
}

// checkGuests warns of people in a field whose role in the manifest is too low for it, because the service drops them.
func (a *assembly) checkGuests(i int) {
	o := a.items[i].object
	for k := range o.Values {
		v := &o.Values[k]
		if v.Field.MemberRole == "" {
			continue
		}
		m := resource.MustLookup(v.Field.MustBeMemberOf).Membership
		container := o.Ancestor(m.Container)
		if container == nil {
			continue
		}
		members, _ := container.Value(m.Field)
		for n := range v.Refs {
			r := &v.Refs[n]
			if members == nil {
				continue
			}
			at := slices.IndexFunc(members.Refs, func(member resource.Reference) bool {
				return strings.EqualFold(member.Text, r.Text) && m.Attribute.IsLess(member.Attribute, v.Field.MemberRole)
			})
			if at < 0 {
				continue
			}
			role := members.Refs[at].Attribute
			summary := r.Text + " is " + diag.A(role) + " of " + string(container.Address) + ", and the service accepts no " + role +
				" as " + v.Field.Name
			hint := "give them the " + m.Attribute.Name + " " + v.Field.MemberRole + ", or leave them out"
			a.warn(i, r.Position, memberPath(v.Field, n), problem{"left-out", summary, hint})
		}
	}
}
