package described

import (
	"cmp"
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

// smartCard matches a title of links that only Trello understands.
var smartCard = regexp.MustCompile(` "\x{200c}?smartCard-[a-z]+"\)`)

// trello describes boards, as the board's menu exports them in JSON, and files of further actions (boards/ID/actions), because an export
// has only the newest 1,000. Each board is a project, and comments are actions. Cards are completed at the end, because lists and labels may
// follow them. The address to which a card takes comments by e-mail is a secret, and is never read.
func trello() *api { return described(textOf("trello"), trelloHooks) }

// boards holds the boards of an export, and the records that complete their cards.
type boards struct {
	all     []*board
	parts   map[string]records.Value           // lists, labels, custom fields and their options, by ID; each has the name of its list
	bearers map[string]*convert.Issue          // a card of each list and label, if possible one that is not archived
	named   map[string]int                     // numbers of lists and labels of cards, by their names
	said    map[string]bool                    // IDs of actions
	fields  map[*convert.Issue][]records.Value // values of custom fields
}

// board is one export of a board.
type board struct {
	convert.Project

	id          string
	cards       []*convert.Issue
	last        int            // the highest number of a card
	count, left map[string]int // numbers of records by list, and of cards left out by their role
}

// trelloHooks returns the hooks for Trello.
func trelloHooks() hooks {
	b := &boards{
		all: []*board{{count: map[string]int{}, left: map[string]int{}}}, parts: map[string]records.Value{}, bearers: map[string]*convert.Issue{}, named: map[string]int{},
		said: map[string]bool{}, fields: map[*convert.Issue][]records.Value{},
	}
	return hooks{record: b.record, place: b.place, finish: b.finish, complete: b.complete, text: func(text string) string { return smartCard.ReplaceAllString(text, ")") }}
}

// record keeps the parts of a board until it ends.
func (b *boards) record(x *reader, r records.Record, v records.Value) (done bool, err error) {
	at, of := x.reads(v), b.all[len(b.all)-1]
	of.count[r.List]++
	switch {
	case r.List == "cards":
		for _, action := range v.At("actions") { // of an answer of the REST API
			err = cmp.Or(err, b.action(x, r, action))
		}
	case r.List == "lists", r.List == "labels", r.List == "customFields":
		v.Name = r.List
		for _, part := range append(v.At("options"), v) {
			b.parts[x.reads(part)("id")] = part
		}
	case r.List == "actions", r.List == "" && v.Has("data"):
		return true, b.action(x, r, v)
	case r.List != "":
	case at("id") == "" || at("name") == "" || of.count["lists"] == 0:
		what := cmp.Or(map[bool]string{true: "the export of a card, not of a board"}[v.Has("idShort")], "no board: a board has an ID, a name and lists")
		err = diag.WithHint(fmt.Errorf("%s: it is %s", r.Position, what), "export the board: Menu, Print, export and share, Export as JSON")
	default:
		of.id, of.Project = at("id"), convert.Project{Key: cmp.Or(at("shortLink"), at("id")), Name: at("name"), Description: at("desc"), Short: at("name")}
		*x.project(of.Key) = of.Project
		b.all = append(b.all, &board{count: map[string]int{}, left: map[string]int{}})
	}
	return false, err
}

// action reads an action, unless another file has it, too.
func (b *boards) action(x *reader, r records.Record, v records.Value) (err error) {
	if id := x.reads(v)("id"); v.Has("data") && !b.said[id] {
		b.said[id] = id != ""
		err = x.sorted(records.Record{List: "actions", Position: r.Position}, v)
	}
	return err
}

// place keeps the parts of a card until all files are read.
func (b *boards) place(x *reader, i *convert.Issue, v records.Value) {
	at, of := x.reads(v), b.all[len(b.all)-1]
	if role := cmp.Or(at("cardRole"), map[string]string{"true": "template"}[at("isTemplate")]); role != "" {
		x.leave[i], x.counted[i.ID] = "cards left out", 0
		of.left[role]++
	}
	for _, label := range v.At("labels") { // older boards have no list of labels
		if id := x.reads(label)("id"); !b.parts[id].Object {
			b.parts[id] = label
		}
	}
	if seconds, err := strconv.ParseInt(i.ID[:min(8, len(i.ID))], 16, 64); err == nil && len(i.ID) == 24 { // the ID begins with the time of creation
		i.Created = time.Unix(seconds, 0).In(x.in.Zone)
	}
	of.cards, of.last, b.fields[i] = append(of.cards, i), max(of.last, i.Number), v.At("customFieldItems")
}

// finish sets the boards, the lists and the keys of the cards, and books the names of lists and labels with a card.
func (b *boards) finish(x *reader) {
	for _, of := range b.all {
		for _, i := range of.cards {
			list := x.reads(b.parts[i.State.Name])
			i.Project, i.Archived = of.Key, i.Archived || list("closed") == "true"
			for _, part := range append(i.Labels, convert.Label{Name: i.State.Name}) {
				if had := b.bearers[part.Name]; had == nil {
					b.bearers[part.Name] = i
					b.named[b.nameOf(x, part.Name, i)]++
				} else if had.Archived && !i.Archived {
					b.bearers[part.Name] = i
				}
			}
			i.State = convert.State{Name: cmp.Or(list("name"), "(a list that is not in the file)"), Category: x.words.Within(list("name")), ID: list("id")}
		}
		of.number(x)
	}
	for _, id := range sortedKeys(b.parts) {
		part, card := b.parts[id], b.bearers[id]
		role, name := map[string]convert.Role{"lists": convert.OfState, "labels": convert.OfLabel}[part.Name], x.reads(part)("name")
		switch {
		case name == "" || role == "":
		case card == nil:
			x.to.Hold(nil, convert.Leaf{Name: part.Name + " of no card: name", Text: name}, convert.Offered, 1)
		default:
			x.to.Hold(card, convert.Leaf{Name: part.Name + ".name", Text: name}, role, 1)
			if same := b.nameOf(x, id, card); part.Name == "lists" && b.named[same] > 1 {
				x.to.Note("equal-lists", fmt.Sprintf("%s: %d lists are called %q, and become one state", x.project(card.Project).Name, b.named[same], strings.TrimSpace(name)))
				b.named[same] = 0 // one remark for all of them
			}
		}
	}
}

// nameOf returns the name of a list or label with its kind and the board of a card, so that equal names can be counted.
func (b *boards) nameOf(x *reader, id string, card *convert.Issue) string {
	return strings.Join([]string{card.Project, strings.TrimPrefix(b.parts[id].Name, "labels"), strings.ToLower(strings.TrimSpace(x.reads(b.parts[id])("name")))}, "/")
}

// complete sets the labels and the custom fields of a card.
func (b *boards) complete(x *reader, i *convert.Issue) {
	ids := i.Labels
	i.Labels = nil
	for _, id := range ids {
		at := x.reads(b.parts[id.Name])
		colour := strings.ReplaceAll(at("color"), "_", " ")
		name := strings.TrimSpace(at("name"))
		if name != "" && colour != "" && b.named[b.nameOf(x, id.Name, i)] > 1 { // it shares its name with another label
			name += " (" + colour + ")"
		}
		if b.parts[id.Name].Object {
			i.Labels = append(i.Labels, convert.Label{Name: cmp.Or(name, colour, "no colour"), Color: x.find("colours").word(at("color"))})
		} else {
			x.to.Hold(i, convert.Leaf{Name: "labels that are not in the file: id", Text: id.Name}, convert.Uncarried, 1)
		}
	}
	for _, f := range b.fields[i] {
		is := x.reads(f)
		value := cmp.Or(is("value.text"), is("value.number"), x.day(i, is("value.date")), map[string]string{"true": "yes", "false": "no"}[is("value.checked")],
			x.reads(b.parts[is("idValue")])("value.text"))
		field(i, cmp.Or(x.reads(b.parts[is("idCustomField")])("name"), "Custom field "+is("idCustomField")), value, "cards.customFieldItems")
	}
}

// number sets the keys of a board's cards, which are their numbers. Of cards that share a number, as on a board from a template, the oldest
// keeps it; the others get their short links. It adds remarks on these cards, on left-out cards and on missing comments.
func (br *board) number(x *reader) {
	taken, shared, missing := map[int]bool{}, 0, 0
	for _, i := range slices.SortedFunc(slices.Values(br.cards), func(a, b *convert.Issue) int { return cmp.Compare(a.ID, b.ID) }) {
		switch n := i.Number; {
		case n > 0 && !taken[n]:
			i.Key, taken[n] = strconv.Itoa(n), x.leave[i] == ""
		case n > 0 && x.leave[i] == "":
			shared++
			i.Number = br.last + shared
		}
		missing += max(0, x.counted[i.ID]-len(x.comments[i.ID]))
	}
	x.noteIf(shared, "shared-numbers", br.Name+": "+diag.Count(shared, "card")+" of the number of an older one: their keys are their short links")
	for _, role := range sortedKeys(br.left) {
		x.to.Note("cards-left-out", br.Name+": "+diag.Count(br.left[role], role+" card")+" left out")
	}
	x.noteIf(missing, "actions-cut", fmt.Sprintf(x.head().word("cut"), br.Name, diag.Count(missing, "comment"), br.count["actions"], br.id))
}
