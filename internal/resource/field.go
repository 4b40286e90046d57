package resource

import "regexp"

// Type is what a field holds.
type Type int

// The types. Text is one line; LongText is plain text of any length; Markdown
// is rendered to HTML before it is sent; File names a Markdown or HTML file
// below the manifest's folder; JSON is an object that is passed on as it is.
const (
	Text Type = iota
	LongText
	Markdown
	HTML
	File
	Date
	Enum
	Color
	URL
	Number
	Boolean
	JSON
	Ref
	RefSet
)

// Clear says how a field of a thing that exists is emptied.
type Clear int

// ClearNever: the service cannot. ClearNull sends null, ClearEmpty "", ClearParagraph an
// empty paragraph (the service refuses null and "" for HTML).
const (
	ClearNever Clear = iota
	ClearNull
	ClearEmpty
	ClearParagraph
)

// Field describes one field of a kind.
type Field struct {
	Name    string // in the manifest
	APIName string // in requests and answers; registration sets it to Name unless NoWire
	// AltAPIName is the name that newer editions of the service use instead, where it differs.
	AltAPIName string
	Virtual    bool // never in a body: declared by a membership only
	Type       Type
	Ref        string   // for Ref and RefSet: the kind that is named
	Enum       []string // for Enum: the values
	Required   bool     // a thing cannot be created without it
	Immutable  bool     // cannot be changed once the thing exists
	// Documented is set where the contract names the field for creating or updating.
	Documented bool
	MaxLength  int      // in characters; 0 = no limit known
	Max        int      // for Number: it is a whole number from 0 to this; 0 = any number
	Pattern    string   // regular expression that the text must match, anchored; "" = any
	PatternDoc string   // what the pattern asks for, for people
	Forbidden  string   // characters that the service refuses in the text
	Reserved   []string // texts that the service keeps to itself
	Unique     bool     // the service refuses a second thing of one parent with the same text
	Pair       string   // the field that must have a value too if this one has
	Zone       bool     // the text is the name of a time zone
	Clear      Clear
	NotBefore  string // for Date: the field whose date this one must not precede
	// Initial is the text that a create sends where the manifest gives none; "" = nothing.
	Initial string
	// Default is what the service gives a new thing where nothing is said, if that is
	// the same on every edition; "" = nothing, and false for a Boolean.
	Default string
	// LiteralPattern is a pattern of texts that a field which names things sends as they are
	// with the documented operations; "" = none.
	LiteralPattern string
	// Group is the mapping in the manifest inside which the field is written, such as relations; "" = none.
	Group string
	// CrossProject is set where what is named may live elsewhere than the thing itself. It
	// is named by its readable identifier, or by the key of what it lives in and its own, such as web/checkout.
	CrossProject bool
	// MustBeMemberOf is the membership of something that the thing lives in which whoever is
	// named must have first, such as project_member; "" = none. Out of a set the
	// service drops who has not, in silence.
	MustBeMemberOf string
	// AddsMember is set where a create makes a member of whoever is named, as of who leads a project.
	AddsMember bool
	// ParentDefault is the field of the parent whose value a new thing gets where this
	// one names nobody, such as default_assignee; "" = none.
	ParentDefault string
	// DefaultFlag is the Boolean of what this field names that marks the one which a
	// new thing gets where nothing is said, such as the default of a state; "" = none.
	DefaultFlag string
	// SetAfterCreate is set where a create does not take the field: an update right after it does.
	SetAfterCreate bool
	// AlwaysSend is set where an update that leaves the field out makes the service take
	// another value: it is sent with each.
	AlwaysSend bool
	// ArchivableValues are the values of an Enum with one of which a thing can be archived; empty = any.
	ArchivableValues []string
	// ArchiveFlag is set on the field that says whether a thing is archived: Archive and
	// Unarchive make it so, and answers show since when it is.
	ArchiveFlag bool
	// EnumAsIndex is set where the service gives the values of an Enum the numbers of their places.
	EnumAsIndex bool
	// WriteOnly is set where answers never show the field, so that it is compared with the state only.
	WriteOnly bool
	Doc       string // for people, Markdown
	Example   string

	literal *regexp.Regexp // Plain; nil = none
}

// zonePattern is the form of the names in the tz database.
const zonePattern = `^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`

func (f *Field) complete() {
	if f.APIName == "" && !f.Virtual {
		f.APIName = f.Name
	}
	if f.LiteralPattern != "" {
		f.literal = regexp.MustCompile(f.LiteralPattern)
	}
}

// CreateOnly reports whether only a create takes the field, and nothing compares it later:
// what a thing brings along from where it was before.
func (f *Field) CreateOnly() bool { return f.Immutable && f.WriteOnly }

// Path is where the field is written in its object, such as relations.blocking.
func (f *Field) Path() string {
	if f.Group == "" {
		return f.Name
	}
	return f.Group + "." + f.Name
}

// IsRef reports whether the field names other things.
func (f *Field) IsRef() bool { return f.Type == Ref || f.Type == RefSet }

// Rich reports whether the field is sent as HTML.
func (f *Field) Rich() bool { return f.Type == Markdown || f.Type == HTML || f.Type == File }

// Me is the text that stands, where a person is named, for whom the credential belongs to.
const Me = "me"

// Literal is what is sent for a reference to something of the service without
// looking it up: its ID, or with the documented operations a text of the
// field's Plain form; "" = it is a name.
func (f *Field) Literal(api API, r *Reference) string {
	if r.ID == "" && api == Documented && f.literal != nil && f.literal.MatchString(r.Text) {
		return r.Text
	}
	return r.ID
}
