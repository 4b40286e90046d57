package sandboxtest

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// Tables returns the kinds of rows that requests create. It leaves out rows that the service creates itself, such as activities.
func Tables() []string {
	return []string{
		"project", "state", "label", "cycle", "module", "project_member", "work_item", "link", "comment", "cycle_issue", "module_issue", "relation",
		"work_item_type", "initiative", "initiative_label", "initiative_project", "initiative_label_link", "initiative_epic", "teamspace", "teamspace_project",
		"teamspace_member", "customer", "customer_request", "page", "attachment", "estimate", "estimate_point",
		"work_item_property", "work_item_property_option", "work_item_property_value",
	}
}

// Called returns names of all objects by ID.
func (s *Server) Called() map[string]string {
	names := map[string]string{}
	for _, kind := range append(Tables(), "member") {
		for _, r := range s.Rows(kind) {
			for _, field := range []string{"identifier", "name", "display_name", "title", "url", "comment_html", "email", "value"} {
				if text, ok := r[field].(string); ok && text != "" {
					names[fmt.Sprint(r["id"])] = kind + " " + text
					break
				}
			}
		}
	}
	return names
}

// Picture describes the content of the service, one line for each object, with names instead of IDs. It leaves out values
// that depend on when and with how many requests an object was created.
func (s *Server) Picture() []string {
	names, anID := s.Called(), regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	var show func(v any) string
	show = func(v any) string {
		switch v := v.(type) {
		case []any:
			list := make([]string, len(v))
			for i := range v {
				list[i] = show(v[i])
			}
			slices.Sort(list)
			return "[" + strings.Join(list, ", ") + "]"
		case nil:
			return "-"
		}
		if name, ok := names[fmt.Sprint(v)]; ok {
			return name
		}
		text := fmt.Sprint(v)
		if uuid.Validate(text) == nil {
			return "-" // no row has this ID
		}
		return anID.ReplaceAllStringFunc(text, func(id string) string { return cmp.Or(names[id], id) })
	}
	var lines []string
	for _, kind := range Tables() {
		for _, r := range s.Rows(kind) {
			var line strings.Builder
			line.WriteString(kind + ":")
			if kind == "attachment" {
				if r["is_uploaded"] != true { // no list shows it
					continue
				}
				for _, field := range []string{"asset", "signature"} { // random values
					delete(r, field)
				}
			}
			for _, field := range slices.Sorted(maps.Keys(r)) {
				switch v := r[field]; {
				case field == "id", field == "sequence_id", field == "sort_order", field == "sequence", field == "is_default", strings.HasSuffix(field, "_by"), strings.HasSuffix(field, "_at") && field != "archived_at":
				case field == "archived_at":
					fmt.Fprintf(&line, " archived=%t", v != nil)
				default:
					line.WriteString(" " + field + "=" + show(v))
				}
			}
			lines = append(lines, line.String())
		}
	}
	slices.Sort(lines)
	return lines
}
