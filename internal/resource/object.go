package resource

import (
	"cmp"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/markup"
)

// Object is one desired object of a manifest. Only written fields have a value.
type Object struct {
	Kind       *Kind
	Address    Address
	Key        string
	Parent     *Object  // nil = the workspace
	ID         string   // the service's ID where the manifest gives it, in lower case
	Identifier string   // the readable identifier where the manifest gives it
	Source     *Source  // the workspace of ID and Identifier; nil = the manifest's target
	Origin     *Origin  // what it is in the source, if that is another workspace; nil = the manifest does not say
	Exported   bool     // ID and Identifier are of an export of the target itself: what is gone is looked for by name, and created again
	Previously []string // former keys
	Protect    *bool    // true = never to be deleted; nil = as in the state
	NoCreate   bool     // the object must exist already
	Policy     *Policy  // what becomes of changes that people make on the service; nil = what the run says
	Values     []Value  // in the order of the kind's fields
	Position   diag.Position
	Files      []string // the manifests that hold it, sorted
	Outer      *Object  // the object of the same kind in which it is written, or nil
	Index      int      // its index in the list that holds it
	Omitted    []Omission
	Implied    bool // written nowhere: it only switches on what others need
}

// Value is the value of one field in a manifest.
type Value struct {
	Field   *Field
	Text    string    // as written; for File the content of the file; for JSON its text
	Null    bool      // written as null, or as an empty text or list: the field is to be cleared
	Header  string    // Markdown that leads the text; see [Object.MoveHeader]
	AsHTML  bool      // for File and Markdown: the text is HTML already
	Content *Content  // for Upload: the file that Text names
	File    *TextFile // that the value stands in; nil = in a manifest
	Secret  *Secret   // for SecretFile: the file that Text names
	// Targets are the addresses of the objects that the relative links of a text mean, by the target as HTML has it.
	Targets  map[string]string
	Refs     []Reference
	Words    []Reference     // of an EnumSet: its words, where they are written
	Links    []Reference     // of a rich text: the objects that it names by links to their addresses, each once
	Origins  []diag.Position // of the texts that references in it lead to, such as cells of a table; nil = it is written as it is
	Implied  bool            // not written: a create sends it, and nothing compares it
	AsShown  bool            // as the service has it, not as written: an update must say it, and the state does not keep it
	Position diag.Position
}

// Policy says what becomes of changes that people make to an object on the service. Objects may share it.
type Policy struct {
	Ignore    []*Field // fields that are theirs as soon as the object exists
	IgnoreAll bool     // all fields are
	OnDrift   string   // overwrite, keep or fail; "" = what the run says
}

// DriftPolicies are the words for what becomes of a field that somebody changed on the service.
func DriftPolicies() []string { return []string{"overwrite", "keep", "fail"} }

// Ignores reports whether a field is people's as soon as the object exists.
func (o *Object) Ignores(f *Field) bool {
	return o.Policy != nil && (o.Policy.IgnoreAll || slices.ContainsFunc(o.Policy.Ignore, func(g *Field) bool {
		return g == f || g.Holds(f) || f.APIName() != "" && f.APIName() == g.APIName() || f.Definition != nil && g.Type == CustomFields
	}))
}

// TextFile is a file with the text of an object.
type TextFile struct {
	Path   string // "" = there is none: the object is a folder
	Dir    string // folder of the manifest, which it must not leave
	Titled bool   // its title is the name of the object, and no part of the text
}

// Content is a file that is sent as it is.
type Content struct {
	Size   int64
	SHA256 string // in hexadecimal digits
	Media  string // media type
	Open   func() (io.ReadCloser, error)
}

// Secret is a file that keeps a secret, which the service shows once.
type Secret struct {
	Path string // of the file
	// Filled is set if the file had something in it when the manifest was read.
	Filled bool
	// Kept reports whether the file has something in it now. A file outside of the manifest's folder is an error.
	Kept func() (bool, error)
}

// String is the canonical form: the service shows only the size.
func (c *Content) String() string { return strconv.FormatInt(c.Size, 10) + " sha256:" + c.SHA256 }

// Secret is the file for the object's secret, or nil.
func (o *Object) Secret() *Secret {
	if v := o.SecretValue(); v != nil {
		return v.Secret
	}
	return nil
}

// SecretValue is the value that names the file for the object's secret, or nil.
func (o *Object) SecretValue() *Value {
	if o == nil || o.Kind.Secret == "" {
		return nil
	}
	for i := range o.Values {
		if o.Values[i].Secret != nil {
			return &o.Values[i]
		}
	}
	return nil
}

// Reference names another object: one of the manifest, or one of the service by ID or name.
type Reference struct {
	Text   string  // as written
	Target *Object // the object of the manifest; nil = one of the service
	ID     string  // the service's ID if the text is one, in lower case; of a link in a text: the page, once it is known
	Source *Source // the workspace of an ID or readable identifier; nil = the manifest's target
	// Attribute is the value of a membership's attribute in the manifest, such as a role; "" = none.
	Attribute string
	Position  diag.Position
}

// Written counts the objects that a manifest writes.
func Written(objects []*Object) int {
	n := len(objects)
	for _, o := range objects {
		if o.Implied {
			n--
		}
	}
	return n
}

// Protected reports whether the object is never to be deleted. last decides where the
// manifest does not say.
func (o *Object) Protected(last bool) bool {
	if o.Protect == nil {
		return last
	}
	return *o.Protect
}

// Value returns the value of the field of that name.
func (o *Object) Value(field string) (*Value, bool) {
	for i := range o.Values {
		if o.Values[i].Field.Name == field {
			return &o.Values[i], true
		}
	}
	return nil, false
}

// ValueAt returns the value of the field with that path.
func (o *Object) ValueAt(path string) (*Value, bool) {
	i := slices.IndexFunc(o.Values, func(v Value) bool { return v.Field.Path() == path })
	if i < 0 {
		return nil, false
	}
	return &o.Values[i], true
}

// Text returns the text of a field, or "".
func (o *Object) Text(field string) string {
	if v, ok := o.Value(field); ok {
		return v.Text
	}
	return ""
}

// Initial is the text of a field that a create sends although the object gives none, or "".
func (o *Object) Initial(f *Field) string {
	if o.Writes(f) {
		return ""
	}
	return cmp.Or(f.InitialBy[o.Text("type")], f.Initial)
}

// Writes reports whether the object has a value for a field, or for another one that is sent under the same name.
func (o *Object) Writes(f *Field) bool {
	return slices.ContainsFunc(o.Values, func(v Value) bool { return v.Field == f || f.APIName() != "" && v.Field.APIName() == f.APIName() })
}

// Name is the object's name for people: the text of its natural key, else its identifier,
// else its key.
func (o *Object) Name() string {
	if title := o.Title(); title != "" {
		return title
	}
	if o.Identifier != "" {
		return o.Identifier
	}
	return o.Key
}

// Title is the text of the object's natural key, or "".
func (o *Object) Title() string {
	var texts []string
	for _, f := range o.Kind.NaturalKey {
		if t := o.Text(f); t != "" {
			texts = append(texts, t)
		}
	}
	if o.Kind.KeyJoin == "" && len(texts) > 1 {
		texts = texts[:1]
	}
	return strings.Join(texts, strings.ReplaceAll(o.Kind.KeyJoin, "-", " "))
}

// Ancestor returns the object itself or the ancestor that is of the kind.
func (o *Object) Ancestor(kind string) *Object {
	for ; o != nil; o = o.Parent {
		if o.Kind.Name == kind {
			return o
		}
	}
	return nil
}

// SameContent reports whether a row can be of the object's file, as far as the service shows it.
func (o *Object) SameContent(row Row) bool {
	return !slices.ContainsFunc(o.Values, func(v Value) bool {
		shown, known := v.Field.ObservedIn(row)
		return v.Content != nil && known && !v.Field.Agrees(v.Content.String(), shown)
	})
}

// MoveHeader puts the fields that lead the object's text before it: an author, and a time behind one. An object that an
// export found where it is has them anyway.
func (o *Object) MoveHeader() {
	var words []string
	for i := range o.Values {
		switch v := &o.Values[i]; {
		case !v.Field.Header || v.Text == "":
		case v.Field.Virtual:
			words = append(words, "**"+markup.Escape(v.Text)+"**")
		case len(words) > 0:
			words = append(words, when(v.Text))
		}
	}
	o.Values = slices.DeleteFunc(o.Values, func(v Value) bool { return v.Field.Header && v.Field.Virtual })
	if len(words) == 0 || o.Exported {
		return
	}
	for i := range o.Values {
		if v := &o.Values[i]; v.Field.Rich() {
			v.Header = strings.Join(words, " · ")
		}
	}
}

// when is a moment for people, in its own time zone.
func when(text string) string {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return Moment(t)
		}
	}
	return text
}

// Moment writes a time as people do, with its zone, such as 2 Jan 2006, 15:04 UTC+5:30.
func Moment(at time.Time) string {
	zone := "UTC"
	if _, offset := at.Zone(); offset != 0 {
		zone += strings.TrimSuffix(strings.NewReplacer("+0", "+", "-0", "-").Replace(at.Format("-07:00")), ":00")
	}
	return at.Format("2 Jan 2006, 15:04 ") + zone
}

// Written is the text as people would write it in one piece, with its header.
func (v *Value) Written() string {
	if v.Header == "" {
		return v.Text
	}
	return v.Header + "\n\n" + v.Text
}

// HTML returns the text of a rich field as the HTML that is sent.
func (v *Value) HTML() string {
	text := v.Text
	switch {
	case (v.Field.Type == Markdown || v.Field.Type == File) && !v.AsHTML:
		text = markup.HTML(v.Written())
	case v.Header != "":
		text = markup.HTML(v.Header) + v.Text
	}
	if len(v.Targets) == 0 {
		return text
	}
	return markup.Relink(text, "", func(target string) string {
		if address, ok := v.Targets[target]; ok {
			return AddressScheme + address
		}
		return target
	})
}

// AddressScheme begins the target of a link in a text that names an object by its address,
// such as planform:work_item/web/checkout.
const AddressScheme = "planform:"

// Addresses are the addresses that a rich text links to, each once.
func (v *Value) Addresses() []string {
	if !v.Field.Rich() || !strings.Contains(v.Text, AddressScheme) && len(v.Targets) == 0 {
		return nil
	}
	var found []string
	markup.Relink(v.HTML(), AddressScheme, func(rest string) string {
		address := unescape(rest)
		if !slices.Contains(found, address) {
			found = append(found, address)
		}
		return ""
	})
	return found
}

// linked is the HTML with links to the pages of the objects that the text names, and the
// label alone where an object has none. complete is false while one has none yet.
func (v *Value) linked(page IDResolver) (text string, complete bool) {
	complete = true
	return markup.Relink(v.HTML(), AddressScheme, func(rest string) string {
		address := unescape(rest)
		at := slices.IndexFunc(v.Links, func(r Reference) bool { return r.Text == address })
		if at < 0 {
			return ""
		}
		to, ok := page(v.Field, &v.Links[at])
		complete = complete && ok
		return to
	}), complete
}

// unescape is the address in the target of a link, where letters other than ASCII are escaped.
func unescape(target string) string {
	if plain, err := url.PathUnescape(target); err == nil {
		return plain
	}
	return target
}

// Linked is the value with other links in its text: those that are not among them are labels.
func (v *Value) Linked(links []Reference) *Value {
	with := *v
	with.Links = links
	return &with
}

// Stripped names the elements and attributes of a rich field that the service is known to remove.
func (v *Value) Stripped() []string {
	if !v.Field.Rich() || v.Field.AsSent || !strings.ContainsAny(v.Text, "<]") { // "]" is of a link in Markdown
		return nil
	}
	return markup.Stripped(markup.Relink(v.HTML(), AddressScheme, func(string) string { return "/" }))
}

// Lost names the elements and attributes of a rich field that are missing in the text that
// the service shows.
func (v *Value) Lost(shown string, page IDResolver) []string {
	sent, _ := v.linked(page)
	return markup.Lost(sent, shown)
}

// IsID reports whether a text has the form of the service's IDs (a UUID, in either case).
func IsID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		c := text[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return false
			}
		}
	}
	return true
}

// LowerID is an ID as it is sent: the service mishandles upper case.
func LowerID(id string) string { return strings.ToLower(id) }
