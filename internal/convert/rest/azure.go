package rest

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/tabular"
)

// azureAnswer is a work item, a comment on one, or what was changed of one at once.
type azureAnswer struct {
	ID      int                        `json:"id"`
	URL     string                     `json:"url"`
	Fields  map[string]json.RawMessage `json:"fields"`
	Formats map[string]string          `json:"multilineFieldsFormat"`
	Links   struct {
		HTML struct {
			Address string `json:"href"`
		} `json:"html"`
	} `json:"_links"`
	Relations json.RawMessage `json:"relations"` // of a change it is an object

	Item    int             `json:"workItemId"`
	Comment int             `json:"commentId"` // the ID of a comment, in older versions
	Text    *string         `json:"text"`
	Format  string          `json:"format"`
	Author  json.RawMessage `json:"createdBy"`
	Created string          `json:"createdDate"`
	Deleted bool            `json:"isDeleted"`
	Reviser json.RawMessage `json:"revisedBy"`
	Revised string          `json:"revisedDate"`

	Total *int `json:"totalCount"` // of a page of comments
}

// azureRelation is a relation to another item, a file, or a page.
type azureRelation struct {
	Rel        string `json:"rel"`
	URL        string `json:"url"`
	Attributes struct {
		Name    string `json:"name"`
		Comment string `json:"comment"`
		Size    int64  `json:"resourceSize"`
	} `json:"attributes"`
}

// Fields that are more than a row of a table.
const (
	azureTitle       = "System.Title"
	azureDescription = "System.Description"
	azureProject     = "System.TeamProject"
)

var (
	azureItem = regexp.MustCompile(`(?i)/workItems/([0-9]{1,10})$`)
	azureFile = regexp.MustCompile(`(?i)https?://[^\s"'<>]+/_apis/wit/attachments/([0-9a-f-]{36})\?[^\s"'<>]*?fileName=([^\s"'<>&]+)`)
	azureHTML = regexp.MustCompile(`(?i)^\s*<(?:div|p|ul|ol|span|table|h[1-6]|b|strong|br|pre)\b`)
	nameMail  = regexp.MustCompile(`^(.*?)\s*<([^<>]+)>$`)
)

// azure is what the REST API of Azure DevOps answers for work items, with their relations, for their comments, and for their updates.
func azure() *api {
	return &api{
		name: "azure-json", tracker: "Azure DevOps", lists: []string{"value", "comments"},
		needs: [][]string{{"fields", azureTitle}, {"workItemId", "text"}, {"workItemId", "revisedDate"}, {"totalCount", "count", "comments"}},
		start: func(e *export) (func(records.Record) error, func()) {
			x := &azureExport{export: e, group: tabular.AzureGroup()}
			return x.record, func() {
				if x.moments {
					x.to.AssumedZone()
				}
			}
		},
	}
}

type azureExport struct {
	*export

	group   func(state string) string
	last    string // the item of the last comment
	moments bool   // there are days that a zone tells
}

func (x *azureExport) record(r records.Record) error {
	var one azureAnswer
	if err := r.Decode(&one, "work item of Azure DevOps"); err != nil {
		return err
	}
	key := strconv.Itoa(one.Item)
	switch {
	case r.Page:
		if one.Total != nil && x.last != "" {
			x.counted[x.last] = max(x.counted[x.last], *one.Total)
		}
		x.last = ""
		x.enter(nil, r, "", nil)
	case one.Item > 0 && one.Deleted:
		x.last = key
		x.leave(r, "deleted comments")
	case one.Item > 0 && one.Text != nil:
		x.last = key
		at, _ := dates.Parse(one.Created, time.RFC3339Nano)
		text := convert.Text{Markup: convert.HTML, Body: *one.Text}
		if strings.EqualFold(one.Format, "markdown") {
			text.Markup = convert.Markdown
		}
		x.comment(key, convert.Comment{ID: strconv.Itoa(cmp.Or(one.ID, one.Comment)), Author: x.identity(one.Author), At: at, Text: text})
		x.beside(r, key, "comments")
	case one.Item > 0:
		x.update(r, key, &one)
	case one.ID <= 0 || one.Fields[azureTitle] == nil:
		return x.foreign(r, "a work item without id and System.Title", "ask for all fields, with $expand=all")
	default:
		return x.item(r, &one)
	}
	return nil
}

func (x *azureExport) item(r records.Record, one *azureAnswer) error {
	get := func(names ...string) string {
		for _, name := range names {
			if all := texts(one.Fields[name], "name"); len(all) > 0 {
				return all[0]
			}
		}
		return ""
	}
	key := strconv.Itoa(one.ID)
	i := &convert.Issue{
		Key: key, ID: key, Number: one.ID, Title: get(azureTitle), Type: get("System.WorkItemType"), Position: r.Position,
		State:    convert.State{Name: get("System.State"), Category: x.group(get("System.State"))},
		Priority: tabular.AzurePriority(get("Microsoft.VSTS.Common.Priority")), Resolution: get("Microsoft.VSTS.Common.ResolvedReason"),
		Parent: get("System.Parent"), Reporter: x.identity(one.Fields["System.CreatedBy"]), Left: map[string]int{},
	}
	if id := x.identity(one.Fields["System.AssignedTo"]); id != "" {
		i.Assignees = []string{id}
	}
	area, iteration := strings.Split(get("System.AreaPath"), `\`), strings.Split(get("System.IterationPath"), `\`)
	i.Project = cmp.Or(get(azureProject), area[0], iteration[0], "azure")
	if len(area) > 1 {
		i.Components = []string{convert.PathName(area)}
	}
	if len(iteration) > 1 {
		i.Sprints = []convert.Sprint{{Name: convert.PathName(iteration)}}
	}
	for tag := range strings.SplitSeq(get("System.Tags"), ";") {
		if tag = strings.TrimSpace(tag); tag != "" {
			i.Labels = append(i.Labels, convert.Label{Name: tag})
		}
	}
	i.Created, i.Updated = moment(i, get("System.CreatedDate")), moment(i, get("System.ChangedDate"))
	i.Start = x.day(i, get("Microsoft.VSTS.Scheduling.StartDate"))
	i.Due = x.day(i, get("Microsoft.VSTS.Scheduling.TargetDate", "Microsoft.VSTS.Scheduling.DueDate"))
	x.counted[key], _ = strconv.Atoi(get("System.CommentCount"))
	if i.URL = one.Links.HTML.Address; !strings.HasSuffix(i.URL, "/edit/"+key) { // that of an old server tells items apart behind the ? only
		i.URL = ""
	}
	if base, _, ok := strings.Cut(one.URL, "/_apis/"); ok && i.URL == "" {
		i.URL = base + "/" + url.PathEscape(i.Project) + "/_workitems/edit/" + key
	}
	x.texts(i, one)
	more, err := x.relations(i, r, one.Relations)
	if err != nil {
		return err
	}
	for _, m := range azureFile.FindAllStringSubmatch(i.Text.Body, -1) { // a picture within a text is no relation
		id := strings.ToLower(m[1])
		if !slices.ContainsFunc(i.Attachments, func(a convert.Attachment) bool { return a.ID == id }) {
			name, err := url.QueryUnescape(m[2])
			if err != nil {
				name = m[2]
			}
			i.Attachments = append(i.Attachments, convert.Attachment{ID: id, Name: name, URL: m[0]})
		}
	}
	x.enter(i, r, "fields.", more, "relations.rel", "relations.url", "relations.attributes.name", "relations.attributes.comment")
	x.to.Project(convert.Project{Key: i.Project, Name: i.Project})
	x.add(i)
	return nil
}

// texts makes the description, with what else is a text in HTML, and rows of what has no place of its own.
func (x *azureExport) texts(i *convert.Issue, one *azureAnswer) {
	known := func(name string) bool {
		role := x.roles.Of(name)
		return role != convert.OfField
	}
	markdown := func(name string) bool { return strings.EqualFold(one.Formats[name], "markdown") }
	i.Text = convert.Text{Markup: convert.HTML, Body: strings.Join(texts(one.Fields[azureDescription]), "")}
	if markdown(azureDescription) {
		i.Text.Markup = convert.Markdown
	}
	for _, name := range slices.Sorted(maps.Keys(one.Fields)) {
		text := strings.Join(texts(one.Fields[name], "displayName", "name"), ", ")
		if name == azureDescription || text == "" || known(name) {
			continue
		}
		switch title := azureName(name); {
		case name == "System.Reason":
			i.Fields = append(i.Fields, convert.Field{Name: title, Value: text, Source: name, Noise: true})
		case i.Text.Markup == convert.Markdown && (markdown(name) || azureHTML.MatchString(text)):
			i.Text.Body += "\n\n## " + title + "\n\n" + text
		case markdown(name):
			i.Text = convert.Text{Markup: convert.Markdown, Body: i.Text.Body + "\n\n## " + title + "\n\n" + text}
		case azureHTML.MatchString(text):
			i.Text.Body += "<h2>" + title + "</h2>" + text
		default:
			if text != "0" && text != "false" {
				field(i, title, text, name)
			}
		}
	}
}

// azureName is how people call a field: ReproSteps is Repro Steps.
func azureName(reference string) string {
	name := reference[strings.LastIndexByte(reference, '.')+1:]
	var b strings.Builder
	for n, c := range name {
		if n > 0 && unicode.IsUpper(c) && !unicode.IsUpper(rune(name[n-1])) {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// relations takes what an item is related to. What each of its values is for depends on the kind.
func (x *azureExport) relations(i *convert.Issue, r records.Record, raw json.RawMessage) ([]value, error) {
	var list []azureRelation
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, x.foreign(r, "the relations of "+i.Key+" are no list", "ask for them with $expand=all")
		}
	}
	var more []value
	for _, l := range list {
		to, kind := "", "relations"
		if m := azureItem.FindStringSubmatch(l.URL); m != nil {
			to = m[1]
		}
		name, way, _ := strings.Cut(l.Rel[strings.LastIndexByte(l.Rel, '.')+1:], "-")
		switch comment := strings.TrimSpace(l.Attributes.Comment); {
		case l.Rel == "AttachedFile":
			kind = "files: relations"
			id := strings.ToLower(l.URL[strings.LastIndexByte(l.URL, '/')+1:])
			i.Attachments = append(i.Attachments, convert.Attachment{ID: id, Name: cmp.Or(l.Attributes.Name, id), URL: l.URL, Size: l.Attributes.Size})
			about(i, "Files", l.Attributes.Name, comment, kind+".attributes.comment")
		case to == "" && strings.Contains(l.URL, "://") && !strings.HasPrefix(l.URL, "vstfs:"):
			kind = "pages: relations"
			i.Pages = append(i.Pages, convert.Attachment{Name: cmp.Or(comment, l.URL), URL: l.URL})
		case to == "":
			kind = "artifacts: relations"
			field(i, cmp.Or(l.Attributes.Name, "Artifact"), strings.TrimSpace(l.URL+" "+comment), kind+".url")
		case name == "Hierarchy" && way == "Forward": // the child says it
			kind = "children: relations"
		case name == "Hierarchy":
			kind = "parents: relations"
			i.Parent = to
		case name == "Dependency":
			i.Links = append(i.Links, convert.Link{Type: "blocks", To: to, Inward: way == "Reverse"})
		case name == "Duplicate": // whose other end is the duplicate
			i.Links = append(i.Links, convert.Link{Type: name, To: to, Inward: way == "Forward"})
		case way == "": // both ends show the same
			i.Links = append(i.Links, convert.Link{Type: name, To: to, Inward: before(to, i.Key)})
		default:
			i.Links = append(i.Links, convert.Link{Type: name, To: to, Inward: way == "Reverse"})
		}
		if kind == "relations" {
			about(i, "Relations", "#"+to, l.Attributes.Comment, kind+".attributes.comment")
		}
		more = append(more, value{kind + ".rel", l.Rel}, value{kind + ".url", l.URL}, value{kind + ".attributes.name", l.Attributes.Name},
			value{kind + ".attributes.comment", l.Attributes.Comment})
	}
	return more, nil
}

// update takes what was changed of an item at once.
func (x *azureExport) update(r records.Record, key string, one *azureAnswer) {
	type change struct {
		Old json.RawMessage `json:"oldValue"`
		New json.RawMessage `json:"newValue"`
	}
	changes := map[string]change{}
	for name, raw := range one.Fields {
		var c change
		if json.Unmarshal(raw, &c) == nil {
			changes[name] = c
		}
	}
	at, _ := dates.Parse(cmp.Or(strings.Join(texts(changes["System.ChangedDate"].New), ""), one.Revised), time.RFC3339Nano)
	author := x.identity(one.Reviser)
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if x.roles.Of("updates.fields."+name+".newValue") == convert.Technical {
			continue
		}
		c := changes[name]
		from, to := strings.Join(texts(c.Old, "displayName", "name"), ", "), strings.Join(texts(c.New, "displayName", "name"), ", ")
		x.events[key] = append(x.events[key], convert.Event{Author: author, At: at, Field: azureName(name), From: from, To: to})
	}
	x.beside(r, key, "updates")
}

// identity notes somebody: an object, or in older versions a text.
func (x *azureExport) identity(raw json.RawMessage) string {
	var one struct {
		ID     string `json:"id"`
		Name   string `json:"displayName"`
		Unique string `json:"uniqueName"`
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if m := nameMail.FindStringSubmatch(text); m != nil {
			one.Name, one.Unique = m[1], m[2]
		} else {
			one.Name = text
		}
	} else if len(raw) > 0 {
		_ = json.Unmarshal(raw, &one) // what is no identity is nobody
	}
	email := ""
	if strings.Contains(one.Unique, "@") {
		email = one.Unique
	}
	return x.person(one.Name, email, one.Unique, one.ID)
}

// day is the calendar day of a moment. Midnight is that of the day, and any other time midnight in the zone of who entered it.
func (x *azureExport) day(i *convert.Issue, text string) string {
	at := moment(i, text)
	if !at.IsZero() && !at.Equal(at.Truncate(24*time.Hour)) {
		x.moments = true
		at = at.In(x.in.Zone)
	}
	return dates.Day(at)
}
