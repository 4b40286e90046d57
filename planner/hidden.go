package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// checkHidden finds out whether an object that the state knows, and that no list shows, is archived or a draft:
// the look-up by external ID shows it all the same. It reports whether that decides where the object stands.
func (s *Snapshot) checkHidden(o *resource.Object, f *objectState) bool {
	if !f.info.findsExternalIDs() || f.prior == nil {
		return false
	}
	if s.externalIDLookups == maxSingleReads && !s.in.RefreshAll {
		s.skippedLookups++
		return false
	}
	s.externalIDLookups++
	a, answered := s.ask(Read{Operation: f.info.list, Path: s.listPath(f.info, f.parent), ExternalID: resource.ExternalID(s.in.Workspace, f.prior.Address)})
	switch {
	case !answered:
		f.presence = pending
	case a.Several:
		f.presence, f.why = notFound, "several objects of the service carry the mark of "+string(o.Address)+", and no list shows them"
	case len(a.Rows) == 0:
		return false
	case a.Rows[0].Hidden() != "":
		f.presence, f.why, f.row, f.id = hidden, a.Rows[0].Hidden(), a.Rows[0], a.Rows[0].ID()
		f.identifier = cmp.Or(s.readable(o.Kind, f.parent, f.row), f.identifier)
	case a.Rows[0].ID() != f.prior.ID:
		return false // another one, which the list shows
	default: // a list that changes while its pages are read may leave one out
		f.presence, f.row = exists, a.Rows[0]
	}
	return true
}

// warnHidden names what is left alone since it is archived or a draft, once a kind.
func (b *builder) warnHidden() {
	things := map[*resource.Kind][]int{}
	for i := range b.states {
		if f := &b.states[i]; f.presence == hidden && f.id != "" {
			things[f.info.kind] = append(things[f.info.kind], i)
		}
	}
	for _, k := range resource.Kinds() {
		list := things[k]
		if len(list) == 0 {
			continue
		}
		names := make([]string, 0, len(list))
		for _, i := range list {
			f, name := &b.states[i], string(b.in.Desired[i].Address)
			if f.identifier != "" {
				name += " (" + f.identifier + ")"
			}
			names = append(names, name+" is "+f.why)
		}
		d := warning(b.in.Desired[list[0]], "archived", firstFew(names, "; ")+" on the service: left alone, with everything in it")
		if len(list) > 1 {
			d.Summary, d.Position, d.Address = countOf(len(list), k)+" are left alone, with everything in them: "+firstFew(names, "; "), diag.Position{}, ""
		}
		d.Hint = "restore it on the service to have it managed, or remove it from the manifest"
		b.diags.Add(d)
	}
	if b.skippedLookups > 0 {
		b.notice("not-looked-up", diag.Count(b.skippedLookups, "object")+" no longer listed by the service may be archived; a check takes one request each",
			"--refresh-all checks; without it, creating an archived object fails and changes nothing")
	}
}

// firstFew joins the first five of many texts.
func firstFew(texts []string, separator string) string {
	const few = 5
	if len(texts) <= few {
		return strings.Join(texts, separator)
	}
	return strings.Join(slices.Concat(texts[:few:few], []string{"and " + diag.Count(len(texts)-few, "other")}), separator)
}
