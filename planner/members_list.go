package planner

import (
	"maps"
	"slices"

	"github.com/planform/planform/internal/plane/resource"
)

// listState is the outcome of reading a list of members.
type listState int8

const (
	notAsked listState = iota
	noList
	notSupported // this edition has no such memberships
	noContainer  // the service does not show the container
	listed
)

// memberList holds the members that the service shows in a container.
type memberList struct {
	state  listState
	read   Read
	rows   map[string][]resource.Row // by the ID of the member
	unread map[string]int            // see Answer.Unread
}

// listMembers reads the members of a container. params has the IDs of the container and of the objects above it.
func listMembers(of analysis, kind *resource.Kind, params map[string]string) memberList {
	read, offered := of.objects.membersRead(kind, params)
	if !offered {
		return memberList{state: noList}
	}
	return newMemberList(kind, read, of.service.ask(read))
}

func newMemberList(kind *resource.Kind, read Read, answer Answer) memberList {
	switch {
	case answer.Unsupported:
		return memberList{state: notSupported, read: read}
	case answer.NotFound:
		return memberList{state: noContainer, read: read}
	}
	l := memberList{state: listed, read: read, rows: make(map[string][]resource.Row, len(answer.Rows)), unread: answer.Unread}
	for _, row := range answer.Rows {
		id := kind.Membership.MemberID(row)
		l.rows[id] = append(l.rows[id], row)
	}
	return l
}

// addRoles adds the roles of members, and who left, to the rows of a list that does not show them. It reads the list that version 1.4 of the
// community edition added.
func (ml *memberList) addRoles(of analysis, kind *resource.Kind, params map[string]string) {
	op, offered := of.objects.op(kind, resource.ListLite)
	members := of.service.ask(ml.read).Rows
	if offered && !ml.read.Operation.V2() && kind.Membership.LacksRoles(members) {
		read, _ := readOf(op, params)
		kind.Membership.AddRoles(members, of.service.askOptional(read).Rows)
	}
}

func (ml *memberList) has(id string) bool { return id != "" && len(ml.rows[id]) > 0 }

func (ml *memberList) ids() []string { return slices.Sorted(maps.Keys(ml.rows)) }

// ownID returns the ID of the membership of a member, if the list shows it.
func (ml *memberList) ownID(kind *resource.Kind, id string) string {
	if !ml.has(id) {
		return ""
	}
	return kind.Membership.OwnID(ml.rows[id][0])
}
