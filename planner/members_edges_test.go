package planner

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTheDecisionAboutAnEdgeFollowsItsTruthTable has a case for each row of the table: what the manifest wants, what the service shows, and
// what the state has.
func TestTheDecisionAboutAnEdgeFollowsItsTruthTable(t *testing.T) {
	t.Parallel()
	recorded := []provenance{addedBefore, foundThere}
	all := []provenance{noRecord, addedBefore, foundThere}
	anywhere := []sighting{notRead, shownIn, shownOut}
	type row struct {
		when []edgeFacts // each gives the same verdict
		then verdict
	}
	with := func(f edgeFacts, seen []sighting, priors []provenance) (list []edgeFacts) {
		for _, s := range seen {
			for _, p := range priors {
				f.seen, f.prior = s, p
				list = append(list, f)
			}
		}
		return list
	}
	in, out, unknown := []sighting{shownIn}, []sighting{shownOut}, []sighting{notRead}
	none, ours, foreign := []provenance{noRecord}, []provenance{addedBefore}, []provenance{foundThere}
	for name, tt := range map[string]row{
		"a wanted member who is in the container stays":                                      {with(edgeFacts{wish: wantsHere}, in, recorded), verdict{}},
		"a wanted member who is in without a record is recorded as found":                    {with(edgeFacts{wish: wantsHere}, in, none), verdict{noteFound: true}},
		"a wanted member whom people took out is drift, and added again":                     {with(edgeFacts{wish: wantsHere}, out, recorded), verdict{action: addEdge, drift: true}},
		"a wanted member whom people took out stays out if drift is kept":                    {with(edgeFacts{wish: wantsHere, onDrift: Keep}, out, recorded), verdict{drift: true, kept: true}},
		"a wanted member whom people took out is drift if drift is an error":                 {with(edgeFacts{wish: wantsHere, onDrift: Fail}, out, recorded), verdict{action: addEdge, drift: true}},
		"a wanted member who was never in is added":                                          {with(edgeFacts{wish: wantsHere, onDrift: Keep}, out, none), verdict{action: addEdge}},
		"a wanted member whom people took out of the former container is a conflict":         {with(edgeFacts{wish: wantsHere, exclusive: true, moved: true}, out, none), verdict{action: addEdge, drift: true, conflict: true}},
		"a conflict is kept if drift is kept":                                                {with(edgeFacts{wish: wantsHere, exclusive: true, moved: true, onDrift: Keep}, out, none), verdict{drift: true, conflict: true, kept: true}},
		"a wanted member of the state counts as in where nothing shows it":                   {with(edgeFacts{wish: wantsHere}, unknown, recorded), verdict{gap: true}},
		"a wanted member whom neither service nor state tells is added":                      {with(edgeFacts{wish: wantsHere}, unknown, none), verdict{action: addEdge}},
		"a member who is wanted in another exclusive container leaves by entering it":        {with(edgeFacts{wish: wantsElsewhere, exclusive: true}, in, all), verdict{}},
		"a member who is wanted elsewhere is taken out if the state has them":                {with(edgeFacts{wish: wantsElsewhere}, in, recorded), verdict{action: removeEdge}},
		"a member who is wanted elsewhere stays where people put them":                       {with(edgeFacts{wish: wantsElsewhere}, in, none), verdict{}},
		"the state forgets a member who is wanted elsewhere and is out":                      {with(edgeFacts{wish: wantsElsewhere}, out, recorded), verdict{forget: true}},
		"nothing is done about a member who is wanted elsewhere and is in no record":         {with(edgeFacts{wish: wantsElsewhere}, out, none), verdict{}},
		"a member of no container is taken out if the state has them":                        {with(edgeFacts{wish: wantsNone}, in, recorded), verdict{action: removeEdge}},
		"a member of no container is taken out, whoever put them there":                      {with(edgeFacts{wish: wantsNone, onDrift: Keep}, in, none), verdict{action: removeEdge}},
		"a member of no container whom people put into one is drift":                         {with(edgeFacts{wish: wantsNone, cleared: true}, in, none), verdict{action: removeEdge, drift: true}},
		"a member of no container stays where people put them if drift is kept":              {with(edgeFacts{wish: wantsNone, cleared: true, onDrift: Keep}, in, none), verdict{drift: true, kept: true}},
		"a member whom people moved, and who is to be in no container by now, is a conflict": {with(edgeFacts{wish: wantsNone, moved: true}, in, none), verdict{action: removeEdge, drift: true, conflict: true}},
		"the state forgets a member of no container who is out":                              {with(edgeFacts{wish: wantsNone}, out, recorded), verdict{forget: true}},
		"the state keeps the former container while people's move is kept":                   {with(edgeFacts{wish: wantsNone, inOther: true, onDrift: Keep}, out, recorded), verdict{}},
		"a member of no container is taken out unseen if the API has no list":                {with(edgeFacts{wish: wantsNone, unlisted: true}, unknown, recorded), verdict{action: removeEdge}},
		"a member of no container of whom nobody knows stays":                                {with(edgeFacts{wish: wantsNone}, unknown, recorded), verdict{gap: true}},
		"an added member of whom the manifest is silent is left over":                        {with(edgeFacts{dropped: true}, in, ours), verdict{orphaned: true}},
		"an added member of whom the manifest is silent is pruned":                           {with(edgeFacts{dropped: true, prune: true}, in, ours), verdict{action: removeEdge, orphaned: true}},
		"an added member of whom another manifest may speak stays":                           {with(edgeFacts{prune: true}, in, all), verdict{}},
		"a found member of whom the manifest is silent is not pruned":                        {with(edgeFacts{dropped: true, prune: true}, in, foreign), verdict{}},
		"people's member of whom the manifest is silent is not pruned":                       {with(edgeFacts{dropped: true, prune: true}, in, none), verdict{}},
		"the state forgets a member of whom the manifest is silent and who is out":           {with(edgeFacts{dropped: true}, out, recorded), verdict{forget: true}},
		"a member of whom the manifest is silent is not pruned while nobody knows":           {with(edgeFacts{dropped: true, prune: true}, unknown, ours), verdict{gap: true, orphaned: true}},
		"a member of whom the manifest is silent is pruned unseen if the API has no list":    {with(edgeFacts{dropped: true, prune: true, unlisted: true}, unknown, ours), verdict{action: removeEdge, orphaned: true}},
		"an undo takes a member out":                                                         {with(edgeFacts{wish: undone, onDrift: Keep}, in, all), verdict{action: removeEdge}},
		"nothing is done about what is left to people":                                       {with(edgeFacts{wish: leftToPeople, prune: true, dropped: true}, anywhere, all), verdict{}},
		"nothing is done if an end is archived or goes":                                      {with(edgeFacts{leftAlone: true, prune: true, dropped: true}, anywhere, all), verdict{}},
		"a role that is as wanted stays":                                                     {with(edgeFacts{wish: wantsHere, wants: "guest", shows: "guest", applied: "admin"}, in, ours), verdict{}},
		"a role that nobody applied is updated":                                              {with(edgeFacts{wish: wantsHere, wants: "guest", shows: "admin"}, in, ours), verdict{action: changeEdge}},
		"a role that the manifest changed is updated":                                        {with(edgeFacts{wish: wantsHere, wants: "guest", shows: "admin", applied: "admin", onDrift: Keep}, in, ours), verdict{action: changeEdge}},
		"a role that people changed is drift":                                                {with(edgeFacts{wish: wantsHere, wants: "guest", shows: "admin", applied: "guest"}, in, ours), verdict{action: changeEdge, drift: true}},
		"a role that people and the manifest changed is a conflict":                          {with(edgeFacts{wish: wantsHere, wants: "guest", shows: "admin", applied: "member"}, in, ours), verdict{action: changeEdge, drift: true, conflict: true}},
		"a role that people changed stays if drift is kept":                                  {with(edgeFacts{wish: wantsHere, wants: "guest", shows: "admin", applied: "guest", onDrift: Keep}, in, ours), verdict{drift: true, kept: true}},
		"a role that nothing shows is not compared":                                          {with(edgeFacts{wish: wantsHere, wants: "guest", applied: "guest"}, in, ours), verdict{gap: true}},
		"a role that nothing shows is updated if the manifest changed it":                    {with(edgeFacts{wish: wantsHere, wants: "guest", applied: "member"}, in, ours), verdict{action: changeEdge}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range tt.when {
				if diff := cmp.Diff(tt.then, f.decide(), cmp.AllowUnexported(verdict{})); diff != "" {
					t.Errorf("%+v:\n%s", f, diff)
				}
			}
		})
	}
}
