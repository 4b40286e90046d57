package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// kindInfo holds the facts about a kind under one API that planning needs. They are computed once.
type kindInfo struct {
	kind             *resource.Kind
	api              resource.API // the API that manages its objects
	rank             int
	parent           *kindInfo           // the kind of the objects' parent; nil = the workspace
	refs             []refField          // the fields that name objects
	naturalKey       []*resource.Field   // the fields that identify objects; empty = there are none
	namedByOthers    bool                // the natural key names other objects
	create           *resource.Operation // nil = not offered; likewise the others
	update           *resource.Operation
	delete           *resource.Operation
	list             *resource.Operation
	neededFieldNames string // the fields that a list request names; "" = all
	get              *resource.Operation
	find             *resource.Operation
	self             *resource.Operation
	archived         *resource.Operation // lists the archived objects, which list leaves out
	archivable       bool                // the manifest says whether an object is archived
	namedWithin      *kindInfo           // the kind in which names are unique: the parent, or the parent of a single parent; nil = the workspace
	externalIDs      bool                // objects carry planform's external ID
	referenced       bool                // other objects live in objects of the kind, or refer to them
}

// neededFields returns the names of the fields that a list has to show: those that identify an object, those that the manifest writes, and
// those that refer to a kind of which the run may delete objects. If the run may delete objects of the kind itself, the list has to show all
// fields, because the plan names what a deletion loses.
func (ki *kindInfo) neededFields(written map[*resource.Field]bool, deleted map[string]bool) string {
	k := ki.kind
	if ki.list.V2() { // API v2 refuses a field that its rows lack
		return "all"
	}
	names := []string{"id", "archived_at", k.Parent}
	if k.Identifier != nil {
		names = append(names, cmp.Or(k.Identifier.APIName, "sequence_id"))
	}
	if k.HasExternalID {
		names = append(names, "external_source", "external_id")
	}
	for i := range k.Fields {
		f := &k.Fields[i]
		if written[f] || deleted[k.Name] || f.IsRef() && deleted[f.Ref] || slices.Contains(k.NaturalKey, f.Name) {
			names = append(names, cmp.Or(f.Within, f.APIName()))
			if f.Renamed() {
				names = append(names, f.Wire[resource.NewerDialect])
			}
		}
		if written[f] && f.Rich() {
			names = append(names, "updated_at") // see Record.stillShown
		}
	}
	if deleted[k.Name] {
		names = append(names, "created_by", "updated_by", "updated_at")
	}
	slices.Sort(names)
	return strings.Join(slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == "" }), ",")
}

// listRead returns the read that lists objects of the kind; ok is false if there is none.
func (ki *kindInfo) listRead(params map[string]string) (r Read, ok bool) {
	if ki.list == nil || params == nil {
		return Read{}, false
	}
	r, ok = readOf(ki.list, params)
	r.Fields = ki.neededFieldNames
	return r, ok
}

// ref returns the refField of a field that names objects, or nil.
func (ki *kindInfo) ref(f *resource.Field) *refField {
	if i := slices.IndexFunc(ki.refs, func(r refField) bool { return r.field == f }); i >= 0 {
		return &ki.refs[i]
	}
	return nil
}

// viaMembership reports whether the field is written by a membership instead of the object's own request.
func (ki *kindInfo) viaMembership(f *resource.Field) bool {
	r := ki.ref(f)
	return r != nil && r.membership != nil
}

// isRecognisable reports whether an object of the kind can be found on the service without an ID or an identifier.
func (ki *kindInfo) isRecognisable() bool {
	return ki.list != nil && (ki.externalIDs || len(ki.naturalKey) > 0 || ki.kind.Singleton)
}

// findsExternalIDs reports whether a list can look up an object by its external ID, also if the object is archived or a draft.
func (ki *kindInfo) findsExternalIDs() bool {
	return ki.externalIDs && ki.list != nil && slices.Contains(ki.list.Query, "external_id")
}

// isRefreshedSingly reports whether a request reads only one object, or only the children of an object that has a parent itself, such as
// the links of a work item.
func (ki *kindInfo) isRefreshedSingly() bool {
	if ki.list == nil {
		return ki.readsOne()
	}
	return ki.parent != nil && ki.parent.parent != nil
}

// readsOne reports whether one object can be read without its siblings.
func (ki *kindInfo) readsOne() bool { return ki.get != nil || ki.find != nil }

// referrers returns the fields of other kinds that may name an object that is deleted. For children of the same kind, see
// [orphans.foreignBelow].
func (ki *kindInfo) referrers(kinds map[*resource.Kind]*kindInfo) []referrer {
	var found []referrer
	for _, k := range resource.Kinds() {
		u := kinds[k]
		within := ki.kind.NamedWithin()
		beside := u.parent != nil && !u.parent.kind.Single && u.parent.list != nil && u.parent.kind != ki.kind && u.parent.kind.Parent == within
		if k == ki.kind || k.Parent != within && !beside || u.list == nil {
			continue
		}
		for i := range u.refs {
			if r := &u.refs[i]; r.to == ki && r.membership == nil && r.field.APIName() != "" {
				found = append(found, referrer{u, r.field})
			}
		}
	}
	return found
}

// membershipsLostWith returns the memberships whose members would lose something if their container, of this kind, were deleted. It leaves
// out memberships of people, and types that a project took from the workspace.
func (ki *kindInfo) membershipsLostWith() []*resource.Kind {
	return slices.DeleteFunc(resource.Memberships(), func(k *resource.Kind) bool {
		m, member := k.Membership, resource.MustLookup(k.Membership.Member)
		return m.Container != ki.kind.Name || m.Member == m.Container && m.Inverse == "" || member.Section == "" ||
			member.Governance.AtWorkspace && !ki.kind.Governance.AtWorkspace
	})
}

// containerMemberships returns the memberships by which containers of the workspace refer to objects of the kind, such as the labels of an
// initiative. It returns none for kinds with children, because the children protect such an object already.
func (ki *kindInfo) containerMemberships() []*resource.Kind {
	return slices.DeleteFunc(resource.Memberships(), func(k *resource.Kind) bool {
		m := k.Membership
		return m.Member != ki.kind.Name || m.On != m.Container || resource.MustLookup(m.Container).Parent != "" ||
			len(resource.Children(ki.kind.Name)) > 0
	})
}

// refField is a field that names objects.
type refField struct {
	field      *resource.Field
	to         *kindInfo      // the kind of the objects that it names
	membership *resource.Kind // the membership that writes it; nil = the object's own request does
}

func newKindInfo(in *Input, withoutV2 map[string]bool) map[*resource.Kind]*kindInfo {
	all := make(map[*resource.Kind]*kindInfo, len(resource.Kinds()))
	for _, k := range resource.Kinds() {
		t := &kindInfo{kind: k, api: in.API, rank: resource.Order(k.Name), externalIDs: k.HasExternalID && in.API.Wide(), referenced: k.Singleton}
		if withoutV2[k.Name] {
			t.api = resource.V1
		}
		t.create, _ = k.Op(resource.Create, t.api)
		t.update, _ = k.Op(resource.Update, t.api)
		t.delete, _ = k.Op(resource.Delete, t.api)
		t.list, _ = k.Op(resource.List, t.api)
		t.get, _ = k.Op(resource.Get, t.api)
		t.find, _ = k.Op(resource.Find, t.api)
		t.self, _ = k.Op(resource.Self, t.api)
		t.archived, _ = k.Op(resource.ListArchived, t.api)
		_, archives := k.Op(resource.Archive, t.api)
		t.archivable = archives && slices.ContainsFunc(k.Fields, func(f resource.Field) bool { return f.ArchiveFlag })
		if !k.AdoptOnRequestOnly || in.AdoptByName {
			t.naturalKey = k.NaturalFields()
			t.namedByOthers = slices.ContainsFunc(t.naturalKey, (*resource.Field).IsRef)
		}
		all[k] = t
	}
	for k, t := range all {
		if k.Parent != "" {
			t.parent = all[resource.MustLookup(k.Parent)]
			t.parent.referenced = true
		}
		if within, ok := resource.Lookup(k.NamedWithin()); ok {
			t.namedWithin = all[within]
		}
		for i := range k.Fields {
			f := &k.Fields[i]
			if by, ok := resource.Lookup(f.DefinedBy); ok {
				all[by].referenced = true
				if other, ok := resource.Lookup(by.Governance.Other); ok {
					all[other].referenced = true
				}
			}
			if or, ok := resource.Lookup(f.OrRef); ok {
				all[or].referenced = true
			}
			if !f.IsRef() {
				continue
			}
			r := refField{field: f, to: all[resource.MustLookup(f.Ref)]}
			r.to.referenced = true
			if k.ViaMembership(f, in.API) {
				r.membership, _ = resource.MembershipOf(k.Name, f.Name)
			}
			t.refs = append(t.refs, r)
		}
	}
	written := map[*resource.Field]bool{}
	for _, o := range in.Desired {
		for i := range o.Values {
			f := o.Values[i].Field
			if t := all[o.Kind]; f.Definition != nil && f.IsRef() && !written[f] {
				r := refField{field: f, to: all[resource.MustLookup(f.Ref)]}
				r.to.referenced = true
				t.refs = append(t.refs, r)
			}
			written[f] = true
		}
	}
	deleted := in.deletedKinds()
	for _, t := range all {
		if t.list != nil && slices.Contains(t.list.Query, "fields") {
			t.neededFieldNames = t.neededFields(written, deleted)
		}
	}
	return all
}

func parentField(k *resource.Kind) *resource.Field {
	for i := range k.Fields {
		if f := &k.Fields[i]; f.Type == resource.Ref && f.Ref == k.Name {
			return f
		}
	}
	return nil
}

// kindsWithoutV2 returns the kinds that API v1 manages because the service turned out to lack their reads in API v2.
func (in *Input) kindsWithoutV2() map[string]bool {
	kinds := map[string]bool{}
	for read, answer := range in.Observed {
		if read.needsV1(answer) {
			kinds[read.Operation.Kind] = true
		}
	}
	return kinds
}

// needsV1 reports whether the answer to a read of API v2 shows that API v1 must be used instead.
func (rd *Read) needsV1(a Answer) bool {
	o := rd.Operation
	return a.Unsupported && (o.Verb == resource.List || o.Verb == resource.Get) && o.V2() || (a.Unsupported || a.Forbidden) && rd.membersInV1()
}

// deletedKinds returns the kinds from which the run may delete objects.
func (in *Input) deletedKinds() map[string]bool {
	kinds := map[string]bool{}
	if !in.Prune {
		return kinds
	}
	wanted := make(map[resource.Address]bool, len(in.Desired))
	for _, o := range in.Desired {
		wanted[o.Address] = true
	}
	for address := range in.Prior {
		if address.IsObject() && !wanted[address] {
			kinds[address.Kind()] = true
		}
	}
	return kinds
}

// referrer is a kind with a field that names objects of another kind.
type referrer struct {
	kind  *kindInfo
	field *resource.Field
}

// label returns the display text of a row: the kind's noun, and the row's name, else its text, else its ID.
func label(k *resource.Kind, row resource.Row) string {
	for _, name := range k.DisplayTexts(row) {
		return k.Noun() + " " + diag.Quote(name)
	}
	for i := range k.Fields {
		if text, _ := k.Fields[i].ObservedIn(row); k.Fields[i].Rich() && text != "" {
			return k.Noun() + " " + diag.Quote(strings.TrimSpace(resource.PlainText(text)))
		}
	}
	return k.Noun() + " " + row.ID()
}

func isOff(v *resource.Value) bool { return v.Field.Type == resource.Boolean && v.Text == "false" }
