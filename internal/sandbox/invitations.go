package sandbox

import (
	"net/http"
)

func (k *kinds) invitations() {
	k.invitation = k.add(&kind{
		name:    "invitation",
		columns: []string{"id", "email", "role", "created_at", "updated_at", "responded_at", "accepted"},
		hidden:  []string{"workspace", "created_by"},
		fields: []field{
			{name: "email", required: true, check: line()},
			{name: "role", check: choiceOfRole, initial: integer(roleGuest)},
		},
		param: "invitation", readWhole: true,
		prepare: func(c *call, _ *tx, old, r row) *reply {
			if old == nil {
				r["accepted"] = false
			}
			return nil
		},
	})
}

// listInvitations shows all of them, without pages.
func listInvitations(c *call, t *tx) reply {
	out := []row{}
	for _, s := range t.all(c.kinds.invitation, inWorkspace(c)) {
		out = append(out, c.kinds.invitation.visible(s.row))
	}
	return reply{http.StatusOK, out}
}

// changeInvitation changes the role; the address stays.
func changeInvitation(c *call, t *tx) reply {
	if email := c.in["email"]; !falsy(email) {
		return reply{http.StatusBadRequest, row{"error": "Email cannot be updated after invite is created.", "code": "EMAIL_CANNOT_BE_UPDATED"}}
	}
	return c.kinds.invitation.change(c, t)
}
