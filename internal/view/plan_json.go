package view

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

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
	Change   *jsonChange   `json:"change"`
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
}

func (p *printer) jsonPlan(plan *planner.Plan, where Where) {
	s := &plan.Summary
	p.str("{\n")
	p.member("format_version", FormatVersion)
	p.member("workspace", plan.Workspace)
	p.member("base_url", plan.BaseURL)
	p.member("user", known(where.User))
	p.member("sandbox", where.Sandbox != "")
	p.member("manifests", append([]string{}, where.Manifests...))
	p.member("state", where.State)
	p.member("summary", jsonPlanSummary{
		Create: s.Create, Update: s.Update, Adopt: s.Adopt, Delete: s.Delete,
		AddMembers: s.AddMembers, RemoveMembers: s.RemoveMembers,
		Unchanged: s.Unchanged, Blocked: s.Blocked, Kept: s.Kept, Requests: s.Requests, Reads: s.Reads,
	})
	p.str(`  "steps": `)
	p.list(len(plan.Steps), func(i int) any { return step(plan, plan.Steps[i]) })
	p.str(",\n" + `  "kept": `)
	kept := slices.DeleteFunc(slices.Clone(plan.Drift), func(d planner.Drift) bool { return !d.Kept })
	p.list(len(kept), func(i int) any {
		o := kept[i].Object
		f, _ := o.Kind.Field(kept[i].Change.Path)
		return jsonKept{string(o.Address), fieldChange(f, kept[i].Change), position(o.Position)}
	})
	p.str(",\n" + `  "corrections": `)
	p.list(len(plan.StateChanges), func(i int) any {
		c := &plan.StateChanges[i]
		return jsonCorrection{From: string(c.From), To: known(string(c.To)), Why: c.Why}
	})
	p.str(",\n" + `  "orphans": `)
	p.list(len(plan.Orphans), func(i int) any {
		o := &plan.Orphans[i]
		return jsonOrphan{string(o.Address), known(o.ID), known(o.Identifier), known(string(o.RenamedTo))}
	})
	p.str(",\n" + `  "notices": `)
	p.list(len(plan.Notices), func(i int) any { return diagnostic(&plan.Notices[i]) })
	p.str("\n}\n")
}

func step(plan *planner.Plan, s *planner.Step) *jsonStep {
	j := &jsonStep{
		Address: string(s.Address), Action: s.Action.String(), ID: known(s.ID),
		Needs: make([]string, 0, len(s.Needs)), Position: position(s.Position),
	}
	for _, need := range s.Needs {
		j.Needs = append(j.Needs, string(plan.Steps[need].Address))
	}
	if s.Action == planner.NotPossible || s.Action == planner.Delete && s.Reason != "" {
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
		j.Changes = []jsonChange{membersChange(s)}
		return j
	}
	changes := s.Changes()
	j.Changes = make([]jsonChange, len(changes))
	for i := range changes {
		j.Changes[i] = *fieldChange(fieldOf(s, changes[i].Path), &changes[i])
		if c := &changes[i]; !c.Possible {
			j.Changes[i].Possible = &c.Possible
		}
	}
	return j
}

func fieldChange(f *resource.Field, c *planner.Change) *jsonChange {
	return &jsonChange{Path: c.Path, Before: side(f, c.Before), After: side(f, c.After), Origin: string(c.Origin), By: c.By, At: c.At}
}

// side is one value of a change: an array where it is a list, null where there is none.
func side(f *resource.Field, text *string) any {
	switch {
	case text == nil:
		return nil
	case isList(f):
		return strings.Split(*text, "\n")
	default:
		return *text
	}
}

func membersChange(s *planner.Step) jsonChange {
	names := make([]string, len(s.Members.Items))
	for i := range s.Members.Items {
		m := &s.Members.Items[i]
		switch {
		case m.Address != "":
			names[i] = string(m.Address)
		case m.ID != "":
			names[i] = m.ID
		default:
			names[i] = m.Text
		}
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
