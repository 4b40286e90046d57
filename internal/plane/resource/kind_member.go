package resource

// Invitation is the kind of the invitations that a plan makes for people in a manifest who are not in the workspace.
const Invitation = "invitation"

func init() {
	register(Kind{
		Name: "member", Param: "member_id", Scope: "workspaces.members", Listing: Listing{partial: true},
		Doc:        "A member of the workspace. Fields that name people take an e-mail address, a display name or an ID.",
		WhereMade:  "an admin invites people in Plane, under Settings, Members; --invite invites those who are given by e-mail address",
		NaturalKey: []string{"email", "display_name"},
		Fields: []Field{
			{Name: "email", Type: Text, Doc: "E-mail address.", Example: "ada@example.com"},
			{Name: "display_name", Type: Text, Doc: "Display name.", Example: "ada"},
		},
		Operations: []Operation{
			{Verb: List, Path: workspace + "members/"},
			{Verb: Self, Path: "/api/v1/users/me/", Scope: "profile:read"},
			{Verb: ProbeV2, Path: "/api/v2/users/me/", Scope: "read"},
			{Verb: Version, Path: "/api/instances/"},
			{Verb: ListLite, Path: workspace + "members-lite/"},
			{Verb: DescribeV2, Path: "/api/v2/schema/", Scope: "read"},
		},
	})
	register(Kind{
		Name: Invitation, Param: "invitation_id", Scope: "workspaces.members", NaturalKey: []string{"email"},
		Doc: "That somebody is invited to the workspace. Some editions send them a mail, so it is made with --invite only.",
		Fields: []Field{
			{Name: "email", Type: Text, Required: true, Immutable: true, MaxLength: 254, Doc: "E-mail address.", Example: "gus@example.com"},
			{Name: "role", Type: Enum, Enum: []string{"member"}, Codes: []int{15}, Immutable: true, Initial: "member", Doc: "Role in the workspace: a member.", Example: "member"},
		},
		Operations: crud(workspace+"invitations/", "invitation_id", "lgcd"),
	})
}
