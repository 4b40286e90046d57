package wire

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/planform/planform/internal/text/diag"
)

// Redacted replaces a secret in a text.
const Redacted = "[redacted]"

// Secrets holds texts that must not be shown.
type Secrets []string

// Hide removes the secrets from a text of another program, such as a server that echoes headers. It also finds a secret in another case,
// percent-encoded, or with white space or invisible characters in it.
func (s Secrets) Hide(text string) string {
	for _, secret := range s {
		text = hide(text, secret)
	}
	return text
}

func hide(text, secret string) string {
	const shortest, distinctive = 4, 8 // shorter secrets occur in ordinary words
	if len(secret) < shortest {
		return text
	}
	text = strings.ReplaceAll(text, secret, Redacted)
	secret, _ = folded(secret)
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
		b.WriteString(text[written:first.start] + Redacted)
		written = places[from-1].end
	}
	return b.String() + text[written:]
}

// place is the range of a character in a text.
type place struct{ start, end int }

// folded returns the form of a text that [Secrets.Hide] compares, with the place of each byte.
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
		case unicode.IsSpace(r), !unicode.IsPrint(r), r == utf8.RuneError: // like OneLine
		case r >= utf8.RuneSelf:
			b, places = append(b, 0xff), append(places, place{i, i + size}) // no credential contains it
		default:
			b, places = append(b, byte(unicode.ToLower(r))), append(places, place{i, i + size}) //nolint:gosec // ASCII
		}
		i += size
	}
	return string(b), places
}

// OneLine makes a text of another program safe to show: white space becomes single spaces, and characters that control a terminal or the
// direction of writing are removed.
func OneLine(text string, limit int) string {
	text = diag.Truncate(text, 4*limit)
	var b strings.Builder
	space := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case r == utf8.RuneError, !unicode.IsPrint(r):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return diag.Truncate(b.String(), limit)
}

// Line makes a text of another program safe to show: one short line without the secrets.
func (s Secrets) Line(text string) string {
	const most = 200 // characters
	return OneLine(s.Hide(text), most)
}
