package manifest

import (
	"strings"
	"testing"
)

func TestNoHintSaysNotSupportedOfAWordThatTheSchemaKnows(t *testing.T) {
	t.Parallel()
	kinds := everyKind()
	for _, u := range synonyms()[1] {
		for word := range strings.FieldsSeq(u.words) {
			where := kinds.kindsWith(word, nil)
			for _, property := range candidates(word) {
				where = append(where, kinds.kindsWith(property, nil)...)
			}
			if strings.Contains(u.of, "not supported") && len(where) > 0 {
				t.Errorf("%q: %s, and it belongs to %v", word, u.of, where)
			}
		}
	}
	for _, s := range synonyms()[0] {
		if property, _, _ := strings.Cut(s.of, " "); len(kinds.kindsWith(property, nil)) == 0 && property != "key" {
			t.Errorf("%q is to be written as %q, which nothing has", s.words, property)
		}
	}
}
