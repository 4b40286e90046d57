package planner

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
)

// Telling is the extent to which a service tells people about the requests of an API key.
type Telling int

// A service that TellsOfRelations tells the followers of a work item about its relations and files. A service that TellsOfChanges also tells
// them about changed fields. It tells new assignees and people newly mentioned in a text, too.
const (
	TellsNothing Telling = iota
	TellsOfRelations
	TellsOfChanges
)

// noticeCount counts the notices of a plan, step by step.
type noticeCount struct {
	*World

	plan      *Plan
	telling   Telling
	kind      string            // the kind that people follow
	names     map[string]string // display names of people, by ID
	audiences map[resource.Address]*audience
	told      map[string]map[resource.Address]int // notices by person and item
	open      map[resource.Address]bool           // items with unknown followers who are told
}

// audience holds the people of a work item, by ID.
type audience struct {
	isNew     bool
	followers []string // as far as they are known
	mentioned []string // in the text on the service
	assignees []string
	author    string
}

// CountNotices returns the notices of a plan, or nil if it tells nobody.
func (wo *World) CountNotices(plan *Plan, telling Telling) *Notices {
	c := &noticeCount{
		World: wo, plan: plan, telling: telling, kind: resource.MustLookup(activity).Parent, names: map[string]string{},
		audiences: map[resource.Address]*audience{}, told: map[string]map[resource.Address]int{}, open: map[resource.Address]bool{},
	}
	for read, answer := range wo.in.Observed {
		for _, row := range answer.Rows {
			if names := people().DisplayTexts(row); read.Operation.Kind == people().Name && len(names) > 0 {
				c.names[row.ID()] = names[len(names)-1]
			}
		}
	}
	for _, s := range plan.Steps {
		switch {
		case s.Operation == nil || telling == TellsNothing:
		case s.Members != nil:
			if m := s.Kind.Membership; s.Action == AddMembers && m.Container == c.kind && m.Member == c.kind {
				c.tellFollowers(s.Members.Container.Address, len(s.Members.Items))
			}
		case s.Kind.Uploads() && s.Kind.Parent == c.kind:
			files := 1
			if s.Write != nil && s.Write.Replaces != "" {
				files = 2 // the old file is deleted
			}
			c.tellFollowers(s.Address.Parent(), files)
		case s.Kind.Name == c.kind && s.Action == Create:
			c.create(s)
		case s.Kind.Name == c.kind && s.Write != nil:
			c.update(s)
		}
	}
	return c.sum()
}

// audience returns the people of an item. They are known from its row, and from the changes that people made since the last apply.
func (nc *noticeCount) audience(item resource.Address) *audience {
	at := nc.audiences[item]
	if at != nil {
		return at
	}
	at = &audience{}
	nc.audiences[item] = at
	i, wanted := nc.objects.indexOf(item)
	if !wanted || nc.telling < TellsOfChanges {
		return at
	}
	o, row := nc.in.Desired[i], nc.objects.states[i].row
	at.author = row.Text("created_by")
	for k := range o.Kind.Fields {
		f := &o.Kind.Fields[k]
		if text, _ := f.TextIn(row); f.Rich() {
			at.mentioned = append(at.mentioned, mentions(text)...)
		} else if f.Type == resource.RefSet && f.Ref == people().Name {
			at.assignees = strings.Split(text, ",")
		}
	}
	at.follow(at.mentioned)
	for _, d := range nc.plan.Drift {
		for id, name := range nc.names {
			if d.Object == o && name == d.Change.By {
				at.followers = append(at.followers, id)
			}
		}
	}
	return at
}

// create adds the people of a new item.
func (nc *noticeCount) create(s *Step) {
	at := nc.audience(s.Address)
	at.isNew = true
	for _, v := range s.Values() {
		if v.Field.Rich() {
			at.mentioned = mentions(v.HTML())
		} else if v.Field.Ref == people().Name {
			people := nc.ids(s, v)
			if v.Field.Type == resource.RefSet {
				at.assignees = people
			} else if len(people) > 0 {
				at.author = people[0]
			}
		}
	}
	if nc.telling == TellsOfChanges {
		at.follow(at.mentioned)
	}
}

// update counts the notices of a request that changes fields of an item. Each follower gets one for each field, or for each label or
// assignee added or removed. A text counts only for the people newly mentioned in it.
func (nc *noticeCount) update(s *Step) {
	at := nc.audience(s.Address)
	fields, textIsLast := 0, false
	var mentioned []string
	for _, v := range s.Values() {
		n := 0
		switch {
		case v.AsShown:
		case v.Field.Rich():
			now := mentions(v.HTML())
			mentioned, at.mentioned, textIsLast = without(now, at.mentioned), now, true
		case v.Field.Type == resource.RefSet:
			had, ids := s.idsBefore(v), nc.ids(s, v)
			added, removed := without(ids, had), without(had, ids)
			if n = len(added) + len(removed); v.Field.Ref != people().Name {
				break
			}
			at.followers, at.assignees = append(at.followers, added...), ids
			if nc.in.Deletes != nil { // an undo removes people whom an update had added
				at.followers = append(at.followers, removed...)
			}
		case slices.Contains([]string{"name", "parent", "priority", "state", "start_date", "target_date", "archived"}, v.Field.Name):
			n = 1
		}
		if n > 0 {
			fields, textIsLast = fields+n, false
		}
	}
	if nc.telling < TellsOfChanges {
		return
	}
	nc.tellFollowers(s.Address, fields, mentioned...)
	if fields++; textIsLast {
		fields = 1 // the service tells them about the last field only if that is the text
	}
	for _, id := range mentioned {
		nc.tell(id, s.Address, fields)
	}
	at.follow(mentioned)
}

// follow makes people whom a text mentions followers, except for the assignees and the author.
func (at *audience) follow(mentioned []string) {
	at.followers = append(at.followers, without(mentioned, append(at.assignees, at.author))...)
}

// idsBefore returns the IDs of a set of references before a change.
func (s *Step) idsBefore(v *resource.Value) (ids []string) {
	for _, change := range s.changes {
		if change.Path == v.Field.Name && change.Was != nil {
			for _, r := range change.Was.Refs {
				ids = append(ids, r.ID)
			}
		}
	}
	return ids
}

// ids returns the IDs of the objects that a value names, or their addresses if the run creates them.
func (nc *noticeCount) ids(s *Step, v *resource.Value) (ids []string) {
	i, _ := nc.objects.indexOf(s.Address)
	resolve := nc.refs.idResolver(i)
	for k := range v.Refs {
		r := &v.Refs[k]
		id, ok := resolve(v.Field, r)
		if !ok {
			id = showReference(r)
		}
		if ids = append(ids, id); v.Field.Ref == people().Name {
			nc.names[id] = cmp.Or(nc.names[id], r.Text)
		}
	}
	return ids
}

// tellFollowers counts so many notices for each follower of an item, except for the given people.
func (nc *noticeCount) tellFollowers(item resource.Address, n int, except ...string) {
	at := nc.audience(item)
	for _, id := range slices.Compact(slices.Sorted(slices.Values(without(at.followers, except)))) {
		nc.tell(id, item, n)
	}
	if n > 0 && !at.isNew {
		nc.open[item] = true
	}
}

func (nc *noticeCount) tell(id string, item resource.Address, n int) {
	if n == 0 || id == nc.in.Self {
		return
	}
	if nc.told[id] == nil {
		nc.told[id] = map[resource.Address]int{}
	}
	nc.told[id][item] += n
}

func (nc *noticeCount) sum() *Notices {
	if len(nc.told)+len(nc.open) == 0 {
		return nil
	}
	all := &Notices{People: len(nc.told), AtLeast: true, Items: len(nc.open), Known: []Told{}}
	for id, items := range nc.told {
		person := Told{Name: cmp.Or(nc.names[id], id)}
		for n := range maps.Values(items) {
			person.Notices += n
		}
		all.Notices, all.Mails, all.Known = all.Notices+person.Notices, all.Mails+len(items), append(all.Known, person)
	}
	slices.SortFunc(all.Known, func(a, b Told) int {
		return cmp.Or(cmp.Compare(b.Notices, a.Notices), cmp.Compare(a.Name, b.Name))
	})
	return all
}

var (
	mentionTag = regexp.MustCompile(`<mention-component\s[^>]*>`)
	mentionID  = regexp.MustCompile(`\sentity_identifier=["']?([0-9A-Fa-f-]{36})`)
)

// mentions returns the IDs of the people whom an HTML text mentions.
func mentions(html string) (ids []string) {
	for _, tag := range mentionTag.FindAllString(html, -1) {
		if id := mentionID.FindStringSubmatch(tag); id != nil && strings.Contains(tag, "user_mention") {
			ids = append(ids, resource.LowerID(id[1]))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// without returns the texts of a list that others lacks.
func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(text string) bool { return slices.Contains(others, text) })
}
