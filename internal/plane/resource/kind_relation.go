package resource

func init() {
	for _, pair := range [][2]string{{"blocking", "blocked_by"}, {"start_before", "start_after"}, {"finish_before", "finish_after"}} {
		registerRelations(pair[0], pair[1])
		registerRelations(pair[1], pair[0])
	}
	registerRelations("duplicate", "duplicate")
	registerRelations("relates_to", "relates_to")
	registerCustomRelations()
}

// registerRelations registers a relation between work items; inverse is its name on the other side.
func registerRelations(name, inverse string) {
	const path = workspace + "projects/{project_id}/work-items/{work_item_id}/relations/"
	register(Kind{
		Name: "work_item_" + name, Scope: "projects.work_items",
		Doc: "That a work item names another in its `" + name + "`.",
		Membership: &Membership{
			Container: "work_item", Member: "work_item", On: "work_item", Field: name, Body: "issues", IDField: "issue_id",
			ResultKey: name, Inverse: "work_item_" + inverse,
		},
		Operations: []Operation{
			{Verb: AddMembers, Path: path},
			{Verb: ListMembers, Path: path},
			{Verb: RemoveMembers, Method: "POST", Path: path + "remove/", Success: 204, Body: []string{"related_issue"}, OneAtATime: true},
		},
	})
}

// registerCustomRelations registers the relations that relation definitions of the workspace add. Their routes use the texts of the
// definitions, and remove a relation by the other item alone, because two items can have only one.
func registerCustomRelations() {
	const path = workspaceV2 + "projects/{project_id}/work-items/{work_item_id}/relations/"
	register(Kind{
		Name: "work_item_relation", Scope: "projects.work_items.relations",
		Doc: "That a work item is to another what one of the `relation_definitions` says.",
		Membership: &Membership{
			Container: "work_item", Member: "work_item", On: "work_item", Field: "custom", Body: "work_item_ids",
			ResultKey: EachKey, Inverse: "work_item_relation",
			Attribute: &Attribute{
				Name: "relation", Member: "item", Defined: relationDefinition,
				Doc: "What this item is to the other one: the `outward` or `inward` text of one of the `relation_definitions`, here or on the service.",
			},
		},
		Operations: []Operation{
			{Verb: AddMembers, Path: path},
			{Verb: ListMembers, Path: path, GetCommand: "custom-relations", Doc: "Reads the custom relations of a work item."},
			{Verb: RemoveMembers, Path: path + "{related_work_item_id}/", OneAtATime: true},
		},
	})
}

// customRelationField returns the field of a work item that declares custom relations.
func customRelationField() Field {
	f := relationField("custom", "Related items, each with the relation in the words of `relation_definitions`: `{item: checkout, relation: implements}`.")
	f.Wire = Wire{ContractDialect: NotTaken}
	return f
}

// relationField returns the field of a work item that declares a relation.
func relationField(name, doc string) Field {
	return Field{
		Name: name, Group: "relations", Virtual: true, Type: RefSet, Ref: "work_item", RefRules: RefRules{CrossProject: true},
		Clear: ClearNull, Doc: doc + " `[]` removes those that planform added.", Example: "checkout",
	}
}

// The fields of a relation definition with the text for each direction.
const (
	Outward = "outward"
	Inward  = "inward"
)

// RelationWords returns the texts that a relation definition declares, and the inverse of each.
func RelationWords(text func(field string) string) (words []string, inverse map[string]string) {
	out, in := text(Outward), text(Inward)
	return []string{out, in}, map[string]string{in: out, out: in}
}
