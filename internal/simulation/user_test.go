package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/cli"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/view"
)

// user runs planform, one command after another. Users run it at the same moment.
type user struct {
	*world

	name  string   // "" is the scene's
	disk  *simDisk // with the user's folder
	state string   // where the state is
	runs  int
	said  string // by the newest run
}

// process is a run of planform.
type process struct {
	*user

	run    int
	still  map[string]string // by call: what befalls each further one
	counts map[string]int
	dead   bool
	kill   context.CancelFunc
	sleeps time.Time // until then, nothing comes out of it
	cutOff time.Time // until then, it does not get to the store
	// hadLock is set after it wrote the lock of the shared state.
	hadLock bool
}

// begin gives a process its place on the disk. What was there before any process of that machine had time to be flushed.
func (u *user) begin(kill context.CancelFunc, args []string) (*process, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.disk.after != nil { // the machine starts again when each process that a crash took has ended
		u.mu.Unlock()
		time.Sleep(time.Second) //nolint:forbidigo // in a bubble it takes no time
		u.mu.Lock()
	}
	var err error
	if len(u.disk.running) == 0 {
		err = u.disk.load()
	}
	u.runs++
	u.keep(args)
	p := &process{user: u, run: u.runs, still: map[string]string{}, counts: map[string]int{}, kill: kill}
	u.disk.running = append(u.disk.running, p)
	return p, err
}

// end takes it off again. The last one of a crash leaves what the crash has left.
func (p *process) end() (err error) {
	d := p.disk
	d.running = slices.DeleteFunc(d.running, func(other *process) bool { return other == p })
	if len(d.running) == 0 && d.after != nil {
		err, d.after = d.become(d.after), nil
	}
	return err
}

// planform runs a command line and returns its exit code; -1 = it crashed.
func (u *user) planform(args ...string) int {
	u.Helper()
	time.Sleep(time.Second) //nolint:forbidigo // in a bubble it takes no time: nobody types faster
	ctx, cancel := context.WithCancel(u.Context())
	defer cancel()
	p, err := u.begin(cancel, args)
	if err != nil {
		u.Errorf("%v", err)
	}
	args = slices.Clone(args)
	line := strings.Join(args, " ")
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "@", u.disk.root+string(filepath.Separator))
	}
	var out bytes.Buffer
	env := map[string]string{"PLANE_BASE_URL": "http://127.0.0.1", "PLANE_API_KEY": sandbox.Key, "NO_COLOR": "1"}
	code := cli.Run(ctx, cli.Process{
		Args: append([]string{"planform"}, args...), Streams: view.Streams{In: strings.NewReader(""), Out: &out, Err: &out},
		Getenv: func(name string) string { return env[name] }, Transport: p, Disk: processDisk{u.disk, p},
		Store: func(string) (state.Objects, error) { return processStore{u.store, p}, nil },
	})
	u.mu.Lock()
	defer u.mu.Unlock()
	if strings.Contains(out.String(), "planform has a bug") || strings.Contains(out.String(), sandbox.Key) {
		u.problems = append(u.problems, fmt.Sprintf("run %s%d: %s", u.name, p.run, out.String()))
	}
	if p.dead {
		code = -1
	}
	if err := p.end(); err != nil {
		u.problems = append(u.problems, err.Error())
	}
	u.said = strings.ReplaceAll(out.String(), u.disk.root, "")
	fmt.Fprintf(&u.log, "%s%d: planform %s\n%s  = %d\n", u.name, p.run, line, u.said, code)
	return code
}

// pass leads a call through the world.
func (p *process) pass(kind edgeKind, call string, do func() error) error {
	e, how, alive := p.come(kind, call)
	defer p.mu.Unlock()
	if !alive {
		return errDead
	}
	unreachable := (kind == edgeOfStoreRead || kind == edgeOfStoreWrite) && time.Now().Before(p.cutOff)
	switch {
	case how == "no space":
		p.see(e, kind)
		return errNoSpace
	case how == "refused" || unreachable:
		p.see(e, kind)
		return errors.New("the store does not answer")
	}
	err := do()
	switch how {
	case "answer lost":
		err = errors.New("the store does not answer")
	default:
		p.crash(how)
	}
	if kind == edgeOfStoreWrite && err == nil {
		p.effects++
	}
	p.see(e, kind)
	if p.dead {
		return errDead
	}
	return err
}

// come is the next edge of a name, and what happens there, once the call is on its way. The world is locked when it returns.
func (p *process) come(kind edgeKind, call string) (e edge, how string, alive bool) {
	p.mu.Lock()
	p.counts[call]++
	e = edge{p.name, p.run, call, p.counts[call]}
	pace, until := p.pace(kind, e), p.sleeps
	if kind == edgeOfRead || kind == edgeOfWrite { // a request that has left arrives although the process falls asleep meanwhile
		p.mu.Unlock()
		time.Sleep(max(pace, time.Until(until))) //nolint:forbidigo // in a bubble it takes no time
		p.mu.Lock()
	} else {
		p.rest(pace)
	}
	if p.dead {
		return e, "", false
	}
	if how = p.faults[e]; how == "" {
		return e, p.still[call], true
	}
	delete(p.faults, e)
	fmt.Fprintf(&p.log, "  ! %s: %s\n", e, how)
	if first, lasts := strings.CutSuffix(how, stillSuffix); lasts {
		p.still[call] = strings.TrimPrefix(first, "done, ")
	}
	if how == outOfReach {
		p.cutOff = time.Now().Add(2 * time.Minute)
	}
	if d := sleeps()[how]; d > 0 {
		p.sleeps, how = time.Now().Add(d), ""
		p.rest(d)
	}
	return e, how, !p.dead
}

// rest lets time go by, and longer if the process sleeps.
func (p *process) rest(pause time.Duration) {
	for ; pause > 0 && !p.dead; pause = time.Until(p.sleeps) {
		p.mu.Unlock()
		time.Sleep(pause) //nolint:forbidigo // in a bubble it takes no time
		p.mu.Lock()
	}
}

// pace returns the duration of a call. Calls overtake each other in the same way in each run of a scene.
func (w *world) pace(kind edgeKind, e edge) time.Duration {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, w.scene.pace, e)
	longest := 100 * time.Millisecond
	if kind == edgeOfDisk {
		longest = time.Millisecond
	}
	return 1 + time.Duration(h.Sum64()%uint64(longest))
}

// crash ends the process, if how is a way to do so. Where power is lost, each process of the machine ends.
func (p *process) crash(how string) {
	if how == "" || leftovers()[how].text == nil {
		return
	}
	ends := []*process{p}
	if how != "killed" {
		ends = p.disk.running
	}
	if how != "killed" || len(p.disk.running) == 1 {
		p.disk.after = p.disk.remaining(how)
	}
	for _, each := range ends {
		each.dead = true
		each.kill()
	}
}

// see records an edge, with the crashes after it that leave another world than earlier crashes.
func (p *process) see(e edge, kind edgeKind) {
	if !p.looking {
		return
	}
	v := visit{edge: e, kind: kind}
	if now := [2]int{p.effects, p.disk.changes}; now != p.disk.seen[p] {
		p.disk.seen[p] = now
		for _, how := range p.disk.ways() {
			if key := fmt.Sprint(p.name, p.run, p.effects, p.disk.remaining(how)); !p.left[key] {
				p.left[key] = true
				v.crashes = append(v.crashes, how)
			}
		}
	}
	p.visits = append(p.visits, v)
}

// RoundTrip leads a request to the service.
func (p *process) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	kind := edgeOfWrite
	if req.Method == http.MethodGet {
		kind = edgeOfRead
	}
	path := strings.TrimPrefix(strings.TrimPrefix(req.URL.Path, "/api/v1/workspaces/"+sandbox.Workspace), "/api/v2/workspaces/"+sandbox.Workspace)
	e, how, alive := p.come(kind, req.Method+" "+withoutIDs(path))
	lost := p.hadLock && p.store.lockedBy != p && p.sleeps.IsZero() // a run that slept cannot know it
	p.mu.Unlock()
	if alive && kind == edgeOfWrite && lost {
		p.Errorf("%s is sent by a run that lost its lock", e)
	}
	if !alive {
		return nil, errDead
	}
	if deed, ok := deeds()[how]; ok { //nolint:contextcheck // people have nothing to do with the request
		deed(p.world)
		how = ""
	}
	incoming := req.Clone(context.WithValue(req.Context(), faultKey{}, how))
	if incoming.RequestURI = req.URL.RequestURI(); incoming.Body == nil {
		incoming.Body = http.NoBody
	}
	resp, err = answer(p.server, incoming)

	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest(time.Until(p.sleeps))
	if kind == edgeOfWrite {
		p.effects++
	}
	p.see(e, kind)
	p.crash(strings.TrimSuffix(how, lateSuffix))
	if p.dead {
		return nil, errDead
	}
	return resp, err
}

// sleeps returns how long a process may sleep before a call. All other calls of the process wait as well.
func sleeps() map[string]time.Duration {
	return map[string]time.Duration{"asleep for a minute": time.Minute, "asleep for an hour": time.Hour}
}
