package planner

import (
	"strconv"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// plural is what people call the kind's objects: the manifest's word, where it has one.
func plural(k *resource.Kind) string {
	if k.Section != "" {
		return strings.ReplaceAll(k.Section, "_", " ")
	}
	return diag.Plural(k.Noun())
}

// countOf puts a number before the kind's objects.
func countOf(n int, k *resource.Kind) string {
	if n == 1 {
		return "1 " + k.Noun()
	}
	return strconv.Itoa(n) + " " + plural(k)
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func them(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}
