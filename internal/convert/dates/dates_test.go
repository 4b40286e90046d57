package dates_test

import (
	"testing"
	"time"

	"github.com/planform/planform/internal/convert/dates"
)

func TestDatesOfAllTrackersAreRead(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 3600)
	for text, want := range map[string]string{
		"2025-12-05 07:00:00":                "2025-12-05T07:00:00+01:00",
		"2025-12-05 07:00:00 UTC":            "2025-12-05T07:00:00Z",
		"2025/12/05 07:00:00":                "2025-12-05T07:00:00+01:00",
		"Mon, 21 Apr 2025 10:17:06 UTC+0000": "2025-04-21T10:17:06Z",
		"13/12/2025 7:00:00 AM":              "2025-12-13T07:00:00+01:00",
		"7/1/2026, 1:00:00 PM GMT+5":         "2026-01-07T13:00:00+05:00",
		"March 5, 2024 3:00 PM":              "2024-03-05T15:00:00+01:00",
		"Thursday, August 14th 2025":         "",
		"Fri Aug 1":                          "",
		"1751360400000":                      "2025-07-01T10:00:00+01:00",
		"2025-11-03T09:30:00.123-08:00":      "2025-11-03T09:30:00-08:00",
		"2025-11-03":                         "2025-11-03T00:00:00+01:00",
		"45964":                              "",
		"2025-02-30":                         "",
		"2025-11-03 25:00":                   "",
		"05 Mar 2024":                        "2024-03-05T00:00:00+01:00",
		"2024-01-02T10:00:00+14:00":          "2024-01-02T10:00:00+14:00",
		"2024-01-02T10:00:00+14:01":          "",
		"2024-01-02T10:00:00-05:60":          "",
		"2024-01-02T10:00:00+99:99":          "",
		"2024-01-02T10:00:60Z":               "",
		"9999-12-30T23:59:59Z":               "9999-12-30T23:59:59Z",
		"9999-12-31T23:59:59-01:00":          "",
		"9999-12-31T23:59:60+99:99":          "",
		"0000-01-01":                         "2000-01-01T00:00:00+01:00",
	} {
		got := ""
		if at, ok := dates.New(zone, "").Moment(text); ok {
			got = at.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestATimeWithoutAZoneIsNoticed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"2025-11-03": false, "2025-11-03 10:00Z": false, "2025-11-03 10:00": true, "1751360400": false} {
		d := dates.New(time.UTC, "")
		if d.Moment(text); d.Zoneless != want {
			t.Error(text)
		}
	}
}

// FuzzMoment: whatever an export says, its dates can be kept as JSON, and have a day.
func FuzzMoment(f *testing.F) {
	for _, text := range []string{"2024-01-02T10:00:00+99:99", "9999-12-31T23:59:60-14:00", "13/12/2025 7:00:00 AM", "7/1/2026, 1:00:00 PM GMT+5", "Mar 5, 2024", "5月 3, 2024", "1751360400", "0001-01-01 00:00 GMT+14"} {
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, dayFirst bool) {
		for _, zone := range []*time.Location{time.UTC, time.FixedZone("", 14*60*60), time.FixedZone("", -12*60*60)} {
			order := "mdy"
			if dayFirst {
				order = "dmy"
			}
			at, ok := dates.New(zone, order).Moment(text)
			if !ok {
				if !at.IsZero() {
					t.Errorf("%q is no date, and is %s", text, at)
				}
				continue
			}
			for _, at := range []time.Time{at, at.UTC(), at.In(zone)} {
				if _, err := at.MarshalJSON(); err != nil || len(dates.Day(at)) != len("2006-01-02") {
					t.Errorf("%q is %s, the day %s: %v", text, at, dates.Day(at), err)
				}
			}
		}
	})
}
