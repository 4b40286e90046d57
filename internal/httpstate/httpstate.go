package httpstate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/state"
)

// stuckTime is how long a server's lock may stay the same; no request takes as long.
const stuckTime = 30 * time.Second

// largest is the size limit of a document in bytes.
const largest = 256 << 20

// Document is a state in one document.
type Document struct {
	address, lock, unlock    string
	lockMethod, unlockMethod string
	user, password           string
	client                   *http.Client

	mu    sync.Mutex // one write at a time
	seen  string     // the lock that stands in the way
	since time.Time
}

var _ state.Objects = (*Document)(nil)

// content is the document: of Terraform's form, so that servers take it.
type content struct {
	Version   int               `json:"version"`
	Terraform string            `json:"terraform_version"`
	Serial    uint64            `json:"serial"`
	Lineage   string            `json:"lineage"`
	Outputs   struct{}          `json:"outputs"`
	Resources []struct{}        `json:"resources"`
	Objects   map[string]object `json:"planform"`
}

type object struct {
	Version uint64 `json:"version"`
	Text    string `json:"text"`
}

// Open is the state at an address. getenv reads the environment.
func Open(address string, getenv func(string) string) (*Document, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Fragment != "":
		return nil, errors.New("it is not an address such as https://gitlab.example.com/api/v4/projects/1/terraform/state/web")
	case u.User != nil:
		return nil, errors.New("the address holds a credential: give it with TF_HTTP_USERNAME and TF_HTTP_PASSWORD")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, errors.New("it is reached by http, which would show the credential: use https")
	}
	d := &Document{address: address, user: getenv("TF_HTTP_USERNAME"), password: getenv("TF_HTTP_PASSWORD")}
	d.lock, d.lockMethod, d.unlockMethod = address, "LOCK", "UNLOCK"
	if strings.Contains(u.Path, "/terraform/state/") { // GitLab's
		at := *u
		at.Path += "/lock"
		d.lock, d.lockMethod, d.unlockMethod = at.String(), http.MethodPost, http.MethodDelete
	}
	d.lock = cmp.Or(getenv("TF_HTTP_LOCK_ADDRESS"), d.lock)
	d.unlock = cmp.Or(getenv("TF_HTTP_UNLOCK_ADDRESS"), d.lock)
	d.lockMethod, d.unlockMethod = cmp.Or(getenv("TF_HTTP_LOCK_METHOD"), d.lockMethod), cmp.Or(getenv("TF_HTTP_UNLOCK_METHOD"), d.unlockMethod)
	for _, other := range []string{d.lock, d.unlock} {
		if o, err := url.Parse(other); err != nil || o.Scheme != u.Scheme || o.Host != u.Host {
			return nil, errors.New("TF_HTTP_LOCK_ADDRESS and TF_HTTP_UNLOCK_ADDRESS have to be on the host of the state")
		}
	}
	d.client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return d, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// refusal is an answer that stays what it is.
type refusal struct{ error }

// Final tells that another try is in vain.
func (refusal) Final() bool { return true }

func (r refusal) Unwrap() error { return r.error }

// ask makes a request and returns its answer. Only answers that are neither done nor expected are errors.
func (d *Document) ask(ctx context.Context, method, address string, body []byte, expected ...int) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if d.user != "" || d.password != "" {
		req.SetBasicAuth(d.user, d.password)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := d.client.Do(req)
	if err != nil {
		if of, ok := errors.AsType[*url.Error](err); ok { // it names the address
			err = of.Err
		}
		return 0, nil, diag.WithHint(fmt.Errorf("the server of the state: %w", err), "check the address, and this machine's network")
	}
	defer res.Body.Close() //nolint:errcheck // only read
	if answer, err = io.ReadAll(io.LimitReader(res.Body, largest)); err != nil {
		return 0, nil, fmt.Errorf("the server of the state: %w", err)
	}
	for _, status := range expected {
		if res.StatusCode == status {
			return status, answer, nil
		}
	}
	switch {
	case res.StatusCode < 300:
		return res.StatusCode, answer, nil
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden:
		return 0, nil, refusal{diag.WithHint(errors.New("the server of the state does not accept the credential"),
			"check TF_HTTP_USERNAME and TF_HTTP_PASSWORD, and what they may do")}
	}
	err = fmt.Errorf("the server of the state answers %d to %s", res.StatusCode, method)
	if res.StatusCode < 500 && res.StatusCode != http.StatusTooManyRequests && res.StatusCode != http.StatusConflict && res.StatusCode != http.StatusLocked {
		err = refusal{err}
	}
	return 0, nil, err
}

// read returns the document; a new one where there is none.
func (d *Document) read(ctx context.Context) (*content, error) {
	c := &content{Version: 4, Terraform: "1.0.0", Lineage: uuid.NewString(), Resources: []struct{}{}, Objects: map[string]object{}}
	status, text, err := d.ask(ctx, http.MethodGet, d.address, nil, http.StatusNotFound, http.StatusNoContent)
	if err != nil || status != http.StatusOK || len(text) == 0 {
		return c, err
	}
	c = &content{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, refusal{fmt.Errorf("what the server has there is no state: %w", err)}
	}
	if c.Objects == nil {
		return nil, refusal{errors.New("what the server has there is a state of another program: name another one")}
	}
	return c, nil
}

// Get implements [state.Objects].
func (d *Document) Get(ctx context.Context, name string) (text []byte, version string, err error) {
	c, err := d.read(ctx)
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
	c, err := d.read(ctx)
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
	id := uuid.NewString()
	if err := d.take(ctx, id); err != nil {
		return err
	}
	defer func() { // also after an error: who cannot give it back blocks others for stuckTime
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), stuckTime/3)
		defer cancel()
		_, _, _ = d.ask(late, d.unlockMethod, d.unlock, d.info(id), http.StatusConflict, http.StatusLocked, http.StatusNotFound)
	}()
	c, err := d.read(ctx)
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
	_, _, err = d.ask(ctx, http.MethodPost, at.String(), text)
	return err
}

// info is what a lock says.
func (d *Document) info(id string) []byte {
	text, _ := json.Marshal(map[string]string{
		"ID": id, "Operation": "planform", "Info": "", "Who": "planform", "Version": "1.0.0",
		"Created": time.Now().UTC().Format(time.RFC3339), "Path": "",
	})
	return text
}

// take takes the server's lock. One that stays the same for too long is given back in place of its holder.
func (d *Document) take(ctx context.Context, id string) error {
	for {
		status, text, err := d.ask(ctx, d.lockMethod, d.lock, d.info(id), http.StatusLocked, http.StatusConflict)
		if err != nil {
			return err
		}
		if status < 300 {
			d.seen = ""
			return nil
		}
		var held struct{ ID string }
		_ = json.Unmarshal(text, &held)
		switch {
		case held.ID == id: // an answer was lost
			return nil
		case held.ID != d.seen || d.seen == "":
			d.seen, d.since = held.ID, time.Now()
		case time.Since(d.since) > stuckTime && held.ID != "":
			if _, _, err := d.ask(ctx, d.unlockMethod, d.unlock, d.info(held.ID), http.StatusConflict, http.StatusLocked); err != nil {
				return err
			}
			d.seen = ""
			continue
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server's lock of the state is held: %w", context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}
