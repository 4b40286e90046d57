package apiclient

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// redacted replaces a secret in texts.
const redacted = "[redacted]"

// Credential is an API key or a bearer token. It can be passed on but neither printed nor
// marshalled: the secret is in a closure, out of reach of reflection.
type Credential struct {
	bearer bool
	secret func() string
}

// APIKey is the credential for the X-API-Key header. White space around it, such as the end of a line, is dropped.
func APIKey(key string) Credential { return credential(key, false) }

// Bearer is the credential for the Authorization header: an OAuth access token, without the word Bearer.
func Bearer(token string) Credential { return credential(token, true) }

func credential(secret string, bearer bool) Credential {
	secret = strings.TrimSpace(secret)
	if secret == "" {
		return Credential{}
	}
	return Credential{bearer: bearer, secret: func() string { return secret }}
}

// IsZero reports whether there is no credential.
func (c Credential) IsZero() bool { return c.secret == nil }

// String hides the secret.
func (c Credential) String() string {
	switch {
	case c.IsZero():
		return "none"
	case c.bearer:
		return "bearer token " + redacted
	default:
		return "API key " + redacted
	}
}

// GoString hides the secret.
func (c Credential) GoString() string { return "apiclient.Credential(" + c.String() + ")" }

// Format hides the secret, whatever the verb.
func (c Credential) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// LogValue hides the secret.
func (c Credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText hides the secret, in JSON too.
func (c Credential) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Validate says why the credential cannot be sent, without showing any part of it; nil = it can.
func (c Credential) Validate() error {
	if c.IsZero() {
		return errors.New("no credential: set PLANE_API_KEY or PLANE_ACCESS_TOKEN, or give --api-key-file")
	}
	what := "API key"
	if c.bearer {
		what = "access token"
	}
	for _, r := range c.secret() {
		switch {
		case r < ' ' || r == 0x7f:
			return fmt.Errorf("the %s contains a control character or a line break", what)
		case r == ' ':
			return fmt.Errorf("the %s contains a space; give it alone, without quotes and without the word Bearer", what)
		case r > 0x7f:
			return fmt.Errorf("the %s contains a character that is not ASCII", what)
		}
	}
	return nil
}

// set adds the credential to the header.
func (c Credential) set(h http.Header) {
	if c.bearer {
		h["Authorization"] = []string{"Bearer " + c.secret()}
		return
	}
	h["X-Api-Key"] = []string{c.secret()}
}

// redact removes the secret from a text of others, such as a service that echoes headers. It finds the secret in other
// case, percent-encoded, and with white space or invisible characters in it.
func (c Credential) redact(text string) string {
	const shortest, distinctive = 4, 8 // shorter secrets occur in ordinary words
	if c.IsZero() || len(c.secret()) < shortest {
		return text
	}
	text = strings.ReplaceAll(text, c.secret(), redacted)
	secret, _ := folded(c.secret())
	if len(secret) < distinctive || len(text) < len(secret) {
		return text
	}
	plain, places := folded(text)
	var b strings.Builder
	written := 0
	for from := 0; ; {
		i := strings.Index(plain[from:], secret)
		if i < 0 {
			break
		}
		first := places[from+i]
		from += i + len(secret)
		b.WriteString(text[written:first.start] + redacted)
		written = places[from-1].end
	}
	return b.String() + text[written:]
}

// place is the range of a character in a text.
type place struct{ start, end int }

// folded is the form of a text that [Credential.redact] compares, with the place of each byte.
func folded(text string) (plain string, places []place) {
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == '%' && i+2 < len(text) {
			if code, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				r, size = rune(code), len("%41")
			}
		}
		switch {
		case unicode.IsSpace(r), !unicode.IsPrint(r), r == utf8.RuneError: // see oneLine
		case r >= utf8.RuneSelf:
			b, places = append(b, 0xff), append(places, place{i, i + size}) // no credential holds it
		default:
			b, places = append(b, byte(unicode.ToLower(r))), append(places, place{i, i + size}) //nolint:gosec // ASCII
		}
		i += size
	}
	return string(b), places
}
