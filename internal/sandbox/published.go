package sandbox

import (
	_ "embed"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// operationsText is the operations that the service has, a path with its methods a line, in sections: what the community
// edition has, and what the references of API v1 and API v2 have.
//
//go:embed operations.txt
var operationsText string

// publishedPath is a path that the service has.
type publishedPath struct {
	pattern string // "{}" is a parameter
	methods []string
}

// publishedPaths is those of a section.
func publishedPaths(section string) []publishedPath {
	_, text, _ := strings.Cut(operationsText, "["+section+"]\n")
	text, _, _ = strings.Cut(text, "\n[")
	var out []publishedPath
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 1 {
			out = append(out, publishedPath{words[0], words[1:]})
		}
	}
	return out
}

// matches says whether a path is of the pattern. Of the parameters only a workspace, and in API v2 a project or a work item, is
// named by anything but an ID.
func (p publishedPath) matches(path string) bool {
	pattern, given := strings.Split(p.pattern, "/"), strings.Split(path, "/")
	if len(pattern) != len(given) {
		return false
	}
	for i, segment := range pattern {
		named := i > 0 && (pattern[i-1] == "workspaces" || strings.HasPrefix(path, v2Root) && slices.Contains([]string{"projects", "work-items"}, pattern[i-1]))
		if segment != given[i] && (segment != "{}" || !isUUID(given[i]) && !named) {
			return false
		}
	}
	return true
}

// published finds what the service has at a path and the sandbox may not have.
func (s *Server) published(path string) (publishedPath, bool) {
	for _, section := range s.opts.Edition.sections() {
		for _, p := range publishedPaths(section) {
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

// Has says whether an edition has an operation, as far as its own description or the reference tells. Parameters of the path
// stand in braces.
func (e Edition) Has(method, path string) bool {
	path = regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "{}")
	return slices.ContainsFunc(e.sections(), func(section string) bool {
		return slices.ContainsFunc(publishedPaths(section), func(p publishedPath) bool { return p.pattern == path && slices.Contains(p.methods, method) })
	})
}

// unserved is the answer to a request of which the sandbox does not know what the service would answer; ok is false if the
// service has no such operation, as far as is known.
func (s *Server) unserved(method, path string) (r reply, ok bool) {
	p, ok := s.published(path)
	if !ok || !slices.Contains(p.methods, method) || !s.speaksFor(path) {
		return reply{}, false
	}
	return notServed(fmt.Sprintf("%s %s", method, p.pattern)), true
}

// notServed is what the sandbox says of itself. No real server answers so.
func notServed(what string) reply {
	return refuse(http.StatusNotImplemented, "error", "The sandbox does not serve "+what+", which the real service has.")
}

// unknownParameters is the names of a query but those that are known, sorted.
func (c *call) unknownParameters(known ...string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.query)), func(name string) bool { return slices.Contains(known, name) })
}

// unservedParameter returns a parameter of a request of API v1 that has an effect, or may have one, and that planform does not send.
func (c *call) unservedParameter() string {
	if c.route.notInCommunity { // nobody saw what these lists do
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

func unknownField(name string) string {
	return fmt.Sprintf("The sandbox does not know the field %q, which the real service has.", name)
}

// noRoute answers requests that no route takes.
func (s *Server) noRoute(w http.ResponseWriter, req *http.Request) {
	path := req.URL.Path
	if r, ok := s.unserved(req.Method, path); ok {
		send(w, req, r, nil)
	} else if p, ok := s.published(path); ok && s.speaksFor(path) { // in another way
		send(w, req, notServed(p.pattern), nil)
	} else if _, ok := s.published(path + "/"); ok && s.speaksFor(path) {
		s.addSlash(w, req)
	} else {
		send(w, req, refuse(http.StatusNotFound, "error", textNoPage), nil)
	}
}

// speaksFor says whether the sandbox has what it says that the service has: a test can take operations of API v2 away.
func (s *Server) speaksFor(path string) bool {
	return s.opts.HasOperation == nil || !strings.HasPrefix(path, v2Root)
}
