package cli_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

const worldItems = 150

// withV2 imports, or makes everything and changes it.
func (c *campaign) withV2(t *testing.T, s *service) {
	t.Helper()
	if c.rounds%2 == 1 {
		c.fromNothing(t, s)
	} else {
		c.imports(t, s)
	}
}

// fromNothing makes a workspace's contents, and makes them otherwise.
func (c *campaign) fromNothing(t *testing.T, s *service) {
	t.Helper()
	var flags []string
	if c.rng.IntN(2) == 0 {
		flags = []string{"--api", "auto"} // the last one counts
	}
	there := observe(s)
	w := newWorld(c.rng)
	s.write(t, "campaign.yaml", w.manifest(t))
	c.untilDone(t, s, 0, flags...)
	c.count(t, s, w.compare(t, s, there))
	c.restsAt(t, s, 0, flags...)
	if t.Failed() {
		return
	}

	if c.rng.IntN(3) == 0 {
		c.takesBack(t, s, w)
		return
	}
	before := observe(s)
	w.visit(t, s)
	w.disown(t, c, s)
	there.add(observe(s).less(before))
	ending := 0
	if w.change() {
		ending = 3
	}
	s.write(t, "campaign.yaml", w.manifest(t))
	flags = append(flags, "--prune", "--max-deletes", "1000", "--refresh-all")
	c.untilDone(t, s, ending, flags...)
	c.count(t, s, w.compare(t, s, there))
	c.restsAt(t, s, ending, flags...)
}

// takesBack makes the contents otherwise, and takes that back: all is as it was, but for what planform does not know to be of its making.
func (c *campaign) takesBack(t *testing.T, s *service, w *world) {
	t.Helper()
	w.disown(t, c, s)
	before := observe(s)
	ending := 0
	if w.change() {
		ending = 3
	}
	s.write(t, "campaign.yaml", w.manifest(t))
	c.untilDone(t, s, ending, "--prune", "--max-deletes", "1000", "--refresh-all")
	for _, o := range w.all {
		o.kept, o.touched = false, false
	}
	w.disown(t, c, s)
	c.command = "undo"
	c.untilDone(t, s, 3, "last")
	c.command = "apply"
	after, names, found := observe(s), named(s), map[string]bool{}
	for _, b := range w.found {
		found[b.fact(names)] = true
	}
	stays := func(what string) bool { // since planform does not know that it made it, or never takes it away
		return found[what] || strings.HasSuffix(what, ` member "ada"`) || slices.ContainsFunc(w.all, func(o *object) bool {
			return (o.kept || o.touched) && strings.Contains(what, fmt.Sprintf("%q", o.name))
		})
	}
	// No update empties these, an empty text has two forms, and a state that comes with each project is not planform's.
	notKept := regexp.MustCompile(`^[a-z_]*label .* color $|^customer_request .* description_html <p></p>$|^state "(Backlog|Todo|In Progress|Done|Cancelled)"`)
	f := findings{}
	for what, n := range before.less(after).objects {
		f.lost += n
		t.Logf("lost: %s (%d)", what, n)
	}
	for what, n := range after.less(before).objects {
		if !stays(what) {
			f.doubled += n
			t.Logf("still there: %s (%d)", what, n)
		}
	}
	for what, n := range before.less(after).values {
		if !notKept.MatchString(what) {
			f.wrong += n
			t.Logf("not as before: %s (%d)", what, n)
		}
	}
	c.count(t, s, f)
}

// object is one object of a made-up manifest.
type object struct {
	kind string // as the store calls it
	key  string
	was  string  // its key in the manifest before
	name string  // or what else tells it from its like
	in   *object // what it lives in
	// set is its fields: text, number, boolean, nil, *object or []*object.
	set map[string]any

	given   bool // it comes with its project, and is in the manifest only if something is set
	kept    bool // it is not to go, since somebody else uses it
	touched bool // somebody else put something into it or below it
	gone    bool // it is no longer in the manifest …
	held    bool // … and stays all the same, for what somebody else put there
	self    bool // the credential's own user was a member, whom planform does not remove
}

// world is a manifest of everything, as it is to be and as it is.
type world struct {
	rng           *rand.Rand
	all           []*object // what something lives in before it
	names         int
	ada, bob, eve *object
	related       map[[2]*object]bool // ever
	found         []belonging         // memberships that planform does not know it made
}

func newWorld(rng *rand.Rand) *world {
	w := &world{
		rng: rng, related: map[[2]*object]bool{},
		ada: &object{kind: "member", key: "ada@example.com", name: "ada"},
		bob: &object{kind: "member", key: "bob@example.com", name: "bob"},
		eve: &object{kind: "member", key: "eve@example.com", name: "eve"},
	}
	for range 2 {
		w.project()
	}
	items := w.living("work_item", nil)
	for _, item := range items {
		w.relate(item, items)
	}
	for range 2 + rng.IntN(3) {
		w.new("initiative_label", nil)
	}
	for range 1 + rng.IntN(2) {
		w.new("initiative", nil)
		w.new("teamspace", nil)
	}
	for range 1 + rng.IntN(3) {
		customer := w.new("customer", nil)
		for range rng.IntN(4) {
			w.new("customer_request", customer)
		}
	}
	for range 1 + rng.IntN(3) {
		w.new("page", nil)
	}
	for _, o := range w.all {
		w.fill(o)
	}
	return w
}

func (w *world) project() {
	p := w.new("project", nil)
	for _, name := range []string{"Backlog", "Todo", "In Progress", "Done", "Cancelled"} {
		given := w.new("state", p)
		given.name, given.given = name, true
	}
	for kind, n := range map[string]int{"state": 2, "label": 4, "work_item_type": 2, "module": 2, "cycle": 2} {
		for range n + w.rng.IntN(3) {
			w.new(kind, p)
		}
	}
	for range worldItems/3 + w.rng.IntN(worldItems/3) {
		item := w.new("work_item", p)
		for range w.rng.IntN(3) {
			w.new("link", item)
		}
		if w.rng.IntN(4) == 0 {
			w.new("comment", item)
		}
	}
}

// new makes a object that has nothing set yet.
func (w *world) new(kind string, in *object) *object {
	w.names++
	o := &object{kind: kind, in: in, key: fmt.Sprintf("k%d", w.names), name: fmt.Sprintf("N%d", w.names), set: map[string]any{}}
	switch kind {
	case "link":
		o.name = "https://example.com/" + o.name
		if in.name != "" && w.rng.IntN(10) == 0 && w.find("link", in, "https://example.com/shared") == nil {
			o.name = "https://example.com/shared" // by several items, once each
		}
	case "comment":
		o.name = "<p>Says " + o.name + "</p>"
	}
	w.all = append(w.all, o)
	return o
}

func (w *world) find(kind string, in *object, name string) *object {
	i := slices.IndexFunc(w.all, func(o *object) bool { return o.kind == kind && o.in == in && o.name == name })
	if i < 0 {
		return nil
	}
	return w.all[i]
}

// living is what there is to be of a kind.
func (w *world) living(kind string, in *object) []*object {
	var found []*object
	for _, o := range w.all {
		if o.kind == kind && !o.gone && (in == nil || o.in == in) {
			found = append(found, o)
		}
	}
	return found
}

func (w *world) one(of []*object) *object {
	if len(of) == 0 {
		return nil
	}
	return of[w.rng.IntN(len(of))]
}

func (w *world) some(of []*object, most int) []*object {
	var some []*object
	for _, i := range w.rng.Perm(len(of))[:min(len(of), w.rng.IntN(most+1))] {
		some = append(some, of[i])
	}
	return some
}

func (w *world) word(of ...string) string { return of[w.rng.IntN(len(of))] }

func (w *world) text() string { w.names++; return fmt.Sprintf("Text %d", w.names) }

func (w *world) colour() string { return fmt.Sprintf("#%06x", w.rng.IntN(1<<24)) }

// fill sets some of a object's fields, and those that it needs.
func (w *world) fill(o *object) {
	maybe := func(field string, value any) {
		if w.rng.IntN(2) == 0 {
			o.set[field] = value
		}
	}
	project := o.in
	switch o.kind {
	case "project":
		o.set["identifier"], o.set["members"] = strings.ToUpper(o.name), []*object{w.bob, w.eve}[:1+w.rng.IntN(2)]
		o.set["cycle_view"], o.set["module_view"], o.set["is_issue_type_enabled"] = true, true, true
		maybe("description", w.text())
		maybe("lead", w.one([]*object{w.ada, w.bob}))
		maybe("timezone", w.word("Europe/Berlin", "UTC", "Asia/Tokyo"))
		maybe("guest_view_all_features", w.rng.IntN(2) == 0)
	case "state":
		if o.given {
			if w.rng.IntN(4) == 0 {
				o.set["description"] = w.text()
			}
			return
		}
		o.set["color"], o.set["group"] = w.colour(), w.word("unstarted", "started", "completed")
		maybe("description", w.text())
	case "label":
		maybe("color", w.colour())
		maybe("description", w.text())
		if parent := w.one(w.before(o)); parent != nil {
			maybe("parent", parent)
		}
	case "work_item_type":
		maybe("description", w.text())
	case "module":
		maybe("description", w.text())
		maybe("status", w.word("backlog", "planned", "in-progress", "paused"))
		maybe("lead", w.one([]*object{w.ada, w.bob}))
		maybe("members", w.some([]*object{w.ada, w.bob}, 2))
		if w.rng.IntN(2) == 0 {
			o.set["start_date"], o.set["target_date"] = "2031-02-01", w.word("2031-02-14", "2031-03-14")
		}
	case "cycle":
		maybe("description", w.text())
		maybe("owned_by", w.one([]*object{w.ada, w.bob}))
		if year := 2030 + slices.Index(w.all, o); w.rng.IntN(2) == 0 { // no two at a time
			o.set["start_date"], o.set["end_date"] = fmt.Sprintf("%d-02-01", year), fmt.Sprintf("%d-02-%d", year, 10+w.rng.IntN(18))
		}
	case "work_item":
		maybe("description", w.text())
		maybe("priority", w.word("none", "urgent", "high", "medium", "low"))
		maybe("start_date", w.word("2031-02-01", "2031-02-02"))
		maybe("target_date", w.word("2031-02-14", "2031-03-14"))
		maybe("assignees", w.some([]*object{w.ada, w.bob}, 2))
		maybe("labels", w.some(w.living("label", project), 3))
		for _, field := range []string{"state", "type", "module", "cycle"} {
			if to := w.one(w.living(referred(field), project)); to != nil {
				maybe(field, to)
			}
		}
		if parent := w.one(w.before(o)); parent != nil {
			maybe("parent", parent)
		}
	case "link":
		maybe("title", w.text())
	case "initiative_label":
		maybe("color", w.colour())
		maybe("description", w.text())
	case "initiative":
		maybe("description", w.text())
		maybe("state", w.word("DRAFT", "PLANNED", "ACTIVE"))
		maybe("lead", w.one([]*object{w.ada, w.bob}))
		maybe("start_date", "2031-02-01")
		maybe("end_date", w.word("2031-02-14", "2031-03-14"))
		maybe("labels", w.some(w.living("initiative_label", nil), 3))
		maybe("projects", w.some(w.living("project", nil), 2))
	case "teamspace":
		maybe("description", w.text())
		maybe("lead", w.one([]*object{w.ada, w.bob}))
		maybe("projects", w.some(w.living("project", nil), 2))
		maybe("members", w.some([]*object{w.ada, w.bob, w.eve}, 3))
	case "customer":
		maybe("description", w.text())
		maybe("email", w.word("a@example.com", "b@example.com"))
		maybe("employees", w.rng.IntN(1000))
		maybe("stage", w.word("lead", "customer"))
	case "customer_request":
		maybe("description", w.text())
		maybe("link", "https://example.com/mail/"+o.name)
	case "page":
		if len(o.set) == 0 { // nothing can change one
			o.set["description"] = w.text()
			maybe("access", w.word("public", "private"))
		}
	}
}

// referred is the kind that a work item's field names.
func referred(field string) string {
	if field == "type" {
		return "work_item_type"
	}
	return field
}

// before is what a object may be below: what lives in the same and was made
// earlier, so that there is no circle at any time.
func (w *world) before(o *object) []*object {
	var found []*object
	for _, other := range w.living(o.kind, o.in) {
		if other == o {
			break
		}
		found = append(found, other)
	}
	return found
}

// relate puts an item in relation to some others, each pair in one relation ever,
// since the service removes all relations of a pair at once.
func (w *world) relate(item *object, others []*object) {
	if w.rng.IntN(3) > 0 {
		return
	}
	for _, other := range w.some(others, 3) {
		if other == item || w.related[[2]*object{item, other}] {
			continue
		}
		w.related[[2]*object{item, other}], w.related[[2]*object{other, item}] = true, true
		field := w.word("blocked_by", "blocking", "relates_to", "duplicate")
		list, _ := item.set[field].([]*object)
		item.set[field] = append(list, other)
	}
}

func relations() map[string]string { // and how the other item shows them
	return map[string]string{"blocked_by": "blocking", "blocking": "blocked_by", "relates_to": "relates_to", "duplicate": "duplicate"}
}

// visit is somebody else, who adds to what there is in the first project, also to
// what planform made.
func (w *world) visit(t *testing.T, s *service) {
	t.Helper()
	projects := w.living("project", nil)
	p, other := projects[0], projects[1]
	ids := map[string]string{}
	for _, kind := range []string{"project", "work_item", "label", "module", "cycle", "state"} {
		for _, row := range s.Rows(kind) {
			ids[kind+fmt.Sprint(row["name"])] = fmt.Sprint(row["id"])
		}
	}
	postTo := func(p *object, path string, body map[string]any) string {
		t.Helper()
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/v1/workspaces/acme/projects/"+ids["project"+p.name]+"/"+path, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", sandboxtest.KeyBob)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		said, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode >= 300 {
			t.Fatalf("%s %s: %d %s %v", path, text, resp.StatusCode, said, err)
		}
		var made struct {
			ID string `json:"id"`
		}
		_ = json.Unmarshal(said, &made) // some answers are lists
		return made.ID
	}
	post := func(path string, body map[string]any) string { t.Helper(); return postTo(p, path, body) }
	use := func(kind string) string {
		o := w.one(w.living(kind, p))
		o.kept = true
		return ids[kind+o.name]
	}
	touch := func() string {
		o := w.one(w.living("work_item", p))
		o.touched = true
		return ids[o.kind+o.name]
	}
	for i := range 6 {
		item := map[string]any{"name": fmt.Sprintf("Theirs %d", i), "external_source": "elsewhere", "external_id": strconv.Itoa(i)}
		switch i {
		case 1:
			item["parent"] = touch()
		case 2:
			item["labels"] = []string{use("label")}
		case 3:
			item["name"] = w.one(w.living("work_item", p)).name
		}
		id := post("work-items/", item)
		switch i {
		case 4:
			post("cycles/"+use("cycle")+"/cycle-issues/", map[string]any{"issues": []string{id}})
		case 5:
			post("modules/"+use("module")+"/module-issues/", map[string]any{"issues": []string{id}})
		}
		if i%2 == 0 {
			post("work-items/"+id+"/links/", map[string]any{"url": "https://example.com/shared", "title": "Theirs"})
			post("work-items/"+id+"/relations/", map[string]any{"relation_type": "relates_to", "issues": []string{use("work_item")}})
		}
	}
	for i := range 2 {
		post("work-items/"+touch()+"/links/", map[string]any{"url": fmt.Sprintf("https://example.com/theirs/%d", i)})
		post("work-items/"+touch()+"/comments/", map[string]any{"comment_html": fmt.Sprintf("<p>Theirs %d</p>", i)})
	}
	for _, o := range w.living("work_item", other) {
		// Of an item that stays in a project that is to go, the service would not let the state go.
		if state, _ := o.set["state"].(*object); w.rng.IntN(20) == 0 && o.set["parent"] == nil && (state == nil || state.given) {
			o.touched = true
			postTo(other, "work-items/"+ids[o.kind+o.name]+"/comments/", map[string]any{"comment_html": "<p>Theirs too</p>"})
		}
	}
	post("labels/", map[string]any{"name": "theirs", "color": "#000000"})
	post("labels/", map[string]any{"name": "theirs below", "parent": use("label")})
}

// disown takes note of what planform does not know to be of its making: what has no
// mark on the service and was found after a run that was killed may be somebody
// else's, and is not deleted.
func (w *world) disown(t *testing.T, c *campaign, s *service) {
	t.Helper()
	text := c.shares(t, s, "state", "pull", "-f", "campaign.yaml")
	var state struct {
		Objects []struct {
			Address string   `json:"address"`
			ID      string   `json:"id"`
			Made    bool     `json:"made"`
			Members []string `json:"members"`
		} `json:"objects"`
	}
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatal(err)
	}
	made, ids, added := map[string]bool{}, map[string]string{}, map[[2]string]bool{}
	for _, o := range state.Objects {
		made[o.Address], ids[o.Address] = o.Made, o.ID
		container, _, _ := strings.Cut(o.Address, "#")
		for _, member := range o.Members {
			added[[2]string{ids[container], member}], added[[2]string{member, ids[container]}] = true, true
		}
	}
	for _, b := range belongings(s) {
		if !added[[2]string{b.of, b.to}] {
			w.found = append(w.found, b)
		}
	}
	for _, o := range w.all {
		if o.given || o.gone || made[o.kind+"/"+o.path()] {
			continue
		}
		for o.kept = true; o.in != nil; {
			if o = o.in; o.kind == "work_item" {
				o.touched = true
			} else {
				o.kept = true
			}
		}
	}
}

// path is the keys of a object's address.
func (o *object) path() string {
	key := o.key
	if o.kind == "link" {
		key = o.name
	}
	if o.in == nil {
		return key
	}
	return o.in.path() + "/" + key
}

// change takes a third of the objects away, renames some, sets and moves others, and adds a few.
// It reports whether something is to go that cannot, since somebody else put something into it.
func (w *world) change() (stuck bool) {
	projects := w.living("project", nil)
	insist := w.rng.IntN(3) == 0
	other := projects[1]
	used := slices.ContainsFunc(w.living("work_item", other), func(o *object) bool { return o.touched })
	other.gone = !other.kept && (insist || !used) && w.rng.IntN(3) == 0
	other.held = other.gone && used
	stuck = other.held
	for _, item := range w.living("work_item", nil) {
		item.gone = item.in.gone || !item.kept && !item.touched && w.rng.IntN(3) == 0 || !item.kept && item.touched && insist && w.rng.IntN(3) > 0
		item.held = item.gone && item.touched
	}
	for _, item := range slices.Backward(w.all) { // what is below comes later
		if !item.held {
			continue
		}
		stuck = true
		for _, field := range []string{"state", "type", "parent"} {
			if to, ok := item.set[field].(*object); ok {
				to.kept, to.held = true, to.gone
			}
		}
	}
	for _, o := range w.all {
		switch o.kind {
		case "project", "work_item", "page":
		default:
			o.gone = o.in != nil && o.in.gone || !o.given && !o.kept && w.rng.IntN(3) == 0
		}
	}
	for _, o := range slices.Clone(w.all) {
		if o.gone {
			continue
		}
		members, _ := o.set["members"].([]*object)
		o.self = o.kind == "teamspace" && slices.Contains(members, w.ada)
		w.heal(o)
		o.was = ""
		switch {
		case o.given || o.kind == "page":
			continue
		case o.kind != "link" && o.kind != "project" && w.rng.IntN(6) == 0, o.kind == "project" && w.rng.IntN(3) == 0:
			w.names++
			o.was, o.key = o.key, fmt.Sprintf("k%d", w.names)
			if o.kind != "project" && !o.touched && !o.kept && w.rng.IntN(2) == 0 {
				w.rename(o)
			}
		case o.kind == "comment" && w.rng.IntN(4) == 0:
			w.rename(o)
		}
		if w.rng.IntN(3) == 0 && o.kind != "project" {
			w.fill(o)
		}
	}
	for _, p := range w.living("project", nil) {
		for range 5 {
			w.fill(w.new("work_item", p))
		}
		for _, item := range w.living("work_item", p) {
			if w.rng.IntN(5) == 0 {
				w.fill(w.new("link", item))
			}
			if w.rng.IntN(10) == 0 {
				w.fill(w.new("comment", item))
			}
			for field := range relations() {
				if list, _ := item.set[field].([]*object); len(list) > 0 && w.rng.IntN(4) == 0 {
					item.set[field] = list[1:]
				}
			}
			if w.rng.IntN(5) == 0 {
				w.relate(item, w.living("work_item", nil))
			}
		}
	}
	return stuck
}

func (w *world) rename(o *object) {
	w.names++
	switch o.name = fmt.Sprintf("N%d", w.names); o.kind {
	case "comment":
		o.name = "<p>Says " + o.name + "</p>"
	}
}

// heal lets a object name nothing that goes.
func (w *world) heal(o *object) {
	for field, v := range o.set {
		switch v := v.(type) {
		case *object:
			if !v.gone {
				continue
			}
			others := w.living(v.kind, v.in)
			if field == "parent" {
				others = w.before(o)
			}
			switch other := w.one(others); {
			case other != nil && w.rng.IntN(2) == 0, field == "state":
				o.set[field] = other
			case (field == "cycle" || field == "module") && w.rng.IntN(2) == 0:
				delete(o.set, field)
			default:
				o.set[field] = nil
			}
		case []*object:
			o.set[field] = slices.DeleteFunc(slices.Clone(v), func(to *object) bool { return to.gone })
		}
	}
}

// manifest is all of it, in JSON, which is YAML.
func (w *world) manifest(t *testing.T) string {
	t.Helper()
	top := map[string]any{"version": 1, "workspace": sandbox.Workspace}
	nodes := map[*object]map[string]any{nil: top}
	sections := map[string]string{
		"work_item_type": "work_item_types", "work_item": "work_items", "customer_request": "requests",
	}
	for _, o := range w.all {
		if o.gone || o.given && len(o.set) == 0 {
			continue
		}
		node := map[string]any{}
		for field, v := range o.set {
			if _, is := relations()[field]; is && o.kind == "work_item" {
				list, _ := node["relations"].(map[string]any)
				if list == nil {
					list = map[string]any{}
					node["relations"] = list
				}
				list[field] = w.written(o, v)
				continue
			}
			node[field] = w.written(o, v)
		}
		if o.was != "" {
			node["previously"] = o.was
		}
		switch node["key"] = o.key; o.kind {
		case "link":
			delete(node, "key")
			node["url"] = o.name
		case "comment":
			node["text"] = strings.TrimSuffix(strings.TrimPrefix(o.name, "<p>"), "</p>")
		case "customer_request":
			node["title"] = o.name
		default:
			node["name"] = o.name
		}
		section := sections[o.kind]
		if section == "" {
			section = o.kind + "s"
		}
		into := nodes[o.in]
		if parent, ok := o.set["parent"].(*object); ok && o.kind == "work_item" && len(o.key)%2 == 0 {
			into = nodes[parent]
			delete(node, "parent")
		}
		list, _ := into[section].([]any)
		into[section] = append(list, node)
		nodes[o] = node
	}
	text, err := json.MarshalIndent(top, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// written is a value in the manifest of o.
func (w *world) written(o *object, v any) any {
	switch v := v.(type) {
	case *object:
		switch v.kind {
		case "state", "label", "work_item_type":
			return v.name
		case "work_item":
			if o.kind == v.kind && o.in != v.in {
				return v.in.key + "/" + v.key
			}
		}
		return v.key
	case []*object:
		list := []any{}
		for _, to := range v {
			list = append(list, w.written(o, to))
		}
		return list
	}
	return v
}

// contents are the objects and values of a workspace, with how often each is there.
type contents struct {
	objects map[string]int // and memberships
	values  map[string]int
}

func newContents() *contents { return &contents{map[string]int{}, map[string]int{}} }

func (f *contents) add(o *contents) {
	for what, n := range o.objects {
		f.objects[what] += n
	}
	for what, n := range o.values {
		f.values[what] += n
	}
}

// less is what is not in o.
func (f *contents) less(o *contents) *contents {
	rest := newContents()
	for of, n := range map[*map[string]int]map[string]int{&f.objects: o.objects, &f.values: o.values} {
		into := rest.objects
		if of == &f.values {
			into = rest.values
		}
		for what, many := range *of {
			if more := many - n[what]; more > 0 {
				into[what] = more
			}
		}
	}
	return rest
}

func called(kind, name, in string) string {
	if in != "" {
		return fmt.Sprintf("%s %q in %q", kind, name, in)
	}
	return fmt.Sprintf("%s %q", kind, name)
}

// column is where the store keeps a field.
func column(kind, field string) string {
	switch kind + "." + field {
	case "project.lead":
		return "project_lead"
	case "work_item.description", "initiative.description", "teamspace.description", "customer.description", "customer_request.description", "page.description":
		return "description_html"
	}
	return field
}

// columns are those that are compared.
func columns() map[string][]string {
	return map[string][]string{
		"project":          {"identifier", "description", "project_lead", "timezone", "cycle_view", "module_view", "is_issue_type_enabled", "guest_view_all_features"},
		"state":            {"color", "group", "description"},
		"label":            {"color", "description", "parent"},
		"work_item_type":   {"description"},
		"module":           {"description", "status", "lead", "members", "start_date", "target_date"},
		"cycle":            {"description", "owned_by", "start_date", "end_date"},
		"work_item":        {"description_html", "priority", "start_date", "target_date", "assignees", "labels", "state", "type", "parent"},
		"link":             {"title"},
		"comment":          {},
		"initiative_label": {"color", "description"},
		"initiative":       {"description_html", "state", "lead", "start_date", "end_date"},
		"teamspace":        {"description_html", "lead"},
		"customer":         {"description_html", "email", "employees", "stage"},
		"customer_request": {"description_html", "link"},
		"page":             {"description_html", "access"},
	}
}

// named is what the objects of the store are called, by their IDs.
func named(s *service) map[string]string {
	names := map[string]string{}
	for _, kind := range []string{"member", "project", "state", "label", "work_item_type", "module", "cycle", "work_item", "initiative", "initiative_label", "teamspace", "customer"} {
		for _, row := range s.Rows(kind) {
			name := row["name"]
			if kind == "member" {
				name = row["display_name"]
			}
			names[fmt.Sprint(row["id"])] = fmt.Sprint(name)
		}
	}
	return names
}

// observe is what the store has.
func observe(s *service) *contents {
	f := newContents()
	names, zones := named(s), map[any]*time.Location{}
	for _, row := range s.Rows("project") {
		zones[row["id"]], _ = time.LoadLocation(fmt.Sprint(row["timezone"]))
	}
	for kind, columns := range columns() {
		for _, row := range s.Rows(kind) {
			name, in := row["name"], row["project"]
			switch kind {
			case "work_item":
				in = nil
			case "link":
				name, in = row["url"], row["issue"]
			case "comment":
				name, in = row["comment_html"], row["issue"]
			case "customer_request":
				in = row["customer"]
			}
			me := called(kind, fmt.Sprint(name), "")
			if in != nil {
				me = called(kind, fmt.Sprint(name), names[fmt.Sprint(in)])
			}
			f.objects[me]++
			for _, column := range columns {
				f.values[me+" "+column+" "+kept(row[column], names, zones[row["project"]])]++
			}
		}
	}
	for _, b := range belongings(s) {
		if fact := b.fact(names); fact != "" {
			f.objects[fact]++
		}
	}
	return f
}

// belonging is a row of the store that says that one object belongs to another, by their IDs.
type belonging struct{ of, how, to string }

func belongings(s *service) (all []belonging) {
	for kind, ends := range map[string][2]string{
		"project_member": {"project", "member"}, "cycle_issue": {"issue", "cycle"}, "module_issue": {"issue", "module"},
		"relation": {"issue", "related_issue"}, "initiative_project": {"initiative", "project"}, "initiative_label_link": {"initiative", "label"},
		"teamspace_project": {"teamspace", "project"}, "teamspace_member": {"teamspace", "member"},
	} {
		for _, row := range s.Rows(kind) {
			how := ends[1]
			if kind == "relation" {
				how = fmt.Sprint(row["relation_type"])
			}
			all = append(all, belonging{fmt.Sprint(row[ends[0]]), how, fmt.Sprint(row[ends[1]])})
			if inverse := relations()[how]; inverse != "" { // the service keeps it once, and shows it from both sides
				all = append(all, belonging{fmt.Sprint(row[ends[1]]), inverse, fmt.Sprint(row[ends[0]])})
			}
		}
	}
	return all
}

// fact is "" where the store has kept what nothing shows.
func (b belonging) fact(names map[string]string) string {
	if names[b.of] == "" || names[b.to] == "" {
		return ""
	}
	return fmt.Sprintf("%q %s %q", names[b.of], b.how, names[b.to])
}

// kept is a value of the store.
func kept(v any, names map[string]string, zone *time.Location) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if name, ok := names[v]; ok {
			return name
		}
		if at, err := time.Parse(time.RFC3339, v); err == nil { // that is how some days are kept
			return at.In(cmp.Or(zone, time.UTC)).Format(time.DateOnly)
		}
		return v
	case []any:
		var list []string
		for _, one := range v {
			list = append(list, kept(one, names, zone))
		}
		slices.Sort(list)
		return strings.Join(list, " ")
	}
	return fmt.Sprint(v)
}

// wanted is what the store is to have.
func (w *world) wanted() *contents {
	f := newContents()
	for _, o := range w.all {
		in := ""
		if o.in != nil && o.kind != "work_item" {
			in = o.in.name
		}
		me := called(o.kind, o.name, in)
		if !o.gone || o.held {
			f.objects[me]++
		}
		if o.gone {
			continue
		}
		belongs := map[string]bool{}
		belong := func(how string, to any) {
			list, _ := to.([]*object)
			if one, ok := to.(*object); ok {
				list = []*object{one}
			}
			for _, to := range list {
				if fact := fmt.Sprintf("%q %s %q", o.name, how, to.name); !belongs[fact] {
					belongs[fact] = true
					f.objects[fact]++
				}
				if inverse := relations()[how]; o.kind == "work_item" && inverse != "" {
					f.objects[fmt.Sprintf("%q %s %q", to.name, inverse, o.name)]++
				}
			}
		}
		if o.self {
			belong("member", w.ada)
		}
		if o.kind == "project" {
			belong("member", w.ada) // who made it
			belong("member", o.set["lead"])
		}
		for field, v := range o.set {
			switch o.kind + "." + field {
			case "project.members", "initiative.projects", "initiative.labels", "teamspace.projects", "teamspace.members":
				belong(strings.TrimSuffix(field, "s"), v)
				continue
			case "work_item.cycle", "work_item.module", "work_item.blocked_by", "work_item.blocking", "work_item.relates_to", "work_item.duplicate":
				belong(field, v)
				continue
			}
			column := column(o.kind, field)
			text := said(v)
			switch {
			case column == "description_html" && text != "":
				text = "<p>" + text + "</p>"
			case o.kind == "page" && field == "access":
				text = map[string]string{"public": "0", "private": "1"}[text]
			}
			f.values[me+" "+column+" "+text]++
		}
	}
	return f
}

// said is a value of the manifest.
func said(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case *object:
		return v.name
	case []*object:
		var list []string
		for _, to := range v {
			list = append(list, to.name)
		}
		slices.Sort(list)
		return strings.Join(list, " ")
	}
	return fmt.Sprint(v)
}

// compare counts what the store has too often and what it lacks, besides what
// was there without planform.
func (w *world) compare(t *testing.T, s *service, there *contents) (f findings) {
	t.Helper()
	want, has, names, found := w.wanted(), observe(s), named(s), map[string]bool{}
	want.add(there)
	for _, b := range w.found {
		found[b.fact(names)] = true
	}
	about := func(what string) bool { // what is not wanted any more and stays, of which the rest may be as it likes
		return slices.ContainsFunc(w.all, func(o *object) bool { return o.held && strings.Contains(what, fmt.Sprintf("%q", o.name)) })
	}
	for what, n := range want.less(has).objects {
		f.lost += n
		t.Logf("lost: %s (%d)", what, n)
	}
	for what, n := range has.less(want).objects {
		if !about(what) && !found[what] {
			f.doubled += n
			t.Logf("doubled: %s (%d too many)", what, n)
		}
	}
	for what, n := range want.less(has).values {
		f.wrong += n
		t.Logf("not so: %s (%d)", what, n)
	}
	return f
}
