package resource

import "cmp"

// Type is the type of a field's values.
type Type int

// The types. Text is one line; LongText is plain text of any length; Markdown is rendered to HTML before it is sent. File names a Markdown
// or HTML file below the manifest's folder, and Upload a file that is uploaded unchanged. JSON is an object that is sent as written.
// EnumSet is a set of words. CustomFields is a mapping of custom fields to their values, see [CustomField]. SecretFile names a file below
// the manifest's folder into which planform writes the secret that the service shows once, in the answer to a create.
const (
	Text Type = iota
	LongText
	Markdown
	HTML
	File
	Upload
	Date
	Enum
	Color
	URL
	Number
	Boolean
	JSON
	Ref
	RefSet
	CustomFields
	EnumSet
	SecretFile
)

// Clear is the way to empty a field of an existing object.
type Clear int

// ClearNever: the service cannot empty the field. ClearNull sends null, ClearEmpty sends "", ClearParagraph sends an empty paragraph (the
// service refuses null and "" for HTML).
const (
	ClearNever Clear = iota
	ClearNull
	ClearEmpty
	ClearParagraph
)

// Dialect is a set of field names that the service uses in bodies and rows.
type Dialect int

// ContractDialect has the names of the documentation, NewerDialect those of newer editions with API v1, and V2Dialect those of API v2.
const (
	ContractDialect Dialect = iota
	NewerDialect
	V2Dialect
)

// Wire holds the name of a field in each dialect. A descriptor lists only names that differ: for the contract from the name in the
// manifest, for the others from the contract's name. Registration fills in the rest, except for Virtual fields.
type Wire [V2Dialect + 1]string

// NotTaken in a [Wire] marks a dialect whose bodies do not have the field.
const NotTaken = "-"

// Field describes one field of a kind.
type Field struct {
	Name string // in the manifest
	Wire Wire   // in requests and responses
	// read returns the raw value of the field in a row; nil = the row has it under the field's name, or in the object Within.
	read func(Row) (value any, shown bool)
	// Within is the object of bodies and rows that holds the field, such as filters of a view; "" = the body or row itself. An update
	// replaces the whole inner object, so its fields are always sent (see AlwaysSend), except empty ones.
	Within string
	// Rest is set for the field that holds the unknown contents of the object Within. If it has the name of the Group of the others, they
	// are written inside it.
	Rest bool
	// Implied returns the value of a new object if the manifest has none, or nil. nil instead of a function: there is never one.
	Implied func(o *Object) *Value
	// Person returns the ID of the person in a row whose name an export writes, such as the author of a comment; nil = the field names
	// nobody.
	Person func(Row) string
	// Group is the mapping in the manifest that holds the field, such as relations; "" = none.
	Group     string
	Virtual   bool // never in a body: a membership sets it, or it becomes part of a text
	Type      Type
	Ref       string   // for Ref and RefSet: the kind of the target
	Enum      []string // for Enum and EnumSet: the values; an EnumSet without values takes any word
	Required  bool     // every create sends it
	Immutable bool     // no update takes it
	// Past is set if the field belongs to the past of an imported object, such as its author. An unknown name is left out, and the answer
	// to a create shows another value than the one that is stored.
	Past bool
	// Documented is set if the contract lists the field for a create or an update.
	Documented bool
	Clear      Clear
	MaxLength  int  // in characters; 0 = no known limit
	Max        int  // for Number: whole numbers from 0 to Max; 0 = any number
	Unique     bool // the service refuses the same text twice within one parent
	// uniqueOnCreate is set if the service refuses a used text only in a create.
	uniqueOnCreate bool
	NotBefore      string // for Date: the field with the earliest allowed date
	// Initial is the text that a create sends if the manifest has none; "" = nothing. initialFor returns the text for an object that has
	// one of its own; nil = none has.
	Initial    string
	initialFor func(o *Object) string
	// Default is the value that every edition gives a new object if none is sent. "" = none, and false for a Boolean.
	Default string
	// SetAfterCreate is set if creates do not take the field. An update follows the create.
	SetAfterCreate bool
	// OnAfterCreate is set for a feature flag that only an update can switch on.
	OnAfterCreate bool
	// RequiresFeature is, for a Boolean, the feature flag that must be on before an object is created with it, as in [Lifecycle]; "" =
	// none.
	RequiresFeature string
	// Exclusive is set if only one of all siblings should have the field, such as the default state. A create takes it from the others; an
	// update leaves it to several. The object with the field is the default of fields that refer to its kind.
	Exclusive bool
	// AlwaysSend is set if every update must send the field. Otherwise the service changes its value, or refuses the update because the
	// object is locked.
	AlwaysSend bool
	// ArchiveFlag marks the field that tells whether an object is archived. The verbs Archive and Unarchive set it. Responses show the time
	// of archiving.
	ArchiveFlag bool
	// Codes are the service's numbers for the values of an Enum; empty = it uses the words. EnumInCapitals is set if it writes the words in
	// capitals.
	Codes          []int
	EnumInCapitals bool
	// DefinedBy is, for CustomFields, the kind whose objects define the fields, such as work_item_property. The definitions are inside the
	// object that the field DefinedIn names, such as type; "" = in the workspace.
	DefinedBy, DefinedIn string
	// Definition is the object that defines a custom field; nil = the kind defines the field.
	Definition *Object
	TextRules
	RefRules
	Doc     string // for people, Markdown
	Example string

	siblings []*Field // for Rest: the other fields in the same object
}

// TextRules restricts a text. The zero value allows any text.
type TextRules struct {
	Pattern    string // anchored regular expression that the text must match; "" = any
	PatternDoc string // description of Pattern
	Forbidden  string // characters that the service refuses
	Zone       bool   // a name of the tz database
}

// RefRules holds the rules by which a Ref or RefSet finds its target, and the service's conditions for the target.
type RefRules struct {
	// IsLiteral reports whether the documented operations take a text without a lookup, such as an estimate point; nil = they take none.
	IsLiteral func(text string) bool
	// OrRef is the kind of workspace objects that the field can refer to if the project has no object of that name; "" = none.
	OrRef string
	// CrossProject is set if the target may be in another project. The manifest names it by its readable identifier, or by both keys, such
	// as web/checkout.
	CrossProject bool
	// MustBeMemberOf is the membership that the target must have first, such as project_member for assignees; "" = none. The service
	// silently drops other targets from a set.
	MustBeMemberOf string
	// MemberRole is the lowest value of that membership's attribute that the service accepts for the target, such as member for assignees;
	// "" = any.
	MemberRole string
	// AddsMember is set if a create makes the target a member, such as a project's lead.
	AddsMember bool
	// ParentDefault is the parent's field with the default for new objects, such as default_assignee; "" = none.
	ParentDefault string
	// sent returns the ID that a body has for a target of the manifest; nil = its own ID.
	sent func(target *Object, id IDResolver) (string, bool)
}

// Ordinal reports whether the default for a new object is its place in the manifest's list, from 1.
func (f *Field) Ordinal() bool { return f.Type == Number && f.Implied != nil }

// zonePattern matches names of the tz database.
const zonePattern = `^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`

func (f *Field) fillWire() {
	if f.Wire[ContractDialect] == "" && !f.Virtual {
		f.Wire[ContractDialect] = f.Name
	}
	for d := range f.Wire {
		f.Wire[d] = cmp.Or(f.Wire[d], f.Wire[ContractDialect])
	}
}

// nameIn returns the field's name in bodies of a dialect; "" = they do not have it.
func (f *Field) nameIn(d Dialect) string {
	if f.Wire[d] == NotTaken {
		return ""
	}
	return f.Wire[d]
}

// APIName returns the field's name in requests and responses, preferably the contract's; "" = it has none.
func (f *Field) APIName() string { return cmp.Or(f.nameIn(ContractDialect), f.nameIn(V2Dialect)) }

// OnlyV2 reports whether API v1 does not take the field.
func (f *Field) OnlyV2() bool { return f.Wire[ContractDialect] == NotTaken }

// Renamed reports whether newer editions have another name for the field.
func (f *Field) Renamed() bool { return f.Wire[NewerDialect] != f.Wire[ContractDialect] }

// CreateOnly reports whether only a create sets the field, such as created_at of an imported work item. It is not compared.
func (f *Field) CreateOnly() bool { return f.Immutable && f.Past }

// Path returns the path of the field in its object, such as relations.blocking.
func (f *Field) Path() string {
	if f.Group == "" {
		return f.Name
	}
	return f.Group + "." + f.Name
}

// Holds reports whether another field is written inside the mapping of this field.
func (f *Field) Holds(other *Field) bool { return f.Rest && f.Name == other.Group }

// Empties reports whether an object without a value for the field has it empty, or has the default, unless somebody changes it.
func (f *Field) Empties() bool {
	return !f.Virtual && !f.Immutable && !f.Past && !f.ArchiveFlag && (f.Clear != ClearNever || f.Default != "")
}

// IsRef reports whether the field names other objects.
func (f *Field) IsRef() bool { return f.Type == Ref || f.Type == RefSet }

// IsWord reports whether the values are numbers, names or other words, and not free text. Messages do not quote words.
func (f *Field) IsWord() bool {
	switch f.Type {
	case Text, LongText, Markdown, HTML, File, Upload, SecretFile:
		return false
	default:
		return true
	}
}

// Rich reports whether the field is sent as HTML.
func (f *Field) Rich() bool { return f.Type == Markdown || f.Type == HTML || f.Type == File }

// NeverEmpty reports whether the field always has a target, such as the state of a work item.
func (f *Field) NeverEmpty() bool { return f.Type == Ref && f.Clear == ClearNever }

// SharesAPIName reports whether two fields write the same value, such as a description in Markdown and in HTML.
func (f *Field) SharesAPIName(other Field) bool {
	return f.APIName() != "" && f.APIName() == other.APIName()
}

// OneText reports whether two fields of a kind, given by name, write the same value.
func (k *Kind) OneText(a, b string) bool {
	one, known := k.Field(a)
	other, alsoKnown := k.Field(b)
	return known && alsoKnown && one.SharesAPIName(*other)
}

// Me is the name of the credential's own user.
const Me = "me"

// Literal returns the text that is sent for a reference without a lookup: its ID, or with the documented operations a text that they take
// as it is; "" = the reference needs a lookup.
func (f *Field) Literal(api API, r *Reference) string {
	if r.ID == "" && api == Documented && f.IsLiteral != nil && f.IsLiteral(r.Text) {
		return r.Text
	}
	return r.ID
}
