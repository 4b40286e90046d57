package sandbox

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// roles returns the roles of every workspace, and two that this one defines for its projects.
func roles() []row {
	var out []row
	for _, r := range []struct {
		namespace, slug, name string
		level                 int
		own                   bool
	}{
		{"workspace", "owner", "Owner", 25, false},
		{"workspace", "admin", "Admin", roleAdmin, false},
		{"workspace", "member", "Member", roleMember, false},
		{"workspace", "guest", "Guest", roleGuest, false},
		{"project", "admin", "Admin", roleAdmin, false},
		{"project", "contributor", "Contributor", roleMember, false},
		{"project", "commenter", "Commenter", 10, false},
		{"project", "guest", "Guest", roleGuest, false},
		{"project", "release-manager", "Release manager", 18, true},
		{"project", "reviewer", "Reviewer", 12, true},
	} {
		out = append(out, row{
			"id": uuid.NewSHA1(uuid.NameSpaceURL, []byte(r.namespace+"/"+r.slug)).String(), "namespace": r.namespace, "slug": r.slug, "name": r.name,
			"level": integer(r.level), "is_system": !r.own, "description": "", "status": "active",
		})
	}
	return out
}

// projectRoleOf returns the project role with a slug, and its number in API v1: the highest number of API v1 that is not above its level.
func projectRoleOf(slug string) (is row, v1 int) {
	all := roles()
	i := slices.IndexFunc(all, func(r row) bool { return r["namespace"] == "project" && r["slug"] == slug })
	if i < 0 {
		return nil, 0
	}
	for _, v1 = range []int{roleAdmin, roleMember, roleGuest} {
		if float64(v1) <= number(all[i], "level") {
			break
		}
	}
	return all[i], v1
}

// rolesV2 describes the roles of the workspace and of its projects, which are read-only.
func rolesV2(k *kinds) *resourceV2 {
	return &resourceV2{
		name: "role", path: v2Workspace + "roles/", kind: k.role, verbs: "list", byOffset: true,
		read: "description is_system level name namespace slug status -created_at", order: "level id name namespace",
		rows: func(*call, *tx) (out []stored) {
			for i, r := range roles() {
				out = append(out, stored{binary.BigEndian.AppendUint64(nil, uint64(i)), r})
			}
			return out
		},
	}
}

// projectMembersV2 describes the memberships of a project. Roles are given by their slugs in the project's namespace.
func projectMembersV2(k *kinds) *resourceV2 {
	return &resourceV2{
		name: "member", path: v2Project + "members/", kind: k.projectMember, verbs: "list create update delete",
		write: "member_id* role*", read: "-created_at", order: "created_at id",
		only: []field{
			{name: "member_id", check: func(t *tx, v any) (any, any) {
				if id, ok := v.(string); ok && workspaceRole(t, id) > 0 {
					return strings.ToLower(id), nil
				}
				return nil, message("Object with id %v does not exist.", v)
			}},
			{name: "role", check: func(_ *tx, v any) (any, any) {
				slug, _ := v.(string)
				if is, _ := projectRoleOf(slug); is == nil {
					return nil, message("\"%v\" is not a valid choice.", v)
				}
				return slug, nil
			}},
		},
		computed: map[string]computedV2{"role": func(_ *call, _ *tx, r row) any {
			if slug := text(r, "slug"); slug != "" {
				return slug
			}
			return map[int]string{roleAdmin: "admin", roleMember: "contributor", roleGuest: "guest"}[int(number(r, "role"))]
		}},
		refuseWrites: func(c *call, t *tx) *problem {
			if projectRole(t, c.vars["project"], c.user) != roleAdmin {
				return forbidden()
			}
			return nil
		},
		rows: func(c *call, t *tx) []stored {
			return slices.DeleteFunc(t.all(c.kinds.projectMember, inProject(c)), func(s stored) bool { return flag(s.row, "inactive") })
		},
		prepare: func(w *writeV2) {
			switch user := text(w.r, "member"); {
			case w.old != nil && user != text(w.old, "member"):
				w.addError("member_id", "invalid", "A membership stays that of its member.")
			case w.old == nil && user != "" && w.wasMember(w.t, w.vars["project"], user): // the answer to a second membership is not documented
				w.problem = conflictV2("The user is a member of the project already.")
			}
			if slug, given := w.given["role"].(string); given {
				_, v1 := projectRoleOf(slug)
				w.r["role"], w.r["slug"] = integer(v1), slug
			}
		},
		after: func(w *writeV2) {
			w.t.setIndex("1", "ever joined", w.vars["project"], text(w.r, "member"))
			w.setRole(w.t, w.r)
		},
	}
}
