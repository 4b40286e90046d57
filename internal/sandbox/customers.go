package sandbox

import (
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

func (ks *kinds) describeCustomers() {
	ks.customer = ks.add(&kind{
		name: "customer", path: "customers/", hidden: names("external_id external_source"),
		columns: audit("name description description_html description_stripped email website_url logo_props domain employees stage " +
			"contract_status revenue archived_at logo_asset created_by updated_by workspace customer_request_count"),
		computed: names("customer_request_count"),
		indexes:  []index{uniqueName("customer", "workspace", "Customer with the same name already exists")},
		fields: bodyFields("name*=line description_html=html description_stripped=prose? website_url=text? logo_props=object"+
			" domain=text? stage=text? contract_status=text? revenue=text? archived_at=moment? logo_asset=text?",
			field{name: "description", check: anything, null: true, initial: row{}},
			field{name: "email", check: str(254, true), null: true},
			field{name: "employees", check: whole(0, 1<<31-1), null: true},
		),
		param:    "customer",
		contents: []**kind{&ks.request, &ks.customerValue},
		show: func(c *call, t *tx, r row, _ bool) row {
			r = clone(r)
			r["customer_request_count"] = t.count(c.kinds.request, scope(text(r, "id")))
			return r
		},
	})
}

func inCustomer(c *call) []byte { return scope(c.vars["customer"]) }

// describeRequests adds the kinds of customer requests. They are stored under the newer field names; the contract has title and description.
func (ks *kinds) describeRequests() {
	ks.request = ks.add(&kind{
		name:     "customer_request",
		columns:  audit("name title description description_html link work_item_ids created_by updated_by workspace customer"),
		computed: names("title"),
		fields: bodyFields("name*=line description_html=html",
			field{name: "description", check: mapping, null: true, initial: row{}},
			field{name: "link", check: str(unlimited, true), null: true},
			field{name: "work_item_ids", ref: &ks.workItem, many: true, initial: []any{}},
		),
		param: "request", scope: inCustomer,
		created: func(c *call, _ *tx, r row) { r["customer"] = c.vars["customer"] },
		prepare: func(c *call, _ *tx, old, r row) *reply {
			if c.answersByContract() {
				fromContractFields(c, old, r)
			}
			return nil
		},
		show: func(c *call, _ *tx, r row, _ bool) row {
			if !c.answersByContract() {
				return r
			}
			r = clone(r)
			r["title"] = r["name"]
			r["description"] = r["description_html"]
			for _, name := range []string{"name", "description_html", "link", "work_item_ids"} {
				delete(r, name)
			}
			return r
		},
	})
	if ks.documented {
		ks.request.fields = []field{
			{name: "title", check: line(), initial: "", derived: true},
			{name: "description", check: prose(), initial: "", derived: true},
		}
	}
}

// fromContractFields turns the contract's fields into the stored fields.
func fromContractFields(c *call, old, r row) {
	if old == nil {
		r["name"], r["description"], r["description_html"] = "", row{}, ""
		r["work_item_ids"] = []any{}
	} else {
		r["description"] = old["description"]
	}
	if v, given := c.in["title"]; given {
		s, _ := asString(v)
		r["name"] = strings.TrimSpace(s)
	}
	if v, given := c.in["description"]; given {
		r["description_html"], _ = asString(v)
	}
	delete(r, "title")
}

// requestsOf wraps a handler that needs an existing customer.
func requestsOf(h handler) handler {
	return func(c *call, t *tx) reply {
		if t.find(c.kinds.customer, c.vars["customer"]) == nil {
			return notFound()
		}
		return h(c, t)
	}
}

func (ks *kinds) describeProperties() {
	ks.property = ks.add(&kind{
		name: "customer_property",
		columns: audit("name display_name description logo_props sort_order property_type relation_type is_required default_value " +
			"settings is_active is_multi validation_rules external_source external_id created_by updated_by workspace options"),
		computed: names("options"),
		indexes:  []index{uniqueExternalID("customer_property", "workspace", "Customer property")},
		fields: bodyFields("display_name*=line description=prose? logo_props=object sort_order=order is_required=off is_active=on"+
			" is_multi=off validation_rules=object"+externalPair,
			field{name: "property_type", required: true, check: choice(names("TEXT DATETIME DECIMAL BOOLEAN OPTION RELATION URL EMAIL FILE")...)},
			field{name: "relation_type", check: choice("ISSUE", "USER"), null: true},
			field{name: "default_value", check: items, initial: []any{}},
			field{name: "settings", check: anything, null: true, initial: row{}},
		),
		param: "property",
		prepare: func(c *call, t *tx, old, r row) *reply {
			r["name"] = strings.ReplaceAll(strings.ToLower(text(r, "display_name")), " ", "_")
			return c.wrongChoices(t, old, r)
		},
		afterWrite: (*call).writeChoices,
		show: func(_ *call, t *tx, r row, _ bool) row {
			r = clone(r)
			choices := []any{}
			for _, s := range t.all(ks.propertyChoice, scope(text(r, "id"))) {
				choices = append(choices, ks.propertyChoice.visible(s.row))
			}
			r["options"] = choices
			return r
		},
		contents: []**kind{&ks.propertyChoice},
		afterDelete: func(c *call, t *tx, r row) {
			for _, customer := range t.all(ks.customer, inWorkspace(c)) {
				c.putValues(t, text(customer.row, "id"), text(r, "id"), nil)
			}
		},
	})
	ks.propertyChoice = ks.add(&kind{
		name: "customer_property_option", columns: audit("name description sort_order is_active is_default property"),
		fields: bodyFields("name*=line description=prose? is_default=off"),
	})
	ks.customerValue = ks.add(&kind{
		name: "customer_property_value", columns: audit("created_by updated_by workspace customer property values"),
	})
}

// wrongChoices refuses a body whose options are wrong.
func (c *call) wrongChoices(t *tx, old, r row) *reply {
	given, ok := c.in["options"].([]any)
	switch {
	case c.in["options"] == nil:
		return nil
	case !ok, text(r, "property_type") != "OPTION":
		return new(invalid(row{"options": message("Only properties of the type OPTION have a list of options.")}))
	}
	for _, v := range given {
		body, _ := v.(row)
		id, change := body["id"]
		if change && (old == nil || !t.has(c.kinds.propertyChoice, scope(text(old, "id")), valueText(id))) {
			return new(invalid(row{"options": message("Object with id %s does not exist.", valueText(id))}))
		}
		if _, complaints := c.kinds.propertyChoice.decode(t, body, change); len(complaints) > 0 {
			return new(invalid(row{"options": complaints}))
		}
	}
	return nil
}

// writeChoices sets the options of a property: an option with an ID is changed, an option without is new. The service's SDK says only
// that. An option that is left out is deleted here with the values that name it, because that is the worse case.
func (c *call) writeChoices(t *tx, _, property row) {
	given, ok := c.in["options"].([]any)
	if !ok {
		return
	}
	k, kept := c.kinds.propertyChoice, map[string]bool{}
	for i, v := range given {
		body := v.(row)
		id := valueText(body["id"])
		s, exists := t.getWithin(k, scope(text(property, "id")), id)
		set, _ := k.decode(t, body, exists)
		if exists {
			maps.Copy(s.row, set)
			t.save(k, s)
		} else {
			set["property"], set["is_active"], set["sort_order"] = property["id"], true, float(float64(i+1)*10000)
			c.setAudit(k, set)
			t.insert(k, scope(text(property, "id")), set)
			id = text(set, "id")
		}
		kept[id] = true
	}
	for _, s := range t.all(k, scope(text(property, "id"))) {
		if !kept[text(s.row, "id")] {
			t.remove(k, s)
		}
	}
	for _, v := range t.all(c.kinds.customerValue, nil) {
		if v.row["property"] == property["id"] {
			c.putValues(t, text(v.row, "customer"), text(property, "id"), filterIDs(v.row, "values", func(id string) bool { return kept[id] }))
		}
	}
}

// customerValues answers with the values of a customer: lists of texts by the ID of the property, without inactive properties.
func customerValues(c *call, t *tx) reply {
	if t.find(c.kinds.customer, c.vars["customer"]) == nil {
		return notFound()
	}
	out := row{}
	for _, s := range t.all(c.kinds.customerValue, inCustomer(c)) {
		if p, ok := t.get(c.kinds.property, text(s.row, "property")); ok && flag(p.row, "is_active") {
			out[text(s.row, "property")] = s.row["values"]
		}
	}
	return reply{http.StatusOK, out}
}

// setCustomerValues replaces the values of a customer for one property.
func setCustomerValues(c *call, t *tx) reply {
	p, ok := t.getWithin(c.kinds.property, inWorkspace(c), c.vars["property"])
	values, isList := c.in["values"].([]any)
	switch {
	case !ok || t.find(c.kinds.customer, c.vars["customer"]) == nil:
		return notFound()
	case !isList:
		return invalid(row{"values": message("This field is required.")})
	case len(values) == 0 && flag(p.row, "is_required"):
		return refuse(http.StatusBadRequest, "error", text(p.row, "display_name")+" is a required property")
	case len(values) > 1 && !flag(p.row, "is_multi"):
		return invalid(row{"values": message("Expected one value.")})
	}
	for _, v := range values {
		if wrong := c.wrongText(t, p.row, v); wrong != "" {
			return invalid(row{"values": message("%s", wrong)})
		}
	}
	c.putValues(t, c.vars["customer"], text(p.row, "id"), values)
	return reply{status: http.StatusNoContent}
}

// wrongText returns a complaint about the text of a value, or "".
func (c *call) wrongText(t *tx, p row, v any) string {
	s, isText := v.(string)
	wrong := !isText
	switch text(p, "property_type") {
	case "DECIMAL":
		_, err := strconv.ParseFloat(s, 64)
		wrong = err != nil
	case "BOOLEAN":
		wrong = s != "True" && s != "False"
	case "DATETIME":
		_, err := time.Parse(time.DateOnly, s)
		wrong = err != nil
	case "RELATION":
		wrong = workspaceRole(t, s) == 0
		if text(p, "relation_type") == "ISSUE" {
			_, ok := t.get(c.kinds.workItem, s)
			wrong = !ok
		}
	case "OPTION":
		wrong = !t.has(c.kinds.propertyChoice, scope(text(p, "id")), s)
	case "FILE":
		wrong = true
	}
	if wrong {
		return "Not a valid value of the property."
	}
	return ""
}

// putValues replaces the values of a customer; an empty list removes them.
func (c *call) putValues(t *tx, customer, property string, values []any) {
	k := c.kinds.customerValue
	for _, s := range t.all(k, scope(customer)) {
		if text(s.row, "property") == property {
			t.remove(k, s)
		}
	}
	if len(values) > 0 {
		r := row{"customer": customer, "property": property, "values": values}
		c.setAudit(k, r)
		t.insert(k, scope(customer), r)
	}
}
