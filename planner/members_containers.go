package planner

import (
	"strings"

	"github.com/planform/planform/internal/plane/resource"
)

// listedContainer is a container that the service lists, with its members.
type listedContainer struct {
	container Container
	list      memberList
}

// containersIn reads the members of each container that a field can name within a parent, or returns the reason why it does not.
func (mb *memberships) containersIn(t *refField, within objectID) (all []listedContainer, why gapReason) {
	op, offered := mb.objects.op(t.membership, resource.ListMembers)
	if !offered || t.to.list == nil {
		return nil, gapReason{why: mb.in.API.Noun() + " cannot read it"}
	}
	l, st := mb.snapshot.list(t.to, within)
	if st != exists {
		return nil, gapReason{why: l.why} // without containers, no object is in one
	}
	reads := make([]Read, len(l.rows))
	unread := 0
	for i, row := range l.rows {
		reads[i], _ = readOf(op, mb.paramsOf(t.membership, within, row.ID()))
		if _, have := mb.in.Observed[reads[i]]; !have {
			unread++
		}
	}
	_, together := t.membership.Op(resource.ListOverview, mb.in.API)
	switch {
	case unread > 0 && mb.in.SkipRefresh:
		return nil, gapNotRefreshed
	case unread > maxSingleReads && !together && !mb.in.RefreshAll && !mb.in.Contents[t.membership.Name]:
		return nil, gapExpensive
	}
	mb.service.load(reads...)
	for i, row := range l.rows {
		all = append(all, listedContainer{mb.container(t, within, row), newMemberList(t.membership, reads[i], mb.service.ask(reads[i]))})
	}
	return all, gapReason{}
}

// paramsOf returns the path parameters for the members of a container.
func (mb *memberships) paramsOf(via *resource.Kind, within objectID, id string) map[string]string {
	params := mb.objects.params(within)
	params[resource.MustLookup(via.Membership.Container).Param] = id
	return params
}

// container returns the Container of a row. If the manifest does not list it, the key in its address is its name, or its ID if the name is
// not unique.
func (mb *memberships) container(t *refField, within objectID, row resource.Row) Container {
	if at, owned := mb.objects.owners[serviceID{t.to.kind.Name, row.ID()}]; owned {
		return mb.objects.asContainer(at)
	}
	key := row.ID()
	for _, name := range t.to.kind.DisplayTexts(row) {
		if len(mb.snapshot.names(t.to, within).Named(name)) == 1 && !strings.ContainsAny(name, "/#") {
			key = name
			break
		}
	}
	return mb.unlistedContainer(t, within, row.ID(), key)
}

// unlistedContainer returns the Container of a container that the manifest does not list.
func (mb *memberships) unlistedContainer(t *refField, within objectID, id, key string) Container {
	c := Container{ID: id}
	if within != noObject {
		c.Within = mb.in.Desired[within]
		c.Address = c.Within.Address
	}
	c.Address = addressIn(c.Address, t.to.kind, key)
	return c
}

// asContainer returns the Container of an object of the manifest.
func (ob *objects) asContainer(i objectID) Container {
	o := ob.in.Desired[i]
	return Container{Address: o.Address, Object: o, ID: ob.states[i].id, Within: o.Parent}
}
