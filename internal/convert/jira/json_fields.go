package jira

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/jira/adf"
)

// schema is the type of a field.
type schema struct {
	Custom string `json:"custom"` // such as com.pyxis.greenhopper.jira:gh-sprint
}

// describe records the names and types of fields that a page contains.
func (e *jsonExport) describe(names map[string]string, kinds json.RawMessage) {
	maps.Copy(e.names, names)
	var all map[string]json.RawMessage
	if json.Unmarshal(kinds, &all) == nil {
		for id, one := range all {
			e.define(id, "", one)
		}
	}
}

// define records the name and the type of a field.
func (e *jsonExport) define(id, name string, kind json.RawMessage) {
	e.names[id] = cmp.Or(name, e.names[id])
	var s schema
	if json.Unmarshal(kind, &s) == nil {
		e.kinds[id] = cmp.Or(s.Custom, e.kinds[id])
	}
}

// fields sets the values of an issue from its custom fields.
func (e *jsonExport) fields(i *jsonIssue) {
	held := map[string][]*convert.Held{} // by the beginning of their names
	for n := range i.Held {
		field, _, _ := strings.Cut(i.Held[n].Of.Name, ".")
		held[field] = append(held[field], &i.Held[n])
	}
	for _, id := range slices.Sorted(maps.Keys(i.custom)) {
		raw, name, kind := i.custom[id], e.names[id], e.kinds[id]
		is, isDocument := roleOf(kind, name), adf.Is(raw)
		field, _, _ := strings.Cut(id, ".")
		values := held[field]
		if name == "" {
			e.unnamed = true
			is = byShape(raw)
		}
		name = cmp.Or(name, id)
		if is == sprints {
			if i.Sprints = e.sprints(raw); len(i.Sprints) > 0 {
				setRoles(values, id, func(part string) convert.Role {
					if part == "" || part == "name" {
						return convert.OfSprint
					}
					return convert.SprintDate
				})
				raw := 0
				for _, h := range values {
					if h.Of.Name == id && raw < len(i.Sprints) { // a text in which Server writes all of a sprint
						h.Text, _, _ = strings.Cut(i.Sprints[raw].Name, convert.Within)
						raw++
					}
				}
				continue
			}
		}
		setRoles(values, id, func(part string) convert.Role {
			last := part[strings.LastIndexByte(part, '.')+1:]
			switch {
			case isDocument && last != "text":
				return convert.Technical
			case part == "" || isDocument || slices.Contains(shownParts(), last):
				return convert.OfField
			}
			i.Left["field-parts"]++
			return convert.Uncarried
		})
		if value := valueOf(raw, 0); name == id && value == i.Parent { // the epic of it, under another name
			setRoles(values, id, func(string) convert.Role { return convert.OfParent })
			continue
		}
		custom(&i.Issue, kind, convert.Field{Name: name, Value: valueOf(raw, 0), Source: id})
	}
}

// byShape returns the role of a field without a name. Only sprints have a board, or a text in Server's form.
func byShape(raw json.RawMessage) role {
	var all []struct {
		Board *int `json:"boardId"`
	}
	var texts []string
	if json.Unmarshal(raw, &all) == nil && len(all) > 0 && all[0].Board != nil || json.Unmarshal(raw, &texts) == nil && len(texts) > 0 && len(serverSprint(texts[0])) > 0 {
		return sprints
	}
	return other
}

// setRoles sets the roles of the values that belong to a custom field. role returns the role for the name of a value within the field.
func setRoles(values []*convert.Held, id string, role func(part string) convert.Role) {
	for _, h := range values {
		if of := h.Of; of.Name == id && of.Role == convert.OfField {
			of.Role = role("")
		} else if part, ok := strings.CutPrefix(of.Name, id+"."); ok && (of.Role == convert.OfField || of.Role == convert.Uncarried) {
			of.Role = role(part)
		}
	}
}

// shownParts returns the parts of an object that can be shown. The first part that an object has is shown.
func shownParts() []string { return []string{"value", "displayName", "name", "key"} }

// valueOf returns a value in the form that people read.
func valueOf(raw json.RawMessage, depth int) string {
	if adf.Is(raw) {
		return adf.Plain(raw)
	}
	var list []json.RawMessage
	var object map[string]json.RawMessage
	var text string
	switch {
	case depth > 5 || string(raw) == "null":
		return ""
	case json.Unmarshal(raw, &text) == nil:
		return strings.TrimSpace(text)
	case json.Unmarshal(raw, &list) == nil:
		var values []string
		for _, one := range list {
			if value := valueOf(one, depth+1); value != "" {
				values = append(values, value)
			}
		}
		return strings.Join(values, ", ")
	case json.Unmarshal(raw, &object) == nil:
		for _, name := range shownParts() {
			value := valueOf(object[name], depth+1)
			if value == "" {
				continue
			}
			if child := valueOf(object["child"], depth+1); child != "" { // of a list that depends on another
				value += " / " + child
			}
			return value
		}
		return ""
	}
	return strings.TrimSuffix(string(raw), ".0") // a number, true or false
}

type sprint struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	State string `json:"state"`
	Start string `json:"startDate"`
	End   string `json:"endDate"`
}

// sprints returns the sprints of an issue, in an order that ends with the sprint that counts: the active one, else the next, else the
// latest. Server writes each sprint as a text.
func (e *jsonExport) sprints(raw json.RawMessage) []convert.Sprint {
	var all []sprint
	if json.Unmarshal(raw, &all) != nil {
		var texts []string
		if json.Unmarshal(raw, &texts) != nil {
			return nil
		}
		for _, text := range texts {
			fields := serverSprint(text)
			all = append(all, sprint{Name: fields["name"], State: fields["state"], Start: fields["startDate"], End: fields["endDate"]})
		}
	}
	rank := func(s sprint) int {
		return slices.Index([]string{"closed", "future", "active"}, strings.ToLower(s.State))
	}
	slices.SortStableFunc(all, func(a, b sprint) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.End, b.End)) })
	var list []convert.Sprint
	for _, s := range all {
		if s.Name != "" {
			if s.ID > 0 {
				s.Name += convert.Within + strconv.Itoa(s.ID)
			}
			list = append(list, convert.Sprint{Name: s.Name, Start: e.day(s.Start), End: e.day(s.End)})
		}
	}
	return list
}

// day returns the calendar day of a moment in the zone of the export.
func (e *jsonExport) day(text string) string {
	at, ok := dates.Parse(text, time.RFC3339)
	if !ok {
		return ""
	}
	e.moments = true
	return dates.Day(at.In(e.in.Zone))
}
