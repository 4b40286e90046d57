package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// hides finds out whether a thing that the state knows, and that no list shows, is archived or a draft:
// the look-up by mark shows it all the same. It reports whether that decides where the thing stands.
func (s *Survey) hides(o *resource.Object, f *fact) bool {
	if !f.traits.findsMarks() || f.prior == nil {
		return false
	}
	if s.lookups == mostSingly && !s.in.Thorough {
		s.unlooked++
		return false
	}
	s.lookups++
	a, answered := s.ask(Read{Operation: f.traits.list, Path: s.listPath(f.traits, f.parent), Mark: resource.Mark(s.in.Workspace, f.prior.Address)})
	switch {
	case !answered:
		f.standing = pending
	case a.Several:
		f.standing, f.why = missing, "several things of the service carry the mark of "+string(o.Address)+", and no list shows them"
	case len(a.Rows) == 0:
		return false
	case a.Rows[0].Hidden() != "":
		f.standing, f.why, f.row, f.id = hidden, a.Rows[0].Hidden(), a.Rows[0], a.Rows[0].ID()
		f.identifier = cmp.Or(s.readable(o.Kind, f.parent, f.row), f.identifier)
	case a.Rows[0].ID() != f.prior.ID:
		return false // another one, which the list shows
	default: // a list that changes while its pages are read may leave one out
		f.standing, f.row = there, a.Rows[0]
	}
	return true
}

// tellHidden names what is left alone since it is archived or a draft, once a kind.
func (b *builder) tellHidden() {
	things := map[*resource.Kind][]int{}
	for i := range b.facts {
		if f := &b.facts[i]; f.standing == hidden && f.id != "" {
			things[f.traits.kind] = append(things[f.traits.kind], i)
		}
	}
	for _, k := range resource.Kinds() {
		list := things[k]
		if len(list) == 0 {
			continue
		}
		names := make([]string, 0, len(list))
		for _, i := range list {
			f, name := &b.facts[i], string(b.in.Desired[i].Address)
			if f.identifier != "" {
				name += " (" + f.identifier + ")"
			}
			names = append(names, name+" is "+f.why)
		}
		d := warning(b.in.Desired[list[0]], "archived", firstFew(names, "; ")+" on the service: left alone, with what is in it")
		if len(list) > 1 {
			d.Summary, d.Position, d.Address = number(len(list), k)+" are left alone, with what is in them: "+firstFew(names, "; "), diag.Position{}, ""
		}
		d.Hint = "restore what is to be managed, or take it out of the manifest"
		b.diags.Add(d)
	}
	if b.unlooked > 0 {
		b.notice("not-looked-up", diag.Count(b.unlooked, "thing")+" that the service does not list any more may be archived: it would take one request each to look",
			"--refresh-all looks; creating what is archived is refused, and nothing is done to it")
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
