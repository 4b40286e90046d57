//go:build !race

package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/manifest/manifesttest"
)

// BenchmarkBulk compares whole processes that read 100,000 work items: the YAML library alone, validate, and a plan that
// creates them all. The aim is 2.5 and 3.5 times the time of the library, and twice its memory:
//
//	go test ./internal/cli -run xxx -bench Bulk -benchtime 1x
func BenchmarkBulk(b *testing.B) {
	const items = 100_000
	planform, library := program(b), programAs(b, "bare")
	s := newService(b, sandboxtest.Options{})
	file := filepath.Join(s.dir, "bulk.yaml")
	f, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	if err := manifesttest.Bulk(f, items); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		bare, _ := s.spent(b, library, file)
		for _, command := range []string{"validate", "plan"} {
			c, r := s.spent(b, planform, command, "-f", file)
			if r.code != 0 {
				b.Fatalf("%s: exit %d\n%.2000s", command, r.code, r.err)
			}
			b.Logf("%s: %.1f s of processor and %d MiB, library %.1f s and %d MiB", command, c.cpu.Seconds(), c.rss, bare.cpu.Seconds(), bare.rss)
			b.ReportMetric(c.cpu.Seconds()/bare.cpu.Seconds(), command+"-time-ratio")
			b.ReportMetric(float64(c.rss)/float64(bare.rss), command+"-memory-ratio")
		}
	}
}
