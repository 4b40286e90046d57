// Package dates reads dates as trackers, people's profiles and spreadsheets write them.
//
// The order of a numeric day and month is found from all dates of an export: one part above 12 is enough. If the order stays open,
// the place of such a date is kept, so that the user can be asked.
// The package must not know any tracker.
package dates

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/planform/planform/internal/text/diag"
)

// Reader reads the dates of an export.
type Reader struct {
	Open     diag.Position // place of a date whose order of day and month stays open
	Zoneless bool          // a time of day had no zone

	zone     *time.Location
	dayFirst bool
	given    bool          // the user gave the order
	seen     [2]bool       // a first part over 12, a second part over 12
	doubtful diag.Position // the first date that could be read both ways
}

// New returns a reader of dates. zone is for dates without a zone; order is dmy or mdy if the user gave it.
func New(zone *time.Location, order string) *Reader {
	return &Reader{zone: zone, dayFirst: order != "mdy", given: order == "dmy" || order == "mdy"}
}

var (
	named = sync.OnceValue(func() *regexp.Regexp { //nolint:gochecknoglobals // computed once
		return regexp.MustCompile(`(?i)^(?:[a-z]{3,9},?\s+)?(\d{1,2})[/ .-]+(\p{L}{2,}|\d{1,2}月)[/ .-]+(\d{4}|\d{2})(?:,?\s+(.*))?$`)
	})
	spoken  = regexp.MustCompile(`(?i)^(?:[a-z]{3,9},?\s+)?([a-z]{3,})\.? (\d{1,2}),? (\d{4})(?:,?\s+(.*))?$`)
	numbers = regexp.MustCompile(`^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})(?:,?\s+(.*))?$`)
	iso     = regexp.MustCompile(`^(\d{4})[/-](\d{1,2})[/-](\d{1,2})(?:[T ](.*))?$`)
	clock   = regexp.MustCompile(`(?i)^(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?[\s\x{A0}\x{202F}]*(?:([ap])\.?[\s\x{A0}\x{202F}]*m\.?)?\s*(?:(Z|UTC|GMT)?(?:([+-])(\d{1,2}):?(\d{2})?)?)(?: \(.*\))?$`)
	unix    = regexp.MustCompile(`^1\d{9}(\d{3})?$`)
)

// halves replaces words for the halves of a day, which some languages have, by AM and PM.
//
//nolint:gochecknoglobals // a constant
var halves = strings.NewReplacer("上午", "AM", "午前", "AM", "下午", "PM", "午後", "PM")

// Look takes a date into account for the order of day and month.
func (d *Reader) Look(text string, at diag.Position) {
	m := numbers.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return
	}
	first, _ := strconv.Atoi(m[1])
	second, _ := strconv.Atoi(m[2])
	d.seen[0] = d.seen[0] || first > 12
	d.seen[1] = d.seen[1] || second > 12
	if first <= 12 && second <= 12 && first != second && d.doubtful.IsZero() {
		d.doubtful = at
	}
}

// Decide decides the order of day and month from all dates that Look got.
func (d *Reader) Decide() {
	switch {
	case d.seen[0] != d.seen[1]:
		d.dayFirst = d.seen[0]
	case !d.given && !d.seen[0]:
		d.Open = d.doubtful
	}
}

// Moment reads a date, with its time of day if it has one.
func (d *Reader) Moment(text string) (time.Time, bool) {
	text = halves.Replace(strings.TrimSpace(text))
	if m := unix.FindStringSubmatch(text); m != nil {
		n, _ := strconv.ParseInt(text, 10, 64)
		if m[1] == "" {
			n *= 1000
		}
		return time.UnixMilli(n).In(d.zone), true
	}
	var year, month, day int
	rest := ""
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	if m := named().FindStringSubmatch(text); m != nil {
		day, month, year, rest = number(m[1]), monthOf(m[2]), number(m[3]), m[4]
	} else if m := spoken.FindStringSubmatch(text); m != nil {
		day, month, year, rest = number(m[2]), monthOf(m[1]), number(m[3]), m[4]
	} else if m := numbers.FindStringSubmatch(text); m != nil {
		day, month, year, rest = number(m[1]), number(m[2]), number(m[3]), m[4]
		if !d.dayFirst {
			day, month = month, day
		}
	} else if m := iso.FindStringSubmatch(text); m != nil {
		year, month, day, rest = number(m[1]), number(m[2]), number(m[3]), m[4]
	}
	if year < 100 {
		year += 2000
	}
	zone, hour, minute, second := d.zone, 0, 0, 0
	if rest != "" {
		m := clock.FindStringSubmatch(rest)
		if m == nil {
			return time.Time{}, false
		}
		hour, minute, second = number(m[1]), number(m[2]), number(m[3])
		switch strings.ToLower(m[4]) {
		case "a":
			hour %= 12
		case "p":
			hour = hour%12 + 12
		}
		switch {
		case m[6] != "":
			if number(m[8]) > 59 {
				return time.Time{}, false
			}
			offset := (number(m[7])*60 + number(m[8])) * 60
			if m[6] == "-" {
				offset = -offset
			}
			zone = time.FixedZone("", offset)
		case m[5] != "":
			zone = time.UTC
		default:
			d.Zoneless = true
		}
	}
	if month < 1 || time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Day() != day || month > 12 || hour > 23 || minute > 59 ||
		second > 59 {
		return time.Time{}, false
	}
	at := time.Date(year, time.Month(month), day, hour, minute, second, 0, zone)
	if !Valid(at) {
		return time.Time{}, false
	}
	return at, true
}

// Parse reads a date in one of the layouts. It also returns the zero time, because programs write it for no date.
func Parse(text string, layouts ...string) (time.Time, bool) {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil && (at.IsZero() || Valid(at)) {
			return at, true
		}
	}
	return time.Time{}, false
}

// Valid reports whether a time has an offset that exists, and lies between the years 1 and 9999 in every zone. Other times can be neither
// kept nor sent.
func Valid(at time.Time) bool {
	_, offset := at.Zone()
	first, last := time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	return max(offset, -offset) <= 14*60*60 && at.After(first) && at.Before(last)
}

// months returns the beginnings of the names of each month, in the languages of exports.
func months() []string {
	return []string{
		"jan ene sty янв 一月 1月", "feb fev fév lut фев 二月 2月", "mar mär mrz mrt мар 三月 3月",
		"apr abr avr kwi апр 四月 4月",
		"may mai mei maj мая май 五月 5月", "jun juin cze июн 六月 6月",
		"jul juil lip июл 七月 7月", "aug ago aoû sie авг 八月 8月", "sep set wrz сен 九月 9月",
		"oct okt out paź окт 十月 10月", "nov lis ноя 十一月 11月",
		"dec dez dic déc gru дек 十二月 12月",
	}
}

// monthOf returns the number of a month, or 0 for another word.
func monthOf(word string) int {
	for i, names := range months() {
		for name := range strings.FieldsSeq(names) {
			if strings.HasPrefix(strings.ToLower(word), name) {
				return i + 1
			}
		}
	}
	return 0
}

// Duration returns seconds as hours and minutes, such as 1h 30m; less than a minute is "".
func Duration(seconds int) string {
	var parts []string
	if h := seconds / 3600; h > 0 {
		parts = append(parts, strconv.Itoa(h)+"h")
	}
	if m := seconds % 3600 / 60; m > 0 {
		parts = append(parts, strconv.Itoa(m)+"m")
	}
	return strings.Join(parts, " ")
}

// Day returns the calendar day of a time without a change of zone, or "" for the zero time.
func Day(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(time.DateOnly)
}

// Minute returns a time in UTC, to the minute, or "" for the zero time.
func Minute(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02 15:04 UTC")
}
