package apiclient

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/planform/planform/internal/wire"
)

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
		return "bearer token " + wire.Redacted
	default:
		return "API key " + wire.Redacted
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

// redact removes the secret from a text of others, see [wire.Secrets].
func (c Credential) redact(text string) string {
	if c.IsZero() {
		return text
	}
	return wire.Secrets{c.secret()}.Hide(text)
}
