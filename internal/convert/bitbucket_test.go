package convert_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExportsOfTwoRepositoriesOfBitbucketAreNotMixed(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/bitbucket/db-2.0.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put(t, dir, map[string]string{"a/db-2.0.json": string(data), "b/db-2.0.json": string(data)})
	_, err = run(t, filepath.Join(t.TempDir(), "to"), fixture{files: []string{dir}}, nil)
	if err == nil || !strings.Contains(err.Error(), "b/db-2.0.json:3: it is the export of another repository than") {
		t.Error(err)
	}
}
