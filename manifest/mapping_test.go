package manifest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/planform/planform/manifest"
)

func TestTheMappingOfConvertIsNotReadAsAManifest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"web.yaml":     "version: 1\nworkspace: acme\nprojects: [{identifier: WEB}]\n",
		"mapping.yaml": "# planform mapping: what becomes of names\npeople: {}\n",
		"other.yaml":   "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if m, findings := manifest.Load(t.Context(), []string{dir}, manifest.Options{}); len(findings) > 0 || len(m.Files) != 2 {
		t.Error(findings, m.Files)
	}
	if _, findings := manifest.Load(t.Context(), []string{filepath.Join(dir, "mapping.yaml")}, manifest.Options{}); !findings.HasErrors() {
		t.Error("named by itself it is read as a manifest")
	}
}
