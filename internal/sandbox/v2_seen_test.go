package sandbox

// Why statements are not served. planform's requests follow its descriptors, and the sandbox has no other operations.
const (
	byV1       = "planform uses API v1 for it"
	noParam    = "planform never sends the parameter"
	readsWhole = "planform reads lists whole and looks in them itself"
	noUpsert   = "planform looks first, and then creates or changes"
	noKind     = "planform does not manage it"
	byIDs      = "planform sends IDs only"
	noContexts = "planform leaves contexts of properties alone"
)

// severity makes two custom fields of the type Story, and $X, the ID of an option of the second.
const severity = `
	POST $V1/projects/$web/work-item-types/$story/work-item-properties/ {"display_name":"Severity","property_type":"TEXT","settings":{}} -> 201
	POST $V1/projects/$web/work-item-types/$story/work-item-properties/ {"display_name":"Tier","property_type":"OPTION"} -> 201 id>Y
	POST $V1/projects/$web/work-item-properties/$Y/options/ {"name":"Gold"} -> 201 id>X
`

// seenInTests are the statements.
func seenInTests() []seen {
	governed, released := Options{Governed: true}, `PATCH $W/features/ {"is_release_enabled":true} -> 200`
	twoItems := `
		POST $V1/projects/$web/work-items/ {"name":"b"} -> 201 id>X
	`
	return []seen{
		// Pages and collections.
		{
			of: "page", mark: "L", asked: "Delete a page of the wiki that is not archived.", answer: "400, and the page stays.",
			steps: `
				DELETE $W/pages/$page/ -> 400 type=invalid_request
				GET $W/pages/$page/ -> 200`,
		},
		{
			of: "page", mark: "N", asked: "Delete a page of a project that is not archived.", answer: "400, and the page stays.",
			steps: `
				POST $P/pages/ {"name":"A"} -> 201 id>X
				DELETE $P/pages/$X/ -> 400`,
		},
		{
			of: "page", mark: "L", asked: "Archive and unlock a locked page in one change, then delete it.", answer: "200, then 204. Then it is gone.",
			steps: `
				PATCH $W/pages/$page/ {"is_locked":true} -> 200 is_locked=true
				PATCH $W/pages/$page/ {"archived_at":"2026-11-22T09:00:00Z","is_locked":false} -> 200 is_locked=false; +archived_at
				DELETE $W/pages/$page/ -> 204
				GET $W/pages/$page/ -> 404 code=not_found`,
		},
		{
			of: "page", mark: "L", asked: "Change a locked page without a word of `is_locked`.", answer: "400 `Page is locked.`",
			steps: `
				PATCH $W/pages/$page/ {"is_locked":true} -> 200
				PATCH $W/pages/$page/ {"name":"B"} -> 400 detail=Page is locked.
				PATCH $W/pages/$page/ {"archived_at":"2026-11-22T09:00:00Z"} -> 400 detail=Page is locked.
				PATCH $W/pages/$page/ {"name":"B","is_locked":true} -> 200 name=B; is_locked=true`,
		},
		{
			of: "page", mark: "T", asked: "Create a page of the wiki.", answer: "Its row says `is_global: true`.",
			steps: `POST $W/pages/ {"name":"A"} -> 201 is_global=true`,
		},
		{
			of: "page", mark: "L", asked: "Create a page without a collection.", answer: "It is in the default public collection.",
			why: noKind, steps: `POST $W/pages/ {"name":"A","collection_id":"$nobody"} -> 501`,
		},
		{
			of: "page", mark: "L", asked: "List pages with `?name=`.", answer: "The parameter is ignored: every page comes.",
			why: readsWhole, steps: `GET $W/pages/?name=A -> 501`,
		},
		{
			of: "page", mark: "N", asked: "List the wiki when a project has a page.", answer: "The page of the project is not in it.",
			steps: `
				POST $P/pages/ {"name":"A"} -> 201 id>X
				GET $W/pages/ -> 200 !$X
				GET $P/pages/ -> 200 ~$X`,
		},
		{
			of: "collection", mark: "L", asked: "Which collection is the default?", answer: "One has `is_default`.",
			why: noKind, steps: `GET $W/collections/ -> 501`,
		},
		{
			of: "collection", mark: "L", asked: "Add a page to a second collection.", answer: "It clashes. The page has to be removed from the first.",
			why: noKind, steps: `POST $W/collections/$nobody/pages/ {"add":["$page"]} -> 501`,
		},
		{
			of: "collection", mark: "L", asked: "Search the pages that are not in it (`pages-search`).", answer: "404 at times, as if the collection were not there.",
			why: noKind, steps: `GET $W/collections/$nobody/pages-search/ -> 501`,
		},
		{
			of: "collection", mark: "T", asked: "List its members.", answer: "A bare array.",
			why: noKind, steps: `GET $W/collections/$nobody/members/ -> 501`,
		},

		// Limit, lists, errors.
		{
			of: "rate limit", mark: "N", asked: "Use up the quota of a key with both APIs.",
			answer: "They share it. 429 `rate_limited`, with `Retry-After`.", opts: Options{Rate: 2},
			steps: `
				GET /api/v1/users/me/ -> 200
				GET /api/v2/users/me/ -> 200
				GET /api/v2/users/me/ -> 429 type=rate_limited; @Retry-After=60`,
		},
		{
			of: "rate limit", mark: "L", asked: "What does the 429 say?", answer: "`Rate limit exceeded. Retry after 60 seconds.`, as the header does.",
			opts: Options{Rate: 1},
			steps: `
				GET /api/v2/users/me/ -> 200
				GET /api/v2/users/me/ -> 429 detail=Rate limit exceeded. Retry after 60 seconds.; @Retry-After=60`,
		},
		{
			of: "list", mark: "N", asked: "List without `?paginate=`, with more rows than a page has.",
			answer: "`data`, `pagination.style` `offset`, a `next` that is not null, and `total_count`.",
			steps:  `GET $P/states/?per_page=2 -> 200 pagination.style=offset; next=2; total_count=5; +data.1; -data.2`,
		},
		{
			of: "list", mark: "N", asked: "List with `?paginate=cursor&order_by=created_at`, then with its cursor.",
			answer: "`data`, `next_cursor`, `has_more`. The next page follows.",
			steps: `
				GET $P/labels/?per_page=2&paginate=cursor&order_by=created_at -> 200 has_more=true; +next_cursor; next_cursor>X; data.0.id>Y; -total_count
				GET $P/labels/?per_page=2&order_by=created_at&cursor=$X -> 200 has_more=false; next_cursor=<nil>; !$Y`,
		},
		{
			of: "list", mark: "L", asked: "List states, labels, cycles, modules and milestones with `?paginate=cursor` alone.",
			answer: "400 `ordering_not_cursor_eligible`.",
			steps: `
				GET $P/states/?paginate=cursor -> 400 code=ordering_not_cursor_eligible
				GET $P/labels/?paginate=cursor -> 400 code=ordering_not_cursor_eligible
				GET $P/cycles/?paginate=cursor -> 400 code=ordering_not_cursor_eligible
				GET $P/modules/?paginate=cursor -> 400 code=ordering_not_cursor_eligible
				GET $P/milestones/?paginate=cursor -> 400 code=ordering_not_cursor_eligible`,
		},
		{
			of: "list", mark: "T", asked: "List with `?count=false`.", answer: "`total_count` is left out.",
			why: noParam, steps: `GET $P/states/?count=false -> 501`,
		},
		{
			of: "list", mark: "N", asked: "List and read with `?fields=name`.", answer: "Rows have these fields and `id`.",
			steps: `
				GET $P/states/?fields=name -> 200 +data.0.id; +data.0.name; -data.0.color
				GET $P/states/$todo/?fields=name -> 200 +id; name=Todo; -color`,
		},
		{
			of: "list", mark: "N", asked: "Read a work item with `?expand=state`.", answer: "`state` comes beside `state_id`, with `id` and `name`.",
			why: noParam, steps: `GET $P/work-items/$item/?expand=state -> 501`,
		},
		{
			of: "path", mark: "N", asked: "Name a project in a path by its identifier.", answer: "The same rows as by its ID.",
			steps: `
				GET $W/projects/WEB/states/ -> 200 total_count=5; ~$todo
				GET $W/projects/WEB/work-items/$item/ -> 200 id=$item`,
		},
		{
			of: "error", mark: "N", asked: "Read a record that is not there.", answer: "404 `not_found`.",
			steps: `
				GET $P/states/$nobody/ -> 404 code=not_found; +detail
				GET $P/labels/$nobody/ -> 404 code=not_found
				GET $P/work-items/$nobody/ -> 404 code=not_found`,
		},
		{
			of: "error", mark: "N", asked: "Send a name of 300 letters.", answer: "400, with `name` (of a milestone `title`) in `errors[].field`.",
			steps: `
				POST $W/views/ {"name":"$long"} -> 400 errors.0.field=name
				POST $P/states/bulk-create/ {"items":[{"name":"$long","color":"#ffffff"}]} -> 200 results.0.type=invalid_request; results.0.errors.0.field=name
				POST $P/work-items/bulk-create/ {"items":[{"name":"$long"}]} -> 200 results.0.errors.0.field=name
				POST $P/milestones/bulk-create/ {"items":[{"title":"$long"}]} -> 200 results.0.errors.0.field=title`,
		},
		{
			of: "error", mark: "T", asked: "Leave out a name that is required.", answer: "400, with `name` in `errors[].field`.",
			steps: `
				POST $P/work-items/bulk-create/ {"items":[{}]} -> 200 results.0.type=invalid_request; results.0.errors.0.field=name
				POST $W/pages/ {} -> 400 errors.0.field=name`,
		},
		{
			of: "error", mark: "N", asked: "Send both forms of a field, such as `state` and `state_id`.", answer: "400.",
			steps: `
				POST $P/work-items/bulk-create/ {"items":[{"name":"A","state":"Todo","state_id":"$todo"}]} -> 200 results.0.type=invalid_request; results.0.errors.0.field=state
				POST $P/work-items/bulk-create/ {"items":[{"name":"A","parent":"WEB-1","parent_id":"$item"}]} -> 200 results.0.errors.0.field=parent`,
		},

		// Batches, upsert, members.
		{
			of: "batch", mark: "N", asked: "Create one good and one bad row with `all_or_none`.",
			answer: "409 `batch_failed`, and the good row is not there.",
			steps: `
				POST $P/labels/bulk-create/ {"items":[{"name":"good"},{"name":"bug"}],"all_or_none":true} -> 409 code=batch_failed
				GET $P/labels/ -> 200 !good`,
		},
		{
			of: "batch", mark: "N", asked: "Create one good and one bad row without it.",
			answer: "200. The failed row has `index`, `code` (such as `conflict`) and `detail`, and no `id`.",
			steps:  `POST $P/labels/bulk-create/ {"items":[{"name":"good"},{"name":"bug"}]} -> 200 succeeded=1; failed=1; results.0.result=created; +results.0.id; results.1.result=failed; results.1.index=1; results.1.code=conflict; +results.1.detail; -results.1.id`,
		},
		{
			of: "batch", mark: "N", asked: "Change a row whose ID is not there.", answer: "This row fails. The others are `updated`.",
			steps: `POST $P/states/bulk-update/ {"items":[{"id":"$todo","name":"To do"},{"id":"$nobody","name":"x"}]} -> 200 succeeded=1; failed=1; results.0.result=updated; +results.1.code`,
		},
		{
			of: "batch", mark: "N", asked: "Delete a row whose ID is not there.", answer: "This row fails. The others are `deleted`.",
			steps: `
				POST $P/labels/bulk-create/ {"items":[{"name":"x"}]} -> 200 results.0.id>X
				POST $P/labels/bulk-delete/ {"ids":["$X","$nobody"]} -> 200 succeeded=1; failed=1; results.0.result=deleted; +results.1.code`,
		},
		{
			of: "batch", mark: "T", asked: "Send an empty batch, or one of 51 rows.", answer: "400. A batch has 1 to 50 rows.",
			steps: `
				POST $P/labels/bulk-create/ {"items":[]} -> 400
				POST $P/labels/bulk-update/ {"items":[]} -> 400
				POST $P/labels/bulk-delete/ {"ids":[]} -> 400
				POST $P/labels/bulk-create/ {"items":[$many]} -> 400`,
		},
		{
			of: "batch", mark: "N", asked: "Write states, labels, cycles, modules, milestones, estimate points, work items and comments in batches.",
			answer: "They have create, update and delete for many.",
			steps: `
				POST $P/states/bulk-create/ {"items":[{"name":"x","color":"#ffffff"}]} -> 200 succeeded=1
				POST $P/labels/bulk-create/ {"items":[{"name":"x"}]} -> 200 succeeded=1
				POST $P/cycles/bulk-create/ {"items":[{"name":"x"}]} -> 200 succeeded=1
				POST $P/modules/bulk-create/ {"items":[{"name":"x"}]} -> 200 succeeded=1
				POST $P/milestones/bulk-create/ {"items":[{"title":"x"}]} -> 200 succeeded=1; results.0.id>X
				POST $P/milestones/bulk-update/ {"items":[{"id":"$X","title":"y"}]} -> 200 succeeded=1
				POST $P/milestones/bulk-delete/ {"ids":["$X"]} -> 200 succeeded=1
				POST $P/estimates/$estimate/points/bulk-create/ {"items":[{"value":"x","key":9}]} -> 200 succeeded=1
				POST $P/work-items/bulk-create/ {"items":[{"name":"x"}]} -> 200 succeeded=1
				POST $P/work-items/$item/comments/bulk-create/ {"items":[{"comment_html":"<p>x</p>"}]} -> 200 succeeded=1`,
		},
		{
			of: "batch", mark: "N", asked: "Write estimates and projects in batches.", answer: "Both can be created and changed so; projects are not deleted so.",
			why: byV1, steps: `
				POST $P/estimates/bulk-create/ {"items":[{"name":"x"}]} -> 501
				POST $W/projects/bulk-create/ {"items":[{"name":"x","identifier":"X"}]} -> 501`,
		},
		{
			of: "batch", mark: "T", asked: "Write releases in a batch, or by upsert.", answer: "There is no such operation.",
			steps: released + `
				POST $W/releases/bulk-create/ {"items":[{"name":"x"}]} -> 404
				POST $W/releases/upsert/ {"name":"x"} -> 404`,
		},
		{
			of: "upsert", mark: "N", asked: "Upsert the same external pair twice.", answer: "The same ID, the new name, and one row in the list.",
			why: noUpsert, steps: `
				POST $P/states/upsert/ {"name":"x","color":"#ffffff","external_source":"s","external_id":"1"} -> 501
				POST $P/work-items/upsert/ {"name":"x","external_source":"s","external_id":"1"} -> 501
				POST $P/work-items/$item/comments/upsert/ {"comment_html":"x"} -> 501`,
		},
		{
			of: "upsert", mark: "T", asked: "Upsert customers and projects.", answer: "As for other records.",
			why: noUpsert, steps: `
				POST $W/customers/upsert/ {"name":"x"} -> 501
				POST $W/projects/upsert/ {"name":"x"} -> 501`,
		},
		{
			of: "members", mark: "N", asked: "Add and remove work items of cycles, modules and milestones.", answer: "`added` and `removed` name the IDs that changed.",
			steps: `
				POST $P/milestones/bulk-create/ {"items":[{"title":"x"}]} -> 200 results.0.id>X
				POST $P/milestones/$X/work-items/ {"add":["$item"]} -> 200 added.0=$item; -removed.0
				POST $P/milestones/$X/work-items/ {"remove":["$item"]} -> 200 removed.0=$item
				POST $P/cycles/$cycle/work-items/ {"add":["$item"]} -> 200 added.0=$item
				POST $P/cycles/$cycle/work-items/ {"remove":["$item"]} -> 200 removed.0=$item
				POST $P/modules/$module/work-items/ {"add":["$item"]} -> 200 added.0=$item
				POST $P/modules/$module/work-items/ {"remove":["$item"]} -> 200 removed.0=$item`,
		},

		// Gates.
		{
			of: "gate", mark: "N", asked: "Use what the plan lacks: releases, workflows, relation definitions, templates, types.", answer: "402.",
			opts: Options{Quirks: Quirks{Unpaid: []string{"releases", "workflows", "work-item-relation-definitions", "work-item-templates", "work-item-types"}}},
			steps: `
				GET $W/releases/ -> 402 type=payment_required
				POST $W/releases/ {"name":"x"} -> 402
				POST $P/workflows/ {"name":"x"} -> 402
				POST $W/work-item-relation-definitions/ {"name":"x","outward":"a","inward":"b"} -> 402
				POST $P/work-item-templates/ {"name":"x","template_data":{}} -> 402
				POST $W/work-item-types/ {"name":"x"} -> 402`,
		},
		{
			of: "gate", mark: "T", asked: "Use group sync if the plan lacks it.", answer: "402.", why: noKind, steps: `GET $W/group-sync/config/ -> 501`,
		},
		{
			of: "gate", mark: "L", asked: "Create an intake item if the project has its intake off.", answer: "400.",
			steps: `POST $P/intake-issues/ {"name":"x"} -> 400`,
		},
		{
			of: "gate", mark: "L", asked: "Log work if the project tracks no time.", answer: "400 or 404.",
			why: noKind, steps: `POST $P/work-items/$item/worklogs/ {"duration":30} -> 501`,
		},
		{
			of: "gate", mark: "N", asked: "Create a release if the workspace has releases off.", answer: "403.",
			steps: `POST $W/releases/ {"name":"x"} -> 403 type=forbidden`,
		},
		{
			of: "gate", mark: "U", asked: "Use customers or teamspaces if the workspace has them off.", answer: "403 or 404.",
			why: byV1, steps: `
				POST $W/customers/ {"name":"x"} -> 501
				POST $W/teamspaces/ {"name":"x"} -> 501`,
		},

		// Projects, names, estimates.
		{
			of: "project", mark: "L", asked: "Create a project whose identifier has more than 10 characters.", answer: "400.",
			why: "planform creates projects by API v1, and warns of such an identifier", steps: `POST $W/projects/ {"name":"x","identifier":"ABCDEFGHIJK"} -> 501`,
		},
		{
			of: "project", mark: "L", asked: "What does a new project have?", answer: "Five states, Todo and In Progress among them, no labels, and its creator as member.",
			steps: `
				POST $V1/projects/ {"name":"New","identifier":"NEW"} -> 201 id>X
				GET $W/projects/$X/states/ -> 200 total_count=5; ~Todo; ~In Progress
				GET $W/projects/$X/labels/ -> 200 total_count=0
				GET $W/projects/$X/members/ -> 200 total_count=1; data.0.member_id=$ada`,
		},
		{
			of: "project", mark: "L", asked: "Create a project with the name of another one.", answer: "409.",
			why: byV1, steps: `POST $W/projects/ {"name":"Website","identifier":"X"} -> 501`,
		},
		{
			of: "project", mark: "T", asked: "Archive and restore a project.", answer: "No body. A read of an archived project works and shows `archived_at`.",
			why: byV1, steps: `
				POST $W/projects/$web/archive/ -> 501
				POST $W/projects/$web/unarchive/ -> 501`,
		},
		{
			of: "project", mark: "T", asked: "Read its summary with `?counts=states`.", answer: "This count only.",
			why: byV1, steps: `GET $W/projects/$web/summary/?counts=states -> 501`,
		},
		{
			of: "names", mark: "L", asked: "Create states, and labels, named `abc` and `ABC`.", answer: "Both are taken: names are unique with their case.",
			steps: `
				POST $P/states/bulk-create/ {"items":[{"name":"abc","color":"#ffffff"},{"name":"ABC","color":"#ffffff"}]} -> 200 succeeded=2
				POST $P/labels/bulk-create/ {"items":[{"name":"abc"},{"name":"ABC"},{"name":"abc"}]} -> 200 succeeded=2; results.2.code=conflict`,
		},
		{
			of: "names", mark: "L", asked: "List them with `?name=abc`.", answer: "Both come: a name is found in any case.",
			why: readsWhole, steps: `GET $P/states/?name=abc -> 501`,
		},
		{
			of: "estimate", mark: "N", asked: "Create a second estimate in a project.", answer: "409 `An estimate already exists for this project.`",
			why: byV1, steps: `
				POST $P/estimates/ {"name":"x"} -> 501
				POST $V1/projects/$web/estimates/ {"name":"x"} -> 409`,
		},
		{
			of: "estimate", mark: "N", asked: "Read an estimate with `?expand=points`.", answer: "Its points are in it.",
			why: byV1, steps: `GET $P/estimates/$estimate/?expand=points -> 501`,
		},
		{
			of: "external ID", mark: "N", asked: "Create a second work item, state or label with the same pair of source and ID.",
			answer: "Refused: the ID is unique in its source. With which status, nobody says (here 409).",
			steps: `
				POST $P/work-items/bulk-create/ {"items":[{"name":"a","external_source":"s","external_id":"1"},{"name":"b","external_source":"s","external_id":"1"},{"name":"c","external_source":"t","external_id":"1"}]} -> 200 succeeded=2; results.1.code=conflict
				POST $P/states/bulk-create/ {"items":[{"name":"a","color":"#ffffff","external_source":"s","external_id":"1"},{"name":"b","color":"#ffffff","external_source":"s","external_id":"1"}]} -> 200 succeeded=1
				POST $P/labels/bulk-create/ {"items":[{"name":"a","external_source":"s","external_id":"1"},{"name":"b","external_source":"s","external_id":"1"}]} -> 200 succeeded=1`,
		},

		// Work items.
		{
			of: "work item", mark: "N", asked: "Create a work item.", answer: "It has a `sequence_id` above 0 and an `identifier` such as `WEB-2`.",
			steps: `
				POST $P/work-items/bulk-create/ {"items":[{"name":"A"}]} -> 200 results.0.id>X
				GET $P/work-items/$X/ -> 200 name=A; sequence_id=2; identifier=WEB-2`,
		},
		{
			of: "work item", mark: "N", asked: "Create one alone, by a request of its own.", answer: "201, with the row.",
			why: "planform creates them in batches or by API v1", steps: `POST $P/work-items/ {"name":"A"} -> 501`,
		},
		{
			of: "work item", mark: "N", asked: "Name state, labels, type and parent by their names.", answer: "They are taken, and their IDs come back.",
			why: byIDs, steps: `POST $P/work-items/bulk-create/ {"items":[{"name":"A","labels":["bug"]}]} -> 200 results.0.type=not_implemented
				GET $P/work-items/?state=Todo -> 501`,
		},
		{
			of: "work item", mark: "N", asked: "Create one with `custom_fields`, by the slug of a text field.", answer: "The value is stored, and read as `custom_fields[slug].value`.",
			steps: severity + `
				POST $P/work-items/bulk-create/ {"items":[{"name":"A","type_id":"$story","custom_fields":{"severity":"high"}}]} -> 200 succeeded=1; results.0.id>Z
				GET $P/work-items/$Z/ -> 200 custom_fields.severity.value=high`,
		},
		{
			of: "work item", mark: "N", asked: "Give a field of the type option the ID of an option.", answer: "It is stored. `value_detail.name` is the option's name.",
			steps: severity + `
				POST $P/work-items/bulk-create/ {"items":[{"name":"A","type_id":"$story","custom_fields":{"tier":"$X"}}]} -> 200 succeeded=1; results.0.id>Z
				GET $P/work-items/$Z/ -> 200 custom_fields.tier.value=$X; custom_fields.tier.value_detail.name=Gold`,
		},
		{
			of: "work item", mark: "N", asked: "Create one with `cycle_id`.", answer: "It is in the cycle.",
			steps: `
				POST $P/work-items/bulk-create/ {"items":[{"name":"A","cycle_id":"$cycle"}]} -> 200 succeeded=1; results.0.id>X
				GET $P/work-items/$X/ -> 200 cycle_id=$cycle`,
		},
		{
			of: "work item", mark: "L", asked: "Create one with the `cycle_id` of a cycle that is over.", answer: "400 for `cycle_id`: the cycle is completed.",
			steps: `
				POST $P/cycles/bulk-create/ {"items":[{"name":"Old","start_date":"2020-01-01","end_date":"2020-01-31"}]} -> 200 results.0.id>X
				POST $P/work-items/bulk-create/ {"items":[{"name":"A","cycle_id":"$X"}]} -> 200 failed=1; results.0.type=invalid_request; results.0.errors.0.field=cycle_id`,
		},
		{
			of: "work item", mark: "N", asked: "Read one by its key at the workspace.", answer: "The row. 404 for an unknown key.",
			why: byV1, steps: `GET $W/work-items/WEB-999999/ -> 501`,
		},
		{
			of: "work item", mark: "T", asked: "What does a read by the key show?", answer: "`cycle_id` and `module_ids` too.",
			why: byV1, steps: `GET $W/work-items/WEB-1/ -> 501`,
		},
		{
			of: "work item", mark: "N", asked: "Filter a list by the external pair, or by `cycle_id`.", answer: "The rows that have it.",
			why: readsWhole, steps: `
				GET $P/work-items/?external_source=s&external_id=1 -> 501
				GET $P/work-items/?cycle_id=$cycle -> 501`,
		},
		{
			of: "work item", mark: "N", asked: "List those of all projects.", answer: "The list of the workspace has them.",
			why: "planform reads project by project", steps: `GET $W/work-items/?project_id=$web -> 501`,
		},
		{
			of: "work item", mark: "T", asked: "Archive one that is neither completed nor cancelled.", answer: "Refused. After it is completed, 200, and `unarchive` clears `archived_at`.",
			steps: `
				POST $P/work-items/$item/archive/ -> 400
				POST $P/work-items/bulk-update/ {"items":[{"id":"$item","state_id":"$done"}]} -> 200 succeeded=1
				POST $P/work-items/$item/archive/ -> 200 +archived_at
				POST $P/work-items/$item/unarchive/ -> 200 archived_at=<nil>`,
		},
		{
			of: "work item", mark: "N", asked: "Archive a fresh one in the default state.", answer: "200. The two suites disagree: the sandbox can answer either way.",
			opts:  Options{Quirks: Quirks{ArchiveOpen: true}},
			steps: `POST $P/work-items/$item/archive/ -> 200 +archived_at`,
		},
		{
			of: "work item", mark: "L", asked: "Delete one.", answer: "At times 403 for a moment, then 404.",
			why: "it is for a moment only; the tests of planform's deletes play it",
		},

		// Cycles, modules, milestones.
		{
			of: "cycle, module, milestone", mark: "N", asked: "Create each with a name alone (a milestone with a `title`).", answer: "That is enough.",
			steps: `
				POST $P/cycles/bulk-create/ {"items":[{"name":"x"}]} -> 200 succeeded=1
				POST $P/modules/bulk-create/ {"items":[{"name":"x"}]} -> 200 succeeded=1
				POST $P/milestones/bulk-create/ {"items":[{"title":"x"}]} -> 200 succeeded=1`,
		},
		{
			of: "cycle", mark: "T", asked: "Give its dates as moments.", answer: "They are taken.",
			steps: `POST $P/cycles/bulk-create/ {"items":[{"name":"x","start_date":"2031-01-01T00:00:00Z","end_date":"2031-02-01T10:00:00Z"}]} -> 200 succeeded=1`,
		},
		{
			of: "cycle", mark: "T", asked: "Add work items to one whose `end_date` is past.", answer: "Refused. Add them first, and move the dates back then.",
			steps: `
				POST $P/cycles/bulk-create/ {"items":[{"name":"Old"}]} -> 200 results.0.id>X
				POST $P/cycles/$X/work-items/ {"add":["$item"]} -> 200 added.0=$item
				POST $P/cycles/bulk-update/ {"items":[{"id":"$X","start_date":"2020-01-01","end_date":"2020-01-31"}]} -> 200 succeeded=1
				POST $V1/projects/$web/work-items/ {"name":"b"} -> 201 id>Y
				POST $P/cycles/$X/work-items/ {"add":["$Y"]} -> 400
				GET $P/work-items/$item/ -> 200 cycle_id=$X`,
		},
		{
			of: "cycle", mark: "T", asked: "Transfer what is left of a cycle.", answer: "From a completed cycle only.",
			why: noKind, steps: `POST $P/cycles/$cycle/transfer/ {"new_cycle_id":"$cycle"} -> 501`,
		},

		// Workflows.
		{
			of: "workflow", mark: "N", asked: "Attach states to one.", answer: "An array of memberships, each with its own `id` and a `state_id`.",
			steps: `
				PATCH $P/features/ {"is_workflow_enabled":true} -> 200
				POST $P/workflows/ {"name":"x"} -> 201 id>X
				POST $P/workflows/$X/states/ {"state_ids":["$todo","$done"]} -> 201 0.state_id=$todo; 1.state_id=$done; +0.id`,
		},
		{
			of: "workflow", mark: "N", asked: "Change and delete a state of one.", answer: "By the ID of the membership.",
			steps: `
				PATCH $P/features/ {"is_workflow_enabled":true} -> 200
				POST $P/workflows/ {"name":"x"} -> 201 id>X
				POST $P/workflows/$X/states/ {"state_ids":["$todo"]} -> 201 0.id>Y
				PATCH $P/workflows/$X/states/$Y/ {"allow_issue_creation":true} -> 200 allow_issue_creation=true
				DELETE $P/workflows/$X/states/$todo/ -> 404
				DELETE $P/workflows/$X/states/$Y/ -> 204`,
		},
		{
			of: "workflow", mark: "N", asked: "Create a transition.", answer: "The body names states of the project. The row has the membership as `workflow_state_id`.",
			steps: `
				PATCH $P/features/ {"is_workflow_enabled":true} -> 200
				POST $P/workflows/ {"name":"x"} -> 201 id>X
				POST $P/workflows/$X/states/ {"state_ids":["$todo","$done"]} -> 201 0.id>Y
				POST $P/workflows/$X/state-transitions/ {"state_id":"$todo","transition_state_id":"$done"} -> 201 workflow_state_id=$Y; transition_state_id=$done`,
		},
		{
			of: "workflow", mark: "T", asked: "Change `required_approvals` of a transition.", answer: "It is taken.",
			steps: `
				PATCH $P/features/ {"is_workflow_enabled":true} -> 200
				POST $P/workflows/ {"name":"x"} -> 201 id>X
				POST $P/workflows/$X/states/ {"state_ids":["$todo","$done"]} -> 201
				POST $P/workflows/$X/state-transitions/ {"state_id":"$todo","transition_state_id":"$done"} -> 201 id>Y
				PATCH $P/workflows/$X/state-transitions/$Y/ {"required_approvals":1} -> 200 required_approvals=1`,
		},
		{
			of: "workflow", mark: "N", asked: "Create one if the project has workflows off.", answer: "Refused (here 400).",
			steps: `POST $P/workflows/ {"name":"x"} -> 400`,
		},
		{
			of: "workflow", mark: "N", asked: "List those of a project that just switched them on.", answer: "None. `is_default` is read-only.",
			steps: `
				PATCH $P/features/ {"is_workflow_enabled":true} -> 200
				GET $P/workflows/ -> 200 total_count=0
				POST $P/workflows/ {"name":"x","is_default":true} -> 201 is_default=false`,
		},

		// Types and properties.
		{
			of: "type", mark: "N", asked: "Enable types in a project.", answer: "The default type, never the epic one, which is made beside it. It can be repeated.",
			why: byV1, steps: `POST $P/work-item-types/enable/ -> 501`,
		},
		{
			of: "type", mark: "N", asked: "Mark a type as the default.", answer: "200, `is_default: true`.",
			why: noKind, steps: `
				POST $P/work-item-types/$story/mark-default/ -> 501
				POST $W/work-item-types/$story/mark-default/ -> 501`,
		},
		{
			of: "type", mark: "L", asked: "Delete the default type.", answer: "409.", opts: governed,
			steps: `
				DELETE $W/work-item-types/$default/ -> 409 code=conflict
				POST $W/work-item-types/ {"name":"x"} -> 201 id>X
				DELETE $W/work-item-types/$X/ -> 204`,
		},
		{
			of: "type", mark: "N", asked: "Read the schema of a type.", answer: "`fields` and `custom_fields`.",
			why: noKind, steps: `GET $P/work-item-types/$story/schema/ -> 501`,
		},
		{
			of: "type", mark: "N", asked: "Write types of the workspace while projects manage them.", answer: "409 `work_item_types_managed_at_project`.",
			steps: `
				POST $W/work-item-types/ {"name":"x"} -> 409 code=work_item_types_managed_at_project
				POST $W/work-item-properties/ {"display_name":"x","property_type":"TEXT"} -> 409 code=work_item_types_managed_at_project
				POST $P/work-item-types/import/ {"work_item_types":["$story"]} -> 409 code=work_item_types_managed_at_project`,
		},
		{
			of: "type", mark: "N", asked: "Write types of a project while the workspace manages them.", answer: "409 `work_item_types_managed_at_workspace`.",
			why: byV1, steps: `POST $P/work-item-types/ {"name":"x"} -> 501`,
		},
		{
			of: "type", mark: "N", asked: "Import a type of the workspace into a project.", answer: "The project lists it.", opts: governed,
			steps: `
				POST $W/work-item-types/ {"name":"Incident"} -> 201 id>X
				POST $P/work-item-types/import/ {"work_item_types":["$X"]} -> 200
				GET $P/work-item-types/ -> 200 ~$X`,
		},
		{
			of: "type", mark: "N", asked: "What does a workspace have that manages types?", answer: "A default type, which every project has.", opts: governed,
			steps: `
				GET $W/work-item-types/ -> 200 data.0.is_default=true
				GET $P/work-item-types/ -> 200 ~$default
				GET $W/projects/$ops/work-item-types/ -> 200 ~$default`,
		},
		{
			of: "property", mark: "N", asked: "Link properties to a type, and unlink one.", answer: "`properties` names them. Then it is in no list.", opts: governed,
			steps: `
				POST $W/work-item-types/ {"name":"Incident"} -> 201 id>X
				POST $W/work-item-properties/ {"display_name":"Size","property_type":"TEXT"} -> 201 id>Y; name=size
				POST $W/work-item-types/$X/properties/ {"properties":["$Y"]} -> 201 properties.0=$Y
				GET $W/work-item-types/$X/properties/ -> 200 ~$Y
				DELETE $W/work-item-types/$X/properties/$Y/ -> 204
				GET $W/work-item-types/$X/properties/ -> 200 !$Y`,
		},
		{
			of: "property", mark: "T", asked: "Create one of the type option with its options.", answer: "They are made with it.",
			why: "planform creates options one by one", opts: governed,
			steps: `POST $W/work-item-properties/ {"display_name":"Tier","property_type":"OPTION","options":[{"name":"Gold"}]} -> 501`,
		},
		{
			of: "property", mark: "T", asked: "Give it a second option with `is_default`.", answer: "400.", opts: governed,
			steps: `
				POST $W/work-item-properties/ {"display_name":"Tier","property_type":"OPTION"} -> 201 id>X
				POST $W/work-item-properties/$X/options/ {"name":"Gold","is_default":true} -> 201
				POST $W/work-item-properties/$X/options/ {"name":"Iron","is_default":true} -> 400 errors.0.field=is_default
				POST $W/work-item-properties/$X/options/ {"name":"Iron"} -> 201 id>Y
				PATCH $W/work-item-properties/$X/options/$Y/ {"is_default":true} -> 400`,
		},
		{
			of: "property", mark: "N", asked: "Where do the options of a property of the workspace stand?", answer: "In its context, `options: [{name, is_default}]`.",
			why: noContexts, steps: `POST $W/work-item-properties/$nobody/contexts/ {"name":"x","options":[{"name":"Gold"}]} -> 501`,
		},
		{
			of: "property", mark: "L", asked: "What context does a new property of the workspace have?", answer: "`Default`, for everything.",
			why: noContexts, steps: `GET $W/work-item-properties/$nobody/contexts/ -> 501`,
		},
		{
			of: "property", mark: "L", asked: "Create a context without a name.", answer: "500: it clashes with `Default`.",
			why: noContexts, steps: `POST $W/work-item-properties/$nobody/contexts/ {"applies_to_all_projects":true} -> 501`,
		},
		{
			of: "property", mark: "L", asked: "Create a context without `issue_type_ids`.", answer: "Refused, unless it applies to all types.",
			why: noContexts, steps: `POST $W/work-item-properties/$nobody/contexts/ {"name":"x"} -> 501`,
		},
		{
			of: "features", mark: "N", asked: "Switch `is_epic_enabled` on in a project while the workspace manages types.", answer: "200, and it is false.", opts: governed,
			steps: `PATCH $P/features/ {"is_epic_enabled":true,"is_milestone_enabled":true} -> 200 is_epic_enabled=false; is_milestone_enabled=true`,
		},
		{
			of: "features", mark: "N", asked: "Switch it on while projects manage types.", answer: "It is on.",
			steps: `PATCH $P/features/ {"is_epic_enabled":true} -> 200 is_epic_enabled=true`,
		},
		{
			of: "features", mark: "T", asked: "Read the features of a project.", answer: "The switches, and no `id`.",
			steps: `GET $P/features/ -> 200 -id; is_milestone_enabled=false`,
		},
		{
			of: "features", mark: "N", asked: "Switch a feature of the workspace off and on.", answer: "Each answer shows it.",
			steps: `
				PATCH $W/features/ {"is_wiki_enabled":false} -> 200 is_wiki_enabled=false
				PATCH $W/features/ {"is_wiki_enabled":true} -> 200 is_wiki_enabled=true`,
		},

		// Relations.
		{
			of: "relation", mark: "N", asked: "List the relations of an item that has none.", answer: "An object with every word, each with an empty list. No page.",
			steps: `GET $P/work-items/$item/relations/ -> 200 relates to=[]; -data`,
		},
		{
			of: "relation", mark: "N", asked: "Which definitions does every workspace have?", answer: "`Relates to` among them, `is_default`.",
			steps: `GET $W/work-item-relation-definitions/ -> 200 ~"Relates to"; data.0.is_default=true`,
		},
		{
			of: "relation", mark: "N", asked: "Relate two items.", answer: "The same object as the list, with the new ID.",
			steps: twoItems + `
				POST $P/work-items/$item/relations/ {"direction":"relates to","relation_definition_id":"$relates","work_item_ids":["$X"]} -> 201 relates to=[$X]
				GET $P/work-items/$item/relations/ -> 200 relates to=[$X]`,
		},
		{
			of: "relation", mark: "N", asked: "Delete a relation.", answer: "By the ID of the other item.",
			steps: twoItems + `
				POST $P/work-items/$item/relations/ {"direction":"relates to","relation_definition_id":"$relates","work_item_ids":["$X"]} -> 201
				DELETE $P/work-items/$item/relations/$X/ -> 204
				GET $P/work-items/$item/relations/ -> 200 relates to=[]`,
		},
		{
			of: "relation", mark: "N", asked: "Change a definition that every workspace has.", answer: "Refused (here 400).",
			steps: `PATCH $W/work-item-relation-definitions/$relates/ {"color":"#000000"} -> 400`,
		},
		{
			of: "relation", mark: "N", asked: "Create a definition.", answer: "Its row says `is_default: false`.",
			steps: `POST $W/work-item-relation-definitions/ {"name":"x","outward":"a","inward":"b"} -> 201 is_default=false`,
		},
		{
			of: "dependency", mark: "N", asked: "List, create and delete dependencies.", answer: "Six fixed keys with lists. `{relation_type, work_item_ids}` adds, the other item's ID deletes.",
			why: byV1, steps: `
				GET $P/work-items/$item/dependencies/ -> 501
				POST $P/work-items/$item/dependencies/ {"relation_type":"blocking","work_item_ids":["$item"]} -> 501
				DELETE $P/work-items/$item/dependencies/$item/ -> 501`,
		},

		// What work items have.
		{
			of: "attachment", mark: "L", asked: "Create one.", answer: "`asset_id`, `asset_url`, `upload_data` and `attachment`. After the upload, `PATCH {is_uploaded: true}`.",
			why: byV1, steps: `POST $P/work-items/$item/attachments/ {"name":"a","size":1} -> 501`,
		},
		{
			of: "asset", mark: "L", asked: "Create an asset of the workspace.", answer: "The same with `asset`. `asset_url` may be null.",
			why: noKind, steps: `POST $W/assets/ {"name":"a","size":1} -> 501`,
		},
		{
			of: "comment", mark: "N", asked: "Create a comment of `<p>hello</p>`.", answer: "`comment_stripped` is `hello`.",
			steps: `
				POST $P/work-items/$item/comments/bulk-create/ {"items":[{"comment_html":"<p>hello</p>"}]} -> 200 results.0.id>X
				GET $P/work-items/$item/comments/$X/ -> 200 comment_html=<p>hello</p>; comment_stripped=hello
				POST $P/work-items/$item/comments/bulk-delete/ {"ids":["$X"]} -> 200 succeeded=1
				GET $P/work-items/$item/comments/$X/ -> 404`,
		},
		{
			of: "link", mark: "N", asked: "Create, read, change and delete a link.", answer: "As any record.",
			why: byV1, steps: `POST $P/work-items/$item/links/ {"url":"https://example.com"} -> 501`,
		},
		{
			of: "worklog", mark: "N", asked: "Create, read, change and delete a worklog.", answer: "As any record, with `duration` and `description`.",
			why: noKind, steps: `GET $P/work-items/$item/worklogs/ -> 501`,
		},
		{
			of: "activity", mark: "N", asked: "List what happened to an item.", answer: "Its creation is in it.",
			why: byV1, steps: `GET $P/work-items/$item/activities/ -> 501`,
		},

		// Views, templates, releases, intake.
		{
			of: "view", mark: "N", asked: "Create a view with a name alone, and lock it.", answer: "Both are taken.",
			steps: `
				POST $P/views/ {"name":"x"} -> 201 id>X
				PATCH $P/views/$X/ {"is_locked":true} -> 200 is_locked=true
				DELETE $P/views/$X/ -> 204`,
		},
		{
			of: "view", mark: "N", asked: "List views of the workspace and of a project.", answer: "Neither is in the list of the other.",
			steps: `
				POST $W/views/ {"name":"x"} -> 201 id>X
				GET $W/views/ -> 200 ~$X
				GET $P/views/ -> 200 !$X`,
		},
		{
			of: "view", mark: "N", asked: "List views with `?search=`.", answer: "Those that match.", why: readsWhole, steps: `GET $W/views/?search=x -> 501`,
		},
		{
			of: "template", mark: "N", asked: "Create a template with a name in `template_data`, then publish it.", answer: "Both are taken.",
			steps: `
				POST $P/work-item-templates/ {"name":"x","template_data":{"name":"y"}} -> 201 id>X
				PATCH $P/work-item-templates/$X/ {"is_published":true} -> 200 is_published=true; template_data.name=y`,
		},
		{
			of: "template", mark: "N", asked: "Use a template with another name.", answer: "A work item with this name.",
			why: noKind, steps: `POST $P/work-item-templates/$nobody/use/ {"name":"x"} -> 501`,
		},
		{
			of: "release", mark: "N", asked: "Create a release with a name alone.", answer: "Its status is `unreleased`.",
			steps: released + `
				POST $W/releases/ {"name":"x"} -> 201 status=unreleased`,
		},
		{
			of: "release", mark: "N", asked: "Add and remove a label of a release.", answer: "`added` and `removed`, and `label_ids` of the row.",
			steps: released + `
				POST $W/releases/ {"name":"x"} -> 201 id>X
				POST $W/releases/labels/ {"name":"x"} -> 201 id>Y
				POST $W/releases/$X/labels/ {"add":["$Y"]} -> 200 added.0=$Y
				GET $W/releases/$X/ -> 200 label_ids.0=$Y
				POST $W/releases/$X/labels/ {"remove":["$Y"]} -> 200 removed.0=$Y
				GET $W/releases/$X/ -> 200 -label_ids.0`,
		},
		{
			of: "release", mark: "N", asked: "Add a work item to a release.", answer: "`added` names it.",
			steps: released + `
				POST $W/releases/ {"name":"x"} -> 201 id>X
				POST $W/releases/$X/work-items/ {"add":["$item"]} -> 200 added.0=$item`,
		},
		{
			of: "release", mark: "N", asked: "Read the changelog of a new release, and change it.", answer: "It is there, and takes the text.",
			steps: released + `
				POST $W/releases/ {"name":"x"} -> 201 id>X
				GET $W/releases/$X/changelog/ -> 200 +id; release_id=$X
				PATCH $W/releases/$X/changelog/ {"description_html":"<p>notes</p>"} -> 200 description_html=<p>notes</p>`,
		},
		{
			of: "release", mark: "N", asked: "Create, change and delete a link of a release.", answer: "As any record.",
			steps: released + `
				POST $W/releases/ {"name":"x"} -> 201 id>X
				POST $W/releases/$X/links/ {"title":"x","url":"https://example.com/a"} -> 201 id>Y
				PATCH $W/releases/$X/links/$Y/ {"url":"https://example.com/b"} -> 200 url=https://example.com/b
				DELETE $W/releases/$X/links/$Y/ -> 204`,
		},
		{
			of: "release", mark: "N", asked: "Comment on a release.", answer: "As any record, with `is_resolved`.",
			why: noKind, steps: `POST $W/releases/$nobody/comments/ {"comment_html":"x"} -> 501`,
		},
		{
			of: "release", mark: "L", asked: "List releases with `?name=`.", answer: "Those with the name.", why: readsWhole, steps: released + `
				GET $W/releases/?name=x -> 501`,
		},
		{
			of: "release", mark: "L", asked: "Read a tag at `version:` and its version.", answer: "404.",
			steps: released + `
				POST $W/releases/tags/ {"version":"1.0"} -> 201
				GET $W/releases/tags/version:1.0/ -> 404`,
		},
		{
			of: "intake", mark: "N", asked: "Create an intake item, accept it, and delete it.",
			answer: "`status` is -2 at first, and there is a `work_item_id`. `PATCH {status: 1}` accepts. Then a read is an error.",
			steps: `
				PATCH $V1/projects/$web/ {"intake_view":true} -> 200
				POST $P/intake-issues/ {"name":"x"} -> 201 status=-2; +work_item_id; id>X
				PATCH $P/intake-issues/$X/ {"status":1} -> 200 status=1
				DELETE $P/intake-issues/$X/ -> 204
				GET $P/intake-issues/$X/ -> 404`,
		},

		// People, and what belongs to the workspace.
		{
			of: "member", mark: "N", asked: "Add somebody to a project, change the role, remove the membership.", answer: "Each is taken.",
			steps: `
				POST $W/projects/$ops/members/ {"member_id":"$bob","role":"contributor"} -> 201 member_id=$bob; id>X
				PATCH $W/projects/$ops/members/$X/ {"role":"admin"} -> 200 role=admin
				DELETE $W/projects/$ops/members/$X/ -> 204`,
		},
		{
			of: "member", mark: "N", asked: "Remove an address from the workspace that is no member's.", answer: "An error.",
			why: noKind, steps: `POST $W/members/remove/ {"email":"nobody@example.com"} -> 501`,
		},
		{
			of: "customer", mark: "T", asked: "Read the values of properties of a new customer.", answer: "`{}`. Values are `{property_id: [text]}`.",
			why: byV1, steps: `GET $W/customers/$customer/property-values/ -> 501`,
		},
		{
			of: "initiative", mark: "T", asked: "Set the state of an initiative.", answer: "`ACTIVE` and the like are taken.",
			why: byV1, steps: `POST $W/initiatives/ {"name":"x","state":"ACTIVE"} -> 501`,
		},
		{
			of: "initiative", mark: "T", asked: "Read an initiative that has labels and projects.", answer: "`label_ids` and `project_ids` are on the row.",
			steps: `
				POST $V1/initiatives/ {"name":"x"} -> 201 id>X
				POST $V1/initiatives/$X/projects/ {"project_ids":["$web"]} -> 200
				GET $W/initiatives/?order_by=-created_at -> 200 data.0.id=$X; data.0.project_ids=[$web]; data.0.label_ids=[]`,
		},
		{
			of: "invitation", mark: "U", asked: "Invite an address in `bulk` that has been invited.", answer: "`[]`, and no error.",
			why: byV1, steps: `POST $W/invitations/bulk/ {"emails":["a@example.com"]} -> 501`,
		},
		{
			of: "webhook", mark: "T", asked: "Create a webhook, read it, regenerate its secret.", answer: "`secret_key` is in the answers to the first and the last, and not in the read.",
			steps: `
				POST $W/webhooks/ {"url":"https://ci.example.com"} -> 201 +secret_key; id>X
				GET $W/webhooks/$X/ -> 200 -secret_key
				POST $W/webhooks/$X/regenerate/ -> 200 +secret_key`,
		},
		{
			of: "automation", mark: "U", asked: "Create an automation.", answer: "It is a `draft`.",
			why: noKind, steps: `POST $P/automations/ {"name":"x","scope":"work-item"} -> 501`,
		},
		{
			of: "automation", mark: "L", asked: "Switch on one without a trigger and an action.", answer: "Refused: it needs one of each.",
			why: noKind, steps: `POST $P/automations/$nobody/status/ {"is_enabled":true} -> 501`,
		},
		{
			of: "automation", mark: "L", asked: "Which nodes have a secret that can be replaced?", answer: "Those of `send_webhook` only.",
			why: noKind, steps: `POST $P/automations/$nobody/nodes/$nobody/regenerate-webhook-secret/ -> 501`,
		},
	}
}
