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

// Tables are the kinds of rows that the service has, but for what it writes down by itself.
func Tables() []string {
	return []string{
		"project", "state", "label", "cycle", "module", "project_member", "work_item", "link", "comment", "cycle_issue", "module_issue", "relation",
		"work_item_type", "initiative", "initiative_label", "initiative_project", "initiative_label_link", "initiative_epic", "teamspace", "teamspace_project",
		"teamspace_member", "customer", "customer_request", "page", "attachment", "estimate", "estimate_point",
		"work_item_property", "work_item_property_option", "work_item_property_value",
	}
}

// Called is what objects are called, by ID.
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

// Picture is what the service has, a line an object, with names in place of IDs and
// without what depends on when and in how many requests an object was made.
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
			return "-" // what no row is
		}
		return anID.ReplaceAllStringFunc(text, func(id string) string { return cmp.Or(names[id], id) })
	}
	var lines []string
	for _, kind := range Tables() {
		for _, r := range s.Rows(kind) {
			var line strings.Builder
			line.WriteString(kind + ":")
			if kind == "attachment" {
				if r["is_uploaded"] != true { // nobody sees it
					continue
				}
				for _, field := range []string{"asset", "signature"} { // at random
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
