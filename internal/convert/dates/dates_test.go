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
