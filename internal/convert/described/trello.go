package described

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/text/diag"
)

// trelloText is the description of Trello.
//
//go:embed trello.txt
var trelloText string

var (
	cardAddress = regexp.MustCompile(`^https?://(?:www\.)?trello\.com/c/([A-Za-z0-9]+)`)
	smartCard   = regexp.MustCompile(` "\x{200c}?smartCard-[a-z]+"\)`) // a title of links that only Trello understands
)

// trello describes boards, as the board's menu exports them in JSON, and files of further actions (boards/ID/actions), because an export
// has only the newest 1,000. Each board is a project, and comments are actions. Cards are made when their board ends, because lists and
// labels may follow them. The address to which a card takes comments by e-mail is a secret, and is never read.
func trello() *api { return described(trelloText, trelloHooks) }

// boards holds the cards of all boards, and the records beside them that complete the cards.
type boards struct {
	all      []*board
	cards    map[string]*card            // by ID
	parts    map[string]records.Value    // lists, labels and custom fields, by ID
	tasks    map[string][]records.Value  // checklists, by the ID of the card
	bearers  map[string][]*convert.Issue // issues by the ID of their list or label
	said     map[string]bool             // IDs of actions
	creators map[string]string           // by the ID of the card
	changes  map[string]int              // by the ID of the card
}

// board is one export of a board.
type board struct {
	name, id      string
	cards         []*card
	lists, labels []string // IDs
	actions       int
	links         map[string]*card // by the short link
	names         map[string]int   // numbers of labels by their names in lower case
}

// newBoard returns a board without parts.
func newBoard() *board { return &board{links: map[string]*card{}, names: map[string]int{}} }

// card is a card that waits for the end of its board. left is the reason why it becomes no item, such as template.
type card struct {
	record              records.Record
	id, link, key, left string
	number              int
}

// trelloHooks returns the hooks for Trello.
func trelloHooks() hooks {
	b := &boards{
		all: []*board{newBoard()}, cards: map[string]*card{}, parts: map[string]records.Value{}, tasks: map[string][]records.Value{},
		bearers: map[string][]*convert.Issue{}, said: map[string]bool{}, creators: map[string]string{}, changes: map[string]int{},
	}
	return hooks{
		record: b.record, issue: b.issue, finish: b.finish,
		text: func(text string) string { return smartCard.ReplaceAllString(text, ")") },
		link: func(isUpload string) (kind, way string) {
			return cmp.Or(map[string]string{"true": "files"}[isUpload], "pages"), ""
		},
		last: func(_ *reader, i *convert.Issue) (left string) {
			i.Reporter, i.Left["history"] = b.creators[i.ID], b.changes[i.ID]
			slices.SortStableFunc(i.Comments, func(a, b convert.Comment) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
			return map[bool]string{true: "cards left out"}[b.cards[i.ID].left != ""]
		},
		comment: func(x *reader, _ string, c *convert.Comment, _ records.Value) string {
			if !c.At.IsZero() {
				c.At = c.At.In(x.in.Zone)
			}
			return ""
		},
	}
}

// record keeps the parts of a board until it ends.
func (b *boards) record(x *reader, r records.Record, v records.Value) (done bool, err error) {
	at, of := x.reads(v), b.all[len(b.all)-1]
	switch id := at("id"); r.List {
	case "cards":
		c := &card{record: r, id: id, link: at("shortLink"), left: at("cardRole")}
		if id == "" {
			return true, fmt.Errorf("%s: a card without an ID", r.Position)
		}
		if c.number, _ = strconv.Atoi(at("idShort")); at("isTemplate") == "true" {
			c.left = cmp.Or(c.left, "template")
		}
		b.cards[id], of.cards = c, append(of.cards, c)
		for _, action := range v.At("actions") { // of an answer of the REST API
			if !b.action(x, action) {
				err = cmp.Or(err, x.sorted(records.Record{List: "actions", Position: r.Position}, action))
			}
		}
		return true, err
	case "lists":
		b.parts[id], of.lists = v, append(of.lists, id)
	case "labels":
		b.parts[id], of.labels = v, append(of.labels, id)
		of.names[strings.ToLower(strings.TrimSpace(at("name")))]++
	case "customFields":
		b.parts[id] = v
	case "checklists":
		b.tasks[at("idCard")] = append(b.tasks[at("idCard")], v)
	case "actions":
		of.actions++
		return b.action(x, v), nil
	case "":
		const hint = "export the board: Menu, Print, export and share, Export as JSON"
		switch of.id, of.name = id, at("name"); {
		case v.Has("data"):
			return b.action(x, v), nil
		case v.Has("idShort"):
			return true, diag.WithHint(fmt.Errorf("%s: it is the export of a card, not of a board", r.Position), hint)
		case id == "" || of.name == "" || len(of.lists) == 0:
			return true, diag.WithHint(fmt.Errorf("%s: it is no board: a board has an ID, a name and lists", r.Position), hint)
		}
		x.scope = cmp.Or(at("shortLink"), id)
		*x.project(x.scope) = convert.Project{Key: x.scope, Name: of.name, Description: at("desc"), Short: of.name}
		of.number(x)
		for _, c := range of.cards {
			x.at = c.record.Position
			x.take(x.find("issue"), c.record.Tree())
			c.record = records.Record{}
		}
		b.all = append(b.all, newBoard())
		return true, nil
	}
	return false, nil
}

// action records an action of a card, and returns false if it is a comment. Actions that another file has too are passed over.
func (b *boards) action(x *reader, v records.Value) bool {
	at := x.reads(v)
	id, of := at("id"), at("data.card.id")
	if !v.Has("data") || id != "" && b.said[id] {
		return true
	}
	b.said[id] = true
	switch at("type") {
	case "commentCard", "copyCommentCard":
		return false
	case "createCard", "copyCard", "convertToCardFromCheckItem", "emailCard":
		b.creators[of] = x.firstPerson(v, []string{"memberCreator", "idMemberCreator"})
		x.bookAll(x.apart.Of(of), v, "creations")
	default: // other actions are only counted
		b.changes[of]++
		n := 0
		v.Leaves("", func(string, string) bool { n++; return true })
		x.to.Hold(x.apart.Of(of), "history", convert.Uncarried, at("type"), n)
	}
	return true
}

// number sets the keys of a board's cards, which are their numbers. Of cards that share a number, as on a board from a template, the oldest
// keeps it; the others get their short links.
func (br *board) number(x *reader) {
	last, taken, shared := 0, map[int]bool{}, 0
	for _, c := range br.cards {
		last, br.links[c.link] = max(last, c.number), c
	}
	for _, c := range slices.SortedFunc(slices.Values(br.cards), func(a, b *card) int { return cmp.Compare(a.id, b.id) }) {
		n := c.number
		switch c.key = cmp.Or(c.link, c.id); {
		case n > 0 && !taken[n]:
			c.key = strconv.Itoa(n)
		case n > 0 && c.left == "":
			shared++
			c.number = last + shared
		}
		taken[n] = taken[n] || c.left == ""
	}
	if shared > 0 {
		x.to.Note("shared-numbers", br.name+": "+diag.Count(shared, "card")+" of the number of an older one: their keys are their short links")
	}
}

// issue adds the list, the labels and other parts of its board to a card.
func (b *boards) issue(x *reader, i *convert.Issue, v records.Value) {
	at, of, c := x.reads(v), b.all[len(b.all)-1], b.cards[i.ID]
	i.Key, i.Number = c.key, c.number
	list := x.reads(b.parts[at("idList")])
	i.State = convert.State{Name: cmp.Or(list("name"), "(a list that is not in the file)"), Category: x.rank(list("name")), ID: list("id")}
	i.Archived = i.Archived || list("closed") == "true"
	b.bearers[at("idList")] = append(b.bearers[at("idList")], i)
	for _, id := range x.texts(v.At("idLabels")) {
		if b.bearers[id] = append(b.bearers[id], i); b.parts[id].Object {
			i.Labels = append(i.Labels, b.label(x, of, id))
		} else {
			x.to.Hold(i, "labels that are not in the file: id", convert.Uncarried, id, 1)
		}
	}
	i.Text.Body = strings.TrimSpace(i.Text.Body + "\n\n" + x.tasks(i, b.tasks[i.ID]))
	if seconds, err := strconv.ParseInt(i.ID[:min(8, len(i.ID))], 16, 64); err == nil && len(i.ID) == 24 { // the ID begins with the time of creation
		i.Created = time.Unix(seconds, 0).In(x.in.Zone)
	}
	i.Start, i.Due = x.moment(i, at("start")), x.moment(i, at("due"))
	for n := range i.Fields { // the position of the card in its list
		i.Fields[n].Noise = true
	}
	if at("dueComplete") == "true" {
		i.Fields = slices.Insert(i.Fields, 0, convert.Field{Name: "Complete", Value: "yes", Source: "cards.dueComplete"})
	}
	for _, f := range v.At("customFieldItems") {
		is := x.reads(f)
		def := b.parts[is("idCustomField")]
		value := cmp.Or(is("value.text"), is("value.number"), x.moment(i, is("value.date")), map[string]string{"true": "yes", "false": "no"}[is("value.checked")])
		for _, option := range def.At("options") {
			if id := x.reads(option)("id"); id != "" && id == is("idValue") {
				value = x.reads(option)("value.text")
			}
		}
		field(i, cmp.Or(x.reads(def)("name"), "Custom field "+is("idCustomField")), value, "cards.customFieldItems")
	}
	pages := i.Pages
	i.Pages = nil
	for _, page := range pages {
		other := ""
		if m := cardAddress.FindStringSubmatch(page.URL); m != nil && of.links[m[1]] != nil {
			other = of.links[m[1]].key
		}
		if other == "" || other == i.Key {
			i.Pages = append(i.Pages, page)
		} else { // begins at one of the two cards, so that two cards that link to each other have one relation
			i.Links = append(i.Links, convert.Link{Type: "Related card", To: other, Inward: other < i.Key})
		}
	}
}

// label returns a label of a board. If it has no name, or shares it with another label, its name includes the colour.
func (b *boards) label(x *reader, of *board, id string) convert.Label {
	at := x.reads(b.parts[id])
	colour := at("color")
	l := convert.Label{Name: strings.TrimSpace(at("name")), Color: x.find("colours").word(colour)}
	colour = strings.ReplaceAll(colour, "_", " ")
	switch {
	case l.Name == "":
		l.Name = cmp.Or(colour, "no colour")
	case colour != "" && of.names[strings.ToLower(l.Name)] > 1:
		l.Name += " (" + colour + ")"
	}
	return l
}

// moment returns the calendar day of a time, and counts the time of day as a loss.
func (x *reader) moment(i *convert.Issue, text string) string {
	at := moment(i, text)
	if at.IsZero() {
		return ""
	}
	x.hours = true
	i.Left["times-of-day"]++
	return dates.Day(at.In(x.in.Zone))
}

// tasks returns the checklists of a card as lists of tasks.
func (x *reader) tasks(i *convert.Issue, lists []records.Value) string {
	var b strings.Builder
	line := func(v records.Value) string { return diag.OneLine(x.reads(v)("name")) }
	inOrder := func(a, b records.Value) int {
		at, _ := strconv.ParseFloat(x.reads(a)("pos"), 64)
		other, _ := strconv.ParseFloat(x.reads(b)("pos"), 64)
		return cmp.Compare(at, other)
	}
	for _, l := range slices.SortedStableFunc(slices.Values(lists), inOrder) {
		b.WriteString("### " + cmp.Or(line(l), "Checklist") + "\n\n")
		for _, item := range slices.SortedStableFunc(slices.Values(l.At("checkItems")), inOrder) {
			at := x.reads(item)
			b.WriteString(cmp.Or(map[string]string{"complete": "- [x] "}[at("state")], "- [ ] ") + line(item))
			if due := x.moment(i, at("due")); due != "" {
				b.WriteString(" (due " + due + ")")
			}
			b.WriteString("\n")
			if at("idMember") != "" {
				i.Left["check-item-people"]++
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// rank returns the group of states that the words in a name stand for. If there are several, the last in the order of groups wins.
func (x *reader) rank(name string) (group string) {
	order := []string{"", "unstarted", "backlog", "started", "completed", "cancelled"}
	for word := range strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if of := x.words.Own(word); slices.Index(order, of) > slices.Index(order, group) {
			group = of
		}
	}
	return group
}

// finish adds remarks on left-out cards and missing comments. It books the name of each list and label with one of its cards, or with the
// export.
func (b *boards) finish(x *reader) {
	for _, of := range b.all {
		left, missing := map[string]int{}, 0
		for _, c := range of.cards {
			if c.left != "" {
				left[c.left]++
			} else {
				missing += max(0, x.counted[c.id]-len(x.comments[c.id]))
			}
		}
		for _, role := range slices.Sorted(maps.Keys(left)) {
			x.to.Note("cards-left-out", of.name+": "+diag.Count(left[role], role+" card")+" left out")
		}
		if missing > 0 {
			x.to.Note("actions-cut", fmt.Sprintf("%s: %s missing, since an export ends at 1,000 actions (here are %d): "+
				"get https://api.trello.com/1/boards/%s/actions?filter=commentCard,copyCommentCard&limit=1000, "+
				"then the same with &before= and the ID of the last one, and name these files, too", of.name, diag.Count(missing, "comment"), of.actions, of.id))
		}
		for n, id := range slices.Concat(of.lists, of.labels) {
			what, role := "lists", convert.OfState
			if n >= len(of.lists) {
				what, role = "labels", convert.OfLabel
			}
			of := b.bearers[id]
			switch name := x.reads(b.parts[id])("name"); {
			case name == "":
			case len(of) > 0:
				x.to.Hold(of[max(0, slices.IndexFunc(of, func(i *convert.Issue) bool { return !i.Archived }))], what+".name", role, name, 1)
			default:
				x.to.Hold(nil, what+" of no card: name", convert.OfField, name, 1)
			}
		}
	}
}
