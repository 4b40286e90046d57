package planner

import (
	"slices"

	"github.com/planform/planform/internal/resource"
)

// archived reports whether a thing is where lists do not show it.
func (f *fact) archived() bool {
	at, _ := f.row["archived_at"].(string)
	return f.traits.archived != nil && at != ""
}

// shelved looks for a thing that would be created among those of its kind that
// somebody archived: one that planform made is never made again. was is the ID
// that the thing had, or "".
func (s *Survey) shelved(o *resource.Object, f *fact, was string) bool {
	t := f.traits
	if t.archived == nil || !t.marked {
		return false
	}
	path, _ := t.archived.Expand(s.params(f.parent))
	a, answered := s.ask(Read{Operation: t.archived, Path: path})
	if !answered {
		f.standing = pending
		return true
	}
	mark := resource.Mark(s.in.Workspace, o.Address)
	at := slices.IndexFunc(a.Rows, func(row resource.Row) bool { return row.ID() == was || row.Marked(mark) })
	if at >= 0 {
		f.standing, f.row, f.id = there, a.Rows[at], a.Rows[at].ID()
	}
	return at >= 0
}

// rest leaves a thing as it is that somebody archived, and says so.
func (b *builder) rest(i int) {
	o := b.in.Desired[i]
	b.know(i)
	b.plan.Summary.Unchanged++
	b.diags.Add(warning(o, "archived", string(o.Address)+" is archived on the service; it is left as it is, and so is who belongs to it"))
}
