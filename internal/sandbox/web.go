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

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
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
	Short        bool // the entries are only names
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
	page.Style = template.CSS(webStyle) //nolint:gosec // a file of this package
	must(template.Must(template.New("").Parse(webPage)).Execute(&out, page))
	style := sha256.Sum256([]byte(webStyle))
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(style[:])+
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", htmlText)
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if req.Method != http.MethodHead {
		_, _ = out.WriteTo(w) // the client may be gone
	}
}

// contents returns the kinds that have pages, each with the kinds of the lists in it.
func (ks *kinds) contents() map[*kind][]*kind {
	return map[*kind][]*kind{
		ks.workspace: {
			ks.project, ks.initiative, ks.teamspace, ks.customer, ks.release, ks.page, ks.view, ks.initiativeLabel, ks.releaseLabel, ks.releaseTag,
			ks.relationDefinition, ks.template, ks.webhook, ks.member,
		},
		ks.project: {
			ks.cycle, ks.module, ks.milestone, ks.projectPage, ks.projectView, ks.label, ks.itemType, ks.estimate, ks.workflow, ks.projectTemplate,
			ks.projectMember, ks.hiddenItem,
		},
		ks.workItem: {ks.link, ks.attachment, ks.comment}, ks.hiddenItem: {ks.link, ks.attachment, ks.comment},
		ks.cycle: {}, ks.module: {}, ks.milestone: {}, ks.projectPage: {}, ks.page: {}, ks.initiative: {}, ks.teamspace: {},
		ks.customer: {ks.request}, ks.release: {ks.changelog, ks.releaseLink},
	}
}

// reader makes pages from the rows of the store.
type reader struct {
	*call

	t *tx
}

// sheet returns the page of a path below the workspace, or nil if there is none. The last ID of the path selects the record.
func (rd *reader) sheet(path []string) *sheet {
	if len(path) == 0 {
		return rd.record(workspaceID)
	}
	last := strings.TrimSuffix(strings.Join(path, "/"), "/issues")
	last = last[strings.LastIndexByte(last, '/')+1:]
	if i := strings.LastIndexByte(last, '-'); path[0] == "browse" && i > 0 {
		last = rd.t.first("sequence", rd.t.first("identifier", last[:i]), last[i+1:])
	}
	return rd.record(last)
}

// find returns the record with an ID, of any kind.
func (rd *reader) find(id string) (*kind, stored) {
	for _, k := range rd.kinds.all {
		if s, ok := rd.t.get(k, id); ok {
			return k, s
		}
	}
	return nil, stored{row: row{}}
}

// record returns the page of a record, or nil if there is none.
func (rd *reader) record(id string) *sheet {
	k, found := rd.find(id)
	contents, ok := rd.kinds.contents()[k]
	if !ok {
		return nil
	}
	o, in := found.row, scope(id)
	page := &sheet{entry: rd.entry(k, o), Way: []entry{{Text: rd.opts.Workspace, URL: rd.opts.Prefix + "/"}}}
	if p, project := rd.find(text(o, "project")); p != nil {
		page.Way = append(page.Way, rd.entry(p, project.row))
	}
	if page.Body = plainHTML(text(o, "description_html")); page.Body == "" {
		page.Body = plainHTML(template.HTMLEscapeString(text(o, "description")))
	}
	for name := range strings.FieldsSeq("state status priority type assignees lead project_lead default_assignee members labels estimate_point start_date " +
		"end_date target_date release_date completed_at parent tag email website_url domain employees stage contract_status revenue created_by archived_at") {
		addSection(&page.Facts, section{Title: name, Entries: rd.values(o[name])})
	}
	rd.memberships(page, k, id)
	for _, values := range []*kind{rd.kinds.itemValue, rd.kinds.customerValue} {
		for _, v := range rd.t.all(values, in) {
			_, property := rd.find(text(v.row, "property"))
			addSection(&page.Facts, section{Title: text(property.row, "display_name"), Entries: rd.values(cmp.Or(v.row["value"], v.row["values"]))})
		}
	}
	switch k {
	case rd.kinds.workItem, rd.kinds.hiddenItem:
		in = scope(id, text(o, "project"))
		addSection(&page.Lists, rd.relations(id))
	case rd.kinds.project:
		addSection(&page.Lists, rd.board(id))
	}
	if slices.Contains(k.stored, "parent") {
		all := rd.t.all(k, found.key[:len(found.key)-8]) // of the same list as the record
		addSection(&page.Lists, rd.list("sub-"+k.name[strings.LastIndexByte(k.name, '_')+1:]+"s", slices.DeleteFunc(all, func(s stored) bool { return text(s.row, "parent") != id })))
	}
	for _, inside := range contents {
		addSection(&page.Lists, rd.list(inside.name+"s", rd.t.all(inside, in)))
	}
	return page
}

// addSection adds a section to others unless it is empty. Its title is the name of a field or a kind.
func addSection(sections *[]section, s section) {
	if s.Title != "" && len(s.Entries)+len(s.Columns) > 0 {
		name := strings.ReplaceAll(s.Title, "_", " ")
		s.Title = strings.ToUpper(name[:1]) + name[1:]
		*sections = append(*sections, s)
	}
}

// values describes the value of a field: each record that it names, or its text.
func (rd *reader) values(value any) (out []entry) {
	all, many := value.([]any)
	if !many {
		all = []any{value}
	}
	for _, v := range all {
		e := entry{Text: strings.TrimSuffix(valueText(v), "T00:00:00Z")}
		if k, s := rd.find(e.Text); k != nil {
			e = rd.entry(k, s.row)
		}
		if e.Text != "" && e.Text != "none" {
			out = append(out, e)
		}
	}
	return out
}

// memberships adds the members of a record as a list, and its containers as fields.
func (rd *reader) memberships(page *sheet, k *kind, id string) {
	for _, links := range []*kind{
		rd.kinds.cycleIssue, rd.kinds.moduleIssue, rd.kinds.milestoneIssue, rd.kinds.releaseItem, rd.kinds.initiativeProject, rd.kinds.initiativeEpic,
		rd.kinds.teamspaceProject, rd.kinds.teamspaceMember, rd.kinds.initiativeLabelLink, rd.kinds.releaseLabelLink,
	} {
		names := links.indexes[0] // its fields are the member and the container
		if member, container := names.fields[0], names.fields[1]; k.name == container {
			var members []stored
			for _, s := range rd.t.all(links, scope(id)) {
				_, found := rd.find(text(s.row, member))
				members = append(members, found)
			}
			addSection(&page.Lists, rd.list(strings.NewReplacer("issue", "work_item", "epic", "work_item").Replace(member)+"s", members))
		} else {
			var containers []any
			for _, link := range rd.t.indexValues(mostEntries, names.name, id) {
				_, s := rd.find(link)
				containers = append(containers, s.row[container])
			}
			addSection(&page.Facts, section{Title: container, Entries: rd.values(containers)})
		}
	}
}

// list describes the records of a list.
func (rd *reader) list(title string, rows []stored) section {
	s := section{Title: title, Count: len(rows), More: max(0, len(rows)-mostEntries)}
	for _, one := range rows[:min(len(rows), mostEntries)] {
		k, _ := rd.find(text(one.row, "id"))
		s.Entries = append(s.Entries, rd.entry(k, one.row))
	}
	s.Short = !slices.ContainsFunc(s.Entries, func(e entry) bool { return e.URL != "" || e.Body != "" })
	return s
}

// board lists the work items of a project by their states.
func (rd *reader) board(project string) section {
	rd.vars["project"] = project
	board, items := section{Title: "work items"}, map[string][]stored{}
	for _, item := range rd.t.all(rd.kinds.workItem, scope(project)) {
		items[text(item.row, "state")] = append(items[text(item.row, "state")], item)
		board.Count++
	}
	states := rd.kinds.state.recordsIn(rd.call, rd.t)
	slices.SortStableFunc(states, func(a, b stored) int { return rd.kinds.state.sort(a.row, b.row) })
	for _, state := range states {
		column := rd.list(text(state.row, "name"), items[text(state.row, "id")])
		column.Color = text(state.row, "color")
		for i, e := range column.Entries { // the column shows the state already
			column.Entries[i].Color, column.Entries[i].Note = "", strings.TrimPrefix(strings.TrimPrefix(e.Note, text(state.row, "name")), " · ")
		}
		board.Columns = append(board.Columns, column)
	}
	return board
}

// relations lists the relations of a work item, each under its name from the item's side.
func (rd *reader) relations(item string) section {
	s := section{Title: "relations"}
	for _, relation := range relationsOf(rd.call, rd.t, item) {
		name, other, side := text(relation.row, "relation_type"), text(relation.row, "related_issue"), "outward"
		if other == item {
			name, other, side = inverseRelation(name), text(relation.row, "issue"), "inward"
		}
		if _, definition := rd.find(name); definition.row[side] != nil {
			name = text(definition.row, side)
		}
		e := rd.values(other)[0]
		e.Note, s.Count = strings.ReplaceAll(name, "_", " "), s.Count+1
		s.Entries = append(s.Entries, e)
	}
	slices.SortFunc(s.Entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(len(a.Code), len(b.Code)), cmp.Compare(a.Code+a.Note, b.Code+b.Note))
	})
	return s
}

// dayOf returns the day of a date or a time.
func dayOf(o row, name string) string { return text(o, name)[:min(10, len(text(o, name)))] }

// entry describes a record in a line: its name, a note, and the address of its page if it has one.
func (rd *reader) entry(k *kind, o row) entry {
	e := entry{Color: text(o, "color")}
	e.Text = cmp.Or(text(o, "display_name"), text(o, "name"), text(o, "title"), text(o, "url"), text(o, "value"), text(o, "version"), "Untitled")
	if _, ok := rd.kinds.contents()[k]; ok {
		e.URL = rd.opts.Prefix + "/" + rd.opts.Workspace + "/" + k.name + "/" + text(o, "id")
	}
	switch k {
	case rd.kinds.project:
		e.Code, e.Note = text(o, "identifier"), "work items: "+strconv.Itoa(rd.t.count(rd.kinds.workItem, scope(text(o, "id"))))
	case rd.kinds.cycle, rd.kinds.module, rd.kinds.initiative:
		e.Note = strings.Trim(dayOf(o, "start_date")+" – "+cmp.Or(dayOf(o, "end_date"), dayOf(o, "target_date")), " –")
	case rd.kinds.user, rd.kinds.member:
		e.Note = text(o, "email")
	case rd.kinds.projectMember:
		e = rd.values(o["member"])[0]
	case rd.kinds.link, rd.kinds.releaseLink:
		e.URL = text(o, "url")
	case rd.kinds.attachment:
		attributes, _ := o["attributes"].(row)
		e.Text, e.Note = text(attributes, "name"), valueText(attributes["size"])+" bytes"
	case rd.kinds.comment:
		who := append(rd.values(cmp.Or(o["created_by"], o["actor"])), entry{Text: "somebody"})
		e.Text, e.Note, e.Body = who[0].Text, dayOf(o, "created_at"), plainHTML(text(o, "comment_html"))
	case rd.kinds.request, rd.kinds.changelog:
		e.URL, e.Body = text(o, "link"), plainHTML(text(o, "description_html"))
	case rd.kinds.workItem, rd.kinds.hiddenItem, rd.kinds.deletedItem:
		project, _ := rd.t.get(rd.kinds.project, text(o, "project"))
		state, _ := rd.t.get(rd.kinds.state, text(o, "state"))
		notes := []string{text(state.row, "name"), strings.TrimPrefix(text(o, "priority"), "none")}
		for _, assignee := range rd.values(o["assignees"]) {
			notes = append(notes, assignee.Text)
		}
		e.Code, e.Color = text(project.row, "identifier")+"-"+valueText(o["sequence_id"]), text(state.row, "color")
		e.URL = strings.Replace(e.URL, k.name+"/"+text(o, "id"), "browse/"+e.Code, 1)
		e.Note = strings.Join(slices.DeleteFunc(notes, func(s string) bool { return s == "" }), " · ")
	}
	return e
}

// plainHTML renders the HTML of a text with no attributes except the addresses of links. An image becomes its description.
func plainHTML(s string) template.HTML {
	nodes, err := html.ParseFragment(strings.NewReader(s), &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body})
	if err != nil || s == "<p></p>" {
		return ""
	}
	var b strings.Builder
	for _, n := range nodes {
		simplify(n)
		write(&b, n)
	}
	return template.HTML(b.String()) //nolint:gosec // write escapes texts and leaves out scripts and unknown elements
}

// simplify replaces the elements of a text with plain ones.
func simplify(n *html.Node) {
	given := map[string]string{}
	for _, a := range n.Attr {
		given[a.Key] = a.Val
	}
	n.Attr = nil
	_, checked := given["checked"]
	switch name := n.Data; {
	case n.Type != html.ElementNode:
	case name == "a":
		n.Attr = []html.Attribute{{Key: "href", Val: given["href"]}}
	case name == "img" || name == "image-component":
		n.Type, n.Data = html.TextNode, "["+strings.TrimSpace("image "+given["alt"])+"]"
	case name == "mention-component":
		n.Type, n.Data = html.TextNode, "@"+given["entity_name"]
	case name == "input":
		n.Type, n.Data = html.TextNode, map[bool]string{true: "☑ ", false: "☐ "}[checked]
	case len(name) == 2 && name[0] == 'h' && name != "hr": // the heading of the page is above them, and no level is left out
		n.Data = "h2"
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		simplify(c)
	}
}
