package sandbox

import (
	_ "embed"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// operationsText lists the operations of the service, a path with its methods on each line, in sections: the community
// edition, and the references of API v1 and API v2.
//
//go:embed operations.txt
var operationsText string

// publishedPath is a path of the service.
type publishedPath struct {
	pattern string // "{}" is a parameter
	methods []string
}

// publishedPaths returns the paths of each section.
var publishedPaths = sync.OnceValue(func() map[string][]publishedPath { //nolint:gochecknoglobals // a constant
	paths, section := map[string][]publishedPath{}, ""
	for line := range strings.Lines(operationsText) {
		if name, begins := strings.CutPrefix(line, "["); begins {
			section, _, _ = strings.Cut(name, "]")
		} else if words := strings.Fields(line); len(words) > 1 {
			paths[section] = append(paths[section], publishedPath{words[0], words[1:]})
		}
	}
	return paths
})

// matches reports whether a path has the pattern. Parameters are IDs, except a workspace and, in API v2, a project or a work item.
func (pp publishedPath) matches(path string) bool {
	if strings.Count(pp.pattern, "/") != strings.Count(path, "/") {
		return false
	}
	pattern, given := strings.Split(pp.pattern, "/"), strings.Split(path, "/")
	for i, segment := range pattern {
		named := i > 0 && (pattern[i-1] == "workspaces" || strings.HasPrefix(path, v2Root) && slices.Contains([]string{"projects", "work-items"}, pattern[i-1]))
		if segment != given[i] && (segment != "{}" || !isUUID(given[i]) && !named) {
			return false
		}
	}
	return true
}

// publishedAt returns the service's own description of a path, whether or not the sandbox serves it. If a test takes operations of
// API v2 away, that API has none.
func (s *Server) publishedAt(path string) (publishedPath, bool) {
	if s.opts.HasOperation != nil && strings.HasPrefix(path, v2Root) {
		return publishedPath{}, false
	}
	for _, section := range s.opts.Edition.sections() {
		for _, p := range publishedPaths()[section] {
			if p.matches(path) {
				return p, true
			}
		}
	}
	return publishedPath{}, false
}

// sections returns the sections of operationsText that an edition has.
func (e Edition) sections() []string {
	return []string{"community", "reference", "v2"}[:map[Edition]int{Community: 1, Full: 2, Cloud: 3}[e]]
}

// Has reports whether an edition has an operation according to its own description or the reference. Parameters of the
// path are in braces.
func (e Edition) Has(method, path string) bool {
	path = regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "{}")
	return slices.ContainsFunc(e.sections(), func(section string) bool {
		return slices.ContainsFunc(publishedPaths()[section], func(p publishedPath) bool { return p.pattern == path && slices.Contains(p.methods, method) })
	})
}

// unservedAnswer returns the answer to an operation that the service has and the sandbox does not serve. ok is false if no such
// operation of the service is known.
func (s *Server) unservedAnswer(method, path string) (r reply, ok bool) {
	p, ok := s.publishedAt(path)
	if !ok || !slices.Contains(p.methods, method) {
		return reply{}, false
	}
	return notServed(fmt.Sprintf("%s %s", method, p.pattern)), true
}

// notServed returns the answer of the sandbox for something that it does not serve. No real server answers so.
func notServed(what string) reply {
	return refuse(http.StatusNotImplemented, "error", "The sandbox does not serve "+what+", which the real service has.")
}

// unknownParameters returns the names in the query except the known ones, sorted.
func (c *call) unknownParameters(known ...string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.query)), func(name string) bool { return slices.Contains(known, name) })
}

// unservedParameter returns a parameter of a request of API v1 that may have an effect and that planform does not send, or "".
func (c *call) unservedParameter() string {
	if c.route.notInCommunity { // the effects of parameters on these lists were never seen
		unknown := c.unknownParameters("per_page", "cursor", "fields", "limit", "offset", "workspace", "customer", "order_by")
		return strings.Join(unknown[:min(1, len(unknown))], "")
	}
	for _, name := range []string{"expand", "cycle_view", "format", "order_by"} {
		sent := name == "expand" && c.vars["identifier"] != "" || name == "order_by" && slices.Contains([]string{"-created_at", "-updated_at"}, c.query.Get(name)) && !c.route.fixedOrder
		if c.query.Has(name) && !sent {
			return name
		}
	}
	return ""
}

func unknownParameter(name string) string {
	return fmt.Sprintf("The sandbox does not know the parameter %q; the real service may answer otherwise.", name)
}

// noRoute answers requests that match no route.
func (s *Server) noRoute(w http.ResponseWriter, req *http.Request) {
	path := req.URL.Path
	if r, ok := s.unservedAnswer(req.Method, path); ok {
		send(w, req, r, nil)
	} else if p, ok := s.publishedAt(path); ok { // the service has it with other methods
		send(w, req, notServed(p.pattern), nil)
	} else if _, ok := s.publishedAt(path + "/"); ok {
		s.addSlash(w, req)
	} else {
		send(w, req, refuse(http.StatusNotFound, "error", textNoPage), nil)
	}
}
