package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestARestartKeepsTheData(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "sandbox.db")
	s, err := Open(Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	want(t, ask(t, s, http.MethodPost, itemsPath, `{"name": "kept", "external_id": "a", "external_source": "b"}`), http.StatusCreated)
	before := s.Rows("work_item")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file: %v %v", info, err)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v %v", info, err)
	}
	s = openTest(t, Options{Path: path, Answers: Contract})
	if after := s.Rows("work_item"); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("after: %v\nbefore: %v", after, before)
	}
	want(t, ask(t, s, http.MethodGet, "work-items/WEB-2/", ""), http.StatusOK)
	want(t, ask(t, s, http.MethodPost, itemsPath, `{"name": "kept", "external_id": "a", "external_source": "b"}`), http.StatusConflict)

	_, err = Open(Options{Path: path})
	if err == nil || !strings.Contains(err.Error(), "another planform is using the sandbox "+path) {
		t.Errorf("second Open: %v", err)
	}
}

func TestANewSandboxCanBeOpenedByTwoAtOnce(t *testing.T) {
	t.Parallel()
	for range 8 {
		path := filepath.Join(t.TempDir(), "sandbox.db")
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				s, err := Open(Options{Path: path})
				if err == nil {
					err = s.Close()
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
	}
}

func TestATemporaryFileIsRemoved(t *testing.T) {
	t.Parallel()
	s, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, err := os.Stat(s.store.temp); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", s.store.temp, err)
	}
}

func TestParallelCreationsGetDenseNumbers(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	const writers, each = 16, 25
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				// Every pair of writers shares its external ids, and every
				// fifth request is refused.
				body := fmt.Sprintf(`{"name": "x", "external_id": "%d-%d", "external_source": "t"}`, w/2, i)
				if i%5 == 0 {
					body = `{}`
				}
				ask(t, s, http.MethodPost, itemsPath, body)
				ask(t, s, http.MethodGet, itemsPath+"?per_page=5", "")
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	var numbers []int
	for _, r := range s.Rows("work_item") {
		if id := text(r, "external_id"); id != "" && seen[id] {
			t.Errorf("external id %s twice", id)
		}
		seen[text(r, "external_id")] = true
		numbers = append(numbers, int(number(r, "sequence_id")))
	}
	if want := 1 + writers/2*each*4/5; len(numbers) != want {
		t.Fatalf("%d items, want %d", len(numbers), want)
	}
	slices.Sort(numbers)
	for i, n := range numbers {
		if n != i+1 {
			t.Fatalf("sequence %d in place %d", n, i+1)
		}
	}
}

func TestABrokenWriterHarmsNobody(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	var wg sync.WaitGroup
	var failed [20]error
	for i := range failed {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					failed[i] = fmt.Errorf("panic: %v", p)
				}
			}()
			failed[i] = s.store.update(func(tx *tx) error {
				tx.add("test", 1)
				if i%2 == 0 {
					panic("broken")
				}
				return nil
			})
		})
	}
	wg.Wait()
	for i, err := range failed {
		if (err != nil) != (i%2 == 0) {
			t.Errorf("writer %d: %v", i, err)
		}
	}
	err := s.store.view(func(tx *tx) error {
		if n := tx.counter("test"); n != 10 {
			t.Errorf("%d writes, want 10", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAKilledServerKeepsWhatItHasAnswered(t *testing.T) {
	const child = "PLANFORM_SANDBOX_CHILD"
	if path := os.Getenv(child); path != "" {
		writeUntilKilled(path)
		return
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sandbox.db")
	answered := []string{}
	for round := range 3 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), child+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			if n == 150+70*round {
				if err := cmd.Process.Kill(); err != nil {
					t.Error(err)
				}
			}
			answered = append(answered, lines.Text())
		}
		_ = cmd.Wait() // it was killed
	}
	s := openTest(t, Options{Path: path})
	there := map[string]bool{}
	for _, r := range s.Rows("work_item") {
		there[text(r, "id")] = true
	}
	for _, id := range answered {
		if len(id) == 36 && !there[id] {
			t.Errorf("%s was answered and is not there", id)
		}
	}
	if len(answered) < 600 {
		t.Errorf("only %d answers", len(answered))
	}
}

func writeUntilKilled(path string) {
	s, err := Open(Options{Path: path})
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				got := ask(&quiet{}, s, http.MethodPost, itemsPath, `{"name": "x"}`)
				_, rest, _ := strings.Cut(got.body, `"id":"`)
				mu.Lock()
				_, _ = os.Stdout.Write(append(bytes.Clone([]byte(rest[:36])), '\n'))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// quiet is a testing.TB for the child, which has none.
type quiet struct{ testing.TB }

func (*quiet) Helper() {}

func (*quiet) Context() context.Context { return context.Background() }

func TestADatabaseOfAnOlderPlanformGetsItsIndexes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sandbox.db")
	s := openTest(t, Options{Path: path})
	marked := `{"name": "kept", "external_id": "a", "external_source": "b"}`
	want(t, ask(t, s, http.MethodPost, itemsPath, marked), http.StatusCreated)
	err := s.store.update(func(t *tx) error {
		for _, k := range s.kinds.all {
			for _, r := range t.all(k, nil) {
				t.updateIndexes(k, r.row, nil)
			}
		}
		t.setIndex("1", "seeded")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want(t, ask(t, s, http.MethodGet, "work-items/WEB-2/", ""), http.StatusForbidden)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, Options{Path: path})
	want(t, ask(t, s, http.MethodGet, "work-items/WEB-2/", ""), http.StatusOK)
	want(t, ask(t, s, http.MethodPost, itemsPath, marked), http.StatusConflict)
	want(t, ask(t, s, http.MethodPost, "projects/", `{"name": "Website", "identifier": "W"}`), http.StatusConflict)
}
