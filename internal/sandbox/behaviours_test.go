package sandbox

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// behavioursFolder returns the folder with the recordings of a version, a file for each collection. Those of a later version
// refer to the version before it, and hold the lines that differ.
func behavioursFolder(version string) string {
	if version == Versions()[0] {
		return "testdata/behaviours"
	}
	return filepath.Join("testdata/behaviours", version)
}

// behaviour is one line of a recording: a request, what a real server
// answered to it, and what reads showed otherwise after it than before. IDs are
// the names of their records, as in an [operation].
type behaviour struct {
	Scene string   `json:"scene,omitempty"` // begins a scene: a workspace without projects
	Watch []string `json:"watch,omitempty"` // what else is read around the writes of the scene
	Same  []int    `json:"same,omitempty"`  // stands for lines of this scene in the version before: the first, and their number

	As      person            `json:"as,omitempty"`
	Do      string            `json:"do,omitempty"` // method and path
	Send    any               `json:"send,omitempty"`
	Raw     string            `json:"raw,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Makes   string            `json:"makes,omitempty"`

	// Without a status the request only prepares what follows.
	Status   int                 `json:"status,omitempty"`
	Location string              `json:"location,omitempty"`
	Answer   any                 `json:"answer,omitempty"`
	Effect   map[string][]string `json:"effect,omitempty"` // by path
}

func (b *behaviour) operation() operation {
	method, path, _ := strings.Cut(b.Do, " ")
	return operation{as: b.As, method: method, path: path, body: b.Send, makes: b.Makes, raw: b.Raw, headers: b.Headers}
}

func (b *behaviour) outcome() outcome { return outcome{b.Status, b.Answer, b.Location} }

// route is the method and the path, with "{}" for each ID.
func (b *behaviour) route() string {
	path, _, _ := strings.Cut(b.Do, "?")
	return anyParameter.ReplaceAllString(path, "{}")
}

var anyParameter = regexp.MustCompile(`\{[^}]*\}|` + anyUUID.String() + `|\b[A-Z]+-\d+\b`)

// key is the same for behaviours that are one: the same sort of request to the
// same route with an answer and an effect of the same shape.
func (b *behaviour) key() string {
	path, query, _ := strings.Cut(b.Do, "?")
	for parameter := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(parameter, "="); name != "order_by" && name != "fields" && name != "expand" && name != "cycle_view" {
			query = strings.Replace(query, parameter, name+"="+sort(value), 1)
		}
	}
	known := []string{}
	for _, id := range anyParameter.FindAllString(path, -1) {
		known = append(known, sort(id))
	}
	effect := []string{}
	for _, path := range slices.Sorted(maps.Keys(b.Effect)) {
		effect = append(effect, anyParameter.ReplaceAllString(path, "{}"))
		for _, change := range b.Effect[path] {
			at, _, _ := strings.Cut(change, ":")
			effect = append(effect, at)
		}
	}
	return inJSON([]any{b.route(), b.As, known, query, sorts(b.Send), b.Raw, b.Headers, b.Status, shape(b.Answer, b.Status >= http.StatusBadRequest), effect})
}

// sort returns the sort of a text, as far as a server may distinguish texts.
func sort(s string) string {
	switch {
	case s == "":
		return "empty"
	case strings.TrimSpace(s) == "":
		return "blank"
	case s == unknownID:
		return "unknown"
	case reference.FindString(s) == s && person(strings.Trim(s, "{}")) != guest && person(strings.Trim(s, "{}")) != outsider:
		return "id"
	case strings.HasPrefix(s, "{") && !strings.ContainsAny(s, `":`), len(s) < 3, strings.Contains(s, "://"):
		return s
	case anyMoment.MatchString(s):
		return "moment"
	case regexp.MustCompile(`^\d{4}-\d\d-\d\d$`).MatchString(s):
		return "day"
	case strings.Contains(s, "<"):
		return strings.Join(regexp.MustCompile(`</?\w+|\w+=`).FindAllString(s, -1), " ")
	case len(strings.Trim(s, "0123456789")) == 0:
		return "number"
	case len([]rune(s)) > 255:
		return "long"
	case strings.TrimSpace(s) != s:
		return "padded"
	case strings.ContainsAny(s, "&().-:+"):
		return "marked"
	}
	return "text"
}

// sorts is a body of a request with sorts in the place of values.
func sorts(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range v {
			out[name] = sorts(value)
		}
		return out
	case []any:
		out := []any{}
		for _, value := range v {
			out = append(out, sorts(value))
		}
		return out
	case string:
		return sort(v)
	case json.Number, float64, int:
		switch s := fmt.Sprint(v); {
		case s == "0", s == "1":
			return s
		case strings.HasPrefix(s, "-"):
			return "negative"
		case strings.Contains(s, "."):
			return "fraction"
		}
		return "number"
	}
	return v
}

// shape is the fields of an answer and the types of their values; the words of
// a refusal are part of it.
func shape(v any, words bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range v {
			out[name] = shape(value, words)
		}
		return out
	case []any:
		out := []any{}
		for _, value := range v {
			if s := shape(value, words); len(out) == 0 || inJSON(out[len(out)-1]) != inJSON(s) {
				out = append(out, s)
			}
		}
		return out
	case string:
		if words {
			return v
		}
		return "text"
	case json.Number, float64:
		return "number"
	}
	return v
}

// observe plays an operation, and reads everything that it may have changed. seen holds the previous answers of these
// reads.
func (cn *contender) observe(ctx context.Context, op operation, watch []string, seen map[string]outcome) (behaviour, error) {
	b := behaviour{As: op.as, Do: op.method + " " + op.path, Send: op.body, Raw: op.raw, Headers: op.headers, Makes: op.makes}
	read := func(path string) (outcome, error) {
		o, err := cn.play(ctx, operation{as: admin, method: http.MethodGet, path: path})
		return cn.normal(o), err
	}
	var paths []string
	if op.method != http.MethodGet && op.method != http.MethodHead && op.method != http.MethodOptions {
		paths = append(looks(op), watch...)
	}
	for _, path := range paths {
		if _, ok := seen[path]; ok {
			continue
		}
		o, err := read(path)
		if err != nil {
			return b, err
		}
		seen[path] = o
	}
	got, err := cn.play(ctx, op)
	if err != nil {
		return b, err
	}
	if cn.settle != nil && got.status < http.StatusMultipleChoices {
		if err := cn.settle(ctx, op); err != nil {
			return b, err
		}
	}
	normal := cn.normal(got)
	b.Status, b.Answer, b.Location = normal.status, normal.body, normal.location
	switch status := normal.status; {
	case status == http.StatusBadRequest || status >= http.StatusInternalServerError:
		paths = paths[:min(1, len(paths))] // the operation may have had an effect although it failed
	case status >= http.StatusMultipleChoices:
		return b, nil
	case op.makes != "" && cn.ids[op.makes] != "" && len(paths) > 0:
		made, _, _ := strings.Cut(op.path, "?")
		made = strings.TrimSuffix(made, "/") + "/{" + op.makes + "}/"
		paths = append(paths, made)
		seen[made] = outcome{status: http.StatusOK, body: normal.body} // what a read shows otherwise than the answer
	}
	for _, path := range paths {
		after, err := read(path)
		if err != nil {
			return b, err
		}
		if changes := differences(seen[path], after); len(changes) > 0 {
			if b.Effect == nil {
				b.Effect = map[string][]string{}
			}
			b.Effect[path] = changes
		}
		seen[path] = after
	}
	return b, nil
}

// differences returns the changes between two answers of a read.
func differences(before, after outcome) []string {
	if before.status != after.status {
		return []string{fmt.Sprintf("status: %d → %d", before.status, after.status)}
	}
	var out []string
	for _, m := range compareOutcomes(after, before) {
		out = append(out, fmt.Sprintf("%s: %s → %s", strings.TrimPrefix(m.at, "body."), m.want, m.got))
	}
	return out
}

// looks is the reads that show what an operation does: of the record that its
// path names last, and, if one comes or goes, of the list that it is in.
func looks(op operation) []string {
	path, _, _ := strings.Cut(op.path, "?")
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	switch segments[len(segments)-1] {
	case "archive", "unarchive", "remove":
		segments = segments[:len(segments)-1]
	}
	record := anyParameter.FindString(segments[len(segments)-1]) == segments[len(segments)-1]
	whole := strings.Join(segments, "/") + "/"
	list := func(path string) string { return path + "?fields=id&per_page=2" }
	switch {
	case strings.HasPrefix(path, ".."):
		return nil
	case !record:
		return []string{list(whole)}
	case op.method == http.MethodPatch:
		return []string{whole}
	}
	return []string{whole, list(strings.Join(segments[:len(segments)-1], "/") + "/")}
}

// scene is behaviours that follow each other.
type scene struct {
	name       string
	watch      []string
	behaviours []behaviour
}

// The recordings have names of paths that planform does not call. The service answers to both names alike.
var (
	formerMembers     = regexp.MustCompile(`(projects/[^/"]*/)members\b`)
	formerItems       = regexp.MustCompile(`("path": "/api/v1/workspaces/[^/"]*/(?:projects/[^/"]*/)?)issues/`)
	formerAttachments = regexp.MustCompile(`(work-items/[^/"]*/)issue-attachments`)
)

// currentNames returns a recorded line with the names that planform calls.
func currentNames(line []byte) []byte {
	line = formerItems.ReplaceAll(formerMembers.ReplaceAll(line, []byte("${1}project-members")), []byte("${1}work-items/"))
	return formerAttachments.ReplaceAll(line, []byte("${1}attachments"))
}

// earlierScenes returns the scenes of a collection as the version before has them.
func earlierScenes(t *testing.T, version, collection string) []scene {
	t.Helper()
	at := slices.Index(Versions(), version)
	if at == 0 {
		return nil
	}
	if at < 0 {
		at = len(Versions()) // a version that has not been recorded
	}
	return loadScenes(t, Versions()[at-1], collection)
}

// loadScenes reads the behaviours of a collection, as one version has them.
func loadScenes(t *testing.T, version, collection string) []scene {
	t.Helper()
	earlier := earlierScenes(t, version, collection)
	file := filepath.Join(behavioursFolder(version), collection+".jsonl.gz")
	packed, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return earlier
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var out []scene
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var b behaviour
		dec := json.NewDecoder(bytes.NewReader(currentNames(lines.Bytes())))
		dec.UseNumber()
		if err := dec.Decode(&b); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if b.Scene != "" {
			out = append(out, scene{name: b.Scene, watch: b.Watch})
			continue
		}
		last := &out[len(out)-1]
		if b.Same != nil {
			was := sceneNamed(earlier, last.name)
			last.behaviours = append(last.behaviours, was.behaviours[b.Same[0]:b.Same[0]+b.Same[1]]...)
			continue
		}
		last.behaviours = append(last.behaviours, b)
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for i, sc := range earlier {
		if was := sceneNamed(out, sc.name); was != nil {
			earlier[i] = *was
		}
	}
	return append(earlier, slices.DeleteFunc(out, func(sc scene) bool { return sceneNamed(earlier, sc.name) != nil })...)
}

// sceneNamed returns the scene of a name, or nil.
func sceneNamed(scenes []scene, name string) *scene {
	for i := range scenes {
		if scenes[i].name == name {
			return &scenes[i]
		}
	}
	return nil
}

// verdict is the result for one recorded behaviour.
type verdict struct {
	where string // scene and line
	behaviour
	problems []string
	got      int // status of the sandbox
}

// replayScene plays a scene to a new sandbox of a version.
func replayScene(t *testing.T, version string, sc scene) []verdict {
	t.Helper()
	c := sandboxContender(t, version)
	if err := c.reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	var out []verdict
	seen := map[string]outcome{}
	for i, b := range sc.behaviours {
		got, err := c.observe(t.Context(), b.operation(), sc.watch, seen)
		if err != nil {
			t.Fatal(err)
		}
		if b.Status == 0 {
			continue
		}
		out = append(out, verdict{fmt.Sprintf("%s#%d", sc.name, i+1), b, deviations(got, b), got.Status})
	}
	return out
}

// deviations returns the differences between a behaviour and the recorded one.
func deviations(got, recorded behaviour) []string {
	var out []string
	for _, m := range compareOutcomes(asRead(got.outcome()), asRead(recorded.outcome())) {
		out = append(out, fmt.Sprintf("%s: %s, recorded %s", m.at, m.got, m.want))
	}
	paths := maps.Clone(got.Effect)
	if paths == nil {
		paths = map[string][]string{}
	}
	maps.Copy(paths, recorded.Effect)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for _, change := range got.Effect[path] {
			if !slices.Contains(recorded.Effect[path], change) {
				out = append(out, "then "+path+" shows "+change)
			}
		}
		for _, change := range recorded.Effect[path] {
			if !slices.Contains(got.Effect[path], change) {
				out = append(out, "then "+path+" does not show "+change)
			}
		}
	}
	return out
}

// asRead is an outcome as it comes out of a file.
func asRead(o outcome) outcome {
	if o.body == nil {
		o.body = ""
	}
	dec := json.NewDecoder(strings.NewReader(inJSON(o.body)))
	dec.UseNumber()
	if err := dec.Decode(&o.body); err != nil {
		o.body = err.Error()
	}
	if r, ok := o.body.(row); ok && strings.HasPrefix(text(r, "detail"), textNoJSON) {
		r["detail"] = textNoJSON // each parser has words of its own
	}
	return o
}

// replayBehaviours plays all scenes that were recorded of a version, each to a sandbox of its own, of a version.
func replayBehaviours(t *testing.T, recorded, played string) []verdict {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(behavioursFolder(Versions()[0]), "*.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	var scenes []scene
	for _, file := range files {
		scenes = append(scenes, loadScenes(t, recorded, strings.TrimSuffix(filepath.Base(file), ".jsonl.gz"))...)
	}
	found := make([][]verdict, len(scenes))
	t.Run("scenes of "+recorded+" played to "+played, func(t *testing.T) {
		for i, sc := range scenes {
			t.Run(sc.name, func(t *testing.T) {
				t.Parallel()
				found[i] = replayScene(t, played, sc)
			})
		}
	})
	return slices.Concat(found...)
}
