// Package notices counts the notices by which a service tells people about the requests of a plan.
//
// It reads the steps of a finished plan, and the rows that the plan was made from. It changes neither, and makes no requests. Its rules
// come from the database of a server after each sort of request. They must not depend on the kinds of requests that API v2 makes.
package notices

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// followed is the kind whose objects people follow, and person the kind of people.
const (
	followed = "work_item"
	person   = "member"
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

// count counts the notices of a plan, step by step.
type count struct {
	world     *planner.World
	plan      *planner.Plan
	telling   Telling
	audiences map[resource.Address]*audience
}

// audience holds the people of a work item, by ID.
type audience struct {
	isNew     bool
	open      bool     // followers who are not known are told
	followers []string // as far as they are known
	mentioned []string // in the text on the service
	assignees []string
	author    string
	told      map[string]int // number of notices
}

// Count returns the notices of a plan, or nil if it tells nobody.
func Count(world *planner.World, plan *planner.Plan, telling Telling) *planner.Notices {
	nc := &count{world, plan, telling, map[resource.Address]*audience{}}
	for _, s := range plan.Steps {
		switch {
		case s.Operation == nil || telling == TellsNothing:
		case s.Members != nil:
			if m := s.Kind.Membership; s.Action == planner.AddMembers && m.Container == followed && m.Member == followed {
				nc.audience(s.Members.Container.Address).tell(len(s.Members.Items))
			}
		case s.Kind.Uploads() && s.Kind.Parent == followed:
			files := 1
			if s.Write != nil && s.Write.Replaces != "" {
				files = 2 // the old file is deleted
			}
			nc.audience(s.Address.Parent()).tell(files)
		case s.Kind.Name == followed && s.Write != nil:
			nc.write(s)
		}
	}
	return nc.sum()
}

// audience returns the people of an item. They are known from its row, and from changes that people made since the last apply.
func (nc *count) audience(item resource.Address) *audience {
	at := nc.audiences[item]
	if at != nil {
		return at
	}
	at = &audience{told: map[string]int{}}
	nc.audiences[item] = at
	if nc.telling < TellsOfChanges {
		return at
	}
	row, k := nc.world.Row(item), resource.MustLookup(followed)
	at.author = row.Text("created_by")
	for i := range k.Fields {
		f := &k.Fields[i]
		if text, _ := f.TextIn(row); f.Rich() {
			at.mentioned = append(at.mentioned, mentions(text)...)
		} else if isPeople(f) {
			at.assignees = strings.Split(text, ",")
		}
	}
	at.follow(at.mentioned)
	for _, d := range nc.plan.Drift {
		if d.Object.Address == item && d.Change.Actor != "" {
			at.followers = append(at.followers, d.Change.Actor)
		}
	}
	return at
}

// isPeople reports whether a field is a list of people.
func isPeople(f *resource.Field) bool { return f.Type == resource.RefSet && f.Ref == person }

// write counts the notices of a request that creates or changes an item. A create tells nobody. A change gives each follower a notice for
// each field, or for each label or assignee added or removed. A text counts only for the people newly mentioned in it.
func (nc *count) write(s *planner.Step) {
	at := nc.audience(s.Address)
	at.isNew = at.isNew || s.Action == planner.Create
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
			had, ids := nc.ids(s, v)
			added, removed := without(ids, had), without(had, ids)
			if n = len(added) + len(removed); !isPeople(v.Field) {
				break
			}
			if at.assignees = ids; s.Action != planner.Create {
				at.followers = append(at.followers, added...)
			}
			if nc.world.IsUndo() { // an undo removes people whom an update had added
				at.followers = append(at.followers, removed...)
			}
		case v.Field.Past && v.Field.Ref == person && len(v.Refs) > 0:
			_, ids := nc.ids(s, v)
			at.author = ids[0]
		case slices.Contains([]string{"name", "parent", "priority", "state", "start_date", "target_date", "archived"}, v.Field.Name):
			n = 1
		}
		if n > 0 {
			fields, textIsLast = fields+n, false
		}
	}
	switch {
	case nc.telling < TellsOfChanges:
		return
	case s.Action != planner.Create:
		at.tell(fields, mentioned...)
		if fields++; textIsLast {
			fields = 1 // the service tells them about the last field only if that is the text
		}
		for _, id := range mentioned {
			at.told[id] += fields
		}
	}
	at.follow(mentioned)
}

// ids returns the IDs of the objects that a value named before a change, and those that it names now. It returns the address of an object that
// the run creates.
func (nc *count) ids(s *planner.Step, v *resource.Value) (had, ids []string) {
	for _, change := range s.Changes() {
		for k := 0; change.Path == v.Field.Name && change.Was != nil && k < len(change.Was.Refs); k++ {
			had = append(had, change.Was.Refs[k].ID)
		}
	}
	return had, nc.world.Names(s.Address, v)
}

// follow makes people in a text followers. It leaves out assignees and the author, as the service does.
func (at *audience) follow(mentioned []string) {
	at.followers = append(at.followers, without(mentioned, append(at.assignees, at.author))...)
}

// tell counts so many notices for each follower, except for the given people.
func (at *audience) tell(n int, except ...string) {
	if n == 0 {
		return
	}
	at.open = !at.isNew
	for _, id := range slices.Compact(slices.Sorted(slices.Values(without(at.followers, except)))) {
		at.told[id] += n
	}
}

func (nc *count) sum() *planner.Notices {
	all, told := &planner.Notices{AtLeast: true, Known: []planner.Told{}}, map[string]int{}
	for _, at := range nc.audiences {
		delete(at.told, nc.world.Self())
		for id, n := range at.told {
			told[id] += n
			all.Notices += n
		}
		if all.Mails += len(at.told); at.open {
			all.Items++
		}
	}
	if all.People = len(told); all.People+all.Items == 0 {
		return nil
	}
	ids := slices.Collect(maps.Keys(told))
	for i, name := range nc.world.NamesOf(person, ids) {
		all.Known = append(all.Known, planner.Told{Name: name, Notices: told[ids[i]]})
	}
	slices.SortFunc(all.Known, func(a, b planner.Told) int { return cmp.Or(b.Notices-a.Notices, cmp.Compare(a.Name, b.Name)) })
	return all
}

var (
	mentionTag = regexp.MustCompile(`<mention-component\s[^>]*>`)
	mentionID  = regexp.MustCompile(`\sentity_identifier=["']?([0-9A-Fa-f-]{36})`)
)

// mentions returns the IDs of the people in the mentions of an HTML text.
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
