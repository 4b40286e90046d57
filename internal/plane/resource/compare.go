package resource

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/markup"
)

// IDResolver returns the service's ID of a reference's target, or for a link in a rich text the address of the target's page. ok is false
// if there is none yet.
type IDResolver func(f *Field, r *Reference) (id string, ok bool)

// Desired returns the canonical form of a value in the manifest. ok is false if an object that it refers to has no ID yet; the links of a
// text are left out then. The value of a custom field begins with the mark of its property, see [Field.WithoutProperty].
func (v *Value) Desired(id IDResolver) (canonical string, ok bool) {
	if canonical, ok = v.desired(id); v.Field.Definition == nil || canonical == "" {
		return canonical, ok
	}
	property, found := id(v.Field, &Reference{Target: v.Field.Definition})
	return propertyMark(property) + canonical, ok && found
}

func (v *Value) desired(id IDResolver) (canonical string, ok bool) {
	switch {
	case v.Field.IsRef():
		ids := make([]string, 0, len(v.Refs))
		for i := range v.Refs {
			ref, found := id(v.Field, &v.Refs[i])
			if !found {
				return "", false
			}
			ids = append(ids, ref)
		}
		return joinIDs(ids), true
	case v.Null:
		return "", true
	case v.Content != nil:
		return v.Content.String(), true
	case v.Field.Rich():
		text, complete := v.linkedHTML(id)
		return v.Field.canonical(text), complete
	default:
		return v.Field.canonical(v.Text), true
	}
}

// ObservedIn returns the canonical form of the field's value in a row. known is false if the row does not show it.
func (f *Field) ObservedIn(row Row) (canonical string, known bool) {
	name, raw, ok := row.rawValue(f)
	if !ok || f.CreateOnly() {
		return "", false
	}
	if f.Definition != nil {
		return f.observedCustom(raw)
	}
	if f.ArchiveFlag {
		return strconv.FormatBool(raw != nil && raw != ""), true
	}
	switch raw := raw.(type) {
	case nil:
		return "", true
	case string:
		if f.Renamed() && name == f.Wire[NewerDialect] && strings.HasSuffix(name, "_html") && !f.Rich() {
			raw = markup.Text(raw)
		}
		return f.canonical(raw), true
	case json.Number:
		if code, err := strconv.Atoi(raw.String()); err == nil {
			if i := slices.Index(f.Codes, code); i >= 0 {
				return f.Enum[i], true
			}
		}
		return f.canonical(raw.String()), true
	case bool:
		return strconv.FormatBool(raw), true
	case []any:
		ids := make([]string, 0, len(raw))
		if f.Type == JSON {
			return canonicalOf(f, raw)
		}
		for _, e := range raw {
			id, isID := rowID(e)
			if !isID {
				return "", false
			}
			ids = append(ids, id)
		}
		return joinIDs(ids), true
	case map[string]any:
		if f.IsRef() {
			return rowID(raw)
		}
		return canonicalOf(f, raw)
	default:
		return "", false
	}
}

func canonicalOf(f *Field, raw any) (canonical string, known bool) {
	text, err := json.Marshal(raw)
	if err != nil {
		return "", false
	}
	return f.canonical(string(text)), true
}

// TextIn returns the text of the field's value in a row, which [Field.ValueOf] turns into a value. known is false if the row does not show
// it.
func (f *Field) TextIn(row Row) (text string, known bool) {
	text, known = f.ObservedIn(row)
	if raw, ok := row.Shown(f); ok && f.Rich() && text != "" {
		text, known = raw.(string)
	}
	return f.WithoutProperty(text), known
}

// ValueOf returns the value for a text that the service showed, see [Field.TextIn]. Its references are IDs.
func (f *Field) ValueOf(text string) *Value {
	v := &Value{Field: f, Text: text, Null: text == "", AsHTML: f.Rich()}
	if f.IsRef() && text != "" {
		for id := range strings.SplitSeq(text, ",") {
			v.Refs = append(v.Refs, Reference{Text: id, ID: id})
		}
	}
	return v
}

// Agrees reports whether a desired value equals the shown one. Of an uploaded file the service shows only the size.
func (f *Field) Agrees(want, shown string) bool {
	return want == shown || f.Type == Upload && strings.HasPrefix(want, shown+" ")
}

// IsCoveredBy reports whether the shown references include all wanted ones. Fields of other types are always covered, because the service
// may show a value in another form.
func (f *Field) IsCoveredBy(want, shown string) bool {
	if !f.IsRef() {
		return true
	}
	all := strings.Split(shown, ",")
	return !slices.ContainsFunc(strings.Split(want, ","), func(id string) bool { return id != "" && !slices.Contains(all, id) })
}

// joinIDs returns the canonical form of a set of IDs.
func joinIDs(ids []string) string {
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), ",")
}

// canonical returns a text in the form in which values of the field are compared.
func (f *Field) canonical(text string) string {
	switch f.Type {
	case Markdown, HTML, File:
		return markup.Normal(text)
	case Date:
		return dayOf(text)
	case Number, Upload: // an upload shows its size
		if r, ok := new(big.Rat).SetString(text); ok && len(text) < 40 {
			return decimal(r)
		}
		return text
	case Color, Ref, RefSet:
		return strings.ToLower(text)
	case JSON:
		if text = canonicalJSON(text); text == "{}" && f.Rest && !f.Required { // the object that holds the field has no other fields
			return ""
		}
		return text
	case EnumSet:
		if text == "" {
			return ""
		}
		return joinIDs(strings.Split(text, ","))
	case Text, LongText:
		if at, ok := parseMoment(text); ok && f.Pattern == momentPattern {
			return at.UTC().Format(time.RFC3339Nano)
		}
		return f.sentText(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")))
	case Enum:
		if f.EnumInCapitals {
			return strings.ToLower(text)
		}
		return text
	default:
		return text
	}
}

// decimal returns a number in digits, or as a fraction if the digits do not end.
func decimal(r *big.Rat) string {
	const most = 40
	if r.IsInt() {
		return r.RatString()
	}
	text := strings.TrimRight(r.FloatString(most), "0")
	if exact, ok := new(big.Rat).SetString(text); !ok || exact.Cmp(r) != 0 {
		return r.RatString()
	}
	return text
}

// InZone replaces the times in a row's date fields by days in the time zone of the project. A nil zone changes nothing; dayOf handles such
// times.
func (k *Kind) InZone(row Row, zone *time.Location) Row {
	if k.ClosedAfter == "" || zone == nil || row == nil {
		return row
	}
	local := maps.Clone(row)
	for i := range k.Fields {
		f := &k.Fields[i]
		if f.Type != Date {
			continue
		}
		text, _ := row[f.APIName()].(string)
		if t, err := time.Parse(time.RFC3339, text); err == nil {
			local[f.APIName()] = t.In(zone).Format(time.DateOnly)
		}
	}
	return local
}

// dayOf returns the day of a time in an unknown time zone. The service stores the days of a cycle as times in the project's zone: the first
// second of the first day, and the last minute of the last day.
func dayOf(text string) string {
	if len(text) <= 10 || text[10] != 'T' && text[10] != ' ' {
		return text
	}
	const quarter = 15 * time.Minute // all time zones are multiples of it apart
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text[:10]
	}
	midnight := func(t time.Time) time.Time { // zones extend from ten hours behind UTC to thirteen hours ahead
		return t.UTC().Add(90 * time.Minute).Round(24 * time.Hour)
	}
	first, last := t.Add(-time.Second), t.Add(time.Minute)
	switch {
	case first.Truncate(quarter).Equal(first):
		return midnight(first).Format(time.DateOnly)
	case last.Truncate(quarter).Equal(last):
		return midnight(last).AddDate(0, 0, -1).Format(time.DateOnly)
	default:
		return text[:10]
	}
}

// canonicalJSON returns a JSON text with sorted keys and without white space.
func canonicalJSON(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return text
	}
	written, err := diag.JSON(v, "")
	if err != nil {
		return text
	}
	return string(written)
}

// ReadableTexts returns two rich texts as people compare them: as Markdown, like an export. If a text has no Markdown, both are plain
// texts, or HTML if only their markup differs.
func ReadableTexts(one, other string) (string, string) {
	a, isMarkdown := markup.Markdown(one)
	b, isToo := markup.Markdown(other)
	if !isMarkdown || !isToo {
		a, b = PlainText(one), PlainText(other)
	}
	if a == b {
		return one, other
	}
	return a, b
}

// PlainText returns a rich text without its markup.
func PlainText(html string) string { return markup.Text(html) }

// Digest returns a canonical value as the state file stores it. A short value, or a short list of IDs, is stored as it is, because single
// missing IDs matter. Other values are stored as their SHA-256.
func Digest(canonical string) string {
	const short, idsAtMost = 64, 30
	if len(canonical) <= short || len(canonical) < idsAtMost*(idLength+1) && isIDList(canonical) {
		return canonical
	}
	return hash(canonical)
}

// IsDigest reports whether stored is the digest of a canonical value. Older versions stored lists of IDs as a SHA-256.
func IsDigest(stored, canonical string) bool {
	return stored == Digest(canonical) || stored == hash(canonical)
}

func hash(canonical string) string {
	sum := sha256.Sum256([]byte(canonical))
	return "sha256:" + hex.EncodeToString(sum[:])
}

const idLength = len("00000000-0000-0000-0000-000000000000")

func isIDList(canonical string) bool {
	for id := range strings.SplitSeq(canonical, ",") {
		if !IsID(id) {
			return false
		}
	}
	return true
}

// parseMoment parses a moment with or without seconds.
func parseMoment(text string) (at time.Time, ok bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return at, false
}
