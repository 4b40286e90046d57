package resource

import (
	"cmp"
	"regexp"
)

// Type is the type of a field's values.
type Type int

// The types. Text is one line; LongText is plain text of any length; Markdown
// is rendered to HTML before it is sent; File names a Markdown or HTML file
// below the manifest's folder, and Upload one that is sent as it is; JSON is an object that
// is sent as written; EnumSet is a list of words, whose order does not matter. CustomFields is a mapping: each entry is the value of a field of its
// own, see [CustomField]. SecretFile names a file below the manifest's folder that planform
// writes: the secret that the service shows once, in the answer to a create.
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

// ClearNever: the service cannot. ClearNull sends null, ClearEmpty "", ClearParagraph an
// empty paragraph (the service refuses null and "" for HTML).
const (
	ClearNever Clear = iota
	ClearNull
	ClearEmpty
	ClearParagraph
)

// Dialect is a way in which the service names fields in bodies and rows.
type Dialect int

// ContractDialect is that of the documentation, NewerDialect that of newer editions with API v1, and V2Dialect that of the
// bodies of API v2.
const (
	ContractDialect Dialect = iota
	NewerDialect
	V2Dialect
)

// Wire is what a field is called in each dialect. A descriptor gives the names that differ: the contract's differs from the
// manifest's, the others from the contract's. Registration fills in the rest, unless the field is Virtual.
type Wire [V2Dialect + 1]string

// NotTaken stands in a [Wire] for a dialect whose bodies do not take the field.
const NotTaken = "-"

// Field describes one field of a kind.
type Field struct {
	Name string // in the manifest
	Wire Wire   // in requests and responses
	// ShownIn is the object of a row that holds the field, such as attributes; "" = the row itself.
	ShownIn string
	// Within is the object of bodies and rows that holds the field, such as filters of a view; "" = the body or row itself. An
	// update replaces that object: its fields are sent with each (see AlwaysSend), and without a value they are not in it. Rest
	// is set for the one that holds what the others do not know. If it bears the name of their group, that stands beside them.
	Within string
	Rest   bool
	// BaseOf is the field whose file gives the default, by the last part of its name; "" = none does.
	BaseOf string
	// Ordinal is set where a new object gets its place in the manifest's list, from 1, if none is written.
	Ordinal bool
	// Header is set where the value leads the object's rich text, since the service shows its own: of a
	// comment the author, and the time. Nothing else of a Virtual one is sent, and API v2 needs no other.
	Header bool
	// PersonIn are the fields of a row of which the first one there names the person that a Header is about.
	PersonIn []string
	// Group is the mapping in the manifest that holds the field, such as relations; "" = none.
	Group     string
	Virtual   bool // never in a body: a membership declares it, or it is part of a header
	Type      Type
	Ref       string   // for Ref and RefSet: the kind of the target
	Enum      []string // for Enum and EnumSet: the values; an EnumSet without takes any words
	Required  bool     // every create sends it
	Immutable bool     // no update takes it
	// Past is set where the field is of an imported object's past, such as its author: a name that nobody knows leaves it out, and
	// the answer to a create shows another value than it has stored.
	Past bool
	// Documented is set where the contract lists the field for creating or updating.
	Documented bool
	Clear      Clear
	AsSent     bool // the service stores the HTML as it was sent, and removes nothing
	MaxLength  int  // in characters; 0 = no limit known
	Max        int  // for Number: whole numbers from 0 to this; 0 = any number
	Unique     bool // the service refuses the same text twice within one parent
	// UniqueOnCreate is set where it refuses that of a new object only.
	UniqueOnCreate bool
	Pair           string // the field that must have a value too if this one has
	NotBefore      string // for Date: the field whose date is the earliest this one may have
	// Words replace values in what people read.
	Words map[string]string
	// Initial is the text that a create sends where the manifest gives none; "" = nothing.
	// InitialBy has others, by the text of the field "type".
	Initial   string
	InitialBy map[string]string
	// Default is the value that every edition of the service gives a new object if none is
	// sent; "" = none, and false for a Boolean.
	Default string
	// SetAfterCreate is set where a create does not take the field: an update right after it does.
	SetAfterCreate bool
	// OnAfterCreate is set for a switch that takes effect only in an update: a create leaves it off.
	OnAfterCreate bool
	// RequiresFeature is, for a Boolean, the switch that must be on before an object is made with it: one as [Lifecycle] has it; "" = none.
	RequiresFeature string
	// Exclusive is set where one of all siblings is meant to have the field, such as the default state. A create takes it
	// from the others; an update leaves several.
	Exclusive bool
	// AlwaysSend is set where an update without the field makes the service change the field's value, or refuse the update since the
	// object is locked: each update sends it.
	AlwaysSend bool
	// ArchiveFlag marks the field that says whether an object is archived. The verbs
	// Archive and Unarchive set it; responses show the time of the archiving.
	ArchiveFlag bool
	// ArchivableValues are the values of an Enum that allow archiving; empty = all.
	ArchivableValues []string
	// Codes are the numbers that the service has for the values of an Enum; empty = it has the words. EnumInCapitals is set where
	// it writes those in capitals.
	Codes          []int
	EnumInCapitals bool
	// DefinedBy is, for CustomFields, the kind whose objects define the fields, such as work_item_property: those in the object
	// that the field DefinedIn names, such as type; "" = all of the workspace.
	DefinedBy, DefinedIn string
	// Definition is the object that defines a custom field; nil = the kind does.
	Definition *Object
	TextRules
	RefRules
	Doc     string // for people, Markdown
	Example string

	literal  *regexp.Regexp // LiteralPattern; nil = none
	siblings []*Field       // for Rest: the other fields within the same object
}

// TextRules restrict a text. The zero value allows any.
type TextRules struct {
	Pattern    string   // anchored regular expression that the text must match; "" = any
	PatternDoc string   // what Pattern asks for, in words
	Forbidden  string   // characters that the service refuses
	Reserved   []string // texts that the service keeps for itself
	Zone       bool     // a name of the tz database
}

// RefRules say how a Ref or RefSet finds its target, and what the service requires of it.
type RefRules struct {
	// LiteralPattern is the form of texts that the documented operations take as they
	// are, such as estimate points; "" = none.
	LiteralPattern string
	// OrRef is the kind of objects of the workspace that the field can name too, where what it lives in has none of the name; "" = none.
	OrRef string
	// CrossProject is set where the target may be in another project. The manifest
	// names it by its readable identifier or by the keys of both, such as web/checkout.
	CrossProject bool
	// MustBeMemberOf is the membership that the target must have first, such as
	// project_member for assignees; "" = none. The service drops others from a set
	// without an error.
	MustBeMemberOf string
	// MemberRole is the least value of that membership's attribute with which the service takes the
	// target, such as member for assignees; "" = any.
	MemberRole string
	// AddsMember is set where a create makes the target a member, such as a project's lead.
	AddsMember bool
	// ParentDefault is the field of the parent that a new object takes its value from
	// where this one is empty, such as default_assignee; "" = none.
	ParentDefault string
	// SentAs is the field of the target whose own target a body names in its place, such as the state of a workflow's state; "" = it
	// names the target.
	SentAs string
	// DefaultFlag is the Boolean that marks the target a new object gets where nothing
	// is sent, such as default of a state; "" = none.
	DefaultFlag string
}

// zonePattern is the form of the names in the tz database.
const zonePattern = `^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`

func (f *Field) complete() {
	if f.Wire[ContractDialect] == "" && !f.Virtual {
		f.Wire[ContractDialect] = f.Name
	}
	for d := range f.Wire {
		f.Wire[d] = cmp.Or(f.Wire[d], f.Wire[ContractDialect])
	}
	if f.LiteralPattern != "" {
		f.literal = regexp.MustCompile(f.LiteralPattern)
	}
}

// nameIn is the field's name in bodies of a dialect; "" = they have none.
func (f *Field) nameIn(d Dialect) string {
	if f.Wire[d] == NotTaken {
		return ""
	}
	return f.Wire[d]
}

// APIName is the field's name in requests and responses, in the contract's words where the contract has some; "" = it is in none.
func (f *Field) APIName() string { return cmp.Or(f.nameIn(ContractDialect), f.nameIn(V2Dialect)) }

// OnlyV2 reports whether API v1 does not take the field.
func (f *Field) OnlyV2() bool { return f.Wire[ContractDialect] == NotTaken }

// Renamed reports whether newer editions have another name for the field.
func (f *Field) Renamed() bool { return f.Wire[NewerDialect] != f.Wire[ContractDialect] }

// CreateOnly reports whether only a create takes the field, and nobody changes it later, such as created_at of an imported work
// item: it is not compared.
func (f *Field) CreateOnly() bool { return f.Immutable && f.Past }

// Path is where the field is written in its object, such as relations.blocking.
func (f *Field) Path() string {
	if f.Group == "" {
		return f.Name
	}
	return f.Group + "." + f.Name
}

// Holds reports whether another field is written in the mapping that is the value of this one.
func (f *Field) Holds(other *Field) bool { return f.Rest && f.Name == other.Group }

// Empties reports whether an object that says nothing of the field has nothing in it, or its default, unless somebody changes that.
func (f *Field) Empties() bool {
	return !f.Virtual && !f.Immutable && !f.Past && !f.ArchiveFlag && (f.Clear != ClearNever || f.Default != "")
}

// IsRef reports whether the field names other objects.
func (f *Field) IsRef() bool { return f.Type == Ref || f.Type == RefSet }

// IsWord reports whether the values are numbers, names and other words of a small language, not free text. Messages do not
// quote words.
func (f *Field) IsWord() bool {
	switch f.Type {
	case Text, LongText, Markdown, HTML, File, Upload, SecretFile:
		return false
	case Date, Enum, EnumSet, Color, URL, Number, Boolean, JSON, Ref, RefSet, CustomFields:
		return true
	default:
		return false
	}
}

// Rich reports whether the field is sent as HTML.
func (f *Field) Rich() bool { return f.Type == Markdown || f.Type == HTML || f.Type == File }

// NeverEmpty reports whether an object always names another one in the field, such as its state.
func (f *Field) NeverEmpty() bool { return f.Type == Ref && f.Clear == ClearNever }

// SharesAPIName reports whether two fields are two ways to write one, such as a description in Markdown and as HTML.
func (f *Field) SharesAPIName(other Field) bool {
	return f.APIName() != "" && f.APIName() == other.APIName()
}

// OneText reports whether two fields of a kind, by their names, are two ways to write one.
func (k *Kind) OneText(a, b string) bool {
	one, known := k.Field(a)
	other, alsoKnown := k.Field(b)
	return known && alsoKnown && one.SharesAPIName(*other)
}

// Me names the user that the credential belongs to.
const Me = "me"

// Literal is the text that is sent for a reference without a look-up: its ID, or with the
// documented operations a text of the field's LiteralPattern; "" = the reference is a name.
func (f *Field) Literal(api API, r *Reference) string {
	if r.ID == "" && api == Documented && f.literal != nil && f.literal.MatchString(r.Text) {
		return r.Text
	}
	return r.ID
}
