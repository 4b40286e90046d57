package view

import (
	"cmp"
	"strings"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

type jsonPlan struct {
	FormatVersion int              `json:"format_version"`
	Workspace     string           `json:"workspace"`
	BaseURL       string           `json:"base_url"`
	API           string           `json:"api"`
	User          *string          `json:"user"`
	Sandbox       bool             `json:"sandbox"`
	Manifests     []string         `json:"manifests"`
	State         string           `json:"state"`
	Summary       jsonPlanSummary  `json:"summary"`
	Steps         []jsonStep       `json:"steps"`
	Kept          []jsonKept       `json:"kept"`
	Corrections   []jsonCorrection `json:"corrections"`
	Orphans       []jsonOrphan     `json:"orphans"`
	Notices       []jsonDiagnostic `json:"notices"`
}

type jsonPlanSummary struct {
	Create        int `json:"create"`
	Update        int `json:"update"`
	Adopt         int `json:"adopt"`
	Delete        int `json:"delete"`
	AddMembers    int `json:"add_members"`
	RemoveMembers int `json:"remove_members"`
	Unchanged     int `json:"unchanged"`
	Blocked       int `json:"blocked"`
	Kept          int `json:"kept"`
	Ignored       int `json:"ignored"`
	Requests      int `json:"requests"`
	Reads         int `json:"reads"`
}

type jsonStep struct {
	Address  string        `json:"address"`
	Action   string        `json:"action"`
	ID       *string       `json:"id"`
	Changes  []jsonChange  `json:"changes"`
	Needs    []string      `json:"needs"`
	Position *jsonPosition `json:"position"`
	Reason   *string       `json:"reason,omitempty"`
	Adopted  *string       `json:"adopted,omitempty"` // by what it was found on the service
}

type jsonKept struct {
	Address  string        `json:"address"`
	Change   jsonChange    `json:"change"`
	Position *jsonPosition `json:"position"`
}

type jsonCorrection struct {
	From string  `json:"from"`
	To   *string `json:"to"`
	Why  string  `json:"why"`
}

type jsonOrphan struct {
	Address    string  `json:"address"`
	ID         *string `json:"id"`
	Identifier *string `json:"identifier"`
	RenamedTo  *string `json:"renamed_to"`
}

type jsonChange struct {
	Path     string `json:"path"`
	Before   any    `json:"before"`
	After    any    `json:"after"`
	Origin   string `json:"origin"`
	By       string `json:"by,omitempty"`
	At       string `json:"at,omitempty"`
	Possible *bool  `json:"possible,omitempty"`

	References int `json:"references,omitempty"` // that a text gets, and that is all
}

func newJSONPlan(plan *planner.Plan, where Where) jsonPlan {
	j := jsonPlan{
		FormatVersion: FormatVersion, Workspace: plan.Workspace, BaseURL: plan.BaseURL, API: plan.API.String(), User: orNull(where.User), Sandbox: where.Sandbox != "",
		Manifests: orEmpty(where.Manifests), State: where.State, Summary: newJSONSummary(&plan.Summary),
		Steps: make([]jsonStep, len(plan.Steps)), Kept: []jsonKept{}, Corrections: []jsonCorrection{}, Orphans: []jsonOrphan{},
		Notices: diagnostics(plan.Notices),
	}
	for i, s := range plan.Steps {
		j.Steps[i] = newJSONStep(plan, s)
	}
	for _, d := range plan.Drift {
		if f, _ := d.Object.Kind.Field(d.Change.Path); d.Kept {
			j.Kept = append(j.Kept, jsonKept{string(d.Object.Address), newJSONChange(f, d.Change), position(d.Object.Position)})
		}
	}
	for _, c := range plan.StateChanges {
		j.Corrections = append(j.Corrections, jsonCorrection{string(c.From), orNull(string(c.To)), c.Why})
	}
	for _, o := range plan.Orphans {
		j.Orphans = append(j.Orphans, jsonOrphan{string(o.Address), orNull(o.ID), orNull(o.Identifier), orNull(string(o.RenamedTo))})
	}
	return j
}

func newJSONSummary(s *planner.Summary) jsonPlanSummary {
	return jsonPlanSummary{
		Create: s.Create, Update: s.Update, Adopt: s.Adopt, Delete: s.Delete,
		AddMembers: s.AddMembers, RemoveMembers: s.RemoveMembers,
		Unchanged: s.Unchanged, Blocked: s.Blocked, Kept: s.Kept, Ignored: s.Ignored, Requests: s.Requests, Reads: s.Reads,
	}
}

func newJSONStep(plan *planner.Plan, s *planner.Step) jsonStep {
	j := jsonStep{
		Address: string(s.Address), Action: s.Action.String(), ID: orNull(s.ID),
		Needs: make([]string, 0, len(s.Needs)), Position: position(s.Position),
	}
	for _, need := range s.Needs {
		j.Needs = append(j.Needs, string(plan.Steps[need].Address))
	}
	if s.Action == planner.NotPossible || s.Action != planner.Adopt && s.Reason != "" {
		j.Reason = &s.Reason
	}
	if s.Action == planner.Adopt {
		how := foundBy(s)
		j.Adopted = &how
		if s.Changed() {
			j.Action = planner.Update.String()
		}
	}
	if s.Members != nil {
		j.Changes = []jsonChange{newJSONMembers(s)}
		return j
	}
	j.Changes = []jsonChange{}
	for _, c := range s.Changes() {
		change := newJSONChange(fieldOf(s, c.Path), &c)
		if !c.Possible {
			change.Possible = new(bool)
		}
		j.Changes = append(j.Changes, change)
	}
	return j
}

func newJSONChange(f *resource.Field, c *planner.Change) jsonChange {
	return jsonChange{Path: c.Path, Before: jsonValue(f, c.Before), After: jsonValue(f, c.After), Origin: string(c.Origin), By: c.By, At: c.At, References: c.References}
}

// jsonValue is a value of a change: an array where it is a list, null where there is none.
func jsonValue(f *resource.Field, text *string) any {
	switch {
	case text == nil:
		return nil
	case isList(f):
		return strings.Split(*text, "\n")
	default:
		return *text
	}
}

func newJSONMembers(s *planner.Step) jsonChange {
	names := make([]string, len(s.Members.Items))
	for i, m := range s.Members.Items {
		names[i] = cmp.Or(string(m.Address), m.ID, m.Text)
	}
	c := jsonChange{Path: memberField(s), Origin: string(planner.FromManifest)}
	if s.Action == planner.RemoveMembers {
		c.Before = names
	} else {
		c.After = names
	}
	if s.Action == planner.NotPossible {
		c.Possible = new(bool)
	}
	return c
}
