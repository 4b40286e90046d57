package resource

import (
	"strings"

	"github.com/planform/planform/internal/text/diag"
)

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

// Activities returns the kind whose list shows the history of its parent object.
func Activities() *Kind { return MustLookup("activity") }

// People returns the kind of the users of a workspace, such as the actors that activities name.
func People() *Kind { return MustLookup("member") }

// ActivityField returns the name that activities use for a field. They have one name for all formats of a text, and name the containers
// of an item in the plural.
func ActivityField(name string) string {
	name = strings.TrimPrefix(strings.TrimSuffix(name, "_html"), "relations.")
	if via, ok := MembershipOf("work_item", name); ok && via.Membership.Inverse == "" {
		return diag.Plural(via.Membership.Container)
	}
	return name
}
