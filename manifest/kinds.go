package manifest

import (
	"slices"
	"strings"
	"sync"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/yamltext"
	"github.com/planform/planform/schema"
)

// kindInfo holds facts about a kind that reading needs. They are derived once from its descriptor.
type kindInfo struct {
	*resource.Kind
	props      map[string]prop
	names      []string        // of all properties, sorted
	shorthand  *resource.Field // the field that a bare text gives
	most       int             // how many objects of the kind a parent can have; 0 = any number
	creatable  bool            // the documented service can create such objects, so they must be complete, and are not merged
	natural    []*resource.Field
	referenced bool // a field of some kind refers to this kind
	refs       bool // the kind has fields that refer to objects
	selfRefs   []*resource.Field
	sections   []section
}

// prop describes a property of an object.
type prop struct {
	what  propKind
	field int // for isField: index in the kind's fields
}

// section is a list of children of one kind inside an object.
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

// kindSet holds all kinds. It is not changed after it was made.
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
		if k.NamedByAll() { // no single field identifies such an object
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
			if f := &k.Fields[i]; f.Ordinal() { // every object has another ordinal
				info.most = f.Max
			}
		}
		if k.Section != "" {
			info.addProperties(s)
		}
	}
	return s
})

// naturalText returns the text that identifies an object by a natural field, trimmed like the service trims it.
func (k *kindInfo) naturalText(o *resource.Object, f *resource.Field) string {
	if k.NamedByAll() {
		all, _ := k.DefaultKey(o.Text)
		return all
	}
	return strings.TrimSpace(o.Text(f.Name))
}

func (k *kindInfo) addProperties(s *kindSet) {
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
		k.refs = k.refs || f.IsRef() || f.Type == resource.CustomFields // custom fields may turn out to be references
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

// field returns the field of a property, such as name or relations.blocking.
func (k *kindInfo) field(property string) (*resource.Field, bool) {
	if p, ok := k.props[property]; ok && p.what == isField {
		return &k.Fields[p.field], true
	}
	return nil, false
}

// fieldNames returns the names of the fields as manifests write them.
func (k *kindInfo) fieldNames() []string {
	var names []string
	for i := range k.Fields {
		names = append(names, k.Fields[i].Path())
	}
	return names
}

// kindsWith returns the plural names of the kinds that have a property.
func (ks *kindSet) kindsWith(name string, except *kindInfo) []string {
	var labels []string
	for _, k := range resource.Kinds() {
		if info := ks.byName[k.Name]; info != except && info.props != nil && name != schema.Key {
			if _, ok := info.props[name]; ok {
				labels = append(labels, diag.Plural(info.Noun()))
			}
		}
	}
	if slices.Contains(ks.names, name) {
		labels = append(labels, "the document itself")
	}
	return labels
}

// maxHintPlaces limits the kinds that a hint names.
const maxHintPlaces = 4

// placementHint returns a hint that names the kinds with such a property.
func (ks *kindSet) placementHint(name string, except *kindInfo) string {
	labels := ks.kindsWith(name, except)
	if len(labels) == 0 || len(labels) > maxHintPlaces {
		return ""
	}
	return "\"" + name + "\" belongs to " + enumerate(labels) + ": check the indentation"
}

// enumerate joins words with commas and "and".
func enumerate(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// countKeys counts the keys of a document that belong to manifests, with their misspellings and other words for lists, and the keys that do
// not. The keys version, vars and order do not count, because other programs use them too; beside another version, only exact names are
// known. certain is set if a key shows that the document is a manifest.
func (ks *kindSet) countKeys(pairs []*node) (known, unknown int, certain bool) {
	versioned := slices.ContainsFunc(pairs, func(n *node) bool { return n.Value == schema.Version })
	for key, value := range yamltext.Pairs(pairs) {
		switch name := key.Value; {
		case name == schema.Version && value.Value == "1" && value.Style&quotedStyles == 0, name == schema.Workspace, name == "projects", name == "<<":
			certain = true
		case name == schema.Version, name == schema.Vars, name == schema.Order, strings.HasPrefix(name, schema.Extension):
		case slices.Contains(ks.names, name), !versioned && (len(diag.Typo(name, ks.names)) > 0 || meansList(name)):
			known++
		default:
			unknown++
		}
	}
	return known, unknown, certain
}

// meansList reports whether a key is a list of objects, or a word for one, such as issues for work_items.
func meansList(key string) bool {
	names := append(candidates(snakeCase(key)), key)
	return slices.ContainsFunc(resource.Kinds(), func(k *resource.Kind) bool { return slices.Contains(names, k.Section) })
}

// isOtherFormat reports whether a document of a folder certainly belongs to another program, because none of its keys is known.
func (ks *kindSet) isOtherFormat(root *node) bool {
	if root = resolved(root); root == nil || isNull(root) {
		return false
	}
	known, _, certain := ks.countKeys(root.Content)
	return root.Kind != mappingNode || known == 0 && !certain
}
