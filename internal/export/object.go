package export

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/manifest"
)

// object is a record of the service and where it stands. The workspace itself is one without a kind.
type object struct {
	kind       *resource.Kind
	row        resource.Row
	in         *object
	things     map[*resource.Kind][]*object // that live in it
	byID       map[serviceID]*object        // the same
	named      map[*resource.Field][]string // IDs that a field declares as members, by the member lists
	attributes map[string]string            // what those lists say of them, by ID

	indexes map[*resource.Kind]*index // of what lives in it; made when first needed

	exported   bool
	identifier string // readable; "" = none that a manifest can give
	key        string
	keyed      bool // the key is written
	pinned     bool // the ID is written, since nothing else tells the thing from others
	address    resource.Address
}

// serviceID is one thing of the service.
type serviceID struct {
	kind *resource.Kind
	id   string
}

// numbered reports whether the service numbers things of the kind, of which
// there can be thousands: what takes a request for each of them is costly.
func numbered(k *resource.Kind) bool { return k.Identifier != nil && k.Identifier.APIName == "" }

// number is the place of a thing in its sequence.
func (t *object) number() int64 {
	n, ok := t.row["sequence_id"].(json.Number)
	if !ok {
		return 0
	}
	i, _ := n.Int64()
	return i
}

// text is what the record shows for a field, in the form in which texts are compared.
func (t *object) text(field string) string {
	f, ok := t.kind.Field(field)
	if !ok {
		return ""
	}
	text, _ := f.ObservedIn(t.row)
	return text
}

// name is what people call the thing.
func (t *object) name() string {
	if t.identifier != "" {
		return t.identifier
	}
	for _, n := range t.kind.NaturalKey {
		if text := t.text(n); text != "" {
			return text
		}
	}
	return t.row.ID()
}

// called names a thing in a sentence.
func (t *object) called() string {
	if t.kind == nil {
		return "the workspace"
	}
	return t.name()
}

func (t *object) archived() bool {
	at, _ := t.row["archived_at"].(string)
	return at != ""
}

// ancestor is the thing itself or the one around it that is of the kind; "" is the workspace.
func (t *object) ancestor(kind string) *object {
	for t.kind != nil && t.kind.Name != kind { // the workspace is within nothing
		t = t.in
	}
	return t
}

// find is the thing of a kind with an ID that lives where t does or around it, or nil.
func (t *object) find(k *resource.Kind, id string) *object {
	return t.ancestor(k.Parent).byID[serviceID{k, id}]
}

// params are the path parameters for what lives in the thing.
func (t *object) params(workspace string) map[string]string {
	p := map[string]string{"workspace_slug": workspace}
	for ; t.kind != nil; t = t.in {
		p[t.kind.Param] = t.row.ID()
	}
	return p
}

// exports lists the things of a kind that are exported.
func (t *object) exports(k *resource.Kind) []*object {
	var list []*object
	for _, one := range t.things[k] {
		if one.exported {
			list = append(list, one)
		}
	}
	return list
}

// orderField is the field that says where a thing stands among its neighbours, or nil.
// The order of a list in a manifest stands for it.
func orderField(k *resource.Kind) *resource.Field {
	for _, name := range []string{"sequence", "sort_order"} {
		if f, ok := k.Field(name); ok && f.Type == resource.Number {
			return f
		}
	}
	return nil
}

// sorted orders things so that creating them in this order makes the same order
// elsewhere: by number, else by place, else by age, else by what they are called.
func sorted(k *resource.Kind, list []*object) {
	place := orderField(k)
	at := func(t *object) float64 {
		if place != nil {
			raw, _ := t.row.Shown(place)
			return float(raw)
		}
		return -float(t.row["sort_order"]) // the service puts each new one, such as a cycle, before the others
	}
	slices.SortFunc(list, func(a, b *object) int {
		return cmp.Or(cmp.Compare(a.number(), b.number()), cmp.Compare(at(a), at(b)), strings.Compare(a.created(), b.created()), natural(a, b), older(a, b))
	})
}

// float is the number that a record shows, or 0.
func float(raw any) float64 {
	n, _ := raw.(json.Number)
	f, _ := n.Float64()
	return f
}

// created is the moment of creation as the record shows it.
func (t *object) created() string {
	s, _ := t.row["created_at"].(string)
	return s
}

// zone is the time zone of what lives in a thing; nil where it shows none.
func (t *object) zone() *time.Location {
	if name, ok := t.row["timezone"].(string); ok {
		return resource.Zone(name)
	}
	return nil
}

func natural(a, b *object) int {
	for _, n := range a.kind.NaturalKey {
		if c := cmp.Or(strings.Compare(strings.ToLower(a.text(n)), strings.ToLower(b.text(n))), strings.Compare(a.text(n), b.text(n))); c != 0 {
			return c
		}
	}
	return 0
}

// older orders by the moment of creation, in which numbers and keys were given too.
func older(a, b *object) int {
	return cmp.Or(cmp.Compare(a.number(), b.number()), strings.Compare(a.created(), b.created()), strings.Compare(a.row.ID(), b.row.ID()))
}

// identify finds the readable identifier that a manifest can give.
func (t *object) identify(pattern *regexp.Regexp) {
	id := t.kind.Identifier
	if id == nil {
		return
	}
	text, _ := t.row[id.APIName].(string)
	if id.APIName == "" && t.in.identifier != "" && t.number() > 0 {
		text = t.in.identifier + "-" + strconv.FormatInt(t.number(), 10)
	}
	if pattern.MatchString(text) && text == strings.ToUpper(text) {
		t.identifier = text
	}
}

// assignKeys gives the exported things of a kind within a parent their keys and
// addresses, and finds those that nothing but the ID tells from others.
func assignKeys(workspace string, parent *object, k *resource.Kind) {
	list := parent.exports(k)
	slices.SortFunc(list, older)
	taken, marked := map[string]int{}, map[string]int{}
	for _, t := range parent.things[k] { // the mark of one that is left out would be found too
		if key := t.markKey(workspace); key != "" {
			taken[key] = 1
			marked[key]++
		}
	}
	for _, t := range list {
		if key := t.markKey(workspace); marked[key] == 1 {
			t.key, t.keyed = key, true
		}
	}
	for _, t := range list {
		if t.key == "" {
			t.key, t.keyed = t.freeKey(taken)
			taken[t.key] = 1
		}
		t.address = t.addressOf(t.key)
	}
	namesakes := map[string]int{}
	for _, t := range parent.things[k] {
		namesakes[t.naturalKey()]++
	}
	for _, t := range list {
		name := t.naturalKey()
		t.pinned = t.identifier == "" && marked[t.key] == 0 && (name == "" || namesakes[name] > 1)
		if key := t.markKey(workspace); t.identifier != "" && key != "" && key != t.key {
			t.pinned = true // its identifier would contradict the mark that it shares
		}
	}
}

func (t *object) addressOf(key string) resource.Address {
	if t.in.kind == nil {
		return resource.NewAddress(t.kind.Name, key)
	}
	return t.in.address.Child(t.kind.Name, key)
}

// markKey is the key under which planform made the thing, or "". Under another
// one its mark would not be found again.
func (t *object) markKey(workspace string) string {
	mark, _ := t.row["external_id"].(string)
	key := mark[strings.LastIndexByte(mark, '/')+1:]
	if !t.kind.HasExternalID || !resource.ValidKey(key) || !t.row.HasExternalID(resource.ExternalID(workspace, t.addressOf(key))) {
		return ""
	}
	return key
}

// freeKey makes a key of what the thing is called. It is written unless reading makes the same one. Of each key that is
// taken, the last number is known that was put behind it.
func (t *object) freeKey(taken map[string]int) (key string, written bool) {
	key, ok := t.kind.DefaultKey(func(field string) string {
		if f, isField := t.kind.Field(field); isField && f.Type == resource.URL && manifest.Fault(f, t.text(field)) != "" {
			return ""
		}
		if field == "identifier" {
			return t.identifier
		}
		return t.text(field)
	})
	if ok && !resource.ValidKey(key) && taken[key] == 0 {
		return key, false // a URL
	}
	if !ok || !resource.ValidKey(key) {
		key = strings.ReplaceAll(t.kind.Name, "_", "-")
		if numbered(t.kind) && t.identifier != "" {
			key = strings.ToLower(t.identifier)
		}
	}
	for base := key; taken[key] > 0; {
		taken[base]++
		key = base + "-" + strconv.Itoa(taken[base])
	}
	return key, true
}

// naturalKey is the natural key by which the thing is recognised, or "".
func (t *object) naturalKey() string {
	if t.kind.AdoptOnRequestOnly {
		return ""
	}
	for _, n := range t.kind.NaturalKey {
		f, ok := t.kind.Field(n)
		if !ok {
			continue
		}
		if text := t.text(n); text != "" && manifest.Fault(f, text) == "" {
			return n + "\x00" + text
		}
	}
	return ""
}
