package convert

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/text/diag"
)

// choose returns the issues that the options select with their parents, and the names of all other issues. rest is nil if no option selects
// issues.
func (o Options) choose(all []*Issue, zone *time.Location, found *collection) (chosen []*Issue, rest map[string]bool, err error) {
	if o.Since == "" && len(o.Only) == 0 && o.Limit <= 0 {
		return all, nil, nil
	}
	wanted, byName := slices.Clone(all), map[string]*Issue{}
	var keys []string
	for _, i := range all {
		byName[i.name()] = i
		keys = append(keys, i.Key)
	}
	for _, key := range o.Only {
		if !slices.Contains(keys, key) {
			return nil, nil, diag.WithHint(fmt.Errorf("--only %s: there is no such issue in the export", key), diag.DidYouMean(key, keys))
		}
	}
	if len(o.Only) > 0 {
		wanted = slices.DeleteFunc(wanted, func(i *Issue) bool { return !slices.Contains(o.Only, i.Key) })
	}
	if o.Since != "" {
		since, err := time.ParseInLocation(time.DateOnly, o.Since, zone)
		if err != nil {
			return nil, nil, diag.WithHint(fmt.Errorf("--since %s: it is not a date", o.Since), "write it as 2026-11-20")
		}
		changed := func(i *Issue) time.Time {
			if i.Updated.IsZero() {
				return i.Created
			}
			return i.Updated
		}
		if !slices.ContainsFunc(all, func(i *Issue) bool { return !changed(i).IsZero() }) {
			return nil, nil, diag.WithHint(fmt.Errorf("--since %s: the export does not say when issues changed", o.Since),
				"convert the whole export")
		}
		wanted = slices.DeleteFunc(wanted, func(i *Issue) bool { return changed(i).Before(since) })
	}
	if o.Limit > 0 {
		wanted = wanted[:min(len(wanted), o.Limit)]
	}
	if len(wanted) == 0 {
		return nil, nil, diag.WithHint(fmt.Errorf("none of %s is selected", diag.Count(len(all), "issue")), "take another date or other keys")
	}
	in := map[string]bool{}
	for _, i := range wanted {
		for up := i; up != nil && !in[up.name()]; up = byName[up.Project+"/"+up.Parent] {
			in[up.name()] = true
		}
	}
	rest = map[string]bool{}
	links := 0
	for _, i := range all {
		if in[i.name()] {
			chosen = append(chosen, i)
		} else {
			rest[i.name()] = true
		}
	}
	for _, i := range chosen {
		for _, l := range i.Links {
			if rest[i.Project+"/"+l.To] {
				links++
			}
		}
	}
	text := fmt.Sprintf("%d of %s are selected", len(chosen), diag.Count(len(all), "issue"))
	if parents := len(chosen) - len(wanted); parents > 0 {
		text += fmt.Sprintf(", %d of them as parents", parents)
	}
	if links > 0 {
		text += "; " + diag.Count(links, "link") + " to others wait for a run with all"
	}
	found.Note("selection", strings.TrimSpace(text)+". The manifests hold these alone: do not apply them with --prune")
	return chosen, rest, nil
}
