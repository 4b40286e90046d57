package planner

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/resource"
)

// paramsIn are the path parameters for what lives in an object of the manifest or
// of the state ("" = the workspace), nil where an ID is not known.
func (s *Snapshot) paramsIn(parent resource.Address) map[string]string {
	params := map[string]string{"workspace_slug": s.in.Workspace}
	for ; parent != ""; parent = parent.Parent() {
		id := s.idAt(parent)
		if id == "" {
			return nil
		}
		params[resource.MustLookup(parent.Kind()).Param] = id
	}
	return params
}

// idAt is the ID of an object of the manifest, else of the state, or "".
func (s *Snapshot) idAt(a resource.Address) string {
	if i, wanted := s.indexOf(a); wanted {
		if f := &s.states[i]; f.presence == exists && !f.replaced {
			return f.id
		}
		return ""
	}
	if id := s.in.Prior[a].ID; id != "" {
		return id
	}
	return s.idByCode(a)
}

// idByCode is the ID of an object that neither the manifest nor the state has any
// more, but of which the identifiers of what lived in it tell its own: WEB-7 lived in WEB.
func (s *Snapshot) idByCode(a resource.Address) string {
	k, ok := resource.Lookup(a.Kind())
	if !ok || k.Identifier == nil || k.Identifier.APIName == "" || k.Parent != "" || s.kinds[k].list == nil {
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

// indexOf is the state of an object of the manifest.
func (s *Snapshot) indexOf(a resource.Address) (int, bool) {
	if s.byAddress == nil {
		s.byAddress = make(map[resource.Address]int, len(s.in.Desired))
		for i, o := range s.in.Desired {
			s.byAddress[o.Address] = i
		}
	}
	i, ok := s.byAddress[a]
	return i, ok
}

// idByName is the ID of an object of the service under whose name or ID the state has its members.
func (s *Snapshot) idByName(a resource.Address, params map[string]string) string {
	text := a.Key()
	if resource.IsID(text) {
		return resource.LowerID(text)
	}
	t := s.kinds[resource.MustLookup(a.Kind())]
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
		if !slices.ContainsFunc(displayTexts(t.kind, row), func(n string) bool { return strings.EqualFold(n, text) }) {
			continue
		}
		if id != "" {
			return "" // two bear the name
		}
		id = row.ID()
	}
	return id
}
