package apiclient

import (
	"bytes"
	"cmp"
	"encoding/json"
	"html"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/http/wire"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

const (
	maxTexts      = 50  // messages kept of one answer
	maxTextRunes  = 500 // of one message
	maxMessage    = 2000
	maxExcerpt    = 160
	maxErrorDepth = 8
	maxCode       = 100
)

// readBody reads message, code and fields from the body of an error. Known forms: {"error": …}, {"detail": …}, {"message": …, "code": …},
// {"error_code": …, "error_message": …}, {"non_field_errors": […]}, a map of fields to a text, a list of texts or further maps, a bare
// list, plain text, HTML, nothing; for v2, see [Error.readProblem]. Every text is redacted by hide before it is shortened, because no part
// of a credential may remain.
func (e *Error) readBody(contentType string, body []byte, hide func(string) string) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	var v any
	switch depth, _ := measure(body); {
	case len(body) == 0:
		return
	case isHTML(contentType, body):
		e.Message, e.webPage = htmlExcerpt(body, hide), true
		return
	case depth > maxDepth, json.Unmarshal(body, &v) != nil:
		e.Message = wire.OneLine(hide(string(body)), maxExcerpt)
		return
	}
	v = redactStrings(v, hide)
	object, ok := v.(map[string]any)
	if !ok {
		object = map[string]any{"": v}
	}
	if !e.readProblem(object) {
		e.readObject(object)
	}
}

// readProblem reads the form of an error of v2, {"type", "code", "detail", "errors": [{"field", "code", "message"}]}, and reports whether
// the object has this form.
func (e *Error) readProblem(object map[string]any) bool {
	_, typed := object["type"].(string)
	code, coded := object["code"].(string)
	detail, ok := object["detail"].(string)
	if !typed || !coded || !ok {
		return false
	}
	e.problem, e.Code = true, diag.Truncate(code, maxCode)
	var f flattener
	list, _ := object["errors"].([]any)
	for _, v := range list {
		entry, _ := v.(map[string]any)
		f.add(join("", scalar(entry["field"])), cmp.Or(scalar(entry["message"]), scalar(entry["code"])), 0)
	}
	message := cmp.Or(wire.OneLine(detail, maxTextRunes), e.Code)
	if fields := f.message(); fields != "" {
		message = strings.TrimSuffix(message, ".") + ": " + fields
	}
	e.Message, e.Fields = diag.Truncate(message, maxMessage), f.fieldMessages()
	return true
}

// redactStrings applies hide to every text of a JSON value, including names.
func redactStrings(v any, hide func(string) string) any {
	switch v := v.(type) {
	case string:
		return hide(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = redactStrings(v[i], hide)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, value := range v {
			m[hide(key)] = redactStrings(value, hide)
		}
		return m
	default:
		return v
	}
}

func (e *Error) readObject(object map[string]any) {
	var parts []string
	var f flattener
	for _, key := range []string{"error", "detail", "message", "error_message"} {
		switch v := object[key].(type) {
		case nil:
		case string:
			if text := wire.OneLine(v, maxTextRunes); text != "" && !slices.Contains(parts, text) {
				parts = append(parts, text)
			}
		case bool, float64: // {"error": true} is not a message
		default:
			f.add("", v, 1)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch _, isList := object[key].([]any); key {
		case "error", "detail", "message", "error_message":
		case "non_field_errors":
			f.add("", object[key], 1)
		case "id", "code", "error_code", "status", "status_code":
			// A message about a field of this name is a list.
			if !isList {
				continue
			}
			fallthrough
		default:
			f.add(join("", key), object[key], 1)
		}
	}
	e.Code, _ = object["code"].(string)
	e.Code = diag.Truncate(e.Code, maxCode)
	parts = append(parts, f.message())
	if len(parts) == 1 && parts[0] == "" {
		parts = []string{wire.OneLine(scalar(object["code"]), maxTextRunes), wire.OneLine(scalar(object["error_code"]), maxTextRunes)}
	}
	parts = slices.DeleteFunc(parts, func(text string) bool { return text == "" })
	e.Message, e.Fields = diag.Truncate(strings.Join(parts, ": "), maxMessage), f.fieldMessages()
	id, _ := object["id"].(string)
	if resource.IsID(id) && (e.Status == http.StatusConflict || e.Status == http.StatusBadRequest &&
		strings.Contains(e.Message, "already exists")) {
		e.ExistingID = resource.LowerID(id)
	}
}

// flattener flattens a tree of messages into paths in order, and the texts of each.
type flattener struct {
	paths []string
	texts map[string][]string
	n     int
}

func (f *flattener) add(path string, v any, depth int) {
	if f.n >= maxTexts || depth > maxErrorDepth {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key == "non_field_errors" {
				f.add(path, v[key], depth+1)
				continue
			}
			f.add(join(path, key), v[key], depth+1)
		}
	case []any:
		for i, e := range v {
			if _, isMap := e.(map[string]any); isMap {
				f.add(join(path, strconv.Itoa(i)), e, depth+1)
				continue
			}
			f.add(path, e, depth+1)
		}
	default:
		text := wire.OneLine(scalar(v), maxTextRunes)
		if text == "" {
			return
		}
		if f.texts == nil {
			f.texts = map[string][]string{}
		}
		if _, seen := f.texts[path]; !seen {
			f.paths = append(f.paths, path)
		}
		f.texts[path] = append(f.texts[path], text)
		f.n++
	}
}

func (f *flattener) message() string {
	parts := make([]string, 0, len(f.paths))
	for _, path := range f.paths {
		text := strings.Join(f.texts[path], " ")
		if path != "" {
			text = path + ": " + text
		}
		parts = append(parts, text)
	}
	return diag.Truncate(strings.Join(parts, "; "), maxMessage)
}

// fieldMessages returns the messages about single fields.
func (f *flattener) fieldMessages() map[string][]string {
	delete(f.texts, "")
	if len(f.texts) == 0 {
		return nil
	}
	return f.texts
}

func join(path, key string) string {
	key = wire.OneLine(key, 100)
	if path == "" {
		return key
	}
	return path + "." + key
}

func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	default:
		return ""
	}
}

// isHTML reports whether an answer is a web page.
func isHTML(contentType string, body []byte) bool {
	if strings.Contains(strings.ToLower(contentType), "html") {
		return true
	}
	return len(body) > 0 && body[0] == '<'
}

// htmlExcerpt returns the title of a web page, or the beginning of its text.
func htmlExcerpt(page []byte, hide func(string) string) string {
	text := regexp.MustCompile(`<[^>]*(>|$)`).ReplaceAllString(string(page), " ")
	if title := regexp.MustCompile(`(?i)<title[^>]*>([^<]*[^<\s][^<]*)<`).FindSubmatch(page); title != nil {
		text = string(title[1])
	}
	return wire.OneLine(hide(html.UnescapeString(text)), maxExcerpt)
}

// newAPIError returns the error for an answer that is not a success.
func (c *Client) newAPIError(call *call, status int, header http.Header, body []byte) *Error {
	e := c.failure(call, effectOf(status), nil)
	e.Status = status
	e.readBody(header.Get("Content-Type"), body, c.credential.redact)
	if e.managedElsewhere() || e.migrating() {
		e.Effect = NoEffect
	}
	return e
}
