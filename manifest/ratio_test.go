package manifest_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/planform/planform/manifest"
)

// measured is an environment variable. It makes the test binary a program that reads one
// file and prints the costs: by the library alone ("bare"), or by Load.
const measured = "PLANFORM_TEST_MEASURED"

func TestMain(m *testing.M) {
	if mode, file, ok := strings.Cut(os.Getenv(measured), ":"); ok {
		if err := measure(mode, file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	debug.SetGCPercent(400) // collection took a fourth of the time
	os.Exit(m.Run())
}

// measure prints the time in nanoseconds, the processor time of the process in ticks, and its peak memory in KiB.
func measure(mode, file string) error {
	begin := time.Now()
	var keep any
	switch mode {
	case "bare":
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		var root yaml.Node
		if err := yaml.NewDecoder(f).Decode(&root); err != nil {
			return err
		}
		keep = &root
	default:
		m, found := manifest.Load(context.Background(), []string{file}, manifest.Options{})
		if err := found.Err(); err != nil {
			return err
		}
		keep = m
	}
	took := time.Since(begin)
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Fprintln(os.Stdout, took.Nanoseconds(), user+system, strings.Fields(rest)[0], keep != nil)
	return err
}

// TestReadingIsComparedWithDecoding compares whole processes, alternately,
// if PLANFORM_TEST_RATIO=rounds is set, on Linux:
// a single run means nothing on a busy machine.
func TestReadingIsComparedWithDecoding(t *testing.T) { //nolint:paralleltest // it measures
	rounds, err := strconv.Atoi(os.Getenv("PLANFORM_TEST_RATIO"))
	if err != nil {
		t.Skip("PLANFORM_TEST_RATIO is not set")
	}
	for _, items := range sizes() {
		file := t.TempDir() + "/bulk.yaml"
		if err := os.WriteFile(file, bulk(t, items), 0o600); err != nil {
			t.Fatal(err)
		}
		results := map[string][3][]float64{}
		for range rounds {
			for _, mode := range []string{"bare", "load"} {
				cmd := exec.CommandContext(t.Context(), os.Args[0])
				cmd.Env = append(os.Environ(), measured+"="+mode+":"+file)
				cmd.Stderr = os.Stderr
				out, err := cmd.Output()
				if err != nil {
					t.Fatal(err)
				}
				r := results[mode]
				for i, word := range strings.Fields(string(out))[:3] {
					v, err := strconv.ParseFloat(word, 64)
					if err != nil {
						t.Fatal(err)
					}
					r[i] = append(r[i], v)
				}
				results[mode] = r
			}
		}
		bare, load := results["bare"], results["load"]
		for i, what := range []string{"time", "processor time", "peak memory"} {
			least, middle := slices.Min[[]float64], func(v []float64) float64 { v = slices.Sorted(slices.Values(v)); return v[len(v)/2] }
			t.Logf("items=%d %s: bare least %.4g median %.4g, load least %.4g median %.4g, ratio least %.2f median %.2f", items, what,
				least(bare[i]), middle(bare[i]), least(load[i]), middle(load[i]), least(load[i])/least(bare[i]), middle(load[i])/middle(bare[i]))
		}
	}
}
