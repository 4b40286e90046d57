package manifest

import (
	"strings"
	"testing"
)

// Only a fault of the library is a broken file; one of ours is ours.
func TestAReadErrorIsNotReportedAsBrokenYAML(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("the panic was taken for an error of the file")
		}
	}()
	_ = documents(strings.NewReader("a: 1\n"), func(*node) { panic("ours") })
}
