package sandbox

// describeTemplates adds the kinds of the templates of the workspace and those of projects, which are stored apart.
func (ks *kinds) describeTemplates() {
	ks.template = ks.add(describeTemplate("work_item_template", inWorkspace))
	ks.projectTemplate = ks.add(describeTemplate("project_work_item_template", inProject, "project"))
}

func describeTemplate(name string, scope func(*call) []byte, columns ...string) *kind {
	return &kind{
		name: name, scope: scope, param: "template", oldestFirst: true,
		columns: append(audit("name template_data description_html is_published short_description short_id slug template_type "+
			"created_by updated_by workspace"), columns...),
		fields: bodyFields("name=line description_html=html is_published=off short_description=prose?",
			field{name: "template_data", check: mapping},
		),
	}
}

// templatesV2 describes the templates below a path.
func templatesV2(path string, k *kind) *resourceV2 {
	return &resourceV2{
		name: "work item template", path: path + "work-item-templates/", kind: k, verbs: v2Singles,
		write: "name* template_data* description_html is_published short_description?", read: "created_by_id short_id slug template_type",
		order: "created_at id", deferred: "description_html template_data",
		prepare: func(w *writeV2) {
			if w.old == nil {
				w.r["short_id"], w.r["template_type"] = newID()[:8], "workitem"
			}
			w.r["slug"] = slug(text(w.r, "name"))
		},
	}
}
