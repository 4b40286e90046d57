package simulation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/state"
)

// scene is a sequence of commands of a user, with the initial content of folder and service. In a command line @ stands
// for the user's folder.
type scene struct {
	name     string // as Go
	api      resource.API
	shared   bool // the state is in a store
	empty    bool // the workspace has nothing but its members
	files    map[string]string
	before   func(w *world) // nil = nothing
	commands []string
	others   bool                 // another owner keeps other.yaml, with a state of its own
	beside   *beside              // who runs planform at the same time; nil = nobody
	pace     uint                 // calls overtake each other otherwise in another one
	rate     int                  // requests a minute that the service takes; 0 = any
	tell     func(problem string) // nil = the test fails
	then     string               // the manifest from the second command on, and the first is run once; "" = the same
	// again returns the next command of a user if a command ended early; nil = the same command again.
	again func(u *user, command string, attempt int) (next string)
}

// beside is a run of planform at the same time.
type beside struct {
	commands  []string
	after     time.Duration     // delay after the beginning of the scene's first run; negative = before it
	elsewhere bool              // on another machine, with the same files
	files     map[string]string // files that differ from the scene's
	state     string            // "" = the scene's state; but if that is on disk and this user is elsewhere, a state on the other machine
	once      bool              // a command that ends early is not run again, because the scene's command comes after it
}

// place returns the place of a scene's state.
func (sc *scene) place() string {
	if sc.shared {
		return "s3://bucket/state.json"
	}
	return "@state.json"
}

// apart reports whether who runs planform at the same time has a state of its own.
func (b *beside) apart(sc *scene) bool {
	return b != nil && (b.state != "" || b.elsewhere && !sc.shared)
}

// stage is a scene that can be played again and again.
type stage struct {
	*scene

	folder string // the users' files and the service's database as they are before
	store  *simStore
	undoes string  // ID of the run to undo
	during []fault // actions of people while planform runs
	visits []visit // of a run in which nothing goes wrong

	rows  map[string]map[string]string // of the service before and after, by kind and ID
	all   []string                     // what the service has in the end
	state map[string]string            // what the state knows in the end
	files map[string]string            // the manifests in the end
}

// prepare plays what is before the scene, and then the scene once without faults.
func prepare(t *testing.T, sc *scene) *stage {
	t.Helper()
	st := &stage{scene: sc, folder: t.TempDir(), store: newStore()}
	for _, machine := range machines() {
		if err := os.Mkdir(filepath.Join(st.folder, machine), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		w := st.open(t)
		w.cases = true
		for name, text := range sc.files {
			w.write(name, text)
		}
		time.Sleep(time.Hour) //nolint:forbidigo // in a bubble it takes no time
		if sc.before != nil {
			sc.before(w)
		}
		if sc.beside != nil && sc.beside.elsewhere {
			w.share()
		}
		if st.undoes = ""; strings.Contains(sc.commands[0], "RUN") {
			st.undoes = w.lastRun()
		}
		if st.rows = rows(w); !w.well(st.scene) {
			return
		}
		_ = w.server.Close()
		if err := os.RemoveAll(st.folder); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Dir(w.us.disk.root), st.folder); err != nil {
			t.Fatal(err)
		}
		st.store = w.store.clone()
	})
	st.rehearse(t)
	return st
}

// rehearse plays the scene with the actions of people and without faults. Its end is what every case must reach.
func (st *stage) rehearse(t *testing.T, during ...fault) {
	t.Helper()
	st.during = during
	synctest.Test(t, func(t *testing.T) {
		w := st.open(t)
		w.looking, w.cases = true, true
		keep := func() { // remembers the content that must not change
			after := rows(w)
			for kind, was := range st.rows {
				maps.DeleteFunc(was, func(id, text string) bool { return after[kind][id] != text })
			}
		}
		st.play(w, keep)
		st.catchUp(w)
		keep()
		st.visits, w.looking, w.cases = slices.Clone(w.visits), false, false
		st.settle(w)
		w.well(st.scene, during...)
		st.all, st.state, st.files = w.server.Picture(), st.known(w), w.us.manifests()
	})
}

// open gives a world as it is before the scene.
func (st *stage) open(t *testing.T) *world {
	t.Helper()
	time.Sleep(time.Hour) //nolint:forbidigo // in a bubble it takes no time: what was before is not now
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(st.folder)); err != nil {
		t.Fatal(err)
	}
	o := sandboxtest.Options{Path: filepath.Join(folder, "db"), Empty: st.empty, Fault: misfortune, Rate: st.rate}
	switch st.api {
	case resource.Documented:
		o.Answers = sandbox.Contract
	case resource.V2:
		o.Edition = sandbox.Cloud
	case resource.V1:
	}
	server, err := sandboxtest.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	w := &world{T: t, scene: st.scene, undoes: st.undoes, server: server, store: st.store.clone(), left: map[string]bool{}, faults: map[edge]string{}}
	for _, f := range st.during {
		w.faults[f.at] = f.how
	}
	disks := map[string]*simDisk{}
	for _, machine := range machines() {
		disks[machine] = &simDisk{root: filepath.Join(folder, machine)}
	}
	w.us = &user{world: w, disk: disks["user"], state: st.place()}
	w.others = &user{world: w, name: "others", disk: disks["user"], state: "@other.json"}
	if b := st.beside; b != nil {
		w.beside = &user{world: w, name: "beside", disk: disks["user"], state: cmp.Or(b.state, st.place())}
		if b.elsewhere {
			w.beside.disk = disks["elsewhere"]
		}
	}
	return w
}

// machines are the folders of users.
func machines() []string { return []string{"user", "elsewhere"} }

// share copies the user's manifests to the other machine, as a repository does.
func (w *world) share() {
	w.Helper()
	for name, text := range w.us.manifests() {
		text = cmp.Or(w.scene.beside.files[name], text)
		if err := os.WriteFile(filepath.Join(filepath.Dir(w.us.disk.root), "elsewhere", name), []byte(text), 0o600); err != nil {
			w.Fatal(err)
		}
	}
}

// play lets the users do what they do. each is called after each command of the scene's.
func (st *stage) play(w *world, each func()) {
	w.Helper()
	var all sync.WaitGroup
	if w.beside != nil {
		all.Go(func() {
			time.Sleep(st.beside.after) //nolint:forbidigo // in a bubble it takes no time
			for _, command := range st.beside.commands {
				if st.beside.once {
					w.beside.command(command)
				} else {
					w.beside.until(command, st.again)
				}
			}
		})
		time.Sleep(-st.beside.after) //nolint:forbidigo // in a bubble it takes no time
	}
	for i, command := range st.commands {
		if i == 0 && st.then != "" { // who sees that a run ended early edits at once
			if w.us.command(command) == 0 {
				time.Sleep(time.Hour) //nolint:forbidigo // in a bubble it takes no time
			}
			w.write("workspace.yaml", st.then)
			continue
		}
		if w.us.until(command, st.again); i+1 == len(st.commands) {
			all.Wait()
		}
		each()
	}
}

// attempts is the number of times that a user runs a command until it is done.
const attempts = 6

// until runs a command until it is done.
func (u *user) until(command string, again func(u *user, command string, attempt int) string) {
	u.Helper()
	for attempt := 1; ; attempt++ {
		code := u.command(command)
		if u.done(code) {
			return
		}
		if attempt == attempts {
			u.Errorf("planform %s is not done after %d runs: %d", command, attempt, code)
			return
		}
		u.resolve()
		if again != nil {
			if command = again(u, command, attempt); command == "" {
				return
			}
		}
	}
}

// command runs a command line with the user's flags.
func (u *user) command(line string) int {
	u.Helper()
	args, flags := strings.Fields(strings.ReplaceAll(line, "RUN", u.undoes)), []string{"--state", u.state, "--api", u.scene.api.String()}
	if strings.HasPrefix(line, "apply @") {
		flags = flags[:2] // a saved plan says the rest
	}
	return u.planform(slices.Concat(args[:1], flags, args[1:])...)
}

var resolution = regexp.MustCompile(`planform state resolve (\S+)`)

// resolve answers what planform asks a person to look at: nothing shows pages with the documented operations.
func (u *user) resolve() {
	u.Helper()
	for _, m := range resolution.FindAllStringSubmatch(u.said, -1) {
		address := resource.Address(m[1])
		if !slices.Contains([]string{"page"}, address.Kind()) {
			continue
		}
		u.server.Drain()
		answer := "--absent"
		for _, r := range u.server.Rows(address.Kind()) {
			if strings.EqualFold(fmt.Sprint(r["name"]), address.Key()) {
				answer = fmt.Sprint("--id=", r["id"])
			}
		}
		u.planform("state", "resolve", "--workspace", sandbox.Workspace, "--state", u.state, answer, string(address)) // asked again if it fails
	}
}

// catchUp does the actions of people at edges that no run reached.
func (st *stage) catchUp(w *world) {
	w.Helper()
	for _, f := range st.during {
		if w.faults[f.at] != "" {
			delete(w.faults, f.at)
			deeds()[f.how](w)
		}
	}
}

// settle waits for late requests, and checks that nothing is left to do.
func (st *stage) settle(w *world) {
	w.Helper()
	w.server.Drain()
	last := st.commands[len(st.commands)-1]
	if strings.HasPrefix(last, "undo") { // what the manifest wants was taken back
		if st.files["former.yaml"] != "" && w.us.command("plan -f @former.yaml --detailed-exitcode --refresh-all") != 0 {
			w.Errorf("the undo did not bring everything back")
		}
		return
	}
	before := w.effects
	for _, u := range st.withState(w) {
		if code := u.command("plan -f @workspace.yaml --detailed-exitcode" + prune(last)); !u.done(code) {
			w.Errorf("the next plan %s ends with %d", u.name, code)
		}
	}
	if st.others && w.others.command("plan -f @other.yaml --detailed-exitcode") != 0 {
		w.Errorf("the plan of the other owner has changes")
	}
	if w.effects != before {
		w.Errorf("a plan made %d writes", w.effects-before)
	}
}

// withState are the users who have a state, but for the other owner.
func (st *stage) withState(w *world) []*user {
	if st.beside.apart(st.scene) && st.beside.elsewhere {
		return []*user{w.us, w.beside}
	}
	return []*user{w.us}
}

func prune(command string) string {
	if strings.Contains(command, "--prune") {
		return " --prune"
	}
	return ""
}

// keptOnly matches a plan that only leaves orphans in place, because others use them.
var keptOnly = regexp.MustCompile(`\nPlan: \d+ not possible(; \d+ unchanged)?\. 0 requests`)

// done reports whether a code says that nothing is left to do. An item that people write during a run may be counted and not be
// listed yet: the next run is sure.
func (u *user) done(code int) bool {
	return code == 0 || code == 3 && u.scene.others && keptOnly.MatchString(u.said) && !strings.Contains(u.said, "that no list shows") &&
		strings.Count(u.said, "\n! ") == strings.Count(u.said, ": it would be deleted, but ")
}

// suffer plays the scene with faults, and checks that it ends like the scene without faults. came reports whether a run
// reached each fault.
func (st *stage) suffer(t *testing.T, faults ...fault) (visits []visit, came bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := st.open(t)
		for _, f := range faults {
			w.faults[f.at] = f.how
		}
		w.looking = *pairs > 0 && len(faults) == 1
		st.play(w, func() {})
		st.catchUp(w)
		visits, w.looking, came = w.visits, false, len(w.faults) == 0
		clear(w.faults) // what did not come is not for the plan that follows
		st.settle(w)
		for kind, was := range rows(w) {
			for id, text := range st.rows[kind] {
				if was[id] != text {
					w.Errorf("%s %s was to stay as it was\n%s\n%s", kind, id, text, was[id])
				}
			}
		}
		if d := gocmp.Diff(st.all, w.server.Picture()); d != "" {
			w.Errorf("what the service has (-want +got):\n%s", d)
		}
		if d := gocmp.Diff(st.state, st.known(w)); d != "" {
			w.Errorf("what the state knows (-want +got):\n%s", d)
		}
		if d := gocmp.Diff(st.files, w.us.manifests()); d != "" {
			w.Errorf("the manifests (-want +got):\n%s", d)
		}
		w.well(st.scene, slices.Concat(st.during, faults)...)
	})
	return visits, came
}

// well reports whether nothing went wrong, and prints the problems.
func (w *world) well(sc *scene, faults ...fault) bool {
	w.Helper()
	if len(w.problems) == 0 {
		return true
	}
	var list strings.Builder
	for _, f := range faults {
		fmt.Fprintf(&list, "%q, ", f.String())
	}
	text := fmt.Sprintf("%s\n%s\nas a line of TestDefectsThatWereFoundStayFixed: {%s, []string{%s}},", strings.Join(w.problems, "\n"), w.log.String(), sc.name, list.String())
	if sc.tell != nil {
		sc.tell(text)
	} else {
		w.T.Error(text)
	}
	return false
}

// rows returns the rows of the service, by kind and ID.
func rows(w *world) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, kind := range sandboxtest.Tables() {
		all[kind] = map[string]string{}
		for _, r := range w.server.Rows(kind) {
			text, err := json.Marshal(r)
			if err != nil {
				w.Fatal(err)
			}
			all[kind][fmt.Sprint(r["id"])] = string(text)
		}
	}
	return all
}

// known returns the records of the states, with names instead of IDs.
func (st *stage) known(w *world) map[string]string {
	w.Helper()
	names, all := w.server.Called(), map[string]string{}
	for _, u := range st.withState(w) {
		s, err := state.Read(w.Context(), strings.Replace(u.state, "@", u.disk.root+string(filepath.Separator), 1), state.Options{
			BaseURL: "http://127.0.0.1", Workspace: sandbox.Workspace, Connect: w.store.connect,
		})
		if err != nil {
			w.Errorf("%v", err)
			return nil
		}
		for address, r := range s.Prior() {
			members := make([]string, len(r.Members))
			for i, id := range r.Members {
				members[i] = names[id]
			}
			slices.Sort(members)
			if r.ID == "" && len(members) == 0 && r.PendingIntent == nil {
				continue // until when a request may still come
			}
			all[u.name+string(address)] = fmt.Sprintf("%s %q open=%t", names[r.ID], members, r.PendingIntent != nil)
		}
	}
	return all
}

// manifests are the user's files.
func (u *user) manifests() map[string]string {
	u.Helper()
	all := map[string]string{}
	names, err := filepath.Glob(filepath.Join(u.disk.root, "*.yaml"))
	for _, name := range names {
		text, readErr := os.ReadFile(name)
		if err = readErr; err == nil {
			all[filepath.Base(name)] = string(text)
		}
	}
	if err != nil {
		u.Fatal(err)
	}
	return all
}
