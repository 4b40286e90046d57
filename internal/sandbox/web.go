package sandbox

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // for the template and the style
	"encoding/base64"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

//go:embed web/page.html
var webPage string

//go:embed web/style.css
var webStyle string

// mostEntries is the number of records that a list shows.
const mostEntries = 500

// sheet is a page that shows a record to people.
type sheet struct {
	entry

	Style        template.CSS
	Way          []entry // the pages above
	Facts, Lists []section
}

// section is a list of a page, a column of a board, or a field with its values.
type section struct {
	Title, Color string
	Entries      []entry
	Count, More  int
	Columns      []section
	Short        bool // the entries are names only
}

// entry is a record in a list.
type entry struct {
	Code, Text, URL, Note, Color string
	Body                         template.HTML
}

// servePage answers the paths of the service's web app with pages that show the workspace, and other paths as noRoute does.
func (s *Server) servePage(w http.ResponseWriter, req *http.Request) {
	path := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	var page *sheet
	if reads := req.Method == http.MethodGet || req.Method == http.MethodHead; reads && (path[0] == "" || path[0] == s.opts.Workspace) {
		must(s.store.view(func(t *tx) error {
			page = (&reader{&call{Server: s, vars: map[string]string{}, req: req}, t}).sheet(path[1:])
			return nil
		}))
	}
	if page == nil {
		s.noRoute(w, req)
		return
	}
	var out bytes.Buffer
	page.Style = template.CSS(webStyle) //nolint:gosec // it is a file of this package
	must(template.Must(template.New("").Parse(webPage)).Execute(&out, page))
	style := sha256.Sum256([]byte(webStyle))
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(style[:])+
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", htmlText)
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if req.Method != http.MethodHead {
		_, _ = out.WriteTo(w) // a client that has gone is no matter of ours
	}
}

// contents returns the kinds of the lists in a record of a kind that has pages.
func (k *kinds) contents() map[*kind][]*kind {
	return map[*kind][]*kind{
		k.workspace: {
			k.project, k.initiative, k.teamspace, k.customer, k.release, k.page, k.view, k.initiativeLabel, k.releaseLabel, k.releaseTag,
			k.relationDefinition, k.template, k.webhook, k.member,
		},
		k.project: {
			k.cycle, k.module, k.milestone, k.projectPage, k.projectView, k.label, k.itemType, k.estimate, k.workflow, k.projectTemplate,
			k.projectMember, k.hiddenItem,
		},
		k.workItem: {k.link, k.attachment, k.comment}, k.hiddenItem: {k.link, k.attachment, k.comment},
		k.cycle: {}, k.module: {}, k.milestone: {}, k.projectPage: {}, k.page: {}, k.initiative: {}, k.teamspace: {},
		k.customer: {k.request}, k.release: {k.changelog, k.releaseLink},
	}
}

// reader makes pages from the rows of the store.
type reader struct {
	*call

	t *tx
}

// sheet returns the page of a path below the workspace, nil if there is none. The last ID of the path selects the record.
func (r *reader) sheet(path []string) *sheet {
	if len(path) == 0 {
		return r.record(workspaceID)
	}
	last := strings.TrimSuffix(strings.Join(path, "/"), "/issues")
	last = last[strings.LastIndexByte(last, '/')+1:]
	if i := strings.LastIndexByte(last, '-'); path[0] == "browse" && i > 0 {
		last = r.t.first("sequence", r.t.first("identifier", last[:i]), last[i+1:])
	}
	return r.record(last)
}

// find returns the record with an ID, of whatever kind.
func (r *reader) find(id string) (*kind, stored) {
	for _, k := range r.kinds.every {
		if s, ok := r.t.get(k, id); ok {
			return k, s
		}
	}
	return nil, stored{row: row{}}
}

// record returns the page of a record, nil if there is none.
func (r *reader) record(id string) *sheet {
	k, found := r.find(id)
	contents, ok := r.kinds.contents()[k]
	if !ok {
		return nil
	}
	o, in := found.row, scope(id)
	page := &sheet{entry: r.entry(k, o), Way: []entry{{Text: r.opts.Workspace, URL: r.opts.Prefix + "/"}}}
	if p, project := r.find(text(o, "project")); p != nil {
		page.Way = append(page.Way, r.entry(p, project.row))
	}
	if page.Body = plainHTML(text(o, "description_html")); page.Body == "" {
		page.Body = plainHTML(template.HTMLEscapeString(text(o, "description")))
	}
	for name := range strings.FieldsSeq("state status priority type assignees lead project_lead default_assignee members labels estimate_point start_date " +
		"end_date target_date release_date completed_at parent tag email website_url domain employees stage contract_status revenue created_by archived_at") {
		addTo(&page.Facts, section{Title: name, Entries: r.values(o[name])})
	}
	r.memberships(page, k, id)
	for _, values := range []*kind{r.kinds.itemValue, r.kinds.customerValue} {
		for _, v := range r.t.all(values, in) {
			_, property := r.find(text(v.row, "property"))
			addTo(&page.Facts, section{Title: text(property.row, "display_name"), Entries: r.values(cmp.Or(v.row["value"], v.row["values"]))})
		}
	}
	switch k {
	case r.kinds.workItem, r.kinds.hiddenItem:
		in = scope(id, text(o, "project"))
		addTo(&page.Lists, r.relations(id))
	case r.kinds.project:
		addTo(&page.Lists, r.board(id))
	}
	if slices.Contains(k.all, "parent") {
		all := r.t.all(k, found.key[:len(found.key)-8]) // of the list that the record is in
		addTo(&page.Lists, r.list("sub-"+k.name[strings.LastIndexByte(k.name, '_')+1:]+"s", slices.DeleteFunc(all, func(s stored) bool { return text(s.row, "parent") != id })))
	}
	for _, inside := range contents {
		addTo(&page.Lists, r.list(inside.name+"s", r.t.all(inside, in)))
	}
	return page
}

// addTo adds a section to others unless it is empty. Its title is the name of a field or a kind.
func addTo(sections *[]section, s section) {
	if s.Title != "" && len(s.Entries)+len(s.Columns) > 0 {
		name := strings.ReplaceAll(s.Title, "_", " ")
		s.Title = strings.ToUpper(name[:1]) + name[1:]
		*sections = append(*sections, s)
	}
}

// values describes the value of a field: each record that it names, or its text.
func (r *reader) values(value any) (out []entry) {
	all, many := value.([]any)
	if !many {
		all = []any{value}
	}
	for _, v := range all {
		e := entry{Text: strings.TrimSuffix(valueText(v), "T00:00:00Z")}
		if k, s := r.find(e.Text); k != nil {
			e = r.entry(k, s.row)
		}
		if e.Text != "" && e.Text != "none" {
			out = append(out, e)
		}
	}
	return out
}

// memberships adds what a record contains as a list, and the containers that it is in as fields.
func (r *reader) memberships(page *sheet, k *kind, id string) {
	for _, links := range []*kind{
		r.kinds.cycleIssue, r.kinds.moduleIssue, r.kinds.milestoneIssue, r.kinds.releaseItem, r.kinds.initiativeProject, r.kinds.initiativeEpic,
		r.kinds.teamspaceProject, r.kinds.teamspaceMember, r.kinds.initiativeLabelLink, r.kinds.releaseLabelLink,
	} {
		names := links.indexes[0] // its fields are the member and the container
		if member, container := names.fields[0], names.fields[1]; k.name == container {
			var members []stored
			for _, s := range r.t.all(links, scope(id)) {
				_, found := r.find(text(s.row, member))
				members = append(members, found)
			}
			addTo(&page.Lists, r.list(strings.NewReplacer("issue", "work_item", "epic", "work_item").Replace(member)+"s", members))
		} else {
			var containers []any
			for _, link := range r.t.under(mostEntries, names.name, id) {
				_, s := r.find(link)
				containers = append(containers, s.row[container])
			}
			addTo(&page.Facts, section{Title: container, Entries: r.values(containers)})
		}
	}
}

// list describes the records of a list.
func (r *reader) list(title string, rows []stored) section {
	s := section{Title: title, Count: len(rows), More: max(0, len(rows)-mostEntries)}
	for _, one := range rows[:min(len(rows), mostEntries)] {
		k, _ := r.find(text(one.row, "id"))
		s.Entries = append(s.Entries, r.entry(k, one.row))
	}
	s.Short = !slices.ContainsFunc(s.Entries, func(e entry) bool { return e.URL != "" || e.Body != "" })
	return s
}

// board lists the work items of a project by their states.
func (r *reader) board(project string) section {
	r.vars["project"] = project
	board, items := section{Title: "work items"}, map[string][]stored{}
	for _, item := range r.t.all(r.kinds.workItem, scope(project)) {
		items[text(item.row, "state")] = append(items[text(item.row, "state")], item)
		board.Count++
	}
	states := r.kinds.state.within(r.call, r.t)
	slices.SortStableFunc(states, func(a, b stored) int { return r.kinds.state.sort(a.row, b.row) })
	for _, state := range states {
		column := r.list(text(state.row, "name"), items[text(state.row, "id")])
		column.Color = text(state.row, "color")
		for i, e := range column.Entries { // the column says the state
			column.Entries[i].Color, column.Entries[i].Note = "", strings.TrimPrefix(strings.TrimPrefix(e.Note, text(state.row, "name")), " · ")
		}
		board.Columns = append(board.Columns, column)
	}
	return board
}

// relations lists the relations of a work item, each under the name that it has from there.
func (r *reader) relations(item string) section {
	s := section{Title: "relations"}
	for _, relation := range relationsOf(r.call, r.t, item) {
		name, other, side := text(relation.row, "relation_type"), text(relation.row, "related_issue"), "outward"
		if other == item {
			name, other, side = inverseRelation(name), text(relation.row, "issue"), "inward"
		}
		if _, definition := r.find(name); definition.row[side] != nil {
			name = text(definition.row, side)
		}
		e := r.values(other)[0]
		e.Note, s.Count = strings.ReplaceAll(name, "_", " "), s.Count+1
		s.Entries = append(s.Entries, e)
	}
	return s
}

// dayOf returns the day of a date or a time.
func dayOf(o row, name string) string { return text(o, name)[:min(10, len(text(o, name)))] }

// entry describes a record in a line: its name, what is next to it, and the address of its page if it has one.
func (r *reader) entry(k *kind, o row) entry {
	e := entry{Color: text(o, "color")}
	e.Text = cmp.Or(text(o, "display_name"), text(o, "name"), text(o, "title"), text(o, "url"), text(o, "value"), text(o, "version"), "Untitled")
	if _, ok := r.kinds.contents()[k]; ok {
		e.URL = r.opts.Prefix + "/" + r.opts.Workspace + "/" + k.name + "/" + text(o, "id")
	}
	switch k {
	case r.kinds.project:
		e.Code, e.Note = text(o, "identifier"), "work items: "+strconv.Itoa(r.t.count(r.kinds.workItem, scope(text(o, "id"))))
	case r.kinds.cycle, r.kinds.module, r.kinds.initiative:
		e.Note = strings.Trim(dayOf(o, "start_date")+" – "+cmp.Or(dayOf(o, "end_date"), dayOf(o, "target_date")), " –")
	case r.kinds.user, r.kinds.member:
		e.Note = text(o, "email")
	case r.kinds.projectMember:
		e = r.values(o["member"])[0]
	case r.kinds.link, r.kinds.releaseLink:
		e.URL = text(o, "url")
	case r.kinds.attachment:
		attributes, _ := o["attributes"].(row)
		e.Text, e.Note = text(attributes, "name"), valueText(attributes["size"])+" bytes"
	case r.kinds.comment:
		who := append(r.values(cmp.Or(o["created_by"], o["actor"])), entry{Text: "somebody"})
		e.Text, e.Note, e.Body = who[0].Text, dayOf(o, "created_at"), plainHTML(text(o, "comment_html"))
	case r.kinds.request, r.kinds.changelog:
		e.URL, e.Body = text(o, "link"), plainHTML(text(o, "description_html"))
	case r.kinds.workItem, r.kinds.hiddenItem, r.kinds.deletedItem:
		project, _ := r.t.get(r.kinds.project, text(o, "project"))
		state, _ := r.t.get(r.kinds.state, text(o, "state"))
		notes := []string{text(state.row, "name"), strings.TrimPrefix(text(o, "priority"), "none")}
		for _, assignee := range r.values(o["assignees"]) {
			notes = append(notes, assignee.Text)
		}
		e.Code, e.Color = text(project.row, "identifier")+"-"+valueText(o["sequence_id"]), text(state.row, "color")
		e.URL = strings.Replace(e.URL, k.name+"/"+text(o, "id"), "browse/"+e.Code, 1)
		e.Note = strings.Join(slices.DeleteFunc(notes, func(s string) bool { return s == "" }), " · ")
	}
	return e
}
