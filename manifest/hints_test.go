package manifest

import (
	"strings"
	"testing"
)

func TestNoHintSaysNotSupportedOfAWordThatTheSchemaKnows(t *testing.T) {
	t.Parallel()
	kinds := everyKind()
	for _, u := range unsupported {
		for word := range strings.FieldsSeq(u.words) {
			where := kinds.kindsWith(word, nil)
			for _, property := range candidates(word) {
				where = append(where, kinds.kindsWith(property, nil)...)
			}
			if strings.Contains(u.hint, "not supported") && len(where) > 0 {
				t.Errorf("%q: %s, and it belongs to %v", word, u.hint, where)
			}
		}
	}
	for _, s := range synonyms {
		if property, _, _ := strings.Cut(s.property, " "); len(kinds.kindsWith(property, nil)) == 0 && property != "key" {
			t.Errorf("%q is to be written as %q, which nothing has", s.words, property)
		}
	}
}
