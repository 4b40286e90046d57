package schema

import "testing"

// BenchmarkCompile is what the first check of a process costs, beside the reading of its first file.
func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := compile(); err != nil {
			b.Fatal(err)
		}
	}
}
