package export

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// setIdentifier sets the readable identifier if a manifest can give it.
func (ob *object) setIdentifier() {
	text := ob.kind.ReadableID(ob.row, ob.parent.identifier)
	if ob.kind.IsIdentifier(text) && text == strings.ToUpper(text) {
		ob.identifier = text
	}
}

// assignKeys sorts all objects below a parent into the order of the manifests, and gives the exported objects their keys and addresses.
func (ct *content) assignKeys(parent *object, workspace string) {
	for k, children := range parent.children {
		sortSiblings(k, children)
		ct.assignKeysOf(k, parent, workspace)
		for _, child := range children {
			ct.assignKeys(child, workspace)
		}
	}
}

// assignKeysOf gives each object the key with which planform made it, else the key of an earlier export, else a new key. It also decides
// which objects are written with their ID: objects that people can rename, and objects that nothing else identifies.
func (ct *content) assignKeysOf(k *resource.Kind, parent *object, workspace string) {
	list := parent.exportedChildren(k)
	slices.SortFunc(list, compareAge)
	taken, marked := map[string]int{}, map[string]int{}
	for _, t := range parent.children[k] { // including objects that are left out, because their external ID would be found too
		if key := t.ownKey(workspace); key != "" {
			taken[key] = 1
			marked[key]++
		}
	}
	for _, t := range list {
		if key := t.ownKey(workspace); marked[key] == 1 {
			t.key, t.writesKey = key, true
		}
	}
	for _, t := range list {
		if key := ct.formerKeys[serviceID{k, t.row.ID()}]; t.key == "" && resource.ValidKey(key) && taken[key] == 0 {
			t.key, t.writesKey, taken[key] = key, true, 1
		}
	}
	for _, t := range list {
		if t.key == "" {
			t.key, t.writesKey = t.freeKey(taken)
			taken[t.key] = 1
		}
		t.address = t.addressOf(t.key)
	}
	namesakes := map[string]int{}
	for _, t := range parent.children[k] {
		namesakes[t.naturalKey()]++
	}
	for _, t := range list {
		name := t.naturalKey()
		t.writesID = !k.FixedName() || marked[t.key] == 0 && (name == "" || namesakes[name] > 1)
	}
}

// formerKeys returns the keys that a state has for the objects of the service.
func formerKeys(prior planner.Prior) map[serviceID]string {
	keys := map[serviceID]string{}
	for _, a := range slices.Sorted(maps.Keys(prior)) {
		if k, known := resource.Lookup(a.Kind()); known && a.IsObject() {
			keys[serviceID{k, prior[a].ID}] = a.Key()
		}
	}
	return keys
}

func (ob *object) addressOf(key string) resource.Address {
	if ob.parent.kind == nil {
		return resource.NewAddress(ob.kind.Name, key)
	}
	return ob.parent.address.Child(ob.kind.Name, key)
}

// ownKey returns the key with which planform made the object, or "". With another key its external ID would not be found again.
func (ob *object) ownKey(workspace string) string {
	external, _ := ob.row["external_id"].(string)
	key := external[strings.LastIndexByte(external, '/')+1:]
	_, marked := ob.row.Owner()
	if !ob.kind.HasExternalID || !resource.ValidKey(key) || !marked || external != resource.ExternalID(workspace, ob.addressOf(key)) {
		return ""
	}
	return key
}

// freeKey returns an unused key: made from the number of the object, which never changes, else from its name, else from its ID. written
// is false if the manifest's reader makes the same key. taken holds for each key the last number that was appended to it.
func (ob *object) freeKey(taken map[string]int) (key string, written bool) {
	key, ok := ob.kind.DefaultKey(func(field string) string {
		if f, isField := ob.kind.Field(field); isField && f.Type == resource.URL && manifest.CheckText(f, ob.text(field)) != "" {
			return ""
		}
		if field == "identifier" {
			return ob.identifier
		}
		return ob.text(field)
	})
	if ok && !resource.ValidKey(key) && taken[key] == 0 {
		return key, false // a URL
	}
	switch {
	case ob.kind.Numbered() && ob.identifier != "":
		key = strings.ToLower(ob.identifier)
	case !ok || !resource.ValidKey(key):
		key = strings.ReplaceAll(ob.kind.Name, "_", "-") + "-" + ob.row.ID()[:8]
	}
	for base := key; taken[key] > 0; {
		taken[base]++
		key = base + "-" + strconv.Itoa(taken[base])
	}
	return key, true
}

// naturalKey returns the field and text by which the object is recognised, or "".
func (ob *object) naturalKey() string {
	if ob.kind.AdoptOnRequestOnly {
		return ""
	}
	if ob.kind.NamedByAll() {
		texts := make([]string, len(ob.kind.NaturalKey))
		for i, name := range ob.kind.NaturalKey {
			texts[i] = ob.text(name)
		}
		return strings.Join(texts, "\x00")
	}
	for _, f := range ob.kind.NaturalFields() {
		if text := ob.text(f.Name); text != "" && manifest.CheckText(f, text) == "" {
			return f.Name + "\x00" + text
		}
	}
	return ""
}

// orderField returns the field with an object's place among its siblings, or nil. In a manifest, the order of the list stands for it.
func orderField(k *resource.Kind) *resource.Field {
	if i := slices.IndexFunc(k.Fields, func(f resource.Field) bool { return f.Ordinal() }); i >= 0 {
		return &k.Fields[i]
	}
	for _, name := range []string{"sequence", "sort_order"} {
		if f, ok := k.Field(name); ok && f.Type == resource.Number {
			return f
		}
	}
	return nil
}

// sortSiblings sorts objects so that creating them in this order makes the same order elsewhere: by number,
// else by place, else by age, else by name.
func sortSiblings(k *resource.Kind, list []*object) {
	place := orderField(k)
	at := func(t *object) float64 {
		if place != nil {
			raw, _ := t.row.Shown(place)
			return toFloat(raw)
		}
		if k.Appended {
			return toFloat(t.row["sort_order"])
		}
		return -toFloat(t.row["sort_order"])
	}
	slices.SortFunc(list, func(a, b *object) int {
		return cmp.Or(cmp.Compare(a.row.Number(), b.row.Number()), cmp.Compare(at(a), at(b)), strings.Compare(a.row.Text("created_at"),
			b.row.Text("created_at")), compareNatural(a, b), compareAge(a, b))
	})
	if place == nil || place.Ordinal() || k.Numbered() {
		return
	}
	predefined := func(t *object) int { return slices.Index(k.Predefined, t.text(k.NaturalKey[0])) } // created at the same moment
	reordered := !slices.IsSortedFunc(list, func(a, b *object) int {
		return cmp.Or(strings.Compare(a.row.Text("created_at"), b.row.Text("created_at")), cmp.Compare(predefined(a), predefined(b)))
	})
	for _, t := range list {
		t.writesPlace = reordered
	}
}

// toFloat returns the number in a row, or 0.
func toFloat(raw any) float64 {
	n, _ := raw.(json.Number)
	f, _ := n.Float64()
	return f
}

func compareNatural(a, b *object) int {
	for _, f := range a.kind.NaturalFields() {
		x, y := a.text(f.Name), b.text(f.Name)
		if c := cmp.Or(strings.Compare(strings.ToLower(x), strings.ToLower(y)), strings.Compare(x, y)); c != 0 {
			return c
		}
	}
	return 0
}

// compareAge orders objects by the time of their creation, and so in the order of their numbers.
func compareAge(a, b *object) int {
	return a.row.Older(b.row)
}
