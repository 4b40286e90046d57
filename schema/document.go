package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/planform/planform/internal/plane/resource"
)

// site has the schema of each release under its version, and the newest schema of manifest version 1 under v1. .github/site/hooks.py
// publishes them.
const site = "https://planform.github.io/planform/schema/"

// Address returns the address of this build's schema for editors. A release has its own address, which never changes; builds between
// releases use the newest schema. The document has no $id, because its address shows the version.
func Address() string {
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path == "github.com/planform/planform" {
		version = info.Main.Version
	}
	return addressAt(version)
}

func addressAt(version string) string {
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+(-[a-z][0-9a-z.]*)?$`).MatchString(version) { // other versions are not tagged
		version = "v1"
	}
	return site + version + "/planform.schema.json"
}

const draft = "https://json-schema.org/draft/2020-12/schema"

// Patterns of properties that every object has. notBlank is for texts that cannot be cleared.
const (
	keyPattern       = `^[\p{L}\p{Nd}][\p{L}\p{Nd}._-]*$`
	idPattern        = `^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`
	colorPattern     = `^#[0-9a-fA-F]{6}$`
	urlPattern       = `^https?://[^\s]+$`
	workspacePattern = `^[A-Za-z0-9_-]{1,48}$`
	sourcePattern    = `^(https?://[^\s@?#]+|sandbox:)$`
	referencePattern = `\$\{\{.+\}\}`
	variablePattern  = `^[A-Za-z_][A-Za-z0-9_-]*$`
	notBlank         = `\S`
)

// Properties that are not fields.
const (
	Key        = "key"
	ObjectID   = "id"
	Identifier = "identifier"
	Previously = "previously"
	Protect    = "protect"
	Ignore     = "ignore_changes"
	OnDrift    = "on_drift"
	Create     = "create"
	Version    = "version"
	Workspace  = "workspace"
	Owner      = "owner"
	Order      = "order"
	Source     = "source"
	Defaults   = "defaults"
	Vars       = "vars"
	Include    = "include"
	ForEach    = "for_each"
	As         = "as"
	Folder     = "folder"
	BaseURL    = "base_url"
)

// Extension is the prefix of ignored top-level properties, which can hold anchors.
const Extension = "x-"

// Orders returns the words for the order of creation. The first one is the default.
func Orders() []string { return []string{"manifest", "exact", "any"} }

// Document returns the schema of a whole manifest, indented. It returns the same bytes each time.
func Document() []byte { return bytes.Clone(document()) }

//nolint:gochecknoglobals // computed once from the registry, never changed after
var document = sync.OnceValue(func() []byte {
	doc := object{
		{"$schema", draft},
		{"title", "planform manifest"},
		{"description", "The contents of a Plane workspace. Only fields that are written are managed: an absent field is never sent and never compared."},
		{"type", []string{"object", "null"}},
		{"additionalProperties", false},
	}
	properties := shellProperties()
	for i := range properties {
		if rules, ok := properties[i].value.(object); ok && (properties[i].name == Workspace || properties[i].name == Owner) {
			properties[i].value = allowReference(rules)
		}
	}
	for _, k := range resource.Children("") {
		properties = append(properties, member{k.Section, sectionSchema(k)})
	}
	doc = append(doc, member{"properties", properties}, member{"patternProperties", extensions()})
	defs := object{{reference, object{
		{"description", "The value of a variable, or of the element of a for_each."},
		{"type", "string"},
		{"pattern", referencePattern},
		{"patternErrorMessage", "write what the field takes" + orAReference},
	}}}
	for _, k := range resource.Kinds() {
		if k.Section != "" {
			defs = append(defs, member{k.Name, kindSchema(k, true)})
		}
	}
	return indent(addEditorMessages(append(doc, member{"$defs", defs})).(object)) //nolint:forcetypeassert // as it was
})

// editorKeyPattern is a form of keyPattern that any editor and validator understands; few know Unicode classes. It accepts more texts.
const editorKeyPattern = `^[^\s!-/:-@\[-\x60{-~][^\s!-,/:-@\[-^\x60{-~]*$`

// addEditorMessages adds an explanation to each pattern, for editors.
func addEditorMessages(value any) any {
	words := map[string]string{
		keyPattern: "write letters, digits, . _ and -, the first a letter or digit", idPattern: "write an ID, such as 8a234ec6-0000-4000-8000-000000000000",
		colorPattern: "write a colour such as \"#22c55e\", between quotes", urlPattern: "write an address that begins with http:// or https://",
		notBlank: "write a text that is not empty", "date": "write a date as YYYY-MM-DD", workspacePattern: "write the slug of a workspace, as its web address shows it",
		variablePattern: "write letters, digits, _ and -, the first a letter or _", resource.OwnerPattern: "write lower-case letters, digits, . _ and -, the first a letter or digit",
		sourcePattern: "write the base URL of a service, such as https://api.plane.so",
	}
	switch value := value.(type) {
	case object:
		message := ""
		for i, m := range value {
			text, _ := m.value.(string)
			switch m.name {
			case "pattern", "format":
				message = cmp.Or(message, words[text])
				if text == keyPattern {
					value[i].value = editorKeyPattern
				}
			case "markdownDescription":
				value[i].value = WithLinks(text, "[$1](%s)")
			default:
				value[i].value = addEditorMessages(m.value)
			}
		}
		if message != "" {
			return append(slices.Clip(value), member{"patternErrorMessage", message})
		}
		return value
	case []any:
		for i, v := range value {
			value[i] = addEditorMessages(v)
		}
	}
	return value
}

// WithLinks returns a description whose links to other pages have the form, where $1 is the text of the link, and %s stands for its address.
func WithLinks(doc, form string) string {
	return pageLink.ReplaceAllString(doc, strings.Replace(form, "%s", strings.TrimSuffix(site, "schema/")+"$2/$3", 1))
}

// pageLink matches a link in a description to another page.
var pageLink = regexp.MustCompile(`\[([^\]]+)\]\(([a-z-]+)\.md(#[^)]*)?\)`)

// shellSchema returns the schema of a document without its sections.
func shellSchema() object {
	return object{
		{"type", "object"},
		{"properties", shellProperties()},
		{"patternProperties", extensions()},
		{"additionalProperties", false},
	}
}

// extensions returns the schema of the ignored properties of a document.
func extensions() object {
	return object{{"^" + Extension, object{{"description", "Ignored: a place for YAML anchors."}}}}
}

// sectionSchema returns the schema of a list of objects of a kind.
func sectionSchema(k *resource.Kind) object {
	if k.Singleton {
		return append(descriptions(k.Doc), member{"anyOf", []any{object{{"$ref", "#/$defs/" + k.Name}}, object{{"type", "null"}}}})
	}
	types := []string{"array", "null", "string"}
	var folder object
	if TakesFolder(k) { // these keywords apply to mappings
		types = append(types, "object")
		folder = object{
			{"required", []string{Folder}},
			{"properties", object{folderProperty()}},
		}
	}
	return slices.Concat(descriptions(k.Doc), object{
		{"type", types},
		{"items", object{{"$ref", "#/$defs/" + k.Name}}},
		{"pattern", referencePattern},
		{"errorMessage", "write a list, in which each " + k.Noun() + " begins with -" + orAReference},
	}, folder)
}

// TakesFolder reports whether the files of a folder can become objects of a kind.
func TakesFolder(k *resource.Kind) bool {
	return k.ParentField != "" && slices.ContainsFunc(k.Fields, func(f resource.Field) bool { return f.Type == resource.File })
}

const (
	reference    = "reference"
	orAReference = ", or a reference such as ${{ vars.NAME }}"
)

// allowReference returns rules that also accept a reference, unless they accept any text.
func allowReference(rules object) object {
	var help, rest object
	for i, m := range rules {
		switch m.name {
		case "description", "markdownDescription", "examples":
			help = append(help, m)
			continue
		case "type":
			types, several := m.value.([]string)
			if !several {
				types = []string{m.value.(string)} //nolint:forcetypeassert // the other form of a type
			}
			if !slices.Contains(types, "string") { // the pattern is a rule for texts only
				rules = slices.Clone(rules)
				rules[i].value = append(types, "string")
				word := map[string]string{"array": "a list, such as [one, two]", "boolean": "true or false", "object": "a mapping, such as {name: value}"}[types[0]]
				return append(rules, member{"pattern", referencePattern}, member{"patternErrorMessage", "write " + cmp.Or(word, "a number") + orAReference})
			}
		}
		rest = append(rest, m)
	}
	if i := slices.IndexFunc(rest, func(m member) bool {
		return m.name == "pattern" && m.value != notBlank || m.name == "format" || m.name == "enum" || m.name == "anyOf"
	}); i < 0 {
		return rules
	}
	return append(help, member{"anyOf", []any{rest, object{{"$ref", "#/$defs/" + reference}}}})
}

// kindSchema returns the schema of an object of a kind. whole adds the sections inside it, and keywords for editors.
func kindSchema(k *resource.Kind, whole bool) object {
	types := any("object")
	short, isShort := k.Field(k.Short)
	if whole && isShort {
		types = []string{"object", "string"}
	}
	s := object{{"title", k.Noun()}}
	if whole {
		s = append(s, member{"description", withoutMarkup(k.Doc)}, member{"markdownDescription", kindMarkdown(k)})
	}
	s = append(s, member{"type", types})
	if whole && isShort { // these keywords apply to texts, the others to objects
		s = append(s, allowReference(slices.DeleteFunc(fieldSchema(short, true), func(m member) bool {
			return !slices.Contains([]string{"pattern", "format", "maxLength"}, m.name)
		}))...)
	}
	s = append(s, member{"additionalProperties", false}, member{"properties", properties(k, whole)})
	if rules := requiredRules(k); whole && len(rules) > 0 {
		s = append(s, member{"allOf", rules})
	}
	if rules := exclusions(k); len(rules) > 0 {
		word := "dependencies" // of draft 7
		if whole {
			word = "dependentSchemas"
		}
		s = append(s, member{word, rules})
	}
	return s
}

func properties(k *resource.Kind, whole bool) object {
	ps := commonProperties(k)
	if whole {
		for i := range ps {
			ps[i].value = allowReference(ps[i].value.(object)) //nolint:forcetypeassert // made above
		}
		if !k.Singleton {
			ps = append(ps, forEachProperties()...)
		}
		if TakesFolder(k) {
			ps = append(ps, folderProperty())
		}
	} else { // only editors show descriptions
		for i := range ps {
			rules, _ := ps[i].value.(object)
			ps[i].value = slices.DeleteFunc(rules, func(m member) bool {
				return m.name == "description" ||
					m.name == "markdownDescription"
			})
		}
	}
	for i := range k.Fields {
		f := &k.Fields[i]
		if whole && f.Group != "" {
			if _, beside := k.Field(f.Group); !beside && (i == 0 || k.Fields[i-1].Group != f.Group) {
				ps = append(ps, member{f.Group, groupSchema(k, f.Group)})
			}
			continue
		}
		rules := fieldSchema(f, whole)
		if whole && f.Rest {
			rules = append(rules, member{"properties", groupProperties(k, f.Name)})
		}
		if whole {
			rules = allowReference(withAttribute(rules, k, f))
		}
		ps = append(ps, member{f.Path(), rules})
	}
	if !whole {
		return ps
	}
	for _, child := range resource.Children(k.Name) {
		ps = append(ps, member{child.Section, sectionSchema(child)})
	}
	if k.ParentField != "" {
		inner := sectionSchema(k)
		inner[0].value = "Children: their " + k.ParentField + " is this one."
		inner[1].value = "Children: their `" + k.ParentField + "` is this one."
		ps = append(ps, member{k.Section, inner})
	}
	return ps
}

// groupSchema returns the schema of the mapping that holds the fields of a group.
func groupSchema(k *resource.Kind, name string) object {
	return allowReference(object{{"type", []string{"object", "null"}}, {"additionalProperties", false}, {"properties", groupProperties(k, name)}})
}

func groupProperties(k *resource.Kind, name string) (ps object) {
	for i := range k.Fields {
		if f := &k.Fields[i]; f.Group == name {
			ps = append(ps, member{f.Name, allowReference(withAttribute(fieldSchema(f, true), k, f))})
		}
	}
	return ps
}

// withAttribute returns rules that accept a member of a field as a mapping with its attribute, or require that form if the attribute is
// required.
func withAttribute(list object, k *resource.Kind, f *resource.Field) object {
	via, ok := resource.MembershipOf(k.Name, f.Name)
	if !ok || via.Membership.Attribute == nil {
		return list
	}
	a := via.Membership.Attribute
	text := object{{"type", textTypes(false)}, {"pattern", notBlank}}
	what, required, value := "E-mail address, display name or ID.", []string{a.Member}, object{{"anyOf", []any{object{{"enum", a.Values}}, text}}}
	if a.Words() != nil {
		what, required, value = "Key, identifier or ID.", append(required, a.Name), text
	}
	entry := object{
		{"type", "object"},
		{"additionalProperties", false},
		{"required", required},
		{"properties", append(object{
			{a.Member, append(object{{"description", what}}, text...)},
			{a.Name, allowReference(append(object{{"description", withoutMarkup(a.Doc)}}, value...))},
		}, forEachProperties()...)},
	}
	for i, m := range list {
		switch {
		case m.name == "items" && a.Words() != nil:
			list[i].value = entry
		case m.name == "examples":
			list[i].value = []any{Example(k, f)}
		case m.name == "items":
			list[i].value = object{{"anyOf", []any{m.value, entry}}}
		}
	}
	return list
}

// fieldSchema returns the schema of a field. whole also accepts the empty text if it clears the field; for [Check], the decoder has
// replaced it by nil.
func fieldSchema(f *resource.Field, whole bool) object {
	var s object
	if whole && f.Doc != "" {
		s = descriptions(f.Doc)
	}
	clears := f.Clear != resource.ClearNever
	switch f.Type {
	case resource.Enum:
		values := make([]any, 0, len(f.Enum)+2)
		for _, v := range f.Enum {
			values = append(values, v)
		}
		if clears {
			values = append(values, "", nil)
		}
		s = append(s, member{"enum", values})
	case resource.CustomFields:
		s = append(s, member{"type", nullable("object", true)}, member{"additionalProperties", object{{"type", append(textTypes(true), "array")}}})
	case resource.EnumSet:
		word := object{{"enum", f.Enum}}
		if f.Enum == nil {
			word = object{{"type", "string"}, {"pattern", notBlank}}
		}
		s = append(s, member{"type", nullable("array", clears)}, member{"items", word})
	case resource.RefSet:
		s = append(s, member{"type", nullable("array", clears)}, member{"items", object{{"type", textTypes(false)}, {"pattern", notBlank}}})
	default:
		s = append(s, member{"type", fieldType(f, clears, whole)})
	}
	rules := textRules(f, clears)
	if f.MaxLength > 0 {
		s = append(s, member{"maxLength", f.MaxLength})
	}
	if whole && clears && f.Type != resource.Number && !allowsEmpty(rules) {
		rules = object{{"anyOf", []any{rules, object{{"maxLength", 0}}}}}
	}
	s = append(s, rules...)
	if whole && f.Example != "" {
		s = append(s, member{"examples", []any{example(f)}})
	}
	return s
}

// fieldType returns the JSON type of a single value. An editor would offer true and false for a name that may be a boolean.
func fieldType(f *resource.Field, clears, whole bool) any {
	switch f.Type {
	case resource.Number:
		if f.Max > 0 {
			return nullable("integer", clears)
		}
		return nullable("number", clears)
	case resource.Boolean:
		return nullable("boolean", clears)
	case resource.JSON:
		return nullable("object", clears)
	case resource.Date, resource.Color, resource.URL, resource.File, resource.Upload, resource.SecretFile:
		return nullable("string", clears)
	case resource.Ref:
		return slices.DeleteFunc(textTypes(clears), func(t string) bool { return whole && t == "boolean" })
	default:
		return textTypes(clears)
	}
}

// textRules returns the rules for a single value besides its type.
func textRules(f *resource.Field, clears bool) object {
	switch f.Type { //nolint:exhaustive // other types have no more rules
	case resource.Number:
		if f.Max > 0 {
			return object{{"minimum", 0}, {"maximum", f.Max}}
		}
	case resource.Date:
		return object{{"format", "date"}}
	case resource.Color:
		return object{{"pattern", colorPattern}}
	case resource.URL:
		return object{{"pattern", urlPattern}, {"format", "uri"}}
	case resource.File, resource.Upload, resource.SecretFile:
		return object{{"pattern", notBlank}}
	case resource.Text, resource.LongText, resource.Markdown, resource.HTML, resource.Ref:
		if f.Pattern != "" {
			return object{{"pattern", f.Pattern}, {"patternErrorMessage", "write " + f.PatternDoc}}
		}
		if !clears {
			return object{{"pattern", notBlank}}
		}
	}
	return object{}
}

// allowsEmpty reports whether the empty text satisfies the rules.
func allowsEmpty(rules object) bool {
	for _, r := range rules {
		pattern, isPattern := r.value.(string)
		if r.name != "pattern" || !isPattern || !regexp.MustCompile(pattern).MatchString("") {
			return false
		}
	}
	return true
}

// Example returns the example of a field as the JSON value that an editor inserts.
func Example(k *resource.Kind, f *resource.Field) any {
	if via, ok := resource.MembershipOf(k.Name, f.Name); ok && via.Membership.Attribute.Words() != nil {
		a := via.Membership.Attribute
		said, _ := a.Words().Field(resource.Outward)
		return []any{object{{a.Member, f.Example}, {a.Name, said.Example}}}
	}
	return example(f)
}

func example(f *resource.Field) any {
	switch f.Type {
	case resource.RefSet, resource.EnumSet:
		return []string{f.Example}
	case resource.Number, resource.Boolean, resource.JSON, resource.CustomFields:
		if json.Valid([]byte(f.Example)) {
			return json.RawMessage(f.Example)
		}
	default:
	}
	return f.Example
}

// textTypes returns the JSON types of a text: every plain scalar is one, as written.
func textTypes(null bool) []string {
	if null {
		return []string{"string", "number", "boolean", "null"}
	}
	return []string{"string", "number", "boolean"}
}

func nullable(t string, null bool) any {
	if null {
		return []string{t, "null"}
	}
	return t
}

// Creatable reports whether the documented service can create objects of the kind. Other objects must exist, and a manifest identifies
// them.
func Creatable(k *resource.Kind) bool {
	_, ok := k.Op(resource.Create, resource.Documented)
	return ok
}

// identifyingNames returns the properties that each identify an object on the service.
func identifyingNames(k *resource.Kind) []string {
	names := []string{ObjectID}
	if k.Identifier != nil {
		names = append(names, Identifier)
	}
	if Creatable(k) {
		return names
	}
	names = append(names, Key)
	for _, name := range k.KeyFrom {
		if _, isField := k.Field(name); isField {
			names = append(names, name)
		}
	}
	return names
}

// requiredNames returns the required properties of an object that does not identify an existing one. If the service cannot create such
// objects, these are the identifying ones.
func requiredNames(k *resource.Kind) []string {
	if k.Singleton {
		return nil
	}
	if !Creatable(k) {
		return []string{Key}
	}
	var names []string
	for i := range k.Fields {
		if k.Fields[i].Required {
			names = append(names, k.Fields[i].Name)
		}
	}
	return names
}

// requiredRules returns the same requirements as schema rules, for a whole document.
func requiredRules(k *resource.Kind) []any {
	known := identifyingNames(k)
	if TakesFolder(k) {
		known = append(known, Folder)
	}
	var rules []any
	for _, name := range requiredNames(k) {
		others := slices.DeleteFunc(slices.Clone(known), func(other string) bool { return other == name })
		message := "write its " + name + "; for one that exists, " + strings.Join(others, " or ") + " is enough"
		var branches []any
		for _, name := range append([]string{name}, others...) {
			branches = append(branches, object{{"required", []string{name}}, {"errorMessage", message}})
		}
		rules = append(rules, object{{"anyOf", branches}})
	}
	return rules
}

// exclusions returns the rules for fields that exclude each other.
func exclusions(k *resource.Kind) object {
	var rules object
	for i := range k.Fields {
		var others object
		for j := range i {
			if k.Alternatives(&k.Fields[i], &k.Fields[j]) {
				others = append(others, member{k.Fields[j].Name, false})
			}
		}
		if len(others) > 0 {
			rules = append(rules, member{k.Fields[i].Name, object{{"properties", others}}})
		}
	}
	return rules
}

func kindMarkdown(k *resource.Kind) string {
	return k.Doc + "\n\n```yaml\n" + k.Example + "\n```"
}

// object is a JSON object with a fixed order of members.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON encodes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(m.name))
		b.WriteByte(':')
		if err := e.Encode(m.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func indent(o object) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(o); err != nil { // cannot happen: texts, lists and objects always encode
		panic(err)
	}
	return b.Bytes()
}
