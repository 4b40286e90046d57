package resource

import (
	"strings"
	"testing"
	"time"
)

// TestAnUnknownTimeZoneGetsASuggestion also checks that each valid name is a time zone on every system.
func TestAnUnknownTimeZoneGetsASuggestion(t *testing.T) {
	t.Parallel()
	names := strings.Fields(zones)
	if len(names) < 500 {
		t.Fatalf("%d names", len(names))
	}
	for _, name := range names {
		if _, err := time.LoadLocation(name); err != nil {
			t.Error(err)
		}
		if ok, _ := IsZone(name); !ok {
			t.Errorf("%s is none", name)
		}
	}
	for name, want := range map[string]string{
		"Berlin": "Europe/Berlin", "europe/berlin": "Europe/Berlin", "New York": "America/New_York", "Europe/Pariss": "Europe/Paris", "Mars": "",
	} {
		if ok, hint := IsZone(name); ok || !strings.Contains(hint, want) || want == "" && hint != "" {
			t.Errorf("%s: %q", name, hint)
		}
	}
}
