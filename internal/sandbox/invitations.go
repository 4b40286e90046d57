package sandbox

import (
	"net/http"
	"regexp"

	"github.com/google/uuid"
)

func (ks *kinds) describeInvitations() {
	ks.invitation = ks.add(&kind{
		name:    "invitation",
		columns: names("id email role created_at updated_at responded_at accepted"),
		hidden:  names("workspace created_by"),
		indexes: []index{{name: "invitation", fields: []string{"email"}, clash: func(*call, row, row, string) *reply {
			return new(badRequest("Email already invited"))
		}}},
		fields: []field{
			{name: "email", required: true, check: emailAddress},
			{name: "role", check: numberChoice("20", "15", "5"), initial: integer(roleGuest)},
		},
		param: "invitation", readWhole: true,
		created: func(c *call, _ *tx, r row) { r["accepted"] = c.opts.Welcoming },
		afterWrite: func(c *call, t *tx, _, r row) {
			if c.opts.Welcoming {
				c.addPeople(t, []string{text(r, "email")}, int(number(r, "role")))
			}
		},
	})
}

var emailShape = regexp.MustCompile(`^[^\s@"(),:;<>\[\\\]]+@([A-Za-z0-9-]+\.)+[A-Za-z]{2,}$`)

func emailAddress(t *tx, v any) (any, any) {
	value, complaint := line()(t, v)
	if s, ok := value.(string); ok && !emailShape.MatchString(s) {
		return nil, message("Invalid email address")
	}
	return value, complaint
}

// ofInvitation wraps a handler that needs the invitation of the route, with its own error texts.
func ofInvitation(h handler) handler {
	return func(c *call, t *tx) reply {
		id, err := uuid.Parse(c.vars["invitation"])
		if err != nil {
			return refuse(http.StatusBadRequest, "error", textBadDetail)
		}
		if c.vars["invitation"] = id.String(); !t.has(c.kinds.invitation, inWorkspace(c), id.String()) {
			return refuse(http.StatusNotFound, "error", "The required object does not exist.")
		}
		return h(c, t)
	}
}
