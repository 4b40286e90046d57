package planner

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/resource"
)

// paramsIn are the path parameters for what lives in a thing of the manifest or
// of the state ("" = the workspace), nil where an ID is not known.
func (s *Survey) paramsIn(parent resource.Address) map[string]string {
	params := map[string]string{"workspace_slug": s.in.Workspace}
	for ; parent != ""; parent = parent.Parent() {
		id := s.idAt(parent)
		if id == "" {
			return nil
		}
		params[resource.Must(parent.Kind()).Param] = id
	}
	return params
}

// idAt is the ID of a thing of the manifest, else of the state, or "".
func (s *Survey) idAt(a resource.Address) string {
	if i, wanted := s.placeOf(a); wanted {
		if f := &s.facts[i]; f.standing == there && !f.moved {
			return f.id
		}
		return ""
	}
	if id := s.in.Prior[a].ID; id != "" {
		return id
	}
	return s.codedAt(a)
}

// codedAt is the ID of a thing that neither the manifest nor the state has any
// more, but of which the identifiers of what lived in it tell its own: WEB-7 lived in WEB.
func (s *Survey) codedAt(a resource.Address) string {
	k, ok := resource.Lookup(a.Kind())
	if !ok || k.Identifier == nil || k.Identifier.Wire == "" || k.Parent != "" || s.kinds[k].list == nil {
		return ""
	}
	if s.codes == nil {
		s.codes = map[resource.Address]string{}
		for address, r := range s.in.Prior {
			code, _, ok := strings.Cut(r.Identifier, "-")
			parent := address.Parent()
			if have := s.codes[parent]; ok && (have == "" || code < have) { // whatever the order of the map
				s.codes[parent] = code
			}
		}
	}
	code := s.codes[a]
	if code == "" {
		return ""
	}
	l, _ := s.list(s.kinds[k], none)
	for _, row := range l.rows {
		if shown := s.readable(k, none, row); strings.EqualFold(shown, code) {
			return row.ID()
		}
	}
	return ""
}

// placeOf is the fact of a thing of the manifest.
func (s *Survey) placeOf(a resource.Address) (int32, bool) {
	if s.places == nil {
		s.places = make(map[resource.Address]int32, len(s.in.Desired))
		for i, o := range s.in.Desired {
			s.places[o.Address] = int32(i)
		}
	}
	i, ok := s.places[a]
	return i, ok
}

// namedAt is the ID of a thing of the service under whose name or ID the state has its members.
func (s *Survey) namedAt(a resource.Address, params map[string]string) string {
	text := a.Key()
	if resource.IsID(text) {
		return resource.NormalID(text)
	}
	t := s.kinds[resource.Must(a.Kind())]
	if t.list == nil {
		return ""
	}
	path, missing := t.list.Expand(params)
	if missing != "" {
		return ""
	}
	answer, _ := s.ask(Read{Operation: t.list, Path: path, Fields: t.fields})
	id := ""
	for _, row := range answer.Rows {
		if !slices.ContainsFunc(naturals(t.kind, row), func(n string) bool { return strings.EqualFold(n, text) }) {
			continue
		}
		if id != "" {
			return "" // two bear the name
		}
		id = row.ID()
	}
	return id
}
