package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

const (
	longText     = 60  // characters above which a changed text is shown as a difference of lines
	inlineText   = 100 // characters of a value that are shown on its line
	fewMembers   = 3   // members that are named and not only counted
	namedWords   = 5   // words that are named in a reason of several steps
	namedSteps   = 10  // steps with equal changes that are named
	fewManifests = 3   // manifests that are named

	keptTitle, stateChangesTitle = "Kept as on the service", "State changes"
)

// shownPlan is a plan's document, prepared for all formats. It decides about the content; the formats decide about the layout.
type shownPlan struct {
	*planfile.Document

	perMinute int                         // requests
	entries   []entry                     // in the order of the steps
	names     map[resource.Address]string // of objects that values and members name
}

// entry is a step together with the steps that continue it, or all batches of a membership. Formats show it as one.
type entry struct {
	plan         *shownPlan
	step         *planfile.Step   // the first
	action       planner.Action   // Update for an object that is adopted and changed
	kind         *resource.Kind   // of the object, or of the membership
	address      resource.Address // of the object, or of the container of the members
	isMembership bool
	members      []planfile.Member
	continued    []*planfile.Step // later steps about the same object
	children     []*entry         // objects that are created within the object; each has its own entry in the plan, too
	isChild      bool
	isOld        bool     // the entry is one of several refusals of the last applied run that stay
	same         []*entry // all refusals that this entry stands for, including the first; see merged
}

// change is a field that becomes different.
type change struct {
	path          string
	name          string // of the field, for people; "" = the path
	form          form
	note          string // replaces the values of a noted change
	before, after value
	remark        string // why the field differs, and why it cannot be changed
}

// label returns the name of the field, or its path.
func (ch *change) label() string { return cmp.Or(ch.name, ch.path) }

// form tells how people see a change, such as both values or a difference.
type form int

const (
	formNoted    form = iota // no values
	formAdded                // the value of a new object
	formReplaced             // both values
	formEdited               // the difference of two texts
	formRelisted             // the elements that a list loses and gets
)

// value is the old or the new value of a change.
type value struct {
	text    string // for a list, one element a line
	list    bool
	word    bool   // the value is not free text, and is shown without quotation marks
	missing string // the words to show if there is no value, such as (none)
}

// newShownPlan returns a plan's document with its steps as entries.
func newShownPlan(d *planfile.Document, perMinute int) *shownPlan {
	plan := &shownPlan{Document: d, perMinute: perMinute, entries: make([]entry, 0, len(d.Steps)), names: map[resource.Address]string{}}
	maps.Copy(plan.names, d.Names)
	for i := range d.Steps {
		if step := &d.Steps[i]; step.Title != "" {
			plan.names[step.Address] = step.Title
		}
	}
	type membership struct {
		of                  resource.Address
		kind                *resource.Kind
		action              planner.Action
		reason, unsupported string
	}
	memberships, objects := map[membership]*entry{}, map[resource.Address]*entry{}
	for i := range d.Steps {
		step := &d.Steps[i]
		if first := objects[step.Address]; step.Continues && first != nil {
			first.continued = append(first.continued, step)
			continue
		}
		plan.entries = append(plan.entries, plan.newEntry(step))
		e := &plan.entries[len(plan.entries)-1]
		if !e.isMembership {
			e.addTo(objects[e.address.Parent()])
			if known := objects[e.address]; known == nil || known.action != planner.Create { // a later step does not replace the create
				objects[e.address] = e
			}
			continue
		}
		key := membership{e.address, e.kind, e.action, e.why(), step.Unsupported}
		if first := memberships[key]; first != nil {
			first.members = append(slices.Clip(first.members), e.members...)
			plan.entries = plan.entries[:len(plan.entries)-1]
		} else {
			memberships[key] = e
		}
	}
	if old := plan.entriesWhere(func(e *entry) bool { return e.step.AsBefore && e.action == planner.NotPossible }); len(old) > 1 {
		for _, e := range old { // a single one is shown with its reason, because that takes one line, too
			e.isOld = true
		}
	}
	return plan
}

func (s *shownPlan) newEntry(step *planfile.Step) entry {
	e := entry{plan: s, step: step, action: step.PlannedAction(), address: step.Address}
	if container, kind, _, ok := step.Address.ParseMembership(); ok {
		e.address, e.kind, e.isMembership, e.members = container, kind, true, step.AllMembers()
	} else {
		e.kind, _ = resource.Lookup(step.Address.Kind())
	}
	return e
}

// addTo makes a new object a child of its new parent, unless the parent is a child or stands directly in the workspace.
// So a new work item has its own entry, and its links are lines in that entry.
func (e *entry) addTo(parent *entry) {
	if e.action == planner.Create && parent != nil && parent.action == planner.Create && !parent.isChild && parent.address.Parent() != "" &&
		slices.Contains(e.step.Needs, string(parent.address)) {
		e.isChild = true
		parent.children = append(parent.children, e)
	}
}

// changes returns the field changes of a step and of the steps that continue it.
func (e *entry) changes() []change {
	var all []change
	if e.isMembership {
		return nil
	}
	for _, step := range append([]*planfile.Step{e.step}, e.continued...) {
		for i := range step.Changes {
			if e.action == planner.Create && step.Changes[i].After == nil { // a new object starts without a value
				continue
			}
			c := e.plan.newChange(e.kind, e.action, &step.Changes[i])
			if e.action == planner.Create && c.form == formAdded && c.after.text == e.step.Title { // the title already stands beside the address
				continue
			}
			if n := len(all); e.action == planner.NotPossible && n > 0 && all[n-1].path == c.path && all[n-1].before == c.before {
				all[n-1].after.add(c.after.text) // values of one field share a line
				continue
			}
			all = append(all, c)
		}
	}
	shareRemark(all)
	for _, other := range e.same[:min(len(e.same), usualEntries)] {
		for i, c := range other.changes() {
			all[i].after.add(c.after.text)
		}
	}
	return all
}

// shareRemark keeps a remark at the first change only, if all of at least alikeSteps changes have the same remark.
func shareRemark(all []change) {
	if n := len(all); n >= alikeSteps && !slices.ContainsFunc(all, func(c change) bool { return c.remark == "" || c.remark != all[0].remark }) {
		all[0].remark += "; the same for all " + strconv.Itoa(n) + " fields"
		for i := range all[1:] {
			all[i+1].remark = ""
		}
	}
}

// add adds an element to a value, which becomes a list. It does nothing if the value has the element.
func (vl *value) add(element string) {
	if vl.missing == "" && vl.text != element && !slices.Contains(splitLines(vl.text), element) {
		vl.text, vl.list = vl.text+"\n"+element, true
	}
}

// newChange returns a change of a document, prepared for people.
func (s *shownPlan) newChange(kind *resource.Kind, action planner.Action, c *planfile.Change) change {
	f, known := kind.Field(c.Path)
	word, immutable := c.Word, false
	if known {
		word, immutable = f.IsWord(), f.Immutable
	}
	absent := "(none)"
	if c.Origin == string(planner.NotRefreshed) {
		absent = "(unknown)"
	}
	shown := change{
		path: c.Path, name: c.Name, form: formReplaced, before: newValue(c.Before, word, absent),
		after: newValue(c.After, word, "(none)"),
	}
	if known && f.IsRef() || !known && c.Word { // the options of a custom field are objects, too
		s.nameReferences(&shown.before, &shown.after)
	}
	shown.remark = s.remark(action, c, immutable)
	switch {
	case c.Path == "external_id" && !known: // people need not know more of the external ID
		return change{note: "its external ID on the service becomes the new key"}
	case c.References > 0:
		when := map[bool]string{true: "its target exists", false: "their targets exist"}[c.References == 1]
		return change{path: c.Path, name: c.Name, note: diag.Count(c.References, "link") + ", added when " + when}
	case action == planner.Create:
		shown.form, shown.after.text = formAdded, strings.TrimSuffix(shown.after.text, "\n")
	case shown.before.list && shown.after.list:
		shown.form = formRelisted
	case !shown.before.isLong() && !shown.after.isLong():
	case slices.Equal(splitLines(shown.before.text), splitLines(shown.after.text)):
		shown.form, shown.note = formNoted, "differs in line ends only"
	default:
		shown.form = formEdited
	}
	return shown
}

// nameReferences replaces the addresses in values by the names of the objects. It changes nothing if two addresses have
// the same name.
func (s *shownPlan) nameReferences(values ...*value) {
	addresses, named := map[string]string{}, make([]string, len(values))
	for i, v := range values {
		lines := strings.Split(v.text, "\n")
		for k, address := range lines {
			lines[k] = cmp.Or(s.names[resource.Address(address)], address)
			if other, used := addresses[lines[k]]; used && other != address {
				return
			}
			addresses[lines[k]] = address
		}
		named[i] = strings.Join(lines, "\n")
	}
	for i, v := range values {
		v.text = named[i]
	}
}

// without returns the elements of a list that another list lacks.
func (vl *value) without(other *value) []string {
	kept := splitLines(other.text)
	return slices.DeleteFunc(splitLines(vl.text), func(s string) bool { return slices.Contains(kept, s) })
}

// relisting returns the added and removed elements of a list, such as "+ops, -infra". If whole is false, it returns the first
// elements and counts the rest.
func (ch *change) relisting(minus string, whole bool, paint func(text string, added bool) string) string {
	var parts []string
	for _, element := range ch.after.without(&ch.before) {
		parts = append(parts, paint("+"+element, true))
	}
	for _, element := range ch.before.without(&ch.after) {
		parts = append(parts, paint(minus+element, false))
	}
	if whole {
		return strings.Join(parts, ", ")
	}
	return diag.First(parts, namedSteps)
}

// remark returns why a field differs, and why it cannot be changed.
func (s *shownPlan) remark(action planner.Action, c *planfile.Change, immutable bool) string {
	var parts []string
	switch planner.Origin(c.Origin) {
	case planner.FromDrift:
		text := "changed on the service since the last apply" + changedBy(c)
		if c.Conflict && len(s.Options.Undo) == 0 { // an undo does not ask the manifests
			text += ", and in the manifest"
		}
		parts = append(parts, text)
	case planner.NotRefreshed:
		parts = append(parts, "not read from the service")
	case planner.Overwritten:
		parts = append(parts, "overwrites the service's value")
	case planner.FromManifest:
	}
	switch {
	case c.Possible == nil || *c.Possible || action == planner.NotPossible || action == planner.Create:
	case immutable:
		parts = append(parts, "cannot be changed after creation")
	default:
		parts = append(parts, "the service cannot change this")
	}
	return strings.Join(parts, "; ")
}

// changedBy returns who changed a field on the service and when, if this is known, such as " by Ann, 2026-01-02 15:04 UTC".
func changedBy(c *planfile.Change) string {
	text := ""
	if c.By != "" {
		text += " by " + c.By
	}
	if at, err := time.Parse(time.RFC3339, c.At); err == nil {
		text += at.UTC().Format(", 2006-01-02 15:04 UTC")
	}
	return text
}

func newValue(v any, word bool, missing string) value {
	switch v := v.(type) {
	case string:
		return value{text: v, word: word}
	case []string:
		return value{text: strings.Join(v, "\n"), list: true, word: true}
	default:
		return value{missing: missing}
	}
}

// oneLine returns the value with the elements of a list on one line.
func (vl *value) oneLine() string {
	if vl.list {
		return strings.ReplaceAll(vl.text, "\n", ", ")
	}
	return vl.text
}

// isLong reports whether a value needs its own lines, because it has several lines or more than longText characters.
func (vl *value) isLong() bool {
	text := vl.oneLine()
	return strings.Contains(text, "\n") || utf8.RuneCountInString(text) > longText
}

// inline returns a value for use within a line, with list elements separated by commas. If whole is false, long values are cut, and the
// last elements of a long list are counted.
func (vl *value) inline(whole bool) string {
	if vl.missing != "" {
		return vl.missing
	}
	if vl.list && !whole {
		names := splitLines(vl.text)
		shown, room := 0, inlineText
		for i, name := range names {
			names[i] = Safe(diag.Truncate(name, inlineText))
			if room -= width(names[i]) + len(", "); room >= 0 || i == 0 {
				shown = i + 1
			}
		}
		return diag.First(names, shown)
	}
	text := vl.oneLine()
	shown, cut := text, ""
	if !whole {
		if shown = diag.Truncate(text, inlineText); len(shown) != len(text) {
			cut = " (" + diag.Count(utf8.RuneCountInString(text), "character") + ")"
		}
	}
	if vl.word {
		return Safe(shown) + cut
	}
	return quote(shown) + cut
}

// why returns how an adopted object was found, or the reason of another step, or "".
func (e *entry) why() string {
	if e.step.Adopted != nil {
		return *e.step.Adopted
	}
	if e.step.Reason != nil {
		return *e.step.Reason
	}
	return ""
}

// lost returns the losses of a deletion, such as the object's text, its people, its last change and its contents, or "".
func (e *entry) lost() string {
	l := e.step.Loss
	if l == nil {
		return ""
	}
	var parts, with, loses, unlisted []string
	if len(l.Despite) > 0 {
		parts = append(parts, "although "+strings.Join(l.Despite, ", and "))
	}
	if l.Text != "" {
		parts = append(parts, quote(diag.OneLine(l.Text)))
	}
	if l.Progress != "" {
		parts = append(parts, l.Progress)
	}
	if len(l.People) > 0 {
		parts = append(parts, diag.First(l.People, namedWords))
	}
	if changed := changedBy(&planfile.Change{By: l.ChangedBy, At: l.ChangedAt}); changed != "" {
		parts = append(parts, "last changed "+strings.TrimLeft(changed, ", "))
	}
	for _, c := range l.Contents {
		text := diag.Count(c.Count, c.Noun)
		switch c.Where {
		case planner.Inside:
			with = append(with, text)
		case planner.Below:
			with = append(with, text+" below it")
		case planner.MemberOf, planner.Using:
			loses = append(loses, text)
		case planner.Unlisted:
			unlisted = append(unlisted, text)
		}
	}
	for _, list := range []struct {
		begin, end string
		texts      []string
	}{{"with ", "", with}, {"taken from ", "", loses}, {"perhaps also from ", " that no list shows", unlisted}} {
		if len(list.texts) > 0 {
			parts = append(parts, list.begin+strings.Join(list.texts, ", ")+list.end)
		}
	}
	if l.Unread {
		parts = append(parts, "its contents were not read")
	}
	return strings.Join(parts, "; ")
}

// reason returns the feature that the edition lacks for the step, or else the result of why.
func (e *entry) reason() string {
	if e.step.Unsupported != "" {
		return "this edition of the service has no " + e.step.Unsupported
	}
	return e.why()
}

// noun returns the readable kind of the object, or of a member of the membership.
func (e *entry) noun() string {
	if e.isMembership {
		return memberNoun(e.kind)
	}
	return e.kind.Noun()
}

// kindName returns the readable kind of the object, or of the members with their container, such as "work item of cycle".
func (e *entry) kindName() string {
	if e.isMembership {
		return memberNoun(e.kind) + " of " + strings.ReplaceAll(e.address.Kind(), "_", " ")
	}
	return e.kind.Noun()
}

// displayNames returns the readable identifier and the title of the object. Each is empty if the address or the reason
// already contains it. A membership has neither.
func (e *entry) displayNames() (identifier, title string) {
	key := e.address.Key()
	switch {
	case e.isMembership, e.action == planner.Create && e.step.Title == key:
		return "", ""
	case e.action == planner.Create, e.action == planner.Delete && e.step.Title != key && e.step.Title != e.step.Identifier:
		return e.step.Identifier, e.step.Title
	}
	explained := e.action == planner.NotPossible && e.step.Position != nil // the reason and the position identify the object
	if !explained && !strings.EqualFold(e.step.Identifier, key) {
		identifier = e.step.Identifier
	}
	if e.step.Title != e.step.Identifier && strings.ReplaceAll(strings.ToLower(e.step.Title), " ", "-") != key {
		title = e.step.Title
	}
	return identifier, title
}

// memberNames returns the name of each member, with a note about its membership.
func (e *entry) memberNames() []string {
	names := make([]string, len(e.members))
	for i := range e.members {
		names[i] = e.members[i].Name(e.kind.Membership)
	}
	return names
}

// namedMembers returns the names of all members if there are only a few. Otherwise it returns only the members that leave
// another container or were moved by people.
func (e *entry) namedMembers() []string {
	names := e.memberNames()
	if len(names) <= fewMembers {
		return names
	}
	var named []string
	for i := range e.members {
		if e.members[i].Leaves != "" || e.members[i].Drift {
			named = append(named, names[i])
		}
	}
	return named
}

// entriesWhere returns the entries for which wanted returns true.
func (s *shownPlan) entriesWhere(wanted func(*entry) bool) []*entry {
	var all []*entry
	for i := range s.entries {
		if e := &s.entries[i]; wanted(e) {
			all = append(all, e)
		}
	}
	return all
}

// isUnremarkable reports whether the plan has no changes, no refusals, no kept fields and no changes of the state.
func (s *shownPlan) isUnremarkable() bool {
	sum := &s.Summary
	return sum.Create+sum.Update+sum.Adopt+sum.Delete+sum.AddMembers+sum.RemoveMembers+sum.Blocked+sum.Kept+len(s.StateChanges) == 0
}

// verdict returns the closing line of a plan in two parts. head is empty, or begins the line in bold.
func (s *shownPlan) verdict() (head, text string) {
	sum := &s.Summary
	if s.isUnremarkable() {
		text = "No changes. All " + diag.Count(sum.Unchanged, "object") + " match the manifest"
		switch unseen := len(s.NotCompared) > 0; {
		case len(s.Options.Undo) > 0:
			text = "No changes. Nothing is left to undo"
		case unseen && sum.Unchanged == 0:
			text = "No changes found"
		case unseen:
			text = fmt.Sprintf("No changes in what was compared: %d of %s match the manifest", sum.Unchanged,
				diag.Count(sum.Unchanged+sum.NotCompared, "object"))
		case sum.Unchanged == 0:
			text = "No changes. The manifest lists no objects"
		case sum.Unchanged == 1:
			text = "No changes. The 1 object matches the manifest"
		}
		if sum.Ignored > 0 {
			text += "; " + diag.Count(sum.Ignored, "field") + " left to people (ignore_changes)"
		}
		if len(s.NotCompared) > 0 {
			text += "; not compared: " + notCompared(s.NotCompared)
		}
		return "", text + " (" + diag.Count(sum.Reads, "read request") + ")."
	}
	requests := diag.Count(sum.Requests, "request")
	if sum.Requests > 0 {
		api := "API " + Safe(s.API)
		if s.API == resource.Documented.String() {
			api = resource.Documented.Noun()
		}
		requests += " by " + api + ", " + diag.AtRate(sum.Requests, cmp.Or(s.Options.PerMinute, s.perMinute))
	}
	var changes []count
	for _, c := range s.changeCounts() {
		changes = append(changes, c.count)
	}
	return "Plan:", sentence(counts(changes...), counts(count{sum.Unchanged, "unchanged"})) + " " + requests + "." +
		notComparedToo(s.NotCompared)
}

// actionCount is the count of an action, or of another part of a plan's summary.
type actionCount struct {
	count

	action string // of the counted steps; "" = the count is not about steps
}

func (s *shownPlan) changeCounts() []actionCount {
	sum := &s.Summary
	of := func(a planner.Action, c count) actionCount { return actionCount{c, actionWord(a)} }
	return []actionCount{
		of(planner.Create, count{sum.Create, "to create"}), of(planner.Update, count{sum.Update, "to update"}),
		of(planner.Adopt, count{sum.Adopt, "to adopt"}),
		of(planner.AddMembers, noun(sum.AddMembers, "membership")),
		of(planner.RemoveMembers, noun(sum.RemoveMembers, "membership").and("to remove")),
		of(planner.Delete, count{sum.Delete, "to delete"}),
		{count{len(s.StateChanges), "to correct in the state"}, ""},
		of(planner.NotPossible, count{sum.Blocked, "not possible"}),
		{count{sum.Kept, "kept as on the service"}, ""},
		{count{sum.Ignored, "left to people (ignore_changes)"}, ""},
	}
}

// notCompared names the parts that were not compared, grouped by the hint that would compare them or, without a hint, by the reason.
func notCompared(list []planner.NotCompared) string {
	const most = 8 // parts that are named for one reason
	var reasons []string
	for _, same := range gather(list, 1, func(n planner.NotCompared) (string, bool) { return cmp.Or(n.Hint, n.Why), true }) {
		var what []string
		for _, n := range same[:min(len(same), most)] {
			what = append(what, n.What)
		}
		if n := len(same) - most; n > 0 {
			what = append(what, "and "+diag.Count(n, "other"))
		}
		reasons = append(reasons, Safe(strings.Join(what, ", ")+" ("+cmp.Or(same[0].Hint, same[0].Why)+")"))
	}
	return strings.Join(reasons, "; ")
}

// notComparedToo returns a sentence about the parts that were not compared, for the end of a line, or "".
func notComparedToo(list []planner.NotCompared) string {
	if len(list) == 0 {
		return ""
	}
	return " Not compared: " + notCompared(list) + "."
}
