package resource

import "strings"

// Governance tells on which of two levels a workspace manages objects of a kind: the workspace or each project. The service refuses writes
// on the other level.
type Governance struct {
	Flag        string // the field of the kind governance that is on if the workspace manages them; "" = there is one level
	AtWorkspace bool   // objects of the kind belong to the workspace
	Other       string // the kind of such objects on the other level
}

// Includes reports whether a row belongs to this level. Lists of API v1 can have rows of both levels.
func (g Governance) Includes(row Row) bool {
	in, shown := row["project"]
	return g.Flag == "" || !shown || (in == nil) == g.AtWorkspace
}

// Elsewhere reports whether the service refuses to write objects of the kind when the flag has this value.
func (g Governance) Elsewhere(on bool) bool { return g.Flag != "" && on != g.AtWorkspace }

// Noun returns the subject of the flag, such as work item types.
func (g Governance) Noun() string { return strings.ReplaceAll(g.Flag, "_", " ") }

// projectKind returns the kind of such objects in a project: the kind itself, or the project's counterpart of a workspace kind.
func (k *Kind) projectKind() *Kind {
	if k.Governance.AtWorkspace {
		return MustLookup(k.Governance.Other)
	}
	return k
}

// Managers returns who manages objects of a kind when the flag has this value, and where a manifest lists them, in words.
func (g Governance) Managers(on bool) (who, where string) {
	section := MustLookup(g.Other).Section
	if on {
		return "the workspace", "the " + section + " of the manifest's top level"
	}
	return "each project", "the " + section + " of a project"
}

// Switch returns the field that sets the flag, and the kind that has it; nil = no operation sets it.
func (g Governance) Switch() (*Kind, *Field) {
	features := MustLookup("workspace_features")
	if f, ok := features.Field(g.Flag); ok {
		return features, f
	}
	return nil, nil
}

// ReadGovernance returns the operation whose answer shows a flag; ok is false if the API has none.
func ReadGovernance(flag string, api API) (op *Operation, f *Field, ok bool) {
	k := MustLookup("governance")
	f, _ = k.Field(flag)
	for i := range k.Operations {
		op = &k.Operations[i]
		dialect := ContractDialect
		if op.V2() {
			dialect = V2Dialect
		}
		if api.Wide() && api.Offers(op) && f.nameIn(dialect) != "" {
			return op, f, true
		}
	}
	return nil, f, false
}

func init() {
	const v1, v2, scope = workspace + "features/", workspaceV2 + "features/", "workspaces.features:read"
	register(Kind{
		Name: "governance", Param: "governance_id", Listing: Listing{Single: true, Singleton: true},
		Doc: "What the workspace manages itself, above its projects.",
		Fields: []Field{
			{
				Name: "work_item_types", Wire: Wire{V2Dialect: "is_work_item_types_enabled"}, Type: Boolean,
				Doc: "Whether the workspace manages the types of work items, and their properties.", Example: "true",
			},
			{
				Name: "states", Wire: Wire{ContractDialect: "states_owned_by_workspace", V2Dialect: NotTaken}, Type: Boolean,
				Doc: "Whether the workspace manages the states.", Example: "true",
			},
		},
		Operations: []Operation{
			{Verb: List, Path: v2, Scope: scope},
			{Verb: List, Path: v1, Scope: scope},
		},
	})
}

// FlagIn returns the value of a flag in an answer; known is false if the answer does not show it.
func FlagIn(row Row, op *Operation, f *Field) (on, known bool) {
	name := f.APIName()
	if op.V2() {
		name = f.nameIn(V2Dialect)
	}
	on, known = row[name].(bool)
	return on, known
}
