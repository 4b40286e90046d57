package state

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
)

// TestTheStateOfEachEarlierVersionIsRead reads the states in testdata/earlier, which killed runs of earlier versions
// left, named after their commits; make there writes a new one. Each state is read, replayed, saved in today's form, and
// read again with the same result.
func TestTheStateOfEachEarlierVersionIsRead(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/earlier/*.state.json")
	if err != nil || len(paths) == 0 {
		t.Fatal(err)
	}
	for _, source := range paths {
		name := strings.TrimSuffix(filepath.Base(source), ".state.json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := statePath(t)
			written := map[string]bool{}
			for _, suffix := range []string{"", ".journal"} {
				text, err := os.ReadFile(source + suffix)
				must(t, err)
				writeFile(t, path+suffix, string(text))
				for line := range bytes.Lines(text) {
					for _, key := range []string{`{"address":"`, `{"i":"`, `{"o":"`} {
						if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
							address, _, _ := bytes.Cut(rest, []byte(`"`))
							written[string(address)] = true
						}
					}
				}
			}
			opts := testOptions()
			opts.BaseURL = "sandbox:"
			f := openWith(t, path, opts)
			records := f.Prior()
			for address := range written {
				if r, ok := records[resource.Address(address)]; !ok || (r.ID == "" && len(r.Members) == 0 && r.PendingIntent == nil) {
					t.Errorf("%s is not known any more: %+v", address, r)
				}
			}
			if n := len(records); n != len(written) {
				t.Errorf("%d objects were written, and %d are known", len(written), n)
			}
			if got, want := records["label/web/frontend"].Values["color"], "#16a34a"; got != want {
				t.Errorf("the journal says that the label is %s, and what is known is %s", want, got)
			}
			must(t, f.Save())
			must(t, f.Close())
			again, err := Read(t.Context(), path, opts)
			must(t, err)
			if diff := cmp.Diff(records, again.Prior()); diff != "" {
				t.Errorf("saved, it is another one: %s", diff)
			}
		})
	}
}
