package history

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Record takes from a plan what its run will do, and from the state what it changes there.
func (r *Run) Record(plan *planner.Plan, prior planner.Prior) {
	c := &recorder{plan: plan, prior: maps.Clone(prior), created: map[resource.Address]bool{}, found: map[resource.Address][]resource.Address{}}
	for _, s := range plan.StateChanges {
		if s.To != "" && s.To != s.From {
			r.Moves = append(r.Moves, Move{s.From, s.To})
			delete(c.prior, s.From)
		}
	}
	for _, m := range r.Moves { // which may be a ring
		c.prior[m.To] = prior[m.From]
	}
	for _, a := range slices.Sorted(maps.Keys(c.prior)) {
		if p := c.prior[a]; a.IsObject() && !p.CreatedByUs && len(p.Values) > 0 {
			c.found[a.Parent()] = append(c.found[a.Parent()], a)
		}
	}
	for _, s := range plan.Steps {
		c.step(s)
	}
	c.losers()
	for _, s := range c.steps {
		for a := s.Address.Parent(); a != ""; a = a.Parent() {
			if id := plan.Known[a].ID; id != "" && c.prior[a].ID == "" {
				if r.Within == nil {
					r.Within = map[resource.Address]string{}
				}
				r.Within[a] = id
			}
		}
	}
	r.Owner, r.BaseURL, r.Workspace, r.Summary, r.Steps = plan.Owner, plan.BaseURL, plan.Workspace, plan.Summary, c.steps
}

// recorder makes the steps of a run.
type recorder struct {
	plan       *planner.Plan
	prior      planner.Prior // by the addresses of the plan
	steps      []Step
	created    map[resource.Address]bool
	in         map[string][]resource.Address           // by the ID of a member: where the state has it; made when first needed
	at         map[object]resource.Address             // of what the state knows; made when first needed
	properties map[string][]*resource.Object           // that define custom fields, by key, as the state knows them; made when first needed
	found      map[resource.Address][]resource.Address // by what it is in: what planform changed, and did not make
}

func (c *recorder) step(s *planner.Step) {
	switch {
	case s.Action == planner.NotPossible:
	case s.Members != nil:
		c.members(s)
	case s.Action == planner.Delete:
		c.deletion(s)
	case s.Action == planner.Create:
		c.created[s.Address] = true
		c.steps = append(c.steps, Step{Address: s.Address, Action: s.Action, Name: c.name(s), Replaces: s.Write.Replaces})
	default:
		c.update(s)
	}
}

func (c *recorder) name(s *planner.Step) string {
	if o := s.Object; o != nil && (s.Name == "" || o.Name() != o.Key) {
		return o.Name()
	}
	return s.Name
}

// isNew reports whether the run creates an object, or something that it is in: it goes with that.
func (c *recorder) isNew(a resource.Address) bool {
	for ; a != ""; a = a.Parent() {
		if c.created[a] {
			return true
		}
	}
	return false
}

func (c *recorder) update(s *planner.Step) {
	step := Step{Address: s.Address, Action: s.Action, ID: s.ID, Identifier: s.Identifier, Name: c.name(s)}
	if c.isNew(s.Address) {
		if s.Action == planner.Adopt {
			c.steps = append(c.steps, step)
		}
		return
	}
	for _, change := range s.Changes() {
		f := s.Field(change.Path)
		switch {
		case f == nil || !change.Possible: // the mark, or nothing that is sent
		case change.Was == nil || len(change.Was.Text) > MostText:
			step.Lost = append(step.Lost, change.Path)
		default:
			var names []string
			if change.Before != nil {
				names = strings.Split(*change.Before, "\n")
			}
			step.Fields = append(step.Fields, field(f, change.Was.Text, names))
		}
	}
	c.steps = append(c.steps, step)
}

// field is what a field was. names are of what it refers to.
func field(f *resource.Field, before string, names []string) Field {
	kept := Field{Name: f.Name, Before: before}
	if f.IsRef() && before != "" && len(names) == strings.Count(before, ",")+1 {
		kept.Names = names
	}
	if of := f.Definition; of != nil {
		kept.Property = &Property{Address: of.Address, Texts: map[string]string{}}
		for _, name := range resource.CustomFieldTypes() {
			if text := of.Text(name); text != "" {
				kept.Property.Texts[name] = text
			}
		}
	}
	return kept
}

func (c *recorder) deletion(s *planner.Step) {
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
		case f.Virtual, f.Type == resource.CustomFields, s.Kind.Derives(f), !c.plan.API.Sendable(f),
			s.Kind.ViaMembership(f, c.plan.API), !known, text == "", f.ArchiveFlag && text == "false":
		case len(text) > MostText:
			step.Lost = append(step.Lost, f.Name)
		default:
			var names []string
			for id := range strings.SplitSeq(text, ",") {
				names = append(names, cmp.Or(d.Names[id], id))
			}
			step.Fields = append(step.Fields, field(f, text, names))
		}
	}
	if d.Row == nil {
		step.Lost = append(step.Lost, "everything: it was not read")
	}
	for _, f := range c.customFields(s.Address) {
		c.valueOf(&step, f)
	}
	for _, a := range c.found[s.Address] {
		step.Lost = append(step.Lost, "values of "+string(a))
	}
	c.steps = append(c.steps, step)
	c.leave(s)
}

// losers records what referred to an object that is deleted, and loses that by it, as far as the state tells.
func (c *recorder) losers() {
	type of struct {
		object resource.Address
		field  string
	}
	gone, told := map[object]bool{}, map[of]bool{}
	for i := range c.steps {
		s := &c.steps[i]
		if s.Action == planner.Delete {
			gone[object{s.Address.Kind(), s.ID}], told[of{object: s.Address}] = true, true
		}
		for _, f := range s.Fields {
			told[of{s.Address, f.Name}] = true
		}
		for _, name := range s.Lost {
			told[of{s.Address, name}] = true
		}
	}
	if len(gone) == 0 {
		return
	}
	for _, a := range slices.Sorted(maps.Keys(c.prior)) {
		kind, known := resource.Lookup(a.Kind())
		if !known || !a.IsObject() || told[of{object: a}] || c.isNew(a) {
			continue
		}
		step := Step{Address: a, Action: planner.Update, ID: c.prior[a].ID, Identifier: c.prior[a].Identifier}
		loses := func(f *resource.Field) bool {
			if of := f.Definition; of != nil && gone[object{of.Kind.Name, of.ID}] {
				return true
			}
			return f.IsRef() && slices.ContainsFunc(strings.Split(c.known(a, f), ","), func(id string) bool {
				return gone[object{f.Ref, id}] || gone[object{f.OrRef, id}]
			}) && !kind.ViaMembership(f, c.plan.API)
		}
		var fields []*resource.Field
		for i := range kind.Fields {
			fields = append(fields, &kind.Fields[i])
		}
		for _, f := range append(fields, c.customFields(a)...) {
			if !told[of{a, f.Name}] && loses(f) {
				c.valueOf(&step, f)
			}
		}
		if len(step.Fields)+len(step.Lost) > 0 {
			c.steps = append(c.steps, step)
		}
	}
}

// known is what the state has of a field.
func (c *recorder) known(of resource.Address, f *resource.Field) string {
	return f.WithoutProperty(c.prior[of].Values[f.Name])
}

// valueOf records what the state has of a field.
func (c *recorder) valueOf(step *Step, f *resource.Field) {
	switch text := c.known(step.Address, f); {
	case text == "":
	case strings.HasPrefix(text, "sha256:"):
		step.Lost = append(step.Lost, f.Name)
	default:
		var names []string
		for id := range strings.SplitSeq(text, ",") {
			names = append(names, cmp.Or(string(c.address(f.Ref, id)), string(c.address(f.OrRef, id)), id))
		}
		step.Fields = append(step.Fields, field(f, text, names)) // which takes the names of references
	}
}

// customFields are those of an object of which the state knows a value, and the property.
func (c *recorder) customFields(of resource.Address) (fields []*resource.Field) {
	custom, ok := resource.MustLookup(of.Kind()).CustomFields()
	if !ok {
		return nil
	}
	if c.properties == nil {
		c.properties = map[string][]*resource.Object{}
		for _, a := range slices.Sorted(maps.Keys(c.prior)) {
			k, known := resource.Lookup(a.Kind())
			if !known || !a.IsObject() || !k.DefinesFields() {
				continue
			}
			property := &resource.Object{Kind: k, Address: a, Key: a.Key(), ID: c.prior[a].ID}
			for _, name := range resource.CustomFieldTypes() {
				if f, ok := k.Field(name); ok && c.prior[a].Values[name] != "" {
					property.Values = append(property.Values, *f.ValueOf(c.prior[a].Values[name]))
				}
			}
			c.properties[property.Key] = append(c.properties[property.Key], property)
		}
	}
	values := c.prior[of].Values
	for _, name := range slices.Sorted(maps.Keys(values)) {
		key, isCustom := strings.CutPrefix(name, custom.Name+".")
		if !isCustom {
			continue
		}
		for _, property := range c.properties[key] {
			f, in := resource.CustomField(property), property.Address.Parent()
			ofType := in == "" || c.prior[in].ID == values[custom.DefinedIn]
			if f.IsOf(values[name], property.ID) && (ofType || !strings.HasPrefix(values[name], "sha256:")) { // which does not tell the property
				fields = append(fields, f)
			}
		}
	}
	return fields
}

// leave records who was in an object that is deleted, and what it was in, as far as the state tells.
func (c *recorder) leave(s *planner.Step) {
	for _, via := range resource.Memberships() {
		if via.Membership.Container != s.Kind.Name {
			continue
		}
		at := s.Address.Members(via.Membership.Plural(), 1)
		if r := c.prior[at]; len(r.Members) > 0 {
			c.steps = append(c.steps, Step{Address: at, Action: planner.RemoveMembers, Members: c.items(via, at, r.Members)})
		}
	}
	for _, at := range c.containers(s.ID) {
		if _, via, _, ok := at.ParseMembership(); ok && via.Membership.Member == s.Kind.Name {
			c.steps = append(c.steps, Step{Address: at, Action: planner.RemoveMembers, Members: c.items(via, at, []string{s.ID})})
		}
	}
}

// items are members as the state has them.
func (c *recorder) items(via *resource.Kind, at resource.Address, ids []string) []Member {
	list := make([]Member, len(ids))
	for i, id := range ids {
		list[i] = Member{ID: id}
		if a := via.Membership.Attribute; a != nil {
			list[i].Value = c.prior[at].Values[planner.AttributeKey(a, id)]
		}
	}
	return list
}

// containers are where the state has a member.
func (c *recorder) containers(member string) []resource.Address {
	if c.in == nil {
		c.in = map[string][]resource.Address{}
		for _, a := range slices.Sorted(maps.Keys(c.prior)) {
			for _, id := range c.prior[a].Members {
				c.in[id] = append(c.in[id], a)
			}
		}
	}
	return c.in[member]
}

// address is where the state has an object, or empty.
func (c *recorder) address(kind, id string) resource.Address {
	if c.at == nil {
		c.at = addressesOf(c.prior)
	}
	return c.at[object{kind, id}]
}

func (c *recorder) members(s *planner.Step) {
	_, via, at, ok := s.Address.ParseMembership()
	if !ok || c.isNew(s.Members.Container.Address) {
		return
	}
	if to := &s.Members.Container; to.Object == nil { // the plan calls it by its name
		if a := c.address(via.Membership.Container, to.ID); a != "" {
			at = a.Members(via.Membership.Plural(), 1)
		}
	}
	step := Step{Address: at, Action: s.Action}
	for i := range s.Members.Items {
		m := &s.Members.Items[i]
		if c.created[m.Address] { // it goes
			continue
		}
		kept := Member{ID: m.ID, Address: m.Address, Name: m.Text}
		switch a := via.Membership.Attribute; {
		case s.Action == planner.Update:
			kept.Value = m.Before
		case s.Action == planner.RemoveMembers && a != nil:
			kept.Value = cmp.Or(m.Value, c.prior[at].Values[planner.AttributeKey(a, m.ID)])
		case s.Action == planner.AddMembers && via.Membership.Exclusive:
			for _, from := range c.containers(m.ID) {
				if _, of, _, _ := from.ParseMembership(); of == via && from != at {
					kept.From = from
				}
			}
		}
		step.Members = append(step.Members, kept)
	}
	if len(step.Members) > 0 {
		c.steps = append(c.steps, step)
	}
}
