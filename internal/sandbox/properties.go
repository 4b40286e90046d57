package sandbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// describeItemProperties adds the kinds of the custom fields of work items: their definitions, which a project has and its types use,
// their options, and their values.
func (ks *kinds) describeItemProperties() {
	ks.itemProperty = ks.add(&kind{
		name: "work_item_property", hidden: names("types"),
		columns: audit("name display_name description logo_props sort_order property_type relation_type is_required default_value " +
			"settings is_active is_multi validation_rules external_source external_id created_by updated_by workspace project " +
			"issue_type"),
		indexes: []index{uniqueExternalID("work_item_property", "project", "Work item property")},
		fields: bodyFields("display_name*=line description=prose? is_required=off is_active=on is_multi=off validation_rules=object"+externalPair,
			field{name: "property_type", required: true, check: choice(names("TEXT DATETIME DECIMAL BOOLEAN OPTION RELATION URL EMAIL FILE FORMULA")...)},
			field{name: "relation_type", check: choice("ISSUE", "USER", "RELEASE", "RICH_TEXT"), null: true},
			field{name: "default_value", check: items, initial: []any{}},
			field{name: "settings", check: mapping, null: true},
		),
		param: "property", scope: inLevel, oldestFirst: true, shared: (*call).sharedProperties,
		created: func(c *call, _ *tx, r row) {
			r["logo_props"], r["sort_order"], r["types"] = row{}, float(firstOrder), []any{}
			if c.vars["type"] != "" {
				r["issue_type"], r["types"] = c.vars["type"], []any{c.vars["type"]}
			}
		},
		prepare: func(_ *call, _ *tx, _, r row) *reply {
			if wrong := missingField(r); wrong != "" {
				return new(invalid(row{wrong: message("This field is required.")}))
			}
			r["name"] = slug(text(r, "display_name"))
			return nil
		},
		contents: []**kind{&ks.propertyOption},
		afterDelete: func(c *call, t *tx, r row) {
			for _, item := range slices.Concat(t.all(ks.workItem, inProject(c)), t.all(ks.hiddenItem, inProject(c))) {
				c.putValue(t, text(item.row, "id"), r, nil)
			}
		},
	})
	ks.propertyOption = ks.add(&kind{
		name: "work_item_property_option",
		columns: audit("name sort_order description logo_props is_active is_default external_source external_id created_by " +
			"updated_by workspace project property parent"),
		indexes: []index{uniqueExternalID("work_item_property_option", "property", "Property option")},
		fields: bodyFields("name*=line description=prose? is_active=on is_default=off"+externalPair,
			field{name: "parent", ref: &ks.propertyOption, null: true},
		),
		param: "option", scope: func(c *call) []byte { return scope(c.vars["property"]) }, oldestFirst: true,
		created: func(c *call, t *tx, r row) {
			r["property"], r["logo_props"] = c.vars["property"], row{}
			r["sort_order"] = float(float64(t.count(ks.propertyOption, scope(c.vars["property"]))+1) * 10000)
		},
	})
	ks.itemValue = ks.add(&kind{name: "work_item_property_value", columns: audit("created_by updated_by workspace project issue " +
		"property value")})
}

// missingField returns the field that a definition of its type lacks, or "".
func missingField(r row) string {
	switch kind := text(r, "property_type"); {
	case (kind == "TEXT" || kind == "DATETIME") && r["settings"] == nil:
		return "settings"
	case kind == "RELATION" && r["relation_type"] == nil:
		return "relation_type"
	}
	return ""
}

// ofType wraps a handler for the properties of a type.
func ofType(h handler) handler {
	return func(c *call, t *tx) reply {
		if !t.has(c.kinds.itemType, inProject(c), c.vars["type"]) {
			return notFound()
		}
		if id, one := c.vars["property"]; one {
			p, ok := t.getWithin(c.kinds.itemProperty, inProject(c), id)
			if !ok || !slices.Contains(list(p.row, "types"), c.vars["type"]) {
				return notFound()
			}
		}
		return h(c, t)
	}
}

func listItemProperties(c *call, t *tx) reply {
	return reply{
		http.StatusOK,
		c.kinds.itemProperty.renderWhere(c, t, func(r row) bool { return slices.Contains(list(r, "types"), c.vars["type"]) }),
	}
}

// ofProperty wraps a handler for the options of a property.
func ofProperty(h handler) handler {
	return func(c *call, t *tx) reply {
		p, ok := t.getWithin(c.kinds.itemProperty, inProject(c), c.vars["property"])
		switch {
		case !ok:
			return notFound()
		case text(p.row, "property_type") != "OPTION":
			return refuse(http.StatusBadRequest, "error", "Only properties of the type OPTION have options")
		}
		return h(c, t)
	}
}

// ofItem wraps a handler for the value of a property in the route's item.
func ofItem(h func(c *call, t *tx, p row) reply) handler {
	return func(c *call, t *tx) reply {
		item, exists := c.anyItem(t, c.vars["item"])
		p, _ := t.get(c.kinds.itemProperty, c.vars["property"])
		switch {
		case !exists || !c.kinds.itemProperty.isAvailable(c, t, c.vars["property"]) || text(item.row, "project") != c.vars["project"]:
			return notFound()
		case !slices.Contains(list(p.row, "types"), text(item.row, "type")):
			return refuse(http.StatusBadRequest, "error", "The property does not belong to the type of the work item")
		}
		return h(c, t, p.row)
	}
}

func readValue(c *call, t *tx, p row) reply {
	s, ok := c.itemValue(t, c.vars["item"], text(p, "id"))
	if !ok {
		return refuse(http.StatusNotFound, "error", "Property value not set for this work item")
	}
	one := func(v any) row {
		return row{
			"id": s.row["id"], "property_id": p["id"], "issue_id": c.vars["item"], "value": v, "value_type": p["property_type"],
			"external_id": nil, "external_source": nil,
		}
	}
	if values, many := s.row["value"].([]any); many {
		out := []row{}
		for _, v := range values {
			record := one(v)
			record["id"] = newID() // each value has a record
			out = append(out, record)
		}
		return reply{http.StatusOK, out}
	}
	return reply{http.StatusOK, one(s.row["value"])}
}

// setValue sets or replaces a value.
func setValue(c *call, t *tx, p row) reply {
	v, given := c.in["value"]
	if !given || v == nil {
		return invalid(row{"value": message("This field is required.")})
	}
	value, complaint := c.checkValue(t, p, v)
	if complaint != "" {
		return invalid(row{"value": message("%s", complaint)})
	}
	c.putValue(t, c.vars["item"], p, value)
	return readValue(c, t, p)
}

func removeValue(c *call, t *tx, p row) reply {
	if answer := readValue(c, t, p); answer.status != http.StatusOK {
		return answer
	}
	c.putValue(t, c.vars["item"], p, nil)
	return reply{status: http.StatusNoContent}
}

func (c *call) itemValue(t *tx, item, property string) (stored, bool) {
	for _, s := range t.all(c.kinds.itemValue, scope(item)) {
		if text(s.row, "property") == property {
			return s, true
		}
	}
	return stored{}, false
}

// putValue replaces the value of an item; nil or an empty list removes it.
func (c *call) putValue(t *tx, item string, p row, value any) {
	if s, ok := c.itemValue(t, item, text(p, "id")); ok {
		t.remove(c.kinds.itemValue, s)
	}
	if values, many := value.([]any); value == nil || many && len(values) == 0 {
		return
	}
	r := row{"issue": item, "property": p["id"], "value": value}
	c.setAudit(c.kinds.itemValue, r)
	t.insert(c.kinds.itemValue, scope(item), r)
}

// checkValue returns a value of a property as it is stored, or a complaint.
func (c *call) checkValue(t *tx, p row, v any) (value any, complaint string) {
	values, many := v.([]any)
	if !flag(p, "is_multi") {
		if many {
			return nil, "Expected one value."
		}
		return c.checkOne(t, p, v)
	}
	if !many {
		values = []any{v}
	}
	out := []any{}
	for _, v := range values {
		if value, complaint = c.checkOne(t, p, v); complaint != "" {
			return nil, complaint
		}
		out = append(out, value)
	}
	return out, ""
}

func (c *call) checkOne(t *tx, p row, v any) (value any, complaint string) {
	s, isText := v.(string)
	kind := text(p, "property_type")
	switch {
	case kind == "DECIMAL":
		if _, ok := v.(json.Number); !ok {
			return nil, "A valid number is required."
		}
		return v, ""
	case kind == "BOOLEAN":
		if _, ok := v.(bool); !ok {
			return nil, "Must be a valid boolean."
		}
		return v, ""
	case kind == "FILE", kind == "FORMULA":
		return nil, "The value cannot be set."
	case !isText:
		return nil, "Not a valid string."
	case kind == "OPTION", kind == "RELATION":
		return s, c.unknownTarget(t, p, s)
	case kind == "URL":
		if u, err := url.Parse(s); err != nil || u.Host == "" {
			return nil, "Enter a valid URL."
		}
	case kind == "DATETIME":
		_, dayOnly := time.Parse(time.DateOnly, s)
		if _, err := time.Parse(time.DateTime, s); err != nil && dayOnly != nil {
			return nil, "Datetime has wrong format. Use one of these formats instead: YYYY-MM-DD, YYYY-MM-DD HH:MM:SS."
		}
	}
	return s, ""
}

// unknownTarget returns a complaint if an option or a relation does not exist, or "".
func (c *call) unknownTarget(t *tx, p row, id string) string {
	k, in := c.kinds.propertyOption, scope(text(p, "id"))
	switch {
	case !isUUID(id):
		return "Invalid UUID format: " + id
	case text(p, "property_type") == "OPTION":
	case text(p, "relation_type") == "USER":
		k, in = c.kinds.projectMember, inProject(c)
		if projectRole(t, c.vars["project"], id) > 0 {
			return ""
		}
	default:
		k, in = c.kinds.workItem, inProject(c)
	}
	if !t.has(k, in, id) {
		return "Object with id " + id + " does not exist."
	}
	return ""
}

// customFields returns the custom field values of an item in API v2.
func (c *call) customFields(t *tx, item row) any {
	out := row{}
	for _, s := range t.all(c.kinds.itemValue, scope(text(item, "id"))) {
		p, ok := t.get(c.kinds.itemProperty, text(s.row, "property"))
		if !ok || !slices.Contains(list(p.row, "types"), text(item, "type")) {
			continue
		}
		detail := s.row["value"]
		if o, ok := t.get(c.kinds.propertyOption, valueText(detail)); ok {
			detail = selectFields(o.row, []string{"id", "name"})
		}
		out[text(p.row, "name")] = row{"id": p.row["id"], "value": s.row["value"], "value_detail": detail}
	}
	return out
}

// prepareCustomFields replaces the names of properties with their IDs, and checks the values.
func prepareCustomFields(w *writeV2) {
	given, ok := w.given["custom_fields"].(row)
	p, _ := w.t.get(w.kinds.project, w.vars["project"])
	if !ok || w.r["type"] == nil || !flag(p.row, "is_issue_type_enabled") {
		w.addError("custom_fields", "invalid", "Custom properties are not enabled.")
		return
	}
	values := row{}
	for name, v := range given {
		all := w.kinds.itemProperty.recordsIn(w.call, w.t)
		at := slices.IndexFunc(all, func(p stored) bool {
			return text(p.row, "name") == name && slices.Contains(list(p.row, "types"), text(w.r, "type"))
		})
		if at < 0 {
			w.addError("custom_fields."+name, "invalid", "The type has no such property.")
			continue
		}
		property := all[at].row
		if v != nil {
			value, complaint := w.checkValue(w.t, property, v)
			if complaint != "" {
				w.addError("custom_fields."+name, "invalid", "%s", complaint)
			}
			v = value
		}
		values[text(property, "id")] = v
	}
	w.given["custom_fields"] = values
}

// storeCustomFields stores the custom field values of the body.
func storeCustomFields(w *writeV2) {
	values, _ := w.given["custom_fields"].(row)
	for id, v := range values {
		p, _ := w.t.get(w.kinds.itemProperty, id)
		w.putValue(w.t, text(w.r, "id"), p.row, v)
	}
}
