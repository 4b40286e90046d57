package schema

import (
	"testing"

	"github.com/planform/planform/internal/plane/resource"
)

// BenchmarkCompile measures the first check of the kind with the most fields.
func BenchmarkCompile(b *testing.B) {
	definition := kindSchema(resource.MustLookup("work_item"), false)
	for b.Loop() {
		if _, err := compile("work_item", &rules{}, definition); err != nil {
			b.Fatal(err)
		}
	}
}
