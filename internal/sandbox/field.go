package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// field is one field of a request body.
type field struct {
	name     string
	check    check
	ref      **kind // kind to which the field refers, by one ID or several; then it needs no check
	many     bool
	required bool
	null     bool // null is a value
	initial  any  // value of a new record if the body has no such field
	frozen   bool // can be set only at creation
	derived  bool // checked, but the handler makes the value
}

// check turns a value of a body into a value of a row, or returns a complaint: a list of sentences, or for lists a map
// from index to such a list.
type check func(t *tx, v any) (value, complaint any)

func message(format string, args ...any) []string { return []string{fmt.Sprintf(format, args...)} }

// decode checks a body against the kind. The result has the fields that the body sets and, unless it is partial, the
// initial values of the others. The result is not usable if there are complaints.
func (k *kind) decode(t *tx, in row, partial bool) (out, complaints row) {
	out, complaints = make(row, len(k.columns)), row{}
	for _, f := range k.fields {
		if partial && f.frozen {
			continue
		}
		value, given, complaint := f.read(t, in, f.name, f.required && !partial, f.null)
		switch {
		case complaint != nil:
			complaints[f.name] = complaint
		case given:
			out[f.name] = value
		case !partial && !f.derived:
			out[f.name] = f.initial
		}
	}
	return out, complaints
}

// read returns the value of a field that a body has under a name, or a complaint about it.
func (f *field) read(t *tx, in row, name string, required, null bool) (value any, given bool, complaint any) {
	v, given := in[name]
	switch {
	case !given && required:
		return nil, false, message("This field is required.")
	case !given:
		return nil, false, nil
	case f.isNull(v) && !null:
		return nil, true, message(textNull)
	case f.isNull(v):
		return nil, true, nil
	case f.ref == nil:
		value, complaint = f.check(t, v)
	case f.many:
		value, complaint = refs(t, *f.ref, v)
	default:
		value, complaint = refTo(t, *f.ref, v)
	}
	return value, true, complaint
}

const textNull = "This field may not be null."

// isNull reports whether a value is null, or an empty ID.
func (f *field) isNull(v any) bool { return v == nil || v == "" && f.ref != nil && !f.many }

// asString converts as the service does: numbers are strings too.
func asString(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

// str returns a check for a trimmed string of at most limit characters.
func str(limit int, blank bool) check {
	return func(_ *tx, v any) (any, any) {
		s, ok := asString(v)
		if !ok {
			return nil, message("Not a valid string.")
		}
		s = strings.TrimSpace(s)
		switch {
		case s == "" && !blank:
			return nil, message("This field may not be blank.")
		case utf8.RuneCountInString(s) > limit:
			return nil, message("Ensure this field has no more than %d characters.", limit)
		case strings.ContainsRune(s, 0):
			return nil, message("Null characters are not allowed.")
		}
		return s, nil
	}
}

const unlimited = math.MaxInt

func line() check  { return str(255, false) }
func prose() check { return str(unlimited, true) }

// markup checks a string of HTML without sanitising it.
func markup(_ *tx, v any) (any, any) {
	s, ok := asString(v)
	switch {
	case !ok:
		return nil, message("Not a valid string.")
	case strings.ContainsRune(s, 0):
		return nil, message("Null characters are not allowed.")
	}
	return s, nil
}

// richText checks a string of HTML and sanitises it as the service does.
func richText(t *tx, v any) (any, any) {
	value, complaint := markup(t, v)
	if s, ok := value.(string); ok {
		value, _ = sanitise(s)
	}
	return value, complaint
}

func boolean(_ *tx, v any) (any, any) {
	switch v {
	case true, "true", "True", "1", "on":
		return true, nil
	case false, "false", "False", "0", "off":
		return false, nil
	case json.Number("1"):
		return true, nil
	case json.Number("0"):
		return false, nil
	}
	return nil, message("Must be a valid boolean.")
}

func whole(low, high int) check {
	return func(_ *tx, v any) (any, any) {
		s, ok := asString(v)
		n, err := strconv.Atoi(strings.TrimSuffix(s, ".0"))
		switch {
		case !ok || err != nil:
			return nil, message("A valid integer is required.")
		case n > high:
			return nil, message("Ensure this value is less than or equal to %d.", high)
		case n < low:
			return nil, message("Ensure this value is greater than or equal to %d.", low)
		}
		return integer(n), nil
	}
}

func real(_ *tx, v any) (any, any) {
	if v == true || v == false { // in Python, booleans are numbers
		v = json.Number(map[any]string{true: "1", false: "0"}[v])
	}
	s, ok := asString(v)
	f, err := strconv.ParseFloat(s, 64)
	if !ok || err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, message("A valid number is required.")
	}
	return float(f), nil
}

func choice(options ...string) check {
	return func(_ *tx, v any) (any, any) {
		s, ok := asString(v)
		if !ok || !slices.Contains(options, s) {
			return nil, message("\"%s\" is not a valid choice.", pythonText(v))
		}
		return s, nil
	}
}

// numberChoice returns a check for one of some whole numbers.
func numberChoice(options ...string) check {
	return func(t *tx, v any) (any, any) {
		value, complaint := choice(options...)(t, v)
		if s, ok := value.(string); ok {
			value = json.Number(s)
		}
		return value, complaint
	}
}

func date(_ *tx, v any) (any, any) {
	s, ok := v.(string)
	if _, err := time.Parse(time.DateOnly, s); !ok || err != nil {
		return nil, message("Date has wrong format. Use one of these formats instead: YYYY-MM-DD.")
	}
	return s, nil
}

func moment(_ *tx, v any) (any, any) {
	s, _ := v.(string)
	if t, ok := parseMoment(s); ok {
		return momentText(t), nil
	}
	return nil, message("Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].")
}

func parseMoment(s string) (time.Time, bool) {
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05.999999", "2006-01-02T15:04",
		time.DateOnly,
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// anything accepts any JSON value.
func anything(_ *tx, v any) (any, any) { return v, nil }

func mapping(_ *tx, v any) (any, any) {
	if _, ok := v.(row); !ok {
		return nil, message("Expected a dictionary of items but got type \"%s\".", pythonType(v))
	}
	return v, nil
}

func items(_ *tx, v any) (any, any) {
	if _, ok := v.([]any); !ok {
		return nil, message("Expected a list of items but got type \"%s\".", pythonType(v))
	}
	return v, nil
}

func colour(_ *tx, v any) (any, any) {
	s, ok := v.(string)
	if !ok || len(s) != 7 || s[0] != '#' || strings.Trim(s[1:], "0123456789abcdefABCDEF") != "" {
		return nil, message("Enter a color in the format #rrggbb.")
	}
	return s, nil
}

const textNoRecord = "Invalid pk \"%s\" - object does not exist."

// refTo checks the ID of a record of a kind.
func refTo(t *tx, k *kind, v any) (string, any) {
	s := pythonText(v)
	switch v := v.(type) {
	case bool:
		return "", message("Incorrect type. Expected pk value, received bool.")
	case json.Number:
		if pythonType(v) == "int" {
			return "", message(textNoRecord, s)
		}
	}
	id, err := uuid.Parse(s)
	if err != nil {
		return "", message("“%s” is not a valid UUID.", s)
	}
	found, ok := t.get(k, id.String())
	if !ok || k.hideFromReferences != nil && k.hideFromReferences(t, found.row) {
		return "", message(textNoRecord, s)
	}
	return id.String(), nil
}

// refs checks a list of IDs and removes duplicates.
func refs(t *tx, k *kind, v any) (any, any) {
	given, ok := v.([]any)
	if !ok {
		return nil, message("Expected a list of items but got type \"%s\".", pythonType(v))
	}
	out, complaints := []string{}, row{}
	for i, v := range given {
		if v == nil || v == "" {
			complaints[strconv.Itoa(i)] = message(textNull)
			continue
		}
		id, complaint := refTo(t, k, v)
		if complaint != nil {
			complaints[strconv.Itoa(i)] = complaint
			continue
		}
		out = append(out, id)
	}
	if len(complaints) > 0 {
		return nil, complaints
	}
	// The service keeps no order. The sandbox sorts, so that no program relies on an order.
	slices.Sort(out)
	return anyList(slices.Compact(out)), nil
}

// isFalsy reports whether Python treats a value as false.
func isFalsy(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case bool:
		return !v
	case json.Number:
		f, err := v.Float64()
		return err == nil && f == 0
	case []any:
		return len(v) == 0
	case row:
		return len(v) == 0
	}
	return v == nil
}

// pythonText returns a value as Python writes it.
func pythonText(v any) string {
	var nested func(v any) string
	nested = func(v any) string {
		switch v := v.(type) {
		case string:
			return "'" + v + "'"
		case []any:
			parts := []string{}
			for _, entry := range v {
				parts = append(parts, nested(entry))
			}
			return "[" + strings.Join(parts, ", ") + "]"
		case row:
			parts := []string{}
			for _, name := range slices.Sorted(maps.Keys(v)) {
				parts = append(parts, nested(name)+": "+nested(v[name]))
			}
			return "{" + strings.Join(parts, ", ") + "}"
		case nil:
			return "None"
		case bool:
			return map[bool]string{true: "True", false: "False"}[v]
		}
		return fmt.Sprint(v)
	}
	if s, ok := v.(string); ok {
		return s
	}
	return nested(v)
}

func pythonType(v any) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case string:
		return "str"
	case bool:
		return "bool"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "float"
		}
		return "int"
	case []any:
		return "list"
	}
	return "dict"
}
