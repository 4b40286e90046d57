package resource

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Membership describes the members of a container: objects of one kind that belong to an
// object of another. The manifest lists them in a field of the container or of the member.
type Membership struct {
	Container string // kind, such as cycle
	Member    string // kind, such as work_item
	On        string // kind whose field declares it: Container or Member
	Field     string // that field, such as cycle or projects
	// SeveralField is the field that an object gives instead if it belongs to several
	// containers, such as modules; "" = none.
	SeveralField string
	Body         string // name of the ID list in the request, such as issues
	IDField      string // field of the member's ID in a row of the member list
	Fields       string // fields of such a row that planform needs, separated by commas; "" = all
	Batch        int    // largest number of members in one request
	// ExtraBody are fields of an adding request besides the members, such as the type of a relation.
	ExtraBody [][2]string
	// ResultKey is the field that holds the rows where the answer is an object of several lists; [EachKey] = all do, and the name of each is
	// the attribute of the members in it.
	ResultKey string
	// Inverse is the membership that declares the same relation from the other side, such as
	// that of blocked_by for blocking; "" = none. A relation declared on both sides is added once.
	Inverse   string
	Exclusive bool // a member is in one container at most: adding it to another moves it
	// Attribute is a property of each member, such as the role in a project; nil = none.
	Attribute *Attribute
}

// EachKey is the ResultKey of an answer whose lists are named by what their members are to the container.
const EachKey = "*"

// RowsIn are the rows of the members in an answer of several lists.
func (m *Membership) RowsIn(whole Row) []Row {
	rows := []Row{}
	for _, name := range slices.Sorted(maps.Keys(whole)) {
		if name != m.ResultKey && m.ResultKey != EachKey {
			continue
		}
		list, _ := whole[name].([]any)
		for _, e := range list {
			var row Row
			switch e := e.(type) {
			case map[string]any:
				row = e
			case string: // some editions list only IDs
				row = Row{m.IDField: e}
			default:
				continue
			}
			if m.ResultKey == EachKey {
				row = maps.Clone(row)
				row[m.Attribute.Name] = name
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// Overview describes an operation that shows the members of all containers of a parent in
// one list. Its rows are the members, or the containers.
type Overview struct {
	Rows  string // kind of the rows
	Field string // of a row: the ID, or the IDs, of the other side
}

// Members are the rows of one container's members in the rows of an overview.
func (o *Overview) Members(m *Membership, container string, rows []Row) []Row {
	var members []Row
	for _, row := range rows {
		ids := o.ids(row)
		switch {
		case o.Rows == m.Member && slices.Contains(ids, container):
			members = append(members, row)
		case o.Rows == m.Container && row.ID() == container:
			for _, id := range ids {
				members = append(members, Row{m.IDField: id})
			}
		}
	}
	return members
}

// ids are the IDs that a row holds, one or several.
func (o *Overview) ids(row Row) []string {
	list, several := row[o.Field].([]any)
	if !several {
		list = []any{row[o.Field]}
	}
	var ids []string
	for _, e := range list {
		if id, ok := rowID(e); ok && id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// Put adds containers to the body of a create of a member in API v2: the only one, or all,
// as the field holds them.
func (o *Overview) Put(body []byte, ids []string) []byte {
	var value any = ids
	if !strings.HasSuffix(o.Field, "_ids") {
		value = ids[0]
	}
	b := bytes.NewBuffer(body[:len(body)-1])
	b.WriteByte(',')
	writeJSON(b, o.Field)
	b.WriteByte(':')
	writeJSON(b, value)
	b.WriteByte('}')
	return b.Bytes()
}

// OverviewOf is an operation of API v2 that lists the objects of a kind with their containers.
func OverviewOf(kind string) (*Operation, bool) {
	for _, k := range Memberships() {
		if o, ok := k.Op(ListOverview, V2); ok && o.Overview.Rows == kind && k.Membership.Member == kind {
			return o, true
		}
	}
	return nil, false
}

// Shows reports whether every row has the field.
func (o *Overview) Shows(rows []Row) bool {
	return !slices.ContainsFunc(rows, func(row Row) bool { _, shown := row[o.Field]; return !shown })
}

// Attribute is a property that a membership has for each member, such as the role in a
// project. To set it, a manifest writes a mapping instead of a text, such as
// {user: gus@example.com, role: guest}.
type Attribute struct {
	Name   string   // in the manifest, in bodies and in answers
	Member string   // the property beside it that names the member
	Values []string // in ascending order
	Codes  []int    // the service's number for each value
	Slugs  []string // and its word in API v2
	// Default is the value of a new member where the manifest gives none, or the member's
	// own value of the same name if that is lower.
	Default string
	// Defined is the kind of those objects of the workspace that are values too, by their slugs, such as role: those of the namespace that
	// is named like the container; "" = there are none. Only API v2 knows them.
	Defined string
	// Words are what the values are instead of Values: what objects of the workspace say; nil = they are Values. Each member has one then.
	Words *Words
	Doc   string
}

// Words are texts that objects of a kind define, such as what two work items can be to each other.
type Words struct {
	Kind            string // whose objects define them, such as relation_definition
	Outward, Inward string // its fields that hold them, each what the other is from the other side
	Field, By       string // of a body: what holds the word, and the ID of the object that defines it
}

// Of are the words that the fields of an object say, and by an Inverse for each the other one.
func (w *Words) Of(text func(field string) string) (words []string, inverse map[string]string) {
	out, in := text(w.Outward), text(w.Inward)
	return []string{out, in}, map[string]string{in: out, out: in}
}

// Shown is the value in a row; "" = none.
func (a *Attribute) Shown(row Row) string {
	text := fmt.Sprint(row[a.Name])
	for i, value := range a.Values {
		if text == strconv.Itoa(a.Codes[i]) || i < len(a.Slugs) && text == a.Slugs[i] {
			return value
		}
	}
	switch text = row.Text(a.Name); {
	case a.Words != nil, a.Defined != "" && !a.Known(text):
		return text
	case a.Defined != "": // it bears the word that a manifest has for another one
		return capital(text)
	}
	return ""
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// Known reports whether a value is one that every workspace has.
func (a *Attribute) Known(value string) bool { return slices.Contains(a.Values, value) }

// DefaultFor is the value of a new member where the manifest gives none. own is the member's
// own value of the same name; "" = not known.
func (a *Attribute) DefaultFor(own string) string {
	if i := slices.Index(a.Values, own); i >= 0 && i < slices.Index(a.Values, a.Default) {
		return own
	}
	return a.Default
}

// IsLess reports whether a value is less than another one; false where it is not known.
func (a *Attribute) IsLess(value, than string) bool {
	i := slices.Index(a.Values, value)
	return i >= 0 && i < slices.Index(a.Values, than)
}

// written is a value as the bodies of an operation have it: the slug in API v2, else the service's number.
func (a *Attribute) written(o *Operation, value string) any {
	switch i := slices.Index(a.Values, value); {
	case i >= 0 && !o.V2():
		return a.Codes[i]
	case i >= 0:
		return a.Slugs[i]
	}
	if i := slices.IndexFunc(a.Values, func(word string) bool { return value == capital(word) }); i >= 0 { // see Shown
		return a.Values[i]
	}
	return value
}

// Body is the body of a request that sets the value of a member.
func (a *Attribute) Body(o *Operation, value string) []byte {
	var b bytes.Buffer
	writeJSON(&b, map[string]any{a.Name: a.written(o, value)})
	return b.Bytes()
}

// NeedsExplicitMove reports whether a member whose field names another container stays in
// the former one until a request removes it.
func (m *Membership) NeedsExplicitMove() bool { return !m.Exclusive && m.On != m.Container }

// MemberParam is the path parameter of a member's ID.
func (m *Membership) MemberParam() string {
	if m.Member == m.Container {
		return "related_" + MustLookup(m.Member).Param
	}
	return MustLookup(m.Member).Param
}

// Plural is the word for the members, as in "add 3 work_items"; for members of the
// container's own kind it is the field, as in "add 3 blocking".
func (m *Membership) Plural() string {
	if m.Member == m.Container {
		return m.Field
	}
	return m.Member + "s"
}

// Path is the path of the declaring field in a manifest, such as relations.blocking.
func (m *Membership) Path() string {
	f, _ := MustLookup(m.On).Field(m.Field)
	return f.Path()
}

// MemberID is the ID of the member in a row of the member list. A row that is the membership
// itself holds the member under the name of its kind.
func (m *Membership) MemberID(row Row) string {
	if id := m.memberOf(row); id != "" {
		return id
	}
	id, _ := row[m.IDField].(string)
	return LowerID(id)
}

// OwnID is the ID of the membership where a row is that; "" = it is the member.
func (m *Membership) OwnID(row Row) string {
	if m.memberOf(row) == "" {
		return ""
	}
	return row.ID()
}

// memberOf is the ID of the member in a row that is the membership.
func (m *Membership) memberOf(row Row) string {
	for _, name := range []string{m.Member, m.Member + "_id"} {
		if id, ok := rowID(row[name]); ok && IsID(id) {
			return id
		}
	}
	return ""
}

// IDs is the body of an operation on members: the list of their IDs, or the only ID where
// the operation takes one. A body that adds members also has the ExtraBody and, unless
// value is "", the attribute; by is the ID of what defines it.
func (m *Membership) IDs(o *Operation, ids []string, value, by string) []byte {
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
		switch a := m.Attribute; {
		case a == nil || value == "":
		case a.Words != nil:
			for _, e := range [][2]string{{a.Words.By, by}, {a.Words.Field, value}} {
				b.WriteByte(',')
				writeJSON(&b, e[0])
				b.WriteByte(':')
				writeJSON(&b, e[1])
			}
		default:
			b.WriteByte(',')
			writeJSON(&b, a.Name)
			b.WriteByte(':')
			writeJSON(&b, a.written(o, value))
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
		if m := k.Membership; m != nil && m.On == kind && field != "" && (m.Field == field || m.SeveralField == field) {
			return k, true
		}
	}
	return nil, false
}

// Alternatives reports whether two fields say the same in two ways, so that an object gives one of them.
func (k *Kind) Alternatives(f, other *Field) bool {
	via, _ := MembershipOf(k.Name, f.Name)
	otherVia, _ := MembershipOf(k.Name, other.Name)
	return f != other && (f.APIName() != "" && f.APIName() == other.APIName() || via != nil && via == otherVia)
}
