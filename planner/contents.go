package planner

import (
	"maps"
	"slices"

	"github.com/planform/planform/internal/plane/resource"
)

// readContents makes the reads that only a pull needs: the containers of members that people moved, and the lists and containers that
// [Input.Contents] names. It returns the containers of the latter.
func readContents(mb *memberships) (found []listedContents) {
	if !mb.in.Pull {
		return nil
	}
	for _, n := range mb.objects.uses {
		d := mb.drifted[n.value]
		switch within := mb.objects.within(n.by, n.field.to); {
		case d == nil:
		case n.value.Field.Type == resource.Ref:
			all, why := mb.containersIn(n.field, within)
			for _, c := range all {
				mb.recordContainer(n.field.membership, c.container, c.list)
			}
			d.unread = why.why != ""
		case !n.field.to.kind.Numbered():
			mb.snapshot.list(n.field.to, within) // for the names of the members
		}
	}
	var lists []scope
	for i, o := range mb.objects.all() {
		for _, name := range slices.Sorted(maps.Keys(mb.in.Contents)) {
			k, in := resource.MustLookup(name), resource.MustLookup(name).Parent
			if m := k.Membership; m != nil {
				if in = m.Container; m.On != in {
					in = resource.MustLookup(in).Parent
				}
			}
			switch {
			case o.Kind.Name != in || mb.objects.states[i].presence != exists:
			case k.Membership != nil:
				found = append(found, listedContents{kind: k, on: i})
			case mb.objects.kinds[k].list != nil:
				lists = append(lists, scope{mb.objects.kinds[k], i})
			}
		}
	}
	mb.service.each(len(lists), func(i int) { mb.snapshot.list(lists[i].kind, lists[i].parent) })
	mb.service.each(len(found), func(i int) {
		containers, why := mb.containersOf(found[i].kind, found[i].on)
		if path := found[i].kind.Membership.Path(); why.why != "" {
			mb.gaps.add(mb.in.Desired[found[i].on], path, path, why)
		}
		found[i].containers = containers
	})
	return found
}

// listedContents holds the containers of a membership for one object of the manifest.
type listedContents struct {
	kind       *resource.Kind
	on         objectID
	containers []listedContainer
}

// containersOf returns the containers of a membership for an object: the object itself if its field lists members, else the containers that
// live in the object.
func (mb *memberships) containersOf(kind *resource.Kind, i objectID) ([]listedContainer, gapReason) {
	m := kind.Membership
	if m.On == m.Container {
		list := listMembers(mb.analysis, kind, mb.objects.params(i))
		if list.state == noList {
			return nil, gapReason{why: mb.in.API.Noun() + " cannot read it"}
		}
		if len(list.rows) == 0 {
			if list.state == listed { // nothing asks again, and there are many
				delete(mb.in.Observed, list.read)
			}
			return nil, gapReason{}
		}
		return []listedContainer{{mb.objects.asContainer(i), list}}, gapReason{}
	}
	member := mb.objects.kind(m.Member)
	field, _ := member.kind.Field(m.Field)
	t := member.ref(field)
	if t == nil || t.membership == nil {
		return nil, gapReason{} // this API does not write the field by a membership
	}
	return mb.containersIn(t, i)
}
