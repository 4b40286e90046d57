package convert

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

// estimateOf returns the estimate that a value stands for: points without trailing zeros, or a size such as XL.
func estimateOf(value string) string {
	value = diag.OneLine(value)
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return value
}

// estimates returns the values of a project's estimate: the most frequent values, as many as an estimate can have.
func (c *composer) estimates(places []place) map[string]bool {
	position, _ := resource.MustLookup("estimate_point").Field("position")
	n := tally{}
	for _, at := range places {
		for _, f := range c.found.fields(at.issue) {
			if to, _ := c.mapping.Fields.Find(f.Name); to == estimatePoint {
				n[estimateOf(f.Value)]++
			}
		}
	}
	values := map[string]bool{}
	n.each(never, func(value string, _ int) {
		if len(values) < int(position.Max) && len(value) < 100 {
			values[value] = true
		}
	})
	return values
}

// declareEstimate returns the declaration of an estimate with these values, from low to high.
func declareEstimate(values map[string]bool) []any {
	if len(values) == 0 {
		return nil
	}
	kind := "points"
	number := func(value string) float64 {
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			kind, n = "categories", math.Inf(1) // words come last
		}
		return n
	}
	var points []any
	for _, value := range slices.SortedFunc(maps.Keys(values), func(a, b string) int { return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(a, b)) }) {
		number(value) // of a single one, too
		points = append(points, manifest.Map{{Key: "value", Value: value}})
	}
	return []any{manifest.Map{{Key: "name", Value: "Points"}, {Key: "type", Value: kind}, {Key: "points", Value: points}}}
}

// estimatePoint is the name of the field for an item's estimate.
const estimatePoint = "estimate_point"

// measure returns the item's field that a field of the source becomes, and its value; ok is false if the mapping names no such field or the
// value does not fit.
func (c *composer) measure(f Field) (field string, value any, ok bool) {
	field, _ = c.mapping.Fields.Find(f.Name)
	text := strings.TrimSpace(f.Value)
	switch field {
	case estimatePoint:
		return field, estimateOf(text), c.points[estimateOf(text)]
	case "point":
		known, _ := resource.MustLookup("work_item").Field(field)
		n, err := strconv.ParseFloat(text, 64)
		return field, manifest.Literal(estimateOf(text)), err == nil && n == math.Trunc(n) && n >= 0 && n <= float64(known.Max)
	case "sort_order":
		n, ok := orderOf(text)
		return field, manifest.Literal(strconv.FormatFloat(n, 'f', -1, 64)), ok
	}
	return "", nil, false
}

// rank matches a rank of Jira, such as 0|i0000f:x.
var rank = regexp.MustCompile(`^\d\|([0-9a-z]+):([0-9a-z]*)$`)

// orderOf returns a number that sorts items by a number or by a rank of Jira; it returns false if the text is neither.
func orderOf(text string) (float64, bool) {
	m := rank.FindStringSubmatch(text)
	if m == nil {
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil && math.Abs(n) < 1<<53 && !math.IsNaN(n)
	}
	digits := (m[1] + "000000")[:6] + (m[2] + "000")[:3]
	n, err := strconv.ParseInt(digits, 36, 64)
	return float64(n), err == nil
}

func (c *composer) measures(i *Issue, add func(key string, value any)) {
	had := map[string]bool{}
	for _, f := range i.Fields {
		if field, value, ok := c.measure(f); ok && !had[field] {
			had[field] = true
			c.bookField(f, carried)
			add(field, value)
		}
	}
}
