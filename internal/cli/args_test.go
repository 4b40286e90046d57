package cli

import (
	"testing"

	"github.com/urfave/cli/v2"
)

// TestAFlagTakesAValueInEveryCommandOrInNone lets flags stand in front of the command that they belong to. Only
// --mapping cannot: it is a file for convert, and what to print for schema.
func TestAFlagTakesAValueInEveryCommandOrInNone(t *testing.T) {
	t.Parallel()
	takes := map[string]bool{}
	for _, f := range flagsBelow(newApp(Process{}).Commands) {
		for _, name := range f.Names() {
			value := takesValue([]cli.Flag{f}, name)
			if before, known := takes[name]; known && before != value && name != "mapping" {
				t.Errorf("--%s takes a value in one command and none in another", name)
			}
			takes[name] = value
		}
	}
}
