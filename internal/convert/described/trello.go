package described

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
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
// has only the newest 1,000. Each board is a project, and comments are actions. Cards are completed at the end, because lists and labels may
// follow them. The address to which a card takes comments by e-mail is a secret, and is never read.
func trello() *api { return described(trelloText, trelloHooks) }

// boards holds the boards of an export, and the records that complete their cards.
type boards struct {
	all      []*board
	parts    map[string]records.Value // lists, labels and custom fields, by ID; each has the name of its list
	said     map[string]bool          // IDs of actions
	creators map[string]string        // by the ID of the card
	changes  map[string]int           // by the ID of the card
}

// board is one export of a board.
type board struct {
	project, name, id string
	cards             []*card
	lists, actions    int
}

// card is an issue with the parts of the card that need its board. left is the reason why it becomes no item, such as template.
type card struct {
	*convert.Issue

	list, link, left string
	labels           []string // IDs
	fields           []records.Value
}

// trelloHooks returns the hooks for Trello.
func trelloHooks() hooks {
	b := &boards{all: []*board{{}}, parts: map[string]records.Value{}, said: map[string]bool{}, creators: map[string]string{}, changes: map[string]int{}}
	return hooks{
		record: b.record, place: b.place, finish: b.finish,
		text: func(text string) string { return smartCard.ReplaceAllString(text, ")") },
		link: func(isUpload string) (kind, way string) {
			return cmp.Or(map[string]string{"true": "files"}[isUpload], "pages"), ""
		},
	}
}

// record keeps the parts of a board until it ends.
func (b *boards) record(x *reader, r records.Record, v records.Value) (done bool, err error) {
	const hint = "export the board: Menu, Print, export and share, Export as JSON"
	at, of := x.reads(v), b.all[len(b.all)-1]
	switch id := at("id"); {
	case r.List == "cards" && id == "":
		return true, fmt.Errorf("%s: a card without an ID", r.Position)
	case r.List == "cards":
		for _, action := range v.At("actions") { // of an answer of the REST API
			if !b.action(x, action) {
				err = cmp.Or(err, x.sorted(records.Record{List: "actions", Position: r.Position}, action))
			}
		}
	case r.List == "lists", r.List == "labels", r.List == "customFields":
		of.lists += map[string]int{"lists": 1}[r.List]
		v.Name = r.List
		b.parts[id] = v
	case r.List == "actions":
		of.actions++
		return b.action(x, v), nil
	case r.List != "":
	case v.Has("data"):
		return b.action(x, v), nil
	case v.Has("idShort"):
		return true, diag.WithHint(fmt.Errorf("%s: it is the export of a card, not of a board", r.Position), hint)
	case id == "" || at("name") == "" || of.lists == 0:
		return true, diag.WithHint(fmt.Errorf("%s: it is no board: a board has an ID, a name and lists", r.Position), hint)
	default:
		of.project, of.name, of.id = cmp.Or(at("shortLink"), id), at("name"), id
		*x.project(of.project) = convert.Project{Key: of.project, Name: of.name, Description: at("desc"), Short: of.name}
		b.all = append(b.all, &board{})
		return true, nil
	}
	return false, err
}

// action records an action of a card, and returns false if it is a comment. Actions that another file has too are passed over.
func (b *boards) action(x *reader, v records.Value) bool {
	at := x.reads(v)
	id, of := at("id"), at("data.card.id")
	if !v.Has("data") || id != "" && b.said[id] {
		return true
	}
	b.said[id] = true
	switch kind := at("type"); {
	case kind == "commentCard", kind == "copyCommentCard":
		return false
	case of == "": // such as a new member of the board
		x.bookAll(nil, v, "board actions")
	case slices.Contains([]string{"createCard", "copyCard", "convertToCardFromCheckItem", "emailCard"}, kind):
		b.creators[of] = x.firstPerson(v, []string{"memberCreator", "idMemberCreator"})
		x.bookAll(x.apart.Of(of), v, "creations")
	default: // other actions are only counted
		b.changes[of]++
		x.to.Hold(x.apart.Of(of), "history", convert.Uncarried, kind, len(leaves("", v)))
	}
	return true
}

// place keeps a card until all files are read.
func (b *boards) place(x *reader, i *convert.Issue, v records.Value) {
	at, of := x.reads(v), b.all[len(b.all)-1]
	c := &card{Issue: i, list: at("idList"), link: at("shortLink"), left: at("cardRole"), labels: x.texts(v.At("idLabels")), fields: v.At("customFieldItems")}
	if at("isTemplate") == "true" {
		c.left = cmp.Or(c.left, "template")
	}
	for _, label := range v.At("labels") { // older boards have no list of labels
		if id := x.reads(label)("id"); !b.parts[id].Object {
			b.parts[id] = label
		}
	}
	if seconds, err := strconv.ParseInt(i.ID[:min(8, len(i.ID))], 16, 64); err == nil && len(i.ID) == 24 { // the ID begins with the time of creation
		i.Created = time.Unix(seconds, 0).In(x.in.Zone)
	}
	of.cards = append(of.cards, c)
}

// finish completes the cards, and books the names of lists and labels with a card. It adds remarks on left-out cards and missing comments.
func (b *boards) finish(x *reader) {
	links, bearers := map[string]*card{}, map[string]*card{} // cards by their short links, and by the ID of their list or label
	named := map[string]int{}                                // numbers of lists and labels of a board by their names
	for _, of := range b.all {
		of.number(x)
		for _, c := range of.cards {
			list := x.reads(b.parts[c.list])
			c.Project, c.Archived = of.project, c.Archived || list("closed") == "true"
			c.Reporter, c.Left["history"] = b.creators[c.ID], b.changes[c.ID]
			c.State = convert.State{Name: cmp.Or(list("name"), "(a list that is not in the file)"), Category: x.words.Within(list("name")), ID: list("id")}
			links[c.link] = c
			for _, id := range append(c.labels, c.list) {
				had := bearers[id]
				if had == nil || had.Archived && !c.Archived {
					bearers[id] = c
				}
				if had == nil {
					named[b.nameOf(x, id, of)]++
				}
			}
		}
	}
	for _, of := range b.all {
		left, missing := map[string]int{}, 0
		for _, c := range of.cards {
			b.complete(x, of, c, links, named)
			if c.left != "" {
				left[c.left]++
				x.leave[c.Issue] = "cards left out"
			} else {
				missing += max(0, x.counted[c.ID]-len(x.comments[c.ID]))
			}
		}
		for _, role := range sortedKeys(left) {
			x.to.Note("cards-left-out", of.name+": "+diag.Count(left[role], role+" card")+" left out")
		}
		if missing > 0 {
			x.to.Note("actions-cut", fmt.Sprintf("%s: %s missing, since an export ends at 1,000 actions (here are %d): "+
				"get https://api.trello.com/1/boards/%s/actions?filter=commentCard,copyCommentCard&limit=1000, "+
				"then the same with &before= and the ID of the last one, and name these files, too", of.name, diag.Count(missing, "comment"), of.actions, of.id))
		}
	}
	for _, id := range sortedKeys(b.parts) {
		part := b.parts[id]
		role, name, c := map[string]convert.Role{"lists": convert.OfState, "labels": convert.OfLabel}[part.Name], x.reads(part)("name"), bearers[id]
		switch {
		case name == "" || role == "":
		case c == nil:
			x.to.Hold(nil, part.Name+" of no card: name", convert.OfField, name, 1)
		default:
			x.to.Hold(c.Issue, part.Name+".name", role, name, 1)
			at := b.nameOf(x, id, &board{project: c.Project})
			if n := named[at]; part.Name == "lists" && n > 1 {
				named[at] = 0 // one remark for all of them
				x.to.Note("equal-lists", fmt.Sprintf("%s: %d lists are called %q, and become one state", x.project(c.Project).Name, n, strings.TrimSpace(name)))
			}
		}
	}
}

// nameOf returns the name of a list or label with its kind and its board, so that equal names can be counted.
func (b *boards) nameOf(x *reader, id string, of *board) string {
	return strings.Join([]string{of.project, strings.TrimPrefix(b.parts[id].Name, "labels"), strings.ToLower(strings.TrimSpace(x.reads(b.parts[id])("name")))}, "/")
}

// complete adds the labels, the custom fields and the relations of a card.
func (b *boards) complete(x *reader, of *board, c *card, links map[string]*card, named map[string]int) {
	for _, id := range c.labels {
		if at := x.reads(b.parts[id]); b.parts[id].Object {
			colour := strings.ReplaceAll(at("color"), "_", " ")
			l := convert.Label{Name: strings.TrimSpace(at("name")), Color: x.find("colours").word(at("color"))}
			if l.Name == "" {
				l.Name = cmp.Or(colour, "no colour")
			} else if colour != "" && named[b.nameOf(x, id, of)] > 1 { // it shares its name with another label
				l.Name += " (" + colour + ")"
			}
			c.Labels = append(c.Labels, l)
		} else {
			x.to.Hold(c.Issue, "labels that are not in the file: id", convert.Uncarried, id, 1)
		}
	}
	for _, f := range c.fields {
		is := x.reads(f)
		def := b.parts[is("idCustomField")]
		value := cmp.Or(is("value.text"), is("value.number"), x.day(c.Issue, is("value.date")), map[string]string{"true": "yes", "false": "no"}[is("value.checked")])
		for _, option := range def.At("options") {
			if id := x.reads(option)("id"); id != "" && id == is("idValue") {
				value = x.reads(option)("value.text")
			}
		}
		field(c.Issue, cmp.Or(x.reads(def)("name"), "Custom field "+is("idCustomField")), value, "cards.customFieldItems")
	}
	c.Pages = slices.DeleteFunc(c.Pages, func(page convert.Attachment) bool {
		m := append(cardAddress.FindStringSubmatch(page.URL), "", "")
		other := links[m[1]]
		if other == nil || other == c || other.Project != c.Project {
			return false
		} // the relation begins at one of the two cards, so that two cards that link to each other have one relation
		c.Issue.Links = append(c.Issue.Links, convert.Link{Type: "Related card", To: other.Key, Inward: other.Key < c.Key})
		return true
	})
}

// number sets the keys of a board's cards, which are their numbers. Of cards that share a number, as on a board from a template, the oldest
// keeps it; the others get their short links.
func (br *board) number(x *reader) {
	last, taken, shared := 0, map[int]bool{}, 0
	for _, c := range br.cards {
		last = max(last, c.Number)
	}
	for _, c := range slices.SortedFunc(slices.Values(br.cards), func(a, b *card) int { return cmp.Compare(a.ID, b.ID) }) {
		n := c.Number
		switch c.Key = cmp.Or(c.link, c.ID); {
		case n > 0 && !taken[n]:
			c.Key = strconv.Itoa(n)
		case n > 0 && c.left == "":
			shared++
			c.Number = last + shared
		}
		taken[n] = taken[n] || c.left == ""
	}
	if shared > 0 {
		x.to.Note("shared-numbers", br.name+": "+diag.Count(shared, "card")+" of the number of an older one: their keys are their short links")
	}
}
