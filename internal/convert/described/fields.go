package described

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/jira/adf"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/text/diag"
)

// set sets a field of an issue from the first path of a line that has a value.
func (x *reader) set(i *convert.Issue, s *section, l words.Line, v records.Value) {
	paths, source := l.Names, s.prefix("")+l.Names[0]
	word, name, _ := strings.Cut(l.Of, " ")
	if found := x.first(v, paths); len(found) > 0 || strings.Contains(paths[0], " ") {
		texts := x.texts(found)
		if len(found) == 0 {
			texts = []string{x.text(v, paths)}
		}
		if len(texts) == 0 {
			texts = []string{""} // an object without a text that is shown
		}
		if slices.Contains(x.head().paths("nothing"), texts[0]) {
			return
		}
		switch word {
		case "relation":
			for _, to := range texts {
				i.Links = append(i.Links, convert.Link{Type: strings.TrimPrefix(name, "inward "), To: to, Inward: strings.HasPrefix(name, "inward ")})
			}
		case "count":
			n, err := strconv.Atoi(texts[0])
			if err != nil || found[0].Object {
				n = len(found)
			}
			i.Left[name] = max(i.Left[name], n)
		case "about":
			for _, one := range found {
				at := x.reads(one)
				i.About = append(i.About, convert.About{Of: convert.Role(name), Name: cmp.Or(at("name"), at("title")), Text: at("description")})
			}
		case "row":
			field(i, name, strings.Join(texts, ", "), source)
		case "noise":
			i.Fields = append(i.Fields, convert.Field{Name: name, Value: texts[0], Source: source, Noise: true})
		case "flag":
			field(i, name, map[string]string{"true": "yes"}[texts[0]], source)
		case "duration":
			seconds, _ := strconv.Atoi(texts[0])
			field(i, name, dates.Duration(seconds), source)
		case "moment":
			field(i, name, dates.Minute(x.time(i, texts[0])), source)
		case "private":
			if x.yes(v, paths) {
				i.Restricted, _, _ = strings.Cut(paths[0], ".")
			}
		default:
			x.put(i, l.Of, found, texts)
		}
	}
}

// put sets a field that each issue has, and returns false if a day cannot be read.
func (x *reader) put(i *convert.Issue, of string, found []records.Value, texts []string) bool {
	folders := x.head().word("folders")
	if folders != "" && (of == "components" || of == "cycle") { // the last one, within the project
		path := strings.Split(texts[0], folders)
		if len(path) < 2 {
			return true
		}
		texts = []string{convert.PathName(path)}
	}
	switch of {
	case "id":
		i.ID = texts[0]
	case "name":
		i.Title = texts[0]
	case "description":
		i.Text = x.body(texts[0])
	case "project":
		if i.Project = texts[0]; folders != "" {
			i.Project, _, _ = strings.Cut(texts[0], folders)
		}
	case "state":
		i.State = convert.State{Name: texts[0], Category: cmp.Or(x.words.Group(texts[0]), i.State.Category)}
	case "closed", "open":
		i.State.Category = closed(i.State.Category, (texts[0] == "true") == (of == "closed"))
		if of == "open" {
			i.State.Category = cmp.Or(i.State.Category, "started")
		}
	case "resolution":
		i.Resolution = x.words.Resolution(texts[0])
	case "type":
		i.Type = texts[0]
	case "priority":
		i.Priority = x.words.Priority(texts[0])
	case "link":
		i.URL = texts[0]
	case "parent":
		i.Parent = texts[0]
	case "labels":
		if split := x.head().word("split"); split != "" {
			texts = strings.Split(strings.Join(texts, split), split)
		}
		for _, text := range texts {
			if text = strings.TrimSpace(text); text != "" {
				i.Labels = append(i.Labels, convert.Label{Name: text})
			}
		}
	case "components":
		i.Components = texts
	case "versions":
		for _, text := range texts {
			i.Versions = append(i.Versions, convert.Version{Name: text})
		}
	case "version_due":
		for n := range i.Versions {
			i.Versions[n].Due = x.day(i, texts[0])
		}
	case "affects":
		i.Affects = texts
	case "cycle":
		for _, text := range texts {
			i.Sprints = append(i.Sprints, convert.Sprint{Name: text})
		}
	case "pages":
		for _, text := range texts {
			i.Pages = append(i.Pages, convert.Attachment{Name: text, URL: text})
		}
	case "assignees":
		i.Assignees = x.people(found)
	case "watchers":
		i.Watchers = x.people(found)
	case "created_by":
		i.Reporter = x.someone(found[0])
	case "created_at":
		i.Created = x.time(i, texts[0])
	case "updated_at":
		i.Updated = x.time(i, texts[0])
	case "start_date":
		i.Start = x.day(i, texts[0])
		return i.Start != ""
	case "target_date":
		i.Due = x.day(i, texts[0])
		return i.Due != ""
	case "archived":
		i.Archived = texts[0] == "true"
	case "comment_count":
		n, _ := strconv.Atoi(texts[0])
		x.counted[x.key(i)] = max(x.counted[x.key(i)], n)
	}
	return true
}

// closed returns the group of a state that a tracker calls closed, or open.
func closed(group string, yes bool) string {
	switch ended := group == "completed" || group == "cancelled"; {
	case yes && !ended:
		return "completed"
	case !yes && ended:
		return "started"
	}
	return group
}

// first returns the values at the first path that has any.
func (x *reader) first(v records.Value, paths []string) []records.Value {
	for _, path := range paths {
		if found := v.At(path); slices.ContainsFunc(found, func(one records.Value) bool { return len(one.Parts) > 0 || strings.TrimSpace(one.Text) != "" }) {
			return found
		}
	}
	return nil
}

// texts returns values as texts. The text of an object is the first of its values that the description shows.
func (x *reader) texts(found []records.Value) (texts []string) {
	for _, v := range found {
		text := v.Text
		if v.Object {
			text = x.text(v, x.shown)
		}
		if strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// plus matches the sign between paths that are read together, with a blank between them or with nothing.
var plus = regexp.MustCompile(" [+&] ")

// text returns the text at the first path that has one.
func (x *reader) text(v records.Value, paths []string) string {
	for _, path := range paths {
		var all []string
		by := " "
		if strings.Contains(path, " & ") {
			by = ""
		}
		parts := plus.Split(path, -1)
		for _, part := range parts {
			found := v.At(part)
			if all = append(all, x.texts(found)...); len(all) > 0 && len(parts) == 1 {
				return all[0]
			}
		}
		if text := strings.Join(all, by); text != "" {
			return text
		}
	}
	return ""
}

// reads returns a function that reads texts of a value by their paths.
func (x *reader) reads(v records.Value) func(path string) string {
	return func(path string) string { return x.text(v, []string{path}) }
}

// yes reports whether a value at one of the paths means yes.
func (x *reader) yes(v records.Value, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		if strings.Contains(path, "=") {
			return meets(v, path)
		}
		return slices.ContainsFunc(v.At(path), func(at records.Value) bool {
			return len(at.Parts) > 0 || !slices.Contains([]string{"", "false", "0", "UnlimitedVisibility"}, at.Text)
		})
	})
}

// people returns the IDs of people, each once.
func (x *reader) people(found []records.Value) (ids []string) {
	for _, v := range found {
		if id := x.someone(v); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// nameMail matches a name with an e-mail address in angle brackets.
var nameMail = regexp.MustCompile(`^(.*?)\s*<([^<>]+)>$`)

// someone adds a person, and returns the ID.
func (x *reader) someone(v records.Value) string {
	s := x.find("person")
	if x.hooks.person != nil && v.Text != "" {
		p := x.hooks.person(x, v.Text)
		x.to.Person(p)
		return p.ID
	}
	login, id, name, email := x.text(v, s.paths("login")), x.text(v, s.paths("id")), x.text(v, s.paths("name")), x.text(v, s.paths("email"))
	if m := nameMail.FindStringSubmatch(v.Text); m != nil {
		name, login = m[1], m[2]
	} else if v.Text != "" && s.word("text") == "name" {
		name = v.Text
	} else if v.Text != "" {
		login = v.Text
	}
	if nobody := s.word("nobody"); nobody != "" && strings.HasPrefix(login, nobody) {
		return ""
	}
	if email == "" && strings.Contains(login, "@") {
		email = login
	}
	id = x.person(name, email, login, id)
	is := func(line string) bool {
		return slices.ContainsFunc(s.paths(line), func(sign string) bool { return meets(v, sign) })
	}
	if id != "" && (is("bot") || is("gone")) {
		x.to.Person(convert.Person{ID: id, Bot: is("bot"), Left: is("gone")})
	}
	return id
}

// firstPerson returns the ID of the first person at some paths.
func (x *reader) firstPerson(v records.Value, paths []string) string {
	for _, path := range paths {
		if ids := x.people(v.At(path)); len(ids) > 0 {
			return ids[0]
		}
	}
	return ""
}

// time reads a time of an issue, which may be a number of milliseconds.
func (x *reader) time(i *convert.Issue, text string) time.Time {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return milli(n)
	}
	if layout := x.head().word("zoneless"); layout != "" && text != "" {
		at, err := time.ParseInLocation(layout, text, x.in.Zone)
		if err != nil {
			i.Left["dates-not-understood"]++
		}
		return at
	}
	at := moment(i, text)
	if x.head().word("moments") != "" && !at.IsZero() { // as people saw it
		at = at.In(x.in.Zone)
	}
	return at
}

// day reads a calendar day, which may be a number of milliseconds. A time that is not midnight is a day in the zone of the export.
func (x *reader) day(i *convert.Issue, text string) string {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return dates.Day(milli(n))
	}
	if len(text) <= len(time.DateOnly) {
		return day(i, text)
	}
	at := moment(i, text)
	if !at.IsZero() && (x.head().word("moments") != "" || !at.Equal(at.Truncate(24*time.Hour))) {
		x.hours = true
		i.Left["times-of-day"]++
		at = at.In(x.in.Zone)
	}
	return dates.Day(at)
}

// taskLists returns lists of tasks for the end of a text.
func (x *reader) taskLists(i *convert.Issue, s *section, lists []records.Value) string {
	var b strings.Builder
	line := func(v records.Value, field string) string { return diag.OneLine(x.text(v, s.paths(field))) }
	inOrder := func(a, b records.Value) int {
		at, _ := strconv.ParseFloat(line(a, "order"), 64)
		other, _ := strconv.ParseFloat(line(b, "order"), 64)
		return cmp.Compare(at, other)
	}
	for _, list := range slices.SortedStableFunc(slices.Values(lists), inOrder) {
		b.WriteString("### " + cmp.Or(line(list, "title"), "Checklist") + "\n\n")
		for _, task := range slices.SortedStableFunc(slices.Values(list.At(s.word("each"))), inOrder) {
			b.WriteString(cmp.Or(map[string]string{"complete": "- [x] "}[line(task, "done")], "- [ ] ") + line(task, "name"))
			if due := line(task, "target_date"); due != "" {
				b.WriteString(" (due " + x.day(i, due) + ")")
			}
			b.WriteString("\n")
			if line(task, "person") != "" {
				i.Left["check-item-people"]++
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (x *reader) remark(i *convert.Issue, s *section, v records.Value) convert.Comment {
	c := convert.Comment{
		ID: x.text(v, s.paths("id")), Author: x.firstPerson(v, s.paths("created_by")), At: x.time(i, x.text(v, s.paths("created_at"))),
		Edited: x.time(i, x.text(v, s.paths("updated_at"))),
		Text:   x.body(x.text(v, s.paths("text"))), Hidden: x.yes(v, s.paths("private")),
	}
	if c.ID == "" {
		c.Source, c.Edited = x.sign(s, v), time.Time{}
	}
	c.Text = x.written(s, v, c.Text)
	return c
}

// sign returns what tells a comment without an ID from the others.
func (x *reader) sign(s *section, v records.Value) string {
	return x.text(v, s.paths("created_at")) + " " + x.text(v, s.paths("text"))
}

// publicTexts returns the texts of an issue and of its comments that everybody may read.
func (x *reader) publicTexts(i *convert.Issue) string {
	texts := []string{i.Text.Body}
	for _, c := range x.comments[x.key(i)] {
		if !c.Hidden {
			texts = append(texts, c.Text.Body)
		}
	}
	return strings.Join(texts, "\n")
}

// body returns a text in the markup of the tracker. Jira writes documents, too.
func (x *reader) body(text string) convert.Text {
	switch {
	case x.markup == convert.JiraWiki && text == "":
		return convert.Text{}
	case x.markup == convert.JiraWiki && adf.Is([]byte(text)):
		return convert.Text{Markup: convert.ADF, Body: text}
	}
	return convert.Text{Markup: x.markup, Body: text}
}

// written returns a text, or the record's text in HTML if there is one.
func (x *reader) written(s *section, v records.Value, text convert.Text) convert.Text {
	if html := x.text(v, s.paths("html")); html != "" {
		return convert.Text{Markup: convert.HTML, Body: x.hooks.html(html)}
	}
	if x.hooks.text != nil {
		text.Body = x.hooks.text(text.Body)
	}
	if is := x.text(v, s.paths("markdown")); strings.EqualFold(is, "markdown") || is == "true" {
		text.Markup = convert.Markdown
	}
	return text
}

// file makes an attachment from a record. A text about the file becomes a row of the issue's fields.
func (x *reader) file(s *section, v records.Value, i *convert.Issue, list string) convert.Attachment {
	f := convert.Attachment{ID: x.text(v, s.paths("id")), Name: x.text(v, s.paths("name")), URL: x.text(v, s.paths("link"))}
	f.ID = lastPart(f.ID, '/')
	f.Name = cmp.Or(f.Name, f.ID)
	if f.Name == f.URL {
		f.Name = lastPart(f.Name, '/')
	}
	f.Size, _ = strconv.ParseInt(x.text(v, s.paths("size")), 10, 64)
	if site, _, ok := strings.Cut(f.URL, s.word("site")); ok && s.word("site") != "" && strings.Contains(site, "://") {
		x.site = site
	}
	if below := s.word("below"); below != "" {
		f.URL = below + f.ID
	}
	if said := s.paths("about"); said != nil {
		if text := x.text(v, said); text != f.Name {
			about(i, "Files", f.Name, text, list+"."+said[0])
		}
	}
	return f
}

// lastPart returns the part of a text after the last separator.
func lastPart(text string, separator byte) string {
	return text[strings.LastIndexByte(text, separator)+1:]
}

func byName(list []records.Value) []records.Value {
	slices.SortStableFunc(list, func(a, b records.Value) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// changes makes events from an element, which may hold a list of changes.
func (x *reader) changes(i *convert.Issue, s *section, v records.Value) (all []convert.Event) {
	list := []records.Value{v}
	if each := s.word("each"); each != "" {
		list = byName(v.At(each))
	}
	for _, one := range list {
		name := s.prefix("") + strings.TrimSuffix(s.word("each"), "*") + one.Name + "." + s.word("to")
		if strings.HasSuffix(s.word("each"), "*") && x.roles.Of(name) == convert.Technical {
			continue
		}
		event := convert.Event{
			Author: x.firstPerson(v, s.paths("created_by")), At: x.time(i, x.text(v, s.paths("created_at"))),
			Field: cmp.Or(s.word("called"), x.called(cmp.Or(x.text(one, s.paths("field")), one.Name))),
			From:  strings.Join(x.texts(x.first(one, s.paths("from"))), ", "), To: strings.Join(x.texts(x.first(one, s.paths("to"))), ", "),
		}
		all = append(all, event)
	}
	return all
}

func (x *reader) logged(i *convert.Issue, s *section, v records.Value) convert.Work {
	minutes, _ := strconv.Atoi(x.text(v, s.paths("minutes")))
	seconds, _ := strconv.Atoi(x.text(v, s.paths("seconds")))
	return convert.Work{
		Author: x.firstPerson(v, s.paths("created_by")), At: x.time(i, x.text(v, s.paths("created_at"))),
		Seconds: seconds + 60*minutes, Text: x.body(x.text(v, s.paths("text"))),
	}
}

// link adds relations to an issue. Section "links" maps the type and direction of a relation: to a type, with "inward" before it if the
// other issue is its beginning, with "both" if it has no direction; or to another object such as files, whose name link returns if line
// "apart" asks for it.
func (x *reader) link(i *convert.Issue, s *section, v records.Value) (other string) {
	kind, way := x.text(v, s.paths("type")), x.text(v, s.paths("way"))
	if x.hooks.link != nil {
		kind, way = x.hooks.link(kind)
	}
	from := x.text(v, s.paths("from"))
	targets := x.texts(v.At(s.word("to")))
	if len(targets) == 0 && s.word("apart") != "" { // a file may have no address
		targets = []string{""}
	}
	for _, to := range targets {
		is := cmp.Or(x.renamed(kind+" "+way), x.renamed(kind), x.renamed(way), kind)
		if from != "" && to == i.Key {
			to, is = from, "inward "+is
		}
		is, inward := strings.CutPrefix(is, "inward ")
		is, both := strings.CutPrefix(is, "both ")
		is = strings.ReplaceAll(is, "*", kind)
		key := lastPart(to, '/')
		if _, err := strconv.Atoi(key); err != nil && key != to && is != "files" && is != "pages" { // the address of no item
			is = "artifacts"
		}
		switch other = is; is {
		case "children": // the children name their parent themselves
		case "parents":
			i.Parent = key
		case "files":
			i.Attachments = append(i.Attachments, x.file(s, v, i, is+": "+s.list))
		case "pages":
			i.Pages = append(i.Pages, convert.Attachment{Name: cmp.Or(x.text(v, s.paths("about")), to), URL: to})
		case "artifacts":
			field(i, cmp.Or(x.text(v, s.paths("name")), "Artifact"), to+" "+x.text(v, s.paths("about")), is+": "+s.list)
		default:
			if other = ""; key == "" {
				continue
			}
			if said := s.word("about"); said != "" {
				about(i, "Relations", "#"+key, x.text(v, s.paths("about")), s.list+"."+said)
			}
			i.Links = append(i.Links, convert.Link{Type: is, To: key, Inward: inward || both && before(key, i.Key)})
		}
	}
	if s.word("apart") == "" {
		return ""
	}
	return other
}

// renamed returns the entry of section "links" for a relation, or "".
func (x *reader) renamed(is string) string {
	for _, l := range x.find("links").lines {
		if slices.Contains(l.Names, strings.TrimSpace(is)) {
			return l.Of
		}
	}
	return ""
}
