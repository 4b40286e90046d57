package resource

func init() {
	for _, pair := range [][2]string{{"blocking", "blocked_by"}, {"start_before", "start_after"}, {"finish_before", "finish_after"}} {
		relations(pair[0], pair[1])
		relations(pair[1], pair[0])
	}
	relations("duplicate", "duplicate")
	relations("relates_to", "relates_to")
}

// relations registers one relation between work items; inverse is its name on the other side.
func relations(name, inverse string) {
	const path = workspace + "projects/{project_id}/work-items/{work_item_id}/relations/"
	register(Kind{
		Name: "work_item_" + name,
		Doc:  "That a work item names another in its `" + name + "`.",
		Membership: &Membership{
			Container: "work_item", Member: "work_item", On: "work_item", Field: name, Body: "issues", IDField: "issue_id", Batch: 100,
			ExtraBody: [][2]string{{"relation_type", name}}, ResultKey: name, Inverse: "work_item_" + inverse,
		},
		Operations: []Operation{
			{Verb: AddMembers, Method: "POST", Path: path, Success: 201, Scope: "projects.work_items:write"},
			{Verb: ListMembers, Method: "GET", Path: path, Success: 200, Scope: "projects.work_items:read"},
			{
				Verb: RemoveMembers, Method: "POST", Path: path + "remove/", Success: 204, Scope: "projects.work_items:write",
				Body: []string{"related_issue"}, OneAtATime: true,
			},
		},
	})
}

// relation is the field of a work item that declares a relation.
func relation(name, doc string) Field {
	return Field{
		Name: name, Group: "relations", Virtual: true, Type: RefSet, Ref: "work_item", RefRules: RefRules{CrossProject: true},
		Clear: ClearNull, Doc: doc + " `[]` removes those that planform added.", Example: "checkout",
	}
}
