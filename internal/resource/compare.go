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

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/markup"
)

// IDResolver finds the service's ID of a reference's target, or for a rich text the address of
// its page in the web app; ok is false while it has none.
type IDResolver func(f *Field, r *Reference) (id string, ok bool)

// Desired is the canonical form of a value in the manifest. ok is false while an object
// that it refers to has no ID; a text is then as it would be sent. That of a custom field begins
// with its property, see [Field.WithoutProperty].
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
		text, complete := v.linked(id)
		return v.Field.canonical(text), complete
	default:
		return v.Field.canonical(v.Text), true
	}
}

// ObservedIn is the canonical form of the field's value in a row. known is false where the
// row does not show it.
func (f *Field) ObservedIn(row Row) (canonical string, known bool) {
	name, raw, ok := row.shown(f)
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
			return marshalled(f, raw)
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
		return marshalled(f, raw)
	default:
		return "", false
	}
}

func marshalled(f *Field, raw any) (canonical string, known bool) {
	text, err := json.Marshal(raw)
	if err != nil {
		return "", false
	}
	return f.canonical(string(text)), true
}

// TextIn is the text of the field's value in a row, from which [Field.ValueOf] makes that value. known is false where the row does not
// show it.
func (f *Field) TextIn(row Row) (text string, known bool) {
	text, known = f.ObservedIn(row)
	if raw, ok := row.Shown(f); ok && f.Rich() && text != "" {
		text, known = raw.(string)
	}
	return f.WithoutProperty(text), known
}

// ValueOf is the value of the field that the service showed as a text, see [Field.TextIn]: what it refers to is given by ID.
func (f *Field) ValueOf(text string) *Value {
	v := &Value{Field: f, Text: text, Null: text == "", AsHTML: f.Rich()}
	if f.IsRef() && text != "" {
		for id := range strings.SplitSeq(text, ",") {
			v.Refs = append(v.Refs, Reference{Text: id, ID: id})
		}
	}
	return v
}

// Agrees reports whether a desired value is what the service shows, as far as it shows it: of
// a file only the size.
func (f *Field) Agrees(want, shown string) bool {
	return want == shown || f.Type == Upload && strings.HasPrefix(want, shown+" ")
}

// IsCoveredBy reports whether what the service shows of references names all that is wanted, or of another field is some form of it.
func (f *Field) IsCoveredBy(want, shown string) bool {
	if !f.IsRef() {
		return true
	}
	all := strings.Split(shown, ",")
	return !slices.ContainsFunc(strings.Split(want, ","), func(id string) bool { return id != "" && !slices.Contains(all, id) })
}

// joinIDs is the canonical form of a set.
func joinIDs(ids []string) string {
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), ",")
}

// canonical is the form of a text in which two values of the field are compared.
func (f *Field) canonical(text string) string {
	switch f.Type {
	case Markdown, HTML, File:
		return markup.Normal(text)
	case Date:
		return day(text)
	case Number, Upload: // of which the size is shown
		if r, ok := new(big.Rat).SetString(text); ok && len(text) < 40 {
			return decimal(r)
		}
		return text
	case Color, Ref, RefSet:
		return strings.ToLower(text)
	case JSON:
		if text = canonicalJSON(text); text == "{}" && f.Rest && !f.Required { // then the object that holds it has nothing else
			return ""
		}
		return text
	case EnumSet:
		if text == "" {
			return ""
		}
		return joinIDs(strings.Split(text, ","))
	case Text, LongText:
		if at, ok := momentOf(text); ok && f.Pattern == momentPattern {
			return at
		}
		return f.text(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")))
	case Enum:
		if f.EnumInCapitals {
			return strings.ToLower(text)
		}
		return text
	case URL, Boolean, CustomFields, SecretFile:
		return text
	default:
		return text
	}
}

// decimal is a number in digits, or as a fraction where they do not end.
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

// InZone replaces the times in a row's date fields by days in a time zone, that of the
// project. Without a zone it changes nothing, see day.
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

// day is the day of a time in an unknown time zone. The service stores the days of a cycle
// as times in the project's zone: the first second of the first day, the last minute of
// the last.
func day(text string) string {
	if len(text) <= 10 || text[10] != 'T' && text[10] != ' ' {
		return text
	}
	const quarter = 15 * time.Minute // every time zone is shifted by a multiple of it
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text[:10]
	}
	midnight := func(t time.Time) time.Time { // zones reach from ten hours behind UTC to thirteen ahead
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

// canonicalJSON is a JSON text with sorted keys and without white space.
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

// PlainText is a rich text without its markup.
func PlainText(html string) string { return markup.Text(html) }

// Digest is a canonical value as the state file keeps it: the value itself if it is short, or a list of a few IDs, of which it
// matters which ones are gone; else its SHA-256.
func Digest(canonical string) string {
	const short, idsAtMost = 64, 30
	if len(canonical) <= short || len(canonical) < idsAtMost*(idLength+1) && isIDList(canonical) {
		return canonical
	}
	return hashed(canonical)
}

// IsDigest reports whether a state keeps a canonical value as stored. Those of older versions have lists of IDs as a SHA-256.
func IsDigest(stored, canonical string) bool {
	return stored == Digest(canonical) || stored == hashed(canonical)
}

func hashed(canonical string) string {
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

// momentOf is a moment in UTC, as one text for all of its spellings.
func momentOf(text string) (string, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC().Format(time.RFC3339Nano), true
		}
	}
	return "", false
}
