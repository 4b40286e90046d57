package sandbox

// describeViews adds the kinds of the views of the workspace and those of projects. The reference says that their filters and display
// settings are free objects.
func (ks *kinds) describeViews() {
	ks.view = ks.add(describeView("view", inWorkspace))
	ks.projectView = ks.add(describeView("project_view", inProject, "project"))
}

func describeView(name string, scope func(*call) []byte, columns ...string) *kind {
	return &kind{
		name: name, scope: scope, param: "view",
		columns: append(audit("name description access filters display_filters display_properties pql_filters query is_locked "+
			"logo_props sort_order archived_at owned_by created_by updated_by workspace"), columns...),
		fields: bodyFields("name=line description=prose filters=object display_filters=object display_properties=object"+
			" pql_filters=object is_locked=off logo_props=object",
			field{name: "access", check: whole(0, 1), initial: integer(1)},
			field{name: "sort_order", check: real},
		),
	}
}

// viewsV2 describes the views below a path.
func viewsV2(path string, of *kind, order string) *resourceV2 {
	return &resourceV2{
		name: "view", path: path + "views/", kind: of, verbs: v2Singles, order: order,
		write: "name* access description display_filters display_properties filters is_locked logo_props pql_filters sort_order",
		read:  "archived_at created_by_id owned_by_id query",
		prepare: func(w *writeV2) {
			if w.old != nil {
				return
			}
			w.r["owned_by"], w.r["query"] = w.user, row{}
			if w.r["sort_order"] == nil {
				w.r["sort_order"] = nextOrder(w.t.all(of, of.scope(w.call)), nil)
			}
		},
	}
}
