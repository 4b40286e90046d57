package simulation

import (
	"strings"
	"testing"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// TestEachRuleOfOrderFindsTwoStepsThatAreExchanged has two steps a rule, in the right order.
func TestEachRuleOfOrderFindsTwoStepsThatAreExchanged(t *testing.T) {
	t.Parallel()
	step := func(action, address string, changes ...planfile.Change) planfile.Step {
		return planfile.Step{Action: action, Address: resource.Address(address), Changes: changes}
	}
	sets := func(path string, value any) planfile.Change { return planfile.Change{Path: path, After: value} }
	had := func(path string, value any) planfile.Change { return planfile.Change{Path: path, Before: value} }
	at := func(line int, s planfile.Step) planfile.Step {
		s.Position = &diag.Position{File: "workspace.yaml", Line: line, Column: 1}
		return s
	}
	needing, continued := step("update", "label/web/a"), step("update", "project/web")
	needing.Needs, continued.Continues = []string{"page/handbook"}, true
	bob := step("add_members", "project/web#members", sets("members", []string{"bob"}))
	bob.Members = []planfile.Member{{ID: "1", Text: "bob"}}
	cases := map[string][2]planfile.Step{
		"what a step needs":                        {step("update", "page/handbook"), needing},
		"an object is created b":                   {step("create", "project/web"), step("create", "label/web/a")},
		"an object is created before a step names": {step("create", "label/web/a"), step("update", "work_item/web/a", sets("labels", []any{"label/web/a"}))},
		"a step comes before":                      {step("adopt", "project/web"), continued},
		"work items are created":                   {at(1, step("create", "work_item/web/a")), at(2, step("create", "work_item/web/b"))},
		"a feature is switched on":                 {step("update", "project/web", sets("cycle_view", "true")), step("create", "cycle/web/a")},
		"a feature is switched off":                {step("update", "cycle/web/a"), step("update", "project/web", sets("cycle_view", "false"))},
		"an object is brought back":                {step("update", "cycle/web/a", sets("archived", "false")), step("add_members", "cycle/web/a#work_items", sets("cycle", []string{"work_item/web/a"}))},
		"an object is archived":                    {step("remove_members", "cycle/web/a#work_items", had("cycle", []string{"work_item/web/a"})), step("update", "cycle/web/a", sets("archived", "true"))},
		"a container is closed":                    {step("add_members", "cycle/web/a#work_items", sets("cycle", []string{"work_item/web/a"})), step("update", "cycle/web/a", sets("end_date", "2001-01-01"))},
		"people are members":                       {bob, step("update", "work_item/web/a", sets("assignees", []any{"bob"}))},
		"a relation is removed":                    {step("remove_members", "work_item/web/a#blocked_by", had("relations.blocked_by", []string{"work_item/web/b"})), step("add_members", "work_item/web/b#blocked_by", sets("relations.blocked_by", []string{"work_item/web/a"}))},
		"an object joins":                          {step("add_members", "module/web/a#work_items", sets("module", []string{"work_item/web/a"})), step("remove_members", "module/web/b#work_items", had("module", []string{"work_item/web/a"}))},
		"a name is given up":                       {step("update", "label/web/a", planfile.Change{Path: "name", Before: "A", After: "B"}), step("create", "label/web/b", sets("name", "A"))},
		"deletions come last":                      {step("create", "page/handbook"), step("delete", "label/web/a")},
		"what is in an object":                     {step("delete", "cycle/web/a"), step("delete", "project/web")},
		"nothing names an object":                  {step("update", "work_item/web/a", had("labels", []any{"label/web/a"})), step("delete", "label/web/a")},
	}
	for name, pair := range cases {
		if found := Violations(&planfile.Document{Steps: pair[:]}); len(found) > 0 {
			t.Errorf("%s: %q", name, found)
		}
		if found := strings.Join(Violations(&planfile.Document{Steps: []planfile.Step{pair[1], pair[0]}}), "\n"); !strings.Contains("\n"+found, "\n"+name) {
			t.Errorf("%s: %q", name, found)
		}
	}
	if len(cases) != len(orderRules()) {
		t.Errorf("%d of %d rules have a case", len(cases), len(orderRules()))
	}
}
