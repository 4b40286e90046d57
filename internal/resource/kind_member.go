package resource

func init() {
	register(Kind{
		Name: "member", Param: "member_id",
		Doc:        "A member of the workspace. Fields that name people take an e-mail address, a display name or an ID.",
		WhereMade:  "an admin invites people in Plane, under Settings, Members",
		NaturalKey: []string{"email", "display_name"},
		Fields: []Field{
			{Name: "email", Type: Text, Doc: "E-mail address.", Example: "ada@example.com"},
			{Name: "display_name", Type: Text, Doc: "Display name.", Example: "ada"},
		},
		Operations: []Operation{
			{Verb: List, Method: "GET", Path: workspace + "members/", Success: 200, Scope: "workspaces.members:read"},
			{Verb: Self, Method: "GET", Path: "/api/v1/users/me/", Success: 200, Scope: "profile:read"},
			{Verb: ProbeV2, Method: "GET", Path: "/api/v2/users/me/", Success: 200, Scope: "read"},
			{Verb: DescribeV2, Method: "GET", Path: "/api/v2/schema/", Success: 200, Scope: "read"},
		},
	})
}
