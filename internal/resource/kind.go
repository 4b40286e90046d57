package resource

import (
	"fmt"
	"slices"
	"strings"
)

// Kind describes one kind of thing.
type Kind struct {
	Name        string // in addresses, such as work_item
	Section     string // the manifest's list of such things, such as work_items; "" if a manifest never lists them
	Parent      string // the kind it lives in, such as project for a work item; "" is the workspace
	ParentField string // the field that names the parent of the same kind, if things of this kind can be written inside one another
	Doc         string // one or two sentences for people, Markdown
	Example     string // a short YAML example for the schema and the reference pages

	Fields     []Field
	KeyFrom    []string // fields whose text gives the default key, first written wins; see [Kind.DefaultKey]
	NaturalKey []string // fields by any of which a thing is recognised on the service within its parent, such as name or url; empty = never
	// AdoptOnRequestOnly is set where two things may rightly share the natural key, so
	// that it adopts only when asked for (--adopt-by-name).
	AdoptOnRequestOnly bool
	Identifier         *Identifier // the readable identifier, if it has one
	Param              string      // path parameter that holds its ID, such as work_item_id
	Archivable         bool        // the service can archive it, and then shows nothing of what is in it, but takes more
	HasExternalID      bool        // the wider API stores external_source and external_id on it
	// UniqueExternalID is set where the wider API answers 409 to a second thing with the
	// external ID of another, other than at the very same moment.
	UniqueExternalID bool
	Membership       *Membership // set if this kind is a membership, which has no fields and no ID of its own
	// RequiresFeature is the boolean field of the parent that must be on before things of
	// this kind can be made there, such as cycle_view of a project.
	RequiresFeature string
	// ClosedAfter is the date after whose day the service takes no change of a thing, nor any
	// new member, such as the end_date of a cycle; "" = none.
	ClosedAfter string
	// Predefined names, by their natural key, the things that a new parent has from the
	// start, such as the state Todo of a project.
	Predefined []string
	// ViaSingleton is the kind of which each parent has one thing, whose ID stands in
	// the path of the list beside the parent's, such as the estimate of a project.
	ViaSingleton string
	// CountedAs is the name under which the Summary of what a thing lives in counts the
	// things of this kind, those included that no list shows; "" = it does not.
	CountedAs string
	// Unmanaged names what the service keeps with a thing of this kind, a request for each
	// thing, and no manifest can say, such as attachments.
	Unmanaged []string

	Operations []Operation
}

// Identifier is a readable name that the service gives beside the ID, such as
// WEB for a project and WEB-7 for a work item.
type Identifier struct {
	Pattern string // regular expression, anchored
	APIName string // field of a response that shows it; "" = built from project identifier and sequence_id
	Doc     string
}

// Noun is what people call one thing of the kind, such as work item.
func (k *Kind) Noun() string { return strings.ReplaceAll(k.Name, "_", " ") }

// Field returns the field of that name.
func (k *Kind) Field(name string) (*Field, bool) {
	for i := range k.Fields {
		if k.Fields[i].Name == name {
			return &k.Fields[i], true
		}
	}
	return nil, false
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

// DefaultKey is the key of a thing that is written without one: the text of the
// first field of KeyFrom that is written, as a slug. ok is false where none is.
func (k *Kind) DefaultKey(text func(field string) string) (key string, ok bool) {
	for _, f := range k.KeyFrom {
		t := text(f)
		if t == "" {
			continue
		}
		if fd, found := k.Field(f); found && fd.Type == URL {
			return t, true // a link is told from its neighbours by its exact URL
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
	for i := range k.Operations {
		k.Operations[i].Kind = k.Name
	}
	kinds.byName[k.Name] = &k
	at, _ := slices.BinarySearchFunc(kinds.sorted, k.Name, func(e *Kind, n string) int { return strings.Compare(e.Name, n) })
	kinds.sorted = slices.Insert(kinds.sorted, at, &k)
}

// Kinds returns every kind, ordered by name. The slice must not be changed.
func Kinds() []*Kind { return kinds.sorted }

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

// Children returns the kinds that live in kind name ("" = the workspace) and
// that a manifest lists, ordered by name.
func Children(name string) []*Kind {
	var children []*Kind
	for _, k := range kinds.sorted {
		if k.Parent == name && k.Section != "" {
			children = append(children, k)
		}
	}
	return children
}
