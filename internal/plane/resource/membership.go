package resource

import (
	"maps"
	"slices"
)

// Membership describes the members of a container: objects of one kind that belong to an object of another kind. The manifest lists them in
// a field of the container or of the member.
type Membership struct {
	Container string // kind, such as cycle
	Member    string // kind, such as work_item
	On        string // kind of the field that declares it: Container or Member
	Field     string // the declaring field, such as cycle or projects
	// SeveralField is the field for an object that belongs to several containers, such as modules; "" = none.
	SeveralField string
	Body         string // name of the ID list in the request, such as issues
	IDField      string // field of the member's ID in a row of the member list; "" = id
	Fields       string // fields of such a row that planform reads, separated by commas; "" = all
	Batch        int    // largest number of members in one request; 0 = 100
	// ResultKey is the field that holds the rows, if the answer is an object of several lists. With [EachKey] every field holds rows, and
	// its name is the attribute of the members.
	ResultKey string
	// Inverse is the membership that declares the same relation from the other side, such as blocked_by for blocking; "" = none. A relation
	// declared on both sides is added once.
	Inverse   string
	Exclusive bool // a member is in at most one container: adding it to another one moves it
	// Attribute is a property of each member, such as the role in a project; nil = none.
	Attribute *Attribute
}

// EachKey is the ResultKey of an answer whose lists are named by the relation of their members to the container.
const EachKey = "*"

// RowsIn returns the rows of the members in an answer of several lists.
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

// Overview describes a list that shows the memberships of all containers of a parent, such as those of all cycles of a project. Its rows
// are members that name their containers, or containers that name their members.
type Overview struct {
	Rows  string // kind of the rows: the members or the containers
	Field string // field of a row that has the ID or the IDs of the other side
}

// Members returns the rows of a container's members from the rows of an overview.
func (ov *Overview) Members(m *Membership, container string, rows []Row) []Row {
	var members []Row
	for _, row := range rows {
		ids := ov.idsIn(row)
		switch {
		case ov.Rows == m.Member && slices.Contains(ids, container):
			members = append(members, row)
		case ov.Rows == m.Container && row.ID() == container:
			for _, id := range ids {
				members = append(members, Row{m.IDField: id})
			}
		}
	}
	return members
}

// idsIn returns the IDs in a row, one or several.
func (ov *Overview) idsIn(row Row) []string {
	list, several := row[ov.Field].([]any)
	if !several {
		list = []any{row[ov.Field]}
	}
	var ids []string
	for _, e := range list {
		if id, ok := rowID(e); ok && id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// Shows reports whether every row has the field.
func (ov *Overview) Shows(rows []Row) bool {
	return !slices.ContainsFunc(rows, func(row Row) bool { _, shown := row[ov.Field]; return !shown })
}

// Attribute is a property that a membership has for each member, such as the role in a project. A manifest sets it with a mapping instead
// of a text, such as {user: gus@example.com, role: guest}.
type Attribute struct {
	Name   string   // in the manifest, in bodies and in answers
	Member string   // the property that names the member in the mapping
	Values []string // in ascending order
	// encode returns a value as a body has it, in API v2 or not, and decode the value that a row shows, or "". nil = the text itself.
	encode func(value string, v2 bool) any
	decode func(shown any) string
	// Default is the value of a new member if the manifest gives none, unless the member's own value of the same name is lower.
	Default string
	// Defined is the kind of workspace objects that define values: in addition to Values, such as role, or all of them if Values is empty,
	// such as relation_definition; "" = none. Only API v2 knows them.
	Defined string
	Doc     string
}

// Words returns the kind of the objects whose texts are all values, such as relations between two work items; nil = there are other
// values. Each member has a value then.
func (at *Attribute) Words() *Kind {
	if at == nil || len(at.Values) > 0 {
		return nil
	}
	return MustLookup(at.Defined)
}

// Shown returns the value in a row; "" = none.
func (at *Attribute) Shown(row Row) string {
	if at.decode == nil {
		return row.Text(at.Name)
	}
	return at.decode(row[at.Name])
}

// Known reports whether every workspace has the value.
func (at *Attribute) Known(value string) bool { return slices.Contains(at.Values, value) }

// DefaultFor returns the value of a new member if the manifest gives none. own is the member's own value of the same name; "" = unknown.
func (at *Attribute) DefaultFor(own string) string {
	if i := slices.Index(at.Values, own); i >= 0 && i < slices.Index(at.Values, at.Default) {
		return own
	}
	return at.Default
}

// IsLess reports whether a value is lower than another one; false if its rank is unknown.
func (at *Attribute) IsLess(value, than string) bool {
	i := slices.Index(at.Values, value)
	return i >= 0 && i < slices.Index(at.Values, than)
}

// Body returns the body of a request that sets the value of a member.
func (at *Attribute) Body(o *Operation, value string) []byte {
	var b jsonObject
	b.put(at.Name, at.encode(value, o.V2()))
	return b.json()
}

// MemberParam returns the path parameter for a member's ID.
func (m *Membership) MemberParam() string {
	if m.Member == m.Container {
		return "related_" + MustLookup(m.Member).Param
	}
	return MustLookup(m.Member).Param
}

// Plural returns the word for the members, as in "add 3 work_items". If members and container have the same kind, it is the field, as in
// "add 3 blocking".
func (m *Membership) Plural() string {
	if m.Member == m.Container {
		return m.Field
	}
	return m.Member + "s"
}

// Path returns the path of the declaring field in a manifest, such as relations.blocking.
func (m *Membership) Path() string {
	f, _ := MustLookup(m.On).Field(m.Field)
	return f.Path()
}

// MemberID returns the ID of the member in a row of the member list. The row is the member, or a membership that holds the member's ID in a
// field named after its kind.
func (m *Membership) MemberID(row Row) string {
	if id := m.memberIDIn(row); id != "" {
		return id
	}
	id, _ := row[m.IDField].(string)
	return LowerID(id)
}

// OwnID returns the ID of the membership if the row is one; "" = the row is the member.
func (m *Membership) OwnID(row Row) string {
	if m.memberIDIn(row) == "" {
		return ""
	}
	return row.ID()
}

// HasLeft reports whether a row shows a person who is a former member. The community edition still lists former members, and since version
// 1.4 it tells which they are. Other members, such as types, stay if they are inactive.
func (m *Membership) HasLeft(row Row) bool {
	return m.Member == People().Name && row["is_active"] == false
}

// LacksRoles reports whether the rows of a list of members do not show the attribute that each member has.
func (m *Membership) LacksRoles(rows []Row) bool {
	return len(rows) > 0 && m.Attribute != nil && m.Attribute.Shown(rows[0]) == ""
}

// AddRoles adds the fields of people, by a list of [ListLite], to the rows of a list of members.
func (m *Membership) AddRoles(members, people []Row) {
	byID := map[string]Row{}
	for _, row := range people {
		byID[row.ID()] = row
	}
	for _, row := range members {
		maps.Copy(row, byID[m.MemberID(row)])
	}
}

// ShowsFixed reports whether a row shows an attribute that cannot be changed, because the service does not show the ID of the membership.
func (m *Membership) ShowsFixed(row Row) bool {
	_, isLite := row["is_active"]
	return isLite && m.OwnID(row) == ""
}

// memberIDIn returns the ID of the member in a row that is a membership, or "".
func (m *Membership) memberIDIn(row Row) string {
	for _, name := range []string{m.Member, m.Member + "_id"} {
		if id, ok := rowID(row[name]); ok && IsID(id) {
			return id
		}
	}
	return ""
}

// IDs returns the body of a member operation: the list of member IDs, or a single ID if the operation takes one. A body that adds members
// also contains the type of a relation, and the attribute unless value is "". by is the ID of the object that declares the attribute.
func (m *Membership) IDs(o *Operation, ids []string, value, by string) []byte {
	field, b := m.Body, jsonObject{}
	if len(o.Body) > 0 {
		field = o.Body[0]
	}
	if o.OneAtATime {
		b.put(field, ids[0])
	} else {
		b.put(field, ids)
	}
	if o.Verb == AddMembers {
		switch a := m.Attribute; {
		case a == nil && m.Inverse != "":
			b.put("relation_type", m.Field)
		case a == nil || value == "":
		case a.Words() != nil:
			b.put("relation_definition_id", by)
			b.put("direction", value)
		default:
			b.put(a.Name, a.encode(value, o.V2()))
		}
	}
	return b.json()
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

// Alternatives reports whether two fields exclude each other because they write the same value.
func (k *Kind) Alternatives(f, other *Field) bool {
	via, _ := MembershipOf(k.Name, f.Name)
	otherVia, _ := MembershipOf(k.Name, other.Name)
	return f != other && (f.SharesAPIName(*other) || via != nil && via == otherVia)
}
