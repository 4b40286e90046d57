package sandbox

import (
	"maps"
	"strings"
	"time"
)

func (ks *kinds) describeComments() {
	ks.comment = ks.add(&kind{
		name: "comment", failsAtNoObject: true,
		columns: append([]string{"id", "is_member"}, audit("comment_html attachments access external_source external_id edited_at " +
			"created_by updated_by project workspace description issue actor parent")[1:]...),
		computed: names("is_member"),
		indexes:  []index{uniqueExternalID("comment", "project", "Work item comment")},
		fields: bodyFields(externalPair,
			field{name: "comment_html", check: prose(), initial: "<p></p>"},
			field{name: "access", check: choice("INTERNAL", "EXTERNAL"), initial: "INTERNAL"},
			field{name: "parent", ref: &ks.comment, null: true},
			field{name: "comment_json", check: anything, derived: true}, // no answer shows it
		),
		param: "comment", scope: inItem,
		prepare: func(c *call, t *tx, old, r row) *reply {
			if c.isCommunity() {
				r["parent"] = old["parent"] // the body is ignored
			}
			if old != nil {
				return nil
			}
			if !c.everExisted(t, c.vars["item"]) {
				return new(badPayload())
			}
			r["issue"] = c.vars["item"]
			r["attachments"] = []any{}
			r["updated_by"] = c.user
			set, _ := c.givenAudit(t, c.kinds.comment)
			maps.Copy(r, set)
			if c.in["created_by"] == "" {
				r["created_by"] = "" // in the answer only
			}
			r["actor"] = r["created_by"]
			r["description"] = newID()
			// The service writes the row twice, the first time a little earlier.
			r["updated_at"] = stamp(c.now.Add(-10 * time.Millisecond))
			return nil
		},
		afterWrite: func(c *call, t *tx, old, r row) {
			if old != nil {
				c.logActivity(t, "updated", "comment", text(old, "comment_html"), text(r, "comment_html"), "updated a comment")
				return
			}
			kept := clone(r)
			if kept["created_by"] == "" {
				kept["created_by"] = nil
			}
			kept["updated_by"] = nil // reads show null until the first change
			kept["actor"] = c.user   // even if the answer to the creation shows another author
			if s, ok := t.get(c.kinds.comment, text(r, "id")); ok {
				t.save(c.kinds.comment, stored{s.key, kept})
			}
			c.logActivity(t, "created", "comment", nil, text(r, "comment_html"), "created a comment")
		},
		afterDelete: func(c *call, t *tx, r row) {
			c.logActivity(t, "deleted", "comment", nil, nil, "deleted the comment")
		},
		// The newest comment comes first, by a date that the author may have set.
		sort: func(a, b row) int { return strings.Compare(text(b, "created_at"), text(a, "created_at")) },
		show: func(c *call, t *tx, r row, listed bool) row {
			if !listed {
				return r
			}
			r = clone(r)
			r["is_member"] = projectRole(t, text(r, "project"), c.user) > 0
			return r
		},
	})
}
