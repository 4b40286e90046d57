package described

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/jira"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/text/diag"
)

// jiraBackup describes a site's backup: entities.xml, with the tables of Jira as elements, and activeobjects.xml, which has the sprints.
// Elements refer to others by IDs in any order: elements that others refer to are in memory, and elements of issues are in a file until
// everything is read. Then all elements of an issue are one record, and one issue is made at a time.
func jiraBackup() *api {
	a := described(textOf("jira-backup"), backupHooks)
	a.signs = func(head []byte) (string, bool) {
		isXML := bytes.HasPrefix(bytes.TrimSpace(head), []byte("<"))
		has := func(text string) bool { return isXML && bytes.Contains(head, []byte(text)) }
		switch {
		case has("<entity-engine-xml"):
			return "the element entity-engine-xml", true
		case has("Exported on") && has("JIRA Build"): // a comment, which may be long
			return "the comment before the element entity-engine-xml", true
		}
		return "the element backup", has(`<backup xmlns="http://www.atlassian.com/ao"`)
	}
	return a
}

// backup holds the elements of a backup.
type backup struct {
	rows   map[string]map[string]records.Value // elements that others refer to, by kind and ID
	used   map[string]bool                     // values of these that an issue has, by name and ID
	parts  map[string]convert.Parts            // other elements by the ID of their issue, and changes by that of their group
	list   []*header
	issues map[string]*header // by ID
}

// header is an issue before it is made: the values that other issues need.
type header struct {
	id, key, title, project, number string
	at                              diag.Position
}

func backupHooks() hooks {
	bu := &backup{rows: map[string]map[string]records.Value{}, used: map[string]bool{}, parts: map[string]convert.Parts{}, issues: map[string]*header{}}
	return hooks{read: bu.read, person: bu.person, place: bu.place, finish: bu.finish}
}

func (bu *backup) read(ctx context.Context, x *reader, text io.Reader, name string) error {
	return records.ReadXML(ctx, text, name, func(v records.Value, at diag.Position) { bu.take(x, v, at) })
}

// baseURL matches the address of the site in a comment of entities.xml.
var baseURL = regexp.MustCompile(`(?m)^\s*jira\.baseurl\s*:\s*(https?://\S+?)/?\s*$`)

// take stores an element: in memory if others refer to it, else with its issue or with its group of changes.
func (bu *backup) take(x *reader, v records.Value, at diag.Position) {
	if v.Name == "AO_60DB71_SPRINT" {
		v.Name = "Sprint"
	} else if strings.HasPrefix(v.Name, "AO_") { // a table that is not understood
		v.Name, v.Object, v.List = "activeobjects.xml", false, true
	}
	kind, get, id, of := v.Name, x.reads(v), x.find("referred").paths(v.Name), x.find("parts").paths(v.Name)
	only := x.find("only").word(kind)
	switch {
	case kind == "": // a comment
		if m := baseURL.FindStringSubmatch(v.Text); m != nil {
			x.site = cmp.Or(x.site, m[1])
		}
	case only != "" && !meets(v, only), id == nil && of == nil:
		x.bookAll(nil, v, "of the site: "+kind)
	case id != nil:
		if bu.rows[kind] == nil {
			bu.rows[kind] = map[string]records.Value{}
		}
		key := x.text(v, id)
		if kind == "User" {
			key = strings.ToLower(key)
		}
		if other := bu.rows[kind][key]; kind == "User" && other.Object && x.reads(other)("id") != get("id") { // of another directory
			if x.reads(other)("id") < get("id") {
				other, v = v, other
			}
			bu.account(x, "", other)
		}
		bu.rows[kind][key] = v
	case kind == "Issue":
		h := &header{id: get("id"), key: get("key"), title: get("summary"), project: get("project"), number: get("number"), at: at}
		if bu.issues[h.id] != nil {
			return // a file that is named twice
		}
		bu.list, bu.issues[h.id] = append(bu.list, h), h
		bu.keep(x, h.id, v)
	case kind == "ChangeItem":
		bu.keep(x, ofGroup+x.text(v, of), v)
	default:
		bu.keep(x, x.text(v, of), v)
		if kind == "IssueLink" {
			v.Name = inwardLink
			bu.keep(x, get("destination"), v)
		}
	}
}

// inwardLink is the kind of a relation's copy that belongs to the issue at the end of the relation.
const inwardLink = "IssueLink to here"

// ofGroup begins the key of changes in backup.parts.
const ofGroup = "group "

// keep stores an element in a file.
func (bu *backup) keep(x *reader, of string, v records.Value) {
	data, _ := json.Marshal(v) // texts always encode
	parts := bu.parts[of]
	x.in.Keep(&parts, data)
	bu.parts[of] = parts
}

// kept returns elements that were stored, with the changes after their groups.
func (bu *backup) kept(x *reader, of string) (all []records.Value) {
	parts, err := x.in.Kept(bu.parts[of])
	delete(bu.parts, of)
	for _, data := range parts {
		var v records.Value
		err = cmp.Or(err, json.Unmarshal(data, &v))
		if all = append(all, v); v.Name == "ChangeGroup" {
			all = append(all, bu.kept(x, ofGroup+x.reads(v)("id"))...)
		}
	}
	x.wrong = cmp.Or(x.wrong, err)
	return all
}

// row returns a function that reads the values of an element that others refer to.
func (bu *backup) row(x *reader, kind, id string) func(name string) string {
	return x.reads(bu.rows[kind][id])
}

// isTaken reports whether issues take a value from the elements that they refer to.
func isTaken(x *reader, name string) bool {
	role := x.roles.Of(name)
	return role != convert.Technical && role != convert.Secret
}

// join returns the values that an issue takes from an element.
func (bu *backup) join(x *reader, kind, id string) records.Value {
	v := records.Value{Name: kind, Object: true}
	for _, part := range bu.rows[kind][id].Parts {
		if name := kind + "." + part.Name; isTaken(x, name) {
			bu.used[name+" "+id] = true
			v.Parts = append(v.Parts, part)
		}
	}
	return v
}

// person returns a user with the login name, which texts also use. Issues name people by their keys.
func (bu *backup) person(x *reader, key string) convert.Person {
	id := cmp.Or(bu.row(x, "ApplicationUser", key)("lowerUserName"), key)
	user := x.reads(bu.join(x, "User", strings.ToLower(id)))
	return convert.Person{ID: id, Name: user("displayName"), Email: user("emailAddress"), Left: bu.row(x, "User", strings.ToLower(id))("active") == "0"}
}

// finish makes the issues, and accounts for the elements that belong to none.
func (bu *backup) finish(x *reader) {
	for _, h := range bu.list {
		h.key = cmp.Or(h.key, bu.row(x, "Project", h.project)("key")+"-"+h.number)
	}
	for _, h := range bu.list {
		x.at = h.at
		if x.issue(x.find("issue"), bu.record(x, h), ""); x.wrong != nil {
			return
		}
		i := x.issues[len(x.issues)-1]
		slices.SortStableFunc(i.Sprints, func(a, b convert.Sprint) int { return cmp.Compare(a.End, b.End) })
		x.hand(i)
		delete(x.comments, x.key(i))
		x.to.Project(*x.project(i.Project))
	}
	x.issues, x.hours = nil, len(bu.list) > 0
	for _, of := range sortedKeys(bu.parts) {
		lost := 0
		for _, v := range bu.kept(x, of) {
			switch v.Name {
			case inwardLink: // it belongs to another issue, too
				continue
			case "ChangeGroup":
				bu.account(x, "", v)
				continue
			case "Action":
				lost++
			}
			x.bookAll(nil, v, "of issues that are gone: "+v.Name)
		}
		if lost > 0 {
			x.to.Lose("comments-outside", "issue "+of, lost)
		}
	}
	for _, l := range x.find("referred").lines {
		for _, id := range sortedKeys(bu.rows[l.Of]) {
			bu.account(x, id, bu.rows[l.Of][id])
		}
	}
}

// record returns the elements of an issue, with values of the elements that they refer to.
func (bu *backup) record(x *reader, h *header) records.Value {
	v := records.Value{Object: true}
	v.Add("key", h.key)
	all, group := bu.kept(x, h.id), records.Value{}
	for n, part := range all {
		at := x.reads(part)
		id := at("id")
		switch part.Name {
		case "NodeAssociation":
			part.Add("to."+at("associationType"), at("sinkNodeId"))
		case "IssueLink":
			if kind := at("linktype"); !toParent(bu.row(x, "IssueLinkType", kind)) {
				part.Add("kind", kind)
			}
		case "CustomFieldValue":
			if kind := bu.row(x, "CustomField", at("customfield"))("customfieldtypekey"); strings.HasSuffix(kind, ":gh-sprint") {
				part.Add("sprint", x.text(part, valueColumns()))
			}
		case "Action":
			property := strings.ReplaceAll(bu.row(x, "EntityProperty", id)("value"), " ", "")
			if cmp.Or(at("actionlevel"), at("level"), at("rolelevel")) != "" || strings.Contains(property, `"internal":true`) {
				part.Add("internal", "true") // only a group or role sees it, or customers of a service desk do not
			}
		case "FileAttachment":
			if x.site != "" {
				part.Add("link", x.site+"/secure/attachment/"+url.PathEscape(id)+"/"+url.PathEscape(at("filename")))
			}
		case "ChangeGroup":
			if n+1 == len(all) || all[n+1].Name != "ChangeItem" {
				bu.account(x, "", part)
				continue
			}
			group = part
		case "ChangeItem":
			part.Parts = slices.Concat(part.Parts, group.At("author"), group.At("created"))
		}
		v.Parts = append(v.Parts, part)
	}
	for _, l := range x.find("joined").lines {
		for _, id := range x.texts(v.At(l.Names[0])) {
			if one := bu.join(x, l.Of, id); one.Parts != nil { // the backup has it
				v.Parts = append(v.Parts, one)
			}
		}
	}
	for _, id := range x.texts(v.At("NodeAssociation.to.IssueVersion")) {
		v.Add("affected.Version.name", bu.row(x, "Version", id)("name"))
	}
	return v
}

// toParent reports whether a kind of relation leads from a parent to its children.
func toParent(kind func(name string) string) bool {
	return slices.Contains([]string{"jira_subtask", "jira_gh_epic_story"}, kind("style"))
}

// place sets the fields of an issue that follow from several elements.
func (bu *backup) place(x *reader, i *convert.Issue, v records.Value) {
	get := x.reads(v)
	x.placeJira(i, v, "Issue.")
	if of, row := x.project(i.Project), bu.row(x, "Project", get("Issue.project")); of.Name == "" {
		of.Name, of.Description = row("name"), row("description")
	}
	i.State.Category = map[string]string{"2": "unstarted", "4": "started", "3": "completed"}[bu.row(x, "Status", get("Issue.status"))("statuscategory")]
	i.Archived, i.Due = get("Issue.archived") == "Y", dates.Day(x.time(i, get("Issue.duedate")))
	field(i, jira.SecurityLevel, get("SchemeIssueSecurityLevels.name"), "SchemeIssueSecurityLevels.name")
	custom := map[string][]string{} // by the ID of the field
	for _, part := range v.Parts {
		switch at := x.reads(part); part.Name {
		case "Version":
			i.Versions = append(i.Versions, convert.Version{Name: at("name"), Due: dates.Day(x.time(i, at("releasedate")))})
		case "UserAssociation":
			if at("associationType") == "WatchIssue" {
				i.Watchers = append(i.Watchers, x.people(part.At("sourceName"))...)
			}
		case "IssueLink", inwardLink:
			bu.link(x, i, part)
		case "Label":
			if id := at("fieldid"); id != "" {
				custom[id] = append(custom[id], at("label"))
			}
		case "CustomFieldValue":
			custom[at("customfield")] = bu.value(x, i, part, custom[at("customfield")])
		}
	}
	for _, id := range sortedKeys(custom) {
		of := bu.row(x, "CustomField", id)
		f := convert.Field{Name: cmp.Or(of("name"), "field "+id), Value: strings.Join(custom[id], ", "), Source: "custom field " + of("name")}
		if f.Noise = strings.HasPrefix(f.Value, `{"`); f.Noise { // what a plugin keeps for itself
			i.Fields = append(i.Fields, f)
		} else {
			jira.Custom(i, of("customfieldtypekey"), f)
		}
	}
}

// link adds a relation to an issue, or sets its parent.
func (bu *backup) link(x *reader, i *convert.Issue, v records.Value) {
	at := x.reads(v)
	kind := bu.row(x, "IssueLinkType", at("linktype"))
	l := convert.Link{Type: kind("linkname"), Word: kind("outward"), Other: kind("inward"), Inward: v.Name == inwardLink}
	to := at("destination")
	if l.Inward {
		to, l.Word, l.Other = at("source"), l.Other, l.Word
	}
	switch other := bu.issues[to]; {
	case toParent(kind):
		if l.Inward && other != nil {
			i.Parent = other.key
		}
	case other != nil:
		l.To, l.Title = other.key, other.title
		i.Links = append(i.Links, l)
	case !l.Inward:
		i.Links = append(i.Links, convert.Link{Type: l.Type, To: "issue " + to})
	}
}

// valueColumns returns the columns for the value of a custom field. The first one that is not empty counts.
func valueColumns() []string { return []string{"stringvalue", "textvalue", "numbervalue", "datevalue"} }

// value adds a value of a custom field to the others. The value of a list, a user, a version or a sprint is an ID.
func (bu *backup) value(x *reader, i *convert.Issue, v records.Value, others []string) []string {
	at, column, raw := x.reads(v), "", ""
	for _, name := range valueColumns() {
		for _, part := range v.At(name) {
			if column == "" {
				column, raw = name, part.Text
			} else { // the field has one value
				x.to.Hold(i, convert.Leaf{Name: "reference.CustomFieldValue." + name, Text: part.Text}, convert.Technical, 1)
			}
		}
	}
	if column == "" {
		return others
	}
	of := bu.row(x, "CustomField", at("customfield"))
	_, kind, _ := strings.Cut(of("customfieldtypekey"), ":")
	text, isReference := raw, true
	switch {
	case slices.Contains([]string{"select", "multiselect", "radiobuttons", "multicheckboxes", "cascadingselect"}, kind):
		if isReference = bu.rows["CustomFieldOption"][text].Object; isReference {
			text = x.reads(bu.join(x, "CustomFieldOption", text))("value")
		}
	case strings.HasSuffix(kind, "userpicker"):
		person := bu.person(x, text)
		x.to.Person(person)
		text = cmp.Or(person.Name, person.ID)
	case kind == "version", kind == "multiversion":
		text = cmp.Or(bu.row(x, "Version", strings.TrimSuffix(text, ".0"))("name"), text)
	case kind == "gh-sprint":
		text = "" // the sprint is no text
	default:
		isReference = false
	}
	switch column {
	case "numbervalue":
		text = strings.TrimSuffix(text, ".0")
	case "datevalue":
		if at := x.time(i, text); !at.IsZero() {
			text = strings.TrimSuffix(at.Format("2006-01-02 15:04"), " 00:00")
		}
	}
	if isReference {
		x.to.Hold(i, convert.Leaf{Name: "reference.CustomFieldValue." + column, Text: raw}, convert.Technical, 1)
	}
	if text == "" {
		return others
	}
	x.to.Hold(i, convert.Leaf{Name: "custom field " + of("name"), Text: text}, convert.OfField, 1)
	if at("parentkey") != "" && kind == "cascadingselect" && isReference && len(others) > 0 { // of a list that depends on another
		others[len(others)-1] += " / " + text
		return others
	}
	return append(others, text)
}

// account books an element that others refer to. Issues have booked the values that they took, but not the names of users and projects.
func (bu *backup) account(x *reader, id string, v records.Value) {
	var all []convert.Leaf
	for _, l := range leaves(v.Name, v) {
		switch isUsed := bu.used[l.Name+" "+id]; {
		case !isTaken(x, l.Name), v.Name == "Project", v.Name == "User" && isUsed:
		case isUsed:
			continue
		default:
			l.Name = "not used: " + l.Name
		}
		all = append(all, l)
	}
	x.book(nil, all)
}
