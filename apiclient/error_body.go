package apiclient

import (
	"bytes"
	"encoding/json"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

const (
	maxErrorBody  = 256 << 10
	maxTexts      = 50  // messages kept of one answer
	maxTextRunes  = 500 // of one message
	maxMessage    = 2000
	maxExcerpt    = 160
	maxErrorDepth = 8
	maxCode       = 100
)

// errorBody is the content of an error's body.
type errorBody struct {
	message    string
	code       string
	fields     map[string][]string
	existingID string
	html       bool
}

// readErrorBody reads an error's body. Shapes seen: {"error": …}, {"detail": …},
// {"message": …, "code": …}, {"error_code": …, "error_message": …}, {"non_field_errors": […]}, a map of fields to
// a text, a list of texts or such maps in turn, a bare list, plain text, HTML, nothing. Every text is redacted by hide before
// it is shortened, since a part of a credential must not remain.
func readErrorBody(contentType string, body []byte, hide func(string) string) errorBody {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	if len(body) == 0 {
		return errorBody{}
	}
	if isHTML(contentType, body) {
		return errorBody{message: htmlExcerpt(body, hide), html: true}
	}
	if depth, _ := measure(body); depth > maxDepth {
		return errorBody{message: oneLine(hide(string(body)), maxExcerpt)}
	}
	var v any
	if json.Unmarshal(body, &v) != nil {
		return errorBody{message: oneLine(hide(string(body)), maxExcerpt)}
	}
	v = redactStrings(v, hide)
	object, ok := v.(map[string]any)
	if !ok {
		f := flattener{}
		f.add("", v, 0)
		return errorBody{message: f.message(), fields: f.fieldMessages()}
	}
	return readObject(object)
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

func readObject(object map[string]any) errorBody {
	var c errorBody
	if id, ok := object["id"].(string); ok && resource.IsID(id) {
		c.existingID = resource.LowerID(id)
	}
	var parts []string
	f := flattener{}
	for _, key := range []string{"error", "detail", "message", "error_message"} {
		switch v := object[key].(type) {
		case nil:
		case string:
			if text := oneLine(v, maxTextRunes); text != "" && !slices.Contains(parts, text) {
				parts = append(parts, text)
			}
		case bool, float64: // {"error": true} is no message
		default:
			f.add(nameOr(key, ""), v, 1)
		}
	}
	for _, key := range sortedKeys(object) {
		switch key {
		case "error", "detail", "message", "error_message":
		case "id", "code", "error_code", "status", "status_code":
			// A message about a field of that name is never a bare value.
			if _, isList := object[key].([]any); isList {
				f.add(join("", key), object[key], 1)
			}
		case "non_field_errors":
			f.add("", object[key], 1)
		default:
			f.add(join("", key), object[key], 1)
		}
	}
	if text := f.message(); text != "" {
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		for _, key := range []string{"code", "error_code"} {
			if text := scalar(object[key]); text != "" {
				parts = append(parts, oneLine(text, maxTextRunes))
			}
		}
	}
	if code, ok := object["code"].(string); ok {
		c.code = diag.Truncate(code, maxCode)
	}
	c.message, c.fields = diag.Truncate(strings.Join(parts, ": "), maxMessage), f.fieldMessages()
	return c
}

// nameOr drops the name of a wrapper, which is not a field.
func nameOr(key, fallback string) string {
	if key == "error" || key == "detail" || key == "message" {
		return fallback
	}
	return key
}

// flattener flattens a tree of messages: paths in order, and the texts of each.
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
		for _, key := range sortedKeys(v) {
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
		text := oneLine(scalar(v), maxTextRunes)
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

// fieldMessages are the messages about single fields.
func (f *flattener) fieldMessages() map[string][]string {
	delete(f.texts, "")
	if len(f.texts) == 0 {
		return nil
	}
	return f.texts
}

func join(path, key string) string {
	key = oneLine(key, 100)
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

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// isHTML reports whether an answer is a web page.
func isHTML(contentType string, body []byte) bool {
	if strings.Contains(strings.ToLower(contentType), "html") {
		return true
	}
	return len(body) > 0 && body[0] == '<'
}

// htmlExcerpt is the title of a web page, or the beginning of its text.
func htmlExcerpt(page []byte, hide func(string) string) string {
	text := string(page)
	lower := strings.ToLower(text)
	if len(lower) == len(text) {
		if start := strings.Index(lower, "<title"); start >= 0 {
			if open := strings.IndexByte(text[start:], '>'); open >= 0 {
				rest := text[start+open+1:]
				if end := strings.IndexByte(rest, '<'); end > 0 && strings.TrimSpace(rest[:end]) != "" {
					return oneLine(hide(html.UnescapeString(rest[:end])), maxExcerpt)
				}
			}
		}
	}
	var b strings.Builder
	depth := 0
	for _, r := range text {
		switch {
		case r == '<':
			depth++
			b.WriteByte(' ')
		case r == '>' && depth > 0:
			depth = 0
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return oneLine(hide(html.UnescapeString(b.String())), maxExcerpt)
}

// oneLine makes a text of others safe to show: white space becomes single spaces;
// characters that control a terminal or the direction of writing are removed.
func oneLine(text string, limit int) string {
	text = diag.Truncate(text, 4*limit)
	var b strings.Builder
	space := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case r == utf8.RuneError, !unicode.IsPrint(r):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return diag.Truncate(b.String(), limit)
}

// newAPIError builds the error for an answer that is not a success.
func (c *Client) newAPIError(call *call, status int, header http.Header, body []byte) *Error {
	content := readErrorBody(header.Get("Content-Type"), body, c.credential.redact)
	e := c.failure(call, effectOf(status), nil)
	e.Status = status
	e.Message, e.Code, e.Fields, e.webPage = content.message, content.code, content.fields, content.html
	if status == http.StatusConflict || status == http.StatusBadRequest && strings.Contains(e.Message, "already exists") {
		e.ExistingID = content.existingID
	}
	return e
}
