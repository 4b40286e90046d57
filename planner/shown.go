package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
)

// This file shows other packages what was read and bound: for the notices that a plan sends, for a pull, and for the proof of a migration.

// Objects returns the objects of the manifest, parents first.
func (wo *World) Objects() []*resource.Object { return wo.in.Desired }

// Self returns the ID of the credential's user, or "".
func (wo *World) Self() string { return wo.in.Self }

// IsUndo reports whether the plan takes back an earlier run.
func (wo *World) IsUndo() bool { return wo.in.Deletes != nil }

// IsPull reports whether the World was loaded for a pull, see [Input.Pull].
func (wo *World) IsPull() bool { return wo.in.Pull }

// Row returns the row of an object of the manifest; nil = it was not read.
func (wo *World) Row(a resource.Address) resource.Row { return wo.objects.stateAt(a).row }

// Object returns the object of the manifest that is bound to an ID, or nil.
func (wo *World) Object(kind, id string) *resource.Object {
	if i, owned := wo.objects.owners[serviceID{kind, id}]; owned {
		return wo.in.Desired[i]
	}
	return nil
}

// IsKnown reports whether the manifest, the state or another owner has the object of a row.
func (wo *World) IsKnown(k *resource.Kind, row resource.Row) bool {
	_, other := wo.in.otherOwner(row, false)
	return other || wo.objects.addressOf(serviceID{k.Name, row.ID()}) != ""
}

// HasVanished reports whether the state has an object of the manifest and the service no longer does.
func (wo *World) HasVanished(o *resource.Object) bool {
	f := wo.objects.stateAt(o.Address)
	return f.presence == absent && f.vanished
}

// Names returns the IDs of the objects that a value of an object names. For an object that the run creates, it returns the address.
func (wo *World) Names(a resource.Address, v *resource.Value) (ids []string) {
	i, _ := wo.objects.indexOf(a)
	resolve := wo.refs.idResolver(i)
	for k := range v.Refs {
		id, _ := resolve(v.Field, &v.Refs[k])
		ids = append(ids, cmp.Or(id, showReference(&v.Refs[k])))
	}
	return ids
}

// NamesOf returns the addresses or names of objects of the service, or an ID where neither is known.
func (wo *World) NamesOf(kind string, ids []string) (names []string) {
	if wo.named != len(wo.in.Observed) {
		wo.refs.displayNames, wo.named = nil, len(wo.in.Observed) // more lists have been read since
	}
	for _, id := range ids {
		names = append(names, wo.refs.nameID(kind, id))
	}
	return names
}

// Difference is a field that differs from the manifest because people changed it on the service, or may have.
type Difference struct {
	Row    resource.Row // the object, as the service shows it
	Change Change       // Before is the value of the service, After the value of the manifest
	IDs    []string     // of a field of references: the IDs on the service
	// Conflict is set if the manifest changed too. Unknown is set if nobody can tell who changed the field, because the state does not
	// have the value that was applied last.
	Conflict, Unknown bool
}

// Difference returns the difference of a field from the manifest. differs is false if only the manifest changed, or if the service does not
// show the field.
func (wo *World) Difference(o *resource.Object, v *resource.Value) (d Difference, differs bool) {
	i, _ := wo.objects.indexOf(o.Address)
	f := &wo.objects.states[i]
	_, _, given := wantsArchived(o)
	if away := f.presence == hidden && f.isAway(o) && f.row != nil; f.presence != exists && !away || wo.objects.staysArchived(i) && !given {
		return d, false
	}
	if f.info.viaMembership(v.Field) {
		return wo.memberDifference(i, v)
	}
	c, differs := wo.differ.found[v]
	if !differs || !c.shown {
		return d, false
	}
	d = Difference{Row: f.row, Change: wo.differ.change(i, c), Unknown: f.prior == nil || len(f.prior.Values) == 0}
	d.Conflict = !d.Unknown && c.conflict
	if have := v.Field.WithoutProperty(c.have); v.Field.IsRef() && have != "" {
		d.IDs = strings.Split(have, ",")
	}
	return d, d.Unknown || c.drifted
}

// memberDifference returns the difference of a field if people changed its memberships.
func (wo *World) memberDifference(i objectID, v *resource.Value) (d Difference, differs bool) {
	f, drift := &wo.objects.states[i], wo.memberships.drifted[v]
	if drift == nil || drift.unread {
		return d, false
	}
	t := f.info.ref(v.Field)
	if v.Field.Type == resource.Ref {
		for _, c := range wo.memberships.where[edge{kind: t.membership.Name, member: f.id}] {
			d.IDs = append(d.IDs, c.ID)
		}
	}
	for k := range v.Refs {
		if _, id, _ := wo.refs.target(i, t, &v.Refs[k]); !wo.memberships.absent[&v.Refs[k]] && !slices.Contains(d.IDs, id) {
			d.IDs = append(d.IDs, id)
		}
	}
	d.Row, d.Change, d.Conflict, d.Unknown = f.row, change(v, FromDrift), drift.conflict, len(wo.in.Prior) == 0
	if before := wo.refs.nameIDs(v, strings.Join(d.IDs, ","), wo.refs.idResolver(i)); before != "" {
		d.Change.Before = &before
	}
	return d, true
}

// List holds the rows of a kind in one parent.
type List struct {
	Kind   *resource.Kind
	Parent *resource.Object // nil = the workspace
	Rows   []resource.Row
}

// Lists returns the lists that were read and that have, or could have, objects of the manifest. It returns none if the plan has targets.
func (wo *World) Lists() (lists []List) {
	managed := map[scope]bool{}
	for i := range wo.objects.count() {
		f := &wo.objects.states[i]
		managed[scope{f.info, f.parent}] = true
		for name := range wo.in.Contents {
			if k := resource.MustLookup(name); k.Parent == f.info.kind.Name {
				managed[scope{wo.objects.kinds[k], i}] = true
			}
		}
	}
	for at, l := range wo.snapshot.listings {
		if managed[at] && l.presence == exists && at.kind.kind.Section != "" && len(wo.in.Targets) == 0 {
			lists = append(lists, List{at.kind.kind, wo.objects.at(at.parent), l.rows})
		}
	}
	return lists
}

// Rows returns the rows with an ID in the list of a kind, if that was read.
func (wo *World) Rows(k *resource.Kind, parent *resource.Object, id string) []resource.Row {
	if l, known := wo.snapshot.known(wo.objects.kinds[k], wo.objects.indexIn(parent)); known {
		return l.byID(id)
	}
	return nil
}

// NamesIn returns the names of the objects of a kind in a parent, of the manifest and of the service.
func (wo *World) NamesIn(k *resource.Kind, parent *resource.Object) *resource.Names {
	return wo.snapshot.names(wo.objects.kinds[k], wo.objects.indexIn(parent))
}

// ReadableID returns the readable identifier of a row in a parent, or "".
func (wo *World) ReadableID(k *resource.Kind, parent *resource.Object, row resource.Row) string {
	return wo.objects.readableID(k, wo.objects.indexIn(parent), row)
}

// Contents holds the members that the service shows in a container.
type Contents struct {
	Membership *resource.Kind
	Container  Container
	Members    []string // IDs, sorted
}

// Containers returns the containers whose members were read.
func (wo *World) Containers() (all []Contents) {
	for _, s := range wo.memberships.sets {
		if s.hasList {
			all = append(all, Contents{s.kind, s.container, s.list.ids()})
		}
	}
	for _, read := range wo.contents {
		for _, c := range read.containers {
			all = append(all, Contents{read.kind, c.container, c.list.ids()})
		}
	}
	return all
}

// Wants reports whether the manifest wants a member in a container, both given by their IDs.
func (wo *World) Wants(membership *resource.Kind, container, member string) bool {
	_, wanted := wo.memberships.wanted[edge{membership.Name, container, member}]
	return wanted
}

// at returns an object of the manifest, or nil for noObject.
func (ob *objects) at(i objectID) *resource.Object {
	if i == noObject {
		return nil
	}
	return ob.in.Desired[i]
}

// indexIn returns the index of an object of the manifest, or noObject for nil.
func (ob *objects) indexIn(o *resource.Object) objectID {
	if o == nil {
		return noObject
	}
	i, _ := ob.indexOf(o.Address)
	return i
}
