package sandbox

import (
	"cmp"
	_ "embed"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Workspace is the seeded workspace, and Key the API key of its admin.
const (
	Workspace = "acme"
	Key       = "plane_api_sandbox"
)

// Other credentials, and IDs of seeded records. They never change, so that manifests may name them.
const (
	bearerToken        = "sandbox_token"
	keyBob             = "plane_api_sandbox_bob"
	keyEve             = "plane_api_sandbox_eve"
	workspaceID        = "a0916eec-6e13-415e-82b6-4647c1881ef1"
	userAda            = "8d1e4cfe-937a-4aa2-be45-2f3453d8e8b4"
	userBob            = "641a71bb-a191-42e7-a33d-e936ee973713"
	userEve            = "33dc76ce-bfb9-450c-b813-b1e5836de318"
	projectWeb         = "556020b2-a2c9-4577-9eee-1fdf3a448fe1"
	projectOps         = "f537b6d0-3cc3-473e-8b23-0d902fd0044b"
	typeDefault        = "0c2f6a5e-8d0b-4c57-9a3e-6f1d2b7c8e90"
	definitionRelates  = "b7d1c3e4-52a6-4f08-9b1c-3d4e5f6a7b80"
	stateBacklog       = "c6695c62-d6b7-4ac9-949a-3627938a6501"
	stateTodo          = "8089ebd4-bcaf-40c7-85ff-2f7df3444b1c"
	stateInProgress    = "84936c40-8544-425b-b09a-519919e55dcf"
	stateDone          = "f4eb0d40-7d03-4856-a179-f67e09be81ab"
	stateCancelled     = "d745c9ab-7f30-4b24-8b9f-a0284dc65667"
	opsStateBacklog    = "0cde6c0b-9a53-429c-92ba-4caed787b7cb"
	opsStateTodo       = "4904b3b5-452b-4b22-bdf7-4ada53c4ef32"
	opsStateInProgress = "3c8feec7-ca1f-4b1c-b1e6-e16e0061c591"
	opsStateDone       = "2742551a-5f10-4c36-ad3e-d8adbe096edf"
	opsStateCancelled  = "42aa5ef5-69dd-4d09-8442-ddaa08ece256"
)

// seedState returns the fixed ID of a state that is created with a seeded project, or "".
func seedState(project, name string) string {
	return map[string]string{
		projectWeb + "Backlog": stateBacklog, projectWeb + "Todo": stateTodo, projectWeb + "In Progress": stateInProgress,
		projectWeb + "Done": stateDone, projectWeb + "Cancelled": stateCancelled,
		projectOps + "Backlog": opsStateBacklog, projectOps + "Todo": opsStateTodo, projectOps + "In Progress": opsStateInProgress,
		projectOps + "Done": opsStateDone, projectOps + "Cancelled": opsStateCancelled,
	}[project+name]
}

// seed fills a new database.
func (s *Server) seed(t *tx) error {
	t.prepare(s.kinds.all)
	if w, ok := t.get(s.kinds.workspace, workspaceID); ok {
		s.opts.Workspace = cmp.Or(s.opts.Workspace, text(w.row, "slug"))
	}
	s.opts.Workspace = cmp.Or(s.opts.Workspace, Workspace)
	defer func() { s.addPeople(t, s.opts.People, roleMember) }()
	const layout = "5" // version of the indexes
	switch t.index("seeded") {
	case layout:
		return nil
	case "":
	default: // an older planform made the database
		for _, k := range s.kinds.all {
			for _, r := range t.all(k, nil) {
				t.updateIndexes(k, nil, r.row)
			}
		}
		t.setIndex(layout, "seeded")
		return nil
	}
	t.setIndex(layout, "seeded")
	made := stamp(s.opts.Now())
	workspace := row{"name": s.opts.Workspace, "slug": s.opts.Workspace, "id": workspaceID, "work_item_type_default_level": 0}
	for feature := range strings.FieldsSeq(workspaceFeatures) {
		workspace[feature] = slices.Contains([]string{"is_initiative_enabled", "is_teams_enabled", "is_customer_enabled", "is_wiki_enabled"}, feature)
	}
	if s.opts.Governed {
		workspace[typesGoverned], workspace[statesGoverned] = true, true
		t.insert(s.kinds.itemType, scope(workspaceID), row{
			"id": typeDefault, "created_at": made, "name": "Default", "is_default": true, "is_active": true, "is_epic": false, "project": nil,
		})
	}
	t.insert(s.kinds.workspace, nil, workspace)
	t.insert(s.kinds.relationDefinition, scope(workspaceID), row{
		"id": definitionRelates, "created_at": made, "name": "Relates to", "outward": "relates to", "inward": "relates to", "is_default": true,
		"is_active": true, "description": "", "color": "", "sort_order": float(65535), "logo_props": row{},
	})
	s.addUser(t, userAda, "Ada", "Admin", "ada@example.com", Key, roleAdmin)
	s.addUser(t, userBob, "Bob", "Member", "bob@example.com", keyBob, roleMember)
	role := roleMember
	if s.opts.Workspace == Workspace {
		role = roleGuest
	}
	s.addUser(t, userEve, "Eve", "Guest", "eve@example.com", keyEve, role)
	t.setIndex(userAda, "token", bearerToken)
	if s.opts.Empty || s.opts.Workspace != Workspace {
		return nil
	}
	return s.seedRecords(t)
}

// addPeople adds people to the workspace by their e-mail addresses, unless they are members already.
func (s *Server) addPeople(t *tx, emails []string, role int) {
	known := map[string]bool{}
	for _, m := range t.all(s.kinds.member, scope(workspaceID)) {
		known[strings.ToLower(text(m.row, "email"))] = true
	}
	for _, email := range emails {
		email = strings.ToLower(email)
		if !known[email] && emailShape.MatchString(email) {
			known[email] = true
			s.addUser(t, uuid.NewSHA1(uuid.NameSpaceURL, []byte("mailto:"+email)).String(), "", "", email, "", role)
		}
	}
}

// addUser adds a user, without an API key if key is "", and outside the workspace if role is 0.
func (s *Server) addUser(t *tx, id, first, last, email, key string, role int) {
	name, _, _ := strings.Cut(email, "@")
	profile := row{"id": id, "first_name": first, "last_name": last, "email": email, "avatar": "", "avatar_url": nil, "display_name": name}
	t.insert(s.kinds.user, nil, profile)
	if key != "" {
		t.setIndex(id, "key", key)
	}
	if role == 0 {
		return
	}
	member := clone(profile)
	member["role"] = integer(role)
	t.insert(s.kinds.member, scope(workspaceID), member)
	t.setIndex(strconv.Itoa(role), "role", id)
}

// SeedRequest is a request of API v1, below the workspace, that creates a seeded record or changes one. A name in braces
// stands for the ID of the record with that name. ID is the ID of the record in the sandbox; "" = a random one.
type SeedRequest struct{ Name, ID, Method, Path, Body string }

// seedText holds a seed request in each line.
//
//go:embed seed.txt
var seedText string

// SeedRequests returns the requests that create the seed, in order.
func SeedRequests() []SeedRequest {
	var out []SeedRequest
	for line := range strings.Lines(seedText) {
		if part := strings.SplitN(strings.TrimSpace(line), " ", 5); part[0] != "#" {
			out = append(out, SeedRequest{strings.Trim(part[0], "-"), strings.Trim(part[1], "-"), part[2], part[3], part[4]})
		}
	}
	return out
}

// SeedName matches a name in braces in a [SeedRequest].
var SeedName = regexp.MustCompile(`\{([a-z]+)\}`)

// seedRecords creates the seed by the handlers of the requests.
func (s *Server) seedRecords(t *tx) error {
	k, ids := s.kinds, map[string]string{"ada": userAda, "bob": userBob}
	withIDs := func(text string) string {
		return SeedName.ReplaceAllStringFunc(text, func(name string) string { return ids[strings.Trim(name, "{}")] })
	}
	handlers := map[string]handler{
		"projects/": k.project.create, "projects//": k.project.change, "projects//project-members/": addMember, "projects//labels/": k.label.create,
		"projects//cycles/": createCycle, "projects//modules/": k.module.create, "projects//work-item-types/": k.itemType.create,
		"projects//estimates/": k.estimate.create, "projects//estimates//estimate-points/": createPoints, "projects//work-items/": createWorkItem,
		"projects//work-items//links/": k.link.create, "projects//work-items//comments/": k.comment.create, "initiatives/": k.initiative.create,
		"initiatives/labels/": k.initiativeLabel.create, "teamspaces/": k.teamspace.create, "customers/": k.customer.create,
		"customers//requests/": k.request.create, "customer-properties/": k.property.create, "pages/": k.page.create,
	}
	params := map[string]string{"projects": "project", "estimates": "estimate", "work-items": "item", "customers": "customer"}
	for _, r := range SeedRequests() {
		vars, segments := map[string]string{"workspace": s.opts.Workspace}, strings.Split(r.Path, "/")
		for i, segment := range segments {
			if SeedName.MatchString(segment) {
				vars[params[segments[i-1]]] = withIDs(segment)
			}
		}
		body, err := decodeRow([]byte(withIDs(r.Body)))
		must(err)
		route := SeedName.ReplaceAllString(r.Path, "")
		if route == "customers//requests/" && s.opts.Answers == Contract {
			body = row{"title": body["name"], "description": body["description_html"]}
		}
		ids[r.Name] = r.ID
		c := &call{Server: s, vars: vars, in: body, body: body, user: userAda, now: s.opts.Now(), nextID: r.ID}
		if answer := handlers[route](c, t); answer.status >= http.StatusMultipleChoices {
			return fmt.Errorf("seed %s: %d %s", r.Path, answer.status, encode(answer.body))
		}
	}
	return nil
}
