package apiclient

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/planform/planform/internal/http/wire"
)

// Credential is an API key or a bearer token. It can be passed on, but neither printed nor marshalled: a closure hides the secret even from
// reflection.
type Credential struct {
	bearer bool
	secret func() string
}

// APIKey returns the credential for the X-API-Key header. Surrounding white space, such as a line end, is removed.
func APIKey(key string) Credential { return credential(key, false) }

// Bearer returns the credential for the Authorization header: an OAuth access token, without the word Bearer.
func Bearer(token string) Credential { return credential(token, true) }

func credential(secret string, bearer bool) Credential {
	secret = strings.TrimSpace(secret)
	if secret == "" {
		return Credential{}
	}
	return Credential{bearer: bearer, secret: func() string { return secret }}
}

// IsZero reports whether there is no credential.
func (cr Credential) IsZero() bool { return cr.secret == nil }

// String hides the secret.
func (cr Credential) String() string {
	switch {
	case cr.IsZero():
		return "none"
	case cr.bearer:
		return "bearer token " + wire.Redacted
	default:
		return "API key " + wire.Redacted
	}
}

// Format hides the secret for every verb.
func (cr Credential) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, cr.String()) }

// MarshalText hides the secret, in JSON and in logs too.
func (cr Credential) MarshalText() ([]byte, error) { return []byte(cr.String()), nil }

// Validate returns the reason why the credential cannot be sent, without any part of it; nil = it can be sent.
func (cr Credential) Validate() error {
	if cr.IsZero() {
		return errors.New("no credential: set PLANE_API_KEY or PLANE_ACCESS_TOKEN, or give --api-key-file")
	}
	what := "API key"
	if cr.bearer {
		what = "access token"
	}
	for _, r := range cr.secret() {
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
func (cr Credential) set(h http.Header) {
	if cr.bearer {
		h["Authorization"] = []string{"Bearer " + cr.secret()}
		return
	}
	h["X-Api-Key"] = []string{cr.secret()}
}

// redact removes the secret from a text, see [wire.Secrets].
func (cr Credential) redact(text string) string {
	if cr.IsZero() {
		return text
	}
	return wire.Secrets{cr.secret()}.Hide(text)
}
