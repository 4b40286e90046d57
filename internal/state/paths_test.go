package state

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestTheDefaultPathIsMadeOfHostAndWorkspace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ base, workspace, want string }{
		{"https://api.plane.so", "acme", "api.plane.so_acme"},
		{"https://API.Plane.so:443/", "Acme", "api.plane.so_Acme"},
		{"https://api.plane.so/some/path", "acme", "api.plane.so_acme"},
		{"http://127.0.0.1:8080", "acme", "127.0.0.1-8080_acme"},
		{"http://[::1]:8080/", "acme", "--1-8080_acme"},
		{"https://user:secret@plane.example.com", "acme", "plane.example.com_acme"},
		{"sandbox:", "acme", "sandbox_acme"},
		{"https://plane.example.com", "../../etc/pass wd\x00", "plane.example.com_..-..-etc-pass-wd-"},
		{"https://büro.example.com", "ä", "b-ro.example.com_-"},
	} {
		got, err := DefaultPath("dir", test.base, test.workspace)
		if want := filepath.Join("dir", ".planform", test.want+".state.json"); err != nil || got != want {
			t.Errorf("%s %s: %s, %v", test.base, test.workspace, got, err)
		}
	}
	one, err := DefaultPath("", "https://"+strings.Repeat("a", 300), "x")
	must(t, err)
	two, err := DefaultPath("", "https://"+strings.Repeat("a", 300), "y")
	must(t, err)
	if one == two || len(filepath.Base(one)) > 230 {
		t.Errorf("long names become %s and %s", one, two)
	}
	for _, bad := range []string{"", "plane.so", "https://", "https:///x", "mailto:x", "https://s3cret@%zz"} {
		if got, err := DefaultPath("", bad, "acme"); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %s, %v", bad, got, err)
		}
	}
	if _, err := DefaultPath("", "https://x", ""); err == nil {
		t.Error("no workspace: no error")
	}
}

func TestBaseURLsCompareInNormalForm(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://api.plane.so":               "https://api.plane.so",
		" HTTPS://Api.Plane.so:443/ ":        "https://api.plane.so",
		"http://api.plane.so:80":             "http://api.plane.so",
		"http://api.plane.so:443":            "http://api.plane.so:443",
		"https://api.plane.so:":              "https://api.plane.so",
		"https://plane.example.com/Plane//":  "https://plane.example.com/Plane",
		"https://ada:pw@plane.example.com?k": "https://plane.example.com",
		"http://[::1]:80/x":                  "http://[::1]/x",
		"http://[::1]":                       "http://[::1]",
		"sandbox:":                           "sandbox:",
		"SANDBOX:///":                        "sandbox:",
	} {
		got, err := normalURL(raw)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v", raw, got, err)
		}
		if again, err := normalURL(got); err != nil || again != got {
			t.Errorf("%q: %q, %v", got, again, err)
		}
	}
}
