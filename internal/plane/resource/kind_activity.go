package resource

func init() {
	register(Kind{
		Name: "activity", Parent: "work_item", Param: "activity_id", Scope: "projects.work_items.activities",
		Doc: "A record of a change to a work item. Read only.",
		Fields: []Field{
			{Name: "verb", Type: Text, Doc: "What was done, such as updated."},
			{Name: "field", Type: Text, Doc: "The field that changed."},
			{Name: "old_value", Type: Text, Doc: "Its value before."},
			{Name: "new_value", Type: Text, Doc: "Its value after."},
			{Name: "actor", Type: Ref, Ref: "member", Doc: "Who did it."},
		},
		Operations: []Operation{
			{
				Verb: List, ContractRow: 15, Path: workspace + "projects/{project_id}/work-items/{work_item_id}/activities/", GetCommand: "activities",
				Doc: "Reads the activities of a work item, oldest first. The service records them a moment after a change, under load minutes later.",
			},
		},
	})
}
