package sandbox

import (
	"net/http"
	"slices"
)

// describePages adds the kinds of the pages of the workspace and those of projects, which are stored apart.
func (ks *kinds) describePages() {
	ks.page = ks.add(ks.describePage("page", inWorkspace, ks.documented))
	ks.projectPage = ks.add(ks.describePage("project_page", inProject, false, "project"))
}

func (ks *kinds) describePage(name string, scope func(*call) []byte, documented bool, columns ...string) *kind {
	return &kind{
		name: name, scope: scope, hidden: names("parent sort_order"),
		columns: append(audit("name description_html access color is_locked archived_at view_props logo_props external_id "+
			"external_source created_by updated_by owned_by workspace"), columns...),
		fields: bodyFields("color=text is_locked=off archived_at=date? view_props=object logo_props=object"+externalPair,
			field{name: "name", check: str(unlimited, true), initial: "", required: !documented},
			field{name: "description_html", check: richText, initial: "<p></p>", required: !documented},
			field{name: "access", check: whole(0, 2), initial: integer(0)},
		),
		param:   "page",
		created: func(c *call, _ *tx, r row) { r["owned_by"] = c.user },
	}
}

// pagesV2 describes the pages below a path. No list shows archived pages.
func pagesV2(path string, k **kind) *resourceV2 {
	of := *k
	return &resourceV2{
		name: "page", path: path + "pages/", kind: of, verbs: v2Singles,
		write: "name* access archived_at? color description_html is_locked logo_props parent_id? sort_order view_props" + v2Pair,
		only:  []field{{name: "parent_id", ref: k}, {name: "sort_order", check: real}, {name: "archived_at", check: moment}},
		read:  "created_by_id is_global owned_by_id", order: "created_at id name updated_at", deferred: "description_html",
		unserved: "collection_id",
		computed: map[string]computedV2{"is_global": func(c *call, _ *tx, _ row) any { return c.vars["project"] == "" }},
		refuse: func(_ *call, _ *tx, r row) *problem {
			if r["archived_at"] == nil {
				return &problem{status: http.StatusBadRequest, detail: "Only an archived page can be deleted."}
			}
			return nil
		},
		prepare: func(w *writeV2) {
			if w.old != nil && flag(w.old, "is_locked") && !w.set["is_locked"] {
				w.problem = &problem{status: http.StatusBadRequest, detail: "Page is locked."}
			}
			if w.vars["project"] == "" {
				w.needsFeature("is_wiki_enabled")
			}
			if w.old == nil && w.r["sort_order"] == nil {
				w.r["sort_order"] = nextOrder(w.t.all(of, of.scope(w.call)), nil)
			}
			for id := text(w.r, "parent"); id != ""; { // a page must not be below itself
				if id == w.r["id"] {
					w.addError("parent_id", "invalid", "A page cannot be below itself.")
					return
				}
				s, _ := w.t.get(of, id)
				id = text(s.row, "parent")
			}
		},
		rows: func(c *call, t *tx) []stored {
			return slices.DeleteFunc(t.all(of, of.scope(c)), func(s stored) bool { return c.vars[of.param] == "" && s.row["archived_at"] != nil })
		},
	}
}
