package sandbox

import (
	"net/http"
	"slices"
	"strings"
)

// Columns that say what the workspace manages for its projects.
const (
	typesGoverned  = "is_work_item_types_enabled"
	statesGoverned = "states_owned_by_workspace"
)

// isGoverned reports whether the workspace manages something for its projects.
func (c *call) isGoverned(t *tx, column string) bool {
	s, _ := t.get(c.kinds.workspace, workspaceID)
	return flag(s.row, column)
}

// inLevel returns the scope of the route's project, or of the workspace if the route has no project.
func inLevel(c *call) []byte {
	if c.vars["project"] == "" {
		return scope(workspaceID)
	}
	return inProject(c)
}

// sharedStates returns the states of the workspace if it manages states for all projects.
func (c *call) sharedStates(t *tx) []stored {
	if !c.isGoverned(t, statesGoverned) {
		return nil
	}
	return t.all(c.kinds.state, scope(workspaceID))
}

// importedTypes returns the types that a project has imported from the workspace, and the default type, which every project has.
func (c *call) importedTypes(t *tx) []stored {
	return slices.DeleteFunc(t.all(c.kinds.itemType, scope(workspaceID)), func(s stored) bool {
		return !flag(s.row, "is_default") && t.index("imported type", c.vars["project"], text(s.row, "id")) == ""
	})
}

// sharedProperties returns the properties of the types that a project has imported.
func (c *call) sharedProperties(t *tx) []stored {
	types := c.importedTypes(t)
	return slices.DeleteFunc(t.all(c.kinds.itemProperty, scope(workspaceID)), func(p stored) bool {
		return !slices.ContainsFunc(types, func(s stored) bool { return slices.Contains(list(p.row, "types"), text(s.row, "id")) })
	})
}

// refuseElsewhere wraps methods of API v1. It refuses writes on the level, project or workspace, that does not manage the
// feature of the column.
func refuseElsewhere(column string, on methods) methods {
	for method, ep := range on {
		inner := ep.do
		if method == http.MethodGet {
			continue
		}
		guarded := *ep
		guarded.do = func(c *call, t *tx) reply {
			inProject := c.vars["project"] != ""
			if c.isGoverned(t, column) != inProject {
				return inner(c, t)
			}
			code := "workspace_not_managed"
			if inProject {
				code = "workspace_managed"
			}
			return reply{http.StatusBadRequest, row{"error": "This resource is not managed on this level", "code": code}}
		}
		on[method] = &guarded
	}
	return on
}

// refuseElsewhereV2 returns the same check for API v2.
func refuseElsewhereV2(column, resource string) func(c *call, t *tx) *problem {
	return func(c *call, t *tx) *problem {
		level, inProject := "project", c.vars["project"] != ""
		if c.isGoverned(t, column) != inProject {
			return nil
		}
		if inProject {
			level = "workspace"
		}
		return &problem{
			status: http.StatusConflict, code: resource + "_managed_at_" + level,
			detail: strings.ReplaceAll(resource, "_", " ") + " are managed at the level of the " + level + ".",
		}
	}
}

// readWorkspaceFeatures answers with the features of the workspace in API v1, each kept in a column.
func readWorkspaceFeatures(c *call, t *tx) reply {
	s, _ := t.get(c.kinds.workspace, workspaceID)
	out := row{}
	for pair := range slices.Chunk([]string{
		"project_grouping", "is_project_grouping_enabled", "initiatives", "is_initiative_enabled", "teams", "is_teams_enabled",
		"customers", "is_customer_enabled", "wiki", "is_wiki_enabled", "pi", "is_pi_enabled", "work_item_types", typesGoverned,
		"releases", "is_release_enabled", "states_owned_by_workspace", statesGoverned,
	}, 2) {
		out[pair[0]] = flag(s.row, pair[1])
	}
	return reply{http.StatusOK, out}
}

// listWorkspaceStates lists the states of the workspace, or the states of all projects if the workspace does not manage states.
func listWorkspaceStates(c *call, t *tx) reply {
	if c.isGoverned(t, statesGoverned) {
		return c.kinds.state.list(c, t)
	}
	return renderPage(c, t.all(c.kinds.state, nil), func(s stored) row { return c.kinds.state.render(c, t, s.row) })
}

// governedV2 describes the work item types of the workspace, their properties, and how projects and types use them.
func (s *Server) governedV2() []*resourceV2 {
	k := s.kinds
	closed := refuseElsewhereV2(typesGoverned, "work_item_types")
	return []*resourceV2{
		{
			name: "work item type", path: v2Workspace + "work-item-types/", kind: k.itemType, verbs: v2Singles, unique: "name", refuseWrites: closed,
			write: "name* description is_active -external_id? -external_source?", read: "is_default is_epic level logo_props", order: "created_at id",
			prepare: func(w *writeV2) {
				if w.old == nil {
					w.r["is_default"] = false
				}
			},
			refuse: func(_ *call, _ *tx, r row) *problem {
				if flag(r, "is_default") {
					return conflictV2("The default work item type cannot be deleted.")
				}
				return nil
			},
		},
		{
			name: "work item type", path: v2Project + "work-item-types/", kind: k.itemType, verbs: "list",
			read: "name description is_active is_default is_epic level logo_props", order: "created_at id",
			more: map[string]methods{"import/": {http.MethodPost: writesV2(importTypes)}},
		},
		{
			name: "work item property", path: v2Workspace + "work-item-properties/", kind: k.itemProperty, verbs: "list create read update",
			write: "display_name* property_type* relation_type description? is_required is_multi is_active default_value settings validation_rules" +
				v2Pair,
			read: "name logo_props", order: "created_at id", refuseWrites: closed, unserved: "options",
			prepare: func(w *writeV2) {
				w.r["name"] = slug(text(w.r, "display_name"))
				if w.old == nil {
					w.r["is_active"] = w.set["is_active"] && flag(w.r, "is_active")
				}
			},
		},
		{
			name: "property option", path: v2Workspace + "work-item-properties/{property_id}/options/", kind: k.propertyOption,
			verbs: "list create read update", write: "name* description is_default" + v2Pair, read: "sort_order -created_at", order: "created_at id",
			refuseWrites: closed,
			prepare: func(w *writeV2) {
				if w.old == nil {
					w.r["is_active"] = true
				}
				if flag(w.r, "is_default") && slices.ContainsFunc(w.t.all(k.propertyOption, scope(w.vars["property"])), func(o stored) bool {
					return flag(o.row, "is_default") && o.row["id"] != w.r["id"]
				}) {
					w.addError("is_default", "invalid", "Another option is the default.")
				}
			},
		},
		{
			name: "work item property", path: v2Workspace + "work-item-types/{type_id}/properties/", kind: k.itemProperty, verbs: "list",
			read: "display_name property_type relation_type is_active is_multi is_required external_id external_source name", order: "created_at id",
			more: map[string]methods{
				"": {http.MethodPost: writesV2(attachProperties)}, "{pk}/": {http.MethodDelete: writesV2(detachProperty)},
			},
			rows: func(c *call, t *tx) []stored {
				return slices.DeleteFunc(t.all(k.itemProperty, scope(workspaceID)), func(p stored) bool {
					return !slices.Contains(list(p.row, "types"), c.vars["type"])
				})
			},
		},
	}
}

// writesV2 returns an endpoint that writes types or properties, and is refused unless the workspace manages them.
func writesV2(do handler) *endpoint {
	closed := refuseElsewhereV2(typesGoverned, "work_item_types")
	return &endpoint{do: func(c *call, t *tx) reply {
		project := c.vars["project"]
		delete(c.vars, "project")
		wrong := closed(c, t)
		if project != "" {
			c.vars["project"] = project
		}
		if wrong != nil {
			return wrong.reply()
		}
		return do(c, t)
	}}
}

// attachProperties adds properties to a type, all or none.
func attachProperties(c *call, t *tx) reply {
	found := []stored{}
	for _, id := range list(c.in, "properties") {
		p, ok := t.getWithin(c.kinds.itemProperty, scope(workspaceID), id)
		if !ok {
			return invalidV2(fieldError{"properties", "does_not_exist", "Object with id " + id + " does not exist."}).reply()
		}
		found = append(found, p)
	}
	for _, p := range found {
		if types := list(p.row, "types"); !slices.Contains(types, c.vars["type"]) {
			p.row["types"] = anyList(append(types, c.vars["type"]))
			t.save(c.kinds.itemProperty, p)
		}
	}
	return reply{http.StatusCreated, row{"properties": c.in["properties"]}}
}

// detachProperty removes a property from a type, and its values from the items of that type.
func detachProperty(c *call, t *tx) reply {
	p, ok := t.getWithin(c.kinds.itemProperty, scope(workspaceID), c.vars["property"])
	if !ok || !slices.Contains(list(p.row, "types"), c.vars["type"]) {
		return notFoundV2().reply()
	}
	p.row["types"] = filterIDs(p.row, "types", func(id string) bool { return id != c.vars["type"] })
	t.save(c.kinds.itemProperty, p)
	for _, item := range t.all(c.kinds.workItem, nil) {
		if text(item.row, "type") == c.vars["type"] {
			c.putValue(t, text(item.row, "id"), p.row, nil)
		}
	}
	return reply{status: http.StatusNoContent}
}

// importTypes imports types of the workspace into a project.
func importTypes(c *call, t *tx) reply {
	for _, id := range list(c.in, "work_item_types") {
		if !t.has(c.kinds.itemType, scope(workspaceID), id) {
			return invalidV2(fieldError{"work_item_types", "does_not_exist", "Object with id " + id + " does not exist."}).reply()
		}
		t.setIndex("1", "imported type", c.vars["project"], id)
	}
	if p, ok := t.get(c.kinds.project, c.vars["project"]); ok { // the import switches types on
		p.row["is_issue_type_enabled"] = true
		t.save(c.kinds.project, p)
	}
	return reply{status: http.StatusOK}
}
