package simulation

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
)

var notOfAName = regexp.MustCompile(`[^a-z0-9]+`)

// keep writes what a command plans from as a case of the  While others run, the service is not at rest, and there is no case.
func (u *user) keep(args []string) {
	folder := os.Getenv(Folder)
	if folder == "" || !u.cases || args[0] != "apply" && args[0] != "plan" || !slices.Contains(args, "-f") || len(u.us.disk.running) > 0 ||
		u.beside != nil && len(u.beside.disk.running) > 0 {
		return
	}
	c := Case{Args: NewArgs(args[1:], "@")}
	switch u.scene.api {
	case resource.Documented:
		c.Answers = sandbox.Contract
	case resource.V2:
		c.Edition = sandbox.Cloud
	case resource.V1:
	}
	files := map[string][]byte{}
	read := func(as, path string) {
		if text, err := os.ReadFile(path); err == nil {
			files[as] = text
		}
	}
	read(Contents, filepath.Join(filepath.Dir(u.disk.root), "db"))
	if path, local := strings.CutPrefix(u.state, "@"); local {
		read(StateFile, filepath.Join(u.disk.root, path))
	} else if text, there := u.store.objects[""]; there {
		files[StateFile] = []byte(text)
	}
	names, _ := os.ReadDir(u.disk.root)
	for _, name := range names {
		if ext := filepath.Ext(name.Name()); ext == ".yaml" || ext == ".md" {
			read(name.Name(), filepath.Join(u.disk.root, name.Name()))
		}
	}
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, u.scene.name, u.Name(), time.Now().UnixNano(), u.scene.pace)
	slug := notOfAName.ReplaceAllString(strings.ToLower(u.scene.name), "-")
	if len(slug) > 80 {
		slug = "story"
	}
	if err := c.Write(folder, fmt.Sprintf("%s-%x-%s%d", strings.Trim(slug, "-"), h.Sum64(), u.name, u.runs), files); err != nil {
		u.problems = append(u.problems, err.Error())
	}
}

// differences are scenes in which this build plans otherwise than an older one, on purpose. The last command makes the case.
func differences() map[string]func(w *world) {
	apply := func(w *world, text string, more ...string) {
		w.write("workspace.yaml", text)
		w.us.command(strings.Join(append([]string{"apply -f @workspace.yaml"}, more...), " "))
		time.Sleep(time.Hour) //nolint:forbidigo // in a bubble it takes no time
	}
	called := func(w *world, name string) string {
		for id, other := range w.server.Called() {
			if other == name {
				return id
			}
		}
		w.Fatal("there is no " + name)
		return ""
	}
	prune := "--prune --yes"
	return map[string]func(w *world){
		"two records bear the mark of one object": func(w *world) {
			apply(w, item("name: Item"))
			w.twin("/projects/"+called(w, "project SHOP")+"/work-items/", `{"name": "Item", "external_source": "planform", "external_id": "`+
				fmt.Sprint(w.server.Rows("work_item")[0]["external_id"])+`"}`)
			apply(w, item("name: Item}, {key: b, name: Another")) // a plan without a new item reads no list
		},
		"people changed a field of an orphan that the manifest never wrote": func(w *world) {
			apply(w, "version: 1\n"+shop+"    work_items: [{key: a, name: Item A}, {key: b, name: Item B}]\n")
			w.people("PATCH", "/projects/"+called(w, "project SHOP")+"/work-items/"+called(w, "work_item Item B")+"/", `{"priority": "urgent"}`)
			apply(w, item("name: Item A"), prune)
		},
		"a member is added whom an item was to be assigned to before": func(w *world) {
			for _, path := range []string{"members", "project-members"} {
				w.faults[edge{"", 1, "POST /projects/*/" + path + "/", 1}] = "cut" + stillSuffix
			}
			const manifest = "version: 1\n" + shop + "    members: [bob@example.com]\n    work_items: [{key: a, name: Item, assignees: [bob@example.com]}]\n"
			apply(w, manifest)
			w.us.planform("state", "resolve", "--workspace", sandbox.Workspace, "--state", w.us.state, "--absent", "project/shop#members")
			apply(w, manifest)
		},
		"the container of an orphan has a member that an export found": func(w *world) {
			const manifest = "version: 1\n" + shop + "    work_items: [{key: a, name: Item A}]\n"
			apply(w, strings.Replace(manifest, "    work", "    cycles: [{key: c, name: Weeks}]\n    work", 1))
			cycle, a := called(w, "cycle Weeks"), called(w, "work_item Item A")
			w.people("POST", "/projects/"+called(w, "project SHOP")+"/cycles/"+cycle+"/cycle-issues/", `{"issues": ["`+a+`"]}`)
			state, _ := os.ReadFile(filepath.Join(w.us.disk.root, "state.json"))
			w.write("state.json", strings.Replace(string(state), "\n]}", ",\n"+`{"address":"cycle/shop/c#work_items","members":["`+a+`"],"found":["`+a+`"]}`+"\n]}", 1))
			apply(w, manifest, prune)
		},
		"people moved an item out of its cycle": func(w *world) {
			const manifest = "version: 1\n" + shop + "    cycles: [{key: c, name: Weeks}]\n    work_items: [{key: a, name: Item A, cycle: c}]\n"
			apply(w, manifest)
			project := "/projects/" + called(w, "project SHOP")
			w.people("POST", project+"/cycles/", `{"name": "Theirs", "project_id": "`+called(w, "project SHOP")+`"}`)
			w.people("POST", project+"/cycles/"+called(w, "cycle Theirs")+"/cycle-issues/", `{"issues": ["`+called(w, "work_item Item A")+`"]}`)
			apply(w, manifest, "--on-drift keep")
			apply(w, manifest)
		},
		"an item is to be in no cycle": func(w *world) {
			const manifest = "version: 1\n" + shop + "    work_items: [{key: a, name: Item A}]\n"
			apply(w, manifest)
			apply(w, strings.Replace(manifest, "Item A", "Item A, cycle: null", 1))
		},
		"an item is where the manifest wants it": func(w *world) {
			const manifest = "version: 1\n" + shop + "    cycles: [{key: c, name: Weeks}]\n    work_items: [{key: a, name: Item A}]\n"
			apply(w, manifest)
			w.people("POST", "/projects/"+called(w, "project SHOP")+"/cycles/"+called(w, "cycle Weeks")+"/cycle-issues/", `{"issues": ["`+called(w, "work_item Item A")+`"]}`)
			apply(w, strings.Replace(manifest, "Item A", "Item A, cycle: c", 1))
		},
		"an item has another name and no key": func(w *world) {
			for _, name := range []string{"Fix the login", "Let people in"} {
				apply(w, "version: 1\n"+shop+"    work_items: [{name: Open}, {name: "+name+", priority: high}, {name: Close}]\n")
			}
		},
		"a new project has an intake": func(w *world) {
			apply(w, strings.Replace(coloured("#ef4444"), "cycle_view", "intake_view", 1))
		},
	}
}

// twin lets the service make an object although it has one with the same mark, as the running server does of requests at the same moment.
func (w *world) twin(path, body string) {
	w.Helper()
	w.unaware = true
	w.people("POST", path, body)
	w.unaware = false
}

// TestScenesOfDifferencesBecomeCases plays the scenes that the rules of the oracle are for, if cases are asked for.
func TestScenesOfDifferencesBecomeCases(t *testing.T) {
	t.Parallel()
	if os.Getenv(Folder) == "" {
		t.Skip(Folder + " names no folder")
	}
	for name, play := range differences() {
		st := &stage{scene: &scene{name: name, api: resource.V1, empty: true}, folder: t.TempDir(), store: newStore()}
		for _, machine := range machines() {
			if err := os.Mkdir(filepath.Join(st.folder, machine), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Test(t, func(t *testing.T) {
			w := st.open(t)
			w.cases = true
			play(w)
			if t.Log(w.log.String()); len(w.problems) > 0 {
				t.Error(w.problems)
			}
		})
	}
}
