package manifest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/planform/planform/manifest"
	"github.com/planform/planform/manifest/manifesttest"
)

func sizes() []int { return []int{1_000, 10_000, 100_000} }

func bulk(tb testing.TB, items int) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := manifesttest.Bulk(&b, items); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// BenchmarkBareDecode measures the YAML library alone, the lower bound for reading.
func BenchmarkBareDecode(b *testing.B) {
	for _, items := range sizes() {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			text := bulk(b, items)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				bareDecode(b, bytes.NewReader(text))
			}
			perItem(b, items)
		})
	}
}

func bareDecode(tb testing.TB, in io.Reader) (root yaml.Node) {
	tb.Helper()
	d := yaml.NewDecoder(in)
	if err := d.Decode(&root); err != nil && !errors.Is(err, io.EOF) {
		tb.Fatal(err)
	}
	return root
}

// BenchmarkLoad measures reading and checking a manifest.
func BenchmarkLoad(b *testing.B) {
	for _, items := range sizes() {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			text := bulk(b, items)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				m, found := manifest.Load(b.Context(), []string{"-"}, manifest.Options{Stdin: bytes.NewReader(text)})
				if len(found) > 0 || len(m.Objects) != 2*items+32 {
					b.Fatal(len(m.Objects), found)
				}
			}
			perItem(b, items)
		})
	}
}

func perItem(b *testing.B, items int) {
	b.Helper()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(items), "ns/item")
}
