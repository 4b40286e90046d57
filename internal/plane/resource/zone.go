package resource

import (
	_ "embed"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // for systems without a tz database

	"github.com/planform/planform/internal/text/diag"
)

// zones lists the names of the tz database, sorted, one in a line.
//
//go:embed zones.txt
var zones string

// Zone returns the time zone of that name, and UTC for an unknown name.
func Zone(name string) *time.Location {
	if zone, err := time.LoadLocation(name); err == nil {
		return zone
	}
	return time.UTC
}

// IsZone reports whether a text is the name of a time zone. If not, hint suggests the likely one.
func IsZone(name string) (ok bool, hint string) {
	names := strings.Fields(zones)
	if _, ok := slices.BinarySearch(names, name); ok {
		return true, ""
	}
	city := strings.ReplaceAll(name[strings.LastIndex(name, "/")+1:], " ", "_")
	for _, full := range names {
		if strings.EqualFold(full[strings.LastIndex(full, "/")+1:], city) && strings.Contains(full, "/") {
			return false, diag.DidYouMean(full, []string{full})
		}
	}
	return false, diag.DidYouMean(name, names)
}
