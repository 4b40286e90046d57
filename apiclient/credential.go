package apiclient

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
)

// redacted stands wherever a secret would.
const redacted = "[redacted]"

// Credential is an API key or a bearer token: exactly one of the two. It can be
// handed on but neither printed nor marshalled; the secret sits in a closure, where
// reflection does not reach it.
type Credential struct {
	bearer bool
	secret func() string
}

// APIKey is the credential for the X-API-Key header. White space at the end, such as a file's line end, is dropped.
func APIKey(key string) Credential { return credential(key, false) }

// Bearer is the credential for the Authorization header: an OAuth access token, without the word Bearer.
func Bearer(token string) Credential { return credential(token, true) }

func credential(secret string, bearer bool) Credential {
	secret = strings.TrimRight(secret, "\r\n")
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

// Validate reports what keeps the credential from being sent, without showing any of it.
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

// set puts the credential into the header.
func (c Credential) set(h http.Header) {
	if c.bearer {
		h["Authorization"] = []string{"Bearer " + c.secret()}
		return
	}
	h["X-Api-Key"] = []string{c.secret()}
}

// hide takes the secret out of a text that came from elsewhere, such as a service that echoes headers.
func (c Credential) hide(text string) string {
	const tooShortToLookFor = 4
	if c.IsZero() || len(c.secret()) < tooShortToLookFor {
		return text
	}
	return strings.ReplaceAll(text, c.secret(), redacted)
}
