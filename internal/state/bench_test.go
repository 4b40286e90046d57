package state

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/planform/planform/planner"
)

// BenchmarkBegin announces single steps, as workers do that each send one
// request after another.
func BenchmarkBegin(b *testing.B) {
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			f := benchOpen(b, filepath.Join(b.TempDir(), "x.state.json"))
			var next atomic.Int64
			var group sync.WaitGroup
			b.ResetTimer()
			for range callers {
				group.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						if err := f.Begin(b.Context(), []*planner.Step{create(addr(fmt.Sprintf("work_item/web/%d", i)))}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
		})
	}
	b.Run("batch=32", func(b *testing.B) {
		f := benchOpen(b, filepath.Join(b.TempDir(), "x.state.json"))
		for i := 0; b.Loop(); i++ {
			batch := make([]*planner.Step, 32)
			for j := range batch {
				batch[j] = create(addr(fmt.Sprintf("work_item/web/%d-%d", i, j)))
			}
			if err := f.Begin(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSave(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "x.state.json")
			writeMany(b, path, n)
			f := benchOpen(b, path)
			for i := 0; b.Loop(); i++ {
				f.Put(planner.Record{Address: "a/b", ID: strconv.Itoa(i)})
				if err := f.Save(); err != nil {
					b.Fatal(err)
				}
			}
			size(b, path)
		})
	}
}

// BenchmarkRead must stay below 3 s for 100,000 objects; it takes about 1 s.
func BenchmarkRead(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "x.state.json")
			writeMany(b, path, n)
			for b.Loop() {
				s, err := Read(b.Context(), path, testOptions())
				if err != nil || len(s.Prior()) != n {
					b.Fatal(err)
				}
			}
			size(b, path)
		})
	}
}

func size(b *testing.B, path string) {
	b.Helper()
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/1e6, "MB")
}

func benchOpen(b *testing.B, path string) *File {
	b.Helper()
	f, err := Open(b.Context(), path, testOptions())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	return f
}
