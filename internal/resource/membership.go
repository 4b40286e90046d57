package resource

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

// Membership says that things of one kind belong to a container of another. Its
// members are written as a field either of the container or of the member.
type Membership struct {
	Container string // kind, such as cycle
	Member    string // kind, such as work_item
	On        string // kind whose field declares it: Container or Member
	Field     string // that field, such as cycle or projects
	Body      string // name of the ID list in the request, such as issues
	IDField   string // field of a row of the member list that holds the member's ID
	Fields    string // of a row of the member list that anybody looks at, with commas between; "" = all
	Batch     int    // members sent in one request at most
	// ExtraBody is what an adding request says besides the members, such as the type of a relation.
	ExtraBody [][2]string
	// ResultKey is the field of the member list's answer that holds the rows, where the answer is an object of several lists.
	ResultKey string
	// Inverse is the membership that says the same from the member's side, such as
	// that of blocked_by for blocking; "" = none. What one of them says is not added by the other.
	Inverse   string
	Exclusive bool // a member is in one container at most: adding it to another moves it
	// Attribute is what the membership says of its member besides who it is; nil = nothing.
	Attribute *Attribute
}

// Attribute is something that a membership says of its member, such as the role in
// a project. A manifest that says it writes a mapping instead of a text, such as
// {user: gus@example.com, role: guest}.
type Attribute struct {
	Name   string   // in the manifest, in bodies and in answers
	Member string   // the property beside it that names the member
	Values []string // what it can be, the least first
	Codes  []int    // what the service calls each of them
	// Default is what a new member gets where the manifest does not say; but never
	// more than the member has itself under that name.
	Default string
	Doc     string
}

// Shown is the value that a row shows; "" = it shows none.
func (a *Attribute) Shown(row Row) string {
	text := fmt.Sprint(row[a.Name])
	for i, code := range a.Codes {
		if text == strconv.Itoa(code) {
			return a.Values[i]
		}
	}
	return ""
}

// DefaultFor is what a new member gets where the manifest does not say, given what
// the member has itself; "" = that is not known.
func (a *Attribute) DefaultFor(own string) string {
	if i := slices.Index(a.Values, own); i >= 0 && i < slices.Index(a.Values, a.Default) {
		return own
	}
	return a.Default
}

// code is what the service calls a value.
func (a *Attribute) code(value string) int {
	return a.Codes[max(0, slices.Index(a.Values, value))]
}

// Body is a request that gives the member of a membership a value.
func (a *Attribute) Body(value string) []byte {
	return fmt.Appendf(nil, `{%q:%d}`, a.Name, a.code(value))
}

// NeedsExplicitMove reports whether a member is wanted in one container, which its field
// names, but stays in the former one until a request takes it out.
func (m *Membership) NeedsExplicitMove() bool { return !m.Exclusive && m.On != m.Container }

// Plural names the members, as in add 3 work items; where they are of the
// container's own kind, by the field, as in add 3 blocking.
func (m *Membership) Plural() string {
	if m.Member == m.Container {
		return m.Field
	}
	return m.Member + "s"
}

// Path is where a manifest says who the members are, such as relations.blocking.
func (m *Membership) Path() string {
	f, _ := MustLookup(m.On).Field(m.Field)
	return f.Path()
}

// MemberID is the ID of the member that a row of the member list stands for. Where the row
// is the membership itself, it shows the member under the name of its kind.
func (m *Membership) MemberID(row Row) string {
	if id, ok := rowID(row[m.Member]); ok && IsID(id) {
		return id
	}
	id, _ := row[m.IDField].(string)
	return LowerID(id)
}

// IDs is the body of an operation on members: a list of their IDs or, where it
// takes a single one, that, and what the membership always says; with the value of
// its attribute, if it has one and that is said.
func (m *Membership) IDs(o *Operation, ids []string, value string) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	field := m.Body
	if len(o.Body) > 0 {
		field = o.Body[0]
	}
	writeJSON(&b, field)
	b.WriteByte(':')
	if o.OneAtATime {
		writeJSON(&b, ids[0])
	} else {
		writeJSON(&b, ids)
	}
	if o.Verb == AddMembers {
		for _, c := range m.ExtraBody {
			b.WriteByte(',')
			writeJSON(&b, c[0])
			b.WriteByte(':')
			if _, err := strconv.Atoi(c[1]); err == nil {
				b.WriteString(c[1])
			} else {
				writeJSON(&b, c[1])
			}
		}
		if m.Attribute != nil && value != "" {
			fmt.Fprintf(&b, ",%q:%d", m.Attribute.Name, m.Attribute.code(value))
		}
	}
	b.WriteByte('}')
	return b.Bytes()
}

// Memberships returns the membership kinds, ordered by name.
func Memberships() []*Kind {
	var ms []*Kind
	for _, k := range kinds.sorted {
		if k.Membership != nil {
			ms = append(ms, k)
		}
	}
	return ms
}

// MembershipOf returns the membership that the field of a kind declares.
func MembershipOf(kind, field string) (*Kind, bool) {
	for _, k := range kinds.sorted {
		if m := k.Membership; m != nil && m.On == kind && m.Field == field {
			return k, true
		}
	}
	return nil, false
}
