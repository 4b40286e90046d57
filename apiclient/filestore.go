package apiclient

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/http/baseurl"
	"github.com/planform/planform/internal/http/wire"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// StoreError is a failure of the file store that the service named. It contains neither the address of the file nor a signature.
type StoreError struct {
	Host   string
	Status int    // of the answer; 0 = there was none
	Reason string // the store's own words, or the problem with its answer
	Err    error  // of the connection or the context; nil = none
}

// Error returns a text such as: the file store files.example.com: 403: AccessDenied: Policy expired.
func (se *StoreError) Error() string {
	text := "the file store " + se.Host
	if se.Status > 0 {
		text += ": " + strconv.Itoa(se.Status)
	}
	if se.Reason != "" {
		text += ": " + se.Reason
	}
	if se.Err != nil {
		text += ": " + se.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (se *StoreError) Unwrap() error { return se.Err }

// Hint returns the next step.
func (se *StoreError) Hint() string {
	return "nothing was attached; check the file storage in the settings of the service, which names this store"
}

// Refusal returns the store's reason, which other files may share.
func (se *StoreError) Refusal() string {
	if se.Status < 400 || se.Status >= 500 {
		return ""
	}
	return strconv.Itoa(se.Status) + ": " + se.Reason
}

// storeAddress checks a store address from the service.
func (c *Client) storeAddress(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.User != nil:
		return nil, errors.New("the service gives no valid address for the file")
	case u.Scheme == "http" && c.base.Scheme == "https" && !baseurl.Loopback(u.Hostname()):
		return nil, &StoreError{
			Host:   wire.OneLine(u.Host, maxExcerpt),
			Reason: "its address would send the file unencrypted, though the service is reached by https",
		}
	}
	return u, nil
}

// Upload posts a file to the store with the form from the service: its url and fields. The store gets no credential, and its requests do
// not count against limits of the service. A repetition is harmless, because the form names the object.
func (c *Client) Upload(ctx context.Context, form resource.Row, name string, data []byte) error {
	address, _ := form["url"].(string)
	fields, _ := form["fields"].(map[string]any)
	u, err := c.storeAddress(address)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	var secrets []string
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		value, ok := fields[field].(string)
		if !ok {
			return errors.New("the service gives no valid form for the file")
		}
		if field != "Content-Type" {
			secrets = append(secrets, value)
		}
		_ = w.WriteField(field, value) // writes to memory
	}
	part, _ := w.CreateFormFile("file", name) // the last part: the store ignores what follows
	_, _ = part.Write(data)
	_ = w.Close()
	header := http.Header{"Content-Type": {w.FormDataContentType()}}
	_, err = c.askStore(ctx, http.MethodPost, u, header, body.Bytes(), secrets, wire.MaxError)
	return err
}

// Fetch gets a file of at most the given size from the store to which a read of the service redirects.
func (c *Client) Fetch(ctx context.Context, op *resource.Operation, path string, most int64) ([]byte, error) {
	call, err := c.prepare(Request{Operation: op, Path: path})
	if err != nil {
		return nil, err
	}
	call.wantsLocation = true
	a, err := c.send(ctx, call)
	if err != nil {
		return nil, err
	}
	u, err := c.storeAddress(a.location)
	if err != nil {
		return nil, err
	}
	return c.askStore(ctx, http.MethodGet, u, http.Header{}, nil, []string{u.RawQuery}, most)
}

// askStore sends a request to the store, and repeats it after a temporary failure. Redirects are refused.
func (c *Client) askStore(ctx context.Context, method string, u *url.URL, header http.Header, body []byte, secrets []string,
	most int64,
) ([]byte, error) {
	header["User-Agent"] = c.header["User-Agent"]
	r := retries{c: c}
	for attempt := 0; ; attempt++ {
		if c.running.Err() != nil {
			return nil, &StoreError{
				Host: wire.OneLine(u.Host, maxExcerpt),
				Err:  context.Cause(c.running), //nolint:contextcheck // the reason why the client was stopped
			}
		}
		begin := time.Now()
		status, data, failed := c.storeAttempt(ctx, method, u, header, body, secrets, most)
		c.log.LogAttrs(ctx, slog.LevelDebug, "request to the file store", slog.String("method", method), slog.String("host", u.Host),
			slog.Int("status", status), slog.Duration("took", time.Since(begin)))
		switch {
		case failed == nil:
			return data, nil
		case ctx.Err() != nil:
			failed.Err = contextError(ctx)
			return nil, failed
		case attempt >= c.retries, status == 0 && (failed.Err == nil || permanent(failed.Err)), status != 0 && status < 500 &&
			status != http.StatusTooManyRequests:
			return nil, failed
		}
		wait := r.delay()
		c.notify(Event{Type: Retrying, Wait: wait, Method: method, Path: u.Host, Attempt: attempt + 1, Err: failed})
		waiting, release := c.untilStopped(ctx)
		slept := sleep(waiting, wait)
		release()
		if !slept {
			failed.Err = contextError(waiting)
			return nil, failed
		}
	}
}

func (c *Client) storeAttempt(ctx context.Context, method string, u *url.URL, header http.Header, body []byte, secrets []string,
	most int64,
) (int, []byte, *StoreError) {
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	c.sent.Add(1)
	req := request(limited, method, u, header, body)
	failed := &StoreError{Host: wire.OneLine(u.Host, maxExcerpt)}
	transport, err := c.storeTransport(req)
	if err != nil {
		failed.Reason = diag.PlainText(err)
		return 0, nil, failed
	}
	resp, err := wire.Send(transport, req, most)
	if none, ok := errors.AsType[*wire.NoAnswerError](err); ok {
		failed.Status, failed.Reason = none.Status, "this is no answer of a store"
		return none.Status, nil, failed
	}
	if tooNear, ok := errors.AsType[*tooNearError](err); ok {
		failed.Reason = tooNear.Error()
		return 0, nil, failed
	}
	if err != nil {
		failed.Err = c.transportError(ctx, limited, err)
		return 0, nil, failed
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	failed.Status = resp.StatusCode
	data, err := io.ReadAll(resp.Body)
	uploaded := resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusCreated || resp.StatusCode == http.StatusOK &&
		len(data) == 0
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		failed.Reason = "it redirects, which is refused"
	case resp.StatusCode >= 400:
		failed.Reason = storeReason(data, secrets)
	case method == http.MethodPost && !uploaded, method == http.MethodGet && resp.StatusCode != http.StatusOK:
		failed.Reason = "this is no answer of a store"
	case errors.Is(err, wire.ErrTooLarge):
		failed.Reason = err.Error()
	case err != nil:
		failed.Err = c.transportError(ctx, limited, err)
	default:
		return resp.StatusCode, data, nil
	}
	return resp.StatusCode, nil, failed
}

// storeReason returns the store's own words in an answer. Of the usual XML it takes code and message, because the other elements repeat
// what was signed, and the signature. Other texts are shown without the values of the form.
func storeReason(body []byte, secrets []string) string {
	var known struct{ Code, Message string }
	text := string(body)
	if xml.Unmarshal(body, &known) == nil && known.Code != "" {
		if text = known.Code; known.Message != "" {
			text += ": " + known.Message
		}
	}
	text = wire.Secrets(secrets).Hide(wire.OneLine(text, len(text))) // OneLine may remove characters inside a secret
	if strings.Contains(strings.ToLower(text), "signature=") {
		return "" // a signed address
	}
	return diag.Truncate(text, maxExcerpt)
}
