package resource

import (
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/markup"
)

// Object is a desired object of a manifest. Values holds only written fields.
type Object struct {
	Kind       *Kind
	Address    Address
	Key        string
	Parent     *Object  // nil = the workspace
	ID         string   // the service's ID in lower case, if the manifest gives it
	Identifier string   // the readable identifier, if the manifest gives it
	Source     *Source  // the workspace of ID and Identifier; nil = the manifest's target
	Origin     *Origin  // its identity in another workspace that the manifest comes from; nil = unknown
	Exported   bool     // ID and Identifier come from an export of this workspace: if the object is gone, it is searched by name, and created again
	Previously []string // former keys
	Protect    *bool    // true = must not be deleted; nil = as in the state
	NoCreate   bool     // the object must exist already
	Policy     *Policy  // how to treat changes that people make on the service; nil = as the run says
	Values     []Value  // in the order of the kind's fields
	Position   diag.Position
	Files      []string // the manifests that contain it, sorted
	Outer      *Object  // the object of the same kind in which it is written, or nil
	Index      int      // index in its list
	Omitted    []Omission
	Implied    bool // not in the manifest: it only switches on a feature flag that other objects need
}

// Value is the value of one field in a manifest.
type Value struct {
	Field   *Field
	Text    string    // as written; for File the content of the file; for JSON the JSON text
	Header  string    // Markdown that leads the text; see [Object.MoveHeader]
	Null    bool      // written as null, or as an empty text or list, to clear the field
	AsHTML  bool      // for File and Markdown: the text is HTML already
	Implied bool      // a default that is not written: a create sends it, and it is not compared
	AsShown bool      // the service's value, not a written one: an update sends it, and the state does not store it
	Content *Content  // for Upload: the file that Text names
	File    *TextFile // the file that contains the value; nil = a manifest
	Secret  *Secret   // for SecretFile: the file that Text names
	// Targets maps the relative links of a text, as they are in its HTML, to the addresses of the objects.
	Targets  map[string]string
	Refs     []Reference
	Words    []Reference     // for EnumSet: its words with their positions
	Links    []Reference     // for a rich text: the objects to whose addresses it links, each once
	Origins  []diag.Position // positions of the texts that replaced its references, such as cells of a table; nil = none
	Position diag.Position
}

// Policy tells how to treat changes that people make to an object on the service. Objects may share it.
type Policy struct {
	Ignore    []*Field // fields that belong to people once the object exists
	IgnoreAll bool     // all fields belong to people
	OnDrift   string   // overwrite, keep or fail; "" = as the run says
}

// DriftPolicies returns the words for the treatment of a field that somebody changed on the service.
func DriftPolicies() []string { return []string{"overwrite", "keep", "fail"} }

// Ignores reports whether a field belongs to people once the object exists.
func (o *Object) Ignores(f *Field) bool {
	return o.Policy != nil && (o.Policy.IgnoreAll || slices.ContainsFunc(o.Policy.Ignore, func(g *Field) bool {
		return g == f || g.Holds(f) || f.APIName() != "" && f.APIName() == g.APIName() || f.Definition != nil && g.Type == CustomFields
	}))
}

// TextFile is a file with the text of an object.
type TextFile struct {
	Path   string // "" = the object is a folder without a text
	Dir    string // folder of the manifest, which the file must not leave
	Titled bool   // the title is the object's name, and not part of the text
}

// Content is a file for an upload.
type Content struct {
	Size   int64
	SHA256 string // in hexadecimal digits
	Media  string // media type
	Open   func() (io.ReadCloser, error)
}

// Secret is a file that stores a secret, which the service shows once.
type Secret struct {
	Path string // of the file
	// Filled is set if the file was not empty when the manifest was read.
	Filled bool
	// Kept reports whether the file is not empty now. A file outside the manifest's folder is an error.
	Kept func() (bool, error)
}

// String returns the canonical form, beginning with the size, which is all that the service shows.
func (c *Content) String() string { return strconv.FormatInt(c.Size, 10) + " sha256:" + c.SHA256 }

// Secret returns the file for the object's secret, or nil.
func (o *Object) Secret() *Secret {
	if v := o.SecretValue(); v != nil {
		return v.Secret
	}
	return nil
}

// SecretValue returns the value that names the file for the object's secret, or nil.
func (o *Object) SecretValue() *Value {
	if o == nil || o.Kind.Secret() == "" {
		return nil
	}
	for i := range o.Values {
		if o.Values[i].Secret != nil {
			return &o.Values[i]
		}
	}
	return nil
}

// Reference names another object: of the manifest, or of the service by ID or name.
type Reference struct {
	Text   string  // as written
	Target *Object // the object of the manifest; nil = one of the service
	ID     string  // the service's ID in lower case, if the text is one; for a link in a text: the page, once it is known
	Source *Source // the workspace of an ID or readable identifier; nil = the manifest's target
	// Attribute is the value of a membership's attribute in the manifest, such as a role; "" = none.
	Attribute string
	Position  diag.Position
}

// Written returns the number of objects that a manifest contains.
func Written(objects []*Object) int {
	n := len(objects)
	for _, o := range objects {
		if o.Implied {
			n--
		}
	}
	return n
}

// Protected reports whether the object must not be deleted. last is the answer if the manifest does not say.
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

// Initial returns the text of a field that a create sends if the object has no value for it, or "".
func (o *Object) Initial(f *Field) string {
	if o.Writes(f) {
		return ""
	}
	if f.initialFor != nil {
		return f.initialFor(o)
	}
	return f.Initial
}

// Writes reports whether the object has a value for a field, or for another field that is sent under the same name.
func (o *Object) Writes(f *Field) bool {
	return slices.ContainsFunc(o.Values, func(v Value) bool { return v.Field == f || f.APIName() != "" && v.Field.APIName() == f.APIName() })
}

// Name returns the object's name for people: its title, otherwise its identifier, otherwise its key.
func (o *Object) Name() string {
	if title := o.Title(); title != "" {
		return title
	}
	if o.Identifier != "" {
		return o.Identifier
	}
	return o.Key
}

// Title returns the text of the object's natural key, or "".
func (o *Object) Title() string {
	var texts []string
	for _, f := range o.Kind.NaturalKey {
		if t := o.Text(f); t != "" {
			texts = append(texts, t)
		}
	}
	if len(texts) > 1 && !o.Kind.NamedByAll() {
		texts = texts[:1]
	}
	return strings.Join(texts, " to ")
}

// Ancestor returns the object or its ancestor of the given kind, or nil.
func (o *Object) Ancestor(kind string) *Object {
	for ; o != nil; o = o.Parent {
		if o.Kind.Name == kind {
			return o
		}
	}
	return nil
}

// SameContent reports whether a row can show the object's file, as far as the service shows it.
func (o *Object) SameContent(row Row) bool {
	return !slices.ContainsFunc(o.Values, func(v Value) bool {
		shown, known := v.Field.ObservedIn(row)
		return v.Content != nil && known && !v.Field.Agrees(v.Content.String(), shown)
	})
}

// Written returns the text with its header.
func (v *Value) Written() string {
	if v.Header == "" {
		return v.Text
	}
	return v.Header + "\n\n" + v.Text
}

// HTML returns the HTML that is sent for a rich text.
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

// AddressScheme begins the target of a link to an object in a text, such as planform:work_item/web/checkout.
const AddressScheme = "planform:"

// Addresses returns the addresses to which a rich text links, each once.
func (v *Value) Addresses() []string {
	if !v.Field.Rich() || !strings.Contains(v.Text, AddressScheme) && len(v.Targets) == 0 {
		return nil
	}
	var found []string
	markup.Relink(v.HTML(), AddressScheme, func(rest string) string {
		address := unescapeAddress(rest)
		if !slices.Contains(found, address) {
			found = append(found, address)
		}
		return ""
	})
	return found
}

// linkedHTML returns the HTML with links to the pages of the objects. The link to an object without a page becomes plain text. complete is
// false if a page may follow.
func (v *Value) linkedHTML(page IDResolver) (text string, complete bool) {
	complete = true
	return markup.Relink(v.HTML(), AddressScheme, func(rest string) string {
		address := unescapeAddress(rest)
		at := slices.IndexFunc(v.Links, func(r Reference) bool { return r.Text == address })
		if at < 0 {
			return ""
		}
		to, ok := page(v.Field, &v.Links[at])
		complete = complete && ok
		return to
	}), complete
}

// unescapeAddress returns the address in the target of a link, in which non-ASCII letters are escaped.
func unescapeAddress(target string) string {
	if plain, err := url.PathUnescape(target); err == nil {
		return plain
	}
	return target
}

// Linked returns the value with other links in its text. Links to other objects become plain text.
func (v *Value) Linked(links []Reference) *Value {
	with := *v
	with.Links = links
	return &with
}

// Stripped returns the elements and attributes of a rich text that the service is known to remove.
func (v *Value) Stripped() []string {
	if !v.Field.Rich() || v.Field.storedAsSent() || !strings.ContainsAny(v.Text, "<]") { // Markdown links contain ]
		return nil
	}
	return markup.Stripped(markup.Relink(v.HTML(), AddressScheme, func(string) string { return "/" }))
}

// Lost returns the elements and attributes of a rich text that are missing in the text on the service.
func (v *Value) Lost(shown string, page IDResolver) []string {
	sent, _ := v.linkedHTML(page)
	return markup.Lost(sent, shown)
}

// IsID reports whether a text has the form of the service's IDs (a UUID in either case).
func IsID(text string) bool { return len(text) == 36 && uuid.Validate(text) == nil }

// LowerID returns an ID as it is sent: the service mishandles upper case.
func LowerID(id string) string { return strings.ToLower(id) }
