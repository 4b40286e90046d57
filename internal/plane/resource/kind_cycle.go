package resource

import "slices"

func init() {
	const path = workspace + "projects/{project_id}/cycles/"
	register(Kind{
		Name: "cycle", Section: "cycles", Parent: "project", Param: "cycle_id", Scope: "projects.cycles",
		WebPath: "/{workspace_slug}/projects/{project_id}/cycles/{cycle_id}", HasExternalID: true, UniqueExternalID: true,
		Doc: "A cycle (sprint) of a project. Work items refer to it in `cycle`. Cycles are created in the order of the manifest; the " +
			"service shows the latest first.",
		Example:   `{key: sprint-14, name: Sprint 14, start_date: 2031-01-06, end_date: 2031-01-17}`,
		Short:     "name",
		Lifecycle: Lifecycle{RequiresFeature: "cycle_view", ClosedAfter: "end_date"}, Listing: Listing{CountedAs: "cycles"},
		refuses: refuseOneDate, whyNotArchived: func(k *Kind, has WillHave, ends func(day string) bool) string {
			if day, known := has.of(k, "end_date"); known && !ends(day) {
				return "only a finished cycle can be archived: its end_date must be in the past"
			}
			return ""
		},
		// API v2 has the dates as moments, and does not document the time zone.
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the cycle.", Example: "Sprint 14"},
			{Name: "description", Type: LongText, Clear: ClearEmpty, Doc: "Plain text that describes the cycle.", Example: "The new checkout"},
			{
				Name: "start_date", Wire: Wire{V2Dialect: NotTaken}, Type: Date, AlwaysSend: true, Clear: ClearNull,
				Doc: "First day, `YYYY-MM-DD`. A cycle has both dates or none. A finished cycle takes no work items and no changes, so planform adds the items of a new one first, and sets its dates last.", Example: "2031-01-06",
			},
			{
				Name: "end_date", Wire: Wire{V2Dialect: NotTaken}, Type: Date, AlwaysSend: true, Clear: ClearNull,
				NotBefore: "start_date", Doc: "Last day, `YYYY-MM-DD`; not before `start_date`.", Example: "2031-01-17",
			},
			{
				Name: "owned_by", Wire: Wire{V2Dialect: NotTaken}, Type: Ref, AlwaysSend: true, Ref: "member",
				RefRules: RefRules{MustBeMemberOf: "project_member"}, Doc: "Member who owns the cycle, by e-mail address, display name or ID.",
				Example: "ada@example.com",
			},
			{
				Name: "timezone", Type: Text, TextRules: TextRules{Zone: true, Pattern: zonePattern, PatternDoc: "a time zone such as Europe/Berlin"},
				Default: "UTC", Doc: "Time zone, by its name in the tz database.", Example: "Europe/Berlin",
			},
			{
				Name: "archived", Wire: Wire{ContractDialect: "archived_at"}, Type: Boolean, ArchiveFlag: true,
				Doc: "Whether the cycle is archived. Only a finished cycle can be archived. An archived cycle is left as it is.", Example: "false",
			},
		},
		Operations: slices.Concat([]Operation{
			{Verb: Create, Path: path, Body: []string{"project_id"}},
		}, archiveOps("cycles", "cycle_id"), crud(path, "cycle_id", "lgud"), bulk(workspaceV2+"projects/{project_id}/cycles/")),
	})
	const members = path + "{cycle_id}/cycle-issues/"
	register(Kind{
		Name: "cycle_work_item", Scope: "projects.cycles",
		Doc: "That a work item belongs to a cycle.",
		Membership: &Membership{
			Container: "cycle", Member: "work_item", On: "work_item", Field: "cycle", Body: "issues",
			Fields: "id,name,sequence_id,work_item", Exclusive: true,
		},
		Operations: []Operation{
			{
				Verb: AddMembers, ContractRow: 4, Path: members,
				Body: []string{"issues"}, Doc: "Adds work items to a cycle; an item that is in another cycle is moved.",
			},
			{Verb: ListMembers, Path: members, Query: []string{"per_page", "cursor", "fields"}},
			manage(RemoveMembers, "projects/{project_id}/cycles/{cycle_id}/work-items/"),
			{Verb: RemoveMembers, Path: members + "{work_item_id}/"},
			overview("projects/{project_id}/work-items", "projects.work_items", "work_item", "cycle_id"),
		},
	})
}

// refuseOneDate returns a rule for each date of a cycle that will have only this date: the service requires both or neither.
func refuseOneDate(o *Object, sent []*Value, has WillHave) (broken []Rule) {
	other := map[string]string{"start_date": "end_date", "end_date": "start_date"}
	for _, v := range sent {
		name, pair := v.Field.Name, other[v.Field.Name]
		if pair == "" || v.Null {
			continue
		}
		if day, known := has.of(o.Kind, pair); known && day == "" {
			broken = append(broken, Rule{
				v, string(o.Address) + " has a " + name + " but no " + pair + "; the service requires both or neither",
				"add the " + pair + ", or remove the " + name,
			})
		}
	}
	return broken
}
