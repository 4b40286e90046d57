package sandbox

import (
	"context"
	_ "embed"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// route is one path with its endpoints. A parameter of its pattern is "{name}"; the name decides which segments match.
type route struct {
	api            *dialect
	pattern        string      // below the root of the API
	res            *resourceV2 // collection of the record that "{pk}" names
	permission     permission
	on             methods
	notInCommunity bool   // the community edition lacks the route
	since          string // version of the community edition that brought the route, which no other edition has
	unpaged        bool   // documented as a list without paging
	fixedOrder     bool   // the list is not sorted by age, and its orders are not served
	noSlash        string // method that is documented without trailing slash
}

// allowHeader returns the Allow header of the route.
func (rt *route) allowHeader() string {
	var names []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		if rt.on[m] != nil {
			names = append(names, m)
		}
	}
	return strings.Join(names, ", ")
}

// methods holds the endpoints of a route.
type methods map[string]*endpoint

// endpoint is a handler and, if it differs, the documented status of success.
type endpoint struct {
	do       handler
	contract int
	bulk     bool // API v2: an empty body is decoded as well
	bodyless bool // API v1: the body is ignored
	anyMedia bool // API v1: a body that is no JSON is accepted as null
}

func do(h handler) *endpoint { return &endpoint{do: h} }

// documented returns the endpoint of a handler whose documented status differs from its answer.
func documented(h handler, status int) *endpoint { return &endpoint{do: h, contract: status} }

// collection returns the endpoints of a list.
func collection(k *kind) methods {
	return methods{http.MethodGet: do(k.list), http.MethodPost: do(k.create)}
}

// element returns the endpoints of a record.
func element(k *kind) methods {
	return methods{http.MethodGet: do(k.read), http.MethodPatch: do(k.change), http.MethodDelete: do(k.remove)}
}

const apiRoot = "/api/v1/"

// instanceText is the answer of the community edition about itself.
//
//go:embed instance.json
var instanceText string

// endpoints returns the patterns of the mux and their handlers. The patterns have no methods, because the service checks
// the method after the credential.
func (s *Server) endpoints() (patterns []string, handlers []http.HandlerFunc) {
	add := func(pattern string, handler http.HandlerFunc) {
		patterns, handlers = append(patterns, pattern), append(handlers, handler)
	}
	add("/", s.servePage)
	add("/api/instances/{$}", func(w http.ResponseWriter, req *http.Request) {
		about := `{"is_activated": false, "is_setup_done": false}`
		if s.opts.Edition == Community {
			about = strings.ReplaceAll(instanceText, "VERSION", s.opts.Version)
		}
		send(w, req, reply{http.StatusOK, json.RawMessage(about)}, nil)
	})
	add(storePath, s.serveStore)
	if s.opts.Edition == Cloud {
		add(v2Root, s.noRoute) // so that the root without its slash is a redirect
	}
	for _, r := range s.routes() {
		pattern := r.api.root + r.pattern
		add(pattern+"{$}", s.matchRoute(&r, func(w http.ResponseWriter, req *http.Request, vars map[string]string) {
			s.answer(w, req, &r, vars)
		}))
		add(strings.TrimSuffix(pattern, "/"), s.matchRoute(&r, func(w http.ResponseWriter, req *http.Request, vars map[string]string) {
			if s.opts.Answers == Contract && r.noSlash == req.Method {
				s.answer(w, req, &r, vars)
				return
			}
			s.addSlash(w, req)
		}))
	}
	return patterns, handlers
}

// muxes caches a mux for each list of patterns, because building one takes longer than a hundred requests.
var muxes sync.Map //nolint:gochecknoglobals // it holds what would be built again

type handlersKey struct{}

// mux serves the routes of the edition. A pattern that conflicts with another, as "releases/{pk}/labels/" does with
// "releases/labels/{pk}/", is tried after it.
func (s *Server) mux() http.Handler {
	patterns, handlers := s.endpoints()
	key := strings.Join(patterns, "\n")
	held, ok := muxes.Load(key)
	if !ok {
		mux, crossed := http.NewServeMux(), http.NewServeMux()
		for i, pattern := range patterns {
			handle := func(w http.ResponseWriter, req *http.Request) {
				of, _ := req.Context().Value(handlersKey{}).([]http.HandlerFunc)
				of[i](w, req)
			}
			switch {
			case pattern == "/", pattern == v2Root: // they match paths without a route
				crossed.HandleFunc(pattern, handle)
				mux.Handle(pattern, crossed)
			case !register(mux, pattern, handle):
				crossed.HandleFunc(pattern, handle)
			}
		}
		held, _ = muxes.LoadOrStore(key, mux)
	}
	mux, _ := held.(*http.ServeMux)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		mux.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), handlersKey{}, handlers)))
	})
}

// register adds a pattern to a mux, unless it conflicts with another.
func register(mux *http.ServeMux, pattern string, handle http.HandlerFunc) (ok bool) {
	defer func() { ok = recover() == nil }() // a ServeMux offers no other way to ask
	mux.HandleFunc(pattern, handle)
	return true
}

// addSlash redirects to the path with a slash at its end.
func (s *Server) addSlash(w http.ResponseWriter, req *http.Request) {
	to := url.URL{Path: s.opts.Prefix + req.URL.Path + "/", RawQuery: req.URL.RawQuery}
	send(w, req, reply{status: http.StatusMovedPermanently}, http.Header{"Location": {to.String()}, "Content-Type": {htmlText}})
}

// matchRoute returns a handler that calls do with the parameters of a request, if they match the route.
func (s *Server) matchRoute(r *route, do func(http.ResponseWriter, *http.Request, map[string]string)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		vars := make(map[string]string, 4)
		for segment := range strings.SplitSeq(r.pattern, "/") {
			name, ok := strings.CutPrefix(strings.TrimSuffix(segment, "}"), "{")
			if ok && !r.api.match(r, req.Method, name, req.PathValue(name), vars) {
				s.noRoute(w, req)
				return
			}
		}
		do(w, req, vars)
	}
}

// matchParam checks a segment against its parameter, and keeps it.
func matchParam(name, segment string, vars map[string]string) bool {
	switch name {
	case "workspace":
		vars[name] = segment
		return segment != ""
	case "invitation":
		vars[name] = segment
		return !strings.Contains(segment, ".")
	case "identifier":
		// The last hyphen with text after it separates the number.
		i := strings.LastIndexByte(strings.TrimSuffix(segment, "-"), '-')
		if i < 1 || i == len(segment)-1 {
			return false
		}
		vars[name], vars["number"] = segment[:i], segment[i+1:]
		return true
	}
	vars[name] = segment
	return isUUID(segment)
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// isUUID accepts the form of the service's routes: lower case and dashes.
func isUUID(s string) bool { return uuidForm.MatchString(s) }

// routes returns every route of the edition.
func (s *Server) routes() []route {
	routes, api := s.table(), s.v1()
	for i := range routes {
		routes[i].api = api
	}
	switch s.opts.Edition {
	case Community:
		return slices.DeleteFunc(routes, func(r route) bool { return r.notInCommunity || s.opts.Version < r.since })
	case Cloud:
		routes = append(routes, s.routesV2()...)
	case Full:
	}
	return slices.DeleteFunc(routes, func(r route) bool { return r.since != "" })
}

// table returns every route of API v1.
func (s *Server) table() []route {
	const (
		ws      = "workspaces/{workspace}/"
		project = ws + "projects/{project}/"
		item    = project + "work-items/{item}/"
	)
	states, labels, cycles, modules := s.kinds.state, s.kinds.label, s.kinds.cycle, s.kinds.module
	links, comments := s.kinds.link, s.kinds.comment
	get, post, patch, del := http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete

	routes := []route{
		{pattern: "users/me/", permission: anyone, on: methods{get: do(readUser)}},
		{pattern: ws + "members/", permission: workspacePeople, on: methods{get: do(s.kinds.member.listNewest)}},
		{pattern: ws + "members-lite/", since: "1.4", permission: workspacePeople, on: methods{get: do(listLightly(s.kinds.member, "id"))}},
		{pattern: ws + "invitations/", permission: workspaceAdmins, on: methods{
			get: do(s.kinds.invitation.listNewest), post: do(s.kinds.invitation.create),
		}},
		{pattern: ws + "invitations/{invitation}/", permission: workspaceAdmins, on: methods{
			get: do(ofInvitation(s.kinds.invitation.read)), del: do(ofInvitation(s.kinds.invitation.remove)),
		}},
		{pattern: ws + "work-items/{identifier}/", permission: projectKey, on: methods{get: do(byIdentifier)}},

		{pattern: ws + "projects/", permission: projectBase, fixedOrder: true, on: methods{get: do(s.kinds.project.list), post: {do: createProject, anyMedia: true}}},
		{pattern: project, permission: projectBase, noSlash: patch, on: methods{
			get: do(s.kinds.project.read), patch: do(changeProject), del: do(s.kinds.project.remove),
		}},
		{pattern: project + "summary/", permission: workspacePeople, on: methods{get: do(summary)}},
		{pattern: project + "archive/", permission: projectBase, on: methods{post: do(archiveProject(true)), del: do(archiveProject(false))}},
		{pattern: project + "project-members/", permission: projectMembers, on: methods{get: do(listProjectMembers), post: do(addMember)}},
		{pattern: project + "project-members-lite/", since: "1.4", permission: projectLabels, on: methods{
			get: do(listLightly(s.kinds.projectMember, "member")),
		}},
		{pattern: project + "project-members/{member}/", permission: projectMembers, on: methods{
			get: do(readMember), patch: do(changeMember), del: do(removeMember),
		}},
		{pattern: project + "states/", on: refuseElsewhere(statesGoverned, methods{get: do(states.list), post: do(createState)})},
		{pattern: project + "states/{state}/", on: refuseElsewhere(statesGoverned, element(states))},
		{pattern: project + "labels/", permission: projectLabels, on: methods{get: do(listLabels), post: do(labels.create)}},
		{pattern: project + "labels/{label}/", permission: projectLabels, on: methods{
			get: do(readLabel), patch: do(unlessArchived(labels.change)), del: do(unlessArchived(labels.remove)),
		}},

		{pattern: project + "cycles/", on: methods{get: do(listUnarchived(cycles)), post: do(createCycle)}},
		{pattern: project + "cycles/{cycle}/", on: methods{
			get: do(readUnarchived(cycles)), patch: do(cycles.change), del: do(cycles.remove),
		}},
		{pattern: project + "cycles/{cycle}/archive/", on: methods{post: do(archive(cycles, true))}},
		{pattern: project + "archived-cycles/", on: methods{get: do(listArchived(cycles))}},
		{pattern: project + "archived-cycles/{cycle}/unarchive/", on: methods{del: do(archive(cycles, false))}},
		{pattern: project + "cycles/{cycle}/cycle-issues/", fixedOrder: true, on: methods{
			get: do(listMembers(cycles, s.kinds.cycleIssue)), post: documented(addCycleIssues, http.StatusCreated),
		}},
		{pattern: project + "cycles/{cycle}/cycle-issues/{item}/", on: methods{del: do(removeMembership(s.kinds.cycleIssue))}},

		{pattern: project + "modules/", on: methods{get: do(listUnarchived(modules)), post: do(modules.create)}},
		{pattern: project + "modules/{module}/", on: methods{
			get: do(readUnarchived(modules)), patch: do(modules.change), del: do(modules.remove),
		}},
		{pattern: project + "modules/{module}/archive/", on: methods{post: do(archive(modules, true))}},
		{pattern: project + "archived-modules/", on: methods{get: do(listArchived(modules))}},
		{pattern: project + "archived-modules/{module}/unarchive/", on: methods{del: do(archive(modules, false))}},
		{pattern: project + "modules/{module}/module-issues/", fixedOrder: true, on: methods{
			get: do(listMembers(modules, s.kinds.moduleIssue)), post: do(addModuleIssues),
		}},
		{pattern: project + "modules/{module}/module-issues/{item}/", on: methods{del: do(removeMembership(s.kinds.moduleIssue))}},

		{pattern: project + "work-items/", on: methods{get: do(listWorkItems), post: do(createWorkItem)}},
		{pattern: item, on: methods{get: do(s.kinds.workItem.read), patch: do(changeWorkItem), del: do(removeWorkItem)}},
		{pattern: item + "links/", unpaged: true, on: methods{get: do(links.list), post: do(createAudited(links))}},
		{pattern: item + "links/{link}/", on: element(links)},
		{pattern: item + "comments/", permission: projectLite, on: methods{get: do(comments.list), post: do(createAudited(comments))}},
		{pattern: item + "comments/{comment}/", permission: projectLite, on: element(comments)},
		{pattern: item + "activities/", permission: projectLite, fixedOrder: true, unpaged: true, on: methods{get: do(listActivities)}},
		{pattern: item + "relations/", on: methods{get: do(listRelations), post: do(addRelations)}},
		{pattern: item + "relations/remove/", notInCommunity: true, on: methods{post: do(removeRelation)}},
		{pattern: item + "attachments/", permission: anyone, on: methods{
			get: do(listAttachments), post: do(ofAttachments("upload", createAttachment)),
		}},
		{pattern: item + "attachments/{attachment}/", permission: anyone, on: methods{
			get: do(ofAttachments("download", leadToFile)), patch: {do: ofAttachments("upload", confirmAttachment), bodyless: true},
			del: do(ofAttachments("delete", removeAttachment)),
		}},
	}
	return slices.Concat(routes, s.fullTable(ws, project))
}

// fullTable returns the routes that the community edition lacks.
func (s *Server) fullTable(ws, project string) []route {
	get, post, patch, del := http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete
	k := s.kinds
	routes := []route{
		{pattern: ws + "initiatives/{initiative}/projects/", on: memberList{k.initiative, k.initiativeProject, k.project}.methods()},
		{pattern: ws + "initiatives/{initiative}/labels/", on: memberList{k.initiative, k.initiativeLabelLink, k.initiativeLabel}.methods()},
		{pattern: ws + "initiatives/{initiative}/epics/", on: memberList{k.initiative, k.initiativeEpic, k.workItem}.methods()},
		{pattern: ws + "teamspaces/{teamspace}/projects/", on: memberList{k.teamspace, k.teamspaceProject, k.project}.methods()},
		{pattern: ws + "teamspaces/{teamspace}/members/", on: memberList{k.teamspace, k.teamspaceMember, k.user}.methods()},
		{pattern: ws + "customers/{customer}/requests/", on: methods{get: do(requestsOf(k.request.list)), post: do(requestsOf(k.request.create))}},
		{pattern: ws + "customers/{customer}/requests/{request}/", on: element(k.request)},
		{pattern: ws + "customers/{customer}/property-values/", on: methods{get: do(customerValues)}},
		{pattern: ws + "customers/{customer}/property-values/{property}/", on: methods{patch: do(setCustomerValues)}},
		{pattern: ws + "customer-properties/", on: methods{get: do(k.property.list), post: do(k.property.create)}},
		{pattern: ws + "customer-properties/{property}/", on: element(k.property)},
		{pattern: ws + "pages/", on: collection(k.page)},
		{pattern: ws + "pages/{page}/", on: methods{get: do(k.page.read)}},
		{pattern: project + "pages/", on: collection(k.projectPage)},
		{pattern: project + "pages/{page}/", on: methods{get: do(k.projectPage.read)}},
		{pattern: project + "work-item-types/", on: refuseElsewhere(typesGoverned, methods{
			get: do(listTypes), post: do(k.itemType.create),
		})},
		{pattern: project + "work-item-types/{type}/", on: refuseElsewhere(typesGoverned, element(k.itemType))},
		{pattern: project + "work-item-types/{type}/work-item-properties/", on: refuseElsewhere(typesGoverned, methods{
			get: do(ofType(listItemProperties)), post: do(ofType(k.itemProperty.create)),
		})},
		{pattern: project + "work-item-types/{type}/work-item-properties/{property}/", on: refuseElsewhere(typesGoverned, methods{
			get: do(ofType(k.itemProperty.read)), patch: do(ofType(k.itemProperty.change)),
		})},
		{pattern: project + "work-item-properties/{property}/options/", on: refuseElsewhere(typesGoverned, methods{
			get: do(ofProperty(k.propertyOption.listWhole)), post: do(ofProperty(k.propertyOption.create)),
		})},
		{pattern: project + "work-item-properties/{property}/options/{option}/", on: refuseElsewhere(typesGoverned, methods{
			get: do(ofProperty(k.propertyOption.read)), patch: do(ofProperty(k.propertyOption.change)),
		})},
		{
			pattern: project + "work-items/{item}/work-item-properties/{property}/values/",
			on:      methods{get: do(ofItem(readValue)), post: do(ofItem(setValue)), del: do(ofItem(removeValue))},
		},
		{pattern: project + "estimates/", on: methods{get: do(readEstimate), post: do(k.estimate.create), patch: do(changeEstimate)}},
		{pattern: project + "estimates/{estimate}/estimate-points/", on: methods{get: do(k.estimatePoint.listWhole), post: do(createPoints)}},
		{pattern: project + "estimates/{estimate}/estimate-points/{point}/", on: methods{
			patch: do(k.estimatePoint.change), del: do(k.estimatePoint.remove),
		}},
		{pattern: project + "milestones/{milestone}/work-items/", on: methods{get: do(listMembers(k.milestone, k.milestoneIssue))}},
		{pattern: ws + "features/", on: methods{get: do(readWorkspaceFeatures)}},
		{pattern: ws + "states/", on: refuseElsewhere(statesGoverned, methods{get: do(listWorkspaceStates), post: do(k.state.create)})},
		{pattern: ws + "states/{state}/", on: refuseElsewhere(statesGoverned, element(k.state))},
	}
	for _, k := range s.kinds.all {
		if k.path != "" {
			routes = append(routes, route{pattern: ws + k.path, on: collection(k)}, route{pattern: ws + k.path + "{" + k.param + "}/", on: element(k)})
		}
	}
	for i := range routes {
		routes[i].notInCommunity = true
		if !strings.HasPrefix(routes[i].pattern, project) {
			routes[i].permission = workspaceWide
		}
	}
	return routes
}
