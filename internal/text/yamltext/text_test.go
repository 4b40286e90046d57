package yamltext_test

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/planform/planform/internal/text/yamltext"
)

// TestAReadErrorIsNotReportedAsBrokenYAML, because only a panic of the library means a broken file.
func TestAReadErrorIsNotReportedAsBrokenYAML(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("the panic was taken for an error of the file")
		}
	}()
	_ = yamltext.Documents(strings.NewReader("a: 1\n"), func(*yaml.Node) { panic("ours") })
}
