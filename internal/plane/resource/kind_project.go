package resource

import (
	"fmt"
	"strconv"
	"strings"
)

// LongestCodeV2 is the length of the longest identifier of a project that API v2 accepts, in characters.
const LongestCodeV2 = 10

func init() {
	const path = workspace + "projects/"
	register(Kind{
		Name: "project", Section: "projects", Param: "project_id", Scope: "projects", WebPath: "/{workspace_slug}/projects/{project_id}/issues",
		Doc: "A project of the workspace, given by its `identifier` (the short code in front of work item numbers) or its `id`. " +
			"A missing project is created, for which it needs an `identifier` and a `name`.",
		Example: `key: web
identifier: WEB
name: Website
description: Public site and shop
members: [ada@example.com]`,
		KeyFrom:       []string{"identifier", "name"},
		NaturalKey:    []string{"identifier", "name"},
		HasExternalID: true,
		Identifier: &Identifier{
			Pattern: `^[A-Za-z0-9_]{1,12}$`, PatternDoc: "1 to 12 letters, digits and _", APIName: "identifier",
			Doc: "The project's short code, such as `WEB`.",
		},
		Fields: []Field{
			{
				Name: "name", Type: Text, Required: true, Documented: true, Unique: true, TextRules: TextRules{Forbidden: "&+,:;$^}{*=?@#|'<>.()%!-"},
				MaxLength: 255, Doc: "Name of the project, without `& + , : ; $ ^ { } * = ? @ # | ' < > . ( ) % ! -` (the service refuses them).",
				Example: "Website",
			},
			{
				Name: "description", Type: LongText, Documented: true, Clear: ClearEmpty, Doc: "Plain text that describes the project.",
				Example: "Public site and shop",
			},
			{
				Name: "lead", Wire: Wire{ContractDialect: "project_lead"}, Type: Ref, Ref: "member", Clear: ClearNull,
				RefRules: RefRules{MustBeMemberOf: "project_member", AddsMember: true},
				Doc:      "Member who leads the project, by e-mail address, display name or ID.", Example: "ada@example.com",
			},
			{
				Name: "default_assignee", Type: Ref, Ref: "member", Clear: ClearNull, RefRules: RefRules{MustBeMemberOf: "project_member"},
				Doc: "Default assignee of new work items, by e-mail address, display name or ID. Applies to items without `assignees` if the member belongs to the project; `assignees: []` means nobody.", Example: "ada@example.com",
			},
			{
				Name: "members", Virtual: true, Type: RefSet, Ref: "member", Clear: ClearNull,
				Doc: "Members of the project, by e-mail address, display name or ID. `{user: gus@example.com, role: guest}` also manages the role: admin, member, guest or, by API v2, another one that the workspace has for projects. New members get the role member, or a lower one if that is their role in the workspace. `[]` removes the members that planform added.", Example: "bob@example.com",
			},
			{
				Name: "timezone", Type: Text, TextRules: TextRules{Zone: true, Pattern: zonePattern, PatternDoc: "a time zone such as Europe/Berlin"},
				Default: "UTC", Doc: "Time zone, by its name in the tz database.", Example: "Europe/Berlin",
			},
			{Name: "cover_image", Type: LongText, Clear: ClearNull, Doc: "URL of the cover image.", Example: "https://example.com/cover.png"},
			{Name: "emoji", Type: Text, Clear: ClearNull, MaxLength: 255, Doc: "Emoji of the project, by its code point.", Example: "128640"},
			{Name: "module_view", Type: Boolean, Doc: "Whether the project has modules.", Example: "true"},
			{Name: "cycle_view", Type: Boolean, Doc: "Whether the project has cycles.", Example: "true"},
			{Name: "issue_views_view", Type: Boolean, Doc: "Whether the project has views.", Example: "true"},
			{Name: "page_view", Type: Boolean, Default: "true", Doc: "Whether the project has pages.", Example: "true"},
			{Name: "intake_view", Type: Boolean, OnAfterCreate: true, Doc: "Whether the project has an intake.", Example: "true"},
			{Name: "is_issue_type_enabled", Type: Boolean, Doc: "Whether the project has work item types.", Example: "true"},
			{Name: "is_time_tracking_enabled", Type: Boolean, Doc: "Whether time is tracked.", Example: "true"},
			{Name: "guest_view_all_features", Type: Boolean, Doc: "Whether guests see all features.", Example: "false"},
			{
				Name: "archive_in", Type: Number, Max: 12, Default: "0",
				Doc: "Months after which completed items are archived, 0 to 12; 0 means never.", Example: "3",
			},
			{
				Name: "imported_types", Wire: Wire{ContractDialect: NotTaken}, Virtual: true, Type: RefSet, Ref: "workspace_work_item_type", Clear: ClearNull,
				Doc: "Types of the workspace that the project takes, by key, name or ID, if the workspace manages them. The service cannot " +
					"take one out again.",
				Example: "Story",
			},
			{
				Name: "estimate", Type: Ref, Ref: "estimate", SetAfterCreate: true, Clear: ClearNull,
				Doc: "Estimate that the project uses, by key, name or ID. Default: the one of the manifest.", Example: "Points",
			},
			{
				Name: "close_in", Type: Number, Max: 12, Default: "0", Doc: "Months after which inactive items are closed, 0 to 12; 0 means never.",
				Example: "6",
			},
		},
		Operations: append([]Operation{
			{
				Verb: Update, ContractRow: 2, Path: workspace + "projects/{project_id}",
				Doc: "Changes the fields that are passed. The contract's path has no trailing slash.",
			},
			{Verb: Summary, Path: path + "{project_id}/summary/"},
			{Verb: Archive, Path: path + "{project_id}/archive/", Success: 204},
			{Verb: Unarchive, Path: path + "{project_id}/archive/"},
		}, crud(path, "project_id", "lgcd")...),
	})
	const members, membersV2 = path + "{project_id}/project-members/", workspaceV2 + "projects/{project_id}/members/"
	register(Kind{
		Name: "project_member", Listing: Listing{CountedAs: "members"}, Scope: "projects.members",
		Doc: "That a member of the workspace belongs to a project.",
		Membership: &Membership{
			Container: "project", Member: "member", On: "project", Field: "members", Body: "member", Batch: 1,
			Attribute: &Attribute{
				Name: "role", Member: "user", Values: []string{"guest", "member", "admin"}, Default: "member", Defined: "role",
				encode: encodeRole, decode: decodeRole,
				Doc: "Role in the project: guest, member, admin or, by API v2, the slug or the name of another one that the workspace has for " +
					"projects. Without it the role is not managed; new members get the role member, or a lower one if that is their role in the workspace.",
			},
		},
		Operations: []Operation{
			{Verb: AddMembers, Path: membersV2, OneAtATime: true, Body: []string{"member_id"}},
			{Verb: AddMembers, Path: members, OneAtATime: true},
			{
				Verb: ListMembers, Path: membersV2,
				Query: []string{"per_page", "cursor"}, GetCommand: "project-member-roles", Doc: "Reads the roles of the members of a project.",
			},
			{Verb: ListMembers, Path: members},
			{Verb: ListLite, Path: path + "{project_id}/project-members-lite/"},
			{Verb: Get, Path: members + "{member_id}/"},
			{Verb: UpdateMember, Path: membersV2 + "{member_id}/", OneAtATime: true},
			{Verb: UpdateMember, Path: members + "{member_id}/", OneAtATime: true},
			{Verb: RemoveMembers, Path: membersV2 + "{member_id}/", OneAtATime: true},
			{Verb: RemoveMembers, Path: members + "{member_id}/", OneAtATime: true},
		},
	})
	register(Kind{
		Name: "role", Param: "role_id", Scope: "workspaces.roles",
		Doc:        "A role that people have in the workspace or in a project. API v2 only.",
		WhereMade:  "an admin defines roles in Plane, in the settings of the workspace",
		NaturalKey: []string{"slug", "name"},
		Fields: []Field{
			{Name: "slug", Type: Text, Doc: "Its word, by which members have it.", Example: "contributor"},
			{Name: "name", Type: Text, Doc: "Its name.", Example: "Contributor"},
			{Name: "namespace", Type: Text, Doc: "Where it is given: `workspace` or `project`.", Example: "project"},
			{Name: "level", Type: Number, Doc: "How far it reaches, compared with others.", Example: "15"},
		},
		Operations: []Operation{{
			Verb: List, Path: workspaceV2 + "roles/",
			Query: []string{"per_page", "offset"}, // no cursor follows the order that they have
		}},
	})
}

// projectRoles holds the roles that every workspace has: the word of a manifest, the number of API v1, and the slug of API v2.
//
//nolint:gochecknoglobals // a constant
var projectRoles = []struct {
	word string
	code int
	slug string
}{{"guest", 5, "guest"}, {"member", 15, "contributor"}, {"admin", 20, "admin"}}

// encodeRole returns a role as a body has it. The workspace may use the word of a standard role for another one. A manifest writes that one
// with a capital letter.
func encodeRole(role string, v2 bool) any {
	for _, r := range projectRoles {
		switch {
		case role == r.word && !v2:
			return r.code
		case role == r.word:
			return r.slug
		case role == capitalize(r.word):
			return r.word
		}
	}
	return role
}

// decodeRole returns the role of a manifest for a number or a slug.
func decodeRole(shown any) string {
	text, _ := shown.(string)
	for _, r := range projectRoles {
		switch {
		case text == r.slug, fmt.Sprint(shown) == strconv.Itoa(r.code):
			return r.word
		case text == r.word:
			return capitalize(text) // a role of the workspace, see encodeRole
		}
	}
	return text
}

func capitalize(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
