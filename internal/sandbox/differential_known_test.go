package sandbox

import "strings"

// whyLeft says why a mismatch with the real server is left as it is, or "".
func whyLeft(m *mismatch) string {
	switch {
	case strings.HasSuffix(m.at, "description_html") && strings.Contains(m.want, "span"):
		return "text outside of an element becomes a span or a paragraph, depending on the version of the service's HTML parser; the recordings have a paragraph"
	}
	return ""
}
