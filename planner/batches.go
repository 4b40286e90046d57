package planner

import (
	"slices"

	"github.com/planform/planform/internal/plane/resource"
)

// place identifies the steps that can share requests: they have the same bulk operation and the same parent.
type place struct {
	bulk *resource.Operation
	path string // of a delete's bulk request, because the parent's address may not be known
	in   resource.Address
}

// assignBatches numbers the steps that can share requests, because API v2 takes many rows at once. Membership steps wait for the last create of
// their members' batches, so that one list shows which members are in their containers already.
func assignBatches(steps []*Step) {
	numbers, last := map[place]int{}, map[int]StepID{} // by batch
	for _, s := range steps {
		bulk := bulkOperation(s)
		if bulk == nil {
			continue
		}
		at := place{bulk: bulk, in: s.Address.Parent()}
		if s.Action == Delete {
			at.path, _ = bulk.Expand(s.Params)
		}
		if numbers[at] == 0 {
			numbers[at] = len(numbers) + 1
		}
		s.Batch, s.Bulk = numbers[at], bulk
		last[s.Batch] = s.Index
	}
	for _, s := range steps {
		for _, p := range s.Places {
			if l := last[s.Batch]; l > s.Index && l < p.Index && !slices.Contains(p.After, l) {
				p.After = append(p.After, l)
			}
		}
	}
}

// awaitContainers makes the creates of new members wait for their containers, if a create in API v2 can put an object into its containers.
func awaitContainers(list []*Step) {
	for _, s := range list {
		if s.Action != AddMembers {
			continue
		}
		overview, ok := s.Kind.Op(resource.ListOverview, resource.V2)
		if !ok || overview.Overview.Rows != s.Kind.Membership.Member {
			continue
		}
		for _, create := range s.after {
			create.after = append(create.after, s.needs...)
			create.Places = append(create.Places, s)
		}
	}
}

// bulkOperation returns the operation of API v2 that can carry out a step together with others; nil = none.
func bulkOperation(s *Step) *resource.Operation {
	if s.Operation == nil || s.alone || s.Members != nil || !resource.InV2(s.Values()) {
		return nil
	}
	many, ok := map[resource.Verb]resource.Verb{
		resource.Create: resource.CreateMany, resource.Update: resource.UpdateMany,
		resource.Delete: resource.DeleteMany,
	}[s.Operation.Verb]
	if !ok || s.Action == NotPossible || many == resource.DeleteMany && s.ID == "" {
		return nil
	}
	bulk, _ := s.Kind.Op(many, resource.V2)
	return bulk
}

// countRequests returns the number of write requests that the steps make if nothing goes wrong. Steps of a batch share requests as in
// the executor: a request is full, or has all steps that are ready. A member whose create puts it into the container needs none.
func countRequests(steps []*Step) int {
	n := 0
	waiting, placed := map[int][]*Step{}, map[*Step]int{} // by batch; members that creates add, by membership step
	for _, s := range steps {
		switch {
		case s.Operation == nil || s.Action == NotPossible:
		case s.Batch != 0:
			waiting[s.Batch] = append(waiting[s.Batch], s)
			for _, p := range s.Places {
				placed[p]++
			}
		case s.Action == AddMembers && placed[s] == len(s.Members.Items):
		case s.Kind.Uploads() && s.Action == Create:
			if n += 3; s.Write.Replaces != "" {
				n++
			}
		case s.Action == Update && s.Members != nil && s.Operation.Verb == resource.AddMembers, // the member is removed and added again
			s.ArchivesFirst():
			n += 2
		default:
			n++
		}
	}
	for _, list := range waiting {
		n += requestsOfBatch(list)
	}
	return n
}

// requestsOfBatch returns the number of requests for the steps of one batch. A step is in the first request with room after the requests
// of the steps that it waits for.
func requestsOfBatch(list []*Step) int {
	requests := make(map[StepID]int, len(list))
	var sizes []int // by request
	for _, s := range list {
		at := 0
		for _, i := range slices.Concat(s.Needs, s.After) {
			if before, same := requests[i]; same {
				at = max(at, before+1)
			}
		}
		for at < len(sizes) && sizes[at] == s.Bulk.Rows {
			at++
		}
		if at == len(sizes) {
			sizes = append(sizes, 0)
		}
		sizes[at]++
		requests[s.Index] = at
	}
	return len(sizes)
}

// A create that waits for the create of its parent is overtaken by later creates, and the service numbers objects as they arrive. That is
// so if the parent stands below it in the manifest. It may also be so in API v2, because a row cannot name an object of its own request. In
// exact order, such an object is therefore created without the parent, and an update names the parent when both exist.

// deferParents removes the parent from creates that may be overtaken, and adds the updates that name these parents. Changes of items that
// name later items, as parents or in custom fields, move to the phase of these updates. If an object or its parent will be archived, the
// create keeps the parent, because archived objects take no updates.
func (ch *changes) deferParents(list []*Step) []*Step {
	turns := map[*Step]int{} // of the creates of objects that can be nested
	for n, s := range list {
		if s.Action == Create && s.Kind.ParentField != "" {
			turns[s] = n
		}
	}
	for n, s := range list {
		isLater := func(r resource.Reference) bool {
			at, wanted := ch.objects.index[r.Target]
			return wanted && turns[ch.steps.of[at]] > n
		}
		if s.Action != Create {
			if slices.ContainsFunc(s.Values(), func(v *resource.Value) bool { return slices.ContainsFunc(v.Refs, isLater) }) {
				s.phase = max(s.phase, completing)
			}
			continue
		}
		k := slices.IndexFunc(s.Values(), func(v *resource.Value) bool {
			return v.Field.Name == s.Kind.ParentField && len(v.Refs) == 1 && v.Refs[0].Target != nil
		})
		if k < 0 {
			continue
		}
		v := s.Values()[k]
		parent := ch.steps.of[ch.objects.index[v.Refs[0].Target]]
		inBatch := ch.in.API == resource.V2 && bulkOperation(s) != nil
		if parent != nil && parent.Action == Create && (turns[parent] > n || inBatch) && !isArchived(s.Object) && !isArchived(parent.Object) {
			s.Write.Values = slices.Delete(slices.Clone(s.Values()), k, k+1)
			list = append(list, ch.nameParent(s, v)...)
		}
	}
	return list
}

func isArchived(o *resource.Object) bool {
	_, want, _ := wantsArchived(o)
	return want
}

// nameParent returns an update that gives a new object its parent, unless an update that is planned already can do so.
func (ch *changes) nameParent(create *Step, v *resource.Value) []*Step {
	changes := changesTo([]*resource.Value{v})
	if l := ch.addedLinks[create]; l != nil {
		l.Write.Values, l.changes = append(l.Values(), v), append(l.changes, changes...)
		return nil
	}
	update := ch.steps.add(create.at, Update)
	update.Operation, update.Write.Values = ch.objects.states[create.at].info.update, []*resource.Value{v}
	update.phase, update.changes = completing, changes
	return []*Step{update}
}
