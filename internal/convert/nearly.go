package convert

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/text/diag"
)

// nears describes files that are nearly exports, or exports of something else: their beginning, a name for them, and the right way to
// export.
//
//go:embed nearly.txt
var nears string

// nearly returns an error that explains a file without a known format, or nil if it has no explanation. tracker is the tracker of the
// format that the user named, or "".
func nearly(head []byte, name, tracker string) error {
	if tracker == "" {
		tracker = "the service"
	}
	if message, ok := refusal(head); ok {
		return diag.WithHint(fmt.Errorf("%s:1: the file is not an export, but an error of %s: %s", name, tracker, diag.Truncate(message, 200)),
			"check the address and the token of the request, and export again; curl --fail writes no file of an error")
	}
	if regexp.MustCompile(`(?i)[ /\\][0-9a-f]{32}\.md$`).MatchString(name) {
		return diag.WithHint(fmt.Errorf("%s:1: it is a page of Notion, of which no table has the text", name),
			"export the database as Markdown & CSV, and convert its CSV whose name ends in _all as csv, with its title as the key")
	}
	begin := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\uFEFF")))
	for near := range strings.SplitSeq(strings.TrimSpace(nears), "\n\n") {
		if says := strings.Split(near, "\n"); regexp.MustCompile("^(?i:" + says[0] + ")").Match(begin) {
			return diag.WithHint(fmt.Errorf("%s:1: it is %s", name, says[1]), says[2])
		}
	}
	return nil
}

// refusal returns the message of an API's error that was saved instead of an answer. ok is false if the file holds anything else.
func refusal(head []byte) (message string, ok bool) {
	var answer map[string]any
	if json.Unmarshal(head, &answer) != nil { // it may be longer, too
		return "", false
	}
	for name, value := range answer {
		switch name {
		case "message", "error", "errors", "errorMessages", "err", "error_message":
			if text := said(value); text != "" && len(message) < len(text) {
				message = text
			}
		case "messages", "documentation_url", "status", "statusCode", "code", "type", "error_description", "ok", "success", "extensions", "warningMessages", "name",
			"ECODE", "path", "timestamp", "request_id", "error_code":
		default:
			return "", false
		}
	}
	return message, message != ""
}

// said returns the first text in a value.
func said(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case []any:
		for _, one := range v {
			if text := said(one); text != "" {
				return text
			}
		}
	case map[string]any:
		for _, name := range []string{"message", "title", "detail", "name"} {
			if text := said(v[name]); text != "" {
				return text
			}
		}
		var all []string
		for _, one := range v {
			all = append(all, said(one))
		}
		slices.Sort(all)
		return strings.TrimSpace(strings.Join(all, " "))
	}
	return ""
}
