package sandbox

import (
	"net/http"
	"strings"
)

// Roles in a workspace or a project.
const (
	roleAdmin  = 20
	roleMember = 15
	roleGuest  = 5
)

// permission is a rule for access to a route. The rules are the service's, oddities included.
type permission int

const (
	// projectEntity: members of the project read, guests do not write.
	projectEntity permission = iota
	// anyone with a key.
	anyone
	// workspaceWide: members of the workspace read, guests do not write.
	workspaceWide
	// workspacePeople: members of the workspace; guests only in other editions.
	workspacePeople
	// workspaceAdmins: admins of the workspace.
	workspaceAdmins
	// projectBase: members of the workspace read, those who are no guests create. Admins of the project do the rest, and
	// admins of the workspace who are in the project.
	projectBase
	// projectLabels: members of any project read (since 1.4 of this project), members of the workspace who are no guests
	// create, members of the project do the rest. So a missing project had an empty list of labels.
	projectLabels
	// projectMembers: members of any project read (since 1.4 of this project), admins of the project do the rest.
	projectMembers
	// projectLite: members of the project, guests too.
	projectLite
	// projectKey: like projectEntity, for the project that an identifier names.
	projectKey
)

// credential returns the credential of the request, for the limiter.
func (c *call) credential() string {
	if key := c.req.Header.Get("X-Api-Key"); key != "" {
		return key
	}
	return c.req.Header.Get("Authorization")
}

// acceptsBearer reports whether bearer tokens are accepted. The running community edition accepts none.
func (c *call) acceptsBearer() bool { return c.answersByContract() || c.opts.Edition != Community }

// authenticate finds the user. The API key wins over a token.
func (c *call) authenticate(t *tx) *problem {
	key, kind := c.req.Header.Get("X-Api-Key"), "key"
	if scheme, token, _ := strings.Cut(c.req.Header.Get("Authorization"), " "); key == "" && c.acceptsBearer() && strings.EqualFold(scheme, "Bearer") {
		key, kind = token, "token"
	}
	if key == "" {
		return &problem{status: http.StatusUnauthorized, detail: "Authentication credentials were not provided."}
	}
	if c.user = t.index(kind, key); c.user == "" {
		return &problem{status: http.StatusForbidden, detail: "Given API token is not valid"}
	}
	return nil
}

// authorize refuses users without permission.
func (c *call) authorize(t *tx) *problem {
	if c.route.permission == anyone {
		return nil
	}
	if c.vars["workspace"] != c.opts.Workspace || !c.isPermitted(t) {
		return forbidden()
	}
	return nil
}

// isPermitted reports whether the user has the permission of the route.
func (c *call) isPermitted(t *tx) bool {
	reads := c.req.Method == http.MethodGet || c.req.Method == http.MethodHead || c.req.Method == http.MethodOptions
	creates := c.req.Method == http.MethodPost
	project := c.vars["project"]
	switch c.route.permission {
	case workspaceWide:
		role := workspaceRole(t, c.user)
		return role >= roleMember || reads && role > 0
	case workspacePeople:
		role := workspaceRole(t, c.user)
		return role >= roleMember || role > 0 && !c.isCommunity()
	case workspaceAdmins:
		return workspaceRole(t, c.user) == roleAdmin
	case projectBase:
		switch {
		case reads:
			return workspaceRole(t, c.user) > 0
		case creates:
			return workspaceRole(t, c.user) >= roleMember
		}
		// An admin of the workspace only has to be in the project.
		role := projectRole(t, project, c.user)
		return role == roleAdmin || role > 0 && workspaceRole(t, c.user) == roleAdmin
	case projectLabels, projectMembers:
		switch labels := c.route.permission == projectLabels; {
		case reads && c.since14():
			return projectRole(t, project, c.user) > 0
		case reads:
			return len(t.indexValues(1, "joined", c.user)) > 0
		case labels && creates:
			return workspaceRole(t, c.user) >= roleMember
		case labels:
			return projectRole(t, project, c.user) >= roleMember
		}
		return projectRole(t, project, c.user) == roleAdmin
	case projectKey:
		id := t.first("identifier", c.vars["identifier"])
		return reads && id != "" && projectRole(t, id, c.user) > 0
	case projectLite:
		return projectRole(t, project, c.user) > 0
	case anyone:
		return true
	case projectEntity:
	}
	role := projectRole(t, project, c.user)
	return role >= roleMember || reads && role > 0
}

func workspaceRole(t *tx, user string) int { return atoi(t.index("role", user)) }

func projectRole(t *tx, project, user string) int { return atoi(t.index("member", project, user)) }

// atoi reads a number that this package wrote; "" is 0.
func atoi(s string) int {
	n := 0
	for _, c := range []byte(s) {
		n = n*10 + int(c-'0')
	}
	return n
}
