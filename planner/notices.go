package planner

import (
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// notices says once a kind what the plan cannot know.
func (b *builder) notices() {
	blind, alike, unnumbered := map[*kindInfo]int{}, map[*kindInfo]int{}, map[*kindInfo]int{}
	unread := map[*resource.Kind]int{}
	for i := range b.states {
		f := &b.states[i]
		if f.presence == exists && f.row == nil && b.expensive[f.info.kind] > 0 && b.skipsRefresh(f) {
			unread[f.info.kind]++
		}
		switch {
		case f.presence != absent || f.vanished || f.prior != nil || b.planned[i] == nil:
		case f.undetectable:
			if f.info.find != nil && f.parent != none && b.states[f.parent].identifier == "" {
				unnumbered[f.info]++
			}
			if !b.listing(f.info, f.parent).known {
				blind[f.info]++
			}
		case b.hasNamesake(i):
			alike[f.info]++
		}
	}
	for _, k := range resource.Kinds() {
		t := b.kinds[k]
		if n := b.stale[t]; n > 0 && b.expensive[k] == 0 {
			b.notice("not-refreshed", countOf(n, k)+" could not be read with the "+b.in.API.Noun()+"; compared with the state file instead", "")
		}
		if n := b.expensive[k]; n > 0 && !b.in.SkipRefresh && k.Membership != nil {
			b.notice("not-read-again", k.Membership.Path()+" of "+countOf(n, resource.MustLookup(k.Membership.Container))+" not re-read, since that takes one request each; the state file is trusted",
				"--refresh-all re-reads them")
		} else if n := unread[k]; n > 0 && !b.in.SkipRefresh {
			b.notice("not-read-again", countOf(n, k)+" not re-read, since that takes one request each; the state file is trusted",
				"--refresh-all re-reads them")
		}
		if n := blind[t]; n > 0 {
			by := "its id"
			if k.Identifier != nil {
				by = "its identifier or id"
			}
			hint := "those that an earlier apply created would be duplicated: restore its state file, or give each " + k.Noun() + " " + by
			b.notice("cannot-tell", countOf(n, k)+" not in the state file will be created: the "+b.in.API.Noun()+" cannot tell whether the service has "+them(n), hint)
		}
		if n := unnumbered[t]; n > 0 {
			parent := resource.MustLookup(k.Parent).Noun()
			b.notice("cannot-settle", "the identifier of the "+parent+" is not known: if a response is lost, planform cannot find "+countOf(n, k)+" again",
				"add the "+parent+"'s identifier beside its id")
		}
		if n := alike[t]; n > 0 {
			b.notice("same-name", countOf(n, k)+" will be created although the service already has one with the same "+strings.Join(k.NaturalKey, " and "),
				"--adopt-by-name adopts the existing ones instead")
		}
	}
}

func (b *builder) notice(code, summary, hint string) {
	b.diags.Add(diag.Diagnostic{Severity: diag.Warning, Code: code, Summary: summary, Hint: hint})
}
