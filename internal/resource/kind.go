package resource

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Kind describes one kind of object.
type Kind struct {
	Name    string // in addresses, such as work_item
	Section string // its list in the manifest, such as work_items; "" = a manifest never lists it
	Parent  string // the kind that contains it, such as project; "" = the workspace
	// ParentField is the field that names a parent of the same kind. Objects of such a
	// kind can be written inside one another; "" = none.
	ParentField string
	Doc         string // one or two sentences for people, Markdown
	Example     string // a short YAML example for the schema and the reference pages

	Fields     []Field
	KeyFrom    []string // fields that give the default key, the first one written wins; see [Kind.DefaultKey]
	NaturalKey []string // fields that each identify an object within its parent, such as name; empty = none
	// KeyJoin is what stands in a default key between the texts of KeyFrom, where all of them make it, as all of NaturalKey together
	// identify an object: -to- of a transition; "" = each does.
	KeyJoin string
	// AdoptOnRequestOnly is set where two objects may share the natural key: only
	// --adopt-by-name adopts by it.
	AdoptOnRequestOnly bool
	Identifier         *Identifier // the readable identifier, if it has one
	Param              string      // path parameter of its ID, such as work_item_id
	WebPath            string      // template of its page's path in the web app; "" = texts cannot link to it
	HasExternalID      bool        // the wider API stores external_source and external_id
	// UniqueExternalID is set where the wider API answers 409 to a second object with
	// the same external ID, unless both arrive at the same moment.
	UniqueExternalID bool
	// Secret is the field in the answer to a create that shows a secret, once. It goes into the file that a field of the type
	// SecretFile names, and nowhere else. "" = there is none.
	Secret     string
	Upload     *UploadForm // set if a create sends a file; such an object cannot be changed, only replaced
	Membership *Membership // set if this kind is a membership, which has no fields and no ID of its own
	Short      string      // the field that a bare text gives, such as the url of a link; "" = none
	WhereMade  string      // how one comes to be on the service, if not by planform; "" = as other objects do
	// Governance is set where such objects can be managed on two levels.
	Governance Governance
	Lifecycle
	Listing

	Operations []Operation
}

// UploadForm is how a file is sent: the service answers the create with a form, the store takes
// the file with it, and the service is told. The fields are those of the API.
type UploadForm struct {
	Form, Object string // of the create's answer: the form, and the object
	Done         string // the boolean that the last request sets
}

// Lifecycle is what else decides about creating, changing and archiving objects of a kind.
type Lifecycle struct {
	// Archivable is set where the service archives the object with its content: it
	// shows nothing of the content then, but still accepts more.
	Archivable bool
	// ArchiveFirst is set where the service deletes archived objects only: an update archives and unlocks one before its delete.
	ArchiveFirst bool
	// RequiresFeature is the boolean field that must be on first, of the parent such as cycle_view of a project, or of
	// the parent's Singleton such as milestones of its features; "" = none. See [Kind.Switch].
	RequiresFeature string
	// ClosedAfter is the date after which the service takes neither changes nor new
	// members, such as end_date of a cycle; "" = none.
	ClosedAfter string
	// Predefined are the natural keys of the objects that the service creates with the
	// parent, such as the state Todo of a project.
	Predefined []string
	// Progress is the field that says how far an object is, such as state; "" = none.
	Progress string
	// UsedIn is the field of the parent that names the one in use: the one of the manifest
	// unless that says otherwise. "" = none.
	UsedIn string
}

// Listing is what else there is to know about reading objects of a kind.
type Listing struct {
	// Single is set where a parent has one at most, such as the estimate of a project: the
	// operations name it by its parent, and the list is the object itself. What is in it is
	// named from the parent, as the points of an estimate by work items.
	Single bool
	// Singleton is set where each parent has its Single one from the start, without a name and perhaps without an ID, and nobody
	// creates or deletes it, such as the features of a project. A manifest has it as a mapping.
	Singleton bool
	// ParentType is the text that the parent's field "type" must have; "" = any parent has such a list.
	ParentType string
	// CountedAs is the name of the kind's number in the parent's Summary, which includes
	// objects that no list shows; "" = none.
	CountedAs string
	// Appended is set where the service puts each new one behind the others, by a sort_order that nobody sets. Elsewhere it puts them
	// before the others, as cycles, or all in one place.
	Appended bool
	// Partial is set where lists leave out some that are there, such as people who left: that one is in no list does not tell that it
	// is gone. So it is also with what can be archived, see [Kind.ListsAll].
	Partial bool
	// Inside is the field of the parent's row that holds them, such as options: they are read with that row, and written by an
	// update of it; "" = they have rows of their own.
	Inside  string
	OwnFlag string // set in rows of what the service has by itself and nobody changes, such as is_default: an export leaves them out
	// Unmanaged are the contents of an object that no manifest can hold, such as
	// worklogs. Each takes a request of its own.
	Unmanaged []string

	identifier *regexp.Regexp // of Identifier.Pattern
}

// Identifier is a readable name that the service gives beside the ID, such as
// WEB for a project and WEB-7 for a work item.
type Identifier struct {
	Pattern string // regular expression, anchored
	// PatternDoc says what it takes.
	PatternDoc string
	APIName    string // field of a response that holds it; "" = built from project identifier and sequence_id
	LongestV2  int    // most characters that API v2 takes; 0 = as many as Pattern
	Doc        string
}

// Page is the address of an object's page in the web app; "" where it has none, or an ID is not known.
func (k *Kind) Page(web string, params map[string]string) string {
	path, missing := (&Operation{Path: k.WebPath}).Expand(params)
	if k.WebPath == "" || missing != "" {
		return ""
	}
	return web + path
}

// Noun is the word for one object of the kind, such as work item.
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

// Derives reports whether another field of the kind says the same: a text has one form that is exported, and others that the
// service derives from it.
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
	for i := range k.Fields { // the first of those with one wire name writes them all
		if other := &k.Fields[i]; other == f {
			return false
		} else if other.Rich() && other.APIName() == f.APIName() {
			return true
		}
	}
	return false
}

// UniqueField reports whether the service refuses a second object with the same text in a field that every create sends.
func (k *Kind) UniqueField() bool {
	return slices.ContainsFunc(k.Fields, func(f Field) bool { return f.Required && (f.Unique || f.UniqueOnCreate) })
}

// NaturalFields are the fields by which an object is recognised without an ID or external ID.
func (k *Kind) NaturalFields() []*Field {
	var fields []*Field
	for _, name := range k.NaturalKey {
		if f, ok := k.Field(name); ok {
			fields = append(fields, f)
		}
	}
	return fields
}

// FixedName reports whether an object is recognised by what nobody can change, such as the URL of a link.
func (k *Kind) FixedName() bool {
	names := k.NaturalFields()
	return len(names) > 0 && !slices.ContainsFunc(names, func(f *Field) bool { return !f.Immutable })
}

// Op returns the first operation with that verb which the given API offers.
func (k *Kind) Op(v Verb, api API) (*Operation, bool) {
	for i := range k.Operations {
		if o := &k.Operations[i]; o.Verb == v && api.Offers(o) {
			return o, true
		}
	}
	return nil, false
}

// DefaultKey is the key of an object that is written without one: the first text of
// KeyFrom's fields, as a slug. ok is false where none is written.
func (k *Kind) DefaultKey(text func(field string) string) (key string, ok bool) {
	if k.Singleton {
		return k.Section, true
	}
	if k.KeyJoin != "" {
		slugs := make([]string, len(k.KeyFrom))
		for i, f := range k.KeyFrom {
			slugs[i] = Slug(text(f))
		}
		return strings.Join(slugs, k.KeyJoin), !slices.Contains(slugs, "")
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

// Slug turns a name into a key: lower case letters and digits with single hyphens between.
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

// kinds collects what the files of this package register. It is written during
// initialisation only.
//
//nolint:gochecknoglobals // the one registration: each kind's file adds its descriptor here
var kinds = &registry{byName: map[string]*Kind{}}

// register adds a kind. It is called by the init function of the kind's own file and nowhere else.
func register(k Kind) {
	if _, twice := kinds.byName[k.Name]; twice {
		panic("resource: kind " + k.Name + " is registered twice")
	}
	for i := range k.Fields {
		k.Fields[i].complete()
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

// CountedAs is the kind whose objects a Summary counts under a name, or nil.
func CountedAs(name string) *Kind {
	if i := slices.IndexFunc(kinds.sorted, func(k *Kind) bool { return k.CountedAs == name }); i >= 0 {
		return kinds.sorted[i]
	}
	return nil
}

// Listed are the names of the kinds whose objects a manifest lists.
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

// MustLookup returns the kind of that name, which the caller knows to exist.
func MustLookup(name string) *Kind {
	k, ok := kinds.byName[name]
	if !ok {
		panic(fmt.Sprintf("resource: there is no kind %q", name))
	}
	return k
}

// NamedWithin is the kind within which objects of this one are named: its parent, or for what
// is in a single object what that lives in. "" = the workspace.
func (k *Kind) NamedWithin() string {
	if parent, ok := kinds.byName[k.Parent]; ok && parent.Single {
		return parent.Parent
	}
	return k.Parent
}

// ListsAll reports whether the lists of the kind show all that is there: what is in none is gone.
func (k *Kind) ListsAll() bool {
	return !k.Partial && !k.Archivable && !slices.ContainsFunc(k.Fields, func(f Field) bool { return f.ArchiveFlag })
}

// Switch is the field that must be on before objects of the kind are made, and the kind that has it: what they live in, or the
// Singleton there; nil = none.
func (k *Kind) Switch() (*Kind, *Field) { return k.switchCalled(k.RequiresFeature) }

// Switches are the fields that must be on before the object is made, that of its kind, and those of what the manifest says of it.
func (o *Object) Switches() (all []Switch) {
	if holder, f := o.Kind.Switch(); f != nil {
		all = append(all, Switch{holder, f})
	}
	for i := range o.Values {
		if v := &o.Values[i]; v.Text == "true" {
			if holder, f := o.Kind.switchCalled(v.Field.RequiresFeature); f != nil {
				all = append(all, Switch{holder, f})
			}
		}
	}
	return all
}

// Switch is a field that must be on before something is made, and the kind that has it.
type Switch struct {
	Holder *Kind
	Field  *Field
}

// SwitchOf is the switch that must be on before an object is made with a Boolean; nil = none.
func (k *Kind) SwitchOf(field *Field) *Field {
	_, f := k.switchCalled(field.RequiresFeature)
	return f
}

func (k *Kind) switchCalled(feature string) (*Kind, *Field) {
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

// Children returns the kinds that a manifest lists within kind name ("" = the
// workspace), ordered by name.
func Children(name string) []*Kind {
	var children []*Kind
	for _, k := range kinds.sorted {
		if k.Parent == name && k.Section != "" {
			children = append(children, k)
		}
	}
	return children
}
