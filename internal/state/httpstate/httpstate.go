package httpstate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/planform/planform/internal/http/baseurl"
	"github.com/planform/planform/internal/http/wire"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/text/diag"
)

// A lock of planform that stays the same for stuckTime belongs to a dead run, because no request takes that long. A lock of another
// program is awaited only for foreignTime; the waiting for --lock-timeout begins after that.
const (
	stuckTime   = 30 * time.Second
	foreignTime = 3 * time.Second
)

// Size limits of a document, and of the answer to a lock, in bytes.
const (
	maxDocument   = 256 << 20
	maxLockAnswer = 64 << 10
)

// Document is a state in one document on a server.
type Document struct {
	address, lock, unlock    string
	lockMethod, unlockMethod string
	user, password           string
	secrets                  wire.Secrets
	transport                http.RoundTripper

	mu         sync.Mutex // one write at a time
	blocking   string     // ID of the lock that blocks this run
	since      time.Time
	unreleased string // ID of a lock of this run that the server may still hold, because its release failed or the answer to it was lost
}

var _ state.Objects = (*Document)(nil)

// content is the document, in the form of a Terraform state, so that servers accept it.
type content struct {
	Version   int               `json:"version"`
	Terraform string            `json:"terraform_version"`
	Serial    uint64            `json:"serial"`
	Lineage   string            `json:"lineage"`
	Outputs   struct{}          `json:"outputs"`
	Resources []struct{}        `json:"resources"`
	Objects   map[string]object `json:"planform"`
}

// object is one object in the document.
type object struct {
	Version uint64 `json:"version"`
	Text    string `json:"text"`
}

// Open returns the state at an address. getenv reads the environment.
func Open(address string, getenv func(string) string) (*Document, error) {
	u, err := parseAddress("the address", address)
	if err != nil {
		return nil, err
	}
	d := &Document{address: address, user: getenv("TF_HTTP_USERNAME"), password: getenv("TF_HTTP_PASSWORD")}
	if d.password != "" {
		d.secrets = wire.Secrets{d.password, base64.StdEncoding.EncodeToString([]byte(d.user + ":" + d.password))}
	}
	d.lock, d.lockMethod, d.unlockMethod = address, "LOCK", "UNLOCK"
	if strings.Contains(u.Path, "/terraform/state/") { // GitLab's
		d.lock, d.lockMethod, d.unlockMethod = u.JoinPath("lock").String(), http.MethodPost, http.MethodDelete
	}
	d.lock = cmp.Or(getenv("TF_HTTP_LOCK_ADDRESS"), d.lock)
	d.unlock = cmp.Or(getenv("TF_HTTP_UNLOCK_ADDRESS"), d.lock)
	d.lockMethod, d.unlockMethod = cmp.Or(getenv("TF_HTTP_LOCK_METHOD"), d.lockMethod), cmp.Or(getenv("TF_HTTP_UNLOCK_METHOD"), d.unlockMethod)
	for name, other := range map[string]string{"TF_HTTP_LOCK_ADDRESS": d.lock, "TF_HTTP_UNLOCK_ADDRESS": d.unlock} {
		if o, err := parseAddress(name, other); err != nil {
			return nil, err
		} else if o.Scheme != u.Scheme || o.Host != u.Host {
			return nil, fmt.Errorf("%s has to be on the host of the state", name)
		}
	}
	d.transport = wire.New(wire.Dialer().DialContext)
	return d, nil
}

// parseAddress reads an address. Errors do not show it, because it may hold a credential.
func parseAddress(what, address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("%s is not one such as https://gitlab.example.com/api/v4/projects/1/terraform/state/web", what)
	case u.User != nil || strings.ContainsAny(address, "?#"):
		return nil, diag.WithHint(fmt.Errorf("%s has a user, a query (?…) or a fragment (#…), which may contain a credential and would be printed", what),
			"give the credential with TF_HTTP_USERNAME and TF_HTTP_PASSWORD, and the address without it")
	case u.Scheme == "http" && !baseurl.Loopback(u.Hostname()):
		return nil, fmt.Errorf("%s uses http, which would expose the credential: use https", what)
	}
	return u, nil
}

// send makes a request and returns its answer. A status of 300 or more is an error unless it is expected.
func (d *Document) send(ctx context.Context, method, address string, body []byte, expected ...int) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, wire.Final(diag.WithHint(fmt.Errorf("%q is not an HTTP method", method), "check TF_HTTP_LOCK_METHOD and TF_HTTP_UNLOCK_METHOD"))
	}
	if d.user != "" || d.password != "" {
		req.SetBasicAuth(d.user, d.password)
	}
	most := int64(maxLockAnswer)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	} else {
		most = maxDocument
	}
	res, err := wire.Send(d.transport, req, most)
	if err == nil {
		defer res.Body.Close() //nolint:errcheck // only read
		answer, err = io.ReadAll(res.Body)
	}
	if err = d.secrets.Failed(ctx, "the server of the state", req.URL.Scheme, err); err != nil {
		return 0, nil, err
	}
	if status = res.StatusCode; status < 300 || slices.Contains(expected, status) {
		return status, answer, nil
	}
	return 0, nil, d.answerError(method, address, status, answer)
}

// answerError returns the error for an answer that is no success.
func (d *Document) answerError(method, address string, status int, answer []byte) error {
	text := fmt.Sprintf("the server of the state answers %d to %s", status, method)
	if words := d.secrets.Line(string(answer)); words != "" && words[0] != '<' {
		text += ": " + words
	}
	hint, final := "", status < 500 && status != http.StatusTooManyRequests && status != http.StatusConflict && status != http.StatusLocked
	switch locking := map[string]string{d.lockMethod + d.lock: "LOCK", d.unlockMethod + d.unlock: "UNLOCK"}[method+address]; {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		text, hint = "the server of the state does not accept the credential", "check TF_HTTP_USERNAME, TF_HTTP_PASSWORD and the permissions of that user"
	case status == http.StatusLocked:
		_, holder := d.parseLock(answer)
		return wire.Final(&state.LockedError{Path: d.address, Holder: holder})
	case status < 400:
		hint = "planform does not follow redirects; this one may lead to a login page: check the address and the credential"
	case status == http.StatusRequestEntityTooLarge:
		hint = "the state is larger than the server accepts: raise its limit for a request, or use another store"
	case locking != "" && (final || status == http.StatusNotImplemented):
		hint, final = fmt.Sprintf("it does not lock in the usual way: set TF_HTTP_%s_METHOD and TF_HTTP_%[1]s_ADDRESS, if it can lock", locking), true
	}
	err := errors.New(text)
	if hint != "" {
		err = diag.WithHint(err, hint)
	}
	if final {
		err = wire.Final(err)
	}
	return err
}

// readDocument returns the document, or a new one if the server has none.
func (d *Document) readDocument(ctx context.Context) (*content, error) {
	status, text, err := d.send(ctx, http.MethodGet, d.address, nil, http.StatusNotFound)
	if err != nil {
		return nil, err
	}
	if status == http.StatusNotFound {
		text = nil
	}
	c, err := decode(text)
	if err != nil {
		return nil, wire.Final(err)
	}
	return c, nil
}

// decode reads a document. An empty text gives a new one.
func decode(text []byte) (*content, error) {
	text = bytes.TrimSpace(text)
	c := &content{Version: 4, Terraform: "1.0.0", Lineage: uuid.NewString(), Resources: []struct{}{}, Objects: map[string]object{}}
	if len(text) == 0 {
		return c, nil
	}
	c = &content{}
	if json.Unmarshal(text, c) != nil {
		what := "the server has something there that is no state"
		if text[0] == '<' {
			what = "the server shows a web page there and no state, perhaps a login page"
		}
		return nil, diag.WithHint(errors.New(what), "check the address of the state and the credential")
	}
	if c.Objects == nil {
		return nil, errors.New("the server has the state of another program there: give another address")
	}
	return c, nil
}

// Get implements [state.Objects].
func (d *Document) Get(ctx context.Context, name string) (text []byte, version string, err error) {
	c, err := d.readDocument(ctx)
	if err != nil {
		return nil, "", err
	}
	o, there := c.Objects[name]
	if !there {
		return nil, "", fs.ErrNotExist
	}
	return []byte(o.Text), strconv.FormatUint(o.Version, 10), nil
}

// List implements [state.Objects].
func (d *Document) List(ctx context.Context, prefix string) (names []string, err error) {
	c, err := d.readDocument(ctx)
	if err != nil {
		return nil, err
	}
	for name := range c.Objects {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Put implements [state.Objects].
func (d *Document) Put(ctx context.Context, name string, text []byte, version string) (now string, err error) {
	err = d.change(ctx, func(c *content) error {
		o, there := c.Objects[name]
		if there != (version != "") || there && strconv.FormatUint(o.Version, 10) != version {
			return state.ErrChanged
		}
		c.Objects[name] = object{Version: c.Serial, Text: string(text)}
		now = strconv.FormatUint(c.Serial, 10)
		return nil
	})
	return now, err
}

// Remove implements [state.Objects].
func (d *Document) Remove(ctx context.Context, name string) error {
	return d.change(ctx, func(c *content) error {
		if _, there := c.Objects[name]; !there {
			return errNoChange
		}
		delete(c.Objects, name)
		return nil
	})
}

var errNoChange = errors.New("nothing to change")

// change changes the document under the server's lock.
func (d *Document) change(ctx context.Context, change func(*content) error) (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := newID()
	if err := d.takeServerLock(ctx, id); err != nil {
		return err
	}
	defer func() { // even after an error, because a lock that is not released blocks others for stuckTime
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), stuckTime/3)
		defer cancel()
		if d.releaseServerLock(late, id) != nil {
			d.unreleased = id
		}
	}()
	c, err := d.readDocument(ctx)
	if err != nil {
		return err
	}
	c.Serial++
	switch err := change(c); {
	case errors.Is(err, errNoChange):
		return nil
	case err != nil:
		return err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	at, err := url.Parse(d.address)
	if err != nil {
		return err
	}
	query := at.Query()
	query.Set("ID", id)
	at.RawQuery = query.Encode()
	_, _, err = d.send(ctx, http.MethodPost, at.String(), text)
	return err
}

// lockInfo describes the holder of the server's lock.
type lockInfo struct{ ID, Operation, Info, Who, Version, Created, Path string }

// Signs of planform's own locks: some servers keep only the ID, and earlier versions of planform had no such ID.
const (
	ownID     = "706c616e-"
	operation = "planform"
)

func newID() string { return ownID + uuid.NewString()[len(ownID):] }

// info returns the content of a lock of planform.
func (d *Document) info(id string) []byte {
	text, _ := json.Marshal(lockInfo{ID: id, Operation: operation, Who: "planform", Version: "1.0.0", Created: time.Now().UTC().Format(time.RFC3339)})
	return text
}

// parseLock reads the ID and the holder of a lock. Any field may be missing.
func (d *Document) parseLock(text []byte) (id string, h state.Holder) {
	var l lockInfo
	_ = json.Unmarshal(text, &l)
	since, _ := time.Parse(time.RFC3339, l.Created)
	return l.ID, state.Holder{User: d.secrets.Line(l.Who), Command: d.secrets.Line(l.Operation), Since: since}
}

// takeServerLock takes the server's lock. It releases a lock of planform that stays the same for too long. It leaves
// a lock of another program, and its error names the holder.
func (d *Document) takeServerLock(ctx context.Context, id string) error {
	for {
		status, text, err := d.send(ctx, d.lockMethod, d.lock, d.info(id), http.StatusLocked, http.StatusConflict)
		if err != nil {
			d.unreleased = id
			return err
		}
		if status < 300 {
			d.since = time.Time{}
			return nil
		}
		held, holder := d.parseLock(text)
		switch own := strings.HasPrefix(held, ownID) || holder.Command == operation; {
		case held == id: // this run holds it: the answer was lost
			return nil
		case d.since.IsZero(), held != d.blocking:
			d.blocking, d.since = held, time.Now()
		case !own && time.Since(d.since) > foreignTime:
			return wire.Final(&state.LockedError{Path: d.address, Holder: holder})
		case own && (held == d.unreleased || time.Since(d.since) > stuckTime):
			if err := d.releaseServerLock(ctx, held, http.StatusConflict, http.StatusLocked); err != nil { // another run may have been faster
				return err
			}
			d.since = time.Time{}
			continue
		}
		select {
		case <-ctx.Done():
			return &state.LockedError{Path: d.address, Holder: holder}
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// releaseServerLock releases a lock. An expected status is no error.
func (d *Document) releaseServerLock(ctx context.Context, id string, expected ...int) error {
	_, _, err := d.send(ctx, d.unlockMethod, d.unlock, d.info(id), expected...)
	return err
}

// Unlock implements [state.Unlocker]. If err is not nil, ok says that another run held the lock, which may have been released.
func (d *Document) Unlock(ctx context.Context) (held state.Holder, ok bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := newID()
	status, text, err := d.send(ctx, d.lockMethod, d.lock, d.info(id), http.StatusLocked, http.StatusConflict)
	if err == nil && status >= 300 {
		id, held = d.parseLock(text)
		ok = id != d.unreleased
	}
	if err == nil {
		err = d.releaseServerLock(ctx, id)
	}
	if err != nil && !ok {
		d.unreleased = id
	}
	return held, ok, err
}
