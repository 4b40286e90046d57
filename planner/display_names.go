package planner

import "strings"

// readDisplayNames reads the lists that name the IDs in a plan, such as the workspace's members and a project's labels. If a field lost an ID
// since the last apply, the list also tells whether that object was deleted.
func readDisplayNames(s *comparer, memberships *memberships) {
	var shown []shownID
	show := func(t *kindInfo, within objectID, ids ...string) {
		for _, id := range ids {
			shown = append(shown, shownID{t, within, id})
		}
	}
	for _, set := range memberships.leavingSets() {
		for _, e := range set.leaving() {
			show(s.objects.kind(set.kind.Membership.Member), noObject, e.id)
		}
	}
	for _, n := range s.objects.uses {
		f := &s.objects.states[n.by]
		found, differs := s.found[n.value]
		if n.field.to.list == nil || f.presence != exists || !differs {
			continue
		}
		c := s.change(n.by, found)
		if c.Origin == FromDrift { // the lists may show that it is no drift, see lostOnlyDeleted
			for _, t := range s.objects.namedBy(n.value.Field) {
				show(t, s.objects.withinOf(n.by, &refField{field: n.value.Field, to: t}), lostReferences(n.value.Field, found.applied, found.have)...)
			}
		}
		switch within := s.objects.withinOf(n.by, n.field); {
		case s.in.Pull && found.shown:
			show(n.field.to, within, strings.Split(n.value.Field.WithoutProperty(found.have), ",")...)
		case c.Before != nil:
			show(n.field.to, within, strings.Split(*c.Before, "\n")...)
		}
		if c.After != nil && s.in.Deletes != nil {
			show(n.field.to, s.objects.withinOf(n.by, n.field), strings.Split(*c.After, "\n")...)
		}
	}
	s.service.each(len(shown), func(i int) { s.refs.readName(shown[i]) })
	s.refs.displayNames = nil // the lists have more names
}
