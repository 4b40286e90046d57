// Package trello reads boards of Trello, as the board's menu exports them in JSON.
//
// The export of a board has its newest 1,000 actions, and comments are actions: files of further ones (boards/ID/actions) may stand
// beside it. Each file is a project of its own, and links between cards go across them.
// The address with which a card takes comments by e-mail is a secret, and is never read.
// The package must not know manifests.
package trello

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/diag"
)

// Format is the export of a board.
func Format() *convert.Format {
	return &convert.Format{Name: "trello", Tracker: "Trello", Detect: detect, Read: read}
}

// detect looks for the fields that boards and actions have.
func detect(head []byte, _ string) (string, bool) {
	switch {
	case records.Name(head, "labelNames", "shortLink"):
		return "the fields labelNames and shortLink", true
	case records.Name(head, "idMemberCreator", "data"):
		return "the fields idMemberCreator and data", true
	case records.Name(head, "idBoard", "idList"):
		return "the fields idBoard and idList", true
	}
	return "", false
}

// valueList says what values are for.
//
//go:embed values.txt
var valueList string

// export is what all files say together.
type export struct {
	to       convert.Sink
	roles    *convert.Roles
	words    *words.Words
	zone     *time.Location
	boards   []*board
	cards    map[string]*card  // by ID
	comments convert.Comments  // by the ID of the card
	apart    convert.Apart     // with actions
	said     map[string]bool   // IDs of actions
	creators map[string]string // by the ID of the card
	changes  map[string]int    // likewise: how many are told
	moments  bool              // there are days that a zone tells
}

// read reads the files as one export.
func read(ctx context.Context, in convert.Input, to convert.Sink) error {
	e := &export{
		to: to, roles: convert.ReadRoles(valueList), words: words.Of("trello"), zone: in.Zone, cards: map[string]*card{},
		comments: convert.Comments{}, said: map[string]bool{}, creators: map[string]string{}, apart: convert.Apart{}, changes: map[string]int{},
	}
	if err := in.Each(ctx, e.file); err != nil {
		return err
	}
	for _, b := range e.boards {
		e.board(b)
	}
	e.apart.Close(to)
	if e.moments {
		to.AssumedZone()
	}
	e.comments.Close(to, func(card string) bool { return e.cards[card] != nil })
	return nil
}

func (e *export) file(ctx context.Context, text io.Reader, name string) error {
	b := newBoard()
	lists := []string{"cards", "lists", "labels", "members", "checklists", "customFields", "actions"}
	return records.Read(ctx, text, name, lists, func(r records.Record) error {
		if r.List != "" {
			return e.part(b, r)
		}
		var a action
		if err := r.Decode(&a, "board of Trello"); err != nil {
			return err
		}
		if a.Data != nil { // of a file of actions
			return e.action(&a, r)
		}
		e.roles.Enter(e.to, nil, r.Values("", e.roles.Whole))
		if err := r.Decode(b, "board of Trello"); err != nil {
			return err
		}
		switch {
		case b.IDShort > 0:
			return diag.WithHint(fmt.Errorf("%s: it is the export of a card, not of a board", r.Position),
				"export the board: Menu, Print, export and share, Export as JSON")
		case b.ID == "" || b.Name == "" || len(b.lists) == 0:
			return diag.WithHint(fmt.Errorf("%s: it is no board: a board has an ID, a name and lists", r.Position),
				"export the board: Menu, Print, export and share, Export as JSON")
		}
		e.boards = append(e.boards, b)
		b = newBoard()
		return nil
	})
}

func newBoard() *board {
	return &board{keys: map[string]string{}, lists: map[string]list{}, fields: map[string]customField{}}
}

// part takes an element of one of the lists of a board.
func (e *export) part(b *board, r records.Record) error {
	var of *convert.Issue
	if r.List == "checklists" {
		var l checklist
		if err := r.Decode(&l, "checklist of Trello"); err != nil {
			return err
		}
		of = e.apart.Of(l.IDCard)
	}
	if r.List != "cards" && r.List != "actions" {
		e.roles.Enter(e.to, of, func(yield func(name, text string) bool) {
			for name, text := range r.Values(r.List, e.roles.Whole) {
				if name != "lists.name" && name != "labels.name" && !yield(name, text) { // for which see names
					return
				}
			}
		})
	}
	switch r.List {
	case "cards":
		c := &card{at: r.Position}
		if err := r.Decode(c, "card of Trello"); err != nil {
			return err
		}
		if c.ID == "" {
			return fmt.Errorf("%s: a card without an ID", r.Position)
		}
		e.roles.Enter(e.to, &c.values, func(yield func(name, text string) bool) {
			for name, text := range r.Values("cards", e.roles.Whole) {
				if !strings.HasPrefix(name, "cards.actions.") && !yield(name, text) {
					return
				}
			}
		})
		for _, one := range r.Elements("actions") { // of an answer of the REST API
			var a action
			if err := one.Decode(&a, "action of Trello"); err != nil {
				return err
			}
			if err := e.action(&a, one); err != nil {
				return err
			}
		}
		e.cards[c.ID] = c
		b.cards = append(b.cards, c)
		return nil
	case "lists":
		var l list
		err := r.Decode(&l, "list of Trello")
		b.lists[l.ID] = l
		return err
	case "labels":
		return add(r, &b.labels, "label of Trello")
	case "members":
		return add(r, &b.members, "member of Trello")
	case "checklists":
		return add(r, &b.checklists, "checklist of Trello")
	case "customFields":
		var f customField
		err := r.Decode(&f, "custom field of Trello")
		b.fields[f.ID] = f
		return err
	default:
		var a action
		if err := r.Decode(&a, "action of Trello"); err != nil {
			return err
		}
		b.actions++
		return e.action(&a, r)
	}
}

func add[T any](r records.Record, to *[]T, of string) error {
	var one T
	err := r.Decode(&one, of)
	*to = append(*to, one)
	return err
}

// action takes a comment, or who made a card. Files overlap.
func (e *export) action(a *action, r records.Record) error {
	if a.Data == nil || e.said[a.ID] {
		return nil
	}
	e.said[a.ID] = true
	card, of := a.Data.Card.ID, ""
	switch a.Type {
	case "commentCard", "copyCommentCard":
		at, _ := dates.Parse(a.Date, time.RFC3339)
		c := convert.Comment{ID: a.ID, Author: e.author(a), Text: convert.Text{Body: text(a.Data.Text)}}
		if !at.IsZero() {
			c.At = at.In(e.zone)
		}
		e.comments.Add(card, c)
		of = "comments"
	case "createCard", "copyCard", "convertToCardFromCheckItem", "emailCard":
		e.creators[card] = e.author(a)
		of = "creations"
	default:
		e.changes[card]++
	}
	values := r.Values(of, e.roles.Whole)
	if of == "" { // what else happened is one matter, whatever it says
		n := 0
		for range values {
			n++
		}
		e.to.Hold(e.apart.Of(card), "history", convert.Uncarried, a.Type, n)
		return nil
	}
	e.roles.Enter(e.to, e.apart.Of(card), values)
	return nil
}

// author is who did something; who has left is told only here, and who deleted the account is nobody.
func (e *export) author(a *action) string {
	if a.MemberCreator != nil && a.MemberCreator.ID != "" {
		e.person(*a.MemberCreator)
		return a.MemberCreator.ID
	}
	return a.IDMemberCreator
}

func (e *export) person(m member) {
	e.to.Person(convert.Person{ID: m.ID, Name: cmp.Or(m.FullName, m.Username)})
}

// number gives the cards of a board their keys, which are their numbers. A board that was made from a template counts anew: of cards that
// share a number the oldest has it, the others go by their short links.
func (e *export) number(b *board) {
	last, taken, shared := 0, map[int]bool{}, 0
	for _, c := range b.cards {
		last = max(last, c.IDShort)
	}
	for _, c := range slices.SortedFunc(slices.Values(b.cards), func(a, b *card) int { return cmp.Compare(a.ID, b.ID) }) {
		left := c.Role != "" || c.IsTemplate
		switch c.number = c.IDShort; {
		case c.IDShort > 0 && !taken[c.IDShort]:
			c.key = strconv.Itoa(c.IDShort)
		case c.IDShort > 0 && !left:
			shared++
			c.key, c.number = cmp.Or(c.ShortLink, c.ID), last+shared
		default:
			c.key = cmp.Or(c.ShortLink, c.ID)
		}
		taken[c.IDShort] = taken[c.IDShort] || !left
		b.keys[c.ShortLink] = c.key
	}
	if shared > 0 {
		e.to.Note("shared-numbers", b.Name+": "+diag.Count(shared, "card")+" of the number of an older one: their keys are their short links")
	}
}

// board hands out a board and its cards.
func (e *export) board(b *board) {
	project := cmp.Or(b.ShortLink, b.ID)
	e.to.Project(convert.Project{Key: project, Name: b.Name, Description: b.Desc, Short: b.Name})
	for _, m := range b.members {
		e.person(m)
	}
	labels, checklists := b.labelNames(), map[string][]checklist{}
	for _, l := range b.checklists {
		checklists[l.IDCard] = append(checklists[l.IDCard], l)
	}
	e.number(b)
	e.names(b)
	for _, c := range b.cards {
		e.apart.Join(&c.values, c.ID)
	}
	left, missing := map[string]int{}, 0
	for _, c := range b.cards {
		if c.Role != "" || c.IsTemplate {
			left[cmp.Or(c.Role, "template")]++
			convert.LeaveOut(e.to, "cards left out", c.values.Held)
			continue
		}
		i := e.card(b, c, checklists[c.ID])
		i.Project = project
		for _, id := range c.IDLabels {
			if l, ok := labels[id]; ok {
				i.Labels = append(i.Labels, l)
			}
		}
		missing += i.Left["comments-not-exported"]
		e.to.Issue(&i)
	}
	for _, role := range slices.Sorted(maps.Keys(left)) {
		e.to.Note("cards-left-out", b.Name+": "+diag.Count(left[role], role+" card")+" left out")
	}
	if missing > 0 {
		e.to.Note("actions-cut",
			fmt.Sprintf("%s: %s missing, since an export ends at 1,000 actions (here are %d): "+
				"get https://api.trello.com/1/boards/%s/actions?filter=commentCard,copyCommentCard&limit=1000, "+
				"then the same with &before= and the ID of the last one, and name these files, too",
				b.Name, diag.Count(missing, "comment"), b.actions, b.ID))
	}
}

// names books the names of lists and labels with a card that has them. Of those that no card has nothing is left.
func (e *export) names(b *board) {
	by := map[string]*card{}
	for _, c := range b.cards {
		for _, id := range append([]string{c.IDList}, c.IDLabels...) {
			if by[id] == nil || by[id].Closed {
				by[id] = c
			}
		}
	}
	hold := func(list, id, name string, role convert.Role) {
		switch c := by[id]; {
		case name == "":
		case c != nil:
			e.to.Hold(&c.values, list+".name", role, name, 1)
		default:
			e.to.Hold(nil, list+" of no card: name", convert.OfField, name, 1)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(b.lists)) {
		hold("lists", id, b.lists[id].Name, convert.OfState)
	}
	for _, l := range b.labels {
		hold("labels", l.ID, l.Name, convert.OfLabel)
	}
}

// labelNames are the labels by ID. One without a name is known by its colour, and so are those that share a name.
func (b *board) labelNames() map[string]convert.Label {
	names, hex := map[string]int{}, colors()
	for _, l := range b.labels {
		names[strings.ToLower(strings.TrimSpace(l.Name))]++
	}
	all := map[string]convert.Label{}
	for _, l := range b.labels {
		color, name := strings.ReplaceAll(l.Color, "_", " "), strings.TrimSpace(l.Name)
		switch {
		case name == "":
			name = cmp.Or(color, "no colour")
		case names[strings.ToLower(name)] > 1 && color != "":
			name += " (" + color + ")"
		}
		all[l.ID] = convert.Label{Name: name, Color: hex[l.Color]}
	}
	return all
}

var cardAddress = regexp.MustCompile(`^https?://(?:www\.)?trello\.com/c/([A-Za-z0-9]+)`)

func (e *export) card(b *board, c *card, checklists []checklist) convert.Issue {
	i := convert.Issue{
		Key: c.key, ID: c.ID, Number: c.number, Title: c.Name,
		State:     convert.State{Name: b.lists[c.IDList].Name, Category: category(e.words, b.lists[c.IDList].Name)},
		Assignees: c.IDMembers, Reporter: e.creators[c.ID], URL: c.ShortURL, Archived: c.Closed || b.lists[c.IDList].Closed,
		Left: map[string]int{"votes": c.Badges.Votes, "history": e.changes[c.ID]}, Position: c.at, Held: c.values.Held,
		Fields: c.values.Fields,
	}
	comments := e.comments[c.ID]
	slices.SortStableFunc(comments, func(a, b convert.Comment) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	i.Discuss(comments, c.Badges.Comments)
	i.Text.Body = strings.TrimSpace(text(c.Desc) + "\n\n" + e.tasks(&i, checklists))
	if len(c.ID) == 24 { // which begins with the second of its creation
		if seconds, err := strconv.ParseInt(c.ID[:8], 16, 64); err == nil {
			i.Created = time.Unix(seconds, 0).In(e.zone)
		}
	}
	i.Updated = i.Moment(c.LastActivity, time.RFC3339)
	i.Start, i.Due = e.day(&i, c.Start), e.day(&i, c.Due)
	if c.DueComplete {
		i.Fields = append(i.Fields, convert.Field{Name: "Complete", Value: "yes", Source: "cards.dueComplete"})
	}
	if c.Pos != 0 { // by which cards are ordered within their list
		value := strconv.FormatFloat(c.Pos, 'f', -1, 64)
		i.Fields = append(i.Fields, convert.Field{Name: "Position", Value: value, Noise: true, Source: "cards.pos"})
	}
	for _, f := range c.Fields {
		def := b.fields[f.ID]
		value := e.value(&i, f.Value)
		for _, o := range def.Options {
			if o.ID == f.IDValue {
				value = o.Value.Text
			}
		}
		if value != "" {
			i.Fields = append(i.Fields, convert.Field{Name: cmp.Or(def.Name, "Custom field "+f.ID), Value: value, Source: "cards.customFieldItems"})
		}
	}
	for _, a := range c.Attachments {
		to := convert.Attachment{Name: a.Name, URL: a.URL}
		other := ""
		if m := cardAddress.FindStringSubmatch(a.URL); m != nil {
			other = b.keys[m[1]]
		}
		switch {
		case a.IsUpload:
			i.Attachments = append(i.Attachments, convert.Attachment{ID: a.ID, Name: a.Name, URL: a.URL, Size: a.Bytes})
		case other != "" && other != c.key: // named from one of the two, so that cards that point to each other have one relation
			i.Links = append(i.Links, convert.Link{Type: "Related card", To: other, Inward: other < c.key})
		default:
			i.Pages = append(i.Pages, to)
		}
	}
	return i
}

// day is the calendar day of a moment.
func (e *export) day(i *convert.Issue, moment string) string {
	at := i.Moment(moment, time.RFC3339)
	if at.IsZero() {
		return ""
	}
	e.moments = true
	i.Left["times-of-day"]++
	return at.In(e.zone).Format(time.DateOnly)
}

// value is a value of a custom field: text, number, date or checked, all of them as texts.
func (e *export) value(i *convert.Issue, v map[string]any) string {
	for kind, value := range v {
		text := fmt.Sprint(value)
		switch {
		case value == nil:
			return ""
		case kind == "date":
			return e.day(i, text)
		case kind == "checked" && text == "true":
			return "yes"
		case kind == "checked":
			return "no"
		}
		return text
	}
	return ""
}

// tasks are the checklists of a card as lists of tasks.
func (e *export) tasks(i *convert.Issue, checklists []checklist) string {
	slices.SortStableFunc(checklists, func(a, b checklist) int { return cmp.Compare(a.Pos, b.Pos) })
	var b strings.Builder
	for _, l := range checklists {
		b.WriteString("### " + cmp.Or(diag.OneLine(l.Name), "Checklist") + "\n\n")
		slices.SortStableFunc(l.Items, func(a, b task) int { return cmp.Compare(a.Pos, b.Pos) })
		for _, item := range l.Items {
			box := "- [ ] "
			if item.State == "complete" {
				box = "- [x] "
			}
			b.WriteString(box + diag.OneLine(item.Name))
			if due := e.day(i, item.Due); due != "" {
				b.WriteString(" (due " + due + ")")
			}
			b.WriteString("\n")
			if item.IDMember != "" {
				i.Left["check-item-people"]++
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

var smartCard = regexp.MustCompile(` "\x{200c}?smartCard-[a-z]+"\)`)

// text is Markdown without what only Trello makes of the title of a link.
func text(body string) string { return smartCard.ReplaceAllString(body, ")") }

// category is the group of states that the words in the name of a list tell of: the last one in the order of groups counts.
func category(words *words.Words, name string) (group string) {
	rank := []string{"", "unstarted", "backlog", "started", "completed", "cancelled"}
	for word := range strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if of := words.Own(word); slices.Index(rank, of) > slices.Index(rank, group) {
			group = of
		}
	}
	return group
}
