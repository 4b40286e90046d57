package baseurl_test

import (
	"net/url"
	"testing"

	"github.com/planform/planform/internal/http/baseurl"
)

func TestOneAddressHasOneForm(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://plane.example.com":                       "https://plane.example.com",
		"https://plane.example.com/":                      "https://plane.example.com",
		"https://plane.example.com:443/":                  "https://plane.example.com",
		"https://plane.example.com:/":                     "https://plane.example.com",
		"http://plane.example.com:80":                     "http://plane.example.com",
		"http://plane.example.com:443":                    "http://plane.example.com:443",
		"HTTPS://Plane.Example.COM":                       "https://plane.example.com",
		"https://plane.example.com/api/v1":                "https://plane.example.com",
		"https://plane.example.com/api/v1/":               "https://plane.example.com",
		"https://plane.example.com/api/v2/":               "https://plane.example.com",
		"https://plane.example.com/plane//api/v1//":       "https://plane.example.com/plane",
		"https://plane.example.com/a%2Fb/":                "https://plane.example.com/a%2Fb",
		"https://[::1]:443/":                              "https://[::1]",
		"https://ada:secret@plane.example.com/?key=1#top": "https://plane.example.com",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := baseurl.Normalize(u).String(); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

func TestAMissingSchemeIsSuggested(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plane.example.com":                "https://plane.example.com",
		" plane.example.com:8443/plane/\n": "https://plane.example.com:8443/plane",
		"plane.example.com/api/v1":         "https://plane.example.com",
		"localhost:8080":                   "http://localhost:8080",
		"127.0.0.1:8080":                   "http://127.0.0.1:8080",
		"https://plane.example.com":        "",
		"ftp://plane.example.com":          "",
		"ada:secret@plane.example.com":     "",
		"plane.example.com?key=secret":     "",
		"plane.example.com#secret":         "",
		"sandbox:":                         "",
		"/plane":                           "",
		"":                                 "",
	} {
		if got := baseurl.WithScheme(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
