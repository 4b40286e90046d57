package resource

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Kind describes one kind of object.
type Kind struct {
	Name    string // in addresses, such as work_item
	Section string // its list in the manifest, such as work_items; "" = a manifest never lists it
	Parent  string // the kind that contains it, such as project; "" = the workspace
	// ParentField is the field that names a parent of the same kind; "" = none. Objects of such a kind can be nested.
	ParentField string
	Doc         string // one or two sentences for people, Markdown
	Example     string // a short YAML example for the schema and the reference pages

	Fields     []Field
	KeyFrom    []string // fields that give the default key; the first with a value wins, see [Kind.DefaultKey]; nil = NaturalKey
	NaturalKey []string // fields that each identify an object within its parent; nil = name if the kind has such a field, or none
	// AdoptOnRequestOnly is set if two objects may have the same natural key. Only --adopt-by-name then adopts by name.
	AdoptOnRequestOnly bool
	Identifier         *Identifier // the readable identifier, if it has one
	Param              string      // path parameter for its ID, such as work_item_id
	Scope              string      // of its operations without an own one, before :read or :write
	WebPath            string      // path template of its page in the web app; "" = texts cannot link to it
	HasExternalID      bool        // the wider API stores external_source and external_id
	// UniqueExternalID is set if the wider API answers 409 to a second object with the same external ID, unless both arrive at the same
	// moment.
	UniqueExternalID bool
	Membership       *Membership // set if the kind is a membership; it has no fields and no ID of its own
	Short            string      // the field that a plain text sets, such as the url of a link; "" = none
	WhereMade        string      // how the service gets such an object without planform; "" = like other objects
	// Governance is set if such objects can be managed on two levels.
	Governance Governance
	Lifecycle
	Listing

	Operations []Operation

	// refuses returns the rules of the service, besides those of the fields, that the values of a request break; nil = there are none.
	// whyNotArchived returns the reason why the service would not archive an object, or "".
	refuses        func(o *Object, sent []*Value, has WillHave) []Rule
	whyNotArchived func(k *Kind, has WillHave, ends func(day string) bool) string
}

// Lifecycle holds rules for creating, changing and archiving objects of a kind.
type Lifecycle struct {
	// BeforeDelete returns the body of an update without which the service refuses a delete: it archives and unlocks the object. nil = a
	// delete needs none.
	BeforeDelete func(now time.Time) []byte
	// RequiresFeature is the feature flag that must be on: a Boolean of the parent, such as cycle_view of a project, or of the parent's
	// Singleton, such as milestones of its features; "" = none. See [Kind.Switch].
	RequiresFeature string
	// ClosedAfter is the date after which the service accepts neither changes nor new members, such as end_date of a cycle; "" = none.
	ClosedAfter string
	// Predefined lists the natural keys of the objects that the service creates with the parent, such as the state Todo of a project.
	Predefined []string
	// Progress is the field with the progress of an object, such as state; "" = none.
	Progress string
}

// Listing holds rules for reading objects of a kind.
type Listing struct {
	// Single is set if a parent has at most one, such as the estimate of a project. The operations name it by its parent, and the list is
	// the object itself. Objects inside it are referred to from the parent, such as the points of an estimate from work items.
	Single bool
	// Singleton is set if every parent has its Single object from the start, without a name and perhaps without an ID, such as the features
	// of a project. Nobody creates or deletes it. A manifest writes it as a mapping.
	Singleton bool
	// ParentType is the required text of the parent's field "type"; "" = every parent has such a list.
	ParentType string
	// CountedAs is the name of the kind's count in the parent's Summary, which includes objects that no list shows; "" = none.
	CountedAs string
	// Appended is set if the service orders new objects after the others, by a sort_order that nobody sets. It orders other kinds before
	// the others, such as cycles, or gives all of them the same place.
	Appended bool
	// partial is set if lists leave out existing objects, such as people who left, so that a missing object need not be gone. See also
	// [Kind.ListsAll].
	partial bool
	// Unmanaged lists contents of an object that no manifest can hold, such as worklogs. Reading each takes a request.
	Unmanaged []string

	identifier *regexp.Regexp // compiled Identifier.Pattern
}

// Identifier is a readable name beside the ID, such as WEB of a project and WEB-7 of a work item.
type Identifier struct {
	Pattern string // regular expression, anchored
	// PatternDoc describes the pattern.
	PatternDoc string
	APIName    string // response field that holds it; "" = built from project identifier and sequence_id
	Doc        string
}

// Page returns the web address of an object's page; "" = it has none, or an ID is unknown.
func (k *Kind) Page(web string, params map[string]string) string {
	path, missing := (&Operation{Path: k.WebPath}).Expand(params)
	if k.WebPath == "" || missing != "" {
		return ""
	}
	return web + path
}

// HasDefault reports whether every new parent gets an object of the given name from the service.
func (k *Kind) HasDefault(name string) bool {
	return slices.ContainsFunc(k.Predefined, func(g string) bool { return strings.EqualFold(g, strings.TrimSpace(name)) })
}

// Noun returns the word for an object of the kind, such as work item.
func (k *Kind) Noun() string { return strings.ReplaceAll(k.Name, "_", " ") }

// IsIdentifier reports whether a text has the form of the kind's readable identifiers.
func (k *Kind) IsIdentifier(text string) bool {
	return k.identifier != nil && k.identifier.MatchString(text)
}

// Field returns the field of that name.
func (k *Kind) Field(name string) (*Field, bool) {
	for i := range k.Fields {
		if k.Fields[i].Name == name {
			return &k.Fields[i], true
		}
	}
	return nil, false
}

// Derives reports whether another field of the kind has the same content. One form of a text is exported; the service derives the others
// from it.
func (k *Kind) Derives(f *Field) bool {
	for _, suffix := range []string{"_json", "_stripped", "_binary"} {
		if stem, ok := strings.CutSuffix(f.Name, suffix); ok {
			if html, has := k.Field(stem + "_html"); has && html.Rich() {
				return true
			}
		}
	}
	if !f.Rich() {
		return false
	}
	for i := range k.Fields { // the first field with a wire name is the one that is exported
		if other := &k.Fields[i]; other == f {
			return false
		} else if other.Rich() && other.APIName() == f.APIName() {
			return true
		}
	}
	return false
}

// UniqueField reports whether the service refuses a second object with the same text in a required field.
func (k *Kind) UniqueField() bool {
	return slices.ContainsFunc(k.Fields, func(f Field) bool { return f.Required && (f.Unique || f.uniqueOnCreate) })
}

// Uploads reports whether a create uploads a file. Such an object cannot be changed, only replaced.
func (k *Kind) Uploads() bool {
	return slices.ContainsFunc(k.Operations, func(op Operation) bool { return op.Verb == Confirm })
}

// NaturalFields returns the fields that identify an object without an ID or external ID.
func (k *Kind) NaturalFields() []*Field {
	var fields []*Field
	for _, name := range k.NaturalKey {
		if f, ok := k.Field(name); ok {
			fields = append(fields, f)
		}
	}
	return fields
}

// NamedByAll reports whether only all natural fields together identify an object, such as the two states of a transition: a single
// reference does not.
func (k *Kind) NamedByAll() bool {
	if len(k.NaturalKey) < 2 {
		return false
	}
	f, ok := k.Field(k.NaturalKey[0])
	return ok && f.IsRef()
}

// FixedName reports whether an object is identified by fields that nobody can change, such as the URL of a link.
func (k *Kind) FixedName() bool {
	names := k.NaturalFields()
	return len(names) > 0 && !slices.ContainsFunc(names, func(f *Field) bool { return !f.Immutable })
}

// Op returns the first operation with this verb that the API offers.
func (k *Kind) Op(v Verb, api API) (*Operation, bool) {
	for i := range k.Operations {
		if o := &k.Operations[i]; o.Verb == v && api.Offers(o) {
			return o, true
		}
	}
	return nil, false
}

// DefaultKey returns the key of an object without a written key: the first text of KeyFrom's fields, as a slug. ok is false if there is
// none.
func (k *Kind) DefaultKey(text func(field string) string) (key string, ok bool) {
	if k.Singleton {
		return k.Section, true
	}
	if k.NamedByAll() {
		slugs := make([]string, len(k.KeyFrom))
		for i, f := range k.KeyFrom {
			slugs[i] = Slug(text(f))
		}
		return strings.Join(slugs, "-to-"), !slices.Contains(slugs, "")
	}
	for _, f := range k.KeyFrom {
		t := text(f)
		if t == "" {
			continue
		}
		if fd, found := k.Field(f); found && fd.Type == URL {
			return t, true // the exact URL distinguishes a link from others
		}
		if s := Slug(t); s != "" {
			return s, true
		}
	}
	return "", false
}

// Slug turns a name into a key of lower-case letters and digits with single hyphens.
func Slug(name string) string {
	const longest = 80
	var b strings.Builder
	hyphen := false
	for _, r := range strings.ToLower(name) {
		if b.Len() >= longest {
			break
		}
		if !isKeyRune(r) {
			hyphen = b.Len() > 0
			continue
		}
		if hyphen {
			b.WriteByte('-')
			hyphen = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// registry holds every kind, ordered by name.
type registry struct {
	byName map[string]*Kind
	sorted []*Kind
}

// kinds holds all registered kinds. It changes only during initialisation.
//
//nolint:gochecknoglobals // the one registration: each kind's file adds its descriptor here
var kinds = &registry{byName: map[string]*Kind{}}

// register adds a kind. Only the init function in the kind's own file calls it.
func register(k Kind) {
	if _, twice := kinds.byName[k.Name]; twice {
		panic("resource: kind " + k.Name + " is registered twice")
	}
	for i := range k.Fields {
		k.Fields[i].fillWire()
	}
	if _, named := k.Field("name"); named && k.NaturalKey == nil {
		k.NaturalKey = []string{"name"}
	}
	if k.KeyFrom == nil && k.Section != "" {
		k.KeyFrom = k.NaturalKey
	}
	if m := k.Membership; m != nil {
		m.IDField, m.Batch = cmp.Or(m.IDField, "id"), cmp.Or(m.Batch, 100)
	}
	for i := range k.Fields {
		for j := range k.Fields {
			if f, other := &k.Fields[i], &k.Fields[j]; f.Rest && other.Within == f.Within && !other.Rest {
				f.siblings = append(f.siblings, other)
			}
		}
	}
	for i := range k.Operations {
		k.Operations[i].Kind = k.Name
		k.Operations[i].fillUsual(k.Scope)
	}
	if k.Identifier != nil {
		k.identifier = regexp.MustCompile(k.Identifier.Pattern)
	}
	kinds.byName[k.Name] = &k
	at, _ := slices.BinarySearchFunc(kinds.sorted, k.Name, func(e *Kind, n string) int { return strings.Compare(e.Name, n) })
	kinds.sorted = slices.Insert(kinds.sorted, at, &k)
}

// Kinds returns every kind, ordered by name. The slice must not be changed.
func Kinds() []*Kind { return kinds.sorted }

// CountedAs returns the kind whose objects a Summary counts under a name, or nil.
func CountedAs(name string) *Kind {
	if i := slices.IndexFunc(kinds.sorted, func(k *Kind) bool { return k.CountedAs == name }); i >= 0 {
		return kinds.sorted[i]
	}
	return nil
}

// Listed returns the names of the kinds that a manifest lists.
func Listed() []string {
	var names []string
	for _, k := range kinds.sorted {
		if k.Section != "" {
			names = append(names, k.Name)
		}
	}
	return names
}

// Lookup returns the kind of that name.
func Lookup(name string) (*Kind, bool) {
	k, ok := kinds.byName[name]
	return k, ok
}

// MustLookup returns the kind of that name, and panics if there is none.
func MustLookup(name string) *Kind {
	k, ok := kinds.byName[name]
	if !ok {
		panic(fmt.Sprintf("resource: there is no kind %q", name))
	}
	return k
}

// NamedWithin returns the kind of the object in which names of this kind are unique: the parent, or the grandparent if the parent is
// Single. "" = the workspace.
func (k *Kind) NamedWithin() string {
	if parent, ok := kinds.byName[k.Parent]; ok && parent.Single {
		return parent.Parent
	}
	return k.Parent
}

// ListsAll reports whether the lists of the kind show all objects, so that a missing object is gone.
func (k *Kind) ListsAll() bool {
	return !k.partial && !k.Archives()
}

// Archives reports whether the service can archive objects of the kind. It then shows none of their contents, but still accepts more.
func (k *Kind) Archives() bool {
	_, ok := k.Op(Archive, V2)
	return ok
}

// Inside returns the field of the parent's row that holds the objects, such as options; "" = they have rows of their own. They are read
// with that row, and written by an update of it.
func (k *Kind) Inside() string {
	if op, ok := k.Op(Update, V2); ok {
		return op.ListInBody
	}
	return ""
}

// UsedIn returns the parent's field that names the object in use, such as the estimate of a project, or nil. If the manifest leaves the
// field out, the object of the manifest is used.
func (k *Kind) UsedIn() *Field {
	if !k.Single || k.Parent == "" {
		return nil
	}
	parent := MustLookup(k.Parent)
	if i := slices.IndexFunc(parent.Fields, func(f Field) bool { return f.Ref == k.Name }); i >= 0 {
		return &parent.Fields[i]
	}
	return nil
}

// Switch returns the feature flag that must be on for objects of the kind, and the kind that has it: the parent, or its Singleton. It
// returns nil if there is none.
func (k *Kind) Switch() (*Kind, *Field) { return k.findSwitch(k.RequiresFeature) }

// Switches returns the feature flags that must be on for the object's kind and values.
func (o *Object) Switches() (all []Switch) {
	if holder, f := o.Kind.Switch(); f != nil {
		all = append(all, Switch{holder, f})
	}
	for i := range o.Values {
		if v := &o.Values[i]; v.Text == "true" {
			if holder, f := o.Kind.findSwitch(v.Field.RequiresFeature); f != nil {
				all = append(all, Switch{holder, f})
			}
		}
	}
	return all
}

// Switch is a feature flag and the kind that has it.
type Switch struct {
	Holder *Kind
	Field  *Field
}

// SwitchOf returns the feature flag that must be on before an object is created with a Boolean, or nil.
func (k *Kind) SwitchOf(field *Field) *Field {
	_, f := k.findSwitch(field.RequiresFeature)
	return f
}

func (k *Kind) findSwitch(feature string) (*Kind, *Field) {
	if feature == "" {
		return nil, nil
	}
	for _, holder := range append(Children(k.Parent), kinds.byName[k.Parent]) {
		if holder == nil || holder.Name != k.Parent && !holder.Singleton {
			continue
		}
		if f, ok := holder.Field(feature); ok {
			return holder, f
		}
	}
	return nil, nil
}

// Children returns the kinds that a manifest lists inside kind name ("" = the workspace), ordered by name.
func Children(name string) []*Kind {
	var children []*Kind
	for _, k := range kinds.sorted {
		if k.Parent == name && k.Section != "" {
			children = append(children, k)
		}
	}
	return children
}
