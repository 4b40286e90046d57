package manifest

import (
	"slices"
	"strings"
	"sync"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/internal/yamltext"
	"github.com/planform/planform/schema"
)

// kindInfo is what reading needs to know of a kind, worked out once from its descriptor.
type kindInfo struct {
	*resource.Kind
	props      map[string]prop
	names      []string        // of all properties, sorted
	shorthand  *resource.Field // the field that a bare text gives
	most       int             // how many of them the parent can have; 0 = any number
	creatable  bool            // the documented service can create it: it is written once and must be complete
	natural    []*resource.Field
	referenced bool // some field refers to this kind
	refs       bool // has fields that refer to objects
	selfRefs   []*resource.Field
	sections   []section
}

// prop says what a property of an object is.
type prop struct {
	what  propKind
	field int // for isField: index in the kind's fields
}

// section is the list of one kind of an object's children.
type section struct {
	name string
	kind *kindInfo
}

type propKind uint8

const (
	isUnknown propKind = iota
	isKey
	isID
	isIdentifier
	isPreviously
	isProtect
	isCreate
	isIgnore
	isOnDrift
	isField
	isSection
	isGroup
)

// kindSet holds every kind that a manifest lists, and those that fields name. Nothing changes it.
type kindSet struct {
	byName map[string]*kindInfo
	top    map[string]*kindInfo // by section
	names  []string             // of a document's properties, sorted
}

var everyKind = sync.OnceValue(func() *kindSet { //nolint:gochecknoglobals // a constant
	s := &kindSet{
		byName: map[string]*kindInfo{}, top: map[string]*kindInfo{},
		names: []string{schema.Version, schema.Owner, schema.Workspace, schema.Order, schema.Source, schema.Defaults, schema.Vars, schema.Include},
	}
	for _, k := range resource.Kinds() {
		s.byName[k.Name] = &kindInfo{Kind: k, creatable: schema.Creatable(k), natural: k.NaturalFields()}
		if k.KeyJoin != "" { // none of them alone tells it from others
			s.byName[k.Name].natural = k.NaturalFields()[:1]
		}
	}
	for _, k := range resource.Children("") {
		s.top[k.Section] = s.byName[k.Name]
		s.names = append(s.names, k.Section)
	}
	slices.Sort(s.names)
	for _, k := range resource.Kinds() {
		info := s.byName[k.Name]
		if k.Single {
			info.most = 1
		}
		for i := range k.Fields {
			if f := &k.Fields[i]; f.Ordinal { // each has another place
				info.most = f.Max
			}
		}
		if k.Section != "" {
			info.describe(s)
		}
	}
	return s
})

// naturalText returns the text that identifies an object by one of its natural fields, without the blanks that the service removes.
func (k *kindInfo) naturalText(o *resource.Object, f *resource.Field) string {
	if k.KeyJoin != "" {
		all, _ := k.DefaultKey(o.Text)
		return all
	}
	return strings.TrimSpace(o.Text(f.Name))
}

// hasCustomFields reports whether objects of the kind have values of fields that others define.
func (k *kindInfo) hasCustomFields() bool {
	_, ok := k.CustomFields()
	return ok
}

func (k *kindInfo) describe(s *kindSet) {
	k.props = map[string]prop{
		schema.Key: {what: isKey}, schema.ObjectID: {what: isID},
		schema.Previously: {what: isPreviously}, schema.Protect: {what: isProtect}, schema.Create: {what: isCreate},
		schema.Ignore: {what: isIgnore}, schema.OnDrift: {what: isOnDrift},
	}
	if k.Singleton {
		k.props = map[string]prop{schema.Ignore: {what: isIgnore}, schema.OnDrift: {what: isOnDrift}}
	}
	if k.Identifier != nil {
		k.props[schema.Identifier] = prop{what: isIdentifier}
	}
	for i := range k.Fields {
		f := &k.Fields[i]
		k.props[f.Path()] = prop{what: isField, field: i}
		if _, given := k.props[f.Group]; f.Group != "" && !given {
			k.props[f.Group] = prop{what: isGroup}
		}
		k.refs = k.refs || f.IsRef() || f.Type == resource.CustomFields // which may turn out to
		if f.IsRef() {
			s.byName[f.Ref].referenced = true
			if f.OrRef != "" {
				s.byName[f.OrRef].referenced = true
			}
		}
		if f.Type == resource.Ref && f.Ref == k.Name {
			k.selfRefs = append(k.selfRefs, f)
		}
	}
	for _, child := range resource.Children(k.Name) {
		k.props[child.Section] = prop{what: isSection}
		k.sections = append(k.sections, section{child.Section, s.byName[child.Name]})
	}
	if schema.TakesFolder(k.Kind) {
		k.props[schema.Folder] = prop{what: isSection}
	}
	if k.ParentField != "" {
		k.props[k.Section] = prop{what: isSection}
		k.sections = append(k.sections, section{k.Section, k})
	}
	for name := range k.props {
		k.names = append(k.names, name)
	}
	slices.Sort(k.names)
	k.shorthand, _ = k.Field(k.Short)
}

// field returns the field that is written as a property, such as name or relations.blocking.
func (k *kindInfo) field(property string) (*resource.Field, bool) {
	if p, ok := k.props[property]; ok && p.what == isField {
		return &k.Fields[p.field], true
	}
	return nil, false
}

// fieldNames are the names of the fields as they are written.
func (k *kindInfo) fieldNames() []string {
	var names []string
	for i := range k.Fields {
		names = append(names, k.Fields[i].Path())
	}
	return names
}

// kindsWith name what has a property of that name, in the plural.
func (s *kindSet) kindsWith(name string, except *kindInfo) []string {
	var labels []string
	for _, k := range resource.Kinds() {
		if info := s.byName[k.Name]; info != except && info.props != nil && name != schema.Key {
			if _, ok := info.props[name]; ok {
				labels = append(labels, diag.Plural(info.Noun()))
			}
		}
	}
	if slices.Contains(s.names, name) {
		labels = append(labels, "the document itself")
	}
	return labels
}

// mostPlaces is how many a hint names.
const mostPlaces = 4

// placementHint names what carries a property of that name, for a hint.
func (s *kindSet) placementHint(name string, except *kindInfo) string {
	labels := s.kindsWith(name, except)
	if len(labels) == 0 || len(labels) > mostPlaces {
		return ""
	}
	return "\"" + name + "\" belongs to " + enumerate(labels) + ": look at the indentation"
}

// enumerate joins words as a sentence does.
func enumerate(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// foreign reports whether a document is surely no part of a manifest: no mapping, or one without any key of a manifest, or what could
// be meant for one. version and vars are keys of other programs, too.
func (s *kindSet) foreign(root *node) bool {
	if root = resolved(root); root == nil || isNull(root) {
		return false
	}
	if root.Kind != mappingNode {
		return true
	}
	version := ""
	ours := slices.DeleteFunc(slices.Clone(s.names), func(name string) bool {
		return slices.Contains([]string{schema.Version, schema.Vars, schema.Order}, name)
	})
	for key, value := range yamltext.Pairs(root.Content) {
		if key.Value == schema.Version {
			version = value.Value
			if version == "1" && value.Style&quotedStyles == 0 {
				return false
			}
		}
	}
	for key := range yamltext.Pairs(root.Content) {
		if key.Value == "<<" || slices.Contains(ours, key.Value) || version == "" && len(diag.Typo(key.Value, ours)) > 0 {
			return false
		}
	}
	return true
}
