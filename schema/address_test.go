package schema

import "testing"

// TestAReleaseNamesTheSchemaAtItsTag, so that a later schema never checks its manifests.
func TestAReleaseNamesTheSchemaAtItsTag(t *testing.T) {
	t.Parallel()
	for version, ref := range map[string]string{
		"v1.2.3": "v1.2.3", "v1.2.3-rc.1": "v1.2.3-rc.1",
		"": "v1", "(devel)": "v1", "v1.2.3+dirty": "v1",
		"v0.0.0-20261122101112-0123456789ab": "v1", "v1.2.4-0.20261122101112-0123456789ab": "v1",
		"v1.2.4-rc.1.0.20261122101112-0123456789ab": "v1",
	} {
		if got, want := addressAt(version), site+ref+"/planform.schema.json"; got != want {
			t.Errorf("%s: %s", version, got)
		}
	}
	if Address() != addressAt("") {
		t.Errorf("a test, which is no release, names %s", Address())
	}
}
