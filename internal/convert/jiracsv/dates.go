package jiracsv

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/diag"
)

// dates reads dates as the site's settings and the profile of whoever exported made them, or a spreadsheet since.
type dates struct {
	zone     *time.Location
	decided  bool
	dayFirst bool
	given    bool          // the order is told
	seen     [2]bool       // a first part over 12, a second part over 12
	doubtful diag.Position // the first date that could be read both ways
	open     diag.Position // where nothing tells: the place of such a date
}

func newDates(in convert.Input) *dates {
	return &dates{zone: in.Zone, dayFirst: in.Dates != "mdy", given: in.Dates == "dmy" || in.Dates == "mdy"}
}

var (
	named   = regexp.MustCompile(`(?i)^(\d{1,2})[/ .-]([a-z]{3})[a-z]*[/ .-](\d{4}|\d{2})(?:,?\s+(.*))?$`)
	numbers = regexp.MustCompile(`^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})(?:,?\s+(.*))?$`)
	iso     = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2})(?:[T ](.*))?$`)
	clock   = regexp.MustCompile(`(?i)^(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?[\s\x{A0}\x{202F}]*(?:([ap])\.?[\s\x{A0}\x{202F}]*m\.?)?(Z|[+-]\d{2}:?\d{2})?$`)
)

// look notes what a date tells of the order of day and month.
func (d *dates) look(text string, at diag.Position) {
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

// decide settles the order over all files.
func (d *dates) decide() {
	d.decided = true
	switch {
	case d.seen[0] != d.seen[1]:
		d.dayFirst = d.seen[0]
	case !d.given && !d.seen[0]:
		d.open = d.doubtful
	}
}

// moment reads a date with its time, if it has one.
func (d *dates) moment(text string) (time.Time, bool) {
	text = strings.TrimSpace(text)
	var year, month, day int
	rest := ""
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	if m := named.FindStringSubmatch(text); m != nil {
		day, month, year, rest = number(m[1]), monthOf(m[2]), number(m[3]), m[4]
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
		if m[5] != "" {
			at, err := time.Parse("Z0700", strings.Replace(m[5], ":", "", 1))
			if err != nil {
				return time.Time{}, false
			}
			zone = at.Location()
		}
	}
	if month < 1 || time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Day() != day || month > 12 || hour > 23 || minute > 59 {
		return time.Time{}, false
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, 0, zone), true
}

// monthOf is the number of an English or Spanish month, 0 for another word.
func monthOf(word string) int {
	for _, months := range []string{"janfebmaraprmayjunjulaugsepoctnovdec", "enefebmarabrmayjunjulagosepoctnovdic"} {
		if i := strings.Index(months, strings.ToLower(word)); i >= 0 && i%3 == 0 {
			return i/3 + 1
		}
	}
	return 0
}
