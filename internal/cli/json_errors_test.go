package cli

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/view"
)

// TestEveryCommandFailsInJSON makes every command fail, as far as it can without a service, and wants an error as JSON and
// nothing else on standard error.
func TestEveryCommandFailsInJSON(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none")
	lines := map[string]string{
		"validate": "-f NONE", "fmt": "-f NONE", "plan": "-f NONE", "apply": "-f NONE", "show": "NONE", "export": "--to NONE", "init": "--to NONE --from WEB",
		"doctor": "-f NONE", "convert": "NONE --to NONE", "convert check": "NONE", "state list": "-f NONE", "state show": "-f NONE page/a",
		"state resolve": "-f NONE page/a", "state import": "-f NONE page/a", "state mv": "-f NONE page/a page/b", "state rm": "-f NONE page/a",
		"sandbox": "--listen nowhere", "completion": "csh", "version": "x", "schema": "x", "get work-item": "WEB-1", "get activities": "--work-item WEB-1",
	}
	var commands func(list []*cli.Command, path string)
	check := func(args ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		code := Main(Process{
			Args: append([]string{"planform"}, args...), Streams: view.Streams{In: strings.NewReader(""), Out: &out, Err: &errs},
			Getenv: func(string) string { return "" },
		})
		if code == exitDone {
			t.Errorf("%v: exit code 0", args)
		}
		shown := errs.String()
		if shown == "" { // validate was asked for them
			shown = strings.ReplaceAll(out.String(), "\n", "")
		}
		found := false
		for line := range strings.Lines(shown) {
			var one struct {
				Version     int `json:"format_version"`
				Diagnostics []struct{ Severity, Summary string }
			}
			if err := json.Unmarshal([]byte(line), &one); err != nil || one.Version != view.FormatVersion {
				t.Errorf("%v: %v: %s", args, err, line)
			}
			for _, d := range one.Diagnostics {
				found = found || d.Severity == "error" && d.Summary != ""
			}
		}
		if !found {
			t.Errorf("%v: no error\n%s%s", args, &out, &errs)
		}
	}
	commands = func(list []*cli.Command, path string) {
		for _, cmd := range list {
			name := strings.TrimSpace(path + " " + cmd.Name)
			words := strings.Fields(name)
			check(slices.Concat(words, []string{"--nonsense", "--output", "json"})...)
			if rest, ok := lines[name]; ok || len(cmd.Subcommands) == 0 {
				check(slices.Concat(words, strings.Fields(strings.ReplaceAll(rest, "NONE", none)), []string{"--output=json"})...)
			}
			commands(cmd.Subcommands, name)
		}
	}
	commands(newApp(Process{Getenv: func(string) string { return "" }}).Commands, "")
	check("aply", "-f", "x", "-o", "json")
	check("get", "lynks", "-o=json")
}
