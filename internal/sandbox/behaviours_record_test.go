package sandbox

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	stdflag "flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"
)

// record selects the scenes to record anew from the real server that -real names, as its version, in the workspace and
// with the credentials of the environment (see differential_test.go):
//
//	go test ./internal/sandbox -run BehavesAsRecorded -real http://127.0.0.1:8001 -record '^labels/|people'
var record = stdflag.String("record", "", "record these scenes anew: a regular expression") //nolint:gochecknoglobals // a flag

// play is a scene to be recorded: operations that begin in an empty workspace.
type play struct {
	file, name string
	watch      []string
	operations []operation
}

// recordBehaviours plays the scenes to the real server and writes down what is
// new: an operation whose behaviour was seen before is left out, or, if it
// writes something, kept as a preparation of the next ones.
func recordBehaviours(t *testing.T) {
	t.Helper()
	wanted := regexp.MustCompile(*record)
	c := realContender(t)
	c.settle = c.awaitDeletion
	refuseForeignProjects(t, c)
	for _, p := range plays() {
		if !wanted.MatchString(p.file + "/" + p.name) {
			continue
		}
		scenes, name := loadScenes(t, c.version, p.file), p.file+": "+p.name
		sc := scene{}
		if was := sceneNamed(earlierScenes(t, c.version, p.file), name); was != nil {
			sc = recordAgain(t, c, *was)
		} else {
			sc = recordPlay(t, c, p)
		}
		if was := sceneNamed(scenes, name); was != nil {
			*was = sc
		} else {
			scenes = append(scenes, sc)
		}
		saveScenes(t, c.version, p.file, scenes)
	}
}

// recordAgain plays a scene as it was recorded of an earlier version, so that what differs is the version.
func recordAgain(t *testing.T, c *contender, was scene) scene {
	t.Helper()
	if err := c.reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	sc, before := scene{name: was.name, watch: was.watch}, map[string]outcome{}
	for _, b := range was.behaviours {
		got, err := c.observe(t.Context(), b.operation(), was.watch, before)
		if err != nil {
			t.Fatal(err)
		}
		if b.Status == 0 {
			got.Status, got.Answer, got.Location, got.Effect = 0, nil, "", nil
		}
		sc.behaviours = append(sc.behaviours, got)
	}
	if err := c.clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	return sc
}

func recordPlay(t *testing.T, c *contender, p play) scene {
	t.Helper()
	if err := c.reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	sc := scene{name: p.file + ": " + p.name, watch: p.watch}
	shown, before := map[string]bool{}, map[string]outcome{}
	for _, op := range p.operations {
		earlier := maps.Clone(before)
		b, err := c.observe(t.Context(), op, p.watch, before)
		if err != nil {
			t.Fatal(err)
		}
		if key := b.key(); shown[key] {
			if op.method == http.MethodGet && op.makes == "" || b.Status >= http.StatusBadRequest && len(b.Effect) == 0 {
				before = earlier // as a replay has it
				continue
			}
			b.Status, b.Answer, b.Location, b.Effect = 0, nil, "", nil
		} else {
			shown[key] = true
		}
		sc.behaviours = append(sc.behaviours, b)
	}
	if err := c.clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	return sc
}

// awaitDeletion waits until a worker of the service has deleted what was in a project: until then it answers at random.
func (cn *contender) awaitDeletion(ctx context.Context, op operation) error {
	if op.method != http.MethodDelete || !oneProject.MatchString(op.path) {
		return nil
	}
	for range 60 {
		o, err := cn.play(ctx, get(op.path+"modules/"))
		if err != nil || o.status == http.StatusForbidden {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return fmt.Errorf("%s: what was in the project is there after a minute", op)
}

var oneProject = regexp.MustCompile(`^projects/[^/]+/$`)

// saveScenes writes a file that loadScenes reads.
func saveScenes(t *testing.T, version, collection string, scenes []scene) {
	t.Helper()
	earlier := earlierScenes(t, version, collection)
	var packed bytes.Buffer
	pack, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	enc := json.NewEncoder(pack)
	enc.SetEscapeHTML(false)
	written := 0
	for _, sc := range scenes {
		lines := sc.behaviours
		if was := sceneNamed(earlier, sc.name); was != nil {
			if lines = withoutSame(was.behaviours, lines); len(lines) == 1 && slices.Equal(lines[0].Same, []int{0, len(was.behaviours)}) {
				continue
			}
		}
		written++
		for _, b := range append([]behaviour{{Scene: sc.name, Watch: sc.watch}}, lines...) {
			if err := enc.Encode(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := pack.Close(); err != nil {
		t.Fatal(err)
	}
	folder := behavioursFolder(version)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if written == 0 {
		return
	}
	if err := os.WriteFile(filepath.Join(folder, collection+".jsonl.gz"), packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// withoutSame returns the lines of a scene in which those that are as in the version before are replaced by references to them.
func withoutSame(earlier, lines []behaviour) []behaviour {
	var kept []behaviour
	for i, b := range lines {
		switch n := len(kept); {
		case i >= len(earlier) || b.operation().String() != earlier[i].operation().String() || len(deviations(b, earlier[i])) > 0:
			kept = append(kept, b)
		case n > 0 && kept[n-1].Same != nil:
			kept[n-1].Same[1]++
		default:
			kept = append(kept, behaviour{Same: []int{i, 1}})
		}
	}
	return kept
}
