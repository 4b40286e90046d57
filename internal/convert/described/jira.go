package described

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/jira"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/text/diag"
)

// commentAddress matches the address of a comment, which has the ID or the key of its issue.
var commentAddress = regexp.MustCompile(`/issue/([^/]+)/comment/`)

// jiraJSON describes the REST API's answers: pages of a search, arrays or lines of issues, single issues. An export may also have pages of
// comments (issue/KEY/comment), because a search returns only the first comments, and the list of fields (field), which names custom
// fields if the search returned no names.
func jiraJSON() *api { return described(textOf("jira"), jiraHooks) }

// site collects, while an export is read, what a Jira site answered about custom fields and sprints. The paths in the description
// jira.txt cannot express these parts.
type site struct {
	names   map[string]string // of custom fields
	kinds   map[string]string // of custom fields, such as com.pyxis.greenhopper.jira:gh-sprint
	used    map[string]bool   // IDs of custom fields that an issue has
	special map[*convert.Issue][]special
	totals  map[int]bool // numbers of issues that searches found
	listed  string       // the last file with a list
}

// special is the value of a custom field that is more than a text. Sprints are an active one after the next ones, and these after the others.
type special struct {
	id              string
	sprints         []convert.Sprint
	goals           []convert.About
	isBoard, isDeep bool // the sprints have a board; the value is a document
}

func jiraHooks() hooks {
	s := &site{names: map[string]string{}, kinds: map[string]string{}, used: map[string]bool{}, special: map[*convert.Issue][]special{}, totals: map[int]bool{}}
	return hooks{record: s.record, place: s.place, finish: s.finish, complete: s.complete}
}

// record reads a record: an issue, a comment, a field, or what a page has beside these.
func (si *site) record(x *reader, r records.Record, v records.Value) (done bool, err error) {
	at := x.reads(v)
	if r.List != "" {
		si.listed = r.Position.File
	}
	isIssue := v.Has("fields") && at("key") != ""
	for _, name := range v.At("names.*") {
		si.names[name.Name] = cmp.Or(name.Text, si.names[name.Name])
	}
	if !v.Has("name") {
		for _, kind := range v.At("schema.*") {
			si.kinds[kind.Name] = cmp.Or(x.text(kind, []string{"custom"}), si.kinds[kind.Name])
		}
	}
	switch {
	case v.Has("errorMessages"):
		text := diag.Truncate(strings.Join(x.texts(v.At("errorMessages")), " "), 200)
		return true, diag.WithHint(fmt.Errorf("%s: the file is not an export, but an error of Jira: %s", r.Position, text),
			"export again, with the request /rest/api/3/search/jql (Cloud) or /rest/api/2/search (Server)")
	case v.Has("body"):
		m := commentAddress.FindStringSubmatch(at("self"))
		if m == nil {
			return true, fmt.Errorf("%s: the comment does not name its issue (in the field self)", r.Position)
		}
		aside := x.apart.Of(m[1])
		x.comment(m[1], x.remark(aside, x.find("comment"), v))
		x.bookOf(aside, x.find("comment"), v, "comment.comments")
	case isIssue:
		if base, _, ok := strings.Cut(at("self"), "/rest/"); ok && x.site == "" && !strings.Contains(base, "api.atlassian.com") {
			x.site = base
		}
		x.issue(x.find("issue"), v, "")
	case r.List == "issues" || v.Has("fields"):
		return true, diag.WithHint(fmt.Errorf("%s: an issue without key and fields", r.Position), "ask for them: fields=*all&expand=names")
	case at("id") != "" && at("name") != "":
		si.names[at("id")], si.kinds[at("id")] = at("name"), cmp.Or(at("schema.custom"), si.kinds[at("id")])
		x.bookAll(nil, v, "names")
	case si.listed != r.Position.File && !slices.ContainsFunc(ofPages(), v.Has):
		return true, diag.WithHint(fmt.Errorf("%s: it is no answer of Jira: neither issue nor comment nor field", r.Position),
			"name what /rest/api/3/search/jql, /rest/api/2/search, issue/KEY/comment or field answered")
	default:
		if total, err := strconv.Atoi(at("total")); err == nil && at("expand") != "" { // of a search: comments have no expand
			si.totals[total] = true
		}
		x.ended = x.ended || at("isLast") == "true"
		x.follows = x.follows || at("isLast") == "false" || at("nextPageToken") != ""
		if !r.Page { // the engine books a page
			x.bookAll(nil, v, "")
		}
	}
	return true, x.wrong
}

// ofPages returns the names of the values that a page of an answer has beside its list.
func ofPages() []string {
	return []string{"total", "startAt", "isLast", "maxResults", "nextPageToken", "expand", "names", "schema", "warningMessages"}
}

// place sets the fields of an issue that follow from several values.
func (si *site) place(x *reader, i *convert.Issue, v records.Value) {
	at := x.reads(v)
	x.placeJira(i, v, "fields.")
	project := x.project(i.Project)
	if at("fields.project.key") == i.Project {
		project.Name = cmp.Or(project.Name, at("fields.project.name"))
	}
	i.State.Category = cmp.Or(map[string]string{"new": "unstarted", "indeterminate": "started", "done": "completed"}[at("fields.status.statusCategory.key")],
		words.Of("jira categories").Own(at("fields.status.statusCategory")))
	for _, version := range v.At("fields.fixVersions") {
		i.Versions = append(i.Versions, convert.Version{Name: x.reads(version)("name"), Due: x.day(i, x.reads(version)("releaseDate"))})
	}
	i.Parent, i.ParentTitle = at("fields.parent.key"), at("fields.parent.fields.summary")
	if id := at("fields.parent.id"); i.Parent == "" && id != "" {
		i.Parent = "issue " + id // it may be in another file, or outside the export
	}
	for _, l := range v.At("fields.issuelinks") {
		at := x.reads(l)
		link := convert.Link{Type: at("type.name"), Word: at("type.outward"), Other: at("type.inward")}
		if link.To, link.Title = at("outwardIssue.key"), at("outwardIssue.fields.summary"); link.To != "" {
			i.Links = append(i.Links, link)
		}
		if link.To, link.Title = at("inwardIssue.key"), at("inwardIssue.fields.summary"); link.To != "" {
			link.Inward, link.Word, link.Other = true, link.Other, link.Word
			i.Links = append(i.Links, link)
		}
	}
	total, _ := strconv.Atoi(at("changelog.total"))
	i.Left["history"] = len(v.At("changelog.histories.items")) + max(0, total-len(v.At("changelog.histories")))
	for _, f := range v.At("fields") {
		for _, f := range f.Parts {
			if !strings.HasPrefix(f.Name, "customfield_") || len(leaves("", f)) == 0 {
				continue
			}
			si.used[f.Name] = true
			i.Fields = append(i.Fields, convert.Field{Name: f.Name, Value: shownText(f, 0), Source: f.Name}) // its name may be in another file
			if c := specialOf(x, f); c.isBoard || c.isDeep || len(c.sprints) > 0 {
				si.special[i] = append(si.special[i], c)
			}
		}
	}
}

// placeJira sets the fields of an issue that follow from its key, and from values that the REST API and a backup name alike. within is the
// beginning of their paths.
func (x *reader) placeJira(i *convert.Issue, v records.Value, within string) {
	at := func(name string) string { return x.reads(v)(within + name) }
	seconds := func(name string) int { n, _ := strconv.Atoi(at(name)); return n }
	isKey := false
	if i.Project, i.Number, isKey = jira.KeyOf(i.Key); !isKey {
		x.wrong = cmp.Or(x.wrong, fmt.Errorf("%s: %q is no issue key", i.Position, diag.Truncate(i.Key, 40)))
	}
	i.Creator, i.Environment = x.firstPerson(v, []string{within + "creator"}), x.body(at("environment"))
	if v.Has(within + "security") {
		i.Restricted = jira.SecurityLevel
	}
	jira.Times(i, x.time(i, at("resolutiondate")), seconds("timeoriginalestimate"), seconds("timeestimate"), seconds("timespent"))
}

// specialOf returns what the value of a custom field is beside its text.
func specialOf(x *reader, f records.Value) special {
	c := special{id: f.Name, isDeep: x.reads(f)("type") == "doc"}
	type sprint struct {
		state string
		convert.Sprint
	}
	var all []sprint
	for _, part := range f.Parts {
		at, text := x.reads(part), jira.ServerSprint(part.Text) // Server writes each sprint as a text
		one := sprint{cmp.Or(text["state"], at("state")), convert.Sprint{
			Name: cmp.Or(text["name"], at("name")), Start: cmp.Or(text["startDate"], at("startDate")), End: cmp.Or(text["endDate"], at("endDate")),
		}}
		c.isBoard = c.isBoard || len(text) > 0 || part.Has("boardId")
		if !f.List || one.Name == "" || !part.Object && len(text) == 0 {
			continue
		}
		if n, _ := strconv.Atoi(at("id")); n > 0 {
			one.Name += convert.Within + at("id")
		}
		c.goals = append(c.goals, convert.About{Of: convert.OfSprint, Name: one.Name, Text: at("goal")})
		all = append(all, one)
	}
	rank := func(s sprint) int {
		return slices.Index([]string{"closed", "future", "active"}, strings.ToLower(s.state))
	}
	slices.SortStableFunc(all, func(a, b sprint) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.End, b.End)) })
	for _, one := range all {
		c.sprints = append(c.sprints, one.Sprint)
	}
	return c
}

// shownText returns a value in the form that people read.
func shownText(v records.Value, depth int) string {
	switch of := func(name string) (text string) {
		v.Visit(name, func(part records.Value) { text = shownText(part, depth+1) })
		return text
	}; {
	case depth > 5:
	case v.List:
		var texts []string
		for _, part := range v.Parts {
			if text := shownText(part, depth+1); text != "" {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, ", ")
	case v.Object && of("type") == "doc":
		var lines []string
		for _, block := range v.At("content") {
			if line := strings.TrimSpace(plainText(block)); line != "" {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "\n")
	case v.Object:
		for _, name := range shownParts() {
			if text := of(name); text != "" && of("child") != "" { // of a list that depends on another
				return text + " / " + of("child")
			} else if text != "" {
				return text
			}
		}
	case v.Number:
		return strings.TrimSuffix(v.Text, ".0")
	default:
		return strings.TrimSpace(v.Text)
	}
	return ""
}

// plainText returns the texts below a node of a document.
func plainText(node records.Value) string {
	var b strings.Builder
	for _, part := range node.Parts {
		switch {
		case part.Name == "type" && part.Text == "hardBreak":
			b.WriteString("\n")
		case part.Name == "text":
			b.WriteString(part.Text)
		}
	}
	for _, child := range node.At("content") {
		b.WriteString(plainText(child))
	}
	return b.String()
}

// shownParts returns the parts of an object that can be shown. The first part that an object has is shown.
func shownParts() []string { return []string{"value", "displayName", "name", "key"} }

// finish adds parents, comments of other files and custom fields, and remarks on missing pages and names.
func (si *site) finish(x *reader) {
	for _, i := range x.issues {
		latest := x.latest[x.key(i)]
		if latest.Key != i.Key { // it was moved to another project while the pages were read
			x.leave[i] = "moved issues"
		}
		if id, is := strings.CutPrefix(i.Parent, "issue "); is && x.latest[id] != nil {
			i.Parent = x.latest[id].Key
		}
		if latest == i && i.ID != "" && i.ID != i.Key {
			x.apart.Join(i, i.Key)
			for _, c := range x.comments[i.Key] {
				x.comment(i.ID, c)
			}
			delete(x.comments, i.Key)
		}
	}
	for total := range si.totals {
		if len(si.totals) == 1 && total > len(x.latest) {
			x.to.Note("pages-missing", fmt.Sprintf("the search found %d issues, and the files hold %d: export the other pages, too", total, len(x.latest)))
		}
	}
	for _, id := range sortedKeys(si.used) {
		if si.names[id] == "" {
			x.to.Note("fields-without-names", "custom fields are known by their IDs only: search with expand=names, or add a file of /rest/api/3/field")
		}
	}
}

// complete sets the values of an issue from its custom fields.
func (si *site) complete(x *reader, i *convert.Issue) {
	held := map[string][]*convert.Held{} // by the field
	for n := range i.Held {
		field, _, _ := strings.Cut(i.Held[n].Of.Name, ".")
		held[field] = append(held[field], &i.Held[n])
	}
	all := i.Fields
	i.Fields = nil
	slices.SortStableFunc(all, func(a, b convert.Field) int { return strings.Compare(customID(a), customID(b)) })
	for _, f := range all {
		id := customID(f)
		if id == "" {
			i.Fields = append(i.Fields, f)
			continue
		}
		var c special
		if n := slices.IndexFunc(si.special[i], func(c special) bool { return c.id == id }); n >= 0 {
			c = si.special[i][n]
		}
		name, kind, values := cmp.Or(si.names[id], id), si.kinds[id], held[id]
		isSprint := jira.IsSprint(kind, name) || name == id && c.isBoard
		if isSprint && len(c.sprints) > 0 {
			i.Sprints, i.About = nil, append(i.About, c.goals...)
			for _, one := range c.sprints {
				i.Sprints = append(i.Sprints, convert.Sprint{Name: one.Name, Start: si.day(x, one.Start), End: si.day(x, one.End)})
			}
			setRoles(values, func(part string) convert.Role {
				return cmp.Or(map[string]convert.Role{"": convert.OfSprint, "name": convert.OfSprint, "goal": "cycle_text"}[part], convert.SprintDate)
			})
			raw := 0
			for _, h := range values {
				for _, one := range c.sprints {
					if h.Of.Role == convert.SprintDate && (h.Text == one.Start || h.Text == one.End) {
						h.Element, _, _ = strings.Cut(one.Name, convert.Within)
					}
				}
				if h.Of.Name == id && raw < len(i.Sprints) { // a text in which Server writes all of a sprint
					h.Text, _, _ = strings.Cut(i.Sprints[raw].Name, convert.Within)
					raw++
				}
			}
			continue
		}
		setRoles(values, func(part string) convert.Role {
			last := lastPart(part, '.')
			switch {
			case c.isDeep && last != "text":
				return convert.Technical
			case part == "" || c.isDeep || slices.Contains(shownParts(), last):
				return convert.OfField
			}
			i.Left["field-parts"]++
			return "field_part"
		})
		if name == id && f.Value == i.Parent && f.Value != "" { // the epic of it, under another name
			i.Take(f.Source, convert.OfParent)
			continue
		}
		f.Name = name
		jira.Custom(i, kind, f)
	}
	delete(si.special, i)
}

// customID returns the ID of a custom field, or "" for another field.
func customID(f convert.Field) string {
	if strings.HasPrefix(f.Source, "customfield_") {
		return f.Source
	}
	return ""
}

// setRoles sets the roles of the values that belong to a custom field. role returns the role for the name of a value within the field.
func setRoles(values []*convert.Held, role func(part string) convert.Role) {
	for _, h := range values {
		if _, part, _ := strings.Cut(h.Of.Name, "."); h.Of.Role == convert.OfField || part != "" && h.Of.Role == convert.Uncarried {
			h.Of.Serve(role(part))
		}
	}
}

// day returns the calendar day of a moment in the zone of the export.
func (si *site) day(x *reader, text string) string {
	at, ok := dates.Parse(text, "2006-01-02T15:04:05Z07:00")
	if !ok {
		return ""
	}
	x.hours = true
	return dates.Day(at.In(x.in.Zone))
}
