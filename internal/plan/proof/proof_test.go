package proof_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plan/divergence"
	"github.com/planform/planform/internal/plan/proof"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// object returns an object of an export that gives some fields.
func object(kind, address string, fields ...string) *resource.Object {
	k := resource.MustLookup(kind)
	o := &resource.Object{Kind: k, Address: resource.Address(address), Key: resource.Address(address).Key()}
	for _, name := range fields {
		f, _ := k.Field(name)
		o.Values = append(o.Values, resource.Value{Field: f, Text: "x"})
	}
	return o
}

// given returns an object that has only values of the export.
func given(kind, address string, fields ...string) proof.Given {
	return proof.Given{Object: object(kind, address, fields...), Number: len(fields)}
}

func TestEachValueIsCountedOnce(t *testing.T) {
	t.Parallel()
	one, two := object("work_item", "work_item/web/T-1", "name", "priority"), object("work_item", "work_item/web/T-2", "name")
	comment := object("comment", "comment/web/T-1/c", "text")
	service := "WEB-9"
	for name, tt := range map[string]struct {
		in          proof.Input
		differences []string
		fields      map[string]proof.Field
		accepted    []string
		proven      [2]bool // without and with accepting the features that the edition lacks
		equal       bool
	}{
		"everything is equal if the plan has no steps": {
			in:     proof.Input{Plan: &planner.Plan{}},
			fields: map[string]proof.Field{"name": {Export: 2, Equal: 2}, "priority": {Export: 1, Equal: 1}},
			proven: [2]bool{true, true}, equal: true,
		},
		"an object that the plan creates is missing with all its values": {
			in:          proof.Input{Plan: &planner.Plan{Steps: []*planner.Step{{Kind: two.Kind, Address: two.Address, Object: two, Action: planner.Create}}}},
			differences: []string{"missing work_item/web/T-2 "},
			fields:      map[string]proof.Field{"name": {Export: 2, Equal: 1, Missing: 1}},
		},
		"a part that nobody asked for is not compared and does not prevent the proof": {
			in: proof.Input{
				Plan: &planner.Plan{}, Left: []*resource.Object{comment},
				Parts: []proof.Part{{Word: "comments", Kinds: []*resource.Kind{comment.Kind}}},
			},
			fields: map[string]proof.Field{"text": {Export: 1, NotCompared: 1}},
			proven: [2]bool{true, true},
		},
		"a feature that the edition lacks prevents the proof unless it is accepted": {
			in: proof.Input{Plan: &planner.Plan{Steps: []*planner.Step{{
				Kind: two.Kind, Address: two.Address, Object: two, Action: planner.NotPossible, Cause: planner.Cause{Code: planner.Lacks, Objects: "work items"},
			}}}},
			fields: map[string]proof.Field{"name": {Export: 2, Equal: 1, NotCompared: 1}},
			proven: [2]bool{false, true},
		},
		"nor is what the service does not show, of what the export says; of the rest there is nothing to compare": {
			in: proof.Input{Plan: &planner.Plan{NotCompared: []planner.NotCompared{
				{Kind: "work_item", Field: "priority", All: []resource.Address{one.Address, two.Address}},
				{Kind: "work_item", Field: "point", All: []resource.Address{one.Address, two.Address}},
			}}},
			fields: map[string]proof.Field{"priority": {Export: 1, NotCompared: 1}},
		},
		"an object of the projects that only the service has is additional": {
			in: proof.Input{Plan: &planner.Plan{}, Differences: divergence.Set{Unmanaged: []divergence.Unmanaged{
				{Kind: one.Kind, Parent: "project/web", Names: []string{"Mine"}},
				{Kind: resource.MustLookup("label"), Parent: "project/web", Names: []string{"Mine"}},
			}}},
			differences: []string{"additional project/web ", "additional project/web "},
		},
		"additional objects are accepted if the mapping agrees with their number": {
			in: proof.Input{
				Allows: func(kind, field string, n int) bool {
					return kind == "label" && field == "" && n <= 1 || kind == "work_item" && n <= 1
				},
				Plan: &planner.Plan{}, Differences: divergence.Set{Unmanaged: []divergence.Unmanaged{
					{Kind: one.Kind, Parent: "project/web", Names: []string{"Mine", "Yours"}},
					{Kind: resource.MustLookup("label"), Parent: "project/web", Names: []string{"Mine"}},
				}},
			},
			differences: []string{"additional project/web ", "additional project/web "},
			accepted:    []string{"additional.label 1"},
		},
		"objects of other projects are not additional": {
			in: proof.Input{Plan: &planner.Plan{}, Differences: divergence.Set{
				Unmanaged: []divergence.Unmanaged{{Kind: resource.MustLookup("project"), Names: []string{"Ours"}}},
			}},
			proven: [2]bool{true, true}, equal: true,
		},
		"an item in another cycle differs once": {
			in: proof.Input{
				Export: []proof.Given{given("work_item", "work_item/web/T-3", "cycle")},
				Plan: &planner.Plan{
					Steps: []*planner.Step{{
						Kind: resource.MustLookup("cycle_work_item"), Address: "cycle/web/s#work_items", Action: planner.AddMembers,
						Members: &planner.Members{
							Container: planner.Container{Address: "cycle/web/s"},
							Items:     []planner.Member{{Address: "work_item/web/T-3", Text: "T-3"}},
						},
					}},
				},
				Differences: divergence.Set{ExtraMembers: []divergence.ExtraMember{{
					Membership: resource.MustLookup("cycle_work_item"), On: object("work_item", "work_item/web/T-3"), Other: "cycle/web/t",
				}}},
			},
			differences: []string{"differs work_item/web/T-3 cycle"},
			fields:      map[string]proof.Field{"cycle": {Export: 1, Differing: 1}},
		},
		"an item that is missing in an ended cycle differs": {
			in: proof.Input{
				Export: []proof.Given{given("work_item", "work_item/web/T-3", "cycle")},
				Plan: &planner.Plan{Steps: []*planner.Step{{
					Kind: resource.MustLookup("cycle_work_item"), Address: "cycle/web/s#work_items", Action: planner.NotPossible,
					Cause:   planner.Cause{Code: planner.Refused, Text: "it ended"},
					Members: &planner.Members{Container: planner.Container{Address: "cycle/web/s"}, Items: []planner.Member{{Address: "work_item/web/T-3", Text: "T-3"}}},
				}}},
			},
			differences: []string{"differs work_item/web/T-3 cycle"},
			fields:      map[string]proof.Field{"cycle": {Export: 1, Differing: 1}},
		},
		"a number that must be kept is compared": {
			in: proof.Input{Numbered: true, Plan: &planner.Plan{
				Objects: []*resource.Object{one, two},
				Known:   map[resource.Address]planner.Record{one.Address: {Identifier: "WEB-1"}, two.Address: {Identifier: service}},
			}},
			differences: []string{"differs work_item/web/T-2 number"},
			fields:      map[string]proof.Field{"number": {Export: 2, Equal: 1, Differing: 1}},
		},
		"an item that is missing in the cycle that it names differs": {
			in: proof.Input{
				Export: []proof.Given{given("work_item", "work_item/web/T-3", "cycle")},
				Plan: &planner.Plan{Steps: []*planner.Step{{
					Kind: resource.MustLookup("cycle_work_item"), Address: "cycle/web/s#work_items", Action: planner.AddMembers,
					Members: &planner.Members{Container: planner.Container{Address: "cycle/web/s"}, Items: []planner.Member{{Address: "work_item/web/T-3", Text: "T-3"}}},
				}}},
			},
			differences: []string{"differs work_item/web/T-3 cycle"},
			fields:      map[string]proof.Field{"cycle": {Export: 1, Differing: 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, o := range []*resource.Object{one, two, comment} {
				tt.in.Export = append(tt.in.Export, proof.Given{Object: o, Number: len(o.Values)})
			}
			r := proof.Check(tt.in)
			var differences []string
			for _, d := range r.Differences {
				differences = append(differences, d.What+" "+d.Item+" "+d.Field)
			}
			if diff := cmp.Diff(tt.differences, differences); diff != "" {
				t.Error(diff)
			}
			var accepted []string
			for _, a := range r.Accepted {
				accepted = append(accepted, fmt.Sprintf("%s.%s %d", a.Kind, a.Of, a.Count))
			}
			if diff := cmp.Diff(tt.accepted, accepted); diff != "" {
				t.Error(diff)
			}
			for _, f := range r.Fields {
				if f.OnService != f.Equal+f.Differing+f.Additional && tt.differences == nil {
					t.Errorf("%s %s: %d on the service", f.Kind, f.Field, f.OnService)
				}
				if want, ok := tt.fields[f.Field]; ok {
					f.Kind, f.Field, f.OnService = "", "", 0
					if diff := cmp.Diff(want, f); diff != "" {
						t.Error(diff)
					}
				}
				if f.Equal+f.Differing+f.Missing+f.NotCompared != f.Export {
					t.Errorf("the counts of %s %s are not its sum: %+v", f.Kind, f.Field, f)
				}
			}
			if proven := [2]bool{r.Proven(false), r.Proven(true)}; proven != tt.proven || r.Equal != tt.equal {
				t.Errorf("proven %v, equal %t", proven, r.Equal)
			}
		})
	}
}
