package jira

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unique"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/text/diag"
)

// Backup returns the format of a site's backup: entities.xml, with the tables of Jira as elements, and activeobjects.xml, which has the
// sprints. Elements refer to others by IDs in any order: elements that others refer to are in memory, and elements of issues are in a file
// until everything is read. One element is read at a time, and one issue is made at a time.
func Backup() *convert.Format {
	return &convert.Format{Name: "jira-backup", Tracker: "Jira", Detect: detectBackup, Read: readBackup}
}

// backupValues has the roles of the values of elements.
//
//go:embed values.txt
var backupValues string

// detectBackup recognises a backup by the first element, or by the comment before the element, which may be long.
func detectBackup(head []byte, _ string) (string, bool) {
	has := func(text string) bool { return bytes.Contains(head, []byte(text)) }
	switch {
	case !bytes.HasPrefix(bytes.TrimSpace(head), []byte("<")):
		return "", false
	case has("<entity-engine-xml"):
		return "the element entity-engine-xml", true
	case has("Exported on") && has("JIRA Build"):
		return "the comment before the element entity-engine-xml", true
	case has(`<backup xmlns="http://www.atlassian.com/ao"`):
		return "the element backup", true
	}
	return "", false
}

// row is an element with its values, from attributes or, if they are long, from child elements.
type row struct {
	Kind   string
	Values map[string]string
	At     diag.Position

	used map[string]bool // names of the values that an issue has
}

// get returns a value, or "".
func (r *row) get(name string) string {
	if r == nil {
		return ""
	}
	return r.Values[name]
}

// mark records that an issue has a value of the element.
func (r *row) mark(name string) {
	if r == nil {
		return
	}
	if r.used == nil {
		r.used = map[string]bool{}
	}
	r.used[name] = true
}

// header is an issue before it is made: values that other issues need, and the stored elements of the issue.
type header struct {
	there                       bool // false if elements belong to it, but it is gone
	key, project, number, title string
	parts                       convert.Parts
}

type backupIssue struct {
	convert.Issue

	comments []convert.Comment
	custom   map[string][]string // values by the ID of the field
	group    *row                // of the changes that are read
}

type backup struct {
	in     convert.Input
	to     convert.Sink
	roles  *convert.Roles
	zone   *time.Location
	rows   map[string]map[string]*row // elements that others refer to, by kind and ID
	users  map[string]*row            // by name in small letters
	keys   map[string]string          // these names, by key
	issues map[string]*header         // by ID
	groups map[string]convert.Parts   // changes, by the ID of their group
	list   []*header
	site   string
	other  map[string]int // values that belong to no issue
	lost   map[string]int // numbers of comments, by the ID of a missing issue
}

// referred returns the kinds of elements that other elements refer to.
func referred() []string {
	return []string{
		"Project", "IssueType", "Status", "Priority", "Resolution", "IssueLinkType", "Component", "Version", "CustomField",
		"CustomFieldOption", "User", "ApplicationUser", "SchemeIssueSecurityLevels", "Sprint", "EntityProperty",
	}
}

func readBackup(ctx context.Context, in convert.Input, to convert.Sink) error {
	b := &backup{
		in: in, to: to, roles: convert.ReadRoles(backupValues), zone: in.Zone, rows: map[string]map[string]*row{}, users: map[string]*row{}, keys: map[string]string{},
		issues: map[string]*header{}, groups: map[string]convert.Parts{}, other: map[string]int{}, lost: map[string]int{},
	}
	if err := in.Each(ctx, b.file); err != nil {
		return err
	}
	for _, u := range b.rows["User"] {
		name := strings.ToLower(cmp.Or(u.get("lowerUserName"), u.get("userName")))
		if had := b.users[name]; had == nil || u.get("id") < had.get("id") { // of several directories
			b.users[name] = u
		}
	}
	for _, u := range b.rows["ApplicationUser"] {
		b.keys[u.get("userKey")] = u.get("lowerUserName")
	}
	for _, h := range b.list {
		h.key = cmp.Or(h.key, b.rows["Project"][h.project].get("key")+"-"+h.number)
	}
	for _, h := range b.list {
		i, err := b.issue(h)
		if err != nil {
			return err
		}
		to.Issue(i)
	}
	if err := b.passGone(); err != nil {
		return err
	}
	b.account()
	for _, id := range slices.Sorted(maps.Keys(b.lost)) {
		to.Lose("comments-outside", "issue "+id, b.lost[id])
	}
	if len(b.list) > 0 {
		to.AssumedZone()
	}
	to.Site(b.site, "/browse/{key}")
	return nil
}

var baseURL = regexp.MustCompile(`(?m)^\s*jira\.baseurl\s*:\s*(https?://\S+?)/?\s*$`)

// file reads the elements of entities.xml, or the tables of activeobjects.xml. Only the table of sprints is understood.
func (b *backup) file(ctx context.Context, text io.Reader, name string) error {
	limited := &bounded{in: &legal{in: text}, limit: maxItem}
	d := xml.NewDecoder(limited)
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is decoded already
	root, table, columns := "", "", []string{}
	for {
		limited.limit = d.InputOffset() + maxItem
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return explain(name, d, err)
		}
		switch t := token.(type) {
		case xml.Comment:
			if m := baseURL.FindSubmatch(t); m != nil && b.site == "" {
				b.site = string(m[1])
			}
		case xml.StartElement:
			line, _ := d.InputPos()
			r := &row{Kind: unique.Make(t.Name.Local).Value(), Values: map[string]string{}, At: diag.Position{File: name, Line: line}}
			for _, a := range t.Attr {
				r.Values[unique.Make(a.Name.Local).Value()] = a.Value // one copy of the name for all elements
			}
			switch {
			case root == "":
				root = r.Kind
			case root != "backup":
				err = b.element(d, &t, r)
			case r.Kind == "data":
				table, columns = r.get("tableName"), nil
			case r.Kind == "column":
				columns = append(columns, strings.ToLower(r.get("name")))
			case r.Kind == "row":
				err = b.tableRow(d, &t, r, table, columns)
			}
			if err != nil {
				return err
			}
		}
	}
}

// child is an element within an element.
type child struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
}

// children reads the elements within an element.
func children(d *xml.Decoder, start *xml.StartElement, at diag.Position) ([]child, error) {
	var parts struct {
		All []child `xml:",any"`
	}
	err := d.DecodeElement(&parts, start)
	switch {
	case errors.Is(err, errTooLong):
		err = diag.WithHint(fmt.Errorf("%s: the element that begins here is larger than 64 MiB", at), "no tracker has such an item: look at that place in the file")
	case err != nil:
		err = explain(at.File, d, err)
	}
	return parts.All, err
}

// element reads an element of entities.xml.
func (b *backup) element(d *xml.Decoder, start *xml.StartElement, r *row) error {
	parts, err := children(d, start, r.At)
	for _, part := range parts {
		r.Values[part.XMLName.Local] += part.Text
	}
	if err == nil {
		b.take(r)
	}
	return err
}

// tableRow reads a row of a table in activeobjects.xml. Rows of sprints are read, and the values of other rows are counted.
func (b *backup) tableRow(d *xml.Decoder, start *xml.StartElement, r *row, table string, columns []string) error {
	cells, err := children(d, start, r.At)
	for n, cell := range cells {
		switch {
		case table == "AO_60DB71_SPRINT" && n < len(columns):
			r.Values[columns[n]] = cell.Text
		case table != "AO_60DB71_SPRINT" && strings.TrimSpace(cell.Text) != "":
			b.other["of the site: activeobjects.xml"]++
		}
	}
	if r.Kind = "Sprint"; err == nil && table == "AO_60DB71_SPRINT" {
		b.take(r)
	}
	return err
}

// take stores an element: in memory if others refer to it, else with its issue or with its group of changes.
func (b *backup) take(r *row) {
	id := r.get("id")
	switch {
	case slices.Contains(referred(), r.Kind) && (r.Kind != "EntityProperty" || r.get("propertyKey") == "sd.public.comment"):
		if b.rows[r.Kind] == nil {
			b.rows[r.Kind] = map[string]*row{}
		}
		if r.Kind == "EntityProperty" {
			id = r.get("entityId")
		}
		b.rows[r.Kind][id] = r
	case r.Kind == "Issue":
		h := b.header(id)
		if b.store(&h.parts, r); h.there {
			return // a file that is named twice
		}
		h.there, h.key, h.project, h.number, h.title = true, r.get("key"), r.get("project"), r.get("number"), r.get("summary")
		b.list = append(b.list, h)
	case r.Kind == "ChangeItem":
		changes := b.groups[r.get("group")]
		b.store(&changes, r)
		b.groups[r.get("group")] = changes
	case !ofIssues(r.Kind), r.Kind == "NodeAssociation" && r.get("sourceNodeEntity") != "Issue", r.Kind == "UserAssociation" && r.get("sinkNodeEntity") != "Issue",
		r.Kind == "Action" && r.get("type") != "comment":
		b.pass("of the site: ", r)
	default:
		b.store(&b.header(cmp.Or(r.get("issue"), r.get("issueid"), map[string]string{
			"IssueLink": r.get("source"), "NodeAssociation": r.get("sourceNodeId"), "UserAssociation": r.get("sinkNodeId"),
		}[r.Kind])).parts, r)
		if r.Kind == "IssueLink" {
			r.Kind = inwardLink
			b.store(&b.header(r.get("destination")).parts, r)
		}
	}
}

// inwardLink is the kind of a relation's copy that belongs to the issue at the end of the relation.
const inwardLink = "IssueLink to here"

// store stores an element in a file.
func (b *backup) store(in *convert.Parts, r *row) {
	data, _ := json.Marshal(r) // texts always encode
	b.in.Keep(in, data)
}

// stored returns elements that were stored, with the changes after their groups.
func (b *backup) stored(parts convert.Parts) (rows []*row, err error) {
	all, err := b.in.Kept(parts)
	for _, data := range all {
		r := &row{}
		if err := json.Unmarshal(data, r); err != nil {
			return nil, err
		}
		if rows = append(rows, r); r.Kind == "ChangeGroup" {
			changes, err := b.stored(b.groups[r.get("id")])
			if err != nil {
				return nil, err
			}
			delete(b.groups, r.get("id"))
			rows = append(rows, changes...)
		}
	}
	return rows, err
}

// passGone counts the elements of issues and of groups of changes that the backup does not have.
func (b *backup) passGone() error {
	var gone convert.Parts
	for _, h := range b.issues {
		if !h.there {
			gone = append(gone, h.parts...)
		}
	}
	rows, err := b.stored(gone)
	changes, err2 := b.stored(slices.Concat(slices.Collect(maps.Values(b.groups))...))
	for _, r := range append(rows, changes...) {
		switch r.Kind {
		case inwardLink: // it belongs to another issue, too
			continue
		case "ChangeGroup":
			b.accountFor(r, "author", "created")
			continue
		case "Action":
			b.lost[r.get("issue")]++
		}
		b.pass("of issues that are gone: ", r)
	}
	return cmp.Or(err, err2)
}

// header returns the header of the issue with an ID, and adds it if it is missing.
func (b *backup) header(id string) *header {
	if b.issues[id] == nil {
		b.issues[id] = &header{}
	}
	return b.issues[id]
}

// pass counts the values of an element that is not converted. what is a prefix for their names.
func (b *backup) pass(what string, r *row) {
	for name, text := range r.Values {
		if strings.TrimSpace(text) != "" {
			b.other[what+r.Kind+"."+name]++
		}
	}
}

// ofIssues reports whether the elements of a kind belong to issues.
func ofIssues(kind string) bool {
	return slices.Contains([]string{
		"Action", "IssueLink", "Label", "NodeAssociation", "CustomFieldValue", "FileAttachment", "Worklog", "ChangeGroup", "UserAssociation", "RemoteIssueLink",
	}, kind)
}

// use returns a value of an element that an issue refers to, and books it with the issue.
func (b *backup) use(i *backupIssue, kind, id, name string, role convert.Role) string {
	return b.useOf(i, b.rows[kind][id], name, role)
}

func (b *backup) useOf(i *backupIssue, r *row, name string, role convert.Role) string {
	text := r.get(name)
	if strings.TrimSpace(text) != "" {
		r.mark(name)
		b.to.Hold(&i.Issue, convert.Leaf{Name: r.Kind + "." + name, Text: text, Element: map[string]string{"Sprint": r.get("name")}[r.Kind]}, role, 1)
	}
	return text
}

// person records a user and returns the login name, which texts also use. Issues name people by their keys.
func (b *backup) person(key string) string {
	if key == "" {
		return ""
	}
	id := cmp.Or(b.keys[key], key)
	u := b.users[strings.ToLower(id)]
	p := convert.Person{ID: id, Name: u.get("displayName"), Email: u.get("emailAddress"), Left: u.get("active") == "0"}
	u.mark("displayName")
	u.mark("emailAddress")
	b.to.Person(p)
	return id
}

// issue makes an issue of its stored elements.
func (b *backup) issue(h *header) (*convert.Issue, error) {
	rows, err := b.stored(h.parts)
	if err != nil {
		return nil, err
	}
	h.parts = convert.Parts{}
	i := &backupIssue{custom: map[string][]string{}}
	if err := b.begin(i, rows[slices.IndexFunc(rows, func(r *row) bool { return r.Kind == "Issue" })]); err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.Kind != "Issue" {
			b.part(i, r)
		}
	}
	for _, r := range rows {
		if r.Kind == "ChangeGroup" {
			b.accountFor(r, "author", "created")
		}
	}
	b.finish(i)
	made := i.Issue // a copy, so that the other parts can be freed
	return &made, nil
}

// begin sets the values of an issue that its own element has.
func (b *backup) begin(i *backupIssue, r *row) error {
	project := b.rows["Project"][r.get("project")]
	key := cmp.Or(r.get("key"), project.get("key")+"-"+r.get("number"))
	of, number, ok := KeyOf(key)
	if !ok {
		return fmt.Errorf("%s: %q is no issue key", r.At, diag.Truncate(key, 40))
	}
	b.to.Project(convert.Project{Key: of, Name: project.get("name"), Description: project.get("description")})
	i.Issue = convert.Issue{
		Key: key, ID: r.get("id"), Project: of, Number: number, Title: r.get("summary"), Position: r.At, Text: wiki(r.get("description")),
		Environment: wiki(r.get("environment")), Reporter: b.person(r.get("reporter")), Creator: b.person(r.get("creator")),
		Archived: r.get("archived") == "Y", Left: map[string]int{"votes": count(r, "votes"), "watchers": count(r, "watches")},
	}
	i.State.Name = b.use(i, "Status", r.get("status"), "name", convert.OfState)
	i.State.Category = map[string]string{"2": "unstarted", "4": "started", "3": "completed"}[b.rows["Status"][r.get("status")].get("statuscategory")]
	i.Resolution = b.use(i, "Resolution", r.get("resolution"), "name", "resolution")
	i.Type = b.use(i, "IssueType", r.get("type"), "name", convert.OfType)
	i.Priority = b.use(i, "Priority", r.get("priority"), "name", convert.OfPriority)
	if id := b.person(r.get("assignee")); id != "" {
		i.Assignees = []string{id}
	}
	i.Created, i.Updated = b.moment(i, r.get("created")), b.moment(i, r.get("updated"))
	i.Due = dates.Day(b.moment(i, r.get("duedate")))
	Times(&i.Issue, b.moment(i, r.get("resolutiondate")), count(r, "timeoriginalestimate"), count(r, "timeestimate"), count(r, "timespent"))
	if level := b.use(i, "SchemeIssueSecurityLevels", r.get("security"), "name", convert.OfField); level != "" {
		i.Fields = append(i.Fields, convert.Field{Name: SecurityLevel, Value: level, Source: "SchemeIssueSecurityLevels.name"})
	}
	if r.get("security") != "" {
		i.Restricted = SecurityLevel
	}
	b.enter(i, r)
	return nil
}

func count(r *row, name string) int {
	n, _ := strconv.Atoi(r.get(name))
	return n
}

// enter books the values of an element, except the named ones.
func (b *backup) enter(i *backupIssue, r *row, but ...string) {
	var to *convert.Issue
	if i != nil {
		to = &i.Issue
	}
	var all []convert.Leaf
	for _, name := range slices.Sorted(maps.Keys(r.Values)) {
		if text := r.Values[name]; strings.TrimSpace(text) != "" && !slices.Contains(but, name) {
			all = append(all, convert.Leaf{Name: r.Kind + "." + name, Text: text, Element: map[string]string{"Action": r.get("id")}[r.Kind]})
		}
	}
	b.roles.Enter(b.to, to, all)
}

// moment reads a date, which Jira writes in the zone of the server.
func (b *backup) moment(i *backupIssue, text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	at, err := time.ParseInLocation("2006-01-02 15:04:05.999999", text, b.zone)
	if err != nil {
		i.Left["dates-not-understood"]++
	}
	return at
}

// part adds the values of an element to its issue.
func (b *backup) part(i *backupIssue, r *row) {
	switch group := i.group; r.Kind {
	case "ChangeGroup":
		i.group = r
		return
	case "Action":
		hidden := r.get("actionlevel") != "" || r.get("level") != "" || r.get("rolelevel") != "" ||
			strings.Contains(strings.ReplaceAll(b.rows["EntityProperty"][r.get("id")].get("value"), " ", ""), `"internal":true`)
		i.comments = append(i.comments, convert.Comment{
			ID: r.get("id"), Author: b.person(r.get("author")), At: b.moment(i, r.get("created")), Text: wiki(r.get("body")), Hidden: hidden,
		})
	case "Label":
		if field := r.get("fieldid"); field != "" {
			i.custom[field] = append(i.custom[field], r.get("label"))
		} else {
			i.Labels = append(i.Labels, convert.Label{Name: r.get("label")})
		}
	case "FileAttachment":
		a := convert.Attachment{ID: r.get("id"), Name: r.get("filename"), Size: int64(count(r, "filesize"))}
		if b.site != "" {
			a.URL = b.site + "/secure/attachment/" + url.PathEscape(a.ID) + "/" + url.PathEscape(a.Name)
		}
		i.Attachments = append(i.Attachments, a)
	case "RemoteIssueLink":
		i.Pages = append(i.Pages, convert.Attachment{Name: cmp.Or(r.get("title"), r.get("url")), URL: r.get("url")})
	case "Worklog":
		i.Work = append(i.Work, convert.Work{
			Author: b.person(r.get("author")), At: b.moment(i, cmp.Or(r.get("startdate"), r.get("created"))), Seconds: count(r, "timeworked"), Text: wiki(r.get("body")),
		})
	case "ChangeItem":
		if !group.used["created"] { // once for all items of it
			b.useOf(i, group, "author", convert.Summed)
			b.useOf(i, group, "created", convert.Summed)
		}
		i.Events = append(i.Events, convert.Event{
			Author: b.person(group.get("author")), At: b.moment(i, group.get("created")), Field: r.get("field"),
			From: cmp.Or(r.get("oldstring"), r.get("oldvalue")), To: cmp.Or(r.get("newstring"), r.get("newvalue")),
		})
	case "UserAssociation":
		if r.get("associationType") == "WatchIssue" {
			i.Watchers = append(i.Watchers, b.person(r.get("sourceName")))
		}
	case "NodeAssociation":
		b.associate(i, r)
	case "IssueLink":
		b.link(i, r)
	case inwardLink:
		b.linked(i, r)
		return
	case "CustomFieldValue":
		b.value(i, r)
		return
	}
	b.enter(i, r)
}

func (b *backup) associate(i *backupIssue, r *row) {
	id := r.get("sinkNodeId")
	switch r.get("associationType") {
	case "IssueComponent":
		i.Components = append(i.Components, b.use(i, "Component", id, "name", convert.Component))
		i.About = append(i.About, convert.About{Of: convert.Component, Name: b.rows["Component"][id].get("name"), Text: b.use(i, "Component", id, "description", "component_text")})
	case "IssueVersion":
		name := b.rows["Version"][id].get("name")
		i.Affects = append(i.Affects, name)
		b.to.Hold(&i.Issue, convert.Leaf{Name: "affected.Version.name", Text: name}, convert.Affects, 1)
	case "IssueFixVersion":
		due := b.moment(i, b.use(i, "Version", id, "releasedate", "version_due"))
		i.Versions = append(i.Versions, convert.Version{Name: b.use(i, "Version", id, "name", convert.OfVersion), Due: dates.Day(due)})
		i.About = append(i.About, convert.About{Of: convert.OfVersion, Name: b.rows["Version"][id].get("name"), Text: b.use(i, "Version", id, "description", "version_text")})
	}
}

// toParent reports whether a kind of relation leads from a parent to its children.
func toParent(kind *row) bool {
	return slices.Contains([]string{"jira_subtask", "jira_gh_epic_story"}, kind.get("style"))
}

// link adds a relation that begins at the issue.
func (b *backup) link(i *backupIssue, r *row) {
	kind, other := b.rows["IssueLinkType"][r.get("linktype")], b.issues[r.get("destination")]
	if toParent(kind) {
		return
	}
	l := convert.Link{Type: b.use(i, "IssueLinkType", r.get("linktype"), "linkname", convert.Relation), To: "issue " + r.get("destination")}
	if other != nil && other.there {
		l.To, l.Word, l.Other, l.Title = other.key, kind.get("outward"), kind.get("inward"), other.title
	}
	i.Links = append(i.Links, l)
}

// linked adds a relation that ends at the issue, or sets the parent.
func (b *backup) linked(i *backupIssue, r *row) {
	kind, other := b.rows["IssueLinkType"][r.get("linktype")], b.issues[r.get("source")]
	if !other.there {
		return
	}
	if toParent(kind) {
		i.Parent = other.key
		return
	}
	i.Links = append(i.Links, convert.Link{Type: kind.get("linkname"), To: other.key, Inward: true, Word: kind.get("inward"), Other: kind.get("outward"), Title: other.title})
}

// value adds a value of a custom field. The value of a list, a user, a version or a sprint is an ID.
func (b *backup) value(i *backupIssue, r *row) {
	id := r.get("customfield")
	field := b.rows["CustomField"][id]
	text, name := "", ""
	for _, column := range []string{"stringvalue", "textvalue", "numbervalue", "datevalue"} {
		if text == "" {
			text, name = r.get(column), column
		}
	}
	b.enter(i, r, name)
	if text == "" {
		return
	}
	_, kind, _ := strings.Cut(field.get("customfieldtypekey"), ":")
	raw, source := text, customName(field.get("name"))
	reference, isPart := true, false
	switch {
	case slices.Contains([]string{"select", "multiselect", "radiobuttons", "multicheckboxes", "cascadingselect"}, kind):
		option := b.rows["CustomFieldOption"][text]
		if reference = option != nil; reference {
			option.mark("value")
			text, isPart = option.get("value"), r.get("parentkey") != "" && len(i.custom[id]) > 0 // of a list that depends on another
		}
	case strings.HasSuffix(kind, "userpicker"):
		person := b.person(text)
		text = cmp.Or(b.users[strings.ToLower(person)].get("displayName"), person)
	case kind == "version", kind == "multiversion":
		text = cmp.Or(b.rows["Version"][strings.TrimSuffix(text, ".0")].get("name"), text)
	case kind == "gh-sprint":
		if s := b.rows["Sprint"][text]; s != nil {
			i.Sprints = append(i.Sprints, convert.Sprint{
				Name: b.use(i, "Sprint", text, "name", convert.OfSprint), Start: b.day(b.use(i, "Sprint", text, "start_date", convert.SprintDate)),
				End: b.day(b.use(i, "Sprint", text, "end_date", convert.SprintDate)),
			})
			i.About = append(i.About, convert.About{Of: convert.OfSprint, Name: s.get("name"), Text: b.use(i, "Sprint", text, "goal", "cycle_text")})
		}
		text = "" // the sprint is no text
	default:
		reference = false
	}
	switch name {
	case "numbervalue":
		text = strings.TrimSuffix(text, ".0")
	case "datevalue":
		if at := b.moment(i, text); !at.IsZero() {
			text = strings.TrimSuffix(at.Format("2006-01-02 15:04"), " 00:00")
		}
	}
	if reference {
		b.to.Hold(&i.Issue, convert.Leaf{Name: "reference.CustomFieldValue." + name, Text: raw}, convert.Technical, 1)
	}
	if text == "" {
		return
	}
	b.to.Hold(&i.Issue, convert.Leaf{Name: source, Text: text}, convert.OfField, 1)
	if all := i.custom[id]; isPart {
		all[len(all)-1] += " / " + text
	} else {
		i.custom[id] = append(all, text)
	}
}

// day returns the day of a moment in milliseconds.
func (b *backup) day(text string) string {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return ""
	}
	return dates.Day(time.UnixMilli(n).In(b.zone))
}

// finish completes an issue from its collected values.
func (b *backup) finish(i *backupIssue) {
	i.Left["worklogs"], i.Left["history"] = len(i.Work), len(i.Events)
	i.Left["watchers"] = max(i.Left["watchers"], len(i.Watchers))
	slices.SortStableFunc(i.Sprints, func(a, b convert.Sprint) int { return cmp.Compare(a.End, b.End) })
	for _, id := range slices.Sorted(maps.Keys(i.custom)) {
		field := b.rows["CustomField"][id]
		f := convert.Field{Name: cmp.Or(field.get("name"), "field "+id), Value: strings.Join(i.custom[id], ", "), Source: customName(field.get("name"))}
		if strings.HasPrefix(f.Value, `{"`) { // what a plugin keeps for itself
			f.Noise = true
			i.Fields = append(i.Fields, f)
			continue
		}
		Custom(&i.Issue, field.get("customfieldtypekey"), f)
	}
	discuss(&i.Issue, i.comments, 0)
}

// account books the elements that others refer to, and the values that belong to no issue. Many of these values are private, such as
// passwords.
func (b *backup) account() {
	said := []string{"name", "value", "linkname", "displayName", "emailAddress", "start_date", "end_date", "releasedate"}
	for _, kind := range referred() {
		for _, id := range slices.Sorted(maps.Keys(b.rows[kind])) {
			b.accountFor(b.rows[kind][id], said...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.other)) {
		b.to.Hold(nil, convert.Leaf{Name: name}, convert.Secret, b.other[name])
	}
}

// accountFor books the values of an element that others refer to. names are the values that issues take from the element.
func (b *backup) accountFor(r *row, names ...string) {
	b.enter(nil, r, names...)
	for _, name := range names {
		switch text := r.get(name); {
		case strings.TrimSpace(text) == "":
		case r.Kind == "Project":
			b.to.Hold(nil, convert.Leaf{Name: r.Kind + "." + name, Text: text}, "project_name", 1)
		case r.Kind == "User" && r.used[name]:
			b.to.Hold(nil, convert.Leaf{Name: r.Kind + "." + name, Text: text}, convert.Assignee, 1)
		case !r.used[name]:
			b.to.Hold(nil, convert.Leaf{Name: "not used: " + r.Kind + "." + name, Text: text}, convert.Secret, 1)
		}
	}
}
