package sandbox

// describeReleases adds the kinds of the releases of the workspace, their tags and labels, and their contents: links, and a changelog
// that is created with the release.
func (ks *kinds) describeReleases() {
	ofRelease := func(c *call) []byte { return scope(c.vars["release"]) }
	ks.releaseTag = ks.add(&kind{
		name: "release_tag", param: "tag",
		columns: audit("version git_tag commit_hash description created_by updated_by workspace"),
		fields:  bodyFields("version=line git_tag=line? commit_hash=line? description=prose?"),
	})
	ks.releaseLabel = ks.add(&kind{
		name: "release_label", param: "label", columns: audit("name color sort_order created_by updated_by workspace"),
		fields: bodyFields("name=line color=text", field{name: "sort_order", check: whole(0, 1<<31-1), initial: integer(65535)}),
	})
	ks.releaseLabelLink = ks.addMembership("release_label_link", "label", "release")
	ks.releaseItem = ks.addMembership("release_item", "issue", "release")
	ks.releaseLink = ks.add(&kind{
		name: "release_link", param: "link", scope: ofRelease, columns: audit("title url metadata release created_by updated_by workspace"),
		fields: bodyFields("title=line metadata=object", field{name: "url", check: str(200, false)}),
	})
	ks.changelog = ks.add(&kind{
		name: "release_changelog", param: "changelog", scope: ofRelease,
		columns: audit("changelog release description_html description_json created_by updated_by workspace"),
		fields:  bodyFields("description_html=html description_json=object"),
	})
	ks.release = ks.add(&kind{
		name: "release", param: "release",
		columns: audit("name description_html description_json description status target_date release_date is_latest is_prerelease " +
			"lead tag external_source external_id created_by updated_by workspace"),
		fields: bodyFields("name=line description_html=html description_json=object target_date=date? release_date=date?"+
			" is_latest=off is_prerelease=off"+externalPair,
			field{name: "status", check: choice("unreleased", "released", "cancelled"), initial: "unreleased"},
			field{name: "lead", ref: &ks.user, null: true},
			field{name: "tag", ref: &ks.releaseTag, null: true},
		),
		afterWrite: func(c *call, t *tx, old, r row) {
			if old != nil {
				return
			}
			c.vars["release"] = text(r, "id")
			log := row{"release": r["id"], "changelog": newID(), "description_html": "<p></p>", "description_json": row{}}
			c.setAudit(ks.changelog, log)
			ks.changelog.write(c, t, stored{}, log)
		},
		contents: []**kind{&ks.releaseLabelLink, &ks.releaseItem, &ks.releaseLink, &ks.changelog},
	})
}

// releasesV2 describes releases in API v2. No answer shows the work items of a release.
func (s *Server) releasesV2() []*resourceV2 {
	k := s.kinds
	const path = v2Workspace + "releases/"
	on := func(w *writeV2) { w.needsFeature("is_release_enabled") }
	inRelease := func(w *writeV2) { w.r["release"] = w.vars["release"] }
	return []*resourceV2{
		{
			name: "release tag", path: path + "tags/", kind: k.releaseTag, verbs: v2Singles, prepare: on,
			write: "version* commit_hash? description? git_tag?", read: "created_by_id", order: "created_at id version",
		},
		{
			name: "release label", path: path + "labels/", kind: k.releaseLabel, verbs: v2Singles, prepare: on,
			write: "name* color sort_order", read: "created_by_id", order: "created_at id sort_order",
		},
		{
			name: "release", path: path, kind: k.release, verbs: v2Singles, prepare: on, deferred: "description_html",
			write: "name* description_html -description_json is_latest is_prerelease lead_id? release_date? status tag_id? target_date?" + v2Pair,
			read:  "created_by_id description_id=description label_ids", order: "created_at id name release_date target_date",
			computed: map[string]computedV2{"label_ids": memberList{k.release, k.releaseLabelLink, k.releaseLabel}.memberIDs},
			manage: map[string]membersV2{
				"labels": {members: k.releaseLabelLink, of: k.releaseLabel}, "work-items": {members: k.releaseItem, of: k.workItem},
			},
		},
		{
			name: "changelog", path: path + "{release_id}/changelog/", kind: k.changelog, verbs: "single",
			write: "description_html description_json", read: "changelog_id=changelog release_id -created_at",
			rows: func(c *call, t *tx) []stored { return t.all(k.changelog, k.changelog.scope(c)) },
		},
		{
			name: "release link", path: path + "{release_id}/links/", kind: k.releaseLink, verbs: v2Singles, prepare: inRelease,
			write: "title* url* metadata", read: "created_by_id release_id", order: "created_at id",
		},
	}
}
