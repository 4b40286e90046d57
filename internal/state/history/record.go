package history

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// Record fills in the steps that the run will carry out according to a plan, and the present values of the fields that they change.
func (r *Run) Record(plan *planner.Plan, prior planner.Prior) {
	rc := &recorder{plan: plan, prior: maps.Clone(prior), created: map[resource.Address]bool{}, found: map[resource.Address][]resource.Address{}}
	for _, s := range plan.StateChanges {
		if s.To != "" && s.To != s.From {
			r.Moves = append(r.Moves, Move{s.From, s.To})
			delete(rc.prior, s.From)
		}
	}
	for _, m := range r.Moves { // moves may form a ring
		rc.prior[m.To] = prior[m.From]
	}
	for _, a := range slices.Sorted(maps.Keys(rc.prior)) {
		if p := rc.prior[a]; a.IsObject() && !p.CreatedByUs && len(p.Values) > 0 {
			rc.found[a.Parent()] = append(rc.found[a.Parent()], a)
		}
	}
	for _, s := range plan.Steps {
		rc.addStep(s)
	}
	rc.addLostReferences()
	for _, s := range rc.steps {
		for a := s.Address.Parent(); a != ""; a = a.Parent() {
			if id := plan.Known[a].ID; id != "" && rc.prior[a].ID == "" {
				if r.Within == nil {
					r.Within = map[resource.Address]string{}
				}
				r.Within[a] = id
			}
		}
	}
	r.Owner, r.BaseURL, r.Workspace, r.Summary, r.Steps = plan.Owner, plan.BaseURL, plan.Workspace, plan.Summary, rc.steps
	r.Refused = rc.refused
}

// recorder makes the steps of a run.
type recorder struct {
	plan               *planner.Plan
	prior              planner.Prior // by the addresses of the plan
	steps              []Step
	refused            []Refusal
	created            map[resource.Address]bool
	containersByMember map[string][]resource.Address           // addresses of membership records, by the ID of a member; made when first needed
	addresses          map[objectKey]resource.Address          // addresses of the objects in the state; made when first needed
	properties         map[string][]*resource.Object           // definitions of custom fields in the state, by key; made when first needed
	found              map[resource.Address][]resource.Address // objects that planform changed but did not create, by their parent
}

// addStep adds the record of a step.
func (rc *recorder) addStep(s *planner.Step) {
	switch {
	case s.Action == planner.NotPossible:
		rc.refused = append(rc.refused, Refusal{s.Address, s.Reason()})
	case s.Members != nil:
		rc.addMembers(s)
	case s.Action == planner.Delete:
		rc.addDeletion(s)
	case s.Action == planner.Create:
		rc.created[s.Address] = true
		rc.steps = append(rc.steps, Step{Address: s.Address, Action: s.Action, Name: rc.stepName(s), Replaces: s.Write.Replaces})
	default:
		rc.addUpdate(s)
	}
}

// stepName returns the name of a step's object for people.
func (rc *recorder) stepName(s *planner.Step) string {
	if o := s.Object; o != nil && (s.Name == "" || o.Name() != o.Key) {
		return o.Name()
	}
	return s.Name
}

// isNew reports whether the run creates an object or one of its parents; undo then deletes the object with its creation.
func (rc *recorder) isNew(a resource.Address) bool {
	for ; a != ""; a = a.Parent() {
		if rc.created[a] {
			return true
		}
	}
	return false
}

// addUpdate adds the record of an update, with the values before it.
func (rc *recorder) addUpdate(s *planner.Step) {
	step := Step{Address: s.Address, Action: s.Action, ID: s.ID, Identifier: s.Identifier, Name: rc.stepName(s)}
	if rc.isNew(s.Address) {
		if s.Action == planner.Adopt {
			rc.steps = append(rc.steps, step)
		}
		return
	}
	for _, change := range s.Changes() {
		f := s.Field(change.Path)
		switch {
		case f == nil || !change.Possible: // it is the mark, or it is not sent
		case change.Was == nil || len(change.Was.Text) > MostText:
			step.Lost = append(step.Lost, change.Path)
		default:
			var names []string
			if change.Before != nil {
				names = strings.Split(*change.Before, "\n")
			}
			step.Fields = append(step.Fields, newField(f, change.Was.Text, names))
		}
	}
	rc.steps = append(rc.steps, step)
}

// newField records the value of a field before the run. names are the names of the objects that it refers to.
func newField(f *resource.Field, before string, names []string) Field {
	kept := Field{Name: f.Name, Before: before}
	if f.IsRef() && before != "" && len(names) == strings.Count(before, ",")+1 {
		kept.Names = names
	}
	if of := f.Definition; of != nil {
		kept.Property = &Property{Address: of.Address, Texts: map[string]string{}}
		for _, name := range resource.DefiningFields() {
			if text := of.Text(name); text != "" {
				kept.Property.Texts[name] = text
			}
		}
	}
	return kept
}

// addDeletion adds the record of a delete, with all values that the object has.
func (rc *recorder) addDeletion(s *planner.Step) {
	d := s.Deletion
	step := Step{
		Address: s.Address, Action: s.Action, ID: s.ID, Identifier: s.Identifier, Name: s.Name,
		Sources: d.Record.Sources, Protect: d.Record.Protect,
	}
	if id := s.Kind.Identifier; id != nil && id.APIName != "" {
		step.Identifier = cmp.Or(d.Row.Text(id.APIName), step.Identifier)
	}
	for i := range s.Kind.Fields {
		f := &s.Kind.Fields[i]
		text, known := f.TextIn(d.Row)
		if f.Past {
			text = d.Row.Text(f.APIName())
			known = text != ""
		}
		switch {
		case f.Type == resource.Upload:
			step.Lost = append(step.Lost, f.Name)
		case f.Virtual, f.Type == resource.CustomFields, s.Kind.Derives(f), !rc.plan.API.Sendable(f),
			s.Kind.ViaMembership(f, rc.plan.API), !known, text == "", f.ArchiveFlag && text == "false":
		case len(text) > MostText:
			step.Lost = append(step.Lost, f.Name)
		default:
			var names []string
			for id := range strings.SplitSeq(text, ",") {
				names = append(names, cmp.Or(d.Names[id], id))
			}
			step.Fields = append(step.Fields, newField(f, text, names))
		}
	}
	if d.Row == nil {
		step.Lost = append(step.Lost, "everything: it was not read")
	}
	for _, f := range rc.customFieldsOf(s.Address) {
		rc.addStateValue(&step, f)
	}
	for _, a := range rc.found[s.Address] {
		step.Lost = append(step.Lost, "values of "+string(a))
	}
	rc.steps = append(rc.steps, step)
	rc.addMembershipsOf(s)
}

// addLostReferences adds the fields of other objects that lose their value because a deleted object was their target
// or their definition, as far as the state knows them.
func (rc *recorder) addLostReferences() {
	type of struct {
		object resource.Address
		field  string
	}
	deleted, recorded := map[objectKey]bool{}, map[of]bool{}
	for i := range rc.steps {
		s := &rc.steps[i]
		if s.Action == planner.Delete {
			deleted[objectKey{s.Address.Kind(), s.ID}], recorded[of{object: s.Address}] = true, true
		}
		for _, f := range s.Fields {
			recorded[of{s.Address, f.Name}] = true
		}
		for _, name := range s.Lost {
			recorded[of{s.Address, name}] = true
		}
	}
	if len(deleted) == 0 {
		return
	}
	for _, a := range slices.Sorted(maps.Keys(rc.prior)) {
		kind, known := resource.Lookup(a.Kind())
		if !known || !a.IsObject() || recorded[of{object: a}] || rc.isNew(a) {
			continue
		}
		step := Step{Address: a, Action: planner.Update, ID: rc.prior[a].ID, Identifier: rc.prior[a].Identifier}
		loses := func(f *resource.Field) bool {
			if of := f.Definition; of != nil && deleted[objectKey{of.Kind.Name, of.ID}] {
				return true
			}
			return f.IsRef() && slices.ContainsFunc(strings.Split(rc.stateValue(a, f), ","), func(id string) bool {
				return deleted[objectKey{f.Ref, id}] || deleted[objectKey{f.OrRef, id}]
			}) && !kind.ViaMembership(f, rc.plan.API)
		}
		var fields []*resource.Field
		for i := range kind.Fields {
			fields = append(fields, &kind.Fields[i])
		}
		for _, f := range append(fields, rc.customFieldsOf(a)...) {
			if !recorded[of{a, f.Name}] && loses(f) {
				rc.addStateValue(&step, f)
			}
		}
		if len(step.Fields)+len(step.Lost) > 0 {
			rc.steps = append(rc.steps, step)
		}
	}
}

// stateValue returns the value of a field in the state.
func (rc *recorder) stateValue(of resource.Address, f *resource.Field) string {
	return f.WithoutProperty(rc.prior[of].Values[f.Name])
}

// addStateValue adds the value of a field in the state to a step.
func (rc *recorder) addStateValue(step *Step, f *resource.Field) {
	switch text := rc.stateValue(step.Address, f); {
	case text == "":
	case strings.HasPrefix(text, "sha256:"):
		step.Lost = append(step.Lost, f.Name)
	default:
		var names []string
		for id := range strings.SplitSeq(text, ",") {
			names = append(names, cmp.Or(string(rc.addressOf(f.Ref, id)), string(rc.addressOf(f.OrRef, id)), id))
		}
		step.Fields = append(step.Fields, newField(f, text, names)) // field uses the names only for references
	}
}

// customFieldsOf returns the custom fields of an object whose value and definition are in the state.
func (rc *recorder) customFieldsOf(of resource.Address) (fields []*resource.Field) {
	custom, ok := resource.MustLookup(of.Kind()).CustomFields()
	if !ok {
		return nil
	}
	if rc.properties == nil {
		rc.properties = map[string][]*resource.Object{}
		for _, a := range slices.Sorted(maps.Keys(rc.prior)) {
			k, known := resource.Lookup(a.Kind())
			if !known || !a.IsObject() || !k.DefinesFields() {
				continue
			}
			property := &resource.Object{Kind: k, Address: a, Key: a.Key(), ID: rc.prior[a].ID}
			for _, name := range resource.DefiningFields() {
				if f, ok := k.Field(name); ok && rc.prior[a].Values[name] != "" {
					property.Values = append(property.Values, *f.ValueOf(rc.prior[a].Values[name]))
				}
			}
			rc.properties[property.Key] = append(rc.properties[property.Key], property)
		}
	}
	values := rc.prior[of].Values
	for _, name := range slices.Sorted(maps.Keys(values)) {
		key, isCustom := strings.CutPrefix(name, custom.Name+".")
		if !isCustom {
			continue
		}
		for _, property := range rc.properties[key] {
			f, in := resource.CustomField(property), property.Address.Parent()
			ofType := in == "" || rc.prior[in].ID == values[custom.DefinedIn]
			if f.IsOf(values[name], property.ID) && (ofType || !strings.HasPrefix(values[name], "sha256:")) { // a hash does not name the property
				fields = append(fields, f)
			}
		}
	}
	return fields
}

// addMembershipsOf records the members of a deleted object, and the containers that it was in, as far as the state knows them.
func (rc *recorder) addMembershipsOf(s *planner.Step) {
	for _, via := range resource.Memberships() {
		if via.Membership.Container != s.Kind.Name {
			continue
		}
		at := s.Address.Members(via.Membership.Plural(), 1)
		if r := rc.prior[at]; len(r.Members) > 0 {
			rc.steps = append(rc.steps, Step{Address: at, Action: planner.RemoveMembers, Members: rc.memberList(via, at, r.Members)})
		}
	}
	for _, at := range rc.containersOf(s.ID) {
		if _, via, _, ok := at.ParseMembership(); ok && via.Membership.Member == s.Kind.Name {
			rc.steps = append(rc.steps, Step{Address: at, Action: planner.RemoveMembers, Members: rc.memberList(via, at, []string{s.ID})})
		}
	}
}

// memberList returns members with their attributes in the state.
func (rc *recorder) memberList(via *resource.Kind, at resource.Address, ids []string) []Member {
	list := make([]Member, len(ids))
	for i, id := range ids {
		list[i] = Member{ID: id}
		if a := via.Membership.Attribute; a != nil {
			list[i].Value = rc.prior[at].Values[planner.AttributeKey(a, id)]
		}
	}
	return list
}

// containersOf returns the addresses of the membership records that hold a member.
func (rc *recorder) containersOf(member string) []resource.Address {
	if rc.containersByMember == nil {
		rc.containersByMember = map[string][]resource.Address{}
		for _, a := range slices.Sorted(maps.Keys(rc.prior)) {
			for _, id := range rc.prior[a].Members {
				rc.containersByMember[id] = append(rc.containersByMember[id], a)
			}
		}
	}
	return rc.containersByMember[member]
}

// addressOf returns the address of an object in the state, or "".
func (rc *recorder) addressOf(kind, id string) resource.Address {
	if rc.addresses == nil {
		rc.addresses = indexAddresses(rc.prior)
	}
	return rc.addresses[objectKey{kind, id}]
}

// addMembers adds the record of a step about members.
func (rc *recorder) addMembers(s *planner.Step) {
	_, via, at, ok := s.Address.ParseMembership()
	if !ok || rc.isNew(s.Members.Container.Address) {
		return
	}
	if to := &s.Members.Container; to.Object == nil { // the address in the plan holds the container's name
		if a := rc.addressOf(via.Membership.Container, to.ID); a != "" {
			at = a.Members(via.Membership.Plural(), 1)
		}
	}
	step := Step{Address: at, Action: s.Action}
	for i := range s.Members.Items {
		m := &s.Members.Items[i]
		if rc.created[m.Address] { // undo deletes the member itself
			continue
		}
		kept := Member{ID: m.ID, Address: m.Address, Name: m.Text}
		switch a := via.Membership.Attribute; {
		case s.Action == planner.Update:
			kept.Value = m.Before
		case s.Action == planner.RemoveMembers && a != nil:
			kept.Value = cmp.Or(m.Value, rc.prior[at].Values[planner.AttributeKey(a, m.ID)])
		case s.Action == planner.AddMembers && via.Membership.Exclusive:
			for _, from := range rc.containersOf(m.ID) {
				if _, of, _, _ := from.ParseMembership(); of == via && from != at {
					kept.From = from
				}
			}
		}
		step.Members = append(step.Members, kept)
	}
	if len(step.Members) > 0 {
		rc.steps = append(rc.steps, step)
	}
}
